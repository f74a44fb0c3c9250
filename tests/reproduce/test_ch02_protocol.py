"""The parts of chapter 2: texts, the simulated user, rankings of terms."""

from __future__ import annotations

import numpy as np
import pytest

from mustlink.reproduce.engine._problem import Problem
from mustlink.reproduce.papers.ch02 import (
    CROSSED,
    GROUPS,
    WEIGHTS,
    draw_topics,
    find_counterexample,
    fit_supervised,
    information_gain,
    long_texts,
    message_words,
    method_of,
    purity,
    tighten_classes,
    top_overlap,
    two_attributes,
)

MESSAGE = """From: me@here.com
Newsgroups: rec.sport.hockey
Subject: Re: Playoffs

In article <1@there>, you@there.com (You) writes:
> Who wins?

The Leafs win. Ask me@here.com for more.
--
My signature
"""


def test_a_message_is_its_subject_and_its_own_words() -> None:
    words = message_words(MESSAGE).split()
    assert words == ["Playoffs", "The", "Leafs", "win.", "Ask", "for", "more."]


def test_purity_is_that_of_the_definition() -> None:
    assert purity(np.array([0, 0, 0, 1, 1, 2]), np.array([0, 0, 1, 1, 1, 0])) == pytest.approx(5 / 6)
    rng = np.random.RandomState(0)
    for _ in range(20):
        labels, y = rng.randint(4, size=30), rng.randint(3, size=30)
        expected = sum(max(np.sum(y[labels == c] == value) for value in range(3)) for c in set(labels)) / 30
        assert purity(labels, y) == pytest.approx(expected)


def test_a_counterexample_shares_a_cluster_and_not_a_class() -> None:
    rng = np.random.RandomState(0)
    labels, y = rng.randint(3, size=40), rng.randint(2, size=40)
    for _ in range(20):
        a, b = find_counterexample(labels, y, rng, is_random=False).rows
        assert labels[a] == labels[b]
        assert y[a] != y[b]
    assert find_counterexample(y, y, rng, is_random=False) is None
    apart = [find_counterexample(labels, y, rng, is_random=True).rows for _ in range(40)]
    assert any(labels[a] != labels[b] for a, b in apart)


def test_information_gain_is_the_mutual_information() -> None:
    from sklearn.metrics import mutual_info_score

    X = np.random.RandomState(0).poisson(0.5, size=(30, 6))
    y = np.random.RandomState(1).randint(3, size=30)
    expected = [mutual_info_score(y, X[:, term] > 0) for term in range(6)]
    np.testing.assert_allclose(information_gain(X, y), expected, atol=1e-12)


def test_the_overlap_of_rankings() -> None:
    values = np.arange(100.0)
    assert top_overlap(values, values, 0.1) == 1
    assert top_overlap(values, -values, 0.1) == 0


def test_texts_of_two_attributes_show_both() -> None:
    X, a = two_attributes(0, n_rows=300)
    same, b = two_attributes(1, n_rows=300)
    np.testing.assert_array_equal(X, same)
    for values, block in ((a, X[:, :20]), (b, X[:, 20:40])):
        first, second = block[:, :10].sum(axis=1), block[:, 10:].sum(axis=1)
        assert ((first > second) == (values == 0)).mean() > 0.9
    assert abs(np.corrcoef(a, b)[0, 1]) < 0.2


def test_tight_classes_give_less_weight_to_terms_that_vary_within() -> None:
    from scipy.sparse import csr_array

    X = np.array([[9, 0, 4, 4], [0, 9, 4, 4], [9, 0, 0, 8], [0, 9, 0, 8]])
    weights = tighten_classes(csr_array(X), np.array([0, 0, 1, 1]))
    assert weights[:2].max() < weights[2:].min()
    assert weights.mean() == pytest.approx(1)


def test_weights_and_labels_teach_on_synthetic_texts() -> None:
    X, y = two_attributes(0, n_rows=120)
    problem = Problem(X, y, None, 2, 0, 0, amount=4, shared_seed=1)
    facts = method_of(WEIGHTS)(problem).facts
    assert len(facts["purity"]) == len(facts["unsatisfied"]) == 5
    assert fit_supervised(problem).facts["test"][-1] > 0.9


def test_topics_are_drawn_from_long_messages(monkeypatch) -> None:
    names = sorted({*GROUPS, "misc.forsale", "sci.med", "talk.politics.mideast", "rec.sport.hockey", "comp.graphics"})
    monkeypatch.setattr("mustlink.reproduce.papers.ch02.sorted_groups", lambda: names)
    long, short = " ".join(f"word{letter}" for letter in "abcdefgh") * 20, "few words"
    X = np.array([long.replace("word", "longword "), short] * (30 * len(names)), dtype=object)
    y = np.repeat(np.arange(len(names)), 60)
    rows, topics, others = draw_topics(Problem(X, y, None, len(names), 0, 0, shared_seed=3))
    assert np.isin(rows, long_texts(X)).all()
    assert np.bincount(topics).tolist() == [25] * 5
    assert len(others) == 25
    assert not set(rows) & set(others)
    assert len(CROSSED) == 2
