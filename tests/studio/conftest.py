"""Rows of three groups, and a table of them in a folder of its own."""

from __future__ import annotations

import numpy as np
import pytest

from mustlink.workflow import TableOptions, load_table


@pytest.fixture
def blobs():
    """Thirty rows of three groups that are far from each other, row by row: 0, 1, 2, 0, 1, 2, ..."""
    return np.random.default_rng(0).normal(size=(30, 2)) + np.array([[0, 0], [9, 0], [0, 9]])[np.arange(30) % 3]


@pytest.fixture
def folder(tmp_path, blobs):
    """A folder with a table, links and edges of these rows."""
    lines = [f"c{row:02d},{x:.3f},{y:.3f}" for row, (x, y) in enumerate(blobs)]
    (tmp_path / "shop.csv").write_text("\n".join(["who,visits,basket", *lines]) + "\n")
    (tmp_path / "links.csv").write_text("a,b,link\nc00,c03,must\nc01,c04,must\nc00,c01,cannot\nc02,c00,cannot\n")
    (tmp_path / "edges.csv").write_text("a,b\nc00,c03\nc03,c06\nc01,c04\n")
    return tmp_path


@pytest.fixture
def options(folder):
    return TableOptions(folder / "shop.csv", id_column="who")


@pytest.fixture
def table(options):
    return load_table(options)
