"""Published tables: what they hold, what they lost, and what is refused."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import mustlink
from mustlink import publish
from mustlink.errors import InfeasibleError, MustlinkError, OptionError
from mustlink.sizes import verify_publication

QI = ["age", "income", "city"]


def people(n_rows=60, seed=0):
    """People with numbers, categories, an id and an illness."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "id": [f"p{row:03}" for row in range(n_rows)],
            "age": rng.integers(18, 80, n_rows),
            "income": np.round(rng.lognormal(8, 0.5, n_rows), 2),
            "city": rng.choice(["Bern", "Jena", "Linz"], n_rows),
            "illness": rng.choice(["flu", "cold", "gout", "none"], n_rows, p=[0.2, 0.2, 0.1, 0.5]),
        },
        index=pd.Index([f"secret{row}" for row in range(n_rows)]),
    )


FORMS = {
    "k": {},
    "distinct": {"l": 3},
    "entropy": {"l": 2.2, "diversity": "entropy"},
    "recursive": {"l": 2, "diversity": "recursive", "m": 1.5},
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("values", ["ranges", "centers", "modes"])
@settings(deadline=None, max_examples=8)
@given(seed=st.integers(0, 10**6), n_rows=st.integers(12, 60), k=st.integers(1, 7))
def test_every_published_table_passes_the_checker(form, values, seed, n_rows, k):
    options = {"quasi_identifiers": QI, "sensitive": "illness", "k": k, **FORMS[form]}
    frame = people(n_rows, seed)
    try:
        result = publish(frame, values=values, **options)
    except InfeasibleError:
        whole = frame.assign(age=0, income=0, city="")
        assert not verify_publication(whole, **options).passed
        return
    found = verify_publication(result.frame, **options)
    assert found.passed
    assert found.n_groups == result.n_groups
    assert found.smallest == result.sizes.min()
    assert len(result.frame) == n_rows
    assert result.frame["illness"].tolist() == frame["illness"].tolist()


def test_a_range_holds_the_values_of_its_rows():
    frame = people()
    result = publish(frame, quasi_identifiers=QI, k=5)
    for group in range(result.n_groups):
        rows = result.groups == group
        original, published = frame[rows], result.frame[rows]
        assert published[QI].drop_duplicates().shape[0] == 1
        ends = [float(end) for end in published["income"].iloc[0].split(" to ")]
        assert (original["income"].min(), original["income"].max()) == (ends[0], ends[-1])
        cities = sorted(set(original["city"]))
        assert published["city"].iloc[0] == ("*" if len(cities) == 3 else " | ".join(cities))


@pytest.mark.parametrize("dtype", ["int64", "uint64", "Int64"])
def test_ranges_and_modes_of_large_whole_numbers_are_cells(dtype):
    cells = [2**53 + 1, 2**53 + 3, 2**53 + 3, 2**60 + 1, 2**60 + 3, 2**60 + 3]
    frame = pd.DataFrame({"number": pd.array(cells, dtype=dtype)})
    ranges = publish(frame, quasi_identifiers="number", k=3).frame["number"]
    assert set(ranges) == {f"{2**53 + 1} to {2**53 + 3}", f"{2**60 + 1} to {2**60 + 3}"}
    modes = publish(frame, quasi_identifiers="number", k=3, values="modes").frame["number"]
    assert modes.tolist() == [2**53 + 3] * 3 + [2**60 + 3] * 3


@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_ranges_and_modes_of_times_are_cells(zone):
    texts = ["2024-01-01 10:00:00.300", "2024-01-01 10:00:00.700", "2024-01-01 10:00:00.700"]
    frame = pd.DataFrame({"seen": pd.to_datetime(texts).tz_localize(zone)})
    low, high = str(frame["seen"][0]), str(frame["seen"][1])
    assert set(publish(frame, quasi_identifiers="seen", k=3).frame["seen"]) == {
        f"{low[:23]}000{low[26:]} to {high[:23]}000{high[26:]}"
    }
    modes = publish(frame, quasi_identifiers="seen", k=3, values="modes").frame["seen"]
    assert set(modes) == {frame["seen"][1]}


def test_ends_with_the_same_text_are_one_value():
    frame = pd.DataFrame({"zero": [0.0, -0.0, 0.0]})
    assert set(publish(frame, quasi_identifiers="zero", k=3).frame["zero"]) == {"0"}
    level = pd.Categorical([1, "1", 1], categories=[1, "1"], ordered=True)
    assert set(publish(pd.DataFrame({"level": level}), quasi_identifiers="level", k=3).frame["level"]) == {"1"}


def test_centers_are_rounded_and_modes_are_values():
    frame = people(200)
    centers = publish(frame, quasi_identifiers=QI, k=5, values="centers")
    # A tenth of the standard deviation, rounded up to 1, 2 or 5 times a power of ten.
    assert 1 < frame["age"].std() / 10 < 2
    assert (centers.frame["age"] % 2 == 0).all()
    assert 100 < frame["income"].std() / 10 < 200
    assert (centers.frame["income"] % 200 == 0).all()
    modes = publish(frame, quasi_identifiers=QI, k=5, values="modes")
    assert set(modes.frame["age"]) <= set(frame["age"])
    assert set(modes.frame["income"]) <= set(frame["income"])


def test_groups_with_equal_published_values_are_one_group():
    frame = pd.DataFrame({"x": [0.0, 0.1, 0.2, 0.3, 5.0, 5.1, 9.0, 9.1]})
    result = publish(frame, quasi_identifiers=["x"], k=2, values="centers", n_groups=4)
    assert len(result.frame["x"].unique()) == result.n_groups == 3
    assert result.sizes.tolist() == [4, 2, 2]


def test_the_loss_is_that_of_the_groups():
    frame = people()
    result = publish(frame, quasi_identifiers=QI, k=5)
    by_name = {loss.name: loss for loss in result.losses}
    age = frame["age"].reset_index(drop=True)
    within = age.groupby(result.groups).transform(lambda part: (part - part.mean()) ** 2).sum()
    assert by_name["age"].variance == pytest.approx(within / ((age - age.mean()) ** 2).sum())
    widths = age.groupby(result.groups).transform(np.ptp) / np.ptp(age)
    assert by_name["age"].width == pytest.approx(widths.mean())
    cities = frame["city"].reset_index(drop=True).groupby(result.groups).transform("nunique")
    assert by_name["city"].width == pytest.approx(np.where(cities > 1, cities / 3, 0).mean())
    assert result.variance_lost == pytest.approx(np.mean([loss.variance for loss in result.losses]))
    assert result.width == pytest.approx(np.mean([loss.width for loss in result.losses]))


def test_one_group_loses_everything_and_groups_of_equal_rows_nothing():
    frame = people(20)
    assert publish(frame, quasi_identifiers=QI, k=20).variance_lost == pytest.approx(1.0)
    twins = pd.concat([frame, frame])
    result = publish(twins, quasi_identifiers=QI, k=2)
    assert result.variance_lost == pytest.approx(0.0)
    assert result.width == 0.0


def test_a_larger_k_loses_more():
    frame = people(120)
    lost = [publish(frame, quasi_identifiers=QI, k=k).variance_lost for k in (2, 5, 12, 40)]
    assert lost == sorted(lost)


def test_the_same_seed_gives_the_same_table():
    frame = people()
    one, other = (publish(frame, quasi_identifiers=QI, k=4, random_state=3) for _ in range(2))
    pd.testing.assert_frame_equal(one.frame, other.frame)


def test_other_columns_and_the_index_are_dropped():
    result = publish(people(), quasi_identifiers=QI, sensitive="illness")
    assert list(result.frame.columns) == [*QI, "illness"]
    assert result.dropped == ("id",)
    assert result.frame.index.equals(pd.RangeIndex(60))
    assert any("Not published: the column id" in notice for notice in result.notices)


def test_one_name_is_one_column():
    frame = people()
    one = publish(frame, quasi_identifiers="age", keep="city", sensitive="illness")
    listed = publish(frame, quasi_identifiers=["age"], keep=["city"], sensitive="illness")
    pd.testing.assert_frame_equal(one.frame, listed.frame)
    assert one.notices == listed.notices
    assert publish(frame, quasi_identifiers="city", ordered="city").losses[0].kind == "ordered categories"


def test_kept_columns_are_warned_of():
    frame = people().assign(hobby="chess")
    result = publish(frame, quasi_identifiers=QI, keep=["id", "hobby"])
    assert "The column id has another value in every row" in " ".join(result.notices)
    assert "not protected: hobby" in " ".join(result.notices)
    assert result.frame["id"].tolist() == frame["id"].tolist()


def test_dates_orders_truth_values_and_other_types():
    rng = np.random.default_rng(0)
    n_rows = 40
    frame = pd.DataFrame(
        {
            "born": pd.Timestamp("1970-03-01") + pd.to_timedelta(rng.integers(0, 9000, n_rows), unit="D"),
            "seen": pd.to_datetime("2024-01-01 10:30", utc=True) + pd.to_timedelta(rng.random(n_rows), unit="D"),
            "level": pd.Categorical(rng.choice(["low", "mid", "high"], n_rows), ["low", "mid", "high"], ordered=True),
            "zip": rng.choice(["07743", "07745", "10115", "99423"], n_rows),
            "member": rng.random(n_rows) < 0.5,
            "mixed": rng.choice(np.array([1, "a"], dtype=object), n_rows),
            "small": rng.normal(size=n_rows).astype(np.float32),
            "count": pd.array(rng.integers(0, 9, n_rows), dtype="Int64"),
        }
    )
    for values in ("ranges", "centers", "modes"):
        result = publish(frame, quasi_identifiers=list(frame), ordered=["zip"], k=4, values=values)
        kinds = {loss.name: loss.kind for loss in result.losses}
        assert kinds == {
            **dict.fromkeys(["born", "seen", "small", "count"], "numbers"),
            **dict.fromkeys(["level", "zip"], "ordered categories"),
            **dict.fromkeys(["member", "mixed"], "categories"),
        }
        if values == "ranges":
            assert result.frame["born"].str.fullmatch(r"\d{4}-\d\d-\d\d( to \d{4}-\d\d-\d\d)?").all()
            assert set(" to ".join(result.frame["level"]).split(" to ")) <= {"low", "mid", "high"}
        else:
            assert str(result.frame["born"].dtype).startswith("datetime64")
            assert set(result.frame["zip"]) <= set(frame["zip"])


def test_a_decimal_comma_is_written():
    frame = pd.DataFrame({"x": [1.5, 2.5, 7.25, 9.0]})
    assert publish(frame, quasi_identifiers=["x"], k=2, decimal=",").frame["x"].tolist() == [
        "1,5 to 2,5",
        "1,5 to 2,5",
        "7,25 to 9",
        "7,25 to 9",
    ]


def test_numbers_of_any_size():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"huge": rng.normal(size=30) * 1e300, "tiny": rng.normal(size=30) * 1e-300})
    for values in ("ranges", "centers", "modes"):
        result = publish(frame, quasi_identifiers=["huge", "tiny"], k=3, values=values)
        assert 0 < result.variance_lost < 0.5


