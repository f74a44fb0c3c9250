"""Every predict takes rows in blocks, and gives what it gives for the same rows in memory."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import make_blobs

from conformance import case_of, rows_for
from mustlink import Constraints, ResidualClustering
from mustlink._estimators import count_parameter
from mustlink.blocks import FileRows, blockwise
from mustlink.catalogue import CATALOGUE, CLASSIFIERS, Entry
from mustlink.estimator_checks._cases import refit

PREDICTING = [entry for entry in CATALOGUE if hasattr(entry.load(), "predict")]
CLASSES = make_blobs(60, centers=3, n_features=3, random_state=0)[1]
TABLE = make_blobs(60, centers=3, n_features=3, random_state=0)[0].astype(np.float32)


def fitted(entry: Entry, table: np.ndarray) -> Any:
    given = entry.load()().get_params()
    options = {**case_of(entry).fast, count_parameter(entry.load()()): 3, "random_state": 0}
    model = entry.load()(**{name: value for name, value in options.items() if name in given})
    return refit(model, rows_for(model, table), constraints=Constraints.sample(CLASSES, n_pairs=10, random_state=0))


@pytest.mark.filterwarnings("ignore::mustlink.errors.UnmetConstraintsWarning")
@pytest.mark.filterwarnings("ignore::mustlink.errors.InfeasibleWarning")
@pytest.mark.filterwarnings("ignore::mustlink.errors.ApproximationWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("entry", PREDICTING, ids=lambda entry: entry.class_name)
def test_prediction_in_blocks_is_that_in_memory(entry: Entry) -> None:
    model = fitted(entry, TABLE)
    new = rows_for(model, TABLE + np.float32(0.1))
    expected = model.predict(new)
    for block_rows in (7, 60):
        found = model.predict(FileRows(new, block_rows=block_rows))
        assert found.dtype == np.int32
        np.testing.assert_array_equal(found, expected)
    bad = new.copy()
    bad[33, 1] = np.nan
    with pytest.raises(ValueError, match=r"Input X contains NaN: row 33, column 1 of X .block 5 of 9, row 5 of the bl"):
        model.predict(FileRows(bad, block_rows=7))
    with pytest.raises(ValueError, match=f"X has 2 features, but {entry.class_name} is expecting 3 features as input"):
        model.predict(FileRows(np.ascontiguousarray(new[:, :2])))


@pytest.mark.parametrize("entry", PREDICTING, ids=lambda entry: entry.class_name)
def test_the_signature_of_predict_is_kept(entry: Entry) -> None:
    names = list(inspect.signature(entry.load().predict).parameters)
    assert names[:2] == ["self", "X"]
    assert "arguments" not in names
    assert "Parameters" in str(entry.load().predict.__doc__)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("entry", CLASSIFIERS, ids=lambda entry: entry.class_name)
def test_classifiers_return_integer_classes(entry: Entry) -> None:
    links = Constraints.sample(CLASSES, n_pairs=30, random_state=0)
    y = np.where(np.arange(60) < 30, 10 * CLASSES, -1)
    model = entry.load()().fit(TABLE, y, constraints=links)
    found = model.predict(FileRows(TABLE, block_rows=7))
    assert found.dtype == model.classes_.dtype
    np.testing.assert_array_equal(found, model.predict(TABLE))
    names = np.where(np.arange(60) < 30, np.array(["red", "green", "blue"])[CLASSES], "")
    model.fit(TABLE, names, constraints=links)
    with pytest.raises(TypeError, match=r"was fitted on classes of type .*; fit it on numbers of the classes"):
        model.predict(FileRows(TABLE))


@pytest.mark.parametrize("as_list", [False, True])
def test_arguments_with_an_entry_per_row_are_dealt_to_the_blocks(as_list: bool) -> None:
    known = CLASSES % 2
    model = ResidualClustering(n_clusters=2, random_state=0).fit(TABLE, known=known)
    given = known.tolist() if as_list else known
    found = model.predict(FileRows(TABLE, block_rows=7), known=given)
    np.testing.assert_array_equal(found, model.predict(TABLE, known=known))
    np.testing.assert_array_equal(model.predict(FileRows(TABLE, block_rows=7)), model.predict(TABLE))
    with pytest.raises(ValueError, match="known has 59 entries, and X has 60 rows"):
        model.predict(FileRows(TABLE), known=given[:59])


class WithOffset(BaseEstimator):
    """Adds numbers of the rows, which may be given by position."""

    def fit(self, X: Any) -> WithOffset:
        self.n_features_in_ = X.shape[1]
        return self

    @blockwise(by_row=("offset",))
    def predict(self, X: Any, offset: Any, factor: int = 1, *, shift: int = 0) -> Any:
        return X[:, 0].astype(np.int64) + factor * np.asarray(offset) + shift


def test_arguments_of_rows_may_be_given_by_position() -> None:
    model, offset, rows = WithOffset().fit(TABLE), np.arange(60), FileRows(TABLE, block_rows=7)
    expected = model.predict(TABLE, offset, 3, shift=1)
    np.testing.assert_array_equal(model.predict(rows, offset, 3, shift=1), expected)
    np.testing.assert_array_equal(model.predict(rows, factor=3, shift=1, offset=offset), expected)
    with pytest.raises(TypeError, match="too many positional arguments"):
        model.predict(rows, offset, 3, 1)


def test_prediction_before_a_fit_is_refused() -> None:
    for entry in PREDICTING[:8]:
        with pytest.raises(ValueError, match="is not fitted yet"):
            entry.load()().predict(FileRows(TABLE))
