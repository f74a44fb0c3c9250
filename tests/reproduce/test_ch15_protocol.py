"""Records of authors for the chapter on metrics from cannot-links, and the scores along a tree."""

from __future__ import annotations

import numpy as np
from scipy.cluster.hierarchy import cut_tree, linkage

from mustlink import Constraints
from mustlink.metrics import pairwise_f1
from mustlink.reproduce.engine._problem import Problem
from mustlink.reproduce.papers import ch15


def test_words_of_a_record_are_those_of_title_venue_and_other_authors() -> None:
    row = ["M. Jones", 1.0, "", "mark p jones,mary jo smith,m jones,a jones", "type class", "acm toplas"]
    (name, words), *_ = ch15.bibliography(np.array([row], dtype=object))
    assert name == "M. Jones"
    others = ["author:mary", "author:jo", "author:smith", "author:a", "author:jones"]
    assert words.split() == ["title:type", "title:class", "venue:acm", "venue:toplas", *others]


def test_scores_along_a_tree_are_those_of_every_cut() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(15, 2)), rng.integers(4, size=15)
    tree = linkage(X, "single")
    scores = ch15.scores_along(tree, y)
    assert scores.shape == (15, 3)
    assert scores[0].tolist() == [1.0, 0.0, 0.0]
    for n_merges in range(1, 15):
        labels = cut_tree(tree, 15 - n_merges).ravel()
        together, true = (np.equal.outer(one, one)[np.triu_indices(15, 1)] for one in (labels, y))
        precision, recall, f = scores[n_merges]
        assert np.isclose(precision, true[together].mean())
        assert np.isclose(recall, together[true].mean())
        assert np.isclose(f, pairwise_f1(y, labels))


def test_names_of_a_stand_in_have_classes_of_their_own() -> None:
    y = np.repeat(np.arange(12), 30)
    problem = Problem(ch15.as_records(np.eye(12)[y]), y, Constraints(), 12, 0, seed=0)
    rows, names = ch15.draw_records(problem)
    assert len(np.unique(names)) == 2
    assert len(rows) == len(np.unique(rows)) == 2 * ch15.N_RECORDS
    classes = [set(y[rows[names == name]]) for name in np.unique(names)]
    assert not classes[0] & classes[1]
    again = ch15.draw_records(problem)
    np.testing.assert_array_equal(again[0], rows)
