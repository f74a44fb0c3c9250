"""The main job of the command: table and links in, clusters and a report out."""

from __future__ import annotations

import os
import shlex
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from mustlink.catalogue import Entry, find_clusterer
from mustlink.cli._loading import LoadedTable, TableChoices, load_table
from mustlink.errors import ConstraintError, InfeasibleError, InfeasibleWarning

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mustlink.constraints import Conflict, Constraints
    from mustlink.report import Summary
    from mustlink.selection import Choice

__all__ = ["DEFAULT_METHOD", "Job", "Outcome", "check_clusters", "default_output", "run_job"]

DEFAULT_METHOD = "boost"
AUTO = "auto"
BY_NUMBER = "(Rows by their number among those clustered, from 0.)"


@dataclass(frozen=True)
class Job:
    """What is to be done."""

    table: TableChoices
    n_clusters: int | None
    output: Path
    links: Path | None = None
    method: str = DEFAULT_METHOD
    base: str | None = None
    seed: int = 0
    starts: int = 10
    contradictions: Literal["raise", "majority"] = "raise"
    relax: bool = False
    report: Path | None = None

    @property
    def is_auto(self) -> bool:
        """Whether the method is to be chosen by links held out."""
        return self.method.lower() == AUTO

    @property
    def command(self) -> str:
        """The command line that does the same."""
        table = self.table
        words = ["mustlink", "cluster", str(table.path)]
        words += [] if self.links is None else [str(self.links)]
        words += [] if self.n_clusters is None else ["-k", str(self.n_clusters)]
        words += [] if self.method == DEFAULT_METHOD else ["--method", self.method]
        words += [] if self.base is None else ["--base", self.base]
        words += [] if table.id_column is None else ["--id", table.id_column]
        words += [] if table.label_column is None else ["--label-column", table.label_column]
        words += [word for name in table.ignore for word in ("--ignore", name)]
        words += [word for name in table.categorical for word in ("--categorical", name)]
        words += [] if table.scale else ["--no-scale"]
        words += [] if table.one_hot else ["--no-one-hot"]
        words += [] if table.missing == "error" else ["--missing", table.missing]
        words += [] if table.header is None else ["--header" if table.header else "--no-header"]
        words += [] if self.contradictions == "raise" else ["--contradictions", self.contradictions]
        words += ["--relax"] if self.relax else []
        words += [] if self.seed == 0 else ["--seed", str(self.seed)]
        words += [] if self.starts == 10 else ["--starts", str(self.starts)]
        words += [] if self.output == default_output(table.path) else ["-o", str(self.output)]
        words += [] if self.report is None else ["--report", str(self.report)]
        return shlex.join(words)


@dataclass(frozen=True)
class Outcome:
    """What came of it."""

    loaded: LoadedTable
    links: Constraints
    labels: Any
    summary: Summary
    choice: Choice | None = None


def default_output(table: Path) -> Path:
    """Name the file of clusters after the table, in the current folder."""
    name = table.name.removesuffix(".gz")
    return Path(f"{Path(name).stem}.clusters.csv")


def run_job(job: Job) -> Outcome:
    """Do the job; the files appear at the end, all of them or none."""
    from mustlink.cli._bases import make_base
    from mustlink.constraints import Constraints
    from mustlink.report import summarise

    entry = None if job.is_auto else find_clusterer(job.method)
    if job.base is not None:
        if entry is None:
            raise ValueError(
                f"--method auto chooses among methods as they are, so that --base {job.base} has no place."
            )
        make_base(job.base, entry)
    _check_outputs(job)
    _check_number(job, entry)
    loaded = load_table(job.table)
    if job.n_clusters is not None:
        check_clusters(job.n_clusters, loaded.encoded.X.shape[0], str(job.table.path))
    links, notices = Constraints(), list[str]()
    if job.links is not None:
        links, notices = loaded.read_links(job.links, job.contradictions)
    try:
        conflicts = _conflicts_with_labels(loaded, links)
        if len(conflicts) and entry is not None and entry.kind == "hard" and not job.relax:
            _refuse_conflicts(conflicts, loaded.row_names)
        notices += _told_of_labels(conflicts, links, loaded.row_names)
        fitted = _chosen(job, loaded, links) if entry is None else _fitted(entry, job, loaded, links)
    except (ConstraintError, InfeasibleError) as error:
        raise type(error)(_with_names(error, loaded.row_names), error.pairs) from None
    estimator = fitted.estimator
    summary = summarise(
        loaded.encoded.X,
        estimator.labels_,
        links,
        features=loaded.encoded.features,
        row_names=loaded.row_names,
        known_labels=loaded.kept_labels,
        notices=[*loaded.notices, *notices, *fitted.warned],
        suspects=getattr(estimator, "suspects_", ()),
        objective=getattr(estimator, "objective_", ()),
    )
    outcome = Outcome(loaded, links, estimator.labels_, summary, fitted.choice)
    _write(job, fitted.entry, outcome)
    return outcome


