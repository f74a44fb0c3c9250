"""How numbers are spelled in a column: decimal sign, sign between thousands, percent and currency signs, minus.

"1.250" is 1250 in one country and 1.25 in another. A column is read with a decimal sign only if all its cells fit it;
where they fit both signs, the other columns of the file decide, see :mod:`mustlink.tables._judge`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

__all__ = ["NumberSpelling", "as_number", "is_padded", "number_spellings", "spells_number"]

DECIMALS = (".", ",")
# The signs that may stand between thousands, by the decimal sign.
THOUSANDS = {".": (",", "'", " "), ",": (".", "'", " ")}
THOUSANDS_NAMES = {" ": "a blank"}
# Other ways to write the signs: no-break, thin and narrow no-break space, the right quotation mark, the minus sign.
SAME_SIGNS = str.maketrans({"\xa0": " ", "\u2009": " ", "\u202f": " ", "\u2019": "'", "\u2212": "-"})
# Codes and signs of currencies, and the code by which amounts are compared.
CODES = "AUD|BRL|CAD|CHF|CNY|CZK|DKK|EUR|GBP|HUF|INR|JPY|MXN|NOK|NZD|PLN|SEK|TRY|USD|ZAR"
CURRENCIES = {
    **{code: code for code in CODES.split("|")},
    **{"€": "EUR", "£": "GBP", "$": "USD", "US$": "USD", "¥": "JPY", "₹": "INR", "Fr.": "CHF", "SFr.": "CHF"},
    **{"kr": "kr", "zł": "PLN", "Kč": "CZK", "Ft": "HUF", "₺": "TRY"},
}
PERCENT = "%"
UNIT = "|".join(re.escape(unit) for unit in sorted((*CURRENCIES, PERCENT), key=len, reverse=True))
LEADING_UNIT = re.compile(rf"^([+-]?) ?({UNIT}) ?(?=[+-]?[0-9.,])", re.M)
TRAILING_UNIT = re.compile(rf"(?<=[0-9.,]) ?({UNIT})$", re.M)
# Other ways to write a negative number: "(1,250.50)" in accounting, "1.250,50-" in exports of SAP.
NEGATIVE = re.compile(r"^(?:\(([^-()\n]*[0-9][^-()\n]*)\)|([^-()\n]*[0-9][^-()\n]*)-)$", re.M)


@dataclass(frozen=True)
class NumberSpelling:
    """One way to read the numbers of a column.

    Parameters
    ----------
    decimal : {".", ","}
        The decimal sign.
    thousands : {"", ".", ",", "'", " "}, default=""
        The sign between thousands, if there is one.
    units : frozenset of str, default=frozenset()
        The percent sign or the currencies beside the numbers, "" for cells that have none.
    has_decimals : bool, default=False
        Whether a number has the decimal sign.
    moves_minus : bool, default=False
        Whether negative numbers are in brackets or have the minus sign at the end.
    is_padded : bool, default=False
        Whether all numbers have equally many digits, some with leading zeros, as codes do.
    """

    decimal: str
    thousands: str = ""
    units: frozenset[str] = frozenset([""])
    has_decimals: bool = False
    moves_minus: bool = False
    is_padded: bool = False

    def numbers(self, texts: Sequence[str]) -> list[float]:
        """Return the numbers that the texts spell; all of them must fit this spelling."""
        lines = _lines(texts)
        if self.moves_minus:
            lines = _with_leading_minus(lines)
        if self.units != {""}:
            lines = _without_units(lines)[0]
        if self.thousands:
            lines = lines.replace(self.thousands, "")
        return list(map(float, lines.replace(self.decimal, ".").split("\n")[:-1]))

    @property
    def shows_decimal(self) -> bool:
        """Whether a number has the decimal sign, or the other of the two between thousands."""
        return self.has_decimals or self.thousands in DECIMALS

    @property
    def words(self) -> str:
        """How the column was read, for a notice; "" if there is nothing to say."""
        if self.is_padded:
            return "as numbers, without the leading zeros; mark columns that hold codes as categorical"
        thousands = THOUSANDS_NAMES.get(self.thousands, repr(self.thousands))
        said = [f"with {thousands} between thousands"] if self.thousands else []
        said += ["with the comma as the decimal sign"] if self.decimal == "," and self.has_decimals else []
        said += ["with brackets or a minus sign at the end for negative numbers"] if self.moves_minus else []
        unit = min(self.units)
        kind = "as percentages" if unit == PERCENT else f"as amounts in {unit}" if unit else ""
        signs = f"{', '.join(said[:-1])} and {said[-1]}" if len(said) > 1 else "".join(said)
        return ", ".join(filter(None, [kind, signs]))


def number_spellings(texts: Sequence[str]) -> dict[str, NumberSpelling]:
    """Return the spellings that all texts fit, by the decimal sign; only that of "." if no text has either sign."""
    lines = _lines(texts)
    if lines.count("\n") != len(texts):
        return {}
    signed = _with_leading_minus(lines)
    found = _fitting(signed, frozenset([""]))
    if not found:
        without, units = _without_units(signed)
        found = _fitting(without, units) if any(units) else {}
    if signed == lines:
        if "." in found and is_padded(texts):
            return {".": replace(found["."], is_padded=True)}
        return found
    return {decimal: replace(spelling, moves_minus=True) for decimal, spelling in found.items()}


def is_padded(texts: Sequence[str]) -> bool:
    """Return whether all texts have equally many digits, at least two, and some begin with a zero, as codes do."""
    width = len(texts[0]) if texts else 0
    return (
        width > 1
        and all(len(text) == width and text.isascii() and text.isdigit() for text in texts)
        and any(text.startswith("0") for text in texts)
    )


def spells_number(text: str, decimal: str | None = None) -> bool:
    """Return whether a text is a number with this decimal sign, or with any."""
    lines = _lines([text.strip()])
    wanted = DECIMALS if decimal is None else decimal
    return any(_pattern(sign, thousands).fullmatch(lines) for sign in wanted for thousands in ("", *THOUSANDS[sign]))


def as_number(text: str) -> float | None:
    """Return the number that a text spells with a decimal point and nothing between thousands, or None."""
    text = text.strip()
    return float(text) if _pattern(".", "").fullmatch(text + "\n") else None


@lru_cache
def _pattern(decimal: str, thousands: str, repeat: str = "") -> re.Pattern[str]:
    """Return the pattern of lines that hold one number each."""
    point, between = re.escape(decimal), f"[{re.escape(thousands)}]"
    grouped = rf"[1-9][0-9]{{0,2}}(?:{between}[0-9]{{3}})++|" if thousands else ""
    digits = rf"(?:(?:{grouped}[0-9]++)(?:{point}[0-9]*+)?|{point}[0-9]++)(?:[eE][+-]?[0-9]++)?"
    return re.compile(rf"(?:[+-]?(?:{digits}|[iI][nN][fF](?:[iI][nN][iI][tT][yY])?|[nN][aA][nN])\n){repeat}")


def _lines(texts: Sequence[str]) -> str:
    """Join texts as lines, with signs written in one way.

    One long text is searched and changed many times faster than many short ones.
    """
    lines = "\n".join([*texts, ""])
    return lines if lines.isascii() else lines.translate(SAME_SIGNS)


def _with_leading_minus(lines: str) -> str:
    """Write negative numbers with the minus sign in front."""
    return NEGATIVE.sub(r"-\1\2", lines) if "(" in lines or "-\n" in lines else lines


def _fitting(lines: str, units: frozenset[str]) -> dict[str, NumberSpelling]:
    """Return the spellings that fit all lines, by the decimal sign."""
    found = {}
    for decimal in DECIMALS if "." in lines or "," in lines else ".":
        for thousands in ("", *(sign for sign in THOUSANDS[decimal] if sign in lines)):
            if _pattern(decimal, thousands, "*+").fullmatch(lines):
                found[decimal] = NumberSpelling(decimal, thousands, units, decimal in lines)
                break
    return found


def _without_units(lines: str) -> tuple[str, frozenset[str]]:
    """Remove percent and currency signs; return which there were, "" if some lines have none."""
    units = [unit for _, unit in LEADING_UNIT.findall(lines)] + TRAILING_UNIT.findall(lines)
    if not units:
        return lines, frozenset([""])
    lines = TRAILING_UNIT.sub("", LEADING_UNIT.sub(r"\1", lines))
    found = {CURRENCIES.get(unit, unit) for unit in units}
    return lines, frozenset(found | {""} if len(units) < lines.count("\n") else found)
