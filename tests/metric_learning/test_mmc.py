"""MMC against projected gradients and a general solver, and its optimality conditions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from mustlink import Constraints
from mustlink.metric_learning import MMC
from reference.metric_learning import linked_differences, mmc_by_projected_gradients, mmc_diagonal_by_scipy, mmc_value

WDBC = load_breast_cancer()
X_WDBC = StandardScaler().fit_transform(WDBC.data)


@pytest.mark.parametrize("diagonal", [False, True])
@given(n_features=st.integers(1, 3), seed=st.integers(0, 1000))
@settings(deadline=None, max_examples=12)
def test_no_other_solver_finds_a_lower_objective(diagonal: bool, n_features: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(14, n_features))
    links = Constraints(
        [(0, 1), (2, 3), (4, 5), (6, 7)],
        [(0, 8), (2, 9), (4, 10), (6, 11), (12, 13)],
        must_link_weight=rng.uniform(0.5, 2.0, 4),
        cannot_link_weight=rng.uniform(0.5, 2.0, 5),
    )
    metric = MMC(diagonal, shrinkage=0.0, tol=1e-6).fit(X, constraints=links)
    value = mmc_value(metric.metric_matrix_, X, links)
    assert value == pytest.approx(metric.objective_[-1], rel=1e-6)
    slow = mmc_value(mmc_by_projected_gradients(X, links, diagonal=diagonal, n_steps=300), X, links)
    # The slow solver does not always converge; the optimality conditions are tested separately.
    assert 0.5 * slow <= value <= slow * (1 + 1e-5)
    if diagonal:
        np.testing.assert_array_equal(metric.metric_matrix_, np.diag(np.diag(metric.metric_matrix_)))
        assert value == pytest.approx(mmc_value(mmc_diagonal_by_scipy(X, links), X, links), rel=1e-4)


@pytest.mark.parametrize("diagonal", [False, True])
@pytest.mark.parametrize("n_pairs", [150, 1000])
def test_optimality_conditions(diagonal: bool, n_pairs: int) -> None:
    links = Constraints.sample(WDBC.target, n_pairs=n_pairs, random_state=0)
    metric = MMC(diagonal, shrinkage=0.0, tol=1e-8).fit(X_WDBC, constraints=links)
    A = metric.metric_matrix_
    near, far = linked_differences(X_WDBC, links)
    lengths = np.sqrt(np.einsum("ij,jk,ik->i", far, A, far))
    assert lengths.sum() == pytest.approx(1.0, rel=1e-9)
    assert np.linalg.eigvalsh(A)[0] >= -1e-12 * np.linalg.eigvalsh(A)[-1]
    # With the multiplier 2 tr(AS) of the constraint, the gradient S - pull is nowhere negative, and zero along A.
    scatter = near.T @ near
    objective = float(np.sum(A * scatter))
    assert objective == pytest.approx(metric.objective_[-1], rel=1e-6)
    gradient = scatter - objective * (far.T / lengths) @ far
    if diagonal:
        gradient = np.diag(np.diag(gradient))
    # In units in which S is the identity, "small" means the same in all directions.
    root = np.linalg.inv(np.linalg.cholesky(np.diag(np.diag(scatter)) if diagonal else scatter))
    assert np.linalg.eigvalsh(root @ gradient @ root.T)[0] > -1e-6
    assert abs(np.sum(A * gradient)) < 1e-6 * objective


def test_few_must_links_need_shrinkage() -> None:
    X = load_iris().data
    links = Constraints([(0, 1), (60, 61)], [(0, 60), (1, 120)])
    with pytest.raises(ValueError, match="singular in 4 features"):
        MMC(shrinkage=0.0).fit(X, constraints=links)
    by_default = MMC().fit(X, constraints=links).metric_matrix_
    np.testing.assert_array_equal(by_default, MMC(shrinkage=4 / 6).fit(X, constraints=links).metric_matrix_)


def test_reduction_to_the_span_of_few_cannot_links() -> None:
    # Repeated cannot-links have the same span, but are as many as the features.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 8))
    must = [(i, i + 20) for i in range(12)]
    cannot = [(0, 15), (1, 16), (2, 17)]
    twice = np.concatenate([X] * 4)
    many = Constraints(must, [(a + shift, b + shift) for a, b in cannot for shift in (0, 40, 80, 120)])
    short = MMC(tol=1e-9).fit(X, constraints=Constraints(must, cannot)).metric_matrix_
    long = MMC(tol=1e-9).fit(twice, constraints=many).metric_matrix_
    # Four times the cannot-links make each distance a quarter as long.
    np.testing.assert_allclose(16 * long, short, rtol=1e-3, atol=1e-4 * np.abs(short).max())


def test_too_few_steps_warn() -> None:
    links = Constraints.sample(WDBC.target, n_pairs=200, random_state=0)
    with pytest.warns(ConvergenceWarning, match="MMC stopped after 2 steps"):
        metric = MMC(max_iter=2, tol=1e-9).fit(X_WDBC, constraints=links)
    assert metric.gap_ > 1e-9