def test_constant_columns_lose_nothing():
    frame = people().assign(country="DE", planet=3)
    result = publish(frame, quasi_identifiers=[*QI, "country", "planet"], k=5)
    assert [loss.variance for loss in result.losses[3:]] == [0.0, 0.0]
    assert set(result.frame["country"]) == {"DE"}
    assert set(result.frame["planet"]) == {"3"}
    only = publish(frame, quasi_identifiers=["country"], k=5)
    assert (only.n_groups, only.variance_lost) == (1, 0.0)


def test_one_row_is_a_group_of_one():
    result = publish(people(1), quasi_identifiers=QI, k=1)
    assert (result.n_groups, len(result.frame)) == (1, 1)
    assert result.headline.startswith("1 row published in 1 group of 1 row. ")
    with pytest.raises(InfeasibleError, match=r"only 1 complete row; the table is too small to be published\.$"):
        publish(people(1), quasi_identifiers=QI)


def test_a_k_of_1_protects_nobody_and_is_noted():
    def noted(**options):
        result = publish(people(), quasi_identifiers=QI, sensitive="illness", **options)
        return any("nobody is protected" in notice for notice in result.notices)

    assert noted(k=1)
    assert not noted(k=2)
    assert not noted(k=1, l=2)


def test_barely_possible_diversity_is_noted():
    frame = pd.DataFrame({"x": np.arange(100.0), "s": list("a" * 59 + "b" * 20 + "c" * 20 + "d")})
    asked = {"quasi_identifiers": ["x"], "sensitive": "s", "k": 5, "l": 3}
    result = publish(frame, **asked, diversity="recursive", m=2.85)
    assert result.sizes.max() > 50
    assert f"The largest group has {result.sizes.max()} of 100 rows" in result.notices[-1]
    assert result.notices[-1].endswith("a smaller l or a larger m may give smaller groups.")
    assert not publish(frame, **asked).notices


