"""Publishing a table whose rows cannot be told apart from at least k - 1 others."""

from __future__ import annotations

from collections.abc import Collection
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
import pandas as pd

from mustlink._cells import cell_texts, column_names
from mustlink._spelling import count
from mustlink._types import Indices, Ints
from mustlink.errors import InfeasibleError, MustlinkError, OptionError
from mustlink.sizes._publish._columns import Column, Values, is_identifying, make_column
from mustlink.sizes._publish._grouping import make_groups
from mustlink.sizes._publish._models import Diversity, PrivacyModel
from mustlink.sizes._publish._publication import ColumnLoss, Publication
from mustlink.sizes._publish._refinement import sum_of_squares
from mustlink.sizes._verification import Verification, check_sensitive, verify_publication

__all__ = ["publish"]

MAX_SHOWN_COLUMNS = 12
# From so many groups of the minimum size on, one with most of the rows is worth a note.
MANY_GROUPS = 4
NO_ROWS = "The table has no rows, so that there is nothing to publish."


def publish(
    frame: Any,
    *,
    quasi_identifiers: str | Collection[str],
    sensitive: str | None = None,
    k: int = 5,
    l: float | None = None,  # noqa: E741
    diversity: Diversity = "distinct",
    m: float = 1.0,
    values: Values = "ranges",
    n_groups: int | None = None,
    keep: str | Collection[str] = (),
    ordered: str | Collection[str] = (),
    missing: Literal["error", "drop"] = "error",
    decimal: str = ".",
    random_state: Any = 0,
) -> Publication:
    """Publish a table with k-anonymity and l-diversity, by clustering with a minimum size.

    Rows are put into groups of at least `k` similar rows. In the published table all rows of a group have the same
    quasi-identifiers, so that whoever knows those of a person finds at least `k` rows. With `l`, the sensitive values
    of each group are diverse, so that these rows do not all tell the same.

    Parameters
    ----------
    frame : pandas or polars DataFrame
        The table, a row for each person. Its index is not published.
    quasi_identifiers : str or collection of str
        The column or columns by which a person could be found: age, zip code, sex. Numbers and dates are compared by
        distance, anything else as categories.
    sensitive : str or None, default=None
        The column that must stay private. It is published as it is.
    k : int, default=5
        The minimum number of rows of a group.
    l : float or None, default=None
        The minimum diversity of the sensitive values of a group; None asks for none. A whole number for the distinct
        and the recursive form.
    diversity : {"distinct", "entropy", "recursive"}, default="distinct"
        "distinct": at least `l` different values; "entropy": an entropy of at least log l; "recursive": with counts
        r_1 >= r_2 >= ..., r_1 < m (r_l + r_{l+1} + ...).
    m : float, default=1.0
        The factor of the recursive form.
    values : {"ranges", "centers", "modes"}, default="ranges"
        What is published of a group: the ranges of its numbers and the sets of its categories; its means, rounded to
        at least a tenth of the column's standard deviation, and most frequent categories; or the most frequent value
        of every column.
    n_groups : int or None, default=None
        The number of groups before groups with equal published values are joined; None makes as many as lose the
        least information.
    keep : str or collection of str, default=()
        Further columns that are published as they are. All others are dropped.
    ordered : str or collection of str, default=()
        Quasi-identifiers whose categories are taken in their sorted order, such as zip codes. A categorical column
        that is ordered keeps its own order.
    missing : {"error", "drop"}, default="error"
        What to do with rows in which a quasi-identifier, or with `l` the sensitive value, is missing: refuse them, or
        leave them out.
    decimal : {".", ","}, default="."
        The decimal sign in ranges.
    random_state : int, RandomState instance or None, default=0
        Chooses the regions in which rows are reassigned.

    Returns
    -------
    Publication
        The published table, the group of each row, the information lost and what the checker found.

    Raises
    ------
    InfeasibleError
        If no table with these properties can be published, with the numbers that clash.

    See Also
    --------
    mustlink.sizes.verify_publication : The independent checker, which every result has passed.

    Notes
    -----
    **Not differential privacy.** k-anonymity and l-diversity protect against one way to find out about a person: by
    the quasi-identifiers, in this table alone. Who knows more, or has several published tables of the same people, may
    still learn about them.

    The chapter describes the models and leaves the search to its clustering under existential constraints. Here groups
    are gathered as by MDAV, with the nearest rows that make a group diverse, and then improved by moves and swaps that
    are checked at both ends, by cutting and dissolving groups, and by exact assignments with minimum sizes
    (:func:`mustlink.sizes.assign`) in regions of neighboring groups. The sum of squared distances of the scaled
    quasi-identifiers to the means of their groups never rises. Every column that varies has a total variance of 1,
    categories as columns of 0 and 1.

    Recursive diversity is that of its authors, who sum the counts from the l-th most frequent value to the last; the
    chapter words it as the l least frequent values.

    Exact means of a group would tell its last member to someone who knows the others; hence ranges are the default
    and means are rounded. The ends of a range are values of members.

    References
    ----------
    .. [1] A. K. H. Tung, J. Han, L. V. S. Lakshmanan and R. T. Ng, "Privacy-preserving data publishing: a
       constraint-based clustering approach", chapter 16 of Constrained Clustering, Chapman & Hall/CRC 2009.
    .. [2] L. Sweeney, "k-anonymity: a model for protecting privacy", International Journal of Uncertainty, Fuzziness
       and Knowledge-Based Systems 10(5), 2002.
    .. [3] A. Machanavajjhala, D. Kifer, J. Gehrke and M. Venkitasubramaniam, "l-diversity: privacy beyond
       k-anonymity", ACM Transactions on Knowledge Discovery from Data 1(1), 2007.
    .. [4] J. Domingo-Ferrer and V. Torra, "Ordinal, continuous and heterogeneous k-anonymity through
       microaggregation", Data Mining and Knowledge Discovery 11(2), 2005.

    Examples
    --------
    >>> import pandas as pd
    >>> import mustlink
    >>> people = pd.DataFrame({
    ...     "name": ["Ann", "Bob", "Cid", "Dan", "Eve", "Fay"],
    ...     "age": [23, 25, 24, 61, 64, 60],
    ...     "sex": ["f", "m", "m", "m", "f", "f"],
    ...     "illness": ["flu", "cold", "flu", "gout", "flu", "cold"],
    ... })
    >>> result = mustlink.publish(people, quasi_identifiers=["age", "sex"], sensitive="illness", k=3, l=2)
    >>> result.frame
            age sex illness
    0  23 to 25   *     flu
    1  23 to 25   *    cold
    2  23 to 25   *     flu
    3  60 to 64   *    gout
    4  60 to 64   *     flu
    5  60 to 64   *    cold
    >>> result.headline
    '6 rows published in 2 groups of 3 rows each. Every group has at least 3 rows and 2 distinct sensitive values.'
    >>> result.dropped
    ('name',)
    """
    model = _check_options(k, l, diversity, m, values, missing, n_groups, decimal)
    table = _as_frame(frame)
    names, keep, ordered = column_names(quasi_identifiers), column_names(keep), column_names(ordered)
    _check_names(table, names, sensitive, keep, ordered, model)
    rows = _complete_rows(table, [*names, *([sensitive] if sensitive and l is not None else [])], missing)
    kept = table.iloc[rows]
    columns = [make_column(name, kept[name], ordered=name in ordered, decimal=decimal) for name in names]
    codes = np.zeros(len(rows), dtype=np.int64)
    if l is not None:
        # By their texts, as the checker and whoever receives the table will see them.
        codes = pd.factorize(np.array(cell_texts(kept[sensitive]), dtype=object))[0].astype(np.int64)
    X = np.ascontiguousarray(np.hstack([column.features for column in columns]))
    labels = make_groups(X, codes, model, n_groups, random_state)
    published = _publish_values(kept, columns, labels, values, [*names, *([sensitive] if sensitive else []), *keep])
    groups = published.groupby(names, sort=False, dropna=False).ngroup().to_numpy()
    verification = verify_publication(
        published, quasi_identifiers=names, sensitive=sensitive, k=k, l=l, diversity=diversity, m=m
    )
    _check_verified(verification)
    losses, variance_lost = _measure_losses(columns, labels)
    dropped = tuple(str(name) for name in table.columns if name not in published.columns)
    return Publication(
        published,
        groups,
        rows,
        losses,
        variance_lost,
        float(np.mean([loss.width for loss in losses])),
        verification,
        dropped,
        len(table) - len(rows),
        (
            *_notices(kept, sensitive, keep, dropped, len(table) - len(rows)),
            *_weaknesses(model, np.bincount(labels), n_groups),
        ),
    )


