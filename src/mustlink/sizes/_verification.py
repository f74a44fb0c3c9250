"""The independent checker of published tables.

It reads a table as anyone would who receives it: rows with equal quasi-identifiers are a group, and every group is
counted. Nothing of the code that finds groups and publishes them is used here; how a cell is read as text and when an
entropy reaches its bound are decided in one place for both.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Hashable, Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import pandas as pd

from mustlink._cells import cell_texts, column_names
from mustlink._spelling import count
from mustlink.errors import OptionError
from mustlink.sizes._entropy import has_entropy, perplexity

__all__ = ["NOT_DIFFERENTIAL_PRIVACY", "GroupFailure", "Verification", "check_sensitive", "verify_publication"]

NOT_DIFFERENTIAL_PRIVACY = (
    "k-anonymity and l-diversity are not differential privacy: who knows more about a person than the "
    "quasi-identifiers, or has several published tables of the same people, may still learn about them."
)


@dataclass(frozen=True)
class GroupFailure:
    """A published group that lacks a property.

    Parameters
    ----------
    values : tuple of str
        The quasi-identifiers of the group.
    size : int
        Its number of rows.
    diversity : float or None
        Its diversity, as in :class:`Verification`.
    reason : str
        What it lacks, as words.

    Examples
    --------
    See :func:`verify_publication`.
    """

    values: tuple[str, ...]
    size: int
    diversity: float | None
    reason: str

    def __str__(self) -> str:
        return f"{', '.join(value or '(empty)' for value in self.values)}: {self.reason}"


@dataclass(frozen=True)
class Verification:
    """What a published table was found to be; true if every group has what was asked.

    Parameters
    ----------
    n_rows, n_groups : int
        The number of rows, and of groups of rows with equal quasi-identifiers.
    smallest : int
        The number of rows of the smallest group: the table is k-anonymous up to this k.
    least_diversity : float or None
        The least diversity of a group: the number of distinct sensitive values, the exponential of their entropy, or
        for the recursive form the largest ratio r_1 / (r_l + ... + r_v), which must be below m. None if no l was
        asked for.
    asked : str
        What was asked of each group, as words.
    failures : tuple of GroupFailure
        The groups that lack it.
    diversity : str, default="distinct"
        The form of diversity that was measured.

    See Also
    --------
    verify_publication : Returns one.

    Examples
    --------
    See :func:`verify_publication`.
    """

    n_rows: int
    n_groups: int
    smallest: int
    least_diversity: float | None
    asked: str
    failures: tuple[GroupFailure, ...] = ()
    diversity: str = "distinct"

    @property
    def diversity_words(self) -> str:
        """The least diversity as a sentence; "" if none was asked for."""
        if self.least_diversity is None:
            return ""
        if self.diversity == "distinct":
            return f"The least number of distinct sensitive values of a group is {self.least_diversity:,.0f}."
        if self.diversity == "entropy":
            return f"The least entropy of the sensitive values of a group is log {self.least_diversity:.4g}."
        return f"The largest ratio r_1 / (r_l + ... + r_v) of a group is {self.least_diversity:.4g}."

    @property
    def passed(self) -> bool:
        """Whether every group has what was asked."""
        return not self.failures

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        found = f"{count(self.n_rows, 'row')} in {count(self.n_groups, 'group')}, the smallest of {self.smallest:,}"
        if self.passed:
            return f"{found}. Every group has {self.asked}."
        return f"{found}. {count(len(self.failures), 'group fails', 'groups fail')}: each needs {self.asked}."


def verify_publication(
    frame: Any,
    *,
    quasi_identifiers: str | Collection[str],
    sensitive: str | None = None,
    k: int = 5,
    l: float | None = None,  # noqa: E741
    diversity: Literal["distinct", "entropy", "recursive"] = "distinct",
    m: float = 1.0,
) -> Verification:
    """Check that a published table is k-anonymous, and l-diverse if that is asked.

    The table alone is looked at, whoever published it. Cells are compared as they are written, so that 1 and "1" are
    equal. Rows with equal cells in all quasi-identifiers are a group; an empty cell is a value like any other, and all
    missing cells are one value.

    Parameters
    ----------
    frame : pandas or polars DataFrame
        The published table.
    quasi_identifiers : str or collection of str
        The column or columns by which a person could be found.
    sensitive : str or None, default=None
        The column that must be diverse; needed with `l`.
    k : int, default=5
        The least number of rows of a group.
    l : float or None, default=None
        The least diversity of a group; None checks the sizes only. A whole number for the distinct and the recursive
        form.
    diversity : {"distinct", "entropy", "recursive"}, default="distinct"
        "distinct": at least `l` sensitive values; "entropy": an entropy of at least log l; "recursive": with counts
        r_1 >= r_2 >= ..., r_1 < m (r_l + r_{l+1} + ...).
    m : float, default=1.0
        The factor of the recursive form.

    Returns
    -------
    Verification
        The smallest group, the least diversity, and every group that fails.

    See Also
    --------
    mustlink.publish : Publishes a table with these properties.

    Examples
    --------
    >>> import pandas as pd
    >>> from mustlink.sizes import verify_publication
    >>> table = pd.DataFrame({"age": ["20 to 29"] * 3 + ["30 to 39"] * 2, "illness": list("abbcc")})
    >>> print(verify_publication(table, quasi_identifiers=["age"], k=2))
    5 rows in 2 groups, the smallest of 2. Every group has at least 2 rows.
    >>> found = verify_publication(table, quasi_identifiers=["age"], sensitive="illness", k=2, l=2)
    >>> found.passed, found.least_diversity
    (False, 1.0)
    >>> print(found.failures[0])
    30 to 39: 1 distinct sensitive value, fewer than 2
    """
    table = frame.to_pandas() if hasattr(frame, "to_pandas") else frame
    request = _Request(k, l, diversity, m)
    names = column_names(quasi_identifiers)
    request.check()
    _check_table(table, names, sensitive, is_needed=l is not None)
    groups = _count_values(table, names, sensitive if l is not None else None)
    worst = max if diversity == "recursive" else min
    measured = {key: request.measure(counts) for key, counts in groups.items()}
    failures = [
        GroupFailure(key, sum(counts), measured[key] if l is not None else None, " and ".join(reasons))
        for key, counts in groups.items()
        if (reasons := list(request.reasons(counts, measured[key])))
    ]
    return Verification(
        len(table),
        len(groups),
        min(map(sum, groups.values())),
        None if l is None else worst(measured.values()),
        str(request),
        tuple(failures),
        diversity,
    )


def check_sensitive(sensitive: Any) -> None:
    """Raise if several columns are given where one is named."""
    if not isinstance(sensitive, Hashable):
        raise OptionError(f"sensitive is the name of one column; got {sensitive!r}.")


def _is_number(value: Any, least: float = 0.0) -> bool:
    """Return whether a value is a finite number, and no lower than the least one."""
    if isinstance(value, bool):
        return False
    return isinstance(value, Real) and bool(least <= float(value) < math.inf)


def _check_table(table: Any, names: list[str], sensitive: str | None, *, is_needed: bool) -> None:
    """Raise if the table or the columns cannot be checked."""
    if not isinstance(table, pd.DataFrame):
        raise TypeError(f"A published table is a pandas or polars DataFrame, and this is a {type(table).__name__}.")
    if not names:
        raise OptionError("No quasi-identifier is named; name the columns by which a person could be found.")
    check_sensitive(sensitive)
    if is_needed and sensitive is None:
        raise OptionError("l is given, but no sensitive column is named", remedy="name_sensitive")
    missing = [name for name in (*names, *([sensitive] if sensitive else [])) if name not in table.columns]
    if missing:
        there = ", ".join(map(str, table.columns))
        raise OptionError(
            f"The published table has no column {', '.join(map(repr, missing))}; its columns are {there}."
        )
    if not table.columns.is_unique:
        name = table.columns[table.columns.duplicated()][0]
        raise OptionError(f"Two columns of the published table are called {name!r}; every column needs its own name.")
    if table.empty:
        raise OptionError("The published table has no rows, so that there is nothing to check.")


def _count_values(table: pd.DataFrame, names: list[str], sensitive: str | None) -> dict[tuple[str, ...], list[int]]:
    """Return how often each sensitive value occurs in each group, by its quasi-identifiers."""
    keys = zip(*(cell_texts(table[name]) for name in names), strict=True)
    values = [""] * len(table) if sensitive is None else cell_texts(table[sensitive])
    groups: dict[tuple[str, ...], Counter[str]] = {}
    for key, value in zip(keys, values, strict=True):
        groups.setdefault(key, Counter())[value] += 1
    return {key: list(found.values()) for key, found in groups.items()}


@dataclass(frozen=True)
class _Request:
    """What is asked of every group; `needed` is the l of l-diversity."""

    k: int
    needed: float | None
    diversity: str
    m: float

    def check(self) -> None:
        """Raise if it makes no sense."""
        is_fit = _is_number(self.k, 1) and self.k == int(self.k) and _is_number(self.m) and self.m > 0
        if not is_fit or not (self.needed is None or _is_number(self.needed, 1)):
            raise OptionError(
                "k must be a whole number of at least 1, l a number of at least 1, and m a number above 0; got "
                f"k={self.k!r}, l={self.needed!r} and m={self.m!r}."
            )
        if self.diversity not in ("distinct", "entropy", "recursive"):
            raise OptionError(f"diversity must be 'distinct', 'entropy' or 'recursive'; got {self.diversity!r}.")
        if self.needed is not None and self.diversity != "entropy" and self.needed != int(self.needed):
            raise OptionError(f"l must be a whole number for {self.diversity} diversity; got {self.needed:g}.")

    def measure(self, counts: list[int]) -> float:
        """Return the diversity of a group in the measure of its model."""
        if self.needed is None or self.diversity == "distinct":
            return float(len(counts))
        if self.diversity == "entropy":
            return perplexity(counts)
        ranked = sorted(counts, reverse=True)
        tail = sum(ranked[int(self.needed) - 1 :])
        return ranked[0] / tail if tail else math.inf

    def reasons(self, counts: list[int], measured: float) -> Iterator[str]:
        """Yield what a group lacks."""
        total = sum(counts)
        if total < self.k:
            yield f"{count(total, 'row')}, fewer than {self.k:,}"
        if self.needed is None:
            return
        if self.diversity == "distinct" and len(counts) < self.needed:
            yield f"{count(len(counts), 'distinct sensitive value')}, fewer than {self.needed:g}"
        if self.diversity == "entropy" and not has_entropy(counts, self.needed):
            yield f"an entropy of log {measured:.4g}, below log {self.needed:g}"
        if self.diversity == "recursive" and not measured < self.m:
            yield f"r_1 / (r_{self.needed:g} + ...) of {measured:.4g}, not below {self.m:g}"

    def __str__(self) -> str:
        rows = f"at least {count(self.k, 'row')}"
        if self.needed is None:
            return rows
        if self.diversity == "distinct":
            return f"{rows} and {count(int(self.needed), 'distinct sensitive value')}"
        if self.diversity == "entropy":
            return f"{rows} and an entropy of the sensitive values of at least log {self.needed:g}"
        return f"{rows} and recursive ({self.m:g}, {self.needed:g})-diversity of the sensitive values"
