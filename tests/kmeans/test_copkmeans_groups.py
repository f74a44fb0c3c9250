"""COPKMeans with groups of rows that must not share a cluster: the same as with the list of their links."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mustlink.kmeans._copkmeans as copkmeans
import mustlink.kmeans._group_units as group_units
from mustlink import Constraints, COPKMeans
from mustlink.errors import InfeasibleError, InfeasibleWarning
from mustlink.kmeans._copkmeans import Components, _place_group
from mustlink.kmeans._rules import LinkedRows
from reference.copkmeans import cheapest_placement, optimum
from reference.random_links import Case, cases

K = 3


@given(
    case=cases(max_samples=8, min_samples=3),
    columns=st.lists(st.lists(st.integers(-1, 3), min_size=8, max_size=8), min_size=1, max_size=2),
    seed=st.integers(0, 9),
)
@settings(deadline=None, max_examples=150)
def test_a_result_keeps_all_links_and_there_is_one_whenever_it_exists(
    case: Case, columns: list[list[int]], seed: int
) -> None:
    n = case.n_samples
    links = Constraints(case.must_link[:2], case.cannot_link[:2])
    for column in columns:
        links = links.add(Constraints.from_groups(column[:n]), contradictions="keep")
    X = np.random.RandomState(seed).normal(size=(n, 2))
    best = optimum(X, K, links.must_link.tolist(), links.cannot_link.tolist())
    model = COPKMeans(K, random_state=seed)
    if best is None:
        with pytest.raises(InfeasibleError):
            model.fit(X, constraints=links)
        return
    model.fit(X, constraints=links)
    assert links.expand().satisfied(model.labels_).all()
    assert model.inertia_ >= best[0] - 1e-9
    assert np.all(np.diff(model.objective_) <= 1e-9 * model.objective_[0] + 1e-12)


@pytest.mark.parametrize("max_costs", [1, 12, 2**23])
def test_the_same_as_with_the_list_of_pairs(monkeypatch: pytest.MonkeyPatch, max_costs: int) -> None:
    monkeypatch.setattr(group_units, "MAX_COSTS", max_costs)
    rng = np.random.RandomState(1)
    X = rng.normal(size=(90, 2))
    column = np.where(np.arange(90) < 60, np.arange(90) // 4, -1)[rng.permutation(90)]
    links = Constraints(must_link=[(0, 1), (5, 9)], cannot_link=[(3, 80)]).add(
        Constraints.from_groups(column), contradictions="keep"
    )
    init = X[:5]
    weight = rng.uniform(0.5, 2.0, size=90)
    found = COPKMeans(5, init=init).fit(X, constraints=links, sample_weight=weight)
    expected = COPKMeans(5, init=init).fit(X, constraints=links.expand(), sample_weight=weight)
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    np.testing.assert_allclose(found.objective_, expected.objective_)
    assert found.violations_.is_empty


@pytest.mark.parametrize(("sizes", "max_costs"), [([3, 2, 3, 1], 1), ([2, 2, 2], 7), ([3], 100), ([], 1)])
def test_groups_are_placed_at_the_least_cost(monkeypatch: pytest.MonkeyPatch, sizes: list[int], max_costs: int) -> None:
    monkeypatch.setattr(group_units, "MAX_COSTS", max_costs)
    column = np.repeat(np.arange(len(sizes)), sizes)
    links = Constraints.from_groups(column) if sizes else Constraints()
    rule = Components(LinkedRows(links, len(column)), K, order="saturation", relax=False, rng=np.random.RandomState(0))
    costs = np.random.RandomState(2).uniform(size=(rule.n_units, K))
    parts = rule.parts(K)
    covered = np.concatenate([np.arange(rule.n_units)[part] for part in parts]) if parts else np.empty(0)
    np.testing.assert_array_equal(covered, np.arange(rule.n_units))
    if parts:
        labels = np.concatenate([rule.place_part(part, costs[part], None) for part in parts])
        place = {int(row): unit for unit, row in enumerate(rule.rows)}
        edges = [(place[a], place[b]) for a, b in links.cannot_link.tolist()]
        assert rule.n_broken(labels) == 0
        cost = costs[np.arange(len(costs)), labels].sum()
        assert cost == pytest.approx(cheapest_placement(costs, edges))


def test_a_group_of_more_rows_than_clusters() -> None:
    X = np.random.RandomState(3).normal(size=(20, 2))
    links = Constraints.from_groups(["crowd"] * 8 + [""] * 12)
    with pytest.raises(InfeasibleError, match=r"The group crowd has 8 rows.* use n_clusters=8 or more"):
        COPKMeans(K).fit(X, constraints=links)
    with pytest.warns(InfeasibleWarning, match="breaks 7 of 28 cannot-links"):
        model = COPKMeans(K, on_infeasible="relax", random_state=0).fit(X, constraints=links)
    # The fewest pairs share a cluster if the rows are spread evenly: 3 + 3 + 2.
    assert sorted(np.bincount(model.labels_[:8])) == [2, 3, 3]
    assert len(model.violations_) == 7


@pytest.mark.parametrize("n_rows", [10, 23])
def test_a_large_group_is_placed_as_a_small_one(monkeypatch: pytest.MonkeyPatch, n_rows: int) -> None:
    costs = np.random.RandomState(n_rows).uniform(size=(n_rows, 4))
    with_copies = _place_group(costs)
    monkeypatch.setattr(copkmeans, "MAX_COPIED_ROWS", 0)
    np.testing.assert_array_equal(_place_group(costs), with_copies)


def test_the_memory_of_a_large_group_is_that_of_its_costs() -> None:
    costs = np.random.RandomState(5).uniform(size=(3_000, 4))
    _place_group(costs[:100])
    tracemalloc.start()
    labels = _place_group(costs)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.bincount(labels).tolist() == [750] * 4
    assert peak < 20 * costs.nbytes


def test_partial_labels_and_groups_together() -> None:
    X = np.random.RandomState(4).normal(size=(30, 2))
    column, y = np.arange(30) // 3, np.full(30, -1)
    y[[0, 4]], y[[1, 3]] = 0, 1
    links = Constraints.from_groups(column)
    model = COPKMeans(4, random_state=0).fit(X, y, constraints=links)
    assert links.violation_rate(model.labels_) == 0
    assert model.labels_[0] == model.labels_[4] != model.labels_[1]
