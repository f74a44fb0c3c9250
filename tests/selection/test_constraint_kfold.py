"""Folds of links: no leaks, every link held out once, and balanced sizes."""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mustlink import Constraints
from mustlink.errors import ConstraintError
from mustlink.selection import ConstraintKFold

Pair = tuple[int, int]


@st.composite
def link_sets(draw: st.DrawFn) -> Constraints:
    """Links between few rows, with many components, repeated edges and conflicts."""
    n = draw(st.integers(4, 14))
    pairs = draw(st.lists(st.sampled_from(list(combinations(range(n), 2))), unique=True, min_size=2, max_size=24))
    is_must = draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs)))
    weights = draw(st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=len(pairs), max_size=len(pairs)))
    must = [i for i, kind in enumerate(is_must) if kind]
    cannot = [i for i, kind in enumerate(is_must) if not kind]
    return Constraints(
        [pairs[i] for i in must],
        [pairs[i] for i in cannot],
        must_link_weight=[weights[i] for i in must],
        cannot_link_weight=[weights[i] for i in cannot],
    )


def pair_set(pairs: Iterable[Iterable[int]]) -> set[Pair]:
    return {(int(a), int(b)) for a, b in pairs}


def saturated(links: Constraints) -> tuple[set[Pair], set[Pair]]:
    """All entailed pairs, by applying the two rules until nothing changes."""
    together = {p for a, b in links.must_link.tolist() for p in ((a, b), (b, a))}
    apart = {p for a, b in links.cannot_link.tolist() for p in ((a, b), (b, a))}
    while True:
        new_together = {(a, d) for a, b in together for c, d in together if b == c and a != d} - together
        new_apart = {(a, d) for a, b in together for c, d in apart if b == c}
        new_apart = (new_apart | {(b, a) for a, b in new_apart}) - apart
        if not new_together and not new_apart:
            return together, apart
        together |= new_together
        apart |= new_apart


def test_entailment_by_rules() -> None:
    together, apart = saturated(Constraints(must_link=[(0, 1), (1, 2)], cannot_link=[(2, 3)]))
    assert {p for p in together if p[0] < p[1]} == {(0, 1), (1, 2), (0, 2)}
    assert {p for p in apart if p[0] < p[1]} == {(0, 3), (1, 3), (2, 3)}


def n_groups(links: Constraints) -> int:
    """Groups by their definition, one link after the other."""
    together, _ = saturated(links)

    def component(row: int) -> frozenset[int]:
        return frozenset([row, *(b for a, b in together if a == row)])

    return len(
        {frozenset([component(a)]) for a, b in links.must_link.tolist()}
        | {frozenset([component(a), component(b)]) for a, b in links.cannot_link.tolist()}
    )


@given(links=link_sets(), n_splits=st.integers(2, 5), seed=st.none() | st.integers(0, 9))
@settings(deadline=None, max_examples=120)
def test_a_held_out_pair_is_never_entailed_by_the_training_pairs(
    links: Constraints, n_splits: int, seed: int | None
) -> None:
    assume(n_groups(links) >= n_splits)
    for train, test in ConstraintKFold(n_splits, shuffle=seed is not None, random_state=seed).split(links):
        together, apart = saturated(train)
        held_out = pair_set(test.must_link) | pair_set(test.cannot_link)
        assert not held_out & together
        assert not held_out & apart


@given(links=link_sets(), n_splits=st.integers(2, 5), seed=st.integers(0, 9))
@settings(deadline=None, max_examples=60)
def test_every_link_is_held_out_once_with_its_weight(links: Constraints, n_splits: int, seed: int) -> None:
    assume(n_groups(links) >= n_splits)
    folds = list(ConstraintKFold(n_splits, random_state=seed).split(links))
    assert len(folds) == n_splits
    union = Constraints()
    for train, test in folds:
        assert len(test) > 0
        assert len(train) > 0
        assert train + test == links
        union += test
    assert union == links


@given(links=link_sets(), n_splits=st.integers(2, 6))
@settings(deadline=None, max_examples=60)
def test_too_few_groups_raise(links: Constraints, n_splits: int) -> None:
    groups = n_groups(links)
    splitter = ConstraintKFold(n_splits)
    if groups < n_splits:
        words = rf"forms? {groups} groups? .* too few for {n_splits} folds" if groups else "There are no links"
        with pytest.raises(ConstraintError, match=words):
            next(splitter.split(links))
    else:
        assert len(list(splitter.split(links))) == n_splits


def test_folds_of_independent_links_differ_by_one() -> None:
    rows = np.arange(200).reshape(-1, 2)
    links = Constraints(rows[:62], rows[62:])
    for shuffle in (True, False):
        folds = list(ConstraintKFold(5, shuffle=shuffle).split(links))
        must, cannot = zip(*[(len(test.must_link), len(test.cannot_link)) for _, test in folds], strict=True)
        assert sorted(must) == [12, 12, 12, 13, 13]
        assert sorted(cannot) == [7, 7, 8, 8, 8]
        assert {len(test) for _, test in folds} == {20}


