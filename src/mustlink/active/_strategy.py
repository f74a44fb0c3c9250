"""The base class of strategies: questions, answers, and the resulting links."""

from __future__ import annotations

from abc import ABC, abstractmethod
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils import check_array

from mustlink._estimators import draw_seed
from mustlink._magnitude import check_magnitude
from mustlink.active._advice import Advice, check_clusterer, check_predicted, count_last, fit_quietly, seeded_copy
from mustlink.active._knowledge import Knowledge
from mustlink.constraints import Constraints
from mustlink.errors import ConstraintError, TooLargeError

__all__ = ["Answer", "Question", "Strategy", "is_integer"]


def is_integer(value: Any, low: int, high: float = np.inf) -> bool:
    """Return whether a value is an integer within bounds, and no bool."""
    return not isinstance(value, bool) and isinstance(value, Integral) and low <= int(value) <= high


class Question(NamedTuple):
    """A question about two rows, whether they belong together.

    Parameters
    ----------
    a, b : int
        The rows. In strategies that assign one row after the other, `a` is the row to be assigned.

    Examples
    --------
    >>> from mustlink.active import Question
    >>> Question(3, 7).b
    7
    """

    a: int
    b: int


class Answer(NamedTuple):
    """The answer to a question about two rows.

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

    Iteration gives one :class:`Question` after the other; each is answered by :meth:`answer` before the next one. A
    question whose answer follows from earlier answers, or that was skipped, is never asked.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data. Features are not scaled.
    n_clusters : int
        The number of clusters.
    known : Constraints, default=None
        Links that are known in advance and not asked about.
    random_state : int, RandomState or None, default=None
        Makes the questions repeatable.

    Attributes
    ----------
    answers : list of Answer
        All answers so far in order, including skipped questions. A new strategy with the same data and `random_state`
        that is told these answers in order is in the same state.
    contradictions : list of Answer
        Answers that contradict `known` or earlier answers.
    deduced : list of Question
        Pairs that must belong together because there are only `n_clusters` clusters.

    Notes
    -----
    An answer that contradicts earlier ones raises no error: the strategy continues from the earlier ones, lists it in
    `contradictions`, and :attr:`constraints` contains both, for clusterers that weigh links; each of two opposite links
    of one pair has the number of its answers as its weight. As questions whose answer follows from others are not
    asked, contradictions come only from `known` and :meth:`tell`; a wrong answer to a question is not detected.

    Examples
    --------
    >>> from mustlink.active import NPU, Strategy
    >>> isinstance(NPU([[0.0], [1.0], [8.0]], 2, random_state=0), Strategy)
    True
    """

    answers: list[Answer]
    contradictions: list[Answer]
    deduced: list[Question]
    _pending: Question | None
    _is_shown: bool
    _is_put: bool
    # Why no question is left when there is none.
    _END = "No question is left: everything was asked about or follows from the answers."

    def __init__(self, X: Any, n_clusters: int, *, known: Any = None, random_state: Any = None) -> None:
        X = check_array(X, accept_sparse="csr", dtype=(np.float64, np.float32), ensure_min_samples=2, input_name="X")
        check_magnitude(X)
        if not is_integer(n_clusters, 1, X.shape[0]):
            raise ValueError(
                f"n_clusters must be an integer from 1 to the number of rows, {X.shape[0]}; got {n_clusters!r}."
            )
        if known is not None and not isinstance(known, Constraints):
            raise TypeError(f"known must be Constraints; got {type(known).__name__}.")
        self.X = X
        self._n_rows: int = X.shape[0]
        self._known = Constraints() if known is None else _list_pairs(known, X.shape[0])
        # All random choices derive from one seed, hence undoing an answer restores the previous state.
        self._seed = draw_seed(random_state)
        self.n_clusters = int(n_clusters)
        self._begin()

    @property
    def n_asked(self) -> int:
        """The number of answers, including skipped questions."""
        return len(self.answers)

    @property
    def question(self) -> Question | None:
        """The current question; None if there is none left. A question that was read counts as shown."""
        self._is_shown = True
        return self._choose_once()

    @property
    def end(self) -> str | None:
        """Why no question is left, as a sentence; None as long as there is one, which does not count as shown."""
        return self._END if self._choose_once() is None else None

    @property
    def constraints(self) -> Constraints:
        """All links: `known`, the answers and the deduced pairs."""
        return self._links_after(len(self.answers), len(self.deduced))

    def _links_after(self, n_answers: int, n_deduced: int) -> Constraints:
        """Return the links that were known after some answers and deduced pairs."""
        known = self._known
        signs = [(a, b, 1 if together else -1) for a, b, together in self.answers[:n_answers] if together is not None]
        new = np.array([*signs, *((a, b, 1) for a, b in self.deduced[:n_deduced])], dtype=np.int64).reshape(-1, 3)
        return Constraints.from_pairs(
            np.concatenate([known.pairs, new[:, :2]]),
            np.concatenate([known.sign, new[:, 2]]),
            np.concatenate([known.weight, np.ones(len(new))]),
            contradictions="keep",
        )

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Question:
        if self._is_put and self._pending is not None:
            raise RuntimeError(
                f"The question about rows {self._pending.a} and {self._pending.b} is not answered; call answer() with "
                "True, False or None (skip) before the next one."
            )
        if self.question is None:
            raise StopIteration
        self._is_put = True
        return self.question

    def answer(self, together: bool | None) -> None:
        """Answer the question that was shown, by ``next()`` or :attr:`question`.

        Each question is answered once: a second answer would be to a question that nobody has seen.

        Parameters
        ----------
        together : bool or None
            Whether the two rows belong together; None to skip the question for good.

        Raises
        ------
        RuntimeError
            If no question was shown since the last answer.
        """
        if self._pending is None or not self._is_shown:
            if self.end is not None:
                raise RuntimeError(f"{self.end} Use tell() for an answer about any two rows.")
            raise RuntimeError(
                "No question was shown since the last answer; get one with next() or from question, or use tell() for "
                "an answer about any two rows."
            )
        self.tell(*self._pending, together)

    def tell(self, a: int, b: int, together: bool | None) -> None:
        """Add an answer about any two rows.

        Parameters
        ----------
        a, b : int
            The rows.
        together : bool or None
            Whether they belong together; None if unknown, to prevent the question.
        """
        a, b = self._check_row(a), self._check_row(b)
        if a == b:
            raise ConstraintError(f"Row {a} cannot be linked with itself; give two different rows.")
        if together is not None and not isinstance(together, bool | np.bool_):
            raise TypeError(f"An answer must be True, False or None (skip); got {together!r}.")
        self._add(Answer(a, b, None if together is None else bool(together)))
        if self._pending is not None and self._knowledge.is_settled(*self._pending):
            self._pending, self._is_shown, self._is_put = None, False, False

    def undo(self) -> Answer | None:
        """Undo the last answer; its question becomes the current one and can be answered again.

        Returns
        -------
        Answer or None
            The answer that was undone; None if there was none.
        """
        if not self.answers:
            return None
        *kept, last = self.answers
        self._begin()
        for answer in kept:
            self._add(answer)
        if not self._knowledge.is_settled(last.a, last.b):
            self._pending, self._is_shown = Question(last.a, last.b), True
        return last

    def advise(self, clusterer: Any = None, *, n_together: int = 30) -> Advice:
        """Tell whether further questions are worth asking.

        The rows are clustered with the links that were known before the last answers. If this clustering predicts all
        the last answers, the next ones will change little: the questions of a strategy are harder than others.

        Parameters
        ----------
        clusterer : estimator, default=None
            A clusterer of mustlink; None is :class:`~mustlink.PCKMeans`.
        n_together : int, default=30
            The last answers are as many as contain this number of "together". Of "apart" alone nearly any clustering
            predicts most, if there are many clusters.

        Returns
        -------
        Advice

        Notes
        -----
        If 30 rows are assigned as predicted, at most 10% of such rows are assigned otherwise, with a confidence of 95%.

        Examples
        --------
        >>> from mustlink.active import MinMax, TruthOracle, ask
        >>> from sklearn.datasets import make_blobs
        >>> X, y = make_blobs(200, centers=3, cluster_std=0.5, random_state=1)
        >>> strategy = MinMax(X, 3, random_state=0)
        >>> links = ask(strategy, TruthOracle(y), 40)
        >>> print(strategy.advise())
        The last 30 answers were as predicted; more questions will change little.
        """
        if not is_integer(n_together, 1):
            raise ValueError(f"n_together must be an integer of at least 1; got {n_together!r}.")
        check_clusterer(clusterer)
        if self.end is not None:
            return Advice(is_settled=True, n_checked=0, n_predicted=0, end=self.end)
        n_before = len(self.answers) - count_last(self.answers, int(n_together))
        if n_before == len(self.answers):
            return Advice(is_settled=False, n_checked=0, n_predicted=0)
        links = self._links_after(n_before, self._deduced_before[n_before])
        model = fit_quietly(seeded_copy(clusterer, self.n_clusters, self._seed), self.X, links)
        return check_predicted(model.labels_, self.answers[n_before:])

    def _begin(self) -> None:
        """Start with the known links."""
        self.answers, self.contradictions, self.deduced = [], [], []
        # The number of deduced pairs before every answer.
        self._deduced_before: list[int] = []
        self._pending, self._is_shown, self._is_put = None, False, False
        self._knowledge = Knowledge()
        for (a, b), sign in zip(self._known.pairs.tolist(), self._known.sign.tolist(), strict=True):
            if not self._knowledge.learn(a, b, sign > 0):
                self.contradictions.append(Answer(a, b, sign > 0))

    def _add(self, answer: Answer) -> None:
        """Add an answer."""
        self._deduced_before.append(len(self.deduced))
        self.answers.append(answer)
        if self._knowledge.learn(*answer):
            self._conclude_from(answer)
        else:
            self.contradictions.append(answer)

    def _choose_once(self) -> Question | None:
        """Return the current question, chosen when it is first needed."""
        if self._pending is None:
            self._pending = self._choose()
        return self._pending

    def _check_row(self, row: int) -> int:
        """Return a row number as an int, or raise if there is no such row."""
        if not is_integer(row, 0, self._n_rows - 1):
            raise ConstraintError(f"{row!r} is not a row; the rows are 0 to {self._n_rows - 1}.")
        return int(row)

    def _conclude_from(self, answer: Answer) -> None:
        """Deduce further facts from an answer that does not contradict earlier ones."""
        return

    @abstractmethod
    def _choose(self) -> Question | None:
        """Return a question that is not settled; None if there is none."""


def _list_pairs(known: Constraints, n_rows: int) -> Constraints:
    """Return known links with the pairs of groups listed."""
    known.check_rows(n_rows)
    try:
        return known.expand()
    except TooLargeError as error:
        raise TooLargeError(error.problem, remedy="fewer_known") from None
