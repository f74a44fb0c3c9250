"""Boost Base Clustering: a supervisor that teaches a clusterer a distance, round by round."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from mustlink._sklearn_compat import Interval, StrOptions, fit_context
from mustlink.base import ConstrainedClusterMixin, as_constraints, check_enough_rows, check_partial_labels
from mustlink.boosting._coassociation import CoAssociation
from mustlink.boosting._metric_ascent import PairScatter, SignedPairs, check_features_fit, take_step
from mustlink.boosting._similarity_bases import Base, affinity_for_number, make_base
from mustlink.boosting._spectral_finish import spectral_finish
from mustlink.constraints import AlignedConstraints, Constraints
from mustlink.errors import UnmetConstraintsWarning

__all__ = ["BoostBaseClustering"]

MOST_IMPLIED_PAIRS = 1_000_000
"""Up to so many pairs, partial labels are written out as all the pairs they imply."""

BETTER_THAN_CHANCE = 0.5 - 1e-10
"""A round counts below this error. The same clustering again has an error of 1/2 after the weights were changed, up to
rounding."""

NO_TIES = 1 + 1e-12
"""Two rows that as much weight puts together as apart are apart, whatever the order of summation."""


@dataclass
class Supervision:
    """What the rounds have given so far.

    Attributes
    ----------
    metric : ndarray of shape (n_features, n_features)
        The matrix A.
    weights : ndarray of shape (n_pairs,)
        The weights w of the pairs.
    vote : ndarray of shape (n_pairs,)
        The sum Y at the pairs.
    labels, alphas, errors, objective : list
        The rounds that counted: labels, weights, errors, and the log of the loss after each.
    n_stalls : int
        The rounds that did not.
    history : list of dict
        All rounds.
    best : tuple of (float, ndarray) or None
        The run of the base that breaks the least weight of pairs, and how much.
    """

    metric: NDArray[np.float64]
    weights: NDArray[np.float64]
    vote: NDArray[np.float64]
    labels: list[NDArray[Any]] = field(default_factory=list)
    alphas: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    objective: list[float] = field(default_factory=list)
    n_stalls: int = 0
    history: list[dict[str, Any]] = field(default_factory=list)
    best: tuple[float, NDArray[Any]] | None = None


class BoostBaseClustering(ConstrainedClusterMixin, BaseEstimator):
    """BBC: boosting on pairs that teaches any clusterer a distance and sums what it finds.

    Each round moves a Mahalanobis distance so that the pairs which are still wrong count most, runs the base
    clusterer with it, and weighs its result by how many of the weighted pairs it gets right. The sum of the rounds
    says for every two rows how sure they belong together, and the clusters are read from it. The base may find the
    number of clusters itself, as affinity propagation does, and then so does this.

    Parameters
    ----------
    base : str, estimator or callable, default="affinity"
        The clusterer to supervise. By name, on similarities: "affinity" (affinity propagation, which finds the number
        of clusters), "spectral", "average" and "complete" (linkage), "kmedoids". Or any scikit-learn clusterer: it
        gets the points X A^(1/2), so that nothing of n x n numbers is made; one with ``affinity="precomputed"`` gets
        the similarities (affinities between 0 and 1 for ``SpectralClustering``), and one with
        ``metric="precomputed"`` the distances. Or a function from points to labels.
    n_clusters : int, default=None
        The number of clusters. The bases by name need it, except "affinity"; so does the spectral finish. A clusterer
        given as `base` keeps its own number.
    n_rounds : int, default=20
        The number of rounds, those that do not count included.
    step : float, default=0.1
        How far the distance moves at once, between 0 and 1.
    finish : {"auto", "components", "spectral"}, default="auto"
        How to read the clusters from the sum: "components" joins rows that more weight puts together than apart, and
        finds the number of clusters; "spectral" cuts the sum into `n_clusters`. "auto" is "spectral" if `n_clusters`
        is given, else "components".
    assign : {"rotation", "kmeans"}, default="rotation"
        How the spectral finish reads clusters from the eigenvectors. The paper rotates; k-means is as good on most
        tables and better on some.
    max_inner : int, default=3
        So many times a round moves the distance and runs the base, until it is better than chance; then it stalls.
    max_stalls : int, default=3
        After so many stalls in a row the run ends.
    scale : bool, default=False
        Whether to standardise the features first. This can decide over success: do it for features in different
        units, not for pixels or spectra.
    max_samples : int, default=5000
        A base that compares all rows with each other refuses more rows than this.
    random_state : int, RandomState or None, default=None
        Makes a run repeatable; all random states of the base are set from it.
    verbose : int or bool, default=False
        Whether to show a progress bar.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every row. With "components", a row that most of the weight calls noise is -1.
    n_clusters_ : int
        The number of clusters found, noise apart.
    metric_ : ndarray of shape (n_features, n_features)
        The matrix A of the learned distance (x - z)' A (x - z), for rows of X as given.
    alphas_ : ndarray of shape (n_counted,)
        The weight of every round that counted.
    errors_ : ndarray of shape (n_counted,)
        The weight of the pairs that each of them got wrong.
    n_clusters_per_round_ : list of int
        The number of connected components after every round that counted. Worked out when asked for.
    stalls_ : int
        The number of rounds that did not count.
    objective_ : list of float
        After every round that counted, the logarithm of the exponential loss. The loss bounds the share of the pairs
        that the sum of the rounds gets wrong.
    history_ : list of dict
        For every round: its number, whether it counted, the steps, error, alpha, the base's number of clusters, the
        share of the pairs that the sum gets wrong, and the objective.
    coassociation_ : CoAssociation
        The rounds that counted with their weights; the sum is Y = 2 K - sum(alphas). If none counted, the run of the
        base that broke the fewest pairs, with the weight 1.
    violations_ : Constraints
        The pairs that the result breaks.
    n_iter_ : int
        The number of rounds gone through.
    n_features_in_ : int
        The number of columns of X.

    Raises
    ------
    TooLargeError
        If a base on n x n numbers is given more than `max_samples` rows, or X has more than 5,000 features.
    RuntimeError
        If the base fails; the message names the round.

    Warns
    -----
    UnmetConstraintsWarning
        If the result breaks pairs, and the pairs contradict each other or the base could not follow them in some
        rounds; it says how many are broken, and how many rounds counted.

    See Also
    --------
    BoostCluster : Boosting by projections, for bases that are given the number of clusters.
    AffinityPropagationSearch : Affinity propagation for a given number of clusters, without constraints.

    Notes
    -----
    What the paper leaves open, and what was chosen. The step has no scale: A and the gradient are both divided by
    their Frobenius norms, and A is brought back to the norm of the identity. A is carried over to the next round. The
    paper repeats a round until the error is below 1/2, which often never happens: here a round stalls after
    `max_inner` steps, A is kept, and the weights of the pairs start again. An error of 0 is taken as half a pair of m.
    The preference of affinity propagation is the median similarity, set anew after every step. Weights of constraints
    are where the weights of the pairs start. Without constraints the result is the base's own, for "affinity" with
    a number of clusters that of the search for it.

    Partial labels become all the pairs they imply, as in the paper, up to 1,000,000 pairs; beyond that a chain
    through every class and one cannot-link for every two classes.

    With no more distinct rows of labels than `n_clusters`, the spectral finish gives fewer clusters.

    References
    ----------
    B. Conroy, Y. T. Xi, P. Ramadge, "A supervisory approach to semi-supervised clustering", ICASSP 2010, 1858-1861.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import Constraints
    >>> from mustlink.boosting._bbc import BoostBaseClustering
    >>> rng = np.random.default_rng(0)
    >>> X = np.column_stack([np.repeat([0.0, 3.0], 30), np.zeros(60)]) + rng.normal(size=(60, 2)) * [0.3, 4.0]
    >>> links = Constraints.sample(np.repeat([0, 1], 30), n_pairs=60, random_state=0)
    >>> model = BoostBaseClustering(base="kmedoids", n_clusters=2, random_state=0).fit(X, constraints=links)
    >>> model.n_clusters_, len(model.violations_)
    (2, 0)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
        "n_rounds": [Interval(Integral, 1, None, closed="left")],
        "step": [Interval(Real, 0, 1, closed="neither")],
        "finish": [StrOptions({"auto", "components", "spectral"})],
        "assign": [StrOptions({"rotation", "kmeans"})],
        "max_inner": [Interval(Integral, 1, None, closed="left")],
        "max_stalls": [Interval(Integral, 1, None, closed="left")],
        "scale": ["boolean"],
        "max_samples": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        base: Any = "affinity",
        n_clusters: int | None = None,
        *,
        n_rounds: int = 20,
        step: float = 0.1,
        finish: str = "auto",
        assign: str = "rotation",
        max_inner: int = 3,
        max_stalls: int = 3,
        scale: bool = False,
        max_samples: int = 5_000,
        random_state: Any = None,
        verbose: int | bool = False,
    ) -> None:
        self.base = base
        self.n_clusters = n_clusters
        self.n_rounds = n_rounds
        self.step = step
        self.finish = finish
        self.assign = assign
        self.max_inner = max_inner
        self.max_stalls = max_stalls
        self.scale = scale
        self.max_samples = max_samples
        self.random_state = random_state
        self.verbose = verbose

    @fit_context(prefer_skip_nested_validation=False)
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        constraints: Constraints | AlignedConstraints | None = None,
    ) -> Self:
        """Find the clusters.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The table.
        y : array-like of shape (n_samples,), default=None
            Partial labels, -1 for unknown, as one more source of constraints. Labels for every row are taken as the
            truth that a score needs, and left alone.
        constraints : Constraints or AlignedConstraints, default=None
            What is known of pairs of rows.

        Returns
        -------
        self : object
            The fitted clusterer.
        """
        X = validate_data(self, X, dtype=[np.float64, np.float32])
        finish = self._check_finish(len(X))
        base = make_base(self.base, self.n_clusters)
        base.check_size(len(X), self.max_samples, X.itemsize)
        check_features_fit(X.shape[1])
        links = self._constraints_for(constraints, y, len(X))
        rng = check_random_state(self.random_state)
        spread = _spread(X) if self.scale else np.ones(X.shape[1])
        points = (X - X.mean(axis=0)) / spread.astype(X.dtype) if self.scale else X
        if links.is_empty:
            self._keep_plain(self._plain_base(base, finish).cluster(points, _seed(rng)), spread)
            return self
        pairs = SignedPairs.of(links)
        rounds = self._supervise(points, pairs, base, rng)
        self._keep(rounds, finish, links, spread, _seed(rng))
        return self

    @property
    def n_clusters_per_round_(self) -> list[int]:
        """The number of connected components after every round that counted."""
        check_is_fitted(self)
        kernel = self.coassociation_
        return [
            _count(_components(CoAssociation(kernel.codes[:, :t], kernel.weights[:t])))
            for t in range(1, kernel.n_rounds + 1)
        ]

    def _check_finish(self, n_samples: int) -> str:
        """Settle how to finish, and check the number of clusters."""
        check_enough_rows(n_samples, self.n_clusters)
        if self.finish == "auto":
            return "components" if self.n_clusters is None else "spectral"
        if self.finish == "spectral" and self.n_clusters is None:
            raise ValueError('finish="spectral" needs to know the number of clusters; give n_clusters.')
        return self.finish

    def _constraints_for(
        self, constraints: Constraints | AlignedConstraints | None, y: ArrayLike | None, n_samples: int
    ) -> Constraints:
        """Bring together the links and all pairs that the partial labels imply, if these are not too many."""
        links = as_constraints(constraints, n_samples)
        labels = check_partial_labels(y, n_samples)
        if labels is None:
            return links
        compact = Constraints.from_labels(labels)
        n_labelled = len(compact.constrained_rows())
        if n_labelled * (n_labelled - 1) // 2 > MOST_IMPLIED_PAIRS:
            return links + compact
        return links + Constraints.from_labels(labels, pairs="all")

    def _plain_base(self, base: Base, finish: str) -> Base:
        """Return what clusters the table if there are no constraints."""
        if isinstance(self.base, str) and self.base == "affinity" and finish == "spectral":
            assert self.n_clusters is not None
            return affinity_for_number(self.n_clusters, self.max_samples)
        return base

    def _supervise(self, X: NDArray[Any], pairs: SignedPairs, base: Base, rng: np.random.RandomState) -> Supervision:
        """Run the rounds: the loop of the paper's Figure 1, with an exit."""
        from rich.progress import track

        gradient = PairScatter(X, pairs)
        state = Supervision(np.eye(X.shape[1]), pairs.start, np.zeros(len(pairs)))
        stalls_in_a_row = 0
        for t in track(range(1, self.n_rounds + 1), description=type(self).__name__, disable=not self.verbose):
            for s in range(1, self.max_inner + 1):
                state.metric, root = take_step(state.metric, gradient(state.weights), self.step)
                labels = base.cluster(X @ root.astype(X.dtype), _seed(rng), f"in round {t}, step {s}")
                together = _together(labels, pairs.rows)
                error = float(state.weights[together != pairs.is_must].sum())
                _remember_best(state, labels, float(pairs.start[together != pairs.is_must].sum()))
                if error < BETTER_THAN_CHANCE:
                    break
            counted = error < BETTER_THAN_CHANCE
            alpha = _boost(state, pairs, labels, together, error) if counted else 0.0
            _note(state, pairs, labels, round=t, steps=s, counted=counted, error=error, alpha=alpha)
            stalls_in_a_row = 0 if counted else stalls_in_a_row + 1
            if not counted:
                state.n_stalls += 1
                state.weights = pairs.start
            if stalls_in_a_row == self.max_stalls:
                break
        return state

    def _keep_plain(self, labels: NDArray[Any], spread: NDArray[np.float64]) -> None:
        """Store the base's own result."""
        self._store(labels.astype(np.intp), CoAssociation.from_labels([labels], [1.0]), Constraints())
        self._store_rounds(Supervision(np.eye(len(spread)), np.empty(0), np.empty(0)), spread)

    def _keep(
        self, rounds: Supervision, finish: str, links: Constraints, spread: NDArray[np.float64], seed: int
    ) -> None:
        """Read the clusters from the rounds and store both."""
        if rounds.alphas:
            kernel = CoAssociation.from_labels(rounds.labels, rounds.alphas)
        else:
            assert rounds.best is not None
            kernel = CoAssociation.from_labels([rounds.best[1]], [1.0])
        if finish == "spectral":
            assert self.n_clusters is not None
            labels = spectral_finish(kernel, self.n_clusters, self.assign, seed)
        else:
            labels = _components(kernel)
        self._store(labels.astype(np.intp), kernel, links)
        self._store_rounds(rounds, spread)
        # A few broken pairs are the normal lot of a soft method; a base that cannot follow is not.
        if not self.violations_.is_empty and (self.stalls_ or links.conflicts()):
            self._warn(len(links))

    def _store(self, labels: NDArray[np.intp], kernel: CoAssociation, links: Constraints) -> None:
        self.labels_ = labels
        self.n_clusters_ = _count(labels)
        self.coassociation_ = kernel
        self.violations_ = links.violations(labels)

    def _store_rounds(self, rounds: Supervision, spread: NDArray[np.float64]) -> None:
        self.metric_ = rounds.metric / spread / spread[:, None]
        self.alphas_ = np.array(rounds.alphas)
        self.errors_ = np.array(rounds.errors)
        self.objective_ = rounds.objective
        self.stalls_ = rounds.n_stalls
        self.history_ = rounds.history
        self.n_iter_ = max(len(rounds.history), 1)

    def _warn(self, n_pairs: int) -> None:
        """Say that pairs are broken, and how many rounds counted."""
        n_rounds, n_counted = len(self.history_), len(self.alphas_)
        ended = " The run ended early, since the last ones were all of this kind." if n_rounds < self.n_rounds else ""
        stalled = f" In {self.stalls_} the base did no better than chance.{ended}" if self.stalls_ else ""
        warnings.warn(
            f"The result breaks {len(self.violations_)} of {n_pairs} pairs. Of {n_rounds} rounds {n_counted} "
            f"counted.{stalled} See violations_ and history_.",
            UnmetConstraintsWarning,
            stacklevel=5,
        )


