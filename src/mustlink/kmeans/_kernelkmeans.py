"""KernelKMeans: kernel k-means in which links are part of the kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.metrics.pairwise import kernel_metrics
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.validation import check_is_fitted, validate_data

from mustlink._progress import round_bar
from mustlink._rows import RowBlocks
from mustlink._sklearn_compat import Interval, StrOptions, fit_context
from mustlink._types import Floats
from mustlink.base import ConstrainedClusterMixin, check_enough_rows
from mustlink.constraints import AlignedConstraints, Constraints
from mustlink.errors import TooLargeError
from mustlink.kmeans._empty_clusters import warn_of_empty_clusters
from mustlink.kmeans._kernel_space import (
    FeatureSpace,
    Kernel,
    MatrixSpace,
    Nystroem,
    Rows,
    pieces,
    scale_gamma,
)
from mustlink.kmeans._kernelkmeans_passes import KernelRun, KernelStart, Labels, Passes, link_matrix, one_hot

MOST_EXACT_BY_CHOICE = 8_000
"""Up to so many rows approximation="auto" holds the whole kernel matrix (512 MB in double precision)."""

MOST_EXACT = 20_000
"""Above so many rows a kernel matrix (3.2 GB) is refused even if asked for."""

FEATURES_BY_DEFAULT = 300
RUNS_BY_DEFAULT = 5
PENALTY_BY_DEFAULT = 0.1


class KernelKMeans(ConstrainedClusterMixin, BaseEstimator):
    """Kernel k-means with links as part of the kernel: SSKK of Kulis, Basu, Dhillon and Mooney (2005).

    A must-link adds to the kernel of its two rows and a cannot-link takes from it; kernel k-means does the rest. With
    the default kernel it finds clusters that are not round, and it needs no more of the data than a kernel, be it of
    strings or graphs (``kernel="precomputed"``).

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    kernel : str or callable, default="rbf"
        A kernel that :func:`sklearn.metrics.pairwise.pairwise_kernels` knows ("additive_chi2", "chi2", "cosine",
        "laplacian", "linear", "poly", "polynomial", "rbf", "sigmoid"), "precomputed" for a table that is the kernel
        matrix, or a function of two rows.
    gamma : float or "scale", default="scale"
        The coefficient of the kernels "rbf", "laplacian", "poly", "polynomial", "sigmoid" and "chi2". "scale" is one
        over the summed variance of the columns, which is ``1 / n_features`` on standardised columns: the kernel "rbf"
        of two rows an average distance apart is then exp(-2). For "laplacian" it is one over the number of columns
        times the root of their mean variance; for "chi2" it is 1.
    degree : float, default=3
        The degree of the kernel "poly".
    coef0 : float, default=1
        The constant of the kernels "poly" and "sigmoid".
    kernel_params : dict, default=None
        Further arguments of the kernel; all arguments if it is a function.
    penalty : float or "auto", default="auto"
        The weight w of a link: what a must-link of weight one adds to the kernel of its rows, and a cannot-link takes
        away. "auto" is a tenth of ``n_samples / n_clusters`` times the mean squared distance of the rows to their
        mean under the kernel. With 0 links play no part except in the start.
    init : {"neighbourhoods", "k-means++"} or array-like of shape (n_samples,), default="neighbourhoods"
        Where to start: means of must-link components far from each other, and further rows as by "k-means++"; rows
        drawn far from each other; or these cluster numbers of all rows.
    n_init : int or "auto", default="auto"
        How many runs to make from different starts, of which the one with the least objective is kept; "auto" is
        five. Where chance plays no part in the start, one run is made.
    max_iter : int, default=300
        The most passes of a run.
    local_search : bool, default=True
        Whether rows move one at a time where passes over all rows at once no longer lower the objective.
    approximation : {"auto", "exact", "nystroem"}, default="auto"
        Whether to hold the kernel of all pairs of rows, or to approximate it by features. "auto" is "exact" up to
        8,000 rows unless `n_components` is given. "exact" refuses more than 20,000 rows. A precomputed kernel is
        always taken as it is.
    n_components : int, default=None
        How many rows drawn at random the features of "nystroem" compare with; 300 if None.
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
        The inertia, less the bonus of must-links and plus the price of cannot-links within clusters, at the start and
        after each pass of the run that was kept; it never rises.
    n_iter_ : int
        The number of passes of that run.
    violations_ : Constraints
        The links that the result breaks.
    penalty_ : float
        The weight of a link that was used.
    shift_ : float
        What was added to the diagonal for passes over all rows at once.
    gamma_ : float
        The gamma that was used; not there for a precomputed kernel.
    landmarks_ : ndarray of shape (n_components,)
        The rows that the features of "nystroem" compare with; not there otherwise.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if the table had any.

    See Also
    --------
    PCKMeans : Links have a price; no kernel.

    Notes
    -----
    With the kernel S of the rows and W_ij = w at must-links, -w at cannot-links and 0 elsewhere, the objective is the
    inertia under S less the sum over clusters of the W_ij of all ordered pairs inside a cluster, divided by the size
    of the cluster, as in the paper. So a link counts for more in a small cluster. S + W is a kernel only after a
    constant has been added to its diagonal, which changes no comparison of clusterings but adds to every row's
    distance to each cluster but its own: passes over all rows become sticky, just where a single link should turn a
    row. What we chose: the constant is minus the least eigenvalue of W alone, by a Lanczos iteration on the sparse
    matrix of the linked rows; since S has no negative eigenvalue, it suffices for S + W, and the kernel matrix is not
    touched. Passes are made while they lower the objective; then rows move one at a time by the exact change of the
    objective, which needs no shift, and passes begin again. A pass that does not lower the objective, as can be with
    a kernel that is not positive semidefinite, is not taken.

    How heavy a link should be is left open. The weight ``n_samples / (n_clusters * n_links)``, with which all links
    together count for about as much as one row, hardly shows on a kernel with values near one: it left 14 to 23 % of
    the links broken on iris, breast cancer and digits. The division by the size sets a limit to what is sensible: from
    about twice the "auto" penalty on, many or wrong must-links make it worth while to give a few linked rows a tiny
    cluster of their own and to leave the others, cannot-linked or not, in one large cluster.

    As in the paper, the start is a farthest-first traversal of the must-link components, here weighted by size and by
    distances under the kernel. Neither the shift nor links count in ``predict``.

    The exact way takes time and memory in proportion to the square of the rows. The way of features takes both in
    proportion to the rows times `n_components`, and W is sparse in either.

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
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "kernel": [StrOptions({*kernel_metrics(), "precomputed"}), callable],
        "gamma": [StrOptions({"scale"}), Interval(Real, 0, None, closed="neither")],
        "degree": [Interval(Real, 0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "kernel_params": [dict, None],
        "penalty": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "init": [StrOptions({"neighbourhoods", "k-means++"}), "array-like"],
        "n_init": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "local_search": ["boolean"],
        "approximation": [StrOptions({"auto", "exact", "nystroem"})],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

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
        init: str | ArrayLike = "neighbourhoods",
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

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        constraints: Constraints | AlignedConstraints | None = None,
    ) -> Self:
        """Find the clusters.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or array-like of shape (n_samples, n_samples)
            The table; with ``kernel="precomputed"`` the kernel of all pairs of rows, which is never copied or written
            if it is an array of floating-point numbers.
        y : array-like of shape (n_samples,), default=None
            Partial labels, -1 for unknown, as one more source of constraints. Labels for every row are taken for the
            truth to score against, and ignored.
        constraints : Constraints or AlignedConstraints, default=None
            What is known of pairs of rows.

        Returns
        -------
        self : object
            The fitted clusterer.

        Raises
        ------
        TooLargeError
            If the kernel matrix of too many rows is asked for by ``approximation="exact"``.
        """
        X = self._check_rows(X, reset=True)
        n_rows = X.shape[0]
        check_enough_rows(n_rows, self.n_clusters)
        links = self._constraints_for(constraints, y, n_rows)
        rng = check_random_state(self.random_state)
        space, order = self._space(X, rng)
        self.penalty_ = self._price(space)
        passes = Passes(space, link_matrix(links, self.penalty_, n_rows), self.n_clusters)
        self.shift_ = passes.shift
        run = self._best_run(passes, links, order, rng)
        self._keep(run, space, links)
        return self

    def predict(self, X: Any) -> NDArray[np.int32]:
        """Return the cluster whose mean, under the kernel alone, is nearest to each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or array-like of shape (n_samples, n_fitted)
            New rows; with ``kernel="precomputed"`` the kernel of new rows with the rows of the fit. Links play no
            part: for a row of the fit that they held in a farther cluster, this differs from ``labels_``.

        Returns
        -------
        ndarray of shape (n_samples,)
            Cluster numbers.
        """
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        labels = np.empty(X.shape[0], dtype=np.int32)
        for rows in pieces(X.shape[0], len(self.labels_)):
            labels[rows] = (self._mean_squares - 2 * self._products_with_means(X[rows])).argmin(axis=1)
        return labels

    def _products_with_means(self, X: Any) -> Floats:
        """Return the inner products of some rows with the means of the clusters."""
        if self._nystroem is not None:
            return np.asarray(self._nystroem.features(X) @ self._feature_means, dtype=np.float64)
        values = X if self._rows is None else self._kernel.between(X, self._rows)
        return np.asarray(values @ self._means, dtype=np.float64)

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        """Check a table, or a kernel matrix."""
        is_matrix = isinstance(self.kernel, str) and self.kernel == "precomputed"
        X = validate_data(
            self,
            X,
            reset=reset,
            accept_sparse=False if is_matrix else "csr",
            dtype=[np.float64, np.float32],
            order="C",
            accept_large_sparse=False,
        )
        if is_matrix and reset:
            if X.shape[0] != X.shape[1]:
                raise ValueError(
                    f"A precomputed kernel holds all pairs of rows and must be square, and X has the shape {X.shape}."
                )
            _check_symmetric(X)
        return X

    def _space(self, X: Any, rng: np.random.RandomState) -> tuple[MatrixSpace | FeatureSpace, Rows]:
        """Reckon the kernel, whole or by features; return it with an order of the rows by their content."""
        n_rows = X.shape[0]
        self._nystroem: Nystroem | None = None
        self._rows: Any = None
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            return MatrixSpace(X), np.arange(n_rows)
        table = RowBlocks(X)
        order = table.order_by_content()
        self.gamma_ = scale_gamma(table, self.kernel) if isinstance(self.gamma, str) else float(self.gamma)
        self._kernel = Kernel(self.kernel, self._kernel_parameters())
        if self._is_exact(n_rows):
            self._rows = X
            return MatrixSpace(np.ascontiguousarray(self._kernel.between(X, X))), order
        wanted = min(n_rows, FEATURES_BY_DEFAULT if self.n_components is None else self.n_components)
        self.landmarks_ = np.sort(order[rng.permutation(n_rows)[:wanted]])
        self._nystroem = Nystroem.on(self._kernel, X[self.landmarks_])
        return FeatureSpace(self._nystroem.features(X)), order

    def _is_exact(self, n_rows: int) -> bool:
        """Decide between the kernel matrix and features, and refuse a matrix that is too large."""
        if self.approximation == "auto":
            return n_rows <= MOST_EXACT_BY_CHOICE and self.n_components is None
        if self.approximation == "nystroem":
            return False
        if n_rows > MOST_EXACT:
            raise TooLargeError(
                f"The kernel matrix of {n_rows:,} rows takes {8e-9 * n_rows**2:,.1f} GB, and more than {MOST_EXACT:,} "
                'rows are refused; pass approximation="nystroem" or "auto".'
            )
        return True

    def _kernel_parameters(self) -> dict[str, Any]:
        """Bring together the parameters of the kernel."""
        own = dict(self.kernel_params or {})
        if callable(self.kernel):
            return own
        return {"gamma": self.gamma_, "degree": self.degree, "coef0": self.coef0} | own

    def _price(self, space: MatrixSpace | FeatureSpace) -> float:
        """Return what the kernel of two linked rows gains or loses."""
        if not isinstance(self.penalty, str):
            return float(self.penalty)
        everything = one_hot(np.zeros(space.n_rows, dtype=np.intp), 1)
        scatter = float(space.squares.mean() - space.products(everything).mean() / space.n_rows)
        return PENALTY_BY_DEFAULT * max(0.0, scatter) * space.n_rows / self.n_clusters

    def _best_run(self, passes: Passes, links: Constraints, order: Rows, rng: np.random.RandomState) -> KernelRun:
        """Run as often as asked and keep the run with the least objective."""
        draw, n_runs = self._start(passes, links, order, rng)
        best: KernelRun | None = None
        for number in range(1, n_runs + 1):
            with round_bar(self.verbose, f"KernelKMeans, run {number}", self.max_iter) as report:
                run = passes.run(draw(), max_iter=self.max_iter, local_search=self.local_search, report=report)
            if best is None or run.objective[-1] < best.objective[-1]:
                best = run
        assert best is not None
        return best

    def _start(
        self, passes: Passes, links: Constraints, order: Rows, rng: np.random.RandomState
    ) -> tuple[Callable[[], Labels], int]:
        """Return what makes labels to start from, and how many runs to make."""
        if not isinstance(self.init, str):
            given = self._check_init(passes.space.n_rows)
            return (lambda: given), 1
        seeding = links if self.init == "neighbourhoods" else Constraints()
        start = KernelStart(passes.space, seeding, self.n_clusters, order, rng)
        if not start.is_random:
            return start.labels, 1
        return start.labels, RUNS_BY_DEFAULT if isinstance(self.n_init, str) else int(self.n_init)

    def _check_init(self, n_rows: int) -> Labels:
        """Check labels given as a start."""
        labels = column_or_1d(self.init)
        if len(labels) != n_rows or labels.dtype.kind not in "iu":
            raise ValueError(
                f"init must be the name of a start or hold a cluster number for each of the {n_rows} rows, and it has "
                f"{len(labels)} values of type {labels.dtype}."
            )
        if labels.min() < 0 or labels.max() >= self.n_clusters:
            raise ValueError(
                f"init must hold cluster numbers from 0 to {self.n_clusters - 1}, and it holds {labels.min()} to "
                f"{labels.max()}."
            )
        return labels.astype(np.int32)

    def _keep(self, run: KernelRun, space: MatrixSpace | FeatureSpace, links: Constraints) -> None:
        """Store what a run found, and what prediction needs."""
        counts = np.bincount(run.labels, minlength=self.n_clusters)
        warn_of_empty_clusters(int((counts > 0).sum()), self.n_clusters)
        self.labels_ = run.labels
        self.n_iter_ = run.n_iter
        self.objective_ = run.objective
        self.violations_ = links.violations(run.labels)
        share = 1.0 / np.maximum(counts, 1)
        members = one_hot(run.labels, self.n_clusters)
        own = space.products(members)[np.arange(len(run.labels)), run.labels]
        squares = np.bincount(run.labels, own, self.n_clusters) * share**2
        self.inertia_ = max(0.0, float(space.squares.sum() - (counts * squares).sum()))
        # An empty cluster is near to no row.
        self._mean_squares = np.where(counts > 0, squares, np.inf)
        if isinstance(space, FeatureSpace):
            self._feature_means = space.sums(members) * share
        else:
            self._means = (members @ sparse.diags_array(share)).tocsr()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        is_matrix = isinstance(self.kernel, str) and self.kernel == "precomputed"
        tags.input_tags.pairwise = is_matrix
        tags.input_tags.sparse = not is_matrix
        return tags


def _check_symmetric(matrix: NDArray[Any]) -> None:
    """Check that a kernel matrix is symmetric, up to rounding."""
    slack = 1e-4 if matrix.dtype == np.float32 else 1e-8
    largest = float(np.abs(matrix.diagonal()).max())
    for rows in pieces(len(matrix), len(matrix)):
        apart = np.abs(matrix[rows] - matrix[:, rows].T)
        if apart.max() > slack * largest:
            i, j = np.unravel_index(int(apart.argmax()), apart.shape)
            i = int(i) + rows.start
            raise ValueError(
                f"A precomputed kernel must be symmetric, and the rows {i} and {j} have {matrix[i, j]:g} one way and "
                f"{matrix[j, i]:g} the other."
            )
