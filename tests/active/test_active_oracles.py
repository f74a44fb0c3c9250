from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest

from mustlink.active import (
    CallbackOracle,
    Consolidate,
    MinMax,
    NoisyOracle,
    Oracle,
    RandomPairs,
    TerminalOracle,
    TruthOracle,
    ask,
)


def test_truth_answers_by_classes_and_skips_unknown_ones():
    oracle = TruthOracle([0, 0, 1, -1])
    assert [oracle(0, row) for row in (1, 2, 3)] == [True, False, None]
    assert TruthOracle([0.0, np.nan, 0.0])(0, 1) is None
    with pytest.raises(ValueError, match=r"its shape is \(2, 1\)"):
        TruthOracle([[0], [1]])


@pytest.mark.parametrize("unknown", [-1, "-1", "", " ", None, float("nan"), pd.NA])
def test_every_sign_of_an_unknown_class_is_skipped(unknown):
    for oracle in (TruthOracle(["a", "a", unknown]), TruthOracle(pd.Series(["a", "a", unknown], dtype=object))):
        assert [oracle(0, row) for row in (1, 2)] == [True, None]
    assert TruthOracle(["a", "?", unknown], missing="?")(0, 1) is None


@pytest.mark.parametrize("noise", [0.0, 0.2, 1.0])
def test_noise_is_a_fraction_of_answers_and_repeatable(noise):
    y = np.arange(200) % 3
    oracle, truth = NoisyOracle(y, noise, random_state=1), TruthOracle(y)
    pairs = [(a, b) for a in range(0, 60) for b in range(a)]
    wrong = [oracle(*pair) != truth(*pair) for pair in pairs]
    assert np.mean(wrong) == pytest.approx(noise, abs=0.03)
    assert [oracle(b, a) != truth(a, b) for a, b in pairs] == wrong
    again = NoisyOracle(y, noise, random_state=1)
    assert [again(*pair) != truth(*pair) for pair in reversed(pairs)] == wrong[::-1]


@pytest.mark.parametrize("noise", [-0.1, 1.1])
def test_invalid_noise_is_refused(noise):
    with pytest.raises(ValueError, match="must be a fraction from 0 to 1"):
        NoisyOracle([0, 1], noise)


def test_noise_does_not_affect_unknown_classes():
    assert NoisyOracle([0, -1], 1.0)(0, 1) is None


@pytest.mark.parametrize("cls", [Consolidate, MinMax, RandomPairs])
def test_wrong_answers_give_links_for_clusterers(cls):
    from mustlink import PCKMeans

    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 2)) + 5 * np.eye(3)[y][:, :2]
    strategy = cls(X, 3, random_state=0)
    links = ask(strategy, NoisyOracle(y, 0.15, random_state=0))
    assert strategy.question is None, "asking ends all the same"
    assert strategy.contradictions == [], "entailed questions are not asked, hence no contradictions"
    assert 0 < links.violation_rate(y) < 0.4
    assert len(np.unique(PCKMeans(3, random_state=0).fit(X, constraints=links).labels_)) == 3


def test_a_callback_gets_the_records():
    seen = []

    def same_letter(one, other):
        seen.append((one, other))
        return one[0] == other[0]

    oracle = CallbackOracle(same_letter, ["ann", "bob", "al"])
    assert [oracle(0, 2), oracle(0, 1)] == [True, False]
    assert seen == [("ann", "al"), ("ann", "bob")]
    with pytest.raises(TypeError, match="function must be callable"):
        CallbackOracle("same", [])


