"""Mixtures with must-link and cannot-link constraints."""

from mustlink.mixture._constrained import ConstrainedGaussianMixture
from mustlink.mixture._feedback import Feedback, FeedbackMixture
from mustlink.mixture._link_penalties import HARD_WEIGHT, flip_rate_penalty, grid_links, links_of_certainty
from mustlink.mixture._mean_field import MeanFieldMixture
from mustlink.mixture._penalized_mixture import PenalizedGaussianMixture

__all__ = [
    "HARD_WEIGHT",
    "ConstrainedGaussianMixture",
    "Feedback",
    "FeedbackMixture",
    "MeanFieldMixture",
    "PenalizedGaussianMixture",
    "flip_rate_penalty",
    "grid_links",
    "links_of_certainty",
]
