"""Reading and encoding a CSV file beside plain ``pandas.read_csv``, as a ratio of the two times in one run."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from mustlink.tables import encode, read_table

N_ROWS = 300_000
N_NUMERIC, N_TEXT = 15, 3
N_ROUNDS = 7
MAX_RATIO = 2.0


def write_file(path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"x{i}": rng.normal(size=N_ROWS).round(6) * 10 ** (i % 4) for i in range(N_NUMERIC)})
    for place in range(N_TEXT):
        frame[f"t{place}"] = rng.choice(["red", "green", "blue", "dark orange"], N_ROWS)
    frame.to_csv(path, index=False)


def seconds(function: Callable[[], object]) -> tuple[float, float]:
    """Return the seconds of the clock, and of all processor cores together."""
    clock, cores = time.perf_counter(), time.process_time()
    function()
    return time.perf_counter() - clock, time.process_time() - cores


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        write_file(path)
        print(f"{N_ROWS:,} rows, {N_NUMERIC} numeric and {N_TEXT} text columns, {path.stat().st_size / 1e6:.0f} MB")
        steps: dict[str, Callable[[], object]] = {
            "pandas.read_csv": lambda: pd.read_csv(path),
            "read_table": lambda: read_table(path),
            "read_table and encode": lambda: encode(read_table(path)),
        }
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in steps}
        # Alternating, because the load of the machine changes over time.
        for _ in range(N_ROUNDS):
            for name, step in steps.items():
                times[name].append(seconds(step))
    plain = np.array(times["pandas.read_csv"])
    print(f"{'':<24}{'clock':>8}{'ratio':>8}{'cores':>9}{'ratio':>8}")
    for name, taken in times.items():
        clock, cores = np.median(taken, axis=0)
        clock_ratio, cores_ratio = np.median(np.array(taken) / plain, axis=0)
        print(f"{name:<24}{clock:8.3f}{clock_ratio:8.2f}{cores:9.3f}{cores_ratio:8.2f}")
    print(f"asked: a ratio of at most {MAX_RATIO}; from pandas 3.1 on, read_csv uses several cores")


if __name__ == "__main__":
    main()
