from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import LineCollection, PathCollection
from scipy.sparse import csr_array
from sklearn.datasets import load_iris

from mustlink import Constraints, plot
from mustlink.boosting import BoostCluster

X, y = load_iris(return_X_y=True)
LINKS = Constraints.sample(y, n_pairs=30, random_state=0)


@pytest.fixture(scope="module")
def model():
    settings = {"n_rounds": 6, "scale": False, "random_state": 0}
    return BoostCluster(n_clusters=3, **settings).fit(X, constraints=LINKS)


def collections(ax, kind):
    return {entry.get_label(): entry for entry in ax.collections if isinstance(entry, kind)}


def test_the_first_two_rounds_and_the_last_beside_the_table(model):
    axes = plot.projections(model, X, LINKS)
    counted = [t for t, entry in enumerate(model.history_, start=1) if entry["counted"]]
    assert [ax.get_title() for ax in axes] == [
        "the table",
        *(f"round {t}" for t in dict.fromkeys([*counted[:2], counted[-1]])),
    ]


def test_links_are_solid_or_dashed_lines(model):
    ax = plot.projections(model, X, links=LINKS, rounds=(1,))[1]
    lines = collections(ax, LineCollection)
    assert len(lines["must-link"].get_segments()) == len(LINKS.must_link)
    assert len(lines["cannot-link"].get_segments()) == len(LINKS.cannot_link)
    assert lines["must-link"].get_linestyle()[0][1] is None
    assert lines["cannot-link"].get_linestyle()[0][1] is not None
    drawn = np.concatenate([points.get_offsets() for points in collections(ax, PathCollection).values()])
    order = np.argsort(model.labels_, kind="stable")
    place = np.empty(len(X), dtype=int)
    place[order] = np.arange(len(X))
    assert np.allclose(lines["must-link"].get_segments()[0], drawn[place[LINKS.must_link[0]]])


def test_points_are_those_the_estimator_was_given():
    seen = []

    def remembers(table):
        seen.append(np.array(table))
        return np.arange(len(table)) % 3 if len(seen) % 2 else y

    model = BoostCluster(remembers, n_clusters=3, n_rounds=3, scale=False, random_state=0)
    model.fit(X, constraints=LINKS)
    counted = [t for t, entry in enumerate(model.history_, start=1) if entry["counted"]]
    axes = plot.projections(model, X, rounds=counted, labels=np.zeros(len(X)))
    for ax, t in zip(axes[1:], counted, strict=True):
        (points,) = collections(ax, PathCollection).values()
        assert np.allclose(points.get_offsets(), seen[t - 1][:, :2])


def test_every_group_has_a_color_and_a_marker(model):
    ax = plot.projections(model, X, rounds=(1,), labels=y)[1]
    groups = collections(ax, PathCollection)
    assert list(groups) == ["0", "1", "2"]
    assert [len(group.get_offsets()) for group in groups.values()] == [50, 50, 50]
    assert len({tuple(group.get_facecolor()[0]) for group in groups.values()}) == 3
    assert len({group.get_paths()[0].vertices.tobytes() for group in groups.values()}) == 3
    assert not collections(ax, LineCollection)


def test_noise_has_a_name(model):
    ax = plot.projections(model, X, rounds=(1,), labels=np.where(y == 2, -1, y))[1]
    assert list(collections(ax, PathCollection)) == ["noise", "0", "1"]


def test_axes_that_are_given_are_used(model):
    _, axes = plt.subplots(1, 2)
    assert plot.projections(model, X, rounds=(1,), axes=axes) is axes
    assert len(plt.get_fignums()) == 1


def test_aligned_links_a_list_and_one_feature_will_do():
    narrow = X[:, 2:3].tolist()
    model = BoostCluster(n_clusters=3, n_rounds=2, random_state=0).fit(narrow, constraints=LINKS)
    axes = plot.projections(model, narrow, LINKS.on(len(X)), rounds=(1,))
    for ax in axes:
        assert all(set(points.get_offsets()[:, 1]) == {0.0} for points in collections(ax, PathCollection).values())


def test_a_sparse_table_will_do():
    table = csr_array(np.where(X > 1, X, 0.0))
    model = BoostCluster(n_clusters=3, n_rounds=2, random_state=0).fit(table, constraints=LINKS)
    axes = plot.projections(model, table, LINKS, rounds=(1,))
    assert sum(len(points.get_offsets()) for points in collections(axes[1], PathCollection).values()) == len(X)


@pytest.mark.parametrize(("number", "reason"), [(0, "does not exist"), (7, "does not exist")])
def test_rounds_that_are_not_there_are_named(model, number, reason):
    with pytest.raises(ValueError, match=f"Round {number} {reason}; the rounds that were used are 1, "):
        plot.projections(model, X, rounds=(number,))


def test_models_without_rounds_are_named():
    with pytest.raises(ValueError, match="that of the estimator alone"):
        plot.projections(BoostCluster(n_clusters=3, random_state=0).fit(X), X)
    with pytest.raises(TypeError, match="needs a fitted RobustBoostCluster or BoostCluster, and"):
        plot.projections(X, X)


def test_links_must_fit_the_table(model):
    with pytest.raises(ValueError, match="the table has 150 rows"):
        plot.projections(model, X, Constraints(must_link=[(0, 150)]))


def test_rows_without_labels_are_refused(model):
    with pytest.raises(ValueError, match="X has 5 rows, but the model was fitted on 150"):
        plot.projections(model, X[:5])
    with pytest.raises(ValueError, match="X has 150 rows, but labels has 5"):
        plot.projections(model, X, labels=y[:5])
    axes = plot.projections(model, X[:5], labels=y[:5], rounds=[1])
    assert len(collections(axes[1], PathCollection)["0"].get_offsets()) == 5