def _boost(
    state: Supervision, pairs: SignedPairs, labels: NDArray[Any], together: NDArray[np.bool_], error: float
) -> float:
    """Weigh a round, add it to the sum, and raise the weights of the pairs that it gets wrong, as AdaBoost does."""
    clipped = max(error, 0.5 / max(len(pairs), 2))
    alpha = 0.5 * float(np.log((1 - clipped) / clipped))
    right = np.where(together == pairs.is_must, 1.0, -1.0)
    raised = state.weights * np.exp(-alpha * right)
    state.weights = raised / raised.sum()
    state.vote = state.vote + alpha * right * pairs.sign
    state.labels.append(labels)
    state.alphas.append(alpha)
    state.errors.append(error)
    state.objective.append(float(logsumexp(-pairs.sign * state.vote, b=pairs.start)))
    return alpha


def _note(state: Supervision, pairs: SignedPairs, labels: NDArray[Any], **facts: Any) -> None:
    """Write down how a round went."""
    wrong = pairs.sign * state.vote <= 0
    state.history.append(
        {
            **facts,
            "n_clusters": _count(labels),
            "wrong": float(pairs.start[wrong].sum()),
            "objective": state.objective[-1] if state.objective else 0.0,
        }
    )


def _remember_best(state: Supervision, labels: NDArray[Any], broken: float) -> None:
    """Keep the run that breaks the least weight of pairs, in case no round counts."""
    if state.best is None or broken < state.best[0]:
        state.best = (broken, labels)


