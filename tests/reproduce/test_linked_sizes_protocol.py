"""The experiment with sizes and links together: what it measures, and how its claims are judged."""

from __future__ import annotations

import pytest

from mustlink.reproduce.engine._problem import draw_pairs, make_problem
from mustlink.reproduce.engine._results import Results, Run
from mustlink.reproduce.papers.linked_sizes import (
    BOTH,
    CLAIMS,
    LINKS,
    METHODS,
    PLAIN,
    SETS,
    SIZES,
    known_sizes,
    linked_tables,
)
from reproduce.linked_sizes_results import linked_results


def run_of(method: str, trial: int = 0, dataset: str = "iris") -> Run:
    return Run("linked_sizes", dataset, method, 50, trial)


def test_what_is_known_is_kept_by_the_methods_that_know_it() -> None:
    kept = {}
    for method, compute in METHODS.items():
        problem = make_problem(run_of(method), SETS[0], draw_pairs)
        assert known_sizes(problem) == {"size_min": 40, "size_max": 60}
        assert len(problem.links) == 50
        facts = compute(problem).facts
        kept[method] = facts["n_broken"] == 0, facts["n_outside"] == 0
        assert 0.6 < facts["ari"] <= 1
        assert facts["ari_unconstrained"] <= 1
    assert kept[BOTH] == (True, True)
    assert kept[LINKS][0]
    assert kept[SIZES][1]
    assert kept[PLAIN] == (False, False)


@pytest.mark.parametrize(
    ("results", "verdicts"),
    [
        (linked_results({BOTH: 0.8, LINKS: 0.7, SIZES: 0.6}), (True, True, True)),
        (linked_results({BOTH: 0.65, LINKS: 0.7, SIZES: 0.6}), (True, False, True)),
        (linked_results({BOTH: 0.8, LINKS: 0.7, SIZES: 0.9}, n_broken=1), (False, True, False)),
        (Results([]), (None, None, None)),
    ],
)
def test_claims(results: Results, verdicts: tuple[bool | None, ...]) -> None:
    assert tuple(claim.judge(results).held for claim in CLAIMS) == verdicts


def test_the_table_has_a_line_per_set_and_method() -> None:
    (table,) = linked_tables(linked_results({BOTH: 0.8, LINKS: 0.7}))
    assert len(table.rows) == 10
    assert table.rows[0] == ("iris", LINKS, "0.700 (0.500)", "", "", "0.0", "0.0")
