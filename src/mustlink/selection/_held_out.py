"""The accuracy of a clustering on held-out links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from mustlink._estimators import fit_with_links, labels_of
from mustlink.base import collect_links
from mustlink.constraints import AlignedConstraints, Constraints
from mustlink.selection._kfold import ConstraintKFold, check_splitter

__all__ = ["HeldOutFold", "held_out_accuracy"]


@dataclass(frozen=True)
class HeldOutFold:
    """The result of one fold.

    Attributes
    ----------
    train, test : Constraints
        The training links and the held-out links.
    estimator : object
        The fitted clusterer.
    must_link_accuracy, cannot_link_accuracy : float
        The fraction of the held-out links of each kind that the labels satisfy; NaN if there are none.

    Examples
    --------
    >>> import math
    >>> from mustlink import Constraints
    >>> from mustlink.selection import HeldOutFold
    >>> test = Constraints(must_link=[(0, 1), (2, 3)])
    >>> fold = HeldOutFold(Constraints(), test, None, must_link_accuracy=0.5, cannot_link_accuracy=math.nan)
    >>> fold.score(balanced=True)
    0.5
    """

    train: Constraints
    test: Constraints
    estimator: Any
    must_link_accuracy: float
    cannot_link_accuracy: float

    def score(self, *, balanced: bool) -> float:
        """Return the fraction of the held-out links that the labels satisfy.

        Parameters
        ----------
        balanced : bool
            Whether the two kinds of links have equal weight, whatever their numbers.

        Returns
        -------
        float
        """
        shares = np.array([self.must_link_accuracy, self.cannot_link_accuracy])
        counts = np.array([len(self.test.must_link), len(self.test.cannot_link)])
        present = counts > 0
        return float(np.average(shares[present], weights=None if balanced else counts[present]))


@overload
def held_out_accuracy(
    estimator: Any,
    X: Any,
    constraints: Constraints | AlignedConstraints,
    *,
    y: ArrayLike | None = ...,
    cv: int | ConstraintKFold | None = ...,
    balanced: bool = ...,
    fit_params: Mapping[str, Any] | None = ...,
    n_jobs: int | None = ...,
    return_folds: Literal[False] = ...,
) -> NDArray[np.float64]: ...
@overload
def held_out_accuracy(
    estimator: Any,
    X: Any,
    constraints: Constraints | AlignedConstraints,
    *,
    y: ArrayLike | None = ...,
    cv: int | ConstraintKFold | None = ...,
    balanced: bool = ...,
    fit_params: Mapping[str, Any] | None = ...,
    n_jobs: int | None = ...,
    return_folds: Literal[True],
) -> tuple[NDArray[np.float64], list[HeldOutFold]]: ...
def held_out_accuracy(
    estimator: Any,
    X: Any,
    constraints: Constraints | AlignedConstraints,
    *,
    y: ArrayLike | None = None,
    cv: int | ConstraintKFold | None = 5,
    balanced: bool = True,
    fit_params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    return_folds: bool = False,
) -> NDArray[np.float64] | tuple[NDArray[np.float64], list[HeldOutFold]]:
    """Score a clusterer by held-out links.

    For every fold a clone of the clusterer is fitted on all rows with the links of the other folds, and scored by the
    fraction of the links of the fold that its labels satisfy.

    Parameters
    ----------
    estimator : clusterer
        Any clusterer whose ``fit`` takes `constraints`, or a pipeline or search with one. A pipeline passes the links
        to every step that takes them, whether metadata routing is enabled or not.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The data. All rows are used in every fold.
    constraints : Constraints or AlignedConstraints
        The links.
    y : array-like of shape (n_samples,), default=None
        Partial labels, -1 for unknown. They are converted into links and split like the others, to avoid a leak.
    cv : int, ConstraintKFold or None, default=5
        How to split the links. A number is the number of folds, without shuffling, which makes calls comparable; None
        is 5.
    balanced : bool, default=True
        Whether the score of a fold is the mean of the accuracies on must-links and on cannot-links, or the accuracy on
        all links. If most links are cannot-links, as random pairs of many classes are, the latter is high even for
        clusters of single rows. A fold with one kind of links is scored by that kind.
    fit_params : dict, default=None
        Passed to ``fit``.
    n_jobs : int, default=None
        The number of folds that are fitted in parallel.
    return_folds : bool, default=False
        Whether to return the results of each fold as well.

    Returns
    -------
    scores : ndarray of shape (n_splits,)
        The score of every fold, between 0 and 1.
    folds : list of HeldOutFold
        Only with `return_folds`.

    See Also
    --------
    ConstraintKFold : The split.
    sklearn.model_selection.cross_val_score : Holds out rows instead.

    Notes
    -----
    Weights of links do not affect the score. A hard clusterer that cannot satisfy the training links of a fold raises
    InfeasibleError.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mustlink import COPKMeans, Constraints
    >>> from mustlink.selection import held_out_accuracy
    >>> X, species = load_iris(return_X_y=True)
    >>> links = Constraints.sample(species, n_pairs=40, random_state=0)
    >>> scores = held_out_accuracy(COPKMeans(n_clusters=3, random_state=0), X, links)
    >>> scores.shape
    (5,)
    """
    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        given = f"the class {estimator.__name__}" if isinstance(estimator, type) else type(estimator).__name__
        raise TypeError(
            f"The first argument is a clusterer, such as PCKMeans(), and then come X and links; got {given}."
        )
    n_samples = X.shape[0] if hasattr(X, "shape") else len(X)
    links = collect_links(constraints, y, X)
    fit_params = dict(fit_params or {})
    reserved = sorted(name for name in fit_params if name in ("X", "y") or name.split("__")[-1] == "constraints")
    if reserved:
        raise ValueError(f"fit_params cannot contain {', '.join(reserved)}; pass it to held_out_accuracy itself.")
    splitter = check_splitter(cv)
    folds = Parallel(n_jobs=n_jobs)(
        delayed(_fit_fold)(clone(estimator), X, train, test, n_samples, fit_params)
        for train, test in splitter.split(links, n_samples)
    )
    scores = np.array([fold.score(balanced=balanced) for fold in folds])
    return (scores, folds) if return_folds else scores


def _fit_fold(
    estimator: Any, X: Any, train: Constraints, test: Constraints, n_samples: int, fit_params: dict[str, Any]
) -> HeldOutFold:
    """Fit a clusterer with the training links and score it by the held-out ones."""
    # The aligned form, because a search inside the estimator may split it again.
    fit_with_links(estimator, X, train.on(n_samples), **fit_params)
    satisfied = test.satisfied(labels_of(estimator))
    must, cannot = np.split(satisfied, [len(test.must_link)])
    return HeldOutFold(
        train=train,
        test=test,
        estimator=estimator,
        must_link_accuracy=float(must.mean()) if len(must) else float("nan"),
        cannot_link_accuracy=float(cannot.mean()) if len(cannot) else float("nan"),
    )
