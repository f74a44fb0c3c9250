"""What links entail, against saturation by hand and against all colorings by two."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings

from mustlink import Constraints
from mustlink.constraints import _closure
from mustlink.errors import ConstraintError, InfeasibleError, TooLargeError
from reference.closure import components_by_first_row, entailed_by_two_clusters, pairs_of, saturate
from reference.random_links import Case, cases

PENTAGON = [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)]


def pairs(array: np.ndarray) -> list[tuple[int, int]]:
    return [(int(a), int(b)) for a, b in array]


@given(case=cases(max_samples=12))
@settings(deadline=None, max_examples=120)
def test_closure_is_the_saturation_of_both_observations(case: Case) -> None:
    together, apart = saturate(*case)
    closure = Constraints(case.must_link, case.cannot_link).closure(case.n_samples)
    component = components_by_first_row(together)
    assert closure.component.tolist() == component
    assert closure.sizes.tolist() == [component.count(c) for c in range(max(component) + 1)]
    assert closure.n_components == max(component) + 1
    edges = {tuple(sorted((component[i], component[j]))) for i, j in pairs_of(apart)}
    assert pairs(closure.cannot_link) == sorted(edge for edge in edges if edge[0] != edge[1])
    assert closure.self_loops.tolist() == sorted({component[i] for i in range(case.n_samples) if apart[i, i]})


@given(case=cases(max_samples=12))
@settings(deadline=None, max_examples=120)
def test_explicit_writes_out_every_entailed_pair(case: Case) -> None:
    together, apart = saturate(*case)
    closure = Constraints(case.must_link, case.cannot_link).closure(case.n_samples)
    if apart.diagonal().any():
        with pytest.raises(InfeasibleError, match="must-links join"):
            closure.explicit()
    else:
        written = closure.explicit()
        assert pairs(written.must_link) == pairs_of(together)
        assert pairs(written.cannot_link) == pairs_of(apart)


@given(case=cases(max_samples=12))
@settings(deadline=None, max_examples=60)
def test_the_closure_of_the_explicit_closure_is_itself(case: Case) -> None:
    closure = Constraints(case.must_link, case.cannot_link).closure(case.n_samples)
    if not closure.self_loops.size:
        again = closure.explicit().closure(case.n_samples)
        np.testing.assert_array_equal(again.component, closure.component)
        np.testing.assert_array_equal(again.cannot_link, closure.cannot_link)


@given(case=cases(max_samples=12))
@settings(deadline=None, max_examples=60)
def test_components_are_those_of_the_closure(case: Case) -> None:
    links = Constraints(case.must_link, case.cannot_link)
    np.testing.assert_array_equal(links.components(case.n_samples), links.closure(case.n_samples).component)


@given(case=cases(max_samples=12))
@settings(deadline=None, max_examples=60)
def test_graph_lists_the_neighbors_of_every_component(case: Case) -> None:
    closure = Constraints(case.must_link, case.cannot_link).closure(case.n_samples)
    graph = closure.graph()
    indptr, indices = graph.indptr, graph.indices
    listed = [indices[indptr[c] : indptr[c + 1]].tolist() for c in range(closure.n_components)]
    edges = pairs(closure.cannot_link)
    expected = [
        sorted([b for a, b in edges if a == c] + [a for a, b in edges if b == c]) for c in range(closure.n_components)
    ]
    assert listed == expected


@given(case=cases(max_samples=8))
@example(Case(5, [], PENTAGON))
@example(Case(5, [], PENTAGON[:-1]))
@settings(deadline=None, max_examples=120)
def test_two_clusters_entails_what_all_colorings_by_two_share(case: Case) -> None:
    closure = Constraints(case.must_link, case.cannot_link).closure(case.n_samples)
    entailed = entailed_by_two_clusters(*case)
    if entailed is None:
        with pytest.raises(InfeasibleError):
            closure.two_clusters()
        return
    collapsed = closure.two_clusters()
    written = collapsed.explicit()
    assert (pairs(written.must_link), pairs(written.cannot_link)) == entailed
    assert collapsed.component.tolist() == components_by_first_row(saturate(case.n_samples, entailed[0], [])[0])
    assert np.diff(collapsed.graph().indptr).max() <= 1


def test_two_clusters_tells_an_odd_ring_from_a_contradiction() -> None:
    with pytest.raises(InfeasibleError, match="odd length"):
        Constraints(cannot_link=PENTAGON).closure(5).two_clusters()
    with pytest.raises(InfeasibleError, match="must-links join"):
        Constraints(must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)]).closure(5).two_clusters()


@pytest.mark.parametrize("n_samples", [0, 1, 5])
def test_without_links_every_row_is_its_own_component(n_samples: int) -> None:
    closure = Constraints().closure(n_samples)
    assert closure.component.tolist() == list(range(n_samples))
    assert closure.n_components == n_samples
    assert closure.cannot_link.shape == (0, 2)
    assert len(closure.explicit()) == 0
    assert closure.two_clusters().component.tolist() == list(range(n_samples))


def test_a_large_component_stays_implicit() -> None:
    n = 100_000
    rows = np.arange(n - 1)
    closure = Constraints(np.column_stack([rows[:-1], rows[1:]]), [(0, n - 1)]).closure(n)
    assert closure.sizes.tolist() == [n - 1, 1]
    with pytest.raises(TooLargeError, match="has 4,999,950,000 pairs"):
        closure.explicit()


def test_explicit_refuses_beyond_the_limit_and_not_at_it(monkeypatch: pytest.MonkeyPatch) -> None:
    closure = Constraints([(0, 1), (1, 2)], [(2, 3)]).closure(4)
    monkeypatch.setattr(_closure, "MAX_EXPLICIT_PAIRS", 6)
    assert len(closure.explicit()) == 6
    monkeypatch.setattr(_closure, "MAX_EXPLICIT_PAIRS", 5)
    with pytest.raises(TooLargeError, match="has 6 pairs, and at most 5"):
        closure.explicit()


@pytest.mark.parametrize("what", ["components", "closure"])
def test_a_row_that_is_not_there_is_named(what: str) -> None:
    links = Constraints(must_link=[(0, 1)], cannot_link=[(2, 7)])
    with pytest.raises(ConstraintError, match="A cannot-link names the rows 2 and 7, but the table has 7 rows") as info:
        getattr(links, what)(7)
    assert info.value.pairs == [(2, 7)]
    assert len(getattr(links, what)(8).component if what == "closure" else links.components(8)) == 8


def test_row_numbers_whose_product_exceeds_32_bits() -> None:
    n = 100_000
    rows = np.array([46_340, 46_341, 65_536, 99_998])
    links = Constraints(np.column_stack([rows, rows + 1]), [(46_341, 65_537)])
    closure = links.closure(n)
    # 46340 - 46341 - 46342 are one chain, so that three pairs of rows and one of three remain.
    assert closure.n_components == n - 4
    assert closure.component[46_340] == closure.component[46_342]
    assert [closure.component[46_340], closure.component[65_536]] == closure.cannot_link[0].tolist()
