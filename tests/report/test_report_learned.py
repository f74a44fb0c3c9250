"""What the report shows of a fitted model: the view it learned, what the columns count, and its rounds."""

from __future__ import annotations

import re
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest

from mustlink import Constraints
from mustlink.boosting import BoostCluster, CoAssociation
from mustlink.report import ColumnWeights, make_picture, summarize, write_report
from mustlink.report._curve import curve, round_ticks, value_ticks


@pytest.fixture
def blobs():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    return rng.normal(size=(60, 4)) + 2 * y[:, None], y


def page_of(tmp_path, X, labels, links=None, **options):
    path = tmp_path / "page.html"
    summary = write_report(path, X, labels, links, **options)
    return summary, path.read_text(encoding="utf-8")


def test_the_learned_view_is_beside_the_table_as_it_is(blobs, tmp_path):
    X, y = blobs
    links = Constraints.sample(y, n_pairs=40, random_state=0)
    model = BoostCluster(n_clusters=3, n_rounds=5, random_state=0).fit(X, constraints=links)
    _, page = page_of(tmp_path, X, model.labels_, links, estimator=model)
    learned, plain = (ElementTree.fromstring(svg) for svg in re.findall(r'<svg class="scatter".*?</svg>', page, re.S))
    assert page.index("The view that was learned") < page.index("The table as it is")
    for picture in (learned, plain):
        assert len(list(picture.iter("use"))) == 60
    names = [path.get("id") for picture in (learned, plain) for path in picture.iter("path") if path.get("id")]
    assert len(names) == len(set(names)) == 6


def test_the_learned_view_is_the_principal_components_of_the_rounds(blobs):
    X, y = blobs
    rounds = CoAssociation(np.random.default_rng(0).integers(5, size=(60, 8)), np.arange(1.0, 9.0))
    model = SimpleNamespace(coassociation_=rounds)
    picture = make_picture(X, y, Constraints(), model=model)
    centered = np.eye(60) - 1 / 60
    values = np.linalg.eigvalsh(centered @ rounds.toarray() @ centered)[::-1]
    np.testing.assert_allclose(picture.explained, values[:2] / values.sum())
    expected, _ = rounds.principal_components(2)
    # Rows at about the same place are moved a little.
    span = np.ptp(expected, axis=0).max()
    assert np.abs(picture.points - expected).max() <= 0.06 * span + 1e-12
    assert "Close are rows that the rounds put together" in picture.caption


@pytest.mark.parametrize(
    "model",
    [
        None,
        SimpleNamespace(),
        SimpleNamespace(coassociation_=CoAssociation(np.zeros((60, 3), dtype=int))),
        SimpleNamespace(coassociation_=CoAssociation(np.zeros((0, 3), dtype=int))),
        SimpleNamespace(coassociation_=CoAssociation(np.arange(120).reshape(60, 2) % 5), is_plain_=True),
        SimpleNamespace(coassociation_=CoAssociation((np.arange(60) % 3)[:, None])),
    ],
    ids=["no model", "no rounds", "all equal", "without rows", "plain", "one round"],
)
def test_without_a_learned_view_there_is_one_picture(model, blobs, tmp_path):
    X, y = blobs
    _, page = page_of(tmp_path, X, y, estimator=model)
    assert page.count('<svg class="scatter"') == 1
    assert "The view that was learned" not in page


def test_two_groups_have_a_learned_view_of_one_direction(blobs):
    X, y = blobs
    model = SimpleNamespace(coassociation_=CoAssociation(np.column_stack([y > 0, y > 0]).astype(int)))
    picture = make_picture(X, y, Constraints(), model=model)
    assert picture.explained == pytest.approx((1.0,))
    assert np.isfinite(picture.points).all()
    assert "the direction in which" in picture.caption


