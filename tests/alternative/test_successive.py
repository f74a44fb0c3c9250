"""One alternative after another, and reference data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit

from alternative.problems import counts_with_two_splits
from mustlink import CCIB, CondEns, PCKMeans
from mustlink.alternative import alternatives
from mustlink.alternative._reference import draw_linear, draw_normal, permute_columns, permute_counts
from mustlink.metrics import purity


def boxes(n_rows: int = 160, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    splits = rng.integers(2, size=(3, n_rows))
    return rng.normal(size=(n_rows, 3)) + (splits * np.array([[14], [11], [8]])).T, splits


@pytest.mark.parametrize("estimator", [CCIB(2, n_init=1, growth=1.5), CondEns(2, n_init=1)])
def test_all_splits_are_found_one_after_another_and_no_more(estimator: Any) -> None:
    X, splits = boxes()
    found = alternatives(estimator, X, n_references=5, random_state=1)
    assert found.labels.shape == (160, 3)
    assert found.is_exhausted
    for labels, split in zip(found.labels.T, splits, strict=True):
        assert purity(split, labels) > 0.95
    assert (found.information > found.references.max(axis=1)).all()
    assert found.estimators[2].nmi_known_.shape == (2,)


def test_what_is_known_at_first_is_not_found_again() -> None:
    X, splits = boxes()
    known = np.array(["low", "high"])[splits[0]]
    found = alternatives(CondEns(2, n_init=1), X, known=known, max_alternatives=1, n_references=0, random_state=0)
    assert purity(splits[1], found.labels[:, 0]) > 0.95
    assert not found.is_exhausted
    assert found.references.shape == (1, 0)


def test_counts_stop_when_only_noise_is_left() -> None:
    X, a, b = counts_with_two_splits(2, 150, 0, m=60)
    found = alternatives(CCIB(2, model="multinomial", n_init=1, growth=1.5), X, known=a, n_references=9, random_state=0)
    assert found.labels.shape == (150, 1)
    assert purity(b, found.labels[:, 0]) > 0.95
    both = alternatives(
        CCIB(2, model="multinomial", n_init=1, growth=1.5), X, known=[a, b], n_references=9, random_state=0
    )
    assert both.labels.shape == (150, 0)
    assert both.is_exhausted


@pytest.mark.parametrize("as_sparse", [False, True])
def test_shuffled_words_stay_in_their_cell(as_sparse: bool) -> None:
    rng = np.random.default_rng(0)
    X = rng.poisson(1.0, size=(30, 8)).astype(float)
    cell = rng.integers(3, size=30)
    for given in (X, X / 2):
        table = sparse.csr_matrix(given) if as_sparse else given
        found = permute_counts(table, cell, np.random.RandomState(0))
        found = found.toarray() if as_sparse else found
        assert not np.array_equal(found, given)
        for z in range(3):
            assert np.allclose(found[cell == z].sum(axis=0), given[cell == z].sum(axis=0))
        if given is X:
            assert np.array_equal(found.sum(axis=1), X.sum(axis=1))


def test_columns_of_a_sparse_table_are_permuted_within_cells() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 5)) * (rng.random((30, 5)) < 0.4)
    cell = rng.integers(3, size=30)
    found = permute_columns(sparse.csr_matrix(X), cell, np.random.RandomState(0)).toarray()
    assert not np.array_equal(found, X)
    for z in range(3):
        assert np.allclose(np.sort(found[cell == z], axis=0), np.sort(X[cell == z], axis=0))


def test_normal_draws_have_the_moments_of_their_cell() -> None:
    rng = np.random.default_rng(0)
    cell = np.arange(4000) % 2
    X = rng.normal(size=(4000, 2)) @ np.array([[1.0, 0.8], [0.0, 0.5]]) + 3 * cell[:, None]
    found = draw_normal(X, cell, None, np.random.RandomState(0))
    for z in range(2):
        assert np.allclose(found[cell == z].mean(axis=0), X[cell == z].mean(axis=0), atol=0.1)
        assert np.allclose(np.cov(found[cell == z].T), np.cov(X[cell == z].T), atol=0.1)
    numbers = rng.normal(size=4000)
    fitted = draw_normal(
        np.outer(numbers, [2.0, 0.0]), cell, np.column_stack([np.ones(4000), numbers]), np.random.RandomState(0)
    )
    assert np.allclose(fitted, np.outer(numbers, [2.0, 0.0]))


@pytest.mark.parametrize("link", ["log", "logit"])
def test_links_of_counts_and_of_zeros_and_ones_stop_when_nothing_is_left(link: Any) -> None:
    rng = np.random.default_rng(1)
    known, b = rng.integers(2, size=(2, 120))
    rate = np.column_stack([*[0.8 * known + 0.1] * 2, *[0.8 * b + 0.1] * 4])
    X = (rng.poisson(6 * rate) if link == "log" else rng.random(rate.shape) < rate).astype(float)
    model = CCIB(2, model="glm", link=link, n_init=1, growth=2.0, tol=1e-2, max_iter=20)
    found = alternatives(model, X, known=known, max_alternatives=2, n_references=4, random_state=2)
    assert found.labels.shape == (120, 1)
    assert found.is_exhausted
    assert purity(b, found.labels[:, 0]) > 0.9


@pytest.mark.parametrize("link", ["log", "logit"])
def test_drawn_counts_have_the_means_of_a_linear_model(link: Any) -> None:
    rng = np.random.default_rng(0)
    known, number = rng.integers(3, size=6000), rng.normal(size=6000)
    design = np.column_stack([np.ones(6000), np.eye(3)[known], number])
    means = np.exp(0.5 * number + known / 2) if link == "log" else expit(number + known - 1)
    X = (rng.poisson(means) if link == "log" else rng.random(6000) < means).astype(np.float32)[:, None]
    found = draw_linear(X, design, link, np.random.RandomState(0))
    assert found.dtype == np.float32
    assert found.min() >= 0
    for z in range(3):
        for side in (number < 0, number > 0):
            some = side & (known == z)
            assert found[some].mean() == pytest.approx(means[some].mean(), rel=0.15)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"estimator": PCKMeans(2)}, TypeError, "estimator must be a ResidualClustering, CondEns or CCIB"),
        ({"max_alternatives": 0}, ValueError, "max_alternatives must be a whole number from 1 on; got 0"),
        ({"n_references": -1}, ValueError, "n_references must be a whole number from 0 on; got -1"),
        ({"known": [1]}, ValueError, "known must hold one value per row"),
    ],
)
def test_bad_arguments_are_refused(given: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        alternatives(**{"estimator": CondEns(2), "X": np.eye(6), **given})
