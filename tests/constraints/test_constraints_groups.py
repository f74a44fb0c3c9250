"""Cannot-links by groups without a list of pairs, compared with the list."""

from __future__ import annotations

import pickle
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mustlink.constraints._constraints as value
import mustlink.constraints._groups as grouping
from mustlink import LCVQE, Constraints, COPKMeans, PCKMeans
from mustlink.constraints._groups import count_pairs
from mustlink.errors import ConstraintError, TooLargeError
from mustlink.metrics import violation_rate
from reference.random_links import cases


@st.composite
def grouped_links(draw: st.DrawFn) -> tuple[int, list[list[int]], Constraints, Constraints]:
    """Draw links and up to three columns of groups; return them with the groups, and with all pairs listed by hand."""
    case = draw(cases(9))
    n = case.n_samples
    columns = draw(st.lists(st.lists(st.integers(-1, 2), min_size=n, max_size=n), max_size=3))
    weights = [draw(st.sampled_from([1.0, 0.5])) for _ in columns]
    links = listed = Constraints(case.must_link, case.cannot_link, cannot_link_weight=2.0)
    for column, weight in zip(columns, weights, strict=True):
        pairs = [(a, b) for a, b in combinations(range(n), 2) if column[a] == column[b] >= 0]
        links = links.add(Constraints.from_groups(column, weight=weight), contradictions="keep")
        listed = listed.add(Constraints(cannot_link=pairs, cannot_link_weight=weight), contradictions="keep")
    return n, columns, links, listed


@given(drawn=grouped_links())
@settings(max_examples=200)
def test_groups_are_the_list_of_their_pairs(drawn: tuple) -> None:
    _, _, links, listed = drawn
    assert links == listed
    assert hash(links) == hash(listed)
    assert len(links) == len(listed)
    assert links.n_cannot_links == len(listed.cannot_link)
    assert links.expand() == listed
    assert not links.expand().cannot_link_groups
    np.testing.assert_array_equal(links.pairs, listed.pairs)
    np.testing.assert_array_equal(links.weight, listed.weight)
    np.testing.assert_array_equal(links.constrained_rows(), listed.constrained_rows())
    assert links.is_empty == listed.is_empty
    assert pickle.loads(pickle.dumps(links)) == links
    rows, local = links.compact()
    assert local == listed.compact()[1]
    np.testing.assert_array_equal(rows, listed.compact()[0])
    assert [c.cannot_link for c in links.conflicts()] == [c.cannot_link for c in listed.conflicts()]


@given(drawn=grouped_links(), max_compared=st.sampled_from([1, 10, 10**6]))
@settings(max_examples=100)
def test_pairs_are_counted_by_kinds_of_rows(drawn: tuple, max_compared: int) -> None:
    _, _, links, listed = drawn
    groups = links.cannot_link_groups
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouping, "MAX_CROSSED", 0)
        patch.setattr(grouping, "MAX_COMPARED", max_compared)
        inside = np.unique(np.concatenate([np.empty((0, 2), dtype=int), *(one.pairs() for one in groups)]), axis=0)
        assert not groups or count_pairs(groups) == len(inside)
        assert Constraints().add(links, contradictions="keep").n_cannot_links == len(listed.cannot_link)


