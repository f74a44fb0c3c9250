from __future__ import annotations

import json
from dataclasses import fields, replace

import pytest

from mustlink._version import __version__
from mustlink.reproduce.engine._results import Run

RUN = Run("bckm", "iris", "BCKM", 100, trial=3)
OTHER = {
    "paper": "bbc",
    "dataset": "wine",
    "method": "CKM",
    "amount": 200,
    "trial": 4,
    "noise": 0.2,
    "rows": 50,
    "measure": "seconds",
}


@pytest.mark.parametrize("field", [field.name for field in fields(Run)])
def test_every_field_is_part_of_the_key_and_of_the_seed(field):
    changed = replace(RUN, **{field: OTHER[field]})
    assert changed.key() != RUN.key()
    assert changed.seed != RUN.seed


@pytest.mark.parametrize("field", [field.name for field in fields(Run)])
def test_links_are_the_same_for_all_methods_and_for_nothing_else(field):
    changed = replace(RUN, **{field: OTHER[field]})
    assert (changed.problem_seed == RUN.problem_seed) == (field in ("method", "measure"))


@pytest.mark.parametrize("field", [field.name for field in fields(Run)])
def test_rows_are_drawn_once_per_data_set_and_trial(field):
    changed = replace(RUN, **{field: OTHER[field]})
    assert (changed.rows_seed == RUN.rows_seed) == (field not in ("dataset", "rows", "trial"))


def test_the_version_is_part_of_the_key():
    assert json.loads(RUN.key())["version"] == __version__
    assert RUN.key("0.0.1") != RUN.key()


def test_seeds_are_the_same_in_every_process():
    # Recorded once: a change would give other results to the same runs.
    assert (RUN.seed, RUN.problem_seed, RUN.rows_seed) == RECORDED
    assert all(0 <= seed < 2**31 for seed in RECORDED)


RECORDED = (1463482017, 1717841305, 1419294290)
