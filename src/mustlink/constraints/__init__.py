"""What a person knows of the data: pairs that belong together, pairs that do not."""

from mustlink.constraints._aligned import AlignedConstraints
from mustlink.constraints._closure import Closure
from mustlink.constraints._conflicts import Conflict
from mustlink.constraints._constraints import Constraints
from mustlink.constraints._feasibility import Feasibility

__all__ = ["AlignedConstraints", "Closure", "Conflict", "Constraints", "Feasibility"]
