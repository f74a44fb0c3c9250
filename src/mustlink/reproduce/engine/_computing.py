"""Computing the runs that have no result yet, on several cores, with a progress bar."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Sequence

from mustlink._progress import progress
from mustlink.reproduce.engine._protocol import Protocol
from mustlink.reproduce.engine._results import Results
from mustlink.reproduce.engine._run import Run
from mustlink.reproduce.engine._store import Record, ResultStore

__all__ = ["compute_runs", "stored_results"]


def stored_results(store: ResultStore, runs: Sequence[Run]) -> Results:
    """Return the stored results of some runs, in the order of the runs."""
    records = store.read()
    return Results(records[key] for key in (run.key() for run in runs) if key in records)


def compute_runs(
    protocol: Protocol, runs: Sequence[Run], store: ResultStore, *, n_jobs: int = 1, show: bool = True
) -> Results:
    """Compute the runs that have no result yet or failed, and return the results of all.

    Results are stored as soon as they are computed. With n_jobs=-1, as many runs as there are cores are computed at the
    same time; runs that are timed are always alone. The progress bar is shown on a terminal only.
    """
    finished = {key for key, record in store.read().items() if record.error is None}
    pending = [run for run in runs if run.key() not in finished]
    # In a fixed random order, the mean time of the runs so far predicts the time that is left.
    random.Random(0).shuffle(pending)
    protocol.check_data(pending)
    together = [run for run in pending if run.measure != "seconds"]
    alone = [run for run in pending if run.measure == "seconds"]
    shown, n_done = show and sys.stderr.isatty(), len(runs) - len(pending)
    with progress(len(runs), protocol.name, shown=shown, n_done=n_done, stderr=True, timed=True) as advance:
        for batch, jobs in ((together, n_jobs), (alone, 1)):
            for record in _records(protocol, batch, jobs):
                store.append(record)
                advance()
    return stored_results(store, runs)


def _records(protocol: Protocol, runs: Sequence[Run], n_jobs: int) -> Iterator[Record]:
    """Yield results as they are computed."""
    if n_jobs == 1 or len(runs) < 2:
        yield from map(protocol.compute, runs)
        return
    from joblib import Parallel, delayed

    yield from Parallel(n_jobs=n_jobs, return_as="generator_unordered")(delayed(protocol.compute)(run) for run in runs)
