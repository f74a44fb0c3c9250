"""KernelKMeans: kernel k-means in which links are part of the kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.metrics.pairwise import kernel_metrics
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.validation import check_is_fitted

from mustlink._kernel import Kernel, KernelWithRows, pieces
from mustlink._rows import RowBlocks
from mustlink._sklearn_compat import Interval, StrOptions
from mustlink._types import Array, Indices, Ints
from mustlink.base import ConstrainedClusterMixin, check_fits
from mustlink.blocks import blockwise
from mustlink.constraints import Constraints
from mustlink.kmeans._base import BaseConstrainedKMeans, check_rows, keep_run
from mustlink.kmeans._engine import Run, best_of_runs
from mustlink.kmeans._kernel_space import FeatureSpace, MatrixSpace, Nystroem, scale_gamma
from mustlink.kmeans._kernelkmeans_passes import Labels, Passes, one_hot, start_in_kernel
from mustlink.kmeans._rules import LinkedRows
from mustlink.kmeans._seeding import Start

# Up to this many rows approximation="auto" holds the whole kernel matrix (512 MB in double precision).
MAX_EXACT_AUTO = 8_000

# The most rows of a kernel matrix (3.2 GB).
MAX_EXACT = 20_000

DEFAULT_COMPONENTS = 300
AUTO_PENALTY = 0.1


class KernelKMeans(ConstrainedClusterMixin, BaseEstimator):
    """Kernel k-means with soft constraints: SSKK (Kulis, Basu, Dhillon and Mooney 2005).

    A must-link adds to the kernel of its two rows and a cannot-link subtracts from it. With the default kernel it finds
    clusters that are not round, and it needs no more of the data than a kernel, such as one of strings or graphs
    (``kernel="precomputed"``).

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    kernel : str or callable, default="rbf"
        A kernel of :func:`sklearn.metrics.pairwise.pairwise_kernels` ("additive_chi2", "chi2", "cosine",
        "laplacian", "linear", "poly", "polynomial", "rbf", "sigmoid"), "precomputed" if X is the kernel matrix, or a
        function of two rows.
    gamma : float or "scale", default="scale"
        The coefficient of the kernels "rbf", "laplacian", "poly", "polynomial", "sigmoid" and "chi2". "scale" is one
        over the summed variance of the columns, which is ``1 / n_features`` on standardized columns. For "laplacian" it
        is one over the number of columns times the root of their mean variance; for "chi2" it is 1.
    degree : float, default=3
        The degree of the kernel "poly".
    coef0 : float, default=1
        The constant of the kernels "poly" and "sigmoid".
    kernel_params : dict, default=None
        Further arguments of the kernel; all arguments if it is a function.
    penalty : float or "auto", default="auto"
        What a must-link of weight one adds to the kernel of its rows, and a cannot-link subtracts. "auto" is a tenth
        of ``n_samples / n_clusters`` times the mean squared distance of the rows to their mean under the kernel. With
        0 links are used only for the start.
    init : {"components", "k-means++"} or array-like of shape (n_samples,), default="components"
        Where to start:

        - "components": means of must-link components far from each other, then rows as by "k-means++";
        - "k-means++": rows drawn far from each other;
        - an array: these cluster numbers of all rows.

    n_init : int or "auto", default="auto"
        The number of runs from different starts, of which the one with the lowest objective is kept; "auto" is five.
        From a start without randomness one run is made.
    max_iter : int, default=300
        The maximum number of passes of a run.
    local_search : bool, default=True
        Whether rows move one at a time where passes over all rows at once no longer lower the objective.
    approximation : {"auto", "exact", "nystroem"}, default="auto"
        Whether to hold the kernel of all pairs of rows, or to approximate it by features. "auto" is "exact" up to
        8,000 rows unless `n_components` is given. "exact" refuses more than 20,000 rows. A precomputed kernel is
        always used as it is.
    n_components : int, default=None
        The number of random rows to which the features of "nystroem" compare; 300 if None.
    verbose : int or bool, default=0
        Whether to show a progress bar.
    random_state : int, RandomState or None, default=None
        Makes a fit repeatable bit for bit.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every row.
    inertia_ : float
        The sum of squared distances of the rows to the means of their clusters under the kernel.
    objective_ : list of float
        The inertia, minus the bonus of must-links and plus the penalty of cannot-links within clusters, at the start
        and after each pass of the kept run; it never rises.
    n_iter_ : int
        The number of passes of that run.
    violations_ : Constraints
        The links that the result breaks.
    penalty_ : float
        The penalty that was used.
    shift_ : float
        What was added to the diagonal for passes over all rows at once.
    gamma_ : float
        The gamma that was used; missing for a precomputed kernel.
    landmarks_ : ndarray of shape (n_components,)
        The rows to which the features of "nystroem" compare; missing otherwise.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X has any.

    See Also
    --------
    PCKMeans : Links have a penalty; no kernel.

    Notes
    -----
    With the kernel S of the rows and W_ij = w at must-links, -w at cannot-links and 0 elsewhere, the objective is the
    inertia under S minus the sum over clusters of the W_ij of all ordered pairs inside a cluster, divided by the size
    of the cluster, as in the paper: a link counts for more in a small cluster. S + W is a kernel only after a constant
    has been added to its diagonal. That changes no comparison of clusterings but adds to every row's distance to each
    cluster but its own, and passes over all rows become sticky. Here the constant is minus the smallest eigenvalue of
    W alone, by a Lanczos iteration on the sparse matrix of the linked rows; since S has no negative eigenvalue, it
    suffices for S + W. Passes are made while they lower the objective; then rows move one at a time by the exact
    change of the objective, which needs no shift, and passes begin again. A pass that does not lower the objective,
    which can happen with a kernel that is not positive semidefinite, is not taken.

    The paper leaves the weight of links open. From about twice the "auto" penalty on, many or wrong must-links can make
    it optimal to give a few linked rows a tiny cluster of their own. As in the paper, the start is a farthest-first
    traversal of the must-link components, here weighted by size. With the exact kernel, time and memory grow with the
    square of the rows; with features, with the rows times `n_components`.

    References
    ----------
    B. Kulis, S. Basu, I. Dhillon and R. Mooney, "Semi-supervised graph clustering: a kernel approach", ICML 2005.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from mustlink import Constraints, KernelKMeans
    >>> X, ring = make_circles(200, factor=0.3, noise=0.05, random_state=0)
    >>> links = Constraints.sample(ring, n_pairs=20, random_state=0)
    >>> model = KernelKMeans(n_clusters=2, random_state=0).fit(X, constraints=links)
    >>> (model.labels_ == ring).mean() in (0.0, 1.0)
    True
    >>> len(model.violations_)
    0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{
            name: BaseConstrainedKMeans._parameter_constraints[name]
            for name in ("n_clusters", "n_init", "max_iter", "verbose", "random_state")
        },
        "kernel": [StrOptions({*kernel_metrics(), "precomputed"}), callable],
        "gamma": [StrOptions({"scale"}), Interval(Real, 0, None, closed="neither")],
        "degree": [Interval(Real, 0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "kernel_params": [dict, None],
        "penalty": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "init": [StrOptions({"components", "k-means++"}), "array-like"],
        "local_search": ["boolean"],
        "approximation": [StrOptions({"auto", "exact", "nystroem"})],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
    }

    _read_by_predict = ("_features", "_mean_squares", "_means")

    inertia_: float
    n_iter_: int
    objective_: list[float]
    violations_: Constraints

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: str | Callable[..., float] = "rbf",
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        penalty: float | str = "auto",
        init: str | ArrayLike = "components",
        n_init: int | str = "auto",
        max_iter: int = 300,
        local_search: bool = True,
        approximation: str = "auto",
        n_components: int | None = None,
        verbose: int | bool = 0,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.penalty = penalty
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.local_search = local_search
        self.approximation = approximation
        self.n_components = n_components
        self.verbose = verbose
        self.random_state = random_state

    def _fit(self, X: Any, links: Constraints, y: Array | None) -> None:
        rng = check_random_state(self.random_state)
        # The parameters of the kernel are validated already.
        with config_context(skip_parameter_validation=True):
            space, order = self._space(X, rng)
        self.penalty_ = self._penalty_of_weight_one(space)
        passes = Passes(space, self.penalty_ * links.signed(space.n_rows), self.n_clusters)
        self.shift_ = passes.shift
        make_run = partial(passes.run, max_iter=self.max_iter, local_search=self.local_search)
        self._keep(best_of_runs(self, make_run, self._start(space, links, order, rng)), space, links)

    @blockwise
    def predict(self, X: Any) -> Ints:
        """Return the cluster whose mean, under the kernel alone, is nearest to each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or array-like of shape (n_samples, n_fitted)
            New rows; with ``kernel="precomputed"`` the kernel of new rows with the rows of the fit. Constraints are not
            used: for a row that its links put into a cluster farther away, this differs from ``labels_``.

        Returns
        -------
        ndarray of shape (n_samples,)
            Cluster numbers.
        """
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        labels = np.empty(X.shape[0], dtype=np.int64)
        for rows in pieces(X.shape[0], self._means.shape[0]):
            values = X[rows] if self._features is None else self._features.transform(X[rows])
            products = np.asarray(values @ self._means, dtype=np.float64)
            labels[rows] = (self._mean_squares - 2 * products).argmin(axis=1)
        return labels

    def _check_rows(self, X: Any, *, reset: bool = True) -> Any:
        """Check rows, or a kernel matrix."""
        is_matrix = self.kernel == "precomputed"
        X = check_rows(self, X, reset=reset, takes_sparse=not is_matrix)
        if is_matrix and reset:
            if X.shape[0] != X.shape[1]:
                raise ValueError(
                    f"A precomputed kernel has a value for every pair of rows and must be square, but X has the shape "
                    f"{X.shape}."
                )
            _check_symmetric(X)
        return X

    def _space(self, X: Any, rng: np.random.RandomState) -> tuple[MatrixSpace, Indices]:
        """Compute the kernel, exact or by Nystroem features, and a content-based order of the rows."""
        n_rows = X.shape[0]
        # What the means are compared with in `predict`: the kernel of new rows with those of the fit, or features.
        self._features: KernelWithRows | Nystroem | None = None
        if self.kernel == "precomputed":
            return MatrixSpace(X), np.arange(n_rows)
        rows = RowBlocks(X)
        order = rows.order_by_content()
        self.gamma_ = scale_gamma(rows, self.kernel) if isinstance(self.gamma, str) else float(self.gamma)
        shape = {"gamma": self.gamma_, "degree": self.degree, "coef0": self.coef0}
        parameters = (shape if isinstance(self.kernel, str) else {}) | dict(self.kernel_params or {})
        kernel = Kernel(self.kernel, parameters)
        if self._is_exact(n_rows):
            self._features = KernelWithRows(kernel, X)
            return MatrixSpace(np.ascontiguousarray(self._features.transform(X))), order
        wanted = min(n_rows, DEFAULT_COMPONENTS if self.n_components is None else self.n_components)
        self.landmarks_ = np.sort(order[rng.permutation(n_rows)[:wanted]])
        self._features = Nystroem(kernel, X[self.landmarks_])
        return FeatureSpace(self._features.transform(X)), order

    def _is_exact(self, n_rows: int) -> bool:
        """Decide between the kernel matrix and features; raise if the matrix is too large."""
        if self.approximation == "auto":
            return n_rows <= MAX_EXACT_AUTO and self.n_components is None
        if self.approximation == "nystroem":
            return False
        instead = 'pass approximation="nystroem" or "auto"'
        check_fits('approximation="exact"', (n_rows, n_rows), MAX_EXACT**2, instead)
        return True

    def _penalty_of_weight_one(self, space: MatrixSpace) -> float:
        """Return what a link of weight one adds to, or takes from, the kernel of its rows."""
        if not isinstance(self.penalty, str):
            return float(self.penalty)
        everything = one_hot(np.zeros(space.n_rows, dtype=np.intp), 1)
        scatter = float(space.squares.mean() - space.products(everything).mean() / space.n_rows)
        return AUTO_PENALTY * max(0.0, scatter) * space.n_rows / self.n_clusters

    def _start(self, space: MatrixSpace, links: Constraints, order: Indices, rng: np.random.RandomState) -> Start:
        """Return the start that `init` asks for; it draws labels."""
        if not isinstance(self.init, str):
            given = self._check_init(space.n_rows)
            return Start(lambda: given)
        seeding = links if self.init == "components" else Constraints()
        return start_in_kernel(space, LinkedRows(seeding, space.n_rows), self.n_clusters, order, rng)

    def _check_init(self, n_rows: int) -> Labels:
        """Check labels given as a start."""
        labels = column_or_1d(self.init)
        if len(labels) != n_rows or labels.dtype.kind not in "iu":
            raise ValueError(
                f"init must be the name of a start or hold a cluster number for each of the {n_rows} rows, but it has "
                f"{len(labels)} values of type {labels.dtype}."
            )
        if labels.min() < 0 or labels.max() >= self.n_clusters:
            raise ValueError(
                f"init must hold cluster numbers from 0 to {self.n_clusters - 1}, but it holds {labels.min()} to "
                f"{labels.max()}."
            )
        return np.asarray(labels, dtype=np.int32)

    def _keep(self, run: Run, space: MatrixSpace, links: Constraints) -> None:
        """Store the result of a run, and what prediction needs."""
        keep_run(self, run, links)
        counts = np.bincount(run.labels, minlength=self.n_clusters)
        share = 1.0 / np.maximum(counts, 1)
        members = one_hot(run.labels, self.n_clusters)
        own = space.products(members)[np.arange(len(run.labels)), run.labels]
        squares = np.bincount(run.labels, own, self.n_clusters) * share**2
        self.inertia_ = max(0.0, float(space.squares.sum() - (counts * squares).sum()))
        # An empty cluster is near to no row.
        self._mean_squares = np.where(counts > 0, squares, np.inf)
        if isinstance(space, FeatureSpace):
            self._means: Any = space.sums(members) * share
        else:
            self._means = (members @ sparse.diags_array(share)).tocsr()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags


def _check_symmetric(matrix: Array) -> None:
    """Check that a kernel matrix is symmetric up to rounding."""
    slack = 1e-4 if matrix.dtype == np.float32 else 1e-8
    largest = float(np.abs(matrix.diagonal()).max())
    for rows in pieces(len(matrix), len(matrix)):
        apart = np.abs(matrix[rows] - matrix[:, rows].T)
        if apart.max() > slack * largest:
            i, j = np.unravel_index(int(apart.argmax()), apart.shape)
            i = int(i) + rows.start
            raise ValueError(
                f"A precomputed kernel must be symmetric, but the rows {i} and {j} have {matrix[i, j]:g} one way and "
                f"{matrix[j, i]:g} the other."
            )
