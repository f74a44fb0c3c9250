"""Where centers start."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import kmeans_plusplus
from sklearn.datasets import make_blobs

from mustlink import Constraints
from mustlink._rows import RowBlocks
from mustlink.kmeans._rules import LinkedRows
from mustlink.kmeans._seeding import add_row_apart, component_seeds, draw_rows, start_at_random_rows, start_at_seeds

NO_SEEDS = -1


def k_means_plus_plus(X: Any, weight: Any, k: int, seed: int) -> Any:
    seeds = np.full(X.shape[0], NO_SEEDS, dtype=np.intp)
    return start_at_seeds(RowBlocks(X), weight, seeds, k, np.random.RandomState(seed)).draw()


@pytest.mark.parametrize("form", [np.ascontiguousarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_k_means_plus_plus_takes_rows_that_are_different_and_have_weight(form: Any) -> None:
    X = np.random.RandomState(0).normal(size=(60, 3))
    weight = np.where(np.arange(60) < 30, 0.0, 1.0)
    for seed in range(5):
        centers = k_means_plus_plus(form(X), weight, 6, seed)
        rows = [int(np.flatnonzero((center == X).all(axis=1))[0]) for center in centers]
        assert len(set(rows)) == 6
        assert min(rows) >= 30


def test_k_means_plus_plus_is_as_good_as_that_of_scikit_learn() -> None:
    X, _ = make_blobs(500, centers=12, random_state=3)

    def inertia(centers: Any) -> float:
        return float(np.square(X[:, None] - centers[None]).sum(axis=2).min(axis=1).sum())

    ours = np.mean([inertia(k_means_plus_plus(X, np.ones(500), 12, seed)) for seed in range(40)])
    theirs = np.mean([inertia(kmeans_plusplus(X, 12, random_state=seed)[0]) for seed in range(40)])
    assert ours < 1.1 * theirs


def test_a_weight_draws_like_so_many_copies_in_any_order() -> None:
    rng = np.random.RandomState(0)
    X = rng.normal(size=(30, 2))
    copies = rng.randint(0, 4, size=30)
    repeated = np.repeat(X, copies, axis=0)
    order = rng.permutation(len(repeated))
    for seed in range(5):
        np.testing.assert_allclose(
            k_means_plus_plus(X, copies.astype(float), 5, seed),
            k_means_plus_plus(repeated[order], np.ones(len(repeated)), 5, seed),
        )


def test_rows_that_are_all_equal_can_start_too() -> None:
    centers = k_means_plus_plus(np.ones((5, 2)), np.ones(5), 3, 0)
    np.testing.assert_array_equal(centers, np.ones((3, 2)))


def test_draws_are_in_proportion_to_mass() -> None:
    drawn = draw_rows(np.array([0.0, 1.0, 3.0, 0.0]), np.array([3, 1, 0, 2]), 4000, np.random.RandomState(0))
    share = np.bincount(drawn, minlength=4) / 4000
    np.testing.assert_allclose(share, [0, 0.25, 0.75, 0], atol=0.03)
    assert share[0] == share[3] == 0


def test_random_rows_are_all_different() -> None:
    X = np.arange(10.0)[:, None]
    start = start_at_random_rows(RowBlocks(X), np.ones(10), 10, np.random.RandomState(0))
    first, second = start.draw(), start.draw()
    np.testing.assert_array_equal(np.sort(first[:, 0]), X[:, 0])
    assert not np.array_equal(first, second)
    assert start.is_random


def seeds_of(X: Any, links: Constraints, k: int) -> list[int]:
    rows = RowBlocks(np.asarray(X, dtype=float))
    return component_seeds(rows, np.ones(rows.n_rows), LinkedRows(links, rows.n_rows), k).tolist()


def test_with_enough_components_those_far_apart_are_taken_from_the_largest_on() -> None:
    X = [[0.0], [0.1], [0.2], [1.0], [1.1], [9.0], [9.1], [5.0]]
    links = Constraints(must_link=[(0, 1), (1, 2), (3, 4), (5, 6)])
    assert seeds_of(X, links, 1) == [0, 0, 0, -1, -1, -1, -1, -1]
    assert seeds_of(X, links, 2) == [0, 0, 0, -1, -1, 1, 1, -1]
    assert seeds_of(X, links, 3) == [0, 0, 0, 2, 2, 1, 1, -1]


def test_a_heavy_component_counts_as_farther() -> None:
    X = [[0.0]] * 8 + [[6.0], [6.0], [6.0], [8.0], [8.0]]
    chain = [(i, i + 1) for i in range(7)]
    assert seeds_of(X, Constraints(must_link=[*chain, (8, 9), (9, 10), (11, 12)]), 2)[8:] == [1, 1, 1, -1, -1]
    assert seeds_of(X, Constraints(must_link=[*chain, (8, 9), (11, 12)]), 2)[8:] == [-1, -1, -1, 1, 1]


def test_with_too_few_components_a_row_apart_from_all_is_added() -> None:
    X = [[0.0], [0.1], [5.0], [5.1], [9.0], [2.0], [7.0]]
    must = [(0, 1), (2, 3)]
    # Row 4 is apart from both components and row 6 too, but nearer; row 5 is apart from one only.
    links = Constraints(must, [(0, 4), (3, 4), (1, 5), (1, 6), (2, 6)])
    seeds = seeds_of(X, links, 4)
    assert seeds[4] == 2
    assert seeds[5] == seeds[6] == -1
    assert seeds_of(X, links, 2)[4] == -1
    assert max(seeds_of(X, Constraints(must), 4)) == 1


def test_without_must_links_there_are_no_seeds() -> None:
    assert seeds_of([[0.0], [1.0], [2.0]], Constraints(cannot_link=[(0, 1)]), 2) == [-1, -1, -1]
    seeds = np.full(3, -1, dtype=np.intp)
    links = Constraints(cannot_link=[(0, 1)])
    assert add_row_apart(RowBlocks(np.zeros((3, 1))), links, seeds, 2).tolist() == [-1, -1, -1]


def test_missing_centers_are_drawn_far_from_the_seeds() -> None:
    X = np.array([[0.0], [0.1], [0.2], [50.0], [50.1], [100.0]])
    start = start_at_seeds(RowBlocks(X), np.ones(6), np.array([0, 0, 0, -1, -1, -1]), 3, np.random.RandomState(0))
    assert start.is_random
    centers = start.draw()
    assert centers[0, 0] == pytest.approx(0.1)
    assert sorted(np.round(centers[1:, 0], -1)) == [50.0, 100.0]
    full = start_at_seeds(RowBlocks(X), np.ones(6), np.array([0, 0, 0, 1, 1, 2]), 3, np.random.RandomState(0))
    assert not full.is_random
