"""From a clustering to a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np

from mustlink._atomic import write_atomically
from mustlink.base import as_constraints
from mustlink.constraints import AlignedConstraints, Constraints
from mustlink.report._page import render_report
from mustlink.report._picture import make_picture
from mustlink.report._summary import summarise
from mustlink.tables import Feature

__all__ = ["write_report"]


def write_report(
    path: str | PathLike[str],
    X: Any,
    labels: Any,
    constraints: Constraints | AlignedConstraints | None = None,
    *,
    features: Sequence[Feature | str] | None = None,
    row_names: Sequence[str] | None = None,
    known_labels: Sequence[str] | None = None,
    title: str = "Clusters",
    notices: Sequence[str] = (),
    run: Mapping[str, str] | None = None,
) -> None:
    """Write a clustering as one HTML file to look at.

    It shows the rows in the plane of their first two principal components with the links drawn, a table of the
    clusters, the broken links and the conflicts. It needs nothing from outside and no script.

    Parameters
    ----------
    path : str or path-like
        The file to write; it appears whole or not at all.
    X : array-like or sparse matrix of shape (n_rows, n_features)
        The rows as they were clustered.
    labels : array-like of int, shape (n_rows,)
        The cluster of each row; -1 is no cluster.
    constraints : Constraints, AlignedConstraints or None, default=None
        The links that were given.
    features : sequence of Feature or str, default=None
        What the columns of `X` are; the names of the columns of a DataFrame, else x0, x1, ... by default.
    row_names : sequence of str, default=None
        What the rows are called; their numbers by default.
    known_labels : sequence of str, default=None
        Labels known beforehand, an empty text where there is none.
    title : str, default='Clusters'
        The heading.
    notices : sequence of str, default=()
        Sentences to show with the rest.
    run : mapping of str to str, default=None
        How the clustering was made, shown at the end.

    See Also
    --------
    summarise : The same as data.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_iris
    >>> from mustlink import Constraints
    >>> from mustlink.report import write_report
    >>> iris = load_iris()
    >>> labels = KMeans(3, random_state=0).fit_predict(iris.data)
    >>> links = Constraints.sample(iris.target, n_pairs=20, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "iris.html")
    ...     write_report(path, iris.data, labels, links, features=iris.feature_names, title="Iris")
    ...     "<h1>Iris</h1>" in path.read_text(encoding="utf-8")
    True
    """
    if features is None and hasattr(X, "columns"):
        features = [str(name) for name in X.columns]
    X = X if hasattr(X, "tocsr") else np.asarray(X)
    summary = summarise(
        X,
        labels,
        constraints,
        features=features,
        row_names=row_names,
        known_labels=known_labels,
        notices=notices,
    )
    picture = make_picture(X, np.asarray(labels), as_constraints(constraints, summary.n_rows), row_names)
    write_atomically(path, render_report(summary, picture, title=title, run=run).encode("utf-8"))
