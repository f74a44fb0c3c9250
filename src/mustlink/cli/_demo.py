"""``mustlink demo``: the main job on the sample that ships with the package."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mustlink.cli._errors import reported
from mustlink.cli._options import Debug

if TYPE_CHECKING:
    from mustlink.cli._job import Job, Outcome

__all__ = ["demo"]

FOLDER = Path("mustlink-demo")
N_GROUPS = 3


@reported
def demo(debug: Debug = False) -> None:
    """Cluster a sample table with sample links, and compare with plain k-means.

    Puts the table, the links, the clusters and a report into the folder mustlink-demo.
    """
    from mustlink.cli._job import Job, run_job
    from mustlink.cli._loading import TableChoices
    from mustlink.cli._show import say, show_outcome, working

    table, links = _copy_sample()
    job = Job(
        table=TableChoices(table, id_column="customer"),
        links=links,
        n_clusters=N_GROUPS,
        output=FOLDER / "clusters.csv",
        report=FOLDER / "report.html",
    )
    say("Customers of a shop, and what a person knows of some of them. The same by hand:")
    say(f"  {job.command}", "bold", whole=True)
    say()
    with working("Clustering the sample"):
        outcome = run_job(job)
    show_outcome(job, outcome)
    _compare(job, outcome)


def _copy_sample() -> tuple[Path, Path]:
    """Put the sample table and links into the folder, where they can be looked at and changed."""
    from mustlink._atomic import StagedFiles
    from mustlink.datasets import sample_paths

    FOLDER.mkdir(exist_ok=True)
    table, links = sample_paths()
    with StagedFiles() as files:
        for sample in (table, links):
            files.stage(FOLDER / sample.name, sample.read_bytes())
    return FOLDER / table.name, FOLDER / links.name


def _compare(job: Job, outcome: Outcome) -> None:
    """Print what plain k-means would have given beside it."""
    from rich.table import Table

    from mustlink.catalogue import find_clusterer
    from mustlink.cli._plain import plain_labels
    from mustlink.cli._show import printer, say
    from mustlink.report import summarise

    plain = summarise(
        outcome.loaded.encoded.X, plain_labels(outcome.loaded.encoded.X, N_GROUPS, job.seed), outcome.links
    )
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("the same table by")
    for heading in ("must-links broken", "cannot-links broken", "sizes"):
        table.add_column(heading, justify="right")
    for name, summary in (("plain k-means", plain), (find_clusterer(job.method).class_name, outcome.summary)):
        table.add_row(
            name,
            f"{summary.n_must - summary.n_must_kept} of {summary.n_must}",
            f"{summary.n_cannot - summary.n_cannot_kept} of {summary.n_cannot}",
            ", ".join(str(cluster.size) for cluster in summary.clusters),
        )
    say()
    printer().print(table)
