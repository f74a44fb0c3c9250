"""What is needed before any row is read: pyspark, Java, a session that runs, a DataFrame of it."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mustlink.errors import OptionError

__all__ = ["active_session", "check_frame", "name_missing_modules", "require_pyspark"]

HOW_TO_START = "make one first, such as SparkSession.builder.getOrCreate()"
# What a worker needs for our tasks, and how its error says that it is missing.
MISSING_MODULE = re.compile(r"No module named '((?:mustlink|pyarrow|numpy|scipy|sklearn|cloudpickle)\b[^']*)'")


def require_pyspark() -> None:
    """Raise if pyspark is not installed."""
    try:
        import pyspark.sql  # noqa: F401
    except ModuleNotFoundError:
        raise OptionError(
            "Rows of Spark need pyspark, which is not installed", remedy="install_extra", extra="spark"
        ) from None


def active_session() -> Any:
    """Return the Spark session of this process; none is made here, since how and where it runs is the user's choice."""
    require_pyspark()
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    if session is not None:
        return session
    raise RuntimeError(f"There is no active Spark session; {HOW_TO_START}.{_missing_java()}")


def check_frame(df: Any) -> Any:
    """Return the session of a DataFrame of Spark; refuse anything else, and one whose session was stopped."""
    require_pyspark()
    from pyspark.sql import DataFrame

    # A DataFrame of Spark Connect is of another class with the same methods.
    if not (isinstance(df, DataFrame) or hasattr(df, "sparkSession")):
        kind = type(df)
        raise TypeError(
            f"df must be a DataFrame of Spark, and this is a {kind.__module__}.{kind.__qualname__}; "
            "spark.createDataFrame makes one of a pandas DataFrame."
        )
    session = df.sparkSession
    context = getattr(session, "sparkContext", None)
    if context is not None and context._jsc is None:
        raise RuntimeError(f"The Spark session of df was stopped; {HOW_TO_START}, and make df again.")
    return session


@contextmanager
def name_missing_modules() -> Iterator[None]:
    """Raise an error that says what to do where the Python of the workers lacks a package; for every job of Spark."""
    from pyspark.errors import PythonException

    try:
        yield
    except PythonException as error:
        missing = MISSING_MODULE.search(str(error))
        if missing is None:
            raise
        raise RuntimeError(
            f"The Python of the Spark workers has no module {missing[1]!r}. Set the environment variable "
            "PYSPARK_PYTHON to a Python in which mustlink[spark] is installed, on every machine, before the session is "
            f"made; if all runs on this machine, to sys.executable, {sys.executable}."
        ) from error


def _missing_java() -> str:
    """Say that there is no Java, if there is none."""
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java") or (home and shutil.which("java", path=os.path.join(home, "bin"))):
        return ""
    return (
        " Spark also needs Java 17, and there is no java on the PATH and none in JAVA_HOME: install a Java runtime, "
        "such as the package openjdk-17-jre-headless."
    )
