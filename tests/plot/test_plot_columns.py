from __future__ import annotations

from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest

from mustlink import plot


def names_of(ax):
    return [tick.get_text() for tick in ax.get_yticklabels()]


def test_the_ten_largest_are_drawn_from_the_top():
    weights = np.concatenate([np.arange(1.0, 13.0), np.zeros(18)])
    model = SimpleNamespace(column_weights_=weights, feature_names_in_=[f"c{place}" for place in range(30)])
    ax = plot.columns(model)
    assert names_of(ax) == [f"c{place}" for place in range(11, 1, -1)]
    assert [bar.get_width() for bar in ax.patches] == list(range(12, 2, -1))
    assert ax.get_ylim()[0] > ax.get_ylim()[1]
    assert ax.get_xlabel() == "weight of the column\n2 others count less, 18 others count nothing"


def test_names_and_axes_may_be_given():
    _, axes = plt.subplots()
    ax = plot.columns(SimpleNamespace(column_weights_=[1.0, 2.0]), features=["a", "b"], ax=axes)
    assert ax is axes
    assert names_of(ax) == ["b", "a"]
    assert ax.get_xlabel() == "weight of the column"
    assert names_of(plot.columns(SimpleNamespace(column_weights_=[1.0, 2.0]), max_columns=1)) == ["x1"]


def test_all_zero_weights_are_no_bars():
    ax = plot.columns(SimpleNamespace(column_weights_=np.zeros(3)))
    assert not ax.patches
    assert "3 others count nothing" in ax.get_xlabel()


def test_bad_input():
    with pytest.raises(TypeError, match="has none; fit a RobustBoostCluster"):
        plot.columns(SimpleNamespace())
    with pytest.raises(ValueError, match="The model has 2 columns, but 1 features are named"):
        plot.columns(SimpleNamespace(column_weights_=[1.0, 2.0]), features=["a"])
    with pytest.raises(ValueError, match="max_columns must be at least 1; got 0"):
        plot.columns(SimpleNamespace(column_weights_=[1.0]), max_columns=0)