def test_columns_that_count_most_are_listed(blobs, tmp_path):
    X, y = blobs
    X = np.hstack([X, X, X, X])
    weights = np.concatenate([np.arange(12.0), np.zeros(4)])
    features = [f"<col {place}>" for place in range(16)]
    summary, page = page_of(tmp_path, X, y, features=features, estimator=SimpleNamespace(column_weights_=weights))
    assert str(summary.columns) == "Columns that count most: <col 11>, <col 10>, <col 9>; 5 of 16 count nothing."
    assert [name for name, _ in summary.columns.heaviest] == [f"<col {place}>" for place in range(11, 1, -1)]
    assert summary.columns.heaviest[0][1] == 1.0
    assert summary.columns.n_less == 1
    section = page[page.index("What your links say matters") :]
    assert "&lt;col 11&gt;" in section
    assert "1 more column counts less. 5 of 16 count nothing." in section
    assert "Columns that count most" in summary._repr_html_()


@pytest.mark.parametrize(
    "weights",
    [None, np.ones(4), np.zeros(4), np.ones(3), [1.0, np.nan, 0.0, 0.0]],
    ids=["none", "equal", "zero", "other number", "not a number"],
)
def test_column_weights_that_say_nothing_are_not_shown(weights, blobs, tmp_path):
    X, y = blobs
    model = SimpleNamespace() if weights is None else SimpleNamespace(column_weights_=weights)
    summary, page = page_of(tmp_path, X, y, estimator=model)
    assert summary.columns is None
    assert "What your links say matters" not in page


def test_sentences_about_columns():
    assert str(ColumnWeights((("a", 1.0),), 2, 1)) == "Columns that count most: a; 1 of 2 counts nothing."
    assert ColumnWeights((("a", 1.0), ("b", 0.5)), 2, 0).nothing == "all 2 columns count something"
    assert summarize([[0.0], [1.0]], [0, 1]).columns is None


# ---- the rounds --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0, 10, [0, 5, 10]),
        (3, 17, [0, 5, 10, 15, 20]),
        (-1, 1, [-1, -0.5, 0, 0.5, 1]),
        (0.71, 0.74, [0.71, 0.72, 0.73, 0.74]),
        (5, 5, [5]),
    ],
)
def test_ticks_are_round_numbers_around_the_values(low, high, ticks):
    assert value_ticks(low, high) == pytest.approx(ticks)


def test_logarithmic_ticks_are_powers_of_ten():
    assert value_ticks(0.02, 700.0, is_logarithmic=True) == pytest.approx([0.01, 1, 100, 10_000], rel=1e-9)


@pytest.mark.parametrize(
    ("n_rounds", "ticks"), [(2, [1, 2]), (5, [1, 2, 3, 4, 5]), (7, [1, 4, 6]), (20, [1, 5, 10, 15, 20])]
)
def test_round_ticks(n_rounds, ticks):
    assert round_ticks(n_rounds) == ticks


@pytest.mark.parametrize(
    "values", [[686.4, 474.0, 396.2], [5.0, 5.0], [1e6, 10.0, 0.5], [-3.0, -7.5, -9.0], [1e-9, 2e-9]]
)
def test_the_curve_has_axes_with_numbers(values):
    drawn = ElementTree.fromstring(curve(values))
    words = [text.text for text in drawn.iter("text")]
    assert "round" in words
    assert "objective" in words
    assert "1" in words
    assert len(words) >= 4
    assert len(list(drawn.iter("circle"))) == len(values)
    _, _, width, height = map(float, drawn.get("viewBox").split())
    for circle in drawn.iter("circle"):
        assert 0 < float(circle.get("cx")) < width
        assert 0 < float(circle.get("cy")) < height
    # The heights of the points agree with the numbers beside the lines.
    ticks = {text.text: float(text.get("y")) for text in drawn.iter("text") if text.get("class") == "value"}
    if values[0] == 686.4:
        assert list(ticks) == ["300", "400", "500", "600", "700"]
        at = np.interp(474.0, [float(t) for t in ticks], list(ticks.values()))
        assert float(list(drawn.iter("circle"))[1].get("cy")) == pytest.approx(at, abs=0.1)
