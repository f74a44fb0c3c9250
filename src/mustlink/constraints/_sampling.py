"""Pairs drawn from known classes, by the protocols of the papers."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mustlink.errors import ConstraintError


def known_rows(y: ArrayLike, missing: object) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.object_]]:
    """Return the rows whose class is known, their classes as 0, 1, ..., and the classes' names.

    A class is unknown where it equals `missing`, is None, or is not a number.
    """
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise ConstraintError(f"Labels must be one per row, an array of one dimension; got {labels.ndim}.")
    if labels.dtype.kind == "U" and not hasattr(y, "dtype"):
        # In a list of text NumPy writes out nan and -1 as text too, and they would pass for classes.
        labels = np.fromiter(y, dtype=object, count=len(labels))  # type: ignore[arg-type]
    rows = np.flatnonzero(~_is_unknown(labels, missing))
    try:
        classes, codes = np.unique(labels[rows], return_inverse=True)
    except TypeError:
        raise ConstraintError("The labels mix text and numbers; use one kind for all classes.") from None
    return rows, codes, classes


def _is_unknown(labels: NDArray[Any], missing: object) -> NDArray[np.bool_]:
    """Mark the labels that are missing, None or not a number."""
    if labels.dtype == object:
        return np.fromiter((_is_nothing(label) or label == missing for label in labels), dtype=bool, count=len(labels))
    unknown = np.asarray(labels != labels)
    if labels.dtype.kind == "U":
        # An array of text may hold -1 as text.
        return unknown if missing is None else unknown | (labels == str(missing))
    return unknown | (labels == missing) if isinstance(missing, Real) else unknown


def _is_nothing(label: object) -> bool:
    """Say whether a label is None, NaN or the missing value of pandas, which refuses to be compared."""
    try:
        return label is None or bool(label != label)
    except TypeError:
        return True


class PairsOf:
    """All pairs of some kind among classed rows, numbered 0, 1, ... without being written out.

    Rows are sorted by class. For "same", the row at place p is paired with the later places of its class; for
    "different", with all places after its class; for "any", with all later places.
    """

    def __init__(self, rows: NDArray[np.intp], codes: NDArray[np.intp], kind: str) -> None:
        by_class = np.argsort(codes, kind="stable")
        self.rows, sorted_codes = rows[by_class], codes[by_class]
        place = np.arange(len(rows))
        class_end = np.searchsorted(sorted_codes, sorted_codes, side="right")
        self._first = class_end if kind == "different" else place + 1
        last = class_end if kind == "same" else np.full(len(rows), len(rows))
        self._end_of = np.cumsum(last - self._first)
        self.total = int(self._end_of[-1]) if len(rows) else 0

    def __getitem__(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        place = np.searchsorted(self._end_of, numbers, side="right")
        begin = np.where(place > 0, self._end_of[place - 1], 0)
        partner = self._first[place] + numbers - begin
        return np.column_stack([self.rows[place], self.rows[partner]]).astype(np.int64)

    def all(self) -> NDArray[np.int64]:
        """Write all pairs out."""
        return self[np.arange(self.total)]

    def draw(self, count: int, rng: np.random.RandomState, kind: str) -> NDArray[np.int64]:
        """Draw different pairs, each as likely as any other."""
        if count > self.total:
            raise ConstraintError(f"{count} {kind} were asked for, but the labels allow only {self.total}.")
        return self[distinct_integers(self.total, count, rng)]


def distinct_integers(total: int, count: int, rng: np.random.RandomState) -> NDArray[np.int64]:
    """Draw different integers below a total, without writing out all of them where few are wanted."""
    if 2 * count >= total:
        return rng.permutation(total)[:count].astype(np.int64)
    drawn = np.empty(0, dtype=np.int64)
    while len(drawn) < count:
        more = rng.randint(total, size=count - len(drawn) + 16, dtype=np.int64)
        together = np.concatenate([drawn, more])
        # Keep the order of drawing, so that cutting the list favours no number.
        drawn = together[np.sort(np.unique(together, return_index=True)[1])]
    return drawn[:count]


def flip_some(
    must_link: NDArray[np.int64], cannot_link: NDArray[np.int64], noise: float, rng: np.random.RandomState
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Turn a share of the links, drawn from both kinds alike, into the other kind."""
    pairs = np.concatenate([must_link, cannot_link])
    is_must = np.repeat([True, False], [len(must_link), len(cannot_link)])
    flipped = rng.permutation(len(pairs))[: round(noise * len(pairs))]
    is_must[flipped] = ~is_must[flipped]
    return pairs[is_must], pairs[~is_must]
