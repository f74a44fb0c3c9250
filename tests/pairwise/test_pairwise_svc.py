"""PairwiseSVC against the dual of chapter 17 and against scikit-learn's support vector machines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize
from sklearn.datasets import make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from mustlink import Constraints
from mustlink.pairwise import PairwiseSVC
from mustlink.pairwise._dual import DualProblem, ascend
from mustlink.pairwise._hinge_states import GAINS, SIDES, HingeStates
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


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("is_binary", [True, False])
def test_the_nonconvex_loss_is_that_of_the_chapter_and_the_smallest_of_its_states(sign: int, is_binary: bool) -> None:
    pairs = LinkedPairs(np.array([0]), np.array([1]), np.array([sign]), np.ones(1), 2, is_binary)
    links = HingeStates(pairs)
    states = [np.array([0]), np.array([1])] + ([] if pairs.is_one_sided[0] else [np.array([-1])])
    for a in np.linspace(-3, 3, 13):
        for b in np.linspace(-3, 3, 13):
            f = np.array([a, b])
            loss = reference.link_loss("nonconvex svm", a, b, sign, is_binary)
            assert links.value(f) == pytest.approx(loss, abs=1e-12)
            assert loss >= -1e-12
            hinges = np.maximum(GAINS - SIDES * f[:, None], 0.0)
            # Without a side the convex loss has a constant of one more.
            of_state = [
                float((links.hinges(s) * hinges).sum()) + float(s[0] == 0 and not pairs.is_one_sided[0]) for s in states
            ]
            assert min(of_state) == pytest.approx(loss, abs=1e-12)
            own = [np.array_equal(s, links.states(f)) for s in states].index(True)
            assert of_state[own] == pytest.approx(loss, abs=1e-12)


@given(problems(), st.booleans(), st.integers(1, 3))
@settings(max_examples=15, deadline=None)
def test_the_nonconvex_objective_never_rises_and_is_that_of_the_formula(
    problem: Problem, fit_intercept: bool, n_init: int
) -> None:
    options = {"loss": "nonconvex", "n_init": n_init, "random_state": 0}
    for tol in (1e-9, 1e-2):
        loose = fit(problem, fit_intercept=fit_intercept, tol=tol, **options)
        assert np.diff(loose.objective_).max(initial=0.0) <= 0
    model = fit(problem, **options)
    alpha = np.linalg.lstsq(problem.K, model.decision_function(problem.K), rcond=None)[0]
    value = reference.objective("nonconvex svm", alpha, problem.K, problem.sides(1), problem.pairs, MU, LAM, True)
    assert model.objective_[-1] == pytest.approx(value, rel=1e-6)
    # The start is the solution of the labels alone.
    if n_init == 1:
        alone = PairwiseSVC(**EXACT).fit(problem.K, problem.y).decision_function(problem.K)
        at = np.linalg.lstsq(problem.K, alone, rcond=None)[0]
        start = reference.objective("nonconvex svm", at, problem.K, problem.sides(1), problem.pairs, MU, LAM, True)
        assert model.objective_[0] == pytest.approx(start, rel=1e-4)


@pytest.mark.parametrize("seed", range(6))
def test_a_nonconvex_fit_is_the_optimum_of_its_convex_problem_and_of_all_with_starts(seed: int) -> None:
    problem = make_problem(seed, n_links=3)
    tight = {"C": 5.0, "loss": "nonconvex", "random_state": 0}
    args = (problem.K, problem.sides(1), problem.pairs)
    model = fit(problem, **tight)
    f = model.decision_function(problem.K)
    slopes = [int(np.sign(f[i] + c * f[j])) * (abs(f[i] + c * f[j]) >= 1) for i, j, c, _ in problem.pairs]
    assert reference.npsvm_of_slopes(*args, slopes, MU, 0.1) == pytest.approx(model.objective_[-1], abs=1e-5)
    least = reference.npsvm_least(*args, MU, 0.1)
    assert model.objective_[-1] >= least - 1e-5
    assert fit(problem, n_init=40, **tight).objective_[-1] == pytest.approx(least, abs=1e-5)


@given(problems(3))
@settings(max_examples=5, deadline=None)
def test_nonconvex_problems_of_three_classes_have_no_way_down(problem: Problem) -> None:
    model = fit(problem, loss="nonconvex")
    assert np.diff(model.objective_).max(initial=0.0) <= 1e-12
    alpha = np.linalg.lstsq(problem.K, model.decision_function(problem.K), rcond=None)[0]
    total = 0.0
    for r in range(3):
        args = (problem.K, problem.sides(r), problem.pairs, MU, LAM, False)
        value = reference.objective("nonconvex svm", alpha[:, r], *args)
        total += value
        for step in 1e-4 * np.random.default_rng(0).normal(size=(20, 14)):
            assert reference.objective("nonconvex svm", alpha[:, r] + step, *args) >= value - 1e-7
    assert model.objective_[-1] == pytest.approx(total, rel=1e-6)


def test_nonconvex_fits_without_links_and_with_more_starts() -> None:
    problem = make_problem(3)
    alone = PairwiseSVC(**EXACT).fit(problem.K, problem.y).decision_function(problem.K)
    model = PairwiseSVC(**EXACT, loss="nonconvex").fit(problem.K, problem.y)
    np.testing.assert_array_equal(model.decision_function(problem.K), alone)
    without_penalty = fit(problem, loss="nonconvex", link_penalty=0.0)
    np.testing.assert_allclose(without_penalty.decision_function(problem.K), alone, atol=1e-5)
    for seed in range(4):
        ends = [
            fit(make_problem(seed), C=20, loss="nonconvex", n_init=n, random_state=0).objective_[-1] for n in (1, 2, 6)
        ]
        assert ends == sorted(ends, reverse=True)


def test_nonconvex_fits_take_sparse_rows_and_say_too_few_passes() -> None:
    X = sparse.random_array((80, 300), density=0.03, rng=np.random.default_rng(0), format="csr")
    y = np.where(np.arange(80) < 10, np.arange(80) % 2, -1)
    links = Constraints.sample(np.arange(80) % 2, n_pairs=30, random_state=0)
    model = PairwiseSVC(C=50, kernel="linear", loss="nonconvex", tol=1e-9, max_iter=100_000)
    dense = model.fit(X.toarray(), y, constraints=links).decision_function(X.toarray())
    np.testing.assert_allclose(model.fit(X, y, constraints=links).decision_function(X), dense, atol=1e-4)
    with pytest.warns(ConvergenceWarning, match="PairwiseSVC stopped after max_iter=1 iterations"):
        model.set_params(max_iter=1).fit(X, y, constraints=links)


def test_nonconvex_links_improve_on_few_labels_with_a_large_C() -> None:  # noqa: N802
    gains = []
    for seed in range(6):
        X, moon = make_moons(120, noise=0.1, random_state=seed)
        labeled = np.concatenate([np.flatnonzero(moon == side)[:4] for side in (0, 1)])
        y = np.where(np.isin(np.arange(120), labeled), moon, -1)
        links = Constraints.sample(moon, n_pairs=60, random_state=seed)
        model = PairwiseSVC(C=20, loss="nonconvex", max_iter=20_000)
        gains.append(model.fit(X, y, constraints=links).score(X, moon) - model.fit(X, y).score(X, moon))
    assert np.mean(gains) > 0.03
