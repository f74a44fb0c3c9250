"""Weighted divergence to the mean between rows and clusters, and its gradient by the term weights.

With theta_1 and theta_2 the smoothed term probabilities of two sides, l_1 and l_2 their lengths, m the mean of the two
and gamma the term weights,

    D(1, 2) = sum_j gamma_j g_j,   g_j = l_1 theta_1j log(theta_1j / m_j) + l_2 theta_2j log(theta_2j / m_j).

D is linear in gamma, and g is its gradient. (Chapter 2 prints the two logarithms upside down, which is minus D.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse
from scipy.special import xlogy

from mustlink._types import Floats, Indices

__all__ = ["Documents", "Gradients", "Mean", "cluster_gradient", "pair_gradients", "spread_gradient", "term_gradient"]

Mean = Literal["equal", "length"]

# Entries of the tables of lengths times terms that are computed at a time.
MAX_ENTRIES = 1_000_000


@dataclass(frozen=True, eq=False)
class Documents:
    """Rows of counts as the divergence sees them.

    Attributes
    ----------
    counts : csr_array of shape (n_rows, n_terms)
        The counts, without explicit zeros.
    lengths : ndarray of shape (n_rows,)
        Their sums.
    caps : ndarray of shape (n_rows,)
        The lengths by which divergences are multiplied, at most `length_cap`.
    smoothing : float
        What is added to every count.
    mean : {"equal", "length"}
        Whether the mean of two sides is weighted by their lengths.
    """

    counts: Any
    lengths: Floats
    caps: Floats
    smoothing: float = 1.0
    mean: Mean = "equal"

    @classmethod
    def of(
        cls, counts: Any, *, smoothing: float = 1.0, mean: Mean = "equal", length_cap: float | None = None
    ) -> Documents:
        """Prepare rows of counts, dense or sparse."""
        counts = sparse.csr_array(counts)
        lengths = np.asarray(counts.sum(axis=1), dtype=np.float64).ravel()
        return cls(counts, lengths, np.minimum(lengths, np.inf if length_cap is None else length_cap), smoothing, mean)

    @property
    def n_terms(self) -> int:
        """The number of columns."""
        return int(self.counts.shape[1])

    def probabilities(self, counts: Floats, rows: Indices) -> Floats:
        """Return the smoothed probabilities of terms that occur `counts` times in the given rows."""
        totals = self.lengths[rows] + self.smoothing * self.n_terms
        # An empty row without smoothing has no term.
        return np.asarray((counts + self.smoothing) / np.where(totals > 0, totals, 1.0))


@dataclass(frozen=True, eq=False)
class Gradients:
    """One gradient in each row: the stored entries, and one value for all other terms of the row."""

    stored: Any
    background: Floats

    def __len__(self) -> int:
        return len(self.background)

    @classmethod
    def dense(cls, gradients: Floats) -> Gradients:
        """Hold gradients with all their terms stored."""
        n_rows, n_terms = gradients.shape
        indptr, indices = np.arange(0, n_rows * n_terms + 1, n_terms), np.tile(np.arange(n_terms), n_rows)
        stored = sparse.csr_array((gradients.ravel(), indices, indptr), shape=gradients.shape)
        return cls(stored, np.zeros(n_rows))

    def take(self, chosen: Indices) -> Gradients:
        """Return some of the gradients."""
        return Gradients(self.stored[chosen], self.background[chosen])

    @classmethod
    def stack(cls, several: list[Gradients]) -> Gradients:
        """Put gradients under each other."""
        stored = sparse.vstack([gradients.stored for gradients in several], format="csr")
        return cls(stored, np.concatenate([gradients.background for gradients in several]))

    def divergence(self, term_weights: Floats) -> Floats:
        """Return the divergence that each gradient belongs to."""
        return self.stored @ term_weights + self.background * (term_weights.sum() - self._pattern() @ term_weights)

    def largest(self, term_weights: Floats) -> Floats:
        """Return the largest absolute value of gradient times term weight in each row."""
        indptr = self.stored.indptr
        values = np.abs(self.stored.data) * term_weights[self.stored.indices]
        found = np.zeros(len(self))
        filled = np.flatnonzero(np.diff(indptr))
        found[filled] = np.maximum.reduceat(values, indptr[filled]) if len(filled) else 0.0
        # The heaviest term that a row does not store: with terms in the order of their weights, the stored ones of a
        # row are sorted, and those in front of the first gap are numbered 0, 1, 2, ...
        order = np.argsort(-term_weights, kind="stable")
        place = np.empty(len(order), dtype=np.intp)
        place[order] = np.arange(len(order))
        row = np.repeat(np.arange(len(self)), np.diff(indptr))
        places = place[self.stored.indices]
        places = places[np.lexsort((places, row))]
        is_before_gap = places == np.arange(len(places)) - indptr[row]
        first_gap = np.bincount(row[is_before_gap], minlength=len(self))
        heaviest = np.append(term_weights[order], 0.0)[first_gap]
        return np.maximum(found, np.abs(self.background) * heaviest)

    def combine(self, factor: Floats) -> Floats:
        """Return the sum of the gradients, each times a factor, for all terms."""
        shared = factor * self.background
        return self.stored.T @ factor + shared.sum() - self._pattern().T @ shared

    def _pattern(self) -> Any:
        """Return ones where entries are stored."""
        stored = self.stored
        return sparse.csr_array((np.ones(len(stored.data)), stored.indices, stored.indptr), shape=stored.shape)


def term_gradient(p: Floats, q: Floats, p_length: Any, q_length: Any, mean: Mean = "equal") -> Floats:
    """Return g for term probabilities p and q of two sides with their lengths."""
    share = 0.5
    if mean == "length":
        total = np.asarray(p_length + q_length, dtype=np.float64)
        share = np.divide(p_length, total, out=np.full(total.shape, 0.5), where=total > 0)
    m = share * p + (1.0 - share) * q
    safe = np.where(m > 0, m, 1.0)
    return np.asarray(p_length * xlogy(p, p / safe) + q_length * xlogy(q, q / safe))


def pair_gradients(documents: Documents, pairs: Indices) -> Gradients:
    """Return the gradients of the divergences between pairs of rows, in time of the terms that occur in them."""
    a, b = pairs[:, 0], pairs[:, 1]
    first, second = documents.counts[a], documents.counts[b]
    # The sum of two rows of positive counts has the union of their terms.
    union = sparse.csr_array(first + second)
    union.sort_indices()
    row = np.repeat(np.arange(len(pairs)), np.diff(union.indptr))
    p_counts = _counts_at(first, union, row)
    p = documents.probabilities(p_counts, a[row])
    q = documents.probabilities(union.data - p_counts, b[row])
    values = term_gradient(p, q, documents.caps[a[row]], documents.caps[b[row]], documents.mean)
    nothing = np.zeros(len(pairs))
    background = term_gradient(
        documents.probabilities(nothing, a),
        documents.probabilities(nothing, b),
        documents.caps[a],
        documents.caps[b],
        documents.mean,
    )
    return Gradients(sparse.csr_array((values, union.indices, union.indptr), shape=union.shape), background)


def _counts_at(rows: Any, pattern: Any, row: Indices) -> Floats:
    """Return the counts of rows at the entries of a larger pattern, whose indices are sorted."""
    rows.sort_indices()
    n_terms = pattern.shape[1]
    wanted = row.astype(np.int64) * n_terms + pattern.indices
    own_row = np.repeat(np.arange(rows.shape[0], dtype=np.int64), np.diff(rows.indptr))
    found = np.zeros(len(wanted))
    found[np.searchsorted(wanted, own_row * n_terms + rows.indices)] = rows.data
    return found


def cluster_gradient(documents: Documents, row: int, probabilities: Floats) -> Floats:
    """Return the gradient of the divergence between a row and a cluster of the row's length."""
    counts = documents.counts[[row]].toarray()[0]
    p = documents.probabilities(counts, np.full(len(counts), row))
    return term_gradient(p, probabilities, documents.caps[row], documents.caps[row])