@pytest.mark.parametrize(
    ("n_rows", "words"), [(8, "8 rows published in 1 group of 8 rows. "), (10, "in 2 groups of 5 rows each. ")]
)
def test_equal_sizes_are_said_once(n_rows, words):
    assert words in publish(people(n_rows), quasi_identifiers=["age"], k=5, n_groups=n_rows // 5).headline


def test_categories_are_sorted_unless_their_type_has_an_order():
    codes = ["04103", "01069", "10117", "01067", "04109", "80331"] * 3
    declared = ["80331", "10117", "04109", "04103", "01069", "01067"]

    def ends(series, **options):
        found = publish(pd.DataFrame({"zip": series}), quasi_identifiers=["zip"], k=6, **options).frame["zip"]
        return {tuple(cell.split(" to ")) for cell in found}

    in_order = {("01067", "01069"), ("04103", "04109"), ("10117", "80331")}
    texts = pd.Series(codes)
    assert ends(texts, ordered=["zip"]) == in_order
    by_appearance = pd.Series(pd.Categorical(codes, categories=list(dict.fromkeys(codes))))
    assert ends(by_appearance, ordered=["zip"]) == in_order
    own_order = pd.Series(pd.Categorical(codes, categories=declared, ordered=True))
    assert ends(own_order) == {tuple(reversed(pair)) for pair in in_order}
    floors = pd.Series(["10", "9", "11", "2", "1", "3"] * 3).astype("category")
    assert ends(floors, ordered=["zip"]) == {("1", "2"), ("3", "9"), ("10", "11")}


def test_rows_with_missing_cells_are_refused_or_left_out():
    frame = people().astype({"age": float})
    frame.iloc[3, frame.columns.get_loc("age")] = np.nan
    frame.iloc[[3, 7], frame.columns.get_loc("city")] = None
    with pytest.raises(
        OptionError,
        match=r"^2 of 60 rows have missing cells in the columns 'age' \(1\), 'city' \(2\), the first in row 3;",
    ):
        publish(frame, quasi_identifiers=QI)
    result = publish(frame, quasi_identifiers=QI, missing="drop")
    assert result.n_suppressed == 2
    assert set(result.rows) == set(range(60)) - {3, 7}
    assert "2 rows with missing cells were left out." in result.notices


def test_a_missing_sensitive_value_counts_only_with_diversity():
    frame = people()
    frame.iloc[5, frame.columns.get_loc("illness")] = None
    assert len(publish(frame, quasi_identifiers=QI, sensitive="illness").frame) == 60
    with pytest.raises(OptionError, match=r"^1 of 60 rows has a missing cell in the column 'illness', in row 5;"):
        publish(frame, quasi_identifiers=QI, sensitive="illness", l=2)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"k": 61}, InfeasibleError, "k is 61, but the table has only 60 complete rows"),
        ({"l": 5}, InfeasibleError, "l is 5, but the sensitive column has only 4 distinct values"),
        ({"l": 3.9, "diversity": "entropy"}, InfeasibleError, r"in \d+ of 60 rows, and the entropy .* only log 3\."),
        (
            {"l": 4, "diversity": "recursive", "m": 1},
            InfeasibleError,
            r"Recursive \(1, 4\)-diversity cannot be reached: .* from the 4th most frequent on",
        ),
        (
            {"k": 5, "n_groups": 13},
            InfeasibleError,
            "13 groups are asked for, but the 60 rows can be in at most 12 groups",
        ),
        ({"k": 2, "l": 4, "n_groups": 15}, InfeasibleError, r"at most \d+ groups with 2 rows each and 4 distinct"),
        ({"quasi_identifiers": ["age", "zip"]}, OptionError, "The table has no column 'zip'; its columns are id, age"),
        ({"quasi_identifiers": []}, OptionError, "No quasi-identifier is named"),
        ({"sensitive": "age"}, OptionError, "'age' is also a quasi-identifier; leave it out of the quasi-id"),
        ({"sensitive": None, "l": 2}, OptionError, "no sensitive column is named; name it with sensitive"),
        ({"sensitive": ["illness"]}, OptionError, r"^sensitive is the name of one column; got \['illness'\]\.$"),
        ({"keep": ["age"]}, OptionError, "'age' is published anyway"),
        ({"ordered": ["illness"]}, OptionError, "'illness' is not a quasi-identifier; name it as one, or leave it"),
        ({"keep": 3}, OptionError, "Columns are named by a list of their names, or by one name; got 3"),
        ({"k": 0}, OptionError, "k must be a whole number of at least 1; got 0"),
        ({"k": 2.5}, OptionError, "k must be a whole number"),
        ({"k": True}, OptionError, "k must be a whole number"),
        ({"l": 1.5}, OptionError, "l must be a whole number of at least 1 for distinct"),
        ({"l": 0.5, "diversity": "entropy"}, OptionError, "l must be a number of at least 1"),
        ({"m": 0}, OptionError, "m must be a number above 0"),
        ({"m": True}, OptionError, "m must be a number above 0"),
        ({"diversity": "t"}, OptionError, "diversity must be 'distinct', 'entropy' or 'recursive'; got 't'"),
        ({"values": "means"}, OptionError, "values must be"),
        ({"missing": "mean"}, OptionError, "missing must be 'error' or 'drop'"),
        ({"n_groups": 0}, OptionError, "n_groups must be a whole number"),
    ],
)
def test_bad_options_are_refused_in_words(options, error, words):
    with pytest.raises(error, match=words):
        publish(people(), **{"quasi_identifiers": QI, "sensitive": "illness", **options})


