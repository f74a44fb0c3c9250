"""Computing the experiments of a paper by its name."""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from pathlib import Path

from mustlink.reproduce.engine._page import Page
from mustlink.reproduce.engine._protocol import Protocol, compute_runs
from mustlink.reproduce.engine._results import ResultStore

_PAPERS = (
    "boostcluster",
    "bbc",
    "bckm",
    "active",
    "robust",
    "linked_sizes",
    "mixture_noise",
    "ch02",
    "ch03",
    "ch04",
    "ch05",
    "ch06",
    "ch07",
    "ch08",
    "ch09",
    "ch10",
    "ch11",
    "ch12",
    "ch13",
    "ch14",
    "ch15",
    "ch16",
    "ch17",
)


def paper_names() -> list[str]:
    """Return the names of the papers that can be reproduced.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from mustlink.reproduce import paper_names
    >>> paper_names()[:4]
    ['boostcluster', 'bbc', 'bckm', 'active']
    """
    return list(_PAPERS)


def find_protocol(name: str) -> Protocol:
    """Return the experiments of a paper."""
    if name not in _PAPERS:
        raise ValueError(f"There is no paper {name!r} to reproduce; there are {', '.join(_PAPERS)}.")
    protocol: Protocol = importlib.import_module(f"mustlink.reproduce.papers.{name}").PROTOCOL
    return protocol


def run_paper(
    name: str,
    *,
    full: bool = False,
    figures: Sequence[str] = (),
    results: str | os.PathLike[str] = "mustlink-results",
    fresh: bool = False,
    n_jobs: int = 1,
    show: bool = True,
) -> Page:
    """Compute the experiments of a paper that have no stored result yet, and return the page of all.

    Parameters
    ----------
    name : str
        One of :func:`paper_names`.
    full : bool, default=False
        Whether to make the paper's number of repetitions, which takes hours, or a quick run of some minutes.
    figures : sequence of str
        Only these figures, such as ``"5"``, or ``"table2"`` for a table; all by default.
    results : path-like, default="mustlink-results"
        The folder of the file ``NAME.jsonl``, in which each result is stored as soon as it is computed.
    fresh : bool, default=False
        Delete the stored results first.
    n_jobs : int, default=1
        How many runs are computed at the same time, -1 for one per core.
    show : bool, default=True
        Whether to show a progress bar, if the standard error output is a terminal.

    Returns
    -------
    Page

    Raises
    ------
    ValueError
        If there is no such paper, or the paper has no such figure.
    DataNotFoundError
        If a data set is not on this machine.

    Examples
    --------
    >>> from mustlink.reproduce import run_paper
    >>> page = run_paper("active", figures=["pckmeans"], n_jobs=-1)  # doctest: +SKIP
    >>> page.results.frame.groupby(["dataset", "method"])["nmi"].mean()  # doctest: +SKIP
    """
    protocol = find_protocol(name)
    parts, plan = protocol.choose(figures), protocol.full if full else protocol.quick
    store = ResultStore(Path(results) / f"{protocol.name}.jsonl")
    if fresh:
        store.clear()
    found = compute_runs(protocol, protocol.runs(plan, parts), store, n_jobs=n_jobs, show=show)
    chosen = "".join(f" --figure {figure}" for figure in figures)
    command = f"mustlink reproduce {protocol.name} {'--full' if full else '--quick'}{chosen}"
    return Page(protocol, parts, plan, found, command)
