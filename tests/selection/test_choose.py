"""The choice of a method and of the number of clusters by links held out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mustlink.selection._choose as choosing
from mustlink import ConstrainedHDBSCAN, Constraints, COPKMeans, PCKMeans
from mustlink.base import ConstrainedClusterMixin
from mustlink.errors import ConstraintError, InfeasibleError
from mustlink.selection import Choice, ConstraintKFold, Trial, choose, held_out_accuracy
from mustlink.selection._choose import _best, _incumbent
from mustlink.selection._cost import Clock

X, CLASSES = make_blobs(160, 4, centers=4, cluster_std=1.0, random_state=3)
LINKS = Constraints.sample(CLASSES, n_pairs=80, random_state=0)


class Scripted(ConstrainedClusterMixin, BaseEstimator):
    """Returns the classes, with a fraction of wrong labels, and ignores links."""

    def __init__(self, n_clusters: int = 4, wrong: float = 0.0) -> None:
        self.n_clusters = n_clusters
        self.wrong = wrong

    def fit(self, X: Any, y: Any = None, *, constraints: Any = None) -> Scripted:
        rng = np.random.default_rng(0)
        self.labels_ = np.where(rng.random(len(X)) < self.wrong, rng.integers(4, size=len(X)), CLASSES)
        return self


class Memory(ConstrainedClusterMixin, BaseEstimator):
    """Memorizes the links: satisfies each of them, and separates all other rows."""

    def fit(self, X: Any, y: Any = None, *, constraints: Any = None) -> Memory:
        self.labels_ = self._check_fit_input(X, y, constraints)[1].components(len(X))
        return self


class Fails(Scripted):
    """Cannot be fitted at all, or only not with all links."""

    def __init__(self, n_clusters: int = 4, fewest: int = 0) -> None:
        self.n_clusters = n_clusters
        self.fewest = fewest
        self.wrong = 0.0

    def fit(self, X: Any, y: Any = None, *, constraints: Any = None) -> Scripted:
        if len(constraints.constraints) >= self.fewest:
            raise InfeasibleError("No clustering\nwas found.")
        return super().fit(X, y, constraints=constraints)


def test_the_true_number_is_found_and_the_best_is_fitted_with_all_links() -> None:
    choice = choose(X, LINKS, methods=["pck", "cop"], random_state=0)
    assert choice.n_clusters == 4
    assert [trial.n_clusters for trial in choice.trials] == [*range(2, 11)] * 2
    again = PCKMeans(4, random_state=choice.estimator.random_state).fit(X, constraints=LINKS)
    np.testing.assert_array_equal(choice.labels, again.labels_)


def test_scores_are_those_of_held_out_accuracy_on_the_same_folds() -> None:
    folds = ConstraintKFold(4, random_state=7)
    choice = choose(X, LINKS, methods={"one": PCKMeans(random_state=3)}, n_clusters=[3, 4], cv=folds)
    for trial in choice.trials:
        scores = held_out_accuracy(PCKMeans(trial.n_clusters, random_state=3), X, LINKS, cv=folds)
        assert trial.scores == tuple(scores)
        assert trial.mean == pytest.approx(scores.mean())
        assert trial.standard_error == pytest.approx(scores.std(ddof=1) / 2)


def test_the_same_seed_gives_the_same_choice() -> None:
    one, other = (choose(X, LINKS, methods=["pck"], n_clusters=[3, 4, 5], random_state=5) for _ in range(2))
    assert [trial.scores for trial in one.trials] == [trial.scores for trial in other.trials]
    np.testing.assert_array_equal(one.labels, other.labels)


def test_memorizing_links_does_not_help() -> None:
    chosen = choose(X, LINKS, methods={"memory": Memory(), "pck": PCKMeans()}, n_clusters=4, random_state=0)
    memory = next(trial for trial in chosen.trials if trial.method == "memory")
    assert LINKS.violation_rate(Memory().fit(X, constraints=LINKS).labels_) == 0.0
    # It separates all held-out pairs.
    assert memory.mean == pytest.approx(0.5)
    assert chosen.method == "pck"


@pytest.mark.parametrize("y", [None, np.where(np.arange(160) % 4 == 0, CLASSES, -1)])
def test_partial_labels_are_split_and_do_not_leak(y: NDArray[Any] | None) -> None:
    chosen = choose(X, LINKS, y=y, methods={"memory": Memory(), "pck": PCKMeans()}, n_clusters=4, random_state=0)
    assert next(trial for trial in chosen.trials if trial.method == "memory").mean == pytest.approx(0.5)
    assert len(chosen.estimator.violations_) == 0


@pytest.mark.parametrize(("kind", "unknown"), [(int, -1), (float, np.nan), (str, ""), (str, "-1"), (object, None)])
def test_every_sign_of_an_unknown_label_is_the_same(kind: type, unknown: object) -> None:
    known = np.arange(160) % 8 == 0
    y = np.where(known, CLASSES.astype(kind), np.array(unknown, dtype=kind))
    joined = choose(X, LINKS, y=y, methods={"memory": Memory()}, n_clusters=4, random_state=0).labels
    links = LINKS + Constraints.from_labels(np.where(known, CLASSES, -1))
    np.testing.assert_array_equal(joined, Memory().fit(X, constraints=links).labels_)
    assert len(np.unique(joined)) < len(np.unique(Memory().fit(X, constraints=LINKS).labels_))


def test_failures_are_trials() -> None:
    choice = choose(X, LINKS, methods={"fails": Fails(), "pck": PCKMeans()}, n_clusters=[4, 5], random_state=0)
    failed = [trial for trial in choice.trials if trial.failure is not None]
    assert [(trial.method, trial.n_clusters, trial.failure) for trial in failed] == [
        ("fails", 4, "No clustering was found."),
        ("fails", 5, "No clustering was found."),
    ]
    assert choice.method == "pck"
    assert "fails with 4 clusters failed: No clustering was found." in str(choice)
    assert "4 tried, 2 failed" in repr(choice)


def test_if_the_best_cannot_be_refitted_the_next_is_selected() -> None:
    methods = {"fails": Fails(fewest=len(LINKS)), "right": Scripted(wrong=0.1)}
    choice = choose(X, LINKS, methods=methods, n_clusters=4, random_state=0)
    assert choice.method == "right"
    assert "failed with all links" in str(choice.trials[0].failure)
    assert choice.notes == ("fails with 4 clusters was the best on the folds, and failed with all links.",)


def test_if_all_trials_fail_the_error_has_the_reasons() -> None:
    with pytest.raises(ValueError, match=r"All 2 trials failed.*No clustering was found"):
        choose(X, LINKS, methods=[Fails()], n_clusters=[3, 4])


def trial(method: str, k: int | None, *scores: float) -> Trial:
    return Trial(method, k, scores, 0.0)


@pytest.mark.parametrize(
    ("trials", "chosen"),
    [
        # The differences are 0.05 and 0.05: their standard error is 0, and the better method is clearly better.
        ([trial("a", 2, 0.6, 0.8), trial("a", 3, 0.8, 0.9), trial("b", 3, 0.85, 0.95)], 2),
        # 0 and 0.1: a mean of 0.05, a standard error of 0.05; the incumbent stays, with its own best number.
        ([trial("a", 2, 0.6, 0.8), trial("a", 3, 0.8, 0.9), trial("b", 3, 0.8, 1.0)], 1),
        # Large errors of the two methods do not matter if one is better on every fold.
        ([trial("a", 3, 0.2, 0.8), trial("b", 3, 0.3, 1.0)], 1),
        # Of several that are better, the best; the other number of the incumbent is no rival.
        ([trial("a", 3, 0.5, 0.5), trial("b", 3, 0.6, 0.6), trial("b", 4, 0.9, 0.9), trial("a", 4, 0.4, 0.4)], 2),
        # Exact equals: the smaller number, and the incumbent.
        ([trial("a", 5, 0.9, 0.9), trial("a", 3, 0.9, 0.9), trial("b", 2, 0.9, 0.9)], 1),
        # Without a score the next method is the incumbent.
        ([trial("a", 3), trial("b", None, 0.5, 0.5), trial("c", 2, 0.4, 0.7)], 1),
    ],
)
def test_the_incumbent_stays_unless_another_is_clearly_better(trials: list[Trial], chosen: int) -> None:
    methods = ["a", "b", "c"]
    incumbent = _incumbent(trials, methods)
    best = _best(trials, trials[incumbent], methods)
    assert (incumbent if best is None else best) == chosen


@pytest.mark.parametrize(("wrong", "method"), [(0.0, "boost"), (0.3, "other")])
def test_the_default_is_the_incumbent_wherever_it_is_listed(
    monkeypatch: pytest.MonkeyPatch, wrong: float, method: str
) -> None:
    monkeypatch.setattr(choosing, "_default_among", lambda candidates: "boost")
    methods = {"other": Scripted(), "boost": Scripted(wrong=wrong)}
    choice = choose(X, LINKS, methods=methods, n_clusters=4, random_state=0)
    assert choice.method == method
    assert [trial.method for trial in choice.trials] == ["other", "boost"]
    assert choice.incumbent is choice.trials[1]


def test_slow_methods_are_tried_with_promising_numbers_only() -> None:
    methods = {"boost": Scripted(), "pck": PCKMeans()}
    numbers = {
        shortlist: [
            trial.n_clusters
            for trial in choose(
                X, LINKS, methods=methods, n_clusters=range(2, 8), shortlist=shortlist, random_state=0
            ).trials
            if trial.method == "boost"
        ]
        for shortlist in (2, None)
    }
    assert len(numbers[2]) == 2
    assert 4 in numbers[2]
    assert numbers[None] == [2, 3, 4, 5, 6, 7]
    alone = choose(X, LINKS, methods={"boost": Scripted()}, n_clusters=range(2, 8))
    assert len(alone.trials) == 6


def test_a_method_without_n_clusters_is_tried_once() -> None:
    choice = choose(X, LINKS, methods=[ConstrainedHDBSCAN(), COPKMeans()], n_clusters=[3, 4], random_state=0)
    assert [(trial.method, trial.n_clusters) for trial in choice.trials] == [
        ("ConstrainedHDBSCAN", None),
        ("COPKMeans", 3),
        ("COPKMeans", 4),
    ]
    found = choose(X, LINKS, methods="hdbscan")
    assert found.n_clusters == found.estimator.n_clusters_


@pytest.mark.parametrize("routing", [False, True])
def test_n_clusters_of_pipelines_is_set(routing: bool) -> None:
    pipeline = make_pipeline(StandardScaler(), PCKMeans())
    with sklearn.config_context(enable_metadata_routing=routing):
        choice = choose(X, LINKS, methods={"scaled": pipeline}, n_clusters=[2, 4], cv=None, random_state=0)
    assert choice.n_clusters == 4
    assert choice.estimator[-1].n_clusters == 4
    assert choice.labels is choice.estimator[-1].labels_
    assert pipeline[-1].n_clusters == 8


def test_default_methods_come_from_the_catalogue_and_boost_is_among_them() -> None:
    choice = choose(X, LINKS, n_clusters=4, random_state=0)
    assert [trial.method for trial in choice.trials] in (["pck", "cop", "boost"], ["pck", "cop", "mpck", "boost"])


ONE_KIND = {
    "must-links": Constraints(must_link=LINKS.must_link),
    "cannot-links": Constraints(cannot_link=LINKS.cannot_link),
}


@pytest.mark.parametrize("kind", ONE_KIND)
def test_one_kind_of_links_does_not_determine_the_number(kind: str) -> None:
    with pytest.raises(ConstraintError, match=f"links are {kind}, which cannot determine the number of clusters"):
        choose(X, ONE_KIND[kind], methods=["pck"])
    with pytest.warns(UserWarning, match=f"All 40 links are {kind}"):
        choice = choose(X, ONE_KIND[kind], methods=["pck", "cop"], n_clusters=4)
    assert any(kind in note for note in choice.notes)
    assert kind in str(choice)


def test_few_links_warn() -> None:
    few = Constraints(must_link=[(0, 5), (1, 6)], cannot_link=[(0, 1), (2, 9)])
    with pytest.warns(UserWarning, match="links") as caught:
        choice = choose(X, few, methods=["pck"], n_clusters=[3, 4], random_state=0)
    assert [str(warning.message) for warning in caught] == list(choice.notes)
    assert "4 links are few" in choice.notes[0]
    assert "4 groups that cannot be divided: 4 folds, not 5" in choice.notes[1]


def test_one_group_of_links_cannot_be_held_out() -> None:
    chain = Constraints(must_link=[(0, 1), (1, 2), (2, 3)])
    with pytest.raises(ConstraintError, match="form one group"):
        choose(X, chain, methods=["pck"], n_clusters=4)


def test_no_links() -> None:
    with pytest.raises(ConstraintError, match="There are no links"):
        choose(X, Constraints())


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"n_clusters": 0}, "n_clusters must be integers of at least 1"),
        ({"n_clusters": []}, "n_clusters must be"),
        ({"n_clusters": [2.5]}, "n_clusters must be"),
        ({"methods": []}, "methods is empty"),
        ({"methods": ["magic"]}, "There is no method 'magic'"),
        ({"methods": [PCKMeans(), PCKMeans(penalty=2.0)]}, "methods contains PCKMeans twice"),
    ],
)
def test_invalid_parameters(parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        choose(X, LINKS, **parameters)


@pytest.mark.parametrize(
    ("methods", "given"),
    [
        (PCKMeans, "the class PCKMeans"),
        ([PCKMeans], "the class PCKMeans"),
        ({"pck": PCKMeans}, "the class"),
        ([3], "3"),
    ],
)
def test_methods_that_are_no_clusterers(methods: Any, given: str) -> None:
    with pytest.raises(TypeError, match=rf"methods takes names and clusterers, such as PCKMeans\(\); got {given}"):
        choose(X, LINKS, methods=methods)


def test_a_clusterer_without_constraints_is_a_failed_trial() -> None:
    choice = choose(X, LINKS, methods={"kmeans": KMeans(), "pck": PCKMeans()}, n_clusters=4, random_state=0)
    assert "constraints" in str(choice.trials[0].failure)


def test_trials_as_text_and_as_a_frame() -> None:
    choice = choose(X, LINKS, methods=[Memory(), Scripted()], n_clusters=[4, 5])
    assert choice.method == "Scripted"
    lines = str(choice).splitlines()
    assert lines[0].split() == ["method", "clusters", "links", "kept", "+/-", "seconds"]
    assert lines[2].split()[:5] == ["*", "Scripted", "4", "100.0%", "0.0%"]
    assert lines[-1] == (
        "Chosen: Scripted with 4 clusters keeps 100.0% of the held-out links, 50.0% (+/- 0.0%) more than Memory, the "
        "first method."
    )
    frame = choice.to_frame()
    assert frame["chosen"].tolist() == [False, True, False]
    assert frame["n_clusters"].isna().tolist() == [True, False, False]
    assert frame["mean"].tolist() == [trial.mean for trial in choice.trials]


def test_reasons_for_the_incumbent_and_for_another() -> None:
    one, other = trial("boost", 3, 0.8, 0.9), trial("b", 4, 0.8, 1.0)
    assert Choice(one, None, (one, other), incumbent=one).reason == (
        "boost with 3 clusters keeps 85.0% of the held-out links; b with 4 clusters keeps 90.0%, but the difference is "
        "within one standard error (5.0%), and boost is the default."
    )
    one, other = trial("a", 3, 0.8, 0.9), trial("b", 4, 0.86, 0.98)
    assert Choice(other, None, (one, other), incumbent=one).reason == (
        "b with 4 clusters keeps 92.0% of the held-out links, 7.0% (+/- 1.0%) more than a with 3 clusters, the first "
        "method."
    )


def test_the_reason_names_what_the_incumbent_is() -> None:
    failed, one, other = Trial("a", 3, (), 0.1, "No."), trial("b", 3, 0.8, 0.9), trial("c", 3, 0.8, 1.0)
    choice = Choice(one, None, (failed, one, other), incumbent=one)
    assert choice.reason.endswith("and b is the first method that did not fail.")
    choice = choose(X, LINKS, methods={"pck": PCKMeans(), "boost": Scripted()}, n_clusters=4, random_state=0)
    assert choice.incumbent is not None
    assert choice.incumbent.method == "pck"
    assert "the default" not in choice.reason


def test_the_cost_is_said_before_it_starts(capsys: pytest.CaptureFixture[str]) -> None:
    choose(X, LINKS, methods={"boost": Scripted(), "pck": PCKMeans()}, verbose=1)
    said = capsys.readouterr().err
    assert said.startswith(
        "Choosing by held-out links: 61 fits (12 trials of 2 methods, 5 folds each, and the best with all links)."
    )


def test_the_time_left_is_a_bound_until_every_method_was_timed() -> None:
    clock = Clock(["pck"] * 3 + ["boost"] * 2, {"boost"})
    assert str(clock) == ""
    clock.add("pck", 2.0)
    assert str(clock) == "at least 4 s left"
    clock.add("boost", 30.0)
    assert str(clock) == "about 34 s left"
    bounded = Clock(["boost", "pck", "pck"], {"boost"})
    bounded.add("boost", 90.0)
    assert str(bounded) == "at most 3 min left"
    long = Clock(["boost"] * 3, {"boost"})
    long.add("boost", 3600.0)
    assert str(long) == "about 2 hours left"


def test_the_progress_bar_is_written_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    choose(X, LINKS, methods=[Scripted()], n_clusters=[3, 4], verbose=1)
    captured = capsys.readouterr()
    assert captured.out == ""
