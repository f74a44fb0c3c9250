"""Every exception and warning that mustlink raises on purpose.

Each exception states what was given, what was expected and where (``problem``), and may name one or more remedies by
key. ``str(error)`` words the remedies for Python (:data:`REMEDIES`); the command and other front ends have a table of
their own with the same keys. All exceptions derive from :class:`MustlinkError`, and from the built-in exception a
scikit-learn user would catch.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

__all__ = [
    "REMEDIES",
    "ApproximationWarning",
    "BinaryMatrixError",
    "ColumnsError",
    "ConstraintError",
    "DataNotFoundError",
    "DiskSpaceError",
    "EstimatorError",
    "FileFormatError",
    "InfeasibleError",
    "InfeasibleWarning",
    "MustlinkError",
    "NegativeNumberError",
    "NumberTooLargeError",
    "OptionError",
    "PredictionWarning",
    "SkippedLinksWarning",
    "TooLargeError",
    "UnmetConstraintsWarning",
]

MAX_SHOWN_PROBLEMS = 8

# What to do about an error, in the words of Python; the names in braces are fields of the error.
REMEDIES = {
    "add_links": "pass links",
    "apart_groups": 'remove the link, or pass within_groups="always"',
    "apart_sources": "remove the link, or increase at_most",
    "apart_rules": "remove the link, or pass group_cannot_link=False or a larger max_per_source",
    "at_least_clusters": "use {number}={n_needed} or more",
    "cause": "it says: {cause}",
    "connected_part": "leave out the rows of small parts",
    "counts": "pass counts, such as those of CountVectorizer",
    "curve_to": "fit with curve_to={threshold:g}",
    "change_option": "change {option}",
    "choose_auto": 'choose it by the links with method="auto"',
    "certain_method": "use a clusterer that keeps all links, such as COPKMeans",
    "choose_decimal": 'pass the decimal sign as decimal="." or decimal=","',
    "choose_delimiter": "pass delimiter={delimiter!r} if it separates the cells",
    "choose_encoding": "pass its encoding as encoding",
    "decimal_sign": 'decimal must be "." or ","',
    "delimiter_sign": 'delimiter must be one character that separates cells, such as "," or ";" or "|", or "tab"',
    "drop_incomplete": 'fill them, or leave out these rows with missing="drop"',
    "drop_aggregate": "leave out the aggregate or choose another bound",
    "drop_cannot_link": "remove this link",
    "drop_empty": "leave out such {side}",
    "drop_link": "remove a link of the chain",
    "drop_of_cycle": "remove a link of the cycle",
    "drop_option": "leave out {option}",
    "drop_side": "remove one of the two",
    "empty_single": 'fill the cells, or leave each such row alone with missing="single"',
    "empty_labels": "leave some of the labels empty",
    "encoding_names": 'encoding must be one that Python knows: "utf-8", "utf-16", "cp1252", "latin-1", "cp437", ...',
    "estimate_trust": 'pass trust="estimate"',
    "fewer_equal_texts": "leave out the commonest texts, which are pairs with any blocking, or increase max_pairs",
    "fewer_clusters": "reduce {number}",
    "fewer_neighbors": "reduce min_samples",
    "fix_cell": "correct the cell",
    "category_column": "name the column of the categories with category_column",
    "clear_categories": "clear such cells",
    "drop_single": 'give it more texts, or pass single="drop" to take such texts as not categorized',
    "fill_categories": "fill some cells with at least two categories",
    "name_categories": "pass a file of them as categories, or a column as category_column",
    "cluster_column": "name the column of the clusters with cluster_column",
    "rename_cluster_column": "call the column of the known classes cluster, or leave in the file only it and the ids",
    "fewer_known": "ask without these groups, or with smaller ones",
    "give_id_column": "name the column of the ids with id_column",
    "give_categories": "give y with at least two categories of several documents each",
    "give_graph": "pass edges between rows as graph",
    "give_by": "name the columns with by",
    "give_ids": "pass the ids of the rows as ids if links name them",
    "give_links": "pass links, or a column of labels as label_column",
    "give_n_clusters": "pass n_clusters",
    "give_option": "give {needed}",
    "give_text_column": "name the column of the texts with text_column",
    "graph_method": "use a clusterer that takes a graph, such as ConnectedKMeans",
    "groups_method": "use COPKMeans or PCKMeans, which take groups without a list of their pairs, or smaller groups",
    "handle_missing": 'fill it, or pass missing="drop" or missing="mean"',
    "harden_must_links": "give must-links that are certain a weight of {hard_weight:g} or more, which makes them hard",
    "header": "pass header=True if they are the names of the columns",
    "ignore_column": "leave it out with ignore=[{column!r}]",
    "in_memory": "read the table into memory",
    "install_extra": 'install it with: pip install "mustlink[{extra}]"',
    "iso_dates": "write them like 2024-03-01",
    "join_categories": "join small categories, such as by truncate_taxonomy",
    "keep_more_terms": "reduce min_df or gini_drop, or increase gini_max",
    "larger_bisets": "increase min_rows or min_columns, so that there are fewer, or max_bisets",
    "larger_tables": "increase max_table",
    "linked_method": "use a clusterer that takes links, such as PCKMeans",
    "look_ahead": "pass look_ahead=True",
    "lower_min_cluster_size": "reduce min_cluster_size",
    "lower_min_df": "reduce min_df",
    "lower_outlier_threshold": "reduce outlier_threshold",
    "lower_pivot_min": "reduce pivot_min",
    "lower_size_min": "reduce size_min",
    "lower_words_final": "reduce words_init and words_final",
    "majority": 'pass contradictions="majority" to keep the heavier one or "keep" to keep both',
    "majority_of_sum": 'use links.add(other, contradictions="majority") to keep the heavier one or "keep" to keep both',
    "match_by_id": "name a column of ids that both files have with id_column",
    "majority_only": 'pass contradictions="majority" to keep the heavier one',
    "mark_categorical": "use it as categories with categorical=[{column!r}]",
    "mark_more_pivots": "mark more rows as pivots",
    "mark_id": "pass id_column={column!r} if it names the rows",
    "missing_zero": 'fill it, or pass missing="zero" to take empty cells for 0',
    "missing_marker": "leave out the row if it marks a missing value",
    "more_clusters": "increase {number}",
    "more_starts": "increase n_init",
    "min_df_from_1": "min_df must be at least 1",
    "n_clusters_from_1": "n_clusters must be at least 1",
    "n_init_from_1": "n_init must be at least 1",
    "name_sensitive": "name it with sensitive",
    "no_graph": "leave out graph",
    "no_header": "pass header=False if they are data",
    "no_labels": "leave out label_column",
    "no_links": "leave out links",
    "no_rules": "leave out never_together and always_together",
    "more_space": "pass another folder as scratch",
    "space_for_labels": "free some space, or write the labels to another disk",
    "no_starts": "leave out n_init",
    "not_certain": "leave out links_are",
    "not_relaxed": "leave out relax",
    "ones_above": "take large numbers for 1 with ones_above",
    "order_categories": "take them in their sorted order with ordered=[{column!r}], or join some of them",
    "other_answers": "use the same options, or another file for the answers",
    "other_blocking": 'pass another blocking, such as blocking="sorted", whose number of pairs of different texts is '
    "at most twice that of the texts times window, or a function that returns finer keys, or increase max_pairs",
    "other_links": "give links of the other kind",
    "raise_apart_max": "increase apart_max",
    "raise_min_df": "increase min_df",
    "raise_size_max": "increase size_max",
    "pivot_method": 'pass method="pivot"',
    "random_state_range": "random_state must be from 0 to 4294967295",
    "repeat_option": "name each column by itself in {option}",
    "relax": 'pass on_infeasible="relax"',
    "save_utf8": "save the file with the encoding UTF-8",
    "scale": "scale the column",
    "see_history": "see violations_ and history_",
    "see_violations": "violations_ lists them",
    "sized_method": "use a clusterer with sizes, SizeConstrainedKMeans",
    "sizes_from_0": "sizes must be at least 0",
    "skip_unknown": 'pass unknown_ids="skip" to leave out such links',
    "skip_unknown_labels": 'pass unknown_ids="skip" to leave out such rows',
    "skip_unknown_pairs": 'pass unknown_ids="skip" to leave out such pairs',
    "skip_unknown_edges": 'pass unknown_ids="skip" to leave out such edges',
    "smaller_bisets": "reduce min_rows or min_columns",
    "smaller_groups": "leave out large groups, which say little, or increase max_pairs",
    "soft_method": "use a clusterer that may break links, such as PCKMeans",
    "soft_mixture": "make links soft with finite penalties, as PenalizedGaussianMixture does",
    "softer_links": "give some of these links a lower weight",
    "too_large": "{instead}",
    "zeros_and_ones": "write zeros and ones, or make them of numbers with mustlink.coclustering.binarize",
}


def _keys(remedy: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the keys of one, several or no remedies."""
    return (remedy,) if isinstance(remedy, str) else tuple(remedy or ())


