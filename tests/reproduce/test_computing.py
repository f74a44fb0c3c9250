from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mustlink.errors import DataNotFoundError
from mustlink.reproduce.engine._methods import compute_record
from mustlink.reproduce.engine._problem import DataSet, make_problem, principal_components, standardize, whiten_faces
from mustlink.reproduce.engine._protocol import compute_runs, stored_results
from mustlink.reproduce.engine._results import ResultStore, Run


@pytest.fixture
def store(tmp_path):
    return ResultStore(tmp_path / "toy.jsonl")


def by_key(results):
    plain = {record.key: {**record.scores, "seconds": 0} for record in results}
    return plain


def test_all_runs_are_computed(toy, store):
    runs = toy.runs(toy.quick)
    results = compute_runs(toy, runs, store, show=False)
    assert {run.method for run in runs} == {"truth", "chance", "refusal"}
    assert len(results) + len(results.failures) == len(runs) == 2 * 2 * 3 * 2
    assert results.mean("nmi", method="truth") == 1.0
    assert results.mean("nmi", method="chance") < 0.2
    assert {record.run.amount for record in results.failures} == {20}
    assert results.failures[0].error == "RuntimeError: too many links"


def test_an_interrupted_command_resumes_where_it_stopped(toy, store):
    runs = toy.runs(toy.quick)
    whole = compute_runs(toy, runs, ResultStore(store.path.with_name("whole.jsonl")), show=False)

    calls = []

    def counting(run):
        calls.append(run)
        if len(calls) == 7:
            raise KeyboardInterrupt
        return toy.compute(run)

    broken = _Counting(toy, counting)
    with pytest.raises(KeyboardInterrupt):
        compute_runs(broken, runs, store, show=False)
    with store.path.open("a") as file:
        file.write('{"version": "half a li')
    assert len(ResultStore(store.path).read()) == 6

    calls.clear()
    calls.extend([None] * 10)
    resumed = compute_runs(broken, runs, ResultStore(store.path), show=False)
    assert len(calls) - 10 + 6 >= len(runs)
    assert by_key(resumed) == by_key(whole)


class _Counting:
    """A protocol whose way of computing is watched."""

    def __init__(self, protocol, compute):
        self.name, self.check_data, self.compute = protocol.name, protocol.check_data, compute


def test_a_finished_run_computes_nothing_and_a_failed_run_is_tried_again(toy, store):
    runs = toy.runs(toy.quick)
    compute_runs(toy, runs, store, show=False)
    seen = []

    def watched(run):
        seen.append(run)
        return toy.compute(run)

    compute_runs(_Counting(toy, watched), runs, store, show=False)
    assert {(run.method, run.amount) for run in seen} == {("refusal", 20)}


def test_results_do_not_depend_on_order_or_jobs(toy, store, tmp_path):
    runs = toy.runs(toy.quick)
    alone = compute_runs(toy, runs, store, show=False)
    backwards = compute_runs(toy, runs[::-1], ResultStore(tmp_path / "b.jsonl"), show=False)
    assert by_key(alone) == by_key(backwards)


def test_several_processes_give_the_same_results(tmp_path):
    from mustlink.reproduce._run_paper import find_protocol

    bckm = find_protocol("bckm")
    runs = [Run("bckm", "iris", "k-means", amount, trial) for amount in (10, 20) for trial in (0, 1)]
    one, two = (
        compute_runs(bckm, runs, ResultStore(tmp_path / f"{jobs}.jsonl"), n_jobs=jobs, show=False) for jobs in (1, 2)
    )
    assert [record.scores["nmi"] for record in one] == pytest.approx([record.scores["nmi"] for record in two])


def test_timed_runs_have_seconds_alone(toy):
    record = toy.compute(Run("toy", "iris", "truth", 5, trial=0, measure="seconds"))
    assert list(record.scores) == ["seconds"]
    assert record.scores["seconds"] >= 0


def test_scores_on_unlinked_points_need_enough_of_them(toy):
    few_links = toy.compute(Run("toy", "iris", "chance", 5, trial=0)).scores
    many_links = toy.compute(Run("toy", "iris", "chance", 1000, trial=0)).scores
    assert few_links["n_unlinked"] >= 140
    assert few_links["nmi_unconstrained"] != few_links["nmi"]
    assert many_links["n_unlinked"] < 10
    assert "nmi_unconstrained" not in many_links


