"""Column weights: the formulas, directions of weighted columns, lengths of columns, and wide tables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, random_array
from sklearn.metrics import adjusted_rand_score

from mustlink import Constraints, RobustBoostCluster
from mustlink.boosting._bases import BaseRun
from mustlink.boosting._boostcluster import _explained
from mustlink.boosting._boostcluster._columns import LINK_WEIGHTINGS, relative_weights, weigh_columns
from mustlink.boosting._boostcluster._coordinates import make_coordinates
from mustlink.boosting._boostcluster._explained import average_explained, explained_variance
from mustlink.boosting._boostcluster._representations import MAX_WEIGHTED, Representation
from mustlink.boosting._robust._column_weights import average_column_weights
from reference import column_weights

KINDS = ["both", "must", "cannot"]


def random_differences(seed: int, kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Draw differences, kinds and weights of links, some of them zero, and variances; some columns are constant."""
    rng = np.random.RandomState(seed)
    n_links, n_columns = rng.randint(1, 12), rng.randint(1, 9)
    # Must-links come first.
    is_must = np.sort(rng.uniform(size=n_links)) < {"both": 0.5, "must": 2.0, "cannot": -1.0}[kind]
    scale = np.where(is_must, 1.0, rng.choice([0.5, 1.0, 4.0]))[:, None]
    differences = rng.normal(size=(n_links, n_columns)) * scale
    differences[rng.uniform(size=differences.shape) < 0.2] = 0.0
    constant = rng.uniform(size=n_columns) < 0.2
    differences[:, constant] = 0.0
    variance = np.where(constant, 0.0, rng.uniform(0.5, 2, size=n_columns))
    weight = rng.choice([0.0, 0.5, 1.0, 3.0], size=n_links)
    return differences, is_must, weight, variance


@pytest.mark.parametrize("container", [np.asarray, csr_array], ids=["dense", "sparse"])
@given(st.integers(0, 10**6), st.sampled_from(LINK_WEIGHTINGS), st.sampled_from(KINDS))
@settings(deadline=None, max_examples=150)
def test_column_weights_are_those_of_the_formulas(container, seed, weighting, kind):
    differences, is_must, weight, variance = random_differences(seed, kind)
    found = weigh_columns(weighting, container(differences**2), is_must.sum(), weight, variance)
    expected = column_weights.weigh_columns(weighting, differences, is_must, weight, variance)
    np.testing.assert_allclose(found, expected, atol=1e-7)
    assert found.max() == 1.0


def test_columns_that_differ_between_clusters_count_more():
    rng = np.random.RandomState(0)
    is_must = np.arange(60) < 30
    differences = rng.normal(size=(60, 10))
    differences[~is_must, 3] += 5
    for weighting in LINK_WEIGHTINGS:
        found = weigh_columns(weighting, differences**2, 30, np.ones(60), np.ones(10))
        assert found.argmax() == 3
        assert np.delete(found, 3).max() < 0.7


def test_only_proportions_of_link_weights_matter():
    differences, is_must, _, variance = random_differences(3, "both")
    weight = np.linspace(1, 2, len(is_must))
    for weighting in LINK_WEIGHTINGS:
        np.testing.assert_allclose(
            weigh_columns(weighting, differences**2, is_must.sum(), weight, variance),
            weigh_columns(weighting, differences**2, is_must.sum(), 7 * weight, variance),
        )


# ---- columns explained by clusters ---------------------------------------------------------------------------------


@pytest.mark.parametrize("container", [np.asarray, csr_array], ids=["dense", "sparse"])
@given(st.integers(0, 10**6))
@settings(deadline=None, max_examples=150)
def test_explained_variance_is_that_of_the_formula(container, seed):
    rng = np.random.RandomState(seed)
    n_rows, n_columns, n_clusters = rng.randint(1, 20), rng.randint(1, 6), rng.randint(1, 5)
    labels = rng.randint(-1, n_clusters, size=n_rows)
    table = rng.normal(size=(n_rows, n_columns)) + np.outer(labels, rng.choice([0, 1, 5], size=n_columns))
    table[:, rng.uniform(size=n_columns) < 0.2] = 0.0
    found = explained_variance(container(table), labels)
    np.testing.assert_allclose(found, column_weights.explained_variance(table, labels), atol=1e-9)


