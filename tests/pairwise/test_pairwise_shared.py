"""Both classifiers: scikit-learn's checks, labels of any type, routed links, and bad input."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.frozen import FrozenEstimator
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from mustlink import Constraints
from mustlink.errors import ConstraintError, NumberTooLargeError, TooLargeError
from mustlink.pairwise import PairwiseLogisticRegression, PairwiseSVC, _features

CHECKED = [
    PairwiseLogisticRegression(),
    PairwiseLogisticRegression(loss="nonconvex", solver="em"),
    PairwiseLogisticRegression(kernel="linear", solver="newton-cg", tol=1e-12),
    PairwiseLogisticRegression(kernel="precomputed"),
    PairwiseSVC(),
    PairwiseSVC(kernel="linear"),
    PairwiseSVC(loss="nonconvex", n_init=2),
]
BOTH = pytest.mark.parametrize("classifier", [PairwiseLogisticRegression, PairwiseSVC])
X, MOON = make_moons(120, noise=0.1, random_state=0)
Y = np.where(np.arange(120) < 12, MOON, -1)
LINKS = Constraints.sample(MOON, n_pairs=40, random_state=0)


def expected_failures(estimator: Any) -> dict[str, str]:
    failing = {"check_classifiers_classes": "-1 is an unknown label, and the check takes it as a class"}
    if isinstance(estimator, PairwiseSVC):
        for kind in ("dense", "sparse"):
            failing[f"check_sample_weight_equivalence_on_{kind}_data"] = "solved to a duality gap, as in LinearSVC"
    if estimator.kernel == "precomputed":
        failing["check_decision_proba_consistency"] = "the check gives rows, not a kernel"
        failing["check_positive_only_tag_during_fit"] = "the check gives a kernel that is not positive, which warns"
    return failing


# Columns with a mean far from zero are slow to solve for a linear kernel, as in LinearSVC.
@pytest.mark.filterwarnings("ignore:PairwiseSVC stopped:sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(CHECKED, expected_failed_checks=expected_failures)
def test_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


@BOTH
def test_links_improve_on_few_labels_for_most_draws(classifier: Any) -> None:
    gains = []
    for seed in range(8):
        rows, moon = make_moons(120, noise=0.1, random_state=seed)
        labeled = np.concatenate([np.flatnonzero(moon == side)[:4] for side in (0, 1)])
        y = np.where(np.isin(np.arange(120), labeled), moon, -1)
        links = Constraints.sample(moon, n_pairs=60, random_state=seed)
        model = classifier(C=20, max_iter=20_000)
        gains.append(model.fit(rows, y, constraints=links).score(rows, moon) - model.fit(rows, y).score(rows, moon))
    assert np.mean(gains) > 0.03
    assert np.mean(np.array(gains) >= 0) >= 0.75


@BOTH
@pytest.mark.parametrize(
    ("labels", "unknown"),
    [
        (["no", "yes"], None),
        (["no", "yes"], ""),
        ([0, 1], None),
        ([0.0, 1.0], np.nan),
        ([3, 7], -1),
        (["no", "yes"], -1),
    ],
)
def test_labels_of_any_type(classifier: Any, labels: list[Any], unknown: Any) -> None:
    expected = classifier().fit(X, Y, constraints=LINKS).predict(X)
    given = [unknown if known < 0 else labels[known] for known in Y]
    for y in (given, pd.Series(given, dtype=object), np.array(given, dtype=object)):
        model = classifier().fit(X, y, constraints=LINKS)
        assert model.classes_.tolist() == labels
        assert model.classes_.dtype != object
        np.testing.assert_array_equal(model.predict(X), np.array(labels)[expected])
        assert model.score(X, y) == np.mean(model.predict(X)[Y >= 0] == np.array(labels)[Y[Y >= 0]])


@BOTH
def test_bad_labels_are_refused_in_sentences(classifier: Any) -> None:
    name = classifier.__name__
    with pytest.raises(ValueError, match=rf"^{name} requires y to be passed.*links alone do not say which class"):
        classifier().fit(X, constraints=LINKS)
    with pytest.raises(ValueError, match=rf"^{name} needs labels of at least two classes, and no row has a label"):
        classifier().fit(X, np.full(120, -1), constraints=LINKS)
    with pytest.raises(ValueError, match=r"all labels are of one class, 'cat'; label at least one row of another"):
        classifier().fit(X, ["cat"] + [None] * 119, constraints=LINKS)
    with pytest.raises(ValueError, match=r"all labels are of one class, 1; .*\(-1 is no class: it marks unknown"):
        classifier().fit(X, 2 * MOON - 1)
    with pytest.raises(ValueError, match="The labels mix text and numbers"):
        classifier().fit(X, ["a", 1] + [None] * 118)
    with pytest.raises(ValueError, match="one partial label per row: the table has 120 rows, and y has 3 labels"):
        classifier().fit(X, [0, 1, -1])
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        classifier().fit(X, np.where(Y < 0, -1, 0.3 + Y))
    with pytest.raises(ValueError, match="Input y contains infinity"):
        classifier().fit(X, np.where(Y < 0, np.inf, Y))
    with pytest.raises(TypeError, match=r"y takes partial labels.*pass them as constraints="):
        classifier().fit(X, LINKS)


@BOTH
def test_bad_links_rows_and_parameters_are_refused(classifier: Any) -> None:
    with pytest.raises(ConstraintError, match="A must-link names the rows 0 and 120, but the table has 120 rows"):
        classifier().fit(X, Y, constraints=Constraints([(0, 120)]))
    with pytest.raises(ConstraintError, match="aligned with 50 rows, but the table has 120"):
        classifier().fit(X, Y, constraints=Constraints([(0, 1)]).on(50))
    with pytest.raises(TypeError, match=r"constraints must be a mustlink\.Constraints, got list"):
        classifier().fit(X, Y, constraints=[(0, 1)])
    with pytest.raises(ValueError, match="contains NaN"):
        classifier().fit(np.where(X > 1, np.nan, X), Y, constraints=LINKS)
    with pytest.raises(ValueError, match="'C' parameter"):
        classifier(C=0).fit(X, Y)
    with pytest.raises(ValueError, match="'link_penalty' parameter"):
        classifier(link_penalty=-1).fit(X, Y)
    with pytest.raises(ValueError, match=r'kernel="precomputed" X is the kernel of all rows .* 120 rows and 2 columns'):
        classifier(kernel="precomputed").fit(X, Y)
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        classifier().fit(X, Y, sample_weight=-np.ones(120))
    with pytest.raises(NumberTooLargeError, match="The kernel of two rows is as large as inf"):
        classifier(kernel="poly", degree=10, gamma=1.0).fit(X * 1e30, Y)


@BOTH
def test_too_many_rows_for_an_exact_kernel_are_refused_early(classifier: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(_features, "MAX_EXACT", 50)
    monkeypatch.setattr(_features, "MAX_EXACT_AUTO", 40)
    message = r"""approximation="exact" of \w+ needs an array of \d+ x \d+ numbers .*approximation="nystroem" """
    with pytest.raises(TooLargeError, match=message.strip()):
        classifier(approximation="exact").fit(X, Y, constraints=LINKS)
    monkeypatch.setattr(_features, "DEFAULT_COMPONENTS", 30)
    assert classifier(random_state=0).fit(X, Y, constraints=LINKS).landmarks_.shape == (30,)
    # By any row as landmark the same seed gives the same fit.
    one, other = (classifier(random_state=0).fit(X, Y, constraints=LINKS).dual_coef_ for _ in range(2))
    np.testing.assert_array_equal(one, other)


@BOTH
def test_kernels_agree(classifier: Any) -> None:
    rbf = classifier(gamma=0.7, tol=1e-7).fit(X, Y, constraints=LINKS)
    K = rbf_kernel(X, gamma=0.7)
    tight = {"tol": 1e-7, "max_iter": 20_000}
    by_matrix = classifier(kernel="precomputed", **tight).fit(K, Y, constraints=LINKS)
    by_function = classifier(
        kernel=lambda a, b, width: np.exp(-width * ((a - b) ** 2).sum()), kernel_params={"width": 0.7}, **tight
    ).fit(X, Y, constraints=LINKS)
    expected = rbf.decision_function(X[:30])
    np.testing.assert_allclose(by_matrix.decision_function(K[:30]), expected, atol=2e-3)
    np.testing.assert_allclose(by_function.decision_function(X[:30]), expected, atol=2e-3)
    by_sparse = classifier(gamma=0.7, tol=1e-7).fit(sparse.csr_matrix(X), Y, constraints=LINKS)
    np.testing.assert_allclose(by_sparse.decision_function(sparse.csr_matrix(X[:30])), expected, atol=2e-3)
    # A linear kernel by landmarks and by the columns.
    columns = classifier(kernel="linear", **tight).fit(X, Y, constraints=LINKS)
    products = classifier(kernel="precomputed", **tight).fit(X @ X.T, Y, constraints=LINKS)
    np.testing.assert_allclose(products.decision_function(X @ X.T), columns.decision_function(X), atol=2e-3)


@BOTH
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_single_precision_stays_single(classifier: Any, kernel: str) -> None:
    model = classifier(kernel=kernel).fit(X.astype(np.float32), Y, constraints=LINKS)
    assert model.decision_function(X.astype(np.float32)).dtype == np.float32
    double = classifier(kernel=kernel).fit(X, Y, constraints=LINKS)
    np.testing.assert_allclose(model.decision_function(X.astype(np.float32)), double.decision_function(X), atol=0.02)


@BOTH
def test_gamma_is_that_of_scikit_learn(classifier: Any) -> None:
    assert classifier().fit(X, Y).gamma_ == pytest.approx(1 / (2 * X.var()))
    assert classifier(gamma="auto").fit(X, Y).gamma_ == 0.5
    assert classifier().fit(sparse.csr_matrix(X), Y).gamma_ == pytest.approx(1 / (2 * X.var()))
    assert classifier().fit(np.ones((4, 2)), [0, 1, -1, -1]).gamma_ == 1.0
    # The variance of equal rows is rounding.
    assert classifier().fit(np.full((7, 3), 0.1), [0, 1, -1, -1, -1, -1, -1]).gamma_ == 1.0
    far = (1e4 + X).astype(np.float32)
    expected = 1 / (2 * far.var(dtype=np.float64))
    for rows in (far, sparse.csr_matrix(far)):
        assert classifier().fit(rows, Y).gamma_ == pytest.approx(expected, rel=1e-6)
    assert classifier(kernel="laplacian").fit(X, Y).gamma_ == pytest.approx(1 / (2 * X.std()))


@BOTH
def test_a_kernel_that_is_not_positive(classifier: Any) -> None:
    with pytest.warns(UserWarning, match=r"not positive semidefinite: .* Its negative part is left out"):
        classifier(kernel="sigmoid", gamma=5.0, coef0=-1.0).fit(X, Y)
    with pytest.raises(ValueError, match="not positive semidefinite"):
        classifier(kernel="precomputed").fit(-np.eye(len(X)), Y)


@BOTH
def test_links_are_sliced_with_the_rows_in_cross_validation(classifier: Any) -> None:
    y = np.where(np.arange(120) < 60, MOON, -1)
    search = GridSearchCV(classifier(), {"C": [0.01, 10.0]}, cv=3).fit(X, y, constraints=LINKS.on(120))
    assert search.best_params_ == {"C": 10.0}
    assert set(search.classes_) == {0, 1}
    # By hand: rows of a fold, links within it, and the accuracy on the known rows of the others.
    train, test = np.arange(0, 120, 2), np.arange(1, 120, 2)
    found = cross_validate(
        classifier(C=10.0), X, y, cv=[(train, test)], params={"constraints": LINKS.on(120)}, return_estimator=True
    )
    own = classifier(C=10.0).fit(X[train], y[train], constraints=LINKS.on(120)[train])
    np.testing.assert_array_equal(found["estimator"][0].dual_coef_, own.dual_coef_)
    known = test[y[test] >= 0]
    assert found["test_score"][0] == np.mean(own.predict(X[known]) == y[known])
    with pytest.warns(UndefinedMetricWarning, match="The accuracy is NaN: no row has a known class in y"):
        assert np.isnan(own.score(X[60:], y[60:]))


@BOTH
def test_a_pipeline_routes_links(classifier: Any) -> None:
    with config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(StandardScaler(), classifier()).fit(X, Y, constraints=LINKS)
        alone = classifier().fit(StandardScaler().fit_transform(X), Y, constraints=LINKS)
        np.testing.assert_array_equal(pipeline.predict(X), alone.predict(StandardScaler().fit_transform(X)))
    named = Pipeline([("scale", StandardScaler()), ("classify", classifier())])
    named.fit(X, Y, classify__constraints=LINKS)
    np.testing.assert_array_equal(named.predict(X), pipeline.predict(X))
    assert classifier.__name__ in named._repr_html_()


@BOTH
def test_a_fitted_classifier_can_be_calibrated(classifier: Any) -> None:
    model = classifier(C=10).fit(X[:80], Y[:80], constraints=LINKS.on(120)[np.arange(80)].constraints)
    calibrated = CalibratedClassifierCV(FrozenEstimator(model)).fit(X[80:], MOON[80:])
    assert calibrated.predict_proba(X).shape == (120, 2)
    assert (calibrated.predict(X) == MOON).mean() > 0.85
    with config_context(enable_metadata_routing=True):
        whole = CalibratedClassifierCV(classifier(C=10), cv=3).fit(X, MOON, constraints=LINKS.on(120))
    assert (whole.predict(X) == MOON).mean() > 0.95


@BOTH
def test_weights_of_labels_and_classes(classifier: Any) -> None:
    tight = {"tol": 1e-9, "max_iter": 50_000}
    weight = np.where(np.arange(120) % 2 == 0, 1.0, 0.0)
    known = np.where(weight > 0, Y, -1)
    weighted = classifier(gamma=1.0, **tight).fit(X, Y, constraints=LINKS, sample_weight=weight)
    dropped = classifier(gamma=1.0, **tight).fit(X, known, constraints=LINKS)
    np.testing.assert_allclose(weighted.decision_function(X), dropped.decision_function(X), atol=1e-3)
    by_class = classifier(gamma=1.0, class_weight={0: 1.0, 1: 3.0}, **tight).fit(X, Y, constraints=LINKS)
    by_row = classifier(gamma=1.0, **tight).fit(X, Y, constraints=LINKS, sample_weight=np.where(Y == 1, 3.0, 1.0))
    np.testing.assert_allclose(by_class.decision_function(X), by_row.decision_function(X), atol=1e-3)
    with pytest.raises(ValueError, match="all labels are of one class, 1"):
        classifier().fit(X, Y, sample_weight=np.where(Y == 0, 0.0, 1.0))


@BOTH
def test_three_classes_with_links(classifier: Any) -> None:
    rows, target = load_iris(return_X_y=True)
    y = np.where(np.arange(150) % 25 == 0, target, -1)
    links = Constraints.sample(target, n_pairs=80, random_state=0)
    model = classifier(C=10, max_iter=20_000).fit(rows, y, constraints=links)
    scores = model.decision_function(rows)
    assert scores.shape == (150, 3)
    np.testing.assert_array_equal(model.predict(rows), scores.argmax(axis=1))
    assert model.score(rows, target) > 0.85
    assert len(model.n_iter_) == len(model.intercept_) == 3
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(model.predict_proba(rows).sum(axis=1), 1.0)
        # Scores so low that all classes have a probability of zero by themselves.
        model.intercept_ = model.intercept_ - 2_000
        np.testing.assert_allclose(model.predict_proba(rows).sum(axis=1), 1.0)


@BOTH
def test_equal_rows_and_a_table_without_variance(classifier: Any) -> None:
    twice, y = np.repeat(X, 2, axis=0), np.repeat(Y, 2)
    model = classifier().fit(twice, y, constraints=Constraints([(0, 1), (2, 240 - 1)]))
    assert len(model.landmarks_) == len(np.unique(twice[model.landmarks_], axis=0))
    flat = classifier(kernel="linear").fit(np.zeros((4, 2)), [0, 1, -1, -1], constraints=Constraints([(2, 3)]))
    np.testing.assert_allclose(flat.decision_function(np.zeros((1, 2))), 0.0, atol=1e-6)


@BOTH
def test_groups_of_cannot_links_are_taken(classifier: Any) -> None:
    groups = [None] * 116 + ["a", "a", "b", "b"]
    listed = Constraints(cannot_link=[(116, 117), (118, 119)])
    one = classifier().fit(X, Y, constraints=Constraints.from_groups(groups))
    np.testing.assert_array_equal(one.dual_coef_, classifier().fit(X, Y, constraints=listed).dual_coef_)


@BOTH
def test_clone_and_pickle(classifier: Any) -> None:
    model = classifier(C=3.0).fit(X, Y, constraints=LINKS)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert clone(model).get_params() == model.get_params()
