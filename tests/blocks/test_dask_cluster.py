"""Rows on the workers of a Dask cluster: what is sent and kept, and workers, clients and runs that end too early."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mustlink import LCVQE, Constraints, COPKMeans, PCKMeans, SeededKMeans
from mustlink.blocks import DaskRows
from mustlink.blocks import _dask as dask_rows
from mustlink.blocks._dask_collections import is_local
from mustlink.blocks._dask_tasks import join_neighbors
from mustlink.kmeans import _blocked

dask = pytest.importorskip("dask", reason="needs the extra dask")
da = pytest.importorskip("dask.array", reason="needs the extra dask")
dd = pytest.importorskip("dask.dataframe", reason="needs the extra dask")
distributed = pytest.importorskip("distributed", reason="needs the extra dask")

N_ROWS, BLOCK = 1200, 300
LINKS = Constraints(must_link=[(0, 1), (5, 900), (900, 300)], cannot_link=[(3, 4), (7, 1), (1100, 61)])


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Two workers in processes of their own; starting them takes some seconds."""
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0")
    with cluster, distributed.Client(cluster) as started:
        yield started


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(1)
    # No clear clusters: a fit takes many iterations.
    table = rng.normal(size=(N_ROWS, 3)).astype(np.float32)
    path = tmp_path_factory.mktemp("rows") / "rows.npy"
    np.save(path, table)
    return path


def array_of(path: Path, log: Path | None = None) -> Any:
    """A Dask array whose blocks are read from a file by the workers; each reading adds a line to a log."""

    def load(start: int) -> np.ndarray:
        if log is not None:
            with log.open("a") as file:
                file.write(f"{start}\n")
        return np.array(np.load(path, mmap_mode="r")[start : start + BLOCK])

    parts = [dask.delayed(load, pure=False)(start) for start in range(0, N_ROWS, BLOCK)]
    return da.concatenate([da.from_delayed(part, (BLOCK, 3), np.float32) for part in parts])


def make(estimator: Any = PCKMeans) -> Any:
    return estimator(n_clusters=5, random_state=0, n_init=1, max_iter=9)


def wait_until(is_true: Callable[[], bool], seconds: float = 15) -> None:
    end = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def tasks_of(client: Any) -> list[str]:
    """The names of our tasks that the scheduler knows."""
    known = client.run_on_scheduler(lambda dask_scheduler: [str(key) for key in dask_scheduler.tasks])
    return [key for key in known if "mustlink-" in key]


@pytest.mark.parametrize("estimator", [PCKMeans, COPKMeans, LCVQE, SeededKMeans])
def test_labels_are_those_in_memory(client: Any, path: Path, estimator: Any) -> None:
    in_memory = make(estimator).fit(np.load(path), constraints=LINKS)
    fitted = make(estimator).fit(array_of(path), constraints=LINKS)
    assert len(distributed.futures_of(fitted.labels_)) == N_ROWS // BLOCK, "the labels are on the workers"
    np.testing.assert_array_equal(fitted.labels_.compute(), in_memory.labels_)
    np.testing.assert_array_equal(fitted.violations_.pairs, in_memory.violations_.pairs)
    np.testing.assert_array_equal(fitted.predict(array_of(path)).compute(), in_memory.predict(np.load(path)))


@settings(max_examples=4, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.lists(st.integers(0, N_ROWS), max_size=6))
def test_labels_do_not_depend_on_the_chunks(client: Any, path: Path, cuts: list[int]) -> None:
    table = np.load(path)
    lengths = tuple(np.diff([0, *sorted(cuts), N_ROWS]).tolist())
    labels = make().fit(da.from_array(table, chunks=(lengths, 2)), constraints=LINKS).labels_
    np.testing.assert_array_equal(labels.compute(), make().fit(table, constraints=LINKS).labels_)


def test_two_runs_are_equal_to_the_last_bit(client: Any, path: Path) -> None:
    one, other = (make().fit(array_of(path), constraints=LINKS) for _ in range(2))
    np.testing.assert_array_equal(one.cluster_centers_, other.cluster_centers_)
    assert one.inertia_ == other.inertia_


