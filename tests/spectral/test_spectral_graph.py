from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence

from mustlink import Constraints
from mustlink.errors import TooLargeError
from mustlink.spectral import _eigenvectors
from mustlink.spectral._eigenvectors import additive_form, leading_vectors, symmetric_form
from mustlink.spectral._graph import (
    Graph,
    add_links,
    find_pieces,
    full_graph,
    join_pieces,
    make_graph,
    neighbor_graph,
    precomputed_graph,
)
from reference.spectral import additive, neighbor_affinity, symmetric, write_links

FORMS = {"symmetric": symmetric, "additive": additive}


def dense(weights):
    return weights.toarray() if sparse.issparse(weights) else weights


def points(seed, n_rows=40, n_features=2):
    return np.random.default_rng(seed).normal(size=(n_rows, n_features))


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 1000), n_neighbors=st.integers(1, 12))
def test_neighbor_graph_matches_the_definition(seed, n_neighbors):
    X = points(seed, 25)
    found = neighbor_graph(X, n_neighbors, 7)
    np.testing.assert_allclose(dense(found.weights), neighbor_affinity(X, n_neighbors, 7), rtol=1e-9, atol=1e-300)


def test_full_graph_equals_the_graph_of_all_neighbors():
    X = points(0)
    np.testing.assert_allclose(full_graph(X, 7).weights, neighbor_affinity(X, 39, 7), rtol=1e-8, atol=1e-300)


def test_equal_weights_without_a_scale():
    graph = neighbor_graph(points(1), 5, None)
    assert set(graph.weights.data) == {1.0}
    assert (graph.degree >= 5).all()


@pytest.mark.parametrize("affinity", ["nearest_neighbors", "full"])
def test_links_set_the_weights_of_edges(affinity):
    X, y = points(2), np.arange(40) % 3
    links = Constraints.sample(y, n_pairs=60, random_state=0)
    graph = make_graph(X, affinity, 6, 7, 100)
    found = add_links(graph, links)
    np.testing.assert_allclose(dense(found.weights), write_links(dense(graph.weights), links))


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 1000), n_pieces=st.integers(1, 5))
def test_pieces_are_connected_components_by_size(seed, n_pieces):
    rng = np.random.default_rng(seed)
    member = np.r_[np.arange(n_pieces), rng.integers(0, n_pieces, 20)]
    weights = np.triu((member[:, None] == member) & (rng.random((len(member),) * 2) < 0.6), 1).astype(float)
    weights += weights.T
    piece = find_pieces(weights)
    np.testing.assert_array_equal(piece, find_pieces(sparse.csr_array(weights)))
    _, expected = connected_components(weights, directed=False)
    assert len(set(zip(piece, expected, strict=True))) == expected.max() + 1 == piece.max() + 1
    assert (np.diff(np.bincount(piece)) <= 0).all()


@pytest.mark.parametrize("affinity", ["nearest_neighbors", "full"])
def test_pieces_are_joined_by_the_nearest_rows(affinity):
    X = np.r_[np.zeros((8, 1)), np.full((8, 1), 1000.0), np.full((8, 1), 5000.0)] + points(0, 24, 1) * 0.01
    graph = make_graph(X, affinity, 5, 3, 100)
    assert find_pieces(graph.weights).max() == 2
    joined = join_pieces(graph, find_pieces(graph.weights))
    new = sparse.coo_array(np.triu(dense(joined.weights) - dense(graph.weights)))
    assert find_pieces(joined.weights).max() == 0
    assert set(zip(new.row, new.col, strict=True)) == {
        (int(X[:8].argmax()), 8 + int(X[8:16].argmin())),
        (8 + int(X[8:16].argmax()), 16 + int(X[16:].argmin())),
    }
    assert (new.data > 0).all()


def test_pieces_are_not_joined_by_cannot_links():
    X = np.r_[0.0, 1.0, 10.0, 11.0][:, None]
    graph = neighbor_graph(X, 1, None)
    joined = join_pieces(graph, find_pieces(graph.weights), Constraints(cannot_link=[(1, 2)]))
    assert joined.weights[1, 2] == 0
    assert find_pieces(joined.weights).max() == 0
    forbidden = Constraints(cannot_link=[(a, b) for a in (0, 1) for b in (2, 3)])
    assert join_pieces(graph, find_pieces(graph.weights), forbidden) is graph


