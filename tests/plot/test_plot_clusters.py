from __future__ import annotations

from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import LineCollection
from scipy.sparse import csr_array

from mustlink import Constraints, PCKMeans, _drawn, plot
from mustlink.boosting import BoostCluster, CoAssociation


@pytest.fixture
def blobs():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    return rng.normal(size=(60, 4)) + 3 * y[:, None], y


def words_of(ax):
    legend = ax.get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


def lines_of(ax):
    return {lines.get_label(): lines for lines in ax.collections if isinstance(lines, LineCollection)}


def test_rows_are_drawn_by_principal_components(blobs):
    X, y = blobs
    ax = plot.clusters(X, y)
    assert ax.get_title() == "principal components"
    assert words_of(ax) == ["cluster 0", "cluster 1", "cluster 2"]
    assert sum(len(points.get_offsets()) for points in ax.collections) == 60
    sparse = plot.clusters(csr_array(X), y)
    assert sparse.get_title() == ax.get_title()


def test_links_are_solid_or_dashed_and_broken_ones_thicker(blobs):
    X, y = blobs
    links = Constraints(must_link=[(0, 1), (2, 3), (0, 30)], cannot_link=[(0, 50), (40, 41)])
    ax = plot.clusters(X, y, links=links.on(60))
    lines = lines_of(ax)
    assert {name: len(found.get_segments()) for name, found in lines.items()} == {
        "must-link": 2,
        "broken must-link": 1,
        "cannot-link": 1,
        "broken cannot-link": 1,
    }
    for kind in ("must-link", "cannot-link"):
        assert lines[f"broken {kind}"].get_linewidths()[0] > lines[kind].get_linewidths()[0]
        assert lines[f"broken {kind}"].get_zorder() > lines[kind].get_zorder()
    # Dashes have a pattern, a solid line has none.
    assert lines["must-link"].get_linestyles()[0][1] is None
    assert lines["cannot-link"].get_linestyles()[0][1] is not None
    where = np.vstack([points.get_offsets() for points in ax.collections if len(points.get_offsets()) == 20])
    ends = lines["broken must-link"].get_segments()[0]
    for end in ends:
        assert np.abs(where - end).sum(axis=1).min() < 1e-12
    assert "broken cannot-link" in words_of(ax)


def test_a_model_gives_its_view_and_its_labels(blobs):
    X, y = blobs
    links = Constraints.sample(y, n_pairs=40, random_state=0)
    model = BoostCluster(n_clusters=3, n_rounds=6, random_state=0).fit(X, constraints=links)
    ax = plot.clusters(X, links=links, model=model)
    assert ax.get_title() == "the view that BoostCluster learned"
    assert "of the variance" in ax.get_xlabel()
    other = plot.clusters(X, np.zeros(60, dtype=int), model=model)
    assert words_of(other) == ["cluster 0"]


def test_a_plain_model_has_no_view_of_its_own(blobs):
    X, y = blobs
    model = SimpleNamespace(labels_=y, coassociation_=CoAssociation(y[:, None]), is_plain_=True)
    assert plot.clusters(X, model=model).get_title() == "principal components"


def test_many_rows_and_links_are_sampled_with_a_note(monkeypatch):
    monkeypatch.setattr(_drawn, "MAX_POINTS", 100)
    monkeypatch.setattr(_drawn, "MAX_LINKS", 10)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 3)), rng.integers(3, size=500)
    links = Constraints.sample(y, n_pairs=30, random_state=0)
    ax = plot.clusters(X, y, links=links, random_state=np.random.RandomState(1))
    assert "100 of 500 rows drawn" in ax.get_xlabel()
    assert "10 of 30 links drawn" in ax.get_xlabel()
    same = [plot.clusters(X, y, links=links).collections[-1].get_offsets() for _ in range(2)]
    assert np.array_equal(*same)


def test_many_clusters_are_named_at_their_places(blobs):
    X, _ = blobs
    labels = np.arange(60) % 12
    ax = plot.clusters(X, labels, links=Constraints(must_link=[(0, 12)]))
    assert {text.get_text() for text in ax.texts} == {str(name) for name in range(12)}
    assert words_of(ax) == ["must-link"]
    assert not plot.clusters(X, np.arange(60)).texts


def test_noise_is_named_and_axes_are_used(blobs):
    X, y = blobs
    _, ax = plt.subplots()
    assert plot.clusters(X, np.where(y == 2, -1, y), ax=ax) is ax
    assert "noise" in words_of(ax)


def test_equal_points_are_spread_and_others_stay():
    points = np.array([[0.0, 0.0]] * 50 + [[10.0, 3.0]])
    moved = _drawn.spread_equal_points(points)
    assert len(np.unique(moved, axis=0)) == 51
    assert np.array_equal(moved[50], points[50])
    assert np.linalg.norm(moved[:50], axis=1).max() <= 0.06 * 10 + 1e-12
    apart = np.array([[0.0, 0.0], [1.0, 1.0]])
    assert np.array_equal(_drawn.spread_equal_points(apart), apart)


def test_a_model_without_a_view_of_its_own_is_drawn_by_principal_components(blobs):
    X, y = blobs
    links = Constraints.sample(y, 20, random_state=0)
    model = PCKMeans(3, random_state=0).fit(X, constraints=links)
    drawn, plain = plot.clusters(X, model=model, links=links), plot.clusters(X, model.labels_, links=links)
    assert drawn.get_title() == plain.get_title() == "principal components"
    for one, other in zip(drawn.collections, plain.collections, strict=True):
        np.testing.assert_array_equal(one.get_offsets(), other.get_offsets())


def test_bad_input(blobs):
    X, y = blobs
    with pytest.raises(ValueError, match="give labels or model"):
        plot.clusters(X)
    with pytest.raises(ValueError, match="X has 60 rows, the labels have the shape"):
        plot.clusters(X, y[:50])
    with pytest.raises(
        TypeError, match=r"this PCKMeans has no labels_; fit it first\. RobustBoostCluster, .* have a view"
    ):
        plot.clusters(X, y, model=PCKMeans(3))
    with pytest.raises(TypeError, match=r"got list; create one with Constraints"):
        plot.clusters(X, y, links=[(0, 1)])
    model = SimpleNamespace(labels_=y, coassociation_=CoAssociation(np.arange(100).reshape(50, 2)))
    with pytest.raises(ValueError, match="X has 60 rows, but the model was fitted on 50"):
        plot.clusters(X, y, model=model)
    with pytest.raises(ValueError, match="60"):
        plot.clusters(X, y, links=Constraints(must_link=[(0, 60)]))


def test_some_links_of_a_large_group_are_drawn():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(4_000, 2)), rng.integers(3, size=4_000)
    ax = plot.clusters(X, labels, links=Constraints.from_groups([1] * 4_000))
    assert "1,500 of 7,998,000 links drawn" in ax.get_xlabel()
    assert list(lines_of(ax)) == ["broken cannot-link"]
