"""The parts of the mixtures for those who write another one: densities, the steps of EM, and the base class.

A mixture gives the steps that depend on its links to :class:`LinkedMixture`, which has the parameters, the starts, EM
with restarts, and the methods for new rows; :class:`Gaussians` estimates and evaluates the densities.
"""

from mustlink.mixture._base import (
    EMSteps,
    Expectation,
    LinkedMixture,
    MixtureRun,
    normalized_weights,
    warn_of_approximation,
)
from mustlink.mixture._gaussians import COVARIANCE_TYPES, Gaussians, normalize_logs

__all__ = [
    "COVARIANCE_TYPES",
    "EMSteps",
    "Expectation",
    "Gaussians",
    "LinkedMixture",
    "MixtureRun",
    "normalize_logs",
    "normalized_weights",
    "warn_of_approximation",
]
