"""Attribute similarity of records: SoftTF-IDF for names, TF-IDF for fields with many values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from mustlink._types import Floats, Ints
from mustlink.errors import OptionError
from mustlink.relational._records import Records

# Pairs of words are compared so many at a time.
MAX_WORD_PAIRS = 4_000_000


def compare_records(
    records: Records,
    left: Ints,
    right: Ints,
    measures: Sequence[str],
    weights: Floats,
    word_threshold: float,
    initial_score: float,
) -> Floats:
    """Return the similarity of pairs of distinct records: the weighted mean over the columns that both have."""
    total, mass = np.zeros(len(left)), np.zeros(len(left))
    n_rows_of = np.bincount(records.code, minlength=records.n_values)
    for texts, measure, weight in zip(records.columns, measures, weights, strict=True):
        if weight == 0:
            continue
        words = WeightedWords(texts, n_rows_of)
        if measure == "tfidf":
            score = words.cosine(left, right)
        else:
            score = words.soft_cosine(left, right, word_threshold, initial_score)
        has_text = np.array([bool(text) for text in texts])
        in_both = has_text[left] & has_text[right]
        total += weight * np.where(in_both, score, 0.0)
        mass += weight * in_both
    return np.divide(total, mass, out=np.zeros_like(total), where=mass > 0)


class WeightedWords:
    """The words of distinct texts with their TF-IDF weights, normalized to unit length."""

    def __init__(self, texts: Sequence[str], n_rows_of: Ints) -> None:
        number: dict[str, int] = {}
        indptr, indices = [0], []
        counts: list[int] = []
        for text in texts:
            found = Counter(text.split())
            indices += [number.setdefault(word, len(number)) for word in found]
            counts += found.values()
            indptr.append(len(indices))
        self.words = list(number)
        shape = (len(texts), max(1, len(number)))
        tf = csr_array((np.array(counts, dtype=np.float64), np.array(indices, dtype=np.int64), indptr), shape=shape)
        tf.sort_indices()
        n_rows = int(n_rows_of.sum())
        df = np.bincount(tf.indices, weights=np.repeat(n_rows_of, np.diff(tf.indptr)).astype(float), minlength=shape[1])
        # One more inside the logarithm than in the paper, or a word of all records would weigh nothing.
        tf.data = np.log(tf.data + 1) * np.log(1 + n_rows / np.maximum(df, 1))[tf.indices]
        norm = np.sqrt(np.asarray(tf.multiply(tf).sum(axis=1)).ravel())
        tf.data /= np.repeat(np.where(norm > 0, norm, 1.0), np.diff(tf.indptr))
        self.weight = tf

    def cosine(self, left: Ints, right: Ints) -> Floats:
        """Return the TF-IDF cosine of pairs of texts."""
        score = np.asarray(self.weight[left].multiply(self.weight[right]).sum(axis=1)).ravel()
        return np.minimum(score, 1.0)

    def soft_cosine(self, left: Ints, right: Ints, word_threshold: float, initial_score: float) -> Floats:
        """Return the SoftTF-IDF of pairs of texts, the mean of both directions; that of equal texts is 1."""
        score = np.ones(len(left))
        sizes = np.diff(self.weight.indptr)
        differ = np.flatnonzero(left != right)
        done = np.cumsum((sizes[left] * sizes[right])[differ])
        cuts = np.searchsorted(done, np.arange(MAX_WORD_PAIRS, int(done[-1]) if len(done) else 0, MAX_WORD_PAIRS))
        for part in np.split(differ, cuts):
            score[part] = self._soft_cosine(left[part], right[part], word_threshold, initial_score)
        return score

    def _soft_cosine(self, left: Ints, right: Ints, word_threshold: float, initial_score: float) -> Floats:
        """Compare some pairs of texts, all words with all words."""
        indptr, words, weight = self.weight.indptr, self.weight.indices, self.weight.data
        sizes = np.diff(indptr)
        n_products = sizes[left] * sizes[right]
        pair = np.repeat(np.arange(len(left)), n_products)
        number = np.arange(len(pair)) - np.repeat(np.cumsum(n_products) - n_products, n_products)
        one, other = np.divmod(number, sizes[right][pair])
        one, other = indptr[left][pair] + one, indptr[right][pair] + other
        code = words[one].astype(np.int64) * len(self.words) + words[other]
        distinct, place = np.unique(code, return_inverse=True)
        close = self._compare_words(distinct // len(self.words), distinct % len(self.words), initial_score)
        close[close <= word_threshold] = 0.0
        product = weight[one] * weight[other] * close[place]
        both = np.zeros(len(left))
        for position in (one, other):
            both += _sum_of_best(pair, position, close[place], product, len(left))
        return np.minimum(both / 2, 1.0)

    def _compare_words(self, left: Ints, right: Ints, initial_score: float) -> Floats:
        """Return the Jaro-Winkler similarity of pairs of words, and a fixed one for a word and its initial."""
        process, jaro_winkler = _rapidfuzz()
        score = np.ones(len(left))
        differ = np.flatnonzero(left != right)
        one = [self.words[word] for word in left[differ].tolist()]
        other = [self.words[word] for word in right[differ].tolist()]
        score[differ] = process.cpdist(one, other, scorer=jaro_winkler.normalized_similarity, dtype=np.float64)
        is_initial = [
            place
            for place, (a, b) in enumerate(zip(one, other, strict=True))
            if a[0] == b[0] and min(len(a), len(b)) == 1
        ]
        score[differ[is_initial]] = initial_score
        return score


def _sum_of_best(pair: Ints, position: Ints, close: Floats, product: Floats, n_pairs: int) -> Floats:
    """Sum over the words of one side the product with the closest word of the other, of equally close ones the best."""
    order = np.lexsort((-product, -close, position, pair))
    is_first = np.ones(len(order), dtype=bool)
    is_first[1:] = (np.diff(pair[order]) != 0) | (np.diff(position[order]) != 0)
    best = order[is_first]
    return np.asarray(np.bincount(pair[best], weights=product[best], minlength=n_pairs), dtype=float)


def _rapidfuzz() -> tuple[Any, Any]:
    """Import the string comparisons."""
    try:
        from rapidfuzz import process
        from rapidfuzz.distance import JaroWinkler
    except ImportError:
        raise OptionError(
            "Comparing names needs the package rapidfuzz, which is not installed",
            remedy="install_extra",
            extra="relational",
        ) from None
    return process, JaroWinkler
