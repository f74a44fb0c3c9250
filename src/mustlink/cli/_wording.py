"""What to do about an error, in the words of the command line."""

from __future__ import annotations

import shlex

from mustlink.errors import MustlinkError

__all__ = ["REMEDIES", "describe_error"]

# The same keys and fields as in mustlink.errors.REMEDIES.
REMEDIES = {
    "choose_auto": "choose it by the links with --method auto",
    "drop_link": "remove a link of the chain",
    "drop_side": "remove one of the two",
    "fewer_clusters": "reduce the number of clusters (-k)",
    "fix_cell": "correct the cell",
    "give_links": "give LINKS, or a column of labels with --label-column",
    "give_n_clusters": "give it with -k",
    "handle_missing": "fill it, or use --missing drop or --missing mean",
    "header": "use --header if they are the names of the columns",
    "ignore_column": "leave it out with --ignore {column}",
    "install_extra": 'install it with: pip install "mustlink[{extra}]"',
    "look_ahead": "use a method that looks ahead, such as --method linkage",
    "majority": "use --contradictions majority to keep the heavier one",
    "mark_categorical": "use it as categories with --categorical {column}",
    "mark_id": "use --id {column} if it names the rows",
    "more_clusters": "increase the number of clusters (-k)",
    "more_starts": "increase the number of starts (--starts)",
    "n_clusters_from_1": "-k must be at least 1",
    "n_init_from_1": "--starts must be at least 1",
    "no_header": "use --no-header if they are data",
    "other_links": "give links of the other kind",
    "random_state_range": "--seed must be from 0 to 4294967295",
    "relax": "use --relax",
    "soft_method": "use a method that may break links, such as --method boost",
}


def describe_error(error: MustlinkError) -> str:
    """Word an error for the command line, with its fields quoted for the shell."""
    return error.describe(REMEDIES, shlex.quote)
