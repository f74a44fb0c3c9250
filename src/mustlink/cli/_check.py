"""``mustlink check``: what a file of links says, and whether it can hold."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mustlink.cli._errors import CONFLICT, reported
from mustlink.cli._options import (
    Categorical,
    Contradictions,
    Debug,
    Header,
    IdColumn,
    Ignore,
    Missing,
    MissingCells,
    OneHot,
    OptionalTableFile,
    Scale,
    Seed,
    WhenContradictory,
)

if TYPE_CHECKING:
    from mustlink.cli._loading import LoadedTable
    from mustlink.constraints import Constraints

__all__ = ["check"]


@reported
def check(
    links: Annotated[
        Path,
        typer.Argument(
            metavar="LINKS",
            help="The links: a .csv or .tsv with the columns a, b, link (must or cannot, or 1 or -1) and optionally "
            "weight. Rows are named by their number, the first data row being 0, or with --id by their id.",
        ),
    ],
    table: OptionalTableFile = None,
    n_clusters: Annotated[
        int | None,
        typer.Option("-k", "--clusters", metavar="K", help="Ask whether so many clusters can keep all links."),
    ] = None,
    id_column: IdColumn = None,
    ignore: Ignore = None,
    categorical: Categorical = None,
    scale: Scale = True,
    one_hot: OneHot = True,
    missing: Missing = MissingCells.error,
    header: Header = None,
    contradictions: Contradictions = WhenContradictory.error,
    seed: Seed = 0,
    debug: Debug = False,
) -> None:
    """Look at a file of links before clustering with it.

    Tells how many links there are and what they join, which contradict each other and through which chain, whether
    K clusters can keep them all, and, given the table, how much they tell (informativeness: the share that plain
    k-means breaks) and whether they pull against each other (coherence: the share of must- and cannot-links that do
    not). Exit code 0 when all is well, 1 when links contradict each other or K clusters cannot keep them, 2 when
    something in the input is wrong.
    """
    from mustlink.cli._job import check_clusters
    from mustlink.cli._loading import TableChoices, load_table

    if n_clusters is not None:
        check_clusters(n_clusters)
    loaded = None
    if table is not None:
        loaded = load_table(
            TableChoices(
                table,
                id_column=id_column,
                ignore=ignore or (),
                categorical=categorical or (),
                scale=scale,
                one_hot=one_hot,
                missing=missing.value,
                header=header,
            )
        )
        if n_clusters is not None:
            check_clusters(n_clusters, loaded.encoded.X.shape[0], str(table))
    elif id_column is not None:
        raise ValueError("With --id the table that holds the ids is needed: mustlink check LINKS TABLE --id COLUMN.")
    if not _tell(links, loaded, n_clusters, contradictions, seed):
        raise typer.Exit(CONFLICT)


def _tell(
    path: Path,
    loaded: LoadedTable | None,
    n_clusters: int | None,
    contradictions: WhenContradictory,
    seed: int,
) -> bool:
    """Print all there is to say, and return whether the links can hold."""
    from mustlink.cli._show import say, show_list
    from mustlink.constraints import Constraints
    from mustlink.report import RowNames

    notices: list[str] = []
    if loaded is None:
        links = Constraints.read(path, contradictions=contradictions.value)
        rows = links.constrained_rows()
        n_rows = int(rows[-1]) + 1 if rows.size else 0
        names = RowNames(None)
    else:
        links, notices = loaded.read_links(path, contradictions.value)
        n_rows = loaded.encoded.X.shape[0]
        names = RowNames(loaded.row_names)
    _tell_counts(links, n_rows, of_table=loaded is not None)
    conflicts = links.conflicts()
    if len(conflicts):
        shown = [conflicts[place].describe(names) for place in range(min(len(conflicts), 10))]
        show_list(f"Conflicts: {len(conflicts):,}", shown, len(conflicts))
    else:
        say("Conflicts: none")
    holds = not len(conflicts)
    if n_clusters is not None and holds and n_rows:
        holds = _tell_feasibility(links, n_clusters, n_rows, loaded)
    if loaded is not None and len(links):
        _tell_use(links, loaded, n_clusters, seed)
    for notice in [*(loaded.notices if loaded else []), *notices]:
        say(f"Note: {notice}")
    return holds


def _tell_counts(links: Constraints, n_rows: int, *, of_table: bool) -> None:
    """Print how many links there are and what they join."""
    import numpy as np

    from mustlink.cli._show import say

    n_linked = links.constrained_rows().size
    say(f"Links: {len(links.must_link):,} must, {len(links.cannot_link):,} cannot", "bold")
    say(f"Rows in links: {n_linked:,}" + (f" of {n_rows:,}" if of_table else ""))
    if n_rows:
        sizes = np.bincount(links.components(n_rows))
        joined = sizes[sizes > 1]
        say(
            f"Groups that must-links join: {joined.size:,}"
            + (f", the largest of {joined.max():,} rows" if joined.size else "")
        )


def _tell_feasibility(links: Constraints, n_clusters: int, n_rows: int, loaded: LoadedTable | None) -> bool:
    """Print whether so many clusters can keep all links; an open question counts as fine."""
    from mustlink.cli._show import say
    from mustlink.report import RowNames

    # Without the table, rows that no link names may exist, so that a want of rows is no finding.
    feasibility = links.feasible(n_clusters, n_rows if loaded else n_rows + n_clusters)
    answer = {True: "yes", False: "no", None: "not known"}[feasibility.answer]
    reason = feasibility.describe(RowNames(loaded.row_names) if loaded else None)
    say(f"Can {n_clusters} clusters keep all links: {answer}. {reason}")
    return feasibility.answer is not False


def _tell_use(links: Constraints, loaded: LoadedTable, n_clusters: int | None, seed: int) -> None:
    """Print how much the links tell and whether they pull against each other."""
    from mustlink.cli._plain import plain_labels
    from mustlink.cli._show import say

    if n_clusters is None:
        say("Informativeness: not computed, since it depends on the number of clusters (-k)")
    else:
        informativeness = links.informativeness(plain_labels(loaded.encoded.X, n_clusters, seed))
        say(f"Informativeness: {informativeness:.2f} (plain k-means breaks {informativeness:.0%} of the links)")
    coherence = links.coherence(loaded.encoded.X)
    if coherence == coherence:
        say(f"Coherence: {coherence:.2f} (1: no must-link and cannot-link pull against each other)")
    else:
        say("Coherence: needs links of both kinds")
