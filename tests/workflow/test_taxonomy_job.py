"""Texts and their categories from files, and the categories that are found."""

from __future__ import annotations

import json
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest

from mustlink.errors import FileFormatError, OptionError
from mustlink.workflow import (
    PredictionJob,
    TaxonomyJob,
    TextModel,
    TextOptions,
    load_model,
    load_texts,
    run_prediction,
    run_taxonomy,
)

WORDS = {"music": ["guitar", "song", "band", "drum"], "sport": ["goal", "team", "ball", "match"]}
SMALL = {"min_df": 1, "min_cluster_size": 3, "words_init": 9, "words_final": 6}


def make_texts(n_each=10, seed=0):
    """Return texts of two topics, in turns, and their topics."""
    rng = np.random.default_rng(seed)
    topics = list(WORDS) * n_each
    return [" ".join([*rng.choice(WORDS[topic], 6), "today"]) for topic in topics], topics


@pytest.fixture
def notes(tmp_path):
    """Twenty texts; every second one has a category, and text 3 has the wrong one."""
    texts, topics = make_texts()
    given = [topic if row % 4 < 2 else "" for row, topic in enumerate(topics)]
    given[3] = "music"
    frame = pd.DataFrame({"nr": [f"n{row:02}" for row in range(20)], "text": texts, "topic": given, "truth": topics})
    frame.to_csv(tmp_path / "notes.csv", index=False)
    return tmp_path


def run(folder, *given, **options):
    return run_taxonomy(TaxonomyJob(folder / "notes.csv", *given, **{**SMALL, **options}))


def test_a_column_of_categories(notes):
    result = run(notes, category_column="topic")
    truth = pd.read_csv(notes / "notes.csv")["truth"].tolist()
    assert result.frame["category"].tolist() == truth
    assert result.summary.headline == "20 documents in 2 categories."
    assert result.summary.about_given.endswith("Of the 11 documents with a given category, 1 moved to another one.")
    moved = result.summary.moved[0]
    assert (moved.name, moved.given, moved.category) == ("3", "music", "sport")
    assert {*WORDS["sport"], "today"} >= set(moved.words) > {"goal"}
    assert result.labels.tolist() == [truth[0] != topic for topic in truth]


def test_the_frame_says_how_sure_a_category_is(notes):
    frame = run(notes, category_column="topic", id_column="nr", title_column="truth").frame
    assert list(frame) == ["nr", "given", "category", "similarity", "runner_up", "margin", "contested", "title"]
    assert frame["nr"].tolist()[:2] == ["n00", "n01"]
    assert (frame["similarity"] > 0.3).all()
    shared = frame.dropna(subset="runner_up")
    assert (shared["runner_up"] != shared["category"]).all()
    assert frame["given"].isna().sum() == 9


def write_labels(folder, rows, *, key="nr", name="labels.csv"):
    truth = pd.read_csv(folder / "notes.csv")["truth"]
    keys = {"nr": [f"n{row:02}" for row in rows], "row": list(rows)}
    columns = {} if key is None else {key: keys.get(key, keys["nr"])}
    pd.DataFrame({**columns, "label": truth[list(rows)].tolist()}).to_csv(folder / name, index=False)
    return folder / name


@pytest.mark.parametrize("key", ["nr", "row"])
@pytest.mark.parametrize("rows", [range(20), range(19, -1, -1), [8, 3, 1, 2, 0]])
def test_a_file_by_ids_or_numbers_in_any_order(notes, key, rows):
    path = write_labels(notes, rows, key=key)
    result = run(notes, path)
    truth = pd.read_csv(notes / "notes.csv")["truth"].tolist()
    assert result.given == [truth[row] if row in rows else "" for row in range(20)]
    assert result.texts.name_title == ("nr" if key == "nr" else "row")
    assert result.summary.notices == ()


def test_a_file_in_the_order_of_the_texts(notes):
    path = write_labels(notes, range(20), key=None)
    result = run(notes, path)
    assert result.given == pd.read_csv(notes / "notes.csv")["truth"].tolist()
    assert result.summary.notices == (f"The rows of {path} are taken to be in the order of {notes / 'notes.csv'}.",)


def test_another_order_under_another_name_is_refused(notes):
    path = write_labels(notes, range(19, -1, -1), key="number")
    with pytest.raises(FileFormatError, match=r"'number' holds the values of the column 'nr' .* in another order"):
        run(notes, path)


