"""A clusterer of the catalogue with the parameters that it has of those asked for."""

from __future__ import annotations

from typing import Any

from mustlink._estimators import count_parameter
from mustlink.catalogue import Entry

__all__ = ["build_clusterer"]

# The starts of methods that take the best of several, if no number is asked for.
N_STARTS = 10


def build_clusterer(entry: Entry, n_clusters: int | None = None, *, random_state: int | None = 0, **asked: Any) -> Any:
    """Make a clusterer for a table whose columns are scaled already.

    Parameters
    ----------
    entry : Entry
        Its entry in the catalogue.
    n_clusters : int or None, default=None
        The number of clusters or of components; None is the clusterer's own default.
    random_state : int or None, default=0
        The seed.
    **asked : object
        More parameters. Those that the clusterer does not have are left out.

    Returns
    -------
    object
        The clusterer, not fitted.

    Examples
    --------
    >>> from mustlink.catalogue import find_clusterer
    >>> from mustlink.workflow import build_clusterer
    >>> build_clusterer(find_clusterer("boost"), 3)
    RobustBoostCluster(n_clusters=3, random_state=0, scale=False)
    """
    clusterer = entry.load()
    # Whether to scale was decided when the table was read.
    asked = {"random_state": random_state, "n_init": N_STARTS, "scale": False, **asked}
    if n_clusters is not None:
        asked[count_parameter(clusterer()) or "n_clusters"] = n_clusters
    known = clusterer().get_params()
    return clusterer(**{name: value for name, value in asked.items() if name in known})
