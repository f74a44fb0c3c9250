"""Checks of what a summary or a report is made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from mustlink._spelling import count
from mustlink._types import Array
from mustlink.tables import Feature

__all__ = ["as_list", "check_estimator", "check_page", "check_table", "name_clusters", "name_features"]


def check_table(X: Any) -> None:
    """Refuse what is no table, such as the name of a file."""
    if X is None or isinstance(X, str | PathLike):
        raise TypeError(f"X must be the table that was clustered, an array or a DataFrame of numbers; got {X!r}.")


def as_list(name: str, given: Any, n_rows: int | None = None) -> list[Any] | None:
    """Return what is given for every row, or any number of notes, as a list; None stays."""
    if given is None:
        return None
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        each = "of sentences" if n_rows is None else "with one entry per row"
        raise TypeError(f"{name} must be a list {each}; got {given!r}.")
    entries = list(given)
    if n_rows is not None and len(entries) != n_rows:
        raise ValueError(
            f"{name} must have one entry per row: the table has {count(n_rows, 'row')}, and {name} has "
            f"{len(entries):,}."
        )
    return entries


def name_features(features: Sequence[Feature | str] | None, n_features: int) -> list[Feature]:
    """Return one feature per column, named x0, x1, ... if none are given."""
    if features is None:
        return [Feature(f"x{place}") for place in range(n_features)]
    is_list = isinstance(features, Iterable) and not isinstance(features, str)
    named = list(features) if is_list else []
    wrong = next((one for one in named if not isinstance(one, str | Feature)), None)
    if not is_list or wrong is not None:
        given = features if wrong is None else wrong
        raise TypeError(f"features must be a list with the name of every column, or its Feature; got {given!r}.")
    if len(named) != n_features:
        raise ValueError(f"The table has {count(n_features, 'column')}, but {len(named):,} features are named.")
    return [Feature(one) if isinstance(one, str) else one for one in named]


def name_clusters(names: Sequence[str] | None, labels: Array) -> list[str] | None:
    """Return the names of clusters, or refuse those that do not name every one."""
    if names is None:
        return None
    n_clusters = int(labels.max(initial=-1)) + 1
    if isinstance(names, str) or not isinstance(names, Iterable) or len(listed := list(names)) < n_clusters:
        raise ValueError(
            f"cluster_names must be a list with a name for each of the clusters 0 to {n_clusters - 1}; got {names!r}."
        )
    return listed


def check_estimator(estimator: Any) -> None:
    """Refuse what is no fitted estimator."""
    if estimator is None:
        return
    if isinstance(estimator, type | str):
        raise TypeError(f"estimator must be the fitted clusterer, such as PCKMeans(3).fit(X); got {estimator!r}.")
    if isinstance(estimator, BaseEstimator):
        check_is_fitted(estimator)


def check_page(path: Any, choice: Any, title: Any, run: Any) -> None:
    """Refuse what cannot be written or is no text."""
    from mustlink.selection import Choice

    if not isinstance(path, str | PathLike):
        raise TypeError(f"path must be the name of the file to write, such as 'report.html'; got {path!r}.")
    if choice is not None and not isinstance(choice, Choice):
        raise TypeError(f"choice must be what mustlink.selection.choose returned; got {choice!r}.")
    if not isinstance(title, str):
        raise TypeError(f"title must be text; got {title!r}.")
    is_words = isinstance(run, Mapping) and all(isinstance(word, str) for pair in run.items() for word in pair)
    if run is not None and not is_words:
        raise TypeError(f"run must map words to words, such as {{'Date': '1 May'}}; got {run!r}.")
