"""Views: in the box, fast, sound for odd tables, and the learned one shows what the links say."""

from __future__ import annotations

import sys
import time
import types
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from mustlink import Constraints, PCKMeans
from mustlink.datasets import load
from mustlink.errors import MustlinkError
from mustlink.studio import _views
from mustlink.studio._views import align_view, fit_in_box, learned_view, pca_view, spring_view, umap_view


def blobs(n_rows: int, n_columns: int, n_groups: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, n_groups, n_rows)
    return rng.normal(size=(n_rows, n_columns)) + 6 * rng.normal(size=(n_groups, n_columns))[labels], labels


def is_in_box(view: Any, n_rows: int) -> bool:
    return view.dtype == np.float32 and view.shape == (n_rows, 2) and bool((np.abs(view) <= 1).all())


def purity(view: Any, classes: Any, rows: Any, n_neighbors: int = 10) -> float:
    """The fraction of the nearest neighbors of some rows that are of their class."""
    distance = np.square(view[rows][:, None] - view[None]).sum(axis=2)
    distance[np.arange(len(rows)), rows] = np.inf
    nearest = np.argsort(distance, axis=1, kind="stable")[:, :n_neighbors]
    return float((classes[nearest] == classes[rows][:, None]).mean())


def test_the_principal_view_has_the_shape_of_the_principal_components() -> None:
    X, _ = blobs(300, 6, 3)
    expected = PCA(2).fit_transform(X)
    view = pca_view(X)
    assert is_in_box(view, 300)
    assert np.abs(view).max() == pytest.approx(1)
    # Equal up to place, size and reflection.
    for axis in range(2):
        assert abs(np.corrcoef(view[:, axis], expected[:, axis])[0, 1]) == pytest.approx(1, abs=1e-5)
    assert np.ptp(view[:, 1]) / np.ptp(view[:, 0]) == pytest.approx(
        np.ptp(expected[:, 1]) / np.ptp(expected[:, 0]), rel=1e-4
    )


def test_sparse_and_wide_tables_have_the_same_view_as_dense_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    X, labels = blobs(200, 8, 3)
    for other in (pca_view(sparse.csr_array(X)), learned_view(sparse.csr_array(X), labels)):
        assert is_in_box(other, 200)
    same = align_view(pca_view(sparse.csr_array(X)), pca_view(X))
    assert np.abs(same - align_view(pca_view(X), pca_view(X))).max() < 1e-3
    monkeypatch.setattr(_views, "MAX_COLUMNS", 4)
    assert np.abs(align_view(pca_view(X), same) - same).max() < 1e-3


@pytest.mark.parametrize(
    "X",
    [
        np.zeros((5, 3)),
        np.ones((1, 3)),
        np.array([[0.0, 1.0], [2.0, 3.0]]),
        np.arange(6.0)[:, None],
        np.column_stack([np.arange(6.0), np.zeros(6)]),
        np.zeros((0, 3)),
        np.full((4, 2), 1e8) + np.eye(4, 2),
    ],
    ids=["equal", "one row", "two rows", "one column", "a line", "empty", "far away"],
)
def test_views_of_degenerate_tables(X: Any) -> None:
    for convert in (np.asarray, sparse.csr_array):
        assert is_in_box(pca_view(convert(X)), len(X))
        for labels in (np.zeros(len(X), dtype=int), np.arange(len(X)) % 2, np.full(len(X), -1)):
            view = learned_view(convert(X), labels)
            assert is_in_box(view, len(X))
            assert np.isfinite(view).all()


def test_a_line_is_spread_over_a_low_band() -> None:
    view = pca_view(np.arange(50.0)[:, None])
    assert len(np.unique(view[:, 1])) == 50
    assert np.ptp(view[:, 1]) < 0.6
    assert np.abs(np.diff(view[:, 0]) - 2 / 49).max() < 1e-6


def test_the_learned_view_shows_the_columns_that_tell_the_groups_apart() -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(300) % 3
    X = np.column_stack([rng.normal(size=(300, 2)) + 4 * np.eye(3, 2)[labels], 20 * rng.normal(size=(300, 3))])
    rows = np.arange(300)
    assert purity(pca_view(X), labels, rows) < 0.6
    assert purity(learned_view(X, labels), labels, rows) > 0.9


