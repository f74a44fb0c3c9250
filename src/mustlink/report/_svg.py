"""SVG for the report: a scatter of points and links, and marks for the legend, colored by its style sheet."""

from __future__ import annotations

from html import escape

import numpy as np

from mustlink._spelling import count
from mustlink._types import Array
from mustlink.report._picture import Picture
from mustlink.report._summary import NOISE, RowNames, printable

__all__ = ["N_COLORS", "bar", "color_class", "link_swatch", "scatter", "swatch"]

WIDTH, HEIGHT, MARGIN = 760, 500, 26
N_COLORS = 7
MIN_LABEL_GAP = 24.0
# Longer names of clusters are cut where they stand among the points.
MAX_DRAWN_NAME = 12
MAX_FULL_SIZE_POINTS = 1_200

# Paths of about equal area around the origin. Seven colors and five shapes have no common divisor, so 35 clusters
# get different marks.
_SHAPES = (
    "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0z",
    "M-3.6,-3.6h7.2v7.2h-7.2z",
    "M0,-4.8L4.6,3.4H-4.6z",
    "M0,-5.2L4.6,0L0,5.2L-4.6,0z",
    "M0,4.8L4.6,-3.4H-4.6z",
)
_NOISE_SHAPE = "M-3,-3L3,3M-3,3L3,-3"


def color_class(label: int) -> str:
    """Return the class of the style sheet that colors a cluster."""
    return "cn" if label == NOISE else f"c{label % N_COLORS}"


def _shape_of(label: int) -> str:
    """Return the path of the mark of a cluster."""
    return _NOISE_SHAPE if label == NOISE else _SHAPES[label % len(_SHAPES)]


def swatch(label: int) -> str:
    """Draw the mark of a cluster inside a line of text."""
    return (
        '<svg class="swatch" viewBox="-7 -7 14 14" aria-hidden="true">'
        f'<path class="mark {color_class(label)}" d="{_shape_of(label)}"/></svg>'
    )


def link_swatch(*, is_must: bool, is_kept: bool) -> str:
    """Draw a short piece of a link inside a line of text."""
    return (
        '<svg class="swatch wide" viewBox="0 -7 36 14" aria-hidden="true">'
        f'<path class="{_link_class(is_must, is_kept)}" d="M2,0H34"/></svg>'
    )


def _link_class(is_must: bool, is_kept: bool) -> str:
    """Return the classes of the style sheet for a link."""
    return f"link {'must' if is_must else 'cannot'}{'' if is_kept else ' broken'}"


def scatter(picture: Picture) -> str:
    """Draw the picture.

    Kept links lie under the points and broken ones over them, with a ring around their ends; the number of each
    cluster is written at the median of its points. There is no other text, since it must shrink to a phone's width.
    """
    xy = _on_canvas(picture.points)
    description = (
        f"{count(len(xy), 'row')} in the plane of {picture.plane}, with "
        f"{count(len(picture.links), 'link')}, "
        f"{int(np.count_nonzero(~picture.is_kept)):,} of them broken."
    )
    parts = [
        f'<svg class="scatter" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(description)}">',
        *(
            _defined_shape(int(label), picture.view, crowded=len(xy) > MAX_FULL_SIZE_POINTS)
            for label in np.unique(picture.labels)
        ),
        "<g>",
        *_links(xy, picture, kept=True),
        '</g><g class="points">',
        *_points(xy, picture),
        "</g><g>",
        *_links(xy, picture, kept=False),
        '</g><g class="numbers">',
        *_cluster_names(xy, picture),
        "</g></svg>",
    ]
    return "\n".join(parts)


def bar(part: float) -> str:
    """Draw a bar that fills a part of its width; the number stands beside it."""
    width = 100 * min(max(part, 0.0), 1.0)
    return (
        '<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="rest" width="100" height="10"/><rect class="c0" width="{width:.2f}" height="10"/></svg>'
    )


