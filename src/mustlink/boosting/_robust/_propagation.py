"""Links propagated over the graph of nearest neighbors, as one more view."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.cluster import KMeans

from mustlink._types import Floats, Indices
from mustlink.boosting._bases import BaseRun, NearestRow
from mustlink.boosting._boostcluster._coordinates import Coordinates
from mustlink.boosting._boostcluster._links import LinkSet
from mustlink.boosting._boostcluster._views import Sample
from mustlink.spectral import ConstraintPropagation

__all__ = ["PropagationView"]

# Links are propagated on so many rows, all linked ones among them; with more linked rows, not at all.
MAX_ROWS = 2_000


@dataclass(frozen=True, eq=False)
class PropagationView:
    """Constraint propagation on the plain table; the graph of neighbors is computed once."""

    n_clusters: int
    affinity: Any  # of the rows below
    rows: Indices | None  # None is all rows
    takes_sparse: bool  # whether the table is the one for a base that takes sparse tables

    name = "ConstraintPropagation"
    label = "propagated links"
    weighs_columns = False

    @classmethod
    def of(
        cls,
        coordinates: Coordinates,
        links: LinkSet,
        n_clusters: int,
        takes_sparse: bool,
        rng: np.random.RandomState,
    ) -> Self | None:
        """Compute the graph; None where there are too many linked rows."""
        table, rows = coordinates.plain_for(takes_sparse), None
        n_rows = table.shape[0]
        if n_rows > MAX_ROWS:
            if len(links.rows) > MAX_ROWS:
                return None
            others = np.setdiff1d(np.arange(n_rows), links.rows, assume_unique=True)
            drawn = rng.choice(others, size=min(MAX_ROWS - len(links.rows), len(others)), replace=False)
            rows = np.union1d(links.rows, drawn).astype(np.intp)
            table = table[rows]
        # Only the graph is needed of this fit.
        model = ConstraintPropagation(n_clusters, estimator=KMeans(n_init=1), random_state=0)
        graph = model.fit(table).affinity_
        return cls(n_clusters, graph, rows, takes_sparse)

    def run(
        self,
        coordinates: Coordinates,
        links: LinkSet,
        weight: Floats,
        seed: int,
        where: str,
        *,
        column_evidence: Floats | None = None,
        sample: Sample | None = None,
    ) -> BaseRun | None:
        """Cluster the rows of the graph, and label the others by the nearest of these."""
        shown, seen = links, weight > 0
        if self.rows is not None:
            # A link that was added after the graph was computed may be of rows outside it.
            seen = seen & np.isin(links.pairs, self.rows).all(axis=1)
            shown = links.among(self.rows)
        if not seen.any():
            return None
        some = replace(shown, pairs=shown.pairs[seen], is_must=shown.is_must[seen], weight=weight[seen], origin=None)
        # Several runs with other links count more than several starts of one run.
        final = KMeans(self.n_clusters, n_init=1)
        model = ConstraintPropagation(self.n_clusters, estimator=final, affinity="precomputed", random_state=seed)
        labels = model.fit_predict(self.affinity, constraints=some.constraints())
        run = BaseRun(labels.astype(np.min_scalar_type(-self.n_clusters)), None)
        if self.rows is None:
            return run
        table = coordinates.plain_for(self.takes_sparse)
        of_graph = table[self.rows]
        run = replace(run, model=NearestRow(of_graph, run.labels))
        if sample is None:
            return run.on_all_rows(of_graph, table, self.rows)
        shared = np.isin(self.rows, sample.labeled)
        places = np.searchsorted(sample.labeled, self.rows[shared])
        labeled = sample.coordinates.plain_for(self.takes_sparse)
        run = replace(run, labels=run.labels[shared]).on_all_rows(of_graph, labeled, places)
        return replace(run, rows=sample.labeled)
