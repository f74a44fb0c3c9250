"""Seconds and memory of a piece of work in this process; needs neither mustlink nor numpy."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def clock(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds that some work takes, and its result."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def shortest(work: Callable[[], Any], n_times: int = 3) -> tuple[float, Any]:
    """Return the shortest of some times, since a busy machine only adds to them, and the last result."""
    timed = [clock(work) for _ in range(n_times)]
    return min(seconds for seconds, _ in timed), timed[-1][1]


def measure(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """Return the seconds of some work, the peak of memory in megabytes above that before, and its result."""
    before = forget_peak()
    seconds, result = clock(work)
    return seconds, megabytes_now("VmHWM") - before, result


def forget_peak() -> float:
    """Reset the peak to the memory held now, and return that in megabytes; NaN on systems other than Linux."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return float("nan")
    return megabytes_now("VmRSS")


def megabytes_now(name: str) -> float:
    """Return a figure of the kernel about this process (VmRSS: held now, VmHWM: the peak) in megabytes."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(name)), float("nan"))


def run_main(main: Callable[[], None], one: Callable[..., dict[str, Any]]) -> None:
    """Run all of a benchmark; or, with arguments on the command line, one case, printed as JSON."""
    if len(sys.argv) > 1:
        print(json.dumps(one(*sys.argv[1:])))
    else:
        main()
