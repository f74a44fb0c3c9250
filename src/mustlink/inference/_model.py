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

    A labeling z has the log-weight ``sum_i log_potentials[i, z_i]`` minus the penalties of the links it breaks. Its
    probability is the weight divided by the sum of the weights of all labelings, whose logarithm is the log-normalizer.
    Row numbers are positions among the linked rows (:meth:`mustlink.Constraints.compact`).

    Parameters
    ----------
    log_potentials : ndarray of shape (n_rows, n_clusters)
        The evidence for each cluster; minus infinity excludes it.
    graph : LinkGraph
        The links between these rows, ``links.adjacency(n_rows)``.
    penalty : ndarray of shape (n_links,) or (n_links, n_clusters)
        What it costs to break each link, not negative, in the order of ``graph.pairs`` and ``graph.weight``: must-links
        first, the pairs of either kind sorted, not as they were given. In the second form a broken must-link between
        clusters a and b costs the mean of its entries a and b, and a broken cannot-link inside cluster c its entry c.
        An infinite penalty is a hard link, which no labeling of positive probability breaks.

    Raises
    ------
    ValueError
        If the shapes do not fit together, an entry is NaN, a log-potential is infinity, or a penalty is negative.
    TypeError
        If `graph` is not a LinkGraph.

    Notes
    -----
    The same weights are written with couplings in much of the literature: with the coupling beta of a link, its penalty
    with the sign of its kind (positive for a must-link), the log-weight is the sum over rows of ``log_potentials[i,
    z_i]``, plus the sum over links of beta where the two labels are equal, minus the sum of the positive couplings.
    Every undirected link counts once. A weight w of an ordered pair, which counts a link twice, is beta / 2. Written
    with penalties all limits of hard links are finite.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import Constraints
    >>> from mustlink.inference import LinkModel
    >>> links = Constraints(must_link=[(1, 2), (0, 1)], must_link_weight=[0.5, 2.0])
    >>> graph = links.adjacency(3)
    >>> graph.pairs.tolist()
    [[0, 1], [1, 2]]
    >>> LinkModel(np.log([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]]), graph, 3.0 * graph.weight).penalty
    array([6. , 1.5])
    """

    log_potentials: Floats
    graph: LinkGraph
    penalty: Floats

    def __post_init__(self) -> None:
        refuse_other_graphs(self.graph)
        for name in ("log_potentials", "penalty"):
            values = np.asarray(getattr(self, name), dtype=np.float64)
            if np.isnan(values).any():
                raise ValueError(f"{name} contains NaN.")
            object.__setattr__(self, name, values)
        if (self.log_potentials == np.inf).any():
            raise ValueError("log_potentials contains infinity; minus infinity excludes a cluster.")
        if (self.penalty < 0).any():
            raise ValueError(
                f"penalty must not be negative; got {self.penalty.min():g}. A link that is more often wrong than right "
                "is one of the other kind."
            )
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

    @property
    def coupling(self) -> Floats:
        """The penalty of every link with the sign of its kind, in the shape of `penalty`."""
        sign = self.graph.sign.astype(np.float64)
        return self.penalty * (sign if self.penalty.ndim == 1 else sign[:, None])


def refuse_other_graphs(graph: object) -> None:
    """Raise if links are not given as a graph, and say how to get one."""
    if not isinstance(graph, LinkGraph):
        raise TypeError(
            f"graph must be a LinkGraph, as links.adjacency(n_rows) returns it; got {type(graph).__name__}."
        )
