"""Constraints aligned with rows: how they are cut, and what scikit-learn makes of them."""

from __future__ import annotations

import inspect
import pickle
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import _safe_indexing, resample
from sklearn.utils.validation import _check_method_params, _num_samples

from mustlink import Constraints
from mustlink.base import ConstrainedClusterMixin
from mustlink.constraints import AlignedConstraints
from mustlink.errors import ConstraintError
from reference.random_links import Case, cases

N = 12
X = np.arange(2.0 * N).reshape(N, 2)
LINKS = Constraints(
    [(0, 1), (1, 5), (4, 11), (7, 8)],
    [(0, 4), (2, 9), (5, 10), (3, 6)],
    must_link_weight=[1, 2, 3, 4],
    cannot_link_weight=[0.5, 0.25, 0.125, 8],
)


class Recorder(ConstrainedClusterMixin, BaseEstimator):
    """Clusters nothing, and remembers what it was given."""

    def __init__(self, n_clusters: int = 2) -> None:
        self.n_clusters = n_clusters

    def fit(self, X: Any, y: Any = None, *, constraints: Any = None) -> Recorder:
        self.rows_ = np.asarray(X)[:, 0]
        self.links_ = self._check_fit_input(X, y, constraints)[1]
        self.labels_ = np.zeros(len(X), dtype=np.intp)
        return self

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        # With routing on, scikit-learn's pipelines always pass sample_weight to score.
        return float(self.n_clusters)


def cut_by_hand(links: Constraints, rows: Any) -> Constraints:
    """Take every pair whose two rows are among the chosen, once for every two of their copies."""
    kept: dict[str, list[Any]] = {"must": [], "cannot": []}
    for kind, pairs, weights in (
        ("must", links.must_link, links.must_link_weight),
        ("cannot", links.cannot_link, links.cannot_link_weight),
    ):
        for (a, b), weight in zip(pairs.tolist(), weights, strict=True):
            for i, row in enumerate(rows):
                for j, other in enumerate(rows):
                    if (row, other) == (a, b):
                        kept[kind].append((i, j, weight))
    return Constraints(
        [(i, j) for i, j, _ in kept["must"]],
        [(i, j) for i, j, _ in kept["cannot"]],
        must_link_weight=[w for *_, w in kept["must"]],
        cannot_link_weight=[w for *_, w in kept["cannot"]],
    )


@given(case=cases(max_samples=9), data=st.data())
@settings(deadline=None, max_examples=150)
def test_any_rows_in_any_order_and_repeated(case: Case, data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.integers(-case.n_samples, case.n_samples - 1), max_size=12))
    links = Constraints(case.must_link, case.cannot_link, must_link_weight=1.5)
    aligned = links.on(case.n_samples)[rows]
    assert len(aligned) == len(rows)
    assert aligned.shape == (len(rows),)
    assert aligned.constraints == cut_by_hand(links, [row % case.n_samples for row in rows])


