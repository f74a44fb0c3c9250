"""What follows from links and evidence: marginals and best labelings of the linked rows."""

from mustlink.inference._forest import CannotLinkForest
from mustlink.inference._model import LinkModel

__all__ = ["CannotLinkForest", "LinkModel"]
