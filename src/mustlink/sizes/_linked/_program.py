"""Links and sizes together as a mixed-integer program, solved by HiGHS: exact, for small inputs.

A *node* of the program is a unit (a must-link component, or a row of a cannot-link), a row without links, or several
of them that are alike. The whole numbers of the program are the numbers of copies of a node in a cluster.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from mustlink._types import Floats, Indices, Ints, Mask

__all__ = ["Program", "clique_cover", "solve"]

NO_PAIRS: Ints = np.empty((0, 2), dtype=np.int64)
NO_TRIPLES: Ints = np.empty((0, 3), dtype=np.int64)
# HiGHS stops at an absolute gap of 1e-6; costs of this size leave a relative one of 1e-10.
COST_SCALE = 1e4


@dataclass(frozen=True)
class Program:
    """Nodes with costs and sizes, the sizes of clusters, and what the links demand.

    `copies` of a node are placed in all; where `is_whole` is False, whole numbers come by themselves once the others
    are placed. No two nodes of a pair in `apart` share a cluster. Of a triple (i, j, g) in `one_of`, i shares a cluster
    with exactly one of j and g. Each pair in `joined` costs its `penalty` if the two are in different clusters.
    """

    costs: Floats
    size: Ints
    size_min: Ints
    size_max: Ints
    copies: Ints
    is_whole: Mask
    apart: Ints = field(default_factory=lambda: NO_PAIRS)
    one_of: Ints = field(default_factory=lambda: NO_TRIPLES)
    joined: Ints = field(default_factory=lambda: NO_PAIRS)
    penalty: Floats = field(default_factory=lambda: np.empty(0))

    @property
    def n_whole(self) -> int:
        """The number of whole numbers in the program, by which its difficulty grows."""
        return int(self.is_whole.sum()) * self.costs.shape[1]


def solve(program: Program, max_branches: int) -> tuple[Ints | None, bool]:
    """Return how many copies of each node go to each cluster, and whether the answer is proven.

    None that is proven means that there is no placement. The search ends after `max_branches` branches: the same on
    every machine, unlike a time limit.
    """
    n_nodes, n_clusters = program.costs.shape
    n_entries = n_nodes * n_clusters
    costs = program.costs - program.costs.min(axis=1, keepdims=True, initial=np.inf)
    scale = COST_SCALE / (costs.max(initial=0.0) or program.penalty.max(initial=0.0) or 1.0)
    # One more number per joined pair and cluster: by how much its two ends differ there.
    differences = np.repeat(0.5 * program.penalty, n_clusters)
    ceiling = np.repeat(program.copies, n_clusters).astype(np.float64)
    answer = milp(
        scale * np.concatenate([costs.ravel(), differences]),
        integrality=np.concatenate([np.repeat(program.is_whole, n_clusters), np.zeros(len(differences))]),
        bounds=Bounds(0.0, np.concatenate([ceiling, np.full(len(differences), np.inf)])),
        constraints=_demands(program),
        options={"mip_rel_gap": 0.0, "node_limit": max_branches},
    )
    if answer.x is None:
        return None, bool(answer.status == 2)
    placed = np.rint(answer.x[:n_entries]).astype(np.int64).reshape(n_nodes, n_clusters)
    return placed, bool(answer.status == 0)


def _demands(program: Program) -> list[LinearConstraint]:
    """Write out the constraints: each node placed, the sizes, the cannot-links by cliques, and the rest."""
    n_nodes, n_clusters = program.costs.shape
    same = sparse.eye_array(n_clusters, format="csr")
    n_differences = len(program.joined) * n_clusters

    def of_nodes(coefficients: sparse.csr_array, per_cluster: bool = True) -> sparse.csr_array:
        block = sparse.kron(coefficients, same if per_cluster else np.ones((1, n_clusters)), format="csr")
        return sparse.hstack([block, sparse.csr_array((block.shape[0], n_differences))], format="csr")

    def per_line(columns: list[Indices], values: list[Floats]) -> sparse.csr_array:
        line = np.repeat(np.arange(len(columns)), [len(c) for c in columns])
        data = np.concatenate([*values, np.empty(0)])
        return sparse.csr_array((data, (line, np.concatenate([*columns, []]).astype(int))), (len(columns), n_nodes))

    each = of_nodes(sparse.eye_array(n_nodes, format="csr"), per_cluster=False)
    sizes = of_nodes(sparse.csr_array(program.size[None, :].astype(np.float64)))
    demands = [
        LinearConstraint(each, program.copies, program.copies),
        LinearConstraint(sizes, program.size_min, program.size_max),
    ]
    apart = np.concatenate([program.apart, program.one_of[:, 1:]])
    if len(apart):
        cliques = clique_cover(apart)
        demands.append(LinearConstraint(of_nodes(per_line(cliques, [np.ones(len(c)) for c in cliques])), -np.inf, 1.0))
    if len(program.one_of):
        shares = per_line(list(program.one_of), [np.array([-1.0, 1.0, 1.0])] * len(program.one_of))
        demands.append(LinearConstraint(of_nodes(shares), 0.0, np.inf))
    if len(program.joined):
        ends = sparse.kron(per_line(list(program.joined), [np.array([1.0, -1.0])] * len(program.joined)), same)
        own = sparse.eye_array(n_differences, format="csr")
        both = sparse.vstack([sparse.hstack([ends, own]), sparse.hstack([-ends, own])], format="csr")
        demands.append(LinearConstraint(both, 0.0, np.inf))
    return demands


def clique_cover(pairs: Ints) -> list[Indices]:
    """Return cliques of a graph that contain every edge: fewer and stronger constraints than one per edge."""
    neighbors: dict[int, set[int]] = {}
    for a, b in pairs.tolist():
        neighbors.setdefault(a, set()).add(b)
        neighbors.setdefault(b, set()).add(a)
    covered: set[tuple[int, int]] = set()
    cliques = []
    for a, b in sorted((min(pair), max(pair)) for pair in pairs.tolist()):
        if (a, b) in covered:
            continue
        clique, common = [a, b], neighbors[a] & neighbors[b]
        while common:
            node = max(common, key=lambda other: (len(neighbors[other] & common), -other))
            clique.append(node)
            common &= neighbors[node]
        clique.sort()
        covered.update((one, other) for place, one in enumerate(clique) for other in clique[place + 1 :])
        cliques.append(np.array(clique, dtype=np.intp))
    return cliques