def test_bad_tables_are_refused_in_words():
    with pytest.raises(TypeError, match="is a list"):
        publish([[1, 2]], quasi_identifiers=["x"])
    with pytest.raises(InfeasibleError, match="The table has no rows"):
        publish(people(0), quasi_identifiers=QI)
    with pytest.raises(InfeasibleError, match="None of 2 rows is complete"):
        publish(pd.DataFrame({"x": [np.nan, np.nan]}), quasi_identifiers=["x"], missing="drop")
    with pytest.raises(OptionError, match="Two columns are called 'x'"):
        publish(pd.DataFrame([[1, 2]], columns=["x", "x"]), quasi_identifiers=["x"])
    with pytest.raises(OptionError, match="Row 1 of the quasi-identifier 'x' is inf"):
        publish(pd.DataFrame({"x": [0.0, np.inf]}), quasi_identifiers=["x"], k=1)
    many = pd.DataFrame({"name": [f"n{row}" for row in range(300)]})
    with pytest.raises(OptionError, match=r"has 300 categories, .* ordered=\['name'\]"):
        publish(many, quasi_identifiers=["name"])
    assert publish(many, quasi_identifiers=["name"], ordered=["name"]).n_groups == 60


def test_entropy_groups_that_cannot_be_made_are_refused():
    frame = pd.DataFrame({"x": np.arange(12.0), "s": list("aaaaaabbbccc")})
    options = {"quasi_identifiers": ["x"], "sensitive": "s", "k": 1, "l": 2.8, "diversity": "entropy"}
    with pytest.raises(InfeasibleError, match="4 groups are asked for, but only 1 group"):
        publish(frame, n_groups=4, **options)