def add_remedies(
    problem: str,
    remedy: str | Sequence[str] | None,
    fields: Mapping[str, Any],
    remedies: Mapping[str, str],
    quote: Callable[[str], str] | None = None,
) -> str:
    """Add to a problem what to do about it; an empty remedy is left out."""
    keys = _keys(remedy)
    # `number` is the name of the parameter for the number of clusters, which mixtures call n_components.
    known = {"number": "n_clusters", **fields}
    quoted = {
        name: quote(value) if quote is not None and isinstance(value, str) else value for name, value in known.items()
    }
    words = [text for key in keys if (text := remedies[key].format(**quoted).removesuffix("."))]
    if not words:
        return problem if remedy is None or problem.endswith(".") else f"{problem}."
    last = words[-1] if len(words) == 1 else f"{', '.join(words[:-1])}, or {words[-1]}"
    return f"{problem.removesuffix('.')}; {last}."


class MustlinkError(Exception):
    """The parent of all exceptions of mustlink.

    Parameters
    ----------
    problem : str
        What was given, what was expected and where, as a sentence.
    remedy : str or sequence of str, default=None
        What to do about it: one or more keys of :data:`REMEDIES`.
    **fields : object
        The values that the remedies name, such as ``column``.

    Examples
    --------
    >>> from mustlink.errors import FileFormatError
    >>> error = FileFormatError("sales.csv: the column 'note' holds texts", remedy="ignore_column", column="note")
    >>> print(error)
    sales.csv: the column 'note' holds texts; leave it out with ignore=['note'].
    >>> error.remedy, error.fields
    ('ignore_column', {'column': 'note'})
    """

    def __init__(self, problem: str, *, remedy: str | Sequence[str] | None = None, **fields: Any) -> None:
        # Only the problem is in args; copying and pickling restore the rest from the instance's dictionary.
        super().__init__(problem)
        self.problem = problem
        self.remedy = remedy if remedy is None or isinstance(remedy, str) else tuple(remedy)
        self.fields = fields

    # The words of the remedies for Python; front ends in Python with other parameters have their own.
    remedies: Mapping[str, str] = REMEDIES

    def __str__(self) -> str:
        return self.describe(self.remedies)

    def with_problem(self, problem: str) -> Self:
        """Return a copy of the error with another problem, for example with more about where it occurred.

        Parameters
        ----------
        problem : str
            The new problem.

        Returns
        -------
        MustlinkError
            Of the same class, with the same remedy and fields.

        Examples
        --------
        >>> from mustlink.errors import InfeasibleError
        >>> print(InfeasibleError("Rows 0 and 1", remedy="relax").with_problem("Rows ann and bob"))
        Rows ann and bob; pass on_infeasible="relax".
        """
        other = copy.copy(self)
        other.problem, other.args = problem, (problem,)
        return other

    def with_fields(self, **fields: Any) -> Self:
        """Return a copy of the error with other values for its remedies.

        Parameters
        ----------
        **fields : object
            The values that differ.

        Returns
        -------
        MustlinkError
            Of the same class, with the same problem and remedy.

        Examples
        --------
        >>> from mustlink.errors import OptionError
        >>> error = OptionError("There is no column of groups", remedy="give_option", needed="group")
        >>> print(error.with_fields(needed="--group"))
        There is no column of groups; give --group.
        """
        other = copy.copy(self)
        other.fields = {**self.fields, **fields}
        return other

    def with_remedies(self, remedies: Mapping[str, str], *more: str) -> Self:
        """Return a copy of the error whose remedies are worded for another front end in Python.

        Parameters
        ----------
        remedies : mapping of str to str
            The words for every key of :data:`REMEDIES`.
        *more : str
            Keys of further remedies, named before the others.

        Returns
        -------
        MustlinkError
            Of the same class, with the same problem and fields.

        Examples
        --------
        >>> from mustlink.errors import InfeasibleError
        >>> print(InfeasibleError("Rows 0 and 1", remedy="relax").with_remedies({"relax": "pass relax=True"}))
        Rows 0 and 1; pass relax=True.
        """
        other = copy.copy(self)
        other.remedies = remedies
        if more:
            other.remedy = (*more, *_keys(self.remedy))
        return other

    def without_remedies(self, *keys: str) -> Self:
        """Return a copy of the error without remedies that cannot be followed where it is raised.

        Parameters
        ----------
        *keys : str
            Keys of :data:`REMEDIES`.

        Returns
        -------
        MustlinkError
            Of the same class, with the same problem and fields.

        Examples
        --------
        >>> from mustlink.errors import InfeasibleError
        >>> print(InfeasibleError("Rows 0 and 1", remedy=("relax", "drop_link")).without_remedies("relax"))
        Rows 0 and 1; remove a link of the chain.
        """
        other = copy.copy(self)
        other.remedy = tuple(key for key in _keys(self.remedy) if key not in keys)
        return other

    def describe(self, remedies: Mapping[str, str], quote: Callable[[str], str] | None = None) -> str:
        """Return the problem and the remedies in the words of a user interface.

        Parameters
        ----------
        remedies : mapping of str to str
            The words for every key of :data:`REMEDIES`, with the fields in braces.
        quote : callable, default=None
            Applied to fields that are strings, for example :func:`shlex.quote`.

        Returns
        -------
        str
            One sentence.

        Examples
        --------
        >>> from mustlink.errors import MustlinkError
        >>> error = MustlinkError("The column 'note' holds texts", remedy="ignore_column", column="note")
        >>> error.describe({"ignore_column": "untick {column}"})
        "The column 'note' holds texts; untick note."
        """
        return add_remedies(self.problem, self.remedy, self.fields, remedies, quote)


