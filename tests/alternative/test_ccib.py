"""CCIB beside the formulas: information, memberships, moves; what it finds, predicts and refuses."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, cross_validate

from alternative.problems import counts_with_two_splits, points_with_two_splits
from mustlink import CCIB
from mustlink.alternative._annealing import Schedule, anneal, hard, membership_step
from mustlink.alternative._ccib import build_family
from mustlink.alternative._glm import LinearModels
from mustlink.alternative._sequential import improve_by_moves
from mustlink.catalogue import CATALOGUE
from mustlink.metrics import purity
from reference import alternative as slow


def silent(n_done: int | None = None, note: Any = "", *, total: int | None = None) -> None:
    """Show no progress."""


@st.composite
def small_problems(draw: Any) -> tuple[Any, Any, Any, float, Any]:
    """Rows of a few counts, their weights, sorted cells, lam and hard labels of which every cluster is used."""
    seed = draw(st.integers(0, 10_000))
    rng = np.random.default_rng(seed)
    n_rows, k = draw(st.integers(6, 12)), draw(st.integers(2, 3))
    counts = rng.poisson(2.0, size=(n_rows, 4)) + np.eye(4)[rng.integers(4, size=n_rows)]
    weight = counts.sum(axis=1) / counts.sum() if draw(st.booleans()) else np.full(n_rows, 1 / n_rows)
    cell = np.sort(rng.permutation(np.arange(n_rows) % draw(st.integers(1, 3))))
    labels = rng.permutation(np.arange(n_rows) % k)
    return counts / counts.sum(axis=1, keepdims=True), weight, cell, draw(st.sampled_from([0.0, 0.3, 1.0])), labels


def family_of(problem: Any, *, as_sparse: bool = False) -> Any:
    X, weight, cell, lam, _ = problem
    return build_family("multinomial", sparse.csr_array(X) if as_sparse else X, cell, lam, weight)


@settings(max_examples=40, deadline=None)
@given(small_problems(), st.booleans())
def test_gains_are_the_information(problem: Any, as_sparse: bool) -> None:
    X, weight, cell, lam, labels = problem
    k = labels.max() + 1
    soft = np.random.default_rng(0).dirichlet(np.ones(k), size=len(X))
    for memberships in (hard(labels, k), soft):
        within, overall = family_of(problem, as_sparse=as_sparse).gains(memberships)
        assert within + lam * overall == pytest.approx(slow.objective(X, weight, memberships, cell, lam), abs=1e-8)


@settings(max_examples=30, deadline=None)
@given(small_problems(), st.sampled_from([0.5, 5.0]))
def test_memberships_are_those_of_the_formula(problem: Any, beta: float) -> None:
    X, weight, cell, lam, labels = problem
    soft = np.random.default_rng(1).dirichlet(np.ones(labels.max() + 1), size=len(X))
    found, _ = membership_step(family_of(problem), soft, beta)
    expected, _ = slow.membership_update(X, weight, soft, cell, lam, beta)
    assert np.allclose(found, expected, atol=1e-8)
    assert np.allclose(found.sum(axis=1), 1)


@settings(max_examples=30, deadline=None)
@given(small_problems(), st.sampled_from([0.5, 3.0, 30.0]))
def test_the_objective_never_decreases_at_one_temperature(problem: Any, beta: float) -> None:
    X, *_, labels = problem
    memberships = np.random.default_rng(2).dirichlet(np.ones(labels.max() + 1), size=len(X))
    family, values = family_of(problem), []
    for _ in range(25):
        memberships, value = membership_step(family, memberships, beta)
        values.append(value)
    assert (np.diff(values) >= -1e-9).all()


@pytest.mark.parametrize("link", ["identity", "log", "logit"])
def test_the_objective_of_linear_models_never_decreases(link: str) -> None:
    rng = np.random.default_rng(0)
    X = (rng.random((40, 3)) < 0.4).astype(float) if link == "logit" else rng.poisson(3.0, size=(40, 3)).astype(float)
    design = np.column_stack([np.ones(40), np.eye(3)[rng.integers(3, size=40)], rng.normal(size=40)])
    model = LinearModels(X, design, 0.3, link)
    memberships, values = rng.dirichlet(np.ones(2), size=40), []
    for _ in range(20):
        memberships, value = membership_step(model, memberships, 0.5)
        values.append(value)
    assert (np.diff(values) >= -1e-9).all()
    assert (model.ceiling() >= model.baseline - 1e-9).all()


@settings(max_examples=40, deadline=None)
@given(small_problems())
def test_the_cost_of_a_move_is_the_loss_of_information(problem: Any) -> None:
    """Check 4: the cost by divergences, the brute force, and where one pass of the kernel puts a row."""
    X, weight, cell, lam, labels = problem
    k = labels.max() + 1
    row = int(np.argmax(np.bincount(labels)[labels] > 1))
    alone = hard(np.where(np.arange(len(X)) == row, k, labels), k + 1)
    apart = slow.objective(X, weight, alone, cell, lam)
    costs = []
    for cluster in range(k):
        moved = np.where(np.arange(len(X)) == row, cluster, labels)
        loss = apart - slow.objective(X, weight, hard(moved, k), cell, lam)
        costs.append(slow.merge_cost(X, weight, labels, cell, lam, row, cluster))
        assert costs[-1] == pytest.approx(loss, abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(small_problems(), st.sampled_from(["multinomial", "gaussian"]))
def test_no_single_move_improves_the_sequential_result(problem: Any, name: str) -> None:
    X, weight, cell, lam, labels = problem
    k = labels.max() + 1
    family = build_family(name, X, cell, lam, weight)
    run = improve_by_moves(family, k, 100, np.random.RandomState(0), silent)
    found = run.memberships.argmax(axis=1)

    def value(given: Any) -> float:
        if name == "gaussian":
            return slow.variance_decrease(X, given, cell, lam)
        return slow.objective(X, weight, hard(given, k), cell, lam)

    assert run.objective[-1] == pytest.approx(value(found), abs=1e-8)
    assert (np.diff(run.objective) >= -1e-9).all()
    assert (np.bincount(found, minlength=k) > 0).all()
    for row in range(len(X)):
        if np.bincount(found)[found[row]] > 1:
            for cluster in range(k):
                assert value(np.where(np.arange(len(X)) == row, cluster, found)) <= value(found) + 1e-8


def test_permuted_labels_of_one_class_change_nothing_without_lam() -> None:
    """Proposition 11.3; with lam the labels that agree are better."""
    X, a, b = counts_with_two_splits(2, 60, 0)
    order = np.argsort(a, kind="stable")
    X, a, b = X[order] / X.sum(axis=1, keepdims=True)[order], a[order], b[order]
    permuted = np.where(a == 0, 1 - b, b)
    for lam in (0.0, 0.3):
        gains = [build_family("multinomial", X, a, lam).gains(hard(labels, 2)) for labels in (b, permuted)]
        assert gains[0][0] == pytest.approx(gains[1][0], abs=1e-10)
        assert gains[0][1] > gains[1][1] + 0.01
    assert purity(b, permuted) < 0.7


def test_a_constant_split_is_the_plain_bottleneck() -> None:
    """Check 6: the weight 1 + lam only moves the temperatures."""
    X, _, _ = counts_with_two_splits(3, 90, 1)
    plain = CCIB(3, model="multinomial", lam=0.0, n_init=1, random_state=0).fit(X)
    with pytest.warns(UserWarning, match="known is constant: one class only"):
        constant = CCIB(3, model="multinomial", lam=0.3, n_init=1, random_state=0).fit(X, known=np.ones(90, dtype=int))
    assert np.array_equal(plain.labels_, constant.labels_)
    assert constant.quality_ == pytest.approx(1.3 * plain.quality_)
    assert constant.nmi_known_ == [0.0]


@pytest.mark.parametrize("method", ["annealing", "sequential"])
def test_the_other_split_is_found(method: Any) -> None:
    """Check 7."""
    X, a, b = counts_with_two_splits(2, 400, 0)
    model = CCIB(2, method=method, model="multinomial", random_state=0).fit(X, known=a)
    assert purity(b, model.labels_) == 1.0
    assert model.nmi_known_[0] < 0.01
    assert model.vi_known_[0] == pytest.approx(2 * np.log(2), abs=0.02)
    assert np.array_equal(model.predict(X, known=a), model.labels_)


def test_annealing_is_better_than_moves_for_three_clusters() -> None:
    """Sanity figures of the specification: 0.85 against 0.70 on average."""
    found = {}
    for method in ("annealing", "sequential"):
        scores = []
        for seed in range(4):
            X, a, b = counts_with_two_splits(3, 300, seed)
            model = CCIB(3, model="multinomial", method=method, lam=0.3, n_init=1, random_state=seed)  # type: ignore[arg-type]
            scores.append(purity(b, model.fit(X, known=a).labels_))
        found[method] = np.mean(scores)
    assert found["annealing"] > 0.8
    assert found["annealing"] > found["sequential"]


@pytest.mark.parametrize("model", ["multinomial", "gaussian", "glm"])
def test_hard_labels_are_a_fixed_point(model: Any) -> None:
    """Check 8."""
    X, a, _ = counts_with_two_splits(3, 150, 2)
    X = X / 100
    found = CCIB(3, model=model, n_init=1, random_state=0).fit(X, known=a)
    order = np.argsort(a, kind="stable")
    if model == "glm":
        design = np.column_stack([np.ones(150), np.eye(3)[a]])[order]
        family: Any = LinearModels(X[order], design, found.lam_, "identity")
    else:
        rows = X / X.sum(axis=1, keepdims=True) if model == "multinomial" else X - X.mean(axis=0)
        family = build_family(model, rows[order], a[order], found.lam_)
    again, _ = membership_step(family, hard(found.labels_[order], 3), found.beta_)
    assert np.array_equal(again.argmax(axis=1), found.labels_[order])
    assert np.array_equal(found.predict(X, known=a), found.labels_)


def test_sparse_and_dense_counts_are_the_same() -> None:
    rng = np.random.default_rng(0)
    X = rng.poisson(0.4, size=(80, 30)).astype(float)
    X[7] = 0
    known = rng.integers(3, size=80)
    dense, thin = (CCIB(3, n_init=1, random_state=0).fit(given, known=known) for given in (X, sparse.csr_matrix(X)))
    assert dense.model_ == thin.model_ == "multinomial"
    assert np.array_equal(dense.labels_, thin.labels_)
    assert dense.labels_[7] == dense.predict(X)[7] == -1
    assert np.allclose(dense.memberships_[7], 1 / 3)
    assert dense.cluster_centers_.sum(axis=1) == pytest.approx([1, 1, 1])


def test_weights_by_length_count_long_rows_more() -> None:
    X, a, _ = counts_with_two_splits(2, 60, 3)
    X[:30] *= 5
    uniform, length = (
        CCIB(2, model="multinomial", weights=weights, n_init=1, random_state=0).fit(X, known=a)  # type: ignore[arg-type]
        for weights in ("uniform", "length")
    )
    inside = length.labels_ == 0
    assert length.cluster_centers_[0] == pytest.approx(X[inside].sum(axis=0) / X[inside].sum(), abs=1e-3)
    shares = X / X.sum(axis=1, keepdims=True)
    assert uniform.cluster_centers_[0] == pytest.approx(shares[uniform.labels_ == 0].mean(axis=0), abs=1e-3)


def test_a_known_column_of_numbers_is_avoided() -> None:
    rng = np.random.default_rng(0)
    height, b = rng.normal(size=200), rng.integers(2, size=200)
    X = np.column_stack([10 * height, 5 * height + 4 * b, 4 * b]) + rng.normal(scale=0.5, size=(200, 3))
    plain = CCIB(2, random_state=0).fit(X)
    other = CCIB(2, random_state=0).fit(X, known=height)
    assert other.model_ == "glm"
    assert purity(b, plain.labels_) < 0.7
    assert purity(b, other.labels_) > 0.95
    assert other.nmi_known_[0] < 0.05
    assert np.isnan(other.vi_known_[0])
    assert np.array_equal(other.predict(X, known=height), other.labels_)
    assert other.predict(X).shape == (200,)


def test_whole_floats_are_classes_unless_a_linear_model_is_asked_for() -> None:
    X, a, _ = points_with_two_splits()
    by_classes = CCIB(2, n_init=1, random_state=0).fit(X, known=a)
    by_floats = CCIB(2, n_init=1, random_state=0).fit(X, known=a.astype(float))
    assert by_floats.model_ == by_classes.model_ == "gaussian"
    assert np.array_equal(by_floats.labels_, by_classes.labels_)
    assert by_floats.vi_known_ == pytest.approx(by_classes.vi_known_)
    assert np.array_equal(by_floats.predict(X, known=a), by_classes.labels_)
    assert np.isnan(CCIB(2, model="glm", n_init=1, random_state=0).fit(X, known=a.astype(float)).vi_known_[0])
    mixed = CCIB(2, n_init=1, random_state=0).fit(X, known=np.column_stack([a, a + 0.5]))
    assert np.isnan(mixed.vi_known_).tolist() == [False, True]


@pytest.mark.parametrize("link", ["log", "logit"])
def test_links_of_counts_and_of_zeros_and_ones(link: Any) -> None:
    rng = np.random.default_rng(1)
    known, b = rng.integers(2, size=(2, 150))
    rate = np.column_stack([0.8 * known + 0.1, 0.8 * known + 0.1, *[0.7 * b + 0.15] * 4])
    X = rng.poisson(6 * rate) if link == "log" else rng.random(rate.shape) < rate
    model = CCIB(2, model="glm", link=link, n_init=2, growth=1.5, random_state=0).fit(X.astype(float), known=known)
    assert purity(b, model.labels_) > 0.9
    assert model.nmi_known_[0] < 0.05


def test_two_known_splits_leave_the_third() -> None:
    rng = np.random.default_rng(0)
    a, b, c = rng.integers(2, size=(3, 240))
    X = np.column_stack([12.0 * a, 9.0 * b, 6.0 * c]) + rng.normal(size=(240, 3))
    for known in (np.column_stack([a, b]), [a, np.array(["x", "y"])[b]]):
        for model in ("gaussian", "glm"):
            found = CCIB(2, model=model, n_init=2, random_state=0).fit(X, known=known)  # type: ignore[arg-type]
            assert purity(c, found.labels_) > 0.95
            assert found.nmi_known_.shape == (2,)
            assert found.nmi_known_.max() < 0.05


def test_soft_memberships_end_at_a_bound_of_information() -> None:
    X, a, _ = points_with_two_splits()
    model = CCIB(2, max_information=0.2, n_init=1, random_state=0).fit(X, known=a)
    assert (model.memberships_.max(axis=1) < 0.9999).any()
    assert np.allclose(model.predict_proba(X, known=a), model.memberships_, atol=1e-2)


def test_runs_too_close_to_what_is_known_are_left_out() -> None:
    X, a, _ = points_with_two_splits()
    far = CCIB(2, lam=50.0, random_state=0).fit(X, known=a)
    assert far.nmi_known_[0] > 0.9
    with pytest.warns(UserWarning, match="No run has a variation of information of 1 or more"):
        CCIB(2, lam=50.0, min_variation=1.0, random_state=0).fit(X, known=a)
    assert CCIB(2, min_variation=1.0, random_state=0).fit(X, known=a).vi_known_[0] > 1


def test_annealing_reports_objective_and_temperatures() -> None:
    X, a, _ = points_with_two_splits()
    model = CCIB(2, n_init=1, random_state=0).fit(X, known=a)
    assert len(model.objective_) == len(model.betas_) == model.n_iter_
    betas, values = np.array(model.betas_), np.array(model.objective_)
    same = betas[1:] == betas[:-1]
    assert (np.diff(values)[same] >= -1e-9).all()
    # What is left of the price of hard memberships.
    assert model.quality_ == pytest.approx(values[-1] + np.log(2) / betas[-1], rel=1e-2)


def test_known_is_sliced_with_the_rows_in_cross_validation() -> None:
    X, a, _ = points_with_two_splits()
    folds = KFold(2, shuffle=True, random_state=0)
    with config_context(enable_metadata_routing=True):
        models = cross_validate(
            CCIB(2, n_init=1, random_state=0),
            X,
            cv=folds,
            params={"known": a},
            scoring=lambda *_: 0.0,
            return_estimator=True,
        )["estimator"]
    for model, (train, _) in zip(models, folds.split(X), strict=True):
        alone = CCIB(2, n_init=1, random_state=0).fit(X[train], known=a[train])
        assert np.array_equal(model.labels_, alone.labels_)


def test_one_cluster_and_equal_rows() -> None:
    X, a, _ = points_with_two_splits(30)
    assert (CCIB(1).fit(X, known=a).labels_ == 0).all()
    with pytest.warns(ConvergenceWarning, match="clusters were asked for"):
        CCIB(3, random_state=0).fit(np.ones((9, 2)), known=[0, 1, 2] * 3)


@pytest.mark.parametrize(
    ("options", "X", "known", "message"),
    [
        ({}, np.eye(4) - 1, [0, 1, 0], r"X has 4 rows, and known has the shape \(3,\)"),
        ({}, np.eye(4) - 1, [0, 1, np.nan, 0], "known has no value at row 2"),
        ({}, np.eye(4) - 1, ["a", "", "a", "b"], "known has no value at row 1"),
        ({}, np.eye(4) - 1, [[0, None], [0, 1], [1, 1], [1, 0]], "column 1 of known has no value at row 0"),
        ({}, np.eye(4) - 1, [0, 1, 2, 3], "known has one row in every class, 4 classes of 4 rows"),
        ({}, np.eye(4) - 1, [[0, 0], [0, 1], [1, 0], [1, 1]], "The 2 splits of known together have one row in every"),
        ({}, np.eye(4) - 1, [0.5, np.inf, 0.0, 1.0], "known has the number inf at row 1"),
        ({}, np.eye(4) - 1, [0.0, np.inf, 0.0, 1.0], "known has the number inf at row 1"),
        ({"model": "gaussian"}, np.eye(4), [0.5, 1.5, 0.0, 1.0], "must hold classes, and has the number 0.5 at row 0"),
        ({"model": "multinomial"}, np.eye(4) - 1, None, "Negative values"),
        ({"model": "multinomial"}, np.zeros((4, 2)), None, "Only 0 rows of X are not zero"),
        ({"model": "glm", "method": "sequential"}, np.eye(4), None, 'method="sequential" is not for model="glm"'),
        ({"model": "glm", "link": "logit"}, 2 * np.eye(4), None, "numbers from 0 to 1, and X has 0 to 2"),
        ({}, sparse.csr_array(np.eye(4)), [0.5, 1.5, 0.0, 1.0], "known has numbers, for which X must be dense"),
        ({}, np.eye(4), np.zeros((4, 1, 1)), "known must hold the class of every row"),
    ],
)
def test_bad_input_is_refused(options: Any, X: Any, known: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CCIB(2, **options).fit(X, known=known)


def test_new_rows_need_as_many_known_columns() -> None:
    X, a, _ = points_with_two_splits(40)
    model = CCIB(2, n_init=1, random_state=0).fit(X, known=a)
    with pytest.raises(ValueError, match="known has 2 columns, and the fit was with 1"):
        model.predict(X, known=np.column_stack([a, a]))
    # A class that did not occur is unknown.
    assert np.array_equal(model.predict(X, known=a + 7), model.predict(X))


def test_new_rows_of_an_unknown_class_are_compared_with_whole_clusters_in_linear_models() -> None:
    rng = np.random.default_rng(0)
    X, a, _ = points_with_two_splits(60)
    known = pd.DataFrame({"class": np.array(["x", "y"])[a], "number": rng.normal(size=60)})
    model = CCIB(2, max_information=0.3, n_init=1, random_state=0).fit(X, known=known)
    assert model.model_ == "glm"
    some = known.copy()
    some.loc[0, "class"], some.loc[1, "class"] = "other", None
    found, alone = model.predict_proba(X, known=some), model.predict_proba(X)
    assert np.allclose(found[:2], alone[:2], atol=1e-12)
    assert np.allclose(found[2:], model.predict_proba(X, known=known)[2:], atol=1e-12)
    assert not np.allclose(found[2:], alone[2:], atol=1e-3)
    for number in (np.nan, -np.inf):
        some.loc[3, "number"] = number
        with pytest.raises(ValueError, match=f"column 1 of known has the number {number} at row 3; finite numbers"):
            model.predict(X, known=some)


def test_the_catalogue_knows_who_takes_a_known_split() -> None:
    for entry in CATALOGUE:
        assert entry.takes_known == ("known" in signature(entry.load().fit).parameters)


def test_annealing_stops_at_one_cluster_of_equal_rows() -> None:
    family = build_family("gaussian", np.zeros((6, 2)), np.zeros(6, dtype=np.int64), 0.3)
    run = anneal(family, 2, Schedule(2.0, 1e-4, 5, None), np.random.RandomState(0), silent)
    assert run.memberships.shape == (6, 2)
