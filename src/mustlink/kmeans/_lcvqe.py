"""LCVQE: k-means in which broken links pull on the centers."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from mustlink._rows import RowBlocks, squared_norms
from mustlink._sklearn_compat import Interval
from mustlink._types import Floats, Indices, Ints
from mustlink.kmeans._base import BaseWeightedKMeans, Problem
from mustlink.kmeans._lcvqe_kernels import settle_cannot_links, settle_must_links
from mustlink.kmeans._rules import LinkedRows, LinkRule


class LCVQE(BaseWeightedKMeans):
    """k-means in which broken links pull on the centers (Pelleg and Baras 2007).

    In each iteration every link is visited once and kept or broken, whichever costs less in squared distances. A
    broken must-link draws two centers together, a broken cannot-link draws another center near. The penalty of a link
    is on the scale of the distances around it, and an iteration takes little longer than one of k-means. Use it for
    very many links of which some are wrong.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    penalty : float, default=0.5
        Factor of the cost of breaking a link and of the pull of a broken one. 1 is the rule of the paper, under which a
        link is broken only for the sake of another. With 0 links are used only for the start.
    init : {"components", "k-means++", "random"} or array-like of shape (n_clusters, n_features), default="components"
        The starting centers:

        - "components": means of must-link components far from each other, then rows as by "k-means++";
        - "k-means++": rows drawn far from each other;
        - "random": rows drawn at random;
        - an array: these centers.

    n_init : int or "auto", default="auto"
        The number of runs from different starts, of which the one with the lowest objective is kept. "auto" is one
        run, ten for ``init="random"``. From a start without randomness one run is made.
    max_iter : int, default=300
        The maximum number of iterations of a run.
    tol : float, default=1e-4
        A run stops when the squared shift of all centers together is at most this fraction of the mean variance of
        the features.
    verbose : int or bool, default=0
        Whether to show a progress bar.
    random_state : int, RandomState or None, default=None
        Makes a fit repeatable bit for bit.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every row.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The center of each cluster: the mean of its rows and of those that broken links make pull on it.
    inertia_ : float
        The weighted sum of squared distances of the rows to the centers of their clusters.
    n_iter_ : int
        The number of iterations of the kept run.
    objective_ : list of float
        The objective after each assignment of that run. Links are decided one after the other: as a rule it falls, but
        it can rise.
    violations_ : Constraints
        The links that the result breaks.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X has any.

    See Also
    --------
    PCKMeans : Links have a fixed penalty, and every iteration lowers the objective.
    KernelKMeans : Links are part of a kernel.

    Notes
    -----
    The objective is half the squared distances of the rows to their centers; for every broken must-link, a quarter of
    the squared distances of its rows to each other's centers; for every broken cannot-link, half the squared distance
    of the row that is farther from the common center to its next choice, the nearest other center; the last two times
    `penalty` and the weight of the link.

    An iteration gives every row its nearest center. Then each must-link whose rows are in different clusters is
    decided: both rows in the cluster of the first, both in that of the second, or broken. Then each cannot-link whose
    rows share a cluster: the farther row goes to its next choice, or the link is broken. The lowest cost decides. Then
    each center becomes the mean of its rows, to which the rows of broken must-links are added in each other's clusters
    at half weight, and the farther rows of broken cannot-links in their next choices at full weight, times `penalty`
    and the weight of the link; this minimizes the objective for these labels.

    With `penalty` 1 and weights of one this is the paper's algorithm. Then no link is ever cheaper to break than to
    keep at its turn, and links are broken only by links that are decided later; that is why the default is less.

    What the paper leaves open: links are visited by weight, heavier ones last; of equal ones the least plausible first
    (long must-links, short cannot-links), which makes the result independent of the numbering of the rows. The links
    that count as broken are read from the labels at the end of an iteration. An empty cluster takes the row that is
    farthest from its center.

    References
    ----------
    D. Pelleg and D. Baras, "K-means with large and noisy constraint sets", ECML 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import LCVQE, Constraints
    >>> X = np.array([[0.0], [1.0], [2.0], [8.0], [9.0], [10.0]])
    >>> links = Constraints(must_link=[(2, 3)], cannot_link=[(1, 2)])
    >>> LCVQE(n_clusters=2, init=[[1.0], [9.0]], penalty=1).fit(X, constraints=links).labels_
    array([0, 0, 1, 1, 1, 1])
    >>> LCVQE(n_clusters=2, init=[[1.0], [9.0]]).fit(X, constraints=links).violations_
    Constraints(1 must-link, 1 cannot-link)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseWeightedKMeans._parameter_constraints,
        "penalty": [Interval(Real, 0, None, closed="left")],
    }

    _takes_blocks = True

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        penalty: float = 0.5,
        init: str | ArrayLike = "components",
        n_init: int | str = "auto",
        max_iter: int = 300,
        tol: float = 1e-4,
        verbose: int | bool = 0,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.penalty = penalty
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state

    def _rule(self, problem: Problem) -> LinkRule:
        if not self.penalty:
            return LinkRule()
        return PairwiseLinks(problem.rows, problem.linked, float(self.penalty))


