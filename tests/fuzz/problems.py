"""Random problems: a small table, links of every sort, and a number of clusters, all from one seed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mustlink import Constraints
from mustlink.active import NPU, Consolidate, Explore, MinMax, RandomPairs, TruthOracle, ask

Generator = np.random.Generator
Table = NDArray[Any]
Classes = NDArray[np.intp]

MIN_ROWS, MAX_ROWS, MAX_COLUMNS = 4, 14, 3
UNKNOWN = -1

# Powers of ten by which tables are scaled; numbers are a thousand at most before, and 1e75 and about 1e18 are allowed.
MAX_POWER = {np.float64: 70.0, np.float32: 14.0}


class Link(NamedTuple):
    """A link as a user gives it; the sign is 1 for a must-link and -1 for a cannot-link."""

    a: int
    b: int
    sign: int
    weight: float = 1.0


@dataclass(frozen=True)
class Problem:
    """What a clusterer is given, and what it was made of.

    A pair in `given` may be repeated, turned around, or linked both ways. `y` are partial labels, -1 for unknown.
    """

    seed: int
    sort: str
    X: Table
    n_clusters: int
    given: tuple[Link, ...]
    y: Classes | None

    @property
    def n_rows(self) -> int:
        return len(self.X)

    @cached_property
    def constraints(self) -> Constraints:
        """The links; of a pair linked both ways the heavier side."""
        return Constraints.from_pairs(
            np.array([link[:2] for link in self.given], dtype=np.int64).reshape(-1, 2),
            np.array([link.sign for link in self.given], dtype=np.int64),
            np.array([link.weight for link in self.given]),
            contradictions="majority",
        )

    def with_turned_links(self) -> Problem:
        """Return the same problem with the links in the reverse order, and the rows of each as well."""
        return replace(self, given=tuple(Link(b, a, sign, weight) for a, b, sign, weight in self.given[::-1]))

    def with_moved_rows(self) -> tuple[Problem, NDArray[np.intp]]:
        """Return the same problem with the rows in another order, and that order."""
        order = np.random.default_rng(self.seed).permutation(self.n_rows)
        place = np.argsort(order).tolist()
        moved = tuple(Link(place[a], place[b], sign, weight) for a, b, sign, weight in self.given)
        return replace(self, X=self.X[order], given=moved, y=None if self.y is None else self.y[order]), order


def make_problem(seed: int) -> Problem:
    """Draw the problem of a seed."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(MIN_ROWS, MAX_ROWS + 1))
    table = str(rng.choice(list(TABLES)))
    X = _scale(TABLES[table](rng, n_rows, int(rng.integers(1, MAX_COLUMNS + 1))), rng)
    # Few clusters as a rule; at times any number up to one for every row.
    n_clusters = int(rng.integers(1, min(5, n_rows) + 1) if rng.random() < 0.8 else rng.integers(1, n_rows + 1))
    truth = rng.integers(n_clusters, size=n_rows)
    sort = str(rng.choice(list(LINKS)))
    given = LINKS[sort](rng, X, truth, n_clusters)
    y = _partial_labels(rng, truth) if sort == "labels" or rng.random() < 0.15 else None
    name = f"{table} rows, {sort}{' and labels' if y is not None and sort != 'labels' else ''}"
    return Problem(seed, name, X, n_clusters, tuple(given), y)


# ---- tables ---------------------------------------------------------------------------------------------------------


def _distinct(rng: Generator, n_rows: int, n_columns: int) -> Table:
    return rng.normal(size=(n_rows, n_columns))


def _clustered(rng: Generator, n_rows: int, n_columns: int) -> Table:
    centers = 20.0 * rng.normal(size=(3, n_columns))
    return centers[rng.integers(3, size=n_rows)] + rng.normal(size=(n_rows, n_columns))


def _equal(rng: Generator, n_rows: int, n_columns: int) -> Table:
    different = rng.normal(size=(int(rng.integers(1, n_rows)), n_columns))
    return different[rng.integers(len(different), size=n_rows)]


def _grid(rng: Generator, n_rows: int, n_columns: int) -> Table:
    return rng.integers(0, 3, size=(n_rows, n_columns)).astype(np.float64)


def _constant_column(rng: Generator, n_rows: int, n_columns: int) -> Table:
    X = rng.normal(size=(n_rows, n_columns))
    X[:, 0] = rng.choice([0.0, 1.0, -7.25])
    return X


TABLES: dict[str, Callable[[Generator, int, int], Table]] = {
    "distinct": _distinct,
    "clustered": _clustered,
    "equal": _equal,
    "grid": _grid,
    "constant column": _constant_column,
}


def _scale(X: Table, rng: Generator) -> Table:
    """Give a table another precision, origin and unit at times."""
    dtype = np.float32 if rng.random() < 0.2 else np.float64
    if rng.random() < 0.1:
        X = X + 1000.0
    if rng.random() < 0.2:
        X = X * 10.0 ** rng.uniform(-MAX_POWER[dtype], MAX_POWER[dtype])
    return X.astype(dtype)


# ---- links ----------------------------------------------------------------------------------------------------------


def _none(rng: Generator, X: Table, truth: Classes, n_clusters: int) -> list[Link]:
    return []