def test_blocks_are_read_once(client: Any, path: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    make().fit(array_of(path, log), constraints=LINKS)
    assert sorted(map(int, log.read_text().split())) == list(range(0, N_ROWS, BLOCK))


def test_data_frames_are_read_once(client: Any, path: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    X = dd.from_dask_array(array_of(path, log), columns=list("abc"))
    fitted = make().fit(X, constraints=LINKS)
    assert list(fitted.feature_names_in_) == list("abc")
    assert len(log.read_text().split()) == N_ROWS // BLOCK
    np.testing.assert_array_equal(fitted.labels_.compute(), make().fit(np.load(path), constraints=LINKS).labels_)


def test_rows_that_workers_hold_are_not_copied(client: Any, path: Path) -> None:
    X = array_of(path).persist()
    distributed.wait(X)
    rows = DaskRows(X)
    _ = rows.moments
    assert {block.key for block in rows._blocks} == {future.key for future in distributed.futures_of(X)}


def test_a_table_with_a_missing_value_is_named_by_its_block(client: Any, path: Path) -> None:
    table = np.load(path)
    table[555, 1] = np.nan
    with pytest.raises(ValueError, match=r"row 555, column 1 of X \(block 2 of 4, row 255 of the block\)"):
        make().fit(da.from_array(table, chunks=(BLOCK, 3)))


def test_a_block_unlike_the_metadata_is_named(client: Any, path: Path) -> None:
    X = array_of(path).map_blocks(
        lambda block, block_info=None: block if block_info[0]["chunk-location"][0] != 2 else block.astype(float),
        dtype=np.float32,
    )
    with pytest.raises(ValueError, match="type float64 as block 3 of 4"):
        make().fit(X)


def test_codes_stay_on_the_workers(client: Any, path: Path) -> None:
    rows = DaskRows(array_of(path))
    codes = rows.derive(lambda block: (block > 0).astype(np.uint8), n_features=3, dtype=np.uint8)
    assert all(isinstance(dict(block.dask)[block.key], distributed.Future) for block in codes._blocks)
    assert codes.total(lambda block: int(block.sum())) == (np.load(path) > 0).sum()


def test_large_arguments_are_one_value_of_the_graph(client: Any, path: Path) -> None:
    rows, large = DaskRows(array_of(path)), np.arange(200_000.0)
    calls = rows._call(lambda block, values: float(values.sum()), (large,))
    assert all(len(cloudpickled(call)) < 20_000 for call in calls)
    assert rows.run(lambda block, values: float(values.sum()), large) == [large.sum()] * 4
    assert rows.total(lambda block, values: float(values.sum()), large) == 4 * large.sum()


def cloudpickled(call: Any) -> bytes:
    """A call without what it depends on."""
    import cloudpickle

    return bytes(cloudpickle.dumps(call.dask.layers[call.key]))


def test_the_dashboard_shows_what_runs(client: Any, path: Path) -> None:
    make().fit(array_of(path).rechunk((100, 3)), constraints=LINKS)
    prefixes = client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.task_prefixes))
    assert {"mustlink-rows", "mustlink-inspect-block", "mustlink-sum-nearest", "mustlink-join"} <= set(prefixes)
    assert "mustlink-nearest-labels" in prefixes


def test_nothing_is_left_on_the_workers(client: Any, path: Path) -> None:
    fitted = make().fit(array_of(path), constraints=LINKS)
    assert fitted.labels_.shape == (N_ROWS,)
    del fitted

    def is_clean() -> bool:
        # Objects of other tests may be part of cycles.
        gc.collect()
        return not tasks_of(client)

    wait_until(is_clean)


def test_a_pickled_clusterer_predicts_in_another_process(client: Any, path: Path, tmp_path: Path) -> None:
    fitted = make().fit(array_of(path), constraints=LINKS)
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.labels_.compute(), fitted.labels_.compute())
    (tmp_path / "model").write_bytes(pickle.dumps(fitted))
    code = f"import pickle; print(pickle.load(open({str(tmp_path / 'model')!r}, 'rb')).predict([[0.0, 0.0, 0.0]])[0])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) == fitted.predict(np.zeros((1, 3)))[0]


