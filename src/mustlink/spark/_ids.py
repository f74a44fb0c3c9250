"""Find the rows of a block by the ids that links name."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from mustlink._spelling import spell_whole
from mustlink._types import Indices, Ints

__all__ = ["WantedIds", "find_in_block"]

WHOLE = re.compile(r"[+-]?[0-9]+")
# A whole number as pandas writes it where a column has empty cells, see `spell_whole`.
DECIMALS = r"^([+-]?[0-9]+)\.0+$"


class WantedIds:
    """Ids as links write them: 7 and 7.0 are the same, and spaces around are left out."""

    def __init__(self, names: list[str]) -> None:
        self.names = sorted({*names, *map(spell_whole, names)})

    @property
    def numbers(self) -> Ints:
        """Those that are whole numbers."""
        found = [int(name) for name in self.names if WHOLE.fullmatch(name)]
        limit = np.iinfo(np.int64)
        return np.array([number for number in found if limit.min <= number <= limit.max], dtype=np.int64)


def find_in_block(ids: Any, wanted: WantedIds) -> tuple[Indices, list[Any]]:
    """Return the places of the ids of a block that are wanted, and these ids."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_integer(ids.type):
        is_wanted = np.isin(ids.to_numpy(), wanted.numbers)
    else:
        names = pa.array(wanted.names, pa.string())
        trimmed = pc.utf8_trim_whitespace(ids.cast(pa.string()))
        whole = pc.replace_substring_regex(trimmed, DECIMALS, r"\1")
        is_wanted = np.asarray(pc.or_(pc.is_in(trimmed, names), pc.is_in(whole, names)))
    places = np.flatnonzero(is_wanted)
    return places, ids.take(places).to_pylist()
