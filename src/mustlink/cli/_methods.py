"""``mustlink methods``: the clusterers, and when to pick which."""

from __future__ import annotations

from mustlink.cli._errors import report_errors

__all__ = ["methods"]


@report_errors
def methods() -> None:
    """List the methods, and when to pick which.

    A hard method keeps every link or fails; a soft one weighs links against distances; none is a method that takes no
    links. Methods that need the edges of a graph (--graph) say so. Exit code 0, or 2 when the command is mistyped.
    """
    from rich.text import Text

    from mustlink.catalogue import FAMILIES, by_family
    from mustlink.cli._show import console, make_table

    table = make_table("method")
    table.columns[0].no_wrap = True
    table.add_column("class", no_wrap=True)
    table.add_column("links are")
    table.add_column("pick it when")
    for family, entries in by_family().items():
        table.add_row()
        table.add_row(Text(FAMILIES[family], "underline"))
        for entry in entries:
            graph = " Needs --graph." if entry.takes_graph else ""
            table.add_row(Text("\n".join(entry.aliases), "bold"), entry.class_name, entry.kind, entry.pick_when + graph)
    console().print(table)
