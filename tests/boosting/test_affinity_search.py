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
from sklearn.utils.estimator_checks import parametrize_with_checks

from mustlink.boosting._affinity_search import AffinityPropagationSearch, propagate_affinity, without_diagonal
from mustlink.errors import TooLargeError


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
        # The peer gave up; a further attempt with more damping was made.
        assert ours.n_iter > 300


def test_without_diagonal_leaves_just_the_diagonal_out():
    S = np.arange(16.0).reshape(4, 4)
    assert sorted(without_diagonal(S).ravel()) == sorted(S[~np.eye(4, dtype=bool)])


@pytest.mark.parametrize("n_clusters", [1, 2, 3, 5, 8, 15, 30, 178])
def test_wanted_numbers_come_out_on_wine(wine, n_clusters):
    model = AffinityPropagationSearch(n_clusters, random_state=0).fit(wine)
    assert model.n_clusters_ == n_clusters == len(np.unique(model.labels_))
    np.testing.assert_array_equal(model.labels_[model.cluster_centers_indices_], np.arange(n_clusters))
    np.testing.assert_array_equal(model.cluster_centers_, wine[model.cluster_centers_indices_])


def test_preference_found_gives_the_same_again(wine):
    model = AffinityPropagationSearch(5, random_state=0).fit(wine)
    assert model.searched_[-1] == (model.preference_, 5)
    S = -euclidean_distances(wine, squared=True)
    again = AffinityPropagation(
        affinity="precomputed", preference=model.preference_, damping=0.75, convergence_iter=30, random_state=0
    ).fit(S)
    np.testing.assert_array_equal(again.labels_, model.labels_)


def test_precomputed_similarities_may_have_any_offset(wine):
    S = -euclidean_distances(wine, squared=True)
    plain = AffinityPropagationSearch(4, random_state=0).fit(wine)
    for offset in (0.0, 1000.0):
        np.testing.assert_array_equal(
            AffinityPropagationSearch(4, affinity="precomputed", random_state=0).fit(S + offset).labels_, plain.labels_
        )


def test_float32_stays_float32(wine):
    model = AffinityPropagationSearch(3, random_state=0).fit(wine.astype(np.float32))
    assert model.cluster_centers_.dtype == np.float32
    assert model.n_clusters_ == 3


def test_new_rows_join_the_nearest_exemplar(wine):
    model = AffinityPropagationSearch(3, random_state=0).fit(wine)
    new = wine + 0.01
    expected = euclidean_distances(new, model.cluster_centers_).argmin(axis=1)
    np.testing.assert_array_equal(model.predict(new), expected)


def test_a_number_that_is_not_met_is_missed_with_a_warning(wine):
    with pytest.warns(ConvergenceWarning, match="of the 1 tried gave 2 clusters; the nearest gave 15"):
        model = AffinityPropagationSearch(2, max_search=1, random_state=0).fit(wine)
    assert model.n_clusters_ == 15
    assert len(model.searched_) == 1


@pytest.mark.parametrize("X", [np.zeros((4, 2)), np.array([[1.0], [2.0]]), np.ones((1, 1))])
def test_rows_that_are_all_alike(X):
    model = AffinityPropagationSearch(1, random_state=0).fit(X)
    np.testing.assert_array_equal(model.labels_, np.zeros(len(X)))
    np.testing.assert_array_equal(AffinityPropagationSearch(len(X)).fit(X).labels_, np.arange(len(X)))


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"n_clusters": 200}, ValueError, "n_samples=178 should be >= n_clusters=200"),
        ({"n_clusters": 0}, ValueError, "n_clusters"),
        ({"damping": 1.0}, ValueError, "damping"),
        ({"affinity": "precomputed"}, ValueError, r"square array; got the shape \(178, 13\)"),
        ({"max_samples": 100}, TooLargeError, "178 rows need 3 arrays of 178 x 178 numbers.*allows 100 rows"),
    ],
)
def test_bad_parameters_are_refused(wine, parameters, error, message):
    with pytest.raises(error, match=message):
        AffinityPropagationSearch(**parameters).fit(wine)


def test_predict_needs_features(wine):
    S = -euclidean_distances(wine, squared=True)
    model = AffinityPropagationSearch(3, affinity="precomputed", random_state=0).fit(S)
    with pytest.raises(ValueError, match="precomputed similarities"):
        model.predict(S)


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([AffinityPropagationSearch(max_search=12)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
