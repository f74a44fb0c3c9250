"""An encoder made from one table and applied to another."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from mustlink.errors import FileFormatError
from mustlink.tables import Table, TableEncoder, encode, read_table

FRAME = pd.DataFrame(
    {
        "age": [20.0, 40.5, 20.0, 61.0, 35.0],
        "plan": ["basic", "pro", "basic", "team", "pro"],
        "code": [1.0, 2.0, 1.0, 2.0, 2.0],
    }
)


def encoder_of(frame, **options):
    return TableEncoder.of(encode(frame, **options), options.get("missing", "error"))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("options", [{}, {"scale": False}, {"one_hot": False}, {"categorical": ["code"]}])
def test_the_table_itself_is_encoded_as_in_the_fit(dtype, options):
    rng = np.random.default_rng(0)
    frame = pd.concat([FRAME] * 40, ignore_index=True)
    frame["age"] = (rng.normal(size=len(frame)) * 1e3 + 1e5).astype(dtype)
    frame["code"] = frame["code"].astype(dtype)
    encoded = encode(frame, **options)
    encoder = TableEncoder.from_json(json.loads(json.dumps(TableEncoder.of(encoded).as_json())))
    again = encoder.apply(Table.from_frame(frame[frame.columns[::-1]], text=encoder.text))
    assert again.X.dtype == encoded.X.dtype
    np.testing.assert_array_equal(again.X, encoded.X)
    assert again.features == encoded.features
    assert again.notices == ()


@pytest.mark.parametrize("scale", [True, False])
def test_empty_cells_are_filled_with_the_mean_of_the_first_table(scale):
    frame = FRAME.copy()
    frame.loc[0, "age"], frame.loc[1, "plan"] = np.nan, None
    encoder = encoder_of(frame, missing="mean", scale=scale)
    new = Table.from_frame(pd.DataFrame({"age": [np.nan, 1.0], "plan": [None, "pro"], "code": [1.0, 2.0]}))
    encoded = encoder.apply(new)
    names = [feature.name for feature in encoded.features]
    first = dict(zip(names, encoded.X[0], strict=True))
    mean = frame["age"].mean()
    np.testing.assert_allclose(first["age"], 0.0 if scale else mean, atol=1e-12)
    assert first["plan = (empty)"] == 1
    assert encoded.notices[0].startswith("2 empty cells filled")


def test_rows_with_empty_cells_are_left_out_down_to_one():
    encoder = encoder_of(FRAME, missing="drop")
    new = Table.from_frame(pd.DataFrame({"age": [np.nan, 1.0], "plan": ["pro", "pro"], "code": [1.0, 2.0]}))
    np.testing.assert_array_equal(encoder.apply(new).rows, [1])
    with pytest.raises(FileFormatError, match="leaves 0 of 1 rows; at least one is needed"):
        encoder.apply(Table.from_frame(new.frame.iloc[:1]))


def test_unknown_categories_are_counted_and_have_no_feature():
    new = Table.from_frame(FRAME.assign(plan=["gold", "pro", "gold", "gold", "silver"]))
    encoded = encoder_of(FRAME).apply(new)
    assert encoded.X[0, 1:4].tolist() == [0, 0, 0]
    assert encoded.X[1, 1:4].tolist() == [0, 1, 0]
    assert encoded.notices == (
        "Column 'plan' has 4 cells with a category that the model does not know, such as 'gold'; they count as no "
        "category.",
    )


def test_numbers_far_outside_the_range_are_noted():
    near = encoder_of(FRAME).apply(Table.from_frame(FRAME.assign(age=[-20.0, 100.0, 20.0, 61.0, 35.0])))
    assert near.notices == ()
    far = encoder_of(FRAME).apply(Table.from_frame(FRAME.assign(age=[20_000.0, 40.5, 20.0, 61.0, 35.0])))
    assert far.notices == (
        "Column 'age' has 1 number far outside the range of the table that the model was made from, 20 to 61.",
    )


def test_columns_of_another_kind_are_refused_all_at_once():
    new = Table.from_frame(FRAME.assign(age=["young"] * 5, plan=range(5)))
    with pytest.raises(FileFormatError, match=r"'age' holds text, such as 'young', .*'plan' holds numbers"):
        encoder_of(FRAME).apply(new)


def test_dates_and_amounts_keep_their_kind():
    days = pd.to_datetime(["2024-01-01", "2024-03-01", "2024-02-01", "2024-01-15", "2024-01-20"])
    frame = FRAME.assign(since=days)
    encoded = encode(frame)
    encoder = TableEncoder.from_json(json.loads(json.dumps(TableEncoder.of(encoded).as_json())))
    assert encoder.columns[-1].unit == "date"
    again = encoder.apply(Table.from_frame(frame))
    np.testing.assert_array_equal(again.X, encoded.X)
    assert again.features == encoded.features
    late = encoder.apply(Table.from_frame(frame.assign(since=days + pd.Timedelta(days=4000))))
    assert late.notices[-1].endswith("made from, 2024-01-01 to 2024-03-01.")
    empty = replace(encoder, missing="mean").apply(Table.from_frame(frame.assign(since=pd.NaT)))
    np.testing.assert_allclose(empty.X[:, -1], 0, atol=1e-12)
    with pytest.raises(FileFormatError, match="'since' holds numbers, and held dates"):
        encoder.apply(Table.from_frame(frame.assign(since=range(5))))


@pytest.mark.parametrize(
    ("before", "now", "words"),
    [
        ("31 %", "0.3 ", "Column 'y' holds numbers, and held percentages in the table of the model."),
        ("31 EUR", "30", "Column 'y' holds numbers, and held amounts in EUR in the table of the model."),
        ("31 EUR", "30 USD", None),
    ],
)
def test_other_units_are_noted_or_refused(tmp_path, before, now, words):
    for name, cell in (("old.csv", before), ("new.csv", now)):
        (tmp_path / name).write_text(f"x,y\n1,{cell}\n2,{cell.replace('3', '4')}\n4,{cell}\n")
    encoder = TableEncoder.of(encode(read_table(tmp_path / "old.csv")))
    new = read_table(tmp_path / "new.csv")
    if words is not None:
        assert words in encoder.apply(new).notices
        return
    with pytest.raises(FileFormatError, match="'y' holds amounts in USD, and held amounts in EUR"):
        encoder.apply(new)
