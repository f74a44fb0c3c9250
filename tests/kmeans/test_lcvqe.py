"""LCVQE: the fast version is the slow one, and its centers minimize the objective."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score

from mustlink import LCVQE, Constraints
from mustlink.kmeans._lcvqe_kernels import settle_cannot_links, settle_must_links
from reference.lcvqe import SlowLCVQE, least_objective_centers
from reference.lloyd import lloyd
from reference.random_links import Case, cases

SETTINGS = settings(deadline=None, max_examples=60)


def weighted(case: Case, rng: np.random.RandomState) -> Constraints:
    return Constraints(
        case.must_link,
        case.cannot_link,
        must_link_weight=rng.uniform(0.2, 3, size=len(case.must_link)),
        cannot_link_weight=rng.uniform(0.2, 3, size=len(case.cannot_link)),
    )


@pytest.mark.filterwarnings("ignore:.*clusters:sklearn.exceptions.ConvergenceWarning")
@given(case=cases(max_samples=10, min_samples=4), k=st.integers(1, 4), seed=st.integers(0, 99), plain=st.booleans())
@SETTINGS
def test_the_fast_version_is_the_slow_one(case: Case, k: int, seed: int, plain: bool) -> None:
    rng = np.random.RandomState(seed)
    links = Constraints(case.must_link, case.cannot_link) if plain else weighted(case, rng)
    X, weight = rng.normal(size=(case.n_samples, 2)), rng.uniform(0.5, 2, size=case.n_samples)
    init = X[rng.permutation(case.n_samples)[:k]]
    slow = SlowLCVQE(X, links, init.copy(), weight).fit(max_iter=20)
    # The slow version does not know what to do with empty clusters.
    assume(not slow.was_empty)
    fast = LCVQE(k, penalty=1, init=init, tol=0, max_iter=20).fit(X, constraints=links, sample_weight=weight)
    n = len(slow.objective)
    np.testing.assert_allclose(fast.objective_[:n], slow.objective, atol=1e-12)
    if fast.n_iter_ < 20:
        np.testing.assert_array_equal(fast.labels_, slow.labels)
        np.testing.assert_allclose(fast.cluster_centers_, slow.centers)
        assert fast.violations_ == links.violations(slow.labels)


@given(case=cases(max_samples=9, min_samples=4), k=st.integers(2, 3), seed=st.integers(0, 99))
@SETTINGS
def test_the_centers_minimize_the_objective_for_given_labels(case: Case, k: int, seed: int) -> None:
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(case.n_samples, 2))
    slow = SlowLCVQE(X, weighted(case, rng), X[:k].copy(), np.ones(case.n_samples))
    slow.assign()
    at_means, least = least_objective_centers(slow)
    assert at_means <= least + 1e-12


@given(seed=st.integers(0, 99), n=st.integers(5, 20), k=st.integers(1, 4))
@SETTINGS
def test_without_links_it_is_lloyd_from_the_same_start(seed: int, n: int, k: int) -> None:
    X = np.random.RandomState(seed).normal(size=(n, 2))
    labels, centers = lloyd(X, X[:k].copy(), np.ones(n))
    assume(len(set(labels)) == k)
    ours = LCVQE(k, init=X[:k], tol=0).fit(X)
    np.testing.assert_array_equal(ours.labels_, labels)
    np.testing.assert_allclose(ours.cluster_centers_, centers)
    theirs = KMeans(k, init=X[:k], n_init=1, tol=0).fit(X)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)


def test_a_must_link_is_kept_or_broken_by_the_rule() -> None:
    X = np.array([[0.0], [10.0], [3.0], [14.0]])
    centers = np.array([[0.0], [10.0]])

    def objective(weight: float) -> float:
        links = Constraints(must_link=[(0, 1)], must_link_weight=[weight])
        return LCVQE(2, penalty=1, init=centers, max_iter=1, tol=0).fit(X, constraints=links).objective_[0]

    # Apart it costs a quarter of 200 times the weight; together half of 100.
    assert objective(0.5) == pytest.approx((9 + 16) / 2 + 0.5 * 50)
    assert objective(2.0) == pytest.approx((9 + 16) / 2 + 50)


@pytest.mark.parametrize("weight", [0.1, 1.0])
def test_of_two_rows_that_should_be_apart_the_farther_goes(weight: float) -> None:
    X = np.array([[-1.0], [2.0], [0.0], [10.0]])
    links = Constraints(cannot_link=[(0, 1)], cannot_link_weight=[weight])
    model = LCVQE(2, penalty=1, init=[[0.0], [10.0]], max_iter=1, tol=0).fit(X, constraints=links)
    # To go costs half of 64, to stay half of 4 and of 64 times the weight.
    assert model.objective_[0] == pytest.approx(min(1 / 2 + 64 / 2, 1 / 2 + 4 / 2 + weight * 64 / 2))
    assert (model.labels_[0] == model.labels_[1]) == (weight < 1)


def test_a_broken_must_link_pulls_the_centers_together() -> None:
    X = np.array([[-1.0], [0.0], [1.0], [99.0], [100.0], [101.0]])
    model = LCVQE(2, init=[[0.0], [100.0]]).fit(X, constraints=Constraints([(0, 5)]))
    assert len(model.violations_) == 1
    # Half the penalty of a half.
    np.testing.assert_allclose(model.cluster_centers_, [[0.25 * 101 / 3.25], [(300 - 0.25) / 3.25]])


def test_links_lift_agreement_with_the_truth_and_wrong_ones_do_little_harm() -> None:
    X, y = load_iris(return_X_y=True)
    scores = {}
    for noise in (0.0, 0.1):
        links = [Constraints.sample(y, n_pairs=100, noise=noise, random_state=seed) for seed in range(4)]
        scores[noise] = np.mean(
            [adjusted_rand_score(y, LCVQE(3, random_state=0).fit(X, constraints=some).labels_) for some in links]
        )
    plain = adjusted_rand_score(y, LCVQE(3, random_state=0).fit(X).labels_)
    assert scores[0.0] > plain + 0.05
    assert scores[0.1] > plain - 0.05


# Links may hold all rows in fewer clusters, which the clusterer warns of.
@pytest.mark.filterwarnings("ignore:.*clusters:sklearn.exceptions.ConvergenceWarning")
@given(case=cases(max_samples=9, min_samples=4), k=st.integers(1, 3), seed=st.integers(0, 99))
@SETTINGS
def test_the_penalty_multiplies_the_weights(case: Case, k: int, seed: int) -> None:
    rng = np.random.RandomState(seed)
    links, X = weighted(case, rng), rng.normal(size=(case.n_samples, 2))
    half = Constraints(
        links.must_link,
        links.cannot_link,
        must_link_weight=0.5 * links.must_link_weight,
        cannot_link_weight=0.5 * links.cannot_link_weight,
    )
    one = LCVQE(k, penalty=0.5, init=X[:k], max_iter=10).fit(X, constraints=links)
    other = LCVQE(k, penalty=1, init=X[:k], max_iter=10).fit(X, constraints=half)
    assert one.objective_ == other.objective_


@given(seed=st.integers(0, 999), k=st.integers(2, 5))
@SETTINGS
def test_under_the_rule_of_the_paper_a_link_alone_is_never_broken(seed: int, k: int) -> None:
    costs = np.random.RandomState(seed).uniform(0.1, 1.0, size=(2, k))
    pair, weight, nearest = np.array([[0, 1]]), np.ones(1), costs.argmin(axis=1)
    labels = nearest.copy()
    settle_must_links(costs, pair, weight, labels)
    assert labels[0] == labels[1]
    labels = nearest.copy()
    settle_cannot_links(costs, pair, weight, labels)
    assert labels[0] != labels[1]


def test_the_numbering_of_rows_does_not_matter() -> None:
    X, y = make_blobs(80, centers=3, cluster_std=4.0, random_state=1)
    links = Constraints.sample(y, n_pairs=40, noise=0.2, random_state=1)
    order = np.random.RandomState(0).permutation(80)
    place = np.argsort(order)
    moved = Constraints(place[links.must_link], place[links.cannot_link])
    one = LCVQE(3, init=X[:3]).fit(X, constraints=links)
    other = LCVQE(3, init=X[:3]).fit(X[order], constraints=moved)
    np.testing.assert_array_equal(one.labels_[order], other.labels_)


def test_a_sparse_table_gives_the_same_clusters() -> None:
    X, y = make_blobs(60, centers=3, n_features=5, cluster_std=5.0, random_state=3)
    links = Constraints.sample(y, n_pairs=30, noise=0.1, random_state=3)
    dense = LCVQE(3, init=X[:3]).fit(X, constraints=links)
    thin = LCVQE(3, init=X[:3]).fit(sparse.csr_array(X), constraints=links)
    np.testing.assert_array_equal(dense.labels_, thin.labels_)
    np.testing.assert_allclose(dense.cluster_centers_, thin.cluster_centers_)


@pytest.mark.parametrize("k", [1, 3])
def test_links_that_contradict_each_other_end_in_a_result(k: int) -> None:
    rng = np.random.RandomState(0)
    X = np.repeat(rng.normal(size=(5, 2)), 4, axis=0)
    links = Constraints(must_link=[(0, 5), (5, 9), (9, 13)], cannot_link=[(0, 9), (5, 13), (0, 13), (1, 2)])
    model = LCVQE(k, random_state=0).fit(X, constraints=links)
    assert np.isfinite(model.cluster_centers_).all()
    assert np.isfinite(model.objective_).all()
    assert len(model.violations_) > 0
