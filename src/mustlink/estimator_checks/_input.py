"""Checks of the types of X."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import SkipTest

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags

from mustlink.estimator_checks._cases import N_FEATURES, fitted, separated
from mustlink.estimator_checks._expect import expect, expect_error, expect_labels, expect_partition

NAMES = [f"column {number}" for number in range(N_FEATURES)]


def check_dtype_and_memory_order(estimator: BaseEstimator) -> None:
    """float32, float64, integers, C order, F order and strided rows give the same clusters."""
    case = separated()
    X = np.round(case.X)
    expected = fitted(estimator, X, constraints=case.links).labels_
    for form, table in {
        "float64 in F order": np.asfortranarray(X),
        "float32 in C order": X.astype(np.float32),
        "float32 in F order": np.asfortranarray(X, dtype=np.float32),
        "integers": X.astype(np.int64),
        "every second row of an array": np.repeat(X, 2, axis=0)[::2],
        "a list of lists": X.tolist(),
    }.items():
        found = fitted(estimator, table, constraints=case.links).labels_
        expect_partition(found, expected, f"given as {form}")


def check_float32_stays_float32(estimator: BaseEstimator) -> None:
    """Centers and distances have the dtype of X."""
    case = separated()
    for dtype in (np.float32, np.float64):
        X = case.X.astype(dtype)
        model = fitted(estimator, X, constraints=case.links)
        results = {"cluster_centers_": getattr(model, "cluster_centers_", None)}
        if hasattr(model, "transform"):
            results["transform"] = model.transform(X)
        for name, values in results.items():
            found = getattr(values, "dtype", None)
            expect(values is None or found == dtype, f"X is {dtype.__name__}, but {name} is {found}.")


def check_read_only_table(estimator: BaseEstimator) -> None:
    """A read-only X, in memory or memory-mapped, gives the same labels."""
    case = separated()
    expected = fitted(estimator, case.X, constraints=case.links)
    frozen = case.X.copy()
    frozen.flags.writeable = False
    with _memory_mapped(case.X) as mapped:
        for form, X in (("read-only memory", frozen), ("a memory-mapped file", mapped)):
            found = fitted(estimator, X, constraints=case.links)
            expect_labels(found.labels_, expected.labels_, f"given as {form}")
            if hasattr(found, "predict"):
                expect_labels(found.predict(X), expected.predict(case.X), f"predict of {form}")


@contextmanager
def _memory_mapped(X: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
    """Yield X as a memory-mapped file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.npy"
        np.save(path, X)
        yield np.load(path, mmap_mode="r")


def check_sparse_table(estimator: BaseEstimator) -> None:
    """A sparse X gives the clusters of the dense one, or is refused with a message that says so."""
    case = separated()
    X = np.where(case.X > 12.0, case.X, 0.0)
    takes_sparse = get_tags(estimator).input_tags.sparse
    expected = fitted(estimator, X, constraints=case.links).labels_
    for form in (csr_matrix, csr_array):
        if takes_sparse:
            found = fitted(estimator, form(X), constraints=case.links).labels_
            expect_partition(found, expected, f"given as {form.__name__}")
        else:
            when = "with a sparse X, which its tags do not allow"
            with expect_error((TypeError, ValueError), when, named=["sparse"]):
                fitted(estimator, form(X), constraints=case.links)


def check_pandas_table(estimator: BaseEstimator) -> None:
    """A pandas DataFrame gives the labels of its values; its index is ignored, and its column names are kept."""
    case = separated()
    frame = pd.DataFrame(case.X, columns=NAMES, index=np.arange(len(case.X))[::-1] + 1000)
    model = _check_frame(estimator, frame)
    if hasattr(model, "predict"):
        swapped = frame.rename(columns={NAMES[0]: NAMES[1], NAMES[1]: NAMES[0]})
        with expect_error(ValueError, "predict with columns in another order"):
            model.predict(swapped)


def check_polars_table(estimator: BaseEstimator) -> None:
    """A polars DataFrame gives the labels of its values, and its column names are kept."""
    try:
        import polars as pl
    except ImportError:
        raise SkipTest("polars is not installed.") from None
    _check_frame(estimator, pl.DataFrame(separated().X, schema=NAMES))


def _check_frame(estimator: BaseEstimator, frame: Any) -> Any:
    """Compare a data frame with its values; return the estimator fitted on the frame."""
    case = separated()
    kind = type(frame).__module__.split(".")[0]
    expected = fitted(estimator, case.X, constraints=case.links)
    found = fitted(estimator, frame, constraints=case.links)
    expect_partition(found.labels_, expected.labels_, f"given as a {kind} frame")
    names = list(getattr(found, "feature_names_in_", []))
    expect(names == NAMES, f"feature_names_in_ does not contain the columns of the {kind} frame.")
    expect(not hasattr(expected, "feature_names_in_"), "feature_names_in_ is set, but X has no names.")
    if hasattr(found, "predict"):
        expect_partition(found.predict(frame), expected.predict(case.X), f"predict of a {kind} frame")
    return found


def check_nan_and_infinity(estimator: BaseEstimator) -> None:
    """NaN and infinity are refused."""
    case = separated()
    for value in (np.nan, np.inf, -np.inf):
        X = case.X.copy()
        X[3, 1] = value
        with expect_error(ValueError, f"with {value} in X"):
            fitted(estimator, X, constraints=case.links)
