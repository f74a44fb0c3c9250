"""RobustBoostCluster: held-out trials, trust and its update, the choice between consensus and base."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.preprocessing import StandardScaler

from mustlink import Constraints
from mustlink.blocks import FileRows
from mustlink.boosting import RobustBoostCluster
from mustlink.boosting._bases import BaseClusterer, BaseRun, NearestMean, labels_of_each
from mustlink.boosting._boostcluster._coordinates import make_coordinates
from mustlink.boosting._boostcluster._links import LinkSet
from mustlink.boosting._boostcluster._representations import Representation
from mustlink.boosting._boostcluster._rounds import held_out_log_odds
from mustlink.boosting._boostcluster._views import RepresentationView, label_all_rows, run_base
from mustlink.boosting._robust import _estimator, _trials, _trust
from mustlink.boosting._robust._estimator import combine_voters
from mustlink.boosting._robust._resolution import update_trust
from mustlink.boosting._robust._trials import Trials, draw_masks, draw_sample, draw_views, held_out_mean, score
from mustlink.boosting._robust._trust import ErrorEstimate, NoisyCurve, conflict_bound, estimate_trust


def link_set(links: Constraints, n: int) -> LinkSet:
    return LinkSet.of(links, np.arange(n)[:, None].astype(float))


# ---- the steps -----------------------------------------------------------------------------------------------------


@given(st.integers(0, 30), st.integers(0, 30), st.integers(2, 6), st.integers(0, 1000))
@settings(deadline=None, max_examples=60)
def test_masks_see_a_fraction_of_each_kind_and_hold_out_every_link(
    n_must: int, n_cannot: int, n_masks: int, seed: int
) -> None:
    is_must = np.arange(n_must + n_cannot) < n_must
    masks = draw_masks(is_must, n_masks, np.random.RandomState(seed))
    assert masks.shape == (n_masks, n_must + n_cannot)
    assert not masks.all(axis=0).any()
    for kind, count in ((is_must, n_must), (~is_must, n_cannot)):
        assert (masks[:, kind].sum(axis=1) <= round(0.63 * count)).all()
        assert masks[:, kind].sum() >= n_masks * round(0.63 * count) - count


def test_votes_come_only_from_runs_without_the_link() -> None:
    links = link_set(Constraints([(0, 1)], [(2, 3)]), 4)
    votes = [links.together(np.array(labels)) for labels in ([0, 0, 1, 1], [0, 1, 1, 2], [0, 0, 1, 2])]
    masks = np.array([[True, False], [False, True], [False, False]])
    assert held_out_mean(votes, masks).tolist() == [0.5, 0.5]


def test_scores_are_balanced_accuracies_soft_and_hard() -> None:
    links = link_set(Constraints([(0, 1), (0, 2), (0, 3)], [(4, 5)]), 6)
    vote = np.array([1.0, 0.5, 0.25, 0.25])
    soft = (np.mean([1.0, 0.5, 0.25]) + 0.75) / 2
    hard = (np.mean([1.0, 0.5, 0.0]) + 1.0) / 2
    assert score(links, [], vote) == pytest.approx((soft + hard) / 2)


def test_scores_of_one_kind_of_link_are_set_against_chance() -> None:
    all_together, as_linked = np.zeros(6, dtype=int), np.array([0, 0, 1, 1, 2, 2])
    must = link_set(Constraints([(0, 1), (2, 3)]), 6)
    cannot = link_set(Constraints(None, [(0, 2), (1, 3)]), 6)
    ones, zeros = np.ones(2), np.zeros(2)
    assert score(must, [BaseRun(as_linked, None)], ones) > score(must, [BaseRun(all_together, None)], ones)
    assert score(must, [BaseRun(all_together, None)], ones) == pytest.approx(0.5)
    assert score(cannot, [BaseRun(as_linked, None)], zeros) > 0.5
    assert score(cannot, [BaseRun(np.arange(6), None)], zeros) == pytest.approx(0.5)


def pairs_of(n_must: int, n_cannot: int) -> tuple[np.ndarray, np.ndarray]:
    pairs = np.arange(2 * (n_must + n_cannot)).reshape(-1, 2)
    return pairs[:n_must], pairs[n_must:]


def test_trust_is_the_posterior_of_its_formula() -> None:
    constraints = Constraints(*pairs_of(50, 50))
    links = link_set(constraints, 200)
    right = np.arange(100) % 5 != 0
    vote = np.where(links.is_must == right, 0.99, 0.01)
    rate, error, trust = estimate_trust(links, constraints, vote, 0.5, 200, 0.45)
    assert rate == pytest.approx(0.2, abs=0.03)
    assert error == pytest.approx(0.2, abs=0.03)
    curve = NoisyCurve.of(links, logit(vote), 0.5)
    best = curve.fit(0.45)
    shift, log_slope, found = curve.expected_parameters(best, 0.45)
    assert (rate, error) == (best[2], found)
    agreed = curve.agreement(shift, log_slope)
    np.testing.assert_allclose(trust, (1 - error) * agreed / ((1 - error) * agreed + error * (1 - agreed)))
    assert trust[right].min() > 0.9
    assert trust[~right].max() < 0.3


def fit_errors(links: LinkSet, log_odds: np.ndarray, chance: float, max_error: float) -> tuple[float, np.ndarray]:
    """Return the most probable error rate, and how far the curve agrees with each link."""
    curve = NoisyCurve.of(links, log_odds, chance)
    shift, log_slope, error = curve.fit(max_error)
    return error, curve.agreement(shift, log_slope)


def draw_votes(seed: int, error: float, n_links: int = 2000) -> tuple[LinkSet, np.ndarray]:
    """Draw links with votes that are as certain as they should be, and make a fraction of the links wrong."""
    rng = np.random.RandomState(seed)
    log_odds = rng.normal(0, 3, size=n_links)
    together = rng.uniform(size=n_links) < expit(log_odds)
    is_must = together ^ (rng.uniform(size=n_links) < error)
    pairs = np.arange(2 * n_links).reshape(-1, 2)
    links = link_set(Constraints(pairs[is_must], pairs[~is_must]), 2 * n_links)
    return links, np.concatenate([log_odds[is_must], log_odds[~is_must]])


@pytest.mark.parametrize("error", [0.0, 0.1, 0.2, 0.3, 0.4])
def test_hard_links_are_told_from_wrong_ones(error: float) -> None:
    found = [fit_errors(*draw_votes(seed, error), 0.5, 0.45)[0] for seed in range(10)]
    assert np.mean(found) == pytest.approx(error, abs=0.02)


def test_of_many_links_some_are_fitted(monkeypatch: pytest.MonkeyPatch) -> None:
    links, log_odds = draw_votes(0, 0.2, 40_000)
    # The votes alternate in how certain they are, as they may if two people answered in turn.
    log_odds[::2] *= 0.1
    found, agreed = fit_errors(links, log_odds, 0.5, 0.45)
    monkeypatch.setattr(_trust, "MAX_LINKS_FITTED", len(links))
    expected, expected_agreed = fit_errors(links, log_odds, 0.5, 0.45)
    assert found != expected
    assert found == pytest.approx(expected, abs=0.02)
    # The slope is that of half as many links, and half of these say little.
    np.testing.assert_allclose(agreed, expected_agreed, atol=0.05)


@given(st.integers(0, 1000), st.floats(0, 0.4), st.floats(0.1, 0.6))
@settings(deadline=None, max_examples=25)
def test_no_point_of_a_grid_fits_the_links_better(seed: int, error: float, chance: float) -> None:
    links, log_odds = draw_votes(seed, error, 60)
    found, agreed = fit_errors(links, log_odds, chance, 0.45)
    together = np.where(links.is_must, agreed, 1 - agreed)
    expected = logit(links.is_must.mean()) - logit(chance)

    def cost(shift: float, log_slope: float, rate: float) -> float:
        t = expit(expected + shift + np.exp(log_slope) * log_odds)
        must = (1 - rate) * t + rate * (1 - t)
        likelihood = np.log(np.where(links.is_must, must, 1 - must)).sum()
        return float(shift**2 / 2 + (log_slope / 0.5) ** 2 / 2 - likelihood)

    slope, shift = np.polyfit(log_odds, logit(together), 1)
    best = cost(shift - expected, np.log(slope), found)
    grid = product(np.linspace(-2, 2, 9), np.linspace(-1, 1, 9), np.linspace(0, 0.45, 10))
    assert best <= min(cost(*point) for point in grid) + 1e-3


@pytest.mark.parametrize("n_links", [20, 100, 500, 1_000])
@given(st.integers(0, 1000), st.floats(0, 0.3))
@settings(deadline=None, max_examples=5)
def test_the_expected_error_is_the_mean_over_a_fine_grid(n_links: int, seed: int, error: float) -> None:
    links, log_odds = draw_votes(seed, error, n_links)
    curve = NoisyCurve.of(links, log_odds, 0.5)
    best = curve.fit(0.45)
    found = curve.expected_parameters(best, 0.45)[2]
    rates = np.linspace(1e-6, 0.45, 181)

    def smallest_loss(rate: float) -> float:
        given = minimize(lambda rest: curve.loss(np.array([*rest, rate]))[0] * n_links, best[:2], method="BFGS")
        return float(given.fun)

    loss = np.array([smallest_loss(rate) for rate in rates])
    assert found == pytest.approx(np.average(rates, weights=np.exp(loss.min() - loss)), abs=0.008)


def test_with_few_links_the_expected_error_is_not_zero_although_zero_is_most_probable() -> None:
    expected = []
    for seed in range(20):
        links, log_odds = draw_votes(seed, 0.1, 50)
        rate, error, _ = estimate_trust(links, links.constraints(), expit(log_odds), 0.5, 10_000, 0.45)
        assert error > 0.01
        expected += [error] if rate == 0 else []
    assert len(expected) > 2
    assert 0.02 < np.mean(expected) < 0.12


def test_links_count_as_the_expected_error_says(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = make_blobs(60, 2, centers=3, random_state=0)
    links = Constraints.sample(y, 30, random_state=0)
    counted: list[float] = []

    def weigh(consensus: Any, links: Any, penalty: float, log_odds: float, *rest: Any) -> Any:
        counted.append(log_odds)
        return consensus

    monkeypatch.setattr(_estimator, "estimate_trust", lambda *_: ErrorEstimate(0.0, 0.2, np.linspace(0.4, 1, 30)))
    monkeypatch.setattr(_estimator, "weigh_links", weigh)
    model = RobustBoostCluster(None, 3, n_rounds=3, random_state=0).fit(X, constraints=links)
    assert counted == [pytest.approx(np.log(0.8 / 0.2))]
    assert (model.error_rate_, model.expected_error_rate_) == (0.0, 0.2)
    assert len(model.suspects_) == np.sum(np.linspace(0.4, 1, 30) < 0.5)


def test_the_error_rate_is_bounded() -> None:
    links, log_odds = draw_votes(0, 0.3)
    constraints = links.constraints()
    n_samples = 2 * len(links)
    assert estimate_trust(links, constraints, expit(log_odds), 0.5, n_samples, 0.2)[0] == pytest.approx(0.2)
    error, expected, trust = estimate_trust(links, constraints, expit(log_odds), 0.5, n_samples, 0.0)
    assert error == expected == 0
    assert trust.min() == 1


@pytest.mark.parametrize("n_wrong", [0, 1, 2, 20, 200])
@pytest.mark.parametrize("n_links", [2_000, 20_000])
def test_wrong_links_among_many_easy_ones(n_links: int, n_wrong: int) -> None:
    """A search that begins with too long a step would end where no link can be wrong."""
    constraints = Constraints(*pairs_of(n_links // 2, n_links // 2))
    links = link_set(constraints, 2 * n_links)
    is_wrong = np.isin(np.arange(n_links), np.linspace(0, n_links - 1, n_wrong).astype(int))
    vote = np.where(links.is_must ^ is_wrong, 1.0, 0.0)
    error, expected, trust = estimate_trust(links, constraints, vote, 0.5, 2 * n_links, 0.45)
    assert error == expected
    assert error == pytest.approx(n_wrong / n_links, abs=2e-3)
    assert trust[~is_wrong].min() > 0.99
    if n_wrong >= 0.01 * n_links:
        assert trust[is_wrong].max() < 0.2


def test_constant_columns_count_nothing_without_links() -> None:
    X = np.column_stack([np.arange(12.0), np.full(12, 0.1)])
    model = RobustBoostCluster(n_clusters=2, random_state=0).fit(X)
    assert model.column_weights_.tolist() == [1, 0]
    in_blocks = RobustBoostCluster(n_clusters=2, random_state=0).fit(FileRows(X, block_rows=5))
    assert in_blocks.column_weights_.tolist() == [1, 0]


def test_one_kind_of_link_is_trusted() -> None:
    X = np.repeat([[0.0], [5.0]], 6, axis=0) + np.arange(12)[:, None] / 10
    for links in (Constraints([(0, 1), (2, 3), (4, 7)]), Constraints(None, [(0, 7), (2, 9), (1, 2)])):
        model = RobustBoostCluster(None, n_clusters=2, n_rounds=3, random_state=0).fit(X, constraints=links)
        assert model.error_rate_ == 0
        assert model.trust_.tolist() == [1, 1, 1]


def test_dense_links_that_agree_bound_the_error_rate() -> None:
    y = np.arange(40) % 2
    agreeing = Constraints.sample(y, 400, random_state=0)
    flipped = Constraints.sample(y, 400, noise=0.2, random_state=0)
    assert conflict_bound(agreeing, 40) < 0.05
    assert conflict_bound(flipped, 40) > 0.3
    assert conflict_bound(Constraints([(0, 1)], [(2, 3)]), 40) > 0.3


def test_answers_that_cannot_conflict_do_not_bound_the_error_rate() -> None:
    """Two components that grew by one answer for each row, and many cannot-links between them; then one more link."""
    answers = [(row, row + 2) for row in range(38)]
    apart = [(row, row + 1) for row in range(0, 38, 2)]
    assert conflict_bound(Constraints(answers, apart), 40) == np.inf
    assert conflict_bound(Constraints([*answers, (0, 38)], apart), 40) < 0.4


def test_views_are_drawn_in_proportion() -> None:
    weights = np.array([0.1, 0.0, 0.6, 0.3])
    drawn = draw_views(weights, 20, np.random.RandomState(0))
    assert np.bincount(drawn, minlength=4).tolist() == [2, 0, 12, 6]
    assert not (np.diff(drawn) >= 0).all()


def test_rounds_and_trials_share_the_weight() -> None:
    X, y = load_iris(return_X_y=True)
    rounds = [BaseRun(y, None, weight=weight) for weight in (1.0, 3.0)]
    runs = [[BaseRun(y, None)] * 2, [BaseRun(y, None)] * 2]
    view = RepresentationView(BaseClusterer(None, 3), Representation("ridged"))
    votes = np.zeros((2, 1))
    trials = Trials([view], runs, masks=[], votes=votes, scores=np.array([0.9, 0.4])).voters()
    voters = combine_voters(rounds, trials, 0.6)
    assert [voter.weight for voter in voters] == pytest.approx([0.1, 0.3, 0.3, 0.3])
    only_trials = combine_voters([], trials, 0.6)
    assert [voter.weight for voter in only_trials] == pytest.approx([0.5, 0.5])
    assert len(X) == 150


@pytest.mark.parametrize("n", [90, 9000])
def test_updated_trust_finds_the_links_that_runs_and_other_links_contradict(n: int) -> None:
    """On all rows and on a subsample; a large penalty confirms the links."""
    y = np.arange(n) % 3
    constraints = Constraints.sample(y, 60, noise=0.1, random_state=0)
    links = link_set(constraints, n)
    wrong = (y[links.pairs[:, 0]] == y[links.pairs[:, 1]]) != links.is_must
    assert wrong.sum() == 6
    trust = np.linspace(0.5, 1, len(links))
    voters = [BaseRun(labels, None, weight=0.5) for labels in (y, (y + 1) % 3)]
    base = BaseClusterer(None, 3)
    found = update_trust(trust, links, voters, base, 0.1, 2.2, n)
    assert found[wrong].max() < 0.1
    assert found[~wrong].min() > 0.9
    assert update_trust(trust, links, voters, base, 50.0, 2.2, n)[wrong].mean() > 0.5
    assert update_trust(trust, links, [], base, 0.1, 2.2, n) is trust
    assert update_trust(trust, links, voters, base, 0.0, 2.2, n) is trust


@pytest.mark.parametrize("n_pairs", [60, 3_000])
def test_trials_on_a_sample_label_what_is_needed_and_the_rest_later(n_pairs: int) -> None:
    """With few links all linked rows are clustered; with many only some of them are."""
    n, rng = 21_000, np.random.RandomState(0)
    y = rng.randint(3, size=n)
    X = 4.0 * np.eye(3)[y] + 0.1 * rng.normal(size=(n, 3))
    constraints = Constraints.sample(y, n_pairs, random_state=0)
    coordinates = make_coordinates(X, constraints, standardize=True, points=False, needs_rest=True)
    links = coordinates.place_links(constraints)
    sample = draw_sample(links, coordinates, rng)
    assert sample is not None
    clustered = sample.labeled[sample.clustered]
    assert np.isin(links.rows, sample.labeled).all()
    assert np.isin(links.rows, clustered).all() == (n_pairs == 60)
    assert 3_000 < len(clustered) <= 3_120 if n_pairs == 60 else len(clustered) == 3_000
    base = BaseClusterer(None, 3)
    run = run_base(base, coordinates, None, 0, "in a test", sample)
    assert links.agreement(label_all_rows(run, coordinates, True).labels) == 1.0
    assert links.among(sample.labeled).agreement(run.labels) == 1.0
    assert_array_equal(labels_of_each([run], links.rows)[0], label_all_rows(run, coordinates, True).labels[links.rows])


def test_of_trials_on_a_sample_a_few_of_each_view_count_in_the_end() -> None:
    runs = [[BaseRun(np.zeros(4, dtype=int), None, weight=k, rows=np.arange(4)) for k in range(4)] for _ in range(6)]
    view = RepresentationView(BaseClusterer(None, 3), Representation("ridged"))
    trials = Trials(
        [view] * 5,
        runs,
        masks=[],
        votes=np.zeros((6, 9)),
        scores=np.array([0.9, 0.8, 0.7, 0.4, 0.6, 0.9]),
    )
    assert len(trials.voters()) == 20
    final = trials.final_voters()
    assert len(final) == 12
    # Two runs of each of the five views that count, and a third one of the two best.
    assert np.unique([run.weight for run in final], return_counts=True)[1].tolist()[:3] == [2, 2, 2]
    on_all = replace(trials, runs=[[replace(run, rows=None) for run in row] for row in runs])
    assert len(on_all.final_voters()) == 20


def test_rounds_are_weighted_by_held_out_links() -> None:
    links = link_set(Constraints([(0, 1), (2, 3), (4, 5)], [(0, 2), (1, 4), (3, 5)]), 6)
    together = links.together(np.array([0, 0, 1, 1, 2, 3]))
    unseen = np.array([True, True, False, True, False, False])
    # Of the links not seen, two must-links and a cannot-link are kept, and none is broken.
    trust = np.array([1.0, 0.5, 1.0, 0.8, 1.0, 1.0])
    kept, broken = (1.5 + 0.5) * (0.8 + 0.5), 0.5 * 0.5
    assert held_out_log_odds(links, trust * unseen, together) == pytest.approx(0.5 * np.log(kept / broken))
    assert held_out_log_odds(links, trust * unseen, ~together) == 0.0
    assert held_out_log_odds(links, np.zeros(6), together) == 0.0


@pytest.mark.parametrize("links", [Constraints([(0, 1)], [(0, 99)]), Constraints([(0, 1)])], ids=["two", "one"])
def test_rounds_count_where_no_link_can_be_held_out(links: Constraints) -> None:
    X, _ = load_iris(return_X_y=True)
    model = RobustBoostCluster(n_clusters=3, n_rounds=6, random_state=0).fit(X, constraints=links)
    assert any(report["counted"] for report in model.history_)
    assert all(report["counted"] == (report["alpha"] > 0) for report in model.history_)


def test_one_cluster_does_not_change_trust() -> None:
    links = link_set(Constraints([(0, 1)], [(2, 3)]), 6)
    trust = np.ones(2)
    voters = [BaseRun(np.zeros(6, dtype=int), None)]
    assert update_trust(trust, links, voters, BaseClusterer(None, 1), 0.5, 2.2, 6) is trust


def test_the_rounds_start_again_after_a_third() -> None:
    X, y = load_iris(return_X_y=True)
    links = Constraints.sample(y, 100, noise=0.2, random_state=0)
    model = RobustBoostCluster(n_clusters=3, n_rounds=8, random_state=0).fit(X, constraints=links)
    assert len(model.history_) == 8
    first, second = model.objective_[:3], model.objective_[3:]
    assert np.all(np.diff(first) <= 1e-9)
    assert np.all(np.diff(second) <= 1e-9)

    turn = [0]

    def fails_at_the_end(table: np.ndarray) -> np.ndarray:
        turn[0] += 1
        if turn[0] == 4 * 11 + 8:
            raise ValueError("out of luck")
        return KMeans(3, n_init=1, random_state=turn[0]).fit_predict(table)

    with pytest.raises(RuntimeError, match="failed in round 8 of 8"):
        RobustBoostCluster(fails_at_the_end, 3, n_rounds=8, random_state=0).fit(X, constraints=links)


# ---- the whole -----------------------------------------------------------------------------------------------------


def test_clean_and_easy_links_have_no_suspects() -> None:
    X, y = make_blobs(200, 5, centers=4, cluster_std=0.6, random_state=1)
    links = Constraints.sample(y, 200, random_state=0)
    model = RobustBoostCluster(n_clusters=4, random_state=0).fit(X, constraints=links)
    assert model.error_rate_ < 0.02
    assert model.suspects_ == []
    assert model.trust_.min() > 0.9
    assert adjusted_rand_score(y, model.labels_) == 1.0


def test_reversed_links_do_no_harm() -> None:
    X, y = load_iris(return_X_y=True)
    alone = [KMeans(3, n_init=3, random_state=s).fit_predict(StandardScaler().fit_transform(X)) for s in range(3)]
    expected = np.mean([normalized_mutual_info_score(y, labels) for labels in alone])
    for seed in range(3):
        links = Constraints.sample(y, 200, noise=1.0, random_state=seed)
        model = RobustBoostCluster(n_clusters=3, n_rounds=10, random_state=seed).fit(X, constraints=links)
        assert model.is_plain_
        assert normalized_mutual_info_score(y, model.labels_) > expected - 0.02


@pytest.mark.parametrize("n_links", [1, 3, 5, 20, 40])
def test_every_suspect_is_more_likely_wrong_than_right(n_links: int) -> None:
    X, y = make_blobs(60, 2, centers=3, cluster_std=1.0, random_state=2)
    for seed in range(3):
        noise = max(0.1, 1 / n_links)
        links = Constraints.sample(y, n_links, noise=noise, random_state=seed)
        model = RobustBoostCluster(n_clusters=3, n_rounds=6, random_state=seed).fit(X, constraints=links)
        below = {tuple(pair) for pair in links.pairs[model.trust_ < 0.5].tolist()}
        assert {(suspect.a, suspect.b) for suspect in model.suspects_} == below
        assert all(0 < suspect.trust < 0.5 for suspect in model.suspects_)


def test_a_single_link_that_is_broken_is_not_a_suspect() -> None:
    square = np.array([[0.0, 0.0], [0.1, 0.0], [0.0, 0.1], [0.1, 0.1]])
    links = Constraints(must_link=[(0, 4)])
    model = RobustBoostCluster(n_clusters=2, link_penalty=0.1, random_state=0)
    model.fit(np.vstack([square, square + 5]), constraints=links)
    assert model.violations_ == links
    assert model.suspects_ == []


def test_one_wrong_link_among_many_is_the_first_suspect_in_most_seeds() -> None:
    X, y = load_iris(return_X_y=True)
    hits = 0
    for seed in range(8):
        links = Constraints.sample(y, 400, random_state=seed)
        rng = np.random.RandomState(seed)
        wrong = links.must_link[rng.randint(len(links.must_link))]
        kept = (links.must_link != wrong).any(axis=1)
        flipped = Constraints(links.must_link[kept], np.vstack([links.cannot_link, wrong]))
        model = RobustBoostCluster(n_clusters=3, random_state=seed).fit(X, constraints=flipped)
        hits += bool(model.suspects_) and model.suspects_[0][:3] == (*wrong, "cannot")
    assert hits >= 5


def test_wrong_links_are_found_and_the_result_stays_above_the_base_alone() -> None:
    X, y = load_wine(return_X_y=True)
    links = Constraints.sample(y, 400, noise=0.2, random_state=0)
    model = RobustBoostCluster(n_clusters=3, random_state=0).fit(X, constraints=links)
    assert 0.1 < model.error_rate_ < 0.3
    suspects = [(s.a, s.b, s.link) for s in model.suspects_]
    wrong = [(y[a] == y[b]) == (link == "cannot") for a, b, link in suspects]
    assert len(suspects) > 30
    assert np.mean(wrong) > 0.6
    assert [s.trust for s in model.suspects_] == sorted(s.trust for s in model.suspects_)
    alone = KMeans(3, n_init=3, random_state=0).fit_predict(StandardScaler().fit_transform(X))
    assert adjusted_rand_score(y, model.labels_) > adjusted_rand_score(y, alone)


def test_representation_weights_tell_what_was_used() -> None:
    X, y = load_iris(return_X_y=True)
    links = Constraints.sample(y, 100, random_state=0)
    model = RobustBoostCluster(None, 3, representations=[(1.0, 1.0), (0.1, 0.3)], n_rounds=6, random_state=0)
    model.fit(X, constraints=links)
    labels = list(model.representation_weights_)
    weighted = [f"ridged(1, 1) on columns by {weighting}" for weighting in ("ratio", "screen", "clusters")]
    assert labels[:4] == ["ridged(1, 1)", *weighted]
    assert labels[4] == "ridged(0.1, 0.3)"
    assert labels[5].startswith("ridged(0.1, 0.3) on columns by")
    assert labels[6:] == ["plain"]
    assert sum(model.representation_weights_.values()) == pytest.approx(1.0)
    assert {report["representation"] for report in model.history_} <= set(model.representation_weights_)
    assert model.coassociation_.weights.sum() == pytest.approx(1.0)


def test_n_jobs_changes_nothing() -> None:
    X, y = load_wine(return_X_y=True)
    links = Constraints.sample(y, 60, random_state=0)
    one = RobustBoostCluster(AgglomerativeClustering(), 3, n_rounds=3, n_trials=2, random_state=0).fit(
        X, constraints=links
    )
    two = RobustBoostCluster(AgglomerativeClustering(), 3, n_rounds=3, n_trials=2, random_state=0, n_jobs=2)
    two.fit(X, constraints=links)
    assert (one.labels_ == two.labels_).all()
    assert (one.trust_ == two.trust_).all()
    assert one.representation_weights_ == two.representation_weights_
    assert one.coassociation_ == two.coassociation_


@pytest.mark.parametrize("n_links", [2, 3, 5, 9])
def test_few_links_work(n_links: int) -> None:
    X, y = load_iris(return_X_y=True)
    for seed in range(3):
        links = Constraints.sample(y, n_links, random_state=seed)
        model = RobustBoostCluster(n_clusters=3, n_rounds=4, random_state=seed).fit(X, constraints=links)
        assert 0 <= model.error_rate_ <= 0.45
        assert ((model.trust_ > 0) & (model.trust_ <= 1)).all()
        assert adjusted_rand_score(y, model.labels_) > 0.4


def test_unequal_numbers_of_links_work() -> None:
    X, y = load_wine(return_X_y=True)
    links = Constraints.sample(y, 300, random_state=0)
    for lopsided in (
        Constraints(links.must_link, links.cannot_link[:3]),
        Constraints(links.must_link[:3], links.cannot_link),
    ):
        model = RobustBoostCluster(n_clusters=3, random_state=0).fit(X, constraints=lopsided)
        assert adjusted_rand_score(y, model.labels_) > 0.8


# ---- many rows -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("base", [KMeans(), AgglomerativeClustering()], ids=["predicts", "does not"])
def test_trials_use_a_sample_of_a_large_table(base: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = make_blobs(600, 4, centers=3, cluster_std=2.0, random_state=0)
    links = Constraints.sample(y, 60, random_state=0)
    monkeypatch.setattr(_trials, "MAX_ROWS_TRIED", 300)
    monkeypatch.setattr(_trials, "MIN_SAMPLE", 120)
    seen: list[int] = []
    original = BaseClusterer.run

    def spy(self: Any, table: Any, *rest: Any) -> BaseRun:
        seen.append(len(table))
        return original(self, table, *rest)

    monkeypatch.setattr(BaseClusterer, "run", spy)
    model = RobustBoostCluster(base, 3, n_rounds=3, n_trials=2, random_state=0).fit(X, constraints=links)
    n_linked = len(links.constrained_rows())
    assert seen[-3:] == [600] * 3
    assert len(seen) == 2 * 11 + 3
    assert all(n_linked < count <= n_linked + 120 for count in seen[:-3])
    assert len(set(seen[:-3])) == 1
    assert model.coassociation_.n_samples == 600
    assert adjusted_rand_score(y, model.labels_) > 0.8
    assert (model.predict(X) == model.labels_).mean() > 0.95


def test_the_nearest_mean_predicts_rows_without_noise() -> None:
    table = np.array([[0.0], [1.0], [10.0], [11.0], [100.0]])
    model = NearestMean.of(table, np.array([4, 4, 7, 7, -1]))
    assert model.predict(np.array([[2.0], [90.0]])).tolist() == [4, 7]
    assert NearestMean.of(table, np.full(5, -1)).predict(table).tolist() == [-1] * 5


def test_many_runs_build_nothing_quadratic() -> None:
    X, y = make_blobs(30_000, 3, centers=3, random_state=0)
    links = Constraints.sample(y, 50, random_state=0)
    model = RobustBoostCluster(KMeans(n_init=1, max_iter=5), 3, n_rounds=5, random_state=0).fit(X, constraints=links)
    assert model.coassociation_.codes.nbytes <= 30_000 * (5 + 44)
    assert adjusted_rand_score(y, model.labels_) > 0.9


def test_parameters_of_the_base_are_validated() -> None:
    links = Constraints([(0, 1)], [(0, 2)])
    with pytest.raises((RuntimeError, ValueError), match="'max_iter' parameter of KMeans"):
        RobustBoostCluster(KMeans(2, max_iter=-1), random_state=0).fit(np.eye(6), constraints=links)


@pytest.mark.parametrize("constant", [0.1, 1.0, 7.7])
@pytest.mark.parametrize("scale", [False, True])
def test_constant_columns_count_nothing_with_links(constant, scale):
    """The mean of some constants is rounded, and so these seem to vary."""
    X, y = load_iris(return_X_y=True)
    links = Constraints.sample(y, n_pairs=40, random_state=0)
    X = np.column_stack([X, np.full(len(X), constant)])
    model = RobustBoostCluster(KMeans(3, n_init=1), n_rounds=3, scale=scale, random_state=0).fit(X, constraints=links)
    assert model.column_weights_[-1] == 0
    assert (model.column_weights_[:-1] > 0).all()
