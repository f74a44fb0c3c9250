"""One Spark session for all tests: two executors in processes of their own, as on a cluster."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CLUSTER = "local-cluster[2,1,1024]"
QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def missing() -> str:
    """Say what the tests need and this machine does not have."""
    if importlib.util.find_spec("pyspark") is None:
        return "pyspark is not installed (extra spark)"
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java") is None and not (home and os.path.exists(os.path.join(home, "bin", "java"))):
        return "Spark needs Java 17, and there is no java on this machine"
    return ""


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Let Spark's own warning pass that it does not know the pandas of this machine."""
    for item in items:
        if "spark" in item.fixturenames:
            item.add_marker(
                pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
            )


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A session of Spark on a small cluster of this machine."""
    if reason := missing():
        pytest.skip(reason)
    import pyspark
    from pyspark.sql import SparkSession

    # The workers of such a cluster write their logs into the folder of the package, whatever is configured.
    work = Path(pyspark.__file__).parent / "work"
    master = CLUSTER if os.access(work.parent, os.W_OK) else "local[2]"
    folder = tmp_path_factory.mktemp("spark")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        # The name of a machine in a container may not lead back to it.
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.setenv("PYTHONWARNINGS", "ignore")
        session = (
            SparkSession.builder.master(master)
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.driver.memory", "512m")
            # Every query is run once: compiling it takes longer than running it.
            .config("spark.sql.codegen.wholeStage", "false")
            .config("spark.driver.extraJavaOptions", QUICK_JAVA)
            .config("spark.executor.extraJavaOptions", QUICK_JAVA)
            .config("spark.local.dir", str(folder / "local"))
            .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
            .config("spark.sql.shuffle.partitions", "2")
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("OFF")
        yield session
        name = session.sparkContext.applicationId
        session.stop()
        shutil.rmtree(work / name, ignore_errors=True)
