"""What the side panels show: the groups, the links with the suspect ones first, and the columns that matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from mustlink._types import Floats, Ints
from mustlink.report import summarize, typical_rows
from mustlink.tables import Feature

__all__ = ["ColumnWeight", "GroupPanel", "LinkLine", "column_panel", "group_panels", "link_panel"]

N_TYPICAL = 3
MAX_LINKS = 2_000


@dataclass(frozen=True)
class GroupPanel:
    """One group: its size, its typical rows, the most typical first, and in words what sets it apart."""

    id: int
    size: int
    typical: list[int]
    traits: list[str]


class ColumnWeight(NamedTuple):
    """What a column of the table counts, the largest 1."""

    name: str
    weight: float


class PairLink(Protocol):
    """A link as the engine lists it."""

    @property
    def a(self) -> int: ...
    @property
    def b(self) -> int: ...
    @property
    def together(self) -> bool: ...


class LinkLine(NamedTuple):
    """A link with the probability that it is wrong, if that is estimated, and whether the shown groups keep it."""

    link: Any
    suspicion: float | None
    kept: bool


def group_panels(
    X: Any, labels: Ints, features: Sequence[Feature | str] | None = None, n_typical: int = N_TYPICAL
) -> list[GroupPanel]:
    """Describe the groups that have rows, in the order of their ids.

    Typical rows are those nearest to the mean of the group. What sets a group apart is that of the report: the columns
    whose mean in the group differs most from that of all rows.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_rows, n_features)
        The table as it is clustered.
    labels : ndarray of int, shape (n_rows,)
        The group of each row; -1 is none.
    features : sequence of Feature or str, default=None
        What the columns of `X` are.
    n_typical : int, default=3
        How many typical rows to give.

    Returns
    -------
    list of GroupPanel
    """
    typical = typical_rows(X, labels, n_typical)
    return [
        GroupPanel(group.label, group.size, typical[group.label], [str(trait) for trait in group.traits])
        for group in summarize(X, labels, features=features).clusters
    ]


def column_panel(weights: Floats | None, features: Sequence[Feature]) -> list[ColumnWeight]:
    """List the columns of the table by what the links say that they count, the heaviest first.

    A column of categories counts as its heaviest category.

    Parameters
    ----------
    weights : ndarray of float, shape (n_features,), or None
        The weights of the columns of X; None if there are none.
    features : sequence of Feature
        The columns of X.

    Returns
    -------
    list of ColumnWeight
        Empty without weights.
    """
    if weights is None:
        return []
    heaviest: dict[str, float] = {}
    for feature, weight in zip(features, weights.tolist(), strict=True):
        heaviest[feature.column] = max(weight, heaviest.get(feature.column, 0.0))
    ranked = sorted(heaviest.items(), key=lambda column: -column[1])
    return [ColumnWeight(name, weight) for name, weight in ranked]


def link_panel(
    links: Sequence[PairLink],
    labels: Ints,
    suspects: Mapping[tuple[int, int], float] | None = None,
    max_links: int = MAX_LINKS,
) -> list[LinkLine]:
    """List links, those that may be wrong first, then broken ones, then the newest.

    A link comes first if it is more likely wrong than right, the likeliest of all first.

    Parameters
    ----------
    links : sequence of links with `a`, `b` and `together`
        In the order in which they were given.
    labels : ndarray of int, shape (n_rows,)
        The group of each row that is shown; -1 is none, and such rows are with no other.
    suspects : mapping of (int, int) to float, default=None
        The probability that a link is wrong, by its rows, the smaller first.
    max_links : int, default=2000
        The most links to list.

    Returns
    -------
    list of LinkLine
    """
    if not links:
        return []
    rows = np.array([(link.a, link.b) for link in links], dtype=np.int64)
    first, second = labels[rows[:, 0]], labels[rows[:, 1]]
    kept = ((first == second) & (first >= 0)) == np.array([link.together for link in links])
    known = suspects or {}
    suspicion = [known.get((a, b) if a < b else (b, a)) for a, b in rows.tolist()]
    rank = np.array([value if value is not None and value > 0.5 else 0.0 for value in suspicion])
    order = np.lexsort((-np.arange(len(links)), kept, -rank))[:max_links].tolist()
    return [LinkLine(links[place], suspicion[place], bool(kept[place])) for place in order]