def test_many_groupings_are_counted_in_little_time(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.RandomState(0)
    groups = [Constraints.from_groups(rng.randint(2, size=300)).cannot_link_groups[0] for _ in range(30)]
    links = Constraints().with_groups(groups)
    assert links.n_cannot_links == len(np.unique(np.concatenate([one.pairs() for one in groups]), axis=0))
    # Counted once.
    monkeypatch.delattr(value, "count_pairs")
    assert len(links) == links.n_cannot_links


@given(drawn=grouped_links(), other=grouped_links())
@settings(max_examples=300)
def test_equality_without_the_list_of_pairs(drawn: tuple, other: tuple) -> None:
    _, _, links, listed = drawn
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(value, "MAX_LISTED_PAIRS", -1)
        assert links == listed
        assert (links == other[2]) == (listed == other[3])
        doubled = links.with_groups([replace(one, weight=2 * one.weight) for one in links.cannot_link_groups])
        assert (links == doubled) == (not links.cannot_link_groups)


def test_equality_of_large_groups() -> None:
    column = [0] * 4_000 + [1]
    first, second = Constraints.from_groups(column), Constraints.from_groups(column[::-1])
    assert len(first) == len(second) > 5_000_000
    assert first != second
    halves = [Constraints.from_groups([0] * 4_000, weight=weight) for weight in (0.25, 0.75)]
    assert halves[0] + halves[1] == first
    assert Constraints(cannot_link=[(0, 1)]) + first != Constraints(cannot_link=[(0, 2)]) + first


@given(drawn=grouped_links(), data=st.data())
@settings(max_examples=200)
def test_agreement_with_labels(drawn: tuple, data: st.DataObject) -> None:
    n, _, links, listed = drawn
    labels = data.draw(st.lists(st.integers(-1, 2), min_size=n, max_size=n))
    assert links.violation_rate(labels) == pytest.approx(listed.violation_rate(labels))
    assert links.violations(labels) == listed.violations(labels)
    np.testing.assert_array_equal(links.satisfied(labels), listed.satisfied(labels))
    assert violation_rate(labels, links.on(n)) == links.violation_rate(labels)


@given(drawn=grouped_links(), data=st.data())
@settings(max_examples=200)
def test_rows_of_a_fold(drawn: tuple, data: st.DataObject) -> None:
    n, _, links, listed = drawn
    rows = data.draw(st.lists(st.integers(0, n - 1), max_size=n))
    assert links.on(n)[rows] == listed.on(n)[rows]


@given(drawn=grouped_links(), n_clusters=st.integers(1, 4))
@settings(max_examples=200, deadline=None)
def test_feasibility(drawn: tuple, n_clusters: int) -> None:
    n, _, links, listed = drawn
    found = links.feasible(n_clusters, n)
    assert found.answer == listed.feasible(n_clusters, n).answer
    if found:
        labels = found.colors[links.components(n)]
        assert links.violations(labels).is_empty
        assert set(labels) == set(range(n_clusters))


@given(drawn=grouped_links(), contradictions=st.sampled_from(["keep", "majority"]), column=st.lists(st.integers(-1, 1)))
@settings(max_examples=100)
def test_sums(drawn: tuple, contradictions: str, column: list[int]) -> None:
    n_samples, _, links, listed = drawn
    more = Constraints.from_groups((column + [-1] * n_samples)[:n_samples])
    expected = listed.add(more.expand(), contradictions=contradictions)
    assert links.add(more, contradictions=contradictions) == expected
    assert more.add(links, contradictions=contradictions) == expected


def test_a_must_link_inside_a_group_is_a_contradiction() -> None:
    with pytest.raises(ConstraintError, match="Rows 0 and 2 are given both"):
        Constraints.from_groups(["a", "b", "a"]) + Constraints(must_link=[(0, 2)])


@pytest.mark.parametrize(
    "column",
    [
        ["a", None, "b", "a", "b", ""],
        np.array([4, -1, 2, 4, 2, -1]),
        [4.0, np.nan, 2.0, 4.0, 2.0, -1],
        pd.Series(["a", pd.NA, "b", "a", "b", "nan"]),
        pd.Series(["a", None, "b", "a", "b", None], dtype="category"),
        np.ma.masked_equal([4, 9, 2, 4, 2, 9], 9),
    ],
)
@pytest.mark.parametrize("link", ["cannot", "must"])
def test_forms_of_a_column(column: object, link: str) -> None:
    links = Constraints.from_groups(column, link)
    assert links.pairs.tolist() == [[0, 3], [2, 4]]
    assert set(links.sign) == {1 if link == "must" else -1}


def test_missing_markers_and_no_groups() -> None:
    assert Constraints.from_groups(["a", "?", "a", "?"], missing="?").pairs.tolist() == [[0, 2]]
    assert Constraints.from_groups(["a", "b"]) == Constraints()
    assert Constraints.from_groups([], "must").is_empty


def test_must_groups_are_chains_with_the_closure_of_all_pairs() -> None:
    column = np.random.RandomState(0).randint(5, size=40)
    links = Constraints.from_groups(column, "must")
    assert len(links) == 35
    component = links.components(40)
    assert ((component[:, None] == component) == (column[:, None] == column)).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"link": "never"}, 'link must be "cannot", "must" or "across"'),
        ({"weight": -1.0}, "positive and finite"),
        ({"weight": [1.0]}, "one weight"),
    ],
)
def test_bad_options(options: dict, message: str) -> None:
    with pytest.raises(ConstraintError, match=message):
        Constraints.from_groups([1, 1], **options)


def test_words() -> None:
    links = Constraints.from_groups(["north", "north", "north", "south", "south"])
    assert repr(links) == "Constraints(0 must-links, 4 cannot-links in 2 groups)"
    mixed = links + Constraints(cannot_link=[(0, 4)])
    assert repr(mixed) == "Constraints(0 must-links, 5 cannot-links, some in 2 groups)"
    assert "5 rows in 2 groups of up to 3 rows" in links._repr_html_()
    with pytest.raises(ConstraintError, match=r"The group south has the row 4, but the table has 4 rows"):
        Constraints().with_groups(links.cannot_link_groups).check_rows(4)
    found = links.feasible(2, 5)
    assert found.answer is False
    assert found.min_clusters == 3
    assert (
        found.reason == "The group north has 3 rows, no two of which may be in one cluster, and there are 2 clusters."
    )


