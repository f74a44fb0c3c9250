"""The experiments of chapter 5: data, links, and what is measured."""

from __future__ import annotations

import numpy as np
import pytest

from mustlink.metrics import f_measure
from mustlink.reproduce.engine._results import Run
from mustlink.reproduce.papers import _ch05_data as data
from mustlink.reproduce.papers.ch05 import (
    CLOUDS,
    IMAGE,
    OURS,
    PAPER,
    PROTOCOL,
    cloud_tables,
    disjoint,
    draw_links,
    merged_clouds,
)
from reference import mean_field_mixture as slow
from reproduce.ch05_results import ch05_results


@pytest.mark.parametrize("seed", [0, 3])
def test_clouds_are_those_of_the_tests(seed):
    for found, expected in zip(data.four_clouds(seed), slow.four_clouds(seed), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_sites_have_24_features_of_the_regions():
    X, y = data.mondrian_sites()
    assert X.shape == (101 * 101, 24)
    assert (np.bincount(y) > 1500).all()
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-9)
    assert np.isfinite(X).all()
    # The gray levels are closer to each other than to any texture.
    means = np.array([X[y == c].mean(axis=0) for c in range(5)])
    distances = ((means[:, None] - means) ** 2).sum(axis=2)
    assert distances[3, 4] < 0.25 * min(distances[3, :3].min(), distances[4, :3].min(), distances[0, 1])


def test_links_are_random_pairs_of_a_fraction_of_the_rows():
    y = np.repeat([0, 1], 100)
    links = draw_links(y, Run(PAPER, CLOUDS[0], OURS, 0.5, trial=0))
    assert len(links) == 100
    assert links.violation_rate(y) == 0
    assert len(draw_links(y, Run(PAPER, CLOUDS[0], OURS, 0.01, trial=0))) == 2
    flipped = draw_links(y, Run(PAPER, CLOUDS[0], OURS, 0.5, trial=0, noise=0.2))
    assert flipped.violation_rate(y) == pytest.approx(0.2)


def test_disjoint_links_share_no_row():
    y = np.repeat([0, 1], 20)
    links = draw_links(y, Run(PAPER, CLOUDS[0], OURS, 1.0, trial=0))
    kept = disjoint(links)
    assert len(kept.constrained_rows()) == 2 * len(kept)
    rest = set(map(tuple, links.pairs.tolist())) - set(map(tuple, kept.pairs.tolist()))
    # None of those left out could be added.
    used = set(kept.constrained_rows().tolist())
    assert all(used & set(pair) for pair in rest)


def test_runs_say_whether_the_links_tell_left_and_right_apart():
    record = PROTOCOL.compute(Run(PAPER, CLOUDS[1], "PCKMEANS", 0.1, trial=0))
    X, y = data.four_clouds(1)
    links = draw_links(y, Run(PAPER, CLOUDS[1], "PCKMEANS", 0.1, trial=0))
    upper = (X[:, 1] > 0).astype(int)
    assert record.scores["n_telling"] == len(links.violations(upper))
    assert 0.5 <= record.scores["f"] <= 1
    assert f_measure(y, upper) < 0.52


def test_draws_that_say_nothing_are_in_the_second_table_only():
    results = ch05_results(True)
    assert len(merged_clouds(results, telling=False)) - len(merged_clouds(results)) == 2
    first, second, _ = cloud_tables(results)
    assert first.rows[0][2] == "0.998"
    assert second.rows[0][2] == "0.749"
    assert "Left out are 2 of 14 draws" in first.note


def test_image_runs_leave_out_the_slowest_rival():
    part = PROTOCOL.choose(["table4"])[0]
    runs = list(part.runs(PROTOCOL.quick))
    assert {run.dataset for run in runs} == {IMAGE}
    assert "MPCKMEANS" not in {run.method for run in runs}
