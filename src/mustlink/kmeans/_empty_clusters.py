"""What to say when a result has fewer clusters than were asked for."""

from __future__ import annotations

import warnings

from sklearn.exceptions import ConvergenceWarning


def warn_of_empty_clusters(n_found: int, n_clusters: int) -> None:
    """Warn if clusters are empty; called by what `fit` calls to store a result."""
    if n_found < n_clusters:
        warnings.warn(
            f"{n_found} of the {n_clusters} clusters hold all rows and the others are empty; rows that are equal, or "
            "links that hold rows together, can be the reason.",
            ConvergenceWarning,
            stacklevel=4,
        )
