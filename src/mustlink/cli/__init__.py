"""The command ``mustlink``. Each command has its own module, and imports heavy packages only when it is run."""

from __future__ import annotations

import io
import os
import sys
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from mustlink._version import __version__
from mustlink.cli._another import another
from mustlink.cli._ask import ask
from mustlink.cli._check import check
from mustlink.cli._cluster import cluster
from mustlink.cli._cocluster import cocluster
from mustlink.cli._dedupe import dedupe
from mustlink.cli._demo import demo
from mustlink.cli._errors import BAD_INPUT, INTERRUPTED, one_sentence
from mustlink.cli._explain import explain
from mustlink.cli._interrupt import leave_now, was_interrupted
from mustlink.cli._methods import methods
from mustlink.cli._options import TYPED
from mustlink.cli._predict import predict
from mustlink.cli._publish import publish
from mustlink.cli._reproduce import reproduce
from mustlink.cli._studio import studio
from mustlink.cli._taxonomy import taxonomy
from mustlink.cli._teach import teach
from mustlink.cli._warmup import warmup

__all__ = ["app", "main"]


# What the parser writes about a value, and plain words for it.
PARSER_WORDS = {
    "Value error, ": "",
    "Input should be a valid integer, unable to parse string as an integer": "{value} is not a whole number.",
    "Input should be": "it must be",
}


class _PlainSwitches:
    """Help in which a switch has no type: a person gives no value to it."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters for parsing and for the help."""
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            if getattr(parameter, "is_flag", False):
                parameter.metavar = ""
        return parameters


class Command(_PlainSwitches, TyperCommand):
    """One command."""


class Commands(_PlainSwitches, TyperGroup):
    """The commands; the words as typed are kept for the report."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Keep the words before they are parsed."""
        ctx.meta[TYPED] = list(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run a command, and word a value that it does not take without the terms of the parser."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            for theirs, ours in PARSER_WORDS.items():
                error.message = error.message.replace(theirs, ours.format(value=_value_typed(error, ctx.meta[TYPED])))
            raise


def _value_typed(error: typer.BadParameter, words: list[str]) -> str:
    """Find the value that was typed for the option of an error, which the parser does not name."""
    for option in getattr(error.param, "opts", ()):
        for place, word in enumerate(words):
            if word == option and place + 1 < len(words):
                return repr(words[place + 1])
            if word.startswith(f"{option}="):
                return repr(word.partition("=")[2])
            if len(option) == 2 and word.startswith(option) and len(word) > 2:
                return repr(word[2:])
    return "this"


app = typer.Typer(
    name="mustlink",
    cls=Commands,
    help="Cluster a table with what you know: pairs of rows that belong together, and pairs that do not.\n\n"
    "New here? [bold]mustlink demo --tour[/bold] shows it in five screens.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _unwrapped(docstring: str | None) -> str:
    """Join the lines of each paragraph, for the help to wrap at the width of the terminal."""
    paragraphs = (docstring or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


for command in (
    cluster,
    check,
    ask,
    studio,
    teach,
    taxonomy,
    predict,
    explain,
    another,
    cocluster,
    dedupe,
    publish,
    demo,
    methods,
    reproduce,
    warmup,
):
    app.command(cls=Command, help=_unwrapped(command.__doc__))(command)


def _show_version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        typer.echo(f"mustlink {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Cluster a table with what you know: pairs of rows that belong together, and pairs that do not."""


def main() -> None:
    """Run the command line.

    Examples
    --------
    >>> import sys
    >>> from unittest import mock
    >>> from mustlink.cli import main
    >>> with mock.patch.object(sys, "argv", ["mustlink", "--version"]):
    ...     try:
    ...         main()
    ...     except SystemExit as finished:
    ...         print("exit code", finished.code)
    mustlink ...
    exit code 0
    """
    _replace_what_cannot_be_printed()
    try:
        app(prog_name="mustlink")
    except KeyboardInterrupt:
        if was_interrupted():
            leave_now(INTERRUPTED)
        _leave(INTERRUPTED)
    except OSError as error:
        # Outside a command, only printing the help or the version can fail.
        typer.echo(f"Error: {one_sentence(error)}", err=True)
        _leave(BAD_INPUT)
    except SystemExit as finished:
        if was_interrupted():
            leave_now(INTERRUPTED)
        _leave(finished.code)


def _replace_what_cannot_be_printed() -> None:
    """Print a question mark for what the encoding of the output lacks, as in files and pipes on Windows."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _leave(code: str | int | None) -> NoReturn:
    """Flush the output and exit; if flushing fails, print one sentence instead of the interpreter's own message."""
    try:
        sys.stdout.flush()
    except OSError as error:
        # Otherwise the interpreter would flush the rest of the buffer at the very end and change the exit code.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not code and not isinstance(error, BrokenPipeError):
            typer.echo(f"Error: {one_sentence(error)}", err=True)
            code = BAD_INPUT
    sys.exit(code)
