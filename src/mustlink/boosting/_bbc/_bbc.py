"""Boost Base Clustering (BBC): boosting on pairs for a clusterer of similarities."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import logsumexp
from sklearn.base import BaseEstimator
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from mustlink._estimators import draw_seed
from mustlink._progress import progress
from mustlink._sklearn_compat import Interval, StrOptions
from mustlink._spelling import count
from mustlink._types import Array, Floats, Indices, Ints, Mask
from mustlink._warnings import warn_caller
from mustlink.base import ConstrainedClusterMixin, check_fits
from mustlink.boosting._bbc._affinity_propagation import search_preference
from mustlink.boosting._bbc._inner import InnerClusterer, make_inner
from mustlink.boosting._bbc._metric import PairScatter, take_step
from mustlink.boosting._bbc._spectral_consensus import spectral_consensus
from mustlink.boosting._coassociation import CoAssociation
from mustlink.constraints import Constraints
from mustlink.errors import UnmetConstraintsWarning

__all__ = ["BoostBaseClustering"]

# Up to this number of pairs, partial labels and links that state classes become all the pairs that they imply.
MAX_IMPLIED_PAIRS = 1_000_000
# The eigenvalues of a (d, d) matrix are needed at every step.
MAX_FEATURES = 5_000
# A round counts below this error. A round that finds the same clusters again has an error of 1/2, up to rounding.
MAX_ERROR = 0.5 - 1e-10
# Two rows are joined if more than half of the weight joins them; a tie must not depend on the order of summation.
TIE_MARGIN = 1 + 1e-12


@dataclass
class Supervision:
    """The state of the boosting after some rounds."""

    links: Constraints
    start: Floats  # the weights that the pairs were given, of sum 1
    metric: Floats  # the matrix A
    weights: Floats  # the current weights w of the pairs
    margin: Floats  # the sum Y at the pairs, times their signs: positive where the rounds together are right
    labels: list[Array] = field(default_factory=list)  # of the rounds that counted
    history: list[dict[str, Any]] = field(default_factory=list)  # all rounds
    best: tuple[float, Array] = (np.inf, np.empty(0))  # the least weight of pairs that a run breaks, and its labels

    @classmethod
    def begin(cls, links: Constraints, n_features: int) -> Self:
        """Start with the identity and the weights that the pairs were given."""
        start = links.weight / links.weight.sum() if len(links) else links.weight
        return cls(links, start, np.eye(n_features), start, np.zeros(len(links)))

    def error_of(self, labels: Array) -> tuple[Mask, float]:
        """Return which pairs a run gets right, and the weight of the others; remember the run that breaks least."""
        right = self.links.satisfied(labels)
        broken = float(self.start[~right].sum())
        if broken < self.best[0]:
            self.best = (broken, labels)
        return right, float(self.weights[~right].sum())

    def add(self, labels: Array, right: Mask, error: float, **facts: Any) -> bool:
        """Add a round to the history and, if its error is below 1/2, to the sum; return whether it counted.

        The weights of the pairs it gets wrong are raised as in AdaBoost.
        """
        counted, alpha = error < MAX_ERROR, 0.0
        objective = self.history[-1]["objective"] if self.history else 0.0
        if counted:
            clipped = max(error, 0.5 / max(len(self.links), 2))
            alpha = 0.5 * float(np.log((1 - clipped) / clipped))
            side = np.where(right, 1.0, -1.0)
            raised = self.weights * np.exp(-alpha * side)
            self.weights = raised / raised.sum()
            self.margin = self.margin + alpha * side
            self.labels.append(labels)
            objective = float(logsumexp(-self.margin, b=self.start))
        else:
            self.weights = self.start
        self.history.append(
            {
                **facts,
                "counted": counted,
                "error": error,
                "alpha": alpha,
                "n_clusters": _count(labels),
                "wrong": float(self.start[self.margin <= 0].sum()),
                "objective": objective,
            }
        )
        return counted

    def of_counted(self, name: str) -> list[float]:
        """Return a value of the history for every round that counted."""
        return [entry[name] for entry in self.history if entry["counted"]]


class BoostBaseClustering(ConstrainedClusterMixin, BaseEstimator):
    """BBC: boosting on pairs with a learned Mahalanobis metric, for any clusterer.

    Each round moves a Mahalanobis metric towards the pairs that are still wrong, runs the given clusterer with it, and
    weights the result by the pairs it gets right. The clusters are read from the weighted sum of the rounds. If the
    clusterer finds the number of clusters itself, as affinity propagation does, then so does BBC.

    Parameters
    ----------
    estimator : str, estimator or callable, default="affinity"
        The clusterer to supervise.

        - A name, for a clusterer on similarities: "affinity" (affinity propagation, which finds the number of
          clusters), "spectral", "average" and "complete" (linkage), "kmedoids".
        - A scikit-learn clusterer. It gets the points X A^(1/2), and nothing of size n x n is built. One with
          ``affinity="precomputed"`` gets the similarities (affinities between 0 and 1 for ``SpectralClustering``), and
          one with ``metric="precomputed"`` the distances.
        - A function from points to labels.
    n_clusters : int, default=None
        The number of clusters. Needed by the named clusterers except "affinity", and by the spectral consensus. A
        clusterer given as `estimator` keeps its own number.
    n_rounds : int, default=20
        The number of rounds, those that do not count included.
    step : float, default=0.1
        The step size of the metric, between 0 and 1.
    consensus : {"auto", "components", "spectral"}, default="auto"
        How to read the clusters from the sum: "components" joins rows that more weight puts together than apart, and
        finds the number of clusters; "spectral" cuts the sum into `n_clusters`. "auto" is "spectral" if `n_clusters`
        is given, else "components".
    assign_labels : {"rotation", "kmeans"}, default="rotation"
        How the spectral consensus reads clusters from the eigenvectors. The paper rotates; k-means is as good on most
        tables and better on some.
    max_inner : int, default=3
        The maximum number of steps and runs of the clusterer in a round, until its error is below 1/2; without success
        the round does not count (a stall).
    max_stalls : int, default=3
        The fit ends after this number of stalls in a row.
    scale : bool, default=False
        Whether to standardize the features first. Recommended for features in different units, not for pixels or
        spectra.
    max_samples : int, default=5000
        The maximum number of rows for a clusterer that compares all rows with each other.
    random_state : int, RandomState or None, default=None
        Makes a run repeatable; all random states of the clusterer are set from it.
    verbose : int or bool, default=False
        Whether to show a progress bar.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every row. With "components", a row that most of the weight calls noise is -1.
    n_clusters_ : int
        The number of clusters found, without noise.
    metric_ : ndarray of shape (n_features, n_features)
        The matrix A of the learned distance (x - z)' A (x - z), for rows of X as given.
    alphas_ : ndarray of shape (n_counted,)
        The weight of every round that counted.
    errors_ : ndarray of shape (n_counted,)
        The weight of the pairs that each of them got wrong.
    n_clusters_per_round_ : list of int
        The number of connected components after every round that counted. Computed on access.
    stalls_ : int
        The number of rounds that did not count.
    objective_ : list of float
        After every round that counted, the logarithm of the exponential loss. The loss bounds the share of the pairs
        that the sum of the rounds gets wrong.
    history_ : list of dict
        For every round: its number, whether it counted, the steps, error, alpha, the number of clusters of the run,
        the share of the pairs that the sum gets wrong, and the objective.
    coassociation_ : CoAssociation
        The rounds that counted with their weights; the sum is Y = 2 K - sum(alphas). If none counted, the run that
        broke the least weight of pairs, with the weight 1.
    violations_ : Constraints
        The pairs that the result breaks.
    n_iter_ : int
        The number of rounds made.
    n_features_in_ : int
        The number of columns of X.

    Raises
    ------
    TooLargeError
        If a clusterer on n x n arrays is given more than `max_samples` rows, or X has more than 5,000 features.
    RuntimeError
        If the clusterer fails; the message names the round.

    Warns
    -----
    UnmetConstraintsWarning
        If the result breaks pairs, and the pairs contradict each other or some rounds did not count; the message has
        the numbers.

    See Also
    --------
    BoostCluster : Boosting by projections, for clusterers that are given the number of clusters.

    Notes
    -----
    Choices where the paper leaves it open: A and the gradient are divided by their Frobenius norms before a step, and A
    keeps the norm of the identity. A is carried over to the next round. The paper repeats a round until the error is
    below 1/2, which often never happens: here a round stalls after `max_inner` steps, A is kept, and the weights of
    the pairs are reset. An error of 0 is taken as half a pair of m. The preference of affinity propagation is the
    median similarity, set again after every step. The weights of the constraints are the initial weights of the pairs.
    Without constraints the result is that of the clusterer alone. For "affinity" with `n_clusters` the preference is
    then searched that gives this number; if none does, there are more or fewer clusters, and a ConvergenceWarning.

    Partial labels become all the pairs they imply, as in the paper, up to 1,000,000 pairs; beyond that a chain
    through every class and one cannot-link for every two classes. So do links of equal weight that state the classes of
    their rows, such as those of ``Constraints.from_labels``; `violations_` lists the given links only.

    With no more distinct rows of labels than `n_clusters`, the spectral consensus gives fewer clusters.

    References
    ----------
    B. Conroy, Y. T. Xi, P. Ramadge, "A supervisory approach to semi-supervised clustering", ICASSP 2010, 1858-1861.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import Constraints
    >>> from mustlink.boosting import BoostBaseClustering
    >>> rng = np.random.default_rng(0)
    >>> X = np.column_stack([np.repeat([0.0, 3.0], 30), np.zeros(60)]) + rng.normal(size=(60, 2)) * [0.3, 4.0]
    >>> links = Constraints.sample(np.repeat([0, 1], 30), n_pairs=60, random_state=0)
    >>> model = BoostBaseClustering("kmedoids", n_clusters=2, random_state=0).fit(X, constraints=links)
    >>> model.n_clusters_, len(model.violations_)
    (2, 0)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
        "n_rounds": [Interval(Integral, 1, None, closed="left")],
        "step": [Interval(Real, 0, 1, closed="neither")],
        "consensus": [StrOptions({"auto", "components", "spectral"})],
        "assign_labels": [StrOptions({"rotation", "kmeans"})],
        "max_inner": [Interval(Integral, 1, None, closed="left")],
        "max_stalls": [Interval(Integral, 1, None, closed="left")],
        "scale": ["boolean"],
        "max_samples": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        estimator: Any = "affinity",
        n_clusters: int | None = None,
        *,
        n_rounds: int = 20,
        step: float = 0.1,
        consensus: str = "auto",
        assign_labels: str = "rotation",
        max_inner: int = 3,
        max_stalls: int = 3,
        scale: bool = False,
        max_samples: int = 5_000,
        random_state: Any = None,
        verbose: int | bool = False,
    ) -> None:
        self.estimator = estimator
        self.n_clusters = n_clusters
        self.n_rounds = n_rounds
        self.step = step
        self.consensus = consensus
        self.assign_labels = assign_labels
        self.max_inner = max_inner
        self.max_stalls = max_stalls
        self.scale = scale
        self.max_samples = max_samples
        self.random_state = random_state
        self.verbose = verbose

    def _fit(self, X: Any, links: Constraints, y: Array | None) -> None:
        if self.consensus == "spectral" and self.n_clusters is None:
            raise ValueError('consensus="spectral" needs the number of clusters; give n_clusters.')
        n_wanted = self._n_clusters_wanted()
        inner = make_inner(self.estimator, self.n_clusters)
        inner.check_size(len(X), self.max_samples, X.itemsize)
        instead = "reduce the features first, for example with sklearn.decomposition.PCA"
        check_fits("The learned metric", (X.shape[1], X.shape[1]), MAX_FEATURES**2, instead)
        rng = check_random_state(self.random_state)
        points, spread = X, np.ones(X.shape[1])
        if self.scale:
            scaler = StandardScaler().fit(X)
            points, spread = scaler.transform(X), scaler.scale_
        rounds = Supervision.begin(pairs_of_classes(links, len(X)), X.shape[1])
        if links.is_empty:
            if self.estimator == "affinity" and n_wanted is not None:
                inner = replace(inner, run=lambda S, seed, _: search_preference(S, n_wanted, seed)[0].labels)
            self.labels_ = inner.cluster(points, draw_seed(rng)).astype(np.int64)
            self.coassociation_ = CoAssociation.from_labels([self.labels_], [1.0])
        else:
            self._supervise(points, rounds, inner, rng)
            kept = (rounds.labels, rounds.of_counted("alpha")) if rounds.labels else ([rounds.best[1]], [1.0])
            self.coassociation_ = CoAssociation.from_labels(*kept)
            self.labels_ = self._read_clusters(n_wanted, draw_seed(rng))
        self._keep(rounds, spread)
        self.violations_ = links.violations(self.labels_)
        # A soft method may break a few pairs; a warning is due if the pairs cannot be met or the clusterer stalls.
        if not self.violations_.is_empty and (self.stalls_ or links.conflicts()):
            warn_caller(self._warning(len(links)), UnmetConstraintsWarning, remedy="see_history")

    def _n_clusters_wanted(self) -> int | None:
        # Connected components find the number, whatever the estimator was given.
        return None if self.consensus == "components" else self.n_clusters

    @property
    def n_clusters_per_round_(self) -> list[int]:
        """The number of connected components after every round that counted."""
        check_is_fitted(self)
        kernel = self.coassociation_
        parts = (CoAssociation(kernel.codes[:, :t], kernel.weights[:t]) for t in range(1, kernel.n_rounds + 1))
        return [_count(_components(part)) for part in parts]

    def _links_of_labels(self, y: Array, order: Indices) -> Constraints:
        """Return all pairs that the partial labels imply, if these are not too many."""
        return pairs_of_classes(super()._links_of_labels(y, order), len(y))

    def _supervise(self, X: Array, state: Supervision, inner: InnerClusterer, rng: np.random.RandomState) -> None:
        """Run the rounds: the loop of the paper's Figure 1, with an exit."""
        gradient = PairScatter(X, state.links)
        stalls_in_a_row = 0
        with progress(self.n_rounds, type(self).__name__, shown=self.verbose) as advance:
            for t in range(1, self.n_rounds + 1):
                for s in range(1, self.max_inner + 1):
                    state.metric, root = take_step(state.metric, gradient(state.weights), self.step)
                    labels = inner.cluster(X @ root.astype(X.dtype), draw_seed(rng), f"in round {t}, step {s}")
                    right, error = state.error_of(labels)
                    if error < MAX_ERROR:
                        break
                counted = state.add(labels, right, error, round=t, steps=s)
                stalls_in_a_row = 0 if counted else stalls_in_a_row + 1
                advance(t)
                if stalls_in_a_row == self.max_stalls:
                    break

    def _read_clusters(self, n_wanted: int | None, seed: int) -> Ints:
        """Cluster the sum of the rounds."""
        if n_wanted is None:
            return _components(self.coassociation_)
        return spectral_consensus(self.coassociation_, n_wanted, self.assign_labels, seed).astype(np.int64)

    def _keep(self, rounds: Supervision, spread: Floats) -> None:
        """Set the learned attributes."""
        self.n_clusters_ = _count(self.labels_)
        self.metric_ = rounds.metric / spread / spread[:, None]
        self.alphas_, self.errors_ = np.array(rounds.of_counted("alpha")), np.array(rounds.of_counted("error"))
        self.objective_ = rounds.of_counted("objective")
        self.history_ = rounds.history
        self.stalls_ = len(rounds.history) - len(rounds.labels)
        self.n_iter_ = max(len(rounds.history), 1)

    def _warning(self, n_pairs: int) -> str:
        """Return how many pairs are broken, and how many rounds counted."""
        n_rounds, n_counted = len(self.history_), len(self.alphas_)
        ended = " The last ones all failed, and the fit ended early." if n_rounds < self.n_rounds else ""
        stalled = f" In {self.stalls_} the boosted clusterer was no better than chance.{ended}" if self.stalls_ else ""
        return (
            f"The result breaks {len(self.violations_):,} of {count(n_pairs, 'link')}. Of {count(n_rounds, 'round')} "
            f"{n_counted} counted.{stalled}"
        )


