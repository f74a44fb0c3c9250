from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from mustlink import Constraints, PCKMeans
from mustlink.active import COBRAS, NPU, Answer, Consolidate, Explore, MinMax, Question, RandomPairs, TruthOracle, ask
from mustlink.active._advice import fit_quietly
from mustlink.active._npu import normalized_uncertainty, to_probabilities
from mustlink.boosting import CoAssociation
from mustlink.errors import ConstraintError, NumberTooLargeError, TooLargeError
from reference.active import membership, next_question, settled, uncertainty_per_question

PLACING = [
    pytest.param(Explore, {}, id="Explore"),
    pytest.param(Consolidate, {}, id="Consolidate"),
    pytest.param(Consolidate, {"order": "central"}, id="Consolidate-central"),
    pytest.param(MinMax, {}, id="MinMax"),
    pytest.param(NPU, {"similarity": "distance"}, id="NPU-distance"),
    pytest.param(NPU, {"n_trees": 3, "every": 8}, id="NPU-forest"),
    pytest.param(NPU, {"n_trees": 3}, id="NPU-auto"),
]
ALL = [*PLACING, pytest.param(RandomPairs, {}, id="RandomPairs"), pytest.param(COBRAS, {}, id="COBRAS")]


@pytest.fixture(scope="module")
def blobs():
    centers = 30 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
    return make_blobs(n_samples=[20, 15, 12, 3], centers=centers, random_state=0)


def run(strategy, answer, limit=10_000):
    """Answer all questions, and return them."""
    asked = []
    for question in itertools.islice(strategy, limit):
        asked.append(question)
        strategy.answer(answer(*question))
    return asked


@pytest.mark.parametrize(("kind", "cls"), [("explore", Explore), ("consolidate", Consolidate), ("minmax", MinMax)])
@settings(deadline=None, max_examples=15)
@given(data=st.data())
def test_questions_match_the_definition(kind, cls, data):
    n_rows, k = data.draw(st.integers(3, 9)), data.draw(st.integers(2, 4))
    k = min(k, n_rows)
    seed = data.draw(st.integers(0, 1000))
    X = np.random.default_rng(seed).normal(size=(n_rows, 2))
    strategy = cls(X, k, random_state=seed)
    order = strategy._shuffled.tolist() if kind == "consolidate" else ()
    for _ in range(40):
        expected = next_question(kind, X, k, strategy.answers, strategy._seed, order)
        assert strategy.question == expected
        if expected is None:
            break
        strategy.answer(data.draw(st.sampled_from([True, False, False, None, None])))
    else:
        pytest.fail("More questions than pairs of rows.")


@pytest.mark.parametrize(("cls", "options"), ALL)
def test_no_question_is_settled_or_asked_twice(cls, options, blobs):
    X, y = blobs
    strategy = cls(X, 4, random_state=3, **options)
    truth, skips = TruthOracle(y), np.random.default_rng(0)
    for question in itertools.islice(strategy, 150):
        known = strategy.constraints.closure(len(X))
        a, b = known.component[list(question)]
        assert a != b
        assert not (np.sort([a, b]) == np.sort(known.cannot_link, axis=1)).all(axis=1).any()
        assert question not in [answer[:2] for answer in strategy.answers]
        strategy.answer(None if skips.random() < 0.1 else truth(*question))
    assert strategy.n_asked > 3
    assert strategy.constraints.violation_rate(y) == 0


@pytest.mark.parametrize("seed", range(5))
def test_explore_finds_all_separated_clusters(blobs, seed):
    X, y = blobs
    strategy = Explore(X, 4, random_state=seed)
    run(strategy, TruthOracle(y))
    assert len({y[row] for row, *_ in strategy.components}) == 4
    assert strategy.n_asked <= 4 * 3 // 2


@pytest.mark.parametrize("order", ["random", "central"])
def test_consolidate_takes_at_most_n_clusters_minus_one_questions_per_row(order):
    X, y = make_blobs(80, centers=5, cluster_std=6, random_state=1)
    strategy = Consolidate(X, 5, order=order, random_state=0)
    run(strategy, TruthOracle(y))
    explored = next(place for place in range(strategy.n_asked) if _n_groups(X, y, strategy.answers[: place + 1]) == 5)
    counts = {}
    for answer in strategy.answers[explored + 1 :]:
        counts[answer.a] = counts.get(answer.a, 0) + 1
    assert max(counts.values()) == 4, "overlapping clusters need all of them for some row"
    assert sum(map(len, strategy.components)) == 80
    assert strategy.constraints.violation_rate(y) == 0
    closure = strategy.constraints.closure(80)
    assert closure.n_components == 5
    assert len(closure.cannot_link) == 10


