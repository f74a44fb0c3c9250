"""What the k-means clusterers have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from mustlink import Constraints, COPKMeans, PCKMeans, SeededKMeans, _rows
from reference.lloyd import lloyd

CLUSTERERS = [COPKMeans, PCKMeans, SeededKMeans]
STARTED = [COPKMeans, PCKMeans]
X, Y = make_blobs(150, n_features=3, centers=4, cluster_std=2.5, random_state=7)
LINKS = Constraints.sample(Y, n_pairs=40, random_state=3)

every_clusterer = pytest.mark.parametrize("clusterer", CLUSTERERS)


# ---- without links it is Lloyd's algorithm


@pytest.mark.parametrize("clusterer", STARTED)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("max_iter", [1, 3, 300])
def test_without_links_it_is_scikit_learns_k_means(clusterer: Any, dtype: Any, max_iter: int) -> None:
    rng = np.random.RandomState(max_iter)
    for seed in range(5):
        table = (rng.normal(size=(200, 4)) + 50).astype(dtype)
        init = table[rng.permutation(200)[:6]]
        ours = clusterer(6, init=init, tol=0, max_iter=max_iter).fit(table)
        theirs = KMeans(6, init=init, n_init=1, tol=0, max_iter=max_iter).fit(table)
        np.testing.assert_array_equal(ours.labels_, theirs.labels_, err_msg=str(seed))
        np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, rtol=1e-5)
        assert ours.n_iter_ == theirs.n_iter_
        assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-4)


@pytest.mark.parametrize("clusterer", STARTED)
def test_without_links_it_is_the_slow_lloyd(clusterer: Any) -> None:
    rng = np.random.RandomState(0)
    weight = rng.uniform(0.1, 3, size=60)
    table = rng.normal(size=(60, 2))
    labels, centers = lloyd(table, table[:5], weight)
    model = clusterer(5, init=table[:5], tol=0).fit(table, sample_weight=weight)
    np.testing.assert_array_equal(model.labels_, labels)
    np.testing.assert_allclose(model.cluster_centers_, centers)
    np.testing.assert_array_equal(model.predict(table), model.labels_)


@pytest.mark.parametrize("clusterer", STARTED)
def test_without_links_empty_clusters_are_filled_as_by_scikit_learn(clusterer: Any) -> None:
    table = np.array([[0.0], [0.5], [1.0], [10.0], [11.0], [30.0]])
    init = np.array([[0.5], [10.0], [500.0], [1000.0]])
    ours = clusterer(4, init=init, tol=0).fit(table)
    theirs = KMeans(4, init=init, n_init=1, tol=0).fit(table)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    assert len(set(ours.labels_)) == 4


# ---- weights, containers, precision, numbering


@every_clusterer
def test_weights_count_like_copies_of_rows_without_links(clusterer: Any) -> None:
    rng = np.random.RandomState(1)
    copies = rng.randint(1, 4, size=150)
    copies[LINKS.constrained_rows()] = 1
    model = clusterer(4, random_state=0).fit(X, constraints=LINKS, sample_weight=copies)
    extra = np.repeat(np.arange(150), copies - 1)
    repeated = clusterer(4, random_state=0).fit(np.vstack([X, X[extra]]), constraints=LINKS)
    np.testing.assert_array_equal(model.labels_, repeated.labels_[:150])
    np.testing.assert_array_equal(model.labels_[extra], repeated.labels_[150:])
    np.testing.assert_allclose(model.cluster_centers_, repeated.cluster_centers_)
    assert model.inertia_ == pytest.approx(repeated.inertia_)


def test_weights_count_like_must_linked_copies() -> None:
    copies = np.random.RandomState(1).randint(1, 4, size=150)
    extra = np.repeat(np.arange(150), copies - 1)
    joined = np.column_stack([extra, 150 + np.arange(len(extra))])
    model = COPKMeans(4, init=X[:4]).fit(X, constraints=LINKS, sample_weight=copies)
    same = COPKMeans(4, init=X[:4]).fit(np.vstack([X, X[extra]]), constraints=LINKS + Constraints(joined))
    np.testing.assert_array_equal(model.labels_, same.labels_[:150])
    np.testing.assert_allclose(model.cluster_centers_, same.cluster_centers_)


@every_clusterer
@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_sparse_equals_dense(clusterer: Any, form: Any) -> None:
    table = np.where(np.abs(X) < 3, 0.0, X)
    dense = clusterer(4, random_state=0).fit(table, constraints=LINKS)
    thin = clusterer(4, random_state=0).fit(form(table), constraints=LINKS)
    np.testing.assert_array_equal(dense.labels_, thin.labels_)
    np.testing.assert_allclose(dense.cluster_centers_, thin.cluster_centers_)
    np.testing.assert_allclose(dense.objective_, thin.objective_)
    np.testing.assert_array_equal(dense.predict(table), thin.predict(form(table)))
    np.testing.assert_allclose(dense.transform(table), thin.transform(form(table)), atol=1e-6)
    assert dense.score(table) == pytest.approx(thin.score(form(table)))


@every_clusterer
def test_float32_stays_float32(clusterer: Any) -> None:
    table = X.astype(np.float32)
    model = clusterer(4, random_state=0).fit(table, constraints=LINKS)
    assert model.cluster_centers_.dtype == np.float32
    assert model.transform(table).dtype == np.float32
    np.testing.assert_array_equal(model.labels_, clusterer(4, random_state=0).fit(X, constraints=LINKS).labels_)
    assert np.all(np.diff(model.objective_) <= 1e-6 * model.objective_[0])


@every_clusterer
@pytest.mark.parametrize("dtype", [int, np.float16, bool])
def test_other_numbers_become_floats(clusterer: Any, dtype: Any) -> None:
    table = np.round(X).astype(dtype)
    model = clusterer(2, random_state=0).fit(table)
    np.testing.assert_array_equal(model.labels_, clusterer(2, random_state=0).fit(table.astype(float)).labels_)


@every_clusterer
def test_read_only_and_fortran_order(clusterer: Any) -> None:
    expected = clusterer(4, random_state=0).fit(X, constraints=LINKS).labels_
    frozen = X.copy()
    frozen.flags.writeable = False
    weight = np.ones(150)
    weight.flags.writeable = False
    init = clusterer(4, random_state=0).fit(frozen, constraints=LINKS, sample_weight=weight)
    np.testing.assert_array_equal(init.labels_, expected)
    columns = clusterer(4, random_state=0).fit(np.asfortranarray(X), constraints=LINKS)
    np.testing.assert_array_equal(columns.labels_, expected)


@every_clusterer
@pytest.mark.parametrize("seed", range(3))
def test_renumbering_the_rows_renumbers_the_labels(clusterer: Any, seed: int) -> None:
    order = np.random.RandomState(seed).permutation(150)
    place = np.argsort(order)
    moved = Constraints(place[LINKS.must_link], place[LINKS.cannot_link])
    starts = [{}] if clusterer is SeededKMeans else [{}, {"init": X[:4]}, {"init": "random", "n_init": 1}]
    for start in starts:
        model = clusterer(4, random_state=seed, **start).fit(X, constraints=LINKS)
        same = clusterer(4, random_state=seed, **start).fit(X[order], constraints=moved)
        np.testing.assert_array_equal(same.labels_, model.labels_[order])


@every_clusterer
def test_results_do_not_depend_on_the_number_of_threads(clusterer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_rows, "MIN_ROWS_PER_THREAD", 20)
    models = []
    for n_threads in (1, 3):
        monkeypatch.setattr(_rows, "n_threads", lambda n_threads=n_threads: n_threads)
        models.append(clusterer(4, random_state=0).fit(X, constraints=LINKS))
    np.testing.assert_array_equal(models[0].labels_, models[1].labels_)
    np.testing.assert_array_equal(models[0].cluster_centers_, models[1].cluster_centers_)
    assert models[0].objective_ == models[1].objective_


# ---- prediction


@every_clusterer
def test_predict_transform_and_score(clusterer: Any) -> None:
    model = clusterer(4, random_state=0).fit(X, constraints=LINKS)
    new = X[:30] + 0.5
    distance = np.sqrt(np.square(new[:, None] - model.cluster_centers_[None]).sum(axis=2))
    np.testing.assert_allclose(model.transform(new), distance)
    np.testing.assert_array_equal(model.predict(new), distance.argmin(axis=1))
    weight = np.arange(30.0)
    assert model.score(new, sample_weight=weight) == pytest.approx(-weight @ np.square(distance.min(axis=1)))
    np.testing.assert_allclose(model.fit_transform(X, constraints=LINKS), model.transform(X))
    np.testing.assert_array_equal(model.fit_predict(X, constraints=LINKS, sample_weight=np.ones(150)), model.labels_)
    names = [f"{clusterer.__name__.lower()}{c}" for c in range(4)]
    assert model.get_feature_names_out().tolist() == names


@every_clusterer
def test_progress_is_shown_on_request(clusterer: Any, capsys: pytest.CaptureFixture[str]) -> None:
    clusterer(4, random_state=0).fit(X)
    assert capsys.readouterr().out == ""
    clusterer(4, random_state=0, verbose=1).fit(X)
    assert clusterer.__name__ in capsys.readouterr().out


# ---- labels instead of links


@pytest.mark.parametrize("clusterer", STARTED)
def test_partial_labels_are_links(clusterer: Any) -> None:
    y = np.where(np.arange(150) % 10 == 0, Y, -1)
    by_labels = clusterer(4, random_state=0).fit(X, y)
    by_links = clusterer(4, random_state=0).fit(X, constraints=Constraints.from_labels(y))
    np.testing.assert_array_equal(by_labels.labels_, by_links.labels_)


@every_clusterer
def test_labels_of_all_rows_are_ignored(clusterer: Any) -> None:
    np.testing.assert_array_equal(
        clusterer(3, random_state=0).fit(X, Y, constraints=None).labels_, clusterer(3, random_state=0).fit(X).labels_
    )


# ---- bad input


@every_clusterer
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_and_infinity_are_refused(clusterer: Any, bad: float) -> None:
    table = X.copy()
    table[3, 1] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        clusterer(2).fit(table)


@every_clusterer
def test_too_few_rows(clusterer: Any) -> None:
    with pytest.raises(ValueError, match="n_samples=3 should be >= n_clusters=8"):
        clusterer().fit(X[:3])
    with pytest.raises(ValueError, match="0 sample"):
        clusterer().fit(np.empty((0, 3)))
    with pytest.raises(ValueError, match="n_samples=1 should be >= n_clusters=2"):
        clusterer(2).fit(X[:1])
    assert clusterer(1).fit(X[:1]).labels_.tolist() == [0]


OUT_OF_RANGE = [
    ("n_clusters", 0),
    ("n_clusters", 2.5),
    ("n_init", 0),
    ("max_iter", 0),
    ("tol", -1.0),
    ("init", "nowhere"),
    ("order", "backwards"),
    ("on_infeasible", "return_none"),
    ("constrained", "yes"),
]


@pytest.mark.parametrize(
    ("clusterer", "parameter", "value"),
    [
        (clusterer, parameter, value)
        for clusterer in CLUSTERERS
        for parameter, value in OUT_OF_RANGE
        if parameter in clusterer().get_params()
    ],
)
def test_parameters_out_of_range(clusterer: Any, parameter: str, value: object) -> None:
    with pytest.raises(ValueError, match=f"'{parameter}'"):
        clusterer().set_params(**{parameter: value}).fit(X)


@pytest.mark.parametrize("clusterer", STARTED)
@pytest.mark.parametrize("shape", [(3, 3), (4, 2)])
def test_centers_of_the_wrong_shape(clusterer: Any, shape: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match=r"4 clusters of rows with 3 features need centers of the shape \(4, 3\)"):
        clusterer(4, init=np.zeros(shape)).fit(X)


@every_clusterer
def test_bad_weights_are_refused(clusterer: Any) -> None:
    weight = np.ones(150)
    weight[5] = -1
    with pytest.raises(ValueError, match="row 5 has -1"):
        clusterer(2).fit(X, sample_weight=weight)
    with pytest.raises(ValueError, match="zero"):
        clusterer(2).fit(X, sample_weight=np.zeros(150))
    with pytest.raises(ValueError, match="149"):
        clusterer(2).fit(X, sample_weight=np.ones(149))


@every_clusterer
def test_constant_columns_and_equal_rows(clusterer: Any) -> None:
    table = np.column_stack([X[:, 0], np.full(150, 7.0)])
    assert len(set(clusterer(3, random_state=0).fit(table).labels_)) == 3
    twice = np.repeat([[0.0, 0.0], [1.0, 1.0], [5.0, 5.0]], 10, axis=0)
    model = clusterer(3, random_state=0).fit(twice)
    assert model.inertia_ == pytest.approx(0)
    assert len(set(model.labels_)) == 3
    with pytest.warns(ConvergenceWarning, match="5 clusters were asked for, and 3 w"):
        model = clusterer(5, random_state=0).fit(twice)
    assert model.inertia_ == pytest.approx(0)
    with pytest.warns(ConvergenceWarning, match="2 clusters were asked for, and 1 w"):
        clusterer(2, random_state=0).fit(np.ones((9, 2)))


@every_clusterer
def test_use_before_fit_and_other_columns(clusterer: Any) -> None:
    for method in ("predict", "transform", "score"):
        with pytest.raises(NotFittedError):
            getattr(clusterer(), method)(X)
    model = clusterer(2, random_state=0).fit(X)
    with pytest.raises(ValueError, match=r"2 features.*expecting 3"):
        model.predict(X[:, :2])


@every_clusterer
def test_a_bare_list_of_pairs_is_refused(clusterer: Any) -> None:
    with pytest.raises(TypeError, match="Constraints"):
        clusterer(2).fit(X, constraints=[(0, 1)])
