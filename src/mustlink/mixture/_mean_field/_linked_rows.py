"""The rows that links name, and the inference on their labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mustlink._types import Array, Floats, Indices
from mustlink.constraints import Constraints
from mustlink.inference import LinkInference
from mustlink.mixture._gaussians import normalize_logs

__all__ = ["ClampedRows", "LinkedRows"]


@dataclass(frozen=True, eq=False)
class ClampedRows:
    """Rows whose mixture component is given.

    Parameters
    ----------
    rows : ndarray of shape (n_clamped,)
        The rows.
    component : ndarray of shape (n_clamped,)
        Their mixture components.
    """

    rows: Indices
    component: Indices

    def apply(self, logs: Array) -> None:
        """Exclude all other mixture components from the logarithms of these rows, in place."""
        kept = logs[self.rows, self.component]
        logs[self.rows] = -np.inf
        logs[self.rows, self.component] = kept


@dataclass(frozen=True, eq=False)
class LinkedRows:
    """The rows in at least one link (X_c of the chapter), and the plan of inference on the links.

    Parameters
    ----------
    rows : ndarray of shape (n_linked,)
        Their numbers, ascending.
    is_linked : ndarray of shape (n_samples,)
        Whether each row is one of them.
    inference : LinkInference or None
        How their labels are inferred; None if there are no links.
    links : Constraints
        The links between positions in `rows`.
    penalties : ndarray of shape (n_links,)
        What each costs if it is broken.
    clamped : ClampedRows or None
        Rows whose mixture component is given, linked or not.
    """

    rows: Indices
    is_linked: Array
    inference: LinkInference | None
    links: Constraints
    penalties: Floats
    clamped: ClampedRows | None = None

    @classmethod
    def plan(
        cls,
        links: Constraints,
        n_samples: int,
        n_clusters: int,
        *,
        penalty: tuple[float, float],
        is_exact: bool,
        max_table: int,
        clamped: ClampedRows | None = None,
    ) -> LinkedRows:
        """Plan the inference; raises InfeasibleError if links of infinite penalty contradict each other."""
        is_linked = np.zeros(n_samples, dtype=bool)
        rows, compact = links.compact()
        is_linked[rows] = True
        penalties = np.where(compact.sign > 0, *penalty) * compact.weight
        if links.is_empty:
            return cls(rows, is_linked, None, compact, penalties, clamped)
        plan = LinkInference.plan(
            compact.adjacency(len(rows)),
            penalties,
            n_clusters,
            exact=is_exact,
            beyond="mean_field",
            max_table=max_table,
            rows=rows,
        )
        return cls(rows, is_linked, plan, compact, penalties, clamped)

    def infer(self, logs: Array, previous: Array | None = None) -> tuple[Array, float, float]:
        """Return the responsibilities for logarithms of all rows, and the log-normalizers of the two kinds of rows.

        The first log-normalizer is that of the rows without links, the second that of the linked rows, a lower bound
        where mean field is used. `previous` are the responsibilities before, from which mean field starts.
        """
        if self.clamped is not None:
            self.clamped.apply(logs)
        responsibilities, log_sums = normalize_logs(logs)
        if self.inference is None:
            return responsibilities, float(log_sums.sum(dtype=np.float64)), 0.0
        start = None if previous is None else previous[self.rows].astype(np.float64)
        marginals = self.inference.marginals(logs[self.rows], start)
        responsibilities[self.rows] = marginals.rows
        assert marginals.log_normalizer is not None
        unlinked = float(log_sums[~self.is_linked].sum(dtype=np.float64))
        return responsibilities, unlinked, marginals.log_normalizer

    def best_labels(self, logs: Array) -> Indices:
        """Return the most probable labels of all rows together, given the links."""
        if self.clamped is not None:
            self.clamped.apply(logs)
        labels = logs.argmax(axis=1)
        if self.inference is not None:
            labels[self.rows] = self.inference.best_labeling(logs[self.rows].astype(np.float64))
        return labels

    def known_pairs(self) -> tuple[Array, Array]:
        """Return pairs of rows known to be together and to be apart, by links and by clamped rows."""
        must_link, cannot_link = self.rows[self.links.must_link], self.rows[self.links.cannot_link]
        if self.clamped is None:
            return must_link, cannot_link
        implied = Constraints.from_labels(self.clamped.component)
        return (
            np.concatenate([must_link, self.clamped.rows[implied.must_link]]),
            np.concatenate([cannot_link, self.clamped.rows[implied.cannot_link]]),
        )

    def broken_penalty(self, labels: Indices) -> float:
        """Return the sum of the penalties of the links that labels of all rows break."""
        is_broken = ~self.links.satisfied(labels[self.rows])
        return float(self.penalties[is_broken].sum())

    def row_weights(self, eta: float, dtype: type = np.float64) -> Floats:
        """Return eta for linked rows and 1 for the others."""
        return np.where(self.is_linked, eta, 1.0).astype(dtype)
