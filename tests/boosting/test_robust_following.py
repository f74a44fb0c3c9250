"""Rows in no link that follow the linked rows."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from mustlink import Constraints
from mustlink.boosting import CoAssociation
from mustlink.boosting._boostcluster._consensus import Consensus
from mustlink.boosting._boostcluster._links import LinkSet
from mustlink.boosting._code_kmeans import compute_centers
from mustlink.boosting._robust._certain import keep_links
from mustlink.boosting._robust._following import centers_of_linked, should_follow_linked
from mustlink.boosting._robust._link_odds import prior_log_odds
from mustlink.boosting._robust._weighing import may_keep_components, weigh_links

LARGE, SMALL, THIRD = np.arange(60), np.arange(60, 62), np.arange(62, 92)


def link_set(links: Constraints, n: int) -> LinkSet:
    return LinkSet.of(links, np.arange(n)[:, None].astype(float))


def divided_class() -> tuple[CoAssociation, np.ndarray]:
    """A large class that all runs divide in two, a small one near its second half, and a third; and the consensus."""
    codes = np.zeros((92, 10), dtype=np.int64)
    codes[30:62] = 1
    codes[SMALL, :3] = 2
    codes[THIRD] = 2
    return CoAssociation(codes, np.full(10, 0.1)), codes[:, 9].copy()


def answers() -> Constraints:
    """Right links: eight rows of both halves of the large class in one component, apart from the two other classes."""
    linked = [0, 1, 2, 3, 30, 31, 32, 33]
    apart = [(60, 30), (60, 62), (30, 62), (60, 0)]
    return Constraints([*pairwise(linked), (60, 61), (62, 63)], apart)


def test_a_class_that_all_runs_divide_is_joined_where_it_has_no_links() -> None:
    kernel, labels = divided_class()
    links = link_set(answers(), 92)
    model = weigh_links(Consensus(kernel, labels), links, 0.5, prior_log_odds(0.0), seed=0)
    assert all(len(np.unique(model.labels[rows])) == 1 for rows in (LARGE, SMALL, THIRD))
    assert len(np.unique(model.labels)) == 3
    # New rows are assigned in the same way.
    assert (model.predict(kernel.codes) == model.labels).all()


def test_certain_links_join_it_as_well() -> None:
    kernel, labels = divided_class()
    model = keep_links(Consensus(kernel, labels), link_set(answers(), 92), 3, seed=0)
    assert all(len(np.unique(model.labels[rows])) == 1 for rows in (LARGE, SMALL, THIRD))


def test_rows_do_not_follow_links_that_may_be_wrong() -> None:
    """With a fifth of the links wrong, the rows in no link of the second half stay apart from the first half."""
    kernel, labels = divided_class()
    model = weigh_links(Consensus(kernel, labels), link_set(answers(), 92), 0.5, prior_log_odds(0.2), seed=0)
    assert model.labels[59] != model.labels[29]


@pytest.mark.parametrize("divided", [True, False])
def test_rows_follow_if_linked_rows_are_far_from_their_centers(divided: bool) -> None:
    kernel, labels = divided_class()
    links = link_set(answers(), 92)
    # Of the second half the linked rows alone are with the first half, or all rows are.
    labels[30 : 34 if divided else 60] = 0
    assert should_follow_linked(kernel, labels, links, 3) == divided


def test_a_cluster_without_linked_rows_keeps_its_center() -> None:
    kernel, labels = divided_class()
    links = link_set(Constraints([(0, 1)], [(0, 62)]), 92)
    centers = compute_centers(kernel, labels, 3)
    found = centers_of_linked(kernel, labels, links, centers)
    np.testing.assert_array_equal(found.table[:, 1], centers.table[:, 1])
    assert found.masses.tolist() == [2, centers.masses[1], 1]
    assert np.isfinite(found.lengths).all()


@pytest.mark.parametrize(
    ("error_rate", "n_components", "expected"),
    [(0.0, 9, True), (0.08, 4, True), (0.08, 5, False), (0.12, 4, True), (0.12, 5, False)],
    ids=["none seems wrong", "few components", "many components", "many seem wrong", "many of both"],
)
def test_components_that_agree_with_runs_may_be_kept_if_they_are_few_or_no_link_seems_wrong(
    error_rate: float, n_components: int, expected: bool
) -> None:
    pairs = [(2 * i, 2 * i + 1) for i in range(n_components)]
    links = link_set(Constraints(pairs, [(0, 2)]), 20)
    labels = np.arange(20) // 2 % 2
    kernel = CoAssociation(labels[:, None], np.ones(1))
    log_odds = prior_log_odds(error_rate)
    assert may_keep_components(kernel, labels, [labels], links, log_odds, n_clusters=2) == expected
    broken = labels.copy()
    broken[0] = 1
    assert not may_keep_components(kernel, broken, [labels], links, log_odds, n_clusters=2)
