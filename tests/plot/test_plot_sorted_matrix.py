from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from scipy import sparse

from mustlink import plot
from mustlink._plot_style import COLORS, GRAY
from mustlink.report import make_matrix_picture


def test_ones_of_a_co_cluster_have_its_color_and_others_are_gray():
    X = np.array([[1, 0, 1], [0, 1, 0], [1, 1, 0]])
    ax = plot.sorted_matrix(sparse.csr_array(X), [1, 0, 1], [1, 0, -1])
    drawn = ax.get_images()[0].get_array()
    # Rows 1, 0, 2 and columns 1, 0, 2.
    expected = [
        [COLORS[0], "white", "white"],
        ["white", COLORS[1], GRAY],
        [GRAY, COLORS[1], "white"],
    ]
    np.testing.assert_allclose(drawn, [[to_rgb(color) for color in row] for row in expected], atol=1e-9)
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0", "1", "none"]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["0", "1"]
    assert ax.get_yticks().tolist() == [0, 1.5]


def test_the_order_is_that_of_the_report():
    rng = np.random.default_rng(0)
    X, rows, columns = rng.random((12, 7)) < 0.4, rng.integers(-1, 3, 12), rng.integers(-1, 3, 7)
    drawn = plot.sorted_matrix(X, rows, columns).get_images()[0].get_array()
    np.testing.assert_array_equal((drawn < 1).any(axis=2), make_matrix_picture(X, rows, columns).shares > 0)


def test_many_rows_are_drawn_in_parts():
    rng = np.random.default_rng(0)
    X = rng.random((2000, 50)) < 0.3
    ax = plot.sorted_matrix(X, rng.integers(3, size=2000), rng.integers(3, size=50))
    assert ax.get_images()[0].get_array().shape == (800, 50, 3)
    assert ax.get_ylim() == (1999.5, -0.5)


def test_an_axes_is_used_and_labels_are_checked():
    _, given = plt.subplots()
    assert plot.sorted_matrix(np.eye(2), [0, 1], [0, 1], ax=given) is given
    with pytest.raises(ValueError, match="row_labels must be 2 cluster numbers"):
        plot.sorted_matrix(np.eye(2), [0, 1, 1], [0, 1])
