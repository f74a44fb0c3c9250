"""The order of rows by content, and partial labels that imply the same links in any order of the table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel

from conformance import rows_for
from fuzz.methods import make_model
from fuzz.problems import make_problem
from mustlink import ConstrainedLinkage, ConstrainedSpectral, Constraints, KernelKMeans, PCKMeans, SeededSingleLink
from mustlink._estimators import count_parameter
from mustlink._row_order import rank_rows, split_by_links
from mustlink.base import collect_links
from mustlink.catalogue import CATALOGUE, Entry, find_clusterer
from mustlink.metric_learning import MMC

Table = NDArray[Any]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 3))
# Classes that have nothing to do with the rows.
Y = np.where(np.arange(30) % 3 == 0, -1, RNG.integers(3, size=30))
GIVEN = Constraints(must_link=[(0, 7), (1, 4)], cannot_link=[(2, 5), (3, 29)], must_link_weight=[2.0, 0.5])
ORDER = RNG.permutation(30)

# Few values, so that rows are equal in some columns or in all.
few_values = st.sampled_from([-2.5, -1.0, 0.0, 1.0, 2.5])
tables = arrays(np.float64, st.tuples(st.integers(1, 12), st.integers(1, 6)), elements=few_values)
square_tables = st.integers(1, 8).flatmap(lambda n: arrays(np.float64, (n, n), elements=few_values))


def store_zeros(X: Table) -> sparse.csr_array:
    """A sparse table that stores its zeros too, and the columns of each row backward."""
    n_rows, n_columns = X.shape
    columns = np.tile(np.arange(n_columns)[::-1], n_rows)
    return sparse.csr_array((X[:, ::-1].ravel(), columns, np.arange(0, X.size + 1, n_columns)), shape=X.shape)


def move_links(links: Constraints, order: NDArray[np.intp]) -> Constraints:
    """The links of a table whose rows were taken in an order."""
    place = np.argsort(order)
    return Constraints.from_pairs(place[links.pairs], links.sign, links.weight, contradictions="keep")


@given(tables)
def test_rows_are_ranked_by_their_columns_from_first_to_last(X: Table) -> None:
    rows = np.arange(0, len(X), 2)
    listed = [tuple(X[row]) for row in rows]
    expected = [sum(other < row for other in listed) for row in listed]
    for table in (X, X.astype(np.float32), sparse.csr_array(X), store_zeros(X)):
        assert rank_rows(table, rows).tolist() == expected


@given(square_tables, st.randoms(use_true_random=False))
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, store_zeros])
def test_of_distances_the_order_of_the_columns_has_no_part(form: Callable[[Table], Any], X: Table, random: Any) -> None:
    order = np.array(random.sample(range(len(X)), len(X)))
    rows = np.arange(len(X))
    rank = rank_rows(form(X), rows, is_pairwise=True)
    moved = rank_rows(form(X[np.ix_(order, order)]), rows, is_pairwise=True)
    assert moved.tolist() == rank[order].tolist()
    content = [(X[row, row], tuple(np.sort(X[row]))) for row in rows]
    for a in rows:
        assert [b for b in rows if content[b] == content[a]] == [b for b in rows if rank[b] == rank[a]]


@pytest.mark.parametrize(
    ("table", "n_different"),
    [
        (pd.DataFrame({"name": ["b", "a", "b", None], "size": [1.0, 2.0, np.nan, 0.0]}), 4),
        (np.array([[1.0, np.nan], [1.0, 2.0], [0.0, np.nan], [1.0, np.nan]]), 3),
        (np.array([[True, False], [False, True], [True, True], [False, False]]), 4),
        (["a text", "another", "a third", "a text"], 3),
    ],
)
def test_tables_of_any_kind_have_an_order(table: Any, n_different: int) -> None:
    rows, order = np.arange(4), np.array([2, 0, 3, 1])
    moved = table.iloc[order] if hasattr(table, "iloc") else [table[row] for row in order]
    assert rank_rows(moved, rows).tolist() == rank_rows(table, rows)[order].tolist()
    assert len(np.unique(rank_rows(table, rows))) == n_different


def test_equal_rows_are_told_apart_by_their_links() -> None:
    rank, pairs = np.array([0, 0, 0, 0, 4, 5]), np.array([[0, 4], [1, 5], [2, 5]])
    ranked = split_by_links(rank, pairs, np.array([1.0, 1.0, -1.0]))
    # A cannot-link, no link, a must-link with the row of rank 4, and with the one of rank 5.
    assert ranked.tolist() == [2, 3, 0, 1, 4, 5]


@pytest.mark.parametrize("entry", [entry for entry in CATALOGUE if entry.takes_links], ids=lambda entry: entry.name)
def test_labels_imply_the_same_links_in_any_order(entry: Entry) -> None:
    model = entry.load()()
    if (name := count_parameter(model)) is not None:
        model.set_params(**{name: 3})
    rows = rows_for(model, X)
    links = model._check_fit_input(rows, Y, GIVEN)[1]
    moved = model._check_fit_input(rows[ORDER], Y[ORDER], move_links(GIVEN, ORDER))[1]
    assert moved == move_links(links, ORDER)
    assert moved == model._check_fit_input(rows[ORDER].astype(np.float32), Y[ORDER], move_links(GIVEN, ORDER))[1]


@pytest.mark.parametrize(
    ("model", "between"),
    [
        (KernelKMeans(3, kernel="precomputed"), rbf_kernel(X)),
        (ConstrainedSpectral(3, affinity="precomputed"), rbf_kernel(X)),
        (ConstrainedSpectral(3, affinity="precomputed"), sparse.csr_array(np.where(rbf_kernel(X) > 0.5, 1.0, 0.0))),
        (ConstrainedLinkage(3, metric="precomputed", linkage="average"), euclidean_distances(X)),
        (SeededSingleLink(3, metric="precomputed"), euclidean_distances(X)),
    ],
    ids=["kernel", "affinities", "sparse affinities", "linkage", "single link"],
)
def test_labels_of_precomputed_tables_imply_the_same_links_in_any_order(model: Any, between: Any) -> None:
    links = model._check_fit_input(between, Y, GIVEN)[1]
    moved = model._check_fit_input(between[ORDER][:, ORDER], Y[ORDER], move_links(GIVEN, ORDER))[1]
    assert moved == move_links(links, ORDER)


def test_equal_rows_with_other_links_imply_the_same_links_in_any_order() -> None:
    table, y = np.zeros((6, 2)), np.array([0, 0, 0, 0, -1, -1])
    table[4:] = [[1.0, 0.0], [2.0, 0.0]]
    given_links = Constraints(must_link=[(0, 4), (1, 5)], cannot_link=[(2, 5)])
    links = collect_links(given_links, y, table)
    for seed in range(10):
        order = np.random.default_rng(seed).permutation(6)
        moved = collect_links(move_links(given_links, order), y[order], table[order])
        assert moved == move_links(links, order)


@pytest.mark.parametrize("seed", range(5))
def test_a_soft_clusterer_breaks_the_same_labels_in_any_order(seed: int) -> None:
    order = np.random.default_rng(seed).permutation(30)
    model = PCKMeans(3, init=X[:3] + 0.1, penalty=0.3)
    clusters, broken = model.fit(X, Y).labels_, model.violations_
    moved = model.fit(X[order], Y[order])
    assert moved.labels_.tolist() == clusters[order].tolist()
    assert not broken.is_empty
    assert moved.violations_ == move_links(broken, order)


def test_a_bound_on_the_links_of_labels_is_in_reach_in_any_order() -> None:
    """The problem of this seed was infeasible in one order of the rows, and not in another."""
    problem = make_problem(4574)
    ends = set()
    for seed in range(8):
        order = np.random.default_rng(seed).permutation(problem.n_rows)
        model = make_model(find_clusterer("conspec"), problem)
        assert model.satisfaction != "auto"
        assert problem.y is not None
        try:
            model.fit(problem.X[order], problem.y[order], constraints=move_links(problem.constraints, order))
            ends.add("fitted")
        except ValueError as error:
            ends.add(type(error).__name__)
    assert len(ends) == 1


def test_a_metric_learned_from_labels_is_the_same_in_any_order() -> None:
    iris = load_iris().data[::5]
    y = np.where(np.arange(30) % 4 == 0, -1, np.arange(30) % 3)
    one, other = MMC().fit(iris, y).metric_matrix_, MMC().fit(iris[ORDER], y[ORDER]).metric_matrix_
    np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9)
