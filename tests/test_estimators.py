"""Copies of estimators with seeds and numbers of clusters."""

from __future__ import annotations

import numpy as np
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline

from mustlink import ConstrainedGaussianMixture, DistBoost, SpectralLearning
from mustlink._estimators import clone_with, count_parameter, draw_seed


def test_clones_are_configured_also_inside_a_pipeline():
    given = make_pipeline(PCA(2), KMeans(3))
    copy = clone_with(given, 5, 7)
    assert copy["kmeans"].n_clusters == 5
    assert copy["pca"].random_state == copy["kmeans"].random_state == 7
    assert given["kmeans"].n_clusters == 3
    assert given["kmeans"].random_state is None


def test_a_clusterer_that_finds_the_number_keeps_doing_so():
    copy = clone_with(AgglomerativeClustering(None, distance_threshold=1.0), 5, 7)
    assert copy.n_clusters is None


def test_seeds_are_repeatable():
    assert draw_seed(3) == draw_seed(3) != draw_seed(np.random.RandomState(4))


def test_the_parameter_for_the_number_of_clusters():
    assert count_parameter(KMeans()) == "n_clusters"
    assert count_parameter(DistBoost()) == "n_clusters"
    assert count_parameter(GaussianMixture()) == count_parameter(ConstrainedGaussianMixture()) == "n_components"
    for other in (PCA(2), DBSCAN(), KMeans, len, make_pipeline(PCA(2), KMeans())):
        assert count_parameter(other) is None


def test_the_number_of_a_mixture_inside_a_pipeline_is_set():
    copy = clone_with(make_pipeline(PCA(2), ConstrainedGaussianMixture()), 3, 11)
    assert copy["constrainedgaussianmixture"].n_components == 3
    assert copy["pca"].n_components == 2


def test_the_number_of_a_mixture_is_set():
    assert clone_with(GaussianMixture(), 3, 11).get_params()["n_components"] == 3
    assert clone_with(PCA(2), 3, 11).n_components == 2
    X = np.concatenate([np.zeros((9, 1)), np.full((9, 1), 5.0)]) + np.linspace(0, 1, 18)[:, None]
    assert len(set(SpectralLearning(2, estimator=GaussianMixture(), random_state=0).fit_predict(X))) == 2
