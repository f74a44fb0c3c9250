from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans
from sklearn.datasets import make_circles, make_moons
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mustlink import Constraints, SpectralLearning
from mustlink.metrics import adjusted_rand
from mustlink.spectral import NormalizedSpectralClustering
from reference.spectral import additive, neighbor_affinity, row_normalized_top, symmetric, write_links

FORMS = {"symmetric": symmetric, "additive": additive}


def gram(model):
    return model.embedding_ @ model.embedding_.T


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 1000), form=st.sampled_from(sorted(FORMS)), n_pairs=st.integers(1, 40))
def test_embedding_matches_the_definition(seed, form, n_pairs):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 2)), rng.integers(0, 3, 40)
    links = Constraints.sample(y, n_pairs=n_pairs, random_state=seed)
    model = SpectralLearning(3, n_neighbors=8, normalization=form, random_state=0).fit(X, constraints=links)
    A = write_links(neighbor_affinity(X, 8, 7), links)
    if model.n_connected_components_ == 1:
        values = np.linalg.eigvalsh(FORMS[form](A))[::-1]
        np.testing.assert_allclose(model.eigenvalues_, values[:3], atol=1e-9)
        if values[2] - values[3] > 1e-6:
            expected = row_normalized_top(FORMS[form](A), 3)
            np.testing.assert_allclose(gram(model), expected @ expected.T, atol=1e-5)


def test_the_symmetric_form_without_links_is_normalized_spectral_clustering():
    X, _ = make_moons(150, noise=0.15, random_state=0)
    plain = NormalizedSpectralClustering(4, random_state=0).fit(X)
    model = SpectralLearning(4, normalization="symmetric", random_state=0).fit(X)
    np.testing.assert_allclose(model.embedding_, plain.embedding_)
    assert adjusted_rand(plain.labels_, model.labels_) == 1.0


def test_rows_and_links_in_another_order():
    rng = np.random.default_rng(0)
    X, y = make_moons(120, noise=0.15, random_state=0)
    links = Constraints.sample(y, n_pairs=40, random_state=0)
    model = SpectralLearning(2, random_state=0).fit(X, constraints=links)
    order = rng.permutation(120)
    place = np.argsort(order)
    moved = Constraints(place[links.must_link], place[links.cannot_link])
    other = SpectralLearning(2, random_state=0).fit(X[order], constraints=moved)
    np.testing.assert_allclose(gram(other), gram(model)[np.ix_(order, order)], atol=1e-7)
    assert adjusted_rand(other.labels_, model.labels_[order]) == 1.0


@pytest.mark.parametrize("shape", ["moons", "rings"])
def test_a_few_links_help_where_k_means_fails(shape):
    if shape == "moons":
        X, y = make_moons(300, noise=0.15, random_state=0)
    else:
        X, y = make_circles(300, factor=0.5, noise=0.08, random_state=0)
    links = Constraints.sample(y, n_pairs=80, random_state=0)
    by_k_means = adjusted_rand(y, KMeans(2, n_init=3, random_state=0).fit_predict(X))
    plain = adjusted_rand(y, SpectralLearning(2, random_state=0).fit_predict(X))
    linked = adjusted_rand(y, SpectralLearning(2, random_state=0).fit_predict(X, constraints=links))
    assert linked > max(by_k_means, plain) + 0.2
    assert linked > 0.75


