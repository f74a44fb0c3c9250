"""MeanFieldMixture: the checks of chapter 5, the choice of eta, labels, starts, dissimilarities, and bad input."""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp
from sklearn.datasets import make_blobs
from sklearn.metrics import euclidean_distances

from mustlink import Constraints
from mustlink.errors import InfeasibleError, TooLargeError
from mustlink.inference import LinkModel, mean_field
from mustlink.metrics import adjusted_rand, f_measure
from mustlink.mixture import MeanFieldMixture
from mustlink.mixture._base import EMSteps
from mustlink.mixture._mean_field._embedding import embed_dissimilarities
from mustlink.mixture._mean_field._held_out import PENALTIES, eta_candidates, select_weights
from mustlink.mixture._mean_field._linked_rows import ClampedRows, LinkedRows
from mustlink.mixture._mean_field._pairwise import pairwise_potentials, partition_cost
from mustlink.mixture._mean_field._starts import clamp_start
from mustlink.mixture._mean_field._steps import MeanFieldSteps
from reference import mean_field_mixture as slow
from reference.mean_field import couplings

LINKS = Constraints(must_link=[(0, 3), (3, 5)], cannot_link=[(1, 5), (2, 7)])


def penalty_matrix(links, n_samples, penalty):
    """The matrix rho of the chapter."""
    return couplings(n_samples, links.pairs, links.sign > 0, penalty * links.weight)


def plan(links, n_samples, n_clusters, *, penalty=2.0, is_exact=True, clamped=None):
    return LinkedRows.plan(
        links,
        n_samples,
        n_clusters,
        penalty=(penalty, penalty),
        is_exact=is_exact,
        max_table=1000,
        clamped=clamped,
    )


def small_problem(seed, n_samples=14, n_clusters=2):
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(n_samples, 2)) + 2 * rng.randint(2, size=(n_samples, 2))
    return X, rng.dirichlet(np.ones(n_clusters), size=n_samples)


def run(X, steps, start, **parameters):
    """One run of EM from the masses of a start."""
    model = MeanFieldMixture(start.shape[1], **{"reg_covar": 0.0, "tol": 0.0, "max_iter": 5} | parameters)
    return model._run(X, steps, start, lambda note: None)


def broken(path):
    """Whether a path that should fall rises somewhere."""
    return bool((np.diff(path) > 1e-9 * np.abs(path).max()).any())


# ---- the checks of the chapter -------------------------------------------------------------------------------------


@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
@pytest.mark.parametrize("is_exact", [True, False])
def test_without_penalties_it_is_plain_em(covariance_type, is_exact):
    X, y = make_blobs(80, centers=3, cluster_std=2.0, random_state=0)
    start = np.random.RandomState(0).dirichlet(np.ones(3), size=80)
    links = Constraints.sample(y, n_pairs=15, random_state=0)
    steps = MeanFieldSteps(plan(links, 80, 3, penalty=0.0, is_exact=is_exact), 1.0, "estimate")
    found, plain = (run(X, made, start, covariance_type=covariance_type) for made in (steps, EMSteps()))
    np.testing.assert_allclose(found.gaussians.means, plain.gaussians.means, rtol=1e-6)
    np.testing.assert_allclose(found.gaussians.covariances, plain.gaussians.covariances, rtol=1e-6)
    np.testing.assert_allclose(found.weights, plain.weights, rtol=1e-6)
    np.testing.assert_allclose(found.objective, plain.objective, rtol=1e-6)


@given(seed=st.integers(0, 10_000), eta=st.sampled_from([0.3, 1.0, 4.0]))
@settings(deadline=None, max_examples=15)
def test_free_energy_never_rises_in_the_formulas(seed, eta):
    X, start = small_problem(seed)
    rho = penalty_matrix(LINKS, len(X), 2.0)
    assert not broken(slow.em_path(X, start, rho, eta, 3)[0])


def test_free_energy_rises_if_the_entropy_of_linked_rows_is_not_weighted():
    rises = []
    for seed in range(5):
        X, start = small_problem(seed)
        rho = penalty_matrix(LINKS, len(X), 2.0)
        rises.append(broken(slow.em_path(X, start, rho, 4.0, 3, entropy_weight=1.0)[0]))
        assert not broken(slow.em_path(X, start, rho, 1.0, 3, entropy_weight=1.0)[0])
    assert any(rises)


