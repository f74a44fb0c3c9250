"""Correlation clustering: costs, rules, bounds and guarantees against brute force."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import block_diag, csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from mustlink import Constraints, CorrelationClustering
from mustlink.base import check_sources
from mustlink.errors import InfeasibleError, OptionError, TooLargeError
from mustlink.graph._correlation._linear_program import SmallProblem, solve_relaxation
from mustlink.graph._correlation._local_search import improve, pivot
from mustlink.graph._correlation._packing import pack_triangles
from mustlink.graph._correlation._rounding import grow_regions, round_by_balls, round_by_pivots
from mustlink.graph._correlation._search_tree import SearchTree, weight_unit
from mustlink.graph._correlation._semidefinite import TWO_PLANES, round_by_hyperplanes, solve_semidefinite
from mustlink.graph._correlation._signed_graph import build_graph
from reference import correlation as reference

METHODS = ["auto", "pivot", "lp_pivot", "lp_ball", "region_growing", "sdp", "local", "exact"]
FAILS = {"check_clustering": "its table is not square, although the tags say that X is pairwise"}
PROGRAMS = ["lp_pivot", "lp_ball", "region_growing", "sdp", "exact"]


def random_weights(rng: np.random.Generator, n: int, kind: str) -> np.ndarray:
    """A symmetric matrix: all pairs 1 or -1, some pairs, or any weights."""
    upper = np.triu(rng.choice([-1.0, 1.0], size=(n, n)), 1)
    if kind == "sparse":
        upper *= rng.random((n, n)) < 0.5
    elif kind == "general":
        upper *= rng.exponential(size=(n, n)) * (rng.random((n, n)) < 0.8)
    return upper + upper.T


def planted(rng: np.random.Generator, n: int, n_clusters: int, flip: float) -> tuple[np.ndarray, np.ndarray]:
    y = rng.integers(n_clusters, size=n)
    weights = np.where(y[:, None] == y, 1.0, -1.0)
    flipped = np.triu(rng.random((n, n)) < flip, 1)
    weights[flipped | flipped.T] *= -1
    np.fill_diagonal(weights, 0.0)
    return weights, y


@st.composite
def problems(draw: Any) -> dict[str, Any]:
    """Weights of up to seven rows, links, sources, and what missing pairs say."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(2, 7))
    weights = random_weights(rng, n, draw(st.sampled_from(["complete", "sparse", "general"])))
    truth = rng.integers(3, size=n)
    n_pairs = min(draw(st.integers(0, 4)), n * (n - 1) // 2)
    links = Constraints.sample(truth, n_pairs=n_pairs, balanced=False, random_state=int(rng.integers(1000)))
    if draw(st.booleans()):
        groups = np.where(rng.random(n) < 0.6, rng.integers(n, size=n), -1)
        extra = Constraints.from_groups(groups)
        if not links.add(extra, contradictions="keep").conflicts():
            links = links.add(extra, contradictions="keep")
    limit = draw(st.integers(1, 2))
    sources = [None if rng.random() < 0.3 else int(rng.integers(3)) for _ in range(n)]
    component = links.components(n)
    full = any(
        sum(component[v] == c and sources[v] == s for v in range(n)) > limit for c in set(component) for s in range(3)
    )
    penalty = draw(st.sampled_from([0.0, 0.7]))
    return {
        "weights": weights,
        "links": links,
        "sources": None if full or draw(st.booleans()) else sources,
        "limit": limit,
        "penalty": penalty,
    }


def fit(problem: dict[str, Any], method: str, **options: Any) -> CorrelationClustering:
    penalty = problem["penalty"]
    given_missing = {"missing": "negative", "missing_penalty": penalty} if penalty else {}
    model = CorrelationClustering(method, max_per_source=problem["limit"], random_state=0, **given_missing, **options)
    return model.fit(csr_array(problem["weights"]), constraints=problem["links"], sources=problem["sources"])


def least(problem: dict[str, Any]) -> float:
    rules = {"links": problem["links"], "sources": problem["sources"], "max_per_source": problem["limit"]}
    return reference.least_disagreement(problem["weights"], problem["penalty"], **rules)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("local_search", [True, False])
@settings(max_examples=15, deadline=None)
@given(problem=problems())
def test_costs_bounds_and_rules_agree_with_brute_force(
    method: str, local_search: bool, problem: dict[str, Any]
) -> None:
    model = fit(problem, method, local_search=local_search)
    weights, penalty, labels = problem["weights"], problem["penalty"], model.labels_
    assert reference.keeps_rules(labels, problem["links"], problem["sources"], problem["limit"])
    assert len(model.violations_) == 0
    assert np.isclose(model.disagreement_, reference.disagreement(weights, labels, penalty))
    assert np.isclose(model.agreement_, reference.agreement(weights, labels, penalty))
    optimum = least(problem)
    assert model.lower_bound_ <= optimum + 1e-6
    assert model.disagreement_ >= optimum - 1e-9
    if method == "exact" or (method == "auto" and local_search):
        assert np.isclose(model.disagreement_, optimum)
        assert np.isclose(model.lower_bound_, optimum)
    if model.lower_bound_ > 0:
        assert model.ratio_ == model.disagreement_ / model.lower_bound_


@pytest.mark.parametrize("method", ["auto", "exact"])
def test_relabeling_the_rows_permutes_the_clusters(method: str) -> None:
    rng = np.random.default_rng(0)
    weights = random_weights(rng, 10, "general")
    order = rng.permutation(10)
    first = fit_plain(method, weights)
    second = fit_plain(method, weights[np.ix_(order, order)])
    assert np.isclose(second.disagreement_, first.disagreement_)
    together = np.equal.outer(first.labels_, first.labels_)
    assert (np.equal.outer(second.labels_, second.labels_) == together[np.ix_(order, order)]).all()


@pytest.mark.parametrize("method", ["auto", "pivot", "lp_pivot", "lp_ball", "region_growing", "local", "exact"])
@pytest.mark.parametrize("missing", ["neutral", "negative"])
def test_disjoint_cliques_cost_nothing(method: str, missing: str) -> None:
    cliques = block_diag([np.ones((size, size)) for size in (4, 1, 3, 5)]).toarray()
    X = np.where(cliques > 0, 1.0, -1.0) if missing == "neutral" else cliques
    model = CorrelationClustering(method, missing=missing, local_search=False, n_init=1, random_state=0)
    model.fit(csr_array(X))
    assert (model.disagreement_, model.lower_bound_, model.ratio_) == (0.0, 0.0, 1.0)
    assert model.labels_.tolist() == [0] * 4 + [1] + [2] * 3 + [3] * 5


def test_roundings_and_pivots_of_complete_graphs_keep_their_guarantees() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        weights = random_weights(rng, 7, "complete")
        graph, _ = build_graph(csr_array(weights), 0.0, Constraints(), None, 1)
        relaxed = solve_relaxation(SmallProblem.of(graph))
        optimum = fit_plain("exact", weights).disagreement_
        least = np.maximum(weights, 0).sum() / 2 - relaxed.gain
        assert least <= optimum + 1e-6
        draws = np.random.RandomState(0)
        costs = [cost_of(weights, pivot(graph, draws)) for _ in range(150)]
        assert np.mean(costs) <= 3 * optimum
        assert min(costs) >= optimum
        assert np.mean([cost_of(weights, round_by_pivots(relaxed.x, draws)) for _ in range(50)]) <= 2.5 * least + 1e-6
        assert max(cost_of(weights, round_by_balls(relaxed.x, draws)) for _ in range(10)) <= 4 * least + 1e-6


def cost_of(weights: np.ndarray, labels: Any) -> float:
    """The disagreement with a weight for every pair."""
    row, column = np.triu_indices(len(weights), 1)
    together = labels[row] == labels[column]
    return float(np.abs(weights[row, column])[together != (weights[row, column] > 0)].sum())


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 30))
def test_pivot_by_rounds_is_one_pass_over_the_nodes(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    weights = random_weights(rng, n, "sparse")
    graph, _ = build_graph(csr_array(weights), 0.0, Constraints(), None, 1)
    order = np.random.RandomState(seed).permutation(n)
    assert pivot(graph, np.random.RandomState(seed)).tolist() == reference.pivot(weights, order)


@pytest.mark.parametrize("ratio", [2.1, 3.0, 4.0])
def test_region_growing_keeps_its_radius_cuts_and_bounds(ratio: float) -> None:
    rng = np.random.default_rng(3)
    for trial in range(40):
        net = random_weights(rng, 8, "general")
        problem = SmallProblem(net, np.zeros(net.shape, dtype=bool), np.zeros((8, 0)), np.zeros(0, dtype=int))
        x = solve_relaxation(problem).x
        found = grow_regions(x, net, ratio, np.random.RandomState(trial))
        assert max(found.radii) <= 1 / ratio + 1e-9
        pairs = np.triu_indices(8, 1)
        apart = (found.labels[:, None] != found.labels)[pairs]
        positive, negative, distance = np.maximum(net, 0)[pairs], np.maximum(-net, 0)[pairs], x[pairs]
        assert np.isclose(sum(found.cuts), positive[apart].sum())
        assert positive[apart].sum() <= 2 * ratio * np.log(9) * (positive @ distance) + 1e-6
        assert negative[~apart].sum() <= ratio / (ratio - 2) * (negative @ (1 - distance)) + 1e-6


def test_packing_is_below_the_cover_which_is_below_the_relaxation() -> None:
    rng = np.random.default_rng(4)
    for _ in range(30):
        weights = random_weights(rng, 7, "complete")
        graph, _ = build_graph(csr_array(weights), 0.0, Constraints(), None, 1)
        triangles = reference.bad_triangles(weights)
        pairs = {pair: place for place, pair in enumerate(zip(*np.triu_indices(7, 1), strict=True))}
        cover = np.zeros((len(triangles), len(pairs)))
        for place, triple in enumerate(triangles):
            cover[place, [pairs[pair] for pair in combinations(triple, 2)]] = 1
        least_cover = linprog(np.ones(len(pairs)), A_ub=-cover, b_ub=-np.ones(len(cover)), bounds=(0, 1)).fun
        relaxed = fit_plain("lp_pivot", weights).lower_bound_
        optimum = reference.least_disagreement(weights)
        packed = pack_triangles(graph).sum()
        assert packed <= least_cover + 1e-6
        assert least_cover <= relaxed + 1e-6
        assert relaxed <= optimum + 1e-6
        assert packed > 0 or not triangles


@pytest.mark.parametrize("missing", [False, True])
def test_packing_of_very_inconsistent_graphs_is_close_to_half_the_positive_weight(missing: bool) -> None:
    weights, _ = planted(np.random.default_rng(19), 200, 5, 0.3)
    X = csr_array(np.maximum(weights, 0) if missing else weights)
    graph, _ = build_graph(X, float(missing), Constraints(), None, 1)
    # Half of all positive pairs, each at distance 1/2, is a solution of the relaxation.
    half = np.maximum(weights, 0).sum() / 4
    assert 0.9 * half < pack_triangles(graph).sum() <= half


def fit_plain(method: str, weights: np.ndarray, **options: Any) -> CorrelationClustering:
    return CorrelationClustering(method, random_state=0, **options).fit(csr_array(weights))


def test_distances_are_a_metric_and_whole_ones_are_optimal() -> None:
    rng = np.random.default_rng(5)
    n_whole = 0
    for _ in range(20):
        weights = random_weights(rng, 7, "general")
        model = fit_plain("lp_ball", weights)
        x = model.lp_x_
        assert (x[:, :, None] <= x[:, None, :] + x[None, :, :].transpose(0, 2, 1) + 1e-5).all()
        if (np.minimum(x, 1 - x) < 1e-6).all():
            n_whole += 1
            assert np.isclose(model.lower_bound_, reference.least_disagreement(weights))
    assert n_whole > 0


def test_distances_are_those_of_a_linear_program_alone() -> None:
    weights = np.array([[0.0, 2.0, -3.0], [2.0, 0.0, 1.0], [-3.0, 1.0, 0.0]])
    model = CorrelationClustering("lp_ball", random_state=0).fit(weights)
    np.testing.assert_allclose(model.lp_x_, [[0, 0, 1], [0, 0, 1], [1, 1, 0]], atol=1e-6)
    assert not hasattr(model.set_params(method="exact").fit(weights), "lp_x_")


def test_hyperplanes_reach_three_quarters_of_the_relaxation() -> None:
    rng = np.random.default_rng(6)
    mixed_ratios = []
    for _ in range(15):
        net = random_weights(rng, 8, "general")
        problem = SmallProblem(net, np.zeros(net.shape, dtype=bool), np.zeros((8, 0)), np.zeros(0, dtype=int))
        units, most = solve_semidefinite(problem, nonnegative=True)
        most += np.maximum(-net, 0).sum() / 2
        total = reference.disagreement(net, range(8)) + reference.agreement(net, range(8))
        assert most >= total - reference.least_disagreement(net) - 1e-4
        draws = np.random.RandomState(0)
        for n_planes, least in ((2, 0.75), (None, 0.7664)):
            values = [reference.agreement(net, round_by_hyperplanes(units, draws, n_planes)) / most for _ in range(200)]
            # Three standard errors.
            assert np.mean(values) >= least - 3 * np.std(values) / np.sqrt(len(values))
            mixed_ratios.append(np.mean(values))
    assert min(mixed_ratios) > 0.7


def test_worst_angles_of_the_rounding_are_the_published_ratios() -> None:
    angle = np.linspace(1e-6, np.pi / 2, 20_001)
    same = {planes: (1 - angle / np.pi) ** planes for planes in (2, 3)}
    mixed = TWO_PLANES * same[2] + (1 - TWO_PLANES) * same[3]
    for chance, published in ((same[2], 0.75), (mixed, 0.7664)):
        joined, separated = chance / np.maximum(np.cos(angle), 1e-12), (1 - chance) / (1 - np.cos(angle))
        assert min(joined.min(), separated.min()) >= published - 1e-9


def test_two_clusters_or_singletons_reach_a_third_of_the_correlation() -> None:
    rng = np.random.default_rng(7)
    for _ in range(15):
        weights = random_weights(rng, 6, "general")
        total = np.abs(weights).sum() / 2
        best = total - 2 * reference.least_disagreement(weights)
        two = max(
            total - 2 * reference.disagreement(weights, labels)
            for labels in reference.set_partitions(6)
            if max(labels) <= 1
        )
        singletons = total - 2 * reference.disagreement(weights, range(6))
        assert max(two, singletons) >= best / 3 - 1e-9
        model = fit_plain("sdp", weights, objective="correlation")
        assert model.agreement_ - model.disagreement_ >= best / 3 - 1e-9


def test_merging_clusters_improves_on_single_moves() -> None:
    rng = np.random.default_rng(8)
    weights, _ = planted(rng, 300, 6, 0.3)
    weights *= np.triu(rng.random((300, 300)) < 0.1, 1)
    graph, _ = build_graph(csr_array(weights + weights.T), 0.0, Constraints(), None, 1)
    gains = {
        merge: graph.part_gains(improve(graph, np.arange(300), np.random.RandomState(0), merge=merge)).sum()
        for merge in (False, True)
    }
    assert gains[True] > gains[False]


def test_planted_clusters_are_found() -> None:
    weights, y = planted(np.random.default_rng(9), 200, 5, 0.2)
    assert adjusted_rand_score(y, fit_plain("auto", weights).labels_) > 0.99


def test_runs_with_one_seed_are_equal() -> None:
    weights = random_weights(np.random.default_rng(10), 60, "general")
    first, second = (fit_plain("auto", weights).labels_ for _ in range(2))
    assert (first == second).all()


def test_sources_without_a_name_are_no_source() -> None:
    X = np.ones((4, 4))
    model = CorrelationClustering(random_state=0).fit(X, sources=["a", None, "a", ""])
    assert model.labels_[0] != model.labels_[2]
    assert model.labels_[1] == model.labels_[3] in model.labels_[[0, 2]]


def test_large_groups_stay_implicit() -> None:
    n = 20_000
    rng = np.random.default_rng(11)
    entity = rng.integers(n // 4, size=n)
    by_entity = np.argsort(entity, kind="stable")
    pairs = np.column_stack([by_entity[:-1], by_entity[1:]])
    X = Constraints.from_pairs(pairs, np.ones(len(pairs))).signed(n)
    # Two groups of 10,000 rows are 100 million cannot-links.
    groups = Constraints.from_groups(rng.integers(2, size=n))
    model = CorrelationClustering(random_state=0).fit(X, constraints=groups)
    assert len(model.violations_) == 0
    assert np.bincount(model.labels_).max() == 2


def test_contradictions_are_refused_with_the_chain() -> None:
    links = Constraints(must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)])
    with pytest.raises(InfeasibleError, match=r"Rows 0 and 2 have a cannot-link, but must-links connect them") as error:
        CorrelationClustering().fit(np.eye(3), constraints=links)
    assert "on_infeasible" not in str(error.value)
    with pytest.raises(InfeasibleError, match=r"Must-links join 2 rows of the source web, .* at most 1"):
        CorrelationClustering().fit(np.eye(3), constraints=Constraints(must_link=[(0, 1)]), sources=["web"] * 3)


