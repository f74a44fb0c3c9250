"""Rows that are larger than memory, or on other machines: X of the same clusterers, read in blocks."""

from mustlink.blocks._blocked_rows import BlockedRows, Task
from mustlink.blocks._convert import as_blocked, blockwise, blockwise_transform, check_columns
from mustlink.blocks._dask import DaskRows
from mustlink.blocks._files import FileRows, LocalRows
from mustlink.blocks._labels import distinct_labels
from mustlink.blocks._open import open_rows
from mustlink.blocks._parquet import ParquetFiles

__all__ = [
    "BlockedRows",
    "DaskRows",
    "FileRows",
    "LocalRows",
    "ParquetFiles",
    "Task",
    "as_blocked",
    "blockwise",
    "blockwise_transform",
    "check_columns",
    "distinct_labels",
    "open_rows",
]
