"""Checks of how an estimator uses links."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import suppress
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from mustlink._estimators import count_parameter
from mustlink._row_order import rank_rows
from mustlink.constraints import Constraints
from mustlink.errors import ConstraintError, InfeasibleError, InfeasibleWarning
from mustlink.estimator_checks._cases import (
    N_CLUSTERS,
    N_ROWS,
    crowded,
    fitted,
    has_parameter,
    is_hard,
    prepared,
    separated,
)
from mustlink.estimator_checks._expect import (
    expect,
    expect_error,
    expect_kept,
    expect_labels,
    expect_partition,
    same_partition,
)

# A cannot-link between rows 7 and 41, which must-links join.
CHAIN = Constraints(must_link=[(7, 19), (19, 41)], cannot_link=[(7, 41)])


def check_no_links_in_any_form(estimator: BaseEstimator) -> None:
    """None, no pairs, no aligned pairs and no known label give the same result."""
    X = crowded().X
    expected = fitted(estimator, X)
    unknown = np.full(N_ROWS, -1)
    for form, y, links in (
        ("Constraints()", None, Constraints()),
        ("Constraints().on(n_samples)", None, Constraints().on(N_ROWS)),
        ("y of -1 only", unknown, None),
    ):
        found = fitted(estimator, X, y, constraints=links)
        expect_labels(found.labels_, expected.labels_, f"{form} differs from no constraints")
        expect(found.violations_.is_empty, f"with {form} there is a link in violations_.")


def check_no_links_is_the_unconstrained_algorithm(
    estimator: BaseEstimator, *, unconstrained: Callable[[Any], Any]
) -> None:
    """Without links the estimator finds the clusters of its unconstrained counterpart.

    If the start can be given, both use the same one on data without clusters; otherwise the clusters are so clear that
    the start does not matter.
    """
    case = crowded() if has_parameter(estimator, "init") else separated()
    parameters = {"init": case.X[[5, 25, 45]], "n_init": 1, "tol": 0.0}
    found = fitted(estimator, case.X, **parameters)
    counterpart = unconstrained(prepared(estimator, **parameters))
    expected = counterpart.fit_predict(case.X)
    expect_partition(found.labels_, expected, f"without links it differs from {type(counterpart).__name__}")


def check_order_and_repetition_of_pairs(estimator: BaseEstimator) -> None:
    """The order of the pairs, the order in a pair, and a pair given twice with half the weight have no effect."""
    case = crowded()
    must_link, cannot_link = case.links.must_link, case.links.cannot_link
    expected = fitted(estimator, case.X, constraints=case.links).labels_
    turned = Constraints(must_link[::-1, ::-1], cannot_link[::-1, ::-1])
    found = fitted(estimator, case.X, constraints=turned).labels_
    expect_labels(found, expected, "the order of the pairs matters")
    halves = Constraints(
        np.concatenate([must_link, must_link]),
        np.concatenate([cannot_link[:, ::-1], cannot_link]),
        must_link_weight=0.5,
        cannot_link_weight=0.5,
    )
    found = fitted(estimator, case.X, constraints=halves).labels_
    expect_labels(found, expected, "a pair given twice with half the weight differs from that pair")


def check_aligned_form(estimator: BaseEstimator) -> None:
    """``links`` and ``links.on(n_samples)`` give the same result."""
    case = crowded()
    expected = fitted(estimator, case.X, constraints=case.links)
    found = fitted(estimator, case.X, constraints=case.links.on(N_ROWS))
    expect_labels(found.labels_, expected.labels_, "constraints.on(n_samples) differs from constraints")
    expect(found.violations_ == expected.violations_, "with constraints.on(n_samples) violations_ differs.")


def check_groups(estimator: BaseEstimator) -> None:
    """Links by a column (``Constraints.from_groups``) and the list of their pairs give the same result."""
    case = crowded()
    joined = case.links.must_link
    single = np.setdiff1d(np.arange(N_ROWS), joined)
    column = np.full(N_ROWS, -1)
    column[single[:3]], column[single[3:5]], column[[joined[0, 0], single[5]]] = 0, 1, 2
    links = Constraints(joined) + Constraints.from_groups(column)
    expected = fitted(estimator, case.X, constraints=links.expand())
    found = fitted(estimator, case.X, constraints=links)
    expect_labels(found.labels_, expected.labels_, "Constraints.from_groups differs from the list of its pairs")
    expect(found.violations_ == expected.violations_, "with Constraints.from_groups violations_ differs.")


def check_permuted_rows(estimator: BaseEstimator) -> None:
    """A permutation of the rows, with the links renumbered, gives the same clusters."""
    case = separated()
    expected = fitted(estimator, case.X, constraints=case.links).labels_
    order = np.random.RandomState(5).permutation(N_ROWS)
    place = np.argsort(order)
    moved = Constraints(place[case.links.must_link], place[case.links.cannot_link])
    found = fitted(estimator, case.X[order], constraints=moved).labels_
    expect_partition(found, np.asarray(expected)[order], "the order of the rows matters")


def check_violations(estimator: BaseEstimator) -> None:
    """``violations_`` contains exactly the links that the labels break."""
    case = crowded()
    must_link, cannot_link = Constraints(case.links.must_link), Constraints(None, case.links.cannot_link)
    for links in (case.links, must_link, cannot_link, None):
        model = fitted(estimator, case.X, constraints=links)
        found, broken = model.violations_, (links or Constraints()).violations(model.labels_)
        expect(found == broken, f"violations_ is {found!r}, but the labels break {broken!r}.")


def check_hard_never_violates(estimator: BaseEstimator) -> None:
    """A hard method keeps every link or raises InfeasibleError; on easy links it must succeed."""
    case = crowded()
    expect_kept(case.links, fitted(estimator, case.X, constraints=case.links).labels_)
    for seed in range(6):
        links = Constraints.sample(case.classes, n_pairs=10 + 6 * seed, random_state=seed)
        with suppress(InfeasibleError):
            expect_kept(links, fitted(estimator, case.X, constraints=links, random_state=seed).labels_)


def check_contradictory_links(estimator: BaseEstimator) -> None:
    """With contradictory links, a hard method raises an error that names the rows, and a soft one returns a result."""
    X = separated().X
    if is_hard(estimator):
        with expect_error(InfeasibleError, "with links that contradict each other", named=(7, 41)):
            fitted(estimator, X, constraints=CHAIN)
    else:
        _expect_broken_chain(fitted(estimator, X, constraints=CHAIN))


def _expect_broken_chain(model: Any) -> None:
    """Fail unless `violations_` contains the broken ones of contradictory links."""
    found = model.violations_
    listed = not found.is_empty and found == CHAIN.violations(model.labels_)
    expect(listed, f"at least one of contradictory links is broken, but violations_ is {found!r}.")


def check_more_apart_than_clusters(estimator: BaseEstimator) -> None:
    """A hard method refuses cannot-links that need more clusters than there are."""
    apart = Constraints(cannot_link=list(combinations([3, 11, 20, 34], 2)))
    when = f"with cannot-links between all of {N_CLUSTERS + 1} rows and {N_CLUSTERS} clusters"
    with expect_error(InfeasibleError, when):
        fitted(estimator, crowded().X, constraints=apart)


def check_relaxing(estimator: BaseEstimator) -> None:
    """With ``on_infeasible="relax"`` a hard method warns, and lists the broken links."""
    X = separated().X
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = fitted(estimator, X, constraints=CHAIN, on_infeasible="relax")
    warned = any(issubclass(warning.category, InfeasibleWarning) for warning in caught)
    expect(warned, 'with on_infeasible="relax" there is no InfeasibleWarning.')
    _expect_broken_chain(model)


def check_rows_out_of_range(estimator: BaseEstimator) -> None:
    """A link to a row beyond the last one raises an error that names the rows."""
    pairs = [(0, 1), (2, N_ROWS)]
    for links in (Constraints(must_link=pairs), Constraints(cannot_link=pairs)):
        with expect_error(ConstraintError, f"with a link of rows 2 and {N_ROWS} and {N_ROWS} rows", named=(2, N_ROWS)):
            fitted(estimator, crowded().X, constraints=links)


def check_type_of_constraints(estimator: BaseEstimator) -> None:
    """Constraints of another type are refused."""
    for given in ([(0, 1)], {"must_link": [(0, 1)]}, np.array([[0, 1]])):
        with expect_error(TypeError, f"with constraints of the type {type(given).__name__}"):
            fitted(estimator, crowded().X, constraints=given)


def check_aligned_with_other_rows(estimator: BaseEstimator) -> None:
    """Links aligned with another number of rows are refused, with both numbers in the message."""
    for n_rows in (N_ROWS - 1, N_ROWS + 1):
        links = Constraints(must_link=[(0, 1)]).on(n_rows)
        when = f"with links aligned with {n_rows} rows and data of {N_ROWS} rows"
        with expect_error(ConstraintError, when, named=(n_rows, N_ROWS)):
            fitted(estimator, crowded().X, constraints=links)


def check_partial_labels(estimator: BaseEstimator) -> None:
    """Partial labels are equivalent to the links they imply, compact by content or all, alone and with other links."""
    case = crowded()
    order = rank_rows(case.X, np.arange(N_ROWS))
    compact = Constraints.from_labels(case.partial_labels, order=order)
    all_pairs = Constraints.from_labels(case.partial_labels, pairs="all")
    for links in (Constraints(), Constraints(must_link=[(1, 2)], cannot_link=[(5, 6)])):
        found = fitted(estimator, case.X, case.partial_labels, constraints=links)
        equal = [
            both
            for both in (links + compact, links + all_pairs)
            if same_partition(found.labels_, fitted(estimator, case.X, constraints=both).labels_)
        ]
        expect(equal, "y and the links it implies give different clusters.")
        listed = any(found.violations_ == both.violations(found.labels_) for both in equal)
        expect(listed, f"with y, which implies {compact!r}, violations_ is {found.violations_!r}.")


def check_partial_labels_of_wrong_length(estimator: BaseEstimator) -> None:
    """Partial labels for another number of rows are refused."""
    case = separated()
    for y in (case.partial_labels[:-1], np.append(case.partial_labels, 0)):
        with expect_error(ValueError, f"with {len(y)} partial labels and {N_ROWS} rows"):
            fitted(estimator, case.X, y)


def check_few_links(estimator: BaseEstimator) -> None:
    """One link, or one kind of links, is enough."""
    case = crowded()
    for links in (
        Constraints(must_link=[(3, 50)]),
        Constraints(cannot_link=[(3, 50)]),
        Constraints(must_link=case.links.must_link),
        Constraints(cannot_link=case.links.cannot_link),
    ):
        model = fitted(estimator, case.X, constraints=links)
        expect(len(model.labels_) == N_ROWS, f"with {links!r} some rows have no label.")
        if is_hard(estimator):
            expect_kept(links, model.labels_)


def check_all_rows_in_one_component(estimator: BaseEstimator) -> None:
    """A chain of must-links through all rows gives one cluster."""
    chain = Constraints(must_link=np.column_stack([np.arange(N_ROWS - 1), np.arange(1, N_ROWS)]))
    model = fitted(estimator, crowded().X, constraints=chain, n_clusters=1)
    if count_parameter(estimator) or is_hard(estimator):
        n_found = len(np.unique(model.labels_))
        expect(n_found == 1, f"must-links join all rows, but there are {n_found} clusters.")
