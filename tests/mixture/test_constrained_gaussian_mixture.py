"""ConstrainedGaussianMixture: posteriors and normalizers by enumeration, monotone objectives, and bad links."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from mustlink import Constraints, RobustBoostCluster
from mustlink.datasets import sample_paths
from mustlink.errors import ApproximationWarning, InfeasibleError, InfeasibleWarning
from mustlink.mixture import ConstrainedGaussianMixture
from mustlink.mixture._base import normalized_weights
from mustlink.mixture._link_prior import LinkNodes, LinkPrior, maximize_weights
from mustlink.mixture._link_steps import LinkSteps
from mustlink.selection import choose
from mustlink.workflow import Job, load_model, run_job, save_model
from reference import constrained_mixture as reference
from reference.gaussians import log_densities

SAMPLING = ["point", "component"]
seeds = st.integers(0, 10_000)
sampling_modes = pytest.mark.parametrize("sampling", SAMPLING)


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X, y, Constraints.sample(y, n_pairs=60, random_state=0)


def planted(seed, n_rows, n_components, n_pairs):
    """Rows, links of a hidden labeling, and responsibilities to start from."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_components, size=n_rows)
    pairs = rng.permutation(list(itertools.combinations(range(n_rows), 2)))[:n_pairs]
    is_must = y[pairs[:, 0]] == y[pairs[:, 1]]
    return rng.normal(size=(n_rows, 2)) + y[:, None], Constraints(pairs[is_must], pairs[~is_must]), rng


def steps_of(X, links, n_components, **parameters):
    """The steps that a mixture makes with links."""
    return ConstrainedGaussianMixture(n_components, **parameters)._plan(X, links, np.random.RandomState(0))


def pairs_of(links):
    return links.must_link.tolist(), links.cannot_link.tolist()


# ---- check 1: without links, and must-link components of one row ----------------------------------------------------


@pytest.mark.parametrize("normalizer", ["exact", "pseudo", "ignore"])
@sampling_modes
def test_without_links_it_is_scikit_learn(iris, sampling, normalizer):
    X = iris[0]
    ours = ConstrainedGaussianMixture(3, sampling=sampling, normalizer=normalizer, random_state=0).fit(X)
    theirs = GaussianMixture(3, random_state=0).fit(X)
    np.testing.assert_allclose(ours.objective_, theirs.lower_bounds_, rtol=1e-9)
    np.testing.assert_allclose(ours.covariances_, theirs.covariances_, rtol=1e-5)
    np.testing.assert_array_equal(ours.labels_, theirs.predict(X))
    assert ours.inference_.describe() == "Exact: no links."


def test_sampling_does_not_matter_without_must_links(iris):
    X, _, links = iris
    only_cannot = Constraints(cannot_link=links.cannot_link)
    point, component = (
        ConstrainedGaussianMixture(3, sampling=sampling, random_state=0).fit(X, constraints=only_cannot)
        for sampling in SAMPLING
    )
    np.testing.assert_allclose(point.objective_, component.objective_)
    np.testing.assert_allclose(point.weights_, component.weights_)


# ---- check 2: enumeration -------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(seeds, st.integers(2, 6), st.integers(2, 3), st.integers(0, 9), st.sampled_from(SAMPLING))
def test_posteriors_and_normalizers_equal_enumeration(seed, n_rows, n_components, n_pairs, sampling):
    X, links, rng = planted(seed, n_rows, n_components, n_pairs)
    log_density = 3 * rng.normal(size=(n_rows, n_components))
    weights = rng.dirichlet(np.ones(n_components))
    posteriors, log_joint, log_z = reference.expect(log_density, weights, *pairs_of(links), sampling)
    steps = steps_of(X, links, n_components, sampling=sampling)
    found = steps.expect(log_density, weights, None)
    np.testing.assert_allclose(found.responsibilities, posteriors, atol=1e-9)
    assert found.objective == pytest.approx(log_joint - log_z, abs=1e-9)
    ignoring = steps_of(X, links, n_components, sampling=sampling, normalizer="ignore")
    assert ignoring.expect(log_density, weights, None).objective == pytest.approx(log_joint, abs=1e-9)
    labels = steps.decode(log_density, weights, found)
    assert tuple(labels) == reference.best_labeling(log_density, weights, *pairs_of(links), sampling)


