"""The examples of the chapter on existential constraints, and adult in groups of at least k rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import make_blobs

from mustlink._types import Array, Floats, Indices, Ints
from mustlink.constraints import Constraints
from mustlink.reproduce.engine._claims import NO_RESULTS, Claim, Verdict, join_words, missing_methods
from mustlink.reproduce.engine._figures import Figure, LineStyle, curve_panels
from mustlink.reproduce.engine._methods import Labeling, Method
from mustlink.reproduce.engine._problem import DataSet, Problem, standardize
from mustlink.reproduce.engine._protocol import Part, Protocol, RunPlan
from mustlink.reproduce.engine._results import Results, Run
from mustlink.reproduce.engine._tables import Table, number_text
from mustlink.sizes import ExistentialKMeans, assign
from mustlink.sizes.core import Items, schedule_moves

PAPER = "ch16"
ROAD, BLOBS, ADULT = "road", "blobs100", "adult"
# The numeric columns of adult: age, final weight, years of education, capital gain and loss, hours per week.
NUMERIC = (0, 2, 4, 10, 11, 12)
N_CLUSTERS = 5
# With 100 rows and 5 clusters: loose, tight, and no row to spare.
THRESHOLDS = (10, 18, 20)
TIGHT = (18, 20)
GROUP_SIZES = (5, 10, 25, 50)
MAX_ITER = 300
# A dispersion counts as lower if it is by this fraction.
LOWER = 1e-9

ROAD_METHOD, GRAPH, CYCLE = "four customers", "worked example", "two-cluster deadlock"
PHASE_A, BOTH, LOOK_AHEAD, FLOW_TRIAL = "phase A", "phases A and B", "phases A and B, look-ahead", "flow, same starts"
RANDOM, LOOK_AHEAD_2, FLOW, MDAV = "pivot, random", "pivot, look-ahead 2", "flow", "MDAV"
STYLES = {RANDOM: LineStyle(0), LOOK_AHEAD_2: LineStyle(1, "--"), FLOW: LineStyle(2), MDAV: LineStyle(3, ":")}


def make_road() -> tuple[Array, Ints]:
    """Three customers at one end of a road, and one at the other."""
    return np.array([[0.0], [1.0], [2.0], [50.0]]), np.array([0, 0, 0, 1])


def make_three_blobs() -> tuple[Array, Ints]:
    """100 points in three blobs of 60, 25 and 15."""
    X, blob = make_blobs([60, 25, 15], 2, random_state=0)
    return X, blob


def numeric_columns(X: Array) -> Array:
    """Return the numeric columns of adult, scaled to mean 0 and variance 1."""
    return standardize(X[:, NUMERIC].astype(np.float64))


SETS = (
    DataSet(ROAD, "four customers", make=make_road),
    DataSet(BLOBS, "three blobs", make=make_three_blobs),
    DataSet(ADULT, "adult", numeric_columns),
)


def no_links(y: Ints, run: Run) -> Constraints:
    """The chapter has no links."""
    return Constraints()


def fit_road(problem: Problem) -> Labeling:
    """Cluster with at least two rows in both clusters; also ask whether any such clustering has all rows nearest."""
    X = problem.X[:4]
    sizes = []
    for method in ("pivot", "flow"):
        model = ExistentialKMeans(2, pivot_min=2, method=method, random_state=problem.seed).fit(X)
        sizes += sorted(np.bincount(model.labels_, minlength=2).tolist())
    splits = [np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.array([0, 1, 1, 0])]
    return Labeling(
        np.zeros(len(problem.y), dtype=np.int64),
        {"sizes": sizes, "n_nearest": sum(has_nearest_representatives(X, labels) for labels in splits)},
    )


def has_nearest_representatives(X: Array, labels: Ints) -> bool:
    """Return whether every row is nearest to the mean of its own cluster."""
    costs = squared_distances(X, cluster_means(X, labels, int(labels.max()) + 1))
    return bool((costs.argmin(axis=1) == labels).all())


def fit_worked_example(problem: Problem) -> Labeling:
    """The chapter's pivot-movement graph: at least 50 pivots in each cluster, and three pivots that want to move."""
    counts = np.array([52, 50, 51, 50, 60])
    moves = {"o3": (0, 1), "o8": (1, 2), "o12": (2, 3)}
    facts: dict[str, Any] = {}
    for name, wanted in {"o3": ["o3"], "o8": ["o8"], "o12": ["o12"], "o3_o8": ["o3", "o8"]}.items():
        source, target = np.array([moves[pivot] for pivot in wanted]).T
        facts[f"after_{name}"] = counts_after(counts, 50, source, target).tolist()
    return Labeling(np.zeros(len(problem.y), dtype=np.int64), facts)


