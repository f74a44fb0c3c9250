"""What BoostCluster and RobustBoostCluster share: fit, predict, and what a fitted model keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from mustlink._estimators import draw_seed
from mustlink._sklearn_compat import Interval
from mustlink._types import Array, Floats, Ints, Mask
from mustlink.base import ConstrainedClusterMixin, check_enough_rows, check_fits, check_table
from mustlink.blocks import BlockedRows, blockwise
from mustlink.boosting._bases import BaseClusterer, BaseRun
from mustlink.boosting._blocked import _shown
from mustlink.boosting._blocked._elsewhere import Elsewhere
from mustlink.boosting._blocked._refinement import limit_rows
from mustlink.boosting._blocked._shown import ShownRows, gather_all, labels_in_form_of
from mustlink.boosting._boostcluster._consensus import Consensus
from mustlink.boosting._boostcluster._coordinates import Coordinates, Scaling
from mustlink.boosting._boostcluster._links import LinkSet
from mustlink.boosting._boostcluster._rounds import BoostResult
from mustlink.constraints import Constraints

__all__ = ["BaseBoostCluster", "Suspect", "list_suspects"]

# New sparse rows for a fit of a dense table may have so many numbers: 4 GB.
MAX_DENSE_ENTRIES = 500_000_000


class Suspect(NamedTuple):
    """A link that looks wrong.

    Attributes
    ----------
    a, b : int
        The rows it joins.
    link : str
        "must" or "cannot".
    trust : float or None
        The estimated probability that it is correct, below 0.5; None for :class:`BoostCluster`, which estimates none.
    weight : float
        The factor by which its share of the weights has grown over the rounds: how hard it was to satisfy.

    Examples
    --------
    >>> from mustlink.boosting import Suspect
    >>> Suspect(3, 7, "must", trust=0.2, weight=4.0).trust
    0.2
    """

    a: int
    b: int
    link: str
    trust: float | None
    weight: float


class BaseBoostCluster(ConstrainedClusterMixin, BaseEstimator):
    """Base of the two classes: a subclass gives `_fit_links`, which runs the rounds."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
        "n_rounds": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, 1, closed="right")],
        "scale": ["boolean"],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    _takes_blocks = True
    _read_by_predict = ("_base_takes_sparse", "_is_sparse", "_dtype", "_consensus", "_coordinates", "_voters")

    estimator: Any
    n_clusters: int | None
    random_state: Any
    verbose: int | bool

    suspects_: list[Suspect]
    _consensus: Consensus

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _fit(self, X: Any, links: Constraints, y: Array | None) -> None:
        if not isinstance(X, BlockedRows):
            self._fit_table(X, links)
        elif X.n_rows <= _shown.MAX_ROWS_HELD:
            self._fit_table(gather_all(X), links)
            self.labels_ = labels_in_form_of(X, self.labels_)
        else:
            self._fit_blocks(X, links)

    def _fit_table(self, X: Any, links: Constraints) -> None:
        """Fit a table in memory."""
        bases, seed, rng = self._begin(X.shape[0])
        self._is_sparse, self._dtype = issparse(X), X.dtype.name
        if links.is_empty:
            self._fit_plain(X, bases[0], seed)
        else:
            self._fit_links(X, links, bases, seed, rng)
        self.violations_ = links.violations(self.labels_)

    def _fit_blocks(self, rows: BlockedRows, links: Constraints) -> None:
        """Fit a table in blocks: some rows are in memory, and all others are read in passes."""
        bases, seed, rng = self._begin(rows.n_rows)
        self._is_sparse, self._dtype = False, np.dtype(rows.dtype).name
        for base in bases:
            limit_rows(base)
        shown = ShownRows.draw(rows, links, rng, type(self).__name__)
        local = shown.among(links)
        if links.is_empty:
            self._fit_plain(shown, bases[0], seed)
        else:
            self._fit_links(shown, local, bases, seed, rng)
        consensus = self._consensus
        self.violations_ = links.take(~local.satisfied(consensus.labels))
        self.suspects_ = [
            suspect._replace(a=int(shown.index[suspect.a]), b=int(shown.index[suspect.b])) for suspect in self.suspects_
        ]
        if consensus.blocks is not None:
            self.labels_ = consensus.label_blocks(consensus.blocks)
            self._consensus = consensus.without_blocks()

    def _begin(self, n_samples: int) -> tuple[list[BaseClusterer], int, np.random.RandomState]:
        """Return the bases, a seed for the consensus, and the source of randomness."""
        bases = self._bases(n_samples)
        self._base_takes_sparse, self._first_base = bases[0].takes_sparse, bases[0].name
        check_enough_rows(n_samples, bases[0].n_clusters)
        rng = check_random_state(self.random_state)
        return bases, draw_seed(rng), rng

    def _n_clusters_wanted(self) -> int | None:
        return self._bases(0)[0].n_clusters

    def _bases(self, n_samples: int) -> list[BaseClusterer]:
        """Return the base clusterers, the one that also runs on the plain table first."""
        return [BaseClusterer(self.estimator, self.n_clusters)]

    def _check_rows(self, X: Any, *, reset: bool = True) -> Any:
        X = check_table(self, X, reset=reset, accept_sparse="csr", order="C")
        # Many clusterers take sparse tables with 32-bit indices only.
        if not issparse(X) or max(X.nnz, *X.shape) > np.iinfo(np.int32).max or X.indices.dtype == np.int32:
            return X
        return csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)

    def _fit_plain(self, X: Any, base: BaseClusterer, seed: int) -> None:
        """Without links the result is that of the base clusterer alone."""
        self.suspects_ = []
        if isinstance(X, ShownRows):
            coordinates = X.coordinates(self._setting("scale"), None)
            elsewhere = Elsewhere(X, coordinates, self.verbose)
            run = elsewhere.finish(base.run(coordinates.plain, seed), seed)
            self._keep(elsewhere.of_run(run), [run], coordinates, is_plain=True)
            return
        scaling = Scaling.of(X, self._setting("scale"))
        table, _ = scaling.apply(X)
        run = base.run(table, seed)
        coordinates = Coordinates(scaling, table[:, :0], None, table, 1.0)
        self._keep(Consensus.of_run(run), [run], coordinates, is_plain=True)

    def _setting(self, name: str) -> Any:
        """Return the value of a parameter."""
        return getattr(self, name)

    def _fit_links(
        self, X: Any, constraints: Constraints, bases: list[BaseClusterer], seed: int, rng: np.random.RandomState
    ) -> None:
        """Run the rounds and keep their result; the seed is for the consensus."""
        raise NotImplementedError

    def _keep(
        self,
        consensus: Consensus,
        voters: Sequence[BaseRun],
        coordinates: Coordinates,
        rounds: BoostResult | None = None,
        *,
        is_plain: bool,
    ) -> None:
        """Keep the clusters, the reports of the rounds, and what is needed to predict new rows."""
        self.labels_ = consensus.labels.copy()
        self.n_clusters_ = consensus.n_clusters
        self.coassociation_ = consensus.kernel
        self.is_plain_ = is_plain
        self._consensus = consensus
        # The labels of the runs are columns of the codes; the rows are needed only to look for the nearest one.
        self._voters = [replace(run, labels=run.labels[:0]) for run in voters]
        can_predict = all(run.model is not None for run in voters)
        self._coordinates = coordinates.without_rows() if can_predict else coordinates
        self.history_ = [] if rounds is None else rounds.history
        self._directions = [] if rounds is None else [run.directions for run in rounds.runs]
        self.n_iter_ = len(self.history_)
        self.objective_ = [entry["objective"] for entry in self.history_]
        self.alphas_ = np.array([entry["alpha"] for entry in self.history_])

    def _for_predicting(self) -> Self:
        predictor = super()._for_predicting()
        # Runs that cannot predict take the label of the nearest row, for which all rows are needed.
        if all(run.model is not None for run in self._voters):
            predictor._consensus = self._consensus.without_rows()
        predictor._voters = [run.without_rows() for run in self._voters]
        # Its fitted copies are in the runs.
        predictor.estimator = None
        return predictor

    @blockwise
    def predict(self, X: Any) -> Ints:
        """Return the cluster of new rows.

        Each run of the base clusterer labels the rows in its own representation, by the base's ``predict`` or else by
        the label of the nearest row of the table; the code of these labels goes to the nearest final cluster. Rows of
        the table itself may get other clusters than in `labels_`, as their links play no part.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows; sparse ones are made dense, and dense ones sparse, if the table of the fit was.

        Returns
        -------
        ndarray of shape (n_samples,)
            Cluster numbers.
        """
        new = self._coordinates_of(X)
        columns = [self._vote(t, new) for t in range(len(self._voters))]
        return self._consensus.predict(np.column_stack(columns))

    def represent(self, X: Any, round_number: int) -> Array:
        """Return what the base clusterer was given in a round.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The table, or new rows.
        round_number : int
            Which round, counted from 1 as in messages; ``history_[round_number - 1]`` describes it.

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
        >>> model = BoostCluster(n_clusters=3, representation="difference", n_components=2, random_state=0)
        >>> model.fit(X, constraints=links).represent(X, 1).shape
        (150, 2)
        """
        rows = self._coordinates_of(X)
        if not 1 <= round_number <= self.n_iter_:
            raise ValueError(f"round_number must be between 1 and the {self.n_iter_} rounds; got {round_number}.")
        directions = self._directions[round_number - 1]
        if directions is None:
            return np.asarray(rows.plain_for(takes_sparse=False))
        return rows.represent(directions)

    def _vote(self, t: int, new: Coordinates) -> Array:
        """Return the labels that one run gives to new rows."""
        run = self._voters[t]
        table = self._table_of(run, new)
        if run.model is not None:
            return np.asarray(run.model.predict(table))
        nearest = NearestNeighbors(n_neighbors=1).fit(self._table_of(run, self._coordinates))
        kernel = self._consensus.kernel
        code = kernel.codes[nearest.kneighbors(table, return_distance=False)[:, 0], t]
        # Noise is code -1, which here finds the last entry.
        return np.append(kernel.names[t], -1)[code]

    def _table_of(self, run: BaseRun, coordinates: Coordinates) -> Any:
        """Return the representation of rows that a run was made on."""
        return coordinates.table_of(run.directions, self._base_takes_sparse)

    def _coordinates_of(self, X: Any) -> Coordinates:
        """Check new rows and compute their coordinates."""
        check_is_fitted(self)
        rows = self._check_rows(X, reset=False)
        if issparse(rows) != self._is_sparse:
            # A sparse table is not centered, and a base would find its new rows somewhere else.
            if not self._is_sparse:
                what = "The fit was of a dense table; predicting sparse rows"
                check_fits(what, rows.shape, MAX_DENSE_ENTRIES, "predict some of the rows at a time")
            rows = csr_array(rows) if self._is_sparse else rows.toarray()
        # Some bases, such as k-means, predict rows of the precision of the fit only.
        return self._coordinates.of_rows(rows.astype(self._dtype, copy=False))


def list_suspects(links: LinkSet, suspicious: Mask, trust: Floats | None, growth: Floats) -> list[Suspect]:
    """List the suspicious links: least trusted first if there is trust, then those whose weight has grown most."""
    first, second = links.pairs.T.tolist()
    keys = (links.place, -growth) if trust is None else (links.place, -growth, trust)
    worst_first = np.lexsort(keys)
    return [
        Suspect(
            first[i],
            second[i],
            "must" if links.is_must[i] else "cannot",
            None if trust is None else float(trust[i]),
            float(growth[i]),
        )
        for i in worst_first[suspicious[worst_first]]
    ]
