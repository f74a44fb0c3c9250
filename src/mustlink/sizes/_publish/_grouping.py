"""Valid groups of little loss, or the reason why there are none."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from mustlink._spelling import count, ordinal
from mustlink._types import Floats, Ints
from mustlink.errors import InfeasibleError
from mustlink.sizes._publish._gathering import gather_groups
from mustlink.sizes._publish._models import PrivacyModel
from mustlink.sizes._publish._refinement import refine_groups

__all__ = ["make_groups"]


def make_groups(X: Floats, codes: Ints, model: PrivacyModel, n_groups: int | None, random_state: Any) -> Ints:
    """Return a valid group for each row: as many groups as are asked for, or as lose the least."""
    counts = np.bincount(codes)
    _check_feasible(len(X), counts, model)
    most = model.max_groups(counts)
    if n_groups is not None and n_groups > most:
        raise InfeasibleError(
            f"{count(n_groups, 'group')} are asked for, but the {count(len(X), 'row')} can be in at most "
            f"{count(most, 'group')} with {_spell_needs(model)}{_spell_frequencies(model, counts)}; ask for fewer "
            "groups."
        )
    labels = gather_groups(X, codes, most if n_groups is None else n_groups, model)
    n_found = int(labels.max()) + 1
    if n_groups is not None and n_found < n_groups:
        raise InfeasibleError(
            f"{count(n_groups, 'group')} are asked for, but only {count(n_found, 'group')} with {_spell_needs(model)} "
            "could be made; ask for fewer groups."
        )
    return refine_groups(
        X, codes, labels, model, keep_number=n_groups is not None, random_state=check_random_state(random_state)
    )


def _check_feasible(n_rows: int, counts: Ints, model: PrivacyModel) -> None:
    """Raise if not even the whole table, as one group, can be published."""
    if n_rows < model.k:
        have = count(n_rows, "complete row")
        remedy = f"use a k of at most {n_rows:,}" if n_rows > 1 else "the table is too small to be published"
        raise InfeasibleError(f"k is {model.k:,}, but the table has only {have}; {remedy}.")
    if model.is_diverse(counts):
        return
    assert model.min_diversity is not None
    needed, n_values = f"{model.min_diversity:g}", int((counts > 0).sum())
    if n_values < model.min_diversity:
        values = count(n_values, "distinct value")
        raise InfeasibleError(f"l is {needed}, but the sensitive column has only {values}; no group can have more.")
    most = f"the most frequent sensitive value is in {counts.max():,} of {count(n_rows, 'row')}"
    if model.diversity == "entropy":
        shares = counts[counts > 0] / n_rows
        reached = float(np.exp(-(shares * np.log(shares)).sum()))
        raise InfeasibleError(
            f"l is {needed}, but {most}, and the entropy of the whole column is only log {reached:.4g}; no "
            "table with a larger l can be published from it."
        )
    tail = int(np.sort(counts)[::-1][int(model.min_diversity) - 1 :].sum())
    raise InfeasibleError(
        f"Recursive ({model.m:g}, {needed})-diversity cannot be reached: {most}, which is not below m = {model.m:g} "
        f"times the {count(tail, 'row')} of the values from the {ordinal(int(model.min_diversity))} most frequent on; "
        "use a larger m or a smaller l."
    )


def _spell_needs(model: PrivacyModel) -> str:
    """Word what every group needs."""
    rows = f"{count(model.k, 'row')} each"
    if model.min_diversity is None:
        return rows
    if model.diversity == "distinct":
        return f"{rows} and {model.min_diversity:g} distinct sensitive values"
    return f"{rows} and {model.diversity} diversity of {model.min_diversity:g}"


def _spell_frequencies(model: PrivacyModel, counts: Ints) -> str:
    """Word which values are too frequent, where that decides."""
    if model.min_diversity is None or model.diversity != "distinct":
        return ""
    return f" (the most frequent of {count(int((counts > 0).sum()), 'value')} is in {counts.max():,} rows)"