def _conflicts_with_labels(loaded: LoadedTable, links: Constraints) -> Sequence[Conflict]:
    """Find the contradictions among links and labels taken together."""
    from mustlink.constraints import Constraints

    labels = loaded.partial_labels()
    return (links if labels is None else links + Constraints.from_labels(labels)).conflicts()


def _refuse_conflicts(conflicts: Sequence[Conflict], names: list[str]) -> None:
    """Say before a hard method is tried, and by the names of the rows, why it cannot succeed."""
    from mustlink.report import RowNames

    more = f" ({len(conflicts) - 1} more conflicts like this)" if len(conflicts) > 1 else ""
    first = conflicts[0].describe(RowNames(names)).removesuffix(".")
    raise InfeasibleError(
        f"{first}{more}; drop a link of the chain, say --relax, or take a method that may break links, such as "
        "--method boost."
    )


def _told_of_labels(conflicts: Sequence[Conflict], links: Constraints, names: list[str]) -> list[str]:
    """Tell of contradictions that only the labels bring in; those among links alone are shown anyway."""
    from mustlink.report import RowNames

    known = {conflict.cannot_link for conflict in links.conflicts()}
    new = [conflict for conflict in conflicts if conflict.cannot_link not in known]
    if not new:
        return []
    return [
        f"The labels contradict the links in {len(new):,} {'place' if len(new) == 1 else 'places'}, "
        f"here for one: {new[0].describe(RowNames(names))}"
    ]


def _with_names(error: ConstraintError | InfeasibleError, names: list[str]) -> str:
    """Put a message of the library into the words of the command line, and name the rows it gives by number."""
    text = str(error).replace('pass on_infeasible="relax"', "say --relax")
    if not error.pairs:
        return f"{text} {BY_NUMBER}" if any(name != str(row) for row, name in enumerate(names)) else text
    rows = dict.fromkeys(row for pair in error.pairs[:3] for row in pair if names[row] != str(row))
    named = ", ".join(f"row {row} is {names[row]}" for row in rows)
    return f"{text.removesuffix('.')} ({named})." if named else text


def check_clusters(n_clusters: int, n_rows: int | None = None, source: str = "") -> None:
    """Refuse a number of clusters that cannot be."""
    if n_clusters < 1:
        raise ValueError(f"The number of clusters (-k) is {n_clusters}; it must be at least 1.")
    if n_rows is not None and n_clusters > n_rows:
        raise ValueError(f"{n_clusters} clusters (-k) cannot be made of the {n_rows} rows of {source}.")


def _check_outputs(job: Job) -> None:
    """Refuse what cannot be written before the work begins, and what would overwrite the input."""
    from mustlink._atomic import check_writable
    from mustlink.tables import check_output_suffix

    inputs = [path for path in (job.table.path, job.links) if path is not None]
    outputs = [path for path in (job.output, job.report) if path is not None]
    for output in outputs:
        check_writable(output)
        if any(os.path.realpath(output) == os.path.realpath(path) for path in inputs):
            raise ValueError(f"{output} is an input and would be overwritten; choose another name for the output.")
    check_output_suffix(job.output)
    if len(outputs) == 2 and os.path.realpath(outputs[0]) == os.path.realpath(outputs[1]):
        raise ValueError(f"The clusters and the report cannot both be written to {job.output}.")


def _check_number(job: Job, entry: Entry | None) -> None:
    """Refuse a number of clusters that cannot be, and a missing one where it is needed."""
    if job.starts < 1:
        raise ValueError(f"The number of starts (--starts) is {job.starts}; it must be at least 1.")
    if job.n_clusters is not None:
        check_clusters(job.n_clusters)
    elif entry is not None and "n_clusters" in entry.load()().get_params():
        raise ValueError(
            f"The method {entry.name} needs the number of clusters: say -k K, or let links choose with --method auto."
        )
    elif entry is None and job.links is None and job.table.label_column is None:
        raise ValueError("--method auto chooses by links, and there are none: give LINKS, or --label-column.")


@dataclass(frozen=True)
class _Fitted:
    """A fitted clusterer, what it warned of, and how it was chosen."""

    entry: Entry
    estimator: Any
    warned: list[str]
    choice: Choice | None = None