@settings(deadline=None, max_examples=60)
@given(seeds, st.integers(2, 6), st.integers(2, 3), st.integers(0, 9), st.sampled_from(SAMPLING))
def test_the_prior_and_its_gradient_equal_enumeration(seed, n_rows, n_components, n_pairs, sampling):
    X, links, rng = planted(seed, n_rows, n_components, n_pairs)
    weights = rng.dirichlet(np.ones(n_components))
    prior = steps_of(X, links, n_components, sampling=sampling)._prior

    def log_z(log_weights):
        # Of any sum, as the derivatives are partial ones.
        flat = np.zeros((n_rows, n_components))
        return reference.expect(flat, np.exp(log_weights), *pairs_of(links), sampling)[2]

    value, gradient = prior.log_probability(np.log(weights))
    assert value == pytest.approx(log_z(np.log(weights)), abs=1e-9)
    step = 1e-5 * np.eye(n_components)
    differences = [(log_z(np.log(weights) + h) - log_z(np.log(weights) - h)) / 2e-5 for h in step]
    np.testing.assert_allclose(gradient, differences, atol=1e-6)


@settings(deadline=None, max_examples=10)
@given(seeds, st.sampled_from(SAMPLING))
def test_an_iteration_equals_that_of_the_reference(seed, sampling):
    X, links, rng = planted(seed, 6, 2, 5)
    start = rng.dirichlet(np.ones(2), size=6)
    model = ConstrainedGaussianMixture(2, sampling=sampling, reg_covar=0.1, max_iter=1, tol=0.0)
    steps = model._plan(X, links, rng)
    run = model._run(X, steps, start, lambda **_: None)
    means, covariances = reference.estimate(X, start, 0.1)
    weights = start.mean(axis=0)
    posteriors, log_joint, log_z = reference.expect(
        log_densities(X, means, covariances), weights, *pairs_of(links), sampling
    )
    assert run.objective == [pytest.approx((log_joint - log_z) / 6)]
    means, covariances = reference.estimate(X, posteriors, 0.1)
    np.testing.assert_allclose(run.gaussians.means, means)
    np.testing.assert_allclose(run.gaussians.covariances, covariances, rtol=1e-6, atol=1e-9)


# ---- check 3: copies of one row -------------------------------------------------------------------------------------


@sampling_modes
def test_copies_of_a_row_in_one_component(sampling):
    n_copies, weights = 4, np.array([0.2, 0.8])
    log_density = np.repeat(np.log([[0.6, 0.3]]), n_copies, axis=0)
    links = Constraints(must_link=[(i, i + 1) for i in range(n_copies - 1)])
    steps = steps_of(np.zeros((n_copies, 1)), links, 2, sampling=sampling)
    one, other = steps.expect(log_density, weights, None).responsibilities[0]
    exponent = n_copies if sampling == "point" else 1
    assert one / other == pytest.approx((0.2 / 0.8) ** exponent * (0.6 / 0.3) ** n_copies)


# ---- check 4: objectives that never fall ----------------------------------------------------------------------------


# Links can leave clusters empty, and some runs take long.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@settings(deadline=None, max_examples=25)
@given(
    seeds,
    st.integers(2, 4),
    st.integers(0, 60),
    st.sampled_from(SAMPLING),
    st.sampled_from(["full", "tied", "diag", "spherical"]),
)
def test_the_objective_never_falls(seed, n_components, n_pairs, sampling, covariance_type):
    X, links, _ = planted(seed, 40, n_components, n_pairs)
    model = ConstrainedGaussianMixture(
        n_components, covariance_type=covariance_type, sampling=sampling, tol=1e-4, reg_covar=1e-9, random_state=0
    ).fit(X, constraints=links)
    assert model.inference_.is_exact
    assert (np.diff(model.objective_) > -1e-8).all()


class NaiveWeights(LinkSteps):
    """The weights of "ignore", with the exact objective."""

    def weigh(self, responsibilities, weights):
        return normalized_weights(responsibilities.sum(axis=0))


