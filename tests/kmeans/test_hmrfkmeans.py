"""HMRFKMeans: its distortions and gradients by their definitions, k-means and spherical k-means as special cases."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score

from mustlink import Constraints, HMRFKMeans
from mustlink.kmeans._engine import State, Step, assign
from mustlink.kmeans._hmrfkmeans_distortions import DISTORTIONS, WeightedDistortion
from mustlink.kmeans._rules import LinkedRows
from reference.hmrfkmeans import BETWEEN, TO_CENTER, objective, spherical_k_means
from reference.lloyd import lloyd
from reference.random_links import Case, cases

NAMES = ["euclidean", "cosine", "i-divergence"]


def counts(n: int, d: int, seed: int) -> np.ndarray:
    """Return rows of small whole numbers, many of them zero."""
    rng = np.random.RandomState(seed)
    return rng.poisson(rng.gamma(0.5, 2, size=(3, d))[rng.randint(3, size=n)] + 0.2).astype(float)


def links_of(case: Case, seed: int) -> Constraints:
    rng = np.random.RandomState(seed)
    return Constraints(
        case.must_link,
        case.cannot_link,
        must_link_weight=rng.uniform(0.5, 2, size=len(case.must_link)),
        cannot_link_weight=rng.uniform(0.5, 2, size=len(case.cannot_link)),
    )


def geometry_of(name: str, X: Any, links: Constraints, penalty: float, prior: float = 0.0) -> WeightedDistortion:
    distortion = DISTORTIONS[name](X, links.pairs)
    return WeightedDistortion(distortion, LinkedRows(links, len(X)), penalty, prior, lambda centers: centers)


def broken_cost(geometry: WeightedDistortion, step: Step, state: State) -> float:
    """Return the penalties of the broken links under the weights of a state."""
    geometry.rule.set_penalties(geometry.link_penalties(state))
    return geometry.rule.penalty(step.units)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("name", NAMES)
def test_distortions_match_their_definitions(name: str, form: Any) -> None:
    X = counts(12, 5, 0)
    rng = np.random.RandomState(0)
    weights, centers = rng.uniform(0.2, 3, size=5), rng.uniform(0.2, 3, size=(3, 5))
    pairs = np.array([(0, 1), (2, 7), (3, 11), (4, 5)])
    distortion = DISTORTIONS[name](form(X), pairs)
    expected = [[TO_CENTER[name](x, c, weights) for c in centers] for x in X]
    np.testing.assert_allclose(distortion.costs(form(X), weights, centers), expected, atol=1e-12)
    between = [BETWEEN[name](X[i], X[j], weights) for i, j in pairs]
    np.testing.assert_allclose(distortion.lengths(weights), between, atol=1e-12)
    labels = np.argmin(expected, axis=1)
    assert distortion.value(labels, weights, centers) == pytest.approx(np.min(expected, axis=1).sum())


@given(seed=st.integers(0, 999), name=st.sampled_from(NAMES), signed=st.booleans())
@settings(deadline=None, max_examples=40)
def test_no_two_rows_are_farther_apart_than_the_largest_distortion(seed: int, name: str, signed: bool) -> None:
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(10, 3)) if signed and name != "i-divergence" else counts(10, 3, seed)
    weights = rng.exponential(size=3)
    longest = DISTORTIONS[name](X, np.empty((0, 2), dtype=np.int64)).longest(weights)
    assert max(BETWEEN[name](x, y, weights) for x in X for y in X) <= longest * (1 + 1e-12) + 1e-12


@given(case=cases(max_samples=10, min_samples=5), name=st.sampled_from(NAMES), seed=st.integers(0, 99))
@settings(deadline=None, max_examples=40)
def test_the_gradient_agrees_with_finite_differences(case: Case, name: str, seed: int) -> None:
    rng = np.random.RandomState(seed)
    X = counts(case.n_samples, 4, seed) + rng.uniform(size=(case.n_samples, 4))
    links = links_of(case, seed)
    weights, centers = rng.uniform(0.5, 2, size=4), rng.uniform(0.5, 2, size=(2, 4))
    labels = rng.randint(2, size=case.n_samples)
    geometry = geometry_of(name, X, links, 0.7)
    step = Step(labels.astype(np.int32), np.zeros(len(X)), labels[geometry.rule.rows])
    geometry.strength = strength = rng.uniform(0.1, 1, size=4)
    found = geometry.gradient(step, State(centers, weights))
    for m in range(4):
        change = np.zeros(4)
        change[m] = 1e-5
        # The largest distortion is held fixed: any number will do.
        up, down = (
            objective(name, X, links, 0.7, labels.tolist(), centers, w, 50.0) - strength @ np.log(w)
            for w in (weights + change, weights - change)
        )
        assert found[m] == pytest.approx((up - down) / 2e-5, rel=1e-5, abs=1e-6)


@given(
    case=cases(max_samples=12, min_samples=5),
    name=st.sampled_from(NAMES),
    penalty=st.sampled_from([0.0, 0.3, 1.0, 20.0]),
    seed=st.integers(0, 99),
    learn=st.booleans(),
)
@settings(deadline=None, max_examples=60)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_no_step_raises_the_objective(case: Case, name: str, penalty: float, seed: int, learn: bool) -> None:
    rng = np.random.RandomState(seed)
    X = counts(case.n_samples, 4, seed) + rng.uniform(size=(case.n_samples, 4))
    links = links_of(case, seed)
    geometry = geometry_of(name, X, links if penalty else Constraints(), penalty, 0.2)
    distortion, strength = geometry.distortion, geometry.strength
    state, linked = State(X[:2] + 0.01, np.ones(4)), None

    def total(step: Step, state: State) -> float:
        """Return the objective with the labels of a step."""
        data = distortion.value(step.labels, state.metric, state.centers)
        return data + (broken_cost(geometry, step, state) if penalty else 0.0) + geometry.prior(state)

    before = np.inf
    for _ in range(6):
        step = assign(geometry, state, linked)
        after, weights = step.objective, state.metric
        expected = objective(
            name, X, links, penalty, step.labels.tolist(), state.centers, weights, distortion.longest(weights)
        )
        assert after == pytest.approx(expected - strength @ np.log(weights), abs=1e-9)
        assert after <= before + 1e-9 * max(1.0, abs(before))
        state = State(distortion.centers(step.labels, weights, state.centers), weights)
        before, linked = total(step, state), step.units
        assert before <= after + 1e-9 * max(1.0, abs(after))
        if learn:
            state = State(state.centers, geometry.descend(step, state))
            assert total(step, state) <= before + 1e-12
            before = total(step, state)
            assert strength @ state.metric == pytest.approx(strength.sum())


@given(case=cases(max_samples=9, min_samples=5), name=st.sampled_from(NAMES), seed=st.integers(0, 99))
@settings(deadline=None, max_examples=40)
def test_after_the_sweeps_no_row_and_no_component_would_move(case: Case, name: str, seed: int) -> None:
    rng = np.random.RandomState(seed)
    X = counts(case.n_samples, 3, seed) + rng.uniform(0.1, 1, size=(case.n_samples, 3))
    links, centers, weights = links_of(case, seed), X[:3] + 0.1, rng.uniform(0.5, 2, size=3)
    geometry = geometry_of(name, X, links, 1.0)
    labels = assign(geometry, State(centers, weights), None).labels.tolist()
    longest = geometry.distortion.longest(weights)
    now = objective(name, X, links, 1.0, labels, centers, weights, longest)
    component = links.components(case.n_samples)
    for group in [*([i] for i in range(case.n_samples)), *(np.flatnonzero(component == c) for c in component)]:
        for c in range(3):
            trial = [c if i in group else old for i, old in enumerate(labels)]
            assert objective(name, X, links, 1.0, trial, centers, weights, longest) >= now - 1e-9 * max(1.0, now)


@pytest.mark.parametrize("seed", range(3))
def test_plain_squared_distances_are_k_means(seed: int) -> None:
    X, _ = make_blobs(60, 3, centers=3, cluster_std=4, random_state=seed)
    model = HMRFKMeans(3, init=X[:3], learn_metric=False, tol=0).fit(X)
    labels, centers = lloyd(X, X[:3].copy(), np.ones(60))
    np.testing.assert_array_equal(model.labels_, labels)
    np.testing.assert_allclose(model.cluster_centers_, centers)
    np.testing.assert_array_equal(model.labels_, KMeans(3, init=X[:3], n_init=1, tol=0).fit(X).labels_)
    assert (model.feature_weights_ == 1).all()


@pytest.mark.parametrize("seed", range(3))
def test_the_plain_cosine_is_spherical_k_means(seed: int) -> None:
    X = counts(60, 6, seed) + np.random.RandomState(seed).uniform(size=(60, 6))
    model = HMRFKMeans(3, distortion="cosine", init=X[:3], learn_metric=False, tol=0).fit(X)
    labels, centers = spherical_k_means(X, X[:3].copy())
    np.testing.assert_array_equal(model.labels_, labels)
    np.testing.assert_allclose(model.cluster_centers_, centers)


@pytest.mark.parametrize("learn", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_a_sparse_table_gives_what_the_dense_one_gives(name: str, learn: bool) -> None:
    # Not whole numbers, or there would be exact ties, which rounding decides.
    X = counts(80, 12, 1) * np.random.RandomState(0).uniform(0.5, 1.5, size=(80, 12))
    X[5] = 0.0
    links = Constraints.sample(np.arange(80) % 3, n_pairs=30, random_state=0)
    parameters = {"distortion": name, "learn_metric": learn, "init": X[[0, 7, 9]] + 0.1, "max_iter": 8}
    one = HMRFKMeans(3, **parameters).fit(X, constraints=links)
    for form in (sparse.csr_matrix, sparse.csr_array):
        other = HMRFKMeans(3, **parameters).fit(form(X), constraints=links)
        np.testing.assert_array_equal(one.labels_, other.labels_)
        np.testing.assert_allclose(one.cluster_centers_, other.cluster_centers_, atol=1e-9)
        np.testing.assert_allclose(one.feature_weights_, other.feature_weights_, rtol=1e-6)
        np.testing.assert_array_equal(one.predict(X), other.predict(form(X)))
        np.testing.assert_allclose(one.transform(X), other.transform(form(X)), atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_the_objective_falls_and_predict_gives_the_labels_of_free_rows(name: str) -> None:
    X = counts(150, 8, 3)
    links = Constraints.sample(np.arange(150) % 3, n_pairs=40, random_state=1)
    model = HMRFKMeans(3, distortion=name, random_state=0).fit(X, constraints=links)
    assert len(model.objective_) > 2
    assert all(after <= before * (1 + 1e-12) for before, after in pairwise(model.objective_))
    free = np.setdiff1d(np.arange(150), links.constrained_rows())
    np.testing.assert_array_equal(model.predict(X)[free], model.labels_[free])
    assert model.violations_ == links.violations(model.labels_)
    assert np.ptp(model.feature_weights_) > 0


def test_no_large_dense_table_is_made_of_a_sparse_one() -> None:
    # As a dense table this would be 80 GB.
    rng = np.random.RandomState(0)
    places = np.repeat(np.arange(20_000), 5), rng.randint(500_000, size=100_000)
    X = sparse.csr_matrix((rng.uniform(1, 2, size=100_000), places), shape=(20_000, 500_000))
    links = Constraints(must_link=[(0, 1), (4, 9)], cannot_link=[(0, 4)])
    for name in NAMES:
        model = HMRFKMeans(2, distortion=name, max_iter=1, random_state=0).fit(X, constraints=links)
        assert model.labels_.shape == (20_000,)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_the_divergence_refuses_negative_numbers_with_their_place(form: Any) -> None:
    X = counts(8, 4, 0) + 1
    X[5, 2] = -3.0
    with pytest.raises(ValueError, match=r"row 5, column 2 of X is -3\.0"):
        HMRFKMeans(2, distortion="i-divergence").fit(form(X))
    model = HMRFKMeans(2, distortion="i-divergence", random_state=0).fit(form(np.abs(X)))
    with pytest.raises(ValueError, match=r"row 5, column 2"):
        model.predict(form(X))
    with pytest.raises(ValueError, match=r"row 0, column 0 of init"):
        HMRFKMeans(2, distortion="i-divergence", init=-X[:2]).fit(form(np.abs(X)))


@pytest.mark.parametrize("name", NAMES)
def test_rows_of_zeros_constant_columns_and_unseen_columns(name: str) -> None:
    X = counts(30, 5, 2)
    X[:4], X[:, 1], X[:, 2] = 0.0, 0.0, 3.0
    X[:4, 2] = 0.0
    links = Constraints(must_link=[(0, 1), (1, 9)], cannot_link=[(0, 9), (2, 3), (10, 11)])
    model = HMRFKMeans(3, distortion=name, random_state=0).fit(X, constraints=links)
    assert np.isfinite(model.objective_).all()
    assert np.isfinite(model.feature_weights_).all()
    assert np.isfinite(model.transform(np.eye(5))).all()
    if name != "cosine":
        with pytest.warns(UserWarning, match="2 clusters were asked for, and 1 w"):
            HMRFKMeans(2, distortion=name, random_state=0).fit(np.ones((5, 2)))


def test_links_help() -> None:
    X, y = load_iris(return_X_y=True)
    for name, gain in {"euclidean": 0.04, "i-divergence": 0.04}.items():
        plain = adjusted_rand_score(y, HMRFKMeans(3, distortion=name, random_state=0).fit(X).labels_)
        found = []
        for seed in range(4):
            links = Constraints.sample(y, n_pairs=75, random_state=seed)
            model = HMRFKMeans(3, distortion=name, random_state=0).fit(X, constraints=links)
            found.append(adjusted_rand_score(y, model.labels_))
        assert np.mean(found) > plain + gain


@pytest.mark.parametrize("name", NAMES)
def test_columns_that_separate_the_clusters_get_higher_weights(name: str) -> None:
    rng = np.random.RandomState(0)
    y = np.arange(90) % 3
    X = np.column_stack([20 * np.eye(3)[y], rng.uniform(0, 20, size=(90, 2))]) + rng.uniform(0, 2, size=(90, 5))
    links = Constraints.sample(y, n_pairs=40, random_state=0)
    model = HMRFKMeans(3, distortion=name, random_state=0).fit(X, constraints=links)
    assert adjusted_rand_score(y, model.labels_) == 1
    assert model.feature_weights_[:3].min() > 1.1 * model.feature_weights_[3:].max()
    total = DISTORTIONS[name](X, np.empty((0, 2), dtype=np.int64)).spread()
    assert total @ model.feature_weights_ == pytest.approx(total.sum(), rel=1e-6)


def test_bad_input_is_refused() -> None:
    X = counts(6, 2, 0)
    with pytest.raises(ValueError, match=r"init has the shape \(2, 3\)"):
        HMRFKMeans(2, init=np.zeros((2, 3))).fit(X)
    with pytest.raises(ValueError, match="n_samples=6 should be >= n_clusters=7"):
        HMRFKMeans(7).fit(X)
    for name, wrong in {"penalty": -1.0, "distortion": "manhattan", "metric_prior": 0.0}.items():
        with pytest.raises(ValueError, match=name):
            HMRFKMeans(2, **{name: wrong}).fit(X)  # type: ignore[arg-type]
