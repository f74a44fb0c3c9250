"""Texts with the given categories of some of them: in a column of their table, or in a file of labels."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mustlink._spelling import count
from mustlink.errors import FileFormatError, OptionError
from mustlink.workflow._label_file import (
    ROW_NUMBERS,
    LabelFile,
    LabelKind,
    match_labels,
    read_label_file,
    refuse_other_order,
    show_ids,
)
from mustlink.workflow._loading import known_labels
from mustlink.workflow._texts import LoadedTexts, load_texts, read_text_table, text_columns

if TYPE_CHECKING:
    from mustlink.workflow._taxonomy import TaxonomyJob

__all__ = ["load_categorized"]

CATEGORIES = LabelKind("category", ("category", "categories", "label", "labels", "class", "topic"), "category_column")
# What the names of files are called, where each file of a folder is a text.
FILE_NAMES = "file"


def load_categorized(job: TaxonomyJob) -> tuple[LoadedTexts, list[str], list[str]]:
    """Return the texts, the given category of every one, empty for none, and notes on how the two were matched."""
    if job.categories is None:
        if job.category_column is None:
            raise OptionError("No categories are given", remedy="name_categories")
        texts, notices = load_texts(job, more=[job.category_column]), list[str]()
        cells = texts.more[job.category_column]
        where = f"{job.texts}: the column {job.category_column!r}"
    else:
        texts, cells, notices = _load_with_file(job)
        where = str(job.categories)
    given = known_labels(cells)
    given, more = _check_categories(where, given, texts, job)
    return texts, given, [*notices, *more]


def _load_with_file(job: TaxonomyJob) -> tuple[LoadedTexts, list[str], list[str]]:
    """Return the texts, their cells in the file of the categories, and notes."""
    assert job.categories is not None
    is_folder = Path(job.texts).is_dir()
    found = read_label_file(
        job.categories,
        CATEGORIES,
        column=job.category_column,
        id_column=FILE_NAMES if is_folder else job.id_column,
        table_columns=lambda: text_columns(job),
        of_table={"encoding": job.encoding, "delimiter": job.delimiter},
    )
    by_id = job.id_column or (found.key if found.key != ROW_NUMBERS and not is_folder else None)
    texts = load_texts(replace(job, id_column=by_id))
    if found.key is not None and (is_folder or by_id is not None):
        return texts, *_match(job, found, texts.names)
    if found.key == ROW_NUMBERS:
        return texts, *_match(job, found, [str(row) for row in range(len(texts.texts))])
    if is_folder:
        raise FileFormatError(
            f"{job.categories} has no column of the names of files; each file of the folder {job.texts} is a text, and "
            f"the categories need its name, in a column {FILE_NAMES!r}."
        )
    if len(found.labels) != len(texts.texts):
        rows, n_texts = count(len(found.labels), "row"), count(len(texts.texts), "text")
        problem = f"{job.categories} has {rows} and {job.texts} has {n_texts}"
        if not text_columns(job):
            raise FileFormatError(
                f"{problem}, one in each line that is not empty; give a category or an empty cell for each, or a "
                f"column {ROW_NUMBERS!r} with the numbers of the texts from 0."
            )
        raise FileFormatError(problem, remedy="match_by_id")
    if found.unmatched is not None:
        refuse_other_order(found, read_text_table(job), job.texts)
    return texts, found.labels, [f"The rows of {job.categories} are taken to be in the order of {job.texts}."]


def _match(job: TaxonomyJob, found: LabelFile, names: list[str]) -> tuple[list[str], list[str]]:
    """Return the category of every text by its name, and a note on names that no text has."""
    matched = match_labels(found, names, of="the texts")
    if not matched.only_in_file:
        return matched.labels, []
    n_unknown = len(matched.only_in_file)
    problem = (
        f"{job.categories}: {count(n_unknown, 'entry', 'entries')} of the column {found.key!r} "
        f"{'is' if n_unknown == 1 else 'are'} not among the texts: {show_ids(matched.only_in_file)}"
    )
    if job.unknown_ids == "raise":
        raise FileFormatError(problem, remedy="skip_unknown_labels")
    return matched.labels, [f"{problem}; {'it was' if n_unknown == 1 else 'they were'} skipped."]


def _check_categories(
    where: str, given: list[str], texts: LoadedTexts, job: TaxonomyJob
) -> tuple[list[str], list[str]]:
    """Refuse categories that nothing can be learned from; also return notes on those that are left out."""
    has_words = set(texts.rows.tolist())
    sizes = Counter(name for row, name in enumerate(given) if name and row in has_words)
    if not any(given):
        raise FileFormatError(f"{where} is empty throughout, and no text has a category", remedy="fill_categories")
    wordless = sorted(set(given) - {"", *sizes})
    if wordless:
        raise FileFormatError(
            f"{where}: no text of {_word_categories(wordless)} has a word that counts",
            remedy=("lower_min_df", "clear_categories"),
        )
    if len(sizes) == 1:
        raise FileFormatError(
            f"{where} has one category only, {show_ids(list(sizes))}; at least two are needed to compare."
        )
    single = sorted(name for name, size in sizes.items() if size == 1)
    if not single:
        return given, []
    if len(single) == len(sizes):
        raise FileFormatError(
            f"{where} has another category for every text, such as {show_ids(single[:1])!r}; categories have several "
            "texts each."
        )
    problem = f"{where}: {_word_categories(single)} {'has' if len(single) == 1 else 'have'} one text each"
    problem = problem.removesuffix(" each") if len(single) == 1 else problem
    if job.single == "error":
        raise FileFormatError(f"{problem}, and a category needs several", remedy="drop_single")
    if len(sizes) - len(single) < 2:
        raise FileFormatError(
            f"{problem}, and without {'it' if len(single) == 1 else 'them'} there are no two categories to compare."
        )
    dropped = set(single)
    kept = ["" if name in dropped else name for name in given]
    return kept, [f"{problem}, and {'was' if len(single) == 1 else 'were'} left out as no category."]


def _word_categories(categories: list[str]) -> str:
    """Word one category, or several."""
    if len(categories) == 1:
        return f"the category {show_ids(categories)!r}"
    return f"{len(categories):,} categories ({show_ids(categories)})"
