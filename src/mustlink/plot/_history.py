"""The objective and the steps of boosting, round by round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mustlink._plot_style import COLORS, DARK, GRAY, pyplot

__all__ = ["check_boosted", "history"]


def history(model: Any, *, axes: Any = None) -> Any:
    """Draw the objective and the step of every round.

    Parameters
    ----------
    model : estimator
        A fitted :class:`~mustlink.boosting.BoostCluster`, :class:`~mustlink.boosting.BoostBaseClustering` or
        :class:`~mustlink.boosting.BoostedConstrainedKMeans`.
    axes : sequence of two matplotlib Axes, default=None
        Where to draw the objective and the steps; None makes a new figure.

    Returns
    -------
    ndarray of two matplotlib Axes
        The objective above, the steps below. A gray cross is a round that was not used because it did no better than
        chance.

    See Also
    --------
    projections : The rows in the representations of the rounds.

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
    >>> objective, steps = plot.history(model)
    >>> len(objective.get_lines()[0].get_xdata())
    10
    >>> matplotlib.pyplot.close(objective.figure)
    """
    check_boosted(model, "history", ["history_"])
    rounds = model.history_
    if not len(rounds):
        raise ValueError(f"This {type(model).__name__} has no rounds, since it was fitted without links.")
    plt = pyplot()
    if axes is None:
        _, axes = plt.subplots(2, 1, sharex=True, figsize=(6, 4.5), layout="constrained")
    above, below = axes
    numbers = range(1, len(rounds) + 1)
    above.plot(numbers, [entry["objective"] for entry in rounds], color=COLORS[0], marker="o", markersize=3)
    above.set_ylabel("objective")
    used = [(t, entry["alpha"]) for t, entry in zip(numbers, rounds, strict=True) if _counts(entry)]
    unused = [(t, entry["alpha"]) for t, entry in zip(numbers, rounds, strict=True) if not _counts(entry)]
    if used:
        below.vlines([t for t, _ in used], 0, [alpha for _, alpha in used], color=COLORS[0], linewidth=1)
        below.plot(*zip(*used, strict=True), linestyle="", marker="o", markersize=4, color=COLORS[0], label="used")
    if unused:
        below.plot(*zip(*unused, strict=True), linestyle="", marker="x", color=GRAY, label="not used")
        below.legend(frameon=False, fontsize=8)
    below.axhline(0, color=DARK, linewidth=0.6)
    below.set(xlabel="round", ylabel="step of the round")
    above.set_title(f"{type(model).__name__}: {len(used)} of {len(rounds)} rounds used", fontsize=10)
    return axes


def check_boosted(model: Any, plot: str, attributes: Sequence[str]) -> None:
    """Raise if a model is no fitted boosted clusterer."""
    for name in attributes:
        if not hasattr(model, name):
            raise TypeError(
                f"plot.{plot} needs a fitted boosted clusterer, and this {type(model).__name__} has no {name}; "
                "fit a RobustBoostCluster, BoostCluster, BoostBaseClustering or BoostedConstrainedKMeans first."
            )


def _counts(entry: Mapping[str, Any]) -> bool:
    """Return whether a round is part of the result."""
    return bool(entry.get("counted", entry["alpha"] > 0))
