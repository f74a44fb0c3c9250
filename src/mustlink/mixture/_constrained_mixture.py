"""EM for a Gaussian mixture with must-links and a forest of cannot-links (Shental, Bar-Hillel, Hertz, Weinshall)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.cluster import kmeans_plusplus

from mustlink._types import Floats
from mustlink.constraints import Constraints
from mustlink.inference import CannotLinkForest

__all__ = ["ConstrainedEM", "FittedMixture"]

# The minimum variance of a mixture component in any direction, for data of variance one.
MIN_VARIANCE = 1e-3
# No mixture component vanishes altogether.
MIN_SHARE = 1e-8
# Rows whose densities are computed at a time.
BATCH_ROWS = 8_192
# The relative gain of the likelihood below which EM has converged.
TOLERANCE = 1e-4


@dataclass(frozen=True)
class FittedMixture:
    """A Gaussian mixture.

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
    >>> from mustlink.mixture import FittedMixture
    >>> mixture = FittedMixture(np.log([0.5, 0.5]), np.array([[-1.0], [1.0]]), np.ones((2, 1, 1)))
    >>> mixture.memberships(np.array([[0.0], [2.0]])).round(2)
    array([[0.5 , 0.5 ],
           [0.02, 0.98]])
    """

    log_share: Floats
    means: Floats
    whitening: Floats

    def memberships(self, points: Floats) -> Floats:
        """Return the probability of every mixture component for every point, without links.

        Parameters
        ----------
        points : ndarray of shape (n_samples, n_features)
            The data.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        return normalize_logs(log_densities(self, points) + self.log_share)[0]


class ConstrainedEM:
    """Expectation maximization with must-links and the heaviest forest of cannot-links.

    The rows of a must-link component have the same mixture component, and the ends of a cannot-link in the forest
    have different ones. Every covariance is shrunk towards the pooled one and is never singular.

    Parameters
    ----------
    links : Constraints
        The links.
    n_samples : int
        The number of rows.
    n_components : int
        The number of mixture components.
    max_iter : int, default=20
        The maximum number of steps.
    use_cannot_links : bool, default=True
        Whether cannot-links count at all.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import Constraints
    >>> from mustlink.mixture import ConstrainedEM
    >>> points = np.array([[-1.0], [-0.9], [0.9], [1.0]])
    >>> em = ConstrainedEM(Constraints(must_link=[(0, 1)]), 4, 2)
    >>> mixture = em.fit(points, np.ones(4), np.empty(0), np.random.RandomState(0))
    >>> np.sort(mixture.means.ravel()).round(2)
    array([-0.95,  0.95])
    """

    def __init__(
        self,
        links: Constraints,
        n_samples: int,
        n_components: int,
        *,
        max_iter: int = 20,
        use_cannot_links: bool = True,
    ) -> None:
        self.n_components = n_components
        self.max_iter = max_iter
        self._linked = links.components(n_samples)
        sizes = np.bincount(self._linked)
        self._n_linked = len(sizes)
        self._size = sizes[self._linked]
        self._sum = sparse.csr_array((np.ones(n_samples), (self._linked, np.arange(n_samples))))
        ends = np.sort(self._linked[links.cannot_link], axis=1)
        # A cannot-link inside a must-link component contradicts the must-links, which are strict.
        self._used = np.flatnonzero((ends[:, 0] != ends[:, 1]) & use_cannot_links)
        self._edges, self._edge = np.unique(ends[self._used], axis=0, return_inverse=True)

    def fit(
        self, points: Floats, weight: Floats, cannot_link_weight: Floats, rng: np.random.RandomState
    ) -> FittedMixture:
        """Fit a mixture from centers drawn by k-means++.

        Parameters
        ----------
        points : ndarray of shape (n_samples, n_features)
            The data, with variance one in every direction.
        weight : ndarray of shape (n_samples,)
            The weights of the rows.
        cannot_link_weight : ndarray of shape (n_cannot_links,)
            The weights of the cannot-links; the heaviest ones that close no cycle are used.
        rng : RandomState
            Draws the centers.

        Returns
        -------
        FittedMixture
        """
        forest = self._heaviest_forest(cannot_link_weight)
        weight = weight * (len(points) / weight.sum())
        centers, _ = kmeans_plusplus(points, self.n_components, sample_weight=weight, random_state=rng)
        distance = np.square(points).sum(axis=1)[:, None] - 2 * points @ centers.T + np.square(centers).sum(axis=1)
        posterior, before = self._posteriors(-distance, np.zeros(self.n_components), forest)
        for step in range(self.max_iter):
            # The share of the must-link components that each mixture component has.
            share = (posterior / self._size[:, None]).sum(axis=0) / self._n_linked
            mixture = maximize(points, weight, posterior, share)
            posterior, likelihood = self._posteriors(log_densities(mixture, points), mixture.log_share, forest)
            if step and abs(likelihood - before) <= TOLERANCE * abs(before):
                break
            before = likelihood
        return mixture

    def _heaviest_forest(self, cannot_link_weight: Floats) -> CannotLinkForest:
        """Return the heaviest cannot-links between must-link components that close no cycle."""
        edge_weight = np.zeros(len(self._edges))
        np.maximum.at(edge_weight, self._edge.ravel(), cannot_link_weight[self._used])
        return CannotLinkForest.heaviest(self._edges, edge_weight, self._n_linked)

    def _posteriors(self, log_density: Floats, log_share: Floats, forest: CannotLinkForest) -> tuple[Floats, float]:
        """Return the probability of every mixture component for every row, given the links.

        The log-likelihood, returned as well, is that of the must-link components without the cannot-links.
        """
        belief = self._sum @ log_density + log_share
        posterior, log_likelihood = normalize_logs(belief)
        if len(forest.order):
            posterior, _ = normalize_logs(forest.add_messages(belief))
        return posterior[self._linked], log_likelihood


