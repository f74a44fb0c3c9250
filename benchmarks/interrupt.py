"""How soon Ctrl-C ends the command, for every method, at several moments of a fit of 300,000 rows and 20 columns.

``python -m benchmarks.interrupt NAME ...`` measures some methods only.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks._show import new_table, show
from mustlink import Constraints
from mustlink.catalogue import CATALOGUE, find_clusterer

N_ROWS, N_COLUMNS, N_CLUSTERS, N_LINKS = 300_000, 20, 5, 200
# Seconds after the start of the command; loading Python and its packages takes the first one or two.
MOMENTS = (1.5, 3.0, 8.0, 15.0, 25.0)
MAX_SECONDS = 2.0
# A command that has not ended after this is killed.
PATIENCE = 60.0


def write_files(folder: Path) -> None:
    """Write the table, as an array and as text, and links between its rows."""
    rng = np.random.default_rng(0)
    classes = rng.integers(N_CLUSTERS, size=N_ROWS)
    X = rng.normal(size=(N_ROWS, N_COLUMNS)) + 2.0 * rng.normal(size=(N_CLUSTERS, N_COLUMNS))[classes]
    np.save(folder / "table.npy", X)
    pd.DataFrame(X, columns=[f"x{i}" for i in range(N_COLUMNS)]).to_csv(folder / "table.csv", index=False)
    Constraints.sample(classes, n_pairs=N_LINKS, random_state=0).write(folder / "links.csv")


def interrupt(folder: Path, table: str, method: str, moment: float) -> tuple[str, float, float]:
    """Run the command, send it Ctrl-C after some seconds, and return how it ended and how long that took.

    The time is that of the clock, and that of the processor, which other work on the machine does not change. An
    outcome of `ended` or `refused` came before the moment.
    """
    links = ["links.csv"] if find_clusterer(method).takes_links else []
    words = [sys.executable, "-m", "mustlink", "cluster", table, *links, "-k", str(N_CLUSTERS), "--method", method]
    before, cores_before = set(os.listdir(folder)), processor_seconds()
    cores_then = 0.0
    process = subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        process.wait(moment)
        outcome, seconds = "ended" if process.returncode == 0 else "refused", float("nan")
    except subprocess.TimeoutExpired:
        cores_then = processor_seconds(process.pid)
        process.send_signal(signal.SIGINT)
        start = time.perf_counter()
        try:
            process.wait(PATIENCE)
            seconds = time.perf_counter() - start
            # While Python itself starts, the signal ends it, which a shell shows as 130 as well.
            heard = process.returncode in (130, -signal.SIGINT)
            outcome = "stopped" if heard else f"exit code {process.returncode}"
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            outcome, seconds = "killed", PATIENCE
    with process:
        printed = process.communicate()[0]
    if b"written to" in printed:
        # All was done, and only Python itself had still to end.
        outcome = "ended"
    left = set(os.listdir(folder)) - before
    for name in left:
        (folder / name).unlink()
    if left and outcome != "ended":
        outcome += f", left {', '.join(sorted(left))}"
    return outcome, seconds, processor_seconds() - cores_before - cores_then


def processor_seconds(pid: int | None = None) -> float:
    """Return the processor time of a process (on Linux; 0 elsewhere), or without one of all that have ended."""
    if pid is None:
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        return ended.ru_utime + ended.ru_stime
    status = Path(f"/proc/{pid}/stat")
    if not status.exists():
        return 0.0
    fields = status.read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def describe(outcome: str, seconds: float, cores: float) -> str:
    """Word one measurement; what is not as it should be is marked."""
    if outcome in ("ended", "refused"):
        return outcome
    as_it_should = outcome == "stopped" and seconds <= MAX_SECONDS
    return f"{seconds:.1f} s ({cores:.1f} s)" + ("" if as_it_should else f" ({outcome}) !")


def main(names: Iterable[str] = ()) -> None:
    """Measure the methods, and print the table."""
    # A shell starts its background jobs with Ctrl-C ignored, and the commands would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    names = list(names) or [entry.name for entry in CATALOGUE]
    asked = f"at most {MAX_SECONDS:g} s asked for"
    title = f"Seconds from Ctrl-C to the end (of the processor); {N_ROWS:,} x {N_COLUMNS}, {asked}"
    results = new_table(title, "method", *(f"after {moment:g} s" for moment in MOMENTS))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder)
        runs = [("read and encode a .csv", "table.csv", "pck"), *((method, "table.npy", method) for method in names)]
        for title, table, method in runs:
            cells = [describe(*interrupt(folder, table, method, moment)) for moment in MOMENTS]
            print(f"{title}: {', '.join(cells)}", flush=True)
            results.add_row(title, *cells)
    show(results)


if __name__ == "__main__":
    main(sys.argv[1:])