class _PairsError(MustlinkError, ValueError):
    """An error about pairs of rows."""

    def __init__(self, problem: str, pairs: Sequence[tuple[int, int]] = (), **options: Any) -> None:
        super().__init__(problem, **options)
        self.pairs = list(pairs)


class ConstraintError(_PairsError):
    """The constraints as given cannot be used.

    Takes the parameters of :class:`MustlinkError` and those below.

    Parameters
    ----------
    problem : str
        What is wrong, as a sentence.
    pairs : sequence of (int, int), default=()
        The offending pairs, for a program that wants to show them.

    Examples
    --------
    >>> from mustlink import Constraints
    >>> Constraints(must_link=[(3, 3)])
    Traceback (most recent call last):
        ...
    mustlink.errors.ConstraintError: A must-link joins row 3 with itself; a link needs two different rows.
    """


class InfeasibleError(_PairsError):
    """No clustering that satisfies every constraint exists, or none was found.

    Takes the parameters of :class:`ConstraintError`; `pairs` holds the cannot-links that could not be satisfied, where
    they are known, and the field ``feasibility`` the :class:`~mustlink.constraints.Feasibility`, where one was decided.
    """


class FileFormatError(MustlinkError, ValueError):
    """A file does not have the expected content; the message names the file and, where it is known, the line."""


