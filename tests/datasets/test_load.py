"""Loading by name: scikit-learn's sets, files of a folder made for the test, and the real data folder."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets

from mustlink.datasets import load, names
from mustlink.datasets._folder import files_in_folder
from mustlink.datasets._known_sets import FOLDER_SETS, SUBSETS
from mustlink.errors import DataNotFoundError, FileFormatError

# rows, features, classes, classes of the smallest and the largest size, text columns; None where there are no classes
REAL = {
    "adult": (32561, 14, 2, 7841, 24720, 8),
    "adult_test": (16281, 14, 2, 3846, 12435, 8),
    "balance": (625, 4, 3, 49, 288, 0),
    "bicat_genes": (419, 71, None, None, None, 1),
    "breast_w": (699, 9, 2, 241, 458, 0),
    "citeseer_refs": (2892, 7, 1165, 1, 44, 4),
    "cora_graph": (2708, 1433, 7, 180, 818, 0),
    "cora_graph_edges": (5278, 2, None, None, None, 0),
    "cora_refs": (1879, 16, 182, 1, 238, 15),
    "ecoli": (336, 7, 8, 2, 143, 0),
    "glass": (214, 9, 6, 9, 76, 0),
    "han_names": (2255, 6, 139, 2, 108, 5),
    "ionosphere": (351, 34, 2, 126, 225, 0),
    "iris": (150, 4, 3, 50, 50, 0),
    "mnist2000": (2000, 784, 10, 200, 200, 0),
    "mushroom": (8124, 22, 2, 3916, 4208, 22),
    "news_mini": (2000, 2, 20, 100, 100, 1),
    "news_w100": (16242, 100, 4, 2657, 5461, 0),
    "parkinsons": (195, 22, 2, 48, 147, 0),
    "pendigits": (10992, 16, 10, 1055, 1144, 0),
    "pima": (768, 8, 2, 268, 500, 0),
    "segment": (2310, 19, 7, 330, 330, 0),
    "segment210": (210, 19, 7, 30, 30, 0),
    "semeion": (1593, 256, 10, 155, 162, 0),
    "sonar": (208, 60, 2, 97, 111, 0),
    "soybean": (683, 35, 19, 8, 92, 35),
    "soybean_small": (47, 35, 4, 10, 17, 0),
    "spect": (267, 22, 2, 55, 212, 0),
    "usps": (9298, 256, 10, 708, 1553, 0),
    "vowel": (990, 10, 11, 90, 90, 0),
    "wdbc": (569, 30, 2, 212, 357, 0),
    "wine": (178, 13, 3, 48, 71, 0),
    "yaleb32": (2414, 1024, 38, 59, 64, 0),
    "yeast_brown": (186, 80, 3, 30, 121, 1),
    "zoo": (101, 16, 7, 4, 41, 0),
    "news_different": (300, 2, 3, 100, 100, 1),
    "news_related": (300, 2, 3, 100, 100, 1),
    "news_similar": (300, 2, 3, 100, 100, 1),
    "pendigits0689": (3000, 16, 4, 750, 750, 0),
    "pendigits3689": (4221, 16, 4, 1055, 1056, 0),
    "pendigits389": (3165, 16, 3, 1055, 1055, 0),
    "usps4000": (4000, 256, 10, 400, 400, 0),
    "yaleb10": (640, 1024, 10, 64, 64, 0),
}

real_folder = pytest.mark.skipif(
    "pendigits" not in files_in_folder(),
    reason="MUSTLINK_DATA does not name a folder with the data sets of the papers",
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty data folder."""
    monkeypatch.setenv("MUSTLINK_DATA", str(tmp_path))
    return tmp_path


def put(folder: Path, name: str, text: str) -> None:
    """Write a set into a folder."""
    with gzip.open(folder / f"{name}.csv.gz", "wt", encoding="utf-8", newline="") as file:
        file.write(text)


