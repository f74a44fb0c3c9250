"""One fit with everything that came of it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from fuzz.problems import Problem
from mustlink.errors import InfeasibleError
from mustlink.estimator_checks._cases import refit

__all__ = ["Finding", "Fit", "fit"]


@dataclass(frozen=True)
class Finding:
    """Something that must not happen: on the problem of a seed, by a method ("links" for the links alone)."""

    seed: int
    method: str
    kind: str
    detail: str


@dataclass(frozen=True)
class Fit:
    """A fitted model or the error instead, and the warnings on the way."""

    model: Any
    error: Exception | None
    warnings: tuple[Warning, ...]

    @property
    def kind(self) -> str:
        """Say in a word how it ended."""
        if self.error is None:
            return "fitted"
        return "infeasible" if isinstance(self.error, InfeasibleError) else type(self.error).__name__

    @property
    def labels(self) -> list[int]:
        return list(self.model.labels_.tolist())

    def has_warned(self, *categories: type[Warning]) -> bool:
        return any(isinstance(warning, categories) for warning in self.warnings)


def fit(model: Any, problem: Problem) -> Fit:
    """Fit a model, and keep its error and warnings."""
    X = problem.X.copy()
    error: Exception | None = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            refit(model, X, problem.y, constraints=problem.constraints)
            if not np.array_equal(X, problem.X):
                raise AssertionError("fit has changed X")
        except Exception as raised:
            error = raised
    return Fit(model, error, tuple(entry.message for entry in caught if isinstance(entry.message, Warning)))
