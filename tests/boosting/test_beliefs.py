"""Belief propagation over links, beside all assignments; and rows that follow linked ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mustlink import Constraints
from mustlink.boosting import CoAssociation
from mustlink.boosting._beliefs import Anchors, Beliefs, LinkGraph, Stakes
from mustlink.boosting._coassociation_kernels import nearest_two
from mustlink.boosting._code_kmeans import CodeCentres, CodeTable, centres_of
from mustlink.boosting._final import FinalModel, code_distances, follow, settle_links
from mustlink.boosting._links import LinkSet
from reference.beliefs import exact_beliefs, slow_votes


def link_set(links: Constraints, n: int) -> LinkSet:
    return LinkSet.of(links, np.arange(n)[:, None].astype(float))


def no_centres() -> CodeCentres:
    """Anchors look at the codes of rows, and at distances that they are given."""
    return CodeCentres(np.empty((0, 0)), np.empty(0), np.empty(0), 0.0)


def random_forest(rng: np.random.RandomState, n: int) -> Constraints:
    """Links without circles, with weights: every row but the first of a tree is linked to an earlier one."""
    pairs = [(int(rng.randint(i)), i) for i in range(1, n) if rng.uniform() < 0.8] or [(0, 1)]
    is_must = rng.uniform(size=len(pairs)) < 0.5
    weight = rng.uniform(0.5, 2, len(pairs))
    pairs_array = np.array(pairs)
    return Constraints(
        pairs_array[is_must],
        pairs_array[~is_must],
        must_link_weight=weight[is_must],
        cannot_link_weight=weight[~is_must],
    )


@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(2, 3), st.sampled_from([0.2, 0.5, 2.0]))
@settings(deadline=None, max_examples=60)
def test_without_circles_beliefs_are_exact(seed: int, n: int, n_clusters: int, price: float) -> None:
    rng = np.random.RandomState(seed)
    links = link_set(random_forest(rng, n), n)
    rows = np.sort(links.rows)
    distance = rng.uniform(0, 2, (len(rows), n_clusters))
    found = LinkGraph.of(links, 1.4).propagate(distance, price)
    pairs = np.searchsorted(rows, links.pairs)
    of_rows, of_links = exact_beliefs(-distance / price, pairs, links.is_must, 1.4 * links.weight)
    np.testing.assert_allclose(found.of_rows, of_rows, atol=2e-3)
    np.testing.assert_allclose(found.of_links, of_links, atol=2e-3)
    np.testing.assert_allclose(found.of_rows.sum(axis=1), 1)


@given(st.integers(0, 10**6))
@settings(deadline=None, max_examples=30)
def test_with_circles_beliefs_are_near(seed: int) -> None:
    """Six rows with eight links among them: the mean error is small, and nothing is out of range."""
    rng = np.random.RandomState(seed)
    y = np.arange(6) % 2
    links = link_set(Constraints.sample(y, 8, noise=0.2, random_state=seed), 6)
    rows = np.sort(links.rows)
    distance = np.abs(y[rows, None] - np.arange(2)) + rng.uniform(-0.5, 0.5, (len(rows), 2))
    found = LinkGraph.of(links, 1.4).propagate(distance, 0.5)
    of_rows, _ = exact_beliefs(-distance / 0.5, np.searchsorted(rows, links.pairs), links.is_must, 1.4 * links.weight)
    assert np.abs(found.of_rows - of_rows).mean() < 0.15
    assert ((found.of_links >= 0) & (found.of_links <= 1)).all()


def test_very_heavy_links_and_empty_clusters_give_no_nan() -> None:
    constraints = Constraints([(0, 1), (1, 2)], [(2, 3)], must_link_weight=[1e6, 1e-6], cannot_link_weight=[1e6])
    links = link_set(constraints, 4)
    distance = np.array([[0.0, 2.0, np.inf]] * 3 + [[0.1, 0.0, np.inf]])
    found = LinkGraph.of(links, 4.0).propagate(distance, 1e-3)
    assert np.isfinite(found.of_rows).all()
    assert np.isfinite(found.of_links).all()
    assert (found.of_rows[:, 2] == 0).all()
    assert found.of_rows.argmax(axis=1).tolist() == [0, 0, 0, 1]


def test_how_rows_are_numbered_plays_no_part() -> None:
    rng = np.random.RandomState(0)
    y = rng.randint(3, size=30)
    constraints = Constraints.sample(y, 60, noise=0.2, random_state=0)
    where = rng.uniform(size=(30, 1))
    distance = rng.uniform(0, 2, (30, 3))
    links = LinkSet.of(constraints, where)
    found = LinkGraph.of(links, 1.4).propagate(distance[np.sort(links.rows)], 0.5)
    shuffled = rng.permutation(30)
    new_number = np.argsort(shuffled)
    renamed = LinkSet.of(
        Constraints(new_number[constraints.must_link], new_number[constraints.cannot_link]), where[shuffled]
    )
    again = LinkGraph.of(renamed, 1.4).propagate(distance[shuffled][np.sort(renamed.rows)], 0.5)
    np.testing.assert_allclose(again.of_links, found.of_links)
    before = dict(zip(found.rows.tolist(), found.of_rows, strict=True))
    for row, belief in zip(again.rows.tolist(), again.of_rows, strict=True):
        np.testing.assert_allclose(belief, before[shuffled[row]])


def test_a_wrong_link_is_outvoted_by_the_links_around_it() -> None:
    """Two groups with many links among them; distances say nothing, and one link joins what must be apart."""
    y = np.repeat([0, 1], 8)
    right = Constraints.sample(y, 60, random_state=0)
    wrong = next((i, j) for i in range(8) for j in range(8, 16) if [i, j] not in right.cannot_link.tolist())
    links = link_set(Constraints(np.vstack([right.must_link, wrong]), right.cannot_link), 16)
    distance = np.zeros((16, 2))
    distance[0] = [0.0, 0.2]
    found = LinkGraph.of(links, 1.4).propagate(distance[np.sort(links.rows)], 0.5)
    is_wrong = (links.pairs == wrong).all(axis=1)
    assert found.of_links[is_wrong] < 0.1
    assert found.of_links[~is_wrong].min() > 0.6
    assert (found.of_rows.argmax(axis=1) == y).all()


@given(st.integers(0, 10**6))
@settings(deadline=None, max_examples=40)
def test_votes_are_those_of_the_slow_version(seed: int) -> None:
    rng = np.random.RandomState(seed)
    prototypes = rng.randint(-1, 3, (4, 12))
    codes = np.where(
        rng.uniform(size=(20, 12)) < 0.05, rng.randint(0, 3, (20, 12)), prototypes[rng.randint(4, size=20)]
    )
    weights = rng.dirichlet(np.ones(12))
    beliefs = rng.dirichlet(np.ones(3), size=8)
    anchors = Anchors(codes[:8].astype(np.int8), weights, beliefs, no_centres())
    np.testing.assert_allclose(
        anchors._votes(codes[8:].astype(np.int8)), slow_votes(codes[8:], codes[:8], weights, beliefs), atol=1e-12
    )


def test_a_row_follows_its_likes() -> None:
    codes = np.array([[0, 0, 0, 0], [1, 1, 1, 1]], dtype=np.int8)
    anchors = Anchors(codes, np.full(4, 0.25), np.array([[0.1, 0.9], [0.9, 0.1]]), no_centres())
    assert anchors.place(codes, np.array([[0.4, 0.6], [0.4, 0.6]])).tolist() == [1, 0]
    like_nobody = np.array([[0, 0, 1, 1]], dtype=np.int8)
    assert anchors.place(like_nobody, np.array([[0.4, 0.6]])).tolist() == [0]


def test_only_rows_that_are_unsure_follow() -> None:
    """Rows of two codes with centres apart, and one in the middle; the anchors say the opposite of the centres."""
    codes = np.array([[0, 0, 0, 0]] * 5 + [[1, 1, 1, 1]] * 5 + [[0, 0, 1, 1]])
    kernel = CoAssociation(codes, np.full(4, 0.25))
    rows = CodeTable.of(kernel)
    centres = centres_of(rows, np.array([0] * 5 + [1] * 5 + [0]), 2)
    anchors = Anchors(kernel.codes[[0, 10]], np.full(4, 0.25), np.array([[0.0, 1.0], [0.0, 1.0]]), centres)
    assert follow(anchors, rows).tolist() == [0] * 5 + [1] * 6


@given(st.integers(0, 10**6))
@settings(deadline=None, max_examples=30)
def test_the_nearest_two_centres_are_those_of_all_distances(seed: int) -> None:
    rng = np.random.RandomState(seed)
    kernel = CoAssociation(rng.randint(-1, 4, (25, rng.randint(1, 9))))
    rows = CodeTable.of(kernel)
    centres = centres_of(rows, rng.randint(0, 3, 25), 4)
    nearest, margin = nearest_two(rows.codes, rows.offsets, centres.table, centres.lengths)
    ordered = np.sort(code_distances(rows, centres), axis=1)
    np.testing.assert_allclose(margin, ordered[:, 1] - ordered[:, 0], atol=1e-12)
    assert (nearest == code_distances(rows, centres).argmin(axis=1)).all()


@pytest.mark.parametrize("price", [0.0, 0.5])
def test_new_rows_find_the_cluster_of_rows_with_their_code(price: float) -> None:
    rng = np.random.RandomState(3)
    y = np.repeat([0, 1, 2], 40)
    codes = np.where(rng.uniform(size=(120, 9)) < 0.25, rng.randint(0, 3, (120, 9)), y[:, None])
    kernel = CoAssociation(codes, rng.dirichlet(np.ones(9)))
    labels, _ = kernel.kmeans(3, y)
    links = link_set(Constraints.sample(y, 40, noise=0.2, random_state=0), 120)
    model = FinalModel(kernel, labels.astype(np.int64)).weigh_links(links, Stakes(price, 1.4))
    free = np.setdiff1d(np.arange(120), links.rows)
    assert len(free) > 30
    assert (model.predict(codes[free]) == model.labels[free]).all()
    assert (model.anchors is None) == (price == 0.0)


def test_clusters_that_links_empty_are_numbered_away() -> None:
    codes = np.repeat([[0, 0, 0], [1, 1, 1], [2, 2, 2]], [10, 10, 1], axis=0)
    kernel = CoAssociation(codes, np.full(3, 1 / 3))
    labels = codes[:, 0].astype(np.int64)
    links = link_set(Constraints([(20, 0), (20, 1), (20, 2)], [(0, 10)]), 21)
    model = FinalModel(kernel, labels).weigh_links(links, Stakes(0.5, 3.9))
    assert np.unique(model.labels).tolist() == [0, 1]
    assert model.anchors is not None
    assert model.anchors.beliefs.shape == (5, 2)
    assert (model.predict(codes) == [0] * 10 + [1] * 10 + [0]).all()


def test_settling_ends_with_the_likeliest_clusters() -> None:
    rng = np.random.RandomState(0)
    y = rng.randint(3, size=60)
    codes = np.where(rng.uniform(size=(60, 7)) < 0.7, rng.randint(0, 3, (60, 7)), y[:, None])
    kernel = CoAssociation(codes, np.full(7, 1 / 7))
    start, _ = kernel.kmeans(3, y)
    constraints = Constraints.sample(y, 200, noise=0.1, random_state=0)
    labels, beliefs = settle_links(
        CodeTable.of(kernel), start.astype(np.int64), link_set(constraints, 60), Stakes(0.5, 2.2)
    )
    assert isinstance(beliefs, Beliefs)
    assert (labels[beliefs.rows] == beliefs.of_rows.argmax(axis=1)).all()
    assert (labels != y).sum() < (start != y).sum()


@given(st.integers(0, 10**6), st.sampled_from([0.05, 0.3, 1.5]))
@settings(deadline=None, max_examples=40)
def test_mending_ends_where_no_row_can_gain(seed: int, price: float) -> None:
    rng = np.random.RandomState(seed)
    constraints = Constraints.sample(rng.randint(0, 3, 20), 16, noise=0.2, random_state=seed)
    links = link_set(constraints, 20)
    graph = LinkGraph.of(links, 2.0)
    distance = rng.uniform(0, 2, (len(graph.rows), 3))
    pairs = np.searchsorted(graph.rows, links.pairs)

    def cost(labels: np.ndarray) -> float:
        broken = (labels[pairs[:, 0]] == labels[pairs[:, 1]]) != links.is_must
        return float(distance[np.arange(len(labels)), labels].sum() + price * 2.0 * links.weight[broken].sum())

    start = rng.randint(0, 3, len(graph.rows))
    mended = graph.mend(start, distance, price)
    assert cost(mended) <= cost(start) + 1e-9
    for i in range(len(mended)):
        for cluster in range(3):
            other = mended.copy()
            other[i] = cluster
            assert cost(other) >= cost(mended) - 1e-9


def test_links_that_seem_right_are_mended() -> None:
    """Three rows alike, two must-links and a cannot-link among them: the cannot-link is what is broken."""
    codes = np.repeat([[0, 0], [1, 1]], 15, axis=0)
    kernel = CoAssociation(codes, [0.5, 0.5])
    links = Constraints([(0, 3), (3, 6)], [(0, 6)])
    labels, _ = settle_links(CodeTable.of(kernel), codes[:, 0].astype(np.int64), link_set(links, 30), Stakes(0.5, 3.9))
    assert links.satisfied(labels).tolist() == [True, True, False]
