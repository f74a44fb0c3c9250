from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import ConvergenceWarning

from mustlink import Constraints
from mustlink.errors import InfeasibleError, InfeasibleWarning
from mustlink.estimator_checks._expect import same_partition
from mustlink.hierarchy import PartitionThenLink
from mustlink.metrics import adjusted_rand
from reference.feasibility import can_be_clustered


@pytest.mark.parametrize("linkage", ["single", "complete", "average", "ward"])
@pytest.mark.parametrize("n_clusters", [1, 2, 5, 20])
def test_without_links_it_is_k_means_and_a_linkage_of_centers(linkage, n_clusters):
    X, _ = load_iris(return_X_y=True)
    parts = KMeans(max(n_clusters, 12), n_init=1, random_state=3).fit(X)
    joined = AgglomerativeClustering(n_clusters, linkage=linkage).fit_predict(parts.cluster_centers_)
    found = PartitionThenLink(n_clusters, linkage=linkage, random_state=3).fit(X)
    assert same_partition(found.labels_, joined[parts.labels_])
    assert same_partition(found.part_labels_, parts.labels_)
    assert np.array_equal(found.predict(X), found.labels_)


def test_links_are_satisfied_and_linked_rows_are_parts():
    X, y = make_moons(500, noise=0.2, random_state=0)
    links = Constraints.sample(y, n_pairs=60, random_state=0)
    model = PartitionThenLink(2, n_parts=30, random_state=0).fit(X, constraints=links)
    assert model.violations_.is_empty
    assert model.n_clusters_ == 2
    rows = links.constrained_rows()
    assert np.array_equal(model.part_centers_[model.part_labels_[rows]], X[rows])
    assert (np.bincount(model.part_labels_)[model.part_labels_[rows]] == 1).all()
    plain = PartitionThenLink(2, n_parts=30, random_state=0).fit(X)
    assert adjusted_rand(y, model.labels_) > adjusted_rand(y, plain.labels_)


def test_errors_name_rows_not_parts():
    X = np.random.default_rng(0).normal(size=(50, 2))
    with pytest.raises(InfeasibleError, match="40 - 41 - 42"):
        PartitionThenLink(2).fit(X, constraints=Constraints([(40, 41), (41, 42)], [(40, 42)]))
    triangle = Constraints(cannot_link=[(40, 41), (41, 42), (40, 42)])
    with pytest.raises(InfeasibleError, match="40 - 42 - 41 - 40"):
        PartitionThenLink(2).fit(X, constraints=triangle)
    with pytest.warns(InfeasibleWarning, match="1 of 3"):
        model = PartitionThenLink(2, on_infeasible="relax").fit(X, constraints=triangle)
    assert len(model.violations_) == 1


def test_few_distinct_rows_make_few_clusters():
    X = np.repeat([[0.0], [5.0]], 10, axis=0)
    with pytest.warns(ConvergenceWarning, match="3 clusters were asked for, and 2 w"):
        model = PartitionThenLink(3, random_state=0).fit(X)
    assert same_partition(model.labels_, np.repeat([0, 1], 10))
    apart = PartitionThenLink(3, random_state=0).fit(X, constraints=Constraints(cannot_link=[(0, 1)]))
    assert apart.n_clusters_ == 3
    assert apart.labels_[0] != apart.labels_[1]


def test_the_same_seed_gives_the_same_parts():
    X = np.random.default_rng(0).normal(size=(100, 3)).astype(np.float32)
    one, other = (PartitionThenLink(4, random_state=7).fit(X) for _ in range(2))
    assert np.array_equal(one.part_centers_, other.part_centers_)
    assert one.part_centers_.dtype == np.float32


def test_clusters_that_k_means_cannot_find():
    X, y = make_moons(300, noise=0.04, random_state=0)
    assert adjusted_rand(y, PartitionThenLink(2, random_state=0).fit_predict(X)) == 1.0


@pytest.mark.parametrize("n_rows", [1, 2, 3, 4])
def test_few_rows(n_rows):
    X = np.arange(2.0 * n_rows).reshape(n_rows, 2)
    assert sorted(set(PartitionThenLink(min(2, n_rows), random_state=0).fit_predict(X))) == [0, 1][:n_rows]


@st.composite
def small_problems(draw):
    """Draw a few rows, many of them equal, links between them, and a number of clusters up to that of the rows."""
    n = draw(st.integers(2, 6))
    X = np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), dtype=float)[:, None]
    pairs = st.sampled_from([(i, j) for i in range(n) for j in range(i + 1, n)])
    links = draw(st.dictionaries(pairs, st.booleans(), min_size=1, max_size=6))
    k = draw(st.integers(1, n))
    return X, [pair for pair, must in links.items() if must], [pair for pair, must in links.items() if not must], k


@settings(max_examples=100, deadline=None)
@given(small_problems(), st.integers(0, 3))
@example((np.repeat([[0.0], [1.0]], 4, axis=0), [(0, 1)], [], 4), 0)
@example((np.array([[0.0], [3.0], [5.0], [8.0], [11.0], [12.0]]), [(0, 2)], [], 4), 0)
@example((np.zeros((6, 1)), [(0, 1)], [(1, 2)], 5), 0)
def test_links_are_refused_only_if_no_clustering_satisfies_them(problem, seed):
    X, must, cannot, k = problem
    links = Constraints(must, cannot)
    model = PartitionThenLink(k, random_state=seed)
    if not can_be_clustered(len(X), must, cannot, k):
        with pytest.raises(InfeasibleError):
            model.fit(X, constraints=links)
        return
    model.fit(X, constraints=links)
    assert len(set(model.labels_.tolist())) == model.n_clusters_ == k
    assert links.violations(model.labels_).is_empty
