"""The bases and views that RobustBoostCluster mixes, and what its default does on any table."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from mustlink import Constraints, RobustBoostCluster
from mustlink.boosting._bases import BaseClusterer, BaseRun, LeadingColumns, NearestRow
from mustlink.boosting._boostcluster._columns import WEIGHTINGS
from mustlink.boosting._boostcluster._coordinates import make_coordinates
from mustlink.boosting._boostcluster._representations import Representation
from mustlink.boosting._boostcluster._views import RepresentationView
from mustlink.boosting._robust import _propagation
from mustlink.boosting._robust._automatic import AutomaticPlan, automatic_bases
from mustlink.boosting._robust._propagation import PropagationView
from mustlink.errors import EstimatorError

NAMES = ["KMeans", "AgglomerativeClustering", "GaussianMixture", "NormalizedSpectralClustering"]


def quick(**parameters):
    return RobustBoostCluster(**{"n_rounds": 4, "n_trials": 2, "random_state": 0, **parameters})


# ---- bases on samples ----------------------------------------------------------------------------------------------


def test_the_label_of_the_nearest_row_is_predicted():
    model = NearestRow(np.array([[0.0], [10.0]]), np.array([7, -1]))
    assert model.predict(np.array([[1.0], [9.0], [4.0]])).tolist() == [7, -1, 7]


def test_leading_columns_are_clustered_and_predicted():
    rng = np.random.RandomState(0)
    y = np.arange(60) % 2
    X = np.column_stack([10 * y + rng.normal(size=60), rng.normal(size=60), 1000 * rng.normal(size=60)])
    run = BaseClusterer(GaussianMixture(), 2, max_columns=2).run(X, 0)
    assert adjusted_rand_score(y, run.labels) == 1.0
    assert isinstance(run.model, LeadingColumns)
    assert (run.model.predict(X) == run.labels).all()
    assert BaseClusterer(AgglomerativeClustering(), 2, max_columns=2).run(X, 0).model is None
    assert isinstance(BaseClusterer(GaussianMixture(), 2, max_columns=3).run(X, 0).model, GaussianMixture)


@pytest.mark.parametrize("container", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_many_rows_are_clustered_by_a_sample(container, monkeypatch):
    X, y = make_blobs(400, 3, centers=3, cluster_std=0.5, random_state=0)
    X -= X.min(axis=0)
    sizes = []
    original = BaseClusterer._run_all

    def spy(self, table, seed):
        sizes.append(table.shape[0])
        return original(self, table, seed)

    monkeypatch.setattr(BaseClusterer, "_run_all", spy)
    for estimator, kind in ((KMeans(), KMeans), (AgglomerativeClustering(), NearestRow)):
        if kind is NearestRow and container is csr_array:
            continue
        run = BaseClusterer(estimator, 3, max_rows=50).run(container(X), 0)
        assert isinstance(run.model, kind)
        assert adjusted_rand_score(y, run.labels) == 1.0
        assert (run.model.predict(container(X)) == run.labels).all()
    assert set(sizes) == {50}
    BaseClusterer(KMeans(), 3, max_rows=400).run(container(X), 0)
    assert sizes[-1] == 400


def test_samples_depend_on_the_seed_only():
    X, _ = make_blobs(300, 2, random_state=0)
    base = BaseClusterer(AgglomerativeClustering(), 5, max_rows=40)
    assert (base.run(X, 1).labels == base.run(X, 1).labels).all()
    assert (base.run(X, 1).model.table != base.run(X, 2).model.table).any()


# ---- the plan ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_samples", "n_clusters", "names"),
    [(30, 3, NAMES), (29, 3, NAMES[:1]), (1000, 200, NAMES[:1]), (80, None, NAMES), (79, None, NAMES[:1])],
)
def test_few_rows_for_each_cluster_leave_only_k_means(n_samples, n_clusters, names):
    bases = automatic_bases(n_samples, n_clusters)
    assert [base.name for base in bases] == names
    assert {base.n_clusters for base in bases} == {n_clusters or 8}


@pytest.mark.parametrize("weighs_columns", [False, True])
@pytest.mark.parametrize("n_bases", [1, 4])
@pytest.mark.parametrize("n_representations", [1, 3])
@pytest.mark.parametrize("n_others", [0, 1])
def test_the_number_of_views_is_that_of_the_views(n_bases, n_representations, weighs_columns, n_others):
    bases = automatic_bases(1000, 3)[:n_bases]
    representations = [Representation("ridged", ridge) for ridge in (1.0, 0.5, 0.1)[:n_representations]]
    other = RepresentationView(bases[0], Representation("projection"))
    plan = AutomaticPlan(bases, representations, weighs_columns, [other] * n_others)
    first = plan.first_views() + plan.second_views()
    scores = np.array([0.9, 0.5, 0.8, 0.7])[: len(first)]
    further = plan.further_views(scores, n_links=400)
    assert len(first) + len(further) == plan.n_views
    # Of the weightings, the second has the best score.
    assert {view.representation.weighting for view in further} <= {None, "screen"}
    assert [view.representation.weighting for view in first] == ([None, *WEIGHTINGS] if weighs_columns else [None])
    tried_pairs = {(view.name, view.representation.ridge) for view in first + further if view is not other}
    assert len(tried_pairs) == n_bases + n_representations - 1


@pytest.mark.parametrize(("n_links", "chosen"), [(24, "clusters"), (26, "ratio")])
def test_columns_are_weighted_by_clusters_unless_another_score_is_clearly_higher(n_links, chosen):
    plan = AutomaticPlan(automatic_bases(1000, 3), [Representation("ridged")], True, [])
    # Two standard errors of 25 links are 0.2.
    further = plan.further_views(np.array([0.9, 0.8, 0.7, 0.6]), n_links)
    assert {view.representation.weighting for view in further} == {None, chosen}


def test_the_bases_run_as_often_as_is_documented(monkeypatch):
    X, y = load_iris(return_X_y=True)
    X, y = X[::2], y[::2]
    counts = {"bases": 0, "propagation": 0}
    original, propagate = BaseClusterer.run, PropagationView.run

    def run(self, *args):
        counts["bases"] += 1
        return original(self, *args)

    def propagated(self, *args, **keywords):
        counts["propagation"] += 1
        return propagate(self, *args, **keywords)

    monkeypatch.setattr(BaseClusterer, "run", run)
    monkeypatch.setattr(PropagationView, "run", propagated)
    links = Constraints.sample(y, 40, random_state=0)
    RobustBoostCluster(n_clusters=3, random_state=0).fit(X, constraints=links)
    assert counts["propagation"] >= 4
    assert sum(counts.values()) == 97
    counts.update(bases=0, propagation=0)
    RobustBoostCluster(None, 3, random_state=0).fit(X, constraints=links)
    assert counts == {"bases": 69, "propagation": 0}


def test_base_weights_tell_what_was_used():
    X, y = load_wine(return_X_y=True)
    links = Constraints.sample(y, 60, random_state=0)
    model = quick(n_clusters=3).fit(X, constraints=links)
    assert list(model.base_weights_) == [*NAMES, "ConstraintPropagation"]
    assert sum(model.base_weights_.values()) == pytest.approx(1.0)
    assert {report["base"] for report in model.history_} <= set(model.base_weights_)
    alone = quick(estimator=AgglomerativeClustering(), n_clusters=3).fit(X, constraints=links)
    assert alone.base_weights_ == {"AgglomerativeClustering": pytest.approx(1.0)}
    without = quick(n_clusters=3).fit(X)
    assert without.base_weights_ == {"KMeans": 1.0}
    assert without.column_weights_.tolist() == [1.0] * 13


def test_columns_are_not_weighted_in_a_table_of_one():
    X, y = load_iris(return_X_y=True)
    links = Constraints.sample(y, 60, random_state=0)
    model = quick(n_clusters=3).fit(X[:, 2:3], constraints=links)
    assert not [label for label in model.representation_weights_ if "columns" in label]
    assert model.column_weights_.tolist() == [1.0]
    assert adjusted_rand_score(y, model.labels_) > 0.8


def test_another_word_than_auto_is_refused():
    with pytest.raises(ValueError, match="estimator must be a clusterer, a function, None or 'auto'; got 'automatic'"):
        quick(estimator="automatic", n_clusters=3).fit(np.eye(6), constraints=Constraints([(0, 1)]))


# ---- propagation ---------------------------------------------------------------------------------------------------


def propagation_of(X, links):
    coordinates = make_coordinates(X, links, standardize=True, points=False, needs_rest=True)
    placed = coordinates.place_links(links)
    return PropagationView.of(coordinates, placed, 3, True, np.random.RandomState(0)), coordinates, placed


def test_links_are_propagated_on_all_rows_of_a_small_table():
    X, y = load_iris(return_X_y=True)
    view, coordinates, links = propagation_of(X, Constraints.sample(y, 60, random_state=0))
    assert view.rows is None
    run = view.run(coordinates, links, links.weight, 0, "in a test")
    assert adjusted_rand_score(y, run.labels) > 0.7
    assert run.model is None
    assert view.run(coordinates, links, np.zeros(len(links)), 0, "in a test") is None
    # Only links with a weight are seen.
    few = np.where(np.arange(len(links)) < 5, 1.0, 0.0)
    assert (view.run(coordinates, links, few, 0, "in a test").labels != run.labels).any()


def test_links_are_propagated_on_a_sample_with_all_linked_rows(monkeypatch):
    monkeypatch.setattr(_propagation, "MAX_ROWS", 100)
    X, y = make_blobs(400, 3, centers=3, cluster_std=1.0, random_state=3)
    constraints = Constraints.sample(y, 30, random_state=0)
    view, coordinates, links = propagation_of(X, constraints)
    assert len(view.rows) == 100
    assert set(constraints.constrained_rows()) <= set(view.rows)
    assert view.affinity.shape == (100, 100)
    run = view.run(coordinates, links, links.weight, 0, "in a test")
    assert run.labels.shape == (400,)
    assert isinstance(run.model, NearestRow)
    assert adjusted_rand_score(y, run.labels) > 0.9
    assert (run.model.predict(coordinates.plain) == run.labels).mean() > 0.99


def test_links_of_too_many_rows_are_not_propagated(monkeypatch):
    monkeypatch.setattr(_propagation, "MAX_ROWS", 40)
    X, y = load_iris(return_X_y=True)
    assert propagation_of(X, Constraints.sample(y, 60, random_state=0))[0] is None
    model = quick(n_clusters=3).fit(X, constraints=Constraints.sample(y, 60, random_state=0))
    assert list(model.base_weights_) == NAMES


# ---- any table -----------------------------------------------------------------------------------------------------


def few_links():
    return Constraints([(0, 1), (2, 3)], [(0, 4), (5, 6)])


@pytest.mark.filterwarnings(f"ignore::{ConvergenceWarning.__module__}.{ConvergenceWarning.__name__}")
@pytest.mark.parametrize(
    ("name", "n_clusters"), [("equal", 2), ("two values", 3), ("noise", 1), ("noise", 40), ("zero", 3), ("outlier", 3)]
)
def test_odd_tables_are_clustered(name, n_clusters):
    noise = np.random.RandomState(0).normal(size=(40, 3))
    table = {
        "equal": np.ones((40, 3)),
        "two values": np.repeat([[1.0, 2.0], [3.0, 3.0]], 20, axis=0),
        "noise": noise,
        "zero": csr_array((40, 200)),
        "outlier": np.vstack([noise[:-1], [[1e12, 0, 0]]]),
    }[name]
    model = quick(n_clusters=n_clusters).fit(table, constraints=few_links())
    assert model.labels_.shape == (40,)
    assert 1 <= model.n_clusters_ <= n_clusters
    assert np.isfinite(model.column_weights_).all()
    assert model.predict(table).shape == (40,)


@pytest.mark.parametrize("when", ["always", "in rounds"])
def test_the_default_goes_on_without_a_base_that_fails(monkeypatch, when):
    X, y = load_wine(return_X_y=True)
    original = BaseClusterer.run

    def fail(self, table, seed, where=None):
        if self.name == "GaussianMixture" and (when == "always" or "round" in where):
            raise EstimatorError("The covariance is singular")
        return original(self, table, seed, where)

    monkeypatch.setattr(BaseClusterer, "run", fail)
    links = Constraints.sample(y, 60, random_state=0)
    model = quick(n_clusters=3, n_rounds=20).fit(X, constraints=links)
    assert "GaussianMixture" not in {report["base"] for report in model.history_}
    assert adjusted_rand_score(y, model.labels_) > 0.7
    with pytest.raises(EstimatorError, match="singular"):
        quick(estimator=GaussianMixture(), n_clusters=3).fit(X, constraints=links)


def test_duplicate_rows_have_one_cluster_if_no_link_says_otherwise():
    X = np.repeat(np.random.RandomState(1).normal(size=(4, 2)), 12, axis=0)
    links = Constraints([(0, 1), (12, 13)], [(0, 12), (24, 36)])
    model = quick(n_clusters=4).fit(X, constraints=links)
    assert all(len(set(model.labels_[start : start + 12])) == 1 for start in range(0, 48, 12))


def test_float32_stays_float32(monkeypatch):
    X, y = load_iris(return_X_y=True)
    dtypes = set()
    original = BaseClusterer.run

    def spy(self, table, *rest):
        dtypes.add(table.dtype)
        return original(self, table, *rest)

    monkeypatch.setattr(BaseClusterer, "run", spy)
    links = Constraints.sample(y, 60, random_state=0)
    model = quick(n_clusters=3).fit(X.astype(np.float32), constraints=links)
    assert dtypes == {np.dtype(np.float32)}
    assert adjusted_rand_score(model.labels_, model.predict(X.astype(np.float32))) > 0.8


@pytest.mark.parametrize("wide", [False, True], ids=["narrow", "wide"])
def test_new_rows_are_predicted_and_models_are_pickled(wide):
    X, y = make_blobs(200, 4, centers=3, cluster_std=1.0, random_state=0)
    if wide:
        X = np.hstack([X, np.random.RandomState(0).normal(size=(200, 200))])
    links = Constraints.sample(y[:150], 60, random_state=0)
    model = quick(n_clusters=3).fit(X[:150], constraints=links)
    assert adjusted_rand_score(y[150:], model.predict(X[150:])) > 0.9
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict(X) == model.predict(X)).all()
    assert (again._for_predicting().predict(X) == model.predict(X)).all()


def test_new_rows_of_a_sparse_table_are_predicted():
    dense = random_array((120, 300), density=0.1, rng=0).toarray()
    y = np.arange(120) % 2
    dense[y == 1, :5] = 3.0
    X = csr_array(dense)
    links = Constraints.sample(y[:90], 50, random_state=0)
    model = quick(n_clusters=2, scale=False).fit(X[:90], constraints=links)
    assert adjusted_rand_score(y[90:], model.predict(X[90:])) > 0.9


def test_n_jobs_changes_nothing_for_the_default():
    X, y = load_iris(return_X_y=True)
    links = Constraints.sample(y, 60, random_state=0)
    one, two = (quick(n_clusters=3, n_jobs=n_jobs).fit(X, constraints=links) for n_jobs in (1, 2))
    assert (one.labels_ == two.labels_).all()
    assert one.base_weights_ == two.base_weights_
    assert one.coassociation_ == two.coassociation_


def test_numbers_of_rows_hardly_matter():
    """Bases that start from random rows depend on their order, and so the results are nearly the same only."""
    X, y = load_iris(return_X_y=True)
    links = Constraints.sample(y, 100, random_state=0)
    order = np.random.RandomState(0).permutation(150)
    place = np.argsort(order)
    moved = Constraints(place[links.must_link], place[links.cannot_link])
    here = RobustBoostCluster(n_clusters=3, n_rounds=8, random_state=0).fit(X, constraints=links)
    there = RobustBoostCluster(n_clusters=3, n_rounds=8, random_state=0).fit(X[order], constraints=moved)
    assert adjusted_rand_score(here.labels_[order], there.labels_) > 0.9


def test_runs_without_rows_predict_by_what_they_keep():
    run = BaseRun(np.array([0, 1]), NearestRow(np.array([[0.0], [1.0]]), np.array([0, 1])))
    assert run.without_rows().model.predict(np.array([[0.9]])).tolist() == [1]
