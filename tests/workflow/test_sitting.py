"""Questions, answers and undo, without the terminal."""

from __future__ import annotations

import errno

import pytest

from mustlink import Constraints
from mustlink.errors import ConstraintError, OptionError
from mustlink.workflow import STRATEGIES, RowComparison, Sitting, TableOptions, load_table
from mustlink.workflow._answer_file import AnswerFile


@pytest.fixture
def table(shop):
    return load_table(TableOptions(shop / "shop.csv", id_column="who", ignore=["kind", "note"]))


def answer_by_group(sitting, limit=100):
    for _ in range(limit):
        if sitting.question is None:
            return
        a, b = sitting.question
        sitting.answer(a % 3 == b % 3)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_answers_are_links(shop, table, strategy):
    sitting = Sitting(table, shop / "new.csv", n_clusters=3, strategy=strategy)
    answer_by_group(sitting, 6)
    links, _ = table.read_links(shop / "new.csv")
    assert len(links) == sitting.counts.together + sitting.counts.apart == sitting.n_asked > 2
    assert links.violation_rate([row % 3 for row in range(30)]) == 0
    assert sitting.has_links


def test_the_first_strategy_to_try_is_the_default(shop, table):
    """The guide recommends MinMax."""
    default = Sitting(table, shop / "default.csv", n_clusters=3)
    minmax = Sitting(table, shop / "minmax.csv", n_clusters=3, strategy="minmax")
    for _ in range(12):
        assert default.question == minmax.question
        for sitting in (default, minmax):
            sitting.tell(*sitting.question, sitting.question.a % 3 == sitting.question.b % 3)


def test_a_new_sitting_continues(shop, table):
    first = Sitting(table, shop / "new.csv", n_clusters=3)
    answer_by_group(first, 5)
    second = Sitting(table, shop / "new.csv", n_clusters=3)
    assert second.n_known_links == 5
    answer_by_group(second)
    assert second.question is None
    assert second.n_groups_found == 3
    pairs = [frozenset(line.split(",")[:2]) for line in (shop / "new.csv").read_text().splitlines()[1:]]
    assert len(set(pairs)) == len(pairs)


def test_undo_reaches_the_file_but_not_the_sitting_before(shop, table):
    answer_by_group(Sitting(table, shop / "new.csv", n_clusters=3), 1)
    before = (shop / "new.csv").read_text()
    sitting = Sitting(table, shop / "new.csv", n_clusters=3)
    question = sitting.question
    sitting.answer(True)
    assert sitting.question != question
    sitting.answer(None)
    assert sitting.undo().together is None
    assert sitting.undo().together is True
    assert sitting.undo() is None
    assert sitting.question == question
    assert (shop / "new.csv").read_text() == before


def test_a_second_answer_to_a_question_is_refused_and_not_saved(shop, table):
    sitting = Sitting(table, shop / "new.csv", n_clusters=3)
    a, b = sitting.question
    sitting.answer(True)
    saved = (shop / "new.csv").read_text()
    with pytest.raises(RuntimeError, match="No question was shown since the last answer"):
        sitting.answer(False)
    assert (shop / "new.csv").read_text() == saved
    assert sitting.constraints == Constraints(must_link=[(a, b)])


def test_any_two_rows_can_be_told(shop, table):
    sitting = Sitting(table, shop / "new.csv", n_clusters=3)
    sitting.tell(0, 3, True)
    sitting.tell(1, 0, False)
    assert sitting.counts == (1, 1, 0)
    assert sitting.constraints == Constraints(must_link=[(0, 3)], cannot_link=[(0, 1)])
    for a, b in ((4, 4), (0, 30), (-1, 2)):
        with pytest.raises(ConstraintError, match=r"Row|row"):
            sitting.tell(a, b, True)
    assert (shop / "new.csv").read_text() == "a,b,link\nc00,c03,must\nc01,c00,cannot\n"


def test_an_answer_that_cannot_be_saved_does_not_count(shop, table, monkeypatch):
    sitting = Sitting(table, shop / "new.csv", n_clusters=3)
    question = sitting.question

    def full(*answer):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(sitting._file, "append", full)
    with pytest.raises(OSError, match="No space"):
        sitting.answer(True)
    assert sitting.n_asked == 0
    assert sitting.question == question


def test_an_unknown_strategy_is_refused_before_a_file_is_made(shop, table):
    with pytest.raises(
        OptionError, match="There is no strategy 'luck'; the strategies are cobras, consolidate, explore"
    ):
        Sitting(table, shop / "new.csv", n_clusters=3, strategy="luck")
    assert not (shop / "new.csv").exists()


