"""What is shown of a clustering, compared with counting and averaging by hand."""

from __future__ import annotations

import tracemalloc
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from mustlink import Constraints
from mustlink.errors import ConstraintError
from mustlink.report import headline, make_picture, summarize, write_report
from mustlink.tables import Feature


def random_case(seed, n_rows=30, n_features=4, n_clusters=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) * rng.uniform(0.1, 5, size=n_features)
    return X, rng.integers(-1, n_clusters, size=n_rows)


@given(st.integers(0, 10_000), st.sampled_from(["dense", "sparse", "float32"]))
@settings(deadline=None, max_examples=40)
def test_clusters_by_hand(seed, form):
    X, labels = random_case(seed)
    given_form = {"dense": X, "sparse": sparse.csr_matrix(X), "float32": X.astype(np.float32)}[form]
    summary = summarize(given_form, labels)
    assert [cluster.label for cluster in summary.clusters] == sorted(set(labels.tolist()) - {-1})
    assert summary.n_noise == (labels == -1).sum()
    for cluster in summary.clusters:
        rows = np.flatnonzero(labels == cluster.label)
        center = X[rows].mean(axis=0)
        assert cluster.size == rows.size
        assert cluster.share == pytest.approx(rows.size / len(X))
        distances = {row: np.linalg.norm(X[row] - center) for row in rows}
        assert distances[cluster.nearest_row] == pytest.approx(min(distances.values()), abs=1e-6)
        difference = (center - X.mean(axis=0)) / X.std(axis=0)
        strongest = sorted((d for d in np.abs(difference) if d >= 0.3), reverse=True)[:3]
        np.testing.assert_allclose([abs(trait.difference) for trait in cluster.traits], strongest, rtol=1e-4)
        for trait in cluster.traits:
            column = int(trait.feature[1:])
            assert trait.inside == pytest.approx(center[column], rel=1e-4, abs=1e-5)
            assert trait.overall == pytest.approx(X[:, column].mean(), rel=1e-4, abs=1e-5)


def test_traits_are_in_the_units_of_the_table():
    raw = np.array([10.0, 10, 10, 50])
    X = np.column_stack([(raw - 20) / 17.320508, [1, 0, 0, 0], [0, 1, 1, 1]])
    features = [Feature("eur", center=20, scale=17.320508), Feature("plan", "pro"), Feature("plan", "basic")]
    first, second = summarize(X, [0, 0, 0, 1], features=features).clusters
    assert [str(trait) for trait in first.traits] == ["eur low (-0.6 sd)", "plan = pro 33% (25% overall)"][:1]
    assert [trait.feature for trait in second.traits] == ["eur", "plan = basic"]
    assert second.traits[0].inside == pytest.approx(50)
    assert second.traits[0].overall == pytest.approx(20)
    assert str(second.traits[1]) == "plan = basic 100% (75% overall)"


def test_a_category_that_is_rare_in_a_cluster_is_not_listed():
    X = np.column_stack([[1.0, 1, 1, 1, 0, 0, 0, 0], [0.0, 0, 0, 0, 1, 1, 1, 1]])
    features = [Feature("plan", "pro"), Feature("plan", "basic")]
    clusters = summarize(X, [0] * 4 + [1] * 4, features=features).clusters
    assert [[trait.feature for trait in cluster.traits] for cluster in clusters] == [["plan = pro"], ["plan = basic"]]


@given(st.integers(0, 10_000))
@settings(deadline=None, max_examples=40)
def test_links_and_known_labels_by_hand(seed):
    rng = np.random.default_rng(seed)
    X, labels = random_case(seed, n_rows=14)
    pairs = list(combinations(range(14), 2))
    chosen = rng.choice(len(pairs), size=20, replace=False)
    must = [pairs[i] for i in chosen[:10]]
    cannot = [pairs[i] for i in chosen[10:]]
    known = rng.choice(["", "a", "b"], size=14).tolist()
    summary = summarize(X, labels, Constraints(must, cannot), known_labels=known)

    def together(i, j):
        return labels[i] == labels[j] and labels[i] != -1

    broken = {("must", p) for p in must if not together(*p)} | {("cannot", p) for p in cannot if together(*p)}
    assert {(link.kind, link.rows) for link in summary.broken} == broken
    assert (summary.n_must, summary.n_cannot, summary.n_broken) == (10, 10, len(broken))
    assert summary.n_must_kept == sum(together(*pair) for pair in must)
    right = [together(i, j) == (known[i] == known[j]) for i, j in combinations(range(14), 2) if known[i] and known[j]]
    assert summary.n_known == sum(map(bool, known))
    if right:
        assert summary.known_kept == pytest.approx(np.mean(right))
    else:
        assert np.isnan(summary.known_kept)
    for cluster in summary.clusters:
        inside = [label for label, place in zip(known, labels, strict=True) if place == cluster.label]
        expected = {label: inside.count(label) for label in "ab"}
        assert dict(cluster.known) == {label: count for label, count in expected.items() if count}


def test_conflicts_are_named_by_row_name():
    links = Constraints(must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)])
    summary = summarize(np.eye(3), [0, 0, 0], links, row_names=["ann", "bob", "cy"])
    assert summary.n_conflicts == 1
    assert "ann - bob - cy" in summary.conflicts[0]