@pytest.mark.parametrize("method", PROGRAMS)
def test_large_parts_are_refused_with_their_size(method: str) -> None:
    weights, _ = planted(np.random.default_rng(12), 160, 2, 0.3)
    with pytest.raises(TooLargeError, match=f'method="{method}" needs a program with 12,720 pairs for 160 rows'):
        fit_plain(method, weights, local_search=False, n_init=1)


def test_a_matrix_that_is_not_symmetric_or_square_is_refused() -> None:
    with pytest.raises(ValueError, match=r"rows 0 and 1 have the weights 1 and 0"):
        CorrelationClustering().fit(np.array([[0.0, 1.0], [0.0, 0.0]]))
    with pytest.raises(ValueError, match=r"must be a square matrix .* got 2 x 3"):
        CorrelationClustering().fit(np.ones((2, 3)))
    with pytest.raises(ValueError, match=r"X has 3 rows, and sources has the shape \(2,\)"):
        CorrelationClustering().fit(np.eye(3), sources=["a", "b"])


@pytest.mark.parametrize("penalty", [0.0, 0.5])
def test_deltas_say_how_clean_clusters_are(penalty: float) -> None:
    weights = random_weights(np.random.default_rng(16), 12, "sparse")
    options: dict[str, Any] = {"missing": "negative", "missing_penalty": penalty} if penalty else {}
    model = fit_plain("local", weights, **options)
    for cluster in range(model.n_clusters_):
        inside = model.labels_ == cluster
        is_negative = (weights < 0) | (penalty > 0) & (weights == 0) & ~np.eye(12, dtype=bool)
        worst = [max(is_negative[u, inside].sum(), (weights[u, ~inside] > 0).sum()) for u in np.flatnonzero(inside)]
        assert np.isclose(model.deltas_[cluster], max(worst) / inside.sum())


