"""BoostCluster: boosting of any clusterer by pairwise constraints (Liu, Jin and Jain 2007)."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, cast

import numpy as np

from mustlink._estimators import draw_seed
from mustlink._progress import progress
from mustlink._sklearn_compat import Interval, StrOptions
from mustlink.boosting._bases import BaseClusterer
from mustlink.boosting._blocked._elsewhere import Elsewhere
from mustlink.boosting._blocked._shown import ShownRows
from mustlink.boosting._boostcluster._base import BaseBoostCluster, list_suspects
from mustlink.boosting._boostcluster._consensus import Consensus, find_consensus, typical_count
from mustlink.boosting._boostcluster._coordinates import make_coordinates
from mustlink.boosting._boostcluster._representations import Kind, Representation
from mustlink.boosting._boostcluster._rounds import BoostProblem, boost, draw_seeds
from mustlink.boosting._boostcluster._views import RepresentationView, run_base
from mustlink.constraints import Constraints

__all__ = ["BoostCluster"]

# What None stands for, in general and for representation="published".
DEFAULTS: dict[str, tuple[Any, Any]] = {
    "learning_rate": (0.5, 1.0),
    "scale": (True, False),
    "n_components": (None, 5),
    "ridge_identity": (0.1, 0.0),
    "smoothing": (0.5, 0.0),
    "on_bad_round": ("reweight", "skip"),
    "consensus": ("codes", "base"),
}


class BoostCluster(BaseBoostCluster):
    """Boosting of any clusterer with must-link and cannot-link constraints (Liu, Jin and Jain 2007).

    Each round computes a representation of the table in which the links that are still broken matter most, runs the
    base clusterer on it, and adds the result to a co-association matrix. The final clusters are those of that matrix.

    All links are trusted. If some may be wrong, use :class:`RobustBoostCluster`.

    Parameters
    ----------
    estimator : clusterer or callable, default=None
        The base: a scikit-learn clusterer (or mixture), a pipeline that ends in one, or a function from a table to
        labels. It may find the number of clusters itself, and the label -1 is noise. None is
        ``KMeans(n_clusters, n_init=3)``. It is cloned for every run, and its random states are set.
    n_clusters : int, default=None
        The number of clusters. It is also set in the base clusterer (`n_components` of a mixture). None takes the
        number of the base (8 for the default base) or, if the base finds it, the weighted median over the rounds.
    representation : {"ridged", "difference", "whitened", "projection", "published"}, default="ridged"
        How the representation of a round is computed from the weights p of must-links and q of cannot-links, with d
        the difference of the two rows of a link:

        - "difference": the positive eigenvectors of sum q dd' - sum p dd';
        - "ridged": the same after whitening by the must-link scatter plus a multiple of the identity;
        - "whitened": the same after whitening by the must-link scatter plus a multiple of the covariance;
        - "projection": the matrix X T X' of the paper;
        - "published": the paper's literal algorithm. "projection", and all parameters that are None below take the
          second value in parentheses.
    n_rounds : int, default=25
        The number of rounds.
    learning_rate : float, default=None
        Fraction of the optimal step that is taken (0.5; 1).
    scale : bool, default=None
        Whether to standardize the features (True; False). Set it to False for pixels, spectra and tf-idf.
    n_components : int, default=None
        Maximum number of columns of a representation, those with the largest eigenvalues (all positive ones; 5).
    ridge_identity : float, default=None
        Multiple of the identity that is added to the matrix of "projection", "difference" and "whitened" after it is
        scaled to norm one (0.1; 0). It keeps directions that no link involves.
    smoothing : float, default=None
        Added to the weights of satisfied and broken links, in units of links, before the step of a round is computed
        (0.5; 0). It keeps the weight of a round that breaks no link finite.
    on_bad_round : {"reweight", "skip", "stop"}, default=None
        What happens after a round with a negative step ("reweight"; "skip"): update the weights of the links but leave
        the round out of the result, ignore it, or end.
    consensus : {"codes", "eigenvectors", "base"}, default=None
        How the co-association matrix is clustered ("codes"; "base"): by kernel k-means, by the base on its
        eigenvectors scaled by the roots of the eigenvalues, or by the base on the unscaled eigenvectors.
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
        The links whose weight has grown over the rounds, because they were hard to satisfy, the heaviest first. Many
        of them can be correct; no probability is estimated.
    objective_ : list of float
        The objective (sum of must-link weights)(sum of cannot-link weights) after each round; it never increases.
    alphas_ : ndarray of shape (n_iter,)
        The step of each round.
    history_ : list of dict
        One entry per round: its representation, objective, alpha, the weights of the links it satisfies and breaks
        (`must_apart`, `must_together`, `cannot_apart`, `cannot_together`), whether it counted, and its number of
        clusters.
    coassociation_ : CoAssociation
        The co-association matrix that was clustered; of a large table in blocks, that of the rows in memory.
    is_plain_ : bool
        Whether the result is that of the base alone, because there were no links or no round counted.
    n_iter_ : int
        The number of rounds.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if the table had any.

    See Also
    --------
    RobustBoostCluster : Estimates which links are wrong; the default of this library.
    BoostBaseClustering : Boosts clusterers of similarities, and finds the number of clusters.
    mustlink.kmeans.PCKMeans : Faster; learns no representation.

    Notes
    -----
    Without links the result is that of the base on the scaled table. Only the proportions of link weights matter.

    Where the paper leaves it open: a round with a negative step does not enter the result, weights of zero are
    smoothed, directions without positive eigenvalue are dropped, and the rounds end when the same weights give the same
    labels again.

    With many features the links act in the span of the linked rows, and the rest of the space is scaled by one number.
    This is exact for at most 4,000 rows or features; beyond that, and for sparse tables with more than 128 features,
    the rest is kept by its 100 leading directions and the span of a sparse table by at most 1,500. Sparse tables are
    never made dense.

    X may be rows in blocks, see :func:`mustlink.blocks.open_rows`. Up to 50,000 of them are fitted as in memory. Of
    more rows, which may have 128 columns at most, the linked ones and a random sample of 50,000 are in memory. A base
    that is scikit-learn's ``KMeans`` or ``MiniBatchKMeans`` starts there and goes on in exact passes over all rows. Any
    other base clusters the rows in memory, at most 10,000 of them if it cannot predict, and predicts the rest or gives
    it the labels of the nearest rows. The codes of all rows, a byte per row and round, stay where the rows are. With a
    folder for checkpoints every finished round is kept, and a fit with the same integer `random_state` reads it.

    References
    ----------
    Y. Liu, R. Jin and A. K. Jain, "BoostCluster: boosting clustering by pairwise constraints", KDD 2007.

    Examples
    --------
    >>> from sklearn.cluster import AgglomerativeClustering
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.metrics import adjusted_rand_score
    >>> from mustlink import Constraints
    >>> from mustlink.boosting import BoostCluster
    >>> X, y = load_iris(return_X_y=True)
    >>> links = Constraints.sample(y, n_pairs=100, random_state=0)
    >>> model = BoostCluster(AgglomerativeClustering(), n_clusters=3, random_state=0).fit(X, constraints=links)
    >>> adjusted_rand_score(y, model.labels_) > 0.7
    True

    The paper's literal algorithm:

    >>> model = BoostCluster(n_clusters=3, representation="published", n_components=2, random_state=0)
    >>> model.fit(X, constraints=links).n_clusters_
    3
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseBoostCluster._parameter_constraints,
        "representation": [StrOptions({"ridged", "difference", "whitened", "projection", "published"})],
        "learning_rate": [Interval(Real, 0, 1, closed="right"), None],
        "scale": ["boolean", None],
        "ridge_identity": [Interval(Real, 0, None, closed="left"), None],
        "smoothing": [Interval(Real, 0, None, closed="left"), None],
        "on_bad_round": [StrOptions({"reweight", "skip", "stop"}), None],
        "consensus": [StrOptions({"codes", "eigenvectors", "base"}), None],
    }

    def __init__(
        self,
        estimator: Any = None,
        n_clusters: int | None = None,
        *,
        representation: str = "ridged",
        n_rounds: int = 25,
        learning_rate: float | None = None,
        scale: bool | None = None,
        n_components: int | None = None,
        ridge_identity: float | None = None,
        smoothing: float | None = None,
        on_bad_round: str | None = None,
        consensus: str | None = None,
        random_state: Any = None,
        verbose: int | bool = 0,
    ) -> None:
        self.estimator = estimator
        self.n_clusters = n_clusters
        self.representation = representation
        self.n_rounds = n_rounds
        self.learning_rate = learning_rate
        self.scale = scale
        self.n_components = n_components
        self.ridge_identity = ridge_identity
        self.smoothing = smoothing
        self.on_bad_round = on_bad_round
        self.consensus = consensus
        self.random_state = random_state
        self.verbose = verbose

    def _setting(self, name: str) -> Any:
        """Return a parameter, or the value that None means."""
        value = getattr(self, name)
        return DEFAULTS[name][self.representation == "published"] if value is None else value

    def _fit_links(
        self, X: Any, constraints: Constraints, bases: list[BaseClusterer], seed: int, rng: np.random.RandomState
    ) -> None:
        (base,) = bases
        kind = cast(Kind, "projection" if self.representation == "published" else self.representation)
        n_components, identity = self._setting("n_components"), self._setting("ridge_identity")
        representation = Representation(kind, identity=1.0 if kind == "ridged" else identity)
        elsewhere = None
        if isinstance(X, ShownRows):
            coordinates = X.coordinates(self._setting("scale"), n_components)
            elsewhere = Elsewhere(X, coordinates, self.verbose)
        else:
            coordinates = make_coordinates(
                X,
                constraints,
                standardize=self._setting("scale"),
                points=kind == "projection",
                needs_rest=representation.identity > 0,
                n_components=n_components,
                joint=kind == "whitened",
            )
        links = coordinates.place_links(constraints, with_covariance=kind == "whitened")
        with progress(self.n_rounds, "BoostCluster", shown=self.verbose) as advance:
            settings = [self._setting(name) for name in ("n_rounds", "learning_rate", "smoothing", "on_bad_round")]
            problem = replace(BoostProblem(base, coordinates, links, advance, *settings), elsewhere=elsewhere)
            seeds = draw_seeds(rng, self.n_rounds)
            result = boost(
                problem, [RepresentationView(base, representation)] * self.n_rounds, seeds, np.ones(len(links))
            )
        voters = result.voters
        if voters:
            consensus = find_consensus(voters, base, self._setting("consensus"), n_components, seed)
            if elsewhere is not None:
                consensus = elsewhere.extend(consensus, voters, typical_count(voters, base))
        else:
            plain_seed = draw_seed(rng)
            run = run_base(base, coordinates, None, plain_seed, "on the plain table")
            voters = [run if elsewhere is None else elsewhere.finish(run, plain_seed)]
            consensus = Consensus.of_run(voters[0]) if elsewhere is None else elsewhere.of_run(voters[0])
        self._keep(consensus, voters, coordinates, result, is_plain=not result.voters)
        growth = result.weights.growth()
        self.suspects_ = list_suspects(links, growth > 1 + 1e-9, None, growth)