def maximize(points: Floats, weight: Floats, posterior: Floats, share: Floats) -> FittedMixture:
    """Return the mixture of the M-step, each covariance shrunk towards the pooled one.

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
    # Contiguous, as it is after unpickling: the last digits of products depend on it.
    whitening = np.ascontiguousarray(np.linalg.inv(np.linalg.cholesky(covariances)).transpose(0, 2, 1))
    return FittedMixture(np.log(np.maximum(share, MIN_SHARE)), means, whitening)


def log_densities(mixture: FittedMixture, points: Floats) -> Floats:
    """Return the logarithm of every component's density at every point, up to one constant."""
    n_components, n_features, _ = mixture.whitening.shape
    # All components in one matrix product, for few rows at a time.
    side_by_side = mixture.whitening.transpose(1, 0, 2).reshape(n_features, -1)
    centers = (mixture.means[:, None, :] @ mixture.whitening).ravel()
    squares = np.empty((len(points), n_components))
    # Not gen_batches of scikit-learn, which validates its parameters for longer than this takes on a small table.
    for start in range(0, len(points), BATCH_ROWS):
        rows = slice(start, start + BATCH_ROWS)
        white = points[rows] @ side_by_side - centers
        squares[rows] = np.square(white, out=white).reshape(-1, n_components, n_features).sum(axis=2)
    log_volume = np.log(np.diagonal(mixture.whitening, axis1=1, axis2=2)).sum(axis=1)
    return np.asarray(log_volume - 0.5 * squares)


def normalize_logs(logarithms: Floats) -> tuple[Floats, float]:
    """Turn the logarithms of each row into probabilities; return the logarithm of the product of their sums as well."""
    top = logarithms.max(axis=1, keepdims=True)
    share = np.exp(logarithms - top)
    total = share.sum(axis=1, keepdims=True)
    share /= total
    return share, float((top + np.log(total)).sum())
