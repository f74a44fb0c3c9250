"""Links and sizes together: the optimum by an exact search, no false refusal, the numbers that clash, soft links."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from mustlink import Constraints
from mustlink.errors import ConstraintError, InfeasibleError
from mustlink.sizes import assign, assign_linked
from mustlink.sizes._linked._feasibility import find_placement
from mustlink.sizes._linked._linked import LinkedAssignment
from mustlink.sizes._linked._program import Program, clique_cover, solve
from mustlink.sizes._linked._relax import clustering_with_few_breaks
from mustlink.sizes._linked._units import make_units
from reference.linked_sizes import fewest_broken, keeps_triples, least_cost
from reference.random_links import Case, cases


@st.composite
def problems(draw: st.DrawFn, max_samples: int = 8) -> tuple[Case, np.ndarray, list[int], list[int]]:
    """Draw rows with links, costs with and without ties, and sizes that can add up."""
    case = draw(cases(max_samples=max_samples, min_samples=3))
    n, k = case.n_samples, draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    costs = rng.random((n, k)) if draw(st.booleans()) else rng.integers(0, 4, (n, k)).astype(np.float64)
    sizes = rng.multinomial(n, np.ones(k) / k)
    size_min = np.maximum(sizes - rng.integers(0, 3, k), 0)
    size_max = sizes + rng.integers(0, 3, k)
    return case, costs, size_min.tolist(), size_max.tolist()


def random_costs(n: int, k: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random((n, k))


def cost_of(costs: np.ndarray, labels: np.ndarray) -> float:
    return float(costs[np.arange(len(labels)), labels].sum())


def check_kept(labels: np.ndarray, links: Constraints, size_min: Any, size_max: Any) -> None:
    sizes = np.bincount(labels, minlength=len(size_min))
    assert (sizes >= size_min).all()
    assert (sizes <= size_max).all()
    assert len(links.violations(labels)) == 0


# ---- the optimum, and no false refusal


@pytest.mark.parametrize("exact", [True, False])
@given(problem=problems(), n_triples=st.integers(0, 2))
@settings(max_examples=150)
def test_an_assignment_is_found_whenever_there_is_one(exact: bool, problem: Any, n_triples: int) -> None:
    case, costs, size_min, size_max = problem
    rng = np.random.default_rng(case.n_samples)
    one_of = [tuple(rng.choice(case.n_samples, 3, replace=False).tolist()) for _ in range(n_triples)]
    expected = least_cost(costs, case.must_link, case.cannot_link, size_min, size_max, one_of)
    links = Constraints(case.must_link, case.cannot_link)
    bounds = {"size_min": size_min, "size_max": size_max, "one_of": one_of, "exact": exact}
    if expected is None:
        with pytest.raises(InfeasibleError):
            assign_linked(costs, links, **bounds)
        return
    labels = assign_linked(costs, links, **bounds).labels
    check_kept(labels, links, size_min, size_max)
    assert keeps_triples(labels[None], one_of).all()
    if exact:
        assert cost_of(costs, labels) == pytest.approx(expected, abs=1e-9)
    else:
        assert cost_of(costs, labels) >= expected - 1e-9


@given(problem=problems(max_samples=7), penalty=st.floats(0, 3))
@settings(max_examples=80)
def test_soft_must_links_are_weighed_against_the_costs(problem: Any, penalty: float) -> None:
    case, costs, size_min, size_max = problem
    expected = least_cost(costs, case.must_link, case.cannot_link, size_min, size_max, penalty=penalty)
    links = Constraints(case.must_link, case.cannot_link)
    for exact in (True, False):
        bounds = {"size_min": size_min, "size_max": size_max, "penalty": penalty, "exact": exact}
        if expected is None:
            with pytest.raises(InfeasibleError):
                assign_linked(costs, links, **bounds)
            continue
        labels = assign_linked(costs, links, **bounds).labels
        check_kept(labels, links.take(links.sign < 0), size_min, size_max)
        broken = links.violations(labels).must_link
        total = cost_of(costs, labels) + penalty * len(broken)
        assert total >= expected - 1e-9
        if exact:
            assert total == pytest.approx(expected, abs=1e-9)


def test_moves_come_close_to_the_optimum() -> None:
    gaps = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 4, 120)
        X = 1.5 * np.eye(4)[y] + rng.normal(size=(120, 4))
        costs = np.square(X[:, None] - X[rng.choice(120, 4, replace=False)]).sum(axis=2)
        links = Constraints.sample(y, n_pairs=60, random_state=seed)
        bounds = {"size_min": 22, "size_max": 38}
        labels = [assign_linked(costs, links, **bounds, exact=exact).labels for exact in (True, False)]
        for found in labels:
            check_kept(found, links, [22] * 4, [38] * 4)
        optimum, moved = (cost_of(costs, found) for found in labels)
        assert moved >= optimum - 1e-9
        gaps.append(moved / optimum - 1)
    assert np.mean(gaps) < 0.002


def test_without_links_it_is_the_assignment_by_sizes() -> None:
    costs = random_costs(30, 3)
    ours, plain = assign_linked(costs, Constraints(), size_min=9), assign(costs, size_min=9)
    np.testing.assert_array_equal(ours.labels, plain.labels)
    np.testing.assert_array_equal(ours.prices, plain.prices)


def test_prices_hold_for_the_rows_without_links() -> None:
    costs = random_costs(40, 3, seed=1)
    links = Constraints(must_link=[(0, 1), (1, 2), (5, 6)], cannot_link=[(0, 5), (5, 9)])
    labels, prices = assign_linked(costs, links, size_min=13)
    free = np.setdiff1d(np.arange(40), links.constrained_rows())
    priced = costs[free] - prices
    np.testing.assert_allclose(priced[np.arange(len(free)), labels[free]], priced.min(axis=1), atol=1e-12)
    assert (prices >= 0).all()


def test_a_previous_answer_is_replaced_only_by_a_cheaper_one() -> None:
    links = Constraints.sample(np.arange(60) % 3, n_pairs=40, random_state=0)
    sizes = np.full(3, 15), np.full(3, 25)
    assignment = LinkedAssignment(make_units(links, 60, *sizes), exact=False)
    before = assignment.assign(random_costs(60, 3)).labels
    for seed in range(1, 5):
        costs = random_costs(60, 3, seed)
        labels = assignment.assign(costs, before).labels
        check_kept(labels, links, *sizes)
        assert cost_of(costs, labels) <= cost_of(costs, before) + 1e-12
        before = labels
    np.testing.assert_array_equal(assignment.assign(np.ones((60, 3)), before).labels, before)


def test_other_kinds_of_links() -> None:
    costs = random_costs(12, 3)
    all_must = Constraints(must_link=[(i, i + 1) for i in range(11)])
    assert len(set(assign_linked(costs, all_must).labels)) == 1
    cliques = Constraints(
        cannot_link=[(a, b) for g in range(0, 12, 3) for a, b in ((g, g + 1), (g, g + 2), (g + 1, g + 2))]
    )
    check_kept(assign_linked(costs, cliques, size_max=4).labels, cliques, [4] * 3, [4] * 3)
    huge = Constraints(must_link=[(0, i) for i in range(1, 9)])
    check_kept(assign_linked(costs, huge, size_max=[1, 9, 2]).labels, huge, [0] * 3, [1, 9, 2])


# ---- the numbers that clash


@pytest.mark.parametrize(
    ("links", "sizes", "message"),
    [
        (
            Constraints(must_link=[(2, 3), (3, 4), (4, 5)]),
            {"size_max": 3},
            "The must-link component of row 2 has 4 rows, more than the largest maximum size, 3; increase size_max",
        ),
        (
            Constraints(must_link=[(0, i) for i in range(1, 7)]),
            {"size_min": 2},
            "row 0 has 7 rows and leaves 2 of 9 for the other clusters, whose minimum sizes add up to 4; reduce",
        ),
        (
            Constraints(must_link=[(0, 1), (2, 3), (4, 5), (6, 7)]),
            {"size_max": 3},
            "4 must-link components of 2 rows or more cannot be placed: the maximum sizes 3 leave room for 3 of",
        ),
        (
            Constraints(must_link=[(0, 1), (2, 3)], cannot_link=[(0, 2)]),
            {"size_max": [1, 1, 7]},
            "2 must-link components of 2 and 2 rows are all cannot-linked to each other .those of the rows 0, 2., and",
        ),
        (
            Constraints(cannot_link=[(a, b) for a in range(4) for b in range(a)]),
            {"size_max": 8},
            "4 must-link components are all cannot-linked to each other, more than 3 clusters",
        ),
        (
            Constraints(must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)]),
            {},
            "Rows 0 and 2 have a cannot-link, but must-links connect them: 0 - 1 - 2",
        ),
        (
            Constraints(must_link=[(0, i) for i in range(1, 8)]),
            {"size_min": [1, 1, 1]},
            "The must-links leave 2 components for 3 clusters with a minimum size",
        ),
        (
            Constraints(must_link=[(0, 1), (2, 3), (4, 5), (6, 7)]),
            {"size_min": 3, "size_max": 3},
            "cannot be placed",
        ),
        (
            Constraints(must_link=[(0, 1), (1, 2), (3, 4), (4, 5), (6, 7), (7, 8)]),
            {"size_min": [2, 3, 3], "size_max": [2, 4, 4]},
            "3 must-link components of 3 rows or more cannot be placed: the maximum sizes .2, 4, 4. leave room for 2",
        ),
    ],
)
def test_what_clashes_is_named_with_its_numbers(links: Constraints, sizes: dict[str, Any], message: str) -> None:
    with pytest.raises(InfeasibleError, match=message):
        assign_linked(random_costs(9, 3), links, **sizes)


def test_a_clash_that_only_a_search_finds_is_named() -> None:
    # Two pairs and minimum sizes of 1 and 3: the relaxation has a solution of halves, the rows have none.
    pairs = Constraints(must_link=[(0, 1), (2, 3)])
    with pytest.raises(
        InfeasibleError, match=r"A search shows .* 2 must-link components of 2 and 2 rows, 0 other rows, 0"
    ):
        assign_linked(random_costs(4, 2), pairs, size_min=[1, 3])


def test_an_undecided_search_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mustlink.sizes._linked._feasibility.MAX_WHOLE", 0)
    with pytest.raises(
        InfeasibleError, match="was found, and whether one exists is not known: 2 must-link components of 2"
    ):
        assign_linked(random_costs(4, 2), Constraints([(0, 1), (2, 3)]), size_min=[1, 3], exact=False)


def test_a_search_for_any_placement_does_not_grow_with_the_rows() -> None:
    # 3,000 components of 2 to 4 rows, and equal sizes that leave no slack.
    sizes = np.tile([2, 3, 4], 1_000)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    links = Constraints(
        [(first, first + i) for first, size in zip(starts, sizes, strict=False) for i in range(1, size)]
    )
    bounds = np.full(6, 1_500, dtype=np.int64)
    units = make_units(links, 9_000, bounds, bounds)
    assert units.misfit(find_placement(units)) == 0


# ---- fewest broken links


@given(problem=problems(max_samples=7))
@settings(max_examples=100)
def test_relaxed_links_keep_the_sizes_and_break_few(problem: Any) -> None:
    case, costs, size_min, size_max = problem
    links = Constraints(case.must_link, case.cannot_link)
    labels = clustering_with_few_breaks(links, costs, np.array(size_min), np.array(size_max))
    check_kept(labels, Constraints(), size_min, size_max)
    fewest = fewest_broken(case, size_min, size_max)
    assert fewest <= len(links.violations(labels)) <= 2 * fewest + 1


# ---- checks of the specification


def test_one_of_two_admits_what_the_corrected_form_says() -> None:
    """Check 6: the printed form forces all three together; the corrected one means exactly one of the two."""
    for k in (2, 3):
        for i, j, g in product(range(k), repeat=3):
            together = np.eye(k)[[i, j, g]]
            apart_j, apart_g = np.abs(together[0] - together[1]).sum(), np.abs(together[0] - together[2]).sum()
            is_printed = apart_j + apart_g <= 1
            is_corrected = apart_j + apart_g <= 2 and (together[1] + together[2] <= 1).all()
            assert is_printed == (i == j == g)
            assert is_corrected == ((i == j) != (i == g))
            # The costs ask for this labeling: it is the answer exactly if the triple admits it.
            costs = 1.0 - together
            labels = assign_linked(costs, Constraints(), one_of=[(0, 1, 2)]).labels
            assert (labels.tolist() == [i, j, g]) == is_corrected
            assert (labels[0] == labels[1]) != (labels[0] == labels[2])


def test_a_triangle_of_cannot_links_in_two_clusters() -> None:
    """Check 7: pairwise rows have the point 1/2, which no search can round; the clique is infeasible at once."""
    pairs = [(0, 1), (0, 2), (1, 2)]
    pairwise = np.zeros((6, 6))
    for row, (cluster, (a, b)) in enumerate(product(range(2), pairs)):
        pairwise[row, [2 * a + cluster, 2 * b + cluster]] = 1.0
    each = np.kron(np.eye(3), np.ones(2))
    relaxed = linprog(np.zeros(6), A_ub=pairwise, b_ub=np.ones(6), A_eq=each, b_eq=np.ones(3))
    assert relaxed.status == 0
    np.testing.assert_allclose(relaxed.x, 0.5)
    clique = np.kron(np.ones(3), np.eye(2))
    assert linprog(np.zeros(6), A_ub=clique, b_ub=np.ones(2), A_eq=each, b_eq=np.ones(3)).status == 2
    ones = np.ones(3, dtype=np.int64)
    program = Program(np.zeros((3, 2)), ones, 0 * ones[:2], 3 * ones[:2], ones, ones > 0, np.array(pairs))
    assert solve(program, 100) == (None, True)
    with pytest.raises(InfeasibleError, match="Two clusters cannot satisfy a cycle of 3 cannot-links"):
        assign_linked(np.zeros((3, 2)), Constraints(cannot_link=pairs))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("n", [12, 150])
def test_separate_cliques_have_whole_solutions(n: int, seed: int) -> None:
    """Check 7, second half: with one constraint per clique, the linear program is the answer."""
    k, rng = 3, np.random.default_rng(seed)
    costs = random_costs(n, k, seed)
    ends = np.cumsum(rng.integers(2, k + 1, n // 4))
    groups = np.split(rng.permutation(n)[: ends[-1]], ends[:-1])
    each = np.kron(np.eye(n), np.ones(k))
    per_cluster = [np.kron(np.isin(np.arange(n), group).astype(float), np.eye(k)) for group in groups]
    sizes = np.kron(np.ones(n), np.eye(k))
    upper = np.concatenate([*per_cluster, -sizes])
    limits = np.concatenate([np.ones(k * len(groups)), np.full(k, -n / k)])
    relaxed = linprog(costs.ravel(), A_ub=upper, b_ub=limits, A_eq=each, b_eq=np.ones(n), method="highs-ds")
    np.testing.assert_allclose(relaxed.x, np.rint(relaxed.x), atol=1e-9)
    links = Constraints(cannot_link=[(a, b) for group in groups for a in group for b in group if a < b])
    labels = assign_linked(costs, links, size_min=n // k, exact=False).labels
    check_kept(labels, links, [n // k] * k, [n] * k)
    assert cost_of(costs, labels) == pytest.approx(relaxed.fun, abs=1e-9)


@pytest.mark.parametrize("exact", [True, False])
def test_penalties_from_none_to_infinite(exact: bool) -> None:
    """Check 8: a penalty of 0 is as without must-links; a large one keeps all of them, at the cost of hard ones."""
    for seed in range(5):
        costs = random_costs(12, 3, seed)
        links = Constraints(must_link=[(0, 1), (2, 3), (3, 4)], cannot_link=[(0, 2), (5, 6)])
        bounds = {"size_min": 3, "size_max": 5}
        hard = cost_of(costs, assign_linked(costs, links, **bounds, exact=True).labels)
        without = cost_of(costs, assign_linked(costs, links.take(links.sign < 0), **bounds, exact=True).labels)
        free, *_, strict = (
            assign_linked(costs, links, **bounds, penalty=penalty, exact=exact).labels for penalty in (0.0, 0.1, 100.0)
        )
        assert cost_of(costs, free) == pytest.approx(without, abs=1e-9)
        assert len(links.violations(strict)) == 0
        assert cost_of(costs, strict) >= hard - 1e-9
        if exact:
            assert cost_of(costs, strict) == pytest.approx(hard, abs=1e-9)


def test_a_clique_cover_has_every_edge_and_no_other() -> None:
    pairs = np.array([(0, 1), (0, 2), (1, 2), (2, 3), (4, 5)])
    cliques = clique_cover(pairs)
    inside = {(int(a), int(b)) for clique in cliques for a in clique for b in clique if a < b}
    assert inside == {(a, b) for a, b in pairs.tolist()}
    assert [clique.tolist() for clique in cliques] == [[0, 1, 2], [2, 3], [4, 5]]


# ---- bad input


@pytest.mark.parametrize(
    ("one_of", "message"),
    [
        ([(0, 1)], "shape .n_triples, 3."),
        ([(0, 1, 1)], "rows 0, 1 and 1; it needs three different rows"),
        ([(0, 1, 9)], "rows 0, 1 and 9, but the table has 5 rows"),
        ([(0, 1, -1)], "rows 0, 1 and -1, but the table has 5 rows"),
        ([(0, 1, 2), (0, 1)], "triples of row numbers"),
        ([(0.5, 1, 2)], "integer array"),
    ],
)
def test_invalid_triples_are_refused(one_of: Any, message: str) -> None:
    with pytest.raises(ConstraintError, match=message):
        assign_linked(random_costs(5, 2), Constraints(), one_of=one_of)


def test_other_bad_input_is_refused() -> None:
    costs, none = random_costs(5, 2), Constraints()
    with pytest.raises(ValueError, match="penalty == -1, must be >= 0"):
        assign_linked(costs, none, penalty=-1)
    with pytest.raises(ValueError, match="penalty is inf; it must be finite, or None to keep all must-links"):
        assign_linked(costs, none, penalty=np.inf)
    with pytest.raises(TypeError, match="penalty must be an instance of"):
        assign_linked(costs, none, penalty="high")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="exact must be"):
        assign_linked(costs, none, exact="maybe")
    with pytest.raises(ConstraintError, match="the table has 5 rows"):
        assign_linked(costs, Constraints([(0, 7)]))
    with pytest.raises(TypeError, match=r"constraints must be a mustlink.Constraints"):
        assign_linked(costs, [(0, 1)])  # type: ignore[arg-type]
    with pytest.raises(
        InfeasibleError, match=r"Row 0 is to share .* one of the rows 1 and 2 only, but must-links connect"
    ):
        assign_linked(costs, Constraints([(1, 2)]), one_of=[(0, 1, 2)])
    assert assign_linked(costs, none, one_of=[]).labels.shape == (5,)
