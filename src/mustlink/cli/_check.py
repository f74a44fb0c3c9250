"""``mustlink check``: what a file of links holds, and whether a clustering can keep it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from mustlink._spelling import count
from mustlink.cli import _options as opt
from mustlink.cli._errors import CONFLICT, report_errors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mustlink.constraints import Constraints
    from mustlink.workflow import LoadedTable

__all__ = ["check"]

# Row numbers from here on are ids: no table in memory has so many rows.
MIN_ID = 100_000_000
# Up to here, links may well leave out the first rows.
MAX_LEFT_OUT = 1_000
IMPROBABLE = 0.02


@report_errors
def check(
    links: opt.LinksFile,
    table: opt.OptionalTableFile = None,
    n_clusters: Annotated[
        int | None,
        typer.Option("-k", "--clusters", metavar="K", help="Check whether K clusters can keep all links."),
    ] = None,
    id_column: opt.LinkIdColumn = None,
    never_together: opt.NeverTogether = None,
    always_together: opt.AlwaysTogether = None,
    ignore: opt.Ignore = None,
    categorical: opt.Categorical = None,
    scale: opt.Scale = True,
    one_hot: opt.OneHot = True,
    missing: opt.Missing = "error",
    header: opt.Header = None,
    encoding: opt.Encoding = None,
    delimiter: opt.Delimiter = None,
    decimal: opt.Decimal = None,
    sheet: opt.Sheet = None,
    contradictions: opt.Contradictions = "keep",
    unknown_ids: opt.UnknownIds = "raise",
    random_state: opt.KMeansSeed = 0,
    debug: opt.Debug = False,
) -> None:
    """Check a file of links before clustering with it.

    Prints how many links there are and what they join, which contradict each other and through which chain, whether
    K clusters can keep them all, and, given the table and K, how much they add (informativeness: the fraction that
    plain k-means breaks). Without the table, links may name rows by number or by id. Exit code 0 when all is well, 1
    when links contradict each other or K clusters cannot keep them, 2 when something in the input is wrong.
    """
    from mustlink.cli._show import print_line, show_list
    from mustlink.report import RowNames
    from mustlink.workflow import TableOptions, check_n_clusters, check_seed, load_table

    if table is None and id_column is not None:
        raise ValueError("--id needs the table that holds the ids: mustlink check LINKS TABLE --id COLUMN.")
    if table is None and (never_together or always_together):
        raise ValueError("--never-together and --always-together need the table that holds the columns.")
    loaded = None if table is None else load_table(opt.fill(TableOptions, locals()))
    check_seed(random_state)
    if n_clusters is not None:
        check_n_clusters(n_clusters, loaded)
    if loaded is not None:
        known, notices = loaded.read_links(links, contradictions, unknown_ids)
        known = loaded.add_rules(known, contradictions)
        notices = [*loaded.notices, *notices]
        n_rows, names = len(loaded.X), RowNames(loaded.row_names)
    else:
        known, notices, ids = _read_without_table(links, contradictions)
        n_rows, names = int(known.constrained_rows().max(initial=-1)) + 1, RowNames(ids)
    _show_counts(known, n_rows, of_table=loaded is not None)
    conflicts = known.conflicts()
    if len(conflicts):
        shown = [conflicts[place].describe(names) for place in range(min(len(conflicts), 10))]
        show_list(f"Conflicts: {len(conflicts):,}", shown, len(conflicts))
    else:
        print_line("Conflicts: none")
    can_hold = not len(conflicts)
    if n_clusters is not None and can_hold and n_rows:
        # Without the table there may be more rows than the links name, enough for any number of clusters.
        feasibility = known.feasible(n_clusters, n_rows if loaded else n_rows + n_clusters)
        answer = {True: "yes", False: "no", None: "not known"}[feasibility.answer]
        print_line(f"Can {count(n_clusters, 'cluster')} keep all links: {answer}. {feasibility.describe(names)}")
        can_hold = feasibility.answer is not False
    if loaded is not None and len(known):
        _show_informativeness(known, loaded, n_clusters, random_state)
    for notice in notices:
        print_line(f"Note: {notice}")
    if not can_hold:
        raise typer.Exit(CONFLICT)


def _read_without_table(
    path: Path, contradictions: Literal["raise", "majority", "keep"]
) -> tuple[Constraints, list[str], list[str] | None]:
    """Read links by row number or, if they name anything else, by id; the ids are numbered as they come."""
    from mustlink.tables import ids_in_links
    from mustlink.workflow import read_link_file

    ids = ids_in_links(path)
    known, notices = read_link_file(path, contradictions, ids=ids)
    rows = known.constrained_rows()
    if ids is not None:
        notices.append("The links name ids. To check that a table has them, give it too: TABLE --id COLUMN.")
    elif _look_like_ids(rows):
        notices.append(
            f"The links are read as row numbers, and these go from {rows[0]:,} to {rows[-1]:,}. If they are ids, such "
            "as customer numbers, give the table that holds them: TABLE --id COLUMN."
        )
    return known, notices, ids


def _look_like_ids(rows: NDArray[np.int64]) -> bool:
    """Return whether row numbers are larger than tables have rows, or leave out the first rows as by chance few would.

    Numbers drawn from all rows up to the largest would be at least as large as the smallest with the probability
    compared here.
    """
    if len(rows) == 0:
        return False
    smallest, largest = int(rows[0]), int(rows[-1])
    if largest >= MIN_ID:
        return True
    return smallest >= MAX_LEFT_OUT and (1 - smallest / (largest + 1)) ** len(rows) < IMPROBABLE


def _show_counts(links: Constraints, n_rows: int, *, of_table: bool) -> None:
    """Print how many links there are and what they join."""
    import numpy as np

    from mustlink.cli._show import print_line

    rows, numbered = links.compact()
    print_line(f"Links: {links.n_must_links:,} must, {links.n_cannot_links:,} cannot", "bold")
    print_line(f"Rows in links: {len(rows):,}" + (f" of {n_rows:,}" if of_table else ""))
    if n_rows:
        sizes = np.bincount(numbered.components(len(rows)), minlength=1)
        joined = sizes[sizes > 1]
        print_line(
            f"Must-link components: {joined.size:,}"
            + (f", the largest of {joined.max():,} rows" if joined.size else "")
        )


def _show_informativeness(links: Constraints, loaded: LoadedTable, n_clusters: int | None, random_state: int) -> None:
    """Print how much the links add to plain k-means."""
    from mustlink.cli._show import print_line

    if n_clusters is None:
        print_line("Informativeness: not computed; it depends on the number of clusters (-k)")
    else:
        informativeness = links.informativeness(loaded.kmeans_labels(n_clusters, random_state))
        print_line(f"Informativeness: {informativeness:.0%} of the links are broken by plain k-means")