def _n_groups(X, y, answers):
    replayed = Explore(X, 5, random_state=0)
    for answer in answers:
        replayed.tell(*answer)
    return len(replayed.components)


@pytest.mark.parametrize(("cls", "options"), PLACING[1:])
def test_finally_every_row_is_assigned(cls, options, blobs):
    X, y = blobs
    strategy = cls(X, 4, random_state=1, **options)
    run(strategy, TruthOracle(y))
    found = {frozenset(group) for group in strategy.components}
    assert found == {frozenset(np.flatnonzero(y == label).tolist()) for label in range(4)}


def test_random_pairs_end_when_all_pairs_are_settled():
    y = np.array([0, 0, 0, 1, 1, 2])
    strategy = RandomPairs(np.zeros((6, 1)), 3, random_state=0)
    run(strategy, TruthOracle(y))
    closure = strategy.constraints.closure(6)
    assert (closure.n_components, len(closure.cannot_link)) == (3, 3)


def test_random_pairs_of_many_rows_end():
    known = Constraints.from_labels(np.arange(2000) % 2)
    assert RandomPairs(np.zeros((2000, 1)), 2, known=known, random_state=0).question is None
    assert RandomPairs(np.zeros((2000, 1)), 2, random_state=0).question is not None


@pytest.mark.parametrize(("cls", "options"), ALL)
def test_the_same_seed_asks_the_same_questions(cls, options, blobs):
    X, y = blobs
    runs = [run(cls(X, 4, random_state=7, **options), TruthOracle(y), 40) for _ in range(2)]
    assert runs[0] == runs[1]
    assert any(run(cls(X, 4, random_state=seed, **options), TruthOracle(y), 40) != runs[0] for seed in range(3))


@pytest.mark.parametrize(("cls", "options"), ALL)
def test_answers_restore_the_state_in_a_new_strategy(cls, options, blobs):
    X, y = blobs
    strategy = cls(X, 4, random_state=2, **options)
    oracle = TruthOracle(y)
    for n_more in (1, 4, 9):
        ask(strategy, lambda a, b: None if (a + b) % 5 == 0 else oracle(a, b), n_more)
        resumed = cls(X, 4, random_state=2, **options)
        for answer in strategy.answers:
            resumed.tell(*answer)
        assert resumed.question == strategy.question
        assert resumed.constraints == strategy.constraints
        copied = pickle.loads(pickle.dumps(strategy))
        assert copied.question == strategy.question


@pytest.mark.parametrize(("cls", "options"), ALL)
def test_undo_asks_the_question_again(cls, options, blobs):
    X, y = blobs
    straight, undoing = (cls(X, 4, random_state=5, **options) for _ in range(2))
    oracle = TruthOracle(y)
    for place, question in enumerate(itertools.islice(straight, 15)):
        assert undoing.question == question
        if place % 3 == 0:
            undoing.answer(not oracle(*question))
            undoing.question  # noqa: B018  chooses the next question, which must have no effect
            assert undoing.undo() == Answer(*question, not oracle(*question))
            assert undoing.question == question
        undoing.answer(oracle(*question))
        straight.answer(oracle(*question))
    assert undoing.answers == straight.answers
    assert undoing.constraints == straight.constraints


def test_undo_of_nothing_is_none(blobs):
    assert Explore(blobs[0], 4).undo() is None


@pytest.mark.parametrize(("cls", "options"), ALL)
def test_known_links_are_not_asked(cls, options, blobs):
    X, y = blobs
    known = Constraints.sample(y, n_pairs=40, random_state=0)
    strategy = cls(X, 4, known=known, random_state=0, **options)
    before = known.closure(len(X))
    for a, b in run(strategy, TruthOracle(y), 60):
        assert before.component[a] != before.component[b]
        pair = sorted(before.component[[a, b]].tolist())
        assert pair not in np.sort(before.cannot_link, axis=1).tolist()
    assert strategy.constraints.violation_rate(y) == 0
    assert len(strategy.constraints) >= 40 + strategy.n_asked


