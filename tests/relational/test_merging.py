"""The merges of collective relational clustering, beside a version that computes every similarity again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from mustlink import CollectiveRelationalClustering, Constraints
from reference import relational as reference


@st.composite
def problems(draw: Any) -> dict[str, Any]:
    """Draw similarities, groups, links and sources of few records; many similarities are equal, or none."""
    n_rows = draw(st.integers(2, 12))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    coarse = draw(st.booleans())
    S = np.triu(rng.random((n_rows, n_rows)).round(1 if coarse else 6), 1)
    S[rng.random(S.shape) < draw(st.sampled_from([0.0, 0.4, 0.8]))] = 0.0
    n_groups = draw(st.integers(1, 6))
    occurs = rng.random((n_rows, n_groups)) < draw(st.sampled_from([0.2, 0.4]))
    n_links = draw(st.integers(0, 2))
    pairs = [tuple(sorted(rng.choice(n_rows, 2, replace=False).tolist())) for _ in range(n_links)]
    sources = rng.integers(0, 4, n_rows) if draw(st.booleans()) else None
    return {"S": S + S.T, "occurs": occurs, "cannot": sorted(set(pairs)), "sources": sources}


def fitted(problem: dict[str, Any], **parameters: Any) -> CollectiveRelationalClustering:
    model = CollectiveRelationalClustering(similarity="precomputed", **parameters)
    keys = [np.flatnonzero(row).tolist() for row in problem["occurs"]]
    links = Constraints(cannot_link=problem["cannot"])
    return model.fit(csr_array(problem["S"]), groups=keys, constraints=links, sources=problem["sources"])


def sets_apart(problem: dict[str, Any], *, is_rule: bool, most: int = 1) -> list[tuple[set[int], int]]:
    apart = [(set(pair), 1) for pair in problem["cannot"]]
    if is_rule:
        apart += [(set(np.flatnonzero(column).tolist()), 1) for column in problem["occurs"].T]
    if problem["sources"] is not None:
        apart += [(set(np.flatnonzero(problem["sources"] == one).tolist()), most) for one in set(problem["sources"])]
    return apart


RULES = [
    {"linkage": "average", "measure": "jaccard"},
    {"linkage": "max", "measure": "common", "n_common": 2},
    {"linkage": "min", "measure": "degree"},
    {"linkage": "average", "measure": "degree", "second_weight": 0.5},
    {"linkage": "max", "measure": "jaccard", "second_weight": 0.3},
    {"linkage": "average", "measure": "ambiguity"},
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: "-".join(map(str, rule.values())))
@settings(max_examples=60, deadline=None)
@given(problem=problems(), alpha=st.sampled_from([0.0, 0.3, 0.5, 1.0]), is_rule=st.booleans(), most=st.integers(1, 2))
def test_the_queue_gives_the_merges_of_the_naive_version(
    problem: dict[str, Any], alpha: float, is_rule: bool, most: int, rule: dict[str, Any]
) -> None:
    model = fitted(
        problem,
        threshold=0.05,
        alpha=alpha,
        attribute_linkage=rule["linkage"],
        relational_similarity=rule["measure"],
        n_common=rule.get("n_common", 3),
        second_neighbors=rule.get("second_weight", 0.0),
        group_cannot_link=is_rule,
        max_per_source=most,
    )
    n_rows = len(problem["S"])
    expected = reference.merge_down(
        problem["S"],
        range(n_rows),
        [set(np.flatnonzero(column).tolist()) for column in problem["occurs"].T],
        sets_apart(problem, is_rule=is_rule, most=most),
        0.05,
        {"alpha": alpha, "n_common": 3, "second_weight": 0.0, "n_names": np.ones(n_rows), **rule},
    )
    found = [(int(merge["left"]), int(merge["right"])) for merge in model.merges_]
    assert found == [(one, other) for one, other, _ in expected]
    np.testing.assert_allclose(model.merges_["similarity"], [value for *_, value in expected], atol=1e-9)
    total = (1 - alpha) * model.merges_["attribute"] + alpha * model.merges_["relational"]
    np.testing.assert_allclose(model.merges_["similarity"], total, atol=1e-9)
