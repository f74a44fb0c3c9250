"""k-means on rows in blocks is k-means on the same rows in memory."""

from __future__ import annotations

import pickle
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from mustlink import LCVQE, Constraints, COPKMeans, MPCKMeans, PCKMeans, PriorityCOPKMeans, SeededKMeans
from mustlink.active import Explore, TruthOracle, ask
from mustlink.blocks import FileRows
from mustlink.errors import InfeasibleError
from mustlink.kmeans._blocked_passes import digest_labels

# Of two components of equal weight rounding decides which MPCKMeans starts from: its columns are divided by deviations
# that are summed in another order in blocks. Draws of rows do not depend on that.
MPCK = MPCKMeans(init="k-means++")

KINDS: dict[str, Any] = {
    "pck": PCKMeans(),
    "pck-random": PCKMeans(init="random", n_init=2),
    "cop": COPKMeans(on_infeasible="relax"),
    "cop-hard": COPKMeans(),
    "lcvqe": LCVQE(),
    "seeded": SeededKMeans(),
    "seeded-held": SeededKMeans(constrained=True),
    "mpck": MPCK,
    "mpck-own": clone(MPCK).set_params(shared_metric=False),
    "mpck-full": clone(MPCK).set_params(metric="full"),
    "mpck-full-own": clone(MPCK).set_params(metric="full", shared_metric=False),
}