def test_verbose_prints_the_iterations(client: Any, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make().set_params(verbose=1).fit(array_of(path), constraints=LINKS)
    assert capsys.readouterr() != ("", "")


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes are killed by a signal of POSIX")
def test_a_worker_is_killed_in_the_seventh_pass(
    client: Any, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It dies inside a task, with a half of the rows; they are read again, and the labels are the same."""
    expected = make().fit(np.load(path), constraints=LINKS)
    assert expected.n_iter_ == 9
    flag, log, passes = tmp_path / "killed", tmp_path / "log", []
    total, original = DaskRows.total, _blocked.sum_nearest

    def sum_or_die(block: np.ndarray, *arguments: Any) -> Any:
        *usual, is_deadly = arguments
        if is_deadly and not flag.exists():
            flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return original(block, *usual)

    def count_passes(self: DaskRows, task: Any, *shared: Any, each: Any = None) -> Any:
        if task is not original:
            return total(self, task, *shared, each=each)
        passes.append(task)
        marked = [(*own, len(passes) == 7 and number == 2) for number, own in enumerate(each)]
        return total(self, sum_or_die, *shared, each=marked)

    monkeypatch.setattr(DaskRows, "total", count_passes)
    fitted = make().fit(array_of(path, log), constraints=LINKS)
    assert flag.exists()
    assert len(log.read_text().split()) > N_ROWS // BLOCK, "some rows were read again"
    np.testing.assert_array_equal(fitted.labels_.compute(), expected.labels_)
    np.testing.assert_array_equal(fitted.violations_.pairs, expected.violations_.pairs)
    assert fitted.n_iter_ == expected.n_iter_
    client.wait_for_workers(2, timeout=30)


@pytest.mark.skipif(os.name != "posix", reason="an interrupt of the keyboard is a signal of POSIX")
def test_an_interrupt_cancels_what_has_not_begun(client: Any, path: Path) -> None:
    rows = DaskRows(da.from_array(np.load(path), chunks=(20, 3)))
    _ = rows.moments
    timer = threading.Timer(0.7, os.kill, (os.getpid(), signal.SIGINT))
    # A shell starts what runs in its background with interrupts ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            rows.run(lambda block: time.sleep(0.5))
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    # 60 tasks of 0.5 s on two workers would take 15 s.
    wait_until(lambda: all("mustlink-rows" in key for key in tasks_of(client)), seconds=5)
    assert rows.run(len) == [20] * 60


def test_a_client_that_is_not_the_default_is_used(client: Any, path: Path) -> None:
    with distributed.Client(client.scheduler.address, set_as_default=False) as other:
        X = other.persist(array_of(path))
        rows = DaskRows(X)
        assert rows._client is other
        labels = make().fit(X, constraints=LINKS).labels_
        expected = make().fit(np.load(path), constraints=LINKS).labels_
        np.testing.assert_array_equal(other.compute(labels).result(), expected)


def test_rows_outlive_the_collection_that_the_workers_hold(client: Any, path: Path) -> None:
    rows = DaskRows(client.persist(da.from_array(np.load(path), chunks=(BLOCK, 3))))
    gc.collect()
    assert rows.run(len) == [BLOCK] * (N_ROWS // BLOCK)


@pytest.mark.parametrize(
    ("setting", "address", "expected"),
    [
        (None, "tcp://127.0.0.1:8786", True),
        (None, "inproc://10.0.0.7/12/1", True),
        (None, "tcp://10.0.0.7:8786", False),
        (None, None, False),
        (False, "tcp://127.0.0.1:8786", False),
        (True, "tls://cluster.example:8786", True),
    ],
)
def test_results_come_directly_from_workers_in_reach(setting: bool | None, address: str | None, expected: bool) -> None:
    info = {"workers": {} if address is None else {address: {}, "tcp://127.0.0.1:9000": {}}}
    given = SimpleNamespace(direct_to_workers=setting, scheduler_info=lambda: info)
    assert is_local(given) is expected


def test_the_order_of_sums_depends_on_the_blocks_alone(client: Any) -> None:
    """Some twenty blocks are joined eight at a time by tasks, and the last results here."""
    table = np.random.default_rng(0).normal(size=(210, 1))
    rows = DaskRows(da.from_array(table, chunks=(10, 1)))
    sums = [float(table[start : start + 10].sum()) for start in range(0, 210, 10)]
    expected = join_neighbors(*(join_neighbors(*sums[start : start + 8]) for start in range(0, 21, 8)))
    assert rows.total(np.sum) == expected


def test_a_closed_client_is_named(client: Any, path: Path) -> None:
    with distributed.Client(client.scheduler.address, set_as_default=False) as other:
        X = other.persist(array_of(path))
        rows = DaskRows(X)
    with pytest.raises(RuntimeError, match=r"client.* connect with distributed\.Client"):
        rows.run(len)
    with pytest.raises(RuntimeError, match=r"client.* connect with distributed\.Client"):
        make().fit(X)


def test_threads_of_one_process_as_workers(client: Any, path: Path) -> None:
    """Workers that share the process of the driver."""
    cluster = distributed.LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0")
    with cluster, distributed.Client(cluster, set_as_default=False) as other:
        labels = make().fit(other.persist(array_of(path)), constraints=LINKS).labels_
        found = other.compute(labels).result()
    np.testing.assert_array_equal(found, make().fit(np.load(path), constraints=LINKS).labels_)


def test_small_arguments_go_with_the_tasks(client: Any, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = DaskRows(array_of(path))
    assert rows._call(len, ())[0].dask.layers.keys().isdisjoint({"mustlink-shared"})
    frame = pd.DataFrame({"x": [1.0]})
    monkeypatch.setattr(dask_rows, "MAX_COPIED_BYTES", 0)
    assert rows.run(lambda block, table: table["x"].sum() + len(block), frame) == [301.0] * 4
