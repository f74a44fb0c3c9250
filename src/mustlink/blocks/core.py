"""The parts of rows in blocks for those who write another engine or read another kind of file."""

from mustlink.blocks._blocked_rows import TransformedRows, join_results
from mustlink.blocks._files import LocalRows
from mustlink.blocks._moments_kernels import column_moments
from mustlink.blocks._open import refuse_archive
from mustlink.blocks._parquet import ParquetPart, is_parquet
from mustlink.blocks._scratch import spell_bytes, write_scratch

__all__ = [
    "LocalRows",
    "ParquetPart",
    "TransformedRows",
    "column_moments",
    "is_parquet",
    "join_results",
    "refuse_archive",
    "spell_bytes",
    "write_scratch",
]
