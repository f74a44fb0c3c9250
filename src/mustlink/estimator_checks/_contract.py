"""Checks of the conventions of scikit-learn, with links given."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mustlink._estimators import count_parameter, takes_links
from mustlink.constraints import Constraints
from mustlink.estimator_checks._cases import (
    N_CLUSTERS,
    N_FEATURES,
    N_ROWS,
    crowded,
    fitted,
    links_for,
    prepared,
    refit,
    separated,
)
from mustlink.estimator_checks._expect import expect, expect_labels, expect_same_fit, learned, same_value


def check_metadata_request(estimator: BaseEstimator) -> None:
    """``fit`` requests constraints by default."""
    requests = prepared(estimator).get_metadata_routing().fit.requests
    expect(requests.get("constraints") is True, f"fit does not request constraints, only {requests}.")


def check_labels(estimator: BaseEstimator) -> None:
    """``labels_`` has an int64 for every row: from 0, at most the wanted number of clusters, or -1 for noise."""
    for case in (separated(), crowded()):
        model = fitted(estimator, case.X, constraints=case.links)
        _expect_cluster_numbers(estimator, model.labels_, "labels_")
        expect(model.labels_.dtype == np.int64, f"labels_ has the dtype {model.labels_.dtype}, not int64.")
        expect(model.n_features_in_ == N_FEATURES, f"n_features_in_ is {model.n_features_in_}.")


def check_predict(estimator: BaseEstimator) -> None:
    """``predict`` returns cluster numbers, one per row, for any number of rows."""
    case = separated()
    model = fitted(estimator, case.X, constraints=case.links)
    _expect_cluster_numbers(estimator, model.predict(case.X), "predict")
    some = model.predict(case.X[:5])
    expect_labels(some, model.predict(case.X)[:5], "predict of five rows differs from predict of all rows")


def _expect_cluster_numbers(estimator: BaseEstimator, labels: Any, where: str) -> None:
    """Fail unless these are cluster numbers of all rows."""
    expect(isinstance(labels, np.ndarray), f"{where} is a {type(labels).__name__}, not an array.")
    expect(labels.shape == (N_ROWS,), f"{where} has the shape {labels.shape}, not ({N_ROWS},).")
    expect(labels.dtype.kind in "iu", f"{where} has the dtype {labels.dtype}, not integers.")
    smallest, largest = int(labels.min()), int(labels.max())
    n_clusters = N_CLUSTERS if count_parameter(estimator) else len(np.unique(labels[labels >= 0]))
    expect(smallest >= -1, f"{where} contains {smallest}; only -1 for noise may be negative.")
    expect(largest < n_clusters, f"{where} contains {largest}; there are {n_clusters} clusters, numbered from 0.")


def check_fit_predict(estimator: BaseEstimator) -> None:
    """``fit_predict`` takes links and returns ``labels_``."""
    case = crowded()
    model = prepared(estimator)
    returned = model.fit_predict(case.X, **links_for(model, case.links))
    expect_labels(returned, model.labels_, "fit_predict does not return labels_")
    alone = fitted(estimator, case.X, constraints=case.links).labels_
    expect_labels(returned, alone, "fit_predict differs from fit")


def check_same_seed(estimator: BaseEstimator) -> None:
    """The same seed gives the same result bit for bit, independent of numpy's global generator."""
    case = crowded()
    with _global_seed(1):
        one = fitted(estimator, case.X, constraints=case.links)
    with _global_seed(2):
        other = fitted(estimator, case.X, constraints=case.links)
    expect_same_fit(other, one, "two fits with the same seed differ")
    expect_same_fit(refit(other, case.X, constraints=case.links), one, "a second fit of the same estimator differs")


@contextmanager
def _global_seed(seed: int) -> Iterator[None]:
    """Seed numpy's global generator, and restore it afterwards."""
    state = np.random.get_state()  # noqa: NPY002  (the generator that an estimator must not use)
    np.random.seed(seed)  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(state)  # noqa: NPY002


def check_pickle(estimator: BaseEstimator) -> None:
    """A fitted estimator survives pickling."""
    case = crowded()
    model = fitted(estimator, case.X, constraints=case.links)
    back = pickle.loads(pickle.dumps(model))
    expect_same_fit(back, model, "after pickling it differs")
    if hasattr(model, "predict"):
        expect_labels(back.predict(case.X), model.predict(case.X), "after pickling predict differs")


