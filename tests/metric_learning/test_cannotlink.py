"""CannotLinkMetric against general solvers, support vector machines, closed forms and its optimality conditions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import ortho_group
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC, OneClassSVM
from sklearn.utils.estimator_checks import parametrize_with_checks

from mustlink import Constraints
from mustlink.errors import InfeasibleError, NumberTooLargeError, TooLargeError, UnmetConstraintsWarning
from mustlink.metric_learning import CannotLinkMetric, _cannotlink, _entailed_pairs
from mustlink.metric_learning._max_margin import PairProblem, solve
from reference.cannot_link_metric import (
    by_coordinate_ascent,
    hard_by_nnls,
    online,
    pair_matrices,
    soft_by_general_solver,
    soft_primal,
)

WDBC = load_breast_cancer()
X_WDBC = StandardScaler().fit_transform(WDBC.data)
PRECISE: dict[str, Any] = {"tol": 1e-10, "max_iter": 20_000}


def pairs_of_rows(delta: np.ndarray) -> tuple[np.ndarray, Constraints]:
    """Rows such that row 2 p minus row 2 p + 1 is the difference p."""
    X = np.zeros((2 * len(delta), delta.shape[1]))
    X[::2] = delta
    return X, Constraints(cannot_link=[(2 * p, 2 * p + 1) for p in range(len(delta))])


def fit_differences(delta: np.ndarray, **parameters: Any) -> CannotLinkMetric:
    X, links = pairs_of_rows(delta)
    return CannotLinkMetric(**(PRECISE | parameters)).fit(X, constraints=links)


def wdbc_links(n_pairs: int = 60) -> Constraints:
    return Constraints(cannot_link=Constraints.sample(WDBC.target, n_pairs=2 * n_pairs, random_state=0).cannot_link)


def objectives(metric: CannotLinkMetric) -> tuple[float, float]:
    """The primal and the dual objective."""
    half = 0.5 * metric.alpha_ @ metric.squared_distances_
    short = np.maximum(1 - metric.squared_distances_, 0)
    penalty = 0.0 if np.isinf(metric.C_) else metric.C_ * short.sum()
    return float(half + penalty), float(metric.alpha_.sum() - half)


# ---- the optimum


@given(n_pairs=st.integers(1, 9), n_features=st.integers(1, 4), diagonal=st.booleans(), seed=st.integers(0, 1000))
@settings(deadline=None, max_examples=40)
def test_hard_margin_equals_non_negative_least_squares(
    n_pairs: int, n_features: int, diagonal: bool, seed: int
) -> None:
    delta = np.random.default_rng(seed).normal(size=(n_pairs, n_features))
    expected = hard_by_nnls(delta, diagonal) @ pair_matrices(delta, diagonal)
    metric = fit_differences(delta, C=np.inf, diagonal=diagonal)
    found = np.diag(metric.metric_matrix_) if diagonal else metric.metric_matrix_.ravel()
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4 * np.abs(expected).max())
    # At the optimum the multipliers sum to the squared norm.
    assert metric.alpha_.sum() == pytest.approx(found @ found, rel=1e-4)
    assert metric.squared_distances_.min() == pytest.approx(1.0, rel=1e-4)


@given(
    n_pairs=st.integers(1, 7),
    n_features=st.integers(1, 3),
    diagonal=st.booleans(),
    C=st.sampled_from([0.05, 0.3, 2.0]),
    seed=st.integers(0, 1000),
)
@settings(deadline=None, max_examples=40)
def test_soft_margin_equals_a_general_solver_without_definiteness(
    n_pairs: int, n_features: int, diagonal: bool, C: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    delta, weight = rng.normal(size=(n_pairs, n_features)), rng.uniform(0.5, 2.0, n_pairs)
    X, links = pairs_of_rows(delta)
    links = Constraints(cannot_link=links.cannot_link, cannot_link_weight=weight)
    metric = CannotLinkMetric(C, relative=False, diagonal=diagonal, **PRECISE).fit(X, constraints=links)
    phi = pair_matrices(delta, diagonal)
    found = np.diag(metric.metric_matrix_) if diagonal else metric.metric_matrix_.ravel()
    slow = soft_by_general_solver(delta, C * weight, diagonal)
    ours, theirs = soft_primal(found, phi, C * weight), soft_primal(slow, phi, C * weight)
    assert ours <= theirs * (1 + 1e-6)
    # The objective is strongly convex: matrices are as near as the objectives are.
    np.testing.assert_allclose(found, slow, atol=np.sqrt(2 * abs(theirs - ours)) + 1e-4 * (1 + np.abs(slow).max()))


@given(n_pairs=st.integers(1, 8), n_features=st.integers(1, 4), seed=st.integers(0, 1000))
@settings(deadline=None, max_examples=25)
def test_steps_on_one_pair_after_the_other_reach_the_same_metric(n_pairs: int, n_features: int, seed: int) -> None:
    delta = np.random.default_rng(seed).normal(size=(n_pairs, n_features))
    alpha, A = by_coordinate_ascent(delta, np.full(n_pairs, 0.5), n_rounds=300)
    metric = fit_differences(delta, C=0.5, relative=False)
    np.testing.assert_allclose(metric.metric_matrix_, A, rtol=1e-3, atol=1e-4)
    assert alpha.sum() == pytest.approx(metric.alpha_.sum(), rel=1e-3)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0, np.inf])
@pytest.mark.parametrize("n_pairs", [20, 400])
@pytest.mark.parametrize("diagonal", [False, True])
def test_optimality_conditions(C: float, n_pairs: int, diagonal: bool) -> None:
    metric = CannotLinkMetric(C, diagonal=diagonal, tol=1e-7, max_iter=20_000)
    metric.fit(X_WDBC, constraints=wdbc_links(n_pairs))
    A = metric.metric_matrix_
    assert np.linalg.eigvalsh(A)[0] >= -1e-10 * np.trace(A)
    v = X_WDBC[metric.pairs_[:, 0]] - X_WDBC[metric.pairs_[:, 1]]
    np.testing.assert_allclose(np.einsum("ij,jk,ik->i", v, A, v), metric.squared_distances_, rtol=1e-7)
    expected = (v.T * metric.alpha_) @ v
    np.testing.assert_allclose(A, np.diag(np.diag(expected)) if diagonal else expected, atol=1e-9 * np.trace(A))
    free, zero, full = _sides(metric)
    assert (metric.squared_distances_[zero] >= 1 - 1e-3).all()
    np.testing.assert_allclose(metric.squared_distances_[free], 1.0, atol=2e-3)
    assert (metric.squared_distances_[full] <= 1 + 1e-3).all()
    primal, dual = objectives(metric)
    assert primal == pytest.approx(dual, rel=1e-3 if np.isinf(C) else 1e-6)
    assert all(np.diff(metric.objective_) >= -1e-12 * metric.objective_[-1])
    assert metric.objective_[-1] == pytest.approx(dual, rel=1e-6)
    if np.isinf(C):
        assert metric.alpha_.sum() == pytest.approx(np.sum(A * A), rel=1e-3)


def _sides(metric: CannotLinkMetric) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which multipliers are between the bounds, at zero, and at the upper bound."""
    zero, full = metric.alpha_ == 0, metric.alpha_ >= metric.C_ * (1 - 1e-9)
    return ~zero & ~full, zero, full


