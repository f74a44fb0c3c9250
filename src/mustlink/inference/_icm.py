"""The best labeling of linked rows by iterated conditional modes."""

from __future__ import annotations

import numpy as np

from mustlink._types import Floats, Indices
from mustlink.constraints import Groups
from mustlink.inference._icm_kernels import sweep_groups, sweep_rows
from mustlink.inference._model import LinkModel

__all__ = ["iterated_conditional_modes"]


def iterated_conditional_modes(
    model: LinkModel, groups: Groups | None = None, labels: Indices | None = None, order: Indices | None = None
) -> Indices:
    """Find a labeling of low energy by moving rows and whole must-link components one at a time.

    Parameters
    ----------
    model : LinkModel
        The evidence of the linked rows and the penalties of their links.
    groups : Groups, default=None
        The must-link components of two and more rows (:meth:`mustlink.constraints.Closure.groups`). None moves single
        rows only.
    labels : ndarray of shape (n_rows,), default=None
        Where to start. None starts with no labels: rows without a label do not count until they are visited.
    order : ndarray of shape (n_rows,), default=None
        The order in which rows are visited; None visits the most certain first.

    Returns
    -------
    ndarray of shape (n_rows,)
        A labeling that no move of a single row or of a single component improves.

    Notes
    -----
    By default the most certain rows and components are visited first, and only exact ties depend on how the rows are
    numbered. Every move lowers the energy, which is minus the log-probability of the model.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import Constraints
    >>> from mustlink.inference import LinkModel, iterated_conditional_modes
    >>> links = Constraints(must_link=[(0, 1)])
    >>> model = LinkModel(np.array([[0.0, -1.0], [-2.0, 0.0]]), links.adjacency(2), np.array([3.0]))
    >>> iterated_conditional_modes(model, links.closure(2).groups())
    array([1, 1])
    """
    graph, evidence = model.graph, model.log_potentials
    labels = np.full(len(evidence), -1, dtype=np.intp) if labels is None else np.array(labels, dtype=np.intp)
    if labels.shape != (len(evidence),) or (labels.size and not -1 <= labels.min() <= labels.max() < model.n_clusters):
        raise ValueError(
            f"labels must hold one cluster from 0 to {model.n_clusters - 1}, or -1 for none, for each of the "
            f"{len(evidence)} rows."
        )
    penalty = model.penalty[:, None] if model.penalty.ndim == 1 else model.penalty
    links = (graph.indptr, graph.neighbors, graph.link)
    problem = (evidence, links, int((graph.sign > 0).sum()), penalty)
    row_order = _most_certain_first(evidence) if order is None else order
    sweep_rows(*problem, row_order, labels)
    if groups is not None and groups.rows.size:
        group_order = _most_certain_first(np.add.reduceat(evidence[groups.rows], groups.indptr[:-1]))
        while sweep_groups(*problem, tuple(groups), group_order, labels):
            sweep_rows(*problem, row_order, labels)
    return labels


def _most_certain_first(evidence: Floats) -> Indices:
    """Order rows by how much their best cluster is ahead of their second-best."""
    two = np.sort(evidence, axis=1)[:, -2:]
    return np.argsort(two[:, 0] - two[:, -1], kind="stable")