@pytest.mark.parametrize(
    ("name", "loader"),
    [("iris", "load_iris"), ("wine", "load_wine"), ("wdbc", "load_breast_cancer"), ("digits", "load_digits")],
)
@pytest.mark.parametrize("source", ["auto", "sklearn"])
def test_sets_of_scikit_learn_need_no_folder(folder: Path, name: str, loader: str, source: str) -> None:
    expected = getattr(sklearn.datasets, loader)()
    bunch = load(name, source=source)
    np.testing.assert_array_equal(bunch.data, expected.data)
    np.testing.assert_array_equal(bunch.target, expected.target)
    assert bunch.data.dtype == np.float64
    assert bunch.target_names.tolist() == [str(label) for label in expected.target_names]
    assert bunch.feature_names == list(expected.feature_names)
    assert bunch.name == name
    assert loader in bunch.description


def test_data_and_target_alone(folder: Path) -> None:
    X, y = load("iris", return_X_y=True)
    assert X.shape == (150, 4)
    assert y.shape == (150,)


def test_numbers_with_missing_cells(folder: Path) -> None:
    put(folder, "mine", "size,weight,label\n1,2.5,b\n,-1e3,a\n3,,b\n")
    bunch = load("mine")
    np.testing.assert_array_equal(bunch.data, [[1, 2.5], [np.nan, -1000], [3, np.nan]])
    assert bunch.data.dtype == np.float64
    assert bunch.feature_names == ["size", "weight"]
    assert bunch.target.tolist() == [1, 0, 1]
    assert bunch.target_names.tolist() == ["a", "b"]
    assert bunch.text_features == []
    assert "NaN (2 in all)" in bunch.description


def test_text_columns_give_objects_and_are_described(folder: Path) -> None:
    put(folder, "mine", 'size,word,label\n1,"red, or\nnot",x\n,?,y\n2.5,,x\n')
    bunch = load("mine")
    assert bunch.data.dtype == object
    assert bunch.data[0].tolist() == [1.0, "red, or\nnot"]
    assert np.isnan(bunch.data[1, 0])
    assert bunch.data[1:, 1].tolist() == ["?", ""]
    assert bunch.text_features == ["word"]
    assert "hold text: word. Encode" in bunch.description


def test_whole_number_classes_are_in_the_order_of_the_numbers(folder: Path) -> None:
    put(folder, "mine", "size,label\n1,10\n2,9\n3,-2\n4,10\n")
    bunch = load("mine")
    assert bunch.target_names.tolist() == ["-2", "9", "10"]
    assert bunch.target.tolist() == [2, 1, 0, 2]


def test_no_label_column(folder: Path) -> None:
    put(folder, "mine", "size,weight\n1,2\n")
    X, y = load("mine", return_X_y=True)
    assert X.tolist() == [[1.0, 2.0]]
    assert y is None


def test_an_edge_list_is_of_whole_numbers(folder: Path) -> None:
    put(folder, "cora_graph_edges", "source,target\n0,633\n1,2\n")
    edges = load("cora_graph_edges")
    assert edges.data.dtype == np.int64
    assert edges.data.tolist() == [[0, 633], [1, 2]]
    assert edges.target is None


def test_a_long_cell(folder: Path) -> None:
    put(folder, "mine", f'text,label\n"{"word " * 60_000}",a\n')
    assert len(load("mine").data[0, 0]) == 300_000


def test_a_subset_keeps_the_order_of_the_rows(folder: Path) -> None:
    put(folder, "pendigits", "x,label\n" + "".join(f"{row},{row % 10}\n" for row in range(40)))
    bunch = load("pendigits389")
    assert bunch.data[:, 0].tolist() == [3, 8, 9, 13, 18, 19, 23, 28, 29, 33, 38, 39]
    assert bunch.target.tolist() == [0, 1, 2] * 4
    assert bunch.target_names.tolist() == ["3", "8", "9"]
    assert bunch.name == "pendigits389"


def test_the_first_rows_of_each_class(folder: Path) -> None:
    put(folder, "usps", "x,label\n" + "".join(f"{row},{row % 2}\n" for row in range(1000)))
    bunch = load("usps4000")
    assert bunch.data[:, 0].tolist() == list(range(800))
    assert np.bincount(bunch.target).tolist() == [400, 400]


def test_a_subset_of_a_file_without_one_of_its_classes(folder: Path) -> None:
    put(folder, "pendigits", "x,label\n1,3\n2,8\n")
    with pytest.raises(FileFormatError, match=r"pendigits\.csv\.gz has no rows of class 9, which 'pendigits389' needs"):
        load("pendigits389")


