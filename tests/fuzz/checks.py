"""What must hold of every fit, and of fits of the same problem in another form."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from fuzz.facts import Facts, are_together
from fuzz.fits import Fit, fit
from fuzz.methods import (
    can_keep_links,
    documented_refusals,
    ignores_row_order,
    keeps_sizes_first,
    may_call_noise,
    may_miss_clustering,
    may_miss_number,
    may_refuse,
    n_clusters_of,
    relaxes,
    size_bounds,
)
from fuzz.problems import UNKNOWN, Problem
from mustlink import Constraints
from mustlink._estimators import takes_links
from mustlink.errors import ApproximationWarning, InfeasibleError, InfeasibleWarning, UnmetConstraintsWarning
from mustlink.estimator_checks._cases import is_hard

# A kind, by which findings are counted, and a sentence.
Found = Iterator[tuple[str, str]]

DOCUMENTED = (UnmetConstraintsWarning, InfeasibleWarning, ConvergenceWarning, ApproximationWarning)
# The share of problems on which a model is fitted again; a clone is fitted on all.
SECOND_FIT_EVERY = 3
# A link is suspect if it is more likely wrong than right.
MAX_TRUST_OF_SUSPECT = 0.5


def check_links(facts: Facts) -> Found:
    """Compare the links with their naive reading, `conflicts` with chains, and `feasible` with trying everything."""
    problem = facts.problem
    links, turned = problem.constraints, problem.with_turned_links().constraints
    if links != turned:
        yield "order of links", "the same links in the reverse order are other links"
    for name, pairs, weights, expected in (
        ("must-links", links.must_link, links.must_link_weight, facts.must_link),
        ("cannot-links", links.cannot_link, links.cannot_link_weight, facts.cannot_link),
    ):
        found = dict(zip(map(tuple, pairs.tolist()), weights.tolist(), strict=True))
        if list(found) != expected:
            yield "links", f"the {name} are {list(found)}, not {expected}"
        elif any(not np.isclose(found[pair], abs(facts.balance[pair]), rtol=1e-12) for pair in found):
            yield "links", f"the weights of the {name} are {found}"
    conflicts = [conflict.cannot_link for conflict in links.conflicts()]
    if sorted(conflicts) != sorted(facts.conflicts):
        yield "conflicts", f"conflicts lists {conflicts}, and there are {facts.conflicts}"
    answer = links.feasible(problem.n_clusters, problem.n_rows).answer
    if answer != facts.links_are_feasible:
        yield "feasibility", f"feasible({problem.n_clusters}) says {answer}, and it is {facts.links_are_feasible}"


def check_model(model: Any, facts: Facts) -> Iterator[tuple[str, str] | Fit]:
    """Fit a model to a problem and check all; yield the first fit, and what is found."""
    first = fit(model, facts.problem)
    yield first
    yield from check_end(first, facts)
    yield from check_warnings(first, facts)
    if first.error is None:
        yield from check_labels(first)
        yield from check_sizes(first)
        if takes_links(model):
            yield from check_violations(first, facts)
            yield from check_hard_links(first, facts)
        yield from check_suspects(first)
        yield from check_prediction(first, facts.problem)
    yield from check_repetition(first, facts.problem)
    yield from check_moved_rows(first, facts)


def check_sizes(outcome: Fit) -> Found:
    """Clusters with bounds have sizes within them, whatever happens to the links."""
    model = outcome.model
    bounds = size_bounds(model, len(outcome.labels))
    if bounds is None or (relaxes(model) and not keeps_sizes_first(model)):
        return
    size_min, size_max = bounds
    sizes = np.bincount(outcome.labels, minlength=len(size_min))
    if (sizes < size_min).any() or (sizes > size_max).any():
        yield "sizes", f"the sizes are {sizes.tolist()}, not from {size_min} to {size_max}"


def check_end(outcome: Fit, facts: Facts) -> Found:
    """A fit succeeds, or ends with an error that is documented and true."""
    model, error = outcome.model, outcome.error
    refuses_links = is_hard(model) and not relaxes(model)
    possible = can_keep_links(model, facts) if refuses_links else True
    if error is None:
        if not possible:
            yield "missed infeasible", "no clustering keeps the links, and there was no InfeasibleError"
        return
    if isinstance(error, documented_refusals(model, facts)) or may_refuse(model, error):
        return
    message = f"{type(error).__name__}: {error}"
    if isinstance(error, InfeasibleError) and refuses_links:
        if possible:
            yield "false infeasible", message
    else:
        yield "error", message


def check_warnings(outcome: Fit, facts: Facts) -> Found:
    """No warnings but the documented ones, and these where they are due."""
    stray = {f"{type(found).__name__}: {found}" for found in outcome.warnings if not isinstance(found, DOCUMENTED)}
    for warning in sorted(stray):
        yield "stray warning", warning
    if outcome.error is not None or not takes_links(outcome.model):
        return
    model, broken = outcome.model, len(outcome.model.violations_)
    warned = outcome.has_warned(InfeasibleWarning)
    if warned and (not relaxes(model) or _finds_clustering(model, facts)):
        yield "false warning", f"the links can be kept, and the warnings are {outcome.warnings}"
    if broken and relaxes(model) and not warned:
        yield "missing warning", f"{broken} links are broken, and the warnings are {outcome.warnings}"


def check_labels(outcome: Fit) -> Found:
    """Labels are one integer per row, numbered from 0, and the number of clusters is the one asked for or said."""
    model, labels = outcome.model, outcome.model.labels_
    n_wanted = n_clusters_of(model)
    if not isinstance(labels, np.ndarray) or labels.dtype.kind != "i":
        yield "labels", f"labels_ is {labels!r}"
        return
    found = set(labels.tolist()) - ({UNKNOWN} if may_call_noise(model) else set())
    is_nearest = may_miss_number(model) and outcome.has_warned(ConvergenceWarning)
    allowed = set(range(len(found) if n_wanted is None or is_nearest else n_wanted))
    if not found <= allowed:
        yield "labels", f"the labels are {labels.tolist()}, of {n_wanted} clusters"
    stated = getattr(model, "n_clusters_", len(found))
    if stated != len(found):
        yield "number of clusters", f"n_clusters_ is {stated}, and the labels are {labels.tolist()}"
    if n_wanted is not None and len(found) < n_wanted and not outcome.has_warned(ConvergenceWarning):
        yield "fewer clusters", f"{len(found)} of {n_wanted} clusters, without a ConvergenceWarning"


def check_violations(outcome: Fit, facts: Facts) -> Found:
    """`violations_` holds exactly the broken links: the given ones, and some for the labels where these are broken."""
    labels, violations = outcome.labels, outcome.model.violations_
    # A pair may be listed twice, if a link and the labels contradict each other.
    listed = set(map(tuple, violations.pairs.tolist()))
    kept = [
        (a, b)
        for (a, b), sign in zip(violations.pairs.tolist(), violations.sign.tolist(), strict=True)
        if are_together(labels, a, b) == (sign > 0)
    ]
    if kept:
        yield "violations", f"{kept} are listed, and {labels} keeps them"
    broken, of_classes = facts.broken(labels), facts.broken_labels(labels)
    if not broken <= listed <= broken | of_classes:
        yield "violations", f"{sorted(listed)} are listed, and {sorted(broken)} are broken by {labels}"
    if of_classes and not listed & of_classes:
        yield "violations", f"{labels} breaks the labels {facts.classes}, and {sorted(listed)} are listed"


def check_hard_links(outcome: Fit, facts: Facts) -> Found:
    """A hard clusterer breaks no link; a relaxed one no must-link, sizes aside, and no cannot-link without need."""
    model, labels = outcome.model, outcome.labels
    if not is_hard(model):
        return
    broken = facts.broken(labels) | facts.broken_labels(labels)
    if broken and (not relaxes(model) or _finds_clustering(model, facts)):
        yield "broken link", f"{labels} breaks {sorted(broken)}"
    parted = [pair for pair in facts.all_must_link if not are_together(labels, *pair)]
    if parted and relaxes(model) and not keeps_sizes_first(model):
        yield "broken link", f"{labels} breaks the must-links {parted}"


def _finds_clustering(model: Any, facts: Facts) -> bool:
    """Say whether a clustering that keeps all links exists and must be found."""
    return can_keep_links(model, facts) and not may_miss_clustering(model)


def check_suspects(outcome: Fit) -> Found:
    """No link is called suspect that is more likely right than wrong."""
    if hasattr(outcome.model, "trust_"):
        for suspect in outcome.model.suspects_:
            if suspect.trust > MAX_TRUST_OF_SUSPECT:
                yield "suspect", f"{suspect} is suspect"


def check_prediction(outcome: Fit, problem: Problem) -> Found:
    """`predict` gives every row a cluster, and a pickled copy gives the same."""
    model = outcome.model
    copy = pickle.loads(pickle.dumps(model))
    if not np.array_equal(copy.labels_, model.labels_):
        yield "pickle", "a pickled copy has other labels_"
    if not hasattr(model, "predict"):
        return
    try:
        predicted, again = model.predict(problem.X), copy.predict(problem.X)
    except Exception as error:
        yield "predict", f"{type(error).__name__}: {error}"
        return
    n_wanted = n_clusters_of(model)
    allowed = set(outcome.labels) | {UNKNOWN} if n_wanted is None else set(range(n_wanted))
    allowed |= {UNKNOWN} if may_call_noise(model) else set()
    if predicted.shape != (problem.n_rows,) or predicted.dtype.kind != "i" or not set(predicted.tolist()) <= allowed:
        yield "predict", f"predict returns {predicted!r} after the labels {outcome.labels}"
    if not np.array_equal(predicted, again):
        yield "pickle", "a pickled copy predicts otherwise"


def check_repetition(first: Fit, problem: Problem) -> Found:
    """A fit of a clone to the links in another order, and at times a second fit of the model, end in the same way."""
    expected = None if first.error is not None else first.labels
    again = [("order of links", clone(first.model), problem.with_turned_links())]
    if problem.seed % SECOND_FIT_EVERY == 0:
        again.append(("second fit", first.model, problem))
    for kind, model, form in again:
        other = fit(model, form)
        if other.kind != first.kind:
            yield kind, f"it ended as {first.kind}, and again as {other.kind}"
        elif expected is not None and other.labels != expected:
            yield kind, f"the labels were {expected}, and again {other.labels}"


def check_moved_rows(first: Fit, facts: Facts) -> Found:
    """The same rows in another order end in the same way, in the same clusters where nothing is random or tied."""
    problem, order = facts.problem.with_moved_rows()
    moved = fit(clone(first.model), problem)
    if moved.kind != first.kind:
        if not may_miss_clustering(first.model) or ignores_row_order(first.model, facts):
            yield "order of rows", f"it ended as {first.kind}, and with moved rows as {moved.kind}"
    elif first.error is None:
        expected = [first.labels[row] for row in order]
        if ignores_row_order(first.model, facts) and not _same_clusters(moved.labels, expected):
            yield "order of rows", f"the clusters were {expected}, and with moved rows {moved.labels}"
        yield from _check_moved_links(first.model, facts, problem, order)


def _check_moved_links(model: Any, facts: Facts, moved: Problem, order: NDArray[np.intp]) -> Found:
    """Labels imply the same links for a model in any order of the rows, if no two rows are equal."""
    if not takes_links(model) or len(np.unique(moved.X, axis=0)) < moved.n_rows:
        return
    forms = (facts.problem, moved)
    links, others = (clone(model)._check_fit_input(form.X, form.y, form.constraints)[1] for form in forms)
    back = Constraints.from_pairs(order[others.pairs], others.sign, others.weight, contradictions="keep")
    if links != back:
        yield "order of rows", f"the links were {_list_links(links)}, and with moved rows {_list_links(back)}"


def _list_links(links: Constraints) -> list[tuple[int, int, float]]:
    """The rows and the weight of every link, negative for a cannot-link."""
    return [
        (a, b, weight)
        for (a, b), weight in zip(links.pairs.tolist(), (links.sign * links.weight).tolist(), strict=True)
    ]


def _same_clusters(one: list[int], other: list[int]) -> bool:
    """Say whether two clusterings are the same but for the numbers; noise is noise in both."""
    pairs = set(zip(one, other, strict=True))
    return len(pairs) == len(set(one)) == len(set(other)) and all((a < 0) == (b < 0) for a, b in pairs)
