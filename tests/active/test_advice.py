from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from mustlink import PCKMeans, RobustBoostCluster
from mustlink.active import COBRAS, NPU, Advice, Answer, Consolidate, Explore, MinMax, RandomPairs, TruthOracle, ask
from mustlink.active._advice import check_predicted

ALL = [COBRAS, Consolidate, MinMax, NPU, RandomPairs]


@pytest.fixture(scope="module")
def separate():
    return make_blobs(150, centers=[[0, 0], [20, 0], [0, 20]], random_state=0)


@pytest.fixture(scope="module")
def unrelated():
    """Classes that have nothing to do with the rows."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(150, 2)), rng.integers(3, size=150)


@pytest.mark.parametrize("cls", ALL)
def test_predictable_answers_are_settled(cls, separate):
    X, y = separate
    strategy = cls(X, 3, random_state=0)
    ask(strategy, TruthOracle(y), 120)
    advice = strategy.advise()
    assert advice.is_settled
    assert advice.n_predicted == advice.n_checked >= 30
    assert str(advice) == f"The last {advice.n_checked} answers were as predicted; more questions will change little."


@pytest.mark.parametrize("cls", ALL)
def test_answers_at_random_are_not(cls, unrelated):
    X, y = unrelated
    strategy = cls(X, 3, random_state=0)
    ask(strategy, TruthOracle(y), 150)
    advice = strategy.advise()
    assert not advice.is_settled
    assert advice.n_predicted < advice.n_checked
    assert str(advice).endswith("were as predicted; more questions are worthwhile.")


def test_predictions_come_from_the_links_before_the_answers(unrelated):
    X, y = unrelated
    strategy = MinMax(X, 2, random_state=0)
    links = [strategy.constraints]
    for question in strategy:
        strategy.answer(bool(y[question.a] == y[question.b]))
        links.append(strategy.constraints)
        if strategy.n_asked == 60:
            break
    together = [place for place, answer in enumerate(strategy.answers) if answer.together]
    first = together[-10]
    labels = PCKMeans(2, random_state=strategy._seed).fit(X, constraints=links[first]).labels_
    predicted = [bool(labels[a] == labels[b]) == given for a, b, given in strategy.answers[first:]]
    assert strategy.advise(n_together=10) == Advice(all(predicted), len(predicted), sum(predicted))


def test_too_few_answers_settle_nothing(separate):
    X, y = separate
    strategy = MinMax(X, 3, random_state=0)
    advice = strategy.advise()
    assert advice == Advice(is_settled=False, n_checked=0, n_predicted=0)
    assert str(advice) == "There are too few answers to tell whether more questions are worthwhile."
    ask(strategy, TruthOracle(y), 5)
    assert strategy.advise().n_checked == 0
    assert strategy.advise(n_together=1).n_checked >= 1


def test_skipped_questions_do_not_count(separate):
    X, y = separate
    oracle = TruthOracle(np.where(np.arange(150) % 5 == 0, -1, y))
    strategy = MinMax(X, 3, random_state=0)
    ask(strategy, oracle, 120)
    advice = strategy.advise()
    last = [answer for answer in strategy.answers if answer.together is not None][-advice.n_checked :]
    assert sum(answer.together for answer in last) == 30
    assert advice.is_settled


def test_one_wrong_answer_unsettles(separate):
    X, y = separate
    strategy = MinMax(X, 3, random_state=0)
    ask(strategy, TruthOracle(y), 60)
    a, b = strategy.question
    strategy.answer(y[a] != y[b])
    assert not strategy.advise().is_settled
    strategy.undo()
    assert strategy.advise().is_settled


def test_advice_changes_no_question(separate):
    X, y = separate
    advised, left_alone = (NPU(X, 3, random_state=0) for _ in range(2))
    for _ in range(40):
        assert advised.question == left_alone.question
        for strategy in (advised, left_alone):
            strategy.answer(bool(y[strategy.question.a] == y[strategy.question.b]))
        advised.advise(n_together=5)


def test_another_clusterer_predicts(separate):
    X, y = separate
    strategy = MinMax(X, 3, random_state=0)
    ask(strategy, TruthOracle(y), 60)
    assert strategy.advise(RobustBoostCluster(n_rounds=5)).is_settled, "with the number of clusters set"


@pytest.mark.parametrize("value", [0, 1.5, True, "many"])
def test_invalid_numbers_are_refused(separate, value):
    with pytest.raises(ValueError, match="n_together must be an integer of at least 1; got"):
        MinMax(separate[0], 3).advise(n_together=value)


def test_two_rows_of_noise_are_predicted_to_be_apart():
    labels = np.array([-1, -1, 0, 0])
    answers = [Answer(0, 1, True), Answer(2, 3, True), Answer(0, 2, False)]
    assert check_predicted(labels, answers) == Advice(False, 3, 2)
    assert check_predicted(labels, [Answer(0, 1, False)]) == Advice(True, 1, 1)


@pytest.mark.parametrize(
    ("advice", "words"),
    [
        (Advice(True, 0, 0, "No question is left: why."), "No question is left: why."),
        (Advice(True, 1, 1), "The last answer was as predicted; more questions will change little."),
        (Advice(False, 1, 0), "The last answer was not as predicted; more questions are worthwhile."),
        (Advice(False, 1_200, 1), "1 of the last 1,200 answers was as predicted; more questions are worthwhile."),
        (Advice(True, 2, 2), "The last 2 answers were as predicted; more questions will change little."),
    ],
)
def test_words_of_few_answers(advice, words):
    assert str(advice) == words


@pytest.mark.parametrize("kind", [*ALL, Explore])
def test_when_no_question_is_left_it_says_why(kind):
    X, y = np.array([[0.0], [1.0], [8.0], [9.0], [20.0]]), [0, 0, 1, 1, 2]
    strategy = kind(X, 3, random_state=0)
    assert strategy.end is None
    ask(strategy, TruthOracle(y), 100)
    assert strategy.question is None
    advice = strategy.advise(n_together=1)
    assert advice.is_settled
    why = (
        "a row of every group is known" if kind is Explore else "everything was asked about or follows from the answers"
    )
    assert str(advice) == strategy.end == f"No question is left: {why}."
    with pytest.raises(RuntimeError, match="No question is left"):
        strategy.answer(True)
    strategy.undo()
    assert strategy.end is None


def test_advice_does_not_show_a_question():
    strategy = MinMax([[0.0], [1.0], [8.0], [9.0], [20.0]], 3, random_state=0)
    next(strategy)
    strategy.answer(False)
    strategy.advise()
    with pytest.raises(RuntimeError, match="No question was shown"):
        strategy.answer(False)
