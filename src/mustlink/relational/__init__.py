"""Entity resolution: clustering of records by their names and by the records they occur with."""

from mustlink.relational._collective import CollectiveRelationalClustering
from mustlink.relational._expansion import Resolution
from mustlink.relational._recall import candidate_recall
from mustlink.relational._synthetic import make_references
from mustlink.relational._threshold import default_threshold

__all__ = ["CollectiveRelationalClustering", "Resolution", "candidate_recall", "default_threshold", "make_references"]
