"""Boosting on rows in blocks: the labels of a fit in memory for small tables, passes over all rows for large ones."""

from __future__ import annotations

import signal
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import AgglomerativeClustering, KMeans, MiniBatchKMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from mustlink import Constraints
from mustlink.blocks import BlockedRows, FileRows
from mustlink.boosting import BoostCluster, BoostedConstrainedKMeans, CoAssociation, RobustBoostCluster
from mustlink.boosting._blocked import _refinement, _shown
from mustlink.boosting._blocked._checkpoint import Checkpoint, describe_table, digest, rounded
from mustlink.boosting._blocked._code_passes import CodeBlocks
from mustlink.boosting._code_kmeans import centers_of, compute_centers, sum_codes
from mustlink.errors import TooLargeError

N_CLUSTERS = 3
FAST: dict[type, dict[str, Any]] = {
    BoostCluster: {"n_rounds": 6},
    RobustBoostCluster: {"n_rounds": 6, "n_trials": 2},
    BoostedConstrainedKMeans: {"n_rounds": 8},
}
CLASSES = list(FAST)


def make(cls: type, **settings: Any) -> Any:
    return cls(**{"n_clusters": N_CLUSTERS, "random_state": 0, **FAST[cls], **settings})


def make_table(n_rows: int = 1_500, n_columns: int = 4, dtype: Any = np.float64, seed: int = 0) -> tuple[Any, Any]:
    """Rows of three overlapping classes, of columns with different units, one of them constant."""
    rng = np.random.RandomState(seed)
    y = rng.randint(N_CLUSTERS, size=n_rows)
    means = 2.5 * rng.normal(size=(N_CLUSTERS, n_columns))
    X = (means[y] + rng.normal(size=(n_rows, n_columns))) * (1 + np.arange(n_columns)) + 5
    X[:, -1] = 7.25
    return X.astype(dtype), y


