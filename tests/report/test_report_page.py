"""The report: well formed, self-contained, and safe with any names."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from mustlink import Constraints, PCKMeans, _drawn
from mustlink.boosting import Suspect
from mustlink.report import make_picture, render_report, summarize, write_report
from mustlink.report._svg import N_COLORS, swatch
from mustlink.tables import Feature

VOID = {"meta", "br"}


class Outline(HTMLParser):
    """Collects tags, attributes and text, and fails where tags do not nest."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open_tags = []
        self.tags = []
        self.attributes = []
        self.text = []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes.extend(attrs)
        if tag not in VOID:
            self.open_tags.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes.extend(attrs)

    def handle_endtag(self, tag):
        assert self.open_tags.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def outline_of(page):
    outline = Outline()
    outline.feed(page)
    outline.close()
    assert outline.open_tags == []
    return outline


def page_of(X, labels, links=None, *, row_names=None, title="Clusters", run=None, **options):
    links = Constraints() if links is None else links
    labels = np.asarray(labels)
    summary = summarize(X, labels, links, row_names=row_names, **options)
    return render_report(summary, make_picture(X, labels, links, row_names), title=title, run=run)


def picture_in(page):
    found = re.search(r'<svg class="scatter".*?</svg>', page, re.DOTALL)
    return ElementTree.fromstring(found.group())


@pytest.fixture
def blobs():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], 20)
    X = rng.normal(size=(60, 4)) + 6 * labels[:, np.newaxis]
    links = Constraints(must_link=[(0, 1), (0, 30), (20, 21)], cannot_link=[(0, 50), (40, 41)])
    return X, labels, links


def test_everything_is_there(blobs):
    X, labels, links = blobs
    page = page_of(
        X,
        labels,
        links,
        features=["age", "height", "weight", "income"],
        row_names=[f"person {i}" for i in range(60)],
        known_labels=["young"] * 3 + [""] * 57,
        title="People",
        run={"Command": "mustlink cluster people.csv -k 3"},
        notices=["Column 'x' was left out."],
    )
    text = " ".join(" ".join(outline_of(page).text).split())
    for expected in (
        "People",
        "3 of 5 links kept, 2 broken",
        "Broken links",
        "person 30",
        "young (3)",
        "Column 'x' was left out.",
        "mustlink cluster people.csv -k 3",
        "age",
    ):
        assert expected in text


def test_numbers_are_written_as_people_write_them():
    raw = np.array([[31_512.3, 0.0012], [31_480.0, 0.0011], [61_218.0, 0.0052], [61_190.0, 0.0051]])
    page = page_of(raw, np.array([0, 0, 1, 1]), features=["income", "rate"])
    text = " ".join(" ".join(outline_of(page).text).split())
    assert "income low: 31,500 (46,400 overall, -1.0 sd)" in text
    assert "income high: 61,200 (46,400 overall, +1.0 sd)" in text
    assert "rate low: 0.00115 (0.00315 overall, -1.0 sd)" in text
    assert "e+0" not in text


def test_a_feature_spells_its_values_itself():
    class Day(Feature):
        def spell(self, values):
            return [f"day {value:.0f}" for value in values]

    page = page_of(np.array([[1.0], [1.0], [5.0], [5.0]]), np.array([0, 0, 1, 1]), features=[Day("since")])
    assert "<b>since</b> high: day 5 <span>(day 3 overall" in page


def test_dates_are_early_or_late():
    days = np.array([[19_783.0], [19_784.0], [20_100.0], [20_101.0]])
    page = page_of(days, np.array([0, 0, 1, 1]), features=[Feature("since", unit="date")])
    assert "<b>since</b> early: 2024-03-02 <span>(2024-08-07 overall" in page
    assert "<b>since</b> late: " in page


def test_words_of_the_command_stay_whole(blobs):
    command = "mustlink cluster 'my people.csv' -k 3 --label-column kind"
    page = page_of(*blobs, run={"Command": command})
    assert "<span>--label-column</span> kind</dd>" in page
    assert ".run dd span { display: inline-block; max-width: 100%; }" in page


def test_suspects_have_a_probability_only_if_one_was_estimated(blobs):
    X, labels, links = blobs
    named = SimpleNamespace(suspects_=[Suspect(0, 30, "must", 0.25, 3.0), Suspect(40, 41, "cannot", 0.4, 2.0)])
    page = page_of(X, labels, links, estimator=named)
    text = " ".join(" ".join(outline_of(page).text).split())
    assert (
        "These 2 links may be wrong; please check them. Link Row Row Probability that it is right must 0 30 25%" in text
    )
    named.suspects_ = [Suspect(0, 30, "must", None, 3.0)]
    text = " ".join(" ".join(outline_of(page_of(X, labels, links, estimator=named)).text).split())
    assert "This link was hard to keep and may be wrong; please check it. Link Row Row must 0 30" in text
    assert "robability" not in text


