"""Model selection by held-out links."""

from mustlink.selection._choice import Choice, Trial
from mustlink.selection._choose import choose
from mustlink.selection._held_out import HeldOutFold, held_out_accuracy
from mustlink.selection._kfold import ConstraintKFold

__all__ = ["Choice", "ConstraintKFold", "HeldOutFold", "Trial", "choose", "held_out_accuracy"]
