"""Boosting: any clusterer made to follow a person's links."""

from mustlink.boosting._bbc import BoostBaseClustering
from mustlink.boosting._bckm import BoostedConstrainedKMeans
from mustlink.boosting._boostcluster import BoostCluster, Suspect
from mustlink.boosting._coassociation import CoAssociation
from mustlink.boosting._distboost import DistBoost
from mustlink.boosting._prioritycop import PriorityCOPKMeans

__all__ = [
    "BoostBaseClustering",
    "BoostCluster",
    "BoostedConstrainedKMeans",
    "CoAssociation",
    "DistBoost",
    "PriorityCOPKMeans",
    "Suspect",
]
