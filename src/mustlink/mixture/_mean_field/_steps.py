"""The steps of EM of chapter 5: inference on links, and an M-step in which linked rows have the weight eta."""

from __future__ import annotations

import numpy as np

from mustlink._types import Array, Floats
from mustlink.mixture._base import EMSteps, Expectation, normalized_weights
from mustlink.mixture._mean_field._linked_rows import LinkedRows

__all__ = ["MeanFieldSteps"]


class MeanFieldSteps(EMSteps):
    """The E-step given the links and the weighted M-step.

    Parameters
    ----------
    linked : LinkedRows
        The linked rows and the inference on their labels.
    eta : float
        The weight of a linked row against one without links.
    class_prior : {"uniform", "estimate", "unlinked"}
        Which weights the mixture components have.

    Attributes
    ----------
    inverse_temperature : float
        By what the logarithms of the densities are multiplied, 1 at first; annealing changes it.
    """

    def __init__(self, linked: LinkedRows, eta: float, class_prior: str) -> None:
        super().__init__(None if linked.inference is None else linked.inference.report)
        # If all rows are linked, the weight has no effect but on the size of the objective.
        self.linked, self.eta, self.class_prior = linked, 1.0 if linked.is_linked.all() else eta, class_prior
        self.inverse_temperature = 1.0

    def expect(self, log_density: Array, weights: Floats, previous: Array | None) -> Expectation:
        """Return the responsibilities, and minus the free energy F_eta.

        F_eta weighs data, links and entropy of the linked rows by eta alike, and what is returned is the
        log-normalizer of the rows without links plus eta times that of the linked rows.
        """
        logs = self.joint_logs(log_density, weights)
        responsibilities, unlinked, linked = self.linked.infer(logs, previous)
        return Expectation(responsibilities, unlinked + self.eta * linked)

    def joint_logs(self, log_density: Array, weights: Floats) -> Array:
        """Return the logarithms of prior times density of every row, divided by the temperature."""
        n_components = log_density.shape[1]
        log_prior = np.full(n_components, -np.log(n_components), dtype=log_density.dtype)
        if self.class_prior == "uniform":
            logs = log_density + log_prior
        else:
            logs = log_density + np.log(weights).astype(log_density.dtype)
            if self.class_prior == "unlinked":
                logs[self.linked.rows] = log_density[self.linked.rows] + log_prior
        return np.asarray(self.inverse_temperature * logs, dtype=log_density.dtype)

    def masses(self, responsibilities: Array) -> Array:
        """Return the responsibilities, those of linked rows times eta."""
        weights = self.linked.row_weights(self.eta, responsibilities.dtype.type)
        return np.asarray(responsibilities * weights[:, None])

    def weigh(self, responsibilities: Array, weights: Floats) -> Floats:
        """Return the weights of the mixture components; the normalizer of the prior is ignored."""
        if self.class_prior == "estimate":
            return normalized_weights(self.masses(responsibilities).sum(axis=0, dtype=np.float64))
        if self.class_prior == "unlinked" and not self.linked.is_linked.all():
            return normalized_weights(responsibilities[~self.linked.is_linked].sum(axis=0, dtype=np.float64))
        n_components = responsibilities.shape[1]
        return np.full(n_components, 1 / n_components)
