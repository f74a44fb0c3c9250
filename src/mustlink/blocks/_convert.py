"""Which tables are read in blocks, and methods that take them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial, wraps
from inspect import signature
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted, validate_data

from mustlink._types import Array
from mustlink.blocks._blocked_rows import BlockedRows
from mustlink.blocks._dask import DaskRows
from mustlink.blocks._dask_collections import is_dask
from mustlink.blocks._files import FileRows

__all__ = ["as_blocked", "blockwise", "blockwise_transform", "check_columns"]

# Smaller memory maps are read as arrays; joblib, too, maps the tables of parallel runs.
MIN_MAPPED_BYTES = 1 << 30


def as_blocked(X: Any) -> BlockedRows | None:
    """Return a table as rows in blocks, if that is what it is; None for a table in memory.

    Parameters
    ----------
    X : object
        A table of any kind.

    Returns
    -------
    BlockedRows or None
        For rows in blocks, for arrays and data frames of Dask, and for memory maps of at least 1 GiB.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink.blocks import as_blocked
    >>> as_blocked(np.zeros((3, 2))) is None
    True
    """
    if isinstance(X, BlockedRows):
        return X
    if is_dask(X):
        return DaskRows(X)
    if isinstance(X, np.memmap) and X.ndim == 2 and X.nbytes >= MIN_MAPPED_BYTES:
        is_plain = X.dtype in (np.float32, np.float64) and X.flags.c_contiguous
        return FileRows(X) if is_plain else None
    return None


def check_columns(estimator: Any, rows: BlockedRows, *, reset: bool = False) -> None:
    """Validate the number and the names of the columns of rows in blocks.

    Parameters
    ----------
    estimator : estimator
        Whose rows they are.
    rows : BlockedRows
        The rows.
    reset : bool, default=False
        Whether the rows are those of a fit, so that the estimator keeps what it sees; new rows are compared with that.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import PCKMeans
    >>> from mustlink.blocks import FileRows, check_columns
    >>> model = PCKMeans(n_clusters=2).fit(np.eye(3))
    >>> check_columns(model, FileRows(np.eye(2)))
    Traceback (most recent call last):
        ...
    ValueError: X has 2 features, but PCKMeans is expecting 3 features as input.
    """
    # Here, since pandas takes long to import.
    import pandas as pd

    # No rows, but what validation reads of a table.
    names = pd.DataFrame(np.empty((0, rows.n_features)), columns=rows.columns)
    validate_data(estimator, names if rows.columns else names.to_numpy(), reset=reset, skip_check_array=True)


def blockwise(predict: Callable[..., Any] | None = None, *, by_row: Sequence[str] = ()) -> Any:
    """Make a ``predict`` take rows in blocks, too: it is called on every block, without the rows of the fit.

    Parameters
    ----------
    predict : callable
        The method.
    by_row : sequence of str, default=()
        The names of arguments that have an entry for every row.

    Returns
    -------
    callable
        The method for rows in memory and in blocks; one integer for every row, in the form of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import PCKMeans
    >>> from mustlink.blocks import FileRows
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> model = PCKMeans(n_clusters=2, random_state=0).fit(X)
    >>> model.predict(FileRows(X, block_rows=3))
    array([1, 1, 0, 0], dtype=int32)
    """
    if predict is None:
        return partial(blockwise, by_row=by_row)
    method = predict

    @wraps(method)
    def predict_in_blocks(self: Any, X: Any, *arguments: Any, **options: Any) -> Any:
        rows = as_blocked(X)
        if rows is None:
            return method(self, X, *arguments, **options)
        model, dtype = _check_model(self, rows), _type_of_labels(self)
        # By name, since they may be given by position, too.
        given = signature(method).bind(self, X, *arguments, **options)
        parts = {name: given.arguments.pop(name) for name in by_row if given.arguments.get(name) is not None}
        for name, values in parts.items():
            if len(values) != rows.n_rows:
                raise ValueError(f"{name} has {len(values):,} entries, and X has {rows.n_rows:,} rows.")
        each = [
            ({name: getattr(values, "iloc", values)[start:stop] for name, values in parts.items()},)
            for start, stop in pairwise(rows.bounds.tolist())
        ]
        return rows.with_labels_in_memory().label(
            predict_block, model, given.args[2:], given.kwargs, dtype=dtype, each=each
        )

    return predict_in_blocks


def predict_block(block: Array, model: Any, arguments: tuple[Any, ...], options: dict[str, Any], own: Any) -> Array:
    """Return the clusters that a fitted model predicts for the rows of a block."""
    if not len(block):
        return np.empty(0, dtype=np.intp)
    return np.asarray(model.predict(block, *arguments, **options, **own))


def blockwise_transform(transform: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Make a ``transform`` take rows in blocks, too, and return rows in blocks that are computed in every pass.

    Of a collection of Dask it returns a Dask array.

    Parameters
    ----------
    transform : callable
        The method.

    Returns
    -------
    callable
        The method for rows in memory and in blocks.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import PCKMeans
    >>> from mustlink.blocks import FileRows
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> model = PCKMeans(n_clusters=2, random_state=0).fit(X)
    >>> distances = model.transform(FileRows(X))
    >>> distances.shape
    (4, 2)
    >>> distances.gather([3])
    array([[0.5, 8.5]])
    """

    @wraps(transform)
    def transform_in_blocks(self: Any, X: Any) -> Any:
        rows = as_blocked(X)
        if rows is None:
            return transform(self, X)
        change = TransformBlock(_check_model(self, rows))
        one = change(rows.gather(np.zeros(1, dtype=np.intp)))
        if isinstance(rows, DaskRows) and rows is not X:
            return rows.compute_table(change, one.shape[1], one.dtype)
        return rows.transform(change, one.shape[1], one.dtype)

    return transform_in_blocks


@dataclass(frozen=True)
class TransformBlock:
    """What a fitted model computes of the rows of a block."""

    model: Any

    def __call__(self, block: Array) -> Array:
        if not len(block):
            # The columns are those of any row.
            return self(np.zeros((1, block.shape[1]), dtype=block.dtype))[:0]
        return np.asarray(self.model.transform(block))


def _check_model(estimator: Any, rows: BlockedRows) -> Any:
    """Validate new rows of a fitted estimator; return what it needs to predict, to be sent to the blocks."""
    check_is_fitted(estimator)
    check_columns(estimator, rows)
    # Computed in a pass that looks at every number.
    _ = rows.moments
    if hasattr(estimator, "_for_predicting"):
        return estimator._for_predicting()
    model = copy(estimator)
    # Blocks are arrays without names.
    model.__dict__.pop("feature_names_in_", None)
    return model


def _type_of_labels(estimator: Any) -> Any:
    """Return the type of what is predicted."""
    if not is_classifier(estimator):
        return np.int32
    dtype = estimator.classes_.dtype
    if dtype.kind not in "biu":
        raise TypeError(
            f"{type(estimator).__name__} was fitted on classes of type {dtype}, and rows in blocks are given integers; "
            "fit it on numbers of the classes, as scikit-learn's LabelEncoder returns them."
        )
    return dtype
