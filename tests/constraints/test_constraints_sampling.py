"""Links from labels, whole or partial, and links drawn by the protocols of the papers."""

from __future__ import annotations

from itertools import combinations
from math import sqrt
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mustlink import Constraints
from mustlink.constraints import _sampling
from mustlink.errors import ConstraintError, TooLargeError

labellings = st.lists(st.integers(-1, 3), min_size=1, max_size=14)


def implied(y: Any, missing: object = -1) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    """List the pairs of known rows with the same class, and those with different classes."""
    known = [row for row, label in enumerate(y) if label != missing]
    pairs = list(combinations(known, 2))
    return {(i, j) for i, j in pairs if y[i] == y[j]}, {(i, j) for i, j in pairs if y[i] != y[j]}


def sets(links: Constraints) -> tuple[set[tuple[int, ...]], set[tuple[int, ...]]]:
    return set(map(tuple, links.must_link.tolist())), set(map(tuple, links.cannot_link.tolist()))


# ---- from labels -------------------------------------------------------------------------------------------------


@given(y=labellings, is_turned=st.booleans())
@settings(deadline=None, max_examples=120)
def test_compact_and_all_have_the_same_closure(y: list[int], is_turned: bool) -> None:
    written = Constraints.from_labels(y, pairs="all")
    assert sets(written) == implied(y)
    compact = Constraints.from_labels(y, order=-np.arange(len(y)) if is_turned else None)
    assert sets(compact.closure(len(y)).explicit()) == implied(y)
    one, other = compact.closure(len(y)), written.closure(len(y))
    np.testing.assert_array_equal(one.component, other.component)
    np.testing.assert_array_equal(one.cannot_link, other.cannot_link)
    n_known, n_classes = sum(label != -1 for label in y), len(set(y) - {-1})
    assert len(compact.must_link) == n_known - n_classes
    assert len(compact.cannot_link) == n_classes * (n_classes - 1) // 2


ABA = ({(0, 2)}, {(0, 1), (1, 2)})


@pytest.mark.parametrize(
    ("y", "missing"),
    [
        ([0, 1, 0, -1], -1),
        (np.array([0, 1, 0, -1], dtype=np.int8), -1),
        (np.array([2.0, 1.0, 2.0, np.nan]), -1),
        (np.array([2.0, 1.0, 2.0, -1.0]), -1),
        ([2.5, 1.0, 2.5, float("nan")], float("nan")),
        ([0, 1, 0, 99], 99),
        ([0, 1, 0, -1], 99),
        (["a", "b", "a", ""], "?"),
        (np.array(["a", "b", "a", " "]), -1),
        (["a", "b", "a", "?"], "?"),
        (["a", "b", "a", None], -1),
        (["a", "b", "a", float("nan")], -1),
        (["a", "b", "a", -1], -1),
        (np.array(["a", "b", "a", "-1"]), -1),
        (np.array(["a", "b", "a", None], dtype=object), -1),
        (np.array(["a", "b", "a", np.nan], dtype=object), None),
        ([True, False, True, None], -1),
        (pd.Series([0, 1, 0, -1], index=[5, 6, 7, 8]), -1),
        (pd.Series(["a", "b", "a", None]), -1),
        (pd.Series(["a", "b", "a", None], dtype="string"), -1),
        (pd.Series([0, 1, 0, None], dtype="Int64"), -1),
        (pd.Series(["a", "b", "a", None], dtype="category"), -1),
        (pl.Series([0, 1, 0, None]), -1),
        (pl.Series(["a", "b", "a", None]), -1),
        (np.ma.array([0, 1, 0, 7], mask=[0, 0, 0, 1]), -1),
        (np.ma.array(["a", "b", "a", "c"], mask=[0, 0, 0, 1]), -1),
        (["a", "b", "a", "?"], ["?", "unknown"]),
        ([0, 1, 0, 99], (98, 99)),
        (np.array([2.0, 1.0, 2.0, 98.0]), np.array([98.0, 99.0])),
        (["a", "b", "a", None], {"?"}),
        (np.array(["a", "b", "a", 9], dtype=object), [9]),
    ],
)
def test_labels_of_every_kind(y: Any, missing: object) -> None:
    assert sets(Constraints.from_labels(y, missing=missing, pairs="all")) == ABA
    assert Constraints.from_labels(y, missing=missing).components(4).tolist() == [0, 1, 0, 2]


