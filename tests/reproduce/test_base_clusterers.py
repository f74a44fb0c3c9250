from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackNoConvergence
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons

from mustlink.metrics import normalized_mutual_info
from mustlink.reproduce._bases import LocalSpectral, PartitionalSingleLink, _leading_vectors, _local_affinity

BASES = [PartitionalSingleLink, LocalSpectral]


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("n_clusters", [1, 2, 5])
def test_as_many_clusters_as_wanted_and_repeatable(base, n_clusters):
    X, _ = load_iris(return_X_y=True)
    model = base(n_clusters, random_state=0)
    labels = model.fit_predict(X)
    assert sorted(set(labels)) == list(range(n_clusters))
    assert np.array_equal(labels, clone(model).fit_predict(X))


@pytest.mark.parametrize("base", BASES)
def test_shapes_that_k_means_cannot_see(base):
    X, y = make_moons(300, noise=0.04, random_state=0)
    assert normalized_mutual_info(y, base(2, random_state=0).fit_predict(X)) > 0.95


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("n_rows", [1, 2, 3, 4])
def test_hardly_any_rows(base, n_rows):
    X = np.arange(2.0 * n_rows).reshape(n_rows, 2)
    assert len(base(min(2, n_rows), random_state=0).fit_predict(X)) == n_rows


def test_copies_of_rows_are_no_obstacle():
    X = np.repeat([[0.0, 0.0], [1.0, 1.0], [5.0, 5.0]], 20, axis=0)
    labels = LocalSpectral(3, random_state=0).fit_predict(X)
    assert normalized_mutual_info(np.repeat([0, 1, 2], 20), labels) == 1.0


def test_affinity_is_that_of_the_definition():
    X = np.random.default_rng(0).normal(size=(20, 3))
    distance = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    scale = np.sort(distance, axis=1)[:, 7]
    expected = np.exp(-(distance**2) / np.outer(scale, scale))
    np.fill_diagonal(expected, 0)
    assert np.allclose(_local_affinity(X), expected)


def test_vectors_span_the_leading_eigenspace():
    X = np.random.default_rng(1).normal(size=(40, 3))
    affinity = _local_affinity(X)
    scale = 1 / np.sqrt(affinity.sum(axis=1))
    expected = eigh(affinity * np.outer(scale, scale))[1][:, -3:]
    found = _leading_vectors(affinity, 3, np.random.RandomState(0))
    assert np.allclose(found @ found.T, expected @ expected.T, atol=1e-8)


def test_many_separate_heaps_are_no_obstacle(monkeypatch):
    def gives_up(*arguments, **options):
        raise ArpackNoConvergence("no convergence", np.empty(0), np.empty((0, 0)))

    X = np.random.default_rng(2).normal(size=(40, 3))
    expected = _leading_vectors(_local_affinity(X), 3, np.random.RandomState(0))
    monkeypatch.setattr("mustlink.reproduce._bases.eigsh", gives_up)
    found = _leading_vectors(_local_affinity(X), 3, np.random.RandomState(0))
    assert np.allclose(found @ found.T, expected @ expected.T, atol=1e-8)
