"""``mustlink cluster``: a table and links in, clusters out."""

from __future__ import annotations

from contextlib import nullcontext

from mustlink.cli._errors import reported
from mustlink.cli._options import (
    Base,
    Categorical,
    Contradictions,
    Debug,
    Header,
    IdColumn,
    Ignore,
    LabelColumn,
    Method,
    Missing,
    MissingCells,
    OneHot,
    OptionalClusters,
    OptionalLinksFile,
    Output,
    Relax,
    Report,
    Scale,
    Seed,
    Starts,
    TableFile,
    WhenContradictory,
)

__all__ = ["cluster"]


@reported
def cluster(
    table: TableFile,
    links: OptionalLinksFile = None,
    n_clusters: OptionalClusters = None,
    method: Method = "boost",
    base: Base = None,
    id_column: IdColumn = None,
    label_column: LabelColumn = None,
    ignore: Ignore = None,
    categorical: Categorical = None,
    scale: Scale = True,
    one_hot: OneHot = True,
    missing: Missing = MissingCells.error,
    header: Header = None,
    contradictions: Contradictions = WhenContradictory.error,
    relax: Relax = False,
    output: Output = None,
    report: Report = None,
    seed: Seed = 0,
    starts: Starts = 10,
    debug: Debug = False,
) -> None:
    """Cluster a table, with links and labels where you have them.

    Prints the clusters and what sets each apart, the links that were kept and broken, and the links that
    contradict each other; writes the cluster of every row. Exit code 0, or 2 when something in the input is wrong.
    """
    from mustlink.cli._job import Job, default_output, run_job
    from mustlink.cli._loading import TableChoices
    from mustlink.cli._show import say, show_outcome, working

    job = Job(
        table=TableChoices(
            table,
            id_column=id_column,
            label_column=label_column,
            ignore=ignore or (),
            categorical=categorical or (),
            scale=scale,
            one_hot=one_hot,
            missing=missing.value,
            header=header,
        ),
        links=links,
        n_clusters=n_clusters,
        method=method,
        base=base,
        seed=seed,
        starts=starts,
        contradictions=contradictions.value,
        relax=relax,
        output=output or default_output(table),
        report=report,
    )
    # What is tried has a bar of its own.
    with nullcontext() if job.is_auto else working(f"Clustering {table.name}"):
        outcome = run_job(job)
    if outcome.choice is not None:
        for line in str(outcome.choice).splitlines():
            say(line)
        say()
    show_outcome(job, outcome)
