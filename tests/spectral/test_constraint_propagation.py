from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_digits, make_blobs, make_moons

from mustlink import ConstraintPropagation, Constraints, SpectralLearning
from mustlink.errors import TooLargeError
from mustlink.metrics import adjusted_rand
from mustlink.spectral import NormalizedSpectralClustering, _link_propagation
from reference.spectral import adjust_affinity, neighbor_affinity, propagate_links, row_normalized_top, symmetric

EXACT = 1e-13


def dense(model):
    return model.affinity_.toarray() if sparse.issparse(model.affinity_) else model.affinity_


def weighted(links, rng):
    return Constraints(
        links.must_link,
        links.cannot_link,
        must_link_weight=rng.uniform(0.2, 3, len(links.must_link)),
        cannot_link_weight=rng.uniform(0.2, 3, len(links.cannot_link)),
    )


@settings(deadline=None, max_examples=25)
@given(
    seed=st.integers(0, 1000),
    n_pairs=st.integers(1, 60),
    alpha=st.floats(0.05, 0.95),
    affinity=st.sampled_from(["nearest_neighbors", "sparse", "dense"]),
)
def test_affinities_match_the_definition(seed, n_pairs, alpha, affinity):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 2)), rng.integers(0, 3, 40)
    links = weighted(Constraints.sample(y, n_pairs=n_pairs, random_state=seed), rng)
    A = neighbor_affinity(X, 8, 7)
    given_as = {"nearest_neighbors": X, "sparse": sparse.csr_matrix(A), "dense": A}[affinity]
    model = ConstraintPropagation(
        3,
        alpha=alpha,
        cutoff=EXACT,
        n_neighbors=8,
        affinity=affinity if affinity == "nearest_neighbors" else "precomputed",
        estimator=KMeans(n_init=1),
        random_state=0,
    ).fit(given_as, constraints=links)
    expected = adjust_affinity(A, propagate_links(A, links, alpha))
    np.testing.assert_allclose(dense(model), dense(model).T)
    if model.n_connected_components_ <= 3:
        np.testing.assert_allclose(dense(model), expected, atol=1e-8)
    if model.n_connected_components_ == 1:
        values = np.linalg.eigvalsh(symmetric(expected))[::-1]
        np.testing.assert_allclose(model.eigenvalues_, values[:3], atol=1e-7)
        if values[2] - values[3] > 1e-3:
            top = row_normalized_top(symmetric(expected), 3)
            np.testing.assert_allclose(model.embedding_ @ model.embedding_.T, top @ top.T, atol=1e-4)


def test_what_the_cutoff_drops_is_small(monkeypatch):
    monkeypatch.setattr(_link_propagation, "MAX_NEW_EDGES", 300)
    X, y = make_moons(300, noise=0.15, random_state=0)
    links = Constraints.sample(y, n_pairs=50, random_state=0)
    exact = ConstraintPropagation(2, cutoff=1e-9, random_state=0).fit(X, constraints=links)
    sizes, errors = [], []
    for cutoff in (1e-1, 1e-2, 1e-3):
        model = ConstraintPropagation(2, cutoff=cutoff, random_state=0).fit(X, constraints=links)
        errors.append(abs(model.affinity_ - exact.affinity_).max())
        sizes.append(model.affinity_.nnz)
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.05
    assert sizes == sorted(sizes)
    assert sizes[-1] < exact.affinity_.nnz


def test_blocks_of_rows_give_the_same_graph(monkeypatch):
    X, y = make_blobs(150, random_state=0)
    links = Constraints.sample(y, n_pairs=80, random_state=0)
    model = ConstraintPropagation(3, random_state=0).fit(X, constraints=links)
    monkeypatch.setattr(_link_propagation, "MAX_PRODUCTS", 100)
    blocked = clone(model).fit(X, constraints=links)
    np.testing.assert_array_equal(dense(blocked), dense(model))


def test_rows_choose_a_bounded_number_of_new_edges(monkeypatch):
    X, y = make_blobs(150, random_state=0)
    links = Constraints.sample(y, n_pairs=300, random_state=0)
    model = ConstraintPropagation(3, n_neighbors=5, random_state=0)
    plain = model.fit(X).affinity_
    complete = clone(model).fit(X, constraints=links).affinity_
    monkeypatch.setattr(_link_propagation, "MAX_NEW_EDGES", 4)
    few = clone(model).fit(X, constraints=links).affinity_
    assert few.nnz - plain.nnz <= 2 * 4 * 150 < complete.nnz - plain.nnz
    both = few.multiply(complete > 0)
    assert abs(both - few).max() == 0, "an edge that only the bounded graph has"


@pytest.mark.parametrize("affinity", ["nearest_neighbors", "full"])
def test_without_links_it_is_normalized_spectral_clustering(affinity):
    X, _ = make_moons(150, noise=0.15, random_state=0)
    plain = NormalizedSpectralClustering(4, affinity=affinity, random_state=0).fit(X)
    model = ConstraintPropagation(4, affinity=affinity, random_state=0).fit(X)
    np.testing.assert_allclose(model.embedding_, plain.embedding_)
    assert adjusted_rand(plain.labels_, model.labels_) == 1.0
    assert model.violations_.is_empty


