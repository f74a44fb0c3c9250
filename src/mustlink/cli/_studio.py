"""``mustlink studio``: teach the clustering by hand, in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from mustlink._spelling import count
from mustlink.cli import _options as opt
from mustlink.cli._errors import report_errors

if TYPE_CHECKING:
    from mustlink.studio import Session
    from mustlink.workflow import TableOptions

__all__ = ["studio"]

SUFFIX = ".mustlink"


@report_errors
def studio(
    table: Annotated[
        Path,
        typer.Argument(
            metavar="TABLE",
            help="The table, in the formats of mustlink cluster; or the file of a studio, .mustlink, to continue it.",
        ),
    ],
    links: Annotated[
        Path | None, typer.Option("--links", metavar="FILE", help="Links to begin with; the file is not changed.")
    ] = None,
    n_clusters: Annotated[
        int | None,
        typer.Option(
            "-k",
            "--clusters",
            metavar="K",
            help="The number of groups. It can be changed on the page.",
            show_default="as many as you build",
        ),
    ] = None,
    edges: Annotated[
        Path | None,
        typer.Option(
            "--edges",
            metavar="EDGES",
            help="Edges between rows, drawn and used to lay out the map: a .csv, .tsv, .xlsx or .parquet file with two "
            "columns that name rows as links do.",
            show_default=False,
        ),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--file",
            metavar="FILE",
            help="The file that keeps every step; if it exists, it is continued.",
            show_default="the table's name with .mustlink, in this folder",
        ),
    ] = None,
    strategy: Annotated[
        Literal["cobras", "consolidate", "explore", "minmax", "npu", "random"],
        typer.Option(
            "--strategy",
            metavar="NAME",
            help="How questions are chosen, as for [bold]mustlink ask[/bold]. It can be changed on the page.",
        ),
    ] = "minmax",
    port: Annotated[
        int, typer.Option("--port", metavar="N", help="The port to listen at.", show_default="a free one")
    ] = 0,
    host: Annotated[
        str,
        typer.Option(
            "--host",
            metavar="ADDRESS",
            help="The address to listen at. With another one than this, other machines may reach the studio.",
        ),
    ] = "127.0.0.1",
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", metavar="", help="Whether the page is opened in a browser.")
    ] = True,
    id_column: opt.LinkIdColumn = None,
    label_column: opt.LabelColumn = None,
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
    random_state: opt.QuestionSeed = 0,
    debug: opt.Debug = False,
) -> None:
    """Teach the clustering by hand, in a browser.

    Draws the rows as points, shows the groups, and asks about pairs of rows. Draw links, answer questions and drag points:
    the groups follow at once. Every step is saved in a file before it is shown, so nothing is lost by closing the
    browser or stopping the command, and the same command continues. The page is served on this machine alone, at an
    address with a secret token. Ctrl-C ends it. Exit code 0, or 2 when something in the input is wrong.
    """
    from mustlink.cli._show import print_command, print_line
    from mustlink.studio import serve
    from mustlink.workflow import TableOptions

    if table.suffix.lower() == SUFFIX:
        session = _reopen(table)
    else:
        options = opt.fill(TableOptions, locals())
        path = file or Path(f"{opt.stem(table)}{SUFFIX}")
        if path.exists():
            session = _continue(path, options)
        else:
            session = _begin(path, options, n_clusters, links, edges, strategy, random_state)
    path = session.path
    try:
        serve(session, host, port, browser, lambda line: print_line(line, whole=True))
    except ModuleNotFoundError as error:
        raise ValueError(str(error)) from error
    finally:
        session.close()
    print_line()
    print_line(f"Everything is saved in {path}. To continue:", whole=True)
    print_command(["mustlink", "studio", str(path)])
