"""PairwiseLogisticRegression against the formulas of chapter 17 and against scikit-learn's logistic regression."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.datasets import load_digits, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from mustlink import Constraints
from mustlink.errors import ConstraintError
from mustlink.pairwise import PairwiseLogisticRegression, _solvers
from mustlink.pairwise._solvers import Limits, Objective, minimize_by_em, minimize_smooth
from mustlink.pairwise._terms import ConvexTerm, LabelTerm, LinkedPairs, StatesTerm
from pairwise.problems import Problem, make_problem, problems, with_weight
from reference import pairwise as reference

LAM, MU = 0.05, 0.7
EXACT: dict[str, Any] = {
    "C": 1 / (2 * LAM), "kernel": "precomputed", "link_penalty": MU, "scale_penalty": False, "fit_intercept": False,
    "tol": 1e-9,
}  # fmt: skip


def fit(problem: Problem, **parameters: Any) -> PairwiseLogisticRegression:
    model = PairwiseLogisticRegression(**(EXACT | parameters))
    return model.fit(problem.K, problem.y, constraints=problem.links)


@given(problems(), st.sampled_from(["lbfgs", "newton-cg"]))
@settings(max_examples=25, deadline=None)
def test_the_convex_loss_is_cpklr(problem: Problem, solver: str) -> None:
    alpha = reference.newton_cpklr(problem.K, problem.sides(1), problem.pairs, MU, LAM)
    model = fit(problem, solver=solver)
    np.testing.assert_allclose(model.decision_function(problem.K), problem.K @ alpha, atol=1e-6)
    value = reference.objective("convex", alpha, problem.K, problem.sides(1), problem.pairs, MU, LAM, True)
    assert model.objective_[-1] == pytest.approx(value, rel=1e-9)


@given(problems(3), st.sampled_from(["convex", "nonconvex"]))
@settings(max_examples=8, deadline=None)
def test_every_class_is_learned_against_the_others(problem: Problem, loss: str) -> None:
    model = fit(problem, loss=loss)
    scores = model.decision_function(problem.K)
    alpha = np.linalg.lstsq(problem.K, scores, rcond=None)[0]
    total = 0.0
    for r in range(3):
        args = (problem.K, problem.sides(r), problem.pairs, MU, LAM, False)
        value = reference.objective(loss, alpha[:, r], *args)
        total += value
        # No way down from there.
        lower = minimize(lambda a, args=args: reference.objective(loss, a, *args), alpha[:, r], options={"maxiter": 20})
        assert lower.fun == pytest.approx(value, rel=1e-4)
    assert model.objective_[-1] == pytest.approx(total, rel=1e-6)


@given(problems())
@settings(max_examples=15, deadline=None)
def test_an_augmented_logistic_regression_is_the_same(problem: Problem) -> None:
    """Check 8: every link is two rows z = x_i - c x_j, one of each class."""
    X, links = problem.X, problem.links
    z = X[links.pairs[:, 0]] - links.sign[:, None] * X[links.pairs[:, 1]]
    known = problem.y >= 0
    rows = np.concatenate([X[known], z, z])
    side = np.concatenate([problem.y[known], np.ones(len(z)), np.zeros(len(z))])
    weight = np.concatenate([np.ones(known.sum()), MU * links.weight, MU * links.weight])
    peer = LogisticRegression(C=1 / (2 * LAM), fit_intercept=False, tol=1e-10, max_iter=10_000)
    peer.fit(rows, side, sample_weight=weight)
    model = PairwiseLogisticRegression(**(EXACT | {"kernel": "linear"})).fit(X, problem.y, constraints=links)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-5)
    # The same with an intercept, of which a must-link has none and a cannot-link two.
    column = np.concatenate([np.ones(known.sum()), 1 - links.sign, 1 - links.sign])
    with_one = LogisticRegression(C=1 / (2 * LAM), fit_intercept=False, tol=1e-10, max_iter=10_000)
    # A large column has next to no regularization.
    with_one.fit(np.column_stack([rows, 1e3 * column]), side, sample_weight=weight)
    model.set_params(fit_intercept=True).fit(X, problem.y, constraints=links)
    np.testing.assert_allclose(model.coef_[0], with_one.coef_[0, :2], atol=1e-3)
    assert model.intercept_[0] == pytest.approx(1e3 * with_one.coef_[0, 2], abs=1e-3)


@given(problems())
@settings(max_examples=15, deadline=None)
def test_rows_of_links_can_be_swapped_and_links_be_in_any_order(problem: Problem) -> None:
    links = problem.links
    backwards = Constraints(
        links.must_link[::-1, ::-1],
        links.cannot_link[::-1, ::-1],
        must_link_weight=links.must_link_weight[::-1],
        cannot_link_weight=links.cannot_link_weight[::-1],
    )
    one = fit(problem)
    other = PairwiseLogisticRegression(**EXACT).fit(problem.K, problem.y, constraints=backwards)
    np.testing.assert_allclose(one.dual_coef_, other.dual_coef_, atol=1e-6)


@given(problems(), st.booleans())
@settings(max_examples=8, deadline=None)
def test_em_never_rises_and_ends_where_lbfgs_does(problem: Problem, fit_intercept: bool) -> None:
    """Check 7, both from the solution of the labels alone."""
    em = fit(problem, loss="nonconvex", solver="em", fit_intercept=fit_intercept, max_iter=5_000)
    direct = fit(problem, loss="nonconvex", solver="lbfgs", fit_intercept=fit_intercept)
    newton = fit(problem, loss="nonconvex", solver="newton-cg", fit_intercept=fit_intercept)
    assert np.diff(em.objective_).max() <= 1e-9
    assert em.objective_[-1] <= em.objective_[0]
    for other in (direct, newton):
        if other.objective_[-1] == pytest.approx(em.objective_[-1], abs=1e-6):
            continue
        # Local optima: a solver may jump into another valley, but never ends above its start.
        assert other.objective_[-1] < em.objective_[0]


def test_em_and_lbfgs_agree_within_1e_5() -> None:
    for seed in range(5):
        problem = make_problem(seed)
        em = fit(problem, loss="nonconvex", solver="em", max_iter=5_000)
        direct = fit(problem, loss="nonconvex", solver="lbfgs")
        scores = em.decision_function(problem.K), direct.decision_function(problem.K)
        np.testing.assert_allclose(*scores, atol=1e-5)


def test_an_m_step_is_a_weighted_regression_on_four_rows_for_each_link() -> None:
    problem = make_problem(3)
    X, (first, second) = problem.X, problem.links.pairs.T
    sign, weight = problem.links.sign.astype(int), MU * problem.links.weight
    f = np.random.default_rng(0).normal(size=len(X))
    q = expit(f[first] + sign * f[second])
    known = problem.y >= 0
    ones = np.ones(len(sign))
    rows = np.concatenate([X[known], X[first], X[second], X[first], X[second]])
    side = np.concatenate([2 * problem.y[known] - 1, -ones, -sign, ones, sign])
    weights = np.concatenate([np.ones(known.sum()), weight * (1 - q), weight * (1 - q), weight * q, weight * q])
    peer = LogisticRegression(C=1 / (2 * LAM), fit_intercept=False, tol=1e-10).fit(rows, side, sample_weight=weights)
    pairs = LinkedPairs(first, second, sign, weight, len(X), True)
    labels = LabelTerm((problem.y == 1).astype(float), (problem.y == 0).astype(float))
    objective = Objective(X, [labels, StatesTerm(pairs).expected_sides(f)], LAM, False)
    found = minimize_smooth(objective, np.zeros(2), Limits(1e-10, 1000, 1.0), "lbfgs").parameters
    np.testing.assert_allclose(found, peer.coef_[0], atol=1e-6)


@pytest.mark.parametrize("loss", ["convex", "nonconvex"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_without_links_or_penalty_it_is_logistic_regression(loss: str, n_classes: int) -> None:
    """Check 5."""
    X, classes = make_blobs(60, centers=n_classes, cluster_std=3.0, random_state=0)
    links = Constraints.sample(classes, n_pairs=20, random_state=0)
    peer: Any = LogisticRegression(C=0.5, tol=1e-10, max_iter=10_000)
    if n_classes > 2:
        peer = OneVsRestClassifier(peer)
    expected = peer.fit(X, classes).predict_proba(X)
    model = PairwiseLogisticRegression(C=0.5, kernel="linear", loss=loss, tol=1e-9)
    for given_links, penalty in ((None, 1.0), (links, 0.0)):
        model.set_params(link_penalty=penalty).fit(X, classes, constraints=given_links)
        np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-5)
        np.testing.assert_array_equal(model.predict(X), peer.predict(X))
    # Weights of links are factors of the penalty: next to none is next to no link.
    faint = with_weight(links, 1e-9)
    model.set_params(link_penalty=1.0).fit(X, classes, constraints=faint)
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-5)


def test_weights_of_links_are_factors() -> None:
    problem = make_problem(1, weighted=False)
    twice = with_weight(problem.links, 2.0)
    one = fit(problem, link_penalty=0.6)
    other = PairwiseLogisticRegression(**(EXACT | {"link_penalty": 0.3})).fit(problem.K, problem.y, constraints=twice)
    np.testing.assert_allclose(one.dual_coef_, other.dual_coef_, atol=1e-6)


def test_without_labels_convex_links_give_zero_and_others_no_sign() -> None:
    """Check 6, of the problem itself; a fit without labels is refused."""
    problem = make_problem(2)
    pairs = LinkedPairs(*problem.links.pairs.T, problem.links.sign.astype(int), problem.links.weight, 14, True)
    limits = Limits(1e-12, 1000, 1.0)
    start = np.random.default_rng(0).normal(size=14)
    convex = Objective(problem.K, [ConvexTerm(pairs)], LAM, False)
    np.testing.assert_allclose(minimize_smooth(convex, start, limits, "lbfgs").parameters, 0.0, atol=1e-8)
    states = StatesTerm(pairs)
    assert states.value(start) == pytest.approx(states.value(-start))
    free = Objective(problem.K, [states], 1e-3, False)
    one, other = (minimize_smooth(free, sign * start, limits, "lbfgs").parameters for sign in (1, -1))
    np.testing.assert_allclose(one, -other, atol=1e-6)
    # Zero is a stationary point, which EM never leaves.
    still = Objective(problem.K, [LabelTerm(np.zeros(14), np.zeros(14)), states], 1e-3, False)
    np.testing.assert_array_equal(minimize_by_em(still, np.zeros(14), limits).parameters, 0.0)


def test_a_large_penalty_makes_scores_of_must_links_equal() -> None:
    """Check 9."""
    problem = make_problem(5)
    links = Constraints(must_link=[(0, 6), (6, 8), (1, 7)])
    differences = []
    for penalty in (0.0, 1.0, 100.0, 1e4):
        model = PairwiseLogisticRegression(**(EXACT | {"link_penalty": penalty, "solver": "newton-cg"}))
        f = model.fit(problem.K, problem.y, constraints=links).decision_function(problem.K)
        differences.append(np.abs(f[links.must_link[:, 0]] - f[links.must_link[:, 1]]).max())
    assert differences == sorted(differences, reverse=True)
    assert differences[-1] < 1e-3 < differences[0]


def test_links_that_outweigh_labels_are_scaled() -> None:
    problem = make_problem(4, weighted=False)
    n_links = len(problem.links)
    few = PairwiseLogisticRegression(kernel="precomputed").fit(problem.K, problem.y, constraints=problem.links)
    assert few.link_penalty_ == pytest.approx(min(1.0, 4 / n_links))
    assert n_links > 4
    one = PairwiseLogisticRegression(kernel="precomputed", link_penalty=2.0)
    assert one.fit(problem.K, problem.y, constraints=Constraints([(0, 2)])).link_penalty_ == 2.0


@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_of_links_equal_the_formula(n_classes: int) -> None:
    problem = make_problem(6, n_classes)
    model = fit(problem, loss="nonconvex", link_weight="probability")
    first, second = problem.links.pairs.T
    scores = np.atleast_2d(model.decision_function(problem.K).T)
    alpha = np.linalg.lstsq(problem.K, scores.T, rcond=None)[0].T
    total = 0.0
    for r, f in enumerate(scores):
        p, q = expit(f[first]), expit(f[second])
        same = p * q + (1 - p) * (1 - q)
        apart = 1 - same if n_classes == 2 else 1 - p * q
        is_must = problem.links.sign > 0
        right, wrong = np.where(is_must, same, apart), np.where(is_must, apart, same)
        w = problem.links.weight
        value = sum(reference.logistic(y * f[i]) for i, y in problem.sides(1 if n_classes == 2 else r).items())
        value += -MU * np.log(w * right + (1 - w) * wrong).sum() + LAM * alpha[r] @ problem.K @ alpha[r]
        total += value
    assert model.objective_[-1] == pytest.approx(total, rel=1e-6)


def test_a_certain_probability_is_a_plain_link_and_an_even_one_is_none() -> None:
    problem = make_problem(6, weighted=False)
    sure = fit(problem, loss="nonconvex", link_weight="probability")
    np.testing.assert_allclose(sure.dual_coef_, fit(problem, loss="nonconvex").dual_coef_, atol=1e-6)
    even = with_weight(problem.links, 0.5)
    model = PairwiseLogisticRegression(**(EXACT | {"loss": "nonconvex", "link_weight": "probability"}))
    scores = model.fit(problem.K, problem.y, constraints=even).decision_function(problem.K)
    np.testing.assert_allclose(scores, model.fit(problem.K, problem.y).decision_function(problem.K), atol=1e-5)


def test_probabilities_above_one_and_for_the_convex_loss_are_refused() -> None:
    X, y = np.eye(4), [0, 1, -1, -1]
    model = PairwiseLogisticRegression(loss="nonconvex", link_weight="probability")
    with pytest.raises(ConstraintError, match=r"at most 1, but that of the rows 2 and 3 is 2 \(a link that was given"):
        model.fit(X, y, constraints=Constraints([(2, 3)], must_link_weight=[2.0]))
    with pytest.raises(ValueError, match='link_weight="probability" is for loss="nonconvex"'):
        model.set_params(loss="convex").fit(X, y, constraints=Constraints([(2, 3)]))
    with pytest.raises(ValueError, match='solver="em" is for loss="nonconvex"'):
        PairwiseLogisticRegression(solver="em").fit(X, y)


def test_more_starts_never_end_higher() -> None:
    for seed in range(4):
        problem = make_problem(seed)
        ends = [fit(problem, loss="nonconvex", n_init=n, random_state=0).objective_[-1] for n in (1, 2, 6)]
        assert ends == sorted(ends, reverse=True)


def test_decoding_by_the_losses_is_the_largest_score() -> None:
    """Section 4: argmin over r of the sum over s of L(m_rs f_s)."""
    f = np.random.default_rng(0).normal(scale=3.0, size=(50, 4))
    for loss in (reference.logistic, reference.hinge):
        code = 2 * np.eye(4) - 1
        total = [[sum(loss(code[r, s] * row[s]) for s in range(4)) for r in range(4)] for row in f]
        np.testing.assert_array_equal(np.argmin(total, axis=1), f.argmax(axis=1))


def test_features_of_a_sample_of_rows_come_close_to_the_exact_kernel() -> None:
    X, digit = load_digits(return_X_y=True)
    X, y = X[:600] / 16, np.where(np.arange(600) < 60, digit[:600], -1)
    links = Constraints.sample(digit[:600], n_pairs=200, random_state=0)
    exact = PairwiseLogisticRegression(C=10).fit(X, y, constraints=links)
    assert len(exact.landmarks_) == len(np.union1d(np.flatnonzero(y >= 0), links.constrained_rows()))
    sampled = PairwiseLogisticRegression(C=10, n_components=150, random_state=0).fit(X, y, constraints=links)
    assert sampled.landmarks_.shape == (150,)
    # All labeled rows are among them, as they are fewer than half.
    assert np.isin(np.arange(60), sampled.landmarks_).all()
    assert (sampled.predict(X) == exact.predict(X)).mean() > 0.95
    whole = PairwiseLogisticRegression(C=10, approximation="nystroem", n_components=5_000).fit(X, y, constraints=links)
    np.testing.assert_allclose(whole.predict_proba(X), exact.predict_proba(X), atol=1e-3)


def test_sparse_rows_stay_sparse_with_a_linear_kernel(monkeypatch: Any) -> None:
    X = sparse.random_array((80, 500), density=0.02, rng=np.random.default_rng(0), format="csr")
    y = np.where(np.arange(80) < 10, np.arange(80) % 2, -1)
    links = Constraints.sample(np.arange(80) % 2, n_pairs=30, random_state=0)
    for solver in ("lbfgs", "newton-cg"):
        dense = PairwiseLogisticRegression(kernel="linear", solver=solver, tol=1e-9).fit(
            X.toarray(), y, constraints=links
        )
        with monkeypatch.context() as patch:
            patch.setattr(type(X), "toarray", lambda self: pytest.fail("a sparse table was made dense"))
            model = PairwiseLogisticRegression(kernel="linear", solver=solver, tol=1e-9).fit(X, y, constraints=links)
            found = model.predict_proba(X)
        np.testing.assert_allclose(found, dense.predict_proba(X.toarray()), atol=1e-6)


def test_a_solver_that_stops_on_a_slope_has_not_converged(monkeypatch: Any) -> None:
    problem = make_problem(0)

    def give_up(*args: Any, **options: Any) -> Any:
        found = minimize(*args, **(options | {"options": options["options"] | {"maxiter": 2}}))
        found.success, found.message = False, "ABNORMAL: "
        return found

    monkeypatch.setattr(_solvers, "minimize", give_up)
    with pytest.warns(ConvergenceWarning, match=r"stopped after 2 iterations, as its solver found no lower objective"):
        fit(problem)
    # One that stops where the slope is within the tolerance has.
    fit(problem, tol=1e3)


def test_too_few_iterations_are_said() -> None:
    with pytest.warns(ConvergenceWarning, match=r"stopped after max_iter=1 iterations before it converged; increase"):
        fit(make_problem(0), max_iter=1)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_logs_of_probabilities_are_finite_far_away(n_classes: int) -> None:
    X, classes = make_blobs(60, centers=n_classes, cluster_std=1.0, random_state=0)
    model = PairwiseLogisticRegression(kernel="linear").fit(X, classes)
    far = model.predict_log_proba(1e4 * X)
    assert np.isfinite(far).all()
    assert far.min() < -1e3
    np.testing.assert_allclose(np.exp(far), model.predict_proba(1e4 * X))
    np.testing.assert_allclose(np.exp(far).sum(axis=1), 1.0)