def test_columns_that_are_ignored_can_be_shown(shop, table):
    options = TableOptions(shop / "shop.csv", id_column="who", ignore=["kind", "note"])
    shown = RowComparison(options, table, ["note", "visits"]).compare(0, 4)
    assert [pair.name for pair in shown] == ["note", "visits"]
    assert (shown[0].first, shown[0].second) == ("text 0", "text 4")


def test_names_with_separators_are_quoted(tmp_path):
    file = AnswerFile(tmp_path / "l.tsv")
    file.append("a\tb", 'say "no"', True)
    file.append("c,d", "e", False)
    links = Constraints.read(file.path, ids=["a\tb", 'say "no"', "c,d", "e"])
    assert links == Constraints(must_link=[(0, 1)], cannot_link=[(2, 3)])


@pytest.mark.parametrize("name", ["new.xlsx", "new.parquet", "new.npy"])
def test_answers_are_text_and_refuse_other_formats(shop, table, name):
    with pytest.raises(OptionError, match=r"a .csv, .tsv or .txt file, and \.\w+ is none of them"):
        Sitting(table, shop / name, n_clusters=3)
    assert not (shop / name).exists()


def test_a_sitting_refuses_a_number_of_clusters_in_words(shop, table):
    with pytest.raises(OptionError, match="n_clusters must be a whole number"):
        Sitting(table, shop / "new.csv", n_clusters="3")


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(("a", "b"), [("c00", "c03"), ("c03", "c06"), ("c00", "c06")])
def test_links_against_labels_do_not_stop_a_sitting(shop, strategy, a, b):
    table = load_table(TableOptions(shop / "shop.csv", id_column="who", ignore=["note"], label_column="kind"))
    (shop / "new.csv").write_text(f"a,b,link\n{a},{b},cannot\n")
    sitting = Sitting(table, shop / "new.csv", n_clusters=3, strategy=strategy)
    answer_by_group(sitting, 3)
    assert len(table.read_links(shop / "new.csv")[0]) == 1 + sitting.counts.together + sitting.counts.apart


def test_a_sitting_skips_links_with_unknown_ids_on_request(shop, table):
    (shop / "new.csv").write_text("a,b,link\nc00,c03,must\nc00,c99,must\n")
    with pytest.raises(ConstraintError, match="no row with the id 'c99'"):
        Sitting(table, shop / "new.csv", n_clusters=3)
    sitting = Sitting(table, shop / "new.csv", n_clusters=3, unknown_ids="skip")
    assert sitting.n_known_links == 1
    assert any("1 of 2 links names an id that is not in the table" in notice for notice in sitting.notices)
    answer_by_group(sitting, 1)
    assert (shop / "new.csv").read_text().splitlines()[:3] == ["a,b,link", "c00,c03,must", "c00,c99,must"]


@pytest.mark.parametrize(("truthful", "settled"), [(True, [True] * 4), (False, [False] * 4)])
def test_advice_comes_when_enough_was_answered(shop, truthful, settled):
    # Two groups far apart, or two groups that have nothing to do with the columns.
    rows = "".join(f"{row},{row % 2 * 50 + row % 7}\n" for row in range(70))
    (shop / "far.csv").write_text(f"who,size\n{rows}")
    table = load_table(TableOptions(shop / "far.csv", id_column="who"))
    sitting = Sitting(table, shop / "new.csv", n_clusters=2, strategy="random")
    given = {}
    while sitting.question is not None:
        a, b = sitting.question
        sitting.answer(a % 2 == b % 2 if truthful else a // 35 == b // 35)
        advice = sitting.advise()
        if advice is not None:
            given[sitting.counts.together] = advice.is_settled
        assert sitting.advise() is None, "nothing new"
    assert list(given) == [30, 40, 50, 60]
    assert list(given.values()) == settled


def test_without_a_file_the_known_links_are_given(table):
    known = Constraints(must_link=[(0, 3)], cannot_link=[(0, 1)])
    sitting = Sitting(table, n_clusters=3, known=known)
    assert sitting.path is None
    assert sitting.n_known_links == 2
    assert not sitting.has_links
    answer_by_group(sitting, 4)
    assert len(sitting.constraints) >= 6
    assert sitting.undo() is not None
    assert sitting.n_asked == 3
    with pytest.raises(ConstraintError, match="99"):
        Sitting(table, n_clusters=3, known=Constraints(must_link=[(0, 99)]))


def test_known_links_are_added_to_those_of_the_file(shop, table):
    sitting = Sitting(table, shop / "links.csv", n_clusters=3, known=Constraints(must_link=[(5, 8)]))
    assert sitting.n_known_links == 5
    assert [5, 8] in sitting.constraints.must_link.tolist()
