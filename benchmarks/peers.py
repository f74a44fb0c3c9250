"""Our methods and the peers on the same tables and links, one after the other; writes docs/benchmarks.rst.

Every fit runs in a process of its own, each method with its defaults. A fit that takes more than two minutes is
stopped, and its method is not tried on that table again. Results are kept in benchmarks/results, so that a run that was
interrupted goes on where it was; ``python -m benchmarks.peers --fresh`` starts again.
"""

from __future__ import annotations

import csv
import json
import platform
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._apart import ONE_THREAD, run_apart
from benchmarks._contenders import CONTENDERS, Contender, Problem
from benchmarks._environments import ROOT
from benchmarks._problems import overlapping_blobs
from benchmarks._show import new_table, show

TIME_LIMIT = 120
TRIALS = 3
RESULTS = ROOT / "benchmarks" / "results" / "peers.jsonl"
PAGE = ROOT / "docs" / "benchmarks.rst"
FIGURES = ROOT / "docs" / "benchmarks"
TABLES = {
    "iris": ("iris, standardized: 150 x 4, 3 classes, 50 links", 50),
    "wine": ("wine, standardized: 178 x 13, 3 classes, 50 links", 50),
    "digits": ("digits: 1,797 x 64, 10 classes, 200 links", 200),
    "blobs": ("overlapping Gaussian clusters: 5,000 x 16, 10 classes, 250 links", 250),
}
HEADINGS = (
    ("seconds", "s"),
    ("ratio", "times ours"),
    ("megabytes", "MB"),
    ("ari", "ARI"),
    ("nmi", "NMI"),
    ("broken", "broken"),
)
INTRO = """Benchmarks beside other packages
================================

Other packages for the same task, on the same tables with the same links (half must-links, half cannot-links,
drawn from the classes). Every method runs with its own defaults, and is given k, the links and a seed; figures
are means of {trials} draws of the links. Methods without the name of a package are those of mustlink. *times
ours* is the time divided by that of the first method of mustlink for the same task. *MB* is the peak of memory
above that before the fit. Scores in brackets are those on rows in no link. *broken* counts broken links.
Importing and compiling are not counted. All run on one thread. A fit of more than {limit} s is stopped.
``python -m benchmarks peers`` writes this page.

The methods of the task *no links* and the rows of scikit-learn do not see the links: they show what the links
are worth. k-means-constrained bounds cluster sizes, which is not asked for here. constrained-linkage knows soft
links only; it gets a penalty of a thousand times the greatest distance.

Run with {machine}.
"""


def main() -> None:
    if "--fresh" in sys.argv:
        RESULTS.unlink(missing_ok=True)
    RESULTS.parent.mkdir(exist_ok=True)
    results = Kept.read()
    with tempfile.TemporaryDirectory() as folder:
        for table in TABLES:
            paths = [pose(Path(folder), table, trial) for trial in range(TRIALS)]
            for contender in CONTENDERS:
                run(contender, table, paths, results)
            show(terminal_table(table, results))
    for table in TABLES:
        write_csv(table, results)
    PAGE.write_text("\n".join(page()), encoding="utf-8")
    print(f"Wrote {PAGE.relative_to(ROOT)} and the tables in {FIGURES.relative_to(ROOT)}.")


# ---- running


class Kept:
    """The figures so far, appended to a file as they come."""

    def __init__(self, rows: dict[tuple[str, str, int], dict[str, Any]]) -> None:
        self.rows = rows

    @classmethod
    def read(cls) -> Kept:
        """Read what earlier runs have left."""
        lines = RESULTS.read_text().splitlines() if RESULTS.exists() else []
        rows = [json.loads(line) for line in lines]
        return cls({(row["table"], row["name"], row["trial"]): row["figures"] for row in rows})

    def add(self, table: str, name: str, trial: int, figures: dict[str, Any]) -> None:
        """Keep the figures of one fit."""
        self.rows[table, name, trial] = figures
        with RESULTS.open("a") as file:
            file.write(json.dumps({"table": table, "name": name, "trial": trial, "figures": figures}) + "\n")

    def of(self, table: str, contender: Contender) -> list[dict[str, Any]]:
        """Return the figures of all trials."""
        keys = [(table, contender.name, trial) for trial in range(TRIALS)]
        return [self.rows[key] for key in keys if key in self.rows]


def run(contender: Contender, table: str, paths: list[Path], results: Kept) -> None:
    """Fit one method to all draws of the links, unless that has been done."""
    for trial, path in enumerate(paths):
        before = results.of(table, contender)
        if (table, contender.name, trial) in results.rows or any("too_long" in figures for figures in before):
            continue
        print(f"{table} {trial + 1}/{TRIALS} {contender.name}", file=sys.stderr, flush=True)
        results.add(table, contender.name, trial, fit_apart(contender, path))


