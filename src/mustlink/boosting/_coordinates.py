"""The coordinates in which links are looked at, and what the base gets to see of them.

With few features these are the (standardised) features themselves. With many, the span of the linked rows is split
off: the links only act inside it, so that each round solves a problem of the size of that span, and everything at
right angles to it is multiplied with one number. The split comes from the Gram matrix of the linked rows, factored
once; a sparse table is only multiplied with.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, qr
from scipy.sparse import csr_array, diags_array, issparse, vstack

from mustlink.boosting._forms import Directions, LinkGeometry
from mustlink.boosting._links import LinkSet
from mustlink.constraints import Constraints

__all__ = ["Coordinates", "Scaling", "make_coordinates"]

Table = Any
# Up to so many features nothing is split off: an eigenproblem of this size takes milliseconds.
FEW_FEATURES = 128
# Above so many rows and features the part that no link touches is not kept whole, but by its leading directions.
MOST_EXACT = 4_000
LEADING = 100
# The most directions of the linked span of a sparse table; each costs a column as long as the table.
MOST_SPAN = 1_500
SPAN_TOLERANCE = 1e-10
ROWS_AT_A_TIME = 8_192


@dataclass(frozen=True)
class Scaling:
    """Standardisation: subtract `shift`, divide by `scale`; None leaves the table as it is.

    A sparse table is divided and stays sparse; its shift is kept apart and enters every product. `n_varying` is the
    number of columns that are not constant, each of which has variance one afterwards.
    """

    shift: NDArray[np.float64] | None = None
    scale: NDArray[np.float64] | None = None
    n_varying: int | None = None

    @classmethod
    def of(cls, X: Table, standardise: bool) -> Scaling:
        """Learn mean and standard deviation of the columns; a constant column is only shifted."""
        if not standardise:
            return cls()
        n = X.shape[0]
        mean = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
        if issparse(X):
            squares = np.asarray(X.multiply(X).sum(axis=0, dtype=np.float64)).ravel() / n
            deviation = np.sqrt(np.maximum(squares - mean**2, 0.0))
        else:
            deviation = np.asarray(X.std(axis=0, dtype=np.float64))
        # The deviation of a constant column is rounding of its mean.
        constant = deviation <= 10 * np.finfo(X.dtype).eps * np.abs(mean) * np.sqrt(n)
        return cls(mean, np.where(constant, 1.0, deviation), int((~constant).sum()))

    def apply(self, X: Table) -> Table:
        """Return the scaled table; a sparse one without its shift."""
        if self.scale is None or self.shift is None:
            return X
        if issparse(X):
            return csr_array(X @ diags_array(1 / self.scale).astype(X.dtype))
        scaled = X - self.shift.astype(X.dtype)
        scaled /= self.scale.astype(X.dtype)
        return scaled

    def offset(self, X: Table) -> NDArray[np.float64] | None:
        """Return what the scaled table still has to be shifted by, None if nothing."""
        if self.scale is None or self.shift is None or not issparse(X):
            return None
        return self.shift / self.scale


@dataclass(frozen=True)
class Basis:
    """Orthonormal directions in feature space, as combinations of rows: ``rows' @ mix``; or explicitly.

    Attributes
    ----------
    matrix : ndarray of shape (n_features, n_dims) or None
        The directions, where they are written out.
    rows, mix : matrices of shape (m, n_features) and (m, n_dims), or None
        The rows they are combined from, where they are not.
    """

    matrix: NDArray[Any] | None = None
    rows: Any = None
    mix: NDArray[np.float64] | None = None

    def coordinates(self, scaled: Table, offset: NDArray[np.float64] | None) -> NDArray[Any]:
        """Return (scaled - offset) @ basis."""
        if self.matrix is not None:
            product = np.asarray(scaled @ self.matrix)
            return product if offset is None else product - (offset @ self.matrix).astype(product.dtype)
        assert self.mix is not None
        result = np.empty((scaled.shape[0], self.mix.shape[1]), dtype=scaled.dtype)
        transposed = self.rows.T.tocsc()
        for start in range(0, len(result), ROWS_AT_A_TIME):
            piece = slice(start, start + ROWS_AT_A_TIME)
            result[piece] = (scaled[piece] @ transposed).toarray() @ self.mix
        if offset is not None:
            result -= ((self.rows @ offset) @ self.mix).astype(result.dtype)
        return result

    def without(self, vectors: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what is left of feature vectors (columns) at right angles to the basis."""
        if self.matrix is not None:
            return vectors - self.matrix @ (self.matrix.T @ vectors)
        assert self.mix is not None
        return vectors - self.rows.T @ (self.mix @ (self.mix.T @ (self.rows @ vectors)))


