"""The confidence of the instant clustering."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from mustlink import Constraints
from mustlink.studio._instant import InstantClusterer
from reference.bottleneck import margins


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 25), st.integers(2, 5), st.integers(0, 10**6), st.booleans())
def test_margins_equal_those_of_the_best_paths(n_rows, n_groups, seed, has_ties):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, size=(n_rows, 2)).astype(float) if has_ties else rng.normal(size=(n_rows, 2))
    seeds = np.where(rng.random(n_rows) < 0.4, rng.integers(0, n_groups, n_rows), -1)
    links = Constraints.from_labels(seeds)
    if not len(links):
        return
    labels, found = InstantClusterer(X).cluster(links, [], None)
    linked = np.isin(np.arange(n_rows), links.constrained_rows())
    expected = margins(cdist(X, X), np.where(linked, labels, -1), labels)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert (found[linked] == 1).all()


def test_the_row_in_the_middle_is_the_least_certain():
    X = np.array([[0.0], [1.0], [2.5], [4.5], [6.0], [7.0]])
    labels, confidence = InstantClusterer(X).cluster(Constraints(cannot_link=[(0, 5)]), [], None)
    assert labels.tolist() == [0, 0, 0, 1, 1, 1]
    np.testing.assert_allclose(confidence, [1, 1 / 3, 1 / 7, 1 / 7, 1 / 3, 1])


def test_many_columns_of_a_large_table_are_reduced(monkeypatch):
    monkeypatch.setattr("mustlink.studio._instant.MAX_EXACT_ROWS", 30)
    X = np.random.default_rng(0).normal(size=(40, 20))
    assert InstantClusterer(X).is_reduced
    assert not InstantClusterer(X[:30]).is_reduced
    assert not InstantClusterer(X[:, :12]).is_reduced
    labels, _ = InstantClusterer(X).cluster(Constraints(cannot_link=[(0, 5)]), [], None)
    assert labels.max() == 1


def test_broken_links_are_no_warnings_and_the_filters_of_other_threads_stay(monkeypatch):
    def change_filters(*given, **options):
        raise AssertionError("The filters of warnings are those of all threads.")

    links = Constraints(must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2), (0, 3), (0, 4), (3, 4)], contradictions="keep")
    instant = InstantClusterer(np.arange(6.0)[:, None])
    instant.prepare()
    for n_clusters in (None, 2, 5):
        # The first call may compile, and the compiler changes the filters.
        instant.cluster(links, [], n_clusters)
        with monkeypatch.context() as patched:
            patched.setattr("warnings.catch_warnings", change_filters)
            labels, _ = instant.cluster(links, [], n_clusters)
        assert links.violation_rate(labels) > 0
