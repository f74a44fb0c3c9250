"""Random constraints for hypothesis: few rows, no pair given both ways, conflicts through chains allowed."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

from hypothesis import strategies as st

Pairs = list[tuple[int, int]]


class Case(NamedTuple):
    """A table of so many rows, and links on it."""

    n_samples: int
    must_link: Pairs
    cannot_link: Pairs


@st.composite
def cases(draw: st.DrawFn, max_samples: int, min_samples: int = 2) -> Case:
    """Draw a number of rows, and for some of the pairs of rows whether it is a must-link."""
    n = draw(st.integers(min_samples, max_samples))
    pairs = list(combinations(range(n), 2))
    kinds = draw(st.dictionaries(st.sampled_from(pairs), st.booleans(), max_size=2 * n))
    return Case(n, [p for p, is_must in kinds.items() if is_must], [p for p, is_must in kinds.items() if not is_must])


@st.composite
def graphs(draw: st.DrawFn, max_nodes: int) -> tuple[int, Pairs]:
    """Draw a number of nodes and some edges, sparse to complete."""
    n = draw(st.integers(2, max_nodes))
    pairs = list(combinations(range(n), 2))
    return n, draw(st.lists(st.sampled_from(pairs), unique=True, max_size=len(pairs)))
