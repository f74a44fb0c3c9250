"""The base class of the learned metrics."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from mustlink._sklearn_compat import fit_context
from mustlink._types import Array, Floats, Ints
from mustlink._warnings import warn_caller
from mustlink.base import check_fits, check_table, collect_links
from mustlink.constraints import AlignedConstraints, Constraints
from mustlink.errors import UnmetConstraintsWarning

# Learning takes several matrices of d x d numbers, of 200 MB each for so many features.
MAX_FEATURES = 5_000
# Up to this many numbers one BLAS thread is faster than several.
MAX_ONE_THREAD = 200_000
# A relative gap to the optimum below this may be due to rounding.
ROUNDING = 1e-7


@dataclass(frozen=True)
class MahalanobisDistance:
    """The distance of two rows under a learned metric: the square root of (a - b)' A (a - b).

    It can be pickled, and passed wherever a callable metric is accepted, such as a nearest-neighbor search.

    Parameters
    ----------
    components : ndarray of shape (n_components, n_features)
        The matrix C with A = C' C.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink.metric_learning import MahalanobisDistance
    >>> MahalanobisDistance(np.diag([2.0, 1.0]))([0.0, 0.0], [3.0, 8.0])
    10.0
    """

    components: Array

    def __call__(self, a: ArrayLike, b: ArrayLike) -> float:
        difference = np.asarray(a, dtype=np.float64) - np.asarray(b, dtype=np.float64)
        return float(np.linalg.norm(self.components @ difference))


class BaseLinkedMetric(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base class of transformers that learn a metric from links.

    A subclass implements ``_learn(X, links)``, which returns the linear map. Without links it should be the identity.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import Constraints
    >>> from mustlink.metric_learning import BaseLinkedMetric
    >>> class DropUnequalColumns(BaseLinkedMetric):
    ...     def _learn(self, X, links):
    ...         first, second = links.must_link.T
    ...         return np.diag((X[first] == X[second]).all(axis=0).astype(float))
    >>> X = np.array([[1.0, 2.0], [1.0, 5.0], [3.0, 4.0]])
    >>> DropUnequalColumns().fit_transform(X, constraints=Constraints(must_link=[(0, 1)]))
    array([[1., 0.],
           [1., 0.],
           [3., 0.]])
    """

    __metadata_request__fit = {"constraints": True}  # noqa: RUF012  (scikit-learn reads a plain class attribute)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    components_: Array

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: Any, y: ArrayLike | None = None, *, constraints: Constraints | AlignedConstraints | None = None
    ) -> Self:
        """Learn the metric.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The data.
        y : array-like of shape (n_samples,), default=None
            Partial labels, -1 for unknown, as an additional source of links. Labels for every row are ignored, because
            scikit-learn passes the true labels to every step of a pipeline; to learn from them, pass
            ``constraints=Constraints.from_labels(y)``.
        constraints : Constraints or AlignedConstraints, default=None
            The links between rows. Without links the metric is the Euclidean one.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        # Forgotten first, so that a fit that fails leaves no earlier metric.
        self.__dict__.pop("components_", None)
        X = check_table(self, X, accept_sparse="csr", order="C", accept_large_sparse=False)
        links = collect_links(constraints, y, X)
        self._check_size(X, links)
        self.components_ = self._learn(X, links).astype(X.dtype, copy=False)
        self._n_features_out = len(self.components_)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        # Not by any attribute: the number of columns is known before a fit can fail.
        return hasattr(self, "components_")

    def _check_size(self, X: Any, links: Constraints) -> None:
        """Refuse a table for which the arrays of learning are too large."""
        n_features = X.shape[1]
        instead = "reduce the features first, for example with sklearn.decomposition.PCA or TruncatedSVD"
        check_fits(type(self).__name__, (n_features, n_features), MAX_FEATURES**2, instead)

    @abstractmethod
    def _learn(self, X: Any, links: Constraints) -> Floats:
        """Return the matrix C of shape (n_components, n_features) with A = C' C, and set other attributes."""

    def transform(self, X: Any) -> Array:
        """Map rows into the space where the learned metric is Euclidean.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows to map.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            The rows times C'.
        """
        check_is_fitted(self)
        X = check_table(self, X, reset=False, accept_sparse="csr", accept_large_sparse=False)
        return np.asarray(X @ self.components_.T.astype(X.dtype, copy=False))

    def get_metric(self) -> MahalanobisDistance:
        """Return the learned distance as a function of two rows.

        Returns
        -------
        MahalanobisDistance
            A callable that later fits do not change.
        """
        check_is_fitted(self)
        return MahalanobisDistance(self.components_.astype(np.float64))

    @property
    def metric_matrix_(self) -> Floats:
        """The matrix A of the metric, of shape (n_features, n_features)."""
        components = self.components_.astype(np.float64)
        return components.T @ components

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def dense_rows(X: Any, index: Array) -> Floats:
    """Return some rows of a dense or sparse X as a dense array in double precision."""
    taken = X[index]
    return np.asarray(taken.toarray() if sparse.issparse(taken) else taken, dtype=np.float64)


def differences(X: Any, pairs: Ints) -> Floats:
    """Return the difference of the two rows of each pair."""
    return dense_rows(X, pairs[:, 0]) - dense_rows(X, pairs[:, 1])


def symmetric_root(A: Floats) -> Floats:
    """Return the symmetric square root of a positive semidefinite matrix."""
    values, vectors = np.linalg.eigh((A + A.T) / 2)
    return (vectors * np.sqrt(np.clip(values, 0.0, None))) @ vectors.T


def warn_of_identity(name: str, needed: str, links: Constraints, n_features: int) -> Floats:
    """Warn that links of the required kind are missing, and return the identity."""
    warn_caller(
        f"{name} learns from {needed}, and there are none among the {len(links.must_link)} must-links and "
        f"{len(links.cannot_link)} cannot-links given; the metric is the Euclidean one.",
        UnmetConstraintsWarning,
    )
    return np.eye(n_features)


def warn_of_gap(name: str, n_steps: int, gap: float, tol: float) -> None:
    """Warn if the relative gap to the optimum is above the tolerance."""
    if gap > max(tol, ROUNDING):
        warn_caller(
            f"{name} stopped after {n_steps} steps with a relative gap to the optimum of {gap:.2g}, above "
            f"tol={tol:g}; increase max_iter or tol.",
            ConvergenceWarning,
        )
