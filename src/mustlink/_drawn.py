"""What is drawn of a clustering: which rows, links and columns, and where rows at the same place go."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "choose_links",
    "choose_rows",
    "heaviest_columns",
    "learned_view",
    "links_to_draw",
    "spread_equal_points",
    "two_columns",
]

MAX_POINTS = 5_000
MAX_LINKS = 1_500
# Links to draw are chosen from so many pairs of groups, and so many broken ones.
MAX_LISTED_LINKS = 20_000
# Rows at about the same place are spread over a disk of this radius; both as a fraction of the larger side.
SAME_PLACE, SPREAD = 0.01, 0.06
# A column with less than this fraction of the largest weight counts nothing.
MIN_WEIGHT = 1e-3
GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))


def links_to_draw(links: Any, labels: NDArray[Any]) -> Any:
    """Return links as pairs, to choose from: of large groups some broken pairs and some others."""
    if not links.cannot_link_groups:
        return links
    broken = links.violations(labels).excerpt(MAX_LISTED_LINKS)
    return links.excerpt(MAX_LISTED_LINKS).add(broken, contradictions="keep")


def choose_links(kept: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.intp]:
    """Choose the broken links first, and random ones of either kind if there are too many."""
    order = np.concatenate([rng.permutation(np.flatnonzero(~kept)), rng.permutation(np.flatnonzero(kept))])
    return np.sort(order[:MAX_LINKS])


def choose_rows(labels: NDArray[Any], linked: NDArray[Any], rng: np.random.Generator) -> NDArray[np.intp]:
    """Choose the rows of the drawn links and then random ones, with a few of every cluster."""
    if labels.size <= MAX_POINTS:
        return np.arange(labels.size)
    shuffled = rng.permutation(labels.size)
    # The position of each row within its cluster, in the shuffled order: the first few of all clusters come first.
    by_cluster = np.argsort(labels[shuffled], kind="stable")
    _, start, counts = np.unique(labels[shuffled][by_cluster], return_index=True, return_counts=True)
    place = np.empty(labels.size, dtype=np.int64)
    place[by_cluster] = np.arange(labels.size) - np.repeat(start, counts)
    a_few = max(1, MAX_POINTS // (4 * start.size))
    preferred = np.concatenate([shuffled[place < a_few], shuffled[place >= a_few]])
    others = preferred[~np.isin(preferred, linked)]
    return np.sort(np.concatenate([linked, others[: max(0, MAX_POINTS - linked.size)]]))


def learned_view(model: Any, rows: NDArray[np.intp]) -> tuple[NDArray[np.float64], tuple[float, ...]]:
    """Return some rows in the view of a boosted clusterer, those at about the same place spread.

    Also return the fraction of the variance along each direction, at most two; none if the rows do not differ.
    """
    coordinates, explained = model.coassociation_.principal_components(2)
    return spread_equal_points(two_columns(coordinates)[rows]), tuple(float(share) for share in explained)


def two_columns(points: NDArray[Any]) -> NDArray[Any]:
    """Return the first two columns, with zeros for a second that is not there."""
    points = np.asarray(points)[:, :2]
    return np.hstack([points, np.zeros((len(points), 2 - points.shape[1]))])


def spread_equal_points(points: NDArray[Any]) -> NDArray[np.float64]:
    """Spread points at about the same place evenly over a small disk.

    The more of them, the larger the disk. A point that is alone stays where it is.
    """
    span = float(np.ptp(points, axis=0).max()) or 1.0
    _, inverse, counts = np.unique(
        np.round(points / (SAME_PLACE * span)), axis=0, return_inverse=True, return_counts=True
    )
    inverse = inverse.ravel()
    order = np.argsort(inverse, kind="stable")
    start = np.cumsum(counts) - counts
    turn = np.empty(len(points))
    turn[order] = np.arange(len(points)) - np.repeat(start, counts)
    share = turn / np.maximum(counts[inverse] - 1, 1)
    size = np.sqrt(counts[inverse] / counts.max())
    radius = SPREAD * span * size * np.sqrt(share)
    around = np.column_stack([np.cos(GOLDEN_ANGLE * turn), np.sin(GOLDEN_ANGLE * turn)])
    spread: NDArray[np.float64] = points + radius[:, None] * around
    return spread


def heaviest_columns(weights: NDArray[np.float64], max_columns: int) -> tuple[NDArray[np.intp], int]:
    """Return the columns with the largest weights, in descending order, and how many columns count nothing."""
    counts = weights > MIN_WEIGHT * weights.max(initial=0.0)
    order = np.argsort(-weights, kind="stable")
    return order[counts[order]][:max_columns], int((~counts).sum())
