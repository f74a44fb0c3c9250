"""A pairwise model of the linked rows: evidence for each cluster, and a penalty for each broken link."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mustlink._types import Floats
from mustlink.constraints import LinkGraph

__all__ = ["LinkModel"]


@dataclass(frozen=True, eq=False)
class LinkModel:
    """Log-potentials of the linked rows, and the links between them with their penalties.

    A labeling z has the log-probability ``sum_i log_potentials[i, z_i]`` minus the penalties of the links it breaks,
    up to a constant. Row numbers are positions among the linked rows (:meth:`mustlink.Constraints.compact`).

    Parameters
    ----------
    log_potentials : ndarray of shape (n_rows, n_clusters)
        The evidence for each cluster.
    graph : LinkGraph
        The links between these rows.
    penalty : ndarray of shape (n_links,) or (n_links, n_clusters)
        What it costs to break each link. In the second form a broken must-link between clusters a and b costs the
        mean of its entries a and b, and a broken cannot-link inside cluster c its entry c.

    Raises
    ------
    ValueError
        If the shapes do not fit together, or an entry is NaN.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import Constraints
    >>> from mustlink.inference import LinkModel
    >>> graph = Constraints(must_link=[(0, 1)]).adjacency(2)
    >>> LinkModel(np.array([[0.0, -1.0], [-2.0, 0.0]]), graph, np.array([3.0])).n_clusters
    2
    """

    log_potentials: Floats
    graph: LinkGraph
    penalty: Floats

    def __post_init__(self) -> None:
        for name in ("log_potentials", "penalty"):
            values = np.asarray(getattr(self, name), dtype=np.float64)
            if np.isnan(values).any():
                raise ValueError(f"{name} contains NaN.")
            object.__setattr__(self, name, values)
        n_links = len(self.graph.pairs)
        if self.log_potentials.ndim != 2 or len(self.log_potentials) != self.graph.n_samples:
            raise ValueError(
                f"log_potentials must have one row for each of the {self.graph.n_samples} rows of the graph; got the "
                f"shape {self.log_potentials.shape}."
            )
        if self.penalty.shape not in ((n_links,), (n_links, self.n_clusters)):
            raise ValueError(
                f"penalty must have the shape ({n_links},) or ({n_links}, {self.n_clusters}); got {self.penalty.shape}."
            )

    @property
    def n_clusters(self) -> int:
        """The number of clusters."""
        return self.log_potentials.shape[1]
