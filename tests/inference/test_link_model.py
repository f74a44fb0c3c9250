"""A link model refuses shapes that do not fit, before compiled code reads them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mustlink import Constraints
from mustlink.inference import LinkInference, LinkModel, iterated_conditional_modes, propagate_beliefs
from reference.link_models import log_weight, random_model

LINKS = Constraints(must_link=[(0, 1)], cannot_link=[(1, 2)])
GRAPH = LINKS.adjacency(3)
EVIDENCE = np.log([[0.9, 0.1], [0.5, 0.5], [0.4, 0.6]])


@pytest.mark.parametrize(
    ("evidence", "penalty", "problem"),
    [
        (EVIDENCE[:2], [3.0, 3.0], "one row for each of the 3 rows"),
        (EVIDENCE[0], [3.0, 3.0], "one row for each of the 3 rows"),
        (EVIDENCE, [3.0], r"shape \(2,\) or \(2, 2\); got \(1,\)"),
        (EVIDENCE, np.ones((2, 3)), r"shape \(2,\) or \(2, 2\); got \(2, 3\)"),
        (EVIDENCE, [3.0, np.nan], "penalty contains NaN"),
        (EVIDENCE, [3.0, -1.0], "penalty must not be negative; got -1"),
        (np.full((3, 2), np.nan), [3.0, 3.0], "log_potentials contains NaN"),
        (np.full((3, 2), np.inf), [3.0, 3.0], "log_potentials contains infinity"),
    ],
)
def test_a_model_whose_parts_do_not_fit_is_refused(evidence: Any, penalty: Any, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        LinkModel(evidence, GRAPH, penalty)


def test_links_in_the_place_of_their_graph_are_refused() -> None:
    for build in (LinkModel, lambda _, links, penalty: LinkInference.plan(links, penalty, 2)):
        with pytest.raises(TypeError, match=r"as links.adjacency\(n_rows\) returns it; got Constraints"):
            build(EVIDENCE, LINKS, [3.0, 3.0])  # type: ignore[arg-type]


def test_a_model_takes_lists() -> None:
    model = LinkModel(EVIDENCE.tolist(), GRAPH, [3.0, 3.0])  # type: ignore[arg-type]
    assert iterated_conditional_modes(model).tolist() == [0, 0, 1]


@pytest.mark.parametrize("labels", [[5, 0, 0], [0, 0], [0, -2, 0]])
def test_labels_outside_the_clusters_are_refused(labels: Any) -> None:
    with pytest.raises(ValueError, match="one cluster from 0 to 1"):
        iterated_conditional_modes(LinkModel(EVIDENCE, GRAPH, np.ones(2)), labels=labels)


@pytest.mark.parametrize("damping", [-0.1, 1.0, 2.0])
def test_damping_outside_its_range_is_refused(damping: float) -> None:
    with pytest.raises(ValueError, match="damping must be"):
        propagate_beliefs(LinkModel(EVIDENCE, GRAPH, np.ones(2)), damping=damping)


def test_couplings_have_the_signs_of_the_links() -> None:
    assert LinkModel(EVIDENCE, GRAPH, np.array([3.0, np.inf])).coupling.tolist() == [3.0, -np.inf]
    wide = LinkModel(EVIDENCE, GRAPH, np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert wide.coupling.tolist() == [[1.0, 2.0], [-3.0, -4.0]]


@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(1, 3))
@settings(max_examples=20)
def test_the_forms_with_penalties_and_with_couplings_are_the_same(seed: int, n_rows: int, k: int) -> None:
    rng = np.random.RandomState(seed)
    model = random_model(rng, n_rows, k)
    labels = rng.randint(k, size=n_rows)
    a, b = model.graph.pairs.T
    together = model.coupling @ (labels[a] == labels[b])
    constant = np.maximum(model.coupling, 0).sum()
    evidence = model.log_potentials[np.arange(n_rows), labels].sum()
    assert log_weight(model, labels) == pytest.approx(evidence + together - constant)


@pytest.mark.parametrize(
    ("parameter", "given"), [("max_iter", 0), ("max_iter", 1.5), ("tol", -1.0), ("tol", np.nan), ("tol", np.inf)]
)
def test_limits_of_sweeps_outside_their_ranges_are_refused(parameter: str, given: float) -> None:
    with pytest.raises(ValueError, match=f"{parameter} must be .*at least"):
        propagate_beliefs(LinkModel(EVIDENCE, GRAPH, np.ones(2)), **{parameter: given})


def test_a_start_of_other_links_is_refused() -> None:
    other = propagate_beliefs(LinkModel(EVIDENCE, Constraints([(0, 1)]).adjacency(len(EVIDENCE)), np.ones(1)))
    with pytest.raises(ValueError, match=r"same links and clusters: this one has 4 messages"):
        propagate_beliefs(LinkModel(EVIDENCE, GRAPH, np.ones(2)), start=other)
