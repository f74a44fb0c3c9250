"""Constraints as a value: how they are made, compared, added, copied, and what is refused."""

from __future__ import annotations

import copy
import math
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mustlink import Constraints
from mustlink.errors import ConstraintError, TooLargeError

MUST = [(0, 1), (7, 4)]
CANNOT = [(0, 9)]

rows = st.one_of(st.integers(0, 8), st.sampled_from([46_340, 46_341, 65_536, 2**31, 2**32 + 1, 2**62]))
pairs = st.tuples(rows, rows).filter(lambda pair: pair[0] != pair[1])
weights = st.floats(1e-3, 1e3)
# The kind follows from the pair, so that no pair stands on both sides.
weighted = st.lists(st.tuples(pairs, weights), max_size=12)


def make(links: list[tuple[tuple[int, int], float]], **keywords: Any) -> Constraints:
    """Link rows whose numbers add up to an even number, and keep the others apart."""
    must = [(pair, weight) for pair, weight in links if sum(pair) % 2 == 0]
    cannot = [(pair, weight) for pair, weight in links if sum(pair) % 2]
    return Constraints(
        [pair for pair, _ in must],
        [pair for pair, _ in cannot],
        must_link_weight=[weight for _, weight in must],
        cannot_link_weight=[weight for _, weight in cannot],
        **keywords,
    )


# ---- making ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "container",
    [
        list,
        tuple,
        np.array,
        lambda p: np.array(p, dtype=np.int32),
        lambda p: np.array(p, dtype=np.uint64),
        lambda p: np.array(p, dtype=np.float32),
        lambda p: np.array(p, dtype=object),
        lambda p: np.asfortranarray(p),
        lambda p: pd.DataFrame(p, columns=["one", "other"]),
        lambda p: pd.DataFrame(p, columns=["one", "other"], dtype="Int64"),
        lambda p: pl.DataFrame({"one": [a for a, _ in p], "other": [b for _, b in p]}),
        lambda p: [np.array(pair) for pair in p],
    ],
)
def test_pairs_from_any_container(container: Any) -> None:
    links = Constraints(container(MUST), container(CANNOT))
    assert links.must_link.tolist() == [[0, 1], [4, 7]]
    assert links.cannot_link.tolist() == [[0, 9]]
    assert links.must_link.dtype == links.cannot_link.dtype == np.int64
    assert links.must_link_weight.tolist() == [1.0, 1.0]
    assert links == Constraints(MUST, CANNOT)


@pytest.mark.parametrize("nothing", [None, [], (), np.empty((0, 2)), np.empty(0), pd.DataFrame({"a": [], "b": []})])
def test_no_pairs(nothing: Any) -> None:
    links = Constraints(nothing, nothing, must_link_weight=[], cannot_link_weight=2.0)
    assert links == Constraints()
    assert links.is_empty
    assert len(links) == 0
    assert links.must_link.shape == links.cannot_link.shape == (0, 2)
    assert links.constrained_rows().tolist() == []


@pytest.mark.parametrize("container", [list, np.array, pd.Series, pl.Series])
def test_weights_from_any_container(container: Any) -> None:
    links = Constraints(MUST, must_link_weight=container([0.5, 2.5]))
    assert links.must_link_weight.tolist() == [0.5, 2.5]


def test_one_weight_for_all() -> None:
    assert Constraints(MUST, must_link_weight=3).must_link_weight.tolist() == [3.0, 3.0]


def test_weights_follow_their_pairs_when_they_are_sorted() -> None:
    links = Constraints([(9, 8), (1, 0), (3, 2)], must_link_weight=[9, 1, 3])
    assert links.must_link.tolist() == [[0, 1], [2, 3], [8, 9]]
    assert links.must_link_weight.tolist() == [1, 3, 9]


def test_a_pair_given_twice_is_one_with_the_weights_added() -> None:
    links = Constraints([(0, 1), (1, 0), (2, 3)], must_link_weight=[0.5, 2, 1])
    assert links.must_link.tolist() == [[0, 1], [2, 3]]
    assert links.must_link_weight.tolist() == [2.5, 1]


@given(links=weighted, data=st.data())
@settings(deadline=None, max_examples=150)
def test_neither_the_order_of_pairs_nor_of_ends_matters(links: Any, data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(links))
    turned = [(pair[::-1], weight) if data.draw(st.booleans()) else (pair, weight) for pair, weight in shuffled]
    one, other = make(links), make(turned)
    assert one == other
    assert hash(one) == hash(other)
    assert one.must_link_weight.tobytes() == other.must_link_weight.tobytes()
    assert one.cannot_link_weight.tobytes() == other.cannot_link_weight.tobytes()