def test_only_the_ratios_of_weights_matter():
    X, y = make_moons(120, noise=0.15, random_state=0)
    links = weighted(Constraints.sample(y, n_pairs=30, random_state=0), np.random.default_rng(0))
    heavy = Constraints(
        links.must_link,
        links.cannot_link,
        must_link_weight=1e6 * links.must_link_weight,
        cannot_link_weight=1e6 * links.cannot_link_weight,
    )
    model = ConstraintPropagation(2, random_state=0).fit(X, constraints=links)
    np.testing.assert_allclose(dense(clone(model).fit(X, constraints=heavy)), dense(model), rtol=1e-9)


def test_one_heavy_link_leaves_the_others_their_effect():
    X, y = make_blobs(150, centers=3, cluster_std=2.0, random_state=0)
    links = Constraints.sample(y, n_pairs=60, random_state=0)
    heavy = np.ones(len(links.must_link))
    heavy[0] = 1e4
    heavy_links = Constraints(links.must_link, links.cannot_link, must_link_weight=heavy)
    model = ConstraintPropagation(3, random_state=0).fit(X, constraints=heavy_links)
    affinity = dense(model)
    assert np.median(affinity[tuple(links.must_link.T)]) > 0.9
    assert np.median(affinity[tuple(links.cannot_link.T)]) < 0.1


def test_rows_and_links_in_another_order():
    X, y = make_moons(120, noise=0.15, random_state=0)
    links = Constraints.sample(y, n_pairs=40, random_state=0)
    model = ConstraintPropagation(2, random_state=0).fit(X, constraints=links)
    order = np.random.default_rng(0).permutation(120)
    place = np.argsort(order)
    moved = Constraints(place[links.must_link], place[links.cannot_link])
    other = ConstraintPropagation(2, random_state=0).fit(X[order], constraints=moved)
    np.testing.assert_allclose(dense(other), dense(model)[np.ix_(order, order)], atol=1e-9)
    assert adjusted_rand(other.labels_, model.labels_[order]) == 1.0


def test_the_graph_is_computed_once_for_several_sets_of_links():
    X, y = make_moons(100, noise=0.15, random_state=0)
    graph = ConstraintPropagation(2, random_state=0).fit(X).affinity_
    assert graph.indices.dtype == graph.indptr.dtype == np.int32
    for seed in range(3):
        links = Constraints.sample(y, n_pairs=20, random_state=seed)
        made = ConstraintPropagation(2, random_state=0).fit(X, constraints=links)
        before = graph.copy()
        again = ConstraintPropagation(2, affinity="precomputed", random_state=0).fit(graph, constraints=links)
        np.testing.assert_allclose(dense(again), dense(made), atol=1e-12)
        assert adjusted_rand(again.labels_, made.labels_) == 1.0
        assert (graph != before).nnz == 0, "the given graph was changed"


def test_neighbors_of_linked_rows_follow_the_links():
    X, y = load_digits(return_X_y=True)
    X, y = X[:600], y[:600]
    plain = NormalizedSpectralClustering(10, random_state=0).fit(X).labels_
    scores = []
    for seed in range(3):
        links = Constraints.sample(y, n_pairs=200, random_state=seed)
        propagated = ConstraintPropagation(10, random_state=0).fit(X, constraints=links).labels_
        learned = SpectralLearning(10, normalization="symmetric", random_state=0).fit(X, constraints=links).labels_
        free = np.setdiff1d(np.arange(600), links.pairs)
        scores.append([adjusted_rand(y[free], labels[free]) for labels in (propagated, learned, plain)])
    ours, linked_rows_only, without_links = np.mean(scores, axis=0)
    assert ours > max(linked_rows_only, without_links) + 0.02


@pytest.mark.parametrize("kind", ["must_link", "cannot_link"])
def test_one_kind_of_links(kind):
    X, y = make_moons(200, noise=0.12, random_state=0)
    links = Constraints.sample(y, n_pairs=120, random_state=0)
    only = Constraints(**{kind: getattr(links, kind)})
    plain = ConstraintPropagation(2, random_state=0).fit(X)
    model = clone(plain).fit(X, constraints=only)
    difference = dense(model) - dense(plain)
    # Every propagated value has the sign of the links.
    assert (difference >= -1e-12).all() if kind == "must_link" else (difference <= 1e-12).all()
    # Cannot-links between rows without edges near each other have no effect.
    assert len(model.violations_) <= len(only.violations(plain.labels_)) - (kind == "must_link")


