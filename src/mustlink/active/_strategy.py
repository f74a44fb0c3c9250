"""What all strategies share: questions out, answers in, and the links they amount to."""

from __future__ import annotations

from abc import ABC, abstractmethod
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils import check_array

from mustlink._estimators import draw_seed
from mustlink.active._knowledge import Knowledge
from mustlink.active._rows import Rows
from mustlink.constraints import Constraints
from mustlink.errors import ConstraintError

__all__ = ["Answer", "Question", "Strategy", "is_whole"]


def is_whole(value: Any, least: int, most: float = np.inf) -> bool:
    """Say whether something is a whole number within bounds."""
    return not isinstance(value, bool) and isinstance(value, Integral) and least <= int(value) <= most


class Question(NamedTuple):
    """Two rows: do they belong together?

    Parameters
    ----------
    a, b : int
        The rows. In strategies that place one row after the other, `a` is the row to be placed.

    Examples
    --------
    >>> from mustlink.active import Question
    >>> Question(3, 7).b
    7
    """

    a: int
    b: int


class Answer(NamedTuple):
    """What was said about two rows.

    Parameters
    ----------
    a, b : int
        The rows.
    together : bool or None
        Whether they belong together; None if the question was skipped.

    Examples
    --------
    >>> from mustlink.active import Answer
    >>> Answer(3, 7, True).together
    True
    """

    a: int
    b: int
    together: bool | None


