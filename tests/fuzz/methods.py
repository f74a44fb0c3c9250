"""How each clusterer is run on a random problem, and what it promises."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.cluster import AgglomerativeClustering, KMeans

from conformance import case_of
from fuzz.facts import Facts
from fuzz.problems import Problem
from mustlink._estimators import count_parameter
from mustlink.catalogue import Entry
from mustlink.errors import InfeasibleError
from mustlink.estimator_checks._cases import has_parameter, is_hard

Generator = np.random.Generator
Parameters = Mapping[str, Any]

MAX_ITER = 15
# Those that can start from given centers, without anything random.
TAKES_CENTERS = {"COPKMeans", "PCKMeans", "LCVQE", "HMRFKMeans", "MPCKMeans"}


def make_model(entry: Entry, problem: Problem) -> Any:
    """Return the clusterer with parameters drawn for the problem, such that a fit takes a few milliseconds."""
    rng = np.random.default_rng([problem.seed, *entry.class_name.encode()])
    case = case_of(entry)
    variants: list[Parameters] = [{}] * max(1, len(case.variants)) + list(case.variants)
    parameters = {**case.fast, **variants[rng.integers(len(variants))]}
    if entry.class_name in OWN_PARAMETERS:
        parameters |= OWN_PARAMETERS[entry.class_name](rng, problem, parameters)
    model = entry.load()()
    shared = {count_parameter(model): problem.n_clusters, "random_state": problem.seed, "max_iter": MAX_ITER}
    model.set_params(**{**{name: value for name, value in shared.items() if has_parameter(model, name)}, **parameters})
    if is_hard(model) and rng.random() < 0.25:
        model.set_params(on_infeasible="relax")
    if entry.class_name in TAKES_CENTERS and rng.random() < 0.4:
        model.set_params(init=_draw_centers(rng, problem))
    return model


def _draw_centers(rng: Generator, problem: Problem) -> Any:
    """Draw weighted means of the rows, which no two rows are equally near to."""
    share = rng.dirichlet(np.ones(problem.n_rows), size=problem.n_clusters)
    return (share @ problem.X.astype(np.float64)).astype(problem.X.dtype)


def _base(rng: Generator) -> Any:
    """A quick clusterer to boost."""
    return KMeans(n_init=1) if rng.random() < 0.3 else AgglomerativeClustering(linkage="average")


def _boost(rng: Generator, problem: Problem, drawn: Parameters) -> Parameters:
    return {"estimator": _base(rng), "n_rounds": 3}


def _robust(rng: Generator, problem: Problem, drawn: Parameters) -> Parameters:
    return {
        "estimator": _base(rng),
        "n_rounds": 3,
        "n_trials": 2,
        "representations": [(0.1, 0.1), (10.0, 1.0)] if rng.random() < 0.2 else [(1.0, 0.3)],
    }


def _bbc(rng: Generator, problem: Problem, drawn: Parameters) -> Parameters:
    finds_number = "estimator" not in drawn and rng.random() < 0.3
    return {"n_clusters": None if finds_number else problem.n_clusters, "n_rounds": 2}


def _bckm(rng: Generator, problem: Problem, drawn: Parameters) -> Parameters:
    return {"n_rounds": 3}


def _distboost(rng: Generator, problem: Problem, drawn: Parameters) -> Parameters:
    return {"n_rounds": 2, "max_iter": 5}


def _cop(rng: Generator, problem: Problem, drawn: Parameters) -> Parameters:
    # One run is enough to find a clustering, if there is one.
    return {"n_init": 1 if rng.random() < 0.9 else "auto"}


def _feedback(rng: Generator, problem: Problem, drawn: Parameters) -> Parameters:
    return {"n_init": 2, "max_rounds": 1}


def _linkage(rng: Generator, problem: Problem, drawn: Parameters) -> Parameters:
    parameters: dict[str, Any] = {}
    if rng.random() < 0.2:
        parameters = {"n_clusters": None, "distance_threshold": float(rng.choice([0.0, 1.0, np.inf]))}
    if rng.random() < 0.3:
        least = -(-problem.n_rows // problem.n_clusters)
        parameters["size_max"] = int(rng.integers(max(1, least - 1), problem.n_rows + 1))
    return parameters


def _seeded_link(rng: Generator, problem: Problem, drawn: Parameters) -> Parameters:
    return {"n_clusters": None if rng.random() < 0.3 else problem.n_clusters}


def _hdbscan(rng: Generator, problem: Problem, drawn: Parameters) -> Parameters:
    return {
        "min_cluster_size": int(rng.integers(2, 4)),
        "min_samples": int(rng.integers(1, 4)),
        "allow_single_cluster": bool(rng.random() < 0.3),
    }


def _sizes(rng: Generator, problem: Problem, drawn: Parameters) -> Parameters:
    """Sizes that can add up, often without slack, for all clusters alike or for each."""
    k = problem.n_clusters
    sizes = rng.multinomial(problem.n_rows, rng.dirichlet(np.full(k, 3.0)))
    size_min, size_max = np.maximum(sizes - rng.integers(0, 3, k), 0), sizes + rng.integers(0, 3, k)
    metric = "manhattan" if rng.random() < 0.2 else "sqeuclidean"
    if rng.random() < 0.3:
        return {"size_min": int(size_min.min()), "size_max": int(size_max.max()), "metric": metric}
    return {"size_min": size_min.tolist(), "size_max": size_max.tolist(), "metric": metric}


def _existential(rng: Generator, problem: Problem, drawn: Parameters) -> Parameters:
    """A minimum for all clusters alike or for each, at times one that cannot be met."""
    k, most = problem.n_clusters, problem.n_rows // problem.n_clusters
    if rng.random() < 0.5:
        return {"pivot_min": rng.multinomial(problem.n_rows - rng.integers(3), np.full(k, 1 / k)).tolist()}
    return {"pivot_min": int(rng.integers(0, most + 2))}


def _embedding(rng: Generator, problem: Problem, drawn: Parameters) -> Parameters:
    return {"estimator": KMeans(n_init=1)}


OWN_PARAMETERS: Mapping[str, Callable[[Generator, Problem, Parameters], Parameters]] = {
    "BoostCluster": _boost,
    "RobustBoostCluster": _robust,
    "BoostBaseClustering": _bbc,
    "BoostedConstrainedKMeans": _bckm,
    "DistBoost": _distboost,
    "COPKMeans": _cop,
    "FeedbackMixture": _feedback,
    "ConstrainedLinkage": _linkage,
    "SeededSingleLink": _seeded_link,
    "ConstrainedHDBSCAN": _hdbscan,
    "ExistentialKMeans": _existential,
    "SizeConstrainedKMeans": _sizes,
    "SpectralLearning": _embedding,
    "ConstraintPropagation": _embedding,
}


# ---- what they promise ----------------------------------------------------------------------------------------------


def n_clusters_of(model: Any) -> int | None:
    """The number of clusters that the model is given; None if it finds the number."""
    name = count_parameter(model)
    return None if name is None else getattr(model, name)


def relaxes(model: Any) -> bool:
    """Say whether a hard clusterer may break links where not all can be kept."""
    return is_hard(model) and model.on_infeasible == "relax"


def can_keep_links(model: Any, facts: Facts) -> bool:
    """Say whether what a hard clusterer promises exists: so many clusters, or any number, that keep all links.

    Where the clusters have sizes, these are part of the promise, and a minimum of zero allows an empty cluster.
    """
    bounds = size_bounds(model, facts.problem.n_rows)
    if bounds is not None:
        return facts.is_feasible_with_sizes(*bounds)
    return facts.is_consistent if n_clusters_of(model) is None else facts.is_feasible


def size_bounds(model: Any, n_rows: int) -> tuple[list[int], list[int]] | None:
    """Return the minimum and maximum size of every cluster, or None; of any number of clusters, some may be empty."""
    k = n_clusters_of(model) or n_rows
    match type(model).__name__:
        case "SizeConstrainedKMeans":
            bounds = model.size_min, model.size_max
        case "ExistentialKMeans":
            bounds = model.pivot_min, n_rows
        case "ConstrainedGaussianMixture":
            bounds = 0, n_rows
        case "ConstrainedLinkage" if model.size_max is not None:
            bounds = int(model.n_clusters is not None), model.size_max
        case _:
            return None
    size_min, size_max = (np.broadcast_to(size, k).tolist() for size in bounds)
    return size_min, size_max


def keeps_sizes_first(model: Any) -> bool:
    """Say whether a relaxed clusterer keeps the sizes before any link."""
    return type(model).__name__ == "SizeConstrainedKMeans"


def may_miss_clustering(model: Any) -> bool:
    """Say whether clusters that exist may not be found: merges under a maximum size are never undone."""
    return type(model).__name__ == "ConstrainedLinkage" and model.size_max is not None


def may_call_noise(model: Any) -> bool:
    """Say whether rows may get the label -1."""
    if type(model).__name__ == "SoftBalancedMixture":
        return bool(model.component == "vmf")
    if type(model).__name__ in {"BalancedClustering", "FrequencySensitiveKMeans"}:
        return bool(model.metric == "cosine")
    if type(model).__name__ == "CCIB":
        return getattr(model, "model_", None) == "multinomial"
    return type(model).__name__ in {"ConstrainedHDBSCAN", "BoostBaseClustering"} and n_clusters_of(model) is None


def may_miss_number(model: Any) -> bool:
    """Say whether there may be more clusters than asked for, with a warning: no preference may give the number."""
    return type(model).__name__ == "BoostBaseClustering" and model.estimator == "affinity"


def documented_refusals(model: Any, facts: Facts) -> tuple[type[Exception], ...]:
    """Return the errors that the documentation of a clusterer announces for a problem, besides infeasible links."""
    name, problem = type(model).__name__, facts.problem
    announced: list[type[Exception]] = []
    if name == "SeededKMeans" and len(set(facts.classes.values())) > problem.n_clusters:
        announced.append(ValueError)
    if (
        name in {"BalancedClustering", "CCIB", "FrequencySensitiveKMeans", "SoftBalancedMixture"}
        and np.any(problem.X, axis=1).sum() < problem.n_clusters
    ):
        announced.append(ValueError)
    if name == "ExistentialKMeans" and np.broadcast_to(model.pivot_min, problem.n_clusters).sum() > problem.n_rows:
        announced.append(InfeasibleError)
    if name == "FeedbackMixture" and problem.X.min() < 0:
        announced.append(ValueError)
    if name == "HMRFKMeans" and model.distortion == "i-divergence" and problem.X.min() < 0:
        announced.append(ValueError)
    return tuple(announced)


def may_refuse(model: Any, error: Exception) -> bool:
    """Say whether an error depends on more than the facts, and is documented: a bound out of reach."""
    has_bound = type(model).__name__ == "ConstrainedSpectral" and model.satisfaction != "auto"
    return (has_bound or may_miss_clustering(model)) and isinstance(error, InfeasibleError)


def ignores_row_order(model: Any, facts: Facts) -> bool:
    """Say whether the clusters depend on nothing but the rows and links: no random start, and no ties."""
    if not _has_distinct_distances(facts.problem.X):
        return False
    match type(model).__name__:
        case "ConstrainedLinkage":
            # Cannot-links are dropped by their weights, which are often equal. On a line, all rows between the rows of
            # a cluster are at the same mean distance from it.
            n_varying = np.count_nonzero(np.ptp(facts.problem.X, axis=0))
            return n_varying > 1 and (not relaxes(model) or can_keep_links(model, facts))
        case "SeededSingleLink":
            # The same step is the longest on many paths, and a cannot-link decides which of them comes first.
            return n_clusters_of(model) is None or not facts.all_cannot_link
        case "ConstrainedHDBSCAN":
            # Mutual reachability distances are often equal, and the last two rows of a leaf leave it together.
            return bool(model.min_samples == 1) and not (is_hard(model) and facts.all_must_link + facts.all_cannot_link)
        case "PCKMeans":
            return not isinstance(model.init, str)
        case "MPCKMeans":
            # Where the objective rises, the run has not converged, and the last digits of sums, which depend on the
            # order of the rows, grow from one iteration to the next.
            return not isinstance(model.init, str) and bool((np.diff(getattr(model, "objective_", [])) <= 0).all())
        case _:
            return False


def _has_distinct_distances(X: Any) -> bool:
    """Say whether no two pairs of rows have nearly the same distance."""
    X = np.asarray(X, dtype=np.float64)
    X = X / (np.abs(X).max() or 1.0)
    a, b = np.triu_indices(len(X), 1)
    distances = np.sort(np.sqrt(np.square(X[a] - X[b]).sum(axis=1)))
    return bool(distances[0] > 1e-6 and (np.diff(distances) > 1e-6 * distances[-1]).all())
