"""Chapter 3: the teachers, the starts, k-means as published, and the tables."""

from __future__ import annotations

import numpy as np
import pytest

from mustlink.constraints import Constraints
from mustlink.reproduce.engine._problem import Problem, make_problem
from mustlink.reproduce.engine._results import Results, Run
from mustlink.reproduce.papers.ch03 import (
    AMOUNTS,
    BOTH,
    COMPARED,
    EM,
    FACES,
    KMEANS,
    METHODS,
    MUST,
    N_STARTS,
    NONE,
    PAPER,
    PROTOCOL,
    SETS,
    UCI,
    covariance_type,
    draw_teachers,
    face_tables,
    failures,
    fit_published_cop,
    links_for,
    method_of,
    mode_panels,
    normalizer_tables,
    set_tables,
    start_rows,
    start_seeds,
)
from reproduce.ch03_results import ch03_results


def problem_of(X: np.ndarray, links: Constraints, n_clusters: int) -> Problem:
    return Problem(X, np.zeros(len(X), dtype=np.int64), links, n_clusters, 0, 0)


@pytest.fixture(scope="module")
def iris() -> Problem:
    return make_problem(Run(PAPER, "iris", method_of(EM, BOTH), 0.3, trial=0), SETS[0], draw_teachers)


@pytest.mark.parametrize(("dataset", "size"), [("iris", 5), (FACES, 10)])
@pytest.mark.parametrize("amount", [0.15, 0.75])
def test_teachers_link_all_their_rows_until_enough_are_linked(dataset: str, size: int, amount: float) -> None:
    y = np.repeat(np.arange(4), 50)
    links = draw_teachers(y, Run(PAPER, dataset, "any", amount, trial=0))
    assert links.violation_rate(y) == 0
    n_linked = len(links.constrained_rows())
    assert amount * len(y) <= n_linked < amount * len(y) + size
    # Every row has the other rows of its teacher, at least.
    degree = np.bincount(links.pairs.ravel(), minlength=len(y))
    assert degree[degree > 0].min() == size - 1
    assert (links.weight == 1).all()
    again = draw_teachers(y, Run(PAPER, dataset, "another", amount, trial=0))
    assert links == again
    assert links != draw_teachers(y, Run(PAPER, dataset, "any", amount, trial=1))


def test_methods_are_given_the_links_of_their_mode(iris: Problem) -> None:
    assert links_for(NONE, iris).is_empty
    must = links_for(MUST, iris)
    assert np.array_equal(must.must_link, iris.links.must_link)
    assert not len(must.cannot_link)
    assert links_for(BOTH, iris) == iris.links


def test_starts_are_those_of_the_mixture(iris: Problem) -> None:
    from mustlink.mixture._base import start_responsibilities

    seeds = start_seeds(iris)
    assert len(set(seeds)) == N_STARTS
    for seed in seeds:
        rng = np.random.RandomState(seed)
        responsibilities = start_responsibilities(iris.X, iris.n_clusters, "random_from_data", rng)
        assert np.array_equal(responsibilities.argmax(axis=0), start_rows(iris, seed))


def test_one_covariance_for_all_if_there_are_few_rows() -> None:
    assert covariance_type(problem_of(np.zeros((160, 10)), Constraints(), 4)) == "full"
    assert covariance_type(problem_of(np.zeros((159, 10)), Constraints(), 4)) == "tied"


def test_links_are_kept_by_the_methods_that_are_given_both(iris: Problem) -> None:
    for algorithm in (KMEANS, EM):
        assert iris.links.violation_rate(METHODS[method_of(algorithm, BOTH)](iris).labels) == 0
        must = links_for(MUST, iris)
        assert must.violation_rate(METHODS[method_of(algorithm, MUST)](iris).labels) == 0


def test_mixture_says_how_many_links_it_had(iris: Problem) -> None:
    facts = METHODS[method_of(EM, BOTH)](iris).facts
    assert facts["n_must"] == len(iris.links.must_link)
    assert facts["n_cannot"] == len(iris.links.cannot_link)
    assert facts["is_exact"]
    assert facts["n_dropped"] == 0


def test_k_means_as_published_keeps_links_or_fails(iris: Problem) -> None:
    labeling = fit_published_cop(iris)
    assert labeling.facts["is_failed"] == (len(np.unique(labeling.labels)) == 1)
    X = np.arange(12.0)[:, None]
    free = fit_published_cop(problem_of(X, Constraints(must_link=[(0, 11)], cannot_link=[(3, 4)]), 2))
    assert not free.facts["is_failed"]
    assert free.labels[0] == free.labels[11]
    assert free.labels[3] != free.labels[4]
    # A cycle of three cannot-links has no place in two clusters.
    cycle = Constraints(cannot_link=[(0, 1), (1, 2), (0, 2)])
    assert fit_published_cop(problem_of(X, cycle, 2)).facts["is_failed"]


def test_amounts_are_those_of_the_chapter() -> None:
    runs = PROTOCOL.runs(PROTOCOL.quick)
    for dataset, amounts in AMOUNTS.items():
        assert {run.amount for run in runs if run.dataset == dataset} == set(amounts)
    full = PROTOCOL.runs(PROTOCOL.full, PROTOCOL.choose(["4"]))
    assert {run.trial for run in full} == set(range(100))


def test_tables_have_a_line_per_set_and_method() -> None:
    results = ch03_results(True)
    scores, inference = set_tables(results)
    assert len(scores.rows) == len(UCI) * len(COMPARED)
    assert scores.rows[0] == ("iris", "k-means, no links", "0.500 (0.450)", "0.500 (0.450)")
    assert inference.rows[0] == ("iris", "little", "40", "300", "0 of 1", "12")
    *_, failed = face_tables(results)
    assert failed.rows == (("little", "", "0 of 1"), ("much", "3 of 4", "0 of 1"))
    (normalizers,) = normalizer_tables(results)
    assert normalizers.rows[0] == ("iris", "0.875", "0.880", "0.885", "0.790", "1.00", "2.00", "3.00")


def test_runs_that_raise_count_as_failed() -> None:
    from mustlink.reproduce.engine._results import Record

    run = Run(PAPER, FACES, method_of(KMEANS, BOTH), 0.75, trial=0)
    assert failures(Results([Record(run, {}, "InfeasibleError: no")]), run.method, 0.75) == (1, 1)


def test_figures_have_two_lines_per_algorithm_and_the_names_of_the_modes() -> None:
    panels = mode_panels(UCI, ch03_results(True))
    assert len(panels) == len(UCI)
    assert all(len(lines) == 7 for lines in panels.values())
