"""COP-KMeans: k-means in which every link is kept."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from mustlink._rows import RowBlocks
from mustlink._sklearn_compat import StrOptions
from mustlink._types import Floats
from mustlink.constraints import Constraints
from mustlink.errors import InfeasibleError, InfeasibleWarning
from mustlink.kmeans._base import _ConstrainedKMeans
from mustlink.kmeans._chunklets import Chunklets
from mustlink.kmeans._lloyd import BoundRows, Run
from mustlink.kmeans._seeding import Start

CONFLICTS_NAMED = 3


class COPKMeans(_ConstrainedKMeans):
    """k-means that keeps every link (Wagstaff, Cardie, Rogers and Schroedl 2001).

    Each must-link component moves as one weighted point, so that no must-link can break, and components with a
    cannot-link between them never share a cluster. Use it when the links are certain; :class:`PCKMeans` is for links
    that may be wrong.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    init : {"k-means++", "neighbourhoods", "random"} or array-like of shape (n_clusters, n_features), \
            default="k-means++"
        Where the centres start: rows drawn far from each other; the means of must-link components, far from each
        other, and further rows as by "k-means++"; rows drawn at random; or these centres.
    order : {"saturation", "degeneracy", "given", "random"}, default="saturation"
        In which order components are placed where no exact placement is at hand: the one with the fewest open clusters
        first; such that each meets as few placed neighbours as possible; by their first rows; at random.
    n_init : int or "auto", default="auto"
        How many runs to make from different starts, of which the one with the least inertia is kept. "auto" is one
        run, ten for ``init="random"``; should no run keep the links, up to ten runs are made. Where chance plays no
        part in the start, one run is made, and further ones only if it fails.
    max_iter : int, default=300
        The most iterations of a run.
    tol : float, default=1e-4
        A run stops when the squared shift of all centres together falls to this share of the mean variance of the
        features.
    on_infeasible : {"raise", "relax"}, default="raise"
        What to do if not all links can be kept, or no way to do so is found: raise :class:`InfeasibleError`, or keep
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
        The weighted sum of squared distances of the rows to the centres of their clusters.
    n_iter_ : int
        The number of iterations of the run that was kept.
    objective_ : list of float
        The inertia after each assignment of that run. It never rises, except where links had to be broken.
    violations_ : Constraints
        The links that the result breaks; none unless ``on_infeasible="relax"``.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if the table had any.

    Raises
    ------
    InfeasibleError
        With ``on_infeasible="raise"``, if the links contradict each other, leave fewer groups than clusters, or cannot
        be kept by so few clusters; its `pairs` are the cannot-links concerned, where they are known.

    See Also
    --------
    PCKMeans : Links count, but can be broken at a price.
    SeededKMeans : For a class known for some rows.

    Notes
    -----
    The original visits the rows one by one and gives up when a row has no cluster left. Here the cannot-link graph
    between components is taken apart first. For given centres, trees and cliques of it get the cheapest placement
    there is. The rest is placed greedily, then improved by moves of single components; if that fails, it is
    tried again in degeneracy order, and at last from a colouring found by :meth:`Constraints.feasible`, so that a
    problem known to have a solution never fails. A placement is never given up for a dearer one, so that the inertia
    falls steadily, which the original does not promise.

    An empty cluster is restarted at the component with the largest cost. Without links this is Lloyd's algorithm.
    How the rows are numbered matters only for the orders "given" and "random", and among exact ties.

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
    array([1, 1, 0, 0, 0, 0], dtype=int32)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **_ConstrainedKMeans._parameter_constraints,
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

    def _plan(
        self, table: RowBlocks, weight: Floats, links: Constraints, y: ArrayLike | None, rng: np.random.RandomState
    ) -> tuple[BoundRows, Start]:
        chunklets = Chunklets(
            table,
            weight,
            links,
            self.n_clusters,
            order=self.order,
            relax=self.on_infeasible == "relax",
            rng=rng,
        )
        if self.on_infeasible == "raise":
            _refuse_the_impossible(chunklets, links, self.n_clusters)
        return chunklets, self._start(table, weight, links, rng)

    def _keep(self, run: Run, links: Constraints, table: RowBlocks) -> None:
        super()._keep(run, links, table)
        if run.n_broken:
            warnings.warn(
                f"Not all links could be kept: {run.n_broken} of {len(links.cannot_link)} cannot-links are broken; "
                "violations_ lists them.",
                InfeasibleWarning,
                stacklevel=3,
            )


def _refuse_the_impossible(chunklets: Chunklets, links: Constraints, n_clusters: int) -> None:
    """Raise InfeasibleError for links that contradict each other or leave too few groups."""
    conflicts = links.conflicts()
    if conflicts:
        named = " ".join(str(conflict) for conflict in conflicts[:CONFLICTS_NAMED])
        rest = len(conflicts) - CONFLICTS_NAMED
        raise InfeasibleError(
            f"{named}{f' So do {rest} more pairs.' if rest > 0 else ''} Drop a link of each chain, or pass "
            'on_infeasible="relax".',
            [conflict.cannot_link for conflict in conflicts],
        )
    if chunklets.n_groups < n_clusters:
        raise InfeasibleError(chunklets.feasibility.reason)
