"""RobustBoostCluster(warm_start=True): what a refit takes from the last fit, and when it does not."""

from __future__ import annotations

import pickle
from itertools import pairwise, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs

from mustlink import Constraints
from mustlink._numbering import number_as_before
from mustlink.boosting import RobustBoostCluster
from mustlink.boosting._boostcluster._links import LinkSet
from mustlink.boosting._robust._trials import held_out_mean
from mustlink.errors import EstimatorError

X, Y = load_iris(return_X_y=True)
LINKS = Constraints.sample(Y, n_pairs=60, random_state=0)
ORDER = np.random.RandomState(0).permutation(len(LINKS))


def first_links(n: int, links: Constraints = LINKS, order: Any = ORDER) -> Constraints:
    """Return the first links of a sitting."""
    return Constraints.from_pairs(links.pairs[order[:n]], links.sign[order[:n]])


def small_model(**settings: Any) -> RobustBoostCluster:
    """Return a clusterer of few and quick runs."""
    base = settings.pop("estimator", KMeans(n_init=1, max_iter=20))
    given = {"n_rounds": 10, "n_trials": 2, "warm_start": True, "random_state": 0, **settings}
    return RobustBoostCluster(base, 3, **given)


def are_numbered_alike(labels: Any, before: Any) -> bool:
    """Whether no other numbers of the clusters fit those of before better."""
    n_clusters = labels.max() + 1
    now = (labels == before).sum()
    return all((np.array(order)[labels] == before).sum() <= now for order in permutations(range(n_clusters)))


# ---- numbers and places ----------------------------------------------------------------------------------------------


@given(st.integers(1, 40), st.integers(1, 5), st.integers(1, 5), st.integers(0, 10**6))
@settings(deadline=None, max_examples=100)
def test_numbers_are_those_of_the_largest_overlap(n: int, k: int, k_before: int, seed: int) -> None:
    rng = np.random.RandomState(seed)
    labels = rng.randint(-1, k, size=n)
    labels[0] = k - 1
    before = rng.randint(-1, k_before, size=n)
    numbers = number_as_before(labels, before)
    assert sorted(numbers) == list(range(k))
    known = labels >= 0
    overlaps = [(np.array(order)[labels[known]] == before[known]).sum() for order in permutations(range(k))]
    assert (numbers[labels[known]] == before[known]).sum() == max(overlaps)


@given(st.integers(0, 10**6))
@settings(deadline=None, max_examples=50)
def test_places_of_links_are_found_by_rows_and_kind(seed: int) -> None:
    rng = np.random.RandomState(seed)
    coordinates = rng.normal(size=(12, 2))

    def draw() -> LinkSet:
        pairs = rng.randint(12, size=(10, 2))
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        signs = rng.choice([-1, 1], size=len(pairs))
        links = Constraints.from_pairs(np.vstack([pairs, [[0, 1]]]), np.append(signs, 1), contradictions="keep")
        return LinkSet.of(links, coordinates)

    def keys(links: LinkSet) -> list[tuple[int, int, bool]]:
        return [(a, b, must) for (a, b), must in zip(links.pairs.tolist(), links.is_must.tolist(), strict=True)]

    one, other = draw(), draw()
    numbers = {key: place for place, key in enumerate(keys(other))}
    assert one.places_in(other).tolist() == [numbers.get(key, -1) for key in keys(one)]


# ---- a sitting -------------------------------------------------------------------------------------------------------


def test_a_refit_runs_a_fifth_of_the_rounds_and_no_trial() -> None:
    runs = []

    def cluster(table: Any) -> Any:
        runs.append(len(table))
        return KMeans(3, n_init=1, max_iter=5, random_state=len(runs)).fit_predict(table)

    model = small_model(estimator=cluster).fit(X, constraints=first_links(40))
    n_full, n_refits = len(runs), model.n_refits_
    model.fit(X, constraints=first_links(41))
    assert (n_refits, model.n_refits_) == (0, 1)
    assert len(runs) - n_full == 2 < n_full / 5
    assert model.n_iter_ == len(model.history_) == len(model.objective_) == 10


def test_links_keep_what_saw_them_and_new_ones_are_held_out() -> None:
    model = small_model().fit(X, constraints=first_links(40))
    before = model._last
    model.fit(X, constraints=first_links(43))
    after = model._last
    links, last = after.start.links, before.start.links
    place = links.places_in(last)
    assert (place < 0).sum() == 3
    for mask, old in [*zip(after.trials.masks, before.trials.masks, strict=True)]:
        np.testing.assert_array_equal(mask[:, place >= 0], old[:, place[place >= 0]])
        assert not mask[:, place < 0].any()
    for shown, old in zip(after.rounds.shown[:8], before.rounds.shown[2:], strict=True):
        np.testing.assert_array_equal(shown[place >= 0], old[place[place >= 0]])
        assert not shown[place < 0].any()
    for runs, masks, votes in zip(after.trials.runs, after.trials.masks, after.trials.votes, strict=True):
        np.testing.assert_array_equal(held_out_mean([links.together(run.labels) for run in runs], masks), votes)
    assert [id(run) for run in after.rounds.runs[:8]] == [id(run) for run in before.rounds.runs[2:]]


def test_labels_keep_their_numbers() -> None:
    model = small_model().fit(X)
    labels = [model.labels_]
    refits = []
    for n in (20, 22, 25, 40, 41, 42, 30):
        model.fit(X, constraints=first_links(n))
        labels.append(model.labels_)
        refits.append(model.n_refits_)
    assert refits == [0, 1, 2, 0, 1, 2, 0]
    assert all(are_numbered_alike(*pair[::-1]) for pair in pairwise(labels))


