"""The weak learner of DistBoost: a Gaussian mixture with must-links and a forest of cannot-links."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.cluster import kmeans_plusplus

from mustlink._types import Floats
from mustlink.constraints import Constraints
from mustlink.inference import LinkInference
from mustlink.mixture.core import Gaussians, normalize_logs, normalized_weights

__all__ = ["MixtureLearner", "WeakMixture"]

# The minimum variance of a mixture component in any direction, for data of variance one.
MIN_VARIANCE = 1e-3
# The relative gain of the likelihood below which EM has converged.
TOLERANCE = 1e-4
# The penalty of a cannot-link in the forest: as good as infinite, and no contradiction with one mixture component.
PENALTY = 1e12


@dataclass(frozen=True)
class WeakMixture:
    """A fitted mixture.

    Parameters
    ----------
    log_weights : ndarray of shape (n_components,)
        Logarithms of the weights.
    gaussians : Gaussians
        The densities.
    """

    log_weights: Floats
    gaussians: Gaussians

    @property
    def n_components(self) -> int:
        """The number of mixture components."""
        return len(self.log_weights)

    def memberships(self, points: Floats) -> Floats:
        """Return the probability of every mixture component for every point, without links."""
        return normalize_logs(self.gaussians.log_density(points) + self.log_weights)[0]


class MixtureLearner:
    """EM with must-links and the heaviest forest of cannot-links, planned once for all rounds.

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
    max_iter : int
        The maximum number of steps.
    use_cannot_links : bool
        Whether cannot-links count at all.
    """

    def __init__(
        self, links: Constraints, n_samples: int, n_components: int, *, max_iter: int, use_cannot_links: bool
    ) -> None:
        self.n_components = n_components
        self.max_iter = max_iter
        self._node = links.components(n_samples)
        sizes = np.bincount(self._node)
        self._size = sizes[self._node]
        self._sum = sparse.csr_array((np.ones(n_samples), (self._node, np.arange(n_samples))))
        ends = np.sort(self._node[links.cannot_link], axis=1)
        # A cannot-link inside a must-link component contradicts the must-links, which are strict.
        self._used = np.flatnonzero((ends[:, 0] != ends[:, 1]) & use_cannot_links)
        edges, self._edge = np.unique(ends[self._used], axis=0, return_inverse=True)
        # The nodes with a cannot-link, and the cannot-links between their positions.
        self._nodes, self._apart = Constraints(cannot_link=edges).compact()

    def fit(
        self, points: Floats, weight: Floats, cannot_link_weight: Floats, rng: np.random.RandomState
    ) -> WeakMixture:
        """Fit a mixture from centers drawn by k-means++.

        Parameters
        ----------
        points : ndarray of shape (n_samples, n_features)
            The data, with variance one in every direction.
        weight : ndarray of shape (n_samples,)
            The weights of the rows in means and covariances.
        cannot_link_weight : ndarray of shape (n_cannot_links,)
            The weights of the cannot-links; the heaviest ones that close no cycle are used.
        rng : RandomState
            Draws the centers.

        Returns
        -------
        WeakMixture
        """
        forest = self._heaviest_forest(cannot_link_weight)
        weight = weight * (len(points) / weight.sum())
        centers, _ = kmeans_plusplus(points, self.n_components, sample_weight=weight, random_state=rng)
        distance = np.square(points).sum(axis=1)[:, None] - 2 * points @ centers.T + np.square(centers).sum(axis=1)
        posterior, before = self._posteriors(-distance, np.zeros(self.n_components), forest)
        for step in range(self.max_iter):
            # The share of the must-link components that each mixture component has.
            weights = normalized_weights((posterior / self._size[:, None]).sum(axis=0))
            gaussians = Gaussians.estimate(
                points, posterior * weight[:, None], reg_covar=MIN_VARIANCE, pooled_rows=points.shape[1]
            )
            mixture = WeakMixture(np.log(weights), gaussians)
            posterior, likelihood = self._posteriors(gaussians.log_density(points), mixture.log_weights, forest)
            if step and abs(likelihood - before) <= TOLERANCE * abs(before):
                break
            before = likelihood
        return mixture

    def _heaviest_forest(self, cannot_link_weight: Floats) -> LinkInference | None:
        """Plan inference on the heaviest cannot-links between must-link components that close no cycle."""
        if self._apart.is_empty:
            return None
        weight = np.zeros(len(self._apart))
        np.maximum.at(weight, self._edge.ravel(), cannot_link_weight[self._used])
        return LinkInference.plan(
            self._apart.adjacency(len(self._nodes)),
            np.full(len(self._apart), PENALTY),
            self.n_components,
            exact=False,
            beyond="tree",
            tree_weight=weight,
        )

    def _posteriors(
        self, log_density: Floats, log_weights: Floats, forest: LinkInference | None
    ) -> tuple[Floats, float]:
        """Return the probability of every mixture component for every row, given the links.

        The log-likelihood, returned as well, is that of the must-link components without the cannot-links.
        """
        belief = self._sum @ log_density + log_weights
        posterior, log_sums = normalize_logs(belief)
        if forest is not None:
            posterior[self._nodes] = forest.marginals(belief[self._nodes]).rows
        return posterior[self._node], float(log_sums.sum())