def _right(rng: Generator, X: Table, truth: Classes, n_clusters: int) -> list[Link]:
    return [_true_link(truth, a, b) for a, b in _draw_pairs(rng, len(X))]


def _random(rng: Generator, X: Table, truth: Classes, n_clusters: int) -> list[Link]:
    return [Link(a, b, _draw_sign(rng)) for a, b in _draw_pairs(rng, len(X))]


def _all_must(rng: Generator, X: Table, truth: Classes, n_clusters: int) -> list[Link]:
    return [Link(a, b, 1) for a, b in combinations(_draw_rows(rng, len(X)), 2)]


def _all_cannot(rng: Generator, X: Table, truth: Classes, n_clusters: int) -> list[Link]:
    return [Link(a, b, -1) for a, b in combinations(_draw_rows(rng, len(X)), 2)]


def _cannot_graph(rng: Generator, X: Table, truth: Classes, n_clusters: int) -> list[Link]:
    """Cannot-links as dense as makes coloring with so few clusters doubtful, and a few must-links."""
    density = rng.uniform(0.2, 0.8)
    cannot = [Link(a, b, -1) for a, b in combinations(range(len(X)), 2) if rng.random() < density]
    taken = {link[:2] for link in cannot}
    free = [pair for pair in _draw_pairs(rng, len(X), 3) if tuple(sorted(pair)) not in taken]
    return cannot + [Link(a, b, 1) for a, b in free]


def _chains(rng: Generator, X: Table, truth: Classes, n_clusters: int) -> list[Link]:
    """Chains of must-links, of some of which the ends are cannot-linked."""
    links = []
    for _ in range(int(rng.integers(1, 4))):
        rows = _draw_rows(rng, len(X))
        links += [Link(a, b, 1) for a, b in pairwise(rows)]
        if len(rows) > 2 and rng.random() < 0.7:
            links.append(Link(rows[0], rows[-1], -1))
    return links


def _unequal_weights(rng: Generator, X: Table, truth: Classes, n_clusters: int) -> list[Link]:
    links = (_right if rng.random() < 0.5 else _random)(rng, X, truth, n_clusters)
    return [link._replace(weight=float(10.0 ** rng.uniform(-6, 6))) for link in links]


def _repeated(rng: Generator, X: Table, truth: Classes, n_clusters: int) -> list[Link]:
    """Pairs given more than once, either way around and with either sign; quarters add up exactly in any order."""
    pairs = _draw_pairs(rng, len(X))
    drawn = [pairs[place] for place in rng.integers(len(pairs), size=2 * len(pairs))]
    turned = [(a, b) if rng.random() < 0.5 else (b, a) for a, b in drawn]
    return [Link(a, b, _draw_sign(rng), float(rng.integers(1, 9)) / 4) for a, b in turned]


def _asked(rng: Generator, X: Table, truth: Classes, n_clusters: int) -> list[Link]:
    """What a strategy learns from an oracle that knows the truth."""
    # NPU fits a forest for every question.
    strategy = NPU if rng.random() < 0.02 else [RandomPairs, Explore, Consolidate, MinMax][rng.integers(4)]
    asking = strategy(X, n_clusters, random_state=int(rng.integers(2**31)))
    found = ask(asking, TruthOracle(truth), int(rng.integers(1, 2 * len(X))))
    return [
        Link(a, b, sign, weight)
        for (a, b), sign, weight in zip(found.pairs.tolist(), found.sign.tolist(), found.weight.tolist(), strict=True)
    ]


LINKS: dict[str, Callable[[Generator, Table, Classes, int], list[Link]]] = {
    "no links": _none,
    "right links": _right,
    "random links": _random,
    "must-links of all": _all_must,
    "cannot-links of all": _all_cannot,
    "a dense cannot-link graph": _cannot_graph,
    "chains": _chains,
    "unequal weights": _unequal_weights,
    "repeated links": _repeated,
    "links asked for": _asked,
    "labels": _none,
}


def _partial_labels(rng: Generator, truth: Classes) -> Classes:
    """Hide some of the classes, at least one."""
    y = np.where(rng.random(len(truth)) < rng.uniform(0.2, 1.0), UNKNOWN, truth)
    y[rng.integers(len(truth))] = UNKNOWN
    return y


def _draw_pairs(rng: Generator, n_rows: int, max_pairs: int | None = None) -> list[tuple[int, int]]:
    """Draw different pairs of rows, at least one, with the rows of each in any order."""
    pairs = list(combinations(range(n_rows), 2))
    n_pairs = int(rng.integers(1, min(len(pairs), max_pairs or 2 * n_rows) + 1))
    drawn = [pairs[place] for place in rng.permutation(len(pairs))[:n_pairs]]
    return [(a, b) if rng.random() < 0.5 else (b, a) for a, b in drawn]


def _draw_rows(rng: Generator, n_rows: int) -> list[int]:
    """Draw different rows, at least two."""
    order: Sequence[int] = rng.permutation(n_rows).tolist()
    return list(order[: int(rng.integers(2, n_rows + 1))])


def _draw_sign(rng: Generator) -> int:
    return 1 if rng.random() < 0.5 else -1


def _true_link(truth: Classes, a: int, b: int) -> Link:
    return Link(a, b, 1 if truth[a] == truth[b] else -1)
