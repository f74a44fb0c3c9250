"""The state of a studio: everything a person has said, as an immutable value, and the links that follow from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from mustlink._types import Indices, Ints
from mustlink.constraints import Constraints
from mustlink.studio._fits import PackedFit
from mustlink.studio._pins import Positions, pin_components, pin_links

__all__ = ["Given", "LinksInForce", "Pair", "State", "StudioLink", "as_pair"]

Pair: TypeAlias = tuple[int, int]
Source: TypeAlias = Literal["file", "drawn", "answer", "pin", "lock", "fixed"]

# Sources of links that a person can remove; those of pins by releasing a row.
REMOVABLE = frozenset({"file", "drawn", "answer", "pin"})


def as_pair(a: int, b: int) -> Pair:
    """Return two rows, the smaller one first."""
    return (a, b) if a < b else (b, a)


def _frozen(values: Mapping[Any, Any]) -> Any:
    return MappingProxyType(dict(values))


class StudioLink(NamedTuple):
    """One link between two rows in the studio.

    Parameters
    ----------
    a, b : int
        The rows, the smaller one first.
    together : bool
        Whether they belong together.
    source : {"file", "drawn", "answer", "pin", "lock", "fixed"}
        Where it comes from: a file of links, a line that was drawn, the answer to a question, the positions of pinned
        rows, a locked group, or a column of the table.
    when : str or None
        When it was given, in ISO 8601; None if it follows from something else.

    Examples
    --------
    >>> from mustlink.studio import StudioLink
    >>> StudioLink(3, 7, True, "drawn", "2026-03-01T12:00:00+00:00").source
    'drawn'
    """

    a: int
    b: int
    together: bool
    source: Source
    when: str | None = None


@dataclass(frozen=True)
class Given:
    """What does not change in a studio: the number of rows, the links of the file, and those that always hold."""

    n_rows: int
    file: Constraints = Constraints()  # noqa: RUF009  (an immutable value)
    fixed: Constraints = Constraints()  # noqa: RUF009

    @cached_property
    def file_links(self) -> Mapping[Pair, bool]:
        """Whether the rows of each link of the file belong together; of a pair linked both ways, the must-link."""
        together = dict.fromkeys(map(tuple, self.file.must_link.tolist()), True)
        return together | {(a, b): False for a, b in self.file.cannot_link.tolist() if (a, b) not in together}


@dataclass(frozen=True, eq=False)
class State:
    """Everything that a person has said, and what is shown of it.

    Parameters
    ----------
    told : mapping of (int, int) to StudioLink
        The links that were drawn or answered.
    removed : frozenset of (int, int)
        The links of the file that were removed.
    skipped : frozenset of (int, int)
        The questions that were skipped.
    pins : mapping of int to (float, float)
        The positions of the pinned rows, in the order in which they were pinned.
    joined : mapping of int to int
        For a row that was dropped onto a group, or that others were dropped onto, a row of this group that was pinned
        elsewhere before: both places are of one group.
    locks : mapping of int to ndarray
        The rows of each locked group.
    names : mapping of int to str
        The names that groups were given.
    n_clusters, method, strategy, eps : object
        The options, see :class:`Choose`.
    fit : PackedFit or None
        The last result of the background.
    is_final : bool
        Whether that result is for exactly these links and options.
    ids : tuple of int
        The id of the group of each label of the clustering that is shown.
    absent : mapping of int to ndarray
        The rows of each group that a person named, and that the result of the background does not have.
    awaits_tree : bool
        Whether the instant clustering is to be shown, and its tree was not there yet.
    """

    told: Mapping[Pair, StudioLink] = field(default_factory=lambda: _frozen({}))
    removed: frozenset[Pair] = frozenset()
    skipped: frozenset[Pair] = frozenset()
    pins: Positions = field(default_factory=lambda: _frozen({}))
    joined: Mapping[int, int] = field(default_factory=lambda: _frozen({}))
    locks: Mapping[int, Ints] = field(default_factory=lambda: _frozen({}))
    names: Mapping[int, str] = field(default_factory=lambda: _frozen({}))
    n_clusters: int | None = None
    method: str = "auto"
    strategy: str = "minmax"
    eps: float = 0.08
    fit: PackedFit | None = None
    is_final: bool = False
    ids: tuple[int, ...] = ()
    absent: Mapping[int, Ints] = field(default_factory=lambda: _frozen({}))
    awaits_tree: bool = False

    def __post_init__(self) -> None:
        for name in ("told", "pins", "joined", "locks", "names", "absent"):
            object.__setattr__(self, name, _frozen(getattr(self, name)))

    @cached_property
    def pin_components(self) -> list[list[int]]:
        """The components of pinned rows that are near each other, or were dropped onto one group."""
        return pin_components(self.pins, self.eps, self.joined)

    @cached_property
    def anchors(self) -> list[int]:
        """The row that was pinned first at every place, which the others were moved to, the oldest place first."""
        order = {row: place for place, row in enumerate(self.pins)}
        return sorted((min(rows, key=order.__getitem__) for rows in self.pin_components), key=order.__getitem__)


class LinksInForce:
    """The links that hold in a state, from all sources."""

    def __init__(self, given: Given, state: State) -> None:
        self._given = given
        self._state = state

    @cached_property
    def constraints(self) -> Constraints:
        """All links."""
        return self.removable.add(self._given.fixed, contradictions="keep")

    @cached_property
    def removable(self) -> Constraints:
        """All links but those of columns of the table."""
        links = self._file_links()
        for together, apart in (self._told, self._pinned, self._locked):
            if len(together) or len(apart):
                links = links.add(Constraints(together, apart), contradictions="keep")
        return links

    @cached_property
    def placed(self) -> Constraints:
        """The links of pinned rows and locked groups."""
        links = Constraints()
        for together, apart in (self._pinned, self._locked):
            links = links.add(Constraints(together, apart), contradictions="keep")
        return links

    @cached_property
    def listed(self) -> tuple[StudioLink, ...]:
        """The links of the file, of the person and of pinned rows, one by one, in this order."""
        when = None
        file = [
            StudioLink(a, b, together, "file", when)
            for (a, b), together in self._given.file_links.items()
            if (a, b) not in self._state.removed
        ]
        together, apart = (pairs.tolist() for pairs in self._pinned)
        pinned = [StudioLink(a, b, True, "pin", when) for a, b in together]
        pinned += [StudioLink(*as_pair(a, b), False, "pin", when) for a, b in apart]
        return (*file, *self._state.told.values(), *pinned)

    def find(self, a: int, b: int, together: bool) -> StudioLink:
        """Return a link of `constraints` with its source, one that can be removed if there are several."""
        pair = as_pair(a, b)
        told = self._state.told.get(pair)
        if told is not None and told.together == together:
            return told
        if self._given.file_links.get(pair) == together and pair not in self._state.removed:
            return StudioLink(*pair, together, "file")
        if pair in self._pin_pairs[together]:
            return StudioLink(*pair, together, "pin")
        source: Source = "lock" if pair in self._lock_pairs[together] else "fixed"
        return StudioLink(*pair, together, source)

    @cached_property
    def options(self) -> tuple[object, ...]:
        """What the clustering depends on besides `constraints`: options, and which rows are pinned without a link."""
        return self._state.n_clusters, self._state.method, self.n_instant_clusters, *self._alone

    @property
    def anchors(self) -> list[int]:
        """As in the state."""
        return self._state.anchors

    @property
    def n_seed_rows(self) -> int:
        """The number of rows that have a link or are pinned."""
        return len(self._compact[0]) + len(self._alone)

    @cached_property
    def n_seed_groups(self) -> int:
        """The number of components of these rows."""
        rows, links = self._compact
        return (links.closure(len(rows)).n_components if len(rows) else 0) + len(self._alone)

    @property
    def n_instant_clusters(self) -> int | None:
        """The number of groups of the instant clustering; None for as many as there are components of linked rows.

        Without a number, "same" alone begins no group: only components that are pinned or have a "different" do.
        """
        if self._state.n_clusters is not None:
            return self._state.n_clusters
        rows, links = self._compact
        closure = links.closure(len(rows))
        begun = np.union1d(closure.cannot_link, closure.component[np.isin(rows, list(self._state.pins))])
        n_begun = len(begun) + len(self._alone)
        return None if n_begun == self.n_seed_groups else max(n_begun, 1)

    @cached_property
    def _compact(self) -> tuple[Indices, Constraints]:
        return self.constraints.compact()

    @property
    def _alone(self) -> list[int]:
        pinned = np.array(list(self._state.pins), dtype=np.int64)
        alone: list[int] = pinned[~np.isin(pinned, self._compact[0])].tolist()
        return alone

    def _file_links(self) -> Constraints:
        """Return the links of the file that were not removed."""
        file, removed = self._given.file, self._state.removed
        if not removed:
            return file
        return file.take(np.array([tuple(pair) not in removed for pair in file.pairs.tolist()], dtype=bool))

    @cached_property
    def _told(self) -> tuple[Ints, Ints]:
        links = self._state.told.values()
        return _as_pairs([link[:2] for link in links if link.together]), _as_pairs(
            [link[:2] for link in links if not link.together]
        )

    @cached_property
    def _pinned(self) -> tuple[Ints, Ints]:
        return pin_links(self._state.pin_components)

    @cached_property
    def _locked(self) -> tuple[Ints, Ints]:
        """The must-links along the rows of every locked group, and a cannot-link between each two groups."""
        groups = list(self._state.locks.values())
        together = [np.column_stack([rows[:-1], rows[1:]]) for rows in groups]
        first = np.array([rows[0] for rows in groups], dtype=np.int64)
        i, j = np.triu_indices(len(first), k=1)
        return np.concatenate([np.empty((0, 2), dtype=np.int64), *together]), np.column_stack([first[i], first[j]])

    @cached_property
    def _pin_pairs(self) -> dict[bool, set[Pair]]:
        return _pair_sets(self._pinned)

    @cached_property
    def _lock_pairs(self) -> dict[bool, set[Pair]]:
        return _pair_sets(self._locked)


def _as_pairs(pairs: list[Any]) -> Ints:
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _pair_sets(pairs: tuple[Ints, Ints]) -> dict[bool, set[Pair]]:
    """Return the pairs as sets, of those together and those apart."""
    together, apart = ({as_pair(a, b) for a, b in some.tolist()} for some in pairs)
    return {True: together, False: apart}
