"""Gibbs sampling over links, compared with a plain sampler and with enumeration of all labelings."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax

from mustlink import Constraints
from mustlink.inference import GibbsSampler, LinkModel
from mustlink.inference._gibbs_kernels import sample_labels
from reference.gibbs import neighbors_of, sample
from reference.link_models import enumerate_labelings, permute, planted_model, random_model

seeds = st.integers(0, 10**6)


@given(seeds, st.integers(1, 8), st.integers(1, 4))
@settings(max_examples=30)
def test_the_sampler_equals_a_plain_one_with_the_same_random_numbers(seed: int, n_rows: int, n_clusters: int) -> None:
    model = random_model(np.random.RandomState(seed), n_rows, n_clusters)
    sampler = GibbsSampler(n_chains=1, n_sweeps=20, n_burn_in=3, random_state=seed)
    sampler.marginals(model)
    assert sampler.labels is not None
    before = sampler.labels[0].tolist()
    found = sampler.marginals(model)
    rng = np.random.RandomState(seed)
    rng.uniform(size=(3 + 20, n_rows))
    graph = model.graph
    linked = neighbors_of(n_rows, graph.pairs.tolist(), graph.sign > 0, model.penalty.tolist())
    evidence = model.log_potentials.tolist()
    _, _, before = sample(before, evidence, linked, rng.uniform(size=(3, n_rows)))
    rows, together, after = sample(before, evidence, linked, rng.uniform(size=(20, n_rows)))
    np.testing.assert_allclose(found.rows, rows)
    of_links = np.array([together[i, j] for i, j in graph.pairs.tolist()])
    np.testing.assert_allclose(found.links, np.where(graph.sign > 0, of_links, 1 - of_links), atol=1e-12)
    assert sampler.labels[0].tolist() == after
    assert found.log_normalizer is None


@given(seeds, st.sampled_from([1e-3, 1.0, 1e3]), st.sampled_from([1.0, 1e2, 1e4]))
@settings(max_examples=20)
def test_probabilities_are_those_of_the_plain_sampler_for_numbers_of_any_size(
    seed: int, strength: float, scale: float
) -> None:
    """Penalties and evidence whose exponentials leave the range of numbers."""
    model = random_model(np.random.RandomState(seed), 12, 3, strength)
    model = LinkModel(scale * model.log_potentials, model.graph, model.penalty)
    sampler = GibbsSampler(n_chains=1, n_sweeps=1, n_burn_in=0, random_state=seed)
    sampler.marginals(model)
    assert sampler.labels is not None
    before = sampler.labels[0].tolist()
    graph = model.graph
    linked = neighbors_of(12, graph.pairs.tolist(), graph.sign > 0, model.penalty.tolist())
    rng = np.random.RandomState(seed)
    rng.uniform(size=(2, 12))
    rows, _, after = sample(before, model.log_potentials.tolist(), linked, rng.uniform(size=(1, 12)))
    np.testing.assert_allclose(sampler.marginals(model).rows, rows, atol=1e-12)
    assert sampler.labels[0].tolist() == after


@pytest.mark.parametrize("seed", range(6))
def test_marginals_are_those_of_enumeration(seed: int) -> None:
    """Within three standard errors, estimated from 30 independent chains."""
    rng = np.random.RandomState(seed)
    n_rows, n_clusters = rng.randint(2, 8), rng.randint(2, 4)
    model = random_model(rng, n_rows, n_clusters)
    samplers = [GibbsSampler(1, n_sweeps=3000, n_burn_in=100, random_state=chain) for chain in range(30)]
    found = [sampler.marginals(model) for sampler in samplers]
    estimates = np.array([np.append(one.rows[:, :-1].ravel(), one.links) for one in found])
    rows, links, _ = enumerate_labelings(model)
    error = estimates.std(axis=0, ddof=1) / np.sqrt(len(found))
    # A row without links has no error but rounding.
    distance = np.abs(estimates.mean(axis=0) - np.append(rows[:, :-1].ravel(), links)) / (error + 1e-9)
    assert error.max() < 0.005
    assert distance.max() < 3


def test_runs_are_repeated_bit_for_bit() -> None:
    model = random_model(np.random.RandomState(0), 20, 3)
    runs = []
    for seed in (5, 5, 6):
        sampler = GibbsSampler(n_chains=2, random_state=seed)
        runs.append([sampler.marginals(model) for _ in range(3)])
    for one, same, other in zip(*runs, strict=True):
        assert np.array_equal(one.rows, same.rows)
        assert np.array_equal(one.links, same.links)
        assert not np.array_equal(one.rows, other.rows)


def test_chains_continue_where_they_were() -> None:
    """Links so strong that a chain stays in the cluster that it starts in; evidence for another comes too late."""
    pairs = [(i, j) for j in range(20) for i in range(j)]
    graph = Constraints(must_link=pairs).adjacency(20)
    first = LinkModel(np.full((20, 2), [2.0, 0.0]), graph, np.ones(len(pairs)))
    against = LinkModel(np.full((20, 2), [0.0, 2.0]), graph, np.ones(len(pairs)))
    sampler = GibbsSampler(random_state=0)
    assert sampler.marginals(first).rows[:, 0].min() > 0.99
    assert sampler.marginals(against).rows[:, 0].min() > 0.99
    sampler.restart()
    assert sampler.marginals(against).rows[:, 0].max() < 0.01


def test_more_sweeps_than_are_drawn_at_a_time_are_the_same_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    model = random_model(np.random.RandomState(3), 10, 3)
    whole = GibbsSampler(random_state=0).marginals(model)
    monkeypatch.setattr("mustlink.inference._gibbs.MAX_DRAWN", 25)
    np.testing.assert_allclose(GibbsSampler(random_state=0).marginals(model).rows, whole.rows)


def test_rows_can_come_in_any_order() -> None:
    rng = np.random.RandomState(1)
    model = random_model(rng, 7, 3, strength=1.0)
    order = rng.permutation(7)
    permuted, number = permute(model, order)
    one, other = (GibbsSampler(n_sweeps=20_000, random_state=0).marginals(m) for m in (model, permuted))
    np.testing.assert_allclose(other.rows, one.rows[order], atol=0.01)
    np.testing.assert_allclose(other.links[number], one.links, atol=0.01)


def test_rows_without_links_keep_their_evidence() -> None:
    """Also if there are no links at all, one cluster only, or no rows; no draw changes their probabilities."""
    evidence = np.array([[0.0, 1.0], [2.0, 0.0], [0.5, 0.0]])
    graph = Constraints(cannot_link=[(0, 1)]).adjacency(3)
    found = GibbsSampler(random_state=0).marginals(LinkModel(evidence, graph, np.ones(1)))
    np.testing.assert_allclose(found.rows[2], softmax(evidence, axis=1)[2])
    none = GibbsSampler(random_state=0).marginals(LinkModel(evidence, Constraints().adjacency(3), np.empty(0)))
    np.testing.assert_allclose(none.rows, softmax(evidence, axis=1))
    single = GibbsSampler(random_state=0).marginals(LinkModel(evidence[:, :1], graph, np.array([4.0])))
    np.testing.assert_allclose(single.rows, np.ones((3, 1)))
    np.testing.assert_allclose(single.links, [0.0], atol=1e-12)
    empty = GibbsSampler().marginals(LinkModel(np.empty((0, 2)), Constraints().adjacency(0), np.empty(0)))
    assert empty.rows.shape == (0, 2)


def test_clusters_that_the_evidence_excludes_are_never_drawn() -> None:
    model = random_model(np.random.RandomState(0), 10, 3)
    evidence = model.log_potentials.copy()
    evidence[::2, 2] = -np.inf
    evidence[1::2, 0] = -np.inf
    sampler = GibbsSampler(random_state=0)
    found = sampler.marginals(LinkModel(evidence, model.graph, model.penalty))
    assert (found.rows[np.isinf(evidence)] == 0).all()
    assert sampler.labels is not None
    assert np.isfinite(evidence[np.arange(10), sampler.labels]).all()


@pytest.mark.parametrize("uniform", [0.0, np.nextafter(1.0, 0.0)])
def test_the_smallest_and_the_largest_number_draw_clusters_with_a_share(uniform: float) -> None:
    """The first and the last cluster are excluded by the evidence."""
    rng = np.random.RandomState(0)
    evidence = np.column_stack([np.full(1000, -np.inf), rng.normal(size=(1000, 3)), np.full(1000, -np.inf)])
    none = np.empty(0, dtype=np.int64)
    links = (np.zeros(1001, dtype=np.int64), none, none, np.empty(0), np.empty(0), np.zeros(1000, dtype=bool))
    labels = np.zeros(1000, dtype=np.intp)
    potentials = evidence, np.exp(evidence)
    sample_labels(potentials, links, np.full((1, 1000), uniform), labels, False, np.empty((0, 0)), np.empty(0))
    assert set(labels.tolist()) == {1 if uniform == 0 else 3}


def test_without_a_burn_in_a_first_sweep_starts_the_chains() -> None:
    graph = Constraints(must_link=[(0, 1)]).adjacency(2)
    model = LinkModel(np.array([[20.0, 0.0], [20.0, 0.0]]), graph, np.array([1.0]))
    found = GibbsSampler(n_chains=1, n_sweeps=1, n_burn_in=0, random_state=0).marginals(model)
    assert found.links[0] > 0.99


@pytest.mark.parametrize("name", ["n_chains", "n_sweeps", "n_burn_in"])
def test_numbers_that_are_too_small_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} must be at least"):
        GibbsSampler(**{name: -1})  # type: ignore[arg-type]


def test_chains_do_not_continue_on_another_set_of_rows() -> None:
    sampler = GibbsSampler(random_state=0)
    sampler.marginals(random_model(np.random.RandomState(0), 5, 3))
    with pytest.raises(ValueError, match=r"The chains have 5 rows .* cannot continue on 6 rows with 3 clusters"):
        sampler.marginals(random_model(np.random.RandomState(0), 6, 3))


def test_one_penalty_for_each_link_is_needed() -> None:
    graph = Constraints([(0, 1)]).adjacency(2)
    with pytest.raises(ValueError, match=r"one penalty for each link; got an array of shape \(1, 2\)"):
        GibbsSampler().marginals(LinkModel(np.zeros((2, 2)), graph, np.ones((1, 2))))


@given(seeds, st.integers(2, 10), st.integers(2, 4), st.sampled_from([0.0, 1.0, 1e10]))
@settings(max_examples=40)
def test_hard_links_are_not_broken(seed: int, n_rows: int, n_clusters: int, scale: float) -> None:
    model = planted_model(np.random.RandomState(seed), n_rows, n_clusters, scale)
    found = GibbsSampler(n_chains=2, n_sweeps=10, random_state=0).marginals(model)
    np.testing.assert_allclose(found.links[np.isinf(model.penalty)], 1)


def test_hard_cannot_links_with_clusters_to_spare_are_sampled_exactly() -> None:
    """A cycle of four with four clusters: single moves reach every labeling that keeps the links."""
    graph = Constraints(cannot_link=[(0, 1), (1, 2), (2, 3), (0, 3)]).adjacency(4)
    evidence = np.random.RandomState(0).normal(size=(4, 4))
    model = LinkModel(evidence, graph, np.full(4, np.inf))
    found = GibbsSampler(n_sweeps=20_000, random_state=0).marginals(model)
    np.testing.assert_allclose(found.rows, enumerate_labelings(model)[0], atol=0.01)
