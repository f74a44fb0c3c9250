"""From columns to features, compared with scikit-learn's own preprocessing and with plain arithmetic."""

from __future__ import annotations

import datetime
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from mustlink.errors import ColumnsError, FileFormatError, OptionError, TooLargeError
from mustlink.tables import Table, _encode, encode, read_table


def table_of(**columns):
    """Make a table as if read from a file: line 2 holds row 0; None and "" are empty."""
    table = Table.from_frame(pd.DataFrame(columns), source="people.csv")
    return replace(table, where=lambda row: f"line {row + 2}")


numbers = hnp.arrays(
    np.float64, st.tuples(st.integers(2, 12), st.integers(1, 4)), elements=st.floats(-1e6, 1e6, width=32)
)


@given(numbers)
@settings(deadline=None, max_examples=60)
def test_standardized_as_by_scikit_learn(values):
    varied = (values != values[0]).any(axis=0)
    table = pd.DataFrame(values, columns=[f"v{i}" for i in range(values.shape[1])])
    if not varied.any():
        with pytest.raises(FileFormatError, match="every column holds one value throughout"):
            encode(table)
        return
    encoded = encode(table)
    names = [feature.name for feature in encoded.features]
    kept = [int(name[1:]) for name in names]
    # A first column that counts the rows is left out; everything else that varies is kept.
    assert set(kept) | {0} == set(np.flatnonzero(varied).tolist()) | {0}
    expected = StandardScaler().fit_transform(values[:, kept])
    spread = values[:, kept].std(axis=0)
    # scikit-learn leaves columns alone whose spread is lost in rounding; those are compared with nothing.
    sound = spread > 1e-9 * np.abs(values[:, kept]).max(axis=0)
    np.testing.assert_allclose(encoded.X[:, sound], expected[:, sound], atol=1e-6)
    restored = encoded.X * [f.scale for f in encoded.features] + [f.center for f in encoded.features]
    np.testing.assert_allclose(restored, values[:, kept], rtol=1e-9, atol=1e-9)


@given(st.lists(st.sampled_from(["red", "green", "blue"]), min_size=4, max_size=20))
@settings(deadline=None, max_examples=40)
def test_one_hot_as_by_scikit_learn(colors):
    colors = [*colors, "red", "red", "green"]
    encoded = encode(table_of(color=colors))
    ours = {feature.category: encoded.X[:, place] for place, feature in enumerate(encoded.features)}
    encoder = OneHotEncoder(sparse_output=False)
    theirs = encoder.fit_transform(np.array(colors)[:, np.newaxis])
    assert set(ours) == set(encoder.categories_[0])
    for place, category in enumerate(encoder.categories_[0]):
        np.testing.assert_array_equal(ours[category], theirs[:, place])


def test_numeric_and_text_columns_count_alike():
    """Two rows drawn at random from a standardized column are 2 apart on average, two categories exactly."""
    rng = np.random.default_rng(0)
    encoded = encode(table_of(a=rng.normal(size=200).tolist(), b=["x", "y"] * 100))
    x = encoded.X[:, 0]
    assert np.isclose(((x[:, None] - x[None, :]) ** 2).mean(), 2.0)
    assert ((encoded.X[0, 1:] - encoded.X[1, 1:]) ** 2).sum() == 2.0


def test_switches():
    table = table_of(a=[1.0, 2.0, 4.0, 8.0], b=["x", "y", "x", "y"])
    raw = encode(table, scale=False)
    np.testing.assert_array_equal(raw.X[:, 0], [1.0, 2.0, 4.0, 8.0])
    numbers_only = encode(table, one_hot=False)
    assert [feature.name for feature in numbers_only.features] == ["a"]
    assert numbers_only.notices == ("Column 'b' holds text and was left out.",)
    assert [feature.name for feature in encode(table, ignore=["a"]).features] == ["b = x", "b = y"]


def test_float32_stays():
    frame = pd.DataFrame({"a": np.array([1, 2, 4], dtype=np.float32), "c": ["x", "y", "x"]})
    assert encode(frame).X.dtype == np.float32
    assert encode(frame.assign(b=[1.0, 5.0, 4.0])).X.dtype == np.float64
    assert encode(frame[["c"]]).X.dtype == np.float64