@pytest.mark.parametrize("y", [[], np.array([], dtype=object), [-1, -1], [None, None], [3]])
def test_nothing_known_of_any_pair(y: Any) -> None:
    assert Constraints.from_labels(y).is_empty
    assert Constraints.from_labels(y, pairs="all").is_empty


def test_missing_text_among_numbers_is_no_class_of_theirs() -> None:
    assert sets(Constraints.from_labels([0, 1, 0], missing="?", pairs="all")) == ABA


@pytest.mark.parametrize(
    ("y", "keywords", "message"),
    [
        ([[0, 1], [1, 0]], {}, "one dimension; got 2"),
        (np.array(["a", 3], dtype=object), {}, "mix text and numbers"),
        ([0, 1], {"pairs": "some"}, '"compact" or "all"; got \'some\''),
        ([0, 1], {"order": [1, 2, 3]}, r"one number per row, 2 in all; got an array of shape \(3,\)"),
        ([0, 1], {"order": ["b", "a"]}, "one number per row, 2 in all; got an array of shape .* type <U1"),
    ],
)
def test_labels_that_cannot_be_used(y: Any, keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(ConstraintError, match=message):
        Constraints.from_labels(y, **keywords)


def test_rows_of_a_class_are_chained_in_a_given_order() -> None:
    links = Constraints.from_labels([5, 5, 6, -1, 5, 6], order=[0.5, -3.0, 9.0, 0.0, 0.25, 8.0])
    assert links == Constraints(must_link=[(1, 4), (4, 0), (5, 2)], cannot_link=[(1, 5)])


def test_too_many_pairs_are_refused_with_their_number() -> None:
    with pytest.raises(TooLargeError, match=r"20,000 labeled rows make 199,990,000 pairs"):
        Constraints.from_labels(np.arange(20_000) % 2, pairs="all")
    assert len(Constraints.from_labels(np.arange(20_000) % 2)) == 19_999
    with pytest.raises(TooLargeError, match=r"20,000 classes"):
        Constraints.from_labels(np.arange(20_000))


# ---- drawn -------------------------------------------------------------------------------------------------------


@given(
    y=st.lists(st.integers(-1, 2), min_size=2, max_size=14),
    n_pairs=st.integers(0, 20),
    balanced=st.booleans(),
    seed=st.integers(0, 1000),
)
@settings(deadline=None, max_examples=150)
def test_drawn_pairs_are_different_and_agree_with_the_classes(
    y: list[int], n_pairs: int, balanced: bool, seed: int
) -> None:
    same, different = implied(y)
    if balanced:
        possible = (n_pairs + 1) // 2 <= len(same) and n_pairs // 2 <= len(different)
    else:
        possible = n_pairs <= len(same) + len(different)
    if not possible:
        with pytest.raises(ConstraintError, match=r"\d+ [a-z-]+ (was|were) requested, but the labels allow only \d+"):
            Constraints.sample(y, n_pairs, balanced=balanced, random_state=seed)
        return
    links = Constraints.sample(y, n_pairs, balanced=balanced, random_state=seed)
    must, cannot = sets(links)
    assert must <= same
    assert cannot <= different
    assert len(links) == n_pairs
    if balanced:
        assert len(must) == (n_pairs + 1) // 2
    # One for every pair: none was drawn twice.
    assert set(links.must_link_weight) | set(links.cannot_link_weight) <= {1.0}
    assert links == Constraints.sample(y, n_pairs, balanced=balanced, random_state=seed)


@pytest.mark.parametrize(
    ("n_pairs", "balanced", "message"),
    [
        (10, True, "5 must-links were requested, but the labels allow only 4"),
        (12, False, "12 pairs were requested, but the labels allow only 10"),
    ],
)
def test_asking_for_too_many_tells_both_numbers(n_pairs: int, balanced: bool, message: str) -> None:
    with pytest.raises(ConstraintError, match=message):
        Constraints.sample([0, 0, 0, 1, 1, -1], n_pairs, balanced=balanced, random_state=0)


def test_all_pairs_can_be_drawn() -> None:
    y = [0, 0, 0, 1, 1, -1]
    assert sets(Constraints.sample(y, 10, balanced=False, random_state=0)) == implied(y)
    assert len(Constraints.sample(y, 8, random_state=0)) == 8


@pytest.mark.parametrize("n_pairs", [2, 3, 12])
def test_every_pair_is_as_likely_as_any_other(n_pairs: int) -> None:
    """Few and many pairs are drawn in different ways; over 1,500 draws each pair comes up as often as it should."""
    y = [1, 0, 1, 0, 0, 1]
    rng = np.random.RandomState(0)
    n_draws, counts = 1_500, dict.fromkeys(combinations(range(6), 2), 0)
    for _ in range(n_draws):
        links = Constraints.sample(y, n_pairs, balanced=False, random_state=rng)
        for pair in np.concatenate([links.must_link, links.cannot_link]).tolist():
            counts[tuple(pair)] += 1
    share = n_pairs / len(counts)
    spread = sqrt(n_draws * share * (1 - share))
    assert all(abs(count - n_draws * share) < 4.5 * spread for count in counts.values())
    # Were the counts too even, something other than chance would have made them.
    assert max(counts.values()) - min(counts.values()) > spread


def test_a_balanced_draw_is_even_within_each_kind() -> None:
    y = [0, 0, 0, 1, 1, 1]
    rng = np.random.RandomState(1)
    counts: dict[tuple[int, int], int] = dict.fromkeys(combinations(range(6), 2), 0)
    for _ in range(1_000):
        links = Constraints.sample(y, 4, random_state=rng)
        for pair in np.concatenate([links.must_link, links.cannot_link]).tolist():
            counts[tuple(pair)] += 1
    same, different = implied(y)
    for kind, share in ((same, 2 / 6), (different, 2 / 9)):
        spread = sqrt(1_000 * share * (1 - share))
        assert all(abs(counts[pair] - 1_000 * share) < 4.5 * spread for pair in kind)


@given(
    n_pairs=st.integers(0, 30),
    noise=st.floats(0, 1),
    seed=st.integers(0, 100),
)
@settings(deadline=None, max_examples=80)
def test_the_share_of_noise_is_exact(n_pairs: int, noise: float, seed: int) -> None:
    y = np.arange(16) % 2
    same, _ = implied(y)
    links = Constraints.sample(y, n_pairs, noise=noise, random_state=seed)
    must, cannot = sets(links)
    assert len(links) == n_pairs
    assert len(must - same) + len(cannot & same) == round(noise * n_pairs)
    clean = Constraints.sample(y, n_pairs, random_state=seed)
    assert must | cannot == set.union(*sets(clean))


def test_noise_strikes_both_kinds_alike() -> None:
    y = np.arange(40) % 4
    same, _ = implied(y)
    rng = np.random.RandomState(0)
    turned = [0, 0]
    for _ in range(200):
        must, cannot = sets(Constraints.sample(y, 50, noise=0.2, random_state=rng))
        turned[0] += len(cannot & same)
        turned[1] += len(must - same)
    assert sum(turned) == 200 * 10
    assert abs(turned[0] - 1_000) < 4.5 * sqrt(2_000 * 0.25)


@given(y=labellings, share=st.floats(0.05, 1), seed=st.integers(0, 100))
@settings(deadline=None, max_examples=80)
def test_a_labeled_fraction_gives_all_pairs_it_implies(y: list[int], share: float, seed: int) -> None:
    links = Constraints.sample(y, labeled_fraction=share, random_state=seed)
    n_known = sum(label != -1 for label in y)
    n_drawn = round(share * n_known)
    assert len(links) == n_drawn * (n_drawn - 1) // 2
    drawn = set(links.constrained_rows().tolist())
    assert len(drawn) == (n_drawn if n_drawn > 1 else 0)
    assert sets(links) == implied([label if row in drawn else -1 for row, label in enumerate(y)])


def test_a_labeled_fraction_with_noise() -> None:
    y = np.arange(20) % 2
    same, _ = implied(y)
    links = Constraints.sample(y, labeled_fraction=0.5, noise=0.2, random_state=3)
    must, cannot = sets(links)
    assert len(links) == 45
    assert len(must - same) + len(cannot & same) == 9


def test_too_large_a_share_is_refused_with_the_number_of_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_sampling, "MAX_PAIRS", 44)
    with pytest.raises(TooLargeError, match="10 labeled rows make 45 pairs, and at most 44"):
        Constraints.sample(np.arange(20) % 2, labeled_fraction=0.5, random_state=0)


