"""What each column counts in a clustering."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mustlink._drawn import heaviest_columns
from mustlink._plot_style import COLORS, pyplot
from mustlink._spelling import count

__all__ = ["columns"]


def columns(model: Any, *, features: Sequence[str] | None = None, max_columns: int = 10, ax: Any = None) -> Any:
    """Draw what each column counts in the end, the largest first.

    Parameters
    ----------
    model : estimator
        A fitted model with ``column_weights_``, one number that is not negative for each column.
    features : sequence of str, default=None
        The names of the columns; None takes ``feature_names_in_`` of the model, or x0, x1, ...
    max_columns : int, default=10
        The maximum number of columns to draw.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib Axes
        A bar for each column. Below it stands how many others count less, and how many nothing (less than a thousandth
        of the largest).

    See Also
    --------
    clusters : The rows in the plane.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from types import SimpleNamespace
    >>> from mustlink import plot
    >>> ax = plot.columns(SimpleNamespace(column_weights_=[0.0, 2.0, 1.0]), features=["age", "income", "visits"])
    >>> [tick.get_text() for tick in ax.get_yticklabels()], ax.get_xlabel()
    (['income', 'visits'], 'weight of the column\\n1 other counts nothing')
    >>> matplotlib.pyplot.close(ax.figure)
    """
    if not hasattr(model, "column_weights_"):
        raise TypeError(
            f"plot.columns needs a fitted model with column_weights_, and this {type(model).__name__} has none; fit a "
            "RobustBoostCluster with links first."
        )
    weights = np.asarray(model.column_weights_, dtype=np.float64)
    if features is None:
        features = getattr(model, "feature_names_in_", None)
    names = [f"x{place}" for place in range(len(weights))] if features is None else [str(name) for name in features]
    if len(names) != len(weights):
        raise ValueError(f"The model has {count(len(weights), 'column')}, but {len(names)} features are named.")
    if max_columns < 1:
        raise ValueError(f"max_columns must be at least 1; got {max_columns}.")
    shown, n_nothing = heaviest_columns(weights, max_columns)
    plt = pyplot()
    if ax is None:
        _, ax = plt.subplots(figsize=(6, 0.8 + 0.32 * max(len(shown), 2)), layout="constrained")
    places = np.arange(len(shown))
    ax.barh(places, weights[shown], color=COLORS[0], height=0.7)
    ax.set_yticks(places, [names[column] for column in shown])
    ax.set_ylim(max(len(shown), 1) - 0.5, -0.5)
    n_less = len(weights) - len(shown) - n_nothing
    others = [
        f"{n:,} {'other counts' if n == 1 else 'others count'} {how}"
        for n, how in ((n_less, "less"), (n_nothing, "nothing"))
        if n
    ]
    ax.set_xlabel("\n".join(["weight of the column", *([", ".join(others)] if others else [])]))
    ax.spines[["top", "right"]].set_visible(False)
    return ax