def check_clone(estimator: BaseEstimator) -> None:
    """A clone of a fitted estimator has its parameters, no learned attributes, and gives the same fit."""
    case = crowded()
    model = fitted(estimator, case.X, constraints=case.links)
    copy = clone(model)
    kept = learned(copy)
    expect(not kept, f"a clone keeps {', '.join(kept)}.")
    expect_same_fit(refit(copy, case.X, constraints=case.links), model, "the fit of a clone differs")


def check_fit_returns_self(estimator: BaseEstimator) -> None:
    """``fit`` returns the estimator itself."""
    case = crowded()
    model = prepared(estimator)
    expect(refit(model, case.X, constraints=case.links) is model, "fit does not return the estimator.")


def check_names_of_learned_attributes(estimator: BaseEstimator) -> None:
    """Attributes of ``fit`` end in an underscore or are private; ``labels_`` and, of links, ``violations_`` are set."""
    case = crowded()
    model = prepared(estimator)
    before = set(vars(model))
    refit(model, case.X, constraints=case.links)
    new = set(vars(model)) - before
    misnamed = sorted(name for name in new if not name.startswith("_") and not name.endswith("_"))
    expect(not misnamed, f"fit sets {', '.join(misnamed)}, without an underscore at the end.")
    expected = {"labels_": np.ndarray} | ({"violations_": Constraints} if takes_links(model) else {})
    for name, kind in expected.items():
        expect(isinstance(getattr(model, name, None), kind), f"{name} is not a {kind.__name__} after fit.")


def check_nothing_given_is_changed(estimator: BaseEstimator) -> None:
    """``fit`` changes neither the parameters nor X, y or the links."""
    case = separated()
    X, y = case.X.copy(), case.partial_labels
    links = Constraints(case.links.must_link, case.links.cannot_link)
    model = prepared(estimator)
    before = model.get_params()
    refit(model, X, y, constraints=links)
    after = model.get_params()
    changed = [name for name, value in before.items() if value is not after[name]]
    expect(not changed, f"fit changes the parameters {', '.join(changed)}.")
    expect(np.array_equal(X, case.X), "fit changes X.")
    expect(np.array_equal(y, case.partial_labels), "fit changes y.")
    expect(links == case.links, "fit changes the links.")


def check_pipeline(estimator: BaseEstimator) -> None:
    """A pipeline routes the links to its last step."""
    case = crowded()
    scaled = StandardScaler(with_mean=False).fit_transform(case.X)
    expected = fitted(estimator, scaled, constraints=case.links)
    with config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(StandardScaler(with_mean=False), prepared(estimator))
        pipeline.fit(case.X, **links_for(estimator, case.links))
    expect_same_fit(pipeline[-1], expected, "in a pipeline it differs from a separate fit")


def check_cross_validation(estimator: BaseEstimator) -> None:
    """Cross-validation gives each fold the links between its own rows."""
    case = crowded()
    aligned = case.links.on(N_ROWS)
    folds = KFold(2, shuffle=True, random_state=0)
    with config_context(enable_metadata_routing=True):
        models = cross_validate(
            prepared(estimator),
            case.X,
            cv=folds,
            params=links_for(estimator, aligned),
            scoring=lambda *_: 0.0,
            return_estimator=True,
        )["estimator"]
    for model, (train, _) in zip(models, folds.split(case.X), strict=True):
        expected = fitted(estimator, case.X[train], constraints=aligned[train])
        expect_same_fit(model, expected, "in a fold of cross-validation it differs from a separate fit")


def check_set_output(estimator: BaseEstimator) -> None:
    """``transform`` returns a data frame on request, with the columns of ``get_feature_names_out``."""
    case = separated()
    plain = fitted(estimator, case.X, constraints=case.links).transform(case.X)
    model = refit(prepared(estimator).set_output(transform="pandas"), case.X, constraints=case.links)
    frame = model.transform(case.X)
    expect(isinstance(frame, pd.DataFrame), f"transform returns a {type(frame).__name__}, not a data frame.")
    names = list(model.get_feature_names_out())
    expect(list(frame.columns) == names, "the columns are not those of get_feature_names_out.")
    expect(same_value(frame.to_numpy(), plain), "the data frame and the array have different values.")
