"""The constrained Gaussian mixture: posteriors against enumeration, densities and weights against the formulas."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from mustlink import Constraints
from mustlink.mixture import ConstrainedEM, FittedMixture
from mustlink.mixture._constrained_mixture import log_densities, maximize
from reference.marginals import enumerate_marginals
from reference.random_links import cases


@settings(deadline=None, max_examples=60)
@given(cases(max_samples=6), st.integers(2, 3), st.integers(0, 10_000))
def test_posteriors_with_the_heaviest_forest_equal_enumeration(case, n_states, seed):
    links = Constraints(case.must_link or None, case.cannot_link or None)
    rng = np.random.RandomState(seed)
    weight = rng.random_sample(len(links.cannot_link))
    log_density = rng.standard_normal((case.n_samples, n_states))
    em = ConstrainedEM(links, case.n_samples, n_states)
    found, _ = em._posteriors(log_density, np.zeros(n_states), em._heaviest_forest(weight))
    component = links.components(case.n_samples)
    edges, group = [], list(range(component.max() + 1))
    for p in np.argsort(-weight):
        a, b = component[links.cannot_link[p]]
        if group[a] != group[b]:
            edges.append((a, b))
            group = [group[a] if g == group[b] else g for g in group]
    belief = np.array([log_density[component == c].sum(axis=0) for c in range(component.max() + 1)])
    np.testing.assert_allclose(found, enumerate_marginals(belief, edges)[component], atol=1e-9)


@pytest.mark.parametrize("use_cannot_links", [False, True])
def test_cannot_links_can_be_ignored(use_cannot_links):
    em = ConstrainedEM(Constraints([(0, 1)], [(0, 2)]), 3, 2, use_cannot_links=use_cannot_links)
    log_density = np.log([[0.9, 0.1], [0.9, 0.1], [0.6, 0.4]])
    found, _ = em._posteriors(log_density, np.zeros(2), em._heaviest_forest(np.ones(1)))
    joined = np.array([0.81 * 0.4, 0.01 * 0.6]) if use_cannot_links else np.array([0.81, 0.01])
    expected = joined / joined.sum()
    np.testing.assert_allclose(found[[0, 1]], [expected, expected])
    np.testing.assert_allclose(found[2], expected[::-1] if use_cannot_links else [0.6, 0.4])


def test_densities_are_those_of_the_gaussians():
    rng = np.random.RandomState(0)
    points = rng.standard_normal((20, 3))
    shapes = [np.diag([1.0, 2.0, 0.5]), np.eye(3) + 0.3]
    means = rng.standard_normal((2, 3))
    whitening = np.array([np.linalg.inv(np.linalg.cholesky(shape)).T for shape in shapes])
    mixture = FittedMixture(np.log([0.3, 0.7]), means, whitening)
    expected = np.array([multivariate_normal(m, s).logpdf(points) for m, s in zip(means, shapes, strict=True)]).T
    found = log_densities(mixture, points)
    np.testing.assert_allclose(found - found[0, 0], expected - expected[0, 0])
    joint = np.exp(expected) * [0.3, 0.7]
    np.testing.assert_allclose(mixture.memberships(points), joint / joint.sum(axis=1, keepdims=True))


def test_a_row_of_weight_two_is_two_rows():
    rng = np.random.RandomState(0)
    points = np.concatenate([rng.standard_normal((30, 2)), rng.standard_normal((30, 2)) + 6])
    doubled = np.concatenate([points, points[:10]])
    weight = np.ones(60)
    weight[:10] = 2
    posterior = rng.random_sample((60, 2))
    posterior /= posterior.sum(axis=1, keepdims=True)
    one = maximize(points, weight, posterior, np.array([0.5, 0.5]))
    two = maximize(doubled, np.ones(70), np.concatenate([posterior, posterior[:10]]), np.array([0.5, 0.5]))
    np.testing.assert_allclose(one.means, two.means)
    np.testing.assert_allclose(one.whitening, two.whitening)
