"""Entity resolution: clustering of records by their names and by the records they occur with."""

from mustlink.relational._collective import CollectiveRelationalClustering
from mustlink.relational._expansion import Resolution
from mustlink.relational._synthetic import make_references

__all__ = ["CollectiveRelationalClustering", "Resolution", "make_references"]
