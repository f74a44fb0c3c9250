"""Marginals of linked rows and links by Gibbs sampling."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.utils import check_random_state

from mustlink._spelling import count
from mustlink._types import Floats, Indices, Mask
from mustlink.constraints import LinkGraph
from mustlink.inference._gibbs_kernels import sample_labels
from mustlink.inference._hard_links import finite_penalty, refuse_broken_links, relabel_broken_parts
from mustlink.inference._marginals import Marginals
from mustlink.inference._model import LinkModel

__all__ = ["GibbsSampler"]

# The potentials and the links of a model, see the kernel.
Arrays = tuple[tuple[Floats, Floats], tuple[Indices, Indices, Indices, Floats, Floats, Mask]]

# Rows whose penalties add up to at most this are drawn from products of exponentials. An exponential that is below the
# range of numbers, exp(-745), is negligible after them.
MAX_MULTIPLIED = 300.0

# Random numbers that are drawn at a time.
MAX_DRAWN = 1_000_000


class GibbsSampler:
    """Gibbs sampler of linked rows, with chains that continue from call to call.

    Parameters
    ----------
    n_chains : int, default=4
        The number of independent chains.
    n_sweeps : int, default=100
        The sweeps over all rows in each chain that are averaged in a call.
    n_burn_in : int, default=20
        The sweeps before them that are not.
    random_state : int, RandomState or None, default=None
        Makes the draws repeatable.

    Attributes
    ----------
    labels : ndarray of shape (n_chains, n_rows) or None
        The last labels of the chains; None before the first call.

    Notes
    -----
    A label is drawn given those of the neighbors, with probabilities proportional to exp(u_i(k) + sum of beta_ij over
    the neighbors j with the label k), where u are the log-potentials and beta_ij is the penalty of a link, negative for
    a cannot-link. These probabilities are averaged, not the labels drawn from them, which has a lower variance
    (Rao-Blackwell).

    In EM the evidence changes little from one call to the next, so that a chain that continues needs few sweeps.

    An infinite penalty counts as a billion times the most that a row can gain by breaking a link. Where a chain breaks
    hard links after the burn-in, their connected part starts from labels that satisfy them. A chain moves one row at a
    time: between hard links and those with large penalties it may not reach all labelings. If must-links are trusted,
    join their rows to one before.

    References
    ----------
    Lu, Leen: Pairwise constraints as priors in probabilistic clustering (2009).

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import Constraints
    >>> from mustlink.inference import GibbsSampler, LinkModel
    >>> graph = Constraints(must_link=[(0, 1)]).adjacency(2)
    >>> model = LinkModel(np.array([[0.0, -1.0], [-2.0, 0.0]]), graph, np.array([3.0]))
    >>> sampler = GibbsSampler(n_sweeps=5000, random_state=0)
    >>> marginals = sampler.marginals(model)
    >>> marginals.rows.round(1)
    array([[0.3, 0.7],
           [0.3, 0.7]])
    >>> marginals.links.round(1)
    array([0.9])
    """

    def __init__(
        self,
        n_chains: int = 4,
        n_sweeps: int = 100,
        n_burn_in: int = 20,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        for name, value, least in (("n_chains", n_chains, 1), ("n_sweeps", n_sweeps, 1), ("n_burn_in", n_burn_in, 0)):
            if value < least:
                raise ValueError(f"{name} must be at least {least}; got {value}.")
        self.n_chains = n_chains
        self.n_sweeps = n_sweeps
        self.n_burn_in = n_burn_in
        self.random_state = random_state
        self.labels: Indices | None = None
        self._rng = check_random_state(random_state)

    def marginals(self, model: LinkModel) -> Marginals:
        """Estimate the marginal probabilities of a model.

        Parameters
        ----------
        model : LinkModel
            The evidence of the linked rows, and one penalty for each link. After the first call, with the same number
            of rows and clusters as before.

        Returns
        -------
        Marginals
            Averages over the sweeps of all chains, without a `log_normalizer`.

        Raises
        ------
        InfeasibleError
            If no labels are found that keep the hard links and avoid the clusters that the evidence excludes.
        """
        graph, arrays = model.graph, _kernel_arrays(model)
        totals = np.zeros_like(model.log_potentials), np.zeros(len(graph.pairs))
        self.labels = self._last_labels(model)
        for labels in self.labels:
            self._burn_in(model, arrays, labels)
            self._sample(arrays, self.n_sweeps, labels, totals)
        n_averaged = self.n_chains * self.n_sweeps
        # Every link has been added from both ends.
        together = totals[1] / (2 * n_averaged)
        satisfied = np.where(graph.sign > 0, together, 1 - together)
        refuse_broken_links(model, satisfied)
        return Marginals(totals[0] / n_averaged, satisfied)

    def restart(self) -> None:
        """Forget the labels of the chains: the next call starts them from the evidence."""
        self.labels = None

    def _last_labels(self, model: LinkModel) -> Indices:
        """Return the labels to continue from, -1 before the first call."""
        n_rows = len(model.log_potentials)
        if self.labels is None:
            return np.full((self.n_chains, n_rows), -1, dtype=np.intp)
        if self.labels.shape[1] != n_rows or self.labels.max(initial=0) >= model.n_clusters:
            raise ValueError(
                f"The chains have {count(self.labels.shape[1], 'row')} and labels up to {self.labels.max(initial=0)}, "
                f"and cannot continue on {count(n_rows, 'row')} with {count(model.n_clusters, 'cluster')}. Make a new "
                "GibbsSampler for another set of links."
            )
        return self.labels.copy()

    def _burn_in(self, model: LinkModel, arrays: Arrays, labels: Indices) -> None:
        """Move a chain away from where it starts, which is a labeling that satisfies the hard links where possible."""
        is_new = bool((labels < 0).any())
        self._sample(arrays, max(self.n_burn_in, is_new), labels)
        is_broken = np.isinf(model.penalty) & ~_satisfies(model.graph, labels)
        if is_broken.any():
            rows, feasible = relabel_broken_parts(model, is_broken)
            labels[rows] = feasible
            self._sample(arrays, self.n_burn_in, labels)

    def _sample(
        self, arrays: Arrays, n_sweeps: int, labels: Indices, totals: tuple[Floats, Floats] | None = None
    ) -> None:
        """Sweep over all rows, and add the probabilities to the totals, if there are any."""
        n_rows = len(labels)
        n_at_a_time = max(1, MAX_DRAWN // max(1, n_rows))
        rows_and_links = totals or (np.empty((0, 0)), np.empty(0))
        for first in range(0, n_sweeps, n_at_a_time):
            uniforms = self._rng.uniform(size=(min(n_at_a_time, n_sweeps - first), n_rows))
            sample_labels(*arrays, uniforms, labels, totals is not None, *rows_and_links)


def _kernel_arrays(model: LinkModel) -> Arrays:
    """Return the potentials and the links as the kernel takes them."""
    graph, evidence = model.graph, model.log_potentials
    finite = replace(model, penalty=finite_penalty(model, "Gibbs sampling"))
    coupling = finite.coupling[graph.link]
    is_strong = np.bincount(graph.pairs.ravel(), np.repeat(finite.penalty, 2), graph.n_samples) > MAX_MULTIPLIED
    factor = np.exp(np.clip(coupling, -MAX_MULTIPLIED, MAX_MULTIPLIED))
    weights = np.exp(evidence - evidence.max(axis=1, keepdims=True))
    return (evidence, weights), (graph.indptr, graph.neighbors, graph.link, coupling, factor, is_strong)


def _satisfies(graph: LinkGraph, labels: Indices) -> Mask:
    """Return whether labels satisfy each link."""
    a, b = graph.pairs.T
    return (labels[a] == labels[b]) == (graph.sign > 0)
