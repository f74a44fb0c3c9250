"""Mean field over links, compared with its formulas and with enumeration of all labelings."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp, softmax

from mustlink import Constraints
from mustlink.inference import LinkModel, mean_field
from reference.mean_field import (
    bound,
    couplings,
    free_energy,
    update_all_at_once,
    update_row,
    update_row_by_ordered_pairs,
)

seeds = st.integers(0, 10**6)


def random_model(rng: np.random.RandomState, n_rows: int, n_clusters: int, strength: float = 2.0) -> LinkModel:
    """Evidence, and links between a random half of all pairs, of either kind, with random penalties."""
    pairs = np.array([pair for pair in itertools.combinations(range(n_rows), 2) if rng.uniform() < 0.5]).reshape(-1, 2)
    is_must = rng.uniform(size=len(pairs)) < 0.5
    graph = Constraints(pairs[is_must], pairs[~is_must]).adjacency(n_rows)
    return LinkModel(rng.normal(size=(n_rows, n_clusters)), graph, rng.uniform(0, strength, len(pairs)))


def rho_of(model: LinkModel) -> np.ndarray:
    return couplings(len(model.log_potentials), model.graph.pairs, model.graph.sign > 0, model.penalty)


def enumerated_log_normalizer(model: LinkModel) -> float:
    """log sum_z exp(evidence of z - penalties of the links that z breaks)."""
    n_rows, n_clusters = model.log_potentials.shape
    labels = np.array(list(itertools.product(range(n_clusters), repeat=n_rows)))
    a, b = model.graph.pairs.T
    broken = (labels[:, a] == labels[:, b]) != (model.graph.sign > 0)
    cost = np.where(broken, model.penalty, 0).sum(axis=1)
    return float(logsumexp(model.log_potentials[np.arange(n_rows), labels].sum(axis=1) - cost))


@given(seeds, st.integers(1, 7), st.integers(1, 3), st.booleans())
@settings(max_examples=60)
def test_the_result_is_a_fixed_point_with_the_bound_of_the_formulas(
    seed: int, n_rows: int, n_clusters: int, by_colors: bool
) -> None:
    model = random_model(np.random.RandomState(seed), n_rows, n_clusters)
    found = mean_field(model, tol=1e-10, max_iter=100_000, by_colors=by_colors)
    h, rho = -model.log_potentials, rho_of(model)
    updated = [update_row(i, found.rows, h, rho) for i in range(n_rows)]
    np.testing.assert_allclose(found.rows, updated, atol=1e-8)
    assert found.log_normalizer == pytest.approx(bound(found.rows, h, rho))
    same = (found.rows[model.graph.pairs[:, 0]] * found.rows[model.graph.pairs[:, 1]]).sum(axis=1)
    np.testing.assert_allclose(found.links, np.where(model.graph.sign > 0, same, 1 - same))


@given(seeds)
@settings(max_examples=10)
def test_the_gradient_of_the_free_energy_vanishes_on_the_simplex(seed: int) -> None:
    """Finite differences along the moves of mass from the last cluster to each other one."""
    model = random_model(np.random.RandomState(seed), 6, 3)
    q = mean_field(model, tol=1e-12, max_iter=100_000).rows
    h, rho, step = -model.log_potentials, rho_of(model), 1e-6

    def slope(i: int, k: int, at: np.ndarray) -> float:
        move = np.zeros_like(at)
        move[i, k], move[i, -1] = step * at[i, -1], -step * at[i, -1]
        return float(free_energy(at + move, h, rho) - free_energy(at - move, h, rho)) / step

    assert max(abs(slope(i, k, q)) for i in range(6) for k in range(2)) < 1e-7
    elsewhere = softmax(model.log_potentials + 1.0 * np.eye(3)[[0, 1, 2, 0, 1, 2]], axis=1)
    assert max(abs(slope(i, k, elsewhere)) for i in range(6) for k in range(2)) > 1e-3


@given(seeds)
@settings(max_examples=10)
def test_the_weight_of_ordered_pairs_is_half_a_penalty(seed: int) -> None:
    """Chapter 4 (4.12) with 2w = rho."""
    model = random_model(np.random.RandomState(seed), 5, 3)
    q = mean_field(model, tol=1e-12, max_iter=100_000).rows
    density, w = np.exp(model.log_potentials), rho_of(model) / 2
    np.testing.assert_allclose(q, [update_row_by_ordered_pairs(i, q, density, w) for i in range(5)], atol=1e-9)


@given(seeds, st.integers(1, 7), st.integers(1, 3), st.booleans(), st.integers(1, 50))
@settings(max_examples=60)
def test_the_bound_never_exceeds_the_log_normalizer(
    seed: int, n_rows: int, n_clusters: int, by_colors: bool, max_iter: int
) -> None:
    model = random_model(np.random.RandomState(seed), n_rows, n_clusters, strength=5.0)
    found = mean_field(model, by_colors=by_colors, max_iter=max_iter)
    assert found.log_normalizer is not None
    assert found.log_normalizer <= enumerated_log_normalizer(model) + 1e-12


@given(seeds, st.integers(1, 6), st.integers(1, 3))
@settings(max_examples=20)
def test_with_penalties_of_zero_the_result_is_exact(seed: int, n_rows: int, n_clusters: int) -> None:
    model = random_model(np.random.RandomState(seed), n_rows, n_clusters, strength=0.0)
    found = mean_field(model)
    np.testing.assert_allclose(found.rows, softmax(model.log_potentials, axis=1))
    assert found.log_normalizer == pytest.approx(enumerated_log_normalizer(model))


@given(seeds, st.booleans())
@settings(max_examples=20)
def test_no_sweep_lowers_the_bound(seed: int, by_colors: bool) -> None:
    rng = np.random.RandomState(seed)
    model = random_model(rng, 12, 3, strength=6.0)
    rows, bounds = softmax(3 * rng.normal(size=(12, 3)), axis=1), []
    for _ in range(15):
        found = mean_field(model, start=rows, max_iter=1, by_colors=by_colors)
        rows = found.rows
        bounds.append(found.log_normalizer)
    assert (np.diff(bounds) >= -1e-10).all()


def test_updates_of_all_rows_at_once_cycle_on_a_cannot_link() -> None:
    """The reason why rows are updated one at a time: both ends avoid where the other one was."""
    graph = Constraints(cannot_link=[(0, 1)]).adjacency(2)
    model = LinkModel(np.array([[0.5, 0.0], [0.4, 0.0]]), graph, np.array([8.0]))
    h, rho = -model.log_potentials, rho_of(model)
    q = softmax(model.log_potentials, axis=1)
    history = []
    for _ in range(60):
        q = update_all_at_once(q, h, rho)
        history.append(q)
    assert np.abs(history[-1] - history[-2]).max() > 0.9
    np.testing.assert_allclose(history[-1], history[-3], atol=1e-6)
    assert mean_field(model).links[0] > 0.99
