"""The probability that labels drawn from the weights of a mixture keep links, and the weights that allow for it."""

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
    """The components of hard must-links among the linked rows, and the links between them.

    Parameters
    ----------
    rows : ndarray of shape (n_linked,)
        The linked rows.
    shares : ndarray of shape (n_linked,)
        What the prior of a node counts for each of its rows.
    exponents : ndarray of shape (n_nodes,)
        The sum of these for every node: with exponent e it has the label l with probability alpha_l^e.
    edges : ndarray of shape (n_edges, 2)
        Pairs of nodes with links, each once, in ascending order.
    couplings : ndarray of shape (n_edges,)
        The penalties of these links, negative for cannot-links and minus infinity for hard ones.
    constant : float
        What all labels lose by links that contradict each other: minus the smaller penalties.
    n_free : int
        The number of rows without a link.
    """

    rows: Indices
    shares: Floats
    exponents: Floats
    edges: Ints
    couplings: Floats
    constant: float
    n_free: int

    @classmethod
    def of(cls, linked: Constraints, rows: Indices, n_samples: int, sampling: str, penalties: Floats | float) -> Self:
        """Find the nodes of links between positions in `rows`, with one penalty for each or for all.

        With ``sampling="point"`` the exponent of a node is its number of rows, with "component" it is 1.
        """
        penalty = np.broadcast_to(penalties, len(linked))
        node = linked.take(np.isinf(penalty) & (linked.sign > 0)).components(len(rows))
        sizes = np.bincount(node)
        exponents = np.ones(len(sizes)) if sampling == "component" else sizes.astype(np.float64)
        ends = np.sort(node[linked.pairs], axis=1)
        is_between = ends[:, 0] != ends[:, 1]
        edges, edge = np.unique(ends[is_between], axis=0, return_inverse=True)
        is_must = linked.sign > 0
        together, apart = (
            np.bincount(edge.ravel(), np.where(kind, penalty, 0)[is_between], len(edges)).astype(np.float64)
            for kind in (is_must, ~is_must)
        )
        constant = -float(np.minimum(together, apart).sum() + penalty[~is_between & ~is_must].sum())
        shares = (exponents / sizes)[node]
        return cls(rows, shares, exponents, edges, together - apart, constant, n_samples - len(rows))


@dataclass(frozen=True, eq=False)
class LinkPrior:
    """The log-probability that labels drawn from the weights keep the links: log Z, as a function of log-weights.

    Labels that break a link of a finite penalty count as keeping it with the probability exp(-penalty).

    Parameters
    ----------
    single_exponents : ndarray of shape (n_singles,)
        The different exponents of nodes without a link.
    single_counts : ndarray of shape (n_singles,)
        The number of such nodes.
    pair_exponents : ndarray of shape (n_pairs, 2)
        The different exponents of two nodes with a link between them and no other.
    pair_counts : ndarray of shape (n_pairs,)
        The number of such pairs.
    pair_couplings : ndarray of shape (n_pairs,)
        The penalties of the links of these pairs, negative for cannot-links; minus infinity if they are hard.
    rest : LinkInference or None
        Inference on the other nodes, those of larger connected parts.
    rest_exponents : ndarray of shape (n_rest,)
        Their exponents.
    constant : float
        What is added for links that contradict each other.
    """

    single_exponents: Floats
    single_counts: Floats
    pair_exponents: Floats
    pair_counts: Floats
    pair_couplings: Floats
    rest: LinkInference | None
    rest_exponents: Floats
    constant: float = 0.0

    @classmethod
    def pseudo(cls, nodes: LinkNodes) -> Self:
        """Take all links for disjoint."""
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
        edges, couplings = positions.reshape(-1, 2), nodes.couplings[~is_disjoint]
        is_must = couplings >= 0
        graph = Constraints(edges[is_must], edges[~is_must]).adjacency(len(others))
        penalty = np.abs(np.concatenate([couplings[is_must], couplings[~is_must]]))
        rest = LinkInference.plan(graph, penalty, n_components, max_table=max_table)
        return replace(prior, rest=rest, rest_exponents=nodes.exponents[others])

    @classmethod
    def by_inference(cls, nodes: LinkNodes, inference: LinkInference) -> Self:
        """Use the inference of the E-step for all linked rows."""
        free = replace(nodes, exponents=np.empty(0), edges=nodes.edges[:0], constant=0.0)
        return replace(cls._of(free, np.empty(0, dtype=np.intp)), rest=inference, rest_exponents=nodes.shares)

    @classmethod
    def _of(cls, nodes: LinkNodes, pairs: Indices) -> Self:
        """Count nodes without a link, and the given pairs, by their exponents and couplings."""
        is_single = np.ones(len(nodes.exponents), dtype=bool)
        is_single[nodes.edges] = False
        alone = np.append(nodes.exponents[is_single], np.ones(min(nodes.n_free, 1)))
        exponents, place = np.unique(alone, return_inverse=True)
        counts = np.bincount(place).astype(np.float64)
        counts[exponents == 1] += max(nodes.n_free - 1, 0)
        ends = np.sort(nodes.exponents[nodes.edges[pairs]], axis=1)
        kinds, of_kinds = np.unique(np.column_stack([ends, nodes.couplings[pairs]]), axis=0, return_counts=True)
        return cls(
            exponents, counts, kinds[:, :2], of_kinds.astype(np.float64), kinds[:, 2], None, np.empty(0), nodes.constant
        )

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
        value += self.constant
        if self.pair_counts.size:
            of_pairs, slope = _sum_of_pairs(self.pair_exponents, self.pair_counts, self.pair_couplings, log_weights)
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


def _sum_of_pairs(exponents: Floats, counts: Floats, couplings: Floats, log_weights: Floats) -> tuple[float, Floats]:
    """Return the sum over pairs of the log-probability that labels keep their link, and its gradient."""
    # The different exponents are few, even where all links have their own penalties.
    sizes, place = np.unique(exponents, return_inverse=True)
    place, powers, labels = place.reshape(exponents.shape), sizes[:, None] * log_weights, range(len(log_weights))
    # Sums over all other labels, not differences of sums: those would cancel where one weight is near 1.
    others = [np.logaddexp.reduce(np.delete(powers, label, axis=1), axis=1, initial=-np.inf) for label in labels]
    elsewhere = np.column_stack(others)
    equal, unequal = np.maximum(-couplings, 0)[:, None], np.maximum(couplings, 0)[:, None]
    of_one, of_other = (
        powers[here] + np.logaddexp(powers[there] - equal, elsewhere[there] - unequal)
        for here, there in (place.T, place.T[::-1])
    )
    log_sums = np.logaddexp.reduce(of_one, axis=1)
    of_both = exponents[:, :1] * np.exp(of_one - log_sums[:, None])
    of_both += exponents[:, 1:] * np.exp(of_other - log_sums[:, None])
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
