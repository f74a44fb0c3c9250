"""RobustBoostCluster: its runs, its tables beside the reference, and its claims, on results made by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mustlink.reproduce.engine._results import Record, Results, Run
from mustlink.reproduce.papers.robust import (
    FIXED,
    OTHER_BASES,
    PROTOCOL,
    REFERENCE,
    REQUIRED,
    ROBUST,
    cells_below,
    differences,
    fixed_scores,
    suspect_rates,
)
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


def test_reference_means_are_those_required():
    for noise, required in REQUIRED.items():
        runs = [value for row in REFERENCE.values() for value in row[noise]]
        assert np.mean(runs) == pytest.approx(required.nmi, abs=0.003)


def test_one_cell_below_is_named_and_counted():
    results = robust_results(True)
    worse = Record(Run("robust", "iris", ROBUST, 100, 1, 0.2, 800), {"nmi": -1.0, "nmi_unconstrained": 0.0})
    results = Results([*results, worse])
    assert cells_below(results, "plain", ROBUST, 0.2) == ["iris 100"]
    assert CLAIMS["R7"].judge(results).held is True
    assert differences(results, 0.2)["iris", 100] == pytest.approx((0.88 - 1) / 2 - 0.86)
    assert CLAIMS["R8"].judge(results).held is False


def test_rates_of_suspects_are_pooled():
    records = [
        Record(Run("robust", "iris", ROBUST, 100, trial, 0.2), {"n_found": hit, "n_suspects": suspects, "n_wrong": 20})
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
    trials = {method: {run.trial for run in full if run.method == method} for method in (ROBUST, "difference")}
    assert trials == {ROBUST: set(range(20)), "difference": set(range(5))}
    assert {run.trial for run in full if run.method in OTHER_BASES} == set(range(5))
    assert {run.trial for run in quick if run.method in OTHER_BASES} == {0}
    assert {run.dataset for run in full} == {data.name for data in PROTOCOL.datasets}


@pytest.mark.parametrize("method", list(PROTOCOL.methods))
def test_every_method_clusters_and_counts_its_suspects(method):
    record = PROTOCOL.compute(Run("robust", "wine", method, 40, trial=0, noise=0.2, rows=80))
    assert record.error is None
    assert 0 <= record.scores["nmi"] <= 1
    assert ("n_suspects" in record.scores) == (ROBUST in method)
    if ROBUST in method:
        assert record.scores["n_wrong"] == 8
        assert 0 <= record.scores["n_found"] <= record.scores["n_suspects"] <= 40
        assert 0 <= record.scores["error_rate"] <= 0.3
