"""Marginals of linked rows and links by loopy belief propagation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mustlink.inference._belief_propagation_kernels import collect_marginals, collect_together, sweep_messages
from mustlink.inference._hard_links import refuse_excluded_rows
from mustlink.inference._marginals import Marginals
from mustlink.inference._model import LinkModel

__all__ = ["propagate_beliefs"]

# exp of more is as good as certain, and is far from overflow.
MAX_PENALTY = 30.0
# Damping only prevents messages from swinging around cycles of contradicting links. Mostly they settle in fewer sweeps
# without it.
N_UNDAMPED = 10


def propagate_beliefs(
    model: LinkModel,
    *,
    max_iter: int = 30,
    damping: float = 0.3,
    tol: float = 1e-4,
    start: Marginals | None = None,
) -> Marginals:
    """Compute marginal probabilities by loopy belief propagation.

    Parameters
    ----------
    model : LinkModel
        The evidence of the linked rows, and one penalty for each link: the log-odds that are lost if it is broken.
        Finite penalties above 30 count as 30.
    max_iter : int, default=30
        Maximum number of sweeps over all rows.
    damping : float, default=0.3
        The fraction of the previous message that is kept in each update, from the eleventh sweep on.
    tol : float, default=1e-4
        The sweeps pass over a row once no logarithm of a message to it or from it changes by more, and end when that
        holds for all.
    start : Marginals, default=None
        What this function returned for a similar model of the same links; it saves sweeps. None starts from nothing.

    Returns
    -------
    Marginals
        Exact, up to `tol`, if the links contain no cycle; otherwise an approximation.

    Raises
    ------
    InfeasibleError
        If the evidence leaves no cluster for a row.
    ValueError
        If a penalty is infinite: messages that exclude clusters can contradict each other on a cycle.

    Notes
    -----
    Rows are visited in the order of their numbers, which matters only if the sweeps end before they converge.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import Constraints
    >>> from mustlink.inference import LinkModel, propagate_beliefs
    >>> graph = Constraints(must_link=[(0, 1)]).adjacency(2)
    >>> evidence = np.array([[0.0, -1.0], [-2.0, 0.0]])
    >>> marginals = propagate_beliefs(LinkModel(evidence, graph, np.array([3.0])))
    >>> marginals.rows.round(2)
    array([[0.33, 0.67],
           [0.25, 0.75]])
    >>> marginals.links.round(2)
    array([0.91])
    """
    if model.penalty.ndim != 1:
        raise ValueError(
            f"Belief propagation takes one penalty for each link; got an array of shape {model.penalty.shape}."
        )
    if np.isinf(model.penalty).any():
        raise ValueError(
            "Belief propagation takes finite penalties, but some are infinite; use another method, or LinkInference."
        )
    refuse_excluded_rows(model)
    if not 0 <= damping < 1:
        raise ValueError(f"damping must be at least 0 and less than 1; got {damping}.")
    if max_iter < 1 or max_iter != int(max_iter):
        raise ValueError(f"max_iter must be an integer of at least 1; got {max_iter!r}.")
    if not 0 <= tol < np.inf:
        raise ValueError(f"tol must be finite and at least 0; got {tol}.")
    graph, evidence = model.graph, model.log_potentials
    shape = len(graph.link), evidence.shape[1]
    if start is not None and start.messages is not None and start.messages.shape != shape:
        raise ValueError(
            f"start must be of a model with the same links and clusters: this one has {shape[0]} messages to "
            f"{shape[1]} clusters, and start has {' x '.join(map(str, start.messages.shape))}."
        )
    capped = replace(model, penalty=np.minimum(model.penalty, MAX_PENALTY))
    leaning = np.expm1(capped.coupling)[graph.link]
    ends = graph.ends
    reverse = np.empty(len(graph.link), dtype=np.int64)
    reverse[ends] = ends[:, ::-1]
    shares = np.exp(evidence - evidence.max(axis=1, keepdims=True))
    messages = np.ones(shape)
    if start is not None and start.messages is not None:
        messages[:] = start.messages
    cavities = np.empty_like(messages)
    unsettled = np.ones(len(evidence), dtype=np.bool_)
    for n_sweeps in range(max_iter):
        kept = 0.0 if n_sweeps < N_UNDAMPED else damping
        if not sweep_messages(
            *(
                evidence,
                shares,
                graph.indptr,
                graph.neighbors,
                reverse,
                leaning,
                kept,
                tol,
                messages,
                cavities,
                unsettled,
            )
        ):
            break
    together = collect_together(ends, cavities)
    satisfied = np.where(graph.sign > 0, together, 1 - together)
    odds = np.exp(capped.penalty)
    marginals = collect_marginals(evidence, shares, graph.indptr, messages)
    return Marginals(marginals, odds * satisfied / (odds * satisfied + 1 - satisfied), messages=messages)
