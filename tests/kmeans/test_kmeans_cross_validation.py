"""Links in scikit-learn's cross-validation: fold by fold what a loop by hand gives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from mustlink import Constraints, COPKMeans, PCKMeans, SeededKMeans

X, Y = load_iris(return_X_y=True)
LINKS = Constraints.sample(Y, n_pairs=60, random_state=0)
ALIGNED = LINKS.on(len(X))
FOLDS = KFold(4, shuffle=True, random_state=1)
GRID = {"n_clusters": [2, 3], "penalty": [0.0, 1.0, 100.0]}


def links_within(rows: np.ndarray) -> Constraints:
    """Keep the links whose two ends are among some rows, renumbered, one pair at a time."""
    place = {int(row): number for number, row in enumerate(rows)}
    kept = [
        [(place[i], place[j]) for i, j in pairs.tolist() if i in place and j in place]
        for pairs in (LINKS.must_link, LINKS.cannot_link)
    ]
    return Constraints(*kept)


def by_hand(estimator: Any, parameters: dict[str, Any]) -> Iterator[tuple[Any, np.ndarray]]:
    """Fit on each fold, and give the model and the rows held out."""
    for train, test in FOLDS.split(X):
        model = clone(estimator).set_params(**parameters)
        if isinstance(model, Pipeline):
            scaled = model[:-1].fit_transform(X[train])
            model[-1].fit(scaled, constraints=links_within(train))
        else:
            model.fit(X[train], constraints=links_within(train))
        yield model, test


def check_search(search: GridSearchCV, estimator: Any) -> None:
    """Compare every score of a search with the loop by hand."""
    results = search.cv_results_
    for number, parameters in enumerate(results["params"]):
        for fold, (model, test) in enumerate(by_hand(estimator, parameters)):
            assert results[f"split{fold}_test_score"][number] == model.score(X[test])
    assert len({round(score, 6) for score in results["mean_test_score"]}) > 2


@pytest.mark.parametrize("routing", [True, False])
def test_grid_search(routing: bool) -> None:
    estimator = PCKMeans(random_state=0)
    with config_context(enable_metadata_routing=routing):
        search = GridSearchCV(estimator, GRID, cv=FOLDS).fit(X, constraints=ALIGNED)
        check_search(search, estimator)
    expected = PCKMeans(random_state=0, **search.best_params_).fit(X, constraints=LINKS)
    np.testing.assert_array_equal(search.best_estimator_.labels_, expected.labels_)


@pytest.mark.parametrize("routing", [True, False])
def test_grid_search_over_a_pipeline(routing: bool) -> None:
    estimator = make_pipeline(StandardScaler(), PCKMeans(random_state=0))
    grid = {f"pckmeans__{name}": values for name, values in GRID.items()}
    name = "constraints" if routing else "pckmeans__constraints"
    with config_context(enable_metadata_routing=routing):
        search = GridSearchCV(estimator, grid, cv=FOLDS).fit(X, **{name: ALIGNED})
        check_search(search, estimator)


@pytest.mark.parametrize("clusterer", [COPKMeans, PCKMeans, SeededKMeans])
@pytest.mark.parametrize("pipeline", [True, False])
def test_cross_validate(clusterer: Any, pipeline: bool) -> None:
    estimator = clusterer(3, random_state=0)
    if pipeline:
        estimator = make_pipeline(StandardScaler(), estimator)
    with config_context(enable_metadata_routing=True):
        outcome = cross_validate(
            estimator, X, cv=FOLDS, params={"constraints": ALIGNED}, return_estimator=True, error_score="raise"
        )
        for fold, (model, test) in enumerate(by_hand(estimator, {})):
            assert outcome["test_score"][fold] == model.score(X[test])
            found = outcome["estimator"][fold]
            clusters = (found[-1], model[-1]) if pipeline else (found, model)
            np.testing.assert_array_equal(clusters[0].labels_, clusters[1].labels_)


def test_a_search_that_scores_against_the_truth_does_not_learn_it() -> None:
    def scorer(model: Any, rows: np.ndarray, truth: np.ndarray) -> float:
        return float(adjusted_rand_score(truth, model.predict(rows)))

    search = GridSearchCV(PCKMeans(random_state=0), GRID, cv=FOLDS, scoring=scorer).fit(X, Y, constraints=ALIGNED)
    for number, parameters in enumerate(search.cv_results_["params"]):
        for fold, (model, test) in enumerate(by_hand(PCKMeans(random_state=0), parameters)):
            score = adjusted_rand_score(Y[test], model.predict(X[test]))
            assert search.cv_results_[f"split{fold}_test_score"][number] == score


def test_sample_weights_are_routed_on_request() -> None:
    weight = np.linspace(0.1, 2, len(X))
    with config_context(enable_metadata_routing=True):
        estimator = (
            PCKMeans(3, random_state=0).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        )
        outcome = cross_validate(estimator, X, cv=FOLDS, params={"constraints": ALIGNED, "sample_weight": weight})
    for fold, (train, test) in enumerate(FOLDS.split(X)):
        model = PCKMeans(3, random_state=0)
        model.fit(X[train], constraints=links_within(train), sample_weight=weight[train])
        assert outcome["test_score"][fold] == model.score(X[test], sample_weight=weight[test])