def test_no_other_matrix_has_a_larger_margin() -> None:
    rng = np.random.default_rng(0)
    delta = rng.normal(size=(12, 4))
    A = fit_differences(delta, C=np.inf).metric_matrix_
    best = np.einsum("ij,jk,ik->i", delta, A, delta).min() / np.linalg.norm(A)
    assert best == pytest.approx(1 / np.linalg.norm(A), rel=1e-4)
    for _ in range(1000):
        root = rng.normal(size=(4, rng.integers(1, 5)))
        other = root @ root.T
        assert np.einsum("ij,jk,ik->i", delta, other, delta).min() / np.linalg.norm(other) <= best * (1 + 1e-6)


def test_soft_margin_tends_to_the_hard_one_and_to_equal_multipliers() -> None:
    delta = np.random.default_rng(0).normal(size=(12, 4))
    hard = fit_differences(delta, C=np.inf)
    soft = fit_differences(delta, C=10 * hard.alpha_.max(), relative=False)
    np.testing.assert_allclose(soft.metric_matrix_, hard.metric_matrix_, rtol=1e-3, atol=1e-4)
    small = 0.99 / ((delta @ delta.T) ** 2).sum(axis=1).max()
    np.testing.assert_allclose(fit_differences(delta, C=small, relative=False).alpha_, small, rtol=1e-12)