@pytest.mark.parametrize("how", [{"n_pairs": 12}, {"n_pairs": 12, "balanced": False}, {"labeled_fraction": 0.5}])
def test_the_seed_makes_a_draw_repeatable_and_other_seeds_other_draws(how: dict[str, Any]) -> None:
    y = np.arange(60) % 3
    drawn = [Constraints.sample(y, random_state=seed, noise=0.1, **how) for seed in (0, 0, 1)]
    assert drawn[0] == drawn[1]
    assert drawn[0] != drawn[2]
    assert Constraints.sample(y, random_state=np.random.RandomState(0), noise=0.1, **how) == drawn[0]


@pytest.mark.parametrize("how", [{"n_pairs": 9}, {"n_pairs": 9, "balanced": False}, {"labeled_fraction": 1.0}])
@pytest.mark.parametrize("y", [np.array([0, 1] * 4 + [-1] * 40), ["a", "b"] * 4 + [None] * 40])
def test_rows_without_a_class_are_never_drawn(how: dict[str, Any], y: Any) -> None:
    for seed in range(5):
        assert Constraints.sample(y, random_state=seed, **how).constrained_rows().max() < 8


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({}, "either n_pairs or labeled_fraction; neither was given"),
        ({"n_pairs": 2, "labeled_fraction": 0.5}, "either n_pairs or labeled_fraction, not both"),
        ({"n_pairs": -1}, "n_pairs cannot be negative; got -1"),
        ({"n_pairs": 2, "noise": 1.5}, "noise must be between 0 and 1; got 1.5"),
        ({"n_pairs": 2, "noise": float("nan")}, "noise must be"),
        ({"labeled_fraction": 0.0}, "labeled_fraction must be between 0 and 1; got 0.0"),
        ({"labeled_fraction": 1.1}, "labeled_fraction must be between 0 and 1; got 1.1"),
    ],
)
def test_requests_that_make_no_sense(keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(ConstraintError, match=message):
        Constraints.sample([0, 0, 1, 1], **keywords)


def test_few_pairs_of_many_rows_need_no_table_of_all_pairs() -> None:
    """A million rows have half a million million pairs; 100 of them are drawn without writing the others out."""
    y = np.arange(1_000_000) % 5
    for balanced in (True, False):
        links = Constraints.sample(y, 100, balanced=balanced, random_state=0)
        assert len(links) == 100
        assert (y[links.must_link[:, 0]] == y[links.must_link[:, 1]]).all()
        assert (y[links.cannot_link[:, 0]] != y[links.cannot_link[:, 1]]).all()