def test_no_questions_if_all_links_are_known(blobs):
    X, y = blobs
    for cls in (COBRAS, Explore, Consolidate, MinMax, NPU, RandomPairs):
        assert cls(X, 4, known=Constraints.from_labels(y)).question is None


def test_the_last_component_is_deduced():
    X = np.array([[0.0], [10.0], [4.0], [20.0]])
    known = Constraints(cannot_link=[(0, 1), (0, 2)])
    strategy = Consolidate(X, 2, known=known, random_state=0)
    assert strategy.deduced == [Question(2, 1)]
    assert strategy.constraints == known + Constraints(must_link=[(1, 2)])


def test_a_skipped_question_is_not_deduced():
    X = np.array([[0.0], [10.0], [4.0]])
    strategy = Consolidate(X, 2, known=Constraints(cannot_link=[(0, 1)]), random_state=0)
    assert strategy.question == Question(2, 0)
    strategy.answer(None)
    assert strategy.question == Question(2, 1)
    strategy.answer(False)
    assert strategy.deduced == []
    assert strategy.question is None


@pytest.mark.parametrize(("cls", "options"), PLACING)
def test_a_row_that_nobody_knows_does_not_use_up_the_questions(cls, options, blobs):
    X, y = blobs
    unknown = cls(X, 4, random_state=0, **options).components[0][0]
    classes = np.where(np.arange(len(y)) == unknown, -1, y)
    strategy = cls(X, 4, random_state=0, **options)
    links = ask(strategy, TruthOracle(classes), 30)
    first_answers = [answer.together for answer in strategy.answers[:4]]
    assert first_answers[:3] == [None, None, None]
    assert first_answers[3] is not None
    assert sum(unknown in (answer.a, answer.b) for answer in strategy.answers[:9]) == 3
    assert len(strategy.components) == 4
    assert links.violation_rate(y) == 0


@pytest.mark.parametrize(("cls", "options"), PLACING)
def test_a_compared_row_is_left_after_three_skips(cls, options):
    X = np.arange(20.0)[:, None] ** 2
    known = Constraints.from_labels([*range(8), *[-1] * 12], pairs="all")
    strategy = cls(X, 9, known=known, random_state=0, **options)
    asked = run(strategy, lambda a, b: None, 6)
    assert [question.a for question in asked] == [asked[0].a] * 3 + [asked[3].a] * 3
    assert asked[3].a != asked[0].a
    if cls is not Explore:
        assert len({*asked, *run(strategy, lambda a, b: None)}) == 12 * 8, "set aside, not left out"


def test_one_cluster_needs_no_questions(blobs):
    for cls in (Explore, Consolidate, MinMax):
        assert cls(blobs[0], 1).question is None


def test_contradictions_are_listed_and_ignored():
    X = np.arange(6.0)[:, None]
    known = Constraints(must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)])
    strategy = Consolidate(X, 2, known=known, random_state=0)
    assert strategy.contradictions == [Answer(0, 2, False)]
    strategy.tell(0, 5, False)
    strategy.tell(2, 5, True)
    strategy.tell(5, 0, True)
    assert strategy.contradictions[1:] == [Answer(2, 5, True), Answer(5, 0, True)]
    assert strategy.components == [[0, 1, 2], [5]]
    links = strategy.constraints
    assert links.must_link.tolist() == [[0, 1], [0, 5], [1, 2], [2, 5]]
    assert links.cannot_link.tolist() == [[0, 2], [0, 5]], "0 and 5 have one answer of each kind"
    assert [conflict.cannot_link for conflict in links.conflicts()] == [(0, 2), (0, 5)]
    assert run(strategy, lambda a, b: False)


@pytest.mark.parametrize(("cls", "options"), ALL)
def test_sparse_and_single_precision_ask_the_same_questions(cls, options, blobs):
    X, y = blobs
    # Integers make distances exact in every form.
    X = np.round(4 * X)
    expected = run(cls(X, 4, random_state=0, **options), TruthOracle(y), 25)
    for form in (sparse.csr_matrix(X), X.astype(np.float32)):
        if cls is NPU and options.get("n_trees"):
            assert len(run(cls(form, 4, random_state=0, **options), TruthOracle(y), 25)) == 25
        else:
            assert run(cls(form, 4, random_state=0, **options), TruthOracle(y), 25) == expected


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(1, 6))
def test_forest_probabilities_and_uncertainty(seed, n_groups, n_trees):
    rng = np.random.default_rng(seed)
    leaves = rng.integers(4, size=(12, n_trees))
    kernel = CoAssociation(leaves)
    groups = [group.tolist() for group in np.array_split(rng.permutation(12)[:8], n_groups)]
    found = to_probabilities(kernel.mean_similarity(groups, kernel.codes))
    expected = [membership(leaves.tolist(), groups, row) for row in range(12)]
    assert np.allclose(found, expected)
    assert np.allclose(normalized_uncertainty(found), [uncertainty_per_question(row) for row in expected])


