"""Small random problems with labels of two or three classes and links, for the classifiers and their references."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from sklearn.metrics.pairwise import rbf_kernel

from mustlink import Constraints
from reference.pairwise import Pair


@dataclass(frozen=True)
class Problem:
    """Rows, partial labels and links; `K` is the kernel of all rows, with a gamma of one half."""

    X: Any
    y: Any
    links: Constraints

    @property
    def K(self) -> Any:  # noqa: N802  (the symbol of the chapter)
        return rbf_kernel(self.X, gamma=0.5)

    @property
    def pairs(self) -> list[Pair]:
        """The links as the reference has them."""
        parts = zip(self.links.pairs.tolist(), self.links.sign.tolist(), self.links.weight.tolist(), strict=True)
        return [(i, j, c, w) for (i, j), c, w in parts]

    def sides(self, positive: int) -> dict[int, int]:
        """The labels as the reference has them."""
        return {int(row): 1 if self.y[row] == positive else -1 for row in np.flatnonzero(self.y >= 0)}


def make_problem(seed: int, n_classes: int = 2, n_links: int = 8, *, weighted: bool = True) -> Problem:
    rng = np.random.default_rng(seed)
    n_rows = 14
    classes = np.arange(n_rows) % n_classes
    X = rng.normal(size=(n_rows, 2)) + 1.5 * np.eye(3)[classes][:, :2]
    y = np.where(np.arange(n_rows) < 2 * n_classes, classes, -1)
    drawn: dict[tuple[int, int], int] = {}
    for _ in range(n_links):
        i, j = sorted(rng.choice(n_rows, size=2, replace=False).tolist())
        drawn.setdefault((i, j), 1 if classes[i] == classes[j] else -1)
    must = [pair for pair, sign in drawn.items() if sign > 0]
    cannot = [pair for pair, sign in drawn.items() if sign < 0]
    weights = [rng.uniform(0.2, 1.0, size=len(part)) if weighted else np.ones(len(part)) for part in (must, cannot)]
    links = Constraints(must, cannot, must_link_weight=weights[0], cannot_link_weight=weights[1])
    return Problem(X, y, links)


def problems(n_classes: int = 2, *, weighted: bool = True) -> st.SearchStrategy[Problem]:
    return st.builds(
        make_problem, st.integers(0, 5_000), st.just(n_classes), st.integers(1, 10), weighted=st.just(weighted)
    )


def with_weight(links: Constraints, weight: float) -> Constraints:
    """The same links, all of one weight."""
    return Constraints(
        links.must_link,
        links.cannot_link,
        must_link_weight=np.full(links.n_must_links, weight),
        cannot_link_weight=np.full(links.n_cannot_links, weight),
    )
