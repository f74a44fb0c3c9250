"""Gaussian densities of a mixture: estimated from responsibilities, evaluated in batches of rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.linalg import solve_triangular

from mustlink._types import Array, Floats

__all__ = ["COVARIANCE_TYPES", "Gaussians", "normalize_logs"]

COVARIANCE_TYPES = ("full", "tied", "diag", "spherical")

# The numbers that are worked on at a time: few enough that they stay in the cache.
BATCH_SIZE = 1 << 17
MIN_BATCH_ROWS, MAX_BATCH_ROWS = 64, 4_096

# A mixture component that has less than this part of a row is dead; it gets the mean and covariance of all rows.
MIN_MASS = 1e-8

# A covariance is singular if some column varies less than this, given the others, relative to its variance; smaller
# parts are rounding.
MIN_FREE_VARIANCE = 1e-13

# What a singular covariance first gets on its diagonal, relative to the variances of all rows.
FIRST_RIDGE = 1e-6


@dataclass(frozen=True, eq=False)
class Gaussians:
    """Means and covariances of the mixture components, in the shapes of scikit-learn's GaussianMixture.

    Parameters
    ----------
    means : ndarray of shape (n_components, n_features)
        The means.
    covariances : ndarray
        The covariances, of shape (n_components, n_features, n_features) if full, (n_features, n_features) if tied,
        (n_components, n_features) if diag, and (n_components,) if spherical.
    precisions_cholesky : ndarray
        The Cholesky factors of the inverse covariances, of the same shape; upper triangular.
    covariance_type : {"full", "tied", "diag", "spherical"}
        The form of the covariances.
    repaired : tuple of int, default=()
        The mixture components whose covariance was singular; for tied covariances, which are one, (-1,).
    """

    means: Array
    covariances: Array
    precisions_cholesky: Array
    covariance_type: str
    repaired: tuple[int, ...] = ()

    @classmethod
    def estimate(
        cls,
        X: Array,
        responsibilities: Array,
        *,
        covariance_type: str = "full",
        reg_covar: float = 1e-6,
        pooled_rows: float = 0.0,
    ) -> Self:
        """Estimate the densities by maximum likelihood, given the mass of every row in every mixture component.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            The rows.
        responsibilities : ndarray of shape (n_samples, n_components)
            The masses: responsibilities, or these times the weights of rows.
        covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
            The form of the covariances.
        reg_covar : float, default=1e-6
            Added to the diagonal of the covariances.
        pooled_rows : float, default=0.0
            The number of rows that the covariance of all mixture components pooled counts in each full covariance.

        Returns
        -------
        Gaussians

        Raises
        ------
        ValueError
            If `pooled_rows` is given with covariances that are not full.
        """
        if pooled_rows and covariance_type != "full":
            raise ValueError(f'pooled_rows needs covariance_type="full"; got {covariance_type!r}.')
        total = responsibilities.sum(axis=0, dtype=np.float64)
        dead = np.flatnonzero(total <= MIN_MASS * total.sum() / len(X))
        mass = total + 10 * np.finfo(np.float64).eps
        means = np.asarray(responsibilities.T @ X, dtype=np.float64) / mass[:, None]
        center = total @ means / max(total.sum(), MIN_MASS)
        covariances = _COVARIANCES[covariance_type](X, responsibilities, mass, means, center)
        if dead.size:
            everything = cls.estimate(
                X, responsibilities.sum(axis=1, keepdims=True), covariance_type=covariance_type, reg_covar=0.0
            )
            means[dead] = everything.means
            if covariance_type != "tied":
                covariances[dead] = everything.covariances
        if pooled_rows:
            covariances, reg_covar = _shrink(covariances, total, pooled_rows, reg_covar), 0.0
        invert = _invert_matrices if covariance_type in ("full", "tied") else _invert_variances
        precisions_cholesky, repaired = invert(covariances, reg_covar, X)
        means, covariances, precisions_cholesky = (
            array.astype(X.dtype, copy=False) for array in (means, covariances, precisions_cholesky)
        )
        return cls(means, covariances, precisions_cholesky, covariance_type, repaired)

    def log_density(self, X: Array) -> Array:
        """Return the logarithm of the density of every mixture component at every row.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            In the precision of X.
        """
        n_components, n_features = self.means.shape
        means = self.means.astype(np.float64)
        precisions_cholesky = self.precisions_cholesky.astype(np.float64)
        center = means.mean(axis=0)
        squares = _SQUARES[self.covariance_type](means - center, precisions_cholesky)
        constant = self._log_volume(precisions_cholesky) - 0.5 * n_features * math.log(2 * math.pi)
        logs = np.empty((len(X), n_components), dtype=X.dtype)
        # With matrices, all components side by side.
        n_numbers = self.means.size if self.covariance_type == "full" else n_components + n_features
        for rows, batch in _batches(X, center, n_numbers):
            # Of numbers far from zero the squares can be negative by rounding.
            logs[rows] = constant - 0.5 * np.maximum(squares(batch), 0.0)
        return logs

    def _log_volume(self, precisions_cholesky: Floats) -> Any:
        """Return the logarithms of the determinants of the Cholesky factors."""
        if self.covariance_type in ("full", "tied"):
            return np.log(np.diagonal(precisions_cholesky, axis1=-2, axis2=-1)).sum(axis=-1)
        if self.covariance_type == "diag":
            return np.log(precisions_cholesky).sum(axis=1)
        return self.means.shape[1] * np.log(precisions_cholesky)


def normalize_logs(logs: Array) -> tuple[Array, Array]:
    """Turn the logarithms of every row into probabilities; return the logarithms of their sums as well.

    Parameters
    ----------
    logs : ndarray of shape (n_samples, n_components)
        Logarithms; of no row all minus infinity.

    Returns
    -------
    probabilities : ndarray of shape (n_samples, n_components)
        Rows of sum one.
    log_sums : ndarray of shape (n_samples,)
        The logarithms of the sums.
    """
    probabilities, log_sums = np.empty_like(logs), np.empty(len(logs), dtype=logs.dtype)
    for rows in _slices(*logs.shape):
        # With the rows side by side every step runs along contiguous numbers.
        batch = np.ascontiguousarray(logs[rows].T)
        top = batch.max(axis=0)
        batch -= top
        np.exp(batch, out=batch)
        total = batch.sum(axis=0)
        batch /= total
        probabilities[rows] = batch.T
        log_sums[rows] = top + np.log(total)
    return probabilities, log_sums


def _slices(n_rows: int, n_numbers: int) -> Iterator[slice]:
    """Yield the rows in batches, given how many numbers the work on one row needs."""
    size = min(max(BATCH_SIZE // n_numbers, MIN_BATCH_ROWS), MAX_BATCH_ROWS)
    for start in range(0, n_rows, size):
        yield slice(start, start + size)


def _batches(X: Array, center: Floats, n_numbers: int) -> Iterator[tuple[slice, Floats]]:
    """Yield the rows in batches, in double precision, relative to a center."""
    for rows in _slices(len(X), n_numbers):
        yield rows, X[rows] - center


# ---- covariances about the means, without regularization -----------------------------------------------------------


def _full_covariances(X: Array, responsibilities: Array, mass: Floats, means: Floats, center: Floats) -> Floats:
    n_components, n_features = means.shape
    scatters = np.zeros((n_components, n_features, n_features))
    for rows, batch in _batches(X, center, 4 * n_features):
        # With the rows side by side every step runs along contiguous numbers.
        points, masses = np.ascontiguousarray(batch.T), np.ascontiguousarray(responsibilities[rows].T)
        for c in range(n_components):
            centered = points - (means[c] - center)[:, None]
            scatters[c] += (centered * masses[c]) @ centered.T
    return scatters / mass[:, None, None]


def _tied_covariance(X: Array, responsibilities: Array, mass: Floats, means: Floats, center: Floats) -> Floats:
    n_features = means.shape[1]
    scatter = np.zeros((n_features, n_features))
    for rows, batch in _batches(X, center, 2 * n_features):
        scatter += (batch * responsibilities[rows].sum(axis=1)[:, None]).T @ batch
    between = means - center
    return (scatter - (mass * between.T) @ between) / mass.sum()


def _diag_covariances(X: Array, responsibilities: Array, mass: Floats, means: Floats, center: Floats) -> Floats:
    squares = np.zeros(means.shape)
    for rows, batch in _batches(X, center, sum(means.shape)):
        squares += responsibilities[rows].T @ np.square(batch, out=batch)
    squares /= mass[:, None]
    variances = squares - np.square(means - center)
    # What is left of a column that does not vary is rounding.
    return np.where(variances > MIN_FREE_VARIANCE * squares, variances, 0.0)


def _spherical_covariances(X: Array, responsibilities: Array, mass: Floats, means: Floats, center: Floats) -> Floats:
    return np.asarray(_diag_covariances(X, responsibilities, mass, means, center).mean(axis=1))


def _shrink(covariances: Floats, mass: Floats, pooled_rows: float, reg_covar: float) -> Floats:
    """Return matrices shrunk towards the pooled one, which is regularized and counts so many rows."""
    pooled = np.tensordot(mass, covariances, axes=1) / mass.sum() + reg_covar * np.eye(covariances.shape[1])
    return (mass[:, None, None] * covariances + pooled_rows * pooled) / (mass + pooled_rows)[:, None, None]


_COVARIANCES = {
    "full": _full_covariances,
    "tied": _tied_covariance,
    "diag": _diag_covariances,
    "spherical": _spherical_covariances,
}


# ---- inverse covariances, and the repair of singular ones ----------------------------------------------------------


def _invert_matrices(covariances: Floats, reg_covar: float, X: Array) -> tuple[Floats, tuple[int, ...]]:
    """Regularize matrices in place; return the Cholesky factors of their inverses, and which had to be repaired."""
    is_tied = covariances.ndim == 2
    stack = covariances[None] if is_tied else covariances
    np.einsum("cii->ci", stack)[...] += reg_covar
    factors, repaired = np.empty_like(stack), []
    for c, covariance in enumerate(stack):
        factor, ridge = _cholesky(covariance), FIRST_RIDGE
        if factor is None:
            repaired.append(-1 if is_tied else c)
        while factor is None:
            covariance[np.diag_indices_from(covariance)] += ridge * _scales(X)
            factor, ridge = _cholesky(covariance), 10 * ridge
        # Contiguous, as it is after unpickling: the last digits of products depend on it.
        factors[c] = solve_triangular(factor, np.eye(len(factor)), lower=True, check_finite=False).T
    return (factors[0] if is_tied else factors), tuple(repaired)


def _cholesky(covariance: Floats) -> Floats | None:
    """Return the lower Cholesky factor; None if the matrix is singular up to rounding."""
    try:
        factor = np.linalg.cholesky(covariance).astype(np.float64, copy=False)
    except np.linalg.LinAlgError:
        return None
    # The square is what varies of a column given the columns before it.
    is_regular = np.square(factor.diagonal()) > MIN_FREE_VARIANCE * covariance.diagonal()
    return factor if is_regular.all() else None


def _invert_variances(variances: Floats, reg_covar: float, X: Array) -> tuple[Floats, tuple[int, ...]]:
    """Regularize variances in place; return the roots of their inverses, and which components had to be repaired."""
    variances += reg_covar
    singular = variances <= np.finfo(X.dtype).tiny
    if singular.any():
        scales = _scales(X) if variances.ndim == 2 else _scales(X).mean()
        variances[...] = np.where(singular, FIRST_RIDGE * scales, variances)
    repaired = np.flatnonzero(singular.any(axis=1) if variances.ndim == 2 else singular)
    return 1 / np.sqrt(variances), tuple(repaired.tolist())


def _scales(X: Array) -> Floats:
    """Return the variances of the columns of all rows; 1 where a column does not vary."""
    variances = X.var(axis=0, dtype=np.float64)
    return np.where(variances > np.finfo(X.dtype).tiny, variances, 1.0)


# ---- squared distances of centered rows to the means, in the metric of each component ------------------------------


def _full_squares(means: Floats, precisions_cholesky: Floats) -> Callable[[Floats], Floats]:
    n_components, n_features = means.shape
    # All components in one matrix product.
    side_by_side = precisions_cholesky.transpose(1, 0, 2).reshape(n_features, -1)
    centers = (means[:, None, :] @ precisions_cholesky).ravel()

    def squares(batch: Floats) -> Floats:
        white = batch @ side_by_side
        white -= centers
        white = white.reshape(-1, n_components, n_features)
        return np.asarray(np.einsum("rcf,rcf->rc", white, white))

    return squares


def _diag_squares(means: Floats, precisions_cholesky: Floats) -> Callable[[Floats], Floats]:
    precisions = np.square(precisions_cholesky)
    weighted, norms = (means * precisions).T, (np.square(means) * precisions).sum(axis=1)
    return lambda batch: norms - 2 * (batch @ weighted) + np.square(batch) @ precisions.T


def _spherical_squares(means: Floats, precisions_cholesky: Floats) -> Callable[[Floats], Floats]:
    return _diag_squares(means, np.repeat(precisions_cholesky[:, None], means.shape[1], axis=1))


def _tied_squares(means: Floats, precisions_cholesky: Floats) -> Callable[[Floats], Floats]:
    of_white = _diag_squares(means @ precisions_cholesky, np.ones(means.shape))
    return lambda batch: of_white(batch @ precisions_cholesky)


_SQUARES = {
    "full": _full_squares,
    "tied": _tied_squares,
    "diag": _diag_squares,
    "spherical": _spherical_squares,
}
