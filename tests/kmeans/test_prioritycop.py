"""Constrained k-means by priorities against plain loops, every rule by hand, and bad input."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import euclidean_distances

from mustlink import Constraints
from mustlink.blocks import FileRows
from mustlink.errors import ConstraintError
from mustlink.kmeans import PriorityCOPKMeans, PriorityLinks
from reference.prioritycop import priority_cop
from reference.random_links import cases

# Small examples often leave a cluster empty.
pytestmark = pytest.mark.filterwarnings("ignore:.*clusters:sklearn.exceptions.ConvergenceWarning")

# A line with a center at each end; what a test calls "left" is cluster 0.
ENDS = np.array([[0.0], [10.0]])
# Three centers: the second nearest is not simply the other one.
THREE = np.array([[0.0], [4.0], [20.0]])


def place(x, centers, must_link=(), cannot_link=(), **weights):
    """Make one assignment and return the labels."""
    links = Constraints(list(must_link) or None, list(cannot_link) or None, **weights)
    model = PriorityCOPKMeans(len(centers), init=centers, max_iter=1)
    return model.fit(np.reshape(x, (-1, 1)), constraints=links).labels_.tolist()


# ---- the rules, one by one ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        ([1.0, 7.0], [0, 0]),  # the first end is closer to its center and takes the second along
        ([3.0, 9.0], [1, 1]),  # the second is
        ([2.0, 8.0], [1, 1]),  # both are equally close: the second
        ([1.0, 2.0], [0, 0]),  # they agree
    ],
)
def test_must_link_of_two_free_rows(x, expected):
    assert place(x, ENDS, must_link=[(0, 1)]) == expected


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        ([1.0, 8.0], [0, 1]),  # different nearest centers
        ([0.5, 1.0], [0, 1]),  # the same: the first is closer and keeps it, the other takes its second nearest
        ([1.0, 0.5], [1, 0]),  # the second is closer
        ([1.0, 1.0], [1, 0]),  # equally close: the second keeps it
    ],
)
def test_cannot_link_of_two_free_rows(x, expected):
    assert place(x, ENDS, cannot_link=[(0, 1)]) == expected


def test_the_second_nearest_of_three_centers():
    assert place([19.0, 21.5, 0.0], THREE, cannot_link=[(0, 1)]) == [2, 1, 0]
    assert place([3.0, 3.5, 0.0], THREE, cannot_link=[(0, 1)]) == [0, 1, 0]


@pytest.mark.parametrize(
    ("x", "rows", "expected"),
    [
        # The heavy must-link (0, 1) places both at 0; row 2 is then linked with row 0 or follows.
        ([0.0, 1.0, 9.0], (0, 2), [0, 0, 0]),
        # Row 2 stands before the assigned row 3: the second end is the one that is placed already.
        ([9.0, 0.0, 8.0, 0.5], (2, 3), [1, 0, 0, 0]),
    ],
)
def test_must_link_with_one_end_placed(x, rows, expected):
    first = (0, 1) if rows == (0, 2) else (1, 3)
    assert place(x, ENDS, must_link=[first, rows], must_link_weight=[2, 1]) == expected


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        ([0.0, 1.0, 19.0], [0, 0, 2]),  # its nearest is another one anyway
        ([0.0, 1.0, 1.5], [0, 0, 1]),  # its nearest is taken: the next
    ],
)
def test_cannot_link_with_the_first_end_placed(x, expected):
    assert place(x, THREE, must_link=[(0, 1)], cannot_link=[(0, 2)], must_link_weight=2) == expected


@pytest.mark.parametrize(("x", "expected"), [([1.0, 0.0, 0.5], [1, 0, 0]), ([9.0, 0.0, 0.5], [1, 0, 0])])
def test_cannot_link_with_the_second_end_placed(x, expected):
    assert place(x, ENDS, must_link=[(1, 2)], cannot_link=[(0, 2)], must_link_weight=2) == expected


def test_both_ends_placed_stay_and_the_link_is_broken():
    X = np.array([[0.0], [1.0], [9.0], [10.0]])
    links = Constraints([(0, 1), (2, 3), (1, 2)], must_link_weight=[3, 1, 2])
    # By weight: (0, 1) to the left, then (1, 2) takes row 2 to the left, then (2, 3) follows there.
    assert PriorityCOPKMeans(2, init=ENDS, max_iter=1).fit(X, constraints=links).labels_.tolist() == [0, 0, 0, 0]
    links = Constraints([(0, 1), (2, 3), (1, 2)], must_link_weight=[3, 2, 1])
    model = PriorityCOPKMeans(2, init=ENDS, max_iter=1).fit(X, constraints=links)
    assert model.labels_.tolist() == [0, 0, 1, 1]
    assert model.violations_.must_link.tolist() == [[1, 2]]


def test_rows_in_no_pair_go_to_the_nearest_center_and_the_first_of_equally_near_ones():
    assert place([4.9, 5.1, 5.0], ENDS) == [0, 1, 0]


def test_equal_weights_are_taken_must_links_first_then_by_rows():
    X = np.array([[2.0], [1.0], [10.0]])
    pairs = PriorityLinks.of(Constraints(must_link=[(1, 2)], cannot_link=[(0, 1)]), 3)
    assert pairs.is_must.tolist() == [True, False]
    assert pairs.cluster(X, np.array([1.0, 1.0]), ENDS, 1)[0].tolist() == [0, 1, 1]
    assert pairs.cluster(X, np.array([1.0, 2.0]), ENDS, 1)[0].tolist() == [1, 0, 0]


def test_an_empty_cluster_keeps_its_center():
    X = np.array([[0.0], [1.0], [2.0]])
    with pytest.warns(ConvergenceWarning, match="2 clusters were asked for, and 1 w"):
        model = PriorityCOPKMeans(2, init=[[0.0], [100.0]]).fit(X)
    assert model.labels_.tolist() == [0, 0, 0]
    assert model.cluster_centers_.ravel().tolist() == [1.0, 100.0]


def test_a_cycle_is_detected():
    # The two centers change places forever: 5.5 and 4, then 4 and 5.5.
    X = np.array([[5.0], [0.0], [3.0], [11.0]])
    links = Constraints(must_link=[(0, 2)], cannot_link=[(0, 3)])
    model = PriorityCOPKMeans(2, init=X[:2], max_iter=1000).fit(X, constraints=links)
    assert model.n_iter_ == 3
    assert model.cluster_centers_.ravel().tolist() == [5.5, 4.0]
    again = PriorityCOPKMeans(2, init=model.cluster_centers_, max_iter=1000).fit(X, constraints=links)
    assert again.n_iter_ == 2


# ---- against the plain version --------------------------------------------------------------------------------------


@st.composite
def tables(draw):
    """Draw a small table with many equal distances, links with weights on it, starting centers, and a limit."""
    case = draw(cases(max_samples=14))
    n_features = draw(st.integers(1, 3))
    kind = draw(st.sampled_from([np.float64, np.float32]))
    on_grid = draw(st.booleans())
    rng = np.random.RandomState(draw(st.integers(0, 2**31 - 1)))
    X = (
        rng.randint(0, 6, (case.n_samples, n_features))
        if on_grid
        else rng.standard_normal((case.n_samples, n_features))
    )
    X = X.astype(kind)
    n_clusters = draw(st.integers(1, min(4, case.n_samples)))
    n_links = len(case.must_link) + len(case.cannot_link)
    priority = rng.randint(1, 4, n_links).astype(float)
    centers = X[rng.permutation(len(X))[:n_clusters]]
    return case, X, priority, centers, draw(st.sampled_from([1, 2, 30]))


@settings(deadline=None, max_examples=150)
@given(tables())
def test_compiled_equals_plain_bit_for_bit(drawn):
    case, X, priority, centers, max_iter = drawn
    links = Constraints(case.must_link or None, case.cannot_link or None)
    pairs = PriorityLinks.of(links, len(X))
    labels, found, n_iter = pairs.cluster(X, priority, centers.copy(), max_iter)
    rows = np.concatenate([links.must_link, links.cannot_link]).tolist()
    expected = priority_cop(X, rows, pairs.is_must.tolist(), priority, centers, max_iter)
    np.testing.assert_array_equal(labels, expected[0])
    assert found.tobytes() == expected[1].tobytes()
    assert n_iter == expected[2]


def test_compiled_equals_plain_on_more_rows_than_a_tile():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((300, 3))
    links = Constraints.sample(rng.randint(0, 3, 300), n_pairs=120, random_state=0)
    pairs = PriorityLinks.of(links, len(X))
    labels, found, n_iter = pairs.cluster(X, pairs.weight, X[:3].copy(), 8)
    rows = np.concatenate([links.must_link, links.cannot_link]).tolist()
    expected = priority_cop(X, rows, pairs.is_must.tolist(), pairs.weight, X[:3], 8)
    np.testing.assert_array_equal(labels, expected[0])
    assert found.tobytes() == expected[1].tobytes()
    assert n_iter == expected[2]


@settings(deadline=None, max_examples=100)
@given(tables(), st.data())
def test_the_heaviest_link_always_holds(drawn, data):
    case, X, _, centers, max_iter = drawn
    n_must, n_links = len(case.must_link), len(case.must_link) + len(case.cannot_link)
    if n_links == 0 or len(centers) < 2:
        return
    weight = np.ones(n_links)
    heaviest = data.draw(st.integers(0, n_links - 1))
    weight[heaviest] = 2
    links = Constraints(
        case.must_link or None,
        case.cannot_link or None,
        must_link_weight=weight[:n_must] if n_must else None,
        cannot_link_weight=weight[n_must:] if n_links > n_must else None,
    )
    model = PriorityCOPKMeans(len(centers), init=centers, max_iter=max_iter).fit(X, constraints=links)
    broken = np.concatenate([model.violations_.must_link_weight, model.violations_.cannot_link_weight])
    assert 2 not in broken


def test_without_links_it_is_lloyd():
    X, _ = make_blobs(200, n_features=3, centers=5, cluster_std=3.0, random_state=0)
    start = X[:5]
    model = PriorityCOPKMeans(5, init=start, max_iter=100).fit(X)
    lloyd = KMeans(5, init=start, n_init=1, max_iter=100, tol=0).fit(X)
    np.testing.assert_array_equal(model.labels_, lloyd.labels_)
    np.testing.assert_allclose(model.cluster_centers_, lloyd.cluster_centers_)
    assert model.inertia_ == pytest.approx(lloyd.inertia_)


# ---- the estimator --------------------------------------------------------------------------------------------------


def test_predict_and_transform():
    X, y = load_iris(return_X_y=True)
    links = Constraints.sample(y[:100], n_pairs=60, random_state=0)
    model = PriorityCOPKMeans(3, random_state=0).fit(X, constraints=links)
    free = np.setdiff1d(np.arange(150), links.constrained_rows())
    np.testing.assert_array_equal(model.predict(X)[free], model.labels_[free])
    expected = euclidean_distances(X, model.cluster_centers_)
    np.testing.assert_allclose(model.transform(X), expected)
    np.testing.assert_array_equal(model.predict(X), expected.argmin(axis=1))
    own = np.take_along_axis(expected, model.labels_[:, None], axis=1)
    assert model.inertia_ == pytest.approx(np.square(own).sum())


@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_same_seed_same_result(init):
    X, y = load_iris(return_X_y=True)
    links = Constraints.sample(y, n_pairs=100, random_state=0)
    one, two, other = (
        PriorityCOPKMeans(3, init=init, max_iter=1, random_state=seed).fit(X, constraints=links) for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(one.labels_, two.labels_)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(one)).predict(X), one.predict(X))
    assert not np.array_equal(one.cluster_centers_, other.cluster_centers_)


def test_random_rows_are_different_rows():
    X = np.arange(6.0)[:, None]
    for seed in range(20):
        rows = PriorityLinks.draw_centers(X, 6, np.random.RandomState(seed)).ravel()
        assert sorted(rows) == [0, 1, 2, 3, 4, 5]


def test_weights_decide_which_of_two_contradictory_sides_gives_way():
    X = np.array([[0.0], [1.0], [9.0], [10.0]])
    chain = {"must_link": [(0, 1), (1, 2)], "cannot_link": [(0, 2)]}
    kept = Constraints(**chain, must_link_weight=[1, 3], cannot_link_weight=[2])
    model = PriorityCOPKMeans(2, random_state=0).fit(X, constraints=kept)
    assert model.violations_.must_link.tolist() == [[0, 1]]
    kept = Constraints(**chain, must_link_weight=[3, 1], cannot_link_weight=[2])
    model = PriorityCOPKMeans(2, random_state=0).fit(X, constraints=kept)
    assert model.violations_.must_link.tolist() == [[1, 2]]


@pytest.mark.parametrize(
    ("X", "n_clusters", "links"),
    [
        (np.zeros((6, 2)), 3, Constraints([(0, 1)], [(2, 3)])),
        (np.eye(3, 40), 2, Constraints([(0, 1)], [(1, 2)])),
        (np.array([[0.0], [1.0]]), 2, Constraints([(0, 1)])),
        (np.array([[0.0], [1.0]]), 1, Constraints(cannot_link=[(0, 1)])),
        (np.array([[1.0]]), 1, None),
    ],
    ids=["constant", "d > n", "two rows", "one cluster", "one row"],
)
def test_odd_tables_give_a_result(X, n_clusters, links):
    model = PriorityCOPKMeans(n_clusters, random_state=0).fit(X, constraints=links)
    assert model.labels_.shape == (len(X),)
    assert set(model.labels_) <= set(range(n_clusters))
    assert np.isfinite(model.cluster_centers_).all()


@settings(deadline=None, max_examples=60)
@given(cases(max_samples=9), st.integers(1, 4))
def test_contradictory_links_never_raise(case, n_clusters):
    X = np.random.RandomState(len(case.must_link)).standard_normal((case.n_samples, 2))
    links = Constraints(case.must_link or None, case.cannot_link or None)
    model = PriorityCOPKMeans(min(n_clusters, len(X)), random_state=0).fit(X, constraints=links)
    assert model.violations_ == links.violations(model.labels_)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"n_clusters": 5}, ValueError, "n_samples=4 should be >= n_clusters=5"),
        ({"n_clusters": 0}, ValueError, "n_clusters"),
        ({"n_clusters": 2, "init": [[0.0, 1.0]]}, ValueError, r"shape \(1, 2\).*need centers of the shape \(2, 1\)"),
        ({"n_clusters": 2, "init": "center"}, ValueError, "init"),
        ({"n_clusters": 2, "init": [[0.0], [np.nan]]}, ValueError, "NaN"),
        ({"n_clusters": 2, "max_iter": 0}, ValueError, "max_iter"),
    ],
)
def test_bad_parameters_are_refused(parameters, error, message):
    with pytest.raises(error, match=message):
        PriorityCOPKMeans(**parameters).fit(np.arange(4.0)[:, None])


def test_links_out_of_range_are_refused():
    with pytest.raises(ConstraintError, match="names the rows 0 and 9"):
        PriorityCOPKMeans(2).fit(np.arange(4.0)[:, None], constraints=Constraints([(0, 9)]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("init", ["k-means++", "random"])
@pytest.mark.parametrize("has_links", [True, False])
def test_rows_in_blocks_have_the_labels_of_rows_in_memory(dtype: type, init: str, has_links: bool) -> None:
    rng = np.random.RandomState(0)
    y = rng.randint(3, size=900)
    X = (2 * rng.normal(size=(3, 4))[y] + rng.normal(size=(900, 4))).astype(dtype)
    links = Constraints.sample(y, n_pairs=60, random_state=0) if has_links else None
    expected = PriorityCOPKMeans(3, init=init, random_state=0).fit(X, constraints=links)
    found = PriorityCOPKMeans(3, init=init, random_state=0).fit(FileRows(X, block_rows=130), constraints=links)
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    assert found.n_iter_ == expected.n_iter_
    assert found.violations_ == expected.violations_
    assert found.inertia_ == pytest.approx(expected.inertia_)
    np.testing.assert_array_equal(found.predict(FileRows(X, block_rows=11)), expected.predict(X))
