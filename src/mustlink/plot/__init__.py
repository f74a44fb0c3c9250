"""Plots of clusterings and of boosting, drawn with matplotlib (extra ``plot``)."""

from mustlink.plot._clusters import clusters
from mustlink.plot._coassociation import coassociation
from mustlink.plot._columns import columns
from mustlink.plot._history import history
from mustlink.plot._projections import projections
from mustlink.plot._sorted_matrix import sorted_matrix

__all__ = ["clusters", "coassociation", "columns", "history", "projections", "sorted_matrix"]
