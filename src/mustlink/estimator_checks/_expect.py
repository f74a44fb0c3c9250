"""What the checks expect: sentences of failure, and values that are equal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator

from mustlink.constraints import Constraints


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
