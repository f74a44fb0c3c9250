"""RobustBoostCluster: boosting that estimates how far each link can be trusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from mustlink._numbering import number_as_before
from mustlink._progress import progress
from mustlink._sklearn_compat import Interval, StrOptions
from mustlink._types import Floats, Ints, Mask
from mustlink.blocks import BlockedRows
from mustlink.boosting._bases import BaseClusterer, BaseRun
from mustlink.boosting._blocked._elsewhere import Elsewhere
from mustlink.boosting._blocked._shown import ShownRows
from mustlink.boosting._boostcluster._base import BaseBoostCluster, list_suspects
from mustlink.boosting._boostcluster._consensus import Consensus, kmeans_on_codes, typical_count
from mustlink.boosting._boostcluster._coordinates import Coordinates, is_constant, make_coordinates, mean_and_variance
from mustlink.boosting._boostcluster._explained import average_explained
from mustlink.boosting._boostcluster._links import LinkSet
from mustlink.boosting._boostcluster._representations import Representation
from mustlink.boosting._boostcluster._rounds import BoostProblem, BoostResult, boost
from mustlink.boosting._boostcluster._subsample import subsample_with_linked
from mustlink.boosting._boostcluster._views import View, label_all_rows
from mustlink.boosting._robust._automatic import AUTOMATIC, AutomaticPlan, automatic_bases
from mustlink.boosting._robust._certain import check_certain, check_certain_groups, feasible_number, keep_links
from mustlink.boosting._robust._column_weights import average_column_weights
from mustlink.boosting._robust._link_odds import prior_log_odds
from mustlink.boosting._robust._propagation import PropagationView
from mustlink.boosting._robust._resolution import MAX_ERROR_TRUSTED, doubt_broken_links, update_trust
from mustlink.boosting._robust._trials import RoundPlan, Trials
from mustlink.boosting._robust._trust import ErrorEstimate, estimate_trust
from mustlink.boosting._robust._warm_start import FullStart, LastFit, PastRounds, Start, WarmStart, describe_fit
from mustlink.boosting._robust._weighing import weigh_links
from mustlink.constraints import Constraints

__all__ = ["REPRESENTATIONS", "RobustBoostCluster"]

PLAIN = "plain"
CERTAIN = "certain"
SUSPECT_BELOW = 0.5
# Chosen by experiment on twelve data sets.
REPRESENTATIONS = ((1.0, 1.0), (0.1, 0.3), (1.0, 0.3), (1.0, 3.0))
# After this fraction of the rounds they start again with updated trust. The links then count less beside distances than
# in the end: a link should not confirm itself.
RESTART_AFTER = 1 / 3
RESTART_PENALTY = 0.5
# The weight of the trials in the co-association while there are few rounds.
EARLY_TRIAL_WEIGHT = 0.6
# The base alone is taken only if it agrees better with the links by more than a standard error.
PLAIN_MARGIN = 0.5


class RobustBoostCluster(BaseBoostCluster):
    """Boosting of several clusterers with must-link and cannot-link constraints, some of which may be wrong.

    An extension of :class:`BoostCluster`. Several bases, representations and weights of columns are first tried with
    some links held out. How well they predict the held-out links gives their weights, the estimated fraction of wrong
    links, and the probability that each link is correct. The rounds use these, and in the end links are weighed against
    distances by belief propagation.

    Parameters
    ----------
    estimator : clusterer, callable, "auto" or None, default="auto"
        The base: a scikit-learn clusterer (or mixture), a pipeline that ends in one, or a function from a table to
        labels. It may find the number of clusters itself, and the label -1 is noise. "auto" mixes k-means, Ward's
        linkage, a Gaussian mixture, spectral clustering of nearest neighbors, and constraint propagation; the last four
        cluster a sample of a large table. None is ``KMeans(n_clusters, n_init=3)``. A base is cloned for every run, and
        its random states are set.
    n_clusters : int, default=None
        The number of clusters. It is also set in the base clusterer (`n_components` of a mixture). None takes the
        number of the base (8 for "auto" and None) or, if the base finds it, the weighted median over all runs.
    n_rounds : int, default=25
        The number of rounds. With the other defaults the bases run 97 times in all; a base given by the user 69 times.
    learning_rate : float, default=0.5
        Fraction of the optimal step that is taken.
    scale : bool, default=True
        Whether to standardize the features. Set it to False for pixels, spectra and tf-idf.
    n_components : int, default=None
        Maximum number of columns of a representation, those with the largest eigenvalues; None is all positive ones.
    representations : sequence of (ridge, identity), default=four pairs chosen by experiment
        The representations to mix. Each whitens by the must-link scatter plus `ridge` times the variance per feature,
        and adds `identity` times the identity to the result, which has norm one. Those after the first are tried with
        the first base only.
    n_trials : int, default=4
        How often each view, a base in a representation, is tried with some links held out.
    trial_weight : float, default=0.1
        The weight of the trials in the co-association matrix; the rounds have the rest.
    link_penalty : float, default=0.5
        How much links count in the final step: breaking a link costs as much as a squared distance of `link_penalty`
        times the log-odds that a link is correct. Squared distances there are at most 2. With 0 the final step
        ignores links.
    trust : {"estimate", "certain"}, default="estimate"
        Whether to estimate which links are wrong, or to keep all of them, as :class:`~mustlink.COPKMeans` does. Links
        that are certain and contradict each other, or need more clusters, raise an error. If the base finds the number
        of clusters, it is changed as far as the links need it, and noise is assigned to clusters.
    max_error : float, default=0.45
        Upper bound on the estimated fraction of wrong links. Where links are weighed against distances, at most 30%
        count as wrong.
    n_jobs : int, default=None
        How many trials run in parallel, as in joblib. The result does not depend on it.
    warm_start : bool, default=False
        Whether to start from the last fit, if it had the same table and parameters. After a few more links this takes
        a quarter of the time or less, and the result changes less. The clusters keep their numbers. See Notes.
    random_state : int, RandomState or None, default=None
        Seed; all random states of the base are set from it.
    verbose : int or bool, default=0
        Whether to show a progress bar.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every row.
    n_clusters_ : int
        The number of clusters.
    violations_ : Constraints
        The links that the result breaks.
    suspects_ : list of Suspect
        The links that are more likely wrong than correct, those with a trust below 0.5, least trusted first. A link
        that the result breaks without evidence against it, such as the only link of a table, is in `violations_` alone.
    trust_ : ndarray of shape (n_links,)
        The estimated probability that each link is correct, must-links first. It is estimated from the trials; if
        `expected_error_rate_` is below 5%, a link that neither the trials without it nor the result satisfies gets the
        probability of the final step, if that is lower.
    error_rate_ : float or None
        The most probable fraction of wrong links, at most `max_error`, by logistic regression with label noise of the
        links on the votes of the trials: hard links have uncertain votes, wrong ones may contradict any vote. If the
        clusters have little to do with the links, it is too high; with fewer `n_trials` than four, with fewer than some
        hundred links, or if nearly all wrong links are of one kind, it may be too low, and is often 0. With one kind of
        link only it is 0, as nothing can be estimated. `suspects_` may list links all the same. None without links.
    expected_error_rate_ : float or None
        The mean over all fractions of wrong links by their probabilities, from which `trust_` and the weight of links
        against distances are computed. With few links it is mostly larger than `error_rate_`, as little speaks against
        any fraction, and larger than `trust_` suggests: it is that of any links from this source, and each of these
        was judged by the trials. With more than 1,000 links it is `error_rate_`.
    representation_weights_ : dict of str to float
        The weight of each representation; "plain" is the table itself. If it is large, the links add little.
    base_weights_ : dict of str to float
        The weight of each base clusterer.
    column_weights_ : ndarray of shape (n_features,)
        How much each column counts: how far a unit of it, or a standard deviation if `scale` is True, moves a row in
        the representations of the rounds, as they count. The largest is 1; that of a constant column is 0. All others
        are 1 if the links play no part.
    objective_ : list of float
        The objective (sum of must-link weights)(sum of cannot-link weights) after each round; it never increases except
        after a third of the rounds, when they start again with new trust.
    alphas_ : ndarray of shape (n_iter,)
        The step of each round.
    history_ : list of dict
        One entry per round: its base, representation, objective, alpha, the weights of the links it satisfies and
        breaks (`must_apart`, `must_together`, `cannot_apart`, `cannot_together`), whether it counted, and its number
        of clusters.
    coassociation_ : CoAssociation
        The co-association matrix that was clustered; of a large table in blocks, that of the rows in memory.
    is_plain_ : bool
        Whether the result is that of the base alone: there were no links, or the base alone agrees better with them.
    n_iter_ : int
        The number of rounds.
    n_refits_ : int
        The number of fits, this one included, since the trials were last run; 0 if this one ran them.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if the table had any.

    See Also
    --------
    BoostCluster : The published method, which trusts all links.
    mustlink.kmeans.PCKMeans : Faster; learns no representation.

    Notes
    -----
    Without links the result is that of the base, k-means for "auto", on the scaled table. Only the proportions of link
    weights matter. Columns are weighted by how much less they differ within must-links than within cannot-links, in
    two ways, or by how much of their variance lies between the clusters of earlier runs; the last is used beside all
    columns as they are, unless another is clearly better in the trials. With one kind of link only, all links are
    trusted, and links are compared with random pairs of rows. If the base alone contradicts the links beyond chance and
    no representation does better, the links are ignored.

    With `warm_start` the trials of the last fit, and its rounds but for the oldest fifth, are kept and weighted by all
    links; new links are held out of all of them. Then the missing rounds are run. When there are over half as many
    links again as in the last trials, all trials are run again, which takes longer. If links were removed or changed,
    nothing is kept but the numbers. The result depends on the earlier fits, and is repeated by repeating these. What is
    kept takes the memory of all runs.

    Tables with more than 20,000 rows are tried on a sample, with all linked rows unless these are more than the sample.
    The steps, and what they gain on real data, are described in the user guide. For tables with many features, and for
    rows in blocks, see :class:`BoostCluster`; the trials then run on the rows in memory, and `warm_start` needs all
    rows in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.metrics import adjusted_rand_score
    >>> from mustlink import Constraints
    >>> from mustlink.boosting import RobustBoostCluster
    >>> X, y = load_iris(return_X_y=True)
    >>> links = Constraints.sample(y, n_pairs=100, random_state=0)
    >>> model = RobustBoostCluster(n_clusters=3, random_state=0)
    >>> model.fit(X, constraints=links).suspects_
    []
    >>> adjusted_rand_score(y, model.labels_) > 0.85
    True

    The petals, columns 2 and 3, tell the flowers apart:

    >>> np.argsort(model.column_weights_)[-2:]
    array([2, 3])

    Another answer, and a fit that starts from the last one:

    >>> model = RobustBoostCluster(n_clusters=3, warm_start=True, random_state=0)
    >>> before = model.fit_predict(X, constraints=links)
    >>> labels = model.fit_predict(X, constraints=links + Constraints(must_link=[(50, 70)]))
    >>> model.n_refits_, bool((labels == before).mean() > 0.95)
    (1, True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseBoostCluster._parameter_constraints,
        "representations": ["array-like"],
        "n_trials": [Interval(Integral, 2, None, closed="left")],
        "trial_weight": [Interval(Real, 0, 1, closed="both")],
        "link_penalty": [Interval(Real, 0, None, closed="left")],
        "trust": [StrOptions({"estimate", CERTAIN})],
        "max_error": [Interval(Real, 0, 0.5, closed="left")],
        "n_jobs": [Integral, None],
        "warm_start": ["boolean"],
    }

    def __init__(
        self,
        estimator: Any = AUTOMATIC,
        n_clusters: int | None = None,
        *,
        n_rounds: int = 25,
        learning_rate: float = 0.5,
        scale: bool = True,
        n_components: int | None = None,
        representations: Sequence[tuple[float, float]] = REPRESENTATIONS,
        n_trials: int = 4,
        trial_weight: float = 0.1,
        link_penalty: float = 0.5,
        trust: str = "estimate",
        max_error: float = 0.45,
        n_jobs: int | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: int | bool = 0,
    ) -> None:
        self.estimator = estimator
        self.n_clusters = n_clusters
        self.n_rounds = n_rounds
        self.learning_rate = learning_rate
        self.scale = scale
        self.n_components = n_components
        self.representations = representations
        self.n_trials = n_trials
        self.trial_weight = trial_weight
        self.link_penalty = link_penalty
        self.trust = trust
        self.max_error = max_error
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    def _bases(self, n_samples: int) -> list[BaseClusterer]:
        """Return the base clusterers, the one that also runs on the plain table first."""
        if isinstance(self.estimator, str):
            if self.estimator != AUTOMATIC:
                raise ValueError(f"estimator must be a clusterer, a function, None or 'auto'; got {self.estimator!r}.")
            return automatic_bases(n_samples, self.n_clusters)
        return [BaseClusterer(self.estimator, self.n_clusters)]

    def _check_groups(self, links: Constraints, n_samples: int) -> None:
        if self.trust == CERTAIN:
            check_certain_groups(links, self._n_clusters_wanted(), n_samples)

    def _fit_table(self, X: Any, links: Constraints) -> None:
        last: LastFit | None = getattr(self, "_last", None)
        self._last: LastFit | None = None
        if self.warm_start:
            description = describe_fit(self, X)
            self._last = last if last is not None and last.description == description else LastFit(description)
        super()._fit_table(X, links)

    def _fit_blocks(self, rows: BlockedRows, links: Constraints) -> None:
        if self.warm_start:
            raise ValueError(
                f"warm_start keeps the runs of all rows in memory, and X is read in blocks ({rows.n_rows:,} rows). Set "
                "warm_start=False; after a failure, open_rows(..., checkpoint=folder) continues a fit."
            )
        self._last = None
        if self.trust == CERTAIN and not links.is_empty:
            # Before the rows get other numbers.
            check_certain(links, self._n_clusters_wanted(), rows.n_rows)
        super()._fit_blocks(rows, links)

    def _fit_plain(self, X: Any, base: BaseClusterer, seed: int) -> None:
        super()._fit_plain(X, base, seed)
        self.n_refits_ = 0
        self.representation_weights_ = {PLAIN: 1.0}
        self.base_weights_ = {base.name: 1.0}
        self.column_weights_ = self._varying_columns(X).astype(np.float64)
        self.error_rate_: float | None = None
        self.expected_error_rate_: float | None = None
        self.trust_ = np.ones(0)

    def _varying_columns(self, X: Any) -> Mask:
        """Return which columns are not constant."""
        if isinstance(X, ShownRows):
            return X.column_variance(self.scale) > 0
        return ~is_constant(*mean_and_variance(X), X.shape[0], X.dtype)

    def _fit_links(
        self, X: Any, constraints: Constraints, bases: list[BaseClusterer], seed: int, rng: np.random.RandomState
    ) -> None:
        is_certain = self.trust == CERTAIN
        if is_certain:
            check_certain(constraints, bases[0].n_clusters, X.shape[0])
        start = self._start(X, constraints, bases, rng)
        coordinates, links = start.coordinates, start.links
        elsewhere = Elsewhere(X, coordinates, self.verbose) if isinstance(X, ShownRows) else None
        with progress(self.n_rounds + start.n_trial_runs, "RobustBoostCluster", shown=self.verbose) as advance:
            problem = BoostProblem(
                bases[0], coordinates, links, advance, self.n_rounds, self.learning_rate, elsewhere=elsewhere
            )
            # 1. Try every view of the table with some links held out.
            trials = start.make_trials(problem)
            # 2. From the held-out links, estimate how far each link can be trusted.
            vote = trials.weights() @ trials.votes
            errors = self._estimate_errors(trials, links, constraints, X.shape[0])
            penalty = 0.0 if trials.contradict_links() and not is_certain else self.link_penalty
            log_odds = prior_log_odds(errors.expected)
            # 3. Boost with these weights of views and links.
            plan = start.plan_rounds(trials, self.n_rounds)
            rounds = boost_robustly(problem, plan, trials, errors.trust, penalty, log_odds)
        # 4. Cluster the co-association of rounds and trials, unless the base alone agrees better with the links.
        all_voters = [
            label_all_rows(run, coordinates, self._base_takes_sparse)
            for run in combine_voters(rounds.voters, trials.final_voters(), self.trial_weight)
        ]
        if elsewhere is not None:
            all_voters = elsewhere.complete(all_voters)
        candidates = list_consensus(problem, all_voters, trials, penalty * log_odds)
        # 5. Weigh links against distances, or keep all of them.
        if is_certain:
            consensus, voters = candidates[0]
            number = bases[0].n_clusters or feasible_number(constraints, int(consensus.labels.max()) + 1, X.shape[0])
            consensus = keep_links(consensus, links, number, seed)
        else:
            last = self._last.labels if self._last is not None and start.n_refits else None
            consensus, voters = weigh_candidates(candidates, links, penalty, errors.expected, seed, last)
        self._keep(consensus, voters, coordinates, rounds, is_plain=voters is not all_voters)
        self._keep_weights(trials)
        counted = [] if self.is_plain_ else rounds.voters
        self.column_weights_ = average_column_weights(counted, coordinates, self._varying_columns(X))
        trust = errors.trust
        if not is_certain:
            trust = doubt_broken_links(trust, links, vote, consensus, errors.expected)
        self.error_rate_, self.expected_error_rate_ = errors.rate, errors.expected
        self.trust_ = links.as_given(trust)
        self.suspects_ = list_suspects(links, trust < SUSPECT_BELOW, trust, rounds.weights.growth())
        self.n_refits_ = start.n_refits
        if self._last is not None:
            # New links may be of rows that no trial has labeled yet.
            trials = trials.on_all_rows(coordinates, self._base_takes_sparse)
            self._last = replace(self._last, start=start, trials=trials, rounds=rounds)

    def _estimate_errors(
        self, trials: Trials, links: LinkSet, constraints: Constraints, n_samples: int
    ) -> ErrorEstimate:
        """Estimate how many links are wrong; links that are certain, or of one kind, are trusted."""
        if self.trust == CERTAIN or not links.has_both_kinds:
            return ErrorEstimate(0.0, 0.0, np.ones(len(links)))
        by_neighbors, chance = trials.neighbor_vote(links)
        return estimate_trust(links, constraints, by_neighbors, chance, n_samples, self.max_error)

    def _start(self, X: Any, constraints: Constraints, bases: list[BaseClusterer], rng: np.random.RandomState) -> Start:
        """Return how this fit starts."""
        warm = None if self._last is None else WarmStart.after(self._last, constraints)
        if warm is not None:
            return warm
        if isinstance(X, ShownRows):
            coordinates = X.coordinates(self.scale, self.n_components)
            links = replace(coordinates.place_links(constraints), column_variance=X.column_variance(self.scale))
        else:
            coordinates = make_coordinates(
                X, constraints, standardize=self.scale, points=False, needs_rest=True, n_components=self.n_components
            )
            links = coordinates.with_columns(coordinates.place_links(constraints))
        # Rounds in the span of other links have no coordinates here.
        past = None if self._last is None or coordinates.bases else PastRounds.of(self._last, links)
        plan = self._plan(bases, coordinates, links, rng)
        return FullStart(coordinates, links, rng, past, len(links), 0, plan, self.n_trials, self.n_jobs)

    def _keep(
        self,
        consensus: Consensus,
        voters: Sequence[BaseRun],
        coordinates: Coordinates,
        rounds: BoostResult | None = None,
        *,
        is_plain: bool,
    ) -> None:
        before = None if self._last is None else self._last.labels
        if before is not None:
            consensus = consensus.numbered(number_as_before(consensus.labels, before))
        super()._keep(consensus, voters, coordinates, rounds, is_plain=is_plain)
        if self._last is not None:
            self._last = LastFit(self._last.description, self.labels_)

    def _plan(
        self, bases: list[BaseClusterer], coordinates: Coordinates, links: LinkSet, rng: np.random.RandomState
    ) -> AutomaticPlan:
        """Return the views that are tried."""
        others: list[View] = []
        n_clusters = bases[0].n_clusters
        if len(bases) > 1 and n_clusters is not None:
            propagation = PropagationView.of(coordinates, links, n_clusters, bases[0].takes_sparse, rng)
            others = [] if propagation is None else [propagation]
        n_features = len(links.column_variance)
        return AutomaticPlan(bases, self._representations(), n_features > 1, others)

    def _keep_weights(self, trials: Trials) -> None:
        """Keep the weights of the views, by representation and by base."""
        weights = trials.weights().tolist()
        self.representation_weights_ = {}
        self.base_weights_ = {}
        for view, weight in zip(trials.views, weights, strict=False):
            self.representation_weights_[view.label] = self.representation_weights_.get(view.label, 0.0) + weight
            self.base_weights_[view.name] = self.base_weights_.get(view.name, 0.0) + weight
        self.representation_weights_[PLAIN] = weights[-1]
        self.base_weights_[self._first_base] += weights[-1]

    def _representations(self) -> list[Representation]:
        """Return the representations that the parameters ask for."""
        pairs = np.asarray(self.representations, dtype=np.float64)
        if pairs.ndim != 2 or pairs.shape[1:] != (2,) or not len(pairs) or not (pairs > 0).all():
            raise ValueError(
                "representations must be pairs (ridge, identity) of positive numbers, at least one; got "
                f"{self.representations!r}."
            )
        return [Representation("ridged", ridge, identity) for ridge, identity in pairs.tolist()]


