"""Truncation of a hierarchy of categories to nodes with enough documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mustlink._sklearn_compat import Interval
from mustlink._types import Array
from mustlink.constraints import known_rows
from mustlink.errors import OptionError

__all__ = ["truncate_taxonomy"]


def truncate_taxonomy(
    paths: Sequence[Any] | Array, *, min_docs: int = 50, separator: str = "/", other: str = "Other"
) -> NDArray[np.object_]:
    """Truncate a hierarchy of categories to the lowest nodes with enough documents.

    Each document is given the lowest node of its path that has at least `min_docs` documents below it. If a child of
    this node has as many too, so that it is kept for other documents, the document is given the child `other`.

    Parameters
    ----------
    paths : array-like of shape (n_samples,)
        The category of each document with those above it, such as "Health/Fitness"; -1, None, NaN and empty text are
        unknown.
    min_docs : int, default=50
        The least number of documents of a node that is kept.
    separator : str, default="/"
        What separates the names of a path.
    other : str, default="Other"
        The name of the child for documents of nodes that are too small.

    Returns
    -------
    ndarray of shape (n_samples,)
        The node of each document as a path; None where the path is unknown.

    See Also
    --------
    TaxonomyClusterer : Takes the result as `y`.

    Notes
    -----
    A child `other` may have fewer than `min_docs` documents.

    Examples
    --------
    >>> from mustlink.text import truncate_taxonomy
    >>> paths = ["Health/Fitness", "Health/Fitness", "Health/Medicine", "News/TV", "News/Print", ""]
    >>> list(truncate_taxonomy(paths, min_docs=2))
    ['Health/Fitness', 'Health/Fitness', 'Health/Other', 'News', 'News', None]
    """
    if not Interval(Integral, 1, None, closed="left").is_satisfied_by(min_docs):
        raise OptionError(f"min_docs must be a whole number from 1 on; got {min_docs!r}.")
    if not separator:
        raise OptionError("separator must be a text that separates the names of a path; got an empty one.")
    rows, code, names = known_rows(np.asarray(paths, dtype=object))
    nodes = [[part for part in str(name).split(separator) if part.strip()] for name in names]
    n_documents = np.bincount(code, minlength=len(names))
    below: Counter[tuple[str, ...]] = Counter()
    for node, n_here in zip(nodes, n_documents, strict=True):
        for depth in range(1, len(node) + 1):
            below[tuple(node[:depth])] += int(n_here)
    kept = {node for node, n_here in below.items() if n_here >= min_docs}
    parents = {node[:-1] for node in kept}
    found = np.full(len(paths), None, dtype=object)
    found[rows] = np.array([_lowest(node, kept, parents, separator, other) for node in nodes], dtype=object)[code]
    return found


def _lowest(
    node: Sequence[str], kept: set[tuple[str, ...]], parents: set[tuple[str, ...]], separator: str, other: str
) -> str:
    """Return the lowest kept node of a path, or the child of what is left of it."""
    lowest = tuple(node)
    while lowest and lowest not in kept:
        lowest = lowest[:-1]
    return separator.join((*lowest, other) if not lowest or lowest in parents else lowest)
