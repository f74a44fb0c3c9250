"""Estimators with their links inside, for tools that pass no links to ``fit``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mustlink._estimators import fit_with_links, fitted_inside
from mustlink._spelling import count
from mustlink.constraints import AlignedConstraints, Constraints
from mustlink.errors import ConstraintError

__all__ = ["BoundEstimator", "bind"]


def bind(estimator: Any, constraints: Constraints | AlignedConstraints) -> BoundEstimator:
    """Return an estimator with its links inside, whose ``fit`` takes X alone.

    Parameters
    ----------
    estimator : estimator
        A clusterer or metric of mustlink, any estimator whose ``fit`` takes `constraints`, or a pipeline with such
        steps, all of which get the links.
    constraints : Constraints or AlignedConstraints
        The links between the rows that the tool will pass to ``fit``. With ``links.on(n_samples)``, any other number of
        rows is refused.

    Returns
    -------
    BoundEstimator

    Examples
    --------
    >>> from mustlink import Constraints, COPKMeans, bind
    >>> links = Constraints(must_link=[(1, 2)])
    >>> bind(COPKMeans(2, random_state=0), links.on(4)).fit_predict([[0.0], [1.0], [8.0], [9.0]])
    array([1, 0, 0, 0])
    """
    return BoundEstimator(estimator, constraints)


def _has(name: str) -> Callable[[Any], bool]:
    """Make the condition that the estimator has a method."""

    def check(self: Any) -> bool:
        getattr(getattr(self, "estimator_", self.estimator), name)
        return True

    return check


class BoundEstimator(MetaEstimatorMixin, BaseEstimator):
    """An estimator with its links inside, for tools that pass no links to ``fit``.

    Made by :func:`mustlink.bind`. The tool calls ``fit(X)`` as on any estimator of scikit-learn, and the links are
    passed on. The methods of the estimator that are listed below exist where it has them.

    Parameters
    ----------
    estimator : estimator
        Whose ``fit`` takes `constraints`, or a pipeline with such steps. It is cloned before it is fitted.
    constraints : Constraints or AlignedConstraints
        Links between the rows of ``fit``, in their order.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator, with all that it found, such as its ``violations_``.
    labels_ : ndarray of shape (n_samples,)
        Its labels, if it is a clusterer, or a pipeline that ends with one.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X has any.

    Notes
    -----
    Links are between rows by number: the tool must pass all rows, in the order of the links. With
    ``links.on(n_samples)`` a fit on any other number of rows, such as that of a fold of cross-validation, is refused.
    Bare links can only refuse a table that is too short. For cross-validation, pass the links to ``fit`` instead.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from mustlink import Constraints, COPKMeans, bind
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> links = Constraints(must_link=[(1, 2)]).on(len(X))
    >>> make_pipeline(StandardScaler(), bind(COPKMeans(2, random_state=0), links)).fit_predict(X)
    array([1, 0, 0, 0])
    """

    def __init__(self, estimator: Any, constraints: Constraints | AlignedConstraints) -> None:
        self.estimator = estimator
        self.constraints = constraints

    def fit(self, X: Any, y: ArrayLike | None = None) -> Self:
        """Fit the estimator to X with the links.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows that the links are between.
        y : array-like of shape (n_samples,), default=None
            Passed on to the estimator; for clusterers, partial labels.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._check(X)
        model = fit_with_links(clone(self.estimator), X, self.constraints, y=y)
        self.estimator_ = model
        inside = fitted_inside(model)
        for name, owner in (("labels_", inside), ("n_features_in_", model), ("feature_names_in_", model)):
            self.__dict__.pop(name, None)
            if hasattr(owner, name):
                setattr(self, name, getattr(owner, name))
        return self

    def _check(self, X: Any) -> None:
        """Refuse what is no estimator, what is no links, and links on another number of rows."""
        if isinstance(self.estimator, type) or not hasattr(self.estimator, "fit"):
            raise TypeError(f"bind takes an estimator, such as PCKMeans(3); got {self.estimator!r}.")
        if not isinstance(self.constraints, Constraints | AlignedConstraints):
            raise TypeError(f"bind takes a mustlink.Constraints, got {type(self.constraints).__name__}.")
        if isinstance(self.constraints, AlignedConstraints) and len(self.constraints) != (n_samples := np.shape(X)[0]):
            raise ConstraintError(
                f"The links are bound to {count(len(self.constraints), 'row')}, but fit was given "
                f"{count(n_samples, 'row')}. A tool that fits parts of the rows, as cross-validation does, cannot use "
                "bound links; pass constraints=links.on(n_samples) to fit."
            )

    @available_if(_has("fit_predict"))
    def fit_predict(self, X: Any, y: ArrayLike | None = None) -> Any:
        """Fit the estimator and return the labels of the rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows that the links are between.
        y : array-like of shape (n_samples,), default=None
            Passed on to the estimator.

        Returns
        -------
        ndarray of shape (n_samples,)
            Cluster labels.
        """
        return self.fit(X, y).labels_

    @available_if(_has("predict"))
    def predict(self, X: Any) -> Any:
        """Return the clusters of new rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows, which have no links.

        Returns
        -------
        ndarray of shape (n_samples,)
            Cluster labels.
        """
        return self._fitted().predict(X)

    @available_if(_has("predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """Return the probability of each cluster for new rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows, which have no links.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            Probabilities.
        """
        return self._fitted().predict_proba(X)

    @available_if(_has("transform"))
    def transform(self, X: Any) -> Any:
        """Transform new rows as the estimator does.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (n_samples, n_columns)
            What the ``transform`` of the estimator returns.
        """
        return self._fitted().transform(X)

    @available_if(_has("transform"))
    def fit_transform(self, X: Any, y: ArrayLike | None = None) -> Any:
        """Fit the estimator and transform the rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows that the links are between.
        y : array-like of shape (n_samples,), default=None
            Passed on to the estimator.

        Returns
        -------
        ndarray of shape (n_samples, n_columns)
            The transformed rows.
        """
        return self.fit(X, y).transform(X)

    @available_if(_has("get_feature_names_out"))
    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> Any:
        """Return the names of the columns of ``transform``.

        Parameters
        ----------
        input_features : array-like of str, default=None
            The names of the features of X.

        Returns
        -------
        ndarray of str
            The names.
        """
        return self._fitted().get_feature_names_out(input_features)

    @available_if(_has("set_output"))
    def set_output(self, *, transform: str | None = None) -> Self:
        """Set the container that ``transform`` returns.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"} or None, default=None
            The container, as in scikit-learn.

        Returns
        -------
        self : object
            The estimator.
        """
        for model in (self.estimator, getattr(self, "estimator_", None)):
            if model is not None:
                model.set_output(transform=transform)
        return self

    @available_if(_has("score"))
    def score(self, X: Any, y: ArrayLike | None = None) -> float:
        """Return the score of new rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows.
        y : array-like of shape (n_samples,), default=None
            Passed on to the estimator.

        Returns
        -------
        float
            What the ``score`` of the estimator returns.
        """
        return float(self._fitted().score(X, y))

    def _fitted(self) -> Any:
        check_is_fitted(self, "estimator_")
        return self.estimator_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type, tags.transformer_tags = inner.estimator_type, inner.transformer_tags
        tags.input_tags, tags.non_deterministic = inner.input_tags, inner.non_deterministic
        return tags
