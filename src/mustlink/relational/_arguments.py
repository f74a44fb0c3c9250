"""Checks of single arguments that scikit-learn's checks of parameters do not cover."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real

import numpy as np

from mustlink.errors import OptionError


def check_number(value: object, name: str) -> None:
    """Refuse what is no number."""
    if not isinstance(value, Real) or np.isnan(float(value)):
        raise OptionError(f"{name} must be a number; got {value!r}.")


def check_row(query: object) -> None:
    """Refuse a query that is no text and no whole number."""
    if not isinstance(query, Integral):
        raise TypeError(f"query must be a name or the row of a record; got {query!r}.")


def check_count(value: object, name: str) -> None:
    """Refuse what is no whole number from 0 on."""
    if not isinstance(value, Integral) or int(value) < 0:
        raise OptionError(f"{name} must be a whole number from 0 on; got {value!r}.")


def check_canopy(canopy: Sequence[object]) -> None:
    """Refuse what are no two similarities."""
    values = [float(value) for value in canopy if isinstance(value, Real)]
    if len(canopy) != 2 or len(values) != 2 or not 0 <= values[0] <= values[1] <= 1:
        raise OptionError(
            "canopy must be two numbers from 0 to 1, the loose similarity and the tight one, which is at least as "
            f"large; got {canopy!r}."
        )
