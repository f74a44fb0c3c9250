"""Scores against their definitions, pair by pair."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.metrics import adjusted_rand_score, fowlkes_mallows_score, normalized_mutual_info_score

from mustlink import Constraints, metrics
from mustlink.errors import ConstraintError
from reference import pairs

SCORES: dict[str, Callable[..., float]] = {
    "nmi": metrics.normalized_mutual_info,
    "ari": metrics.adjusted_rand,
    "pairwise_precision": metrics.pairwise_precision,
    "pairwise_recall": metrics.pairwise_recall,
    "pairwise_f1": metrics.pairwise_f1,
}

# Not one of `scores`: its name is that of one chapter, whose tables it is needed for.
EVERY = SCORES | {"f_measure": metrics.f_measure}

SLOW: dict[str, Callable[[list[int], list[int]], float]] = {
    "nmi": pairs.normalized_mutual_info,
    "ari": pairs.adjusted_rand,
    "pairwise_precision": lambda t, p: pairs.precision_recall_f1(t, p)[0],
    "pairwise_recall": lambda t, p: pairs.precision_recall_f1(t, p)[1],
    "pairwise_f1": lambda t, p: pairs.precision_recall_f1(t, p)[2],
    "f_measure": pairs.f_measure,
}

labelings = st.integers(1, 25).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(0, 5), min_size=n, max_size=n),
        st.lists(st.integers(-1, 4), min_size=n, max_size=n),
        # One row alone is in no link.
        st.sets(st.integers(0, n - 1)).filter(lambda rows: len(rows) != 1),
    )
)


def links_of(rows: Iterable[int]) -> Constraints:
    """Links that name all given rows, of which there is not just one."""
    rows = sorted(rows)
    return Constraints(must_link=list(itertools.pairwise(rows)))


@pytest.mark.parametrize("name", EVERY)
@given(case=labelings)
@settings(deadline=None, max_examples=60)
def test_agrees_with_the_definition(name: str, case: tuple[list[int], list[int], set[int]]) -> None:
    truth, found, _ = case
    assert EVERY[name](truth, found) == pytest.approx(SLOW[name](truth, found), abs=1e-9)


@pytest.mark.parametrize("name", EVERY)
@given(case=labelings)
@settings(deadline=None, max_examples=40)
def test_constraints_leave_only_the_rows_they_do_not_name(
    name: str, case: tuple[list[int], list[int], set[int]]
) -> None:
    truth, found, touched = case
    score = EVERY[name](truth, found, constraints=links_of(touched))
    left = [row for row in range(len(truth)) if row not in touched]
    if left:
        expected = SLOW[name]([truth[row] for row in left], [found[row] for row in left])
        assert score == pytest.approx(expected, abs=1e-9)
    else:
        assert math.isnan(score)


@given(case=labelings)
@settings(deadline=None, max_examples=40)
def test_scores_contains_the_single_scores(case: tuple[list[int], list[int], set[int]]) -> None:
    truth, found, touched = case
    links = links_of(touched)
    result = metrics.scores(truth, found, links)
    expected = {name: score(truth, found) for name, score in SCORES.items()}
    expected |= {f"{name}_unconstrained": score(truth, found, constraints=links) for name, score in SCORES.items()}
    expected["violation_rate"] = links.violation_rate(found)
    assert result == pytest.approx(expected, nan_ok=True)
    assert metrics.scores(truth, found) == {name: expected[name] for name in SCORES}


@given(case=labelings, seed=st.integers(0, 99))
@settings(deadline=None, max_examples=30)
def test_names_of_labels_and_order_of_rows_have_no_effect(
    case: tuple[list[int], list[int], set[int]], seed: int
) -> None:
    truth, found, _ = case
    order = np.random.default_rng(seed).permutation(len(truth))
    names = {-1: -1, 0: 40, 1: 7, 2: -5, 3: 12, 4: 0}
    renamed = [names[found[row]] for row in order]
    words = [f"class {truth[row]}" for row in order]
    assert metrics.scores(words, renamed) == pytest.approx(metrics.scores(truth, found))


def test_agrees_with_scikit_learn_where_nothing_is_noise() -> None:
    rng = np.random.default_rng(3)
    truth, found = rng.integers(6, size=500), rng.integers(9, size=500)
    result = metrics.scores(truth, found)
    assert result["nmi"] == pytest.approx(normalized_mutual_info_score(truth, found))
    assert result["ari"] == pytest.approx(adjusted_rand_score(truth, found))
    geometric_mean = math.sqrt(result["pairwise_precision"] * result["pairwise_recall"])
    assert geometric_mean == pytest.approx(fowlkes_mallows_score(truth, found))


@pytest.mark.parametrize("name", SCORES)
def test_noise_rows_are_clusters_of_their_own(name: str) -> None:
    truth = [0, 0, 0, 1, 1, 1, 1]
    score = SCORES[name]
    assert score(truth, [0, 0, -1, 1, 1, -1, -1]) == score(truth, [0, 0, 5, 1, 1, 6, 7])
    assert score(truth, [0, 0, -1, 1, 1, -1, -1]) != score(truth, [0, 0, 5, 1, 1, 5, 5])


@pytest.mark.parametrize("unknown", [-1, -1.0, float("nan"), None, "", " ", "-1", pd.NA])
@pytest.mark.parametrize("name", EVERY)
def test_rows_of_unknown_class_are_not_scored(name: str, unknown: object) -> None:
    classes = ["a", "a", "b", "b", "b"] if isinstance(unknown, str) else [2, 2, 3, 3, 3]
    truth = np.array([*classes[:2], unknown, *classes[2:], unknown], dtype=object)
    found = [0, 1, 1, 1, 1, 0, 0]
    known = [0, 1, 3, 4, 5]
    expected = EVERY[name](classes, [found[row] for row in known])
    assert EVERY[name](truth, found) == expected
    links = Constraints(cannot_link=[(1, 2)])
    left = Constraints(cannot_link=[(1, 6)])
    assert EVERY[name](truth, found, constraints=links) == EVERY[name](truth, found, constraints=left)
    assert EVERY[name](truth, found, constraints=links) == EVERY[name](
        [classes[0], *classes[2:]], [found[row] for row in (0, 3, 4, 5)]
    )


def test_noise_is_recognized_in_float_labels_but_not_in_text() -> None:
    assert metrics.pairwise_precision([0, 1, 2], np.array([-1.0, -1.0, 0.0])) == 0.0
    assert metrics.pairwise_recall([0, 0, 1], ["-1", "-1", "a"]) == 1.0


@pytest.mark.parametrize("name", ["pairwise_precision", "pairwise_recall", "pairwise_f1"])
def test_undefined_ratios_are_zero(name: str) -> None:
    apart = [0, 1, 2, 3]
    assert SCORES[name](apart, apart) == 0.0
    assert fowlkes_mallows_score(apart, apart) == 0.0


def test_one_row_is_a_perfect_partition_without_pairs() -> None:
    result = metrics.scores([4], [0])
    assert (result["nmi"], result["ari"], result["pairwise_f1"]) == (1.0, 1.0, 0.0)


def test_a_million_rows_in_few_clusters() -> None:
    n = 1_000_000
    truth = np.arange(n) % 2
    found = np.zeros(n, dtype=np.int32)
    half = n // 2
    expected = (2 * half * (half - 1)) / (n * (n - 1))
    assert metrics.pairwise_precision(truth, found) == pytest.approx(expected, rel=1e-12)
    assert metrics.pairwise_recall(truth, found) == 1.0
    assert metrics.adjusted_rand(truth, found) == pytest.approx(0.0, abs=1e-12)


def test_two_hundred_thousand_noise_rows_take_linear_memory() -> None:
    n = 200_000
    truth = np.arange(n) // 2
    found = truth.copy()
    found[: n // 2] = -1
    result = metrics.scores(truth, found)
    assert result["pairwise_precision"] == 1.0
    assert result["pairwise_recall"] == pytest.approx(0.5)


def test_many_small_clusters_raise_no_warning() -> None:
    assert 0 < metrics.normalized_mutual_info(np.arange(60) // 6, np.arange(60) * 2 // 3) < 1


@pytest.mark.parametrize("name", [*SCORES, "scores"])
@pytest.mark.parametrize(
    ("truth", "found", "message"),
    [
        ([0, 1], [0, 1, 1], "labels_true has 2 entries and labels_pred has 3"),
        ([], [], "at least one row"),
        ([[0], [1]], [0, 1], r"labels_true has shape \(2, 1\)"),
        ([0, 1], [0.0, float("nan")], r"labels_pred has no label \(NaN\) at row 1"),
        (np.array(["a", 1], dtype=object), [0, 1], "labels_true mixes types"),
        ([-1, None], [0, 1], "labels_true names no class"),
    ],
)
def test_bad_labels_are_refused(name: str, truth: ArrayLike, found: ArrayLike, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        (SCORES | {"scores": metrics.scores})[name](truth, found)


def test_constraints_beyond_the_labels() -> None:
    with pytest.raises(ConstraintError, match="the rows 1 and 7, but the table has 3 rows"):
        metrics.adjusted_rand([0, 1, 1], [0, 1, 1], constraints=links_of([1, 7]))


def test_constraints_of_another_type_are_refused() -> None:
    with pytest.raises(TypeError, match=r"a mustlink\.Constraints, got list"):
        metrics.violation_rate([0, 0], [(0, 1)])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="got None"):
        metrics.violation_rate([0, 0], None)


@given(case=labelings, seed=st.integers(0, 99))
@settings(deadline=None, max_examples=40)
def test_real_constraints(case: tuple[list[int], list[int], set[int]], seed: int) -> None:
    truth, found, _ = case
    n = len(truth)
    pairs_drawn = np.random.default_rng(seed).integers(n, size=(6, 2)).tolist()
    drawn = sorted({(min(a, b), max(a, b)) for a, b in pairs_drawn if a != b})
    must, cannot = drawn[::2], drawn[1::2]
    links = Constraints(must_link=must, cannot_link=cannot)
    broken = sum(not pairs.together(found, a, b) for a, b in must)
    broken += sum(pairs.together(found, a, b) for a, b in cannot)
    result = metrics.scores(truth, found, links)
    assert result["violation_rate"] == pytest.approx(broken / len(drawn) if drawn else 0.0)
    touched = links_of({row for pair in drawn for row in pair})
    for name, score in SCORES.items():
        expected = pytest.approx(score(truth, found, constraints=touched), nan_ok=True)
        assert result[f"{name}_unconstrained"] == expected
        assert score(truth, found, constraints=links.on(n)) == expected


@given(case=labelings, n_empty=st.integers(0, 2))
@settings(deadline=None, max_examples=60)
def test_balance_of_sizes(case: tuple[list[int], list[int], set[int]], n_empty: int) -> None:
    labels = case[0]
    k = max(labels) + 1 + n_empty
    sizes = [labels.count(cluster) for cluster in range(k)]
    mean = len(labels) / k
    deviation = math.sqrt(sum((size - mean) ** 2 for size in sizes) / k)
    assert metrics.size_deviation(labels, n_clusters=k) == pytest.approx(deviation)
    assert metrics.relative_min_size(labels, n_clusters=k) == pytest.approx(min(sizes) / mean)
    assert metrics.relative_min_size([*labels, -1], n_clusters=k) == pytest.approx(min(sizes) / mean)


def test_the_mean_cosine_is_that_of_the_rows_and_the_sums_of_their_clusters() -> None:
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(30, 4)), rng.integers(-1, 3, size=30)
    X[4] = 0.0
    unit = X / np.maximum(np.linalg.norm(X, axis=1), 1e-300)[:, None]
    cosines = []
    for row in np.flatnonzero(labels >= 0):
        if row != 4:
            direction = unit[labels == labels[row]].sum(axis=0)
            cosines.append(unit[row] @ direction / np.linalg.norm(direction))
    for form in (X, sparse.csr_matrix(X)):
        assert metrics.mean_cosine(form, labels) == pytest.approx(np.mean(cosines))


def test_balance_of_wrong_labels() -> None:
    with pytest.raises(ValueError, match="labels has the cluster 4, and 3 clusters are numbered from 0"):
        metrics.size_deviation([0, 4], n_clusters=3)
    for labels in (["a"], [0.5], [-2, 0]):
        with pytest.raises(ValueError, match="labels must be cluster numbers"):
            metrics.relative_min_size(labels)
    with pytest.raises(ValueError, match="No row is in a cluster"):
        metrics.size_deviation([-1, -1])
    with pytest.raises(ValueError, match="X has 2 rows and labels has 1 entries"):
        metrics.mean_cosine([[1.0], [2.0]], [0])
    with pytest.raises(ValueError, match="No row has both a cluster and a direction"):
        metrics.mean_cosine([[0.0], [2.0]], [0, -1])


@pytest.mark.parametrize(("n_classes", "baseline"), [(1, 1.0), (2, 2 / 3), (3, 1 / 2), (5, 1 / 3)])
def test_f_measure_of_one_cluster(n_classes: int, baseline: float) -> None:
    truth = np.repeat(np.arange(n_classes), 4)
    assert metrics.f_measure(truth, np.zeros(len(truth))) == pytest.approx(baseline)
    assert metrics.f_measure(truth, 9 - truth) == 1.0


def test_f_measure_of_a_split_across_two_classes() -> None:
    assert metrics.f_measure([0, 0, 1, 1], [0, 1, 0, 1]) == 0.5


@given(case=labelings, seed=st.integers(0, 99))
@settings(deadline=None, max_examples=30)
def test_names_and_order_have_no_effect_on_the_f_measure(
    case: tuple[list[int], list[int], set[int]], seed: int
) -> None:
    truth, found = np.array(case[0]), np.array(case[1])
    rng = np.random.default_rng(seed)
    order, names = rng.permutation(len(truth)), rng.permutation(5)
    renamed = np.where(found < 0, -1, names[found])
    assert metrics.f_measure(9 - truth[order], renamed[order]) == pytest.approx(metrics.f_measure(truth, found))
