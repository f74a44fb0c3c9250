"""Mixtures with equal masses: the scaling, the densities, and the whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.integrate import quad
from scipy.optimize import linear_sum_assignment
from scipy.special import gammaln, ive, logsumexp
from sklearn.datasets import make_blobs

from mustlink import SoftBalancedMixture
from mustlink.sizes._soft_balanced._components import COMPONENTS, log_bessel, log_vmf_normalizer
from mustlink.sizes._soft_balanced._masses import balance_masses, responsibilities_of


def scale_slowly(log_density: Any, temperature: float, n_steps: int) -> Any:
    """(8.18), without logarithms."""
    n, k = log_density.shape
    beta = np.ones(k)
    density = np.exp(log_density / temperature)
    for _ in range(n_steps):
        beta = (n / k) / (density / (density @ beta)[:, None]).sum(axis=0)
    return density * beta / (density @ beta)[:, None]


@given(seed=st.integers(0, 10_000), temperature=st.sampled_from([0.7, 1.0, 5.0]))
@settings(deadline=None, max_examples=40)
def test_masses_are_those_of_the_formula(seed: int, temperature: float) -> None:
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(2, 30)), int(rng.integers(1, 6))
    log_density = rng.normal(size=(n, k))
    P, log_beta, error = balance_masses(log_density, temperature, rng.normal(size=k))
    np.testing.assert_allclose(P.sum(axis=0), n / k, atol=1e-8)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    np.testing.assert_allclose(P, scale_slowly(log_density, temperature, 500), atol=1e-5)
    np.testing.assert_allclose(P, responsibilities_of(log_density, log_beta, temperature))
    assert log_beta.mean() == pytest.approx(0.0, abs=1e-12)
    assert error <= 1e-8


def test_one_component_has_everything() -> None:
    P, _, _ = balance_masses(np.random.default_rng(0).normal(size=(7, 1)), 0.01, np.zeros(1))
    np.testing.assert_array_equal(P, np.ones((7, 1)))


@pytest.mark.parametrize("scale", [1.0, 1000.0])
def test_low_temperatures_approach_the_balanced_assignment(scale: float) -> None:
    rng = np.random.default_rng(1)
    costs = scale * rng.random((60, 4))
    rows, columns = linear_sum_assignment(np.repeat(costs, 15, axis=1))
    exact = costs[rows, columns // 15].sum()
    found = []
    for temperature in (0.1 * scale, 0.01 * scale, 0.001 * scale):
        P, _, error = balance_masses(-costs, temperature, np.zeros(4))
        assert error < 1e-8
        found.append((P * costs).sum())
    assert found[0] > found[1] > found[2] >= exact - 1e-6 * scale
    assert found[2] == pytest.approx(exact, rel=1e-3)


@pytest.mark.parametrize("kappa", [1e-12, 0.1, 2.0, 30.0, 500.0])
def test_the_density_on_the_sphere_integrates_to_one(kappa: float) -> None:
    """In three dimensions Z is 4 pi sinh(kappa) / kappa; the integral is over the cosine, times 2 pi."""
    log_z = log_vmf_normalizer(3, kappa)
    total, _ = quad(lambda cosine: 2 * np.pi * np.exp(kappa * cosine - log_z), -1, 1, points=[0.99])
    assert total == pytest.approx(1.0, rel=1e-6)
    if kappa > 1e-6:
        log_sinh = kappa + np.log1p(-np.exp(-2 * kappa)) - np.log(2)
        assert log_z == pytest.approx(np.log(4 * np.pi / kappa) + log_sinh, rel=1e-9)


@pytest.mark.parametrize("argument", [5.0, 60.0, 400.0])
def test_the_expansion_of_the_bessel_function(argument: float) -> None:
    """Just above the order from which it is used, where scipy has digits too."""
    order = 51.0
    exact = np.log(ive(order, argument)) + argument
    assert log_bessel(order, argument) == pytest.approx(exact, abs=2e-5)


def test_the_bessel_function_where_scipy_underflows() -> None:
    assert ive(499.0, 10.0) == 0
    # The first terms of the series (x/2)^v / Gamma(v + 1) (1 + (x/2)^2 / (v + 1) + ...), in logarithms.
    terms = [(499 + 2 * m) * np.log(5.0) - gammaln(m + 1) - gammaln(500 + m) for m in range(20)]
    assert log_bessel(499.0, 10.0) == pytest.approx(logsumexp(terms), abs=1e-5)


@pytest.mark.parametrize("component", ["gaussian", "vmf", "multinomial"])
def test_components_maximize_the_weighted_likelihood(component: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(1, 9, size=(40, 5)).astype(float)
    if component == "vmf":
        X /= np.linalg.norm(X, axis=1)[:, None]
    mass = rng.random((40, 2))
    family = COMPONENTS[component]
    means, scales = family.fit(X, mass)
    best = (mass * family.log_density(X, means, scales)).sum()
    for _ in range(30):
        other = means + 0.05 * rng.normal(size=means.shape) * means
        if component == "vmf":
            other /= np.linalg.norm(other, axis=1)[:, None]
        if component == "multinomial":
            other = np.abs(other) / np.abs(other).sum(axis=1, keepdims=True)
        changed = (mass * family.log_density(X, other, scales)).sum()
        # The smoothing of multinomials moves their maximum a little.
        assert changed < best + (0.05 if component == "multinomial" else 1e-6)


@pytest.mark.parametrize("component", ["gaussian", "vmf", "multinomial"])
def test_masses_are_equal_and_predictions_agree(component: Any) -> None:
    X, _ = make_blobs([180, 30, 30], centers=[[4, 4, 0], [4, 0, 4], [0, 4, 4]], random_state=0)
    X = np.abs(X)
    model = SoftBalancedMixture(3, component=component, random_state=0).fit(X)
    np.testing.assert_allclose(model.responsibilities_.sum(axis=0), 80.0, atol=1e-6)
    np.testing.assert_allclose(model.responsibilities_.sum(axis=1), 1.0)
    assert abs(model.sizes_ - 80).max() <= 3
    np.testing.assert_allclose(model.predict_proba(X), model.responsibilities_, atol=1e-9)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert model.n_iter_ == len(model.objective_)
    if component != "gaussian":
        same = SoftBalancedMixture(3, component=component, random_state=0).fit(sparse.csr_matrix(X))
        np.testing.assert_array_equal(same.labels_, model.labels_)


def test_temperature_is_softness() -> None:
    X, _ = make_blobs([180, 30, 30], centers=[[0, 0], [4, 0], [0, 4]], random_state=0)
    entropies = []
    for temperature in (1.0, 0.1, 0.01):
        model = SoftBalancedMixture(3, temperature=temperature, start_temperature=1.0, random_state=0).fit(X)
        P = np.maximum(model.responsibilities_, 1e-300)
        entropies.append(-(P * np.log(P)).sum())
    assert entropies[0] > entropies[1] > entropies[2]


def test_a_temperature_above_the_start_is_the_only_one() -> None:
    X, _ = make_blobs(60, centers=3, random_state=0)
    found = SoftBalancedMixture(3, temperature=1.0, random_state=0).fit(X)
    expected = SoftBalancedMixture(3, temperature=1.0, start_temperature=1.0, random_state=0).fit(X)
    np.testing.assert_array_equal(found.responsibilities_, expected.responsibilities_)


def test_more_runs_are_no_worse() -> None:
    X, _ = make_blobs(120, centers=6, random_state=1)
    one, several = (SoftBalancedMixture(6, n_init=n, random_state=3).fit(X).objective_[-1] for n in (1, 4))
    assert several <= one


def test_rows_of_zeros_have_no_direction() -> None:
    X = np.concatenate([np.eye(4), np.eye(4) + 0.1, np.zeros((2, 4))])
    model = SoftBalancedMixture(2, component="vmf", random_state=0).fit(X)
    assert model.labels_[-2:].tolist() == [-1, -1]
    assert model.predict(X)[-2:].tolist() == [-1, -1]
    assert model.predict_proba(X)[-1].tolist() == [0.5, 0.5]
    np.testing.assert_allclose(model.responsibilities_[:-2].sum(axis=0), 4.0)
    assert model.predict(X[-2:]).tolist() == [-1, -1]
    assert model.predict_proba(X[-2:]).tolist() == [[0.5, 0.5], [0.5, 0.5]]


def test_bad_input() -> None:
    X = np.arange(12.0).reshape(6, 2)
    with pytest.raises(ValueError, match="Negative values in data"):
        SoftBalancedMixture(2, component="multinomial").fit(-X)
