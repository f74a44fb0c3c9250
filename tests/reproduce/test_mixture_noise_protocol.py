"""Mixtures with wrong links: the drawing, what is measured, the tables and the claims."""

from __future__ import annotations

import numpy as np
import pytest

from mustlink.constraints import Constraints
from mustlink.errors import InfeasibleWarning
from mustlink.reproduce.engine._problem import Problem, make_problem
from mustlink.reproduce.engine._results import Results, Run
from mustlink.reproduce.papers.mixture_noise import (
    AMOUNT,
    CLAIMS,
    HARD,
    METHODS,
    NOISES,
    PAPER,
    PLAIN,
    PROTOCOL,
    SETS,
    SOFT,
    broken,
    draw_links,
    known_rate,
    noise_figures,
    noise_tables,
)
from reproduce.mixture_noise_results import GOOD, mixture_noise_results, noise_results

CLAIM = {claim.name: claim for claim in CLAIMS}


@pytest.mark.parametrize("noise", NOISES)
def test_links_are_half_as_many_as_rows_and_some_are_wrong(noise: float) -> None:
    run = Run(PAPER, "iris", SOFT, AMOUNT, trial=0, noise=noise)
    problem = make_problem(run, SETS[0], draw_links)
    assert len(problem.links) == 75
    assert abs(len(problem.links.must_link) - len(problem.links.cannot_link)) <= 25
    assert known_rate(problem) == pytest.approx(noise, abs=0.01)


def test_broken_links_are_counted_apart() -> None:
    links = Constraints(must_link=[(0, 1), (0, 2)], cannot_link=[(1, 2), (2, 3)])
    problem = Problem(np.zeros((4, 1)), np.array([0, 0, 1, 1]), links, 2, 0, 0)
    assert broken(problem, np.zeros(4, dtype=np.int64)).facts == {"broken_right": 0.5, "broken_wrong": 0.5}
    right = Problem(np.zeros((4, 1)), np.array([0, 0, 1, 1]), links.take([0, 2]), 2, 0, 0)
    assert broken(right, np.zeros(4, dtype=np.int64)).facts == {"broken_right": 0.5}


def test_contradictory_links_stop_no_method() -> None:
    links = Constraints(must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2), (3, 70)])
    run = Run(PAPER, "iris", SOFT, AMOUNT, trial=0, noise=0.3)
    problem = make_problem(run, SETS[0], lambda y, run: links)
    with pytest.warns(InfeasibleWarning, match="breaks 1 of 4 links"):
        labels = METHODS[HARD](problem).labels
    assert links.satisfied(labels).tolist() == [True, True, False, True]


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        (GOOD | {SOFT: (0.9, 0.16)}, {"N1": False, "N4": True, "T2": True}),
        (GOOD | {HARD: (0.9, 0.0)}, {"N1": False, "N4": False, "T2": False, "M2": True}),
        (GOOD | {PLAIN: (0.95, 0.0)}, {"N1": False, "N4": True, "M2": False}),
    ],
)
def test_claims_follow_the_scores(levels: dict[str, tuple[float, float]], expected: dict[str, bool]) -> None:
    results = noise_results(levels)
    assert {name: CLAIM[name].judge(results).held for name in expected} == expected


def test_tables_have_the_means_and_every_set() -> None:
    means, scores, links = noise_tables(mixture_noise_results(True))
    assert means.rows[0] == (PLAIN, *["0.600 (0.500)"] * 4)
    assert len(scores.rows) == len(SETS) * len(METHODS)
    assert links.rows[0] == (PLAIN, "0.10", *["0.10 / 0.60"] * 3)


def test_figure_has_the_mean_and_every_set_twice() -> None:
    import matplotlib.pyplot as plt

    (figure,) = noise_figures(mixture_noise_results(True))
    drawn = figure.draw()
    assert [axes.get_title() for axes in drawn.axes][::6] == ["mean, all rows", "mean, rows without links"]
    assert all(len(axes.get_lines()) == len(METHODS) for axes in drawn.axes)
    plt.close(drawn)
    assert not list(noise_figures(Results(())))


def test_quick_runs_are_part_of_the_full_ones() -> None:
    assert set(PROTOCOL.runs(PROTOCOL.quick)) < set(PROTOCOL.runs(PROTOCOL.full))
