"""All learned metrics: scikit-learn's checks, links from labels, pipelines, and degenerate data."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn import config_context
from sklearn.datasets import load_iris
from sklearn.pipeline import Pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from mustlink import Constraints, PCKMeans
from mustlink.errors import ConstraintError, TooLargeError, UnmetConstraintsWarning
from mustlink.metric_learning import DCA, ITML, MMC, RCA, CannotLinkMetric
from mustlink.metric_learning._base import MAX_FEATURES
from reference.random_links import Case, cases

METRICS = [
    ITML(random_state=0),
    MMC(),
    MMC(diagonal=True),
    RCA(),
    DCA(),
    CannotLinkMetric(),
    CannotLinkMetric(diagonal=True),
]
IRIS = load_iris()


@pytest.fixture
def some_links() -> Constraints:
    return Constraints.sample(IRIS.target, n_pairs=60, random_state=0)


@parametrize_with_checks([*METRICS, ITML(prior="covariance")])
def test_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_distances_are_euclidean_after_the_transform(metric: Any, some_links: Constraints) -> None:
    X = IRIS.data
    Z = metric.fit(X, constraints=some_links).transform(X)
    distance, A = metric.get_metric(), metric.metric_matrix_
    for i, j in [(0, 1), (3, 120), (77, 78)]:
        v = X[i] - X[j]
        assert distance(X[i], X[j]) == pytest.approx(np.linalg.norm(Z[i] - Z[j]), rel=1e-6)
        assert distance(X[i], X[j]) ** 2 == pytest.approx(v @ A @ v, rel=1e-6)
    assert pickle.loads(pickle.dumps(distance))(X[0], X[1]) == distance(X[0], X[1])
    assert np.linalg.eigvalsh(A)[0] >= -1e-10 * np.linalg.eigvalsh(A)[-1]


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_without_links_the_metric_is_euclidean(metric: Any) -> None:
    np.testing.assert_array_equal(metric.fit(IRIS.data).components_, np.eye(4))
    # Labels for every row are ignored.
    np.testing.assert_array_equal(metric.fit(IRIS.data, IRIS.target).components_, np.eye(4))


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_partial_labels_are_links(metric: Any) -> None:
    y = np.where(np.arange(150) % 7 == 0, IRIS.target, -1)
    by_labels = metric.fit(IRIS.data, y).components_
    by_content = np.argsort(np.lexsort(IRIS.data.T[::-1]))
    by_links = metric.fit(IRIS.data, constraints=Constraints.from_labels(y, order=by_content)).components_
    np.testing.assert_array_equal(by_labels, by_links)
    assert not np.allclose(by_labels, np.eye(4)[: len(by_labels)])


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_sparse_and_single_precision_input_give_the_same_metric(metric: Any, some_links: Constraints) -> None:
    dense = metric.fit(IRIS.data, constraints=some_links).metric_matrix_
    from_sparse = metric.fit(sparse.csr_matrix(IRIS.data), constraints=some_links)
    np.testing.assert_allclose(from_sparse.metric_matrix_, dense, rtol=1e-3, atol=1e-3 * np.abs(dense).max())
    assert from_sparse.transform(sparse.csr_matrix(IRIS.data)).shape[0] == 150
    single = metric.fit(IRIS.data.astype(np.float32), constraints=some_links)
    assert single.transform(IRIS.data.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(single.metric_matrix_, dense, rtol=0.01, atol=0.01 * np.abs(dense).max())


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_a_pipeline_passes_links_to_metric_and_clusterer(metric: Any, some_links: Constraints) -> None:
    with config_context(enable_metadata_routing=True):
        pipeline = Pipeline([("metric", metric), ("cluster", PCKMeans(3, random_state=0))])
        labels = pipeline.fit_predict(IRIS.data, constraints=some_links)
    Z = metric.fit(IRIS.data, constraints=some_links).transform(IRIS.data)
    assert not np.allclose(metric.components_, np.eye(4)[: len(metric.components_)])
    expected = PCKMeans(3, random_state=0).fit(Z, constraints=some_links)
    np.testing.assert_array_equal(labels, expected.labels_)
    np.testing.assert_array_equal(
        pipeline["cluster"].violations_.must_link, some_links.violations(expected.labels_).must_link
    )


def test_names_of_output_features() -> None:
    links = Constraints(must_link=[(0, 1)], cannot_link=[(0, 100)])
    frame = ITML().set_output(transform="pandas").fit_transform(IRIS.data, constraints=links)
    assert list(frame.columns) == ["itml0", "itml1", "itml2", "itml3"]
    assert list(DCA().fit(IRIS.data, constraints=links).get_feature_names_out()) == ["dca0"]


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_too_many_features_are_refused(metric: Any) -> None:
    X = np.zeros((2, MAX_FEATURES + 1))
    with pytest.raises(TooLargeError, match=r"5,001 x 5,001 numbers.*PCA"):
        metric.fit(X, constraints=Constraints(must_link=[(0, 1)]))


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_links_to_missing_rows_are_refused(metric: Any) -> None:
    with pytest.raises(ConstraintError, match="rows 0 and 150"):
        metric.fit(IRIS.data, constraints=Constraints(must_link=[(0, 150)]))


@pytest.mark.parametrize(
    ("metric", "links", "missing"),
    [
        (RCA(), Constraints(cannot_link=[(0, 60)]), "RCA learns from must-links"),
        (MMC(), Constraints(must_link=[(0, 1)]), "MMC learns from cannot-links"),
        (DCA(), Constraints(must_link=[(0, 1)]), "DCA learns from cannot-links"),
        (CannotLinkMetric(), Constraints(must_link=[(0, 1)]), "none among the 1 must-links and 0 cannot-links given"),
        (DCA(), Constraints(cannot_link=[(0, 60)]), "DCA learns from must-links"),
        (RCA(), Constraints(must_link=[(101, 142)]), "between different rows"),  # these two flowers are equal
        (MMC(), Constraints(cannot_link=[(101, 142)]), "between different rows"),
    ],
)
def test_missing_kinds_of_links_warn(metric: Any, links: Constraints, missing: str) -> None:
    with pytest.warns(UnmetConstraintsWarning, match=missing):
        metric.fit(IRIS.data, constraints=links)
    np.testing.assert_array_equal(metric.components_, np.eye(4))


@pytest.mark.parametrize("links", [Constraints(must_link=[(0, 1)]), Constraints(cannot_link=[(0, 60)])])
def test_itml_learns_from_one_kind_of_links(links: Constraints) -> None:
    metric = ITML(random_state=0).fit(IRIS.data, constraints=links)
    (i, j), is_must = (links.must_link if len(links.must_link) else links.cannot_link)[0], bool(len(links.must_link))
    before, after = np.linalg.norm(IRIS.data[i] - IRIS.data[j]), metric.get_metric()(IRIS.data[i], IRIS.data[j])
    assert after <= before if is_must else after >= before


def test_mmc_learns_without_must_links() -> None:
    metric = MMC().fit(IRIS.data, constraints=Constraints(cannot_link=[(0, 60), (0, 120)])).get_metric()
    assert metric(IRIS.data[0], IRIS.data[60]) + metric(IRIS.data[0], IRIS.data[120]) == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize("metric", METRICS, ids=str)
@pytest.mark.parametrize("scale", [1e-120, 1.0, 1e70])
@given(
    case=cases(8),
    n_features=st.integers(1, 12),
    kind=st.sampled_from(["any", "constant", "copied", "few"]),
    seed=st.integers(0, 1000),
)
@settings(deadline=None, max_examples=15)
def test_degenerate_data_give_finite_metrics(
    metric: Any, scale: float, case: Case, n_features: int, kind: str, seed: int
) -> None:
    X = np.random.default_rng(seed).normal(size=(case.n_samples, n_features))
    if kind == "constant":
        X[:, ::2] = 0.1
    elif kind == "copied":
        X[:] = X[0]
    elif kind == "few":
        X = X.round()
        X[:, -1] = X[:, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnmetConstraintsWarning)
        metric.fit(scale * X, constraints=Constraints(case.must_link, case.cannot_link))
    assert np.isfinite(metric.components_).all()
    assert np.isfinite(metric.transform(scale * X)).all()


@pytest.mark.parametrize("metric", [MMC(), MMC(diagonal=True), RCA(), DCA()], ids=str)
def test_results_do_not_depend_on_the_units_of_features(metric: Any, some_links: Constraints) -> None:
    X = IRIS.data
    Z = metric.fit(X, constraints=some_links).transform(X)
    rescaled = metric.fit_transform(X * [1e-3, 1.0, 50.0, 1e6], constraints=some_links)
    np.testing.assert_allclose(rescaled, Z, rtol=1e-4, atol=1e-4 * np.abs(Z).max())


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_two_links_rescale_the_axes(metric: Any) -> None:
    # Height and weight of people: the must-link joins a short and a tall one, the cannot-link a light and a heavy one.
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.uniform(150, 200, 40), np.repeat([60.0, 90.0], 20) + rng.normal(scale=2, size=40)])
    X[0], X[1], X[2], X[20] = (155, 60), (195, 60), (175, 60), (175, 90)
    links = Constraints(must_link=[(0, 1)], cannot_link=[(2, 20)])
    A = metric.fit(X, constraints=links).metric_matrix_
    assert A[1, 1] > 1.5 * A[0, 0]
    assert abs(A[0, 1]) < 1e-6 * A[1, 1]
