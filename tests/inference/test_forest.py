"""Exact inference on a forest of cannot-links against enumeration."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax

from mustlink.inference import CannotLinkForest
from reference.marginals import enumerate_marginals


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 6), st.integers(2, 4), st.integers(0, 10_000), st.sampled_from([1.0, 20.0, 300.0]))
def test_marginals_on_a_forest_equal_enumeration(n_nodes, n_states, seed, spread):
    rng = np.random.RandomState(seed)
    parent = np.array([rng.randint(-1, node) if node else -1 for node in range(n_nodes)])
    belief = rng.standard_normal((n_nodes, n_states)) * spread
    belief -= belief.max(axis=1, keepdims=True)
    edges = [(node, parent[node]) for node in range(n_nodes) if parent[node] >= 0]
    expected = enumerate_marginals(belief, edges)
    found = CannotLinkForest(np.arange(n_nodes), parent).add_messages(belief)
    np.testing.assert_allclose(softmax(found, axis=1), expected, atol=1e-9)
    assert np.isfinite(found).all()


def test_the_heaviest_edges_without_a_cycle_are_chosen():
    edges = np.array([[0, 1], [0, 2], [1, 2], [4, 5]])
    forest = CannotLinkForest.heaviest(edges, np.array([1.0, 3.0, 2.0, 0.0]), 7)
    chosen = {tuple(sorted((int(node), int(forest.parent[node])))) for node in forest.order if forest.parent[node] >= 0}
    assert chosen == {(0, 2), (1, 2), (4, 5)}
    assert sorted(forest.order.tolist()) == [0, 1, 2, 4, 5]
    place = {node: number for number, node in enumerate(forest.order.tolist())}
    assert all(place[forest.parent[node]] < place[node] for node in place if forest.parent[node] >= 0)


def test_no_edges_or_one_state_leave_the_evidence_as_it_is():
    evidence = np.array([[0.0, -1.0], [-2.0, 0.0]])
    empty = CannotLinkForest.heaviest(np.empty((0, 2), dtype=np.intp), np.empty(0), 2)
    np.testing.assert_array_equal(empty.add_messages(evidence), evidence)
    pair = CannotLinkForest.heaviest(np.array([[0, 1]]), np.ones(1), 2)
    np.testing.assert_array_equal(pair.add_messages(evidence[:, :1]), evidence[:, :1])
