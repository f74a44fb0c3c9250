"""Bounds of cluster sizes that clusters are at, and what they cost, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from mustlink._spelling import spell_number
from mustlink._types import Array

__all__ = ["SizeBound", "reached_bounds", "spell_bounds"]

# What a clusterer with sizes lowers, by its metric.
COSTS = {"sqeuclidean": "sum of squared distances", "manhattan": "sum of absolute differences"}
# So many bounds are worded one by one.
MAX_SPELLED = 5


@dataclass(frozen=True)
class SizeBound:
    """A minimum or maximum size that a cluster is at.

    Parameters
    ----------
    name : str
        What the cluster is called.
    kind : {'minimum', 'maximum'}
        Which bound it is.
    size : float
        The size of the cluster, which is the bound.
    saving : float, default=None
        How far the costs would fall at the same centers if this bound alone were looser by one; None is not known.
    costs : str, default='sum of squared distances'
        What the costs are.

    Examples
    --------
    >>> from mustlink.report import SizeBound
    >>> print(SizeBound("3", "minimum", 20, 4.123, "costs"))
    Cluster 3 is at its minimum of 20; lowering it by one would lower the costs by 4.12 at these centers.
    >>> print(SizeBound("3", "maximum", 20, 0.0))
    Cluster 3 is at its maximum of 20; raising it alone would gain nothing at these centers.
    >>> print(SizeBound("3", "maximum", 20))
    Cluster 3 is at its maximum of 20.
    """

    name: str
    kind: Literal["minimum", "maximum"]
    size: float
    saving: float | None = None
    costs: str = COSTS["sqeuclidean"]

    @property
    def change(self) -> str:
        """What makes the bound looser."""
        return "lowering" if self.kind == "minimum" else "raising"

    def __str__(self) -> str:
        text = f"Cluster {self.name} is at its {self.kind} of {spell_number(self.size, 6)}"
        if self.saving is None:
            return f"{text}."
        if not self.saving:
            return f"{text}; {self.change} it alone would gain nothing at these centers."
        by = spell_number(self.saving)
        return f"{text}; {self.change} it by one would lower the {self.costs} by {by} at these centers."


def spell_bounds(bounds: Sequence[SizeBound]) -> list[str]:
    """Word the bounds that cost most one by one, and the others in one sentence for each kind of bound.

    Parameters
    ----------
    bounds : sequence of SizeBound
        The bounds that clusters are at.

    Returns
    -------
    list of str
        Sentences.

    Examples
    --------
    >>> from mustlink.report import SizeBound
    >>> from mustlink.report._sizes import spell_bounds
    >>> for line in spell_bounds([SizeBound(name, "maximum", 30, 0.0) for name in "012"]):
    ...     print(line)
    3 clusters are at their maximum of 30; raising one of these alone would gain nothing at these centers.
    """
    costly = sorted((bound for bound in bounds if bound.saving), key=lambda bound: -(bound.saving or 0.0))
    lines = [str(bound) for bound in costly[:MAX_SPELLED]]
    free, unknown = ([bound for bound in bounds if bound.saving == value] for value in (0.0, None))
    for alike in (costly[MAX_SPELLED:], unknown, free):
        for kind in ("minimum", "maximum"):
            lines += _spell_together([bound for bound in alike if bound.kind == kind])
    return lines


def _spell_together(bounds: Sequence[SizeBound]) -> list[str]:
    """Word bounds of one kind, which all cost something, nothing, or an unknown amount, in one sentence."""
    if len(bounds) < 2:
        return [str(bound) for bound in bounds]
    first = bounds[0]
    which = f"{len(bounds):,} {'more ' if first.saving else ''}clusters are at their {first.kind}"
    if len({bound.size for bound in bounds}) == 1:
        which += f" of {spell_number(first.size, 6)}"
    if first.saving is None:
        return [f"{which}."]
    if not first.saving:
        return [f"{which}; {first.change} one of these alone would gain nothing at these centers."]
    return [f"{which}; {first.change} one of these by one would lower the {first.costs} by less."]


def reached_bounds(estimator: Any, labels: Array, names: Sequence[str]) -> tuple[SizeBound, ...]:
    """List the bounds that clusters are at, by names of clusters that the clusterer may number otherwise."""
    sizes = getattr(estimator, "sizes_", None)
    if sizes is None or len(estimator.labels_) != len(labels):
        return ()
    gains = getattr(estimator, "gains_", np.full((2, len(sizes)), np.nan))
    lowest = getattr(estimator, "size_min_", getattr(estimator, "size_min", None))
    limits: dict[Literal["minimum", "maximum"], Any] = {
        "minimum": lowest,
        "maximum": getattr(estimator, "size_max", None),
    }
    costs = COSTS.get(getattr(estimator, "metric", ""), COSTS["sqeuclidean"])
    bounds = []
    for label in np.unique(labels[labels >= 0]).tolist():
        own = int(estimator.labels_[int(np.argmax(labels == label))])
        for (kind, limit), gain in zip(limits.items(), gains[:, own].tolist(), strict=True):
            if limit is not None and np.isclose(sizes[own], np.broadcast_to(limit, len(sizes))[own], rtol=1e-9, atol=0):
                saving = None if np.isnan(gain) else gain
                bounds.append(SizeBound(names[label], kind, float(sizes[own]), saving, costs))
    return tuple(bounds)
