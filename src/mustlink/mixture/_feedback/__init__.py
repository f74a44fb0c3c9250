"""A multinomial mixture with term weights that are learned from criticism."""

from mustlink.mixture._feedback._estimator import FeedbackMixture
from mustlink.mixture._feedback._kinds import Feedback

__all__ = ["Feedback", "FeedbackMixture"]
