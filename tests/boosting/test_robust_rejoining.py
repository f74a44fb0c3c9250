"""The end of RobustBoostCluster: rejoined must-link components, starts, and links that are certain."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import DBSCAN, HDBSCAN, KMeans
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score

from mustlink import Constraints, RobustBoostCluster
from mustlink.boosting._boostcluster._links import LinkSet
from mustlink.boosting._coassociation import CoAssociation
from mustlink.boosting._robust import _starts
from mustlink.boosting._robust._certain import feasible_number
from mustlink.boosting._robust._rejoining import rejoin_components
from mustlink.boosting._robust._starts import list_starts
from mustlink.errors import InfeasibleError
from reference import rejoining


def link_set(links: Constraints, n: int) -> LinkSet:
    return LinkSet.of(links, np.arange(n)[:, None].astype(float))


# ---- rejoining -----------------------------------------------------------------------------------------------------


@given(st.integers(0, 10**6))
@settings(deadline=None, max_examples=150)
def test_components_are_rejoined_as_by_the_slow_way(seed):
    rng = np.random.RandomState(seed)
    n_rows, n_clusters = rng.randint(2, 14), rng.randint(2, 5)
    pairs = {tuple(sorted(rng.choice(n_rows, 2, replace=False).tolist())) for _ in range(rng.randint(1, 20))}
    kinds = rng.uniform(size=len(pairs)) < 0.7
    weights = rng.choice([0.5, 1.0, 2.0], size=len(pairs))
    must = [(*pair, weight) for pair, kind, weight in zip(sorted(pairs), kinds, weights, strict=True) if kind]
    cannot = [(*pair, weight) for pair, kind, weight in zip(sorted(pairs), kinds, weights, strict=True) if not kind]
    links = Constraints(
        [each[:2] for each in must] or None,
        [each[:2] for each in cannot] or None,
        must_link_weight=[each[2] for each in must] or None,
        cannot_link_weight=[each[2] for each in cannot] or None,
    )
    distance = rng.uniform(0, 2, size=(n_rows, n_clusters))
    labels = rng.randint(n_clusters, size=n_rows)
    penalty = rng.choice([0.1, 1.0, 3.0])
    before = labels.copy()
    found = rejoin_components(distance, labels, links, penalty)
    assert found.tolist() == rejoining.rejoin_components(distance, labels, must, cannot, penalty)
    assert (labels == before).all()
    # Rows move inside their component only.
    component = links.components(n_rows)
    for row in range(n_rows):
        assert found[row] in labels[component == component[row]]


def chain(rows):
    return list(itertools.pairwise(rows))


def test_a_chain_that_is_cut_in_two_is_rejoined():
    """Each of ten rows is a little nearer to the center of its half, and one link holds the halves together."""
    labels = np.repeat([0, 1], [10, 4])
    distance = np.where(np.arange(2) == labels[:, None], 0.6, 0.9)
    links = Constraints(chain(list(range(14))))
    assert set(rejoin_components(distance, labels, links, 1.0)) == {0}
    # One by one, the four rows would cost more than the link.
    assert 4 * 0.3 > 1.0 > np.sqrt(4) * 0.3
    assert (rejoin_components(distance, labels, links, 0.1) == labels).all()


def test_a_far_row_with_one_link_stays_apart():
    labels = np.array([0, 0, 0, 1])
    distance = np.array([[0.1, 1.9]] * 3 + [[2.0, 0.0]])
    links = Constraints([(0, 1), (1, 2), (2, 3)])
    assert rejoin_components(distance, labels, links, 1.95).tolist() == [0, 0, 0, 1]
    assert rejoin_components(distance, labels, links, 2.05).tolist() == [0, 0, 0, 0]


def test_cannot_links_decide_where_a_component_is_rejoined():
    labels = np.array([0, 0, 1, 0, 0])
    distance = np.tile([0.4, 0.6], (5, 1))
    must = [(0, 1), (1, 2)]
    assert rejoin_components(distance, labels, Constraints(must), 1.0).tolist() == [0] * 5
    torn = Constraints(must, [(2, 3), (2, 4)])
    assert rejoin_components(distance, labels, torn, 1.0).tolist() == [1, 1, 1, 0, 0]


def test_without_split_components_nothing_changes():
    labels = np.array([0, 0, 1, 1])
    distance = np.array([[9.0, 0.0]] * 4)
    assert rejoin_components(distance, labels, Constraints([(0, 1), (2, 3)], [(0, 2)]), 1.0).tolist() == [0, 0, 1, 1]


def asked_links(y, seed):
    """Link every class as a tree in which rows hang on one of the three before, as answers to questions do."""
    rng = np.random.RandomState(seed)
    must, cannot = [], []
    for name in np.unique(y):
        rows = rng.permutation(np.flatnonzero(y == name))
        must += [(rows[max(0, i - 1 - rng.randint(3))], rows[i]) for i in range(1, len(rows))]
    while len(cannot) < 15:
        a, b = rng.randint(len(y), size=2)
        if y[a] != y[b]:
            cannot.append((a, b))
    return Constraints(must, cannot)


@pytest.mark.parametrize("seed", range(5))
def test_answers_that_join_every_class_are_all_followed(seed):
    X, y = load_iris(return_X_y=True)
    links = asked_links(y, seed)
    assert len(links.must_link) == 147
    model = RobustBoostCluster(n_clusters=3, random_state=seed).fit(X, constraints=links)
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert len(model.violations_) == 0


# ---- starts --------------------------------------------------------------------------------------------------------


def small_kernel():
    rng = np.random.RandomState(0)
    y = np.arange(60) % 3
    runs = [np.where(rng.uniform(size=60) < 0.2, rng.randint(3, size=60), y) for _ in range(6)]
    return CoAssociation.from_labels(runs), y


def test_starts_are_the_labels_then_components_then_runs():
    kernel, y = small_kernel()
    labels = np.zeros(60, dtype=np.int64)
    links = link_set(Constraints([(0, 3), (3, 6), (1, 4), (4, 7), (2, 5), (5, 8)], [(0, 1), (1, 2), (0, 2)]), 60)
    starts = list_starts(kernel, labels, 3, links, 0)
    assert len(starts) == 1 + 1 + _starts.N_RUNS_STARTED
    assert starts[0] is labels
    assert adjusted_rand_score(y, starts[1]) > 0.7
    for start in starts:
        assert start.shape == (60,)
        assert start.min() >= 0
        assert start.max() < 3


def test_components_are_no_start_without_must_links_or_with_too_many_rows(monkeypatch):
    kernel, _ = small_kernel()
    labels = np.zeros(60, dtype=np.int64)
    assert len(list_starts(kernel, labels, 3, link_set(Constraints(None, [(0, 1)]), 60), 0)) == 4
    links = link_set(Constraints([(0, 3)]), 60)
    assert len(list_starts(kernel, labels, 3, links, 0)) == 5
    monkeypatch.setattr(_starts, "MAX_ROWS_STARTED", 1)
    assert len(list_starts(kernel, labels, 3, links, 0)) == 1


def test_starts_take_contradictions_and_runs_with_noise():
    _, y = small_kernel()
    runs = [np.where(np.arange(60) < 10, -1, y), np.where(y == 2, 1, y), y]
    torn = link_set(Constraints([(0, 3), (3, 6)], [(0, 6), (0, 1)]), 60)
    for start in list_starts(CoAssociation.from_labels(runs), y, 3, torn, 0):
        assert start.min() >= 0
        assert start.max() < 3


# ---- certain -------------------------------------------------------------------------------------------------------


@given(st.integers(0, 10**6), st.sampled_from(["both", "must", "cannot"]))
@settings(deadline=None, max_examples=15)
def test_certain_links_are_kept_whatever_the_table_says(seed, kind):
    """The links come from labels that have nothing to do with the table."""
    rng = np.random.RandomState(seed)
    n, k = rng.randint(20, 60), rng.randint(2, 5)
    X = rng.normal(size=(n, rng.randint(1, 4)))
    truth = rng.permutation(np.arange(n) % k)
    links = Constraints.sample(truth, rng.randint(1, 2 * n), random_state=seed % 2**31)
    links = Constraints(links.must_link if kind != "cannot" else None, links.cannot_link if kind != "must" else None)
    if links.is_empty:
        return
    model = RobustBoostCluster(n_clusters=k, n_rounds=3, n_trials=2, trust="certain", random_state=0)
    model.fit(X, constraints=links)
    assert len(model.violations_) == 0
    assert model.n_clusters_ == k
    assert model.suspects_ == []
    assert model.trust_.tolist() == [1.0] * len(links)
    assert model.error_rate_ == 0.0


def test_certain_links_help_rows_in_no_link():
    X, y = load_iris(return_X_y=True)
    links = Constraints.sample(y, 100, random_state=0)
    model = RobustBoostCluster(n_clusters=3, trust="certain", random_state=0).fit(X, constraints=links)
    assert len(model.violations_) == 0
    assert adjusted_rand_score(y, model.labels_) > 0.85
    assert adjusted_rand_score(y, model.predict(X)) > 0.8


def test_certain_links_that_contradict_each_other_are_refused():
    X, _ = load_iris(return_X_y=True)
    links = Constraints([(0, 1), (1, 2)], [(0, 2)])
    with pytest.raises(InfeasibleError, match="must-links connect them: 0 - 1 - 2") as caught:
        RobustBoostCluster(n_clusters=3, trust="certain").fit(X, constraints=links)
    assert caught.value.remedy == ("drop_link", "estimate_trust")
    assert "on_infeasible" not in str(caught.value)
    RobustBoostCluster(n_clusters=3, n_rounds=2, n_trials=2, random_state=0).fit(X, constraints=links)


def test_certain_links_that_need_more_clusters_are_refused():
    X, _ = load_iris(return_X_y=True)
    links = Constraints(None, [(0, 60), (60, 120), (0, 120)])
    with pytest.raises(InfeasibleError) as caught:
        RobustBoostCluster(n_clusters=2, trust="certain").fit(X, constraints=links)
    assert "estimate_trust" in caught.value.remedy
    assert "relax" not in caught.value.remedy


def test_a_certain_group_of_more_rows_than_clusters_is_named():
    X, _ = load_iris(return_X_y=True)
    links = Constraints.from_groups(["odd", "even"] * 2 + [None] * 145 + ["odd"])
    with pytest.raises(InfeasibleError, match=r"The group odd has 3 rows, .* and there are 2 clusters") as caught:
        RobustBoostCluster(n_clusters=2, trust="certain").fit(X, constraints=links)
    assert caught.value.remedy == ("at_least_clusters", "estimate_trust")


def find_each_column(table):
    return DBSCAN(eps=1e-9).fit_predict(table)


@pytest.mark.parametrize(
    "base",
    [HDBSCAN(min_cluster_size=5, copy=True), DBSCAN(eps=1e-9), DBSCAN(eps=1e9), find_each_column],
    ids=["noise", "only noise", "one cluster", "function"],
)
def test_certain_links_are_kept_by_bases_that_find_the_number_of_clusters(base):
    X, y = make_blobs(60, 2, centers=3, cluster_std=0.8, random_state=0)
    links = Constraints.sample(y, 30, random_state=0)
    model = RobustBoostCluster(base, n_rounds=3, n_trials=2, trust="certain", random_state=0)
    model.fit(X, constraints=links)
    assert len(model.violations_) == 0
    assert model.labels_.min() == 0
    assert model.n_clusters_ >= 2


def test_the_number_of_clusters_is_changed_only_as_far_as_links_need_it():
    triangle = Constraints(None, [(0, 1), (1, 2), (0, 2)])
    assert [feasible_number(triangle, n, 6) for n in (0, 1, 2, 3, 5)] == [3, 3, 3, 3, 5]
    joined = Constraints([(0, 1), (1, 2), (2, 3), (3, 4)])
    assert [feasible_number(joined, n, 6) for n in (0, 1, 2, 6)] == [1, 1, 2, 2]


def test_links_that_are_certain_are_kept_on_a_sample_of_many_rows():
    X, y = make_blobs(3000, 3, centers=3, cluster_std=3.0, random_state=0)
    links = Constraints.sample(y, 200, random_state=0)
    base = KMeans(n_init=1, max_iter=10)
    model = RobustBoostCluster(base, 3, n_rounds=3, n_trials=2, trust="certain", random_state=0)
    model.fit(X, constraints=links)
    assert len(model.violations_) == 0
    assert np.bincount(model.labels_).min() > 300
