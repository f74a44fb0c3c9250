"""The methods of chapter 12 on a small graph of citations in the place of Cora, and its random graphs."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

from mustlink.constraints import Constraints
from mustlink.reproduce.engine._problem import Problem
from mustlink.reproduce.papers import ch12


@pytest.fixture
def citations(monkeypatch):
    """Two topics of 20 papers, a chain through both, and two papers apart, which cite each other."""
    edges = np.array([[row, row + 1] for row in range(39)] + [[40, 41]])
    monkeypatch.setattr(ch12, "load", lambda name: SimpleNamespace(data=edges))
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 21)[np.r_[:20, 21:41, 0, 21]]
    words = (rng.random((42, 30)) < np.where(np.arange(30)[None] // 15 == y[:, None], 0.5, 0.1)).astype(float)
    return Problem(ch12.number_nodes(words), y, Constraints(), 2, 0, seed=0)


@pytest.mark.parametrize("method", ch12.OF_TOPICS)
def test_methods_cluster_the_largest_part_and_count_majorities(citations, method):
    found = ch12.OF_TOPICS[method](citations)
    labels = found.labels
    assert found.facts["n_kept"] == 40
    assert labels[40:].tolist() == [-1, -1]
    correct = sum(np.bincount(citations.y[:40][labels[:40] == label]).max() for label in np.unique(labels[:40]))
    assert found.facts["accuracy"] == pytest.approx(100 * correct / 40)
    assert sum(found.facts["correct"]) == correct
    if method not in (ch12.K_MEANS, ch12.BEST_K_MEANS):
        assert np.count_nonzero(np.diff(labels[:40])) == 1, "two connected pieces of a chain"


@pytest.mark.parametrize("kind", ch12.KINDS)
def test_random_graphs_are_connected_symmetric_and_the_same_for_all_methods(kind):
    problem = Problem(np.zeros((150, 1)), np.zeros(150, int), Constraints(), 4, 0, seed=3, amount=kind, shared_seed=5)
    X, graph = ch12.random_nodes(problem)
    assert X.shape == (150, 2)
    assert connected_components(graph)[0] == 1
    assert (graph != graph.T).nnz == 0
    again = ch12.random_nodes(problem)[1]
    assert (graph != again).nnz == 0
