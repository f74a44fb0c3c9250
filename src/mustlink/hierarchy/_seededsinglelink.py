"""Seeded single linkage: clusters grow from linked rows along a minimum spanning tree."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_array
from scipy.sparse.csgraph import breadth_first_order
from scipy.spatial.distance import squareform
from sklearn.base import BaseEstimator
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted

from mustlink._numbering import number_by_first
from mustlink._sklearn_compat import Interval, StrOptions
from mustlink._spelling import count
from mustlink._types import Array, Floats, Ints
from mustlink._warnings import warn_caller
from mustlink.base import ConstrainedClusterMixin, as_constraints, check_table, warn_of_fewer_clusters
from mustlink.constraints import AlignedConstraints, Closure, Constraints, known_rows
from mustlink.errors import UnmetConstraintsWarning
from mustlink.hierarchy._dendrogram_kernels import cut
from mustlink.hierarchy._distances import check_distances
from mustlink.hierarchy._merging import link_rows
from mustlink.hierarchy._spanning_tree import spanning_tree
from mustlink.hierarchy._spanning_tree_kernels import grow_seeds, tree_path_lengths


class SeededSingleLink(ConstrainedClusterMixin, BaseEstimator):
    """Single linkage from seeds, with instant updates (desJardins, MacGlashan and Ferraioli).

    Linked rows and rows with a label are seeds: those of one must-link component are one seed group, and different
    groups are kept apart. Every other row joins the group that it reaches by the smallest steps. All this follows from
    one minimum spanning tree, hence :meth:`update` applies new links without access to X. It is soft: it breaks links
    that contradict each other, and cannot-links for which `n_clusters` leaves no room.

    Parameters
    ----------
    n_clusters : int or None, default=None
        The maximum number of clusters. None makes every seed group a cluster. With a number, surplus groups are joined
        by single linkage, cannot-linked ones only if unavoidable. Fewer groups than this are not split. Without any
        seed the tree is cut at its longest edges, or not at all for None.
    metric : str, default="euclidean"
        The name of a metric of :func:`sklearn.metrics.pairwise_distances`, or "precomputed" if X is a square matrix of
        distances, which may be infinite.
    algorithm : {"auto", "kd_tree", "prim"}, default="auto"
        How the tree is computed for Euclidean distances of a dense X: by a k-d tree, or by going through all pairs of
        rows; "auto" is the k-d tree for up to 12 features. Otherwise it is always the second.
    verbose : int or bool, default=0
        Whether to show a progress bar while going through all pairs of rows.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every row; clusters are numbered by their first rows. -1 for a row at infinite distance from
        every seed.
    n_clusters_ : int
        The number of clusters.
    seeds_ : ndarray of shape (n_samples,)
        The seed group of every row, -1 for a row that is not a seed.
    tree_ : ndarray of shape (n_edges, 2)
        The edges of the tree, shortest first; n_samples - 1 of them unless distances are infinite.
    tree_lengths_ : ndarray of shape (n_edges,)
        Their lengths.
    violations_ : Constraints
        The violated links.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        The names of the features, if X has any.

    Warns
    -----
    UnmetConstraintsWarning
        If links contradict each other, or cannot-linked groups had to be joined to reach `n_clusters`.
    ConvergenceWarning
        If there are fewer clusters than `n_clusters`.

    See Also
    --------
    ConstrainedLinkage : Other linkages, and seeds are not kept apart without a cannot-link.

    Notes
    -----
    A row joins the group with the smallest longest step over all paths through rows that are not seeds. With ties the
    result depends on the order of the rows.

    That different groups are kept apart even without a cannot-link between them is the rule of the source. With few
    links between many groups, give `n_clusters`. The source has no such number: joining surplus groups by single
    linkage on paths along the tree is our addition.

    References
    ----------
    M. desJardins, J. MacGlashan and J. Ferraioli, "Interactive visual clustering for relational data", chapter 14 of
    S. Basu, I. Davidson and K. Wagstaff (editors), "Constrained Clustering", 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import Constraints, SeededSingleLink
    >>> X = np.array([[0.0], [1.0], [2.5], [5.0], [6.0], [9.0]])
    >>> model = SeededSingleLink().fit(X, constraints=Constraints(cannot_link=[(0, 4)]))
    >>> model.labels_
    array([0, 0, 0, 1, 1, 1])
    >>> model.update(seeds=[0, -1, -1, -1, 1, 2]).labels_
    array([0, 0, 0, 1, 1, 2])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
        "metric": [str],
        "algorithm": [StrOptions({"auto", "kd_tree", "prim"})],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        metric: str = "euclidean",
        algorithm: str = "auto",
        verbose: int | bool = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.algorithm = algorithm
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        tags.input_tags.sparse = self.metric != "precomputed"
        return tags

    def _fit(self, X: Any, links: Constraints, y: Array | None) -> None:
        self.tree_, self.tree_lengths_ = spanning_tree(X, self.metric, self.algorithm, self.verbose)
        self._grow(links, X.shape[0], y)

    def _check_rows(self, X: Any, *, reset: bool = True) -> Any:
        precomputed = self.metric == "precomputed"
        X = check_table(
            self,
            X,
            reset=reset,
            accept_sparse=False if precomputed else "csr",
            ensure_all_finite=not precomputed,
        )
        if precomputed:
            check_distances(X)
        return X

    def update(
        self,
        *,
        constraints: Constraints | AlignedConstraints | None = None,
        seeds: ArrayLike | None = None,
    ) -> Self:
        """Label the rows again from other links or seeds, along the tree of ``fit``.

        Parameters
        ----------
        constraints : Constraints or AlignedConstraints, default=None
            All links. They replace those given before; to keep them, pass ``earlier + new``.
        seeds : array-like of shape (n_samples,), default=None
            Labels of the rows, -1 for unknown, as an additional source of seeds. Unlike the `y` of ``fit``, they are
            used even if every row has one.

        Returns
        -------
        self : object
            With new `labels_`, `n_clusters_`, `seeds_` and `violations_`.
        """
        check_is_fitted(self)
        n_rows = len(self.labels_)
        links = as_constraints(constraints, n_rows)
        known: Array | None = None
        if seeds is not None:
            known = column_or_1d(seeds)
            if len(known) != n_rows:
                raise ValueError(
                    f"seeds must contain one label per row: there are {n_rows} rows and {len(known)} labels."
                )
            links = links.add(Constraints.from_labels(known), contradictions="keep")
        self._grow(links, n_rows, known)
        if self.n_clusters is not None:
            warn_of_fewer_clusters(self.labels_, self.n_clusters)
        return self

    def _grow(self, links: Constraints, n_rows: int, known: Array | None) -> None:
        """Label all rows, and warn of links that are broken."""
        self._label(links, n_rows, known)
        if len(self.violations_):
            too_many = f"The cannot-links need more than {count(self.n_clusters_, 'cluster')}."
            conflicts = links.conflicts()
            reason = conflicts[0] if len(conflicts) else too_many
            warn_caller(
                f"{reason} The clustering violates {len(self.violations_):,} of {count(len(links), 'link')}",
                UnmetConstraintsWarning,
                remedy="see_violations",
            )

    def _label(self, links: Constraints, n_rows: int, known: Array | None) -> None:
        """Label all rows from the seeds: the linked rows, and those with a known label."""
        closure = links.closure(n_rows)
        rows = links.constrained_rows()
        if known is not None:
            # A label of a single row makes no link, but a seed.
            rows = np.union1d(rows, known_rows(known, missing=-1)[0])
        seeds = np.full(n_rows, -1, dtype=np.int64)
        groups, seeds[rows] = np.unique(closure.component[rows], return_inverse=True)
        if len(groups):
            labels, between = grow_seeds(self.tree_, seeds, len(groups))
            reached = labels >= 0
            if self.n_clusters is not None and len(groups) > self.n_clusters:
                joined = self._join_groups(labels, between, groups, closure, self.n_clusters)
                labels[reached] = joined[labels[reached]]
            labels[reached] = number_by_first(labels[reached], len(groups))[0]
        else:
            n_edges = len(self.tree_) if self.n_clusters is None else n_rows - self.n_clusters
            labels = cut(self.tree_[:n_edges], n_rows)
        self.labels_, self.n_clusters_, self.seeds_ = labels, int(labels.max()) + 1, seeds
        self.violations_ = links.violations(labels)

    def _join_groups(self, labels: Ints, between: Ints, groups: Ints, closure: Closure, n_clusters: int) -> Ints:
        """Join seed groups by single linkage down to `n_clusters`; return the new number of each group."""
        n_groups = len(groups)
        edges, lengths = labels[self.tree_[between]].reshape(-1, 2), self.tree_lengths_[between]
        # Groups without a path between them are joined last, in a chain.
        _, heads = np.unique(cut(edges, n_groups), return_index=True)
        bridges = np.column_stack([heads[:-1], heads[1:]]).astype(np.int64)
        steps = np.concatenate([lengths, np.full(len(bridges), 2 * lengths.max(initial=0.0) + 1)])
        distances = _distances_along(np.concatenate([edges, bridges]), steps, n_groups)
        # Every component with a cannot-link is a seed group.
        apart = Constraints(cannot_link=np.searchsorted(groups, closure.cannot_link), cannot_link_weight=closure.weight)
        merges = link_rows(
            lambda: squareform(distances, checks=False), apart, n_groups, n_clusters, linkage="single", relax=True
        )
        return merges.labels(merges.count_down_to(n_clusters))


def _distances_along(tree: Ints, lengths: Floats, n_nodes: int) -> Floats:
    """Return the lengths of the paths between all nodes of a tree, whose single linkage is that of the tree."""
    a, b = tree.T
    # Ones, since a sparse array has no edges of length 0.
    graph = coo_array((np.ones(len(tree)), (a, b)), shape=(n_nodes, n_nodes)).tocsr()
    order, before = breadth_first_order(graph, 0, directed=False)
    last_step = np.zeros(n_nodes)
    last_step[np.where(before[b] == a, b, a)] = lengths
    distances: Floats = tree_path_lengths(order.astype(np.int64), before.astype(np.int64), last_step)
    return distances
