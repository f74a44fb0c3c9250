"""Pairs of records with probabilities that they match, as other tools write them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd

from mustlink._spelling import count, spell_whole
from mustlink._types import Floats, Ints, Mask
from mustlink.errors import FileFormatError
from mustlink.tables._links import UnknownIds, _row_of_id
from mustlink.tables._read import read_table
from mustlink.tables._table import Table, is_text

__all__ = ["PairScores", "read_pair_scores"]

# What tools call the two records of a pair, beside any COLUMN_l and COLUMN_r of splink.
ID_COLUMNS = (
    ("unique_id_l", "unique_id_r"),
    ("id1", "id2"),
    ("id_1", "id_2"),
    ("id_a", "id_b"),
    ("a", "b"),
    ("left", "right"),
    ("left_id", "right_id"),
    ("rec_id_1", "rec_id_2"),
    ("record_id_1", "record_id_2"),
)
# What they call the probability, the best one first; a weight of splink is the logarithm of the odds to base 2.
WEIGHT = "match_weight"
SCORE_COLUMNS = ("match_probability", "probability", "prob", "p", "score", "confidence", "confidence_score", WEIGHT)
DATASET = "source_dataset"
LEFT, RIGHT = "_l", "_r"
# Between the data set and the id of a record, where ids occur in several data sets, as splink writes it.
JOINT = "-__-"
MAX_SHOWN_IDS = 3


@dataclass(frozen=True)
class PairScores:
    """Pairs of records and the probability that each is a match.

    Parameters
    ----------
    names : list of str
        The ids of the records.
    pairs : ndarray of int64, shape (n_pairs, 2)
        Two records by their place in `names`, the smaller one first, each pair once.
    probability : ndarray of float64, shape (n_pairs,)
        From 0 to 1.
    id_name : str
        What the ids are called.
    sources : list of str or None
        The source of each record, empty where unknown, if it was asked for.
    notices : tuple of str
        Which columns were taken and what was left out, as sentences.

    Examples
    --------
    See :func:`read_pair_scores`.
    """

    names: list[str]
    pairs: Ints
    probability: Floats
    id_name: str
    sources: list[str] | None
    notices: tuple[str, ...]


def read_pair_scores(
    path: str | PathLike[str],
    *,
    ids: Sequence[str] | None = None,
    source_column: str | None = None,
    unknown_ids: UnknownIds = "raise",
    reading: Mapping[str, Any] | None = None,
) -> PairScores:
    """Read pairs of records with probabilities, as splink, dedupe, recordlinkage and other tools write them.

    Parameters
    ----------
    path : str or path-like
        A table with a line for each pair, in a format of :func:`read_table`. The columns are found by their names:
        unique_id_l and unique_id_r, or any other name with _l and _r, id1 and id2 and the like, with
        match_probability, probability, score or match_weight; otherwise they are the first three.
    ids : sequence of str or None, default=None
        The ids of all records, if there is a table of them; None takes those of the pairs.
    source_column : str or None, default=None
        The column of the sources of the records, which is there twice, with _l and _r.
    unknown_ids : {"raise", "skip"}, default="raise"
        What to do with a pair that names an id which is not among `ids`: refuse it, or skip it.
    reading : mapping or None, default=None
        Options of :func:`read_table` that tell how the file is written.

    Returns
    -------
    PairScores
        The pairs.

    Raises
    ------
    FileFormatError
        With the line of the first pair that cannot be used.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mustlink.tables import read_pair_scores
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "pairs.csv")
    ...     _ = path.write_text("unique_id_l,unique_id_r,match_probability\\nx,y,0.9\\nz,y,0.2\\n")
    ...     found = read_pair_scores(path)
    >>> found.names, found.pairs.tolist(), found.probability
    (['x', 'y', 'z'], [[0, 1], [1, 2]], array([0.9, 0.2]))
    """
    reading = reading or {}
    names = read_table(path, columns=[], **reading).left_out
    first, second, score = _find_columns(path, names, source_column)
    left, right = _sides(source_column) if source_column is not None else (None, None)
    with_datasets = ids is None and set(_sides(DATASET)) <= set(names)
    others = [*(_sides(DATASET) if with_datasets else ()), *([left, right] if left and right else [])]
    texts = list(dict.fromkeys([first, second, *others]))
    table = read_table(path, text=texts, columns=[*texts, score], **reading)
    if not table.n_rows:
        raise FileFormatError(f"{path} has a header and no pairs.")
    probability = _probabilities(table, score)
    ends = np.array([_cells(table, first), _cells(table, second)], dtype=object)
    notices = [*table.notices, f"Pairs are read from the columns {first} and {second}, probabilities from {score}."]
    id_name = first.removesuffix(LEFT) if first.endswith(LEFT) else "id"
    if with_datasets:
        ends, notes = _add_datasets(ends, np.array([table.strings(side) for side in _sides(DATASET)], dtype=object))
        notices += notes
    known = np.ones(ends.shape[1], dtype=bool)
    if ids is None:
        codes, found = pd.factorize(ends.T.ravel())
        pairs, record_names = codes.reshape(-1, 2), [str(name) for name in found]
    else:
        pairs, record_names = _rows_of(table, ends, ids, unknown_ids), list(ids)
        known = np.asarray((pairs >= 0).all(axis=1))
        if not known.all():
            n_skipped = int(np.count_nonzero(~known))
            notices.append(
                f"{n_skipped:,} of {count(len(pairs), 'pair')} {'names' if n_skipped == 1 else 'name'} ids that are "
                "not in the table and were skipped."
            )
    sources = _sources(table, left, right, pairs, record_names) if left and right else None
    kept, n_repeated = _check_pairs(table, pairs, probability, record_names, known)
    if n_repeated:
        notices.append(f"{count(n_repeated, 'pair is', 'pairs are')} listed more than once, with the same value.")
    return PairScores(record_names, np.sort(pairs[kept], axis=1), probability[kept], id_name, sources, tuple(notices))


def _sides(column: str) -> tuple[str, str]:
    """Return what splink calls a column of the two records of a pair."""
    return column + LEFT, column + RIGHT


def _find_columns(path: str | PathLike[str], names: Sequence[str], source_column: str | None) -> tuple[str, str, str]:
    """Return the columns of the two records and of the probability."""
    real = {name.lower(): name for name in reversed(names)}
    stems = [name.removesuffix(LEFT) for name in real if name.endswith(LEFT)]
    named = [*ID_COLUMNS, *(_sides(stem) for stem in reversed(stems) if stem not in (DATASET, source_column))]
    ids = next((pair for pair in named if set(pair) <= real.keys()), None)
    score = next((name for name in SCORE_COLUMNS if name in real), None)
    if len(names) < 3:
        raise FileFormatError(
            f"{path} has the {count(len(names), 'column')} {', '.join(names)}; pairs need three: two ids and the "
            "probability that they match."
        )
    if ids is not None:
        others = [name for name in real if name not in ids]
        if score is None and len(others) != 1:
            raise FileFormatError(
                f"{path} has the ids of the pairs in the columns {real[ids[0]]} and {real[ids[1]]}, but no column of "
                f"probabilities; it must be called {' or '.join(SCORE_COLUMNS)}."
            )
        return real[ids[0]], real[ids[1]], real[score or others[0]]
    return names[0], names[1], names[2]


def _cells(table: Table, column: str) -> list[str]:
    """Return the ids of a column, of which none may be empty."""
    cells = table.strings(column)
    if "" in cells:
        place = table.where(cells.index(""))
        raise FileFormatError(f"{table.source}, {place}: the column {column!r} is empty; every pair needs two ids.")
    return [spell_whole(cell) for cell in cells]


def _probabilities(table: Table, column: str) -> Floats:
    """Return the probabilities of a column, which may hold weights in bits."""
    series = table.column(column)
    if is_text(series):
        raise FileFormatError(
            f"{table.source}: the column {column!r} holds texts such as {series.cat.categories[0]!r} where the "
            "probabilities of the pairs are expected."
        )
    values = series.to_numpy(dtype=np.float64)
    is_weight = column.lower() == WEIGHT
    wrong = np.isnan(values) if is_weight else ~((values >= 0) & (values <= 1))
    if wrong.any():
        row = int(np.argmax(wrong))
        what = "is empty" if np.isnan(values[row]) else f"is {values[row]:g}"
        raise FileFormatError(
            f"{table.source}, {table.where(row)}: the column {column!r} {what}; "
            + ("a weight is a number." if is_weight else "a probability is from 0 to 1.")
        )
    return 1.0 / (1.0 + np.exp2(-np.clip(values, -1000, 1000))) if is_weight else values


def _add_datasets(ends: Any, datasets: Any) -> tuple[Any, list[str]]:
    """Name records by data set and id, where an id occurs in several data sets."""
    distinct = pd.unique(pd.Series(list(zip(datasets.ravel(), ends.ravel(), strict=True))))
    if len(distinct) == len(set(ends.ravel())):
        return ends, []
    joined = np.array(
        [[f"{d}{JOINT}{e}" for d, e in zip(*side, strict=True)] for side in zip(datasets, ends, strict=True)]
    )
    note = f"Some ids occur in several data sets; records are named by both, such as {joined[0][0]}."
    return joined.astype(object), [note]


def _rows_of(table: Table, ends: Any, ids: Sequence[str], unknown_ids: UnknownIds) -> Ints:
    """Return the rows of the two ids of each pair; -1 for an unknown id."""
    row_of = _row_of_id(ids)
    codes, found = pd.factorize(ends.T.ravel())
    rows = np.array([row_of.get(name, -1) for name in found], dtype=np.int64)
    unknown = [name for name, row in zip(found, rows.tolist(), strict=True) if row < 0]
    if unknown and unknown_ids == "raise":
        place = table.where(int(np.argmax(rows[codes] < 0)) // 2)
        shown = ", ".join(repr(name) for name in unknown[1:MAX_SHOWN_IDS])
        n_more = max(0, len(unknown) - MAX_SHOWN_IDS)
        others = f", nor with {shown}{f' and {n_more:,} more' if n_more else ''}" if shown else ""
        raise FileFormatError(
            f"{table.source}, {place}: there is no row with the id {unknown[0]!r} in the table{others}",
            remedy="skip_unknown_pairs",
        )
    return rows[codes].reshape(-1, 2)


def _sources(table: Table, left: str, right: str, pairs: Ints, names: Sequence[str]) -> list[str]:
    """Return the source of every record, which must be the same in all its pairs."""
    sources = [""] * len(names)
    row_of_source = [-1] * len(names)
    columns = (table.strings(left), table.strings(right))
    for row, records in enumerate(pairs.tolist()):
        for record, column in zip(records, columns, strict=True):
            if record >= 0 and column[row]:
                if sources[record] not in ("", column[row]):
                    place = "" if row_of_source[record] == row else f" in {table.where(row_of_source[record])}"
                    raise FileFormatError(
                        f"{table.source}, {table.where(row)}: the id {names[record]!r} is of the source "
                        f"{column[row]!r}, and{place} of {sources[record]!r}; if sources number their records alike, "
                        f"call the columns of the sources {' and '.join(_sides(DATASET))}."
                    )
                sources[record], row_of_source[record] = column[row], row
    return sources


def _check_pairs(
    table: Table, pairs: Ints, probability: Floats, names: Collection[str], known: Mask
) -> tuple[Ints, int]:
    """Return the pairs to keep, each once, and how many were repeated; refuse pairs of a record with itself."""
    same = known & (pairs[:, 0] == pairs[:, 1])
    if same.any():
        row = int(np.argmax(same))
        name = list(names)[pairs[row, 0]]
        raise FileFormatError(
            f"{table.source}, {table.where(row)}: pairs {name!r} with itself; a pair needs two records."
        )
    places = np.flatnonzero(known)
    ordered = np.sort(pairs[places], axis=1)
    keys = ordered[:, 0] * len(names) + ordered[:, 1]
    order = np.argsort(keys, kind="stable")
    repeats = np.flatnonzero(keys[order][1:] == keys[order][:-1]) + 1
    unequal = probability[places[order[repeats]]] != probability[places[order[repeats - 1]]]
    if unequal.any():
        at = repeats[int(np.argmax(unequal))]
        before, after = places[order[at - 1]], places[order[at]]
        a, b = (list(names)[record] for record in pairs[after])
        raise FileFormatError(
            f"{table.source}: the pair {a!r} and {b!r} has the value {probability[before]:g} in "
            f"{table.where(int(before))} and {probability[after]:g} in {table.where(int(after))}; a pair has one."
        )
    first = np.ones(len(places), dtype=bool)
    first[order[repeats]] = False
    return places[first], len(repeats)
