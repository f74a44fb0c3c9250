"""Losses of labels and links: the properties of the chapter, and derivatives against finite differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mustlink.pairwise._solvers import Objective
from mustlink.pairwise._terms import ConvexTerm, LabelTerm, LinkedPairs, StatesTerm
from reference import pairwise as reference

GRID = np.linspace(-3, 3, 13)
POINTS = [(float(a), float(b)) for a in GRID for b in GRID]


def one_link(kind: str, a: float, b: float, sign: int, is_binary: bool) -> float:
    """The loss of one link of weight one with these scores of its rows."""
    pairs = LinkedPairs(np.array([0]), np.array([1]), np.array([sign]), np.ones(1), 2, is_binary)
    term = ConvexTerm(pairs) if kind == "convex" else StatesTerm(pairs)
    return term.value(np.array([a, b]))


@pytest.mark.parametrize("kind", ["convex", "nonconvex"])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("is_binary", [True, False])
def test_losses_equal_those_of_the_chapter(kind: str, sign: int, is_binary: bool) -> None:
    for a, b in POINTS:
        expected = reference.link_loss(kind, a, b, sign, is_binary)
        assert one_link(kind, a, b, sign, is_binary) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("kind", ["convex", "nonconvex"])
@pytest.mark.parametrize("sign", [1, -1])
def test_rows_can_be_exchanged_and_losses_are_even(kind: str, sign: int) -> None:
    for a, b in POINTS:
        loss = one_link(kind, a, b, sign, True)
        assert one_link(kind, b, a, sign, True) == pytest.approx(loss)
        assert one_link(kind, -a, -b, sign, True) == pytest.approx(loss)
    # Also of the hinge, of which the convex loss is replaced by its linear part.
    for a, b in POINTS:
        for family in (reference.convex, reference.nonconvex):
            loss = family(reference.hinge, a, sign * b)
            assert family(reference.hinge, b, sign * a) == pytest.approx(loss)
            assert family(reference.hinge, -a, -sign * b) == pytest.approx(loss)
        assert reference.convex(reference.hinge, a, b) == pytest.approx(max(2.0, 1 + abs(a - b)))


def test_the_nonconvex_loss_has_its_boundary_where_signs_differ() -> None:
    for loss in (reference.logistic, reference.hinge):
        level = reference.nonconvex(loss, 0.0, 0.0)
        signs = {(a, b): reference.nonconvex(loss, a, b) - level for a, b in POINTS}
        assert all(value >= -1e-12 for (a, b), value in signs.items() if a * b < 0)
        assert all(value <= 1e-12 for (a, b), value in signs.items() if a * b > 0)
        assert min(signs.values()) < -0.1
    level = one_link("nonconvex", 0.0, 0.0, 1, True)
    assert all((one_link("nonconvex", a, b, 1, True) > level) == (a * b < 0) for a, b in POINTS if a * b != 0)


def test_the_convex_loss_is_convex_and_above_the_nonconvex_one() -> None:
    for a, b in POINTS:
        for c, d in POINTS[::7]:
            middle = one_link("convex", (a + c) / 2, (b + d) / 2, 1, True)
            assert middle <= (one_link("convex", a, b, 1, True) + one_link("convex", c, d, 1, True)) / 2 + 1e-12
        gap = reference.convex(reference.logistic, a, b) - reference.nonconvex(reference.logistic, a, b)
        ratio = (np.cosh(a) + np.cosh(b)) / (2 * np.cosh(a / 2) * np.cosh(b / 2))
        assert gap == pytest.approx(2 * np.log(ratio), abs=1e-12)
        assert gap >= -1e-12
        # The term of the chapter's algorithm is half of the loss of its framework.
        assert 2 * one_link("nonconvex", a, b, 1, True) == pytest.approx(
            reference.nonconvex(reference.logistic, a, b), abs=1e-12
        )


def test_the_printed_loss_of_more_classes_has_no_lower_bound_and_ours_has() -> None:
    def printed(a: float, b: float) -> float:
        both = reference.logistic(a - b) + reference.logistic(b - a)
        return reference.logistic(-a) + reference.logistic(-b) - both / 2

    assert printed(0.0, -30.0) < -14
    assert one_link("nonconvex", 0.0, -30.0, -1, False) == pytest.approx(0.0, abs=1e-9)


def test_no_score_overflows() -> None:
    for kind in ("convex", "nonconvex"):
        for is_binary in (True, False):
            pairs = LinkedPairs(np.array([0]), np.array([1]), np.array([-1]), np.ones(1), 2, is_binary)
            term: Any = ConvexTerm(pairs) if kind == "convex" else StatesTerm(pairs)
            for f in ([1e4, 1e4], [1e4, -1e4], [-1e4, -1e4]):
                scores = np.array(f)
                assert np.isfinite(term.value(scores))
                assert np.isfinite(term.gradient(scores)).all()
                assert np.isfinite(term.hessian(scores).toarray()).all()


@st.composite
def objectives(draw: Any) -> tuple[Objective, Any]:
    """A random objective of any loss, and a point."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    n_rows, n_links = draw(st.integers(2, 8)), draw(st.integers(1, 6))
    first = rng.integers(n_rows, size=n_links)
    second = (first + rng.integers(1, n_rows, size=n_links)) % n_rows
    sign = rng.choice([-1, 1], size=n_links)
    pairs = LinkedPairs(first, second, sign, rng.uniform(0.1, 2, size=n_links), n_rows, draw(st.booleans()))
    kind = draw(st.sampled_from(["convex", "nonconvex", "probability"]))
    confidence = rng.uniform(size=n_links) if kind == "probability" else None
    term: Any = ConvexTerm(pairs) if kind == "convex" else StatesTerm(pairs, confidence)
    labels = LabelTerm(rng.uniform(size=n_rows), rng.uniform(size=n_rows))
    objective = Objective(rng.normal(size=(n_rows, 3)), [labels, term], 0.1, draw(st.booleans()))
    return objective, rng.normal(size=objective.n_parameters)


@given(objectives())
@settings(max_examples=60, deadline=None)
def test_gradients_and_hessians_are_those_of_finite_differences(case: tuple[Objective, Any]) -> None:
    objective, at = case
    step = 1e-5
    axes = np.eye(len(at)) * step
    gradient = objective.value_and_gradient(at)[1]
    slopes = [(objective.value(at + axis) - objective.value(at - axis)) / (2 * step) for axis in axes]
    np.testing.assert_allclose(gradient, slopes, atol=1e-6)
    product = objective.hessian_product(at)
    for axis in axes:
        change = objective.value_and_gradient(at + axis)[1] - objective.value_and_gradient(at - axis)[1]
        np.testing.assert_allclose(product(axis / step), change / (2 * step), atol=1e-6)
