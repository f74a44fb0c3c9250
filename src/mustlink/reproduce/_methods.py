"""Methods by name. Those whose class the package does not have yet are listed, and join when it has."""

from __future__ import annotations

import importlib
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mustlink.metrics import scores
from mustlink.reproduce._cell import Cell
from mustlink.reproduce._problem import Problem
from mustlink.reproduce._store import Record

__all__ = ["FEWEST_UNLINKED", "Method", "Outcome", "agreement", "build", "computed", "find_class"]

_SCORES = ("nmi", "pairwise_f1", "nmi_unconstrained", "pairwise_f1_unconstrained", "violation_rate")
FEWEST_UNLINKED = 10
"""With fewer points in no link, a score on them says nothing."""

_MOST_WARNINGS = 3
_REPEATS = 3
_LONG_RUN = 10.0  # seconds; a run that takes longer is timed once


@dataclass(frozen=True)
class Outcome:
    """The labels a method gave, and further figures of its own."""

    labels: NDArray[Any]
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Method:
    """A way to cluster a problem."""

    name: str
    run: Callable[[Problem], Outcome]
    needs: str | None = None  # the class it is made of, as module:Class; None for what scikit-learn has

    @property
    def is_here(self) -> bool:
        """Whether the package has the class that the method needs."""
        return self.needs is None or find_class(self.needs) is not None


def find_class(home: str) -> type[Any] | None:
    """Import ``module:Class``, or return None if this version has no such class."""
    module, name = home.split(":")
    try:
        found: type[Any] | None = getattr(importlib.import_module(module), name, None)
    except ModuleNotFoundError as error:
        if error.name is None or not module.startswith(error.name):
            raise
        return None
    return found


def build(home: str, **parameters: Any) -> Any:
    """Make an estimator, giving it those of the parameters that it has."""
    cls = find_class(home)
    if cls is None:
        raise LookupError(f"{home} is not in this version of mustlink.")
    known = cls._get_param_names()
    return cls(**{name: value for name, value in parameters.items() if name in known})


def computed(cell: Cell, method: Method, problem: Problem) -> Record:
    """Run a method on the problem of a cell; what goes wrong in it is part of the result."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            figures = _timed(method, problem) if cell.measure == "seconds" else _scored(method, problem)
            error = None
        except Exception as failure:  # a method may fail in any way, and the other cells must still be run
            figures, error = {}, f"{type(failure).__name__}: {failure}"
    told = list(dict.fromkeys(f"{entry.category.__name__}: {entry.message}" for entry in caught))
    return Record(cell, figures, error, told[:_MOST_WARNINGS])


def agreement(problem: Problem, labels: NDArray[Any]) -> dict[str, Any]:
    """Score labels on all points, and on the points in no link where these are not too few."""
    found = scores(problem.y, labels, problem.links)
    n_unlinked = len(problem.y) - len(problem.links.constrained_rows())
    kept = [name for name in _SCORES if not name.endswith("_unconstrained") or n_unlinked >= FEWEST_UNLINKED]
    figures: dict[str, Any] = {name: found[name] for name in kept}
    return figures | {"n_clusters": len(np.unique(labels[labels >= 0])), "n_unlinked": n_unlinked}


def _scored(method: Method, problem: Problem) -> dict[str, Any]:
    """Run a method once and score it on all points, and on the points in no link."""
    started = time.perf_counter()
    outcome = method.run(problem)
    seconds = time.perf_counter() - started
    figures = agreement(problem, outcome.labels)
    figures["seconds"] = seconds
    return figures | dict(outcome.facts)


def _timed(method: Method, problem: Problem) -> dict[str, Any]:
    """Return the median time of a method, after a first run that compiles what has to be compiled."""
    first = _seconds(method, problem)
    times = [_seconds(method, problem) for _ in range(_REPEATS if first < _LONG_RUN else 1)]
    return {"seconds": float(np.median(times))}


def _seconds(method: Method, problem: Problem) -> float:
    """Time one run."""
    started = time.perf_counter()
    method.run(problem)
    return time.perf_counter() - started
