"""Kinds of criticism of a clustering, as values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Self

from mustlink._spelling import count

__all__ = ["KINDS", "Feedback", "Kind"]


@dataclass(frozen=True)
class Kind:
    """What a kind of feedback is about: how many rows and clusters it names, and how it is worded."""

    n_rows: int
    n_clusters: int
    words: str

    def spell(self) -> str:
        """Word what it is about."""
        rows = count(self.n_rows, "row") if self.n_rows else "no rows"
        clusters = count(self.n_clusters, "cluster") if self.n_clusters else "no clusters"
        return f"{clusters} and {rows}" if self.n_clusters and not self.n_rows else f"{rows} and {clusters}"


KINDS: Mapping[str, Kind] = {
    "must_link": Kind(2, 0, "rows {r0} and {r1} belong together"),
    "cannot_link": Kind(2, 0, "rows {r0} and {r1} do not belong together"),
    "belongs": Kind(1, 1, "row {r0} belongs to cluster {c0}"),
    "not_belongs": Kind(1, 1, "row {r0} does not belong to cluster {c0}"),
    "move": Kind(1, 2, "row {r0} moves from cluster {c0} to {c1}"),
    "good": Kind(0, 1, "cluster {c0} is good"),
    "bad": Kind(0, 1, "cluster {c0} is bad"),
    "merge": Kind(0, 2, "clusters {c0} and {c1} are one"),
    "apart": Kind(0, 2, "clusters {c0} and {c1} are two"),
    "different": Kind(0, 0, "all clusters should be different"),
}


@dataclass(frozen=True)
class Feedback:
    """One criticism of a clustering.

    The kinds are "must_link" and "cannot_link" (two rows), "belongs" and "not_belongs" (a row and a cluster), "move" (a
    row, the cluster it leaves and the cluster it goes to), "good" and "bad" (a cluster), "merge" and "apart" (two
    clusters), and "different" (all clusters, the next time).

    Parameters
    ----------
    kind : str
        The kind.
    rows : tuple of int, default=()
        The rows it is about.
    clusters : tuple of int, default=()
        The clusters it is about, by their numbers in ``labels_``.

    Raises
    ------
    ValueError
        If the kind is unknown, the number of rows or clusters is not that of its kind, or they are no whole numbers
        from 0.

    See Also
    --------
    FeedbackMixture.feedback : Takes criticism.

    Examples
    --------
    >>> from mustlink.mixture import Feedback
    >>> item = Feedback("move", rows=(3,), clusters=(0, 2))
    >>> item.to_json()
    '{"kind": "move", "rows": [3], "clusters": [0, 2]}'
    >>> Feedback.from_json(item.to_json()) == item
    True
    >>> item.describe()
    'row 3 moves from cluster 0 to 2'
    """

    kind: str
    rows: tuple[int, ...] = ()
    clusters: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.kind, str) or self.kind not in KINDS:
            raise ValueError(f"There is no feedback of the kind {self.kind!r}; the kinds are {', '.join(KINDS)}.")
        wanted = KINDS[self.kind]
        for name, n_wanted in (("rows", wanted.n_rows), ("clusters", wanted.n_clusters)):
            given = getattr(self, name)
            numbers = _whole_numbers(given, name)
            if len(numbers) != n_wanted:
                raise ValueError(f"Feedback of the kind {self.kind!r} is about {wanted.spell()}; got {name}={given!r}.")
            if len(set(numbers)) < len(numbers):
                raise ValueError(f"Feedback of the kind {self.kind!r} needs two different {name}; got {given!r}.")
            object.__setattr__(self, name, numbers)

    def describe(self) -> str:
        """Return what it says, in words.

        Returns
        -------
        str
        """
        names = {f"r{place}": row for place, row in enumerate(self.rows)}
        names |= {f"c{place}": cluster for place, cluster in enumerate(self.clusters)}
        return KINDS[self.kind].words.format(**names)

    def to_json(self) -> str:
        """Return it as one line of JSON.

        Returns
        -------
        str
        """
        fields: dict[str, Any] = {"kind": self.kind}
        fields |= {name: list(value) for name in ("rows", "clusters") if (value := getattr(self, name))}
        return json.dumps(fields)

    @classmethod
    def from_json(cls, line: str) -> Self:
        """Read it from one line of JSON.

        Parameters
        ----------
        line : str
            As written by :meth:`to_json`.

        Returns
        -------
        Feedback

        Raises
        ------
        ValueError
            If the line is not what :meth:`to_json` writes.
        """
        try:
            fields = json.loads(line)
        except json.JSONDecodeError as error:
            raise ValueError(f"A feedback is one JSON object; got {line!r}, which is no JSON: {error}.") from None
        if not isinstance(fields, dict) or "kind" not in fields:
            example = cls("must_link", (3, 17)).to_json()
            raise ValueError(f"A feedback is a JSON object with a kind, such as {example}; got {line!r}.")
        return cls(fields["kind"], fields.get("rows", ()), fields.get("clusters", ()))

    @property
    def target(self) -> int | None:
        """The cluster that the row should be in; None for other kinds."""
        return self.clusters[-1] if self.kind in ("belongs", "move") else None

    def replaces(self, earlier: Feedback) -> bool:
        """Return whether an earlier criticism no longer counts beside this one, as they are about the same thing.

        Parameters
        ----------
        earlier : Feedback
            What was said before.

        Returns
        -------
        bool
        """
        if self.kind == "different":
            return False
        pair_kinds, row_kinds = ("must_link", "cannot_link"), ("belongs", "not_belongs", "move")
        for group in (pair_kinds, ("good", "bad"), ("merge", "apart")):
            if self.kind in group and earlier.kind in group:
                return {self.rows, self.rows[::-1]} & {earlier.rows} != set() and set(self.clusters) == set(
                    earlier.clusters
                )
        if self.kind in row_kinds and earlier.kind in row_kinds and self.rows == earlier.rows:
            # A row is in one cluster, and may be kept out of several.
            both_targeted = self.target is not None and earlier.target is not None
            return both_targeted or self.clusters[-1] == earlier.clusters[-1]
        return False


def _whole_numbers(given: Any, name: str) -> tuple[int, ...]:
    """Return rows or clusters as integers; refuse what are no whole numbers from 0."""
    is_series = isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping)
    numbers = tuple(given) if is_series else (None,)
    if any(isinstance(number, bool) or not isinstance(number, Integral) or number < 0 for number in numbers):
        raise ValueError(f"The {name} of a feedback are whole numbers from 0, such as (3, 17); got {name}={given!r}.")
    return tuple(int(number) for number in numbers)
