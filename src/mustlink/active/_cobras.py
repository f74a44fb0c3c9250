"""COBRAS: refine groups of rows by questions about their medoids."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances, pairwise_distances_argmin

from mustlink._numbering import number_by_first
from mustlink._types import Array, Floats, Indices, Ints
from mustlink.active._strategy import Answer, Question, Strategy
from mustlink.constraints import Constraints

__all__ = ["COBRAS"]

N_STARTS = 3
# A super-instance is split into at most 128: to compare more would take thousands of questions.
MAX_LEVEL = 7


class SuperInstance(NamedTuple):
    """Rows that are asked about by one of them, their medoid."""

    rows: Indices
    medoid: int


class COBRAS(Strategy):
    """Refine super-instances from coarse to fine, and merge them by answers (Van Craenendonck and others 2018).

    A super-instance is a group of rows that are in one cluster, as far as is known; its medoid represents it in
    questions. At first all rows are one super-instance. The largest one is split by k-means, then super-instances are
    compared, closest first, until each two of them are known to be together or apart, and so on. How finely a
    super-instance is split is also asked: it is divided in two, and one half again, until the medoids of two halves
    belong together.

    The super-instances that belong together are a clustering, :attr:`labels_`, without any clusterer. The links can be
    given to a clusterer as well.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data. Features are not scaled, and distances are Euclidean.
    n_clusters : int
        The number of clusters of the clusterer in :meth:`advise`. Questions and :attr:`labels_` do not depend on it.
    known : Constraints, default=None
        Links that are known in advance and not asked about.
    random_state : int, RandomState or None, default=None
        Seeds k-means, and chooses the half that is divided again.

    Attributes
    ----------
    answers : list of Answer
        All answers so far in order, including skipped questions. A new strategy with the same data and `random_state`
        that is told these answers in order is in the same state.
    contradictions : list of Answer
        Answers that contradict `known` or earlier answers.
    deduced : list of Question
        Empty: no pairs are deduced from the number of clusters.

    See Also
    --------
    Strategy : The methods and attributes of all strategies.
    MinMax : Assigns single rows, for a clusterer that learns from links.

    Notes
    -----
    With `d` answers "apart" before the first "together", a super-instance is split into ``2 ** max(d, 1)``, at most
    128 here. If a question is skipped, the division ends there, or the two super-instances are treated as apart. Equal
    rows are never split. While new super-instances are compared, :attr:`labels_` is the clustering before the last
    split, as in the paper; after the first split it is what is merged so far.

    A wrong answer "together" merges two clusters for good, as it does in the paper.

    References
    ----------
    T. Van Craenendonck, S. Dumancic, E. Van Wolputte and H. Blockeel, "COBRAS: Interactive clustering with pairwise
    queries", IDA 2018.

    Examples
    --------
    >>> from mustlink.active import COBRAS, TruthOracle, ask
    >>> X = [[0.0], [1.0], [2.0], [8.0], [9.0], [10.0]]
    >>> strategy = COBRAS(X, 2, random_state=0)
    >>> links = ask(strategy, TruthOracle([0, 0, 0, 1, 1, 1]), 4)
    >>> strategy.labels_
    array([0, 0, 0, 1, 1, 1])
    """

    def __init__(self, X: Any, n_clusters: int, *, known: Constraints | None = None, random_state: Any = None) -> None:
        self._splits: dict[tuple[bytes, int], list[SuperInstance]] = {}
        super().__init__(X, n_clusters, known=known, random_state=random_state)

    @property
    def labels_(self) -> Ints:
        """The cluster of every row by the answers so far, numbered by their first rows."""
        return self._merge() if self._merged is None else self._merged.copy()

    @property
    def super_instances(self) -> list[list[int]]:
        """The rows of every super-instance."""
        return [part.rows.tolist() for part in self._parts]

    def _begin(self) -> None:
        super()._begin()
        rows = np.arange(self._n_rows)
        self._parts = [SuperInstance(rows, self._find_medoid(rows))]
        self._merged: Ints | None = None
        self._advance()

    def _conclude_from(self, answer: Answer) -> None:
        self._advance()

    def _choose(self) -> Question | None:
        return self._next

    def _advance(self) -> None:
        """Go on with the algorithm until it needs an answer.

        This is done after every answer, hence the state does not depend on when questions are read.
        """
        while (question := self._closest_undecided()) is None:
            if len(self._parts) > 1:
                self._merged = self._merge()
            place = self._largest_to_split()
            if place is None:
                break
            question, n_parts = self._find_split_level(self._parts[place])
            if question is not None:
                break
            self._parts[place : place + 1] = self._split(self._parts[place].rows, n_parts)
        self._next = question

    def _closest_undecided(self) -> Question | None:
        """Return the question about the two closest super-instances of clusters that may or may not be together."""
        medoids = [part.medoid for part in self._parts]
        roots, cluster = np.unique([self._knowledge.root(row) for row in medoids], return_inverse=True)
        is_open = np.zeros((len(roots), len(roots)), dtype=np.bool_)
        for i, a in enumerate(roots.tolist()):
            for j, b in enumerate(roots[:i].tolist()):
                is_open[i, j] = is_open[j, i] = not self._knowledge.is_settled(a, b)
        if not is_open.any():
            return None
        distances = np.where(is_open[cluster][:, cluster], pairwise_distances(self.X[medoids]), np.inf)
        a, b = divmod(int(np.argmin(distances)), len(medoids))
        return Question(medoids[a], medoids[b])

    def _merge(self) -> Ints:
        """Return the clusters of all rows: the super-instances that belong together."""
        labels = np.empty(self._n_rows, dtype=np.int64)
        for part in self._parts:
            labels[part.rows] = self._knowledge.root(part.medoid)
        return number_by_first(labels, self._n_rows)[0]

    def _largest_to_split(self) -> int | None:
        """Return the place of the largest super-instance that may be split; None if there is none."""
        parts = self._parts
        order = sorted(range(len(parts)), key=lambda place: (-len(parts[place].rows), parts[place].rows[0]))
        return next((place for place in order if self._may_be_split(parts[place].rows)), None)

    def _may_be_split(self, rows: Indices) -> bool:
        """Return whether rows are not known to be together, and not all equal."""
        first = self._knowledge.root(int(rows[0]))
        if all(self._knowledge.root(row) == first for row in rows.tolist()):
            return False
        return len(self._split(rows, 2)) > 1

    def _find_split_level(self, part: SuperInstance) -> tuple[Question | None, int]:
        """Return the next question that is needed to know how finely to split, and the number of parts so far."""
        level = 0
        random = np.random.RandomState(self._seed)
        while level < MAX_LEVEL and len(halves := self._split(part.rows, 2)) > 1:
            pair = Question(halves[0].medoid, halves[1].medoid)
            if not self._knowledge.is_settled(*pair):
                return pair, 0
            if self._knowledge.relation(*pair) is not False:
                break
            level += 1
            part = halves[random.randint(2)]
        return None, 2 ** max(level, 1)

    def _split(self, rows: Indices, n_parts: int) -> list[SuperInstance]:
        """Split rows by k-means; equal rows stay together."""
        n_parts = min(n_parts, len(rows))
        key = (rows.tobytes(), n_parts)
        if key not in self._splits:
            labels = split_by_kmeans(self.X[rows], n_parts, self._seed)
            groups = [rows[labels == label] for label in np.unique(labels)]
            self._splits[key] = [SuperInstance(group, self._find_medoid(group)) for group in groups]
        return self._splits[key]

    def _find_medoid(self, rows: Indices) -> int:
        """Return the row that is nearest to the mean of some rows."""
        table = self.X[rows]
        mean: Floats = np.asarray(table.mean(axis=0), dtype=self.X.dtype).reshape(1, -1)
        return int(rows[pairwise_distances_argmin(mean, table)[0]])


def split_by_kmeans(X: Any, n_parts: int, seed: int) -> Array:
    """Return the parts of a table by k-means; fewer than asked for if there are fewer different rows."""
    if n_parts == 1:
        return np.zeros(X.shape[0], dtype=np.int64)
    with warnings.catch_warnings():
        # That there are fewer different rows than parts is expected.
        warnings.simplefilter("ignore")
        labels: Array = KMeans(n_parts, n_init=N_STARTS, random_state=seed).fit(X).labels_
    return labels
