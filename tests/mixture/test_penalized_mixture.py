"""PenalizedGaussianMixture against enumeration, its limits, and its input."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.mixture import GaussianMixture

from mustlink import Constraints
from mustlink.errors import ApproximationWarning, InfeasibleError, TooLargeError
from mustlink.inference import LinkInference
from mustlink.mixture import (
    HARD_WEIGHT,
    ConstrainedGaussianMixture,
    PenalizedGaussianMixture,
    grid_links,
    links_of_certainty,
)
from mustlink.mixture._link_prior import LinkNodes, LinkPrior, maximize_weights
from reference.gaussians import log_densities
from reference.link_models import labelings
from reference.penalized_mixture import (
    best_weights_on_grid,
    cheapest_labeling,
    log_likelihood,
    log_omega,
    log_preferences,
    posterior,
)
from reference.random_links import cases

COVARIANCE_TYPES = ("full", "tied", "diag", "spherical")


def steps_of(links, n_rows, n_components, penalty=1.0, **parameters):
    """The steps of EM with the penalties of links; their weights are the penalties."""
    mixture = PenalizedGaussianMixture(n_components, penalty=penalty, **parameters)
    return mixture._plan(np.zeros((n_rows, 1)), links, np.random.RandomState(0))


def prior_of(links, n_rows, n_components, penalty=None):
    """The prior of links with penalties, by default their weights."""
    rows, linked = links.compact()
    penalty = np.abs(couplings(linked)) if penalty is None else penalty
    return LinkPrior.exact(LinkNodes.of(linked, rows, n_rows, "point", penalty), n_components, 10**6)


@st.composite
def soft_links(draw, max_samples=6):
    """Links between few rows with random weights, some of them both ways."""
    case = draw(cases(max_samples=max_samples))
    rng = np.random.RandomState(draw(st.integers(0, 10_000)))
    pairs = [*case.must_link, *case.cannot_link]
    sign = np.repeat([1, -1], [len(case.must_link), len(case.cannot_link)])
    if pairs and draw(st.booleans()):
        pairs, sign = [*pairs, pairs[0]], np.append(sign, -sign[0])
    weight = rng.uniform(0.1, 4.0, len(pairs))
    return case.n_samples, Constraints.from_pairs(pairs, sign, weight, contradictions="keep")


@st.composite
def problems(draw, max_samples=6, max_components=3):
    """A number of mixture components, and links of which some are hard, such that some labeling keeps those."""
    n_components = draw(st.integers(2, max_components))
    n_rows, links = draw(soft_links(max_samples))
    hard_fraction, seed = draw(st.sampled_from([0.0, 0.3, 1.0])), draw(st.integers(0, 10_000))
    is_hard = np.random.RandomState(seed).uniform(size=len(links)) < hard_fraction
    weight = np.where(is_hard, HARD_WEIGHT, links.weight)
    links = Constraints.from_pairs(links.pairs, links.sign, weight, contradictions="keep")
    assume(log_preferences(labelings(n_rows, n_components), links.pairs, couplings(links)).max() > -np.inf)
    return n_components, n_rows, links


def couplings(links):
    """The penalty of each link, negative for a cannot-link, infinite from HARD_WEIGHT on."""
    return links.sign * np.where(links.weight >= HARD_WEIGHT, np.inf, links.weight)


def random_weights(rng, n_components):
    return rng.dirichlet(np.full(n_components, 3.0))


# ---- check 1 -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("covariance_type", COVARIANCE_TYPES)
def test_without_penalty_it_is_a_gaussian_mixture(covariance_type):
    rng = np.random.RandomState(0)
    X = np.concatenate([rng.standard_normal((40, 2)), rng.standard_normal((40, 2)) + 3])
    links = Constraints.sample(np.repeat([0, 1], 40), n_pairs=30, random_state=0)
    parameters = {"covariance_type": covariance_type, "random_state": 0, "tol": 1e-6}
    plain = GaussianMixture(2, **parameters).fit(X)
    for given_links, penalty in ((None, 3.0), (links, 0.0)):
        found = PenalizedGaussianMixture(2, penalty=penalty, **parameters).fit(X, constraints=given_links)
        np.testing.assert_allclose(found.means_, plain.means_, rtol=1e-6)
        np.testing.assert_allclose(found.covariances_, plain.covariances_, rtol=1e-6)
        np.testing.assert_allclose(found.weights_, plain.weights_, rtol=1e-6)
        assert found.n_iter_ == plain.n_iter_
        assert found.lower_bound_ == pytest.approx(plain.lower_bound_)
        assert np.array_equal(found.labels_, plain.predict(X))


def overlapping(n_components=3, n_rows=90, seed=0):
    rng = np.random.RandomState(seed)
    y = np.arange(n_rows) % n_components
    return rng.standard_normal((n_rows, 2)) + 2.5 * np.eye(n_components, 2)[y], y


@pytest.mark.parametrize("how", ["penalty", "weight", "certainty"])
def test_hard_links_are_those_of_the_constrained_mixture(how):
    X, y = overlapping()
    links = Constraints.sample(y, n_pairs=25, random_state=1)
    options = {"random_state": 0, "tol": 1e-5, "max_iter": 500}
    hard = ConstrainedGaussianMixture(3, **options).fit(X, constraints=links)
    if how == "penalty":
        found = PenalizedGaussianMixture(3, penalty=np.inf, **options).fit(X, constraints=links)
    elif how == "weight":
        found = PenalizedGaussianMixture(3, hard_weight=1.0, **options).fit(X, constraints=links)
    else:
        certain = links_of_certainty(links.must_link, links.cannot_link)
        found = PenalizedGaussianMixture(3, **options).fit(X, constraints=certain)
    np.testing.assert_allclose(found.means_, hard.means_, atol=1e-6)
    np.testing.assert_allclose(found.weights_, hard.weights_, atol=1e-6)
    np.testing.assert_allclose(found.objective_, hard.objective_, atol=1e-9)
    assert np.array_equal(found.labels_, hard.labels_)
    assert found.violations_.is_empty


# ---- checks 2 to 4 ---------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(problems(), st.integers(0, 10_000))
def test_responsibilities_and_likelihood_equal_enumeration(problem, seed):
    n_components, n_rows, links = problem
    rng = np.random.RandomState(seed)
    log_density, weights = 2 * rng.standard_normal((n_rows, n_components)), random_weights(rng, n_components)
    found = steps_of(links, n_rows, n_components).expect(log_density, weights, None)
    beta = couplings(links)
    expected, _ = posterior(log_density + np.log(weights), links.pairs, beta)
    np.testing.assert_allclose(found.responsibilities, expected, atol=1e-9)
    assert found.objective == pytest.approx(log_likelihood(log_density, weights, links.pairs, beta), abs=1e-8)


@settings(deadline=None, max_examples=60)
@given(problems(), st.integers(0, 10_000))
def test_the_normalizer_and_its_gradient_equal_enumeration(problem, seed):
    n_components, n_rows, links = problem
    weights = random_weights(np.random.RandomState(seed), n_components)
    value, counts = prior_of(links, n_rows, n_components).log_probability(np.log(weights))
    expected, expected_counts = log_omega(weights, n_rows, links.pairs, couplings(links))
    assert value == pytest.approx(expected, abs=1e-9)
    np.testing.assert_allclose(counts, expected_counts, atol=1e-9)
    assert counts.sum() == pytest.approx(n_rows)
    step = 1e-6
    for k in range(n_components):
        moved = np.log(weights) + step * np.eye(n_components)[k]
        rise = (prior_of(links, n_rows, n_components).log_probability(moved)[0] - value) / step
        assert rise == pytest.approx(counts[k], abs=1e-4)


@pytest.mark.parametrize(("penalty", "weights"), [(2.0, [0.3, 0.7]), (0.5, [0.2, 0.3, 0.5]), (np.inf, [0.1, 0.6, 0.3])])
def test_the_normalizer_of_pairs_has_a_closed_form(penalty, weights):
    squares = np.square(weights).sum()
    links = Constraints(must_link=[(0, 1)], cannot_link=[(2, 3)])
    penalties = np.full(2, penalty)
    broken = np.exp(-penalty)
    # exp(2w) - 1 of the chapter, divided by the factor of a kept must-link.
    must, cannot = squares + broken * (1 - squares), 1 - squares + broken * squares
    for chosen, expected in (([0], must), ([1], cannot), ([0, 1], must * cannot)):
        some = links.take(np.array(chosen))
        value, _ = prior_of(some, 6, len(weights), penalties[: len(chosen)]).log_probability(np.log(weights))
        assert np.exp(value) == pytest.approx(expected)


def test_the_normalizer_is_concave_along_lines_and_uniform_by_symmetry():
    rng = np.random.RandomState(0)
    links = Constraints([(0, 1), (1, 2)], [(2, 3), (4, 5)], must_link_weight=[1.0, 2.0], cannot_link_weight=[0.5, 3.0])
    prior = prior_of(links, 8, 3)
    for _ in range(5):
        start, direction = rng.standard_normal((2, 3))
        values = [prior.log_probability(start + t * direction)[0] for t in np.linspace(-1, 1, 21)]
        # log Omega is a log-sum-exp of linear forms; the objective of the weights is minus that.
        assert (np.diff(values, 2) > -1e-9).all()
    np.testing.assert_allclose(prior.log_probability(np.log(np.full(3, 1 / 3)))[1], 8 / 3)


@settings(deadline=None, max_examples=20)
@given(problems(max_samples=5), st.integers(0, 10_000))
def test_the_bound_of_mean_field_is_below_the_likelihood(problem, seed):
    n_components, n_rows, links = problem
    rng = np.random.RandomState(seed)
    log_density, weights = rng.standard_normal((n_rows, n_components)), random_weights(rng, n_components)
    options = {"inference": "mean_field", "normalizer": "ignore"}
    bound = steps_of(links, n_rows, n_components, **options).expect(log_density, weights, None).objective
    _, log_sum = posterior(log_density + np.log(weights), links.pairs, couplings(links))
    assert bound <= log_sum + 1e-9


def test_gibbs_sampling_is_near_enumeration():
    rng = np.random.RandomState(0)
    links = Constraints([(0, 1), (1, 2), (0, 2)], [(2, 3), (3, 4), (4, 0)])
    log_density, weights = rng.standard_normal((5, 3)), random_weights(rng, 3)
    steps = steps_of(links, 5, 3, penalty=1.5, inference="gibbs", normalizer="ignore")
    drawn = np.array([steps.expect(log_density, weights, None).responsibilities for _ in range(20)])
    expected, _ = posterior(log_density + np.log(weights), links.pairs, 1.5 * links.sign)
    error = drawn.std(axis=0) / np.sqrt(len(drawn))
    assert (np.abs(drawn.mean(axis=0) - expected) <= 4 * error + 1e-4).all()


# ---- check 6 -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("normalizer", ["exact", "uniform", "ignore"])
@pytest.mark.parametrize("penalty", [1.0, 4.0, np.inf])
def test_the_objective_never_falls(normalizer, penalty):
    X, y = overlapping(seed=3)
    links = Constraints.sample(y, n_pairs=40, noise=0.0 if penalty == np.inf else 0.2, random_state=2)
    mixture = PenalizedGaussianMixture(
        3, penalty=penalty, normalizer=normalizer, reg_covar=0.0, tol=1e-7, max_iter=2000, random_state=0
    )
    objective = mixture.fit(X, constraints=links).objective_
    assert len(objective) > 5
    assert (np.diff(objective) >= -1e-9).all()


def test_the_bound_of_mean_field_never_falls():
    X, y = overlapping(2, seed=4)
    mixture = PenalizedGaussianMixture(
        2,
        inference="mean_field",
        normalizer="uniform",
        reg_covar=0.0,
        tol=1e-8,
        max_iter=500,
        random_state=0,
    )
    objective = mixture.fit(X, constraints=Constraints.sample(y, n_pairs=60, random_state=2)).objective_
    assert len(objective) > 3
    assert (np.diff(objective) >= -1e-6).all()


# ---- check 7 -----------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=25)
@given(soft_links(max_samples=5), st.integers(2, 3), st.integers(0, 10_000))
def test_small_variances_give_soft_constrained_k_means(problem, n_components, seed):
    n_rows, links = problem
    rng = np.random.RandomState(seed)
    X, means = rng.standard_normal((n_rows, 2)), rng.standard_normal((n_components, 2))
    alpha = 1e-4
    squares = np.square(X[:, None] - means).sum(axis=2)
    log_density = -0.5 * squares / alpha**2
    weights = random_weights(rng, n_components)
    steps = steps_of(links, n_rows, n_components, penalty=1 / alpha**2, hard_weight=np.inf)
    expectation = steps.expect(log_density, weights, None)
    expected = cheapest_labeling(X, means, links.pairs, links.weight, links.sign > 0)
    assert np.array_equal(steps.decode(log_density, weights, expectation), expected)
    assert np.array_equal(expectation.responsibilities.argmax(axis=1), expected)


@settings(deadline=None, max_examples=25)
@given(cases(max_samples=5), st.integers(2, 3), st.integers(0, 10_000))
def test_penalties_that_grow_faster_give_constrained_k_means(case, n_components, seed):
    links = Constraints(case.must_link or None, case.cannot_link or None)
    if not links.feasible(n_components, case.n_samples + n_components):
        return
    rng = np.random.RandomState(seed)
    X, means = rng.standard_normal((case.n_samples, 2)), rng.standard_normal((n_components, 2))
    beta = 1e-3
    log_density = -0.5 * np.square(X[:, None] - means).sum(axis=2) / beta**2
    weights = np.full(n_components, 1 / n_components)
    steps = steps_of(links, case.n_samples, n_components, penalty=1 / beta**3, hard_weight=np.inf)
    labels = steps.decode(log_density, weights, steps.expect(log_density, weights, None))
    expected = cheapest_labeling(X, means, links.pairs, np.full(len(links), 1e6), links.sign > 0)
    assert np.array_equal(labels, expected)
    assert links.violations(labels).is_empty


# ---- check 8 -----------------------------------------------------------------------------------------------------


def test_large_penalties_approach_hard_links():
    rng = np.random.RandomState(0)
    links = Constraints([(0, 1), (1, 2)], [(2, 3), (4, 5)])
    log_density, weights = 3 * rng.standard_normal((7, 3)), random_weights(rng, 3)
    hard = steps_of(links, 7, 3, penalty=np.inf).expect(log_density, weights, None)
    soft = steps_of(links, 7, 3, penalty=60.0).expect(log_density, weights, None)
    np.testing.assert_allclose(soft.responsibilities, hard.responsibilities, atol=1e-6)
    assert soft.objective == pytest.approx(hard.objective, abs=1e-6)


@settings(deadline=None, max_examples=10)
@given(problems(max_samples=4, max_components=2), st.integers(0, 10_000))
def test_weights_agree_with_the_grid_of_the_chapter(problem, seed):
    _, n_rows, links = problem
    rng = np.random.RandomState(seed)
    counts = rng.dirichlet(np.full(2, 5.0), n_rows).sum(axis=0)
    prior, beta = prior_of(links, n_rows, 2), couplings(links)
    found = maximize_weights(counts, prior, np.array([0.5, 0.5]))
    on_grid = best_weights_on_grid(counts, n_rows, links.pairs, beta, 0.01)

    def value(weights):
        return counts @ np.log(weights) - log_omega(weights, n_rows, links.pairs, beta)[0]

    assert value(found) >= value(on_grid) - 1e-9
    # Where the function is flat, two distant weights are equally good.
    assert np.abs(found - on_grid).max() <= 0.01 or value(found) - value(on_grid) < 1e-3
    if found.min() > 1e-6:
        np.testing.assert_allclose(prior.log_probability(np.log(found))[1], counts, atol=1e-5)


# ---- weights of links ------------------------------------------------------------------------------------------


def two_lines(n=30):
    X = np.column_stack([np.linspace(-4, 4, n), np.tile([-0.6, 0.6], n // 2)])
    return X + 0.2 * np.random.RandomState(0).standard_normal(X.shape), np.tile([0, 1], n // 2)


def test_links_of_one_pair_add_up():
    X, _ = two_lines()
    both = Constraints([(0, 1)], [(0, 1)], must_link_weight=2.0, cannot_link_weight=0.5, contradictions="keep")
    difference = Constraints([(0, 1)], must_link_weight=1.5)
    one, other = (PenalizedGaussianMixture(2, random_state=0).fit(X, constraints=links) for links in (both, difference))
    np.testing.assert_allclose(one.responsibilities_, other.responsibilities_, atol=1e-9)


def test_contradictory_soft_links_are_accepted_and_broken():
    X, _ = two_lines()
    links = Constraints([(0, 1), (1, 2)], [(0, 2)])
    mixture = PenalizedGaussianMixture(2, random_state=0).fit(X, constraints=links)
    assert 1 <= len(mixture.violations_) <= 2
    assert mixture.inference_.is_exact


def test_contradictory_hard_links_are_refused_with_the_chain():
    X, _ = two_lines()
    links = links_of_certainty([(5, 7), (7, 9)], [(5, 9), (0, 1)], cannot_link_certainty=[1.0, 0.9])
    with pytest.raises(InfeasibleError, match=r"5 - 7 - 9; remove a link of the chain, or give some .* a lower weight"):
        PenalizedGaussianMixture(2, random_state=0).fit(X, constraints=links)


def test_more_hard_cannot_links_than_clusters_are_refused():
    X, _ = two_lines()
    links = Constraints(cannot_link=[(10, 11), (11, 12), (10, 12)], cannot_link_weight=HARD_WEIGHT)
    with pytest.raises(InfeasibleError, match="use n_components=3 or more, or give some of these links a lower weight"):
        PenalizedGaussianMixture(2, random_state=0).fit(X, constraints=links)
    assert len(PenalizedGaussianMixture(3, random_state=0).fit(X, constraints=links).violations_) == 0


def test_hard_and_soft_links_together():
    X, _ = two_lines()
    # Soft links that say the opposite of a hard one, on the same rows.
    links = links_of_certainty([(0, 1)], [(1, 2)], must_link_certainty=1.0, cannot_link_certainty=0.999)
    soft = Constraints(must_link=[(1, 2)], cannot_link=[(0, 2)])
    mixture = PenalizedGaussianMixture(2, random_state=0).fit(X, constraints=links.add(soft, contradictions="keep"))
    assert mixture.labels_[0] == mixture.labels_[1] != mixture.labels_[2]
    np.testing.assert_allclose(mixture.responsibilities_[0], mixture.responsibilities_[1])


def test_links_choose_between_two_fits():
    rng = np.random.RandomState(0)
    X = np.repeat([(-1, -1.2), (-1, 1.2), (1, -1.2), (1, 1.2)], 25, axis=0) + 0.3 * rng.standard_normal((100, 2))
    y = np.repeat([0, 0, 1, 1], 25)
    plain = PenalizedGaussianMixture(2, random_state=0).fit(X).labels_
    links = Constraints.sample(y, n_pairs=60, noise=0.1, random_state=0)
    mixture = PenalizedGaussianMixture(2, n_init=5, init_params="random_from_data", random_state=0)
    found = mixture.fit(X, constraints=links).labels_
    assert max(np.mean(found == y), np.mean(found != y)) > 0.95 > max(np.mean(plain == y), np.mean(plain != y))
    assert 0 < len(mixture.violations_) < 12


# ---- inference -------------------------------------------------------------------------------------------------


def grid_problem(side=6, seed=0):
    y = np.repeat([0, 1], side * side // 2)
    X = 2.5 * y[:, None] + np.random.RandomState(seed).standard_normal((side * side, 2))
    return X, y, grid_links((side, side), labels=y.reshape(side, side))


def test_the_approximation_is_named_once_unless_it_was_asked_for():
    X, y, links = grid_problem()
    with pytest.warns(ApproximationWarning, match="mean field.*increase max_table, or .* a weight of 1e\\+06 or more"):
        mixture = PenalizedGaussianMixture(2, max_table=100, random_state=0).fit(X, constraints=links)
    assert not mixture.inference_.is_exact
    assert mixture.inference_.methods == {"mean field": 1}
    for inference, method in (("mean_field", "mean field"), ("gibbs", "Gibbs sampling"), ("bp", "belief propagation")):
        mixture = PenalizedGaussianMixture(2, inference=inference, random_state=0)
        labels = mixture.fit(X, constraints=links).labels_
        assert mixture.inference_.methods == {method: 1}
        assert max(np.mean(labels == y), np.mean(labels != y)) > 0.9
    with pytest.raises(TooLargeError, match=r"tables of 100 entries.*inference=\"auto\".*increase max_table"):
        PenalizedGaussianMixture(2, inference="exact", max_table=100).fit(X, constraints=links)
    assert PenalizedGaussianMixture(2, inference="exact", random_state=0).fit(X, constraints=links).inference_.is_exact


@pytest.mark.parametrize("inference", ["mean_field", "gibbs", "bp"])
def test_approximations_are_near_the_exact_result(inference):
    X, _, links = grid_problem()
    options = {"normalizer": "uniform", "random_state": 0}
    exact = PenalizedGaussianMixture(2, **options).fit(X, constraints=links)
    found = PenalizedGaussianMixture(2, inference=inference, **options).fit(X, constraints=links)
    same = np.mean(exact.labels_ == found.labels_)
    assert max(same, 1 - same) > 0.9


@pytest.mark.parametrize("inference", ["mean_field", "gibbs", "bp"])
def test_an_approximation_that_was_asked_for_is_used_for_all_links(inference):
    """For pairs and trees too, which exact inference always fits; but hard must-links make one row."""
    links = Constraints([(0, 1), (5, 6), (6, 7)], must_link_weight=[HARD_WEIGHT, 1.0, 1.0])
    mixture = PenalizedGaussianMixture(2, inference=inference, random_state=0).fit(two_lines()[0], constraints=links)
    method = {"mean_field": "mean field", "gibbs": "Gibbs sampling", "bp": "belief propagation"}[inference]
    assert mixture.inference_.methods == {"collapsed must-links": 1, method: 1}
    np.testing.assert_allclose(mixture.responsibilities_[0], mixture.responsibilities_[1])


@pytest.mark.parametrize("inference", ["auto", "exact", "mean_field", "gibbs", "bp"])
def test_tables_without_an_entry_are_refused(inference):
    X, _, links = grid_problem()
    with pytest.raises(ValueError, match="'max_table' parameter of PenalizedGaussianMixture must be"):
        PenalizedGaussianMixture(2, inference=inference, max_table=0).fit(X, constraints=links)


def test_belief_propagation_takes_no_hard_cannot_links():
    X, _ = two_lines()
    links = Constraints(cannot_link=[(0, 1), (1, 2)])
    with pytest.raises(ValueError, match="Belief propagation takes no hard cannot-links"):
        PenalizedGaussianMixture(3, penalty=np.inf, inference="bp").fit(X, constraints=links)


def test_inference_says_which_rows_it_approximates():
    links = grid_links((4, 4)) + Constraints([(16, 17)], [(3, 18)])
    options = {"max_table": 100, "beyond": "mean_field"}
    inference = LinkInference.plan(links.adjacency(19), links.weight, 3, **options)
    assert np.flatnonzero(~inference.is_approximate).tolist() == [16, 17]
    assert not LinkInference.plan(links.adjacency(19), links.weight, 3).is_approximate.any()
    assert LinkInference.plan(links.adjacency(19), links.weight, 3, max_table=100).is_approximate.sum() == 17


def test_rows_of_wide_parts_do_not_count_for_the_weights():
    X, _, links = grid_problem()
    rng = np.random.RandomState(1)
    free = np.concatenate([rng.standard_normal((60, 2)), 2.5 + rng.standard_normal((20, 2))])
    options = {"inference": "mean_field", "random_state": 0}
    alone = PenalizedGaussianMixture(2, **options).fit(X, constraints=links)
    np.testing.assert_allclose(alone.weights_, 0.5)
    together = PenalizedGaussianMixture(2, **options).fit(np.concatenate([X, free]), constraints=links)
    counts = together.responsibilities_[len(X) :].mean(axis=0)
    np.testing.assert_allclose(together.weights_, counts, atol=0.02)
    assert together.weights_.max() > 0.6


def test_weights_allow_for_what_the_links_say_of_sizes():
    """The expected counts under the prior of the links are those of the responsibilities; without it, the weights."""
    X, y = overlapping(2, 60, seed=1)
    links = Constraints.sample(y, n_pairs=30, random_state=0)
    found = {
        normalizer: PenalizedGaussianMixture(
            2, normalizer=normalizer, penalty=5.0, tol=1e-9, max_iter=2000, random_state=0
        ).fit(X, constraints=links)
        for normalizer in ("exact", "ignore", "uniform")
    }
    prior = prior_of(links, len(X), 2, np.full(len(links), 5.0))
    for normalizer, mixture in found.items():
        counts, weights = mixture.responsibilities_.sum(axis=0), mixture.weights_
        assert np.allclose(prior.log_probability(np.log(weights))[1], counts, atol=0.01) == (normalizer == "exact")
        assert np.allclose(len(X) * weights, counts, atol=0.01) == (normalizer == "ignore")
    np.testing.assert_allclose(found["uniform"].weights_, 0.5)


def test_the_pseudo_normalizer_is_exact_for_disjoint_pairs():
    X, y = overlapping(3, seed=5)
    pairs = np.random.RandomState(0).permutation(len(y))[:40].reshape(-1, 2)
    links = Constraints.from_pairs(pairs, np.where(y[pairs[:, 0]] == y[pairs[:, 1]], 1, -1))
    exact, pseudo = (
        PenalizedGaussianMixture(3, normalizer=normalizer, random_state=0).fit(X, constraints=links)
        for normalizer in ("exact", "pseudo")
    )
    np.testing.assert_allclose(exact.objective_, pseudo.objective_, rtol=1e-9)
    np.testing.assert_allclose(exact.weights_, pseudo.weights_, rtol=1e-6)


# ---- the estimator ---------------------------------------------------------------------------------------------


def test_labels_are_decoded_jointly_or_row_by_row():
    links = Constraints(cannot_link=[(0, 1)], cannot_link_weight=4.0)
    # Both rows prefer the first cluster, and neither much.
    log_density, weights = np.log([[0.4, 0.31, 0.29], [0.42, 0.28, 0.3]]), np.full(3, 1 / 3)
    labels = {}
    for decode in ("joint", "marginals"):
        steps = steps_of(links, 2, 3, decode=decode)
        labels[decode] = steps.decode(log_density, weights, steps.expect(log_density, weights, None)).tolist()
    assert labels == {"joint": [1, 0], "marginals": [0, 0]}


def test_partial_labels_are_soft_links():
    y = np.repeat([0, 1], 20)
    X = 8.0 * y[:, None] + np.random.RandomState(0).standard_normal((40, 2))
    partial = np.full(40, -1)
    partial[[0, 1, 2, 20, 21, 22]] = [0, 0, 1, 1, 1, 1]  # the third is wrong
    mixture = PenalizedGaussianMixture(2, random_state=0).fit(X, partial)
    assert mixture.labels_[0] == mixture.labels_[2] != mixture.labels_[20]
    assert mixture.inference_.methods["tree"] == 1


def test_responsibilities_are_those_of_the_kept_parameters():
    X, y = overlapping(2, 10, seed=2)
    links = Constraints.sample(y, n_pairs=6, noise=0.3, random_state=0)
    mixture = PenalizedGaussianMixture(2, penalty=1.0, reg_covar=0.05, random_state=0).fit(X, constraints=links)
    log_density = log_densities(X, mixture.means_, mixture.covariances_)
    expected, _ = posterior(log_density + np.log(mixture.weights_), links.pairs, links.sign * links.weight)
    np.testing.assert_allclose(mixture.responsibilities_, expected, atol=1e-8)


def test_float32_stays_float32():
    X, y = two_lines()
    links = Constraints.sample(y, n_pairs=10, random_state=0)
    mixture = PenalizedGaussianMixture(2, random_state=0).fit(X.astype(np.float32), constraints=links)
    assert mixture.responsibilities_.dtype == mixture.means_.dtype == mixture.weights_.dtype == np.float32


@pytest.mark.parametrize("seed", range(6))
def test_the_result_of_gibbs_sampling_is_that_of_the_kept_run(seed):
    """Strong must-links, so that a chain keeps its clusters, which have other numbers in other runs."""
    rng = np.random.RandomState(seed)
    X = 6.0 * np.repeat([0, 1], 20)[:, None] + rng.standard_normal((40, 2))
    links = Constraints([pair for first in (0, 4, 20, 24) for pair in combinations(range(first, first + 4), 2)])
    mixture = PenalizedGaussianMixture(2, penalty=20.0, inference="gibbs", n_init=3, random_state=seed)
    mixture.fit(X, constraints=links)
    linked = links.constrained_rows()
    assert np.array_equal(mixture.labels_[linked], mixture.predict(X)[linked])
    assert np.array_equal(mixture.responsibilities_[linked].argmax(axis=1), mixture.predict(X)[linked])


def test_a_fit_by_gibbs_sampling_is_repeatable():
    X, _, links = grid_problem()
    one, other = (
        PenalizedGaussianMixture(2, inference="gibbs", n_init=2, random_state=7).fit(X, constraints=links)
        for _ in range(2)
    )
    assert np.array_equal(one.responsibilities_, other.responsibilities_)
