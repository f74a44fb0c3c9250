"""From the parameters of a clusterer and the input of a fit to a `Sizing`, with the checks."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from mustlink._spelling import spell_number
from mustlink._types import Array, Floats, Ints
from mustlink._warnings import warn_caller
from mustlink.errors import InfeasibleError, InfeasibleWarning
from mustlink.kmeans.core import Problem, State
from mustlink.sizes._assign._bounds import check_apart, check_pivots, check_sizes, one_per_cluster
from mustlink.sizes._assign._cost_blocks import MAX_COST
from mustlink.sizes._size_constrained._sizing import Sizing

__all__ = ["SizedProblem", "make_sizing", "refuse_missed_bounds", "scale_bounds", "sizing_of_new_rows"]

# What a whole size may be off by after it was divided and multiplied.
ROUNDING = 1e-6


@dataclass
class SizedProblem(Problem):
    """What a fit is given, the sizes that it has to keep to, and the centers that its runs started from."""

    sizing: Sizing
    drawn: list[Floats] = field(default_factory=list)

    @classmethod
    def of(cls, problem: Problem, sizing: Sizing) -> Self:
        """Return a problem with sizes."""
        return cls(**{entry.name: getattr(problem, entry.name) for entry in fields(problem)}, sizing=sizing)

    def start_from(self, centers: Floats) -> State:
        """Return the state that a run starts from, and remember the centers."""
        self.drawn.append(centers)
        return State(centers)


def make_sizing(
    estimator: Any, problem: Problem, weight: Floats | None, pivots: ArrayLike | None, apart: ArrayLike | None
) -> Sizing:
    """Check the sizes that a clusterer asks for against the rows; `weight` is None if sizes are numbers of rows."""
    n_rows, n_clusters = problem.rows.n_rows, estimator.n_clusters
    has_outliers = estimator.outlier_cost is not None
    lowest, highest = _check_bounds(estimator.size_min, estimator.size_max, n_rows, n_clusters, weight, has_outliers)
    mask, pivots_lowest, groups = None, None, None
    if (pivots is None) != (estimator.pivot_min is None):
        given, missing = ("pivots", "pivot_min") if estimator.pivot_min is None else ("pivot_min", "pivots")
        raise ValueError(f"{given} was given without {missing}; a minimum number of pivots needs both.")
    _refuse_together(weight, pivots, apart, has_outliers)
    if pivots is not None:
        mask, pivots_lowest = check_pivots(pivots, estimator.pivot_min, lowest, highest, n_rows)
    if apart is not None:
        groups = check_apart(apart, estimator.apart_max, lowest, highest, n_rows)
    cost = _outlier_costs(estimator.outlier_cost, problem.weight) if has_outliers else None
    return Sizing(lowest, highest, weight, mask, pivots_lowest, cost, groups, int(estimator.apart_max))


def _outlier_costs(outlier_cost: float, weight: Floats) -> Floats:
    """Return what every row costs as an outlier."""
    if outlier_cost > MAX_COST / max(1.0, float(weight.max())):
        raise ValueError(
            f"outlier_cost={outlier_cost:g} is too large for weights of up to {weight.max():g}: a row may cost at most "
            f"{MAX_COST:g}; pass None if no row is to be an outlier."
        )
    return weight * float(outlier_cost)


def _refuse_together(
    weight: Floats | None, pivots: ArrayLike | None, apart: ArrayLike | None, has_outliers: bool
) -> None:
    """Refuse conditions that together are no network flow."""
    for name, value in (("pivot_min", pivots), ("apart", apart)):
        if value is not None and weight is not None:
            raise ValueError(f'{name} counts rows, and the sizes are sums of weights; pass size_by="rows".')
    if apart is not None and (pivots is not None or has_outliers):
        other = "pivot_min" if pivots is not None else "outlier_cost"
        raise ValueError(f"apart and {other} cannot be combined; leave out one of the two.")


def refuse_missed_bounds(sizing: Sizing, labels: Array, *, relax: bool) -> None:
    """Refuse sums of weights beyond their bounds, which whole rows may leave no choice of; or warn of them."""
    if not sizing.n_beyond_bounds(labels):
        return
    sizes = sizing.sizes(labels)
    c = int(np.argmax(np.maximum(sizing.lowest - sizes, sizes - sizing.highest)))
    is_small = sizes[c] < sizing.lowest[c]
    name, bound = ("minimum", sizing.lowest[c]) if is_small else ("maximum", sizing.highest[c])
    problem = (
        f"No clusters of whole rows with all sums of weights within the bounds were found; cluster {c} weighs "
        f"{spell_number(float(sizes[c]), 6)}, and its {name} is {spell_number(float(bound), 6)}"
    )
    if not relax:
        raise InfeasibleError(problem, remedy=("lower_size_min", "raise_size_max", "relax"))
    warn_caller(f"{problem}.", InfeasibleWarning)


def sizing_of_new_rows(estimator: Any, n_rows: int, size_min: ArrayLike | None, size_max: ArrayLike | None) -> Sizing:
    """Check sizes for rows that come after a fit."""
    cost = estimator.outlier_cost
    bounds = _check_bounds(size_min, size_max, n_rows, estimator.n_clusters, None, cost is not None)
    return Sizing(*bounds, outlier_cost=None if cost is None else np.full(n_rows, float(cost)))


def scale_bounds(shares: Floats, n_rows: int) -> tuple[Ints, Ints]:
    """Return sizes in proportion to a number of rows, minima rounded down and maxima up: some sizes satisfy them."""
    lowest, highest = shares * n_rows
    return np.floor(lowest + ROUNDING).astype(np.int64), np.ceil(highest - ROUNDING).astype(np.int64)


def _check_bounds(
    size_min: Any, size_max: Any, n_rows: int, n_clusters: int, weight: Floats | None, has_outliers: bool
) -> tuple[Array, Array]:
    """Return the bounds of every cluster; with outliers, the maximum sizes need not add up to all rows."""
    total = None if weight is None else float(weight.sum())
    if size_max is None or not has_outliers:
        return check_sizes(size_min, size_max, n_rows, n_clusters, total=total)
    check_sizes(size_min, None, n_rows, n_clusters, total=total)
    # As many rows as there is room for: only a maximum below its minimum is then in the way.
    room = one_per_cluster("size_max", size_max, n_clusters, weighted=weight is not None).sum()
    if room >= (n_rows if total is None else total):
        return check_sizes(size_min, size_max, n_rows, n_clusters, total=total)
    room_total = None if total is None else float(room)
    return check_sizes(size_min, size_max, int(room), n_clusters, total=room_total)
