"""Bounds of cluster sizes that cost something, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from mustlink._spelling import spell_number
from mustlink._types import Array

__all__ = ["SizeBound", "binding_bounds"]

# What a clusterer with sizes lowers, by its metric.
COSTS = {"sqeuclidean": "sum of squared distances", "manhattan": "sum of absolute differences"}


@dataclass(frozen=True)
class SizeBound:
    """A minimum or maximum size that holds rows in a cluster, or keeps them out of it.

    Parameters
    ----------
    name : str
        What the cluster is called.
    kind : {'minimum', 'maximum'}
        Which bound it is.
    size : float
        The size of the cluster, which is the bound.
    saving : float
        About how far the costs would fall if the bound were looser by one.
    costs : str, default='sum of squared distances'
        What the costs are.

    Examples
    --------
    >>> from mustlink.report import SizeBound
    >>> print(SizeBound("3", "minimum", 20, 4.123))
    Cluster 3 is at its minimum of 20; lowering it by one would lower the sum of squared distances by about 4.12.
    """

    name: str
    kind: Literal["minimum", "maximum"]
    size: float
    saving: float
    costs: str = COSTS["sqeuclidean"]

    def __str__(self) -> str:
        change = "lowering" if self.kind == "minimum" else "raising"
        return (
            f"Cluster {self.name} is at its {self.kind} of {spell_number(self.size, 6)}; {change} it by one would "
            f"lower the {self.costs} by about {spell_number(self.saving)}."
        )


def binding_bounds(estimator: Any, labels: Array, names: Sequence[str]) -> tuple[SizeBound, ...]:
    """List the bounds with a price, by the names of clusters that may be numbered otherwise than by the clusterer."""
    prices, sizes = getattr(estimator, "prices_", None), getattr(estimator, "sizes_", None)
    if prices is None or sizes is None or len(estimator.labels_) != len(labels):
        return ()
    costs = COSTS.get(getattr(estimator, "metric", ""), COSTS["sqeuclidean"])
    bounds = []
    for label in np.unique(labels[labels >= 0]).tolist():
        own = int(estimator.labels_[int(np.argmax(labels == label))])
        price = float(prices[own])
        if price:
            kind: Literal["minimum", "maximum"] = "minimum" if price > 0 else "maximum"
            bounds.append(SizeBound(names[label], kind, float(sizes[own]), abs(price), costs))
    return tuple(bounds)
