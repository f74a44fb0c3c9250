"""The parts of FeedbackMixture against the formulas of chapter 2."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from scipy.spatial.distance import jensenshannon

from mustlink import Constraints
from mustlink._counts import as_counts, scale_columns
from mustlink.mixture._feedback._advice import Advice
from mustlink.mixture._feedback._divergence import (
    Documents,
    Gradients,
    cluster_gradient,
    pair_gradients,
    spread_gradient,
    term_gradient,
)
from mustlink.mixture._feedback._multinomials import EMOptions, Multinomials, draw_start, run_em
from mustlink.mixture._feedback._warping import WarpOptions, rescale, warp
from reference import feedback as slow

counts = arrays(np.int64, st.tuples(st.integers(2, 6), st.integers(2, 9)), elements=st.integers(0, 5))
COUNTS = np.random.RandomState(3).poisson(0.7, size=(12, 15)).astype(float)


def weights_of(n_terms: int, seed: int = 0) -> np.ndarray:
    drawn = np.random.RandomState(seed).exponential(size=n_terms) + 0.05
    return drawn / drawn.mean()


def dense(gradients: Gradients) -> np.ndarray:
    """The whole gradients: the background, and what is stored."""
    full = np.repeat(gradients.background[:, None], gradients.stored.shape[1], axis=1)
    entries = gradients.stored.tocoo()
    full[entries.coords] = entries.data
    return full


# ---- EM --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mstep", ["rescaled", "counts"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_em_is_that_of_the_formulas(mstep, form) -> None:
    gamma = weights_of(COUNTS.shape[1])
    start = draw_start(COUNTS, 3, 0.5, np.random.RandomState(1), {})
    options = EMOptions(alpha=0.5, mstep=mstep, tol=0.0, max_iter=4)
    run = run_em(as_counts(form(COUNTS)), gamma, start, Advice(), options)
    log_theta, log_prior, R, objectives = slow.em(
        COUNTS, gamma, start.log_probabilities, start.log_weights, 4, alpha=0.5, mstep=mstep
    )
    np.testing.assert_allclose(run.mixture.log_probabilities, log_theta)
    np.testing.assert_allclose(run.mixture.log_weights, log_prior)
    np.testing.assert_allclose(run.responsibilities, R, atol=1e-12)
    np.testing.assert_allclose(run.objective, objectives)


def test_weighted_em_is_em_on_scaled_counts() -> None:
    # Check 7: exact EM on the matrix N diag(gamma).
    gamma = weights_of(COUNTS.shape[1])
    start = draw_start(COUNTS * gamma, 3, 1.0, np.random.RandomState(1), {})
    one = run_em(COUNTS, gamma, start, Advice(), EMOptions(tol=1e-9))
    other = run_em(COUNTS * gamma, np.ones(len(gamma)), start, Advice(), EMOptions(tol=1e-9))
    np.testing.assert_allclose(one.objective, other.objective)
    np.testing.assert_allclose(one.responsibilities, other.responsibilities)


@given(counts, st.integers(1, 4), st.integers(0, 9), st.sampled_from([0.1, 1.0, 3.0]))
@settings(max_examples=40, deadline=None)
def test_the_objective_never_decreases(N, k, seed, alpha) -> None:
    gamma = weights_of(N.shape[1], seed)
    start = draw_start(scale_columns(N, gamma), k, alpha, np.random.RandomState(seed), {})
    run = run_em(N, gamma, start, Advice(), EMOptions(alpha=alpha, tol=0.0, max_iter=30))
    objective = np.array(run.objective)
    assert (np.diff(objective) >= -1e-9 * np.abs(objective[1:])).all()


def test_a_constant_weight_is_a_temperature() -> None:
    # Check 6: the likelihood to the power of c.
    start = draw_start(COUNTS, 3, 1.0, np.random.RandomState(0), {})
    plain = COUNTS @ start.log_probabilities.T
    for c in (0.3, 4.0):
        logs = start.log_joint(scale_columns(sparse.csr_array(COUNTS), np.full(COUNTS.shape[1], c)))
        np.testing.assert_allclose(logs, c * plain + start.log_weights)
    sharp, soft = (Advice().responsibilities(start.log_joint(c * COUNTS))[0].max(axis=1).mean() for c in (4.0, 0.3))
    assert sharp > soft


def test_a_constant_weight_keeps_clear_clusters() -> None:
    rng = np.random.RandomState(0)
    y = np.arange(30) % 3
    N = rng.multinomial(50, np.full(6, 1 / 6), size=30) + 60 * np.repeat(np.eye(3), 2, axis=1)[y]
    found = []
    for c in (1.0, 0.2, 5.0):
        start = Multinomials.estimate(N, np.eye(3)[y], 1.0)
        found.append(run_em(N, np.full(6, c), start, Advice(), EMOptions()).responsibilities.argmax(axis=1))
    assert (found[0] == y).all()
    assert (found[1] == y).all()
    assert (found[2] == y).all()


def test_a_start_keeps_given_components_and_is_drawn_from_the_rows() -> None:
    kept = np.log(np.full(COUNTS.shape[1], 1 / COUNTS.shape[1]))
    start = draw_start(COUNTS, 3, 1.0, np.random.RandomState(0), {1: kept})
    np.testing.assert_array_equal(start.log_probabilities[1], kept)
    np.testing.assert_allclose(np.exp(start.log_probabilities).sum(axis=1), 1)
    np.testing.assert_allclose(np.exp(start.log_weights), 1 / 3)


# ---- advice in the E-step --------------------------------------------------------------------------------------------


@given(st.integers(0, 999), st.integers(2, 3))
@settings(max_examples=30, deadline=None)
def test_advice_gives_the_probabilities_of_enumeration(seed, k) -> None:
    rng = np.random.RandomState(seed)
    n_rows, penalty = 5, 1.5
    logs = rng.normal(size=(n_rows, k))
    links = Constraints.sample(rng.permutation([0, 0, 0, 1, 1]), n_pairs=4, random_state=seed)
    advised, preference = np.array([0, 3]), -rng.exponential(size=(2, k))
    advice = Advice.of(links, advised, preference, penalty=penalty, n_components=k)
    found, log_evidence = advice.responsibilities(logs.copy())
    potentials = logs.copy()
    potentials[advised] += preference
    weights = {}
    for labels in product(range(k), repeat=n_rows):
        broken = len(links.violations(np.array(labels)))
        weights[labels] = np.exp(sum(potentials[row, c] for row, c in enumerate(labels)) - penalty * broken)
    total = sum(weights.values())
    np.testing.assert_allclose(log_evidence, np.log(total))
    for row, c in product(range(n_rows), range(k)):
        expected = sum(weight for labels, weight in weights.items() if labels[row] == c) / total
        np.testing.assert_allclose(found[row, c], expected, atol=1e-9)
    decoded = tuple(advice.labels(logs.copy(), found)[links.constrained_rows()])
    best = max(weights, key=weights.get)
    assert decoded == tuple(np.array(best)[links.constrained_rows()])


def test_advice_on_links_alone_has_no_preferences() -> None:
    advice = Advice.of(Constraints([(0, 1)]), np.array([2]), np.array([[0.0, -9.0]]), penalty=1.0, n_components=2)
    shares, _ = advice.without_preferences().responsibilities(np.zeros((3, 2)))
    np.testing.assert_allclose(shares, 0.5)


# ---- the divergence --------------------------------------------------------------------------------------------------


@given(counts, st.sampled_from(["equal", "length"]), st.sampled_from([0.01, 1.0]), st.sampled_from([None, 3.0]))
@settings(max_examples=60, deadline=None)
def test_gradients_of_pairs_are_those_of_the_formulas(N, mean, smoothing, cap) -> None:
    a, b = np.triu_indices(len(N), 1)
    documents = Documents.of(N, smoothing=smoothing, mean=mean, length_cap=cap)
    found = pair_gradients(documents, np.column_stack([a, b]))
    options = {"smoothing": smoothing, "mean": mean, "cap": np.inf if cap is None else cap}
    expected = np.array([slow.pair_gradient(N[i], N[j], **options) for i, j in zip(a, b, strict=True)])
    np.testing.assert_allclose(dense(found), expected, atol=1e-12)
    # Check 4: linear in the weights; and what the warping needs of the stored form.
    gamma = weights_of(N.shape[1])
    np.testing.assert_allclose(found.divergence(gamma), expected @ gamma, atol=1e-12)
    np.testing.assert_allclose(found.largest(gamma), np.abs(expected * gamma).max(axis=1), atol=1e-12)
    factor = np.linspace(-1, 1, len(a))
    np.testing.assert_allclose(found.combine(factor), factor @ expected, atol=1e-12)


def test_only_terms_of_a_pair_are_stored() -> None:
    documents = Documents.of(COUNTS)
    stored = pair_gradients(documents, np.array([[0, 1]])).stored
    assert stored.nnz == np.count_nonzero(COUNTS[0] + COUNTS[1]) < COUNTS.shape[1]


def test_the_divergence_is_symmetric_and_zero_only_for_equal_rows() -> None:
    # Check 2.
    documents = Documents.of(np.vstack([COUNTS, 2 * COUNTS[:1], COUNTS[:1]]), smoothing=0.1)
    ones = np.ones(COUNTS.shape[1])
    there = pair_gradients(documents, np.array([[0, 1], [3, 7], [0, 13]])).divergence(ones)
    back = pair_gradients(documents, np.array([[1, 0], [7, 3], [13, 0]])).divergence(ones)
    np.testing.assert_allclose(there, back)
    assert (there[:2] > 0).all()
    assert there[2] == 0


def test_equal_lengths_give_the_jensen_shannon_divergence() -> None:
    # Check 2: 2 L JS; check 4: no negative entries.
    N = np.random.RandomState(0).multinomial(20, np.full(7, 1 / 7), size=2)
    found = pair_gradients(Documents.of(N), np.array([[0, 1]]))
    p, q = (np.array(slow.theta_of(row)) for row in N)
    np.testing.assert_allclose(found.divergence(np.ones(7))[0], 2 * 20 * jensenshannon(p, q) ** 2)
    assert dense(found).min() >= 0


def test_unequal_lengths_can_give_negative_entries() -> None:
    # Check 4.
    assert slow.pair_gradient([9, 0, 0], [0, 1, 0]).min() < 0
    assert dense(pair_gradients(Documents.of([[9, 0, 0], [0, 1, 0]]), np.array([[0, 1]]))).min() < 0


def test_the_mean_by_length_gives_the_likelihood_ratio() -> None:
    # Check 3: unsmoothed, two multinomials against one.
    N = np.array([[3, 0, 5, 1], [0, 4, 1, 0]])
    found = pair_gradients(Documents.of(N, smoothing=0.0, mean="length"), np.array([[0, 1]]))

    def log_likelihood(x, theta):
        return sum(count * np.log(share) for count, share in zip(x, theta, strict=True) if count)

    together = N.sum(axis=0) / N.sum()
    ratio = sum(log_likelihood(x, x / x.sum()) - log_likelihood(x, together) for x in N)
    np.testing.assert_allclose(found.divergence(np.ones(4))[0], ratio)
    assert dense(found).min() >= 0


def test_the_gradient_is_that_of_finite_differences() -> None:
    # Check 4.
    gamma = weights_of(COUNTS.shape[1])
    gradient = dense(pair_gradients(Documents.of(COUNTS), np.array([[2, 5]])))[0]
    for j in range(len(gamma)):
        moved = gamma + 1e-4 * (np.arange(len(gamma)) == j)
        change = slow.divergence(COUNTS[2], COUNTS[5], moved) - slow.divergence(COUNTS[2], COUNTS[5], gamma)
        np.testing.assert_allclose(change / 1e-4, gradient[j], atol=1e-7)


@given(counts, st.sampled_from([0.1, 1.0]), st.sampled_from([None, 4.0]))
@settings(max_examples=40, deadline=None)
def test_gradients_of_rows_and_clusters_are_those_of_the_formulas(N, smoothing, cap) -> None:
    theta = np.array(slow.theta_of(N.sum(axis=0)))
    documents = Documents.of(N, smoothing=smoothing, length_cap=cap)
    expected = []
    for x in N:
        length = min(sum(x), np.inf if cap is None else cap)
        expected.append(slow.gradient(slow.theta_of(x, smoothing), theta, length, length))
    for row in range(len(N)):
        np.testing.assert_allclose(cluster_gradient(documents, row, theta), expected[row], atol=1e-12)
    rows = np.arange(0, len(N), 2)
    found = spread_gradient(documents, rows, theta)
    np.testing.assert_allclose(found, np.sum([expected[row] for row in rows], axis=0), atol=1e-11)


def test_gradients_of_a_large_cluster_are_computed_in_parts(monkeypatch) -> None:
    documents, theta = Documents.of(COUNTS), np.array(slow.theta_of(COUNTS.sum(axis=0)))
    whole = spread_gradient(documents, np.arange(12), theta)
    monkeypatch.setattr("mustlink.mixture._feedback._divergence.MAX_ENTRIES", 1)
    np.testing.assert_allclose(spread_gradient(documents, np.arange(12), theta), whole)


def test_clusters_are_compared_with_equal_lengths() -> None:
    p, q = np.array([0.2, 0.8]), np.array([0.5, 0.5])
    np.testing.assert_allclose(term_gradient(p, q, 1.0, 1.0).sum(), 2 * jensenshannon(p, q) ** 2)


# ---- warping ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("update", ["additive", "multiplicative"])
@given(counts, st.integers(0, 9))
@settings(max_examples=30, deadline=None)
def test_warping_is_that_of_the_formulas(update, N, seed) -> None:
    gamma = weights_of(N.shape[1], seed)
    a, b = np.triu_indices(len(N), 1)
    factor = np.where(np.arange(len(a)) % 2, 1.0, -2.0)
    found = warp(
        gamma,
        pair_gradients(Documents.of(N), np.column_stack([a, b])),
        factor,
        WarpOptions(update, 0.3, 3, clip=(1e-9, 1e9)),
    )
    gradients = [slow.pair_gradient(N[i], N[j]) for i, j in zip(a, b, strict=True)]
    np.testing.assert_allclose(found, slow.warp(gamma, gradients, factor, 0.3, 3, update), rtol=1e-9)


@pytest.mark.parametrize("update", ["additive", "multiplicative"])
@pytest.mark.parametrize("mean", ["equal", "length"])
def test_a_step_moves_a_pair_apart_or_together(update, mean) -> None:
    # Check 5: relative to the mean divergence of all pairs.
    a, b = np.triu_indices(len(COUNTS), 1)
    everything = pair_gradients(Documents.of(COUNTS, mean=mean), np.column_stack([a, b]))
    for pair in range(0, len(a), 7):
        one = everything.take(np.array([pair]))
        ratios = [one.divergence(np.ones(15))[0] / everything.divergence(np.ones(15)).mean()]
        for factor in (1.0, -1.0):
            gamma = warp(np.ones(15), one, np.array([factor]), WarpOptions(update))
            assert gamma.min() > 0
            np.testing.assert_allclose(gamma.mean(), 1)
            ratios.append(one.divergence(gamma)[0] / everything.divergence(gamma).mean())
        assert ratios[2] < ratios[0] < ratios[1]


def test_weights_stay_between_their_bounds_with_mean_1() -> None:
    gradients = pair_gradients(Documents.of(COUNTS), np.array([[0, 1]]))
    for update in ("additive", "multiplicative"):
        options = WarpOptions(update, step=1.0, n_steps=60, clip=(0.2, 3.0))
        for factor in (1.0, -1.0):
            gamma = warp(np.ones(15), gradients, np.array([factor]), options)
            assert 0.2 <= gamma.min() <= gamma.max() <= 3.0
            np.testing.assert_allclose(gamma.mean(), 1)
    np.testing.assert_allclose(rescale(np.array([1e-9, 1.0, 1e9]), (0.5, 2.0)).mean(), 1)


def test_a_ridge_pulls_weights_to_1() -> None:
    gradients = pair_gradients(Documents.of(COUNTS), np.array([[0, 1]]))
    free, held = (warp(np.ones(15), gradients, np.ones(1), WarpOptions(ridge=ridge)) for ridge in (0.0, 0.2))
    assert np.abs(np.log(held)).max() < np.abs(np.log(free)).max()


def test_equal_rows_do_not_move_the_weights() -> None:
    gradients = pair_gradients(Documents.of(np.vstack([COUNTS[0], COUNTS[0]])), np.array([[0, 1]]))
    np.testing.assert_array_equal(warp(np.ones(15), gradients, np.ones(1), WarpOptions()), np.ones(15))