def test_npu_asks_about_the_row_between_two_clusters():
    X = np.array([[0.0], [0.5], [1.0], [5.4], [9.5], [10.0], [10.5]])
    strategy = NPU(X, 2, similarity="distance", known=Constraints(cannot_link=[(1, 5)]), random_state=0)
    assert strategy.question == Question(3, 5) or strategy.question == Question(3, 1)


@pytest.mark.parametrize("power", [-200, 200])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_npu_asks_the_same_in_any_unit(blobs, container, power):
    # The trees of scikit-learn are in single precision, which has no such numbers.
    X, y = blobs
    asked = [
        run(NPU(container(table), 4, n_trees=3, random_state=0), TruthOracle(y), 12)
        for table in (X, np.ldexp(X, power))
    ]
    assert asked[0] == asked[1]


def test_npu_with_another_clusterer(blobs):
    from mustlink import SeededKMeans

    X, y = blobs
    strategy = NPU(X, 4, clusterer=SeededKMeans(max_iter=5), n_trees=3, random_state=0)
    run(strategy, TruthOracle(y), 12)
    assert strategy.n_asked == 12


def test_npu_takes_the_coassociation_of_a_boosted_clusterer(blobs, monkeypatch):
    from mustlink import RobustBoostCluster
    from mustlink.active import _npu

    monkeypatch.setattr(_npu, "RandomForestClassifier", None)
    fits = []
    monkeypatch.setattr(_npu, "fit_quietly", lambda *given: fits.append(given) or fit_quietly(*given))
    X, y = blobs
    strategy = NPU(X, 4, clusterer=RobustBoostCluster(n_rounds=3), random_state=0)
    run(strategy, TruthOracle(y), 30)
    kernel = strategy._similarities()
    assert kernel.names[0].tolist() == [0, 1, 2, 3], "the number of clusters is set"
    members = [[0, 3], [5]]
    alike = kernel.toarray()
    expected = np.column_stack([alike[:, group].mean(axis=1) for group in members])
    assert np.allclose(kernel.mean_similarity(members, kernel.codes), expected)
    assert 2 <= len(fits) <= 5


@pytest.mark.parametrize(("every", "n_fits", "n_after_undo"), [("auto", 9, 9), (1, 49, 50), (20, 3, 3)])
def test_npu_clusters_as_often_as_it_says(blobs, monkeypatch, every, n_fits, n_after_undo):
    from mustlink.active import _npu

    fits = []
    monkeypatch.setattr(_npu, "fit_quietly", lambda *given: fits.append(given) or fit_quietly(*given))
    X, y = blobs
    strategy = NPU(X, 4, n_trees=2, every=every, random_state=0)
    run(strategy, TruthOracle(y))
    assert len(fits) == n_fits
    # An answer that is taken back needs no new clustering, unless one was due after it.
    strategy.undo()
    ask(strategy, TruthOracle(y), 0)
    strategy._similarities()
    assert len(fits) == n_after_undo


def test_npu_continues_a_clusterer_with_warm_start(blobs, monkeypatch):
    from mustlink import RobustBoostCluster
    from mustlink.active import _npu

    refits = []

    def fit(model, X, links):
        fit_quietly(model, X, links)
        refits.append((id(model), model.n_refits_))

    monkeypatch.setattr(_npu, "fit_quietly", fit)
    X, y = blobs
    clusterer = RobustBoostCluster(n_rounds=5, n_trials=2, warm_start=True)
    strategy, again = (NPU(X, 4, clusterer=clusterer, every=4, random_state=0) for _ in range(2))
    run(strategy, TruthOracle(y), 40)
    assert len({model for model, _ in refits}) == 1, "one model is fitted again and again"
    assert max(count for _, count in refits) > 0
    assert not hasattr(clusterer, "n_refits_"), "the clusterer given is not fitted"
    # Answers that are all given at once need the same clusterings, one after the other.
    n_fits = len(refits)
    for answer in strategy.answers:
        again.tell(*answer)
    assert again._similarities() == strategy._similarities()
    assert len(refits) == 2 * n_fits
    # Another answer in the place of the last ones changes the clusterings that were continued.
    for _ in range(12):
        again.undo()
    run(again, TruthOracle(y), 12)
    assert again._similarities() == strategy._similarities()


