"""The strategies that are compared, by name."""

from __future__ import annotations

from functools import partial
from typing import Any

from mustlink.active import COBRAS, NPU, Consolidate, MinMax, RandomPairs, Strategy
from mustlink.boosting import RobustBoostCluster
from mustlink.reproduce.engine._figures import LineStyle
from mustlink.reproduce.engine._problem import Problem

RANDOM, CONSOLIDATE, MINMAX, UNCERTAIN, COARSE_TO_FINE = (
    "random pairs",
    "Explore + Consolidate",
    "Explore + MinMax",
    "NPU",
    "COBRAS",
)
UNCERTAIN_BY_DEFAULT = "NPU by the default"
STYLES = {
    RANDOM: LineStyle(6, ":"),
    CONSOLIDATE: LineStyle(0),
    MINMAX: LineStyle(1),
    UNCERTAIN: LineStyle(3),
    COARSE_TO_FINE: LineStyle(2),
}
MAKERS: dict[str, Any] = {
    RANDOM: RandomPairs,
    CONSOLIDATE: Consolidate,
    MINMAX: MinMax,
    UNCERTAIN: NPU,
    COARSE_TO_FINE: COBRAS,
    UNCERTAIN_BY_DEFAULT: partial(NPU, clusterer=RobustBoostCluster()),
}


def make_strategy(name: str, problem: Problem) -> Strategy:
    """Make a strategy by its name."""
    strategy: Strategy = MAKERS[name](problem.X, problem.n_clusters, random_state=problem.shared_seed)
    return strategy
