"""RobustBoostCluster: its runs, its tables beside the reference, and its claims, on results made by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mustlink.reproduce.engine._problem import Problem
from mustlink.reproduce.engine._results import Record, Results, Run
from mustlink.reproduce.papers._robust_bases import FIXED, fixed_scores
from mustlink.reproduce.papers._robust_columns import way_covered
from mustlink.reproduce.papers._robust_error import error_rates
from mustlink.reproduce.papers._robust_kmeans import REFERENCE, REQUIRED, cells_below, differences, suspect_rates
from mustlink.reproduce.papers._robust_methods import (
    FEWER_ROWS,
    MINMAX_ANSWERS,
    NPU_ANSWERS,
    OTHER_BASES,
    PLAIN,
    ROBUST,
    ROBUST_KMEANS,
    WIDE,
    fit_widened,
    make_wide,
)
from mustlink.reproduce.papers.robust import PROTOCOL
from reproduce.robust_results import robust_results

CLAIMS = {claim.name: claim for part in PROTOCOL.parts for claim in part.claims}


@pytest.mark.parametrize("name", CLAIMS)
def test_claims_hold_above_the_reference(name):
    verdict = CLAIMS[name].judge(robust_results(True))
    assert verdict.held is True, verdict.sentence
    assert verdict.sentence.endswith(".")
    assert "nan" not in verdict.sentence


@pytest.mark.parametrize("name", CLAIMS)
def test_claims_do_not_hold_below_the_reference(name):
    verdict = CLAIMS[name].judge(robust_results(False))
    assert verdict.held is False, verdict.sentence


@pytest.mark.parametrize("name", CLAIMS)
def test_claims_are_not_tested_without_results(name):
    assert CLAIMS[name].judge(Results(())).held is None


def test_reference_means_are_those_of_the_prototype():
    for noise, mean in {0.0: 0.751, 0.2: 0.629}.items():
        runs = [value for row in REFERENCE.values() for value in row[noise]]
        assert np.mean(runs) == pytest.approx(mean, abs=0.003)
        assert mean < REQUIRED[noise].nmi


def test_one_cell_below_is_named_and_counted():
    results = robust_results(True)
    run = Run("robust", "iris", ROBUST_KMEANS, 100, 1, 0.2, 800)
    results = Results([*results, Record(run, {"nmi": -1.0, "nmi_unconstrained": 0.0})])
    assert cells_below(results, PLAIN, ROBUST_KMEANS, 0.2) == ["iris 100"]
    assert cells_below(results, PLAIN, ROBUST, 0.2) == []
    assert differences(results, 0.2)["iris", 100] == pytest.approx((0.93 - 1) / 2 - 0.86)
    verdicts = {claim.text: claim.judge(results).held for claim in CLAIMS.values()}
    case = f"{ROBUST_KMEANS}, links 20% wrong"
    assert verdicts[f"{case}: at most 1 cell is more than 0.01 below plain k-means."] is True
    assert verdicts[f"{case}: every cell is at most 0.03 below its reference."] is False


def test_the_default_must_reach_more_than_a_single_base():
    texts = [claim.text for claim in CLAIMS.values()]
    assert "RobustBoostCluster + k-means, links 30% wrong: mean NMI on unlinked points at least 0.591." in texts
    assert "RobustBoostCluster, links 30% wrong: mean NMI on unlinked points at least 0.611." in texts


def test_the_way_is_from_plain_to_the_table_without_noise():
    assert way_covered(robust_results(True), 20, 0.0) == pytest.approx((0.7 - 0.2) / (0.8 - 0.2))
    assert math.isnan(way_covered(Results(()), 20, 0.0))


def test_columns_of_noise_are_added_once_for_all_methods():
    seen = []
    X = np.arange(12.0).reshape(6, 2)
    for seed in (1, 2):
        fit_widened(seen.append, 3, Problem(X, np.zeros(6), None, 1, 0, seed, shared_seed=5))
    first, second = (problem.X for problem in seen)
    assert first.shape == (6, 8)
    assert np.array_equal(first, second)
    assert np.array_equal(first[:, :2], X)


def test_few_columns_of_the_wide_table_differ():
    X, y = make_wide()
    gaps = np.abs(X[y == 0].mean(axis=0) - X[y == 1].mean(axis=0))
    assert X.shape == (300, 2_000)
    assert gaps[:5].min() > 1.5 > gaps[5:].max()


def test_true_error_rate_is_that_of_the_links():
    run = Run("robust", "wine", MINMAX_ANSWERS, 200, 0, 0.2, FEWER_ROWS)
    results = Results([Record(run, {"error_rate": 0.1, "n_wrong": 60, "n_links": 240})])
    assert error_rates(results, MINMAX_ANSWERS, 0.2) == {"wine": (0.1, 0.25)}


def test_rates_of_suspects_are_pooled():
    records = [
        Record(
            Run("robust", "iris", ROBUST, 100, trial, 0.2, 800), {"n_found": hit, "n_suspects": suspects, "n_wrong": 20}
        )
        for trial, hit, suspects in ((0, 4, 4), (1, 6, 16))
    ]
    assert suspect_rates(Results(records), 0.2, 100) == (0.5, 0.25)
    assert all(math.isnan(rate) for rate in suspect_rates(Results(()), 0.2, 100))


def test_the_difference_representation_stands_beside_its_reference():
    found = fixed_scores(robust_results(True))
    assert len(found) == 5 * len(FIXED)
    assert found["wine", "800 links, 20% wrong"] == pytest.approx((0.849, 0.829))


def test_tables_and_pictures_come_of_any_results():
    import matplotlib.pyplot as plt

    for results in (robust_results(True), Results(())):
        for part in PROTOCOL.parts:
            tables = list(part.tables(results))
            assert tables
            for table in tables:
                assert bool(table.rows) == bool(len(results))
                assert all(len(row) == len(table.header) for row in table.rows)
            for figure_made in part.figures(results):
                figure = figure_made.draw()
                assert (len(results) == 0) == (not any(axes.get_lines() for axes in figure.axes))
                plt.close(figure)


def test_the_full_run_has_more_trials():
    quick, full = (PROTOCOL.runs(plan) for plan in (PROTOCOL.quick, PROTOCOL.full))
    assert set(quick) < set(full)
    methods = (ROBUST_KMEANS, ROBUST, "difference")
    trials = {method: {run.trial for run in full if run.method == method and run.amount != 50} for method in methods}
    assert trials == {method: set(range(5)) for method in methods}
    assert {run.trial for run in full if run.amount == 50} == set(range(20))
    answers = [run for run in quick if run.method == NPU_ANSWERS and run.noise == 0 and run.dataset == "iris"]
    assert len(answers) == 20
    assert {run.dataset for run in quick if run.rows is None} == {WIDE}
    assert {run.trial for run in full if run.method in OTHER_BASES} == {0, 1}
    assert {run.trial for run in quick if run.method in OTHER_BASES} == {0}
    assert {run.dataset for run in full} == {data.name for data in PROTOCOL.datasets}


@pytest.mark.parametrize("method", list(PROTOCOL.methods))
def test_every_method_clusters_and_counts_its_suspects(method):
    record = PROTOCOL.compute(Run("robust", "wine", method, 40, trial=0, noise=0.2, rows=80))
    assert record.error is None
    assert 0 <= record.scores["nmi"] <= 1
    is_robust = method.startswith(ROBUST) or method in (MINMAX_ANSWERS, NPU_ANSWERS)
    assert ("n_suspects" in record.scores) == is_robust
    if is_robust:
        assert 0 <= record.scores["n_found"] <= record.scores["n_suspects"] <= record.scores["n_links"]
        assert 0 <= record.scores["error_rate"] <= 0.45
    if method.startswith(ROBUST):
        assert record.scores["n_wrong"] == 8
        assert record.scores["n_links"] == 40
    elif is_robust:
        assert 0 < record.scores["n_wrong"] < record.scores["n_links"] >= 40
