"""Consensus clustering against brute force over all partitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from mustlink import ConsensusClustering
from mustlink.graph._consensus import _estimator, _methods
from mustlink.graph._consensus._codes import build_codes, encode, mirkin_distances
from reference import correlation as reference

FAILS = {
    "check_clustering": "every number of its table is a category of its own, and all rows are apart",
    "check_dtype_object": "any object may be a category",
}
METHODS = ["auto", "best_input", "balls", "pivot", "lp_pivot"]


@st.composite
def tables(draw: Any) -> tuple[np.ndarray, np.ndarray]:
    """Up to four clusterings of up to seven rows, with noise (-1) and unknown labels (NaN), and their weights."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = draw(st.integers(2, 7)), draw(st.integers(1, 4))
    X = rng.integers(draw(st.integers(1, 3)), size=shape).astype(float)
    if draw(st.booleans()):
        X[rng.random(shape) < 0.2] = -1
    if draw(st.booleans()):
        X[rng.random(shape) < 0.2] = np.nan
    weights = np.ones(shape[1]) if draw(st.booleans()) else rng.integers(1, 4, size=shape[1]) / 2
    return X, weights


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("local_search", [True, False])
@settings(max_examples=25, deadline=None)
@given(table=tables())
def test_disagreement_and_bounds_agree_with_brute_force(
    method: str, local_search: bool, table: tuple[np.ndarray, np.ndarray]
) -> None:
    X, weights = table
    model = ConsensusClustering(method, weights=weights, local_search=local_search, random_state=0).fit(X)
    least = reference.least_consensus_cost(X, weights)
    assert np.isclose(model.disagreement_, reference.consensus_cost(X, model.labels_, weights))
    assert model.lower_bound_ <= least + 1e-9
    assert model.disagreement_ >= least - 1e-9
    if np.isnan(X).any():
        return
    # Without unknown labels, distances are a metric, and the bounds are proven.
    assert model.best_input_disagreement_ <= 2 * least + 1e-9
    if method in ("auto", "best_input"):
        assert model.disagreement_ <= 2 * least + 1e-9
    if method == "balls":
        assert model.disagreement_ <= 3 * least + 1e-9


def test_reduction_has_the_same_cost_and_a_metric() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(3, size=(7, 5))
    apart = (X[:, None] != X[None]).sum(axis=2)
    assert (apart[:, :, None] <= apart[:, None, :] + apart[None]).all()
    for labels in ([0] * 7, list(range(7)), [0, 1, 0, 1, 2, 2, 0]):
        together = np.equal.outer(labels, labels)[np.triu_indices(7, 1)]
        signed = np.where(together, apart[np.triu_indices(7, 1)], (5 - apart)[np.triu_indices(7, 1)]).sum()
        assert signed == reference.consensus_cost(X, labels) == sum(reference.mirkin(labels, run) for run in X.T)


def test_one_clustering_is_its_own_consensus() -> None:
    y = np.random.default_rng(1).integers(4, size=50)
    for method in METHODS:
        model = ConsensusClustering(method, random_state=0).fit(y[:, None])
        assert model.disagreement_ == 0
        assert model.ratio_ == 1
        assert (np.equal.outer(model.labels_, model.labels_) == np.equal.outer(y, y)).all()


def test_mirkin_distances_come_from_contingency_tables() -> None:
    rng = np.random.default_rng(2)
    labels = rng.integers(4, size=60)
    columns = rng.integers(3, size=(60, 3))
    assert mirkin_distances(labels, columns).tolist() == [reference.mirkin(labels, column) for column in columns.T]


def test_equal_rows_are_one_node() -> None:
    X = np.random.default_rng(3).integers(2, size=(5_000, 3))
    codes, node = build_codes(encode(X), np.ones(3))
    assert codes.n_nodes == len(np.unique(X, axis=0))
    assert (codes.size == np.bincount(node)).all()


@pytest.mark.parametrize("method", ["auto", "lp_pivot"])
def test_samples_find_the_clusters_of_many_distinct_rows(method: str) -> None:
    rng = np.random.default_rng(4)
    y = rng.integers(5, size=3_000)
    X = np.where(rng.random((3_000, 12)) < 0.2, rng.integers(5, size=(3_000, 12)), y[:, None])
    model = ConsensusClustering(method, sample_size=200, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.99
    assert model.disagreement_ <= model.best_input_disagreement_


def test_too_many_clusters_for_local_search_come_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_methods, "MAX_CLUSTERS", 1)
    monkeypatch.setattr(_estimator, "MAX_CLUSTERS", 1)
    X = np.random.default_rng(5).integers(3, size=(30, 4))
    with pytest.warns(ConvergenceWarning, match=r"The consensus has \d+ clusters, and local search was left out"):
        ConsensusClustering(random_state=0).fit(X)
    ConsensusClustering(local_search=False, random_state=0).fit(X)


def test_texts_missing_values_and_frames() -> None:
    frame = pd.DataFrame({"a": ["x", "x", "y", None], "b": [1.0, 1.0, 2.0, 2.0], "c": [0, 0, -1, -1]})
    model = ConsensusClustering(random_state=0).fit(frame)
    # Rows 2 and 3: together in b, apart as noise in c, and unknown in a.
    assert model.labels_[0] == model.labels_[1] != model.labels_[2]
    assert model.disagreement_ == 1
    cells = [[None if cell != cell else cell for cell in row] for row in frame.to_numpy().tolist()]
    assert ConsensusClustering(random_state=0).fit(cells).disagreement_ == 1


@pytest.mark.parametrize("weights", [[1.0], [1.0, -1.0, 1.0], [1.0, np.nan, 1.0]])
def test_bad_weights_are_refused(weights: list[float]) -> None:
    with pytest.raises(ValueError, match=r"weights must be 3 positive numbers"):
        ConsensusClustering(weights=weights).fit(np.ones((4, 3)))


@parametrize_with_checks([ConsensusClustering()], expected_failed_checks=lambda estimator: FAILS)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)
