"""The contents of a reproduction, parts with runs, tables, figures and claims, and the computing of the runs."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from mustlink._progress import progress
from mustlink.datasets import check_present
from mustlink.reproduce.engine._claims import Claim
from mustlink.reproduce.engine._figures import Figure
from mustlink.reproduce.engine._methods import Method, compute_record
from mustlink.reproduce.engine._problem import DataSet, DrawLinks, make_problem
from mustlink.reproduce.engine._results import Record, Results, ResultStore, Run
from mustlink.reproduce.engine._tables import Table


@dataclass(frozen=True)
class RunPlan:
    """How much of a protocol is computed."""

    datasets: tuple[str, ...]
    amounts: tuple[float, ...]
    trials: int
    rows: int | None = None  # of larger sets, a random draw of so many rows
    special_trials: Mapping[str, int] = field(default_factory=dict)  # other numbers of trials, by data set
    note: str = ""

    def runs(
        self,
        paper: str,
        methods: Iterable[str],
        *,
        datasets: Iterable[str] | None = None,
        amounts: Iterable[float] | None = None,
        noises: Iterable[float] = (0.0,),
        trials: int | None = None,
        rows: int | None = None,
    ) -> Iterator[Run]:
        """Yield a run for every combination; what is not given is as the plan has it."""
        methods, noises = list(methods), list(noises)
        for dataset in self.datasets if datasets is None else datasets:
            if dataset not in self.datasets:
                continue
            n_trials = self.special_trials.get(dataset, self.trials) if trials is None else trials
            for noise in noises:
                for trial in range(n_trials):
                    for amount in self.amounts if amounts is None else amounts:
                        for method in methods:
                            yield Run(paper, dataset, method, amount, trial, noise, rows or self.rows)


@dataclass(frozen=True)
class Part:
    """A figure or table of the paper."""

    key: str  # the value of --figure
    runs: Callable[[RunPlan], Iterable[Run]]
    tables: Callable[[Results], Iterable[Table]] = field(default=lambda results: ())
    figures: Callable[[Results], Iterable[Figure]] = field(default=lambda results: ())
    claims: tuple[Claim, ...] = ()


@dataclass(frozen=True)
class Protocol:
    """The experiments of one paper."""

    name: str  # such as "boostcluster"
    title: str  # the heading of its page
    source: str  # the paper
    intro: str  # what is computed, and how it differs from the paper
    datasets: Sequence[DataSet]
    methods: Mapping[str, Method]
    draw: DrawLinks
    parts: Sequence[Part]
    quick: RunPlan  # of some minutes
    full: RunPlan  # with the paper's number of repetitions
    # Former names of the paper and of methods, from which seeds are still derived: renaming does not change results.
    seed_names: Mapping[str, str] = field(default_factory=dict)

    def choose(self, figures: Sequence[str]) -> list[Part]:
        """Return the parts with these keys; all, if none is named."""
        known = [part.key for part in self.parts]
        for figure in figures:
            if figure not in known:
                raise ValueError(f"{self.name} has no figure {figure!r}; it has {', '.join(known)}.")
        return [part for part in self.parts if not figures or part.key in figures]

    def runs(self, plan: RunPlan, parts: Sequence[Part] | None = None) -> list[Run]:
        """Return the runs of some parts, each once."""
        return list(dict.fromkeys(run for part in (self.parts if parts is None else parts) for run in part.runs(plan)))

    def compute(self, run: Run) -> Record:
        """Compute one run."""
        data = next(data for data in self.datasets if data.name == run.dataset)
        paper, name = (self.seed_names.get(name, name) for name in (run.paper, run.method))
        problem = make_problem(replace(run, paper=paper, method=name), data, self.draw)
        return compute_record(run, self.methods[run.method], problem)

    def check_data(self, runs: Iterable[Run]) -> None:
        """Raise before the first run is computed if data sets are not on this machine, with all of their names."""
        made = {data.name for data in self.datasets if data.make is not None}
        check_present(sorted({run.dataset for run in runs} - made), self.name)


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
    store.check_writable()
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
