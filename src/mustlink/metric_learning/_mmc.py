"""MMC: Mahalanobis metric for clustering."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import solve_triangular

from mustlink._progress import progress
from mustlink._sklearn_compat import Interval, StrOptions
from mustlink._types import Floats
from mustlink.constraints import Constraints
from mustlink.metric_learning._base import BaseLinkedMetric, symmetric_root, warn_of_gap, warn_of_identity
from mustlink.metric_learning._farthest import maximize_distances
from mustlink.metric_learning._scatter import Units, shrink


class MMC(BaseLinkedMetric):
    """Mahalanobis metric for clustering (Xing, Ng, Jordan and Russell 2003).

    Minimizes the sum of squared distances of must-linked rows, subject to a sum of distances of cannot-linked rows of
    one.

    Parameters
    ----------
    diagonal : bool, default=False
        Whether to learn one weight per feature instead of a full matrix.
    shrinkage : float or "auto", default="auto"
        The weight, from 0 to 1, of a multiple of the identity that is mixed into the scatter of the must-linked rows,
        with all features scaled to unit variance. "auto" is d / (d + m) with d features and m must-links. 0
        is the method as published, which needs more must-links than features.
    max_iter : int, default=1000
        The maximum number of steps.
    tol : float, default=1e-4
        Stops when the relative gap to the optimum is at most this. Below 1e-7 rounding may prevent that.
    verbose : int or bool, default=0
        Whether to show a progress bar.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The map of ``transform``, one component for each feature that is not constant.
    metric_matrix_ : ndarray of shape (n_features, n_features)
        The matrix A of the metric.
    objective_ : list of float
        The objective after each step.
    gap_ : float
        An upper bound on the relative gap to the optimum.
    n_iter_ : int
        The number of steps.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        The names of the features, if X has any.

    See Also
    --------
    ITML : Stays close to a prior metric, and considers each link separately.
    RCA : From must-links only, in closed form.

    Notes
    -----
    The problem is to minimize the sum of weight * v'Av over the differences v of must-linked rows, such that the
    sum of weight * sqrt(v'Av) over those of cannot-linked rows is at least 1 and A is positive semidefinite. It is
    convex. The paper uses gradient steps and alternating projections; here a quasi-Newton method on a root of A
    maximizes the second sum, and the largest eigenvalue of its gradient bounds the optimum.

    The optimal A often has a low rank. Links between equal rows are not used. Without must-links the variances of the
    features replace their scatter. Without links, and with a warning without cannot-links between different rows, the
    metric is the Euclidean one.

    References
    ----------
    E. P. Xing, A. Y. Ng, M. I. Jordan and S. Russell, "Distance metric learning, with application to clustering with
    side-information", NIPS 2002 (published 2003).

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import Constraints
    >>> from mustlink.metric_learning import MMC
    >>> X = np.array([[0.0, 0.0], [1.0, 4.0], [2.0, 0.0], [3.0, 1.0]])
    >>> links = Constraints(must_link=[(0, 1), (2, 3)], cannot_link=[(0, 2), (1, 3)])
    >>> metric = MMC().fit(X, constraints=links).get_metric()
    >>> round(metric(X[0], X[2]) + metric(X[1], X[3]), 6)
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "diagonal": ["boolean"],
        "shrinkage": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        diagonal: bool = False,
        *,
        shrinkage: float | str = "auto",
        max_iter: int = 1000,
        tol: float = 1e-4,
        verbose: int | bool = 0,
    ) -> None:
        self.diagonal = diagonal
        self.shrinkage = shrinkage
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose

    def _learn(self, X: Any, links: Constraints) -> Floats:
        n_features = X.shape[1]
        self.objective_, self.gap_, self.n_iter_ = [0.0], 0.0, 1
        if links.is_empty:
            return np.eye(n_features)
        units = Units.of(X)
        near, far = units.differences(X, links.must_link), units.differences(X, links.cannot_link)
        different = far.any(axis=1)
        if not different.any():
            return warn_of_identity("MMC", "cannot-links between different rows", links, n_features)
        scatter = (near.T * links.must_link_weight) @ near
        if self.diagonal:
            scatter = np.diag(np.diag(scatter))
        root = np.linalg.cholesky(shrink(scatter, self.shrinkage, len(near), X.dtype))
        mapped = solve_triangular(root, far[different].T, lower=True).T
        with progress(self.max_iter, "MMC", shown=self.verbose) as report:
            found, self.objective_, self.gap_ = maximize_distances(
                mapped, links.cannot_link_weight[different], self.diagonal, self.max_iter, self.tol, report
            )
        self.n_iter_ = len(self.objective_)
        warn_of_gap("MMC", self.n_iter_, self.gap_, self.tol)
        map_ = solve_triangular(root, found, lower=True, trans="T")
        return units.of_all_features(symmetric_root(map_ @ map_.T))
