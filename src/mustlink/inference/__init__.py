"""What follows from links and evidence: marginals and best labelings of the linked rows.

A :class:`LinkModel` is the question, and each module here an answer: :class:`LinkInference` for all parts of a link
graph, exact where that is feasible; mean field, Gibbs sampling and belief propagation; and the best labeling by
iterated conditional modes.
"""

from mustlink.inference._belief_propagation import propagate_beliefs
from mustlink.inference._gibbs import GibbsSampler
from mustlink.inference._icm import iterated_conditional_modes
from mustlink.inference._marginals import Marginals
from mustlink.inference._mean_field import mean_field
from mustlink.inference._model import LinkModel
from mustlink.inference._plan import LinkInference
from mustlink.inference._report import InferenceReport

__all__ = [
    "GibbsSampler",
    "InferenceReport",
    "LinkInference",
    "LinkModel",
    "Marginals",
    "iterated_conditional_modes",
    "mean_field",
    "propagate_beliefs",
]
