"""SizeConstrainedKMeans with links: both kept, refused with numbers, relaxed, and combined with what else there is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris, make_blobs

from mustlink import Constraints
from mustlink.active import MinMax, TruthOracle, ask
from mustlink.errors import ConstraintError, InfeasibleError, InfeasibleWarning, TooLargeError
from mustlink.sizes import SizeConstrainedKMeans
from mustlink.sizes._assign import _apart
from mustlink.sizes._size_constrained import _linked_sizing
from mustlink.sizes._size_constrained._row_costs import RowCosts
from reference.linked_sizes import keeps_triples, least_cost
from reference.random_links import Case, cases


def blobs(n: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_blobs(n, centers=3, cluster_std=2.5, random_state=seed)
    return X, y


def check_kept(model: SizeConstrainedKMeans, links: Constraints, size_min: Any, size_max: Any) -> None:
    assert len(links.violations(model.labels_)) == 0
    assert len(model.violations_) == 0
    np.testing.assert_array_equal(model.sizes_, np.bincount(model.labels_, minlength=model.n_clusters))
    assert (model.sizes_ >= size_min).all()
    assert (model.sizes_ <= size_max).all()


@given(case=cases(max_samples=8, min_samples=4), k=st.integers(2, 3), seed=st.integers(0, 99))
@settings(max_examples=100)
@pytest.mark.filterwarnings("ignore:3 clusters were asked for:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:2 clusters were asked for:sklearn.exceptions.ConvergenceWarning")
def test_a_clustering_is_found_whenever_there_is_one(case: Case, k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.multinomial(case.n_samples, np.ones(k) / k)
    size_min, size_max = np.maximum(sizes - rng.integers(0, 2, k), 0), sizes + rng.integers(0, 2, k)
    X, links = rng.normal(size=(case.n_samples, 2)), Constraints(case.must_link, case.cannot_link)
    model = SizeConstrainedKMeans(k, size_min=size_min, size_max=size_max, random_state=0)
    possible = least_cost(np.zeros((case.n_samples, k)), case.must_link, case.cannot_link, size_min, size_max)
    if possible is None:
        with pytest.raises(InfeasibleError):
            model.fit(X, constraints=links)
    else:
        check_kept(model.fit(X, constraints=links), links, size_min, size_max)


@pytest.mark.parametrize("metric", ["sqeuclidean", "manhattan"])
@pytest.mark.parametrize("n_rows", [60, 900])
def test_links_and_sizes_are_kept_and_the_objective_never_rises(metric: str, n_rows: int) -> None:
    X, y = blobs(n_rows)
    links = Constraints.sample(y, n_pairs=n_rows // 2, random_state=1)
    bounds = {"size_min": int(0.3 * n_rows), "size_max": int(0.37 * n_rows)}
    model = SizeConstrainedKMeans(3, metric=metric, random_state=0, n_init=2, **bounds).fit(X, constraints=links)
    check_kept(model, links, bounds["size_min"], bounds["size_max"])
    assert (np.diff(model.objective_) <= 1e-9 * model.objective_[0]).all()


def test_a_small_fit_ends_at_an_exact_assignment() -> None:
    X, y = blobs(9, seed=3)
    links = Constraints.sample(y, n_pairs=4, random_state=0)
    model = SizeConstrainedKMeans(3, size_min=2, size_max=4, tol=0, random_state=0).fit(X, constraints=links)
    costs = np.square(X[:, None] - model.cluster_centers_).sum(axis=2)
    best = least_cost(costs, links.must_link.tolist(), links.cannot_link.tolist(), [2] * 3, [4] * 3)
    assert best is not None
    assert model.inertia_ == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize(
    ("name", "links"),
    [
        ("all must", Constraints([(i, i + 1) for i in range(59)])),
        ("one huge component", Constraints([(0, i) for i in range(1, 40)])),
        ("cannot-linked pairs", Constraints(cannot_link=[(i, i + 1) for i in range(0, 60, 2)])),
        ("a path", Constraints(cannot_link=[(i, i + 1) for i in range(59)])),
        ("a star", Constraints(cannot_link=[(0, i) for i in range(1, 30)])),
    ],
)
def test_links_of_one_kind_and_very_unequal_sizes(name: str, links: Constraints) -> None:
    X, _ = blobs()
    sizes = {"size_min": 0} if name == "all must" else {"size_min": [1, 5, 40], "size_max": [10, 10, 58]}
    if name in ("a path", "cannot-linked pairs"):
        with pytest.raises(InfeasibleError, match="leave room for 30 rows in one cluster, below the minimum of 40"):
            SizeConstrainedKMeans(3, **sizes, random_state=0).fit(X, constraints=links)
        sizes = {"size_min": 15, "size_max": 30}
    if name == "all must":
        with pytest.warns(UserWarning, match="1 was found"):
            model = SizeConstrainedKMeans(3, **sizes, random_state=0).fit(X, constraints=links)
        assert model.sizes_.tolist().count(0) == 2
        return
    model = SizeConstrainedKMeans(3, **sizes, random_state=0).fit(X, constraints=links)
    check_kept(model, links, sizes["size_min"], sizes["size_max"])


def test_partial_labels_are_kept_with_the_sizes() -> None:
    X, y = blobs()
    known = np.where(np.arange(60) % 4 == 0, y, -1)
    model = SizeConstrainedKMeans(3, size_min=19, size_max=21, random_state=0).fit(X, known)
    check_kept(model, Constraints.from_labels(known), 19, 21)
    pivots = known >= 0
    assert len({(a, b) for a, b in zip(known[pivots], model.labels_[pivots], strict=True)}) == 3


def test_answers_of_an_active_strategy_are_kept_with_the_sizes() -> None:
    X, y = load_iris(return_X_y=True)
    links = ask(MinMax(X, 3, random_state=0), TruthOracle(y), 60)
    model = SizeConstrainedKMeans(3, size_min=45, size_max=55, random_state=0).fit(X, constraints=links)
    check_kept(model, links, 45, 55)


def test_one_of_two() -> None:
    X, y = blobs()
    a, b = np.flatnonzero(y == 0)[:2]
    c = int(np.flatnonzero(y == 1)[0])
    triples = [(a, b, c), (c, a, 7), (3, 8, 9)]
    model = SizeConstrainedKMeans(3, size_min=18, size_max=22, random_state=0)
    model.fit(X, constraints=Constraints([(3, 5)]), one_of=triples)
    assert keeps_triples(model.labels_[None], triples).all()
    check_kept(model, Constraints([(3, 5)]), 18, 22)
    with pytest.raises(ConstraintError, match="the table has 60 rows"):
        model.fit(X, one_of=[(0, 1, 60)])


# ---- what cannot be kept


def test_relaxed_links_keep_the_sizes_and_are_counted() -> None:
    X, y = blobs()
    links = Constraints([(i, i + 1) for i in range(30)], [(40, 41)])
    model = SizeConstrainedKMeans(3, size_min=15, size_max=25, on_infeasible="relax", random_state=0)
    with pytest.warns(InfeasibleWarning, match="breaks 1 of 31 links; violations_ lists them"):
        model.fit(X, constraints=links)
    assert model.violations_ == links.violations(model.labels_)
    assert model.sizes_.min() >= 15
    assert model.sizes_.max() <= 25
    assert (np.diff(model.objective_) <= 1e-9).all()
    # Where all can be kept, nothing is relaxed.
    kept = Constraints.sample(y, n_pairs=20, random_state=0)
    check_kept(model.fit(X, constraints=kept), kept, 15, 25)


def test_contradictions_are_refused_or_relaxed() -> None:
    X, _ = blobs()
    links = Constraints([(0, 1), (1, 2)], [(0, 2), (3, 4)])
    with pytest.raises(
        InfeasibleError, match="Rows 0 and 2 have a cannot-link, but must-links connect them: 0 - 1 - 2"
    ):
        SizeConstrainedKMeans(3, size_min=15).fit(X, constraints=links)
    with pytest.warns(InfeasibleWarning, match="breaks 1 of 4 links"):
        model = SizeConstrainedKMeans(3, size_min=15, on_infeasible="relax", random_state=0).fit(X, constraints=links)
    assert len(model.violations_) == 1


def test_triples_are_relaxed_too() -> None:
    X, _ = blobs()
    model = SizeConstrainedKMeans(3, size_min=15, on_infeasible="relax", random_state=0)
    with pytest.warns(InfeasibleWarning, match="breaks 0 of 1 link and 1 of 1 triple"):
        model.fit(X, constraints=Constraints([(1, 2)]), one_of=[(0, 1, 2)])


# ---- combined with what else there is


def test_weights_of_rows_count_for_the_means_alone() -> None:
    X, y = blobs()
    links = Constraints.sample(y, n_pairs=20, random_state=0)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, 60)
    model = SizeConstrainedKMeans(3, size_min=19, size_by="rows", random_state=0)
    model.fit(X, constraints=links, sample_weight=weight)
    check_kept(model, links, 19, 60)
    for cluster in range(3):
        inside = model.labels_ == cluster
        expected = np.average(X[inside], axis=0, weights=weight[inside])
        np.testing.assert_allclose(model.cluster_centers_[cluster], expected)
    # Without bounds, what the sizes are sums of does not matter.
    free = SizeConstrainedKMeans(3, random_state=0).fit(X, constraints=links, sample_weight=weight)
    assert len(free.violations_) == 0


@pytest.mark.parametrize(
    ("parameters", "given", "message"),
    [
        ({"outlier_cost": 3.0}, {}, "outlier_cost cannot be combined with links"),
        ({"pivot_min": 1}, {"pivots": np.arange(60) % 2 == 0}, "pivot_min cannot be combined with links"),
    ],
)
def test_what_links_cannot_be_combined_with_is_refused(
    parameters: dict[str, Any], given: dict[str, Any], message: str
) -> None:
    X, _ = blobs()
    with pytest.raises(ConstraintError, match=message):
        SizeConstrainedKMeans(3, **parameters).fit(X, constraints=Constraints([(0, 1)]), **given)


def test_links_and_groups_apart_are_kept_together() -> None:
    X, _ = blobs()
    groups = np.where(np.arange(60) < 45, np.arange(60) // 3, -1)
    links = Constraints(must_link=[(0, 4), (4, 50)], cannot_link=[(0, 51), (51, 52)])
    model = SizeConstrainedKMeans(3, size_min=18, size_max=22, random_state=0).fit(X, constraints=links, apart=groups)
    check_kept(model, links, 18, 22)
    assert all(len(set(model.labels_[groups == group])) == 3 for group in range(15))
    with pytest.raises(InfeasibleError, match="rows 3 and 5 are of one group that is to be apart, but must"):
        model.fit(X, constraints=Constraints([(3, 50), (50, 5)]), apart=groups)
    with pytest.raises(ConstraintError, match="apart cannot be combined with links that are relaxed"):
        model.set_params(on_infeasible="relax").fit(X, constraints=links, apart=groups)


def test_a_polished_result_keeps_links_and_sizes() -> None:
    X, y = blobs()
    links = Constraints.sample(y, n_pairs=25, random_state=2)
    plain, polished = (
        SizeConstrainedKMeans(3, size_min=18, size_max=22, polish=polish, compare=True, random_state=0)
        for polish in (False, True)
    )
    for model in (plain, polished):
        check_kept(model.fit(X, constraints=links), links, 18, 22)
        assert model.inertia_ratio_ >= 1 - 1e-9
    assert polished.inertia_ <= plain.inertia_ + 1e-9


@pytest.mark.parametrize("on_infeasible", ["raise", "relax"])
def test_costs_that_do_not_fit_are_refused_in_words_of_links(
    monkeypatch: pytest.MonkeyPatch, on_infeasible: str
) -> None:
    X, _ = blobs()
    monkeypatch.setattr(_linked_sizing, "MAX_HELD", 500)
    model = SizeConstrainedKMeans(3, size_min=18, on_infeasible=on_infeasible, random_state=0)
    with pytest.raises(TooLargeError, match="The assignment under links and sizes needs an array of 60 x 9 numbers"):
        model.fit(X, constraints=Constraints(must_link=[(0, 1)]))


def test_separate_cannot_links_hold_no_costs_of_all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    X, _ = blobs()
    links = Constraints(cannot_link=[(0, 1), (2, 3)])
    model = SizeConstrainedKMeans(3, size_min=18, size_max=22, random_state=0)
    expected = model.fit(X, constraints=links).labels_
    monkeypatch.setattr(_linked_sizing, "MAX_HELD", 500)
    monkeypatch.delattr(RowCosts, "whole")
    np.testing.assert_array_equal(model.fit(X, constraints=links).labels_, expected)
    check_kept(model, links, 18, 22)
    monkeypatch.setattr(_apart, "MAX_COSTS", 100)
    with pytest.raises(TooLargeError, match=r"rows that are to be apart needs an array of 60 x 3 .* or cannot-links"):
        model.fit(X, constraints=Constraints(cannot_link=[(0, 1), (1, 2), (0, 2)]))
