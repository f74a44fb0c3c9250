"""Blocking: which pairs of distinct records are compared at all."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from mustlink._spelling import count
from mustlink._types import Floats, Ints, Mask
from mustlink.errors import TooLargeError
from mustlink.relational._pairs import count_cross, cross, each_once, membership
from mustlink.relational._records import Records, split_name

# Rows of a product of sparse matrices that are computed at a time, and the most multiplications of all of them.
CHUNK = 2_000
MAX_PRODUCTS = 5_000_000_000
# Names of people with initials: at most so many words in the median, and this share of texts with a word of one letter.
MAX_WORDS_OF_NAME = 4
MIN_WITH_INITIAL = 0.1

Blocker = Callable[[str], Any]


def choose_blocking(records: Records) -> str:
    """Return how to block if nothing is said: by q-grams, and where names have initials also by last names.

    Initials have few q-grams in common with what they stand for. All other short texts, such as products, companies and
    names in full, need not begin with the same letter or end with the same word.
    """
    words = [text.split() for text in records.columns[0] if text]
    if not words:
        return "qgram"
    has_initial = [any(len(word) == 1 and word.isalpha() for word in own) for own in words]
    is_short = np.median([len(own) for own in words]) <= MAX_WORDS_OF_NAME
    return "names+qgram" if is_short and np.mean(has_initial) >= MIN_WITH_INITIAL else "qgram"


def block(
    records: Records,
    blocking: str | Blocker,
    *,
    qgram_size: int,
    qgram_similarity: float,
    window: int,
    canopy: tuple[float, float],
    max_pairs: int,
) -> tuple[Ints, Ints]:
    """Return the pairs of distinct records that are compared, the smaller number first, without equal ones."""
    texts = records.columns[0]
    if callable(blocking):
        keys = [_key_list(blocking(text)) if text else [] for text in records.originals]
        return _pairs_by_key(keys, max_pairs, "the keys of the function")
    if blocking == "key":
        return _pairs_by_key([[name_key(text)] if text else [] for text in texts], max_pairs, 'blocking="key"')
    if blocking == "names":
        return _pairs_of_names(texts, qgram_size, qgram_similarity, max_pairs)
    if blocking == "sorted":
        return _pairs_in_window(texts, window)
    grams = _qgrams(texts, qgram_size)
    if blocking in ("qgram", "names+qgram"):
        left, right = _pairs_by_qgrams(grams, qgram_similarity, max_pairs)
        if blocking == "qgram":
            return left, right
        has_same = _share_initial(texts, left, right)
        also = _pairs_of_names(texts, qgram_size, qgram_similarity, max_pairs)
        left, right = np.concatenate([(left[has_same], right[has_same]), also], axis=1)
        return each_once(left, right, len(texts))
    return _pairs_by_canopy(grams, *canopy, max_pairs)


def _share_initial(texts: Sequence[str], left: Ints, right: Ints) -> Mask:
    """Return which pairs of texts have an initial of the words before the last in common, or one has no such words."""
    letters: dict[str, int] = {}
    initials = np.zeros(len(texts), dtype=np.int64)
    for value, text in enumerate(texts):
        for word in split_name(text)[1].split():
            initials[value] |= 1 << (letters.setdefault(word[0], len(letters)) % 62)
    one, other = initials[left], initials[right]
    return np.asarray((one & other != 0) | (one == 0) | (other == 0))


def name_key(name: str) -> str:
    """Return the last name and the first initial of a normalized name."""
    last, first = split_name(name)
    return f"{last} {first[:1]}"


def _pairs_of_names(texts: Sequence[str], size: int, similarity: float, max_pairs: int) -> tuple[Ints, Ints]:
    """Return the pairs of names with one first initial and last names with similar q-grams.

    A name without a first name is compared with all of its last name.
    """
    key_of: dict[tuple[str, str], int] = {}
    value_key = []
    for text in texts:
        last, first = split_name(text)
        value_key.append(key_of.setdefault((last, first[:1]), len(key_of)))
    lasts, initials = zip(*key_of, strict=True)
    # With the initial in every q-gram, names with other initials share none.
    one, other = _pairs_by_qgrams(_qgrams(lasts, size, initials), similarity, max_pairs)
    without = [(key_of[last, ""], key) for (last, initial), key in key_of.items() if initial and (last, "") in key_of]
    itself = [(key, key) for (last, _), key in key_of.items() if last]
    more = np.array(without + itself, dtype=np.int64).reshape(-1, 2)
    one, other = np.concatenate([one, more[:, 0]]), np.concatenate([other, more[:, 1]])
    indptr, members = membership(np.array(value_key), len(key_of))
    n_pairs = count_cross(one, other, indptr)
    if n_pairs > max_pairs:
        sizes = np.diff(indptr)
        last, first = list(key_of)[int(sizes.argmax())]
        refuse_pairs(
            f"Blocking by similar last names gives {count(n_pairs, 'pair')} of different records; the largest block, "
            f"{f'{first} {last}'.strip()!r}, has {count(int(sizes.max()), 'record')}",
            max_pairs,
        )
    left, right, _ = cross(one, other, indptr, members)
    return each_once(left, right, len(texts))


def _key_list(keys: object) -> list[object]:
    """Return the keys that a function of the user gave for a record: none, one or several."""
    if keys is None or keys == "":
        return []
    found = list(keys) if isinstance(keys, Iterable) and not isinstance(keys, str | bytes) else [keys]
    for key in found:
        if not isinstance(key, Hashable):
            raise TypeError(
                "The function of blocking must return a key, a list of keys, or None, and keys must be text or "
                f"numbers; got {keys!r}."
            )
    return found


def _pairs_by_key(keys: Sequence[Sequence[object]], max_pairs: int, what: str) -> tuple[Ints, Ints]:
    """Return the pairs of records with a key in common; too many are refused before they are listed."""
    number: dict[object, int] = {}
    flat = [(number.setdefault(key, len(number)), value) for value, own in enumerate(keys) for key in set(own)]
    if not flat:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    code, value = np.array(flat, dtype=np.int64).T
    sizes = np.bincount(code)
    n_pairs = int((sizes * (sizes - 1) // 2).sum())
    if n_pairs > max_pairs:
        largest = int(sizes.argmax())
        refuse_pairs(
            f"Blocking by {what} gives {count(n_pairs, 'pair')} of different records; the largest block, "
            f"{list(number)[largest]!r}, has {count(int(sizes[largest]), 'record')}",
            max_pairs,
        )
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    blocks = np.arange(len(sizes))
    left, right, _ = cross(blocks, blocks, indptr, value[np.argsort(code, kind="stable")])
    return each_once(left, right, len(keys))


def refuse_pairs(problem: str, max_pairs: int) -> None:
    """Refuse more candidate pairs than are allowed."""
    raise TooLargeError(
        f"{problem}, and at most {max_pairs:,} candidate pairs are allowed",
        remedy="other_blocking",
    )


def refuse_rows(problem: str, max_pairs: int) -> None:
    """Refuse more pairs of rows than are allowed, of which those with equal texts are pairs with any blocking."""
    raise TooLargeError(
        f"{problem}, and at most {max_pairs:,} candidate pairs are allowed",
        remedy="fewer_equal_texts",
    )


def _pairs_in_window(texts: Sequence[str], window: int) -> tuple[Ints, Ints]:
    """Return the pairs of records near each other in the order of last names, or of the texts read backward."""
    filled = np.array([value for value, text in enumerate(texts) if text], dtype=np.int64)
    by_name = sorted(filled.tolist(), key=lambda value: (*split_name(texts[value]), value))
    backward = sorted(filled.tolist(), key=lambda value: (texts[value][::-1], value))
    left, right = [], []
    for order in (np.array(by_name, dtype=np.int64), np.array(backward, dtype=np.int64)):
        for step in range(1, window):
            left.append(order[:-step])
            right.append(order[step:])
    if not left:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    return each_once(np.concatenate(left), np.concatenate(right), len(texts))


def _qgrams(texts: Sequence[str], size: int, tags: Sequence[str] | None = None) -> csr_array:
    """Return which q-grams the words of each text have; words are padded, so that their ends count more.

    A q-gram with another tag is another q-gram.
    """
    number: dict[str, int] = {}
    indptr, indices = [0], []
    pad = "#" * (size - 1)
    for text, tag in zip(texts, tags or [""] * len(texts), strict=True):
        grams: set[str] = set()
        for word in text.split():
            padded = f"{pad}{word}{pad}"
            grams.update(tag + padded[start : start + size] for start in range(len(padded) - size + 1))
        # Sorted, as the order of a set of texts differs between runs.
        indices += [number.setdefault(gram, len(number)) for gram in sorted(grams)]
        indptr.append(len(indices))
    shape = (len(texts), max(1, len(number)))
    return csr_array((np.ones(len(indices)), np.array(indices, dtype=np.int64), indptr), shape=shape)


def _pairs_by_qgrams(grams: csr_array, similarity: float, max_pairs: int) -> tuple[Ints, Ints]:
    """Return the pairs of records whose sets of q-grams have at least a Jaccard coefficient.

    Two sets as similar as that share one of the rarest q-grams of each, which are looked up first. How many of these
    they share, and how many others the set has whose rarest end first, bounds how many they share in all.
    """
    sizes = np.diff(grams.indptr)
    df = np.bincount(grams.indices, minlength=grams.shape[1])
    n_rarest = sizes - np.ceil(similarity * sizes - 1e-9).astype(np.int64) + 1
    row = np.repeat(np.arange(len(sizes)), sizes)
    order = np.lexsort((grams.indices, df[grams.indices], row))
    rank = np.arange(len(order)) - grams.indptr[row]
    kept = order[rank < n_rarest[row]]
    prefix = csr_array((np.ones(len(kept)), (row[kept], grams.indices[kept])), shape=grams.shape)

    rarity = np.empty(grams.shape[1], dtype=np.int64)
    rarity[np.lexsort((np.arange(len(rarity)), df))] = np.arange(len(rarity))
    end = np.zeros(len(sizes), dtype=np.int64)
    np.maximum.at(end, row[kept], rarity[grams.indices[kept]])
    n_others = sizes - n_rarest

    def are_similar(left: Ints, right: Ints, n_shared: Floats) -> Mask:
        both = sizes[left] + sizes[right]
        most = n_shared + n_others[np.where(end[left] <= end[right], left, right)]
        is_similar = most >= similarity * (both - most) - 1e-9
        left, right = left[is_similar], right[is_similar]
        shared = np.asarray(grams[left].multiply(grams[right]).sum(axis=1)).ravel()
        is_similar[is_similar] = shared >= similarity * (sizes[left] + sizes[right] - shared) - 1e-9
        return is_similar

    return _product_pairs(prefix, 0.5, max_pairs, "q-grams", are_similar)


def _product_pairs(
    matrix: csr_array,
    at_least: float,
    max_pairs: int,
    what: str,
    keep: Callable[[Ints, Ints, Floats], Mask] | None = None,
) -> tuple[Ints, Ints]:
    """Return the pairs of rows whose product is at least a value, and that are to be kept, smaller number first.

    A chunk of rows is multiplied at a time.
    """
    df = np.bincount(matrix.indices, minlength=matrix.shape[1]).astype(float)
    n_products = float((df**2).sum()) / 2
    if n_products > MAX_PRODUCTS:
        refuse_pairs(
            f"Blocking by {what} compares {n_products:,.0f} pairs; the commonest is in {int(df.max()):,} records",
            max_pairs,
        )
    left, right, n_found = [], [], 0
    transposed = matrix.T.tocsr()
    for start in range(0, matrix.shape[0], CHUNK):
        product = (matrix[start : start + CHUNK] @ transposed).tocoo()
        is_pair = (product.data >= at_least) & (product.row + start < product.col)
        one, other = product.row[is_pair].astype(np.int64) + start, product.col[is_pair].astype(np.int64)
        if keep is not None:
            kept = keep(one, other, product.data[is_pair])
            one, other = one[kept], other[kept]
        left.append(one)
        right.append(other)
        n_found += len(one)
        if n_found > max_pairs:
            refuse_pairs(f"Blocking by {what} gives more than {count(n_found, 'pair')} of different records", max_pairs)
    return np.concatenate(left), np.concatenate(right)


def _pairs_by_canopy(grams: csr_array, loose: float, tight: float, max_pairs: int) -> tuple[Ints, Ints]:
    """Return the pairs of records within a canopy: those loosely similar to its center by TF-IDF.

    Every record that is not tightly similar to an earlier center is one.
    """
    n_values = grams.shape[0]
    df = np.bincount(grams.indices, minlength=grams.shape[1])
    weight = grams.copy()
    weight.data = np.log(1 + n_values / np.maximum(df, 1))[grams.indices]
    norm = np.sqrt(np.asarray(weight.multiply(weight).sum(axis=1)).ravel())
    weight.data /= np.repeat(np.where(norm > 0, norm, 1.0), np.diff(weight.indptr))
    left, right = _product_pairs(weight, loose, max_pairs, "canopies")
    cosine = np.asarray(weight[left].multiply(weight[right]).sum(axis=1)).ravel()
    graph = csr_array((cosine, (left, right)), shape=(n_values, n_values))
    graph = (graph + graph.T).tocsr()
    is_center = np.ones(n_values, dtype=bool)
    canopies = []
    for value in range(n_values):
        if is_center[value]:
            own = slice(graph.indptr[value], graph.indptr[value + 1])
            near = graph.indices[own]
            is_center[near[graph.data[own] >= tight]] = False
            canopies.append([(value, int(member)) for member in (value, *near)] if len(near) else [])
    keys: list[list[object]] = [[] for _ in range(n_values)]
    for canopy in canopies:
        for center, member in canopy:
            keys[member].append(center)
    return _pairs_by_key(keys, max_pairs, 'blocking="canopy"')
