"""The smaller commands, and the command as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from mustlink import __version__
from mustlink.catalogue import CATALOGUE, all_clusterers, find_clusterer
from mustlink.cli import _warmup

COMMAND = [sys.executable, "-c", "from mustlink.cli import main; main()"]


def process(environment, *words, **options):
    return subprocess.run(
        [*COMMAND, *words], env=environment, capture_output=True, text=True, timeout=120, check=False, **options
    )


def test_demo(desk):
    result = desk.run("demo")
    assert result.exit_code == 0, result.output
    assert desk.names() == ["mustlink-demo"]
    made = sorted(path.name for path in (desk.folder / "mustlink-demo").iterdir())
    assert made == ["clusters.csv", "customers.csv", "links.csv", "report.html"]
    lines = {line.split("  ")[0]: line for line in result.stdout.splitlines()}
    plain = [int(word) for word in lines["plain k-means"].split() if word.isdigit()]
    ours = [int(word) for word in lines["RobustBoostCluster"].split() if word.isdigit()]
    # Broken must-links, all of them, broken cannot-links, all of them.
    assert plain[1:4:2] == ours[1:4:2]
    assert ours[0] + ours[2] < plain[0] + plain[2]


def test_demo_prints_a_command_that_works(desk):
    import shlex

    result = desk.run("demo")
    command = next(line for line in result.stdout.splitlines() if line.strip().startswith("mustlink cluster"))
    before = (desk.folder / "mustlink-demo" / "clusters.csv").read_text()
    again = desk.run(*shlex.split(command)[1:])
    assert again.exit_code == 0, again.output
    assert (desk.folder / "mustlink-demo" / "clusters.csv").read_text() == before


def test_demo_fails_if_its_folder_is_a_file(desk):
    desk.write("mustlink-demo", "in the way")
    assert "mustlink-demo" in desk.fails("demo")


def test_methods(desk):
    result = desk.run("methods")
    assert result.exit_code == 0
    for entry in CATALOGUE:
        assert entry.name in result.stdout
        assert entry.class_name in result.stdout


def test_catalogue_names_are_unique_and_load():
    names = [entry.name for entry in CATALOGUE]
    assert len(set(names)) == len(names)
    for (class_name, clusterer), entry in zip(all_clusterers(), CATALOGUE, strict=True):
        assert clusterer.__name__ == class_name == entry.class_name
        assert find_clusterer(entry.name) is find_clusterer(class_name.upper()) is entry
        assert all(find_clusterer(alias) is entry for alias in entry.aliases)


def test_warmup_exercises_every_clusterer(desk):
    result = desk.run("warmup")
    assert result.exit_code == 0, result.output
    assert "Compiled in" in result.stdout
    steps = [description for description, _ in _warmup._clusterer_steps()]
    for entry in CATALOGUE:
        for dtype in ("float32", "float64"):
            assert f"{entry.class_name}, {dtype}, dense" in steps


UNCALLED = """
import inspect, sys
called = set()
sys.setprofile(lambda frame, event, argument: called.add(frame.f_code) if event == "call" else None)
from mustlink.cli import _warmup
for _, step in [*_warmup._constraint_steps(), *_warmup._clusterer_steps(), *_warmup._boosting_steps()]:
    step()
sys.setprofile(None)
for name, module in sorted(sys.modules.items()):
    if name.startswith("mustlink.") and name.endswith("_kernels"):
        for key, value in vars(module).items():
            if inspect.isfunction(value) and value.__module__ == name and value.__code__ not in called:
                print(f"{name}.{key}")
