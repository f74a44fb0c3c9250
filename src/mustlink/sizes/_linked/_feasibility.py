"""Whether links and sizes can be kept together: quick tests with the numbers that clash, then an exact search."""

from __future__ import annotations

from typing import NoReturn

import numpy as np

from mustlink._spelling import count
from mustlink._types import Indices, Ints
from mustlink.base import refuse_contradictions, refuse_infeasible
from mustlink.errors import InfeasibleError
from mustlink.sizes._linked._program import Program, clique_cover, solve
from mustlink.sizes._linked._units import Units

__all__ = ["find_placement", "refuse_clashes", "refuse_placement"]

# What the exact search may take: some seconds.
MAX_WHOLE = 5_000
MAX_BRANCHES = 2_000
# The most component sizes that a message lists.
MAX_LISTED = 8


def refuse_clashes(units: Units) -> None:
    """Refuse links and sizes that a quick test proves not to go together.

    Raises
    ------
    InfeasibleError
        With the numbers that clash.
    """
    linked = units.linked
    _refuse_joined_triple(units)
    if linked.closure.self_loops.size:
        refuse_contradictions(linked.given)
    _refuse_few_components(units)
    if not units.n_units:
        return
    _refuse_large_component(units)
    _refuse_full_clusters(units)
    # Clusters without room are no colors; fewer components than colors are no difficulty, unless minima demand more.
    n_colors = min(int((units.size_max > 0).sum()), units.n_units + len(units.free))
    if len(units.apart):
        feasibility = linked.given.feasible(n_colors, linked.n_samples)
        if feasibility.answer is False:
            refuse_infeasible(feasibility)
        cliques = clique_cover(units.apart)
        _refuse_large_cliques(units, cliques)
        _refuse_large_minimum(units, cliques)


def _refuse_joined_triple(units: Units) -> None:
    """Refuse a triple whose alternatives must-links connect."""
    for number in np.flatnonzero(units.one_of[:, 1] == units.one_of[:, 2])[:1]:
        i, j, g = units.triples[number].tolist()
        _refuse(f"Row {i} is to share a cluster with one of the rows {j} and {g} only, but must-links connect these")


def _refuse_few_components(units: Units) -> None:
    """Refuse fewer components than clusters that need rows."""
    n_needed, n_given = int((units.size_min > 0).sum()), units.n_units + len(units.free)
    if n_given < n_needed:
        _refuse(
            f"The must-links leave {count(n_given, 'component')} for {n_needed} clusters with a minimum size; one "
            "would be empty",
            "lower_size_min",
        )


def _refuse_large_component(units: Units) -> None:
    """Refuse a component that fits into no cluster, or leaves too few rows for the minimum sizes of the others."""
    largest = int(np.argmax(units.size))
    size, n_rows = int(units.size[largest]), units.linked.n_samples
    named = f"The must-link component of row {units.first_row[largest]} has {size:,} rows"
    fits = size <= units.size_max
    if not fits.any():
        _refuse(f"{named}, more than the largest maximum size, {units.size_max.max():,}", "raise_size_max")
    others_need = (units.size_min.sum() - units.size_min)[fits].min()
    if size + others_need > n_rows:
        _refuse(
            f"{named} and leaves {n_rows - size:,} of {n_rows:,} for the other clusters, whose minimum sizes add up to "
            f"{others_need:,}",
            "lower_size_min",
        )