def test_a_small_spread_around_a_large_mean_survives():
    encoded = encode(table_of(a=[1e9, 1e9 + 1e-3, 1e9 + 2e-3, 1e9 + 5e-3], b=[1, 2, 1, 2]))
    exact = np.array([1e9, 1e9 + 1e-3, 1e9 + 2e-3, 1e9 + 5e-3]) - 1e9
    np.testing.assert_allclose(encoded.X[:, 0], (exact - exact.mean()) / exact.std(), atol=1e-3)


@pytest.mark.parametrize(
    ("columns", "notice"),
    [
        ({"a": [3.0, 1, 2], "b": [7, 7, 7]}, "Column 'b' holds one value throughout and was left out."),
        ({"a": [3.0, 1, 2], "b": ["x", "x", "x"]}, "Column 'b' holds one value throughout and was left out."),
        (
            {"a": [3.0, 1, 2], "b": [7, 7, 7], "c": ["x"] * 3},
            "2 columns hold one value throughout and were left out: 'b' and 'c'.",
        ),
        ({"a": [3.0, 1, 2], "b": [None, None, None]}, "Column 'b' is empty and was left out."),
        (
            {"a": [3.0, 1, 2], "b": [None, None, None], "c": [None, None, None]},
            "Columns 'b' and 'c' are empty and were left out.",
        ),
        ({"n": [1.0, 2, 3], "a": [3.0, 1, 2]}, "Column 'n' only numbers the rows and was left out."),
        ({"a": [3.0, 1, 2], "customer_id": [0, 1, 2]}, "Column 'customer_id' only numbers the rows and was left out."),
    ],
)
def test_columns_left_out_give_a_notice(columns, notice):
    encoded = encode(table_of(**columns))
    assert encoded.notices == (notice,)
    assert [feature.name for feature in encoded.features] == ["a"]


@pytest.mark.parametrize(
    "name",
    ["id", "ID", "customer_id", "customerId", "customer number", "Kundennr", "KdNr", "Kd-Nr.", "Nr.", "Artikelnummer"],
)
def test_ids_that_are_used_as_numbers_give_a_notice(name):
    ids = [1007.0, 1003, 1021, 1019]
    encoded = encode(table_of(a=[3.0, 1, 2, 2], **{name: ids}))
    note = "a different whole number in every row; if they are ids, name the id column or ignore it."
    assert encoded.notices == (f"Column {name!r} holds {note}",)
    assert not encode(table_of(a=[3.0, 1, 2, 2], **{name: [1.5, 2, 3, 4]})).notices
    assert not encode(table_of(a=[3.0, 1, 2, 2], **{name: [2.0, 2, 3, 4]})).notices
    assert encode(table_of(a=[3.0, 1, 2, 2], **{name: [1.0, 2, 3, 4]})).notices == (
        f"Column {name!r} only numbers the rows and was left out.",
    )


@pytest.mark.parametrize("name", ["width", "paid", "piano", "dominoes", "income", "barcode_length", "snow"])
def test_other_names_give_no_notice(name):
    assert not encode(table_of(a=[3.0, 1, 2, 2], **{name: [1007.0, 1003, 1021, 1019]})).notices


def test_all_problems_are_in_one_error():
    """Those first that concern most cells."""
    table = table_of(
        note=[f"n{i}" for i in range(12)],
        a=[1.0, None, None, *range(9)],
        big=[2e200, *range(11)],
        kind=["x", "y"] * 6,
    )
    with pytest.raises(ColumnsError) as raised:
        encode(table)
    lines = str(raised.value).splitlines()
    assert lines[0] == "people.csv cannot be used as it is, for 3 reasons:"
    assert lines[1].startswith(
        "- the text column 'note' has 12 different values in 12 rows, too many for categories; l"
    )
    assert lines[2].startswith("- line 3: the column 'a' is empty, as is 1 other cell of the table; fill it, or pass ")
    assert lines[3].startswith("- line 2: the column 'big' holds 2e+200; numbers above")
    assert len(lines) == 4
    with pytest.raises(ColumnsError, match="for 2 reasons"):
        encode(table, missing="mean")
    assert encode(table, ignore=["note", "big"], missing="mean").X.shape == (12, 3)


