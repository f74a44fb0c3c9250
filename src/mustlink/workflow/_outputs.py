"""The files that a job writes, checked before the work begins."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from mustlink._atomic import check_writable
from mustlink.errors import OptionError
from mustlink.tables import check_output_suffix

__all__ = ["check_outputs"]

Paths = Sequence[str | os.PathLike[str] | None]


def check_outputs(inputs: Paths, outputs: Mapping[str, Any]) -> None:
    """Refuse outputs that cannot be written, would overwrite an input, or are one file.

    The outputs are named by what they hold; "clusters" have a format by their suffix.
    """
    read = {os.path.realpath(path) for path in inputs if path is not None}
    written: dict[str, str] = {}
    for what, path in outputs.items():
        if path is None:
            continue
        check_writable(path)
        target = os.path.realpath(path)
        if target in read:
            raise OptionError(f"{path} is an input and would be overwritten; choose another name for the output.")
        if what == "clusters":
            check_output_suffix(path)
        if target in written:
            raise OptionError(f"The {written[target]} and the {what} cannot both be written to {path}.")
        written[target] = what
