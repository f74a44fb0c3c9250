"""Data sets of scikit-learn, of a data folder and of OpenML, and the sample that ships with the package."""

from __future__ import annotations

from mustlink.datasets._customers import Customers, SamplePaths, make_customers, sample_paths
from mustlink.datasets._load import check_present, load, names
from mustlink.datasets._openml import fetch

__all__ = ["Customers", "SamplePaths", "check_present", "fetch", "load", "make_customers", "names", "sample_paths"]
