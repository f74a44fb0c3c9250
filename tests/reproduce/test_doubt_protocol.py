"""Boosting with doubt: its cells, its tables beside the reference, and what is asked of it, on results made by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mustlink.reproduce import Cell, Record, Results
from mustlink.reproduce._doubt import PROTOCOL
from mustlink.reproduce._doubt_reference import ASKED, AUTO, FIXED
from mustlink.reproduce._doubt_tables import (
    OTHER_BASES,
    cells_below,
    differences,
    fixed_differences,
    suspect_rates,
)
from reproduce.doubt_results import doubt_results

CLAIMS = {claim.name: claim for part in PROTOCOL.parts for claim in part.claims}


@pytest.mark.parametrize("name", CLAIMS)
def test_what_is_asked_holds_above_the_reference(name):
    verdict = CLAIMS[name].judge(doubt_results(True))
    assert verdict.held is True, verdict.sentence
    assert verdict.sentence.endswith(".")
    assert "nan" not in verdict.sentence


@pytest.mark.parametrize("name", CLAIMS)
def test_what_is_asked_does_not_hold_below_the_reference(name):
    verdict = CLAIMS[name].judge(doubt_results(False))
    assert verdict.held is False, verdict.sentence


@pytest.mark.parametrize("name", CLAIMS)
def test_without_results_nothing_is_said(name):
    assert CLAIMS[name].judge(Results(())).held is None


def test_reference_means_are_those_asked_for():
    for noise, asked in ASKED.items():
        cells = [value for row in AUTO.values() for value in row[noise]]
        assert np.mean(cells) == pytest.approx(asked.nmi, abs=0.003)


def test_one_cell_below_is_named_and_counted():
    results = doubt_results(True)
    worse = Record(Cell("doubt", "iris", "auto", 100, 1, 0.2, 800), {"nmi": -1.0, "nmi_unconstrained": 0.0})
    results = Results([*results, worse])
    assert cells_below(results, "plain", "auto", 0.2) == ["iris 100"]
    assert CLAIMS["D7"].judge(results).held is True
    assert differences(results, 0.2)["iris", 100] == pytest.approx((0.88 - 1) / 2 - 0.86)
    assert CLAIMS["D8"].judge(results).held is False


def test_rates_of_suspects_are_pooled():
    records = [
        Record(Cell("doubt", "iris", "auto", 100, trial, 0.2), {"n_found": hit, "n_suspects": said, "n_wrong": 20})
        for trial, hit, said in ((0, 4, 4), (1, 6, 16))
    ]
    assert suspect_rates(Results(records), 0.2, 100) == (0.5, 0.25)
    assert all(math.isnan(rate) for rate in suspect_rates(Results(()), 0.2, 100))


def test_difference_form_stands_beside_its_reference():
    found = fixed_differences(doubt_results(True))
    assert len(found) == 5 * len(FIXED)
    assert found["wine", "800 links, 20% wrong"] == pytest.approx((0.849, 0.829))


def test_tables_and_pictures_come_of_any_results():
    import matplotlib.pyplot as plt

    for results in (doubt_results(True), Results(())):
        for part in PROTOCOL.parts:
            tables = list(part.tables(results))
            assert tables
            for table in tables:
                assert bool(table.rows) == bool(len(results))
                assert all(len(row) == len(table.header) for row in table.rows)
            for picture in part.pictures(results):
                figure = picture.draw()
                assert (len(results) == 0) == (not any(axes.get_lines() for axes in figure.axes))
                plt.close(figure)


def test_the_full_run_has_more_trials():
    quick, full = (PROTOCOL.cells(sizes) for sizes in (PROTOCOL.quick, PROTOCOL.full))
    assert set(quick) < set(full)
    trials = {method: {cell.trial for cell in full if cell.method == method} for method in ("auto", "difference")}
    assert trials == {"auto": set(range(20)), "difference": set(range(5))}
    assert {cell.trial for cell in full if cell.method in OTHER_BASES} == set(range(5))
    assert {cell.trial for cell in quick if cell.method in OTHER_BASES} == {0}
    assert {cell.dataset for cell in full} == {data.name for data in PROTOCOL.datasets}


@pytest.mark.parametrize("method", [method.name for method in PROTOCOL.methods])
def test_every_method_clusters_and_counts_its_suspects(method):
    record = PROTOCOL.compute(Cell("doubt", "wine", method, 40, trial=0, noise=0.2, rows=80))
    assert record.error is None
    assert 0 <= record.scores["nmi"] <= 1
    assert ("n_suspects" in record.scores) == ("auto" in method)
    if "auto" in method:
        assert record.scores["n_wrong"] == 8
        assert 0 <= record.scores["n_found"] <= record.scores["n_suspects"] <= 40
        assert 0 <= record.scores["error_rate"] <= 0.3
