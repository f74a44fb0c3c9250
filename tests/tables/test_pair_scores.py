"""Pairs with probabilities, as other tools write them."""

from __future__ import annotations

import numpy as np
import pytest

from mustlink.errors import FileFormatError
from mustlink.tables import read_pair_scores


@pytest.fixture
def read(tmp_path):
    def read(text, **options):
        path = tmp_path / "pairs.csv"
        path.write_text(text)
        return read_pair_scores(path, **options)

    return read


FORMS = {
    "splink": "match_weight,match_probability,unique_id_l,unique_id_r,name_l,name_r\n3,0.9,x,y,A,B\n-1,0.2,z,y,C,B\n",
    "splink, another id": "match_probability,code_l,code_r\n0.9,x,y\n0.2,z,y\n",
    "recordlinkage": "id1,id2,score\nx,y,0.9\nz,y,0.2\n",
    "by place": "one;two;how sure;note\nx;y;0,9;a\nz;y;0,2;b\n",
    "capitals": "ID1,ID2,Score\nx,y,0.9\nz,y,0.2\n",
    "a pair twice": "id1,id2,score\nx,y,0.9\nz,y,0.2\ny,x,0.9\n",
}


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS.keys())
def test_columns_are_recognized(read, text):
    found = read(text)
    assert found.names == ["x", "y", "z"]
    assert found.pairs.tolist() == [[0, 1], [1, 2]]
    assert found.probability.tolist() == [0.9, 0.2]


def test_the_only_other_column_is_the_probability(read):
    found = read("sim,id1,id2\n0.9,x,y\n0.2,y,z\n")
    assert found.names == ["x", "y", "z"]
    assert found.probability.tolist() == [0.9, 0.2]


def test_weights_are_bits(read):
    found = read("match_weight,unique_id_l,unique_id_r\n3,1,2\n-1,2,3\n-2000,1,3\n")
    np.testing.assert_allclose(found.probability, [8 / 9, 1 / 3, 0.0], atol=1e-12)
    assert found.id_name == "unique_id"


def test_ids_stay_as_they_are_written(read):
    found = read("id1,id2,score\n007,7,0.5\n7.0,x 1,1\n")
    assert found.names == ["007", "7", "x 1"]


def test_records_of_a_table_have_its_rows(read):
    found = read("id1,id2,score\nc,a,0.5\n", ids=["a", "b", "c"])
    assert found.names == ["a", "b", "c"]
    assert found.pairs.tolist() == [[0, 2]]
    found = read("id1,id2,score\nc,a,0.5\nd,a,0.5\n", ids=["a", "b", "c"], unknown_ids="skip")
    assert found.pairs.tolist() == [[0, 2]]
    assert "1 of 2 pairs names ids that are not in the table and were skipped." in found.notices


def test_sources_and_data_sets(read):
    splink = "unique_id_l,unique_id_r,source_dataset_l,source_dataset_r,match_probability\n"
    found = read(f"{splink}1,1,A,B,0.9\n2,1,A,B,0.3\n", source_column="source_dataset")
    assert found.names == ["A-__-1", "B-__-1", "A-__-2"]
    assert found.sources == ["A", "B", "A"]
    found = read(f"{splink}1,2,A,B,0.9\n", source_column="source_dataset")
    assert found.names == ["1", "2"]


BAD = {
    "id1,id2,score\nx,y,1.2\n": r"line 2: the column 'score' is 1.2; a probability is from 0 to 1",
    "id1,id2,score\nx,y,0.1\nx,z,\n": r"line 3: the column 'score' is empty; a probability is from 0 to 1",
    "id1,id2,score\nx,y,NaN\nx,z,0.1\n": r"line 2: the column 'score' is empty",
    "id1,id2,score\nx,y,high\nx,z,low\n": r"holds texts such as 'high' where the probabilities",
    "id1,id2,score\nx,x,0.5\n": r"line 2: pairs 'x' with itself",
    "id1,id2,score\nx,,0.5\n": r"line 2: the column 'id2' is empty; every pair needs two ids",
    "id1,id2,score\nx,y,0.5\ny,x,0.6\n": r"'y' and 'x' has the value 0.5 in line 2 and 0.6 in line 3",
    "pair,id1,id2,similar\n1,x,y,0.5\n": r"in the columns id1 and id2, but no column of probabilities",
    "id1,id2\nx,y\n": r"has the 2 columns id1, id2; pairs need three",
    "id1,id2,score\n": r"no pairs|no rows|only a header",
}


@pytest.mark.parametrize("text", BAD)
def test_bad_pairs_are_sentences(read, text):
    with pytest.raises(FileFormatError, match=BAD[text]):
        read(text)


def test_unknown_ids_and_unequal_sources_are_refused(read):
    with pytest.raises(
        FileFormatError, match=r"line 3: there is no row with the id 'd' in the table; pass unknown_ids"
    ):
        read("id1,id2,score\nc,a,0.5\nd,a,0.5\n", ids=["a", "b", "c"])
    with pytest.raises(FileFormatError, match="the id 'x' is of the source 'B', and in line 2 of 'A'"):
        read("id1,id2,score,s_l,s_r\nx,y,0.5,A,A\nx,z,0.5,B,A\n", source_column="s")
    with pytest.raises(FileFormatError, match="has no columns 't_l', 't_r'"):
        read("id1,id2,score,s_l,s_r\nx,y,0.5,A,A\n", source_column="t")
