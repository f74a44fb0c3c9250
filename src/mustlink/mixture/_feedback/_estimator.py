"""A multinomial mixture that is corrected by criticism of its clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from mustlink._counts import as_counts, refuse_negative, scale_columns
from mustlink._progress import progress
from mustlink._sklearn_compat import Interval, StrOptions
from mustlink._spelling import count
from mustlink._types import Array, Floats, Indices, Ints
from mustlink._warnings import warn_caller
from mustlink.base import ConstrainedClusterMixin, check_table
from mustlink.blocks import blockwise
from mustlink.constraints import Constraints
from mustlink.mixture._feedback._advice import Advice
from mustlink.mixture._feedback._criticism import Criticism
from mustlink.mixture._feedback._divergence import Documents, Mean
from mustlink.mixture._feedback._kinds import Feedback
from mustlink.mixture._feedback._multinomials import (
    EMOptions,
    MStep,
    Multinomials,
    Run,
    draw_start,
    is_numbered_as,
    numbered_as,
    run_em,
)
from mustlink.mixture._feedback._warping import Update, WarpOptions, warp
from mustlink.mixture._gaussians import normalize_logs

__all__ = ["FeedbackMixture"]

# The starts among which the most different clustering is looked for.
MIN_STARTS_FOR_DIFFERENT = 10


class FeedbackMixture(ConstrainedClusterMixin, BaseEstimator):
    """Multinomial mixture of counts with term weights that are learned from criticism.

    The rows are counts, such as the words of texts. A person looks at the clusters, criticizes some of them with
    :meth:`feedback`, and :meth:`refit` changes the weights of the terms such that the criticism is met, also for rows
    that it does not name, and clusters again.

    Parameters
    ----------
    n_components : int, default=8
        The number of clusters.
    alpha : float, default=1.0
        Additive smoothing of the term probabilities of clusters and rows. The default is for counts; smaller values,
        such as frequencies or tf-idf, need a smaller alpha, or the smoothing outweighs them and one cluster is found.
    penalty : float, default=0.0
        What a broken link of weight one, or a row against what was said of it and a cluster, costs in the E-step, in
        units of the log-likelihood. With 0, criticism acts through the term weights alone.
    step : float, default=0.1
        How far one step moves the weight of the term that matters most, for weights with mean 1.
    n_steps : int, default=10
        The number of steps before each refit; 0 leaves all weights at 1.
    update : {"additive", "multiplicative"}, default="additive"
        Whether steps add to the weights or multiply them. See the notes.
    ridge : float, default=0.0
        By what share the logarithms of the weights shrink in every step.
    clip : (float, float), default=(1e-3, 1e3)
        The smallest and the largest weight.
    mean : {"equal", "length"}, default="equal"
        Whether the mean of two rows, to which their divergence is measured, is weighted by their lengths.
    length_cap : float, default=None
        Longer rows count as of this length in divergences. None is no cap.
    mstep : {"rescaled", "counts"}, default="rescaled"
        Whether term probabilities are estimated from counts times term weights or from the counts.
    max_rounds : int, default=10
        How often a fit with links warps the weights and clusters again while links are broken.
    max_violation_rounds : int, default=5
        After this number of refits without effect a criticism is given up.
    temperature : float, default=16.0
        The log-likelihoods of the first iterations are divided by it; it is halved in every iteration until it is 1.
    warm_start : bool, default=True
        Whether a refit tries the present clusters as one more start, and as the only one if they satisfy everything
        that was said.
    tol : float, default=1e-6
        The relative change of the objective at which EM has converged.
    max_iter : int, default=200
        The maximum number of iterations of EM.
    n_init : int, default=10
        The number of random starts, of which the one with the largest objective is kept.
    random_state : int, RandomState or None, default=None
        Draws the starts.
    verbose : int or bool, default=0
        Whether to show a progress bar.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The most probable cluster of every row, with a penalty of linked rows together. After a fit the largest cluster
        is 0; a refit keeps the numbers of clusters.
    responsibilities_ : ndarray of shape (n_samples, n_components)
        The probability of every cluster for every row, given the links if there is a penalty.
    weights_ : ndarray of shape (n_components,)
        The weights of the mixture components.
    feature_log_prob_ : ndarray of shape (n_components, n_features)
        The logarithms of the term probabilities of the clusters.
    term_weights_ : ndarray of shape (n_features,)
        The weights of the terms, with mean 1; all 1 before any criticism.
    feedback_ : list of Feedback
        The criticism since the fit that still counts, in the order in which it was given.
    unsatisfied_ : list of Feedback
        The criticism and the links of the fit that the clusters do not satisfy.
    given_up_ : list of Feedback
        Those of them that are no longer tried.
    violations_ : Constraints
        The broken links, of the fit and of the criticism.
    history_ : list of dict
        For the fit and every round: the numbers of criticisms (`n_feedback`), of those not satisfied (`n_unsatisfied`),
        of rows that changed their cluster (`n_moved`) and of iterations (`n_iter`), and the `objective`.
    objective_ : list of float
        The objective of every iteration of the best run: the mean log-likelihood of a row and the logarithm of the
        prior, divided by the number of rows.
    lower_bound_ : float
        The last of them.
    converged_ : bool
        Whether the best run converged.
    n_iter_ : int
        Its number of iterations.
    n_features_in_ : int
        The number of columns.

    See Also
    --------
    Feedback : The kinds of criticism.
    HMRFKMeans : Penalties for broken links between texts, without term weights.

    Notes
    -----
    The method is that of chapter 2 [1]_. The likelihood of a row is the product of term probabilities to the power of
    count times term weight. A cannot-link that is not satisfied moves the term weights along the gradient of the
    divergence of the two rows to their mean, a must-link against it; a row and a cluster, and two clusters, likewise.
    A refit for what is not satisfied starts from new random prototypes, and its clusters get the numbers of the
    clusters that they overlap most.
    Several criticisms move the weights along the mean of their gradients, each with a largest entry of 1.

    Left open by the chapter, and chosen here: the weights are scaled to mean 1 after every step. Steps that multiply
    put the weight on ever fewer terms, and purity fell with every constraint on our data; steps that add did not, and
    are the default. A weight that falls is divided, so that none reaches zero. A good cluster is kept as a prototype;
    a good or bad cluster is the same as before if half of the rows of both are common. Of all starts, those are
    preferred that meet most wishes on whole clusters. A cannot-link between copies of
    a row has no effect. The temperature of the first iterations and the warm start make EM depend less on its start.

    References
    ----------
    .. [1] D. Cohn, R. Caruana and A. McCallum, "Semi-supervised clustering with user feedback", chapter 2 of
       "Constrained Clustering", 2009.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from mustlink.mixture import Feedback, FeedbackMixture
    >>> texts = ["ball red ball red", "ball red ball", "ball blue ball blue", "ball blue ball",
    ...          "cube red cube", "cube red cube red", "cube blue cube", "cube blue cube blue"]
    >>> X = CountVectorizer().fit_transform(texts)
    >>> model = FeedbackMixture(n_components=2, random_state=0).fit(X)
    >>> model.labels_
    array([0, 0, 0, 0, 1, 1, 1, 1])
    >>> model.feedback(Feedback("cannot_link", (0, 2)), Feedback("must_link", (0, 4))).refit().labels_
    array([1, 1, 0, 0, 1, 1, 0, 0])
    >>> model.unsatisfied_
    []
    >>> model.term_weights_.round(2)
    array([0.57, 1.42, 0.71, 1.3 ])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "penalty": [Interval(Real, 0, None, closed="left")],
        "step": [Interval(Real, 0, None, closed="neither")],
        "n_steps": [Interval(Integral, 0, None, closed="left")],
        "update": [StrOptions({"additive", "multiplicative"})],
        "ridge": [Interval(Real, 0, 1, closed="left")],
        "clip": ["array-like"],
        "mean": [StrOptions({"equal", "length"})],
        "length_cap": [Interval(Real, 0, None, closed="neither"), None],
        "mstep": [StrOptions({"rescaled", "counts"})],
        "max_rounds": [Interval(Integral, 0, None, closed="left")],
        "max_violation_rounds": [Interval(Integral, 1, None, closed="left")],
        "temperature": [Interval(Real, 1, None, closed="left")],
        "warm_start": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }
    _read_by_predict: ClassVar[tuple[str, ...]] = ("weights_", "feature_log_prob_", "term_weights_")

    responsibilities_: Floats
    weights_: Floats
    feature_log_prob_: Floats
    term_weights_: Floats
    feedback_: list[Feedback]
    unsatisfied_: list[Feedback]
    given_up_: list[Feedback]
    history_: list[dict[str, float]]
    objective_: list[float]
    lower_bound_: float
    converged_: bool
    n_iter_: int

    def __init__(
        self,
        n_components: int = 8,
        *,
        alpha: float = 1.0,
        penalty: float = 0.0,
        step: float = 0.1,
        n_steps: int = 10,
        update: Update = "additive",
        ridge: float = 0.0,
        clip: Sequence[float] = (1e-3, 1e3),
        mean: Mean = "equal",
        length_cap: float | None = None,
        mstep: MStep = "rescaled",
        max_rounds: int = 10,
        max_violation_rounds: int = 5,
        temperature: float = 16.0,
        warm_start: bool = True,
        tol: float = 1e-6,
        max_iter: int = 200,
        n_init: int = 10,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | bool = 0,
    ) -> None:
        self.n_components = n_components
        self.alpha = alpha
        self.penalty = penalty
        self.step = step
        self.n_steps = n_steps
        self.update = update
        self.ridge = ridge
        self.clip = clip
        self.mean = mean
        self.length_cap = length_cap
        self.mstep = mstep
        self.max_rounds = max_rounds
        self.max_violation_rounds = max_violation_rounds
        self.temperature = temperature
        self.warm_start = warm_start
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.random_state = random_state
        self.verbose = verbose

    # ---- the fit ---------------------------------------------------------------------------------------------------

    def _fit(self, X: Any, links: Constraints, y: Array | None) -> None:
        self._check_clip()
        self._rng = check_random_state(self.random_state)
        self._counts = as_counts(X)
        self._documents = Documents.of(self._counts, smoothing=self.alpha, mean=self.mean, length_cap=self.length_cap)
        self._criticism = Criticism.of_links(links)
        self.history_ = []
        run = _largest_first(self._best_run(np.ones(X.shape[1]), None))
        self._keep(run, np.ones(X.shape[1]))
        best = links.violations(self.labels_).weight.sum(), run, self.term_weights_
        for _ in range(self.max_rounds):
            if not len(self.unsatisfied_) > len(self.given_up_):
                break
            self._refit_once()
            broken = links.violations(self.labels_).weight.sum()
            if broken < best[0]:
                best = broken, self._run, self.term_weights_
        if best[1] is not self._run:
            self._keep(best[1], best[2], is_round=False)
        self._warn_of_no_convergence()

    def feedback(self, *items: Feedback) -> Self:
        """Criticize the present clusters; :meth:`refit` then tries to meet the criticism.

        Parameters
        ----------
        *items : Feedback
            What is right or wrong with the clusters. What was said before of the same two rows, the same row and
            cluster, or the same clusters no longer counts.

        Returns
        -------
        self : object
            The same clusterer, with the same clusters.
        """
        check_is_fitted(self)
        criticism = self._criticism
        for item in items:
            self._check_feedback(item)
            criticism = criticism.add(item, self.labels_)
        self._criticism = criticism
        self._judge()
        return self

    def refit(self) -> Self:
        """Warp the term weights along what is not satisfied, and cluster the rows of the fit again.

        Without new criticism, and with all earlier criticism and all links satisfied or given up, everything stays
        as it is.

        Returns
        -------
        self : object
            The same clusterer, with new clusters under the old numbers.
        """
        check_is_fitted(self)
        if not hasattr(self, "_criticism"):
            raise ValueError("The rows of the fit are not part of a saved model, so that it cannot be fitted again.")
        if self._criticism.has_new or len(self.unsatisfied_) > len(self.given_up_):
            self._refit_once()
            self._warn_of_no_convergence()
        return self

    def _refit_once(self) -> None:
        """Warp, run EM from new starts, give the clusters their old numbers, and judge the criticism."""
        before = self._run
        # Without term weights: the divergence weighs the terms itself.
        clusters = Multinomials.estimate(self._counts, before.responsibilities, self.alpha)
        open_directions = self._criticism.directions(
            self.labels_, self._documents, np.exp(clusters.log_probabilities), self.max_violation_rounds
        )
        term_weights = self.term_weights_
        if open_directions is not None:
            options = WarpOptions(self.update, self.step, self.n_steps, self.ridge, self.clip)
            term_weights = warp(term_weights, *open_directions, options)
        run = numbered_as(self.labels_, self._best_run(term_weights, before))
        self._criticism = self._criticism.count_round(run.labels)
        self._keep(run, term_weights)

    def _best_run(self, term_weights: Floats, before: Run | None) -> Run:
        """Run EM from all starts; return the run with the largest objective, or the most different one if asked."""
        wants_different = any(item.feedback.kind == "different" and item.is_new for item in self._criticism.items)
        n_starts = max(self.n_init, MIN_STARTS_FOR_DIFFERENT) if wants_different else self.n_init
        if self.warm_start and before is not None and not self.unsatisfied_:
            # Nothing is wrong with the clusters, and a better start would move rows that nobody criticized.
            n_starts = 0
        options = EMOptions(self.alpha, self.mstep, self.temperature, self.tol, self.max_iter)
        warm_options = replace(options, temperature=1.0)
        advice = self._advice()
        runs: list[Run] = []
        owned = self._counts if self.mstep == "counts" else scale_columns(self._counts, term_weights)
        with progress(n_starts, type(self).__name__, shown=self.verbose) as advance:
            for number in range(n_starts):
                kept = {} if before is None else self._kept(before, number)
                start = draw_start(owned, self.n_components, self.alpha, self._rng, kept)
                run = run_em(self._counts, term_weights, start, advice.without_preferences(), options)
                if self._has_preferences():
                    # Only clusters with their numbers can be preferred; with others, a preference costs nothing.
                    start = numbered_as(self.labels_, run).mixture
                    run = run_em(self._counts, term_weights, start, advice, warm_options)
                runs.append(run)
                if not wants_different:
                    runs = [max(runs, key=self._value_of)]
                advance()
        if wants_different:
            return min(runs, key=lambda run: adjusted_rand_score(self.labels_, run.labels))
        if self.warm_start and before is not None:
            start = Multinomials.estimate(owned, before.responsibilities, self.alpha)
            runs.append(run_em(self._counts, term_weights, start, advice, warm_options))
        return max(runs, key=self._value_of)

    def _value_of(self, run: Run) -> tuple[bool, int, float]:
        """Return what runs are compared by: first whether numbers of clusters are not exchanged to meet wishes on them.

        Then the number of wishes on whole clusters that are not met, and then the objective.
        """
        keeps_numbers = not self._has_preferences() or is_numbered_as(self.labels_, run)
        return keeps_numbers, -self._criticism.n_unmet_clusters(run.labels), run.objective[-1]

    def _kept(self, before: Run, number: int) -> dict[int, Floats]:
        """Return the term probabilities of the clusters that a start keeps.

        These are good clusters and, in every second start while there are bad ones, all that are not bad.
        """
        said: dict[str, list[int]] = {"good": [], "bad": []}
        for item in self._criticism.items:
            if item.feedback.kind in said:
                said[item.feedback.kind].append(item.feedback.clusters[0])
        chosen = set(said["good"])
        if said["bad"] and number % 2:
            chosen |= set(range(self.n_components)) - set(said["bad"])
        return {cluster: before.mixture.log_probabilities[cluster] for cluster in sorted(chosen)}

    def _has_preferences(self) -> bool:
        """Return whether the E-step is told of rows and clusters, by the numbers of the clusters."""
        return bool(self.penalty) and any(
            item.feedback.kind in ("belongs", "not_belongs", "move") for item in self._criticism.items
        )

    def _advice(self) -> Advice:
        """Return what the E-step is told of rows and clusters."""
        if not self.penalty:
            return Advice()
        rows, preference = self._criticism.preferences(self.n_components, self.penalty)
        links = self._criticism.all_links()
        return Advice.of(links, rows, preference, penalty=self.penalty, n_components=self.n_components)

    def _keep(self, run: Run, term_weights: Floats, *, is_round: bool = True) -> None:
        """Store a run."""
        before = getattr(self, "labels_", None)
        self._run = run
        self.labels_ = run.labels.astype(np.int64)
        self.responsibilities_ = run.responsibilities
        self.weights_ = np.exp(run.mixture.log_weights)
        self.feature_log_prob_ = run.mixture.log_probabilities
        self.term_weights_ = term_weights
        self.objective_ = [value / len(self.labels_) for value in run.objective]
        self.lower_bound_ = self.objective_[-1]
        self.converged_ = run.converged
        self.n_iter_ = len(run.objective)
        self._judge()
        if is_round:
            self.history_.append(
                {
                    "n_feedback": len(self._criticism.links) + len(self.feedback_),
                    "n_unsatisfied": len(self.unsatisfied_),
                    "n_moved": 0 if before is None else int((before != self.labels_).sum()),
                    "n_iter": self.n_iter_,
                    "objective": self.lower_bound_,
                }
            )

    def _judge(self) -> None:
        """Say which criticism the clusters satisfy."""
        self.feedback_ = [item.feedback for item in self._criticism.items]
        self.unsatisfied_ = self._criticism.unsatisfied(self.labels_)
        self.given_up_ = self._criticism.given_up(self.labels_, self.max_violation_rounds)
        self.violations_ = self._criticism.all_links().violations(self.labels_)

    def _warn_of_no_convergence(self) -> None:
        if not self.converged_:
            warn_caller(
                f"{type(self).__name__} did not converge in {count(self.max_iter, 'iteration')}; increase max_iter or "
                "tol.",
                ConvergenceWarning,
            )

    # ---- checks ----------------------------------------------------------------------------------------------------

    def _check_clip(self) -> None:
        """Refuse bounds of the weights that do not have 1 between them."""
        bounds = np.asarray(self.clip, dtype=np.float64)
        if bounds.shape != (2,) or not 0 < bounds[0] <= 1 <= bounds[1] < np.inf:
            raise ValueError(f"clip must be two positive numbers, at most 1 and at least 1; got {self.clip!r}.")

    def _check_feedback(self, item: Feedback) -> None:
        """Refuse criticism of rows and clusters that do not exist."""
        if not isinstance(item, Feedback):
            raise TypeError(
                f"feedback takes mustlink.mixture.Feedback, such as Feedback('cannot_link', (3, 17)); got "
                f"{type(item).__name__}."
            )
        for what, numbers, n_numbers in (
            ("row", item.rows, len(self.labels_)),
            ("cluster", item.clusters, self.n_components),
        ):
            if numbers and max(numbers) >= n_numbers:
                raise ValueError(
                    f"Feedback of the kind {item.kind!r} names {what} {max(numbers)}, but there are "
                    f"{count(n_numbers, what)}, numbered from 0."
                )

    def _check_rows(self, X: Any, *, reset: bool = True) -> Any:
        try:
            X = check_table(self, X, reset=reset, accept_sparse="csr", accept_large_sparse=False, order="C")
        except ValueError as error:
            if not str(error).startswith("could not convert string to float"):
                raise
            raise ValueError(
                f"{type(self).__name__} takes counts, not texts ({error}); count the words first, with CountVectorizer "
                "of sklearn.feature_extraction.text."
            ) from None
        refuse_negative(X, type(self).__name__)
        return X

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags

    # ---- new rows --------------------------------------------------------------------------------------------------

    @blockwise
    def predict(self, X: Any) -> Ints:
        """Return the most probable cluster of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Cluster numbers.
        """
        return np.asarray(self.predict_joint_log_proba(X).argmax(axis=1), dtype=np.int64)

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each cluster for each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Rows of sum one.
        """
        return np.asarray(normalize_logs(self.predict_joint_log_proba(X))[0])

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of weight times likelihood of each cluster for each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Logarithms without the multinomial coefficient, which is the same for all clusters.
        """
        check_is_fitted(self)
        counts = as_counts(self._check_rows(X, reset=False))
        mixture = Multinomials(np.log(np.maximum(self.weights_, np.finfo(np.float64).tiny)), self.feature_log_prob_)
        return mixture.log_joint(scale_columns(counts, self.term_weights_))

    def score_samples(self, X: Any) -> Floats:
        """Return the log-likelihood of each row under the mixture, with the term weights.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Log-likelihoods without the multinomial coefficient.
        """
        return np.asarray(normalize_logs(self.predict_joint_log_proba(X))[1])

    def score(self, X: Any, y: object = None) -> float:
        """Return the mean log-likelihood of the rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows.
        y : object, default=None
            Ignored.

        Returns
        -------
        float
            The larger the better.
        """
        return float(self.score_samples(X).mean())


def _largest_first(run: Run) -> Run:
    """Return a run with its mixture components numbered by size, those of one size by their first row."""
    n_components = run.responsibilities.shape[1]
    labels = run.labels
    first = np.full(n_components, len(labels))
    first[labels[::-1]] = np.arange(len(labels))[::-1]
    order: Indices = np.lexsort((first, -np.bincount(labels, minlength=n_components)))
    return run.take(order)