def test_lines_and_a_folder(notes):
    texts = pd.read_csv(notes / "notes.csv")["text"]
    (notes / "notes.txt").write_text("\n".join(texts))
    by_row = run_taxonomy(TaxonomyJob(notes / "notes.txt", write_labels(notes, [0, 1, 2, 3], key="row"), **SMALL))
    assert by_row.summary.headline == "20 documents in 2 categories."
    folder = notes / "texts"
    folder.mkdir()
    for row, text in enumerate(texts):
        (folder / f"{row:02}.txt").write_text(text)
    labels = pd.read_csv(notes / "labels.csv")
    pd.DataFrame({"name": [f"{row:02}.txt" for row in labels["row"]], "category": labels["label"]}).to_csv(
        notes / "files.csv", index=False
    )
    by_file = run_taxonomy(TaxonomyJob(folder, notes / "files.csv", **SMALL))
    assert by_file.given == by_row.given
    assert by_file.frame["file"].tolist()[:2] == ["00.txt", "01.txt"]
    labels[["label"]].to_csv(notes / "names.csv", index=False)
    with pytest.raises(FileFormatError, match="no column of the names of files"):
        run_taxonomy(TaxonomyJob(folder, notes / "names.csv", **SMALL))


def test_files_are_written_as_the_table_is(tmp_path):
    texts, topics = make_texts()
    lines = [
        f"{text} é;{topic if row % 2 else ''}" for row, (text, topic) in enumerate(zip(texts, topics, strict=True))
    ]
    lines[0] = f"{texts[0]};music"
    lines[2] = f"{texts[2]};music"
    (tmp_path / "notes.csv").write_bytes("\r\n".join(["text;topic", *lines, ""]).encode("cp1252"))
    job = TaxonomyJob(
        tmp_path / "notes.csv",
        category_column="topic",
        output=tmp_path / "out.csv",
        report=tmp_path / "r.html",
        **SMALL,
    )
    run_taxonomy(job, command="mustlink taxonomy notes.csv")
    content = (tmp_path / "out.csv").read_bytes().decode("cp1252")
    assert content.startswith("row;given;category;similarity;runner_up;margin;contested;title\r\n0;music;music;")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<h1>Categories of notes.csv</h1>" in page
    assert "mustlink taxonomy notes.csv" in page
    assert "guitar" in page


def test_texts_without_words_have_no_category(notes):
    with (notes / "notes.csv").open("a") as file:
        file.write("n20,1 2 3,,sport\n")
    result = run(notes, category_column="topic")
    assert result.labels[-1] == -1
    assert result.frame.iloc[-1][["category", "similarity", "runner_up", "margin", "contested"]].isna().all()
    assert "1 text has no word that counts, and is left out." in result.summary.notices


def test_outliers_are_in_none(notes):
    with (notes / "notes.csv").open("a") as file:
        file.write("n20,zebra zebra,,sport\nn21,zebra goal,,sport\n")
    result = run(notes, category_column="topic")
    assert result.labels[-2:].tolist() == [-1, 1]
    assert result.summary.headline == "22 documents in 2 categories; 1 is in none."
    assert result.frame.iloc[-2][["category", "similarity", "runner_up", "margin", "contested"]].isna().all()


def test_single_categories_are_refused_or_dropped(notes):
    frame = pd.read_csv(notes / "notes.csv")
    frame.loc[[2, 3], "topic"] = ["cooking", "dance"]
    frame.to_csv(notes / "notes.csv", index=False)
    with pytest.raises(FileFormatError, match=r"2 categories \(cooking, dance\) have one text each, .* single="):
        run(notes, category_column="topic")
    result = run(notes, category_column="topic", single="drop")
    assert result.given[2:4] == ["", ""]
    assert any("(cooking, dance) have one text each, and were left out" in note for note in result.summary.notices)


def test_removed_categories_are_noted(tmp_path):
    texts = [*["guitar song"] * 8, *["goal team"] * 8, "pan pan guitar song", "pan pan guitar"]
    topics = [*["music"] * 8, *["sport"] * 8, *["cooking"] * 2]
    pd.DataFrame({"text": texts, "topic": topics}).to_csv(tmp_path / "notes.csv", index=False)
    result = run(tmp_path, category_column="topic", words_final=2, gini_drop=0.0)
    statuses = {one.name: str(one) for one in result.summary.given}
    assert statuses == {"cooking": "removed, most documents are in music", "music": "kept", "sport": "kept"}
    assert result.summary.notices == (
        "1 given category was removed, with fewer than 3 documents: cooking; reduce min_cluster_size.",
    )
    more = run(tmp_path, category_column="topic").summary.notices[-1]
    assert more == "Only 5 words are used, and a category may have 6, so that none is left out of a category."


