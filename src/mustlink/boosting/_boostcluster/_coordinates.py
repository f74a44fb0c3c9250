"""The coordinates of the rows in which links act, and the tables that the base clusterer is given.

With few features these are the (standardized) features themselves. With many, the space is split into the span of the
linked rows and the rest. Links act inside the span only: each round solves a problem of the size of the span, and the
rest is multiplied by one number. The split comes from the Gram matrix of the linked rows, factored once; a sparse table
is only multiplied with.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import eigh, qr
from scipy.sparse import csr_array, diags_array, issparse, vstack

from mustlink._rows import read_only
from mustlink._sklearn_compat import one_thread_if_narrow
from mustlink._types import Array, Floats, Indices, Mask
from mustlink.blocks.core import column_moments
from mustlink.boosting._boostcluster._links import LinkSet
from mustlink.boosting._boostcluster._representations import Directions, to_dense
from mustlink.constraints import Constraints

__all__ = ["Coordinates", "Scaling", "make_coordinates"]

Table = Any
# Up to this many features the space is not split: an eigenproblem of this size takes milliseconds.
MAX_UNSPLIT = 128
# With more rows and features than this, the rest is kept by its leading directions only.
MAX_EXACT = 4_000
N_LEADING = 100
# Maximum number of directions of the linked span of a sparse table; each costs a column as long as the table.
MAX_SPAN = 1_500
SPAN_TOLERANCE = 1e-10
BLOCK_ROWS = 8_192
BLOCK_COLUMNS = 64


@dataclass(frozen=True)
class Scaling:
    """Standardization: subtract `shift`, divide by `scale`; None leaves the table as it is.

    A sparse table is divided and stays sparse; its shift is applied to products. `n_varying` is the number of columns
    that are not constant, each of which has variance one afterwards.
    """

    shift: Floats | None = None
    scale: Floats | None = None
    n_varying: int | None = None

    @classmethod
    def of(cls, X: Table, standardize: bool) -> Scaling:
        """Compute mean and standard deviation of the columns; a constant column is only shifted."""
        if not standardize:
            return cls()
        n = X.shape[0]
        mean, variance = mean_and_variance(X)
        constant = is_constant(mean, variance, n, X.dtype)
        return cls(mean, np.where(constant, 1.0, np.sqrt(variance)), int((~constant).sum()))

    def apply(self, X: Table) -> tuple[Table, Floats | None]:
        """Return the scaled table, and the shift that a sparse one still lacks; None if it lacks none."""
        if self.scale is None or self.shift is None:
            return X, None
        if issparse(X):
            return csr_array(X @ diags_array(1 / self.scale).astype(X.dtype)), self.shift / self.scale
        scaled = X - self.shift.astype(X.dtype)
        scaled /= self.scale.astype(X.dtype)
        return scaled, None


@dataclass(frozen=True)
class Basis:
    """Orthonormal directions in feature space: the columns of `mix` or, with sparse `rows`, of ``rows.T @ mix``."""

    mix: Array
    rows: Any = None

    def coordinates(self, scaled: Table, offset: Floats | None) -> Array:
        """Return (scaled - offset) @ basis."""
        if self.rows is None:
            product = np.asarray(scaled @ self.mix)
            return product if offset is None else product - (offset @ self.mix).astype(product.dtype)
        result = np.empty((scaled.shape[0], self.mix.shape[1]), dtype=scaled.dtype)
        transposed = self.rows.T.tocsc()
        for start in range(0, len(result), BLOCK_ROWS):
            piece = slice(start, start + BLOCK_ROWS)
            result[piece] = (scaled[piece] @ transposed).toarray() @ self.mix
        if offset is not None:
            result -= ((self.rows @ offset) @ self.mix).astype(result.dtype)
        return result

    def column_squares(self, mix: Floats) -> Floats:
        """Return, for every feature, the squared length of its part in directions that are mixed like the basis."""
        if self.rows is None:
            return np.asarray((mix**2).sum(axis=1, dtype=np.float64))
        total = np.zeros(self.rows.shape[1])
        for start in range(0, mix.shape[1], BLOCK_COLUMNS):
            total += ((self.rows.T @ mix[:, start : start + BLOCK_COLUMNS]) ** 2).sum(axis=1)
        return total

    def without(self, vectors: Floats) -> Floats:
        """Return the part of feature vectors (columns) that is orthogonal to the basis."""
        if self.rows is None:
            return np.asarray(vectors - self.mix @ (self.mix.T @ vectors))
        return vectors - self.rows.T @ (self.mix @ (self.mix.T @ (self.rows @ vectors)))


@dataclass(frozen=True)
class Coordinates:
    """The coordinates of all rows in the linked part and in the rest."""

    scaling: Scaling
    linked: Array  # coordinates in the linked part; the scaled features themselves if `bases` is empty
    rest: Array | None  # coordinates orthogonal to it
    plain: Table  # the scaled table, for the base alone
    spread: float  # the variance per dimension
    bases: tuple[Basis, ...] = ()  # from the scaled features to the linked part
    rest_basis: Basis | None = None  # from the scaled features to the rest
    n_components: int | None = None  # maximum number of columns of a representation

    def of_rows(self, X: Table) -> Coordinates:
        """Return the coordinates of new rows."""
        scaled, offset = self.scaling.apply(X)
        if not self.bases:
            return replace(self, linked=shifted_dense(scaled, offset), plain=scaled)
        linked = np.hstack([basis.coordinates(scaled, offset) for basis in self.bases])
        rest = None if self.rest_basis is None else self.rest_basis.coordinates(scaled, offset)
        return replace(self, linked=linked, rest=rest, plain=scaled)

    def without_rows(self) -> Coordinates:
        """Return only what is needed to compute the coordinates of new rows."""
        return replace(self, linked=self.linked[:0], rest=None, plain=None)

    def take(self, rows: Indices) -> Coordinates:
        """Return the coordinates of some rows."""
        linked, rest = self.linked[rows], None if self.rest is None else self.rest[rows]
        plain = linked if self.plain is self.linked else self.plain[rows]
        return replace(self, linked=linked, rest=rest, plain=plain)

    def plain_for(self, takes_sparse: bool) -> Table:
        """Return the scaled table for the base alone; one that takes no sparse table gets the coordinates."""
        if takes_sparse or not issparse(self.plain):
            return self.plain
        return self.linked if self.rest is None else np.hstack([self.linked, self.rest])

    def table_of(self, directions: Directions | None, takes_sparse: bool) -> Table:
        """Return a representation, or the scaled table for None."""
        return self.plain_for(takes_sparse) if directions is None else self.represent(directions)

    def represent(self, directions: Directions) -> Array:
        """Return the representation that the base is given, with at most n_components columns."""
        dtype, n_components = self.linked.dtype, self.n_components
        if directions.columns is not None:
            few = to_dense(self.plain[:, directions.columns]).astype(dtype)
            return few @ directions.matrix[:, :n_components].astype(dtype)
        if self.rest is None or directions.rest_factor == 0:
            with one_thread_if_narrow(self.linked):
                return self.linked @ directions.matrix[:, :n_components].astype(dtype)
        linked, n_rest = self._columns_kept(directions)
        products = self.linked @ directions.matrix[:, linked].astype(dtype)
        rest = self.rest[:, :n_rest] * dtype.type(directions.rest_factor)
        if n_components is None:
            return np.hstack([products, rest])
        above = int((directions.values >= directions.rest_value).sum())
        return np.hstack([products[:, :above], rest, products[:, above:]])

    def column_lengths(self, directions: Directions | None, n_features: int) -> Floats:
        """Return how far a unit of every feature moves a row in a representation; None is the plain table."""
        if directions is None:
            return np.ones(n_features)
        n_components = self.n_components
        if directions.columns is not None or not self.bases:
            squares = np.zeros(n_features)
            columns = slice(None) if directions.columns is None else directions.columns
            squares[columns] = (directions.matrix[:, :n_components] ** 2).sum(axis=1)
            return np.sqrt(squares)
        basis, rest_basis = self.bases[0], self.rest_basis
        if rest_basis is None or directions.rest_factor == 0:
            return np.sqrt(basis.column_squares(basis.mix @ directions.matrix[:, :n_components]))
        linked, n_rest = self._columns_kept(directions)
        of_rest = rest_basis.column_squares(rest_basis.mix[:, :n_rest])
        of_linked = basis.column_squares(basis.mix @ directions.matrix[:, linked])
        return np.sqrt(of_linked + directions.rest_factor**2 * of_rest)

    def _columns_kept(self, directions: Directions) -> tuple[Indices, int]:
        """Return which directions of the linked part are kept, and how many of the rest, by descending eigenvalues.

        All directions of the rest have the same eigenvalue.
        """
        n_linked, n_rest = directions.matrix.shape[1], self.rest_basis.mix.shape[1] if self.rest_basis else 0
        if self.n_components is None:
            return np.arange(n_linked), n_rest
        above = min(int((directions.values >= directions.rest_value).sum()), self.n_components)
        n_rest = min(n_rest, self.n_components - above)
        return np.arange(min(n_linked, self.n_components - n_rest)), n_rest

    def place_links(self, links: Constraints, with_covariance: bool = False) -> LinkSet:
        """Return the links with the coordinates of their rows in the linked part."""
        covariance = None
        if with_covariance:
            covariance = np.atleast_2d(np.cov(self.linked, rowvar=False, dtype=np.float64))
        return LinkSet.of(links, self.linked, self.spread, covariance)

    def with_columns(self, links: LinkSet) -> LinkSet:
        """Return links that know the features of their rows, too, for weights of columns."""
        if not self.bases:
            return replace(links, column_variance=mean_and_variance(self.linked)[1])
        first, second = links.pairs.T
        differences = self.plain[first] - self.plain[second]
        return replace(links, column_variance=mean_and_variance(self.plain)[1], differences=differences)


def make_coordinates(
    X: Table,
    links: Constraints,
    *,
    standardize: bool,
    points: bool,
    needs_rest: bool,
    n_components: int | None = None,
    joint: bool = False,
) -> Coordinates:
    """Choose the coordinates by what they cost.

    `points`: the representation uses the linked rows themselves and not only their differences. `needs_rest`: it has
    directions orthogonal to the links. `joint`: both parts are needed as one, because the covariance mixes them.
    """
    scaling = Scaling.of(X, standardize)
    scaled, offset = scaling.apply(X)
    n, d = X.shape
    # If the table is standardized, the trace of the covariance is the number of its columns that vary.
    trace = total_variance(scaled) if scaling.n_varying is None else float(scaling.n_varying)
    spread = trace / max(1, min(d, n - 1)) if trace > 0 else 1.0
    max_span = len(links.constrained_rows()) + 1 if points else len(links)
    if d <= MAX_UNSPLIT or is_direct_cheaper(n, d, max_span, needs_rest, issparse(X)):
        return Coordinates(scaling, shifted_dense(scaled, offset), None, scaled, spread, n_components=n_components)
    basis = linked_span(scaled, offset, links, points)
    linked = basis.coordinates(scaled, offset)
    rest_basis = rest_span(scaled, basis, linked, n_components) if needs_rest else None
    rest = None if rest_basis is None else rest_basis.coordinates(scaled, offset)
    bases: tuple[Basis, ...] = (basis,)
    if joint and rest is not None and rest_basis is not None:
        linked, rest, bases, rest_basis = np.hstack([linked, rest]), None, (basis, rest_basis), None
    return Coordinates(scaling, linked, rest, scaled, spread, bases, rest_basis, n_components)


def is_direct_cheaper(n: int, d: int, max_span: int, needs_rest: bool, sparse: bool) -> bool:
    """Compare 25 rounds on all features with the split and 25 rounds on the linked span."""
    r = min(max_span, d)
    if sparse:
        return r == d and n * d < 5e7
    rounds = 25
    direct = rounds * (r * d**2 + 10 * d**3 + n * d**2)
    small = min(n, d)
    setup = r**2 * d + n * d * r + (n * d * small + 4 * small**2 * d if needs_rest else 0)
    split = setup + rounds * (r**3 * 11 + n * r**2)
    return direct <= split


def shifted_dense(scaled: Table, offset: Floats | None) -> Array:
    """Make a sparse table with few features dense."""
    if not issparse(scaled):
        return scaled
    dense = scaled.toarray()
    return dense if offset is None else dense - offset.astype(dense.dtype)


def mean_and_variance(table: Table) -> tuple[Floats, Floats]:
    """Return the mean and the variance of every column."""
    if not issparse(table):
        # numpy would make a copy of the table in double precision.
        mean, squares, *_ = column_moments(read_only(table))
        return mean, squares / len(table)
    mean = np.asarray(table.mean(axis=0, dtype=np.float64)).ravel()
    squares = np.asarray(table.multiply(table).sum(axis=0, dtype=np.float64)).ravel() / table.shape[0]
    return mean, np.maximum(squares - mean**2, 0.0)


def is_constant(mean: Floats, variance: Floats, n_rows: int, dtype: Any) -> Mask:
    """Return whether each column is constant: its variance, if any, comes from rounding of its mean."""
    return np.asarray(np.sqrt(variance) <= 10 * np.finfo(dtype).eps * np.abs(mean) * np.sqrt(n_rows))


def total_variance(scaled: Table) -> float:
    """Return trace(cov)."""
    return float(mean_and_variance(scaled)[1].sum())


def linked_span(scaled: Table, offset: Floats | None, links: Constraints, points: bool) -> Basis:
    """Factor the Gram matrix of the linked rows (or of the differences of linked pairs) into a basis."""
    if points:
        rows = scaled[links.constrained_rows()]
        if offset is not None:
            rows = vstack([rows, csr_array(offset[None, :])]).tocsr()
    else:
        rows = scaled[links.pairs[:, 0]] - scaled[links.pairs[:, 1]]
    rows = rows.astype(np.float64)
    if issparse(rows):
        return Basis(combine_rows((rows @ rows.T).toarray(), MAX_SPAN), csr_array(rows))
    # Orthogonalize again, since the Gram matrix squares the rounding.
    directions, _ = np.linalg.qr(rows.T @ combine_rows(rows @ rows.T))
    return Basis(directions.astype(scaled.dtype))


def combine_rows(gram: Floats, max_directions: int | None = None) -> Floats:
    """Return how rows with this Gram matrix are combined to orthonormal directions, the leading one first."""
    values, vectors = eigh(gram)
    keep = np.flatnonzero(values > SPAN_TOLERANCE * max(values[-1], 1e-300))[::-1][:max_directions]
    return np.asarray(vectors[:, keep] / np.sqrt(values[keep]))


def rest_span(scaled: Table, basis: Basis, linked: Array, n_components: int | None) -> Basis | None:
    """Return directions orthogonal to the linked span: all that the rows use, or the leading ones."""
    n, d = scaled.shape
    if linked.shape[1] >= d:
        return None
    if issparse(scaled) or min(n, d) > MAX_EXACT or n_components is not None:
        count = N_LEADING if n_components is None else n_components
        return leading_directions(scaled, basis, min(count, n, d - linked.shape[1]))
    if d <= n:
        return Basis(qr(basis.mix)[0][:, linked.shape[1] :])
    beyond = scaled - linked @ basis.mix.T
    directions, _ = np.linalg.qr(basis.without(beyond.T @ combine_rows(beyond @ beyond.T)))
    return Basis(directions.astype(scaled.dtype)) if directions.size else None


def leading_directions(scaled: Table, basis: Basis, count: int, n_iter: int = 4) -> Basis | None:
    """Return the leading principal directions outside a basis, by block power iteration."""
    n, d = scaled.shape
    mean = np.asarray(scaled.mean(axis=0, dtype=np.float64)).ravel()
    block = orthonormal(basis.without(np.random.RandomState(0).standard_normal((d, min(count + 10, n, d)))))
    for _ in range(n_iter):
        image = orthonormal(scaled @ block - mean @ block)
        block = orthonormal(basis.without(scaled.T @ image - np.outer(mean, image.sum(axis=0))))
    # If the rows use fewer directions than asked for, some columns are rounding and may lie in the basis.
    block = basis.without(block)
    block = orthonormal(block[:, (block**2).sum(axis=0) > 1e-6])
    image = scaled @ block - mean @ block
    values, turn = eigh(image.T @ image)
    keep = np.flatnonzero(values > SPAN_TOLERANCE * n * total_variance(scaled))[::-1][:count]
    return Basis((block @ turn[:, keep]).astype(scaled.dtype)) if keep.size else None


def orthonormal(block: Floats) -> Floats:
    """Return orthonormal columns with the same span, without null directions; repeated once against rounding."""
    for _ in range(2):
        values, vectors = eigh(block.T @ block)
        keep = values > SPAN_TOLERANCE * values.max(initial=1e-300)
        block = block @ (vectors[:, keep] / np.sqrt(values[keep]))
    return block
