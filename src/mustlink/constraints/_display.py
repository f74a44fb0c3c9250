"""Links and conflicts as HTML, for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mustlink._html import HtmlList, HtmlTable, render_html
from mustlink._spelling import count

if TYPE_CHECKING:
    from mustlink.constraints._conflicts import Conflict
    from mustlink.constraints._constraints import Constraints

MAX_LINKS_OF_A_KIND = 5
MAX_CONFLICTS = 5


def constraints_html(links: Constraints, n_samples: int | None = None) -> str:
    """Lay out links: how many of each kind there are, the first of them, and their conflicts."""
    n_must, n_cannot = len(links.must_link), len(links.cannot_link)
    of_table = "" if n_samples is None else f" of {n_samples:,}"
    text = (
        "no links."
        if links.is_empty
        else (
            f"{count(n_must, 'must-link')} and {count(n_cannot, 'cannot-link')} between "
            f"{len(links.constrained_rows()):,}{of_table} rows."
        )
    )
    with_weights = bool((links.weight != 1).any())
    first = [*range(n_must)[:MAX_LINKS_OF_A_KIND], *range(n_must, n_must + n_cannot)[:MAX_LINKS_OF_A_KIND]]
    rows = [
        (
            "must" if links.sign[place] > 0 else "cannot",
            *map(str, links.pairs[place].tolist()),
            *([f"{links.weight[place]:g}"] if with_weights else []),
        )
        for place in first
    ]
    names = ("link", "a", "b", *(["weight"] if with_weights else []))
    table = HtmlTable(names, "<>>>"[: len(names)], rows, len(links), "link")
    return render_html("Constraints:", text, table, conflict_list(links.conflicts()))


def conflict_list(conflicts: Sequence[Conflict]) -> HtmlList:
    """List the first conflicts."""
    shown = [str(conflict) for conflict in conflicts[:MAX_CONFLICTS]]
    return HtmlList(f"{count(len(conflicts), 'conflict')}:", shown, len(conflicts), "conflict")
