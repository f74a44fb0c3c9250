"""What the options of tables and jobs may be, checked in one place."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from numbers import Integral
from typing import Any

from mustlink.errors import OptionError
from mustlink.tables._dialect import has_codec, is_separator

__all__ = ["check_options"]

MAX_SHOWN_CHARACTERS = 60

Rule = tuple[str, Callable[[Any], bool]]


def _one_of(*words: str) -> Rule:
    """Make the rule of an option that is one of a few words."""
    return (
        f"{', '.join(map(repr, words[:-1]))} or {words[-1]!r}",
        lambda value: isinstance(value, str) and value in words,
    )


def _or_none(rule: Rule) -> Rule:
    """Make the rule of an option that may also be None."""
    words, fits = rule
    return f"{words}, or None", lambda value: value is None or fits(value)


_NAME: Rule = "the name of a column", lambda value: isinstance(value, str)
_NAMES: Rule = (
    "a list of column names",
    lambda value: isinstance(value, Collection) and not isinstance(value, str | bytes),
)
_CLUSTERER: Rule = "the name of a clusterer, as mustlink methods lists them", lambda value: isinstance(value, str)
_PATH: Rule = "the name of a file", lambda value: isinstance(value, str | os.PathLike)
_WHOLE: Rule = "a whole number", lambda value: isinstance(value, Integral) and not isinstance(value, bool)
_ENCODING: Rule = "", lambda value: isinstance(value, str) and has_codec(value)
_DELIMITER: Rule = "", lambda value: isinstance(value, str) and is_separator(value)
_SWITCH: Rule = "True or False", lambda value: isinstance(value, bool)

RULES: dict[str, Rule] = {
    "table": _PATH,
    "links": _or_none(_PATH),
    "graph": _or_none(_PATH),
    "output": _or_none(_PATH),
    "report": _or_none(_PATH),
    "model": _PATH,
    "save_model": _or_none(_PATH),
    "clusters": _or_none(_PATH),
    "cluster_column": _or_none(_NAME),
    "keep_columns": _SWITCH,
    "id_column": _or_none(_NAME),
    "label_column": _or_none(_NAME),
    "never_together": _NAMES,
    "always_together": _NAMES,
    "ignore": _NAMES,
    "categorical": _NAMES,
    "scale": _SWITCH,
    "one_hot": _SWITCH,
    "missing": _one_of("error", "drop", "mean"),
    "header": _or_none(_SWITCH),
    "encoding": _or_none(_ENCODING),
    "delimiter": _or_none(_DELIMITER),
    "decimal": _or_none(_one_of(".", ",")),
    "sheet": _or_none(("the name of a sheet", lambda value: isinstance(value, str))),
    "problems": _one_of("raise", "keep"),
    "n_clusters": _or_none(_WHOLE),
    "known": ("names of files or columns", lambda value: isinstance(value, str | os.PathLike | Collection)),
    "n_next": _WHOLE,
    "method": _CLUSTERER,
    "estimator": _or_none(_CLUSTERER),
    "links_are": _one_of("estimated", "certain"),
    "random_state": _or_none(_WHOLE),
    "n_init": _or_none(_WHOLE),
    "contradictions": _one_of("raise", "majority", "keep"),
    "unknown_ids": _one_of("raise", "skip"),
    "size_min": _or_none(_WHOLE),
    "size_max": _or_none(_WHOLE),
    "relax": _SWITCH,
    "in_blocks": _or_none(_SWITCH),
}


# Options of the command under the same name, whose words are among the remedies.
WORDED = {"encoding": "encoding_names", "delimiter": "delimiter_sign", "decimal": "decimal_sign"}


def check_options(**given: Any) -> None:
    """Raise OptionError if an option is not of the kind that its name asks for.

    Parameters
    ----------
    **given : object
        Options of :func:`encode` or of :class:`mustlink.workflow.Job`, by name.

    Examples
    --------
    >>> from mustlink.tables import check_options
    >>> check_options(missing="median")
    Traceback (most recent call last):
        ...
    mustlink.errors.OptionError: missing must be 'error', 'drop' or 'mean'; got 'median'.
    """
    for name, value in given.items():
        words, fits = RULES[name]
        if not fits(value):
            shown = " ".join(repr(value).split())
            shown = shown if len(shown) <= MAX_SHOWN_CHARACTERS else shown[: MAX_SHOWN_CHARACTERS - 3] + "..."
            if name in WORDED:
                raise OptionError(f"The {name} is {shown}", remedy=WORDED[name])
            raise OptionError(f"{name} must be {words}; got {shown}.")
