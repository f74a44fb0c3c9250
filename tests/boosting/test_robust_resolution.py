"""Links weighed against distances, and rows that are assigned by linked examples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mustlink import Constraints
from mustlink.boosting import CoAssociation
from mustlink.boosting._bases import BaseClusterer, BaseRun
from mustlink.boosting._boostcluster._consensus import Consensus
from mustlink.boosting._boostcluster._links import LinkSet
from mustlink.boosting._coassociation_kernels import nearest_two
from mustlink.boosting._code_kmeans import code_distances, compute_centers
from mustlink.boosting._robust import _resolution, _weighing
from mustlink.boosting._robust._link_odds import prior_log_odds
from mustlink.boosting._robust._misplaced import count_misplaced
from mustlink.boosting._robust._resolution import ResolvedConsensus, link_model, resolve_links, update_trust
from mustlink.boosting._robust._weighing import are_loose, weigh_links
from mustlink.inference import propagate_beliefs
from reference.boostcluster import slow_votes


def link_set(links: Constraints, n: int) -> LinkSet:
    return LinkSet.of(links, np.arange(n)[:, None].astype(float))


def resolved(kernel: CoAssociation, labels: np.ndarray, linked: np.ndarray, marginals: np.ndarray) -> ResolvedConsensus:
    """A consensus whose linked rows have these marginals."""
    centers = compute_centers(kernel, labels, marginals.shape[1])
    return ResolvedConsensus(
        kernel, labels, linked=linked, marginals=marginals, link_marginals=np.empty(0), centers=centers
    )


def test_marginals_do_not_depend_on_row_numbers() -> None:
    rng = np.random.RandomState(0)
    y = rng.randint(3, size=30)
    constraints = Constraints.sample(y, 60, noise=0.2, random_state=0)
    where = rng.uniform(size=(30, 1))
    distance = rng.uniform(0, 2, (30, 3))
    links = LinkSet.of(constraints, where)
    found = propagate_beliefs(link_model(distance[links.rows], links.graph(), 0.5, 1.4))
    shuffled = rng.permutation(30)
    new_number = np.argsort(shuffled)
    renamed = LinkSet.of(
        Constraints(new_number[constraints.must_link], new_number[constraints.cannot_link]), where[shuffled]
    )
    again = propagate_beliefs(link_model(distance[shuffled][renamed.rows], renamed.graph(), 0.5, 1.4))
    np.testing.assert_allclose(again.links, found.links)
    np.testing.assert_allclose(again.rows, found.rows)
    assert (shuffled[renamed.rows] == links.rows).all()


@given(st.integers(0, 10**6))
@settings(deadline=None, max_examples=40)
def test_votes_are_those_of_the_slow_version(seed: int) -> None:
    rng = np.random.RandomState(seed)
    prototypes = rng.randint(-1, 3, (4, 12))
    codes = np.where(
        rng.uniform(size=(20, 12)) < 0.05, rng.randint(0, 3, (20, 12)), prototypes[rng.randint(4, size=20)]
    )
    weights = rng.dirichlet(np.ones(12))
    marginals = rng.dirichlet(np.ones(3), size=8)
    kernel = CoAssociation(codes, weights)
    model = resolved(kernel, np.zeros(20, dtype=np.int64), np.arange(8), marginals)
    found = model.votes(kernel.codes[8:])
    np.testing.assert_allclose(found, slow_votes(codes[8:], codes[:8], weights, marginals), atol=1e-12)


def test_a_row_near_two_centers_follows_similar_examples() -> None:
    """The two last rows are about as near to either center: one equals an example, the other is unlike all."""
    codes = np.array([[0, 0, 0, 0]] * 5 + [[1, 1, 1, 1]] * 5 + [[0, 0, 1, 1], [0, 1, 0, 1], [0, 0, 1, 1]])
    kernel = CoAssociation(codes, [0.26, 0.25, 0.25, 0.24])
    labels = np.array([0] * 5 + [1] * 5 + [-1, -1, -1])
    model = resolved(kernel, labels, np.array([10]), np.array([[0.1, 0.9]]))
    assert model._assign(kernel).tolist() == [0] * 5 + [1] * 6 + [0, 1]


def test_only_rows_below_the_margin_follow_examples() -> None:
    """Rows of two codes with centers apart, and one in the middle; the examples contradict the centers."""
    codes = np.array([[0, 0, 0, 0]] * 5 + [[1, 1, 1, 1]] * 5 + [[0, 0, 1, 1]])
    kernel = CoAssociation(codes, np.full(4, 0.25))
    labels = np.array([0] * 5 + [1] * 5 + [0])
    model = resolved(kernel, labels, np.array([0, 10]), np.array([[0.0, 1.0], [0.0, 1.0]]))
    assert model._assign(kernel).tolist() == [0] * 5 + [1] * 6


@given(st.integers(0, 10**6))
@settings(deadline=None, max_examples=30)
def test_the_nearest_two_centers_are_those_of_all_distances(seed: int) -> None:
    rng = np.random.RandomState(seed)
    kernel = CoAssociation(rng.randint(-1, 4, (25, rng.randint(1, 9))))
    centers = compute_centers(kernel, rng.randint(0, 3, 25), 4)
    nearest = np.full(25, -1)
    least, margin = nearest_two(kernel.codes, kernel.offsets, centers.table, centers.lengths, np.zeros(25), nearest)
    distance = code_distances(kernel, centers)
    ordered = np.sort(distance, axis=1)
    np.testing.assert_allclose(least, ordered[:, 0], atol=1e-12)
    np.testing.assert_allclose(margin, ordered[:, 1] - ordered[:, 0], atol=1e-12)
    assert (nearest == distance.argmin(axis=1)).all()


@pytest.mark.parametrize("penalty", [0.0, 0.5])
def test_new_rows_get_the_cluster_of_rows_with_their_code(penalty: float) -> None:
    rng = np.random.RandomState(3)
    y = np.repeat([0, 1, 2], 40)
    codes = np.where(rng.uniform(size=(120, 9)) < 0.25, rng.randint(0, 3, (120, 9)), y[:, None])
    kernel = CoAssociation(codes, rng.dirichlet(np.ones(9)))
    labels, _ = kernel.kmeans(3, y)
    links = link_set(Constraints.sample(y, 40, noise=0.2, random_state=0), 120)
    model = weigh_links(Consensus(kernel, labels.astype(np.int64)), links, penalty, 1.4, seed=0)
    free = np.setdiff1d(np.arange(120), links.rows)
    assert len(free) > 30
    assert (model.predict(codes[free]) == model.labels[free]).all()
    assert isinstance(model, ResolvedConsensus) == (penalty > 0)


def test_clusters_that_links_empty_are_removed() -> None:
    codes = np.repeat([[0, 0, 0], [1, 1, 1], [2, 2, 2]], [10, 10, 1], axis=0)
    kernel = CoAssociation(codes, np.full(3, 1 / 3))
    labels = codes[:, 0].astype(np.int64)
    links = link_set(Constraints([(20, 0), (20, 1), (20, 2)], [(0, 10)]), 21)
    model = weigh_links(Consensus(kernel, labels), links, 0.5, 3.9, seed=0)
    assert np.unique(model.labels).tolist() == [0, 1]
    assert isinstance(model, ResolvedConsensus)
    assert model.marginals.shape == (5, 2)
    assert (model.predict(codes) == [0] * 10 + [1] * 10 + [0]).all()


def test_resolving_ends_with_the_most_probable_clusters() -> None:
    rng = np.random.RandomState(0)
    y = rng.randint(3, size=60)
    codes = np.where(rng.uniform(size=(60, 7)) < 0.7, rng.randint(0, 3, (60, 7)), y[:, None])
    kernel = CoAssociation(codes, np.full(7, 1 / 7))
    start, _ = kernel.kmeans(3, y)
    links = link_set(Constraints.sample(y, 200, noise=0.1, random_state=0), 60)
    labels, marginals = resolve_links(kernel, start.astype(np.int64), links, 0.5, 2.2, 3)
    assert (labels[links.rows] == marginals.rows.argmax(axis=1)).all()
    assert (labels != y).sum() < (start != y).sum()


def test_violations_are_reduced_if_links_are_trusted() -> None:
    """Three equal rows, two must-links and a cannot-link among them: the cannot-link is broken."""
    codes = np.repeat([[0, 0], [1, 1]], 15, axis=0)
    kernel = CoAssociation(codes, [0.5, 0.5])
    links = Constraints([(0, 3), (3, 6)], [(0, 6)])
    start = codes[:, 0].astype(np.int64)
    labels, _ = resolve_links(kernel, start, link_set(links, 30), 0.5, 3.9, 2)
    assert links.satisfied(labels).tolist() == [True, True, False]


@pytest.mark.parametrize("log_odds", [2.5, 1.4])
def test_the_start_that_breaks_the_fewest_links_wins_if_few_seem_wrong(log_odds: float) -> None:
    """Most runs split the large group and join the two small ones, which one cannot-link keeps apart."""
    group = np.repeat([0, 1, 2, 3], [10, 10, 3, 3])
    runs = [np.array([0, 1, 2, 2])[group]] * 6 + [np.array([0, 0, 1, 2])[group]] * 4
    kernel = CoAssociation(np.column_stack(runs), np.full(10, 0.1))
    links = Constraints([(20, 21), (21, 22), (23, 24), (24, 25)], [(20, 23)])
    model = weigh_links(Consensus(kernel, runs[0].astype(np.int64)), link_set(links, 26), 0.5, log_odds, seed=0)
    few_wrong = log_odds == 2.5
    assert links.satisfied(model.labels).all() == few_wrong
    assert len(np.unique(model.labels[:20])) == (1 if few_wrong else 2)


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        (Constraints([(0, 1), (2, 3)], [(4, 5)]), True),
        (Constraints([(0, 1), (1, 2)], [(2, 3), (3, 0)]), False),
        (Constraints([(i, i + 1) for i in range(60)]), False),
        (Constraints([(2 * i, 2 * i + 1) for i in range(60)]), True),
    ],
    ids=["pairs", "answers to questions", "a chain", "many pairs"],
)
def test_pairs_are_loose(links: Constraints, expected: bool) -> None:
    assert are_loose(link_set(links, 120)) == expected


def test_loose_links_do_not_outweigh_the_distances_of_all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most runs split the large group and join the two small ones, of which one pair of rows should be apart."""
    group = np.repeat([0, 1, 2, 3], [10, 10, 3, 3])
    runs = [np.array([0, 1, 2, 2])[group]] * 6 + [np.array([0, 0, 1, 2])[group]] * 4
    kernel = CoAssociation(np.column_stack(runs), np.full(10, 0.1))
    links = link_set(Constraints([(20, 21)], [(22, 24)]), 26)
    consensus = Consensus(kernel, runs[0].astype(np.int64))
    found = weigh_links(consensus, links, 0.5, prior_log_odds(0.0), seed=0)
    assert len(np.unique(found.labels[:20])) == 2
    monkeypatch.setattr(_weighing, "MIN_ROWS_PER_LOOSE_LINK", np.inf)
    found = weigh_links(consensus, links, 0.5, prior_log_odds(0.0), seed=0)
    assert len(np.unique(found.labels[:20])) == 1


