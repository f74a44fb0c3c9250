"""Closure, conflicts and kept links on a million rows and a million links.

Each case runs in a process of its own, so that its peak of memory is its own. The links are made beforehand and read
from a file, so that making them leaves no trace in it. The yardstick is the work that cannot be avoided: SciPy's
connected components of the same must-links, with their graph already built. All steps run on one core, and their
seconds are those of the core, which on a free machine are those of the clock.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._apart import run_apart
from benchmarks._measure import forget_peak, megabytes_now, run_main

N_ROWS = 1_000_000
N_LINKS = 1_000_000
N_CANNOT_INSIDE = 1_000
N_REPEATS = 3
MAX_SECONDS = 3.0
MAX_MEGABYTES = 500.0
CASES = {
    "random": "half must-links, half cannot-links, all random",
    "tree": "one component with all rows, a random tree, 1,000 cannot-links inside",
    "path": "one component with all rows, a path, 1,000 cannot-links inside",
}
STEPS = ("make", "closure", "conflicts", "10 chains", "satisfied")

Pairs = NDArray[np.int64]


def random_pairs(n_pairs: int, rng: np.random.Generator) -> Pairs:
    """Draw pairs of two different rows."""
    first = rng.integers(N_ROWS, size=n_pairs)
    second = (first + rng.integers(1, N_ROWS, size=n_pairs)) % N_ROWS
    return np.column_stack([first, second])


def make_links(case: str, rng: np.random.Generator) -> tuple[Pairs, Pairs]:
    """Make the must-links and the cannot-links of a case."""
    if case == "random":
        return random_pairs(N_LINKS // 2, rng), random_pairs(N_LINKS // 2, rng)
    name = rng.permutation(N_ROWS)
    rows = np.arange(1, N_ROWS)
    parent = (rng.random(N_ROWS - 1) * rows).astype(np.int64) if case == "tree" else rows - 1
    return np.column_stack([name[rows], name[parent]]), random_pairs(N_CANNOT_INSIDE, rng)


def first_chains(conflicts: Any) -> list[tuple[int, ...]]:
    """Find the chains of the first ten conflicts."""
    return [conflict.chain for conflict in conflicts[:10]]


def measure(folder: str) -> dict[str, float]:
    """Time the steps on the links in a folder, and take the peak of memory above them."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    from mustlink import Constraints

    must, cannot, labels = (np.load(Path(folder) / f"{name}.npy") for name in ("must", "cannot", "labels"))
    # Compiled code is loaded here, as it would be once in a working day.
    _ = Constraints([(0, 1), (1, 2)], [(0, 2)]).conflicts()[0].chain
    before = forget_peak()
    figures: dict[str, float] = {}

    def timed(step: str, work: Callable[..., Any], *arguments: Any) -> Any:
        """Do a step; of several times the shortest counts, since a busy machine only ever adds to it."""
        begin = time.process_time()
        result = work(*arguments)
        figures[step] = min(time.process_time() - begin, figures.get(step, np.inf))
        return result

    make = partial(Constraints, contradictions="majority")
    for _ in range(N_REPEATS):
        links = timed("make", make, must, cannot)
        closure = timed("closure", links.closure, N_ROWS)
        conflicts = timed("conflicts", links.conflicts)
        chains = timed("10 chains", first_chains, conflicts)
        satisfied = timed("satisfied", links.satisfied, labels)
    figures["megabytes"] = megabytes_now("VmHWM") - before

    a, b = links.must_link.T
    graph = coo_array((np.ones(len(a)), (a, b)), shape=(N_ROWS, N_ROWS)).tocsr()
    for _ in range(N_REPEATS):
        n_components, _ = timed("components alone", connected_components, graph, False)
    assert closure.n_components == n_components
    assert len(satisfied) == len(links)
    figures["n_conflicts"] = len(conflicts)
    figures["longest chain"] = max(map(len, chains), default=0)
    return figures


def run(case: str) -> dict[str, Any]:
    """Measure a case in a process of its own."""
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        must, cannot = make_links(case, rng)
        for name, array in (("must", must), ("cannot", cannot), ("labels", rng.integers(10, size=N_ROWS))):
            np.save(Path(folder) / f"{name}.npy", array)
        return run_apart("ours", "constraints", folder, time_limit=600)


def main() -> None:
    """Measure all cases and print them as one table."""
    print(f"{N_ROWS:,} rows and {N_LINKS:,} links; seconds of one core, and MB above the data")
    heads = [*STEPS, "all but make", "x components alone", "MB", "conflicts", "longest chain", "within target"]
    print(f"{'case':8}" + "".join(f"{head:>{len(head) + 2}}" for head in heads))
    for case in CASES:
        figures = run(case)
        if "failed" in figures:
            print(f"{case:8}  failed: {figures['failed']}")
            continue
        total = sum(figures[step] for step in STEPS if step != "make")
        good = total < MAX_SECONDS and figures["megabytes"] < MAX_MEGABYTES
        cells = [f"{figures[step]:.2f}" for step in STEPS]
        cells += [f"{total:.2f}", f"{total / figures['components alone']:.1f}", f"{figures['megabytes']:.0f}"]
        cells += [f"{figures['n_conflicts']:,.0f}", f"{figures['longest chain']:,.0f}", "yes" if good else "NO"]
        print(f"{case:8}" + "".join(f"{cell:>{len(head) + 2}}" for head, cell in zip(heads, cells, strict=True)))
    for case, meaning in CASES.items():
        print(f"{case}: {meaning}")
    print(f"target: all but make under {MAX_SECONDS:g} s; all under {MAX_MEGABYTES:g} MB above the data")


if __name__ == "__main__":
    run_main(main, measure)
