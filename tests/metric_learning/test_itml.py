"""ITML against Bregman projections one link at a time, and its optimality conditions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from mustlink import Constraints
from mustlink.metric_learning import ITML
from reference.metric_learning import itml_by_projections, itml_objective
from reference.random_links import Case, cases

WDBC = load_breast_cancer()
X_WDBC = StandardScaler().fit_transform(WDBC.data)


def weighted(case: Case, rng: np.random.Generator) -> Constraints:
    weights = {
        "must_link_weight": rng.uniform(0.5, 2.0, len(case.must_link)),
        "cannot_link_weight": rng.uniform(0.5, 2.0, len(case.cannot_link)),
    }
    return Constraints(case.must_link, case.cannot_link, **weights)


@given(
    case=cases(6),
    n_features=st.integers(1, 4),
    gamma=st.sampled_from([0.1, 1.0, 5.0]),
    given_prior=st.booleans(),
    seed=st.integers(0, 1000),
)
@settings(deadline=None, max_examples=40)
def test_newton_and_projections_reach_the_same_metric(
    case: Case, n_features: int, gamma: float, given_prior: bool, seed: int
) -> None:
    assume(case.must_link or case.cannot_link)
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(case.n_samples, n_features))
    links, bounds = weighted(case, rng), (0.5, 4.0)
    root = rng.normal(size=(n_features, n_features))
    prior = root @ root.T + np.eye(n_features) if given_prior else np.eye(n_features)
    metric = ITML(gamma, prior=prior if given_prior else "identity", bounds=bounds, tol=1e-10)
    A = metric.fit(X, constraints=links).metric_matrix_
    slow = itml_by_projections(prior, X, links, bounds, gamma, n_rounds=400)
    ours, theirs = (itml_objective(M, prior, X, links, bounds, gamma) for M in (A, slow))
    assert ours == pytest.approx(metric.objective_[-1], rel=1e-6, abs=1e-8)
    # The projections converge slowly: our objective may be slightly lower, but not higher.
    assert ours <= theirs + 1e-8 * (1 + abs(theirs))
    assert theirs - ours <= 1e-2 * (1 + ours)
    np.testing.assert_allclose(A, slow, rtol=0.2, atol=0.05 * np.abs(slow).max())


@pytest.mark.parametrize("n_pairs", [10, 100, 1000])
@pytest.mark.parametrize("gamma", [0.1, 1.0, 10.0])
def test_gradient_is_zero_at_the_optimum(n_pairs: int, gamma: float) -> None:
    links = Constraints.sample(WDBC.target, n_pairs=n_pairs, random_state=0)
    # Newton steps converge quadratically: below a gap of 1e-12 the gradient vanishes to many digits.
    metric = ITML(gamma, tol=1e-12, random_state=0).fit(X_WDBC, constraints=links)
    A, (near, far) = metric.metric_matrix_, metric.bounds_
    # A^-1 = I + sum of gamma (1/near - 1/d) vv' for violated must-links, and likewise for cannot-links.
    balance = np.eye(30)
    for pairs, bound, sign in ((links.must_link, near, 1), (links.cannot_link, far, -1)):
        for i, j in pairs:
            v = X_WDBC[i] - X_WDBC[j]
            squared = v @ A @ v
            if sign * (squared - bound) > 0:
                balance += gamma * (1 / bound - 1 / squared) * np.outer(v, v)
    np.testing.assert_allclose(A @ balance, np.eye(30), atol=1e-4)
    assert metric.gap_ <= 1e-12
    assert all(np.diff(metric.objective_) < 0)


def test_a_link_of_weight_two_counts_as_two_links() -> None:
    X = np.random.default_rng(0).normal(size=(6, 3))
    heavy = Constraints([(0, 1), (2, 3)], [(0, 4)], must_link_weight=[2.0, 1.0], cannot_link_weight=[3.0])
    # Duplicated rows have the same differences.
    twice = np.concatenate([X, X, X])
    many = Constraints([(0, 1), (6, 7), (2, 3)], [(0, 4), (6, 10), (12, 16)])
    one = ITML(bounds=(0.1, 5.0), tol=1e-10).fit(X, constraints=heavy).metric_matrix_
    other = ITML(bounds=(0.1, 5.0), tol=1e-10).fit(twice, constraints=many).metric_matrix_
    np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("gamma", [0.01, 1.0, 100.0, 1e4])
def test_larger_gamma_satisfies_links_more_closely(gamma: float) -> None:
    X = np.eye(2)[[0, 0, 1]] * [[0.0], [1.0], [1.0]]
    links = Constraints(must_link=[(0, 1)], cannot_link=[(0, 2)])
    A = ITML(gamma, bounds=(0.5, 2.0), tol=1e-12).fit(X, constraints=links).metric_matrix_
    # With one link per axis: (1 - 1/a) + gamma (1/bound - 1/a) = 0.
    expected = np.diag([(1 + gamma) / (1 + gamma / 0.5), (1 + gamma) / (1 + gamma / 2.0)])
    np.testing.assert_allclose(A, expected, rtol=1e-5, atol=1e-8)


def test_result_does_not_depend_on_the_scale_of_the_data() -> None:
    links = Constraints.sample(WDBC.target, n_pairs=50, random_state=0)
    A, B = (ITML(tol=1e-9, random_state=0).fit(scale * X_WDBC, constraints=links).metric_matrix_ for scale in (1, 1000))
    np.testing.assert_allclose(A, B, rtol=1e-4, atol=1e-6)


def test_links_between_equal_rows_are_ignored() -> None:
    X = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    with_equal = ITML().fit(X, constraints=Constraints([(0, 2)], [(0, 1), (0, 3)]))
    without = ITML().fit(X, constraints=Constraints([(0, 2)], [(0, 3)]))
    np.testing.assert_array_equal(with_equal.components_, without.components_)
    only = ITML().fit(X, constraints=Constraints(cannot_link=[(0, 1)]))
    np.testing.assert_array_equal(only.components_, np.eye(2))


@pytest.mark.parametrize("prior", ["covariance", np.diag([1.0, 2.0, 3.0, 4.0])], ids=["covariance", "given"])
def test_without_links_the_metric_is_the_prior(prior: Any) -> None:
    X = load_iris().data
    A = ITML(prior=prior).fit(X).metric_matrix_
    expected = np.linalg.inv(np.cov(X.T, bias=True)) if isinstance(prior, str) else prior
    np.testing.assert_allclose(A, expected, rtol=1e-8, atol=1e-8)


def test_the_bounds_are_percentiles_of_the_distances() -> None:
    X = load_iris().data[:80]
    near, far = ITML().fit(X).bounds_
    squares = [float(((X[i] - X[j]) ** 2).sum()) for i in range(80) for j in range(i)]
    assert (near, far) == pytest.approx(np.percentile(squares, [5, 95]))
    sampled = ITML(random_state=0).fit(WDBC.data).bounds_
    again = ITML(random_state=1).fit(WDBC.data).bounds_
    assert sampled == ITML(random_state=0).fit(WDBC.data).bounds_
    assert sampled == pytest.approx(again, rel=0.2)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"bounds": (2.0, 1.0)}, "bounds must be two positive numbers"),
        ({"bounds": (0.0, 1.0)}, "bounds must be two positive numbers"),
        ({"bounds": (1.0, 2.0, 3.0)}, "bounds must be two positive numbers"),
        ({"prior": np.eye(3)}, r"prior has the shape \(3, 3\)"),
        ({"prior": np.triu(np.ones((4, 4)))}, "prior must be a symmetric matrix"),
        ({"prior": -np.eye(4)}, "prior must be positive definite"),
    ],
)
def test_invalid_parameters_raise(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ITML(**parameters).fit(load_iris().data, constraints=Constraints(must_link=[(0, 1)]))


def test_covariance_prior_of_sparse_input() -> None:
    X, y = load_iris(return_X_y=True)
    links = Constraints.sample(y, n_pairs=40, random_state=0)
    dense, from_sparse = (
        ITML(prior="covariance", tol=1e-9, random_state=0).fit(table, constraints=links).metric_matrix_
        for table in (X, sparse.csr_matrix(X))
    )
    np.testing.assert_allclose(from_sparse, dense, rtol=1e-6)


def test_singular_covariance_prior_raises() -> None:
    X = np.column_stack([load_iris().data, np.ones(150)])
    with pytest.raises(ValueError, match="has rank 4 and no inverse"):
        ITML(prior="covariance").fit(X)


def test_too_few_steps_warn() -> None:
    links = Constraints.sample(WDBC.target, n_pairs=200, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"ITML stopped after \d steps"):
        ITML(max_iter=2, random_state=0).fit(X_WDBC, constraints=links)


def test_k_means_is_better_in_the_learned_space() -> None:
    X, y = load_iris(return_X_y=True)
    links = Constraints.sample(y, n_pairs=100, random_state=0)
    Z = ITML(random_state=0).fit(X, constraints=links).transform(X)
    plain, learned = (
        adjusted_rand_score(y, KMeans(3, n_init=5, random_state=0).fit(table).labels_) for table in (X, Z)
    )
    assert learned > plain + 0.1
