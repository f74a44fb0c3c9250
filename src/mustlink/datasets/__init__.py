"""Data sets: what scikit-learn ships, the sets of a data folder, OpenML, and the sample of this package."""

from __future__ import annotations

from mustlink.datasets._customers import Customers, SamplePaths, make_customers, sample_paths
from mustlink.datasets._load import load, names
from mustlink.datasets._openml import fetch

__all__ = ["Customers", "SamplePaths", "fetch", "load", "make_customers", "names", "sample_paths"]
