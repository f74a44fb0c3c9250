"""SeededKMeans: where seeds come from, and whether they stay."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from mustlink import Constraints, SeededKMeans
from reference.lloyd import lloyd

X, Y = make_blobs(90, centers=3, cluster_std=3.0, random_state=4)
PARTIAL = np.where(np.arange(90) % 6 == 0, Y, -1)


def seed_means(y: np.ndarray) -> np.ndarray:
    return np.array([X[y == c].mean(axis=0) for c in np.unique(y[y != -1])])


def test_it_is_k_means_from_the_means_of_the_seeds() -> None:
    model = SeededKMeans(3, tol=0).fit(X, PARTIAL)
    np.testing.assert_array_equal(model.labels_, KMeans(3, init=seed_means(PARTIAL), n_init=1, tol=0).fit(X).labels_)
    np.testing.assert_array_equal(model.labels_, lloyd(X, seed_means(PARTIAL), np.ones(90))[0])
    assert model.violations_ == Constraints.from_labels(PARTIAL).violations(model.labels_)


def test_held_seeds_never_move_and_the_others_are_nearest_to_their_center() -> None:
    wrong = PARTIAL.copy()
    wrong[[0, 6, 12]] = (wrong[[0, 6, 12]] + 1) % 3
    model = SeededKMeans(3, constrained=True, tol=0).fit(X, wrong)
    known = wrong != -1
    np.testing.assert_array_equal(model.labels_[known], wrong[known])
    distance = np.square(X[:, None] - model.cluster_centers_[None]).sum(axis=2)
    np.testing.assert_array_equal(model.labels_[~known], distance[~known].argmin(axis=1))
    for c in range(3):
        np.testing.assert_allclose(model.cluster_centers_[c], X[model.labels_ == c].mean(axis=0))
    assert model.inertia_ == pytest.approx(distance[np.arange(90), model.labels_].sum())
    assert np.all(np.diff(model.objective_) <= 1e-9)
    free = SeededKMeans(3, tol=0).fit(X, wrong)
    assert not np.array_equal(free.labels_[known], wrong[known])


@pytest.mark.parametrize("names", [["b", "c", "a"], [10, 20, 5]])
def test_cluster_numbers_follow_the_sorted_classes(names: list[object]) -> None:
    missing = None if isinstance(names[0], str) else -1
    y = np.array([missing if label == -1 else names[label] for label in PARTIAL], dtype=object)
    if missing == -1:
        y = y.astype(int)
    model = SeededKMeans(3, constrained=True).fit(X, y)
    in_order = sorted(names)  # type: ignore[type-var]
    for row in np.flatnonzero(PARTIAL != -1):
        assert in_order[model.labels_[row]] == names[PARTIAL[row]]


def test_fewer_classes_than_clusters() -> None:
    two = np.where(PARTIAL == 2, -1, PARTIAL)
    model = SeededKMeans(3, constrained=True, n_init=5, random_state=0).fit(X, two)
    assert set(model.labels_) == {0, 1, 2}
    np.testing.assert_array_equal(model.labels_[two != -1], two[two != -1])
    again = SeededKMeans(3, constrained=True, n_init=5, random_state=0).fit(X, two)
    np.testing.assert_array_equal(model.labels_, again.labels_)


def test_a_row_apart_from_all_classes_is_a_seed_of_its_own() -> None:
    two = np.where(PARTIAL == 2, -1, PARTIAL)
    row = int(np.flatnonzero(PARTIAL == 2)[0])
    apart = [(row, int(np.flatnonzero(two == c)[0])) for c in (0, 1)]
    model = SeededKMeans(3, constrained=True).fit(X, two, constraints=Constraints(cannot_link=apart))
    assert model.labels_[row] == 2


def test_more_classes_than_clusters_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"3 classes, more than the 2 clusters .*; use n_clusters=3 or more"):
        SeededKMeans(2).fit(X, PARTIAL)


def test_must_links_spread_a_class_unless_they_contradict() -> None:
    rows = np.flatnonzero(PARTIAL == -1)[:4].tolist()
    seed_0, seed_1 = int(np.flatnonzero(PARTIAL == 0)[0]), int(np.flatnonzero(PARTIAL == 1)[0])
    links = Constraints(must_link=[(seed_0, rows[0]), (rows[0], rows[1])])
    model = SeededKMeans(3, constrained=True).fit(X, PARTIAL, constraints=links)
    assert model.labels_[rows[0]] == model.labels_[rows[1]] == 0
    # Joined to two classes, a row has none; the labeled rows keep theirs.
    torn = Constraints(must_link=[(seed_0, rows[2]), (seed_1, rows[2])])
    model = SeededKMeans(3, constrained=True).fit(X, PARTIAL, constraints=torn)
    np.testing.assert_array_equal(model.labels_[PARTIAL != -1], PARTIAL[PARTIAL != -1])
    expected = SeededKMeans(3, constrained=True).fit(X, PARTIAL)
    np.testing.assert_array_equal(model.labels_, expected.labels_)


def test_without_labels_must_link_components_are_the_seeds() -> None:
    links = Constraints.from_labels(PARTIAL)
    by_links = SeededKMeans(3, constrained=True).fit(X, constraints=Constraints(links.must_link))
    by_labels = SeededKMeans(3, constrained=True).fit(X, PARTIAL)
    for c in range(3):
        assert len(set(by_links.labels_[c == PARTIAL])) == 1
    same = by_links.labels_[:, None] == by_links.labels_
    np.testing.assert_array_equal(same, by_labels.labels_[:, None] == by_labels.labels_)


def test_only_chosen_components_are_held() -> None:
    table = np.array([[0.0], [0.1], [10.0], [10.1], [4.9], [5.2], [0.3], [9.9]])
    links = Constraints(must_link=[(0, 1), (1, 6), (2, 3), (3, 7), (4, 5)])
    model = SeededKMeans(2, constrained=True).fit(table, constraints=links)
    assert model.labels_[0] == model.labels_[1] == model.labels_[6]
    assert model.labels_[2] == model.labels_[3] == model.labels_[7]
    # The third component is no seed: its rows go where they are near, one to each side.
    assert model.labels_[4] == model.labels_[0]
    assert model.labels_[5] == model.labels_[2]
    assert len(model.violations_.must_link) == 1


def test_conflicts_among_links_and_with_labels_are_no_error_here() -> None:
    links = Constraints(must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)])
    assert len(SeededKMeans(2, random_state=0).fit(X, constraints=links).violations_) >= 1
    a, b = np.flatnonzero(PARTIAL == 0)[:2]
    model = SeededKMeans(3).fit(X, PARTIAL, constraints=Constraints(cannot_link=[(a, b)]))
    assert model.violations_.cannot_link.tolist() == [[a, b]]


def test_without_any_seed_it_is_k_means_plus_plus() -> None:
    model = SeededKMeans(3, n_init=10, random_state=0).fit(X)
    assert model.inertia_ == pytest.approx(KMeans(3, n_init=10, random_state=0).fit(X).inertia_)