def test_the_learned_view_is_that_of_the_linear_discriminants(monkeypatch: pytest.MonkeyPatch) -> None:
    X, labels = blobs(400, 5, 3)
    monkeypatch.setattr(_views, "SHRINKAGE", 0.0)
    monkeypatch.setattr(_views, "MAX_OUTLYING", 1e9)
    view = learned_view(X, labels)
    expected = LinearDiscriminantAnalysis(solver="eigen").fit(X, labels).transform(X)
    for axis in range(2):
        assert abs(np.corrcoef(view[:, axis], expected[:, axis])[0, 1]) == pytest.approx(1, abs=1e-4)


def test_many_groups_do_not_lie_on_each_other() -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(10), 40)
    X = rng.normal(size=(400, 10)) + 6 * np.eye(10)[labels]
    view = learned_view(X, labels)
    centers = np.array([view[labels == group].mean(axis=0) for group in range(10)])
    radius = np.sqrt(np.square(view - centers[labels]).sum(axis=1).mean())
    distance = np.sqrt(np.square(centers[:, None] - centers[None]).sum(axis=2)) + 10 * np.eye(10)
    assert distance.min() > 0.95 * _views.MIN_GAP * radius


@pytest.mark.parametrize("name", ["iris", "wine"])
def test_links_improve_the_view_of_rows_without_links(name: str) -> None:
    X, classes = load(name, return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    links = Constraints.sample(classes, n_pairs=60, random_state=1)
    model = PCKMeans(3, random_state=0).fit(X, constraints=links)
    rows = np.setdiff1d(np.arange(len(X)), links.constrained_rows())
    assert purity(learned_view(X, model.labels_), classes, rows) > purity(pca_view(X), classes, rows)


def test_alignment_undoes_turns_reflections_and_shifts() -> None:
    rng = np.random.default_rng(3)
    before = fit_in_box(rng.normal(size=(100, 2)))
    angle = 2.1
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    turned = before @ turn * [1, -1] + 7
    assert np.abs(align_view(turned, before) - before).max() < 1e-5
    X, labels = blobs(200, 4, 3)
    view = learned_view(X, labels)
    mirrored = -view[:, ::-1]
    assert np.abs(learned_view(X, labels, mirrored) - align_view(mirrored, mirrored)).max() < 1e-5


def test_one_moved_row_moves_the_view_little() -> None:
    X, labels = blobs(300, 6, 4)
    before = learned_view(X, labels)
    other = labels.copy()
    other[np.flatnonzero(labels == 0)[0]] = 1
    assert np.linalg.norm(learned_view(X, other, before) - align_view(before, before), axis=1).mean() < 0.05


def test_neighbors_are_near_at_the_start_of_the_spring_layout() -> None:
    rng = np.random.default_rng(0)
    positions = fit_in_box(rng.normal(size=(60, 2)))
    groups = np.arange(60) % 3
    groups[-6:] = -1
    i, j = np.triu_indices(60, 1)
    edges = np.column_stack([i, j])[(groups[i] == groups[j]) & (groups[i] >= 0)]
    view = spring_view(positions, edges)
    assert is_in_box(view, 60)
    inside = [np.ptp(view[groups == group], axis=0).max() for group in range(3)]
    assert max(inside) < 0.1 * np.ptp(view, axis=0).max()
    assert np.array_equal(spring_view(positions, np.zeros((0, 2), dtype=int)), fit_in_box(positions))
    with pytest.raises(MustlinkError, match="rows from 0 to 59"):
        spring_view(positions, np.array([[0, 60]]))


def test_umap_is_used_if_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(ModuleNotFoundError, match="pip install umap-learn"):
        umap_view(np.eye(5))
    given = {}

    class UMAP:
        def __init__(self, **options: Any) -> None:
            given.update(options)

        def fit_transform(self, X: Any) -> Any:
            return np.asarray(X)[:, :2] * 100

    module = types.ModuleType("umap")
    module.UMAP = UMAP  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "umap", module)
    assert is_in_box(umap_view(np.random.default_rng(0).normal(size=(9, 3))), 9)
    assert given == {"n_neighbors": 8, "random_state": 0, "n_jobs": 1}


def test_views_of_100_000_rows_are_quick() -> None:
    # Each takes about a tenth of a second; the limit leaves room for a busy machine.
    X, labels = blobs(100_000, 20, 5)
    start = time.perf_counter()
    learned_view(X, labels, pca_view(X))
    assert time.perf_counter() - start < 3