def test_nothing_comes_from_outside_and_nothing_runs(blobs):
    X, labels, links = blobs
    page = page_of(X, labels, links)
    outline = outline_of(page)
    assert not {"script", "link", "img", "iframe", "object", "embed", "base", "form"} & set(outline.tags)
    for name, value in outline.attributes:
        assert name not in {"src", "srcset", "action", "style"}
        assert not name.startswith("on")
        if name == "href":
            assert value.startswith("#")
    assert "url(" not in page
    assert "@import" not in page
    assert "http" not in page.replace("http-equiv", "")
    assert "default-src 'none'" in page


HOSTILE = '</title></svg><script>alert("1")</script><img src=x onerror=alert(1)>&amp;'


def test_markup_in_names_is_escaped(blobs):
    X, labels, links = blobs
    links = links + Constraints(must_link=[(2, 3), (3, 4)], cannot_link=[(2, 4)])
    plain = page_of(X, labels, links, known_labels=["a"] * 60, notices=["a"], run={"a": "a"})
    hostile = page_of(
        X,
        labels,
        links,
        features=[HOSTILE + str(i) for i in range(4)],
        row_names=[HOSTILE] * 60,
        known_labels=[HOSTILE] * 60,
        notices=[HOSTILE],
        title=HOSTILE,
        run={HOSTILE: HOSTILE},
    )
    assert outline_of(hostile).tags == outline_of(plain).tags
    assert "<script" not in hostile
    assert ElementTree.tostring(picture_in(hostile))


def test_points_and_links_are_drawn_as_they_are(blobs):
    X, labels, links = blobs
    picture = picture_in(page_of(X, labels, links))
    marks = list(picture.iter("use"))
    assert len(marks) == 60
    assert sorted({mark.get("href") for mark in marks}) == ["#p0", "#p1", "#p2"]
    classes = sorted(path.get("class") for path in picture.iter("path") if (path.get("class") or "").startswith("link"))
    assert classes == ["link cannot", "link cannot broken", "link must", "link must", "link must broken"]
    width, height = map(float, picture.get("viewBox").split()[2:])
    for mark in marks:
        assert 0 < float(mark.get("x")) < width
        assert 0 < float(mark.get("y")) < height


def test_links_end_at_their_rows(blobs):
    X, labels, links = blobs
    picture = make_picture(X, labels, links)
    drawn = {tuple(sorted(picture.names[end] for end in link)) for link in picture.links}
    pairs = np.concatenate([links.must_link, links.cannot_link])
    assert drawn == {tuple(sorted(map(str, pair))) for pair in pairs.tolist()}
    np.testing.assert_array_equal(picture.is_kept, links.satisfied(labels))


def test_projection_is_that_of_an_eigendecomposition(blobs):
    X, labels, _ = blobs
    picture = make_picture(X, labels, Constraints())
    centered = X - X.mean(axis=0)
    values, vectors = np.linalg.eigh(centered.T @ centered)
    by_hand = centered @ vectors[:, ::-1][:, :2]
    for axis in range(2):
        assert abs(np.corrcoef(picture.points[:, axis], by_hand[:, axis])[0, 1]) == pytest.approx(1.0)
    np.testing.assert_allclose(picture.explained, values[::-1][:2] / values.sum())


def test_sparse_rows_give_the_same_picture(blobs):
    X, labels, links = blobs
    dense, thin = make_picture(X, labels, links), make_picture(sparse.csr_matrix(X), labels, links)
    np.testing.assert_allclose(np.abs(dense.points), np.abs(thin.points), atol=1e-6)


def test_large_tables_are_sampled_with_all_linked_rows(monkeypatch):
    monkeypatch.setattr(_drawn, "MAX_POINTS", 100)
    rng = np.random.default_rng(0)
    labels = np.r_[np.zeros(1990, dtype=int), np.arange(1, 11)]
    X = rng.normal(size=(2000, 3))
    links = Constraints(must_link=[(i, i + 1) for i in range(500, 540, 2)])
    picture = make_picture(X, labels, links)
    assert len(picture.points) == 100
    assert {str(row) for row in links.constrained_rows()} <= set(picture.names)
    assert set(picture.labels.tolist()) == set(range(11))
    assert "100 of 2,000 rows are drawn" in picture.caption
    np.testing.assert_array_equal(picture.points, make_picture(X, labels, links).points)


def test_many_links_are_sampled_broken_ones_first(monkeypatch):
    monkeypatch.setattr(_drawn, "MAX_LINKS", 10)
    labels = np.zeros(100, dtype=int)
    links = Constraints(must_link=[(i, i + 1) for i in range(0, 80, 2)], cannot_link=[(90, 91), (92, 93), (94, 95)])
    picture = make_picture(np.random.default_rng(0).normal(size=(100, 2)), labels, links)
    assert len(picture.links) == 10
    assert (~picture.is_kept).sum() == 3
    assert "10 of 43 links are drawn, the broken ones first" in picture.caption


