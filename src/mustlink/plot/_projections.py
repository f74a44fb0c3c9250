"""The rows in the representations of the rounds of BoostCluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.decomposition import PCA, TruncatedSVD

from mustlink._drawn import two_columns
from mustlink._plot_style import COLORS, DARK, GRAY, MARKERS, pyplot
from mustlink.base import as_constraints

__all__ = ["draw_points", "principal_view", "projections"]

WIDTH, HEIGHT, MAX_COLUMNS = 3.3, 3.1, 4


def projections(
    model: Any,
    X: Any,
    links: Any = None,
    *,
    rounds: Sequence[int] | None = None,
    labels: ArrayLike | None = None,
    axes: Any = None,
) -> Any:
    """Draw the data in the representations of chosen rounds, with the links (Figure 1 of the paper).

    Parameters
    ----------
    model : RobustBoostCluster or BoostCluster
        A fitted model.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The table it was fitted on.
    links : Constraints or AlignedConstraints, default=None
        The links to draw: must-links as solid lines, cannot-links dashed.
    rounds : sequence of int, default=None
        Which rounds, the first being 1; only rounds that were used. None is the first two and the last of them.
    labels : array-like of shape (n_samples,), default=None
        What the points are colored by; None is the clusters found.
    axes : sequence of matplotlib Axes, default=None
        Where to draw: one for the table itself and one for each round; None makes a new figure.

    Returns
    -------
    ndarray of matplotlib Axes
        The first shows the first two principal components, the others the first two directions of the rounds.

    See Also
    --------
    history : The objective after each round.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from mustlink import Constraints, plot
    >>> from mustlink.boosting import BoostCluster
    >>> from mustlink.datasets import load
    >>> X, y = load("wine", return_X_y=True)
    >>> links = Constraints.sample(y, n_pairs=60, random_state=0)
    >>> model = BoostCluster(n_clusters=3, n_rounds=5, random_state=0).fit(X, constraints=links)
    >>> axes = plot.projections(model, X, links, rounds=(1, 2))
    >>> [ax.get_title() for ax in axes]
    ['the table', 'round 1', 'round 2']
    >>> matplotlib.pyplot.close(axes[0].figure)
    """
    chosen = _choose_rounds(model, rounds)
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    given = None if links is None else as_constraints(links, n_rows)
    groups = np.asarray(model.labels_ if labels is None else labels)
    if len(groups) != n_rows:
        whose = "the model was fitted on" if labels is None else "labels has"
        raise ValueError(
            f"X has {n_rows} rows, but {whose} {len(groups)}; pass the table of the fit, or the labels of these rows."
        )
    plt = pyplot()
    if axes is None:
        axes = _new_axes(plt, 1 + len(chosen))
    views = [principal_view(X), *(two_columns(model.represent(X, number)) for number in chosen)]
    titles = ["the table", *(f"round {number}" for number in chosen)]
    for ax, points, title in zip(axes, views, titles, strict=True):
        _draw_links(ax, points, given)
        draw_points(ax, points, groups)
        ax.set_title(title, fontsize=10)
        ax.set_xticks([])
        ax.set_yticks([])
    return axes


def _choose_rounds(model: Any, rounds: Sequence[int] | None) -> list[int]:
    """Return the numbers of the rounds to draw."""
    if not hasattr(model, "history_") or not hasattr(model, "is_plain_"):
        raise TypeError(
            f"plot.projections needs a fitted RobustBoostCluster or BoostCluster, and this is a {type(model).__name__}."
        )
    if model.is_plain_:
        raise ValueError("This model used no round (is_plain_ is True): its result is that of the estimator alone.")
    counted = [number for number, entry in enumerate(model.history_, start=1) if entry["counted"]]
    if rounds is None:
        return list(dict.fromkeys([*counted[:2], *counted[-1:]]))
    for number in rounds:
        if number not in counted:
            reason = "was not used" if 1 <= number <= len(model.history_) else "does not exist"
            raise ValueError(f"Round {number} {reason}; the rounds that were used are {', '.join(map(str, counted))}.")
    return list(rounds)


def principal_view(X: Any) -> NDArray[Any]:
    """Return the first two principal components."""
    if issparse(X):
        return two_columns(TruncatedSVD(n_components=min(2, X.shape[1]), random_state=0).fit_transform(X))
    X = np.asarray(X)
    return two_columns(PCA(n_components=min(2, *X.shape), random_state=0).fit_transform(X))


def _new_axes(plt: Any, count: int) -> NDArray[Any]:
    """Make as many axes as are wanted, side by side."""
    n_columns = min(count, MAX_COLUMNS)
    n_rows = -(-count // n_columns)
    _, grid = plt.subplots(
        n_rows, n_columns, figsize=(WIDTH * n_columns, HEIGHT * n_rows), squeeze=False, layout="constrained"
    )
    for ax in grid.flat[count:]:
        ax.set_visible(False)
    axes: NDArray[Any] = grid.ravel()[:count]
    return axes


def draw_points(ax: Any, points: NDArray[Any], groups: NDArray[Any]) -> None:
    """Draw the points with a color and a marker for each group; noise is gray."""
    names = np.unique(groups)
    for place, name in enumerate(names):
        is_noise = groups.dtype.kind in "iu" and name == -1
        ax.scatter(
            *points[groups == name].T,
            s=14,
            color=GRAY if is_noise else COLORS[place % len(COLORS)],
            marker="." if is_noise else MARKERS[(place + place // len(COLORS)) % len(MARKERS)],
            alpha=0.7,
            linewidths=0,
            label="noise" if is_noise else str(name),
        )


def _draw_links(ax: Any, points: NDArray[Any], links: Any) -> None:
    """Draw must-links solid and cannot-links dashed, below the points."""
    if links is None:
        return
    from matplotlib.collections import LineCollection

    for pairs, style, name in ((links.must_link, "solid", "must-link"), (links.cannot_link, "dashed", "cannot-link")):
        ax.add_collection(
            LineCollection(
                points[pairs], linestyles=style, colors=DARK, linewidths=0.6, alpha=0.6, zorder=0.5, label=name
            )
        )
