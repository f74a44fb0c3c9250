"""Where the rows are drawn: views of a table as points in the box from -1 to 1."""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import coo_array, diags_array, issparse

from mustlink._drawn import two_columns
from mustlink._eigen import fix_signs
from mustlink._types import Array, Floats, Ints
from mustlink.errors import MustlinkError

__all__ = ["align_view", "fit_in_box", "has_umap", "learned_view", "pca_view", "spring_view", "umap_view"]

Points = NDArray[np.float32]

# Directions are computed from about so many numbers: from all rows of an ordinary table, from a sample of a huge one.
MAX_NUMBERS = 2 * 10**7
MIN_SAMPLED_ROWS = 5_000
# Wider tables, and sparse ones, are first reduced to so many principal components.
MAX_COLUMNS = 500
N_COMPONENTS = 50
# The within-group covariance is mixed with so much of the identity, at its scale.
SHRINKAGE = 0.2
# A row counts at most as if it were so many times as far from the center of its group as the median row.
MAX_OUTLYING = 2.0
# The centers of two groups are at least so many times as far apart as rows are from the center of their group, on
# average; like the shrinkage chosen by experiment, see learned_view.
MIN_GAP = 3.0
N_GAP_PASSES = 200
# With more groups there is no room for gaps.
MAX_SPREAD_GROUPS = 200
# With two groups one direction tells them apart; the other one is drawn at this fraction of its spread.
SECOND_SPREAD = 0.5
# Eigenvalues below this fraction of the largest are rounding errors.
RANK_TOLERANCE = 1e-9
# How often each row moves halfway to the mean of its neighbors before the spring layout begins.
N_SMOOTHING_PASSES = 10
GOLDEN_RATIO = 0.6180339887498949


def pca_view(X: Any) -> Points:
    """Return the rows in the plane of their first two principal components.

    A table that varies in one direction only is spread over a low band, whose height has no meaning.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_rows, n_features)
        The table.

    Returns
    -------
    ndarray of float32, shape (n_rows, 2)
        In the box from -1 to 1.
    """
    return fit_in_box(_spread_line(two_columns(_principal_components(X, 2))))


def learned_view(X: Any, labels: Ints, before: Array | None = None) -> Points:
    """Return the rows in the plane that shows best the groups which the links made.

    It is that of the first two linear discriminants of the groups: the directions in which the groups differ most,
    compared with how rows differ within groups. The within-group covariance is shrunk, so that few rows or many columns
    do no harm. Groups that lie on each other in this plane, as some of many do, are moved apart as a whole. With two
    groups there is one such direction, and the other is the principal component of what is left; with one group it is
    :func:`pca_view`.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_rows, n_features)
        The table.
    labels : ndarray of int, shape (n_rows,)
        The groups that a clusterer found with the links; rows of -1 are drawn and not used.
    before : array of shape (n_rows, 2), default=None
        The view before; the new one is turned and reflected so that points move little.

    Returns
    -------
    ndarray of float32, shape (n_rows, 2)
        In the box from -1 to 1.

    Notes
    -----
    Chosen among views by the weights of columns, by metric learners (RCA, DCA, ITML, MMC) and by the co-association of
    boosting, alone and beside the columns. After 20 to 60 links, .826 of a row's neighbors are of its class; with
    co-association it is .791, RCA .761, ITML and the weights of columns .751, and the principal components .723. After
    further links its rows move by .080 on average: half as far as with co-association (.157), the next best, and
    farther than with RCA (.026), ITML (.043) and the weights of columns (.038), which change the view little. It needs
    no more than the labels, so that it is there for every method.
    """
    points = _discriminants(X, labels)
    view = pca_view(X) if points is None else fit_in_box(_part_groups(points, labels))
    return view if before is None else align_view(view, before)


def align_view(view: Array, before: Array) -> Points:
    """Turn and reflect a view so that its points are as near as they can be to where they were (Procrustes).

    Parameters
    ----------
    view, before : array of shape (n_rows, 2)
        Two views of the same rows.

    Returns
    -------
    ndarray of float32, shape (n_rows, 2)
        In the box from -1 to 1.
    """
    points = np.asarray(view, dtype=np.float64) - np.mean(view, axis=0, dtype=np.float64)
    target = np.asarray(before, dtype=np.float64) - np.mean(before, axis=0, dtype=np.float64)
    left, _, right = np.linalg.svd(points.T @ target)
    return fit_in_box(points @ (left @ right))


def fit_in_box(points: Array) -> Points:
    """Move and scale points, both axes alike, so that they fill the box from -1 to 1."""
    points = np.asarray(points, dtype=np.float64)
    if not len(points):
        return np.zeros((0, 2), dtype=np.float32)
    low, high = points.min(axis=0), points.max(axis=0)
    half = float((high - low).max()) / 2
    boxed = (points - (low + high) / 2) / (half or 1.0)
    return np.clip(boxed, -1.0, 1.0).astype(np.float32)