def test_a_wanted_number_of_groups_is_made():
    frame = people()
    for n_groups in (1, 2, 7):
        result = publish(frame, quasi_identifiers=QI, sensitive="illness", k=4, l=2, n_groups=n_groups)
        assert result.n_groups == n_groups


def test_a_frame_of_polars():
    polars = pytest.importorskip("polars")
    result = publish(polars.DataFrame({"x": [1, 2, 8, 9]}), quasi_identifiers=["x"], k=2)
    assert result.frame["x"].tolist() == ["1 to 2", "1 to 2", "8 to 9", "8 to 9"]


def test_a_notebook_shows_the_losses_and_the_caveat():
    html = publish(people(), quasi_identifiers=QI)._repr_html_()
    assert "variance lost" in html
    assert "not differential privacy" in html
    assert repr(publish(people(), quasi_identifiers=QI)).startswith("Publication(n_rows=60, n_groups=")


def test_the_checker_imports_nothing_that_publishes():
    package = Path(mustlink.__file__).parent
    neutral = {"mustlink._cells", "mustlink.sizes._entropy"}
    for name in ("sizes/_verification", "sizes/_entropy", "_cells"):
        tree = ast.parse((package / f"{name}.py").read_text(encoding="utf-8"))
        imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        ours = {module for module in imported if module.startswith("mustlink")}
        assert ours <= {"mustlink._spelling", "mustlink.errors", *neutral}