@pytest.mark.parametrize(
    "X",
    [
        np.arange(5.0)[:, np.newaxis],
        np.ones((5, 3)),
        np.outer(np.arange(5.0), [1.0, 2.0]),
        sparse.csr_matrix(np.outer(np.arange(5.0), [1.0, 2.0])),
        sparse.csr_matrix((5, 9)),
        np.array([[0.0, 0.0], [1.0, 5.0]]),
    ],
    ids=["one column", "equal rows", "one direction", "sparse, one direction", "sparse, equal rows", "two rows"],
)
def test_degenerate_tables_are_drawn(X):
    labels = np.arange(X.shape[0]) % 2
    page = page_of(X, labels, Constraints(cannot_link=[(0, 1)]))
    picture = picture_in(page)
    assert len(list(picture.iter("use"))) == X.shape[0]
    assert "nan" not in ElementTree.tostring(picture, encoding="unicode")


def test_35_clusters_have_35_marks():
    marks = {swatch(label) for label in range(35)}
    assert len(marks) == 35


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_marks_and_text_stand_out(scheme):
    """Contrast by the formula of WCAG 2: 4.5 for text; for marks 2, since they have an outline and a shape too."""
    page = page_of(np.eye(3), [0, 1, 2])
    light, dark = re.findall(r":root \{(.*?)\}", page, re.DOTALL)[:2]
    colors = dict(re.findall(r"--(\w+): (#\w{6})\b", light))
    if scheme == "dark":
        colors |= dict(re.findall(r"--(\w+): (#\w{6})\b", dark))

    def luminance(color):
        channels = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
        linear = np.where(channels <= 0.03928, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
        return linear @ [0.2126, 0.7152, 0.0722]

    def contrast(a, b):
        low, high = sorted([luminance(colors[a]), luminance(colors[b])])
        return (high + 0.05) / (low + 0.05)

    for text in ("ink", "soft"):
        assert contrast(text, "paper") > 4.5
        assert contrast(text, "panel") > 4.5
    for color in range(N_COLORS):
        assert contrast(f"c{color}", "panel") > 2


def test_write_report_takes_a_frame_and_its_names(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": [1.0, 2, 30, 31], "height": [5.0, 6, 5, 6]})
    write_report(tmp_path / "report.html", frame, [0, 0, 1, 1], Constraints(must_link=[(0, 1)]).on(4))
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<b>age</b> low" in text
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_write_report_leaves_nothing_behind_when_it_fails(tmp_path):
    with pytest.raises(ValueError, match="One label per row"):
        write_report(tmp_path / "report.html", np.eye(3), [0, 1])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"path": None}, "path must be the name of the file to write, such as 'report.html'; got None"),
        ({"X": "table.csv"}, "X must be the table that was clustered, .* got 'table.csv'"),
        ({"X": None}, "X must be the table that was clustered"),
        ({"labels": [0, 1]}, "One label per row is expected"),
        ({"constraints": [(0, 1)]}, r"constraints must be a mustlink\.Constraints, got list"),
        ({"features": 3}, "features must be a list with the name of every column, or its Feature; got 3"),
        ({"features": "ab"}, "features must be a list with the name of every column, or its Feature; got 'ab'"),
        ({"features": [1, 2]}, "features must be a list with the name of every column, or its Feature; got 1"),
        ({"features": ["a"]}, "The table has 2 columns, but 1 features are named"),
        ({"row_names": 4}, "row_names must be a list with one entry per row; got 4"),
        ({"row_names": ["ann"]}, "row_names must have one entry per row: the table has 4 rows, and row_names has 1"),
        ({"known_labels": "abcd"}, "known_labels must be a list with one entry per row"),
        ({"notices": "a note"}, "notices must be a list of sentences; got 'a note'"),
        ({"estimator": PCKMeans}, r"estimator must be the fitted clusterer, such as PCKMeans\(3\).fit\(X\)"),
        ({"estimator": "pck"}, "estimator must be the fitted clusterer"),
        ({"estimator": PCKMeans(2)}, "This PCKMeans instance is not fitted yet"),
        ({"choice": "pck"}, "choice must be what mustlink.selection.choose returned; got 'pck'"),
        ({"title": 3}, "title must be text; got 3"),
        ({"run": "today"}, "run must map words to words"),
        ({"run": {"Rows": 4}}, "run must map words to words"),
        ({"cluster_names": ["low"]}, "cluster_names must be a list with a name for each of the clusters 0 to 1"),
    ],
)
def test_wrong_types_are_refused_in_a_sentence(tmp_path, changed, message):
    given = {"path": tmp_path / "r.html", "X": [[0.0, 1.0], [0.2, 1.1], [5.0, 1.0], [5.2, 1.1]], "labels": [0, 0, 1, 1]}
    with pytest.raises((TypeError, ValueError), match=message) as caught:
        write_report(**{**given, **changed})
    assert str(caught.value).endswith(".")
    assert not list(tmp_path.iterdir())


def test_names_of_rows_may_be_numbers(tmp_path):
    index = pd.Series([1001, 1002, 1003, 1004], index=list("abcd"))
    links = Constraints(must_link=[(0, 3)])
    X = [[0.0], [0.2], [5.0], [5.2]]
    summary = write_report(tmp_path / "r.html", X, [0, 0, 1, 1], links, row_names=index)
    assert summary.broken[0].names == ("1001", "1004")