pytestmark = [
    pytest.mark.filterwarnings("ignore::mustlink.errors.UnmetConstraintsWarning"),
    pytest.mark.filterwarnings("ignore::mustlink.errors.InfeasibleWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


def make_rows(seed: int, n_rows: int, n_features: int, dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of three classes in columns of different units, and the classes."""
    rng = np.random.RandomState(seed)
    classes = rng.randint(3, size=n_rows)
    centers = rng.normal(scale=3, size=(3, n_features))
    X = (centers[classes] + rng.normal(size=(n_rows, n_features))) * 10.0 ** rng.randint(-2, 3, size=n_features)
    return X.astype(dtype), classes


def make_links(kind: str, X: np.ndarray, classes: np.ndarray, seed: int) -> Constraints | None:
    n, rng = len(X), np.random.RandomState(seed)
    if kind == "none" or n < 4:
        return None
    if kind == "sampled":
        return Constraints.sample(classes, n_pairs=min(n, 20), balanced=False, noise=0.1, random_state=seed)
    if kind == "labels":
        return Constraints.from_labels(np.where(rng.uniform(size=n) < 0.2, classes, -1))
    if kind == "asked":
        return ask(Explore(X, 3, random_state=seed), TruthOracle(classes), 8)
    if kind in ("must", "cannot"):
        pairs = [(a, b) for a, b in rng.randint(n, size=(n // 3, 2)) if a != b]
        same = [pair for pair in pairs if classes[pair[0]] == classes[pair[1]]]
        apart = [pair for pair in pairs if classes[pair[0]] != classes[pair[1]]]
        return Constraints(must_link=same) if kind == "must" else Constraints(cannot_link=apart)
    # One large component, a few heavy cannot-links and many light ones.
    others = [(0, b) for b in range(n // 2, n)]
    weight = np.where(np.arange(len(others)) < 2, 100.0, 0.01)
    return Constraints([(a, a + 1) for a in range(n // 3)], others, cannot_link_weight=weight)


def assert_same(in_memory: Any, in_blocks: Any) -> None:
    np.testing.assert_array_equal(in_blocks.labels_, in_memory.labels_)
    assert in_blocks.labels_.dtype == np.int32
    assert in_blocks.n_iter_ == in_memory.n_iter_
    assert in_blocks.violations_ == in_memory.violations_
    np.testing.assert_allclose(in_blocks.cluster_centers_, in_memory.cluster_centers_, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(in_blocks.objective_, in_memory.objective_, rtol=1e-6)
    for name in ("inertia_", "metrics_"):
        if hasattr(in_memory, name):
            np.testing.assert_allclose(getattr(in_blocks, name), getattr(in_memory, name), rtol=1e-6, atol=1e-12)


def fit_both(model: Any, X: np.ndarray, block_rows: int, y: Any = None, **given: Any) -> tuple[Any, Any]:
    try:
        in_memory = clone(model).fit(X, y, **given)
    except InfeasibleError as error:
        with pytest.raises(InfeasibleError, match=re.escape(str(error))):
            clone(model).fit(FileRows(X, block_rows=block_rows), y, **given)
        raise
    return in_memory, clone(model).fit(FileRows(X, block_rows=block_rows), y, **given)


@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=25)
@given(
    seed=st.integers(0, 10_000),
    n_rows=st.integers(30, 300),
    n_features=st.sampled_from([1, 2, 5, 40]),
    n_clusters=st.integers(1, 5),
    block_rows=st.integers(1, 320),
    dtype=st.sampled_from([np.float32, np.float64]),
    links=st.sampled_from(["none", "sampled", "labels", "asked", "must", "cannot", "unequal"]),
)
def test_blocks_give_the_result_of_memory(
    name: str, seed: int, n_rows: int, n_features: int, n_clusters: int, block_rows: int, dtype: Any, links: str
) -> None:
    X, classes = make_rows(seed, n_rows, n_features, dtype)
    model = clone(KINDS[name]).set_params(n_clusters=n_clusters, random_state=seed)
    try:
        found = fit_both(model, X, block_rows, constraints=make_links(links, X, classes, seed))
    except InfeasibleError:
        # In memory and in blocks.
        return
    assert_same(*found)


@pytest.mark.parametrize("name", KINDS)
def test_empty_clusters_are_filled_with_the_same_rows(name: str) -> None:
    X, classes = make_rows(0, 90, 2, np.float64)
    far = np.array([[0.0, 0.0], *(1e3 * np.eye(2) * X.std(axis=0)), *(-2e3 * np.eye(2) * X.std(axis=0))])
    model = clone(KINDS[name]).set_params(n_clusters=5, random_state=0)
    if "init" in model.get_params() and model.init != "random":
        model.set_params(init=far)
    for links in (None, make_links("must", X, classes, 0), make_links("unequal", X, classes, 0)):
        if name == "cop-hard" and links is not None:
            continue
        in_memory, in_blocks = fit_both(model, X, 7, constraints=links)
        assert_same(in_memory, in_blocks)
        assert len(np.unique(in_memory.labels_)) > 1


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("block_rows", [1, 4, 12])
def test_few_and_equal_rows(name: str, block_rows: int) -> None:
    X, _ = make_rows(1, 6, 2, np.float64)
    repeated = np.repeat(X[:3], 4, axis=0)
    for table, n_clusters in ((X, 6), (repeated, 3), (repeated, 5), (X[:1], 1), (np.ones((4, 2)), 2)):
        model = clone(KINDS[name]).set_params(n_clusters=n_clusters, random_state=0)
        in_memory, in_blocks = fit_both(model, table, block_rows)
        if n_clusters > len(np.unique(table, axis=0)):
            # Two centers are at one place, and rounding decides which number is used: that of products of few rows.
            assert adjusted_rand_score(in_blocks.labels_, in_memory.labels_) == 1.0
            continue
        np.testing.assert_array_equal(in_blocks.labels_, in_memory.labels_)
    with pytest.raises(ValueError, match=r"n_samples=6 should be >= n_clusters=7"):
        clone(KINDS[name]).set_params(n_clusters=7).fit(FileRows(X, block_rows=block_rows))


@pytest.mark.parametrize("name", KINDS)
def test_partial_labels(name: str) -> None:
    X, classes = make_rows(2, 120, 3, np.float32)
    y = np.where(np.random.RandomState(0).uniform(size=120) < 0.15, classes, -1)
    model = clone(KINDS[name]).set_params(n_clusters=3, random_state=0)
    assert_same(*fit_both(model, X, 13, y))
    assert_same(*fit_both(model, X, 13, y, constraints=make_links("sampled", X, classes, 1)))


@pytest.mark.parametrize("name", ["pck", "cop", "lcvqe", "mpck"])
def test_groups_of_cannot_links(name: str) -> None:
    X, _ = make_rows(3, 90, 2, np.float64)
    links = Constraints.from_groups(np.arange(90) // 3).add(Constraints(must_link=[(0, 5), (5, 88)]))
    model = clone(KINDS[name]).set_params(n_clusters=4, random_state=0)
    assert_same(*fit_both(model, X, 11, constraints=links))


@pytest.mark.parametrize("name", ["pck", "cop", "lcvqe", "mpck-full-own"])
def test_constant_columns_and_a_large_offset(name: str) -> None:
    X, classes = make_rows(4, 200, 3, np.float64)
    X = np.column_stack([X + np.array([1e5, 0, -1e6]), np.full(200, 0.1)])
    model = clone(KINDS[name]).set_params(n_clusters=3, random_state=0)
    assert_same(*fit_both(model, X, 17, constraints=make_links("sampled", X, classes, 0)))


@pytest.mark.parametrize("metric", ["diagonal", "full"])
@pytest.mark.parametrize("shared_metric", [True, False])
def test_learned_metrics_from_components(metric: str, shared_metric: bool) -> None:
    X, classes = make_rows(9, 200, 4, np.float32)
    model = MPCKMeans(n_clusters=4, metric=metric, shared_metric=shared_metric, random_state=0)
    for kind in ("sampled", "labels", "must"):
        assert_same(*fit_both(model, X, 19, constraints=make_links(kind, X, classes, 3)))


def test_links_of_every_row() -> None:
    """No row is free, and some blocks have rows of the rule alone."""
    X, classes = make_rows(5, 60, 2, np.float64)
    for name, model in KINDS.items():
        links = Constraints.from_labels(np.where(np.arange(60) < 55, classes, -1))
        model = clone(model).set_params(n_clusters=3, random_state=0)
        in_memory, in_blocks = fit_both(model, X, 5, constraints=links)
        np.testing.assert_array_equal(in_blocks.labels_, in_memory.labels_, err_msg=name)


def test_a_run_stops_when_no_label_changes() -> None:
    X, _ = make_rows(6, 300, 2, np.float64)
    for name in ("pck", "lcvqe", "mpck"):
        model = clone(KINDS[name]).set_params(n_clusters=4, tol=0.0, random_state=0)
        in_memory, in_blocks = fit_both(model, X, 31)
        assert in_memory.n_iter_ < model.max_iter
        assert_same(in_memory, in_blocks)


@pytest.mark.parametrize("n_clusters", [3, 255, 256, 70_000])
def test_digests_tell_labels_apart_but_for_rows_that_links_place(n_clusters: int) -> None:
    labels = np.random.RandomState(0).randint(n_clusters, size=1_000).astype(np.int32)
    held = np.array([5, 900])
    digest = digest_labels(labels, n_clusters, held, 0)
    for row in (0, 5, 900, 999):
        other = labels.copy()
        other[row] = (labels[row] + 256) % n_clusters if n_clusters > 256 else (labels[row] + 1) % n_clusters
        is_same = np.array_equal(digest_labels(other, n_clusters, held, 0), digest)
        assert is_same == (row in held)
    assert not np.array_equal(digest_labels(labels, n_clusters, held, 1), digest)


def test_starts_from_a_sample_of_many_rows() -> None:
    """More than 100,000 rows, of which the starts see a sample; about two seconds."""
    X, classes = make_rows(7, 120_000, 2, np.float32)
    links = Constraints.sample(classes, n_pairs=40, random_state=0)
    for name in ("pck", "cop", "lcvqe", "mpck"):
        model = clone(KINDS[name]).set_params(n_clusters=3, random_state=0, max_iter=20)
        in_memory, in_blocks = fit_both(model, X, 9_999, constraints=links)
        np.testing.assert_array_equal(in_blocks.labels_, in_memory.labels_, err_msg=name)
        assert in_blocks.n_iter_ == in_memory.n_iter_


def test_weights_are_refused() -> None:
    rows = FileRows(make_rows(0, 10, 2, np.float64)[0])
    with pytest.raises(ValueError, match="sample_weight is not supported for rows that are read in blocks"):
        PCKMeans(n_clusters=2).fit(rows, sample_weight=np.ones(10))
    fitted = PCKMeans(n_clusters=2, random_state=0).fit(rows)
    with pytest.raises(ValueError, match="sample_weight is not supported for rows that are read in blocks"):
        fitted.score(rows, sample_weight=np.ones(10))


@pytest.mark.parametrize("name", KINDS)
def test_what_a_fit_in_blocks_leaves(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    X, classes = make_rows(8, 80, 3, np.float32)
    rows = FileRows(X, ["a", "b", "c"], block_rows=9)
    model = clone(KINDS[name]).set_params(n_clusters=3, random_state=0, verbose=1)
    model.fit(rows, constraints=make_links("must", X, classes, 0))
    assert f"{type(model).__name__}, run 1" in capsys.readouterr().out
    assert type(model).__name__ in model._repr_html_()
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert clone(model).get_params() == model.get_params()
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(rows), model.predict(rows))
    np.testing.assert_array_equal(again.labels_, model.labels_)
    np.testing.assert_array_equal(model.fit_predict(rows), model.labels_)
    if hasattr(model, "score"):
        fitted = clone(model).fit(X)
        assert fitted.score(FileRows(X, block_rows=9)) == pytest.approx(fitted.score(X), rel=1e-5)


def test_links_beyond_the_rows_are_named() -> None:
    rows = FileRows(make_rows(0, 10, 2, np.float64)[0])
    with pytest.raises(ValueError, match="the table has 10 rows"):
        PCKMeans(n_clusters=2).fit(rows, constraints=Constraints(must_link=[(0, 10)]))


def test_starts_of_priorities_are_those_of_memory_beyond_the_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mustlink.kmeans._base.MAX_ROWS_OF_STARTS", 100)
    X = np.random.RandomState(0).normal(size=(500, 3)) + 4.0 * (np.arange(500) % 3)[:, None]
    links = Constraints(must_link=[(0, 3), (1, 4)], cannot_link=[(0, 1)])
    in_memory = PriorityCOPKMeans(3, random_state=0).fit(X, constraints=links)
    in_blocks = PriorityCOPKMeans(3, random_state=0).fit(FileRows(X, block_rows=70), constraints=links)
    assert (in_blocks.labels_ == in_memory.labels_).all()
