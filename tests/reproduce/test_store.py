from __future__ import annotations

import json
import math

import pytest

from mustlink.errors import FileFormatError
from mustlink.reproduce.engine._results import Record, ResultStore, Run

RUNS = [Run("toy", "iris", "truth", amount, trial=0) for amount in (1, 2, 3)]


@pytest.fixture
def store(tmp_path):
    return ResultStore(tmp_path / "folder" / "toy.jsonl")


def test_results_come_back_as_they_were(store):
    records = [
        Record(RUNS[0], {"nmi": 0.1 + 0.2, "objective": [3.0, 2.5]}, warnings=["UserWarning: slow"]),
        Record(RUNS[1], {}, error="RuntimeError: no"),
    ]
    for record in records:
        store.append(record)
    assert list(store.read().values()) == records


def test_a_number_that_is_none_becomes_null_and_is_then_absent(store):
    store.append(Record(RUNS[0], {"nmi": math.nan, "objective": [1.0, math.inf]}))
    assert json.loads(store.path.read_text())["scores"] == {"nmi": None, "objective": [1.0, None]}


def test_nothing_is_there_before_the_first_result(store):
    assert store.read() == {}
    assert not store.path.parent.exists()


@pytest.mark.parametrize("kept", [1, 10, -2, -1])
def test_a_half_written_last_line_is_ignored_and_then_replaced(store, kept):
    for run in RUNS[:2]:
        store.append(Record(run, {"nmi": 0.5}))
    whole = store.path.read_bytes()
    first_end = whole.index(b"\n") + 1
    cut = whole[: first_end + kept] if kept > 0 else whole[:kept]
    store.path.write_bytes(cut)

    again = ResultStore(store.path)
    assert [record.run for record in again.read().values()] == RUNS[:1]
    again.append(Record(RUNS[2], {"nmi": 0.7}))
    assert [record.run for record in again.read().values()] == [RUNS[0], RUNS[2]]
    assert store.path.read_bytes().count(b"\n") == 2


def test_a_damaged_line_in_the_middle_is_named(store):
    store.append(Record(RUNS[0], {"nmi": 0.5}))
    store.path.write_text("nonsense\n" + store.path.read_text())
    with pytest.raises(FileFormatError, match=r"toy\.jsonl, line 1: this is not a result"):
        store.read()


def test_a_later_line_replaces_an_earlier_one(store):
    for nmi in (0.5, 0.6):
        store.append(Record(RUNS[0], {"nmi": nmi}))
    assert [record.scores for record in store.read().values()] == [{"nmi": 0.6}]


def test_results_of_another_version_are_kept_apart(store):
    store.append(Record(RUNS[0], {"nmi": 0.5}, version="0.0.1"))
    assert RUNS[0].key() not in store.read()
    assert RUNS[0].key("0.0.1") in store.read()


def test_clear_forgets_everything(store):
    store.clear()
    store.append(Record(RUNS[0], {"nmi": 0.5}))
    store.clear()
    assert store.read() == {}