def _check_options(
    k: Any, min_diversity: Any, diversity: Any, m: Any, values: Any, missing: Any, n_groups: Any, decimal: Any
) -> PrivacyModel:
    """Raise if an option is not of its kind; return the privacy model."""
    for name, number in {"k": k, "n_groups": n_groups}.items():
        is_whole = isinstance(number, Integral) and not isinstance(number, bool)
        if not (name == "n_groups" and number is None) and not (is_whole and number >= 1):
            raise OptionError(f"{name} must be a whole number of at least 1; got {number!r}.")
    choices = {
        "diversity": (diversity, ("distinct", "entropy", "recursive")),
        "values": (values, ("ranges", "centers", "modes")),
        "missing": (missing, ("error", "drop")),
        "decimal": (decimal, (".", ",")),
    }
    for name, (given, known) in choices.items():
        if given not in known:
            raise OptionError(f"{name} must be {', '.join(map(repr, known[:-1]))} or {known[-1]!r}; got {given!r}.")
    if min_diversity is not None:
        is_fit = _is_positive(min_diversity) and min_diversity >= 1
        if not is_fit or (diversity != "entropy" and min_diversity != int(min_diversity)):
            kind = "number" if diversity == "entropy" else "whole number"
            raise OptionError(f"l must be a {kind} of at least 1 for {diversity} diversity; got {min_diversity!r}.")
    if not _is_positive(m):
        raise OptionError(f"m must be a number above 0; got {m!r}.")
    return PrivacyModel(int(k), min_diversity, diversity, float(m))


