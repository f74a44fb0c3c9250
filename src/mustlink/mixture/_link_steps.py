"""The steps of EM with links, hard or soft, and the links that can be kept together."""

from __future__ import annotations

import numpy as np

from mustlink._types import Array, Floats, Ints
from mustlink.constraints import Constraints
from mustlink.inference import LinkInference
from mustlink.mixture._base import EMSteps, Expectation, normalized_weights
from mustlink.mixture._gaussians import normalize_logs
from mustlink.mixture._link_prior import LinkNodes, LinkPrior, maximize_weights

__all__ = ["LinkSteps", "without_contradictions"]


class LinkSteps(EMSteps):
    """The steps of EM in which the labels of linked rows are inferred together, with a prior that allows for it."""

    def __init__(self, nodes: LinkNodes, inference: LinkInference, prior: LinkPrior | None, *, is_joint: bool) -> None:
        super().__init__(inference.report)
        self._nodes, self._inference, self._prior, self._is_joint = nodes, inference, prior, is_joint

    def expect(self, log_density: Array, weights: Floats, previous: Array | None) -> Expectation:
        rows = self._nodes.rows
        if not rows.size:
            return super().expect(log_density, weights, previous)
        responsibilities, log_sums = normalize_logs(log_density + np.log(weights))
        start = None if previous is None else previous[rows].astype(np.float64)
        marginals = self._inference.marginals(self._log_potentials(log_density, weights), start)
        assert marginals.log_normalizer is not None
        responsibilities[rows] = marginals.rows
        log_sums[rows] = 0
        objective = float(log_sums.sum(dtype=np.float64)) + marginals.log_normalizer
        if self._prior is not None:
            objective -= self._prior.log_probability(np.log(weights, dtype=np.float64))[0]
        return Expectation(responsibilities, objective)

    def weigh(self, responsibilities: Array, weights: Floats) -> Floats:
        rows, shares = self._nodes.rows, self._nodes.shares
        counts = responsibilities.sum(axis=0, dtype=np.float64) + (shares - 1) @ responsibilities[rows]
        return normalized_weights(counts) if self._prior is None else maximize_weights(counts, self._prior, weights)

    def decode(self, log_density: Array, weights: Floats, expectation: Expectation) -> Ints:
        labels = super().decode(log_density, weights, expectation)
        if self._is_joint and self._nodes.rows.size:
            labels[self._nodes.rows] = self._inference.best_labeling(self._log_potentials(log_density, weights))
        return labels

    def _log_potentials(self, log_density: Array, weights: Floats) -> Floats:
        """Return the evidence of the linked rows: the densities, and each row's part of the prior of its node."""
        return log_density[self._nodes.rows] + self._nodes.shares[:, None] * np.log(weights, dtype=np.float64)


def without_contradictions(links: Constraints, n_rows: int) -> Constraints:
    """Return the links without the cannot-links between rows that must-links join."""
    a, b = links.components(n_rows)[links.pairs].T
    return links.take((links.sign > 0) | (a != b))
