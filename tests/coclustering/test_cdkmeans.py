"""CDK-Means: equal to the slow version, constraints that hold, and what cannot be clustered."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import rand_score
from sklearn.utils.validation import check_is_fitted

from coclustering.problems import TABLE, as_sets, matrices
from mustlink import CDKMeans, Constraints
from mustlink.coclustering import Bisets, binarize, formal_concepts, mixed_links
from mustlink.coclustering._contiguous import contiguous_labels
from mustlink.coclustering._placement import Placement
from mustlink.errors import (
    BinaryMatrixError,
    ConstraintError,
    InfeasibleError,
    InfeasibleWarning,
    OptionError,
    TooLargeError,
    UnmetConstraintsWarning,
)
from mustlink.metrics import coclustering_information, goodman_kruskal_tau, jump_number
from mustlink.reproduce.papers._ch06_data import cyclic, cyclic_times
from reference import coclustering as reference

# Small random matrices have co-clusters without rows or columns; that is said, and is not what is tested.
pytestmark = pytest.mark.filterwarnings("ignore:.*co-cluster:sklearn.exceptions.ConvergenceWarning")


def dense(bisets: Bisets) -> list[tuple[Any, Any]]:
    return list(zip(bisets.rows.toarray().astype(float), bisets.columns.toarray().astype(float), strict=True))


def some_links(draw: Any, n_elements: int, max_size: int = 3) -> list[tuple[int, int]]:
    pair = st.tuples(st.integers(0, n_elements - 1), st.integers(0, n_elements - 1))
    return draw(st.lists(pair.filter(lambda ends: ends[0] < ends[1]), max_size=max_size, unique=True))


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(0, 1000))
def test_a_start_is_that_of_the_slow_version(data: st.DataObject, seed: int) -> None:
    X = data.draw(matrices())
    bisets = formal_concepts(X)
    n_clusters = min(data.draw(st.integers(1, 3)), bisets.n_bisets)
    cannot = some_links(data.draw, sum(X.shape))
    kept = [at for at, biset in enumerate(as_sets(bisets)) if reference.links_kept(biset, len(X), [], cannot)]
    if len(kept) < n_clusters:
        return
    bisets = bisets.take(np.array(kept))
    placement = Placement(bisets, np.array(cannot, dtype=np.int64).reshape(-1, 2), n_clusters)
    found = placement.run("random", 20, shuffle=True, relax=False, seed=seed)
    rng = np.random.RandomState(seed)
    first = rng.choice(bisets.n_bisets, n_clusters, replace=False)
    order = rng.permutation(bisets.n_bisets) if cannot else np.arange(bisets.n_bisets)
    expected = reference.cdk_means(dense(bisets), first.tolist(), order.tolist(), cannot, 20)
    if expected is None:
        assert found is None
        return
    assert found is not None
    np.testing.assert_allclose(found.cost, expected[1], atol=1e-9)
    for label, rows in enumerate(found.row_weights.T):
        members = [rows_of for (rows_of, _), own in zip(dense(bisets), found.labels, strict=True) if own == label]
        np.testing.assert_allclose(rows, np.mean(members, axis=0))


@settings(max_examples=40, deadline=None)
@given(matrices(), st.integers(0, 5))
def test_distances_are_mean_dice_distances(X: Any, chosen: int) -> None:
    """Check 4: to a bi-set itself, d is the mean of two Dice distances, 0 if and only if both are equal."""
    bisets = formal_concepts(X)
    chosen %= bisets.n_bisets
    found = Placement(bisets, np.empty((0, 2), dtype=np.int64), 1).distances_to(chosen)
    sets = as_sets(bisets)
    for at, biset in enumerate(sets):
        dice = [
            1 - 2 * len(own & other) / (len(own) + len(other)) for own, other in zip(biset, sets[chosen], strict=True)
        ]
        assert found[at] == pytest.approx(np.mean(dice))
        assert (found[at] < 1e-12) == (at == chosen)
        assert 0 <= found[at] <= 1


def test_the_table_of_the_chapter() -> None:
    """Check 2: the co-clustering of the chapter is the most frequent one, with the values of its measures."""
    found = [CDKMeans(2, n_init=1, random_state=seed).fit(TABLE) for seed in range(200)]
    rows, columns = [0, 1, 0, 0, 1, 1, 1], [0, 1, 0, 0, 1]
    both = np.array([*rows, *columns])
    same = [np.concatenate([model.row_labels_, model.column_labels_]) for model in found]
    assert 0.5 < np.mean([(labels == both).all() or (labels == 1 - both).all() for labels in same]) < 0.95
    best = CDKMeans(2, n_init=20, random_state=0).fit(TABLE)
    assert {tuple(best.row_labels_), tuple(1 - best.row_labels_)} >= {tuple(rows)}
    assert goodman_kruskal_tau(TABLE, rows, columns) == pytest.approx(7 / 9)
    assert coclustering_information(TABLE, rows, columns) == pytest.approx(0.49693, abs=1e-5)
    assert coclustering_information(TABLE, rows, columns, base=2) == pytest.approx(0.71692, abs=1e-5)
    each = [np.arange(size) for size in TABLE.shape]
    assert coclustering_information(TABLE, *each) == pytest.approx(0.72416, abs=1e-5)


def test_the_two_solutions_of_the_cyclic_matrix() -> None:
    """The surrogate of experiment E1: its concepts, and the Rand index of its two solutions."""
    assert formal_concepts(cyclic()[0]).n_bisets == 80
    assert rand_score(cyclic_times("a"), cyclic_times("b")) == pytest.approx(0.677, abs=1e-3)


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(0, 100))
def test_links_hold_or_are_infeasible(data: st.DataObject, seed: int) -> None:
    """Check 6."""
    X = data.draw(matrices())
    n_rows, n_elements = len(X), sum(X.shape)
    must = some_links(data.draw, n_elements, 2)
    cannot = [pair for pair in some_links(data.draw, n_elements, 2) if pair not in must]
    links = Constraints(must_link=must, cannot_link=cannot)
    model = CDKMeans(2, n_init=3, random_state=seed)
    with warnings.catch_warnings():
        # A must-link that removes all bi-sets of its ends is reported as broken.
        warnings.simplefilter("ignore", UnmetConstraintsWarning)
        try:
            model.fit(X, mixed_constraints=links)
        except InfeasibleError:
            return
    labels = np.concatenate([model.row_labels_, model.column_labels_])
    for a, b in must:
        assert labels[a] == labels[b]
    for a, b in cannot:
        assert labels[a] != labels[b]
    covered = np.concatenate(model.bisets_.covered())
    assert ((labels >= 0) == covered).all()
    assert len(model.row_labels_) == n_rows


def test_without_links_as_with_empty_ones() -> None:
    """Check 8."""
    X = np.random.default_rng(0).random((30, 12)) < 0.6
    plain = CDKMeans(3, random_state=0).fit(X)
    given_none = CDKMeans(3, random_state=0, row_min_gap=0).fit(
        X, row_constraints=Constraints(), column_constraints=Constraints(), mixed_constraints=Constraints()
    )
    np.testing.assert_array_equal(plain.row_labels_, given_none.row_labels_)
    np.testing.assert_array_equal(plain.biset_labels_, given_none.biset_labels_)
    assert plain.objective_ == given_none.objective_


def test_containers_agree_and_sparse_input_is_not_changed() -> None:
    X = (np.random.default_rng(1).random((25, 10)) < 0.4).astype(int)
    given = sparse.csc_matrix(X)
    given.data[:] = 1
    stored = given.copy()
    expected = CDKMeans(2, random_state=0).fit(X)
    for other in (X.astype(bool), X.astype(float), given, sparse.coo_array(X), X.tolist()):
        found = CDKMeans(2, random_state=0).fit(other)
        np.testing.assert_array_equal(found.row_labels_, expected.row_labels_)
    assert (given != stored).nnz == 0


def test_the_interface_of_biclusters() -> None:
    model = CDKMeans(2, random_state=0).fit(TABLE)
    assert model.rows_.shape == (2, 7)
    assert model.columns_.shape == (2, 5)
    assert model.biclusters_[0] is model.rows_
    rows, columns = model.get_indices(0)
    np.testing.assert_array_equal(rows, np.flatnonzero(model.row_labels_ == 0))
    np.testing.assert_array_equal(columns, np.flatnonzero(model.column_labels_ == 0))
    assert model.get_submatrix(0, TABLE).shape == model.get_shape(0)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.row_labels_, model.row_labels_)
    assert clone(model).get_params() == model.get_params()


def test_overlapping_members() -> None:
    model = CDKMeans(2, overlap=0.2, random_state=0).fit(TABLE)
    np.testing.assert_array_equal(model.rows_, model.tau_ > 0.2)
    assert model.columns_.sum() > len(model.column_labels_)


def test_bisets_of_the_user() -> None:
    concepts = formal_concepts(TABLE)
    given = CDKMeans(2, bisets=concepts, random_state=0).fit(TABLE)
    mined = CDKMeans(2, random_state=0).fit(TABLE)
    np.testing.assert_array_equal(given.row_labels_, mined.row_labels_)
    as_arrays = (concepts.rows.toarray(), concepts.columns.toarray())
    np.testing.assert_array_equal(
        CDKMeans(2, bisets=as_arrays, random_state=0).fit(TABLE).row_labels_, mined.row_labels_
    )
    large = CDKMeans(2, bisets=concepts, min_rows=3, random_state=0).fit(TABLE)
    assert large.bisets_.n_bisets == 4
    # The same bi-set twice is one to start from.
    twice = concepts.take(np.array([0, 0, 1]))
    model = CDKMeans(2, bisets=twice, n_init=5, random_state=0).fit(TABLE)
    assert len(set(model.biset_labels_.tolist())) == 2


def test_starts_far_apart() -> None:
    X = np.kron(np.eye(4, dtype=int), np.ones((5, 4), dtype=int))
    X[::7, ::3] = 1
    found = CDKMeans(4, init="k-means++", random_state=0).fit(X)
    assert len(set(found.row_labels_.tolist())) == 4


def test_gaps_make_intervals() -> None:
    """Rows 0 to 9 and 20 to 29 share columns, and only max-gap keeps them apart."""
    X = np.zeros((30, 9), dtype=int)
    X[:10, :3] = X[20:, :3] = X[10:20, 3:6] = 1
    X[:10, 6] = X[10:20, 7] = X[20:, 8] = 1
    plain = CDKMeans(2, random_state=0).fit(X)
    assert jump_number(plain.row_labels_) == 1
    model = CDKMeans(3, row_max_gap=2, random_state=0).fit(X)
    assert jump_number(model.row_labels_) == 0
    assert [check.kind for check in model.constraint_report_] == ["interval"]
    assert model.constraint_report_[0].holds
    # By scores in another order: what was apart is together, and the other way around.
    scores = np.r_[np.arange(10), np.arange(20, 30), np.arange(10, 20)]
    moved = CDKMeans(2, row_max_gap=0, random_state=0).fit(X, row_order=scores)
    assert jump_number(moved.row_labels_, order=scores) == 0
    circle = CDKMeans(2, row_max_gap=0, circular_rows=True, random_state=0).fit(X)
    np.testing.assert_array_equal(
        circle.row_labels_ == circle.row_labels_[0], plain.row_labels_ == plain.row_labels_[0]
    )


def test_min_gaps_make_holes() -> None:
    X = np.zeros((12, 4), dtype=int)
    X[::2, :2] = X[1::2, 2:] = 1
    X[0, 2] = 1
    model = CDKMeans(2, row_min_gap=1, random_state=0).fit(X)
    (check,) = model.constraint_report_
    assert check.kind == "non_interval"
    assert check.holds
    assert jump_number(model.row_labels_) == 10


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 6), st.integers(1, 3), st.booleans(), st.integers(0, 10_000))
def test_contiguous_labels_are_the_best(n: int, k: int, circular: bool, seed: int) -> None:
    weights = np.random.default_rng(seed).random((n, k)).round(2)
    labels = contiguous_labels(weights, np.arange(n), circular=circular)
    for cluster in range(k):
        assert reference.is_interval((labels == cluster).tolist(), circular)
    assert weights[np.arange(n), labels].sum() == pytest.approx(reference.best_contiguous(weights, circular))


def test_contiguous_labels_share_positions_and_have_no_holes() -> None:
    weights = np.array([[1.0, 0.0], [0.0, 0.9], [1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    assert contiguous_labels(weights, np.array([0, 0, 1, 2, 3]), circular=False).tolist() == [0, 0, 0, 1, 1]
    X = (np.random.default_rng(3).random((30, 10)) < 0.4).astype(int)
    X[X.sum(axis=1) == 0, 0] = 1
    model = CDKMeans(3, contiguous="both", random_state=0).fit(X)
    assert jump_number(model.row_labels_) == jump_number(model.column_labels_) == 0
    assert all(check.holds for check in model.constraint_report_)


def test_broken_links_of_contiguous_labels_are_reported() -> None:
    X = np.kron(np.eye(3, dtype=int), np.ones((4, 3), dtype=int))
    X = X[[0, 4, 1, 5, 2, 6, 3, 7, 8, 9, 10, 11]]
    links = Constraints(must_link=[(0, 6)], cannot_link=[(0, 1)])
    with pytest.warns(UnmetConstraintsWarning, match="broken, because of contiguous labels"):
        model = CDKMeans(3, contiguous="rows", random_state=0).fit(X, row_constraints=links)
    assert len(model.row_violations_) == 1
    assert model.column_violations_.is_empty


def test_uncovered_rows_have_no_label() -> None:
    X = np.kron(np.eye(2, dtype=int), np.ones((4, 3), dtype=int))
    X = np.vstack([X, np.eye(1, 6, 2, dtype=int), np.eye(1, 6, 3, dtype=int)])
    X[8, 3] = X[9, 2] = 0
    model = CDKMeans(2, min_columns=2, random_state=0).fit(X)
    assert model.row_labels_[8:].tolist() == [-1, -1]
    assert not model.rows_[:, 8:].any()
    with pytest.raises(InfeasibleError, match="Row 8 and row 9 have a cannot-link, and no bi-set"):
        CDKMeans(2, min_columns=2).fit(X, row_constraints=Constraints(cannot_link=[(8, 9)]))
    with pytest.warns(UnmetConstraintsWarning, match="1 must-link does not hold, of 1 link, as no bi-set"):
        CDKMeans(2, min_columns=2).fit(X, row_constraints=Constraints(must_link=[(8, 9)]))


def test_links_that_cannot_be_kept() -> None:
    X = np.ones((4, 3), dtype=int) - np.eye(4, 3, dtype=int)
    with pytest.raises(
        InfeasibleError, match=r"Row 0 and column 1 have a cannot-link, but .*: row 0 - row 1 - column 1"
    ):
        CDKMeans(2).fit(
            X,
            row_constraints=Constraints(must_link=[(0, 1)]),
            mixed_constraints=mixed_links(4, must_link=[(1, 1)], cannot_link=[(0, 1)]),
        )
    triangle = Constraints(cannot_link=[(0, 1), (1, 2), (0, 2)])
    with pytest.raises(InfeasibleError, match=r"cannot be satisfied with 2 co-clusters.*use n_clusters=3 or more"):
        CDKMeans(2).fit(X, row_constraints=triangle)
    # Columns 0 and 2 are equal, so that every bi-set has both or none.
    always = np.array([[1, 0, 1, 0], [0, 1, 0, 0], [0, 1, 0, 1], [0, 0, 0, 1]])
    with pytest.raises(InfeasibleError, match="no bi-set that satisfies all constraints has either"):
        CDKMeans(2).fit(always, column_constraints=Constraints(cannot_link=[(0, 2)]))


def test_starts_that_fail_and_relaxed_ones() -> None:
    """A chain of cannot-links in two clusters: greedy placement runs into a dead end in most orders."""
    X = np.eye(6, dtype=int)
    links = Constraints(cannot_link=[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)])
    model = CDKMeans(2, n_init=40, random_state=0).fit(X, row_constraints=links)
    assert 0 < model.n_failed_ < 40
    assert links.satisfied(model.row_labels_).all()
    failing = next(
        seed
        for seed in range(50)
        if Placement(formal_concepts(X), links.cannot_link, 2).run(
            "random", 10, shuffle=True, relax=False, seed=np.random.RandomState(seed).randint(np.iinfo(np.int32).max)
        )
        is None
    )
    with pytest.raises(InfeasibleError, match="None of 1 start placed all bi-sets"):
        CDKMeans(2, n_init=1, random_state=failing).fit(X, row_constraints=links)
    with pytest.warns(InfeasibleWarning, match="broken"):
        relaxed = CDKMeans(2, n_init=1, random_state=failing, on_infeasible="relax").fit(X, row_constraints=links)
    assert 0 < len(relaxed.row_violations_) < 5


def test_too_many_concepts_are_refused() -> None:
    X = 1 - np.eye(20, dtype=int)
    with pytest.raises(TooLargeError, match=r"20 rows and 20 columns has more than 1,000 formal.*min_rows") as caught:
        CDKMeans(2, max_bisets=1000).fit(X)
    assert caught.value.fields["n_found"] == 1001
    # Constraints that keep none do not let it run forever.
    with pytest.raises(TooLargeError, match=r"2,001 formal concepts .* were looked at, and only"):
        CDKMeans(2, max_bisets=100, row_max_gap=0, min_rows=3).fit(X)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[0, 1], [2, 1]], "Row 1, column 0 of X is 2, and co-clustering takes"),
        ([[0, 1], [np.nan, 1]], "Row 1, column 0 of X is nan"),
        ([[1, 1], [0, 0]], "Row 1 of X is empty: it has no 1; leave out such rows"),
        ([[1, 0], [1, 0]], "Column 1 of X is empty: it has no 1; leave out such columns"),
        ([["a", "b"], ["b", "a"]], "Row 0, column 0 of X is a"),
        (sparse.csr_array(np.array([[0.0, 1.0], [0.5, 1.0]])), "Row 1, column 0 of X is 0.5"),
    ],
)
def test_a_matrix_that_is_not_binary(X: Any, message: str) -> None:
    with pytest.raises(BinaryMatrixError, match=message):
        CDKMeans(1).fit(X)


def test_what_cannot_be_given() -> None:
    with pytest.raises(
        InfeasibleError, match="7 co-clusters need as many different bi-sets, and 6 have at least 1 row"
    ):
        CDKMeans(7).fit(TABLE)
    with pytest.raises(TypeError, match=r"row_constraints must be a mustlink.Constraints, got list"):
        CDKMeans(2).fit(TABLE, row_constraints=[(0, 1)])
    with pytest.raises(TypeError, match="pass them as row_constraints"):
        CDKMeans(2).fit(TABLE, Constraints())
    with pytest.raises(ConstraintError, match="column_constraints names number 5, and X has 5 columns"):
        CDKMeans(2).fit(TABLE, column_constraints=Constraints(must_link=[(0, 5)]))
    with pytest.raises(ConstraintError, match="mixed_constraints names number 12, and X has 12 rows and columns"):
        CDKMeans(2).fit(TABLE, mixed_constraints=Constraints(must_link=[(0, 12)]))
    with pytest.raises(ConstraintError, match="row_constraints is aligned with 6 numbers"):
        CDKMeans(2).fit(TABLE, row_constraints=Constraints().on(6))
    with pytest.raises(OptionError, match="row_order must have one score"):
        CDKMeans(2).fit(TABLE, row_order=[1, 2])
    with pytest.raises(OptionError, match="finite numbers"):
        CDKMeans(2).fit(TABLE, column_order=[1, 2, np.nan, 3, 4])
    with pytest.raises(OptionError, match="The columns of bisets are a matrix of 4 columns, and X has 5"):
        CDKMeans(2, bisets=(np.ones((2, 7)), np.ones((2, 4)))).fit(TABLE)
    with pytest.raises(OptionError, match="the rows of 3 bi-sets and the columns of 2"):
        CDKMeans(2, bisets=(np.ones((3, 7)), np.ones((2, 5)))).fit(TABLE)
    with pytest.raises(OptionError, match="zeros and ones"):
        CDKMeans(2, bisets=(2 * np.ones((2, 7)), np.ones((2, 5)))).fit(TABLE)
    with pytest.raises(ConstraintError, match="names a row from 0 to 6 first"):
        mixed_links(7, must_link=[(7, 0)])
    with pytest.raises(NotFittedError):
        check_is_fitted(CDKMeans())


def test_an_empty_co_cluster_is_said() -> None:
    X = np.array([[1, 1, 1], [1, 1, 0], [1, 0, 0]])
    with pytest.warns(ConvergenceWarning, match="no rows or no columns"):
        CDKMeans(3, random_state=0).fit(X)


def test_numbers_become_zeros_and_ones() -> None:
    X = [[1.0, -2.0], [3.0, -1.0], [4.0, -4.0]]
    assert binarize(X, 25).tolist() == [[0, 0], [1, 0], [1, 0]]
    assert binarize(X, 75, axis=1).tolist() == [[1, 0], [1, 0], [1, 0]]
    for options in ({"percent": 101}, {"method": "half"}, {"axis": 2}):
        with pytest.raises(ValueError, match="must be"):
            binarize(X, **options)


def test_links_and_orders_are_requested_and_sliced_with_the_rows() -> None:
    requests = CDKMeans().get_metadata_routing().fit.requests
    assert {name for name, alias in requests.items() if alias is True} == {
        "row_constraints",
        "column_constraints",
        "mixed_constraints",
        "row_order",
        "column_order",
    }
    links = Constraints(must_link=[(0, 2)], cannot_link=[(2, 6)]).on(7)
    model = CDKMeans(2, random_state=0).fit(TABLE[:6], row_constraints=links[np.arange(6)])
    assert [check.n_given for check in model.constraint_report_] == [1]


def test_contradictory_links_that_are_relaxed() -> None:
    """The cannot-link is broken, and the must-links hold."""
    links = Constraints(must_link=[(0, 2), (2, 3)], cannot_link=[(0, 3)])
    with pytest.warns(InfeasibleWarning, match="1 link of 3 is broken"):
        model = CDKMeans(2, on_infeasible="relax", random_state=0).fit(TABLE, row_constraints=links)
    assert len(set(model.row_labels_[[0, 2, 3]])) == 1
    assert (model.row_labels_ >= 0).all()


def test_must_link_that_no_bi_set_keeps_is_relaxed() -> None:
    """Rows 0 and 1 have no column in common, so that no bi-set has both."""
    links = Constraints(must_link=[(0, 1), (0, 2)], cannot_link=[(0, 5), (1, 2)])
    with pytest.raises(InfeasibleError):
        CDKMeans(2, random_state=0).fit(TABLE, row_constraints=links)
    with pytest.warns(InfeasibleWarning, match="1 link of 4 is broken"):
        model = CDKMeans(2, on_infeasible="relax", random_state=0).fit(TABLE, row_constraints=links)
    assert model.row_violations_.must_link.tolist() == [[0, 1]]
    assert (model.row_labels_ >= 0).all()


@settings(max_examples=40, deadline=None)
@given(st.data(), st.integers(0, 100))
def test_relaxed_links_never_leave_their_elements_out(data: st.DataObject, seed: int) -> None:
    X = data.draw(matrices())
    if formal_concepts(X).n_bisets < 2:
        return
    must, cannot = (some_links(data.draw, sum(X.shape), 3) for _ in range(2))
    links = Constraints(must_link=must, cannot_link=[pair for pair in cannot if pair not in must])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = CDKMeans(2, n_init=2, random_state=seed, on_infeasible="relax").fit(X, mixed_constraints=links)
    labels = np.concatenate([model.row_labels_, model.column_labels_])
    broken = sum(map(len, (model.row_violations_, model.column_violations_, model.mixed_violations_)))
    assert broken == len(links.violations(labels))
    for a, b in links.pairs.tolist():
        assert labels[a] >= 0 or labels[b] >= 0 or not np.concatenate(model.bisets_.covered())[[a, b]].any()


def test_all_relaxed_starts_are_compared() -> None:
    """Three rows that must be apart in two co-clusters."""
    X = np.random.RandomState(0).rand(12, 8) < 0.4
    # A bi-set of each of the three that has no other row.
    X[:, :3] = np.eye(12, 3)
    X[:, 3] = True
    links = Constraints(cannot_link=[(0, 1), (1, 2), (0, 2)])
    models = [CDKMeans(2, n_init=n, random_state=3, select="cost", on_infeasible="relax") for n in (1, 8)]
    costs = []
    for model in models:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, row_constraints=links)
        assert model.n_failed_ == model.n_init
        costs.append(min(model.objective_))
    assert costs[1] < costs[0] - 0.1


def test_first_placement_is_kept_if_the_second_fails() -> None:
    """A start fails only if its first pass has no place for a bi-set."""
    X = np.eye(6, dtype=int)
    cannot = np.array([(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)])
    placement = Placement(formal_concepts(X), cannot, 2)
    n_kept = 0
    for seed in range(60):
        rng = np.random.RandomState(seed)
        chosen = placement._choose("random", rng)
        order = rng.permutation(6)
        first = placement._place(
            placement._centroids(np.arange(2), placement.bisets.take(chosen)), order, np.full(6, -1), relax=False
        )
        state = placement.run("random", 10, shuffle=True, relax=False, seed=seed)
        assert (state is None) == (first[3] > 0)
        n_kept += state is not None and len(state.costs) == 1 and state.n_iter == 2
    assert n_kept > 0
