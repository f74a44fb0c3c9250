"""Sets of rows of which a cluster may hold only so many: groups, sources, cannot-links."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from mustlink._types import Ints, Mask
from mustlink.base import refuse_contradictions
from mustlink.constraints import Constraints
from mustlink.errors import InfeasibleError
from mustlink.relational._apart_kernels import are_apart, join_in_order


@dataclass
class Apart:
    """The clusters so far, and the sets of which each may hold only so many rows; see the kernels."""

    parent: Ints
    head: Ints
    follow: Ints
    set_of: Ints
    n_in_set: Ints
    alike: Ints
    capacity: Ints
    seen: Ints

    @classmethod
    def of(cls, rows: Ints, sets: Ints, alike: Ints, capacity: Ints, n_rows: int) -> Apart:
        """Collect the sets of every row."""
        order = np.lexsort((sets, rows))
        rows, sets, alike = rows[order], sets[order], alike[order]
        n_nodes = len(rows)
        head, follow = np.full(n_rows, -1, dtype=np.int64), np.full(n_nodes, -1, dtype=np.int64)
        is_first = np.ones(n_nodes, dtype=bool)
        is_first[1:] = np.diff(rows) != 0
        head[rows[is_first]] = np.flatnonzero(is_first)
        follow[np.flatnonzero(~is_first) - 1] = np.flatnonzero(~is_first)
        ones = np.ones(n_nodes, dtype=np.int64)
        return cls(
            np.arange(n_rows), head, follow, sets, ones, alike, capacity, np.zeros(len(capacity), dtype=np.int64)
        )

    @property
    def sets(self) -> tuple[Ints, ...]:
        """The sets as the kernels take them."""
        return self.head, self.follow, self.set_of, self.n_in_set, self.alike, self.capacity, self.seen

    def join(self, left: Ints, right: Ints) -> Ints:
        """Join the clusters of pairs of rows where no set forbids it; what each pair did, see ``join_in_order``."""
        joined: Ints = join_in_order(left, right, self.parent, self.sets)
        return joined

    def forbids(self, left: Ints, right: Ints) -> Mask:
        """Return which pairs of clusters may not be merged."""
        forbidden: Mask = are_apart(left, right, self.sets)
        return forbidden

    def clusters(self) -> Ints:
        """Return the cluster of every row, named by its smallest row."""
        found = self.parent
        while True:
            above = found[found]
            if np.array_equal(above, found):
                return found.copy()
            found = above


def collect_sets(
    links: Constraints,
    groups: csr_array | None,
    alike: Ints | None,
    sources: tuple[Ints, Ints] | None,
    max_per_source: int,
    n_rows: int,
) -> Apart:
    """Collect what keeps rows apart: cannot-links, groups of which no two rows are one entity, sources.

    Rows of a group that are `alike` are not kept apart; None if all rows of a group are.
    """
    given = links.without_groups().cannot_link
    parts = [(given.ravel(), np.repeat(np.arange(len(given)), 2), len(given), 1)]
    parts += [(own.rows, own.code, len(own.names), 1) for own in links.cannot_link_groups]
    n_alike = sum(len(rows) for rows, *_ in parts)
    of_groups = np.empty(0, np.int64)
    if groups is not None:
        occurs = np.repeat(np.arange(n_rows), np.diff(groups.indptr))
        of_groups = np.full(len(occurs), -1) if alike is None else alike[occurs]
        parts.append((occurs, groups.indices, groups.shape[1], 1))
    if sources is not None:
        parts.append((*sources, int(sources[1].max(initial=-1)) + 1, max_per_source))
    rows = np.concatenate([rows for rows, *_ in parts])
    first = np.cumsum([0, *(n_sets for _, _, n_sets, _ in parts)])
    sets = np.concatenate([code + start for (_, code, _, _), start in zip(parts, first, strict=False)])
    alike_of = np.full(len(rows), -1)
    alike_of[n_alike : n_alike + len(of_groups)] = of_groups
    capacity = np.repeat([most for *_, most in parts], [n_sets for _, _, n_sets, _ in parts])
    rows, sets, alike_of, capacity = (array.astype(np.int64) for array in (rows, sets, alike_of, capacity))
    return Apart.of(rows, sets, alike_of, capacity, n_rows)


def join_must_links(apart: Apart, links: Constraints) -> None:
    """Join must-linked rows, or raise if something keeps them apart."""
    refuse_contradictions(links, soft="soft_method")
    must = links.must_link
    refused = np.flatnonzero(apart.join(must[:, 0].copy(), must[:, 1].copy())[:, 0] == -2)
    if refused.size:
        one, other = must[refused[0]]
        raise InfeasibleError(
            f"Rows {one} and {other} have a must-link, but they, or rows joined with them, are in one group or of one "
            "source, of which an entity may not have so many",
            [(int(one), int(other))],
            remedy="apart_rules",
        )
