"""Coordinated conditional information bottleneck."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import sparse
from scipy.special import logsumexp
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, check_non_negative

from mustlink._estimators import draw_seed
from mustlink._numbering import number_by_first
from mustlink._progress import progress
from mustlink._sklearn_compat import Interval, StrOptions
from mustlink._types import Array, Floats, Indices, Ints, Mask
from mustlink._warnings import warn_caller
from mustlink.alternative._annealing import MIN_SHARE, Annealed, Schedule, anneal
from mustlink.alternative._base import BaseAlternative, is_counts, order_rows, take_known
from mustlink.alternative._families import Gaussian, Multinomial, Scores, divide_by_sums, score_rows
from mustlink.alternative._glm import LINKS, GlmScores, LinearModels, log_likelihood
from mustlink.alternative._known import KnownColumn, KnownNumbers, TakesNumbers, have_classes
from mustlink.alternative._layout import Layout
from mustlink.alternative._sequential import improve_by_moves
from mustlink.blocks import blockwise

__all__ = ["CCIB", "build_family"]


class CCIB(BaseAlternative):
    """Coordinated conditional information bottleneck (CCIB).

    The clusters C maximize ``I(C;F|Z) + lam * I(C;F)``: their information about the features F given the known split Z,
    and, so that a cluster is the same thing in every class of Z, their information about the features alone. The split
    is given to ``fit`` as `known`; without it this is the plain information bottleneck.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    model : {"auto", "multinomial", "gaussian", "glm"}, default="auto"
        How features are distributed in a cluster:

        - "multinomial": rows are counts, such as words of texts, which must not be negative. Rows of zeros are in no
          cluster (-1).
        - "gaussian": rows are points, compared by squared Euclidean distances. Scale the columns first.
        - "glm": a generalized linear model of every column, whose predictors are the known columns. For columns of
          numbers in `known`, which are all columns of floats, and for several splits without their product. Dense X
          only.
        - "auto": "glm" if `known` has fractions; "multinomial" if X is not negative and at least half of it are zeros;
          "gaussian" otherwise. Known columns of whole floats are classes.
    method : {"annealing", "sequential"}, default="annealing"
        Deterministic annealing, or moves of single rows from random clusters. "sequential" is not for "glm".
    lam : float or "auto", default="auto"
        The weight of ``I(C;F)``. With 0, clusters of one class of `known` have nothing to do with those of another.
        Large values prefer clusters that are strong overall, also if they resemble `known`. "auto" is 0.3; except with
        "multinomial", it is multiplied by the share of the variance that is within the classes of `known`.
    weights : {"uniform", "length"}, default="uniform"
        The weight of a row with "multinomial": the same for all, or its sum.
    link : {"identity", "log", "logit"}, default="identity"
        The link of "glm": numbers, counts, or 0 and 1.
    min_variation : float or None, default=None
        Runs whose clusters have a smaller variation of information to a known split are left out, unless all have; the
        unit is nats.
    max_information : float or None, default=None
        Annealing stops when ``I(C;X)`` reaches so many nats, which leaves memberships soft; None goes on until they
        are hard.
    growth : float, default=1.3
        The factor by which the inverse temperature grows.
    max_iter : int, default=100
        The maximum number of iterations at each temperature, or of passes of the sequential method.
    tol : float, default=1e-4
        The change of a membership at which a temperature is done.
    n_init : int, default=5
        The number of runs, of which the one with the largest objective is kept.
    verbose : int or bool, default=False
        Whether to show a progress bar.
    random_state : int, RandomState or None, default=None
        Seed of the first memberships, of noise and of orders.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every row.
    memberships_ : ndarray of shape (n_samples, n_clusters)
        P(c|x), at the last temperature.
    nmi_known_ : ndarray of shape (n_splits,)
        The mutual information with each known split, divided by its entropy: ``I(C;Z) / H(Z)``. For a column of numbers
        the fraction of its variance between clusters.
    vi_known_ : ndarray of shape (n_splits,)
        The variation of information between the clusters and each known split, in nats; NaN for numbers.
    information_ : float
        ``I(C;F|Z)`` in nats; the decrease of the mean squared distance within classes for "gaussian", the increase
        of the mean log-likelihood for "glm".
    quality_ : float
        ``I(C;F|Z) + lam * I(C;F)``, by which runs are compared.
    objective_ : list of float
        The objective of the kept run in every iteration, minus ``I(C;X)`` divided by the inverse temperature. It does
        not decrease at one temperature.
    betas_ : list of float
        The inverse temperatures of these iterations; infinite for the sequential method.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The means of the clusters; of "multinomial", the probabilities of the columns.
    model_ : str
        The model that was used.
    lam_ : float
        The weight of ``I(C;F)`` that was used.
    n_iter_ : int
        The number of iterations of the kept run.
    n_features_in_ : int
        The number of columns.

    See Also
    --------
    CondEns : Any clusterer within the classes of the known split; faster.
    ResidualClustering : Clusters what is left of the rows without the means of the classes; tells less of them.
    mustlink.alternative.alternatives : One clustering after another.

    Notes
    -----
    Classes of several known splits are combined, except by "glm". A combination with no more rows than clusters, or
    fewer than 5, is merged with the largest of those that differ in the fewest splits.

    Chapter 11 [1]_ prints neither the cost of the sequential method nor the temperatures. Here the cost is the exact
    decrease of the objective, passes are repeated until no row moves, and no cluster becomes empty. The first inverse
    temperature is a tenth of the inverse of the largest gain of a row. Equal clusters are separated by a little noise
    after each temperature, and at the last one labels are reassigned until they stay. "glm" has own intercepts and
    slopes for each cluster. The weight 0.3 is that of the chapter for texts. Squared distances, unlike information,
    have no bound: classes of `known` that are far apart would win against any other clustering, hence "auto". Two
    options of the chapter are left out: the softmax link of "glm", for columns that exclude each other, and a stop of
    the annealing by the likelihood of held-out rows.

    References
    ----------
    .. [1] D. Gondek, "Non-redundant data clustering", chapter 11 of "Constrained Clustering", 2009.
    .. [2] D. Gondek and T. Hofmann, "Non-redundant data clustering", ICDM 2004.

    Examples
    --------
    Four groups of points; the split into left and right is known, so the other one is found.

    >>> import numpy as np
    >>> from mustlink import CCIB
    >>> X = np.array([[0, 0], [0, 1], [0, 4], [0, 5], [9, 0], [9, 1], [9, 4], [9, 5]])
    >>> CCIB(2, random_state=0).fit(X).labels_
    array([0, 0, 0, 0, 1, 1, 1, 1])
    >>> other = CCIB(2, random_state=0).fit(X, known=["left"] * 4 + ["right"] * 4)
    >>> other.labels_
    array([0, 0, 1, 1, 0, 0, 1, 1])
    >>> other.nmi_known_
    array([0.])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "model": [StrOptions({"auto", "multinomial", "gaussian", "glm"})],
        "method": [StrOptions({"annealing", "sequential"})],
        "lam": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "weights": [StrOptions({"uniform", "length"})],
        "link": [StrOptions(set(LINKS))],
        "min_variation": [Interval(Real, 0, None, closed="left"), None],
        "max_information": [Interval(Real, 0, None, closed="neither"), None],
        "growth": [Interval(Real, 1, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }
    _read_by_predict: ClassVar[tuple[str, ...]] = (
        "model_",
        "lam_",
        "beta_",
        "origin_",
        "_log_share",
        "_scores",
        "_layout",
    )
    __metadata_request__predict = {"known": True}  # noqa: RUF012  (scikit-learn reads a plain class attribute)
    __metadata_request__predict_proba = {"known": True}  # noqa: RUF012

    memberships_: Floats
    information_: float
    quality_: float
    objective_: list[float]
    betas_: list[float]
    cluster_centers_: Array
    model_: str
    lam_: float
    n_iter_: int
    beta_: float
    origin_: Floats
    _scores: Any

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        model: Literal["auto", "multinomial", "gaussian", "glm"] = "auto",
        method: Literal["annealing", "sequential"] = "annealing",
        lam: float | Literal["auto"] = "auto",
        weights: Literal["uniform", "length"] = "uniform",
        link: Literal["identity", "log", "logit"] = "identity",
        min_variation: float | None = None,
        max_information: float | None = None,
        growth: float = 1.3,
        max_iter: int = 100,
        tol: float = 1e-4,
        n_init: int = 5,
        verbose: int | bool = False,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.model = model
        self.method = method
        self.lam = lam
        self.weights = weights
        self.link = link
        self.min_variation = min_variation
        self.max_information = max_information
        self.growth = growth
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.verbose = verbose
        self.random_state = random_state

    def _fit(self, X: Any, columns: list[KnownColumn]) -> None:
        """Make the runs, and keep the one with the largest objective."""
        rng = check_random_state(self.random_state)
        self.model_ = self._choose_model(X, columns)
        self._layout = Layout.of(columns, self.n_clusters)
        rows, is_used = self._prepare(X, reset=True)
        used = np.flatnonzero(is_used)
        if len(used) < self.n_clusters:
            raise ValueError(f"Only {len(used)} rows of X are not zero, fewer than n_clusters={self.n_clusters}.")
        columns = take_known(columns, used)
        cell = self._layout.cells(columns, len(used))
        order = order_rows(rows, cell)
        columns, cell = take_known(columns, order), cell[order]
        family = self._build(rows[order], X[used[order]], cell, columns)
        self.lam_ = family.lam
        best, gains = self._best_run(family, columns, rng)
        self._keep(family, best, gains, X.dtype)
        self.memberships_ = np.full((len(is_used), self.n_clusters), 1.0 / self.n_clusters)
        self.memberships_[used[order]] = best.memberships
        self._number(used)

    def _takes_numbers(self) -> TakesNumbers:
        return "fractions" if self.model == "auto" else self.model == "glm"

    def _takes_sparse(self) -> bool:
        return self.model != "glm"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = self.model == "multinomial"
        return tags

    def _choose_model(self, X: Any, columns: list[KnownColumn]) -> str:
        """Return the model, and refuse what it cannot do."""
        model = str(self.model)
        if model == "auto":
            numbers = any(isinstance(column, KnownNumbers) for column in columns)
            model = "glm" if numbers else "multinomial" if is_counts(X) else "gaussian"
        if model == "multinomial":
            check_non_negative(X, 'CCIB(model="multinomial")')
        if model != "glm":
            return model
        if self.method == "sequential":
            raise ValueError('method="sequential" is not for model="glm"; use method="annealing".')
        if sparse.issparse(X):
            raise ValueError(
                "known has numbers, for which X must be dense, and X is sparse; pass X.toarray() if it is small, or "
                "classes as known."
            )
        if self.link == "log":
            check_non_negative(X, 'CCIB(link="log")')
        if self.link == "logit" and (X.min() < 0 or X.max() > 1):
            raise ValueError(f'link="logit" takes numbers from 0 to 1, and X has {X.min():g} to {X.max():g}.')
        return model

    def _prepare(self, X: Any, *, reset: bool = False) -> tuple[Any, Mask]:
        """Return the rows as the model takes them, and which rows of X they are."""
        X = X.astype(np.float64)
        if self.model_ == "multinomial":
            return divide_by_sums(X)
        if reset:
            # Distances are more exact near the origin; counts stay counts, and a sparse table stays sparse.
            is_moved = self.model_ == "gaussian" and not sparse.issparse(X)
            self.origin_ = X.mean(axis=0) if is_moved else np.zeros(X.shape[1])
        X = sparse.csr_array(X) if sparse.issparse(X) else X - self.origin_
        return X, np.ones(X.shape[0], dtype=bool)

    def _build(self, rows: Any, X: Any, cell: Ints, columns: list[KnownColumn]) -> Any:
        """Return the feature model of sorted rows."""
        lam = None if self.lam == "auto" else float(self.lam)
        if self.model_ == "glm":
            return LinearModels(rows, self._layout.design(columns, rows.shape[0]), lam, self.link)
        length = np.asarray(X.sum(axis=1), dtype=np.float64).ravel() if self.weights == "length" else None
        return build_family(self.model_, rows, cell, lam, length)

    def _best_run(
        self, family: Any, columns: list[KnownColumn], rng: np.random.RandomState
    ) -> tuple[Annealed, tuple[float, float]]:
        """Return the run with the largest objective of those that differ enough from what is known, and its gains."""
        runs = []
        for number in range(1, self.n_init + 1):
            run = self._run(family, np.random.RandomState(draw_seed(rng)), f"CCIB, run {number}")
            labels = run.memberships.argmax(axis=1)
            far = min((vi for column in columns if not np.isnan(vi := column.describes(labels)[1])), default=np.inf)
            within, overall = family.gains(run.memberships)
            runs.append((far, within + self.lam_ * overall, run, (within, overall)))
        bound = self.min_variation or 0.0
        enough = [found for found in runs if found[0] >= bound]
        if not enough:
            warn_caller(
                f"No run has a variation of information of {bound:g} or more to what is known; the largest is "
                f"{max(found[0] for found in runs):.3g}. It is kept.",
                UserWarning,
            )
            enough = [max(runs, key=lambda found: found[0])]
        _, _, best, gains = max(enough, key=lambda found: found[1])
        return best, gains

    def _run(self, family: Any, rng: np.random.RandomState, title: str) -> Annealed:
        """Make one run by the method."""
        with progress(None, title, shown=self.verbose) as report:
            if self.method == "sequential":
                return improve_by_moves(family, self.n_clusters, self.max_iter, rng, report)
            if self.model_ == "glm":
                family.restart()
            schedule = Schedule(self.growth, self.tol, self.max_iter, self.max_information)
            return anneal(family, self.n_clusters, schedule, rng, report)

    def _keep(self, family: Any, run: Annealed, gains: tuple[float, float], dtype: Any) -> None:
        """Set what is learned from the kept run."""
        self.information_ = gains[0]
        self.quality_ = gains[0] + self.lam_ * gains[1]
        self.objective_, self.betas_, self.beta_ = run.objective, run.betas, float(run.beta)
        self.n_iter_ = len(run.objective)
        self._scores = family.estimate(run.memberships)
        share = family.weight @ run.memberships
        self._log_share = np.log(np.maximum(share, MIN_SHARE))
        mass = run.memberships * (family.weight / np.maximum(share, MIN_SHARE)[:, None]).T
        centers = np.asarray((family.X.T @ mass).T)
        self.cluster_centers_ = (centers if self.model_ == "multinomial" else centers + self.origin_).astype(dtype)

    def _number(self, used: Indices) -> None:
        """Number the clusters by their first rows."""
        labels = self.memberships_[used].argmax(axis=1)
        numbered, new = number_by_first(labels, self.n_clusters)
        old = np.argsort(new)
        self.labels_ = np.full(len(self.memberships_), -1, dtype=np.int64)
        self.labels_[used] = numbered
        self.memberships_ = self.memberships_[:, old]
        self.cluster_centers_, self._log_share = self.cluster_centers_[old], self._log_share[old]
        found = self._scores
        if isinstance(found, GlmScores):
            self._scores = GlmScores(found.coefficients[old], found.intercepts[old])
        else:
            self._scores = Scores(
                found.slope[old], found.offset[old], found.cell_slope[:, old], found.cell_offset[:, old]
            )

    def predict_proba(self, X: Any, *, known: Any = None) -> Floats:
        """Return the membership of new rows in every cluster.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows.
        known : array-like of shape (n_samples,) or (n_samples, n_splits), default=None
            Their classes in the known splits. Rows with a class that ``fit`` did not meet, or None, are compared with
            the clusters as a whole, as all are without `known`. Numbers must be finite.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            Rows add up to 1; the same for all clusters where a row has no counts.
        """
        return self._probabilities(X, known)[0]

    @blockwise(by_row=("known",))
    def predict(self, X: Any, *, known: Any = None) -> Ints:
        """Return the cluster of new rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows.
        known : array-like of shape (n_samples,) or (n_samples, n_splits), default=None
            Their classes in the known splits; see :meth:`predict_proba`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Cluster numbers; -1 for rows without counts.
        """
        probabilities, is_used = self._probabilities(X, known)
        return np.where(is_used, probabilities.argmax(axis=1), -1)

    def _probabilities(self, X: Any, known: Any) -> tuple[Floats, Mask]:
        """Return the memberships of checked new rows, and which of the rows were used."""
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        columns = [] if known is None else self._layout.read(known, X.shape[0])
        rows, is_used = self._prepare(X)
        found = np.full((len(is_used), self.n_clusters), 1.0 / self.n_clusters)
        used = np.flatnonzero(is_used)
        if not len(used):
            return found, is_used
        scores = self._score_new(rows, take_known(columns, used), known is not None or not self._layout.classes)
        if np.isinf(self.beta_):
            found[used] = (scores == scores.max(axis=1, keepdims=True)).astype(np.float64)
            found[used] /= found[used].sum(axis=1, keepdims=True)
        else:
            exponents = self._log_share + self.beta_ * scores
            found[used] = np.exp(exponents - logsumexp(exponents, axis=1, keepdims=True))
        return found, is_used

    def _score_new(self, rows: Any, columns: list[KnownColumn], is_known: bool) -> Floats:
        """Return the exponents of prepared new rows."""
        n_rows = rows.shape[0]
        if isinstance(self._scores, GlmScores):
            found = log_likelihood(self._scores, rows, None, self.lam_, self.link)
            if is_known:
                met = np.flatnonzero(have_classes(columns, n_rows))
                design = self._layout.design(take_known(columns, met), len(met))
                found[met] = log_likelihood(self._scores, rows[met], design, self.lam_, self.link)
            return found
        cell = self._layout.cells(columns, n_rows) if is_known else np.full(n_rows, -1)
        return score_rows(self._scores, rows, cell, self.lam_)


def build_family(
    name: str, rows: Any, cell: Ints, lam: float | None, length: Floats | None = None
) -> Multinomial | Gaussian:
    """Return the model of rows that are sorted by cell; only rows of counts may have weights."""
    n_rows = rows.shape[0]
    if name == "gaussian":
        return Gaussian(rows, np.full(n_rows, 1.0 / n_rows), cell, lam)
    weight = np.full(n_rows, 1.0 / n_rows) if length is None else length / length.sum()
    return Multinomial(rows, weight, cell, lam)