def test_evidence_for_and_against_one_pair_adds_the_lesser_to_the_disagreement() -> None:
    rng = np.random.default_rng(20)
    together, apart = (np.triu(rng.integers(4, size=(7, 7)), 1) for _ in range(2))
    model = fit_plain("exact", (together + together.T - apart - apart.T).astype(float))
    same = model.labels_[:, None] == model.labels_
    lesser = np.minimum(together, apart).sum()
    assert model.disagreement_ + lesser == apart[same].sum() + together[~same].sum()
    assert model.agreement_ + lesser == together[same].sum() + apart[~same].sum()


def test_input_is_not_changed() -> None:
    X = csr_array(random_weights(np.random.default_rng(13), 8, "sparse"))
    before = X.toarray().copy()
    CorrelationClustering(random_state=0).fit(X, constraints=Constraints(cannot_link=[(0, 1)]), sources=[0] * 8)
    assert (X.toarray() == before).all()


@settings(max_examples=60, deadline=None)
@given(problem=problems())
def test_search_tree_finds_the_best_from_singletons(problem: dict[str, Any]) -> None:
    graph, component = build_graph(
        csr_array(problem["weights"]), problem["penalty"], problem["links"], check_sources_of(problem), problem["limit"]
    )
    tree = SearchTree(SmallProblem.of(graph), 0.0)
    tree.visit(np.inf)
    assert tree.is_finished
    labels = (np.arange(graph.n_nodes) if tree.labels is None else tree.labels)[component]
    assert reference.keeps_rules(labels, problem["links"], problem["sources"], problem["limit"])
    assert np.isclose(reference.disagreement(problem["weights"], labels, problem["penalty"]), least(problem))


