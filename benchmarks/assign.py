"""The exact assignment to clusters of equal sizes: growth with the rows, beside argmin and OR-tools.

The costs are squared distances of rows of Gaussian clusters of unequal sizes to 50 of the rows, held as an array. Every
row must be read to find its cheapest cluster, so that argmin over the costs is a lower bound of the work. Memory is
counted above the costs.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks._measure import measure, shortest
from benchmarks._show import new_table, show

N_ROWS = (10_000, 30_000, 100_000, 300_000, 1_000_000)
N_CLUSTERS, N_FEATURES = 50, 16
# OR-tools holds an arc for every cost.
MAX_ROWS_FLOW = 30_000


def main() -> None:
    from mustlink.sizes import CostBlocks, assign

    assign(np.random.RandomState(0).random_sample((500, 4)), size_max=125)
    title = f"{N_CLUSTERS} clusters of equal sizes; target: seconds for a million rows, near-linear growth"
    columns = ("seconds", "times argmin", "again from its prices", "costs in blocks", "OR-tools", "MB", "MB in blocks")
    table = new_table(title, "rows", *columns, "slackness")
    for n_rows in N_ROWS:
        X, centers = make_rows(n_rows)
        costs = squared_distances(X, centers, slice(None))
        bounds = {"size_min": n_rows // N_CLUSTERS, "size_max": -(-n_rows // N_CLUSTERS)}
        blocks = CostBlocks(costs.shape, partial(squared_distances, X, centers))
        least, _ = shortest(partial(costs.argmin, axis=1))
        seconds, megabytes, answer = measure(partial(assign, costs, **bounds))
        again, _ = shortest(partial(assign, costs, **bounds, start=answer))
        of_blocks, megabytes_of_blocks, _ = measure(partial(assign, blocks, **bounds))
        flow = (
            f"{shortest(partial(assign, costs, **bounds, solver='flow'), 1)[0]:.1f}" if n_rows <= MAX_ROWS_FLOW else ""
        )
        table.add_row(
            f"{n_rows:,}",
            f"{seconds:.2f}",
            f"{seconds / least:.0f}",
            f"{again:.2f}",
            f"{of_blocks:.2f}",
            flow,
            f"{megabytes:.0f}",
            f"{megabytes_of_blocks:.0f}",
            f"{answer.slackness(costs):.0e}",
        )
    show(table)


def make_rows(n_rows: int) -> tuple[Any, Any]:
    """Draw rows of Gaussian clusters of unequal sizes, and take some of them as centers."""
    rng = np.random.RandomState(0)
    means = 1.5 * rng.standard_normal((N_CLUSTERS, N_FEATURES))
    X = means[rng.choice(N_CLUSTERS, n_rows, p=rng.dirichlet(np.full(N_CLUSTERS, 2.0)))]
    X += rng.standard_normal(X.shape)
    return X, X[rng.permutation(n_rows)[:N_CLUSTERS]]


def squared_distances(X: Any, centers: Any, rows: Any) -> Any:
    """Return the squared distances of some rows to the centers."""
    some = X[rows]
    return np.square(some).sum(axis=1)[:, None] - 2.0 * some @ centers.T + np.square(centers).sum(axis=1)


if __name__ == "__main__":
    main()
