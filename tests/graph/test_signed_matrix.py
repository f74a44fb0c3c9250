"""Signed weights from the probabilities of pairs."""

from __future__ import annotations

import numpy as np
import pytest

from mustlink.errors import ConstraintError
from mustlink.graph import signed_matrix


def test_weights_are_log_odds_and_symmetric() -> None:
    X = signed_matrix([(0, 1), (2, 1), (0, 3)], [0.9, 0.25, 0.5], 5).toarray()
    assert np.allclose(X, X.T)
    assert np.isclose(X[0, 1], np.log(9))
    assert np.isclose(X[1, 2], -np.log(3))
    # A pair that is given is not missing, even if nothing speaks for or against it.
    assert 0 < X[0, 3] < 1e-9
    assert np.count_nonzero(X) == 6


def test_threshold_shifts_and_clip_limits() -> None:
    X = signed_matrix([(0, 1), (1, 2)], [0.9, 1.0], 3, threshold=0.9, clip=0.01).toarray()
    assert np.isclose(X[0, 1], 0)
    assert np.isclose(X[1, 2], np.log(99) - np.log(9))


def test_a_repeated_pair_has_the_mean_of_its_log_odds() -> None:
    once = signed_matrix([(0, 1), (1, 2)], [0.8, 0.3], 3)
    twice = signed_matrix([(0, 1), (1, 0), (1, 2)], [0.8, 0.8, 0.3], 3)
    assert np.allclose(once.toarray(), twice.toarray())


def test_no_pairs_are_an_empty_matrix() -> None:
    assert signed_matrix([], [], 4).nnz == 0


@pytest.mark.parametrize(
    ("pairs", "probabilities", "message"),
    [
        ([(0, 5)], [0.5], "rows 0 and 5; a pair is of two different rows from 0 to 2"),
        ([(1, 1)], [0.5], "rows 1 and 1"),
        ([(0, -1)], [0.5], "rows 0 and -1"),
        ([(0, 1)], [1.5], "probability of rows 0 and 1 is 1.5"),
        ([(0, 1)], [np.nan], "is nan"),
        ([(0, 1)], [0.5, 0.5], "1 pair need as many probabilities"),
        ([(0.5, 1)], [0.5], "whole numbers in two columns"),
    ],
)
def test_bad_pairs_are_named(pairs: list[tuple[int, int]], probabilities: list[float], message: str) -> None:
    with pytest.raises(ConstraintError, match=message):
        signed_matrix(pairs, probabilities, 3)


def test_a_clip_that_leaves_nothing_is_refused() -> None:
    with pytest.raises(ConstraintError, match=r"clip must be between 0 and 0\.5"):
        signed_matrix([(0, 1)], [0.5], 2, clip=0.6)
