"""The co-association matrix of a boosted clusterer."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from mustlink._plot_style import DARK, pyplot
from mustlink.plot._history import check_boosted

__all__ = ["coassociation"]

MAX_POINTS = 2_000


def coassociation(model: Any, *, random_state: Any = 0, ax: Any = None) -> Any:
    """Draw the co-association matrix, sorted by cluster.

    Parameters
    ----------
    model : estimator
        A fitted boosted clusterer: it has `labels_` and `coassociation_`.
    random_state : int, RandomState or None, default=0
        Samples 2,000 rows if there are more.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib Axes
        Dark blocks on the diagonal are clusters that the rounds agree on. Thin lines separate clusters.

    See Also
    --------
    mustlink.boosting.CoAssociation : The matrix in factored form.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from mustlink import Constraints, plot
    >>> from mustlink.boosting import BoostCluster
    >>> from mustlink.datasets import load
    >>> X, y = load("wine", return_X_y=True)
    >>> links = Constraints.sample(y, n_pairs=100, random_state=0)
    >>> model = BoostCluster(n_clusters=3, n_rounds=10, random_state=0).fit(X, constraints=links)
    >>> ax = plot.coassociation(model)
    >>> ax.get_images()[0].get_array().shape
    (178, 178)
    >>> matplotlib.pyplot.close(ax.figure)
    """
    check_boosted(model, "coassociation", ("labels_", "coassociation_"))
    plt = pyplot()
    if ax is None:
        _, ax = plt.subplots(figsize=(5.2, 4.6), layout="constrained")
    rows = _sorted_rows(model, check_random_state(random_state))
    together = _shares(model.coassociation_, rows)
    image = ax.imshow(together, cmap="Greys", vmin=0, vmax=1, interpolation="nearest")
    ax.figure.colorbar(image, ax=ax, label="weighted fraction of rounds that put two rows together")
    labels = model.labels_[rows]
    starts = np.flatnonzero(np.diff(labels)) + 1
    for place in starts:
        ax.axhline(place - 0.5, color=DARK, linewidth=0.4)
        ax.axvline(place - 0.5, color=DARK, linewidth=0.4)
    bounds = np.concatenate([[0], starts, [len(rows)]])
    names = ["noise" if label == -1 else str(label) for label in labels[bounds[:-1]]]
    ax.set_yticks((bounds[:-1] + bounds[1:] - 1) / 2, names)
    ax.set_xticks([])
    drawn = "" if len(rows) == len(model.labels_) else f" ({len(rows):,} of {len(model.labels_):,} drawn)"
    ax.set(xlabel=f"rows by cluster{drawn}", ylabel="cluster")
    return ax


def _sorted_rows(model: Any, rng: np.random.RandomState) -> NDArray[np.intp]:
    """Return all rows, or a sample of them, by cluster, with equal codes side by side."""
    rows = np.arange(len(model.labels_))
    if len(rows) > MAX_POINTS:
        rows = np.sort(rng.permutation(len(rows))[:MAX_POINTS])
    heaviest_last = np.argsort(model.coassociation_.weights, kind="stable")
    codes = model.coassociation_.codes[rows][:, heaviest_last]
    order: NDArray[np.intp] = rows[np.lexsort((*codes.T, model.labels_[rows]))]
    return order


def _shares(kernel: Any, rows: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the matrix for some rows, divided by the weight of all rounds."""
    together = type(kernel)(kernel.codes[rows], kernel.weights).toarray()
    total = float(kernel.weights.sum())
    shares: NDArray[np.float64] = together / total if total > 0 else together
    return shares