@pytest.mark.parametrize(
    "estimator",
    [
        KMeans(5, n_init=2),
        AgglomerativeClustering(5, linkage="single"),
        NormalizedSpectralClustering(5, affinity="full"),
        make_pipeline(StandardScaler(), KMeans(5, n_init=2)),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_any_clusterer_can_be_used_on_the_eigenvectors(estimator):
    X, y = make_moons(200, noise=0.05, random_state=0)
    links = Constraints.sample(y, n_pairs=20, random_state=0)
    model = SpectralLearning(2, estimator=estimator, random_state=0).fit(X, constraints=links)
    assert adjusted_rand(y, model.labels_) == 1.0
    assert np.array_equal(model.labels_, clone(model).fit_predict(X, constraints=links))
    assert 5 in estimator.get_params().values(), "the estimator given was changed"


def test_a_clusterer_may_find_the_number_of_clusters():
    X, _ = make_moons(200, noise=0.05, random_state=0)
    model = SpectralLearning(2, estimator=HDBSCAN(copy=True), n_components=3, random_state=0).fit(X)
    assert model.embedding_.shape == (200, 3)
    assert len(model.labels_) == 200
    mixture = SpectralLearning(2, estimator=GaussianMixture(2, reg_covar=1e-3), random_state=0).fit(X)
    assert set(mixture.labels_) == {0, 1}


@pytest.mark.parametrize("estimator", [KMeans, 3, "kmeans"])
def test_other_estimators_are_refused(estimator):
    with pytest.raises(TypeError, match="fit_predict"):
        SpectralLearning(2, estimator=estimator).fit(np.eye(4))


@pytest.mark.parametrize("normalization", sorted(FORMS))
def test_rows_separated_from_all_neighbors_by_links(normalization):
    X = np.r_[np.random.default_rng(0).normal(size=(20, 2)), np.random.default_rng(1).normal(size=(20, 2)) + 8]
    apart = Constraints(cannot_link=[(5, other) for other in range(20) if other != 5])
    model = SpectralLearning(2, normalization=normalization, n_neighbors=5, random_state=0)
    model.fit(X, constraints=apart)
    assert model.n_connected_components_ == 3
    assert np.isfinite(model.embedding_).all()
    assert model.violations_.is_empty
    as_third = clone(model).set_params(n_clusters=3).fit(X, constraints=apart)
    assert adjusted_rand(np.where(np.arange(40) == 5, 2, np.arange(40) >= 20), as_third.labels_) == 1.0


def test_only_cannot_links():
    everywhere = Constraints(cannot_link=[(a, b) for a in range(6) for b in range(a)])
    model = SpectralLearning(2, random_state=0).fit(np.arange(12.0).reshape(6, 2), constraints=everywhere)
    assert model.n_connected_components_ == 6
    assert np.isfinite(model.embedding_).all()


def test_a_hub_of_must_links_scales_eigenvalues_only():
    X, y = make_moons(100, noise=0.1, random_state=0)
    same = np.flatnonzero(y == y[0])
    links = Constraints(must_link=[(0, int(row)) for row in same if row != 0])
    model = SpectralLearning(2, n_neighbors=8, random_state=0).fit(X, constraints=links)
    A = write_links(neighbor_affinity(X, 8, 7), links)
    laplacian = np.diag(A.sum(axis=1)) - A
    values = np.linalg.eigvalsh(laplacian)[:2]
    np.testing.assert_allclose((1 - model.eigenvalues_) * A.sum(axis=1).max(), values, atol=1e-8)
    assert model.violations_.is_empty


def test_precomputed_affinity_gives_the_same_labels():
    X, y = make_moons(80, noise=0.1, random_state=0)
    links = Constraints.sample(y, n_pairs=20, random_state=0)
    made = SpectralLearning(2, n_neighbors=6, random_state=0).fit(X, constraints=links)
    given = clone(made).set_params(affinity="precomputed").fit(neighbor_affinity(X, 6, 7), constraints=links)
    assert adjusted_rand(made.labels_, given.labels_) == 1.0
    np.testing.assert_allclose(gram(given), gram(made), atol=1e-7)


@pytest.mark.parametrize("parameters", [{"n_clusters": 5}, {"n_clusters": 2, "n_components": 5}])
def test_more_vectors_or_clusters_than_rows(parameters):
    with pytest.raises(ValueError, match="n_samples=4 should be >= n_"):
        SpectralLearning(**parameters).fit(np.eye(4))
