from __future__ import annotations

import matplotlib.pyplot as plt
import pytest

from mustlink._plot_style import COLORS, MARKERS
from mustlink.reproduce.engine._figures import LineStyle, curve_panels, draw_panels, round_lines
from mustlink.reproduce.engine._results import Record, Results, Run


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def results():
    records = [Record(Run("toy", "iris", "plain", 0, trial=0), {"nmi": 0.3})]
    for method, gain in (("boosted", 0.1), ("rival", 0.0)):
        for amount in (100, 200):
            records += [
                Record(Run("toy", "iris", method, amount, trial), {"nmi": 0.4 + gain + amount / 1000 + trial / 10})
                for trial in (0, 1)
            ]
    records.append(Record(Run("toy", "wine", "rival", 100, trial=0), {"nmi": 0.9}))
    return Results(records)


STYLES = {"boosted": LineStyle(0, begins_as="plain"), "rival": LineStyle(1, "--"), "absent": LineStyle(2)}
TITLES = {"iris": "Iris", "wine": "Wine", "glass": "Glass"}


def test_curves_are_means_over_trials_and_begin_with_the_plain_clusterer():
    figure = curve_panels(results(), "nmi", TITLES, STYLES, axis_titles=("links", "NMI"))
    iris, wine = (axes for axes in figure.axes if axes.get_visible())
    assert (iris.get_title(), wine.get_title()) == ("Iris", "Wine")
    boosted, rival = iris.get_lines()
    assert boosted.get_xydata().ravel().tolist() == pytest.approx([0, 0.3, 100, 0.65, 200, 0.75])
    assert rival.get_xydata().ravel().tolist() == pytest.approx([100, 0.55, 200, 0.65])
    assert (rival.get_linestyle(), rival.get_marker(), rival.get_color()) == ("--", MARKERS[1], COLORS[1])
    assert len(wine.get_lines()) == 1
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["boosted", "rival"]


def test_rounds_are_thin_lines_and_their_mean():
    lines = round_lines([[3.0, 2.0, 1.0], [5.0, 4.0]], LineStyle(0), "boosted")
    figure = draw_panels({"Iris": lines}, axis_titles=("rounds", "objective"))
    (panel,) = figure.axes
    first, second, mean = panel.get_lines()
    assert panel.get_title() == "Iris"
    assert first.get_ydata().tolist() == [3, 2, 1]
    assert second.get_ydata().tolist() == [5, 4]
    assert mean.get_ydata().tolist() == [4, 3, 2.5], "the run that ended early stays at 4"
    assert mean.get_linewidth() > first.get_linewidth()


def test_lines_and_levels_share_a_panel():
    lines = [
        LineStyle(0).line([0.1, 0.2], [5.0, 4.0], "here"),
        LineStyle(1).line([0.1], [7.0], "paper"),
        LineStyle(2).level(3, "true number"),
    ]
    figure = draw_panels({"Iris": lines}, axis_titles=("share", "clusters"))
    here, paper, level = figure.axes[0].get_lines()
    assert here.get_xydata().tolist() == [[0.1, 5], [0.2, 4]]
    assert paper.get_xydata().tolist() == [[0.1, 7]]
    assert set(level.get_ydata()) == {3}
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["here", "paper", "true number"]


def test_no_results_give_an_empty_figure():
    figure = curve_panels(Results(()), "nmi", TITLES, STYLES, axis_titles=("links", "NMI"))
    assert not any(axes.get_lines() for axes in figure.axes)


def test_colors_and_markers_differ():
    assert len(set(COLORS)) == len(COLORS) == len(set(MARKERS)) == len(MARKERS)
