"""The passes of the clustering: assign, project, merge, kill (algorithm TClus of chapter 7)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from mustlink._numbering import number_by_first
from mustlink._types import Indices, Mask
from mustlink.text._seeds import DECIMALS, normalize_rows, project, sum_rows
from mustlink.text._similarity import Queries, find_nearest

__all__ = ["Pass", "PassOptions", "SeedHistory", "assign", "kill", "merge", "run_passes", "word_schedule"]

# Products such as 350 * 0.7 = 244.99999999999997 are rounded to so many decimals before the next lower whole number.
WORD_DECIMALS = 9


@dataclass(frozen=True)
class PassOptions:
    """The parameters of the passes."""

    words_init: int
    words_final: int
    theta: float
    merge_threshold: float
    min_cluster_size: int
    outlier_threshold: float


@dataclass(frozen=True)
class Pass:
    """What one pass did."""

    words: int
    n_clusters: int
    n_outliers: int
    n_merged: int
    n_killed: int


@dataclass
class SeedHistory:
    """Which seed every given category has become, and in which pass seeds were merged or killed."""

    seed: Indices  # for every given category; -1 if it was killed
    merged_in: Indices  # the pass of the first merge, from 1; 0 if there was none
    killed_in: Indices

    @classmethod
    def of(cls, n_given: int) -> SeedHistory:
        """Start with one seed for every given category."""
        return cls(np.arange(n_given), np.zeros(n_given, dtype=np.intp), np.zeros(n_given, dtype=np.intp))

    def renumber(self, new: Indices, number: int) -> None:
        """Renumber the seeds after a merge (a number twice) or after seeds were killed (-1)."""
        has_seed = self.seed >= 0
        moved = new[self.seed[has_seed]]
        is_shared = np.bincount(new[new >= 0], minlength=1)[np.maximum(moved, 0)] > 1
        is_killed = moved < 0
        given = np.flatnonzero(has_seed)
        self.killed_in[given[is_killed]] = number
        first = given[is_shared & ~is_killed]
        self.merged_in[first] = np.where(self.merged_in[first] == 0, number, self.merged_in[first])
        self.seed[has_seed] = moved


def word_schedule(words_init: int, words_final: int, theta: float) -> list[int]:
    """Return the number of words of every pass: multiplied by theta, rounded down, until `words_final`."""
    words = [words_init]
    while words[-1] > words_final:
        words.append(max(words_final, math.floor(round(words[-1] * theta, WORD_DECIMALS))))
    return words


def assign(queries: Queries, seeds: csr_array, in_pool: Mask, outlier_threshold: float) -> Indices:
    """Return the nearest seed of every document of the pool, and -1 for outliers.

    A document that has no term in common with any seed is an outlier with any threshold.
    """
    pool = np.flatnonzero(in_pool)
    label = np.full(len(in_pool), -1, dtype=np.intp)
    nearest, similarity = find_nearest(Queries(queries.rows[pool], queries.norms[pool]), seeds)
    is_inside = (similarity > 0) & (similarity >= outlier_threshold)
    label[pool[is_inside]] = nearest[is_inside]
    return label


def merge(seeds: csr_array, threshold: float) -> Indices:
    """Return the new number of every seed: the connected components of seeds with a cosine above the threshold."""
    n_seeds = seeds.shape[0]
    if threshold >= 1:
        return np.arange(n_seeds)
    unit = normalize_rows(seeds)
    cosines = (unit @ unit.T).tocoo()
    is_edge = np.round(cosines.data, DECIMALS) > threshold
    edges = csr_array(
        (np.ones(np.count_nonzero(is_edge)), (cosines.row[is_edge], cosines.col[is_edge])), shape=(n_seeds, n_seeds)
    )
    n_components, component = connected_components(edges, directed=False)
    return number_by_first(component.astype(np.intp), n_components)[0]


def kill(sizes: Indices, min_cluster_size: int) -> Indices:
    """Return the new number of every seed, -1 for those with fewer than `min_cluster_size` documents."""
    is_large = sizes >= min_cluster_size
    return np.where(is_large, np.cumsum(is_large) - 1, -1)


@dataclass
class Outcome:
    """The seeds after the passes, the documents that are not outliers, and how it came about."""

    seeds: csr_array
    in_pool: Mask
    history: SeedHistory
    passes: list[Pass] = field(default_factory=list)


def run_passes(damped: csr_array, queries: Queries, code: Indices, n_given: int, options: PassOptions) -> Outcome:
    """Run all passes from the sums of the given categories; without a seed at the end all were killed."""
    outcome = Outcome(sum_rows(damped, code, n_given), queries.norms > 0, SeedHistory.of(n_given))
    schedule = word_schedule(options.words_init, options.words_final, options.theta)
    for number, words in enumerate(schedule, start=1):
        n_seeds, n_pool = outcome.seeds.shape[0], int(np.count_nonzero(outcome.in_pool))
        label = assign(queries, outcome.seeds, outcome.in_pool, options.outlier_threshold)
        outcome.in_pool = label >= 0
        # The old seeds are discarded: only the documents that they attracted count.
        seeds = project(sum_rows(damped, label, n_seeds), words)

        component = merge(seeds, options.merge_threshold)
        n_merged = int(component.max()) + 1
        seeds = sum_rows(seeds, component, n_merged)
        sizes = np.bincount(component[label[outcome.in_pool]], minlength=n_merged)
        outcome.history.renumber(component, number)

        place = kill(sizes, options.min_cluster_size)
        outcome.seeds = seeds[np.flatnonzero(place >= 0)]
        outcome.history.renumber(place, number)
        n_left = outcome.seeds.shape[0]
        n_outliers = n_pool - int(np.count_nonzero(outcome.in_pool))
        outcome.passes.append(Pass(words, n_left, n_outliers, n_seeds - n_merged, n_merged - n_left))
        if n_left == 0:
            break
    return outcome
