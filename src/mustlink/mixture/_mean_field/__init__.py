"""Gaussian mixtures with a maximum-entropy prior on labels, and clustering of dissimilarities with the same prior."""

from mustlink.mixture._mean_field._estimator import MeanFieldMixture

__all__ = ["MeanFieldMixture"]
