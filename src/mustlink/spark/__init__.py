"""Rows of Spark: a DataFrame with ids is clustered where it lies, with links between ids (extra ``spark``)."""

from mustlink.spark._cluster import cluster
from mustlink.spark._mllib import MLlibKMeans
from mustlink.spark._model import SparkModel
from mustlink.spark._rows import SparkRows

__all__ = ["MLlibKMeans", "SparkModel", "SparkRows", "cluster"]
