"""Marginals and best labelings of a link graph, each connected part by the cheapest way that is exact."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from mustlink._spelling import count
from mustlink._types import Floats, Indices, Ints, Mask
from mustlink.constraints import LinkGraph
from mustlink.errors import InfeasibleError
from mustlink.inference._approximation import Approximation, SubModel
from mustlink.inference._belief_propagation import propagate_beliefs
from mustlink.inference._condensation import Condensation
from mustlink.inference._gibbs import GibbsSampler
from mustlink.inference._marginals import Marginals
from mustlink.inference._mean_field import mean_field
from mustlink.inference._model import LinkModel, refuse_other_graphs
from mustlink.inference._partition import Partition, connected_parts, spanning_edges
from mustlink.inference._report import InferenceReport
from mustlink.inference._tree import Trees

__all__ = ["LinkInference"]

Beyond: TypeAlias = Literal["tree", "mean_field", "gibbs", "bp"]
NAMES = {"tree": "spanning tree", "mean_field": "mean field", "gibbs": "Gibbs sampling", "bp": "belief propagation"}
EXCLUDED = "The log-potentials exclude every labeling that keeps the hard links."


class Core(Protocol):
    """What solves nodes that are in cycles."""

    def add_marginals(self, belief: Floats, marginal: Floats, equal: Floats, start: Floats | None) -> float:
        """Write the marginals of the nodes and the chance of equality of the edges; return the log-normalizer."""

    def add_best(self, belief: Floats, state: Indices) -> None:
        """Write the states of the best labeling."""


class LinkInference:
    """Inference on one link graph, planned once and used for many log-potentials.

    Hard must-links join rows to single nodes first, and with two clusters hard cannot-links do too. Each connected part
    of what remains is solved by the cheapest way that is exact: pairs and trees by messages, cliques of hard
    cannot-links over sets of clusters, other parts by a junction tree while its tables are small enough. Made by
    :meth:`plan`.

    Parameters
    ----------
    condensed : object
        The nodes and edges that remain.
    trees : object
        The nodes outside cycles.
    cores : sequence of object
        What solves the nodes of cycles.
    dropped : ndarray of shape (n_dropped,)
        The edges that spanning trees leave out.
    report : InferenceReport
        What was planned.
    rows : ndarray of shape (n_rows,), default=None
        The numbers of the rows in messages; their positions if None.

    Attributes
    ----------
    report : InferenceReport
        How the probabilities of each connected part are computed.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import Constraints
    >>> from mustlink.inference import LinkInference
    >>> graph = Constraints(must_link=[(0, 1)], cannot_link=[(1, 2)]).adjacency(3)
    >>> inference = LinkInference.plan(graph, np.array([np.inf, 2.0]), n_clusters=2)
    >>> print(inference.report.describe())
    Exact: 1 part by pair.
    >>> marginals = inference.marginals(np.log([[0.8, 0.2], [0.8, 0.2], [0.5, 0.5]]))
    >>> marginals.rows.round(2)
    array([[0.94, 0.06],
           [0.94, 0.06],
           [0.16, 0.84]])
    """

    def __init__(
        self,
        condensed: Condensation,
        trees: Trees,
        cores: Sequence[Core],
        dropped: Ints,
        report: InferenceReport,
        rows: Indices | None = None,
    ) -> None:
        self.report = report
        self._rows = rows
        self._condensed = condensed
        self._trees = trees
        self._cores = cores
        self._dropped = dropped

    @property
    def is_approximate(self) -> Mask:
        """Whether the probabilities of each row are approximated, as an array of shape (n_rows,)."""
        edges, n_nodes = self._condensed.edges, self._condensed.n_nodes
        nodes = [core.sub_model.nodes for core in self._cores if isinstance(core, Approximation)]
        part = connected_parts(edges, n_nodes)
        wide = part[np.concatenate([*nodes, edges[self._dropped, 0]]).astype(np.intp)]
        return np.isin(part, wide)[self._condensed.node]

    @classmethod
    def plan(
        cls,
        graph: LinkGraph,
        penalty: ArrayLike,
        n_clusters: int,
        *,
        exact: bool = True,
        beyond: Beyond = "tree",
        max_table: int = 1_000_000,
        tree_weight: ArrayLike | None = None,
        max_iter: int | None = None,
        tol: float | None = None,
        n_sweeps: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        rows: Indices | None = None,
    ) -> LinkInference:
        """Plan the inference on a link graph.

        Parameters
        ----------
        graph : LinkGraph
            The links between the rows, ``links.adjacency(n_rows)``.
        penalty : array-like of shape (n_links,)
            What it costs to break each link, not negative; infinite for hard links. In the order of ``graph.pairs`` and
            ``graph.weight``: must-links first, the pairs of either kind sorted, not as they were given.
        n_clusters : int
            The number of clusters.
        exact : bool, default=True
            Whether each connected part is solved exactly where its tables fit. If False, all parts are solved by
            `beyond`.
        beyond : {"tree", "mean_field", "gibbs", "bp"}, default="tree"
            How parts with larger tables are solved: by a spanning tree, which leaves out links, by mean field, Gibbs
            sampling or belief propagation. The last one takes no hard cannot-links; penalties above 30 count as 30.
        max_table : int, default=1_000_000
            The maximum number of entries of all tables of a part.
        tree_weight : array-like of shape (n_links,), default=None
            Spanning trees keep the heaviest links; in the order of `penalty`. None weighs links by their penalties.
        max_iter : int, default=None
            Maximum number of sweeps of mean field or belief propagation; their own default if None.
        tol : float, default=None
            When these sweeps end; their own default if None.
        n_sweeps : int, default=None
            The number of sweeps of Gibbs sampling in each call; its own default if None.
        random_state : int, RandomState or None, default=None
            Makes Gibbs sampling repeatable.
        rows : ndarray of shape (n_rows,), default=None
            The numbers of the rows in messages, such as those in a table; their positions if None.

        Returns
        -------
        LinkInference

        Raises
        ------
        InfeasibleError
            If no labeling satisfies all hard links.
        ValueError
            If an argument has a wrong shape or is out of range, or belief propagation would need hard cannot-links.
        TypeError
            If `graph` is not a LinkGraph.

        Examples
        --------
        >>> from mustlink import Constraints
        >>> from mustlink.inference import LinkInference
        >>> links = Constraints(must_link=[(1, 2), (0, 1)], must_link_weight=[0.5, 2.0])
        >>> graph = links.adjacency(3)
        >>> graph.pairs.tolist(), graph.weight.tolist()
        ([[0, 1], [1, 2]], [2.0, 0.5])
        >>> inference = LinkInference.plan(graph, 3.0 * graph.weight, n_clusters=2)
        >>> inference.marginals([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]).links.round(3)
        array([0.998, 0.818])
        """
        refuse_other_graphs(graph)
        penalties = _check_per_link(penalty, graph, "penalty")
        if beyond not in NAMES:
            raise ValueError(f"beyond must be one of {', '.join(map(repr, NAMES))}; got {beyond!r}.")
        weight = penalties if tree_weight is None else _check_per_link(tree_weight, graph, "tree_weight")
        condensed = Condensation.of(graph, penalties, int(n_clusters), rows)
        n_nodes, edges, coupling = condensed.n_nodes, condensed.edges, condensed.coupling
        trees = Trees.of(edges, coupling, n_nodes)
        if exact:
            partition = Partition.of(condensed, trees.core, max_table)
        elif beyond == "tree":
            partition = Partition(wide=[trees.core] if len(trees.core) else [])
        else:
            partition = Partition(wide=[np.unique(edges)] if len(edges) else [])
        wide = np.sort(np.concatenate([np.empty(0, dtype=np.intp), *partition.wide]))
        cores: list[Core] = [*partition.solvers(condensed)]
        dropped = np.empty(0, dtype=np.int64)
        if len(wide) and beyond == "tree":
            dropped = _edges_to_drop(condensed, wide, weight)
            trees = Trees.of(edges, coupling, n_nodes, np.setdiff1d(np.arange(len(edges)), dropped))
        elif len(wide):
            if not exact:
                trees = Trees.of(edges[:0], coupling[:0], n_nodes).without(wide)
            sub_model = SubModel.of(wide, edges, coupling)
            if beyond == "bp" and np.isinf(sub_model.penalty).any():
                raise ValueError(
                    "Belief propagation takes no hard cannot-links between rows that are not solved exactly; use "
                    "another approximation, such as mean field, or finite penalties."
                )
            cores.append(Approximation(sub_model, _solver(beyond, max_iter, tol, n_sweeps, random_state)))
        report = _report(condensed, partition, wide, dropped, beyond)
        return cls(condensed, trees, cores, dropped, report, rows)

    def marginals(self, log_potentials: ArrayLike, start: Floats | None = None) -> Marginals:
        """Compute the probabilities of the clusters of every row and of every link.

        Parameters
        ----------
        log_potentials : array-like of shape (n_rows, n_clusters)
            The evidence for each cluster.
        start : ndarray of shape (n_rows, n_clusters), default=None
            The `rows` of the result before, for log-potentials that have changed little since: mean field starts from
            them, and the chains of Gibbs sampling continue. None starts both from the evidence.

        Returns
        -------
        Marginals
            Exact if the report says so. Where spanning trees leave out links, they are those of the model without these
            links, whose own probabilities are those of independent rows.

        Raises
        ------
        InfeasibleError
            If the log-potentials exclude every labeling.
        """
        belief = self._potentials(log_potentials)
        marginal, equal = np.empty_like(belief), np.empty(len(self._condensed.edges))
        of_trees, messages = self._trees.collect(belief, marginal)
        begin = None if start is None else self._condensed.choose(start)
        log_normalizer = self._condensed.constant + of_trees
        for core in self._cores:
            log_normalizer += core.add_marginals(belief, marginal, equal, begin)
        if not np.isfinite(log_normalizer):
            raise InfeasibleError(EXCLUDED)
        self._trees.distribute(belief, messages, marginal, equal)
        a, b = self._condensed.edges[self._dropped].T
        equal[self._dropped] = np.einsum("es,es->e", marginal[a], marginal[b])
        return Marginals(self._condensed.spread(marginal), self._condensed.satisfied(equal), log_normalizer)

    def best_labeling(self, log_potentials: ArrayLike) -> Indices:
        """Find the labeling of highest probability.

        Parameters
        ----------
        log_potentials : array-like of shape (n_rows, n_clusters)
            The evidence for each cluster.

        Returns
        -------
        ndarray of shape (n_rows,)
            The most probable labeling of all rows together where the marginals are exact. Elsewhere a labeling that no
            change of a single node improves.

        Raises
        ------
        InfeasibleError
            If the log-potentials exclude every labeling.
        """
        potentials = self._potentials(log_potentials)
        belief = potentials.copy()
        state = np.zeros(len(belief), dtype=np.intp)
        self._trees.collect_best(belief)
        for core in self._cores:
            core.add_best(belief, state)
        self._trees.assign_best(belief, state)
        if len(self._dropped):
            edges, coupling = self._condensed.edges, self._condensed.coupling
            part = connected_parts(edges, len(belief))
            nodes = np.flatnonzero(np.isin(part, part[edges[self._dropped, 0]]))
            SubModel.of(nodes, edges, coupling).improve(potentials, state)
        if self.report.is_exact:
            a, b = self._condensed.edges[np.isneginf(self._condensed.coupling)].T
            if (state[a] == state[b]).any() or np.isneginf(potentials[np.arange(len(state)), state]).any():
                raise InfeasibleError(EXCLUDED)
        return self._condensed.label(state)

    def _potentials(self, log_potentials: ArrayLike) -> Floats:
        """Return the log-potentials of the nodes, each of which has a cluster left."""
        potentials = self._condensed.potentials(self._check(log_potentials))
        is_lost = np.isneginf(potentials).all(axis=1)
        if is_lost.any():
            tied = np.flatnonzero(self._condensed.node == is_lost.argmax())
            first = tied[0] if self._rows is None else self._rows[tied[0]]
            if len(tied) == 1:
                raise InfeasibleError(f"The log-potentials exclude every cluster of row {first}.")
            others = count(len(tied) - 1, "row")
            raise InfeasibleError(f"{EXCLUDED[:-1]}: no cluster is left for row {first} and {others} tied to it.")
        return potentials

    def _check(self, log_potentials: ArrayLike) -> Floats:
        """Return the log-potentials as an array, or raise."""
        values = np.asarray(log_potentials, dtype=np.float64)
        n_rows = len(self._condensed.node)
        if values.shape != (n_rows, self._condensed.n_clusters):
            raise ValueError(
                f"log_potentials must have the shape ({n_rows}, {self._condensed.n_clusters}); got {values.shape}."
            )
        if not (values < np.inf).all():
            raise ValueError("log_potentials contains NaN or infinity.")
        return values


def _check_per_link(given: ArrayLike, graph: LinkGraph, name: str) -> Floats:
    """Return one number for each link as an array, or raise."""
    values = np.asarray(given, dtype=np.float64)
    n_links = len(graph.pairs)
    if values.shape != (n_links,):
        raise ValueError(f"{name} must have one entry for each of the {count(n_links, 'link')}; got {values.shape}.")
    if not (values >= 0).all():
        raise ValueError(f"{name} must not be negative or NaN.")
    return values


def _edges_to_drop(condensed: Condensation, wide: Indices, weight: Floats) -> Ints:
    """Return the edges between nodes of wide cores that their heaviest spanning trees leave out."""
    edges = condensed.edges
    on_edge = np.bincount(condensed.link_edge + 1, weight, len(edges) + 1)[1:].astype(np.float64)
    inside = np.flatnonzero(np.isin(edges, wide).all(axis=1))
    return inside[~spanning_edges(edges[inside], on_edge[inside], condensed.n_nodes)]


def _solver(
    beyond: Beyond,
    max_iter: int | None,
    tol: float | None,
    n_sweeps: int | None,
    random_state: int | np.random.RandomState | None,
) -> Callable[[LinkModel, Floats | None], Marginals]:
    """Return the function that approximates the marginals of a link model; None is a method's own default."""
    if beyond == "gibbs":
        return partial(_sample, GibbsSampler(random_state=random_state, **_given(n_sweeps=n_sweeps)))
    options = _given(max_iter=max_iter, tol=tol)
    if beyond == "bp":
        return lambda model, start: propagate_beliefs(model, **options)
    return lambda model, start: mean_field(model, start=start, **options)