def test_very_many_broken_links_are_counted_and_cut():
    n = 500
    links = Constraints(must_link=[(row, row + 1) for row in range(n - 1)])
    summary = summarize(np.arange(n)[:, np.newaxis], np.arange(n) % 2, links)
    assert summary.n_broken == n - 1
    assert len(summary.broken) == 200


def test_aligned_constraints_are_taken():
    links = Constraints(must_link=[(0, 1)])
    known = ["a", "a", "b"]
    aligned, plain = (summarize(np.eye(3), [0, 0, 1], form, known_labels=known) for form in (links.on(3), links))
    assert aligned == plain
    assert aligned.n_links == 1


def test_names_cannot_act_on_a_terminal():
    hostile = "\x1b[2J\x07\u202eevil" + "x" * 200
    summary = summarize(
        np.eye(3), [0, 0, 1], Constraints(must_link=[(0, 2)]), row_names=[hostile] * 3, known_labels=[hostile] * 3
    )
    shown = [summary.clusters[0].nearest_name, *summary.broken[0].names, summary.clusters[0].known[0][0]]
    for text in shown:
        assert text.isprintable()
        assert len(text) <= 60
        assert text.startswith("\\x1b[2J")


@pytest.mark.parametrize(
    ("labels", "links", "text"),
    [
        ([0, 0, 1], None, "3 rows in 2 clusters."),
        ([0, -1, 1], None, "3 rows in 2 clusters; 1 row is in no cluster."),
        ([0, 0, 0], Constraints(must_link=[(0, 1)]), "3 rows in 1 cluster. The link is kept."),
        ([0, 0, 0], Constraints(must_link=[(0, 1), (1, 2)]), "3 rows in 1 cluster. All 2 links kept."),
        ([0, 0, 1], Constraints(must_link=[(0, 2)]), "3 rows in 2 clusters. 0 of 1 link kept, 1 broken."),
    ],
)
def test_headline(labels, links, text):
    assert headline(summarize(np.eye(3), labels, links)) == text


def test_broken_link_to_a_row_without_cluster():
    summary = summarize(np.eye(2), [0, -1], Constraints(must_link=[(0, 1)]))
    assert str(summary.broken[0]) == "0 and 1 must be together, and are in cluster 0 and in no cluster"


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((np.eye(3), [0, 1]), {}, ValueError, "One label per row is expected"),
        ((np.ones(3), [0, 1, 1]), {}, ValueError, "One label per row is expected"),
        ((np.eye(3), [0, 1, 1]), {"features": ["a"]}, ValueError, "has 3 columns, but 1 features are named"),
        ((np.eye(3), [0, 1, 1], Constraints(must_link=[(0, 9)])), {}, ConstraintError, "0 and 9"),
        (
            (np.eye(3), [0, 1, 1]),
            {"row_names": ["a", "b"]},
            ValueError,
            "the table has 3 rows, and row_names has 2",
        ),
        (
            (np.eye(3), [0, 1, 1]),
            {"known_labels": ["a"]},
            ValueError,
            "the table has 3 rows, and known_labels has 1",
        ),
    ],
)
def test_what_does_not_fit_together_is_refused(arguments, options, error, message):
    with pytest.raises(error, match=message):
        summarize(*arguments, **options)


def test_values_that_cannot_be_summarized_are_refused(tmp_path):
    with pytest.raises(ValueError, match="Input X contains NaN"):
        write_report(tmp_path / "r.html", [[0.0], [np.nan]], [0, 1])
    with pytest.raises(ValueError, match=r"Labels are whole numbers, .* such as a; names of clusters"):
        write_report(tmp_path / "r.html", [[0.0], [1.0]], ["a", "b"])
    with pytest.raises(ValueError, match=r"Labels are whole numbers, .* such as 0\.5"):
        summarize([[0.0], [1.0]], [0.5, 1])
    assert not (tmp_path / "r.html").exists()


@pytest.mark.parametrize("unknown", [-1, None, float("nan"), "", "-1"])
def test_every_sign_of_an_unknown_label_is_the_same(unknown):
    known = ["7", "8", unknown] if isinstance(unknown, str) else [7, 8, unknown]
    summary = summarize([[0.0], [1.0], [9.0]], [0, 0, 1], known_labels=known)
    assert (summary.n_known, summary.known_kept) == (2, 0.0)
    assert [cluster.known for cluster in summary.clusters] == [(("7", 1), ("8", 1)), ()]


def test_few_pairs_of_a_large_group_are_listed():
    n_rows = 1_500
    X, labels = random_case(0, n_rows)
    links = Constraints.from_groups([1] * n_rows)
    n_broken = len(links.violations(labels))
    tracemalloc.start()
    summary, picture = summarize(X, labels, links), make_picture(X, labels, links)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(summary.broken) > 100
    assert summary.n_cannot - summary.n_cannot_kept == n_broken
    assert all(labels[one.rows[0]] == labels[one.rows[1]] for one in summary.broken)
    assert (len(picture.links), picture.n_links) == (1_500, len(links))
    assert not picture.is_kept.any()
    # The list of all pairs alone takes 27 MB, and four times as much to make.
    assert peak < 25e6