@pytest.mark.parametrize("affinity", ["nearest_neighbors", "precomputed"])
def test_disconnected_graphs(affinity):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(15, 2)) + 30 * center for center in rng.normal(size=(4, 2))])
    group = np.repeat(np.arange(4), 15)
    given_as = X if affinity == "nearest_neighbors" else sparse.csr_matrix(neighbor_affinity(X, 5, 7))
    model = ConstraintPropagation(2, n_neighbors=5, affinity=affinity, random_state=0)
    assert model.fit(given_as).n_connected_components_ == 4
    links = Constraints(must_link=[(0, 15), (1, 16), (30, 45), (31, 46)], cannot_link=[(0, 30), (16, 47)])
    joined = clone(model).fit(given_as, constraints=links)
    assert joined.n_connected_components_ == 2
    assert adjusted_rand(group // 2, joined.labels_) == 1.0
    assert joined.violations_.is_empty


def test_rows_without_edges():
    A = np.zeros((8, 8))
    A[0, 1] = A[1, 0] = A[2, 3] = A[3, 2] = 0.5
    links = Constraints(must_link=[(4, 5), (6, 7), (0, 4)], cannot_link=[(0, 6)])
    model = ConstraintPropagation(3, affinity="precomputed", random_state=0).fit(A, constraints=links)
    assert np.isfinite(model.embedding_).all()
    assert model.violations_.is_empty
    nothing = ConstraintPropagation(2, affinity="precomputed", random_state=0)
    assert np.isfinite(nothing.fit(sparse.csr_matrix((8, 8)), constraints=links).embedding_).all()


def test_links_that_cancel():
    A = np.full((3, 3), 0.5) - 0.5 * np.eye(3)
    links = Constraints(must_link=[(0, 1)], cannot_link=[(0, 2)])
    for given_as in (A, sparse.csr_matrix(A)):
        model = ConstraintPropagation(2, affinity="precomputed", random_state=0).fit(given_as, constraints=links)
        affinity = dense(model)
        np.testing.assert_allclose(affinity[np.triu_indices(3, 1)], [1.0, 0.0, 0.5], atol=1e-12)


def test_wrong_and_contradictory_links_are_soft():
    X, y = make_blobs(90, centers=3, random_state=0)
    links = Constraints.sample(y, n_pairs=60, noise=0.2, random_state=0)
    chain = Constraints(must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)])
    for given_links in (links, chain):
        model = ConstraintPropagation(3, random_state=0).fit(X, constraints=given_links)
        assert np.isfinite(model.embedding_).all()
        assert model.violations_ == given_links.violations(model.labels_)


def test_any_clusterer_can_be_used_on_the_eigenvectors():
    X, y = make_moons(200, noise=0.05, random_state=0)
    links = Constraints.sample(y, n_pairs=20, random_state=0)
    model = ConstraintPropagation(2, estimator=AgglomerativeClustering(5, linkage="single"), n_components=2)
    assert adjusted_rand(y, model.fit_predict(X, constraints=links)) == 1.0
    assert model.estimator_.n_clusters == 2
    with pytest.raises(TypeError, match="fit_predict"):
        ConstraintPropagation(2, estimator="kmeans").fit(np.eye(4))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_affinities_above_1_are_refused(kind):
    A = kind(3.0 * (np.ones((4, 4)) - np.eye(4)))
    with pytest.raises(ValueError, match=r"at most 1; it contains 3\. Divide it by that"):
        ConstraintPropagation(2, affinity="precomputed").fit(A)


@pytest.mark.parametrize(
    "parameters",
    [{"alpha": 0.0}, {"alpha": 1.0}, {"alpha": "auto"}, {"cutoff": 0.0}, {"cutoff": 1.0}, {"n_components": 0}],
)
def test_bad_parameters(parameters):
    name = next(iter(parameters))
    with pytest.raises(ValueError, match=f"The '{name}' parameter"):
        ConstraintPropagation(2, **parameters).fit(np.eye(4))


@pytest.mark.parametrize("parameters", [{"n_clusters": 5}, {"n_clusters": 2, "n_components": 5}])
def test_more_vectors_or_clusters_than_rows(parameters):
    with pytest.raises(ValueError, match="n_samples=4 should be >= n_"):
        ConstraintPropagation(**parameters).fit(np.eye(4))


def test_a_full_graph_of_many_rows_is_refused():
    with pytest.raises(TooLargeError, match="max_samples"):
        ConstraintPropagation(2, affinity="full", max_samples=50).fit(np.eye(51))


def test_float32_rows():
    X, y = make_moons(100, noise=0.1, random_state=0)
    links = Constraints.sample(y, n_pairs=20, random_state=0)
    model = ConstraintPropagation(2, random_state=0).fit(X.astype(np.float32), constraints=links)
    assert model.embedding_.dtype == np.float32
    assert adjusted_rand(model.labels_, clone(model).fit(X, constraints=links).labels_) == 1.0


def test_nothing_of_the_square_of_the_number_of_rows():
    n_rows = 30_000
    ring = np.arange(n_rows)
    graph = sparse.csr_matrix((np.full(n_rows, 0.5), (ring, (ring + 1) % n_rows)), shape=(n_rows, n_rows))
    links = Constraints(must_link=[(10, 15_000)], cannot_link=[(10, 12)])
    adjusted = _link_propagation.spread_links(
        _link_propagation.Graph(sparse.csr_array(graph + graph.T)), links, 0.9, 0.01
    )
    assert 0 < adjusted.n_long_edges < 1_000
    assert adjusted.weights.nnz < 3 * n_rows
