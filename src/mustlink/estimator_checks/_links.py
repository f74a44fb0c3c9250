"""Checks of what an estimator makes of links."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from mustlink.constraints import Constraints
from mustlink.errors import ConstraintError, InfeasibleError, InfeasibleWarning
from mustlink.estimator_checks._cases import (
    N_CLUSTERS,
    N_ROWS,
    crowded,
    expect,
    expect_error,
    expect_labels,
    expect_partition,
    fitted,
    has_parameter,
    is_hard,
    prepared,
    same_partition,
    separated,
)

# Rows 7 and 41 cannot be linked, and must-links join them.
CHAIN = Constraints(must_link=[(7, 19), (19, 41)], cannot_link=[(7, 41)])


def check_no_links_in_any_form(estimator: BaseEstimator) -> None:
    """None, no pairs, no pairs aligned with the rows, and no known label are all the same."""
    X = crowded().X
    expected = fitted(estimator, X)
    unknown = np.full(N_ROWS, -1)
    for form, y, links in (
        ("Constraints()", None, Constraints()),
        ("Constraints().on(n_samples)", None, Constraints().on(N_ROWS)),
        ("y of -1 only", unknown, None),
    ):
        found = fitted(estimator, X, y, constraints=links)
        expect_labels(estimator, found.labels_, expected.labels_, f"{form} is not the same as no constraints")
        expect(found.violations_.is_empty, estimator, f"with {form} there is a link in violations_.")


def check_no_links_is_the_unconstrained_algorithm(
    estimator: BaseEstimator, *, unconstrained: Callable[[Any], Any]
) -> None:
    """Without links the estimator finds what its unconstrained twin finds.

    Where the start can be given, both set out from it on a table without clusters; otherwise the clusters are so clear
    that the start does not matter.
    """
    case = crowded() if has_parameter(estimator, "init") else separated()
    parameters = {"init": case.X[[5, 25, 45]], "n_init": 1, "tol": 0.0}
    found = fitted(estimator, case.X, **parameters)
    twin = unconstrained(prepared(estimator, **parameters))
    expected = twin.fit(case.X).labels_
    expect_partition(estimator, found.labels_, expected, f"without links it is not {type(twin).__name__}")


def check_order_and_repetition_of_pairs(estimator: BaseEstimator) -> None:
    """Neither the order of the pairs, nor of the two rows, nor a pair given twice with half the weight matters."""
    case = crowded()
    must_link, cannot_link = case.links.must_link, case.links.cannot_link
    expected = fitted(estimator, case.X, constraints=case.links).labels_
    turned = Constraints(must_link[::-1, ::-1], cannot_link[::-1, ::-1])
    found = fitted(estimator, case.X, constraints=turned).labels_
    expect_labels(estimator, found, expected, "the order of the pairs matters")
    halves = Constraints(
        np.concatenate([must_link, must_link]),
        np.concatenate([cannot_link[:, ::-1], cannot_link]),
        must_link_weight=0.5,
        cannot_link_weight=0.5,
    )
    found = fitted(estimator, case.X, constraints=halves).labels_
    expect_labels(estimator, found, expected, "a pair given twice with half the weight is not that pair")


def check_aligned_form(estimator: BaseEstimator) -> None:
    """``links`` and ``links.on(n_samples)`` are the same knowledge."""
    case = crowded()
    expected = fitted(estimator, case.X, constraints=case.links)
    found = fitted(estimator, case.X, constraints=case.links.on(N_ROWS))
    expect_labels(estimator, found.labels_, expected.labels_, "constraints.on(n_samples) is not the same")
    expect(found.violations_ == expected.violations_, estimator, "with the aligned form violations_ is not the same.")


def check_permuted_rows(estimator: BaseEstimator) -> None:
    """Rows in another order, with the links renumbered, come into the same clusters."""
    case = separated()
    expected = fitted(estimator, case.X, constraints=case.links).labels_
    order = np.random.RandomState(5).permutation(N_ROWS)
    place = np.argsort(order)
    moved = Constraints(place[case.links.must_link], place[case.links.cannot_link])
    found = fitted(estimator, case.X[order], constraints=moved).labels_
    expect_partition(estimator, found, np.asarray(expected)[order], "the order of the rows matters")


def check_violations(estimator: BaseEstimator) -> None:
    """``violations_`` holds the links that the labels break, no more and no fewer."""
    case = crowded()
    sets = [case.links, Constraints(case.links.must_link), Constraints(None, case.links.cannot_link), None]
    for links in sets:
        model = fitted(estimator, case.X, constraints=links)
        broken = (links or Constraints()).violations(model.labels_)
        expect(
            model.violations_ == broken,
            estimator,
            f"violations_ holds {model.violations_!r}, and the labels break {broken!r}.",
        )


def check_hard_never_violates(estimator: BaseEstimator) -> None:
    """A hard method keeps every link, or says that it found no way; on easy links it finds one."""
    case = crowded()
    model = fitted(estimator, case.X, constraints=case.links)
    broken = case.links.violations(model.labels_)
    expect(broken.is_empty, estimator, f"it is hard, and its labels break {broken!r}.")
    for seed in range(6):
        links = Constraints.sample(case.classes, n_pairs=10 + 6 * seed, random_state=seed)
        try:
            model = fitted(estimator, case.X, constraints=links, random_state=seed)
        except InfeasibleError:
            continue
        broken = links.violations(model.labels_)
        expect(broken.is_empty, estimator, f"it is hard, and of {links!r} its labels break {broken!r}.")


def check_contradictory_links(estimator: BaseEstimator) -> None:
    """Links that contradict each other through a chain: a hard method names the rows, a soft one lives with it."""
    X = separated().X
    if is_hard(estimator):
        expect_error(
            estimator,
            InfeasibleError,
            partial(fitted, estimator, X, constraints=CHAIN),
            "with links that contradict each other",
            named=(7, 41),
        )
        return
    model = fitted(estimator, X, constraints=CHAIN)
    expect(
        len(model.violations_) > 0 and model.violations_ == CHAIN.violations(model.labels_),
        estimator,
        f"of links that contradict each other at least one is broken, and violations_ holds {model.violations_!r}.",
    )


def check_more_apart_than_clusters(estimator: BaseEstimator) -> None:
    """A hard method reports rows that need more clusters than there are."""
    apart = Constraints(cannot_link=list(combinations([3, 11, 20, 34], 2)))
    expect_error(
        estimator,
        InfeasibleError,
        partial(fitted, estimator, crowded().X, constraints=apart),
        f"with {N_CLUSTERS + 1} rows that must all be apart and {N_CLUSTERS} clusters",
    )


def check_relaxing(estimator: BaseEstimator) -> None:
    """A hard method told to relax warns, and lists what it broke."""
    X = separated().X
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = fitted(estimator, X, constraints=CHAIN, on_infeasible="relax")
    warned = any(issubclass(warning.category, InfeasibleWarning) for warning in caught)
    expect(warned, estimator, 'with on_infeasible="relax" it gives no InfeasibleWarning.')
    expect(
        len(model.violations_) > 0 and model.violations_ == CHAIN.violations(model.labels_),
        estimator,
        f'with on_infeasible="relax" violations_ holds {model.violations_!r}.',
    )


def check_rows_out_of_range(estimator: BaseEstimator) -> None:
    """A link to a row that the table does not have is an error that names the rows."""
    pairs = [(0, 1), (2, N_ROWS)]
    for links in (Constraints(must_link=pairs), Constraints(cannot_link=pairs)):
        expect_error(
            estimator,
            ConstraintError,
            partial(fitted, estimator, crowded().X, constraints=links),
            f"with a link of rows 2 and {N_ROWS} and {N_ROWS} rows",
            named=(2, N_ROWS),
        )


def check_type_of_constraints(estimator: BaseEstimator) -> None:
    """What is no Constraints is refused."""
    for given in ([(0, 1)], {"must_link": [(0, 1)]}, np.array([[0, 1]])):
        expect_error(
            estimator,
            TypeError,
            partial(fitted, estimator, crowded().X, constraints=given),
            f"with constraints of the type {type(given).__name__}",
        )


def check_aligned_with_other_rows(estimator: BaseEstimator) -> None:
    """Links aligned with another number of rows are refused, and both numbers are told."""
    for n_rows in (N_ROWS - 1, N_ROWS + 1):
        links = Constraints(must_link=[(0, 1)]).on(n_rows)
        expect_error(
            estimator,
            ConstraintError,
            partial(fitted, estimator, crowded().X, constraints=links),
            f"with links aligned with {n_rows} rows and a table of {N_ROWS}",
            named=(n_rows, N_ROWS),
        )


def check_partial_labels(estimator: BaseEstimator) -> None:
    """Partial labels are the links they stand for, few of them or all written out, alone and beside other links."""
    case = crowded()
    compact, written_out = (Constraints.from_labels(case.partial_labels, pairs=pairs) for pairs in ("compact", "all"))
    for links in (Constraints(), Constraints(must_link=[(1, 2)], cannot_link=[(5, 6)])):
        found = fitted(estimator, case.X, case.partial_labels, constraints=links)
        alike = [
            both
            for both in (links + compact, links + written_out)
            if same_partition(found.labels_, fitted(estimator, case.X, constraints=both).labels_)
        ]
        expect(bool(alike), estimator, "y is not the same as the links it stands for: the clusters are not the same.")
        expect(
            any(found.violations_ == both.violations(found.labels_) for both in alike),
            estimator,
            f"with y, which stands for {compact!r}, violations_ holds {found.violations_!r}.",
        )


def check_partial_labels_of_wrong_length(estimator: BaseEstimator) -> None:
    """Partial labels for another number of rows are refused."""
    case = separated()
    for y in (case.partial_labels[:-1], np.append(case.partial_labels, 0)):
        expect_error(
            estimator,
            ValueError,
            partial(fitted, estimator, case.X, y),
            f"with {len(y)} partial labels and {N_ROWS} rows",
        )


def check_few_links(estimator: BaseEstimator) -> None:
    """One link is enough, and so is one kind of links."""
    case = crowded()
    for links in (
        Constraints(must_link=[(3, 50)]),
        Constraints(cannot_link=[(3, 50)]),
        Constraints(must_link=case.links.must_link),
        Constraints(cannot_link=case.links.cannot_link),
    ):
        model = fitted(estimator, case.X, constraints=links)
        expect(len(model.labels_) == N_ROWS, estimator, f"with {links!r} there is not a label for every row.")
        if is_hard(estimator):
            broken = links.violations(model.labels_)
            expect(broken.is_empty, estimator, f"it is hard, and of {links!r} its labels break {broken!r}.")


def check_all_rows_in_one_component(estimator: BaseEstimator) -> None:
    """One cluster, and a chain of must-links through all rows."""
    chain = Constraints(must_link=np.column_stack([np.arange(N_ROWS - 1), np.arange(1, N_ROWS)]))
    model = fitted(estimator, crowded().X, constraints=chain, n_clusters=1)
    if has_parameter(estimator, "n_clusters") or is_hard(estimator):
        n_found = len(np.unique(model.labels_))
        expect(n_found == 1, estimator, f"must-links join all rows, and there are {n_found} clusters.")
