"""ITML: the metric nearest to a given one that brings must-linked rows near and takes cannot-linked rows apart."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils import check_array, check_random_state

from mustlink._progress import progress
from mustlink._sklearn_compat import Interval, StrOptions, is_array_like
from mustlink.constraints import Constraints
from mustlink.metric_learning._base import BaseLinkedMetric, Floats, differences, symmetric_root, warn_of_gap
from mustlink.metric_learning._logdet import LogDetProblem, solve

SAMPLED_PAIRS = 10_000
"""How many pairs of rows tell what is near and what is far."""

PAIRS_AT_ONCE = 1_000


class ITML(BaseLinkedMetric):
    """Information-theoretic metric learning (Davis, Kulis, Jain, Sra and Dhillon 2007).

    Among all metrics in which must-linked rows are near and cannot-linked rows far from each other, the one nearest to
    the metric that was there before. A link may be missed, at a price.

    Parameters
    ----------
    gamma : float, default=1.0
        What it costs to miss what a link of weight one asks for, against the cost of leaving the prior metric. The
        larger, the closer the links are followed, and the longer it takes; 100 and more on a table whose columns have
        very different units may take more steps than `max_iter`.
    prior : {"identity", "covariance"} or array-like of shape (n_features, n_features), default="identity"
        The metric to stay near to: the Euclidean one, the inverse covariance of the table, or this matrix, which must
        be symmetric and positive definite.
    bounds : (float, float) or None, default=None
        The squared distance within which must-linked rows should be, and the one that cannot-linked rows should
        exceed, in that order. None takes the 5th and the 95th percentile of the squared distances between rows of the
        table under the prior metric, from at most 10,000 pairs drawn at random.
    max_iter : int, default=200
        The most steps of Newton's method.
    tol : float, default=1e-4
        Stops when the objective is proved to be within this share of the best possible. Below 1e-7 rounding may
        decide where it stops.
    verbose : int or bool, default=0
        Whether to show a progress bar.
    random_state : int, RandomState or None, default=None
        For the pairs that the bounds are taken from.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_features)
        The map of ``transform``: the symmetric square root of the metric.
    metric_matrix_ : ndarray of shape (n_features, n_features)
        The matrix A of the metric.
    bounds_ : tuple of (float, float)
        The squared distances that were asked for.
    objective_ : list of float
        The objective after each step at the full price of links; it never rises.
    gap_ : float
        By how much of itself the objective may at most be above the best possible.
    n_iter_ : int
        The number of steps.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if the table had any.

    See Also
    --------
    MMC : No prior metric; the sum over all links counts.
    RCA : From must-links only, in closed form.

    Notes
    -----
    With d(v) = v'Av for the difference v of a linked pair, the objective is the LogDet divergence
    tr(A P) - log det(A P) - d of A from the prior P^-1, and for every link gamma * weight * (r - log r - 1), where r is
    d(v) over the bound, as far as d(v) is on the wrong side of it. The problem is convex. The paper projects on one
    link after the other (Bregman projections), in rounds that creep towards the end where there are many links; here
    Newton's method goes to the same metric, with links made dearer in stages. It stops when the gap between the
    objective and its dual is small. Weights multiply gamma, so that a link of weight two counts as two links.

    The table is taken as it is: standardise it first if its columns have different units, or use
    ``prior="covariance"``. A link between two equal rows says nothing about any metric and is left out. Without
    any other link the metric is the prior, so by default the Euclidean one. One kind of link alone is enough.

    References
    ----------
    J. V. Davis, B. Kulis, P. Jain, S. Sra and I. S. Dhillon, "Information-theoretic metric learning", ICML 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import Constraints
    >>> from mustlink.metric_learning import ITML
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> links = Constraints(must_link=[(0, 1)], cannot_link=[(0, 2)])
    >>> ITML(bounds=(0.5, 2.0), gamma=100.0).fit(X, constraints=links).metric_matrix_.round(1)
    array([[2. , 0. ],
           [0. , 0.5]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "gamma": [Interval(Real, 0, None, closed="neither")],
        "prior": [StrOptions({"identity", "covariance"}), "array-like"],
        "bounds": ["array-like", None],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        gamma: float = 1.0,
        *,
        prior: str | ArrayLike = "identity",
        bounds: tuple[float, float] | None = None,
        max_iter: int = 200,
        tol: float = 1e-4,
        verbose: int | bool = 0,
        random_state: Any = None,
    ) -> None:
        self.gamma = gamma
        self.prior = prior
        self.bounds = bounds
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state

    def _learn(self, X: Any, links: Constraints) -> Floats:
        root = self._prior_root(X)
        self.bounds_ = self._check_bounds(X, root)
        must, cannot = (_seen_through(root, differences(X, pairs)) for pairs in (links.must_link, links.cannot_link))
        problem = LogDetProblem.of(must, cannot, links, self.bounds_, self.gamma)
        n_features = X.shape[1]
        if len(problem) == 0:
            self.objective_, self.gap_, self.n_iter_ = [0.0], 0.0, 1
            return np.eye(n_features) if root is None else root
        with progress(self.max_iter, "ITML", shown=self.verbose) as report:
            solution = solve(problem, self.max_iter, self.tol, report)
        self.objective_, self.gap_, self.n_iter_ = solution.objective, solution.gap, max(solution.n_steps, 1)
        warn_of_gap("ITML", self.n_iter_, solution.gap, self.tol)
        A = problem.in_all_features(solution.A, n_features)
        return symmetric_root(A if root is None else root @ A @ root)

    def _prior_root(self, X: Any) -> Floats | None:
        """Return the symmetric square root of the prior metric; None is the identity."""
        if is_array_like(self.prior):
            return _root_of_given(check_array(self.prior, dtype=np.float64, input_name="prior"), X.shape[1])
        if self.prior == "identity":
            return None
        values, vectors = np.linalg.eigh(_covariance(X))
        rank = int((values > values[-1] * len(values) * np.finfo(X.dtype).eps).sum())
        if rank < len(values):
            raise ValueError(
                f"The covariance of this table, with n_samples={X.shape[0]} and n_features={len(values)}, has the rank "
                f"{rank}, so that it has no inverse to serve as prior; drop constant and redundant columns, reduce the "
                'table with PCA, or use prior="identity".'
            )
        return (vectors / np.sqrt(values)) @ vectors.T

    def _check_bounds(self, X: Any, root: Floats | None) -> tuple[float, float]:
        """Return the squared distances to ask for, as given or from pairs of rows."""
        if self.bounds is not None:
            given = np.asarray(self.bounds, dtype=np.float64)
            if given.shape != (2,) or not (np.isfinite(given).all() and 0 < given[0] <= given[1]):
                raise ValueError(
                    "bounds must be two positive numbers, the squared distance for must-links and a larger one for "
                    f"cannot-links, and these are {self.bounds!r}."
                )
            return float(given[0]), float(given[1])
        squared = _sampled_squares(X, root, check_random_state(self.random_state))
        positive = squared[squared > 0]
        if positive.size == 0:
            return 1.0, 1.0
        near, far = np.percentile(squared, (5, 95))
        # Where more than one pair in twenty is equal, the nearest rows that differ tell what is near.
        least = positive.min()
        return float(max(near, least)), float(max(far, least))


def _seen_through(root: Floats | None, difference: Floats) -> Floats:
    """Write differences in coordinates in which the prior metric is the identity."""
    return difference if root is None else difference @ root


def _sampled_squares(X: Any, root: Floats | None, rng: np.random.RandomState) -> Floats:
    """Return the squared distances of all pairs of rows, or of some drawn at random where there are many."""
    n_samples = X.shape[0]
    if n_samples * (n_samples - 1) // 2 <= SAMPLED_PAIRS:
        pairs = np.column_stack(np.triu_indices(n_samples, 1))
    else:
        # The second row is drawn from the others, so that no row meets itself.
        first, other = rng.randint(n_samples, size=SAMPLED_PAIRS), rng.randint(n_samples - 1, size=SAMPLED_PAIRS)
        pairs = np.column_stack([first, other + (other >= first)])
    squares = [np.empty(0)]
    for start in range(0, len(pairs), PAIRS_AT_ONCE):
        difference = _seen_through(root, differences(X, pairs[start : start + PAIRS_AT_ONCE]))
        squares.append(np.einsum("ij,ij->i", difference, difference))
    return np.concatenate(squares)


def _covariance(X: Any) -> Floats:
    """Return the covariance of the features of a dense or sparse table."""
    mean = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
    if sparse.issparse(X):
        return (X.T @ X).toarray().astype(np.float64) / X.shape[0] - np.outer(mean, mean)
    centred = X.astype(np.float64) - mean
    return centred.T @ centred / X.shape[0]


def _root_of_given(prior: Floats, n_features: int) -> Floats:
    """Check a prior metric given as a matrix, and return its symmetric square root."""
    if prior.shape != (n_features, n_features):
        raise ValueError(
            f"prior is a matrix of shape {prior.shape}, and a table with {n_features} features needs one of shape "
            f"{(n_features, n_features)}."
        )
    if not np.allclose(prior, prior.T):
        raise ValueError("prior must be a symmetric matrix, and this one is not.")
    least = float(np.linalg.eigvalsh(prior)[0])
    if least <= 0:
        raise ValueError(f"prior must be positive definite, and its least eigenvalue is {least:g}.")
    return symmetric_root(prior)
