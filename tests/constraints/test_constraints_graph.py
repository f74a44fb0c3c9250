"""Links as a graph: every form against loops over the links."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mustlink import Constraints
from mustlink.errors import ConstraintError
from reference.random_links import Case, cases


def weighted(case: Case) -> Constraints:
    """Make constraints with weights that differ from link to link."""
    n_must, n_cannot = len(case.must_link), len(case.cannot_link)
    return Constraints(
        case.must_link,
        case.cannot_link,
        must_link_weight=1.0 + np.arange(n_must),
        cannot_link_weight=0.5 + np.arange(n_cannot),
        contradictions="majority",
    )


@given(case=cases(max_samples=10))
@settings(deadline=None, max_examples=60)
def test_pairs_sign_and_weight_list_must_links_first(case: Case) -> None:
    links = weighted(case)
    n_must = len(links.must_link)
    assert links.pairs[:n_must].tolist() == links.must_link.tolist()
    assert links.pairs[n_must:].tolist() == links.cannot_link.tolist()
    assert links.sign.tolist() == [1] * n_must + [-1] * len(links.cannot_link)
    assert links.weight.tolist() == [*links.must_link_weight, *links.cannot_link_weight]


@given(case=cases(max_samples=10))
@settings(deadline=None, max_examples=60)
def test_adjacency_lists_the_links_of_every_row(case: Case) -> None:
    links = weighted(case)
    graph = links.adjacency(case.n_samples)
    assert graph.n_samples == case.n_samples
    for row in range(case.n_samples):
        entries = slice(graph.indptr[row], graph.indptr[row + 1])
        found = list(zip(graph.neighbors[entries].tolist(), graph.link[entries].tolist(), strict=True))
        expected = [(a + b - row, number) for number, (a, b) in enumerate(links.pairs.tolist()) if row in (a, b)]
        assert found == sorted(expected)
    assert (graph.link[graph.ends] == np.arange(len(links))[:, None]).all()
    assert (np.sort(graph.neighbors[graph.ends], axis=1) == np.sort(links.pairs, axis=1)).all()


@given(case=cases(max_samples=10))
@settings(deadline=None, max_examples=60)
def test_signed_matrix_holds_every_link_twice(case: Case) -> None:
    links = weighted(case)
    matrix = links.signed(case.n_samples).toarray()
    expected = np.zeros((case.n_samples, case.n_samples))
    for (a, b), sign, weight in zip(links.pairs, links.sign, links.weight, strict=True):
        expected[a, b] = expected[b, a] = sign * weight
    np.testing.assert_array_equal(matrix, expected)


@given(case=cases(max_samples=10), data=st.data())
@settings(deadline=None, max_examples=60)
def test_take_keeps_the_chosen_links_with_their_weights(case: Case, data: st.DataObject) -> None:
    links = weighted(case)
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(links), max_size=len(links))), dtype=bool)
    taken = links.take(mask)
    assert taken == links.take(np.flatnonzero(mask))
    assert taken.pairs.tolist() == links.pairs[mask].tolist()
    assert taken.sign.tolist() == links.sign[mask].tolist()
    assert taken.weight.tolist() == links.weight[mask].tolist()


def test_take_refuses_a_mask_of_another_length() -> None:
    with pytest.raises(ValueError, match="one entry per link, 1 in all"):
        Constraints([(0, 1)]).take([True, False])


@given(case=cases(max_samples=10))
@settings(deadline=None, max_examples=60)
def test_compact_renumbers_the_linked_rows(case: Case) -> None:
    links = weighted(case)
    rows, local = links.compact()
    assert rows.tolist() == links.constrained_rows().tolist()
    assert rows[local.pairs].tolist() == links.pairs.tolist()
    assert local.weight.tolist() == links.weight.tolist()
    again = Constraints(
        local.must_link,
        local.cannot_link,
        must_link_weight=local.must_link_weight,
        cannot_link_weight=local.cannot_link_weight,
    )
    assert local == again


@given(case=cases(max_samples=10))
@settings(deadline=None, max_examples=60)
def test_groups_are_the_components_of_several_rows(case: Case) -> None:
    closure = weighted(case).closure(case.n_samples)
    groups = closure.groups()
    members = [np.flatnonzero(closure.component == number).tolist() for number in range(closure.n_components)]
    expected = [rows for rows in members if len(rows) > 1]
    assert [part.tolist() for part in np.split(groups.rows, groups.indptr[1:-1])] == (expected or [[]])
    for row in range(case.n_samples):
        here = [number for number, rows in enumerate(expected) if row in rows]
        assert groups.number[row] == (here[0] if here else -1)


@given(case=cases(max_samples=10))
@settings(deadline=None, max_examples=60)
def test_edges_between_components_carry_weight_and_count(case: Case) -> None:
    links = weighted(case)
    closure = links.closure(case.n_samples)
    weight, count = closure.graph().toarray(), {}
    expected = np.zeros_like(weight)
    for (a, b), of_link in zip(closure.component[links.cannot_link], links.cannot_link_weight, strict=True):
        if a != b:
            expected[a, b] += of_link
            expected[b, a] += of_link
            edge = (min(a, b), max(a, b))
            count[edge] = count.get(edge, 0) + 1
    np.testing.assert_allclose(weight, expected)
    assert {tuple(edge): n for edge, n in zip(closure.cannot_link.tolist(), closure.count, strict=True)} == count


def test_importing_the_constraints_loads_no_compiler() -> None:
    script = "import sys, mustlink.constraints; print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@given(case=cases(max_samples=10), data=st.data())
@settings(deadline=None, max_examples=60)
def test_from_pairs_is_the_inverse_of_pairs_sign_and_weight(case: Case, data: st.DataObject) -> None:
    links = weighted(case)
    order = np.array(data.draw(st.permutations(range(len(links)))), dtype=np.intp)
    assert Constraints.from_pairs(links.pairs[order], links.sign[order], links.weight[order]) == links


@pytest.mark.parametrize("sign", [[1], [1, 0], [1, np.nan], ["must", "cannot"], [[1, 1]]])
def test_from_pairs_refuses_other_signs(sign: Any) -> None:
    with pytest.raises(ConstraintError, match="one positive or negative number per pair, 2 in all; got"):
        Constraints.from_pairs([(0, 1), (1, 2)], sign)


@pytest.mark.parametrize("pairs", [[(0, 1, 1), (2, 3, 1)], [0, 1, 2, 3]])
def test_from_pairs_refuses_what_are_no_pairs(pairs: Any) -> None:
    with pytest.raises(ConstraintError, match=r"pairs must be pairs of row numbers, an array of shape \(m, 2\)"):
        Constraints.from_pairs(pairs, [1, 1])


def test_a_link_taken_twice_is_one_link() -> None:
    links = Constraints([(0, 1)], must_link_weight=2.0)
    assert links.take([0, 0]) == links