@given(seed=st.integers(0, 200), n_splits=st.integers(2, 5))
@settings(deadline=None, max_examples=30)
def test_folds_differ_by_no_more_than_the_largest_group_of_each_kind(seed: int, n_splits: int) -> None:
    truth = np.random.default_rng(seed).integers(40, size=120)
    links = Constraints.sample(truth, n_pairs=80, random_state=seed)
    component = links.components(120)
    largest_must = np.bincount(component[links.must_link[:, 0]]).max()
    ends = np.sort(component[links.cannot_link], axis=1)
    largest_cannot = np.unique(ends, axis=0, return_counts=True)[1].max()
    tests = [test for _, test in ConstraintKFold(n_splits, random_state=seed).split(links)]
    assert np.ptp([len(test.must_link) for test in tests]) <= largest_must
    assert np.ptp([len(test.cannot_link) for test in tests]) <= largest_cannot


def test_a_cannot_link_may_be_in_another_fold_than_its_components() -> None:
    links = Constraints(must_link=[(0, 1), (2, 3)], cannot_link=[(0, 2)])
    folds = list(ConstraintKFold(3, shuffle=False).split(links))
    assert [(len(test.must_link), len(test.cannot_link)) for _, test in folds] == [(1, 0), (1, 0), (0, 1)]


def test_a_cannot_link_inside_a_component_stays_with_it() -> None:
    links = Constraints(must_link=[(0, 1), (1, 2), (5, 6)], cannot_link=[(0, 2)])
    folds = [test for _, test in ConstraintKFold(2, shuffle=False).split(links)]
    assert folds[0] == Constraints(must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)])
    assert folds[1] == Constraints(must_link=[(5, 6)])


def test_seed_and_shuffle() -> None:
    rows = np.arange(80).reshape(-1, 2)
    links = Constraints(rows[:20], rows[20:])

    def tests(splitter: ConstraintKFold) -> list[Constraints]:
        return [test for _, test in splitter.split(links)]

    assert tests(ConstraintKFold(random_state=3)) == tests(ConstraintKFold(random_state=3))
    assert tests(ConstraintKFold(random_state=3)) != tests(ConstraintKFold(random_state=4))
    assert tests(ConstraintKFold(shuffle=False)) == tests(ConstraintKFold(shuffle=False))
    stream = np.random.RandomState(0)
    assert tests(ConstraintKFold(random_state=stream)) != tests(ConstraintKFold(random_state=stream))


def test_aligned_constraints_are_split_the_same_way() -> None:
    links = Constraints(must_link=[(0, 1), (2, 3)], cannot_link=[(4, 5), (6, 7)])
    splitter = ConstraintKFold(2, random_state=0)
    assert list(splitter.split(links.on(9))) == list(splitter.split(links)) == list(splitter.split(links, 9))


def test_many_links_are_split_without_quadratic_memory() -> None:
    rows = np.arange(400_000).reshape(-1, 2)
    chain = np.column_stack([np.arange(400_000, 500_000), np.arange(400_001, 500_001)])
    tests = [test for _, test in ConstraintKFold(2, random_state=0).split(Constraints(chain, rows))]
    assert sorted(len(test.must_link) for test in tests) == [0, 100_000]
    assert [len(test.cannot_link) for test in tests] == [100_000, 100_000]


def test_get_n_splits_repr_and_pickle() -> None:
    splitter = ConstraintKFold(3, random_state=7)
    assert splitter.get_n_splits() == splitter.get_n_splits(Constraints(), 9) == 3
    assert repr(splitter) == "ConstraintKFold(n_splits=3, shuffle=True, random_state=7)"
    assert repr(pickle.loads(pickle.dumps(splitter))) == repr(splitter)


@pytest.mark.parametrize("n_splits", [1, 0, -2, 2.0, "3", None])
def test_n_splits_must_be_a_number_of_folds(n_splits: object) -> None:
    with pytest.raises(ValueError, match=r"n_splits must be a whole number of at least 2; got"):
        ConstraintKFold(n_splits)  # type: ignore[arg-type]


def test_a_seed_without_shuffle_is_refused() -> None:
    with pytest.raises(ValueError, match="random_state has no effect without shuffle"):
        ConstraintKFold(shuffle=False, random_state=0)


def test_missing_rows_and_lists_are_refused() -> None:
    with pytest.raises(ConstraintError, match="rows 0 and 9, but the table has 9 rows"):
        next(ConstraintKFold(2).split(Constraints(must_link=[(0, 9)]), 9))
    with pytest.raises(ConstraintError, match="aligned with 12 rows, but the table has 9"):
        next(ConstraintKFold(2).split(Constraints(must_link=[(0, 9)]).on(12), 9))
    with pytest.raises(TypeError, match="got list"):
        next(ConstraintKFold(2).split([(0, 1)]))  # type: ignore[arg-type]
