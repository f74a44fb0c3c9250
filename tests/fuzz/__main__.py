"""Random problems for every clusterer, checked by brute force: ``make fuzz PROBLEMS=2000 SEED=0``."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

from fuzz.fits import Finding
from fuzz.runner import LINKS, MAX_SECONDS, Tally, check_problems
from mustlink._progress import progress
from mustlink.catalogue import CATALOGUE, find_clusterer

# How often a log without a progress bar gets a line.
LOG_EVERY = 100


def main(arguments: list[str] | None = None) -> int:
    """Check the problems, print a table, and return 1 if there are findings."""
    options = _parse(arguments)
    methods = [find_clusterer(name).name for name in options.method or [entry.name for entry in CATALOGUE]]
    seeds = range(options.seed, options.seed + options.problems)
    tally, start = Tally(), time.monotonic()
    is_terminal = sys.stdout.isatty()
    with progress(len(seeds), "Problems", shown=is_terminal, timed=True) as advance:
        for done in check_problems(seeds, methods, options.processes, options.max_seconds):
            tally.add(done)
            advance(note=_count(len(tally.findings), "finding"))
            for finding in done.findings:
                print(_describe(finding), flush=True)
            if not is_terminal and tally.problems % LOG_EVERY == 0:
                print(_state(tally, time.monotonic() - start), flush=True)
    _show(tally, methods)
    print(_state(tally, time.monotonic() - start))
    return 1 if tally.findings else 0


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--problems", type=int, default=2_000, help="number of problems")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first problem; the next one has the next seed")
    parser.add_argument("--method", action="append", help="only this method; may be repeated")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument(
        "--max-seconds",
        type=float,
        default=MAX_SECONDS,
        help="a method that takes longer hangs; more on a busy machine",
    )
    return parser.parse_args(arguments)


def _describe(finding: Finding) -> str:
    """Return a finding with the command that shows it again."""
    method = "" if finding.method == LINKS else f" --method {finding.method}"
    again = f"PYTHONPATH=tests python -m fuzz --problems 1 --seed {finding.seed}{method}"
    return f"{finding.method}, {finding.kind}: {finding.detail}\n    {again}"


def _state(tally: Tally, seconds: float) -> str:
    n_fits = sum(ends.total() for ends in tally.ends.values())
    kinds = Counter(finding.kind for finding in tally.findings)
    listed = f" ({', '.join(f'{kind} {count:,}' for kind, count in kinds.most_common())})" if kinds else ""
    return (
        f"{_count(tally.problems, 'problem')}, {_count(n_fits, 'first fit')}, "
        f"{_count(len(tally.findings), 'finding')}{listed}, {seconds:,.0f} s"
    )


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _show(tally: Tally, methods: list[str]) -> None:
    """Print how the fits of each method ended."""
    from rich.console import Console
    from rich.table import Table

    found = Counter(finding.method for finding in tally.findings)
    table = Table("method", title="First fits", title_justify="left")
    for heading in ("fitted", "infeasible", "refused", "findings", "seconds"):
        table.add_column(heading, justify="right")
    for method in [LINKS, *methods]:
        ends = tally.ends.get(method, Counter())
        refused = ends.total() - ends["fitted"] - ends["infeasible"]
        counts = [ends["fitted"], ends["infeasible"], refused, found[method], round(tally.seconds[method])]
        table.add_row(method, *(f"{count:,}" for count in counts))
    Console().print(table)


if __name__ == "__main__":
    sys.exit(main())
