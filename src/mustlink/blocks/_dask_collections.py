"""Dask's arrays and data frames as a list of blocks, and the client that computes them."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import numpy as np

from mustlink.blocks._dask_tasks import BlockForm, read_block, read_partition
from mustlink.errors import OptionError, TooLargeError

__all__ = ["DaskBlocks", "check_client", "client_of", "import_dask", "is_dask", "is_local", "read_collection"]

# The largest block that columns of several chunks are joined to.
MAX_JOINED_BYTES = 1 << 30


@dataclass
class DaskBlocks:
    """The blocks of a collection as delayed values, with what the metadata state of them."""

    blocks: list[Any]
    lengths: list[int] | None  # None where they are not known
    form: BlockForm
    columns: list[str] | None
    client: Any  # None where Dask computes in this process
    is_kept: bool  # whether the blocks are in the memory of the workers already


def is_dask(X: Any) -> bool:
    """Return whether a table is a collection of Dask, without importing Dask."""
    # Data frames of versions before 2025 are in a package of their own.
    return type(X).__module__.split(".")[0] in ("dask", "dask_expr") and hasattr(X, "__dask_graph__")


def import_dask() -> Any:
    """Import Dask, or name the extra to install."""
    try:
        import dask
        import dask.array
    except ImportError:
        raise OptionError(
            "Rows in Dask's collections need the package dask, which is not installed",
            remedy="install_extra",
            extra="dask",
        ) from None
    return dask


def read_collection(X: Any) -> DaskBlocks:
    """Return the blocks of a Dask array or data frame."""
    dask = import_dask()
    if isinstance(X, dask.array.Array):
        return _read_array(dask, X)
    if dask.utils.is_dataframe_like(X):
        return _read_frame(dask, X)
    raise TypeError(
        f"X is a {type(X).__module__}.{type(X).__qualname__}; of Dask's collections, arrays and data frames with one "
        "row per object can be clustered. A single column becomes a data frame by X.to_frame()."
    )


def _read_array(dask: Any, X: Any) -> DaskBlocks:
    """Return the blocks of an array, with its columns in one chunk."""
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, rows and columns; the Dask array has {X.ndim}.")
    if not isinstance(X._meta, np.ndarray):
        raise TypeError(
            f"X is a Dask array with chunks of {type(X._meta).__name__}, and arrays of NumPy are expected; convert "
            "them with X.map_blocks, such as X.map_blocks(lambda block: block.toarray()) for sparse matrices."
        )
    if X.dtype.kind not in "biuf":
        raise ValueError(f"X is a Dask array of type {X.dtype}, and numbers are expected; convert it with X.astype.")
    client, kept = client_of(X)
    X = _join_columns(X)
    raw = X.to_delayed().ravel().tolist()
    dtype = np.dtype(np.float32 if X.dtype == np.float32 else np.float64)
    form = BlockForm(len(raw), X.shape[1], X.dtype, dtype)
    lengths = None if np.isnan(X.chunks[0]).any() else [int(length) for length in X.chunks[0]]
    is_kept = X.dtype == dtype and {block.key for block in raw} <= kept
    if not is_kept:
        raw = _convert(dask, read_block, raw, form)
        form = BlockForm(len(raw), X.shape[1], dtype, dtype)
    return DaskBlocks(raw, lengths, form, None, client, is_kept)


def _join_columns(X: Any) -> Any:
    """Return an array with its columns in one chunk."""
    if np.isnan(X.shape[1]):
        raise ValueError("The number of columns of X is not known to Dask; call X.compute_chunk_sizes() first.")
    if X.numblocks[1] == 1:
        return X
    n_bytes = np.nanmax([0, *X.chunks[0]]) * X.shape[1] * X.dtype.itemsize
    if n_bytes > MAX_JOINED_BYTES:
        raise TooLargeError(
            f"The columns of X are in {X.numblocks[1]} chunks, and a chunk of all {X.shape[1]:,} columns would have "
            f"{n_bytes / 1e9:,.1f} GB",
            remedy="too_large",
            instead='call X.rechunk({0: "auto", 1: -1}), which joins the columns and makes chunks of fewer rows',
        )
    return X.rechunk({1: X.shape[1]})


def _read_frame(dask: Any, X: Any) -> DaskBlocks:
    """Return the partitions of a data frame as blocks."""
    names, dtypes = list(X.columns), list(X.dtypes)
    for name, dtype in zip(names, dtypes, strict=True):
        if not _is_number(dtype):
            raise ValueError(
                f"The column {name!r} of X has the type {dtype}, and numbers are expected; leave it out or encode it."
            )
    client, _ = client_of(X)
    raw = list(X.to_delayed())
    form = BlockForm(len(raw), len(names), dtypes, _common_type(dtypes), names)
    blocks = _convert(dask, read_partition, raw, form)
    read = BlockForm(len(raw), len(names), form.dtype, form.dtype)
    columns = names if all(isinstance(name, str) for name in names) else None
    return DaskBlocks(blocks, None, read, columns, client, False)


def _is_number(dtype: Any) -> bool:
    """Return whether the type of a column is one of numbers, of NumPy or of pandas."""
    import pandas as pd

    return pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_complex_dtype(dtype)


def _common_type(dtypes: list[Any]) -> np.dtype[Any]:
    """Return the type of the numbers of several columns: float32 if all fit into it, as for a data frame in memory."""
    common = np.result_type(*(getattr(dtype, "numpy_dtype", dtype) for dtype in dtypes)) if dtypes else np.float64
    return np.dtype(np.float32 if common == np.float32 else np.float64)


def _convert(dask: Any, read: Any, raw: list[Any], form: BlockForm) -> list[Any]:
    """Return the blocks as arrays of floats in C order."""
    name = f"mustlink-rows-{uuid4().hex}"
    call, described = dask.delayed(read, pure=False), dask.delayed(form, name=f"{name}-form", traverse=False)
    return [call(block, described, number, dask_key_name=(name, number)) for number, block in enumerate(raw)]


def client_of(X: Any) -> tuple[Any, set[Any]]:
    """Return the client that computes a collection, and the keys of what its workers hold of the collection."""
    distributed = sys.modules.get("distributed")
    # Nobody can have started a client.
    if distributed is None:
        return None, set()
    try:
        futures = distributed.futures_of(X)
    except Exception as error:
        # Of the class that the version of Dask has for it.
        if type(error).__name__ not in ("CancelledError", "FutureCancelledError", "FuturesCancelledError"):
            raise
        raise RuntimeError(
            "X lies in the memory of Dask's workers that this process has lost, as their client was closed or X was "
            "canceled; connect with distributed.Client, and create X again."
        ) from error
    if futures:
        client = futures[0].client
    else:
        try:
            client = distributed.default_client()
        except ValueError:
            return None, set()
    check_client(client)
    return client, {future.key for future in futures}


def check_client(client: Any) -> None:
    """Refuse a client that cannot compute."""
    if client.status != "running":
        raise RuntimeError(
            f"The Dask client of X is {client.status}; connect with distributed.Client, and create X again."
        )
    if client.asynchronous:
        raise RuntimeError(
            "The Dask client of X is asynchronous, and a fit waits for its results; connect with "
            "distributed.Client(asynchronous=False)."
        )


def is_local(client: Any) -> bool:
    """Return whether the workers are on this machine, so that the client reaches them; its own setting comes first."""
    if client.direct_to_workers is not None:
        return bool(client.direct_to_workers)
    hosts = [address.partition("://") for address in client.scheduler_info()["workers"]]
    return bool(hosts) and all(
        protocol == "inproc" or host.startswith(("127.", "localhost", "[::1]")) for protocol, _, host in hosts
    )
