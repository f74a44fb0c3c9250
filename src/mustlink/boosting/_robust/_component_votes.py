"""Votes on links by all rows that must-links tie to the two rows.

A single row may be hard to place. All rows that must-links tie to it should be in the same cluster, and together they
are much less likely to be misplaced: a link that contradicts them is hardly ever just a hard one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import breadth_first_order

from mustlink._types import Array, Floats, Ints
from mustlink.boosting._boostcluster._links import LinkSet
from mustlink.boosting._coassociation import label_names, renumber
from mustlink.boosting._robust._component_votes_kernels import vote_by_components

__all__ = ["ComponentVotes"]


@dataclass(frozen=True)
class ComponentVotes:
    """How clusterings vote on links, with components in place of single rows.

    A must-link of the spanning forest divides its component in two parts. The vote of a clustering is the mean of two
    fractions: of the rows of one part that are with the linked row of the other part, and conversely. For a cannot-link
    the two parts are two components. For all other links, which close a cycle, it is whether the two rows are together.
    """

    rows: Ints  # the linked rows
    parent: Ints  # of each of them in the spanning forest; a root is its own
    order: Ints  # parents first
    component: Ints
    ends: Ints  # (2, n_links): places in `rows`; of a link of the forest, the child first
    below: Ints  # 1 for links of the forest, 0 between components, -1 for all others

    @classmethod
    def of(cls, links: LinkSet) -> Self:
        """Find the spanning forest of the must-links."""
        n_rows = len(links.rows)
        numbered = links.among_linked()
        component = numbered.components(n_rows)
        parent, order = spanning_forest(numbered.must_link, component)
        first, second = links.places().T
        is_child, is_parent = parent[first] == second, parent[second] == first
        in_forest = links.is_must & (is_child | is_parent)
        ends = np.where(in_forest & ~is_child, (second, first), (first, second))
        apart = ~links.is_must & (component[first] != component[second])
        below = np.where(in_forest, 1, np.where(apart, 0, -1))
        return cls(links.rows, parent, order, component.astype(np.int64), ends, below)

    def vote(self, labels: Array) -> Floats:
        """Return the vote of a clustering of all rows on each link."""
        linked = labels[self.rows]
        names = label_names(linked)
        own = renumber(linked, names).astype(np.int64)
        votes = np.empty(self.ends.shape[1])
        vote_by_components(
            own, len(names), self.parent, self.order, self.component, self.ends[0], self.ends[1], self.below, votes
        )
        return votes


def spanning_forest(must_link: Ints, component: Ints) -> tuple[Ints, Ints]:
    """Return the parent of every row in a spanning forest of the must-links, and the rows with parents first."""
    n_rows = len(component)
    # One more node, joined to the first row of every component, makes the forest a tree.
    roots = np.unique(component, return_index=True)[1]
    edges = np.concatenate([must_link, np.column_stack([roots, np.full(len(roots), n_rows)])])
    shape = (n_rows + 1, n_rows + 1)
    graph = coo_array((np.ones(len(edges), dtype=np.int8), edges.T), shape=shape).tocsr()
    order, parent = breadth_first_order(graph, n_rows, directed=False)
    own = np.arange(n_rows)
    return np.where(parent[:n_rows] == n_rows, own, parent[:n_rows]).astype(np.int64), order[1:].astype(np.int64)