def spread_gradient(documents: Documents, rows: Indices, probabilities: Floats) -> Floats:
    """Return the gradient of the sum of divergences between rows and a cluster, each with the row's length.

    All rows of one length share the value at terms that they do not have, so that a row costs as much as it has terms.
    """
    nothing = np.zeros(1)
    lengths, first, number = np.unique(documents.lengths[rows], return_index=True, return_counts=True)
    gradient = np.zeros(len(probabilities))
    n_at_once = max(1, MAX_ENTRIES // len(probabilities))
    for start in range(0, len(lengths), n_at_once):
        chosen = slice(start, start + n_at_once)
        shown = rows[first[chosen]]
        caps = documents.caps[shown][:, None]
        p = documents.probabilities(nothing, shown)[:, None]
        gradient += number[chosen] @ term_gradient(p, probabilities, caps, caps)
    counts = documents.counts[rows]
    entry_row = rows[np.repeat(np.arange(len(rows)), np.diff(counts.indptr))]
    caps, q = documents.caps[entry_row], probabilities[counts.indices]
    there = term_gradient(documents.probabilities(counts.data, entry_row), q, caps, caps)
    absent = term_gradient(documents.probabilities(np.zeros(len(entry_row)), entry_row), q, caps, caps)
    return gradient + np.bincount(counts.indices, weights=there - absent, minlength=len(gradient))
