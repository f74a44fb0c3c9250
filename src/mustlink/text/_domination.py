"""Ranks of categories for documents, with the domination matrix of closely related ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from mustlink._types import Array, Floats, Indices, Mask
from mustlink.text._seeds import DECIMALS, row_norms
from mustlink.text._similarity import Queries, similarity_blocks

__all__ = [
    "Candidates",
    "Ranking",
    "domination_blocks",
    "dominations",
    "find_candidates",
    "rank_candidates",
    "subtract_seeds",
]

# The most dominations of documents that are held at a time.
MAX_DOMINATIONS = 1 << 24
# The most terms of documents that are compared with differences of seeds at a time.
MAX_COMPARED_TERMS = 1 << 23


class Ranking(NamedTuple):
    """The categories of documents, the best first.

    Attributes
    ----------
    categories : ndarray of shape (n_samples, n_ranked)
        The numbers of the categories of each document, by decreasing domination; -1 where no further category has a
        term in common with it. `n_ranked` is the least of `n_report`, `n_candidates` and `n_clusters_`.
    domination : ndarray of shape (n_samples, n_ranked)
        How many of the other candidates each of them dominates; -1 in the place of no category.
    similarity : ndarray of shape (n_samples, n_ranked)
        Their cosines.
    is_reranked : ndarray of shape (n_samples,)
        Whether the categories are in another order than that of their cosines.

    Examples
    --------
    >>> from mustlink.text import TaxonomyClusterer
    >>> X = [[9, 1, 0, 2], [8, 2, 0, 3], [0, 2, 9, 3], [0, 3, 7, 2]]
    >>> model = TaxonomyClusterer(min_df=1, words_init=4, words_final=4, min_cluster_size=1, gini_drop=0)
    >>> ranking = model.fit(X, ["music", "music", "sport", "sport"]).rank([[5, 0, 1, 1], [0, 1, 0, 0]])
    >>> ranking.categories
    array([[0, 1],
           [1, 0]])
    """

    categories: Array
    domination: Array
    similarity: Array
    is_reranked: Mask


class Candidates(NamedTuple):
    """The nearest seeds of every document, by decreasing cosine, and the cosines."""

    seeds: Indices
    similarity: Floats


def domination_blocks(
    queries: Queries, seeds: csr_array, n_candidates: int, threshold: float
) -> Iterator[tuple[Candidates, Mask]]:
    """Yield the candidates of some documents after the other, and which of them dominate which."""
    n_candidates = min(n_candidates, seeds.shape[0])
    n_rows = max(1, MAX_DOMINATIONS // n_candidates**2)
    # Once also without documents.
    for start in range(0, max(1, queries.rows.shape[0]), n_rows):
        block = Queries(queries.rows[start : start + n_rows], queries.norms[start : start + n_rows])
        candidates = find_candidates(block, seeds, n_candidates)
        yield candidates, dominations(block, seeds, candidates, threshold)


def find_candidates(queries: Queries, seeds: csr_array, n_candidates: int) -> Candidates:
    """Return the seeds of the largest cosines of every document, of equal ones the first."""
    shape = queries.rows.shape[0], min(n_candidates, seeds.shape[0])
    found = Candidates(np.empty(shape, dtype=np.intp), np.empty(shape))
    for block, cosines in similarity_blocks(queries, seeds):
        here = np.arange(len(cosines))
        for place in range(shape[1]):
            best = cosines.argmax(axis=1)
            found.seeds[block, place] = best
            found.similarity[block, place] = cosines[here, best]
            cosines[here, best] = -np.inf
    return found


def subtract_seeds(first: csr_array, second: csr_array) -> csr_array:
    """Return each first seed without the weights of the terms that the second one of the same row has too."""
    difference = csr_array(first - first.multiply(second != 0))
    difference.eliminate_zeros()
    return difference


def dominations(queries: Queries, seeds: csr_array, candidates: Candidates, threshold: float) -> Mask:
    """Return whether each candidate of a document dominates each other one, of shape (n_samples, k, k).

    The one with the larger cosine does if it is larger by the threshold or more; otherwise that whose terms which the
    other has not are more similar to the document. Ties go to the larger cosine.
    """
    n_rows, n_candidates = candidates.seeds.shape
    wins = np.zeros((n_rows, n_candidates, n_candidates), dtype=bool)
    for first in range(n_candidates):
        for second in range(first + 1, n_candidates):
            # The first has the larger cosine, or the same.
            wins[:, first, second] = True
            gap = candidates.similarity[:, first] - candidates.similarity[:, second]
            near = np.flatnonzero(gap < threshold)
            pairs = candidates.seeds[near][:, [first, second]]
            is_turned = _is_second_nearer(queries, seeds, near, pairs)
            wins[near[is_turned], first, second] = False
            wins[near[is_turned], second, first] = True
    return wins


def _is_second_nearer(queries: Queries, seeds: csr_array, rows: Indices, pairs: Indices) -> Mask:
    """Return whether the second seed without the terms of the first is nearer to a document than the reverse."""
    distinct, number = np.unique(pairs, axis=0, return_inverse=True)
    first, second = seeds[distinct[:, 0]], seeds[distinct[:, 1]]
    differences = subtract_seeds(first, second), subtract_seeds(second, first)
    norms = [row_norms(difference) for difference in differences]
    is_nearer = np.zeros(len(rows), dtype=bool)
    n_terms = max(1, queries.rows.nnz // max(1, queries.rows.shape[0]))
    step = max(1, MAX_COMPARED_TERMS // n_terms)
    for start in range(0, len(rows), step):
        chosen = number.ravel()[start : start + step]
        documents = queries.rows[rows[start : start + step]]
        cosines = []
        for difference, norm in zip(differences, norms, strict=True):
            products = np.asarray(documents.multiply(difference[chosen]).sum(axis=1)).ravel()
            size = norm[chosen] * queries.norms[rows[start : start + step]]
            # An empty difference has the cosine 0.
            cosine = np.divide(products, size, out=np.zeros_like(products), where=size > 0)
            cosines.append(np.round(cosine, DECIMALS))
        is_nearer[start : start + step] = cosines[1] > cosines[0]
    return is_nearer


def rank_candidates(candidates: Candidates, wins: Mask, n_report: int) -> Ranking:
    """Order the candidates by how many others they dominate, of equal ones by their cosines."""
    domination = wins.sum(axis=2)
    order = np.argsort(-domination, axis=1, kind="stable")[:, :n_report]
    similarity = np.take_along_axis(candidates.similarity, order, axis=1)
    is_none = similarity <= 0
    return Ranking(
        np.where(is_none, -1, np.take_along_axis(candidates.seeds, order, axis=1)),
        np.where(is_none, -1, np.take_along_axis(domination, order, axis=1)),
        np.maximum(similarity, 0.0),
        ((order != np.arange(order.shape[1])) & ~is_none).any(axis=1),
    )
