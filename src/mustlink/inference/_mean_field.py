"""Marginals of linked rows and links by mean field."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import softmax, xlogy

from mustlink._coloring_kernels import color_greedily, smallest_last_order
from mustlink._types import Floats, Indices
from mustlink.constraints import LinkGraph
from mustlink.inference._hard_links import finite_penalty, refuse_broken_links, relabel_broken_parts
from mustlink.inference._marginals import Marginals
from mustlink.inference._mean_field_kernels import sweep_until_stable
from mustlink.inference._model import LinkModel

__all__ = ["mean_field"]

# The probability of a broken hard link that is not negligible.
MAX_BROKEN = 1e-6

# Penalties of hard links grow by such a factor from sweeps to sweeps, from a tenth of what a row can gain by a break.
RAMP = 10.0 ** np.arange(-10, 1)


def mean_field(
    model: LinkModel, *, start: Floats | None = None, max_iter: int = 1000, tol: float = 1e-4, by_colors: bool = True
) -> Marginals:
    """Compute marginal probabilities by mean field.

    Parameters
    ----------
    model : LinkModel
        The evidence of the linked rows, and one penalty for each link.
    start : ndarray of shape (n_rows, n_clusters), default=None
        The probabilities to start from, such as the `rows` of an earlier result. None starts from the evidence alone.
    max_iter : int, default=1000
        Maximum number of sweeps over all rows.
    tol : float, default=1e-4
        The sweeps end when no probability changes by more.
    by_colors : bool, default=True
        Whether rows are visited by color classes of the link graph. Rows of one color have no link between them and
        can be updated in any order. If False, rows are visited in their order; on a grid with strong links, the rows
        visited first then impose their clusters on those after them.

    Returns
    -------
    Marginals
        The distribution of independent rows that is nearest to the model, up to a local optimum. `log_normalizer` is
        the lower bound that it attains.

    Raises
    ------
    InfeasibleError
        If no labels are found that keep the hard links and avoid the clusters that the evidence excludes.

    Notes
    -----
    Row i has the distribution q_i(k), proportional to exp(u_i(k) + sum_j beta_ij q_j(k)), where u are the
    log-potentials and beta_ij is the penalty of a link, negative for a cannot-link. One row is updated at a time,
    which never lowers the bound; updates of all rows at once can alternate between two states without end.

    Mean field overstates how certain the rows are, and must-links with penalties far above the number of clusters keep
    the first cluster that their rows lean to. If must-links are trusted, join their rows to one before.

    An infinite penalty counts as a billion times the most that a row can gain by breaking a link, so that the
    probability of a break is negligible. Without a `start` the penalty grows to that in steps, each from the result
    of the one before. Where hard links are broken nevertheless, their connected part starts again from labels that
    satisfy them.

    References
    ----------
    Lange, Law, Jain, Buhmann: Clustering with constraints: a mean-field approximation perspective (2009).

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import Constraints
    >>> from mustlink.inference import LinkModel, mean_field
    >>> graph = Constraints(must_link=[(0, 1)]).adjacency(2)
    >>> evidence = np.array([[0.0, -1.0], [-2.0, 0.0]])
    >>> marginals = mean_field(LinkModel(evidence, graph, np.array([3.0])))
    >>> marginals.rows.round(2)
    array([[0.13, 0.87],
           [0.01, 0.99]])
    >>> marginals.links.round(2)
    array([0.86])
    """
    penalty = finite_penalty(model, "Mean field")
    is_hard = np.isinf(model.penalty)
    order = _by_colors(model.graph) if by_colors else np.arange(len(model.log_potentials))
    shares = softmax(model.log_potentials, axis=1) if start is None else _checked_start(start, model)
    for factor in RAMP if is_hard.any() and start is None else (1.0,):
        _sweep(replace(model, penalty=np.where(is_hard, factor * penalty, penalty)), order, shares, max_iter, tol)
    is_broken = is_hard & (_satisfied(model.graph, shares) < 1 - MAX_BROKEN)
    if is_broken.any():
        rows, labels = relabel_broken_parts(model, is_broken)
        shares[rows] = np.eye(model.n_clusters)[labels]
        _sweep(replace(model, penalty=penalty), order, shares, max_iter, tol)
    satisfied = _satisfied(model.graph, shares)
    refuse_broken_links(model, satisfied)
    return Marginals(shares, satisfied, _bound(model.log_potentials, shares) - float(penalty @ (1 - satisfied)))


def _sweep(model: LinkModel, order: Indices, shares: Floats, max_iter: int, tol: float) -> None:
    """Update `shares`, in place, until they are stable; all penalties are finite."""
    graph = model.graph
    links = graph.indptr, graph.neighbors, model.coupling[graph.link]
    sweep_until_stable(model.log_potentials, links, order, max_iter, tol, shares)


def _satisfied(graph: LinkGraph, shares: Floats) -> Floats:
    """Return the probability that each link is satisfied if the rows are independent."""
    together = np.einsum("lc,lc->l", shares[graph.pairs[:, 0]], shares[graph.pairs[:, 1]])
    return np.where(graph.sign > 0, together, 1 - together)


def _bound(evidence: Floats, shares: Floats) -> float:
    """Return the expected evidence plus the entropy; a cluster that the evidence excludes has no share of it."""
    return float((shares * np.where(shares > 0, evidence, 0) - xlogy(shares, shares)).sum())


def _by_colors(graph: LinkGraph) -> Indices:
    """Order the rows so that those of one color, between which there is no link, follow each other."""
    order, _ = smallest_last_order(graph.indptr, graph.neighbors)
    colors = color_greedily(graph.indptr, graph.neighbors, order[::-1].copy(), np.full(len(order), -1, dtype=np.int64))
    return np.argsort(colors, kind="stable")


def _checked_start(start: Floats, model: LinkModel) -> Floats:
    """Return a copy of the probabilities to start from."""
    shares = np.array(start, dtype=np.float64)
    if shares.shape != model.log_potentials.shape:
        raise ValueError(f"start must have the shape {model.log_potentials.shape}; got {shares.shape}.")
    if not ((shares >= 0).all() and np.allclose(shares.sum(axis=1), 1)):
        raise ValueError("start must hold probabilities: no entry below 0, and rows with the sum 1.")
    return shares
