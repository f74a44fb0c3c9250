"""Links from known classes: those implied by partial labels, and random ones by the protocols of the papers."""

from __future__ import annotations

from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from mustlink._spelling import count
from mustlink.errors import ConstraintError, TooLargeError

# The most pairs that are listed.
MAX_PAIRS = 50_000_000
# The marker of an unknown class, as in sklearn.semi_supervised.
UNKNOWN = -1
# Unknown classes as text: an empty cell, and how NumPy and pandas write -1 and missing values.
UNKNOWN_TEXTS = ("", "-1", "-1.0", "nan", "NaN", "<NA>")

Pairs: TypeAlias = NDArray[np.int64]


def links_of_labels(y: ArrayLike, missing: object, pairs: str, order: ArrayLike | None) -> tuple[Pairs, Pairs]:
    """Return must-links and cannot-links that partial labels imply, all of them or few with the same closure."""
    if pairs not in ("compact", "all"):
        raise ConstraintError(f'pairs must be "compact" or "all"; got {pairs!r}.')
    rows, codes, classes = known_rows(y, missing)
    if pairs == "all":
        return _all_links(rows, codes)
    n_classes = len(classes)
    _refuse_too_many(n_classes * (n_classes - 1) // 2, f"{n_classes:,} classes")
    if order is not None:
        numbers = _check_order(order, np.shape(y)[0])
        by_order = np.argsort(numbers[rows], kind="stable")
        rows, codes = rows[by_order], codes[by_order]
    by_class = np.argsort(codes, kind="stable")
    chain = np.column_stack([rows[by_class][:-1], rows[by_class][1:]])
    within = codes[by_class][:-1] == codes[by_class][1:]
    first = rows[np.unique(codes, return_index=True)[1]]
    i, j = np.triu_indices(n_classes, k=1)
    return chain[within], np.column_stack([first[i], first[j]])


def _check_order(order: ArrayLike, n_rows: int) -> NDArray[Any]:
    """Refuse an order that is not one number per row."""
    numbers = np.asarray(order)
    if numbers.shape != (n_rows,) or numbers.dtype.kind not in "iuf":
        raise ConstraintError(
            f"order must hold one number per row, {n_rows:,} in all; got an array of shape {numbers.shape} and type "
            f"{numbers.dtype}."
        )
    return numbers


def draw_links(
    y: ArrayLike,
    n_pairs: int | None,
    balanced: bool,
    labeled_fraction: float | None,
    noise: float,
    missing: object,
    random_state: Any,
) -> tuple[Pairs, Pairs]:
    """Draw must-links and cannot-links from known classes."""
    if not 0 <= noise <= 1:
        raise ConstraintError(f"noise must be between 0 and 1; got {noise}.")
    rng = check_random_state(random_state)
    rows, codes, _ = known_rows(y, missing)
    if n_pairs is not None and labeled_fraction is None:
        must, cannot = _draw_pairs(rows, codes, n_pairs, balanced, rng)
    elif labeled_fraction is not None and n_pairs is None:
        if not 0 < labeled_fraction <= 1:
            raise ConstraintError(f"labeled_fraction must be between 0 and 1; got {labeled_fraction}.")
        chosen = np.sort(rng.permutation(len(rows))[: round(labeled_fraction * len(rows))])
        must, cannot = _all_links(rows[chosen], codes[chosen])
    else:
        problem = "; neither was given" if n_pairs is None else ", not both"
        raise ConstraintError(f"Pass either n_pairs or labeled_fraction{problem}.")
    return flip_some(must, cannot, noise, rng)


def _draw_pairs(
    rows: NDArray[np.intp], codes: NDArray[np.intp], n_pairs: int, balanced: bool, rng: np.random.RandomState
) -> tuple[Pairs, Pairs]:
    """Draw pairs, half of either kind or as they come."""
    if n_pairs < 0:
        raise ConstraintError(f"n_pairs cannot be negative; got {n_pairs}.")
    if balanced:
        must = PairsOf(rows, codes, "same").draw((n_pairs + 1) // 2, rng, "must-link")
        return must, PairsOf(rows, codes, "different").draw(n_pairs // 2, rng, "cannot-link")
    drawn = PairsOf(rows, codes, "any").draw(n_pairs, rng, "pair")
    code_of_end = codes[np.searchsorted(rows, drawn)]
    same = code_of_end[:, 0] == code_of_end[:, 1]
    return drawn[same], drawn[~same]


def _all_links(rows: NDArray[np.intp], codes: NDArray[np.intp]) -> tuple[Pairs, Pairs]:
    """List every pair of labeled rows."""
    _refuse_too_many(len(rows) * (len(rows) - 1) // 2, f"{len(rows):,} labeled rows")
    return PairsOf(rows, codes, "same").all(), PairsOf(rows, codes, "different").all()


def _refuse_too_many(n_pairs: int, of_what: str) -> None:
    if n_pairs > MAX_PAIRS:
        raise TooLargeError(
            f"{of_what} make {n_pairs:,} pairs, and at most {MAX_PAIRS:,} are listed; "
            'from_labels with pairs="compact" needs far fewer when there are few classes.'
        )


def known_rows(
    y: ArrayLike, missing: object = UNKNOWN
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.object_]]:
    """Return the rows with a known class.

    A class is unknown if it is -1, None, NaN, the missing value of pandas, a masked entry of a masked array, or text
    that is empty, blank or spells one of these. No class can be called so.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Partial labels.
    missing : object, default=-1
        A further marker of an unknown class, or a list of them.

    Returns
    -------
    rows : ndarray of shape (n_known,)
        The rows, ascending.
    codes : ndarray of shape (n_known,)
        Their classes, numbered from 0.
    classes : ndarray of shape (n_classes,)
        The names of the classes.

    Examples
    --------
    >>> from mustlink.constraints import known_rows
    >>> known_rows([-1, 7, 3, 7])
    (array([1, 2, 3]), array([1, 0, 1]), array([3, 7]))
    >>> known_rows(["", "cat", None, "?"], missing="?")[0]
    array([1])
    """
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise ConstraintError(f"Labels must be one per row, an array of one dimension; got {labels.ndim}.")
    if labels.dtype.kind == "U" and not hasattr(y, "dtype"):
        # In a list of text NumPy writes out nan and -1 as text too, and they would pass for classes.
        labels = np.fromiter(y, dtype=object, count=len(labels))  # type: ignore[arg-type]
    markers = list(missing) if isinstance(missing, list | tuple | set | frozenset | np.ndarray) else [missing]
    unknown = _is_unknown(labels, markers)
    if isinstance(y, np.ma.MaskedArray):
        unknown |= np.ma.getmaskarray(y)
    rows = np.flatnonzero(~unknown)
    try:
        classes, codes = np.unique(labels[rows], return_inverse=True)
    except TypeError:
        raise ConstraintError("The labels mix text and numbers; use one kind for all classes.") from None
    return rows, codes, classes


def _is_unknown(labels: NDArray[Any], markers: list[Any]) -> NDArray[np.bool_]:
    """Mark the labels that are unknown by any of the markers, or equal to one of `markers`."""
    if labels.dtype.kind in "iufb":
        unknown = (labels != labels) | (labels == UNKNOWN)
        numbers = np.array([marker for marker in markers if isinstance(marker, Real)])
        return unknown | np.isin(labels, numbers)
    listed = labels.astype(str) if labels.dtype.kind == "S" else labels
    return np.fromiter((_is_nothing(label, markers) for label in listed), dtype=bool, count=len(labels))


def _is_nothing(label: Any, markers: list[Any]) -> bool:
    """Return whether a label is unknown."""
    if isinstance(label, str):
        # An array of text may hold the marker as text.
        return label.strip() in UNKNOWN_TEXTS or any(
            label == marker or (marker is not None and label == str(marker)) for marker in markers
        )
    try:
        return (
            label is None
            or bool(label != label)
            or bool(label == UNKNOWN)
            or any(bool(label == marker) for marker in markers)
        )
    except TypeError:
        # The missing value of pandas cannot be compared.
        return True


class PairsOf:
    """All pairs of some kind among classed rows, numbered 0, 1, ... without being stored.

    Rows are sorted by class. For "same", the row at position p is paired with the later positions of its class; for
    "different", with all positions after its class; for "any", with all later positions.
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
        """Return all pairs."""
        return self[np.arange(self.total)]

    def draw(self, n_pairs: int, rng: np.random.RandomState, kind: str) -> NDArray[np.int64]:
        """Draw distinct pairs, uniformly."""
        if n_pairs > self.total:
            requested = count(n_pairs, f"{kind} was", f"{kind}s were")
            raise ConstraintError(f"{requested} requested, but the labels allow only {self.total:,}.")
        return self[distinct_integers(self.total, n_pairs, rng)]


def distinct_integers(total: int, count: int, rng: np.random.RandomState) -> NDArray[np.int64]:
    """Draw distinct integers below a total, without listing all of them where few are needed."""
    if 2 * count >= total:
        return rng.permutation(total)[:count].astype(np.int64)
    drawn = np.empty(0, dtype=np.int64)
    while len(drawn) < count:
        more = rng.randint(total, size=count - len(drawn) + 16, dtype=np.int64)
        together = np.concatenate([drawn, more])
        # Keep the order of drawing, because truncating a sorted list would favor small numbers.
        drawn = together[np.sort(np.unique(together, return_index=True)[1])]
    return drawn[:count]


def flip_some(
    must_link: NDArray[np.int64], cannot_link: NDArray[np.int64], noise: float, rng: np.random.RandomState
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Flip a fraction of the links, drawn from both kinds alike, to the other kind."""
    pairs = np.concatenate([must_link, cannot_link])
    is_must = np.repeat([True, False], [len(must_link), len(cannot_link)])
    flipped = rng.permutation(len(pairs))[: round(noise * len(pairs))]
    is_must[flipped] = ~is_must[flipped]
    return pairs[is_must], pairs[~is_must]