def _on_canvas(points: Array) -> Array:
    """Scale the points to the canvas, with larger values further up."""
    low = points.min(axis=0)
    span = points.max(axis=0) - low
    share = np.divide(points - low, span, out=np.full_like(points, 0.5), where=span > 0)
    across = MARGIN + share[:, 0] * (WIDTH - 2 * MARGIN)
    down = HEIGHT - MARGIN - share[:, 1] * (HEIGHT - 2 * MARGIN)
    return np.column_stack([across, down])


def _shape_name(label: int, view: str) -> str:
    """Return the name under which the mark of a cluster is defined in a picture; names are unique on a page."""
    return f"{view[0]}{'n' if label == NOISE else label}"


def _defined_shape(label: int, view: str, *, crowded: bool) -> str:
    """Define the mark of a cluster once, for the points to refer to, smaller where there are many."""
    name = _shape_name(label, view)
    size = ' transform="scale(.75)"' if crowded else ""
    return f'<defs><path id="{name}" d="{_shape_of(label)}"{size}/></defs>'


def _points(xy: Array, picture: Picture) -> list[str]:
    """Draw the points, each with its name as a tooltip."""
    marks = []
    clusters = RowNames(picture.cluster_names)
    for (x, y), label, name in zip(xy.tolist(), picture.labels.tolist(), picture.names, strict=True):
        reference = _shape_name(label, picture.view)
        place = "no cluster" if label == NOISE else f"cluster {clusters[label]}"
        marks.append(
            f'<use href="#{reference}" x="{x:.1f}" y="{y:.1f}" class="mark {color_class(label)}">'
            f"<title>{escape(name)}, {escape(place)}</title></use>"
        )
    return marks


def _links(xy: Array, picture: Picture, *, kept: bool) -> list[str]:
    """Draw the kept or the broken links."""
    lines = []
    for (first, second), is_must, is_kept in zip(
        picture.links.tolist(), picture.is_must.tolist(), picture.is_kept.tolist(), strict=True
    ):
        if is_kept is not kept:
            continue
        (x1, y1), (x2, y2) = xy[first], xy[second]
        asked = "must be together" if is_must else "cannot be together"
        title = f"{picture.names[first]} and {picture.names[second]} {asked}{'' if kept else ': broken'}"
        course = f"M{x1:.1f},{y1:.1f}L{x2:.1f},{y2:.1f}"
        line = f'<path class="{_link_class(is_must, is_kept)}" d="{course}"><title>{escape(title)}</title></path>'
        if kept:
            lines.append(line)
            continue
        # A wider line in the color of the paper below keeps a broken link visible on marks of any color.
        rings = [f'cx="{x:.1f}" cy="{y:.1f}" r="7"' for x, y in ((x1, y1), (x2, y2))]
        lines.append(f'<path class="under" d="{course}"/>')
        lines.extend(f'<circle class="under" {ring}/>' for ring in rings)
        lines.append(line)
        lines.extend(f'<circle class="end" {ring}/>' for ring in rings)
    return lines


def _cluster_names(xy: Array, picture: Picture) -> list[str]:
    """Write the number or the name of each cluster at the median of its points."""
    labels, names = picture.labels, RowNames(picture.cluster_names)
    clusters = np.unique(labels[labels != NOISE])
    middles = np.array([np.median(xy[labels == cluster], axis=0) for cluster in clusters]).reshape(-1, 2)
    return [
        f'<text x="{x:.1f}" y="{y:.1f}">{escape(printable(names[label], MAX_DRAWN_NAME))}</text>'
        for label, (x, y) in zip(clusters.tolist(), _push_apart(middles).tolist(), strict=True)
    ]


def _push_apart(middles: Array) -> Array:
    """Push overlapping labels apart step by step, and keep them on the canvas."""
    places = middles.copy()
    for _ in range(50):
        moved = False
        for first in range(len(places)):
            for second in range(first + 1, len(places)):
                gap = places[second] - places[first]
                distance = float(np.hypot(*gap))
                if distance >= MIN_LABEL_GAP:
                    continue
                direction = gap / distance if distance > 1e-9 else np.array([0.0, 1.0])
                push = direction * (MIN_LABEL_GAP - distance) / 2
                places[first] -= push
                places[second] += push
                moved = True
        if not moved:
            break
    return places.clip(MARGIN, [WIDTH - MARGIN, HEIGHT - MARGIN])
