"""Correlation clustering of a signed graph."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from mustlink._numbering import number_by_first
from mustlink._sklearn_compat import Interval, StrOptions, fit_context
from mustlink.base import ConstrainedClusterMixin, check_sources
from mustlink.constraints import AlignedConstraints, Constraints
from mustlink.graph._correlation._cost import cluster_deltas, cost_ratio, disagreement, total_weight
from mustlink.graph._correlation._signed_graph import build_graph
from mustlink.graph._correlation._solve import Method, SolverOptions, expand_distances, solve
from mustlink.graph._correlation._validation import check_signed

# The most rows for which the distances of the linear program are kept.
MAX_KEPT_DISTANCES = 2_000
# A gap below this fraction of the weights is none.
NO_GAP = 1e-9


class CorrelationClustering(ConstrainedClusterMixin, BaseEstimator):
    """Correlation clustering: clusters from signed advice on pairs, without a number of clusters.

    Every pair of rows may have a weight: positive if the rows seem to belong together, negative if not, larger if that
    is more certain. The clusters disagree with as little weight as possible: negative pairs that they join, and
    positive pairs that they separate.

    Parameters
    ----------
    method : str, default="auto"
        How to find clusters:

        - "auto": local search from several starts. Small connected parts are solved exactly or bounded by a
          linear program.
        - "pivot": random rows take all their positive neighbors; with weights of 1 and -1 for all pairs at most 3 times
          the least disagreement in expectation.
        - "lp_pivot", "lp_ball", "region_growing": rounding of a linear program; in the same case at most 2.5 and 4
          times the least disagreement, and for any weights O(log n) times with region growing.
        - "sdp": random hyperplanes through the vectors of a semidefinite program, at least 0.7664 of the greatest
          agreement in expectation, for any weights. Needs the extra ``sdp``.
        - "local": local search.
        - "exact": least disagreement, by a search tree.
    missing : {"neutral", "negative"}, default="neutral"
        What a pair without a weight says: nothing, or that the rows are apart, with the weight `missing_penalty`. A
        weight of 0 is a missing one, in a dense matrix too.
    missing_penalty : float, default=1.0
        The weight of missing pairs with ``missing="negative"``.
    max_per_source : int, default=1
        How many rows of one source a cluster may hold, if `fit` is given sources.
    objective : {"disagreement", "correlation"}, default="disagreement"
        What ``method="sdp"`` relaxes: the agreement, or the agreement minus the disagreement of two clusters, the
        better of which and all singletons has at least a third of the greatest such difference. The best clusters are
        the same for all objectives, and other methods do not use it.
    local_search : bool, default=True
        Whether the result of a method is compared with all singletons and with one cluster per connected part, and
        improved by local search.
    n_init : int or "auto", default="auto"
        The number of starts of pivot and of local search, of which the best is taken in every connected part; "auto" is
        10, 3 or 1 by the number of weights.
    time_limit : float, default=60.0
        Seconds after which the search of ``method="exact"`` in a connected part stops with the best found, with a
        warning; None is no limit.
    verbose : int, default=0
        Whether to show a progress bar over connected parts.
    random_state : int, RandomState or None, default=None
        Seed of the random orders and roundings.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every row, numbered in the order of their first rows.
    n_clusters_ : int
        The number of clusters.
    disagreement_ : float
        The weight of negative pairs inside clusters and of positive pairs between them.
    agreement_ : float
        The weight of all other pairs.
    lower_bound_ : float
        No clustering that keeps the links and sources has less disagreement. From the search, or the linear or
        semidefinite program, where there was one, else from inconsistent triangles.
    ratio_ : float
        `disagreement_` divided by `lower_bound_`: the disagreement is at most so many times the least possible.
        1 if both are 0, infinite if only the bound is.
    deltas_ : ndarray of shape (n_clusters,)
        How inconsistent each cluster is: no member has more negative pairs inside it, or more positive pairs outside
        it, than this number times the size of the cluster. 0 is perfect.
    lp_x_ : ndarray of shape (n_samples, n_samples)
        The distances of the linear program, 0 together and 1 apart; only if it was solved for all connected parts, with
        at most 2,000 rows.
    n_search_nodes_ : int
        The number of nodes of search trees that were visited, with methods "exact" and "auto".
    violations_ : Constraints
        The violated links; always empty.
    n_features_in_ : int
        The number of rows.

    Raises
    ------
    InfeasibleError
        If links contradict each other, or must-links join too many rows of a source.
    TooLargeError
        If a connected part has more than 150 must-link components for a linear program, or 100 for a semidefinite one.

    See Also
    --------
    signed_matrix : Weights from the probabilities of pairs.
    mustlink.Constraints.signed : Weights from links.
    ConsensusClustering : Correlation clustering of several clusterings.

    Notes
    -----
    Rows that must-links join are one node. Nodes that positive weights do not connect are never joined, and connected
    parts are solved one by one. Cannot-links and sources are kept by every method: pairs that cannot be joined have no
    weight, are at distance 1 in programs, and clusters of a rounding that break a rule are split.

    Local search moves a node to the cluster where it disagrees least, or to a new one, then clusters as nodes,
    until nothing changes. Guarantees of pivot and of LP balls are for weights of 1 and -1 of all pairs
    (``missing="negative"`` makes them such) and without links; they are for disagreement, and say nothing of agreement.

    "exact" starts from local search. Its search tree is that of weighted cluster editing: two nodes are merged, whose
    weights add up, or separated for good [4]_. Parts that a short search does not finish are bounded by the linear
    program before a longer one.

    If there is evidence for and against the same pairs, W+ and W-, X is their difference. The best clusters are the
    same, as the lesser of the two disagrees for every pair, whatever the clusters, and the rest of the larger decides:
    add the sum of the lesser to `disagreement_`, `agreement_` and `lower_bound_` for those of the two matrices. Their
    ratio is not above `ratio_`.

    The source leaves open or misprints: regions are tested at the largest radius of a ball of fixed nodes, and not at
    the distances of nodes, where the printed test may miss every radius with a guarantee; several constants of region
    growing and several draws of every rounding are tried.

    References
    ----------
    .. [1] M. Charikar, V. Guruswami and A. Wirth, "Clustering with qualitative information", Journal of Computer and
       System Sciences 71, 2005.
    .. [2] N. Ailon, M. Charikar and A. Newman, "Aggregating inconsistent information: ranking and clustering", Journal
       of the ACM 55, 2008.
    .. [3] N. Immorlica and A. Wirth, "Correlation clustering", in S. Basu, I. Davidson and K. L. Wagstaff (eds.),
       Constrained Clustering, CRC Press 2009, chapter 13.
    .. [4] S. Böcker, S. Briesemeister, Q. B. A. Bui and A. Truß, "Going weighted: parameterized algorithms for cluster
       editing", Theoretical Computer Science 410, 2009.

    Examples
    --------
    >>> from mustlink import Constraints, CorrelationClustering
    >>> from mustlink.graph import signed_matrix
    >>> pairs, chance = [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4)], [0.9, 0.8, 0.4, 0.1, 0.7]
    >>> X = signed_matrix(pairs, chance, 5)
    >>> model = CorrelationClustering(random_state=0).fit(X)
    >>> model.labels_
    array([0, 0, 0, 1, 1])
    >>> round(model.disagreement_, 3), round(model.ratio_, 3)
    (0.405, 1.0)
    >>> CorrelationClustering(random_state=0).fit_predict(X, constraints=Constraints(cannot_link=[(0, 2)]))
    array([0, 0, 1, 2, 2])
    """

    __metadata_request__fit = {"constraints": True, "sources": True}  # noqa: RUF012  (as in the mixin)

    _takes_groups: ClassVar[bool] = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "method": [StrOptions({"auto", "pivot", "lp_pivot", "lp_ball", "region_growing", "sdp", "local", "exact"})],
        "missing": [StrOptions({"neutral", "negative"})],
        "missing_penalty": [Interval(Real, 0, None, closed="neither")],
        "max_per_source": [Interval(Integral, 1, None, closed="left")],
        "objective": [StrOptions({"disagreement", "correlation"})],
        "local_search": ["boolean"],
        "n_init": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "time_limit": [Interval(Real, 0, None, closed="neither"), None],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        method: Method = "auto",
        *,
        missing: Literal["neutral", "negative"] = "neutral",
        missing_penalty: float = 1.0,
        max_per_source: int = 1,
        objective: Literal["disagreement", "correlation"] = "disagreement",
        local_search: bool = True,
        n_init: int | Literal["auto"] = "auto",
        time_limit: float | None = 60.0,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.method = method
        self.missing = missing
        self.missing_penalty = missing_penalty
        self.max_per_source = max_per_source
        self.objective = objective
        self.local_search = local_search
        self.n_init = n_init
        self.time_limit = time_limit
        self.verbose = verbose
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=False)
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        constraints: Constraints | AlignedConstraints | None = None,
        sources: ArrayLike | None = None,
    ) -> Self:
        """Cluster rows by their signed weights.

        Parameters
        ----------
        X : sparse matrix or array-like of shape (n_samples, n_samples)
            The weight of every pair of rows, symmetric: positive if they belong together, negative if they do not, such
            as log odds. The diagonal is ignored.
        y : array-like of shape (n_samples,), default=None
            Partial labels as an additional source of links; -1, None, NaN and empty text are unknown. Labels for every
            row are ignored.
        constraints : Constraints or AlignedConstraints, default=None
            Links that are kept: rows of a must-link share a cluster, rows of a cannot-link do not.
        sources : array-like of shape (n_samples,), default=None
            The source of every row, such as the file that it is from; -1, None, NaN and empty text are no source. A
            cluster holds at most `max_per_source` rows of a source.

        Returns
        -------
        self : object
            The fitted clusterer.
        """
        X, links, _ = self._check_fit_input(X, y, constraints)
        self._fit(X, links, check_sources(sources, X.shape[0]))
        return self

    def _fit(self, X: csr_array, links: Constraints, sources: Any) -> None:
        penalty = float(self.missing_penalty) if self.missing == "negative" else 0.0
        graph, component = build_graph(X, penalty, links, sources, int(self.max_per_source))
        options = SolverOptions(
            self.method, self.objective, self.local_search, self.n_init, self.time_limit, int(self.verbose)
        )
        found = solve(graph, options, check_random_state(self.random_state))
        self.n_clusters_ = int(found.labels.max()) + 1
        self.labels_ = number_by_first(found.labels[component], self.n_clusters_)[0].astype(np.int64)
        self.disagreement_ = disagreement(X, self.labels_, penalty)
        total = total_weight(X, penalty)
        self.agreement_ = total - self.disagreement_
        gap = float(np.maximum(found.max_gain - graph.part_gains(found.labels), 0.0).sum())
        self.lower_bound_ = max(0.0, self.disagreement_ - gap) if gap > NO_GAP * total else self.disagreement_
        self.ratio_ = cost_ratio(self.disagreement_, self.lower_bound_)
        self.deltas_ = cluster_deltas(X, self.labels_, penalty)
        self.n_search_nodes_ = found.n_visited
        self.__dict__.pop("lp_x_", None)
        if found.distances is not None and len(component) <= MAX_KEPT_DISTANCES:
            self.lp_x_ = expand_distances(graph, found.distances, component)
        self.violations_ = links.violations(self.labels_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        tags.input_tags.sparse = True
        return tags

    def _check_rows(self, X: Any, *, reset: bool = True) -> csr_array:
        X = validate_data(self, X, reset=reset, dtype=np.float64, accept_sparse="csr")
        return check_signed(X)
