"""What the package does with other estimators: draw seeds for them, and configure copies."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

__all__ = ["clone_with", "draw_seed"]


def draw_seed(random_state: int | np.random.RandomState | None) -> int:
    """Draw a number that can seed an estimator or a random state."""
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def clone_with(estimator: Any, n_clusters: int, seed: int) -> Any:
    """Return a copy of a clusterer with the number of clusters and all seeds set, also of estimators inside it.

    A parameter `n_clusters` that is None stays so: such a clusterer finds the number itself.
    """
    copy = clone(estimator)
    settings: dict[str, int] = {}
    for name, value in copy.get_params(deep=True).items():
        last = name.rsplit("__", 1)[-1]
        if last == "random_state":
            settings[name] = seed
        elif last == "n_clusters" and value is not None:
            settings[name] = n_clusters
    return copy.set_params(**settings)
