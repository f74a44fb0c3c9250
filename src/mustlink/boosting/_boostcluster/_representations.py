"""The representation that a round gives to the base clusterer: which directions, and how long each.

A representation depends on the weighted links only; `_coordinates.py` has the coordinates that it acts on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import issparse

from mustlink._sklearn_compat import one_thread_if_narrow
from mustlink._types import Floats, Indices
from mustlink.boosting._boostcluster._columns import Weighting, relative_weights, weigh_columns
from mustlink.boosting._boostcluster._links import LinkSet

__all__ = ["Directions", "Kind", "Representation"]

Kind = Literal["projection", "difference", "whitened", "ridged"]
# An eigenvalue below this fraction of the largest is rounding.
MIN_EIGENVALUE = 1e-12
# The multiple of the covariance that "whitened" adds to the must-link scatter.
COVARIANCE_RIDGE = 0.1
# The largest norm of a matrix of products that is used as it is. The squared distances of the representation are fourth
# powers of the table, which overflow in single precision much sooner than squares.
MAX_UNSCALED = 1e15
# Of a table with many columns, this many are weighted, those with the largest weights; the others are left out.
MAX_WEIGHTED = 128


@dataclass(frozen=True)
class Directions:
    """A linear map into the representation of a round."""

    matrix: Floats  # of the linked part: the eigenvectors, each times the square root of its eigenvalue
    values: Floats  # the eigenvalues, descending
    rest_value: float = 0.0  # the eigenvalue of every direction orthogonal to the linked part
    rest_factor: float = 0.0  # the factor by which those directions are multiplied
    columns: Indices | None = None  # the features that the matrix acts on, if these are not the linked part


@dataclass(frozen=True)
class Representation:
    """One way to compute directions from weighted links; see :class:`BoostCluster` for the kinds."""

    kind: Kind
    ridge: float = 1.0  # of "ridged", in units of the variance per dimension
    identity: float = 0.1  # the multiple of the identity that is added to the matrix of spectral norm one
    weighting: Weighting | None = None  # of the columns, before anything else; None leaves them as they are

    @property
    def label(self) -> str:
        """A short name for reports."""
        label = f"ridged({self.ridge:g}, {self.identity:g})" if self.kind == "ridged" else self.kind
        return label if self.weighting is None else f"{label} on columns by {self.weighting}"

    def directions(self, links: LinkSet, weight: Floats, column_evidence: Floats | None = None) -> Directions:
        """Return the positive directions, given a weight for each link; there may be none.

        Columns are weighted by `column_evidence`, another weight for each link; None is the same.
        """
        if self.weighting is not None:
            evidence = weight if column_evidence is None else column_evidence
            return self._weighted_directions(self.weighting, links, weight, evidence)
        if self.kind == "projection":
            return positive_part(signed_products(links, weight), self.identity)
        return self._of_differences(links.end_differences, links, weight, links.spread)

    def _of_differences(
        self, difference: Floats, links: LinkSet, weight: Floats, spread: float, factors: Floats | None = None
    ) -> Directions:
        """Return the directions, given the differences of linked rows and the variance per dimension.

        With `factors`, a factor for each column, the variance and the directions are those of the columns times these.
        """
        n_must = links.n_must
        together = mean_outer_product(difference[:n_must], weight[:n_must])
        apart = mean_outer_product(difference[n_must:], weight[n_must:])
        if factors is not None:
            # Multiplying the differences of many links would take longer.
            together, apart = (product * np.outer(factors, factors) for product in (together, apart))
        if self.kind == "difference":
            return positive_part(apart - together, self.identity)
        if links.covariance is not None:
            whitener, beyond = inverse_root(together + COVARIANCE_RIDGE * links.covariance, 0.0)
        else:
            whitener, beyond = inverse_root(together, self.ridge * spread)
        # With must-links alone the whitening shrinks the directions that vary within them; none is to be dropped.
        contrast = apart - together if weight[n_must:].sum() > 0 else np.zeros_like(together)
        white = positive_part(whitener @ contrast @ whitener, self.identity)
        return Directions(whitener @ white.matrix, white.values, white.rest_value, white.rest_factor * beyond)

    def _weighted_directions(
        self, weighting: Weighting, links: LinkSet, weight: Floats, column_evidence: Floats
    ) -> Directions:
        """Return the directions of the weighted columns, in terms of the columns as they are."""
        differences = links.column_differences()
        if weighting != "clusters":
            factors = weigh_columns(
                weighting, links.squared_differences, links.n_must, column_evidence, links.column_variance
            )
        elif links.explained is not None:
            factors = relative_weights(links.explained)
        else:
            factors = np.ones(len(links.column_variance))
        columns = None
        if links.differences is not None:
            columns = np.sort(np.argsort(-factors, kind="stable")[:MAX_WEIGHTED]).astype(np.intp)
            differences, factors = to_dense(differences[:, columns]), factors[columns]
        spread = float(np.mean(factors**2 * links.column_variance[slice(None) if columns is None else columns]))
        found = self._of_differences(differences, links, weight, spread or 1.0, factors)
        return replace(found, matrix=factors[:, None] * found.matrix, columns=columns)


def to_dense(table: Any) -> Floats:
    """Return a table of few columns as a dense array."""
    return np.asarray(table.toarray() if issparse(table) else table, dtype=np.float64)


def signed_products(links: LinkSet, weight: Floats) -> Floats:
    """Return X T X' of the paper; T is symmetric, and its entries sum to one for each kind of link."""
    n_dims = links.ends.shape[2]
    total = np.zeros((n_dims, n_dims))
    for sign, kind in ((1, links.is_must), (-1, ~links.is_must)):
        if weight[kind].sum() > 0:
            share = weight[kind] / weight[kind].sum()
            total += sign * (links.ends[0, kind] * share[:, None]).T @ links.ends[1, kind]
    return (total + total.T) / 2


def mean_outer_product(differences: Floats, weight: Floats) -> Floats:
    """Return the weighted mean of d d'; zero if all weights are zero."""
    total = weight.sum()
    share = weight / total if total > 0 else weight
    with one_thread_if_narrow(differences):
        return (differences * share[:, None]).T @ differences


def inverse_root(matrix: Floats, ridge: float) -> tuple[Floats, float]:
    """Return (matrix + ridge I)^(-1/2), and its eigenvalue for directions outside the matrix."""
    values, vectors = eigh(matrix)
    # Without a ridge a null direction would be stretched without bound; it is dropped instead.
    shifted = np.maximum(values, 0) + ridge
    usable = shifted > MIN_EIGENVALUE * shifted.max(initial=0.0)
    root = np.where(usable, 1 / np.sqrt(np.where(usable, shifted, 1.0)), 0.0)
    return (vectors * root) @ vectors.T, 1 / np.sqrt(ridge) if ridge > 0 else 0.0


def positive_part(matrix: Floats, identity: float) -> Directions:
    """Return the positive eigenpairs of matrix / norm + identity I; without identity only a large one is scaled."""
    values, vectors = eigh(matrix)
    largest = np.abs(values).max(initial=0.0) or 1.0
    scale = largest if identity > 0 else 1.0
    if identity == 0 and largest > MAX_UNSCALED:
        # Powers of four have exact roots, so that the clusters do not change.
        scale = 4.0 ** np.round(np.log2(largest) / 2)
    values = values / scale + identity
    keep = np.flatnonzero(values > MIN_EIGENVALUE * max(np.abs(values).max(initial=0.0), 1e-300))[::-1]
    return Directions(vectors[:, keep] * np.sqrt(values[keep]), values[keep], identity, float(np.sqrt(identity)))