def _is_positive(value: Any) -> bool:
    """Return whether a value is a finite number above 0."""
    if isinstance(value, bool):
        return False
    return isinstance(value, Real) and bool(0 < float(value) < np.inf)


def _as_frame(frame: Any) -> pd.DataFrame:
    """Return the table as a data frame of pandas."""
    table = frame.to_pandas() if hasattr(frame, "to_pandas") else frame
    if not isinstance(table, pd.DataFrame):
        raise TypeError(f"A table to publish is a pandas or polars DataFrame, and this is a {type(frame).__name__}.")
    if not table.columns.is_unique:
        name = table.columns[table.columns.duplicated()][0]
        raise OptionError(f"Two columns are called {name!r}; every column needs its own name.")
    return table


def _check_names(
    table: pd.DataFrame,
    names: list[str],
    sensitive: str | None,
    keep: list[str],
    ordered: list[str],
    model: PrivacyModel,
) -> None:
    """Raise if columns are not there or have two roles."""
    if not names:
        raise OptionError("No quasi-identifier is named; name the columns by which a person could be found.")
    check_sensitive(sensitive)
    wanted = [*names, *keep, *ordered, *([sensitive] if sensitive else [])]
    absent = [name for name in dict.fromkeys(wanted) if name not in table.columns]
    if absent:
        there = ", ".join(map(str, table.columns[:MAX_SHOWN_COLUMNS]))
        more = f" and {len(table.columns) - MAX_SHOWN_COLUMNS} more" if len(table.columns) > MAX_SHOWN_COLUMNS else ""
        plural = "columns" if len(absent) > 1 else "column"
        raise OptionError(
            f"The table has no {plural} {', '.join(map(repr, absent))}; its columns are {there}{more}.", missing=absent
        )
    if sensitive in names:
        raise OptionError(
            f"The sensitive column {sensitive!r} is also a quasi-identifier; leave it out of the quasi-identifiers if "
            "it must stay private, or name no sensitive column if people are found by it."
        )
    for name in keep:
        if name in names or name == sensitive:
            raise OptionError(f"The column {name!r} is published anyway; leave it out of the columns to keep.")
    for name in ordered:
        if name not in names:
            raise OptionError(
                f"The ordered column {name!r} is not a quasi-identifier; name it as one, or leave it out of the "
                "ordered columns."
            )
    if model.min_diversity is not None and sensitive is None:
        raise OptionError(f"l is {model.min_diversity:g}, but no sensitive column is named", remedy="name_sensitive")


