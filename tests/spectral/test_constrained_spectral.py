from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.linalg import eigh
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import make_circles, make_moons

from mustlink import ConstrainedSpectral, Constraints
from mustlink.errors import InfeasibleError, TooLargeError
from mustlink.metrics import adjusted_rand
from reference.spectral import feasible_vectors, neighbor_affinity, normalized_links, symmetric


def unit(A, links):
    """The satisfaction of a unit indicator that satisfies all links."""
    return 2 * (links.must_link_weight.sum() + links.cannot_link_weight.sum()) / A.sum()


def random_case(seed, n_pairs, n_rows=30):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n_rows, 2)), rng.integers(0, 3, n_rows)
    plain = Constraints.sample(y, n_pairs=n_pairs, random_state=seed)
    links = Constraints(
        plain.must_link,
        plain.cannot_link,
        must_link_weight=rng.uniform(0.5, 2, len(plain.must_link)),
        cannot_link_weight=rng.uniform(0.5, 2, len(plain.cannot_link)),
    )
    return X, links


@settings(deadline=None, max_examples=30)
@given(
    seed=st.integers(0, 1000),
    n_pairs=st.integers(4, 30),
    n_clusters=st.integers(2, 3),
    share=st.one_of(st.just("auto"), st.floats(-1, 0.9)),
)
def test_vectors_solve_the_generalized_eigenproblem(seed, n_pairs, n_clusters, share):
    X, links = random_case(seed, n_pairs)
    model = ConstrainedSpectral(n_clusters, satisfaction=share, n_neighbors=8, random_state=0)
    try:
        model.fit(X, constraints=links)
    except InfeasibleError:
        assert share >= model.largest_bound_ - 1e-4
        return
    assume(model.n_connected_components_ == 1)
    A = neighbor_affinity(X, 8, 7)
    L, Q = np.eye(30) - symmetric(A), normalized_links(A, links) / unit(A, links)
    _, costs, kept = feasible_vectors(A, links, model.bound_ * unit(A, links))
    n_wanted = n_clusters - 1
    np.testing.assert_allclose(model.costs_, costs[:n_wanted], atol=1e-6)
    np.testing.assert_allclose(model.satisfactions_, kept[:n_wanted] / unit(A, links), atol=1e-4)
    for v in model.vectors_.T:
        left, right = L @ v, Q @ v - model.bound_ * v
        value = (v @ left) / (v @ right)
        assert value > 0
        np.testing.assert_allclose(left, value * right, atol=1e-5 * max(1, value))


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 1000),
    n_pairs=st.integers(1, 40),
    n_clusters=st.integers(2, 5),
    n_components=st.sampled_from([None, 6, 15]),
    share=st.one_of(st.just("auto"), st.floats(-2, 3)),
)
def test_the_bound_is_met_or_refused(seed, n_pairs, n_clusters, n_components, share):
    X, links = random_case(seed, n_pairs)
    model = ConstrainedSpectral(
        n_clusters, satisfaction=share, n_components=n_components, n_neighbors=8, n_init=1, random_state=0
    )
    try:
        model.fit(X, constraints=links)
    except InfeasibleError:
        assert share != "auto"
        assert share >= model.largest_bound_ - 1e-4 * max(1.0, abs(model.largest_bound_))
        return
    assert model.vectors_.shape == (30, n_clusters - 1)
    np.testing.assert_allclose(np.linalg.norm(model.vectors_, axis=0), 1.0)
    if share != "auto":
        assert model.bound_ >= share - 1e-4 * max(1.0, abs(model.largest_bound_))
    if model.n_connected_components_ == 1:
        A = neighbor_affinity(X, 8, 7)
        Q = normalized_links(A, links) / unit(A, links)
        kept = np.array([v @ Q @ v for v in model.vectors_.T])
        assert (kept >= model.bound_ - 1e-8).all()
        np.testing.assert_allclose(kept, model.satisfactions_, atol=1e-7)


def test_the_largest_bound_is_in_the_error():
    X, y = make_moons(100, noise=0.1, random_state=0)
    links = Constraints.sample(y, n_pairs=20, random_state=0)
    model = ConstrainedSpectral(2, satisfaction=1e6, random_state=0)
    with pytest.raises(InfeasibleError, match="give a number below"):
        model.fit(X, constraints=links)
    just_below = model.largest_bound_ * 0.99
    assert model.set_params(satisfaction=just_below).fit(X, constraints=links).satisfactions_[0] >= just_below


def test_a_bound_that_the_constant_vector_meets_exactly():
    X, y = make_moons(100, noise=0.1, random_state=0)
    links = Constraints.sample(y, n_pairs=20, random_state=0)
    assert len(links.must_link) == len(links.cannot_link)
    model = ConstrainedSpectral(2, satisfaction=0.0, random_state=0).fit(X, constraints=links)
    assert model.vectors_.shape == (100, 1)
    assert model.satisfactions_[0] >= 0


