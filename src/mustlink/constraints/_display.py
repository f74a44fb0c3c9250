"""Links and conflicts as HTML, for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mustlink._html import HtmlList, HtmlTable, render_html
from mustlink._spelling import count
from mustlink.constraints._groups import name_size

if TYPE_CHECKING:
    from mustlink.constraints._conflicts import Conflict
    from mustlink.constraints._constraints import Constraints

MAX_LINKS_OF_A_KIND = 5
MAX_CONFLICTS = 5


def constraints_html(links: Constraints, n_samples: int | None = None) -> str:
    """Lay out links: how many of each kind there are, the first of them, and their conflicts."""
    listed = links.without_groups()
    n_must, n_cannot = len(listed.must_link), len(listed.cannot_link)
    of_table = "" if n_samples is None else f" of {n_samples:,}"
    text = (
        "no links."
        if links.is_empty
        else (
            f"{count(n_must, 'must-link')} and {count(links.n_cannot_links, 'cannot-link')} between "
            f"{len(links.constrained_rows()):,}{of_table} rows.{_describe_groups(links)}"
        )
    )
    with_weights = bool((listed.weight != 1).any())
    first = [*range(n_must)[:MAX_LINKS_OF_A_KIND], *range(n_must, n_must + n_cannot)[:MAX_LINKS_OF_A_KIND]]
    rows = [
        (
            "must" if listed.sign[place] > 0 else "cannot",
            *map(str, listed.pairs[place].tolist()),
            *([f"{listed.weight[place]:g}"] if with_weights else []),
        )
        for place in first
    ]
    names = ("link", "a", "b", *(["weight"] if with_weights else []))
    table = HtmlTable(names, "<>>>"[: len(names)], rows, len(listed), "link")
    return render_html("Constraints:", text, table, conflict_list(links.conflicts()))


def _describe_groups(links: Constraints) -> str:
    """Word the groups that some of the cannot-links are in."""
    if not links.cannot_link_groups:
        return ""
    return f" No two rows of a group are in one cluster: {name_size(links.cannot_link_groups)}."


def conflict_list(conflicts: Sequence[Conflict]) -> HtmlList:
    """List the first conflicts."""
    shown = [str(conflict) for conflict in conflicts[:MAX_CONFLICTS]]
    return HtmlList(f"{count(len(conflicts), 'conflict')}:", shown, len(conflicts), "conflict")
