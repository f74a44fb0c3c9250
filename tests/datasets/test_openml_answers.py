"""Downloading a set from OpenML, against a recorded answer instead of a network."""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Callable
from http.client import HTTPMessage
from importlib import resources
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_iris

from mustlink.datasets import fetch, load, names
from mustlink.errors import DataNotFoundError

RECORDED = Path(__file__).parent / "recorded"

ROUTES = {
    r"/api/v1/json/data/list/data_name/tiny-orchard/limit/2/(status/active/|data_version/1)": "search.json",
    r"/api/v1/json/data/features/990001": "features.json",
    r"/api/v1/json/data/qualities/990001": "qualities.json",
    r"/api/v1/json/data/990001": "description.json",
    r"/data/v1/download/990101(/.*)?": "data.arff",
}

SPARSE_ARFF = b"""@RELATION tiny-orchard
@ATTRIBUTE tree INTEGER
@ATTRIBUTE height REAL
@ATTRIBUTE bark {smooth, rough}
@ATTRIBUTE girth REAL
@ATTRIBUTE fruit {pear, apple}
@DATA
{0 1, 1 3.5, 4 apple}
{0 2, 3 0.5}
"""


class Answer(BytesIO):
    """What a server sends back: bytes with a header."""

    def info(self) -> HTTPMessage:
        return HTTPMessage()


