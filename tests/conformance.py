"""What the shared tests need to know of a clusterer; ``cases.py`` in the folder of its family has one for each."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sklearn.cluster import KMeans
from sklearn.utils import get_tags

from mustlink.catalogue import Entry


@dataclass(frozen=True)
class Case:
    """How a clusterer is checked.

    `without_links` makes the clusterer of scikit-learn that it equals when no links are given, from an instance; None
    if it equals none. `variants` are other parameters that change what links do. `fast` are parameters that keep the
    checks, which fit some hundred times, quick. `fails` has the checks of scikit-learn that a clusterer cannot pass by
    its nature, with the reason.
    """

    without_links: Callable[[Any], Any] | None
    variants: Sequence[Mapping[str, Any]] = ()
    fast: Mapping[str, Any] = field(default_factory=dict)
    fails: Mapping[str, str] = field(default_factory=dict)


def k_means(estimator: Any) -> KMeans:
    """The k-means that most of the k-means family is without links."""
    return KMeans(
        estimator.n_clusters,
        init=getattr(estimator, "init", "k-means++"),
        n_init=1,
        max_iter=estimator.max_iter,
        tol=getattr(estimator, "tol", 0.0),
        random_state=0,
    )


def rows_for(estimator: Any, X: Any) -> Any:
    """Rows that an estimator takes: not negative, and not all near zero, for one that takes counts."""
    return 10 * abs(X) if get_tags(estimator).input_tags.positive_only else X


def case_of(entry: Entry) -> Case:
    """The case that stands beside the tests of its family, in cases.py."""
    cases: dict[str, Case] = importlib.import_module(f"{entry.family}.cases").CASES
    assert entry.class_name in cases, f"tests/{entry.family}/cases.py has no case for {entry.class_name}"
    return cases[entry.class_name]
