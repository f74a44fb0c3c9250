"""Small 0/1 matrices, and bi-sets as sets."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mustlink.coclustering import Bisets
from reference import coclustering as reference

LINES = ["10110", "01001", "10110", "00110", "11001", "01001", "00001"]
TABLE = np.array([[int(cell) for cell in line] for line in LINES])


def as_sets(bisets: Bisets) -> list[reference.Biset]:
    return [
        (frozenset(np.flatnonzero(rows).tolist()), frozenset(np.flatnonzero(columns).tolist()))
        for rows, columns in zip(bisets.rows.toarray(), bisets.columns.toarray(), strict=True)
    ]


@st.composite
def matrices(draw: Any, max_rows: int = 9, max_columns: int = 8) -> Any:
    shape = draw(st.integers(2, max_rows)), draw(st.integers(2, max_columns))
    X = draw(arrays(np.int8, shape, elements=st.integers(0, 1)))
    # No empty row and no empty column.
    X[~X.any(axis=1), 0] = 1
    X[0, ~X.any(axis=0)] = 1
    return X
