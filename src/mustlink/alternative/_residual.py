"""Clustering of residuals: what is left of the rows after what is known explains its part."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from mustlink._estimators import count_and_seed_parameters, draw_seed, without_rows
from mustlink._numbering import number_by_first
from mustlink._progress import progress
from mustlink._sklearn_compat import HasMethods, Interval, StrOptions
from mustlink._types import Floats, Ints
from mustlink.alternative._annealing import hard
from mustlink.alternative._base import BaseAlternative, order_rows
from mustlink.alternative._bases import base_clusterer, fit_base
from mustlink.alternative._ccib import build_family
from mustlink.alternative._known import KnownColumn, TakesNumbers
from mustlink.alternative._layout import Layout
from mustlink.blocks import blockwise

__all__ = ["ResidualClustering"]

# Residuals up to so many units of rounding of the largest number are no residuals.
MAX_ROUNDING = 16


@dataclass(frozen=True)
class Explained:
    """The part of the rows that what is known explains: the means of cells, and slopes of known numbers."""

    means: Floats  # (n_cells, d), from the origin
    number_means: Floats  # (n_cells, q)
    slopes: Floats  # (q, d)

    @classmethod
    def of(cls, rows: Floats, numbers: Floats, cell: Ints) -> Explained:
        """Fit rows that are sorted by cell, by least squares."""
        means, number_means = _cell_means(rows, cell), _cell_means(numbers, cell)
        if not numbers.shape[1]:
            return cls(means, number_means, np.zeros((0, rows.shape[1])))
        slopes = np.linalg.lstsq(numbers - number_means[cell], rows - means[cell], rcond=None)[0]
        return cls(means, number_means, np.asarray(slopes, dtype=np.float64))

    def subtract(self, rows: Floats, numbers: Floats | None, cell: Ints) -> Floats:
        """Return the residuals; a cell of -1 is that of the nearest mean, and numbers of None are those of the cell."""
        means = self.means
        if numbers is not None:
            rows = rows - numbers @ self.slopes
            means = means - self.number_means @ self.slopes
        is_unknown = cell < 0
        if is_unknown.any():
            cell = cell.copy()
            cell[is_unknown] = pairwise_distances_argmin(rows[is_unknown], means)
        return rows - means[cell]


class ResidualClustering(BaseAlternative):
    """Clustering of residuals: cluster what a known split leaves unexplained.

    The means of the known classes are subtracted from the rows, and any clusterer finds clusters in the rest. Columns
    of numbers that are known are subtracted by linear regression. The split is given to ``fit`` as `known`; without it,
    this is the plain clusterer.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    estimator : {"kmeans", "mixture"} or clusterer, default="kmeans"
        Clusters the residuals: k-means, a mixture of Gaussians, or any clusterer, whose number of clusters and seeds
        are set. Its ``predict`` finds the clusters of new rows; without one, rows go to the nearest mean.
    n_init : int, default=5
        The number of runs, of which the one is kept whose clusters explain most of the residuals. A clusterer without
        a seed runs once.
    verbose : int or bool, default=False
        Whether to show a progress bar.
    random_state : int, RandomState or None, default=None
        Draws the seeds of the clusterer.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every row; -1 where `estimator` finds noise.
    nmi_known_ : ndarray of shape (n_splits,)
        How much of each known split the clusters tell: ``I(C;Z) / H(Z)``, 0 is nothing. For a column of numbers the
        fraction of its variance between clusters.
    vi_known_ : ndarray of shape (n_splits,)
        The variation of information between the clusters and each known split, in nats; NaN for numbers.
    information_ : float
        What stands for ``I(C;F|Z)``, as of :class:`CCIB` with "gaussian": the decrease of the mean squared distance
        within the known classes. The linear part of known numbers is subtracted before.
    quality_ : float
        ``I(C;F|Z) + lam * I(C;F)``, with the default of `lam` of :class:`CCIB`, to compare the classes.
    objective_ : list of float
        The decrease of the mean squared residual by the clusters of every run, by which runs are compared.
    explained_ : float
        The fraction of the variance of X that what is known explains, and that is subtracted.
    estimator_ : estimator
        The fitted clusterer of the residuals.
    n_features_in_ : int
        The number of columns.

    See Also
    --------
    CondEns : Any clusterer within the classes of the known split, and a consensus.
    CCIB : One objective for all classes; for counts, and with memberships.
    mustlink.alternative.alternatives : One clustering after another.

    Notes
    -----
    Only means are removed, and clusters are at the same places in all classes. This is enough if the known classes
    differ in their means, and what else there is looks the same in each: on the wines, irises and tumors of
    scikit-learn, 2 and 3 clusters of residuals told at most 1 % of the known classes, those of :class:`CondEns` 6 to
    42 % and of :class:`CCIB` 3 to 28 %, and explained about as much of the variance within the classes or more. But
    classes may differ in their variances, or hold the other split in other columns or directions each. Then clusters of
    residuals may tell of the classes, or miss the split in some of them; try :class:`CCIB`, whose clusters have their
    own means in each class. It is also the one for counts.

    Subtracting class means makes the residuals orthogonal to the indicators of the classes. The method of [1]_ is
    related: it projects the rows onto the directions orthogonal to those in which a clustering was found, and clusters
    again.

    Classes of several known splits are combined; a combination with no more rows than clusters, or fewer than 5, is
    merged with the largest of those that differ in the fewest splits. Known numbers have the same slopes in all
    classes.

    References
    ----------
    .. [1] Y. Cui, X. Z. Fern and J. G. Dy, "Non-redundant multi-view clustering via orthogonalization", ICDM 2007.

    Examples
    --------
    Four groups of points; the split into left and right is known, so the other one is found.

    >>> import numpy as np
    >>> from mustlink import ResidualClustering
    >>> X = np.array([[0, 0], [0, 1], [0, 4], [0, 5], [9, 0], [9, 1], [9, 4], [9, 5]])
    >>> ResidualClustering(2, random_state=0).fit(X).labels_
    array([0, 0, 0, 0, 1, 1, 1, 1])
    >>> other = ResidualClustering(2, random_state=0).fit(X, known=["left"] * 4 + ["right"] * 4)
    >>> other.labels_
    array([0, 0, 1, 1, 0, 0, 1, 1])
    >>> other.nmi_known_
    array([0.])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "estimator": [StrOptions({"kmeans", "mixture"}), HasMethods(["fit", "get_params"])],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }
    _read_by_predict: ClassVar[tuple[str, ...]] = ("estimator_", "_origin", "_layout", "_known_part", "_number")
    __metadata_request__predict = {"known": True}  # noqa: RUF012  (scikit-learn reads a plain class attribute)

    information_: float
    quality_: float
    objective_: list[float]
    explained_: float
    estimator_: Any
    _known_part: Explained

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        estimator: Any = "kmeans",
        n_init: int = 5,
        verbose: int | bool = False,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.estimator = estimator
        self.n_init = n_init
        self.verbose = verbose
        self.random_state = random_state

    def _fit(self, X: Any, columns: list[KnownColumn]) -> None:
        """Subtract what is known explains, and keep the best run on the rest."""
        rng = check_random_state(self.random_state)
        self._layout = Layout.of(columns, self.n_clusters)
        cell, numbers = self._layout.cells(columns, len(X)), self._layout.numbers(columns, len(X))
        order = order_rows(np.column_stack([X, numbers]), cell)
        rows, numbers, cell = X[order].astype(np.float64), numbers[order], cell[order]
        self._origin = rows.mean(axis=0)
        rows -= self._origin
        self._known_part = Explained.of(rows, numbers, cell)
        residuals = self._known_part.subtract(rows, numbers, cell)
        if columns:
            _check_some_left(residuals, X, self.n_clusters)
        total = float(np.square(rows).sum())
        self.explained_ = max(0.0, 1.0 - float(np.square(residuals).sum()) / total) if total > 0 else 0.0
        model, labels = self._best_run(residuals, X.dtype, rng)
        family = build_family("gaussian", rows - numbers @ self._known_part.slopes, cell, None)
        within, overall = family.gains(_memberships(labels))
        self.information_, self.quality_ = within, within + family.lam * overall
        self.estimator_ = without_rows(model)
        found = np.empty(len(X), dtype=np.int64)
        found[order] = labels
        self._keep_labels(found)

    def _best_run(self, residuals: Floats, dtype: Any, rng: np.random.RandomState) -> tuple[Any, Ints]:
        """Return the clusterer and the labels of the run that explains most of the residuals."""
        base = base_clusterer(self.estimator, residuals)
        n_runs = self.n_init if count_and_seed_parameters(base)[1] else 1
        family = build_family("gaussian", residuals, np.zeros(len(residuals), dtype=np.int64), 0.0)
        rows = residuals.astype(dtype, copy=False)
        runs = []
        self.objective_ = []
        with progress(n_runs, "ResidualClustering", shown=self.verbose) as report:
            for _ in range(n_runs):
                runs.append(fit_base(base, rows, self.n_clusters, draw_seed(rng), "on the residuals"))
                self.objective_.append(family.gains(_memberships(runs[-1][1]))[1])
                report()
        return runs[int(np.argmax(self.objective_))]

    def _keep_labels(self, labels: Ints) -> None:
        """Number the clusters by their first rows; noise stays noise."""
        is_used = labels >= 0
        n_labels = max(int(labels.max(initial=-1)) + 1, self.n_clusters)
        self.labels_ = labels
        self.labels_[is_used], self._number = number_by_first(labels[is_used], n_labels)

    def _takes_numbers(self) -> TakesNumbers:
        return "fractions"

    def _takes_sparse(self) -> bool:
        return False

    def _check_rows(self, X: Any, *, reset: bool = True) -> Any:
        if sparse.issparse(X):
            raise TypeError(
                "X is sparse, and ResidualClustering subtracts means, which would make it dense; use CCIB or CondEns, "
                "which keep counts sparse, or pass X.toarray() if it is small."
            )
        return super()._check_rows(X, reset=reset)

    @blockwise(by_row=("known",))
    def predict(self, X: Any, *, known: Any = None) -> Ints:
        """Return the cluster of new rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows.
        known : array-like of shape (n_samples,) or (n_samples, n_splits), default=None
            What ``fit`` was given, of these rows. A class that ``fit`` did not meet, and None, is unknown: such a row
            is taken for one of the class with the nearest mean.

        Returns
        -------
        ndarray of shape (n_samples,)
            Cluster numbers; -1 where `estimator` finds noise.
        """
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        n_rows = len(X)
        cell, numbers = np.full(n_rows, -1), None
        if known is not None or not self._layout.classes:
            columns = self._layout.read(known, n_rows)
            cell, numbers = self._layout.cells(columns, n_rows), self._layout.numbers(columns, n_rows)
        residuals = self._known_part.subtract(X.astype(np.float64) - self._origin, numbers, cell)
        labels = np.asarray(self.estimator_.predict(residuals.astype(X.dtype, copy=False))).astype(np.int64)
        return np.where(labels >= 0, self._number[labels], -1)


def _cell_means(rows: Floats, cell: Ints) -> Floats:
    """Return the means of the cells of sorted rows."""
    starts = np.flatnonzero(np.diff(cell, prepend=-1))
    sizes = np.bincount(cell)[:, None]
    means = np.add.reduceat(rows, starts, axis=0) / sizes
    # Once more on the rest, so that nothing is left of rows that are equal.
    return np.asarray(means + np.add.reduceat(rows - means[cell], starts, axis=0) / sizes)


def _check_some_left(residuals: Floats, X: Any, n_clusters: int) -> None:
    """Refuse rows that are explained completely."""
    rounding = MAX_ROUNDING * np.finfo(np.float64).eps * float(np.abs(X).max())
    if n_clusters > 1 and float(np.abs(residuals).max()) <= rounding:
        raise ValueError(
            "What is known explains X completely: all rows of every class of known are equal, or linear in its "
            "numbers, so that there is nothing left to cluster; give a split with fewer classes."
        )


def _memberships(labels: Ints) -> Floats:
    """Return labels as memberships of 0 and 1; the rows of noise are one more cluster."""
    n_labels = int(labels.max(initial=-1)) + 1
    return hard(np.where(labels >= 0, labels, n_labels), n_labels + 1)
