"""Knowledge of pairs of rows: must-links and cannot-links, and what follows from them."""

from mustlink.constraints._aligned import AlignedConstraints
from mustlink.constraints._closure import Closure, Groups
from mustlink.constraints._conflicts import Conflict
from mustlink.constraints._constraints import Constraints
from mustlink.constraints._feasibility import Feasibility
from mustlink.constraints._graph import LinkGraph
from mustlink.constraints._groups import CannotLinkGroups
from mustlink.constraints._sampling import known_rows

__all__ = [
    "AlignedConstraints",
    "CannotLinkGroups",
    "Closure",
    "Conflict",
    "Constraints",
    "Feasibility",
    "Groups",
    "LinkGraph",
    "known_rows",
]
