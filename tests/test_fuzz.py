"""The random problems of ``make fuzz``: a few of them, and whether what is wrong is found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fuzz.__main__ import main
from fuzz.checks import check_links, check_model
from fuzz.facts import Facts
from fuzz.fits import Fit
from fuzz.problems import Link, Problem, make_problem
from fuzz.runner import Tally, check_problem
from mustlink import COPKMeans, PCKMeans
from mustlink.boosting import Suspect
from mustlink.catalogue import CATALOGUE
from mustlink.errors import InfeasibleError
from reference.feasibility import can_be_clustered, can_be_partitioned

N_PROBLEMS = 8
# Links that two clusters can keep, on rows without ties.
PROBLEM = Problem(
    seed=3,
    sort="distinct rows",
    X=np.array([[0.0], [1.0], [3.0], [7.0], [15.0], [31.0]]),
    n_clusters=2,
    given=(Link(0, 1, 1), Link(1, 2, -1), Link(3, 4, 1)),
    y=None,
)


@pytest.mark.parametrize("seed", range(N_PROBLEMS))
def test_nothing_is_found_on_some_problems(seed: int) -> None:
    tally = list(check_problem(seed, [entry.name for entry in CATALOGUE]))[-1]
    assert isinstance(tally, Tally)
    assert tally.findings == []


def test_a_problem_follows_from_its_seed() -> None:
    one, other = make_problem(5), make_problem(5)
    assert np.array_equal(one.X, other.X)
    assert one.given == other.given
    assert not np.array_equal(one.X, make_problem(6).X)


@pytest.mark.parametrize("seed", range(20))
def test_the_search_for_a_partition_agrees_with_all_assignments(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    pairs = [(i, j) for i in range(n) for j in range(i) if rng.random() < 0.6]
    is_must = rng.random(len(pairs)) < 0.3
    must_link = [pair for pair, must in zip(pairs, is_must, strict=True) if must]
    cannot_link = [pair for pair, must in zip(pairs, is_must, strict=True) if not must]
    for k in range(1, n + 1):
        expected = can_be_clustered(n, must_link, cannot_link, k)
        assert can_be_partitioned(n, must_link, cannot_link, k) == expected


def found_of(model: Any, problem: Problem = PROBLEM) -> set[str]:
    """The kinds of what is found."""
    return {found[0] for found in check_model(model, Facts(problem)) if not isinstance(found, Fit)}


def broken(base: type, change: Callable[[Any, Any], None]) -> Any:
    """A clusterer that does something wrong after each fit."""

    class Broken(base):  # type: ignore[misc]
        def fit(self, X: Any, y: Any = None, *, constraints: Any = None) -> Any:
            super().fit(X, y, constraints=constraints)
            change(self, X)
            return self

        def __reduce__(self) -> Any:
            return base.__new__, (base,), self.__dict__

    return Broken(2, random_state=0)


def label_by_first_row(model: Any, X: Any) -> None:
    model.labels_ = (X[:, 0] > X[0, 0]).astype(np.int64)


def refuse(model: Any, X: Any) -> None:
    raise InfeasibleError("No.")


def refuse_if_sorted(model: Any, X: Any) -> None:
    if X[0, 0] == 0:
        raise InfeasibleError("No.")


def count_fits(model: Any, X: Any) -> None:
    type(model).n_fits = getattr(type(model), "n_fits", 0) + 1
    model.labels_ = np.roll(model.labels_, type(model).n_fits)


@pytest.mark.parametrize(
    ("base", "change", "kind"),
    [
        (COPKMeans, label_by_first_row, "broken link"),
        (COPKMeans, refuse, "false infeasible"),
        (COPKMeans, refuse_if_sorted, "order of rows"),
        (PCKMeans, refuse, "error"),
        (PCKMeans, label_by_first_row, "violations"),
        (PCKMeans, count_fits, "second fit"),
        (PCKMeans, lambda model, X: setattr(model, "labels_", model.labels_ + 1), "labels"),
        (PCKMeans, lambda model, X: setattr(model, "labels_", model.labels_ * 0), "fewer clusters"),
        (PCKMeans, lambda model, X: X.sort(axis=0) or X.__imul__(2), "error"),
        (PCKMeans, lambda model, X: np.log(-1.0), "stray warning"),
        (PCKMeans, lambda model, X: model.__dict__.pop("cluster_centers_"), "predict"),
    ],
)
def test_what_is_wrong_is_found(base: type, change: Callable[[Any, Any], None], kind: str) -> None:
    assert found_of(base(2, random_state=0)) == set()
    assert kind in found_of(broken(base, change))


def test_a_suspect_that_is_probably_right_is_found() -> None:
    def suspect_all(model: Any, X: Any) -> None:
        model.trust_, model.suspects_ = np.ones(3), [Suspect(0, 1, "must", trust=0.9, weight=1.0)]

    assert found_of(broken(PCKMeans, suspect_all)) == {"suspect"}


class Deaf(COPKMeans):
    """A hard clusterer that does not look at the links."""

    def fit(self, X: Any, y: Any = None, *, constraints: Any = None) -> Any:  # type: ignore[override]
        return super().fit(X)


def test_infeasible_links_must_be_refused() -> None:
    problem = replace(PROBLEM, given=(*PROBLEM.given, Link(0, 2, 1)))
    assert list(check_links(Facts(problem))) == []
    assert found_of(COPKMeans(2, random_state=0), problem) == set()
    assert "missed infeasible" in found_of(Deaf(2, random_state=0), problem)


def test_the_command_says_what_it_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--problems", "2", "--method", "cop", "--processes", "1"]) == 0
    assert "2 problems, 2 first fits, 0 findings" in capsys.readouterr().out
