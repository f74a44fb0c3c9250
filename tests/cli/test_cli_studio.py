"""``mustlink studio``: what begins or continues a session, without a browser; tests/studio runs the whole command."""

from __future__ import annotations

import sys

import pytest
from typer.testing import CliRunner

from mustlink.cli import app
from mustlink.datasets import sample_paths
from mustlink.studio import Session


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table, links = sample_paths()
    (tmp_path / "customers.csv").write_bytes(table.read_bytes())
    (tmp_path / "links.csv").write_bytes(links.read_bytes())
    (tmp_path / "edges.csv").write_text("a,b\nC001,C002\nC002,C003\n", encoding="utf-8")
    (tmp_path / "other.csv").write_text("x,y\n1,2\n3,5\n9,9\n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def run(folder, monkeypatch):
    """Run the command with a server that returns at once."""
    served = []

    def serve(session, host, port, open_browser, announce):
        served.append({"host": host, "port": port, "browser": open_browser, "links": len(session.engine.links)})
        announce("The studio is at http://127.0.0.1:1/?token=x")

    monkeypatch.setattr("mustlink.studio.serve", serve)

    def run(*words, code=0):
        done = CliRunner().invoke(app, ["studio", *words])
        assert done.exit_code == code, done.output
        return done.output, served

    return run


def test_a_session_is_begun_beside_the_person_and_continued(run, folder):
    text, served = run("customers.csv", "--id", "customer", "-k", "3", "--links", "links.csv", "--edges", "edges.csv")
    assert served == [{"host": "127.0.0.1", "port": 0, "browser": True, "links": 40}]
    assert "40 links and all steps are saved in customers.mustlink" in text
    assert "mustlink studio customers.mustlink" in text
    with Session.open(folder / "customers.mustlink") as session:
        assert session.engine.state.n_clusters == 3
        assert session.edges.tolist() == [[0, 1], [1, 2]]
    for words in (["customers.mustlink"], ["customers.csv", "--id", "customer"], ["customers.csv"]):
        text, served = run(*words, "--no-browser", "--port", "7", "--host", "0.0.0.0")
        assert "Continuing customers.mustlink after 0 steps" in text
        assert served[-1] == {"host": "0.0.0.0", "port": 7, "browser": False, "links": 40}
        assert "Not used" not in text
    text, _ = run("customers.csv", "-k", "4", "--links", "links.csv")
    assert "Not used, since the session was begun before: -k, --links." in " ".join(text.split())


def test_what_cannot_be_is_refused_with_what_to_do_here(run, folder):
    (folder / "unknown.csv").write_text("a,b,link\nC001,C999,must\n", encoding="utf-8")
    text, _ = run("customers.csv", "--id", "customer", "--links", "unknown.csv", code=2)
    assert "correct the file, or remove such links from it." in text
    assert "--unknown-ids" not in text
    text, _ = run("customers.csv", "--file", "customers.csv", code=2)
    assert "--file names the table itself" in " ".join(text.split())
    text, _ = run("nowhere.csv", "--port", "99999", code=2)
    assert "nowhere" not in text
    assert "65535" in text


def test_a_session_is_continued_beside_a_copy_of_its_table(run, folder):
    run("customers.csv", "--id", "customer")
    (folder / "copy.csv").write_bytes((folder / "customers.csv").read_bytes())
    assert "Continuing customers.mustlink" in run("copy.csv", "--file", "customers.mustlink")[0]
    (folder / "copy.csv").write_text("x,y\n1,2\n3,5\n", encoding="utf-8")
    assert "with other content" in " ".join(run("copy.csv", "--file", "customers.mustlink", code=2)[0].split())


def test_a_file_of_ones_own(run, folder):
    run("customers.csv", "--id", "customer", "--file", "mine.mustlink", "--strategy", "cobras", "--seed", "4")
    with Session.open(folder / "mine.mustlink") as session:
        assert session.engine.state.strategy == "cobras"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["nothing.csv"], "There is no file nothing.csv"),
        (["nothing.mustlink"], "nothing.mustlink"),
        (["links.csv", "--file", "customers.mustlink"], "is a studio on another table"),
        (["customers.csv", "--ignore", "basket_eur"], r"other options of the table (--ignore)"),
        (["customers.mustlink", "--file", "a.mustlink"], "leave out --file"),
        (["other.csv", "-k", "9"], "9 clusters cannot be made of the 3 rows"),
        (["other.csv", "--links", "links.csv"], "--id"),
        (["other.csv", "--seed", "-1"], "--seed must be"),
        (["other.csv", "--file", "customers.csv"], "customers.csv"),
        (["other.csv", "--file", "missing/a.mustlink"], "missing"),
    ],
)
def test_bad_input_is_one_sentence(run, folder, words, says):
    run("customers.csv", "--id", "customer")
    before = sorted(path.name for path in folder.iterdir())
    text, _ = run(*words, code=2)
    assert says in " ".join(text.split())
    assert text.startswith("Error: ")
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_missing_package_is_a_sentence(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    done = CliRunner().invoke(app, ["studio", "customers.csv", "--id", "customer", "--no-browser"])
    assert done.exit_code == 2
    assert 'pip install "mustlink[studio]"' in done.output
