"""Agglomerative clustering under must-links and cannot-links."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from mustlink._sklearn_compat import Interval, StrOptions, fit_context
from mustlink._warnings import warn_caller
from mustlink.base import ConstrainedClusterMixin, check_enough_rows
from mustlink.constraints import AlignedConstraints, Closure, Constraints
from mustlink.errors import InfeasibleError, InfeasibleWarning, TooLargeError
from mustlink.hierarchy._dendrogram_kernels import as_linkage, cut
from mustlink.hierarchy._distances import condensed_distances
from mustlink.hierarchy._merging import Apart, Merges, as_graph, merge_all, quiet_colours

MOST_GIGABYTES = 4.0
"""The distances of about 31,600 rows."""

CONFLICTS_NAMED = 3


class ConstrainedLinkage(ConstrainedClusterMixin, BaseEstimator):
    """Agglomerative clustering that keeps every link (Davidson and Ravi 2005; Klein, Kamvar and Manning 2002).

    Rows that must-links join are joined first. Then the two closest clusters that no cannot-link keeps apart are
    joined, again and again. The whole history is a dendrogram in scipy's form.

    Parameters
    ----------
    n_clusters : int or None, default=2
        The number of clusters; None if `distance_threshold` decides.
    linkage : {"single", "complete", "average", "ward"}, default="average"
        The distance of two clusters: that of their nearest rows, of their farthest rows, the mean over all pairs of
        rows, or by how much joining them raises the sum of squares.
    distance_threshold : float or None, default=None
        Clusters at this distance or farther are not joined; infinity joins all that may be. Needs
        ``n_clusters=None``.
    propagation : {"klein"} or None, default=None
        "klein" takes must-linked rows for one and the same place before anything is joined, and replaces every
        distance by the shortest path by way of such places, so that the neighbours of must-linked rows come closer
        as well.
    metric : str, default="euclidean"
        Any metric of :func:`sklearn.metrics.pairwise_distances` by its name, or "precomputed" for a table that is a
        square matrix of distances.
    look_ahead : bool, default=True
        Whether to pass over merges after which cannot-links would keep more than `n_clusters` clusters apart for
        good. Without, the merging may come to a dead end.
    on_infeasible : {"raise", "relax"}, default="raise"
        What to do if not all links can be kept, or no way to do so is found: raise :class:`InfeasibleError`, or keep
        the must-links, break as few cannot-links as can be found, and issue an :class:`InfeasibleWarning`.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every row; clusters are numbered by their first rows.
    n_clusters_ : int
        The number of clusters found.
    linkage_ : ndarray of shape (n_samples - 1, 4)
        The dendrogram, as of :func:`scipy.cluster.hierarchy.linkage`. See the notes.
    n_forced_ : int
        How many merges at the end of `linkage_` are there only to complete it.
    violations_ : Constraints
        The links that the result breaks; none unless ``on_infeasible="relax"``.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if the table had any.

    Raises
    ------
    InfeasibleError
        With ``on_infeasible="raise"``, if the links contradict each other, cannot be kept by so few clusters, or the
        merging comes to a dead end.
    TooLargeError
        If the distances between all rows would need more than 4 GB.

    See Also
    --------
    SeededSingleLink : Single link around seeds, without distances between all rows.
    PartitionThenLink : Links the parts of a k-means, for many rows.

    Notes
    -----
    Merges of must-links stand at height 0, whatever the distance: what is known costs nothing. After that heights
    never fall, since a union is no nearer to a third cluster than the nearer of its two parts was, and a cluster that
    one part may not be joined with is barred for the union too. What may never be joined is joined all the same at
    the end, for the matrix to be complete: the clusters with the least weight of cannot-links between them first, from
    twice the last height upwards.

    The greedy rule alone often ends with more clusters than wanted, each pair of them held apart by some cannot-link,
    though fewer are possible. With `look_ahead` a colouring of the cannot-link graph with `n_clusters` colours is
    carried along, and two clusters are joined only if it can be changed to give them one colour. For two clusters no
    merge is passed over without need. For more the question is hard, and the search for an answer has a limit, beyond
    which a merge is passed over.

    Klein, Kamvar and Manning set the distance of cannot-linked rows to a large number, which complete linkage then
    spreads; here cannot-links are kept by any linkage. One wrong must-link is a shortcut that ruins the distances, with
    "klein" more than without.

    Among pairs at the same distance the one whose rows come first is joined. All n (n - 1) / 2 distances are held.

    References
    ----------
    I. Davidson and S. S. Ravi, "Agglomerative hierarchical clustering with constraints: theoretical and empirical
    results", PKDD 2005. D. Klein, S. D. Kamvar and C. D. Manning, "From instance-level constraints to space-level
    constraints: making the most of prior knowledge in data clustering", ICML 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import ConstrainedLinkage, Constraints
    >>> X = np.array([[0.0], [1.0], [2.0], [8.0], [9.0], [10.0]])
    >>> links = Constraints(must_link=[(2, 3)], cannot_link=[(1, 2)])
    >>> model = ConstrainedLinkage(n_clusters=2).fit(X, constraints=links)
    >>> model.labels_
    array([0, 0, 1, 1, 1, 1])
    >>> model.linkage_[:, 2]
    array([0. , 1. , 1. , 4.5, 9. ])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
        "linkage": [StrOptions({"single", "complete", "average", "ward"})],
        "distance_threshold": [Interval(Real, 0, None, closed="both"), None],
        "propagation": [StrOptions({"klein"}), None],
        "metric": [str],
        "look_ahead": ["boolean"],
        "on_infeasible": [StrOptions({"raise", "relax"})],
    }

    violations_: Constraints

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        linkage: str = "average",
        distance_threshold: float | None = None,
        propagation: str | None = None,
        metric: str = "euclidean",
        look_ahead: bool = True,
        on_infeasible: str = "raise",
    ) -> None:
        self.n_clusters = n_clusters
        self.linkage = linkage
        self.distance_threshold = distance_threshold
        self.propagation = propagation
        self.metric = metric
        self.look_ahead = look_ahead
        self.on_infeasible = on_infeasible

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: Any, y: ArrayLike | None = None, *, constraints: Constraints | AlignedConstraints | None = None
    ) -> Self:
        """Build the dendrogram and cut it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
            The table, or the distances with ``metric="precomputed"``.
        y : array-like of shape (n_samples,), default=None
            Partial labels, -1 for unknown, as one more source of constraints. Labels for every row are ignored.
        constraints : Constraints or AlignedConstraints, default=None
            What is known of pairs of rows.

        Returns
        -------
        self : object
            The fitted clusterer.
        """
        if (self.n_clusters is None) == (self.distance_threshold is None):
            raise ValueError(
                f"Of n_clusters={self.n_clusters} and distance_threshold={self.distance_threshold} exactly one must "
                "be None: either the number of clusters ends the merging, or the distance does."
            )
        X = validate_data(self, X, dtype=[np.float64, np.float32], ensure_min_samples=2)
        n_rows = len(X)
        _check_size(n_rows)
        check_enough_rows(n_rows, self.n_clusters)
        links = self._constraints_for(constraints, y, n_rows)
        return self._link(lambda: condensed_distances(X, self.metric), links, n_rows)

    def _link(self, distances: Callable[[], NDArray[np.float64]], links: Constraints, n_rows: int) -> Self:
        """Build the dendrogram and cut it; the distances are asked for once it is clear that they are needed."""
        closure = links.closure(n_rows)
        apart = as_graph(links, closure)
        if self.on_infeasible == "raise":
            refuse_contradictions(links)
        care, apart, colours = self._plan(links, closure, apart)
        merges = merge_all(
            distances(),
            closure,
            apart,
            linkage=self.linkage,
            through_links=self.propagation == "klein",
            n_clusters=care,
            colours=colours,
        )
        self._keep(merges, links, n_rows)
        return self

    def _plan(self, links: Constraints, closure: Closure, apart: Apart) -> tuple[int, Apart, NDArray[np.int64]]:
        """Return for how many clusters to care, the cannot-links to keep, and a colouring that shows they can be."""
        uncoloured = np.zeros(len(apart.member), dtype=np.int64)
        if self.n_clusters is None:
            return 0, apart, uncoloured
        wanted = min(self.n_clusters, closure.n_components)
        if wanted < self.n_clusters and self.on_infeasible == "raise":
            raise InfeasibleError(links.feasible(self.n_clusters, len(closure.component)).reason)
        if not self.look_ahead or not len(apart.edges):
            return 0, apart, uncoloured
        sound = links if not closure.self_loops.size else Constraints(links.must_link, _between(links, closure))
        answer = sound.feasible(wanted, len(closure.component))
        if answer.colors is not None:
            return wanted, apart, answer.colors[apart.member].astype(np.int64)
        if self.on_infeasible == "raise":
            raise InfeasibleError(answer.reason)
        colours = quiet_colours(apart, wanted)
        kept = apart.without(colours[apart.edges[:, 0]] == colours[apart.edges[:, 1]])
        return wanted, kept, colours[np.searchsorted(apart.member, kept.member)]

    def _keep(self, merges: Merges, links: Constraints, n_rows: int) -> None:
        """Cut the dendrogram and keep the result, or say that the links do not allow it."""
        n_made = n_rows - 1 - merges.n_forced
        if self.n_clusters is not None:
            n_taken = max(n_rows - self.n_clusters, merges.n_given)
        else:
            assert self.distance_threshold is not None
            near = merges.heights[merges.n_given : n_made] < self.distance_threshold
            n_taken = merges.n_given + int(np.count_nonzero(near))
        if n_taken > n_made and self.on_infeasible == "raise":
            raise InfeasibleError(
                f"The merging came to a dead end at {n_rows - n_made} clusters, each pair of them held apart by a "
                f"cannot-link, and {self.n_clusters} were asked for. Ask for {n_rows - n_made} or more, or pass "
                'look_ahead=True or on_infeasible="relax".'
            )
        self.labels_ = cut(merges.pairs[:n_taken], n_rows)
        self.n_clusters_ = n_rows - n_taken
        self.linkage_ = as_linkage(merges.pairs, merges.heights, n_rows)
        self.n_forced_ = merges.n_forced
        self.violations_ = links.violations(self.labels_)
        if len(self.violations_) or (self.n_clusters is not None and self.n_clusters_ != self.n_clusters):
            warn_caller(
                f"Not all that was asked for could be had: there are {self.n_clusters_} clusters, and "
                f"{len(self.violations_)} of {len(links)} links are broken; violations_ lists them.",
                InfeasibleWarning,
            )


