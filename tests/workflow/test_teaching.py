"""Texts from files, and sittings in which their clusters are criticized."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pandas as pd
import pytest

from mustlink.errors import FileFormatError, OptionError
from mustlink.workflow import Teaching, TextOptions, load_texts
from mustlink.workflow._json_lines import JsonLines
from mustlink.workflow._teaching import letter_of

TOYS = [
    "ball red ball red",
    "ball red ball",
    "ball blue ball blue",
    "ball blue ball",
    "cube red cube",
    "cube red cube red",
    "cube blue cube",
    "cube blue cube blue",
]


@pytest.fixture
def toys(tmp_path):
    path = tmp_path / "toys.txt"
    path.write_text("\n".join(TOYS) + "\n")
    return path


def sitting(path, **options) -> Teaching:
    given = {"n_clusters": 2, **options}
    return Teaching(load_texts(TextOptions(path)), path.with_name("answers.jsonl"), **given)


def partition(teaching):
    return [teaching.letter_of(str(row)) for row in range(8)]


# ---- texts -----------------------------------------------------------------------------------------------------------


def test_lines_files_and_columns_give_the_same_counts(tmp_path, toys):
    folder = tmp_path / "folder"
    folder.mkdir()
    for number, text in enumerate(TOYS):
        (folder / f"{number}.txt").write_text(text)
    (folder / ".hidden").write_text("nothing")
    frame = pd.DataFrame({"title": [f"toy {row}" for row in range(8)], "text": TOYS, "who": list("abcdefgh")})
    frame.to_csv(tmp_path / "toys.csv", index=False)
    frame.to_csv(tmp_path / "toys.tsv.gz", index=False, sep="\t")
    (tmp_path / "zipped.txt.gz").write_bytes(gzip.compress(toys.read_bytes()))
    expected = load_texts(TextOptions(toys))
    assert expected.terms.tolist() == ["ball", "blue", "cube", "red"]
    assert expected.names == [str(row) for row in range(8)]
    for options in (
        TextOptions(folder),
        TextOptions(tmp_path / "zipped.txt.gz"),
        TextOptions(tmp_path / "toys.csv", title_column="title", id_column="who"),
        TextOptions(tmp_path / "toys.tsv.gz", text_column="text"),
    ):
        found = load_texts(options)
        np.testing.assert_array_equal(found.counts.toarray(), expected.counts.toarray())
    table = load_texts(TextOptions(tmp_path / "toys.csv", title_column="title", id_column="who"))
    assert (table.names[2], table.titles[2], table.name_title) == ("c", "toy 2", "who")
    assert load_texts(TextOptions(folder)).names[0] == "0.txt"
    # A .txt file with a column is a table.
    frame[["who", "text"]].to_csv(tmp_path / "table.txt", index=False)
    assert load_texts(TextOptions(tmp_path / "table.txt", text_column="text")).texts == TOYS


def test_words_are_counted_as_asked(tmp_path):
    path = tmp_path / "t.txt"
    path.write_text("The cat and the dog 1993\nthe dog, the owl\nowl_7 cat\n")
    assert load_texts(TextOptions(path)).terms.tolist() == ["cat", "dog"]
    everything = load_texts(TextOptions(path, stop_words="none", min_df=1))
    assert everything.terms.tolist() == ["and", "cat", "dog", "owl", "the"]


def test_texts_without_words_are_in_no_cluster(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("who,text\na,red ball\nb,\nc,red ball cube\nd,12 34\ne,cube red\n", encoding="utf-8")
    texts = load_texts(TextOptions(path))
    assert texts.rows.tolist() == [0, 2, 4]
    assert texts.notices[-1] == "2 texts have no word that counts, and are left out."
    teaching = Teaching(texts, tmp_path / "a.jsonl", n_clusters=2)
    teaching.write(tmp_path / "out.csv")
    assert pd.read_csv(tmp_path / "out.csv")["cluster"].isna().tolist() == [False, True, False, True, False]
    with pytest.raises(OptionError, match="The text 1 has no word that counts, and is in no cluster"):
        teaching.answer("belongs", ["1"], ["A"])


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("title,body\na,b\n", {}, "has no column 'text'; its columns are title, body; name the column of the texts"),
        ("title,text\na,b\n", {"text_column": "txt"}, r"has no column 'txt' \('txt' may be 'text'\)"),
        ("title,text\na,b c\n", {"title_column": "name"}, "has no column 'name'"),
        ("text,id\nred ball,1\nred ball,1\n", {"id_column": "id"}, "the id '1' occurs in"),
        ("title,text\na,\nb,\n", {"text_column": "text"}, "has no texts"),
        ("text\nred\nblue\n", {}, "no word occurs in 2 texts or more; reduce min_df"),
        ("text\nthe\nand\n", {}, "no word occurs in 2 texts or more"),
    ],
)
def test_tables_without_texts_are_refused(tmp_path, content, options, message):
    path = tmp_path / "t.csv"
    path.write_text(content)
    with pytest.raises(FileFormatError, match=message):
        load_texts(TextOptions(path, **options))


def test_what_is_no_text_is_refused(tmp_path, toys):
    with pytest.raises(OptionError, match="has one text in each line, and has no column 'title'"):
        load_texts(TextOptions(toys, title_column="title"))
    with pytest.raises(OptionError, match="is a folder of texts, and has no column 'body'"):
        load_texts(TextOptions(tmp_path, text_column="body"))
    (tmp_path / "image.txt").write_bytes(b"\x89PNG\0\0\0")
    with pytest.raises(FileFormatError, match="is no text"):
        load_texts(TextOptions(tmp_path / "image.txt"))
    (tmp_path / "odd.txt").write_bytes(b"caf\xe9 cr\xe8me\ncaf\xe9\n")
    assert load_texts(TextOptions(tmp_path / "odd.txt")).terms.tolist() == ["café"]
    with pytest.raises(FileFormatError, match="is not written in utf-8"):
        load_texts(TextOptions(tmp_path / "odd.txt", encoding="utf-8"))
    with pytest.raises(OptionError, match="min_df must be at least 1"):
        TextOptions(toys, min_df=0)
    with pytest.raises(FileNotFoundError):
        load_texts(TextOptions(tmp_path / "none.txt"))


# ---- sittings --------------------------------------------------------------------------------------------------------


def test_clusters_are_described_by_words_and_texts(toys):
    clusters = sitting(toys).clusters()
    assert [cluster.letter for cluster in clusters] == ["A", "B"]
    assert [cluster.size for cluster in clusters] == [4, 4]
    assert {cluster.terms[0] for cluster in clusters} == {"ball", "cube"}
    shown = [text.name for cluster in clusters for text in cluster.typical]
    assert sorted(shown) == [str(row) for row in range(8)]


def test_answers_change_the_clusters_and_are_saved_at_once(toys):
    teaching = sitting(toys)
    assert not teaching.path.exists()
    teaching.answer("cannot_link", ["0", "2"])
    lines = [json.loads(line) for line in teaching.path.read_text().splitlines()]
    assert lines[0].keys() == {"teach", "seed", "texts"}
    assert lines[1:] == [{"kind": "cannot_link", "texts": ["0", "2"], "clusters": []}]
    assert teaching.unsatisfied() == ("0 and 2 should be in different clusters",)
    teaching.answer("must_link", ["0", "4"])
    assert teaching.n_new == 2
    before = partition(teaching)
    changed = teaching.refit()
    assert teaching.n_new == 0
    assert changed.unsatisfied == ()
    assert [(move.text.name, move.before) for move in changed.moved] == [
        (str(row), letter) for row, letter in enumerate(before) if letter != partition(teaching)[row]
    ]
    assert {change.term for change in changed.risen} == {"blue", "red"}
    assert {change.term for change in changed.fallen} == {"ball", "cube"}
    assert all(change.after > change.before for change in changed.risen)
    assert teaching.term_weights()[0][1] == max(weight for _, weight in teaching.term_weights())


def test_a_new_sitting_continues_where_the_last_one_was(toys):
    first = sitting(toys)
    first.answer("cannot_link", ["0", "2"])
    first.refit()
    first.answer("move", ["6"], ["b"])
    second = sitting(toys)
    assert (second.n_known, second.n_new) == (2, 1)
    assert partition(second) == partition(first)
    assert second.unsatisfied() == first.unsatisfied()
    assert partition(second) == partition(first)
    assert second.refit() == first.refit()
    assert partition(sitting(toys)) == partition(first)


def test_without_open_answers_nothing_is_clustered_or_saved(toys):
    teaching = sitting(toys)
    before = partition(teaching)
    assert not teaching.has_open_answers
    assert teaching.refit().moved == ()
    assert not teaching.path.exists()
    teaching.answer("good", clusters=["A"])
    assert teaching.has_open_answers
    teaching.refit()
    saved = teaching.path.read_bytes()
    assert not teaching.has_open_answers
    teaching.refit()
    assert teaching.path.read_bytes() == saved
    assert partition(teaching) == partition(sitting(toys)) == before


def test_a_line_cut_short_is_removed(toys):
    teaching = sitting(toys)
    teaching.answer("cannot_link", ["0", "2"])
    whole = teaching.path.read_bytes()
    teaching.path.write_bytes(whole + b'{"kind": "must_li')
    again = sitting(toys)
    assert again.n_known == 1
    assert "cut short" in again.notices[-1]
    assert teaching.path.read_bytes() == whole


def test_undo_takes_back_answers_and_refits(toys):
    teaching = sitting(toys)
    assert not teaching.undo()
    start = partition(teaching)
    teaching.answer("cannot_link", ["0", "2"])
    teaching.answer("must_link", ["0", "4"])
    teaching.refit()
    end = partition(teaching)
    assert end != start
    assert teaching.undo()
    assert (partition(teaching), teaching.n_new) == (start, 2)
    teaching.refit()
    assert partition(teaching) == end
    assert teaching.undo() == "the last go"
    assert teaching.undo() == "0 and 4 should be in one cluster"
    assert teaching.undo() == "0 and 2 should be in different clusters"
    assert teaching.undo() is None
    assert (partition(teaching), teaching.n_answers) == (start, 0)


def test_answers_about_other_clusters_are_refused(toys, tmp_path):
    teaching = sitting(toys)
    teaching.answer("good", clusters=["A"])
    with pytest.raises(OptionError, match="are about 2 clusters, not 3; use the same options"):
        sitting(toys, n_clusters=3)
    with pytest.raises(OptionError, match="of the seed 0, not 1"):
        sitting(toys, random_state=1)
    toys.write_text("\n".join([*TOYS, "cube ball"]))
    with pytest.raises(OptionError, match="are about other texts"):
        sitting(toys)
    teaching.path.write_text('{"a": 1}\n')
    with pytest.raises(FileFormatError, match="is not a file of answers"):
        sitting(toys)
    teaching.path.write_text("a,b\n")
    with pytest.raises(FileFormatError, match="line 1: a JSON object is expected"):
        sitting(toys)


def test_answers_that_do_not_fit_are_named_by_their_line(toys):
    teaching = sitting(toys)
    teaching.answer("good", clusters=["A"])
    with teaching.path.open("a") as stream:
        stream.write('{"kind": "bad", "clusters": ["Q"]}\n')
    with pytest.raises(FileFormatError, match="line 3: There is no cluster 'Q'"):
        sitting(toys)


def test_other_clusters_on_repetition_are_noted(toys):
    teaching = sitting(toys)
    teaching.answer("good", clusters=["A"])
    teaching.refit()
    content = teaching.path.read_text().replace('{"refit": "', '{"refit": "0')
    teaching.path.write_text(content)
    assert "differ from those of the earlier sitting" in sitting(toys).notices[-1]


@pytest.mark.parametrize(
    ("kind", "texts", "clusters", "message"),
    [
        ("must_link", ["0", "99"], [], "There is no text '99'; the texts are called 0 to 7"),
        ("must_link", ["3", "3"], [], "Two different texts are needed; got 3 twice"),
        ("merge", [], ["A", "a"], "Two different clusters are needed; got A twice"),
        ("move", ["0"], ["a"], "The text 0 is in A already"),
        ("good", [], ["C"], "There is no cluster 'C'; the clusters are A, B"),
    ],
)
def test_answers_about_nothing_are_refused_and_not_saved(toys, kind, texts, clusters, message):
    teaching = sitting(toys)
    with pytest.raises(OptionError, match=message):
        teaching.answer(kind, texts, clusters)
    assert not teaching.path.exists()


def test_files_in_the_way_are_refused(toys, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("text\n" + toys.read_text())
    texts = load_texts(TextOptions(path))
    with pytest.raises(OptionError, match="has the texts and would be overwritten"):
        Teaching(texts, path, n_clusters=2)
    with pytest.raises(OptionError, match="9 clusters cannot be made of the 8 texts"):
        Teaching(texts, tmp_path / "a.jsonl", n_clusters=9)
    teaching = Teaching(texts, tmp_path / "a.jsonl", n_clusters=2)
    with pytest.raises(OptionError, match="is an input and would be overwritten"):
        teaching.check_output(path)
    with pytest.raises(FileFormatError, match=r"\.npy is none of them"):
        teaching.check_output(tmp_path / "out.npy")
    with pytest.raises(OptionError, match="not a file that answers can be added to"):
        JsonLines(tmp_path / "a.jsonl.gz")


def test_letters_go_on_after_z():
    assert [letter_of(number) for number in (0, 25, 26, 27, 701, 702)] == ["A", "Z", "AA", "AB", "ZZ", "AAA"]
