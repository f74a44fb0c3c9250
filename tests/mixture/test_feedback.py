"""FeedbackMixture: clusters that follow criticism."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.feature_extraction.text import CountVectorizer

from mustlink import Constraints
from mustlink.mixture import Feedback, FeedbackMixture
from reference.feedback import two_attributes

TEXTS = [
    "ball red ball red",
    "ball red ball",
    "ball blue ball blue",
    "ball blue ball",
    "cube red cube",
    "cube red cube red",
    "cube blue cube",
    "cube blue cube blue",
]
X = CountVectorizer().fit_transform(TEXTS)
SHAPE, COLOR = np.repeat([0, 1], 4), np.tile(np.repeat([0, 1], 2), 2)


def same(labels, expected) -> bool:
    return np.array_equal(labels, expected) or np.array_equal(labels, 1 - np.asarray(expected))


def model(**parameters) -> FeedbackMixture:
    return FeedbackMixture(**{"n_components": 2, "random_state": 0, **parameters})


def purity(labels, truth) -> float:
    table = np.zeros((labels.max() + 1, truth.max() + 1))
    np.add.at(table, (labels, truth), 1)
    return table.max(axis=1).sum() / len(labels)


def counterexample(labels, truth, rng) -> Feedback | None:
    """Two rows of one cluster that are of two classes."""
    pairs = np.argwhere(np.triu((labels[:, None] == labels) & (truth[:, None] != truth), 1))
    return Feedback("cannot_link", tuple(pairs[rng.randint(len(pairs))])) if len(pairs) else None


# ---- the clusters ----------------------------------------------------------------------------------------------------


def test_without_criticism_it_is_plain_em() -> None:
    # Check 1: the parts are compared with the formulas in test_feedback_parts.
    fitted = model().fit(X)
    assert same(fitted.labels_, SHAPE)
    np.testing.assert_array_equal(fitted.term_weights_, 1)
    assert fitted.unsatisfied_ == []
    same_starts = model(n_steps=0, max_rounds=0).fit(X, constraints=Constraints(cannot_link=[(0, 2)]))
    assert fitted.objective_ == same_starts.objective_


def test_sparse_and_dense_counts_give_the_same_clusters() -> None:
    rows = two_attributes(0, n_rows=60)[0]
    criticism = Feedback("cannot_link", (0, 1)), Feedback("good", clusters=(1,)), Feedback("bad", clusters=(0,))
    dense, stored = (model().fit(table).feedback(*criticism).refit() for table in (rows, sparse.csr_matrix(rows)))
    np.testing.assert_allclose(dense.term_weights_, stored.term_weights_)
    np.testing.assert_array_equal(dense.labels_, stored.labels_)
    np.testing.assert_allclose(dense.predict_proba(rows), stored.predict_proba(sparse.csr_array(rows)))


def test_explicit_zeros_and_the_given_matrix_are_left_alone() -> None:
    given = sparse.csr_matrix(X, dtype=float)
    given.data[3] = 0.0
    before = given.copy()
    fitted = model().fit(given)
    assert given.nnz == before.nnz
    np.testing.assert_array_equal(fitted.labels_, model().fit(given.toarray()).labels_)


def test_new_rows_are_predicted_with_the_learned_weights() -> None:
    fitted = model().fit(X)
    np.testing.assert_array_equal(fitted.predict(X), fitted.labels_)
    np.testing.assert_allclose(fitted.predict_proba(X), fitted.responsibilities_)
    new = CountVectorizer().fit(TEXTS).transform(["red cube", "blue cube"])
    assert len(set(fitted.predict(new))) == 1
    fitted.feedback(Feedback("cannot_link", (0, 2)), Feedback("must_link", (0, 4))).refit()
    assert len(set(fitted.predict(new))) == 2
    np.testing.assert_array_equal(fitted.predict(X), fitted.labels_)
    logs = new.toarray() * fitted.term_weights_ @ fitted.feature_log_prob_.T + np.log(fitted.weights_)
    np.testing.assert_allclose(fitted.score_samples(new), np.logaddexp(*logs.T))
    np.testing.assert_allclose(fitted.score(new), fitted.score_samples(new).mean())


def test_the_largest_cluster_is_the_first() -> None:
    fitted = model(n_components=3).fit(two_attributes(1, n_rows=50)[0])
    sizes = np.bincount(fitted.labels_, minlength=3)
    assert (np.diff(sizes) <= 0).all()


# ---- criticism -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("attribute", [0, 1])
@pytest.mark.parametrize("seed", [0, 1])
def test_counterexamples_choose_the_attribute(attribute, seed) -> None:
    # Check 8: of two ways to cluster the same rows, ten cannot-links choose one.
    rows, *attributes = two_attributes(seed)
    truth, rng = attributes[attribute], np.random.RandomState(seed)
    fitted = model(random_state=seed).fit(rows)
    start = purity(fitted.labels_, truth)
    for _ in range(10):
        criticism = counterexample(fitted.labels_, truth, rng)
        if criticism is None:
            break
        fitted.feedback(criticism).refit()
    assert purity(fitted.labels_, truth) > 0.95
    # One attribute is found without help, the other is not.
    assert start > 0.95 or start < 0.75
    blocks = fitted.term_weights_[:20].reshape(2, 10).mean(axis=1)
    assert start > 0.95 or blocks.argmax() == attribute


def test_a_cannot_link_between_copies_changes_nothing_and_is_reported() -> None:
    # Check 8: never an exception, and finite weights.
    rows = np.vstack([X.toarray(), X.toarray()[:1]])
    fitted = model().fit(rows)
    copies = Feedback("cannot_link", (0, 8))
    for _ in range(7):
        fitted.feedback(copies).refit()
    np.testing.assert_array_equal(fitted.term_weights_, 1)
    assert fitted.unsatisfied_ == [copies]


def test_what_stays_unsatisfied_is_given_up() -> None:
    rows = np.vstack([X.toarray(), X.toarray()[:1], X.toarray()[:1]])
    rows[9, 0] += 1
    wish = Feedback("cannot_link", (0, 9))
    fitted = model(max_violation_rounds=3, step=1e-3).fit(rows).feedback(wish)
    given_up = []
    for _ in range(4):
        weights = fitted.refit().term_weights_
        given_up.append(fitted.given_up_)
    assert given_up == [[], [], [wish], [wish]]
    assert [entry["n_unsatisfied"] for entry in fitted.history_] == [0, 1, 1, 1]
    # No further step is made for it; said once more, it counts as new.
    np.testing.assert_array_equal(weights, fitted.refit().term_weights_)
    assert (fitted.feedback(wish).refit().term_weights_ != weights).any()


@pytest.mark.parametrize(
    ("item", "is_met"),
    [
        (Feedback("cannot_link", (0, 2)), lambda labels: labels[0] != labels[2]),
        (Feedback("must_link", (0, 4)), lambda labels: labels[0] == labels[4]),
        (Feedback("belongs", (4,), (0,)), lambda labels: labels[4] == 0),
        (Feedback("move", (4,), (1, 0)), lambda labels: labels[4] == 0),
    ],
    ids=lambda value: value.kind if isinstance(value, Feedback) else "",
)
@pytest.mark.parametrize("penalty", [0.0, 50.0])
def test_rows_follow_criticism(item, is_met, penalty) -> None:
    fitted = model(penalty=penalty).fit(X)
    np.testing.assert_array_equal(fitted.labels_, SHAPE)
    fitted.feedback(item)
    assert fitted.unsatisfied_ == [item]
    for _ in range(3):
        fitted.refit()
    assert is_met(fitted.labels_)
    assert fitted.unsatisfied_ == []
    assert fitted.feedback_ == [item]


def test_a_row_leaves_a_cluster_alone() -> None:
    rows = two_attributes(0)[0]
    fitted = model(penalty=200.0).fit(rows)
    labels = fitted.labels_.copy()
    fitted.feedback(
        Feedback("not_belongs", (3,), (int(labels[3]),)), Feedback("move", (5,), (labels[5], 1 - labels[5]))
    )
    fitted.refit()
    assert fitted.unsatisfied_ == []
    assert np.isin([3, 5], np.flatnonzero(fitted.labels_ != labels)).all()
    assert (fitted.labels_ != labels).sum() < 10


def test_numbers_are_not_exchanged_to_meet_a_wish() -> None:
    # Too little is known of eight short texts: the whole cluster would follow the row, under another number.
    fitted = model(penalty=50.0).fit(X).feedback(Feedback("not_belongs", (4,), (1,))).refit()
    np.testing.assert_array_equal(fitted.labels_[:4], 0)


def test_a_bad_cluster_is_broken_up_and_a_good_one_is_kept() -> None:
    rows = two_attributes(0)[0]
    fitted = model(n_components=4).fit(rows)
    labels = fitted.labels_.copy()
    fitted.feedback(Feedback("good", clusters=(2,))).refit()
    kept = fitted.labels_ == 2
    assert (kept & (labels == 2)).sum() > 0.9 * (kept | (labels == 2)).sum()
    assert fitted.unsatisfied_ == []
    split = model().fit(X).feedback(Feedback("bad", clusters=(0,)), Feedback("bad", clusters=(1,)))
    assert len(split.unsatisfied_) == 2
    for _ in range(5):
        split.refit()
    assert same(split.labels_, COLOR)
    assert split.unsatisfied_ == []


def test_clusters_are_merged_and_kept_apart() -> None:
    rows = two_attributes(0)[0]
    fitted = model(n_components=4).fit(rows)
    one, other = (np.flatnonzero(fitted.labels_ == cluster) for cluster in (0, 1))
    for _ in range(4):
        fitted.feedback(Feedback("merge", clusters=(0, 1))).refit()
    weights = fitted.term_weights_
    p, q = (rows[part].sum(axis=0) / rows[part].sum() for part in (one, other))
    # Terms that differ most between the two have lost weight, and for clusters to keep apart they gain.
    telling = np.abs(p - q).argmax()
    assert weights[telling] < 1
    apart = model(n_components=4).fit(rows).feedback(Feedback("apart", clusters=(0, 1)))
    assert apart.unsatisfied_ == []
    np.testing.assert_array_equal(apart.refit().term_weights_, 1)


def test_very_different_clusters_on_request() -> None:
    rows, a, b = two_attributes(0)
    fitted = model().fit(rows)
    found = max((a, b), key=lambda truth: purity(fitted.labels_, truth))
    assert purity(fitted.labels_, found) > 0.95
    fitted.feedback(Feedback("different"))
    assert fitted.unsatisfied_ == [Feedback("different")]
    fitted.refit()
    assert purity(fitted.labels_, found) < 0.75
    assert fitted.unsatisfied_ == []
    np.testing.assert_array_equal(fitted.term_weights_, 1)


def test_labels_keep_their_numbers() -> None:
    rows = two_attributes(3, n_rows=80)[0]
    fitted = model(n_components=4, warm_start=False).fit(rows)
    labels = fitted.labels_.copy()
    for row in range(4):
        fitted.feedback(Feedback("cannot_link", (row, 79 - row))).refit()
        common = np.zeros((4, 4))
        np.add.at(common, (labels, fitted.labels_), 1)
        assert np.trace(common) >= max(np.trace(common[:, order]) for order in ([1, 0, 2, 3], [3, 2, 1, 0]))
        assert fitted.history_[-1]["n_moved"] == (labels != fitted.labels_).sum()
        labels = fitted.labels_.copy()


def test_without_criticism_a_refit_keeps_the_clusters() -> None:
    fitted = model(n_components=4, warm_start=False).fit(two_attributes(3, n_rows=80)[0])
    labels, objective = fitted.labels_.copy(), fitted.objective_
    np.testing.assert_array_equal(fitted.refit().labels_, labels)
    assert fitted.objective_ == objective
    assert len(fitted.history_) == 1
    # What is new counts, also if the clusters satisfy it.
    a, b = np.flatnonzero(labels == labels[0])[:2]
    assert len(fitted.feedback(Feedback("must_link", (a, b))).refit().history_) == 2


@pytest.mark.parametrize("penalty", [0.0, 100.0])
def test_criticism_that_is_satisfied_starts_from_the_present_clusters(penalty) -> None:
    # New random starts find other clusters in such rows.
    rows = np.random.RandomState(3).poisson(0.3, size=(100, 60))
    fitted = model(n_components=4, penalty=penalty).fit(rows)
    together = Feedback("must_link", tuple(np.flatnonzero(fitted.labels_ == 0)[:2]))
    for item in (Feedback("apart", clusters=(0, 1)), together):
        assert fitted.feedback(item).unsatisfied_ == []
        assert fitted.refit().history_[-1]["n_moved"] <= 2
    others = model(n_components=4, penalty=penalty, warm_start=False).fit(rows).feedback(together).refit()
    assert others.history_[-1]["n_moved"] > 10


def test_later_criticism_replaces_earlier() -> None:
    fitted = model().fit(X, constraints=Constraints(must_link=[(0, 1), (2, 3)]))
    fitted.feedback(Feedback("cannot_link", (1, 0)))
    fitted.feedback(
        Feedback("belongs", (4,), (0,)), Feedback("not_belongs", (4,), (1,)), Feedback("move", (4,), (0, 1))
    )
    fitted.feedback(Feedback("good", clusters=(0,)), Feedback("bad", clusters=(0,)))
    fitted.feedback(Feedback("merge", clusters=(0, 1)), Feedback("apart", clusters=(1, 0)))
    assert [item.kind for item in fitted.feedback_] == ["cannot_link", "move", "bad", "apart"]
    assert fitted.violations_ == Constraints(cannot_link=[(0, 1)])
    assert fitted.unsatisfied_ == [Feedback("cannot_link", (1, 0)), Feedback("bad", clusters=(0,))]
    fitted.feedback(Feedback("not_belongs", (4,), (1,)), Feedback("not_belongs", (4,), (0,)))
    assert [item.kind for item in fitted.feedback_] == ["cannot_link", "bad", "apart", "not_belongs", "not_belongs"]


# ---- links of a fit --------------------------------------------------------------------------------------------------


def test_links_of_a_fit_warp_the_weights_until_they_are_kept() -> None:
    links = Constraints(must_link=[(0, 4), (2, 6)], cannot_link=[(0, 2), (4, 6)])
    fitted = model().fit(X, constraints=links)
    assert same(fitted.labels_, COLOR)
    assert fitted.violations_.is_empty
    assert fitted.history_[0]["n_unsatisfied"] == 4
    assert fitted.history_[-1] == fitted.history_[-1] | {"n_feedback": 4, "n_unsatisfied": 0}
    assert len(fitted.history_) < 1 + fitted.max_rounds


def test_a_fit_keeps_the_round_with_the_fewest_broken_links() -> None:
    rows = two_attributes(2, n_rows=60, length=20)[0]
    links = Constraints.sample(np.random.RandomState(0).randint(2, size=60), n_pairs=40, random_state=0)
    fitted = model(max_rounds=4).fit(rows, constraints=links)
    assert len(fitted.violations_) == min(entry["n_unsatisfied"] for entry in fitted.history_)
    assert fitted.violations_ == links.violations(fitted.labels_)
    np.testing.assert_array_equal(fitted.predict(rows), fitted.labels_)


def test_a_penalty_keeps_links_that_term_weights_cannot() -> None:
    rows = np.vstack([X.toarray(), X.toarray()[:1]])
    links = Constraints(cannot_link=[(0, 8)])
    assert len(model().fit(rows, constraints=links).violations_) == 1
    fitted = model(penalty=100.0).fit(rows, constraints=links)
    assert fitted.violations_.is_empty
    assert (np.diff(fitted.objective_) >= -1e-9).all()


def test_linked_rows_are_labeled_together() -> None:
    # Each of three copies prefers the same cluster, and the first may not share one with the others.
    rows = np.vstack([X.toarray(), X.toarray()[[0, 0]]])
    links = Constraints(cannot_link=[(0, 8), (0, 9)])
    fitted = model(n_components=3, penalty=500.0).fit(rows, constraints=links)
    assert fitted.violations_.is_empty


def test_partial_labels_are_links() -> None:
    y = np.full(8, -1)
    y[[0, 4, 2, 6]] = [0, 0, 1, 1]
    assert same(model().fit(X, y).labels_, COLOR)


# ---- values ----------------------------------------------------------------------------------------------------------


def test_feedback_is_written_and_read_as_json() -> None:
    for item in (Feedback("must_link", (3, 1)), Feedback("move", (3,), (0, 2)), Feedback("different")):
        assert Feedback.from_json(item.to_json()) == item
        assert "\n" not in item.to_json()
    assert Feedback("cannot_link", np.array([3, 1])) == Feedback("cannot_link", (3, 1))


def test_a_fitted_model_survives_pickling_and_goes_on() -> None:
    fitted = model().fit(X).feedback(Feedback("cannot_link", (0, 2)))
    back = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(back.refit().labels_, fitted.refit().labels_)


def test_a_sitting_can_be_repeated() -> None:
    rows = two_attributes(0, n_rows=40, length=15)[0]
    items = Feedback("cannot_link", (0, 1)), Feedback("different"), Feedback("bad", clusters=(1,))
    found = []
    for _ in range(2):
        fitted = model(n_components=3).fit(rows)
        for item in items:
            fitted.feedback(item).refit()
        found.append(fitted)
    np.testing.assert_array_equal(found[0].responsibilities_, found[1].responsibilities_)
    np.testing.assert_array_equal(found[0].term_weights_, found[1].term_weights_)


# ---- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("mustlink", (0, 1)), "no feedback of the kind 'mustlink'; the kinds are must_link, cannot_link"),
        (("must_link", (0,)), r"'must_link' is about 2 rows and no clusters; got rows=\(0,\)"),
        (("must_link", (0, -1)), r"whole numbers from 0, such as \(3, 17\); got rows=\(0, -1\)"),
        (("must_link", (0.5, 1)), r"whole numbers from 0, .* got rows=\(0\.5, 1\)"),
        (("must_link", ("a", "b")), "rows of a feedback are whole numbers"),
        (("must_link", "01"), "rows of a feedback are whole numbers"),
        (("must_link", (True, 0)), "rows of a feedback are whole numbers"),
        (("good", (), 1), "clusters of a feedback are whole numbers"),
        ((["must_link"], (0, 1)), "no feedback of the kind"),
        (("must_link", (2, 2)), "needs two different rows"),
        (("good", (), ()), "about 1 cluster"),
        (("good", (1,), (0,)), r"'good' is about 1 cluster and no rows; got rows=\(1,\)"),
        (("merge", (), (1, 1)), "two different clusters"),
    ],
)
def test_feedback_that_says_nothing_is_refused(arguments, message) -> None:
    with pytest.raises(ValueError, match=message):
        Feedback(*arguments)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"kind": "must_link", "rows": "01"}', "rows of a feedback are whole numbers from 0"),
        ('{"kind": "must_link", "rows": null}', "rows of a feedback are whole numbers from 0"),
        ('{"kind": "good", "clusters": [0.5]}', "clusters of a feedback are whole numbers from 0"),
        ('{"rows": [1]}', "is a JSON object with a kind, such as"),
        ("[]", r"is a JSON object with a kind, such as .*; got '\[\]'"),
        ("must_link 0 1", "is no JSON"),
    ],
)
def test_lines_that_are_no_feedback_are_refused(line, message) -> None:
    with pytest.raises(ValueError, match=message):
        Feedback.from_json(line)


def test_rows_and_clusters_that_do_not_exist_are_named() -> None:
    fitted = model().fit(X)
    with pytest.raises(ValueError, match="names row 8, but there are 8 rows"):
        fitted.feedback(Feedback("must_link", (1, 8)))
    with pytest.raises(ValueError, match="names cluster 2, but there are 2 clusters"):
        fitted.feedback(Feedback("good", clusters=(1,)), Feedback("bad", clusters=(2,)))
    assert fitted.feedback_ == []
    with pytest.raises(TypeError, match=r"takes mustlink\.mixture\.Feedback"):
        fitted.feedback("must_link")


def test_what_cannot_be_clustered_is_refused() -> None:
    with pytest.raises(ValueError, match="Negative values"):
        model().fit(-X)
    for texts in (TEXTS, np.array(TEXTS), [[text] for text in TEXTS]):
        with pytest.raises(ValueError, match=r"takes counts, not texts .*; count the words .* CountVectorizer"):
            model().fit(texts)
    with pytest.raises(ValueError, match="n_samples=1 should be >= n_components=2"):
        model().fit(X[:1])
    with pytest.raises(ValueError, match="clip must be two positive numbers"):
        model(clip=(2.0, 3.0)).fit(X)
    with pytest.raises(NotFittedError):
        model().refit()
    with pytest.raises(NotFittedError):
        model().feedback(Feedback("different"))
    with pytest.warns(ConvergenceWarning, match="did not converge in 1 iteration;"):
        model(max_iter=1).fit(X)


def test_empty_rows_get_the_largest_cluster() -> None:
    rows = np.vstack([X.toarray(), np.zeros((2, 4)), X.toarray()[:2]])
    fitted = model().fit(rows).feedback(Feedback("cannot_link", (8, 9)), Feedback("bad", clusters=(0,))).refit()
    assert np.isfinite(fitted.term_weights_).all()
    assert fitted.labels_[8] == fitted.weights_.argmax()


def test_a_saved_model_predicts_and_is_not_fitted_again() -> None:
    predictor = model().fit(X)._for_predicting()
    assert len(predictor.predict(X)) == 8
    with pytest.raises(ValueError, match="rows of the fit are not part of a saved model"):
        predictor.refit()