def test_the_objective_falls_if_the_normalizer_is_ignored():
    falls = {NaiveWeights: [], LinkSteps: []}
    for seed in range(8):
        X, links, rng = planted(seed, 40, 3, 60)
        links = Constraints(must_link=links.must_link[::2])
        model = ConstrainedGaussianMixture(3, max_iter=40, tol=0.0)
        steps = model._plan(X, links, rng)
        start = rng.dirichlet(np.ones(3), size=40)
        for kind, found in falls.items():
            made = kind(steps._nodes, steps._inference, steps._prior, is_joint=True)
            found.append(np.diff(model._run(X, made, start, lambda **_: None).objective).min())
    assert min(falls[NaiveWeights]) < -1e-4
    assert min(falls[LinkSteps]) > -1e-9


# ---- check 5: normalizers with a formula ----------------------------------------------------------------------------


@sampling_modes
def test_the_pseudo_normalizer_is_exact_for_disjoint_cannot_links(sampling):
    links = Constraints(must_link=[(0, 1), (1, 2), (3, 4), (7, 8)], cannot_link=[(0, 3), (5, 6)])
    rows, linked = links.compact()
    nodes = LinkNodes.of(linked, rows, 11, sampling, np.inf)
    log_weights = np.log([0.2, 0.3, 0.5])
    pseudo, exact = LinkPrior.pseudo(nodes), LinkPrior.exact(nodes, 3, 10)
    assert exact.rest is None
    np.testing.assert_allclose(*(prior.log_probability(log_weights)[1] for prior in (pseudo, exact)))
    sums = {e: (np.exp(log_weights) ** e).sum() for e in range(1, 6)}
    expected = np.log(1 - sums[2])
    if sampling == "point":
        expected += np.log(sums[3] * sums[2] - sums[5]) + np.log(sums[2])
    else:
        expected += np.log(1 - sums[2])
    assert pseudo.log_probability(log_weights)[0] == pytest.approx(expected)


def test_the_pseudo_normalizer_counts_a_cannot_link_between_components_once():
    both_ways = Constraints(must_link=[(0, 1), (2, 3)], cannot_link=[(0, 2), (0, 3), (1, 2)])
    once = Constraints(must_link=[(0, 1), (2, 3)], cannot_link=[(0, 2)])
    values = [
        LinkPrior.pseudo(LinkNodes.of(links, np.arange(4), 4, "point", np.inf)).log_probability(np.log([0.3, 0.7]))[0]
        for links in (both_ways, once)
    ]
    assert values[0] == values[1]


def prior_of(links, n_components):
    rows, linked = links.compact()
    return LinkPrior.exact(LinkNodes.of(linked, rows, len(rows), "point", np.inf), n_components, 1_000)


def test_the_normalizer_of_a_star():
    weights = np.array([0.1, 0.3, 0.6])
    for n_leaves in (1, 2, 5):
        prior = prior_of(Constraints(cannot_link=[(0, leaf) for leaf in range(1, n_leaves + 1)]), 3)
        expected = np.log((weights * (1 - weights) ** n_leaves).sum())
        assert prior.log_probability(np.log(weights))[0] == pytest.approx(expected)


def test_the_normalizer_of_two_clusters():
    # Two rows against three.
    prior = prior_of(Constraints(cannot_link=[(0, 2), (0, 3), (1, 3), (1, 4), (0, 4)]), 2)
    a, b = 0.3, 0.7
    assert prior.log_probability(np.log([a, b]))[0] == pytest.approx(np.log(a**2 * b**3 + b**2 * a**3))


# ---- check 6: the weights -------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=30)
@given(seeds, st.integers(2, 4), st.integers(1, 15), st.sampled_from(SAMPLING))
def test_posterior_counts_equal_prior_counts_at_the_maximum(seed, n_components, n_pairs, sampling):
    # Free rows keep the maximum inside.
    X, links, rng = planted(seed, 30, n_components, n_pairs)
    steps = steps_of(X, links, n_components, sampling=sampling)
    responsibilities = steps.expect(rng.normal(size=(30, n_components)), np.full(n_components, 1 / n_components), None)
    weights = np.full(n_components, 1 / n_components)
    for _ in range(5):
        weights = steps.weigh(responsibilities.responsibilities, weights)
    shares = np.ones(30)
    shares[steps._nodes.rows] = steps._nodes.shares
    posterior = shares @ responsibilities.responsibilities
    prior = steps._prior.log_probability(np.log(weights))[1]
    np.testing.assert_allclose(prior, posterior, atol=30e-6)


