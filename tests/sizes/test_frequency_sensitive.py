"""Frequency-sensitive k-means against its formulas, and what the chapter says of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, stats
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.preprocessing import normalize

from mustlink import FrequencySensitiveKMeans
from mustlink.metrics import mean_cosine, size_deviation
from mustlink.sizes._frequency_sensitive._frequency_sensitive_kernels import frequency_cost
from mustlink.sizes._frequency_sensitive._passes import FrequencyRule, Presentation
from reference import frequency_sensitive

UPDATES = ["none", "batch", "counts", "online", "stream"]


def directions(n_rows: int = 300, seed: int = 0) -> Any:
    """Rows around three directions in eight dimensions, in groups of very different sizes."""
    rng = np.random.default_rng(seed)
    groups = rng.choice(3, size=n_rows, p=[0.8, 0.15, 0.05])
    return normalize(np.abs(rng.normal(size=(n_rows, 8)) * 0.3 + np.eye(3, 8)[groups]))


@given(
    seed=st.integers(0, 10_000),
    metric=st.sampled_from(["cosine", "euclidean"]),
    sign=st.sampled_from([-1.0, 0.0, 1.0]),
    memory=st.sampled_from([2.0, 7.5, 1000.0]),
    moves=st.booleans(),
    is_sparse=st.booleans(),
)
@settings(deadline=None, max_examples=80)
def test_a_presentation_is_that_of_the_formulas(
    seed: int, metric: str, sign: float, memory: float, moves: bool, is_sparse: bool
) -> None:
    rng = np.random.default_rng(seed)
    n_rows, n_features, k = rng.integers(3, 40), int(rng.integers(1, 6)), int(rng.integers(1, 5))
    X, centers = rng.normal(size=(n_rows, n_features)), rng.normal(size=(k, n_features))
    if metric == "cosine":
        X, centers, sign = normalize(X), normalize(centers), 1.0
    order = rng.permutation(n_rows)
    log_weight = 1 / (memory * n_features) if metric == "cosine" else sign * n_features
    start = float(rng.choice([0.0, 1.0, 12.0]))
    rule = FrequencyRule(metric == "cosine", log_weight, 1 - 1 / memory)
    ours = Presentation.of(rule, centers, start, moves_centers=moves)
    labels, _ = ours.present(sparse.csr_matrix(X) if is_sparse else X, order)
    slow_centers, slow_counts = list(centers), [start] * k
    options = {"metric": metric, "sign": sign, "memory": memory, "moves": moves}
    expected = frequency_sensitive.present(X, order, slow_centers, slow_counts, **options)
    assert labels.tolist() == expected
    np.testing.assert_allclose(ours.counts, slow_counts, rtol=1e-9)
    np.testing.assert_allclose(ours.centers, slow_centers, rtol=1e-6, atol=1e-9)


@given(count=st.floats(1, 1e6), more=st.floats(1e-3, 1e3), cosine=st.floats(-0.99, 1), memory=st.floats(2, 1e6))
def test_the_cosine_rule_penalizes_size(count: float, more: float, cosine: float, memory: float) -> None:
    square = 2 - 2 * cosine
    low, high = (frequency_cost(square, n, True, 1 / (memory * 50)) for n in (count, count + more))
    assert low < high
    expected = -frequency_sensitive.cosine_score(cosine, count, memory, 50)
    assert low == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_equal_counts_leave_the_nearest_direction() -> None:
    X, centers = directions(), np.eye(3, 8)
    rule = FrequencyRule(True, 1 / 80)
    squares = 2 - 2 * X @ centers.T
    nearest = (X @ centers.T).argmax(axis=1)
    assert (rule.costs(squares, np.full(3, 17.0)).argmin(axis=1) == nearest).all()
    assert (rule.costs(squares, None).argmin(axis=1) == nearest).all()


@pytest.mark.parametrize("memory", [5.0, 100.0])
def test_stream_counts_follow_the_geometric_sum(memory: float) -> None:
    X = directions(200)
    model = FrequencySensitiveKMeans(3, metric="cosine", update="stream", memory=memory, random_state=0)
    decay = 1 - 1 / memory
    for t in range(1, 201):
        model.partial_fit(X[t - 1 : t])
        assert model.counts_.sum() == pytest.approx(memory * (1 - decay**t), rel=1e-9)
    np.testing.assert_allclose(np.linalg.norm(model.cluster_centers_, axis=1), 1.0)
    assert model.counts_.sum() <= memory * (1 + 1e-12)


def test_a_stream_is_balanced_where_classes_are_not() -> None:
    X = directions(500, seed=1)
    plain = FrequencySensitiveKMeans(3, metric="cosine", update="none", random_state=0).fit(X)
    stream = FrequencySensitiveKMeans(3, metric="cosine", update="stream", random_state=0).fit(X)
    assert plain.sizes_.max() > 300
    assert stream.sizes_.min() > 100


def test_a_stream_in_parts_is_the_stream_as_a_whole() -> None:
    X = directions(120)
    whole = FrequencySensitiveKMeans(3, metric="cosine", update="stream", memory=30).partial_fit(X)
    parts = FrequencySensitiveKMeans(3, metric="cosine", update="stream", memory=30)
    labels = [parts.partial_fit(part).labels_ for part in np.array_split(X, 7)]
    np.testing.assert_array_equal(np.concatenate(labels), whole.labels_)
    np.testing.assert_allclose(parts.cluster_centers_, whole.cluster_centers_)
    sparse_parts = FrequencySensitiveKMeans(3, metric="cosine", update="stream", memory=30)
    for part in np.array_split(X, 7):
        sparse_parts.partial_fit(sparse.csr_matrix(part))
    np.testing.assert_allclose(sparse_parts.cluster_centers_, whole.cluster_centers_, atol=1e-9)


def test_a_part_of_a_stream_may_have_no_row_with_a_direction() -> None:
    X = directions(20)
    for empty in (np.zeros((2, X.shape[1])), sparse.csr_matrix((2, X.shape[1]))):
        model = FrequencySensitiveKMeans(3, metric="cosine", update="stream").partial_fit(empty)
        assert model.labels_.tolist() == [-1, -1]
        model.partial_fit(X)
        centers = model.cluster_centers_.copy()
        assert model.partial_fit(empty).labels_.tolist() == [-1, -1]
        np.testing.assert_array_equal(model.cluster_centers_, centers)


def test_a_stream_begins_with_different_rows() -> None:
    model = FrequencySensitiveKMeans(3, update="stream")
    model.partial_fit([[1.0, 1.0], [1.0, 1.0]])
    assert model.cluster_centers_.tolist() == [[1.0, 1.0]]
    assert model.predict([[9.0, 9.0]]).tolist() == [0]
    model.partial_fit([[0.0, 5.0], [7.0, 0.0]])
    assert model.labels_.tolist() == [1, 2]


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_matrix])
def test_a_stream_continues_from_a_fit(metric: Any, convert: Any) -> None:
    X = directions(300)
    model = FrequencySensitiveKMeans(3, metric=metric, update="stream", memory=50, random_state=0).fit(convert(X))
    centers, counts, n_iter = model.cluster_centers_.copy(), model.counts_.copy(), model.n_iter_
    label = int(model.partial_fit(convert(X[:1])).labels_[0])
    others = np.arange(3) != label
    np.testing.assert_allclose(model.cluster_centers_[others], centers[others], atol=1e-12)
    assert (model.cluster_centers_[label] != centers[label]).any()
    np.testing.assert_allclose(model.counts_, counts * (1 - 1 / 50) + ~others)
    assert (model.n_iter_, len(model.objective_)) == (n_iter + 1, n_iter + 1)
    # A new fit starts again.
    np.testing.assert_allclose(model.fit(convert(X)).cluster_centers_, centers, atol=1e-12)


def test_only_a_stream_has_partial_fit() -> None:
    assert not hasattr(FrequencySensitiveKMeans(), "partial_fit")
    with pytest.raises(AttributeError, match="has no attribute 'partial_fit'") as raised:
        FrequencySensitiveKMeans().partial_fit([[0.0]])
    assert "needs update=\"stream\", and update is 'online'" in str(raised.value.__cause__)


def test_the_mean_cosine_of_spherical_k_means_never_falls() -> None:
    X = directions(400, seed=2)
    for seed in range(5):
        model = FrequencySensitiveKMeans(6, metric="cosine", update="none", init="random", tol=0.0, random_state=seed)
        objective = np.array(model.fit(X).objective_)
        assert (np.diff(objective) <= 1e-12).all()
        assert mean_cosine(X, model.labels_) == pytest.approx(1 - objective[-1])
        # On unit vectors with unit centers, the mean cosine is 1 - inertia / (2 n).
        inertia = np.square(X - model.cluster_centers_[model.labels_]).sum()
        assert 1 - objective[-1] == pytest.approx(1 - inertia / (2 * len(X)))
        nearest = np.square(X[:, None] - model.cluster_centers_).sum(axis=2).argmin(axis=1)
        np.testing.assert_array_equal(model.labels_, nearest)


def test_without_counts_it_is_k_means() -> None:
    X, _ = make_blobs(150, centers=4, cluster_std=3.0, random_state=0)
    ours = FrequencySensitiveKMeans(4, update="none", init=X[:4], tol=0.0).fit(X)
    sklearn = KMeans(4, init=X[:4], n_init=1, tol=0.0).fit(X)
    np.testing.assert_array_equal(ours.labels_, sklearn.labels_)
    np.testing.assert_allclose(ours.cluster_centers_, sklearn.cluster_centers_)


@pytest.mark.parametrize("update", ["batch", "counts", "online", "stream"])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_counts_balance_the_sizes(metric: Any, update: Any) -> None:
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal([3, 2, 0], 1.0, (270, 3)), rng.normal([3, 0, 2], 1.0, (30, 3))])
    plain = FrequencySensitiveKMeans(2, metric=metric, update="none", random_state=0).fit(X)
    model = FrequencySensitiveKMeans(2, metric=metric, update=update, random_state=0).fit(X)
    assert size_deviation(model.labels_) < 0.8 * size_deviation(plain.labels_)


@given(count=st.floats(1.5, 1e4), square=st.floats(1e-6, 1e3), n_features=st.integers(1, 50))
def test_only_the_likelihood_may_favor_size(count: float, square: float, n_features: int) -> None:
    """Plus d log n always penalizes size; minus d log n favors it while n is below d / squared distance."""
    for log_weight in (0.0, float(n_features)):
        assert frequency_cost(square, count, False, log_weight) < frequency_cost(
            square, 1.01 * count, False, log_weight
        )
    turn = n_features / square
    slope = frequency_cost(square, 1.001 * count, False, -n_features) - frequency_cost(
        square, count, False, -n_features
    )
    if count > 1.01 * turn:
        assert slope > 0
    if 1.01 * count < turn:
        assert slope < 0
    # What -2 log p of a Gaussian with the covariance I / n gives, up to a constant.
    gauss = -2 * stats.multivariate_normal(np.zeros(2), np.eye(2) / count).logpdf([square**0.5, 0.0])
    assert frequency_cost(square, count, False, -2.0) == pytest.approx(gauss - 2 * np.log(2 * np.pi))


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_sparse_tables_give_the_same_clusters(metric: Any, update: Any) -> None:
    X = directions(150)
    X[X < 0.2] = 0.0
    models = [
        FrequencySensitiveKMeans(3, metric=metric, update=update, random_state=0).fit(form)
        for form in (X, sparse.csr_matrix(X))
    ]
    np.testing.assert_array_equal(models[0].labels_, models[1].labels_)
    np.testing.assert_allclose(models[0].cluster_centers_, models[1].cluster_centers_, atol=1e-9)


@pytest.mark.parametrize("update", UPDATES)
def test_rows_without_a_direction_are_in_no_cluster(update: Any) -> None:
    X = directions(60)
    X[[3, 17]] = 0.0
    for form in (X, sparse.csr_matrix(X)):
        model = FrequencySensitiveKMeans(3, metric="cosine", update=update, random_state=0).fit(form)
        assert np.flatnonzero(model.labels_ < 0).tolist() == [3, 17]
        assert model.sizes_.sum() == 58
        assert model.predict(form)[[3, 17]].tolist() == [-1, -1]
        assert model.predict(form[[3, 17]]).tolist() == [-1, -1]
    message = "2 rows of 5 have a direction, fewer than n_clusters=3; the others are zero"
    with pytest.raises(ValueError, match=message):
        FrequencySensitiveKMeans(3, metric="cosine", update=update).fit(np.eye(5, 2))


@pytest.mark.filterwarnings("ignore:3 clusters were asked for")
def test_an_empty_cluster_restarts_or_keeps_its_center() -> None:
    X = np.concatenate([directions(40)[:, :2], [[0.1, 0.1]]])
    init = np.array([[1.0, 0.2], [0.2, 1.0], [-1.0, -1.0]])
    options: dict[str, Any] = {"metric": "cosine", "update": "none", "init": init}
    kept = FrequencySensitiveKMeans(3, restart_empty=False, **options).fit(X)
    assert kept.sizes_[2] == 0
    np.testing.assert_allclose(kept.cluster_centers_[2], [-(0.5**0.5)] * 2)
    assert FrequencySensitiveKMeans(3, **options).fit(X).sizes_.min() > 0


def test_opposite_rows_leave_the_center_where_it_was() -> None:
    X = np.array([[1.0, 0.0], [-1.0, 0.0]])
    model = FrequencySensitiveKMeans(1, metric="cosine", update="none", init=[[0.0, 1.0]]).fit(X)
    np.testing.assert_allclose(model.cluster_centers_, [[0.0, 1.0]])


@pytest.mark.parametrize("init", ["mean", "random", "k-means++"])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_starts(metric: Any, init: str) -> None:
    X = directions(100)
    one, other = (
        FrequencySensitiveKMeans(3, metric=metric, init=init, n_init=2, random_state=4).fit(X) for _ in range(2)
    )
    np.testing.assert_array_equal(one.cluster_centers_, other.cluster_centers_)
    assert one.sizes_.min() > 20


def test_bad_parameters() -> None:
    X = directions(20)
    with pytest.raises(ValueError, match='penalty="likelihood" is for metric="euclidean"'):
        FrequencySensitiveKMeans(2, metric="cosine", penalty="likelihood").fit(X)
    with pytest.raises(ValueError, match="Row 1 of init is zero and has no direction"):
        FrequencySensitiveKMeans(2, metric="cosine", init=np.eye(2, 8) * [[1], [0]]).fit(X)
    with pytest.raises(ValueError, match=r"init has the shape \(3, 8\), but 2 clusters"):
        FrequencySensitiveKMeans(2, init=X[:3]).fit(X)
    with pytest.raises(ValueError, match="'memory' parameter"):
        FrequencySensitiveKMeans(2, update="stream", memory=1.0).fit(X)
