"""The rows of a clustering in the plane, with the links."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mustlink._drawn import choose_links, choose_rows, learned_view, links_to_draw
from mustlink._plot_style import DARK, pyplot
from mustlink.base import as_constraints
from mustlink.plot._projections import draw_points, principal_view

__all__ = ["clusters"]

# More clusters are named at their places instead of in a legend; more than the second number are not named.
MAX_LEGEND, MAX_NAMED = 10, 40
KINDS = (("must-link", "solid"), ("cannot-link", "dashed"))


def clusters(
    X: Any,
    labels: ArrayLike | None = None,
    *,
    links: Any = None,
    model: Any = None,
    random_state: Any = 0,
    ax: Any = None,
) -> Any:
    """Draw the rows of a clustering in the plane, with the links.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The data.
    labels : array-like of shape (n_samples,), default=None
        The cluster of every row, -1 for noise; None is the ``labels_`` of the model.
    links : Constraints or AlignedConstraints, default=None
        The links to draw: must-links as solid lines, cannot-links dashed. Those that the labels break are thicker,
        with rings at their ends.
    model : estimator, default=None
        A fitted clusterer. If it is boosted (it has ``coassociation_``), its view of the rows is drawn: close are
        those that its rounds put together. For None, other clusterers, and a model whose result is that of its
        estimator alone (``is_plain_``), these are the first two principal components of X.
    random_state : int, RandomState or None, default=0
        Samples 5,000 rows and 1,500 links if there are more; the rows of the drawn links are among them, and broken
        links come first.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib Axes
        Every cluster has a color and a marker. Up to 10 clusters are named in a legend, more at the median of their
        rows. In the view of a model, rows at about the same place are spread over a small disk.

    See Also
    --------
    projections : The rows in the representations of single rounds.
    columns : What each column counts.

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
    >>> ax = plot.clusters(X, links=links, model=model)
    >>> ax.get_title()
    'the view that BoostCluster learned'
    >>> matplotlib.pyplot.close(ax.figure)
    """
    found = _labels(labels, model)
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if found.shape != (n_rows,):
        raise ValueError(
            f"One label per row is expected: X has {n_rows} rows, the labels have the shape {found.shape}."
        )
    given = as_constraints(links, n_rows)
    plt = pyplot()
    if ax is None:
        _, ax = plt.subplots(figsize=(6.4, 4.8), layout="constrained")
    n_links, given = len(given), links_to_draw(given, found)
    kept = given.satisfied(found)
    rng = np.random.default_rng(_seed(random_state))
    chosen = choose_links(kept, rng)
    rows = choose_rows(found, np.unique(given.pairs[chosen]), rng)
    points, titles = _view(X, model, rows)
    pairs = np.searchsorted(rows, given.pairs[chosen]).reshape(-1, 2)
    _draw_links(ax, points, pairs, given.sign[chosen] > 0, kept[chosen])
    draw_points(ax, points, found[rows])
    _name_clusters(ax, points, found[rows])
    left_out = [
        f"{len(drawn):,} of {total:,} {what} drawn"
        for drawn, total, what in ((rows, n_rows, "rows"), (chosen, n_links, "links"))
        if len(drawn) < total
    ]
    ax.set(xlabel="\n".join([titles[1], *left_out]), ylabel=titles[2], xticks=[], yticks=[])
    ax.set_title(titles[0], fontsize=10)
    return ax


def _labels(labels: ArrayLike | None, model: Any) -> NDArray[Any]:
    """Return the labels that are given, or those of the model."""
    if model is not None and not hasattr(model, "labels_"):
        raise TypeError(
            f"plot.clusters needs a fitted clusterer as model, and this {type(model).__name__} has no labels_; fit it "
            "first. RobustBoostCluster, BoostCluster, BoostBaseClustering and BoostedConstrainedKMeans have a view of "
            "their own; others are drawn by principal components."
        )
    if model is None and labels is None:
        raise ValueError("plot.clusters needs labels, or a fitted model that has them; give labels or model.")
    return np.asarray(model.labels_ if labels is None else labels)


def _seed(random_state: Any) -> Any:
    """Return what a numpy Generator takes as a seed."""
    return random_state.randint(2**31) if isinstance(random_state, np.random.RandomState) else random_state


def _view(X: Any, model: Any, rows: NDArray[np.intp]) -> tuple[NDArray[Any], tuple[str, str, str]]:
    """Return where the rows are in the plane, and the words for the view and its two axes."""
    if not hasattr(model, "coassociation_") or getattr(model, "is_plain_", False):
        names = ("principal components", "first principal component", "second principal component")
        return principal_view(X)[rows], names
    kernel = model.coassociation_
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if kernel.n_samples != n_rows:
        raise ValueError(
            f"X has {n_rows} rows, but the model was fitted on {kernel.n_samples}; pass the rows of the fit."
        )
    points, explained = learned_view(model, rows)
    shares = [f" ({share:.0%} of the variance)" for share in explained] + ["", ""]
    title = f"the view that {type(model).__name__} learned"
    return points, (title, f"first direction{shares[0]}", f"second direction{shares[1]}")


def _draw_links(
    ax: Any, points: NDArray[Any], pairs: NDArray[Any], is_must: NDArray[np.bool_], is_kept: NDArray[np.bool_]
) -> None:
    """Draw kept links below the points, and broken ones above them with rings at their ends."""
    from matplotlib.collections import LineCollection
    from matplotlib.patheffects import Normal, Stroke

    for (name, style), of_kind in zip(KINDS, (is_must, ~is_must), strict=True):
        for broken in (False, True):
            some = of_kind & (is_kept != broken)
            if not some.any():
                continue
            lines = LineCollection(
                points[pairs[some]],
                linestyles=style,
                colors=DARK,
                linewidths=1.8 if broken else 0.6,
                alpha=1.0 if broken else 0.5,
                zorder=3 if broken else 0.5,
                label=f"broken {name}" if broken else name,
            )
            if broken:
                lines.set_path_effects([Stroke(linewidth=3.6, foreground="white"), Normal()])
                ends = points[np.unique(pairs[some])]
                ax.scatter(*ends.T, s=60, facecolors="none", edgecolors=DARK, linewidths=1.4, zorder=3.5)
            ax.add_collection(lines)


def _name_clusters(ax: Any, points: NDArray[Any], labels: NDArray[Any]) -> None:
    """Name the clusters in a legend, or at their places if they are many; the links are in the legend."""
    from matplotlib.patheffects import withStroke

    names = np.unique(labels)
    entries = [
        (handle, word if word == "noise" or word.endswith("-link") else f"cluster {word}")
        for handle, word in zip(*ax.get_legend_handles_labels(), strict=True)
    ]
    if len(names) > MAX_LEGEND:
        entries = [entry for entry in entries if entry[1].endswith("-link")]
        for name in names if len(names) <= MAX_NAMED else ():
            x, y = np.median(points[labels == name], axis=0)
            text = ax.text(x, y, str(name), ha="center", va="center", fontsize=9, fontweight="bold", zorder=4)
            text.set_path_effects([withStroke(linewidth=2.5, foreground="white")])
    if entries:
        ax.legend(*zip(*entries, strict=True), frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
