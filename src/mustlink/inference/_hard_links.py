"""Links with an infinite penalty, for methods that take finite ones."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import coo_array, csgraph

from mustlink._types import Floats, Indices, Mask
from mustlink.constraints import Constraints
from mustlink.errors import InfeasibleError
from mustlink.inference._model import LinkModel

# How many times the most that a row can gain by breaking a link its penalty is, if that is infinite. Mean field
# breaks a link between two rows that share a cluster with a probability of about one divided by the penalty.
HARDNESS = 1e9


# A hard link that is broken with such a probability is not kept.
MAX_BROKEN_SHARE = 0.1


def finite_penalty(model: LinkModel, method: str) -> Floats:
    """Return the penalties, infinite ones replaced by a number far above all that a row can gain by breaking a link.

    That is the spread of its evidence and the finite penalties of its links, the largest of all rows: a number that
    is fixed would be outweighed by strong evidence. Raises if no cluster is left for a row.
    """
    penalty = model.penalty
    if penalty.ndim != 1:
        raise ValueError(f"{method} takes one penalty for each link; got an array of shape {penalty.shape}.")
    refuse_excluded_rows(model)
    is_hard = np.isinf(penalty)
    evidence, graph = model.log_potentials, model.graph
    if not is_hard.any():
        return penalty
    known = np.isfinite(evidence)
    spread = np.where(known, evidence, -np.inf).max(axis=1) - np.where(known, evidence, np.inf).min(axis=1)
    pull = np.bincount(graph.pairs.ravel(), np.repeat(np.where(is_hard, 0, penalty), 2), graph.n_samples)
    return np.where(is_hard, HARDNESS * (1 + (spread + pull).max()), penalty)


def refuse_excluded_rows(model: LinkModel) -> None:
    """Raise if the evidence leaves no cluster for a row."""
    is_lost = model.log_potentials.max(axis=1) == -np.inf
    if is_lost.any():
        raise InfeasibleError(f"The log-potentials exclude every cluster of row {is_lost.argmax()}.")


def refuse_broken_links(model: LinkModel, satisfied: Floats) -> None:
    """Raise if a hard link stays broken because of clusters that the evidence excludes."""
    is_broken = np.isinf(model.penalty) & (satisfied < 1 - MAX_BROKEN_SHARE)
    if is_broken.any() and np.isneginf(model.log_potentials).any():
        raise InfeasibleError(
            "No labeling was found that keeps all hard links and avoids the clusters that the log-potentials exclude."
        )


def relabel_broken_parts(model: LinkModel, is_broken: Mask) -> tuple[Indices, Indices]:
    """Find labels that satisfy all hard links in those connected parts in which one is broken.

    Returns the rows of these parts and their labels; none if the search for labels takes too long.
    """
    graph, is_hard = model.graph, np.isinf(model.penalty)
    pairs, is_must = graph.pairs[is_hard], graph.sign[is_hard] > 0
    edges = coo_array((np.ones(len(pairs)), tuple(pairs.T)), shape=(graph.n_samples, graph.n_samples))
    _, part = csgraph.connected_components(edges, directed=False)
    parts = np.unique(part[graph.pairs[is_hard & is_broken, 0]])
    is_inside = np.isin(part[pairs[:, 0]], parts)
    links = Constraints(pairs[is_inside & is_must], pairs[is_inside & ~is_must])
    # More rows without links, so that every cluster can have one.
    n_samples = graph.n_samples + model.n_clusters
    feasibility = links.feasible(model.n_clusters, n_samples)
    if feasibility.answer is False:
        raise InfeasibleError(feasibility.reason, remedy="soft_mixture", feasibility=feasibility)
    rows = np.flatnonzero(np.isin(part, parts))
    if feasibility.colors is None:
        return rows[:0], rows[:0]
    labels = feasibility.colors[links.components(n_samples)]
    rows = rows[np.argsort(part[rows], kind="stable")]
    for inside in np.split(rows, np.flatnonzero(np.diff(part[rows])) + 1):
        labels[inside] = _name_clusters(labels[inside], model.log_potentials[inside])
    return rows, labels[rows]


def _name_clusters(labels: Indices, evidence: Floats) -> Indices:
    """Exchange the names of the clusters so that the evidence for the labels is largest."""
    n_clusters = evidence.shape[1]
    total = np.zeros((n_clusters, n_clusters))
    np.add.at(total, labels, np.maximum(evidence, np.finfo(float).min / len(evidence)))
    return linear_sum_assignment(total, maximize=True)[1][labels]