@pytest.mark.parametrize("is_exact", [True, False])
@given(seed=st.integers(0, 10_000), eta=st.sampled_from([0.3, 1.0, 7.0]))
@settings(deadline=None, max_examples=15)
def test_objective_never_falls(is_exact, seed, eta):
    X, start = small_problem(seed, n_samples=20)
    steps = MeanFieldSteps(plan(LINKS, len(X), 2, is_exact=is_exact), eta, "uniform")
    made = run(X, steps, steps.masses(start), max_iter=15, reg_covar=1e-9)
    # Mean field stops when probabilities change by less than a tolerance, not at the fixed point.
    slack = 1e-9 if is_exact else 1e-4 * (1 + eta)
    assert (np.diff(made.objective) > -slack).all()


@pytest.mark.parametrize("eta", [0.5, 1.0, 3.0])
def test_e_step_is_the_fixed_point_of_the_formulas_and_its_free_energy(eta):
    X, start = small_problem(3)
    rho = penalty_matrix(LINKS, len(X), 1.0)
    steps = MeanFieldSteps(plan(LINKS, len(X), 2, penalty=1.0, is_exact=False), eta, "uniform")
    means, covariances = slow.weighted_m_step(X, start, np.ones(len(X)))
    log_density = slow.log_densities(X, means, covariances)
    found = steps.expect(log_density, np.full(2, 0.5), None)
    q, h = found.responsibilities, -log_density + np.log(2)
    for i in range(len(X)):
        np.testing.assert_allclose(q[i], slow.update_row(i, q, h, rho), atol=1e-4)
    # A broken must-link is the cost of a kept one plus its penalty: a constant.
    constant = eta * np.maximum(rho, 0).sum() / 2
    assert -found.objective == pytest.approx(slow.free_energy(q, h, rho, eta) + constant, abs=1e-6)
    # The gradient is zero on the simplex: moving a little mass changes nothing to first order.
    step = 1e-5
    for i in range(len(X)):
        moved = q.copy()
        moved[i] += np.array([step, -step])
        change = slow.free_energy(moved, h, rho, eta) - slow.free_energy(q, h, rho, eta)
        assert abs(change) / step < 2e-2


