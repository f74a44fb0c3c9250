"""Votes on links by their rows and by the rows that other links tie to them."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mustlink import Constraints
from mustlink.boosting._bases import BaseRun
from mustlink.boosting._boostcluster._links import LinkSet
from mustlink.boosting._robust import _neighbor_votes, _trials
from mustlink.boosting._robust._neighbor_votes import MISPLACED, WRONG, NeighborVotes
from mustlink.boosting._robust._trials import Trials


def link_set(links: Constraints, n: int) -> LinkSet:
    return LinkSet.of(links, np.arange(n)[:, None].astype(float))


def slow_vote(links: LinkSet, left_out: int, labels: np.ndarray, n_clusters: int) -> float:
    """Add up the probabilities of all clusters of all rows, without one link."""
    mass = {True: 0.0, False: 0.0}
    for clusters in product(range(n_clusters), repeat=len(labels)):
        weight = 1.0
        for label, cluster in zip(labels, clusters, strict=True):
            if label >= 0:
                weight *= 1 - MISPLACED if label == cluster else MISPLACED / (n_clusters - 1)
        for number, (a, b) in enumerate(links.pairs):
            if number != left_out:
                weight *= 1 - WRONG if (clusters[a] == clusters[b]) == links.is_must[number] else WRONG
        a, b = links.pairs[left_out]
        mass[clusters[a] == clusters[b]] += weight
    return mass[True] / (mass[True] + mass[False])


@given(st.integers(0, 10**6), st.integers(2, 6))
@settings(deadline=None, max_examples=60)
def test_votes_on_trees_are_those_of_the_slow_version(seed: int, n_rows: int) -> None:
    rng = np.random.RandomState(seed)
    pairs = np.array([(rng.randint(row), row) for row in range(1, n_rows)])
    is_must = rng.randint(2, size=len(pairs)) == 1
    links = link_set(Constraints(pairs[is_must], pairs[~is_must]), n_rows)
    labels = rng.randint(-1, 3, size=n_rows)
    names = np.unique(labels[labels >= 0])
    n_clusters = max(len(names), 2)
    numbered = np.where(labels >= 0, np.searchsorted(names, labels), -1)
    expected = [slow_vote(links, number, numbered, n_clusters) for number in range(len(links))]
    vote, number = NeighborVotes.of(links).vote(labels)
    np.testing.assert_allclose(vote, expected, atol=1e-3)
    assert number == n_clusters


@pytest.mark.parametrize("seed", range(5))
def test_votes_on_cycles_hardly_depend_on_the_tolerance(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.RandomState(seed)
    classes, labels = rng.randint(3, size=(2, 60))
    labels = np.where(rng.uniform(size=60) < 0.8, classes, labels)
    votes = NeighborVotes.of(link_set(Constraints.sample(classes, 150, noise=0.1, random_state=seed), 60))
    vote, _ = votes.vote(labels)
    monkeypatch.setattr(_neighbor_votes, "TOLERANCE", 1e-6)
    np.testing.assert_allclose(vote, votes.vote(labels)[0], atol=0.01)


def test_neighbors_outvote_a_misplaced_row() -> None:
    """Row 0 is with the others by five links: a clustering that misplaces it hardly counts against any of them."""
    links = link_set(Constraints([(0, row) for row in range(1, 6)]), 6)
    misplaced, _ = NeighborVotes.of(links).vote(np.array([1, 0, 0, 0, 0, 0]))
    alone, _ = NeighborVotes.of(link_set(Constraints([(0, 1)]), 2)).vote(np.array([1, 0]))
    assert misplaced.min() > 0.8
    assert alone.max() < 0.2


def test_a_wrong_must_link_between_two_groups_is_outvoted() -> None:
    """Two groups that one must-link makes a single component: the votes are against this link only."""
    groups = [(0, 1), (1, 2), (2, 3), (4, 5), (5, 6), (6, 7)]
    links = link_set(Constraints([*groups, (0, 4)]), 8)
    vote, _ = NeighborVotes.of(links).vote(np.array([0] * 4 + [1] * 4))
    is_wrong = (links.pairs == (0, 4)).all(axis=1)
    assert vote[is_wrong].max() < 0.1
    assert vote[~is_wrong].min() > 0.7


def test_noise_is_no_evidence() -> None:
    links = link_set(Constraints([(0, 1)], [(2, 3)]), 4)
    vote, n_clusters = NeighborVotes.of(links).vote(np.full(4, -1))
    assert n_clusters == 2
    assert vote.tolist() == pytest.approx([0.5, 0.5])


def test_labels_may_be_any_numbers_beside_noise() -> None:
    links = link_set(Constraints([(0, 1), (2, 3)], [(0, 4), (1, 5)]), 6)
    labels = np.array([-2, -2, 3, -1, 0, 5])
    votes = NeighborVotes.of(links)
    np.testing.assert_allclose(votes.vote(labels)[0], votes.vote(np.where(labels == -2, 7, labels))[0])


def test_views_of_equal_weight_all_vote() -> None:
    links = link_set(Constraints([(0, 1)], [(2, 3)]), 4)
    n_views = 200
    runs = [[BaseRun(np.array([0, 0, 1, 1]), None)] for _ in range(n_views)]
    masks = [np.zeros((1, 2), dtype=bool)] * n_views
    views = [SimpleNamespace(weighs_columns=False)] * (n_views - 1)
    trials = Trials(views, runs, masks, np.zeros((n_views, 2)), np.full(n_views, 0.5))
    assert trials.neighbor_vote(links)[0].tolist() == pytest.approx(NeighborVotes.of(links).vote(runs[0][0].labels)[0])


def test_only_runs_that_did_not_see_a_link_vote_on_it() -> None:
    links = link_set(Constraints([(0, 1)], [(2, 3)]), 4)
    together, apart = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 0])
    runs = [[BaseRun(together, None), BaseRun(apart, None)]]
    masks = [np.array([[True, False], [False, True]])]
    vote, chance = Trials([], runs, masks, np.zeros((1, 2)), np.array([0.5])).neighbor_vote(links)
    likely = (1 - MISPLACED) ** 2 + MISPLACED**2
    assert vote.tolist() == pytest.approx([1 - likely, likely])
    assert chance == 0.5


@pytest.mark.parametrize(("max_votes", "votes_of_all"), [(4, True), (3, False), (1, False)])
def test_with_many_links_only_the_heaviest_views_vote(
    max_votes: int, votes_of_all: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_trials, "MAX_VOTES", max_votes)
    links = link_set(Constraints([(0, 1)], [(2, 3)]), 4)
    heavy, light = np.array([0, 0, 1, 2]), np.array([0, 1, 2, 2])
    runs = [[BaseRun(heavy, None)], [BaseRun(light, None)]]
    masks = [np.zeros((1, 2), dtype=bool)] * 2
    scores = np.array([0.7, 0.6])
    trials = Trials([SimpleNamespace(weighs_columns=False)], runs, masks, np.zeros((2, 2)), scores)
    of_heavy = NeighborVotes.of(links).vote(heavy)[0]
    assert (trials.neighbor_vote(links)[0] == pytest.approx(of_heavy)) is not votes_of_all