def test_random_clusters_explain_nothing_in_the_mean():
    rng = np.random.RandomState(0)
    labels = rng.randint(10, size=60)
    found = explained_variance(rng.normal(size=(60, 3000)), labels)
    # Half of the columns are below the mean of zero and become zero; unadjusted, the mean would be 9 / 59.
    assert 0.4 < (found == 0).mean() < 0.7
    assert found.mean() < 0.05


def test_constant_columns_are_explained_by_nothing():
    """Their means are rounded, and so they seem to vary."""
    rng = np.random.RandomState(0)
    table = np.broadcast_to(rng.uniform(0.1, 1e6, size=500), (97, 500))
    assert not explained_variance(np.array(table), rng.randint(3, size=97)).any()


def test_explained_columns_are_averages_of_the_runs_as_they_count():
    table = np.random.RandomState(0).normal(size=(30, 4))
    runs = [BaseRun(np.arange(30) % k, None, weight=weight) for k, weight in ((2, 1.0), (3, 3.0))]
    expected = sum(run.weight * explained_variance(table, run.labels) for run in runs) / 4
    np.testing.assert_allclose(average_explained(runs, table, np.arange(30)), expected)


def test_of_many_rows_some_are_looked_at(monkeypatch):
    labels = np.arange(300) % 2
    table = np.random.RandomState(0).normal(size=(300, 4))
    table[:, 0] += 3 * labels
    rows = np.arange(30, 280)
    expected = explained_variance(table[rows], labels[rows])
    monkeypatch.setattr(_explained, "MAX_ROWS_EXPLAINED", 125)
    # The run has labels of the rows only, and these alternate.
    found = average_explained([BaseRun(labels[rows], None, rows=rows)], table, rows)
    assert not np.array_equal(found, expected)
    np.testing.assert_allclose(found, expected, atol=0.05)


def test_columns_count_as_far_as_clusters_explain_them():
    y = np.arange(40) % 2
    X = np.random.RandomState(0).normal(size=(40, 3))
    coordinates, links = placed(X, Constraints.sample(y, 24, random_state=0))
    representation = Representation("ridged", weighting="clusters")
    explained = np.array([0.2, 0.0, 0.4])
    found = representation.directions(replace(links, explained=explained), links.weight)
    assert coordinates.column_lengths(found, 3)[1] == 0.0
    assert relative_weights(explained).tolist() == [0.5, 0.0, 1.0]
    # Without clusters, or where these explain nothing, all columns count.
    for nothing in (None, np.zeros(3)):
        plain = representation.directions(replace(links, explained=nothing), links.weight)
        all_columns = replace(representation, weighting=None).directions(links, links.weight)
        np.testing.assert_allclose(plain.matrix @ plain.matrix.T, all_columns.matrix @ all_columns.matrix.T, atol=1e-9)


# ---- directions ----------------------------------------------------------------------------------------------------


def placed(X, links, *, standardize=False):
    coordinates = make_coordinates(X, links, standardize=standardize, points=False, needs_rest=True)
    return coordinates, coordinates.with_columns(coordinates.place_links(links))


