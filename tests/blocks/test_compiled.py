"""Blocks use what `mustlink warmup` has compiled for tables in memory."""

from __future__ import annotations

import subprocess
import sys

COMPILED_BY_BLOCKS = """
import os, sys, tempfile, warnings
import numpy as np
from mustlink import LCVQE, Constraints, COPKMeans, MPCKMeans, PCKMeans, SeededKMeans, SizeConstrainedKMeans
from mustlink.blocks import FileRows

warnings.simplefilter("ignore")
links = Constraints(must_link=[(0, 1)], cannot_link=[(1, 2)])
models = [kind(3, random_state=0) for kind in (PCKMeans, COPKMeans, LCVQE, SeededKMeans, MPCKMeans)]
models += [MPCKMeans(3, metric="full", random_state=0), SizeConstrainedKMeans(3, size_min=5, random_state=0)]
path = os.path.join(tempfile.mkdtemp(), "rows.npy")


def compiled():
    return {
        f"{name}.{key} {signature}"
        for name, module in sys.modules.items()
        if name.startswith("mustlink.") and name.endswith("_kernels")
        for key, value in vars(module).items()
        for signature in getattr(value, "signatures", ())
    }


def use(make):
    for dtype in (np.float64, np.float32):
        X = np.random.default_rng(0).normal(size=(24, 3)).astype(dtype)
        for model in models:
            for rows in make(X):
                model.fit(rows, constraints=links).transform(rows)
                model.predict(rows)


def in_blocks(X):
    np.save(path, X)
    return [FileRows(X, block_rows=5), FileRows(np.load(path, mmap_mode="r"), block_rows=5)]


use(lambda X: [X])
for dtype in (np.float64, np.float32):
    # What only blocks use has a step of its own.
    FileRows(np.ones((24, 3), dtype=dtype)).moments
before = compiled()
assert before
use(in_blocks)
print(*sorted(compiled() - before), sep="\\n")
"""


def test_blocks_compile_nothing_more_than_tables_in_memory() -> None:
    """In a process of its own, in which nothing is compiled yet; some seconds."""
    done = subprocess.run([sys.executable, "-c", COMPILED_BY_BLOCKS], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
