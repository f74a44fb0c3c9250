"""What every class does with fewer clusters than asked for, extreme weights, and arguments in the wrong place."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from conformance import rows_for
from mustlink import BoostCluster, Constraints, PCKMeans, RobustBoostCluster
from mustlink._estimators import count_parameter
from mustlink.boosting import BoostBaseClustering
from mustlink.catalogue import CATALOGUE, CLASSIFIERS, METRIC_LEARNERS, Entry
from mustlink.errors import InfeasibleError
from mustlink.estimator_checks._cases import refit
from mustlink.spectral import ConstrainedSpectral, _constrained

CLASSES = np.arange(30) % 3
X = np.random.default_rng(0).normal(size=(30, 3)) + 6.0 * np.eye(3)[CLASSES]
LINKS = Constraints([(0, 3), (4, 7)], [(0, 1), (3, 5)])
# Two different rows, each six times.
EQUAL = np.repeat([[0.0, 9.0], [9.0, 0.0]], 6, axis=0)

LINKED = [entry for entry in (*CATALOGUE, *CLASSIFIERS) if entry.takes_links]
COUNTED = [entry for entry in CATALOGUE if count_parameter(entry.load()()) is not None]


def estimator_of(entry: Entry, **parameters: Any) -> Any:
    """Return an estimator with those of the parameters that it has, and the quick ones of its family's tests."""
    parameters = {"n_clusters": 3, "random_state": 0, **parameters}
    if entry in CATALOGUE:
        parameters |= importlib.import_module(f"{entry.family}.cases").CASES[entry.class_name].fast
    estimator = entry.load()()
    parameters[count_parameter(estimator) or "n_clusters"] = parameters["n_clusters"]
    return estimator.set_params(**{name: parameters[name] for name in parameters if name in estimator.get_params()})


def labels_for(entry: Entry) -> Any:
    """Return labels of some rows for a classifier, which needs them."""
    return np.where(np.arange(30) < 6, CLASSES, -1) if entry in CLASSIFIERS else None


counted = pytest.mark.parametrize("entry", COUNTED, ids=lambda entry: entry.name)
every = pytest.mark.parametrize("entry", [*CATALOGUE, *METRIC_LEARNERS, *CLASSIFIERS], ids=lambda entry: entry.name)


@counted
@pytest.mark.parametrize("links", [None, Constraints([(0, 1)], [(0, 6)])], ids=["no links", "links"])
def test_fewer_clusters_than_asked_for_are_said_once(entry: Entry, links: Constraints | None) -> None:
    estimator = estimator_of(entry, n_clusters=4, on_infeasible="relax")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        n_found = len(set(refit(estimator, EQUAL, constraints=links).labels_))
    said = [str(one.message) for one in caught if issubclass(one.category, ConvergenceWarning)]
    said = [text for text in said if not text.startswith("None of the 30 preferences")]
    expected = f"4 clusters were asked for, and {n_found} were found, possibly because of equal rows or of links."
    assert said == ([expected] if n_found < 4 else [])
    assert n_found >= 2


def test_the_number_of_a_boosted_estimator_counts_too() -> None:
    for estimator in (KMeans(4), PCKMeans(4)):
        with pytest.warns(ConvergenceWarning) as caught:
            BoostCluster(estimator, random_state=0).fit(EQUAL)
        assert [str(one.message)[:40] for one in caught] == ["4 clusters were asked for, and 2 were fo"]


@pytest.mark.filterwarnings("ignore::mustlink.errors.UnmetConstraintsWarning")
def test_connected_components_find_the_number() -> None:
    model = BoostBaseClustering("affinity", 4, consensus="components", n_rounds=2, random_state=0)
    model.fit(EQUAL, constraints=Constraints([(0, 1)], [(0, 6)]))
    assert model.n_clusters_ == 2


@pytest.mark.filterwarnings("ignore::mustlink.errors.UnmetConstraintsWarning")
@pytest.mark.parametrize("entry", LINKED, ids=lambda entry: entry.name)
@pytest.mark.parametrize(
    "weights", [(4e149, 1.0), (4e149, 1e-300), (1e-300, 1e-300), (2e149, 2e149)], ids=lambda pair: str(pair)
)
def test_extreme_weights_overflow_nowhere(entry: Entry, weights: tuple[float, float]) -> None:
    links = Constraints(LINKS.must_link, LINKS.cannot_link, must_link_weight=weights, cannot_link_weight=weights[::-1])
    estimator = estimator_of(entry)
    estimator.fit(rows_for(estimator, X), labels_for(entry), constraints=links)
    for name, value in vars(estimator).items():
        if name.endswith("_") and np.asarray(value).dtype.kind == "f":
            assert np.isfinite(value).all(), name


@counted
def test_true_is_no_number_of_clusters(entry: Entry) -> None:
    name = count_parameter(entry.load()())
    message = rf"The '{name}' parameter of {entry.class_name} must be an int .* Got True instead"
    with pytest.raises(ValueError, match=message):
        entry.load()(**{name: True}).fit(X)


@every
def test_links_in_the_place_of_labels(entry: Entry) -> None:
    expected = rf"^{entry.class_name} takes no links; a clusterer such as PCKMeans does\.$"
    if entry.takes_links:
        expected = r"y takes partial labels.* these are links; pass them as constraints="
    for links in (LINKS, LINKS.on(30)):
        with pytest.raises(TypeError, match=expected):
            estimator_of(entry).fit(np.abs(X), links)


@pytest.mark.parametrize("boosting", [BoostCluster, RobustBoostCluster, BoostBaseClustering])
def test_a_number_in_the_place_of_the_estimator(boosting: Any) -> None:
    with pytest.raises(TypeError, match=r"got 3\. Pass the number of clusters as n_clusters=3\."):
        boosting(3).fit(X, constraints=LINKS)


@every
def test_a_fit_that_fails_leaves_nothing_to_predict_with(entry: Entry) -> None:
    estimator = estimator_of(entry)
    rows = rows_for(estimator, X)
    labels = labels_for(entry)
    scored = (rows,) if labels is None else (rows, labels)
    calls = {"predict": (rows,), "transform": (rows,), "score": scored, "represent": (rows, 1), "update": ()}
    for before in ([], [rows]):
        for table in before:
            refit(estimator, table, labels, constraints=LINKS)
        with pytest.raises(ValueError, match="Row 0, column"):
            refit(estimator, np.column_stack([rows, rows]) * 1e100, labels, constraints=LINKS)
        for name, arguments in calls.items():
            if callable(getattr(estimator, name, None)):
                with pytest.raises(NotFittedError):
                    getattr(estimator, name)(*arguments)


def test_a_bound_that_cannot_be_reached_is_named_also_if_it_was_found(monkeypatch: Any) -> None:
    monkeypatch.setattr(_constrained, "find_bound", lambda *_: (0.5, 0.25))
    message = (
        r"satisfaction=auto asks for 0\.5, more than 2 vectors in 30 dimensions can reach; give a number below 0\.25"
    )
    with pytest.raises(InfeasibleError, match=message):
        ConstrainedSpectral(3, random_state=0).fit(X, constraints=LINKS)
