"""Clusters of useful size: minimum and maximum sizes, balance, existential constraints, private publishing."""

from mustlink.sizes._assign._assign import assign
from mustlink.sizes._assign._assignment import Assignment
from mustlink.sizes._assign._bounds import check_sizes
from mustlink.sizes._assign._cost_blocks import CostBlocks
from mustlink.sizes._balanced import BalancedClustering, balanced_sample_size
from mustlink.sizes._existential import ExistentialKMeans
from mustlink.sizes._frequency_sensitive._estimator import FrequencySensitiveKMeans
from mustlink.sizes._linked._assign_linked import assign_linked
from mustlink.sizes._publish import ColumnLoss, Publication, publish
from mustlink.sizes._size_constrained._size_constrained_kmeans import SizeConstrainedKMeans
from mustlink.sizes._soft_balanced._estimator import SoftBalancedMixture
from mustlink.sizes._verification import NOT_DIFFERENTIAL_PRIVACY, GroupFailure, Verification, verify_publication

__all__ = [
    "NOT_DIFFERENTIAL_PRIVACY",
    "Assignment",
    "BalancedClustering",
    "ColumnLoss",
    "CostBlocks",
    "ExistentialKMeans",
    "FrequencySensitiveKMeans",
    "GroupFailure",
    "Publication",
    "SizeConstrainedKMeans",
    "SoftBalancedMixture",
    "Verification",
    "assign",
    "assign_linked",
    "balanced_sample_size",
    "check_sizes",
    "publish",
    "verify_publication",
]