def test_a_folder_named_like_a_file_is_no_set(folder: Path) -> None:
    (folder / "mine.csv.gz").mkdir()
    (folder / "glass.csv.gz").mkdir()
    assert "mine" not in names()
    assert not names()["glass"]
    with pytest.raises(DataNotFoundError, match="There is no data set 'mine'"):
        load("mine")
    with pytest.raises(DataNotFoundError, match="'glass' is known but not on this machine"):
        load("glass")


def test_names_list_what_can_be_loaded(folder: Path) -> None:
    put(folder, "pendigits", "x,label\n1,1\n")
    put(folder, "mine", "x,label\n1,1\n")
    known = names()
    assert list(known) == sorted(known)
    assert set(known) == {*FOLDER_SETS, *SUBSETS, "digits", "mine"}
    here = {name for name, present in known.items() if present}
    subsets = {"pendigits0689", "pendigits3689", "pendigits389"}
    assert here == {"digits", "iris", "wdbc", "wine", "pendigits", *subsets, "mine"}


def test_a_known_set_that_is_absent(folder: Path) -> None:
    with pytest.raises(DataNotFoundError) as raised:
        load("balance")
    message = str(raised.value)
    assert "balance.csv.gz" in message
    assert str(folder) in message
    assert "MUSTLINK_DATA" in message
    assert "mustlink.datasets.fetch('balance-scale', save_as='balance')" in message


@pytest.mark.parametrize("name", ["usps", "usps4000"])
def test_a_known_set_that_openml_does_not_have_in_this_form(folder: Path, name: str) -> None:
    with pytest.raises(DataNotFoundError, match=r"'usps' is known but not on this machine.*MUSTLINK_DATA.*OpenML"):
        load(name)


def test_without_the_variable_no_folder_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MUSTLINK_DATA", raising=False)
    beside = tmp_path / "shared" / "data"
    beside.mkdir(parents=True)
    put(beside, "balance", "x,label\n1,1\n")
    (tmp_path / "checkout").mkdir()
    monkeypatch.chdir(tmp_path / "checkout")
    assert {name for name, present in names().items() if present} == {"digits", "iris", "wdbc", "wine"}
    with pytest.raises(DataNotFoundError, match=r"'balance' is known but.*: the variable MUSTLINK_DATA is not set"):
        load("balance")
    with pytest.raises(DataNotFoundError, match="no data set 'mine': the variable MUSTLINK_DATA is not set"):
        load("mine")


def test_words_that_pandas_takes_for_something_else_stay_text(folder: Path) -> None:
    put(folder, "mine", "flag,word,label\nTRUE,NA,true\nFalse,null,false\n")
    bunch = load("mine")
    assert bunch.data.tolist() == [["TRUE", "NA"], ["False", "null"]]
    assert bunch.target_names.tolist() == ["false", "true"]


def test_numbers_are_read_to_the_last_digit(folder: Path) -> None:
    texts = ["0.1234567890123456789", "1e-310", "2.2250738585072011e-308", "0.30000000000000004"]
    put(folder, "mine", "x,label\n" + "".join(f"{text},a\n" for text in texts))
    assert load("mine").data[:, 0].tolist() == [float(text) for text in texts]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("pendigit", r"There is no data set 'pendigit'.*Did you mean pendigits"),
        ("entirely else", r"There is no data set 'entirely else'.*Known are adult,"),
    ],
)
def test_an_unknown_name(folder: Path, name: str, message: str) -> None:
    with pytest.raises(DataNotFoundError, match=message):
        load(name)


def test_a_name_does_not_lead_out_of_the_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(folder, "secret", "x,label\n1,1\n")
    (folder / "inner").mkdir()
    monkeypatch.setenv("MUSTLINK_DATA", str(folder / "inner"))
    with pytest.raises(DataNotFoundError, match="no data set"):
        load("../secret")


