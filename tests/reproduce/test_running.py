from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mustlink.errors import DataNotFoundError
from mustlink.reproduce import Cell, ResultStore, kept_results, run_cells
from mustlink.reproduce._methods import Method, computed, find_class
from mustlink.reproduce._problem import DataSet, faces, leading_directions, pose, standardised


@pytest.fixture
def store(tmp_path):
    return ResultStore(tmp_path / "toy.jsonl")


def by_key(results):
    plain = {record.key: {**record.scores, "seconds": 0} for record in results}
    return plain


def test_all_cells_of_methods_that_are_here_are_run(toy, store):
    cells = toy.cells(toy.quick)
    results = run_cells(toy, cells, store, show=False)
    assert {cell.method for cell in cells} == {"truth", "chance", "refusal"}
    assert len(results) + len(results.failures) == len(cells) == 2 * 2 * 3 * 2
    assert results.mean("nmi", method="truth") == 1.0
    assert results.mean("nmi", method="chance") < 0.2
    assert {record.cell.amount for record in results.failures} == {20}
    assert results.failures[0].error == "RuntimeError: too many links"


def test_an_interrupted_run_goes_on_where_it_stopped(toy, store):
    cells = toy.cells(toy.quick)
    whole = run_cells(toy, cells, ResultStore(store.path.with_name("whole.jsonl")), show=False)

    calls = []

    def counting(cell):
        calls.append(cell)
        if len(calls) == 7:
            raise KeyboardInterrupt
        return toy.compute(cell)

    broken = _Counting(toy, counting)
    with pytest.raises(KeyboardInterrupt):
        run_cells(broken, cells, store, show=False)
    with store.path.open("a") as file:
        file.write('{"version": "half a li')
    assert len(ResultStore(store.path).read()) == 6

    calls.clear()
    calls.extend([None] * 10)
    resumed = run_cells(broken, cells, ResultStore(store.path), show=False)
    assert len(calls) - 10 + 6 >= len(cells)
    assert by_key(resumed) == by_key(whole)


class _Counting:
    """A protocol whose way of computing is watched."""

    def __init__(self, protocol, compute):
        self.name, self.check_data, self.compute = protocol.name, protocol.check_data, compute


def test_a_finished_run_computes_nothing_and_a_failed_cell_is_tried_again(toy, store):
    cells = toy.cells(toy.quick)
    run_cells(toy, cells, store, show=False)
    seen = []

    def watched(cell):
        seen.append(cell)
        return toy.compute(cell)

    run_cells(_Counting(toy, watched), cells, store, show=False)
    assert {(cell.method, cell.amount) for cell in seen} == {("refusal", 20)}


def test_results_do_not_depend_on_order_or_jobs(toy, store, tmp_path):
    cells = toy.cells(toy.quick)
    alone = run_cells(toy, cells, store, show=False)
    backwards = run_cells(toy, cells[::-1], ResultStore(tmp_path / "b.jsonl"), show=False)
    assert by_key(alone) == by_key(backwards)


def test_several_processes_give_the_same_results(tmp_path):
    from mustlink.reproduce import find_protocol

    bckm = find_protocol("bckm")
    cells = [Cell("bckm", "iris", "k-means", amount, trial) for amount in (10, 20) for trial in (0, 1)]
    one, two = (
        run_cells(bckm, cells, ResultStore(tmp_path / f"{jobs}.jsonl"), n_jobs=jobs, show=False) for jobs in (1, 2)
    )
    assert [record.scores["nmi"] for record in one] == pytest.approx([record.scores["nmi"] for record in two])


def test_timed_cells_have_seconds_alone(toy):
    record = toy.compute(Cell("toy", "iris", "truth", 5, trial=0, measure="seconds"))
    assert list(record.scores) == ["seconds"]
    assert record.scores["seconds"] >= 0


def test_scores_on_points_in_no_link_need_enough_of_them(toy):
    few_links = toy.compute(Cell("toy", "iris", "chance", 5, trial=0)).scores
    many_links = toy.compute(Cell("toy", "iris", "chance", 1000, trial=0)).scores
    assert few_links["n_unlinked"] >= 140
    assert few_links["nmi_unconstrained"] != few_links["nmi"]
    assert many_links["n_unlinked"] < 10
    assert "nmi_unconstrained" not in many_links


def test_warnings_are_part_of_the_result(toy):
    import warnings

    def warns(problem):
        for _ in range(3):
            warnings.warn("slow", UserWarning, stacklevel=1)
        return toy.methods[0].run(problem)

    cell = Cell("toy", "iris", "truth", 5, trial=0)
    record = computed(cell, Method("warns", warns), pose(cell, toy.datasets[0], toy.draw))
    assert record.warnings == ["UserWarning: slow"]


def test_data_that_is_not_here_is_missed_before_the_first_cell(toy, store):
    cells = [Cell("toy", "iris", "truth", 5, trial=0), Cell("toy", "nosuch", "truth", 5, trial=0)]
    with pytest.raises(DataNotFoundError, match="nosuch"):
        run_cells(toy, cells, store, show=False)
    assert not store.path.exists()


def test_rows_are_drawn_from_larger_sets_and_the_same_for_all_methods(toy):
    data = DataSet("iris", "Iris")
    first, second, other = (
        pose(Cell("toy", "iris", method, 5, trial, rows=60), data, toy.draw)
        for method, trial in (("truth", 0), ("chance", 0), ("truth", 1))
    )
    assert first.X.shape == (60, 4)
    assert np.array_equal(first.X, second.X)
    assert first.links == second.links
    assert not np.array_equal(first.X, other.X)
    assert pose(Cell("toy", "iris", "truth", 5, trial=0, rows=1000), data, toy.draw).X.shape == (150, 4)


def test_preparations():
    X = np.random.default_rng(0).normal(size=(40, 6)) * [1, 5, 2, 1, 1, 30] + 7
    assert np.allclose(standardised(X).std(axis=0), 1)
    assert leading_directions(X).shape == (40, 6)
    spread = faces(X).std(axis=0)
    centred = X - X.mean(axis=0)
    unit = centred / np.linalg.norm(centred, axis=1, keepdims=True)
    singular = np.linalg.svd(unit - unit.mean(axis=0), compute_uv=False)
    assert np.allclose(spread, np.sqrt(singular / np.sqrt(len(X))))


def test_kept_results_come_in_the_order_of_the_cells(toy, store):
    cells = toy.cells(toy.quick)
    run_cells(toy, cells, store, show=False)
    wanted = [cell for cell in cells if cell.method == "truth"][::-1]
    assert [record.cell for record in kept_results(store, wanted)] == wanted


def test_classes_are_found_by_name():
    assert find_class("mustlink.constraints:Constraints").__name__ == "Constraints"
    assert find_class("mustlink.constraints:Nothing") is None
    assert find_class("mustlink.nowhere:Nothing") is None


def test_figures_are_chosen_by_their_keys(toy):
    assert [part.key for part in toy.choose(["2"])] == ["2"]
    assert [part.key for part in toy.choose([])] == ["1", "2"]
    assert len(toy.cells(toy.quick, toy.choose(["2"]))) == 1
    assert toy.cells(replace(toy.quick, trials=1)) == [cell for cell in toy.cells(toy.quick) if cell.trial == 0]
    with pytest.raises(ValueError, match="toy has no figure '9'; it has 1, 2"):
        toy.choose(["9"])