def pairs_of_classes(links: Constraints, n_samples: int) -> Constraints:
    """Return all the pairs that links imply, if the links state the classes of their rows, as partial labels do.

    They do if every two linked rows are together or apart by the links, without a contradiction. A short list, such as
    a chain of must-links through each class, then becomes the pairs of the paper; its own few pairs give a far worse
    gradient. Links that leave some pairs open, have weights, or imply too many pairs are returned as they are.
    """
    n_linked = len(links.constrained_rows())
    n_pairs = n_linked * (n_linked - 1) // 2
    if not len(links) < n_pairs <= MAX_IMPLIED_PAIRS or np.ptp(links.weight) > 0:
        return links
    closure = links.closure(n_samples)
    n_classes = closure.n_components - (n_samples - n_linked)
    if closure.self_loops.size or len(closure.cannot_link) < n_classes * (n_classes - 1) // 2:
        return links
    return closure.explicit()


def _components(kernel: CoAssociation) -> Ints:
    """Join rows that more weight puts together than apart, Y > 0; rows that most weight calls noise are noise."""
    half = float(kernel.weights.sum()) / 2 * TIE_MARGIN
    labels = kernel.components(half)
    # Such a row has less than half of the weight in common with any other row.
    noise = kernel.noise_weight > half
    if noise.any():
        labels = np.where(noise, -1, labels)
        labels[~noise] = np.unique(labels[~noise], return_inverse=True)[1]
    return labels


def _count(labels: Array) -> int:
    """Return the number of clusters, without noise."""
    return len(np.unique(labels[labels >= 0]))
