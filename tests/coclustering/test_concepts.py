"""Formal concepts: the compiled search finds what the naive one does, under every constraint on bi-sets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from coclustering.problems import TABLE, as_sets, matrices
from mustlink.coclustering import formal_concepts
from mustlink.coclustering._concepts import LocalConstraints, keep_satisfying, mine
from mustlink.coclustering._gaps import make_gaps
from mustlink.constraints import Constraints
from reference import coclustering as reference


def test_concepts_of_the_table_of_the_chapter() -> None:
    expected = {
        ("2567", "5"),
        ("135", "1"),
        ("256", "25"),
        ("134", "34"),
        ("13", "134"),
        ("5", "125"),
    }
    sets = {
        (frozenset(int(row) - 1 for row in rows), frozenset(int(column) - 1 for column in columns))
        for rows, columns in expected
    }
    found = as_sets(formal_concepts(TABLE))
    assert set(found) == sets
    assert len(found) == 6
    assert len(reference.all_concepts(TABLE)) == 8


@settings(max_examples=60, deadline=None)
@given(matrices(), st.integers(1, 3), st.integers(1, 3))
def test_concepts_are_those_of_the_naive_search(X: Any, min_rows: int, min_columns: int) -> None:
    expected = {
        concept
        for concept in reference.all_concepts(X)
        if len(concept[0]) >= min_rows and len(concept[1]) >= min_columns
    }
    found = as_sets(formal_concepts(X, min_rows=min_rows, min_columns=min_columns))
    assert len(found) == len(set(found))
    assert set(found) == expected


def links_of(n_elements: int) -> st.SearchStrategy[Constraints]:
    pairs = st.lists(
        st.tuples(st.integers(0, n_elements - 1), st.integers(0, n_elements - 1), st.booleans()).filter(
            lambda link: link[0] < link[1]
        ),
        max_size=3,
        unique_by=lambda link: link[:2],
    )
    return pairs.map(
        lambda given: Constraints(
            must_link=[link[:2] for link in given if link[2]], cannot_link=[link[:2] for link in given if not link[2]]
        )
    )


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_constraints_are_pushed_into_the_search(data: st.DataObject) -> None:
    X = data.draw(matrices())
    n_rows, n_columns = X.shape
    links = data.draw(links_of(n_rows + n_columns))
    gap = st.none() | st.integers(0, 3)
    sides, given = [], []
    for size in X.shape:
        position = np.unique(data.draw(arrays(np.int64, size, elements=st.integers(0, 9))), return_inverse=True)[1]
        bounds = {"min_gap": data.draw(gap), "max_gap": data.draw(gap), "circular": data.draw(st.booleans())}
        sides.append(
            make_gaps(position.astype(np.int64), bounds["min_gap"], bounds["max_gap"], circular=bounds["circular"])
        )
        given.append((position.tolist(), bounds))

    def is_kept(biset: reference.Biset) -> bool:
        kept = reference.links_kept(biset, n_rows, links.must_link.tolist(), links.cannot_link.tolist())
        for members, (position, bounds) in zip(biset, given, strict=True):
            kept = kept and reference.gaps_kept(sorted(members), position, **bounds)
        return kept and len(biset[0]) >= 1 and len(biset[1]) >= 1

    expected = {biset for biset in reference.all_concepts(X) if is_kept(biset)}
    constraints = LocalConstraints(links, *sides)
    found = as_sets(mine(sparse.csr_array(X), 1, 1, 1000, constraints))
    assert len(found) == len(set(found))
    assert set(found) == expected
    # Bi-sets that are given are filtered by the same rules.
    assert set(as_sets(keep_satisfying(formal_concepts(X), 1, 1, constraints))) == expected


def test_a_search_in_small_steps_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two calls of the kernel Python can be interrupted."""
    X = np.random.RandomState(0).rand(30, 12) < 0.4
    X[~X.any(axis=1), 0] = True
    whole = formal_concepts(X, min_rows=2)
    monkeypatch.setattr("mustlink.coclustering._concepts.STEPS_AT_ONCE", 3)
    for side, other in zip(whole, formal_concepts(X, min_rows=2), strict=True):
        np.testing.assert_array_equal(side.toarray(), other.toarray())
