"""Alternative clusterings: what is not known already."""

from mustlink.alternative._ccib import CCIB
from mustlink.alternative._condens import CondEns
from mustlink.alternative._residual import ResidualClustering
from mustlink.alternative._successive import Alternatives, alternatives

__all__ = ["CCIB", "Alternatives", "CondEns", "ResidualClustering", "alternatives"]
