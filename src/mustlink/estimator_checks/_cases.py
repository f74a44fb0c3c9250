"""Data, links and assertions of the checks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, clone

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
    return copy.set_params(**{name: value for name, value in wanted.items() if has_parameter(copy, name)})


def fitted(estimator: BaseEstimator, X: Any, y: Any = None, *, constraints: Any = None, **parameters: Any) -> Any:
    """Return a fitted copy."""
    model = prepared(estimator, **parameters)
    model.fit(X, y, constraints=constraints)
    return model


def has_parameter(estimator: BaseEstimator, name: str) -> bool:
    """Return whether an estimator has a parameter."""
    return name in estimator.get_params(deep=False)


def is_hard(estimator: BaseEstimator) -> bool:
    """Return whether an estimator keeps every link or raises an error, by its parameter `on_infeasible`.

    One that can do both has a parameter `enforce`.
    """
    return has_parameter(estimator, "on_infeasible") and getattr(estimator, "enforce", "hard") != "soft"


def expect(holds: object, sentence: str) -> None:
    """Fail with a sentence, which the suite begins with the name of the estimator."""
    if not holds:
        raise AssertionError(sentence)


def expect_labels(found: Any, expected: Any, sentence: str) -> None:
    """Fail unless two lists of labels are equal."""
    n_differing = np.count_nonzero(np.asarray(found) != np.asarray(expected))
    expect(not n_differing, f"{sentence}: {n_differing} rows have other labels.")


def expect_partition(found: Any, expected: Any, sentence: str) -> None:
    """Fail unless two lists of labels are equal up to the numbers of the clusters."""
    expect(same_partition(found, expected), f"{sentence}: the clusters are not the same.")


def expect_same_fit(found: BaseEstimator, expected: BaseEstimator, sentence: str) -> None:
    """Fail unless all learned attributes of two fitted estimators are equal, bit for bit."""
    differing = differing_attribute(found, expected)
    expect(differing is None, f"{sentence} in {differing}.")


def expect_kept(links: Constraints, labels: Any) -> None:
    """Fail if labels of a hard method break a link."""
    broken = links.violations(labels)
    expect(broken.is_empty, f"it is hard, but of {links!r} its labels break {broken!r}.")


def same_partition(one: Any, other: Any) -> bool:
    """Return whether two lists of labels are equal up to the numbers of the clusters; noise (-1) must stay noise."""
    one, other = np.asarray(one), np.asarray(other)
    if one.shape != other.shape or not np.array_equal(one == -1, other == -1):
        return False
    n_pairs = len(np.unique(np.column_stack([one, other]), axis=0))
    return n_pairs == len(np.unique(one)) == len(np.unique(other))


@contextmanager
def expect_error(kinds: type[Exception] | tuple[type[Exception], ...], when: str, named: Any = ()) -> Iterator[None]:
    """Fail unless the block raises the expected error, with a message that names the given words or rows."""
    expected = " or ".join(kind.__name__ for kind in (kinds if isinstance(kinds, tuple) else (kinds,)))
    try:
        yield
    except kinds as error:
        for word in named:
            is_named = re.search(rf"\b{re.escape(str(word))}\b", str(error), re.IGNORECASE)
            expect(is_named, f"{when}, the message does not name {word}: {error}")
    except Exception as error:
        sentence = f"{when}, {expected} was expected, and {type(error).__name__} was raised: {error}"
        raise AssertionError(sentence) from error
    else:
        raise AssertionError(f"{when}, {expected} was expected, and nothing was raised.")


def learned(estimator: BaseEstimator) -> dict[str, Any]:
    """Return the attributes set by fit, which end in an underscore."""
    return {name: value for name, value in vars(estimator).items() if name.endswith("_") and not name.startswith("_")}


def differing_attribute(one: BaseEstimator, other: BaseEstimator) -> str | None:
    """Return the name of a learned attribute that is not equal, bit for bit, in two fitted estimators."""
    mine, yours = learned(one), learned(other)
    for name in sorted(set(mine) | set(yours)):
        if name not in mine or name not in yours or not same_value(mine[name], yours[name]):
            return name
    return None


def same_value(one: Any, other: Any) -> bool:
    """Return whether two learned values are equal in type and content, bit for bit."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind in "fc")
    if issparse(one):
        return one.shape == other.shape and (one != other).nnz == 0
    if isinstance(one, Mapping):
        return one.keys() == other.keys() and all(same_value(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(same_value(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, BaseEstimator):
        return differing_attribute(one, other) is None
    both_nan = isinstance(one, float) and one != one and other != other
    return both_nan or bool(one == other)
