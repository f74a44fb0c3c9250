"""Which tables are read in blocks, and methods that take them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mustlink._types import Array
from mustlink.blocks._blocked_rows import BlockedRows
from mustlink.blocks._dask import DaskRows
from mustlink.blocks._dask_collections import is_dask
from mustlink.blocks._files import FileRows

__all__ = ["as_blocked", "blockwise"]

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


def blockwise(predict: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Make a ``predict`` take rows in blocks, too: it is called on every block, without the rows of the fit."""

    @wraps(predict)
    def predict_in_blocks(self: Any, X: Any) -> Any:
        rows = as_blocked(X)
        if rows is None:
            return predict(self, X)
        check_is_fitted(self)
        # Here, since the results of the blocks may be computed after this call.
        if rows.n_features != self.n_features_in_:
            raise ValueError(
                f"X has {rows.n_features} features, but {type(self).__name__} is expecting {self.n_features_in_} "
                "features as input."
            )
        return rows.label(predict_block, self._for_predicting())

    return predict_in_blocks


def predict_block(block: Array, model: Any) -> Array:
    """Return the clusters that a fitted model predicts for the rows of a block."""
    return np.asarray(model.predict(block))
