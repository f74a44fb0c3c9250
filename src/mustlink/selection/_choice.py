"""The result of model selection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mustlink._estimators import labels_of
from mustlink._html import HtmlList, HtmlTable, render_html
from mustlink._spelling import count
from mustlink.catalogue import DEFAULT_METHOD

__all__ = ["Choice", "Trial"]

# The maximum length of a reason for failure in the printed table.
MAX_FAILURE_LENGTH = 120
COLUMNS = ("", "method", "clusters", "links kept", "+/-", "seconds")
ALIGN = "<<>>>>"


@dataclass(frozen=True)
class Trial:
    """One method with one number of clusters, and its scores.

    Attributes
    ----------
    method : str
        The name of the method.
    n_clusters : int or None
        The number of clusters; None if the method determines it.
    scores : tuple of float
        The held-out accuracy of each fold; empty after a failure.
    seconds : float
        The time of all folds.
    failure : str or None
        The reason for a failure, as a sentence.

    Examples
    --------
    >>> from mustlink.selection import Trial
    >>> trial = Trial("pck", 3, scores=(0.8, 1.0), seconds=0.1)
    >>> trial.mean, round(trial.standard_error, 3)
    (0.9, 0.1)
    """

    method: str
    n_clusters: int | None
    scores: tuple[float, ...]
    seconds: float
    failure: str | None = None

    @property
    def mean(self) -> float:
        """The mean score; NaN after a failure."""
        return float(np.mean(self.scores)) if self.scores else float("nan")

    @property
    def standard_error(self) -> float:
        """The standard error of the mean; NaN after a failure."""
        return float(np.std(self.scores, ddof=1) / np.sqrt(len(self.scores))) if self.scores else float("nan")

    def gain_over(self, other: Trial) -> tuple[float, float]:
        """Compare with another trial on the same folds.

        Parameters
        ----------
        other : Trial
            A trial with as many scores.

        Returns
        -------
        gain : float
            The mean difference of the scores.
        standard_error : float
            The standard error of this mean.

        Examples
        --------
        >>> from mustlink.selection import Trial
        >>> gain, error = Trial("pck", 3, (0.8, 1.0), 0.1).gain_over(Trial("cop", 3, (0.7, 0.7), 0.1))
        >>> round(gain, 3), round(error, 3)
        (0.2, 0.1)
        """
        difference = np.subtract(self.scores, other.scores)
        return float(difference.mean()), float(difference.std(ddof=1) / np.sqrt(len(difference)))

    @property
    def name(self) -> str:
        """The method and the number of clusters as text."""
        return self.method if self.n_clusters is None else f"{self.method} with {count(self.n_clusters, 'cluster')}"


@dataclass(frozen=True)
class Choice:
    """The method and the number of clusters selected by held-out links.

    Attributes
    ----------
    best : Trial
        The selected trial.
    estimator : object
        The selected clusterer, fitted with all links.
    trials : tuple of Trial
        All trials in order, including failures.
    notes : tuple of str
        Caveats: few links, only one kind of links, fewer folds than requested, a refit that failed.
    incumbent : Trial or None, default=None
        The best trial of the default method, or of the first one, that another must be clearly better than.
    default : str or None, default="boost"
        The name of the default method; None if the methods that were tried do not include it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mustlink import Constraints
    >>> from mustlink.selection import choose
    >>> X, species = load_iris(return_X_y=True)
    >>> links = Constraints.sample(species, n_pairs=60, random_state=0)
    >>> choice = choose(X, links, methods=["pck", "cop"], n_clusters=[2, 3], random_state=0)
    >>> len(choice.trials)
    4
    >>> choice.labels is choice.estimator.labels_
    True
    """

    best: Trial
    estimator: Any
    trials: tuple[Trial, ...]
    notes: tuple[str, ...] = ()
    incumbent: Trial | None = None
    default: str | None = DEFAULT_METHOD

    @property
    def method(self) -> str:
        """The name of the selected method."""
        return self.best.method

    @property
    def n_clusters(self) -> int:
        """The number of clusters of the selected method, given or found."""
        labels = np.unique(self.labels)
        return int((labels >= 0).sum()) if self.best.n_clusters is None else self.best.n_clusters

    @property
    def labels(self) -> Any:
        """The cluster of every row, by the selected method with all links."""
        return labels_of(self.estimator)

    @property
    def reason(self) -> str:
        """The reason for the selection, as a sentence."""
        best, incumbent = self.best, self.incumbent or self.best
        result = f"{best.name} keeps {best.mean:.1%} of the held-out links"
        why = "the default" if incumbent.method == self.default else "the first method"
        if incumbent.method not in (self.default, self.trials[0].method):
            why += " that did not fail"
        if best is not incumbent:
            gain, error = best.gain_over(incumbent)
            return f"{result}, {gain:.1%} (+/- {error:.1%}) more than {incumbent.name}, {why}."
        top = max((trial for trial in self.trials if trial.scores), key=lambda trial: trial.mean)
        if top.mean > best.mean:
            gain, error = top.gain_over(best)
            return (
                f"{result}; {top.name} keeps {top.mean:.1%}, but the difference is within one standard error "
                f"({error:.1%}), and {best.method} is {why}."
            )
        return f"{result}, the most of all trials."

    def to_frame(self) -> Any:
        """Return the trials as a DataFrame.

        Returns
        -------
        pandas.DataFrame
            With the columns method, n_clusters, mean, standard_error, seconds, failure and chosen.
        """
        import pandas as pd

        fields = ("method", "n_clusters", "mean", "standard_error", "seconds", "failure")
        frame = pd.DataFrame([{name: getattr(trial, name) for name in fields} for trial in self.trials])
        frame["n_clusters"] = frame["n_clusters"].astype("Int64")
        frame["chosen"] = [trial is self.best for trial in self.trials]
        return frame

    def __repr__(self) -> str:
        n_failed = sum(trial.failure is not None for trial in self.trials)
        tried = f"{len(self.trials)} tried" + (f", {n_failed} failed" if n_failed else "")
        return f"Choice({self.best.name}, {self.best.mean:.1%} of held-out links kept; {tried})"

    def _rows(self) -> list[tuple[str, ...]]:
        """Word the trials, the selected one with a mark."""
        rows = list[tuple[str, ...]]()
        for trial in self.trials:
            kept = (f"{trial.mean:.1%}", f"{trial.standard_error:.1%}") if trial.scores else ("failed", "")
            clusters = "finds" if trial.n_clusters is None else str(trial.n_clusters)
            mark = "*" if trial is self.best else ""
            rows.append((mark, trial.method, clusters, *kept, f"{trial.seconds:.1f}"))
        return rows

    def _failures(self) -> list[str]:
        """Word each reason of a failure once."""
        reasons = {trial.failure: trial.name for trial in reversed(self.trials) if trial.failure is not None}
        return [
            f"{name} failed: {failure[:MAX_FAILURE_LENGTH]}{' ...' if len(failure) > MAX_FAILURE_LENGTH else ''}"
            for failure, name in reversed(reasons.items())
        ]

    def _repr_html_(self) -> str:
        table = HtmlTable(COLUMNS, ALIGN, self._rows(), len(self.trials), "trial")
        notes = [*self._failures(), *self.notes]
        return render_html("Chosen:", self.reason, table, HtmlList("Notes:", notes, len(notes)))

    def __str__(self) -> str:
        lines = [COLUMNS, *self._rows()]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        layout = " ".join(f"{{:{side}{width}}}" for side, width in zip(ALIGN, widths, strict=True))
        text = [layout.format(*line) for line in lines]
        return "\n".join([*text, *self._failures(), *self.notes, f"Chosen: {self.reason}"])
