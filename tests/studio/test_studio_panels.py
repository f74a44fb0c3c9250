"""The side panels: groups with their typical rows, links with suspects first, and columns that matter."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
import pytest
from scipy import sparse

from mustlink.report import summarize, typical_rows
from mustlink.studio._panels import column_panel, group_panels, link_panel
from mustlink.tables import Feature


class Link(NamedTuple):
    a: int
    b: int
    together: bool


def test_groups_have_sizes_typical_rows_and_traits() -> None:
    X = np.array([[0.0, 5.0], [1.0, 5.0], [1.4, 5.0], [8.0, 5.0], [9.0, 5.0], [50.0, 5.0]])
    labels = np.array([7, 7, 7, 2, 2, -1])
    second, first = group_panels(X, labels, ["age", "height"], n_typical=2)
    assert (first.id, first.size, first.typical) == (7, 3, [1, 2])
    assert (second.id, second.size, second.typical) == (2, 2, [3, 4])
    assert first.traits == [str(trait) for trait in summarize(X, labels, features=["age", "height"]).clusters[1].traits]
    assert first.traits[0].startswith("age low")
    assert group_panels(X, np.full(6, -1)) == []


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_typical_rows_are_the_nearest_to_the_mean(convert: type) -> None:
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(60, 4)), rng.integers(-1, 3, 60)
    found = typical_rows(convert(X), labels, n_rows=4)
    assert list(found) == [0, 1, 2]
    for group, rows in found.items():
        own = np.flatnonzero(labels == group)
        distance = np.square(X[own] - X[own].mean(axis=0)).sum(axis=1)
        assert rows == own[np.argsort(distance, kind="stable")[:4]].tolist()


def test_a_column_of_categories_counts_as_its_heaviest_category() -> None:
    features = [Feature("age"), Feature("plan", "free"), Feature("plan", "pro"), Feature("note")]
    assert column_panel(np.array([0.5, 0.1, 1.0, 0.0]), features) == [("plan", 1.0), ("age", 0.5), ("note", 0.0)]
    assert column_panel(None, features) == []


def test_suspects_come_first_then_broken_links_then_the_newest() -> None:
    labels = np.array([0, 0, 1, 1, -1, -1])
    links = [
        Link(0, 1, True),
        Link(0, 2, False),
        Link(0, 3, True),
        Link(4, 5, True),
        Link(2, 3, True),
        Link(5, 4, False),
    ]
    lines = link_panel(links, labels, {(0, 1): 0.6, (2, 3): 0.9, (0, 2): 0.2})
    assert [line.link for line in lines] == [links[place] for place in (4, 0, 3, 2, 5, 1)]
    assert [line.kept for line in lines] == [True, True, False, False, True, True]
    assert [line.suspicion for line in lines] == [0.9, 0.6, None, None, None, 0.2]
    assert link_panel(links, labels, max_links=2)[1].link == links[2]
    assert link_panel([], labels) == []


def test_panels_of_100_000_rows_are_quick() -> None:
    # About a tenth of a second each.
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(100_000, 20)), rng.integers(0, 8, 100_000)
    pairs = rng.integers(0, 100_000, size=(2_000, 2)).tolist()
    start = time.perf_counter()
    group_panels(X, labels)
    link_panel([Link(a, b, True) for a, b in pairs], labels)
    assert time.perf_counter() - start < 1.5
