"""Lines in panels, one panel per data set."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from mustlink._plot_style import COLORS, DARK, MARKERS, pyplot
from mustlink.reproduce.engine._results import Results

__all__ = ["Figure", "Line", "LineStyle", "curve_figures", "curve_panels", "draw_panels", "round_lines"]


@dataclass(frozen=True)
class Figure:
    """A figure, drawn on request."""

    name: str  # of the file, without its suffix
    caption: str
    draw: Callable[[], Any]


@dataclass(frozen=True)
class Line:
    """One line of a panel; without x, it goes across the whole panel."""

    x: Sequence[float]
    y: Sequence[float]
    style: Mapping[str, Any]


@dataclass(frozen=True)
class LineStyle:
    """How a method is drawn."""

    place: int  # in the palette and in the list of markers
    dashes: str = "-"
    begins_as: str | None = None  # the method whose score without links is the first point of the curve

    def options(self) -> dict[str, Any]:
        """Return the arguments for matplotlib."""
        color = COLORS[self.place % len(COLORS)]
        return {
            "color": color,
            "marker": MARKERS[self.place % len(MARKERS)],
            "linestyle": self.dashes,
            "linewidth": 1.4,
            "markersize": 5,
            "markerfacecolor": "white" if self.dashes != "-" else color,
        }

    def line(self, x: Sequence[float], y: Sequence[float], label: str, **more: Any) -> Line:
        """Return a line in this style."""
        return Line(x, y, {**self.options(), "label": label, **more})

    def level(self, y: float, label: str | None = None) -> Line:
        """Return a thin line across the panel."""
        return Line((), (y,), {**self.options(), "label": label, "marker": "", "linewidth": 1.0})


def round_lines(runs: Sequence[Sequence[float]], style: LineStyle, label: str) -> list[Line]:
    """Return a thin line per run and a thick one for their mean, against the rounds.

    In the mean, a run that ended early keeps its last value.
    """
    longest = max(len(run) for run in runs)
    padded = [[*run, *[run[-1]] * (longest - len(run))] for run in runs]
    mean = [sum(values) / len(padded) for values in zip(*padded, strict=True)]
    thin = {"color": style.options()["color"], "linewidth": 0.5, "alpha": 0.5}
    return [
        *(Line(range(len(run)), run, thin) for run in runs),
        style.line(range(longest), mean, label, markevery=max(1, longest // 6)),
    ]


def curve_figures(
    results: Results,
    name: str,
    caption: str,
    score: str,
    label: str,
    titles: Mapping[str, str],
    styles: Mapping[str, LineStyle],
) -> Iterator[Figure]:
    """Yield a figure of a score on all points and one on the unlinked points; the caption has a place for which."""
    for suffix, column, where in (
        ("", score, "all points"),
        ("-unlinked", f"{score}_unconstrained", "unlinked points"),
    ):
        axis_titles = ("number of links", f"{label}, {where}")
        draw = partial(curve_panels, results, column, titles, styles, axis_titles=axis_titles)
        yield Figure(name + suffix, caption.format(where=where), draw)


def curve_panels(
    results: Results,
    score: str,
    titles: Mapping[str, str],
    styles: Mapping[str, LineStyle],
    *,
    axis_titles: tuple[str, str],
) -> Any:
    """Draw a score against the amount, a panel per data set and a line per method."""
    means, panels = results.means(score, "dataset", "method", "amount"), {}
    for dataset in (name for name in titles if name in results.unique("dataset")):
        lines = []
        for method, style in styles.items():
            points = {amount: means.get((dataset, method, amount), math.nan) for amount in results.amounts()}
            if style.begins_as is not None and not all(map(math.isnan, points.values())):
                points[0] = means.get((dataset, style.begins_as, 0), math.nan)
            known = sorted((amount, value) for amount, value in points.items() if not math.isnan(value))
            if known:
                x, y = zip(*known, strict=True)
                lines.append(style.line(x, y, method))
        panels[titles[dataset]] = lines
    return draw_panels(panels, axis_titles=axis_titles)


def draw_panels(panels: Mapping[str, Sequence[Line]], *, axis_titles: tuple[str, str]) -> Any:
    """Draw lines in panels, at most three in a row, with one legend above all."""
    n_columns = max(1, min(3, len(panels)))
    n_rows = max(1, math.ceil(len(panels) / n_columns))
    size = (3.4 * n_columns, 2.7 * n_rows + 0.9)
    figure, grid = pyplot().subplots(n_rows, n_columns, figsize=size, squeeze=False, layout="constrained")
    handles: dict[str, Any] = {}
    for place, axes in enumerate(grid.flat):
        if place >= len(panels):
            axes.set_visible(False)
            continue
        title, lines = list(panels.items())[place]
        for line in lines:
            if len(line.x):
                axes.plot(line.x, line.y, **line.style)
            else:
                axes.axhline(line.y[0], **line.style)
        axes.set_title(title, fontsize=10)
        axes.grid(True, linewidth=0.4, alpha=0.5)
        axes.tick_params(labelsize=8, colors=DARK)
        axes.spines[["top", "right"]].set_visible(False)
        for handle, name in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(name, handle)
    figure.supxlabel(axis_titles[0], fontsize=9)
    figure.supylabel(axis_titles[1], fontsize=9)
    if handles:
        columns = min(3, len(handles))
        options = {"loc": "outside upper center", "frameon": False, "handlelength": 3.6, "fontsize": 8}
        figure.legend(list(handles.values()), list(handles), ncols=columns, **options)
    return figure