@pytest.mark.parametrize("n_links", [40, 0], ids=["links", "plain"])
def test_predictions_have_the_same_numbers(n_links: int) -> None:
    model = small_model(warm_start=False).fit(X, constraints=first_links(n_links))
    numbers = np.array([2, 0, 1])
    codes = model.coassociation_.codes
    expected = numbers[model._consensus.predict(codes)]
    np.testing.assert_array_equal(model._consensus.numbered(numbers).predict(codes), expected)


def test_a_sitting_is_repeatable_also_after_a_pause() -> None:
    results = []
    for is_paused in (False, True):
        model = small_model()
        for n in (30, 31, 32, 33):
            model.fit(X, constraints=first_links(n))
            if is_paused:
                model = pickle.loads(pickle.dumps(model))
        results.append(model)
    assert results[0].n_refits_ == results[1].n_refits_ == 3
    np.testing.assert_array_equal(results[0].labels_, results[1].labels_)
    assert results[0].history_ == results[1].history_


def test_the_same_links_again_are_a_refit() -> None:
    model = small_model().fit(X, constraints=first_links(30)).fit(X, constraints=first_links(30))
    assert model.n_refits_ == 1


@pytest.mark.parametrize(
    "change",
    ["removed", "reversed", "table", "parameter", "seed", "nested parameter"],
)
def test_a_fit_with_other_links_table_or_parameters_is_a_full_one(change: str) -> None:
    model = small_model().fit(X, constraints=first_links(30)).fit(X, constraints=first_links(31))
    assert model.n_refits_ == 1
    links, table = first_links(31), X
    if change == "removed":
        links = first_links(30)
    elif change == "reversed":
        links = Constraints.from_pairs(links.pairs, np.append(links.sign[:-1], -links.sign[-1]))
    elif change == "table":
        table = X[::-1]
    elif change == "parameter":
        model.set_params(learning_rate=0.4)
    elif change == "seed":
        model.set_params(random_state=1)
    else:
        model.set_params(estimator__max_iter=10)
    model.fit(table, constraints=links)
    fresh = clone(model).fit(table, constraints=links)
    assert model.n_refits_ == 0
    assert model.objective_ == fresh.objective_
    numbers = number_as_before(model.labels_, fresh.labels_)
    np.testing.assert_array_equal(numbers[model.labels_], fresh.labels_)


def test_trials_are_run_again_when_the_links_have_grown() -> None:
    model = small_model().fit(X, constraints=first_links(30)).fit(X, constraints=first_links(45))
    before = model._last
    model.fit(X, constraints=first_links(46))
    after = model._last
    assert model.n_refits_ == 0
    assert after.start.n_links_tried == 46
    assert all(mask.any(axis=0).any() for mask in after.trials.masks[:-1])
    assert {id(run) for runs in after.trials.runs for run in runs}.isdisjoint(
        id(run) for runs in before.trials.runs for run in runs
    )
    assert [id(run) for run in after.rounds.runs[:8]] == [id(run) for run in before.rounds.runs[2:]]


def test_parameters_without_effect_may_change() -> None:
    model = small_model().fit(X, constraints=first_links(30))
    assert model.set_params(n_jobs=2).fit(X, constraints=first_links(31)).n_refits_ == 1


def test_nothing_is_kept_without_warm_start() -> None:
    model = small_model().fit(X, constraints=first_links(30))
    model.set_params(warm_start=False).fit(X, constraints=first_links(31))
    assert model.n_refits_ == 0
    assert model._last is None


def test_a_fit_that_fails_leaves_the_last_one() -> None:
    broken = []

    def cluster(table: Any) -> Any:
        if broken:
            raise RuntimeError("out of order")
        return KMeans(3, n_init=1, max_iter=5, random_state=0).fit_predict(table)

    model = small_model(estimator=cluster).fit(X, constraints=first_links(30))
    broken.append(True)
    with pytest.raises(EstimatorError, match="out of order"):
        model.fit(X, constraints=first_links(31))
    broken.clear()
    assert model.fit(X, constraints=first_links(32)).n_refits_ == 1


def test_certain_links_are_kept_in_every_refit() -> None:
    model = small_model(trust="certain")
    for n in (30, 33, 36):
        assert model.fit(X, constraints=first_links(n)).violations_.is_empty
    assert model.n_refits_ == 2


def test_a_wide_table_and_rows_outside_the_graph_of_neighbors() -> None:
    table, y = make_blobs(2_100, 130, centers=3, cluster_std=4.0, random_state=0)
    links = Constraints.sample(y, n_pairs=30, random_state=0)
    order = np.random.RandomState(0).permutation(30)
    model = RobustBoostCluster(n_clusters=3, n_rounds=2, n_trials=2, warm_start=True, random_state=0)
    for n in (25, 28, 30):
        model.fit(table, constraints=first_links(n, links, order))
    graphs = [view for view in model._last.trials.views if view.name == "ConstraintPropagation"]
    assert not np.isin(links.pairs, graphs[0].rows).all()
    run = graphs[0].run(model._last.start.coordinates, model._last.start.links, np.ones(30), 0, "here")
    assert len(run.labels) == 2_100
    assert model.n_refits_ == 2
    assert model.predict(table[:5]).shape == (5,)