@given(links=weighted)
@settings(deadline=None, max_examples=100)
def test_each_pair_once_sorted_with_exact_sums(links: Any) -> None:
    made = make(links)
    sums: dict[tuple[int, ...], Fraction] = {}
    for pair, weight in links:
        key = tuple(sorted(pair))
        sums[key] = sums.get(key, Fraction(0)) + Fraction(weight)
    found = [
        (tuple(pair), weight)
        for pairs, weights in (
            (made.must_link, made.must_link_weight),
            (made.cannot_link, made.cannot_link_weight),
        )
        for pair, weight in zip(pairs.tolist(), weights.tolist(), strict=True)
    ]
    expected = sorted((sum(key) % 2, key) for key in sums)
    assert [pair for pair, _ in found] == [key for _, key in expected]
    assert all(math.isclose(weight, sums[pair], rel_tol=1e-12) for pair, weight in found)
    assert len(made) == len(sums)


@given(links=weighted)
@settings(deadline=None, max_examples=50)
def test_giving_everything_twice_doubles_the_weights(links: Any) -> None:
    once, twice = make(links), make(links + links)
    np.testing.assert_array_equal(twice.must_link, once.must_link)
    np.testing.assert_array_equal(twice.cannot_link, once.cannot_link)
    np.testing.assert_allclose(twice.must_link_weight, 2 * once.must_link_weight, rtol=1e-12)
    np.testing.assert_allclose(twice.cannot_link_weight, 2 * once.cannot_link_weight, rtol=1e-12)


# ---- a value -----------------------------------------------------------------------------------------------------


