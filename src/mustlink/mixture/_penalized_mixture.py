"""PenalizedGaussianMixture: a Gaussian mixture in which links are log-odds of the labels of pairs."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from mustlink._progress import Advance
from mustlink._sklearn_compat import Interval, StrOptions
from mustlink._types import Array, Floats, Indices, Mask
from mustlink.constraints import Constraints
from mustlink.errors import InfeasibleError, TooLargeError
from mustlink.inference import InferenceReport, LinkInference
from mustlink.mixture._base import (
    EMSteps,
    Expectation,
    LinkedMixture,
    MixtureRun,
    normalized_weights,
    warn_of_approximation,
)
from mustlink.mixture._link_penalties import DEFAULT_PENALTY, HARD_WEIGHT
from mustlink.mixture._link_prior import LinkNodes, LinkPrior, maximize_weights
from mustlink.mixture._link_steps import LinkSteps

__all__ = ["PenalizedGaussianMixture"]


class PenalizedGaussianMixture(LinkedMixture):
    """Gaussian mixture with soft and hard must-link and cannot-link constraints (Lu and Leen 2009).

    Links are a prior of the labels: a labeling that breaks a link is exp(penalty) times less probable. Use it when
    links may be wrong, contradict each other, or are of different certainty, and probabilities are wanted.
    :class:`ConstrainedGaussianMixture` is for links that must hold.

    Parameters
    ----------
    n_components : int, default=8
        The number of mixture components, which are the clusters.
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        The form of the covariances, as of :class:`sklearn.mixture.GaussianMixture`.
    penalty : float, default=3.0
        The penalty of a broken link of weight one, in log-odds; that of another link is `penalty` times its weight.
        With 3 a link of weight one is right in 95 of 100 cases, :func:`~mustlink.mixture.flip_rate_penalty` gives the
        number for other rates. With 0 soft links are ignored, with infinity all links are hard.
    hard_weight : float, default=1e6
        Links of this weight and above are hard: no labeling of positive probability breaks one.
        :func:`~mustlink.mixture.links_of_certainty` gives links of certainty one such a weight.
    inference : {"auto", "exact", "mean_field", "gibbs", "bp"}, default="auto"
        How probabilities of linked rows are computed; hard must-links make one row of a must-link component first:

        - "auto": exactly for each connected part of the links whose tables fit `max_table`, which trees always do, and
          by mean field for others, with a warning;
        - "exact": exactly, or raise TooLargeError;
        - "mean_field": always by mean field;
        - "gibbs": always by Gibbs sampling, slower, without the bias of mean field;
        - "bp": always by loopy belief propagation. It takes no hard cannot-links, and penalties above 30 count as 30.

    normalizer : {"exact", "pseudo", "ignore", "uniform"}, default="exact"
        How the mixture weights are estimated, since links alone already change the sizes that weights imply:

        - "exact": by maximum likelihood. Rows whose probabilities are approximated do not count; if there are no
          others, the weights are equal;
        - "pseudo": as if no two links had a row in common;
        - "ignore": the mean responsibilities, as without links;
        - "uniform": equal and fixed weights.

    decode : {"joint", "marginals"}, default="joint"
        How ``labels_`` follow from the probabilities: the most probable labels of all rows together, which keep hard
        links; or the most probable label of each row.
    max_table : int, default=1_000_000
        The maximum number of entries of the tables of a connected part of the links.
    tol : float, default=1e-3
        EM ends when the mean objective of a row changes by less.
    reg_covar : float, default=1e-6
        Added to the diagonal of the covariances. Where the variances of columns are not far above it, as of numbers in
        very small units, scale the columns or reduce it: otherwise all clusters become alike.
    max_iter : int, default=100
        The maximum number of EM iterations of a run.
    n_init : int, default=1
        The number of runs from different starts, of which the one with the largest objective is kept.
    init_params : {"kmeans", "k-means++", "random", "random_from_data"}, default="kmeans"
        How the responsibilities of a start are made, as of :class:`sklearn.mixture.GaussianMixture`.
    random_state : int, RandomState or None, default=None
        Makes a fit repeatable bit for bit.
    verbose : int or bool, default=0
        Whether to show a progress bar.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every row.
    responsibilities_ : ndarray of shape (n_samples, n_components)
        The probability of every mixture component for every row, given the links.
    weights_ : ndarray of shape (n_components,)
        The weights of the mixture components.
    means_ : ndarray of shape (n_components, n_features)
        Their means.
    covariances_ : ndarray
        Their covariances, in the shape that `covariance_type` has in scikit-learn.
    precisions_cholesky_ : ndarray
        The Cholesky factors of the inverse covariances.
    inference_ : InferenceReport
        How the probabilities of linked rows are computed.
    converged_ : bool
        Whether EM converged.
    n_iter_ : int
        The number of iterations of the kept run.
    objective_ : list of float
        The mean objective of a row after each E-step of that run: the log-likelihood under the links, or what stands
        for it with another `normalizer` or `inference`.
    lower_bound_ : float
        The last of them.
    violations_ : Constraints
        The links that the result breaks.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X has any.

    See Also
    --------
    ConstrainedGaussianMixture : Links are never broken.
    MeanFieldMixture : Linked rows weigh more than others, for few links.
    mustlink.mixture.links_of_certainty : Weights of links from the probability that they are right.
    mustlink.mixture.grid_links : Links between neighboring pixels or points of time.

    Notes
    -----
    The objective is log sum_Z prod_i pi(z_i) N(x_i; z_i) g(Z) - log Omega(pi), where g(Z) has the factor exp(-penalty)
    for each link that Z breaks, and Omega(pi) is the same sum without the densities. The chapter counts a link twice,
    as (i, j) and as (j, i): its weight w is half a penalty. The links of one pair add up if it is given both ways.

    Other than in the chapter, where pi is taken from a grid, it is found by L-BFGS, since the objective is concave in
    log(pi). With exact inference and normalizer="exact" or "uniform" no iteration lowers the objective (up to
    `reg_covar`). With equal penalties, small covariances turn the method into soft constrained k-means
    (:class:`~mustlink.PCKMeans`), and penalties that grow faster than the precisions into COP-KMEANS.

    Where inference is approximate, a run first fits the mixture without links: strong links would keep the clusters of
    a poor start. Several starts (`n_init`) are worth their time there.

    Links help as far as a substantial part of the rows is linked; a few links among many rows change the mixture
    little.

    References
    ----------
    Z. Lu and T. K. Leen, "Pairwise constraints as priors in probabilistic clustering", in S. Basu, I. Davidson and
    K. L. Wagstaff (eds.), "Constrained Clustering", chapter 4, 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import Constraints, PenalizedGaussianMixture
    >>> X = np.array([[-1.2, -1], [-0.9, 1], [-1, 1.2], [-1, -0.8], [1.1, -1], [1, 0.9], [0.9, -1.1], [1, 1.1]])
    >>> links = Constraints(must_link=[(0, 1), (4, 5)], cannot_link=[(1, 7), (3, 6)])
    >>> mixture = PenalizedGaussianMixture(n_components=2, covariance_type="diag", random_state=0)
    >>> mixture.fit(X, constraints=links).labels_
    array([1, 1, 1, 1, 0, 0, 0, 0])
    >>> mixture.inference_.describe()
    'Exact: 1 part by tree, 2 parts by pair.'
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LinkedMixture._parameter_constraints,
        "penalty": [Interval(Real, 0, None, closed="both")],
        "hard_weight": [Interval(Real, 0, None, closed="right")],
        "inference": [StrOptions({"auto", "exact", "mean_field", "gibbs", "bp"})],
        "normalizer": [StrOptions({"exact", "pseudo", "ignore", "uniform"})],
        "decode": [StrOptions({"joint", "marginals"})],
        "max_table": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_components: int = 8,
        *,
        covariance_type: str = "full",
        penalty: float = DEFAULT_PENALTY,
        hard_weight: float = HARD_WEIGHT,
        inference: str = "auto",
        normalizer: str = "exact",
        decode: str = "joint",
        max_table: int = 1_000_000,
        tol: float = 1e-3,
        reg_covar: float = 1e-6,
        max_iter: int = 100,
        n_init: int = 1,
        init_params: str = "kmeans",
        random_state: Any = None,
        verbose: int | bool = 0,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.penalty = penalty
        self.hard_weight = hard_weight
        self.inference = inference
        self.normalizer = normalizer
        self.decode = decode
        self.max_table = max_table
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.random_state = random_state
        self.verbose = verbose

    def _plan(self, X: Array, links: Constraints, rng: np.random.RandomState) -> PenalizedSteps:
        penalty = np.where(links.weight >= self.hard_weight, np.inf, self.penalty * links.weight)
        rows, linked = links.take(penalty > 0).compact()
        penalty = penalty[penalty > 0]
        is_exact = self.inference in ("auto", "exact")
        beyond: Any = "mean_field" if is_exact else self.inference
        try:
            inference = LinkInference.plan(
                linked.adjacency(len(rows)),
                penalty,
                self.n_components,
                exact=is_exact,
                beyond=beyond,
                max_table=self.max_table,
                random_state=rng,
                rows=rows,
            )
        except InfeasibleError as error:
            fields = error.fields | {"number": "n_components"}
            remedy = error.without_remedies("soft_mixture").remedy or ()
            raise InfeasibleError(error.problem, error.pairs, remedy=(*remedy, "softer_links"), **fields) from None
        self._check_width(inference.report, is_any_soft=bool((np.isfinite(penalty) & (linked.sign > 0)).any()))
        nodes = LinkNodes.of(linked, rows, len(X), "point", penalty)
        is_wide = inference.is_approximate
        is_uniform = self.normalizer == "uniform" or (self.normalizer == "exact" and is_wide.sum() == len(X))
        return PenalizedSteps(
            nodes,
            inference,
            self._prior(nodes, linked, penalty, is_wide),
            rows[is_wide] if self.normalizer == "exact" else rows[:0],
            is_joint=self.decode == "joint",
            is_uniform=is_uniform,
            continues=self.inference != "gibbs",
        )

    def _check_width(self, report: InferenceReport, *, is_any_soft: bool) -> None:
        """Refuse links that are too wide for exact inference, or name the approximation, unless it was asked for."""
        # Hard must-links take no tables.
        also = ["harden_must_links"] if is_any_soft and np.isfinite(self.hard_weight) else []
        if self.inference == "exact" and not report.is_exact:
            raise TooLargeError(
                f"Connected parts of the links are too large for exact inference with tables of {self.max_table:,} "
                'entries; pass inference="auto" for an approximation',
                remedy=("larger_tables", *also),
                hard_weight=self.hard_weight,
            )
        if self.inference == "auto":
            warn_of_approximation(report, *also, hard_weight=self.hard_weight)

    def _prior(self, nodes: LinkNodes, linked: Constraints, penalty: Floats, is_wide: Mask) -> LinkPrior | None:
        """Return the prior that the weights allow for; None if they allow for none."""
        if self.normalizer == "pseudo":
            return LinkPrior.pseudo(nodes)
        if self.normalizer != "exact":
            return None
        is_narrow = ~is_wide[linked.pairs[:, 0]]
        places, narrow = linked.take(is_narrow).compact()
        counted = LinkNodes.of(narrow, nodes.rows[places], len(places) + nodes.n_free, "point", penalty[is_narrow])
        return LinkPrior.exact(counted, self.n_components, self.max_table)

    def _run(self, X: Array, steps: EMSteps, start: Array, advance: Advance) -> MixtureRun:
        if steps.report is not None and not steps.report.is_exact:
            # Approximations keep the clusters of a poor start if links are strong: without links they improve first.
            plain = super()._run(X, EMSteps(), start, lambda *done, **notes: None)
            assert plain.responsibilities is not None
            start = plain.responsibilities
        return super()._run(X, steps, start, advance)


class PenalizedSteps(LinkSteps):
    """The steps of EM with penalties of broken links."""

    def __init__(
        self,
        nodes: LinkNodes,
        inference: LinkInference,
        prior: LinkPrior | None,
        uncounted: Indices,
        *,
        is_joint: bool,
        is_uniform: bool,
        continues: bool,
    ) -> None:
        super().__init__(nodes, inference, prior, is_joint=is_joint)
        self._uncounted, self._is_uniform, self.continues = uncounted, is_uniform, continues

    def expect(self, log_density: Array, weights: Floats, previous: Array | None) -> Expectation:
        if self._is_uniform:
            # The weights of a start are not uniform yet.
            weights = np.full_like(weights, 1 / len(weights))
        return super().expect(log_density, weights, previous)

    def weigh(self, responsibilities: Array, weights: Floats) -> Floats:
        if self._is_uniform:
            return np.full(len(weights), 1 / len(weights))
        counts = responsibilities.sum(axis=0, dtype=np.float64)
        counts -= responsibilities[self._uncounted].sum(axis=0, dtype=np.float64)
        return normalized_weights(counts) if self._prior is None else maximize_weights(counts, self._prior, weights)