@pytest.mark.parametrize("weighting", LINK_WEIGHTINGS)
@pytest.mark.parametrize("kind", KINDS)
def test_directions_of_weighted_columns_are_those_of_the_weighted_table(weighting, kind):
    rng = np.random.RandomState(0)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 6)) + 4 * np.outer(y, [1, 1, 0, 0, 0, 0])
    links = Constraints.sample(y, 24, random_state=0)
    links = Constraints(links.must_link if kind != "cannot" else None, links.cannot_link if kind != "must" else None)
    coordinates, given_links = placed(X, links)
    weight = rng.uniform(0.5, 1, size=len(given_links))
    representation = Representation("ridged", 0.5, 0.3, weighting)
    found = representation.directions(given_links, weight)
    factors = weigh_columns(
        weighting, given_links.squared_differences, given_links.n_must, weight, given_links.column_variance
    )
    explicit, same_links = placed(X * factors, links)
    # Links are ordered by the coordinates of their rows, which the factors may change.
    order = [given_links.pairs.tolist().index(pair) for pair in same_links.pairs.tolist()]
    expected = replace(representation, weighting=None).directions(same_links, weight[order])
    np.testing.assert_allclose(found.values, expected.values, atol=1e-9)
    products = [
        table @ table.T
        for table in (
            centered(coordinates.represent(found)),
            centered(explicit.represent(expected)),
        )
    ]
    np.testing.assert_allclose(*products, atol=1e-8 * np.abs(products[0]).max())


def centered(table):
    return table - table.mean(axis=0)


def test_columns_are_weighted_by_their_own_evidence():
    y = np.arange(40) % 2
    X = np.random.RandomState(0).normal(size=(40, 3)) + 4 * np.outer(y, [1, 0, 0])
    _, links = placed(X, Constraints.sample(y, 24, random_state=0))
    few = np.where(np.arange(len(links)) % 2, 1.0, 0.01)
    representation = Representation("ridged", weighting="ratio")
    same = representation.directions(links, few)
    other = representation.directions(links, few, column_evidence=np.ones(len(links)))
    np.testing.assert_allclose(representation.directions(links, few, few).matrix, same.matrix)
    assert not np.allclose(np.abs(same.matrix), np.abs(other.matrix))


# ---- lengths of columns --------------------------------------------------------------------------------------------


def wide_table(kind):
    rng = np.random.RandomState(0)
    if kind == "direct":
        return rng.normal(size=(50, 7))
    if kind == "dense":
        return rng.normal(size=(30, 400))
    if kind == "tall dense":
        return rng.normal(size=(400, 150))
    return random_array((60, 300), density=0.1, rng=1, format="csr")


@pytest.mark.parametrize("n_components", [None, 3, 40])
@pytest.mark.parametrize("weighting", [None, "ratio", "screen"])
@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("kind", ["direct", "dense", "tall dense", "sparse"])
def test_lengths_of_columns_are_those_of_the_linear_map(kind, standardize, weighting, n_components):
    """A row that is moved by a unit of one scaled column moves by the length of that column."""
    X = wide_table(kind)
    n, d = X.shape
    links = Constraints.sample(np.arange(n) % 2, 20, random_state=0)
    coordinates, placed_links = placed(X, links, standardize=standardize)
    coordinates = replace(coordinates, n_components=n_components)
    assert bool(coordinates.bases) == (kind != "direct")
    directions = Representation("ridged", 0.3, 0.2, weighting).directions(placed_links, placed_links.weight)
    scale = np.ones(d) if coordinates.scaling.scale is None else coordinates.scaling.scale
    origin, units = np.zeros((1, d)), np.diag(scale)
    if kind == "sparse":
        origin, units = csr_array(origin), csr_array(units)
    moved = coordinates.of_rows(units).represent(directions) - coordinates.of_rows(origin).represent(directions)
    expected = np.sqrt((moved**2).sum(axis=1))
    np.testing.assert_allclose(coordinates.column_lengths(directions, d), expected, atol=1e-8 * expected.max())


def test_the_plain_table_moves_by_every_column_alike():
    coordinates, _ = placed(wide_table("direct"), Constraints([(0, 1)]))
    assert coordinates.column_lengths(None, 7).tolist() == [1.0] * 7