def _sample(sampler: GibbsSampler, model: LinkModel, start: Floats | None) -> Marginals:
    """Sample from a model; the chains continue if there is a start."""
    if start is None:
        sampler.restart()
    return sampler.marginals(model)


def _given(**options: Any) -> dict[str, Any]:
    """Return the options that are not None."""
    return {name: value for name, value in options.items() if value is not None}


def _report(
    condensed: Condensation, partition: Partition, wide: Indices, dropped: Ints, beyond: Beyond
) -> InferenceReport:
    """Count the connected parts by how they are solved."""
    part = connected_parts(condensed.edges, condensed.n_nodes)
    n_parts = int(part.max(initial=-1)) + 1
    method = np.full(n_parts, "tree", dtype=object)
    size = np.bincount(part, minlength=n_parts)
    method[size == 2] = "pair"
    of_node = np.bincount(condensed.node, minlength=condensed.n_nodes)
    several, single = of_node > 1, size[part] == 1
    method[part[single & several]] = "collapsed must-links"
    method[part[single & ~several]] = ""
    is_turned = np.zeros(condensed.n_nodes, dtype=bool)
    is_turned[condensed.node[condensed.is_opposite]] = True
    method[part[single & is_turned]] = "bipartition"
    for nodes in partition.cliques:
        method[part[nodes[0]]] = "clique"
    for elimination in partition.eliminations:
        method[part[elimination.order[0]]] = "junction tree"
    if beyond != "tree":
        method[part[wide]] = NAMES[beyond]
    method[part[condensed.edges[dropped, 0]]] = NAMES["tree"]
    counted = Counter(name for name in method.tolist() if name)
    widths = [int(size.max(initial=0) > 1), *(elimination.width for elimination in partition.eliminations)]
    widths += [len(nodes) - 1 for nodes in partition.cliques]
    is_exact = not counted.keys() & set(NAMES.values())
    n_dropped = int(np.isin(condensed.link_edge, dropped).sum())
    return InferenceReport(is_exact, max(widths), dict(counted), n_dropped)
