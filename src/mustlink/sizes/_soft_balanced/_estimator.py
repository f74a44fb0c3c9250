"""A mixture whose components have equal expected masses."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, check_non_negative

from mustlink._estimators import clone_with, draw_seed
from mustlink._progress import progress
from mustlink._sklearn_compat import Interval, StrOptions
from mustlink._types import Floats, Ints, Mask
from mustlink._warnings import warn_caller
from mustlink.base import TableClusterMixin, check_table
from mustlink.blocks import blockwise
from mustlink.sizes._frequency_sensitive._estimator import FrequencySensitiveKMeans
from mustlink.sizes._representatives import as_directions, check_enough_directions
from mustlink.sizes._soft_balanced._components import COMPONENTS
from mustlink.sizes._soft_balanced._masses import balance_masses, responsibilities_of

__all__ = ["SoftBalancedMixture"]

# A mass may differ by this share from the mean mass before a warning says so.
MAX_IMBALANCE = 1e-6


class SoftBalancedMixture(TableClusterMixin, BaseEstimator):
    """Mixture model with equal expected cluster sizes.

    A row belongs to every component with a probability, and these probabilities add up to the same mass in each
    component. The temperature says how soft they are; it is lowered step by step.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of components.
    component : {"gaussian", "vmf", "multinomial"}, default="gaussian"
        The densities: Gaussians with a variance for each column; von Mises-Fisher densities of directions, such as
        texts at unit length, where rows of zeros are in no cluster (-1); multinomials of counts, such as words, which
        must not be negative.
    temperature : float, default=0.01
        The temperature at the end; the lower, the harder the clusters and the nearer their sizes to equal. At 1 the
        probabilities are those of a mixture model.
    start_temperature : float, default=0.1
        The temperature at the start; where `temperature` is higher, there is only that one.
    cooling : float, default=0.5
        By what the temperature is multiplied from step to step.
    max_iter : int, default=50
        The maximum number of iterations at each temperature.
    tol : float, default=1e-4
        The relative change of the expected log-likelihood at which a temperature is done.
    n_init : int, default=1
        The number of runs, of which the one with the highest expected log-likelihood is kept.
    verbose : int or bool, default=False
        Whether to show a progress bar.
    random_state : int, RandomState or None, default=None
        Draws the seeds of the k-means that runs start from.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The most probable component of every row.
    responsibilities_ : ndarray of shape (n_samples, n_clusters)
        The probability of every component for every row. Each column adds up to n_samples / n_clusters, up to rows
        without a direction.
    means_ : ndarray of shape (n_clusters, n_features)
        The means of Gaussians, the directions, or the probabilities of the columns.
    scales_ : ndarray
        The variances of Gaussians, of shape (n_clusters, n_features), or the concentrations of directions, of shape
        (n_clusters,).
    log_beta_ : ndarray of shape (n_clusters,)
        Logarithms of the factors that make the masses equal.
    sizes_ : ndarray of shape (n_clusters,)
        The number of rows in every cluster; nearly equal, while the masses are equal.
    objective_ : list of float
        Minus the mean expected log-likelihood of a row, in every iteration of the best run.
    n_iter_ : int
        The number of iterations of the best run.
    n_features_in_ : int
        The number of columns.

    See Also
    --------
    BalancedClustering : Hard clusters with a guaranteed minimum size.

    Notes
    -----
    The method is that of Zhong and Ghosh [2]_ as chapter 8 [1]_ gives it. With the components fixed, the probabilities
    are ``(beta_y p(x|y)) ** (1 / T)``, scaled for every row, and the factors beta are found by Sinkhorn scaling in
    logarithms (8.18), finished by Newton steps, as scaling alone needs thousands of passes at low temperatures. Factors
    are kept from one temperature to the next. Runs start from the components of a k-means.

    References
    ----------
    .. [1] A. Banerjee and J. Ghosh, "Clustering with balancing constraints", chapter 8 of "Constrained Clustering",
       2009.
    .. [2] S. Zhong and J. Ghosh, "Model-based clustering with soft balancing", ICDM 2003.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from mustlink import SoftBalancedMixture
    >>> X, _ = make_blobs([180, 15, 15], centers=[[0, 0], [4, 0], [0, 4]], random_state=0)
    >>> model = SoftBalancedMixture(3, random_state=0).fit(X)
    >>> model.responsibilities_.sum(axis=0).round(6)
    array([70., 70., 70.])
    >>> model.predict_proba(X[:2]).shape
    (2, 3)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "component": [StrOptions(set(COMPONENTS))],
        "temperature": [Interval(Real, 0, None, closed="neither")],
        "start_temperature": [Interval(Real, 0, None, closed="neither")],
        "cooling": [Interval(Real, 0, 1, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }
    _read_by_predict: ClassVar[tuple[str, ...]] = ("means_", "scales_", "log_beta_")

    responsibilities_: Floats
    means_: Floats
    scales_: Floats
    log_beta_: Floats
    sizes_: Ints
    objective_: list[float]
    n_iter_: int

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        component: Literal["gaussian", "vmf", "multinomial"] = "gaussian",
        temperature: float = 0.01,
        start_temperature: float = 0.1,
        cooling: float = 0.5,
        max_iter: int = 50,
        tol: float = 1e-4,
        n_init: int = 1,
        verbose: int | bool = False,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.component = component
        self.temperature = temperature
        self.start_temperature = start_temperature
        self.cooling = cooling
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.verbose = verbose
        self.random_state = random_state

    def _fit(self, X: Any) -> None:
        """Make the runs, and keep the best."""
        rng = check_random_state(self.random_state)
        X, is_used = self._prepare(X)
        check_enough_directions(X.shape[0], len(is_used), self.n_clusters)
        best = np.inf
        for number in range(1, self.n_init + 1):
            run = self._run(X, draw_seed(rng), f"{type(self).__name__}, run {number}")
            if run[-1][-1] < best:
                responsibilities, self.means_, self.scales_, self.log_beta_, self.objective_ = run
                best = run[-1][-1]
        self.n_iter_ = len(self.objective_)
        self.responsibilities_ = np.full((len(is_used), self.n_clusters), 1.0 / self.n_clusters)
        self.responsibilities_[is_used] = responsibilities
        self.labels_ = np.where(is_used, self.responsibilities_.argmax(axis=1), -1)
        self.sizes_ = np.bincount(self.labels_[is_used], minlength=self.n_clusters)

    def _run(self, X: Any, seed: int, title: str) -> tuple[Floats, Floats, Floats, Floats, list[float]]:
        """Lower the temperature, with iterations of expectation and maximization at each."""
        family = COMPONENTS[self.component]
        labels = self._first_labels(X, seed)
        # A little of every row in every component: none begins without rows, or with rows that are all equal.
        mass = np.full((len(labels), self.n_clusters), 0.01 / self.n_clusters)
        mass[np.arange(len(labels)), labels] += 0.99
        means, scales = family.fit(X, mass)
        log_beta, objective, error = np.zeros(self.n_clusters), list[float](), 0.0
        temperatures = self._temperatures()
        with progress(len(temperatures) * self.max_iter, title, shown=self.verbose) as report:
            for place, temperature in enumerate(temperatures):
                for step in range(self.max_iter):
                    log_density = family.log_density(X, means, scales)
                    mass, log_beta, error = balance_masses(log_density, temperature, log_beta)
                    objective.append(-float((mass * log_density).sum()) / len(mass))
                    report(place * self.max_iter + step + 1, objective[-1])
                    if step and abs(objective[-2] - objective[-1]) <= self.tol * abs(objective[-1]):
                        break
                    if not (place == len(temperatures) - 1 and step == self.max_iter - 1):
                        means, scales = family.fit(X, mass)
        if error > MAX_IMBALANCE:
            warn_caller(
                f"The masses differ from {len(mass) / self.n_clusters:g} by up to {error:.1%} at the temperature "
                f"{self.temperature:g}; use a higher temperature.",
                ConvergenceWarning,
            )
        return mass, means, scales, log_beta, objective

    def _temperatures(self) -> list[float]:
        """Return the temperatures, from the first to the last."""
        found, temperature = list[float](), float(self.start_temperature)
        while temperature > self.temperature:
            found.append(temperature)
            temperature *= self.cooling
        return [*found, float(self.temperature)]

    def _first_labels(self, X: Any, seed: int) -> Ints:
        """Return the clusters of k-means, spherical for directions and counts."""
        if self.component == "gaussian":
            return np.asarray(clone_with(KMeans(n_init=1), self.n_clusters, seed).fit(X).labels_)
        directions, is_used = as_directions(X)
        labels = np.zeros(len(is_used), dtype=np.int64)
        if directions.shape[0] >= self.n_clusters:
            spherical = FrequencySensitiveKMeans(self.n_clusters, metric="cosine", update="none", random_state=seed)
            labels[is_used] = spherical.fit(directions).labels_
        return labels

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of every component for each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows; they change no mass.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            Rows add up to 1; the same for all components where a row has no direction.
        """
        return self._probabilities(X)[0]

    @blockwise
    def predict(self, X: Any) -> Ints:
        """Return the most probable component for each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Cluster numbers; -1 for rows without a direction.
        """
        probabilities, is_used = self._probabilities(X)
        return np.where(is_used, probabilities.argmax(axis=1), -1)

    def _probabilities(self, X: Any) -> tuple[Floats, Mask]:
        """Return the probabilities of checked new rows, and which of the rows were used."""
        check_is_fitted(self)
        X, is_used = self._prepare(self._check_rows(X, reset=False))
        found = np.full((len(is_used), self.n_clusters), 1.0 / self.n_clusters)
        if X.shape[0]:
            log_density = COMPONENTS[self.component].log_density(X, self.means_, self.scales_)
            found[is_used] = responsibilities_of(log_density, self.log_beta_, self.temperature)
        return found, is_used

    def _prepare(self, X: Any) -> tuple[Any, Mask]:
        """Return the rows to cluster, and which rows of X they are."""
        if self.component == "vmf":
            return as_directions(X)
        if self.component == "multinomial":
            check_non_negative(X, 'SoftBalancedMixture(component="multinomial")')
        return X, np.ones(X.shape[0], dtype=bool)

    def _check_rows(self, X: Any, *, reset: bool = True) -> Any:
        accepted = False if self.component == "gaussian" else "csr"
        return check_table(self, X, reset=reset, accept_sparse=accepted, order="C", accept_large_sparse=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.component != "gaussian"
        tags.input_tags.positive_only = self.component == "multinomial"
        return tags
