from __future__ import annotations

import sys
from types import SimpleNamespace

import matplotlib.pyplot as plt
import pytest

from mustlink import plot


def boosted(**changed):
    rounds = [
        {"alpha": 0.9, "objective": 5.0, "counted": True},
        {"alpha": -0.2, "objective": 4.5, "counted": False},
        {"alpha": 0.4, "objective": 4.0, "counted": True},
    ]
    return SimpleNamespace(**({"history_": rounds} | changed))


def test_the_objective_of_every_round_is_a_point_of_the_line():
    objective, _ = plot.history(boosted())
    (line,) = objective.get_lines()
    assert line.get_xydata().tolist() == [[1, 5.0], [2, 4.5], [3, 4.0]]


def test_unused_rounds_are_crosses():
    objective, weights = plot.history(boosted())
    dots = {line.get_label(): line for line in weights.get_lines() if not line.get_label().startswith("_")}
    assert dots["used"].get_xydata().tolist() == [[1, 0.9], [3, 0.4]]
    assert dots["not used"].get_xydata().tolist() == [[2, -0.2]]
    assert dots["used"].get_marker() != dots["not used"].get_marker()
    assert "2 of 3 rounds used" in objective.get_title()


def test_rounds_are_used_by_weight_without_a_flag():
    model = boosted(history_=[{"alpha": 0.0, "objective": 1.0}, {"alpha": 1.0, "objective": 0.5}])
    objective, _ = plot.history(model)
    assert "1 of 2 rounds used" in objective.get_title()


def test_axes_that_are_given_are_used():
    _, axes = plt.subplots(2, 1)
    assert plot.history(boosted(), axes=axes) is axes
    assert len(plt.get_fignums()) == 1


def test_a_model_without_rounds_is_named():
    with pytest.raises(TypeError, match="this SimpleNamespace has no history_; fit a RobustBoostCluster"):
        plot.history(SimpleNamespace())
    with pytest.raises(ValueError, match="has no rounds, since it was fitted without links"):
        plot.history(boosted(history_=[]))


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ModuleNotFoundError, match=r"mustlink\[plot\]"):
        plot.history(boosted())