def boost_robustly(
    problem: BoostProblem,
    plan: RoundPlan,
    trials: Trials,
    trust: Floats,
    penalty: float,
    log_odds: float,
) -> BoostResult:
    """Run the rounds: each in a view drawn by its weight, each with some links held out.

    After a third of the rounds, these and the trials give a new estimate of the trust in each link. What columns count
    by clusters is computed from the trials at first, and then from both. These runs together have seen all links, those
    held out of a round included: its accuracy on these is slightly too high if it weighs columns by clusters.
    """
    links, views, seeds, seen = problem.links, plan.views, plan.seeds, plan.seen
    cut = round(RESTART_AFTER * len(views))
    n_samples = problem.coordinates.linked.shape[0]
    voters = trials.voters()
    problem = explain_columns(problem, views[:cut], voters)
    first = boost(problem, views[:cut], seeds[:cut], trust, seen=seen[:cut])
    voters = combine_voters(first.voters, voters, EARLY_TRIAL_WEIGHT)
    problem = explain_columns(problem, views[cut:], voters)
    if links.has_both_kinds:
        trust = update_trust(trust, links, voters, problem.base, RESTART_PENALTY * penalty, log_odds, n_samples)
    return first.continued(boost(problem, views[cut:], seeds[cut:], trust, seen=seen[cut:], first_round=cut + 1))


