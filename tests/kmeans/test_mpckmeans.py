"""MPCKMeans: the fast version is the slow one, and the metrics are those of least objective."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score

from mustlink import Constraints, MPCKMeans, PCKMeans
from mustlink._rows import RowBlocks
from mustlink.errors import TooLargeError
from mustlink.kmeans._engine import Step
from mustlink.kmeans._mpckmeans_metrics import (
    DiagonalMetrics,
    FullMetrics,
    LearnedMetrics,
    LongestPairs,
    find_outermost,
)
from mustlink.kmeans._rules import LinkedRows
from reference.mpckmeans import SlowMPCKMeans, length, longest_pair, objective
from reference.random_links import Case, cases

KINDS = list(product(["diagonal", "full"], [True, False]))


def matrices(model: MPCKMeans) -> list[np.ndarray]:
    """Return the metrics as full matrices."""
    return [np.diag(one) if one.ndim == 1 else one for one in model.metrics_]


def weighted(case: Case, rng: np.random.RandomState) -> Constraints:
    return Constraints(
        case.must_link,
        case.cannot_link,
        must_link_weight=rng.uniform(0.5, 2, size=len(case.must_link)),
        cannot_link_weight=rng.uniform(0.5, 2, size=len(case.cannot_link)),
    )


@given(
    case=cases(max_samples=9, min_samples=5),
    k=st.integers(1, 3),
    kind=st.sampled_from(KINDS),
    penalty=st.sampled_from([0.0, 0.1, 1.0, 10.0]),
    seed=st.integers(0, 99),
)
@settings(deadline=None, max_examples=40)
def test_the_fast_version_is_the_slow_one_and_no_step_raises_the_objective(
    case: Case, k: int, kind: tuple[str, bool], penalty: float, seed: int
) -> None:
    rng = np.random.RandomState(seed)
    links = weighted(case, rng)
    X = rng.normal(size=(case.n_samples, 2)) * [1.0, 20.0]
    # Near rows, not at rows: two rows that are centers would be equally certain.
    init = X[rng.permutation(case.n_samples)[:k]] + 0.01 * rng.normal(size=(k, 2))
    metric, shared = kind
    slow = SlowMPCKMeans(X, links, penalty, init.copy(), metric == "full", shared, 0.05).fit(max_iter=15)
    for values in slow.objective:
        # Between two searches for the longest pair.
        assert all(after <= before + 1e-9 * max(1.0, abs(before)) for before, after in pairwise(values))
    # The slow version does not know what to do with empty clusters, nor what to do after the last iteration.
    assume(not slow.was_empty and len(slow.objective) <= 15)
    fast = MPCKMeans(
        k,
        init=init,
        metric=metric,
        shared_metric=shared,
        penalty=penalty,
        init_metric="variance",
        min_variance=0.05,
        tol=0,
    ).fit(X, constraints=links)
    np.testing.assert_array_equal(fast.labels_, slow.labels)
    np.testing.assert_allclose(fast.cluster_centers_, slow.centers, atol=1e-9)
    np.testing.assert_allclose(matrices(fast), slow.metrics, rtol=1e-6, atol=1e-12)
    assert fast.objective_[-1] == pytest.approx(slow.value(slow.labels), rel=1e-7, abs=1e-7)


@pytest.mark.parametrize(("metric", "shared"), KINDS)
def test_the_objective_matches_its_definition(metric: str, shared: bool) -> None:
    X, y = make_blobs(60, 3, centers=3, cluster_std=4, random_state=0)
    X *= [1, 10, 0.1]
    links = Constraints.sample(y, n_pairs=60, noise=0.3, random_state=0)
    model = MPCKMeans(3, metric=metric, shared_metric=shared, penalty=0.2, random_state=0).fit(X, constraints=links)
    assert len(model.violations_) > 0
    longest = [longest_pair(X, one) for one in matrices(model)]
    expected = objective(X, links, 0.2, model.labels_.tolist(), model.cluster_centers_, matrices(model), longest)
    assert model.objective_[-1] == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("metric", "shared"), KINDS)
def test_the_metric_is_a_stationary_point_of_the_objective(metric: str, shared: bool, seed: int) -> None:
    rng = np.random.RandomState(seed)
    n, d, k = 40, 3, 2
    X = rng.normal(size=(n, d))
    labels = rng.randint(k, size=n)
    links = Constraints.sample(rng.randint(k, size=n), n_pairs=30, random_state=seed)
    linked = LinkedRows(links, n)
    geometry = LearnedMetrics(RowBlocks(X), linked, 0.7, 1e-9, lambda centers: centers)
    kind: Any = FullMetrics if metric == "full" else DiagonalMetrics
    first = kind.from_weights(rng.uniform(0.5, 2, size=(1 if shared else k, d)))
    state = geometry.begin(np.zeros((k, d)), first)
    step = Step(labels.astype(np.int32), np.zeros(n), labels[linked.rows])
    updated = geometry.update(step, state)
    centers, found = updated.centers, updated.metric
    longest = list(np.broadcast_to(first.longest, (k, d)))

    def value(change: np.ndarray, c: int) -> float:
        full = [np.diag(one) if one.ndim == 1 else one for one in found.matrices]
        full[c] = full[c] + change
        return objective(X, links, 0.7, labels.tolist(), centers, full * k if shared else full, longest)

    for c in range(len(found.matrices)):
        assert np.linalg.eigvalsh(matrices_of(found.matrices)[c]).max() < 1e6
        for a, b in product(range(d), range(d)):
            if metric == "diagonal" and a != b:
                continue
            change = np.zeros((d, d))
            change[a, b] += 1e-6
            change[b, a] += 1e-6
            slope = (value(change, c) - value(-change, c)) / 2e-6
            assert slope == pytest.approx(0, abs=1e-4)


def matrices_of(found: np.ndarray) -> list[np.ndarray]:
    return [np.diag(one) if one.ndim == 1 else one for one in found]


@pytest.mark.parametrize(("metric", "shared"), KINDS)
def test_without_penalties_the_metric_is_the_inverse_covariance_within(metric: str, shared: bool) -> None:
    X, _ = make_blobs(90, 3, centers=3, random_state=1)
    X = X @ np.array([[2.0, 0.5, 0], [0, 1, 0.3], [0, 0, 5]])
    links = Constraints(must_link=[(0, 1), (2, 3)], cannot_link=[(5, 6)])
    model = MPCKMeans(3, metric=metric, shared_metric=shared, penalty=0, min_variance=1e-9, random_state=0, tol=0)
    model.fit(X, constraints=links)
    apart = X - model.cluster_centers_[model.labels_]
    for c in range(3):
        mine = apart if shared else apart[model.labels_ == c]
        covariance = mine.T @ mine / len(mine)
        expected = np.linalg.inv(covariance) if metric == "full" else 1 / np.diag(covariance)
        np.testing.assert_allclose(model.metrics_[c], expected, rtol=1e-8)


@pytest.mark.parametrize(("d", "floor"), [(2, 0.95), (8, 0.8), (40, 0.8)])
def test_the_longest_pair_is_nearly_the_longest(d: int, floor: float) -> None:
    rng = np.random.RandomState(d)
    X = rng.standard_t(4, size=(700, d))
    found = LongestPairs(RowBlocks(X))
    weights = rng.uniform(0.2, 5, size=(3, d))
    turned = rng.normal(size=(3, d, d))
    scatter = turned @ turned.transpose(0, 2, 1) + np.eye(d)
    for metrics in (DiagonalMetrics.from_weights(weights), FullMetrics.from_scatter(scatter, np.ones(3), 1e-3)):
        pairs = found.under(metrics, np.empty((0, d)))
        for c, one in enumerate(matrices_of(metrics.matrices)):
            turned_rows = X @ np.linalg.cholesky(one)
            squares = np.square(turned_rows).sum(axis=1)
            most = (squares[:, None] + squares - 2 * turned_rows @ turned_rows.T).max()
            assert floor * most <= length(pairs[c], one) <= most * (1 + 1e-9)


def test_no_cannot_link_is_longer_than_the_longest_pair() -> None:
    rng = np.random.RandomState(0)
    X = rng.normal(size=(500, 30))
    links = Constraints.sample(rng.randint(3, size=500), n_pairs=400, random_state=0)
    geometry = LearnedMetrics(RowBlocks(X), LinkedRows(links, 500), 1.0, 0.1, lambda centers: centers)
    for _ in range(5):
        state = geometry.begin(np.zeros((3, 30)), DiagonalMetrics.from_weights(rng.exponential(size=(3, 30))))
        penalties = geometry.link_penalties(state)
        assert penalties.shape == (len(links), 3)
        assert (penalties >= -1e-12 * penalties.max()).all()


@pytest.mark.parametrize(("metric", "shared"), KINDS)
def test_singular_and_indefinite_sums_give_finite_metrics(metric: str, shared: bool) -> None:
    rng = np.random.RandomState(0)
    # Fewer rows than columns, a constant column, two equal columns, and equal rows.
    X = rng.normal(size=(12, 15))
    X[:, 3], X[:, 5], X[4:7] = 7.0, X[:, 4], X[3]
    links = Constraints(must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2), (3, 4), (5, 6), (8, 9)])
    model = MPCKMeans(3, metric=metric, shared_metric=shared, min_variance=0.1, penalty=5.0, random_state=0)
    model.fit(X, constraints=links)
    scale = np.where(X.std(axis=0) > 1e-12, X.std(axis=0), 1.0)
    for one in matrices(model):
        eigenvalues = np.linalg.eigvalsh(one * np.outer(scale, scale))
        assert eigenvalues.min() > 0
        assert eigenvalues.max() <= 10 * (1 + 1e-9)
    assert np.isfinite(model.objective_).all()
    assert np.isfinite(model.transform(X)).all()


def test_units_do_not_matter_from_standardized_columns() -> None:
    X, y = load_wine(return_X_y=True)
    links = Constraints.sample(y, n_pairs=40, noise=0.2, random_state=0)
    units = np.logspace(-6, 6, X.shape[1])
    for metric, shared in KINDS:
        model = MPCKMeans(3, metric=metric, shared_metric=shared, init_metric="variance", random_state=0)
        one = model.fit(X, constraints=links)
        labels, value = one.labels_, one.objective_[-1]
        other = model.fit(X * units, constraints=links)
        np.testing.assert_array_equal(labels, other.labels_)
        assert other.objective_[-1] == pytest.approx(value + 2 * len(X) * np.log(units).sum())


@pytest.mark.parametrize(("metric", "shared"), KINDS)
def test_prediction_follows_the_metrics(metric: str, shared: bool) -> None:
    X, y = make_blobs(200, 4, centers=4, cluster_std=3, random_state=3)
    links = Constraints.sample(y, n_pairs=50, random_state=0)
    model = MPCKMeans(4, metric=metric, shared_metric=shared, random_state=0).fit(X, constraints=links)
    free = np.setdiff1d(np.arange(200), links.constrained_rows())
    np.testing.assert_array_equal(model.predict(X)[free], model.labels_[free])
    expected = np.array(
        [
            [np.sqrt(length(x - m, a)) for m, a in zip(model.cluster_centers_, matrices(model), strict=True)]
            for x in X[:20]
        ]
    )
    np.testing.assert_allclose(model.transform(X[:20]), expected)
    log_dets = [np.linalg.slogdet(a)[1] for a in matrices(model)]
    np.testing.assert_array_equal(model.predict(X[:20]), np.argmin(expected**2 - log_dets, axis=1))


def test_the_better_of_two_first_metrics_is_kept() -> None:
    X, y = load_wine(return_X_y=True)
    links = Constraints.sample(y, n_pairs=20, random_state=0)
    values = {
        first: MPCKMeans(3, init_metric=first, random_state=0).fit(X, constraints=links).objective_[-1]
        for first in ("identity", "variance", "auto")
    }
    assert values["auto"] == pytest.approx(min(values["identity"], values["variance"]))
    assert values["identity"] != pytest.approx(values["variance"])


@pytest.mark.parametrize(("metric", "shared"), KINDS)
def test_it_learns_what_k_means_with_links_cannot(metric: str, shared: bool) -> None:
    X, y = load_wine(return_X_y=True)
    gains = []
    for seed in range(3):
        links = Constraints.sample(y, n_pairs=90, random_state=seed)
        model = MPCKMeans(3, metric=metric, shared_metric=shared, random_state=0).fit(X, constraints=links)
        plain = PCKMeans(3, random_state=0).fit(X, constraints=links)
        gains.append(adjusted_rand_score(y, model.labels_) - adjusted_rand_score(y, plain.labels_))
    assert np.mean(gains) > 0.3


def test_an_empty_cluster_is_filled_if_it_can_be() -> None:
    X = np.array([[0.0], [0.2], [0.4], [5.0], [5.2], [30.0], [30.1]])
    for links in (
        Constraints(),
        Constraints(cannot_link=[(5, 6)]),
        Constraints(must_link=[(i, i + 1) for i in range(6)]),
    ):
        for shared in (True, False):
            init = [[0.0], [5.0], [1000.0]]
            model = MPCKMeans(3, init=init, shared_metric=shared, penalty=1e-3).fit(X, constraints=links)
            assert len(set(model.labels_)) == 3
    with pytest.warns(UserWarning, match="2 clusters were asked for, and 1 w"):
        MPCKMeans(2, random_state=0).fit(np.ones((5, 2)))


def test_float32_gives_what_float64_gives() -> None:
    X, y = make_blobs(150, 3, centers=3, cluster_std=2, center_box=(1000, 1010), random_state=0)
    X = X.astype(np.float32)
    links = Constraints.sample(y, n_pairs=40, random_state=0)
    single = MPCKMeans(3, random_state=0).fit(X, constraints=links)
    double = MPCKMeans(3, random_state=0).fit(X.astype(np.float64), constraints=links)
    np.testing.assert_array_equal(single.labels_, double.labels_)
    assert single.cluster_centers_.dtype == single.transform(X).dtype == np.float32


def test_bad_input_is_refused() -> None:
    X = np.random.RandomState(0).normal(size=(6, 2))
    with pytest.raises(ValueError, match=r"init has the shape \(2, 3\)"):
        MPCKMeans(2, init=np.zeros((2, 3))).fit(X)
    with pytest.raises(ValueError, match="n_samples=6 should be >= n_clusters=7"):
        MPCKMeans(7).fit(X)
    with pytest.raises(TooLargeError, match="12,000 columns"):
        MPCKMeans(2, metric="full").fit(np.zeros((2, 12_000)))
    for name, value in {"penalty": -1.0, "metric": "cosine", "min_variance": 0.0, "init_metric": "none"}.items():
        with pytest.raises(ValueError, match=name):
            MPCKMeans(2, **{name: value}).fit(X)  # type: ignore[arg-type]


def test_outermost_rows_are_found_in_little_memory():
    """At once, 200,000 rows would take 100 MB for their distances in 33 directions, both ways."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(200_000, 1)).astype(np.float32)
    directions = rng.normal(size=(1, 32))
    tracemalloc.start()
    try:
        found = find_outermost(Z, np.array([0]), directions)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 30e6
    assert set(found.rows.ravel()) == {Z.min(), Z.max()}
    assert find_outermost(Z[:0], np.array([0]), directions).rows.shape == (66, 1)