@pytest.mark.parametrize("normalizer", ["exact", "pseudo"])
def test_weights_never_lose(normalizer):
    # More cannot-links than rows: the pseudo normalizer is not concave.
    links = Constraints(cannot_link=list(itertools.combinations(range(4), 2)))
    steps = steps_of(np.zeros((5, 1)), links, 4, normalizer=normalizer)
    rng = np.random.default_rng(0)
    for _ in range(20):
        counts, weights = rng.dirichlet(np.ones(4)) * 5, rng.dirichlet(np.ones(4))
        new = maximize_weights(counts, steps._prior, weights)
        before, after = (counts @ np.log(w) - steps._prior.log_probability(np.log(w))[0] for w in (weights, new))
        assert after >= before - 1e-12
        assert new.sum() == pytest.approx(1)


def test_weights_stay_where_the_objective_is_flat():
    # Every pair uses both clusters, whatever the weights are.
    links = Constraints(cannot_link=[(0, 1), (2, 3)])
    steps = steps_of(np.zeros((4, 1)), links, 2)
    responsibilities = steps.expect(np.log([[0.9, 0.1]] * 4), np.array([0.3, 0.7]), None).responsibilities
    np.testing.assert_array_equal(steps.weigh(responsibilities, np.array([0.3, 0.7])), [0.3, 0.7])


def test_a_component_without_rows_keeps_a_weight():
    steps = steps_of(np.zeros((4, 1)), Constraints(must_link=[(0, 1)]), 3)
    weights = steps.weigh(np.repeat([[1.0, 0.0, 0.0]], 4, axis=0), np.full(3, 1 / 3))
    assert (weights >= 0.99e-8).all()
    np.testing.assert_allclose(weights, [1, 0, 0], atol=1e-5)


# ---- check 7: decoding ----------------------------------------------------------------------------------------------


def test_marginals_can_break_a_cannot_link_that_joint_labels_keep():
    links = Constraints(cannot_link=[(0, 1)])
    # Both prefer the first cluster, and neither much.
    log_density, weights = np.log([[0.4, 0.3, 0.3], [0.4, 0.3, 0.3]]), np.full(3, 1 / 3)
    labels = {}
    for decode in ("joint", "marginals"):
        steps = steps_of(np.zeros((2, 1)), links, 3, decode=decode)
        labels[decode] = steps.decode(log_density, weights, steps.expect(log_density, weights, None))
    assert len(links.violations(labels["marginals"])) == 1
    assert links.violations(labels["joint"]).is_empty


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@settings(deadline=None, max_examples=20)
@given(seeds, st.integers(2, 4), st.integers(1, 80))
def test_joint_labels_keep_all_links(seed, n_components, n_pairs):
    X, links, _ = planted(seed, 40, n_components, n_pairs)
    model = ConstrainedGaussianMixture(n_components, random_state=0).fit(X, constraints=links)
    assert model.violations_.is_empty
    assert links.satisfied(model.labels_).all()
    apart = links.cannot_link
    same = links.must_link
    np.testing.assert_allclose(model.responsibilities_[same[:, 0]], model.responsibilities_[same[:, 1]])
    # At most one of two rows apart is in a cluster.
    assert model.responsibilities_[apart].sum(axis=1).max(initial=0) <= 1 + 1e-9


# ---- check 8: what must not matter ----------------------------------------------------------------------------------


def test_a_chain_and_a_clique_of_must_links_are_the_same(iris):
    X = iris[0]
    rows = [3, 60, 77, 110]
    chain = Constraints(must_link=list(itertools.pairwise(rows)), cannot_link=[(3, 20)])
    clique = Constraints(must_link=list(itertools.combinations(rows, 2)), cannot_link=[(110, 20), (3, 20), (60, 20)])
    one, other = (ConstrainedGaussianMixture(3, random_state=0).fit(X, constraints=links) for links in (chain, clique))
    np.testing.assert_allclose(one.objective_, other.objective_)
    np.testing.assert_array_equal(one.labels_, other.labels_)


