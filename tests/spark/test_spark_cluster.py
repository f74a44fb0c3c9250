"""Clustering DataFrames of Spark with links between ids: labels, models, faults."""

from __future__ import annotations

import doctest
import os
import pickle
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import mustlink.spark
from mustlink import Constraints, PCKMeans
from mustlink.errors import ConstraintError, InfeasibleError, OptionError, SkippedLinksWarning
from mustlink.spark import MLlibKMeans, SparkRows, cluster

X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [9.0, 8.0], [8.0, 9.0], [9.0, 9.0]])
QUICK = {"n_clusters": 2, "n_init": 1, "max_iter": 3, "random_state": 0, "n_partitions": 2}
LINKS = {"a": [100, 103.0, 101], "b": [101, 104, 104], "link": ["must", 1, "cannot"]}


@pytest.fixture(scope="module")
def frame(spark: Any) -> Any:
    """Six rows with the ids 100 to 105."""
    return spark.createDataFrame(
        [(100 + place, *map(float, row)) for place, row in enumerate(X)], "id long, x double, y double"
    )


def label_of(labels: Any, id: str = "id") -> dict[Any, int]:
    found = [(row[id], row["label"]) for row in labels.collect()]
    assert len(dict(found)) == len(found)
    return dict(found)


def test_a_frame_is_clustered_by_links_between_ids(spark: Any, frame: Any) -> None:
    labels, model = cluster(frame, LINKS, method="pck", **QUICK)
    order = SparkRows(frame, n_partitions=2).ids_of(np.arange(6))
    place = {id: row for row, id in enumerate(order)}
    links = Constraints(
        must_link=[(place[100], place[101]), (place[103], place[104])], cannot_link=[(place[101], place[104])]
    )
    expected = PCKMeans(2, n_init=1, max_iter=3, random_state=0).fit(X[[id - 100 for id in order]], constraints=links)
    assert label_of(labels) == dict(zip(order, expected.labels_.tolist(), strict=True))
    assert model.sizes.tolist() == [3, 3]
    assert len(model.violations) == 0

    # The model outlives the session: it is a value.
    again = pickle.loads(pickle.dumps(model))
    new = spark.createDataFrame([(8.0, None, 9, 900), (0.5, "kept", 0, 901)], "y double, note string, x int, id long")
    found = sorted(again.transform(new).collect(), key=lambda row: row.id)
    assert [row.note for row in found] == [None, "kept"]
    assert [row.label for row in found] == [label_of(labels)[105], label_of(labels)[100]]


@pytest.mark.parametrize("form", ["csv", "spark"])
def test_links_come_from_files_and_frames(spark: Any, frame: Any, tmp_path: Path, form: str) -> None:
    if form == "csv":
        source: Any = tmp_path / "links.csv"
        source.write_text("a,b,link,weight\n100,105,must,2\n100,101,cannot,0.5\n")
    else:
        source = spark.createDataFrame([("100", "105", 1), ("100", "101", -1)], "a string, b string, link int")
    labels, model = cluster(frame, source, method="cop", **QUICK)
    found = label_of(labels)
    assert found[100] == found[105] != found[101]
    assert model.violations.empty


def test_broken_links_are_named_by_id(frame: Any) -> None:
    links = {"a": [100, 100], "b": [101, 105], "link": ["cannot", "must"], "weight": [1e-9, 1e-9]}
    _, model = cluster(frame, links, method="pck", **QUICK)
    found = model.violations
    assert {tuple(pair) for pair in found[["a", "b", "link"]].to_numpy().tolist()} == {
        (100, 101, "cannot"),
        (100, 105, "must"),
    }


def test_links_of_other_ids_are_refused_or_skipped(frame: Any) -> None:
    links = {"a": [100, 7, 8], "b": [101, 104, 9], "link": [1, 1, 1]}
    with pytest.raises(ConstraintError, match=r"no row with the id '7' .* nor with 2 other ids .*unknown_ids=\"skip\""):
        cluster(frame, links, method="pck", **QUICK)
    with pytest.warns(SkippedLinksWarning, match="2 of 3 links name ids that are not in the table"):
        cluster(frame, links, method="pck", unknown_ids="skip", **QUICK)


def test_links_that_cannot_be_kept_are_named_by_id(frame: Any) -> None:
    links = {"a": [100, 101, 103], "b": [101, 103, 100], "link": ["must", "must", "cannot"]}
    with pytest.raises(InfeasibleError) as caught:
        cluster(frame, links, method="cop", **QUICK)
    assert "103" in str(caught.value)
    with pytest.raises(TypeError, match="links must name ids, and Constraints name rows by number"):
        cluster(frame, Constraints(must_link=[(0, 1)]), method="pck", **QUICK)


def test_contradictory_links_are_refused_or_outvoted(frame: Any) -> None:
    links = {"a": [100, 105], "b": [105, 100], "link": ["must", "cannot"], "weight": [2.0, 1.0]}
    with pytest.raises(ConstraintError, match=r'both as must-link and as cannot-link; .*contradictions="majority"'):
        cluster(frame, links, method="cop", **QUICK)
    found = label_of(cluster(frame, links, method="cop", contradictions="majority", **QUICK)[0])
    assert found[100] == found[105]
    _, model = cluster(frame, links, method="pck", contradictions="keep", **QUICK)
    assert len(model.violations) == 1


