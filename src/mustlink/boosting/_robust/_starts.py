"""Where the final step starts: the consensus, must-link components that are far apart, and the best of the runs.

Answers to good questions form a few large must-link components. Their means are often better starts than any run;
with random links and small components they are worse. Hence several kinds are tried.
"""

from __future__ import annotations

import warnings

import numpy as np

from mustlink._types import Ints
from mustlink.boosting._boostcluster._consensus import promising_starts
from mustlink.boosting._boostcluster._links import LinkSet
from mustlink.boosting._coassociation import CoAssociation
from mustlink.boosting._code_kmeans import assign, compute_centers, start_labels
from mustlink.kmeans import COPKMeans

__all__ = ["list_starts", "starts_from_components"]

N_RUNS_STARTED = 3
# With more linked rows, other starts would take longer than all other steps together, and so many links leave little to
# the start.
MAX_ROWS_STARTED = 20_000
MAX_ITER_STARTED = 20


def list_starts(
    rows: CoAssociation, labels: Ints, n_clusters: int, links: LinkSet, seed: int, last: Ints | None = None
) -> list[Ints]:
    """Return labels to start from: the given ones, then those from components if there are any, then others.

    The labels of the last fit, if there are any, were the best of all starts and take the place of runs.
    """
    starts = [labels]
    if len(links.rows) > MAX_ROWS_STARTED:
        return starts
    if starts_from_components(links):
        starts.append(start_from_components(rows, n_clusters, links, seed))
    if last is not None and last.min() >= 0 and last.max() < n_clusters:
        return [*starts, last]
    for column in promising_starts(rows, n_clusters)[:N_RUNS_STARTED]:
        start = start_labels(rows, column, n_clusters)
        # Runs with noise or fewer clusters leave rows without a label.
        starts.append(assign(rows, compute_centers(rows, start, n_clusters), start)[0])
    return starts


def starts_from_components(links: LinkSet) -> bool:
    """Whether the second start is that from must-link components."""
    return bool(links.is_must.any()) and len(links.rows) <= MAX_ROWS_STARTED


def start_from_components(rows: CoAssociation, n_clusters: int, links: LinkSet, seed: int) -> Ints:
    """Run COP-KMeans on the co-association from the means of must-link components that are far apart."""
    table = rows.embed(min(2 * n_clusters, rows.n_samples))
    model = COPKMeans(
        n_clusters, init="components", max_iter=MAX_ITER_STARTED, on_infeasible="relax", random_state=seed
    )
    with warnings.catch_warnings():
        # Links that cannot all be kept, equal codes, or a run that is cut short do not matter for a start.
        warnings.simplefilter("ignore")
        return np.asarray(model.fit(table, constraints=links.constraints()).labels_, dtype=np.int64)