def test_pieces_of_precomputed_weights_are_joined_with_the_largest():
    weights = np.zeros((6, 6))
    for a, b in ((0, 1), (1, 2), (3, 4)):
        weights[a, b] = weights[b, a] = 2.0
    joined = join_pieces(Graph(weights), find_pieces(weights))
    assert find_pieces(joined.weights).max() == 0
    assert joined.weights[1, 3] == joined.weights[1, 5] == 2.0


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_vectors", [1, 4, 40])
def test_vectors_span_the_leading_eigenspace(form, n_vectors):
    graph = neighbor_graph(points(3), 6, 7)
    values, vectors = leading_vectors(graph, form, n_vectors, np.random.RandomState(0))
    expected_values, expected = eigh(FORMS[form](dense(graph.weights)))
    np.testing.assert_allclose(values, expected_values[::-1][:n_vectors], atol=1e-10)
    expected = expected[:, ::-1][:, :n_vectors]
    np.testing.assert_allclose(vectors @ vectors.T, expected @ expected.T, atol=1e-7)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("solver", ["Lanczos", "array", "factors"])
def test_all_solvers_agree(form, solver, monkeypatch):
    graph = neighbor_graph(np.r_[points(4, 500), points(5, 400) + 30], 8, 7)
    assert find_pieces(graph.weights).max() == 1
    expected_values, expected = eigh(FORMS[form](dense(graph.weights)), subset_by_index=(895, 899))
    lanczos = _eigenvectors.eigsh

    def gives_up(*arguments, **options):
        if "maxiter" in options:
            raise ArpackNoConvergence("no convergence", np.empty(0), np.empty((0, 0)))
        return lanczos(*arguments, **options)

    if solver != "Lanczos":
        monkeypatch.setattr(_eigenvectors, "eigsh", gives_up)
    if solver == "factors":
        monkeypatch.setattr(_eigenvectors, "MAX_DENSE_ROWS", 100)
    values, vectors = leading_vectors(graph, form, 5, np.random.RandomState(0))
    np.testing.assert_allclose(values, expected_values[::-1], atol=1e-8)
    np.testing.assert_allclose(vectors @ vectors.T, expected @ expected.T, atol=1e-5)


@pytest.mark.parametrize("form", [symmetric_form, additive_form])
def test_isolated_rows_have_the_eigenvalue_1(form):
    weights = np.zeros((4, 4))
    weights[0, 1] = weights[1, 0] = 3.0
    for stored in (weights, sparse.csr_array(weights)):
        matrix, fixed = form(Graph(stored))
        isolated = np.eye(4)[2]
        np.testing.assert_allclose(dense(matrix) @ isolated, isolated)
        np.testing.assert_allclose(dense(matrix) @ fixed, fixed)


@pytest.mark.parametrize(
    ("affinity", "message"),
    [
        (np.ones((3, 2)), "square"),
        (-np.ones((3, 3)), "Negative values in data"),
        (np.triu(np.ones((3, 3))), "symmetric"),
        (sparse.csr_array(np.triu(np.ones((3, 3)))), "symmetric"),
    ],
)
def test_invalid_affinities_are_refused(affinity, message):
    with pytest.raises(ValueError, match=message):
        precomputed_graph(affinity)


def test_the_diagonal_of_a_precomputed_affinity_is_ignored():
    for kind in (np.array, sparse.csr_array):
        assert dense(precomputed_graph(kind(np.ones((3, 3)))).weights).diagonal().tolist() == [0.0] * 3


def test_too_many_rows_for_a_full_graph():
    with pytest.raises(TooLargeError, match="40 x 40 numbers"):
        make_graph(points(0), "full", 5, 7, 39)
    with pytest.raises(ValueError, match="scale_neighbor"):
        make_graph(points(0), "full", 5, None, 100)
