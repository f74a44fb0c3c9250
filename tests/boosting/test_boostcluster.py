"""BoostCluster: the formulas of the paper, the bases, bad input; and what holds for RobustBoostCluster as well."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csc_array, csr_array
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import (
    DBSCAN,
    HDBSCAN,
    AffinityPropagation,
    AgglomerativeClustering,
    Birch,
    KMeans,
    MiniBatchKMeans,
    SpectralClustering,
)
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mustlink import Constraints
from mustlink.boosting import BoostCluster, RobustBoostCluster
from mustlink.boosting._boostcluster import _base, _coordinates
from mustlink.boosting._boostcluster._coordinates import make_coordinates
from mustlink.boosting._boostcluster._links import LinkSet, LinkWeights, optimal_step
from mustlink.boosting._boostcluster._representations import Kind, Representation, signed_products
from mustlink.errors import TooLargeError
from reference.boostcluster import (
    dense_inconsistency,
    double_sum_objective,
    form_matrix,
    metric_matrix,
    positive_root,
    slow_boost,
)

KINDS: tuple[Kind, ...] = ("projection", "difference", "whitened", "ridged")
ALL = (*KINDS, "robust")


def make_model(kind: str, *args: Any, n_trials: int = 4, **settings: Any) -> BoostCluster | RobustBoostCluster:
    """Make a RobustBoostCluster ("robust"), or a BoostCluster of some representation."""
    if kind == "robust":
        return RobustBoostCluster(*args, n_trials=n_trials, **settings)
    return BoostCluster(*args, representation=kind, **settings)


def sign_of_first_column(table: np.ndarray) -> np.ndarray:
    """Cluster by halves along the longest direction: deterministic, and blind to rotation and to row order."""
    centered = table - table.mean(axis=0)
    scores = centered @ np.linalg.svd(centered, full_matrices=False)[2][0]
    halves = (scores > np.median(scores)).astype(int)
    return halves if scores[np.argmax(np.abs(scores))] > 0 else 1 - halves


def random_problem(seed: int, n: int = 12, d: int = 3) -> tuple[np.ndarray, Constraints]:
    rng = np.random.RandomState(seed)
    X = rng.standard_normal((n, d)) + 3 * rng.randint(0, 2, (n, 1))
    pairs = rng.permutation([(i, j) for i in range(n) for j in range(i)])[: rng.randint(2, 12)]
    cut = rng.randint(1, len(pairs))
    weight = rng.uniform(0.5, 2, len(pairs))
    return X, Constraints(pairs[:cut], pairs[cut:], must_link_weight=weight[:cut], cannot_link_weight=weight[cut:])


def parts_of(links: Constraints) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    return links.must_link, links.cannot_link, links.must_link_weight, links.cannot_link_weight


# ---- the formulas --------------------------------------------------------------------------------------------------


@given(st.integers(0, 10**6), st.sampled_from(["projection", "difference"]), st.sampled_from([0.0, 0.1]))
@settings(deadline=None, max_examples=25)
def test_rounds_equal_dense_matrices(seed: int, form: str, identity: float) -> None:
    X, links = random_problem(seed)
    common = {"n_rounds": 4, "learning_rate": 0.5, "smoothing": 0.5}
    model = BoostCluster(sign_of_first_column, 2, representation=form, ridge_identity=identity, scale=False, **common)
    model.fit(X, constraints=links)
    alphas, objectives, kernel = slow_boost(
        X, *parts_of(links), sign_of_first_column, form=form, identity=identity, **common
    )
    # The fast one ends early where the same weights give the same labels again.
    n_rounds = model.n_iter_
    np.testing.assert_allclose(model.alphas_, alphas[:n_rounds], atol=1e-9)
    scale = np.mean(np.concatenate([links.must_link_weight, links.cannot_link_weight])) ** 2
    np.testing.assert_allclose(np.array(model.objective_) * scale, objectives[:n_rounds], rtol=1e-9)
    if not model.is_plain_ and n_rounds == 4:
        np.testing.assert_allclose(model.coassociation_.toarray(), kernel, atol=1e-9)


@given(st.integers(0, 10**6))
@settings(deadline=None, max_examples=25)
def test_objective_is_the_double_sum_and_falls_by_the_theorem(seed: int) -> None:
    X, links = random_problem(seed, n=15)
    model = BoostCluster(
        KMeans(n_init=1), 2, representation="difference", learning_rate=1.0, smoothing=0.0, n_rounds=6, random_state=0
    ).fit(X, constraints=links)
    weights = [weight / np.mean(np.concatenate(parts_of(links)[2:])) for weight in parts_of(links)[2:]]
    before = double_sum_objective(np.zeros((15, 15)), *parts_of(links)[:2], *weights)
    for report in model.history_:
        a, b, c, d = (report[name] for name in ("must_apart", "must_together", "cannot_apart", "cannot_together"))
        assert report["objective"] <= before * (1 + 1e-9)
        if min(a, b, c, d) > 1e-8:  # below, the step is bounded
            gamma = (np.sqrt(a * d) - np.sqrt(b * c)) ** 2 / ((a + b) * (c + d))
            assert report["objective"] == pytest.approx(before * (1 - gamma), rel=1e-9)
        before = report["objective"]
    if all(report["counted"] for report in model.history_) and model.history_:
        kernel = model.coassociation_.toarray()
        assert before == pytest.approx(double_sum_objective(kernel, *parts_of(links)[:2], *weights), rel=1e-9)


@pytest.mark.parametrize("learning_rate", [0.5, 1.0])
@pytest.mark.parametrize("kind", KINDS)
def test_objective_never_rises(kind: str, learning_rate: float) -> None:
    X, y = load_iris(return_X_y=True)
    links = Constraints.sample(y, 200, noise=0.2, random_state=3)
    model = make_model(kind, n_clusters=3, learning_rate=learning_rate, random_state=0)
    model.fit(X, constraints=links)
    assert len(model.objective_) == model.n_iter_ == len(model.alphas_)
    assert np.all(np.diff([100.0**2, *model.objective_]) <= 1e-9 * 100**2)


@given(st.floats(0.01, 0.99), st.floats(0.01, 0.99))
@settings(deadline=None, max_examples=50)
def test_alpha_minimizes_the_objective(must_together: float, cannot_together: float) -> None:
    masses = {
        "must_apart": 1 - must_together,
        "must_together": must_together,
        "cannot_apart": 1 - cannot_together,
        "cannot_together": cannot_together,
    }
    best = optimal_step(masses, 0.0)
    grid = np.append(np.linspace(-6, 6, 2001), best)
    objective = (1 - must_together + must_together * np.exp(-grid)) * (
        1 - cannot_together + cannot_together * np.exp(grid)
    )
    assert objective[-1] <= objective.min() * (1 + 1e-12)
    assert (best > 0) == (must_together > cannot_together) or best == pytest.approx(0, abs=1e-12)
    assert abs(optimal_step(masses, 0.1)) <= abs(best) + 1e-12
    assert optimal_step(masses, 0.1) * best >= -1e-12


@given(st.integers(0, 10**6))
@settings(deadline=None, max_examples=30)
def test_matrices_equal_the_dense_ones(seed: int) -> None:
    X, links = random_problem(seed)
    rng = np.random.RandomState(seed)
    codes = rng.randint(0, 2, (len(X), 2))
    kernel = sum(0.7 * (codes[:, [t]] == codes[:, t]) for t in range(2))
    coordinates = make_coordinates(X, links, standardize=False, points=True, needs_rest=False)
    linked = coordinates.place_links(links)
    weights = LinkWeights(linked, np.ones(len(linked)))
    weights.add(0.7, linked.together(codes[:, 0]))
    weights.add(0.7, linked.together(codes[:, 1]))
    weight = weights.normalized()
    must, cannot = weight[linked.is_must], weight[~linked.is_must]
    inconsistency = dense_inconsistency(kernel, *parts_of(links))
    np.testing.assert_allclose(signed_products(linked, weight), X.T @ inconsistency @ X, atol=1e-12)
    np.testing.assert_allclose(signed_products(linked, weight), form_matrix(X, inconsistency, "projection"), atol=1e-12)
    for kind in ("projection", "difference"):
        found = Representation(kind, identity=0.1).directions(linked, weight).matrix
        root = positive_root(form_matrix(X, inconsistency, kind), 0.1)
        np.testing.assert_allclose(found @ found.T, root @ root, atol=1e-10)
    found = Representation("ridged", 0.3, 0.5).directions(linked, weight).matrix
    expected = metric_matrix(X, linked.pairs[linked.is_must], linked.pairs[~linked.is_must], must, cannot, 0.3, 0.5)
    np.testing.assert_allclose(found @ found.T, expected, atol=1e-9)


def test_links_keep_their_order_in_the_graph_and_are_numbered_in_space() -> None:
    rng = np.random.RandomState(0)
    links = Constraints.sample(rng.randint(0, 3, 30), 40, random_state=0)
    where = rng.uniform(size=(30, 2))
    found = LinkSet.of(links, where)
    assert (found.as_given(found.place.astype(float)) == np.arange(len(links))).all()
    assert (np.diff(where[found.rows, 0]) > 0).all()
    graph = found.graph()
    np.testing.assert_array_equal(np.sort(found.rows[graph.pairs], axis=1), found.pairs)
    assert (graph.sign > 0).tolist() == found.is_must.tolist()
    np.testing.assert_allclose(graph.weight, found.weight)


# ---- many features -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize(("n", "d", "m"), [(40, 6, 30), (40, 12, 6), (40, 30, 10), (20, 50, 6), (8, 30, 20)])
@pytest.mark.parametrize("container", [np.asarray, csr_array])
def test_the_split_gives_the_same_representation(
    container: Callable[..., Any],
    n: int,
    d: int,
    m: int,
    standardize: bool,
    kind: Kind,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.RandomState(n + d + m)
    X = rng.standard_normal((n, d)) * (rng.uniform(size=(n, d)) < 0.6) + 0.0
    links = Constraints.sample(rng.randint(0, 2, n), n_pairs=m, random_state=0)
    identity = 0.0 if kind == "projection" else 0.1
    representation = Representation(kind, 1.0, identity if kind != "ridged" else 1.0)

    def gram(table: Any) -> tuple[np.ndarray, np.ndarray]:
        coordinates = make_coordinates(
            table,
            links,
            standardize=standardize,
            points=kind == "projection",
            needs_rest=kind != "projection",
            joint=kind == "whitened",
        )
        linked = coordinates.place_links(links, with_covariance=kind == "whitened")
        directions = representation.directions(linked, linked.weight)
        rows = coordinates.represent(directions)
        again = coordinates.of_rows(table).represent(directions)
        centered = rows - rows.mean(axis=0) if kind != "projection" else rows
        np.testing.assert_allclose(rows, again, atol=1e-8)
        return centered @ centered.T, rows

    expected, _ = gram(X)
    monkeypatch.setattr(_coordinates, "MAX_UNSPLIT", 0)
    monkeypatch.setattr(_coordinates, "is_direct_cheaper", lambda *_: False)
    found, _ = gram(container(X))
    np.testing.assert_allclose(found, expected, atol=1e-7 * np.abs(expected).max())


def test_the_cheaper_way_is_chosen() -> None:
    assert _coordinates.is_direct_cheaper(1000, 150, 800, True, False)
    assert not _coordinates.is_direct_cheaper(1000, 5000, 100, False, False)
    assert not _coordinates.is_direct_cheaper(3000, 2000, 50, True, False)
    assert not _coordinates.is_direct_cheaper(20_000, 100_000, 500, True, True)


def test_a_large_sparse_table_is_never_written_out() -> None:
    rng = np.random.RandomState(0)
    n, d = 300, 20_000
    topic = rng.randint(0, 3, n)
    columns = (rng.randint(0, 2000, (n, 40)) * 3 + topic[:, None] * (rng.uniform(size=(n, 40)) < 0.3)) * 10
    X = csr_array((np.ones(n * 40), columns.ravel() % d, np.arange(0, n * 40 + 1, 40)), shape=(n, d))
    X.toarray = X.todense = lambda *_, **__: pytest.fail("the table was written out")  # type: ignore[method-assign]
    links = Constraints.sample(topic, 60, random_state=0)
    for kind in ("robust", "difference"):
        model = make_model(kind, n_clusters=3, n_rounds=4, scale=False, random_state=0)
        model.fit(X, constraints=links)
        assert model.n_clusters_ == 3
        assert model.predict(X[:7]).shape == (7,)


@pytest.mark.parametrize("kind", ["robust", "ridged"])
@pytest.mark.parametrize("fitted", [np.asarray, csr_array])
def test_new_rows_may_be_sparse_or_not(kind: str, fitted: Any) -> None:
    X, y = load_iris(return_X_y=True)
    links = Constraints.sample(y, 60, random_state=0)
    model = make_model(kind, n_clusters=3, n_rounds=4, random_state=0).fit(fitted(X), constraints=links)
    expected = model.predict(fitted(X))
    for container in (np.asarray, csr_array, csc_array):
        assert model.predict(container(X)).tolist() == expected.tolist()


@pytest.mark.parametrize("n_links", [0, 60])
@pytest.mark.parametrize("kind", ["robust", "ridged"])
def test_new_rows_may_have_another_precision(kind: str, n_links: int) -> None:
    X, y = load_iris(return_X_y=True)
    # Exact in every precision.
    X = np.round(X * 8)
    links = Constraints.sample(y, n_links, random_state=0) if n_links else None
    for fitted in (np.float64, np.float32):
        model = make_model(kind, n_clusters=3, n_rounds=3, random_state=0).fit(X.astype(fitted), constraints=links)
        expected = model.predict(X.astype(fitted)).tolist()
        for dtype in (np.float64, np.float32, np.float16, np.int64):
            assert model.predict(X.astype(dtype)).tolist() == expected


def test_too_many_sparse_rows_are_not_made_dense(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = load_iris(return_X_y=True)
    model = make_model("ridged", n_clusters=3, n_rounds=2).fit(X, constraints=Constraints.sample(y, 9, random_state=0))
    monkeypatch.setattr(_base, "MAX_DENSE_ENTRIES", 599)
    with pytest.raises(TooLargeError, match=r"150 x 4 numbers.*predict some of the rows at a time"):
        model.predict(csr_array(X))
    assert model.predict(csr_array(X[:149])).shape == (149,)


def test_n_components_caps_the_columns() -> None:
    X, y = load_wine(return_X_y=True)
    widths = []

    def spy(table: np.ndarray) -> np.ndarray:
        widths.append(table.shape[1])
        return KMeans(3, n_init=1, random_state=0).fit_predict(table)

    BoostCluster(spy, 3, n_components=4).fit(X, constraints=Constraints.sample(y, 60, random_state=0))
    assert widths
    assert max(widths) == 4


@pytest.mark.parametrize("shape", [(60, 200), (300, 200)])
def test_n_components_takes_the_largest_eigenvalues_in_the_split(shape: tuple[int, int]) -> None:
    X = np.random.RandomState(0).standard_normal(shape) * np.linspace(3, 0.1, shape[1])
    links = Constraints.sample(np.arange(shape[0]) % 2, 10, random_state=0)
    coordinates = make_coordinates(X, links, standardize=False, points=False, needs_rest=True, n_components=15)
    assert coordinates.bases
    linked = coordinates.place_links(links)
    directions = Representation("difference").directions(linked, linked.weight)
    rows = coordinates.represent(directions)
    above = int((directions.values >= directions.rest_value).sum())
    assert rows.shape[1] == 15
    assert 0 < above < 15
    np.testing.assert_allclose(rows[:, :above], coordinates.linked @ directions.matrix[:, :above])


# ---- what must not matter ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["difference", "whitened", "ridged"])
@pytest.mark.parametrize("scale", [False, True])
def test_translation_changes_nothing(kind: str, scale: bool) -> None:
    X, y = load_iris(return_X_y=True)
    links = Constraints.sample(y, 80, random_state=1)
    model = make_model(kind, AgglomerativeClustering(), 3, scale=scale, n_rounds=8)
    here = model.fit(X, constraints=links)
    labels, objective = here.labels_, here.objective_
    there = model.fit(X + np.array([1000.0, -300.0, 5.0, 40.0]), constraints=links)
    assert there.labels_.tolist() == labels.tolist()
    np.testing.assert_allclose(there.objective_, objective, rtol=1e-6)


@pytest.mark.parametrize("kind", ALL)
def test_permuting_rows_and_links_permutes_the_result(kind: str) -> None:
    X, y = load_wine(return_X_y=True)
    links = Constraints.sample(y, 60, noise=0.1, random_state=2)
    model = make_model(kind, AgglomerativeClustering(), 3, n_rounds=8, random_state=0)
    expected = model.fit(X, constraints=links).labels_
    trust = dict(zip(map(tuple, links.pairs), getattr(model, "trust_", np.ones(len(links))), strict=True))
    order = np.random.RandomState(0).permutation(len(X))
    place = np.argsort(order)
    moved = Constraints(place[links.must_link], place[links.cannot_link])
    model.fit(X[order], constraints=moved)
    assert adjusted_rand_score(model.labels_, expected[order]) == 1.0
    pairs = np.sort(order[moved.pairs], axis=1)
    for pair, found in zip(map(tuple, pairs), getattr(model, "trust_", np.ones(len(links))), strict=True):
        assert found == pytest.approx(trust[pair], abs=1e-9)


@pytest.mark.parametrize("kind", ["robust", "difference"])
def test_only_proportions_of_weights_matter(kind: str) -> None:
    X, y = load_iris(return_X_y=True)
    links = Constraints.sample(y, 60, random_state=2)
    heavy = Constraints(links.must_link, links.cannot_link, must_link_weight=8.0, cannot_link_weight=8.0)
    model = make_model(kind, n_clusters=3, n_rounds=5, random_state=0)
    assert (model.fit(X, constraints=links).labels_ == model.fit(X, constraints=heavy).labels_).all()


# ---- links of every kind -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("clusterer", [BoostCluster, RobustBoostCluster])
@pytest.mark.parametrize("scale", [False, True])
def test_without_links_the_result_is_the_base_alone(scale: bool, clusterer: type) -> None:
    X, _ = load_wine(return_X_y=True)
    model = clusterer(AgglomerativeClustering(3), scale=scale).fit(X)
    table = StandardScaler().fit_transform(X) if scale else X
    expected = AgglomerativeClustering(3).fit_predict(table)
    assert model.labels_.tolist() == expected.tolist()
    assert model.is_plain_
    assert (model.n_iter_, model.objective_, model.suspects_, model.history_) == (0, [], [], [])
    assert model.violations_.is_empty


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("kept", ["must", "cannot", "one must", "one cannot"])
def test_one_kind_of_link_and_one_link_work(kind: str, kept: str) -> None:
    X, y = load_iris(return_X_y=True)
    links = Constraints.sample(y, 60, random_state=0)
    count = 1 if kept.startswith("one") else None
    links = (
        Constraints(must_link=links.must_link[:count])
        if kept.endswith("must")
        else Constraints(cannot_link=links.cannot_link[:count])
    )
    model = make_model(kind, n_clusters=3, n_rounds=6, random_state=0).fit(X, constraints=links)
    assert model.n_clusters_ == 3
    assert np.isfinite(model.objective_).all()
    if kind == "robust":
        assert np.isfinite(model.trust_).all()
    if count is None:
        assert adjusted_rand_score(y, model.labels_) > 0.4


@pytest.mark.parametrize("kind", ALL)
def test_contradictory_links_give_a_result(kind: str) -> None:
    X, _ = make_blobs(40, 3, centers=3, random_state=0)
    links = Constraints(must_link=[(0, 1), (1, 2), (3, 4)], cannot_link=[(0, 2), (4, 5), (3, 5)])
    model = make_model(kind, n_clusters=3, n_rounds=5, random_state=0).fit(X, constraints=links)
    assert len(model.violations_) >= 1
    assert model.violations_ == links.violations(model.labels_)


def test_links_are_followed_where_the_base_alone_fails() -> None:
    rng = np.random.RandomState(0)
    y, other = np.arange(200) % 2, rng.randint(0, 2, 200)
    X = np.column_stack([y, other, other, other]) + 0.1 * rng.standard_normal((200, 4))
    links = Constraints.sample(y, 60, random_state=0)
    alone = KMeans(2, n_init=3, random_state=0).fit_predict(StandardScaler().fit_transform(X))
    assert adjusted_rand_score(y, alone) < 0.2
    for kind in ALL:
        model = make_model(kind, n_clusters=2, random_state=0).fit(X, constraints=links)
        assert adjusted_rand_score(y, model.labels_) > 0.95, kind


# ---- bases ---------------------------------------------------------------------------------------------------------


class HalvesWithoutPredict(ClusterMixin, BaseEstimator):
    """A clusterer that has fit and labels_ only."""

    def fit(self, X: np.ndarray, y: object = None) -> HalvesWithoutPredict:
        self.labels_ = sign_of_first_column(X)
        return self


@pytest.mark.parametrize("kind", ["robust", "difference"])
@pytest.mark.parametrize(
    ("base", "n_clusters"),
    [
        (KMeans(n_init=1), 3),
        (MiniBatchKMeans(n_init=1), 3),
        (AgglomerativeClustering(), 3),
        (SpectralClustering(), 3),
        (GaussianMixture(), 3),
        (Birch(threshold=0.1), 3),
        (HDBSCAN(copy=True), None),
        (AffinityPropagation(), None),
        (DBSCAN(eps=2.0), None),
        (make_pipeline(PCA(2), KMeans(n_init=1)), 3),
        (sign_of_first_column, None),
        (HalvesWithoutPredict(), None),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_any_base_can_be_boosted(base: Any, n_clusters: int | None, kind: str) -> None:
    X, y = load_wine(return_X_y=True)
    X, y = X[::3], y[::3]
    links = Constraints.sample(y, 40, random_state=0)
    model = make_model(kind, base, n_clusters, n_rounds=4, n_trials=2, random_state=0)
    model.fit(X, constraints=links)
    if n_clusters is not None:
        assert model.n_clusters_ == n_clusters
        assert adjusted_rand_score(y, model.labels_) > 0.6
    assert set(model.labels_) <= {-1, *range(model.n_clusters_)}
    free = np.setdiff1d(np.arange(len(X)), links.constrained_rows())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # affinity propagation warns when it has not converged
        assert (model.predict(X) == model.labels_)[free].mean() > 0.8


def test_the_number_of_clusters_is_the_base_s_own_unless_given() -> None:
    X, y = load_iris(return_X_y=True)
    links = Constraints.sample(y, 30, random_state=0)
    settings_ = {"n_rounds": 2, "random_state": 0}
    assert BoostCluster(KMeans(4, n_init=1), **settings_).fit(X, constraints=links).n_clusters_ == 4
    assert BoostCluster(KMeans(4, n_init=1), 5, **settings_).fit(X, constraints=links).n_clusters_ == 5
    assert BoostCluster(GaussianMixture(2), 3, **settings_).fit(X).n_clusters_ == 3
    assert BoostCluster(**settings_).fit(X).n_clusters_ == 8
    threshold = AgglomerativeClustering(None, distance_threshold=10.0)
    assert BoostCluster(threshold, **settings_).fit(X, constraints=links).n_clusters_ >= 1


def test_seeds_come_from_random_state_and_reach_nested_bases() -> None:
    X, y = load_iris(return_X_y=True)
    links = Constraints.sample(y, 30, random_state=0)
    seen = []

    class Spy(KMeans):
        def fit(self, X: np.ndarray, y: object = None, sample_weight: object = None) -> Spy:
            seen.append(self.random_state)
            return super().fit(X, y, sample_weight)

    model = BoostCluster(
        make_pipeline(PCA(2), Spy(3, n_init=1)), representation="difference", n_rounds=5, random_state=0
    )
    first = model.fit(X, constraints=links).labels_
    once = list(seen)
    assert len(set(once)) == 5
    seen.clear()
    assert (model.fit(X, constraints=links).labels_ == first).all()
    assert seen == once


def test_noise_is_apart_from_everything() -> None:
    X = np.arange(6.0)[:, None]
    links = Constraints(must_link=[(0, 1)], cannot_link=[(2, 3)])

    def all_noise(table: np.ndarray) -> np.ndarray:
        return np.full(len(table), -1)

    model = BoostCluster(all_noise, representation="difference").fit(X, constraints=links)
    assert model.history_[0]["must_apart"] == 1.0
    assert model.history_[0]["cannot_together"] == 0.0
    assert model.labels_.tolist() == [-1] * 6
    assert model.n_clusters_ == 0
    assert model.predict(X).tolist() == [-1] * 6


# ---- rounds --------------------------------------------------------------------------------------------------------


def test_a_deterministic_base_that_repeats_itself_ends_the_rounds() -> None:
    X, y = load_iris(return_X_y=True)
    links = Constraints.sample(y, 40, random_state=0)
    calls = []

    def one_cluster(table: np.ndarray) -> np.ndarray:
        calls.append(len(table))
        return np.zeros(len(table), dtype=int)

    model = BoostCluster(one_cluster, 1, representation="difference", n_rounds=1000).fit(X, constraints=links)
    assert len(calls) <= 3
    assert model.is_plain_
    assert (model.labels_ == 0).all()


@pytest.mark.parametrize(("on_bad_round", "n_rounds"), [("reweight", 6), ("skip", 6), ("stop", 1)])
def test_bad_rounds_are_left_out_of_the_result(on_bad_round: str, n_rounds: int) -> None:
    X, y = load_iris(return_X_y=True)
    links = Constraints.sample(y, 60, random_state=0)
    turn = [0]

    def sometimes_wrong(table: np.ndarray) -> np.ndarray:
        turn[0] += 1
        good = turn[0] % 3 == 0
        return y if good else np.arange(len(y)) % (2 + turn[0])

    model = BoostCluster(sometimes_wrong, 3, representation="difference", n_rounds=6, on_bad_round=on_bad_round)
    model.fit(X, constraints=links)
    counted = [report["counted"] for report in model.history_]
    assert counted == [alpha > 0 for alpha in model.alphas_]
    assert len(counted) == n_rounds
    assert model.coassociation_.n_rounds == max(1, sum(counted))
    start = (len(links) / 2) ** 2
    objectives = np.array([start, *model.objective_])
    changed = (~np.isclose(objectives[1:], objectives[:-1], rtol=1e-12)).tolist()
    if on_bad_round == "reweight":
        assert all(changed)
    else:
        assert changed == counted


def test_suspects_are_the_heaviest_links() -> None:
    X, y = make_blobs(120, 4, centers=3, cluster_std=0.5, random_state=0)
    links = Constraints.sample(y, 80, random_state=0)
    a, b = np.flatnonzero(y == 0)[0], np.flatnonzero(y == 1)[0]
    wrong = links + Constraints(must_link=[(a, b)])
    model = BoostCluster(n_clusters=3, random_state=0).fit(X, constraints=wrong)
    worst = model.suspects_[0]
    assert (worst.a, worst.b, worst.link) == (min(a, b), max(a, b), "must")
    weights = [suspect.weight for suspect in model.suspects_]
    assert weights == sorted(weights, reverse=True)
    assert min(weights) > 1
    assert all(suspect.trust is None for suspect in model.suspects_)


# ---- the paper's variant, and other last steps ---------------------------------------------------------------------


def test_published_takes_large_numbers_in_single_precision() -> None:
    X, y = load_iris(return_X_y=True)
    links = Constraints.sample(y, 40, random_state=0)
    model = BoostCluster(KMeans(n_init=1), 3, representation="published", n_rounds=3, random_state=0)
    expected = model.fit(X.astype(np.float32), constraints=links).labels_
    # Fourth powers of these overflow.
    found = model.fit(np.ldexp(X.astype(np.float32), 34), constraints=links).labels_
    np.testing.assert_array_equal(found, expected)


class Elsewhere(KMeans):
    """Predicts a cluster without rows, as k-means may where two of its centers are at one place."""

    def predict(self, X: np.ndarray) -> np.ndarray:
        return np.full(len(X), self.n_clusters)


@pytest.mark.parametrize("consensus", ["base", "eigenvectors"])
def test_a_row_predicted_into_an_empty_cluster_gets_that_of_the_nearest_row(consensus: str) -> None:
    X, y = load_iris(return_X_y=True)
    links = Constraints.sample(y, 40, random_state=0)
    model = BoostCluster(Elsewhere(n_init=1), 3, consensus=consensus, n_rounds=3, random_state=0)
    assert set(model.fit(X, constraints=links).predict(X)) <= set(model.labels_)


def test_published_takes_the_paper_s_steps() -> None:
    X, y = load_iris(return_X_y=True)
    links = Constraints.sample(y, 100, random_state=0)
    tables = []

    class Spy(KMeans):
        def fit(self, X: np.ndarray, y: object = None, sample_weight: object = None) -> Spy:
            tables.append(np.array(X))
            return super().fit(X, y, sample_weight)

    model = BoostCluster(Spy(n_init=1), 3, representation="published", n_components=2, n_rounds=4, random_state=0)
    model.fit(X, constraints=links)
    # The first round sees X T X' with uniform weights, on the features as they are.
    inconsistency = dense_inconsistency(np.zeros((150, 150)), *parts_of(links))
    values, vectors = np.linalg.eigh(X.T @ inconsistency @ X)
    expected = X @ (vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0)))
    expected = expected[:, values[-2:] > 0]
    np.testing.assert_allclose(np.abs(tables[0]), np.abs(expected[:, ::-1]), atol=1e-8)
    # The last run is on the first s + 1 eigenvectors of the co-association, each of length one.
    assert tables[-1].shape[1] <= 3
    np.testing.assert_allclose((tables[-1] ** 2).sum(axis=0), 1.0)
    kernel = model.coassociation_.toarray()
    products = kernel @ tables[-1]
    np.testing.assert_allclose(products, tables[-1] * (tables[-1] * products).sum(axis=0), atol=1e-7)


@pytest.mark.parametrize("consensus", ["codes", "eigenvectors", "base"])
@pytest.mark.parametrize("base", [KMeans(n_init=1), AgglomerativeClustering()], ids=["kmeans", "agglomerative"])
def test_every_consensus_clusters_and_predicts(consensus: str, base: Any) -> None:
    X, y = load_wine(return_X_y=True)
    links = Constraints.sample(y, 60, random_state=0)
    model = BoostCluster(base, 3, representation="difference", consensus=consensus, n_rounds=6, random_state=0)
    model.fit(X, constraints=links)
    assert adjusted_rand_score(y, model.labels_) > 0.75
    assert adjusted_rand_score(model.predict(X), model.labels_) > 0.9


# ---- new rows ------------------------------------------------------------------------------------------------------


def test_predict_labels_new_rows_like_their_neighbors() -> None:
    X, y = make_blobs(300, 5, centers=3, cluster_std=0.5, random_state=0)
    links = Constraints.sample(y[:200], 60, random_state=0)
    for base in (None, AgglomerativeClustering()):
        model = RobustBoostCluster(base, 3, n_rounds=5, n_trials=2, random_state=0).fit(X[:200], constraints=links)
        both = np.concatenate([model.labels_, model.predict(X[200:])])
        assert adjusted_rand_score(y, both) == 1.0
        again = pickle.loads(pickle.dumps(model))
        assert (again.predict(X[200:]) == both[200:]).all()


@pytest.mark.parametrize("shape", [(150, 6), (60, 300)])
def test_representation_is_what_the_base_was_given(shape: tuple[int, int]) -> None:
    X = np.random.RandomState(0).standard_normal(shape)
    links = Constraints.sample(np.arange(shape[0]) % 3, 20, random_state=0)
    tables = []

    def spy(table: np.ndarray) -> np.ndarray:
        tables.append(table)
        return KMeans(3, n_init=1, random_state=len(tables)).fit_predict(table)

    model = BoostCluster(spy, 3, n_rounds=3).fit(X, constraints=links)
    for number in range(1, model.n_iter_ + 1):
        np.testing.assert_allclose(model.represent(X, number), tables[number - 1], atol=1e-8)
    with pytest.raises(ValueError, match="between 1 and the 3 rounds"):
        model.represent(X, 4)


def test_a_fitted_model_holds_no_table_if_the_base_predicts() -> None:
    X, y = make_blobs(2000, 50, centers=3, random_state=0)
    links = Constraints.sample(y, 40, random_state=0)
    model = BoostCluster(MiniBatchKMeans(n_init=1), 3, n_rounds=2, random_state=0)
    model.fit(X, constraints=links)
    assert len(pickle.dumps(model)) < X.nbytes / 4


# ---- bad input -----------------------------------------------------------------------------------------------------


def test_an_error_of_the_base_names_the_round() -> None:
    X, y = load_iris(return_X_y=True)
    links = Constraints.sample(y, 40, random_state=0)
    calls = [0]

    def fails_at_seven(table: np.ndarray) -> np.ndarray:
        calls[0] += 1
        if calls[0] == 7:
            raise KeyError("out of luck")
        return KMeans(3, n_init=1, random_state=calls[0]).fit_predict(table)

    with pytest.raises(RuntimeError, match=r"fails_at_seven failed in round 7 of 25.*150 rows.*out of luck") as caught:
        BoostCluster(fails_at_seven, 3, representation="difference").fit(X, constraints=links)
    assert isinstance(caught.value.__cause__, KeyError)
    calls[0] = 0
    with pytest.raises(RuntimeError, match="in a trial of a representation"):
        RobustBoostCluster(fails_at_seven, 3).fit(X, constraints=links)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.zeros(3), "150 labels"),
        (np.zeros((150, 1)), "150 labels"),
        (np.full(150, 0.5), "whole numbers"),
        (np.full(150, np.nan), "NaN"),
        (np.full(150, "a"), "integers"),
    ],
)
def test_invalid_labels_are_refused(labels: np.ndarray, message: str) -> None:
    X, y = load_iris(return_X_y=True)
    links = Constraints.sample(y, 40, random_state=0)
    with pytest.raises(RuntimeError, match=rf"round 1 of 25.*{message}"):
        BoostCluster(lambda table: labels, 3, representation="difference").fit(X, constraints=links)


@pytest.mark.parametrize("base", [3, "kmeans", KMeans])
def test_what_is_no_clusterer_is_refused(base: Any) -> None:
    with pytest.raises(TypeError, match="estimator must be a clusterer"):
        BoostCluster(base).fit(np.eye(10))


@pytest.mark.filterwarnings("ignore:.*clusters were asked for:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("scale", [False, True])
def test_constant_features_and_a_constant_table_give_a_result(kind: str, scale: bool) -> None:
    X, y = load_iris(return_X_y=True)
    links = Constraints.sample(y, 40, random_state=0)
    model = make_model(kind, n_clusters=3, scale=scale, n_rounds=4, random_state=0)
    with_constants = np.column_stack([X, np.full(150, 0.1), np.zeros(150)])
    assert model.fit(with_constants, constraints=links).n_clusters_ == 3
    nothing = model.fit(np.full((150, 2), 7.3), constraints=links)
    assert np.isfinite(nothing.objective_).all()
    assert nothing.labels_.min() >= 0


@pytest.mark.parametrize("kind", ALL)
def test_more_features_than_rows_give_a_result(kind: str) -> None:
    rng = np.random.RandomState(0)
    y = np.arange(30) % 2
    X = rng.standard_normal((30, 500)) + 3 * y[:, None] * (np.arange(500) < 20)
    links = Constraints.sample(y, 30, random_state=0)
    model = make_model(kind, n_clusters=2, random_state=0).fit(X, constraints=links)
    assert adjusted_rand_score(y, model.labels_) > 0.4
    assert model.predict(X[:4]).shape == (4,)


@pytest.mark.filterwarnings("ignore:.*clusters were asked for:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("links", [Constraints([(0, 1)]), Constraints(None, [(0, 1)])])
@pytest.mark.parametrize("n_clusters", [1, 2])
def test_two_rows_give_a_result(kind: str, links: Constraints, n_clusters: int) -> None:
    model = make_model(kind, n_clusters=n_clusters, n_rounds=4, random_state=0)
    model.fit([[0.0, 1.0], [2.0, 3.0]], constraints=links)
    assert len(model.labels_) == 2
    assert np.isfinite(model.objective_).all()


@pytest.mark.parametrize(
    ("clusterer", "parameters", "message"),
    [
        (BoostCluster, {"n_clusters": 0}, "n_clusters"),
        (BoostCluster, {"representation": "cosine"}, "representation"),
        (BoostCluster, {"learning_rate": 0}, "learning_rate"),
        (BoostCluster, {"consensus": "kmeans"}, "consensus"),
        (BoostCluster, {"on_bad_round": "ignore"}, "on_bad_round"),
        (BoostCluster, {"n_clusters": 11}, "n_samples=10 should be >= n_clusters=11"),
        (RobustBoostCluster, {"n_clusters": 11}, "n_samples=10 should be >= n_clusters=11"),
        (RobustBoostCluster, {"learning_rate": 0}, "learning_rate"),
        (RobustBoostCluster, {"max_error": 0.5}, "max_error"),
        (RobustBoostCluster, {"representations": [(1.0, 2.0, 3.0)]}, "pairs"),
        (RobustBoostCluster, {"representations": [(0.0, 1.0)]}, "positive"),
    ],
)
def test_bad_parameters_are_refused(clusterer: type, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        clusterer(**parameters).fit(np.eye(10), constraints=Constraints([(0, 1)], [(2, 3)]))


def test_labels_of_every_row_are_the_truth_and_no_links() -> None:
    X, y = load_iris(return_X_y=True)
    assert BoostCluster(n_clusters=3, random_state=0).fit(X, y).is_plain_


def test_progress_is_shown_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = load_iris(return_X_y=True)
    links = Constraints.sample(y, 20, random_state=0)
    for clusterer in (BoostCluster, RobustBoostCluster):
        clusterer(n_clusters=3, n_rounds=2, random_state=0, verbose=1).fit(X, constraints=links)
        assert clusterer.__name__ in capsys.readouterr().out
    BoostCluster(n_clusters=3, n_rounds=2, random_state=0).fit(X, constraints=links)
    assert capsys.readouterr().out == ""
