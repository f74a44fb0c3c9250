"""Every command of the README runs in the folder that ``mustlink demo`` makes."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mustlink.catalogue import CATALOGUE
from mustlink.cli import app
from mustlink.datasets import sample_paths

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^    mustlink (.+?)(?:\s+#.*)?$", README, re.MULTILINE)


def test_the_main_commands_are_shown() -> None:
    assert {"demo", "cluster", "check", "ask"} <= {command.split()[0] for command in COMMANDS}


def test_the_commands_run_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    table, links = sample_paths()
    for path, name in ((table, "customers.csv"), (table, "new_customers.csv"), (links, "links.csv")):
        (tmp_path / name).write_bytes(path.read_bytes())
    texts = ["the red ball rolls", "a red ball", "blue cubes stand", "the blue cubes", "green cones"] * 8
    lines = "".join(f"toy {row},{text.split()[-2]},{text}\n" for row, text in enumerate(texts))
    (tmp_path / "news.csv").write_text(f"subject,topic,body\n{lines}", encoding="utf-8")
    people = "name,paper\nAnn Smith,1\nBo Li,1\nA. Smith,2\nB. Li,2\n"
    (tmp_path / "authors.csv").write_text(people, encoding="utf-8")
    bought = [(who, what) for who, goods in (("ann", "ab"), ("bo", "ab"), ("cy", "cd"), ("di", "c")) for what in goods]
    baskets = "".join(f"{who},{what}\n" for who, what in bought)
    (tmp_path / "baskets.csv").write_text(f"customer,product\n{baskets}", encoding="utf-8")
    for command in COMMANDS:
        result = CliRunner().invoke(app, shlex.split(command), input="q\n")
        assert result.exit_code == 0, f"mustlink {command}\n{result.output}"


def test_the_sample_of_a_file_of_links_is_the_beginning_of_the_sample_file() -> None:
    lines = sample_paths().links.read_text(encoding="utf-8").splitlines()[:3]
    assert "".join(f"    {line}\n" for line in lines) in README


def test_a_method_is_hard_if_it_can_be_told_to_relax() -> None:
    for entry in CATALOGUE:
        assert (entry.kind == "hard") == ("on_infeasible" in entry.load()().get_params()), entry.class_name


def test_every_extra_is_listed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].keys() - {"dev", "docs"}
    assert extras == set(re.findall(r"'\.\[(\w+)\]'", README))
