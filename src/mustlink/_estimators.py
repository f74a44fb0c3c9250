"""What the package does with other estimators: draw seeds, configure copies, ask for links, leave out training rows."""

from __future__ import annotations

import copy
from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state, get_tags

__all__ = ["clone_with", "count_and_seed_parameters", "count_parameter", "draw_seed", "takes_links", "without_rows"]

# Fitted attributes of scikit-learn's clusterers that grow with the rows, and that their ``predict`` does not read.
ROWS_OF_SKLEARN = ("affinity_matrix_", "dummy_leaf_", "labels_", "root_")

# The types of estimators with a number of clusters, by their tags.
CLUSTERERS = {"clusterer", "density_estimator"}


def draw_seed(random_state: int | np.random.RandomState | None) -> int:
    """Draw a number that can seed an estimator or a random state."""
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def clone_with(estimator: Any, n_clusters: int, seed: int) -> Any:
    """Return a copy of a clusterer with the number of clusters and all seeds set, also of estimators inside it."""
    counts, seeds = count_and_seed_parameters(estimator)
    return clone(estimator).set_params(**dict.fromkeys(counts, n_clusters), **dict.fromkeys(seeds, seed))


def count_and_seed_parameters(estimator: Any) -> tuple[list[str], list[str]]:
    """Return the names of the parameters for the number of clusters and for seeds, also of estimators inside.

    A number that is None is not listed: such a clusterer finds it by itself.
    """
    params = estimator.get_params(deep=True) if hasattr(estimator, "get_params") else {}
    seeds = [key for key in params if key.rsplit("__", 1)[-1] == "random_state"]
    inside = {f"{key}__": value for key, value in params.items()}
    counts = [
        prefix + name
        for prefix, value in {"": estimator, **inside}.items()
        if (name := count_parameter(value)) is not None
    ]
    return [key for key in counts if params[key] is not None], seeds


def count_parameter(estimator: Any) -> str | None:
    """Return the name of an estimator's own parameter for the number of clusters; None if it has none.

    Mixtures call it `n_components`, as scikit-learn's do, and other clusterers `n_clusters`.
    """
    if isinstance(estimator, type) or not hasattr(estimator, "get_params"):
        return None
    params = estimator.get_params(deep=False)
    if "n_clusters" in params:
        return "n_clusters"
    return "n_components" if "n_components" in params and _is_mixture(estimator) else None


def takes_links(estimator: Any) -> bool:
    """Return whether ``fit`` has an argument `constraints`, or takes any argument."""
    given = signature(estimator.fit).parameters.values()
    return any(parameter.name == "constraints" or parameter.kind is parameter.VAR_KEYWORD for parameter in given)


def without_rows(model: Any) -> Any:
    """Return a copy of a fitted clusterer of scikit-learn without its training rows; others as they are."""
    if not type(model).__module__.startswith("sklearn."):
        return model
    model = copy.copy(model)
    for name in ROWS_OF_SKLEARN:
        vars(model).pop(name, None)
    return model


def _is_mixture(estimator: Any) -> bool:
    """Return whether an estimator is a mixture or a clusterer, not one that reduces the columns."""
    return isinstance(estimator, BaseEstimator) and get_tags(estimator).estimator_type in CLUSTERERS
