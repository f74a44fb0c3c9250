"""Asking questions, and oracles that answer: known classes, a function, or a person at the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TextIO, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from mustlink._estimators import draw_seed
from mustlink._progress import progress
from mustlink.active._strategy import Strategy
from mustlink.constraints import Constraints, known_rows

__all__ = ["CallbackOracle", "NoisyOracle", "Oracle", "TerminalOracle", "TruthOracle", "ask"]

UNKNOWN = -1
WORDS = {"y": True, "yes": True, "n": False, "no": False, "s": None, "skip": None, "?": None}


@runtime_checkable
class Oracle(Protocol):
    """A callable of two rows that answers questions.

    Examples
    --------
    >>> from mustlink.active import Oracle, TruthOracle
    >>> isinstance(TruthOracle([0, 1]), Oracle)
    True
    """

    def __call__(self, a: int, b: int) -> bool | None:
        """Return whether two rows belong together; None if this is unknown.

        Parameters
        ----------
        a, b : int
            The rows.

        Returns
        -------
        bool or None
        """


class TruthOracle:
    """Oracle that answers by known classes.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        The classes.
    missing : object, default=-1
        A further marker of unknown classes, or a list of them, besides -1, None, NaN and empty text; questions about
        such rows are skipped.

    Attributes
    ----------
    n_rows : int
        The number of rows.

    Examples
    --------
    >>> from mustlink.active import TruthOracle
    >>> oracle = TruthOracle(["cat", "dog", "cat", "?"], missing="?")
    >>> oracle(0, 2), oracle(0, 1), oracle(0, 3)
    (True, False, None)
    """

    def __init__(self, y: ArrayLike, *, missing: object = -1) -> None:
        classes = np.asarray(y)
        if classes.ndim != 1:
            raise ValueError(f"y must have one class per row; its shape is {classes.shape}.")
        self.n_rows = len(classes)
        rows, codes, _ = known_rows(y, missing)
        self._codes = np.full(self.n_rows, UNKNOWN)
        self._codes[rows] = codes

    def __call__(self, a: int, b: int) -> bool | None:
        """Answer a question."""
        _check_rows((a, b), self.n_rows, "y")
        first, second = self._codes[a], self._codes[b]
        return None if UNKNOWN in (first, second) else bool(first == second)


class NoisyOracle(TruthOracle):
    """Oracle that answers by known classes with random errors, but consistently for the same question.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        The classes.
    noise : float
        The fraction of wrong answers, from 0 to 1.
    missing : object, default=-1
        A further marker of unknown classes, or a list of them, besides -1, None, NaN and empty text; questions about
        such rows are skipped.
    random_state : int, RandomState or None, default=None
        Makes the wrong answers repeatable.

    Examples
    --------
    >>> from mustlink.active import NoisyOracle
    >>> oracle = NoisyOracle([0, 0, 1, 1] * 50, noise=0.1, random_state=0)
    >>> sum(oracle(0, row) != (row % 4 < 2) for row in range(1, 200))
    12
    >>> oracle(3, 8) == oracle(8, 3)
    True
    """

    def __init__(self, y: ArrayLike, noise: float, *, missing: object = -1, random_state: Any = None) -> None:
        super().__init__(y, missing=missing)
        if not 0 <= noise <= 1:
            raise ValueError(f"noise must be a fraction from 0 to 1; got {noise!r}.")
        self.noise = noise
        self._seed = draw_seed(random_state)

    def __call__(self, a: int, b: int) -> bool | None:
        """Answer a question."""
        truth = super().__call__(a, b)
        if truth is None:
            return None
        draw = np.random.default_rng([self._seed, min(a, b), max(a, b)]).random()
        return not truth if draw < self.noise else truth


class CallbackOracle:
    """Oracle that answers by a function of the records of two rows.

    Parameters
    ----------
    function : callable
        Takes two records; returns True if they belong together, False if not, None if unknown.
    records : sequence, array or data frame
        One record per row, such as a name, a text, an image, or a row of X. They are taken by position; the index of a
        Series or DataFrame does not matter. A row of a DataFrame is a Series by the names of its columns, with polars a
        dictionary.

    Examples
    --------
    >>> from mustlink.active import CallbackOracle
    >>> oracle = CallbackOracle(lambda one, other: one[0] == other[0], ["ann", "al", "bob"])
    >>> oracle(0, 1), oracle(0, 2)
    (True, False)
    """

    def __init__(self, function: Callable[[Any, Any], bool | None], records: Sequence[Any]) -> None:
        if not callable(function):
            raise TypeError(f"function must be callable; got {type(function).__name__}.")
        self.function = function
        self.records = records

    @property
    def n_rows(self) -> int:
        """The number of records."""
        return _count_records(self.records)

    def __call__(self, a: int, b: int) -> bool | None:
        """Answer a question."""
        _check_rows((a, b), self.n_rows, "records")
        return self.function(_record(self.records, a), _record(self.records, b))


class TerminalOracle:
    """Oracle that asks a person in plain text.

    The answers are y, n and s (skip). The end of the input is an interruption.

    Parameters
    ----------
    records : sequence, array or data frame, default=None
        What to show for every row, by position; its number if None.
    source, target : text streams, default=None
        Streams for answers and questions; the terminal if None.

    Examples
    --------
    >>> import io
    >>> from mustlink.active import TerminalOracle
    >>> screen = io.StringIO()
    >>> oracle = TerminalOracle(["ann", "al"], source=io.StringIO("perhaps\\ny\\n"), target=screen)
    >>> oracle(0, 1)
    True
    >>> print(screen.getvalue().splitlines()[0])
    Do these belong together? (y, n, s to skip)
    """

    def __init__(
        self, records: Sequence[Any] | None = None, *, source: TextIO | None = None, target: TextIO | None = None
    ) -> None:
        self.records = records
        self._source = source
        self._target = target

    @property
    def n_rows(self) -> int | None:
        """The number of records; None without records."""
        return None if self.records is None else _count_records(self.records)

    def __call__(self, a: int, b: int) -> bool | None:
        """Answer a question."""
        if self.n_rows is not None:
            _check_rows((a, b), self.n_rows, "records")
        source, target = self._source or sys.stdin, self._target or sys.stdout
        shown = [f"row {row}" if self.records is None else _text(_record(self.records, row)) for row in (a, b)]
        while True:
            print("Do these belong together? (y, n, s to skip)", *shown, sep="\n  ", file=target)
            target.write("> ")
            target.flush()
            line = source.readline()
            if not line:
                raise KeyboardInterrupt
            word = line.strip().lower()
            if word in WORDS:
                return WORDS[word]


def ask(strategy: Strategy, oracle: Oracle, n_questions: int | None = None, *, verbose: int | bool = 0) -> Constraints:
    """Ask an oracle the questions of a strategy, and return the resulting links.

    Parameters
    ----------
    strategy : Strategy
        Chooses the questions and stores the answers; another call continues, also after an interruption.
    oracle : callable
        Takes two rows; returns True, False, or None to skip the question. If it has an attribute `n_rows`, that must be
        the number of rows of the strategy.
    n_questions : int, default=None
        The maximum number of questions; None asks until there are none left.
    verbose : int or bool, default=0
        Whether to show a progress bar.

    Returns
    -------
    Constraints
        :attr:`Strategy.constraints`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mustlink import PCKMeans
    >>> from mustlink.active import Consolidate, TruthOracle, ask
    >>> from mustlink.metrics import adjusted_rand
    >>> X, y = load_iris(return_X_y=True)
    >>> links = ask(Consolidate(X, 3, random_state=0), TruthOracle(y), 60)
    >>> plain, linked = PCKMeans(3, random_state=0), PCKMeans(3, random_state=0)
    >>> adjusted_rand(y, linked.fit(X, constraints=links).labels_) > adjusted_rand(y, plain.fit(X).labels_)
    True
    """
    if n_questions is not None and n_questions < 0:
        raise ValueError(f"n_questions must not be negative; got {n_questions}.")
    if not callable(oracle):
        raise TypeError(f"An oracle must be a callable of two rows; got {type(oracle).__name__}.")
    n_rows, n_known = strategy.X.shape[0], getattr(oracle, "n_rows", None)
    if n_known is not None and n_known != n_rows:
        raise ValueError(
            f"The {type(oracle).__name__} knows {n_known} rows, but the questions are about a table of {n_rows} rows; "
            "both must have the same rows."
        )
    n_asked = 0
    with progress(n_questions, "Asking", shown=verbose) as advance:
        while n_questions is None or n_asked < n_questions:
            question = strategy.question
            if question is None:
                break
            strategy.answer(oracle(*question))
            n_asked += 1
            advance()
    return strategy.constraints


def _check_rows(rows: tuple[int, int], n_rows: int, name: str) -> None:
    """Refuse a question about a row that an oracle does not know."""
    for row in rows:
        if not 0 <= row < n_rows:
            raise ValueError(f"The question is about row {row}, but {name} has {n_rows} entries, one for each row.")


def _count_records(records: Any) -> int:
    """Return the number of records; a sparse matrix has no length."""
    return int(records.shape[0]) if hasattr(records, "shape") else len(records)


def _record(records: Any, row: int) -> Any:
    """Return the record at a position; data frames would look up a label or a column instead."""
    if hasattr(records, "iloc"):
        return records.iloc[row]
    if hasattr(records, "row") and hasattr(records, "columns"):
        return records.row(row, named=True)
    return records[row]


def _text(record: Any) -> str:
    """Return a record in one line, with the names of its columns if it has some."""
    return ", ".join(f"{name}: {cell}" for name, cell in record.items()) if hasattr(record, "items") else str(record)