"""


def test_warmup_reaches_every_kernel(environment):
    """Without compilation, kernels are plain functions whose calls can be recorded."""
    done = subprocess.run(
        [sys.executable, "-c", UNCALLED],
        env={**environment, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == ""


def test_warmup_without_a_writable_cache(desk, monkeypatch):
    monkeypatch.setattr(_warmup, "_constraint_steps", list)
    monkeypatch.setattr(_warmup, "_clusterer_steps", list)
    monkeypatch.setattr(_warmup, "_boosting_steps", list)
    monkeypatch.setattr(_warmup, "_cache_folders", list)
    assert "every process compiles it again" in desk.run("warmup").stdout


def test_version_and_help(desk):
    assert desk.run("--version").stdout == f"mustlink {__version__}\n"
    text = desk.run("cluster", "--help").stdout
    assert "the first data row being 0" in " ".join(text.replace("\u2502", " ").split())
    for command in ("cluster", "check", "demo", "methods", "reproduce", "warmup"):
        assert command in desk.run("--help").stdout
        assert desk.run(command, "--help").exit_code == 0


def test_usage_errors(desk):
    assert desk.run("cluster").exit_code == 2
    assert desk.run("cluster", "t.csv").exit_code == 2
    assert desk.run("cluster", "t.csv", "-k", "many").exit_code == 2
    assert desk.run("dance").exit_code == 2


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["cluster", "--help"], ["methods"]])
def test_light_commands_import_nothing_heavy(environment, words):
    script = (
        "import sys\n"
        "from mustlink.cli import main\n"
        f"sys.argv = ['mustlink', *{words!r}]\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'numba', 'pandas', 'pyarrow', 'matplotlib'} & set(sys.modules)\n"
        "print('HEAVY', sorted(heavy))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.endswith("HEAVY []\n")


def test_as_a_process(shop, environment):
    done = process(environment, "cluster", "shop.csv", "links.csv", "-k", "3", "--id", "who", "--ignore", "kind")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "shop.clusters.csv" in shop.names()
    done = process(environment, "cluster", "none.csv", "-k", "3")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "Error: There is no file none.csv.\n")


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_what_the_output_cannot_encode_is_replaced(desk, environment, encoding):
    desk.write("t.csv", "h\u00f6he \u674e,y\n" + "".join(f"{row % 2 * 9 + row / 10},{row}\n" for row in range(12)))
    for words in (
        ["cluster", "t.csv", "-k", "2", "--method", "pck"],
        ["cluster", "t.csv", "-k", "\u00f6"],
        ["ask", "t.csv", "-k", "2"],
    ):
        done = subprocess.run(
            [*COMMAND, *words],
            env={**environment, "PYTHONIOENCODING": encoding},
            input=b"",
            capture_output=True,
            timeout=120,
            check=False,
        )
        shown = done.stdout.decode(encoding) + done.stderr.decode(encoding, errors="replace")
        assert done.returncode == (2 if "\u00f6" in "".join(words) else 0), shown
        assert "codec" not in shown
        assert "Traceback" not in shown
        if words[0] == "ask" or words[-1] == "pck":
            assert ("h?he ?" if encoding == "ascii" else "h\u00f6he ?") in shown


def test_an_answer_can_be_piped(shop, environment):
    words = ["cluster", "shop.csv", "-k", "3", "--id", "who", "--ignore", "kind", "-o", "/dev/stdout"]
    done = process(environment, *words)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("who,cluster\nc00,")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", [["methods"], ["--version"], ["--help"]])
def test_output_to_a_full_disk(environment, words, unbuffered):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, *words],
            env={**environment, "PYTHONUNBUFFERED": unbuffered},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == "Error: No space is left on the disk.\n"


def test_closed_output_pipe(environment):
    with subprocess.Popen(
        [*COMMAND, "methods"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        running.stdout.close()
        assert running.stderr.read() == ""


def test_the_demo_keeps_a_file_that_was_changed(desk):
    assert desk.run("demo").exit_code == 0
    path = desk.folder / "mustlink-demo" / "links.csv"
    assert "was changed" not in desk.run("demo").stdout
    path.write_text(path.read_text() + "C001,C002,must\n")
    changed = path.read_text()
    result = desk.run("demo")
    assert result.exit_code == 0, result.output
    assert path.read_text() == changed
    assert "links.csv was changed and is used as it is; delete it to get the sample back." in result.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("-k", "three"), "'-k' / '--clusters': 'three' is not a whole number."),
        (("-k", 3, "--missing", "median"), "'--missing': 'median' is not one of 'error', 'drop', 'mean'."),
    ],
)
def test_a_value_of_another_kind_is_refused_in_plain_words(desk, words, message):
    result = desk.run("cluster", "t.csv", *words)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Input should" not in result.stderr


def test_the_help_is_about_the_command(desk):
    shown = {name: desk.run(name, "--help").stdout for name in ("cluster", "check", "ask")}
    assert "The same seed asks the same questions." in shown["ask"]
    assert "The seed of the plain k-means" in shown["check"]
    assert "written beside them" in shown["cluster"]
    assert not any("written beside them" in shown[name] for name in ("check", "ask"))
    for text in shown.values():
        flags = [line for line in text.splitlines() if "--debug" in line or "--no-header" in line]
        assert len(flags) == 2
        assert not any("<bool>" in line for line in flags)


def test_the_list_of_methods_has_every_class_whole_at_80_columns(desk):
    shown = desk.run("methods", width=80).stdout
    assert all(entry.class_name in shown for entry in CATALOGUE if entry.aliases)
    assert max(map(len, shown.splitlines())) <= 80