def test_a_million_rows() -> None:
    column = np.repeat(np.arange(1000), 1000)
    links = Constraints.from_groups(column)
    assert len(links) == 499_500_000
    labels = np.tile(np.arange(1000), 1000)
    labels[1] = 0
    assert links.violations(labels).cannot_link.tolist() == [[0, 1]]
    assert links.violation_rate(labels) == 1 / 499_500_000
    assert not links.feasible(999, 1_000_000)
    assert links.feasible(1000, 1_000_000).colors.max() == 999
    assert len(links.on(1_000_000)[::10].constraints) == 1000 * 4950
    assert pickle.loads(pickle.dumps(links)) == links
    for read in (lambda: links.pairs, lambda: LCVQE(2).fit(np.zeros((1_000_000, 1)), constraints=links)):
        with pytest.raises(TooLargeError, match=r"1,000,000 rows in 1,000 groups .* 499,500,000 cannot-links, .*COPK"):
            read()


def test_expand_refuses_by_the_given_number() -> None:
    links = Constraints.from_groups([1, 1, 1])
    assert len(links.expand(max_pairs=3).pairs) == 3
    with pytest.raises(TooLargeError, match="at most 2 are listed"):
        links.expand(max_pairs=2)


def test_a_clusterer_keeps_groups_apart() -> None:
    rng = np.random.RandomState(0)
    X, column = rng.normal(size=(60, 2)), np.arange(60) // 4
    links = Constraints.from_groups(column)
    model = COPKMeans(4, random_state=0).fit(X, constraints=links)
    assert (np.sort(model.labels_.reshape(-1, 4), axis=1) == np.arange(4)).all()


@pytest.mark.parametrize("link", ["cannot", "must"])
@pytest.mark.parametrize("n_rows", [2, 5])
def test_a_column_of_another_length_than_the_table_is_refused(link, n_rows):
    links = Constraints.from_groups(["a", "a", "b", None], link)
    message = rf"The column of groups has 4 entries, but the table has {n_rows} rows; give one group per row"
    X = np.arange(n_rows, dtype=float).reshape(-1, 1)
    for known in (links, links + Constraints(), pickle.loads(pickle.dumps(Constraints() + links))):
        with pytest.raises(ConstraintError, match=message):
            PCKMeans(2).fit(X, constraints=known)
        known.check_rows(4)
    # The rows of a fold are other rows.
    assert PCKMeans(2, random_state=0).fit(X[:2], constraints=links.on(4)[[0, 3]]).labels_.shape == (2,)


def test_columns_of_different_lengths_cannot_be_added():
    with pytest.raises(ConstraintError, match="The columns of groups have 4 and 3 entries"):
        Constraints.from_groups([1, 1, 2, 2]) + Constraints.from_groups([1, 1, 2], "must")


@given(column=st.lists(st.sampled_from(["a", "b", "c", None]), max_size=12), seed=st.integers(0, 100))
@settings(deadline=None, max_examples=60)
def test_links_across_groups_are_all_pairs_of_different_entries(column: list[str | None], seed: int) -> None:
    known = [row for row, entry in enumerate(column) if entry is not None]
    expected = [[i, j] for i in known for j in known if i < j and column[i] != column[j]]
    links = Constraints.from_groups(column, "across", weight=2.0)
    assert sorted(links.cannot_link.tolist()) == expected
    assert (links.cannot_link_weight == 2.0).all()
    assert not len(links.must_link)
    if len(expected) > 1:
        some = Constraints.from_groups(column, "across", n_pairs=len(expected) - 1, random_state=seed)
        assert len(some) == len(expected) - 1
        assert all(pair in expected for pair in some.cannot_link.tolist())


def test_links_across_groups_are_drawn_evenly_and_refused_if_too_many() -> None:
    column = np.repeat([0, 1], [1, 400_000])
    few = Constraints.from_groups(column, "across", n_pairs=50, random_state=0)
    assert few == Constraints.from_groups(column, "across", n_pairs=50, random_state=0)
    assert (few.cannot_link[:, 0] == 0).all()
    assert 100_000 < few.cannot_link[:, 1].mean() < 300_000
    with pytest.raises(TooLargeError, match=r"10,000 rows in 2 groups are 25,000,000 cannot-links.*n_pairs"):
        Constraints.from_groups(np.arange(10_000) % 2, "across")
    with pytest.raises(ConstraintError, match="from 1 to 4"):
        Constraints.from_groups([0, 0, 1, 1], "across", n_pairs=5)
    with pytest.raises(ConstraintError, match="n_pairs is the number"):
        Constraints.from_groups([0, 0, 1, 1], n_pairs=5)
    with pytest.raises(ConstraintError, match="table has 3 rows"):
        Constraints.from_groups([0, 0, 1, 1], "across").closure(3)
