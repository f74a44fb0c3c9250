"""What a reproduction consists of: parts, each with cells to run, tables, pictures and claims."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mustlink.constraints import Constraints
from mustlink.datasets import load, names
from mustlink.reproduce._cell import Cell
from mustlink.reproduce._methods import Method, computed
from mustlink.reproduce._problem import DataSet, pose
from mustlink.reproduce._results import Results
from mustlink.reproduce._store import Record
from mustlink.reproduce._tables import Table

__all__ = ["Claim", "Part", "Picture", "Protocol", "Sizes", "Verdict"]


@dataclass(frozen=True)
class Sizes:
    """How much of a protocol is run."""

    datasets: tuple[str, ...]
    amounts: tuple[float, ...]
    trials: int
    rows: int | None = None  # of larger sets, a random draw of so many rows
    special_trials: Mapping[str, int] = field(default_factory=dict)  # where a data set has another number of them
    note: str = ""

    def trials_on(self, dataset: str) -> int:
        """Return the number of trials on a data set."""
        return self.special_trials.get(dataset, self.trials)


@dataclass(frozen=True)
class Picture:
    """A figure, drawn when it is asked for."""

    name: str  # of the file, without its ending
    caption: str
    draw: Callable[[], Any]


@dataclass(frozen=True)
class Verdict:
    """Whether a claim held (None: it could not be tested), and the figures in a sentence."""

    held: bool | None
    sentence: str

    @property
    def word(self) -> str:
        """The verdict in a word or two."""
        return {True: "held", False: "not held", None: "not tested"}[self.held]


@dataclass(frozen=True)
class Claim:
    """What a paper says, and how the results are asked about it."""

    name: str
    text: str
    judge: Callable[[Results], Verdict]


@dataclass(frozen=True)
class Part:
    """A figure or table of the paper."""

    key: str  # what --figure takes
    title: str
    cells: Callable[[Sizes], Iterable[Cell]]
    tables: Callable[[Results], Iterable[Table]] = field(default=lambda results: ())
    pictures: Callable[[Results], Iterable[Picture]] = field(default=lambda results: ())
    claims: tuple[Claim, ...] = ()


@dataclass(frozen=True)
class Protocol:
    """The experiments of one paper.

    Parameters
    ----------
    name : str
        Such as ``boostcluster``.
    title : str
        The heading of its page.
    source : str
        The paper.
    intro : str
        What is run, and how it differs from the paper.
    datasets : sequence of DataSet
        The data sets, as the paper used them.
    methods : sequence of Method
        The methods, also those that this version does not have.
    draw : callable
        Classes and cell to links.
    parts : sequence of Part
        The figures and tables.
    quick, full : Sizes
        How much is run under 10 minutes, and for the paper's repetitions.

    Examples
    --------
    >>> from mustlink.reproduce import find_protocol
    >>> bckm = find_protocol("bckm")
    >>> [part.key for part in bckm.parts]
    ['2', 'table2']
    >>> cells = bckm.cells(bckm.quick)
    >>> cells[0].paper
    'bckm'
    """

    name: str
    title: str
    source: str
    intro: str
    datasets: Sequence[DataSet]
    methods: Sequence[Method]
    draw: Callable[[NDArray[np.int64], Cell], Constraints]
    parts: Sequence[Part]
    quick: Sizes
    full: Sizes

    def choose(self, figures: Sequence[str]) -> list[Part]:
        """Return the parts with these keys; all, if none is named.

        Parameters
        ----------
        figures : sequence of str
            Keys of parts.

        Returns
        -------
        list of Part
        """
        known = [part.key for part in self.parts]
        for figure in figures:
            if figure not in known:
                raise ValueError(f"{self.name} has no figure {figure!r}; it has {', '.join(known)}.")
        return [part for part in self.parts if not figures or part.key in figures]

    def cells(self, sizes: Sizes, parts: Sequence[Part] | None = None) -> list[Cell]:
        """Return the cells of the parts, each once, without those of methods that this version does not have.

        Parameters
        ----------
        sizes : Sizes
            How much is run.
        parts : sequence of Part, default=None
            Which parts; all if None.

        Returns
        -------
        list of Cell
        """
        here = {method.name for method in self.methods if method.is_here}
        wanted = (cell for part in (self.parts if parts is None else parts) for cell in part.cells(sizes))
        return [cell for cell in dict.fromkeys(wanted) if cell.method in here]

    def compute(self, cell: Cell) -> Record:
        """Run one cell.

        Parameters
        ----------
        cell : Cell
            The cell.

        Returns
        -------
        Record
        """
        method = next(method for method in self.methods if method.name == cell.method)
        data = next(data for data in self.datasets if data.name == cell.dataset)
        return computed(cell, method, pose(cell, data, self.draw))

    def missing_methods(self) -> list[str]:
        """Return the names of the methods that this version does not have.

        Returns
        -------
        list of str
        """
        return [method.name for method in self.methods if not method.is_here]

    def check_data(self, cells: Iterable[Cell]) -> None:
        """Raise before the first cell is run if a data set is not on this machine.

        Parameters
        ----------
        cells : iterable of Cell
            What is to be run.
        """
        at_hand = names()
        for name in dict.fromkeys(cell.dataset for cell in cells):
            if not at_hand.get(name, False):
                load(name)
