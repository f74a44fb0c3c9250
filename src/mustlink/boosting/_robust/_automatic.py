"""The choice of bases, column weights and representations that are tried.

Not all combinations are tried. A column weighting is chosen by trials of the first base in the first representation,
first the weightings by links, then the one by the clusters that these have found, which is preferred.
Then the other representations of the first base, and the other bases in the first representation, are tried on all
columns and on the weighted ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from sklearn.cluster import AgglomerativeClustering
from sklearn.mixture import GaussianMixture

from mustlink._types import Floats
from mustlink.boosting._bases import BaseClusterer
from mustlink.boosting._boostcluster._columns import LINK_WEIGHTINGS, WEIGHTINGS, Weighting
from mustlink.boosting._boostcluster._representations import Representation
from mustlink.boosting._boostcluster._views import RepresentationView, View
from mustlink.spectral import NormalizedSpectralClustering

__all__ = ["AUTOMATIC", "AutomaticPlan", "automatic_bases"]

AUTOMATIC = "auto"
# The time of the slower bases grows with the square of the rows, or nearly.
MAX_ROWS_OF_SLOW = 1_500
# A full covariance of more columns has more parameters than most clusters have rows.
MAX_COLUMNS_OF_MIXTURE = 30
MIXTURE_RIDGE = 1e-3
# Columns are weighted by clusters unless another weighting scores higher by so much, divided by the square root of the
# number of links: two standard errors of a balanced accuracy with as many links of each kind. The scores of weightings
# differ by less than that, while clusters find the columns that matter more often, above all with wrong links.
CLUSTERS_MARGIN = 1.0
# As many as k-means has; several runs with other links count more than several starts of one run.
N_STARTS_OF_SPECTRAL = 3
# With fewer rows for each cluster there is no neighborhood, and no covariance, to speak of.
MIN_ROWS_PER_CLUSTER = 10


def automatic_bases(n_samples: int, n_clusters: int | None) -> list[BaseClusterer]:
    """Return the bases of "auto": k-means, Ward, a Gaussian mixture, and spectral clustering of nearest neighbors."""
    first = BaseClusterer(None, n_clusters)
    n_clusters = first.n_clusters
    if n_clusters is None or n_samples < MIN_ROWS_PER_CLUSTER * n_clusters:
        return [first]
    mixture = GaussianMixture(n_clusters, reg_covar=MIXTURE_RIDGE)
    slow = partial(BaseClusterer, n_clusters=n_clusters, max_rows=MAX_ROWS_OF_SLOW, is_optional=True)
    return [
        first,
        slow(AgglomerativeClustering(n_clusters)),
        slow(mixture, max_columns=MAX_COLUMNS_OF_MIXTURE),
        slow(NormalizedSpectralClustering(n_clusters, n_init=N_STARTS_OF_SPECTRAL)),
    ]


@dataclass(frozen=True)
class AutomaticPlan:
    """The views that are tried."""

    bases: Sequence[BaseClusterer]
    representations: Sequence[Representation]
    weighs_columns: bool  # whether column weightings are tried, too
    others: Sequence[View] = ()  # further views of their own kind

    @property
    def n_views(self) -> int:
        """The number of views."""
        n_pairs = len(self.representations) + len(self.bases) - 2
        n_first = 1 + len(WEIGHTINGS) if self.weighs_columns else 1
        return n_first + n_pairs * (2 if self.weighs_columns else 1) + len(self.others)

    def first_views(self) -> list[View]:
        """Return the first base in the first representation, with all column weightings by links."""
        weightings: tuple[Weighting | None, ...] = (None, *LINK_WEIGHTINGS) if self.weighs_columns else (None,)
        return [self._view(self.bases[0], self.representations[0], weighting) for weighting in weightings]

    def second_views(self) -> list[View]:
        """Return the same with columns weighted by the clusters of the first views, which must have been run."""
        return [self._view(self.bases[0], self.representations[0], "clusters")] if self.weighs_columns else []

    def further_views(self, scores: Floats, n_links: int) -> list[View]:
        """Return the other representations and bases, on all columns and with one weighting.

        It is the one by clusters unless another scores clearly higher.
        """
        pairs = [(self.bases[0], representation) for representation in self.representations[1:]]
        pairs += [(base, self.representations[0]) for base in self.bases[1:]]
        weightings: tuple[Weighting | None, ...] = (None,)
        if self.weighs_columns:
            margin = CLUSTERS_MARGIN / np.sqrt(n_links) * np.array([name != "clusters" for name in WEIGHTINGS])
            weightings = None, WEIGHTINGS[int(np.argmax(scores[1:] - margin))]
        return [self._view(*pair, weighting) for pair in pairs for weighting in weightings] + list(self.others)

    def _view(self, base: BaseClusterer, representation: Representation, weighting: Weighting | None) -> View:
        return RepresentationView(base, replace(representation, weighting=weighting))
