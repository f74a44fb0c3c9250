"""EM for a Gaussian mixture with must-links and a forest of cannot-links (Shental, Bar-Hillel, Hertz, Weinshall)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import sparse
from sklearn.cluster import kmeans_plusplus
from sklearn.utils import gen_batches

from mustlink._types import Floats
from mustlink.constraints import Constraints
from mustlink.inference import CannotLinkForest

__all__ = ["ConstrainedMixture", "MixtureLinks"]

# The minimum variance of a mixture component in any direction, for data of variance one.
MIN_VARIANCE = 1e-3
# No mixture component vanishes altogether.
MIN_SHARE = 1e-8
# Rows whose densities are computed at a time.
BATCH_ROWS = 8_192
# The relative gain of the likelihood below which EM has converged.
TOLERANCE = 1e-4


class MixtureLinks:
    """The must-link components, and the forest of cannot-links between them that a mixture keeps.

    Parameters
    ----------
    links : Constraints
        The links.
    n_samples : int
        The number of rows.
    use_cannot_links : bool
        Whether cannot-links count in the mixture at all.

    Attributes
    ----------
    component : ndarray of shape (n_samples,)
        The must-link component of every row.
    n_components : int
        The number of must-link components.
    forest : CannotLinkForest
        The cannot-links between components that are kept; none before :meth:`choose_forest`.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import Constraints
    >>> from mustlink.mixture import MixtureLinks
    >>> links = MixtureLinks(Constraints([(0, 1)], [(0, 2)]), 3, use_cannot_links=False)
    >>> posterior, _ = links.posteriors(np.log([[0.9, 0.1], [0.5, 0.5], [0.6, 0.4]]), np.zeros(2))
    >>> posterior.round(2)
    array([[0.9, 0.1],
           [0.9, 0.1],
           [0.6, 0.4]])
    """

    def __init__(self, links: Constraints, n_samples: int, use_cannot_links: bool) -> None:
        self.component = links.components(n_samples)
        sizes = np.bincount(self.component)
        self.n_components = len(sizes)
        self._size = sizes[self.component]
        self._sum = sparse.csr_array((np.ones(n_samples), (self.component, np.arange(n_samples))))
        ends = np.sort(self.component[links.cannot_link], axis=1)
        # A cannot-link inside a component contradicts the must-links, which are strict.
        self._used = np.flatnonzero((ends[:, 0] != ends[:, 1]) & use_cannot_links)
        self._edges, self._edge = np.unique(ends[self._used], axis=0, return_inverse=True)
        self.forest = CannotLinkForest(np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp))

    def choose_forest(self, weight: Floats) -> None:
        """Choose the cannot-links to keep: the heaviest that close no cycle.

        Parameters
        ----------
        weight : ndarray of shape (n_cannot_links,)
            The current weights of the cannot-links.
        """
        edge_weight = np.zeros(len(self._edges))
        np.maximum.at(edge_weight, self._edge.ravel(), weight[self._used])
        self.forest = CannotLinkForest.heaviest(self._edges, edge_weight, self.n_components)

    def posteriors(self, log_density: Floats, log_share: Floats) -> tuple[Floats, float]:
        """Return the probability of every mixture component for every row, given the links.

        Parameters
        ----------
        log_density : ndarray of shape (n_samples, n_mixture_components)
            The logarithm of every density at every row.
        log_share : ndarray of shape (n_mixture_components,)
            The logarithms of the mixture weights.

        Returns
        -------
        posterior : ndarray of shape (n_samples, n_mixture_components)
            Rows of one must-link component have the same probabilities.
        log_likelihood : float
            That of the must-link components, without the cannot-links.
        """
        belief = self._sum @ log_density + log_share
        posterior, log_likelihood = normalize_logs(belief)
        if len(self.forest.order):
            posterior, _ = normalize_logs(self.forest.add_messages(belief))
        return posterior[self.component], log_likelihood

    def shares(self, posterior: Floats) -> Floats:
        """Return the mixture weights: the share of the must-link components that each mixture component has.

        Parameters
        ----------
        posterior : ndarray of shape (n_samples, n_mixture_components)
            From :meth:`posteriors`.

        Returns
        -------
        ndarray of shape (n_mixture_components,)
        """
        total: Floats = (posterior / self._size[:, None]).sum(axis=0)
        return total / self.n_components


@dataclass(frozen=True)
class ConstrainedMixture:
    """A Gaussian mixture fitted by EM with must-links and a forest of cannot-links.

    The covariance of every mixture component is shrunk towards the pooled one and is never singular.

    Attributes
    ----------
    log_share : ndarray of shape (n_components,)
        Logarithms of the mixture weights.
    means : ndarray of shape (n_components, n_features)
        The means.
    whitening : ndarray of shape (n_components, n_features, n_features)
        The transposed inverses of the lower Cholesky factors of the covariances.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import Constraints
    >>> from mustlink.mixture import ConstrainedMixture, MixtureLinks
    >>> points = np.array([[-1.0], [-0.9], [0.9], [1.0]])
    >>> links = MixtureLinks(Constraints([(0, 1)]), 4, use_cannot_links=True)
    >>> mixture = ConstrainedMixture.fit(points, np.ones(4), links, 2, 20, np.random.RandomState(0))
    >>> np.sort(mixture.means.ravel()).round(2)
    array([-0.95,  0.95])
    """

    log_share: Floats
    means: Floats
    whitening: Floats

    @classmethod
    def fit(
        cls,
        points: Floats,
        weight: Floats,
        links: MixtureLinks,
        n_components: int,
        max_iter: int,
        rng: np.random.RandomState,
    ) -> Self:
        """Fit by expectation maximization from centers drawn by k-means++.

        Parameters
        ----------
        points : ndarray of shape (n_samples, n_features)
            The data, with variance one in every direction.
        weight : ndarray of shape (n_samples,)
            The weight of every row.
        links : MixtureLinks
            The links between the rows.
        n_components : int
            The number of mixture components.
        max_iter : int
            The maximum number of steps.
        rng : RandomState
            Draws the centers.

        Returns
        -------
        ConstrainedMixture
        """
        weight = weight * (len(points) / weight.sum())
        centers, _ = kmeans_plusplus(points, n_components, sample_weight=weight, random_state=rng)
        distance = np.square(points).sum(axis=1)[:, None] - 2 * points @ centers.T + np.square(centers).sum(axis=1)
        posterior, before = links.posteriors(-distance, np.zeros(n_components))
        for step in range(max_iter):
            mixture = cls.maximize(points, weight, posterior, links.shares(posterior))
            posterior, likelihood = links.posteriors(mixture.log_densities(points), mixture.log_share)
            if step and abs(likelihood - before) <= TOLERANCE * abs(before):
                break
            before = likelihood
        return mixture

    @classmethod
    def maximize(cls, points: Floats, weight: Floats, posterior: Floats, share: Floats) -> Self:
        """Return the mixture of the M-step, each covariance shrunk towards the pooled one.

        Parameters
        ----------
        points : ndarray of shape (n_samples, n_features)
            The data.
        weight : ndarray of shape (n_samples,)
            The weight of every row.
        posterior : ndarray of shape (n_samples, n_components)
            The probabilities of the E-step.
        share : ndarray of shape (n_components,)
            The mixture weights.

        Returns
        -------
        ConstrainedMixture

        Notes
        -----
        The pooled covariance counts as many rows as there are features, and its minimum variance keeps it regular.
        """
        n_features = points.shape[1]
        mass = posterior * weight[:, None]
        total = mass.sum(axis=0)
        safe = np.maximum(total, np.finfo(float).tiny)
        means = mass.T @ points / safe[:, None]
        scatters = np.empty((len(total), n_features, n_features))
        for c in range(len(total)):
            centered = points - means[c]
            scatters[c] = (centered * mass[:, c, None]).T @ centered
        pooled = scatters.sum(axis=0) / total.sum() + MIN_VARIANCE * np.eye(n_features)
        covariances = (scatters + n_features * pooled) / (total + n_features)[:, None, None]
        log_share = np.log(np.maximum(share, MIN_SHARE))
        whitening = np.linalg.inv(np.linalg.cholesky(covariances)).transpose(0, 2, 1)
        return cls(log_share, means, whitening)

    def log_densities(self, points: Floats) -> Floats:
        """Return the logarithm of every component's density at every point, up to one constant.

        Parameters
        ----------
        points : ndarray of shape (n_samples, n_features)
            The data.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        n_components, n_features, _ = self.whitening.shape
        # All components in one matrix product, for few rows at a time.
        side_by_side = self.whitening.transpose(1, 0, 2).reshape(n_features, -1)
        centers = (self.means[:, None, :] @ self.whitening).ravel()
        squares = np.empty((len(points), n_components))
        for rows in gen_batches(len(points), BATCH_ROWS):
            white = points[rows] @ side_by_side - centers
            squares[rows] = np.square(white, out=white).reshape(-1, n_components, n_features).sum(axis=2)
        log_volume = np.log(np.diagonal(self.whitening, axis1=1, axis2=2)).sum(axis=1)
        density: Floats = log_volume - 0.5 * squares
        return density

    def memberships(self, points: Floats) -> Floats:
        """Return the probability of every component for every point, without links.

        Parameters
        ----------
        points : ndarray of shape (n_samples, n_features)
            The data.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        return normalize_logs(self.log_densities(points) + self.log_share)[0]


def normalize_logs(logarithms: Floats) -> tuple[Floats, float]:
    """Turn the logarithms of each row into probabilities; return the logarithm of the product of their sums as well."""
    top = logarithms.max(axis=1, keepdims=True)
    share = np.exp(logarithms - top)
    total = share.sum(axis=1, keepdims=True)
    share /= total
    return share, float((top + np.log(total)).sum())
