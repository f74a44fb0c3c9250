"""Marginals of linked rows and links by mean field."""

from __future__ import annotations

import numpy as np
from scipy.special import softmax, xlogy

from mustlink._coloring_kernels import color_greedily, smallest_last_order
from mustlink._types import Floats, Indices
from mustlink.constraints import LinkGraph
from mustlink.inference._belief_propagation import Marginals
from mustlink.inference._hard_links import feasible_labels, finite_penalty
from mustlink.inference._mean_field_kernels import sweep_until_stable
from mustlink.inference._model import LinkModel

__all__ = ["mean_field"]

# The probability of a broken hard link above which the sweeps start again from labels that break none.
MAX_BROKEN = 1e-6


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
        change together, as it were. If False, rows are visited in their order; on a grid with strong links, the rows
        visited first then impose their clusters on those after them.

    Returns
    -------
    Marginals
        The distribution of independent rows that is nearest to the model, up to a local optimum. `log_normalizer` is
        the lower bound that it attains.

    Notes
    -----
    Row i has the distribution q_i(k), proportional to exp(u_i(k) + sum_j beta_ij q_j(k)), where u are the
    log-potentials and beta_ij is the penalty of a link, negative for a cannot-link. One row is updated at a time,
    which never lowers the bound; updates of all rows at once can alternate between two states for ever.

    Mean field overstates how certain the rows are, and must-links with penalties far above the number of clusters keep
    the first cluster that their rows lean to. An infinite penalty counts as a finite one that exceeds all that a row
    can gain by breaking the link, by 30 nats; where the sweeps break such a link nevertheless, they start again from
    labels that break none.

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
    order = _by_colors(model.graph) if by_colors else np.arange(len(model.log_potentials))
    shares = softmax(model.log_potentials, axis=1) if start is None else _checked_start(start, model)
    marginals = _sweep(model, penalty, order, shares, max_iter, tol)
    is_hard = np.isinf(model.penalty)
    if (marginals.links[is_hard] < 1 - MAX_BROKEN).any():
        labels = feasible_labels(model)
        if labels is not None:
            marginals = _sweep(model, penalty, order, np.eye(model.n_clusters)[labels], max_iter, tol)
    return marginals


def _sweep(model: LinkModel, penalty: Floats, order: Indices, shares: Floats, max_iter: int, tol: float) -> Marginals:
    """Update `shares` until they are stable, and collect what follows from them."""
    graph, evidence = model.graph, model.log_potentials
    coupling = (graph.sign * penalty)[graph.link]
    sweep_until_stable(evidence, (graph.indptr, graph.neighbors, coupling), order, max_iter, tol, shares)
    together = np.einsum("lc,lc->l", shares[graph.pairs[:, 0]], shares[graph.pairs[:, 1]])
    satisfied = np.where(graph.sign > 0, together, 1 - together)
    # A cluster that the evidence excludes has no share, and adds nothing.
    expected = (shares * np.where(shares > 0, evidence, 0)).sum()
    bound = expected - xlogy(shares, shares).sum() - penalty @ (1 - satisfied)
    return Marginals(shares, satisfied, float(bound))


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
