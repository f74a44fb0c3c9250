"""PCKMeans: the objective falls at every visit, and the fast version is the slow one."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score

from mustlink import Constraints, PCKMeans
from reference.pckmeans import SlowPCKMeans
from reference.random_links import Case, cases

INITS = ["components", "k-means++", "random"]


def rows(n: int, seed: int, d: int = 2) -> np.ndarray:
    return np.random.RandomState(seed).normal(size=(n, d))


def objective(X: np.ndarray, model: PCKMeans, links: Constraints, price: float, weight: np.ndarray) -> float:
    """Return the objective of a fitted model by its definition."""
    apart = np.square(X - model.cluster_centers_[model.labels_]).sum(axis=1)
    broken = links.violations(model.labels_)
    return float(0.5 * weight @ apart + price * (broken.must_link_weight.sum() + broken.cannot_link_weight.sum()))


@given(
    case=cases(max_samples=9, min_samples=4),
    k=st.integers(1, 3),
    price=st.sampled_from([0.05, 0.3, 1.0, 20.0]),
    seed=st.integers(0, 99),
)
@settings(deadline=None, max_examples=80)
def test_the_fast_version_is_the_slow_one_and_the_objective_never_rises(
    case: Case, k: int, price: float, seed: int
) -> None:
    rng = np.random.RandomState(seed)
    links = Constraints(
        case.must_link,
        case.cannot_link,
        must_link_weight=rng.uniform(0.5, 2, size=len(case.must_link)),
        cannot_link_weight=rng.uniform(0.5, 2, size=len(case.cannot_link)),
    )
    X, weight = rng.normal(size=(case.n_samples, 2)), rng.uniform(0.5, 2, size=case.n_samples)
    init = X[rng.permutation(case.n_samples)[:k]]
    slow = SlowPCKMeans(X, links, price, init.copy(), weight).fit(max_iter=50)
    assert all(after <= before * (1 + 1e-12) for before, after in pairwise(slow.objective))
    # The slow version does not know what to do with empty clusters.
    assume(not slow.was_empty)
    fast = PCKMeans(k, init=init, penalty=price, tol=0).fit(X, constraints=links, sample_weight=weight)
    assert all(after <= before * (1 + 1e-12) for before, after in pairwise(fast.objective_))
    np.testing.assert_array_equal(fast.labels_, slow.labels)
    np.testing.assert_allclose(fast.cluster_centers_, slow.centers)
    assert fast.objective_[-1] == pytest.approx(slow.objective[-1])


@given(case=cases(max_samples=12, min_samples=5), k=st.integers(2, 4), price=st.floats(0, 50), seed=st.integers(0, 99))
@settings(deadline=None, max_examples=80)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_objective_never_rises_and_matches_its_definition(case: Case, k: int, price: float, seed: int) -> None:
    X = rows(case.n_samples, seed)
    links = Constraints(case.must_link, case.cannot_link)
    model = PCKMeans(k, penalty=price, random_state=seed, tol=0).fit(X, constraints=links)
    assert all(after <= before * (1 + 1e-12) + 1e-12 for before, after in pairwise(model.objective_))
    expected = objective(X, model, links, price, np.ones(len(X)))
    assert model.objective_[-1] == pytest.approx(expected, abs=1e-9)
    apart = np.square(X - model.cluster_centers_[model.labels_]).sum()
    assert model.inertia_ == pytest.approx(apart, abs=1e-9)
    assert model.violations_ == links.violations(model.labels_)


@pytest.mark.parametrize("seed", range(5))
def test_with_no_penalty_it_is_k_means(seed: int) -> None:
    X = rows(100, seed, 3)
    links = Constraints.sample(np.arange(100) % 4, n_pairs=60, random_state=seed)
    init = X[:4]
    model = PCKMeans(4, init=init, penalty=0, tol=0).fit(X, constraints=links)
    np.testing.assert_array_equal(model.labels_, KMeans(4, init=init, n_init=1, tol=0).fit(X).labels_)
    almost = PCKMeans(4, init=init, penalty=1e-12, tol=0).fit(X, constraints=links)
    np.testing.assert_array_equal(almost.labels_, model.labels_)


@given(case=cases(max_samples=12, min_samples=6), seed=st.integers(0, 99))
@settings(deadline=None, max_examples=80)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_with_a_high_penalty_an_easy_set_of_links_is_kept_whole(case: Case, seed: int) -> None:
    links = Constraints(case.must_link, case.cannot_link)
    closure = links.closure(case.n_samples)
    n_neighbors = np.diff(closure.graph().indptr).max(initial=0)
    # A component then always has a cluster free of its neighbors, and may move there as a whole.
    assume(not closure.self_loops.size and n_neighbors < 4)
    X = rows(case.n_samples, seed)
    model = PCKMeans(4, init=X[:4], penalty=1e4).fit(X, constraints=links)
    assert model.violations_.is_empty


def test_a_must_linked_pair_can_leave_a_cluster_together() -> None:
    # Moved one by one, either row would break the heavy link.
    X = np.array([[0.0], [0.5], [4.0], [4.5], [9.0], [9.5]])
    links = Constraints(must_link=[(2, 3)], cannot_link=[(2, 1)])
    model = PCKMeans(2, init=[[2.0], [9.0]], penalty=1000.0).fit(X, constraints=links)
    assert model.labels_.tolist() == [0, 0, 1, 1, 1, 1]


def test_weights_decide_between_links_that_contradict() -> None:
    X = np.array([[0.0], [10.0], [5.1]])
    for heavy, expected in ((0, [0, 1, 0]), (1, [0, 1, 1])):
        weight = [1.0, 1.0]
        weight[heavy] = 3.0
        links = Constraints(must_link=[(0, 2), (1, 2)], cannot_link=[(0, 1)], must_link_weight=weight)
        model = PCKMeans(2, init=[[0.0], [10.0]], penalty=100.0).fit(X, constraints=links)
        assert model.labels_.tolist() == expected


@pytest.mark.parametrize("scale", [1e-6, 1e3, 1e7])
def test_the_automatic_penalty_does_not_depend_on_the_unit(scale: float) -> None:
    X, y = load_iris(return_X_y=True)
    links = Constraints.sample(y, n_pairs=60, noise=0.1, random_state=1)
    model = PCKMeans(3, random_state=0).fit(X, constraints=links)
    scaled = PCKMeans(3, random_state=0).fit(scale * X, constraints=links)
    np.testing.assert_array_equal(model.labels_, scaled.labels_)
    half_variance = 0.5 * X.var(axis=0).sum()
    same = PCKMeans(3, penalty=half_variance, random_state=0).fit(X, constraints=links)
    np.testing.assert_array_equal(model.labels_, same.labels_)
    assert model.objective_ == pytest.approx(same.objective_)


def test_twice_the_weight_at_half_the_penalty_is_the_same() -> None:
    X, y = make_blobs(80, centers=4, cluster_std=3, random_state=0)
    links = Constraints.sample(y, n_pairs=40, noise=0.2, random_state=0)
    heavier = Constraints(links.must_link, links.cannot_link, must_link_weight=2.0, cannot_link_weight=2.0)
    model = PCKMeans(4, penalty=3.0, random_state=0).fit(X, constraints=links)
    same = PCKMeans(4, penalty=1.5, random_state=0).fit(X, constraints=heavier)
    np.testing.assert_array_equal(model.labels_, same.labels_)
    assert model.objective_ == pytest.approx(same.objective_)


def test_an_empty_cluster_is_filled_without_raising_the_objective() -> None:
    X = np.array([[0.0], [0.2], [0.4], [5.0], [5.2], [30.0], [30.1]])
    for links in (
        Constraints(),
        Constraints(must_link=[(5, 6)]),
        Constraints(must_link=[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6)]),
        Constraints(cannot_link=[(5, 6), (0, 1)]),
    ):
        model = PCKMeans(3, init=[[0.0], [5.0], [1000.0]], penalty=2.0).fit(X, constraints=links)
        assert all(after <= before + 1e-9 for before, after in pairwise(model.objective_))
        assert len(set(model.labels_)) == 3


def test_a_component_can_fill_an_empty_cluster_as_a_whole() -> None:
    X = np.array([[0.0], [0.2], [5.0], [5.2], [30.0], [30.1]])
    links = Constraints(must_link=[(0, 1), (2, 3), (4, 5)], cannot_link=[(0, 2), (3, 5)])
    model = PCKMeans(3, init=[[0.0], [1000.0], [2000.0]], penalty=1e4).fit(X, constraints=links)
    assert model.violations_.is_empty
    assert len(set(model.labels_)) == 3
    assert all(after <= before + 1e-9 for before, after in pairwise(model.objective_))


def test_a_cluster_stays_empty_if_filling_it_would_cost_more() -> None:
    X = np.array([[0.0], [0.2], [0.4]])
    links = Constraints(must_link=[(0, 1), (1, 2)])
    with pytest.warns(UserWarning, match="2 clusters were asked for, and 1 w"):
        model = PCKMeans(2, init=[[0.2], [1000.0]], penalty=10.0).fit(X, constraints=links)
    assert model.violations_.is_empty
    assert model.cluster_centers_[1, 0] == 1000.0


def test_links_help() -> None:
    X, y = load_iris(return_X_y=True)
    plain = PCKMeans(3, random_state=0).fit(X)
    gains = []
    for seed in range(5):
        links = Constraints.sample(y, n_pairs=100, random_state=seed)
        model = PCKMeans(3, random_state=0).fit(X, constraints=links)
        gains.append(adjusted_rand_score(y, model.labels_) - adjusted_rand_score(y, plain.labels_))
    assert np.mean(gains) > 0.05


@pytest.mark.parametrize("init", INITS)
def test_every_start_is_repeatable_and_more_runs_are_never_worse(init: str) -> None:
    X, y = make_blobs(120, centers=6, cluster_std=2.5, random_state=1)
    links = Constraints.sample(y, n_pairs=10, random_state=0)
    one = PCKMeans(6, init=init, n_init=1, random_state=3).fit(X, constraints=links)
    again = PCKMeans(6, init=init, n_init=1, random_state=3).fit(X, constraints=links)
    np.testing.assert_array_equal(one.labels_, again.labels_)
    assert one.objective_ == again.objective_
    many = PCKMeans(6, init=init, n_init=8, random_state=3).fit(X, constraints=links)
    assert many.objective_[-1] <= one.objective_[-1]


@pytest.mark.parametrize("penalty", [-1.0, "automatic", None])
def test_bad_penalties_are_refused(penalty: object) -> None:
    with pytest.raises(ValueError, match="penalty"):
        PCKMeans(2, penalty=penalty).fit(rows(5, 0))  # type: ignore[arg-type]
