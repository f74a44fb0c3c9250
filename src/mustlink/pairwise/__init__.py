"""Classifiers that learn from few labels and from pairs of rows of the same class or of different classes."""

from mustlink.pairwise._logistic import PairwiseLogisticRegression
from mustlink.pairwise._svc import PairwiseSVC

__all__ = ["PairwiseLogisticRegression", "PairwiseSVC"]
