"""The merges of collective relational clustering, beside a version that computes every similarity again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster import hierarchy
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import squareform

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
    {"linkage": "representative", "measure": "jaccard"},
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


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n_rows=st.integers(2, 15), threshold=st.floats(0.1, 0.9))
def test_without_relations_it_is_average_linkage(seed: int, n_rows: int, threshold: float) -> None:
    S = np.triu(np.random.default_rng(seed).uniform(0.01, 1, (n_rows, n_rows)), 1)
    S = S + S.T + np.eye(n_rows)
    model = CollectiveRelationalClustering(threshold, alpha=0.0, similarity="precomputed", bootstrap=False).fit(S)
    tree = hierarchy.average(squareform(1 - S, checks=False))
    expected = hierarchy.fcluster(tree, 1 - threshold, criterion="distance")
    assert same_partition(model.labels_, expected)


def same_partition(labels: Any, others: Any) -> bool:
    return len(set(zip(labels, others, strict=True))) == len(set(labels)) == len(set(others))


@settings(max_examples=40, deadline=None)
@given(problem=problems(), alpha=st.sampled_from([0.2, 0.6]))
def test_rules_and_links_are_kept(problem: dict[str, Any], alpha: float) -> None:
    model = fitted(problem, threshold=0.0, alpha=alpha, group_cannot_link=True)
    assert len(model.violations_) == 0
    for members, most in sets_apart(problem, is_rule=True):
        assert max(np.bincount(model.labels_[sorted(members)]), default=0) <= most
    # What is left could be merged, and is not: its similarity is below the threshold.
    assert all(row["merged"] for row in model.unsure(100) if row["similarity"] > 1e-9)


@settings(max_examples=40, deadline=None)
@given(problem=problems(), alpha=st.sampled_from([0.2, 0.6]), t=st.floats(0, 1))
def test_a_lower_threshold_extends_the_merges(problem: dict[str, Any], alpha: float, t: float) -> None:
    whole = fitted(problem, threshold=0.0, alpha=alpha)
    part = fitted(problem, threshold=t, alpha=alpha)
    assert whole.merges_[: len(part.merges_)].tolist() == part.merges_.tolist()
    np.testing.assert_array_equal(whole.labels_at(t), part.labels_)
    both = fitted(problem, threshold=t, alpha=alpha, curve_to=0.0)
    assert both.merges_.tolist() == whole.merges_.tolist()
    np.testing.assert_array_equal(both.labels_, part.labels_)
    assert both.unsure(5).tolist() == part.unsure(5).tolist()
    np.testing.assert_array_equal(whole.labels_at(1.1), whole.bootstrap_labels_)


@settings(max_examples=30, deadline=None)
@given(problem=problems(), seed=st.integers(0, 1000))
def test_the_order_of_rows_and_groups_does_not_matter(problem: dict[str, Any], seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_rows = len(problem["S"])
    # Without ties.
    noise = np.triu(rng.random((n_rows, n_rows)) * 1e-4, 1) * (problem["S"] > 0)
    problem = {**problem, "S": 0.9 * problem["S"] + noise + noise.T, "cannot": [], "sources": None}
    order = rng.permutation(n_rows)
    other = {
        **problem,
        "S": problem["S"][np.ix_(order, order)],
        "occurs": problem["occurs"][order][:, rng.permutation(problem["occurs"].shape[1])],
    }
    one, two = fitted(problem, threshold=0.3), fitted(other, threshold=0.3)
    assert same_partition(one.labels_[order], two.labels_)


@settings(max_examples=40, deadline=None)
@given(problem=problems(), t=st.floats(0.01, 1))
def test_a_star_is_the_connected_components(problem: dict[str, Any], t: float) -> None:
    problem = {**problem, "cannot": [], "sources": None}
    model = fitted(problem, threshold=0.0, method="a*", group_cannot_link=False)
    related = problem["S"] >= t
    expected = connected_components(csr_array(related), directed=False)[1]
    assert same_partition(model.labels_at(t), expected)
    pairs = model.candidates_[model.candidates_["similarity"] >= t]
    labels = model.labels_at(t)
    assert (labels[pairs["left"]] == labels[pairs["right"]]).all()


@pytest.mark.parametrize("how", ["mean_best", "max", "assignment"])
@settings(max_examples=20, deadline=None)
@given(problem=problems())
def test_naive_relational_similarity(problem: dict[str, Any], how: str) -> None:
    model = fitted(problem, threshold=0.0, alpha=0.4, method="nr*", hyperedge_match=how)
    S = problem["S"] + np.eye(len(problem["S"]))
    groups = [set(np.flatnonzero(column).tolist()) for column in problem["occurs"].T]
    for left, right, similarity in model.candidates_.tolist():
        relational = reference.hyperedge_similarity(left, right, groups, S, how)
        assert similarity == pytest.approx(0.6 * S[left, right] + 0.4 * relational)
