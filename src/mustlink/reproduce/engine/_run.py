"""One run of an experiment: its description in full, and the seeds that follow from the description."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

from mustlink._version import __version__

__all__ = ["Run"]


@dataclass(frozen=True)
class Run:
    """One run of one method on one draw of links."""

    paper: str  # the name of the protocol
    dataset: str  # a name that mustlink.datasets.load knows
    method: str  # the name of the method in the protocol
    amount: float  # how much is known: a number of links, or a fraction of labeled points
    trial: int  # the repetition, from 0
    noise: float = 0.0  # the fraction of the links that is flipped to the other kind
    rows: int | None = None  # the maximum number of rows, drawn at random; all if None
    measure: str = "scores"  # "scores", or "seconds" for a run that is timed with nothing else running

    def key(self, version: str = __version__) -> str:
        """Return the text under which the result is stored: all fields and the version of the package."""
        return _to_json(asdict(self) | {"version": version})

    @property
    def seed(self) -> int:
        """The seed of the method, a function of all fields."""
        return _seed(asdict(self))

    @property
    def problem_seed(self) -> int:
        """The seed of the links, the same for all methods."""
        fields = asdict(self)
        del fields["method"], fields["measure"]
        return _seed(fields)

    @property
    def rows_seed(self) -> int:
        """The seed of the draw of rows, the same for all methods and all links of a trial."""
        return _seed({"dataset": self.dataset, "rows": self.rows, "trial": self.trial})


def _to_json(fields: dict[str, Any]) -> str:
    """Write fields as one line of JSON, always in the same order."""
    return json.dumps(fields, sort_keys=True, separators=(",", ":"))


def _seed(fields: dict[str, Any]) -> int:
    """Return a seed that depends on the fields alone, not on the process or the platform."""
    digest = hashlib.blake2b(_to_json(fields).encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big") >> 1
