"""Dates and times as numbers, and back."""

from __future__ import annotations

import datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mustlink.errors import FileFormatError
from mustlink.tables import encode, read_table, spell_time

DAY = 19783.0  # 2024-03-01


def read(folder, texts, **options):
    path = folder / "table.csv"
    path.write_text("\n".join(["a;n", *(f"{text};{place}" for place, text in enumerate(texts))]), encoding="utf-8")
    return read_table(path, **options)


@pytest.mark.parametrize(
    ("texts", "days", "words"),
    [
        (["2024-03-01", "2024-3-2"], [DAY, DAY + 1], "dates"),
        (["2024/03/01", ""], [DAY, np.nan], "dates"),
        (["2024-03-01 12:00", "2024-03-02T06:00:00.000"], [DAY + 0.5, DAY + 1.25], "dates"),
        (["2024-03-01T12:00Z", "2024-03-01T12:00+06:00"], [DAY + 0.5, DAY + 0.25], "dates"),
        (["01.03.2024", "2.3.2024"], [DAY, DAY + 1], "dates with the day first"),
        (["01.03.24", "01.03.99"], [DAY, DAY - 9132], "dates with the day first"),
        (["01.03.2024 18:00", "02.03.2024 00:00:00"], [DAY + 0.75, DAY + 1], "dates with the day first"),
        (["3/1/24", "3/13/24"], [DAY, DAY + 12], "dates with the month first"),
        (["3/1/2024", "3/13/2024"], [DAY, DAY + 12], "dates with the month first"),
        (["3/1/2024 12:00 AM", "3/13/2024 6:00 pm"], [DAY, DAY + 12.75], "dates with the month first"),
        (["1/3/2024", "13/3/2024"], [DAY, DAY + 12], "dates with the day first"),
        (["1-3-2024", "13-3-2024"], [DAY, DAY + 12], "dates with the day first"),
        (["0001-01-01", "9999-12-31"], [-719162, 2932896], "dates"),
    ],
)
def test_dates_are_days(tmp_path, texts, days, words):
    table = read(tmp_path, texts)
    np.testing.assert_allclose(table.column("a"), days, rtol=1e-12)
    assert table.notices == (f"Column 'a' was read as {words}.",)
    assert table.units["a"] == ("date and time" if any(":" in text for text in texts) else "date")


def test_times_of_day_are_hours(tmp_path):
    table = read(tmp_path, ["14:30", "0:45:36", "-1:00", "120:00"])
    np.testing.assert_allclose(table.column("a"), [14.5, 0.76, -1, 120])
    assert table.notices == ("Column 'a' was read as hours, 1:30 being 1.5.",)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["3/1/2024", "4/2/2024"], "holds dates such as '3/1/2024', of which none shows whether the day or the month"),
        (["3/13/2024", "13/3/2024"], "'a' holds dates with the day first and dates with the month first; write them"),
        (["2024-03-01T12:00Z", "2024-03-01T12:00"], "holds times with a time zone and times without one"),
        (["2024-03-01", "2024-02-30", "2024-03-02"], "line 3: the column 'a' holds '2024-02-30' among dates; correct"),
        (["01.03.2024", "soon", "02.03.2024"], "line 3: the column 'a' holds 'soon' among dates"),
        (["31.02.2024", "01.03.2024", "02.03.2024"], "line 2: the column 'a' holds '31.02.2024' among dates"),
        (["12:30", "12:45", "noon"], "line 4: the column 'a' holds 'noon' among times"),
    ],
)
def test_dates_that_cannot_be_read(tmp_path, texts, message):
    with pytest.raises(FileFormatError, match=message):
        read(tmp_path, texts)


@pytest.mark.parametrize("texts", [["1.10.12", "2.10.13"], ["20-45-77", "30-11-99"], ["10.0.0.1", "10.0.0.2"]])
def test_versions_and_codes_are_no_dates(tmp_path, texts):
    assert read(tmp_path, texts).strings("a") == texts


def test_dates_as_ids_and_categories_stay_as_they_are(tmp_path):
    table = read(tmp_path, ["01.03.2024", "2.3.2024"], text=["a"])
    assert table.strings("a") == ["01.03.2024", "2.3.2024"]
    assert not table.units


@given(
    st.lists(st.dates(min_value=datetime.date(1000, 1, 1)), min_size=2, max_size=20),
    st.sampled_from(["{:%Y-%m-%d}", "{0.day}.{0.month}.{0:%Y}"]),
)
@settings(deadline=None, max_examples=40)
def test_any_date_comes_back(tmp_path_factory, dates, style):
    table = read(tmp_path_factory.mktemp("any"), [style.format(date) for date in dates])
    assert table.strings("a") == [str(date) for date in dates]


@given(st.datetimes(min_value=datetime.datetime(1000, 1, 1), max_value=datetime.datetime(3000, 1, 1)))
@settings(deadline=None, max_examples=40)
def test_any_time_comes_back_to_the_second(tmp_path_factory, time):
    time = time.replace(microsecond=0, hour=time.hour or 1)
    table = read(tmp_path_factory.mktemp("any"), [time.isoformat(), "2024-03-01T12:00:01"])
    assert datetime.datetime.fromisoformat(table.strings("a")[0]) == time


def test_dates_are_shown_as_dates(tmp_path):
    encoded = encode(read(tmp_path, ["2024-03-01", "2024-03-03", "2024-03-03"]))
    feature = next(feature for feature in encoded.features if feature.column == "a")
    values = encoded.X[:2, encoded.features.index(feature)] * feature.scale + feature.center
    assert feature.spell(values.tolist()) == ["2024-03-01", "2024-03-03"]
    assert spell_time(-0.25, "hours") == "-0:15"


def test_amounts_are_shown_with_their_unit(tmp_path):
    encoded = encode(read(tmp_path, ["€ 20.000", "€ 35.500,5"]))
    assert encoded.features[0].spell([20000.0, 35500.0]) == ["20,000 EUR", "35,500 EUR"]
