"""The checker of published tables, on tables that were made by hand."""

from __future__ import annotations

import math

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mustlink.errors import OptionError
from mustlink.sizes import verify_publication
from reference.publishing import is_valid


def table(*groups):
    """A published table with a group for each text, whose letters are the sensitive values."""
    return pd.DataFrame(
        [(f"g{number}", "same", letter) for number, group in enumerate(groups) for letter in group],
        columns=["a", "b", "s"],
    )


def check(frame, **options):
    return verify_publication(frame, quasi_identifiers=["a", "b"], sensitive="s", **options)


def test_sizes_are_counted_on_the_published_values():
    found = check(table("xxx", "yy", "zzzz"), k=3)
    assert (found.n_rows, found.n_groups, found.smallest, found.passed) == (9, 3, 2, False)
    assert [(failure.values, failure.size, failure.reason) for failure in found.failures] == [
        (("g1", "same"), 2, "2 rows, fewer than 3")
    ]
    assert str(found) == "9 rows in 3 groups, the smallest of 2. 1 group fails: each needs at least 3 rows."
    assert not found
    assert verify_publication(table("xxx", "yy"), quasi_identifiers=["b"], k=5)
    with pytest.raises(OptionError, match="sensitive is the name of one column"):
        verify_publication(table("xxx"), quasi_identifiers=["b"], sensitive=["s"])


@pytest.mark.parametrize(
    ("options", "least"),
    [
        ({"l": 3}, 2.0),
        ({"l": 2.5, "diversity": "entropy"}, math.exp(-(2 / 3 * math.log(2 / 3) + 1 / 3 * math.log(1 / 3)))),
        ({"l": 2, "diversity": "recursive", "m": 1.5}, 2.0),
    ],
)
def test_the_group_that_is_not_diverse_is_named(options, least):
    found = check(table("xyz", "xxy"), k=3, **options)
    assert not found.passed
    assert [failure.values for failure in found.failures] == [("g1", "same")]
    assert found.least_diversity == pytest.approx(least)
    assert check(table("xyz"), k=3, **options).passed


def test_an_entropy_on_the_bound_is_enough():
    for size in range(1, 40):
        found = check(table("x" * size + "y" * size + "z" * size), k=1, l=3, diversity="entropy")
        assert found.passed
    assert not check(table("xxxxyyyzzz"), k=1, l=3, diversity="entropy").passed


@settings(deadline=None, max_examples=60)
@given(
    groups=st.lists(st.text("xyz", min_size=1, max_size=7), min_size=1, max_size=4),
    k=st.integers(1, 4),
    needed=st.sampled_from([None, 1, 2, 3]),
    diversity=st.sampled_from(["distinct", "entropy", "recursive"]),
    m=st.sampled_from([0.5, 1.0, 2.0]),
)
def test_the_checker_is_the_definition(groups, k, needed, diversity, m):
    found = check(table(*groups), k=k, l=needed, diversity=diversity, m=m)
    expected = [is_valid(list(group), k, needed, diversity, m) for group in groups]
    assert found.passed == all(expected)
    assert len(found.failures) == expected.count(False)


def test_empty_cells_are_values():
    frame = pd.DataFrame({"a": ["1", "1", None, None], "s": list("xyxy")})
    found = verify_publication(frame, quasi_identifiers=["a"], sensitive="s", k=2, l=2)
    assert (found.passed, found.n_groups) == (True, 2)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"quasi_identifiers": []}, "No quasi-identifier"),
        ({"quasi_identifiers": ["a", "zip"]}, "no column 'zip'; its columns are a, b, s"),
        ({"sensitive": None, "l": 2}, "no sensitive column is named"),
        ({"k": 0}, "k must be a whole number of at least 1"),
        ({"l": 2.5}, "whole number for distinct"),
        ({"diversity": "t"}, "got 't'"),
    ],
)
def test_bad_requests_are_refused_in_words(options, words):
    with pytest.raises(OptionError, match=words):
        verify_publication(table("xyz"), **{"quasi_identifiers": ["a"], "sensitive": "s", "k": 2, **options})


def test_what_is_no_table_is_refused():
    with pytest.raises(TypeError, match="is a list"):
        verify_publication([], quasi_identifiers=["a"])
    with pytest.raises(OptionError, match="no rows"):
        verify_publication(table(), quasi_identifiers=["a"])


def test_all_missing_sensitive_values_are_one():
    frame = pd.DataFrame({"a": ["1"] * 3, "s": pd.Series([None, float("nan"), pd.NA], dtype=object)})
    found = verify_publication(frame, quasi_identifiers=["a"], sensitive="s", k=2, l=2)
    assert found.least_diversity == 1


def test_missing_quasi_identifiers_are_one_group():
    frame = pd.DataFrame({"a": pd.Series([None, float("nan"), pd.NA], dtype=object)})
    found = verify_publication(frame, quasi_identifiers=["a"], k=4)
    assert found.n_groups == 1
    assert str(found.failures[0]) == "(empty): 3 rows, fewer than 4"


def test_one_name_is_one_column():
    frame = pd.DataFrame({"age": ["1", "1"], "a": ["x", "y"], "g": ["x", "y"], "e": ["x", "y"]})
    assert verify_publication(frame, quasi_identifiers="age", k=2).passed