# ---- as support vector machines


@pytest.mark.parametrize("nu", [0.06, 0.31, 0.79])
@pytest.mark.parametrize("n_features", [4, 30])
def test_nu_is_that_of_a_one_class_machine(nu: float, n_features: int) -> None:
    X, links = X_WDBC[:, :n_features], wdbc_links(40)
    v = X[links.cannot_link[:, 0]] - X[links.cannot_link[:, 1]]
    gram = (v @ v.T) ** 2
    machine = OneClassSVM(kernel="precomputed", nu=nu, tol=1e-10).fit(gram / gram.max())
    offset = machine.offset_[0]
    alpha = np.zeros(len(v))
    alpha[machine.support_] = machine.dual_coef_[0] / offset / gram.max()
    by_nu = CannotLinkMetric(nu=nu, **PRECISE).fit(X, constraints=links)
    C = 1 / offset / gram.max()
    np.testing.assert_allclose(by_nu.C_, C, rtol=1e-4)
    by_C = CannotLinkMetric(C, relative=False, **PRECISE).fit(X, constraints=links)
    expected = (v.T * alpha) @ v
    for metric in (by_C, by_nu):
        np.testing.assert_allclose(metric.metric_matrix_, expected, rtol=1e-4, atol=1e-6 * np.abs(expected).max())
    # It bounds the share of the pairs that are closer than one.
    assert np.mean(by_nu.squared_distances_ < 1 - 1e-3) <= nu + 1e-6


@pytest.mark.parametrize("nu", [0.12, 0.3])
def test_nu_bounds_the_weight_of_the_pairs_that_are_closer_than_one(nu: float) -> None:
    pairs = wdbc_links(40).cannot_link
    weight = np.where(np.arange(len(pairs)) < 6, 50.0, 1.0)
    links = Constraints(cannot_link=pairs, cannot_link_weight=weight)
    metric = CannotLinkMetric(nu=nu, **PRECISE).fit(X_WDBC[:, :4], constraints=links)
    closer = metric.squared_distances_ < 1 - 1e-3
    assert links.cannot_link_weight[closer].sum() <= (nu + 1e-6) * weight.sum()
    # Not their number.
    assert closer.mean() > nu


def test_nu_of_one_has_all_multipliers_at_the_bound() -> None:
    metric = CannotLinkMetric(nu=1.0).fit(X_WDBC, constraints=wdbc_links(20))
    np.testing.assert_allclose(metric.alpha_, metric.C_, rtol=1e-4)


def test_mirrored_pairs_make_it_an_ordinary_machine() -> None:
    rng = np.random.default_rng(0)
    delta, C = rng.normal(size=(25, 3)), 0.2
    phi = pair_matrices(delta)
    gram, kinds = phi @ phi.T, np.repeat([1, -1], 25)
    block = np.block([[gram, -gram], [-gram, gram]])
    machine = SVC(C=C / 2, kernel="precomputed", tol=1e-10).fit(block, kinds)
    # The multipliers of a pair and of its mirror image add up; the signs of the coefficients are those of the kinds.
    coefficient = np.zeros(50)
    coefficient[machine.support_] = machine.dual_coef_[0]
    A = (coefficient[:25] - coefficient[25:]) @ phi
    plane = LinearSVC(C=C / 2, loss="hinge", fit_intercept=False, tol=1e-10, max_iter=1_000_000, random_state=0)
    plane.fit(np.vstack([phi, -phi]), kinds)
    found = fit_differences(delta, C=C, relative=False).metric_matrix_.ravel()
    np.testing.assert_allclose(found, A, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found, plane.coef_[0], rtol=1e-3, atol=1e-4)
    assert machine.intercept_[0] == pytest.approx(0.0, abs=1e-6)


# ---- special cases and invariances


def test_a_single_pair_is_at_distance_one() -> None:
    v = np.array([[3.0, -1.0, 2.0]])
    metric = fit_differences(v, C=np.inf)
    np.testing.assert_allclose(metric.metric_matrix_, v.T @ v / (v @ v.T) ** 2, rtol=1e-10)
    assert metric.get_metric()(v[0], np.zeros(3)) == pytest.approx(1.0)
    assert metric.components_.shape == (1, 3)


