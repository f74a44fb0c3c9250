"""Data and links of the checks, and fitted copies of an estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from mustlink._estimators import count_parameter, takes_links
from mustlink.constraints import Constraints

N_CLUSTERS = 3
N_ROWS = 60
N_FEATURES = 4


@dataclass(frozen=True)
class Case:
    """Data, the class of each row and links between rows."""

    X: NDArray[np.float64]
    classes: NDArray[np.intp]
    links: Constraints

    @property
    def partial_labels(self) -> NDArray[np.intp]:
        """The class of every fourth row, and -1 for the others."""
        known = np.full(N_ROWS, -1, dtype=np.intp)
        known[::4] = self.classes[::4]
        return known


def separated() -> Case:
    """Return clusters far apart with links that agree with them: every method finds the same clusters."""
    rng = np.random.RandomState(0)
    classes = np.arange(N_ROWS) % N_CLUSTERS
    X = rng.normal(size=(N_ROWS, N_FEATURES)) + 50.0 * np.eye(N_CLUSTERS, N_FEATURES)[classes] + 10.0
    return Case(X, classes, Constraints.sample(classes, n_pairs=30, random_state=1))


def crowded() -> Case:
    """Return data without clusters, and links that do not depend on the data.

    No row is in two must-links, and no must-linked pair in two cannot-links: greedy assignment to two or more clusters
    keeps all of them in any order.
    """
    rng = np.random.RandomState(2)
    X = rng.uniform(1.0, 3.0, size=(N_ROWS, N_FEATURES))
    rows = rng.permutation(N_ROWS)
    must_link = rows[:24].reshape(-1, 2)
    cannot_link = np.concatenate([rows[:24:2].reshape(-1, 2), rows[24:44].reshape(-1, 2)])
    return Case(X, rng.randint(N_CLUSTERS, size=N_ROWS), Constraints(must_link, cannot_link))


def prepared(estimator: BaseEstimator, **parameters: Any) -> Any:
    """Return an unfitted copy for the data of the checks, with a seed and those parameters that it has."""
    copy = clone(estimator)
    wanted = {"n_clusters": N_CLUSTERS, "random_state": 0, "on_infeasible": "raise"} | parameters
    wanted[count_parameter(copy) or "n_clusters"] = wanted["n_clusters"]
    return copy.set_params(**{name: value for name, value in wanted.items() if has_parameter(copy, name)})


def fitted(estimator: BaseEstimator, X: Any, y: Any = None, *, constraints: Any = None, **parameters: Any) -> Any:
    """Return a fitted copy; one that takes no links is fitted without them."""
    model = prepared(estimator, **parameters)
    return refit(model, X, y, constraints=constraints)


def refit(model: Any, X: Any, y: Any = None, *, constraints: Any = None) -> Any:
    """Fit an estimator, with the links if it takes them, and return what ``fit`` returns."""
    return model.fit(X, y, **links_for(model, constraints))


def links_for(estimator: BaseEstimator, links: Any) -> dict[str, Any]:
    """Return the links as a keyword of ``fit``; nothing for an estimator that takes no links."""
    return {"constraints": links} if takes_links(estimator) else {}


def has_parameter(estimator: BaseEstimator, name: str) -> bool:
    """Return whether an estimator has a parameter."""
    return name in estimator.get_params(deep=False)


def is_hard(estimator: BaseEstimator) -> bool:
    """Return whether an estimator keeps every link or raises an error, by its parameter `on_infeasible`.

    One that can do both has a parameter `enforce`.
    """
    return has_parameter(estimator, "on_infeasible") and getattr(estimator, "enforce", "hard") != "soft"
