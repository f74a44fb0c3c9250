"""A sitting with a person: questions, answers, undo, and a file of links that is saved as it goes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from mustlink import active
from mustlink.active import Advice, Answer, Question, Strategy
from mustlink.base import as_constraints, collect_links, refuse_contradictions, refuse_infeasible, refuse_many_classes
from mustlink.constraints import Constraints
from mustlink.errors import InfeasibleError, OptionError, TooLargeError
from mustlink.tables import UnknownIds
from mustlink.workflow._answer_file import AnswerFile
from mustlink.workflow._given_pairs import GivenPairs
from mustlink.workflow._loading import Contradictions, LoadedTable, check_n_clusters, check_seed
from mustlink.workflow._naming import with_row_names

__all__ = ["STRATEGIES", "AnswerCounts", "Sitting"]

# The strategies of mustlink.active by the names that a user gives.
STRATEGIES = {
    "cobras": "COBRAS",
    "consolidate": "Consolidate",
    "explore": "Explore",
    "minmax": "MinMax",
    "npu": "NPU",
    "random": "RandomPairs",
}

# Whether to stop is checked after so many answers "together", and again after so many further ones.
FIRST_ADVICE = 30
NEXT_ADVICE = 10


class AnswerCounts(NamedTuple):
    """How many answers of each kind a sitting has had.

    Parameters
    ----------
    together, apart, skipped : int
        Pairs that belong together, pairs that do not, and questions without an answer.

    Examples
    --------
    >>> from mustlink.workflow import AnswerCounts
    >>> AnswerCounts(together=2, apart=1, skipped=0).apart
    1
    """

    together: int
    apart: int
    skipped: int


class Sitting:
    """Questions about pairs of rows, with every answer saved as it is given.

    An answer is on the disk when :meth:`answer` returns, so nothing is lost if the program is stopped, and a new
    sitting with the same file continues from there. Without a file, the caller keeps the answers.

    Parameters
    ----------
    table : LoadedTable
        The table.
    path : str, path-like or None, default=None
        The file of links. Its links are known and not asked again; answers are added to it. None keeps no file.
    n_clusters : int or None, default=None
        The number of groups; not needed with `pairs`.
    strategy : {"cobras", "consolidate", "explore", "minmax", "npu", "random"}, default="minmax"
        How questions are chosen, see :mod:`mustlink.active`.
    contradictions : {"raise", "majority", "keep"}, default="raise"
        What to do with a pair that the file links both ways, or against a rule of the table: refuse it, keep the
        heavier side, or ignore it (keep).
    unknown_ids : {"raise", "skip"}, default="raise"
        What to do with a link of the file that names an id which the table does not have: refuse it, or skip it.
    random_state : int, default=0
        The seed.
    pairs : sequence of (int, int) or None, default=None
        The pairs of rows to ask about, in this order, instead of those that a strategy chooses; pairs whose answer
        follows from other answers are left out.
    known : Constraints or None, default=None
        Links between rows of `X` that are known besides those of the file, and not asked again.

    Attributes
    ----------
    n_known_links : int
        How many links the file had at the beginning, and `known`.
    notices : list of str
        What the person should know of the table and the file, as sentences.
    path : Path or None
        The file.

    Raises
    ------
    InfeasibleError
        If `n_clusters` clusters cannot keep the links of the file, the labels and the rules of the table.

    See Also
    --------
    RowComparison : The two rows of a question side by side.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mustlink.datasets import sample_paths
    >>> from mustlink.workflow import Sitting, TableOptions, load_table
    >>> table = load_table(TableOptions(sample_paths()[0], id_column="customer"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sitting = Sitting(table, pathlib.Path(folder, "links.csv"), n_clusters=3)
    ...     for together in (False, None):
    ...         a, b = sitting.question
    ...         sitting.answer(together)
    ...     print(sitting.counts)
    ...     print(len(sitting.path.read_text().splitlines()))
    AnswerCounts(together=0, apart=1, skipped=1)
    2
    """

    def __init__(
        self,
        table: LoadedTable,
        path: str | os.PathLike[str] | None = None,
        *,
        n_clusters: int | None = None,
        strategy: str = "minmax",
        contradictions: Contradictions = "raise",
        unknown_ids: UnknownIds = "raise",
        random_state: int = 0,
        pairs: Sequence[tuple[int, int]] | None = None,
        known: Constraints | None = None,
    ) -> None:
        if n_clusters is None and pairs is None:
            raise OptionError("Questions need n_clusters, or the pairs to ask about.")
        if n_clusters is not None:
            check_n_clusters(n_clusters, table)
        check_seed(random_state)
        if strategy not in STRATEGIES:
            raise OptionError(f"There is no strategy {strategy!r}; the strategies are {', '.join(STRATEGIES)}.")
        self.path = None if path is None else Path(path)
        if self.path is not None and self.path.resolve() == Path(table.source.source).resolve():
            raise OptionError(f"{path} is the table and would be overwritten; choose another name for the links.")
        self._table = table
        self._file = None if self.path is None else AnswerFile(self.path)
        known = self._collect_known(as_constraints(known, len(table.X)), n_clusters, contradictions, unknown_ids)
        self._strategy: Strategy
        if pairs is not None:
            self._strategy = GivenPairs(pairs, table.source.n_rows, known)
        else:
            make = getattr(active, STRATEGIES[strategy])
            self._strategy = make(table.X, n_clusters, known=known, random_state=random_state)
        self._is_given = pairs is not None
        self._next_advice = FIRST_ADVICE

    def _collect_known(
        self, known: Constraints, n_clusters: int | None, contradictions: Contradictions, unknown_ids: UnknownIds
    ) -> Constraints:
        """Return what is known already, with the file, labels and rules; note what is odd, refuse what cannot be."""
        table = self._table
        self.notices = list(table.notices)
        if self._file is not None and self._file.cut_off:
            self.notices.append(f"The last line of {self.path} was cut short and has been removed.")
        if self._file is not None and self._file.is_begun:
            read, lost = table.read_links(self._file.path, contradictions, unknown_ids)
            self.notices += lost
            n_conflicts = len(read.conflicts())
            if n_conflicts:
                self.notices.append(
                    f"{n_conflicts:,} of the links in {self.path} contradict others and are ignored here."
                )
            known = known.add(read, contradictions=contradictions)
        self.n_known_links = len(known)
        labels = table.partial_labels
        if labels is not None and n_clusters is not None:
            refuse_many_classes(labels, n_clusters)
        known = collect_links(table.add_rules(known, contradictions), labels, table.X)
        try:
            self._check_feasible(known, n_clusters)
        except InfeasibleError as error:
            raise with_row_names(error.without_remedies("relax", "soft_method"), table.row_names) from None
        return known

    def _check_feasible(self, known: Constraints, n_clusters: int | None) -> None:
        """Refuse links that the clusters cannot keep, as hard methods do; contradictions only where there are rules."""
        if not self._table.rules.is_empty:
            refuse_contradictions(known)
        elif len(known.conflicts()):
            return
        if n_clusters is None:
            return
        # Groups that are too large for this are refused by the strategy.
        with suppress(TooLargeError):
            feasibility = known.feasible(n_clusters, len(self._table.X))
            if feasibility.answer is False:
                refuse_infeasible(feasibility)

    @property
    def question(self) -> Question | None:
        """The question to answer next, by the rows of `X`; None if there is nothing left to ask.

        A question that was read counts as shown.
        """
        return self._strategy.question

    @property
    def end(self) -> str | None:
        """Why no question is left, as a sentence; None as long as there is one."""
        return self._strategy.end

    @property
    def n_asked(self) -> int:
        """How many questions were answered or skipped in this sitting."""
        return self._strategy.n_asked

    @property
    def n_groups_found(self) -> int | None:
        """Of how many groups a row is known; None for strategies that do not look for groups."""
        found = getattr(self._strategy, "components", None)
        return None if found is None else len(found)

    @property
    def counts(self) -> AnswerCounts:
        """How many answers of each kind there were in this sitting."""
        answers = [answer.together for answer in self._strategy.answers]
        return AnswerCounts(answers.count(True), answers.count(False), answers.count(None))

    @property
    def constraints(self) -> Constraints:
        """All links known now, by the rows of `X`."""
        return self._strategy.constraints

    @property
    def has_links(self) -> bool:
        """Whether the file has content."""
        return self._file is not None and self._file.is_begun

    def answer(self, together: bool | None) -> None:
        """Answer the question that was shown, and save the answer.

        Parameters
        ----------
        together : bool or None
            Whether the two rows belong together; None skips the question.

        Raises
        ------
        RuntimeError
            If :attr:`question` was not read since the last answer.
        """
        self._strategy.answer(together)
        self._save_last()

    def tell(self, a: int, b: int, together: bool | None) -> None:
        """Save what the person knows of any two rows, asked or not.

        Parameters
        ----------
        a, b : int
            The rows of `X`.
        together : bool or None
            Whether they belong together; None if it is not known and not to be asked.
        """
        self._strategy.tell(a, b, together)
        self._save_last()

    def advise(self) -> Advice | None:
        """Tell whether further questions are worth asking, if enough was answered since the last time.

        Returns
        -------
        Advice or None
            See :meth:`mustlink.active.Strategy.advise`; None if there is nothing new to tell, no question is left,
            or the pairs are given.
        """
        n_together = self.counts.together
        if self._is_given or n_together < self._next_advice or self.end is not None:
            return None
        self._next_advice = n_together + NEXT_ADVICE
        return self._strategy.advise(n_together=FIRST_ADVICE)

    def _save_last(self) -> None:
        """Write the last answer into the file."""
        a, b, together = self._strategy.answers[-1]
        if together is None or self._file is None:
            return
        try:
            self._file.append(self._table.row_names[a], self._table.row_names[b], together)
        except BaseException:
            # What is not on the disk does not count, also for the next question.
            self._strategy.undo()
            raise

    def undo(self) -> Answer | None:
        """Take back the last answer of this sitting, also in the file.

        Returns
        -------
        Answer or None
            What was taken back; None if there was nothing.
        """
        last = self._strategy.undo()
        if last is not None and last.together is not None and self._file is not None:
            self._file.remove_last()
        return last
