"""Entities of records and of pairs with probabilities, from Python."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from mustlink.errors import ConstraintError, FileFormatError, InfeasibleError, OptionError, TooLargeError
from mustlink.tables import read_questions
from mustlink.workflow import DedupeJob, Sitting, TableOptions, load_records, run_dedupe

# The running example of the chapter: W. Wang is three people.
WANG = """id,name,paper,source
r1,W. Wang,h1,A
r2,C. Chen,h1,A
r3,A. Ansari,h1,B
r4,W. Wang,h2,B
r5,A. Ansari,h2,A
r6,L. Li,h3,A
r7,C. Chen,h3,B
r8,W. Wang,h3,B
r9,W. W. Wang,h4,C
r10,A. Ansari,h4,
"""


@pytest.fixture
def wang(tmp_path):
    (tmp_path / "wang.csv").write_text(WANG)
    return tmp_path


def entities(result):
    """The entities as sets of names."""
    frame = pd.DataFrame({"name": result.names, "entity": result.labels})
    return {frozenset(names) for _, names in frame.groupby("entity")["name"]}


def test_relations_join_and_records_of_a_group_are_apart(wang):
    result = run_dedupe(DedupeJob(wang / "wang.csv", by="name", group="paper", id_column="id"))
    groups = pd.read_csv(wang / "wang.csv").groupby("paper").groups
    # No name is twice in a group.
    for rows in groups.values():
        assert len(set(result.labels[rows])) == len(rows)
    assert {"r3", "r5", "r10"} in entities(result)
    # Numbered in the order of the rows.
    assert result.labels[np.sort(np.unique(result.labels, return_index=True)[1])].tolist() == list(
        range(result.summary.n_entities)
    )


def test_records_of_a_group_may_be_one_entity(tmp_path):
    (tmp_path / "t.csv").write_text("name,order\nAnn Smith,1\nAnn B. Smith,1\nBo Li,1\n")
    asked = {"by": "name", "group": "order", "threshold": 0.2}
    apart = run_dedupe(DedupeJob(tmp_path / "t.csv", **asked))
    joined = run_dedupe(DedupeJob(tmp_path / "t.csv", within_groups="always", **asked))
    assert joined.summary.n_entities == 2 < apart.summary.n_entities == 3
    # Equal texts are one entity unless that is excluded.
    (tmp_path / "t.csv").write_text("name,order\nAnn Smith,1\nAnn Smith,1\n")
    counts = {
        rule: run_dedupe(DedupeJob(tmp_path / "t.csv", within_groups=rule, **asked)).summary.n_entities
        for rule in ("equal", "never", "always")
    }
    assert counts == {"equal": 1, "never": 2, "always": 1}
    with pytest.raises(OptionError, match="Within groups is True; it must be equal, never or always"):
        DedupeJob(tmp_path / "t.csv", within_groups=True, **asked)


def test_several_groups_in_a_cell_are_as_several_columns(wang):
    frame = pd.read_csv(wang / "wang.csv")
    frame["project"] = ["p1", "", "p1", "", "", "", "", "", "", ""]
    frame.to_csv(wang / "two.csv", index=False)
    frame["both"] = [
        f"{paper} ; {project}".strip("; ") for paper, project in zip(frame.paper, frame.project, strict=True)
    ]
    frame.to_csv(wang / "one.csv", index=False)
    two = run_dedupe(DedupeJob(wang / "two.csv", by="name", group=["paper", "project"]))
    one = run_dedupe(DedupeJob(wang / "one.csv", by="name", group="both", group_separator=";"))
    np.testing.assert_array_equal(one.labels, two.labels)
    assert any("8 rows have no entry in the column 'project'" in notice for notice in two.summary.notices)


def test_links_are_kept(wang):
    (wang / "links.csv").write_text("a,b,link\nr1,r9,must\nr3,r5,cannot\n")
    asked = {"by": "name", "group": "paper", "id_column": "id"}
    job = DedupeJob(wang / "wang.csv", links=wang / "links.csv", **asked)
    place = {name: row for row, name in enumerate(run_dedupe(job).names)}
    labels = run_dedupe(job).labels
    assert labels[place["r1"]] == labels[place["r9"]]
    assert labels[place["r3"]] != labels[place["r5"]]
    # They choose no threshold, unless they are asked to.
    alone = run_dedupe(DedupeJob(wang / "wang.csv", **asked)).summary
    assert run_dedupe(job).summary.threshold == alone.threshold
    chosen = run_dedupe(DedupeJob(wang / "wang.csv", links=wang / "links.csv", threshold="links", **asked)).summary
    assert "(chosen by 2 links)" in chosen.threshold_note


def test_at_most_some_records_of_a_source(wang):
    sources = pd.read_csv(wang / "wang.csv")["source"]
    largest = {}
    for at_most in (1, 2):
        job = DedupeJob(wang / "wang.csv", by="name", never_together="source", at_most=at_most, threshold=0.5)
        counts = pd.crosstab(run_dedupe(job).labels, sources)
        largest[at_most] = counts.to_numpy().max()
        assert largest[at_most] <= at_most
    assert largest[2] == 2


def test_records_without_a_text_are_alone(wang):
    text = WANG.replace("C. Chen", "")
    (wang / "wang.csv").write_text(text)
    with pytest.raises(FileFormatError, match=r"2 rows are empty in 'name' \(line 3, line 8\).*missing=\"single\""):
        run_dedupe(DedupeJob(wang / "wang.csv", by="name"))
    result = run_dedupe(DedupeJob(wang / "wang.csv", by="name", missing="single"))
    assert (
        np.count_nonzero(result.labels == result.labels[1]) == np.count_nonzero(result.labels == result.labels[6]) == 1
    )
    assert any("each is an entity of its own" in notice for notice in result.summary.notices)


def test_a_table_of_several_columns(wang):
    frame = pd.read_csv(wang / "wang.csv").assign(city=["Ulm", "Ulm", "Bonn", "Ulm", "Bonn"] * 2)
    frame.to_csv(wang / "wang.csv", index=False)
    result = run_dedupe(DedupeJob(wang / "wang.csv", by=["name", "city"], report=wang / "r.html"))
    assert "W. Wang, Ulm" in (wang / "r.html").read_text()
    assert result.summary.n_entities > run_dedupe(DedupeJob(wang / "wang.csv", by="name")).summary.n_entities


def test_the_report_has_decisions_entities_and_relations(wang):
    job = DedupeJob(wang / "wang.csv", by="name", group="paper", id_column="id", report=wang / "r.html", threshold=0.5)
    result = run_dedupe(job, command="mustlink dedupe wang.csv")
    page = (wang / "r.html").read_text(encoding="utf-8")
    for text in ("Decisions that were least sure", "co-occurring entities", "W. W. Wang", "mustlink dedupe wang.csv"):
        assert text in page
    decision = next(one for one in result.summary.decisions if "r9" in one.names)
    assert decision.shared == ("A. Ansari",)
    assert [pair.column for pair in decision.cells] == ["name", "paper", "id", "source"]
    assert 0 <= decision.relational <= 1
    assert page.index("least sure") < page.index("Largest entities")


def test_known_entities_are_compared(wang):
    frame = pd.read_csv(wang / "wang.csv").assign(person=[1, 2, 3, 1, 3, 4, 5, 6, 1, None])
    frame.to_csv(wang / "wang.csv", index=False)
    result = run_dedupe(DedupeJob(wang / "wang.csv", by="name", threshold=1.0, truth_column="person"))
    # W. Wang is three records, of which two are one person, and C. Chen two; one of three pairs of person 1 is found.
    scores = result.summary.scores
    assert scores.n_rows == 9
    assert scores.precision == pytest.approx(2 / 5)
    assert scores.recall == pytest.approx(2 / 4)


def test_questions_are_asked_and_their_answers_taken(wang):
    job = DedupeJob(wang / "wang.csv", by="name", group="paper", id_column="id", questions=wang / "q.csv", n_unsure=3)
    result = run_dedupe(job)
    table = load_records(TableOptions(wang / "wang.csv", id_column="id"))
    pairs = read_questions(wang / "q.csv", table.ids, table.source.n_rows)
    assert pairs == [decision.rows for decision in result.summary.decisions]
    sitting = Sitting(table, wang / "links.csv", pairs=pairs)
    asked = []
    while sitting.question is not None:
        asked.append(tuple(sitting.question))
        sitting.answer(False)
    assert asked == pairs
    assert sitting.advise() is None
    again = run_dedupe(DedupeJob(wang / "wang.csv", by="name", group="paper", id_column="id", links=wang / "links.csv"))
    assert all(again.labels[a] != again.labels[b] for a, b in pairs)
    # What was answered is no question any more.
    assert not set(pairs) & {decision.rows for decision in again.summary.decisions}


PAIRS = "id1,id2,score\na,b,0.9\nb,c,0.8\na,c,0.05\nd,e,0.7\n"


@pytest.fixture
def pairs(tmp_path):
    (tmp_path / "pairs.csv").write_text(PAIRS)
    return tmp_path


def test_pairs_are_clustered_against_the_weakest_evidence(pairs):
    result = run_dedupe(DedupeJob(pairs=pairs / "pairs.csv", output=pairs / "out.csv"))
    assert entities(result) == {frozenset("ab"), frozenset("c"), frozenset("de")}
    assert (pairs / "out.csv").read_text().splitlines()[:2] == ["id,entity", "a,0"]
    # The pair b and c is apart against its probability.
    first = result.summary.decisions[0]
    assert (first.names, first.together, first.similarity) == (("b", "c"), False, 0.8)
    assert "1 above it is apart" in result.summary.threshold_note


def test_a_threshold_moves_what_speaks_for_one_entity(pairs):
    result = run_dedupe(DedupeJob(pairs=pairs / "pairs.csv", threshold=0.75))
    assert entities(result) == {frozenset("ab"), frozenset("c"), frozenset("d"), frozenset("e")}
    low = run_dedupe(DedupeJob(pairs=pairs / "pairs.csv", threshold=0.01))
    assert entities(low) == {frozenset("abc"), frozenset("de")}


def test_links_and_sources_bind_pairs(pairs):
    (pairs / "links.csv").write_text("a,b,link\na,b,cannot\nd,a,must\n")
    result = run_dedupe(DedupeJob(pairs=pairs / "pairs.csv", links=pairs / "links.csv"))
    assert entities(result) == {frozenset("ade"), frozenset("bc")}
    assert ("a", "b") not in [decision.names for decision in result.summary.decisions]
    frame = pd.DataFrame({"id": list("abcdef"), "source": [*"XXYXX", None], "name": list("ABCDEF")})
    frame.to_csv(pairs / "table.csv", index=False)
    job = DedupeJob(pairs / "table.csv", pairs=pairs / "pairs.csv", by="name", id_column="id", never_together="source")
    result = run_dedupe(job)
    assert entities(result) == {frozenset("a"), frozenset("bc"), frozenset("d"), frozenset("e"), frozenset("f")}
    # The records a and b, d and e are of one source: nobody can join them.
    assert [decision.names for decision in result.summary.decisions] == [("b", "c")]


def test_a_pair_at_the_threshold_is_listed(pairs):
    (pairs / "pairs.csv").write_text("id1,id2,score\na,b,0.5\nb,c,0.9\na,c,0.9\n")
    result = run_dedupe(DedupeJob(pairs=pairs / "pairs.csv", unlisted=0.001))
    assert result.summary.n_entities == 1


def test_pairs_that_are_not_listed(pairs):
    (pairs / "pairs.csv").write_text("id1,id2,score\na,b,0.9\nb,c,0.8\nc,d,0.9\n")
    chained = run_dedupe(DedupeJob(pairs=pairs / "pairs.csv"))
    assert chained.summary.n_entities == 1
    assert any("nothing keeps records apart" in notice for notice in chained.summary.notices)
    result = run_dedupe(DedupeJob(pairs=pairs / "pairs.csv", unlisted=0.1))
    assert entities(result) == {frozenset("ab"), frozenset("cd")}
    assert not any("nothing keeps records apart" in notice for notice in result.summary.notices)


BAD_JOBS = [
    ({}, "neither a table nor pairs"),
    ({"table": "t.csv"}, "by which texts records are compared; name the columns with by"),
    (
        {"table": "t.csv", "by": "name", "threshold": 1.5},
        "The threshold is 1.5, and must be from 0 to 1; change threshold",
    ),
    ({"table": "t.csv", "by": "name", "threshold": "high"}, 'it must be a number, or "links"'),
    ({"table": "t.csv", "by": "name", "threshold": "links"}, "no links to choose the threshold by; give links"),
    (
        {"table": "t.csv", "by": "name", "group": "g", "alpha": -1},
        "The weight of the groups is -1, and must be from 0 to 1; change alpha",
    ),
    ({"table": "t.csv", "by": "name", "alpha": 0.5}, "no column of groups; give group, or leave out alpha"),
    ({"table": "t.csv", "by": "name", "group_separator": ";"}, "give group, or leave out group_separator"),
    ({"table": "t.csv", "by": "name", "at_most": 0}, "must be at least 1; change at_most"),
    ({"table": "t.csv", "by": "name", "n_unsure": -1}, "must be at least 0; change n_unsure"),
    ({"table": "t.csv", "by": "name", "max_pairs": 0}, "must be at least 1; change max_pairs"),
    ({"table": "t.csv", "by": "name", "unlisted": 0.1}, "give pairs, or leave out unlisted"),
    ({"pairs": "p.csv", "unlisted": 0.6}, "must be below the threshold; change unlisted"),
    ({"table": "t.csv", "by": "name", "contradictions": "keep"}, "only one can be"),
    ({"pairs": "p.csv", "threshold": 1.0}, "must be between 0 and 1"),
    ({"pairs": "p.csv", "group": "paper"}, "A column of groups cannot be used, .*; leave out group"),
    ({"pairs": "p.csv", "by": "name"}, "there is no table; give table, or leave out by"),
    ({"table": "t.csv", "by": "name", "at_most": 2}, "no column of sources; give never_together, or leave out at_most"),
    ({"table": "t.csv", "by": "name", "within_groups": "always"}, "give group, or leave out within_groups"),
    ({"pairs": "p.csv", "within_groups": "always"}, "clustered as they are; leave out within_groups"),
    ({"pairs": "p.csv", "missing": "single"}, "clustered as they are; leave out missing"),
    ({"pairs": "p.csv", "at_most": 2}, "give never_together, or leave out at_most"),
    (
        {"pairs": "p.csv", "threshold": "links", "links": "l.csv"},
        "must be a number, and is not chosen by links; change threshold",
    ),
    ({"pairs": "p.csv", "questions": "q.csv"}, "give table, or leave out questions"),
]


@pytest.mark.parametrize(("options", "words"), BAD_JOBS)
def test_bad_jobs_are_refused(options, words):
    with pytest.raises(OptionError, match=words):
        DedupeJob(**options)


def test_contradicting_links_are_refused(wang):
    def run(text, **options):
        (wang / "links.csv").write_text(text)
        job = DedupeJob(wang / "wang.csv", by="name", id_column="id", links=wang / "links.csv", **options)
        return run_dedupe(job)

    with pytest.raises(ConstraintError, match='both as must-link and as cannot-link; pass contradictions="majority"'):
        run("a,b,link\nr1,r4,must\nr4,r1,cannot\n")
    with pytest.raises(
        InfeasibleError, match="r1 and r9 have a cannot-link, but must-links connect them: r1 - r4 - r9"
    ):
        run("a,b,link\nr1,r4,must\nr4,r9,must\nr1,r9,cannot\n")
    with pytest.raises(InfeasibleError, match="Rows r1 and r2 have a must-link"):
        run("a,b,link\nr1,r2,must\n", group="paper")


def test_too_many_pairs_name_a_remedy(tmp_path):
    names = [f"A{number:03} Smith" for number in range(300)]
    pd.DataFrame({"name": names}).to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(TooLargeError, match=r'44,850 pairs .* pass another blocking, such as blocking="sorted"'):
        run_dedupe(DedupeJob(tmp_path / "t.csv", by="name", blocking="key", max_pairs=10_000))


def test_files_appear_together_or_not_at_all(wang):
    job = DedupeJob(
        wang / "wang.csv", by="name", output=wang / "o.csv", report=wang / "r.html", questions=wang / "q.xlsx"
    )
    with pytest.raises(FileFormatError, match="questions are written as"):
        run_dedupe(job)
    assert [path.name for path in wang.iterdir()] == ["wang.csv"]
    with pytest.raises(OptionError, match="would be overwritten"):
        run_dedupe(DedupeJob(wang / "wang.csv", by="name", output=wang / "wang.csv"))