def _check_size(n_rows: int) -> None:
    """Refuse tables whose distances would not fit into memory."""
    gigabytes = n_rows * (n_rows - 1) / 2 * 8 / 1e9
    if gigabytes > MOST_GIGABYTES:
        raise TooLargeError(
            f"ConstrainedLinkage holds the distances between all rows: {n_rows:,} rows have "
            f"{n_rows * (n_rows - 1) // 2:,} of them, {gigabytes:.1f} GB, and at most {MOST_GIGABYTES:g} GB are taken. "
            "Cluster a sample of the rows, or take PartitionThenLink or SeededSingleLink, which hold no such distances."
        )


def refuse_contradictions(links: Constraints) -> None:
    """Raise InfeasibleError for links that contradict each other."""
    conflicts = links.conflicts()
    if conflicts:
        named = " ".join(str(conflict) for conflict in conflicts[:CONFLICTS_NAMED])
        rest = len(conflicts) - CONFLICTS_NAMED
        raise InfeasibleError(
            f"{named}{f' So do {rest} more pairs.' if rest > 0 else ''} Drop a link of each chain, or pass "
            'on_infeasible="relax".',
            [conflict.cannot_link for conflict in conflicts],
        )


def _between(links: Constraints, closure: Closure) -> NDArray[np.int64]:
    """Return the cannot-links that no must-links contradict."""
    a, b = closure.component[links.cannot_link].T
    return links.cannot_link[a != b]