def test_a_table_of_problems_alone(tmp_path):
    path = tmp_path / "t.xlsx"
    pytest.importorskip("openpyxl")
    pd.DataFrame({"a": [1, 2, 3, "x"]}).to_excel(path, index=False)
    with pytest.raises(FileFormatError, match="sheet row 5: the column 'a' holds 'x' among numbers"):
        encode(read_table(path, problems="keep"))


def test_long_lists_of_problems_are_cut():
    table = table_of(a=[1.0] * 12, **{f"note{place}": [f"n{i}" for i in range(12)] for place in range(20)})
    with pytest.raises(ColumnsError) as raised:
        encode(table)
    lines = str(raised.value).splitlines()
    assert len(lines) == 10
    assert lines[0].endswith("for 20 reasons:")
    assert lines[-1] == "- and 12 more."
    assert len(raised.value.problems) == 20
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)


def test_dates_times_and_durations_of_a_data_frame():
    days = pd.to_datetime(["2024-03-01", None, "2024-03-03"])
    frame = pd.DataFrame(
        {
            "day": days,
            "zone": days.tz_localize("Europe/Berlin"),
            "date": [datetime.date(2024, 3, 1), None, datetime.date(2024, 3, 3)],
            "clock": [datetime.time(14, 30), None, datetime.time(0, 0)],
            "wait": pd.to_timedelta(["1h", None, "36h"]),
        }
    )
    encoded = encode(frame, scale=False, missing="mean")
    np.testing.assert_allclose(encoded.X[[0, 2], 0], [19783, 19785])
    np.testing.assert_allclose(encoded.X[[0, 2], 1], [19783 - 1 / 24, 19785 - 1 / 24])
    np.testing.assert_allclose(encoded.X[[0, 2], 2], [19783, 19785])
    np.testing.assert_allclose(encoded.X[[0, 2], 3:], [[14.5, 1], [0, 36]])
    assert [feature.unit for feature in encoded.features] == ["date", "date and time", "date", "hours", "hours"]
    shown = [feature.spell([value])[0] for feature, value in zip(encoded.features, encoded.X[0], strict=True)]
    assert shown == ["2024-03-01", "2024-02-29 23:00", "2024-03-01", "14:30", "1:00"]


def test_a_column_that_counts_but_is_not_called_so_is_kept():
    encoded = encode(table_of(a=[3.0, 1, 2], day=[1, 2, 3]))
    assert [feature.name for feature in encoded.features] == ["a", "day"]


def test_missing_cells_are_refused_with_their_place():
    table = table_of(a=[1, 2, 3, 5], b=["x", "", "y", "y"])
    with pytest.raises(
        FileFormatError, match=r"people.csv, line 3: the column 'b' is empty; fill it, or pass missing="
    ):
        encode(table)
    table = table_of(a=[1, 2, 3, None], b=["x", "", "y", "y"])
    with pytest.raises(FileFormatError, match=r"line 3: the column 'b' is empty, as is 1 other cell"):
        encode(table)


def test_rows_with_missing_cells_are_dropped():
    table = table_of(a=[1, None, 3, 5, 4], b=["x", "z", "x", "y", "x"])
    encoded = encode(table, missing="drop")
    np.testing.assert_array_equal(encoded.rows, [0, 2, 3, 4])
    assert [feature.name for feature in encoded.features] == ["a", "b = x", "b = y"]
    assert encoded.notices == ("1 row with empty cells left out.",)
    alone = encode(table_of(a=[1, 3, 5, 4], b=["x", "x", "y", "x"]))
    np.testing.assert_array_equal(encoded.X, alone.X)


def test_missing_cells_are_filled():
    encoded = encode(table_of(a=[1, None, 3, 5], b=["x", "", "x", "y"]), missing="mean", scale=False)
    np.testing.assert_array_equal(encoded.X[:, 0], [1, 3, 3, 5])
    assert [feature.name for feature in encoded.features] == ["a", "b = x", "b = y", "b = (empty)"]
    np.testing.assert_array_equal(encoded.X[:, 3], [0, 1, 0, 0])
    assert "2 empty cells filled" in encoded.notices[0]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": []}, "has no data rows"),
        ({"a": [1]}, "has one data row; at least two are needed"),
        ({"a": [1, 1], "b": ["x", "x"]}, "every column holds one value throughout, so no row differs"),
        ({"a": [None, None]}, "has no column to cluster by"),
        (
            {"a": [1, 2e200]},
            "people.csv, line 3: the column 'a' holds 2e\\+200; numbers above 1e\\+75 are too large for",
        ),
        (
            {"my note": ["u", "v", "w"]},
            "3 different values in 3 rows, too many for categories; leave it out with ignore=\\['my note'\\]",
        ),
        ({"note": [f"n{i}" for i in range(60)] * 3}, "'note' has 60 different values in 180 rows"),
        ({"note": [f"n{i}" for i in range(11)] + ["n0"] * 9}, "'note' has 11 different values in 20 rows"),
    ],
)
def test_tables_that_cannot_be_clustered(columns, message):
    with pytest.raises(FileFormatError, match=message):
        encode(table_of(**columns))


