"""The sets, the edges, the approaches and the questions of chapter 14."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris

from mustlink.constraints import Constraints
from mustlink.reproduce._run_paper import find_protocol
from mustlink.reproduce.engine._problem import Problem, standardize
from mustlink.reproduce.engine._results import Record, Results, Run
from mustlink.reproduce.papers import _ch14_data, _ch14_questions, ch14
from mustlink.studio._adapter import Fit


@pytest.mark.parametrize(
    ("dataset", "sizes"), [("circles", None), ("overlapping_circles", [25] * 4), ("iris_subset", [33] * 3)]
)
def test_sets_have_the_rows_of_the_chapter(dataset, sizes):
    X, y = _ch14_data.DRAW[dataset](np.random.default_rng(0))
    assert len(X) == len(y) == _ch14_data.N_ROWS[dataset]
    if sizes is not None:
        assert np.bincount(y).tolist() == sizes
    again = _ch14_data.DRAW[dataset](np.random.default_rng(0))[0]
    assert X.tobytes() == again.tobytes() != _ch14_data.DRAW[dataset](np.random.default_rng(1))[0].tobytes()


@pytest.mark.parametrize("seed", range(5))
def test_nearest_neighbors_of_circles_are_in_one_class(seed):
    rng = np.random.default_rng(seed)
    X, y = _ch14_data.draw_circles(rng)
    a, b = _ch14_data.draw_edges(_ch14_data.NEAREST, X, y, rng).T
    assert (y[a] == y[b]).all()
    assert 60 <= len(a) <= 120
    assert (a < b).all()
    # 20 outliers are in no disc.
    away = np.linalg.norm(X[:, None] - [[50.0, 50.0], [150.0, 150.0]], axis=2).min(axis=1)
    assert (away > 50).sum() == 20


def test_probabilistic_edges_are_four_times_as_likely_in_a_class():
    y = np.repeat([0, 1], 200)
    a, b = _ch14_data.draw_edges(_ch14_data.RANDOM, y[:, None], y, np.random.default_rng(0)).T
    n_within = (y[a] == y[b]).sum()
    assert n_within / (2 * 200 * 199 / 2) == pytest.approx(0.20, abs=0.01)
    assert (len(a) - n_within) / 200**2 == pytest.approx(0.05, abs=0.005)
    assert len(_ch14_data.draw_edges(_ch14_data.NONE, y[:, None], y, np.random.default_rng(0))) == 0


@pytest.mark.parametrize("approach", ch14.APPROACHES)
def test_all_is_right_when_every_row_is_moved(approach, monkeypatch):
    """Check 9, on few rows."""

    def draw(rng):
        X, y = _ch14_data.draw_overlapping(rng)
        return X[::4], y[::4]

    monkeypatch.setitem(ch14.DRAW, "overlapping_circles", draw)
    X = np.full((25, 1), list(ch14.DRAW).index("overlapping_circles"), dtype=float)
    problem = Problem(X, np.zeros(25, np.int64), Constraints(), 4, 0, seed=0, amount=25, shared_seed=3)
    curve = ch14.simulate(approach, ch14.NEAREST, problem).facts["curve"]
    assert len(curve) == 26
    assert curve[-1] == 1.0
    assert curve[1] < 0.9


def test_approaches_of_a_trial_share_rows_edges_and_starting_places():
    protocol = find_protocol("ch14")
    first = [
        protocol.compute(Run("ch14", "overlapping_circles", method, 0, trial=0)).scores["curve"]
        for method in (ch14.method_name(name, ch14.NONE) for name in (ch14.LAYOUT, ch14.LAYOUT_FF))
    ]
    assert first[0] == first[1]


def test_farthest_first_is_better_than_random_with_clustering_on_circles():
    protocol = find_protocol("ch14")
    last = {
        name: protocol.compute(Run("ch14", "circles", ch14.method_name(name, ch14.NEAREST), 12, trial=0)).scores
        for name in (ch14.IVC, ch14.MANUAL)
    }
    assert last[ch14.IVC]["curve"][-1] > 0.9 > 0.2 > last[ch14.MANUAL]["curve"][-1]


def test_questions_of_the_studio_and_of_cobras_reach_the_target(monkeypatch):
    X, y = load_iris(return_X_y=True)
    kept = y != 1
    problem = Problem(standardize(X[kept]), y[kept] // 2, Constraints(), 2, 0, seed=0, amount=20, shared_seed=1)
    ours, own = _ch14_questions.ask_studio(problem), _ch14_questions.ask_cobras(problem)
    assert ours.facts["shown"] == 5
    assert 1 <= ours.facts["instant"] <= 20
    assert ours.facts["shown_ari"] >= 0.95
    assert 1 <= own.facts["own"] <= 20
    assert own.facts["own_ari"] >= 0.95


def test_questions_that_are_not_enough_are_counted_as_such():
    X, y = load_iris(return_X_y=True)
    problem = Problem(standardize(X), y, Constraints(), 3, 0, seed=0, amount=4, shared_seed=1)
    assert _ch14_questions.ask_studio(problem).facts["shown"] is None
    assert _ch14_questions.ask_cobras(problem).facts["own"] is None
    assert _ch14_questions.needed_text((300.0, 0, 5)) == "not within 300"
    assert _ch14_questions.needed_text((120.0, 3, 5)) == "over 120 (3 of 5 runs)"


def test_a_fit_that_fails_leaves_the_groups_of_before(monkeypatch):
    def fail(name, X, links, n_clusters, seed, revision):
        return Fit(revision, name, error="There is not enough memory.")

    monkeypatch.setattr(_ch14_questions, "fit_method", fail)
    X = np.array([[0.0], [0.1], [9.0], [9.1], [0.2], [9.2]])
    problem = Problem(X, (X[:, 0] > 5).astype(int), Constraints(), 2, 0, seed=0, amount=5, shared_seed=1)
    # The instant groups of the first answers are right.
    assert _ch14_questions.ask_studio(problem).facts["shown"] == 5


def question_runs(dataset, ours, rival):
    """Runs of both sides, each with the question at which it reached the target."""
    return [
        Record(Run("ch14", dataset, method, 300, trial=trial, rows=500), {fact: n_asked})
        for method, fact, needed in (("studio", "shown", ours), ("COBRAS", "own", rival))
        for trial, n_asked in enumerate(needed)
    ]


def test_sets_that_most_runs_of_both_sides_get_wrong_decide_nothing():
    decided = question_runs("iris", [40], [90])
    neither = question_runs("wine", [None], [None])
    rare = question_runs("digits", [300, None, None], [None, 280, None])
    verdict = _ch14_questions.judge_fewer("shown", Results([*decided, *neither, *rare]))
    assert verdict.held
    assert verdict.sentence == (
        "No more on 1 of 1 set: iris 40 against 90. Undecided within 300 questions: wine (no run) and digits "
        "(studio: 1 of 3 runs at question 300; COBRAS: 1 of 3 runs at question 280)."
    )
    assert _ch14_questions.judge_fewer("shown", Results([*neither, *rare])).held is None


def test_half_of_the_runs_of_one_side_decide():
    half = question_runs("wine", [None, None], [200, None])
    verdict = _ch14_questions.judge_fewer("shown", Results(half))
    assert verdict.held is False
    assert verdict.sentence == "No more on 0 of 1 set: wine not within 300 against over 250 (1 of 2 runs)."
