"""Many problems on several processes, each watched by a clock."""

from __future__ import annotations

import multiprocessing
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from multiprocessing.connection import Connection, wait

from threadpoolctl import threadpool_limits

from fuzz.checks import check_links, check_model
from fuzz.facts import Facts
from fuzz.fits import Finding, Fit
from fuzz.methods import make_model
from fuzz.problems import make_problem
from mustlink.catalogue import Entry, find_clusterer

# On an idle machine no method takes longer for one problem, compilation included; a kernel that never ends can only be
# killed.
MAX_SECONDS = 120.0
LINKS = "links"


@dataclass
class Tally:
    """What came of some problems, by method."""

    problems: int = 0
    ends: dict[str, Counter[str]] = field(default_factory=dict)
    seconds: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        self.problems += other.problems
        for method, ends in other.ends.items():
            self.ends.setdefault(method, Counter()).update(ends)
        self.seconds.update(other.seconds)
        self.findings += other.findings


def check_problem(seed: int, methods: Sequence[str]) -> Iterator[str | Tally]:
    """Check the links of a problem, then every method; yield the name of each before, and in the end the tally."""
    tally = Tally(problems=1)
    facts = Facts(make_problem(seed))
    yield LINKS
    tally.findings += [Finding(seed, LINKS, *found) for found in check_links(facts)]
    for entry in map(find_clusterer, methods):
        yield entry.name
        _check_method(entry, facts, tally)
    yield tally


def _check_method(entry: Entry, facts: Facts, tally: Tally) -> None:
    """Run all checks of one method."""
    start = time.perf_counter()
    for found in check_model(make_model(entry, facts.problem), facts):
        if isinstance(found, Fit):
            tally.ends.setdefault(entry.name, Counter())[found.kind] += 1
        else:
            tally.findings.append(Finding(facts.problem.seed, entry.name, *found))
    tally.seconds[entry.name] += time.perf_counter() - start


def check_problems(
    seeds: Sequence[int], methods: Sequence[str], n_processes: int, max_seconds: float = MAX_SECONDS
) -> Iterator[Tally]:
    """Check problems in parallel; yield the tally of each as it is done, or after `max_seconds` in one method."""
    waiting = iter(seeds)
    workers: list[Worker] = []
    try:
        for seed in islice(waiting, n_processes):
            workers.append(Worker(methods))
            workers[-1].give(seed)
        while workers:
            ready = wait([worker.connection for worker in workers], timeout=1.0)
            for worker in list(workers):
                tally = worker.receive() if worker.connection in ready else worker.stop_if_late(max_seconds)
                if tally is None:
                    continue
                yield tally
                seed = next(waiting, None)
                if seed is None or not worker.process.is_alive():
                    worker.stop()
                    workers.remove(worker)
                if seed is not None:
                    if worker not in workers:
                        worker = Worker(methods)
                        workers.append(worker)
                    worker.give(seed)
    finally:
        for worker in workers:
            worker.stop()


class Worker:
    """A process that checks one problem at a time, and says at which method it is."""

    def __init__(self, methods: Sequence[str]) -> None:
        # A fresh interpreter, the same on every system.
        context = multiprocessing.get_context("spawn")
        self.connection, other = context.Pipe()
        self.process = context.Process(target=_work, args=(other, list(methods)), daemon=True)
        self.process.start()
        other.close()

    def give(self, seed: int) -> None:
        self.seed, self.method, self.since = seed, LINKS, time.monotonic()
        self.connection.send(seed)

    def receive(self) -> Tally | None:
        """Take a message: the tally of the problem, or None where the next method has begun."""
        try:
            message: str | Tally = self.connection.recv()
        except (EOFError, OSError):
            self.process.join()
            return self._lost("crash", f"the process ended with {self.process.exitcode}")
        if isinstance(message, Tally):
            return message
        self.method, self.since = message, time.monotonic()
        return None

    def stop_if_late(self, max_seconds: float) -> Tally | None:
        if time.monotonic() - self.since < max_seconds:
            return None
        self.stop()
        return self._lost("hang", f"no end after {max_seconds:.0f} s")

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()

    def _lost(self, kind: str, detail: str) -> Tally:
        return Tally(problems=1, findings=[Finding(self.seed, self.method, kind, detail)])


def _work(connection: Connection, methods: list[str]) -> None:
    """Check problems until the other side ends."""
    # The tables are tiny; threads that wait for each other would take most of the time.
    with threadpool_limits(limits=1):
        while True:
            try:
                seed = connection.recv()
            except EOFError:
                return
            for message in check_problem(seed, methods):
                connection.send(message)
