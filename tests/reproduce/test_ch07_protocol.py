"""The data and measures of chapter 7."""

from __future__ import annotations

import numpy as np
import pytest

from mustlink.constraints import Constraints
from mustlink.reproduce.engine._problem import Problem
from mustlink.reproduce.papers import ch07
from mustlink.reproduce.papers._ch07_data import give_categories, make_topics, message_counts, split_documents


def problem_of(amount: float, noise: float) -> Problem:
    X, y = make_topics(400, 4, n_terms=2_000)
    return Problem(X, y, Constraints(), 4, 0, seed=0, amount=amount, shared_seed=1, noise=noise)


def test_given_categories_are_classes_or_fit_them_badly() -> None:
    plain = problem_of(1, 0.0)
    assert np.array_equal(give_categories(plain), 2 * plain.y)
    divided = give_categories(problem_of(2, 0.0))
    assert np.array_equal(divided // 2, plain.y)
    assert set(divided) == {0, 2, 3, 4, 6, 7}
    misplaced = give_categories(problem_of(2, 0.4)) // 2 != plain.y
    assert 0.2 < misplaced.mean() < 0.4


def test_documents_are_split_by_class_and_alike_for_all_methods() -> None:
    problem = problem_of(1, 0.0)
    train, test = split_documents(problem)
    assert sorted([*train, *test]) == list(range(400))
    assert np.bincount(problem.y[test]).tolist() == [25] * 4
    assert np.array_equal(split_documents(problem)[0], train)


def test_messages_are_counted_without_their_headers() -> None:
    table = np.array([["1", "Newsgroups: sci.space\n\nOrbit orbit a 12 of"], ["2", "Subject: x\r\n\r\nthe orbit"]])
    assert message_counts(table).toarray().tolist() == [[1, 2, 0], [0, 1, 1]]


@pytest.mark.parametrize("method", ch07.METHODS)
def test_measures_of_every_method(method: str) -> None:
    problem = problem_of(1, 0.0)
    found = ch07.METHODS[method](problem)
    assert found.labels.shape == (400,)
    assert all(0 <= found.facts[name] <= 1 for name in ("own", "kept", "nmi_new", "cosine", "purity"))
    if method in (ch07.TCLUS, ch07.COSINE):
        assert found.facts["own"] > 0.7
        assert found.facts["agreement"] == 1.0