def test_orthogonal_pairs_have_their_own_multipliers() -> None:
    lengths = np.array([0.5, 1.0, 3.0])
    metric = fit_differences(ortho_group.rvs(3, random_state=0) * lengths[:, None], C=np.inf)
    np.testing.assert_allclose(metric.alpha_, 1 / lengths**4, rtol=1e-8)


def test_repeated_pairs_give_one_matrix_and_weights_count_as_repetitions() -> None:
    delta = np.random.default_rng(0).normal(size=(6, 3))
    X, links = pairs_of_rows(delta)
    for C in (0.1, np.inf):
        twice = fit_differences(np.vstack([delta, delta]), C=C, relative=False).metric_matrix_
        heavy = Constraints(cannot_link=links.cannot_link, cannot_link_weight=np.full(6, 2.0))
        weighted = CannotLinkMetric(C, relative=False, **PRECISE).fit(X, constraints=heavy).metric_matrix_
        np.testing.assert_allclose(weighted, twice, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("scale", [1e-3, 50.0])
def test_scale_of_the_rows(scale: float) -> None:
    links, X = wdbc_links(), X_WDBC[:, :5]
    absolute = CannotLinkMetric(0.05, relative=False, **PRECISE).fit(X, constraints=links)
    scaled = CannotLinkMetric(0.05 / scale**4, relative=False, **PRECISE).fit(scale * X, constraints=links)
    np.testing.assert_allclose(scaled.alpha_ * scale**4, absolute.alpha_, rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(scaled.metric_matrix_ * scale**2, absolute.metric_matrix_, rtol=1e-4, atol=1e-7)
    relative, of_scaled = (CannotLinkMetric(nu=None, **PRECISE).fit(s * X, constraints=links) for s in (1.0, scale))
    np.testing.assert_allclose(relative.transform(X), of_scaled.transform(scale * X), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(relative.C_, 1 / relative.scale_**2)


def test_rotations_do_not_change_distances() -> None:
    links, X = wdbc_links(), X_WDBC[:, :6]
    turned = X @ ortho_group.rvs(6, random_state=0)
    one, other = (CannotLinkMetric(**PRECISE).fit(rows, constraints=links) for rows in (X, turned))
    np.testing.assert_allclose(other.squared_distances_, one.squared_distances_, rtol=1e-5, atol=1e-6)


def test_directions_that_no_pair_has_need_tau() -> None:
    delta = np.array([[1.0, 2.0, 0.0], [3.0, -1.0, 0.0]])
    plain, ridged = fit_differences(delta), fit_differences(delta, tau=0.1)
    assert not plain.metric_matrix_[2].any()
    assert np.linalg.matrix_rank(plain.metric_matrix_) <= (plain.alpha_ > 0).sum()
    mean = np.trace(plain.metric_matrix_) / 3
    assert ridged.identity_weight_ == pytest.approx(0.1 * mean)
    np.testing.assert_allclose(ridged.metric_matrix_, plain.metric_matrix_ + 0.1 * mean * np.eye(3), atol=1e-9)
    weights = fit_differences(delta, tau=0.1, diagonal=True)
    assert weights.metric_matrix_[2, 2] == pytest.approx(weights.identity_weight_) != 0


@pytest.mark.parametrize("n_pairs", [5, 60])
def test_the_matrix_and_the_inner_products_of_pairs_give_one_solution(n_pairs: int) -> None:
    rng = np.random.default_rng(0)
    X = sparse.random_array((2 * n_pairs, 40), density=0.2, format="csr", rng=rng).astype(np.float64)
    pairs = np.arange(2 * n_pairs).reshape(-1, 2).astype(np.int64)
    found = []
    for rows in (X, X.toarray()):
        for gram in (None, PairProblem(rows, pairs, np.ones(n_pairs), 0.5).gram()):
            problem = PairProblem(rows, pairs, np.ones(n_pairs), 0.5)
            solution = solve(problem, gram, 10_000, 1e-10, lambda *_: None)
            root, _ = problem.root(solution.alpha, 0.0)
            found.append(root.T @ root)
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=1e-4, atol=1e-6 * np.abs(found[0]).max())


# ---- kernels


def test_a_linear_kernel_equals_the_rows_themselves() -> None:
    links, X = wdbc_links(), X_WDBC[:, :7]
    explicit = CannotLinkMetric(**PRECISE).fit(X, constraints=links)
    by_kernel = CannotLinkMetric(kernel=lambda a, b: float(a @ b), **PRECISE).fit(X[:300], constraints=_within(links))
    explicit_part = CannotLinkMetric(**PRECISE).fit(X[:300], constraints=_within(links))
    precomputed = CannotLinkMetric(kernel="precomputed", **PRECISE).fit(X @ X.T, constraints=links)
    np.testing.assert_allclose(precomputed.squared_distances_, explicit.squared_distances_, rtol=1e-5)
    np.testing.assert_allclose(by_kernel.squared_distances_, explicit_part.squared_distances_, rtol=1e-5)
    new = X[400:404]
    Z, W = explicit.transform(new), precomputed.transform(new @ X.T)
    np.testing.assert_allclose(np.linalg.norm(Z[0] - Z[1:], axis=1), np.linalg.norm(W[0] - W[1:], axis=1), rtol=1e-4)


def _within(links: Constraints, n_samples: int = 300) -> Constraints:
    return Constraints(cannot_link=links.cannot_link[(links.cannot_link < n_samples).all(axis=1)])


def test_distances_of_new_rows_under_a_kernel() -> None:
    links, X = wdbc_links(30), X_WDBC[:, :5]
    metric = CannotLinkMetric(kernel="rbf", gamma=0.2, **PRECISE).fit(X, constraints=links)
    x, z = X[401], X[402]
    ends = X[metric.pairs_]
    values = [rbf_kernel(ends[:, side], np.stack([x, z]), gamma=0.2) for side in (0, 1)]
    inner = (values[0] - values[1]) @ [1.0, -1.0]
    expected = np.sqrt(metric.alpha_ @ inner**2)
    Z = metric.transform(np.stack([x, z]))
    assert np.linalg.norm(Z[0] - Z[1]) == pytest.approx(expected, rel=1e-5)
    assert metric.get_metric()(x, z) == pytest.approx(expected, rel=1e-5)
    with pytest.raises(AttributeError, match="not a matrix of features"):
        metric.metric_matrix_  # noqa: B018


def test_without_links_the_distance_is_that_of_the_kernel() -> None:
    X = load_iris().data[::5]
    Z = CannotLinkMetric(kernel="rbf", gamma=0.5).fit_transform(X)
    K = rbf_kernel(X, gamma=0.5)
    assert np.linalg.norm(Z[0] - Z[20]) ** 2 == pytest.approx(2 - 2 * K[0, 20], rel=1e-6)


@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_with_links_of_equal_rows_only_the_distance_is_that_of_the_kernel(kernel: str) -> None:
    X = np.vstack([load_iris().data[::10], load_iris().data[:1]])
    K = rbf_kernel(X, gamma=0.5)
    metric = CannotLinkMetric(kernel=kernel, gamma=0.5)
    with pytest.warns(UnmetConstraintsWarning, match="cannot-links between different rows"):
        Z = metric.fit_transform(K if kernel == "precomputed" else X, constraints=Constraints(cannot_link=[(0, 15)]))
    assert np.linalg.norm(Z[1] - Z[10]) ** 2 == pytest.approx(2 - 2 * K[1, 10], rel=1e-6)


def test_kernels_of_single_precision_have_the_directions_of_double_precision() -> None:
    X = np.random.default_rng(0).normal(size=(40, 3))
    links = Constraints(cannot_link=[(i, i + 20) for i in range(20)])
    # A polynomial of degree two in three columns has ten terms.
    widths = [
        CannotLinkMetric(kernel="poly", degree=2, tau=0.1).fit(X.astype(dtype), constraints=links).components_.shape[0]
        for dtype in (np.float64, np.float32)
    ]
    assert widths == [10, 10]
    # The gamma of "scale" is the same for dense and sparse rows far from zero.
    far = np.random.default_rng(0).normal(1e4, 1, (40, 3)).astype(np.float32)
    expected = rbf_kernel(far.astype(np.float64), gamma=1 / (3 * far.var(dtype=np.float64)))
    for form in (np.asarray, sparse.csr_matrix):
        metric = CannotLinkMetric(kernel="rbf").fit(form(far), constraints=links)
        gamma = metric._kernel_with_rows.kernel.parameters["gamma"]
        np.testing.assert_allclose(rbf_kernel(far.astype(np.float64), gamma=gamma), expected, rtol=1e-5)


def test_kernel_values_that_overflow_are_refused() -> None:
    X = np.random.default_rng(0).normal(size=(6, 2)) * 1e30
    with pytest.raises(NumberTooLargeError, match="scale the columns"):
        CannotLinkMetric(kernel="poly", degree=10, gamma=1.0).fit(X, constraints=Constraints(cannot_link=[(0, 1)]))


@parametrize_with_checks([CannotLinkMetric(kernel="rbf")])
def test_checks_of_scikit_learn_with_a_kernel(estimator: Any, check: Any) -> None:
    check(estimator)


# ---- must-links, online learning, the guard, similar pairs


def test_must_links_add_the_cannot_links_that_follow(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).normal(size=(8, 2))
    links = Constraints([(0, 1), (1, 2), (4, 5)], [(2, 4), (0, 6), (0, 2)], cannot_link_weight=[3.0, 1.0, 1.0])
    metric = CannotLinkMetric().fit(X, constraints=links)
    expected = {(i, j) for i in (0, 1, 2) for j in (4, 5)} | {(i, 6) for i in (0, 1, 2)} | {(0, 2)}
    assert {tuple(pair) for pair in metric.pairs_.tolist()} == expected
    assert len(CannotLinkMetric(entail=False).fit(X, constraints=links).pairs_) == 3
    # The mean weight of the links between two components.
    both = [Constraints([(0, 1)], [(0, 2), (1, 2)], cannot_link_weight=[1.0, 3.0]), Constraints([(0, 1)], [(0, 2)])]
    for one, weight in zip(both, ([1.0, 3.0], [1.0, 1.0]), strict=True):
        found = _entailed_pairs.entailed_cannot_links(one, 3, np.random.RandomState(0))
        assert (found[0].tolist(), found[1].tolist()) == ([[0, 2], [1, 2]], weight)
    monkeypatch.setattr(_entailed_pairs, "MAX_ENTAILED", 5)
    few = CannotLinkMetric(random_state=0).fit(X, constraints=links).pairs_
    assert 3 < len(few) <= 8
    assert {tuple(pair) for pair in few.tolist()} <= expected


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_online_steps_are_those_of_the_source(form: Any) -> None:
    delta = np.random.default_rng(0).normal(size=(20, 4))
    X, links = pairs_of_rows(delta)
    metric = CannotLinkMetric(C=np.inf).partial_fit(form(X), constraints=links)
    A = online(delta, np.zeros((4, 4)))
    np.testing.assert_allclose(metric.metric_matrix_, A, rtol=1e-9, atol=1e-12)
    metric.partial_fit(form(2 * X[:10]), constraints=_within(links, 10))
    A = online(2 * delta[:5], A)
    np.testing.assert_allclose(metric.metric_matrix_, A, rtol=1e-9, atol=1e-12)
    assert not hasattr(metric, "alpha_")
    soft = CannotLinkMetric(C=0.5).partial_fit(form(X), constraints=links)
    np.testing.assert_allclose(soft.C_, 0.5 / soft.scale_**2)
    np.testing.assert_allclose(soft.partial_fit(form(X)).C_, 0.5 / soft.scale_**2)


def test_online_learning_continues_a_fit_with_the_same_options() -> None:
    delta = np.random.default_rng(0).normal(size=(20, 4))
    X, links = pairs_of_rows(delta)
    for parameters in ({"diagonal": True}, {"tau": 0.2}, {"C": 0.05}):
        batch = CannotLinkMetric(**parameters).fit(X[:20], constraints=_within(links, 20))
        scale, before = batch.scale_, batch.metric_matrix_ - batch.identity_weight_ * np.eye(4)
        batch.partial_fit(X[20:], constraints=_within(links, 20))
        after = batch.metric_matrix_ - batch.identity_weight_ * np.eye(4)
        assert batch.scale_ == scale
        assert np.linalg.eigvalsh(after - before)[0] >= -1e-9 * np.trace(after)
        if "diagonal" in parameters:
            np.testing.assert_array_equal(after, np.diag(np.diag(after)))
    # A batch without cannot-links changes nothing.
    same = batch.metric_matrix_
    np.testing.assert_allclose(batch.partial_fit(X, constraints=Constraints([(0, 1)])).metric_matrix_, same)
    np.testing.assert_array_equal(CannotLinkMetric().partial_fit(X).metric_matrix_, np.eye(4))
    with pytest.raises(AttributeError, match="partial_fit"):
        CannotLinkMetric(nu=0.5).partial_fit(X, constraints=links)


def test_guard_tells_overfitting_from_learning() -> None:
    rng = np.random.default_rng(0)
    # Four columns hold what differs, and two are noise.
    y = rng.integers(4, size=120)
    X = np.column_stack([3.0 * np.eye(4)[y], rng.normal(size=(120, 2))])
    links = Constraints(cannot_link=Constraints.sample(y, n_pairs=600, random_state=0).cannot_link)
    good = CannotLinkMetric(guard=True, random_state=0).fit(X, constraints=links)
    assert good.held_out_separation_[0] > good.held_out_separation_[1]
    # Few pairs in many directions: the others are in directions that have no weight.
    wide = rng.normal(size=(120, 60))
    few = Constraints(cannot_link=[(i, i + 60) for i in range(60)])
    with pytest.warns(UnmetConstraintsWarning, match="held-out cannot-links less than the Euclidean one"):
        bad = CannotLinkMetric(C=np.inf, guard=True, random_state=0).fit(wide, constraints=few)
    assert bad.held_out_separation_[0] < bad.held_out_separation_[1]
    alone = CannotLinkMetric(guard=True).fit(X, constraints=Constraints(cannot_link=[(0, 1)]))
    assert alone.held_out_separation_ is None


def test_guard_does_not_warn_of_a_metric_with_fewer_directions_that_separates_better() -> None:
    # Distances along few directions vary more, so that the smallest of them are smaller, whatever they are good for.
    for seed in (2, 3):
        links = Constraints(cannot_link=Constraints.sample(WDBC.target, n_pairs=500, random_state=seed).cannot_link)
        metric = CannotLinkMetric(guard=True, random_state=seed).fit(X_WDBC, constraints=links)
        learned, euclidean = metric.held_out_separation_
        assert learned > euclidean > 0.5


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_similar_pairs_are_those_below_one(kernel: str) -> None:
    X, links = load_iris().data[::4], Constraints(cannot_link=[(0, 20), (1, 30), (15, 36), (3, 25)])
    metric = CannotLinkMetric(10.0, kernel=kernel).fit(X, constraints=links)
    distance = metric.get_metric()
    expected = {(i, j) for j in range(len(X)) for i in range(j) if distance(X[i], X[j]) ** 2 < 0.9}
    pairs, squared = metric.similar_pairs(X, threshold=0.9)
    assert len(metric.similar_pairs(X)[0]) > len(pairs)
    assert {tuple(pair) for pair in pairs.tolist()} == expected
    assert (np.diff(squared) >= 0).all()
    some = np.array([[0, 1], [0, 20], [5, 5]])
    kept, distances = metric.similar_pairs(X, some)
    assert {tuple(pair) for pair in kept.tolist()} <= {(0, 1), (0, 20), (5, 5)}
    assert distances[0] == 0.0
    for wrong, message in (([[0.5, 1]], "row numbers"), ([[0, 999]], "rows 0 to 999"), ([0, 1], "shape")):
        with pytest.raises(ValueError, match=message):
            metric.similar_pairs(X, wrong)


# ---- bad input


def test_cannot_links_between_equal_rows() -> None:
    X = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    links = Constraints(cannot_link=[(0, 1), (0, 2), (0, 3)])
    without = CannotLinkMetric().fit(X, constraints=Constraints(cannot_link=[(0, 2), (0, 3)]))
    with pytest.warns(UnmetConstraintsWarning, match=r"leaves out 1 cannot-link between equal rows \(0 and 1\)"):
        metric = CannotLinkMetric().fit(X, constraints=links)
    np.testing.assert_array_equal(metric.metric_matrix_, without.metric_matrix_)
    with pytest.raises(InfeasibleError, match="C is infinite") as caught:
        CannotLinkMetric(C=np.inf).fit(X, constraints=links)
    assert caught.value.pairs == [(0, 1)]
    with pytest.warns(UnmetConstraintsWarning, match="cannot-links between different rows"):
        only = CannotLinkMetric().fit(X, constraints=Constraints(cannot_link=[(0, 1)]))
    np.testing.assert_array_equal(only.components_, np.eye(2))
    for fit in (CannotLinkMetric(C=np.inf).fit, CannotLinkMetric(C=np.inf).partial_fit):
        with pytest.raises(InfeasibleError, match="C is infinite"):
            fit(X, constraints=Constraints(cannot_link=[(0, 1)]))
    with pytest.warns(UnmetConstraintsWarning, match="leaves out 1 cannot-link between equal rows"):
        CannotLinkMetric().partial_fit(X, constraints=Constraints(cannot_link=[(0, 1)]))


def test_too_many_pairs_and_features_are_refused_with_the_size() -> None:
    X = sparse.random_array((400, 6000), density=0.01, format="csr", rng=np.random.default_rng(0))
    many = Constraints.from_labels(np.arange(110), pairs="all")
    with pytest.raises(TooLargeError, match=r"5,995 cannot-links between rows of 6,000 features, needs an array of"):
        CannotLinkMetric().fit(X, constraints=many)
    few = Constraints(cannot_link=[(0, 1), (2, 3)])
    assert CannotLinkMetric().fit(X, constraints=few).components_.shape == (2, 6000)
    with pytest.raises(TooLargeError, match=r"6,000 x 6,000 numbers"):
        CannotLinkMetric(tau=0.1).fit(X, constraints=few)
    with pytest.raises(TooLargeError, match=r"6,000 x 6,000 numbers"):
        CannotLinkMetric().partial_fit(X, constraints=few)


def test_pairs_that_follow_from_must_links_count_for_the_size(monkeypatch: pytest.MonkeyPatch) -> None:
    X = sparse.random_array((200, 6000), density=0.01, format="csr", rng=np.random.default_rng(0))
    chains = [(i, i + 1) for i in range(199) if i != 99]
    links = Constraints(chains, [(0, 100)])
    message = r"10,000 cannot-links between rows of 6,000 features \(9,999 .* follow from must-links\).*entail=False"
    with pytest.raises(TooLargeError, match=message):
        CannotLinkMetric().fit(X, constraints=links)
    assert len(CannotLinkMetric(entail=False).fit(X, constraints=links).pairs_) == 1
    # A fallback to the Euclidean metric needs a matrix of all features, and one to a kernel all rows.
    equal = sparse.vstack([X[:1], X[:1]], format="csr")
    with pytest.raises(TooLargeError, match=r"6,000 x 6,000 numbers"):
        CannotLinkMetric().fit(equal, constraints=Constraints(cannot_link=[(0, 1)]))
    monkeypatch.setattr(_cannotlink, "MAX_FEATURES", 100)
    with pytest.raises(TooLargeError, match=r"a kernel of 200 rows .*entail=False"):
        CannotLinkMetric(kernel="rbf").fit(X[:, :5].toarray(), constraints=links)


def test_options_that_exclude_each_other() -> None:
    X, links = X_WDBC[:20, :3], Constraints(cannot_link=[(0, 1)])
    with pytest.raises(ValueError, match=r"diagonal=True .* got 'rbf'"):
        CannotLinkMetric(diagonal=True, kernel="rbf").fit(X, constraints=links)
    with pytest.raises(ValueError, match=r"square matrix; got the shape \(20, 3\)"):
        CannotLinkMetric(kernel="precomputed").fit(X, constraints=links)
    with pytest.raises(ValueError, match="not positive semidefinite"):
        CannotLinkMetric(kernel="precomputed").fit(-np.eye(20), constraints=links)


def test_too_few_passes_warn() -> None:
    with pytest.warns(ConvergenceWarning, match="CannotLinkMetric stopped after 1 steps"):
        metric = CannotLinkMetric(max_iter=1).fit(X_WDBC, constraints=wdbc_links(300))
    assert metric.gap_ > 1e-4
