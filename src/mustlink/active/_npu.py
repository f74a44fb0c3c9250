"""NPU: ask about the row of the largest uncertainty per question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier

from mustlink._types import Floats
from mustlink.active._advice import check_clusterer, fit_quietly, seeded_copy
from mustlink.active._placing import PlacingStrategy
from mustlink.active._strategy import Answer, is_integer
from mustlink.boosting import (
    BoostBaseClustering,
    BoostCluster,
    BoostedConstrainedKMeans,
    CoAssociation,
    RobustBoostCluster,
)
from mustlink.constraints import Constraints

__all__ = ["NPU"]

# Clusterers whose fits are slower, and whose co-association is the similarity of rows.
BOOSTED = (BoostBaseClustering, BoostCluster, BoostedConstrainedKMeans, RobustBoostCluster)


class Growth(NamedTuple):
    """With every="auto", the rows are clustered again after a fraction of the assigned rows more, within bounds."""

    fraction: float
    min_step: int
    max_step: int


# Chosen by experiment on five data sets.
GROWTH, GROWTH_BOOSTED = Growth(0.25, 4, 24), Growth(0.5, 8, 64)


class NPU(PlacingStrategy):
    """Assign the row of the largest uncertainty per question (Xiong, Azimi and Fern 2014).

    The rows are clustered with the links known so far. The clusters determine similarities of rows, and these the
    probability that a row belongs to each component. The next row is the one with the largest entropy over the
    components, divided by the expected number of questions if they are asked in the order of probabilities.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data. Features are not scaled.
    n_clusters : int
        The number of clusters.
    similarity : {"auto", "forest", "distance"}, default="auto"
        "forest" trains a random forest to predict the clusters, as in the paper: the similarity of two rows is the
        fraction of trees in which they are in the same leaf. "auto" does so unless the clusterer is one of the
        boosting methods: their co-association is then the similarity. "distance" uses the distances to the means of
        the components, which needs no clustering and is much faster.
    n_trees : int, default=50
        The number of trees.
    every : "auto" or int, default="auto"
        Cluster again after so many further rows are assigned; 1 is as in the paper. "auto" does so when the assigned
        rows have grown by a quarter, at least four and at most 24: 12 to 14 times in 200 questions on tables of a few
        hundred rows. With a boosting method it is by half, 8 to 64: seven or eight times.
    clusterer : estimator, default=None
        A clusterer of mustlink for the rows; None is :class:`~mustlink.PCKMeans`. If its `n_clusters` is None, the
        number of clusters is set. With ``RobustBoostCluster(warm_start=True)`` every clustering starts from the one
        before, which is faster. If :meth:`undo` takes back a clustering, all are run again; if many answers are told at
        once, all that were due are run, and not only the last.
    known : Constraints, default=None
        Links that are known in advance and not asked about. Their components that are apart from each other are the
        first components.
    random_state : int, RandomState or None, default=None
        Chooses the first row, and seeds the trees and the clusterer.

    See Also
    --------
    Strategy : The methods and attributes of all strategies.
    MinMax : Clusters nothing, and is faster on large tables.

    Notes
    -----
    The probability of a component is proportional to the mean similarity to its rows, and uniform if all are zero. For
    "distance" it is proportional to ``exp(-d**2 / (2 * s**2))``, where `d` is the distance to the mean of the component
    and ``s**2`` the mean over all rows of the smallest ``d**2``.

    The paper starts with a single component, to which every row belongs with certainty; here the farthest row is next
    until there are two. The paper finds the number of clusters by asking; here, as in the other strategies, a row that
    is apart from all but one of `n_clusters` components belongs to the last one without a question. Answers since the
    last clustering count too, as the components grow.

    References
    ----------
    S. Xiong, J. Azimi and X. Z. Fern, "Active learning of constraints for semi-supervised clustering", IEEE
    Transactions on Knowledge and Data Engineering 26(1), 2014.

    Examples
    --------
    >>> from mustlink.active import NPU, TruthOracle, ask
    >>> X = [[0.0], [1.0], [5.4], [8.0], [9.0], [12.0]]
    >>> strategy = NPU(X, 2, similarity="distance", random_state=0)
    >>> ask(strategy, TruthOracle([0, 0, 0, 1, 1, 1]), 2)
    Constraints(1 must-link, 2 cannot-links)
    >>> strategy.answers[-1].a, strategy.deduced
    (2, [Question(a=2, b=0)])
    """

    def __init__(
        self,
        X: Any,
        n_clusters: int,
        *,
        similarity: Literal["auto", "forest", "distance"] = "auto",
        n_trees: int = 50,
        every: int | Literal["auto"] = "auto",
        clusterer: Any = None,
        known: Constraints | None = None,
        random_state: Any = None,
    ) -> None:
        if similarity not in ("auto", "forest", "distance"):
            raise ValueError(f'similarity must be "auto", "forest" or "distance"; got {similarity!r}.')
        if not is_integer(n_trees, 1):
            raise ValueError(f"n_trees must be an integer of at least 1; got {n_trees!r}.")
        if every != "auto" and not is_integer(every, 1):
            raise ValueError(f'every must be "auto" or an integer of at least 1; got {every!r}.')
        check_clusterer(clusterer)
        self.similarity = similarity
        self.n_trees = n_trees
        self.every = every
        self.clusterer = clusterer
        self._uses_coassociation = similarity == "auto" and isinstance(clusterer, BOOSTED)
        self._continues = isinstance(clusterer, RobustBoostCluster) and clusterer.warm_start
        # The last clustering, its similarities, which of those that were due it depends on, and all of their answers.
        self._model: Any = None
        self._kernel: CoAssociation | None = None
        self._clustered: list[tuple[int, int]] = []
        self._answers_clustered: list[Answer] = []
        super().__init__(X, n_clusters, known=known, random_state=random_state)

    def _begin(self) -> None:
        super()._begin()
        # The numbers of answers and deduced pairs when a clustering was due, and of rows assigned at the last time.
        self._due: list[tuple[int, int]] = []
        self._n_at_due = 0
        self._note_if_due()

    def _conclude_from(self, answer: Answer) -> None:
        super()._conclude_from(answer)
        self._note_if_due()

    def _note_if_due(self) -> None:
        """Decide after which answers the rows are clustered, so that it does not depend on when that is done."""
        if len(self._firsts) < 2:
            return
        n_assigned = int(self._assigned.sum())
        if not self._n_at_due or self._is_due(self._n_at_due, n_assigned):
            self._due.append((len(self.answers), len(self.deduced)))
            self._n_at_due = n_assigned

    def _is_due(self, n_before: int, n_assigned: int) -> bool:
        """Return whether enough rows were assigned since the last clustering."""
        if self.every == "auto":
            growth = GROWTH_BOOSTED if self._uses_coassociation else GROWTH
            step = min(max(growth.fraction * n_before, growth.min_step), growth.max_step)
            return n_assigned >= n_before + step
        return n_assigned // self.every != n_before // self.every

    def _next_row(self) -> int | None:
        if len(self._firsts) < 2:
            return self._farthest()
        return self._first_undecided(normalized_uncertainty(self._probabilities()))

    def _order(self, row: int, firsts: Sequence[int]) -> list[int]:
        if len(self._firsts) < 2:
            return list(firsts)
        probability = dict(zip(self._firsts, self._probabilities([row])[0].tolist(), strict=True))
        return self._sort(firsts, [-probability[first] for first in firsts])

    def _probabilities(self, rows: Sequence[int] | None = None) -> Floats:
        """Return the probability of each component, for all rows or some."""
        members = [self._knowledge.members(first) for first in self._firsts]
        if self.similarity == "distance":
            return self._by_distance(members, rows)
        kernel = self._similarities()
        codes = kernel.codes if rows is None else kernel.codes[rows]
        return to_probabilities(kernel.mean_similarity(members, codes))

    def _by_distance(self, members: list[list[int]], rows: Sequence[int] | None) -> Floats:
        """Return probabilities that decrease with the distance to the mean of a component."""
        squared = np.column_stack([self._rows.distances_to(self._rows.mean(group)) for group in members])
        width = max(float(squared.min(axis=1).mean()), np.finfo(float).tiny)
        apart = squared if rows is None else squared[rows]
        apart = (apart - apart.min(axis=1, keepdims=True)) / (2 * width)
        return to_probabilities(np.exp(-np.minimum(apart, 700.0)))

    def _similarities(self) -> CoAssociation:
        """Return the similarities of rows by the last clustering that is due."""
        due = self._due if self._continues else self._due[-1:]
        if not self._is_clustered(due) or len(self._clustered) < len(due):
            # An interrupt must not leave the similarities of earlier answers.
            self._kernel = None
            self._cluster(due)
        if self._kernel is None:
            self._kernel = self._to_kernel(self._model)
        return self._kernel

    def _is_clustered(self, due: list[tuple[int, int]]) -> bool:
        """Return whether the clusterings so far are the first of those that are due, with the same answers."""
        n_clustered, n_answers = len(self._clustered), len(self._answers_clustered)
        return self._clustered == due[:n_clustered] and self._answers_clustered == self.answers[:n_answers]

    def _cluster(self, due: list[tuple[int, int]]) -> None:
        """Run the clusterings that are due; those of an earlier start that still hold are not run again."""
        n_kept = len(self._clustered) if self._continues and self._is_clustered(due) else 0
        for place in range(n_kept, len(due)):
            if not place:
                self._model = seeded_copy(self.clusterer, self.n_clusters, self._seed)
            # After an interrupt in the middle all fits are repeated.
            self._clustered, self._answers_clustered = [], []
            fit_quietly(self._model, self.X, self._links_after(*due[place]))
            self._clustered, self._answers_clustered = due[: place + 1], self.answers[: due[place][0]]

    def _to_kernel(self, model: Any) -> CoAssociation:
        """Return the co-association of a fitted clusterer, or that of the leaves of trees which predict its labels."""
        if self._uses_coassociation:
            kernel: CoAssociation = model.coassociation_
            return kernel
        forest = RandomForestClassifier(self.n_trees, random_state=self._seed)
        X = in_single_range(self.X)
        return CoAssociation(forest.fit(X, model.labels_).apply(X))


def in_single_range(X: Any) -> Any:
    """Return a table with numbers of order one in every column, for trees, which use single precision.

    The columns are multiplied by powers of two, so that the trees do not change.
    """
    largest = np.asarray(abs(X).max(axis=0).toarray() if sparse.issparse(X) else np.abs(X).max(axis=0)).ravel()
    factor = np.ldexp(1.0, -np.frexp(largest.astype(np.float64))[1])
    return X @ sparse.diags_array(factor) if sparse.issparse(X) else X * factor


def to_probabilities(similarity: Floats) -> Floats:
    """Normalize similarities to probabilities, uniform ones if all are zero."""
    total = similarity.sum(axis=1, keepdims=True)
    return np.where(total > 0, similarity / np.where(total > 0, total, 1.0), 1.0 / similarity.shape[1])


def normalized_uncertainty(probability: Floats) -> Floats:
    """Return the entropy of every row over the components, divided by the expected number of questions."""
    ordered = -np.sort(-probability, axis=1)
    logs = np.log2(ordered, out=np.zeros_like(ordered), where=ordered > 0)
    n_questions = ordered @ np.arange(1, ordered.shape[1] + 1)
    return np.maximum(-(ordered * logs).sum(axis=1), 0.0) / n_questions
