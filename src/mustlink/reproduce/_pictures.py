"""Curves in panels, one panel per data set."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mustlink.plot._style import COLORS, DARK, MARKERS, pyplot
from mustlink.reproduce._results import Results

__all__ = ["Look", "curve_panels", "round_panels", "row_panels", "run_panels"]


@dataclass(frozen=True)
class Look:
    """How a method is drawn."""

    place: int  # in the palette and in the list of markers
    dashes: str = "-"
    begins_as: str | None = None  # the method whose score without links the curve begins with

    def style(self) -> dict[str, Any]:
        """Return the arguments for matplotlib."""
        return {
            "color": COLORS[self.place % len(COLORS)],
            "marker": MARKERS[self.place % len(MARKERS)],
            "linestyle": self.dashes,
            "linewidth": 1.4,
            "markersize": 5,
            "markerfacecolor": "white" if self.dashes != "-" else COLORS[self.place % len(COLORS)],
        }


def curve_panels(
    results: Results,
    score: str,
    titles: Mapping[str, str],
    looks: Mapping[str, Look],
    *,
    axis_titles: tuple[str, str],
    n_columns: int = 3,
) -> Any:
    """Draw a score against the amount, a panel per data set and a line per method."""
    shown = [name for name in titles if results.select(dataset=name).records]
    figure, panels = _panels(len(shown), n_columns)
    for panel, dataset in zip(panels, shown, strict=False):
        here = results.select(dataset=dataset)
        for method, look in looks.items():
            points = _curve(here, score, method, look)
            if points:
                panel.plot(*zip(*points, strict=True), label=method, **look.style())
        panel.set_title(titles[dataset], fontsize=10)
    _finish(figure, panels[: len(shown)], *axis_titles)
    return figure


def _curve(results: Results, score: str, method: str, look: Look) -> list[tuple[float, float]]:
    """Return the mean score at every amount, the one without links taken from the plain clusterer."""
    chosen = results.select(method=method)
    points = [(amount, chosen.mean(score, amount=amount)) for amount in chosen.amounts()]
    if points and look.begins_as is not None:
        points.insert(0, (0.0, results.mean(score, method=look.begins_as, amount=0)))
    return [(amount, value) for amount, value in points if not math.isnan(value)]


def round_panels(
    panels: Mapping[str, Mapping[str, Sequence[Sequence[float]]]],
    looks: Mapping[str, Look],
    *,
    axis_titles: tuple[str, str],
) -> Any:
    """Draw what each method reached after every round: a thin line per run, and a thick one for their mean.

    A run that ended early stays where it was.
    """
    figure, drawn = _panels(len(panels), 3)
    for panel, (title, curves) in zip(drawn, panels.items(), strict=False):
        for method, runs in curves.items():
            longest = max(len(run) for run in runs)
            held = [[*run, *[run[-1]] * (longest - len(run))] for run in runs]
            style = looks[method].style()
            for run in runs:
                panel.plot(range(len(run)), run, color=style["color"], linewidth=0.5, alpha=0.5)
            mean = [sum(values) / len(held) for values in zip(*held, strict=True)]
            panel.plot(range(longest), mean, label=method, markevery=max(1, longest // 6), **style)
        panel.set_title(title, fontsize=10)
    _finish(figure, drawn[: len(panels)], *axis_titles)
    return figure


def run_panels(
    panels: Mapping[str, Mapping[str, tuple[Sequence[float], Sequence[float]]]],
    looks: Mapping[str, Look],
    *,
    level: float,
    axis_titles: tuple[str, str],
) -> Any:
    """Draw curves that are given as places and values, a panel per title, and a level as a line across."""
    figure, drawn = _panels(len(panels), 3)
    for panel, (title, curves) in zip(drawn, panels.items(), strict=False):
        panel.axhline(level, color=DARK, linewidth=0.6, linestyle=(0, (6, 4)))
        for method, (places, values) in curves.items():
            panel.plot(places, values, label=method, markevery=max(1, len(places) // 6), **looks[method].style())
        panel.set_title(title, fontsize=10)
    _finish(figure, drawn[: len(panels)], *axis_titles)
    return figure


def row_panels(
    rows: Mapping[str, Mapping[str, Mapping[float, float]]],
    levels: Mapping[str, Mapping[str, float]],
    *,
    axis_titles: tuple[str, str],
) -> Any:
    """Draw published and own figures side by side: panels of named rows, and levels as lines across."""
    figure, panels = _panels(len(rows), 3)
    for panel, (title, named) in zip(panels, rows.items(), strict=False):
        for place, (name, row) in enumerate(named.items()):
            panel.plot(list(row), list(row.values()), label=name, **Look(place, "--" if place else "-").style())
        for place, (name, level) in enumerate(levels.get(title, {}).items(), start=len(named)):
            panel.axhline(level, label=name, color=COLORS[place], linestyle=":", linewidth=1.2)
        panel.set_title(title, fontsize=10)
    _finish(figure, panels[: len(rows)], *axis_titles)
    return figure


def _panels(n_panels: int, n_columns: int, width: float = 3.4, height: float = 2.7) -> tuple[Any, list[Any]]:
    """Make a figure of so many panels and hide those left over."""
    n_columns = max(1, min(n_columns, n_panels))
    n_rows = max(1, math.ceil(n_panels / n_columns))
    figure, grid = pyplot().subplots(
        n_rows,
        n_columns,
        figsize=(width * n_columns, height * n_rows + 0.9),
        squeeze=False,
        layout="constrained",
    )
    panels = list(grid.flat)
    for panel in panels[n_panels:]:
        panel.set_visible(False)
    return figure, panels


def _finish(figure: Any, panels: Sequence[Any], x_title: str, y_title: str) -> None:
    """Name the axes and put one legend above all panels."""
    handles: dict[str, Any] = {}
    for panel in panels:
        panel.grid(True, linewidth=0.4, alpha=0.5)
        panel.tick_params(labelsize=8, colors=DARK)
        for side in ("top", "right"):
            panel.spines[side].set_visible(False)
        for line, name in zip(*panel.get_legend_handles_labels(), strict=True):
            handles.setdefault(name, line)
    figure.supxlabel(x_title, fontsize=9)
    figure.supylabel(y_title, fontsize=9)
    if handles:
        figure.legend(
            list(handles.values()),
            list(handles),
            loc="outside upper center",
            ncols=min(3, len(handles)),
            frameon=False,
            handlelength=3.6,
            fontsize=8,
        )
