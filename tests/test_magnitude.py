"""Numbers whose squares overflow: refused by every class, with their place; smaller ones are computed with."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.utils import get_tags

from conformance import rows_for
from mustlink import Constraints, KernelKMeans, PCKMeans, SeededSingleLink
from mustlink._estimators import count_parameter
from mustlink._magnitude import check_magnitude, largest_number, place_of
from mustlink.catalogue import CATALOGUE, CLASSIFIERS, METRIC_LEARNERS, Entry
from mustlink.errors import FileFormatError, NumberTooLargeError
from mustlink.estimator_checks._cases import refit
from mustlink.tables import encode

CLASSES = np.arange(30) % 3
TABLE = np.random.default_rng(0).normal(size=(30, 3)) + 6.0 * np.eye(3)[CLASSES]
LINKS = Constraints.sample(CLASSES, n_pairs=10, random_state=0)
PRECISIONS = [(np.float64, 1e160), (np.float32, 1e20)]


def estimator_of(entry: Entry) -> Any:
    """Return an estimator for the table, with the quick parameters of its family's tests."""
    parameters = {"n_clusters": 3, "random_state": 0}
    if entry in CATALOGUE:
        parameters |= importlib.import_module(f"{entry.family}.cases").CASES[entry.class_name].fast
    estimator = entry.load()()
    parameters[count_parameter(estimator) or "n_clusters"] = 3
    return estimator.set_params(**{name: parameters[name] for name in parameters if name in estimator.get_params()})


def fit(estimator: Any, X: Any) -> Any:
    """Fit an estimator with links, and a classifier with some labels as well."""
    labels = np.where(np.arange(30) < 6, CLASSES, -1) if is_classifier(estimator) else None
    return refit(estimator, X, labels, constraints=LINKS)


def with_one_large(table: Any, value: float, dtype: Any) -> Any:
    X = table.astype(dtype)
    X[3, 1] = -value
    return X


all_entries = pytest.mark.parametrize(
    "entry", [*CATALOGUE, *METRIC_LEARNERS, *CLASSIFIERS], ids=lambda entry: entry.name
)


@all_entries
@pytest.mark.parametrize(("dtype", "value"), PRECISIONS)
def test_every_class_refuses_a_number_that_overflows(entry: Entry, dtype: Any, value: float) -> None:
    estimator = estimator_of(entry)
    table = rows_for(estimator, TABLE)
    X = with_one_large(table, value, dtype)
    # HDBSCAN computes in double precision whatever is given.
    if entry.class_name == "ConstrainedHDBSCAN" and dtype == np.float32:
        return
    message = (
        rf"Row 3, column 1 of X is -1e\+\d+; numbers above \S+ are too large for squared distances in {dtype.__name__}"
    )
    with pytest.raises(NumberTooLargeError, match=message):
        fit(estimator, X)
    if get_tags(estimator).input_tags.sparse:
        with pytest.raises(NumberTooLargeError, match="Row 3, column 1 of X"):
            fit(estimator, sparse.csr_matrix(X))
    fit(estimator, table.astype(dtype))
    for method in ("predict", "transform"):
        if hasattr(estimator, method):
            with pytest.raises(NumberTooLargeError, match="Row 3, column 1 of X"):
                getattr(estimator, method)(X)


@all_entries
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_class_computes_with_numbers_below_the_limit(entry: Entry, dtype: Any) -> None:
    estimator = estimator_of(entry)
    table = rows_for(estimator, TABLE)
    X = table * (largest_number(dtype, table.size) / (1.01 * np.abs(table).max()))
    fit(estimator, X.astype(dtype))
    for name, value in vars(estimator).items():
        if name.endswith("_") and np.asarray(value).dtype.kind == "f":
            assert np.isfinite(value).all(), name
    if hasattr(estimator, "labels_"):
        same = fit(estimator_of(entry), table).labels_
        pairs = np.unique(np.column_stack([estimator.labels_, same]), axis=0)
        assert len(pairs) == len(np.unique(same)) == len(np.unique(estimator.labels_))


def test_the_limit_falls_with_the_size_of_the_table_in_single_precision() -> None:
    assert largest_number(np.float64, 10**9) == largest_number(np.float64, 1) == 1e75
    small, large = largest_number(np.float32, 6), largest_number(np.float32, 6_000_000)
    assert small == pytest.approx(1000 * large)
    assert 1e15 < large < small < 1e19
    # The sum of all squared differences is representable.
    assert np.float32(6 * (2 * small) ** 2) < np.inf


def test_the_place_is_the_first_in_order_of_the_rows() -> None:
    X = np.zeros((4, 3))
    X[2, 0] = X[1, 2] = 1.0
    for table in (X, sparse.csr_matrix(X), np.asfortranarray(X)):
        values = table.data if sparse.issparse(table) else table
        assert place_of(table, values > 0) == (1, 2)


def test_empty_and_accepted_infinite_entries_are_no_numbers() -> None:
    check_magnitude(sparse.csr_matrix((3, 2)))
    distances = np.array([[0.0, 1.0, np.inf], [1.0, 0.0, np.inf], [np.inf, np.inf, 0.0]])
    SeededSingleLink(metric="precomputed").fit(distances)
    distances[0, 1] = distances[1, 0] = 1e300
    with pytest.raises(NumberTooLargeError, match="Row 0, column 1"):
        SeededSingleLink(metric="precomputed").fit(distances)


def test_given_centers_and_weights_are_checked_too() -> None:
    init = TABLE[:3].copy()
    init[2, 0] = 1e30
    PCKMeans(3, init=TABLE[:3]).fit(TABLE, constraints=LINKS)
    with pytest.raises(NumberTooLargeError, match="Row 2, column 0 of init"):
        PCKMeans(3, init=init).fit(TABLE.astype(np.float32), constraints=LINKS)
    weight = np.ones(30)
    weight[4] = 1e300
    with pytest.raises(ValueError, match=r"sample_weight must be at most 1e\+75, but row 4 has 1e\+300"):
        PCKMeans(3).fit(TABLE, sample_weight=weight)


def test_a_kernel_that_overflows_is_refused() -> None:
    model = KernelKMeans(3, kernel="polynomial", gamma=1.0, degree=10, random_state=0)
    with pytest.raises(NumberTooLargeError, match="The kernel of two rows is as large as inf"):
        model.fit(TABLE * 1e20)
    model.fit(TABLE)
    with pytest.raises(NumberTooLargeError, match="The kernel of two rows is as large as inf"):
        model.predict(TABLE * 1e60)


@pytest.mark.parametrize("scale", [True, False])
def test_tables_are_refused_by_the_same_limit(scale: bool) -> None:
    rows = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [5.0, 1.7e308, np.nan]})
    message = r"row 1: the column 'b' holds 1.7e\+308; numbers above 1e\+75 are too large for squared distances; .*"
    with pytest.raises(FileFormatError, match=message) as raised:
        encode(rows, scale=scale, missing="mean")
    assert ("scale the column" in str(raised.value)) is not scale


def test_single_precision_is_scaled_in_double_precision() -> None:
    rows = pd.DataFrame({"a": np.array([1e20, 2e20, 3e20], dtype=np.float32)})
    np.testing.assert_allclose(encode(rows).X.ravel(), [-(1.5**0.5), 0, 1.5**0.5], rtol=1e-6)
    with pytest.raises(FileFormatError, match="row 0: the column 'a' holds 1e"):
        encode(rows, scale=False)