def counts_after(counts: Ints, t: int, source: Indices, target: Indices) -> Ints:
    """Return the counts after the moves of phases A and B, each pivot with a gain of one."""
    items = Items.of_one_kind(source, target, np.ones(len(source)))
    found = schedule_moves(items, counts[:, None], np.full((len(counts), 1), t), np.random.RandomState(0))
    after = counts.copy()
    np.add.at(after, source, -found.moved)
    np.add.at(after, target, found.moved)
    return after


def fit_deadlock(problem: Problem) -> Labeling:
    """Two clusters without a pivot to spare, each with two pivots that are nearer to the other."""
    items = Items.of_one_kind(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]), np.array([1.0, 2.0, 3.0, 1.0]))
    full = np.full((2, 1), 50)
    found = schedule_moves(items, full, full, np.random.RandomState(0))
    facts = {"moved": int(found.moved.sum()), "steps_a": found.n_steps_a, "steps": len(np.unique(found.step))}
    return Labeling(np.zeros(len(problem.y), dtype=np.int64), facts)


def fit_refined(move: Callable[..., tuple[Indices, int, int]], problem: Problem) -> Labeling:
    """Refine a random valid clustering, the same for all methods of a trial, and record what moves."""
    X, t = problem.X, int(problem.amount)
    labels = np.random.RandomState(problem.shared_seed).permutation(np.arange(len(X)) % N_CLUSTERS)
    rng = np.random.RandomState(problem.seed)
    history: list[float] = []
    moved_a = moved_b = 0
    is_valid = True
    for _ in range(MAX_ITER):
        costs = squared_distances(X, cluster_means(X, labels, N_CLUSTERS))
        history.append(float(costs[np.arange(len(X)), labels].sum()))
        refined, in_a, in_b = move(costs, labels, t, rng)
        moved_a, moved_b = moved_a + in_a, moved_b + in_b
        is_valid = is_valid and bool((np.bincount(refined, minlength=N_CLUSTERS) >= t).all())
        if np.array_equal(refined, labels):
            break
        labels = refined
    falls = bool(np.all(np.diff(history) <= LOWER * history[0]))
    facts = {"dispersion": history[-1], "first": history[0], "moved_a": moved_a, "moved_b": moved_b}
    return Labeling(labels, facts | {"is_valid": is_valid, "falls": falls})


def move_on_graph(
    costs: Floats, labels: Indices, t: int, rng: np.random.RandomState, **options: Any
) -> tuple[Indices, int, int]:
    """Move rows on the pivot-movement graph; return the labels, and how many moved in each phase."""
    nearest, rows = costs.argmin(axis=1), np.arange(len(costs))
    gain = costs[rows, labels] - costs[rows, nearest]
    unstable = np.flatnonzero(gain > LOWER * costs.max())
    items = Items.of_one_kind(labels[unstable], nearest[unstable], gain[unstable])
    counts = np.bincount(labels, minlength=N_CLUSTERS)[:, None]
    found = schedule_moves(items, counts, np.full_like(counts, t), rng, **options)
    refined = labels.copy()
    refined[unstable[found.moved > 0]] = nearest[unstable[found.moved > 0]]
    in_a = int((found.step < found.n_steps_a).sum())
    return refined, in_a, len(found.step) - in_a


def move_by_flow(costs: Floats, labels: Indices, t: int, rng: np.random.RandomState) -> tuple[Indices, int, int]:
    """Take the cheapest valid assignment, or the labels as they are if it costs the same."""
    best = assign(costs, size_min=t)
    rows = np.arange(len(costs))
    is_lower = best.cost(costs) < costs[rows, labels].sum() * (1 - LOWER)
    return (best.labels if is_lower else labels), 0, 0


