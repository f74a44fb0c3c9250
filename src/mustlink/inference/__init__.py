"""What follows from links and evidence: marginals and best labelings of the linked rows.

A :class:`LinkModel` is the question, and each module here an answer: belief propagation, exact marginals on a
forest of cannot-links, and the best labeling by iterated conditional modes. Exact enumeration, mean field and Gibbs
sampling belong here when mixtures need them.
"""

from mustlink.inference._belief_propagation import Marginals, propagate_beliefs
from mustlink.inference._forest import CannotLinkForest
from mustlink.inference._gibbs import GibbsSampler
from mustlink.inference._icm import iterated_conditional_modes
from mustlink.inference._mean_field import mean_field
from mustlink.inference._model import LinkModel

__all__ = [
    "CannotLinkForest",
    "GibbsSampler",
    "LinkModel",
    "Marginals",
    "iterated_conditional_modes",
    "mean_field",
    "propagate_beliefs",
]