class PairwiseLinks(LinkRule):
    """Links that are decided one by one; broken ones pull on the centers. Each linked row is a unit."""

    data_factor = 0.5

    def __init__(self, rows: RowBlocks, linked: LinkedRows, penalty: float) -> None:
        super().__init__(linked.rows, np.arange(len(linked.rows)))
        X, links = rows.take(linked.rows).X, linked.links
        self._must, self._must_weight = _least_plausible_first(
            X, links.must_link, penalty * links.must_link_weight, -1.0
        )
        self._cannot, self._cannot_weight = _least_plausible_first(
            X, links.cannot_link, penalty * links.cannot_link_weight, 1.0
        )
        self._costs = np.empty((0, 0))

    def place(self, costs: Floats, previous: Indices | None) -> Indices:
        self._costs = costs
        units = costs.argmin(axis=1)
        settle_must_links(costs, self._must, self._must_weight, units)
        settle_cannot_links(costs, self._cannot, self._cannot_weight, units)
        return units

    def penalty(self, units: Indices) -> float:
        pulled, clusters, shares = self.pulled_units(units)
        return 0.5 * float(shares @ self._costs[pulled, clusters])

    def gain_of_leaving(self, units: Indices, distance: Floats, c: int) -> Floats:
        # The links of the row are decided in the next iteration.
        return self.data_factor * distance

    def pulled_units(self, units: Indices) -> tuple[Indices, Indices, Floats]:
        """Return the rows that broken links add to clusters, the clusters, and the shares.

        The rows of a must-link pull the center of the other's cluster, each with half the weight of the link. Of two
        cannot-linked rows, the farther from their center pulls the nearest other center with the weight.
        """
        ends = units[self._must]
        broken = ends[:, 0] != ends[:, 1]
        rows, clusters = self._must[broken].ravel(), ends[broken][:, ::-1].ravel()
        shares = np.repeat(0.5 * self._must_weight[broken], 2)
        if self._costs.shape[1] == 1:
            return rows, clusters, shares
        together = units[self._cannot[:, 0]] == units[self._cannot[:, 1]]
        pairs = self._cannot[together]
        own = units[pairs[:, 0]]
        is_first = self._costs[pairs[:, 0], own] > self._costs[pairs[:, 1], own]
        farther = np.where(is_first, pairs[:, 0], pairs[:, 1])
        others = self._costs[farther]
        others[np.arange(len(farther)), own] = np.inf
        return (
            np.concatenate([rows, farther]),
            np.concatenate([clusters, others.argmin(axis=1)]),
            np.concatenate([shares, self._cannot_weight[together]]),
        )


def _least_plausible_first(X: Any, pairs: Ints, weight: Floats, sign: float) -> tuple[Ints, Floats]:
    """Order links by weight, and those of equal weight by length; the last one decides.

    A long must-link and a short cannot-link are the least plausible.
    """
    length = squared_norms(X[pairs[:, 0]] - X[pairs[:, 1]])
    order = np.lexsort((sign * length, weight))
    return np.ascontiguousarray(pairs[order]), np.ascontiguousarray(weight[order])
