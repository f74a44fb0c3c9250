"""The choice of eta, the weight of linked rows, and of the penalty of links, on held-out links."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import numpy as np

from mustlink._types import Ints
from mustlink.constraints import Constraints

__all__ = ["PENALTIES", "eta_candidates", "select_weights"]

ETAS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
# All linked rows together weigh at most so many times what the others weigh: beyond it, the parameters would be those
# of the linked rows alone.
MAX_RATIO = 10.0
# That of the chapter, more than the data of a row can say; and that of links of which one in twenty is wrong.
PENALTIES = (1_000.0, 3.0)
N_FOLDS = 3
# After so many larger values without a gain on held-out links, the next are not tried.
PATIENCE = 3
# With fewer connected parts, links are not held out: what is left of a handful often says nothing about the others.
MIN_PARTS = 12

Penalty: TypeAlias = float | tuple[float, float]
# Fits with some links, a penalty and an eta, and returns the most probable labels from the parameters alone.
FitLabels = Callable[[Constraints, Penalty, float], Ints]


def eta_candidates(links: Constraints, n_samples: int) -> list[float]:
    """Return the values of eta to choose from."""
    n_linked = len(links.constrained_rows())
    return [eta for eta in ETAS if eta == 1 or eta * n_linked <= MAX_RATIO * (n_samples - n_linked)]


def select_weights(
    links: Constraints,
    n_samples: int,
    penalties: Sequence[Penalty],
    etas: Sequence[float],
    fit_labels: FitLabels,
    rng: np.random.RandomState,
) -> tuple[Penalty, float]:
    """Return the first penalty and the smallest eta that break the fewest links, held out and in the fit itself.

    Connected parts of the links are held out as a whole, so that no row is in a link of both kinds. Labels are those
    from the parameters alone, on which a link has no effect but through the parameters. The links that the fit with
    all of them breaks are added: where links are wrong, a third of them less can lead to other clusters. With few parts
    these alone are counted, with the first penalty, and all values of eta are tried until none is broken.
    """
    folds = list(_folds(links, n_samples, rng))
    is_held_out = len(folds) > 1
    penalties = penalties if is_held_out else penalties[:1]
    best, fewest = (penalties[0], etas[0]), np.inf
    if links.is_empty or len(penalties) * len(etas) == 1:
        return best
    for penalty in penalties:
        n_worse = 0
        for eta in etas:
            n_broken = sum(len(test.violations(fit_labels(train, penalty, eta))) for train, test in folds)
            n_worse += 1
            if n_broken < fewest:
                best, fewest, n_worse = (penalty, eta), n_broken, 0
            if fewest == 0:
                return best
            if is_held_out and n_worse >= PATIENCE:
                break
    return best


def _folds(links: Constraints, n_samples: int, rng: np.random.RandomState) -> Iterator[tuple[Constraints, Constraints]]:
    """Yield the links to fit with and the links to count."""
    part = Constraints(must_link=links.pairs).components(n_samples)[links.pairs[:, 0]]
    parts, number = np.unique(part, return_inverse=True)
    yield links, links
    if len(parts) < MIN_PARTS:
        return
    fold = (rng.permutation(len(parts)) % N_FOLDS)[number]
    for held_out in range(N_FOLDS):
        yield links.take(fold != held_out), links.take(fold == held_out)
