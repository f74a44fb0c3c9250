"""Clusters as trees of rows that point to a representative row."""

from __future__ import annotations

from typing import Any

from mustlink._jit import jit


@jit
def find_root(parent: Any, row: Any) -> Any:
    """Return the representative row of a row's cluster, with path halving."""
    while parent[row] != row:
        parent[row] = parent[parent[row]]
        row = parent[row]
    return row