def test_sources(folder: Path) -> None:
    with pytest.raises(ValueError, match="source is 'web'; expected one of 'auto', 'sklearn', 'folder'"):
        load("iris", source="web")
    with pytest.raises(DataNotFoundError, match=r"does not ship the data set 'balance'.*digits, iris, wdbc, wine"):
        load("balance", source="sklearn")
    with pytest.raises(DataNotFoundError, match=r"digits\.csv\.gz is not in .*Leave source='folder' out"):
        load("digits", source="folder")
    with pytest.raises(TypeError, match="got 3 of type int"):
        load(3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds 0 rows"),
        ("x,label\n", "holds 0 rows"),
        ("label\na\n", "one column beside the label"),
        ("x,label\n1,a\n2\n3,b\n", "row 2 after the header: the cell under 'label' is empty or missing"),
        ("x,label\n1,a\n2,b,c\n", "cannot be read as gzip-compressed CSV.*Expected 2 fields in line 3, saw 3"),
        ("x,label\n1,a,b\n2,b,c\n", "cannot be read as gzip-compressed CSV.*Length of header"),
        ('x,label\n1,"a', "cannot be read as gzip-compressed CSV"),
    ],
)
def test_damaged_tables(folder: Path, text: str, message: str) -> None:
    put(folder, "mine", text)
    with pytest.raises(FileFormatError, match=message):
        load("mine")


@pytest.mark.parametrize(
    "content",
    [b"x,label\n1,a\n", gzip.compress(b"x,label\n1,a\n")[:-12], gzip.compress("x,label\n1,\xe9\n".encode("latin-1"))],
    ids=["not compressed", "cut off", "not UTF-8"],
)
def test_damaged_files(folder: Path, content: bytes) -> None:
    (folder / "mine.csv.gz").write_bytes(content)
    with pytest.raises(FileFormatError, match=r"mine\.csv\.gz cannot be read as gzip-compressed CSV in UTF-8"):
        load("mine")


def test_all_sets_of_the_catalogue_are_checked_below() -> None:
    assert set(REAL) == {*FOLDER_SETS, *SUBSETS}


@real_folder
@pytest.mark.parametrize("name", sorted(REAL))
def test_the_real_sets_have_the_documented_shape(name: str) -> None:
    n_rows, n_features, n_classes, smallest, largest, n_text = REAL[name]
    bunch = load(name, source="folder")
    assert bunch.data.shape == (n_rows, n_features) == (n_rows, len(bunch.feature_names))
    assert len(bunch.text_features) == n_text
    assert (bunch.data.dtype == object) == (n_text > 0)
    if n_classes is None:
        assert bunch.target is None
    else:
        sizes = np.bincount(bunch.target)
        assert (len(sizes), sizes.min(), sizes.max()) == (n_classes, smallest, largest)
        assert len(bunch.target_names) == n_classes


@real_folder
@pytest.mark.parametrize("name", ["breast_w", "ecoli", "soybean", "yeast_brown", "han_names"])
def test_the_real_cells_as_pandas_reads_them(name: str) -> None:
    frame = pd.read_csv(files_in_folder()[name])
    bunch = load(name)
    assert bunch.target_names[bunch.target].tolist() == frame["label"].astype(str).tolist()
    for j, feature in enumerate(bunch.feature_names):
        if feature in bunch.text_features:
            assert bunch.data[:, j].tolist() == frame[feature].fillna("").tolist()
        else:
            np.testing.assert_array_equal(bunch.data[:, j].astype(float), frame[feature].to_numpy(dtype=float))


@real_folder
def test_the_two_copies_of_a_set() -> None:
    shipped, copied = load("iris"), load("iris", source="folder")
    assert np.flatnonzero((shipped.data != copied.data).any(axis=1)).tolist() == [34, 37]
    np.testing.assert_array_equal(load("wine").data, load("wine", source="folder").data)
    np.testing.assert_array_equal(load("wdbc").data, load("wdbc", source="folder").data)


@real_folder
def test_the_messages_can_be_cut_as_the_description_says() -> None:
    news = load("news_different")
    assert "Newsgroups:" in news.data[0, 1].partition("\n\n")[0]
    assert news.data[0, 1].partition("\n\n")[2].strip()
    assert news.target_names.tolist() == ["alt.atheism", "rec.sport.baseball", "sci.space"]
