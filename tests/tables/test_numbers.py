"""Numbers as people spell them: read back as the same numbers, and never a fraction out of thousands."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mustlink.errors import ColumnsError, FileFormatError
from mustlink.tables import read_table
from mustlink.tables._numbers import as_number, number_spellings, spells_number

BLANKS = [" ", "\xa0", "\u202f", "\u2009"]
STYLES = [(decimal, sign) for decimal in ".," for sign in ["", "'", "\u2019", *BLANKS, "," if decimal == "." else "."]]


def spell(number, decimal, thousands, n_decimals):
    """Spell a number in one style."""
    text = f"{number:,.{n_decimals}f}"
    return text.translate({ord(","): thousands, ord("."): decimal})


def write(folder, content, name="table.csv"):
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return path


def table_text(columns, separator):
    """Write columns as text, with quotation marks around every cell."""
    rows = [list(columns), *zip(*columns.values(), strict=True)]
    return "".join(separator.join(f'"{cell}"' for cell in row) + "\n" for row in rows)


@pytest.mark.parametrize(("decimal", "thousands"), STYLES)
@pytest.mark.parametrize("separator", [";", "\t", "|", ","])
@given(
    st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=12),
    st.integers(0, 4),
    st.sampled_from(["{}", "{} %", "{}%", "€ {}", "{} EUR", "${}", "CHF {}"]),
)
@example([1250, 48900, 990], 0, "{}")
@settings(deadline=None, max_examples=12)
def test_numbers_in_every_style_come_back(tmp_path_factory, decimal, thousands, separator, whole, n_decimals, unit):
    """With a column that shows the decimal sign, no number is mistaken for another."""
    numbers = [number / 10**n_decimals for number in whole]
    texts = [unit.format(spell(number, decimal, thousands, n_decimals)) for number in numbers]
    ratios = [f"0{decimal}{place:02}" for place in range(len(numbers))]
    content = table_text({"id": [f"r{place}" for place in range(len(numbers))], "n": texts, "r": ratios}, separator)
    table = read_table(write(tmp_path_factory.mktemp("any"), content), text=["id"])
    np.testing.assert_allclose(table.column("n"), numbers, rtol=1e-12, atol=0)
    np.testing.assert_allclose(table.column("r"), np.arange(len(numbers)) / 100)
    assert table.dialect.decimal == decimal


@pytest.mark.parametrize("separator", [";", "\t", "|", ","])
@given(st.lists(st.integers(1000, 999_999), min_size=1, max_size=8))
@settings(deadline=None, max_examples=30)
def test_thousands_are_never_fractions_beside_decimal_commas(tmp_path_factory, separator, whole):
    texts = [spell(number, ",", ".", 0) for number in whole]
    content = table_text({"n": texts, "r": ["0,5"] * len(whole)}, separator)
    np.testing.assert_array_equal(read_table(write(tmp_path_factory.mktemp("any"), content)).column("n"), whole)


@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_lost_leading_zeros_are_noted(tmp_path, suffix):
    if suffix == "xlsx":
        pytest.importorskip("openpyxl")
    cells = {"zip": ["01067", "10117"], "n": ["10", "20"], "flag": ["0", "1"], "share": ["0.25", "0.75"]}
    path = tmp_path / f"t.{suffix}"
    frame = pd.DataFrame(cells)
    frame.to_csv(path, index=False) if suffix == "csv" else frame.to_excel(path, index=False)
    table = read_table(path)
    np.testing.assert_array_equal(table.column("zip"), [1067, 10117])
    words = "as numbers, without the leading zeros; mark columns that hold codes as categorical"
    assert table.notices == (f"Column 'zip' was read {words}.",)
    as_text = read_table(path, text=["zip"])
    assert as_text.notices == ()
    assert [name for name in as_text.names if as_text.holds_codes(name)] == ["zip"]


def test_german_thousands(tmp_path):
    path = write(tmp_path, "k;umsatz;quote\nA;1.250;0,31\nB;48.900;0,52\nC;990;0,44\n")
    table = read_table(path, text=["k"])
    np.testing.assert_array_equal(table.column("umsatz"), [1250, 48900, 990])
    assert table.notices == (
        "Column 'umsatz' was read with '.' between thousands.",
        "Column 'quote' was read with the comma as the decimal sign.",
    )
    several = read_table(write(tmp_path, "a;b;c\n1,5;2,5;x\n"))
    assert several.notices == ("Columns 'a' and 'b' were read with the comma as the decimal sign.",)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        # A separator other than the semicolon says nothing against a decimal point.
        ("a\tb\n1.250\tx\n2.500\ty\n", [1.25, 2.5]),
        ("a,b\n1.250,x\n2.500,y\n", [1.25, 2.5]),
        # One column, or one cell, with decimals is enough.
        ("a;b\n1.250;0.5\n2.500;0.25\n", [1.25, 2.5]),
        ("a;b\n1.250;1\n2.5;2\n", [1.25, 2.5]),
        ("a\tb\n1.250\t0,5\n2.500\t1\n", [1250, 2500]),
        ("a\tb\n1.250\t1.234.567\n2.500\t1\n", [1250, 2500]),
        ("a;b\n1.000;0,5\n2.000;1\n", [1000, 2000]),
        ("a;b\n1234;0,5\n1.250;1\n", [1234, 1250]),
        ('a,b\n"1,250",x\n"2,500",y\n', [1250, 2500]),
        ("a;b\n1,250;x\n2,500;y\n", [1.25, 2.5]),
        ('a,b\n"1.250,50",x\n"2",y\n', [1250.5, 2]),
        ("a;b\n1.250;2\n1.250.000;1\n", [1250, 1250000]),
    ],
)
def test_what_decides_between_thousands_and_decimals(tmp_path, content, expected):
    np.testing.assert_array_equal(read_table(write(tmp_path, content)).column("a"), expected)


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ("a;b\n1.250;x\n48.900;y\n", "1.250"),
        ("a;b\n1.000;1\n2.000;2\n", "1.000"),
        ("a\tb\n1,250\tx\n2,500\ty\n", "1,250"),
        ("a;b;c\n1.250;0,5;0.5\n2.500;1,5;1.5\n", "1.250"),
    ],
)
def test_doubtful_numbers_are_refused_until_the_sign_is_given(tmp_path, content, shown):
    path = write(tmp_path, content)
    message = f"'a' holds numbers such as '{shown}', and nothing shows whether the sign in them is a decimal sign; pass"
    with pytest.raises(FileFormatError, match=message):
        read_table(path)
    by_comma, by_point = read_table(path, decimal=",", problems="keep"), read_table(path, decimal=".", problems="keep")
    ratio = by_comma.column("a") / by_point.column("a")
    np.testing.assert_allclose(ratio, 1000 if "." in shown else 1 / 1000)


def test_a_given_sign_that_does_not_fit(tmp_path):
    path = write(tmp_path, "a;b\n0.5;x\n0.25;y\n")
    with pytest.raises(FileFormatError, match=r"'a' holds '0[.]5', which is no number with ',' as the decimal sign"):
        read_table(path, decimal=",")


@pytest.mark.parametrize(
    ("texts", "expected", "words"),
    [
        (["12 %", "12,5%"], [12, 12.5], "as percentages, with the comma as the decimal sign"),
        (["€ 1.250,00", "-€5,5"], [1250, -5.5], "as amounts in EUR, with '.' between thousands and with the comma as"),
        (["$1,250.5", "$7.25"], [1250.5, 7.25], "as amounts in USD, with ',' between thousands"),
        (["1.250 EUR", "0,5 EUR"], [1250, 0.5], "as amounts in EUR, with '.' between"),
        (["CHF 1'250", "CHF 1"], [1250, 1], 'as amounts in CHF, with "\'" between thousands'),
        (["5 €", "7 EUR"], [5, 7], "as amounts in EUR"),
        (["1 250", "3"], [1250, 3], "with a blank between thousands"),
        (["\u22125", "3"], [-5, 3], ""),
    ],
)
def test_signs_around_numbers(tmp_path, texts, expected, words):
    table = read_table(write(tmp_path, "a\n" + "\n".join(f'"{text}"' for text in texts)))
    np.testing.assert_array_equal(table.column("a"), expected)
    assert "".join(table.notices).startswith(f"Column 'a' was read {words}" if words else "")
    assert bool(table.notices) == bool(words)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["€ 5", "$ 5", "€ 7"], "the column 'a' mixes EUR and USD; correct the cell"),
        (["12 %", "0.5", "3 %"], "the column 'a' holds numbers in % and numbers without unit"),
        (["1,5", "2.5"], "the column 'a' has numbers with a decimal comma and numbers with a decimal point"),
        (["1_000", "5", "7"], "line 2: the column 'a' holds '1_000' among numbers"),
        (["1.2.3", "5", "7"], "line 2: the column 'a' holds '1.2.3' among numbers"),
        (["5 %", "x", "7 %"], "line 3: the column 'a' holds 'x' among numbers"),
        (["0,5", "7", "x"], "line 4: the column 'a' holds 'x' among numbers"),
    ],
)
def test_numbers_that_do_not_go_together(tmp_path, texts, message):
    path = write(tmp_path, "a\n" + "\n".join(f'"{text}"' for text in texts))
    with pytest.raises(FileFormatError, match=message):
        read_table(path)


def test_problems_of_several_columns_are_one_error(tmp_path):
    path = write(tmp_path, "a;b;c;d\n1.250;1;2;x\n1.350;oops;inf;y\n1.450;3;4;x\n")
    with pytest.raises(ColumnsError) as raised:
        read_table(path)
    lines = str(raised.value).splitlines()
    assert lines[0] == f"{path} cannot be used as it is, for 3 reasons:"
    assert [line[:26] for line in lines[1:]] == [
        "- the column 'a' holds num",
        "- line 3: the column 'b' h",
        "- line 3: the column 'c' h",
    ]
    table = read_table(path, problems="keep")
    assert [problem.fields["column"] for problem in table.problems] == ["a", "b", "c"]
    assert read_table(path, ignore=["a", "b", "c"]).names == ("d",)


@pytest.mark.parametrize(
    ("text", "number"),
    [("1_000", None), ("1", 1), (" 2.5 ", 2.5), ("1e5", 1e5), ("0x1", None), ("", None), ("٣", None)],
)
def test_as_number(text, number):
    assert as_number(text) == number
    assert spells_number(text) == (number is not None)


@given(st.lists(st.text(alphabet="0123456789.,' +-eE€%_ \n", min_size=1, max_size=9), min_size=1, max_size=6))
@settings(deadline=None, max_examples=200)
def test_a_column_fits_a_sign_only_if_every_cell_does(texts):
    texts = [text.strip() for text in texts]
    for sign, spelling in number_spellings(texts).items():
        numbers = spelling.numbers(texts)
        assert len(numbers) == len(texts)
        for text, number in zip(texts, numbers, strict=True):
            alone = number_spellings([text])
            assert not math.isnan(number)
            assert sign in alone or not {".", ","} & set(text)
            if sign in alone:
                assert alone[sign].numbers([text]) == [number]


@pytest.mark.parametrize("negative", ["({})", "{}-", "({} €)", "(€ {})"])
def test_negative_numbers_in_brackets_or_with_the_minus_sign_at_the_end(tmp_path, negative):
    plain = "{} €" if "€" in negative else "{}"
    cells = [plain.format("1.250,50"), negative.format("1.210,50"), plain.format("3"), negative.format("7,25")]
    path = write(tmp_path, "k;saldo\n" + "".join(f"r{place};{cell}\n" for place, cell in enumerate(cells)))
    table = read_table(path, text=["k"])
    np.testing.assert_array_equal(table.column("saldo"), [1250.5, -1210.5, 3, -7.25])
    assert any("minus sign at the end for negative numbers" in notice for notice in table.notices)


@pytest.mark.parametrize("texts", [["(a)", "(b)"], ["A-", "1-"], ["(-1)", "2"], ["1--", "2"], ["(1", "2)"]])
def test_other_brackets_and_dashes_spell_no_numbers(texts):
    assert number_spellings(texts) == {}
