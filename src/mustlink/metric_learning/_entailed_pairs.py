"""Cannot-links between rows that follow from must-links."""

from __future__ import annotations

import numpy as np

from mustlink._types import Floats, Ints
from mustlink.constraints import Constraints

# Large components have very many pairs, of which so many are drawn.
MAX_ENTAILED = 100_000


def entailed_cannot_links(links: Constraints, n_samples: int, rng: np.random.RandomState) -> tuple[Ints, Floats]:
    """Return a cannot-link for every two rows of cannot-linked components, and its weight.

    A pair that was not given has the mean weight of the links between the two components. If there are more than
    MAX_ENTAILED of them, so many are drawn at random. All given links are kept, those within a component too.
    """
    pairs, weight = links.cannot_link, links.cannot_link_weight
    if not len(links.must_link) or not len(pairs):
        return pairs, weight
    closure = links.closure(n_samples)
    first, second = closure.cannot_link.T
    if (closure.sizes[first] * closure.sizes[second] == closure.count).all():
        return pairs, weight
    entailed, edge = _pairs_between(closure.component, closure.sizes, closure.cannot_link, rng)
    is_new = ~np.isin(_key(entailed, n_samples), _key(pairs, n_samples))
    mean = closure.weight / closure.count
    return np.concatenate([pairs, entailed[is_new]]), np.concatenate([weight, mean[edge[is_new]]])


def _pairs_between(component: Ints, sizes: Ints, edges: Ints, rng: np.random.RandomState) -> tuple[Ints, Ints]:
    """Return the pairs of rows of each two linked components, smaller row first, and the number of the edge of each."""
    by_component = np.argsort(component, kind="stable")
    offset = np.concatenate([[0], np.cumsum(sizes)])
    first, second = edges.T
    end = np.cumsum(sizes[first].astype(np.int64) * sizes[second])
    n_pairs = int(end[-1]) if len(end) else 0
    number = np.arange(n_pairs) if n_pairs <= MAX_ENTAILED else np.unique(rng.randint(n_pairs, size=MAX_ENTAILED))
    edge = np.searchsorted(end, number, side="right")
    place = number - np.concatenate([[0], end])[edge]
    a = by_component[offset[first[edge]] + place // sizes[second[edge]]]
    b = by_component[offset[second[edge]] + place % sizes[second[edge]]]
    return np.sort(np.column_stack([a, b]), axis=1).astype(np.int64), edge


def _key(pairs: Ints, n_samples: int) -> Ints:
    """Return one number for each pair with the smaller row first."""
    return pairs[:, 0] * n_samples + pairs[:, 1]
