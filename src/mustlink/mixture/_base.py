"""The base class of the Gaussian mixtures with links: starts, EM with restarts, results, methods for new rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans, kmeans_plusplus
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from mustlink._progress import Advance, progress
from mustlink._sklearn_compat import Interval, StrOptions, one_blas_thread
from mustlink._spelling import count
from mustlink._types import Array, Floats, Ints
from mustlink._warnings import warn_caller
from mustlink.base import ConstrainedClusterMixin, check_table
from mustlink.blocks import blockwise
from mustlink.constraints import Constraints
from mustlink.errors import ApproximationWarning
from mustlink.inference import InferenceReport
from mustlink.mixture._gaussians import COVARIANCE_TYPES, Gaussians, normalize_logs

__all__ = [
    "MIN_WEIGHT",
    "EMSteps",
    "Expectation",
    "LinkedMixture",
    "MixtureRun",
    "normalized_weights",
    "warn_of_approximation",
]

# No weight is less, so that a mixture component that lost all rows does not make logarithms infinite.
MIN_WEIGHT = 1e-8


@dataclass(frozen=True, eq=False)
class Expectation:
    """The outcome of an E-step.

    Parameters
    ----------
    responsibilities : ndarray of shape (n_samples, n_components)
        The probability of every mixture component for every row, given the links.
    objective : float
        What EM increases, as a sum over the rows; the log-likelihood without links.
    """

    responsibilities: Array
    objective: float


class EMSteps:
    """The steps of EM that depend on the links, planned once for all runs; these are the steps without links.

    A mixture with links overrides what differs. The steps of a run are, from responsibilities: `masses`, from which the
    densities are estimated, and `weigh`; then `expect`.

    Parameters
    ----------
    report : InferenceReport or None, default=None
        How the E-step computes probabilities given the links.

    Attributes
    ----------
    continues : bool
        Whether an E-step can start from responsibilities of any run; not if it continues chains of the last run.
    """

    continues = True

    def __init__(self, report: InferenceReport | None = None) -> None:
        self.report = report

    def expect(self, log_density: Array, weights: Floats, previous: Array | None) -> Expectation:
        """Return the responsibilities and the objective for given densities of the rows and weights.

        `previous` are the responsibilities before, to start an iterative inference from; None in the first step.
        """
        responsibilities, log_sums = normalize_logs(log_density + np.log(weights))
        return Expectation(responsibilities, float(log_sums.sum(dtype=np.float64)))

    def masses(self, responsibilities: Array) -> Array:
        """Return the mass of every row in every mixture component, from which means and covariances are estimated."""
        return responsibilities

    def weigh(self, responsibilities: Array, weights: Floats) -> Floats:
        """Return the new weights of the mixture components, given the old ones."""
        return normalized_weights(responsibilities.sum(axis=0, dtype=np.float64))

    def decode(self, log_density: Array, weights: Floats, expectation: Expectation) -> Ints:
        """Return the labels of the rows for the parameters that are kept."""
        return np.asarray(expectation.responsibilities.argmax(axis=1), dtype=np.int64)


@dataclass(eq=False)
class MixtureRun:
    """A run of EM from one start.

    Parameters
    ----------
    weights : ndarray of shape (n_components,)
        The weights of the mixture components.
    gaussians : Gaussians
        Their densities.
    responsibilities : ndarray of shape (n_samples, n_components) or None, default=None
        Those of the last E-step.
    objective : list of float
        The mean objective of a row in every E-step.
    converged : bool, default=False
        Whether its last change was less than the tolerance.
    """

    weights: Floats
    gaussians: Gaussians
    responsibilities: Array | None = None
    objective: list[float] = field(default_factory=list)
    converged: bool = False


class LinkedMixture(ConstrainedClusterMixin, BaseEstimator):
    """Base of the Gaussian mixtures with links; each has its own steps of EM."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "covariance_type": [StrOptions(set(COVARIANCE_TYPES))],
        "tol": [Interval(Real, 0, None, closed="left")],
        "reg_covar": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "init_params": [StrOptions({"kmeans", "k-means++", "random", "random_from_data"})],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }
    _read_by_predict: ClassVar[tuple[str, ...]] = ("weights_", "means_", "covariances_", "precisions_cholesky_")

    n_components: int
    covariance_type: str
    tol: float
    reg_covar: float
    max_iter: int
    n_init: int
    init_params: str
    random_state: Any
    verbose: int | bool

    responsibilities_: Array
    weights_: Array
    means_: Array
    covariances_: Array
    precisions_cholesky_: Array
    objective_: list[float]
    lower_bound_: float
    converged_: bool
    n_iter_: int
    inference_: InferenceReport | None

    # ---- the fit -------------------------------------------------------------------------------------------------

    def _plan(self, X: Array, links: Constraints, rng: np.random.RandomState) -> EMSteps:
        """Return the steps of EM with these links, after refusing links that the mixture cannot keep."""
        raise NotImplementedError

    def _fit(self, X: Array, links: Constraints, y: Array | None) -> None:
        rng = check_random_state(self.random_state)
        steps = self._plan(X, links, rng)
        # The matrix products are of few rows: threads would cost more than they save.
        with one_blas_thread():
            best = self._best_run(X, steps, rng)
            log_density = best.gaussians.log_density(X)
            # In the precision in which they are kept, so that without links `predict` gives the same labels.
            weights = best.weights.astype(X.dtype)
            expectation = steps.expect(log_density, weights, best.responsibilities if steps.continues else None)
            self.labels_ = steps.decode(log_density, weights, expectation)
        self.responsibilities_ = expectation.responsibilities
        self.violations_ = links.violations(self.labels_)
        self.inference_ = steps.report
        self._keep(best, X.dtype)

    def _best_run(self, X: Array, steps: EMSteps, rng: np.random.RandomState) -> MixtureRun:
        """Run EM from as many starts as `n_init` asks for, and return the run with the largest objective."""
        best: MixtureRun | None = None
        for number, start in enumerate(self._starts(X, steps, rng), start=1):
            with progress(self.max_iter, f"{type(self).__name__}, run {number}", shown=self.verbose) as advance:
                run = self._run(X, steps, start, advance)
            if best is None or run.objective[-1] > best.objective[-1]:
                best = run
        assert best is not None
        return best

    def _starts(self, X: Array, steps: EMSteps, rng: np.random.RandomState) -> Iterator[Array]:
        """Yield the responsibilities that the runs begin with; here they do not depend on the links."""
        for _ in range(self.n_init):
            yield start_responsibilities(X, self.n_components, self.init_params, rng)

    def _run(self, X: Array, steps: EMSteps, start: Array, advance: Advance) -> MixtureRun:
        """Run EM from the responsibilities of a start."""
        run = MixtureRun(normalized_weights(start.sum(axis=0, dtype=np.float64)), self._estimate(X, start))
        before = -np.inf
        for _ in range(self.max_iter):
            expectation = steps.expect(run.gaussians.log_density(X), run.weights, run.responsibilities)
            run.responsibilities = expectation.responsibilities
            run.gaussians = self._estimate(X, steps.masses(run.responsibilities))
            run.weights = steps.weigh(run.responsibilities, run.weights)
            run.objective.append(expectation.objective / len(X))
            change, before = run.objective[-1] - before, run.objective[-1]
            advance(note=f"objective {before:.6g}")
            # A change that is rounding is none.
            if abs(change) <= max(self.tol, np.finfo(np.float64).eps * abs(before)):
                run.converged = True
                break
        return run

    def _estimate(self, X: Array, masses: Array) -> Gaussians:
        """Return the densities of the M-step."""
        return Gaussians.estimate(X, masses, covariance_type=self.covariance_type, reg_covar=self.reg_covar)

    def _keep(self, run: MixtureRun, dtype: Any) -> None:
        """Store the parameters of a run, and warn of what is wrong with it."""
        self.weights_ = run.weights.astype(dtype)
        self.means_ = run.gaussians.means
        self.covariances_ = run.gaussians.covariances
        self.precisions_cholesky_ = run.gaussians.precisions_cholesky
        self.objective_ = run.objective
        self.lower_bound_ = run.objective[-1]
        self.converged_ = run.converged
        self.n_iter_ = len(run.objective)
        if not run.converged:
            warn_caller(
                f"{type(self).__name__} did not converge in {count(self.max_iter, 'iteration')}: increase max_iter or "
                "tol, or try another init_params.",
                ConvergenceWarning,
            )
        if run.gaussians.repaired:
            warn_caller(describe_repair(run.gaussians), ConvergenceWarning)

    def _check_rows(self, X: Any, *, reset: bool = True) -> Any:
        return check_table(self, X, reset=reset, order="C")

    # ---- new rows ------------------------------------------------------------------------------------------------

    @blockwise
    def predict(self, X: Any) -> Ints:
        """Return the most probable mixture component of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows. Links are not used: for a row that its links put into another cluster, this differs from
            ``labels_``.

        Returns
        -------
        ndarray of shape (n_samples,)
            Cluster numbers.
        """
        return np.asarray(self._joint_logs(X).argmax(axis=1), dtype=np.int64)

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each mixture component for each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows. Links are not used; ``responsibilities_`` has the probabilities of the rows of the fit given
            their links.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Rows of sum one.
        """
        return normalize_logs(self._joint_logs(X))[0]

    def score_samples(self, X: Any) -> Array:
        """Return the logarithm of the density of the mixture at each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Log-likelihoods, without links.
        """
        return normalize_logs(self._joint_logs(X))[1]

    def score(self, X: Any, y: object = None) -> float:
        """Return the mean log-likelihood of the rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows.
        y : object, default=None
            Ignored.

        Returns
        -------
        float
            The larger the better.
        """
        return float(self.score_samples(X).mean())

    def bic(self, X: Any) -> float:
        """Return the Bayesian information criterion of the mixture for rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows; the density does not depend on links.

        Returns
        -------
        float
            The lower the better.
        """
        logs = self.score_samples(X)
        return float(-2 * logs.sum() + self._n_parameters() * math.log(len(logs)))

    def aic(self, X: Any) -> float:
        """Return the Akaike information criterion of the mixture for rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows; the density does not depend on links.

        Returns
        -------
        float
            The lower the better.
        """
        return float(-2 * self.score_samples(X).sum() + 2 * self._n_parameters())

    def sample(self, n_samples: int = 1) -> tuple[Floats, Ints]:
        """Draw rows from the mixture.

        Parameters
        ----------
        n_samples : int, default=1
            The number of rows.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            The rows, those of the first mixture component first.
        y : ndarray of shape (n_samples,)
            The mixture component of each row.
        """
        check_is_fitted(self)
        if n_samples < 1:
            raise ValueError(f"n_samples must be at least 1; got {n_samples}.")
        rng = check_random_state(self.random_state)
        weights = self.weights_.astype(np.float64)
        y = np.repeat(np.arange(self.n_components), rng.multinomial(n_samples, weights / weights.sum()))
        noise = rng.standard_normal((n_samples, self.means_.shape[1]))
        return self.means_[y] + self._colored(noise, y), y

    def _colored(self, noise: Floats, y: Ints) -> Floats:
        """Give standard normal rows the covariances of their mixture components."""
        covariances = self.covariances_.astype(np.float64)
        if self.covariance_type == "diag":
            return noise * np.sqrt(covariances)[y]
        if self.covariance_type == "spherical":
            return noise * np.sqrt(covariances)[y, None]
        factors = np.linalg.cholesky(covariances)
        return np.asarray(noise @ factors.T if factors.ndim == 2 else np.einsum("rij,rj->ri", factors[y], noise))

    def _joint_logs(self, X: Any) -> Array:
        """Return the logarithm of weight times density of each mixture component at each row."""
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        gaussians = Gaussians(self.means_, self.covariances_, self.precisions_cholesky_, self.covariance_type)
        with one_blas_thread():
            return np.asarray(gaussians.log_density(X) + np.log(self.weights_))

    def _n_parameters(self) -> int:
        """Return the number of free parameters of the mixture."""
        n_components, n_features = self.means_.shape
        of_matrix = n_features * (n_features + 1) // 2
        of_covariances = {
            "full": n_components * of_matrix,
            "tied": of_matrix,
            "diag": n_components * n_features,
            "spherical": n_components,
        }[self.covariance_type]
        return int(of_covariances + n_components * n_features + n_components - 1)


def start_responsibilities(X: Array, n_components: int, init_params: str, rng: np.random.RandomState) -> Array:
    """Return responsibilities to start EM from, drawn as scikit-learn's GaussianMixture draws them."""
    n_samples = len(X)
    if init_params == "random":
        drawn: Array = rng.uniform(size=(n_samples, n_components)).astype(X.dtype)
        return drawn / drawn.sum(axis=1)[:, None]
    start = np.zeros((n_samples, n_components), dtype=X.dtype)
    if init_params == "kmeans":
        start[np.arange(n_samples), KMeans(n_components, n_init=1, random_state=rng).fit(X).labels_] = 1
        return start
    if init_params == "random_from_data":
        rows = rng.choice(n_samples, size=n_components, replace=False)
    else:
        rows = kmeans_plusplus(X, n_components, random_state=rng)[1]
    start[rows, np.arange(n_components)] = 1
    return start


