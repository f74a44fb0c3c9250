"""BoostCluster: any clusterer made to follow links, round by round."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from mustlink._sklearn_compat import Interval, StrOptions, fit_context
from mustlink.base import ConstrainedClusterMixin, check_enough_rows
from mustlink.boosting._bases import BaseClusterer
from mustlink.boosting._beliefs import FEW_WRONG
from mustlink.boosting._coordinates import Coordinates, Scaling, make_coordinates
from mustlink.boosting._final import FinalModel, FinalStep
from mustlink.boosting._forms import AUTO_FORMS, Form, Kind
from mustlink.boosting._links import LinkSet
from mustlink.boosting._rounds import Problem, Round, RoundSettings, Voter
from mustlink.boosting._schemes import DoubtSettings, Outcome, boost_in_one_form, boost_with_doubt, draw_seeds
from mustlink.constraints import AlignedConstraints, Constraints

__all__ = ["BoostCluster", "Suspect"]

PLAIN = "plain"
SUSPECT_BELOW = 0.5


class Suspect(NamedTuple):
    """A link that looks wrong.

    Attributes
    ----------
    a, b : int
        The rows it joins.
    link : str
        "must" or "cannot".
    trust : float
        The estimated probability that it is right; 1 for a fixed form, which estimates none.
    weight : float
        The factor by which its share of the weights has grown over the rounds: how hard it was to keep.
    """

    a: int
    b: int
    link: str
    trust: float
    weight: float


class BoostCluster(ConstrainedClusterMixin, BaseEstimator):
    """Boosting of any clusterer by links (Liu, Jin and Jain 2007), which also learns how far to trust them.

    Each round makes a new representation of the table in which the links that are still broken matter most, runs the
    base clusterer on it, and adds the result to a co-association. The final clusters are those of the co-association.

    By default (``metric="auto"``) several forms of representation are tried out first on links they have not seen.
    From that follow how much each form counts, how many links are likely wrong and which, and how much a link counts
    in the final step.

    Parameters
    ----------
    estimator : clusterer or callable, default=None
        The base: a scikit-learn clusterer (or mixture), a pipeline that ends in one, or a function from a table to
        labels. It may find the number of clusters itself, and the label -1 is noise. None is
        ``KMeans(n_clusters, n_init=3)``. It is cloned for every run, and its random states are set.
    n_clusters : int, default=None
        The number of clusters of the result. Where the base has such a parameter (`n_components` of a mixture), it is
        set to the same number. None takes the base's own number (8 for the default base); if the base finds the
        number itself, the weighted median of what the runs found.
    metric : {"auto", "ridged", "difference", "whitened", "projection"}, default="auto"
        The form of representation. "auto" mixes several and doubts the links; it runs the base
        ``(len(forms) + 1) * n_masks + n_rounds`` times. The others run it `n_rounds` times. With p and q the weights of
        must-links and cannot-links and d the difference of the ends of a link: "difference" takes the positive
        directions of sum q dd' - sum p dd'; "whitened" and "ridged" see the same against the scatter of the
        must-links, with a ridge of the covariance or of the identity; "projection" is the paper's X T X'.
    n_rounds : int, default=25
        The number of rounds.
    learning_rate : float, default=0.5
        How much of the best step is taken.
    scale : bool, default=True
        Whether to standardise the features. Switch it off for pixels, spectra and tf-idf.
    n_components : int, default=None
        The most columns of a representation, those with the largest eigenvalues; None takes all positive directions.
    identity : float, default=0.1
        How much of the identity is added to the matrix of "projection", "difference" and "whitened", whose largest
        eigenvalue is one. It lets the base see directions that no link speaks of.
    on_bad_round : {"reweight", "skip", "stop"}, default="reweight"
        What to do with a round that puts cannot-links together more often than must-links, so that its step is
        negative: let it change the weights of the links but not the result; forget it; end.
    smoothing : float, default=0.5
        Added to the weight, counted in links, of what a round keeps and breaks before the step is worked out, so that
        a round that breaks nothing does not count infinitely.
    final : {"codes", "eigenvectors", "base"}, default="codes"
        How the co-association is clustered: by kernel k-means; by the base on its eigenvectors times the roots of the
        eigenvalues; by the base on the eigenvectors, which is the paper's.
    forms : sequence of (ridge, identity), default=the seven that were chosen by experiment
        What "auto" mixes.
    n_masks : int, default=4
        How often "auto" tries each form, each time without some of the links.
    share : float, default=0.1
        The weight of those trials in the co-association of "auto", beside that of the rounds.
    price : float, default=0.5
        What links count in the final step of "auto" beside the distances between codes, whose squared length is one: a
        broken link costs as much as a squared distance of this times the log-odds that a link is right. With 0 the
        final step does not look at links.
    max_error : float, default=0.3
        The largest share of wrong links that "auto" reckons with.
    n_jobs : int, default=None
        How many of the trials of "auto" run at the same time, as in joblib. It changes nothing but the time.
    random_state : int, RandomState or None, default=None
        Makes a fit repeatable; all random states of the base are set from it.
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
        Links that look wrong, worst first. For "auto" those that are more likely wrong than right and, if less than 5%
        of the links seem wrong, those that neither the result nor the trials without them keep. For a fixed form those
        whose weight has grown.
    trust_ : ndarray of shape (n_links,)
        The estimated probability that each link is right, must-links first; ones for a fixed form.
    error_rate_ : float or None
        The estimated share of wrong links, an upper bound less a margin; None for a fixed form.
    form_weights_ : dict of str to float
        How much each form counted; "plain" is the table itself, and a large value says that the links add little.
    objective_ : list of float
        The objective (sum of must-link weights)(sum of cannot-link weights) after each round; it never rises, but
        "auto" begins anew after a third of the rounds.
    alphas_ : ndarray of shape (n_rounds,)
        The step of each round.
    history_ : list of dict
        One entry per round: its form, objective, alpha, the weights of the links it keeps and breaks (`must_apart`,
        `must_together`, `cannot_apart`, `cannot_together`), whether it counted, and its number of clusters.
    coassociation_ : CoAssociation
        What the result was made of.
    is_plain_ : bool
        Whether the result is that of the base alone: there were no links, no round counted, or the base alone agrees
        better with the links.
    n_iter_ : int
        The number of rounds.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if the table had any.

    See Also
    --------
    BoostBaseClustering : Boosts clusterers of similarities, and finds the number of clusters.
    mustlink.kmeans.PCKMeans : Quicker; learns no representation.

    Notes
    -----
    Without links the result is the base's own, on the scaled table. A link's weight matters relative to the others.

    A table with many features is split into the span of the linked rows, in which each round solves a small problem,
    and the rest, which is multiplied with one number. Both are exact up to a rotation of the representation if there
    are at most 4,000 rows or features. Beyond that, and for sparse tables with more than 128 features, the rest is
    kept by its 100 leading directions, and the span of a sparse table by at most 1,500. A sparse table is never
    written out, and centring is applied to the products.

    "auto" goes through six steps. Each form is tried `n_masks` times without some of the links, and the base alone
    as often. How well the trials foretell the links they have not seen gives the weight of each form; a logistic
    fit of the links to these votes gives the share of wrong links and the trust in each. The rounds weigh links by
    their trust, draw their form by its weight, and see another 63% of the links each; how well a round foretells
    the others is its weight in the co-association. After a third of them they begin anew with new trust: the
    probability that a link is right, given a result so far and all other links. Trials and rounds together make the
    co-association, whose k-means starts from their own labels. Then links are weighed against distances by belief
    propagation, and every linked row gets the cluster it most likely is in; if less than 5% of the links seem
    wrong, rows then move where that mends links at less cost. A row in no link that is about as near to two centres
    follows the linked rows that nearly always share its cluster. If before that step the base alone agrees clearly
    better with the links, its result is taken instead; if it contradicts them beyond chance and no form does
    better, the links are taken to be the wrong way round and play no part. With one kind of link only, nothing can
    be doubted, and forms are compared with chance.

    Tables with more than 20,000 rows are tried on a sample, which holds all linked rows, and the other rows are
    labelled by the base's ``predict`` or by the nearest mean.

    What the paper leaves open, and what was chosen: a round with a negative step does not enter the result; masses of
    zero are smoothed; directions without positive eigenvalue are left out; if the same weights give the same labels
    again, the rounds end. :meth:`as_published` gives the paper's literal variant.

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
    >>> adjusted_rand_score(y, model.labels_) > 0.85
    True
    >>> len(model.suspects_)
    0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
        "metric": [StrOptions({"auto", "projection", "difference", "whitened", "ridged"})],
        "n_rounds": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, 1, closed="right")],
        "scale": ["boolean"],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "identity": [Interval(Real, 0, None, closed="left")],
        "on_bad_round": [StrOptions({"reweight", "skip", "stop"})],
        "smoothing": [Interval(Real, 0, None, closed="left")],
        "final": [StrOptions({"codes", "eigenvectors", "base"})],
        "forms": ["array-like"],
        "n_masks": [Interval(Integral, 2, None, closed="left")],
        "share": [Interval(Real, 0, 1, closed="both")],
        "price": [Interval(Real, 0, None, closed="left")],
        "max_error": [Interval(Real, 0, 0.5, closed="left")],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        estimator: Any = None,
        n_clusters: int | None = None,
        *,
        metric: str = "auto",
        n_rounds: int = 25,
        learning_rate: float = 0.5,
        scale: bool = True,
        n_components: int | None = None,
        identity: float = 0.1,
        on_bad_round: str = "reweight",
        smoothing: float = 0.5,
        final: str = "codes",
        forms: Sequence[tuple[float, float]] = AUTO_FORMS,
        n_masks: int = 4,
        share: float = 0.1,
        price: float = 0.5,
        max_error: float = 0.3,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int | bool = 0,
    ) -> None:
        self.estimator = estimator
        self.n_clusters = n_clusters
        self.metric = metric
        self.n_rounds = n_rounds
        self.learning_rate = learning_rate
        self.scale = scale
        self.n_components = n_components
        self.identity = identity
        self.on_bad_round = on_bad_round
        self.smoothing = smoothing
        self.final = final
        self.forms = forms
        self.n_masks = n_masks
        self.share = share
        self.price = price
        self.max_error = max_error
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @classmethod
    def as_published(
        cls, estimator: Any = None, n_clusters: int | None = None, *, n_components: int = 5, **parameters: Any
    ) -> BoostCluster:
        """Return the paper's literal variant.

        The projection form on the features as they are, full steps without smoothing, a fixed number of eigenvectors,
        and in the end the base on the first ``n_components + 1`` eigenvectors of the co-association. Rounds with a
        negative step, of which the paper does not speak, are skipped.

        Parameters
        ----------
        estimator : clusterer or callable, default=None
            The base.
        n_clusters : int, default=None
            The number of clusters.
        n_components : int, default=5
            The number of eigenvectors, s; the paper's experiments take 3, 5 or 10.
        **parameters : dict
            Further parameters of the class, which may also change this variant.

        Returns
        -------
        BoostCluster

        Examples
        --------
        >>> from mustlink.boosting import BoostCluster
        >>> BoostCluster.as_published(n_clusters=3).metric
        'projection'
        """
        literal = {
            "metric": "projection",
            "scale": False,
            "identity": 0.0,
            "learning_rate": 1.0,
            "smoothing": 0.0,
            "on_bad_round": "skip",
            "final": "base",
        }
        return cls(estimator, n_clusters, n_components=n_components, **{**literal, **parameters})

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # ---- fitting -----------------------------------------------------------------------------------------------

    @fit_context(prefer_skip_nested_validation=True)
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
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The table.
        y : array-like of shape (n_samples,), default=None
            Partial labels, -1 for unknown, as one more source of constraints. Labels for every row are taken for the
            truth to score against, and ignored.
        constraints : Constraints or AlignedConstraints, default=None
            What is known of pairs of rows.

        Returns
        -------
        self : object
            The fitted clusterer.
        """
        X = _with_small_indices(validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], order="C"))
        links = self._constraints_for(constraints, y, X.shape[0])
        base = BaseClusterer(self.estimator, self.n_clusters)
        check_enough_rows(X.shape[0], base.n_clusters)
        rng = check_random_state(self.random_state)
        if links.is_empty:
            self._fit_plain(X, base, rng)
        else:
            self._fit_links(X, links, base, rng)
        self.violations_ = links.violations(self.labels_)
        return self

    def _fit_plain(self, X: Any, base: BaseClusterer, rng: np.random.RandomState) -> None:
        """Without links the result is the base's own."""
        scaling = Scaling.of(X, self.scale)
        table = scaling.apply(X)
        run = base.run(table, int(draw_seeds(rng, 1)[0]))
        coordinates = Coordinates(scaling, table[:, :0], None, table, 1.0)
        self._keep_result(FinalModel.of_run(run), [Voter(run, None, 1.0)], coordinates, is_plain=True)
        self._keep_rounds([])
        self.form_weights_ = {PLAIN: 1.0}
        self.error_rate_: float | None = None
        self.trust_ = np.ones(0)
        self.suspects_: list[Suspect] = []

    def _fit_links(self, X: Any, constraints: Constraints, base: BaseClusterer, rng: np.random.RandomState) -> None:
        """Boost in one form, or with doubt."""
        whitened = self.metric == "whitened"
        coordinates = make_coordinates(
            X,
            constraints,
            standardise=self.scale,
            points=self.metric == "projection",
            needs_rest=self.metric in ("auto", "ridged") or self.identity > 0,
            n_components=self.n_components,
            joint=whitened,
        )
        links = LinkSet.of(constraints, coordinates.linked)
        problem = Problem(base, coordinates, coordinates.geometry(links, whitened), links)
        settings = RoundSettings(
            self.n_rounds, self.learning_rate, self.smoothing, self.on_bad_round, self.n_components
        )
        final = FinalStep(self.final, base, self.n_components, int(draw_seeds(rng, 1)[0]))
        forms = self._forms()
        if self.metric == "auto":
            doubting = DoubtSettings(self.n_masks, self.share, self.price, self.max_error, self.n_jobs)
            with _progress(self.verbose, self.n_rounds + self.n_masks * (len(forms) + 1)) as after_run:
                outcome = boost_with_doubt(problem, settings, doubting, forms, constraints, final, rng, after_run)
        else:
            with _progress(self.verbose, self.n_rounds) as after_run:
                outcome = boost_in_one_form(problem, settings, forms[0], final, rng, after_run)
        self._keep_result(outcome.model, outcome.voters, coordinates, is_plain=outcome.is_plain)
        self._keep_rounds(outcome.boosted.rounds)
        names = [form.label for form in forms] + [PLAIN]
        self.form_weights_ = dict(zip(names, outcome.form_weights.tolist(), strict=True))
        self._keep_doubt(outcome, links)

    def _forms(self) -> list[Form]:
        """Return the forms that the parameters ask for."""
        if self.metric == "ridged":
            return [Form("ridged", 1.0, 1.0)]
        if self.metric != "auto":
            return [Form(cast(Kind, self.metric), identity=self.identity)]
        pairs = np.asarray(self.forms, dtype=np.float64)
        if pairs.ndim != 2 or pairs.shape[1:] != (2,) or not len(pairs) or not (pairs > 0).all():
            raise ValueError(
                f"forms must be pairs (ridge, identity) of positive numbers, at least one; got {self.forms!r}."
            )
        return [Form("ridged", ridge, identity) for ridge, identity in pairs.tolist()]

    # ---- keeping what was learned ------------------------------------------------------------------------------

    def _keep_result(self, model: FinalModel, voters: list[Voter], coordinates: Coordinates, *, is_plain: bool) -> None:
        """Keep the clusters, and what new rows need to find theirs."""
        self.labels_ = model.labels.astype(np.intp)
        self.n_clusters_ = int(model.labels.max()) + 1
        self.coassociation_ = model.kernel
        self.is_plain_ = is_plain
        self._model = model
        # The labels of the voters are columns of the codes, and the rows are needed only to look for the nearest one.
        self._voters = [replace(voter, run=replace(voter.run, labels=voter.run.labels[:0])) for voter in voters]
        can_predict = all(voter.run.model is not None for voter in voters)
        self._coordinates = coordinates.without_rows() if can_predict else coordinates

    def _keep_rounds(self, rounds: Sequence[Round]) -> None:
        """Keep the reports of the rounds."""
        self.n_iter_ = len(rounds)
        self._directions = [done.directions for done in rounds]
        self.objective_ = [float(np.exp(done.log_objective)) for done in rounds]
        self.alphas_ = np.array([done.alpha for done in rounds])
        self.history_ = [
            {
                "form": done.form,
                "objective": objective,
                "alpha": done.alpha,
                **asdict(done.masses),
                "counted": done.counted,
                "n_clusters": done.n_clusters,
            }
            for done, objective in zip(rounds, self.objective_, strict=True)
        ]

    def _keep_doubt(self, outcome: Outcome, links: LinkSet) -> None:
        """Keep how far the links are trusted, and list those that look wrong."""
        doubted = outcome.doubt
        self.error_rate_ = doubted.error_rate if self.metric == "auto" else None
        self.trust_ = links.as_given(doubted.trust)
        growth = outcome.boosted.weights.growth()
        suspicious = doubted.trust < SUSPECT_BELOW if self.metric == "auto" else growth > 1 + 1e-9
        if self.metric == "auto" and doubted.error_rate < FEW_WRONG:
            # Too few to be told from the votes alone; but then the result keeps nearly all links, and what it breaks
            # stands out.
            suspicious = suspicious | (doubted.against & (links.together(self.labels_) != links.is_must))
        worst_first = np.lexsort((links.place, -growth, doubted.trust))
        self.suspects_ = [
            Suspect(
                int(links.pairs[i, 0]),
                int(links.pairs[i, 1]),
                "must" if links.is_must[i] else "cannot",
                float(doubted.trust[i]),
                float(growth[i]),
            )
            for i in worst_first[suspicious[worst_first]]
        ]

    # ---- new rows ----------------------------------------------------------------------------------------------

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return the cluster of new rows.

        Each voter labels the rows in its own representation, by the base's ``predict`` or else by the label of the
        nearest row of the table; the code of these labels goes to the nearest final cluster.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows. Links play no part.

        Returns
        -------
        ndarray of shape (n_samples,)
            Cluster numbers.
        """
        new = self._coordinates_of(X)
        columns = [self._vote(t, new) for t in range(len(self._voters))]
        return self._model.predict(np.column_stack(columns)).astype(np.intp)

    def representation(self, X: Any, round_number: int) -> NDArray[Any]:
        """Return what the base was given in a round.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The table, or new rows.
        round_number : int
            Which round, counted from 1 as in messages; ``history_[round_number - 1]`` tells of it.

        Returns
        -------
        ndarray of shape (n_samples, s)
            The rows in the directions of that round, the one with the largest eigenvalue first.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from mustlink import Constraints
        >>> from mustlink.boosting import BoostCluster
        >>> X, y = load_iris(return_X_y=True)
        >>> links = Constraints.sample(y, n_pairs=40, random_state=0)
        >>> model = BoostCluster(n_clusters=3, metric="difference", n_components=2, random_state=0)
        >>> model.fit(X, constraints=links).representation(X, 1).shape
        (150, 2)
        """
        rows = self._coordinates_of(X)
        if not 1 <= round_number <= self.n_iter_:
            raise ValueError(f"round_number must be between 1 and the {self.n_iter_} rounds; got {round_number}.")
        return rows.represent(self._directions[round_number - 1], self.n_components)

    def _vote(self, t: int, new: Coordinates) -> NDArray[Any]:
        """Return the labels that one voter gives to new rows."""
        voter = self._voters[t]
        table = self._represent(voter, new)
        if voter.run.model is not None:
            return np.asarray(voter.run.model.predict(table))
        nearest = NearestNeighbors(n_neighbors=1).fit(self._represent(voter, self._coordinates))
        code = self.coassociation_.codes[nearest.kneighbors(table, return_distance=False)[:, 0], t]
        # Noise is code -1, which here finds the last entry.
        return np.append(self.coassociation_.names[t], -1)[code]

    def _represent(self, voter: Voter, coordinates: Coordinates) -> Any:
        """Return the table that a voter looks at."""
        if voter.directions is None:
            return coordinates.plain_for(BaseClusterer(self.estimator, self.n_clusters).takes_sparse)
        return coordinates.represent(voter.directions, self.n_components)

    def _coordinates_of(self, X: Any) -> Coordinates:
        """Check new rows and place them in space."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], order="C", reset=False)
        return self._coordinates.of_rows(_with_small_indices(X))


@contextmanager
def _progress(shown: int | bool, n_runs: int) -> Iterator[Callable[[], None]]:
    """Show a bar that fills with the runs of the base, if asked to."""
    if not shown:
        yield lambda: None
        return
    from rich.progress import Progress

    with Progress() as bar:
        task = bar.add_task("BoostCluster", total=n_runs)
        yield lambda: bar.advance(task)


def _with_small_indices(X: Any) -> Any:
    """Give a sparse table 32-bit indices where they suffice: many clusterers take no others."""
    if not issparse(X) or max(X.nnz, *X.shape) > np.iinfo(np.int32).max or X.indices.dtype == np.int32:
        return X
    return csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)
