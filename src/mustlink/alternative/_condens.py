"""Conditional ensembles: a clustering within each class of a known split, extended to all rows and combined."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from mustlink._estimators import draw_seed, without_rows
from mustlink._numbering import number_by_first
from mustlink._progress import progress
from mustlink._row_order import rank_rows
from mustlink._sklearn_compat import HasMethods, Interval, StrOptions
from mustlink._types import Array, Floats, Indices, Ints, Mask
from mustlink.alternative._annealing import hard
from mustlink.alternative._base import BaseAlternative, is_counts, order_rows
from mustlink.alternative._bases import base_clusterer, fit_base
from mustlink.alternative._ccib import build_family
from mustlink.alternative._consensus import Consensus, combine, indicators, nearest
from mustlink.alternative._families import divide_by_sums
from mustlink.alternative._known import KnownColumn
from mustlink.alternative._layout import Layout
from mustlink.blocks import blockwise

__all__ = ["CondEns"]


@dataclass(frozen=True)
class Run:
    """One run of the three phases."""

    models: list[Any]
    sizes: list[int]
    table: Floats
    consensus: Consensus


class CondEns(BaseAlternative):
    """Clustering by conditional ensembles (CondEns).

    Within a class of the known split, this split is constant, so that the next strongest structure appears. Any
    clusterer finds it in each class; each result is extended to all rows, and a consensus of them is the alternative.
    The split is given to ``fit`` as `known`; without it, this is the plain clusterer.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    estimator : {"kmeans", "mixture", "multinomial"} or clusterer, default="kmeans"
        Clusters the rows of a class: k-means, a mixture of Gaussians, a mixture of multinomials for counts such as
        words, or any clusterer, whose number of clusters and seeds are set. Its ``predict`` extends the clusters to all
        rows; without one, rows go to the nearest mean.
    local_n_clusters : int, array-like of shape (n_cells,) or None, default=None
        The number of clusters within each class of `known`, in the order of the classes; None is `n_clusters`.
    soft : bool, default=False
        Whether the consensus is of probabilities, of a clusterer with ``predict_proba``, in place of labels.
    n_init : int, default=5
        The number of runs of all phases.
    select : {"ccib", "consensus"}, default="ccib"
        Which run is kept: the one with the largest objective of :class:`CCIB`, or the one whose clusterings of the
        classes agree most.
    lam : float or "auto", default="auto"
        The weight of ``I(C;F)`` in that objective.
    verbose : int or bool, default=False
        Whether to show a progress bar.
    random_state : int, RandomState or None, default=None
        Draws the seeds of the clusterers.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every row.
    nmi_known_ : ndarray of shape (n_splits,)
        The mutual information with each known split, divided by its entropy: ``I(C;Z) / H(Z)``.
    vi_known_ : ndarray of shape (n_splits,)
        The variation of information between the clusters and each known split, in nats.
    information_ : float
        ``I(C;F|Z)`` as of :class:`CCIB`: multinomial if X is not negative and at least half of it are zeros, without
        rows of zeros, Gaussian otherwise.
    quality_ : float
        ``I(C;F|Z) + lam * I(C;F)``.
    agreement_ : float
        How well the consensus agrees with the clusterings of the classes: the fraction of the squared distances
        between rows of their labels that is between clusters, at most 1.
    objective_ : list of float
        The value of every run by which they are compared, see `select`.
    local_labels_ : ndarray of shape (n_samples, n_local)
        The clusterings of the classes, each extended to all rows.
    local_models_ : list of estimators
        The fitted clusterers of the classes; classes of one distinct row have none.
    n_features_in_ : int
        The number of columns.

    See Also
    --------
    CCIB : One objective for all classes; less sensitive to the start, and for columns of numbers.
    ResidualClustering : Clusters what is left of the rows without the means of the classes; tells less of them.
    mustlink.ConsensusClustering : The consensus of any clusterings.
    mustlink.alternative.alternatives : One clustering after another.

    Notes
    -----
    The consensus maximizes the summed quadratic mutual information with the clusterings, which is k-means on the
    indicators of their labels [1]_; equal rows of labels are one row with a weight. A class with fewer distinct rows
    than clusters has as many clusters as these. Classes of several known splits are combined; a combination with no
    more rows than clusters, or fewer than 5, is merged with the largest of those that differ in the fewest splits.

    References
    ----------
    .. [1] D. Gondek, "Non-redundant data clustering", chapter 11 of "Constrained Clustering", 2009.
    .. [2] D. Gondek and T. Hofmann, "Non-redundant clustering with conditional ensembles", KDD 2005.

    Examples
    --------
    Four groups of points; the split into left and right is known, so the other one is found.

    >>> import numpy as np
    >>> from mustlink import CondEns
    >>> X = np.array([[0, 0], [0, 1], [0, 4], [0, 5], [9, 0], [9, 1], [9, 4], [9, 5]])
    >>> CondEns(2, random_state=0).fit(X).labels_
    array([0, 0, 0, 0, 1, 1, 1, 1])
    >>> CondEns(2, random_state=0).fit(X, known=["left"] * 4 + ["right"] * 4).labels_
    array([0, 0, 1, 1, 0, 0, 1, 1])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "estimator": [StrOptions({"kmeans", "mixture", "multinomial"}), HasMethods(["fit", "get_params"])],
        "local_n_clusters": [Interval(Integral, 1, None, closed="left"), "array-like", None],
        "soft": ["boolean"],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "select": [StrOptions({"ccib", "consensus"})],
        "lam": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }
    _read_by_predict: ClassVar[tuple[str, ...]] = ("local_models_", "local_sizes_", "consensus_centers_")

    information_: float
    quality_: float
    agreement_: float
    objective_: list[float]
    local_labels_: Ints
    local_models_: list[Any]
    local_sizes_: list[int]
    consensus_centers_: Floats

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        estimator: Any = "kmeans",
        local_n_clusters: int | ArrayLike | None = None,
        soft: bool = False,
        n_init: int = 5,
        select: Literal["ccib", "consensus"] = "ccib",
        lam: float | Literal["auto"] = "auto",
        verbose: int | bool = False,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.estimator = estimator
        self.local_n_clusters = local_n_clusters
        self.soft = soft
        self.n_init = n_init
        self.select = select
        self.lam = lam
        self.verbose = verbose
        self.random_state = random_state

    def _fit(self, X: Any, columns: list[KnownColumn]) -> None:
        """Make the runs of the three phases, and keep the best."""
        rng = check_random_state(self.random_state)
        n_rows = X.shape[0]
        layout = Layout.of(columns, self.n_clusters)
        cell = layout.cells(columns, n_rows)
        wanted = self._local_numbers(layout.n_cells)
        order = order_rows(X, cell)
        rows, cell = X[order], cell[order]
        family, is_used = self._family(rows, cell)
        edges = np.searchsorted(cell, np.arange(layout.n_cells + 1))
        numbers = [
            (place, min(k, _count_distinct(rows[edges[place] : edges[place + 1]]))) for place, k in enumerate(wanted)
        ]
        # With nothing known, rows that are all equal are one cluster, as of any clusterer.
        seeds = [place for place, k in numbers if k > 1 or self.n_clusters == 1 or layout.n_cells == 1]
        if not seeds:
            raise ValueError(
                "All rows of every class of known are equal, or only one cluster is asked for in each, so that there "
                "is nothing to find within the classes; give a split with fewer classes."
            )
        slices = {place: slice(int(edges[place]), int(edges[place + 1])) for place in seeds}
        runs = []
        with progress(self.n_init, "CondEns", shown=self.verbose) as report:
            for _ in range(self.n_init):
                runs.append(self._run(rows, slices, dict(numbers), rng))
                report()
        gains = [family.gains(hard(run.consensus.labels[is_used], self.n_clusters)) for run in runs]
        qualities = [within + family.lam * overall for within, overall in gains]
        self.objective_ = qualities if self.select == "ccib" else [run.consensus.agreement for run in runs]
        best = int(np.argmax(self.objective_))
        self.information_, self.quality_ = gains[best][0], qualities[best]
        self._keep(runs[best], order)

    def _takes_sparse(self) -> bool:
        base = base_clusterer(self.estimator)
        return bool(get_tags(base).input_tags.sparse) if isinstance(base, BaseEstimator) else False

    def _local_numbers(self, n_cells: int) -> list[int]:
        """Return the number of clusters within each cell."""
        given = self.n_clusters if self.local_n_clusters is None else self.local_n_clusters
        numbers = np.asarray(given)
        if numbers.ndim == 0:
            return [int(numbers)] * n_cells
        if numbers.shape != (n_cells,) or numbers.dtype.kind not in "iu" or numbers.min() < 1:
            raise ValueError(
                f"local_n_clusters must be a number or {n_cells} numbers from 1 on, one for each class of known, in "
                f"the order of the classes; got {self.local_n_clusters!r}."
            )
        return [int(number) for number in numbers]

    def _family(self, rows: Any, cell: Ints) -> tuple[Any, Mask]:
        """Return the model by which runs are compared, and its rows: all, or those with counts."""
        X = rows.astype(np.float64)
        lam = None if self.lam == "auto" else float(self.lam)
        if is_counts(X) and X.sum() > 0:
            shares, is_used = divide_by_sums(X)
            return build_family("multinomial", shares, cell[is_used], lam), is_used
        X = X if sparse.issparse(X) else X - X.mean(axis=0)
        return build_family("gaussian", X, cell, lam), np.ones(X.shape[0], dtype=bool)

    def _run(self, rows: Any, slices: dict[int, slice], numbers: dict[int, int], rng: np.random.RandomState) -> Run:
        """Cluster the rows of each cell, extend the clusters to all rows, and combine them."""
        base = base_clusterer(self.estimator, rows)
        models, parts, sizes = [], [], []
        for place, block in slices.items():
            model, labels = fit_base(base, rows[block], numbers[place], draw_seed(rng), f"in class {place} of known")
            part = self._extend(model, rows, block, labels)
            models.append(model)
            parts.append(part)
            sizes.append(part.shape[1] if part.ndim == 2 else int(part.max()) + 1)
        table = indicators(parts, sizes)
        return Run(models, sizes, table, combine(table, self.n_clusters, draw_seed(rng)))

    def _extend(self, model: Any, rows: Any, block: slice, labels: Ints) -> Array:
        """Return the clusters of one cell for all rows, by the model as it is; or their probabilities."""
        if self.soft and hasattr(model, "predict_proba"):
            return np.asarray(model.predict_proba(rows))
        extended = np.asarray(model.predict(rows)).astype(np.int64)
        extended[block] = labels
        return extended

    def _keep(self, run: Run, order: Indices) -> None:
        """Set what is learned from the kept run, with the clusters numbered by their first rows."""
        labels = np.empty(len(order), dtype=np.int64)
        labels[order] = run.consensus.labels
        self.labels_, number = number_by_first(labels, len(run.consensus.centers))
        self.consensus_centers_ = run.consensus.centers[np.argsort(number)]
        self.agreement_ = run.consensus.agreement
        self.local_models_ = [without_rows(model) for model in run.models]
        self.local_sizes_ = run.sizes
        starts = np.cumsum([0, *run.sizes])
        self.local_labels_ = np.empty((len(order), len(run.sizes)), dtype=np.int64)
        for place, (start, stop) in enumerate(pairwise(starts)):
            columns = run.table[:, start:stop]
            self.local_labels_[order, place] = np.where(columns.any(axis=1), columns.argmax(axis=1), -1)

    @blockwise
    def predict(self, X: Any) -> Ints:
        """Return the cluster of new rows; their known classes are not needed.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Cluster numbers.
        """
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        is_soft = [self.soft and hasattr(model, "predict_proba") for model in self.local_models_]
        parts = [
            np.asarray(model.predict_proba(X) if soft else model.predict(X))
            for model, soft in zip(self.local_models_, is_soft, strict=True)
        ]
        return nearest(indicators(parts, self.local_sizes_), self.consensus_centers_)


def _count_distinct(rows: Any) -> int:
    """Return the number of distinct rows."""
    return len(np.unique(rank_rows(rows, np.arange(rows.shape[0]))))
