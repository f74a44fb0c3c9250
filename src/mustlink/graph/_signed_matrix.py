"""Pair probabilities of another tool as signed weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_array, csr_array

from mustlink._spelling import count
from mustlink.errors import ConstraintError

__all__ = ["signed_matrix"]

# The weight of a probability at the threshold.
NO_EVIDENCE = 1e-12


def signed_matrix(
    pairs: ArrayLike,
    probabilities: ArrayLike,
    n_samples: int,
    *,
    threshold: float = 0.5,
    clip: float = 1e-6,
) -> csr_array:
    """Turn probabilities that two rows belong together into a signed matrix of log odds.

    Parameters
    ----------
    pairs : array-like of shape (n_pairs, 2)
        Pairs of row numbers, from 0. A pair that is given more than once, in either order, has the mean of its log
        odds.
    probabilities : array-like of shape (n_pairs,)
        The probability of each pair that its rows belong together.
    n_samples : int
        The number of rows.
    threshold : float, default=0.5
        The probability from which on rows are rather joined: the log odds of this probability are subtracted.
    clip : float, default=1e-6
        Probabilities are moved to between `clip` and ``1 - clip``, so that no single pair decides: the largest weight
        at the default threshold is 13.8.

    Returns
    -------
    csr_array of shape (n_samples, n_samples)
        Symmetric, the log odds of every pair. A pair that is not given has no entry; what that means is said by
        the parameter `missing` of :class:`CorrelationClustering`.

    Raises
    ------
    ConstraintError
        If a pair names a row outside the table or a row with itself, or a number is no probability.

    See Also
    --------
    CorrelationClustering : Takes such a matrix.
    mustlink.Constraints.signed : The signed matrix of links.

    Notes
    -----
    Log odds are the weights for which the cheapest clustering is the most probable one, if the pairs are judged
    independently of each other and every clustering is as probable as any other before.

    Examples
    --------
    >>> from mustlink.graph import signed_matrix
    >>> signed_matrix([(0, 1), (1, 2)], [0.9, 0.2], 3).toarray().round(1)
    array([[ 0. ,  2.2,  0. ],
           [ 2.2,  0. , -1.4],
           [ 0. , -1.4,  0. ]])
    """
    ends = _check_pairs(pairs, n_samples)
    chance = np.asarray(probabilities, dtype=np.float64)
    if chance.shape != (len(ends),):
        raise ConstraintError(
            f"{count(len(ends), 'pair')} need as many probabilities; got an array of shape {chance.shape}."
        )
    outside = np.flatnonzero(~((chance >= 0) & (chance <= 1)))
    if len(outside):
        a, b = ends[outside[0]].tolist()
        raise ConstraintError(
            f"The probability of rows {a} and {b} is {chance[outside[0]]}; probabilities are from 0 to 1.", [(a, b)]
        )
    if not (0 < clip < 0.5 and clip <= threshold <= 1 - clip):
        raise ConstraintError(
            f"clip must be between 0 and 0.5, and threshold between clip and 1 - clip; got {clip} and {threshold}."
        )
    chance = chance.clip(clip, 1 - clip)
    log_odds = np.log(chance / (1 - chance)) - np.log(threshold / (1 - threshold))
    # A matrix without zeros: a pair that is given is not missing.
    log_odds[log_odds == 0] = NO_EVIDENCE
    a, b = np.concatenate([ends, ends[:, ::-1]]).T
    shape = (n_samples, n_samples)
    total = coo_array((np.tile(log_odds, 2), (a, b)), shape=shape).tocsr()
    times = coo_array((np.ones(len(a)), (a, b)), shape=shape).tocsr()
    total.sort_indices()
    times.sort_indices()
    total.data /= times.data
    return total


def _check_pairs(pairs: ArrayLike, n_samples: int) -> np.ndarray:
    """Return pairs of two different rows of the table."""
    ends = np.asarray(pairs)
    if ends.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if ends.ndim != 2 or ends.shape[1] != 2 or ends.dtype.kind not in "iu":
        raise ConstraintError(
            f"pairs must be whole numbers in two columns; got an array of shape {ends.shape} and type {ends.dtype}."
        )
    wrong = np.flatnonzero((ends.min(axis=1) < 0) | (ends.max(axis=1) >= n_samples) | (ends[:, 0] == ends[:, 1]))
    if len(wrong):
        a, b = ends[wrong[0]].tolist()
        raise ConstraintError(
            f"Pair {wrong[0]} names the rows {a} and {b}; a pair is of two different rows from 0 to {n_samples - 1}.",
            [(a, b)],
        )
    return ends.astype(np.int64)
