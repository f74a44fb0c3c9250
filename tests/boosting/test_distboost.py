"""DistBoost: its weights against the list of all pairs, its distance against the formula, and singular data."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, load_wine

from mustlink import Constraints
from mustlink.boosting import DistBoost
from mustlink.boosting._distboost import _distboost as distboost_module
from mustlink.boosting._distboost._distance import Directions, embed
from mustlink.boosting._distboost._distboost import cut
from mustlink.boosting._distboost._pair_weights import PairWeights
from mustlink.errors import TooLargeError
from mustlink.metrics import normalized_mutual_info
from reference.random_links import cases

# Tables with fewer different rows than clusters make k-means warn, here as in scikit-learn.
few_rows = pytest.mark.filterwarnings("ignore:.*clusters:sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X, y, Constraints.sample(y, n_pairs=120, random_state=0)


@pytest.fixture(scope="module")
def fitted(iris):
    X, _, links = iris
    return DistBoost(3, n_rounds=15, random_state=0).fit(X, constraints=links)


def same_partition(one, other):
    pairs = set(zip(np.asarray(one).tolist(), np.asarray(other).tolist(), strict=True))
    return len(pairs) == len(set(one)) == len(set(other))


# ---- the directions -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(50, 4), (6, 30), (5, 5)])
def test_directions_have_variance_one(shape):
    X = np.random.RandomState(0).standard_normal(shape) * np.linspace(1, 1000, shape[1]) + 50
    directions = Directions.of(X, 64, np.random.RandomState(0))
    points = directions.project(X)
    assert points.shape[1] == min(shape[1], shape[0] - 1)
    np.testing.assert_allclose(np.cov(points.T), np.eye(points.shape[1]), atol=1e-8)


def test_directions_leave_out_what_does_not_vary():
    X = np.random.RandomState(0).standard_normal((30, 2)) @ np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 0.0]])
    X = np.column_stack([X, X[:, 0] + X[:, 1], np.full(30, 7.0)])
    assert Directions.of(X, 64, np.random.RandomState(0)).axes.shape == (5, 2)
    assert Directions.of(X, 1, np.random.RandomState(0)).axes.shape == (5, 1)
    nothing = Directions.of(np.full((4, 3), 2.0), 64, np.random.RandomState(0))
    np.testing.assert_array_equal(nothing.project(X[:, :3]), np.zeros((30, 1)))


def test_directions_far_from_the_origin():
    X = np.random.RandomState(0).standard_normal((200, 3))
    near, far = (Directions.of(X + shift, 64, np.random.RandomState(0)).project(X + shift) for shift in (0.0, 1e9))
    np.testing.assert_allclose(np.abs(near), np.abs(far), atol=1e-4)


# ---- the weights ----------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=40)
@given(cases(max_samples=8), st.sampled_from([None, 0.0, 0.5]), st.integers(0, 10_000))
def test_weights_equal_those_of_the_list_of_all_pairs(case, share, seed):
    links = Constraints(case.must_link or None, case.cannot_link or None)
    if links.is_empty:
        return
    rng = np.random.RandomState(seed)
    n = case.n_samples
    weights = PairWeights(links, n, share)
    side = {tuple(pair): 1 for pair in links.must_link} | {tuple(pair): -1 for pair in links.cannot_link}
    pairs = list(itertools.combinations(range(n), 2))
    n_others = len(pairs) - len(side)
    of_others = (len(pairs) - len(side)) / len(pairs) if share is None else share
    of_others = of_others if n_others else 0.0
    W = {p: (1 - of_others) / len(side) if p in side else of_others / n_others for p in pairs}
    for _ in range(3):
        h = {p: rng.uniform(-1, 1) for p in pairs}
        stated = np.array([h[tuple(p)] for p in links.pairs])
        r = sum(W[p] * side[p] * h[p] for p in side)
        assert weights.agreement(stated) == pytest.approx(r)
        alpha = 0.7
        W = {p: w * np.exp(-alpha * (side[p] * h[p] if p in side else 1.0)) for p, w in W.items()}
        loss = sum(W.values())
        assert weights.update(alpha, stated) == pytest.approx(loss)
        W = {p: w / loss for p, w in W.items()}
        expected = [sum(w for p, w in W.items() if row in p) for row in range(n)]
        np.testing.assert_allclose(weights.of_rows(), expected, atol=1e-14)


def test_a_pair_linked_both_ways_is_one_pair():
    # Labels contradict the links of row 0 and 1, and every pair is linked.
    links = Constraints([(0, 1), (0, 2), (1, 2)]).add(Constraints(None, [(0, 1)]), contradictions="keep")
    weights = PairWeights(links, 3, None)
    assert weights.n_unlabeled == 0
    assert weights.of_rows().tolist() == [0.75, 0.75, 0.5]


def test_weights_of_links_count():
    links = Constraints([(0, 1)], [(1, 2)], must_link_weight=3, cannot_link_weight=1)
    np.testing.assert_allclose(PairWeights(links, 4, 0.5).of_links, [0.375, 0.125])


def test_the_loss_never_rises_and_alphas_follow_the_agreement(fitted):
    assert (np.diff([1.0, *fitted.objective_]) <= 1e-15).all()
    accepted = [entry for entry in fitted.history_ if entry["agreement"] > 0]
    np.testing.assert_allclose(fitted.alphas_, [entry["alpha"] for entry in accepted])
    r = np.array([entry["agreement"] for entry in accepted])
    np.testing.assert_allclose(fitted.alphas_, np.log((1 + r) / (1 - r)) / 2)
    assert len(fitted.history_) == fitted.n_iter_ == 15


# ---- the distance ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hypothesis", ["map", "posterior"])
def test_distance_is_the_sum_over_the_mixtures(iris, hypothesis):
    X, _, links = iris
    model = DistBoost(3, n_rounds=5, hypothesis=hypothesis, random_state=0).fit(X, constraints=links)
    rows = X[::15]
    points = model._ensemble.directions.project(rows)
    expected = np.zeros((len(rows), len(rows)))
    for mixture, alpha in zip(model._ensemble.mixtures, model.alphas_, strict=True):
        p = mixture.memberships(points)
        for i, j in itertools.product(range(len(rows)), repeat=2):
            if hypothesis == "map":
                same = np.argmax(p[i]) == np.argmax(p[j])
                h = (1 if same else -1) * p[i].max() * p[j].max()
            else:
                h = 2 * p[i] @ p[j] - 1
            assert -1 <= h <= 1 + 1e-12
            expected[i, j] += alpha * (1 - h) / 2
    np.testing.assert_allclose(model.distances(rows), expected, atol=1e-12)
    np.testing.assert_allclose(model.distances(rows[:2], rows), expected[:2], atol=1e-12)
    if hypothesis == "posterior":
        features = model.transform(rows)
        np.testing.assert_allclose(model.alphas_.sum() - features @ features.T, expected, atol=1e-12)


def test_features_have_twice_the_distance_for_memberships_of_0_and_1(iris):
    X, _, links = iris
    model = DistBoost(3, n_rounds=8, random_state=0).fit(X, constraints=links)
    vectors, totals = model._ensemble.features(X)
    certain = np.flatnonzero((totals / np.sqrt(model.alphas_)).min(axis=1) > 1 - 1e-9)
    assert len(certain) > 20
    squares = np.square(vectors[certain][:, None] - vectors[certain]).sum(axis=2)
    np.testing.assert_allclose(squares, 2 * model.distances(X[certain]), atol=1e-6)


def test_embedding_keeps_the_largest_membership_only(fitted, iris):
    points = fitted._ensemble.directions.project(iris[0])
    mixture = fitted._ensemble.mixtures[0]
    chance = mixture.memberships(points)
    vectors, confidence = embed(mixture, points, soft=False)
    np.testing.assert_array_equal((vectors > 0).sum(axis=1), 1)
    np.testing.assert_array_equal(vectors.max(axis=1), chance.max(axis=1))
    np.testing.assert_array_equal(confidence, chance.max(axis=1))


# ---- clusters -------------------------------------------------------------------------------------------------------


def test_it_learns_what_k_means_does_not_see():
    X, y = load_wine(return_X_y=True)
    links = Constraints.sample(y, n_pairs=150, random_state=0)
    model = DistBoost(3, n_rounds=20, random_state=0).fit(X, constraints=links)
    plain = KMeans(3, n_init=10, random_state=0).fit(X)
    assert normalized_mutual_info(y, model.labels_) > 0.9
    assert normalized_mutual_info(y, model.labels_) > normalized_mutual_info(y, plain.labels_) + 0.3
    assert model.violations_ == links.violations(model.labels_)


def test_links_pull_the_distance_their_way(iris, fitted):
    X, _, links = iris
    near = np.diag(fitted.distances(X[links.must_link[:, 0]], X[links.must_link[:, 1]]))
    far = np.diag(fitted.distances(X[links.cannot_link[:, 0]], X[links.cannot_link[:, 1]]))
    assert near.mean() < 0.2 * far.mean()


def test_predict_gives_the_labels_again_and_follows_new_rows(iris):
    X, y, _ = iris
    links = Constraints.sample(y[::2], n_pairs=100, random_state=0)
    for consensus in ("kmeans", "average"):
        model = DistBoost(3, n_rounds=10, consensus=consensus, random_state=0).fit(X[::2], constraints=links)
        if consensus == "kmeans":
            np.testing.assert_array_equal(model.predict(X[::2]), model.labels_)
        assert normalized_mutual_info(y[1::2], model.predict(X[1::2])) > 0.8


def test_average_linkage_is_that_of_the_whole_matrix(iris):
    X, _, links = iris
    model = DistBoost(3, n_rounds=6, consensus="average", random_state=0).fit(X, constraints=links)
    distance = model.distances(X)
    np.fill_diagonal(distance, 0)
    merges = linkage(squareform((distance + distance.T) / 2, checks=False), "average")
    assert same_partition(model.labels_, fcluster(merges, 3, "maxclust"))
    mean = np.array([model.distances(X, X[model.labels_ == c]).mean(axis=1) for c in range(3)])
    np.testing.assert_array_equal(model.predict(X), mean.argmin(axis=0))


def test_a_cut_gives_as_many_clusters_as_asked_even_at_equal_heights():
    merges = linkage(np.ones(10), "average")
    for n_clusters in range(1, 6):
        assert len(set(cut(merges, 5, n_clusters))) == n_clusters


def test_too_many_rows_for_linkage_are_refused_at_once(monkeypatch):
    monkeypatch.setattr(distboost_module, "MAX_LINKED_ROWS", 20)
    X = np.random.RandomState(0).standard_normal((21, 2))
    with pytest.raises(TooLargeError, match=r"Average linkage needs .* 21 x 21 numbers"):
        DistBoost(2, consensus="average").fit(X)
    monkeypatch.setattr(distboost_module, "MAX_DISTANCES", 100)
    model = DistBoost(2, n_rounds=2).fit(X)
    with pytest.raises(TooLargeError, match="21 x 21 numbers"):
        model.distances(X)
    assert model.distances(X, X[:2]).shape == (21, 2)


def test_features_in_batches_are_those_of_all_rows(iris, monkeypatch):
    X, _, links = iris
    whole = DistBoost(3, n_rounds=4, random_state=0).fit(X, constraints=links)
    monkeypatch.setattr(distboost_module, "BATCH_ROWS", 7)
    batches = DistBoost(3, n_rounds=4, random_state=0).fit(X, constraints=links)
    assert same_partition(whole.labels_, batches.labels_)
    np.testing.assert_array_equal(batches.predict(X), batches.labels_)


def test_same_seed_same_result(fitted, iris):
    X, _, links = iris
    again = clone(fitted).fit(X, constraints=links)
    np.testing.assert_array_equal(again.transform(X), fitted.transform(X))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict(X), fitted.predict(X))


def test_a_pickled_copy_computes_the_same_last_digits(iris, fitted):
    # The last digits decide on the cluster of a row as far from two of them.
    X, _, _ = iris
    back = pickle.loads(pickle.dumps(fitted))
    for mixture, other in zip(fitted._ensemble.mixtures, back._ensemble.mixtures, strict=True):
        assert mixture.gaussians.precisions_cholesky.strides == other.gaussians.precisions_cholesky.strides
    np.testing.assert_array_equal(back.transform(X), fitted.transform(X))


def test_without_links_there_is_one_mixture(iris):
    X, _, _ = iris
    model = DistBoost(3, random_state=0).fit(X)
    assert model.n_iter_ == 1
    assert model.alphas_.tolist() == [1.0]
    assert model.transform(X).shape == (150, 3)


def test_number_of_components_may_differ_from_that_of_clusters(iris):
    X, y, links = iris
    model = DistBoost(3, n_rounds=6, n_components=5, random_state=0).fit(X, constraints=links)
    assert model.transform(X).shape == (150, 5 * len(model.alphas_))
    assert set(model.labels_) == {0, 1, 2}
    assert normalized_mutual_info(y, model.labels_) > 0.7


def test_if_no_round_agrees_the_closest_is_kept():
    # With one component, all rows are together, and every cannot-link disagrees.
    X = np.random.RandomState(0).standard_normal((12, 2))
    links = Constraints(cannot_link=[(0, 1), (2, 3)])
    model = DistBoost(2, n_rounds=4, n_components=1, random_state=0)
    with pytest.warns(match="2 clusters were asked for, and 1 was found"):
        model.fit(X, constraints=links)
    assert [entry["agreement"] for entry in model.history_] == pytest.approx([-0.5] * 4)
    assert model.alphas_.tolist() == [1.0]
    assert model.objective_ == [1.0] * 4


def test_the_bar_is_shown_if_asked_for(iris, capsys):
    X, _, links = iris
    DistBoost(3, n_rounds=2, verbose=1, random_state=0).fit(X, constraints=links)
    assert "2/2" in capsys.readouterr().out


# ---- bad input ------------------------------------------------------------------------------------------------------


def duplicated_columns():
    X = np.random.RandomState(0).standard_normal((20, 2))
    return np.column_stack([X, X, X, np.ones(20)])


@few_rows
@pytest.mark.parametrize("consensus", ["kmeans", "average"])
@pytest.mark.parametrize(
    ("X", "n_clusters", "links"),
    [
        (duplicated_columns(), 3, Constraints([(0, 1), (2, 3)], [(0, 4)])),
        (np.zeros((6, 2)), 3, Constraints([(0, 1)], [(2, 3)])),
        (np.random.RandomState(0).standard_normal((8, 50)), 2, Constraints([(0, 1)], [(1, 2)])),
        (np.array([[0.0], [1.0]]), 2, Constraints([(0, 1)])),
        (np.array([[0.0], [1.0]]), 1, Constraints(cannot_link=[(0, 1)])),
        (np.array([[1.0]]), 1, None),
        (np.repeat(np.eye(3), 5, axis=0), 3, Constraints([(0, 5)])),
        (np.arange(8.0)[:, None], 2, Constraints([(0, 1), (1, 2)], [(0, 2)])),
        (np.arange(8.0)[:, None], 2, Constraints(cannot_link=[(0, 1), (1, 2), (0, 2)])),
        (np.arange(5.0)[:, None] * 1e70, 2, Constraints([(0, 1)])),
    ],
    ids=[
        "singular",
        "constant",
        "d > n",
        "two rows",
        "one cluster",
        "one row",
        "repeated rows",
        "chain",
        "triangle",
        "huge",
    ],
)
def test_odd_input_gives_a_result(X, n_clusters, links, consensus):
    model = DistBoost(n_clusters, n_rounds=6, consensus=consensus, random_state=0).fit(X, constraints=links)
    assert set(model.labels_) <= set(range(n_clusters))
    assert np.isfinite(model.alphas_).all()
    assert np.isfinite(model.transform(X)).all()
    assert set(model.predict(X)) <= set(range(n_clusters))


@few_rows
@settings(deadline=None, max_examples=25)
@given(cases(max_samples=8), st.integers(1, 3), st.sampled_from([None, 0.0, 0.5]))
def test_contradictory_links_never_raise(case, n_clusters, share):
    X = np.random.RandomState(len(case.must_link)).standard_normal((case.n_samples, 2))
    links = Constraints(case.must_link or None, case.cannot_link or None)
    model = DistBoost(min(n_clusters, len(X)), n_rounds=4, unlabeled_fraction=share, random_state=0)
    model.fit(X, constraints=links)
    assert model.violations_ == links.violations(model.labels_)
    assert np.isfinite(model.objective_).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 5}, "n_samples=4 should be >= n_clusters=5"),
        ({"n_clusters": 2, "n_components": 6}, "n_samples=4 should be >= n_components=6"),
        ({"n_clusters": 2, "unlabeled_fraction": 1.0}, "unlabeled_fraction"),
        ({"n_clusters": 2, "consensus": "single"}, "consensus"),
        ({"n_clusters": 2, "hypothesis": "hard"}, "hypothesis"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        DistBoost(**parameters).fit(np.arange(4.0)[:, None])
