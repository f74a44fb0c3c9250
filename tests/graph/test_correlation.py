"""Correlation clustering: costs, rules, bounds and guarantees against brute force."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from mustlink import Constraints
from mustlink.graph import CorrelationClustering
from reference import correlation as reference

METHODS = ["auto", "pivot", "lp_pivot", "lp_ball", "region_growing", "sdp", "local", "exact"]
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
@settings(max_examples=25, deadline=None)
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
    if method in ("exact", "auto"):
        assert np.isclose(model.disagreement_, optimum)
        assert np.isclose(model.lower_bound_, optimum)
    if model.lower_bound_ > 0:
        assert model.ratio_ == model.disagreement_ / model.lower_bound_
