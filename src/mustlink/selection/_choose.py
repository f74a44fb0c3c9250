"""Selection of a method and of the number of clusters by held-out links."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from mustlink._estimators import count_parameter, draw_seed, fit_with_links
from mustlink._progress import Advance, progress
from mustlink._spelling import count
from mustlink._warnings import warn_caller
from mustlink.base import collect_links
from mustlink.catalogue import CATALOGUE, DEFAULT_METHOD, default_methods, find_clusterer
from mustlink.constraints import AlignedConstraints, Constraints
from mustlink.errors import ConstraintError, MustlinkError
from mustlink.selection._choice import Choice, Trial
from mustlink.selection._cost import Clock, spell_cost
from mustlink.selection._held_out import held_out_accuracy
from mustlink.selection._kfold import DEFAULT_N_SPLITS, ConstraintKFold, check_splitter, link_groups, links_form

__all__ = ["choose"]

# With fewer links there is a warning.
MIN_LINKS = 10
# The largest number of clusters that is tried by default.
MAX_CLUSTERS = 10

# The methods that are tried with few numbers of clusters.
SLOW = frozenset(entry.name for entry in CATALOGUE if entry.speed == "slow")

Candidate = tuple[str, int | None, Any]
Methods = Mapping[str, Any] | Iterable[Any] | str | None


def choose(
    X: Any,
    constraints: Constraints | AlignedConstraints,
    *,
    y: ArrayLike | None = None,
    methods: Methods = None,
    n_clusters: int | Iterable[int] | None = None,
    cv: int | ConstraintKFold | None = 5,
    balanced: bool = True,
    shortlist: int | None = 3,
    random_state: int | np.random.RandomState | None = None,
    n_jobs: int | None = None,
    verbose: int | bool = 0,
) -> Choice:
    """Select a method and the number of clusters by held-out links.

    Every method is fitted with every number of clusters and the links of all folds but one, and scored by the fraction
    of the links of that fold that its labels satisfy. The best is fitted again with all links.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The data.
    constraints : Constraints or AlignedConstraints
        The links.
    y : array-like of shape (n_samples,), default=None
        Partial labels, -1 for unknown, as an additional source of links. They are split like the links.
    methods : str, list or dict, default=None
        The methods: names of the catalogue such as "pck", clusterers, or a dict of names and clusterers. None is pck,
        cop, mpck and boost. Of boost, the default of the command, or else the first one, another method must be clearly
        better to be selected.
    n_clusters : int or iterable of int, default=None
        The numbers of clusters; None is 2 to 10. A clusterer without a parameter for it is tried once.
    cv : int, ConstraintKFold or None, default=5
        How to split the links; a number is the number of folds, or fewer if the links cannot be divided into so many.
        None is 5.
    balanced : bool, default=True
        Whether must-links and cannot-links have equal weight, whatever their numbers.
    shortlist : int or None, default=3
        The number of numbers of clusters for slow methods, those that boost others: the best ones of the other methods.
        None is all.
    random_state : int, RandomState or None, default=None
        Makes folds and fits repeatable. All trials use the same folds.
    n_jobs : int, default=None
        The number of folds that are fitted in parallel.
    verbose : int or bool, default=0
        Whether to print the number of fits and to show a progress bar with the estimated time left.

    Returns
    -------
    Choice
        With the best clusterer, fitted, as `estimator`, and all `trials`. Its text is a table of the trials.

    Raises
    ------
    ConstraintError
        If the links do not suffice: there are none, they cannot be divided into folds, or there is only one kind and
        several numbers of clusters.
    ValueError
        If all trials fail.

    Warns
    -----
    UserWarning
        If there are fewer than ten links, or only one kind of them.

    See Also
    --------
    held_out_accuracy : The score.
    ConstraintKFold : The folds; no held-out link follows from training links.

    Notes
    -----
    The default method, boost, is the incumbent; the first one, if it is not among `methods`. Another method replaces it
    only if its mean score is larger by more than one standard error of the difference, paired over the folds. So a
    method is not preferred by chance, and the result is not worse than that of the default by more than noise. Of
    several such methods, and of the numbers of clusters of a method, the one with the largest mean score is selected,
    and ties go to the first method and to the smallest number.

    A method that fails on a fold, as a hard one may, is a trial with a failure. If the best one fails with all links,
    the next is selected.

    The score of the best of many trials is slightly optimistic. With exactly two clusters, two cannot-links in a row
    entail a must-link, which the folds do not prevent: chains of cannot-links give two clusters a small advantage.

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
    links = collect_links(constraints, y, X)
    candidates = _named_clusterers(methods)
    numbers = _cluster_numbers(n_clusters, n_samples)
    has_numbers = any(_count_name(clusterer) for clusterer in candidates.values())
    notes = _check_links(links, number_is_open=has_numbers and len(numbers) > 1)
    seed = draw_seed(random_state)
    splitter = _make_splitter(links, n_samples, cv, seed, notes)
    for note in notes:
        warn_caller(note, UserWarning)
    score = partial(held_out_accuracy, X=X, constraints=links, cv=splitter, balanced=balanced, n_jobs=n_jobs)
    default = _default_among(candidates)
    incumbent = default or next(iter(candidates))
    first, last = _order(candidates, incumbent, is_short=shortlist is None or len(numbers) <= shortlist)
    planned = [name for name, _, _ in _configured(first, numbers, seed)]
    planned += [name for name, _, _ in _configured(last, numbers[: shortlist if first else None], seed)]
    clock = Clock(planned, SLOW)
    if verbose:
        print(spell_cost(len(planned), len(candidates), splitter.n_splits), file=sys.stderr)
    with progress(len(planned), "Choosing", shown=verbose, stderr=True) as advance:
        tried = _try_all(list(_configured(first, numbers, seed)), score, advance, clock)
        promising = _promising([trial for trial, _ in tried], numbers, shortlist)
        tried += _try_all(list(_configured(last, promising, seed)), score, advance, clock)
    methods = list(candidates)
    tried.sort(key=lambda one: methods.index(one[0].method))
    return _fit_best(tried, X, links.on(n_samples), [incumbent, *methods], notes, default)


