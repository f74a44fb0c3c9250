"""Models that are saved, loaded and applied to new rows."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import re
import sys
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest

from mustlink.boosting._robust import _automatic, _propagation
from mustlink.catalogue import CATALOGUE, ESTIMATORS, find_clusterer
from mustlink.errors import FileFormatError, OptionError, PredictionWarning
from mustlink.tables import Table
from mustlink.workflow import Job, Model, PredictionJob, load_model, run_job, run_prediction, save_model
from mustlink.workflow import _model as model_module

skops_io = pytest.importorskip("skops.io")

PREDICTING = [entry.name for entry in CATALOGUE if hasattr(entry.load(), "predict")]
OTHERS = [entry.name for entry in CATALOGUE if entry.name not in PREDICTING]


@pytest.fixture
def people(tmp_path):
    """Sixty rows of three groups, with a category of its own for two of them, and links."""
    rng = np.random.default_rng(0)
    group = np.arange(60) % 3
    frame = pd.DataFrame(rng.normal(size=(60, 2)) + np.array([[10, 10], [15, 10], [10, 15]])[group], columns=["x", "y"])
    frame.insert(0, "who", [f"p{row:02d}" for row in range(60)])
    frame["plan"] = np.where(rng.random(60) < 0.2, "team", np.array(["a", "b", "a"])[group])
    frame.to_csv(tmp_path / "people.csv", index=False)
    links = "".join(f"p{row:02d},p{row + 3:02d},must\np{row:02d},p{row + 1:02d},cannot\n" for row in range(0, 20, 2))
    (tmp_path / "links.csv").write_text("a,b,link\n" + links)
    return tmp_path


def fitted(folder, **options):
    given = {"n_clusters": 3, "id_column": "who", "method": "pck"} | options
    if find_clusterer(given["method"]).input.startswith("counts"):
        given["scale"] = False
    links = folder / "links.csv" if find_clusterer(given["method"]).takes_links else None
    return run_job(Job(folder / "people.csv", links, **given))


def check_same_after_loading(folder, result):
    """Save and load, compare on new rows with the fitted clusterer itself, and return the file."""
    path = folder / "people.model"
    save_model(result, path)
    model = load_model(path)
    rng = np.random.default_rng(1)
    new = pd.read_csv(folder / "people.csv").sample(frac=1, random_state=1).reset_index(drop=True)
    new[["x", "y"]] += rng.normal(size=(60, 2))
    encoded = model.encoder.apply(model.read(new))
    np.testing.assert_array_equal(model.clusterer.predict(encoded.X), result.estimator.predict(encoded.X))
    np.testing.assert_array_equal(model.predict(new), model.predict_encoded(encoded))
    return path


@pytest.mark.parametrize("with_links", [True, False])
@pytest.mark.parametrize("method", PREDICTING)
def test_a_loaded_model_predicts_as_before(people, method, with_links):
    if not with_links:
        (people / "links.csv").write_text("a,b,link\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = fitted(people, method=method)
    path = check_same_after_loading(people, result)
    assert path.stat().st_size < 400_000


def test_a_default_that_clusters_samples_is_saved(people, monkeypatch):
    """With few rows and columns for the slower clusterers, whose runs then predict by rows and by leading columns."""
    monkeypatch.setattr(_automatic, "MAX_ROWS_OF_SLOW", 50)
    monkeypatch.setattr(_automatic, "MAX_COLUMNS_OF_MIXTURE", 1)
    monkeypatch.setattr(_propagation, "MAX_ROWS", 50)
    result = fitted(people, method="boost")
    kinds = {type(run.model).__name__ for run in result.estimator._voters}
    assert kinds == {"KMeans", "LeadingColumns", "NearestRow"}
    assert not len(result.estimator._coordinates.linked)
    check_same_after_loading(people, result)


@pytest.mark.parametrize("base", ESTIMATORS)
@pytest.mark.parametrize("method", ["boost", "boostcluster"])
def test_every_boosted_clusterer_is_saved(people, method, base):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = fitted(people, method=method, estimator=base)
    check_same_after_loading(people, result)


def test_every_kept_type_exists():
    for name in model_module.KEPT_TYPES:
        module, _, attribute = name.rpartition(".")
        assert isinstance(getattr(__import__(module, fromlist=[attribute]), attribute), type)


def test_clusterers_that_predict_are_trusted_by_their_entry_in_the_catalogue():
    kinds = {entry.name: entry.load() for entry in CATALOGUE}
    paths = {name: f"{kind.__module__}.{kind.__qualname__}" for name, kind in kinds.items()}
    assert model_module.trusted_types(paths.values()) == {paths[name] for name in PREDICTING}
    assert not model_module.trusted_types([f"other.{kind.__name__}" for kind in kinds.values()])
    assert all(kinds[name]._read_by_predict for name in PREDICTING)


@pytest.mark.parametrize("method", ["pck", "seeded", "lcvqe", "hmrf", "mpck", "priority", "kernel", "boost"])
def test_without_links_the_rows_of_the_fit_keep_their_clusters(people, method):
    (people / "links.csv").write_text("a,b,link\n")
    result = fitted(people, method=method)
    np.testing.assert_array_equal(Model.of(result).predict(people / "people.csv"), result.labels)


def test_rows_that_links_moved_are_counted(people):
    (people / "links.csv").write_text("a,b,link\np00,p01,must\np01,p02,must\n")
    result = fitted(people, method="cop", save_model=people / "m.model")
    model = load_model(people / "m.model")
    n_other = int((model.predict(people / "people.csv") != result.labels).sum())
    assert n_other == 2
    sentence = "2 rows would get another cluster from the model, which knows the columns of a row and not its links."
    assert sentence in result.summary.notices


def test_rows_that_sizes_moved_are_counted(people):
    (people / "links.csv").write_text("a,b,link\n")
    n_rows = len((people / "people.csv").read_text().splitlines()) - 1
    sizes = {"size_min": n_rows // 2, "n_clusters": 2}
    result = fitted(people, method="sizes", save_model=people / "m.model", **sizes)
    (note,) = [note for note in result.summary.notices if "would get another cluster" in note]
    assert note.endswith("which knows the columns of a row and not the sizes of clusters.")


def test_the_training_rows_are_not_in_the_file(people):
    frame = pd.read_csv(people / "people.csv")
    pd.concat([frame] * 20, ignore_index=True).assign(who=[f"p{row:02d}" for row in range(1200)]).to_csv(
        people / "people.csv", index=False
    )
    sizes = {}
    for method, base in (("pck", None), ("boost", "kmeans"), ("bckm", None), ("parts", None)):
        path = people / f"{method}.model"
        fitted(people, method=method, estimator=base, save_model=path)
        sizes[method] = max(
            entry.file_size
            for entry in zipfile.ZipFile(path).infolist()
            if entry.filename not in ("schema.json", "mustlink.json")
        )
    # One number for each of the 1,200 rows would be more.
    assert max(sizes.values()) < 8 * 1200, sizes


def test_clusters_are_numbered_as_they_were_written(people):
    result = fitted(people, output=people / "clusters.csv")
    shifted = result.estimator
    centers = shifted.cluster_centers_
    # The clusterer's own clusters are 1, 2 and 4; the model numbers them 0, 1 and 2.
    shifted.cluster_centers_ = np.insert(np.insert(centers, 0, 1e6, axis=0), 3, -1e6, axis=0)
    shifted.labels_ = np.array([1, 2, 4])[shifted.labels_]
    model = Model.of(result)
    assert model.clusters == (1, 2, 4)
    assert sorted(set(model.predict(people / "people.csv").tolist())) == [0, 1, 2]
    far = pd.DataFrame({"x": [1e9], "y": [1e9], "plan": ["a"]})
    with pytest.warns(PredictionWarning, match="far outside the range"):
        assert model.predict(far).tolist() == [3]


def test_columns_are_found_by_name(people):
    path = people / "m.model"
    result = fitted(people, save_model=path)
    frame = pd.read_csv(people / "people.csv").assign(remark="new", extra=1.5)
    frame[["extra", "plan", "remark", "y", "who", "x"]].to_csv(people / "new.csv", index=False)
    again = run_prediction(PredictionJob(path, people / "new.csv"))
    np.testing.assert_array_equal(again.labels, load_model(path).predict(people / "people.csv"))
    assert again.table.ids[:2] == ["p00", "p01"]
    assert again.notices == ("Columns 'extra', 'remark' are not in the model and were not used.",)
    assert result.labels.shape == again.labels.shape


def test_missing_columns_are_all_named_with_what_may_be_meant(people):
    path = people / "m.model"
    fitted(people, save_model=path)
    pd.read_csv(people / "people.csv").rename(columns={"x": "X ", "plan": "Plans", "y": "z"}).to_csv(
        people / "new.csv", index=False
    )
    words = r"has no columns 'x', 'y', 'plan' \('x' may be 'X', 'plan' may be 'Plans'\)"
    with pytest.raises(FileFormatError, match=words):
        run_prediction(PredictionJob(path, people / "new.csv"))


def test_ids_may_be_left_out(people):
    path = people / "m.model"
    fitted(people, save_model=path)
    pd.read_csv(people / "people.csv").drop(columns="who").to_csv(people / "new.csv", index=False)
    result = run_prediction(PredictionJob(path, people / "new.csv", output=people / "out.csv"))
    assert result.notices == ("The table has no id column 'who'; its rows are numbered from 0.",)
    assert (people / "out.csv").read_text().startswith("row,cluster\n0,")
    with pytest.raises(FileFormatError, match="has no column 'name'"):
        run_prediction(PredictionJob(path, people / "new.csv", id_column="name"))


def test_empty_cells_do_as_the_model_does_unless_asked(people):
    path = people / "m.model"
    fitted(people, save_model=path)
    frame = pd.read_csv(people / "people.csv")
    frame.loc[3, "x"] = np.nan
    frame.to_csv(people / "new.csv", index=False)
    with pytest.raises(FileFormatError, match=r"new.csv, line 5: the column 'x' is empty"):
        run_prediction(PredictionJob(path, people / "new.csv"))
    assert run_prediction(PredictionJob(path, people / "new.csv", missing="drop")).labels[3] == -1
    assert run_prediction(PredictionJob(path, people / "new.csv", missing="mean")).labels[3] >= 0


@pytest.mark.parametrize("from_file", [True, False])
@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("many", r"the column 'x' holds 'many' among numbers; correct the cell\.$"),
        ("1e300", r"the column 'x' holds 1e\+300; numbers above 3e\+75 are too large .*; clear the cell if it .*\.$"),
    ],
)
def test_cells_that_cannot_be_used_come_with_remedies_of_a_model(people, cell, words, from_file):
    save_model(fitted(people), people / "m.model")
    frame = pd.read_csv(people / "people.csv").iloc[:9].astype(object)
    frame.loc[8, "x"] = cell if cell == "many" else float(cell)
    if not from_file:
        with pytest.raises(FileFormatError, match=words.replace("clear the cell", "leave out the row")) as caught:
            load_model(people / "m.model").predict(frame if cell == "many" else frame.astype({"x": float}))
    else:
        frame.to_csv(people / "new.csv", index=False)
        with pytest.raises(FileFormatError, match="new.csv, line 10: " + words) as caught:
            run_prediction(PredictionJob(people / "m.model", people / "new.csv"))
    assert not re.search("ignore|categorical|scale", str(caught.value))


def test_codes_stay_categories(people):
    frame = pd.read_csv(people / "people.csv")
    frame["plan"] = frame["plan"].map({"a": "01", "b": "02", "team": "3"})
    frame.to_csv(people / "people.csv", index=False)
    result = fitted(people, categorical=["plan"])
    model = Model.of(result)
    assert model.encoder.text == ("plan",)
    np.testing.assert_array_equal(model.encoder.apply(model.read(people / "people.csv")).X, result.table.X)
    with pytest.raises(FileFormatError, match="'plan' holds numbers, and held text"):
        model.predict(Table.from_frame(pd.read_csv(people / "people.csv")))


def test_new_rows_that_the_model_does_not_know_are_warned_of(people):
    model = Model.of(fitted(people))
    known = pd.DataFrame({"x": [0.0, 5.0], "y": [0.0, 0.0], "plan": ["a", "b"]})
    model.predict(known)
    with pytest.warns(PredictionWarning, match="'plan' has 1 cell with a category that the model does not know"):
        model.predict(known.assign(plan=["a", "new"]))


def test_empty_cells_are_handled_as_the_message_says(people):
    model = Model.of(fitted(people))
    gap = pd.DataFrame({"x": [0.0, np.nan], "y": [0.0, 0.0], "plan": ["a", "b"]})
    with pytest.raises(FileFormatError, match='pass missing="drop" or missing="mean"'):
        model.predict(gap)
    with pytest.warns(PredictionWarning, match="1 row with empty cells left out"):
        assert model.predict(gap, missing="drop")[1] == -1
    with pytest.warns(PredictionWarning, match="1 empty cell filled"):
        assert model.predict(gap, missing="mean")[1] >= 0
    with pytest.raises(OptionError, match="missing must be"):
        model.predict(gap, missing="median")


def test_a_frame_of_polars_is_a_table(people):
    polars = pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    model = Model.of(fitted(people))
    frame = pd.read_csv(people / "people.csv")
    given = polars.DataFrame(frame.to_dict("list"))
    np.testing.assert_array_equal(model.predict(given), model.predict(frame))
    with pytest.raises(TypeError, match=r"pandas or polars DataFrame, .* and this is a polars\..*LazyFrame"):
        model.predict(given.lazy())


def test_things_that_are_no_jobs_are_refused_by_name(people):
    with pytest.raises(TypeError, match="what run_job returned, and this is a dict"):
        save_model({}, people / "m.model")
    with pytest.raises(TypeError, match="run_job takes a Job, and this is a dict"):
        run_job({})


def test_a_table_without_rows_is_refused(people):
    model = Model.of(fitted(people))
    frame = pd.read_csv(people / "people.csv").iloc[:0]
    frame.to_csv(people / "none.csv", index=False)
    for table in (frame, people / "none.csv"):
        with pytest.raises(FileFormatError, match="has no data rows; at least one is needed"):
            model.predict(table)


@pytest.mark.parametrize("method", OTHERS)
def test_methods_that_cannot_predict_are_refused_before_anything_is_read(tmp_path, method):
    with pytest.raises(OptionError, match=f"{method} cannot predict new rows.*; those that can are boost, bckm"):
        run_job(Job(tmp_path / "no.csv", n_clusters=2, method=method, save_model=tmp_path / "m.model"))


def test_a_model_does_not_overwrite_other_files(people):
    for options in ({"save_model": people / "people.csv"}, {"save_model": people / "links.csv"}):
        with pytest.raises(OptionError, match="is an input and would be overwritten"):
            fitted(people, **options)
    with pytest.raises(OptionError, match="The clusters and the model cannot both be written"):
        fitted(people, save_model=people / "a.csv", output=people / "a.csv")
    fitted(people, save_model=people / "m.model")
    with pytest.raises(OptionError, match="is an input and would be overwritten"):
        run_prediction(PredictionJob(people / "m.model", people / "people.csv", output=people / "m.model"))


@pytest.mark.parametrize("name", ["m.xlsx", "m.CSV", "m.html"])
def test_a_model_is_not_called_like_a_table_or_a_page(people, name):
    with pytest.raises(OptionError, match=f"{name}: a model is neither a table nor a page; use another suffix"):
        fitted(people, save_model=people / name)


# Files that are no models


class RunsAProgram:
    def __reduce__(self):
        return os.system, ("echo no",)


@pytest.fixture
def entries(people):
    """The entries of a good model by name, to be changed and written again."""
    fitted(people, save_model=people / "m.model")
    with zipfile.ZipFile(people / "m.model") as file:
        return {entry.filename: file.read(entry) for entry in file.infolist()}


def write_entries(path, entries, kind=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", kind) as file:
        for name, content in entries.items():
            file.writestr(name, content)
    return path


def refused(path, words):
    with pytest.raises(FileFormatError, match=words) as caught:
        load_model(path)
    assert "\n" not in str(caught.value)


def test_a_pickle_is_not_loaded(tmp_path):
    (tmp_path / "m.pkl").write_bytes(pickle.dumps(RunsAProgram()))
    refused(tmp_path / "m.pkl", "m.pkl is a pickle, which could run any program")


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"PK\x03\x04"])
def test_another_file_is_not_a_model(tmp_path, content):
    (tmp_path / "m.model").write_bytes(content)
    refused(tmp_path / "m.model", "is not a model|is damaged or incomplete")


def test_a_file_of_skops_alone_is_not_a_model(tmp_path):
    (tmp_path / "m.skops").write_bytes(skops_io.dumps({"a": 1}))
    refused(tmp_path / "m.skops", "is not a model that mustlink saved")


def test_cut_and_changed_files_are_refused(people, entries):
    whole = (people / "m.model").read_bytes()
    for n_bytes in (5, len(whole) // 2, len(whole) - 1):
        (people / "cut.model").write_bytes(whole[:n_bytes])
        refused(people / "cut.model", "is damaged or incomplete")
    rng = np.random.default_rng(0)
    for _ in range(60):
        changed = bytearray(whole)
        for place in rng.integers(len(whole), size=3):
            changed[place] ^= int(rng.integers(1, 256))
        (people / "changed.model").write_bytes(bytes(changed))
        with contextlib.suppress(FileFormatError):
            load_model(people / "changed.model").predict(people / "people.csv")


def test_types_that_are_not_listed_are_named_and_never_loaded(people, entries, monkeypatch):
    schema = json.loads(entries["schema.json"])
    schema["content"]["content"]["n_init"] = {
        "__class__": "partial",
        "__module__": "functools",
        "__loader__": "PartialNode",
        "content": {
            "func": {
                "__class__": "system",
                "__module__": "os",
                "__loader__": "FunctionNode",
                "content": {"module_path": "os", "function": "system"},
            },
            "args": {"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode", "content": "[]"},
            "kwds": {"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode", "content": "{}"},
            "namespace": {"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode", "content": "null"},
        },
    }
    monkeypatch.setattr(os, "system", lambda _: pytest.fail("a program was run"))
    path = write_entries(people / "bad.model", entries | {"schema.json": json.dumps(schema)})
    refused(path, r"holds what no model of mustlink has \(.*os.system.*\) and was not loaded")


def test_small_files_do_not_unpack_to_large_ones(people, entries):
    zeros = bytes(model_module.MAX_TEXT_BYTES + 1)
    for name in ("mustlink.json", "schema.json", "more.npy"):
        path = write_entries(people / "bomb.model", entries | {name: zeros}, zipfile.ZIP_DEFLATED)
        assert path.stat().st_size < 1_000_000
        refused(path, "would unpack to much more than its own size")


def test_other_formats_and_versions_are_said(people, entries):
    about = json.loads(entries["mustlink.json"])
    newer = about | {"format": 2, "versions": about["versions"] | {"mustlink": "9.0"}}
    path = write_entries(people / "new.model", entries | {"mustlink.json": json.dumps(newer)})
    refused(path, "is a model of format 2, saved by mustlink 9.0, and this is mustlink .*, which reads format 1")
    other = about | {"attributes": ["centers_"]}
    path = write_entries(people / "other.model", entries | {"mustlink.json": json.dumps(other)})
    refused(path, "was saved by mustlink .*, whose PCKMeans is another than that of this mustlink")
    older = about | {"versions": about["versions"] | {"scikit-learn": "1.5.0"}}
    path = write_entries(people / "old.model", entries | {"mustlink.json": json.dumps(older)})
    assert "was made with scikit-learn 1.5.0 (here" in load_model(path).notices[0]


@pytest.mark.parametrize(
    "change",
    [
        {"method": "COPKMeans"},
        {"method": "os"},
        {"clusters": "x"},
        {"encoder": {}},
        {"encoder": {"columns": [], "missing": "error", "dtype": "float64"}},
        {"versions": {}},
        {"format": None},
    ],
)
def test_parts_that_do_not_belong_together_are_refused(people, entries, change):
    about = json.loads(entries["mustlink.json"]) | change
    path = write_entries(people / "odd.model", entries | {"mustlink.json": json.dumps(about)})
    refused(path, "is damaged")


def test_a_model_is_read_without_the_package_only_with_a_sentence(people, entries, monkeypatch):
    monkeypatch.setitem(sys.modules, "skops", None)
    refused(people / "m.model", r"reading models needs skops; install it with: pip install \"mustlink\[model\]\"")
    with pytest.raises(FileFormatError, match="writing models needs skops"):
        fitted(people, save_model=people / "n.model")
    assert not (people / "n.model").exists()
