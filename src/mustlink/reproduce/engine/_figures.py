"""Lines in panels, one panel per data set."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from mustlink._plot_style import COLORS, DARK, MARKERS, pyplot
from mustlink.reproduce.engine._results import Results


@dataclass(frozen=True)
class Figure:
    """A figure, drawn on request."""

    name: str  # of the file, without its suffix
    caption: str
    draw: Callable[[], Any]


# Draws one line into the axes of matplotlib that it is given.
Line = Callable[[Any], object]


@dataclass(frozen=True)
class LineStyle:
    """How a method is drawn."""

    place: int  # in the palette and in the list of markers
    dashes: str = "-"
    begins_as: str | None = None  # the method whose score without links is the first point of the curve

    def options(self) -> dict[str, Any]:
        """Return the arguments for matplotlib."""
        color, marker = COLORS[self.place % len(COLORS)], MARKERS[self.place % len(MARKERS)]
        filling = "white" if self.dashes != "-" else color
        line = {"color": color, "linestyle": self.dashes, "linewidth": 1.4}
        return line | {"marker": marker, "markersize": 5, "markerfacecolor": filling}

    def line(self, x: Sequence[float], y: Sequence[float], label: str | None, **more: Any) -> Line:
        """Return a line in this style."""
        return lambda axes: axes.plot(x, y, **self.options() | {"label": label} | more)

    def level(self, y: float, label: str | None = None) -> Line:
        """Return a thin line across the panel."""
        return lambda axes: axes.axhline(y, **self.options() | {"label": label, "marker": "", "linewidth": 1.0})


def round_lines(runs: Sequence[Sequence[float]], style: LineStyle, label: str) -> list[Line]:
    """Return a thin line per run and a thick one for their mean, against the rounds.

    In the mean, a run that ended early keeps its last value.
    """
    longest = max(len(run) for run in runs)
    padded = [[*run, *[run[-1]] * (longest - len(run))] for run in runs]
    mean = [sum(values) / len(padded) for values in zip(*padded, strict=True)]
    thin = {"marker": "", "linestyle": "-", "linewidth": 0.5, "alpha": 0.5}
    lines = [style.line(range(len(run)), run, None, **thin) for run in runs]
    return [*lines, style.line(range(longest), mean, label, markevery=max(1, longest // 6))]


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
    for suffix, ending, where in (("", "", "all points"), ("-unlinked", "_unconstrained", "unlinked points")):
        axis_titles = ("number of links", f"{label}, {where}")
        draw = partial(curve_panels, results, score + ending, titles, styles, axis_titles=axis_titles)
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
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    for axes, (title, lines) in zip(grid.flat, panels.items(), strict=False):
        for draw in lines:
            draw(axes)
        axes.set_title(title, fontsize=10)
        axes.grid(True, linewidth=0.4, alpha=0.5)
        axes.tick_params(labelsize=8, colors=DARK)
        axes.spines[["top", "right"]].set_visible(False)
        for handle, name in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(name, handle)
    figure.supxlabel(axis_titles[0], fontsize=9)
    figure.supylabel(axis_titles[1], fontsize=9)
    if handles:
        options = {"loc": "outside upper center", "frameon": False, "handlelength": 3.6, "fontsize": 8}
        figure.legend(list(handles.values()), list(handles), ncols=min(n_columns, len(handles)), **options)
    return figure
