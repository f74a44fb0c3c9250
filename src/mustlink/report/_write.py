"""From a clustering to a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from mustlink._atomic import StagedFiles
from mustlink.base import as_constraints
from mustlink.constraints import AlignedConstraints, Constraints
from mustlink.report._given import as_list, check_page, check_table
from mustlink.report._page import render_report
from mustlink.report._picture import has_several_rounds, make_picture
from mustlink.report._summary import Summary, summarize
from mustlink.tables import Feature

if TYPE_CHECKING:
    from mustlink.selection import Choice

__all__ = ["write_report"]


def write_report(
    path: str | PathLike[str],
    X: Any,
    labels: Any,
    constraints: Constraints | AlignedConstraints | None = None,
    *,
    features: Sequence[Feature | str] | None = None,
    row_names: Sequence[str] | None = None,
    known_labels: Sequence[Any] | None = None,
    notices: Sequence[str] = (),
    estimator: Any = None,
    choice: Choice | None = None,
    title: str = "Clusters",
    run: Mapping[str, str] | None = None,
    cluster_names: Sequence[str] | None = None,
    files: StagedFiles | None = None,
) -> Summary:
    """Write a clustering as one HTML file to look at, the report of the command.

    It shows the rows in the plane of their first two principal components with the links drawn, a table of the
    clusters, the broken links and the conflicts, and, given the fitted clusterer, the view that it has learned, the
    columns that count most, the links that may be wrong and the objective after each round. The file needs nothing from
    outside and runs no script.

    Parameters
    ----------
    path : str or path-like
        The file to write; it appears complete or not at all.
    X : array-like or sparse matrix of shape (n_rows, n_features)
        The rows as they were clustered.
    labels : array-like of int, shape (n_rows,)
        The cluster of each row; -1 is no cluster.
    constraints : Constraints, AlignedConstraints or None, default=None
        The links that were given.
    features : sequence of Feature or str, default=None
        What the columns of `X` are; by default the names of the columns of a DataFrame, else x0, x1, ...
    row_names, known_labels, notices : sequence of str
        As for :func:`summarize`.
    estimator : object, default=None
        The fitted clusterer, whose parameters, ``coassociation_``, ``column_weights_``, ``suspects_`` and
        ``objective_`` are shown if it has them.
    choice : Choice, default=None
        The result of :func:`mustlink.selection.choose`, if the clusterer was chosen by it.
    title : str, default='Clusters'
        The heading.
    run : mapping of str to str, default=None
        More about how the clustering was made, shown at the end before the method.
    cluster_names : sequence of str, default=None
        What the clusters 0, 1, ... are called; their numbers by default.
    files : StagedFiles, default=None
        Files that appear together with this one.

    Returns
    -------
    Summary
        What is shown, as data.

    See Also
    --------
    summarize : The same as data, without a file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sklearn.datasets import load_iris
    >>> from mustlink import Constraints, PCKMeans
    >>> from mustlink.report import write_report
    >>> iris = load_iris()
    >>> links = Constraints.sample(iris.target, n_pairs=20, random_state=0)
    >>> model = PCKMeans(3, random_state=0).fit(iris.data, constraints=links)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "iris.html")
    ...     summary = write_report(
    ...         path, iris.data, model.labels_, links, features=iris.feature_names, estimator=model, title="Iris"
    ...     )
    ...     "<h1>Iris</h1>" in path.read_text(encoding="utf-8")
    True
    """
    check_page(path, choice, title, run)
    check_table(X)
    if features is None and hasattr(X, "columns"):
        features = [str(name) for name in X.columns]
    X = X if hasattr(X, "tocsr") else np.asarray(X)
    if estimator is None and choice is not None:
        estimator = choice.estimator
    summary = summarize(
        X,
        labels,
        constraints,
        features=features,
        row_names=row_names,
        known_labels=known_labels,
        notices=notices,
        estimator=estimator,
        cluster_names=cluster_names,
    )
    links = as_constraints(constraints, summary.n_rows)
    labels, names = np.asarray(labels), as_list("row_names", row_names, summary.n_rows)
    picture = make_picture(X, labels, links, names, cluster_names)
    learned = None
    if has_several_rounds(estimator, summary.n_rows):
        drawn = make_picture(X, labels, links, names, cluster_names, model=estimator)
        # Without any variance there is nothing to see.
        learned = drawn if drawn.explained else None
    made = dict(run or {})
    if estimator is not None:
        made["Method"] = " ".join(repr(estimator).split())
    if choice is not None:
        made["Chosen"] = choice.reason
    page = render_report(summary, picture, learned=learned, title=title, run=made).encode("utf-8")
    with StagedFiles() if files is None else nullcontext(files) as staged:
        staged.stage(path, page)
    return summary
