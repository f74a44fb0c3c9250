"""How a clustering fares with the links, how much they tell, and whether they agree in space."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.sparse import csc_matrix, csr_array, csr_matrix

from mustlink import Constraints
from mustlink.constraints import _coherence
from mustlink.errors import ConstraintError
from reference import coherence as slow
from reference.random_links import Case, cases


@st.composite
def cases_with_labels(draw: st.DrawFn) -> tuple[Case, list[int]]:
    case = draw(cases(max_samples=10))
    return case, draw(st.lists(st.integers(-1, 3), min_size=case.n_samples, max_size=case.n_samples))


# ---- satisfied ---------------------------------------------------------------------------------------------------


@given(drawn=cases_with_labels())
@settings(deadline=None, max_examples=120)
def test_kept_and_broken_pairs_one_by_one(drawn: tuple[Case, list[int]]) -> None:
    (_, must, cannot), labels = drawn
    links = Constraints(must, cannot)

    def together(i: int, j: int) -> bool:
        return labels[i] == labels[j] and labels[i] != -1

    kept = [together(i, j) for i, j in sorted(must)] + [not together(i, j) for i, j in sorted(cannot)]
    satisfied = links.satisfied(labels)
    assert satisfied.dtype == bool
    assert satisfied.tolist() == kept
    broken = links.violations(labels)
    assert broken.must_link.tolist() == [[i, j] for i, j in sorted(must) if not together(i, j)]
    assert broken.cannot_link.tolist() == [[i, j] for i, j in sorted(cannot) if together(i, j)]
    n = len(links)
    assert links.violation_rate(labels) == (kept.count(False) / n if n else 0.0)
    if n:
        assert links.informativeness(labels) == links.violation_rate(labels)
    else:
        assert math.isnan(links.informativeness(labels))


@pytest.mark.parametrize(
    "labels",
    [
        [5, 5, 7, -1, -1],
        np.array([5, 5, 7, -1, -1], dtype=np.int8),
        np.array([5, 5, 7, -1, -1], dtype=np.float32),
        np.array([5, 5, 7, -1, -1], dtype=object),
        pd.Series([5, 5, 7, -1, -1], index=list("abcde")),
        pl.Series([5, 5, 7, -1, -1]),
    ],
)
def test_noise_is_apart_from_everything(labels: Any) -> None:
    links = Constraints([(0, 1), (3, 4), (0, 3)], [(0, 2)])
    assert links.satisfied(labels).tolist() == [True, False, False, True]
    apart = Constraints(None, [(0, 1), (3, 4), (0, 3)])
    assert apart.satisfied(labels).tolist() == [False, True, True]


def test_labels_may_be_text() -> None:
    links = Constraints([(0, 1)], [(1, 2)])
    assert links.satisfied(["x", "x", "-1"]).tolist() == [True, True]
    assert Constraints([(0, 1)]).satisfied(["-1", "-1"]).tolist() == [True]


def test_violations_keep_their_weights() -> None:
    links = Constraints([(0, 1), (0, 2)], [(1, 2), (0, 3)], must_link_weight=[0.5, 2.0], cannot_link_weight=[3.0, 0.25])
    broken = links.violations([0, 1, 1, 0])
    assert broken == Constraints(
        [(0, 1), (0, 2)], [(0, 3), (1, 2)], must_link_weight=[0.5, 2], cannot_link_weight=[0.25, 3]
    )
    assert links.violations([0, 0, 1, 0]) == Constraints(
        [(0, 2)], [(0, 3)], must_link_weight=2.0, cannot_link_weight=0.25
    )


def test_violation_rate_counts_pairs_and_is_exact() -> None:
    links = Constraints(None, [(i, i + 1) for i in range(10)])
    assert links.violation_rate([0, 1, 0, 1, 0, 1, 0, 1, 1, 1, 1]) == 0.3
    assert Constraints().violation_rate([]) == 0.0


@pytest.mark.parametrize("method", ["satisfied", "violations", "violation_rate", "informativeness"])
def test_labels_that_do_not_fit_are_refused(method: str) -> None:
    links = Constraints([(0, 4)])
    with pytest.raises(ConstraintError, match="rows 0 and 4, but the table has 4 rows"):
        getattr(links, method)([0, 1, 2, 3])
    with pytest.raises(ValueError, match="one dimension; got 2"):
        getattr(links, method)(np.zeros((5, 1)))


@given(drawn=cases_with_labels(), seed=st.integers(0, 50))
@settings(deadline=None, max_examples=60)
def test_links_made_from_a_clustering_tell_it_nothing(drawn: tuple[Case, list[int]], seed: int) -> None:
    labels = [label + 1 for label in drawn[1]]
    links = Constraints.from_labels(labels, pairs="all")
    assume(len(links))
    assert links.informativeness(labels) == 0.0
    turned = Constraints.sample(labels, len(links), balanced=False, noise=1.0, random_state=seed)
    assert turned.informativeness(labels) == 1.0


# ---- coherence ---------------------------------------------------------------------------------------------------

grid = st.integers(-4, 4).map(float)


@st.composite
def cases_in_space(draw: st.DrawFn) -> tuple[Case, np.ndarray]:
    """Draw links on points of a coarse grid, where touching, right angles and equal points are common."""
    case = draw(cases(max_samples=9, min_samples=4).filter(lambda case: case.must_link and case.cannot_link))
    d = draw(st.integers(1, 3))
    points = draw(st.lists(st.lists(grid, min_size=d, max_size=d), min_size=case.n_samples, max_size=case.n_samples))
    return case, np.array(points)


@given(drawn=cases_in_space())
@settings(deadline=None, max_examples=150)
def test_coherence_is_that_of_the_formula(drawn: tuple[Case, np.ndarray]) -> None:
    (_, must, cannot), X = drawn
    assert Constraints(must, cannot).coherence(X) == slow.coherence(X, must, cannot)


@given(drawn=cases_in_space(), angle=st.floats(0, 6.3), shift=st.floats(-1e4, 1e4), factor=st.floats(1e-6, 1e6))
@settings(deadline=None, max_examples=150)
def test_coherence_does_not_change_when_space_is_moved_turned_or_scaled(
    drawn: tuple[Case, np.ndarray], angle: float, shift: float, factor: float
) -> None:
    (_, must, cannot), X = drawn
    links = Constraints(must, cannot)
    before = links.coherence(X)
    assert 0 <= before <= 1
    assert links.coherence(X * factor) == before
    turn = np.eye(X.shape[1])
    turn[:2, :2] = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])[
        : len(turn), : len(turn)
    ]
    if len(turn) > 1:
        assert links.coherence(X @ turn) == before
        assert links.coherence(factor * (X @ turn)) == before
    # Whole numbers, so that the moved points are exactly as far apart as before.
    assert links.coherence(X + round(shift)) == before


def test_coherence_far_from_the_origin() -> None:
    X = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [1.0, 2.0], [0.25, 0.5], [0.75, 0.5]])
    links = Constraints([(0, 1)], [(2, 3), (4, 5)])
    assert links.coherence(X) == links.coherence(X + 2.0**44) == 0.5


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_orthogonal_disjoint_axes_are_coherent(dtype: type) -> None:
    X = np.array([[0, 0, 5], [1, 0, 5], [3, 1, 9], [3, 7, 9], [2, 2, 2], [2, 9, 2]], dtype=dtype)
    assert Constraints([(0, 1)], [(2, 3), (4, 5)]).coherence(X) == 1.0
    turned = (X @ np.linalg.qr(np.random.RandomState(0).randn(3, 3))[0]).astype(
        dtype if dtype != np.int64 else np.float64
    )
    if dtype != np.float32:  # a turned right angle is one only up to the digits that float32 keeps
        assert Constraints([(0, 1)], [(2, 3), (4, 5)]).coherence(turned) == 1.0


def test_coinciding_segments_are_incoherent() -> None:
    X = np.array([[0.0, 1.0], [2.0, 3.0]] * 4)
    assert Constraints([(0, 1), (2, 3)], [(4, 5), (7, 6)]).coherence(X) == 0.0


@pytest.mark.parametrize("make", [csr_matrix, csc_matrix, csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_is_as_dense(make: Any, dtype: type) -> None:
    rng = np.random.RandomState(0)
    X = (rng.rand(40, 12) * (rng.rand(40, 12) < 0.3)).astype(dtype)
    links = Constraints.sample(np.arange(40) % 3, 60, random_state=1)
    dense = links.coherence(X)
    assert 0 < dense < 1
    assert links.coherence(make(X)) == dense
    assert dense == slow.coherence(X.astype(float), links.must_link.tolist(), links.cannot_link.tolist())


@pytest.mark.parametrize("links", [Constraints(), Constraints([(0, 1)]), Constraints(None, [(0, 1)])])
def test_coherence_without_one_of_the_kinds_is_nan(links: Constraints) -> None:
    assert math.isnan(links.coherence(np.eye(3)))
    assert math.isnan(slow.coherence(np.eye(3), links.must_link.tolist(), links.cannot_link.tolist()))


def test_blocks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.RandomState(0).randn(50, 2)
    links = Constraints.sample(np.arange(50) % 4, 80, random_state=0)
    whole = links.coherence(X)
    for block in (1, 100, 130):
        monkeypatch.setattr(_coherence, "BLOCK", block)
        assert links.coherence(X) == whole


def test_of_many_links_some_are_drawn() -> None:
    X = np.random.RandomState(0).randn(200, 2)
    links = Constraints.sample(np.arange(200) % 4, 1_000, random_state=0)
    whole, some = links.coherence(X), links.coherence(X, max_links=200)
    assert some == links.coherence(X, max_links=200, random_state=0)
    assert some != whole
    assert abs(some - whole) < 0.1
    assert links.coherence(X, max_links=500) == whole


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.array([[0.0], [np.nan], [1.0]]), "NaN"),
        (np.zeros((2, 1)), "rows 1 and 2, but the table has 2 rows"),
        (np.zeros(3), "Expected 2D"),
    ],
)
def test_points_that_cannot_be_used(X: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Constraints([(0, 1)], [(1, 2)]).coherence(X)
