"""Planned inference on link graphs: every exact way against enumeration of all labelings."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax

from mustlink import Constraints
from mustlink.errors import InfeasibleError
from mustlink.inference import InferenceReport, LinkInference, LinkModel
from reference.link_models import enumerate_labelings, log_weight, permute, random_model
from reference.random_links import Case, cases

SOFT, HARD = 1.3, np.inf


def plan(model: LinkModel, **options) -> LinkInference:
    return LinkInference.plan(model.graph, model.penalty, model.n_clusters, **options)


def model_of(must_link, cannot_link, penalty, n_clusters, seed=0, scale=1.0) -> LinkModel:
    """Random evidence for the rows of some links; `penalty` is one number, or one for each link."""
    links = Constraints(must_link, cannot_link)
    n_rows = int(links.pairs.max()) + 1
    evidence = scale * np.random.RandomState(seed).normal(size=(n_rows, n_clusters))
    return LinkModel(evidence, links.adjacency(n_rows), np.broadcast_to(penalty, len(links)))


def assert_exact(model: LinkModel, inference: LinkInference) -> None:
    """The marginals, the log-normalizer and the best labeling are those of enumeration."""
    rows, links, log_normalizer = enumerate_labelings(model)
    found = inference.marginals(model.log_potentials)
    np.testing.assert_allclose(found.rows, rows, atol=1e-10)
    np.testing.assert_allclose(found.links, links, atol=1e-10)
    np.testing.assert_allclose(found.log_normalizer, log_normalizer, rtol=1e-11, atol=1e-10)
    labels = inference.best_labeling(model.log_potentials)
    assert log_weight(model, labels) == pytest.approx(best_log_weight(model), rel=1e-11, abs=1e-10)


def best_log_weight(model: LinkModel) -> float:
    every = np.indices((model.n_clusters,) * len(model.log_potentials)).reshape(len(model.log_potentials), -1).T
    return max(log_weight(model, labels) for labels in every)


def random_penalties(rng: np.random.RandomState, n_links: int) -> np.ndarray:
    """Soft ones of several strengths, and often hard ones."""
    penalty = rng.exponential(size=n_links) * rng.choice([1.0, 5.0, 900.0])
    return np.where(rng.uniform(size=n_links) < rng.choice([0, 0.4, 1]), np.inf, penalty)


@given(case=cases(max_samples=6), k=st.integers(1, 3), seed=st.integers(0, 999), scale=st.sampled_from([1, 20, 1000]))
@settings(max_examples=150)
def test_everything_equals_enumeration(case: Case, k: int, seed: int, scale: float) -> None:
    rng = np.random.RandomState(seed)
    links = Constraints(case.must_link, case.cannot_link)
    penalty = random_penalties(rng, len(links))
    evidence = scale * rng.normal(size=(case.n_samples, k))
    model = LinkModel(evidence, links.adjacency(case.n_samples), penalty)
    try:
        inference = plan(model)
    except InfeasibleError:
        assert best_log_weight(model) == -np.inf
        return
    assert inference.report.is_exact
    assert inference.report.n_dropped == 0
    assert_exact(model, inference)


TRIANGLE = [(0, 1), (1, 2), (0, 2)]
SQUARE = [(0, 1), (1, 2), (2, 3), (0, 3)]
# must-links, cannot-links, penalty, clusters; then the methods and the width that the report states.
WAYS = {
    "component": ([(0, 1), (1, 2)], [], HARD, 3, {"collapsed must-links": 1}, 0),
    "pair, must": ([(0, 1)], [], SOFT, 3, {"pair": 1}, 1),
    "pair, cannot": ([], [(0, 1)], SOFT, 2, {"pair": 1}, 1),
    "pair, hard": ([], [(0, 1)], HARD, 3, {"pair": 1}, 1),
    "two links are one edge": ([(0, 1)], [(0, 2), (1, 2)], [HARD, 1.0, 2.0], 3, {"pair": 1}, 1),
    "links of both kinds on an edge": ([(0, 1), (0, 2)], [(1, 2)], [HARD, 1.0, 2.0], 3, {"pair": 1}, 1),
    "hard and soft on an edge": ([(0, 1), (0, 2)], [(1, 2)], [HARD, 1.0, HARD], 3, {"pair": 1}, 1),
    "soft links inside a component": ([(0, 1), (1, 2)], [(0, 2)], [HARD, HARD, 2.0], 3, {"collapsed must-links": 1}, 0),
    "two clusters": ([], SQUARE, HARD, 2, {"bipartition": 1}, 0),
    "two clusters, joined": ([(1, 4)], SQUARE, HARD, 2, {"bipartition": 1}, 0),
    "two clusters, soft between": ([(1, 4)], [(0, 1), (4, 5), (2, 5)], [SOFT, HARD, 2.0, HARD], 2, {"tree": 1}, 1),
    "tree": ([(0, 1)], [(1, 2), (1, 3), (3, 4)], [SOFT, HARD, SOFT, HARD], 3, {"tree": 1}, 1),
    "clique": ([], TRIANGLE, HARD, 4, {"clique": 1}, 2),
    "clique with a tree": ([(3, 4)], [*TRIANGLE, (2, 3), (3, 5)], [SOFT, *[HARD] * 3, SOFT, HARD], 3, {"clique": 1}, 2),
    "clique of all clusters": ([], list(combinations(range(4), 2)), HARD, 4, {"clique": 1}, 3),
    "cycle": ([(0, 1)], [(1, 2), (2, 3), (0, 3)], SOFT, 3, {"junction tree": 1}, 2),
    "cycle, hard": ([], SQUARE, HARD, 3, {"junction tree": 1}, 2),
    "soft triangle": ([(0, 1)], [(1, 2), (0, 2)], SOFT, 3, {"junction tree": 1}, 2),
    "two cycles": (TRIANGLE, [(2, 3), (3, 4), (3, 5), (4, 5)], SOFT, 3, {"junction tree": 1}, 2),
    "complete, soft": ([], list(combinations(range(5), 2)), SOFT, 3, {"junction tree": 1}, 4),
    "several parts": (
        [(0, 1), (5, 6)],
        [(1, 2), (3, 4), (4, 5), (3, 5)],
        SOFT,
        2,
        {"tree": 1, "junction tree": 1},
        2,
    ),
}


@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize("scale", [1.0, 800.0])
def test_each_way_is_taken_and_exact(name: str, scale: float) -> None:
    *question, methods, width = WAYS[name]
    model = model_of(*question, scale=scale)
    inference = plan(model)
    assert dict(inference.report.methods) == methods
    assert inference.report.width == width
    assert_exact(model, inference)


@given(seed=st.integers(0, 10**6), n=st.integers(3, 6), k=st.integers(2, 3))
@settings(max_examples=40)
def test_rows_in_another_order_get_the_same_probabilities(seed: int, n: int, k: int) -> None:
    rng = np.random.RandomState(seed)
    model = random_model(rng, n, k)
    order = rng.permutation(n)
    other, number = permute(model, order)
    found, again = plan(model).marginals(model.log_potentials), plan(other).marginals(other.log_potentials)
    np.testing.assert_allclose(again.rows, found.rows[order], atol=1e-12)
    np.testing.assert_allclose(again.links[number], found.links, atol=1e-12)
    assert again.log_normalizer == pytest.approx(found.log_normalizer)


@given(case=cases(max_samples=6, min_samples=3), k=st.integers(2, 3), seed=st.integers(0, 99))
@settings(max_examples=40)
def test_the_gradient_of_the_log_normalizer_is_the_expected_counts(case: Case, k: int, seed: int) -> None:
    """Without data, every row with the same potentials: the prior network of EM."""
    rng = np.random.RandomState(seed)
    links = Constraints(case.must_link, case.cannot_link)
    graph, penalty = links.adjacency(case.n_samples), random_penalties(rng, len(links))
    try:
        inference = LinkInference.plan(graph, penalty, k)
    except InfeasibleError:
        return

    def log_omega(theta: np.ndarray) -> float:
        return inference.marginals(np.tile(theta, (case.n_samples, 1))).log_normalizer

    theta, direction, step = rng.normal(size=k), rng.normal(size=k), 1e-4
    counts = inference.marginals(np.tile(theta, (case.n_samples, 1))).rows.sum(axis=0)
    slope = (log_omega(theta + step * direction) - log_omega(theta - step * direction)) / (2 * step)
    assert counts @ direction == pytest.approx(slope, abs=1e-5)
    assert counts.sum() == pytest.approx(case.n_samples)
    # A log-sum-exp of linear forms is convex: minus it, which EM maximizes, is concave.
    ends = log_omega(theta + direction) + log_omega(theta - direction)
    assert ends >= 2 * log_omega(theta) - 1e-9
    uniform = inference.marginals(np.zeros((case.n_samples, k))).rows
    np.testing.assert_allclose(uniform, 1 / k, atol=1e-12)


PI = np.array([0.5, 0.3, 0.2])


def omega(must_link, cannot_link, penalty, pi=PI) -> float:
    """The sum over all labelings of the prior probability times the weight of the links."""
    links = Constraints(must_link, cannot_link)
    rows, compact = links.compact()
    inference = LinkInference.plan(compact.adjacency(len(rows)), np.full(len(links), penalty), len(pi))
    return float(np.exp(inference.marginals(np.tile(np.log(pi), (len(rows), 1))).log_normalizer))


def test_normalizers_in_closed_form() -> None:
    squares = (PI**2).sum()
    beta = 1.7
    # The form with couplings differs by exp(-beta) for each must-link.
    assert omega([(0, 1)], [], beta) == pytest.approx((1 + np.expm1(beta) * squares) * np.exp(-beta))
    assert omega([], [(0, 1)], beta) == pytest.approx(1 + np.expm1(-beta) * squares)
    assert omega([(0, 1)], [], HARD) == pytest.approx(squares)
    assert omega([], [(0, 1)], HARD) == pytest.approx(1 - squares)
    assert omega([(0, 1), (2, 3)], [(4, 5)], HARD) == pytest.approx(squares**2 * (1 - squares))
    star = [(0, leaf) for leaf in range(1, 6)]
    assert omega([], star, HARD) == pytest.approx((PI * (1 - PI) ** 5).sum())
    # A must-link component of two rows and one of three with a cannot-link between them.
    two, three = (PI**2).sum(), (PI**3).sum()
    assert omega([(0, 1), (2, 3), (3, 4)], [(1, 2)], HARD) == pytest.approx(two * three - (PI**5).sum())
    a, b = pi = np.array([0.7, 0.3])
    assert omega([], [*SQUARE, (3, 4)], HARD, pi) == pytest.approx(a**2 * b**3 + a**3 * b**2)


@pytest.mark.parametrize("links", [([(0, 1), (2, 3)], [(1, 2)]), ([(3, 4)], SQUARE), ([(0, 4)], TRIANGLE)])
def test_large_penalties_approach_hard_links(links) -> None:
    soft, hard = (model_of(*links, penalty, 3) for penalty in (60.0, HARD))
    near, limit = plan(soft).marginals(soft.log_potentials), plan(hard).marginals(hard.log_potentials)
    np.testing.assert_allclose(near.rows, limit.rows, atol=1e-9)
    assert near.log_normalizer == pytest.approx(limit.log_normalizer)
    np.testing.assert_array_equal(
        plan(soft).best_labeling(soft.log_potentials), plan(hard).best_labeling(hard.log_potentials)
    )


def test_a_long_chain_has_the_normalizer_of_its_transfer_matrix() -> None:
    n_rows, k, beta = 20_000, 3, 2.0
    chain = np.array(list(pairwise(range(n_rows))))
    links = Constraints(chain[::2], chain[1::2])
    inference = LinkInference.plan(links.adjacency(n_rows), np.full(n_rows - 1, beta), k)
    found = inference.marginals(np.zeros((n_rows, k)))
    n_must = len(links.must_link)
    step = np.array([np.log(1 + (k - 1) * np.exp(-beta)), np.log(k - 1 + np.exp(-beta))])
    assert found.log_normalizer == pytest.approx(np.log(k) + step @ [n_must, n_rows - 1 - n_must])
    np.testing.assert_allclose(found.rows, 1 / k)


def test_evidence_may_exclude_clusters() -> None:
    """Minus infinity, as of a row whose label is known; also where a hard cannot-link then leaves one cluster only."""
    evidence = np.zeros((4, 3))
    evidence[0, 1:] = -np.inf
    evidence[1, 2] = -np.inf
    for cannot_link in ([(0, 1), (1, 2), (1, 3)], [*TRIANGLE, (2, 3)], SQUARE):
        links = Constraints([], cannot_link)
        for penalty in (HARD, SOFT):
            model = LinkModel(evidence, links.adjacency(4), np.full(len(links), penalty))
            assert_exact(model, plan(model))


@pytest.mark.parametrize("cannot_link", [[(0, 1)], TRIANGLE, [*TRIANGLE, (0, 3), (1, 3)]])
def test_evidence_that_excludes_every_labeling_is_refused(cannot_link) -> None:
    """A pair with one cluster each, a clique, and a junction tree."""
    links = Constraints([], cannot_link)
    n_rows = int(links.pairs.max()) + 1
    inference = LinkInference.plan(links.adjacency(n_rows), np.full(len(links), HARD), 3)
    evidence = np.zeros((n_rows, 3))
    evidence[:, 1 if n_rows == 2 else 2 :] = -np.inf
    for ask in (inference.marginals, inference.best_labeling):
        with pytest.raises(InfeasibleError, match="exclude every labeling"):
            ask(evidence)


@pytest.mark.parametrize("beyond", ["tree", "mean_field", "gibbs", "bp"])
def test_a_row_without_a_cluster_is_named_by_its_number(beyond: str) -> None:
    links = Constraints([(0, 1), (2, 3)], [(1, 2)])
    rows, penalty = np.array([10, 20, 30, 40]), np.array([SOFT, HARD, SOFT])
    inference = LinkInference.plan(links.adjacency(4), penalty, 3, rows=rows, exact=False, beyond=beyond)
    for excluded, named in (
        ([1], "exclude every cluster of row 20"),
        ([2], "exclude every labeling .* no cluster is left for row 30 and 1 row tied to it"),
    ):
        evidence = np.zeros((4, 3))
        evidence[excluded] = -np.inf
        for ask in (inference.marginals, inference.best_labeling):
            with pytest.raises(InfeasibleError, match=named):
                ask(evidence)


@pytest.mark.parametrize("beyond", ["mean_field", "gibbs"])
@pytest.mark.parametrize("cannot_link", [[(0, 1)], [(0, 1), (1, 2), (0, 2)]])
def test_evidence_against_hard_links_is_refused_by_approximations(beyond: str, cannot_link) -> None:
    """Two rows that must be in the same cluster, and three that have two clusters."""
    links = Constraints([], [*cannot_link, (2, 3)])
    inference = LinkInference.plan(
        links.adjacency(4), np.full(len(links), HARD), 4, exact=False, beyond=beyond, random_state=0
    )
    evidence = np.zeros((4, 4))
    evidence[:3, len(cannot_link) // 2 + 1 :] = -np.inf
    for ask in (inference.marginals, inference.best_labeling):
        with pytest.raises(InfeasibleError, match="No labeling was found that keeps all hard links"):
            ask(evidence)


# ---- beyond the budget ---------------------------------------------------------------------------------------------


def two_triangles_and_a_leaf(penalty) -> LinkModel:
    return model_of([(0, 1), (2, 6)], [(1, 2), (0, 2), (3, 4), (4, 5), (3, 5)], penalty, 3)


def test_beyond_the_budget_spanning_trees_leave_out_the_lightest_links() -> None:
    model = two_triangles_and_a_leaf([3.0, 0.5, 1.0, 2.0, 0.1, 0.2, 0.3])
    assert plan(model, max_table=60).report.methods == {"junction tree": 2}
    inference = plan(model, max_table=30)
    report = inference.report
    assert not report.is_exact
    assert (report.n_dropped, report.width, dict(report.methods)) == (2, 1, {"spanning tree": 2})
    assert report.describe() == "Approximate: 2 parts by spanning tree; 2 links left out."
    pairs = model.graph.pairs.tolist()
    weight = np.array([pairs.index([0, 2]) == number or pairs.index([3, 4]) == number for number in range(7)])
    kept = LinkModel(model.log_potentials, model.graph, np.where(weight, 0.0, model.penalty))
    rows, links, log_normalizer = enumerate_labelings(kept)
    found = inference.marginals(model.log_potentials)
    np.testing.assert_allclose(found.rows, rows, atol=1e-12)
    np.testing.assert_allclose(found.links[~weight], links[~weight], atol=1e-12)
    assert found.log_normalizer == pytest.approx(log_normalizer)
    apart = 1 - (found.rows[[0, 3]] * found.rows[[2, 4]]).sum(axis=1)
    np.testing.assert_allclose(found.links[weight], apart)


def test_the_weights_of_links_choose_the_tree() -> None:
    model = model_of([], TRIANGLE, SOFT, 3)
    for dropped in range(3):
        weight = np.where(np.arange(3) == dropped, 1.0, 2.0)
        found = plan(model, max_table=3, tree_weight=weight).marginals(model.log_potentials)
        kept = LinkModel(model.log_potentials, model.graph, np.where(np.arange(3) == dropped, 0.0, SOFT))
        np.testing.assert_allclose(found.rows, enumerate_labelings(kept)[0], atol=1e-12)


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize(
    ("beyond", "name"), [("mean_field", "mean field"), ("gibbs", "Gibbs sampling"), ("bp", "belief propagation")]
)
def test_wide_parts_are_approximated(beyond: str, name: str, exact: bool) -> None:
    """Weak links: all approximations are near, whether of the cycles alone or of all parts."""
    model = two_triangles_and_a_leaf(0.3)
    inference = plan(model, beyond=beyond, exact=exact, max_table=30, n_sweeps=3000, random_state=0)
    assert dict(inference.report.methods) == {name: 2}
    assert not inference.report.is_exact
    rows, links, log_normalizer = enumerate_labelings(model)
    found = inference.marginals(model.log_potentials)
    np.testing.assert_allclose(found.rows, rows, atol=0.03)
    # Rows are independent in mean field.
    np.testing.assert_allclose(found.links, links, atol=0.07 if beyond == "mean_field" else 0.03)
    if beyond == "mean_field":
        assert log_normalizer - 0.1 < found.log_normalizer < log_normalizer
    else:
        assert found.log_normalizer == pytest.approx(log_normalizer, abs=0.1)
    labels = inference.best_labeling(model.log_potentials)
    assert log_weight(model, labels) == pytest.approx(best_log_weight(model))


@pytest.mark.parametrize("beyond", ["gibbs", "bp"])
def test_estimated_log_normalizers_are_of_the_wide_parts_only(beyond: str) -> None:
    """A tree, a clique, and a must-link component of four rows keep their own; a triangle of weak links has none."""
    exact_part = model_of([(0, 1), (6, 7), (7, 8), (8, 9)], [(1, 2), (3, 4), (4, 5), (3, 5)], HARD, 3, scale=3.0)
    triangle = model_of([], TRIANGLE, 0.3, 3, seed=1)
    pairs = np.concatenate([exact_part.graph.pairs, triangle.graph.pairs + 10])
    sign = np.concatenate([exact_part.graph.sign, triangle.graph.sign])
    links = Constraints.from_pairs(pairs, sign)
    penalty = np.where(links.pairs[:, 0] < 10, HARD, 0.3)
    evidence = np.concatenate([exact_part.log_potentials, triangle.log_potentials])
    options = {"beyond": beyond, "max_table": 10, "n_sweeps": 3000, "random_state": 0}
    inference = LinkInference.plan(links.adjacency(13), penalty, 3, **options)
    assert inference.report.methods[{"gibbs": "Gibbs sampling", "bp": "belief propagation"}[beyond]] == 1
    expected = sum(plan(model).marginals(model.log_potentials).log_normalizer for model in (exact_part, triangle))
    assert inference.marginals(evidence).log_normalizer == pytest.approx(expected, abs=0.05)


def test_trees_that_hang_from_a_wide_part_are_exact_by_mean_field_too() -> None:
    model = model_of([(2, 3), (3, 4), (4, 5)], TRIANGLE, 2.0, 3)
    exact = enumerate_labelings(model)[2]
    of_core, of_all = (plan(model, beyond="mean_field", exact=e, max_table=9, tol=1e-9) for e in (True, False))
    bounds = [inference.marginals(model.log_potentials).log_normalizer for inference in (of_core, of_all)]
    assert bounds[1] < bounds[0] < exact


@given(seed=st.integers(0, 10**6))
@settings(max_examples=30)
def test_approximated_best_labelings_keep_hard_links(seed: int) -> None:
    """A random graph that three clusters can color, with all of its links hard."""
    rng = np.random.RandomState(seed)
    y = rng.randint(3, size=12)
    cannot_link = [pair for pair in combinations(range(12), 2) if y[pair[0]] != y[pair[1]] and rng.uniform() < 0.5]
    links = Constraints([], cannot_link or [(0, 1)])
    evidence = 3 * rng.normal(size=(12, 3))
    for beyond in ("tree", "mean_field"):
        inference = LinkInference.plan(links.adjacency(12), np.full(len(links), HARD), 3, beyond=beyond, max_table=3)
        assert links.satisfied(inference.best_labeling(evidence)).all()


def test_mean_field_starts_where_it_is_told() -> None:
    """Strong must-links and no evidence: mean field stays in the cluster that it starts from."""
    model = LinkModel(
        np.zeros((4, 3)), Constraints([(0, 1), (1, 2), (0, 2), (2, 3)], []).adjacency(4), [9.0, 9.0, 9.0, HARD]
    )
    inference = plan(model, beyond="mean_field", max_table=3)
    for cluster in range(3):
        found = inference.marginals(model.log_potentials, start=softmax(np.tile(np.eye(3)[cluster], (4, 1)), axis=1))
        assert (found.rows.argmax(axis=1) == cluster).all()


def test_chains_continue_with_a_start_only() -> None:
    """Links so strong that a chain stays in the cluster that it starts in."""
    links = Constraints(list(combinations(range(20), 2)))
    inference = LinkInference.plan(
        links.adjacency(20), np.ones(len(links)), 2, exact=False, beyond="gibbs", random_state=0
    )
    for_first, for_second = np.full((20, 2), [2.0, 0.0]), np.full((20, 2), [0.0, 2.0])
    before = inference.marginals(for_first).rows
    assert before[:, 0].min() > 0.99
    assert inference.marginals(for_second, before).rows[:, 0].min() > 0.99
    assert inference.marginals(for_second).rows[:, 0].max() < 0.01


# ---- bad input -----------------------------------------------------------------------------------------------------


def test_contradictions_of_hard_links_are_refused_with_their_chain() -> None:
    graph = Constraints([(0, 1), (1, 2)], [(0, 2)]).adjacency(3)
    with pytest.raises(InfeasibleError, match=r"Rows 0 and 2 have a cannot-link.* 0 - 1 - 2; .*with finite penalties"):
        LinkInference.plan(graph, [HARD] * 3, 3)
    with pytest.raises(InfeasibleError, match="10 - 11 - 12") as caught:
        LinkInference.plan(graph, [HARD] * 3, 3, rows=np.array([10, 11, 12]))
    assert caught.value.pairs == [(10, 12)]
    assert LinkInference.plan(graph, [HARD, SOFT, HARD], 3).report.is_exact


@pytest.mark.parametrize(
    ("n_clusters", "cannot_link", "reason"),
    [
        (1, [(0, 1)], "One cluster cannot separate the rows 10 and 11"),
        (2, TRIANGLE, "cycle of 3 cannot-links, an odd number"),
        (3, list(combinations(range(4), 2)), "4 must-link components are all cannot-linked to each other"),
    ],
)
def test_too_few_clusters_are_refused_before_anything_is_computed(n_clusters, cannot_link, reason) -> None:
    links = Constraints([], cannot_link)
    n_rows = int(links.pairs.max()) + 1
    for beyond in ("tree", "mean_field"):
        with pytest.raises(InfeasibleError, match=reason):
            LinkInference.plan(
                links.adjacency(n_rows), [HARD] * len(links), n_clusters, beyond=beyond, rows=10 + np.arange(n_rows)
            )
    model = LinkModel(np.zeros((n_rows, n_clusters)), links.adjacency(n_rows), [SOFT] * len(links))
    assert_exact(model, plan(model))


def test_wrong_shapes_and_values_are_refused() -> None:
    graph = Constraints([(0, 1)], [(1, 2)]).adjacency(3)
    for penalty in ([1.0], [[1.0, 1.0]]):
        with pytest.raises(ValueError, match="penalty must have one entry for each of the 2 links"):
            LinkInference.plan(graph, penalty, 2)
    for penalty in ([1.0, -1.0], [1.0, np.nan]):
        with pytest.raises(ValueError, match="penalty must not be negative"):
            LinkInference.plan(graph, penalty, 2)
    with pytest.raises(ValueError, match="tree_weight must have one entry"):
        LinkInference.plan(graph, [1.0, 1.0], 2, tree_weight=[1.0])
    with pytest.raises(ValueError, match="beyond must be one of 'tree', 'mean_field', 'gibbs', 'bp'; got 'exact'"):
        LinkInference.plan(graph, [1.0, 1.0], 2, beyond="exact")
    inference = LinkInference.plan(graph, [1.0, 1.0], 2)
    for evidence in (np.zeros((3, 3)), np.zeros((2, 2)), np.zeros(6)):
        with pytest.raises(ValueError, match=r"must have the shape \(3, 2\)"):
            inference.marginals(evidence)
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match="NaN or infinity"):
            inference.best_labeling(np.full((3, 2), bad))


@pytest.mark.parametrize("exact", [True, False])
def test_belief_propagation_takes_no_hard_cannot_links(exact: bool) -> None:
    """Its messages would break them where evidence is strong; in parts that are solved exactly they may be hard."""
    model = model_of([(3, 4)], [*SQUARE, (4, 5)], [HARD, SOFT, SOFT, HARD, SOFT, SOFT], 4)
    with pytest.raises(ValueError, match=r"Belief propagation takes no hard cannot-links .* such as mean field"):
        plan(model, beyond="bp", exact=exact, max_table=5)
    assert plan(model, beyond="bp").report.is_exact
    soft = model_of([(3, 4)], [*SQUARE, (4, 5)], [HARD, *[SOFT] * 5], 4)
    assert plan(soft, beyond="bp", exact=exact, max_table=5).report.methods == {"belief propagation": 1}


def test_no_links_and_no_rows() -> None:
    for n_rows in (0, 2):
        inference = LinkInference.plan(Constraints().adjacency(n_rows), [], 3)
        found = inference.marginals(np.zeros((n_rows, 3)))
        assert found.rows.shape == (n_rows, 3)
        assert found.log_normalizer == pytest.approx(n_rows * np.log(3))
        assert inference.best_labeling(np.zeros((n_rows, 3))).tolist() == [0] * n_rows
        assert inference.report.describe() == "Exact: no links."


def test_a_report_names_its_methods() -> None:
    report = InferenceReport(True, 2, {"pair": 1, "junction tree": 2}, 0)
    assert report.describe() == "Exact: 1 part by pair, 2 parts by junction tree."


def test_marginals_of_huge_evidence_are_still_probabilities() -> None:
    """With evidence whose differences have lost all digits, the state with the most evidence has all the mass."""
    evidence = np.array([[-9e89, -86.0, -99.0], [3e73, -9e10, -99.0], [3e73, -9e10, -99.0]])
    links = Constraints(must_link=[(0, 2)], cannot_link=[(1, 2)])
    model = LinkModel(evidence, links.adjacency(3), np.full(2, 1000.0))
    found = plan(model).marginals(evidence).rows
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert found.argmax(axis=1).tolist() == [1, 0, 0]