def test_dropping_everything_is_refused():
    with pytest.raises(FileFormatError, match="leaves 1 of 2 rows"):
        encode(table_of(a=[1, None], b=[1, 2]), missing="drop")


def test_many_categories_when_asked_for():
    encoded = encode(table_of(note=[f"n{i}" for i in range(60)] * 2), categorical=["note"])
    assert encoded.X.shape == (120, 60)
    np.testing.assert_array_equal(encoded.X.sum(axis=1), 1.0)


def test_categories_beyond_memory_are_refused(monkeypatch):
    monkeypatch.setattr(_encode, "MAX_ONE_HOT_BYTES", 100)
    with pytest.raises(TooLargeError, match="the column 'b' with 3 different values; leave it out with ignore"):
        encode(table_of(a=[1.0, 2, 3, 4, 5, 6], b=["x", "y", "z"] * 2))


def test_a_data_frame_of_every_type():
    frame = pd.DataFrame(
        {
            "whole": [1, 2, 4, 2],
            "nullable": pd.array([1, 2, None, 2], dtype="Int64"),
            "flag": [True, False, True, True],
            "kind": pd.Categorical(["b", "a", "b", "b"], categories=["a", "b", "unused"]),
            "code": [7, 8, 7, 7],
            "text": ["1", "2", "1", "1"],
        },
        index=list("wxyz"),
    )
    encoded = encode(frame, categorical=["code"], missing="mean", scale=False)
    names = ["whole", "nullable", "flag = true", "flag = false", "kind = b", "kind = a", "code = 7", "code = 8"]
    assert [feature.name for feature in encoded.features] == [*names, "text = 1", "text = 2"]
    np.testing.assert_allclose(encoded.X[:, 1], [1, 2, 5 / 3, 2])
    np.testing.assert_array_equal(encoded.X[:, 2], [1, 0, 1, 1])
    np.testing.assert_array_equal(encoded.rows, range(4))


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pd.period_range("2024-01", periods=2, freq="M"), "'c' holds values of the type Period, .*ignore=..c"),
        ([1 + 2j, 3j], "'c' holds values of the type complex"),
        ([[1], [2]], "'c' holds values of the type list"),
        ([1.0, np.inf], "The data frame, row 1: the column 'c' holds inf"),
        ([1, 2, 3, "x"], "The data frame, row 3: the column 'c' holds 'x' among numbers"),
    ],
)
def test_columns_of_a_data_frame_without_distance(column, message):
    with pytest.raises(FileFormatError, match=message):
        encode(pd.DataFrame({"c": column}))


def test_two_columns_of_one_name_are_refused():
    frame = pd.DataFrame([[1, 2], [3, 5]], columns=["a", "a"])
    with pytest.raises(FileFormatError, match="the columns 1 and 2 are both called 'a'"):
        encode(frame)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"missing": "median"}, "missing must be 'error', 'drop' or 'mean'; got 'median'."),
        ({"ignore": "note"}, "ignore must be a list of column names; got 'note'."),
        ({"categorical": "note"}, "categorical must be a list of column names; got 'note'."),
        ({"scale": "yes"}, "scale must be True or False; got 'yes'."),
    ],
)
def test_options_of_another_kind_are_refused(options, message):
    with pytest.raises(OptionError) as raised:
        encode(pd.DataFrame({"x": [1.0, 2.0, np.nan], "note": ["a", "b", "a"]}), **options)
    assert str(raised.value) == message


def test_an_array_is_no_table():
    with pytest.raises(TypeError, match=r"A table is a pandas or polars DataFrame, .* and this is a numpy\.ndarray"):
        encode(np.eye(3))