def test_an_unverified_table_is_never_returned(monkeypatch):
    from mustlink.sizes._publish import _publish

    monkeypatch.setattr(_publish, "make_groups", lambda X, *_: np.arange(len(X)))
    with pytest.raises(
        MustlinkError, match=r"The table is not published.* each needs at least 5 rows\. The first is .*1 row"
    ):
        publish(people(12), quasi_identifiers=["income"])


def test_sensitive_values_are_the_texts_of_their_cells():
    frame = pd.DataFrame({"age": [1, 2, 3, 4], "s": pd.Series([1, "1", 2, "2"], dtype=object)})
    result = publish(frame, quasi_identifiers="age", sensitive="s", k=2, l=2)
    assert result.verification.passed
    with pytest.raises(InfeasibleError, match="only 1 distinct value"):
        publish(frame.head(2), quasi_identifiers="age", sensitive="s", k=2, l=2)


@pytest.mark.parametrize("form", ["entropy", "recursive"])
@settings(deadline=None, max_examples=60)
@given(
    counts=st.lists(st.integers(1, 60), min_size=2, max_size=5),
    n_groups=st.integers(1, 3),
    step=st.sampled_from([-1, 0, 1]),
    seed=st.integers(0, 1000),
)
@example(counts=[3, 2], n_groups=2, step=0, seed=0)
@example(counts=[55, 50], n_groups=1, step=0, seed=0)
def test_tables_on_the_bound_are_published_or_refused(form, counts, n_groups, step, seed):
    """The bound is the diversity of the groups that the table consists of, and the next numbers beside it."""
    values = np.repeat(np.arange(len(counts)), counts)
    shares = np.array(counts) / sum(counts)
    if form == "entropy":
        bound = max(1.0, float(np.exp(-(shares * np.log(shares)).sum())))
        options = {"l": max(1.0, bound if not step else float(np.nextafter(bound, step * np.inf)))}
    else:
        ranked = sorted(counts, reverse=True)
        bound = ranked[0] / sum(ranked[1:])
        options = {"l": 2, "m": bound if not step else float(np.nextafter(bound, step * np.inf))}
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": rng.normal(size=n_groups * len(values)), "s": np.tile(values, n_groups)})
    asked = {"quasi_identifiers": ["x"], "sensitive": "s", "k": 1, "diversity": form, **options}
    try:
        assert publish(frame, **asked).verification.passed
    except InfeasibleError:
        assert not verify_publication(frame.assign(x=0), **asked).passed
