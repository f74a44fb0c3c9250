"""Exports: what is saved equals what is seen, and the script gives it again."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from mustlink import Constraints
from mustlink.datasets import sample_paths
from mustlink.errors import OptionError
from mustlink.studio import Answer, Choose, Engine, Link, Lock, Move, Rename, Session
from mustlink.studio._adapter import Fit, fit_method
from mustlink.studio._export import export_file
from mustlink.studio._script import ShownLabels, write_script
from mustlink.workflow import TableOptions, load_table
from studio.scripts import run_script, run_script_apart

CUSTOMERS, CUSTOMER_LINKS = sample_paths()


@pytest.fixture
def session(tmp_path: Path) -> Any:
    options = TableOptions(CUSTOMERS, id_column="customer")
    made = Session.create(load_table(options), options, tmp_path / "s.mustlink", n_clusters=3, links=CUSTOMER_LINKS)
    with made:
        yield made


def fit_now(session: Session) -> Fit:
    """Do what the background does."""
    engine = session.engine
    fit = fit_method(
        engine.state.method, session.table.X, engine.constraints, engine.state.n_clusters, session.random_state
    )
    assert fit.error is None
    session.offer(fit.labels, engine.revision, method=fit.method, confidence=fit.confidence)
    return fit


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_notices_of_the_table_stand_once_in_the_report(tmp_path: Path) -> None:
    (tmp_path / "gaps.csv").write_text("x,y\n1,2\n,3\n4,5\n6,7\n")
    options = TableOptions(tmp_path / "gaps.csv", missing="drop")
    with Session.create(load_table(options), options, ":memory:", n_clusters=2) as session:
        (notice,) = session.notices
        assert export_file(session, "report").text.count(notice) == 1


def check_script(session: Session, folder: Path, run: Callable[[str, Path], None] = run_script) -> None:
    """Run the script of a session, and compare what it writes with what is seen."""
    seen = read(export_file(session, "labels").text)
    file = export_file(session, "python")
    assert file.name.endswith(".py")
    run(file.text, folder)
    (written,) = folder.glob("*.clusters.csv")
    assert read(written.read_text(encoding="utf-8")) == seen


def test_labels_are_what_is_seen(session: Session) -> None:
    session.apply(Rename(1, 'Köln, "β"'))
    file = export_file(session, "labels")
    assert (file.name, file.media) == (f"{Path(CUSTOMERS).name.split('.')[0]}.clusters.csv", "text/csv")
    lines = read(file.text)
    names = {group.id: group.name for group in session.engine.groups}
    assert [line["customer"] for line in lines] == session.table.row_names
    assert [int(line["cluster"]) for line in lines] == session.engine.labels.tolist()
    assert [line["cluster_name"] for line in lines] == [names[label] for label in session.engine.labels.tolist()]
    assert 'Köln, "β"' in {line["cluster_name"] for line in lines}


def test_links_are_read_again(session: Session, tmp_path: Path) -> None:
    session.apply(Link(0, 5, together=False))
    file = export_file(session, "links")
    path = tmp_path / "links.csv"
    path.write_text(file.text, encoding="utf-8")
    assert Constraints.read(path, ids=session.table.row_names) == session.engine.constraints
    assert len(session.engine.constraints) == 41


def test_the_report_shows_names_and_suspects(session: Session) -> None:
    session.apply(Rename(0, "Ladies & <b>gents</b>"))
    fit = fit_now(session)
    a, b = session.engine.constraints.pairs[0].tolist()
    suspicious = Fit(0, "boost", fit.labels, column_weights=fit.column_weights, suspects={(a, b): 0.93, (7, 9): 0.8})
    page = export_file(session, "report", suspicious)
    assert page.media == "text/html"
    assert "Ladies &amp; &lt;b&gt;gents&lt;/b&gt;" in page.text
    assert "This link may be wrong" in page.text
    assert "This link may be wrong" not in export_file(session, "report").text
    assert "RobustBoostCluster(n_clusters=3" in page.text
    assert "<b>gents" not in page.text


def test_the_log_has_all_actions(session: Session) -> None:
    session.apply(Link(0, 5, together=False))
    session.apply(Rename(0, "one"))
    log = json.loads(export_file(session, "log").text)
    assert [entry["do"] for entry in log] == ["link", "rename"]
    assert all(entry["when"] for entry in log)


def test_there_is_no_other_export(session: Session) -> None:
    with pytest.raises(OptionError, match="labels, links, report, python, log"):
        export_file(session, "passwords")


def test_the_script_gives_the_instant_groups(session: Session, tmp_path: Path) -> None:
    session.apply(Choose(method="instant"))
    session.apply(Move((3,), 0.9, 0.9))
    session.apply(Rename(int(session.engine.labels[3]), "it's\nnew"))
    assert session.engine.shown.method == "instant"
    check_script(session, tmp_path)


@pytest.mark.parametrize("method", ["auto", "pck"])
def test_the_script_gives_the_groups_of_a_method(session: Session, method: str, tmp_path: Path) -> None:
    session.apply(Choose(method=method))
    session.apply(Link(0, 5, together=False))
    question = session.question
    assert question is not None
    session.apply(Answer(question.a, question.b, together=None))
    fit_now(session)
    assert session.engine.shown.status == "final"
    # Rows that are placed against what the method finds.
    stranger = int(np.flatnonzero(session.engine.labels != session.engine.labels[0])[0])
    session.apply(Move((0,), -0.5, -0.5))
    session.apply(Move((stranger,), 0.5, 0.5))
    session.apply(Lock(int(session.engine.labels[10]), True))
    fit_now(session)
    assert session.engine.shown.status == "final"
    check_script(session, tmp_path)


def test_the_script_lists_rows_that_were_placed_by_hand(tmp_path: Path) -> None:
    options = TableOptions(CUSTOMERS, id_column="customer")
    table = load_table(options)
    fit = fit_method("pck", table.X, Constraints(), 3, 0)
    assert fit.labels is not None
    shown = np.array([5, 2, 0])[fit.labels]
    shown[[4, 9]] = [8, -1]
    names = {5: "five", 2: "two", 0: "zero", 8: "eight"}
    script = write_script(
        options, table.row_names, Constraints(), ShownLabels(shown, names, "pck", 3, found=fit.labels)
    )
    assert f"{table.row_names[4]!r}: 8," in script
    run_script(script, tmp_path)
    (written,) = tmp_path.glob("*.clusters.csv")
    found = pd.read_csv(written)
    assert found["cluster"].fillna(-1).astype(int).tolist() == shown.tolist()
    assert found["cluster_name"].fillna("").tolist() == [names.get(label, "") for label in shown.tolist()]


def test_the_script_of_a_table_with_options_rules_and_weights(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    team = [f"t{row // 3}" if row < 30 else "" for row in range(90)]
    frame = pd.DataFrame({"x": rng.normal(size=90), "y": rng.normal(size=90), "no": 1, "team": team, "kind": ""})
    frame.loc[:1, "kind"] = ["u", "v"]
    frame.loc[40, "x"] = np.nan
    frame.to_csv(tmp_path / "a 'b\".csv", index=False, sep=";")
    options = TableOptions(
        tmp_path / "a 'b\".csv", ignore=["no"], never_together=["team"], label_column="kind", missing="drop"
    )
    links = tmp_path / "links.csv"
    links.write_text("a,b,link,weight\n0,50,must,2.5\n1,60,must,1\n", encoding="utf-8")
    folder = tmp_path / "out"
    folder.mkdir()
    with Session.create(load_table(options), options, tmp_path / "s.mustlink", n_clusters=3, links=links) as session:
        session.apply(Choose(method="pck"))
        session.apply(Link(2, 70, together=True))
        fit_now(session)
        seen = {line["row"]: line["cluster"] for line in read(export_file(session, "labels").text.replace(";", ","))}
        run_script(export_file(session, "python").text, folder)
    (written,) = folder.glob("*.clusters.csv")
    again = {line["row"]: line["cluster"] for line in read(written.read_text(encoding="utf-8"))}
    assert seen.pop("40") == ""
    assert again == seen


def test_the_script_of_a_data_frame_reads_one(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": [0.0, 1.0, 2.0, 8.0, 9.0], "y": [1.0, 2.0, 1.5, 7.0, 6.0]})
    with Session.from_frame(frame, random_state=4) as session:
        session.apply(Move((1,), 0.2, 0.2))
        session.apply(Link(0, 4, together=False))
        session.apply(Link(2, 3, together=True))
        assert session.engine.shown.method == "instant"
        assert set(session.engine.labels) == {0, 1, 2}
        frame.to_csv(tmp_path / "table.csv", index=False)
        check_script(session, tmp_path, run_script_apart)


def test_the_script_of_a_large_table_uses_its_principal_components(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mustlink.studio._instant.MAX_EXACT_ROWS", 300)
    rng = np.random.default_rng(0)
    n_rows = 310
    X = rng.normal(size=(n_rows, 13)).round(3)
    X[:, 0] += 30 * (np.arange(n_rows) % 2)
    pd.DataFrame(X, columns=[f"c{place}" for place in range(13)]).to_csv(tmp_path / "large.csv", index=False)
    options = TableOptions(tmp_path / "large.csv")
    table = load_table(options)
    engine = Engine(table.X)
    engine.apply(Link(0, 1, together=False))
    assert engine.is_reduced
    shown = ShownLabels(engine.labels, {0: "a", 1: "b"}, "instant", None, is_reduced=True)
    folder = tmp_path / "out"
    folder.mkdir()
    run_script(write_script(options, table.row_names, engine.constraints, shown), folder)
    assert pd.read_csv(folder / "large.script.clusters.csv")["cluster"].tolist() == engine.labels.tolist()


def test_a_script_before_the_fit_is_done_says_so(session: Session) -> None:
    session.apply(Choose(method="pck"))
    fit_now(session)
    assert "still computing" not in export_file(session, "python").text
    session.apply(Link(0, 5, together=False))
    script = export_file(session, "python").text
    assert "still computing" in script
    compile(script, "script", "exec")
