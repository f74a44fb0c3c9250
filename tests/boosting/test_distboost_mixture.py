"""The weak learner of DistBoost: posteriors against enumeration, weights of rows, shrunk covariances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mustlink import Constraints
from mustlink.boosting._distboost._weak_mixture import MixtureLearner, WeakMixture
from mustlink.mixture.core import Gaussians
from reference.link_models import sum_over_labelings
from reference.random_links import cases


def learner_of(links, n_samples, n_components, *, use_cannot_links=True):
    return MixtureLearner(links, n_samples, n_components, max_iter=20, use_cannot_links=use_cannot_links)


@settings(deadline=None, max_examples=60)
@given(cases(max_samples=6), st.integers(2, 3), st.integers(0, 10_000))
def test_posteriors_with_the_heaviest_forest_equal_enumeration(case, n_states, seed):
    links = Constraints(case.must_link or None, case.cannot_link or None)
    rng = np.random.RandomState(seed)
    weight = rng.random_sample(len(links.cannot_link))
    log_density = rng.standard_normal((case.n_samples, n_states))
    learner = learner_of(links, case.n_samples, n_states)
    found, _ = learner._posteriors(log_density, np.zeros(n_states), learner._heaviest_forest(weight))
    component = links.components(case.n_samples)
    edges, group = [], list(range(component.max() + 1))
    for p in np.argsort(-weight):
        a, b = component[links.cannot_link[p]]
        if group[a] != group[b]:
            edges.append((a, b))
            group = [group[a] if g == group[b] else g for g in group]
    belief = np.array([log_density[component == c].sum(axis=0) for c in range(component.max() + 1)])
    expected, _, _ = sum_over_labelings(belief, edges, False, np.inf)
    np.testing.assert_allclose(found, expected[component], atol=1e-9)


@pytest.mark.parametrize("use_cannot_links", [False, True])
def test_cannot_links_can_be_ignored(use_cannot_links):
    learner = learner_of(Constraints([(0, 1)], [(0, 2)]), 3, 2, use_cannot_links=use_cannot_links)
    log_density = np.log([[0.9, 0.1], [0.9, 0.1], [0.6, 0.4]])
    found, _ = learner._posteriors(log_density, np.zeros(2), learner._heaviest_forest(np.ones(1)))
    joined = np.array([0.81 * 0.4, 0.01 * 0.6]) if use_cannot_links else np.array([0.81, 0.01])
    expected = joined / joined.sum()
    np.testing.assert_allclose(found[[0, 1]], [expected, expected])
    np.testing.assert_allclose(found[2], expected[::-1] if use_cannot_links else [0.6, 0.4])


def test_memberships_are_those_of_the_mixture():
    gaussians = Gaussians(np.array([[-1.0], [1.0]]), np.ones((2, 1, 1)), np.ones((2, 1, 1)), "full")
    found = WeakMixture(np.log([0.5, 0.5]), gaussians).memberships(np.array([[0.0], [2.0]]))
    np.testing.assert_allclose(found, [[0.5, 0.5], [1 / (1 + np.exp(4)), 1 / (1 + np.exp(-4))]])


def test_rows_of_a_component_are_fitted_together():
    points = np.array([[-1.0], [-0.9], [0.9], [1.0]])
    learner = learner_of(Constraints(must_link=[(0, 1)]), 4, 2)
    mixture = learner.fit(points, np.ones(4), np.empty(0), np.random.RandomState(0))
    np.testing.assert_allclose(np.sort(mixture.gaussians.means.ravel()), [-0.95, 0.95], atol=1e-6)
    np.testing.assert_allclose(np.sort(np.exp(mixture.log_weights)), [1 / 3, 2 / 3], atol=1e-6)