def _refuse_full_clusters(units: Units) -> None:
    """Refuse more large components than the clusters have room for, counted by how many of them fit into each."""
    sizes, copies = np.unique(units.size[units.size > 1], return_counts=True)
    n_as_large = np.cumsum(copies[::-1])[::-1]
    for size, n_given in zip(sizes.tolist(), n_as_large.tolist(), strict=True):
        room = int((units.size_max // size).sum())
        if n_given > room:
            _refuse(
                f"{count(n_given, 'must-link component')} of {size:,} rows or more cannot be placed: the maximum sizes "
                f"{_spell_bounds(units.size_max)} leave room for {room:,} of that size",
                "raise_size_max",
            )


def _refuse_large_cliques(units: Units, cliques: list[Indices]) -> None:
    """Refuse components that are all cannot-linked to each other, if the k-th largest exceeds the k-th maximum."""
    room = np.sort(units.size_max)[::-1]
    for clique in cliques:
        sizes = np.sort(units.size[clique])[::-1]
        if (sizes > room[: len(sizes)]).any():
            rows = ", ".join(str(row) for row in np.sort(units.first_row[clique])[:MAX_LISTED])
            _refuse(
                f"{len(clique)} must-link components of {_spell_sizes(sizes)} rows are all cannot-linked to each other "
                f"(those of the rows {rows}), and the maximum sizes {_spell_bounds(units.size_max)} hold no such "
                f"{len(clique)} in different clusters",
                "raise_size_max",
            )


def _refuse_large_minimum(units: Units, cliques: list[Indices]) -> None:
    """Refuse a minimum size above what cannot-links leave room for: of a clique, a cluster has at most the largest."""
    room, is_counted = units.linked.n_samples, np.zeros(units.n_units, dtype=bool)
    # The largest cliques that share no unit.
    for clique in sorted(cliques, key=lambda units: -len(units)):
        if not is_counted[clique].any():
            is_counted[clique] = True
            room -= int(units.size[clique].sum() - units.size[clique].max())
    largest = int(units.size_min.max())
    if largest > room:
        _refuse(
            f"The {count(len(units.apart), 'cannot-link')} leave room for {count(room, 'row')} in one cluster, below "
            f"the minimum of {largest:,} for cluster {int(np.argmax(units.size_min))}",
            "lower_size_min",
        )


def find_placement(units: Units) -> Indices:
    """Return clusters for the units that keep all links and allow all sizes.

    Units of one size without cannot-links are alike, and so are the rows without links; the program for the search
    grows by the number of different sizes and of cannot-linked units, not by the number of rows.

    Raises
    ------
    InfeasibleError
        If none exists, or if the search ends without an answer; the message says which.
    """
    nodes, program = _program_of_kinds(units)
    placed, is_proven = (None, False) if program.n_whole > MAX_WHOLE else solve(program, MAX_BRANCHES)
    if placed is not None:
        labels = np.empty(units.n_units, dtype=np.intp)
        for members, copies in zip(nodes, placed, strict=False):
            labels[members] = np.repeat(np.arange(units.n_clusters), copies)
        return labels
    refuse_placement(units, is_proven)


def refuse_placement(units: Units, is_proven: bool) -> NoReturn:
    """Refuse links and sizes for which no placement was found, or is proven not to exist, with all the numbers."""
    n_rows = int((units.size == 1).sum()) + len(units.free)
    components = np.sort(units.size[units.size > 1])[::-1]
    of_sizes = f" of {_spell_sizes(components)} rows" if len(components) else ""
    numbers = (
        f"{count(len(components), 'must-link component')}{of_sizes}, {count(n_rows, 'other row')}, "
        f"{count(len(units.apart), 'cannot-link')} between these, and {count(units.n_clusters, 'cluster')} of at least "
        f"{_spell_bounds(units.size_min)} and at most {_spell_bounds(units.size_max)} rows"
    )
    problem = "No clustering that keeps all links and sizes was found, and whether one exists is not known"
    if is_proven:
        problem = "A search shows that no clustering keeps all links and sizes"
    _refuse(f"{problem}: {numbers}", "lower_size_min", "raise_size_max")


def _program_of_kinds(units: Units) -> tuple[list[Indices], Program]:
    """Write the search for any placement as a program; also return the units of each of its nodes."""
    is_apart = np.zeros(units.n_units, dtype=bool)
    is_apart[units.apart] = True
    is_apart[units.one_of] = True
    alike = np.flatnonzero(~is_apart)
    sizes, kind = np.unique(units.size[alike], return_inverse=True)
    singles = np.flatnonzero(is_apart)
    nodes = [singles[[i]] for i in range(len(singles))] + [alike[kind == i] for i in range(len(sizes))]
    place = np.cumsum(is_apart) - 1
    size = np.concatenate([units.size[singles], sizes, [1]]).astype(np.int64)
    copies = np.array([*(len(members) for members in nodes), len(units.free)], dtype=np.int64)
    program = Program(
        np.zeros((len(size), units.n_clusters)),
        size,
        units.size_min,
        np.minimum(units.size_max, units.linked.n_samples),
        copies,
        # Rows without links fill what is left, in whole numbers where all others are whole.
        np.arange(len(size)) < len(nodes),
        place[units.apart],
        place[units.one_of],
    )
    return nodes, program


def _spell_sizes(sizes: Ints) -> str:
    """List component sizes, the first of many."""
    shown = [f"{size:,}" for size in sizes[:MAX_LISTED].tolist()]
    if len(sizes) > MAX_LISTED:
        return f"{', '.join(shown)}, ..."
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _spell_bounds(bounds: Ints) -> str:
    """List the bounds of the clusters, once if they are equal."""
    return f"{bounds[0]:,}" if (bounds == bounds[0]).all() else f"({', '.join(f'{b:,}' for b in bounds.tolist())})"


def _refuse(problem: str, *remedies: str) -> NoReturn:
    raise InfeasibleError(problem, remedy=(*remedies, "relax"))