class ColumnsError(FileFormatError):
    """Several columns of a table cannot be used.

    Takes the parameters of :class:`MustlinkError` and those below.

    Parameters
    ----------
    problem : str
        What is wrong in all, as a sentence.
    problems : sequence of FileFormatError, default=()
        What is wrong with each column, the worst first.

    Examples
    --------
    >>> from mustlink.errors import ColumnsError, FileFormatError
    >>> print(ColumnsError("sales.csv has 2 problems", [FileFormatError("'a' is empty"), FileFormatError("so is 'b'")]))
    sales.csv has 2 problems:
    - 'a' is empty
    - so is 'b'
    """

    def __init__(self, problem: str, problems: Sequence[FileFormatError] = (), **options: Any) -> None:
        super().__init__(problem, **options)
        self.problems = list(problems)

    def with_problems(self, problems: Sequence[FileFormatError]) -> Self:
        """Return a copy of the error with other problems.

        Parameters
        ----------
        problems : sequence of FileFormatError
            The new problems.

        Returns
        -------
        ColumnsError
        """
        other = copy.copy(self)
        other.problems = list(problems)
        return other

    def describe(self, remedies: Mapping[str, str], quote: Callable[[str], str] | None = None) -> str:
        """Return the problems, one on a line, each with its remedies.

        Parameters
        ----------
        remedies : mapping of str to str
            The words for every key of :data:`REMEDIES`, with the fields in braces.
        quote : callable, default=None
            Applied to fields that are strings, for example :func:`shlex.quote`.

        Returns
        -------
        str
            Several lines.
        """
        shown = [problem.describe(remedies, quote) for problem in self.problems[:MAX_SHOWN_PROBLEMS]]
        n_more = len(self.problems) - len(shown)
        lines = [f"- {' '.join(text.split())}" for text in shown] + ([f"- and {n_more} more."] if n_more else [])
        return "\n".join([f"{self.problem}:", *lines])


