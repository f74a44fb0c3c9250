"""Private publishing: groups of similar rows that share their quasi-identifiers."""

from mustlink.sizes._publish._publication import ColumnLoss, Publication
from mustlink.sizes._publish._publish import publish

__all__ = ["ColumnLoss", "Publication", "publish"]
