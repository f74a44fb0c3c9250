"""The probability that labels drawn from the weights of a mixture keep hard links, and the weights that allow for it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.optimize import minimize

from mustlink._types import Floats, Indices, Ints
from mustlink.constraints import Constraints
from mustlink.inference import LinkInference
from mustlink.mixture._base import MIN_WEIGHT, normalized_weights

__all__ = ["LinkNodes", "LinkPrior", "maximize_weights"]

# Few steps are enough: the next M-step goes on from where they end.
MAX_STEPS = 30
# The difference of posterior and prior counts, per row, at which the weights have converged.
TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class LinkNodes:
    """The must-link components among the linked rows, and the cannot-links between them.

    Parameters
    ----------
    rows : ndarray of shape (n_linked,)
        The linked rows.
    shares : ndarray of shape (n_linked,)
        What the prior of a node counts for each of its rows.
    exponents : ndarray of shape (n_nodes,)
        The sum of these for every node: with exponent e it has the label l with probability alpha_l^e.
    edges : ndarray of shape (n_edges, 2)
        Pairs of nodes with cannot-links.
    penalty : float
        What it costs to break a cannot-link; infinite if they are hard.
    n_free : int
        The number of rows without a link.
    """

    rows: Indices
    shares: Floats
    exponents: Floats
    edges: Ints
    penalty: float
    n_free: int

    @classmethod
    def of(cls, linked: Constraints, rows: Indices, n_samples: int, sampling: str, penalty: float) -> Self:
        """Find the nodes of links between positions in `rows`.

        With ``sampling="point"`` the exponent of a node is its number of rows, with "component" it is 1.
        """
        closure = linked.closure(len(rows))
        exponents = np.ones(closure.n_components) if sampling == "component" else closure.sizes.astype(np.float64)
        shares = (exponents / closure.sizes)[closure.component]
        return cls(rows, shares, exponents, closure.cannot_link, penalty, n_samples - len(rows))


@dataclass(frozen=True, eq=False)
class LinkPrior:
    """The log-probability that labels drawn from the weights keep the links: log Z, as a function of log-weights.

    Parameters
    ----------
    single_exponents : ndarray of shape (n_singles,)
        The different exponents of nodes without a cannot-link.
    single_counts : ndarray of shape (n_singles,)
        The number of such nodes.
    pair_exponents : ndarray of shape (n_pairs, 2)
        The different exponents of two nodes with a cannot-link between them and no other.
    pair_counts : ndarray of shape (n_pairs,)
        The number of such pairs.
    penalty : float
        What it costs to break one of these cannot-links, infinite if they are hard.
    rest : LinkInference or None
        Inference on the other nodes, those of larger connected parts.
    rest_exponents : ndarray of shape (n_rest,)
        Their exponents.
    """

    single_exponents: Floats
    single_counts: Floats
    pair_exponents: Floats
    pair_counts: Floats
    penalty: float
    rest: LinkInference | None
    rest_exponents: Floats

    @classmethod
    def pseudo(cls, nodes: LinkNodes) -> Self:
        """Take all cannot-links for disjoint."""
        return cls._of(nodes, np.arange(len(nodes.edges)))

    @classmethod
    def exact(cls, nodes: LinkNodes, n_components: int, max_table: int) -> Self:
        """Use closed forms for nodes and disjoint pairs, and exact inference for the rest."""
        degree = np.bincount(nodes.edges.ravel(), minlength=len(nodes.exponents))
        is_disjoint = (degree[nodes.edges] == 1).all(axis=1)
        others, positions = np.unique(nodes.edges[~is_disjoint], return_inverse=True)
        prior = cls._of(nodes, np.flatnonzero(is_disjoint))
        if not others.size:
            return prior
        graph = Constraints(cannot_link=positions.reshape(-1, 2)).adjacency(len(others))
        rest = LinkInference.plan(graph, np.full(len(graph.pairs), nodes.penalty), n_components, max_table=max_table)
        return replace(prior, rest=rest, rest_exponents=nodes.exponents[others])

    @classmethod
    def by_inference(cls, nodes: LinkNodes, inference: LinkInference) -> Self:
        """Use the inference of the E-step for all linked rows."""
        free = replace(nodes, exponents=np.empty(0), edges=nodes.edges[:0])
        return replace(cls._of(free, np.empty(0, dtype=np.intp)), rest=inference, rest_exponents=nodes.shares)

    @classmethod
    def _of(cls, nodes: LinkNodes, pairs: Indices) -> Self:
        """Count nodes without a cannot-link and the given pairs by their exponents."""
        is_single = np.ones(len(nodes.exponents), dtype=bool)
        is_single[nodes.edges] = False
        alone = np.append(nodes.exponents[is_single], np.ones(min(nodes.n_free, 1)))
        exponents, place = np.unique(alone, return_inverse=True)
        counts = np.bincount(place).astype(np.float64)
        counts[exponents == 1] += max(nodes.n_free - 1, 0)
        both, of_pairs = np.unique(np.sort(nodes.exponents[nodes.edges[pairs]], axis=1), axis=0, return_counts=True)
        return cls(exponents, counts, both, of_pairs.astype(np.float64), nodes.penalty, None, np.empty(0))

    @property
    def is_trivial(self) -> bool:
        """Whether all labels are drawn on their own, so that every labeling keeps the links."""
        return self.rest is None and not self.pair_counts.size and bool((self.single_exponents == 1).all())

    def log_probability(self, log_weights: Floats) -> tuple[float, Floats]:
        """Return the log-probability and its gradient, the expected number of labels of each mixture component.

        Parameters
        ----------
        log_weights : ndarray of shape (n_components,)
            Logarithms of the weights, of any sum.

        Returns
        -------
        value : float
            The log-probability of keeping the links.
        gradient : ndarray of shape (n_components,)
            Its derivatives by the log-weights.
        """
        value, gradient = _sum_of_powers(self.single_exponents, self.single_counts, log_weights)
        if self.pair_counts.size:
            of_pairs, slope = _sum_of_pairs(self.pair_exponents, self.pair_counts, self.penalty, log_weights)
            value, gradient = value + of_pairs, gradient + slope
        if self.rest is not None:
            marginals = self.rest.marginals(self.rest_exponents[:, None] * log_weights)
            assert marginals.log_normalizer is not None
            value, gradient = value + marginals.log_normalizer, gradient + self.rest_exponents @ marginals.rows
        return value, gradient


def _sum_of_powers(exponents: Floats, counts: Floats, log_weights: Floats) -> tuple[float, Floats]:
    """Return the sum over nodes of log sum_l alpha_l^e, and its gradient."""
    powers = exponents[:, None] * log_weights
    log_sums = np.logaddexp.reduce(powers, axis=1)
    return float(counts @ log_sums), np.asarray((counts * exponents) @ np.exp(powers - log_sums[:, None]))


def _sum_of_pairs(exponents: Floats, counts: Floats, penalty: float, log_weights: Floats) -> tuple[float, Floats]:
    """Return the sum over pairs of the log-probability that their two labels differ, and its gradient."""
    one, other = (exponents[:, side, None] * log_weights for side in (0, 1))
    # Over all pairs of labels, not as a difference of sums: it would cancel where one weight is near 1.
    table = one[:, :, None] + other[:, None, :] - np.where(np.eye(len(log_weights)), penalty, 0.0)
    log_sums = np.logaddexp.reduce(table.reshape(len(table), -1), axis=1)
    shares = np.exp(table - log_sums[:, None, None])
    of_both = exponents[:, 0, None] * shares.sum(axis=2) + exponents[:, 1, None] * shares.sum(axis=1)
    return float(counts @ log_sums), np.asarray(counts @ of_both)


def maximize_weights(counts: Floats, prior: LinkPrior, weights: Floats) -> Floats:
    """Return weights that increase sum_l counts_l log alpha_l - log Z(alpha), from given ones.

    In the log-weights the function is concave if log Z is exact: its maximum is where the prior counts equal the
    posterior ones. Weights that would not increase it are not taken.

    Parameters
    ----------
    counts : ndarray of shape (n_components,)
        The posterior counts: expected numbers of labels of each mixture component.
    prior : LinkPrior
        The log-probability of keeping the links.
    weights : ndarray of shape (n_components,)
        The weights so far.

    Returns
    -------
    ndarray of shape (n_components,)
        Weights of sum one.
    """
    if prior.is_trivial:
        return normalized_weights(counts)
    scale = 1 / counts.sum()

    def loss(logs: Floats) -> tuple[float, Floats]:
        # Of sum one, which matters where the prior counts some nodes twice.
        log_weights = logs - np.logaddexp.reduce(logs)
        value, gradient = prior.log_probability(log_weights)
        slope = gradient - counts
        return scale * (value - counts @ log_weights), scale * (slope - np.exp(log_weights) * slope.sum())

    # A constant added to all logarithms changes nothing; the largest is zero at most.
    start = np.log(weights / weights.max())
    bounds = [(np.log(MIN_WEIGHT), 0.0)] * len(start)
    options = {"maxiter": MAX_STEPS, "gtol": TOLERANCE, "ftol": np.finfo(np.float64).eps}
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return normalized_weights(np.exp(found.x)) if found.fun < loss(start)[0] else weights