@dataclass(frozen=True)
class Coordinates:
    """All rows, seen in the linked part and in the rest.

    Attributes
    ----------
    scaling : Scaling
        From the user's features to the scaled ones.
    linked : ndarray of shape (n_samples, n_dims)
        Coordinates in the linked part; the scaled features themselves if `bases` is empty.
    rest : ndarray of shape (n_samples, n_rest) or None
        Coordinates at right angles to it.
    plain : array or sparse matrix
        The scaled table, for the base alone.
    spread : float
        The variance per dimension.
    bases : tuple of Basis
        From the scaled features to the coordinates of the linked part; empty if these are the features themselves.
    rest_basis : Basis or None
        From the scaled features to the rest.
    n_components : int or None
        Maximum number of columns of a representation.
    """

    scaling: Scaling
    linked: NDArray[Any]
    rest: NDArray[Any] | None
    plain: Table
    spread: float
    bases: tuple[Basis, ...] = ()
    rest_basis: Basis | None = None
    n_components: int | None = None

    def of_rows(self, X: Table) -> Coordinates:
        """Return the coordinates of new rows."""
        scaled, offset = self.scaling.apply(X), self.scaling.offset(X)
        if not self.bases:
            return replace(self, linked=shifted_dense(scaled, offset), plain=scaled)
        linked = np.hstack([basis.coordinates(scaled, offset) for basis in self.bases])
        rest = None if self.rest_basis is None else self.rest_basis.coordinates(scaled, offset)
        return replace(self, linked=linked, rest=rest, plain=scaled)

    def without_rows(self) -> Coordinates:
        """Return only what new rows need."""
        return replace(self, linked=self.linked[:0], rest=None, plain=None)

    def plain_for(self, takes_sparse: bool) -> Table:
        """Return the scaled table for the base alone; one that takes no sparse table gets the coordinates."""
        if takes_sparse or not issparse(self.plain):
            return self.plain
        return self.linked if self.rest is None else np.hstack([self.linked, self.rest])

    def represent(self, directions: Directions) -> NDArray[Any]:
        """Return the representation that the base is given, at most n_components columns of it."""
        dtype, n_components = self.linked.dtype, self.n_components
        if self.rest is None or directions.rest_factor == 0:
            return self.linked @ directions.matrix[:, :n_components].astype(dtype)
        if n_components is None:
            return np.hstack(
                [self.linked @ directions.matrix.astype(dtype), self.rest * dtype.type(directions.rest_factor)]
            )
        # By falling eigenvalue: all directions of the rest have the same one.
        above = int((directions.values >= directions.rest_value).sum())
        first = self.linked @ directions.matrix[:, : min(above, n_components)].astype(dtype)
        rest = self.rest[:, : n_components - first.shape[1]] * dtype.type(directions.rest_factor)
        left = n_components - first.shape[1] - rest.shape[1]
        return np.hstack([first, rest, self.linked @ directions.matrix[:, above : above + left].astype(dtype)])

    def geometry(self, links: LinkSet, whitened: bool = False) -> LinkGeometry:
        """Return the links as points in the linked part."""
        covariance = None
        if whitened:
            covariance = np.atleast_2d(np.cov(self.linked, rowvar=False, dtype=np.float64))
        a, b = (self.linked[links.pairs[:, side]].astype(np.float64) for side in (0, 1))
        must, cannot = links.is_must, ~links.is_must
        return LinkGeometry((a[must], b[must]), (a[cannot], b[cannot]), self.spread, covariance)


