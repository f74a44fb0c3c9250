"""Files of questions."""

from __future__ import annotations

import pytest

from mustlink._atomic import StagedFiles
from mustlink.errors import ConstraintError, FileFormatError
from mustlink.tables import read_questions, stage_questions


@pytest.mark.parametrize("name", ["q.csv", "q.tsv", "q.txt", "q"])
def test_questions_survive_a_file(tmp_path, name):
    path = tmp_path / name
    with StagedFiles() as files:
        stage_questions(files, path, [("x,1", "y", 0.51, True), ("z", "x,1", 0.49, False)])
    assert read_questions(path, ["x,1", "y", "z"], 3) == [(0, 1), (2, 0)]


def test_rows_by_number_and_other_columns(tmp_path):
    path = tmp_path / "q.csv"
    path.write_text("why,B,a\nx,2,0\n")
    assert read_questions(path, None, 3) == [(0, 2)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,c\n0,1\n", "and b is missing; questions have a and b"),
        ("a,b\n0,0\n", "line 2: asks about 0 and itself"),
        ("a,b\n0,3\n", "line 2: there is no row 3 in the table; its rows are 0 to 2"),
        ("a,b\n0,x\n", "line 2: 'x' is not a row number"),
    ],
)
def test_bad_questions_are_sentences(tmp_path, text, words):
    path = tmp_path / "q.csv"
    path.write_text(text)
    with pytest.raises((ConstraintError, FileFormatError), match=words):
        read_questions(path, None, 3)


def test_unknown_ids_and_suffixes(tmp_path):
    path = tmp_path / "q.csv"
    path.write_text("a,b\nu,w\n")
    with pytest.raises(ConstraintError, match="line 2: there is no row with the id 'w' in the table"):
        read_questions(path, ["u", "v"], 2)
    with pytest.raises(FileFormatError, match=r"written as \.csv, \.tsv or \.txt"), StagedFiles() as files:
        stage_questions(files, tmp_path / "q.xlsx", [])
