"""Links with an infinite penalty, for methods that take finite ones."""

from __future__ import annotations

import numpy as np

from mustlink._types import Floats, Indices
from mustlink.constraints import Constraints
from mustlink.inference._model import LinkModel

# How much a broken hard link costs more than a row can gain by breaking it, in nats: exp(-30) is negligible.
HARD_MARGIN = 30.0


def finite_penalty(model: LinkModel, method: str) -> Floats:
    """Return the penalties, infinite ones replaced by a number larger than all that a row can gain by breaking a link.

    That is the spread of its evidence and the finite penalties of its links, the largest of all rows. A number that
    is fixed would be outweighed by strong evidence.
    """
    penalty = model.penalty
    if penalty.ndim != 1:
        raise ValueError(f"{method} takes one penalty for each link; got an array of shape {penalty.shape}.")
    is_hard = np.isinf(penalty)
    if not is_hard.any():
        return penalty
    evidence, graph = model.log_potentials, model.graph
    known = np.isfinite(evidence)
    spread = np.where(known, evidence, -np.inf).max(axis=1) - np.where(known, evidence, np.inf).min(axis=1)
    soft = np.where(is_hard, 0, penalty)
    pull = np.bincount(graph.pairs.ravel(), np.repeat(soft, 2), graph.n_samples)
    return np.where(is_hard, HARD_MARGIN + (spread + pull).max(), penalty)


def feasible_labels(model: LinkModel) -> Indices | None:
    """Find labels that satisfy all hard links, or None if there are none or the search for them is too long."""
    hard = model.graph.pairs[np.isinf(model.penalty)]
    is_must = model.graph.sign[np.isinf(model.penalty)] > 0
    links = Constraints(hard[is_must], hard[~is_must])
    n_rows = model.graph.n_samples
    # More rows without links, so that every cluster can have one.
    n_samples = n_rows + model.n_clusters
    colors = links.feasible(model.n_clusters, n_samples).colors
    return None if colors is None else colors[links.components(n_samples)[:n_rows]]
