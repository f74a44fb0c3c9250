"""The parts of the k-means clusterers for those who write another one: engine, geometries, rules, starts, base classes.

A clusterer gives its geometry and its rule to the engine, the only loop of k-means; :class:`BaseKMeans` has the
parameters, the checks, the starts and the prediction, :class:`BaseConstrainedKMeans` also takes links, and
:class:`BaseWeightedKMeans` weights of the rows.
"""

from mustlink.kmeans._base import (
    BaseConstrainedKMeans,
    BaseKMeans,
    BaseWeightedKMeans,
    Plan,
    Problem,
    check_init,
    check_weight,
)
from mustlink.kmeans._blocked import BlockedEuclidean
from mustlink.kmeans._blocked_passes import nearest_labels
from mustlink.kmeans._copkmeans import Components
from mustlink.kmeans._engine import Euclidean, Geometry, Run, State, Step, best_of_runs, iterate
from mustlink.kmeans._engine import assign as assign_rows
from mustlink.kmeans._prioritycop_blocked import PriorityPasses, label_by_nearest
from mustlink.kmeans._rules import LinkedRows, LinkRule, NoPlacement
from mustlink.kmeans._seeding import Start, start_at_random_rows, start_at_seeds

__all__ = [
    "BaseConstrainedKMeans",
    "BaseKMeans",
    "BaseWeightedKMeans",
    "BlockedEuclidean",
    "Components",
    "Euclidean",
    "Geometry",
    "LinkRule",
    "LinkedRows",
    "NoPlacement",
    "Plan",
    "PriorityPasses",
    "Problem",
    "Run",
    "Start",
    "State",
    "Step",
    "assign_rows",
    "best_of_runs",
    "check_init",
    "check_weight",
    "iterate",
    "label_by_nearest",
    "nearest_labels",
    "start_at_random_rows",
    "start_at_seeds",
]
