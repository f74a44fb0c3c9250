"""Eigenpairs by both solvers, and numbering by first appearance."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.linalg import aslinearoperator

from mustlink._eigen import decompose, fix_signs, leading_eigenpairs
from mustlink._numbering import number_by_first


def symmetric(n_rows: int, rank: int) -> np.ndarray:
    factor = np.random.RandomState(0).standard_normal((n_rows, rank))
    return factor @ factor.T


@pytest.mark.parametrize("lanczos", [False, True])
def test_leading_pairs_are_the_largest_in_descending_order(lanczos: bool) -> None:
    matrix = symmetric(60, 60)
    values, vectors = leading_eigenpairs(aslinearoperator(matrix) if lanczos else matrix, 3, positive=False)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(matrix)[::-1][:3])
    np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=1e-8)
    assert (vectors[np.abs(vectors).argmax(axis=0), [0, 1, 2]] > 0).all()


def test_null_and_negative_pairs_are_left_out_if_asked() -> None:
    matrix = symmetric(8, 2) - 5 * np.outer(np.eye(8)[0], np.eye(8)[0])
    everything, _ = leading_eigenpairs(matrix, 8, positive=False)
    positive, vectors = leading_eigenpairs(matrix, 8, positive=True)
    assert everything.shape == (8,)
    assert everything.min() < 0
    np.testing.assert_array_equal(positive, everything[: len(positive)])
    assert vectors.shape == (8, len(positive))
    assert 1 <= len(positive) <= 2


def test_decomposition_of_all_or_of_the_largest() -> None:
    matrix = symmetric(6, 6)
    values, vectors = decompose(matrix)
    np.testing.assert_allclose((vectors * values) @ vectors.T, matrix)
    np.testing.assert_allclose(decompose(matrix, 2)[0], values[-2:])


def test_signs_are_fixed_in_a_copy() -> None:
    vectors = np.array([[0.6, -0.8], [-0.8, -0.6]])
    fixed = fix_signs(vectors)
    np.testing.assert_array_equal(fixed, [[-0.6, 0.8], [0.8, 0.6]])
    assert vectors[1, 0] == -0.8


def test_numbering_by_first_appearance() -> None:
    labels, new = number_by_first(np.array([4, 4, 1, 3, 1]), 6)
    assert labels.tolist() == [0, 0, 1, 2, 1]
    assert new[[4, 1, 3]].tolist() == [0, 1, 2]
    assert sorted(new.tolist()) == list(range(6))