def answer_with(monkeypatch: pytest.MonkeyPatch, contents: dict[str, bytes]) -> list[str]:
    """Answer requests from the recorded files, or these bytes in place of some; list what is asked for."""
    paths: list[str] = []

    def answer(request: Request) -> Answer:
        path = urlsplit(request.full_url).path
        paths.append(path)
        for pattern, name in ROUTES.items():
            if re.fullmatch(pattern, path):
                return Answer(contents.get(name) or (RECORDED / name).read_bytes())
        raise HTTPError(request.full_url, 412, "Precondition Failed", HTTPMessage(), BytesIO())

    monkeypatch.setattr("sklearn.datasets._openml.urlopen", answer)
    return paths


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Answer requests to OpenML from the recorded files, and keep a list of what was asked for."""
    return answer_with(monkeypatch, {})


@pytest.fixture
def broken_network(monkeypatch: pytest.MonkeyPatch) -> Callable[[Exception], None]:
    """Make each request fail in a given way, without the pause before the next try."""
    monkeypatch.setattr("sklearn.datasets._openml.time.sleep", lambda seconds: None)

    def fail_with(error: Exception) -> None:
        def answer(request: Request) -> Answer:
            raise error

        monkeypatch.setattr("sklearn.datasets._openml.urlopen", answer)

    return fail_with


@pytest.mark.parametrize("arguments", [{"name_or_id": "tiny-orchard"}, {"name_or_id": 990001}])
def test_a_recorded_set(asked: list[str], arguments: dict[str, Any]) -> None:
    orchard = fetch(**arguments, cache=False)
    assert orchard.name == "tiny-orchard"
    assert orchard.feature_names == ["height", "bark", "girth"]
    assert orchard.text_features == ["bark"]
    assert orchard.target.tolist() == [0, 1, 2, 0, 1, 2, 0, 1]
    assert orchard.target_names.tolist() == ["apple", "pear", "plum"]
    assert orchard.data[0].tolist() == [3.5, "smooth", 0.41]
    assert orchard.data[2].tolist() == [2.5, "peels off", 0.3]
    assert orchard.data[3].tolist() == [3.75, "?", 0.44]
    assert np.isnan(orchard.data[1, 2])
    assert "Eight fruit trees" in orchard.description
    assert "NaN (1 in all)" in orchard.description
    assert any("download" in path for path in asked)


def test_the_shape_is_that_of_load(asked: list[str]) -> None:
    fetched, loaded = fetch(990001, cache=False), load("iris")
    assert set(fetched) == set(loaded)
    assert fetched.target.dtype == loaded.target.dtype


def test_a_version_is_asked_for(asked: list[str]) -> None:
    fetch("tiny-orchard", version=1, cache=False)
    assert asked[0].endswith("/data_version/1")


def test_the_second_time_is_answered_from_the_cache(asked: list[str], tmp_path: Path) -> None:
    first = fetch(990001, cache=tmp_path)
    n_asked = len(asked)
    second = fetch(990001, cache=tmp_path)
    assert n_asked > 0
    assert len(asked) == n_asked
    assert second.target.tolist() == first.target.tolist()


def test_a_numeric_target_stays_numeric(asked: list[str]) -> None:
    orchard = fetch(990001, target_column="height", cache=False)
    assert orchard.target[:2].tolist() == [3.5, 4.25]
    assert orchard.target_names.tolist() == []
    assert orchard.text_features == ["bark", "fruit"]


def test_no_target(asked: list[str]) -> None:
    orchard = fetch(990001, target_column=None, cache=False)
    assert orchard.target is None
    assert orchard.data.shape == (8, 4)
    assert "no classes" in orchard.description


def test_only_numbers_give_a_float_array(monkeypatch: pytest.MonkeyPatch) -> None:
    features = (RECORDED / "features.json").read_text()
    before, bark, after = features.partition('"name": "bark"')
    without_bark = before + bark + after.replace('"is_ignore": "false"', '"is_ignore": "true"', 1)
    answer_with(monkeypatch, {"features.json": without_bark.encode()})
    orchard = fetch(990001, cache=False)
    assert orchard.feature_names == ["height", "girth"]
    assert orchard.data.dtype == np.float64
    assert orchard.text_features == []


def test_a_sparse_set_stays_sparse(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    description = (RECORDED / "description.json").read_text().replace('"ARFF"', '"Sparse_ARFF"')
    digest = hashlib.md5(SPARSE_ARFF).hexdigest()
    description = re.sub(r'("md5_checksum": )"\w+"', rf'\1"{digest}"', description)
    answer_with(monkeypatch, {"description.json": description.encode(), "data.arff": SPARSE_ARFF})
    orchard = fetch(990001, cache=False)
    assert sparse.issparse(orchard.data)
    monkeypatch.setenv("MUSTLINK_DATA", str(tmp_path))
    with pytest.raises(ValueError, match="'tiny-orchard' is sparse; the data folder holds tables only"):
        fetch(990001, cache=False, save_as="orchard")
    assert orchard.data.toarray().tolist() == [[3.5, 0.0, 0.0], [0.0, 0.0, 0.5]]
    assert [str(orchard.target_names[code]) for code in orchard.target] == ["apple", "pear"]


def test_a_saved_set_is_loaded_as_it_was_fetched(
    asked: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MUSTLINK_DATA", str(tmp_path / "data"))
    fetched = fetch(990001, cache=False, save_as="orchard")
    loaded = load("orchard")
    assert names()["orchard"]
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["orchard.csv.gz"]
    assert loaded.feature_names == fetched.feature_names
    assert loaded.text_features == fetched.text_features
    assert loaded.target.tolist() == fetched.target.tolist()
    assert loaded.target_names.tolist() == fetched.target_names.tolist()
    pd.testing.assert_frame_equal(pd.DataFrame(loaded.data), pd.DataFrame(fetched.data))


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("orchard", DataNotFoundError, "cannot be saved as 'orchard': the variable MUSTLINK_DATA is not set"),
        ("../orchard", ValueError, "save_as is '../orchard'; expected a name of letters"),
        ("", ValueError, "save_as is ''"),
    ],
)
def test_what_cannot_be_saved_is_not_downloaded(
    asked: list[str], monkeypatch: pytest.MonkeyPatch, name: str, error: type[Exception], message: str
) -> None:
    monkeypatch.delenv("MUSTLINK_DATA", raising=False)
    with pytest.raises(error, match=message):
        fetch(990001, cache=False, save_as=name)
    assert asked == []


@pytest.mark.parametrize(
    "error",
    [
        URLError("Name or service not known"),
        TimeoutError(),
        ConnectionResetError("Connection reset by peer"),
    ],
)
def test_no_network(broken_network: Callable[[Exception], None], error: Exception) -> None:
    broken_network(error)
    with pytest.raises(DataNotFoundError, match=r"could not be downloaded from OpenML: .*Check the network") as raised:
        fetch("iris", cache=False)
    assert raised.value.__cause__ is error


def test_a_set_that_openml_does_not_have(asked: list[str]) -> None:
    with pytest.raises(DataNotFoundError, match=r"OpenML was reached, but the data set 'no-such-set'.*not? "):
        fetch("no-such-set", version=3, cache=False)


def test_a_target_that_the_set_does_not_have(asked: list[str]) -> None:
    with pytest.raises(DataNotFoundError, match="blossom"):
        fetch(990001, target_column="blossom", cache=False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name_or_id": 0}, "numbered from 1; got 0"),
        ({"name_or_id": 61, "version": 2}, "already denotes one version"),
        ({"name_or_id": "  "}, "expected the name or the number"),
        ({"name_or_id": 1.5}, "expected the name or the number"),
        ({"name_or_id": True}, "expected the name or the number"),
        ({"name_or_id": "iris", "version": 0}, "expected 'active' or a whole number from 1"),
        ({"name_or_id": "iris", "version": "latest"}, "expected 'active' or a whole number from 1"),
    ],
)
def test_bad_arguments_never_reach_the_network(asked: list[str], arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fetch(**arguments)
    assert asked == []


def test_a_genuine_answer_that_scikit_learn_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        folder = resources.files("sklearn.datasets.tests.data.openml.id_61")
    except ModuleNotFoundError:
        pytest.skip("this build of scikit-learn ships without its recorded answers of OpenML")
    stored = {"features": "jdf-61.json", "qualities": "jdq-61.json", "download": "dl-61.arff", "data": "jd-61.json"}

    def answer(request: Request) -> Answer:
        suffix = next(suffix for part, suffix in stored.items() if f"/{part}/" in request.full_url)
        file = next(file for file in folder.iterdir() if file.name.endswith(f"{suffix}.gz"))
        return Answer(gzip.decompress(file.read_bytes()))

    monkeypatch.setattr("sklearn.datasets._openml.urlopen", answer)
    iris = fetch(61, cache=False)
    expected = load_iris()
    assert iris.data.shape == (150, 4)
    assert iris.target.tolist() == expected.target.tolist()
    assert np.flatnonzero((iris.data != expected.data).any(axis=1)).tolist() == [34, 37]