def has_umap() -> bool:
    """Return whether UMAP is installed."""
    return find_spec("umap") is not None


def umap_view(X: Any, seed: int = 0) -> Points:
    """Return the rows in a UMAP embedding; needs the package umap-learn.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_rows, n_features)
        The table; wide ones are reduced to 50 principal components first.
    seed : int, default=0
        The seed; the same one gives the same view.

    Returns
    -------
    ndarray of float32, shape (n_rows, 2)
        In the box from -1 to 1.

    Raises
    ------
    ModuleNotFoundError
        If UMAP is not installed.
    """
    try:
        umap = importlib.import_module("umap")
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "The UMAP view needs UMAP, which is not installed; install it with: pip install umap-learn"
        ) from None
    if X.shape[0] < 4:
        # Its graph of neighbors needs more rows.
        return pca_view(X)
    rows = _principal_components(X, N_COMPONENTS) if _is_wide(X) else np.asarray(X)
    # One job, as it says that it does anyway with a seed.
    return fit_in_box(umap.UMAP(n_neighbors=min(15, X.shape[0] - 1), random_state=seed, n_jobs=1).fit_transform(rows))


def spring_view(positions: Array, edges: Ints) -> Points:
    """Return where a spring layout of rows with edges begins: near their neighbors.

    Each row moves halfway to the mean of its neighbors, ten times. Rows without edges stay where they are.

    Parameters
    ----------
    positions : array of shape (n_rows, 2)
        Another view, such as :func:`pca_view`.
    edges : ndarray of int, shape (n_edges, 2)
        Pairs of rows.

    Returns
    -------
    ndarray of float32, shape (n_rows, 2)
        In the box from -1 to 1.
    """
    points = np.asarray(positions, dtype=np.float64)
    n_rows, edges = len(points), np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    if edges.size and not 0 <= edges.min() <= edges.max() < n_rows:
        raise MustlinkError(f"Edges name rows from 0 to {n_rows - 1}, and one of these names {edges.max()}.")
    both = np.concatenate([edges, edges[:, ::-1]])
    graph = coo_array((np.ones(len(both)), (both[:, 0], both[:, 1])), shape=(n_rows, n_rows)).tocsr()
    degree = graph.sum(axis=1)
    joined = degree > 0
    average = diags_array(1.0 / np.maximum(degree, 1.0)) @ graph
    for _ in range(N_SMOOTHING_PASSES):
        points = np.where(joined[:, None], (points + average @ points) / 2, points)
    return fit_in_box(points)


def _is_wide(X: Any) -> bool:
    """Return whether a table is reduced before a view of it is computed."""
    return issparse(X) or X.shape[1] > MAX_COLUMNS


