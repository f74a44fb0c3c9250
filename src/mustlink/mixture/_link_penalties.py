"""Weights of links from what is known of them: their certainty, a rate of errors, or continuity on a grid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logit

from mustlink._types import Array, Floats, Ints
from mustlink.constraints import Constraints
from mustlink.errors import ConstraintError

__all__ = ["DEFAULT_PENALTY", "HARD_WEIGHT", "flip_rate_penalty", "grid_links", "links_of_certainty"]

# The log-odds of a link of weight one that PenalizedGaussianMixture assumes: right in 95 of 100 cases.
DEFAULT_PENALTY = 3.0
# From this weight on PenalizedGaussianMixture takes a link to be hard.
HARD_WEIGHT = 1e6
# The most pairs that an error message lists.
MAX_SHOWN = 5
MAX_DIMENSIONS = 3


def flip_rate_penalty(flip_rate: float) -> float:
    """Return the penalty of a broken link if links are wrong at some rate.

    Parameters
    ----------
    flip_rate : float
        The probability that a link is of the wrong kind, from 0 to 0.5.

    Returns
    -------
    float
        The log-odds that a link is right, ``log((1 - flip_rate) / flip_rate)``: 0 for 0.5, infinite for 0.

    See Also
    --------
    links_of_certainty : For links of different certainties.

    Examples
    --------
    >>> from mustlink.mixture import flip_rate_penalty
    >>> round(flip_rate_penalty(0.15), 3)
    1.735
    >>> flip_rate_penalty(0.0)
    inf
    """
    if not _is_number(flip_rate) or not 0 <= flip_rate <= 0.5:
        raise ValueError(
            f"flip_rate must be a number from 0 to 0.5; got {flip_rate!r}. Above 0.5 exchange must-links and "
            "cannot-links."
        )
    return math.log((1 - flip_rate) / flip_rate) if flip_rate else math.inf


def links_of_certainty(
    must_link: ArrayLike | None = None,
    cannot_link: ArrayLike | None = None,
    *,
    must_link_certainty: ArrayLike | float = 1.0,
    cannot_link_certainty: ArrayLike | float = 1.0,
    penalty: float = DEFAULT_PENALTY,
) -> Constraints:
    """Build constraints from pairs and the probability that each link is right.

    The weight of a link is the log-odds of its certainty divided by `penalty`, so that a fit with this penalty uses
    the log-odds.

    Parameters
    ----------
    must_link : array-like of shape (m, 2), default=None
        Pairs of row numbers that belong to one cluster.
    cannot_link : array-like of shape (m, 2), default=None
        Pairs of row numbers that belong to different clusters.
    must_link_certainty : array-like of shape (m,) or float, default=1.0
        The probability that each must-link is right, from 0 to 1. With 1 the link is hard, with 0.5 it is left out,
        and below 0.5 it becomes a cannot-link.
    cannot_link_certainty : array-like of shape (m,) or float, default=1.0
        The same for cannot-links.
    penalty : float, default=3.0
        The `penalty` of the clusterer that the links are for.

    Returns
    -------
    Constraints
        Hard links have a weight above ``mustlink.mixture.HARD_WEIGHT``. The log-odds of a pair that is given more than
        once, in one way or both, are added.

    Raises
    ------
    ConstraintError
        If a certainty is not a number from 0 to 1, or a pair is given both ways with certainty 1; the message names
        the pairs.

    See Also
    --------
    PenalizedGaussianMixture : The mixture in which these weights are log-odds.
    flip_rate_penalty : For links that are all equally certain.

    Examples
    --------
    >>> from mustlink.mixture import links_of_certainty
    >>> links = links_of_certainty([(0, 1), (1, 2)], [(0, 3)], must_link_certainty=[0.9, 0.4])
    >>> links
    Constraints(1 must-link, 2 cannot-links)
    >>> (3.0 * links.must_link_weight).round(2)  # the log-odds of 0.9
    array([2.2])
    >>> (3.0 * links.cannot_link_weight[1]).round(2)  # the log-odds of 0.6, for rows 1 and 2
    np.float64(0.41)
    """
    if not _is_number(penalty) or not 0 < penalty < math.inf:
        raise ValueError(f"penalty must be a positive, finite number; got {penalty!r}.")
    pairs, log_odds = _signed_log_odds(must_link, cannot_link, must_link_certainty, cannot_link_certainty)
    is_hard = np.isinf(log_odds)
    try:
        Constraints.from_pairs(pairs[is_hard], np.sign(log_odds[is_hard]))
    except ConstraintError as error:
        raise error.without_remedies("majority") from None
    # Twice, so that a link stays hard where a soft one speaks against it.
    weight = np.where(is_hard, 2 * HARD_WEIGHT, np.abs(log_odds) / penalty)
    known = log_odds != 0
    return Constraints.from_pairs(pairs[known], np.sign(log_odds[known]), weight[known], contradictions="majority")


def _signed_log_odds(
    must_link: ArrayLike | None, cannot_link: ArrayLike | None, must_certainty: object, cannot_certainty: object
) -> tuple[Ints, Floats]:
    """Return all pairs, and the log-odds that each belongs together."""
    # Checks the row numbers, and says what is wrong with them.
    Constraints(must_link, cannot_link, contradictions="keep")
    must, cannot = (np.asarray([] if given is None else given).reshape(-1, 2) for given in (must_link, cannot_link))
    together = logit(_check_certainty(must_certainty, must, "must-link"))
    apart = logit(_check_certainty(cannot_certainty, cannot, "cannot-link"))
    return np.concatenate([must, cannot]).astype(np.int64), np.concatenate([together, -apart])


def _check_certainty(certainty: object, pairs: Array, kind: str) -> Floats:
    """Return the certainty of every pair, each from 0 to 1."""
    try:
        values = np.asarray(certainty, dtype=np.float64)
    except (TypeError, ValueError):
        raise ConstraintError(
            f"The certainty of {kind}s must be one number from 0 to 1, or one for each link; got {certainty!r}."
        ) from None
    if values.ndim == 0:
        values = np.full(len(pairs), float(values))
    if values.shape != (len(pairs),):
        raise ConstraintError(
            f"The certainty of {kind}s must be one number, or one for each of the {len(pairs):,} links; got an array "
            f"of shape {values.shape}."
        )
    bad = np.flatnonzero(~((values >= 0) & (values <= 1)))
    if bad.size:
        shown = [f"{values[place]:g} for rows {pairs[place, 0]} and {pairs[place, 1]}" for place in bad[:MAX_SHOWN]]
        more = f" and {len(bad) - MAX_SHOWN:,} more" if len(bad) > MAX_SHOWN else ""
        raise ConstraintError(
            f"The certainty of a {kind} is a probability from 0 to 1; got {', '.join(shown)}{more}.",
            [(int(a), int(b)) for a, b in pairs[bad]],
        )
    return values


def grid_links(
    shape: int | Sequence[int],
    *,
    flip_rate: float | None = None,
    labels: ArrayLike | None = None,
    penalty: float = DEFAULT_PENALTY,
) -> Constraints:
    """Link the neighboring sites of a grid: points of time, the pixels of an image, the voxels of a volume.

    Parameters
    ----------
    shape : int or sequence of int
        The number of sites along each of one to three axes. Row i of the table is site i in the order of
        ``numpy.ndarray.ravel``: the last axis changes fastest.
    flip_rate : float, default=None
        The fraction of neighboring sites that are of different classes; not together with `labels`, from which it is
        estimated if None.
    labels : array-like with as many axes as `shape`, default=None
        The classes on this or on a similar grid; -1 is unknown. Without `flip_rate` and `labels` every link has weight
        one.
    penalty : float, default=3.0
        The `penalty` of the clusterer that the links are for.

    Returns
    -------
    Constraints
        A must-link of equal weight between every site and the next one along each axis; cannot-links, if neighbors
        are more often of different classes than not.

    See Also
    --------
    PenalizedGaussianMixture : The mixture in which these weights are log-odds.

    Notes
    -----
    If all neighbors have equal labels, half a pair is counted as different: a rate of zero would make one cluster of
    the whole grid.

    Examples
    --------
    >>> from mustlink.mixture import grid_links
    >>> grid_links((2, 3)).must_link.tolist()
    [[0, 1], [0, 3], [1, 2], [1, 4], [2, 5], [3, 4], [4, 5]]
    >>> labels = [[0, 0, 1], [0, 0, 1]]  # 2 of 7 neighboring pairs differ
    >>> (3.0 * grid_links((20, 30), labels=labels).weight[0]).round(3)  # log(5 / 2)
    np.float64(0.916)
    """
    sites = _check_shape(shape)
    if flip_rate is not None and labels is not None:
        raise ValueError("flip_rate and labels exclude each other: pass the rate, or labels to estimate it from.")
    if labels is not None:
        flip_rate = _estimate_flip_rate(np.asarray(labels), len(sites))
    pairs = _neighbor_pairs(sites)
    if flip_rate is None:
        return Constraints(pairs)
    if not _is_number(flip_rate) or not 0 < flip_rate < 1:
        raise ValueError(f"flip_rate must be more than 0 and less than 1; got {flip_rate!r}.")
    return links_of_certainty(pairs, must_link_certainty=1 - flip_rate, penalty=penalty)


def _is_number(given: object) -> bool:
    """Return whether a value is a real number."""
    return isinstance(given, Real)


def _check_shape(shape: Any) -> tuple[int, ...]:
    """Return the numbers of sites along the axes."""
    sites: tuple[Any, ...] = tuple(shape) if isinstance(shape, Sequence | np.ndarray) else (shape,)
    if not 1 <= len(sites) <= MAX_DIMENSIONS or not all(
        isinstance(size, int | np.integer) and size > 0 for size in sites
    ):
        raise ValueError(f"shape must be one to {MAX_DIMENSIONS} positive whole numbers; got {shape!r}.")
    return sites


def _neighbor_pairs(shape: tuple[int, ...]) -> Ints:
    """Return the pairs of neighboring sites, axis by axis."""
    sites = np.arange(math.prod(shape)).reshape(shape)
    return np.concatenate(
        [
            np.column_stack([_without(sites, -1, axis).ravel(), _without(sites, 0, axis).ravel()])
            for axis in range(len(shape))
        ]
    )


def _without(array: Array, place: int, axis: int) -> Array:
    """Return an array without its first (0) or last (-1) entries along an axis."""
    part = slice(1, None) if place == 0 else slice(None, -1)
    return array[(slice(None),) * axis + (part,)]


def _estimate_flip_rate(labels: Array, n_axes: int) -> float:
    """Return the fraction of neighboring sites with different labels, among those with two known labels."""
    if labels.ndim != n_axes:
        raise ValueError(f"labels must have as many axes as the grid, {n_axes}; got an array of shape {labels.shape}.")
    one, other = labels.ravel()[_neighbor_pairs(labels.shape)].T
    is_known = (one != -1) & (other != -1)
    if not is_known.any():
        raise ValueError(f"No two neighboring sites of labels are known; got an array of shape {labels.shape}.")
    differ = (one != other)[is_known]
    n_different = differ.sum()
    # Half a pair at either end: a certain rate would make every link hard.
    return float(np.clip(n_different, 0.5, len(differ) - 0.5) / len(differ))
