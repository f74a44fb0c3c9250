"""PairwiseSVC against the dual of chapter 17 and against scikit-learn's support vector machines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from scipy import sparse
from scipy.optimize import minimize
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from mustlink import Constraints
from mustlink.pairwise import PairwiseSVC
from mustlink.pairwise._dual import DualProblem, ascend
from mustlink.pairwise._terms import LinkedPairs
from pairwise.problems import Problem, make_problem, problems
from reference import pairwise as reference

LAM, MU = 0.2, 0.7
EXACT: dict[str, Any] = {
    "C": 1 / (2 * LAM), "kernel": "precomputed", "link_penalty": MU, "scale_penalty": False, "fit_intercept": False,
    "tol": 1e-9, "max_iter": 100_000,
}  # fmt: skip


def fit(problem: Problem, **parameters: Any) -> PairwiseSVC:
    return PairwiseSVC(**(EXACT | parameters)).fit(problem.K, problem.y, constraints=problem.links)


@given(problems())
@settings(max_examples=10, deadline=None)
def test_the_objective_is_the_value_of_the_dual(problem: Problem) -> None:
    """Check 4: the expanded dual with the corrected signs, solved by other means."""
    alpha, gamma, value = reference.cpsvm_dual(problem.K, problem.sides(1), problem.pairs, MU, LAM)
    model = fit(problem)
    assert model.objective_[-1] == pytest.approx(value, abs=1e-5)
    assert 0 <= model.dual_gap_[0] <= 1e-6
    sides = problem.sides(1)
    expected = sum(a * y * problem.K[i] for a, (i, y) in zip(alpha, sides.items(), strict=True))
    for one, (i, j, c, _) in zip(gamma, problem.pairs, strict=True):
        expected = expected - one * (problem.K[i] - c * problem.K[j])
    np.testing.assert_allclose(model.decision_function(problem.K), expected / (2 * LAM), atol=5e-3)


@given(problems())
@settings(max_examples=25, deadline=None)
def test_dual_variables_of_links_are_at_the_bounds_unless_scores_are_equal(problem: Problem) -> None:
    known = np.flatnonzero(problem.y >= 0)
    side = 2.0 * problem.y[known] - 1
    sign, weight = problem.links.sign.astype(int), MU * problem.links.weight
    pairs = LinkedPairs(*problem.links.pairs.T, sign, weight, len(problem.X), True)
    dual = DualProblem.build(problem.X, known, side, np.ones(len(known)), pairs, 1 / (2 * LAM))
    solution = ascend(dual, 1e-12, 100_000)
    assert solution.gap <= 1e-9
    f = problem.X @ solution.weights
    difference = f[pairs.first] - sign * f[pairs.second]
    gamma = solution.variables[len(known) :]
    for d, g, w in zip(difference, gamma, weight, strict=True):
        if abs(d) > 1e-4:
            assert g == pytest.approx(np.sign(d) * w, abs=1e-6)
        else:
            assert -w <= g <= w


@given(problems(3))
@settings(max_examples=5, deadline=None)
def test_every_class_is_learned_against_the_others(problem: Problem) -> None:
    model = fit(problem)
    scores = model.decision_function(problem.K)
    alpha = np.linalg.lstsq(problem.K, scores, rcond=None)[0]
    total = 0.0
    for r in range(3):
        args = (problem.K, problem.sides(r), problem.pairs, MU, LAM, False)
        value = reference.objective("svm", alpha[:, r], *args)
        total += value
        lower = minimize(lambda a, args=args: reference.objective("svm", a, *args), alpha[:, r], method="Powell",
                         options={"maxiter": 2})  # fmt: skip
        assert lower.fun >= value - 1e-6
    assert model.objective_[-1] == pytest.approx(total, rel=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_without_links_it_is_a_linear_support_vector_machine(n_classes: int, fit_intercept: bool) -> None:
    """Check 5; the intercept of LinearSVC is regularized too."""
    X, classes = make_blobs(60, centers=n_classes, cluster_std=2.0, random_state=0)
    peer = LinearSVC(C=0.5, loss="hinge", fit_intercept=fit_intercept, tol=1e-9, max_iter=1_000_000, random_state=0)
    peer.fit(X, classes)
    links = Constraints.sample(classes, n_pairs=20, random_state=0)
    for given_links, penalty in ((None, 1.0), (links, 0.0)):
        model = PairwiseSVC(
            C=0.5, kernel="linear", fit_intercept=fit_intercept, link_penalty=penalty, tol=1e-10, max_iter=100_000
        )
        model.fit(X, classes, constraints=given_links)
        np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-3)
        np.testing.assert_allclose(model.intercept_, peer.intercept_ * np.ones(len(model.intercept_)), atol=1e-3)


def test_without_labels_the_dual_gives_zero() -> None:
    """Check 6."""
    problem = make_problem(2)
    pairs = LinkedPairs(*problem.links.pairs.T, problem.links.sign.astype(int), problem.links.weight, 14, True)
    none = np.zeros(0)
    dual = DualProblem.build(problem.K, none.astype(int), none, none, pairs, 1.0)
    np.testing.assert_array_equal(ascend(dual, 1e-9, 100).weights, 0.0)


def test_a_large_penalty_makes_scores_of_must_links_equal() -> None:
    """Check 9; the loss is exact from some finite penalty on."""
    problem = make_problem(5)
    links = Constraints(must_link=[(0, 6), (6, 8), (1, 7)])
    model = PairwiseSVC(**(EXACT | {"link_penalty": 100.0})).fit(problem.K, problem.y, constraints=links)
    f = model.decision_function(problem.K)
    np.testing.assert_allclose(f[links.must_link[:, 0]], f[links.must_link[:, 1]], atol=1e-4)


def test_sparse_rows_give_the_same(monkeypatch: Any) -> None:
    X = sparse.random_array((80, 300), density=0.03, rng=np.random.default_rng(0), format="csr")
    y = np.where(np.arange(80) < 10, np.arange(80) % 2, -1)
    links = Constraints.sample(np.arange(80) % 2, n_pairs=30, random_state=0)
    for fit_intercept in (True, False):
        model = PairwiseSVC(kernel="linear", fit_intercept=fit_intercept, tol=1e-9)
        dense = model.fit(X.toarray(), y, constraints=links).decision_function(X.toarray())
        with monkeypatch.context() as patch:
            patch.setattr(type(X), "toarray", lambda self: pytest.fail("a sparse table was made dense"))
            found = model.fit(X, y, constraints=links).decision_function(X)
        np.testing.assert_allclose(found, dense, atol=1e-4)


def test_too_few_passes_are_said() -> None:
    problem = make_problem(0)
    with pytest.warns(ConvergenceWarning, match=r"PairwiseSVC stopped after max_iter=1 iterations before it converged"):
        PairwiseSVC(max_iter=1, tol=1e-9).fit(problem.X, problem.y, constraints=problem.links)