@sampling_modes
def test_the_order_of_rows_does_not_matter(iris, sampling):
    X, _, links = iris
    order = np.random.default_rng(0).permutation(len(X))
    place = np.argsort(order)
    moved = Constraints(place[links.must_link], place[links.cannot_link])
    model = ConstrainedGaussianMixture(3, sampling=sampling, max_iter=15, tol=0.0)
    start = np.random.default_rng(1).dirichlet(np.ones(3), size=len(X))
    one = model._run(X, model._plan(X, links, None), start, lambda **_: None)
    other = model._run(X[order], model._plan(X[order], moved, None), start[order], lambda **_: None)
    np.testing.assert_allclose(one.objective, other.objective)
    np.testing.assert_allclose(one.gaussians.means, other.gaussians.means, rtol=1e-6)


@sampling_modes
def test_the_numbering_of_the_components_does_not_matter(iris, sampling):
    X, _, links = iris
    turn = np.array([2, 0, 1])
    model = ConstrainedGaussianMixture(3, sampling=sampling, max_iter=15, tol=0.0)
    start = np.random.default_rng(1).dirichlet(np.ones(3), size=len(X))
    one, other = (
        model._run(X, model._plan(X, links, None), begin, lambda **_: None) for begin in (start, start[:, turn])
    )
    np.testing.assert_allclose(one.objective, other.objective)
    np.testing.assert_allclose(one.weights[turn], other.weights, rtol=1e-5)
    np.testing.assert_allclose(one.gaussians.means[turn], other.gaussians.means, rtol=1e-5)


# ---- links help -----------------------------------------------------------------------------------------------------