def _fitted(entry: Entry, job: Job, loaded: LoadedTable, links: Constraints) -> _Fitted:
    """Fit the clusterer; its warnings become notices."""
    links, labels = _known(loaded, links)
    estimator = _made(entry, job)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(loaded.encoded.X, labels, constraints=links)
    told = _told(caught)
    if job.n_clusters is not None and "n_clusters" not in estimator.get_params():
        told.append(f"The method {entry.name} finds the number of clusters, and -k {job.n_clusters} was not used.")
    return _Fitted(entry, estimator, told)


def _chosen(job: Job, loaded: LoadedTable, links: Constraints) -> _Fitted:
    """Choose a clusterer, and without -k the number of clusters, by links held out."""
    from mustlink.catalogue import default_methods
    from mustlink.selection import choose

    links, labels = _known(loaded, links)
    entries = {name: find_clusterer(name) for name in default_methods()}
    methods = {name: _made(entry, job) for name, entry in entries.items()}
    asked: dict[str, Any] = {"methods": methods, "n_clusters": job.n_clusters, "random_state": job.seed}
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            choice = choose(loaded.encoded.X, links, y=labels, **asked, verbose=sys.stderr.isatty())
    except ConstraintError as error:
        raise ValueError(str(error).replace("Give n_clusters", "Say -k K")) from None
    # Its own notes are printed with the table of what was tried.
    told = [sentence for sentence in _told(caught) if sentence not in choice.notes]
    return _Fitted(entries[choice.method], choice.estimator, told, choice)


def _known(loaded: LoadedTable, links: Constraints) -> tuple[Constraints, Any]:
    """Return the links and the partial labels to fit with."""
    from mustlink.constraints import Constraints

    labels = loaded.partial_labels()
    if labels is not None and (labels >= 0).all():
        # An estimator takes a label for every row as the truth to be scored against, and looks away.
        return links + Constraints.from_labels(labels), None
    return links, labels


def _made(entry: Entry, job: Job) -> Any:
    """Make a clusterer as the command line asks for it."""
    from mustlink.cli._bases import make_base

    clusterer = entry.load()
    known = clusterer().get_params()
    asked: dict[str, Any] = {
        "random_state": job.seed,
        "n_init": job.starts,
        **entry.command_defaults,
    }
    if job.n_clusters is not None:
        asked["n_clusters"] = job.n_clusters
    if job.relax:
        asked["on_infeasible"] = "relax"
    if job.base is not None and entry.boosts:
        asked["estimator" if "estimator" in known else "base"] = make_base(job.base, entry)
    return clusterer(**{name: value for name, value in asked.items() if name in known})


def _told(caught: list[warnings.WarningMessage]) -> list[str]:
    """Return what warnings say, each once, but for broken links, which are shown anyway, link by link."""
    return list(
        dict.fromkeys(
            " ".join(str(warning.message).split())
            for warning in caught
            if issubclass(warning.category, UserWarning) and not issubclass(warning.category, InfeasibleWarning)
        )
    )


def _write(job: Job, entry: Entry, outcome: Outcome) -> None:
    """Write the clusters and the report."""
    import numpy as np

    from mustlink._atomic import StagedFiles
    from mustlink.tables import stage_clusters

    loaded = outcome.loaded
    labels = np.full(loaded.table.n_rows, -1)
    labels[loaded.encoded.rows] = outcome.labels
    with StagedFiles() as files:
        stage_clusters(
            files,
            job.output,
            labels,
            ids=loaded.ids,
            id_name=job.table.id_column or "row",
            known=loaded.known,
            known_name=job.table.label_column or "label",
        )
        if job.report is not None:
            files.stage(job.report, _report(job, entry, outcome).encode("utf-8"))


def _report(job: Job, entry: Entry, outcome: Outcome) -> str:
    """Lay out the report."""
    from mustlink.report import make_picture, render_report

    picture = make_picture(outcome.loaded.encoded.X, outcome.labels, outcome.links, row_names=outcome.loaded.row_names)
    return render_report(
        outcome.summary,
        picture,
        title=f"{job.table.path.name} in {len(outcome.summary.clusters)} clusters",
        run={
            "Command": job.command,
            "Method": f"{entry.name} ({entry.class_name})" + (f" of {job.base}" if job.base else ""),
            **({} if outcome.choice is None else {"Chosen": outcome.choice.reason}),
            "Seed": str(job.seed),
            "Starts": str(job.starts),
        },
    )
