"""For engines: what rows in blocks need besides :class:`mustlink.blocks.BlockedRows`."""

from mustlink.blocks._blocked_rows import join_results

__all__ = ["join_results"]