@pytest.mark.parametrize(
    ("topics", "sentence"),
    [
        (["", "-1", ""], "is empty throughout, and no text has a category; fill some cells"),
        (["a", "", "a"], "has one category only, a; at least two are needed"),
        (["a", "b", "c"], "has another category for every text, such as 'a'"),
    ],
)
def test_useless_categories_are_refused(tmp_path, topics, sentence):
    pd.DataFrame({"text": ["red ball", "blue ball", "blue cube"], "topic": topics}).to_csv(
        tmp_path / "notes.csv", index=False
    )
    with pytest.raises(FileFormatError, match=sentence):
        run(tmp_path, category_column="topic")


def test_a_category_without_words_is_named(tmp_path):
    texts = ["red ball", "red ball", "blue cube", "blue cube", "77", "99"]
    pd.DataFrame({"text": texts, "topic": list("aabbcc")}).to_csv(tmp_path / "notes.csv", index=False)
    with pytest.raises(FileFormatError, match=r"no text of the category 'c' has a word that counts; reduce min_df, or"):
        run(tmp_path, category_column="topic")


def test_categories_of_other_texts_are_refused(notes):
    write_labels(notes, [0, 1, 2, 3])
    with (notes / "labels.csv").open("a") as file:
        file.write("x1,music\nx2,sport\n")
    with pytest.raises(FileFormatError, match=r"2 entries of the column 'nr' are not among the texts: x1, x2; pass"):
        run(notes, notes / "labels.csv")
    result = run(notes, notes / "labels.csv", unknown_ids="skip")
    assert result.summary.notices[0].endswith("are not among the texts: x1, x2; they were skipped.")
    (notes / "others.csv").write_text("nr,label\nx1,music\nx2,sport\n")
    with pytest.raises(FileFormatError, match=r"no value of the column 'nr' is an id of the texts; the first is 'x1'"):
        run(notes, notes / "others.csv")
    (notes / "short.csv").write_text("label\nmusic\nsport\n")
    with pytest.raises(FileFormatError, match=r"has 2 rows and .* has 20 texts"):
        run(notes, notes / "short.csv")
    (notes / "notes.txt").write_text("a goal\na song\na team\n")
    with pytest.raises(FileFormatError, match=r"has 2 rows and .* has 3 texts, .*a column 'row' with the numbers"):
        run_taxonomy(TaxonomyJob(notes / "notes.txt", notes / "short.csv", **SMALL))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"theta": 1.0}, "The factor of the number of words is 1, and must be more than 0 and less than 1"),
        ({"words_init": 10}, "start with 10 words and end with 200, .* change words_init"),
        ({"words_final": 900}, "start with 500 words and end with 900, .* change words_final"),
        ({"min_cluster_size": 0}, "The minimum size of a category is 0, and must be at least 1"),
        ({"gini_drop": 1.5}, "The share of words that are dropped is 1.5"),
        ({"outlier_threshold": float("nan")}, "is nan, and must be at least 0 and less than 1"),
        ({"n_candidates": 0}, "is 0, and must be at least 1; change"),
        ({"merge_threshold": float("inf")}, "is inf, and must be at least 0; change"),
        ({"single": "keep"}, "Single is 'keep'"),
        ({"unknown_ids": "keep"}, "unknown_ids must be"),
        ({"min_df": 0}, "min_df must be at least 1"),
    ],
)
def test_numbers_out_of_range_are_refused(options, sentence):
    with pytest.raises(OptionError, match=sentence):
        TaxonomyJob("notes.csv", category_column="topic", **options)


def test_misuse(notes):
    with pytest.raises(OptionError, match="No categories are given; pass a file"):
        run(notes)
    with pytest.raises(TypeError, match="takes a TaxonomyJob, and this is a TextOptions"):
        run_taxonomy(TextOptions(notes / "notes.csv"))
    with pytest.raises(OptionError, match=r"All categories were removed .*; reduce min_cluster_size\.$"):
        run(notes, category_column="topic", min_cluster_size=50)
    with pytest.raises(OptionError, match=r"reduce min_cluster_size, or reduce outlier_threshold\.$"):
        run(notes, category_column="topic", min_cluster_size=50, outlier_threshold=0.1)
    with pytest.raises(OptionError, match="is an input and would be overwritten"):
        run(notes, category_column="topic", output=notes / "notes.csv")


def test_a_huge_vocabulary_is_refused(notes, monkeypatch):
    monkeypatch.setattr("mustlink.workflow._texts.MAX_WORDS", 5)
    with pytest.raises(FileFormatError, match=r"9 different words occur in 1 text or more, and at most 5 .* min_df"):
        run(notes, category_column="topic")


def test_texts_with_further_columns(notes):
    texts = load_texts(TextOptions(notes / "notes.csv"), more=["topic", "text"])
    assert texts.more["topic"][:4] == ["music", "sport", "", "music"]
    assert texts.more["text"] == texts.texts