def _default_among(candidates: dict[str, Any]) -> str | None:
    """Return the name of the default method if it is among the candidates, and not another clusterer of this name."""
    is_there = type(candidates.get(DEFAULT_METHOD)) is find_clusterer(DEFAULT_METHOD).load()
    return DEFAULT_METHOD if is_there else None


def _order(candidates: dict[str, Any], incumbent: str, *, is_short: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the methods to try with all numbers of clusters, and those to try with the promising ones of the others.

    If there are few numbers, all are tried with all of them, the incumbent first, whose time bounds that of the others.
    """
    if is_short:
        return {incumbent: candidates[incumbent]} | candidates, {}
    slow = {name: clusterer for name, clusterer in candidates.items() if name in SLOW}
    return {name: clusterer for name, clusterer in candidates.items() if name not in slow}, slow


def _named_clusterers(methods: Methods) -> dict[str, Any]:
    """Return the clusterers by their names, in the given order."""
    if methods is None:
        methods = default_methods()
    if isinstance(methods, Mapping):
        named = dict(methods)
    else:
        listed = [methods] if isinstance(methods, str) or hasattr(methods, "fit") else list(methods)
        named = {}
        for method in listed:
            kind = method if isinstance(method, type) else type(method)
            name = find_clusterer(method).name if isinstance(method, str) else kind.__name__
            if name in named:
                raise ValueError(f"methods contains {name} twice; pass a dict to give each its own name.")
            named[name] = method
    if not named:
        raise ValueError("methods is empty; name at least one method, or omit it.")
    for method in named.values():
        if not isinstance(method, str) and (isinstance(method, type) or not hasattr(method, "fit")):
            given = f"the class {method.__name__}" if isinstance(method, type) else repr(method)
            raise TypeError(f"methods takes names and clusterers, such as PCKMeans(); got {given}.")
    return {
        name: find_clusterer(method).load()() if isinstance(method, str) else method for name, method in named.items()
    }


def _cluster_numbers(n_clusters: int | Iterable[int] | None, n_samples: int) -> list[int]:
    """Return the numbers of clusters in ascending order."""
    if n_clusters is None:
        return list(range(2, max(3, min(MAX_CLUSTERS + 1, n_samples))))
    given = [n_clusters] if isinstance(n_clusters, int | np.integer) else list(n_clusters)
    if not given or any(not isinstance(number, int | np.integer) or number < 1 for number in given):
        raise ValueError(f"n_clusters must be integers of at least 1, or None; got {n_clusters!r}.")
    return sorted({int(number) for number in given})


def _check_links(links: Constraints, *, number_is_open: bool) -> list[str]:
    """Refuse links that do not suffice, and return notes on weak ones."""
    notes = []
    kinds = {"must-links": len(links.must_link), "cannot-links": len(links.cannot_link)}
    if links.is_empty:
        raise ConstraintError("There are no links to select a method or the number of clusters by.")
    if 0 in kinds.values():
        only = max(kinds, key=lambda kind: kinds[kind])
        trend = "fewer" if only == "must-links" else "more"
        what = f"The only link is a {only[:-1]}" if len(links) == 1 else f"All {len(links):,} links are {only}"
        always = f"{trend} clusters always satisfy more of them"
        if number_is_open:
            raise ConstraintError(
                f"{what}, which cannot determine the number of clusters: {always}",
                remedy=("give_n_clusters", "other_links"),
            )
        notes.append(f"{what}, and methods are compared by these alone: {always}.")
    if len(links) < MIN_LINKS:
        notes.append(
            f"{count(len(links), 'link is', 'links are')} few: a single link may decide the selection. Use at least "
            f"{MIN_LINKS}, preferably 50."
        )
    return notes


def _make_splitter(
    links: Constraints, n_samples: int, cv: int | ConstraintKFold | None, seed: int, notes: list[str]
) -> ConstraintKFold:
    """Return a splitter that makes the same folds for all trials."""
    cv = DEFAULT_N_SPLITS if cv is None else cv
    if not isinstance(cv, int | np.integer):
        cv = check_splitter(cv)
        if cv.shuffle and not isinstance(cv.random_state, int | np.integer):
            return ConstraintKFold(cv.n_splits, random_state=seed)
        return cv
    n_groups = len(np.unique(link_groups(links, n_samples)))
    if n_groups < 2:
        raise ConstraintError(
            f"{links_form(links)} one group that cannot be divided into training and held-out links; give links "
            "between more must-link components."
        )
    if n_groups < cv:
        notes.append(f"{links_form(links)} {n_groups} groups that cannot be divided: {n_groups} folds, not {cv}.")
    return ConstraintKFold(min(int(cv), n_groups), random_state=seed)


def _configured(candidates: Mapping[str, Any], numbers: Iterable[int], seed: int) -> Iterator[Candidate]:
    """Yield every method with every number of clusters, as an unfitted clusterer; a seed of its own is kept."""
    for name, clusterer in candidates.items():
        numbered = _count_name(clusterer)
        seeded = _parameter_name(clusterer, "random_state")
        for number in numbers if numbered else [None]:
            copy = clone(clusterer)
            if numbered:
                copy.set_params(**{numbered: number})
            if seeded and copy.get_params()[seeded] is None:
                copy.set_params(**{seeded: seed})
            yield name, number, copy


def _promising(trials: list[Trial], numbers: list[int], shortlist: int | None) -> list[int]:
    """Return the numbers of clusters with the largest mean by any method so far; all of them if none has a score."""
    best = dict.fromkeys(numbers, -1.0)
    for trial in trials:
        if trial.n_clusters is not None and trial.scores:
            best[trial.n_clusters] = max(best[trial.n_clusters], trial.mean)
    if max(best.values()) < 0:
        return numbers
    return sorted(sorted(numbers, key=lambda number: -best[number])[:shortlist])


def _count_name(clusterer: Any) -> str | None:
    """Return the name of the parameter for the number of clusters of a clusterer or of the last step of a pipeline."""
    name = count_parameter(clusterer.steps[-1][1] if hasattr(clusterer, "steps") else clusterer)
    return None if name is None else _parameter_name(clusterer, name)


def _parameter_name(clusterer: Any, name: str) -> str | None:
    """Return the name of a parameter of a clusterer, or of the last step of a pipeline; None if it has none."""
    known = clusterer.get_params()
    inner = f"{clusterer.steps[-1][0]}__{name}" if hasattr(clusterer, "steps") else name
    return inner if inner in known else None


def _try_all(
    prepared: list[Candidate], score: Callable[[Any], NDArray[np.float64]], advance: Advance, clock: Clock
) -> list[tuple[Trial, Any]]:
    """Score some clusterers, and return their trials with them; a failure is a result as well."""
    tried = []
    for method, number, clusterer in prepared:
        advance(clock.n_done, ", ".join(filter(None, [Trial(method, number, (), 0.0).name, str(clock)])))
        started = time.perf_counter()
        scores: tuple[float, ...] = ()
        failure = None
        with warnings.catch_warnings():
            # Warnings of fits with fewer links are irrelevant here.
            warnings.simplefilter("ignore")
            try:
                scores = tuple(score(clusterer).tolist())
            except Exception as error:
                failure = _sentence(error)
        seconds = time.perf_counter() - started
        clock.add(method, seconds)
        tried.append((Trial(method, number, scores, seconds, failure), clusterer))
    return tried


def _fit_best(
    tried: list[tuple[Trial, Any]],
    X: Any,
    links: AlignedConstraints,
    methods: list[str],
    notes: list[str],
    default: str | None,
) -> Choice:
    """Fit the best clusterer with all links, or the next one if it fails; the first of `methods` is the incumbent."""
    trials = [trial for trial, _ in tried]
    while any(trial.scores for trial in trials):
        incumbent = _incumbent(trials, methods)
        chosen = _best(trials, trials[incumbent], methods)
        place = incumbent if chosen is None else chosen
        trial, clusterer = trials[place], tried[place][1]
        try:
            fit_with_links(clusterer, X, links)
        except Exception as error:
            failure = f"It was the best on the folds, and failed with all links: {_sentence(error)}"
            trials[place] = replace(trial, scores=(), failure=failure)
            notes.append(f"{trial.name} was the best on the folds, and failed with all links.")
        else:
            return Choice(trial, clusterer, tuple(trials), tuple(notes), trials[incumbent], default)
    examples = "; ".join(f"{trial.name}: {trial.failure}" for trial in trials[:3])
    raise ValueError(f"All {len(trials)} trials failed, for example {examples}")


def _sentence(error: Exception) -> str:
    """Return the message of an error on one line; what to do about it is not for a trial among others."""
    text = error.problem if isinstance(error, MustlinkError) else str(error)
    return " ".join(text.split()) or type(error).__name__


def _incumbent(trials: list[Trial], methods: list[str]) -> int:
    """Return the index of the best trial of the first method that has a score."""
    scored = [place for place, trial in enumerate(trials) if trial.scores]
    first = min((trials[place].method for place in scored), key=methods.index)
    own = [place for place in scored if trials[place].method == first]
    return min(own, key=lambda place: (-trials[place].mean, trials[place].n_clusters or 0))


def _best(trials: list[Trial], incumbent: Trial, methods: list[str]) -> int | None:
    """Return the index of the best trial that is clearly better than the incumbent; None if there is none."""
    better = []
    for place, trial in enumerate(trials):
        if trial.scores and trial.method != incumbent.method:
            gain, error = trial.gain_over(incumbent)
            if gain > error:
                better.append(place)

    def rank(place: int) -> tuple[float, int, int]:
        trial = trials[place]
        return -trial.mean, methods.index(trial.method), trial.n_clusters or 0

    return min(better, key=rank, default=None)
