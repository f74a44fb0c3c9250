"""Iterated conditional modes: no move improves the result, and both forms of the penalties agree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mustlink import Constraints
from mustlink.inference import LinkModel, iterated_conditional_modes
from reference.random_links import Case, cases

SETTINGS = settings(deadline=None, max_examples=60)


def energy(model: LinkModel, labels: np.ndarray) -> float:
    """Return minus the log-probability of a labeling, link by link."""
    total = -sum(model.log_potentials[i, c] for i, c in enumerate(labels))
    for (i, j), sign, cost in zip(model.graph.pairs, model.graph.sign, model.penalty, strict=True):
        a, b = labels[i], labels[j]
        if (a == b) != (sign > 0):
            total += cost if np.ndim(cost) == 0 else 0.5 * (cost[a] + cost[b])
    return float(total)


def random_model(case: Case, k: int, is_wide: bool, seed: int) -> tuple[LinkModel, Constraints, np.random.RandomState]:
    rng = np.random.RandomState(seed)
    links = Constraints(case.must_link, case.cannot_link)
    penalty = rng.exponential(size=(len(links), k) if is_wide else len(links))
    evidence = rng.normal(size=(case.n_samples, k))
    return LinkModel(evidence, links.adjacency(case.n_samples), penalty), links, rng


@given(case=cases(max_samples=9, min_samples=3), k=st.integers(1, 3), is_wide=st.booleans(), seed=st.integers(0, 99))
@SETTINGS
def test_no_move_of_a_row_or_of_a_component_lowers_the_energy(case: Case, k: int, is_wide: bool, seed: int) -> None:
    model, links, rng = random_model(case, k, is_wide, seed)
    groups = links.closure(case.n_samples).groups()
    component = links.components(case.n_samples)
    for start in (None, rng.randint(k, size=case.n_samples)):
        labels = iterated_conditional_modes(model, groups, start)
        assert set(labels) <= set(range(k))
        value = energy(model, labels)
        if start is not None:
            assert value <= energy(model, start) + 1e-12
        moves = [*np.eye(case.n_samples, dtype=bool), *(component == c for c in np.unique(component))]
        for rows in moves:
            for c in range(k):
                assert energy(model, np.where(rows, c, labels)) >= value - 1e-9


@given(case=cases(max_samples=12, min_samples=3), k=st.integers(2, 4), seed=st.integers(0, 99))
@SETTINGS
def test_equal_penalties_in_all_clusters_are_one_penalty(case: Case, k: int, seed: int) -> None:
    narrow, links, _ = random_model(case, k, False, seed)
    wide = LinkModel(narrow.log_potentials, narrow.graph, np.repeat(narrow.penalty[:, None], k, axis=1))
    groups = links.closure(case.n_samples).groups()
    expected = iterated_conditional_modes(narrow, groups)
    np.testing.assert_array_equal(iterated_conditional_modes(wide, groups), expected)


@given(case=cases(max_samples=9, min_samples=3), k=st.integers(2, 3), seed=st.integers(0, 99))
@SETTINGS
def test_without_components_no_move_of_a_row_lowers_the_energy(case: Case, k: int, seed: int) -> None:
    model, _, rng = random_model(case, k, False, seed)
    start, order = rng.randint(k, size=case.n_samples), rng.permutation(case.n_samples)
    labels = iterated_conditional_modes(model, labels=start, order=order)
    value = energy(model, labels)
    assert value <= energy(model, start) + 1e-12
    for row in np.eye(case.n_samples, dtype=bool):
        for c in range(k):
            assert energy(model, np.where(row, c, labels)) >= value - 1e-9


def test_a_component_leaves_a_cluster_as_a_whole() -> None:
    # Moved alone, either row would break the heavy must-link.
    links = Constraints(must_link=[(0, 1)], cannot_link=[(1, 2)])
    model = LinkModel(np.array([[0.0, -1.0], [0.0, -1.0], [0.0, -9.0]]), links.adjacency(3), np.array([100.0, 5.0]))
    start = np.zeros(3, dtype=np.intp)
    assert iterated_conditional_modes(model, links.closure(3).groups(), start).tolist() == [1, 1, 0]
    assert start.tolist() == [0, 0, 0]


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_ties_do_not_cycle(scale: float) -> None:
    ring = [(i, (i + 1) % 5) for i in range(5)]
    links = Constraints(cannot_link=ring)
    model = LinkModel(np.zeros((5, 2)), links.adjacency(5), np.full(5, scale))
    labels = iterated_conditional_modes(model, links.closure(5).groups())
    assert (~links.satisfied(labels)).sum() == 1