def test_wrong_choices_are_refused_before_rows_are_read(frame: Any) -> None:
    with pytest.raises(OptionError, match=r"hdbscan takes rows in memory only; rows of Spark are for .*pck"):
        cluster(frame, method="hdbscan")
    with pytest.raises(OptionError, match="PCKMeans has no parameter 'speed'; its parameters are"):
        cluster(frame, method="pck", speed=3)
    with pytest.raises(OptionError, match="The method pck boosts no other clusterer"):
        cluster(frame, method="pck", estimator=MLlibKMeans())
    with pytest.raises(ValueError, match="n_samples=6 should be >= n_clusters=7"):
        cluster(frame, method="pck", n_clusters=7, n_partitions=1)


def test_columns_of_booleans_are_numbers(spark: Any) -> None:
    df = spark.createDataFrame([(1, True, 2.0), (2, False, 3.0)], "id long, x boolean, y float")
    rows = SparkRows(df, n_partitions=1)
    np.testing.assert_array_equal(rows.gather(np.arange(2)), [[1, 2], [0, 3]])
    assert rows.dtype == np.float32
    rows.unpersist()
    _, model = cluster(df, method="pck", **QUICK)
    assert model.transform(df).count() == 2


NAN, INFINITY = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("rows", "schema", "options", "message"),
    [
        ([(1, 2.0)], "key long, x double", {}, "df has no column of ids 'id'; its columns are key, x"),
        ([(1, 2.0)], "id long, x double", {"columns": ["y"]}, "df has no column 'y'"),
        ([(1, "a", None)], "id long, x string, y date", {}, r"2 of 2 .* 'x' \(string\), 'y' \(date\)"),
        ([(1.5, 2.0)], "id double, x double", {}, "ids are whole numbers or strings"),
        ([(1,)], "id long", {}, "df has no columns but the ids"),
        ([(1, 2.0)], "id long, x double", {"columns": "x"}, r"pass \['x'\]"),
        ([], "id long, x double", {}, "df has no rows"),
        ([(1, 2.0), (1, 3.0), (2, 1.0)], "id long, x double", {}, "1 row of df has the id of another .*: 1"),
        ([(None, 2.0)], "id string, x double", {}, "'id' is null in 1 row; every row needs an id"),
        ([(1, 2.0, 1), (7, 1.0, None)], "id long, x double, y int", {}, "null: column 'y' of the row with the id 7"),
        ([("k", NAN), ("l", 1.0)], "id string, x float", {}, "NaN: column 'x' of the row with the id 'k'"),
        ([("k", INFINITY), ("l", 1.0)], "id string, x float", {}, "id 'k' .*infinity"),
        ([("k", 1e300), ("l", 1.0)], "id string, x double", {}, r"id 'k' .*1e\+300"),
    ],
)
def test_frames_that_cannot_be_used(
    spark: Any, rows: list[Any], schema: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        _ = SparkRows(spark.createDataFrame(rows, schema), n_partitions=1, **options).moments


def test_other_objects_are_refused() -> None:
    pytest.importorskip("pyspark")
    with pytest.raises(TypeError, match=r"df must be a DataFrame of Spark, and this is a numpy\.ndarray"):
        cluster(X, method="pck")


def test_an_executor_may_be_lost(spark: Any, frame: Any) -> None:
    """Blocks are made again, with the same rows in the same order."""

    if not spark.sparkContext.master.startswith("local-cluster"):
        pytest.skip("the executor is the driver itself")

    def executor(block: Any) -> int:
        import psutil

        return next(parent.pid for parent in psutil.Process().parents() if parent.name() == "java")

    rows = SparkRows(frame, n_partitions=2)
    before, ids = rows.gather(np.arange(6)), rows.ids_of(np.arange(6))
    victim = rows.run(executor)[0]
    assert victim != os.getpid()
    os.kill(victim, signal.SIGKILL)
    np.testing.assert_array_equal(rows.gather(np.arange(6)), before)
    assert rows.ids_of(np.arange(6)) == ids
    assert victim not in rows.run(executor)
    rows.unpersist()


def test_mllib_clusters_arrays_and_rows_of_spark(frame: Any) -> None:
    kmeans = MLlibKMeans(n_clusters=2, max_iter=3, random_state=0)
    # A weight of two counts as two equal rows.
    kmeans.fit(X.astype(np.float32), sample_weight=[2, 1, 1, 1, 1, 1])
    np.testing.assert_allclose(np.sort(kmeans.cluster_centers_, axis=0), [[1 / 4] * 2, [26 / 3] * 2], rtol=1e-6)
    np.testing.assert_array_equal(kmeans.labels_, kmeans.predict(X))
    assert len(set(kmeans.labels_[:3])) == len(set(kmeans.labels_[3:])) == 1
    assert kmeans.inertia_ == pytest.approx(3 / 2 + 4 / 3)

    rows = SparkRows(frame, n_partitions=2)
    on_rows = clone(kmeans).set_params(init="random").fit(rows)
    np.testing.assert_allclose(np.sort(on_rows.cluster_centers_, axis=0), [[1 / 3] * 2, [26 / 3] * 2])
    found = label_of(on_rows.labels_)
    assert found[100] == found[102] != found[105]
    rows.unpersist()
    with pytest.raises(ValueError, match="n_samples=6 should be >= n_clusters=7"):
        MLlibKMeans(n_clusters=7).fit(X)


@pytest.mark.parametrize("name", mustlink.spark.__all__)
def test_examples(name: str, spark: Any) -> None:
    """The examples are left out where doctests run, as each would start a session."""
    (example,) = doctest.DocTestFinder(recurse=False).find(getattr(mustlink.spark, name), name)
    for line in example.examples:
        line.options.pop(doctest.SKIP, None)
    result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS).run(example)
    assert result.attempted > 3
    assert result.failed == 0