def make_coordinates(
    X: Table,
    links: Constraints,
    *,
    standardise: bool,
    points: bool,
    needs_rest: bool,
    n_components: int | None = None,
    joint: bool = False,
) -> Coordinates:
    """Choose the coordinates by what they cost.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
        The table.
    links : Constraints
        The links.
    standardise : bool
        Whether to scale.
    points : bool
        Whether the form looks at the linked points themselves and not only at their differences.
    needs_rest : bool
        Whether the form also sees what is at right angles to the links.
    n_components : int or None
        The most columns a representation may have.
    joint : bool
        Whether the form needs both parts as one (the covariance mixes them).
    """
    scaling = Scaling.of(X, standardise)
    scaled, offset = scaling.apply(X), scaling.offset(X)
    spread = variance_per_dimension(scaled, scaling.n_varying)
    n, d = X.shape
    most_span = len(links.constrained_rows()) + 1 if points else len(links)
    if d <= FEW_FEATURES or is_direct_cheaper(n, d, most_span, needs_rest, issparse(X)):
        linked = shifted_dense(scaled, offset)
        return Coordinates(
            scaling, linked, None, linked if not issparse(X) else scaled, spread, n_components=n_components
        )
    basis = linked_span(scaled, offset, links, points)
    linked = basis.coordinates(scaled, offset)
    rest_basis = rest_span(scaled, basis, linked, n_components) if needs_rest else None
    rest = None if rest_basis is None else rest_basis.coordinates(scaled, offset)
    whole = Coordinates(scaling, linked, rest, scaled, spread, (basis,), rest_basis, n_components)
    return joined(whole) if joint else whole


def is_direct_cheaper(n: int, d: int, most_span: int, needs_rest: bool, sparse: bool) -> bool:
    """Compare 25 rounds on all features with the split and 25 rounds on the linked span."""
    r = min(most_span, d)
    if sparse:
        return r == d and n * d < 5e7
    rounds = 25
    direct = rounds * (r * d**2 + 10 * d**3 + n * d**2)
    small = min(n, d)
    setup = r**2 * d + n * d * r + (n * d * small + 4 * small**2 * d if needs_rest else 0)
    split = setup + rounds * (r**3 * 11 + n * r**2)
    return direct <= split


def shifted_dense(scaled: Table, offset: NDArray[np.float64] | None) -> NDArray[Any]:
    """Write out a table that is sparse in form only: it has few features."""
    if not issparse(scaled):
        return scaled
    dense = scaled.toarray()
    return dense if offset is None else dense - offset.astype(dense.dtype)


def variance_per_dimension(scaled: Table, n_varying: int | None) -> float:
    """Return trace(cov) / dim, with at most as many dimensions as there are rows; 1 for a constant table.

    If the table is standardised, the trace is the number of its columns that vary.
    """
    n, d = scaled.shape
    trace = total_variance(scaled) if n_varying is None else float(n_varying)
    return trace / max(1, min(d, n - 1)) if trace > 0 else 1.0


def total_variance(scaled: Table) -> float:
    """Return trace(cov)."""
    if not issparse(scaled):
        return float(scaled.var(axis=0, dtype=np.float64).sum())
    mean = np.asarray(scaled.mean(axis=0, dtype=np.float64)).ravel()
    return float(scaled.multiply(scaled).sum(dtype=np.float64)) / scaled.shape[0] - float(mean @ mean)


