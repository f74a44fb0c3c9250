"""MeanFieldMixture: Gaussian mixtures with soft links, whose linked rows have more weight than others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from mustlink._estimators import draw_seed
from mustlink._progress import Advance, progress
from mustlink._sklearn_compat import Interval, StrOptions, one_blas_thread
from mustlink._types import Array, Floats, Indices, Ints
from mustlink.base import check_fits, check_table, refuse_many_classes
from mustlink.constraints import Constraints, known_rows
from mustlink.mixture._base import EMSteps, LinkedMixture, MixtureRun
from mustlink.mixture._mean_field._embedding import embed_dissimilarities
from mustlink.mixture._mean_field._held_out import PENALTIES, Penalty, eta_candidates, select_weights
from mustlink.mixture._mean_field._linked_rows import ClampedRows, LinkedRows
from mustlink.mixture._mean_field._pairwise import (
    PairwiseRun,
    anneal,
    check_dissimilarities,
    pairwise_potentials,
    temperatures,
)
from mustlink.mixture._mean_field._starts import start_masses
from mustlink.mixture._mean_field._steps import MeanFieldSteps

__all__ = ["MeanFieldMixture"]

# The most entries of an array of dissimilarities.
MAX_DISSIMILARITIES = 20_000**2
# Rows for each column of a covariance matrix below which runs from different starts cannot be compared.
MIN_ROWS_PER_COLUMN = 3
# The noise of responsibilities at every temperature, which lets mixture components part that coincide.
NOISE = 1e-3


class MeanFieldMixture(LinkedMixture):
    """Gaussian mixture with a maximum-entropy prior on labels by links (Lange, Law, Jain, Buhmann 2009).

    EM in which broken links have penalties, and in which rows with links weigh more than others in the estimates of
    means and covariances. A few links can thus turn the clusters as a whole, and not only the rows they name. Use it
    when there are few links, or some wrong ones, and the clusters they ask for are not those the data suggest.

    Parameters
    ----------
    n_components : int, default=8
        The number of mixture components, which are the clusters.
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        The form of the covariances, as in :class:`~sklearn.mixture.GaussianMixture`.
    penalty : float, (float, float) or "auto", default="auto"
        What a broken link of weight 1 costs, in units of the log-likelihood; weights of links multiply it. Two numbers
        are those of must-links and of cannot-links, and ``numpy.inf`` is a hard link. "auto" is 1000, that of the
        chapter: more than the data of a row can say, so that linked rows follow their links, and finite, so that
        contradictions are allowed. It is 3, which stands for links of which one in twenty is wrong, if that breaks
        fewer held-out links.
    eta : float or "auto", default="auto"
        The weight of a linked row against one without links in the estimates: 1 is plain EM, an integer is as if each
        linked row and its links were there so many times. "auto" takes the smallest of 1, 2, 5, ... 100 that breaks
        the fewest held-out links, if labels are by the parameters. Choosing either fits the mixture several times.
    class_prior : {"uniform", "estimate", "unlinked"}, default="uniform"
        The weights of the mixture components: equal, as in the experiments of the chapter; estimated, with the
        normalizer of the prior ignored; or estimated from the rows without links and used for these alone.
    inference : {"auto", "mean_field"}, default="auto"
        How probabilities of linked rows are computed. "auto": exactly for each connected part of the links whose
        tables fit `max_table`, which trees always do, and by mean field for others. "mean_field": always by mean field.
    partial_labels : {"links", "clamp"}, default="links"
        What partial labels `y` are: links within and between classes; or given mixture components, numbered by the
        sorted classes.
    labels : {"parameters", "links"}, default="parameters"
        What ``labels_`` is: the most probable mixture component of each row by means, covariances and weights alone,
        as ``predict`` returns it; or given the links as well. The other is kept too.
    decode : {"joint", "marginals"}, default="joint"
        How labels given the links are chosen: the most probable labels of all rows together, or of each row.
    annealing_start : float, default=1
        The inverse temperature at which a run begins, above 0 and at most 1; 1 is no annealing. The chapter anneals,
        such as from 0.1.
    annealing_factor : float, default=1.2
        By what the inverse temperature rises from one level to the next.
    metric : {"euclidean", "precomputed"}, default="euclidean"
        Whether X has rows of features, or dissimilarities of all pairs of rows, such as squared distances.
    embedding : int or None, default=None
        With ``metric="precomputed"``: None clusters by the dissimilarities themselves, by mean field and annealing. A
        number fits the mixture to so many coordinates of a constant-shift embedding.
    max_table : int, default=1_000_000
        The maximum number of entries of the tables of a connected part of the links.
    tol : float, default=1e-5
        A run stops when the objective, the mean of a row, changes by less.
    reg_covar : float, default=1e-6
        Added to the diagonal of the covariances.
    max_iter : int, default=200
        The maximum number of iterations of a run, at each temperature.
    n_init : int, default=3
        The number of runs from different starts, of which the one with the lowest free energy is kept.
    init_params : {"auto", "links", "kmeans", "k-means++", "random", "random_from_data"}, default="auto"
        How a run starts. "links": from k-means in a metric in which must-linked rows are near to each other, and
        cannot-linked rows are not. "auto": the runs start in turn from k-means, from the links, and from random
        responsibilities; from k-means alone without links, and if there are fewer than three rows for each column of
        each covariance matrix, since the free energy of nearly singular covariances says nothing about a start. The
        others are as in :class:`~sklearn.mixture.GaussianMixture`.
    random_state : int, RandomState or None, default=None
        Makes a fit repeatable bit for bit.
    verbose : int or bool, default=0
        Whether to show a progress bar.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every row, one of the next two.
    parameter_labels_ : ndarray of shape (n_samples,)
        The most probable mixture component of every row by the parameters alone.
    link_labels_ : ndarray of shape (n_samples,)
        That given the links.
    n_differing_ : int
        The number of rows where these two differ.
    responsibilities_ : ndarray of shape (n_samples, n_components)
        The probability of every mixture component for every row, given all links.
    eta_ : float
        The weight of linked rows; missing if dissimilarities are clustered.
    penalty_ : float or (float, float)
        The penalty that was used.
    free_energy_ : float
        The free energy F_eta of the result, which is minimized.
    weights_ : ndarray of shape (n_components,)
        The weights of the mixture components.
    means_ : ndarray of shape (n_components, n_features)
        The means.
    covariances_ : ndarray
        The covariances; the shape depends on `covariance_type`, as in scikit-learn.
    precisions_cholesky_ : ndarray
        The Cholesky factors of the inverse covariances, of the same shape.
    objective_ : list of float
        Minus the free energy over the number of rows, in every iteration at the last temperature of the kept run. It
        never falls where the inference is exact and the weights are uniform.
    lower_bound_ : float
        Its last entry.
    converged_ : bool
        Whether the kept run converged.
    n_iter_ : int
        The number of its iterations.
    inference_ : InferenceReport or None
        How the probabilities of linked rows were computed; None without links.
    embedding_ : ndarray of shape (n_samples, embedding)
        The coordinates of the rows, if there is an embedding.
    shift_ : float
        The constant that the embedding adds to the dissimilarities of different rows.
    violations_ : Constraints
        The links that ``labels_`` break.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X has any.

    Raises
    ------
    InfeasibleError
        If links of infinite penalty contradict each other or need more mixture components.

    See Also
    --------
    ConstrainedGaussianMixture : Hard links, all rows with the same weight.
    PCKMeans : Soft links with round clusters of similar size, many times faster.

    Notes
    -----
    The prior of labels maximizes the entropy under given expected numbers of broken links: its logarithm is minus the
    sum of the penalties of broken links. Each link counts once. With q the probabilities of labels given the links and
    h the negative log-densities, the free energy is

    F_eta = sum_u sum q (log q + h) + eta [sum_c sum q (log q + h) + expected penalties],

    over rows u without links and c with links. In the chapter, the entropy of linked rows is printed without eta; then
    F_eta would rise in E-steps. Where parts of the links are solved exactly, q is their joint distribution.

    Labels by the parameters show whether the links have moved the clusters: with ``labels="links"``, a linked row can
    be in another cluster than the rows around it. With large penalties, mean field keeps whichever side a linked row
    took first, at any temperature; therefore exact inference is the default, with several starts. Must-links of
    infinite penalty make one row of a must-link component; in parts beyond `max_table` this is advisable for links
    that are certain. Annealing is off: on the chapter's four clouds, it finds worse optima than the same number of
    starts, as the first split at a high temperature is that of the largest variance, whatever the links say.

    `eta` and `penalty` are chosen by connected parts of the links, a third of them held out at a time; links that the
    fit with all of them breaks are added. With fewer than 12 parts these alone are counted, and the penalty is 1000.
    All linked rows together never weigh more than 10 times the others. The chapter holds the penalty fixed at 1000 and
    does not say which values of eta it used. On its four clouds with a fifth of 100 links wrong, the free energy with
    1000 is lowest for other clusters in one of ten draws.

    With ``metric="precomputed"`` and no embedding, the cost is the sum over clusters of the mean dissimilarity to a row
    of the cluster, times half the rows; the mean-field equations are corrected by a divisor that the printed ones
    lack. `eta`, `covariance_type`, `class_prior` and `init_params` have no effect; temperatures fall from above the
    first critical one, and ``objective_`` is minus the cost over the last one, minus the penalties of broken links,
    at each temperature. There are no methods for new rows. The dissimilarities of at most 20,000 rows are taken.

    References
    ----------
    T. Lange, M. H. Law, A. K. Jain and J. M. Buhmann, "Clustering with constraints: a mean-field approximation
    perspective", in: S. Basu, I. Davidson and K. L. Wagstaff (eds.), "Constrained Clustering", 2009, chapter 5.
    V. Roth, J. Laub, M. Kawanabe and J. M. Buhmann, "Optimal cluster preserving embedding of nonmetric proximity data",
    IEEE Transactions on Pattern Analysis and Machine Intelligence 25(12), 2003.

    Examples
    --------
    Four clouds, of which the upper and the lower ones are farther apart: two links tell that the left ones belong
    together, and the right ones.

    >>> import numpy as np
    >>> from mustlink import Constraints
    >>> from mustlink.mixture import MeanFieldMixture
    >>> corners = np.array([[-1.0, -1.5], [-1.0, 1.5], [1.0, -1.5], [1.0, 1.5]])
    >>> X = np.repeat(corners, 25, axis=0) + np.random.RandomState(0).normal(scale=0.3, size=(100, 2))
    >>> links = Constraints(must_link=[(0, 30)], cannot_link=[(10, 60)])
    >>> mixture = MeanFieldMixture(2, random_state=0).fit(X, constraints=links)
    >>> np.unique(mixture.labels_[:50]).size, np.unique(mixture.labels_[50:]).size, mixture.n_differing_
    (1, 1, 0)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LinkedMixture._parameter_constraints,
        "penalty": [StrOptions({"auto"}), Interval(Real, 0, None, closed="both"), tuple, list],
        "eta": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "class_prior": [StrOptions({"uniform", "estimate", "unlinked"})],
        "inference": [StrOptions({"auto", "mean_field"})],
        "partial_labels": [StrOptions({"links", "clamp"})],
        "labels": [StrOptions({"parameters", "links"})],
        "decode": [StrOptions({"joint", "marginals"})],
        "annealing_start": [Interval(Real, 0, 1, closed="right")],
        "annealing_factor": [Interval(Real, 1, None, closed="neither")],
        "metric": [StrOptions({"euclidean", "precomputed"})],
        "embedding": [Interval(Integral, 1, None, closed="left"), None],
        "max_table": [Interval(Integral, 1, None, closed="left")],
        "init_params": [StrOptions({"auto", "links", "kmeans", "k-means++", "random", "random_from_data"})],
    }

    eta_: float
    penalty_: Penalty
    free_energy_: float
    parameter_labels_: Ints
    link_labels_: Ints
    n_differing_: int

    def __init__(
        self,
        n_components: int = 8,
        *,
        covariance_type: str = "full",
        penalty: float | tuple[float, float] | str = "auto",
        eta: float | str = "auto",
        class_prior: str = "uniform",
        inference: str = "auto",
        partial_labels: str = "links",
        labels: str = "parameters",
        decode: str = "joint",
        annealing_start: float = 1.0,
        annealing_factor: float = 1.2,
        metric: str = "euclidean",
        embedding: int | None = None,
        max_table: int = 1_000_000,
        tol: float = 1e-5,
        reg_covar: float = 1e-6,
        max_iter: int = 200,
        n_init: int = 3,
        init_params: str = "auto",
        random_state: Any = None,
        verbose: int | bool = 0,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.penalty = penalty
        self.eta = eta
        self.class_prior = class_prior
        self.inference = inference
        self.partial_labels = partial_labels
        self.labels = labels
        self.decode = decode
        self.annealing_start = annealing_start
        self.annealing_factor = annealing_factor
        self.metric = metric
        self.embedding = embedding
        self.max_table = max_table
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.random_state = random_state
        self.verbose = verbose

    # ---- the fit -------------------------------------------------------------------------------------------------

    def _fit(self, X: Array, links: Constraints, y: Array | None) -> None:
        rng = check_random_state(self.random_state)
        clamped = self._clamped_rows(y)
        # The matrix products are of few rows: threads would cost more than they save.
        with one_blas_thread():
            if self.metric == "euclidean":
                self._fit_gaussians(X, links, clamped, rng)
            elif self.embedding is not None:
                self.embedding_, self.shift_ = embed_dissimilarities(X, self.embedding)
                self._fit_gaussians(self.embedding_, links, clamped, rng)
            else:
                self._fit_dissimilarities(X, links, clamped, rng)
        self.n_differing_ = int(np.count_nonzero(self.parameter_labels_ != self.link_labels_))
        self.labels_ = self.parameter_labels_ if self.labels == "parameters" else self.link_labels_
        self.violations_ = links.violations(self.labels_)

    def _fit_gaussians(
        self, X: Array, links: Constraints, clamped: ClampedRows | None, rng: np.random.RandomState
    ) -> None:
        """Fit the mixture to rows."""
        # All fits draw the same starts, so that a choice is used as it was tried.
        seed = draw_seed(rng)

        def plan(train: Constraints, penalty: Penalty, eta: float) -> MeanFieldSteps:
            return MeanFieldSteps(self._plan_links(train, len(X), penalty, clamped), eta, self.class_prior)

        def fit_labels(train: Constraints, penalty: Penalty, eta: float) -> Ints:
            run = quiet._best_run(X, plan(train, penalty, eta), np.random.RandomState(seed))
            return label_by_parameters(run.gaussians.log_density(X), run.weights)

        # The many fits of the choice show no progress bars.
        quiet = type(self)(**self.get_params(deep=False) | {"verbose": 0})
        etas = eta_candidates(links, len(X)) if self.eta == "auto" else [float(self.eta)]
        self.penalty_, eta = select_weights(links, len(X), self._penalties(), etas, fit_labels, rng)
        steps = plan(links, self.penalty_, eta)
        run = self._best_run(X, steps, np.random.RandomState(seed))
        self.eta_ = steps.eta
        log_density, weights = run.gaussians.log_density(X), run.weights.astype(X.dtype)
        expectation = steps.expect(log_density, weights, run.responsibilities)
        self.responsibilities_ = expectation.responsibilities
        self.free_energy_ = -expectation.objective
        self.parameter_labels_ = label_by_parameters(log_density, weights)
        logs = steps.joint_logs(log_density, weights)
        self.link_labels_ = self._label_by_links(steps.linked, logs, self.responsibilities_)
        self.inference_ = steps.report
        self._keep(run, X.dtype)

    def _fit_dissimilarities(
        self, D: Array, links: Constraints, clamped: ClampedRows | None, rng: np.random.RandomState
    ) -> None:
        """Cluster rows by their dissimilarities."""
        self.penalty_ = self._penalties()[0]
        linked = self._plan_links(links, len(D), self.penalty_, clamped)
        schedule = list(temperatures(D, self.annealing_factor))
        runs: list[PairwiseRun] = []
        with progress(self.n_init, type(self).__name__, shown=self.verbose) as advance:
            for _ in range(self.n_init):
                run = anneal(D, linked, self.n_components, schedule, max_iter=self.max_iter, rng=rng)
                runs = [max([*runs, run], key=lambda made: made.objective[-1])]
                advance()
        best = runs[0]
        self.responsibilities_, self.objective_ = best.responsibilities, best.objective
        self.lower_bound_, self.free_energy_ = best.objective[-1], -best.objective[-1]
        self.converged_, self.n_iter_ = best.converged, len(best.objective)
        potentials = pairwise_potentials(D, best.responsibilities)
        self.parameter_labels_ = potentials.argmax(axis=1).astype(np.int64)
        self.link_labels_ = self._label_by_links(linked, potentials / schedule[-1], best.responsibilities)
        self.inference_ = None if linked.inference is None else linked.inference.report

    def _penalties(self) -> Sequence[Penalty]:
        """Return the penalties to choose from."""
        return PENALTIES if isinstance(self.penalty, str) else [check_penalty(self.penalty)]

    def _plan_links(
        self, links: Constraints, n_samples: int, penalty: Penalty, clamped: ClampedRows | None
    ) -> LinkedRows:
        """Plan the inference on linked rows."""
        return LinkedRows.plan(
            links,
            n_samples,
            self.n_components,
            penalty=penalty if isinstance(penalty, tuple) else (penalty, penalty),
            is_exact=self.inference == "auto",
            max_table=self.max_table,
            clamped=clamped,
        )

    def _label_by_links(self, linked: LinkedRows, logs: Array, responsibilities: Array) -> Ints:
        """Return the most probable labels given the links."""
        labels = linked.best_labels(logs) if self.decode == "joint" else responsibilities.argmax(axis=1)
        return np.asarray(labels, dtype=np.int64)

    # ---- runs ----------------------------------------------------------------------------------------------------

    def _starts(self, X: Array, steps: EMSteps, rng: np.random.RandomState) -> Iterator[Array]:
        assert isinstance(steps, MeanFieldSteps)
        init_params = self.init_params
        if init_params == "auto" and self._has_few_rows(*X.shape):
            init_params = "kmeans"
        return start_masses(X, steps, self.n_components, init_params, self.n_init, rng)

    def _has_few_rows(self, n_rows: int, n_features: int) -> bool:
        """Return whether covariances are nearly singular from any start, and the free energy says nothing."""
        n_matrices = {"full": self.n_components, "tied": 1}.get(self.covariance_type, 0)
        return n_rows < MIN_ROWS_PER_COLUMN * n_matrices * n_features

    def _run(self, X: Array, steps: EMSteps, start: Array, advance: Advance) -> MixtureRun:
        """Run EM at rising inverse temperatures, if any, and at 1; each begins with the result of the one before."""
        if self.annealing_start == 1:
            return super()._run(X, steps, start, advance)
        assert isinstance(steps, MeanFieldSteps)
        rng = np.random.RandomState(0)
        for steps.inverse_temperature in inverse_temperatures(self.annealing_start, self.annealing_factor):
            hot = super()._run(X, steps, start, advance)
            assert hot.responsibilities is not None
            start = steps.masses(perturb(hot.responsibilities, rng))
        steps.inverse_temperature = 1.0
        return super()._run(X, steps, start, advance)

    # ---- input ---------------------------------------------------------------------------------------------------

    def _clamped_rows(self, y: Array | None) -> ClampedRows | None:
        """Return the rows whose mixture component is given."""
        if y is None or self.partial_labels == "links":
            return None
        refuse_many_classes(y, self.n_components, number="n_components")
        rows, component, _ = known_rows(y)
        return ClampedRows(rows.astype(np.intp), component.astype(np.intp)) if len(rows) else None

    def _links_of_labels(self, y: Array, order: Indices) -> Constraints:
        return super()._links_of_labels(y, order) if self.partial_labels == "links" else Constraints()

    def _check_rows(self, X: Any, *, reset: bool = True) -> Any:
        if self.metric == "euclidean":
            return super()._check_rows(X, reset=reset)
        shape = np.shape(X)
        if len(shape) == 2:
            check_fits(
                'MeanFieldMixture with metric="precomputed"',
                (shape[0], shape[1]),
                MAX_DISSIMILARITIES,
                "cluster a sample of the rows, or rows of features",
            )
        D = check_table(self, X, reset=reset, dtype=np.float64, ensure_min_samples=2)
        check_dissimilarities(D)
        return D

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags

    def _joint_logs(self, X: Any) -> Array:
        if self.metric == "precomputed":
            raise AttributeError(
                'With metric="precomputed" there is no density of new rows; labels_ has the clusters of the fitted '
                "rows. Fit rows of features to predict others."
            )
        return super()._joint_logs(X)


def label_by_parameters(log_density: Array, weights: Floats) -> Ints:
    """Return the most probable mixture component of each row, without links."""
    return np.asarray((log_density + np.log(weights)).argmax(axis=1), dtype=np.int64)


def inverse_temperatures(start: float, factor: float) -> list[float]:
    """Return inverse temperatures that rise by a factor from the first one to the last below 1."""
    n_levels = int(np.ceil(np.log(1 / start) / np.log(factor) - 1e-9))
    return [start * factor**level for level in range(n_levels)]


def perturb(responsibilities: Array, rng: np.random.RandomState) -> Array:
    """Return responsibilities with a little noise."""
    noisy = responsibilities * (1 + NOISE * rng.uniform(size=responsibilities.shape)).astype(responsibilities.dtype)
    return np.asarray(noisy / noisy.sum(axis=1)[:, None])


def check_penalty(penalty: Any) -> Penalty:
    """Return the penalty of all links, or those of must-links and of cannot-links, or raise."""
    if np.ndim(penalty) == 0:
        return float(penalty)
    values = np.asarray(penalty, dtype=np.float64)
    if values.shape != (2,) or not (values >= 0).all():
        raise ValueError(
            f"penalty must be a number of at least 0, or two such numbers, of must-links and of cannot-links; got "
            f"{penalty!r}."
        )
    return float(values[0]), float(values[1])
