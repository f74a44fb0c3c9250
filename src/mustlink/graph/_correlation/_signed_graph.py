"""The signed graph between must-link components, with the hard rules that no clustering may break."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from mustlink._spelling import count
from mustlink._types import Array, Floats, Indices, Ints
from mustlink.base import refuse_contradictions
from mustlink.constraints import CannotLinkGroups, Constraints
from mustlink.errors import InfeasibleError
from mustlink.graph._correlation._hard_rules_kernels import find_impossible, split_clusters

# The rows with a source, the numbers of their sources, and the names of these.
Sources = tuple[Indices, Indices, Array]


@dataclass(frozen=True)
class HardRules:
    """Which nodes may not share a cluster.

    Attributes
    ----------
    apart : csr_array of shape (n_nodes, n_nodes)
        Pairs of nodes that may not, symmetric.
    key_indptr, keys, key_count : ndarray
        The keys of every node in compressed form, ascending, and how many of its rows have each.
    key_max : ndarray of shape (n_keys,)
        How many rows with a key a cluster may hold.
    """

    apart: csr_array
    key_indptr: Ints
    keys: Ints
    key_count: Ints
    key_max: Ints

    @property
    def is_empty(self) -> bool:
        """Whether there is no rule."""
        return not (self.apart.nnz or len(self.keys))

    @property
    def arrays(self) -> tuple[Array, ...]:
        """The rules as the kernels take them."""
        return *index_arrays(self.apart), self.key_indptr, self.keys, self.key_count, self.key_max

    def table(self) -> Ints:
        """Return an empty hash table with room for the keys of all nodes and for as many moves."""
        n_slots = 1 << max(4, int(8 * len(self.keys)).bit_length())
        table = np.zeros((2, n_slots + 1), dtype=np.int64)
        table[0, -1] = len(self.key_max)
        return table

    def merge(self, labels: Indices, n_clusters: int) -> HardRules:
        """Return the rules between clusters that keep all rules."""
        ends = self.apart.tocoo()
        apart = _pattern(np.column_stack([labels[ends.row], labels[ends.col]]), n_clusters)
        node = np.repeat(np.arange(len(self.key_indptr) - 1), np.diff(self.key_indptr))
        return replace(
            self, apart=apart, **_keys_of_nodes(labels[node], self.keys, self.key_count, n_clusters, self.key_max)
        )

    def split(self, labels: Indices, order: Indices) -> Indices:
        """Split clusters that break a rule: each node, in order, goes to the first part of its cluster with room."""
        if self.is_empty:
            return labels
        parts: Indices = split_clusters(labels, order, *self.arrays, self.table())
        return parts

    def take(self, nodes: Indices) -> HardRules:
        """Return the rules between some nodes, numbered by their places."""
        shape = (len(self.key_indptr) - 1, len(self.key_max))
        held = csr_array((self.key_count, self.keys, self.key_indptr), shape=shape)[nodes]
        held.sort_indices()
        return HardRules(
            self.apart[nodes][:, nodes],
            held.indptr.astype(np.int64),
            held.indices.astype(np.int64),
            held.data,
            self.key_max,
        )


@dataclass(frozen=True)
class SignedGraph:
    """Nodes and their net weights: positive if it is better to join two nodes.

    The net weight of two nodes is their entry in `weights` minus `penalty` times the product of their sizes. Entries
    between nodes that no clustering can join are left out.

    Attributes
    ----------
    weights : csr_array of shape (n_nodes, n_nodes)
        Symmetric, without a diagonal, the columns of each row ascending.
    size : ndarray of shape (n_nodes,)
        The number of rows of each node.
    penalty : float
        The weight against joining two rows without an entry.
    rules : HardRules
        Which nodes may not share a cluster.
    """

    weights: csr_array
    size: Floats
    penalty: float
    rules: HardRules

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return len(self.size)

    @property
    def arrays(self) -> tuple[Array, Array, Array, Floats, float]:
        """The weights as the kernels take them."""
        return *index_arrays(self.weights), self.weights.data, self.size, self.penalty

    @cached_property
    def net(self) -> Floats:
        """The net weight of every entry."""
        row = np.repeat(np.arange(self.n_nodes), np.diff(self.weights.indptr))
        return self.weights.data - self.penalty * self.size[row] * self.size[self.weights.indices]

    @cached_property
    def parts(self) -> tuple[int, Indices]:
        """The connected components of the positive net weights: their number, and the component of every node."""
        # Copied, as zeros are removed in place.
        structure = self.weights.indices, self.weights.indptr
        positive = csr_array((self.net > 0, *structure), shape=self.weights.shape, copy=True)
        positive.eliminate_zeros()
        n_parts, part = connected_components(positive, directed=False)
        return n_parts, part.astype(np.intp)

    def part_gains(self, labels: Indices) -> Floats:
        """Return the net weight inside clusters, for every connected part; no cluster reaches over two of them."""
        n_parts, part = self.parts
        row = np.repeat(np.arange(self.n_nodes), np.diff(self.weights.indptr))
        is_inside = labels[row] == labels[self.weights.indices]
        gains = np.bincount(part[row[is_inside]], weights=self.weights.data[is_inside], minlength=n_parts) / 2
        if not self.penalty:
            return gains
        total = np.bincount(labels, weights=self.size)
        part_of_cluster = np.zeros(len(total), dtype=np.intp)
        part_of_cluster[labels] = part
        squares = np.bincount(part_of_cluster, weights=total**2, minlength=n_parts)
        return gains - self.penalty * (squares - np.bincount(part, weights=self.size**2, minlength=n_parts)) / 2

    def take(self, nodes: Indices) -> SignedGraph:
        """Return the graph of some nodes, numbered by their places."""
        weights = self.weights[nodes][:, nodes]
        weights.sort_indices()
        return SignedGraph(weights, self.size[nodes], self.penalty, self.rules.take(nodes))

    def merge(self, labels: Indices, n_clusters: int) -> SignedGraph:
        """Return the graph between clusters, numbered from 0 without gaps, as nodes."""
        size: Floats = np.bincount(labels, weights=self.size, minlength=n_clusters).astype(float)
        return SignedGraph(
            merge_entries(self.weights, labels, n_clusters), size, self.penalty, self.rules.merge(labels, n_clusters)
        )


def build_graph(
    X: csr_array, penalty: float, links: Constraints, sources: Sources | None, max_per_source: int
) -> tuple[SignedGraph, Indices]:
    """Contract must-links; return the graph between components, and the component of every row."""
    n_samples = X.shape[0]
    _refuse_conflicts(links)
    component = links.components(n_samples)
    n_nodes = int(component.max(initial=-1)) + 1
    rules = _collect_rules(links, sources, max_per_source, component, n_nodes)
    weights = csr_array((X.data + penalty, X.indices, X.indptr), shape=X.shape) if penalty else X
    if n_nodes < n_samples:
        weights = merge_entries(weights, component, n_nodes)
    if not rules.is_empty:
        weights = _drop_impossible(weights, rules)
    size = np.bincount(component, minlength=n_nodes).astype(float)
    return SignedGraph(weights, size, penalty, rules), component


def merge_entries(weights: csr_array, labels: Indices, n_clusters: int) -> csr_array:
    """Sum the entries between clusters; those inside are left out."""
    row = np.repeat(labels, np.diff(weights.indptr))
    column = labels[weights.indices]
    between = row != column
    merged = coo_array((weights.data[between], (row[between], column[between])), shape=(n_clusters, n_clusters))
    summed = merged.tocsr()
    summed.sort_indices()
    return summed


def _refuse_conflicts(links: Constraints) -> None:
    """Refuse cannot-links between rows that must-links join."""
    try:
        refuse_contradictions(links)
    except InfeasibleError as error:
        raise error.without_remedies("relax", "soft_method") from None


def _collect_rules(
    links: Constraints, sources: Sources | None, max_per_source: int, component: Indices, n_nodes: int
) -> HardRules:
    """Return the rules between components: cannot-links, groups of cannot-links, and sources."""
    given = links.without_groups()
    apart = _pattern(component[given.cannot_link], n_nodes)
    keys = [_Keys.of_groups(one) for one in links.cannot_link_groups]
    if sources is not None:
        keys.append(_Keys.of_sources(sources, max_per_source, component))
    offsets = np.cumsum([0, *(len(one.limit) for one in keys)])
    rows = np.concatenate([np.empty(0, dtype=np.int64), *(one.rows for one in keys)]).astype(np.int64)
    codes = np.concatenate(
        [np.empty(0, dtype=np.int64), *(one.code + start for one, start in zip(keys, offsets, strict=False))]
    ).astype(np.int64)
    limit = np.concatenate([np.empty(0, dtype=np.int64), *(one.limit for one in keys)]).astype(np.int64)
    # A key that no cluster can hold too often is no rule.
    is_rule = np.bincount(codes, minlength=len(limit)) > limit
    kept = is_rule[codes]
    renumbered = np.cumsum(is_rule) - 1
    ones = np.ones(int(kept.sum()), dtype=np.int64)
    return HardRules(
        apart, **_keys_of_nodes(component[rows[kept]], renumbered[codes[kept]], ones, n_nodes, limit[is_rule])
    )


@dataclass(frozen=True)
class _Keys:
    """Rows with a key, and how many of them a cluster may hold."""

    rows: Array
    code: Array
    limit: Array

    @classmethod
    def of_groups(cls, groups: CannotLinkGroups) -> _Keys:
        return cls(groups.rows, groups.code, np.ones(len(groups.names), dtype=np.int64))

    @classmethod
    def of_sources(cls, sources: Sources, max_per_source: int, component: Indices) -> _Keys:
        rows, code, names = sources
        _refuse_full_components(component[rows], code, names, max_per_source)
        return cls(rows, code, np.full(len(names), max_per_source, dtype=np.int64))


def _refuse_full_components(component: Indices, code: Indices, names: Array, max_per_source: int) -> None:
    """Refuse must-links that join too many rows of a source."""
    pairs, n_rows = np.unique(np.column_stack([component, code]), axis=0, return_counts=True)
    full = np.flatnonzero(n_rows > max_per_source)
    if len(full):
        raise InfeasibleError(
            f"Must-links join {count(int(n_rows[full[0]]), 'row')} of the source {names[pairs[full[0], 1]]!s}, and a "
            f"cluster may hold at most {max_per_source} (max_per_source)",
            remedy="drop_link",
        )


def index_arrays(matrix: csr_array) -> tuple[Array, Array]:
    """Return the structure of a matrix in one pair of types, for which the kernels are compiled once."""
    return matrix.indptr.astype(np.int64, copy=False), matrix.indices.astype(np.int32, copy=False)


def _pattern(edges: Array, n_nodes: int) -> csr_array:
    """Return a symmetric matrix of ones at some edges, each once."""
    a, b = np.concatenate([edges, edges[:, ::-1]]).T
    pattern = coo_array((np.ones(len(a)), (a, b)), shape=(n_nodes, n_nodes)).tocsr()
    pattern.data[:] = 1.0
    pattern.sort_indices()
    return pattern


def _keys_of_nodes(node: Array, key: Array, key_count: Array, n_nodes: int, key_max: Array) -> dict[str, Ints]:
    """Sum the rows of every node and key."""
    n_keys = max(len(key_max), 1)
    both, place = np.unique(node.astype(np.int64) * n_keys + key, return_inverse=True)
    summed = np.bincount(place, weights=key_count, minlength=len(both)).astype(np.int64)
    return {
        "key_indptr": np.searchsorted(both // n_keys, np.arange(n_nodes + 1)).astype(np.int64),
        "keys": (both % n_keys).astype(np.int64),
        "key_count": summed,
        "key_max": key_max.astype(np.int64),
    }


def _drop_impossible(weights: csr_array, rules: HardRules) -> csr_array:
    """Leave out entries between nodes that may not share a cluster."""
    _, _, *keys = rules.arrays
    impossible = find_impossible(*index_arrays(weights), *keys)
    data = np.where(impossible, 0.0, weights.data)
    # Copied, as zeros are removed in place.
    marked = csr_array((data, weights.indices, weights.indptr), shape=weights.shape, copy=True)
    if rules.apart.nnz:
        marked = csr_array(marked - marked.multiply(rules.apart))
    marked.eliminate_zeros()
    marked.sort_indices()
    return marked