class Strategy(ABC):
    """A way to choose the questions to ask about a table.

    Iterating gives one :class:`Question` after the other; each is answered by :meth:`answer` before the next is asked
    for. A question whose answer follows from earlier answers is never put, nor is one that was skipped.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The table. Nothing is standardised.
    n_clusters : int
        The number of groups.
    known : Constraints, default=None
        What is known beforehand. It is not asked again.
    random_state : int, RandomState or None, default=None
        Makes the questions repeatable: the same answers bring the same questions.

    Attributes
    ----------
    answers : list of Answer
        All answers so far, in order, skipped questions among them. Told in this order to a new strategy with the same
        table and `random_state`, they bring it where this one is.
    contradictions : list of Answer
        Those that contradict what follows from `known` and from earlier answers.
    deduced : list of Question
        Pairs that must belong together because there are no more than `n_clusters` groups.

    Notes
    -----
    People err. An answer that contradicts earlier ones raises nothing: the strategy goes on from the earlier ones,
    lists it under `contradictions`, and :attr:`constraints` holds both sides, so that a clusterer that weighs links
    can decide. Of a pair told both ways the side told more often is kept, and neither if they are even.
    Since questions with an entailed answer are not put, contradictions only come with `known` and by :meth:`tell`;
    a wrong answer to a question put here stands unopposed.
    """

    X: Any
    n_clusters: int
    answers: list[Answer]
    contradictions: list[Answer]
    deduced: list[Question]
    _rows: Rows
    _known: Constraints
    _knowledge: Knowledge
    _seed: int
    _pending: Question | None
    _is_put: bool

    def __init__(self, X: Any, n_clusters: int, *, known: Any = None, random_state: Any = None) -> None:
        X = check_array(X, accept_sparse="csr", dtype=(np.float64, np.float32), ensure_min_samples=2, input_name="X")
        if not is_whole(n_clusters, 1, X.shape[0]):
            raise ValueError(
                f"n_clusters is {n_clusters!r}; it must be a whole number from 1 to the number of rows, {X.shape[0]}."
            )
        if known is not None and not isinstance(known, Constraints):
            raise TypeError(f"known must be Constraints; got {type(known).__name__}.")
        self.X = X
        self._rows = Rows(X)
        self._known = Constraints() if known is None else known
        self._known.check_rows(X.shape[0])
        # One number from which all chance is drawn, so that an answer taken back leaves no trace.
        self._seed = draw_seed(random_state)
        self.n_clusters = int(n_clusters)
        self._begin()

    @property
    def n_asked(self) -> int:
        """How many answers were given, skipped questions among them."""
        return len(self.answers)

    @property
    def question(self) -> Question | None:
        """The question that waits for an answer, chosen now if none does; None if there is nothing left to ask."""
        if self._pending is None:
            self._pending = self._choose()
        return self._pending

    @property
    def constraints(self) -> Constraints:
        """All that is known: `known`, the answers and what was deduced, as links."""
        known = self._known
        must = [(a, b) for a, b, together in self.answers if together is True] + self.deduced
        cannot = [(a, b) for a, b, together in self.answers if together is False]
        return Constraints(
            np.concatenate([known.must_link, np.array(must, dtype=np.int64).reshape(-1, 2)]),
            np.concatenate([known.cannot_link, np.array(cannot, dtype=np.int64).reshape(-1, 2)]),
            must_link_weight=np.concatenate([known.must_link_weight, np.ones(len(must))]),
            cannot_link_weight=np.concatenate([known.cannot_link_weight, np.ones(len(cannot))]),
            contradictions="majority",
        )

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Question:
        if self._is_put and self._pending is not None:
            raise RuntimeError(
                f"The question about rows {self._pending.a} and {self._pending.b} is not answered yet; call answer() "
                "with True, False or None (skip) before the next one."
            )
        if self.question is None:
            raise StopIteration
        self._is_put = True
        return self.question

    def answer(self, together: bool | None) -> None:
        """Answer the question that waits.

        Parameters
        ----------
        together : bool or None
            Whether the two rows belong together; None to skip the question, which is then not put again.
        """
        question = self.question
        if question is None:
            raise RuntimeError("There is no question left to answer.")
        self.tell(*question, together)

    def tell(self, a: int, b: int, together: bool | None) -> None:
        """Say something about any two rows, asked or not.

        Parameters
        ----------
        a, b : int
            The rows.
        together : bool or None
            Whether they belong together; None if that is not known, so that it is not asked.
        """
        a, b = self._checked_row(a), self._checked_row(b)
        if a == b:
            raise ConstraintError(f"Row {a} cannot be linked with itself; a question has two different rows.")
        if together is not None and not isinstance(together, bool | np.bool_):
            raise TypeError(f"An answer is True, False or None (skip); got {together!r}.")
        self._take(Answer(a, b, None if together is None else bool(together)))
        if self._pending is not None and self._knowledge.is_settled(*self._pending):
            self._pending, self._is_put = None, False

    def undo(self) -> Answer | None:
        """Take back the last answer; its question waits again.

        Returns
        -------
        Answer or None
            The answer taken back; None if there was none.
        """
        if not self.answers:
            return None
        *kept, last = self.answers
        self._begin()
        for answer in kept:
            self._take(answer)
        if not self._knowledge.is_settled(last.a, last.b):
            self._pending = Question(last.a, last.b)
        return last

    def _begin(self) -> None:
        """Start with what is known beforehand."""
        self.answers, self.contradictions, self.deduced = [], [], []
        self._pending, self._is_put = None, False
        self._knowledge = Knowledge()
        for pairs, together in ((self._known.must_link, True), (self._known.cannot_link, False)):
            for a, b in pairs.tolist():
                if not self._knowledge.learn(a, b, together):
                    self.contradictions.append(Answer(a, b, together))

    def _take(self, answer: Answer) -> None:
        """Take in an answer."""
        self.answers.append(answer)
        if self._knowledge.learn(*answer):
            self._learned(answer)
        else:
            self.contradictions.append(answer)

    def _checked_row(self, row: int) -> int:
        """Refuse what is not a row of the table."""
        if not is_whole(row, 0, self._rows.n_rows - 1):
            raise ConstraintError(f"{row!r} is not a row of the table, whose rows are 0 to {self._rows.n_rows - 1}.")
        return int(row)

    def _learned(self, answer: Answer) -> None:
        """Draw conclusions from an answer that fits the earlier ones."""
        return

    @abstractmethod
    def _choose(self) -> Question | None:
        """Choose a question that is not settled; None if there is none."""
