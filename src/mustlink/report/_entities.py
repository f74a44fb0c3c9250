"""What is shown of entities that records were resolved to, as plain data, for the terminal and for the report."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mustlink._spelling import count
from mustlink._types import Ints
from mustlink.report._summary import printable

__all__ = [
    "CellPair",
    "Decision",
    "Entity",
    "EntityScores",
    "EntitySizes",
    "EntitySummary",
    "Part",
    "compare_cells",
    "summarize_entities",
]

MAX_ENTITIES = 100
MAX_SPELLINGS = 12
MAX_CELL_LENGTH = 240
# The fewest and the most digits of a similarity.
MIN_DIGITS, MAX_DIGITS = 3, 7
# The first sizes of the bars of the histogram.
SIZE_STEPS = (1, 2, 3, 4, 5, 10, 20, 50, 100, 200, 500, 1000)
WORDS = re.compile(r"\w+|\s+|[^\w\s]+")


class Part(NamedTuple):
    """A part of a cell.

    Parameters
    ----------
    text : str
        The part, made safe to print.
    is_marked : bool
        Whether the cell of the other record lacks it.

    Examples
    --------
    >>> from mustlink.report import Part
    >>> Part("Ann", True).text
    'Ann'
    """

    text: str
    is_marked: bool


class CellPair(NamedTuple):
    """A column of two records side by side.

    Parameters
    ----------
    column : str
        The name of the column.
    first, second : tuple of Part
        The two cells, with the words marked that the other one lacks.

    Examples
    --------
    See :func:`compare_cells`.
    """

    column: str
    first: tuple[Part, ...]
    second: tuple[Part, ...]


@dataclass(frozen=True)
class Decision:
    """Two records, and whether they are taken for one entity.

    Parameters
    ----------
    rows : tuple of (int, int)
        The two records.
    names : tuple of (str, str)
        What they are called: ids or row numbers.
    spellings : tuple of (str, str)
        The texts by which they were compared.
    together : bool
        Whether they are one entity.
    similarity : float
        The similarity of the clusters that they are in, without each other, or the probability that they match.
    attribute, relational : float or None, default=None
        The similarity of the texts, and that of the co-occurring entities, where the two were combined.
    sizes : tuple of (int, int), default=(1, 1)
        The number of records of these clusters.
    shared : tuple of str, default=()
        The entities that co-occur with both sides, by their most frequent spellings.
    cells : tuple of CellPair, default=()
        The records side by side.
    threshold : float or None, default=None
        The similarity or probability from which records are taken for one entity, to show enough digits.

    Examples
    --------
    >>> from mustlink.report import Decision
    >>> names, texts = ("0", "4"), ("A. Smith", "Ann Smith")
    >>> str(Decision((0, 4), names, texts, True, 0.71))
    'together, 0.710: A. Smith (0) and Ann Smith (4)'
    >>> str(Decision((0, 4), names, texts, False, 0.4249, sizes=(3, 2), threshold=0.425))
    'apart, 0.4249 between 3 and 2 records: A. Smith (0) and Ann Smith (4)'
    """

    rows: tuple[int, int]
    names: tuple[str, str]
    spellings: tuple[str, str]
    together: bool
    similarity: float
    attribute: float | None = None
    relational: float | None = None
    sizes: tuple[int, int] = (1, 1)
    shared: tuple[str, ...] = ()
    cells: tuple[CellPair, ...] = ()
    threshold: float | None = None

    def __str__(self) -> str:
        named = [
            spelling if spelling == name else f"{spelling} ({name})"
            for spelling, name in zip(self.spellings, self.names, strict=True)
        ]
        between = f" between {self.sizes[0]:,} and {self.sizes[1]:,} records" if self.is_of_clusters else ""
        return f"{self.word}, {self.figure}{between}: {' and '.join(named)}"

    @property
    def is_of_clusters(self) -> bool:
        """Whether more records than the two were compared."""
        return self.sizes != (1, 1)

    @property
    def figure(self) -> str:
        """The similarity or probability, with enough digits to be on its side of the threshold."""
        threshold = self.threshold
        if threshold is not None and abs(self.similarity - threshold) >= 10.0**-MAX_DIGITS:
            for digits in range(MIN_DIGITS, MAX_DIGITS):
                shown = f"{self.similarity:.{digits}f}"
                if (float(shown) >= threshold) == (self.similarity >= threshold):
                    return shown
        return f"{self.similarity:.{MIN_DIGITS}f}"

    @property
    def word(self) -> str:
        """The decision in a word."""
        return "together" if self.together else "apart"


class Entity(NamedTuple):
    """One entity.

    Parameters
    ----------
    label : int
        Its number.
    size : int
        The number of its records.
    spellings : tuple of (str, int)
        Its most frequent spellings, and in how many records each occurs.
    n_spellings : int
        The number of all its spellings.

    Examples
    --------
    >>> from mustlink.report import Entity
    >>> str(Entity(3, 3, (("A. Smith", 2), ("Ann Smith", 1)), 2))
    'A. Smith (2), Ann Smith'
    """

    label: int
    size: int
    spellings: tuple[tuple[str, int], ...]
    n_spellings: int

    def __str__(self) -> str:
        return self.spell(MAX_SPELLINGS)

    def spell(self, max_spellings: int) -> str:
        """Word the most frequent spellings.

        Parameters
        ----------
        max_spellings : int
            How many of them.

        Returns
        -------
        str
        """
        shown = [text if times == 1 else f"{text} ({times:,})" for text, times in self.spellings[:max_spellings]]
        n_more = self.n_spellings - len(shown)
        return ", ".join(shown) + (f" and {n_more:,} more" if n_more else "")


class EntitySizes(NamedTuple):
    """The entities whose numbers of records are in a range.

    Parameters
    ----------
    name : str
        The range.
    n_entities, n_rows : int
        How many entities and rows these are.
    share : float
        The number of rows relative to the longest bar.

    Examples
    --------
    >>> from mustlink.report import EntitySizes
    >>> EntitySizes("5 to 9", 2, 13, 1.0).n_rows
    13
    """

    name: str
    n_entities: int
    n_rows: int
    share: float


class EntityScores(NamedTuple):
    """How well entities agree with known ones, by pairs of records.

    Parameters
    ----------
    column : str
        The column of the known entities.
    n_rows : int
        How many rows have one.
    precision, recall, f1 : float
        Of the pairs taken for one entity, the part that are; of the pairs that are, the part taken for one; and their
        harmonic mean; NaN where there are no such pairs.

    Examples
    --------
    >>> from mustlink.report import EntityScores
    >>> str(EntityScores("label", 10, 1.0, 0.5, 2 / 3))
    'Compared with the column label (10 rows): precision 100.0%, recall 50.0%, F1 66.7% of pairs.'
    >>> str(EntityScores("label", 10, float("nan"), 0.0, 0.0))
    'Compared with the column label (10 rows): precision undefined, recall 0.0%, F1 0.0% of pairs.'
    """

    column: str
    n_rows: int
    precision: float
    recall: float
    f1: float

    def __str__(self) -> str:
        precision, recall, f1 = (
            "undefined" if np.isnan(share) else f"{share:.1%}" for share in (self.precision, self.recall, self.f1)
        )
        return (
            f"Compared with the column {self.column} ({count(self.n_rows, 'row')}): precision {precision}, "
            f"recall {recall}, F1 {f1} of pairs."
        )


@dataclass(frozen=True)
class EntitySummary:
    """What is shown of entities.

    Parameters
    ----------
    n_rows : int
        The number of records.
    n_entities, n_single : int
        The number of entities, and of those with a single record.
    entities : tuple of Entity
        The largest entities of several records.
    decisions : tuple of Decision
        The decisions that were nearest, the nearest first.
    histogram : tuple of EntitySizes
        The sizes of the entities.
    threshold : float
        The similarity or probability from which records are taken for one entity.
    threshold_note : str
        How the threshold was chosen, as a sentence.
    blocking_note : str
        Which pairs were compared, as a sentence; empty if all were given.
    unit : str
        What the numbers of decisions are: "similarity" or "probability".
    scores : EntityScores or None
        The agreement with known entities, if there are any.
    notices : tuple of str
        What a person should know, as sentences.

    Examples
    --------
    See :func:`summarize_entities`.
    """

    n_rows: int
    n_entities: int
    n_single: int
    entities: tuple[Entity, ...]
    decisions: tuple[Decision, ...]
    histogram: tuple[EntitySizes, ...]
    threshold: float
    threshold_note: str
    blocking_note: str
    unit: str
    scores: EntityScores | None
    notices: tuple[str, ...]

    @property
    def headline(self) -> str:
        """The result in a sentence."""
        n_several = self.n_entities - self.n_single
        text = f"{count(self.n_rows, 'row is', 'rows are')} {count(self.n_entities, 'entity', 'entities')}"
        if not n_several:
            return f"{text}; no two rows are taken for one."
        largest = f"the largest of {count(self.entities[0].size, 'row')}"
        return f"{text}: {self.n_single:,} of one row, {n_several:,} of several, {largest}."


def compare_cells(column: str, first: str, second: str) -> CellPair:
    """Put two cells side by side, and mark the words that the other one lacks.

    Parameters
    ----------
    column : str
        The name of the column.
    first, second : str
        The cells.

    Returns
    -------
    CellPair

    Examples
    --------
    >>> from mustlink.report import compare_cells
    >>> [part.text for part in compare_cells("name", "A. Smith", "Smith, Ann").second if part.is_marked]
    ['Ann']
    """
    words = [WORDS.findall(printable(cell, MAX_CELL_LENGTH)) for cell in (first, second)]
    counts = [Counter(word.casefold() for word in side if _is_word(word)) for side in words]
    sides = []
    for own, other in zip(words, reversed(counts), strict=True):
        left = Counter(other)
        parts = []
        for word in own:
            is_there = not _is_word(word) or left[word.casefold()] > 0
            left[word.casefold()] -= 1
            parts.append(Part(word, not is_there))
        sides.append(tuple(parts))
    return CellPair(printable(column), *sides)


def _is_word(text: str) -> bool:
    """Return whether a part of a cell is a word, not signs or blanks."""
    return text[0].isalnum() or text[0] == "_"


def summarize_entities(
    labels: Ints,
    spellings: Sequence[str],
    decisions: Sequence[Decision] = (),
    *,
    threshold: float,
    threshold_note: str = "",
    blocking_note: str = "",
    unit: str = "similarity",
    scores: EntityScores | None = None,
    notices: Sequence[str] = (),
) -> EntitySummary:
    """Summarize the entities of records.

    Parameters
    ----------
    labels : ndarray of int, shape (n_rows,)
        The entity of each record, numbered from 0.
    spellings : sequence of str
        The text of each record, such as its name.
    decisions : sequence of Decision, default=()
        The decisions to show.
    threshold : float
        The similarity or probability from which records are taken for one entity.
    threshold_note : str, default=""
        How the threshold was chosen, as a sentence.
    blocking_note : str, default=""
        Which pairs were compared, as a sentence.
    unit : str, default="similarity"
        What the numbers of decisions are: "similarity" or "probability".
    scores : EntityScores or None, default=None
        The agreement with known entities.
    notices : sequence of str, default=()
        What a person should know, as sentences.

    Returns
    -------
    EntitySummary

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink.report import summarize_entities
    >>> found = summarize_entities(np.array([0, 0, 1]), ["A. Smith", "Ann Smith", "Bo Li"], threshold=0.7)
    >>> print(found.headline)
    3 rows are 2 entities: 1 of one row, 1 of several, the largest of 2 rows.
    >>> print(found.entities[0])
    Ann Smith, A. Smith
    """
    labels = np.asarray(labels)
    sizes = np.bincount(labels)
    largest = [label for label in np.argsort(-sizes, kind="stable")[:MAX_ENTITIES].tolist() if sizes[label] > 1]
    texts: dict[int, Counter[str]] = {label: Counter() for label in largest}
    for row in np.flatnonzero(np.isin(labels, largest)).tolist():
        texts[int(labels[row])][spellings[row]] += 1
    entities = [_describe(label, int(sizes[label]), texts[label]) for label in largest]
    return EntitySummary(
        n_rows=len(labels),
        n_entities=len(sizes),
        n_single=int(np.count_nonzero(sizes == 1)),
        entities=tuple(entities),
        decisions=tuple(decisions),
        histogram=tuple(_count_sizes(sizes)),
        threshold=threshold,
        threshold_note=threshold_note,
        blocking_note=blocking_note,
        unit=unit,
        scores=scores,
        notices=tuple(notices),
    )


def _describe(label: int, size: int, texts: Counter[str]) -> Entity:
    """Describe an entity by its most frequent spellings, the longer of two equally frequent ones first."""
    ranked = sorted(texts.items(), key=lambda item: (-item[1], -len(item[0]), item[0]))
    shown = tuple((printable(text), times) for text, times in ranked[:MAX_SPELLINGS])
    return Entity(label, size, shown, len(texts))


def _count_sizes(sizes: Ints) -> list[EntitySizes]:
    """Return how many entities have each size, or sizes in ranges that grow."""
    starts = np.array(SIZE_STEPS)
    bins = np.searchsorted(starts, sizes, side="right") - 1
    n_entities = np.bincount(bins, minlength=len(starts))
    n_rows = np.bincount(bins, sizes, minlength=len(starts)).astype(int)
    bars = []
    for place in np.flatnonzero(n_entities).tolist():
        low = SIZE_STEPS[place]
        high = SIZE_STEPS[place + 1] - 1 if place + 1 < len(SIZE_STEPS) else int(sizes.max())
        name = f"{low:,}" if low == high else f"{low:,} to {high:,}"
        bars.append(EntitySizes(name, int(n_entities[place]), int(n_rows[place]), n_rows[place] / n_rows.max()))
    return bars