def linked_span(scaled: Table, offset: NDArray[np.float64] | None, links: Constraints, points: bool) -> Basis:
    """Factor the Gram matrix of the linked rows (or of the differences of linked pairs) into a basis."""
    if points:
        rows = scaled[links.constrained_rows()]
        if offset is not None:
            rows = vstack([rows, csr_array(offset[None, :])]).tocsr()
    else:
        pairs = np.concatenate([links.must_link, links.cannot_link])
        rows = scaled[pairs[:, 0]] - scaled[pairs[:, 1]]
    rows = rows.astype(np.float64)
    gram = rows @ rows.T
    gram = gram.toarray() if issparse(gram) else gram
    values, vectors = eigh(gram)
    keep = np.flatnonzero(values > SPAN_TOLERANCE * max(values[-1], 1e-300))[::-1]
    if issparse(rows):
        keep = keep[:MOST_SPAN]
        return Basis(rows=csr_array(rows), mix=vectors[:, keep] / np.sqrt(values[keep]))
    # A second orthogonalisation, since the Gram matrix squares the rounding.
    directions, _ = np.linalg.qr(rows.T @ (vectors[:, keep] / np.sqrt(values[keep])))
    return Basis(matrix=directions.astype(scaled.dtype))


def rest_span(scaled: Table, basis: Basis, linked: NDArray[Any], n_components: int | None) -> Basis | None:
    """Return directions at right angles to the linked span: all that the rows use, or the leading ones."""
    n, d = scaled.shape
    if linked.shape[1] >= d:
        return None
    if issparse(scaled) or min(n, d) > MOST_EXACT or n_components is not None:
        count = LEADING if n_components is None else n_components
        return leading_directions(scaled, basis, min(count, n, d - linked.shape[1]))
    assert basis.matrix is not None
    if d <= n:
        return Basis(matrix=qr(basis.matrix)[0][:, linked.shape[1] :])
    beyond = scaled - linked @ basis.matrix.T
    values, vectors = eigh(beyond @ beyond.T)
    keep = np.flatnonzero(values > SPAN_TOLERANCE * max(values[-1], 1e-300))[::-1]
    if not keep.size:
        return None
    directions, _ = np.linalg.qr(basis.without(beyond.T @ (vectors[:, keep] / np.sqrt(values[keep]))))
    return Basis(matrix=directions.astype(scaled.dtype))


def leading_directions(scaled: Table, basis: Basis, count: int, n_iter: int = 4) -> Basis | None:
    """Return the leading principal directions outside a basis, by block power iteration."""
    n, d = scaled.shape
    mean = np.asarray(scaled.mean(axis=0, dtype=np.float64)).ravel()
    block = orthonormal(basis.without(np.random.RandomState(0).standard_normal((d, min(count + 10, n, d)))))
    for _ in range(n_iter):
        image = orthonormal(scaled @ block - mean @ block)
        block = orthonormal(basis.without(scaled.T @ image - np.outer(mean, image.sum(axis=0))))
    # Where the rows use fewer directions than asked for, some columns are rounding and may lie in the basis.
    block = basis.without(block)
    block = orthonormal(block[:, (block**2).sum(axis=0) > 1e-6])
    image = scaled @ block - mean @ block
    values, turn = eigh(image.T @ image)
    keep = np.flatnonzero(values > SPAN_TOLERANCE * n * total_variance(scaled))[::-1][:count]
    return Basis(matrix=(block @ turn[:, keep]).astype(scaled.dtype)) if keep.size else None


def orthonormal(block: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return orthonormal columns that span the same, as few as there are directions; twice, against rounding."""
    for _ in range(2):
        values, vectors = eigh(block.T @ block)
        keep = values > SPAN_TOLERANCE * values.max(initial=1e-300)
        block = block @ (vectors[:, keep] / np.sqrt(values[keep]))
    return block


def joined(parts: Coordinates) -> Coordinates:
    """Make one part of two."""
    if parts.rest is None or parts.rest_basis is None:
        return parts
    bases = (*parts.bases, parts.rest_basis)
    return replace(parts, linked=np.hstack([parts.linked, parts.rest]), rest=None, bases=bases, rest_basis=None)