def test_nothing_can_be_changed() -> None:
    given_pairs, given_weights = np.array([(0, 1), (2, 3)]), np.array([1.0, 2.0])
    links = Constraints(given_pairs, CANNOT, must_link_weight=given_weights)
    before = hash(links)
    given_pairs[:], given_weights[:] = 9, 9
    assert hash(links) == before
    for name in ("must_link", "cannot_link", "must_link_weight", "cannot_link_weight"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(links, name)[0] = 5
        with pytest.raises(AttributeError):
            setattr(links, name, None)
    with pytest.raises(AttributeError):
        links.note = "mine"  # type: ignore[attr-defined]
    assert given_pairs.flags.writeable


@pytest.mark.parametrize(
    "other",
    [
        Constraints(MUST),
        Constraints(None, CANNOT),
        Constraints(CANNOT, MUST),
        Constraints(MUST, CANNOT, must_link_weight=2),
        Constraints(MUST, CANNOT, cannot_link_weight=2),
        Constraints([*MUST, (5, 6)], CANNOT),
        "Constraints",
        None,
    ],
)
def test_differences_are_seen(other: object) -> None:
    assert Constraints(MUST, CANNOT) != other


def test_equal_values_are_one_key() -> None:
    assert {Constraints(MUST, CANNOT): "seen"}[Constraints(MUST[::-1], CANNOT)] == "seen"


@pytest.mark.parametrize(
    "again",
    [
        copy.copy,
        copy.deepcopy,
        *(lambda links, p=p: pickle.loads(pickle.dumps(links, p)) for p in range(pickle.HIGHEST_PROTOCOL + 1)),
    ],
)
@pytest.mark.parametrize("links", [Constraints(), Constraints(MUST, CANNOT, must_link_weight=[0.1, 7])])
def test_copies_and_pickles_are_equal(links: Constraints, again: Any) -> None:
    twin = again(links)
    assert twin == links
    assert hash(twin) == hash(links)
    assert not twin.must_link.flags.writeable


@pytest.mark.parametrize(
    ("links", "told"),
    [
        (Constraints(), "Constraints(0 must-links, 0 cannot-links)"),
        (Constraints(MUST, CANNOT), "Constraints(2 must-links, 1 cannot-link)"),
        (Constraints(CANNOT, MUST), "Constraints(1 must-link, 2 cannot-links)"),
    ],
)
def test_repr_tells_the_counts(links: Constraints, told: str) -> None:
    assert repr(links) == told
    assert len(links) == len(links.must_link) + len(links.cannot_link)


@given(one=weighted, other=weighted)
@settings(deadline=None, max_examples=80)
def test_sum_is_all_pairs_of_both(one: Any, other: Any) -> None:
    together, added = make(one + other), make(one) + make(other)
    np.testing.assert_array_equal(added.must_link, together.must_link)
    np.testing.assert_array_equal(added.cannot_link, together.cannot_link)
    np.testing.assert_allclose(added.must_link_weight, together.must_link_weight, rtol=1e-12)
    np.testing.assert_allclose(added.cannot_link_weight, together.cannot_link_weight, rtol=1e-12)
    assert added == make(other) + make(one)
    assert make(one) + Constraints() == make(one)


def test_only_constraints_can_be_added() -> None:
    bare: Any = [(0, 1)]
    with pytest.raises(TypeError):
        Constraints(MUST) + bare


def test_sum_of_opposite_answers_is_refused() -> None:
    with pytest.raises(ConstraintError, match="Rows 0 and 9 are given both") as info:
        Constraints(MUST, CANNOT) + Constraints(CANNOT)
    assert info.value.pairs == [(0, 9)]
    assert str(info.value).endswith(
        'use links.add(other, contradictions="majority") to keep the heavier one or "keep" to keep both.'
    )


def test_constrained_rows() -> None:
    assert Constraints(MUST, CANNOT).constrained_rows().tolist() == [0, 1, 4, 7, 9]


# ---- pairs given both ways ---------------------------------------------------------------------------------------


def test_a_pair_given_both_ways_is_refused_and_named() -> None:
    with pytest.raises(
        ConstraintError, match=r"Rows 1 and 5 are .*contradictions=\"majority\".* or \"keep\" to keep both"
    ) as info:
        Constraints([(5, 1), (0, 2)], [(1, 5)])
    assert info.value.pairs == [(1, 5)]


def test_many_pairs_given_both_ways_are_named_up_to_a_point() -> None:
    both = [(i, i + 1) for i in range(8)]
    with pytest.raises(ConstraintError, match=r"\(0, 1\), .*\(4, 5\) and 3 more") as info:
        Constraints(both, both)
    assert info.value.pairs == both


def test_the_heavier_side_wins_and_keeps_the_difference() -> None:
    links = Constraints(
        [(0, 1), (2, 3), (4, 5), (6, 7)],
        [(1, 0), (3, 2), (5, 4), (8, 9)],
        must_link_weight=[3, 1, 2, 1],
        cannot_link_weight=[1, 4, 2, 1],
        contradictions="majority",
    )
    assert links.must_link.tolist() == [[0, 1], [6, 7]]
    assert links.must_link_weight.tolist() == [2, 1]
    assert links.cannot_link.tolist() == [[2, 3], [8, 9]]
    assert links.cannot_link_weight.tolist() == [3, 1]


def test_three_answers_against_two() -> None:
    links = Constraints([(0, 1)] * 3, [(1, 0)] * 2, contradictions="majority")
    assert links == Constraints([(0, 1)])


def test_a_tie_up_to_rounding_is_a_tie() -> None:
    assert 0.1 + 0.2 != 0.3
    links = Constraints(
        [(0, 1), (0, 1)], [(0, 1)], must_link_weight=[0.1, 0.2], cannot_link_weight=0.3, contradictions="majority"
    )
    assert links.is_empty


@given(answers=st.lists(st.tuples(pairs, st.booleans()), max_size=15))
@settings(deadline=None, max_examples=100)
def test_majority_counts_the_answers(answers: list[tuple[tuple[int, int], bool]]) -> None:
    links = Constraints(
        [pair for pair, is_must in answers if is_must],
        [pair for pair, is_must in answers if not is_must],
        contradictions="majority",
    )
    votes: dict[tuple[int, ...], int] = {}
    for pair, is_must in answers:
        key = tuple(sorted(pair))
        votes[key] = votes.get(key, 0) + (1 if is_must else -1)
    assert dict(zip(map(tuple, links.must_link.tolist()), links.must_link_weight, strict=True)) == {
        pair: vote for pair, vote in votes.items() if vote > 0
    }
    assert dict(zip(map(tuple, links.cannot_link.tolist()), links.cannot_link_weight, strict=True)) == {
        pair: -vote for pair, vote in votes.items() if vote < 0
    }


def test_an_unknown_way_with_contradictions() -> None:
    with pytest.raises(ConstraintError, match=r"\"raise\", \"majority\" or \"keep\"; got 'minority'"):
        Constraints(MUST, contradictions="minority")  # type: ignore[arg-type]


# ---- what is refused ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", ["must_link", "cannot_link"])
@pytest.mark.parametrize(
    ("given_pairs", "message"),
    [
        ([(0, 1), (3, 3)], "joins row 3 with itself"),
        ([(0, 1), (2, -5)], "names the rows 2 and -5, and a row number cannot be negative"),
        ([(0, 1), (2, 2.5)], r"whole row numbers; number 1 holds \[2\.0, 2\.5\]"),
        ([(0, 1), (2, math.nan)], r"whole row numbers; number 1 holds \[2\.0, nan\]"),
        ([(0, math.inf)], r"number 0 holds \[0\.0, inf\]"),
        ([(0.0, 2.0**60)], "number 0 holds"),
        ([(0, 2**70)], "number 0 holds .*1180591620717411303424"),
        (np.array([(0, 2**63)], dtype=np.uint64), "number 0 holds .*9223372036854775808"),
        ([("u1", "u2")], "got values such as 'u1'. For links by id, read them with ids="),
        ([("10", "20")], "got values such as '10'"),
        ([(0, None)], "got values such as None"),
        ([(True, False)], "got values such as True"),
        ([(0, 1, 2)], r"shape \(m, 2\); got shape \(1, 3\)"),
        ([0, 1], r"got shape \(2,\)"),
        (5, r"got shape \(\)"),
        ([(0, 1), (2, 3, 4)], r"number 1 is \(2, 3, 4\)"),
        ([(0, 1), (2,)], r"number 1 is \(2,\)"),
        (pd.DataFrame({"a": ["x"], "b": ["y"]}), "got values such as 'x'"),
    ],
)
def test_bad_pairs_are_named(side: str, given_pairs: Any, message: str) -> None:
    with pytest.raises(ConstraintError, match=message) as info:
        Constraints(**{side: given_pairs})
    assert side.replace("_", "-") in str(info.value)
    assert isinstance(info.value, ValueError)


@pytest.mark.parametrize(
    ("given_pairs", "named"),
    [([(0, 1), (3, 3), (4, 4)], [(3, 3), (4, 4)]), ([(0, 1), (2, -5)], [(2, -5)])],
)
def test_the_error_carries_the_pairs(given_pairs: Any, named: Any) -> None:
    with pytest.raises(ConstraintError) as info:
        Constraints(given_pairs)
    assert info.value.pairs == named


@pytest.mark.parametrize("kind", ["must-link", "cannot-link"])
@pytest.mark.parametrize("weight", [0, -1, math.nan, math.inf, -math.inf])
def test_bad_weights_name_the_rows(kind: str, weight: float) -> None:
    side = kind.replace("-", "_")
    with pytest.raises(ConstraintError, match=rf"The {kind} of rows 7 and 4 has the weight {weight:g}; ") as info:
        Constraints(**{side: MUST, f"{side}_weight": [1, weight]})
    assert info.value.pairs == [(7, 4)]


@pytest.mark.parametrize(
    ("given_weights", "message"),
    [
        ([1, 2, 3], "There are 2 must-links but 3 weights"),
        ([[1], [2]], r"There are 2 must-links but weights of shape \(2, 1\)"),
        (["heavy", "light"], "weights of the must-links must be numbers"),
    ],
)
def test_weights_that_do_not_fit_their_pairs(given_weights: Any, message: str) -> None:
    with pytest.raises(ConstraintError, match=message):
        Constraints(MUST, must_link_weight=given_weights)


def test_one_is_written_without_a_plural() -> None:
    with pytest.raises(ConstraintError, match="There is 1 must-link but 2 weights; give one weight for each link"):
        Constraints([(0, 1)], must_link_weight=[1, 2])
    with pytest.raises(ConstraintError, match="per pair, 1 in all; got"):
        Constraints.from_pairs([(0, 1)], [1, 2])
    with pytest.raises(ConstraintError, match="1 must-link was requested, but the labels allow only 0"):
        Constraints.sample([0, 1], n_pairs=1)
    with pytest.raises(ConstraintError, match="but the table has 1 row, number 0"):
        Constraints([(0, 1)]).on(1)
    assert repr(Constraints().on(1)).endswith("on 1 row")


def test_weights_that_add_up_beyond_all_numbers() -> None:
    with pytest.raises(ConstraintError, match="rows 0 and 1 overflow") as info:
        Constraints([(0, 1), (0, 1)], must_link_weight=1e308)
    assert info.value.pairs == [(0, 1)]


@pytest.mark.parametrize(("weight", "told"), [(1e308, r"1e\+308"), (6e149, r"6e\+149")])
def test_weights_whose_sum_cannot_be_computed_with(weight: float, told: str) -> None:
    message = rf"the link of rows 0 and 1 has {told}, and the sum of all 2 may be at most 1e\+150; divide"
    with pytest.raises(ConstraintError, match=message) as info:
        Constraints([(0, 1)], [(1, 2)], must_link_weight=weight, cannot_link_weight=weight)
    assert info.value.pairs == [(0, 1)]
    one, other = Constraints([(0, 1)], must_link_weight=1e150), Constraints([(1, 2)], must_link_weight=1e149)
    with pytest.raises(ConstraintError, match="too large to be added"):
        one + other


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        (np.ones((3, 2)), r"got ndarray of shape \(3, 2\)"),
        ([[0, 1]], "got list of length 1"),
        ("x", "got 'x'"),
        (10.7, r"got 10\.7"),
        (True, "got True"),
        (-1, "n_samples must be at least 0; got -1"),
    ],
)
@pytest.mark.parametrize("method", ["on", "closure", "components", "adjacency", "signed", "check_rows"])
def test_what_is_not_a_number_of_rows_is_refused(method: str, bad: Any, told: str) -> None:
    for links in (Constraints(), Constraints(MUST)):
        with pytest.raises(ConstraintError, match=told):
            getattr(links, method)(bad)


