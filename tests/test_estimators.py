"""Copies of estimators with seeds and numbers of clusters."""

from __future__ import annotations

import numpy as np
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline

from mustlink._estimators import clone_with, draw_seed


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