def normalized_weights(counts: Floats) -> Floats:
    """Return counts as weights of sum one, none of them zero."""
    weights = np.maximum(counts / counts.sum(), MIN_WEIGHT)
    return np.asarray(weights / weights.sum())


def describe_repair(gaussians: Gaussians) -> str:
    """Describe which covariances of a mixture were singular, in a sentence."""
    cause = "too few rows, equal rows, or columns that depend on each other"
    remedy = "increase reg_covar, use fewer mixture components or a simpler covariance_type"
    if gaussians.covariance_type == "tied":
        return f"The tied covariance was singular ({cause}) and got a larger diagonal; {remedy}."
    shown = ", ".join(str(number) for number in gaussians.repaired)
    what = "mixture component" if len(gaussians.repaired) == 1 else "mixture components"
    return f"The covariance of {what} {shown} was singular ({cause}) and got a larger diagonal; {remedy}."


def warn_of_approximation(report: InferenceReport, *remedies: str, **fields: Any) -> None:
    """Warn if parts of the links are too large for exact inference; say how they were solved, and further remedies."""
    if report.is_exact:
        return
    also = " Labels may break links." if not report.n_dropped else ""
    if report.n_dropped:
        also = f" Labels may break {'this link' if report.n_dropped == 1 else 'these links'}."
    warn_caller(
        "Connected parts of the links are too large for exact inference with the tables allowed. "
        f"{report.describe()}{also}",
        ApproximationWarning,
        remedy=("larger_tables", *remedies),
        **fields,
    )
