"""``mustlink demo``: cluster the sample that ships with the package."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mustlink.cli._errors import REMEDIES, report_errors
from mustlink.cli._options import Debug
from mustlink.cli._tour import tour as walk_through

if TYPE_CHECKING:
    from mustlink.workflow import Job, JobResult

__all__ = ["demo"]

FOLDER = Path("mustlink-demo")
N_CLUSTERS = 3


@report_errors
def demo(
    tour: Annotated[
        bool,
        typer.Option("--tour", metavar="", help="Walk through check, cluster, report, suspects and ask: five screens."),
    ] = False,
    debug: Debug = False,
) -> None:
    """Cluster a sample table with sample links, and compare with plain k-means.

    Puts the table, the links, the clusters and a report into the folder mustlink-demo. Exit code 0, or 2 when something
    cannot be written.
    """
    from mustlink.cli._show import print_command, print_line, show_result, show_status
    from mustlink.workflow import Job, run_job

    table, links = _copy_sample()
    if tour:
        walk_through(table, links)
        return
    output, report = FOLDER / "clusters.csv", FOLDER / "report.html"
    job = Job(table, links, n_clusters=N_CLUSTERS, id_column="customer", output=output, report=report)
    words = [table, links, "-k", N_CLUSTERS, "--id", "customer", "-o", output, "--report", report]
    command = shlex.join(["mustlink", "cluster", *map(str, words)])
    print_line("Customers of a shop, with links between some of them. The same by hand:")
    print_command(["mustlink", "cluster", *map(str, words)])
    print_line()
    with show_status("Clustering the sample"):
        result = run_job(job, command=command, remedies=REMEDIES)
    show_result(job, result)
    _compare(job, result)


def _copy_sample() -> tuple[Path, Path]:
    """Copy the sample table and links to the folder, where they can be viewed and changed; keep what was changed."""
    from mustlink._atomic import StagedFiles, make_folder
    from mustlink.cli._show import print_line
    from mustlink.datasets import sample_paths

    make_folder(FOLDER)
    table, links = sample_paths()
    with StagedFiles() as files:
        for sample in (table, links):
            copy = FOLDER / sample.name
            if not copy.exists():
                files.stage(copy, sample.read_bytes())
            elif copy.read_bytes() != sample.read_bytes():
                print_line(f"{copy} was changed and is used as it is; delete it to get the sample back.")
    return FOLDER / table.name, FOLDER / links.name


def _compare(job: Job, result: JobResult) -> None:
    """Print the result beside that of plain k-means."""
    from mustlink.cli._show import console, make_table, print_line
    from mustlink.report import summarize
    from mustlink.workflow import LoadedTable

    assert isinstance(result.table, LoadedTable)
    plain = summarize(result.table.X, result.table.kmeans_labels(N_CLUSTERS, job.random_state), result.links)
    table = make_table("the same table by")
    for heading in ("must-links broken", "cannot-links broken", "sizes"):
        table.add_column(heading, justify="right")
    for name, summary in (("plain k-means", plain), (result.entry.class_name, result.summary)):
        table.add_row(
            name,
            f"{summary.n_must - summary.n_must_kept} of {summary.n_must}",
            f"{summary.n_cannot - summary.n_cannot_kept} of {summary.n_cannot}",
            ", ".join(str(cluster.size) for cluster in summary.clusters),
        )
    print_line()
    console().print(table)
