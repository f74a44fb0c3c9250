"""Dates and times of day as numbers, and back: days since 1970-01-01, hours since midnight."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from mustlink._types import Floats, Ints

__all__ = [
    "DATE",
    "DATE_TIME",
    "HOURS",
    "TIME_UNITS",
    "DateReading",
    "days_of",
    "days_unit",
    "read_dates",
    "spell_time",
]

# What the numbers of a column stand for.
DATE, DATE_TIME, HOURS = "date", "date and time", "hours"
TIME_UNITS = (DATE, DATE_TIME, HOURS)
SECONDS_PER_DAY = 86_400
EPOCH = datetime.datetime(1970, 1, 1)

CLOCK = r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?"
ZONE = r"(?: ?(?:Z|[+-][0-9]{2}:?[0-9]{2}|[+-][0-9]{2}))"
ISO = re.compile(rf"[0-9]{{4}}([-/])[0-9]{{1,2}}\1[0-9]{{1,2}}(?:[T ]{CLOCK}{ZONE}?)?")
LOCAL = re.compile(
    rf"([0-9]{{1,2}})([./-])([0-9]{{1,2}})\2([0-9]{{4}}|[0-9]{{2}})(?:,? {CLOCK}(?: ?[AaPp]\.?[Mm]\.?)?)?"
)
DURATION = re.compile(r"(-?)([0-9]{1,6}):([0-5][0-9])(?::([0-5][0-9](?:[.,][0-9]{1,9})?))?")
HAS_ZONE = re.compile(rf":[0-9.,]+{ZONE}$")
# A year of two digits above it is one of the last century.
MAX_SHORT_YEAR = 68


# 1.10.12 is more often a version, and 20-45-77 a code, than a date.
NO_DATE = re.compile(
    r"(?:[0-9]{1,2}-[0-9]{1,2}-[0-9]{2}|[0-9]\.[0-9]{1,2}\.[0-9]{2}|[0-9]{2}\.[0-9]\.[0-9]{2})\b(?![0-9])"
)


class DateReading(NamedTuple):
    """A column of texts read as dates or times.

    `values` has NaN for texts that are neither; `problem` says why the others cannot be used, if so.
    """

    unit: str
    values: Floats
    words: str
    problem: str = ""


def read_dates(texts: Sequence[str], counts: Sequence[int] | Ints) -> DateReading | None:
    """Read texts, each with the number of its cells, as dates or times of day; None if most cells are neither."""
    n_cells = sum(counts)

    def most(pattern: re.Pattern[str]) -> list[re.Match[str]]:
        found = [pattern.fullmatch(text) for text in texts]
        n_found = sum(count for match, count in zip(found, counts, strict=True) if match)
        return [match for match in found if match] if 2 * n_found > n_cells else []

    if iso := most(ISO):
        n_zones = sum(HAS_ZONE.search(match[0]) is not None for match in iso)
        problem = "holds times with a time zone and times without one" if 0 < n_zones < len(iso) else ""
        values = _days(texts, _iso)
        return DateReading(days_unit(values), values, "as dates", problem)
    if (local := most(LOCAL)) and not any(NO_DATE.match(match[0]) for match in local):
        return _read_local(texts, local)
    if most(DURATION):
        return DateReading(HOURS, np.array([_hours(text) for text in texts]), "as hours, 1:30 being 1.5")
    return None


def days_of(times: pd.Series | pd.Index[Any]) -> Floats:
    """Return times of pandas as days since 1970, those with a time zone in UTC; NaN where there is none."""
    times = pd.Series(times).reset_index(drop=True)
    if times.dt.tz is not None:
        times = times.dt.tz_convert("UTC").dt.tz_localize(None)
    seconds = (times - EPOCH).dt.total_seconds()
    return seconds.to_numpy(dtype=np.float64, na_value=np.nan) / SECONDS_PER_DAY


def days_unit(days: Floats) -> str:
    """Return whether days are dates, or dates with a time."""
    return DATE if not np.mod(days[np.isfinite(days)], 1).any() else DATE_TIME


def spell_time(value: float, unit: str) -> str:
    """Spell a date as 2024-03-01, with its time if it has one, and hours as 1:30.

    Parameters
    ----------
    value : float
        Days since 1970-01-01, or hours.
    unit : {"date", "date and time", "hours"}
        What the number stands for, as in :attr:`Table.units`.

    Returns
    -------
    str

    Examples
    --------
    >>> from mustlink.tables import spell_time
    >>> spell_time(19783.0, "date"), spell_time(19783.5, "date and time"), spell_time(1.5, "hours")
    ('2024-03-01', '2024-03-01 12:00', '1:30')
    """
    if unit == HOURS:
        minutes = round(abs(value) * 60)
        return f"{'-' if value < 0 and minutes else ''}{minutes // 60}:{minutes % 60:02}"
    seconds = round(value * SECONDS_PER_DAY) if unit == DATE_TIME else round(value) * SECONDS_PER_DAY
    exact = "D" if unit == DATE else "s" if seconds % 60 else "m"
    return str(np.datetime64(seconds, "s").astype(f"datetime64[{exact}]")).replace("T", " ")


def _hours(text: str) -> float:
    """Return a time of day or a duration in hours; NaN if the text is none."""
    match = DURATION.fullmatch(text)
    if match is None:
        return np.nan
    hours, minutes, seconds = int(match[2]), int(match[3]), float((match[4] or "0").replace(",", "."))
    return (-1 if match[1] else 1) * (hours + minutes / 60 + seconds / 3600)


def _read_local(texts: Sequence[str], matches: list[re.Match[str]]) -> DateReading:
    """Read dates such as 1.3.2024, with a dot always day first, or 3/1/2024, by what the column shows."""
    signs = {match[2] for match in matches}
    first, second = max(int(match[1]) for match in matches), max(int(match[3]) for match in matches)
    problem = ""
    if signs != {"."}:
        shown = repr(matches[0][0])
        if first > 12 and second > 12:
            problem = "holds dates with the day first and dates with the month first"
        elif first <= 12 and second <= 12:
            problem = f"holds dates such as {shown}, of which none shows whether the day or the month is first"
    day_first = signs == {"."} or first > 12
    values = _days(texts, _local_day_first if day_first else _local_month_first)
    return DateReading(days_unit(values), values, f"as dates with the {'day' if day_first else 'month'} first", problem)


def _days(texts: Sequence[str], as_iso: Callable[[str], str]) -> Floats:
    """Return texts as days since 1970; NaN for texts that are no dates."""
    return days_of(pd.to_datetime([*map(as_iso, texts)], format="ISO8601", utc=True, errors="coerce"))


def _iso(text: str) -> str:
    """Write a date as pandas reads it fast: 2024-03-01 14:30."""
    return text if ISO.fullmatch(text) is None else text.replace("/", "-").replace(",", ".")


def _local_day_first(text: str) -> str:
    return _local(text, 1, 3)


def _local_month_first(text: str) -> str:
    return _local(text, 3, 1)


def _local(text: str, day: int, month: int) -> str:
    """Write a local date in the order year, month, day."""
    match = LOCAL.fullmatch(text)
    if match is None:
        return ""
    year = match[4] if len(match[4]) == 4 else f"{19 if int(match[4]) > MAX_SHORT_YEAR else 20}{match[4]}"
    date = f"{year}-{int(match[month]):02}-{int(match[day]):02}"
    clock = text[match.end(4) :].lstrip(", ")
    if clock.lower().endswith(("m", ".")):
        half = re.search(r"[AaPp]", clock)
        hours, rest = clock[: half.start() if half else None].strip().split(":", 1)
        clock = f"{int(hours) % 12 + 12 * (half is not None and half[0] in 'pP')}:{rest}"
    hours, _, rest = clock.partition(":")
    return f"{date} {int(hours):02}:{rest.replace(',', '.')}" if clock else date
