"""The choice of eta, the weight of linked rows, on held-out links."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from mustlink._types import Ints
from mustlink.constraints import Constraints

__all__ = ["select_eta"]

ETAS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
# All linked rows together weigh at most so many times what the others weigh: beyond it, the parameters would be those
# of the linked rows alone.
MAX_RATIO = 10.0
N_FOLDS = 3
# After so many larger values without a gain on held-out links, the next are not tried.
PATIENCE = 3
# With fewer connected parts, links are not held out: what is left of a handful often says nothing about the others.
MIN_PARTS = 12

# Fits with some links and an eta, and returns the most probable labels from the parameters alone.
FitLabels = Callable[[Constraints, float], Ints]


def select_eta(links: Constraints, n_samples: int, fit_labels: FitLabels, rng: np.random.RandomState) -> float:
    """Return the smallest eta that breaks the fewest held-out links.

    Connected parts of the links are held out as a whole, so that no row is in a link of both kinds. Labels are those
    from the parameters alone, on which a link has no effect but through the parameters. With few parts, the links that
    are broken in the fit itself are counted instead, and all values are tried until none is broken.
    """
    n_linked = len(links.constrained_rows())
    etas = [eta for eta in ETAS if eta == 1 or eta * n_linked <= MAX_RATIO * (n_samples - n_linked)]
    if len(etas) == 1 or links.is_empty:
        return 1.0
    folds = list(_folds(links, n_samples, rng))
    n_broken: list[int] = []
    for eta in etas:
        n_broken.append(sum(len(test.violations(fit_labels(train, eta))) for train, test in folds))
        best = int(np.argmin(n_broken))
        if n_broken[best] == 0 or (len(folds) > 1 and len(n_broken) - 1 - best >= PATIENCE):
            break
    return etas[best]


def _folds(links: Constraints, n_samples: int, rng: np.random.RandomState) -> Iterator[tuple[Constraints, Constraints]]:
    """Yield the links to fit with and the links to count."""
    part = Constraints(must_link=links.pairs).components(n_samples)[links.pairs[:, 0]]
    parts, number = np.unique(part, return_inverse=True)
    if len(parts) < MIN_PARTS:
        yield links, links
        return
    fold = (rng.permutation(len(parts)) % N_FOLDS)[number]
    for held_out in range(N_FOLDS):
        yield links.take(fold != held_out), links.take(fold == held_out)
