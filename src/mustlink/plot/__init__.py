"""Plots of boosted clusterings, drawn with matplotlib (extra ``plot``)."""

from mustlink.plot._coassociation import coassociation
from mustlink.plot._history import history
from mustlink.plot._projections import projections

__all__ = ["coassociation", "history", "projections"]
