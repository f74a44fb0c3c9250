"""Held-out accuracy against a loop made by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.cluster import KMeans
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mustlink import Constraints, PCKMeans
from mustlink.base import ConstrainedClusterMixin
from mustlink.errors import ConstraintError, InfeasibleError
from mustlink.metric_learning import RCA
from mustlink.selection import ConstraintKFold, HeldOutFold, held_out_accuracy


class ChunkletKMeans(ConstrainedClusterMixin, BaseEstimator):
    """k-means on the means of must-link components; cannot-links are ignored."""

    def __init__(self, n_clusters: int = 3, random_state: int | None = 0) -> None:
        self.n_clusters = n_clusters
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, constraints: Any = None, sample_weight: Any = None) -> ChunkletKMeans:
        X = np.asarray(X, dtype=float)
        weight = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight)
        self.links_ = self._check_fit_input(X, y, constraints)[1]
        component = self.links_.components(len(X))
        mass = np.bincount(component, weights=weight)
        means = np.column_stack([np.bincount(component, weights=weight * column) / mass for column in X.T])
        inner = KMeans(self.n_clusters, n_init=1, random_state=self.random_state).fit(means, sample_weight=mass)
        self.labels_ = inner.labels_[component]
        return self

    def score(self, X: Any, y: Any = None) -> float:
        return 0.0


class Refuses(ChunkletKMeans):
    def fit(self, X: Any, y: Any = None, **links: Any) -> ChunkletKMeans:
        raise InfeasibleError("No clustering was found.")


@pytest.fixture
def table() -> NDArray[np.float64]:
    return np.random.default_rng(0).normal(size=(90, 3)) + 2.0 * np.repeat(np.arange(3), 30)[:, None]


@pytest.fixture
def links() -> Constraints:
    return Constraints.sample(np.repeat(np.arange(3), 30), n_pairs=50, random_state=1)


def shares_by_hand(labels: NDArray[Any], test: Constraints) -> tuple[list[bool], list[bool]]:
    must = [bool(labels[a] == labels[b]) for a, b in test.must_link]
    cannot = [bool(labels[a] != labels[b]) for a, b in test.cannot_link]
    return must, cannot


@pytest.mark.parametrize("balanced", [True, False])
def test_scores_equal_an_explicit_loop(table: NDArray[np.float64], links: Constraints, balanced: bool) -> None:
    cv = ConstraintKFold(4, random_state=5)
    expected = []
    for train, test in cv.split(links):
        must, cannot = shares_by_hand(ChunkletKMeans().fit(table, constraints=train).labels_, test)
        kinds = [kind for kind in (must, cannot) if kind]
        expected.append(np.mean([np.mean(kind) for kind in kinds]) if balanced else np.mean(must + cannot))
    scores = held_out_accuracy(ChunkletKMeans(), table, links, cv=cv, balanced=balanced)
    np.testing.assert_allclose(scores, expected, rtol=1e-12)
    assert len(set(scores)) > 1


def test_folds_contain_the_parts_of_the_score(table: NDArray[np.float64], links: Constraints) -> None:
    estimator = ChunkletKMeans()
    scores, folds = held_out_accuracy(estimator, table, links, cv=3, return_folds=True)
    splits = list(ConstraintKFold(3, shuffle=False).split(links))
    assert [(fold.train, fold.test) for fold in folds] == splits
    for score, fold in zip(scores, folds, strict=True):
        must, cannot = shares_by_hand(fold.estimator.labels_, fold.test)
        assert fold.estimator.links_ == fold.train
        assert fold.must_link_accuracy == np.mean(must)
        assert fold.cannot_link_accuracy == np.mean(cannot)
        assert score == fold.score(balanced=True)
    assert not hasattr(estimator, "labels_")


def test_single_rows_score_high_only_if_not_balanced(table: NDArray[np.float64]) -> None:
    rows = np.arange(60).reshape(-1, 2)
    links = Constraints(rows[:5], rows[5:])
    apart = ChunkletKMeans(n_clusters=80)
    assert held_out_accuracy(apart, table, links, balanced=False).mean() > 0.8
    assert held_out_accuracy(apart, table, links).mean() < 0.6


@pytest.mark.parametrize("balanced", [True, False])
def test_a_fold_of_one_kind_is_scored_by_that_kind(table: NDArray[np.float64], balanced: bool) -> None:
    links = Constraints(must_link=np.arange(20).reshape(-1, 2))
    scores, folds = held_out_accuracy(ChunkletKMeans(), table, links, balanced=balanced, return_folds=True)
    assert scores.tolist() == [fold.must_link_accuracy for fold in folds]
    assert np.isnan([fold.cannot_link_accuracy for fold in folds]).all()


def test_noise_is_apart_from_everything() -> None:
    class Noise(ChunkletKMeans):
        def fit(self, X: Any, y: Any = None, *, constraints: Any = None, sample_weight: Any = None) -> Noise:
            self.labels_ = np.full(len(X), -1)
            return self

    links = Constraints(must_link=[(0, 1), (2, 3)], cannot_link=[(4, 5), (6, 7)])
    scores = held_out_accuracy(Noise(), np.zeros((8, 1)), links, cv=2)
    assert scores.tolist() == [0.5, 0.5]


def test_partial_labels_are_split_like_links(table: NDArray[np.float64], links: Constraints) -> None:
    y = np.full(90, -1)
    y[[0, 1, 31, 32, 61, 62]] = [0, 0, 1, 1, 2, 2]
    scores, folds = held_out_accuracy(ChunkletKMeans(), table, links, y=y, return_folds=True)
    both = links + Constraints.from_labels(y, order=np.argsort(np.lexsort(table.T[::-1])))
    assert scores.tolist() == held_out_accuracy(ChunkletKMeans(), table, both).tolist()
    assert all(fold.train + fold.test == both for fold in folds)


def test_fit_params_reach_fit(table: NDArray[np.float64], links: Constraints) -> None:
    weight = np.random.default_rng(1).random(90)
    _, folds = held_out_accuracy(
        ChunkletKMeans(), table, links, fit_params={"sample_weight": weight}, return_folds=True
    )
    for fold in folds:
        expected = ChunkletKMeans().fit(table, constraints=fold.train, sample_weight=weight).labels_
        np.testing.assert_array_equal(fold.estimator.labels_, expected)


def test_parallel_scores_are_the_same(table: NDArray[np.float64], links: Constraints) -> None:
    one = held_out_accuracy(ChunkletKMeans(), table, links)
    with sklearn.config_context(assume_finite=True):
        import joblib

        with joblib.parallel_backend("threading"):
            two = held_out_accuracy(ChunkletKMeans(), table, links, n_jobs=2)
    assert one.tolist() == two.tolist()


def test_lists_and_aligned_constraints_are_accepted(table: NDArray[np.float64], links: Constraints) -> None:
    expected = held_out_accuracy(ChunkletKMeans(), table, links).tolist()
    assert held_out_accuracy(ChunkletKMeans(), table.tolist(), links).tolist() == expected
    assert held_out_accuracy(ChunkletKMeans(), table, links.on(90)).tolist() == expected


@pytest.mark.parametrize("routing", [False, True])
def test_a_pipeline_scores_like_its_steps(table: NDArray[np.float64], links: Constraints, routing: bool) -> None:
    scaled = StandardScaler().fit_transform(table)
    expected = held_out_accuracy(ChunkletKMeans(), scaled, links).tolist()
    pipeline = make_pipeline(StandardScaler(), ChunkletKMeans())
    nested = make_pipeline("passthrough", pipeline)
    search = GridSearchCV(pipeline, {"chunkletkmeans__n_clusters": [3]}, cv=2)
    with sklearn.config_context(enable_metadata_routing=routing):
        # With routing, a pipeline also asks its last step for a score with weights, which ours has not.
        for estimator in (pipeline, nested) if routing else (pipeline, nested, search):
            assert held_out_accuracy(estimator, table, links).tolist() == expected


def test_every_step_that_takes_links_gets_the_training_links(table: NDArray[np.float64], links: Constraints) -> None:
    _, folds = held_out_accuracy(make_pipeline(RCA(), ChunkletKMeans()), table, links, return_folds=True)
    for fold in folds:
        metric = RCA().fit(table, constraints=fold.train)
        np.testing.assert_allclose(fold.estimator[0].components_, metric.components_)
        assert fold.estimator[1].links_ == fold.train


def test_a_pipeline_without_links_is_refused(table: NDArray[np.float64], links: Constraints) -> None:
    pipeline = make_pipeline(StandardScaler(), KMeans(3))
    for estimator in (pipeline, GridSearchCV(pipeline, {"kmeans__n_clusters": [2, 3]})):
        with pytest.raises(TypeError, match=f"No step of this {type(estimator).__name__} takes constraints"):
            held_out_accuracy(estimator, table, links)


@pytest.mark.parametrize("routing", [False, True])
def test_a_clusterer_without_links_is_refused(table: NDArray[np.float64], links: Constraints, routing: bool) -> None:
    needed = pytest.raises(TypeError, match="KMeans takes no constraints; a clusterer or metric that does is needed")
    with sklearn.config_context(enable_metadata_routing=routing), needed:
        held_out_accuracy(KMeans(3), table, links)


def test_the_order_of_the_arguments(table: NDArray[np.float64], links: Constraints) -> None:
    with pytest.raises(TypeError, match=r"The first argument is a clusterer.*got ndarray\."):
        held_out_accuracy(table, PCKMeans(3), links)
    with pytest.raises(TypeError, match=r"such as PCKMeans\(\).*got the class PCKMeans\."):
        held_out_accuracy(PCKMeans, table, links)


def test_what_cv_can_be(table: NDArray[np.float64], links: Constraints) -> None:
    five = held_out_accuracy(ChunkletKMeans(), table, links, cv=5)
    assert held_out_accuracy(ChunkletKMeans(), table, links, cv=None).tolist() == five.tolist()
    with pytest.raises(TypeError, match="cv must be a number of folds, a ConstraintKFold or None; got KFold"):
        held_out_accuracy(ChunkletKMeans(), table, links, cv=KFold(5))  # type: ignore[call-overload]


def test_a_search_inside_splits_the_training_links_again(table: NDArray[np.float64], links: Constraints) -> None:
    search = GridSearchCV(ChunkletKMeans(), {"n_clusters": [2, 3]}, cv=2)
    with sklearn.config_context(enable_metadata_routing=True):
        scores, folds = held_out_accuracy(search, table, links, return_folds=True)
    for fold in folds:
        assert fold.estimator.best_estimator_.links_ == fold.train
    # All candidates score alike, and the search then takes the first.
    assert scores.tolist() == held_out_accuracy(ChunkletKMeans(n_clusters=2), table, links).tolist()


def test_other_estimators_are_refused(table: NDArray[np.float64], links: Constraints) -> None:
    class NoLabels(BaseEstimator):
        def fit(self, X: Any, constraints: Any = None) -> NoLabels:
            return self

    with pytest.raises(TypeError, match="NoLabels has no labels_ after fit"):
        held_out_accuracy(NoLabels(), table, links)


def test_errors_of_links_and_clusterers_are_raised(table: NDArray[np.float64], links: Constraints) -> None:
    with pytest.raises(ConstraintError, match="the table has 90 rows"):
        held_out_accuracy(ChunkletKMeans(), table, Constraints(must_link=[(0, 90)]))
    with pytest.raises(ValueError, match="90 rows, and y has 3 labels"):
        held_out_accuracy(ChunkletKMeans(), table, links, y=[0, 1, -1])
    with pytest.raises(
        ConstraintError, match=r"The only link forms 1 group .* too few for 5 folds; give links between"
    ):
        held_out_accuracy(ChunkletKMeans(), table, Constraints(must_link=[(0, 1)]))
    with pytest.raises(ConstraintError, match="too few for 5 folds; use 2 folds at most, or give links"):
        held_out_accuracy(ChunkletKMeans(), table, Constraints(must_link=[(0, 1), (2, 3)]))
    with pytest.raises(ConstraintError, match="There are no links to divide"):
        held_out_accuracy(ChunkletKMeans(), table, Constraints())
    with pytest.raises(InfeasibleError, match="No clustering was found"):
        held_out_accuracy(Refuses(), table, links)
    with pytest.raises(ValueError, match="fit_params cannot contain constraints, kmeans__constraints, y"):
        held_out_accuracy(
            ChunkletKMeans(), table, links, fit_params={"y": None, "constraints": links, "kmeans__constraints": links}
        )


def test_score_of_a_fold_by_kinds() -> None:
    test = Constraints(must_link=[(0, 1)], cannot_link=[(2, 3), (4, 5), (6, 7)])
    fold = HeldOutFold(Constraints(), test, clone(ChunkletKMeans()), 0.0, 1.0)
    assert fold.score(balanced=True) == 0.5
    assert fold.score(balanced=False) == 0.75
