"""What is shown of a clustering of rows in blocks: the same as of rows in memory, computed in two passes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from mustlink._atomic import StagedFiles
from mustlink._types import Array, Indices
from mustlink.blocks import BlockedRows
from mustlink.constraints import Constraints
from mustlink.report._page import render_report
from mustlink.report._picture import make_picture
from mustlink.report._sizes import reached_bounds
from mustlink.report._summary import (
    NOISE,
    ClusterFacts,
    RowNames,
    Summary,
    describe_clusters,
    describe_fit,
    describe_links,
)
from mustlink.report._typical import cluster_sums, squared_distances
from mustlink.tables import Feature

__all__ = ["KnownCodes", "stage_blocked_report", "summarize_blocks"]

# The rows that a picture is made of, beside the linked ones.
MAX_SAMPLED_ROWS = 20_000
# The rows of known labels by which the agreement with them is computed.
MAX_KNOWN_ROWS = 1_000_000


class KnownCodes:
    """Labels known in advance as numbers, and what the numbers stand for.

    Parameters
    ----------
    codes : ndarray of int, shape (n_rows,)
        The label of each row, -1 where unknown.
    names : sequence of str
        The names of the labels.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink.report import KnownCodes
    >>> KnownCodes(np.array([0, -1, 1]), ["home", "work"]).names
    ['home', 'work']
    """

    def __init__(self, codes: Array, names: Sequence[str]) -> None:
        self.codes, self.names = codes, list(names)


def summarize_blocks(
    rows: BlockedRows,
    labels: Array,
    links: Constraints,
    *,
    features: Sequence[Feature],
    row_names: Any = None,
    known: KnownCodes | None = None,
    notices: Sequence[str] = (),
    estimator: Any = None,
) -> Summary:
    """Summarize a clustering of rows in blocks.

    Parameters
    ----------
    rows : BlockedRows
        The rows as they were clustered.
    labels : ndarray of int, shape (n_rows,)
        The cluster of each row, numbered from 0; -1 is no cluster. May be a memory map.
    links : Constraints
        The links that were given.
    features : sequence of Feature
        What the columns of `rows` are.
    row_names : sequence of str, default=None
        The names of the rows, of which few are asked for; their numbers by default.
    known : KnownCodes, default=None
        Labels known in advance.
    notices : sequence of str, default=()
        Notes to show, as sentences.
    estimator : object, default=None
        The fitted clusterer, as for :func:`summarize`.

    Returns
    -------
    Summary
        The same as :func:`summarize` returns for rows in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import Constraints
    >>> from mustlink.blocks import FileRows
    >>> from mustlink.report import summarize_blocks
    >>> from mustlink.tables import Feature
    >>> rows = FileRows(np.array([[0.0], [0.2], [5.0], [5.2]]), block_rows=3)
    >>> summary = summarize_blocks(rows, np.array([0, 0, 1, 1]), Constraints(), features=[Feature("age")])
    >>> [cluster.size for cluster in summary.clusters]
    [2, 2]
    """
    namer, places = RowNames(row_names), RowNames(None)
    facts, n_noise = cluster_facts(rows, labels)
    counts = [] if known is None else count_known(labels, known)
    clusters = describe_clusters(facts, list(features), namer, counts, places) if len(facts.numbers) else ()
    linked, local = links.compact()
    broken = links.take(~local.satisfied(np.asarray(labels[linked])))
    return Summary(
        n_rows=rows.n_rows,
        n_features=rows.n_features,
        n_noise=n_noise,
        clusters=clusters,
        n_known=0 if known is None else int(np.count_nonzero(known.codes >= 0)),
        known_kept=share_of_pairs_kept(labels, known),
        notices=tuple(notices),
        bounds=reached_bounds(estimator, labels, places),
        **describe_links(links, broken, labels, estimator, namer, places),
        **describe_fit(estimator, list(features)),
    )


def cluster_facts(rows: BlockedRows, labels: Array) -> tuple[ClusterFacts, int]:
    """Compute what describes the clusters, in two passes; also return the number of rows in no cluster."""
    parts = [(labels[start:stop],) for start, stop in pairwise(rows.bounds.tolist())]
    n_clusters = 1 + max((int(part.max()) for (part,) in parts if len(part)), default=-1)
    sums, counts, n_noise = rows.total(sum_clusters, n_clusters, each=parts)
    numbers = np.flatnonzero(counts)
    centers = sums / np.maximum(counts, 1)[:, np.newaxis]
    found = rows.run(nearest_of_block, centers, each=parts)
    # The first of those at the same distance, as argmin takes it.
    distance = np.array([part[0] for part in found])
    block = np.argmin(distance, axis=0)
    nearest = np.array([rows.bounds[b] + found[b][1][c] for c, b in enumerate(block)], dtype=np.intp)
    moments = rows.moments
    facts = ClusterFacts(
        numbers,
        counts[numbers].astype(np.intp),
        rows.n_rows,
        centers[numbers],
        nearest[numbers],
        moments.mean,
        np.sqrt(moments.variance),
    )
    return facts, int(n_noise)


def sum_clusters(block: Array, n_clusters: int, labels: Array) -> tuple[Array, Array, int]:
    """Sum and count the rows of each cluster in a block, and count those in none."""
    place = np.asarray(labels)
    counts = np.bincount(place[place != NOISE], minlength=n_clusters).astype(np.float64)
    return cluster_sums(block, place, n_clusters), counts, int(np.count_nonzero(place == NOISE))


def nearest_of_block(block: Array, centers: Array, labels: Array) -> tuple[Array, Indices]:
    """Return for each cluster the least distance of a row in a block to its mean, and the row."""
    place = np.asarray(labels)
    distance = squared_distances(block, centers, place)
    least, rows = np.full(len(centers), np.inf), np.zeros(len(centers), dtype=np.intp)
    order = np.lexsort((distance, place))
    order = order[place[order] != NOISE]
    found, first = np.unique(place[order], return_index=True)
    least[found], rows[found] = distance[order[first]], order[first]
    return least, rows


def count_known(labels: Array, known: KnownCodes) -> list[tuple[tuple[int, str], int]]:
    """Count the known labels of each cluster, the most frequent first."""
    rows = np.flatnonzero(known.codes >= 0)
    pairs, counts = np.unique(np.column_stack([labels[rows], known.codes[rows]]), axis=0, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return [((int(pairs[i, 0]), known.names[pairs[i, 1]]), int(counts[i])) for i in order.tolist()]


def share_of_pairs_kept(labels: Array, known: KnownCodes | None) -> float:
    """Return the fraction of pairs of rows with known labels that are together or apart as in the labels."""
    from sklearn.metrics import rand_score

    rows = np.empty(0, dtype=np.intp) if known is None else np.flatnonzero(known.codes >= 0)
    if known is None or len(rows) < 2:
        return float("nan")
    rows = rows[:: -(-len(rows) // MAX_KNOWN_ROWS)]
    clusters = np.asarray(labels[rows]).astype(np.int64)
    # Every row of noise is a cluster of its own.
    clusters = np.where(clusters == NOISE, NOISE - 1 - np.arange(len(rows)), clusters)
    return float(rand_score(known.codes[rows], clusters))


def stage_blocked_report(
    files: StagedFiles,
    path: Any,
    summary: Summary,
    rows: BlockedRows,
    labels: Array,
    links: Constraints,
    *,
    row_names: Callable[[Sequence[int]], list[str]] | None = None,
    title: str,
    run: dict[str, str],
    estimator: Any = None,
) -> None:
    """Stage the report of a clustering of rows in blocks; its picture is made of a sample of the rows.

    Parameters
    ----------
    files : StagedFiles
        Where the file is staged.
    path : path-like
        The file.
    summary : Summary
        What :func:`summarize_blocks` returned.
    rows : BlockedRows
        The rows as they were clustered.
    labels : ndarray of int, shape (n_rows,)
        The cluster of each row.
    links : Constraints
        The links that were given.
    row_names : callable, default=None
        Returns the names of some rows; their numbers by default.
    title : str
        The title of the page.
    run : dict of str to str
        How the clustering was made, in words.
    estimator : object, default=None
        The fitted clusterer.

    Examples
    --------
    >>> import numpy as np, pathlib, tempfile
    >>> from mustlink import Constraints
    >>> from mustlink._atomic import StagedFiles
    >>> from mustlink.blocks import FileRows
    >>> from mustlink.report import stage_blocked_report, summarize_blocks
    >>> from mustlink.tables import Feature
    >>> rows, labels = FileRows(np.array([[0.0], [0.2], [5.0]])), np.array([0, 0, 1])
    >>> summary = summarize_blocks(rows, labels, Constraints(), features=[Feature("age")])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "report.html")
    ...     with StagedFiles() as files:
    ...         stage_blocked_report(files, path, summary, rows, labels, Constraints(), title="Ages", run={})
    ...     "<h1>Ages</h1>" in path.read_text(encoding="utf-8")
    True
    """
    rng = np.random.default_rng(0)
    drawn = np.unique(rng.integers(rows.n_rows, size=min(MAX_SAMPLED_ROWS, 2 * rows.n_rows)))
    linked, _ = links.compact()
    sample = np.union1d(drawn, linked).astype(np.intp)
    local = Constraints.from_pairs(
        np.searchsorted(sample, links.pairs), links.sign, links.weight, contradictions="keep"
    )
    picture = make_picture(rows.gather(sample), np.asarray(labels[sample]), local)
    place = [int(sample[int(name)]) for name in picture.names]
    named = RowNames(None if row_names is None else row_names(place))
    names = [named[i if row_names is not None else row] for i, row in enumerate(place)]
    picture = replace(picture, names=names, n_rows=rows.n_rows)
    made = run if estimator is None else run | {"Method": " ".join(repr(estimator).split())}
    files.stage(path, render_report(summary, picture, learned=None, title=title, run=made).encode("utf-8"))
