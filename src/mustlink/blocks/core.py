"""The parts of rows in blocks for those who read another kind of file: scratch files, and how bytes are spelled."""

from mustlink.blocks._blocked_rows import TransformedRows
from mustlink.blocks._files import LocalRows
from mustlink.blocks._parquet import ParquetPart, is_parquet
from mustlink.blocks._scratch import spell_bytes, write_scratch

__all__ = ["LocalRows", "ParquetPart", "TransformedRows", "is_parquet", "spell_bytes", "write_scratch"]