@pytest.mark.parametrize(
    "key",
    [
        [1, 0, 5],
        np.array([1, 0, 5]),
        np.array([4, 11, 0], dtype=np.uint8),
        np.array([-1, -8]),
        [],
        slice(None),
        slice(4, None, 3),
        slice(None, None, -1),
        np.arange(N) % 2 == 0,
        [True, False] * (N // 2),
        pd.Series([1, 0, 5]),
        pd.Index([4, 11]),
        (np.array([1, 0, 5]), ...),
        np.array([0, 0, 1, 1, 1]),
        4,
        np.int64(-1),
    ],
)
def test_every_way_to_index_an_array(key: Any) -> None:
    taken = LINKS.on(N)[key]
    rows = np.atleast_1d(np.arange(N)[key[0] if isinstance(key, tuple) else key])
    assert isinstance(taken, AlignedConstraints)
    assert len(taken) == len(rows)
    assert taken.constraints == cut_by_hand(LINKS, rows)


@pytest.mark.parametrize("key", [[N], -N - 1, np.array([True, False]), (1, 2), None, "rows", np.zeros((2, 2), int)])
def test_an_index_that_makes_no_sense(key: Any) -> None:
    with pytest.raises(IndexError):
        LINKS.on(N)[key]


def test_cutting_twice_is_cutting_once() -> None:
    first, second = np.array([0, 1, 5, 4, 11, 8]), np.array([2, 1, 5])
    assert LINKS.on(N)[first][second] == LINKS.on(N)[first[second]]


def test_a_value_with_the_length_of_the_table() -> None:
    aligned = LINKS.on(N)
    assert len(aligned) == _num_samples(aligned) == N
    assert aligned.constraints is LINKS
    assert repr(aligned) == "Constraints(4 must-links, 4 cannot-links) on 12 rows"
    assert aligned == Constraints.on(LINKS, N) == pickle.loads(pickle.dumps(aligned))
    assert hash(aligned) == hash(LINKS.on(N))
    assert aligned != LINKS.on(N + 1)
    assert aligned != LINKS
    with pytest.raises(ConstraintError, match="rows 4 and 11, but the table has 11 rows"):
        LINKS.on(11)


# ---- scikit-learn ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [[5, 1, 0], np.array([0, 4, 11]), np.arange(N) > 3, slice(2, 9)])
def test_scikit_learn_cuts_it_like_a_column(rows: Any) -> None:
    expected = LINKS.on(N)[rows]
    assert _safe_indexing(LINKS.on(N), rows) == expected
    if not isinstance(rows, slice):
        assert _check_method_params(X, {"constraints": LINKS.on(N)}, rows) == {"constraints": expected}


def test_a_bootstrap_sample_carries_its_links() -> None:
    rows, taken = resample(np.arange(N), LINKS.on(N), random_state=0)
    assert taken.constraints == cut_by_hand(LINKS, rows)


FOLDS = [KFold(3), KFold(4, shuffle=True, random_state=0)]


def expected_by_fold(cv: KFold) -> list[Constraints]:
    return [cut_by_hand(LINKS, train) for train, _ in cv.split(X)]


@pytest.mark.parametrize("routing", [False, True])
@pytest.mark.parametrize("cv", FOLDS)
def test_cross_validate_gives_each_fold_its_own_links(cv: KFold, routing: bool) -> None:
    with sklearn.config_context(enable_metadata_routing=routing):
        result = cross_validate(Recorder(), X, cv=cv, params={"constraints": LINKS.on(N)}, return_estimator=True)
    for estimator, (train, _), links in zip(result["estimator"], cv.split(X), expected_by_fold(cv), strict=True):
        np.testing.assert_array_equal(estimator.rows_, X[train, 0])
        assert estimator.links_ == links
    assert any(len(links) for links in expected_by_fold(cv))


@pytest.mark.parametrize("routing", [False, True])
@pytest.mark.parametrize("cv", FOLDS)
def test_cross_validate_through_a_pipeline(cv: KFold, routing: bool) -> None:
    pipeline = make_pipeline(StandardScaler(), Recorder())
    params = {"constraints" if routing else "recorder__constraints": LINKS.on(N)}
    with sklearn.config_context(enable_metadata_routing=routing):
        result = cross_validate(pipeline, X, cv=cv, params=params, return_estimator=True)
    assert [pipe[-1].links_ for pipe in result["estimator"]] == expected_by_fold(cv)


@pytest.mark.parametrize("routing", [False, True])
def test_grid_search_refits_with_all_links(routing: bool) -> None:
    with sklearn.config_context(enable_metadata_routing=routing):
        search = GridSearchCV(Recorder(), {"n_clusters": [2, 3]}, cv=KFold(3)).fit(X, constraints=LINKS.on(N))
    assert search.best_params_ == {"n_clusters": 3}
    assert search.best_estimator_.links_ == LINKS


@pytest.mark.parametrize("form", [LINKS, LINKS.on(N)])
@pytest.mark.parametrize("routing", [False, True])
def test_a_pipeline_passes_links_on(form: Any, routing: bool) -> None:
    pipeline = make_pipeline(StandardScaler(), Recorder())
    with sklearn.config_context(enable_metadata_routing=routing):
        pipeline.fit(X, **{"constraints" if routing else "recorder__constraints": form})
        assert pipeline[-1].links_ == LINKS
        labels = pipeline.fit_predict(X, **{"constraints" if routing else "recorder__constraints": form})
    assert labels.tolist() == [0] * N


@pytest.mark.parametrize("routing", [False, True])
@pytest.mark.parametrize("links", [LINKS, Constraints(), Constraints([(i, i + 1) for i in range(N)])])
def test_plain_pairs_in_cross_validation_are_refused(links: Constraints, routing: bool) -> None:
    """Also where there are as many pairs as rows, which would be cut like a column."""
    pipeline = make_pipeline(StandardScaler(), Recorder())
    in_pipeline = {"constraints" if routing else "recorder__constraints": links}
    refused = partial(pytest.raises, ConstraintError, match=r"pass constraints\.on\(n_samples\) instead")
    with sklearn.config_context(enable_metadata_routing=routing):
        with refused():
            cross_validate(Recorder(), X, cv=3, params={"constraints": links}, error_score="raise")
        with refused():
            cross_validate(pipeline, X, cv=3, params=in_pipeline, error_score="raise")
        with refused():
            GridSearchCV(Recorder(), {"n_clusters": [2]}, cv=3).fit(X, constraints=links)
        with refused():
            GridSearchCV(pipeline, {"recorder__n_clusters": [2]}, cv=3).fit(X, **in_pipeline)
    with refused():
        resample(X, links)


def test_to_look_for_a_shape_is_no_error() -> None:
    """Notebooks and debuggers ask what an object has."""
    assert hasattr(LINKS, "shape")
    assert "not aligned" in repr(LINKS.shape)
    assert "shape" in dict(inspect.getmembers(LINKS))
    for read in (len, iter, lambda shape: shape[0]):
        with pytest.raises(ConstraintError, match=r"constraints\.on\(n_samples\)"):
            read(LINKS.shape)


def test_links_aligned_with_another_table_are_refused() -> None:
    """scikit-learn passes on whole what has another length than the table; the clusterer notices."""
    with pytest.raises(ConstraintError, match="aligned with 13 rows, but the table has 8"):
        cross_validate(Recorder(), X, cv=KFold(3), params={"constraints": LINKS.on(13)}, error_score="raise")