def fit_groups(problem: Problem, **options: Any) -> Labeling:
    """Make as many groups of at least k rows as there can be, with k the amount of the run."""
    X, k = problem.X, int(problem.amount)
    model = ExistentialKMeans(len(X) // k, pivot_min=k, random_state=problem.shared_seed, **options).fit(X)
    return measure_groups(X, model.labels_, k)


def fit_mdav(problem: Problem) -> Labeling:
    """Make groups of k rows by micro-aggregation: k rows around the farthest from the mean, again and again.

    Each time a second group is made around the row that is farthest from the first.
    """
    X, k = problem.X, int(problem.amount)
    labels = np.zeros(len(X), dtype=np.int64)
    left, n_groups = np.arange(len(X)), 0
    while len(left) >= 2 * k:
        around = farthest(X, left, X[left].mean(axis=0))
        for _ in range(2 if len(left) >= 3 * k else 1):
            distance = np.square(X[left] - X[around]).sum(axis=1)
            group = left[np.argsort(distance, kind="stable")[:k]]
            labels[group] = n_groups
            left, n_groups = np.setdiff1d(left, group), n_groups + 1
            around = farthest(X, left, X[around])
    labels[left] = n_groups
    return measure_groups(X, labels, k)


def farthest(X: Array, rows: Indices, point: Array) -> int:
    """Return the row that is farthest from a point."""
    return int(rows[np.square(X[rows] - point).sum(axis=1).argmax()])


def measure_groups(X: Array, labels: Ints, k: int) -> Labeling:
    """Return labels with the share of the sum of squares that is lost, and the size of the smallest group."""
    sizes = np.bincount(labels)
    lost = float(np.square(X - cluster_means(X, labels, len(sizes))[labels]).sum())
    total = float(np.square(X - X.mean(axis=0)).sum())
    return Labeling(labels, {"loss": lost / total, "smallest": int(sizes.min()), "k": k})


def squared_distances(X: Array, centers: Array) -> Floats:
    """Return the squared distance of every row to every center."""
    return np.asarray(np.square(X[:, None] - centers[None]).sum(axis=2))


def cluster_means(X: Array, labels: Indices, n_clusters: int) -> Array:
    """Return the mean of every cluster."""
    return np.array([X[labels == cluster].mean(axis=0) for cluster in range(n_clusters)])


EXAMPLES: dict[str, Method] = {ROAD_METHOD: fit_road, GRAPH: fit_worked_example, CYCLE: fit_deadlock}
TRIAL: dict[str, Method] = {
    PHASE_A: partial(fit_refined, partial(move_on_graph, deadlocks=False)),
    BOTH: partial(fit_refined, move_on_graph),
    LOOK_AHEAD: partial(fit_refined, partial(move_on_graph, heuristic="lookahead")),
    FLOW_TRIAL: partial(fit_refined, move_by_flow),
}
GROUPS: dict[str, Method] = {
    RANDOM: partial(fit_groups, method="pivot"),
    LOOK_AHEAD_2: partial(fit_groups, method="pivot", heuristic="lookahead"),
    FLOW: fit_groups,
    MDAV: fit_mdav,
}
METHODS: dict[str, Method] = {**EXAMPLES, **TRIAL, **GROUPS}


def example_runs(plan: RunPlan) -> Iterator[Run]:
    """Each example once."""
    yield from plan.runs(PAPER, EXAMPLES, datasets=[ROAD], amounts=[2], trials=1)


def trial_runs(plan: RunPlan) -> Iterator[Run]:
    """All ways of refining, from the same random starts, with three thresholds."""
    yield from plan.runs(PAPER, TRIAL, datasets=[BLOBS], amounts=THRESHOLDS)


def group_runs(plan: RunPlan) -> Iterator[Run]:
    """Adult in groups of four sizes."""
    yield from plan.runs(PAPER, GROUPS, datasets=[ADULT], amounts=GROUP_SIZES)


def trial_tables(results: Results) -> Iterator[Table]:
    """The mean dispersion of each way of refining, by threshold."""
    found = results.select(dataset=BLOBS)
    thresholds = found.amounts()
    rows = tuple(
        (method, *(number_text(found.mean("dispersion", method=method, amount=t), 1) for t in thresholds))
        for method in TRIAL
        if len(found.select(method=method))
    )
    header = ("method", *(f"at least {t:g} of 100" for t in thresholds))
    note = "A prototype had 171.7, 154.5 and, with the flow, 79.2 with at least 18, on other points."
    yield Table("trial", "Mean dispersion after refining random valid clusterings", header, rows, note)


def group_tables(results: Results) -> Iterator[Table]:
    """What groups of at least k rows cost on adult."""
    found, rows = results.select(dataset=ADULT), []
    for k in found.amounts():
        for method in (name for name in GROUPS if len(found.select(method=name, amount=k))):
            of_cell = found.select(method=method, amount=k)
            kept = sum(smallest >= k for smallest in of_cell.values("smallest"))
            figures = (number_text(of_cell.mean("loss"), 4), number_text(of_cell.mean("seconds"), 2))
            rows.append((f"k = {k:g}", method, *figures, f"{kept} of {len(of_cell)}"))
    header = ("groups", "method", "dispersion / total sum of squares", "seconds", "valid")
    yield Table("adult", "Adult: as many groups of at least k rows as there can be", header, tuple(rows))


def group_figures(results: Results) -> Iterator[Figure]:
    """The loss against the size of the groups."""
    found = results.select(dataset=ADULT)
    axis_titles = ("least size of a group, k", "dispersion / total sum of squares")
    yield Figure(
        "adult",
        "Adult: what groups of at least k rows cost.",
        partial(curve_panels, found, "loss", {ADULT: "adult"}, STYLES, axis_titles=axis_titles),
    )


def judge_road(results: Results) -> Verdict:
    """No valid split has every customer nearest; the result is valid."""
    found = results.select(method=ROAD_METHOD)
    if not len(found):
        return NO_RESULTS
    sizes, n_nearest = found.values("sizes")[0], found.values("n_nearest")[0]
    sentence = (
        f"{n_nearest} of 3 splits into 2 + 2 have all customers nearest to their own mean; the clusters have "
        f"{join_words(map(str, sizes[:2]))} rows with moves, {join_words(map(str, sizes[2:]))} with the flow."
    )
    return Verdict(n_nearest == 0 and sizes == [2] * 4, sentence)


def judge_worked_example(results: Results) -> Verdict:
    """The counts after each move are those of the chapter."""
    found = results.select(method=GRAPH)
    if not len(found):
        return NO_RESULTS
    expected = {
        "after_o3": [51, 51, 51, 50, 60],
        "after_o8": [52, 50, 51, 50, 60],
        "after_o12": [52, 50, 50, 51, 60],
        "after_o3_o8": [51, 50, 52, 50, 60],
    }
    ours = {name: found.values(name)[0] for name in expected}
    sentence = (
        f"After pivot 3 the clusters have {spell(ours['after_o3'])} pivots, and with pivot 8 as well "
        f"{spell(ours['after_o3_o8'])}; pivot 8 alone stays ({spell(ours['after_o8'])}); after pivot 12 they have "
        f"{spell(ours['after_o12'])}."
    )
    return Verdict(ours == expected, sentence)


def spell(counts: Sequence[int]) -> str:
    """Write counts for a sentence."""
    return ", ".join(map(str, counts))


def judge_deadlock(results: Results) -> Verdict:
    """One resolution moves all four pivots."""
    found = results.select(method=CYCLE)
    if not len(found):
        return NO_RESULTS
    moved, steps_a, steps = (found.values(name)[0] for name in ("moved", "steps_a", "steps"))
    return Verdict(
        (moved, steps_a, steps) == (4, 0, 1), f"{moved} pivots moved in {steps} step, {steps_a} of them in phase A."
    )


def judge_both_phases(results: Results) -> Verdict:
    """Phase B lowers the dispersion beyond phase A where constraints are tight, and phase A has its part."""
    found = results.select(dataset=BLOBS)
    if missing := missing_methods(found, (PHASE_A, BOTH)):
        return missing
    parts, held = [], True
    for t in (amount for amount in found.amounts() if amount in TIGHT):
        alone, both = (found.mean("dispersion", method=method, amount=t) for method in (PHASE_A, BOTH))
        held = held and both < alone
        parts.append(f"{alone:.1f} to {both:.1f} with at least {t:g} rows in each cluster")
    moved = found.mean("moved_a", method=BOTH, amount=18)
    held = held and moved > 0
    return Verdict(
        held, f"The mean dispersion falls from {join_words(parts)}; {moved:.1f} rows move in phase A with 18."
    )


def judge_tight(results: Results) -> Verdict:
    """Without a row to spare phase A makes no move."""
    found = results.select(dataset=BLOBS, method=BOTH, amount=20)
    if not len(found):
        return NO_RESULTS
    moved = sum(found.values("moved_a"))
    lowered = sum(after < before for after, before in zip(*map(found.values, ("dispersion", "first")), strict=True))
    held = moved == 0 and lowered == len(found)
    return Verdict(held, f"{moved} moves in phase A in {len(found)} runs; phase B lowers the dispersion in {lowered}.")


def judge_trial(results: Results) -> Verdict:
    """All runs stay valid and fall, and the flow ends lower than both phases."""
    found = results.select(dataset=BLOBS)
    if missing := missing_methods(found, (PHASE_A, BOTH, FLOW_TRIAL)):
        return missing
    sound = all(found.values("is_valid")) and all(found.values("falls"))
    by_flow, both = (found.mean("dispersion", method=method, amount=18) for method in (FLOW_TRIAL, BOTH))
    word = "All" if sound else "Not all"
    sentence = f"{word} {len(found)} runs are valid and fall; with at least 18, {by_flow:.1f} against {both:.1f}."
    return Verdict(sound and by_flow < both, sentence)


def judge_groups(rivals: Sequence[str], results: Results) -> Verdict:
    """On adult all groups have k rows, and the flow loses less than its rivals."""
    found = results.select(dataset=ADULT)
    if missing := missing_methods(found, (FLOW, *rivals)):
        return missing
    valid = all(smallest >= k for smallest, k in zip(*map(found.values, ("smallest", "k")), strict=True))
    parts, held = [], valid
    for k in found.amounts():
        ours, *theirs = (found.mean("loss", method=method, amount=k) for method in (FLOW, *rivals))
        held = held and ours <= min(theirs) * (1 + LOWER)
        parts.append(f"{ours:.4f} against {join_words(f'{loss:.4f}' for loss in theirs)} (k = {k:g})")
    word = "All groups are large enough" if valid else "Some groups are too small"
    return Verdict(held, f"{word}; the share lost is {join_words(parts)}.")


PROTOCOL = Protocol(
    name=PAPER,
    title="Existential constraints: clusters that each have enough of a kind",
    source=(
        "A. K. H. Tung, J. Han, L. V. S. Lakshmanan and R. T. Ng, Privacy-Preserving Data Publishing: A "
        "Constraint-Based Clustering Approach, in: Constrained Clustering, 2009, chapter 16."
    ),
    intro=(
        "The chapter has examples and no tables of results. Each example is computed. In the worked example the "
        "printed constraint, at most 50, has to be at least 50. The trial refines random valid clusterings of 100 "
        "points in three blobs of 60, 25 and 15 into five clusters, in four ways. Adult is its six numeric columns, "
        "standardized, on a random draw of rows, in as many groups of at least k rows as there can be; all methods of "
        "a draw have the same first centers, but for MDAV, which is micro-aggregation around the farthest rows. Claims "
        "C6 to C8 are not the chapter's."
    ),
    datasets=SETS,
    methods=METHODS,
    draw=no_links,
    parts=(
        Part(
            "examples",
            example_runs,
            claims=(
                Claim(
                    "C2",
                    "Three customers at one end of a road and one at the other, in two clusters of at least two: no "
                    "clustering has every customer with the nearest representative.",
                    judge_road,
                ),
                Claim(
                    "C4",
                    "Moving pivot 3 makes cluster 2 a surplus cluster and frees pivot 8; moving pivot 12 takes the "
                    "surplus from cluster 3 to cluster 4.",
                    judge_worked_example,
                ),
                Claim("C5", "Two clusters without surplus swap two pivots each in one resolution.", judge_deadlock),
            ),
        ),
        Part(
            "trial",
            trial_runs,
            trial_tables,
            claims=(
                Claim(
                    "C1", "Both phases are valuable; resolving deadlocks helps with tight limits.", judge_both_phases
                ),
                Claim(
                    "C3",
                    "With 100 rows, five clusters and at least 20 in each, moves out of surplus clusters do nothing.",
                    judge_tight,
                ),
                Claim(
                    "C6",
                    "(Ours.) All ways stay valid and never raise the dispersion; the flow ends lower than both phases.",
                    judge_trial,
                ),
            ),
        ),
        Part(
            "adult",
            group_runs,
            group_tables,
            group_figures,
            claims=(
                Claim(
                    "C7",
                    "(Ours.) On adult all groups are large enough, and the flow loses less than both ways of moving.",
                    partial(judge_groups, (RANDOM, LOOK_AHEAD_2)),
                ),
                Claim("C8", "(Ours.) On adult the flow loses less than MDAV.", partial(judge_groups, (MDAV,))),
            ),
        ),
    ),
    quick=RunPlan(
        (ROAD, BLOBS, ADULT),
        (),
        trials=5,
        rows=509,
        special_trials={BLOBS: 100},
        note="Quick run: 100 starts of the trial, 5 draws of 509 rows of adult, so that a few are to spare.",
    ),
    full=RunPlan(
        (ROAD, BLOBS, ADULT),
        (),
        trials=10,
        rows=4009,
        special_trials={BLOBS: 1000},
        note="1,000 starts of the trial, 10 draws of 4,009 rows of adult.",
    ),
)