def test_of_loose_links_misplaced_rows_count_as_broken_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most runs find the groups, which break a link; the other runs keep it, and divide both groups."""
    group, across = np.repeat([0, 1], 12), np.tile([0, 1], 12)
    kernel = CoAssociation(np.column_stack([group] * 7 + [across] * 3), np.full(10, 0.1))
    links = link_set(Constraints([(0, 2), (4, 6), (1, 3), (13, 15), (17, 19), (8, 20)], [(10, 23)]), 24)
    assert (links.broken_weight(group), links.broken_weight(across)) == (1, 0)
    assert [count_misplaced(kernel, labels, links, 2) for labels in (group, across)] == [0, 3]
    # In one cluster no row is nearer to another, and that is no evidence.
    assert count_misplaced(kernel, np.zeros(24, dtype=np.int64), links, 2) == len(links.rows) / 2
    consensus = Consensus(kernel, group.astype(np.int64))
    monkeypatch.setattr(_weighing, "starts_from_components", lambda links: False)
    monkeypatch.setattr(_weighing, "list_starts", lambda *_: [group, across])
    found = weigh_links(consensus, links, 0.05, prior_log_odds(0.0), seed=0)
    np.testing.assert_array_equal(found.labels == found.labels[0], group == 0)
    monkeypatch.setattr(_weighing, "MIN_ROWS_PER_LOOSE_LINK", np.inf)
    found = weigh_links(consensus, links, 0.05, prior_log_odds(0.0), seed=0)
    np.testing.assert_array_equal(found.labels == found.labels[0], across == 0)


def test_must_links_that_join_all_rows_do_not_reduce_the_number_of_clusters() -> None:
    codes = np.repeat([[0, 0], [1, 1]], 4, axis=0)
    kernel = CoAssociation(codes, [0.5, 0.5])
    links = Constraints([(i, i + 1) for i in range(7)])
    model = weigh_links(Consensus(kernel, codes[:, 0].astype(np.int64)), link_set(links, 8), 0.5, 3.9, seed=0)
    assert model.labels.tolist() == [0] * 4 + [1] * 4


@pytest.mark.parametrize(
    ("error_rate", "penalty", "n_broken"),
    [(0.0, 0.45, 0), (0.05, 0.45, 2), (0.0, 0.2, 2)],
    ids=["no link seems wrong", "some seem wrong", "broken links cost little"],
)
def test_components_are_a_result_themselves_where_no_link_seems_wrong(
    error_rate: float, penalty: float, n_broken: int
) -> None:
    """Two components, each half in either code, with one link that holds the halves together."""
    codes = np.repeat([0, 1, 0, 1], 3)[:, None]
    kernel = CoAssociation(np.repeat(codes, 4, axis=1), np.full(4, 0.25))
    chains = [(row, row + 1) for row in range(11) if row != 5]
    links = Constraints(must_link=chains, cannot_link=[(0, 6)])
    consensus = Consensus(kernel, codes[:, 0].astype(np.int64))
    found = weigh_links(consensus, link_set(links, 12), penalty, prior_log_odds(error_rate), seed=0)
    assert len(links.violations(found.labels).must_link) == n_broken


def test_many_links_get_fewer_sweeps_and_nearly_the_same_marginals(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.RandomState(0)
    y = rng.randint(3, size=60)
    runs = [np.where(rng.uniform(size=60) < 0.2, rng.randint(3, size=60), y) for _ in range(8)]
    kernel = CoAssociation(np.column_stack(runs), np.full(8, 1 / 8))
    links = link_set(Constraints.sample(y, 90, noise=0.1, random_state=0), 60)
    tolerances: list[float] = []

    def propagate(model: Any, *, tol: float, start: Any) -> Any:
        tolerances.append(tol)
        return propagate_beliefs(model, tol=tol, start=start)

    monkeypatch.setattr(_resolution, "propagate_beliefs", propagate)
    labels, marginals = resolve_links(kernel, runs[0].astype(np.int64), links, 0.5, 2.2, 3)
    monkeypatch.setattr(_resolution, "MANY_LINKS", 0)
    many_labels, many_marginals = resolve_links(kernel, runs[0].astype(np.int64), links, 0.5, 2.2, 3)
    assert tolerances[0] < 0.001 < tolerances[-1]
    np.testing.assert_array_equal(many_labels, labels)
    np.testing.assert_allclose(many_marginals.rows, marginals.rows, atol=0.02)

    turns: list[int] = []
    monkeypatch.setattr(_resolution, "resolve_links", lambda *given: turns.append(given[-1]) or (labels, marginals))
    voters = [BaseRun(run, None, weight=1 / 8) for run in runs]
    for most in (0, 1_000):
        monkeypatch.setattr(_resolution, "MANY_LINKS", most)
        update_trust(np.ones(90), links, voters, BaseClusterer(None, 3), 0.5, 2.2, 60)
    assert turns == [1, 3]
