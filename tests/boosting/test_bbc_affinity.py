"""Affinity propagation against scikit-learn's, and the search for a number of clusters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import AffinityPropagation
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import euclidean_distances
from sklearn.preprocessing import scale

from mustlink.boosting._bbc._affinity_propagation import propagate_affinity, search_preference, without_diagonal


@pytest.fixture(scope="module")
def wine():
    return scale(load_wine().data)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10_000), n_rows=st.integers(3, 25), damping=st.sampled_from([0.5, 0.75, 0.9]))
def test_messages_equal_those_of_scikit_learn(seed, n_rows, damping):
    S = -euclidean_distances(np.random.RandomState(seed).normal(size=(n_rows, 2)), squared=True)
    preference = float(np.median(without_diagonal(S)))
    peer = AffinityPropagation(
        damping=damping, affinity="precomputed", preference=preference, random_state=seed, max_iter=300
    ).fit(S)
    ours = propagate_affinity(
        S, preference, np.random.RandomState(seed), damping=damping, max_iter=300, convergence_iter=15
    )
    if peer.n_iter_ < 300:
        assert ours.converged
        assert ours.n_iter == peer.n_iter_
        np.testing.assert_array_equal(ours.labels, peer.labels_)
        np.testing.assert_array_equal(ours.rows, peer.cluster_centers_indices_)
    else:
        # The peer did not converge; another attempt with more damping was made.
        assert ours.n_iter > 300


def test_without_diagonal_leaves_just_the_diagonal_out():
    S = np.arange(16.0).reshape(4, 4)
    assert sorted(without_diagonal(S).ravel()) == sorted(S[~np.eye(4, dtype=bool)])


def similarities(X):
    return -euclidean_distances(X, squared=True)


def search(X, n_clusters, **options):
    return search_preference(similarities(X), n_clusters, 0, **options)


@pytest.mark.parametrize("n_clusters", [1, 2, 3, 5, 8, 15, 30, 178])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_search_finds_the_wanted_number_of_clusters(wine, n_clusters, dtype):
    found, _ = search(wine.astype(dtype), n_clusters)
    assert len(found.rows) == n_clusters == len(np.unique(found.labels))
    np.testing.assert_array_equal(found.labels[found.rows], np.arange(n_clusters))


def test_the_preference_found_gives_the_same_clusters_in_scikit_learn(wine):
    found, preference = search(wine, 5)
    assert len(found.rows) == 5
    again = AffinityPropagation(
        affinity="precomputed", preference=preference, damping=0.75, convergence_iter=30, random_state=0
    ).fit(similarities(wine))
    np.testing.assert_array_equal(again.labels_, found.labels)


def test_similarities_may_have_any_offset(wine):
    S = similarities(wine)
    plain, shifted = (search_preference(S + offset, 4, 0)[0] for offset in (0.0, 1000.0))
    np.testing.assert_array_equal(plain.labels, shifted.labels)


def test_a_number_that_is_not_found_is_reported_by_a_warning(wine):
    with pytest.warns(ConvergenceWarning, match="None of the 1 preferences tried gave 2 clusters; the nearest gave 15"):
        found, _ = search(wine, 2, max_search=1)
    assert len(found.rows) == 15


@pytest.mark.parametrize("X", [np.zeros((4, 2)), np.array([[1.0], [2.0]]), np.ones((1, 1))])
def test_equal_rows_are_one_cluster_or_one_each(X):
    np.testing.assert_array_equal(search(X, 1)[0].labels, np.zeros(len(X)))
    np.testing.assert_array_equal(search(X, len(X))[0].labels, np.arange(len(X)))