@pytest.mark.parametrize("where", ["fit", "similarity"])
def test_npu_asks_the_same_after_an_interrupt(blobs, monkeypatch, where):
    from mustlink import RobustBoostCluster
    from mustlink.active import _npu

    X, y = blobs
    clusterer = RobustBoostCluster(n_rounds=4, n_trials=2, warm_start=True)
    strategy, again = (NPU(X, 4, clusterer=clusterer, every=4, random_state=0) for _ in range(2))
    interrupted = []

    def interrupt(function):
        def call(*arguments):
            found = function(*arguments)
            if len(strategy.answers) > 20 and not interrupted:
                interrupted.append(function)
                raise KeyboardInterrupt
            return found

        return call

    oracle = TruthOracle(y)
    run(again, oracle, 40)
    owner, name = (_npu, "fit_quietly") if where == "fit" else (strategy, "_to_kernel")
    monkeypatch.setattr(owner, name, interrupt(getattr(owner, name)))
    with pytest.raises(KeyboardInterrupt):
        run(strategy, oracle, 40)
    assert interrupted
    run(strategy, oracle, 40 - strategy.n_asked)
    assert strategy.answers == again.answers


def test_similarity_with_noise_is_zero():
    kernel = CoAssociation([[0, -1], [0, -1], [1, 0]])
    found = kernel.mean_similarity([[0], [2]], kernel.codes)
    assert found.tolist() == [[1, 0], [1, 0], [0, 2]]


@pytest.mark.parametrize(("cls", "options"), ALL)
@settings(deadline=None, max_examples=8)
@given(data=st.data())
def test_no_question_follows_from_others_whatever_is_told(cls, options, data):
    n_rows, seed = data.draw(st.integers(4, 10)), data.draw(st.integers(0, 99))
    rng = np.random.default_rng(seed)
    X = rng.integers(4, size=(n_rows, 2)).astype(float)
    strategy = cls(X, data.draw(st.integers(1, 4)), random_state=seed, **options)
    for _ in range(25):
        question = strategy.question
        if question is not None:
            facts = [answer for answer in strategy.answers if answer not in strategy.contradictions]
            facts += [(*pair, True) for pair in strategy.deduced]
            assert not settled(facts, *question)
        step = data.draw(st.sampled_from(["answer", "answer", "tell", "undo"]))
        given_answer = data.draw(st.sampled_from([True, False, None]))
        if step == "answer" and question is not None:
            strategy.answer(given_answer)
        elif step == "tell":
            strategy.tell(*rng.choice(n_rows, 2, replace=False).tolist(), given_answer)
        else:
            strategy.undo()


def test_many_known_rows_are_compared_at_once():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), np.arange(300) % 3
    known = Constraints.from_labels(np.where(np.arange(300) < 200, y, -1))
    strategy = MinMax(X, 3, known=known, random_state=0)
    distance = np.square(X[200:, None] - X[None, :200]).sum(axis=2).min(axis=1)
    assert strategy.question.a == 200 + np.argmax(distance)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([[0.0], [1.0]], 3), {}, "n_clusters must be an integer from 1 to the number of rows, 2; got 3"),
        (([[0.0], [1.0]], 0), {}, "got 0"),
        (([[0.0], [1.0]], True), {}, "got True"),
        (([[0.0], [np.nan]], 2), {}, "contains NaN"),
        (([[0.0]], 1), {}, "minimum of 2"),
        (([[0.0], [1.0]], 2), {"known": Constraints(must_link=[(0, 5)])}, "the table has 2 rows"),
    ],
)
def test_invalid_data_are_refused(arguments, options, message):
    for cls in (Explore, RandomPairs):
        with pytest.raises(ValueError, match=message):
            cls(*arguments, **options)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda X: Consolidate(X, 2, order="alphabetical"), "order must be"),
        (lambda X: NPU(X, 2, similarity="cosine"), "similarity must be"),
        (lambda X: NPU(X, 2, n_trees=0), "n_trees must be an integer of at least 1; got 0"),
        (lambda X: NPU(X, 2, every=1.5), 'every must be "auto" or an integer of at least 1; got 1.5'),
    ],
)
def test_invalid_options_are_refused(make, message, blobs):
    with pytest.raises(ValueError, match=message):
        make(blobs[0])


