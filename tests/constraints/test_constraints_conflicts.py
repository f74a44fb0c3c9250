"""Conflicts: which cannot-links must-links contradict, and by which chain."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from mustlink import Constraints
from mustlink.constraints import Conflict
from reference.closure import distance, saturate
from reference.random_links import Case, cases


@given(case=cases(max_samples=12))
@settings(deadline=None, max_examples=150)
def test_conflicts_are_the_cannot_links_inside_components_with_shortest_chains(case: Case) -> None:
    together, _ = saturate(*case)
    conflicts = Constraints(case.must_link, case.cannot_link).conflicts()
    assert [c.cannot_link for c in conflicts] == sorted((i, j) for i, j in case.cannot_link if together[i, j])
    links = {frozenset(pair) for pair in case.must_link}
    for conflict in conflicts:
        a, b = conflict.cannot_link
        assert (conflict.chain[0], conflict.chain[-1]) == (a, b)
        assert all(frozenset(step) in links for step in zip(conflict.chain, conflict.chain[1:], strict=False))
        assert len(conflict.chain) - 1 == distance(case.n_samples, case.must_link, a, b)


def test_the_shorter_of_two_chains_is_told() -> None:
    must_link = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 6), (6, 5)]
    (conflict,) = Constraints(must_link, [(0, 5)]).conflicts()
    assert conflict.chain == (0, 6, 5)
    assert str(conflict) == "Rows 0 and 5 have a cannot-link, but must-links connect them: 0 - 6 - 5."
    assert repr(conflict) == "Conflict(cannot_link=(0, 5))"


def test_names_stand_for_rows() -> None:
    (conflict,) = Constraints([(0, 1), (1, 2)], [(0, 2)]).conflicts()
    assert conflict.describe(["ann", "bob", "cid"]) == (
        "ann and cid have a cannot-link, but must-links connect them: ann - bob - cid."
    )


@pytest.mark.parametrize(
    ("length", "told"),
    [
        (8, "0 - 1 - 2 - 3 - 4 - 5 - 6 - 7."),
        (9, "0 - 1 - 2 - 3 - 4 - 5 - 6 - 7 - 8."),
        (10, "0 - 1 - 2 - 3 - 4 - 5 - 6 - (2 more) - 9."),
        (100, "0 - 1 - 2 - 3 - 4 - 5 - 6 - (92 more) - 99."),
    ],
)
def test_the_middle_of_a_long_chain_is_left_out(length: int, told: str) -> None:
    rows = np.arange(length)
    (conflict,) = Constraints(np.column_stack([rows[:-1], rows[1:]]), [(0, length - 1)]).conflicts()
    assert len(conflict.chain) == length
    assert str(conflict).endswith(f"must-links connect them: {told}")


def test_a_sequence_like_any_other() -> None:
    conflicts = Constraints([(0, 1), (1, 2), (2, 3)], [(0, 2), (0, 3), (1, 3), (0, 9)]).conflicts()
    assert len(conflicts) == 3
    assert repr(conflicts) == "3 conflicts"
    assert [c.cannot_link for c in conflicts[1:]] == [(0, 3), (1, 3)]
    assert conflicts[-1].cannot_link == (1, 3)
    assert all(isinstance(c, Conflict) for c in conflicts)
    with pytest.raises(IndexError):
        conflicts[3]


@pytest.mark.parametrize(
    "links", [Constraints(), Constraints([(0, 1)]), Constraints(None, [(0, 1)]), Constraints([(0, 1)], [(1, 2)])]
)
def test_no_conflicts(links: Constraints) -> None:
    assert len(links.conflicts()) == 0


@pytest.mark.parametrize("shift", [0, 46_341, 2**31, 2**40, 2**62])
def test_row_numbers_of_any_size(shift: int) -> None:
    links = Constraints([(shift, shift + 5), (shift + 5, shift + 2)], [(shift + 2, shift), (shift, shift + 9)])
    (conflict,) = links.conflicts()
    assert conflict.cannot_link == (shift, shift + 2)
    assert conflict.chain == (shift, shift + 5, shift + 2)