def fit_apart(contender: Contender, path: Path) -> dict[str, Any]:
    """Fit in a process of its own and return its figures, or what went wrong."""
    arguments = (contender.name, str(path))
    return run_apart(contender.environment, "_contenders", *arguments, time_limit=TIME_LIMIT, variables=ONE_THREAD)


def pose(folder: Path, table: str, trial: int) -> Path:
    """Write a table and links drawn from its classes."""
    from mustlink import Constraints

    X, y = load_table(table)
    links = Constraints.sample(y, n_pairs=TABLES[table][1], random_state=trial)
    path = folder / f"{table}-{trial}"
    path.mkdir()
    Problem(X, y, links.must_link, links.cannot_link, len(np.unique(y)), trial).write(path)
    return path


def load_table(table: str) -> tuple[Any, Any]:
    """Load or make a table and its classes."""
    from sklearn import datasets
    from sklearn.preprocessing import StandardScaler

    if table == "blobs":
        return overlapping_blobs(5_000, 1)[:2]
    X, y = getattr(datasets, f"load_{table}")(return_X_y=True)
    return (X if table == "digits" else StandardScaler().fit_transform(X)), y


# ---- showing


def rows_of(table: str, results: Kept) -> Iterator[tuple[str, str, list[str]]]:
    """Yield task, name and cells of every method."""
    ours: dict[str, float] = {}
    for contender in sorted(CONTENDERS, key=lambda one: [other.task for other in CONTENDERS].index(one.task)):
        runs = results.of(table, contender)
        done = [figures for figures in runs if "failed" not in figures]
        version = f" {done[0]['version']}" if done else ""
        name = contender.method if contender.is_ours else f"{contender.package}{version}: {contender.method}"
        if not done:
            message = runs[0]["failed"] if runs else "not run"
            yield contender.task, name, [f"failed: {message[:90]}"]
            continue
        mean = {key: float(np.mean([figures[key] for figures in done])) for key in done[0] if key != "version"}
        if contender.is_ours:
            ours.setdefault(contender.task, mean["seconds"])
        mean["ratio"] = mean["seconds"] / ours.get(contender.task, float("nan"))
        cells = [cell_text(key, mean) for key, _ in HEADINGS]
        failed = len(runs) - len(done)
        yield contender.task, name + (f" (failed {failed} of {len(runs)})" if failed else ""), cells


def cell_text(key: str, mean: dict[str, float]) -> str:
    """Write a figure; a score with that on rows in no link behind it."""
    value = mean[key]
    if np.isnan(value):
        return ""
    if key == "seconds":
        return f"{value:.4f}" if value < 0.1 else f"{value:.2f}" if value < 10 else f"{value:.0f}"
    if key == "ratio":
        return f"{value:,.0f}" if value >= 10 else f"{value:.1f}" if value >= 1 else f"{value:.2g}"
    if key in ("megabytes", "broken"):
        return f"{value:.0f}" if key == "megabytes" else f"{value:.1f}"
    return f"{value:.2f} ({mean[key + '_free']:.2f})"


def terminal_table(table: str, results: Kept) -> Any:
    """Return the figures on one table of data for the terminal."""
    shown = new_table(TABLES[table][0], "task", "method", *(heading for _, heading in HEADINGS), n_names=2)
    for task, name, cells in rows_of(table, results):
        shown.add_row(task, name, *cells)
    return shown


def page() -> Iterator[str]:
    """Yield the lines of the page in the documentation, which reads the tables from their files."""
    import scipy
    import sklearn

    machine = (
        f"Python {platform.python_version()}, numpy {np.__version__}, scipy {scipy.__version__}, scikit-learn "
        f"{sklearn.__version__}"
    )
    yield INTRO.format(trials=TRIALS, limit=TIME_LIMIT, machine=machine)
    for table, (title, _) in TABLES.items():
        yield title[0].upper() + title[1:]
        yield "-" * len(title) + "\n"
        yield ".. csv-table::"
        yield f"   :file: benchmarks/peers-{table}.csv"
        yield "   :header-rows: 1\n"


def write_csv(table: str, results: Kept) -> None:
    """Write the figures on one table of data to the file that the page reads; a task is named once."""
    FIGURES.mkdir(exist_ok=True)
    with (FIGURES / f"peers-{table}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["task", "method", *(heading for _, heading in HEADINGS)])
        last = ""
        for task, name, cells in rows_of(table, results):
            padding = [""] * (len(HEADINGS) - len(cells))
            writer.writerow([task if task != last else "", name, *map(escape, cells), *padding])
            last = task


def escape(cell: str) -> str:
    """Keep a message of another package from being read as markup."""
    return f"``{cell.replace('`', chr(39))}``" if cell.startswith("failed") else cell


if __name__ == "__main__":
    main()
