"""Judging a clustering by links it has not seen."""

from mustlink.selection._held_out import HeldOutFold, held_out_accuracy
from mustlink.selection._kfold import ConstraintKFold

__all__ = ["ConstraintKFold", "HeldOutFold", "held_out_accuracy"]
