"""ResidualClustering: residuals beside one regression per column, any clusterer, new rows, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale

from alternative.problems import points_with_two_splits
from alternative.test_condens import Broken
from mustlink import CCIB, CondEns, ResidualClustering
from mustlink.alternative import alternatives
from mustlink.alternative._residual import Explained
from mustlink.errors import EstimatorError
from mustlink.estimator_checks._expect import same_partition
from mustlink.metrics import purity
from reference import alternative as slow


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(0, 3))
def test_residuals_are_those_of_a_regression(seed: int, n_cells: int, n_numbers: int) -> None:
    rng = np.random.default_rng(seed)
    cell = np.sort(np.concatenate([np.arange(n_cells), rng.integers(n_cells, size=20)]))
    X, numbers = rng.normal(size=(len(cell), 3)) + cell[:, None], rng.normal(size=(len(cell), n_numbers))
    found = Explained.of(X, numbers, cell).subtract(X, numbers, cell)
    assert np.allclose(found, slow.residuals(X, cell, numbers))


def test_class_means_by_loops() -> None:
    X, y = load_wine(return_X_y=True)
    X = scale(X)
    rest = X.copy()
    for name in range(3):
        rest[y == name] -= rest[y == name].mean(axis=0)
    expected = KMeans(3, n_init=20, random_state=0).fit(rest)
    model = ResidualClustering(3, random_state=0).fit(X, known=y)
    assert purity(expected.labels_, model.labels_) > 0.95
    assert model.explained_ == pytest.approx(1 - np.square(rest).sum() / np.square(X).sum())
    labels = model.labels_
    explained = np.square(rest).sum() - sum(
        np.square(rest[labels == c] - rest[labels == c].mean(axis=0)).sum() for c in range(3)
    )
    assert max(model.objective_) == pytest.approx(explained / len(X))
    assert model.information_ == pytest.approx(slow.variance_decrease(X, labels, y, 0.0))
    assert model.quality_ == pytest.approx(slow.variance_decrease(X, labels, y, 0.3 * (1 - model.explained_)))


def test_it_tells_less_of_the_known_classes_than_the_others() -> None:
    X, y = load_wine(return_X_y=True)
    told = [cls(3, random_state=0).fit(scale(X), known=y).nmi_known_[0] for cls in (ResidualClustering, CCIB, CondEns)]
    assert told[0] < 0.02
    assert told[0] < min(told[1:]) / 5


def test_nothing_known_is_the_base_clusterer() -> None:
    X, _, _ = points_with_two_splits()
    plain = KMeans(3, n_init=3, random_state=0).fit(X)
    assert same_partition(ResidualClustering(3, random_state=0).fit(X).labels_, plain.labels_)
    for known in (np.zeros(len(X), dtype=int), np.full(len(X), 2.5)):
        with pytest.warns(UserWarning, match="known is constant"):
            model = ResidualClustering(3, random_state=0).fit(X, known=known)
        assert same_partition(model.labels_, plain.labels_)
        assert model.nmi_known_[0] == 0
        assert model.explained_ == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    "estimator",
    ["kmeans", "mixture", KMeans(n_init=1), AgglomerativeClustering(), HDBSCAN(min_cluster_size=5, copy=True)],
)
def test_any_clusterer_finds_the_other_split(estimator: Any) -> None:
    X, a, b = points_with_two_splits()
    model = ResidualClustering(2, estimator=estimator, n_init=2, random_state=0).fit(X, known=a)
    assert purity(b, model.labels_) > 0.95
    assert model.nmi_known_[0] < 0.05
    assert len(model.objective_) == (1 if isinstance(estimator, AgglomerativeClustering | HDBSCAN) else 2)
    is_used = model.labels_ >= 0
    assert np.mean(model.predict(X, known=a)[is_used] == model.labels_[is_used]) > 0.95


def test_several_known_splits_by_cells() -> None:
    rng = np.random.default_rng(0)
    splits = rng.integers(2, size=(3, 200))
    X = rng.normal(size=(200, 3)) + (splits * np.array([[16], [12], [7]])).T
    # Together, the first two also shift the third column, which no sum of two effects explains.
    X[:, 2] += 20.0 * (splits[0] & splits[1])
    for known in (splits[:2].T, pd.DataFrame(splits[:2].T.astype(str)), list(splits[:2])):
        model = ResidualClustering(2, random_state=0).fit(X, known=known)
        assert purity(splits[2], model.labels_) > 0.98
        assert model.nmi_known_.shape == (2,)
        assert np.array_equal(model.predict(X, known=known), model.labels_)


def test_numbers_are_subtracted_with_classes_and_without() -> None:
    rng = np.random.default_rng(0)
    habit, sex, age = rng.integers(2, size=200), rng.integers(2, size=200), rng.uniform(20, 80, size=200)
    X = np.column_stack([age, age / 2 + 6 * habit, 6 * habit + 9 * sex]) + rng.normal(size=(200, 3))
    alone = ResidualClustering(2, random_state=0).fit(X[:, :2], known=age)
    assert purity(habit, alone.labels_) > 0.95
    assert np.isnan(alone.vi_known_[0])
    assert alone.nmi_known_[0] < 0.05
    known = pd.DataFrame({"age": age, "sex": np.array(["f", "m"])[sex]})
    both = ResidualClustering(2, random_state=0).fit(X, known=known)
    assert purity(habit, both.labels_) > 0.95
    assert np.array_equal(both.predict(X, known=known), both.labels_)
    # A class that did not occur: the nearest mean, with the number that is known.
    assert np.mean(both.predict(X, known=known.assign(sex="x")) == both.labels_) > 0.95
    with pytest.raises(ValueError, match="has the number nan at row 0; finite numbers"):
        both.predict(X, known=known.assign(age=np.nan))


def test_new_rows_without_a_class_take_the_nearest() -> None:
    X, a, _ = points_with_two_splits()
    model = ResidualClustering(2, random_state=0).fit(X, known=a)
    assert np.array_equal(model.predict(X), model.labels_)
    assert np.array_equal(model.predict(X, known=a + 7), model.labels_)
    # With a class given, it is this one: a point between them is high in the left class and low in the right.
    rows = np.sum(X * [1, 0.7], axis=1, keepdims=True)
    line = ResidualClustering(2, random_state=0).fit(rows, known=a)
    low, high = (line.predict([[place]], known=[0])[0] for place in (0.0, 4.2))
    assert [line.predict([[8.0]], known=[name])[0] for name in (0, 1)] == [high, low]
    with pytest.raises(ValueError, match="known has 2 columns, and the fit was with 1"):
        model.predict(X, known=np.column_stack([a, a]))
    with pytest.raises(ValueError, match="known has 1 column, and the fit was with 0"):
        ResidualClustering(2, random_state=0).fit(X).predict(X, known=a)


def test_single_precision_and_a_far_origin() -> None:
    X, a, b = points_with_two_splits()
    for table in (X.astype(np.float32), X + 1e6, (X * 1e-9).astype(np.float32)):
        model = ResidualClustering(2, random_state=0).fit(table, known=a)
        assert purity(b, model.labels_) > 0.95
        assert np.array_equal(model.predict(table, known=a), model.labels_)
        # The fitted clusterer keeps the type.
        assert model.estimator_.cluster_centers_.dtype == table.dtype


def test_the_order_of_rows_has_no_part() -> None:
    rng = np.random.default_rng(0)
    X, known, age = rng.normal(size=(80, 4)), rng.integers(3, size=80), rng.normal(size=80)
    X[40:] = X[:40]
    order = rng.permutation(80)
    for given_known in (known, pd.DataFrame({"kind": known, "age": age})):
        again = given_known.iloc[order] if isinstance(given_known, pd.DataFrame) else given_known[order]
        one = ResidualClustering(4, n_init=2, random_state=0).fit(X, known=given_known)
        two = ResidualClustering(4, n_init=2, random_state=0).fit(X[order], known=again)
        assert same_partition(one.labels_[order], two.labels_)


def test_one_after_another() -> None:
    rng = np.random.default_rng(0)
    splits = rng.integers(2, size=(3, 160))
    X = rng.normal(size=(160, 3)) + (splits * np.array([[14], [11], [8]])).T
    found = alternatives(ResidualClustering(2, n_init=1), X, n_references=9, random_state=1)
    assert found.labels.shape == (160, 3)
    assert found.is_exhausted
    for labels, split in zip(found.labels.T, splits, strict=True):
        assert purity(split, labels) > 0.95
    age = rng.normal(size=160)
    with_numbers = alternatives(
        ResidualClustering(2, n_init=1),
        np.abs(X) * (X > 3),
        known=age,
        max_alternatives=1,
        n_references=2,
        random_state=0,
    )
    assert with_numbers.labels.shape[1] == 1


def test_a_split_in_other_columns_of_each_class_is_for_ccib() -> None:
    """What it cannot do as well: clusters of residuals have the same means in all classes."""
    right: dict[str, list[float]] = {"ResidualClustering": [], "CCIB": []}
    for seed in range(3):
        rng = np.random.default_rng(seed)
        known, other = rng.integers(3, size=300), rng.integers(2, size=300)
        X = rng.normal(size=(300, 4))
        X[:, 0] += 20 * known
        for name, distance in enumerate((9, 7, 5)):
            X[:, 1 + name] += distance * other * (known == name)
        for model in (ResidualClustering(2, random_state=0), CCIB(2, random_state=0)):
            labels = model.fit(X, known=known).labels_
            pure = [purity(other[known == name], labels[known == name]) for name in range(3)]
            right[type(model).__name__].append(float(np.mean(pure)))
    assert np.mean(right["CCIB"]) > np.mean(right["ResidualClustering"]) + 0.03


@pytest.mark.parametrize(
    ("X", "known", "error", "message"),
    [
        (np.arange(16.0).reshape(8, 2), [0, 1], ValueError, "X has 8 rows, and known has the shape"),
        (np.arange(16.0).reshape(8, 2), list(range(8)), ValueError, "one row in every class"),
        (np.repeat([[0.1], [0.7]], 4, axis=0), [0] * 4 + [1] * 4, ValueError, "explains X completely"),
        (np.arange(8.0)[:, None] / 3, np.arange(8.0) / 7, ValueError, "explains X completely"),
        (sparse.csr_array(np.eye(8)), [0, 1] * 4, TypeError, "X is sparse, .* use CCIB or CondEns"),
    ],
)
def test_bad_input_is_refused(X: Any, known: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        ResidualClustering(2).fit(X, known=known)


def test_fewer_distinct_residuals_than_clusters() -> None:
    X = np.repeat([[0.0, 0.0], [0.0, 5.0], [9.0, 0.0], [9.0, 5.0]], 5, axis=0)
    with pytest.warns(ConvergenceWarning, match="5 clusters were asked for"):
        model = ResidualClustering(5, random_state=0).fit(X, known=np.repeat([0, 1], 10))
    assert len(np.unique(model.labels_)) == 2


def test_a_clusterer_that_fails_is_named() -> None:
    X, a, _ = points_with_two_splits(20)
    with pytest.raises(
        EstimatorError, match="The clusterer Broken failed on the residuals, on 20 rows; it says: no luck"
    ):
        ResidualClustering(2, estimator=Broken()).fit(X, known=a)
    with pytest.raises(ValueError, match="estimator"):
        ResidualClustering(2, estimator="multinomial").fit(X)
