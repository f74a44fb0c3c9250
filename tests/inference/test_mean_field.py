"""Mean field over links, compared with its formulas and with enumeration of all labelings."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax

from mustlink import Constraints
from mustlink.errors import InfeasibleError
from mustlink.inference import LinkModel, mean_field
from reference.link_models import enumerate_labelings, permute, planted_model, random_model
from reference.mean_field import (
    bound,
    couplings,
    free_energy,
    update_all_at_once,
    update_row,
    update_row_by_ordered_pairs,
)

seeds = st.integers(0, 10**6)


def rho_of(model: LinkModel) -> np.ndarray:
    return couplings(len(model.log_potentials), model.graph.pairs, model.graph.sign > 0, model.penalty)


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
    assert found.log_normalizer <= enumerate_labelings(model)[2] + 1e-12


@given(seeds, st.integers(1, 6), st.integers(1, 3))
@settings(max_examples=20)
def test_with_penalties_of_zero_the_result_is_exact(seed: int, n_rows: int, n_clusters: int) -> None:
    model = random_model(np.random.RandomState(seed), n_rows, n_clusters, strength=0.0)
    found = mean_field(model)
    np.testing.assert_allclose(found.rows, softmax(model.log_potentials, axis=1))
    assert found.log_normalizer == pytest.approx(enumerate_labelings(model)[2])


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


@given(seeds, st.booleans())
@settings(max_examples=20)
def test_weakly_linked_rows_can_come_in_any_order(seed: int, by_colors: bool) -> None:
    """With weak links there is one fixed point, and it belongs to the rows whatever their numbers are."""
    rng = np.random.RandomState(seed)
    model = random_model(rng, 7, 3, strength=0.5)
    order = rng.permutation(7)
    permuted, number = permute(model, order)
    one, other = (mean_field(m, tol=1e-10, by_colors=by_colors) for m in (model, permuted))
    np.testing.assert_allclose(other.rows, one.rows[order], atol=1e-8)
    np.testing.assert_allclose(other.links[number], one.links, atol=1e-8)
    assert other.log_normalizer == pytest.approx(one.log_normalizer)


def test_rows_without_links_keep_their_evidence() -> None:
    """Also if there are no links at all, one cluster only, or no rows."""
    evidence = np.array([[0.0, 1.0], [2.0, 0.0], [0.5, 0.0]])
    graph = Constraints(cannot_link=[(0, 1)]).adjacency(3)
    np.testing.assert_allclose(mean_field(LinkModel(evidence, graph, np.ones(1))).rows[2], softmax(evidence, axis=1)[2])
    none = mean_field(LinkModel(evidence, Constraints().adjacency(3), np.empty(0)))
    np.testing.assert_allclose(none.rows, softmax(evidence, axis=1))
    assert none.links.shape == (0,)
    single = mean_field(LinkModel(evidence[:, :1], graph, np.array([4.0])))
    assert single.rows.tolist() == [[1.0]] * 3
    assert single.log_normalizer == pytest.approx(evidence[:, 0].sum() - 4)
    empty = mean_field(LinkModel(np.empty((0, 2)), Constraints().adjacency(0), np.empty(0)))
    assert empty.rows.shape == (0, 2)
    assert empty.log_normalizer == 0


def test_a_result_is_a_start() -> None:
    """Two rows without evidence stay in the cluster that they start in; a start that fits is not written."""
    model = LinkModel(np.zeros((2, 2)), Constraints(must_link=[(0, 1)]).adjacency(2), np.array([5.0]))
    start = np.array([[0.1, 0.9], [0.2, 0.8]])
    found = mean_field(model, start=start)
    assert found.rows[:, 1].min() > 0.95
    assert start.tolist() == [[0.1, 0.9], [0.2, 0.8]]
    again = mean_field(model, start=found.rows, max_iter=1)
    np.testing.assert_allclose(again.rows, found.rows, atol=1e-4)


@pytest.mark.parametrize(
    ("start", "problem"),
    [
        (np.ones((3, 2)) / 2, r"start must have the shape \(2, 2\); got \(3, 2\)"),
        (np.ones((2, 2)), "start must hold probabilities"),
        (np.array([[1.5, -0.5], [0.5, 0.5]]), "start must hold probabilities"),
        (np.full((2, 2), np.nan), "start must hold probabilities"),
    ],
)
def test_a_start_that_does_not_fit_is_refused(start: np.ndarray, problem: str) -> None:
    model = LinkModel(np.zeros((2, 2)), Constraints(must_link=[(0, 1)]).adjacency(2), np.array([5.0]))
    with pytest.raises(ValueError, match=problem):
        mean_field(model, start=start)


def test_one_penalty_for_each_link_is_needed() -> None:
    graph = Constraints([(0, 1)]).adjacency(2)
    with pytest.raises(ValueError, match=r"one penalty for each link; got an array of shape \(1, 2\)"):
        mean_field(LinkModel(np.zeros((2, 2)), graph, np.ones((1, 2))))


@given(seeds, st.integers(2, 7), st.integers(2, 3), st.sampled_from([0.0, 1.0, 1e10]), st.booleans())
@settings(max_examples=60)
def test_hard_links_are_not_broken(seed: int, n_rows: int, n_clusters: int, scale: float, starts: bool) -> None:
    """Without evidence, with little and with much, which would outweigh any fixed number in the place of infinity."""
    rng = np.random.RandomState(seed)
    model = planted_model(rng, n_rows, n_clusters, scale)
    start = softmax(rng.normal(size=(n_rows, n_clusters)), axis=1) if starts else None
    found = mean_field(model, start=start)
    assert (found.links[np.isinf(model.penalty)] > 1 - 1e-6).all()
    assert found.log_normalizer is not None
    assert found.log_normalizer <= enumerate_labelings(model)[2] + 1e-6 * (1 + scale)
    np.testing.assert_allclose(found.rows.sum(axis=1), 1)


def tight_model(seed: int) -> tuple[np.ndarray, LinkModel]:
    """So many hard cannot-links for three clusters that sweeps alone often end with broken ones; evidence for y."""
    rng = np.random.RandomState(seed)
    y = rng.randint(3, size=100)
    pairs = rng.randint(100, size=(400, 2))
    links = Constraints(cannot_link=pairs[y[pairs[:, 0]] != y[pairs[:, 1]]])
    evidence = 5 * (rng.normal(size=(100, 3)) + 0.5 * np.eye(3)[y])
    return y, LinkModel(evidence, links.adjacency(100), np.full(len(links), np.inf))


def test_new_starts_from_labels_that_keep_the_links_follow_the_evidence() -> None:
    right = []
    for seed in range(10):
        y, model = tight_model(seed)
        found = mean_field(model)
        assert found.links.min() > 1 - 1e-6
        right.append((found.rows.argmax(axis=1) == y).mean())
    assert np.mean(right) > 0.8


def test_penalties_of_hard_links_that_grow_give_a_better_bound() -> None:
    """With a start they have their full size at once."""
    models = [planted_model(np.random.RandomState(seed), 30, 6, 1.0) for seed in range(20)]
    growing = [mean_field(model).log_normalizer for model in models]
    at_once = [mean_field(model, start=softmax(model.log_potentials, axis=1)).log_normalizer for model in models]
    assert np.mean(growing) > np.mean(at_once) + 1


def test_hard_links_that_contradict_each_other_are_refused() -> None:
    graph = Constraints(cannot_link=[(0, 1), (1, 2), (0, 2)]).adjacency(3)
    with pytest.raises(InfeasibleError, match="Two clusters cannot satisfy a cycle of 3 cannot-links"):
        mean_field(LinkModel(np.zeros((3, 2)), graph, np.full(3, np.inf)))


def test_a_row_without_a_cluster_is_refused() -> None:
    evidence = np.array([[0.0, 1.0], [-np.inf, -np.inf]])
    with pytest.raises(InfeasibleError, match="exclude every cluster of row 1"):
        mean_field(LinkModel(evidence, Constraints(must_link=[(0, 1)]).adjacency(2), np.ones(1)))


def test_clusters_that_the_evidence_excludes_have_no_share() -> None:
    model = random_model(np.random.RandomState(0), 10, 3)
    evidence = model.log_potentials.copy()
    evidence[::2, 2] = -np.inf
    found = mean_field(LinkModel(evidence, model.graph, model.penalty))
    assert (found.rows[::2, 2] == 0).all()
    assert found.log_normalizer is not None
    assert np.isfinite(found.log_normalizer)


def test_a_grid_is_smoothed_evenly() -> None:
    """Weak evidence and strong links on 30 x 30 sites, four quadrants: nearly all sites end in their quadrant."""
    side = 30
    site = np.arange(side * side).reshape(side, side)
    pairs = np.vstack(
        [
            np.column_stack([site[:-1].ravel(), site[1:].ravel()]),
            np.column_stack([site[:, :-1].ravel(), site[:, 1:].ravel()]),
        ]
    )
    graph = Constraints(must_link=pairs).adjacency(side * side)
    y = (2 * (site // side >= side // 2) + (site % side >= side // 2)).ravel()
    evidence = 0.5 * (np.random.RandomState(0).normal(size=(side * side, 4)) + np.eye(4)[y])
    found = mean_field(LinkModel(evidence, graph, np.full(len(pairs), 2.0)))
    assert (evidence.argmax(axis=1) == y).mean() < 0.6
    assert (found.rows.argmax(axis=1) == y).mean() > 0.97