def join_problems(source: str, problems: Sequence[FileFormatError]) -> FileFormatError:
    """Return one error for the problems of a table, those first that concern most cells (their field ``n_cells``)."""
    if len(problems) == 1:
        return problems[0]
    ranked = sorted(problems, key=lambda problem: -problem.fields["n_cells"])
    shown = [problem.with_problem(problem.problem.removeprefix(source).lstrip(",: ")) for problem in ranked]
    return ColumnsError(f"{source} cannot be used as it is, for {len(problems)} reasons", shown)


class OptionError(MustlinkError, ValueError):
    """An option of a job cannot be used, alone or with the others."""


class EstimatorError(MustlinkError, RuntimeError):
    """A clusterer that is boosted failed; the field ``cause`` has its message."""


class DataNotFoundError(MustlinkError, LookupError):
    """A data set is not known, or is known but not on this machine."""


class BinaryMatrixError(MustlinkError, ValueError):
    """A matrix is not of zeros and ones, or has a row or column without a one; the message names the first.

    Examples
    --------
    >>> from mustlink import CDKMeans
    >>> CDKMeans(2).fit([[0, 1], [2, 1], [1, 1]])
    Traceback (most recent call last):
        ...
    mustlink.errors.BinaryMatrixError: Row 1, column 0 of X is 2, and co-clustering takes a matrix of ...
    """


class NegativeNumberError(MustlinkError, ValueError):
    """A number of a table is negative, and the clusterer takes counts; the message names its row and column.

    Examples
    --------
    >>> from mustlink import FeedbackMixture
    >>> FeedbackMixture(2).fit([[0, 1], [2, -3], [1, 1]])
    Traceback (most recent call last):
        ...
    mustlink.errors.NegativeNumberError: Negative values in data passed to FeedbackMixture, which takes counts: ...
    """


class NumberTooLargeError(MustlinkError, ValueError):
    """A number of a table is so large that squared distances overflow; the message names its row and column.

    Examples
    --------
    >>> from mustlink import PCKMeans
    >>> PCKMeans(2).fit([[0.0, 1.0], [0.0, 1e300], [1.0, 1.0]])
    Traceback (most recent call last):
        ...
    mustlink.errors.NumberTooLargeError: Row 1, column 1 of X is 1e+300; numbers above 1e+75 are too large ...
    """


class TooLargeError(MustlinkError, ValueError):
    """The arrays needed would not fit into memory; the message states the size."""


class DiskSpaceError(MustlinkError, OSError):
    """A disk has too little space for what is kept on it while a clusterer runs; the message states the sizes."""


class InfeasibleWarning(UserWarning):
    """A hard clusterer with ``on_infeasible="relax"`` returned a clustering that breaks some constraints."""


class ApproximationWarning(UserWarning):
    """Probabilities given the links are approximate; the message states how, and how many links may be broken."""


class PredictionWarning(UserWarning):
    """New rows are unlike those that a model was made from; the message states the column and how."""


class SkippedLinksWarning(UserWarning):
    """Links were read without those that name unknown ids; the message states how many, and which ids."""


class UnmetConstraintsWarning(UserWarning):
    """A soft clusterer or metric could not satisfy the constraints; the message states by how much."""