def _complete_rows(table: pd.DataFrame, names: list[Any], missing: str) -> Indices:
    """Return the rows without a missing cell in the columns that are grouped by; raise if there are others."""
    is_missing = table[names].isna()
    incomplete = is_missing.any(axis=1).to_numpy()
    n_incomplete = int(incomplete.sum())
    if n_incomplete and missing == "error":
        counts = {name: int(number) for name, number in is_missing.sum().items() if number}
        columns = f"column {next(iter(counts))!r}"
        if len(counts) > 1:
            columns = f"columns {', '.join(f'{name!r} ({number:,})' for name, number in counts.items())}"
        cells = "a missing cell" if sum(counts.values()) == 1 else "missing cells"
        row = int(np.argmax(incomplete))
        raise OptionError(
            f"{n_incomplete:,} of {count(len(table), 'row')} {'has' if n_incomplete == 1 else 'have'} {cells} in the "
            f"{columns}, {'' if n_incomplete == 1 else 'the first '}in row {row}",
            remedy="drop_incomplete",
            n_rows=n_incomplete,
            row=row,
        )
    if n_incomplete == len(table):
        rows = count(len(table), "row")
        raise InfeasibleError(
            f"None of {rows} is complete, so that there is nothing to publish." if len(table) else NO_ROWS
        )
    return np.flatnonzero(~incomplete)


def _check_verified(verification: Verification) -> None:
    """Raise if the checker found a group that lacks a property: an unverified table is never returned."""
    if not verification.passed:
        raise MustlinkError(
            f"The table is not published, since the checker refused it: {verification} The first is "
            f"{verification.failures[0]}. This is a fault of mustlink; please report it."
        )


def _publish_values(
    kept: pd.DataFrame, columns: list[Column], labels: Ints, values: Values, names: list[Any]
) -> pd.DataFrame:
    """Return the published columns, in the order of the table, with a new index."""
    published = {}
    by_name = {column.name: column for column in columns}
    for name in kept.columns:
        if name in by_name:
            cells = pd.Series(by_name[name].publish(labels, values))
            published[name] = cells.take(labels).reset_index(drop=True)
        elif name in names:
            published[name] = kept[name].reset_index(drop=True)
    return pd.DataFrame(published)


def _measure_losses(columns: list[Column], labels: Ints) -> tuple[tuple[ColumnLoss, ...], float]:
    """Return the information lost per column, and the variance lost in all."""
    sizes = np.bincount(labels)
    losses, within, total = [], 0.0, 0.0
    for column in columns:
        features = column.features
        inside = sum_of_squares(features, labels)
        overall = float((features**2).sum())
        width = float(sizes @ column.widths(labels) / sizes.sum())
        losses.append(ColumnLoss(column.name, column.kind, inside / overall if overall else 0.0, width))
        within, total = within + inside, total + overall
    return tuple(losses), within / total if total else 0.0


def _notices(
    kept: pd.DataFrame, sensitive: str | None, keep: Collection[str], dropped: Collection[str], n_suppressed: int
) -> list[str]:
    """Word what was left out and what still identifies people."""
    notices = []
    if n_suppressed:
        notices.append(
            f"{count(n_suppressed, 'row')} with missing cells {'was' if n_suppressed == 1 else 'were'} left out."
        )
    if dropped:
        one = len(dropped) == 1
        notices.append(f"Not published: {'the column' if one else 'the columns'} {', '.join(dropped)}.")
    identifying = [name for name in (*keep, *([sensitive] if sensitive else [])) if is_identifying(kept[name])]
    notices += [
        f"The column {name} has another value in every row and may identify people; it is published as it is."
        for name in identifying
    ]
    others = ", ".join(str(name) for name in keep if name not in identifying)
    if others:
        notices.append(f"Published as they are, and not protected: {others}. A person may be found by these, too.")
    return notices


def _weaknesses(model: PrivacyModel, sizes: Ints, n_groups: int | None) -> list[str]:
    """Word what makes the published table weak: groups of one row, or one group of nearly everybody."""
    if model.min_size == 1:
        return ["k is 1, so that a group may be a single row: nobody is protected. Use a k of at least 2."]
    n_rows, most = int(sizes.sum()), int(sizes.max())
    could_be_smaller = model.min_diversity is not None and n_groups is None and n_rows >= MANY_GROUPS * model.min_size
    if not could_be_smaller or 2 * most <= n_rows:
        return []
    changed = "a smaller l or a larger m" if model.diversity == "recursive" else "a smaller l"
    return [
        f"The largest group has {most:,} of {count(n_rows, 'row')}, since the sensitive values are barely diverse "
        f"enough; {changed} may give smaller groups."
    ]
