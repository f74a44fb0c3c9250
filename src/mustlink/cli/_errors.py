"""Failures as one sentence on standard error and an exit code, with a traceback only on request."""

from __future__ import annotations

import errno
import functools
import shlex
import sys
import traceback
from collections.abc import Callable
from typing import Any

import typer

from mustlink import errors
from mustlink.cli._options import option_name
from mustlink.errors import ColumnsError, MustlinkError

__all__ = ["BAD_INPUT", "CONFLICT", "INTERRUPTED", "REMEDIES", "one_sentence", "report_errors"]

CONFLICT = 1
BAD_INPUT = 2
INTERRUPTED = 130

_EXPECTED = (MustlinkError, OSError, ValueError, MemoryError)

# What to do about an error, in the words of the command line; the same keys and fields as in mustlink.errors.
REMEDIES = {
    **errors.REMEDIES,
    "add_links": "give LINKS",
    "apart_groups": "remove the link, or use --within-groups always",
    "apart_sources": "remove the link, or increase --at-most",
    "apart_rules": "remove the link, or use --within-groups always or a larger --at-most",
    "at_least_clusters": "use -k {n_needed} or more",
    "category_column": "name the column of the categories with --category-column",
    "cause": "use another clusterer to boost (--base)",
    "certain_method": "use --method boost, or a method that always keeps all links, such as --method cop",
    "choose_auto": "choose it by the links with --method auto",
    "choose_decimal": "name the decimal sign with --decimal",
    "choose_delimiter": "use --delimiter {delimiter} if it separates the cells",
    "choose_encoding": "name its encoding with --encoding",
    "cluster_column": "name the column of the clusters with --cluster-column",
    "counts": "use --no-scale if the columns hold counts, or another method",
    "decimal_sign": "--decimal must be . or ,",
    "delimiter_sign": "--delimiter must be one character that separates cells, such as , or ; or |, or tab",
    "drop_single": "give it more texts, or use --single drop to take such texts as not categorized",
    "drop_empty": "leave out such {side} with --drop-empty",
    "drop_incomplete": "fill them, or leave out these rows with --missing drop",
    "encoding_names": "--encoding must be one that Python knows: utf-8, utf-16, cp1252, latin-1, cp437, ...",
    "empty_single": "fill the cells, or leave each such row alone with --missing single",
    "estimate_trust": "leave out --links-are certain",
    "fewer_clusters": "reduce the number of clusters (-k)",
    "fewer_neighbors": "use another method, such as --method boost",
    "give_id_column": "name the column of the ids with --id COLUMN",
    "give_categories": "give at least two categories of several texts each",
    "give_graph": "give a file of edges with --graph",
    "give_by": "name the columns with --by",
    "give_ids": "give the table with --id COLUMN if links name ids",
    "give_links": "give LINKS, or a column of labels with --label-column",
    "give_n_clusters": "give it with -k",
    "give_text_column": "name the column of the texts with --text",
    "graph_method": "use a method that takes a graph, such as --method connected-kmeans",
    "groups_method": "use --method cop or pck, which take groups without a list of their pairs, or smaller groups",
    "fewer_equal_texts": "leave out rows with the commonest texts, or increase --max-pairs",
    "handle_missing": "fill it, or use --missing drop or --missing mean",
    "header": "use --header if they are the names of the columns",
    "ignore_column": "leave it out with --ignore {column}",
    "in_memory": "use --in-memory to read it into memory",
    "join_categories": "join small categories",
    "keep_more_terms": "reduce --min-df or --gini-drop",
    "larger_bisets": "increase --min-rows or --min-columns, so that there are fewer, or --max-bisets",
    "linked_method": "use a method that takes links, such as --method boost",
    "look_ahead": "use a method that looks ahead, such as --method linkage",
    "lower_min_cluster_size": "reduce --min-size",
    "lower_min_df": "reduce --min-df",
    "lower_outlier_threshold": "reduce --outlier-threshold",
    "lower_size_min": "reduce --min-size",
    "lower_words_final": "reduce --words-init and --words-final",
    "majority": "use --contradictions majority to keep the heavier one or keep to keep both",
    "majority_of_sum": "use --contradictions majority to keep the heavier one or keep to keep both",
    "majority_only": "use --contradictions majority to keep the heavier one",
    "mark_categorical": "use it as categories with --categorical {column}",
    "mark_id": "use --id {column} if it names the rows",
    "missing_zero": "fill it, or take empty cells for 0 with --missing zero",
    "missing_marker": "clear the cell if it marks a missing value",
    "match_by_id": "name a column of ids that both files have with --id",
    "more_clusters": "increase the number of clusters (-k)",
    "more_space": "free some space, or set TMPDIR to a folder on a larger disk",
    "space_for_labels": "free some space, or set TMPDIR to a folder on a larger disk",
    "more_starts": "increase the number of starts (--starts)",
    "min_df_from_1": "--min-df must be at least 1",
    "n_clusters_from_1": "-k must be at least 1",
    "n_init_from_1": "--starts must be at least 1",
    "name_categories": "give a file or a column with --categories",
    "name_sensitive": "name it with --sensitive",
    "no_graph": "leave out --graph",
    "no_header": "use --no-header if they are data",
    "no_labels": "leave out --label-column",
    "no_links": "leave out LINKS",
    "no_rules": "leave out --never-together and --always-together",
    "no_starts": "leave out --starts",
    "not_certain": "leave out --links-are certain",
    "not_relaxed": "leave out --relax",
    "other_answers": "use the same options, or another file with --answers",
    "other_blocking": "use another way of blocking, such as --blocking sorted, or increase --max-pairs",
    "raise_min_df": "increase --min-df",
    "raise_size_max": "increase --max-size",
    "ones_above": "take large numbers for 1 with --ones-above PERCENT",
    "order_categories": "take them in their sorted order with --ordered {column}, or join some of them",
    "random_state_range": "--seed must be from 0 to 4294967295",
    "repeat_option": "repeat {option} for each column",
    "relax": "use --relax",
    # The command lists the broken links itself.
    "see_history": "",
    "see_violations": "",
    # No option changes the size of tables.
    "larger_tables": "",
    "scale": "leave out --no-scale",
    "sized_method": "use --method sizes",
    "sizes_from_0": "--min-size and --max-size must be at least 0",
    "skip_unknown": "use --unknown-ids skip to leave out such links",
    "skip_unknown_labels": "use --unknown-ids skip to leave out such rows",
    "skip_unknown_pairs": "use --unknown-ids skip to leave out such pairs",
    "skip_unknown_edges": "use --unknown-ids skip to leave out such edges",
    "smaller_bisets": "reduce --min-rows or --min-columns",
    "smaller_groups": "clear the cells of large groups, or increase --max-pairs",
    "soft_method": "use a method that may break links, such as --method boost",
    "soft_mixture": "use a mixture that may break links, --method penalized",
    "softer_links": "give some of these links a lower weight",
    "too_large": "cluster a sample of the rows, or use a method for large tables (see mustlink methods)",
}