def test_links_decide_between_two_splits():
    """Each class has half of both clouds: without links the clouds are found, and with links the classes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2)) + np.repeat([[0, -4], [0, 4]], 200, axis=0)
    classes = (X[:, 0] > 0).astype(int)
    links = Constraints.sample(classes, n_pairs=300, random_state=0)
    plain = ConstrainedGaussianMixture(2, random_state=0).fit(X)
    linked = ConstrainedGaussianMixture(2, random_state=0, init_params="random", n_init=4).fit(X, constraints=links)
    assert abs(np.mean(plain.labels_ == classes) - 0.5) < 0.1
    assert max(np.mean(linked.labels_ == classes), np.mean(linked.labels_ != classes)) > 0.9


def test_partial_labels(iris):
    X, y, _ = iris
    known = np.where(np.arange(len(y)) % 5 == 0, y, -1)
    model = ConstrainedGaussianMixture(3, random_state=0).fit(X, known)
    assert all(len(set(model.labels_[known == c])) == 1 for c in range(3))
    assert len(set(model.labels_[known >= 0])) == 3


def test_as_the_base_of_boosting(iris):
    X, _, links = iris
    base = ConstrainedGaussianMixture(covariance_type="diag", max_iter=20, tol=0.01)
    model = RobustBoostCluster(base, n_clusters=3, n_rounds=3, n_trials=2, random_state=0).fit(X, constraints=links)
    assert len(set(model.labels_)) == 3
    assert model.predict(X).shape == (150,)


def test_held_out_links_choose_the_number_of_components(iris):
    X, _, links = iris
    choice = choose(X, links, methods=["constrained-mixture", "pck"], n_clusters=[2, 3], random_state=0)
    tried = {(trial.method, trial.n_clusters) for trial in choice.trials}
    assert {("constrained-mixture", 2), ("constrained-mixture", 3)} <= tried
    assert not any(trial.failure for trial in choice.trials if trial.n_clusters == 3)


def test_a_job_sets_the_number_of_components_and_saves_a_model(tmp_path):
    table, file = sample_paths()
    result = run_job(Job(table, file, n_clusters=3, id_column="customer", method="constrained-mixture"))
    assert result.estimator.n_components == 3
    assert result.estimator.violations_.is_empty
    save_model(result, tmp_path / "m.model")
    model = load_model(tmp_path / "m.model")
    assert not hasattr(model.clusterer, "responsibilities_")
    np.testing.assert_array_equal(model.clusterer.predict(result.table.X), result.estimator.predict(result.table.X))


# ---- bad links ------------------------------------------------------------------------------------------------------


def test_contradictory_links_are_refused_with_the_chain(iris):
    links = Constraints(must_link=[(7, 20), (20, 41)], cannot_link=[(7, 41)])
    with pytest.raises(InfeasibleError, match=r"7 - 20 - 41.*on_infeasible=\"relax\", .* PenalizedGaussianMixture"):
        ConstrainedGaussianMixture(3).fit(iris[0], constraints=links)


def test_a_clique_larger_than_the_number_of_components_is_refused(iris):
    links = Constraints(cannot_link=list(itertools.combinations([3, 60, 77, 110], 2)))
    with pytest.raises(InfeasibleError, match=r"rows 110, 3, 60, 77; use n_components=4 .* PenalizedGaussianMixture"):
        ConstrainedGaussianMixture(3).fit(iris[0], constraints=links)


def test_an_odd_cycle_and_two_components_are_refused(iris):
    links = Constraints(cannot_link=[(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)])
    with pytest.raises(InfeasibleError, match="cycle of 5 cannot-links"):
        ConstrainedGaussianMixture(2).fit(iris[0], constraints=links)


def test_a_cannot_link_and_one_component_are_refused(iris):
    with pytest.raises(InfeasibleError, match="n_components=2 or more"):
        ConstrainedGaussianMixture(1).fit(iris[0], constraints=Constraints(cannot_link=[(0, 1)]))


def test_labels_of_too_many_classes_are_refused(iris):
    known = np.where(np.arange(150) % 5 == 0, iris[1], -1)
    with pytest.raises(InfeasibleError, match="3 classes, more than the 2 clusters asked for; use n_components=3"):
        ConstrainedGaussianMixture(2).fit(iris[0], known)


@pytest.mark.parametrize(
    ("links", "n_broken"),
    [
        (Constraints(must_link=[(7, 20), (20, 41)], cannot_link=[(7, 41), (7, 100)]), 1),
        (Constraints(must_link=[(7, 20)], cannot_link=list(itertools.combinations([3, 60, 77, 110], 2))), 1),
    ],
)
@pytest.mark.parametrize("normalizer", ["exact", "pseudo", "ignore"])
def test_relaxing_breaks_few_links(iris, links, n_broken, normalizer):
    model = ConstrainedGaussianMixture(3, on_infeasible="relax", normalizer=normalizer, random_state=0)
    with pytest.warns(InfeasibleWarning, match=f"breaks {n_broken} of {len(links)} links"):
        model.fit(iris[0], constraints=links)
    assert len(model.violations_.must_link) == 0
    assert len(model.violations_.cannot_link) == n_broken
    assert np.isfinite(model.objective_).all()


@pytest.mark.parametrize("reg_covar", [1e-6, 0.0])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_relaxing_breaks_few_links_where_the_data_are_sure(scale, reg_covar):
    """A triangle of cannot-links inside one of two tight clouds: one link must be broken, and no more."""
    X = 10.0 * np.repeat([0, 1], 20)[:, None] + 1e-2 * np.random.RandomState(0).standard_normal((40, 2))
    links = Constraints(must_link=[(3, 4), (4, 5)], cannot_link=[(0, 1), (1, 2), (0, 2), (3, 20)])
    model = ConstrainedGaussianMixture(2, on_infeasible="relax", reg_covar=scale**2 * reg_covar, random_state=0)
    with pytest.warns(InfeasibleWarning, match="breaks 1 of 6 links"):
        model.fit(scale * X, constraints=links)
    assert np.isfinite(model.objective_).all()
    assert model.converged_


def test_parts_too_large_for_exact_inference():
    X, y = make_blobs(60, centers=4, random_state=0)
    links = Constraints.sample(y, n_pairs=150, random_state=0)
    only_cannot = Constraints(cannot_link=links.cannot_link)
    model = ConstrainedGaussianMixture(4, max_table=2_000, random_state=0)
    with pytest.warns(ApproximationWarning, match=r"1 part by spanning tree; \d+ links left out.*increase max_table"):
        model.fit(X, constraints=only_cannot)
    assert not model.inference_.is_exact
    # On clouds this clear the labels keep the links that the tree leaves out.
    assert model.violations_.is_empty
    assert (np.diff(model.objective_) > -1e-8).all()


def test_one_component_of_all_rows(iris):
    chain = Constraints(must_link=[(i, i + 1) for i in range(149)])
    with pytest.warns(ConvergenceWarning, match="3 clusters were asked for, and 1 was found"):
        model = ConstrainedGaussianMixture(3, random_state=0).fit(iris[0], constraints=chain)
    assert np.isfinite(model.objective_).all()
    np.testing.assert_allclose(model.means_[model.labels_[0]], iris[0].mean(axis=0))