def _together(labels: NDArray[Any], rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Say of every pair whether it has one label; noise is apart from everything."""
    a, b = labels[rows[:, 0]], labels[rows[:, 1]]
    return (a == b) & (a >= 0)


def _components(kernel: CoAssociation) -> NDArray[np.int64]:
    """Join rows that more weight puts together than apart, Y > 0; rows that most weight calls noise are noise."""
    half = float(kernel.weights.sum()) / 2 * NO_TIES
    labels = kernel.components(half)
    # Such a row has less than half of the weight in common with any other, so that it stands alone.
    noise = kernel.noise_weight > half
    if noise.any():
        labels = np.where(noise, -1, labels)
        labels[~noise] = np.unique(labels[~noise], return_inverse=True)[1]
    return labels


def _count(labels: NDArray[Any]) -> int:
    """Return the number of clusters, noise apart."""
    return len(np.unique(labels[labels >= 0]))


def _spread(X: NDArray[Any]) -> NDArray[np.float64]:
    """Return the standard deviation of every feature, 1 for a constant one."""
    # The deviation of a constant is not always 0, but rounding.
    varies = X.min(axis=0) < X.max(axis=0)
    return np.where(varies, X.std(axis=0, dtype=np.float64), 1.0)


def _seed(rng: np.random.RandomState) -> int:
    """Draw the seed of one run of the base."""
    return int(rng.randint(np.iinfo(np.int32).max))
