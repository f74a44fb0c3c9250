"""Tables of 0 and 1 from files."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from mustlink.errors import ConstraintError, FileFormatError, OptionError
from mustlink.tables import read_binary, read_links, read_links_between


@pytest.fixture
def write(tmp_path):
    def write_text(text, name="m.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write_text


@pytest.mark.parametrize(
    ("one", "zero"), [("1", "0"), ("1.0", "0.0"), ("yes", "no"), ("Y", "N"), ("TRUE", "FALSE"), ("t", "f")]
)
def test_words_for_one_and_zero(write, one, zero):
    table = read_binary(write(f"a,b\n{one},{zero}\n{zero},{zero}\n{one},{one}\n"))
    np.testing.assert_array_equal(table.X.toarray(), [[1, 0], [0, 0], [1, 1]])
    assert table.columns == ("a", "b")
    assert table.ids is None


def test_columns_may_have_words_of_their_own(write):
    table = read_binary(write("id;a;b;c\nu;1;yes;x\nv;0;no;\n"), id_column="id", missing="zero")
    np.testing.assert_array_equal(table.X.toarray(), [[1, 1, 1], [0, 0, 0]])
    assert table.ids == ["u", "v"]
    assert table.id_name == "id"


def test_empty_cells_are_zero_in_a_column_of_x(write):
    table = read_binary(write("id;a;b\nu;x;\nv;;X\nw;x;X\n"), id_column="id")
    np.testing.assert_array_equal(table.X.toarray(), [[1, 0], [0, 1], [1, 1]])
    with pytest.raises(FileFormatError, match="line 2: the column 'b' is empty"):
        read_binary(write("id;a;b\nu;x;\nv;;yes\n"), id_column="id")


@pytest.mark.parametrize(
    ("text", "options", "sentence"),
    [
        ("a,b\n1,0\n1,2\n", {}, r"line 3: the column 'b' holds '2', .* ones_above, or leave it out"),
        ("a,b\n1,0\n1,0.5\n", {}, r"line 3: the column 'b' holds '0.5'"),
        ("a,b\n1,0\n1,-1\n", {}, r"line 3: the column 'b' holds '-1'"),
        ("a,b\n1,maybe\n1,no\n", {}, r"line 2: the column 'b' holds 'maybe', .* or x or empty"),
        ("a,b\n1,yes\n1,0\n", {}, r"line 3: the column 'b' holds '0'"),
        ("a,b\nann,1\nbob,0\n", {}, r"line 2: the column 'a' holds 'ann', .*id_column='a' if it names the rows"),
        ("a,b\n1,\n1,0\n", {}, r"line 2: the column 'b' is empty; .*missing=\"zero\""),
        ("a,b\n", {}, r"has no rows"),
        ("a\n1\n", {"ignore": ["a"]}, r"has no columns of 0 and 1"),
        ("a,b\nu,1\nu,0\n", {"id_column": "a"}, r"the id 'u' occurs in line 2 and again in line 3"),
        ("a,b\nx,1\ny,0\n", {"order_column": "a"}, r"'a' holds text; rows are ordered by numbers"),
        ("a,b\n3,1\n,0\n", {"order_column": "a"}, r"line 3: the column 'a' of the order of the rows is empty"),
        ("a,b\nred,3\nblue,1\nred,2\n", {"ones_above": 5}, r"the column 'a' holds text"),
        ("a,b\n-2,3\n-1,1\n", {"ones_above": 5}, r"the largest number of the column 'a' is -1"),
        ("a,b\n1,0\n", {"is_long": True, "ignore": ["a"]}, r"has 1 column; a list of ones has two"),
        ("a,b\nu,\n", {"is_long": True}, r"line 2: the column 'b' is empty"),
        ("a,b,c\nu,v,3\n", {"is_long": True}, r"line 2: the column 'c' holds '3'"),
        ("a,b\n", {"is_long": True}, r"lists no ones"),
    ],
)
def test_cells_that_are_neither_are_named(write, text, options, sentence):
    with pytest.raises(FileFormatError, match=sentence):
        read_binary(write(text), **options)


@pytest.mark.parametrize("percent", [-1, 100, 250])
def test_a_percentage_has_bounds(write, percent):
    with pytest.raises(OptionError, match="at least 0 and below 100"):
        read_binary(write("a\n1\n"), ones_above=percent)


def test_numbers_above_a_part_of_the_maximum_are_ones(write):
    rng = np.random.default_rng(0)
    values = rng.uniform(0, [1, 10, 1000], size=(40, 3))
    text = "a,b,c\n" + "".join(",".join(map(repr, line)) + "\n" for line in values.tolist())
    for percent in (0, 25, 35, 99):
        X = read_binary(write(text), ones_above=percent).X.toarray()
        np.testing.assert_array_equal(X, values > percent / 100 * values.max(axis=0))


def test_empty_cells_are_no_ones_above(write):
    X = read_binary(write("a,b\n4,1\n,2\n1,0\n"), ones_above=25, missing="zero").X.toarray()
    np.testing.assert_array_equal(X, [[1, 1], [0, 1], [0, 0]])


def test_a_list_of_ones(write):
    table = read_binary(write("who,what\nann,milk\nbob,bread\nann,bread\nann,milk\n"), is_long=True)
    np.testing.assert_array_equal(table.X.toarray(), [[1, 1], [0, 1]])
    assert (table.ids, table.columns, table.id_name) == (["ann", "bob"], ("milk", "bread"), "who")


def test_a_list_with_values_and_named_rows(write):
    path = write("what,who,times\nmilk,ann,3\nbread,bob,1\nbread,ann,8\nmilk,cid,1\n")
    table = read_binary(path, is_long=True, id_column="who", ones_above=30)
    assert (table.ids, table.columns) == (["ann", "bob", "cid"], ("milk", "bread"))
    np.testing.assert_array_equal(table.X.toarray(), [[1, 1], [0, 0], [1, 0]])


def test_an_order_is_not_part_of_the_matrix(write):
    table = read_binary(write("t,a\n2024-05-01,1\n2023-01-01,0\n"), order_column="t")
    assert table.columns == ("a",)
    assert table.order[0] > table.order[1]


@pytest.mark.parametrize(("suffix", "package"), [(".parquet", "pyarrow"), (".xlsx", "openpyxl")])
def test_other_formats(tmp_path, suffix, package):
    pytest.importorskip(package)
    path = tmp_path / f"m{suffix}"
    frame = pd.DataFrame({"id": ["u", "v"], "a": [True, False], "b": [0, 1]})
    frame.to_parquet(path) if suffix == ".parquet" else frame.to_excel(path, index=False)
    np.testing.assert_array_equal(read_binary(path, id_column="id").X.toarray(), [[1, 0], [0, 1]])


def test_many_columns_are_read_column_by_column(write):
    X = np.random.default_rng(0).random((50, 400)) < 0.1
    text = ",".join(f"c{place}" for place in range(400)) + "\n"
    text += "".join(",".join(map(str, line)) + "\n" for line in X.astype(int).tolist())
    found = read_binary(write(text)).X
    np.testing.assert_array_equal(found.toarray(), X)
    assert found.nnz == X.sum()


def links(**columns):
    return {"a": columns["a"], "b": columns["b"], "link": ["must"] * len(columns["a"])}


def test_links_of_columns_name_columns():
    found = read_links(links(a=["hair"], b=["milk"]), ["eggs", "hair", "milk"], noun="column")
    assert [(link.a, link.b) for link in found] == [(1, 2)]
    with pytest.raises(ConstraintError, match="there is no column 'wings' in the table"):
        read_links(links(a=["hair"], b=["wings"]), ["hair"], noun="column")
    with pytest.raises(ConstraintError, match="needs two different columns"):
        read_links(links(a=["hair"], b=["hair"]), ["hair"], noun="column")


def test_links_between_count_columns_after_rows():
    found = read_links_between(links(a=["u", "v"], b=["milk", "hair"]), ["u", "v", "w"], ["hair", "milk"], n_rows=3)
    assert [(link.a, link.b) for link in found] == [(0, 4), (1, 3)]


@pytest.mark.parametrize(
    ("a", "b", "sentence"),
    [
        (["z"], ["hair"], "there is no row with the id 'z' in the table"),
        (["u"], ["u"], "there is no column 'u' in the table"),
        (["u", "u"], ["nose", "toes"], "no column 'nose' in the table, nor 1 other name of the links: 'toes'"),
    ],
)
def test_links_between_tell_rows_from_columns(a, b, sentence):
    with pytest.raises(ConstraintError, match=sentence):
        read_links_between(links(a=a, b=b), ["u", "v"], ["hair"], n_rows=2)
    assert read_links_between(links(a=a, b=b), ["u", "v"], ["hair"], n_rows=2, unknown_ids="skip").n_skipped == len(a)


def test_links_between_that_are_swapped_are_named():
    with pytest.raises(
        ConstraintError, match="'hair' is a column and 'u' is a row; the column a of a link names the row"
    ):
        read_links_between(links(a=["hair"], b=["u"]), ["u", "v"], ["hair"], n_rows=2)


def test_links_between_take_row_numbers():
    assert [(link.a, link.b) for link in read_links_between(links(a=[1], b=["x"]), None, ["x"], n_rows=2)] == [(1, 2)]
