from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, make_blobs

from mustlink import Constraints, PCKMeans
from mustlink.active import COBRAS, NoisyOracle, TruthOracle, ask
from mustlink.metrics import adjusted_rand
from reference.active import cobras_run


@pytest.fixture(scope="module")
def clouds():
    rng = np.random.default_rng(0)
    y = np.arange(30) % 3
    return rng.normal(scale=0.8, size=(30, 2)) + 2.0 * np.array([[0, 0], [1, 0], [0, 1]])[y], y


@pytest.mark.parametrize(("seed", "limit"), [(0, 1000), (1, 1000), (2, 7), (3, 15), (4, 25), (5, 35)])
def test_questions_and_clusters_match_the_definition(clouds, seed, limit):
    X, y = clouds
    strategy = COBRAS(X, 3, random_state=seed)

    def split(rows, n_parts):
        return [(part.rows.tolist(), part.medoid) for part in strategy._split(np.array(rows), n_parts)]

    def random():
        return np.random.RandomState(strategy._seed)

    facts, clusters = cobras_run(X.tolist(), TruthOracle(y), split, random, limit)
    ask(strategy, TruthOracle(y), limit)
    # A pair may be named either way.
    assert [sorted(fact[:2]) for fact in facts] == [sorted(answer[:2]) for answer in strategy.answers]
    if clusters is not None:
        found = [np.flatnonzero(strategy.labels_ == label).tolist() for label in range(strategy.labels_.max() + 1)]
        assert sorted(found) == sorted(clusters)


@pytest.mark.parametrize("seed", range(3))
def test_the_clusters_are_the_classes_in_the_end(clouds, seed):
    X, y = clouds
    strategy = COBRAS(X, 3, random_state=seed)
    links = ask(strategy, TruthOracle(y))
    assert adjusted_rand(y, strategy.labels_) == 1
    assert links.violation_rate(y) == 0
    assert strategy.question is None
    assert strategy.deduced == []


def test_the_number_of_clusters_follows_from_the_answers(clouds):
    X, y = clouds
    asked = [ask(COBRAS(X, k, random_state=0), TruthOracle(y), 40) for k in (1, 3, 20)]
    assert asked[0] == asked[1] == asked[2]


def test_well_separated_clusters_are_found_with_few_questions():
    X, y = make_blobs(300, centers=5, cluster_std=0.3, random_state=3)
    strategy = COBRAS(X, 5, random_state=0)
    ask(strategy, TruthOracle(y), 40)
    assert adjusted_rand(y, strategy.labels_) == 1


def test_both_ways_to_use_it_are_better_than_no_questions():
    X, y = load_iris(return_X_y=True)
    strategy = COBRAS(X, 3, random_state=0)
    links = ask(strategy, TruthOracle(y), 100)
    plain = adjusted_rand(y, PCKMeans(3, random_state=0).fit(X).labels_)
    assert adjusted_rand(y, strategy.labels_) > plain + 0.1
    assert adjusted_rand(y, PCKMeans(3, random_state=0).fit(X, constraints=links).labels_) > plain


def test_all_rows_are_one_cluster_before_the_first_answer(clouds):
    strategy = COBRAS(clouds[0], 3, random_state=0)
    assert strategy.labels_.tolist() == [0] * 30
    assert strategy.super_instances == [list(range(30))]


def test_super_instances_are_a_partition(clouds):
    X, y = clouds
    strategy = COBRAS(X, 3, random_state=0)
    ask(strategy, TruthOracle(y), 30)
    assert sorted(row for part in strategy.super_instances for row in part) == list(range(30))
    assert all(len(set(strategy.labels_[part])) == 1 for part in strategy.super_instances[:1])


def test_labels_are_a_copy(clouds):
    strategy = COBRAS(clouds[0], 3, random_state=0)
    ask(strategy, TruthOracle(clouds[1]), 30)
    before = strategy.labels_.tolist()
    strategy.labels_[:] = 7
    assert strategy.labels_.tolist() == before


@pytest.mark.parametrize("seed", range(3))
def test_wrong_answers_do_no_harm_but_to_the_clusters(clouds, seed):
    X, y = clouds
    strategy = COBRAS(X, 3, random_state=seed)
    ask(strategy, NoisyOracle(y, 0.3, random_state=seed))
    assert strategy.question is None
    assert len(strategy.labels_) == 30
    first, second = strategy.constraints.closure(30).component[:2]
    strategy.tell(0, 1, bool(first != second))
    assert len(strategy.contradictions) == 1


@pytest.mark.parametrize("answer", [None, True, False])
def test_the_same_answer_to_all_questions(clouds, answer):
    strategy = COBRAS(clouds[0], 3, random_state=0)
    ask(strategy, lambda a, b: answer)
    n_clusters = {None: 30, True: 1, False: 30}[answer]
    assert len(set(strategy.labels_.tolist())) == n_clusters
    assert strategy.n_asked <= 30 * 29 // 2


def test_equal_rows_are_never_split():
    X = np.repeat([[0.0], [5.0]], 4, axis=0)
    strategy = COBRAS(X, 2, random_state=0)
    ask(strategy, TruthOracle([0, 0, 0, 0, 1, 1, 1, 1]))
    assert strategy.n_asked == 1
    assert strategy.labels_.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert COBRAS(np.zeros((5, 2)), 2).question is None


def test_known_links_replace_answers(clouds):
    X, y = clouds
    first = COBRAS(X, 3, random_state=0)
    links = ask(first, TruthOracle(y), 20)
    resumed = COBRAS(X, 3, known=links, random_state=0)
    assert resumed.question == first.question
    assert resumed.labels_.tolist() == first.labels_.tolist()
    assert COBRAS(X, 3, known=Constraints.from_labels(y), random_state=0).labels_.tolist() == y.tolist()


def test_single_precision_and_sparse_rows(clouds):
    X, y = clouds
    expected = COBRAS(X, 3, random_state=0)
    ask(expected, TruthOracle(y))
    for form in (X.astype(np.float32), sparse.csr_matrix(X)):
        strategy = COBRAS(form, 3, random_state=0)
        ask(strategy, TruthOracle(y))
        assert strategy.labels_.tolist() == expected.labels_.tolist()


def test_rows_known_to_be_together_are_not_split():
    y = np.arange(3000) % 3
    X = np.random.default_rng(0).normal(size=(3000, 2)) + 9.0 * y[:, None]
    strategy = COBRAS(X, 3, known=Constraints.from_labels(y), random_state=0)
    assert strategy.question is None
    assert len(strategy.super_instances) < 20


def test_a_split_has_at_most_128_parts():
    X = np.random.default_rng(0).normal(size=(1000, 2))
    strategy = COBRAS(X, 3, random_state=0)
    ask(strategy, lambda a, b: False, 12)
    assert len(strategy.super_instances) == 128
