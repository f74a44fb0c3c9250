"""``mustlink studio``: teach the clustering by hand, in a browser."""

from __future__ import annotations

import filecmp
import os
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from mustlink._spelling import count
from mustlink.cli import _options as opt
from mustlink.cli._errors import report_errors
from mustlink.errors import MustlinkError

if TYPE_CHECKING:
    from mustlink.studio import Session
    from mustlink.workflow import TableOptions

__all__ = ["studio"]

SUFFIX = ".mustlink"
# What to do about an error, where it differs from other commands: the studio takes a file whole.
STUDIO_REMEDIES: dict[str | tuple[str, ...] | None, str] = {
    "skip_unknown": "correct the file, or remove such links from it",
    "skip_unknown_edges": "correct the file, or remove such edges from it",
}


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
        int,
        typer.Option("--port", metavar="N", min=0, max=65535, help="The port to listen at.", show_default="a free one"),
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

    Draws the rows as points, shows the groups, and asks about pairs of rows. Draw links, answer questions and drag
    points: the groups follow at once. Every step is saved in a file before it is shown, so nothing is lost by closing
    the browser or stopping the command, and the same command continues. The page is served on this machine alone, at
    an address with a secret token. Ctrl-C ends it. Exit code 0, or 2 when something in the input is wrong.
    """
    from mustlink.cli._show import print_command, print_line
    from mustlink.studio import serve
    from mustlink.workflow import TableOptions

    options = opt.fill(TableOptions, locals())
    try:
        session = _open(table, options, file, n_clusters, links, edges, strategy, random_state)
    except MustlinkError as error:
        if error.remedy not in STUDIO_REMEDIES:
            raise
        raise ValueError(f"{error.problem}; {STUDIO_REMEDIES[error.remedy]}.") from error
    path = _short(session.path)
    with session:
        for notice in session.notices:
            print_line(notice)
        try:
            serve(session, host, port, open_browser=browser, announce=lambda line: print_line(line, whole=True))
        except ModuleNotFoundError as error:
            raise ValueError(str(error)) from error
        n_links = len(session.engine.links)
    print_line()
    print_line(f"{count(n_links, 'link')} and all steps are saved in {path}. To continue:", whole=True)
    print_command(["mustlink", "studio", path])


def _open(
    table: Path,
    options: TableOptions,
    file: Path | None,
    n_clusters: int | None,
    links: Path | None,
    edges: Path | None,
    strategy: str,
    random_state: int,
) -> Session:
    """Begin a session, or continue one: that of a file, or the one of this table in this folder."""
    from mustlink.cli._show import print_line, show_status
    from mustlink.studio import Session
    from mustlink.workflow import load_table

    is_session = table.suffix.lower() == SUFFIX
    if is_session and file is not None:
        raise ValueError(f"{table} is the file of a studio already; leave out --file.")
    if file is not None and file.resolve() == table.resolve():
        raise ValueError(f"--file names the table itself, {table}; give a file that ends in {SUFFIX}, or leave it out.")
    path = table if is_session else file or Path(f"{opt.stem(table)}{SUFFIX}")
    if not is_session and not path.exists():
        with show_status("Reading the table"):
            loaded = load_table(options)
            return Session.create(
                loaded,
                options,
                path,
                n_clusters=n_clusters,
                links=links,
                edges=edges,
                strategy=strategy,
                random_state=random_state,
            )
    with show_status("Opening the session"):
        session = Session.open(path)
    try:
        _check_same(session, path, options, is_session)
    except BaseException:
        session.close()
        raise
    steps = count(len(session.engine.history), "step")
    print_line(f"Continuing {path} after {steps}, with the links and options that it has.", whole=True)
    given = {"-k": n_clusters is not None, "--links": links is not None, "--edges": edges is not None}
    unused = [name for name, is_given in given.items() if is_given]
    if unused:
        print_line(f"Not used, since the session was begun before: {', '.join(unused)}.")
    return session


def _check_same(session: Session, path: Path, options: TableOptions, is_session: bool) -> None:
    """Refuse to continue a session on another table, or with other options of the table than those typed."""
    begun = session.options
    if not is_session and not _is_same_file(options.table, begun.table):
        raise ValueError(
            f"{path} is a studio on another table, {begun.table}, with other content; choose another file with --file, "
            f"or run: mustlink studio {path}"
        )
    typed = [
        opt.option_name(field.name)
        for field in fields(options)
        if field.name != "table"
        and getattr(options, field.name) != field.default
        and _plain(getattr(options, field.name)) != _plain(getattr(begun, field.name))
    ]
    if typed:
        raise ValueError(
            f"{path} was begun with other options of the table ({', '.join(typed)}); leave them out to continue it, or "
            "choose another file with --file."
        )


def _is_same_file(first: str | os.PathLike[str], second: str | os.PathLike[str]) -> bool:
    """Return whether two files are one, or equal: a session may be copied together with its table."""
    if Path(first).resolve() == Path(second).resolve():
        return True
    return Path(first).is_file() and filecmp.cmp(first, second, shallow=False)


def _short(path: Path | None) -> str:
    """Return a path as a person would type it here."""
    assert path is not None
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def _plain(value: object) -> object:
    """Return a value that compares equal however a sequence was written."""
    return list(value) if isinstance(value, list | tuple) else value
