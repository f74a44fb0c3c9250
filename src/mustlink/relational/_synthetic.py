"""Synthetic references: entities with names, a graph of who occurs with whom, and groups of references."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Bunch, check_random_state

from mustlink._types import Ints

__all__ = ["make_references"]

# Parts of names, separated by blanks.
FIRST_TEXT = (
    "Anna Andrew Adam Alice Brian Bella Boris Carla Chen Claire David Dana Diego Emma Erik Eva Felix Fiona Frank Gina "
    "Greta Gustav Hanna Harold Hiro Ida Igor Irene Jane John Judith Karl Kate Kofi Laura Lars Li Maria Michael Mona "
    "Nina Noah Olga Omar Otto Paula Peter Priya Quentin Rana Robert Rosa Sara Simon Stefan Tara Thomas Tomoko Ulla Uri "
    "Vera Victor Wei Wendy Wilma Xavier Yan Yusuf Zara Zoltan"
)
START_TEXT = "b br c ch d dr f fl g gr h j k kr l m n p pr r s sch st t tr v w z"
MIDDLE_TEXT = "a e i o u ai ei ou"
END_TEXT = "ck l ll m n nd ng r rd rt s ss t tz x"
FIRST_NAMES, STARTS, MIDDLES, ENDS = (text.split() for text in (FIRST_TEXT, START_TEXT, MIDDLE_TEXT, END_TEXT))


def make_references(
    n_references: int = 1_000,
    *,
    references_per_entity: float = 5.0,
    group_size: float = 3.0,
    n_neighbors: float = 4.0,
    ambiguity: float = 0.1,
    initials: float = 0.5,
    typos: float = 0.05,
    random_state: Any = None,
) -> Bunch:
    """Generate references to people, such as the authors of papers, with the entity of each.

    A group is a random entity and some of its neighbors in a random graph of entities. Half of the entities have a
    middle name. A reference is the name of an entity, with first names in full or as initials, the middle name often
    left out, and some letters changed.

    Parameters
    ----------
    n_references : int, default=1000
        About how many references are made; groups are complete.
    references_per_entity : float, default=5.0
        The mean number of references of an entity.
    group_size : float, default=3.0
        The mean number of references of a group, at least 1.
    n_neighbors : float, default=4.0
        The mean number of neighbors of an entity.
    ambiguity : float, default=0.1
        The share of entities with the last name and the first initial of an earlier one.
    initials : float, default=0.5
        The share of references with an initial instead of the first name.
    typos : float, default=0.05
        The share of references with a wrong letter in the last name.
    random_state : int, RandomState instance or None, default=None
        Determines the references.

    Returns
    -------
    Bunch
        With `names`, a list of str, `groups`, the group of each name, and `target`, its entity.

    Examples
    --------
    >>> from mustlink.relational import make_references
    >>> made = make_references(5, random_state=0)
    >>> len(made.names) == len(made.groups) == len(made.target)
    True
    """
    random = check_random_state(random_state)
    n_entities = max(2, round(n_references / references_per_entity))
    lasts, firsts = _entity_names(random, n_entities, ambiguity)
    middles = [FIRST_NAMES[random.randint(len(FIRST_NAMES))] if random.randint(2) else "" for _ in range(n_entities)]
    indptr, neighbors = _random_graph(random, n_entities, n_neighbors)
    names: list[str] = []
    groups: list[int] = []
    target: list[int] = []
    n_groups = 0
    while len(names) < n_references:
        entity = random.randint(n_entities)
        own = neighbors[indptr[entity] : indptr[entity + 1]]
        n_others = min(len(own), random.poisson(group_size - 1))
        for member in (entity, *random.choice(own, n_others, replace=False)):
            names.append(_write_name(random, lasts[member], firsts[member], middles[member], initials, typos))
            groups.append(n_groups)
            target.append(int(member))
        n_groups += 1
    return Bunch(names=names, groups=np.array(groups), target=np.array(target))


def _entity_names(random: Any, n_entities: int, ambiguity: float) -> tuple[list[str], list[str]]:
    """Return the last and the first names of entities; some have the last name and the initial of an earlier one."""
    by_initial: dict[str, list[str]] = {}
    for first in FIRST_NAMES:
        by_initial.setdefault(first[0], []).append(first)
    lasts: list[str] = []
    firsts: list[str] = []
    for entity in range(n_entities):
        if entity and random.random_sample() < ambiguity:
            earlier = random.randint(entity)
            same = by_initial[firsts[earlier][0]]
            lasts.append(lasts[earlier])
            firsts.append(same[random.randint(len(same))])
        else:
            parts = [pool[random.randint(len(pool))] for pool in (STARTS, MIDDLES, ENDS, MIDDLES, ENDS)]
            lasts.append("".join(parts).capitalize())
            firsts.append(FIRST_NAMES[random.randint(len(FIRST_NAMES))])
    return lasts, firsts


def _random_graph(random: Any, n_entities: int, n_neighbors: float) -> tuple[Ints, Ints]:
    """Return the neighbors of each entity in a random graph, as `indptr` and `indices`."""
    edges = random.randint(n_entities, size=(round(n_entities * n_neighbors / 2), 2))
    edges = np.unique(np.sort(edges[edges[:, 0] != edges[:, 1]], axis=1), axis=0)
    both = np.concatenate([edges, edges[:, ::-1]])
    both = both[np.argsort(both[:, 0], kind="stable")]
    counts = np.bincount(both[:, 0], minlength=n_entities)
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), both[:, 1].astype(np.int64)


def _write_name(random: Any, last: str, first: str, middle: str, initials: float, typos: float) -> str:
    """Write a name as one may find it."""
    if random.random_sample() < typos:
        place = random.randint(1, len(last))
        letter = "abcdefghijklmnopqrstuvwxyz"[random.randint(26)]
        last = last[:place] + letter + last[place + random.randint(2) :]
    has_initials = random.random_sample() < initials
    if middle and random.randint(2):
        # Mostly an initial, as in Anna B. Carter.
        is_short = has_initials or random.random_sample() < 0.8
        first, middle = (f"{first[0]}." if has_initials else first), (f"{middle[0]}." if is_short else middle)
        first = f"{first} {middle}"
    elif has_initials:
        first = f"{first[0]}."
    return f"{last}, {first}" if random.randint(2) else f"{first} {last}"
