"""What needs no session: messages where Spark, Java or a session is missing, and choices that are refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from mustlink.errors import OptionError
from mustlink.spark import MLlibKMeans, cluster
from mustlink.spark._cluster import _sizes
from mustlink.spark._session import name_missing_modules


def test_pyspark_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(OptionError, match=r"pyspark, which is not installed; .*mustlink\[spark\]"):
        cluster(None, method="pck")
    with pytest.raises(OptionError, match=r"mustlink\[spark\]"):
        MLlibKMeans(2).fit([[0.0], [1.0]])


@pytest.mark.parametrize("has_java", [True, False])
def test_a_missing_session_is_named(has_java: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    sql = pytest.importorskip("pyspark.sql")
    monkeypatch.setattr(sql.SparkSession, "getActiveSession", classmethod(lambda cls: None))
    monkeypatch.setattr("mustlink.spark._session.shutil.which", lambda *_, **__: "java" if has_java else None)
    with pytest.raises(RuntimeError, match=r"no active Spark session; .*SparkSession\.builder\.getOrCreate") as caught:
        MLlibKMeans(2).fit([[0.0], [1.0]])
    assert ("needs Java 17" in str(caught.value)) is not has_java


def test_the_part_is_imported_without_pyspark() -> None:
    code = "import sys, mustlink.spark; print('pyspark' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_noise_is_counted_apart_from_clusters() -> None:
    sizes, n_noise = _sizes({0: 50, 1: 43, -1: 7}, 2)
    assert (sizes.tolist(), n_noise) == ([50, 43], 7)


@pytest.mark.parametrize(("module", "is_ours"), [("pyarrow", True), ("mustlink.spark", True), ("pillow", False)])
def test_a_module_that_workers_lack_is_named(module: str, is_ours: bool) -> None:
    errors = pytest.importorskip("pyspark.errors")
    problem = errors.PythonException(f"Traceback ...\nModuleNotFoundError: No module named '{module}'")
    with pytest.raises(RuntimeError if is_ours else errors.PythonException) as caught, name_missing_modules():
        raise problem
    if is_ours:
        assert f"workers has no module '{module}'. Set the environment variable PYSPARK_PYTHON" in str(caught.value)
        assert caught.value.__cause__ is problem


def test_sizes_are_refused_before_rows_are_looked_at() -> None:
    with pytest.raises(OptionError, match="sizes takes rows on this machine only; rows of Spark are for") as caught:
        cluster(None, method="sizes")
    assert "sizes" not in str(caught.value).partition("are for")[2]


def test_a_missing_file_of_links_is_noticed_before_rows_are_looked_at(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"none\.csv"):
        cluster(None, tmp_path / "none.csv", method="pck")
