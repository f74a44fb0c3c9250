"""The studio on 100,000 rows and 10 columns, in Chromium: first draw, answers alone and while it fits, memory.

The page is the real one, in the system's Chromium. What draws its points is in the table: WebGL where there is a
graphics card, else a canvas. The server is ``mustlink studio`` in a process of its own. The last table compares the
engine of the studio, which updates one tree, with a fit of SeededSingleLink from scratch. Without a browser only this
table is made. The tables are also written into docs/benchmarks. ``python -m benchmarks studio --quick`` runs 5,000
rows and writes nothing.
"""

from __future__ import annotations

import csv
import importlib
import os
import re
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks._environments import ROOT
from benchmarks._measure import clock
from benchmarks._problems import overlapping_blobs
from benchmarks._show import new_table, show

N_ROWS, N_QUICK_ROWS, N_COLUMNS, N_CLUSTERS = 100_000, 5_000, 10, 10
N_ANSWERS = 20
# Milliseconds that were asked for.
MAX_ABSORBED, MAX_RECOLORED = 100, 300
# Milliseconds that a step in the browser may take before the benchmark gives up.
PATIENCE = 300_000


def main() -> None:
    quick = "--quick" in sys.argv[1:]
    n_rows = N_QUICK_ROWS if quick else N_ROWS
    X, y, _ = overlapping_blobs(n_rows, 1, n_features=N_COLUMNS, spread=2.0)
    tables = {"engine": beside_a_fit(X, y)}
    running = importlib.import_module("tests.studio.browser.running")
    if reason := running.why_no_browser():
        print(f"The page is not measured: {reason}.")
    else:
        tables = {"page": of_the_page(X, y, running)} | tables
    for name, (title, headings, rows) in tables.items():
        table = new_table(f"{title}; {n_rows:,} x {N_COLUMNS}", *headings)
        for row in rows:
            table.add_row(*row)
        show(table)
        if not quick:
            with (ROOT / "docs" / "benchmarks" / f"studio-{name}.csv").open("w", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows([headings, *rows])


# When the frame after the next is drawn, the milliseconds from the last action to the last draw of new colors.
DRAWN_AFTER = """() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => {
    const { store, plot } = window.mustlinkStudio;
    resolve(plot.drawnAt - store.actedAt);
})))"""

Table = tuple[str, list[str], list[list[str]]]
HEADINGS = ["what", "measured", "asked", "kept"]


def of_the_page(X: Any, y: Any, running: Any) -> Table:
    """Measure a studio in a process of its own, and its page."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "table.csv")
        load = os.getloadavg()[0]
        pd.DataFrame(X.round(4), columns=[f"x{column}" for column in range(X.shape[1])]).to_csv(table, index=False)
        words = (table, "-k", "2")
        with running.open_browser() as browser, running.RunningStudio(*words, folder=table.parent) as studio:
            first = time.perf_counter()
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.set_default_timeout(PATIENCE)
            page.goto(studio.url)
            until(page, "plot.drawnAt > 0")
            drawn = page.evaluate("window.mustlinkStudio.plot.drawnAt")
            layer = page.evaluate("window.mustlinkStudio.plot.layer")
            until(page, "store.question && store.question.question")
            asked = time.perf_counter() - first
            page.evaluate("() => window.mustlinkStudio.store.act({ do: 'choose', method: 'instant' })")
            pair = [int(np.flatnonzero(y % 2 == side)[0]) for side in (0, 1)]
            linked = time.perf_counter()
            page.evaluate("([a, b]) => window.mustlinkStudio.store.act({ do: 'link', a, b, together: false })", pair)
            # No action waits for the tree of all rows, and the first groups do.
            until(page, "store.state.shown.status === 'instant' && store.state.groups.length === 2")
            waited = time.perf_counter() - linked
            count_absorbed(page)
            alone = answer_all(page, y)
            page.evaluate("() => window.mustlinkStudio.store.act({ do: 'choose', method: 'auto' })")
            until(page, "store.state.method === 'auto'")
            fitting = answer_all(page, y)
            memory = memory_of(page, browser)
            held = studio.memory
    rows = [
        ["processes that ran or waited for a core before, mean of a minute", f"{load:.1f}", "", ""],
        ["points are drawn by", layer, "", ""],
        ["from opening the page to the first draw, s", f"{drawn / 1000:.2f}", "", ""],
        ["to the first question, s", f"{asked:.1f}", "", ""],
        ["from the first link to the groups along it, which wait for the tree, s", f"{waited:.1f}", "", ""],
        *answer_rows(alone, ""),
        ["answers while the background fitted", f"{fitting['working']} of {N_ANSWERS}", "", ""],
        *answer_rows(fitting, " while the background fits"),
        ["memory of the page, heap of JavaScript without arrays, MB", f"{memory['heap']:.0f}", "", ""],
        ["memory of the page's process, MB", f"{memory['renderer']:.0f}", "", ""],
        ["memory of the server and its worker, MB", f"{held:.0f}", "", ""],
    ]
    return f"The studio in Chromium, twice {N_ANSWERS} answers", HEADINGS, rows


def answer_rows(answers: dict[str, Any], when: str) -> list[list[str]]:
    """The rows of some answers."""
    return [
        *summarize(f"from a key to recolored points{when}, ms", answers["recolored"], MAX_RECOLORED),
        *summarize(f"an answer absorbed by the server{when}, ms", answers["absorbed"], MAX_ABSORBED),
        *summarize(f"from a key to the next question{when}, ms", answers["next"], None),
    ]


def summarize(what: str, values: list[float], limit: int | None) -> list[list[str]]:
    """Two rows: the median of some values and the greatest one; none if there are no values."""
    if not values:
        return []
    return [
        limited(f"{what}, median", float(np.median(values)), limit),
        limited(f"{what}, greatest", max(values), limit),
    ]


def limited(what: str, value: float, limit: int | None) -> list[str]:
    """A row with what was asked for, and whether it was kept."""
    kept = ("", "") if limit is None else (f"under {limit}", "yes" if value < limit else "no")
    return [what, f"{value:.0f}", *kept]


def until(page: Any, condition: str) -> None:
    """Wait until a condition on `store` and `plot` holds."""
    page.wait_for_function(
        f"() => {{ const {{ store, plot }} = window.mustlinkStudio ?? {{}}; return store && {condition}; }}"
    )


def count_absorbed(page: Any) -> None:
    """Let the page note the milliseconds that the server needs for each action."""
    page.evaluate(
        "() => { window.absorbed = []; window.mustlinkStudio.store.connection.on("
        "{ message: (message) => { if (message.type === 'done') window.absorbed.push(message.ms); } }); }"
    )


def answer_all(page: Any, y: Any) -> dict[str, Any]:
    """Answer questions by keys, rightly, and return the milliseconds of each, and how many met a fit that ran."""
    page.evaluate("() => { window.absorbed.length = 0; }")
    working = 0
    recolored, following = [], []
    for _ in range(N_ANSWERS):
        until(page, "store.busy === 0 && store.question.question")
        revision, a, b, is_working = page.evaluate(
            "() => { const { state, question } = window.mustlinkStudio.store;"
            " return [state.revision, question.question.a, question.question.b, state.shown.status === 'working']; }"
        )
        working += is_working
        page.keyboard.press("s" if y[a] % 2 == y[b] % 2 else "d")
        until(page, f"store.busy === 0 && store.state.revision > {revision}")
        # Negative if no row changed its group, so that nothing was drawn.
        if (taken := page.evaluate(DRAWN_AFTER)) > 0:
            recolored.append(taken)
        until(
            page,
            f"store.question.end || String([store.question.question?.a, store.question.question?.b]) !== '{a},{b}'",
        )
        following.append(page.evaluate("performance.now() - window.mustlinkStudio.store.actedAt"))
    absorbed = page.evaluate("window.absorbed")
    return {"recolored": recolored, "absorbed": absorbed, "next": following, "working": working}


def memory_of(page: Any, browser: Any) -> dict[str, float]:
    """Return the megabytes of the page: its heap, and the process that draws it."""
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    heap = session.send("Runtime.getHeapUsage")["usedSize"]
    processes = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
    renderers = [process["id"] for process in processes if process["type"] == "renderer"]
    held = [re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text()) for pid in renderers]
    return {"heap": heap / 2**20, "renderer": max(int(found.group(1)) for found in held if found) / 1024}


def beside_a_fit(X: Any, y: Any) -> Table:
    """Time actions of the engine beside fits of SeededSingleLink from scratch with the same links."""
    from mustlink import SeededSingleLink
    from mustlink.studio import Engine, Link

    rng = np.random.default_rng(0)
    pairs = [(int(a), int(b)) for a, b in rng.integers(len(X), size=(N_ANSWERS, 2)) if a != b]
    actions = [Link(a, b, bool(y[a] == y[b])) for a, b in pairs]
    small = Engine(X[:200])
    for pair in ((0, 1), (2, 3)):
        small.apply(Link(*pair, together=False))  # compiles
    engine = Engine(X)
    seconds, _ = clock(engine.prepare)
    engine.apply(actions[0])
    taken = [clock(partial(engine.apply, action))[0] for action in actions[1:]]
    scratch, _ = clock(partial(SeededSingleLink().fit, X, constraints=engine.constraints))
    update = float(np.median(taken))
    rows = [
        ["the tree, computed once, s", f"{seconds:.2f}", "", ""],
        *summarize("an action, ms", [1000 * value for value in taken], MAX_ABSORBED),
        ["a fit from scratch, s", f"{scratch:.2f}", "", ""],
        ["a fit beside an action, times", f"{scratch / update:,.0f}", "", ""],
    ]
    return "The engine of the studio beside SeededSingleLink", HEADINGS, rows


if __name__ == "__main__":
    main()
