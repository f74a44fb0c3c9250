"""PCKMeans: k-means in which links have a price."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from mustlink._rows import RowBlocks
from mustlink._sklearn_compat import Interval, StrOptions
from mustlink._types import Floats
from mustlink.constraints import Constraints
from mustlink.kmeans._base import _ConstrainedKMeans
from mustlink.kmeans._lloyd import BoundRows
from mustlink.kmeans._seeding import Start
from mustlink.kmeans._soft_links import SoftLinks


class PCKMeans(_ConstrainedKMeans):
    """k-means in which every link has a price (Basu, Banerjee and Mooney 2004).

    A link is broken where the distances that this saves are worth more than its price. Use it when links may be wrong
    or contradict each other; :class:`COPKMeans` is for links that must hold.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    penalty : float or "auto", default="auto"
        What it costs to break a link of weight one, on the scale of half a squared distance. "auto" is the average
        of half the squared distance of a row to the mean of all rows, so that results do not depend on the unit of
        the table: a link of weight one then counts as much as one row does in the worst case of a single cluster.
        With 0 links play no part except in the start.
    init : {"neighbourhoods", "k-means++", "random"} or array-like of shape (n_clusters, n_features), \
            default="neighbourhoods"
        Where the centres start: the means of must-link components, far from each other, and further rows as by
        "k-means++"; rows drawn far from each other; rows drawn at random; or these centres.
    n_init : int or "auto", default="auto"
        How many runs to make from different starts, of which the one with the least objective is kept. "auto" is one
        run, ten for ``init="random"``. Where chance plays no part in the start, one run is made.
    max_iter : int, default=300
        The most iterations of a run.
    tol : float, default=1e-4
        A run stops when the squared shift of all centres together falls to this share of the mean variance of the
        features.
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
        Half the inertia and the price of all broken links, after each assignment of that run; it never rises.
    violations_ : Constraints
        The links that the result breaks.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if the table had any.

    See Also
    --------
    COPKMeans : Links are never broken.
    SeededKMeans : For a class known for some rows.

    Notes
    -----
    The objective is the sum of half the squared distances of the rows to their centres, and of the prices of broken
    links: `penalty` times the weight of the link. Each round lowers it: rows without links go to the nearest centre;
    rows with links are visited by iterated conditional modes until none moves; then the centres become means.

    What the paper leaves open or does otherwise: the most certain rows are visited first rather than in random order.
    After the rows, must-link components may move as a whole, because row by row a component with heavy links can
    never leave a cluster. So with a high penalty no link is broken in the end, if there are more clusters than any
    component has cannot-linked neighbours. The paper fills missing centres with random perturbations of the mean of
    all rows; here they are drawn as by k-means++ from the centres so far on. An empty cluster is restarted at the row
    whose leaving lowers the objective most.

    The "auto" penalty is a compromise, chosen among 0.05 to 100 times its value on iris, wine, digits and breast
    cancer, with 10 and 50 links per 100 rows, and looked at again on other draws of links from the same tables. With
    many clean links less was worse on nearly all of them. With one link in ten wrong, half as much was often better
    and twice as much often worse. Raw breast cancer, where one column drowns the others, asks for two to four times as
    much even so. It is worth a search where links are plenty.

    How the rows are numbered matters only among exact ties.

    References
    ----------
    S. Basu, A. Banerjee and R. J. Mooney, "Active semi-supervision for pairwise constrained clustering", SDM 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import Constraints, PCKMeans
    >>> X = np.array([[0.0], [1.0], [2.0], [8.0], [9.0], [10.0]])
    >>> links = Constraints(must_link=[(2, 3)], cannot_link=[(1, 2)])
    >>> PCKMeans(n_clusters=2, random_state=0).fit(X, constraints=links).labels_
    array([1, 1, 0, 0, 0, 0], dtype=int32)
    >>> PCKMeans(n_clusters=2, penalty=0.1, random_state=0).fit(X, constraints=links).violations_
    Constraints(1 must-link, 1 cannot-link)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **_ConstrainedKMeans._parameter_constraints,
        "penalty": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        penalty: float | str = "auto",
        init: str | ArrayLike = "neighbourhoods",
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

    def _plan(
        self, table: RowBlocks, weight: Floats, links: Constraints, y: ArrayLike | None, rng: np.random.RandomState
    ) -> tuple[BoundRows, Start]:
        price = 0.0 if links.is_empty else self._price(table, weight)
        bound = SoftLinks(table, weight, links if price else Constraints(), price)
        return bound, self._start(table, weight, links, rng)

    def _price(self, table: RowBlocks, weight: Floats) -> float:
        """Return what it costs to break a link of weight one."""
        if isinstance(self.penalty, str):
            return 0.5 * table.n_features * table.mean_variance(weight)
        return float(self.penalty)
