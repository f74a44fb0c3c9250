"""Estimators with their links inside: the same results, and the conventions of scikit-learn."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from mustlink import RCA, ConstrainedHDBSCAN, Constraints, COPKMeans, PCKMeans, bind
from mustlink.errors import ConstraintError

X, CLASSES = make_blobs(60, centers=3, cluster_std=3.0, random_state=0)
LINKS = Constraints.sample(CLASSES, 30, random_state=0)


# Some tables of scikit-learn's checks have fewer different rows than n_clusters; its own KMeans warns of them as well.
@pytest.mark.filterwarnings("ignore:.*clusters:sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([bind(PCKMeans(2, random_state=0), Constraints())])
def test_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("inner", [PCKMeans(3, random_state=0), COPKMeans(3, random_state=0), ConstrainedHDBSCAN()])
@pytest.mark.parametrize("links", [LINKS, LINKS.on(60)])
def test_the_same_as_with_links(inner: Any, links: Any) -> None:
    expected = clone(inner).fit(X, constraints=LINKS)
    bound = bind(inner, links)
    np.testing.assert_array_equal(bound.fit_predict(X), expected.labels_)
    assert not hasattr(inner, "labels_")
    assert bound.estimator_.violations_ == expected.violations_
    assert hasattr(bound, "predict") == hasattr(inner, "predict")
    assert hasattr(bound, "transform") == hasattr(inner, "transform")
    again = pickle.loads(pickle.dumps(clone(bound))).fit(X)
    np.testing.assert_array_equal(again.labels_, expected.labels_)
    if hasattr(inner, "predict"):
        np.testing.assert_array_equal(bound.predict(X[:9]), expected.predict(X[:9]))


def test_parameters_and_partial_labels() -> None:
    bound = bind(PCKMeans(2), LINKS).set_params(estimator__n_clusters=3, estimator__random_state=0)
    assert bound.get_params()["estimator__n_clusters"] == 3
    y = np.where(np.arange(60) < 20, CLASSES, -1)
    expected = PCKMeans(3, random_state=0).fit(X, y, constraints=LINKS).labels_
    np.testing.assert_array_equal(bound.fit(X, y).labels_, expected)


def test_inside_a_pipeline() -> None:
    frame = pd.DataFrame(X, columns=["a", "b"])
    pipeline = make_pipeline(PCA(2), bind(PCKMeans(3, random_state=0), LINKS.on(60)))
    labels = pipeline.fit_predict(frame)
    expected = PCKMeans(3, random_state=0).fit(PCA(2).fit_transform(X), constraints=LINKS)
    np.testing.assert_array_equal(labels, expected.labels_)
    named = bind(PCKMeans(3, random_state=0), LINKS).set_output(transform="pandas").fit(frame)
    assert list(named.transform(frame).columns) == list(named.get_feature_names_out())
    assert list(named.feature_names_in_) == ["a", "b"]


def test_around_a_pipeline() -> None:
    """The links reach every step that takes them, and the labels are those of the last step."""
    frame = pd.DataFrame(X, columns=["a", "b"])
    pipeline = make_pipeline(PCA(2), RCA(), COPKMeans(3, random_state=0))
    bound = bind(pipeline, LINKS.on(60)).fit(frame)
    table = RCA().fit(rotated := PCA(2).fit_transform(frame), constraints=LINKS).transform(rotated)
    expected = COPKMeans(3, random_state=0).fit(table, constraints=LINKS)
    np.testing.assert_array_equal(bound.labels_, expected.labels_)
    np.testing.assert_array_equal(bound.fit_predict(frame), expected.labels_)
    np.testing.assert_array_equal(bound.predict(frame[:9]), expected.predict(table[:9]))
    assert list(bound.feature_names_in_) == ["a", "b"]
    with config_context(enable_metadata_routing=True):
        routed = make_pipeline(PCA(2), COPKMeans(3, random_state=0).set_fit_request(constraints=True))
        labels = COPKMeans(3, random_state=0).fit(rotated, constraints=LINKS).labels_
        np.testing.assert_array_equal(bind(routed, LINKS).fit(frame).labels_, labels)


def test_a_metric() -> None:
    bound = bind(RCA(), LINKS).fit(X)
    np.testing.assert_array_equal(bound.transform(X), RCA().fit(X, constraints=LINKS).transform(X))
    np.testing.assert_array_equal(bound.fit_transform(X), bound.transform(X))
    assert not hasattr(bound, "labels_")
    assert not hasattr(bound, "fit_predict")


def test_another_number_of_rows_is_refused() -> None:
    with pytest.raises(ConstraintError, match="bound to 60 rows, but fit was given 40 rows"):
        bind(PCKMeans(3), LINKS.on(60)).fit(X[:40])
    with pytest.raises(ConstraintError, match=r"cross-validation .* cannot use bound links"):
        cross_val_score(bind(PCKMeans(3), LINKS.on(60)), X, error_score="raise")
    with pytest.raises(ConstraintError, match="the table has 10 rows"):
        bind(PCKMeans(3), LINKS).fit(X[:10])


@pytest.mark.parametrize(
    ("estimator", "links", "message"),
    [
        (KMeans(3), LINKS, "KMeans takes no constraints"),
        (make_pipeline(PCA(2), KMeans(3)), LINKS, "No step of this Pipeline takes constraints"),
        (PCKMeans, LINKS, "bind takes an estimator"),
        (PCKMeans(3), [(0, 1)], "bind takes a mustlink.Constraints, got list"),
    ],
)
def test_bad_input(estimator: Any, links: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        bind(estimator, links).fit(X)


def test_not_fitted() -> None:
    with pytest.raises(NotFittedError):
        bind(PCKMeans(3), LINKS).predict(X)
