"""Validation of graphs, their requests in scikit-learn, and what slicing does to them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy
from scipy import sparse
from sklearn import config_context
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mustlink import ConnectedKCenter, ConnectedKMeans, Constraints, NetScan
from mustlink.catalogue import CATALOGUE
from mustlink.graph._adjacency import check_graph

CLUSTERERS = (ConnectedKCenter, ConnectedKMeans, NetScan)
PATH = np.eye(4, k=1) + np.eye(4, k=-1)


def changed(row: int, other: int, value: float) -> Any:
    graph = PATH.copy()
    graph[row, other] = value
    return graph


class NetworkxGraph:
    adj: Any = None
    nodes: Any = None


@pytest.mark.parametrize(
    ("graph", "error", "message"),
    [
        (PATH[:3], ValueError, r"a column for each of the 4 rows of X, and its shape is \(3, 4\)"),
        (PATH[:, :3], ValueError, r"its shape is \(4, 3\)"),
        (
            [(0, 1), (1, 2)],
            ValueError,
            r"shape is \(2, 2\). If these are edges, pass half \+ half.T with .*\(4, 4\)\)\.",
        ),
        (np.eye(5), ValueError, r"4 rows of X, and its shape is \(5, 5\)"),
        (changed(2, 3, 0), ValueError, "not symmetric: it has an edge from row 3 to row 2, and none back"),
        (changed(0, 3, 1), ValueError, "an edge from row 0 to row 3, and none back"),
        (changed(1, 2, -1), ValueError, "the entry -1 between the rows 1 and 2"),
        (changed(1, 2, np.nan), ValueError, "the entry nan between the rows 1 and 2"),
        (changed(1, 2, np.inf), ValueError, "the entry inf between the rows 1 and 2"),
        (sparse.csr_array(changed(1, 2, -2)), ValueError, "the entry -2 between the rows 1 and 2"),
        (sparse.csr_array(PATH.astype(complex)), TypeError, "got entries of the type complex128"),
        ([1, 2], TypeError, "got an array of 1 dimension"),
        ([["a", "b"]], TypeError, "got entries of the type"),
        (NetworkxGraph(), TypeError, "networkx.to_scipy_sparse_array"),
    ],
)
@pytest.mark.parametrize("clusterer", CLUSTERERS)
def test_bad_graphs_are_refused_with_the_rows(clusterer: Any, graph: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        clusterer(2).fit(np.arange(4.0)[:, None], graph=graph)


def test_loops_repetitions_and_explicit_zeros_are_no_edges() -> None:
    rows, columns = [0, 1, 1, 1, 2, 0, 3], [1, 0, 0, 1, 2, 3, 0]
    graph = sparse.coo_array(([1, 1, 1, -1, np.nan, 0, 0], (rows, columns)), shape=(4, 4))
    found = check_graph(graph, 4)
    assert found is not None
    assert (found.indices.tolist(), found.degree.tolist()) == ([1, 0], [1, 1, 0, 0])
    assert found.n_parts == 3
    assert graph.nnz == 7


def test_a_list_of_edges_becomes_a_graph_as_the_error_says() -> None:
    edges = [(0, 1), (1, 2), (2, 3)]
    with pytest.raises(ValueError, match="If these are edges") as caught:
        NetScan(2).fit(np.arange(4.0)[:, None], graph=edges)
    advice = str(caught.value).partition("half = ")[2].removesuffix(".")
    half = eval(advice, {"scipy": scipy, "np": np, "edges": edges})
    np.testing.assert_array_equal((half + half.T).toarray(), PATH)


def test_the_graph_of_the_user_is_not_changed() -> None:
    graph = sparse.csr_array((np.ones(4), [2, 1, 0, 0], [0, 2, 3, 4]), shape=(3, 3))
    before = graph.indices.copy()
    NetScan(2, random_state=0).fit(np.arange(3.0)[:, None], graph=graph)
    np.testing.assert_array_equal(graph.indices, before)


@pytest.mark.parametrize("clusterer", CLUSTERERS)
def test_links_in_the_place_of_labels_are_refused(clusterer: Any) -> None:
    with pytest.raises(TypeError, match="takes no links"):
        clusterer(2).fit(np.arange(4.0)[:, None], Constraints(must_link=[(0, 1)]))


@pytest.mark.parametrize("clusterer", CLUSTERERS)
def test_pipelines_pass_the_graph_on_and_folds_that_cut_it_are_refused(clusterer: Any) -> None:
    X = np.random.default_rng(0).normal(size=(12, 2))
    graph = sparse.csr_array(np.eye(12, k=1) + np.eye(12, k=-1))
    with config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(StandardScaler(), clusterer(2, random_state=0)).fit(X, graph=graph)
        labels = pipeline[-1].labels_
        assert np.count_nonzero(np.diff(labels)) == 1
        with pytest.raises(ValueError, match=r"Cross-validation selects rows of a graph and not its columns"):
            cross_validate(
                clusterer(2, random_state=0), X, params={"graph": graph}, cv=3, error_score="raise",
                scoring=lambda model, X, y=None: 0.0,
            )  # fmt: skip


def test_the_catalogue_says_which_clusterers_take_a_graph() -> None:
    from inspect import signature

    for entry in CATALOGUE:
        assert entry.takes_graph == ("graph" in signature(entry.load().fit).parameters)
