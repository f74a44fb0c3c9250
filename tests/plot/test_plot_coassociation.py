from __future__ import annotations

from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest

from mustlink import plot
from mustlink.boosting import CoAssociation


def model(labels, codes, weights):
    return SimpleNamespace(labels_=np.array(labels), coassociation_=CoAssociation(codes, weights))


def test_the_picture_is_the_matrix_sorted_by_cluster():
    codes = np.array([[0, 0], [1, 1], [0, 0], [1, 0], [0, 1]])
    labels = [1, 0, 1, 0, 1]
    ax = plot.coassociation(model(labels, codes, [3.0, 1.0]))
    drawn = ax.get_images()[0].get_array()
    dense = CoAssociation(codes, [3.0, 1.0]).toarray() / 4
    order = [3, 1, 0, 2, 4]
    assert np.allclose(drawn, dense[np.ix_(order, order)])
    assert np.allclose(np.diag(drawn), 1)


def test_lines_separate_clusters_and_ticks_name_them():
    ax = plot.coassociation(model([2, 0, 0, -1, 2, 2], [[0], [1], [1], [2], [0], [0]], [1.0]))
    across = sorted(line.get_ydata()[0] for line in ax.get_lines() if len(set(line.get_ydata())) == 1)
    assert across == [0.5, 2.5]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["noise", "0", "2"]
    assert ax.get_yticks().tolist() == [0, 1.5, 4]


def test_more_than_2000_points_are_sampled():
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=2500)
    ax = plot.coassociation(model(labels, labels[:, None], [1.0]))
    assert ax.get_images()[0].get_array().shape == (2000, 2000)
    assert "2,000 of 2,500 drawn" in ax.get_xlabel()
    again = plot.coassociation(model(labels, labels[:, None], [1.0]))
    assert np.array_equal(ax.get_images()[0].get_array(), again.get_images()[0].get_array())


def test_axes_that_are_given_are_used():
    _, ax = plt.subplots()
    assert plot.coassociation(model([0, 1], [[0], [1]], [1.0]), ax=ax) is ax


def test_rounds_without_weight():
    ax = plot.coassociation(model([0, 1], [[0], [1]], [0.0]))
    assert np.array_equal(ax.get_images()[0].get_array(), np.zeros((2, 2)))


def test_a_model_that_is_not_boosted_is_named():
    with pytest.raises(TypeError, match="this SimpleNamespace has no coassociation_; fit a RobustBoostCluster"):
        plot.coassociation(SimpleNamespace(labels_=np.zeros(3)))
