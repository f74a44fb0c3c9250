"""Every clusterer of the catalogue passes the checks of scikit-learn and of mustlink."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks as parametrize_with_sklearn_checks

import mustlink
from conformance import case_of, rows_for
from mustlink import Constraints
from mustlink._estimators import count_parameter, takes_links
from mustlink.catalogue import CATALOGUE, OTHER_INPUTS, Entry, find_clusterer
from mustlink.estimator_checks import parametrize_with_checks
from mustlink.estimator_checks._cases import is_hard, links_for, refit


def without_links(estimator: Any) -> Any:
    return case_of(find_clusterer(type(estimator).__name__)).without_links


def expected_failures(estimator: Any) -> dict[str, str]:
    return dict(case_of(find_clusterer(type(estimator).__name__)).fails)


DEFAULTS = [entry.load()(**case_of(entry).fast) for entry in CATALOGUE]
VARIANTS = [
    entry.load()(**case_of(entry).fast, **variant) for entry in CATALOGUE for variant in case_of(entry).variants
]


# Some tables of scikit-learn's checks have fewer different rows than n_clusters; its own KMeans warns of them as well.
@pytest.mark.filterwarnings("ignore:.*clusters:sklearn.exceptions.ConvergenceWarning")
@parametrize_with_sklearn_checks(DEFAULTS, expected_failed_checks=expected_failures)
def test_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


# Soft methods may warn of links that they could not keep, or whose probabilities they approximate.
@pytest.mark.filterwarnings("ignore::mustlink.errors.UnmetConstraintsWarning")
@pytest.mark.filterwarnings("ignore::mustlink.errors.ApproximationWarning")
@pytest.mark.filterwarnings("ignore:.*clusters:sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([*DEFAULTS, *VARIANTS], unconstrained=without_links)
def test_checks_of_mustlink(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("entry", CATALOGUE, ids=lambda entry: entry.class_name)
def test_the_catalogue_agrees_with_the_class(entry: Entry) -> None:
    estimator = entry.load()()
    assert is_hard(estimator) == (entry.kind == "hard")
    assert takes_links(estimator) == entry.takes_links
    assert ("estimator" in estimator.get_params()) == entry.boosts


# Rows of only three columns may not show so many clusters.
@pytest.mark.filterwarnings("ignore:.*clusters:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "entry", [entry for entry in CATALOGUE if "sparse" in entry.input], ids=lambda entry: entry.name
)
def test_sparse_tables_are_taken(entry: Entry) -> None:
    estimator = entry.load()(**case_of(entry).fast)
    X = rows_for(estimator, sparse.csr_matrix(np.random.default_rng(0).normal(size=(40, 3))))
    assert estimator.fit(X).labels_.shape == (40,)


def test_every_exported_clusterer_is_in_the_catalogue() -> None:
    """One that clusters rows has fit_predict, one that clusters rows and columns has biclusters_."""
    exported = {
        name
        for name in mustlink.__all__
        if hasattr(getattr(mustlink, name), "fit_predict") or hasattr(getattr(mustlink, name), "biclusters_")
    }
    assert exported == {entry.class_name for entry in (*CATALOGUE, *OTHER_INPUTS)}


@pytest.mark.filterwarnings("ignore::mustlink.errors.UnmetConstraintsWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("entry", CATALOGUE, ids=lambda entry: entry.class_name)
def test_a_fitted_clusterer_shows_itself_in_a_notebook(entry: Entry) -> None:
    """Its display reads every fitted attribute, ``violations_`` among them."""
    X, classes = make_blobs(24, centers=2, random_state=0)
    X = rows_for(entry.load()(), X)
    links = Constraints.sample(classes, n_pairs=6, random_state=0)
    parameters = {**case_of(entry).fast, count_parameter(entry.load()()): 2}
    known = entry.load()().get_params()
    clusterer = entry.load()(**{name: value for name, value in parameters.items() if name in known})
    alone = refit(clone(clusterer), X, constraints=links)
    pipeline = Pipeline([("scale", StandardScaler(with_mean=False)), ("cluster", clone(clusterer))])
    pipeline.fit(X, **{f"cluster__{name}": given for name, given in links_for(clusterer, links).items()})
    search = GridSearchCV(clone(clusterer), {}, cv=2, scoring=lambda *_: 0.0).fit(
        X, **links_for(clusterer, links.on(24))
    )
    for fitted in (alone, pipeline, search):
        assert entry.class_name in fitted._repr_html_()
        assert entry.class_name in fitted._repr_mimebundle_()["text/html"]
