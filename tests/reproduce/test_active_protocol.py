from __future__ import annotations

import math

import matplotlib
import pytest

from mustlink.reproduce._run_paper import find_protocol
from mustlink.reproduce.engine._page import Page
from mustlink.reproduce.engine._results import Results, Run
from mustlink.reproduce.papers._active_default import PREFIX
from mustlink.reproduce.papers._active_strategies import COARSE_TO_FINE, CONSOLIDATE, MINMAX, RANDOM, UNCERTAIN
from mustlink.reproduce.papers.active import TARGET, first_above, mean_curve, needed, stays_above
from reference.active_results import asking_results, asking_run

matplotlib.use("Agg")


@pytest.mark.parametrize(
    ("scores", "first", "stays"),
    [
        ([0.9, 0.95, 1.0], 0, 0),
        ([0.5, 0.95, 0.7], 5, None),
        ([0.95, 0.5, 0.9], 0, 10),
        ([0.1, 0.2, 0.3], None, None),
    ],
)
def test_when_the_target_is_reached_and_kept(scores, first, stays):
    assert first_above([0, 5, 10], scores) == first
    assert stays_above([0, 5, 10], scores) == stays


def test_a_target_that_nobody_reaches_decides_nothing():
    claim = find_protocol("active").parts[0].claims[0]
    never = Results(asking_run("iris", strategy, 0, None) for strategy in (CONSOLIDATE, RANDOM))
    assert claim.judge(never).held is None


def test_medians_count_what_was_never_reached():
    found = Results(asking_run("iris", MINMAX, trial, share) for trial, share in enumerate((0.1, None, 0.2, None, 0.4)))
    assert needed(found, "iris", MINMAX) == 60
    assert math.isinf(needed(Results([*found, asking_run("iris", MINMAX, 5, None)]), "iris", MINMAX))
    assert math.isnan(needed(found, "wine", MINMAX))


def test_means_leave_out_portions_without_a_score():
    found = Results(asking_run("iris", MINMAX, trial, 0.1) for trial in range(2))
    curve = mean_curve(found, "iris", MINMAX, "PCKMeans_unlinked")
    assert curve[0] == pytest.approx(0.5)
    assert math.isnan(curve[-1])


def test_tables_and_pictures_show_what_there_is(tmp_path):
    protocol = find_protocol("active")
    page = Page(protocol, protocol.parts, protocol.quick, asking_results(True), "mustlink reproduce active")
    titles = [table.title for table in page.tables()]
    assert len(titles) == 6, "four of PCKMeans, two of the default"
    rows = {row[1]: row[2:] for row in page.tables()[0].rows[:4]}
    assert rows[RANDOM] == ("not within 150", "not within 150")
    assert rows[UNCERTAIN] == ("15", "15")
    names = {path.name for path in page.write(tmp_path, suffixes=("rst",)) if path.suffix != ".csv"}
    assert names == {
        "active.rst",
        "active-pckmeans-questions.png",
        "active-pckmeans-questions-unlinked.png",
        "active-default-questions.png",
        "active-default-gain.png",
    }


def test_a_run_scores_every_portion_and_shares_its_seed():
    protocol = find_protocol("active")
    records = [protocol.compute(Run("active", "iris", strategy, 30, trial=0)) for strategy in (RANDOM, CONSOLIDATE)]
    for found in records:
        assert found.error is None, found.error
        assert found.scores["asked"] == list(range(31))
        assert len(found.scores["PCKMeans_ari"]) == len(found.scores["PCKMeans_unlinked"]) == 31
        reached = found.scores["PCKMeans_first"]
        assert reached is None or found.scores["PCKMeans_ari"][reached] >= TARGET
    assert records[0].scores["PCKMeans_ari"][0] == records[1].scores["PCKMeans_ari"][0]
    assert records[1].scores["n_unlinked"] < 150


def test_the_default_and_cobras_are_compared_on_the_same_links():
    protocol = find_protocol("active")
    found = protocol.compute(Run("active", "iris", PREFIX + COARSE_TO_FINE, 60, trial=0))
    assert found.error is None, found.error
    for name in ("PCKMeans", "RobustBoostCluster", "COBRAS, its own clusters"):
        assert len(found.scores[f"{name}_ari"]) == 2, "after 50 and 60 questions"


def test_cells_in_which_the_default_is_behind_are_named():
    claim = find_protocol("active").parts[-1].claims[0]
    sentence = claim.judge(asking_results(False)).sentence
    assert sentence.startswith("Below it in 90 of 90 cells; the worst, by set, strategy and questions: ")
    assert "digits, COBRAS, 100: 0.60 to 0.80" in sentence
    assert claim.judge(asking_results(True)).sentence == "Below it in 0 of 90 cells."