def test_without_links_it_is_the_normalized_cut():
    X, _ = make_moons(100, noise=0.1, random_state=0)
    model = ConstrainedSpectral(3, n_neighbors=8, random_state=0).fit(X)
    A = neighbor_affinity(X, 8, 7)
    values, vectors = eigh(np.eye(100) - symmetric(A))
    np.testing.assert_allclose(model.costs_, values[1:3], atol=1e-9)
    np.testing.assert_allclose(np.abs(np.einsum("ij,ij->j", model.vectors_, vectors[:, 1:3])), 1.0, atol=1e-7)
    embedding = vectors[:, 1:3] / np.sqrt(A.sum(axis=1))[:, None]
    expected = KMeans(3, n_init=10, random_state=0).fit_predict(embedding * 100)
    assert adjusted_rand(expected, model.labels_) == 1.0
    assert model.bound_ is None


def test_with_a_very_low_bound_links_have_no_effect():
    X, y = make_moons(100, noise=0.15, random_state=0)
    links = Constraints.sample(y, n_pairs=20, random_state=0)
    plain = ConstrainedSpectral(2, random_state=0).fit(X)
    linked = ConstrainedSpectral(2, satisfaction=-1e7, random_state=0).fit(X, constraints=links)
    assert abs(plain.vectors_[:, 0] @ linked.vectors_[:, 0]) > 1 - 1e-6
    assert adjusted_rand(plain.labels_, linked.labels_) == 1.0


def test_all_components_span_the_whole_space():
    X, links = random_case(3, 20)
    whole = ConstrainedSpectral(3, n_components=None, random_state=0).fit(X, constraints=links)
    as_many = ConstrainedSpectral(3, n_components=30, random_state=0).fit(X, constraints=links)
    np.testing.assert_allclose(as_many.costs_, whole.costs_)
    few = ConstrainedSpectral(3, n_components=8, satisfaction=whole.bound_ / 4, random_state=0)
    few.fit(X, constraints=links)
    assert few.embedding_.shape == (30, 2)
    assert few.largest_bound_ <= whole.largest_bound_ + 1e-9


@pytest.mark.parametrize("n_components", [None, 30])
@pytest.mark.parametrize("shape", ["moons", "rings"])
def test_a_few_links_help_where_k_means_fails(n_components, shape):
    if shape == "moons":
        X, y = make_moons(300, noise=0.15, random_state=0)
    else:
        X, y = make_circles(300, factor=0.5, noise=0.08, random_state=0)
    links = Constraints.sample(y, n_pairs=60, random_state=0)
    model = ConstrainedSpectral(2, n_components=n_components, random_state=0)
    by_k_means = adjusted_rand(y, KMeans(2, n_init=3, random_state=0).fit_predict(X))
    plain = adjusted_rand(y, clone(model).fit_predict(X))
    linked = adjusted_rand(y, model.fit_predict(X, constraints=links))
    assert linked > max(by_k_means, plain) + 0.2
    assert linked > 0.75


def test_rows_and_links_in_another_order():
    X, y = make_moons(120, noise=0.15, random_state=0)
    links = Constraints.sample(y, n_pairs=40, random_state=0)
    model = ConstrainedSpectral(2, random_state=0).fit(X, constraints=links)
    order = np.random.default_rng(0).permutation(120)
    place = np.argsort(order)
    moved = Constraints(place[links.must_link], place[links.cannot_link])
    other = ConstrainedSpectral(2, random_state=0).fit(X[order], constraints=moved)
    assert abs(other.vectors_[:, 0] @ model.vectors_[order, 0]) > 1 - 1e-8
    assert adjusted_rand(other.labels_, model.labels_[order]) == 1.0


def test_heavier_links_are_satisfied_better():
    X, y = make_moons(120, noise=0.15, random_state=0)
    links = Constraints.sample(y, n_pairs=40, noise=0.2, random_state=0)
    a, b = links.must_link[0]

    def product(weight):
        weights = np.r_[weight, np.ones(len(links.must_link) - 1)]
        linked = Constraints(links.must_link, links.cannot_link, must_link_weight=weights)
        v = ConstrainedSpectral(2, random_state=0).fit(X, constraints=linked).vectors_[:, 0]
        return v[a] * v[b]

    assert product(40.0) > product(1.0)


def test_a_disconnected_graph_is_connected():
    X = np.r_[np.zeros((20, 1)), np.full((20, 1), 500.0)] + np.random.default_rng(0).normal(size=(40, 1))
    links = Constraints(must_link=[(0, 1)], cannot_link=[(0, 25)])
    model = ConstrainedSpectral(2, random_state=0).fit(X, constraints=links)
    assert model.n_connected_components_ == 2
    assert adjusted_rand(np.arange(40) >= 20, model.labels_) == 1.0
    affinity = np.kron(np.eye(2), np.ones((10, 10)))
    given = ConstrainedSpectral(2, affinity="precomputed", random_state=0)
    given.fit(affinity, constraints=Constraints(cannot_link=[(0, 15)]))
    assert adjusted_rand(np.arange(20) >= 10, given.labels_) == 1.0


def test_too_many_rows_for_all_eigenvectors():
    model = ConstrainedSpectral(2, n_components=None, max_samples=50)
    with pytest.raises(TooLargeError, match="60 x 60 numbers"):
        model.fit(np.eye(60))


def test_many_rows_use_fewer_eigenvectors():
    X, y = make_moons(1200, noise=0.1, random_state=0)
    links = Constraints.sample(y, n_pairs=60, random_state=0)
    model = ConstrainedSpectral(2, random_state=0).fit(X, constraints=links)
    assert adjusted_rand(y, model.labels_) > 0.9
    assert (model.satisfactions_ >= model.bound_).all()
