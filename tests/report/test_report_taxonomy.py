"""What is shown of categories of documents, and the page of it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from mustlink.report import rank_documents, render_taxonomy, summarize_taxonomy
from mustlink.text import TaxonomyClusterer

# Terms: three of music, three of sport, and one of both.
MUSIC, SPORT = [3, 2, 1, 0, 0, 0, 1], [0, 0, 0, 3, 2, 1, 1]


def fit(X, y, **options):
    given = {"min_df": 1, "words_init": 4, "words_final": 4, "min_cluster_size": 2, "gini_drop": 0} | options
    return TaxonomyClusterer(**given).fit(np.array(X), y)


@pytest.fixture
def moved():
    """Two categories, a document given with the wrong one, one without a category, and one in none."""
    X = [MUSIC, MUSIC, MUSIC, SPORT, SPORT, SPORT, SPORT, MUSIC, [0] * 6 + [0]]
    y = ["music", "music", "music", "sport", "sport", "sport", "music", None, "sport"]
    return fit(X, y), X, y


def test_counts_add_up(moved):
    found = summarize_taxonomy(*moved)
    assert (found.n_documents, found.n_given, found.n_none, found.n_moved, found.n_given_none) == (9, 8, 1, 1, 1)
    assert sum(category.size for category in found.categories) + found.n_none == 9
    assert [(one.name, one.size, one.n_stayed, one.n_moved, one.n_none) for one in found.given] == [
        ("music", 4, 3, 1, 0),
        ("sport", 4, 3, 0, 1),
    ]
    assert sum(sum(row.counts) for row in found.flows) == 9
    assert found.flow_names == ("music", "sport", "none")
    assert {row.name: row.counts for row in found.flows} == {
        "music": (3, 1, 0),
        "sport": (0, 3, 1),
        "": (1, 0, 0),
    }
    assert all(sum(row.shares) == pytest.approx(1) for row in found.flows)
    assert found.headline == "9 documents in 2 categories; 1 is in none."
    assert found.about_given == (
        "2 given categories: 2 kept. Of the 8 documents with a given category, 1 moved to another one, and 1 is in "
        "none."
    )


def test_categories_have_terms_origins_and_documents(moved):
    terms = [f"word{column}" for column in range(7)]
    found = summarize_taxonomy(*moved, terms=terms, names=list("abcdefghi"), titles=[f"title {n}" for n in range(9)])
    music, sport = found.categories
    assert music.terms[:2] == ("word0", "word1")
    assert (music.origins, music.n_origins, music.n_ungiven) == ((("music", 3),), 1, 1)
    assert sport.origins == (("sport", 3), ("music", 1))
    assert music.share == pytest.approx(4 / 9)
    assert [view.name for view in music.typical] == ["a", "b", "c", "h"]
    assert music.typical[0].title == "title 0"
    assert music.typical[0].runner_up == "sport"
    (one,) = found.moved
    assert str(one) == "g, music -> sport: title 6"
    assert one.words[:2] == ("word3", "word4")
    assert one.given_words == ("word6",)


@pytest.mark.parametrize(
    ("options", "weigh"),
    [
        ({}, np.log1p),
        ({"use_idf": True}, lambda X: np.log1p(X) / np.count_nonzero(X, axis=0)),
        ({"damping": "binary"}, np.sign),
        ({"damp_queries": False}, lambda X: X),
    ],
)
def test_words_are_weighted_as_the_clusterer_does(options, weigh):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        rates = np.repeat([[3, 2, 1, 1, 0.2, 0.2, 0.2, 2], [0.2, 0.2, 1, 0.2, 3, 2, 1, 2]], 8, axis=0)
        X, y = rng.poisson(rates), ["a"] * 7 + ["b"] * 8 + ["a"]
        model = fit(X, y, words_init=8, words_final=8, **options)
        np.testing.assert_allclose(model.weigh_documents(X).toarray(), weigh(X))
        for one in summarize_taxonomy(model, X, y).moved:
            row = int(one.name)
            parts = model.seeds_.toarray()[model.labels_[row]] * weigh(X)[row]
            assert one.words == tuple(str(place) for place in np.argsort(-parts, kind="stable")[:6] if parts[place] > 0)


def test_terms_of_a_data_frame(moved):
    model, X, y = moved
    frame = pd.DataFrame(X, columns=[f"w{column}" for column in range(7)])
    model.fit(frame, y)
    assert summarize_taxonomy(model, frame, y).categories[0].terms[0] == "w0"


def test_merged_categories_are_named():
    other = [3, 1, 2, 0, 0, 0, 1]
    X = [MUSIC, MUSIC, other, other, SPORT, SPORT]
    y = ["jazz", "jazz", "rock", "rock", "sport", "sport"]
    found = summarize_taxonomy(fit(X, y), X, y)
    assert [str(one) for one in found.given][::2] == [f"merged into {found.categories[0].name}", "kept"]
    assert "3 given categories: 1 kept, 2 merged. No document moved of the 6" in found.about_given


def test_ranks_agree_with_the_clusterer():
    rng = np.random.default_rng(0)
    X = rng.poisson(1.0, size=(60, 12)) + np.eye(3, dtype=int).repeat(4, axis=1)[np.arange(60) % 3] * 2
    model = fit(X, [str(row % 3) for row in range(60)], words_init=6, words_final=6, domination_threshold=0.1)
    ranks, ranking = rank_documents(model, X), model.rank(X)
    np.testing.assert_array_equal(ranks.is_contested, ranking.categories[:, 0] != model.labels_)
    assert ranks.is_contested.any()
    # Without contested documents, the runner-up is the second of the ranking.
    plain = ~ranks.is_contested
    np.testing.assert_array_equal(ranks.runner_up[plain], ranking.categories[plain, 1])
    np.testing.assert_array_equal(ranks.runner_up[~plain], ranking.categories[~plain, 0])
    cosines = np.log1p(X) / np.linalg.norm(np.log1p(X), axis=1, keepdims=True) @ model.seeds_.toarray().T
    np.testing.assert_allclose(ranks.similarity, cosines[np.arange(60), model.labels_])
    np.testing.assert_allclose(ranks.margin, ranks.similarity - cosines[np.arange(60), ranks.runner_up])
    assert (ranks.margin >= 0).all()
    # The clusterer keeps its own number of categories to report.
    assert model.n_report == 3


def test_all_text_on_the_page_is_escaped(moved):
    model, X, y = moved
    y = [name and f"<b>{name}" for name in y]
    model.fit(np.array(X), y)
    bad = ["<script>x</script>"] * 9
    summary = summarize_taxonomy(
        model, X, y, terms=["<i>"] * 7, names=bad, titles=bad, texts=bad, notices=["<script>y</script>"]
    )
    page = render_taxonomy(summary, title="<script>t</script>", run={"Command": "<script>c</script>"})
    assert "<script>" not in page
    assert "<i>" not in page
    assert "&lt;b&gt;music" in page
    assert "Documents that moved" in page
    assert "not given" in page


def test_the_smallest_categories_are_one_column(monkeypatch):
    X = np.eye(20, dtype=int).repeat(2, axis=0) * 3
    y = [f"c{row // 2:02}" for row in range(40)]
    found = summarize_taxonomy(fit(X, y), X, y)
    # Twenty newsgroups have a column each, so that what was kept is on the diagonal.
    assert (found.flow_names, found.n_folded) == (tuple(sorted(set(y))), 0)
    assert "are one column" not in render_taxonomy(found)
    monkeypatch.setattr("mustlink.report._taxonomy.MAX_FLOWS", 8)
    found = summarize_taxonomy(fit(X, y), X, y)
    assert found.flow_names == (*sorted(set(y))[:7], "others")
    assert found.n_folded == 13


def test_the_most_moved_documents_are_bounded(moved, monkeypatch):
    monkeypatch.setattr("mustlink.report._taxonomy.MAX_MOVED", 0)
    summary = summarize_taxonomy(*moved)
    assert (summary.n_moved, summary.moved) == (1, ())
