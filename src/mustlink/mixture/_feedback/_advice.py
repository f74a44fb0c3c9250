"""The E-step with soft advice: links between rows, and clusters that rows should or should not be in."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mustlink._types import Floats, Indices, Ints
from mustlink.constraints import Constraints
from mustlink.inference import LinkInference
from mustlink.mixture._gaussians import normalize_logs

__all__ = ["Advice"]


@dataclass(frozen=True, eq=False)
class Advice:
    """What the E-step adds to the evidence of the counts.

    Attributes
    ----------
    advised : ndarray of shape (n_advised,)
        The rows with preferred clusters.
    preference : ndarray of shape (n_advised, n_components)
        What is added to their log-potentials.
    linked : ndarray of shape (n_linked,)
        The rows with links.
    inference : LinkInference or None
        The inference on their links.
    """

    advised: Indices = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    preference: Floats = field(default_factory=lambda: np.empty((0, 1)))
    linked: Indices = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    inference: LinkInference | None = None

    @classmethod
    def of(
        cls, links: Constraints, advised: Indices, preference: Floats, *, penalty: float, n_components: int
    ) -> Advice:
        """Plan the inference on links whose breaking costs a penalty for each weight of one."""
        if links.is_empty:
            return cls(advised, preference)
        linked, local = links.compact()
        graph = local.adjacency(len(linked))
        plan = LinkInference.plan(graph, penalty * local.weight, n_components, beyond="mean_field")
        return cls(advised, preference, linked, plan)

    def without_preferences(self) -> Advice:
        """Return the advice on links alone, which does not depend on the numbers of the clusters."""
        return Advice(linked=self.linked, inference=self.inference)

    def responsibilities(self, log_joint: Floats) -> tuple[Floats, float]:
        """Return the responsibilities for given logarithms of weights times likelihoods, and the log-evidence."""
        if len(self.advised):
            log_joint[self.advised] += self.preference
        shares, log_sums = normalize_logs(log_joint)
        if self.inference is None:
            return shares, float(log_sums.sum())
        marginals = self.inference.marginals(log_joint[self.linked])
        shares[self.linked] = marginals.rows
        log_sums[self.linked] = 0.0
        return shares, float(log_sums.sum()) + float(marginals.log_normalizer or 0.0)

    def labels(self, log_joint: Floats, responsibilities: Floats) -> Ints:
        """Return the most probable cluster of every row, of linked rows together."""
        found = responsibilities.argmax(axis=1).astype(np.int64)
        if self.inference is not None:
            if len(self.advised):
                log_joint[self.advised] += self.preference
            found[self.linked] = self.inference.best_labeling(log_joint[self.linked])
        return found
