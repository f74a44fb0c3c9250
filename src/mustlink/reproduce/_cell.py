"""One cell of an experiment: what is run, described in full, and the seeds that follow from the description."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

from mustlink._version import __version__

__all__ = ["Cell"]


@dataclass(frozen=True)
class Cell:
    """One run of one method on one draw of links.

    Parameters
    ----------
    paper : str
        The protocol the cell belongs to, such as ``boostcluster``.
    dataset : str
        A name that :func:`mustlink.datasets.load` knows.
    method : str
        The name of the method in that protocol.
    amount : float
        How much is known: a number of links, or a share of labelled points.
    trial : int
        The repetition, from 0.
    noise : float, default=0.0
        The share of the links that is turned into the other kind.
    rows : int, default=None
        At most so many rows, drawn at random; all if None.
    measure : {'scores', 'seconds'}, default='scores'
        Whether the result is scored, or timed with nothing else running.

    Examples
    --------
    >>> from mustlink.reproduce import Cell
    >>> cell = Cell("bckm", "iris", "BCKM", 100, trial=0)
    >>> cell.key("1.0")
    '{"amount":100,"dataset":"iris","measure":"scores","method":"BCKM","noise":0.0,...,"version":"1.0"}'
    >>> cell.problem_seed == Cell("bckm", "iris", "CKM", 100, trial=0).problem_seed
    True
    >>> cell.seed == Cell("bckm", "iris", "CKM", 100, trial=0).seed
    False
    """

    paper: str
    dataset: str
    method: str
    amount: float
    trial: int
    noise: float = 0.0
    rows: int | None = None
    measure: str = "scores"

    def description(self) -> dict[str, Any]:
        """Return all fields by their names.

        Returns
        -------
        dict of str to object
        """
        return asdict(self)

    def key(self, version: str = __version__) -> str:
        """Return the text under which the result is kept: all fields and the version of the package.

        Parameters
        ----------
        version : str
            The version that computed the result; this one, by default.

        Returns
        -------
        str
        """
        return _compact(self.description() | {"version": version})

    @property
    def seed(self) -> int:
        """The seed of the method, a function of all fields."""
        return _seed_of(self.description())

    @property
    def problem_seed(self) -> int:
        """The seed of the links, the same for all methods."""
        description = self.description()
        del description["method"], description["measure"]
        return _seed_of(description)

    @property
    def rows_seed(self) -> int:
        """The seed of the draw of rows, the same for all methods and all links of a trial."""
        return _seed_of({"dataset": self.dataset, "rows": self.rows, "trial": self.trial})


def _compact(fields: dict[str, Any]) -> str:
    """Write fields as one line of JSON, always in the same order."""
    return json.dumps(fields, sort_keys=True, separators=(",", ":"))


def _seed_of(fields: dict[str, Any]) -> int:
    """Turn fields into a seed that does not depend on the process or the platform."""
    digest = hashlib.blake2b(_compact(fields).encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big") >> 1
