"""NPU: ask about the row that is least certain for the questions it takes."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier

from mustlink._estimators import clone_with
from mustlink.active._placing import PlacingStrategy
from mustlink.active._strategy import is_whole
from mustlink.constraints import Constraints

__all__ = ["NPU"]

Floats = NDArray[np.float64]


class NPU(PlacingStrategy):
    """Place the row of greatest uncertainty per question (Xiong, Azimi and Fern 2014).

    The rows are clustered with the links known so far. From the clusters follows how alike two rows are, and from that
    how likely a row belongs to each neighbourhood. The next row is the one with the greatest entropy over the
    neighbourhoods, divided by the number of questions it is expected to take when they are asked about in the order of
    their probabilities.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The table. Nothing is standardised.
    n_clusters : int
        The number of groups.
    similarity : {"forest", "distance"}, default="forest"
        "forest" trains a random forest to tell the clusters apart, as in the paper: two rows are as alike as the share
        of trees in which they end in the same leaf. "distance" takes the distances to the means of the neighbourhoods
        instead, which needs no clustering and is far quicker.
    n_trees : int, default=50
        The number of trees.
    every : int, default=1
        Cluster anew when so many further rows have a place; 1, as in the paper, is best and slowest.
    clusterer : estimator, default=None
        What clusters the rows: any clusterer of mustlink. If None, :class:`~mustlink.PCKMeans`.
    known : Constraints, default=None
        What is known beforehand. It is not asked again: its groups that are apart from each other are the first
        neighbourhoods.
    random_state : int, RandomState or None, default=None
        Draws the first row, the trees and the start of the clusterer.

    Attributes
    ----------
    answers : list of Answer
        All answers so far, in order.
    contradictions : list of Answer
        Those that contradict what follows from `known` and from earlier answers.
    deduced : list of Question
        Pairs that must belong together because there are no more than `n_clusters` groups.

    See Also
    --------
    MinMax : Far quicker, with more questions on most tables.

    Notes
    -----
    A row belongs to a neighbourhood with a probability proportional to its mean similarity to the rows there; a row
    that is like none belongs to all with the same one. For "distance" it is proportional to
    ``exp(-d**2 / (2 * s**2))``, where `d` is the distance to the mean of the neighbourhood and ``s**2`` the mean over
    all rows of the least ``d**2``. The similarities of all pairs are never built: only the leaf of every row in every
    tree is kept, and per tree the number of rows of each neighbourhood in each leaf.

    The paper begins with a single neighbourhood, to which every row belongs with certainty; here the farthest row is
    taken until there are two. The paper finds the number of groups by asking; here, as in the other strategies, a row
    that is apart from all but one of `n_clusters` neighbourhoods belongs to that one without a question.

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
        similarity: Literal["forest", "distance"] = "forest",
        n_trees: int = 50,
        every: int = 1,
        clusterer: Any = None,
        known: Constraints | None = None,
        random_state: Any = None,
    ) -> None:
        if similarity not in ("forest", "distance"):
            raise ValueError(f'similarity must be "forest" or "distance"; got {similarity!r}.')
        for name, value in (("n_trees", n_trees), ("every", every)):
            if not is_whole(value, 1):
                raise ValueError(f"{name} is {value!r}; it must be a whole number of at least 1.")
        self.similarity = similarity
        self.n_trees = n_trees
        self.every = every
        self.clusterer = clusterer
        super().__init__(X, n_clusters, known=known, random_state=random_state)

    def _begin(self) -> None:
        super()._begin()
        self._leaves: NDArray[np.intp] | None = None
        self._grown_at = -1

    def _next_row(self) -> int | None:
        if len(self._founders) < 2:
            return self._farthest()
        worth = normalised_uncertainty(self._probabilities())
        worth[self._placed] = -1.0
        while worth[row := int(np.argmax(worth))] >= 0:
            if self._open(row):
                return row
            worth[row] = -1.0
        return None

    def _in_order(self, row: int, founders: Sequence[int]) -> list[int]:
        if len(self._founders) < 2:
            return list(founders)
        # The same for every question about the row, which is not placed in between.
        likely = dict(zip(self._founders, self._probabilities([row])[0].tolist(), strict=True))
        return self._ordered(founders, [-likely[founder] for founder in founders])

    def _probabilities(self, rows: Sequence[int] | None = None) -> Floats:
        """Return how likely all rows, or some, belong to each neighbourhood, in the order of their founding."""
        members = [self._knowledge.members(founder) for founder in self._founders]
        if self.similarity == "distance":
            return self._by_distance(members, rows)
        leaves = self._forest_leaves()
        return shares_of(leaf_similarity(leaves, members, leaves if rows is None else leaves[rows]))

    def _by_distance(self, members: list[list[int]], rows: Sequence[int] | None) -> Floats:
        """Return probabilities that fall with the distance to the mean of a neighbourhood."""
        squared = np.column_stack([self._rows.distances_to(self._rows.centre(group)) for group in members])
        width = max(float(squared.min(axis=1).mean()), np.finfo(float).tiny)
        apart = squared if rows is None else squared[rows]
        apart = (apart - apart.min(axis=1, keepdims=True)) / (2 * width)
        return shares_of(np.exp(-np.minimum(apart, 700.0)))

    def _forest_leaves(self) -> NDArray[np.intp]:
        """Return the leaf of every row in every tree, of a forest grown anew when enough rows have found a place."""
        stage = int(self._placed.sum()) // self.every
        if self._leaves is None or stage != self._grown_at:
            self._grown_at = stage
            labels = self._clustered()
            forest = RandomForestClassifier(self.n_trees, random_state=self._seed)
            leaves = forest.fit(self.X, labels).apply(self.X)
            # Numbered from 0 per tree without gaps, for counting.
            self._leaves = np.column_stack([np.unique(tree, return_inverse=True)[1] for tree in leaves.T])
        return self._leaves

    def _clustered(self) -> NDArray[Any]:
        """Cluster the rows with what is known so far."""
        from mustlink.kmeans import PCKMeans

        clusterer = clone_with(PCKMeans() if self.clusterer is None else self.clusterer, self.n_clusters, self._seed)
        with warnings.catch_warnings():
            # These clusters are looked at by nobody, and with few links many have something to remark.
            warnings.simplefilter("ignore")
            labels: NDArray[Any] = clusterer.fit(self.X, constraints=self.constraints).labels_
        return labels


