"""Shared parts of the classifiers: validation, features, one problem for each class, and prediction."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning, UndefinedMetricWarning
from sklearn.metrics import accuracy_score
from sklearn.metrics.pairwise import kernel_metrics
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from mustlink._kernel import Kernel, scale_gamma
from mustlink._sklearn_compat import Interval, StrOptions, check_sample_weight, fit_context
from mustlink._types import Array, Floats, Indices
from mustlink._warnings import warn_caller
from mustlink.base import as_constraints, check_table
from mustlink.blocks import blockwise
from mustlink.constraints import AlignedConstraints, Constraints
from mustlink.pairwise._features import choose_landmarks, distinct_rows, kernel_scores, landmark_features
from mustlink.pairwise._labels import Labels, known_labels, read_labels
from mustlink.pairwise._terms import LinkedPairs


class BasePairwiseClassifier(ClassifierMixin, BaseEstimator):
    """Base class of classifiers from labels and links.

    A subclass implements ``_solve``, which returns the parameters of one problem of two sides.
    """

    __metadata_request__fit = {"constraints": True}  # noqa: RUF012  (scikit-learn reads a plain class attribute)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [Interval(Real, 0, None, closed="neither")],
        "kernel": [StrOptions({*kernel_metrics(), "precomputed"}), callable],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0, None, closed="neither")],
        "degree": [Interval(Real, 0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "kernel_params": [dict, None],
        "link_penalty": [Interval(Real, 0, None, closed="left")],
        "scale_penalty": ["boolean"],
        "fit_intercept": ["boolean"],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "approximation": [StrOptions({"auto", "exact", "nystroem"})],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    C: float
    kernel: str | Callable[..., float]
    gamma: float | str
    degree: float
    coef0: float
    kernel_params: Mapping[str, Any] | None
    link_penalty: float
    scale_penalty: bool
    fit_intercept: bool
    class_weight: Mapping[Any, float] | str | None
    approximation: str
    n_components: int | None
    max_iter: int
    random_state: Any

    classes_: Array
    coef_: Array
    dual_coef_: Array
    intercept_: Array
    n_features_in_: int

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        constraints: Constraints | AlignedConstraints | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from the labels of some rows and from links between any rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The data, rows without a label among them; the kernel of all rows with ``kernel="precomputed"``.
        y : array-like of shape (n_samples,)
            The classes; -1, None, NaN and empty text are unknown. At least two classes need a label.
        constraints : Constraints or AlignedConstraints, default=None
            Must-links between rows of one class and cannot-links between rows of different classes. Their weights say
            how much to trust them.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights of the labels. A label of weight 0 is ignored.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        # Forgotten first, so that a fit that fails leaves no earlier result to predict with.
        self.__dict__.pop("classes_", None)
        X = self._check_rows(X)
        labels, weight = read_labels(type(self).__name__, y, X, sample_weight, self.class_weight)
        links = as_constraints(constraints, X.shape[0]).expand()
        rng = check_random_state(self.random_state)
        rows = np.union1d(labels.rows, links.constrained_rows())
        features, to_model = self._features(X, rows, labels, weight, rng)
        pairs = self._weighted_pairs(links, rows, labels)
        self.n_iter_ = np.zeros(labels.n_problems, dtype=np.int64)
        solved, intercepts, histories = [], [], []
        for problem in range(labels.n_problems):
            parameters, intercept, history = self._solve(features, rows, labels, problem, pairs, rng)
            solved.append(to_model(parameters))
            intercepts.append(intercept)
            histories.append(history)
        setattr(self, "coef_" if self._is_linear else "dual_coef_", np.array(solved).astype(X.dtype, copy=False))
        self.intercept_ = np.array(intercepts, dtype=X.dtype)
        self.objective_ = sum_histories(histories)
        self.classes_ = labels.classes
        return self

    @abstractmethod
    def _solve(
        self, features: Any, rows: Indices, labels: Labels, problem: int, pairs: LinkedPairs, rng: Any
    ) -> tuple[Floats, float, list[float]]:
        """Return the coefficients of the features, the intercept and the objectives of one problem."""

    @property
    def _is_linear(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "linear"

    def _check_rows(self, X: Any, *, reset: bool = True) -> Any:
        """Validate rows, of a fit or new ones."""
        is_precomputed = isinstance(self.kernel, str) and self.kernel == "precomputed"
        X = check_table(
            self, X, reset=reset, accept_sparse=False if is_precomputed else "csr", accept_large_sparse=False
        )
        if is_precomputed and reset and X.shape[0] != X.shape[1]:
            raise ValueError(
                f'With kernel="precomputed" X is the kernel of all rows with each other, but it has {X.shape[0]} rows '
                f"and {X.shape[1]} columns."
            )
        return X

    def _features(
        self, X: Any, rows: Indices, labels: Labels, weight: Floats, rng: Any
    ) -> tuple[Any, Callable[[Floats], Floats]]:
        """Return the features of some rows, and the function from coefficients of features to those of the model."""
        for name in ("coef_", "dual_coef_", "landmarks_", "gamma_"):
            self.__dict__.pop(name, None)
        if self._is_linear:
            own = X[rows].astype(np.float64)
            # Features of unit size, for the solvers.
            size = float(np.sqrt((own.multiply(own) if sparse.issparse(own) else own**2).sum() / max(len(rows), 1)))
            self._feature_size = size if size > 0 else 1.0
            return own * (1 / self._feature_size), lambda coefficients: coefficients / self._feature_size
        self._feature_size = 1.0
        is_precomputed = isinstance(self.kernel, str) and self.kernel == "precomputed"
        self._kernel = Kernel(self.kernel, self._kernel_parameters(X, weight))
        chosen = rows if is_precomputed else distinct_rows(X, rows)
        is_labeled = np.isin(chosen, labels.rows)
        self.landmarks_ = choose_landmarks(
            chosen, is_labeled, self.approximation, self.n_components, rng, type(self).__name__
        )
        self._landmark_rows = self.landmarks_ if is_precomputed else X[self.landmarks_]
        inner = self._kernel(X[self.landmarks_], self._landmark_rows)
        features, basis = landmark_features(self._kernel, X, rows, self._landmark_rows, inner)
        return features, lambda coefficients: basis @ coefficients

    def _kernel_parameters(self, X: Any, weight: Floats) -> dict[str, Any]:
        """Return the parameters of the kernel, and keep the gamma that was used."""
        if not isinstance(self.kernel, str):
            return dict(self.kernel_params or {})
        if self.kernel == "precomputed":
            return {}
        if isinstance(self.gamma, str):
            self.gamma_ = scale_gamma(X, self.kernel, weight) if self.gamma == "scale" else 1.0 / X.shape[1]
        else:
            self.gamma_ = float(self.gamma)
        own = {"gamma": self.gamma_, "degree": self.degree, "coef0": self.coef0}
        return own | dict(self.kernel_params or {})

    def _weighted_pairs(self, links: Constraints, rows: Indices, labels: Labels) -> LinkedPairs:
        """Return the links between places in `rows`, weighted by the penalty, and keep the penalty."""
        penalty, total = float(self.link_penalty), float(links.weight.sum())
        if self.scale_penalty and total > 0:
            penalty *= min(1.0, float(labels.weight.sum()) / total)
        self.link_penalty_ = penalty
        first, second = np.searchsorted(rows, links.pairs).T
        weight = penalty * links.weight
        return LinkedPairs(first, second, links.sign.astype(np.int64), weight, len(rows), labels.n_problems == 1)

    def _warn_of_limit(self, has_converged: bool, n_iter: int) -> None:
        """Warn of a problem that ended at the limit of iterations, or where its solver found no way on."""
        if has_converged:
            return
        if n_iter >= self.max_iter:
            found = f"stopped after max_iter={self.max_iter} iterations before it converged; increase max_iter or tol"
        else:
            found = f"stopped after {n_iter} iterations, as its solver found no lower objective; increase tol"
        warn_caller(f"{type(self).__name__} {found}, reduce C, or scale the columns.", ConvergenceWarning)

    def __sklearn_is_fitted__(self) -> bool:
        # Not by any attribute: the number of columns is known before a fit can fail.
        return hasattr(self, "classes_")

    def decision_function(self, X: Any) -> Array:
        """Return the score f of every row, whose sign or whose largest class decides.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows; with ``kernel="precomputed"`` their kernel with the rows of the fit.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            With two classes, positive scores are of ``classes_[1]``. With more, one column for each class; a row of
            which all scores are negative may be of none of them.
        """
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        if self._is_linear:
            scores = np.asarray(X @ self.coef_.T.astype(np.float64)) + self.intercept_
        else:
            scores = kernel_scores(
                self._kernel, X, self._landmark_rows, self.dual_coef_.astype(np.float64), self.intercept_
            )
        scores = scores.astype(X.dtype, copy=False)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    @blockwise
    def predict(self, X: Any) -> Array:
        """Return the class of every row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows; with ``kernel="precomputed"`` their kernel with the rows of the fit.

        Returns
        -------
        ndarray of shape (n_samples,)
            The classes.
        """
        scores = self.decision_function(X)
        codes = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[codes])

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy on the rows whose class is known.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The classes; rows whose class is unknown are left out, so that partial labels can be cross-validated.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights of the rows.

        Returns
        -------
        float
            The accuracy; NaN, with a warning, if no class is known.
        """
        found = self.predict(X)
        rows, codes, classes = known_labels(y, len(found))
        if len(rows) == 0:
            warn_caller("The accuracy is NaN: no row has a known class in y.", UndefinedMetricWarning)
            return float("nan")
        weight = None if sample_weight is None else check_sample_weight(sample_weight, X, dtype=np.float64)[rows]
        return float(accuracy_score(classes[codes], found[rows], sample_weight=weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        is_precomputed = isinstance(self.kernel, str) and self.kernel == "precomputed"
        tags.input_tags.sparse = not is_precomputed
        tags.input_tags.pairwise = is_precomputed
        return tags


def sum_histories(histories: Sequence[Sequence[float]]) -> list[float]:
    """Return the sum of the objectives of all problems by iteration; one that ended keeps its last value."""
    longest = max(map(len, histories))
    padded = [[*history, *[history[-1]] * (longest - len(history))] for history in histories]
    return [sum(values) for values in zip(*padded, strict=True)]
