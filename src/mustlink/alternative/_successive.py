"""One alternative clustering after another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import check_array, check_random_state

from mustlink._estimators import count_and_seed_parameters, draw_seed
from mustlink._types import Floats, Ints
from mustlink.alternative._base import BaseAlternative, is_counts
from mustlink.alternative._known import KnownColumn, KnownNumbers, check_known, columns_of
from mustlink.alternative._layout import Layout
from mustlink.alternative._reference import draw_linear, draw_normal, permute_columns, permute_counts

__all__ = ["Alternatives", "alternatives"]


@dataclass(frozen=True)
class Alternatives:
    """Clusterings of the same rows, each different from what was known and from those before it.

    Parameters
    ----------
    labels : ndarray of shape (n_samples, n_found)
        One column per clustering, in the order in which they were found.
    estimators : list of estimators
        The fitted clusterers.
    information : ndarray of shape (n_found,)
        What each clustering tells of the features beyond all that was known then, `information_` of its estimator.
    references : ndarray of shape (n_found, n_references)
        The same of reference data, in which there is nothing more to find.
    is_exhausted : bool
        Whether the search ended because the next clustering told no more than those of reference data.

    See Also
    --------
    alternatives : Finds them.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import CondEns
    >>> from mustlink.alternative import alternatives
    >>> X = np.random.default_rng(0).normal(size=(60, 2)) + 9 * np.array([[i % 2, i // 2 % 2] for i in range(60)])
    >>> found = alternatives(CondEns(2, random_state=0), X, random_state=0)
    >>> found.labels.shape, found.is_exhausted
    ((60, 2), True)
    """

    labels: Ints
    estimators: list[Any]
    information: Floats
    references: Floats
    is_exhausted: bool


def alternatives(
    estimator: Any,
    X: Any,
    *,
    known: Any = None,
    max_alternatives: int = 5,
    n_references: int = 9,
    random_state: int | np.random.RandomState | None = None,
) -> Alternatives:
    """Find one clustering after another, each different from all before it.

    A clustering is found, added to what is known, and the next one is found, until one tells no more of the features
    than the clusterings of reference data do.

    Parameters
    ----------
    estimator : ResidualClustering, CondEns or CCIB
        The clusterer; it is cloned.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows.
    known : array-like of shape (n_samples,) or (n_samples, n_splits), default=None
        What is known at first; the first clustering of nothing known is a plain one.
    max_alternatives : int, default=5
        The maximum number of clusterings.
    n_references : int, default=9
        The number of reference tables that each clustering is compared with: it is kept if it tells more than all
        of them. With 19, structure that is not there is kept with a probability of 5 %. With 0, all are kept.
    random_state : int, RandomState or None, default=None
        Draws the reference data and the seeds of the clusterers.

    Returns
    -------
    Alternatives
        The clusterings.

    Notes
    -----
    In reference data, every row keeps its known classes, and every combination of classes its features. Counts are
    shuffled word by word among the rows of a combination. Numbers are drawn from a normal distribution with its mean
    and covariance: to permute columns would leave the two halves of a column in place. With known columns of numbers,
    it is a linear model of them with normal errors. Columns of a sparse table of numbers are permuted. With
    ``CCIB(model="glm")`` and the link "log" or "logit", counts or zeros and ones are drawn by such a model of all that
    is known, one by one.

    Examples
    --------
    Three clusterings are in these rows, one by each column.

    >>> import numpy as np
    >>> from mustlink import CCIB
    >>> from mustlink.alternative import alternatives
    >>> corners = np.array([[i % 2, i // 2 % 2, i // 4 % 2] for i in range(160)])
    >>> X = np.random.default_rng(0).normal(size=(160, 3)) + corners * [16, 12, 8]
    >>> found = alternatives(CCIB(2, n_init=1), X, max_alternatives=3, n_references=0, random_state=0)
    >>> [int(abs(np.corrcoef(labels, corner)[0, 1]).round()) for labels, corner in zip(found.labels.T, corners.T)]
    [1, 1, 1]
    """
    _check_arguments(estimator, max_alternatives, n_references)
    table = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32])
    rng = check_random_state(random_state)
    n_rows = table.shape[0]
    splits = [column.reset_index(drop=True) for column, _ in columns_of(known, n_rows)]
    fitted, references = list[Any](), list[list[float]]()
    is_exhausted = False
    while len(fitted) < max_alternatives and not is_exhausted:
        frame = pd.concat(splits, axis=1) if splits else None
        model = _fit(estimator, table, frame, rng)
        columns = check_known(frame, n_rows, takes_numbers=model._takes_numbers())
        chance = [
            _fit(estimator, _draw_reference(model, table, columns, rng), frame, rng).information_
            for _ in range(n_references)
        ]
        is_exhausted = bool(chance) and model.information_ <= max(chance)
        if not is_exhausted:
            fitted.append(model)
            references.append(chance)
            splits.append(pd.Series(model.labels_))
    labels = np.column_stack([model.labels_ for model in fitted]) if fitted else np.empty((n_rows, 0), dtype=np.int64)
    return Alternatives(
        labels,
        fitted,
        np.array([model.information_ for model in fitted]),
        np.array(references).reshape(len(fitted), n_references),
        is_exhausted,
    )


def _check_arguments(estimator: Any, max_alternatives: int, n_references: int) -> None:
    """Refuse other clusterers, and numbers that are too small."""
    if not isinstance(estimator, BaseAlternative):
        raise TypeError(
            f"estimator must be a ResidualClustering, CondEns or CCIB, which take what is known; got {estimator!r}."
        )
    for name, value, least in (("max_alternatives", max_alternatives, 1), ("n_references", n_references, 0)):
        if not isinstance(value, int | np.integer) or value < least:
            raise ValueError(f"{name} must be a whole number from {least} on; got {value!r}.")


def _fit(estimator: Any, X: Any, known: Any, rng: np.random.RandomState) -> Any:
    """Fit a copy with a new seed, for it and for what it runs."""
    seeds = count_and_seed_parameters(estimator)[1]
    return clone(estimator).set_params(**dict.fromkeys(seeds, draw_seed(rng))).fit(X, known=known)


def _draw_reference(model: Any, X: Any, columns: list[KnownColumn], rng: np.random.RandomState) -> Any:
    """Return reference data of the kind that the clusterer models."""
    layout = Layout.of(columns, model.n_clusters)
    if getattr(model, "model_", "") == "glm" and model.link != "identity":
        return draw_linear(X, layout.design(columns, X.shape[0]), model.link, rng)
    cell = layout.cells(columns, X.shape[0])
    if any(isinstance(column, KnownNumbers) for column in columns):
        return draw_normal(X, cell, layout.design(columns, X.shape[0]), rng)
    if getattr(model, "model_", "multinomial" if is_counts(X) else "gaussian") == "multinomial":
        return permute_counts(X, cell, rng)
    return permute_columns(X, cell, rng) if sparse.issparse(X) else draw_normal(X, cell, None, rng)