def draw_links(y: Any, n_pairs: int = 60, wrong: float = 0.0, seed: int = 0) -> Constraints:
    """Links between few rows, so that those that are wrong contradict others."""
    rng = np.random.RandomState(seed)
    pool = rng.choice(len(y), size=max(20, n_pairs // 2), replace=False)
    pairs = np.array([rng.choice(pool, size=2, replace=False) for _ in range(n_pairs)])
    is_must = (y[pairs[:, 0]] == y[pairs[:, 1]]) ^ (rng.uniform(size=n_pairs) < wrong)
    return Constraints.from_pairs(pairs, np.where(is_must, 1, -1), contradictions="keep")


@pytest.fixture
def few_rows_held(monkeypatch: pytest.MonkeyPatch) -> int:
    """Only so few rows are in memory that small tables are fitted in passes."""
    monkeypatch.setattr(_shown, "MAX_ROWS_HELD", 300)
    return 300


class CountedRows(FileRows):
    """Rows that count the passes over them; one of the passes can fail."""

    n_passes = 0
    fails_at: int | None = None

    def _work(self, *arguments: Any) -> Any:
        self.n_passes += 1
        if self.n_passes == self.fails_at:
            raise KeyboardInterrupt
        return super()._work(*arguments)


# ---- small tables: as in memory -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("cls", CLASSES)
def test_a_small_table_has_the_labels_of_a_fit_in_memory(cls: type, dtype: Any) -> None:
    X, y = make_table(400, dtype=dtype)
    links = draw_links(y, wrong=0.2)
    expected = make(cls).fit(X, constraints=links)
    found = make(cls).fit(FileRows(X, block_rows=70), constraints=links)
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    assert found.violations_ == expected.violations_
    assert found.history_ == expected.history_
    assert found.coassociation_ == expected.coassociation_


@pytest.mark.parametrize("cls", CLASSES)
def test_labels_are_written_to_a_file_on_request(cls: type, tmp_path: Path, few_rows_held: int) -> None:
    for n_rows in (200, 900):
        X, y = make_table(n_rows)
        links, path = draw_links(y, 30), tmp_path / f"{n_rows}.npy"
        found = make(cls).fit(FileRows(X, block_rows=70, labels=path), constraints=links).labels_
        assert isinstance(found, np.memmap)
        expected = make(cls).fit(FileRows(X, block_rows=70), constraints=links).labels_
        np.testing.assert_array_equal(np.load(path), expected)


def test_a_small_table_in_blocks_can_be_refitted_with_more_links() -> None:
    X, y = make_table(300)
    links, more = draw_links(y, 30), draw_links(y, 36)
    model, expected = (make(RobustBoostCluster, warm_start=True) for _ in range(2))
    for given_links in (links, links.add(more)):
        model.fit(FileRows(X, block_rows=70), constraints=given_links)
        expected.fit(X, constraints=given_links)
    np.testing.assert_array_equal(model.labels_, expected.labels_)


# ---- large tables: in passes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("cls", CLASSES)
def test_a_large_table_is_clustered_as_in_memory(cls: type, dtype: Any, few_rows_held: int) -> None:
    X, y = make_table(dtype=dtype)
    links = draw_links(y)
    expected = make(cls).fit(X, constraints=links)
    found = make(cls).fit(FileRows(X, block_rows=190), constraints=links)
    assert adjusted_rand_score(expected.labels_, found.labels_) > 0.95
    assert adjusted_rand_score(y, found.labels_) > adjusted_rand_score(y, expected.labels_) - 0.02
    assert found.labels_.dtype == np.int32
    assert found.violations_ == links.violations(found.labels_)
    assert found.coassociation_.n_samples < len(X) / 3


@pytest.mark.parametrize("cls", CLASSES)
def test_the_blocks_do_not_matter(cls: type, few_rows_held: int) -> None:
    X, y = make_table()
    links = draw_links(y, wrong=0.1)
    one, *others = (make(cls).fit(FileRows(X, block_rows=size), constraints=links) for size in (61, 500, 5_000))
    for other in others:
        np.testing.assert_array_equal(one.labels_, other.labels_)
        np.testing.assert_allclose(one.alphas_, other.alphas_, rtol=1e-9)


@pytest.mark.parametrize("wrong", [0.0, 0.25])
def test_boosted_constrained_kmeans_in_passes_is_that_in_memory(wrong: float, few_rows_held: int) -> None:
    X, y = make_table()
    links = draw_links(y, 200, wrong)
    expected = make(BoostedConstrainedKMeans).fit(X, constraints=links)
    found = make(BoostedConstrainedKMeans).fit(FileRows(X, block_rows=190), constraints=links)
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    np.testing.assert_allclose(found.round_centers_, expected.round_centers_)
    np.testing.assert_allclose(found.objective_, expected.objective_)
    assert found.violations_ == expected.violations_
    assert found.n_iter_ == 8
    np.testing.assert_array_equal(found.predict(X), expected.predict(X))


@pytest.mark.parametrize("wrong", [0.0, 0.25])
def test_boosted_constrained_kmeans_goes_on_in_blocks(wrong: float, few_rows_held: int) -> None:
    X, y = make_table()
    links, rows = draw_links(y, 200, wrong), FileRows(X, block_rows=190)
    whole = make(BoostedConstrainedKMeans, n_rounds=8).fit(rows, constraints=links)
    parts = make(BoostedConstrainedKMeans, n_rounds=3, warm_start=True).fit(rows, constraints=links)
    parts.set_params(n_rounds=8).fit(rows, constraints=links)
    np.testing.assert_array_equal(parts.labels_, whole.labels_)
    assert parts.coassociation_ == whole.coassociation_
    longer = FileRows(np.vstack([X, X[:1]]), block_rows=190)
    with pytest.raises(ValueError, match=r"a model of 1500 rows, and X has 1501"):
        parts.fit(longer, constraints=links)


@pytest.mark.parametrize("cls", CLASSES)
def test_without_links_all_rows_are_clustered_by_the_base(cls: type, few_rows_held: int) -> None:
    X, _ = make_table()
    found = make(cls).fit(FileRows(X, block_rows=190))
    expected = make(cls).fit(X)
    assert adjusted_rand_score(expected.labels_, found.labels_) > 0.98
    assert found.violations_.is_empty


def test_kmeans_without_links_ends_at_means_of_all_rows(few_rows_held: int) -> None:
    X, _ = make_table()
    estimator = KMeans(N_CLUSTERS, n_init=1, tol=0)
    model = BoostCluster(estimator, N_CLUSTERS, scale=False, random_state=0).fit(FileRows(X, block_rows=190))
    centers = model._voters[0].model.centers
    np.testing.assert_allclose(centers, [X[model.labels_ == c].mean(axis=0) for c in range(N_CLUSTERS)])
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("with_links", [False, True])
@pytest.mark.parametrize("cls", [BoostCluster, RobustBoostCluster])
def test_a_cluster_without_a_row_in_memory_is_found(
    cls: type, with_links: bool, few_rows_held: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.RandomState(0)
    X = rng.normal(size=(2_000, 2))
    y = np.repeat([1, 0], 1_000)
    X[:1_000] += 8
    far = np.array([123, 1_456])
    X[far] = rng.normal(loc=1e4, size=(2, 2))
    draw = _shown.sample_without_replacement

    def draw_without_far(*args: Any, **kwargs: Any) -> Any:
        return np.setdiff1d(draw(*args, **kwargs), far)

    monkeypatch.setattr(_shown, "sample_without_replacement", draw_without_far)
    rest = np.setdiff1d(np.arange(2_000), far)
    links = Constraints()
    if with_links:
        links = Constraints.sample(np.where(np.isin(np.arange(2_000), rest), y, -1), n_pairs=40, random_state=0)
    for seed in range(3):
        # Trials are of the rows in memory only.
        settings = {"trial_weight": 0.0} if cls is RobustBoostCluster else {}
        model = make(cls, estimator=KMeans(n_init=3), random_state=seed, **settings).fit(FileRows(X), constraints=links)
        assert not np.isin(model.labels_[far], model.labels_[rest]).any()
        assert model.n_clusters_ == len(np.unique(model.labels_)) == model.labels_.max() + 1
        np.testing.assert_array_equal(model.predict(X[far]), model.labels_[far])
        if with_links:
            assert model.violations_.is_empty


@pytest.mark.parametrize("kind", ["must_link", "cannot_link"])
@pytest.mark.parametrize("cls", CLASSES)
def test_one_kind_of_link_is_enough(cls: type, kind: str, few_rows_held: int) -> None:
    X, y = make_table()
    links = Constraints(**{kind: getattr(draw_links(y), kind)})
    found = make(cls).fit(FileRows(X, block_rows=190), constraints=links)
    assert adjusted_rand_score(make(cls).fit(X, constraints=links).labels_, found.labels_) > 0.9


def test_certain_links_are_all_kept(few_rows_held: int) -> None:
    X, y = make_table()
    links = draw_links(y, 80)
    found = make(RobustBoostCluster, trust="certain").fit(FileRows(X, block_rows=190), constraints=links)
    assert found.violations_.is_empty
    assert links.violations(found.labels_).is_empty


def test_certain_links_that_contradict_each_other_are_named_by_their_rows(few_rows_held: int) -> None:
    X, _ = make_table()
    links = Constraints([(1_000, 1_100), (1_100, 1_200)], [(1_000, 1_200)])
    with pytest.raises(ValueError, match=r"Rows 1000 and 1200 .* 1000 - 1100 - 1200"):
        make(RobustBoostCluster, trust="certain").fit(FileRows(X), constraints=links)


def test_what_is_said_of_links_names_the_rows_of_the_table(few_rows_held: int) -> None:
    X, y = make_table()
    links = draw_links(y, 150, wrong=0.2)
    for cls in (BoostCluster, RobustBoostCluster):
        model = make(cls).fit(FileRows(X, block_rows=190), constraints=links)
        pairs = {tuple(pair) for pair in links.pairs.tolist()}
        assert model.suspects_
        assert all((suspect.a, suspect.b) in pairs for suspect in model.suspects_)
    assert model.trust_.shape == (len(links),)
    for suspect in model.suspects_:
        # A pair may be linked both ways.
        of_pair = model.trust_[(links.pairs == (suspect.a, suspect.b)).all(axis=1)]
        assert np.isclose(of_pair, suspect.trust).any()
    assert model.column_weights_.shape == (4,)
    assert model.column_weights_[-1] == 0


def square(table: Any) -> Any:
    """A base that is a function."""
    return (table[:, 0] > np.median(table[:, 0])).astype(int)


@pytest.mark.parametrize(
    "estimator",
    [
        AgglomerativeClustering(N_CLUSTERS),
        GaussianMixture(N_CLUSTERS),
        MiniBatchKMeans(N_CLUSTERS, n_init=1),
        # Of runs that divide the rows in two, a consensus of three is not always found.
        pytest.param(
            square, marks=pytest.mark.filterwarnings("ignore:3 clusters were asked for, and 2 were found"), id="square"
        ),
    ],
    ids=lambda one: getattr(one, "__name__", type(one).__name__),
)
@pytest.mark.parametrize("cls", [BoostCluster, RobustBoostCluster])
def test_any_base_clusters_the_sample(
    cls: type, estimator: Any, few_rows_held: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_refinement, "MAX_ROWS_WITHOUT_PREDICT", 200)
    X, y = make_table()
    model = make(cls, estimator=estimator).fit(FileRows(X, block_rows=190), constraints=draw_links(y))
    assert adjusted_rand_score(y, model.labels_) > (0.2 if estimator is square else 0.75)
    assert (model.predict(X) == model.labels_).mean() > 0.95


@pytest.mark.parametrize("consensus", ["codes", "eigenvectors", "base"])
@pytest.mark.parametrize("representation", ["ridged", "difference", "whitened", "projection", "published"])
def test_all_representations_and_consensus_functions_take_blocks(
    representation: str, consensus: str, few_rows_held: int
) -> None:
    X, y = make_table()
    X = X[:, :3]
    model = make(BoostCluster, representation=representation, consensus=consensus, n_components=2)
    model.fit(FileRows(np.ascontiguousarray(X), block_rows=500), constraints=draw_links(y))
    assert len(np.unique(model.labels_)) == N_CLUSTERS
    assert (model.predict(X) == model.labels_).mean() > 0.97


@pytest.mark.parametrize("cls", CLASSES)
def test_predict_takes_blocks(cls: type, few_rows_held: int) -> None:
    X, y = make_table()
    new, _ = make_table(700, seed=1)
    links = draw_links(y, wrong=0.1)
    for rows in (X, FileRows(X, block_rows=190)):
        model = make(cls).fit(rows, constraints=links)
        np.testing.assert_array_equal(model.predict(FileRows(new, block_rows=90)), model.predict(new))


@pytest.mark.parametrize("cls", CLASSES)
def test_a_fitted_model_has_no_rows_in_blocks(cls: type, few_rows_held: int) -> None:
    X, y = make_table()
    model = make(cls).fit(FileRows(X, block_rows=190), constraints=draw_links(y, wrong=0.1))

    def held(value: Any, depth: int = 0) -> Iterator[Any]:
        yield value
        if depth < 6:
            inside = vars(value).values() if hasattr(value, "__dict__") else value if isinstance(value, list) else ()
            for one in inside:
                yield from held(one, depth + 1)

    assert not any(isinstance(value, BlockedRows) for value in held(model))


def test_partial_labels_are_links(few_rows_held: int) -> None:
    X, y = make_table()
    partial = np.where(np.random.RandomState(0).uniform(size=len(y)) < 0.03, y, -1)
    found = make(RobustBoostCluster).fit(FileRows(X, block_rows=190), partial)
    assert adjusted_rand_score(make(RobustBoostCluster).fit(X, partial).labels_, found.labels_) > 0.9


def test_verbose_says_how_many_bytes_the_codes_take(few_rows_held: int, capsys: pytest.CaptureFixture[str]) -> None:
    X, y = make_table()
    make(BoostCluster, verbose=1).fit(FileRows(X, block_rows=190), constraints=draw_links(y))
    said = capsys.readouterr().out
    assert "The codes take 1 byte per row and round, 6 per row in 6 rounds, 0.000 GB in all." in said
    assert said.count("codes take") == 1


@pytest.mark.parametrize("max_rows", [300, 5_000])
@pytest.mark.parametrize("cls", CLASSES)
def test_dask_has_the_labels_of_a_file(cls: type, max_rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    da = pytest.importorskip("dask.array")
    monkeypatch.setattr(_shown, "MAX_ROWS_HELD", max_rows)
    X, y = make_table()
    links, there = draw_links(y, 100, wrong=0.15), da.from_array(X, chunks=(200, 4))
    expected = make(cls).fit(FileRows(X, block_rows=200), constraints=links)
    found = make(cls).fit(there, constraints=links)
    assert isinstance(found.labels_, da.Array)
    np.testing.assert_array_equal(found.labels_.compute(), expected.labels_)
    np.testing.assert_array_equal(found.predict(there).compute(), expected.predict(X))


# ---- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", CLASSES)
def test_a_number_that_is_missing_is_named_with_its_block(cls: type, few_rows_held: int) -> None:
    X, y = make_table()
    X[1_234, 2] = np.nan
    with pytest.raises(ValueError, match=r"contains NaN: row 1,234, column 2 of X \(block 13 of 15, row 34 of the bl"):
        make(cls).fit(FileRows(X, block_rows=100), constraints=draw_links(y))


@pytest.mark.parametrize("cls", [BoostCluster, RobustBoostCluster])
def test_more_columns_than_fit_are_refused_with_their_number(cls: type, few_rows_held: int) -> None:
    X = np.random.RandomState(0).normal(size=(400, 129))
    with pytest.raises(TooLargeError, match=r"at most 128 columns, and X has 129; reduce the columns first"):
        make(cls).fit(FileRows(X), constraints=Constraints([(0, 1)], [(0, 2)]))
    # In memory, and in few rows, they are no problem.
    make(cls, n_rounds=2).fit(FileRows(X[:300]), constraints=Constraints([(0, 1)], [(0, 2)]))


@pytest.mark.parametrize("cls", CLASSES)
def test_more_linked_rows_than_fit_are_refused_with_the_size(
    cls: type, few_rows_held: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_shown, "MAX_NUMBERS_HELD", 50)
    X, y = make_table()
    with pytest.raises(TooLargeError, match=r"holds all \d+ linked rows in memory and needs an array of \d+ x 4 numbe"):
        make(cls).fit(FileRows(X), constraints=draw_links(y, 40))


def test_a_warm_start_is_refused_beyond_memory(few_rows_held: int) -> None:
    X, y = make_table()
    with pytest.raises(ValueError, match=r"X is read in blocks \(1,500 rows\).*checkpoint"):
        make(RobustBoostCluster, warm_start=True).fit(FileRows(X), constraints=draw_links(y))


# ---- checkpoints ----------------------------------------------------------------------------------------------------


def count_passes(cls: type, X: Any, links: Constraints, fails_at: int | None = None, **options: Any) -> tuple[Any, int]:
    """Fit, and return the model, or None if a pass failed, and the number of passes."""
    rows = CountedRows(X, block_rows=400, **options)
    rows.fails_at = fails_at
    # Of several bases only k-means makes passes.
    bases = {"estimator": None} if cls is RobustBoostCluster else {}
    model = make(cls, n_rounds=10, **bases)
    try:
        model.fit(rows, constraints=links)
    except KeyboardInterrupt:
        return None, rows.n_passes
    return model, rows.n_passes


@pytest.mark.parametrize("cls", CLASSES)
def test_a_fit_goes_on_after_it_was_interrupted(cls: type, tmp_path: Path, few_rows_held: int) -> None:
    X, y = make_table()
    links = draw_links(y, 200, wrong=0.2)
    expected, n_passes = count_passes(cls, X, links)
    folder = tmp_path / "new" / "rounds"
    stopped, _ = count_passes(cls, X, links, fails_at=n_passes // 2, checkpoint=folder)
    assert stopped is None
    kept = sorted(folder.iterdir())
    assert 1 < len(kept) < 10
    assert {path.suffix for path in kept} == {".npz"}
    found, n_passes_again = count_passes(cls, X, links, checkpoint=folder)
    assert n_passes_again < 0.8 * n_passes
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    assert found.history_ == expected.history_
    # When all rounds are there, only the passes after them are made.
    again, n_passes_last = count_passes(cls, X, links, checkpoint=folder)
    assert n_passes_last < n_passes_again
    np.testing.assert_array_equal(again.labels_, expected.labels_)


KILLED_FIT = """
import os, signal, sys
import numpy as np
from mustlink import BoostCluster, Constraints
from mustlink.blocks import FileRows
from mustlink.boosting._blocked import _checkpoint, _shown

_shown.MAX_ROWS_HELD = 300
save = _checkpoint.Checkpoint._save

def save_and_die(self, path, arrays):
    if len(os.listdir(self._folder)) == 4:
        os.kill(os.getpid(), signal.SIGKILL)
    save(self, path, arrays)

_checkpoint.Checkpoint._save = save_and_die
table, links, folder = sys.argv[1:]
rows = FileRows(np.load(table, mmap_mode="r"), block_rows=400, checkpoint=folder)
BoostCluster(n_clusters=3, n_rounds=10, random_state=0).fit(rows, constraints=Constraints.read(links))
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes are killed by a signal of POSIX")
def test_a_fit_goes_on_after_its_process_was_killed(tmp_path: Path, few_rows_held: int) -> None:
    X, y = make_table()
    links, folder = draw_links(y, 200), tmp_path / "rounds"
    table, pairs = tmp_path / "rows.npy", tmp_path / "links.csv"
    np.save(table, X)
    links.write(pairs)
    done = subprocess.run([sys.executable, "-c", KILLED_FIT, table, pairs, folder], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    assert len(list(folder.glob("*.npz"))) == 4
    expected, n_passes = count_passes(BoostCluster, X, links)
    found, n_passes_again = count_passes(BoostCluster, np.load(table, mmap_mode="r"), links, checkpoint=folder)
    assert n_passes_again < n_passes
    np.testing.assert_array_equal(found.labels_, expected.labels_)


@pytest.mark.parametrize("cls", CLASSES)
def test_checkpoints_of_another_fit_change_nothing(cls: type, tmp_path: Path, few_rows_held: int) -> None:
    X, y = make_table()
    links, other_links = draw_links(y, 200, wrong=0.2), draw_links(y, 200, wrong=0.2, seed=1)
    expected, n_passes = count_passes(cls, X, links)
    other_table = X.copy()
    other_table[7, 1] += 100.0
    count_passes(cls, other_table, links, checkpoint=tmp_path)
    count_passes(cls, X, other_links, checkpoint=tmp_path)
    found, n_passes_found = count_passes(cls, X, links, checkpoint=tmp_path)
    assert n_passes_found == n_passes
    np.testing.assert_array_equal(found.labels_, expected.labels_)


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("kind", ["small unit", "other means", "rows swapped"])
def test_checkpoints_of_a_table_with_nearly_the_same_moments_change_nothing(
    cls: type, kind: str, tmp_path: Path, few_rows_held: int
) -> None:
    X, y = make_table()
    X[:, 0] *= 1e-6
    links = draw_links(y, 200, wrong=0.2)
    expected, n_passes = count_passes(cls, X, links)
    other, rows = X.copy(), links.constrained_rows()
    if kind == "small unit":
        # The range stays the same.
        inner = np.setdiff1d(np.arange(len(X)), [X[:, 0].argmin(), X[:, 0].argmax(), *rows])
        other[inner, 0] *= 0.5
    elif kind == "other means":
        inner = np.setdiff1d(np.arange(len(X)), [*X.argmin(axis=0), *X.argmax(axis=0), *rows])
        other[inner, 1] = X[:, 1].min() + X[:, 1].max() - X[inner, 1]
    else:
        other[rows[:2]] = X[rows[:2][::-1]]
    count_passes(cls, other, links, checkpoint=tmp_path)
    found, n_passes_found = count_passes(cls, X, links, checkpoint=tmp_path)
    assert n_passes_found == n_passes
    np.testing.assert_array_equal(found.labels_, expected.labels_)


def test_a_checkpoint_depends_on_columns_in_their_own_units_and_on_the_order_of_held_rows() -> None:
    X, _ = make_table(200)
    X[:, 0] *= 1e-6
    X[:, 2] -= X[:, 2].mean()

    def key(table: Any) -> str:
        return digest(*describe_table(FileRows(table, block_rows=30), table[:2]))

    swapped, small, middle = X.copy(), X.copy(), np.setdiff1d(np.arange(2, 200), [X[:, 0].argmin(), X[:, 0].argmax()])
    swapped[:2] = X[1::-1]
    small[middle[0], 0] = X[middle[1], 0]
    assert len({key(X), key(swapped), key(small)}) == 3
    # Sums in other blocks differ by rounding only.
    assert digest(*describe_table(FileRows(X, block_rows=71), X[:2])) == key(X)


def test_checkpoints_of_other_starting_centers_change_nothing(tmp_path: Path, few_rows_held: int) -> None:
    X = np.random.RandomState(0).normal(size=(1_000, 100))
    start = X[:12].copy()
    other = start.copy()
    # In the middle, which repr leaves out.
    other[5:7] = X[900:902]

    def fit(init: Any, folder: Path | None) -> Any:
        estimator = KMeans(12, init=init, n_init=1, max_iter=2)
        return BoostCluster(estimator, 12, random_state=0).fit(FileRows(X, checkpoint=folder)).labels_

    fit(start, tmp_path)
    np.testing.assert_array_equal(fit(other, tmp_path), fit(other, None))
    assert len(list(tmp_path.iterdir())) == 2


def test_a_damaged_checkpoint_is_not_used(tmp_path: Path, few_rows_held: int) -> None:
    X, y = make_table()
    links = draw_links(y)
    expected, _ = count_passes(BoostCluster, X, links, checkpoint=tmp_path)
    first, second, *_ = sorted(tmp_path.iterdir())
    first.write_bytes(first.read_bytes()[:100])
    second.write_bytes(b"")
    with pytest.warns(UserWarning, match=r"The checkpoint .*\.npz is damaged .*computed again") as said:
        found, _ = count_passes(BoostCluster, X, links, checkpoint=tmp_path)
    assert len(said) == 2
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    count_passes(BoostCluster, X, links, checkpoint=tmp_path)


def test_a_checkpoint_that_cannot_be_written_does_not_end_the_fit(
    tmp_path: Path, few_rows_held: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(path: Any, content: bytes) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("mustlink.boosting._blocked._checkpoint.write_atomically", fail)
    X, y = make_table()
    with pytest.warns(UserWarning, match=r"cannot be written \(No space left on device\).*goes on without") as said:
        found, _ = count_passes(BoostCluster, X, draw_links(y), checkpoint=tmp_path)
    assert len(said) == 1
    np.testing.assert_array_equal(found.labels_, count_passes(BoostCluster, X, draw_links(y))[0].labels_)
    assert not list(tmp_path.iterdir())


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path, few_rows_held: int) -> None:
    X, y = make_table()
    path = tmp_path / "rounds"
    path.write_text("")
    with pytest.raises(NotADirectoryError, match="a folder is expected"):
        count_passes(BoostCluster, X, draw_links(y), checkpoint=path)


def test_a_checkpoint_holds_arrays_of_any_shape(tmp_path: Path) -> None:
    n_computed = 0

    def compute() -> dict[str, Any]:
        nonlocal n_computed
        n_computed += 1
        return {"centers": np.arange(6.0).reshape(2, 3), "n_iter": np.array(4)}

    for context in ((1, np.arange(3)), (1, np.arange(3)), (1.0, np.arange(3)), (1, np.arange(3.0))):
        found = Checkpoint(tmp_path, *context).load_or_compute(("round", 2), compute)
        np.testing.assert_array_equal(found["centers"], np.arange(6.0).reshape(2, 3))
        assert int(found["n_iter"]) == 4
    assert n_computed == 3


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=6), st.integers(0, 2**32 - 1))
def test_rounded_numbers_do_not_depend_on_the_last_bits(values: list[float], seed: int) -> None:
    array = np.array(values)
    # Numbers in the middle between two that are rounded apart are too few to meet.
    scale = np.abs(array).max() or 1.0
    array = np.round(array / scale, 6) * scale
    noise = 1 + np.random.RandomState(seed).uniform(-1, 1, size=len(array)) * 1e-14
    noise[np.argmax(np.abs(array))] = 1.0
    np.testing.assert_array_equal(rounded(array), rounded(array * noise))


# ---- k-means on codes -----------------------------------------------------------------------------------------------


@st.composite
def coded_rows(draw: Callable[..., Any], noise: bool = False) -> tuple[Any, Any, int, Any]:
    """A table of labels, weights of the rounds, a number of rows in a block, and rows that are in memory."""
    n_rows, n_rounds = draw(st.integers(4, 40)), draw(st.integers(1, 5))
    rng = np.random.RandomState(draw(st.integers(0, 2**32 - 1)))
    labels = np.vstack(
        [rng.randint(-1 if noise else 0, 3, size=(n_rows, n_rounds)), np.tile([[0], [1], [2]], n_rounds)]
    )
    shown = rng.choice(n_rows + 3, size=draw(st.integers(1, n_rows)), replace=False)
    return labels, rng.uniform(0.1, 2, size=n_rounds), draw(st.integers(1, 20)), np.sort(shown)


def in_blocks(labels: Any, weights: Any, size: int, shown: Any) -> tuple[CoAssociation, CodeBlocks]:
    """The co-association of all rows, and the same in blocks."""
    whole = CoAssociation(labels, weights)
    rows = FileRows(labels.astype(np.float64), block_rows=size)
    codes = rows.derive(as_codes, n_features=labels.shape[1], dtype=whole.codes.dtype)
    kernel = whole.with_codes(np.ascontiguousarray(whole.codes[shown]))
    return whole, CodeBlocks(codes, kernel, shown, codes.split(shown))


def as_codes(block: Any) -> Any:
    return block.astype(np.int8)


@given(coded_rows())
def test_kmeans_on_codes_in_passes_is_that_in_memory(given_rows: Any) -> None:
    labels, weights, size, shown = given_rows
    whole, blocks = in_blocks(labels, weights, size, shown)
    start = labels[:, 0].astype(np.int64)
    (others,) = blocks.sum_others([0], 3)
    own = sum_codes(blocks.kernel, start[shown], 3)
    centers = centers_of(own + others, blocks.kernel)
    expected = compute_centers(whole, start, 3)
    np.testing.assert_allclose(centers.table, expected.table)
    assert centers.objective == pytest.approx(expected.objective)
    (run,) = blocks.run_kmeans([centers], 300)
    found, objective = whole.kmeans(3, start)
    if len(np.unique(found)) == 3 and run.centers.objective != pytest.approx(objective):
        # Rows at the same distance of two centers may go to either.
        assert run.centers.objective <= expected.objective + 1e-9
    else:
        assert run.centers.objective == pytest.approx(objective, abs=1e-9)
    assert run.others.total == len(labels) - len(shown)


@given(coded_rows(noise=True))
def test_kmeans_on_codes_with_noise_ends_and_lowers_the_objective(given_rows: Any) -> None:
    labels, weights, size, shown = given_rows
    whole, blocks = in_blocks(labels, weights, size, shown)
    start = compute_centers(whole, labels[:, 0].astype(np.int64), 3)
    (run,) = blocks.run_kmeans([start], 300)
    assert np.isfinite(run.centers.objective)


def test_an_empty_cluster_gets_the_code_that_fits_worst() -> None:
    labels = np.array([[0, 0]] * 5 + [[1, 1]] * 5 + [[1, 2]] + [[2, 0]])
    whole, blocks = in_blocks(labels, np.ones(2), 4, np.array([0, 6]))
    # The third cluster has no rows at the start.
    start = compute_centers(whole, np.where(labels[:, 0] == 1, 1, 0).astype(np.int64), 3)
    assert np.isinf(start.lengths[2])
    (run,) = blocks.run_kmeans([start], 300)
    assert (run.centers.masses > 0).all()
    assert run.centers.objective < start.objective


# ---- memory ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", CLASSES)
def test_no_copy_of_the_rows_is_made(cls: type, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(_shown, "MAX_ROWS_HELD", 2_000)
    X, y = make_table(300_000)
    links = draw_links(y, 40, wrong=0.15)
    np.save(tmp_path / "rows.npy", X)
    n_bytes = X.nbytes
    model = make(cls, n_rounds=4, **({} if cls is BoostedConstrainedKMeans else {"estimator": None}))
    # Compiles, outside of what is measured.
    model.fit(FileRows(X[:5_000], block_rows=1_000), constraints=draw_links(y[:5_000], 40, wrong=0.15))
    del X
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    rows = FileRows(mapped, block_rows=2_000, labels=tmp_path / "labels.npy")
    tracemalloc.start()
    try:
        model.fit(rows, constraints=links)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    codes = len(y) * len(model.coassociation_.weights)
    # Labels are counted in the end, 12 bytes per row at a time.
    assert peak < codes + 12 * len(y) + n_bytes // 3