def leaf_similarity(leaves: NDArray[np.intp], members: Sequence[Sequence[int]], asked: NDArray[np.intp]) -> Floats:
    """Return the mean similarity of rows, given by their leaves, to the rows of each neighbourhood."""
    n_trees, n_groups = leaves.shape[1], len(members)
    # Leaves of all trees in one numbering, so that they are counted in one go.
    ends = np.cumsum(leaves.max(axis=0) + 1)
    begins = np.concatenate([[0], ends[:-1]])
    rows = np.concatenate([np.asarray(group, dtype=np.intp) for group in members])
    sizes = np.array([len(group) for group in members])
    group = np.repeat(np.arange(n_groups), sizes)
    weight = np.repeat(1.0 / (sizes * n_trees), sizes * n_trees)
    places = (leaves[rows] + begins) * n_groups + group[:, None]
    counts = np.bincount(places.ravel(), weight, minlength=int(ends[-1]) * n_groups).reshape(-1, n_groups)
    found = np.zeros((len(asked), n_groups))
    for tree in range(n_trees):
        found += counts[asked[:, tree] + begins[tree]]
    return found


def shares_of(similarity: Floats) -> Floats:
    """Turn similarities into probabilities; a row that is like no neighbourhood belongs to all alike."""
    total = similarity.sum(axis=1, keepdims=True)
    return np.where(total > 0, similarity / np.where(total > 0, total, 1.0), 1.0 / similarity.shape[1])


def normalised_uncertainty(probability: Floats) -> Floats:
    """Return the entropy of every row over the neighbourhoods, divided by the questions it is expected to take."""
    ordered = -np.sort(-probability, axis=1)
    logs = np.log2(ordered, out=np.zeros_like(ordered), where=ordered > 0)
    n_questions = ordered @ np.arange(1, ordered.shape[1] + 1)
    return np.maximum(-(ordered * logs).sum(axis=1), 0.0) / n_questions
