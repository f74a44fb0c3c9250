"""Belief propagation over links, compared with enumeration of all labelings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mustlink import Constraints
from mustlink.errors import InfeasibleError
from mustlink.inference import LinkModel, propagate_beliefs
from reference.link_models import enumerate_labelings


def model_of(links: Constraints, evidence: np.ndarray, penalty: float) -> tuple[np.ndarray, LinkModel]:
    """The linked rows and their model; the weights of links multiply the penalty."""
    rows, compact = links.compact()
    return rows, LinkModel(evidence[rows], compact.adjacency(len(rows)), penalty * compact.weight)


def random_forest(rng: np.random.RandomState, n: int) -> Constraints:
    """Links without cycles, with weights: every row but the first of a tree is linked to an earlier one."""
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


@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(2, 3), st.sampled_from([1.0, 4.0, 10.0]))
@settings(deadline=None, max_examples=60)
def test_on_a_forest_marginals_are_exact(seed: int, n: int, n_clusters: int, scale: float) -> None:
    rng = np.random.RandomState(seed)
    links = random_forest(rng, n)
    rows, model = model_of(links, -rng.uniform(0, scale, (n, n_clusters)), 1.4)
    found = propagate_beliefs(model)
    of_rows, of_links, _ = enumerate_labelings(model)
    assert len(rows) == len(found.rows)
    np.testing.assert_allclose(found.rows, of_rows, atol=2e-3)
    np.testing.assert_allclose(found.links, of_links, atol=2e-3)
    np.testing.assert_allclose(found.rows.sum(axis=1), 1)


@pytest.mark.parametrize("n_links", [8, 16, 18, 200])
def test_many_links_that_contradict_each_other_cancel_out(n_links: int) -> None:
    """The product of the messages of either half is zero in double precision."""
    links = Constraints(must_link=[(0, i) for i in range(1, n_links + 1)])
    evidence = np.full((n_links + 1, 2), -1000.0)
    evidence[1::2, 0] = evidence[2::2, 1] = evidence[0, 0] = 0.0
    evidence[0, 1] = -1.0
    _, model = model_of(links, evidence, 30.0)
    np.testing.assert_allclose(propagate_beliefs(model).rows[0], np.exp([0, -1]) / np.exp([0, -1]).sum())


@given(st.integers(0, 10**6))
@settings(deadline=None, max_examples=30)
def test_a_start_from_a_similar_model_gives_the_same_marginals(seed: int) -> None:
    rng = np.random.RandomState(seed)
    links, evidence = random_forest(rng, 6), -rng.uniform(0, 4, (6, 3))
    _, model = model_of(links, evidence, 1.4)
    _, similar = model_of(links, evidence + rng.normal(scale=0.1, size=evidence.shape), 1.4)
    found, expected = propagate_beliefs(model, start=propagate_beliefs(similar)), propagate_beliefs(model)
    np.testing.assert_allclose(found.rows, expected.rows, atol=1e-3)
    np.testing.assert_allclose(found.links, expected.links, atol=1e-3)
    # From its own result hardly anything is left to do.
    again = propagate_beliefs(model, max_iter=1, start=expected)
    np.testing.assert_allclose(again.rows, expected.rows, atol=1e-3)


@given(st.integers(0, 10**6))
@settings(deadline=None, max_examples=30)
def test_with_cycles_marginals_are_near(seed: int) -> None:
    """Six rows with eight links: the mean error is small, and nothing is out of range."""
    rng = np.random.RandomState(seed)
    y = np.arange(6) % 2
    links = Constraints.sample(y, 8, noise=0.2, random_state=seed)
    distance = np.abs(y[:, None] - np.arange(2)) + rng.uniform(-0.5, 0.5, (6, 2))
    _, model = model_of(links, -distance / 0.5, 1.4)
    found = propagate_beliefs(model)
    of_rows, _, _ = enumerate_labelings(model)
    assert np.abs(found.rows - of_rows).mean() < 0.15
    assert ((found.links >= 0) & (found.links <= 1)).all()


@given(st.integers(0, 10**6))
@settings(deadline=None, max_examples=50)
def test_damping_changes_the_way_and_not_the_result(seed: int) -> None:
    rng = np.random.RandomState(seed)
    pairs = np.unique(np.sort([rng.choice(30, 2, replace=False) for _ in range(40)], axis=1), axis=0)
    is_must = rng.uniform(size=len(pairs)) < 0.5
    _, model = model_of(Constraints(pairs[is_must], pairs[~is_must]), -rng.uniform(0, 4, (30, 3)), 1.0)
    results = [propagate_beliefs(model, damping=damping, max_iter=100) for damping in (0.0, 0.3, 0.8)]
    for found in results[1:]:
        np.testing.assert_allclose(found.rows, results[0].rows, atol=5e-3)
        np.testing.assert_allclose(found.links, results[0].links, atol=5e-3)


def test_messages_around_contradicting_links_settle() -> None:
    # An odd cycle of cannot-links with two clusters cannot be satisfied.
    cycle = [(i, (i + 1) % 5) for i in range(5)]
    _, model = model_of(Constraints(None, cycle), np.zeros((5, 2)), 6.0)
    start = propagate_beliefs(replace(model, log_potentials=np.linspace(0, 1, 10).reshape(5, 2)))
    found = propagate_beliefs(model, start=start)
    np.testing.assert_allclose(found.rows, 0.5, atol=0.005)
    # Without damping they still swing after thirty sweeps.
    assert np.abs(propagate_beliefs(model, start=start, damping=0).rows - 0.5).max() > 0.015


def test_messages_are_damped_from_the_eleventh_sweep_on() -> None:
    pairs = [(i, j) for i in range(8) for j in range(i)]
    _, model = model_of(Constraints(pairs[::2], pairs[1::2]), -np.random.RandomState(0).uniform(0, 4, (8, 3)), 3.0)
    for max_iter, is_equal in ((10, True), (11, False)):
        found = [propagate_beliefs(model, damping=damping, max_iter=max_iter, tol=0).rows for damping in (0.0, 0.9)]
        assert np.array_equal(*found) == is_equal


def test_very_large_penalties_and_empty_clusters_give_no_nan() -> None:
    links = Constraints([(0, 1), (1, 2)], [(2, 3)], must_link_weight=[1e6, 1e-6], cannot_link_weight=[1e6])
    distance = np.array([[0.0, 2.0, np.inf]] * 3 + [[0.1, 0.0, np.inf]])
    found = propagate_beliefs(model_of(links, -distance / 1e-3, 4.0)[1])
    assert np.isfinite(found.rows).all()
    assert np.isfinite(found.links).all()
    assert (found.rows[:, 2] == 0).all()
    assert found.rows.argmax(axis=1).tolist() == [0, 0, 0, 1]


def test_a_wrong_link_is_outvoted_by_the_links_around_it() -> None:
    """Two groups with many links inside and between them and almost no evidence; one must-link joins the groups."""
    y = np.repeat([0, 1], 8)
    right = Constraints.sample(y, 60, random_state=0)
    wrong = next((i, j) for i in range(8) for j in range(8, 16) if [i, j] not in right.cannot_link.tolist())
    links = Constraints(np.vstack([right.must_link, wrong]), right.cannot_link)
    distance = np.zeros((16, 2))
    distance[0] = [0.0, 0.2]
    found = propagate_beliefs(model_of(links, -distance / 0.5, 1.4)[1])
    is_wrong = (links.pairs == wrong).all(axis=1)
    assert found.links[is_wrong] < 0.1
    assert found.links[~is_wrong].min() > 0.6
    assert (found.rows.argmax(axis=1) == y).all()


def test_one_penalty_for_each_link_is_needed() -> None:
    graph = Constraints([(0, 1)]).adjacency(2)
    with pytest.raises(ValueError, match=r"one penalty for each link; got an array of shape \(1, 2\)"):
        propagate_beliefs(LinkModel(np.zeros((2, 2)), graph, np.ones((1, 2))))


def test_infinite_penalties_and_rows_without_a_cluster_are_refused() -> None:
    graph = Constraints([(0, 1)]).adjacency(2)
    with pytest.raises(ValueError, match="takes finite penalties, but some are infinite"):
        propagate_beliefs(LinkModel(np.zeros((2, 2)), graph, np.array([np.inf])))
    excluded = np.array([[0.0, 1.0], [-np.inf, -np.inf]])
    with pytest.raises(InfeasibleError, match="exclude every cluster of row 1"):
        propagate_beliefs(LinkModel(excluded, graph, np.ones(1)))