@pytest.fixture
def model(notes):
    pytest.importorskip("skops")
    run(notes, category_column="topic", id_column="nr", save_model=notes / "notes.model")
    return notes / "notes.model"


def test_a_saved_model_puts_texts_into_the_same_categories(notes, model):
    result = run(notes, category_column="topic", id_column="nr")
    loaded = load_model(model)
    assert isinstance(loaded, TextModel)
    assert (loaded.categories, loaded.n_texts, loaded.id_column) == (("music", "sport"), 20, "nr")
    assert loaded.predict(result.texts.texts) == result.frame["category"].tolist()
    assert loaded.predict(["a song", "", "GOAL!", "zebra"]) == ["music", None, "sport", None]


def test_new_texts_from_files(notes, model):
    job = PredictionJob(model, notes / "notes.csv", output=notes / "new.csv")
    found = run_prediction(job)
    written = pd.read_csv(notes / "new.csv")
    assert list(written) == ["nr", "category", "similarity", "runner_up", "margin", "title"]
    assert written["category"].tolist() == pd.read_csv(notes / "notes.csv")["truth"].tolist()
    assert found.sizes == {0: 10, 1: 10}
    (notes / "new.txt").write_text("a goal of the team\nzebra\n")
    lines = run_prediction(PredictionJob(model, notes / "new.txt"))
    assert lines.labels.tolist() == [1, -1]
    assert lines.notices == ("1 text has no word of any category, and no category.",)
    (notes / "gaps.txt").write_text("\na goal\n \n\na song\n\n")
    gaps = run_prediction(PredictionJob(model, notes / "gaps.txt"))
    assert gaps.labels.tolist() == [1, 0]
    assert gaps.notices == ("3 empty lines were skipped; texts are numbered without empty lines.",)
    (notes / "other.csv").write_text("text\na song\n")
    other = run_prediction(PredictionJob(model, notes / "other.csv"))
    assert other.frame["row"].tolist() == ["0"]
    assert other.notices == ("other.csv has no id column 'nr'; its texts are numbered from 0.",)


def test_new_texts_below_the_outlier_threshold(notes):
    pytest.importorskip("skops")
    job = {"category_column": "topic", "outlier_threshold": 0.6, "save_model": notes / "notes.model"}
    run(notes, **job)
    (notes / "new.txt").write_text("guitar song band drum\nzebra\ndrum\n")
    found = run_prediction(PredictionJob(notes / "notes.model", notes / "new.txt"))
    assert found.labels.tolist() == [0, -1, -1]
    assert found.notices == (
        "1 text has no word of any category, and no category.",
        "1 text has no category, with a cosine to each that is below the outlier threshold of the model, 0.6.",
    )
    assert found.frame.loc[1:, ["category", "similarity", "runner_up", "margin"]].isna().all(axis=None)


def test_options_of_tables_are_refused_with_texts(notes, model):
    for option in ({"missing": "mean"}, {"keep_columns": True}, {"decimal": ","}):
        with pytest.raises(OptionError, match=r"is a model of texts; leave out \w+"):
            run_prediction(PredictionJob(model, notes / "notes.csv", **option))
    with pytest.raises(FileFormatError, match=r"categories are written as \.csv"):
        run_prediction(PredictionJob(model, notes / "notes.csv", output=notes / "new.npy"))
    (notes / "empty.csv").write_text("text,nr\n,a\n")
    with pytest.raises(FileFormatError, match="has no texts"):
        run_prediction(PredictionJob(model, notes / "empty.csv"))


@pytest.mark.parametrize("part", ["terms", "categories"])
def test_a_changed_model_is_refused(notes, model, part):
    changed = notes / "changed.model"
    with ZipFile(model) as old, ZipFile(changed, "w") as new:
        for entry in old.infolist():
            content = old.read(entry)
            if entry.filename == "mustlink.json":
                about = json.loads(content)
                about["texts"][part].append("zebra")
                content = json.dumps(about).encode()
            new.writestr(entry, content)
    with pytest.raises(FileFormatError, match="its clusterer and its words do not belong together"):
        load_model(changed)


def test_a_model_of_texts_without_its_words_is_refused(notes, model):
    changed = notes / "changed.model"
    with ZipFile(model) as old, ZipFile(changed, "w") as new:
        for entry in old.infolist():
            content = old.read(entry)
            if entry.filename == "mustlink.json":
                about = json.loads(content)
                del about["texts"]
                content = json.dumps(about).encode()
            new.writestr(entry, content)
    with pytest.raises(FileFormatError, match="damaged"):
        load_model(changed)
