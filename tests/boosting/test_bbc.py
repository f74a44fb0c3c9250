"""BBC against its slow version, the lemmas of its paper, and bad input."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.cluster import DBSCAN, HDBSCAN, AffinityPropagation, AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.datasets import load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score, euclidean_distances
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

from mustlink import Constraints
from mustlink.boosting import BoostBaseClustering
from mustlink.boosting._bbc import _bbc as bbc_module
from mustlink.boosting._bbc._bbc import pairs_of_classes
from mustlink.boosting._bbc._metric import PairScatter, project_to_psd, take_step
from mustlink.errors import ConstraintError, TooLargeError, UnmetConstraintsWarning
from reference.bbc import components, dense_sum, gradient, objective, project, supervise

quiet = pytest.mark.filterwarnings("ignore::mustlink.errors.UnmetConstraintsWarning")


def halves(points):
    """Cut at the median of the first coordinate: a clusterer that needs no seed."""
    return (points[:, 0] > np.median(points[:, 0])).astype(int)


def nearest_of_first_rows(points):
    """Put every row with the nearest of the first six rows: a clusterer with more clusters than classes."""
    return euclidean_distances(points, points[:6]).argmin(axis=1)


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return scale(X), y


@pytest.fixture
def blobs():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 12)
    X = np.array([[0.0, 0, 0], [2, 0, 0], [0, 2, 0]])[y] + rng.normal(size=(36, 3)) * [0.5, 0.5, 2.0]
    return X, y


def links_of(y, n_pairs=60, seed=0):
    return Constraints.sample(y, n_pairs=n_pairs, random_state=seed)


# ---- the distance ----------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10_000), d=st.integers(1, 6))
def test_projection_is_the_nearest_positive_semidefinite_matrix(seed, d):
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(d, d))
    B = B + B.T
    P, root = project_to_psd(B)
    assert np.linalg.eigvalsh(P).min() >= -1e-9
    np.testing.assert_allclose(root @ root, P, atol=1e-9)
    np.testing.assert_allclose(root, root.T, atol=1e-12)
    for spread in (0.01, 0.1, 1.0):
        # Candidates near the projection and candidates anywhere.
        for center in (root, np.zeros((d, d))):
            factor = center + spread * rng.normal(size=(d, d))
            assert np.linalg.norm(B - P) <= np.linalg.norm(B - factor @ factor.T) + 1e-9


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 10_000))
def test_gradient_by_finite_differences_and_by_a_loop(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(9, 3)) + 5
    links = Constraints.sample(rng.integers(0, 3, 9), n_pairs=8, balanced=False, random_state=seed)
    weights = rng.random(len(links))
    G = PairScatter(X, links)(weights)
    np.testing.assert_allclose(G, gradient(X, links.pairs, links.sign, weights), atol=1e-9)
    A = np.eye(3)
    small = 1e-4
    for a in range(3):
        for b in range(3):
            shift = np.zeros((3, 3))
            shift[a, b] = small
            rise = objective(A + shift, X, links.pairs, links.sign, weights)
            fall = objective(A - shift, X, links.pairs, links.sign, weights)
            assert G[a, b] == pytest.approx((rise - fall) / (2 * small), abs=1e-6)


def test_step_sees_directions_only_and_keeps_the_scale():
    rng = np.random.default_rng(0)
    factor, B = rng.normal(size=(2, 4, 4))
    A, G = factor @ factor.T, B + B.T
    new, root = take_step(A, G, 0.1)
    scaled, _ = take_step(100 * A, 0.01 * G, 0.1)
    np.testing.assert_allclose(new, scaled)
    np.testing.assert_allclose(root @ root, new, atol=1e-12)
    expected = project(A / np.linalg.norm(A) + 0.1 * G / np.linalg.norm(G))
    np.testing.assert_allclose(new / np.linalg.norm(new), expected / np.linalg.norm(expected))
    assert np.linalg.norm(new) == pytest.approx(2.0)


def test_step_without_a_slope_stays():
    np.testing.assert_allclose(take_step(np.eye(3), np.zeros((3, 3)), 0.1)[0], np.eye(3))


# ---- the rounds ------------------------------------------------------------------------------------------------


@quiet
@pytest.mark.parametrize("estimator", [halves, nearest_of_first_rows])
@pytest.mark.parametrize("n_pairs", [6, 80])
def test_whole_run_equals_the_slow_version(blobs, estimator, n_pairs):
    X, y = blobs
    links = links_of(y, n_pairs)
    options = {"n_rounds": 12, "step": 0.2, "max_inner": 2, "max_stalls": 2}
    model = BoostBaseClustering(estimator, **options).fit(X, constraints=links)
    A, alphas, errors, Y, stalls = supervise(X, links.pairs, links.sign, estimator, **options)
    np.testing.assert_allclose(model.metric_, A, atol=1e-8)
    np.testing.assert_allclose(model.alphas_, alphas, atol=1e-8)
    np.testing.assert_allclose(model.errors_, errors, atol=1e-8)
    assert model.stalls_ == stalls
    kernel = model.coassociation_
    np.testing.assert_allclose(2 * kernel.toarray() - kernel.weights.sum(), Y, atol=1e-8)
    np.testing.assert_array_equal(model.labels_, components(Y))


@quiet
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("estimator", ["affinity", "kmedoids"])
def test_training_error_stays_below_the_bound_of_lemma_2(blobs, estimator, seed):
    X, y = blobs
    links = links_of(y, 40, seed)
    model = BoostBaseClustering(estimator, 4, consensus="components", n_rounds=10, random_state=0).fit(
        X, constraints=links
    )
    floor = 0.5 / len(links)
    bound, intact, vote, counted = 1.0, True, np.zeros(len(links)), 0
    for entry in model.history_:
        if not entry["counted"]:
            intact = False
            continue
        code = model.coassociation_.codes[:, counted]
        together = np.where(code[links.pairs[:, 0]] == code[links.pairs[:, 1]], 1, -1)
        vote += model.alphas_[counted] * together
        wrong = np.mean(vote * links.sign <= 0)
        error = max(model.errors_[counted], floor)
        bound *= 2 * np.sqrt(error * (1 - error))
        loss = np.exp(model.objective_[counted])
        assert loss == pytest.approx(np.mean(np.exp(-vote * links.sign)))
        assert wrong == pytest.approx(entry["wrong"])
        # The loss bounds the error always, the product bounds the loss while the weights have not started again.
        assert wrong <= loss + 1e-12
        if intact:
            assert loss <= bound + 1e-12
        counted += 1
    assert counted == len(model.alphas_) > 0


@pytest.mark.parametrize(
    "estimator",
    [
        KMeans(3, n_init=3),
        GaussianMixture(3, covariance_type="spherical"),
        "spectral",
    ],
    ids=lambda estimator: estimator if isinstance(estimator, str) else type(estimator).__name__,
)
def test_full_supervision_gives_the_classes(wine, estimator):
    X, y = wine
    n_clusters = 3 if isinstance(estimator, str) else None
    model = BoostBaseClustering(estimator, n_clusters, consensus="components", random_state=0)
    model.fit(X, constraints=Constraints.from_labels(y, pairs="all"))
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert model.violations_.is_empty


@pytest.mark.parametrize(
    ("estimator", "noise"), [("affinity", 8), ("average", 6), ("complete", 8), ("kmedoids", 8), ("spectral", 8)]
)
@pytest.mark.parametrize("consensus", ["components", "spectral"])
def test_full_supervision_finds_classes_among_columns_of_noise(estimator, noise, consensus):
    X, y = make_blobs(90, 3, centers=3, random_state=3)
    X = np.column_stack([X, noise * np.random.default_rng(0).normal(size=(90, 3))])
    model = BoostBaseClustering(estimator, 3, consensus=consensus, random_state=0)
    assert adjusted_rand_score(y, clone(model).fit(X).labels_) < 0.9
    model.fit(X, constraints=Constraints.from_labels(y, pairs="all"))
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(y, model.labels_) == 1.0


@quiet
@pytest.mark.parametrize(
    ("estimator", "n_clusters"), [("affinity", None), ("complete", 3), (KMeans(3, n_init=1), None)]
)
def test_rotating_the_table_rotates_the_distance(blobs, estimator, n_clusters):
    X, y = blobs
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    model = BoostBaseClustering(estimator, n_clusters, n_rounds=8, random_state=0)
    straight = clone(model).fit(X, constraints=links_of(y))
    turned = clone(model).fit(X @ turn, constraints=links_of(y))
    np.testing.assert_allclose(turned.metric_, turn.T @ straight.metric_ @ turn, atol=1e-7)
    np.testing.assert_array_equal(turned.labels_, straight.labels_)


@quiet
def test_scaling_is_done_before_and_undone_in_the_metric(blobs):
    X, y = blobs
    units = np.array([1.0, 100.0, 0.01])
    spread = X.std(axis=0)
    inside = BoostBaseClustering(scale=True, n_rounds=5, random_state=0).fit(X * units, constraints=links_of(y))
    before = BoostBaseClustering(n_rounds=5, random_state=0).fit(scale(X), constraints=links_of(y))
    np.testing.assert_array_equal(inside.labels_, before.labels_)
    np.testing.assert_allclose(inside.metric_ * np.outer(units * spread, units * spread), before.metric_, atol=1e-8)


@quiet
def test_weights_scale_and_order_of_pairs_has_no_effect(blobs):
    X, y = blobs
    links = links_of(y)
    model = BoostBaseClustering("kmedoids", 3, n_rounds=6, random_state=0)
    plain = clone(model).fit(X, constraints=links)
    heavier = Constraints(
        links.must_link[::-1], links.cannot_link[::-1, ::-1], must_link_weight=7, cannot_link_weight=7
    )
    np.testing.assert_array_equal(clone(model).fit(X, constraints=heavier).labels_, plain.labels_)
    must_only_count = Constraints(links.must_link, links.cannot_link, must_link_weight=50, cannot_link_weight=0.1)
    leaning = clone(model).fit(X, constraints=must_only_count)
    assert leaning.history_[0]["error"] != pytest.approx(plain.history_[0]["error"])


@quiet
def test_a_run_can_be_repeated_pickled_and_cloned(blobs):
    X, y = blobs
    model = BoostBaseClustering(KMeans(4), 3, random_state=7).fit(X, constraints=links_of(y))
    again = clone(model).fit(X, constraints=links_of(y))
    np.testing.assert_array_equal(model.labels_, again.labels_)
    np.testing.assert_array_equal(model.metric_, again.metric_)
    restored = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(restored.labels_, model.labels_)
    assert restored.n_clusters_per_round_ == model.n_clusters_per_round_


@quiet
def test_partial_labels_are_all_pairs_or_a_compact_list(blobs, monkeypatch):
    X, y = blobs
    partial = np.where(np.arange(36) % 3 == 0, y, -1)
    model = BoostBaseClustering(n_rounds=4, random_state=0)
    from_labels = clone(model).fit(X, partial)
    all_pairs = clone(model).fit(X, constraints=Constraints.from_labels(partial, pairs="all"))
    np.testing.assert_array_equal(from_labels.errors_, all_pairs.errors_)
    monkeypatch.setattr(bbc_module, "MAX_IMPLIED_PAIRS", 10)
    few = clone(model).fit(X, partial)
    by_content = np.argsort(np.lexsort(X.T[::-1]))
    compact = clone(model).fit(X, constraints=Constraints.from_labels(partial, order=by_content))
    np.testing.assert_array_equal(few.errors_, compact.errors_)
    assert len(few.errors_) != len(all_pairs.errors_) or not np.allclose(few.errors_, all_pairs.errors_)


@quiet
def test_the_short_list_of_links_of_labels_is_as_good_as_all_pairs(wine):
    # Over ten draws of 15% labels, the chain alone gave a pairwise F of .77 on unlabeled rows, and all pairs .91.
    X, y = wine
    known = np.full(len(y), -1)
    rows = np.random.default_rng(0).permutation(len(y))[:27]
    known[rows] = y[rows]
    compact = Constraints.from_labels(known)
    model = BoostBaseClustering(n_clusters=3, random_state=0).fit(X, constraints=compact)
    whole = BoostBaseClustering(n_clusters=3, random_state=0).fit(X, constraints=compact.closure(len(y)).explicit())
    assert_allclose(model.metric_, whole.metric_)
    assert (model.labels_ == whole.labels_).all()
    assert model.violations_ == compact.violations(model.labels_)


def test_only_links_that_state_classes_become_all_pairs(blobs, monkeypatch):
    y = blobs[1]
    classes = Constraints.from_labels(np.where(np.arange(36) % 3, -1, y))
    assert len(pairs_of_classes(classes, 36)) == 12 * 11 // 2
    weighted = Constraints(classes.must_link, classes.cannot_link, must_link_weight=2 * classes.must_link_weight)
    opposite = Constraints(classes.must_link, [(0, 6), *classes.cannot_link])
    for links in (links_of(y), weighted, opposite, classes.take(np.arange(len(classes)) > 0), Constraints()):
        assert pairs_of_classes(links, 36) is links
    monkeypatch.setattr(bbc_module, "MAX_IMPLIED_PAIRS", 65)
    assert pairs_of_classes(classes, 36) is classes


@quiet
def test_number_of_clusters_per_round_counts_components(blobs):
    X, y = blobs
    model = BoostBaseClustering(n_rounds=6, random_state=0).fit(X, constraints=links_of(y))
    kernel = model.coassociation_
    expected = [
        components(dense_sum(kernel.codes[:, :t], kernel.weights[:t])).max() + 1 for t in range(1, kernel.n_rounds + 1)
    ]
    assert model.n_clusters_per_round_ == expected
    assert model.n_clusters_ == expected[-1]


# ---- the estimators ------------------------------------------------------------------------------------------------


@quiet
@pytest.mark.parametrize(
    ("estimator", "n_clusters"),
    [
        ("affinity", None),
        ("affinity", 3),
        ("spectral", 3),
        ("average", 3),
        ("complete", 3),
        ("kmedoids", 3),
        (KMeans(5, n_init=1), None),
        (AffinityPropagation(affinity="precomputed"), None),
        (AgglomerativeClustering(3, metric="precomputed", linkage="single"), None),
        (SpectralClustering(3, affinity="precomputed"), None),
        (DBSCAN(eps=1.0, metric="precomputed"), None),
        (HDBSCAN(copy=True), 3),
        (make_pipeline(StandardScaler(), KMeans(3, n_init=1)), None),
        (halves, None),
    ],
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_estimator_gives_a_whole_result(blobs, estimator, n_clusters, dtype):
    X, y = blobs
    links = links_of(y)
    model = BoostBaseClustering(estimator, n_clusters, n_rounds=4, random_state=0).fit(
        X.astype(dtype), constraints=links
    )
    assert model.labels_.shape == (36,)
    found = np.unique(model.labels_[model.labels_ >= 0])
    np.testing.assert_array_equal(found, np.arange(model.n_clusters_))
    if n_clusters is not None and len(model.alphas_) > 1:
        assert model.n_clusters_ == n_clusters
    assert np.isfinite(model.metric_).all()
    assert np.isfinite(model.objective_).all()
    assert len(model.alphas_) + model.stalls_ == model.n_iter_ == len(model.history_)
    assert model.violations_ == links.violations(model.labels_)


@pytest.mark.parametrize(
    ("named", "estimator"),
    [
        ("average", AgglomerativeClustering(3, linkage="average", metric="sqeuclidean")),
        ("complete", AgglomerativeClustering(3, linkage="complete")),
        ("affinity", AffinityPropagation(damping=0.75, convergence_iter=30, random_state=0)),
    ],
)
def test_named_estimators_equal_their_peers_without_constraints(wine, named, estimator):
    X, _ = wine
    ours = BoostBaseClustering(named, 3, consensus="components", random_state=0).fit(X)
    assert adjusted_rand_score(estimator.fit_predict(X), ours.labels_) == 1.0
    assert ours.violations_.is_empty
    assert ours.alphas_.size == ours.stalls_ == 0


def test_precomputed_inputs_are_distances_or_similarities(blobs):
    X, _ = blobs
    seen = {}

    class Recorder(AgglomerativeClustering):
        def fit_predict(self, X, y=None):
            seen[self.metric] = X.copy()
            return np.arange(len(X)) % 3

    class AffinityRecorder(AffinityPropagation):
        def fit_predict(self, X, y=None):
            seen["similarities"] = X.copy()
            return np.arange(len(X)) % 3

    squares = euclidean_distances(X, squared=True)
    BoostBaseClustering(Recorder(metric="precomputed", linkage="average")).fit(X)
    np.testing.assert_allclose(seen["precomputed"], np.sqrt(squares), atol=1e-6)
    BoostBaseClustering(AffinityRecorder(affinity="precomputed")).fit(X)
    np.testing.assert_allclose(seen["similarities"], -squares, atol=1e-9)


def test_without_constraints_the_result_is_that_of_the_estimator(wine):
    X, classes = wine
    for constraints, y in ((None, None), (Constraints(), None), (None, np.full(len(X), -1)), (None, classes)):
        model = BoostBaseClustering(KMeans(4, n_init=2), random_state=3).fit(X, y, constraints=constraints)
        seed = np.random.RandomState(3).randint(np.iinfo(np.int32).max)
        np.testing.assert_array_equal(model.labels_, KMeans(4, n_init=2, random_state=seed).fit_predict(X))
        assert model.n_clusters_ == 4
        assert model.n_clusters_per_round_ == [4]
        np.testing.assert_array_equal(model.metric_, np.eye(13))


def test_affinity_without_constraints_meets_a_wanted_number(wine):
    X, _ = wine
    assert BoostBaseClustering(random_state=0).fit(X).n_clusters_ == 15
    assert BoostBaseClustering(n_clusters=3, random_state=0).fit(X).n_clusters_ == 3
    assert BoostBaseClustering(n_clusters=3, consensus="components", random_state=0).fit(X).n_clusters_ == 15


# ---- constraints that cannot be met ----------------------------------------------------------------------------------


def test_contradictory_constraints_end_with_a_warning(blobs):
    X, _ = blobs
    links = Constraints(must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)])
    with pytest.warns(UnmetConstraintsWarning, match=r"breaks \d of 3 links. Of \d+ rounds \d+ counted"):
        model = BoostBaseClustering("kmedoids", 3, random_state=0).fit(X, constraints=links)
    assert not model.violations_.is_empty
    assert np.isfinite(model.metric_).all()


def test_constraints_that_no_estimator_can_meet_end_after_three_stalls(blobs):
    X, _ = blobs
    runs = []

    def one_cluster(points):
        runs.append(1)
        return np.zeros(len(points), dtype=int)

    links = Constraints(cannot_link=[(0, 1), (2, 3), (4, 5)])
    with pytest.warns(
        UnmetConstraintsWarning, match=r"breaks 3 of 3 links. Of 3 rounds 0 counted. In 3 .* ended early"
    ):
        model = BoostBaseClustering(one_cluster, max_inner=4, random_state=0).fit(X, constraints=links)
    assert len(runs) == 12
    assert model.stalls_ == model.n_iter_ == 3
    assert model.alphas_.size == 0
    assert model.n_clusters_ == 1
    assert [entry["counted"] for entry in model.history_] == [False] * 3


def test_stalls_apart_from_each_other_do_not_end_the_run(blobs):
    X, _ = blobs
    answers = iter([0, 1, 0, 1, 0, 1])

    def every_other_time(points):
        together = next(answers)
        return np.zeros(len(points), dtype=int) if together else np.arange(len(points))

    links = Constraints(must_link=[(0, 1)])
    model = BoostBaseClustering(every_other_time, n_rounds=6, max_inner=1, max_stalls=2).fit(X, constraints=links)
    assert [entry["counted"] for entry in model.history_] == [False, True] * 3
    assert model.stalls_ == 3
    assert model.violations_.is_empty


@quiet
def test_a_reset_starts_the_weights_again(blobs):
    X, _ = blobs
    answers = iter([(0, 1, 0), (1, 0, 1), (0, 1, 0)])

    def scripted(points):
        # The rows 0 to 2 are linked with row 3, 4 and 5; the script decides which links hold.
        labels = np.arange(len(points))
        for row, holds in enumerate(next(answers)):
            if holds:
                labels[row] = row + 3
        return labels

    links = Constraints(must_link=[(0, 3), (1, 4), (2, 5)], must_link_weight=[0.1, 0.8, 0.1])
    model = BoostBaseClustering(scripted, n_rounds=3, max_inner=1).fit(X, constraints=links)
    errors = [entry["error"] for entry in model.history_]
    np.testing.assert_allclose(errors, [0.2, 0.5, 0.2])
    assert [entry["counted"] for entry in model.history_] == [True, False, True]


# ---- bad input -----------------------------------------------------------------------------------------------------


@quiet
@pytest.mark.parametrize(
    "links",
    [
        Constraints(must_link=[(0, 1)]),
        Constraints(cannot_link=[(0, 1)]),
        Constraints(must_link=[(0, 1), (5, 20), (3, 30)]),
        Constraints(cannot_link=[(0, 1), (5, 20), (3, 30)]),
        Constraints(must_link=[(0, 1)], cannot_link=[(0, 35)]),
    ],
    ids=["one must", "one cannot", "must only", "cannot only", "one of each"],
)
@pytest.mark.parametrize(
    ("estimator", "n_clusters"), [("affinity", None), ("kmedoids", 3), (KMeans(3, n_init=1), None)]
)
def test_few_links_and_one_kind_only(blobs, links, estimator, n_clusters):
    X, _ = blobs
    model = BoostBaseClustering(estimator, n_clusters, n_rounds=5, random_state=0).fit(X, constraints=links)
    assert np.isfinite(model.alphas_).all()
    assert (model.alphas_ > 0).all()
    assert np.isfinite(model.metric_).all()
    assert len(model.labels_) == 36


@pytest.mark.parametrize("estimator", ["affinity", "spectral", "average", "complete", "kmedoids"])
@pytest.mark.parametrize("kind", ["two rows", "constant features", "more features than rows", "one constant feature"])
def test_odd_tables(estimator, kind):
    rng = np.random.default_rng(0)
    X = {
        "two rows": np.array([[0.0, 1.0], [1.0, 0.0]]),
        "constant features": np.full((8, 3), 0.1),
        "more features than rows": rng.normal(size=(6, 40)),
        "one constant feature": np.column_stack([rng.normal(size=10), np.full(10, 0.1)]),
    }[kind]
    n_clusters = None if estimator == "affinity" else 2
    for links in (Constraints(must_link=[(0, 1)]), Constraints(cannot_link=[(0, 1)])):
        for scaled in (False, True):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UnmetConstraintsWarning)
                model = BoostBaseClustering(estimator, n_clusters, scale=scaled, n_rounds=2, random_state=0).fit(
                    X, constraints=links
                )
            assert len(model.labels_) == len(X)
            assert np.isfinite(model.metric_).all()
            assert model.n_clusters_ >= 1


def test_an_estimator_that_fails_names_the_round(blobs):
    X, y = blobs
    runs = []

    def fails_later(points):
        runs.append(1)
        if len(runs) == 7:
            raise ArithmeticError("no more")
        return y

    with pytest.raises(RuntimeError, match=r"fails_later failed in round 7, step 1.*no more") as caught:
        BoostBaseClustering(fails_later).fit(X, constraints=links_of(y))
    assert isinstance(caught.value.__cause__, ArithmeticError)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda points: np.zeros(3, dtype=int), "36 labels, one per row"),
        (lambda points: np.full(36, np.nan), "whole numbers"),
        (lambda points: ["a"] * 36, "integers"),
    ],
)
def test_an_estimator_that_returns_nonsense_names_the_round(blobs, answer, message):
    X, y = blobs
    with pytest.raises(RuntimeError, match=rf"in round 1, step 1.*{message}"):
        BoostBaseClustering(answer).fit(X, constraints=links_of(y))


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"estimator": "kmeans"}, ValueError, "no estimator called 'kmeans'; the names are affinity"),
        ({"estimator": "spectral"}, ValueError, "estimator spectral needs the number of clusters"),
        ({"consensus": "spectral"}, ValueError, "needs the number of clusters"),
        ({"estimator": KMeans}, TypeError, "estimator must be one of affinity"),
        ({"estimator": 3}, TypeError, "estimator must be one of affinity"),
        ({"n_clusters": 37}, ValueError, "n_samples=36 should be >= n_clusters=37"),
        ({"n_clusters": 0}, ValueError, "n_clusters"),
        ({"step": 0.0}, ValueError, "step"),
        ({"step": 1.0}, ValueError, "step"),
        ({"n_rounds": 0}, ValueError, "n_rounds"),
        ({"consensus": "kmeans"}, ValueError, "consensus"),
        ({"assign_labels": "argmax"}, ValueError, "assign_labels"),
        ({"max_samples": 35}, TooLargeError, "estimator affinity.*36 x 36 numbers.*max_samples=35"),
        ({"estimator": "average", "n_clusters": 2, "max_samples": 35}, TooLargeError, "estimator average.*36 x 36"),
        ({"estimator": DBSCAN(metric="precomputed"), "max_samples": 35}, TooLargeError, "estimator DBSCAN.*36 x 36"),
    ],
)
def test_bad_parameters_are_refused(blobs, parameters, error, message):
    X, y = blobs
    with pytest.raises(error, match=message):
        BoostBaseClustering(**parameters).fit(X, constraints=links_of(y))


@quiet
def test_an_estimator_on_features_has_no_limit_of_rows(blobs):
    X, y = blobs
    model = BoostBaseClustering(KMeans(3, n_init=1), max_samples=5, n_rounds=2).fit(X, constraints=links_of(y))
    assert len(model.labels_) == 36


def test_bad_tables_and_constraints_are_refused(blobs):
    X, y = blobs
    with pytest.raises(TooLargeError, match=r"6,000 x 6,000 numbers.*PCA"):
        BoostBaseClustering().fit(np.zeros((2, 6_000)), constraints=Constraints(must_link=[(0, 1)]))
    with pytest.raises(ConstraintError, match="the table has 36 rows"):
        BoostBaseClustering().fit(X, constraints=Constraints(must_link=[(0, 36)]))
    with pytest.raises(TypeError, match=r"mustlink\.Constraints"):
        BoostBaseClustering().fit(X, constraints=[(0, 1)])
    with pytest.raises(ValueError, match="36 rows, and y has 35 labels"):
        BoostBaseClustering().fit(X, y[:-1])
    # A label against a link is a conflict, of which one side is broken.
    with pytest.warns(UnmetConstraintsWarning, match="breaks"):
        model = BoostBaseClustering().fit(X, np.r_[y[:-1], -1], constraints=Constraints(cannot_link=[(0, 1)]))
    assert len(model.violations_)


def test_progress_is_shown_if_asked(blobs, capsys):
    X, y = blobs
    links = Constraints.from_labels(y)
    BoostBaseClustering(lambda points: y, n_rounds=2).fit(X, constraints=links)
    assert capsys.readouterr().out == ""
    BoostBaseClustering(lambda points: y, n_rounds=2, verbose=1).fit(X, constraints=links)
    assert "BoostBaseClustering" in capsys.readouterr().out
