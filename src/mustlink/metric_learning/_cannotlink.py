"""CannotLinkMetric: a metric from cannot-links alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.metrics.pairwise import kernel_metrics
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mustlink._kernel import Kernel, KernelWithRows, scale_gamma, spanned_basis
from mustlink._progress import progress
from mustlink._sklearn_compat import Interval, StrOptions, fit_context
from mustlink._spelling import count
from mustlink._types import Array, Floats, Ints
from mustlink._warnings import warn_caller
from mustlink.base import check_fits, check_table, collect_links
from mustlink.constraints import AlignedConstraints, Constraints
from mustlink.errors import UnmetConstraintsWarning
from mustlink.metric_learning._base import (
    MAX_FEATURES,
    BaseLinkedMetric,
    MahalanobisDistance,
    warn_of_gap,
    warn_of_identity,
)
from mustlink.metric_learning._entailed_pairs import entailed_cannot_links
from mustlink.metric_learning._equal_rows import find_different, refuse_equal, warn_of_equal
from mustlink.metric_learning._held_out_distances import held_out_separation
from mustlink.metric_learning._kernel_distance import KernelDistance
from mustlink.metric_learning._max_margin import (
    PairProblem,
    Solution,
    learn_online,
    root_of,
    solve,
    solve_for_fraction,
)
from mustlink.metric_learning._similar_pairs import find_similar


class CannotLinkMetric(BaseLinkedMetric):
    """Maximum-margin metric from cannot-links only (Oyama and Tanaka 2006).

    Finds the metric of minimum norm in which cannot-linked rows are at least one apart. It needs no must-links: pairs
    that are known to be different are enough, such as records under different names.

    Parameters
    ----------
    C : float, default=1.0
        The penalty of a cannot-link of weight one that is closer than one. ``numpy.inf`` allows none, and one pair of
        nearly equal rows then determines the metric.
    relative : bool, default=True
        Whether `C` is in units of 1 / median(r)^2, with r the squared Euclidean distance of a pair, so that the result
        does not depend on the scale of X. False takes `C` as it is, as the source does.
    nu : float or None, default=None
        Instead of `C`, an upper bound on the fraction of the weight of the cannot-links that are closer than one, from
        0 to 1, as of :class:`sklearn.svm.OneClassSVM`. The C for it is found by about ten fits.
    diagonal : bool, default=False
        Whether to learn one weight per feature instead of a full matrix.
    tau : float, default=0.0
        A multiple of the identity added to the learned matrix, relative to the mean of its eigenvalues. Directions in
        which no cannot-linked rows differ have the weight zero otherwise.
    kernel : str or callable, default="linear"
        A kernel of :func:`sklearn.metrics.pairwise.pairwise_kernels`, "precomputed" if X is the kernel matrix, as for
        strings, trees and graphs, or a function of two rows. One that is not positive semidefinite, such as "sigmoid"
        may be, is taken without its negative part, with a warning.
    gamma : float or "scale", default="scale"
        The coefficient of the kernels "rbf", "laplacian", "poly", "sigmoid" and "chi2". "scale" is one over the number
        of features times the variance of X, as in :class:`sklearn.svm.SVC`, or its standard deviation for "laplacian";
        for "chi2" it is 1.
    degree : float, default=3
        The degree of the kernel "poly".
    coef0 : float, default=1
        The constant of the kernels "poly" and "sigmoid".
    kernel_params : dict, default=None
        Further arguments of the kernel; all arguments if it is a function.
    entail : bool, default=True
        Whether must-links add the cannot-links that follow from them: between all rows of two cannot-linked components,
        of which at most 100,000 are drawn. Must-links have no other effect.
    guard : bool, default=False
        Whether to compare with the Euclidean metric on held-out cannot-links, and warn if that is better.
    max_iter : int, default=1000
        The maximum number of passes over the cannot-links.
    tol : float, default=1e-4
        Stops when the relative duality gap is at most this. Below 1e-7 rounding may prevent that.
    verbose : int or bool, default=0
        Whether to show a progress bar.
    random_state : int, RandomState or None, default=None
        For the rows that `guard` holds out, and for the cannot-links of large components.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The map of ``transform``. It has a row for each cannot-link with a multiplier above zero, for each linked row,
        or for each feature, whichever are fewest. With a kernel its columns are the linked rows.
    metric_matrix_ : ndarray of shape (n_features, n_features)
        The matrix A of the metric, for a linear kernel.
    pairs_ : ndarray of shape (n_pairs, 2)
        The cannot-links that were learned from.
    alpha_ : ndarray of shape (n_pairs,)
        Their multipliers: A is the sum of alpha * v v' over the differences v of the pairs, before `tau`.
    squared_distances_ : ndarray of shape (n_pairs,)
        Their squared distances, before `tau`.
    C_ : float
        The penalty that was used, in the units of X.
    scale_ : float or None
        The median squared Euclidean distance of the pairs.
    identity_weight_ : float
        The multiple of the identity that `tau` added.
    held_out_separation_ : tuple of (float, float) or None
        With `guard`, how often held-out cannot-linked rows are farther apart than any two of the held-out rows, under
        the learned and the Euclidean metric; .5 is chance. None if there are too few.
    objective_ : list of float
        The dual objective after each pass, in the units of X; it never decreases. ``[0.0]`` after ``partial_fit``.
    gap_ : float
        The relative gap between the primal and the dual objective.
    n_iter_ : int
        The number of passes.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        The names of the features, if X has any.

    See Also
    --------
    ITML : From links of either kind, close to a prior metric.
    MMC : A sum over all cannot-links instead of their minimum, and must-links.
    DCA : From both kinds of links, with fewer columns.

    Notes
    -----
    The problem is to minimize half the sum of the squared entries of A, plus C * sum of weight * max(0, 1 - v'Av) over
    the differences v of cannot-linked rows; equation 15.16 of the source lacks a square. The solution is positive
    semidefinite without a constraint, because the sum of alpha * v v' with alpha >= 0 is. It is a support vector
    machine without bias on the products of two differences, with positive examples only, and a one-class one whose
    offset is fixed at one: pairs with a squared distance below one are unusually similar (:meth:`similar_pairs`).

    Dual coordinate ascent visits one pair after the other, with the d x d matrix A or the m x m inner products of m
    pairs, whichever is smaller. Pairs at a bound are left out of most passes. The map has up to min(m, d) x d numbers
    (d x d with `tau` and `diagonal`), or n x n for n linked rows with a kernel; above 25 million they are refused. The
    pairs that `entail` adds count.
    ``partial_fit`` makes one such step for each pair, which never lowers a multiplier.

    Nothing forbids to stretch directions of noise, as there are no pairs that belong together: standardize columns of
    different units, and see `guard` and `tau`. Cannot-links between equal rows are dropped with a warning, and refused
    if C is infinite. Without links the metric is the Euclidean one (with a kernel, the distance of the kernel), and
    likewise, with a warning, without cannot-links between different rows.

    References
    ----------
    S. Oyama and K. Tanaka, "Learning a distance metric for object identification without human supervision", PKDD 2006.

    S. Oyama and K. Tanaka, "Distance metric learning from cannot-be-linked example pairs, with application to name
    disambiguation", chapter 15 of "Constrained Clustering", 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import CannotLinkMetric, Constraints
    >>> X = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 0.5], [5.0, 5.0]])
    >>> metric = CannotLinkMetric(C=np.inf).fit(X, constraints=Constraints(cannot_link=[(0, 1), (0, 2)]))
    >>> metric.metric_matrix_.round(2)
    array([[0.25, 0.  ],
           [0.  , 4.  ]])
    >>> metric.squared_distances_.round(2)
    array([1., 1.])
    """

    scale_: float | None

    __metadata_request__partial_fit = {"constraints": True}  # noqa: RUF012  (as of fit)

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [Interval(Real, 0, np.inf, closed="right")],
        "relative": ["boolean"],
        "nu": [Interval(Real, 0, 1, closed="right"), None],
        "diagonal": ["boolean"],
        "tau": [Interval(Real, 0, None, closed="left")],
        "kernel": [StrOptions({*kernel_metrics(), "precomputed"}), callable],
        "gamma": [StrOptions({"scale"}), Interval(Real, 0, None, closed="left")],
        "degree": [Interval(Real, 0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "kernel_params": [dict, None],
        "entail": ["boolean"],
        "guard": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        C: float = 1.0,
        *,
        relative: bool = True,
        nu: float | None = None,
        diagonal: bool = False,
        tau: float = 0.0,
        kernel: str | Callable[..., float] = "linear",
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        entail: bool = True,
        guard: bool = False,
        max_iter: int = 1000,
        tol: float = 1e-4,
        verbose: int | bool = 0,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.relative = relative
        self.nu = nu
        self.diagonal = diagonal
        self.tau = tau
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.entail = entail
        self.guard = guard
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state

    def _check_size(self, X: Any, links: Constraints) -> None:
        self._check_pairs_fit(X, links.cannot_link)

    def _check_pairs_fit(self, X: Any, pairs: Ints, n_given: int | None = None) -> None:
        """Refuse what needs too large an array: of d x d numbers, or m x d for m pairs if these are fewer."""
        n_pairs = len(pairs)
        if self.kernel == "linear":
            n_features = X.shape[1]
            needs_all = self.diagonal or self.tau > 0 or n_pairs == 0
            shape = (n_features if needs_all else min(n_pairs, n_features), n_features)
            who = f"with {count(n_pairs, 'cannot-link')} between rows of {count(n_features, 'feature')}"
            instead = "reduce the features first, for example with sklearn.decomposition.PCA or TruncatedSVD"
            if not needs_all:
                instead += f", or give at most {count(MAX_FEATURES**2 // n_features, 'cannot-link')}"
        else:
            n_rows = len(np.unique(pairs)) if n_pairs else X.shape[0]
            shape, who = (n_rows, n_rows), f"with a kernel of {count(n_rows, 'row')}"
            instead = "give links between fewer rows, or use a linear kernel"
        if n_given is not None and n_given < n_pairs:
            who += f" ({n_pairs - n_given:,} of the cannot-links follow from must-links)"
            instead += ", or set entail=False"
        check_fits(f"{type(self).__name__}, {who},", shape, MAX_FEATURES**2, instead)

    def _learn(self, X: Any, links: Constraints) -> Floats:
        self._check_options(X)
        self._start_over()
        rng = check_random_state(self.random_state)
        pairs, weight = links.cannot_link, links.cannot_link_weight
        if self.entail:
            pairs, weight = entailed_cannot_links(links, X.shape[0], rng)
            self._check_pairs_fit(X, pairs, len(links.cannot_link))
        Z, place, back = self._coordinates(X, pairs)
        usable, scale = find_different(Z, place)
        if self.nu is None and np.isinf(self.C):
            refuse_equal(pairs[~usable])
        if not usable.any():
            return self._learn_nothing(X, links)
        warn_of_equal(pairs[~usable])
        self.pairs_, self.scale_ = pairs[usable], scale
        root = self._learn_pairs(Z / np.sqrt(scale), place[usable], weight[usable], rng) / np.sqrt(scale)
        return root if back is None else root @ back

    def _learn_nothing(self, X: Any, links: Constraints) -> Floats:
        """Return the map of the Euclidean metric, or of the distance of the kernel, and warn if there are links."""
        none = np.empty((0, 2), dtype=np.int64)
        self._check_pairs_fit(X, none)
        back = self._coordinates(X, none)[2]
        if not links.is_empty:
            warn_of_identity("CannotLinkMetric", "cannot-links between different rows", links, 0)
        return np.eye(X.shape[1]) if back is None else back

    def _learn_pairs(self, Z: Any, pairs: Ints, weight: Floats, rng: np.random.RandomState) -> Floats:
        """Learn from pairs of rows scaled to a median squared distance of one, and return the map."""
        assert self.scale_ is not None
        with progress(self.max_iter, "CannotLinkMetric", shown=self.verbose) as report:
            problem, found = self._solve(Z, pairs, weight, report)
        root, identity_weight = problem.root(found.alpha, self.tau)
        self.gap_, self.n_iter_, self.squared_distances_ = found.gap, max(len(found.objective), 1), found.squared
        self.alpha_ = self._to_units_of_rows(found.alpha)
        self.objective_ = self._to_units_of_rows(found.objective).tolist()
        self.C_ = float(self._to_units_of_rows(problem.penalty))
        with np.errstate(over="ignore"):
            self.identity_weight_ = float(np.float64(identity_weight) / self.scale_)
        warn_of_gap("CannotLinkMetric", self.n_iter_, self.gap_, self.tol)
        if self.guard:
            self._compare_with_euclidean(Z, pairs, weight, rng)
        return root

    def _solve(
        self, Z: Any, pairs: Ints, weight: Floats, report: Callable[[int, float], None]
    ) -> tuple[PairProblem, Solution]:
        """Solve for the given C, or find the one that nu implies."""
        problem = PairProblem(Z, pairs, weight, self._relative_penalty(), self.diagonal)
        gram = problem.gram() if not self.diagonal and len(pairs) <= Z.shape[1] else None
        if self.nu is None:
            return problem, solve(problem, gram, self.max_iter, self.tol, report)
        return solve_for_fraction(problem, gram, self.nu, self.max_iter, self.tol, report)

    def _to_units_of_rows(self, values: ArrayLike) -> Floats:
        """Return multipliers, penalties or objectives of rows scaled to a median squared distance of one for X."""
        assert self.scale_ is not None
        # Of very small or very large rows they are not representable.
        with np.errstate(over="ignore"):
            return np.asarray(values, dtype=np.float64) / self.scale_ / self.scale_

    def _relative_penalty(self) -> float:
        """Return the penalty for rows that are scaled to a median squared distance of one."""
        if self.relative:
            return float(self.C)
        assert self.scale_ is not None
        with np.errstate(over="ignore"):
            return float(np.float64(self.C) * self.scale_ * self.scale_)

    def _compare_with_euclidean(self, Z: Any, pairs: Ints, weight: Floats, rng: np.random.RandomState) -> None:
        """Learn from part of the pairs, and warn if the others are better separated by the Euclidean metric."""

        def learn(chosen: Ints) -> Floats:
            problem, found = self._solve(Z, pairs[chosen], weight[chosen], lambda *_: None)
            return problem.root(found.alpha, self.tau)[0]

        self.held_out_separation_ = held_out_separation(Z, pairs, learn, rng)
        if self.held_out_separation_ is None:
            return
        learned, plain = self.held_out_separation_
        if learned < plain:
            warn_caller(
                "The learned metric separates held-out cannot-links less than the Euclidean one: they are farther "
                f"apart than any two of the held-out rows {learned:.1%} of the time, against {plain:.1%}; reduce C, "
                "increase tau, or give more cannot-links.",
                UnmetConstraintsWarning,
            )

    def _can_learn_online(self) -> bool:
        if self.kernel == "linear" and self.nu is None:
            return True
        raise AttributeError('partial_fit needs kernel="linear" and nu=None; use fit for other kernels and for nu.')

    @available_if(_can_learn_online)
    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self, X: Any, y: ArrayLike | None = None, *, constraints: Constraints | AlignedConstraints | None = None
    ) -> Self:
        """Update the metric with the cannot-links of further rows, each visited once.

        Only with ``kernel="linear"`` and ``nu=None``; otherwise there is no such method. `guard` has no effect on it.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows of this batch.
        y : array-like of shape (n_samples,), default=None
            Partial labels of these rows, -1 for unknown.
        constraints : Constraints or AlignedConstraints, default=None
            The links between rows of this batch. Until the first cannot-link, the metric is the Euclidean one.

        Returns
        -------
        self : object
            The transformer. ``scale_``, in whose units a relative `C` is, remains that of the first cannot-links.
        """
        is_first = not hasattr(self, "components_")
        X = check_table(self, X, reset=is_first, accept_sparse="csr", order="C", accept_large_sparse=False)
        n_features = X.shape[1]
        instead = "reduce the features first, for example with sklearn.decomposition.PCA or TruncatedSVD"
        check_fits("CannotLinkMetric.partial_fit", (n_features, n_features), MAX_FEATURES**2, instead)
        links = collect_links(constraints, y, X)
        pairs, weight = links.cannot_link, links.cannot_link_weight
        if self.entail:
            pairs, weight = entailed_cannot_links(links, X.shape[0], check_random_state(self.random_state))
        before = getattr(self, "scale_", None), getattr(self, "identity_weight_", 0.0)
        self._start_over()
        self.scale_, self.identity_weight_ = before
        if is_first:
            self.components_ = np.eye(n_features, dtype=X.dtype)
        Z, place, _ = self._coordinates(X, pairs)
        usable, scale = find_different(Z, place)
        if self.nu is None and np.isinf(self.C):
            refuse_equal(pairs[~usable])
        warn_of_equal(pairs[~usable])
        if usable.any():
            self._update(Z, place[usable], weight[usable], scale)
        if self.scale_ is not None:
            self.C_ = float(self._to_units_of_rows(self._relative_penalty()))
        self._n_features_out = len(self.components_)
        return self

    def _update(self, Z: Any, pairs: Ints, weight: Floats, scale: float) -> None:
        """Make one step for each pair, from the matrix learned so far."""
        n_features = Z.shape[1]
        if self.scale_ is None:
            self.scale_ = scale
            A = np.zeros((n_features, n_features))
        else:
            A = self.scale_ * (self.metric_matrix_ - self.identity_weight_ * np.eye(n_features))
        problem = PairProblem(Z / np.sqrt(self.scale_), pairs, weight, self._relative_penalty(), self.diagonal)
        A = learn_online(problem, np.diag(A)[None].copy() if self.diagonal else A)
        root, identity_weight = root_of(A, self.tau)
        self.identity_weight_ = identity_weight / self.scale_
        self.components_ = (root / np.sqrt(self.scale_)).astype(self.components_.dtype, copy=False)

    def transform(self, X: Any) -> Array:
        """Map rows into the space where the learned metric is Euclidean.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows to map; with ``kernel="precomputed"`` the kernel of new rows with the rows of the fit.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            The rows, or their kernel with the linked rows, times the transpose of ``components_``.
        """
        if self.kernel in ("linear", "precomputed"):
            return super().transform(X)
        check_is_fitted(self)
        X = check_table(self, X, reset=False, accept_sparse="csr", accept_large_sparse=False)
        return np.asarray(self._kernel_with_rows.transform(X) @ self.components_.T).astype(X.dtype, copy=False)

    def get_metric(self) -> MahalanobisDistance:
        """Return the learned distance as a function of two rows.

        Returns
        -------
        MahalanobisDistance
            A callable that later fits do not change. With ``kernel="precomputed"`` it takes kernel values with the
            rows of the fit.
        """
        if self.kernel in ("linear", "precomputed"):
            return super().get_metric()
        check_is_fitted(self)
        return KernelDistance(self.components_.astype(np.float64), self._kernel_with_rows)

    @property
    def metric_matrix_(self) -> Floats:
        """The matrix A of the metric, of shape (n_features, n_features), for a linear kernel."""
        if self.kernel != "linear":
            raise AttributeError(f"With kernel={self.kernel!r} the metric is not a matrix of features; use transform.")
        return super().metric_matrix_

    def similar_pairs(self, X: Any, pairs: ArrayLike | None = None, *, threshold: float = 0.99) -> tuple[Ints, Floats]:
        """Return pairs of rows that are closer than cannot-linked rows are meant to be.

        Cannot-linked rows are meant to have a squared distance of one and more. Pairs below that are unusually similar:
        candidates for duplicates, or for conflicts with rows that are registered already.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows, as for ``transform``.
        pairs : array-like of shape (n_pairs, 2), default=None
            The pairs of rows to look at; all pairs if None.
        threshold : float, default=0.99
            Squared distances below it are returned. It is below one, as many cannot-links are at one up to `tol`.

        Returns
        -------
        pairs : ndarray of shape (n_similar, 2)
            The similar pairs, closest first.
        squared_distances : ndarray of shape (n_similar,)
            Their squared distances.

        Examples
        --------
        >>> import numpy as np
        >>> from mustlink import CannotLinkMetric, Constraints
        >>> X = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 0.5], [0.1, 0.0]])
        >>> metric = CannotLinkMetric(C=np.inf).fit(X, constraints=Constraints(cannot_link=[(0, 1), (0, 2)]))
        >>> pairs, squared = metric.similar_pairs(X)
        >>> pairs
        array([[0, 3],
               [1, 3]])
        >>> squared.round(2)
        array([0. , 0.9])
        """
        return find_similar(self.transform(X).astype(np.float64, copy=False), pairs, threshold)

    def _check_options(self, X: Any) -> None:
        """Refuse parameters that exclude each other, and a precomputed kernel that is not square."""
        if self.diagonal and self.kernel != "linear":
            raise ValueError(f'diagonal=True gives weights to features and needs kernel="linear"; got {self.kernel!r}.')
        if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(f"A precomputed kernel must be a square matrix; got the shape {X.shape}.")

    def _start_over(self) -> None:
        """Reset what an earlier fit learned."""
        for name in ("pairs_", "alpha_", "squared_distances_", "C_", "_kernel_with_rows", "held_out_separation_"):
            self.__dict__.pop(name, None)
        self.scale_ = None
        self.identity_weight_ = 0.0
        self.objective_, self.gap_, self.n_iter_ = [0.0], 0.0, 1

    def _coordinates(self, X: Any, pairs: Ints) -> tuple[Any, Ints, Floats | None]:
        """Return the linked rows in double precision, the pairs of them, and for a kernel the map to coordinates."""
        rows, place = np.unique(pairs, return_inverse=True)
        place = place.reshape(-1, 2).astype(np.int64)
        if self.kernel == "linear":
            return _in_double(X[rows]), place, None
        if not len(rows):
            rows = np.arange(X.shape[0])
        kernel = Kernel(self.kernel, self._kernel_parameters(X))
        is_matrix = self.kernel == "precomputed"
        basis = spanned_basis(kernel(X[rows], rows if is_matrix else X[rows]))
        # Its columns are eigenvectors over the root of their eigenvalues; times the eigenvalue they are coordinates.
        Z = np.ascontiguousarray(basis / np.square(basis).sum(axis=0))
        if is_matrix:
            # The columns of the matrix are all rows of the fit.
            back = np.zeros((basis.shape[1], X.shape[0]))
            back[:, rows] = basis.T
            return Z, place, back
        self._kernel_with_rows = KernelWithRows(kernel, X[rows])
        return Z, place, basis.T

    def _kernel_parameters(self, X: Any) -> dict[str, Any]:
        """Return the arguments of the kernel."""
        further = dict(self.kernel_params or {})
        if not isinstance(self.kernel, str) or self.kernel == "precomputed":
            return further
        gamma = scale_gamma(X, self.kernel) if isinstance(self.gamma, str) else float(self.gamma)
        return {"gamma": gamma, "degree": self.degree, "coef0": self.coef0, **further}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


def _in_double(X: Any) -> Any:
    """Return dense rows in memory order, or sparse rows with sorted columns and no duplicates, in double precision."""
    if not sparse.issparse(X):
        return np.ascontiguousarray(X, dtype=np.float64)
    X = sparse.csr_array(X, dtype=np.float64, copy=True)
    X.sum_duplicates()
    return X
