"""Texts of chapter 7: words of messages, a synthetic collection, and given categories that fit badly."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import train_test_split

from mustlink._types import Array, Indices, Ints
from mustlink.reproduce.engine._problem import Problem

# The share of documents that are held out.
HELD_OUT = 0.25


def message_counts(table: Array) -> Any:
    """Count the words of messages without their headers; no stop words are removed."""
    bodies = [str(text).replace("\r\n", "\n").partition("\n\n")[2] for text in table[:, 1]]
    return CountVectorizer(token_pattern=r"[a-zA-Z]{2,}").fit_transform(bodies).astype(np.float64)


def word_counts(X: Array) -> Any:
    """Return a table of words as a sparse one."""
    return csr_array(X.astype(np.float64))


def make_topics(
    n_documents: int = 4_000, n_topics: int = 20, *, n_terms: int = 4_000, length: float = 80.0, seed: int = 0
) -> tuple[Any, Ints]:
    """Make documents of topics, of which each four are related.

    The background has Zipf's frequencies. A twentieth of a document is drawn from 40 terms of its topic, and as much
    from 40 terms that related topics share; none of these is among the most frequent fiftieth.
    """
    rng = np.random.RandomState(seed)
    topic = np.arange(n_documents) % n_topics
    lengths = rng.poisson(length, n_documents) + 5
    document = np.repeat(np.arange(n_documents), lengths)
    term = _draw(rng, 1.0 / (np.arange(n_terms) + 10.0), len(document))
    source = rng.rand(len(document))
    own = rng.randint(n_terms // 50, n_terms, size=(n_topics, 40))
    shared = rng.randint(n_terms // 50, n_terms, size=(n_topics // 4 + 1, 40))
    place = rng.randint(40, size=len(document))
    term = np.where(source < 0.05, own[topic[document], place], term)
    term = np.where(source > 0.95, shared[topic[document] // 4, place], term)
    # k-means of scikit-learn takes no other integers.
    places = document.astype(np.int32), term.astype(np.int32)
    counts = csr_array((np.ones(len(term)), places), shape=(n_documents, n_terms))
    counts.sum_duplicates()
    return counts, topic.astype(np.int64)


def _draw(rng: np.random.RandomState, weight: Array, n: int) -> Indices:
    """Draw places in proportion to their weights."""
    ends = np.cumsum(weight)
    return np.searchsorted(ends, rng.rand(n) * ends[-1], side="right")


def split_documents(problem: Problem) -> tuple[Indices, Indices]:
    """Return documents for the fit and held-out ones, with the same share of every class; the same for all methods."""
    train, test = train_test_split(
        np.arange(len(problem.y)), test_size=HELD_OUT, stratify=problem.y, random_state=problem.shared_seed
    )
    return np.sort(train), np.sort(test)


def give_categories(problem: Problem) -> Ints:
    """Return the given categories of documents: the classes, or categories that fit them badly.

    With an amount of 2, every second class is divided into two categories at random; and the share `noise` of the
    documents is in any category.
    """
    rng = np.random.RandomState(problem.shared_seed)
    code = 2 * problem.y
    if problem.amount > 1:
        code = code + np.where(problem.y % 2, rng.randint(2, size=len(code)), 0)
    is_misplaced = rng.rand(len(code)) < problem.noise
    return np.where(is_misplaced, rng.permutation(code), code)


def without_common(X: Any) -> Any:
    """Return the logarithms of counts of terms in two documents or more, and in at most a tenth: without stop words."""
    counts = csr_array(X)
    frequency = np.bincount(counts.indices, minlength=counts.shape[1])
    chosen = counts[:, np.flatnonzero((frequency >= 2) & (frequency <= 0.1 * counts.shape[0]))]
    return chosen.log1p()