@pytest.mark.parametrize("clusterer", ["kmeans", 3, KMeans(), PCKMeans])
def test_a_clusterer_without_links_is_refused(clusterer, blobs):
    message = r"clusterer must be an estimator whose fit takes constraints, such as PCKMeans\(\), or None; got"
    with pytest.raises(TypeError, match=message):
        NPU(blobs[0], 4, clusterer=clusterer)
    with pytest.raises(TypeError, match=message):
        MinMax(blobs[0], 4).advise(clusterer)


@pytest.mark.parametrize(("cls", "options"), ALL)
def test_numbers_too_large_for_distances_are_refused(cls, options, blobs):
    X = blobs[0].copy()
    X[7, 1] = 1.7e308
    with pytest.raises(NumberTooLargeError, match="Row 7, column 1 of X"):
        cls(X, 4, **options)


def test_known_must_be_constraints(blobs):
    with pytest.raises(TypeError, match="known must be Constraints; got list"):
        Explore(blobs[0], 4, known=[(0, 1)])


def test_invalid_answers_are_refused(blobs):
    strategy = Explore(blobs[0], 4, random_state=0)
    next(strategy)
    with pytest.raises(TypeError, match="got 'y'"):
        strategy.answer("y")
    for row in (-1, 50, 1.5, True):
        with pytest.raises(ConstraintError, match="is not a row; the rows are 0 to 49"):
            strategy.tell(0, row, True)
    with pytest.raises(ConstraintError, match="Row 3 cannot be linked with itself"):
        strategy.tell(3, 3, True)
    assert strategy.answers == []


def test_an_unanswered_question_must_be_answered_first(blobs):
    strategy = Explore(blobs[0], 4, random_state=0)
    question = next(strategy)
    with pytest.raises(RuntimeError, match="is not answered"):
        next(strategy)
    strategy.tell(*question, np.True_)
    assert next(strategy) != question


@pytest.mark.parametrize(("cls", "options"), ALL)
def test_only_a_question_that_was_shown_is_answered(cls, options, blobs):
    strategy = cls(blobs[0], 4, random_state=0, **options)
    with pytest.raises(RuntimeError, match="No question was shown since the last answer"):
        strategy.answer(True)
    shown = next(strategy)
    strategy.answer(True)
    with pytest.raises(RuntimeError, match="No question was shown since the last answer"):
        strategy.answer(False)
    assert strategy.answers == [Answer(*shown, True)]
    read = strategy.question
    strategy.answer(False)
    strategy.undo()
    strategy.answer(True)
    assert strategy.answers == [Answer(*shown, True), Answer(*read, True)]


def test_another_pair_told_leaves_the_shown_question_open(blobs):
    strategy = RandomPairs(blobs[0], 4, random_state=0)
    a, b = next(strategy)
    others = [row for row in range(50) if row not in (a, b)][:2]
    strategy.tell(*others, True)
    strategy.answer(False)
    assert strategy.answers == [Answer(*others, True), Answer(a, b, False)]


def test_an_answer_without_a_question_raises(blobs):
    strategy = Explore(blobs[0], 1)
    assert strategy.question is None
    with pytest.raises(RuntimeError, match="No question is left: a row of every group is known"):
        strategy.answer(True)


def test_equal_rows():
    for cls in (COBRAS, Explore, Consolidate, MinMax, NPU, RandomPairs):
        strategy = cls(np.zeros((8, 2)), 3, random_state=0)
        run(strategy, TruthOracle([0, 0, 1, 1, 2, 2, 2, 2]))
        assert strategy.constraints.violation_rate([0, 0, 1, 1, 2, 2, 2, 2]) == 0


def test_known_groups_that_are_too_large_to_list() -> None:
    known = Constraints.from_groups([1] * 4_000)
    with pytest.raises(TooLargeError, match=r"are 7,998,000 cannot-links.*; ask without these groups, or with smaller"):
        MinMax(np.zeros((4_000, 1)), 2, known=known)
