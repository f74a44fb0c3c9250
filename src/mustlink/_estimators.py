"""What the package does with other estimators: seeds, configured copies, fits with links, copies without rows."""

from __future__ import annotations

import copy
from inspect import signature
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import has_fit_parameter

from mustlink._types import Ints

__all__ = [
    "clone_with",
    "count_and_seed_parameters",
    "count_parameter",
    "draw_seed",
    "fit_with_links",
    "fitted_inside",
    "labels_of",
    "takes_links",
    "without_rows",
]

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


def fitted_inside(estimator: Any) -> Any:
    """Return the fitted clusterer inside a search or at the end of a pipeline; any other estimator as it is."""
    inner = estimator
    while not hasattr(inner, "labels_") and (hasattr(inner, "best_estimator_") or hasattr(inner, "steps")):
        inner = inner.best_estimator_ if hasattr(inner, "best_estimator_") else inner.steps[-1][1]
    return inner


def labels_of(estimator: Any) -> Ints:
    """Return the labels of a fitted clusterer, or of the one inside a search or at the end of a pipeline."""
    inner = fitted_inside(estimator)
    if not hasattr(inner, "labels_"):
        raise TypeError(f"{type(inner).__name__} has no labels_ after fit.")
    return np.asarray(inner.labels_)


def fit_with_links(estimator: Any, X: Any, links: Any, **fit_params: Any) -> Any:
    """Fit a clusterer, or a pipeline or search with one; without metadata routing, steps are named in parameters."""
    has_steps = isinstance(estimator, Pipeline) or _is_search(estimator)
    is_routed = has_steps and get_config()["enable_metadata_routing"]
    names = ["constraints"] if is_routed else _link_parameters(estimator)
    if not names:
        name = type(estimator).__name__
        problem = f"No step of this {name} takes constraints" if has_steps else f"{name} takes no constraints"
        raise TypeError(f"{problem}; a clusterer or metric that does is needed.")
    return estimator.fit(X, **dict.fromkeys(names, links), **fit_params)


def _link_parameters(estimator: Any) -> list[str]:
    """Return the names under which ``fit`` takes the links; none if it does not take them."""
    if _is_search(estimator):
        return _link_parameters(estimator.estimator)
    if not isinstance(estimator, Pipeline):
        return ["constraints"] if takes_links(estimator) else []
    return [
        f"{name}__{inner}"
        for name, step in estimator.steps
        if isinstance(step, Pipeline) or _is_search(step) or has_fit_parameter(step, "constraints")
        for inner in _link_parameters(step)
    ]


def _is_search(estimator: Any) -> bool:
    """Return whether an estimator is a search, such as GridSearchCV."""
    return hasattr(estimator, "estimator") and hasattr(estimator, "refit")


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
