"""Boosted constrained k-means against plain loops, the bound of AdaBoost, adding rounds, and bad input."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, load_wine
from sklearn.utils import check_random_state

from mustlink import Constraints
from mustlink.boosting import _bckm as bckm_module
from mustlink.boosting._bckm import N_STARTS, BoostedConstrainedKMeans
from mustlink.kmeans import PriorityCOPKMeans, PriorityLinks
from mustlink.metrics import normalized_mutual_info
from reference.prioritycop import boost, kernel_kmeans
from reference.random_links import cases


@pytest.fixture(scope="module")
def wine():
    """Raw wine, on which k-means does badly, with links that no round keeps all."""
    X, y = load_wine(return_X_y=True)
    return X, y, Constraints.sample(y, n_pairs=300, balanced=False, random_state=0)


@pytest.fixture(scope="module")
def fitted(wine):
    X, _, links = wine
    return BoostedConstrainedKMeans(3, n_rounds=40, random_state=0).fit(X, constraints=links)


def same_partition(one, other):
    pairs = set(zip(np.asarray(one).tolist(), np.asarray(other).tolist(), strict=True))
    return len(pairs) == len(set(one)) == len(set(other))


def starting_centers(X, n_clusters, seed, n_rounds):
    """Draw the starts of the rounds as the clusterer does."""
    rng = np.random.RandomState(check_random_state(seed).randint(np.iinfo(np.int32).max))
    return [PriorityLinks.draw_centers(X, n_clusters, rng) for _ in range(n_rounds)]


# ---- against the plain version --------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*clusters were asked for:sklearn.exceptions.ConvergenceWarning")
@settings(deadline=None, max_examples=40)
@given(cases(max_samples=12, min_samples=3), st.integers(0, 1000), st.sampled_from([1.0, 2.0, 5.0]))
def test_rounds_equal_plain_loops(case, seed, rho):
    X = np.random.RandomState(seed).standard_normal((case.n_samples, 2))
    links = Constraints(case.must_link or None, case.cannot_link or None)
    if links.is_empty:
        return
    n_rounds, n_clusters = 8, min(3, len(X))
    model = BoostedConstrainedKMeans(n_clusters, n_rounds=n_rounds, rho=rho, random_state=seed)
    model.fit(X, constraints=links)
    rows = links.pairs.tolist()
    is_must = (links.sign > 0).tolist()
    starts = starting_centers(X, n_clusters, seed, n_rounds)
    # Weights that differ by rounding may be sorted differently; the comparison ends where the labels differ.
    rounds, alphas, errors = boost(X, rows, is_must, starts, rho, 30)
    agree = 0
    while agree < min(len(rounds), model.n_iter_) and same_labels(model, agree, rounds[agree]):
        agree += 1
    assert agree >= 1
    np.testing.assert_allclose(model.errors_[:agree], errors[:agree], atol=1e-12)
    np.testing.assert_allclose(model.alphas_[:agree], alphas[:agree], atol=1e-9)


def same_labels(model, t, expected):
    kernel = model.coassociation_
    return np.array_equal(kernel.names[t][kernel.codes[:, t]], expected)


def test_all_rounds_equal_plain_loops_where_no_two_weights_are_equal(wine):
    X, y, _ = wine
    X = X[::6]
    links = Constraints.sample(y[::6], n_pairs=60, balanced=False, random_state=1)
    starts = starting_centers(X, 3, 0, 6)
    rows = links.pairs.tolist()
    is_must = (links.sign > 0).tolist()
    rounds, alphas, errors = boost(X, rows, is_must, starts, 5.0, 30)
    model = BoostedConstrainedKMeans(3, n_rounds=6, random_state=0).fit(X, constraints=links)
    assert model.n_iter_ == len(rounds)
    for t, expected in enumerate(rounds):
        assert same_labels(model, t, expected)
    np.testing.assert_allclose(model.alphas_, alphas, rtol=1e-12)
    np.testing.assert_allclose(model.errors_, errors, rtol=1e-12)


def test_kernel_k_means_on_the_whole_matrix_gives_the_same_clusters(fitted, wine):
    X, _, links = wine
    kernel = np.zeros((len(X), len(X)))
    codes = fitted.coassociation_.codes
    for t, alpha in enumerate(fitted.alphas_):
        kernel += alpha * np.where(codes[:, t, None] == codes[:, t], 1, -1)  # K_t of the paper, +1 and -1
    heaviest = np.argsort(-fitted.alphas_, kind="stable")[:N_STARTS]
    runs = [kernel_kmeans(kernel, codes[:, t].astype(int), 3) for t in heaviest]
    labels, cost = min(runs, key=lambda run: run[1])
    assert same_partition(labels, fitted.labels_)
    _, ours = fitted.coassociation_.kmeans(3, [codes[:, t] for t in heaviest])
    assert 2 * ours == pytest.approx(cost)
    assert fitted.violations_ == links.violations(fitted.labels_)


# ---- boosting -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rho", [2.0, 5.0])
@pytest.mark.parametrize("priorities", ["learned", "random"])
def test_training_error_stays_below_the_bound_of_adaboost(wine, rho, priorities):
    X, _, links = wine
    model = BoostedConstrainedKMeans(3, n_rounds=30, rho=rho, priorities=priorities, random_state=0)
    model.fit(X, constraints=links)
    step = model.alphas_ / rho
    factor = np.where(step > 0, (1 - model.errors_) * np.exp(-step) + model.errors_ * np.exp(step), 1.0)
    np.testing.assert_allclose(model.objective_, np.cumprod(factor), rtol=1e-9)
    assert (np.diff([1.0, *model.objective_]) <= 0).all()
    wrong = [entry["training_error"] for entry in model.history_]
    assert (np.array(wrong) <= np.array(model.objective_) + 1e-12).all()
    if rho == 2:
        np.testing.assert_allclose(factor[step > 0], 2 * np.sqrt(model.errors_ * (1 - model.errors_))[step > 0])


def test_training_error_is_that_of_the_sign_of_the_kernel(fitted, wine):
    _, _, links = wine
    together = fitted.coassociation_.at(links.pairs)
    signed = 2 * together - fitted.alphas_.sum()
    assert fitted.history_[-1]["training_error"] == pytest.approx(np.mean(links.sign * signed <= 0))
    assert fitted.history_[-1]["training_error"] < fitted.errors_[0]


def test_more_rounds_score_better_than_one_and_than_random_priorities():
    X, y = load_wine(return_X_y=True)
    scores = {"one": [], "random": [], "learned": []}
    for seed in range(4):
        links = Constraints.sample(y, n_pairs=500, balanced=False, random_state=seed)
        one = PriorityCOPKMeans(3, random_state=seed).fit(X, constraints=links)
        scores["one"].append(normalized_mutual_info(y, one.labels_))
        for priorities in ("random", "learned"):
            model = BoostedConstrainedKMeans(3, priorities=priorities, random_state=seed).fit(X, constraints=links)
            scores[priorities].append(normalized_mutual_info(y, model.labels_))
    assert np.mean(scores["learned"]) > 0.65
    assert np.mean(scores["learned"]) > np.mean(scores["random"]) + 0.1
    assert np.mean(scores["learned"]) > np.mean(scores["one"]) + 0.1


def test_a_round_that_breaks_nothing_dominates_and_ends_the_boosting():
    X, y = load_iris(return_X_y=True)
    links = Constraints.sample(y, n_pairs=60, balanced=False, random_state=0)
    model = BoostedConstrainedKMeans(3, random_state=0).fit(X, constraints=links)
    assert model.errors_[-1] == 0
    assert (model.errors_[:-1] > 0).all()
    assert model.n_iter_ < 100
    assert model.alphas_[-1] > model.alphas_[:-1].sum()
    assert same_labels(model, model.n_iter_ - 1, model.labels_)
    assert model.violations_.is_empty
    # Kernel k-means from that round would not move a row.
    labels, _ = model.coassociation_.kmeans(3, model.labels_)
    assert same_partition(labels, model.labels_)


def test_rounds_that_break_half_or_more_are_left_out():
    # One cluster breaks every cannot-link, whatever the start.
    X = np.arange(6.0)[:, None]
    links = Constraints(must_link=[(0, 1)], cannot_link=[(0, 2), (1, 3), (2, 4)])
    model = BoostedConstrainedKMeans(1, n_rounds=5, random_state=0).fit(X, constraints=links)
    assert model.errors_.tolist() == [0.75] * 5
    assert model.alphas_.tolist() == [0.0] * 5
    assert model.objective_ == [1.0] * 5
    assert model.labels_.tolist() == [0] * 6
    assert model.predict(X).tolist() == [0] * 6


def test_rounds_left_out_do_not_touch_the_result():
    # A chain of contradictions of which any round breaks half, except from some starts.
    X = np.random.RandomState(3).standard_normal((10, 2))
    links = Constraints(must_link=[(0, 1), (1, 2), (3, 4)], cannot_link=[(0, 2), (2, 3), (0, 4)])
    model = BoostedConstrainedKMeans(2, n_rounds=40, rho=1.0, random_state=0).fit(X, constraints=links)
    assert (model.alphas_ == 0).any()
    assert (model.alphas_ > 0).any()
    np.testing.assert_array_equal(model.alphas_ > 0, model.errors_ < 0.5)
    np.testing.assert_array_equal(model.coassociation_.weights, model.alphas_)


def test_weights_of_links_are_the_first_priorities():
    X = np.array([[0.0], [1.0], [9.0], [10.0]])
    chain = {"must_link": [(0, 1), (1, 2)], "cannot_link": [(0, 2)]}
    links = Constraints(**chain, must_link_weight=[1, 3], cannot_link_weight=[2])
    model = BoostedConstrainedKMeans(2, n_rounds=1, random_state=0).fit(X, constraints=links)
    assert model.violations_.must_link.tolist() == [[0, 1]]
    assert model.errors_[0] == pytest.approx(1 / 6)


def test_no_links_is_one_plain_k_means():
    X, _ = load_iris(return_X_y=True)
    model = BoostedConstrainedKMeans(3, random_state=0).fit(X)
    assert (model.n_iter_, model.errors_.tolist(), model.alphas_.tolist()) == (1, [0.0], [1.0])
    lloyd = KMeans(3, init=starting_centers(X, 3, 0, 1)[0], n_init=1, max_iter=30, tol=0).fit(X)
    np.testing.assert_array_equal(model.labels_, lloyd.labels_)
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_one_start_for_all_rounds(wine):
    X, _, links = wine
    starts = []

    class Watched(BoostedConstrainedKMeans):
        def _run_round(self, X, pairs, boosting):
            labels = super()._run_round(X, pairs, boosting)
            starts.append(boosting.start)
            return labels

    Watched(3, n_rounds=5, init_per_round=False, random_state=0).fit(X, constraints=links)
    assert all(start is starts[0] for start in starts)
    starts.clear()
    Watched(3, n_rounds=5, random_state=0).fit(X, constraints=links)
    assert len({start.tobytes() for start in starts}) == 5


# ---- at any time ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("init_per_round", [True, False])
@pytest.mark.parametrize("priorities", ["learned", "random"])
def test_rounds_added_later_are_the_rounds_of_one_fit(wine, init_per_round, priorities):
    X, _, links = wine
    parameters = {"init_per_round": init_per_round, "priorities": priorities, "random_state": 0}
    whole = BoostedConstrainedKMeans(3, n_rounds=12, **parameters).fit(X, constraints=links)
    grown = BoostedConstrainedKMeans(3, n_rounds=5, warm_start=True, **parameters).fit(X, constraints=links)
    assert grown.n_iter_ == 5
    grown = pickle.loads(pickle.dumps(grown))
    grown.set_params(n_rounds=12).fit(X, constraints=links)
    np.testing.assert_array_equal(grown.labels_, whole.labels_)
    np.testing.assert_array_equal(grown.alphas_, whole.alphas_)
    np.testing.assert_array_equal(grown.coassociation_.codes, whole.coassociation_.codes)
    assert grown.objective_ == whole.objective_
    assert [entry["round"] for entry in grown.history_] == list(range(1, 13))


def test_a_fit_without_warm_start_starts_again(wine):
    X, _, links = wine
    model = BoostedConstrainedKMeans(3, n_rounds=5, random_state=0).fit(X, constraints=links)
    codes = model.coassociation_.codes
    model.fit(X, constraints=links)
    assert model.n_iter_ == 5
    np.testing.assert_array_equal(model.coassociation_.codes, codes)


def test_nothing_is_added_after_a_perfect_round():
    X, y = load_iris(return_X_y=True)
    links = Constraints.sample(y, n_pairs=60, balanced=False, random_state=0)
    model = BoostedConstrainedKMeans(3, warm_start=True, random_state=0).fit(X, constraints=links)
    n_iter, labels = model.n_iter_, model.labels_
    model.set_params(n_rounds=200).fit(X, constraints=links)
    assert model.n_iter_ == n_iter
    np.testing.assert_array_equal(model.labels_, labels)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_rounds": 3}, "n_rounds=3, but the fitted model has 5 rounds"),
        ({"n_clusters": 4, "n_rounds": 8}, "a model of 3 clusters, and n_clusters is now 4"),
        ({"rows": 100, "n_rounds": 8}, "a model of 178 rows, and X has 100"),
        ({"links": Constraints([(0, 1)]), "n_rounds": 8}, "other links were given"),
    ],
)
def test_what_cannot_be_continued_is_refused(wine, change, message):
    X, y, links = wine
    model = BoostedConstrainedKMeans(3, n_rounds=5, warm_start=True, random_state=0).fit(X, constraints=links)
    rows, links = change.pop("rows", len(X)), change.pop("links", links)
    if rows < len(X):
        links = Constraints.sample(y[:rows], n_pairs=50, random_state=0)
    with pytest.raises(ValueError, match=message):
        model.set_params(**change).fit(X[:rows], constraints=links)


def test_time_budget_ends_the_rounds_and_a_later_fit_goes_on(wine, monkeypatch):
    X, _, links = wine
    ticks = iter(range(1000))
    monkeypatch.setattr(bckm_module.time, "monotonic", lambda: float(next(ticks)))
    model = BoostedConstrainedKMeans(3, n_rounds=50, time_budget=4.0, warm_start=True, random_state=0)
    model.fit(X, constraints=links)
    # The clock is read once at the beginning and once before every round but the first.
    assert model.n_iter_ == 4
    assert model.labels_.shape == (178,)
    whole = BoostedConstrainedKMeans(3, n_rounds=8, random_state=0).fit(X, constraints=links)
    model.set_params(time_budget=None, n_rounds=8).fit(X, constraints=links)
    np.testing.assert_array_equal(model.labels_, whole.labels_)


def test_one_round_is_made_however_short_the_time(wine):
    X, _, links = wine
    model = BoostedConstrainedKMeans(3, time_budget=1e-9, random_state=0).fit(X, constraints=links)
    assert model.n_iter_ == 1


def test_the_bar_is_shown_if_asked_for(wine, capsys):
    X, _, links = wine
    BoostedConstrainedKMeans(3, n_rounds=3, verbose=1, random_state=0).fit(X, constraints=links)
    assert "3/3" in capsys.readouterr().out


# ---- new rows -------------------------------------------------------------------------------------------------------


def test_predict_gives_free_rows_their_labels(wine):
    X, y, _ = wine
    links = Constraints.sample(y[::2], n_pairs=200, balanced=False, random_state=0)
    links = Constraints(2 * links.must_link, 2 * links.cannot_link)
    model = BoostedConstrainedKMeans(3, n_rounds=20, random_state=0).fit(X, constraints=links)
    free = np.setdiff1d(np.arange(len(X)), links.constrained_rows())
    assert len(free) >= 89
    np.testing.assert_array_equal(model.predict(X)[free], model.labels_[free])


def test_predict_is_the_nearest_center_in_the_space_of_the_codes(fitted, wine):
    X, _, _ = wine
    codes = fitted.coassociation_.codes
    new = np.array([PriorityLinks.nearest(X, centers) for centers in fitted.round_centers_]).T
    distance = np.zeros((len(X), 3))
    for c in range(3):
        for t, alpha in enumerate(fitted.alphas_):
            names = fitted.coassociation_.names[t]
            share = np.array([np.mean(codes[fitted.labels_ == c, t] == place) for place in range(len(names))])
            vectors = (new[:, t, None] == names).astype(float)
            distance[:, c] += alpha * np.square(vectors - share).sum(axis=1)
    np.testing.assert_array_equal(fitted.predict(X), distance.argmin(axis=1))


def test_float32_is_kept(wine):
    X, _, links = wine
    model = BoostedConstrainedKMeans(3, n_rounds=3, random_state=0).fit(X.astype(np.float32), constraints=links)
    assert model.round_centers_.dtype == np.float32
    assert model.round_centers_.shape == (3, 3, 13)


def test_same_seed_same_result(wine):
    X, _, links = wine
    one = BoostedConstrainedKMeans(3, n_rounds=5, random_state=7).fit(X, constraints=links)
    two = clone(one).fit(X, constraints=links)
    other = clone(one).set_params(random_state=8).fit(X, constraints=links)
    np.testing.assert_array_equal(one.coassociation_.codes, two.coassociation_.codes)
    assert not np.array_equal(one.round_centers_, other.round_centers_)


# ---- bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*clusters were asked for:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("X", "n_clusters", "links"),
    [
        (np.zeros((6, 2)), 3, Constraints([(0, 1)], [(2, 3)])),
        (np.eye(4, 40), 2, Constraints([(0, 1)], [(1, 2)])),
        (np.array([[0.0], [1.0]]), 2, Constraints([(0, 1)])),
        (np.array([[0.0], [1.0]]), 1, Constraints(cannot_link=[(0, 1)])),
        (np.array([[1.0]]), 1, None),
        (np.arange(8.0)[:, None], 2, Constraints([(0, 7)])),
        (np.arange(8.0)[:, None], 2, Constraints(cannot_link=[(0, 1)])),
        (np.arange(8.0)[:, None], 2, Constraints([(0, 1), (1, 2)], [(0, 2)])),
        (np.arange(8.0)[:, None], 2, Constraints(cannot_link=[(0, 1), (1, 2), (0, 2)])),
    ],
    ids=["constant", "d > n", "two rows", "one cluster", "one row", "must", "cannot", "chain", "triangle"],
)
def test_odd_input_gives_a_result(X, n_clusters, links):
    model = BoostedConstrainedKMeans(n_clusters, n_rounds=10, random_state=0).fit(X, constraints=links)
    assert set(model.labels_) <= set(range(n_clusters))
    assert np.isfinite(model.alphas_).all()
    assert np.isfinite(model.objective_).all()
    assert np.isfinite(model.round_centers_).all()
    assert set(model.predict(X)) <= set(range(n_clusters))


@pytest.mark.filterwarnings("ignore:.*clusters were asked for:sklearn.exceptions.ConvergenceWarning")
@settings(deadline=None, max_examples=40)
@given(cases(max_samples=9), st.integers(1, 3), st.sampled_from([1.0, 5.0]))
def test_contradictory_links_never_raise(case, n_clusters, rho):
    X = np.random.RandomState(len(case.must_link)).standard_normal((case.n_samples, 2))
    links = Constraints(case.must_link or None, case.cannot_link or None)
    model = BoostedConstrainedKMeans(min(n_clusters, len(X)), n_rounds=12, rho=rho, random_state=0)
    model.fit(X, constraints=links)
    assert model.violations_ == links.violations(model.labels_)
    assert np.isfinite(model.errors_).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 5}, "n_samples=4 should be >= n_clusters=5"),
        ({"n_clusters": 2, "rho": 0.9}, "rho"),
        ({"n_clusters": 2, "n_rounds": 0}, "n_rounds"),
        ({"n_clusters": 2, "priorities": "given"}, "priorities"),
        ({"n_clusters": 2, "time_budget": 0}, "time_budget"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        BoostedConstrainedKMeans(**parameters).fit(np.arange(4.0)[:, None])