def explain_columns(problem: BoostProblem, views: Sequence[View], voters: list[BaseRun]) -> BoostProblem:
    """Return the problem with columns explained by the clusters of some runs; as it is without runs or need."""
    if not voters or not any(view.weighs_columns for view in views):
        return problem
    links = problem.links
    rows = subsample_with_linked(links, problem.coordinates.linked.shape[0])
    explained = average_explained(voters, problem.coordinates.plain, rows)
    return replace(problem, links=replace(links, explained=explained))


def combine_voters(rounds: list[BaseRun], trials: list[BaseRun], trial_weight: float) -> list[BaseRun]:
    """Scale the weights of rounds and trials to a sum of one, and leave out those without weight."""
    if not rounds or not trials:
        trial_weight = 0.0 if rounds else 1.0
    voters = []
    for runs, share in ((rounds, 1 - trial_weight), (trials, trial_weight)):
        whole = sum(run.weight for run in runs)
        voters += [replace(run, weight=run.weight * share / whole) for run in runs if run.weight * share > 0]
    return voters


def list_consensus(
    problem: BoostProblem, voters: list[BaseRun], trials: Trials, penalty: float
) -> list[tuple[Consensus, list[BaseRun]]]:
    """Cluster the co-association; the base alone comes first if that agrees clearly better with the links.

    The runs that the clusters are made of are returned as well; one if it is the base alone. If the links seem to be
    reversed, there is only the base alone.
    """
    links, plain, reversed_links = problem.links, trials.runs[-1], trials.contradict_links()
    elsewhere = problem.elsewhere
    tried = links if plain[0].rows is None else links.among(plain[0].rows)
    agreement = [tried.agreement(run.labels) for run in plain]
    found = []
    if voters and not reversed_links:
        n_rows = None if elsewhere is None else elsewhere.n_rows
        consensus = kmeans_on_codes(voters, problem.base, links, penalty, n_rows)
        if elsewhere is not None:
            consensus = elsewhere.extend(consensus, voters, typical_count(voters, problem.base))
        found = [(consensus, voters)]
        if links.agreement(consensus.labels) >= np.mean(agreement) - PLAIN_MARGIN / np.sqrt(len(links)):
            return found
    number = 0 if reversed_links else int(np.argmax(agreement))
    best = label_all_rows(plain[number], problem.coordinates, problem.base.takes_sparse)
    if elsewhere is None:
        return [(Consensus.of_run(best), [best]), *found]
    best = elsewhere.finish(best, number)
    return [(elsewhere.of_run(best), [best]), *found]


def weigh_candidates(
    candidates: list[tuple[Consensus, list[BaseRun]]],
    links: LinkSet,
    penalty: float,
    error_rate: float,
    seed: int,
    last: Ints | None,
) -> tuple[Consensus, list[BaseRun]]:
    """Weigh links against the distances of the first candidate, or of the second if that breaks fewer links.

    The first is the base alone if that agrees better with the links. If few of them seem wrong, it should keep them.
    """
    log_odds = prior_log_odds(error_rate)
    weighed = []
    for consensus, voters in candidates:
        weighed.append((weigh_links(consensus, links, penalty, log_odds, seed, last), voters))
        if error_rate >= MAX_ERROR_TRUSTED or not links.broken_weight(weighed[-1][0].labels):
            break
    return min(weighed, key=lambda one: links.broken_weight(one[0].labels))
