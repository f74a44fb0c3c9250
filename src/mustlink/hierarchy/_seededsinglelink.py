"""Seeded single link: groups grow from what is known, along one spanning tree."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import breadth_first_order
from scipy.spatial.distance import squareform
from sklearn.base import BaseEstimator
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted, validate_data

from mustlink._sklearn_compat import Interval, StrOptions, fit_context
from mustlink._warnings import warn_caller
from mustlink.base import ConstrainedClusterMixin, check_enough_rows, check_partial_labels
from mustlink.constraints import AlignedConstraints, Closure, Constraints, known_rows
from mustlink.errors import InfeasibleWarning, UnmetConstraintsWarning
from mustlink.hierarchy._constrainedlinkage import ConstrainedLinkage
from mustlink.hierarchy._dendrogram_kernels import cut
from mustlink.hierarchy._distances import check_distances
from mustlink.hierarchy._spanning_tree import spanning_tree
from mustlink.hierarchy._spanning_tree_kernels import all_ways, spread, without_rings


class SeededSingleLink(ConstrainedClusterMixin, BaseEstimator):
    """Single link around seeds, re-labelled in an instant when a seed is added (desJardins, MacGlashan and Ferraioli).

    Rows named in links or labels are seeds: those that must-links join are one group, and different groups stay
    apart. Every other row joins the group it can reach by the smallest steps. One minimum spanning tree of the rows
    holds all that is needed, so that :meth:`update` takes new links without looking at the table again.

    Parameters
    ----------
    n_clusters : int or None, default=None
        The most clusters there may be. None leaves every seed group a cluster of its own. With a number, groups beyond
        it are joined by single link, cannot-linked ones only where it cannot be helped. Fewer groups than this stay as
        few: no seed is invented. Without any seed the tree is cut at its longest edges, for None nowhere.
    metric : str, default="euclidean"
        Any metric of :func:`sklearn.metrics.pairwise_distances` by its name, or "precomputed" for a table that is a
        square matrix of distances, in which infinite ones are allowed.
    algorithm : {"auto", "kd_tree", "prim"}, default="auto"
        How the tree is found for Euclidean distances of a dense table: by a k-d tree, by going through all pairs of
        rows without keeping them, or by the first for up to 12 features. For anything else it is always the second.
    verbose : int or bool, default=0
        Whether to show a progress bar where all pairs of rows are gone through.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every row; clusters are numbered by their first rows. -1 for a row that is infinitely far from
        every seed.
    n_clusters_ : int
        The number of clusters.
    seeds_ : ndarray of shape (n_samples,)
        The seed group of every row, -1 for a free one.
    tree_ : ndarray of shape (n_edges, 2)
        The edges of the tree, shortest first; n_samples - 1 of them unless distances are infinite.
    tree_lengths_ : ndarray of shape (n_edges,)
        Their lengths.
    violations_ : Constraints
        The links that the result breaks.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if the table had any.

    Warns
    -----
    UnmetConstraintsWarning
        If links contradict each other, so that one seed group holds a cannot-link, or if cannot-linked groups had to
        be joined to come down to `n_clusters`.

    See Also
    --------
    ConstrainedLinkage : Other linkages; cannot-links without further meaning.

    Notes
    -----
    A row goes to the group for which the longest step of the way is shortest, over all ways through free rows. This
    is Prim's algorithm begun at all seeds at once, or Kruskal's on a minimum spanning tree with the seeds of each group
    taken for one node, which needs only the edges of the tree of the bare rows. Where distances are equal, several
    trees, and so several results, are right; which one is taken depends on the order of the rows.

    That different groups are apart even without a cannot-link between them is the source's rule, made for points that
    a person has moved to places on a screen. With links about few of many pairs, give `n_clusters`. How groups beyond
    it are joined is ours: by single link on the ways between them along the tree, as :class:`ConstrainedLinkage` does.

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

    violations_: Constraints

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

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: Any, y: ArrayLike | None = None, *, constraints: Constraints | AlignedConstraints | None = None
    ) -> Self:
        """Find the spanning tree, and let the seeds grow along it.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features) or array-like of shape (n_samples, n_samples)
            The table, or the distances with ``metric="precomputed"``.
        y : array-like of shape (n_samples,), default=None
            Partial labels, -1 for unknown, as one more source of seeds. Labels for every row are ignored.
        constraints : Constraints or AlignedConstraints, default=None
            What is known of pairs of rows.

        Returns
        -------
        self : object
            The fitted clusterer.
        """
        given = self.metric == "precomputed"
        X = validate_data(
            self,
            X,
            accept_sparse=False if given else "csr",
            dtype=[np.float64, np.float32],
            ensure_all_finite=not given,
        )
        if given:
            check_distances(X)
        check_enough_rows(X.shape[0], self.n_clusters)
        y = check_partial_labels(y, X.shape[0])
        links = self._constraints_for(constraints, y, X.shape[0])
        tree = spanning_tree(X, self.metric, self.algorithm, self.verbose)
        self.tree_, self.tree_lengths_ = tree.edges, tree.lengths
        self._grow(links, X.shape[0], y)
        return self

    def update(
        self,
        *,
        constraints: Constraints | AlignedConstraints | None = None,
        seeds: ArrayLike | None = None,
    ) -> Self:
        """Label the rows anew from other links or seeds, along the tree that ``fit`` has found.

        Parameters
        ----------
        constraints : Constraints or AlignedConstraints, default=None
            All that is known now of pairs of rows. It takes the place of what was given before; to keep that, pass
            ``earlier + new``.
        seeds : array-like of shape (n_samples,), default=None
            Labels of the rows, -1 for unknown, as one more source of seeds. Unlike the `y` of ``fit``, they count even
            if every row has one.

        Returns
        -------
        self : object
            With new `labels_`, `n_clusters_`, `seeds_` and `violations_`.
        """
        check_is_fitted(self, "tree_")
        n_rows = len(self.labels_)
        links = self._constraints_for(constraints, None, n_rows)
        known: NDArray[Any] | None = None
        if seeds is not None:
            known = column_or_1d(seeds)
            if len(known) != n_rows:
                raise ValueError(f"seeds must hold one label per row: there are {n_rows} rows, {len(known)} labels.")
            links = links + Constraints.from_labels(known)
        self._grow(links, n_rows, known)
        return self

    def _grow(self, links: Constraints, n_rows: int, known: NDArray[Any] | None) -> None:
        """Label all rows from the seeds: the rows in links, and those with a known label."""
        closure = links.closure(n_rows)
        rows = links.constrained_rows()
        if known is not None:
            # A label that only one row has makes no link, and is a seed all the same.
            rows = np.union1d(rows, known_rows(known, missing=-1)[0])
        seeds = np.full(n_rows, -1, dtype=np.int64)
        groups, seeds[rows] = np.unique(closure.component[rows], return_inverse=True)
        if len(groups):
            labels, between = spread(self.tree_, seeds, len(groups))
            if self.n_clusters is not None and len(groups) > self.n_clusters:
                joined = self._join_groups(labels, between, groups, closure, links)
                labels = np.where(labels < 0, -1, joined[labels])
        else:
            labels = cut(self.tree_[: self._n_uncut(n_rows)], n_rows)
        self.labels_ = _by_first_row(labels)
        self.n_clusters_ = int(self.labels_.max()) + 1
        self.seeds_ = seeds
        self.violations_ = links.violations(self.labels_)
        if len(self.violations_):
            warn_caller(_what_is_broken(links, self.violations_), UnmetConstraintsWarning)

    def _n_uncut(self, n_rows: int) -> int:
        """Return how many of the shortest edges are kept without seeds."""
        return len(self.tree_) if self.n_clusters is None else min(len(self.tree_), n_rows - self.n_clusters)

    def _join_groups(
        self,
        labels: NDArray[np.int64],
        between: NDArray[np.int64],
        groups: NDArray[np.intp],
        closure: Closure,
        links: Constraints,
    ) -> NDArray[np.int64]:
        """Join seed groups by single link down to the wanted number; return the new number of each group."""
        assert self.n_clusters is not None
        n_groups = len(groups)
        edges, lengths = labels[self.tree_[between]].reshape(-1, 2), self.tree_lengths_[between]
        taken = without_rings(edges, n_groups)
        edges, lengths = edges[taken], lengths[taken]
        # Groups that no way connects come last, in a chain.
        parts = cut(edges, n_groups)
        _, heads = np.unique(parts, return_index=True)
        bridges = np.column_stack([heads[:-1], heads[1:]]).astype(np.int64)
        away = 2 * lengths.max(initial=0.0) + 1
        steps = np.concatenate([lengths, np.full(len(bridges), away)])
        ways = _ways(np.concatenate([edges, bridges]), steps, n_groups)
        apart = np.searchsorted(groups, closure.component[links.cannot_link]).reshape(-1, 2)
        proper = apart[:, 0] != apart[:, 1]
        lifted = Constraints(cannot_link=apart[proper], cannot_link_weight=links.cannot_link_weight[proper])
        linkage = ConstrainedLinkage(self.n_clusters, linkage="single", on_infeasible="relax")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InfeasibleWarning)
            linkage._link(lambda: squareform(ways, checks=False), lifted, n_groups)
        return np.asarray(linkage.labels_, dtype=np.int64)


