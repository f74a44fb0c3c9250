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


@pytest.mark.parametrize("ids", [["a", "b", "c"], ["B", "A", "c"], ["from", "to", "c"], ["target", "source", "c"]])
def test_a_first_line_of_two_ids_is_an_edge_even_if_it_could_be_a_header(tmp_path, ids):
    path = tmp_path / "edges.csv"
    path.write_text(f"{ids[0]},{ids[1]}\n{ids[1]},c\n")
    assert read_edges(path, ids).pairs.tolist() == [[0, 1], [1, 2]]
    # One of them alone is no row, and a name of another column makes it a header.
    assert sorted(read_edges(path, ["x", *ids[1:]]).pairs[0].tolist()) == [1, 2]
    path.write_text(f"{ids[0]},{ids[1]},length\n{ids[1]},c,3\n")
    assert sorted(read_edges(path, ids).pairs[0].tolist()) == [1, 2]
    path.write_text(f"{ids[0]},{ids[1]},2.5\n{ids[1]},c,3\n")
    with pytest.raises(FileFormatError, match="a header must call these two a and b, source and target, or from and"):
        read_edges(path, ids)


def test_weights_are_checked_and_not_used(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("a;weight;b\n0;0,5;1\n2;;1\n")
    found = read_edges(path)
    assert (found.pairs.tolist(), found.has_weights) == ([[0, 1], [2, 1]], True)
    assert not read_edges({"a": [0], "b": [1], "length": [-1]}).has_weights
    # Without a header, an id is no name of a column.
    path.write_text("weight,u1\nu1,u2\n")
    found = read_edges(path, ["weight", "u1", "u2"])
    assert (found.pairs.tolist(), found.has_weights) == ([[0, 1], [1, 2]], False)


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
        ({"u": [0], "v": [1], "w": [2]}, {}, "has 3 columns: u, v, w; edges need two .* source and target, or from"),
        ({"a": [0], "b": [1], "weight": [-1]}, {}, "Row 0 of the frame: the weight is -1; a weight must be positive"),
        ({"a": [0, 1], "b": [1, 2], "weight": [1, 0]}, {}, "Row 1 of the frame: the weight is 0; a weight must be"),
        ({"a": [0], "b": [1], "weight": ["far"]}, {}, "Row 0 of the frame: the weight 'far' is not a number"),
    ],
)
def test_bad_edges_are_refused_with_their_place(frame, options, message):
    with pytest.raises((ConstraintError, FileFormatError), match=message):
        read_edges(frame, **options)