@given(seed=st.integers(0, 10_000), eta=st.integers(2, 4))
@settings(deadline=None, max_examples=10)
def test_integer_eta_is_replication_of_linked_rows(seed, eta):
    X, start = small_problem(seed)
    rows = LINKS.constrained_rows()
    copies = [np.arange(len(X))]
    must, cannot = [LINKS.must_link], [LINKS.cannot_link]
    for copy in range(1, eta):
        # The copy of each linked row is at a new place, and the links between copies are those between the rows.
        place = np.zeros(len(X), dtype=int)
        place[rows] = len(X) + (copy - 1) * len(rows) + np.arange(len(rows))
        copies.append(rows)
        must.append(place[LINKS.must_link])
        cannot.append(place[LINKS.cannot_link])
    taken = np.concatenate(copies)
    many = Constraints(np.concatenate(must), np.concatenate(cannot))
    weighted = MeanFieldSteps(plan(LINKS, len(X), 2), float(eta), "uniform")
    replicated = MeanFieldSteps(plan(many, len(taken), 2), 1.0, "uniform")
    one = run(X, weighted, weighted.masses(start), reg_covar=1e-9)
    other = run(X[taken], replicated, replicated.masses(start[taken]), reg_covar=1e-9)
    np.testing.assert_allclose(one.gaussians.means, other.gaussians.means, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(one.gaussians.covariances, other.gaussians.covariances, rtol=1e-6, atol=1e-9)
    assert one.objective[-1] * len(X) == pytest.approx(other.objective[-1] * len(taken))


@given(seed=st.integers(0, 10_000), penalty=st.sampled_from([0.0, 1.0, 20.0]))
@settings(deadline=None, max_examples=20)
def test_free_energy_bounds_the_log_probability_of_all_labelings(seed, penalty):
    rng = np.random.RandomState(seed)
    log_density, links = rng.normal(size=(7, 2)), Constraints(must_link=[(0, 1), (1, 2)], cannot_link=[(2, 3), (0, 3)])
    labelings = np.array(list(itertools.product(range(2), repeat=7)))
    prior = np.array([-penalty * np.count_nonzero(~links.satisfied(labels)) for labels in labelings])
    evidence = log_density[np.arange(7), labelings].sum(axis=1) - 7 * np.log(2)
    exact = logsumexp(prior + evidence)
    for is_exact in (True, False):
        steps = MeanFieldSteps(plan(links, 7, 2, penalty=penalty, is_exact=is_exact), 1.0, "uniform")
        found = steps.expect(log_density, np.full(2, 0.5), None).objective
        assert found <= exact + 1e-9
        if is_exact or penalty == 0:
            assert found == pytest.approx(exact)


def test_prior_maximizes_the_entropy_at_its_own_rates_of_broken_links():
    links = Constraints(must_link=[(0, 1)], cannot_link=[(1, 2), (2, 3)])
    labelings = np.array(list(itertools.product(range(2), repeat=4)))
    satisfied = np.array([links.satisfied(labels) for labels in labelings])
    n_broken = np.column_stack([(~satisfied[:, :1]).sum(axis=1), (~satisfied[:, 1:]).sum(axis=1)])
    prior = np.exp(-n_broken @ np.array([1.3, 0.6]))
    prior /= prior.sum()
    # The normalizer is that of the inference without data.
    inference = plan(links, 4, 2).inference
    assert inference is not None
    constant = logsumexp(-n_broken @ np.array([2.0, 2.0]))
    assert inference.marginals(np.zeros((4, 2))).log_normalizer == pytest.approx(constant)
    rng = np.random.RandomState(0)
    conditions = np.column_stack([np.ones(len(prior)), n_broken])
    for _ in range(20):
        change = rng.normal(size=len(prior))
        change -= conditions @ np.linalg.lstsq(conditions, change, rcond=None)[0]
        other = prior + 0.5 * prior.min() * change / np.abs(change).max()
        np.testing.assert_allclose(conditions.T @ other, conditions.T @ prior)
        assert (other * np.log(other)).sum() > (prior * np.log(prior)).sum()


@given(seed=st.integers(0, 10_000))
@settings(deadline=None, max_examples=30)
def test_dissimilarities_follow_the_formula_and_the_exact_change_of_the_cost(seed):
    rng = np.random.RandomState(seed)
    n, k = 7, 3
    D = rng.uniform(size=(n, n))
    D = D + D.T
    np.fill_diagonal(D, 0)
    q = rng.dirichlet(np.ones(k), size=n)
    expected = [[slow.pairwise_potential(D, q, i, c) for c in range(k)] for i in range(n)]
    np.testing.assert_allclose(pairwise_potentials(D, q), expected, atol=1e-9)
    labels = rng.randint(k, size=n)
    hard = np.eye(k)[labels]
    assert partition_cost(D, hard) == pytest.approx(slow.partition_cost(D, labels))
    found = pairwise_potentials(D, hard)
    for i in range(n):
        costs = [slow.partition_cost(D, [*labels[:i], c, *labels[i + 1 :]]) for c in range(k)]
        np.testing.assert_allclose(found[i] - found[i, 0], costs[0] - np.array(costs), atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_squared_distances_give_the_optimum_of_k_means(seed):
    X = np.random.RandomState(seed).normal(size=(8, 2))
    D = euclidean_distances(X, squared=True)
    model = MeanFieldMixture(2, metric="precomputed", random_state=0).fit(D)
    best = slow.best_partition(D, 2)
    assert slow.partition_cost(D, model.labels_) == pytest.approx(slow.partition_cost(D, best))
    inertia = sum(((X[np.array(best) == c] - X[np.array(best) == c].mean(axis=0)) ** 2).sum() for c in range(2))
    assert slow.partition_cost(D, best) == pytest.approx(inertia)


@given(seed=st.integers(0, 10_000), penalty=st.sampled_from([0.1, 1.0, 10.0]))
@settings(deadline=None, max_examples=20)
def test_zero_temperature_is_icm_of_pck_means(seed, penalty):
    rng = np.random.RandomState(seed)
    X, means, labels = rng.normal(size=(9, 2)), rng.normal(size=(3, 2)), rng.randint(3, size=9)
    rho = penalty_matrix(LINKS, 9, penalty)
    inverse_temperature = 1e5
    evidence = -0.5 * inverse_temperature * ((X[:, None] - means) ** 2).sum(axis=2)
    model = LinkModel(evidence, LINKS.adjacency(9), np.full(len(LINKS), inverse_temperature * penalty))
    found = mean_field(model, start=np.eye(3)[labels], max_iter=1, by_colors=False)
    assert found.rows.argmax(axis=1).tolist() == slow.icm_sweep(X, means, labels, rho)


# ---- the four clouds -----------------------------------------------------------------------------------------------


def tells_apart(X, links):
    """Whether links break in the split into upper and lower, which the data prefer."""
    return not links.violations((X[:, 1] > 0).astype(int)).is_empty


@pytest.mark.parametrize("n_links", [2, 10, 60])
@pytest.mark.parametrize("seed", [20, 21])
def test_few_links_turn_the_four_clouds(n_links, seed):
    X, y = slow.four_clouds(seed)
    links = next(
        links
        for draw in range(20)
        if tells_apart(X, links := Constraints.sample(y, n_pairs=n_links, balanced=False, random_state=draw))
    )
    model = MeanFieldMixture(2, random_state=0).fit(X, constraints=links)
    assert f_measure(y, model.labels_) >= 0.994
    assert f_measure((X[:, 1] > 0).astype(int), MeanFieldMixture(2, random_state=0).fit_predict(X)) >= 0.99


def test_wrong_links_do_not_turn_the_four_clouds():
    X, y = slow.four_clouds(22)
    links = Constraints.sample(y, n_pairs=100, noise=0.2, balanced=False, random_state=1)
    model = MeanFieldMixture(2, penalty=1000.0, eta=1.0, random_state=0).fit(X, constraints=links)
    assert f_measure(y, model.labels_) >= 0.994
    # Given the links, rows at wrong links are in the wrong cluster.
    assert f_measure(y, model.link_labels_) < 0.95
    assert model.n_differing_ == np.count_nonzero(model.labels_ != model.link_labels_) > 0


def test_linked_rows_alone_move_if_they_do_not_weigh_more():
    X, y = slow.four_clouds(23)
    links = Constraints(must_link=[(0, 60)])
    light = MeanFieldMixture(2, eta=0.01, random_state=0).fit(X, constraints=links)
    assert light.n_differing_ == 1
    assert len(light.violations_) == 1
    by_links = MeanFieldMixture(2, eta=0.01, labels="links", random_state=0).fit(X, constraints=links)
    assert len(by_links.violations_) == 0
    np.testing.assert_array_equal(by_links.labels_, light.link_labels_)
    chosen = MeanFieldMixture(2, random_state=0).fit(X, constraints=links)
    assert chosen.eta_ > 1
    assert f_measure(y, chosen.labels_) >= 0.99


def test_restart_with_the_lowest_free_energy_is_kept():
    X, y = slow.four_clouds(24)
    links = Constraints.sample(y, n_pairs=6, random_state=0)
    single = [
        MeanFieldMixture(2, eta=5.0, n_init=1, init_params=init, random_state=0).fit(X, constraints=links).free_energy_
        for init in ("kmeans", "links")
    ]
    best = MeanFieldMixture(2, eta=5.0, n_init=2, random_state=0).fit(X, constraints=links)
    assert best.free_energy_ <= min(single) + 1e-3 * abs(min(single))
    assert best.free_energy_ == pytest.approx(-len(X) * best.lower_bound_, rel=1e-4)


def test_annealing_finds_the_clusters():
    X, y = slow.four_clouds(25)
    links = Constraints.sample(y, n_pairs=60, random_state=0)
    model = MeanFieldMixture(2, eta=2.0, annealing_start=0.2, annealing_factor=1.5, n_init=1, random_state=0)
    assert f_measure(y, model.fit_predict(X, constraints=links)) >= 0.99


# ---- eta -----------------------------------------------------------------------------------------------------------


def labels_with(n_samples, n_wrong):
    """One cluster, with some first rows in another."""
    return (np.arange(n_samples) < n_wrong).astype(np.int64)


def select(links, n_samples, fit_labels, penalties=PENALTIES):
    etas = eta_candidates(links, n_samples)
    return select_weights(links, n_samples, penalties, etas, fit_labels, np.random.RandomState(0))


def test_smallest_eta_of_the_fewest_broken_links_is_chosen():
    links = Constraints(must_link=[(i, i + 500) for i in range(6)])
    tried = []

    def fit_labels(train, penalty, eta):
        assert train == links  # too few parts to hold any out
        tried.append((penalty, eta))
        return labels_with(1000, {1: 6, 2: 3, 5: 2}.get(int(eta), 2))

    assert select(links, 1000, fit_labels) == (1000, 5)
    assert tried == [(1000, eta) for eta in (1, 2, 5, 10, 20, 50, 100)]


def test_choice_stops_where_no_link_is_broken():
    links = Constraints(must_link=[(0, 500)])
    tried = []

    def fit_labels(train, penalty, eta):
        tried.append(eta)
        return labels_with(1000, int(eta < 10))

    assert select(links, 1000, fit_labels) == (1000, 10)
    assert tried == [1, 2, 5, 10]


def test_links_are_held_out_by_connected_parts():
    y = np.arange(200) % 3
    links = Constraints.sample(y, n_pairs=60, random_state=0)
    part = Constraints(must_link=links.pairs).components(200)
    n_fits = []

    def fit_labels(train, penalty, eta):
        held_out = {tuple(pair) for pair in links.pairs.tolist()} - {tuple(pair) for pair in train.pairs.tolist()}
        if not held_out:  # the fit with all links
            return y
        ends = part[np.array(sorted(held_out))[:, 0]]
        assert not set(ends.tolist()) & set(part[train.pairs[:, 0]].tolist())
        n_fits.append(len(held_out))
        return y

    assert select(links, 200, fit_labels) == (1000, 1)
    assert sum(n_fits) == len(links)


def test_lower_penalty_is_chosen_only_if_it_breaks_fewer_links():
    links = Constraints(must_link=[(i, i + 500) for i in range(20)])

    def fit_labels(wrong_with_lower, train, penalty, eta):
        return labels_with(1000, 5 if penalty == 1000 else wrong_with_lower)

    assert select(links, 1000, partial(fit_labels, 5)) == (1000, 1)
    assert select(links, 1000, partial(fit_labels, 4)) == (3, 1)


def test_held_out_links_are_not_tried_with_ever_larger_weights():
    links = Constraints(must_link=[(i, i + 500) for i in range(20)])
    tried = []

    def fit_labels(train, penalty, eta):
        tried.append(eta)
        return labels_with(1000, 5)

    select(links, 1000, fit_labels, penalties=(7.0,))
    assert sorted(set(tried)) == [1, 2, 5, 10]


def test_eta_has_no_effect_if_all_rows_are_linked():
    X, y = make_blobs(24, centers=2, random_state=0)
    links = Constraints(
        must_link=[(int(a), int(b)) for c in range(2) for a, b in itertools.pairwise(np.flatnonzero(y == c))]
    )
    fits = [MeanFieldMixture(2, eta=eta, random_state=0).fit(X, constraints=links) for eta in (0.0, "auto", 50.0)]
    for model in fits:
        np.testing.assert_allclose(model.means_, fits[0].means_)
        assert model.eta_ == 1
    assert fits[0].free_energy_ == fits[2].free_energy_


# ---- partial labels, priors, links ---------------------------------------------------------------------------------


def test_clamped_labels_name_the_mixture_components():
    X, y = slow.four_clouds(26)
    known = np.full(len(X), -1)
    known[::20] = y[::20]
    model = MeanFieldMixture(2, partial_labels="clamp", labels="links", random_state=0).fit(X, known)
    np.testing.assert_array_equal(model.labels_[::20], y[::20])
    assert (model.labels_ == y).mean() > 0.99
    np.testing.assert_array_equal(model.responsibilities_[::20], np.eye(2)[y[::20]])
    turned = MeanFieldMixture(2, partial_labels="clamp", labels="links", random_state=0)
    turned.fit(X, np.where(known >= 0, 1 - known, -1))
    assert (turned.labels_ == 1 - y).mean() > 0.99


def test_clamped_labels_go_together_with_links():
    X, y = slow.four_clouds(27)
    known = np.full(len(X), -1)
    known[[0, 199]] = y[[0, 199]]
    links = Constraints(must_link=[(0, 60)], cannot_link=[(0, 110)])
    model = MeanFieldMixture(2, eta=20.0, partial_labels="clamp", penalty=np.inf, labels="links", random_state=0)
    model.fit(X, known, constraints=links)
    assert (model.labels_ == y).mean() > 0.99
    contradiction = Constraints(must_link=[(0, 199)])
    with pytest.raises(InfeasibleError, match="exclude every labeling"):
        model.fit(X, known, constraints=contradiction)


def test_starts_are_numbered_as_clamped_rows_are():
    masses = np.array([[0.9, 0.1], [0.8, 0.2], [0.2, 0.8]])
    aligned = clamp_start(masses, ClampedRows(np.array([0, 2]), np.array([1, 0])))
    np.testing.assert_allclose(aligned, [[0, 1], [0.2, 0.8], [1, 0]])


@pytest.mark.parametrize("class_prior", ["uniform", "estimate", "unlinked"])
def test_weights_of_the_mixture_components(class_prior):
    X, _ = make_blobs([60, 20], centers=[[0, 0], [8, 0]], shuffle=False, random_state=0)
    links = Constraints(must_link=[(int(a), int(b)) for a, b in itertools.pairwise(range(60, 70))])
    model = MeanFieldMixture(2, class_prior=class_prior, eta=3.0, random_state=0).fit(X, constraints=links)
    expected = {"uniform": 0.5, "estimate": 40 / 100, "unlinked": 10 / 70}[class_prior]
    assert model.weights_[model.labels_[-1]] == pytest.approx(expected, abs=1e-3)
    np.testing.assert_array_equal(model.predict(X), model.parameter_labels_)


def test_weights_of_links_multiply_the_penalty():
    X, _ = slow.four_clouds(28)
    pairs = [(0, 60), (5, 70)]
    heavy = Constraints(must_link=pairs, must_link_weight=[2.0, 4.0])
    linked = plan(heavy, len(X), 2, penalty=3.0)
    assert linked.penalties.tolist() == [6.0, 12.0]
    assert linked.broken_penalty(labels_with(len(X), 6)) == 18.0
    separate = LinkedRows.plan(LINKS, 8, 2, penalty=(1.0, 5.0), is_exact=True, max_table=100)
    assert separate.penalties.tolist() == [1.0, 1.0, 5.0, 5.0]


def test_hard_links_that_contradict_each_other_are_refused_with_the_chain():
    X, _ = slow.four_clouds(29)
    links = Constraints(must_link=[(3, 4), (4, 5)], cannot_link=[(3, 5)])
    with pytest.raises(InfeasibleError, match=r"3.*4.*5"):
        MeanFieldMixture(2, penalty=np.inf).fit(X, constraints=links)
    assert len(MeanFieldMixture(2, random_state=0).fit(X, constraints=links).violations_) == 1


@pytest.mark.parametrize("decode", ["joint", "marginals"])
def test_reports_say_how_linked_rows_are_inferred(decode):
    X, y = slow.four_clouds(30)
    links = Constraints.sample(y, n_pairs=20, random_state=0)
    exact = MeanFieldMixture(2, eta=1.0, decode=decode, random_state=0).fit(X, constraints=links)
    assert exact.inference_.is_exact
    assert links.violations(exact.link_labels_).is_empty
    other = MeanFieldMixture(2, eta=1.0, inference="mean_field", decode=decode, random_state=0)
    other.fit(X, constraints=links)
    assert not other.inference_.is_exact
    assert "mean field" in other.inference_.methods
    assert MeanFieldMixture(2, random_state=0).fit(X).inference_ is None


# ---- dissimilarities -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("embedding", [None, 2])
def test_links_choose_between_equal_dissimilarities(embedding):
    X, y = slow.four_clouds(31, n_samples=80, half_height=1.1)
    D = euclidean_distances(X, squared=True)
    links = Constraints.sample(y, n_pairs=40, random_state=0)
    model = MeanFieldMixture(2, metric="precomputed", embedding=embedding, random_state=0).fit(D, constraints=links)
    assert f_measure(y, model.link_labels_) >= 0.9
    upper = MeanFieldMixture(2, metric="precomputed", embedding=embedding, random_state=0).fit_predict(D)
    assert f_measure((X[:, 1] > 0).astype(int), upper) >= 0.98
    with pytest.raises(AttributeError, match="no density of new rows"):
        model.predict(D)


def test_embedding_keeps_dissimilarities_up_to_a_constant():
    rng = np.random.RandomState(0)
    D = rng.uniform(0.5, 2.0, size=(9, 9))
    D = D + D.T
    np.fill_diagonal(D, 0)
    rows, shift = embed_dissimilarities(D, 9)
    assert shift > 0
    between = ~np.eye(9, dtype=bool)
    np.testing.assert_allclose(euclidean_distances(rows, squared=True)[between], (D + shift)[between])
    euclidean, no_shift = embed_dissimilarities(euclidean_distances(rng.normal(size=(9, 2)), squared=True), 2)
    assert no_shift == pytest.approx(0, abs=1e-9)
    assert euclidean.shape == (9, 2)
    for k in (1, 2, 3):
        labels = rng.randint(k, size=9)
        labels[:k] = np.arange(k)
        shifted = slow.partition_cost(D + shift * between, labels)
        assert shifted - slow.partition_cost(D, labels) == pytest.approx(shift * (9 - k) / 2)


# ---- bad input -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("penalty", [(1.0, -1.0), (1.0,), [1.0, np.nan]])
def test_penalties_are_checked(penalty):
    with pytest.raises(ValueError, match="penalty must be a number of at least 0, or two such numbers"):
        MeanFieldMixture(2, penalty=penalty).fit(np.eye(4), constraints=Constraints(must_link=[(0, 1)]))


@pytest.mark.parametrize(
    ("D", "words"),
    [
        (np.zeros((3, 2)), "square; its shape is"),
        (np.array([[0.0, 1.0], [2.0, 0.0]]), "rows 0 and 1 have 1 one way and 2 the other"),
        (np.array([[0.0, 1.0], [1.0, 3.0]]), "row 1 has 3"),
    ],
)
def test_dissimilarities_are_checked(D, words):
    with pytest.raises(ValueError, match=words):
        MeanFieldMixture(2, metric="precomputed").fit(D)


def test_too_many_dissimilarities_are_refused_early():
    # An array of this shape that takes no memory.
    D = np.broadcast_to(np.zeros(1), (30_000, 30_000))
    with pytest.raises(TooLargeError, match=r"30,000 x 30,000 numbers"):
        MeanFieldMixture(2, metric="precomputed").fit(D)


def test_more_classes_than_mixture_components_cannot_be_clamped():
    y = np.array([0, 1, 2, -1])
    with pytest.raises(InfeasibleError, match="3 classes"):
        MeanFieldMixture(2, partial_labels="clamp").fit(np.eye(4), y)


@pytest.mark.parametrize("seed", range(3))
def test_wide_tables_are_not_split_by_singular_covariances(seed):
    rng = np.random.RandomState(seed)
    y = np.repeat([0, 1], [40, 20])
    X = rng.standard_normal((60, 40)) + 3.0 * y[:, None]
    links = Constraints(must_link=[(0, 1)], cannot_link=[(0, 59)])
    labels = MeanFieldMixture(2, random_state=seed).fit(X, constraints=links).labels_
    assert adjusted_rand(y, labels) == 1
