"""The summary, the picture and the page of co-clusters."""

from __future__ import annotations

import base64
import re
import struct
import zlib

import numpy as np
import pytest
from scipy import sparse

from mustlink import Constraints
from mustlink.report import make_matrix_picture, render_coclusters, summarize_coclusters

X = np.array([[1, 1, 0, 0, 0], [1, 0, 0, 0, 1], [0, 0, 1, 1, 0], [0, 1, 1, 1, 0], [1, 0, 0, 0, 0]])
ROWS, COLUMNS = np.array([0, 0, 1, 1, -1]), np.array([0, 0, 1, 1, -1])


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix, lambda X: sparse.csr_array(X.astype(np.uint8))])
def test_a_summary_counts_ones_inside_and_outside(make):
    found = summarize_coclusters(make(X), ROWS, COLUMNS, row_names=list("pqrst"), column_names=list("abcde"))
    assert found.headline == "5 rows and 5 columns in 2 co-clusters."
    assert [(part.n_rows, part.n_columns, part.density) for part in found.clusters] == [(2, 2, 0.75), (2, 2, 1.0)]
    assert found.n_inside == 7
    assert found.density_outside == 3 / 17
    assert found.fit.startswith("70% of 10 ones are in co-clusters; outside, 18% of the cells are 1. Goodman")
    assert [str(column) for column in found.clusters[1].columns] == ["c 100% (40% overall)", "d 100% (40% overall)"]
    assert [tuple(row) for row in found.clusters[1].rows] == [("r", 2, 0), ("s", 2, 1)]
    assert [tuple(row) for row in found.clusters[0].rows] == [("p", 2, 0), ("q", 1, 1)]
    assert (found.uncovered_rows, found.uncovered_columns) == (("t",), ("e",))
    assert found.uncovered_notes[0].startswith("1 row is in no co-cluster")


def test_links_are_counted_by_side():
    found = summarize_coclusters(
        X,
        ROWS,
        COLUMNS,
        column_names=list("abcde"),
        row_constraints=Constraints(must_link=[(0, 1), (1, 2)]),
        column_constraints=Constraints(cannot_link=[(0, 1)]),
        # Row 0 with the columns 0 and 2, which are counted after five rows.
        mixed_constraints=Constraints(must_link=[(0, 5)], cannot_link=[(0, 7)]),
    )
    assert list(map(str, found.links)) == [
        "rows: 1 of 2 must",
        "columns: 0 of 1 cannot",
        "rows with columns: 1 of 1 must, 1 of 1 cannot",
    ]
    assert found.headline.endswith("3 of 5 links hold, 2 do not.")
    assert found.broken == (
        "row 1 and row 2 must be together, and are in co-cluster 0 and co-cluster 1",
        "column a and column b cannot be together, and are both in co-cluster 0",
    )


def test_a_co_cluster_without_columns_has_no_density():
    found = summarize_coclusters([[1, 1], [1, 0]], [0, 1], [0, 0])
    assert found.clusters[1].density_words == "none"
    page = render_coclusters(found, make_matrix_picture([[1, 1], [1, 0]], [0, 1], [0, 0]))
    assert "It has no columns." in page


def test_labels_of_another_length_are_refused():
    with pytest.raises(ValueError, match=r"the matrix has the shape \(5, 5\), and there are 4 labels of rows"):
        summarize_coclusters(X, ROWS[:4], COLUMNS)


def pixels_of(page):
    """Decode the image of a page."""
    png = base64.b64decode(re.search(r"base64,([^\"]+)", page)[1])
    width, height = struct.unpack(">II", png[16:24])
    size = struct.unpack(">I", png[33:37])[0]
    return np.frombuffer(zlib.decompress(png[41 : 41 + size]), dtype=np.uint8).reshape(height, 1 + 2 * width)[:, 2::2]


def test_the_picture_is_the_sorted_matrix():
    rng = np.random.default_rng(0)
    ones, rows, columns = rng.random((30, 12)) < 0.3, rng.integers(-1, 3, 30), rng.integers(-1, 3, 12)
    picture = make_matrix_picture(ones, rows, columns)
    page = render_coclusters(summarize_coclusters(ones, rows, columns), picture)
    pixels = pixels_of(page) // 255
    assert pixels.shape == (30, 12)
    for row_label in range(3):
        for column_label in range(3):
            block = pixels[picture.row_bounds[row_label] : picture.row_bounds[row_label + 1]]
            block = block[:, picture.column_bounds[column_label] : picture.column_bounds[column_label + 1]]
            assert block.sum() == ones[rows == row_label][:, columns == column_label].sum()
    assert pixels.sum() == ones.sum()


def test_links_that_do_not_hold_are_worded_by_number():
    links = Constraints(must_link=[(0, 1), (2, 3)])
    found = summarize_coclusters(np.eye(4), [0, 0, -1, -1], [0, 0, 2, 2], row_constraints=links)
    assert found.headline == "4 rows and 4 columns in 2 co-clusters. 1 of 2 links holds, 1 does not."
    assert found.broken == ("row 2 and row 3 must be together, and are both in no co-cluster",)
    assert [part.label for part in found.clusters] == [0, 2]


def test_stored_zeros_are_not_drawn():
    ones = sparse.csr_array(np.ones((3, 2)))
    ones.data[[0, 3]] = 0
    picture = make_matrix_picture(ones, [0, 0, 1], [0, 1])
    assert picture.shares.sum() == 4
    np.testing.assert_array_equal(picture.shares, make_matrix_picture(ones.toarray(), [0, 0, 1], [0, 1]).shares)


def test_a_large_matrix_is_drawn_by_shares():
    ones = sparse.random_array((3000, 900), density=0.01, random_state=np.random.default_rng(0))
    picture = make_matrix_picture(ones.astype(bool), np.zeros(3000, dtype=int), np.zeros(900, dtype=int))
    assert picture.shares.shape == (800, 800)
    assert picture.shares.max() == 1.0
    assert "the fullest has" in picture.caption


def test_the_page_escapes_names():
    found = summarize_coclusters([[1]], [0], [0], row_names=["<b>"], column_names=["<i>&"], notices=["<u>"])
    page = render_coclusters(found, make_matrix_picture([[1]], [0], [0]), title="<x>", run={"Command": "<y>"})
    for text in ("<b>", "<i>&", "<u>", "<x>", "<y>"):
        assert text not in page.replace("</b>", "")
    assert "&lt;i&gt;&amp;" in page
