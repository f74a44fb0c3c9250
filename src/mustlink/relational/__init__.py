"""Entity resolution: clustering of records by their names and by the records they occur with."""

from mustlink.relational._collective import CollectiveRelationalClustering
from mustlink.relational._expansion import Resolution

__all__ = ["CollectiveRelationalClustering", "Resolution"]
