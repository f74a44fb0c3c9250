"""Linked rows that lie among those of another cluster, and what follows from them."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mustlink import Constraints
from mustlink.boosting import CoAssociation
from mustlink.boosting._boostcluster._consensus import Consensus
from mustlink.boosting._boostcluster._links import LinkSet
from mustlink.boosting._robust import _weighing
from mustlink.boosting._robust._link_odds import prior_log_odds
from mustlink.boosting._robust._misplaced import misplaced_fraction
from mustlink.boosting._robust._weighing import (
    breaks_too_many,
    choose_result,
    may_follow,
    may_keep_components,
    nearest_to_linked,
    weigh_links,
)
from mustlink.inference import Marginals
from reference import misplaced


def link_set(links: Constraints, n: int) -> LinkSet:
    return LinkSet.of(links, np.arange(n)[:, None].astype(float))


@given(st.integers(0, 10**6))
@settings(deadline=None, max_examples=100)
def test_misplaced_rows_are_counted_as_by_the_slow_way(seed: int) -> None:
    rng = np.random.RandomState(seed)
    n_rows, n_runs = rng.randint(3, 16), rng.randint(1, 6)
    # Weights that are not round, so that no two distances are equal but those of equal rows; -1 is noise.
    weights = rng.uniform(0.1, 1.0, size=n_runs)
    codes = rng.randint(-1 if seed % 2 else 0, 3, size=(n_rows, n_runs))
    kernel = CoAssociation.from_labels(list(codes.T), weights)
    linked = rng.permutation(n_rows)[: rng.randint(2, n_rows + 1)]
    links = link_set(Constraints(list(pairwise(linked.tolist()))), n_rows)
    labels = rng.randint(0, 4, size=n_rows)
    there = codes[links.rows]
    equal = (there[:, None] == there[None]) & (there[:, None] >= 0)
    equal |= np.eye(len(there), dtype=bool)[:, :, None]
    expected = misplaced.misplaced_fraction((equal @ weights).tolist(), labels[links.rows].tolist())
    assert misplaced_fraction(kernel, labels, links) == pytest.approx(expected)


def two_groups(n_apart: int) -> CoAssociation:
    """Twenty rows, and twenty runs of which so many divide them into two groups; the others tell nothing."""
    codes = np.zeros((20, 20), dtype=np.int64)
    codes[10:, :n_apart] = 1
    return CoAssociation(codes, np.full(20, 0.05))


def test_components_may_be_kept_if_few_of_their_rows_are_misplaced() -> None:
    kernel, right = two_groups(20), np.repeat([0, 1], 10)
    for n_wrong, expected in ((1, True), (4, False)):
        labels = right.copy()
        labels[:n_wrong], labels[10 : 10 + n_wrong] = 1, 0
        order = np.argsort(labels, kind="stable")
        links = link_set(Constraints([*pairwise(order[:10]), *pairwise(order[10:])], [(order[0], order[10])]), 20)
        assert may_keep_components(kernel, labels, [right], links, prior_log_odds(0.0), n_clusters=2) == expected


@pytest.mark.parametrize(("n_wrong", "expected"), [(0, True), (1, False)])
def test_components_may_be_kept_if_links_seem_wrong_but_rows_are_near(n_wrong: int, expected: bool) -> None:
    """A row of each group that is with the other one is as far as all other rows together are in the other result."""
    kernel, right = two_groups(20), np.repeat([0, 1], 10)
    kernel = CoAssociation(np.column_stack([kernel.codes, np.arange(20) % 3]), np.append(kernel.weights, 0.02))
    labels = right.copy()
    labels[:n_wrong], labels[10 : 10 + n_wrong] = 1, 0
    order = np.argsort(labels, kind="stable")
    links = link_set(Constraints([*pairwise(order[:10]), *pairwise(order[10:])], [(order[0], order[10])]), 20)
    assert may_keep_components(kernel, labels, [right], links, prior_log_odds(0.15), n_clusters=2) == expected


def test_links_that_are_hard_are_kept_although_many_seem_wrong() -> None:
    """Most runs divide the first of two classes, and the estimate takes the links across it for wrong ones."""
    rng = np.random.RandomState(0)
    codes = np.repeat([[0], [1], [2]], 20, axis=0) * np.ones((1, 30), dtype=np.int64)
    codes[20:40, 20:] = 0
    codes = np.where(rng.uniform(size=codes.shape) < 0.4, rng.randint(3, size=codes.shape), codes)
    kernel = CoAssociation(codes, np.full(30, 1 / 30))
    across = [(0, row) for row in (*range(1, 6), *range(20, 26))]
    links = Constraints([*across, *pairwise(range(40, 46))], [(0, 40), (25, 41), (29, 45)])
    consensus = Consensus(kernel, np.repeat([0, 1, 2], 20))
    found = weigh_links(consensus, link_set(links, 60), 0.5, prior_log_odds(0.3), seed=0)
    assert links.satisfied(found.labels).all()


def test_rows_do_not_follow_linked_rows_that_are_mixed() -> None:
    """Linked rows of both groups in both clusters are no nearer to their own than to the other."""
    kernel = two_groups(20)
    labels = np.arange(20) % 2
    links = link_set(Constraints([*pairwise(range(0, 20, 2)), *pairwise(range(1, 20, 2))]), 20)
    assert misplaced_fraction(kernel, labels, links) > 0.9
    assert not may_follow(kernel, labels, links)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_results_with_equal_linked_rows_that_with_near_other_rows_is_taken(order: tuple[int, int]) -> None:
    kernel = two_groups(20)
    links = link_set(Constraints([(0, 1), (10, 11)], [(0, 10)]), 20)
    good = np.repeat([0, 1], 10)
    # A third cluster without a linked row, which takes half of the second group, or single rows of both.
    codes = np.column_stack([kernel.codes, np.r_[np.zeros(15), np.ones(5)].astype(int)])
    kernel = CoAssociation(codes, np.append(kernel.weights, 0.2))
    labels = [np.r_[good[:15], np.full(5, 2)], np.where(np.isin(np.arange(20), [5, 12]), 2, good)]
    certain = [Marginals(np.eye(3)[found[links.rows]], np.ones(3)) for found in labels]
    results = [(labels[place], certain[place], False) for place in order]
    assert nearest_to_linked(kernel, results, links) == order.index(0)
    assert nearest_to_linked(kernel, [results[0], results[0]], links) == 0


@given(st.integers(0, 40), st.floats(0.01, 0.3))
def test_more_links_are_broken_than_can_be_wrong(n_broken: int, error: float) -> None:
    """Against the sum of the probabilities of all smaller numbers."""
    links = link_set(Constraints(None, np.arange(100).reshape(-1, 2)), 100)
    labels = np.arange(100)
    labels[1 : 2 * n_broken : 2] = labels[0 : 2 * n_broken : 2]
    mean = 50 * error
    fewer = sum(mean**k * np.exp(-mean) / math.factorial(k) for k in range(n_broken))
    if abs(1 - fewer - 0.05) > 1e-6:
        assert breaks_too_many(labels, links, np.log(1 / error - 1)) == (n_broken > 0 and 1 - fewer < 0.05)


def test_components_are_kept_at_any_cost_where_other_results_break_too_many_links(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Most runs divide the rows in another way than the classes, all of whose links are right."""
    group, across = np.repeat([0, 1], 12), np.tile([0, 1], 12)
    kernel = CoAssociation(np.column_stack([group] * 3 + [across] * 7), np.full(10, 0.1))
    must = [(i, i + 1) for start in (0, 12) for i in range(start, start + 11)]
    links = link_set(Constraints(must, [(0, 12)]), 24)
    monkeypatch.setattr(_weighing, "may_keep_components", lambda *_: True)
    results = [(across, Marginals(np.eye(2)[across[links.rows]], np.ones(len(links))))]
    for too_many, expected in ((True, group), (False, across)):
        monkeypatch.setattr(_weighing, "breaks_too_many", lambda *_, found=too_many: found)
        found, _, _ = choose_result(kernel, results, group, links, 0.01, prior_log_odds(0.02), 1.0)
        assert found.tolist() == expected.tolist()
