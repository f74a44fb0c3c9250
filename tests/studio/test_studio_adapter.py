"""Every clusterer of the catalogue behind one function, with confidences, suspects and failures in words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from mustlink import Constraints, RobustBoostCluster
from mustlink.boosting import CoAssociation
from mustlink.catalogue import CATALOGUE
from mustlink.datasets import load
from mustlink.errors import OptionError
from mustlink.studio import _adapter
from mustlink.studio._adapter import check_method, fit_method, list_methods, measure_confidence


@pytest.fixture(scope="module")
def iris() -> tuple[Any, Any, Constraints]:
    X, classes = load("iris", return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), classes, Constraints.sample(classes, n_pairs=40, random_state=0)


AVAILABLE = [choice.name for choice in list_methods(-np.eye(2)) if choice.available][2:]


def test_all_clusterers_are_listed_with_a_reason() -> None:
    choices = list_methods(-np.eye(2))
    assert [choice.name for choice in choices] == ["auto", "instant", *(entry.name for entry in CATALOGUE)]
    assert all(choice.why.endswith(".") and choice.title for choice in choices)
    reasons = {choice.name: choice.why for choice in choices if not choice.available}
    assert set(reasons) == {
        *(entry.name for entry in CATALOGUE if not entry.takes_links),
        "feedback",
    }
    assert "edges" in reasons["netscan"]
    assert "known already" in reasons["condens"]
    assert "counts" in reasons["feedback"]
    assert "feedback" in [choice.name for choice in list_methods(np.eye(2)) if choice.available]


def test_without_a_number_few_clusterers_are_available() -> None:
    available = [choice.name for choice in list_methods(-np.eye(2), finds_number=True) if choice.available]
    assert available == ["auto", "instant", "seeded-link", "hdbscan"]


@pytest.mark.parametrize("name", AVAILABLE)
def test_every_available_clusterer_fits(name: str, iris: tuple[Any, Any, Constraints]) -> None:
    X, _, links = iris
    keep = np.arange(0, 150, 3)
    some = links.on(150)[keep].constraints
    fit = fit_method(name, X[keep], some, 3, revision=7)
    assert (fit.error, fit.revision, fit.method) == (None, 7, name)
    assert fit.labels is not None
    assert fit.confidence is not None
    assert fit.learned_positions is not None
    assert fit.labels.shape == (50,)
    assert set(fit.labels[fit.labels >= 0]) == set(range(fit.labels.max() + 1))
    assert ((fit.confidence >= 0) & (fit.confidence <= 1)).all()
    assert (fit.confidence[fit.labels < 0] == 0).all()
    assert fit.learned_positions.shape == (50, 2)
    assert fit.seconds > 0


def test_boosting_gives_the_weights_of_columns(iris: tuple[Any, Any, Constraints]) -> None:
    X, _, links = iris
    fit = fit_method("auto", X, links, 3, seed=0)
    assert fit.method == "boost"
    assert fit.column_weights is not None
    assert fit.column_weights.max() == 1
    assert set(np.argsort(fit.column_weights)[-2:]) == {2, 3}
    model = RobustBoostCluster(n_clusters=3, scale=False, random_state=0).fit(X, constraints=links)
    assert fit.labels is not None
    assert np.array_equal(model.labels_[:, None] == model.labels_, fit.labels[:, None] == fit.labels)


def test_boosting_suspects_the_wrong_link(iris: tuple[Any, Any, Constraints]) -> None:
    X, classes, links = iris
    a, b = int(np.argmax(classes == 0)), int(np.argmax(classes == 2))
    wrong = links.add(Constraints(must_link=[(a, b)]), contradictions="majority")
    fit = fit_method("boost", X, wrong, 3, seed=0)
    assert set(fit.suspects) == set(map(tuple, wrong.pairs.tolist()))
    assert max(fit.suspects, key=fit.suspects.__getitem__) == (a, b)


@pytest.mark.parametrize(
    ("name", "n_clusters", "links", "words"),
    [
        ("boost", None, Constraints(), "RobustBoostCluster needs the number of groups; choose it first."),
        ("cop", 3, Constraints([(0, 1), (1, 2)], [(0, 2)]), "remove a link of the chain, or choose a method that may"),
        ("cop", 1, Constraints(cannot_link=[(0, 1)]), "ask for 2 groups or more"),
        ("netscan", 3, Constraints(), "ConnectedKMeans|NetScan cannot be used here. It takes edges"),
        ("no such", 3, Constraints(), "There is no method 'no such'"),
        ("pck", 200, Constraints(), "200"),
    ],
)
def test_a_failure_is_a_sentence(
    name: str, n_clusters: int | None, links: Constraints, words: str, iris: tuple[Any, Any, Constraints]
) -> None:
    fit = fit_method(name, iris[0], links, n_clusters, revision=3)
    assert fit.error is not None
    assert fit.labels is None
    assert fit.revision == 3
    assert any(word in fit.error for word in words.split("|"))
    assert fit.error.endswith(".")
    assert "n_clusters" not in fit.error
    assert "on_infeasible" not in fit.error


def test_any_exception_is_a_sentence(iris: tuple[Any, Any, Constraints], monkeypatch: pytest.MonkeyPatch) -> None:
    for raised, words in ((MemoryError(), "not enough memory"), (ZeroDivisionError("a\n b"), "The method failed: a b")):

        def fail(*given: Any, raised: BaseException = raised) -> Any:
            raise raised

        monkeypatch.setattr(_adapter, "make_clusterer", fail)
        assert words in str(fit_method("pck", iris[0], Constraints(), 3).error)


def test_a_method_is_refused_before_it_is_chosen() -> None:
    for name in ("auto", "instant"):
        check_method(name, None)
    check_method("seeded-link", None)
    check_method("pck", 3)
    for name, n_clusters in (("pck", None), ("residual", 3), ("nothing", 3)):
        with pytest.raises(OptionError):
            check_method(name, n_clusters)


class Boosted:
    """What is needed of a boosted clusterer."""

    def __init__(self, codes: Any, weights: Any) -> None:
        self.coassociation_ = CoAssociation(codes, weights)


def test_confidence_of_boosting_is_a_margin_of_weighted_agreement() -> None:
    rng = np.random.default_rng(0)
    codes, weights = rng.integers(0, 3, size=(30, 8)), rng.uniform(0.1, 1, size=8)
    labels = rng.integers(0, 3, size=30)
    found = measure_confidence(Boosted(codes, weights), None, labels)
    for row in range(30):
        agreement = [
            np.mean([weights[codes[row] == codes[other]].sum() for other in np.flatnonzero(labels == group)])
            for group in range(3)
        ]
        own = agreement.pop(labels[row])
        assert found[row] == pytest.approx(max(0.0, (own - max(agreement)) / (own + max(agreement))))


def test_a_row_that_the_rounds_disagree_on_is_less_certain() -> None:
    codes = np.repeat(np.array([0] * 5 + [1] * 5)[:, None], 10, axis=1)
    codes[0, :4] = 1
    labels = np.array([0] * 5 + [1] * 5)
    found = measure_confidence(Boosted(codes, np.ones(10)), None, labels)
    assert found[0] == found.min()
    assert found[0] < 0.5 < found[1:].min()


def test_other_methods_compare_distances_to_means() -> None:
    X = np.array([[0.0], [1.0], [2.0], [10.0], [12.0], [6.0]])
    labels = np.array([0, 0, 0, 1, 1, -1])
    found = measure_confidence(object(), X, labels)
    assert found == pytest.approx([(11 - 1) / 12, 1.0, (9 - 1) / 10, (9 - 1) / 10, (11 - 1) / 12, 0.0])
    assert measure_confidence(object(), sparse.csr_array(X), labels) == pytest.approx(found)
    assert measure_confidence(object(), X, np.zeros(6, dtype=int)).tolist() == [1.0] * 6
    assert measure_confidence(object(), X, np.full(6, -1)).tolist() == [0.0] * 6
