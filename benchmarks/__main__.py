"""Run the benchmarks one after the other: ``python -m benchmarks [NAME ...] [--quick]``."""

from __future__ import annotations

import importlib
import sys

NAMES = (
    "constraints",
    "tables",
    "command",
    "kmeans",
    "boostcluster",
    "bbc",
    "bckm",
    "density",
    "connected",
    "correlation",
    "coclustering",
    "mixture",
    "mean_field",
    "balanced",
    "existential",
    "metric_learning",
    "cannot_link_metric",
    "pairwise",
    "lcvqe",
    "kernelkmeans",
    "spectral",
    "taxonomy",
    "hierarchy",
    "mpckmeans",
    "assign",
    "publish",
    "relational",
    "alternative",
    "sizes",
    "scale",
    "studio",
    "inference",
    "interrupt",
    "peers",
)


def main(words: list[str]) -> None:
    # Each benchmark reads the options by itself.
    names = [word for word in words if not word.startswith("--")]
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        sys.exit(f"There is no benchmark called {unknown[0]}; there are {', '.join(NAMES)}.")
    for name in names or NAMES:
        print(f"\n== {name} ==", flush=True)
        importlib.import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main(sys.argv[1:])