@pytest.mark.parametrize("method", ["closure", "components", "adjacency", "signed"])
def test_an_entry_for_each_of_too_many_rows_is_refused(method: str) -> None:
    with pytest.raises(TooLargeError, match=r"2,000,000,000 rows .*links\.compact"):
        getattr(Constraints(MUST), method)(2_000_000_000)


def test_a_pair_kept_both_ways_is_not_refused_when_links_are_added() -> None:
    kept = Constraints([(0, 1)], [(0, 1)], contradictions="keep")
    assert kept + Constraints([(3, 4)]) == Constraints([(0, 1), (3, 4)], [(0, 1)], contradictions="keep")
    assert (Constraints([(0, 1)]) + kept).must_link_weight.tolist() == [2.0]
    with pytest.raises(ConstraintError, match="Rows 2 and 5 are given both as must-link and as cannot-link") as info:
        (kept + Constraints([(5, 2)])).add(Constraints(cannot_link=[(2, 5)]))
    assert info.value.pairs == [(2, 5)]


def test_a_pair_kept_both_ways() -> None:
    links = Constraints([(0, 1), (1, 2)], [(0, 1), (0, 2)], contradictions="keep")
    assert links == pickle.loads(pickle.dumps(links)) == links.on(3)[:].constraints
    assert [conflict.chain for conflict in links.conflicts()] == [(0, 1), (0, 1, 2)]
    assert str(links.conflicts()[0]) == "Rows 0 and 1 have a cannot-link, but must-links connect them: 0 - 1."
    assert links.signed(3).toarray().tolist() == [[0, 0, -1], [0, 0, 1], [-1, 1, 0]]
    graph = links.adjacency(3)
    assert graph.neighbors.tolist() == [1, 1, 2, 0, 0, 2, 0, 1]
    assert [graph.pairs[link].tolist() for link in graph.link[:3]] == [[0, 1], [0, 1], [0, 2]]
    assert links.satisfied([0, 0, 0]).tolist() == [True, True, False, False]


