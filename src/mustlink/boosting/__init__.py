"""Boosting of any clusterer with must-link and cannot-link constraints, and the co-association matrix."""

from mustlink.boosting._bbc import BoostBaseClustering
from mustlink.boosting._bckm import BoostedConstrainedKMeans
from mustlink.boosting._boostcluster._base import Suspect
from mustlink.boosting._boostcluster._estimator import BoostCluster
from mustlink.boosting._coassociation import CoAssociation
from mustlink.boosting._distboost import DistBoost
from mustlink.boosting._robust._estimator import RobustBoostCluster

__all__ = [
    "BoostBaseClustering",
    "BoostCluster",
    "BoostedConstrainedKMeans",
    "CoAssociation",
    "DistBoost",
    "RobustBoostCluster",
    "Suspect",
]