def _sample(X: Any) -> Any:
    """Return the rows that directions are computed from: all of an ordinary table, and always the same ones."""
    n_rows = max(MIN_SAMPLED_ROWS, MAX_NUMBERS // max(X.shape[1], 1))
    if X.shape[0] <= n_rows:
        return slice(None)
    return np.sort(np.random.default_rng(0).permutation(X.shape[0])[:n_rows])


def _principal_components(X: Any, n_components: int) -> Floats:
    """Return the first principal components of all rows, at least one; zeros if the rows are all equal."""
    from sklearn.decomposition import PCA

    n_components = min(n_components, *X.shape)
    if n_components < 1:
        return np.zeros((X.shape[0], 1))
    if issparse(X) and X.shape[1] <= max(n_components + 1, 3):
        X = X.toarray()
    rows = X[_sample(X)]
    if not _differs(rows):
        return np.zeros((X.shape[0], 1))
    solver = "arpack" if issparse(X) else "covariance_eigh" if X.shape[1] <= MAX_COLUMNS else "randomized"
    if solver == "arpack":
        n_components = min(n_components, min(rows.shape) - 1)
    pca = PCA(n_components, svd_solver=solver, random_state=0).fit(rows)
    return np.asarray(pca.transform(X), dtype=np.float64)


def _differs(rows: Any) -> bool:
    """Return whether rows differ by more than rounding errors."""
    if issparse(rows):
        mean = np.asarray(rows.mean(axis=0, dtype=np.float64)).ravel()
        square = float(rows.multiply(rows).mean(axis=0, dtype=np.float64).sum())
        return square - float(mean @ mean) > 1e-14 * square
    return bool((rows.var(axis=0, dtype=np.float64)).sum() > 1e-14 * np.square(rows.mean(axis=0)).sum())


def _spread_line(points: Floats) -> Floats:
    """Spread points that differ in one direction only over a band, evenly."""
    width, height = np.ptp(points, axis=0) if len(points) else (0.0, 0.0)
    if height > RANK_TOLERANCE * width or width == 0:
        return points
    band = (np.arange(len(points)) * GOLDEN_RATIO) % 1.0
    return np.column_stack([points[:, 0], width / 4 * band])


def _discriminants(X: Any, labels: Ints) -> Floats | None:
    """Return the rows along two linear discriminants of the groups; None without two groups that differ."""
    groups = np.unique(labels[labels >= 0])
    if len(groups) < 2 or X.shape[0] < 3:
        return None
    if _is_wide(X):
        X = _principal_components(X, N_COMPONENTS)
    chosen = _sample(X)
    rows, place = np.asarray(X[chosen], dtype=np.float64), np.searchsorted(groups, labels[chosen])
    used = labels[chosen] >= 0
    within, between = _scatter(rows[used], place[used], len(groups))
    scale = float(np.trace(within)) / len(within)
    if not scale > 0:
        # Every group is one point.
        scale = float(np.trace(between)) / len(between)
    if not scale > 0:
        return None
    shrunk = (1 - SHRINKAGE) * within + SHRINKAGE * scale * np.eye(len(within))
    n_directions = min(2, len(within))
    values, directions = eigh(between, shrunk, subset_by_index=(len(within) - n_directions, len(within) - 1))
    values, directions = values[::-1], fix_signs(directions[:, ::-1])
    if not values[0] > 0:
        return None
    if n_directions == 2 and values[1] > RANK_TOLERANCE * values[0]:
        return np.asarray(X @ directions)
    return _with_second(X, directions[:, 0], chosen)


def _part_groups(points: Floats, labels: Ints) -> Floats:
    """Move groups that lie on each other apart, each as a whole."""
    used = labels >= 0
    groups, place = np.unique(labels[used], return_inverse=True)
    if len(groups) > MAX_SPREAD_GROUPS:
        return points
    sizes = np.bincount(place).astype(np.float64)
    sums = [np.bincount(place, weights=column) for column in points[used].T]
    centers = np.column_stack(sums) / sizes[:, None]
    radius = float(np.sqrt(np.square(points[used] - centers[place]).sum(axis=1).mean()))
    moved = points.copy()
    moved[used] += (_spread_centers(centers, MIN_GAP * radius) - centers)[place]
    return moved


def _spread_centers(centers: Floats, gap: float) -> Floats:
    """Move centers that are nearer to each other than a gap apart, a little in each of several passes."""
    turn = 2 * np.pi * GOLDEN_RATIO * np.arange(len(centers))
    # Centers at one place need a direction to go.
    centers = centers + 1e-6 * gap * np.column_stack([np.cos(turn), np.sin(turn)])
    for _ in range(N_GAP_PASSES):
        difference = centers[:, None] - centers[None]
        distance = np.sqrt(np.square(difference).sum(axis=2))
        np.fill_diagonal(distance, np.inf)
        missing = np.maximum(gap - distance, 0.0)
        if not missing.max(initial=0.0) > 1e-3 * gap:
            break
        push = np.divide(missing, distance, out=np.zeros_like(missing), where=missing > 0)
        centers = centers + (difference * push[:, :, None]).sum(axis=1) / 4
    return centers


def _scatter(rows: Floats, place: Ints, n_groups: int) -> tuple[Floats, Floats]:
    """Return the covariance within groups and that of their means, both per row.

    A row far from its group, such as one that a person put there, counts as if it were a few times as far as others.
    """
    sizes = np.bincount(place, minlength=n_groups).astype(np.float64)
    members = coo_array((np.ones(len(place)), (place, np.arange(len(place)))), shape=(n_groups, len(place))).tocsr()
    means = np.asarray(members @ rows) / np.maximum(sizes, 1.0)[:, None]
    inside = rows - means[place]
    distance = np.sqrt(np.square(inside).sum(axis=1))
    farthest = MAX_OUTLYING * float(np.median(distance))
    if farthest > 0:
        inside *= np.minimum(1.0, farthest / np.maximum(distance, farthest))[:, None]
    apart = (means - rows.mean(axis=0)) * np.sqrt(sizes)[:, None]
    return inside.T @ inside / len(rows), apart.T @ apart / len(rows)


def _with_second(X: Any, direction: Floats, chosen: Any) -> Floats:
    """Return the rows along a direction, and along the principal component of what is left without it."""
    unit = direction / np.linalg.norm(direction)
    first = np.asarray(X @ unit)
    rest = np.asarray(X[chosen], dtype=np.float64)
    rest = rest - rest.mean(axis=0)
    rest = rest - np.outer(rest @ unit, unit)
    values, vectors = eigh(rest.T @ rest, subset_by_index=(rest.shape[1] - 1, rest.shape[1] - 1))
    spread = float(first.std())
    vector = fix_signs(vectors)[:, 0]
    second = np.asarray(X @ (vector - (vector @ unit) * unit))
    if not values[0] > RANK_TOLERANCE * spread**2 * len(rest) or not second.std() > 0:
        return _spread_line(np.column_stack([first, np.zeros_like(first)]))
    return np.column_stack([first / spread, SECOND_SPREAD * second / second.std()])
