"""Warnings of clusterers as notes."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

from mustlink._warnings import reword_warning
from mustlink.errors import InfeasibleWarning

__all__ = ["reword_warnings"]


def reword_warnings(caught: list[warnings.WarningMessage], remedies: Mapping[str, str]) -> list[str]:
    """Word the warnings of a fit as notes, each once."""
    from sklearn.exceptions import ConvergenceWarning

    texts = []
    for warning in caught:
        ours = reword_warning(warning.message, remedies)
        # The summary lists broken links, and what scikit-learn says of clusters may be about one step of many.
        left_out = InfeasibleWarning if ours is not None else ConvergenceWarning
        if issubclass(warning.category, UserWarning) and not issubclass(warning.category, left_out):
            texts.append(" ".join(str(warning.message).split()) if ours is None else ours)
    return list(dict.fromkeys(texts))
