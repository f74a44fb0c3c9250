"""PCKMeans with groups of rows that cost a penalty in one cluster: the same as with the list of their links."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mustlink.kmeans._group_units as group_units
from mustlink import Constraints, PCKMeans


@given(
    n=st.integers(6, 40),
    size=st.integers(2, 6),
    n_columns=st.integers(1, 2),
    penalty=st.sampled_from([0.0, 0.05, 0.5, 5.0, "auto"]),
    n_links=st.integers(0, 3),
    seed=st.integers(0, 9),
)
@settings(deadline=None, max_examples=60)
def test_the_same_as_with_the_list_of_pairs(
    n: int, size: int, n_columns: int, penalty: float | str, n_links: int, seed: int
) -> None:
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(n, 2))
    links = Constraints.from_pairs(rng.permutation(n)[: 2 * n_links].reshape(-1, 2), rng.choice([-1, 1], n_links))
    for _ in range(n_columns):
        column = np.where(rng.uniform(size=n) < 0.8, rng.randint(n // size + 1, size=n), -1)
        links = links.add(Constraints.from_groups(column, weight=rng.choice([0.5, 2.0])), contradictions="keep")
    # Four centers of which one may be empty.
    init = np.concatenate([X[:3], [[9.0, 9.0]]])
    found = PCKMeans(4, penalty=penalty, init=init).fit(X, constraints=links)
    expected = PCKMeans(4, penalty=penalty, init=init).fit(X, constraints=links.expand())
    np.testing.assert_allclose(found.objective_, expected.objective_)
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    assert found.violations_ == expected.violations_


@pytest.mark.parametrize("max_costs", [1, 50])
def test_part_by_part(monkeypatch: pytest.MonkeyPatch, max_costs: int) -> None:
    X = np.random.RandomState(0).normal(size=(80, 2))
    links = Constraints.from_groups(np.arange(80) // 5)
    expected = PCKMeans(4, penalty=0.4, random_state=0).fit(X, constraints=links)
    monkeypatch.setattr(group_units, "MAX_COSTS", max_costs)
    found = PCKMeans(4, penalty=0.4, random_state=0).fit(X, constraints=links)
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    assert 16 <= len(found.violations_) < len(links)