def test_column_weights_are_averages_of_the_runs_as_they_count():
    coordinates, links = placed(wide_table("direct"), Constraints([(0, 1), (2, 3)], [(4, 5), (0, 6)]))
    directions = [
        Representation("ridged", weighting=weighting).directions(links, links.weight)
        for weighting in LINK_WEIGHTINGS[:2]
    ]
    runs = [
        BaseRun(np.zeros(50, dtype=int), None, each, weight)
        for each, weight in zip(directions, (1.0, 3.0), strict=True)
    ]
    lengths = [coordinates.column_lengths(each, 7) for each in directions]
    expected = lengths[0] / lengths[0].max() + 3 * lengths[1] / lengths[1].max()
    varies = np.ones(7, dtype=np.bool_)
    np.testing.assert_allclose(average_column_weights(runs, coordinates, varies), expected / expected.max())
    assert average_column_weights([], coordinates, varies).tolist() == [1.0] * 7
    varies[2] = False
    assert average_column_weights([], coordinates, varies).tolist() == [1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0]
    assert average_column_weights(runs, coordinates, varies)[2] == 0.0


# ---- wide tables ---------------------------------------------------------------------------------------------------


def few_columns_matter(seed):
    """300 rows of two classes and 2,000 columns, of which 5 are 3 standard deviations apart."""
    rng = np.random.RandomState(seed)
    y = np.arange(300) % 2
    X = rng.normal(size=(300, 2000))
    matter = rng.choice(2000, size=5, replace=False)
    X[:, matter] += 3 * y[:, None]
    return X, y, matter


def test_five_columns_of_two_thousand_are_found():
    X, y, matter = few_columns_matter(0)
    links = Constraints.sample(y, 60, random_state=0)
    model = RobustBoostCluster(n_clusters=2, random_state=0).fit(X, constraints=links)
    assert adjusted_rand_score(y, model.labels_) >= 0.9
    assert set(np.argsort(-model.column_weights_)[:5]) == set(matter)
    assert model.column_weights_.shape == (2000,)
    new, truth, _ = few_columns_matter(0)
    assert adjusted_rand_score(truth[:50], model.predict(new[:50])) > 0.8


def test_five_columns_of_a_sparse_table_are_found_and_it_is_not_made_dense(monkeypatch):
    rng = np.random.RandomState(0)
    y = np.arange(300) % 2
    matter = rng.choice(2000, size=5, replace=False)
    X = random_array((300, 2000), density=0.05, rng=0).toarray()
    X[:, matter] = (rng.uniform(size=(300, 5)) < 0.02 + 0.96 * y[:, None]).astype(float)
    made_dense = []
    original = csr_array.toarray

    def spy(self, *args, **kwargs):
        made_dense.append(self.shape)
        return original(self, *args, **kwargs)

    monkeypatch.setattr(csr_array, "toarray", spy)
    links = Constraints.sample(y, 60, random_state=0)
    model = RobustBoostCluster(n_clusters=2, n_rounds=8, n_trials=2, random_state=0)
    model.fit(csr_array(X), constraints=links)
    assert adjusted_rand_score(y, model.labels_) >= 0.9
    assert set(np.argsort(-model.column_weights_)[:5]) == set(matter)
    assert made_dense
    # Of all rows, only some columns (and a graph of 300 rows); of all columns, only the linked rows.
    assert all(shape[0] < 300 or shape[1] <= 300 for shape in made_dense)


def test_of_a_wide_table_the_columns_with_the_largest_weights_are_used():
    X, y, matter = few_columns_matter(1)
    coordinates, links = placed(X, Constraints.sample(y, 60, random_state=0))
    directions = Representation("ridged", weighting="screen").directions(links, links.weight)
    assert directions.columns is not None
    assert len(directions.columns) == MAX_WEIGHTED
    assert set(matter) <= set(directions.columns)
    assert (np.diff(directions.columns) > 0).all()
    factors = weigh_columns("screen", links.squared_differences, links.n_must, links.weight, links.column_variance)
    assert np.delete(factors, directions.columns).max() <= factors[directions.columns].min()
    np.testing.assert_allclose(
        coordinates.represent(directions), X[:, directions.columns] @ directions.matrix, rtol=1e-6, atol=1e-9
    )
