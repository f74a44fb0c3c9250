from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_circles, make_moons
from sklearn.utils.estimator_checks import parametrize_with_checks

from mustlink.metrics import adjusted_rand
from mustlink.spectral import NormalizedSpectralClustering
from reference.spectral import neighbor_affinity, row_normalized_top, symmetric

WAYS = [{}, {"affinity": "full"}, {"assign_labels": "rotation"}, {"scale_neighbor": None}]


@pytest.mark.filterwarnings("ignore:.*clusters:sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [NormalizedSpectralClustering(), NormalizedSpectralClustering(affinity="full", assign_labels="rotation")]
)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_precomputed_affinities_have_the_pairwise_tag():
    tags = NormalizedSpectralClustering(affinity="precomputed").__sklearn_tags__()
    assert tags.input_tags.pairwise
    assert tags.input_tags.positive_only
    assert not NormalizedSpectralClustering().__sklearn_tags__().input_tags.pairwise


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("shape", ["moons", "rings"])
def test_clusters_that_k_means_cannot_find(way, shape):
    if shape == "moons":
        X, y = make_moons(300, noise=0.05, random_state=0)
    else:
        X, y = make_circles(300, factor=0.4, noise=0.04, random_state=0)
    assert adjusted_rand(y, KMeans(2, n_init=3, random_state=0).fit_predict(X)) < 0.5
    assert adjusted_rand(y, NormalizedSpectralClustering(2, random_state=0, **way).fit_predict(X)) > 0.98


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("n_clusters", [1, 2, 5])
def test_number_of_clusters_and_repeatability(way, n_clusters):
    X, _ = load_iris(return_X_y=True)
    model = NormalizedSpectralClustering(n_clusters, random_state=0, **way)
    labels = model.fit_predict(X)
    assert sorted(set(labels)) == list(range(n_clusters))
    assert np.array_equal(labels, clone(model).fit_predict(X))


@pytest.mark.filterwarnings("ignore:.*clusters:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("n_rows", [1, 2, 3, 4])
def test_few_rows(way, n_rows):
    X = np.arange(2.0 * n_rows).reshape(n_rows, 2)
    labels = NormalizedSpectralClustering(min(2, n_rows), random_state=0, **way).fit_predict(X)
    assert len(labels) == n_rows
    assert len(set(labels)) <= 2


@pytest.mark.parametrize("way", WAYS)
def test_duplicate_rows(way):
    X = np.repeat([[0.0, 0.0], [1.0, 1.0], [5.0, 5.0]], 20, axis=0)
    labels = NormalizedSpectralClustering(3, random_state=0, **way).fit_predict(X)
    assert adjusted_rand(np.repeat([0, 1, 2], 20), labels) == 1.0


def test_more_pieces_than_clusters_are_connected_first():
    centers = np.array([0.0, 3.0, 1000.0, 1003.0, 2000.0])
    X = np.repeat(centers, 15)[:, None] + np.random.default_rng(0).normal(size=(75, 1)) * 0.05
    model = NormalizedSpectralClustering(3, random_state=0).fit(X)
    assert model.n_connected_components_ == 5
    assert adjusted_rand(np.repeat([0, 0, 1, 1, 2], 15), model.labels_) == 1.0


def test_embedding_matches_the_definition():
    X = np.random.default_rng(1).normal(size=(60, 2))
    model = NormalizedSpectralClustering(4, n_neighbors=7, random_state=0).fit(X)
    expected = row_normalized_top(symmetric(neighbor_affinity(X, 7, 7)), 4)
    np.testing.assert_allclose(model.embedding_ @ model.embedding_.T, expected @ expected.T, atol=1e-7)


def test_precomputed_affinity_gives_the_same_labels():
    X, _ = make_moons(80, noise=0.1, random_state=0)
    made = NormalizedSpectralClustering(3, n_neighbors=6, random_state=0).fit(X)
    given = clone(made).set_params(affinity="precomputed").fit(neighbor_affinity(X, 6, 7))
    assert adjusted_rand(made.labels_, given.labels_) == 1.0


def test_more_clusters_than_rows():
    with pytest.raises(ValueError, match="n_samples=3 should be >= n_clusters=4"):
        NormalizedSpectralClustering(4).fit(np.eye(3))
