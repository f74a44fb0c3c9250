"""Rows that are larger than memory, or on other machines: X of the same clusterers, read in blocks."""

from mustlink.blocks._blocked_rows import BlockedRows
from mustlink.blocks._convert import as_blocked, blockwise
from mustlink.blocks._files import FileRows
from mustlink.blocks._open import open_rows
from mustlink.blocks._parquet import ParquetFiles

__all__ = ["BlockedRows", "FileRows", "ParquetFiles", "as_blocked", "blockwise", "open_rows"]