def test_warnings_are_part_of_the_result(toy):
    import warnings

    def warns(problem):
        for _ in range(3):
            warnings.warn("slow", UserWarning, stacklevel=1)
        return toy.methods["truth"](problem)

    run = Run("toy", "iris", "truth", 5, trial=0)
    record = compute_record(run, warns, make_problem(run, toy.datasets[0], toy.draw))
    assert record.warnings == ["UserWarning: slow"]


def test_absent_data_is_reported_before_the_first_run(toy, store):
    runs = [Run("toy", "iris", "truth", 5, trial=0), Run("toy", "nosuch", "truth", 5, trial=0)]
    with pytest.raises(DataNotFoundError, match="nosuch"):
        compute_runs(toy, runs, store, show=False)
    assert not store.path.exists()


def test_a_folder_that_cannot_be_written_is_reported_before_the_first_run(toy, tmp_path, monkeypatch):
    (tmp_path / "results").write_text("not a folder")
    computed = []
    with pytest.raises(OSError, match="results"):
        compute_runs(
            _Counting(toy, computed.append), toy.runs(toy.quick), ResultStore(tmp_path / "results" / "toy.jsonl")
        )
    assert computed == []


def test_rows_are_drawn_from_larger_sets_and_the_same_for_all_methods(toy):
    data = DataSet("iris", "Iris")
    first, second, other = (
        make_problem(Run("toy", "iris", method, 5, trial, rows=60), data, toy.draw)
        for method, trial in (("truth", 0), ("chance", 0), ("truth", 1))
    )
    assert first.X.shape == (60, 4)
    assert np.array_equal(first.X, second.X)
    assert first.links == second.links
    assert not np.array_equal(first.X, other.X)
    assert make_problem(Run("toy", "iris", "truth", 5, trial=0, rows=1000), data, toy.draw).X.shape == (150, 4)


def test_preparations():
    X = np.random.default_rng(0).normal(size=(40, 6)) * [1, 5, 2, 1, 1, 30] + 7
    assert np.allclose(standardize(X).std(axis=0), 1)
    assert principal_components(X).shape == (40, 6)
    spread = whiten_faces(X).std(axis=0)
    centered = X - X.mean(axis=0)
    unit = centered / np.linalg.norm(centered, axis=1, keepdims=True)
    singular = np.linalg.svd(unit - unit.mean(axis=0), compute_uv=False)
    assert np.allclose(spread, np.sqrt(singular / np.sqrt(len(X))))


def test_stored_results_are_in_the_order_of_the_runs(toy, store):
    runs = toy.runs(toy.quick)
    compute_runs(toy, runs, store, show=False)
    wanted = [run for run in runs if run.method == "truth"][::-1]
    assert [record.run for record in stored_results(store, wanted)] == wanted


def test_a_renamed_method_keeps_its_seeds(toy):
    old = toy.compute(Run("toy", "iris", "chance", 5, trial=0, rows=60))
    renamed = replace(
        toy,
        methods={"luck": toy.methods["chance"]},
        seed_names={"luck": "chance", "game": "toy"},
    )
    new = renamed.compute(Run("game", "iris", "luck", 5, trial=0, rows=60))
    assert new.run.method == "luck"
    assert new.scores["nmi"] == old.scores["nmi"]
    other = replace(renamed, seed_names={}).compute(Run("game", "iris", "luck", 5, trial=0, rows=60))
    assert other.scores["nmi"] != old.scores["nmi"]


def test_figures_are_chosen_by_their_keys(toy):
    assert [part.key for part in toy.choose(["2"])] == ["2"]
    assert [part.key for part in toy.choose([])] == ["1", "2"]
    assert len(toy.runs(toy.quick, toy.choose(["2"]))) == 1
    assert toy.runs(replace(toy.quick, trials=1)) == [run for run in toy.runs(toy.quick) if run.trial == 0]
    with pytest.raises(ValueError, match="toy has no figure '9'; it has 1, 2"):
        toy.choose(["9"])