@pytest.mark.parametrize("n_samples", [9, 5])
def test_check_rows_names_the_pair(n_samples: int) -> None:
    with pytest.raises(ConstraintError, match=f"but the table has {n_samples} rows, numbered 0 to {n_samples - 1}"):
        Constraints(MUST, CANNOT).check_rows(n_samples)
    Constraints(MUST, CANNOT).check_rows(10)


# ---- large row numbers -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("large", [46_341, 2**16, 2**31, 2**32, 2**33 + 7, 2**62])
def test_large_row_numbers_do_not_run_into_each_other(large: int) -> None:
    """Keys like a * n + b would overflow here and make one pair of two, or hide a contradiction."""
    given_pairs = [(0, large), (1, large), (large, large + 1), (0, 1), (large - 1, large + 1)]
    links = Constraints(given_pairs)
    assert links.must_link.tolist() == sorted(map(list, given_pairs))
    with pytest.raises(ConstraintError, match=f"Rows {large} and {large + 1} are"):
        Constraints(given_pairs, [(large + 1, large)])
    assert len(Constraints(given_pairs, [(2, large), (large, large + 2)])) == 7
    assert links.constrained_rows().tolist() == [0, 1, large - 1, large, large + 1]


@pytest.mark.parametrize(
    ("a", "b"), [((0, 2**32), (1, 0)), ((2**32, 2**33), (2**33, 2**32 + 1)), ((3, 2**63 - 1), (2, 5))]
)
def test_pairs_whose_packed_keys_would_be_equal(a: tuple[int, int], b: tuple[int, int]) -> None:
    assert len(Constraints([a, b])) == 2
    assert len(Constraints([a], [b])) == 2
