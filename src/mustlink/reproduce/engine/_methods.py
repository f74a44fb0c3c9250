"""Methods by name, and the computation of one result."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mustlink._types import Array
from mustlink.metrics import scores
from mustlink.reproduce.engine._problem import Problem
from mustlink.reproduce.engine._results import Record, Run

# With fewer unlinked points, a score on them is mostly chance.
MIN_UNLINKED = 10
_SCORES = ("nmi", "pairwise_f1", "nmi_unconstrained", "pairwise_f1_unconstrained", "violation_rate")
_MAX_WARNINGS = 3
_N_TIMED = 3
_LONG_RUN = 10.0  # seconds; a run that takes longer is timed once


@dataclass(frozen=True)
class Labeling:
    """The labels that a method returned, and further figures of its own."""

    labels: Array
    facts: Mapping[str, Any] = field(default_factory=dict)


Method = Callable[[Problem], Labeling]


def fit_links(clusterer: type[Any], problem: Problem, **parameters: Any) -> Labeling:
    """Fit a constrained clusterer to the rows and the links of a problem."""
    model = clusterer(n_clusters=problem.n_clusters, random_state=problem.seed, **parameters)
    return Labeling(model.fit(problem.X, constraints=problem.links).labels_)


def compute_record(run: Run, method: Method, problem: Problem) -> Record:
    """Fit a method to the problem of a run; an exception or a warning is part of the result."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            figures, error = _compute_figures(run, method, problem), None
        except Exception as failure:  # a method may fail in any way, and the other runs must still be computed
            figures, error = {}, f"{type(failure).__name__}: {failure}"
    messages = list(dict.fromkeys(f"{entry.category.__name__}: {entry.message}" for entry in caught))
    return Record(run, figures, error, messages[:_MAX_WARNINGS])


def score_labels(problem: Problem, labels: Array) -> dict[str, Any]:
    """Score labels on all points, and on the unlinked points if there are enough of them."""
    found = scores(problem.y, labels, problem.links)
    n_unlinked = len(problem.y) - len(problem.links.constrained_rows())
    kept = [name for name in _SCORES if not name.endswith("_unconstrained") or n_unlinked >= MIN_UNLINKED]
    figures: dict[str, Any] = {name: found[name] for name in kept}
    return figures | {"n_clusters": len(np.unique(labels[labels >= 0])), "n_unlinked": n_unlinked}


def _compute_figures(run: Run, method: Method, problem: Problem) -> dict[str, Any]:
    """Fit a method once and score its labels; or return its median time, after a fit that compiles its kernels."""
    labeling, seconds = _timed_fit(method, problem)
    if run.measure == "seconds":
        times = [_timed_fit(method, problem)[1] for _ in range(_N_TIMED if seconds < _LONG_RUN else 1)]
        return {"seconds": float(np.median(times))}
    return score_labels(problem, labeling.labels) | {"seconds": seconds} | dict(labeling.facts)


def _timed_fit(method: Method, problem: Problem) -> tuple[Labeling, float]:
    """Fit a method and return the seconds it took."""
    started = time.perf_counter()
    labeling = method(problem)
    return labeling, time.perf_counter() - started
