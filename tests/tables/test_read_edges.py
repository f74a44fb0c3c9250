"""Edges from files and frames: headers, names, row numbers, and the sentence for what is wrong."""

from __future__ import annotations

import pandas as pd
import pytest

from mustlink.errors import ConstraintError, FileFormatError
from mustlink.tables import read_edges

IDS = ["u0", "u1", "u2"]


@pytest.mark.parametrize(
    ("content", "ids"),
    [
        ("0,1\n2,1\n", None),
        ("a,b\n0,1\n2,1\n", None),
        ("0;1\n2;1.0\n", None),
        ("Source,weight,Target\n0,3,1\n2,4,1\n", None),
        ("from\tto\nu0\tu1\nu2\tu1\n", IDS),
        ("u0,u1\nu2,u1\n", IDS),
        ("10,11\n12,11\n", ["10", "11", "12"]),
        ("10,11\n12,11\n", [10.0, 11.0, 12.0]),
    ],
)
def test_two_columns_name_rows_with_or_without_a_header(tmp_path, content, ids):
    path = tmp_path / "edges.csv"
    path.write_text(content)
    found = read_edges(path, ids, n_rows=3)
    assert found.pairs.tolist() == [[0, 1], [2, 1]]
    assert found.n_skipped == 0


def test_frames_and_sheets(tmp_path):
    frame = pd.DataFrame({"x": [0, 2], "y": [1, 1]})
    assert read_edges(frame).pairs.tolist() == [[0, 1], [2, 1]]
    # The names of columns are names, even if they could be rows.
    assert read_edges(pd.DataFrame({0: [0, 2], 1: [1, 1]})).pairs.tolist() == [[0, 1], [2, 1]]
    pytest.importorskip("openpyxl")
    frame.to_excel(tmp_path / "named.xlsx", index=False)
    frame.to_excel(tmp_path / "bare.xlsx", index=False, header=False)
    for name in ("named.xlsx", "bare.xlsx"):
        assert read_edges(tmp_path / name).pairs.tolist() == [[0, 1], [2, 1]]


def test_edges_of_unknown_ids_are_refused_or_skipped():
    frame = {"a": ["u0", "u0", "v1"], "b": ["u1", "v1", "v2"]}
    message = (
        "Row 1 of the frame: there is no row with the id 'v1' in the table, nor with 1 other id of the edges: 'v2'"
    )
    with pytest.raises(ConstraintError, match=message):
        read_edges(frame, IDS)
    found = read_edges(frame, IDS, unknown_ids="skip")
    assert (found.pairs.tolist(), found.n_skipped) == ([[0, 1]], 2)


@pytest.mark.parametrize(
    ("frame", "options", "message"),
    [
        ({"a": [1], "b": [1]}, {}, "Row 0 of the frame: connects 1 with itself; an edge needs two different rows."),
        ({"a": [0, 7], "b": [1, 2]}, {"n_rows": 5}, "Row 1 .* names the rows 7 and 2, but the table has 5 rows"),
        ({"a": [], "b": []}, {}, "The frame has no edges; two columns that name the rows of each edge are expected."),
        ({"a": [0], "b": [-1]}, {}, "a row number cannot be negative, and this is -1"),
        ({"a": [0], "b": ["x"]}, {}, "'x' is not a row number"),
        ({"a": [0], "b": [None]}, {}, "a cell is empty; every edge needs two rows"),
        ({"a": [0]}, {}, "has 1 column: a; edges need two"),
        ({"p": [0], "q": [1], "r": [2]}, {}, "has 3 columns: p, q, r; edges need two"),
    ],
)
def test_bad_edges_are_refused_with_their_place(frame, options, message):
    with pytest.raises((ConstraintError, FileFormatError), match=message):
        read_edges(frame, **options)
