"""Links weighed against distances from several starts, and which of the results is taken.

`_resolution.py` has the weighing from one start.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import expit, pdtrc

from mustlink._types import Ints
from mustlink.boosting._boostcluster._consensus import Consensus
from mustlink.boosting._boostcluster._links import LinkSet
from mustlink.boosting._boostcluster._subsample import subsample_with_linked
from mustlink.boosting._coassociation import CoAssociation
from mustlink.boosting._code_kmeans import compute_centers, take_rows
from mustlink.boosting._robust._following import should_follow_linked, sum_of_linked
from mustlink.boosting._robust._link_odds import MIN_PRIOR_ERROR, prior_log_odds
from mustlink.boosting._robust._misplaced import count_misplaced, misplaced_fraction
from mustlink.boosting._robust._resolution import ResolvedConsensus, resolve_links
from mustlink.boosting._robust._starts import list_starts, starts_from_components
from mustlink.inference import Marginals

__all__ = ["weigh_links"]

# With a smaller fraction, the start that leads to the fewest broken links is taken, not that of the lowest cost, and
# rows in no link may follow the linked rows, unless the links are loose.
MAX_ERROR_KEPT = 0.1
# Links are loose if their rows are in fewer than 4/3 of a link in the mean. They can be satisfied by moving single
# rows, and do not say where the clusters are: misplaced rows and the distances of all rows count, too. Answers to
# questions hang together, and have hardly more rows than links.
MIN_ROWS_PER_LOOSE_LINK = 1.5
# So few must-link components for each cluster are the answers to questions, and not random links.
MAX_COMPONENTS_PER_CLUSTER = 2
# Components as they are may cost this many times as much as the best other result. With a wrong link, which joins rows
# of two clusters, they cost more. They may cost anything if the other result breaks more links than can be wrong: so
# many would be wrong with a lower probability than this.
MAX_COMPONENTS_COST = 1.2
MIN_CHANCE_OF_WRONG = 0.05
# If more links seem wrong, the linked rows may be this many times as far from the centers as in the nearest other
# result. With right links that are hard it was mostly 1.1 to 1.8 times, with a fifth of wrong ones mostly over 1.8.
MAX_COMPONENTS_DISTANCE = 1.8
# So many linked rows may be misplaced, as a multiple of that of random clusters, for components to be kept as they are
# and for rows in no link to follow the linked ones.
MAX_MISPLACED_KEPT = 0.45
MAX_MISPLACED_FOLLOWED = 0.75
# Costs of two results that differ by less than this fraction differ by rounding.
ROUNDING = 1e-12

Result = tuple[Ints, Marginals]  # the labels of all given rows, and the marginals of the linked ones


def weigh_links(
    consensus: Consensus, links: LinkSet, penalty: float, log_odds: float, seed: int, last: Ints | None = None
) -> Consensus:
    """Weigh links against distances, and assign the rows in no link; a result with noise is not changed.

    This is done from several starts: the consensus, must-link components, and runs or, if there are any, the labels of
    the last fit. The start from components is a result as it is if it may be kept, and costs hardly more than the best
    other result, or if that breaks too many links.
    Of the results with the most clusters, the best has the lowest sum of distances and penalties. If few links seem
    wrong, or components that may be kept show that links are hard and not wrong, it is the best of those that break the
    fewest links, and only the distances of linked rows count: those of the others are lowest if large clusters are
    divided, and small ones, which the links tell apart, are not found. Loose links do not tell them apart either: of
    these a misplaced row counts as much as a broken link, and the distances of all rows count.
    """
    if penalty <= 0 or consensus.labels.max() < 1 or (consensus.labels < 0).any():
        return consensus
    kernel = consensus.kernel
    shown = subsample_with_linked(links, kernel.n_samples)
    some, among = take_rows(kernel, shown), links.among(shown)
    n_clusters = int(consensus.labels.max()) + 1
    starts = list_starts(some, consensus.labels[shown], n_clusters, among, seed, None if last is None else last[shown])
    results = [resolve_links(some, start, among, penalty, log_odds, n_clusters) for start in starts]
    components = starts[1] if starts_from_components(among) else None
    # The subsample stands for all rows, but the links of all rows are in it.
    share = len(shown) / consensus.n_rows
    found, marginals, follows = choose_result(some, results, components, among, penalty, log_odds, share)
    labels = consensus.labels.copy()
    labels[shown] = found
    return ResolvedConsensus.of(
        kernel, labels, links, marginals, consensus.blocks, consensus.others, follows_linked=follows
    )


def choose_result(
    rows: CoAssociation,
    results: list[Result],
    components: Ints | None,
    links: LinkSet,
    penalty: float,
    log_odds: float,
    share: float,
) -> tuple[Ints, Marginals, bool]:
    """Return the best result, and whether rows in no link follow the linked ones.

    `components` are the labels of the start from must-link components, if there is one, and `share` is the fraction of
    all rows that are given.
    """
    n_clusters = results[0][1].rows.shape[1]
    loose = are_loose(links)
    keeps = (
        not loose
        and components is not None
        and may_keep_components(rows, components, [labels for labels, _ in results], links, log_odds, n_clusters)
    )
    few_seem_wrong = keeps or log_odds > prior_log_odds(MAX_ERROR_KEPT)
    by_linked = few_seem_wrong and not loose
    counted = links.rows if by_linked else np.arange(rows.n_samples)
    broken_cost = penalty * log_odds * (1.0 if by_linked else share)
    costs = np.array([cost_of(rows, labels, counted, links, broken_cost, n_clusters) for labels, _ in results])
    if keeps and components is not None:
        cost = cost_of(rows, components, counted, links, broken_cost, n_clusters)
        best_other = results[int(np.argmin(costs))][0]
        if cost <= MAX_COMPONENTS_COST * costs.min() or breaks_too_many(best_other, links, log_odds):
            results = [
                *results,
                (components, Marginals(np.eye(n_clusters)[components[links.rows]], np.ones(len(links)))),
            ]
            costs = np.append(costs, cost)
    # Must-links that join everything would leave fewer clusters than asked for.
    n_used = np.array([len(np.unique(labels)) for labels, _ in results])
    costs[n_used < n_used.max()] = np.inf
    if few_seem_wrong:
        broken = np.array([links.broken_weight(labels) for labels, _ in results])
        if loose:
            broken += [count_misplaced(rows, labels, links, n_clusters) for labels, _ in results]
        costs[broken > broken[np.isfinite(costs)].min() + ROUNDING] = np.inf
    equal = np.flatnonzero(costs <= costs.min() + ROUNDING * np.abs(costs.min()))
    best = [(*results[place], by_linked and may_follow(rows, results[place][0], links)) for place in equal]
    return best[nearest_to_linked(rows, best, links)]


def are_loose(links: LinkSet) -> bool:
    """Whether linked rows have few links in the mean, so that most of them are in one link only."""
    return len(links.rows) > MIN_ROWS_PER_LOOSE_LINK * len(links)


def may_keep_components(
    rows: CoAssociation, labels: Ints, others: Sequence[Ints], links: LinkSet, log_odds: float, n_clusters: int
) -> bool:
    """Whether labels from must-link components may be a result as they are: they must keep all links.

    Few linked rows may be misplaced. How many links may seem wrong:

    - hardly one, in general;
    - a few, if the components are few;
    - any number, if the components are few and the linked rows are hardly farther from the centers than with `others`,
      labels that were found by weighing links against distances.
    """
    if links.broken_weight(labels) or misplaced_fraction(rows, labels, links) > MAX_MISPLACED_KEPT:
        return False
    if log_odds >= prior_log_odds(MIN_PRIOR_ERROR):
        return True
    if count_components(links) > MAX_COMPONENTS_PER_CLUSTER * n_clusters:
        return False
    if log_odds > prior_log_odds(MAX_ERROR_KEPT):
        return True
    distance, *rest = (cost_of(rows, found, links.rows, links, 0.0, n_clusters) for found in (labels, *others))
    return distance <= MAX_COMPONENTS_DISTANCE * min(rest)


def breaks_too_many(labels: Ints, links: LinkSet, log_odds: float) -> bool:
    """Whether labels break more links than can be wrong if `log_odds` are those of a correct link."""
    n_broken = int((links.together(labels) != links.is_must).sum())
    return n_broken > 0 and float(pdtrc(n_broken - 1, len(links) * expit(-log_odds))) < MIN_CHANCE_OF_WRONG


def may_follow(rows: CoAssociation, labels: Ints, links: LinkSet) -> bool:
    """Whether rows in no link follow the linked ones: these are nearer to the centers then, and few are misplaced."""
    if misplaced_fraction(rows, labels, links) > MAX_MISPLACED_FOLLOWED:
        return False
    return should_follow_linked(rows, labels, links, int(labels.max()) + 1)


def nearest_to_linked(rows: CoAssociation, results: Sequence[tuple[Ints, Marginals, bool]], links: LinkSet) -> int:
    """Return the place of the result in which linked rows are nearest to the centers of all rows in the end.

    Results with the same clusters of linked rows differ in those of the other rows, and in clusters without a linked
    row. The results are labels, marginals, and whether rows in no link follow the linked ones. Of equal ones it is the
    first.
    """
    if len(results) == 1:
        return 0
    sums = []
    for labels, marginals, follows in results:
        final = ResolvedConsensus.of(rows, labels, links, marginals, follows_linked=follows)
        centers = compute_centers(rows, final.labels, final.n_clusters)
        sums.append(sum_of_linked(rows, centers, final.labels, links))
    return int(np.argmax(np.array(sums) <= min(sums) + ROUNDING * len(links.rows)))


def count_components(links: LinkSet) -> int:
    """Return the number of must-link components of more than one row."""
    return int((np.bincount(links.among_linked().components(len(links.rows))) > 1).sum())


def cost_of(
    rows: CoAssociation, labels: Ints, counted: Ints, links: LinkSet, broken_cost: float, n_clusters: int
) -> float:
    """Return the sum of squared distances of the counted rows to their centers, and of the penalties of broken links.

    The centers are those of the counted rows.
    """
    distances = compute_centers(take_rows(rows, counted), labels[counted], n_clusters).objective
    return distances + broken_cost * links.broken_weight(labels)