@pytest.mark.parametrize("index", [[5, 4, 3], ["x", "y", "z"], [1, 2, 0]])
def test_records_are_taken_by_position(index):
    names = pd.Series(["ann", "bob", "al"], index=index)
    assert CallbackOracle(lambda one, other: (one, other), names)(0, 2) == ("ann", "al")
    frame = pd.DataFrame({0: names, 1: [31, 42, 53], 2: 0})
    one, other = CallbackOracle(lambda one, other: (one, other), frame)(0, 2)
    assert (one[0], one[1], other[0], other[1]) == ("ann", 31, "al", 53)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_records_of_a_frame_have_the_names_of_the_columns(library):
    frame = pytest.importorskip(library).DataFrame({"name": ["ann", "bob", "al"], "age": [31, 42, 53]})
    assert CallbackOracle(lambda one, other: (one["name"], other["age"]), frame)(0, 2) == ("ann", 53)
    screen = io.StringIO()
    assert TerminalOracle(frame, source=io.StringIO("y\n"), target=screen)(0, 2) is True
    assert screen.getvalue().splitlines()[1:3] == ["  name: ann, age: 31", "  name: al, age: 53"]


@pytest.mark.parametrize(("typed", "answer"), [("y", True), ("NO", False), ("s", None), ("hm\n\nyes", True)])
def test_the_terminal_asks_until_the_answer_is_valid(typed, answer):
    screen = io.StringIO()
    oracle = TerminalOracle(source=io.StringIO(typed + "\n"), target=screen)
    assert oracle(3, 4) is answer
    assert screen.getvalue().count("row 3") == typed.count("\n") + 1


def test_the_end_of_input_is_an_interruption():
    with pytest.raises(KeyboardInterrupt):
        TerminalOracle(["a", "b"], source=io.StringIO(), target=io.StringIO())(0, 1)


def test_all_oracles_are_oracles():
    for oracle in (
        TruthOracle([0]),
        NoisyOracle([0], 0.1),
        CallbackOracle(max, []),
        TerminalOracle(),
        lambda a, b: True,
    ):
        assert isinstance(oracle, Oracle)


def test_asking_stops_at_the_limit_and_continues_after_an_interruption(capsys):
    y = np.arange(30) % 2
    strategy = MinMax(np.arange(30.0)[:, None], 2, random_state=0)
    assert len(ask(strategy, TruthOracle(y), 0)) == 0
    ask(strategy, TruthOracle(y), 5, verbose=True)
    assert "5/5" in capsys.readouterr().out
    waiting = strategy.question

    def interrupted(a, b):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask(strategy, interrupted, 5)
    assert strategy.n_asked == 5
    assert strategy.question == waiting
    assert ask(strategy, TruthOracle(y)).violation_rate(y) == 0


def test_invalid_calls_are_refused():
    strategy = MinMax([[0.0], [1.0]], 2)
    with pytest.raises(ValueError, match="n_questions must not be negative; got -1"):
        ask(strategy, TruthOracle([0, 1]), -1)
    with pytest.raises(TypeError, match="An oracle must be a callable of two rows; got list"):
        ask(strategy, [0, 1])


@pytest.mark.parametrize(
    "oracle",
    [
        TruthOracle(np.arange(149) % 3),
        NoisyOracle(np.arange(151) % 3, noise=0.1),
        CallbackOracle(lambda a, b: a == b, np.arange(149) % 3),
        TerminalOracle(["row"] * 149),
    ],
    ids=lambda oracle: type(oracle).__name__,
)
def test_an_oracle_of_other_rows_is_refused_before_the_first_question(oracle):
    strategy = RandomPairs(np.arange(150.0)[:, None], 3, random_state=0)
    with pytest.raises(ValueError, match=f"{type(oracle).__name__} knows {oracle.n_rows} rows, .* of 150 rows"):
        ask(strategy, oracle, 3)
    assert strategy.n_asked == 0


@pytest.mark.parametrize("row", [3, -1])
def test_a_question_about_a_row_that_an_oracle_does_not_know(row):
    for oracle, name in (
        (TruthOracle([0, 1, 0]), "y"),
        (CallbackOracle(lambda a, b: True, [0, 1, 0]), "records"),
        (TerminalOracle("abc", source=io.StringIO("y\n"), target=io.StringIO()), "records"),
    ):
        with pytest.raises(ValueError, match=f"The question is about row {row}, but {name} has 3 entries"):
            oracle(0, row)
