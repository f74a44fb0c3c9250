"""The choice of a method and of the number of clusters by links held out."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from mustlink._estimators import draw_seed
from mustlink._progress import Advance, progress
from mustlink._warnings import warn_caller
from mustlink.base import as_constraints, check_partial_labels
from mustlink.catalogue import CATALOGUE, default_methods, find_clusterer
from mustlink.constraints import AlignedConstraints, Constraints
from mustlink.errors import ConstraintError
from mustlink.selection._choice import Choice, Trial
from mustlink.selection._held_out import held_out_accuracy
from mustlink.selection._kfold import ConstraintKFold, _groups

__all__ = ["choose"]

FEW_LINKS = 10
MOST_CLUSTERS = 10

Candidate = tuple[str, int | None, Any]
Methods = Mapping[str, Any] | Iterable[Any] | str | None


def choose(
    X: Any,
    constraints: Constraints | AlignedConstraints,
    *,
    y: ArrayLike | None = None,
    methods: Methods = None,
    n_clusters: int | Iterable[int] | None = None,
    cv: int | ConstraintKFold = 5,
    balanced: bool = True,
    shortlist: int | None = 3,
    random_state: int | np.random.RandomState | None = None,
    n_jobs: int | None = None,
    verbose: int | bool = 0,
) -> Choice:
    """Choose a method and the number of clusters by how well they foresee links they have not seen.

    Every method is fitted with every number of clusters on the links of all folds but one, and scored by the share of
    the links of that fold that its clusters keep. The best is fitted once more, with all links.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The table.
    constraints : Constraints or AlignedConstraints
        The links.
    y : array-like of shape (n_samples,), default=None
        Partial labels, -1 for unknown, as one more source of links. They are split with the links.
    methods : str, list or dict, default=None
        What to try, the simplest first: names of the catalogue such as "pck", clusterers, or a dict of names and
        clusterers. None is pck, cop, mpck and boost.
    n_clusters : int or iterable of int, default=None
        The numbers of clusters to try; None is 2 to 10. A clusterer without a parameter `n_clusters` finds the
        number and is tried once.
    cv : int or ConstraintKFold, default=5
        How to split the links; a number is that many folds, or fewer where the links hang together too much.
    balanced : bool, default=True
        Whether must-links and cannot-links count alike, whatever their numbers.
    shortlist : int or None, default=3
        With how many numbers of clusters the slow methods, those that boost others, are tried: the best ones of the
        other methods. None is all numbers.
    random_state : int, RandomState or None, default=None
        Makes folds and fits repeatable. All that is tried is tried on the same folds.
    n_jobs : int, default=None
        How many folds are fitted at a time.
    verbose : int or bool, default=0
        Whether to show a progress bar.

    Returns
    -------
    Choice
        With the fitted winner as `estimator` and all `trials`. Printed, it is the table of what was tried.

    Raises
    ------
    ConstraintError
        If the links cannot tell what is asked: there are none, they all hang together, or there is one kind only
        and the number of clusters is open.
    ValueError
        If nothing that was tried could be fitted.

    Warns
    -----
    UserWarning
        If there are fewer than ten links, or only one kind of them, so that the choice means little.

    See Also
    --------
    held_out_accuracy : The score.
    ConstraintKFold : The folds; no held-out link follows from the others.

    Notes
    -----
    The largest mean score decides, with one exception: methods come in the order given, the simplest first, and a
    method with a mean within one standard error of the largest is taken before a less simple one. Of its numbers of
    clusters the one with the largest mean is taken, of equals the smallest.

    A method that fails on some fold, as a hard one may, has a row in the table that says why. If the winner cannot
    be fitted with all links, it counts as failed too, and the next is taken.

    The score of the winner is the best of many, and so a little too good. With exactly two clusters, two cannot-links
    in a row entail a must-link, which the folds do not guard against, so that two clusters have a small advantage
    where cannot-links form chains.

    One kind of links cannot tell how many clusters there are. One cluster keeps every must-link, and as many clusters
    as rows keep every cannot-link.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mustlink import Constraints
    >>> from mustlink.selection import choose
    >>> X, species = load_iris(return_X_y=True)
    >>> links = Constraints.sample(species, n_pairs=100, random_state=0)
    >>> choice = choose(X, links, methods=["pck", "cop"], n_clusters=[2, 3, 6], random_state=0)
    >>> choice.n_clusters
    3
    >>> choice.estimator.labels_.shape
    (150,)
    """
    n_samples = X.shape[0] if hasattr(X, "shape") else len(X)
    links = as_constraints(constraints, n_samples)
    labels = check_partial_labels(y, n_samples)
    if labels is not None:
        links = links + Constraints.from_labels(labels)
    candidates = _named(methods)
    numbers = _numbers(n_clusters, n_samples)
    any_counts = any(_parameter(clusterer, "n_clusters") for clusterer in candidates.values())
    notes = _what_cannot_be_told(links, number_is_open=any_counts and len(numbers) > 1)
    seed = draw_seed(random_state)
    splitter = _folds(links, n_samples, cv, seed, notes)
    for note in notes:
        warn_caller(note, UserWarning)
    search = _Search(X, links, n_samples, splitter, balanced, n_jobs)
    with progress(None, "Choosing", shown=verbose, stderr=True) as advance:
        slow_names = {entry.name for entry in CATALOGUE if entry.speed == "slow" and shortlist is not None}
        slow = {name: clusterer for name, clusterer in candidates.items() if name in slow_names}
        quick = {name: clusterer for name, clusterer in candidates.items() if name not in slow}
        search.try_all(list(_prepared(quick, numbers, seed)), advance)
        promising = _promising(search.trials, numbers, shortlist)
        search.try_all(list(_prepared(slow, promising, seed)), advance)
    return search.choice({method: rank for rank, method in enumerate(candidates)}, notes)


def _named(methods: Methods) -> dict[str, Any]:
    """Return the clusterers to try by their names, in the order given."""
    if methods is None:
        methods = default_methods()
    if isinstance(methods, Mapping):
        named = dict(methods)
    else:
        listed = [methods] if isinstance(methods, str) or hasattr(methods, "fit") else list(methods)
        named = {}
        for method in listed:
            name = find_clusterer(method).name if isinstance(method, str) else type(method).__name__
            if name in named:
                raise ValueError(f"methods holds {name} twice; pass a dict, which gives each a name of its own.")
            named[name] = method
    if not named:
        raise ValueError("methods is empty, so that there is nothing to choose from; name a method, or leave it out.")
    return {
        name: find_clusterer(method).load()() if isinstance(method, str) else method for name, method in named.items()
    }


def _numbers(n_clusters: int | Iterable[int] | None, n_samples: int) -> list[int]:
    """Return the numbers of clusters to try, in ascending order."""
    if n_clusters is None:
        return list(range(2, max(3, min(MOST_CLUSTERS + 1, n_samples))))
    given = [n_clusters] if isinstance(n_clusters, int | np.integer) else list(n_clusters)
    if not given or any(not isinstance(number, int | np.integer) or number < 1 for number in given):
        raise ValueError(f"n_clusters must be whole numbers of at least 1, or None; got {n_clusters!r}.")
    return sorted({int(number) for number in given})


def _what_cannot_be_told(links: Constraints, *, number_is_open: bool) -> list[str]:
    """Refuse links that cannot tell what is asked, and note what they tell badly."""
    notes = []
    kinds = {"must-links": len(links.must_link), "cannot-links": len(links.cannot_link)}
    if links.is_empty:
        raise ConstraintError("There are no links, so that neither a method nor the number of clusters can be chosen.")
    if 0 in kinds.values():
        only = max(kinds, key=lambda kind: kinds[kind])
        always = "fewer clusters always keep more of them" if only == "must-links" else "more clusters always do better"
        if number_is_open:
            raise ConstraintError(
                f"All {len(links)} links are {only}, which cannot determine the number of clusters: {always}",
                remedy=("give_n_clusters", "other_links"),
            )
        notes.append(f"All links are {only}, so that methods are compared by these alone: {always}.")
    if len(links) < FEW_LINKS:
        notes.append(
            f"{len(links)} links are few to choose by: one link more or less kept may decide. Ten are the least that "
            "tell a little, and fifty tell more."
        )
    return notes


def _folds(
    links: Constraints, n_samples: int, cv: int | ConstraintKFold, seed: int, notes: list[str]
) -> ConstraintKFold:
    """Return folds that are the same for all that is tried."""
    if not isinstance(cv, int | np.integer):
        if cv.shuffle and not isinstance(cv.random_state, int | np.integer):
            return ConstraintKFold(cv.n_splits, random_state=seed)
        return cv
    n_groups = len(np.unique(np.concatenate(_groups(links, n_samples))))
    if n_groups < 2:
        raise ConstraintError(
            f"The {len(links)} links hang together as one group, so that none can be held out; neither a method nor "
            "the number of clusters can be chosen by them."
        )
    if n_groups < cv:
        notes.append(f"The {len(links)} links form {n_groups} groups that must not be cut: {n_groups} folds, not {cv}.")
    return ConstraintKFold(min(int(cv), n_groups), random_state=seed)


def _prepared(candidates: Mapping[str, Any], numbers: Iterable[int], seed: int) -> Iterator[Candidate]:
    """Yield every method with every number of clusters, as an unfitted clusterer with a seed."""
    for name, clusterer in candidates.items():
        count = _parameter(clusterer, "n_clusters")
        seeded = _parameter(clusterer, "random_state")
        for number in numbers if count else [None]:
            copy = clone(clusterer)
            if count:
                copy.set_params(**{count: number})
            if seeded and copy.get_params()[seeded] is None:
                copy.set_params(**{seeded: seed})
            yield name, number, copy


def _promising(trials: list[Trial], numbers: list[int], most: int | None) -> list[int]:
    """Return the numbers of clusters with the largest mean by any method so far; all of them if none has a score."""
    best = dict.fromkeys(numbers, -1.0)
    for trial in trials:
        if trial.n_clusters is not None and trial.scores:
            best[trial.n_clusters] = max(best[trial.n_clusters], trial.mean)
    if max(best.values()) < 0:
        return numbers
    return sorted(sorted(numbers, key=lambda number: -best[number])[:most])


def _parameter(clusterer: Any, name: str) -> str | None:
    """Return what a parameter is called, in a clusterer or in the last step of a pipeline; None if there is none."""
    known = clusterer.get_params()
    inner = f"{clusterer.steps[-1][0]}__{name}" if hasattr(clusterer, "steps") else name
    return inner if inner in known else None


@dataclass
class _Search:
    """What is tried on, and what came of it so far."""

    X: Any
    links: Constraints
    n_samples: int
    splitter: ConstraintKFold
    balanced: bool
    n_jobs: int | None
    trials: list[Trial] = field(default_factory=list)
    clusterers: list[Any] = field(default_factory=list)

    def try_all(self, prepared: list[Candidate], advance: Advance) -> None:
        """Score some clusterers; a failure is an outcome like any other."""
        for place, (method, number, clusterer) in enumerate(prepared):
            advance(place, method if number is None else f"{method}, {number} clusters", total=len(prepared))
            started = time.perf_counter()
            scores: tuple[float, ...] = ()
            failure = None
            with warnings.catch_warnings():
                # What a fit with fewer links complains of is no news: its score tells.
                warnings.simplefilter("ignore")
                try:
                    scores = self._scores(clusterer)
                except Exception as error:
                    failure = _sentence(error)
            self.trials.append(Trial(method, number, scores, time.perf_counter() - started, failure))
            self.clusterers.append(clusterer)

    def _scores(self, clusterer: Any) -> tuple[float, ...]:
        """Score a clusterer on every fold."""
        scores = held_out_accuracy(
            clusterer, self.X, self.links, cv=self.splitter, balanced=self.balanced, n_jobs=self.n_jobs
        )
        return tuple(scores.tolist())

    def choice(self, order: Mapping[str, int], notes: list[str]) -> Choice:
        """Fit the winner with all links, or the next one if it fails."""
        while ranked := _ranked(self.trials, order):
            place = ranked[0]
            trial = self.trials[place]
            try:
                fitted = self.clusterers[place].fit(self.X, constraints=self.links.on(self.n_samples))
            except Exception as error:
                failure = f"It was the best, and failed with all links: {_sentence(error)}"
                self.trials[place] = replace(trial, scores=(), failure=failure)
                notes.append(f"{trial.name} was the best on the folds, and could not be fitted with all links.")
                continue
            return Choice(trial, fitted, tuple(self.trials), tuple(notes))
        told = "; ".join(f"{trial.name}: {trial.failure}" for trial in self.trials[:3])
        raise ValueError(f"Nothing that was tried could be fitted ({len(self.trials)} failed), such as {told}")


def _sentence(error: Exception) -> str:
    """Word a failure on one line."""
    return " ".join(str(error).split()) or type(error).__name__


def _ranked(trials: list[Trial], order: Mapping[str, int]) -> list[int]:
    """Return the places of the trials that have a score, the one to take first."""
    scored = [place for place, trial in enumerate(trials) if trial.scores]
    if not scored:
        return []
    top = max((trials[place] for place in scored), key=lambda trial: trial.mean)
    as_good = {trials[place].method for place in scored if trials[place].mean >= top.mean - top.standard_error}
    simplest = min(as_good, key=order.__getitem__)

    def rank(place: int) -> tuple[bool, float, int, int]:
        trial = trials[place]
        return trial.method != simplest, -trial.mean, order[trial.method], trial.n_clusters or 0

    return sorted(scored, key=rank)
