"""ITML: information-theoretic metric learning."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils import check_array, check_random_state, gen_batches

from mustlink._progress import progress
from mustlink._sklearn_compat import Interval, StrOptions, is_array_like
from mustlink._types import Floats
from mustlink.constraints import Constraints
from mustlink.metric_learning._base import BaseLinkedMetric, differences, symmetric_root, warn_of_gap
from mustlink.metric_learning._logdet import LogDetProblem, solve

# The number of pairs of rows from which the bounds are estimated.
SAMPLED_PAIRS = 10_000
PAIRS_AT_ONCE = 1_000


class ITML(BaseLinkedMetric):
    """Information-theoretic metric learning (Davis, Kulis, Jain, Sra and Dhillon 2007).

    Finds the metric closest to a prior metric in which must-linked rows are near and cannot-linked rows far from each
    other. Violated links are penalized.

    Parameters
    ----------
    gamma : float, default=1.0
        The penalty of a violated link of weight one, relative to the divergence from the prior metric. Larger values
        satisfy more links and need more steps; 100 and more may need more than `max_iter` if X is not scaled.
    prior : {"identity", "covariance"} or array-like of shape (n_features, n_features), default="identity"
        The prior metric: the Euclidean one, the inverse covariance of X, or a symmetric positive definite matrix.
    bounds : (float, float) or None, default=None
        The upper bound on the squared distance of must-linked rows, and the lower bound on that of cannot-linked rows.
        None takes the 5th and the 95th percentile of the squared distances between rows under the prior metric, from
        at most 10,000 random pairs.
    max_iter : int, default=200
        The maximum number of Newton steps.
    tol : float, default=1e-4
        Stops when the relative gap to the optimum is at most this. Below 1e-7 rounding may prevent that.
    verbose : int or bool, default=0
        Whether to show a progress bar.
    random_state : int, RandomState or None, default=None
        For the pairs from which the bounds are estimated.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_features)
        The map of ``transform``: the symmetric square root of the metric.
    metric_matrix_ : ndarray of shape (n_features, n_features)
        The matrix A of the metric.
    bounds_ : tuple of (float, float)
        The bounds on squared distances.
    objective_ : list of float
        The objective after each step with the full penalty; it never increases.
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
    MMC : No prior metric; sums over all links.
    RCA : From must-links only, in closed form.

    Notes
    -----
    With d(v) = v'Av for the difference v of a linked pair, the objective is the LogDet divergence
    tr(A P) - log det(A P) - d of A from the prior P^-1, plus gamma * weight * (r - log r - 1) for every violated link,
    where r is d(v) over its bound. The problem is convex. The paper uses Bregman projections onto one link after the
    other; here Newton's method finds the same metric. A link of weight two counts as two links.

    X is not scaled: standardize features of different units first, or use ``prior="covariance"``. Links between equal
    rows are not used. Without other links the metric is the prior. One kind of links is enough.

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
        must, cannot = (_map(root, differences(X, pairs)) for pairs in (links.must_link, links.cannot_link))
        problem = LogDetProblem.of(must, cannot, links, self.bounds_, self.gamma)
        n_features = X.shape[1]
        if len(problem.sign) == 0:
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
                f"The covariance of X, with n_samples={X.shape[0]} and n_features={len(values)}, has rank {rank} and "
                "no inverse to serve as prior; drop constant and redundant features, reduce them with PCA, or use "
                'prior="identity".'
            )
        return (vectors / np.sqrt(values)) @ vectors.T

    def _check_bounds(self, X: Any, root: Floats | None) -> tuple[float, float]:
        """Return the bounds on squared distances, as given or estimated from pairs of rows."""
        if self.bounds is not None:
            given = np.asarray(self.bounds, dtype=np.float64)
            if given.shape != (2,) or not (np.isfinite(given).all() and 0 < given[0] <= given[1]):
                raise ValueError(
                    "bounds must be two positive numbers, the squared distance for must-links and a larger one for "
                    f"cannot-links; got {self.bounds!r}."
                )
            return float(given[0]), float(given[1])
        squared = _sampled_squares(X, root, check_random_state(self.random_state))
        positive = squared[squared > 0]
        if positive.size == 0:
            return 1.0, 1.0
        near, far = np.percentile(squared, (5, 95))
        # If more than one pair in twenty is equal, the percentile is zero; use the smallest positive distance.
        smallest = positive.min()
        return float(max(near, smallest)), float(max(far, smallest))


def _map(root: Floats | None, difference: Floats) -> Floats:
    """Return differences in coordinates in which the prior metric is the identity."""
    return difference if root is None else difference @ root


def _sampled_squares(X: Any, root: Floats | None, rng: np.random.RandomState) -> Floats:
    """Return the squared distances of all pairs of rows, or of random pairs if there are many."""
    n_samples = X.shape[0]
    if n_samples * (n_samples - 1) // 2 <= SAMPLED_PAIRS:
        pairs = np.column_stack(np.triu_indices(n_samples, 1))
    else:
        # The second row is drawn from the other rows.
        first, other = rng.randint(n_samples, size=SAMPLED_PAIRS), rng.randint(n_samples - 1, size=SAMPLED_PAIRS)
        pairs = np.column_stack([first, other + (other >= first)])
    squares = np.empty(len(pairs))
    for some in gen_batches(len(pairs), PAIRS_AT_ONCE):
        difference = _map(root, differences(X, pairs[some]))
        squares[some] = np.einsum("ij,ij->i", difference, difference)
    return squares


def _covariance(X: Any) -> Floats:
    """Return the covariance of the features of a dense or sparse X."""
    mean = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
    if sparse.issparse(X):
        return (X.T @ X).toarray().astype(np.float64) / X.shape[0] - np.outer(mean, mean)
    centered = X.astype(np.float64) - mean
    return centered.T @ centered / X.shape[0]


def _root_of_given(prior: Floats, n_features: int) -> Floats:
    """Check a prior matrix, and return its symmetric square root."""
    if prior.shape != (n_features, n_features):
        raise ValueError(
            f"prior has the shape {prior.shape}; expected {(n_features, n_features)} for {n_features} features."
        )
    if not np.allclose(prior, prior.T):
        raise ValueError("prior must be a symmetric matrix.")
    smallest = float(np.linalg.eigvalsh(prior)[0])
    if smallest <= 0:
        raise ValueError(f"prior must be positive definite; its smallest eigenvalue is {smallest:g}.")
    return symmetric_root(prior)