def report_errors(command: Callable[..., None]) -> Callable[..., None]:
    """Turn the failures a user can cause into one sentence and an exit code."""

    @functools.wraps(command)
    def run(*args: Any, **options: Any) -> None:
        try:
            command(*args, **options)
            # A full disk behind a redirected output is only noticed here.
            sys.stdout.flush()
        except BrokenPipeError:
            raise
        except KeyboardInterrupt:
            typer.echo("Stopped.", err=True)
            raise typer.Exit(INTERRUPTED) from None
        except _EXPECTED as error:
            if options.get("debug"):
                traceback.print_exc()
            typer.echo(f"Error: {one_sentence(error)}", err=True)
            raise typer.Exit(BAD_INPUT) from None

    return run


def one_sentence(error: BaseException) -> str:
    """Word a failure on one line, or the problems of several columns on a line each."""
    if isinstance(error, OSError) and not isinstance(error, MustlinkError):
        text = _about_a_file(error)
    elif isinstance(error, MemoryError):
        text = f"There is not enough memory ({str(error) or 'no size is known'})"
    elif isinstance(error, MustlinkError):
        named = {name: option_name(error.fields[name]) for name in ("option", "needed") if name in error.fields}
        text = error.with_fields(**named).describe(REMEDIES, shlex.quote)
    else:
        text = str(error) or type(error).__name__
    if isinstance(error, ColumnsError):
        return text
    line = " ".join(text.split())
    return line if line.endswith((".", "!", "?", ".)")) else line + "."


def _about_a_file(error: OSError) -> str:
    """Word an error of the operating system."""
    if error.filename is None:
        if error.errno == errno.ENOSPC:
            return "No space is left on the disk"
        return str(error.strerror or error)
    name = str(error.filename)
    if error.errno == errno.ENOENT and error.strerror == "No such file or directory":
        return f"There is no file {name}"
    if error.errno == errno.EISDIR:
        return f"{name} is a folder; a file is expected"
    if error.errno in (errno.EACCES, errno.EPERM):
        return f"{name} cannot be opened: permission denied"
    if error.errno == errno.ENOSPC:
        return f"No space is left on the disk for {name}; nothing was written"
    return f"{error.strerror}: {name}"