def _ways(tree: NDArray[np.int64], lengths: NDArray[np.float64], n_nodes: int) -> NDArray[np.float64]:
    """Return the lengths of the ways between all nodes of a tree.

    Single link of these is single link of the tree itself, and where a cannot-link bars an edge, the next is taken.
    """
    a, b = tree.T
    # Ones, since an edge of length 0 would be none.
    graph = coo_array((np.ones(len(tree)), (a, b)), shape=(n_nodes, n_nodes)).tocsr()
    order, before = breadth_first_order(graph, 0, directed=False)
    last_step = np.zeros(n_nodes)
    last_step[np.where(before[b] == a, b, a)] = lengths
    ways: NDArray[np.float64] = all_ways(order.astype(np.int64), before.astype(np.int64), last_step)
    return ways


def _by_first_row(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number clusters by their first rows; -1 stays."""
    clusters, first = np.unique(labels, return_index=True)
    first = np.where(clusters < 0, -1, first)
    number = np.empty(len(clusters), dtype=np.int64)
    number[np.argsort(first)] = np.arange(len(clusters)) - int(clusters[0] < 0)
    return number[np.searchsorted(clusters, labels)]


def _what_is_broken(links: Constraints, violations: Constraints) -> str:
    """Say which links are broken, and why."""
    conflicts = links.conflicts()
    told = f"{len(violations)} of {len(links)} links are broken; violations_ lists them."
    return f"{told} {conflicts[0]}" if conflicts else f"{told} There are more groups apart than n_clusters allows."
