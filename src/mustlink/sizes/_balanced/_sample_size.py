"""How many rows a sample needs to have enough rows of every cluster."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Integral, Real
from typing import Literal

from scipy.stats import binom
from sklearn.utils import check_scalar

__all__ = ["DEFAULT_EXPONENT", "balanced_sample_size"]

# A sample fails with a probability of at most k to the minus this power.
DEFAULT_EXPONENT = 4
# The largest number that is taken: floats have all whole numbers up to it.
MAX_NUMBER = 2**53


def balanced_sample_size(
    n_clusters: int,
    rows_per_cluster: int = 50,
    n_parts: int | None = None,
    confidence: float | None = None,
    *,
    sampling: Literal["coupon", "binomial"] = "coupon",
) -> int:
    """Return how many rows to draw to have enough rows of every cluster.

    Parameters
    ----------
    n_clusters : int
        The number of clusters (k).
    rows_per_cluster : int, default=50
        How many rows of every cluster the sample should have (s).
    n_parts : int, default=None
        The smallest cluster has at least one of so many equal parts of all rows (l); None is `n_clusters`, for
        clusters of equal size.
    confidence : float, default=None
        The probability with which the sample has these rows; None is ``1 - n_clusters ** -4``.
    sampling : {"coupon", "binomial"}, default="coupon"
        The bound of the source, which treats clusters as coupons of which a collector wants s each, or the smallest
        size by the binomial distribution, which is much smaller.

    Returns
    -------
    int
        The number of rows, for tables of any size.

    Notes
    -----
    The source [1]_ prints a confidence of 1 - k^-c with one symbol and its table with another. The relation that gives
    its table is ``(s / log k) * (a - log(4 a)) - 1 = d`` with a = n / (s l) and the confidence 1 - k^-d. Its entry for
    99.99% is 1277 for k = l = 10 and s = 50; the relation gives 1278.

    References
    ----------
    .. [1] A. Banerjee and J. Ghosh, "Clustering with balancing constraints", chapter 8 of "Constrained Clustering",
       2009.

    Examples
    --------
    >>> from mustlink.sizes import balanced_sample_size
    >>> balanced_sample_size(10, 50, confidence=0.999)
    1239
    >>> balanced_sample_size(10, 50, confidence=0.999, sampling="binomial")
    791
    """
    n_parts = n_clusters if n_parts is None else n_parts
    _check(n_clusters, rows_per_cluster, n_parts, confidence, sampling)
    # Not from a default confidence, which is 1 up to rounding for many clusters.
    failure = float(n_clusters) ** -DEFAULT_EXPONENT if confidence is None else 1.0 - confidence
    least = rows_per_cluster * n_parts

    def suffices_by_coupons(n: int) -> bool:
        a = n / least
        return rows_per_cluster * (a - math.log(4 * a)) >= math.log(n_clusters) - math.log(failure) - 1e-9

    def suffices_by_binomial(n: int) -> bool:
        return n_clusters * float(binom.cdf(rows_per_cluster - 1, n, 1 / n_parts)) <= failure * (1 + 1e-9)

    if sampling == "binomial":
        return _smallest(suffices_by_binomial, rows_per_cluster)
    return _smallest(suffices_by_coupons, least)


def _check(n_clusters: int, rows_per_cluster: int, n_parts: int, confidence: float | None, sampling: str) -> None:
    """Refuse numbers for which there is no sample size."""
    for name, number in (("n_clusters", n_clusters), ("rows_per_cluster", rows_per_cluster), ("n_parts", n_parts)):
        check_scalar(number, name, Integral, min_val=1, max_val=MAX_NUMBER)
    if n_parts < n_clusters:
        raise ValueError(
            f"n_parts={n_parts} is below n_clusters={n_clusters}: the smallest of {n_clusters} clusters cannot have "
            f"more than one of {n_clusters} equal parts."
        )
    if confidence is not None:
        check_scalar(confidence, "confidence", Real)
        if not 0 < confidence < 1:
            raise ValueError(f"confidence={confidence} must be between 0 and 1.")
    if sampling not in ("coupon", "binomial"):
        raise ValueError(f"sampling={sampling!r} must be 'coupon' or 'binomial'.")


def _smallest(suffices: Callable[[int], bool], lowest: int) -> int:
    """Return the smallest number from `lowest` on that suffices, if all larger ones do as well."""
    highest = lowest
    while not suffices(highest):
        highest *= 2
    while lowest < highest:
        middle = (lowest + highest) // 2
        lowest, highest = (lowest, middle) if suffices(middle) else (middle + 1, highest)
    return lowest