def check_sources_of(problem: dict[str, Any]) -> Any:
    return check_sources(problem["sources"], problem["weights"].shape[0])


@pytest.mark.parametrize("flip", [0.1, 0.25])
def test_search_trees_of_planted_clusters_are_small(flip: float) -> None:
    weights, _ = planted(np.random.default_rng(17), 25, 4, flip)
    model = fit_plain("exact", weights)
    assert model.ratio_ == 1
    # 1.92 to the power of the disagreement, 32 and 70, is from a billion on.
    assert 0 < model.n_search_nodes_ < 50_000


def test_search_with_weights_without_a_unit_finds_the_same() -> None:
    rng = np.random.default_rng(18)
    weights, _ = planted(rng, 18, 3, 0.2)
    noise = 1 + 1e-4 * rng.random(weights.shape)
    with_unit, without = fit_plain("exact", weights), fit_plain("exact", weights * (noise + noise.T) / 2)
    assert with_unit.ratio_ == without.ratio_ == 1
    assert np.isclose(without.disagreement_, with_unit.disagreement_, rtol=1e-4)


def test_tiny_weights_do_not_hide_the_unit() -> None:
    net = np.array([[0.0, 0.5, -1.5], [0.5, 0.0, 1e-12], [-1.5, 1e-12, 0.0]])
    problem = SmallProblem(net, np.zeros(net.shape, dtype=bool), np.zeros((3, 0)), np.zeros(0, dtype=int))
    assert weight_unit(problem) == 0.5
    assert weight_unit(replace(problem, net=net + 0.13)) == 0
    assert weight_unit(replace(problem, net=np.zeros((3, 3)))) == 0


def test_time_is_limited() -> None:
    weights, _ = planted(np.random.default_rng(14), 50, 4, 0.4)
    with pytest.warns(ConvergenceWarning, match=r"The least disagreement of 1 connected part was not found in 0\.2 s"):
        model = fit_plain("exact", weights, time_limit=0.2)
    assert 1 < model.ratio_ < 3


def test_a_linear_program_without_time_is_a_weaker_bound() -> None:
    weights, _ = planted(np.random.default_rng(21), 60, 4, 0.2)
    graph, _ = build_graph(csr_array(weights), 0.0, Constraints(), None, 1)
    problem = SmallProblem.of(graph)
    stopped, whole = solve_relaxation(problem, time.monotonic()), solve_relaxation(problem)
    assert whole.is_finished
    assert not stopped.is_finished
    assert not stopped.is_whole
    assert stopped.gain > whole.gain


def test_without_the_solver_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "clarabel", None)
    with pytest.raises(OptionError, match=r'pip install "mustlink\[sdp\]"'):
        fit_plain("sdp", random_weights(np.random.default_rng(15), 6, "complete"))


@parametrize_with_checks([CorrelationClustering()], expected_failed_checks=lambda estimator: FAILS)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)
