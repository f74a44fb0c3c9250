"""The weak learner of DistBoost: a Gaussian mixture that heeds links and is never singular."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph
from sklearn.cluster import kmeans_plusplus
from sklearn.decomposition import PCA
from sklearn.utils import gen_batches

from mustlink.boosting._distboost_kernels import forest_beliefs
from mustlink.constraints import Constraints

__all__ = ["Chunklets", "Directions", "Mixture"]

Floats = NDArray[np.float64]

# The least variance of a mixture component in any direction, where the whole table has variance one.
FLOOR = 1e-3
# A direction with a smaller share than this of the largest variance is rounding.
RANK_TOLERANCE = 1e-12
# No component of the mixture dies out altogether.
LEAST_SHARE = 1e-8
# Rows whose densities are worked out at a time.
PIECE = 8_192
# Relative gain of the likelihood below which the mixture counts as fitted.
TOLERANCE = 1e-4


@dataclass(frozen=True)
class Directions:
    """The leading principal directions of a table, scaled so that the rows have variance one along each.

    Attributes
    ----------
    mean : ndarray of shape (n_features,)
        The mean row.
    axes : ndarray of shape (n_features, n_directions)
        The directions, divided by the standard deviation along them.
    """

    mean: Floats
    axes: Floats

    @classmethod
    def of(cls, X: NDArray[Any], at_most: int, rng: np.random.RandomState) -> Self:
        """Find the directions; a table of equal rows has none, and gets one of zeros."""
        mean = X.mean(axis=0, dtype=np.float64)
        if not np.ptp(X, axis=0).any():
            return cls(mean, np.zeros((X.shape[1], 1)))
        # Far from the origin, what varies would drown in the rounding of products that are not centred.
        components = PCA(n_components=min(at_most, *X.shape), random_state=rng).fit(X - mean)
        variance = components.explained_variance_
        kept = np.flatnonzero(variance > RANK_TOLERANCE * variance[0])
        return cls(mean, components.components_[kept].T / np.sqrt(variance[kept]))

    def project(self, X: NDArray[Any]) -> Floats:
        """Return the rows in these directions."""
        projected: Floats = (X - self.mean) @ self.axes
        return projected


class Chunklets:
    """The must-link components, and which cannot-links between them a round heeds.

    Parameters
    ----------
    links : Constraints
        The links.
    n_samples : int
        The number of rows.
    heeds_cannot_links : bool
        Whether cannot-links count in the mixture at all.
    """

    def __init__(self, links: Constraints, n_samples: int, heeds_cannot_links: bool) -> None:
        self.of_row = links.components(n_samples)
        self.n_chunklets = int(self.of_row.max()) + 1
        row = np.arange(n_samples)
        self._sum = sparse.csr_array((np.ones(n_samples), (self.of_row, row)), shape=(self.n_chunklets, n_samples))
        ends = self.of_row[links.cannot_link]
        # A cannot-link inside a chunklet contradicts the must-links, which are taken as they are.
        self._useful = np.flatnonzero((ends[:, 0] != ends[:, 1]) & heeds_cannot_links)
        self._ends = ends[self._useful]
        self.order = np.empty(0, dtype=np.intp)
        self.parent = np.empty(0, dtype=np.intp)

    def choose_forest(self, weight: Floats) -> None:
        """Choose the cannot-links to heed: the heaviest that close no ring.

        On a forest the posterior probabilities are exact and cheap; with rings they are as hard as colouring a graph.
        """
        if not len(self._ends):
            return
        n = self.n_chunklets
        heaviest = weight[self._useful]
        # csgraph takes the lightest tree and reads zero as no edge; equal edges are added up, so that one is kept.
        cost = 2 * heaviest.max() - heaviest
        low, high = self._ends.min(axis=1), self._ends.max(axis=1)
        cheapest_first = np.lexsort((cost, high, low))
        first = np.unique(low[cheapest_first] * n + high[cheapest_first], return_index=True)[1]
        kept = cheapest_first[first]
        graph = sparse.csr_array((cost[kept], (low[kept], high[kept])), shape=(n, n))
        tree = csgraph.minimum_spanning_tree(graph).tocoo()
        # One more node, tied to a node of each tree, so that a single walk meets all of them.
        rows = np.unique(self._ends)
        _, tree_of = csgraph.connected_components(tree, directed=False)
        roots = rows[np.unique(tree_of[rows], return_index=True)[1]]
        joined = sparse.csr_array(
            (
                np.ones(len(tree.row) + len(roots)),
                (np.append(tree.row, np.full(len(roots), n)), np.append(tree.col, roots)),
            ),
            shape=(n + 1, n + 1),
        )
        order, parent = csgraph.breadth_first_order(joined, n, directed=False)
        self.order = order[1:].astype(np.intp)
        self.parent = np.where(parent[:n] == n, -1, parent[:n]).astype(np.intp)

    def posteriors(self, log_density: Floats, log_share: Floats) -> tuple[Floats, float]:
        """Return the chance of every component for every row, given the links, and the likelihood of the chunklets."""
        belief = self._sum @ log_density + log_share
        posterior, likelihood = shares_of(belief)
        if len(self.order) and belief.shape[1] > 1:
            forest_beliefs(belief, self.order, self.parent)
            posterior, _ = shares_of(belief)
        return posterior[self.of_row], likelihood

    def shares(self, posterior: Floats) -> Floats:
        """Return the share of the chunklets that each component has."""
        size = np.bincount(self.of_row)
        total: Floats = (posterior / size[self.of_row, None]).sum(axis=0)
        return total / self.n_chunklets


@dataclass(frozen=True)
class Mixture:
    """A fitted Gaussian mixture.

    Attributes
    ----------
    log_share : ndarray of shape (n_components,)
        Logarithms of the components' shares.
    means : ndarray of shape (n_components, n_directions)
        Their means.
    whitening : ndarray of shape (n_components, n_directions, n_directions)
        The transposed inverses of the lower Cholesky factors of their covariances.
    """

    log_share: Floats
    means: Floats
    whitening: Floats

    @classmethod
    def fit(
        cls,
        points: Floats,
        weight: Floats,
        chunklets: Chunklets,
        n_components: int,
        max_iter: int,
        rng: np.random.RandomState,
    ) -> Self:
        """Fit by expectation and maximisation from centres drawn by k-means++."""
        weight = weight * (len(points) / weight.sum())
        centers, _ = kmeans_plusplus(points, n_components, sample_weight=weight, random_state=rng)
        distance = np.square(points).sum(axis=1)[:, None] - 2 * points @ centers.T + np.square(centers).sum(axis=1)
        posterior, before = chunklets.posteriors(-distance, np.zeros(n_components))
        for step in range(max_iter):
            mixture = cls._maximise(points, weight, posterior, chunklets.shares(posterior))
            posterior, likelihood = chunklets.posteriors(mixture.log_densities(points), mixture.log_share)
            if step and abs(likelihood - before) <= TOLERANCE * abs(before):
                break
            before = likelihood
        return mixture

    @classmethod
    def _maximise(cls, points: Floats, weight: Floats, posterior: Floats, share: Floats) -> Self:
        """Return the mixture that fits the posteriors best, each covariance drawn towards the pooled one.

        The pooled covariance counts like as many rows as there are directions, and the floor keeps it regular.
        """
        n_directions = points.shape[1]
        mass = posterior * weight[:, None]
        total = mass.sum(axis=0)
        safe = np.maximum(total, np.finfo(float).tiny)
        means = mass.T @ points / safe[:, None]
        scatters = np.empty((len(total), n_directions, n_directions))
        for c in range(len(total)):
            centred = points - means[c]
            scatters[c] = (centred * mass[:, c, None]).T @ centred
        pooled = scatters.sum(axis=0) / total.sum() + FLOOR * np.eye(n_directions)
        covariances = (scatters + n_directions * pooled) / (total + n_directions)[:, None, None]
        log_share = np.log(np.maximum(share, LEAST_SHARE))
        whitening = np.linalg.inv(np.linalg.cholesky(covariances)).transpose(0, 2, 1)
        return cls(log_share, means, whitening)

    def log_densities(self, points: Floats) -> Floats:
        """Return the logarithm of every component's density at every point, up to one constant."""
        n_components, n_directions, _ = self.whitening.shape
        # All components in one product of matrices, and few enough rows at a time that it stays small.
        side_by_side = self.whitening.transpose(1, 0, 2).reshape(n_directions, -1)
        centers = (self.means[:, None, :] @ self.whitening).ravel()
        squares = np.empty((len(points), n_components))
        for rows in gen_batches(len(points), PIECE):
            white = points[rows] @ side_by_side - centers
            squares[rows] = np.square(white, out=white).reshape(-1, n_components, n_directions).sum(axis=2)
        log_volume = np.log(np.diagonal(self.whitening, axis1=1, axis2=2)).sum(axis=1)
        density: Floats = log_volume - 0.5 * squares
        return density

    def memberships(self, points: Floats) -> Floats:
        """Return the chance of every component for every point, without links."""
        return shares_of(self.log_densities(points) + self.log_share)[0]


def shares_of(logarithms: Floats) -> tuple[Floats, float]:
    """Turn logarithms into shares of the sums of their rows; return the log of the product of these sums as well."""
    top = logarithms.max(axis=1, keepdims=True)
    share = np.exp(logarithms - top)
    total = share.sum(axis=1, keepdims=True)
    share /= total
    return share, float((top + np.log(total)).sum())
