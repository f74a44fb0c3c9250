"""The co-association from codes against the dense matrix."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mustlink.boosting import CoAssociation
from mustlink.boosting import _coassociation as module
from mustlink.errors import TooLargeError
from reference.boostcluster import dense_coassociation, graph_components, kernel_distances, kernel_kmeans


@st.composite
def coded(draw: st.DrawFn, noise: bool = True, most_rows: int = 14) -> tuple[np.ndarray, np.ndarray]:
    n, rounds = draw(st.integers(2, most_rows)), draw(st.integers(1, 5))
    rng = np.random.RandomState(draw(st.integers(0, 2**32 - 1)))
    codes = rng.randint(-1 if noise else 0, draw(st.integers(1, 5)), size=(n, rounds))
    return codes, rng.uniform(0.1, 2, rounds).round(3)


@given(coded())
@settings(deadline=None, max_examples=60)
def test_kernel_values_and_products_equal_the_dense_matrix(case: tuple[np.ndarray, np.ndarray]) -> None:
    codes, weights = case
    dense = dense_coassociation(codes, weights)
    kernel = CoAssociation(codes, weights)
    pairs = np.argwhere(np.ones_like(dense))
    np.testing.assert_allclose(kernel.at(pairs), dense.ravel(), atol=1e-12)
    np.testing.assert_allclose(kernel.toarray(), dense, atol=1e-12)
    vectors = np.random.RandomState(0).standard_normal((len(codes), 3))
    np.testing.assert_allclose(kernel.matvec(vectors), dense @ vectors, atol=1e-12)
    np.testing.assert_allclose(kernel.matvec(vectors[:, 0]), dense @ vectors[:, 0], atol=1e-12)


@given(coded())
@settings(deadline=None, max_examples=60)
def test_eigenpairs_are_those_of_the_dense_matrix(case: tuple[np.ndarray, np.ndarray]) -> None:
    codes, weights = case
    dense = dense_coassociation(codes, weights)
    kernel = CoAssociation(codes, weights)
    values, vectors = kernel.eigenvectors(3)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(dense)[::-1][: len(values)], atol=1e-9)
    np.testing.assert_allclose(dense @ vectors, vectors * values, atol=1e-9)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(len(values)), atol=1e-9)
    whole = kernel.embed()
    np.testing.assert_allclose(whole @ whole.T, dense, atol=1e-9)


@pytest.mark.parametrize("noise", [False, True])
def test_lanczos_and_the_small_matrix_agree_with_the_dense_matrix(noise: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.RandomState(0)
    codes = rng.randint(-1 if noise else 0, 6, size=(80, 7))
    weights = rng.uniform(0.5, 1.5, 7)
    dense_values = np.linalg.eigvalsh(dense_coassociation(codes, weights))[::-1][:4]
    monkeypatch.setattr(module, "MAX_DENSE_ROWS", 20)
    monkeypatch.setattr(module, "MAX_DENSE_COLUMNS", 5)
    by_products = CoAssociation(codes, weights).eigenvectors(4)
    monkeypatch.undo()
    direct = CoAssociation(codes, weights).eigenvectors(4)
    np.testing.assert_allclose(by_products[0], dense_values, atol=1e-9)
    np.testing.assert_allclose(direct[0], dense_values, atol=1e-9)
    np.testing.assert_allclose(by_products[1], direct[1], atol=1e-7)


@given(coded(noise=False))
@settings(deadline=None, max_examples=40)
def test_known_points_are_embedded_where_they_were(case: tuple[np.ndarray, np.ndarray]) -> None:
    codes, weights = case
    kernel = CoAssociation(codes + 3, weights)
    np.testing.assert_allclose(kernel.transform(codes + 3), kernel.embed(), atol=1e-9)
    np.testing.assert_allclose(kernel.transform(codes[:1] + 3, 1), kernel.embed(1)[:1], atol=1e-9)


def test_a_label_no_round_has_seen_is_noise() -> None:
    kernel = CoAssociation([[0, 5], [0, 9]])
    assert kernel.encode([[0, 9], [7, 6]]).tolist() == [[0, 1], [-1, -1]]
    np.testing.assert_allclose(kernel.transform([[7, 6]]), 0)


@given(coded(), st.integers(1, 4), st.integers(0, 1000))
@settings(deadline=None, max_examples=100)
def test_kmeans_on_codes_is_kernel_kmeans(case: tuple[np.ndarray, np.ndarray], n_clusters: int, seed: int) -> None:
    codes, weights = case
    rng = np.random.RandomState(seed)
    # Awkward point weights, because ties between clusters are broken by rounding and so have no right answer.
    point_weight = rng.uniform(0.5, 2, len(codes))
    start = rng.randint(0, n_clusters, len(codes))
    start[:n_clusters] = np.arange(n_clusters)[: len(start)]
    dense = dense_coassociation(codes, weights)
    n_clusters = min(n_clusters, len(codes))
    labels, objective = CoAssociation(codes, weights).kmeans(n_clusters, start, sample_weight=point_weight)
    expected, expected_objective = kernel_kmeans(dense, start, n_clusters, point_weight)
    if len(np.unique(expected)) == n_clusters:
        assert labels.tolist() == expected.tolist()
        assert objective == pytest.approx(expected_objective, abs=1e-9)
    distances = kernel_distances(dense, labels, n_clusters, point_weight)
    own = distances[np.arange(len(labels)), labels]
    assert objective == pytest.approx((point_weight * own).sum(), abs=1e-9)
    assert (own <= distances.min(axis=1) + 1e-9).all()


def test_equal_codes_collapse_to_the_same_result() -> None:
    rng = np.random.RandomState(1)
    few = rng.randint(0, 3, size=(12, 6))
    codes = few[rng.randint(0, 12, 400)]
    weights = rng.uniform(0.5, 1.5, 6)
    start = rng.randint(0, 3, 400)
    labels, objective = CoAssociation(codes, weights).kmeans(3, start)
    expected, expected_objective = kernel_kmeans(dense_coassociation(codes, weights), start, 3, np.ones(400))
    assert labels.tolist() == expected.tolist()
    assert objective == pytest.approx(expected_objective)


def test_the_best_of_several_starts_wins() -> None:
    rng = np.random.RandomState(2)
    kernel = CoAssociation(rng.randint(0, 4, size=(60, 5)))
    starts = [rng.randint(0, 4, 60) for _ in range(6)]
    alone = [kernel.kmeans(4, start)[1] for start in starts]
    assert kernel.kmeans(4, starts)[1] == pytest.approx(min(alone))
    assert min(alone) < max(alone)


@pytest.mark.parametrize("start", [np.zeros(30, dtype=int), np.arange(30), np.full(30, -1), np.repeat([-1, 0, 5], 10)])
def test_starts_with_too_few_or_too_many_clusters_end_with_all_clusters_in_use(start: np.ndarray) -> None:
    codes = np.random.RandomState(3).randint(0, 5, size=(30, 4))
    labels, _ = CoAssociation(codes).kmeans(3, start)
    assert np.unique(labels).tolist() == [0, 1, 2]


def test_fewer_distinct_codes_than_clusters_leave_clusters_empty() -> None:
    labels, objective = CoAssociation([[0], [0], [1], [1]]).kmeans(3, [0, 1, 2, 0])
    assert labels[0] == labels[1] != labels[2] == labels[3]
    assert objective == pytest.approx(0, abs=1e-12)


@given(coded(), st.floats(-0.5, 4))
@settings(deadline=None, max_examples=100)
def test_components_are_those_of_the_dense_graph(case: tuple[np.ndarray, np.ndarray], threshold: float) -> None:
    codes, weights = case
    threshold += 0.00047  # between the sums of the weights, which have three digits
    dense = dense_coassociation(codes, weights)
    expected = graph_components(dense > threshold)
    assert CoAssociation(codes, weights).components(threshold).tolist() == expected.tolist()


@given(coded())
@settings(deadline=None, max_examples=40)
def test_distinct_codes_rebuild_the_table(case: tuple[np.ndarray, np.ndarray]) -> None:
    kernel = CoAssociation(*case)
    codes, inverse, counts = kernel.distinct()
    assert (codes[inverse] == kernel.codes).all()
    assert len(np.unique(codes, axis=0)) == len(codes)
    assert counts.tolist() == np.bincount(inverse).tolist()


@pytest.mark.parametrize(("n_labels", "dtype"), [(2, np.int8), (128, np.int8), (129, np.int16), (40_000, np.int32)])
def test_codes_take_the_smallest_integers(n_labels: int, dtype: type) -> None:
    kernel = CoAssociation(np.arange(n_labels)[:, None])
    assert kernel.codes.dtype == dtype
    assert kernel.codes[:, 0].tolist() == list(range(n_labels))


def test_any_numbering_will_do_and_a_copy_survives_pickling() -> None:
    plain = CoAssociation([[0, 0], [1, 0], [-1, 1]], [1.0, 2.0])
    odd = CoAssociation.from_labels([[-9, 10**12, -1], np.array([4, 4, 7], dtype=np.uint8)], [1.0, 2.0])
    assert plain.codes.tolist() == odd.codes.tolist()
    assert (pickle.loads(pickle.dumps(odd)).toarray() == plain.toarray()).all()


def test_nothing_quadratic_is_built_for_many_points() -> None:
    codes = np.random.RandomState(0).randint(0, 4, size=(60_000, 57))
    kernel = CoAssociation(codes)
    with pytest.raises(TooLargeError, match="60,000 x 60,000 numbers"):
        kernel.toarray()
    values, vectors = kernel.eigenvectors(2)
    np.testing.assert_allclose(kernel.matvec(vectors), vectors * values, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("codes", "weights", "message"),
    [
        ([0, 1], None, "one column per round"),
        ([[0.5, 1.0]], None, "integers"),
        ([[0, 1]], [1.0], "2 finite numbers"),
        ([[0]], [-1.0], "negative"),
        ([[0]], [np.nan], "finite"),
    ],
)
def test_bad_codes_are_refused(codes: list, weights: list | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CoAssociation(codes, weights)


def test_bad_arguments_are_refused() -> None:
    kernel = CoAssociation([[0], [1], [1]])
    with pytest.raises(ValueError, match="between 1 and the 3 rows"):
        kernel.kmeans(4, [0, 0, 0])
    with pytest.raises(ValueError, match="one label per row"):
        kernel.kmeans(2, [0, 0])
    with pytest.raises(ValueError, match="at least one start"):
        kernel.kmeans(2, [])
    with pytest.raises(ValueError, match="sample_weight"):
        kernel.kmeans(2, [0, 1, 1], sample_weight=[1.0])
    with pytest.raises(ValueError, match="n_components"):
        kernel.eigenvectors(0)
    with pytest.raises(ValueError, match="1 columns"):
        kernel.encode([[0, 1]])
    with pytest.raises(ValueError, match="At least one"):
        CoAssociation.from_labels([])
    with pytest.raises(ValueError, match="round 1"):
        CoAssociation.from_labels([[0, 1], [0]])


@pytest.mark.parametrize("by_lanczos", [False, True])
@pytest.mark.parametrize("noise", [False, True])
def test_principal_components_equal_those_of_the_full_matrix(by_lanczos, noise, monkeypatch):
    rng = np.random.default_rng(3)
    codes = rng.integers(-1 if noise else 0, 4, size=(40, 6))
    kernel = CoAssociation(codes, rng.random(6))
    if by_lanczos:
        monkeypatch.setattr(module, "MAX_DENSE_COLUMNS", 5)
    points, explained = kernel.principal_components(3)
    # Without the entries that a row of noise has with itself alone.
    centered = np.eye(40) - 1 / 40
    values, vectors = np.linalg.eigh(centered @ (kernel.toarray() - np.diag(kernel.noise_weight)) @ centered)
    values, vectors = values[::-1], vectors[:, ::-1]
    np.testing.assert_allclose(explained, values[:3] / values.sum())
    np.testing.assert_allclose(np.abs(points), np.abs(vectors[:, :3]) * np.sqrt(values[:3]), atol=1e-7)


def test_equal_rows_have_no_principal_component():
    points, explained = CoAssociation([[0, 1]] * 4).principal_components()
    assert points.shape == (4, 0)
    assert explained.shape == (0,)
    with pytest.raises(ValueError, match="n_components must be at least 1"):
        CoAssociation([[0], [1]]).principal_components(0)
