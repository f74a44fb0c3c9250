"""Certain links: a consensus that keeps all of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from mustlink.base import refuse_contradictions, refuse_infeasible, refuse_large_groups
from mustlink.boosting._boostcluster._consensus import Consensus
from mustlink.boosting._boostcluster._links import LinkSet
from mustlink.boosting._boostcluster._subsample import subsample_with_linked
from mustlink.boosting._code_kmeans import take_rows
from mustlink.boosting._robust._following import should_follow_linked
from mustlink.boosting._robust._resolution import ResolvedConsensus
from mustlink.constraints import Constraints
from mustlink.errors import InfeasibleError
from mustlink.inference import Marginals
from mustlink.kmeans import COPKMeans

__all__ = ["check_certain", "check_certain_groups", "feasible_number", "keep_links"]


def check_certain(links: Constraints, n_clusters: int | None, n_samples: int) -> None:
    """Refuse links that no clustering can keep; None is a number of clusters that the base finds."""
    with without_relaxing():
        refuse_contradictions(links, soft="estimate_trust")
        if n_clusters is not None:
            feasibility = links.feasible(n_clusters, n_samples)
            # If the search ran out of budget, COP-KMeans may still find a way.
            if feasibility.answer is False:
                refuse_infeasible(feasibility, soft="estimate_trust")


def check_certain_groups(links: Constraints, n_clusters: int | None, n_samples: int) -> None:
    """Refuse groups of more rows than clusters, by their names; later there are only pairs."""
    with without_relaxing():
        refuse_large_groups(links, n_clusters, n_samples, soft="estimate_trust")


@contextmanager
def without_relaxing() -> Iterator[None]:
    """Leave the remedy of COP-KMeans out of errors, a parameter that boosting does not have."""
    try:
        yield
    except InfeasibleError as error:
        raise error.without_remedies("relax") from None


def feasible_number(links: Constraints, n_clusters: int, n_samples: int) -> int:
    """Return the number of clusters nearest to a given one with which links that do not contradict can be kept."""
    number = max(n_clusters, 1)
    while (feasibility := links.feasible(number, n_samples)).answer is False:
        number = number - 1 if feasibility.too_many_clusters else max(number + 1, feasibility.min_clusters or 0)
    return number


def keep_links(consensus: Consensus, links: LinkSet, n_clusters: int, seed: int) -> Consensus:
    """Run COP-KMeans on the co-association from several starts, and assign the rows in no link."""
    kernel = consensus.kernel
    shown = subsample_with_linked(links, kernel.n_samples)
    some, among = take_rows(kernel, shown), links.among(shown)
    table = some.embed(min(2 * n_clusters, some.n_samples))
    starts: list[Any] = ["components", "k-means++"]
    if np.unique(consensus.labels[shown]).tolist() == list(range(n_clusters)):
        starts.append(
            np.array([table[consensus.labels[shown] == cluster].mean(axis=0) for cluster in range(n_clusters)])
        )
    models = [COPKMeans(n_clusters, init=start, random_state=seed) for start in starts]
    with without_relaxing():
        fitted = [model.fit(table, constraints=among.constraints()) for model in models]
    best = min(fitted, key=lambda model: model.inertia_)
    follows = should_follow_linked(some, best.labels_.astype(np.int64), among, n_clusters)
    labels = np.full(kernel.n_samples, -1, dtype=np.int64)
    labels[shown] = best.labels_
    certain = Marginals(np.eye(n_clusters)[labels[links.rows]], np.ones(len(links)))
    return ResolvedConsensus.of(kernel, labels, links, certain, consensus.blocks, follows_linked=follows)
