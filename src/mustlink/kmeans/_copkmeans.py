"""COPKMeans: k-means in which every link is kept."""

from __future__ import annotations

from typing import Any, ClassVar

from numpy.typing import ArrayLike

from mustlink._sklearn_compat import StrOptions
from mustlink._warnings import warn_caller
from mustlink.base import refuse_contradictions
from mustlink.constraints import Constraints
from mustlink.errors import InfeasibleError, InfeasibleWarning
from mustlink.kmeans._base import Problem, _WeightedKMeans
from mustlink.kmeans._components import Components
from mustlink.kmeans._engine import Run


class COPKMeans(_WeightedKMeans):
    """k-means with hard must-link and cannot-link constraints (Wagstaff, Cardie, Rogers and Schroedl 2001).

    Each must-link component moves as one weighted point: no must-link can break. Components with a cannot-link between
    them never share a cluster. Use it when the links are certain; :class:`PCKMeans` is for links that may be wrong.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    init : {"k-means++", "components", "random"} or array-like of shape (n_clusters, n_features), default="k-means++"
        The starting centers:

        - "k-means++": rows drawn far from each other;
        - "components": means of must-link components far from each other, then rows as by "k-means++";
        - "random": rows drawn at random;
        - an array: these centers.

    order : {"saturation", "degeneracy", "given", "random"}, default="saturation"
        The order in which components are placed where there is no exact placement:

        - "saturation": the one with the fewest open clusters first;
        - "degeneracy": such that each meets as few placed neighbors as possible;
        - "given": by their first rows;
        - "random": at random.

    n_init : int or "auto", default="auto"
        The number of runs from different starts, of which the one with the lowest inertia is kept. "auto" is one run,
        ten for ``init="random"``; if no run keeps the links, up to ten runs are made. From a start without randomness
        one run is made, and further ones only if it fails.
    max_iter : int, default=300
        The maximum number of iterations of a run.
    tol : float, default=1e-4
        A run stops when the squared shift of all centers together is at most this fraction of the mean variance of
        the features.
    on_infeasible : {"raise", "relax"}, default="raise"
        What to do if not all links can be kept, or no way to do so is found: raise :class:`InfeasibleError`; or keep
        the must-links, break as few cannot-links as can be found, and issue an :class:`InfeasibleWarning`.
    verbose : int or bool, default=0
        Whether to show a progress bar.
    random_state : int, RandomState or None, default=None
        Makes a fit repeatable bit for bit.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every row.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The mean of each cluster.
    inertia_ : float
        The weighted sum of squared distances of the rows to the centers of their clusters.
    n_iter_ : int
        The number of iterations of the kept run.
    objective_ : list of float
        The inertia after each assignment of that run. It never rises, except where links had to be broken.
    violations_ : Constraints
        The links that the result breaks; none unless ``on_infeasible="relax"``.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X has any.

    Raises
    ------
    InfeasibleError
        With ``on_infeasible="raise"``, if the links contradict each other, leave fewer components than clusters, or
        need more clusters; its `pairs` are the cannot-links concerned, where they are known.

    See Also
    --------
    PCKMeans : Links have a penalty and can be broken.
    SeededKMeans : For a class known for some rows.

    Notes
    -----
    The original visits the rows one by one and gives up when a row has no cluster left. Here the cannot-link graph
    between components is split first. For given centers, trees and cliques of it get the placement of least cost. The
    rest is placed greedily, then improved by moves of single components; if that fails, it is placed in degeneracy
    order, and at last from a coloring found by :meth:`Constraints.feasible`: a problem known to have a solution never
    fails. A placement is replaced only by one of lower cost; the inertia never rises, which the original does not
    guarantee.

    An empty cluster is restarted at the component with the largest cost. Without links this is Lloyd's algorithm. The
    numbering of the rows matters only for the orders "given" and "random", and for exact ties.

    References
    ----------
    K. Wagstaff, C. Cardie, S. Rogers and S. Schroedl, "Constrained k-means clustering with background knowledge",
    ICML 2001. I. Davidson and S. S. Ravi, "Clustering with constraints: feasibility issues and the k-means
    algorithm", SDM 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import COPKMeans, Constraints
    >>> X = np.array([[0.0], [1.0], [2.0], [8.0], [9.0], [10.0]])
    >>> links = Constraints(must_link=[(2, 3)], cannot_link=[(1, 2)])
    >>> COPKMeans(n_clusters=2, random_state=0).fit(X, constraints=links).labels_
    array([1, 1, 0, 0, 0, 0])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **_WeightedKMeans._parameter_constraints,
        "order": [StrOptions({"saturation", "degeneracy", "given", "random"})],
        "on_infeasible": [StrOptions({"raise", "relax"})],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: str | ArrayLike = "k-means++",
        order: str = "saturation",
        n_init: int | str = "auto",
        max_iter: int = 300,
        tol: float = 1e-4,
        on_infeasible: str = "raise",
        verbose: int | bool = 0,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.order = order
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.on_infeasible = on_infeasible
        self.verbose = verbose
        self.random_state = random_state

    def _rule(self, problem: Problem) -> Components:
        relax = self.on_infeasible == "relax"
        rule = Components(problem.linked, self.n_clusters, order=self.order, relax=relax, rng=problem.rng)
        if not relax:
            if problem.linked.closure.self_loops.size:
                refuse_contradictions(problem.linked.given)
            if rule.n_components < self.n_clusters:
                raise InfeasibleError(rule.feasibility.reason, feasibility=rule.feasibility)
        return rule

    def _keep(self, run: Run, links: Constraints, dtype: Any) -> None:
        super()._keep(run, links, dtype)
        if run.n_broken:
            warn_caller(
                f"Not all links could be kept: {run.n_broken} of {len(links.cannot_link)} cannot-links are broken; "
                "violations_ lists them.",
                InfeasibleWarning,
            )
