"""ConstrainedGaussianMixture: Gaussian mixtures with hard links."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from mustlink._sklearn_compat import Interval, StrOptions
from mustlink._spelling import count
from mustlink._types import Array, Indices
from mustlink._warnings import warn_caller
from mustlink.base import refuse_contradictions, refuse_infeasible
from mustlink.constraints import Constraints
from mustlink.errors import InfeasibleError, InfeasibleWarning
from mustlink.inference import LinkInference
from mustlink.mixture._base import MIN_WEIGHT, LinkedMixture, warn_of_approximation
from mustlink.mixture._link_prior import LinkNodes, LinkPrior
from mustlink.mixture._link_steps import LinkSteps, without_contradictions

__all__ = ["ConstrainedGaussianMixture"]

# No variance is taken for less than this part of the largest squared distance: penalties far above its inverse would
# leave few digits for the rest of the objective.
MIN_RELATIVE_VARIANCE = 1e-8


class ConstrainedGaussianMixture(LinkedMixture):
    """Gaussian mixture with hard must-link and cannot-link constraints (Shental, Bar-Hillel, Hertz, Weinshall 2003).

    EM in which the E-step sums only over the assignments of rows to mixture components that keep every link: the rows
    of a must-link component share a mixture component, and those of a cannot-link never do. Use it when the links are
    certain and the clusters are ellipsoids of different shapes, or when probabilities are wanted.

    Parameters
    ----------
    n_components : int, default=8
        The number of mixture components, which are the clusters.
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        The form of the covariances: a matrix for each mixture component, one matrix for all, a variance for each
        column, or one variance.
    sampling : {"point", "component"}, default="point"
        How the links came about. "point": rows were drawn one by one, and pairs of them compared later; a must-link
        component of s rows is in mixture component l with the prior probability proportional to alpha_l^s.
        "component": whole must-link components were drawn, such as the frames of one scene; it is alpha_l.
    normalizer : {"exact", "pseudo", "ignore"}, default="exact"
        How the weights allow for the probability that random labels keep the links: exactly; as if no row had two
        cannot-links; or not at all.
    decode : {"joint", "marginals"}, default="joint"
        How ``labels_`` follow from the probabilities: the most probable labels of all rows together, which keep the
        links; or the most probable label of each row, which can break cannot-links.
    on_infeasible : {"raise", "relax"}, default="raise"
        What to do if no labels keep all links: raise :class:`InfeasibleError`; or keep the must-links, break few
        cannot-links, and issue an :class:`InfeasibleWarning`.
    max_table : int, default=1_000_000
        The maximum number of entries of the tables of a connected part of the cannot-links. Parts with larger ones are
        replaced by a spanning tree, with a warning.
    tol : float, default=1e-3
        A run stops when the objective, the mean of a row, changes by less.
    reg_covar : float, default=1e-6
        Added to the diagonal of the covariances. Where the variances of columns are not far above it, as of numbers in
        very small units, scale the columns or reduce it: otherwise all clusters become alike.
    max_iter : int, default=100
        The maximum number of iterations of a run.
    n_init : int, default=1
        The number of runs from different starts, of which the one with the largest objective is kept.
    init_params : {"kmeans", "k-means++", "random", "random_from_data"}, default="kmeans"
        How a run starts, as in :class:`~sklearn.mixture.GaussianMixture`: from the clusters of k-means, from rows drawn
        far from each other, from random responsibilities, or from random rows. Links are not used.
    random_state : int, RandomState or None, default=None
        Makes a fit repeatable bit for bit.
    verbose : int or bool, default=0
        Whether to show a progress bar.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every row.
    responsibilities_ : ndarray of shape (n_samples, n_components)
        The probability of every mixture component for every row, given all links.
    weights_ : ndarray of shape (n_components,)
        The weights alpha.
    means_ : ndarray of shape (n_components, n_features)
        The means.
    covariances_ : ndarray
        The covariances; the shape depends on `covariance_type`, as in scikit-learn.
    precisions_cholesky_ : ndarray
        The Cholesky factors of the inverse covariances, of the same shape.
    objective_ : list of float
        The log-likelihood given the links, the mean of a row, in every iteration of the kept run. With
        ``normalizer="exact"`` it never falls, but for what `reg_covar` adds.
    lower_bound_ : float
        Its last entry.
    converged_ : bool
        Whether the kept run converged.
    n_iter_ : int
        The number of its iterations.
    inference_ : InferenceReport
        How the probabilities given the links were computed.
    violations_ : Constraints
        The links that ``labels_`` break; none if the inference is exact, unless ``on_infeasible="relax"`` or
        ``decode="marginals"``.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X has any.

    Raises
    ------
    InfeasibleError
        With ``on_infeasible="raise"``, if links contradict each other or need more mixture components.

    See Also
    --------
    sklearn.mixture.GaussianMixture : The same without links.
    COPKMeans : Hard links with round clusters of similar size, many times faster.

    Notes
    -----
    The objective is log p(X, links | parameters) - log p(links | parameters). Its second term, log Z, is the
    log-probability that labels drawn from the weights keep the links. With ``normalizer="pseudo"`` it is that of
    disjoint cannot-links between must-link components, and with "ignore" it is left out, of ``objective_`` too: both
    are other functions, and need not increase the first one. With "exact", log Z and its gradient come from the same
    inference as the E-step, without data. There the weights have no closed form; a few steps of L-BFGS in their
    logarithms, in which the function is concave, are taken from the previous ones.

    Each connected part of the cannot-links between must-link components is solved by the cheapest exact way: a pair,
    a bipartition, a tree, a clique, or a junction tree while its tables fit `max_table`. A part beyond that keeps the
    cannot-links of a spanning tree, of rows near to each other first; the labels then improve on those of the tree, and
    may break some of the others. ``violations_`` lists them.

    Partial labels count as must-links within a class, and one cannot-link between each two classes.

    No weight is less than 1e-8. A mixture component without rows gets the mean and the covariance of all rows; a
    singular covariance gets a larger diagonal, with a warning. The source gives neither rule, nor one for the spanning
    tree, and leaves the start to the user.

    References
    ----------
    N. Shental, A. Bar-Hillel, T. Hertz and D. Weinshall, "Computing Gaussian mixture models with EM using equivalence
    constraints", NIPS 2003, and "Gaussian mixture models with equivalence constraints", in: S. Basu, I. Davidson and
    K. L. Wagstaff (eds.), "Constrained Clustering", 2009, chapter 3.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import Constraints
    >>> from mustlink.mixture import ConstrainedGaussianMixture
    >>> X = np.array([[0.0], [1.0], [2.0], [8.0], [9.0], [10.0]])
    >>> links = Constraints(must_link=[(2, 3)], cannot_link=[(1, 2)])
    >>> mixture = ConstrainedGaussianMixture(2, random_state=0).fit(X, constraints=links)
    >>> mixture.labels_
    array([1, 1, 0, 0, 0, 0])
    >>> mixture.responsibilities_[:3].round(2)
    array([[0.07, 0.93],
           [0.  , 1.  ],
           [1.  , 0.  ]])
    >>> print(mixture.inference_.describe())
    Exact: 1 part by bipartition.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LinkedMixture._parameter_constraints,
        "sampling": [StrOptions({"point", "component"})],
        "normalizer": [StrOptions({"exact", "pseudo", "ignore"})],
        "decode": [StrOptions({"joint", "marginals"})],
        "on_infeasible": [StrOptions({"raise", "relax"})],
        "max_table": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_components: int = 8,
        *,
        covariance_type: str = "full",
        sampling: str = "point",
        normalizer: str = "exact",
        decode: str = "joint",
        on_infeasible: str = "raise",
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
        self.sampling = sampling
        self.normalizer = normalizer
        self.decode = decode
        self.on_infeasible = on_infeasible
        self.max_table = max_table
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.random_state = random_state
        self.verbose = verbose

    def _plan(self, X: Array, links: Constraints, rng: np.random.RandomState) -> LinkSteps:
        rows, linked = links.compact()
        penalty = np.inf
        try:
            inference = self._infer(X, rows, linked, penalty)
        except InfeasibleError:
            if self.on_infeasible == "raise":
                refuse_contradictions(links, soft="soft_mixture")
                # Enough further rows that no cluster need be empty.
                feasibility = links.feasible(self.n_components, len(X) + self.n_components)
                refuse_infeasible(feasibility, number="n_components", soft="soft_mixture")
                raise
            linked = without_contradictions(linked, len(rows))
            try:
                inference = self._infer(X, rows, linked, penalty)
            except InfeasibleError:
                penalty = relaxed_penalty(X, len(rows), self.reg_covar)
                inference = self._infer(X, rows, linked, penalty)
        warn_of_approximation(inference.report)
        penalties = np.where(linked.sign > 0, np.inf, penalty)
        return self._steps(LinkNodes.of(linked, rows, len(X), self.sampling, penalties), inference)

    def _infer(self, X: Array, rows: Indices, linked: Constraints, penalty: float) -> LinkInference:
        """Plan the inference on linked rows, with a penalty of cannot-links."""
        a, b = rows[linked.pairs].T
        squares = np.square(X[a].astype(np.float64) - X[b]).sum(axis=1)
        # Rows near to each other are the first to break a cannot-link.
        nearness = 1 / (1 + squares / max(squares.mean(), np.finfo(float).tiny)) if len(squares) else squares
        return LinkInference.plan(
            linked.adjacency(len(rows)),
            np.where(linked.sign > 0, np.inf, penalty),
            self.n_components,
            max_table=self.max_table,
            tree_weight=nearness,
            rows=rows,
        )

    def _steps(self, nodes: LinkNodes, inference: LinkInference) -> LinkSteps:
        """Return the steps of EM; the prior of the weights is computed the cheapest way that agrees with the E-step."""
        prior = None
        if self.normalizer == "pseudo":
            prior = LinkPrior.pseudo(nodes)
        elif self.normalizer == "exact" and inference.report.is_exact:
            prior = LinkPrior.exact(nodes, self.n_components, self.max_table)
        elif self.normalizer == "exact":
            prior = LinkPrior.by_inference(nodes, inference)
        return LinkSteps(nodes, inference, prior, is_joint=self.decode == "joint")

    def _fit(self, X: Array, links: Constraints, y: Array | None) -> None:
        super()._fit(X, links, y)
        if self.decode == "joint" and not self.violations_.is_empty:
            warn_caller(
                f"Not all links could be kept: the clustering breaks {len(self.violations_):,} of "
                f"{count(len(links), 'link')}",
                InfeasibleWarning,
                remedy="see_violations",
            )


def relaxed_penalty(X: Array, n_linked: int, reg_covar: float) -> float:
    """Return the penalty of cannot-links that cannot all be kept: more than the data of the linked rows can say.

    It bounds the difference of two log-densities of a row, with its prior, given that means are among the rows and no
    variance is below `reg_covar`; times the number of rows, so that no labeling gains by breaking one more link.
    """
    square = float(np.square(np.ptp(X, axis=0).astype(np.float64)).sum())
    ratio = square / max(reg_covar, MIN_RELATIVE_VARIANCE * square, np.finfo(np.float64).tiny)
    return n_linked * float(0.5 * ratio + 0.5 * X.shape[1] * np.log1p(ratio) - np.log(MIN_WEIGHT))
