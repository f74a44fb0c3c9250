"""Every method of the comparison with the peers, called as its users would: its defaults, with k, the links and a seed.

A method is fitted in a process of its own, by ``python -m benchmarks._contenders NAME FOLDER``, in the environment that
has its package. So nothing of mustlink is imported here outside the functions that fit its own methods.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import json
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import _measure

Labels = Any


@dataclass(frozen=True)
class Problem:
    """A table, its classes, and links drawn from them."""

    X: Any
    y: Any
    must_link: Any
    cannot_link: Any
    n_clusters: int
    seed: int

    @classmethod
    def read(cls, folder: Path) -> Problem:
        """Read what `write` has written."""
        with np.load(folder / "problem.npz") as stored:
            return cls(**{name: stored[name] if stored[name].ndim else int(stored[name]) for name in stored})

    def write(self, folder: Path) -> None:
        """Write all of it into a folder."""
        np.savez(folder / "problem.npz", **vars(self))

    def link_matrix(self, must: float, cannot: float) -> Any:
        """Return the links as the square matrix that some peers ask for."""
        matrix = np.zeros((len(self.X), len(self.X)))
        for pairs, value in ((self.must_link, must), (self.cannot_link, cannot)):
            matrix[pairs[:, 0], pairs[:, 1]] = matrix[pairs[:, 1], pairs[:, 0]] = value
        return matrix


@dataclass(frozen=True)
class Contender:
    """One method of one package."""

    package: str
    method: str
    task: str  # what it is compared by: methods for the same task stand together
    fit: Callable[[Problem], Labels]
    environment: str = "peers"

    @property
    def name(self) -> str:
        """What it is called by on the command line."""
        return f"{self.package}:{self.method}"

    @property
    def is_ours(self) -> bool:
        """Whether it is a method of mustlink."""
        return self.package == "mustlink"


# ---- ours


def _ours(home: str, problem: Problem, **settings: Any) -> Labels:
    """Fit one of our clusterers."""
    from mustlink import Constraints

    module, class_name = home.split(":")
    make = getattr(importlib.import_module(f"mustlink.{module}"), class_name)
    known = make().get_params()
    if "n_clusters" in known:
        settings["n_clusters"] = problem.n_clusters
    if "random_state" in known:
        settings["random_state"] = problem.seed
    model = make(**settings)
    return model.fit(problem.X, constraints=Constraints(problem.must_link, problem.cannot_link)).labels_


def _our_metric(class_name: str, problem: Problem) -> Labels:
    """Learn one of our metrics, then k-means."""
    from mustlink import Constraints

    make = getattr(importlib.import_module("mustlink.metric_learning"), class_name)
    links = Constraints(problem.must_link, problem.cannot_link)
    return _k_means(make().fit(problem.X, constraints=links).transform(problem.X), problem)


# ---- scikit-learn and faiss, which take no links


def _k_means(X: Any, problem: Problem) -> Labels:
    from sklearn.cluster import KMeans

    return KMeans(problem.n_clusters, random_state=problem.seed).fit(X).labels_


def _scikit_learn(class_name: str, problem: Problem, **settings: Any) -> Labels:
    make = getattr(importlib.import_module("sklearn.cluster"), class_name)
    if "random_state" in make().get_params():
        settings["random_state"] = problem.seed
    return make(**settings).fit(problem.X).labels_


def _k_means_of_scikit_learn(problem: Problem) -> Labels:
    return _k_means(problem.X, problem)


def _with_k(class_name: str, problem: Problem, **settings: Any) -> Labels:
    return _scikit_learn(class_name, problem, n_clusters=problem.n_clusters, **settings)


def _faiss(problem: Problem) -> Labels:
    import faiss

    X = np.ascontiguousarray(problem.X, dtype=np.float32)
    model = faiss.Kmeans(X.shape[1], problem.n_clusters, seed=problem.seed + 1)
    model.train(X)
    return model.index.search(X, 1)[1].ravel()


def _k_means_constrained(problem: Problem) -> Labels:
    from k_means_constrained import KMeansConstrained

    return KMeansConstrained(problem.n_clusters, random_state=problem.seed).fit(problem.X).labels_


# ---- peers that take links


def _active_semi_clustering(class_name: str, problem: Problem) -> Labels:
    module = importlib.import_module("active_semi_clustering.semi_supervised.pairwise_constraints")
    np.random.seed(problem.seed)  # noqa: NPY002  (the only generator that it knows)
    model = getattr(module, class_name)(n_clusters=problem.n_clusters)
    model.fit(problem.X, ml=problem.must_link.tolist(), cl=problem.cannot_link.tolist())
    return model.labels_


def _clustlib(home: str, problem: Problem) -> Labels:
    module, class_name = home.split(":")
    np.random.seed(problem.seed)  # noqa: NPY002  (the only generator that it knows)
    make = getattr(importlib.import_module(f"clustlib.{module}"), class_name)
    model = make(constraints=problem.link_matrix(1.0, -1.0), n_clusters=problem.n_clusters)
    model.fit(problem.X)
    # It has no labels_. Those it keeps are the start's for LCVQE, whose result are the centers.
    return model.predict(problem.X) if class_name == "LCVQE" else np.asarray(model._labels)


def _metric_learn(class_name: str, problem: Problem) -> Labels:
    module = importlib.import_module("metric_learn")
    if class_name == "RCA":
        model = module.RCA().fit(problem.X, components_of(problem))
    else:
        pairs = np.vstack([problem.must_link, problem.cannot_link])
        kinds = np.repeat([1, -1], [len(problem.must_link), len(problem.cannot_link)])
        model = getattr(module, class_name)(preprocessor=problem.X, random_state=problem.seed).fit(pairs, kinds)
    return _k_means(model.transform(problem.X), problem)


def components_of(problem: Problem) -> Any:
    """Return the number of the must-link component of every row, -1 for rows without must-link."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n, ends = len(problem.X), problem.must_link
    graph = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n))
    part = connected_components(graph, directed=False)[1]
    components = np.full(n, -1)
    linked = np.unique(ends)
    components[linked] = np.unique(part[linked], return_inverse=True)[1]
    return components


def _constrained_linkage(problem: Problem) -> Labels:
    from constrained_linkage import constrained_linkage
    from scipy.cluster.hierarchy import fcluster
    from scipy.spatial.distance import pdist

    distances = pdist(problem.X)
    # It knows no hard links; a reward or penalty of a thousand times the greatest distance comes nearest.
    penalty = 1_000 * distances.max()
    tree = constrained_linkage(distances, "average", constraint_matrix=problem.link_matrix(-penalty, penalty))
    # Rewards make heights that fall along the tree, which the cut refuses: the order of the merges is what counts.
    tree[:, 2] = np.arange(1, len(tree) + 1)
    return fcluster(tree, problem.n_clusters, "maxclust") - 1


# ---- the list


def _our(home: str, task: str, **settings: Any) -> Contender:
    return Contender("mustlink", home.split(":")[1], task, partial(_ours, home, **settings), "ours")


def _learn(method: str, task: str, fit: Callable[[Problem], Labels]) -> Contender:
    return Contender("scikit-learn", method, task, fit, "ours")


CONTENDERS = (
    _our("boosting:RobustBoostCluster", "boosting"),
    _our("boosting:BoostedConstrainedKMeans", "boosting"),
    _our("boosting:BoostBaseClustering", "boosting"),
    _our("boosting:DistBoost", "boosting"),
    _our("kmeans:COPKMeans", "hard k-means"),
    _our("kmeans:PriorityCOPKMeans", "hard k-means"),
    Contender(
        "active-semi-supervised-clustering", "COPKMeans", "hard k-means", partial(_active_semi_clustering, "COPKMeans")
    ),
    Contender("clustlib", "COPKMeans", "hard k-means", partial(_clustlib, "kmean.copkmeans:COPKMeans"), "clustlib"),
    _our("kmeans:PCKMeans", "soft k-means"),
    _our("kmeans:LCVQE", "soft k-means"),
    Contender(
        "active-semi-supervised-clustering", "PCKMeans", "soft k-means", partial(_active_semi_clustering, "PCKMeans")
    ),
    Contender("clustlib", "LCVQE", "soft k-means", partial(_clustlib, "fuzzy.lcvqe:LCVQE"), "clustlib"),
    _our("kmeans:MPCKMeans", "k-means with a metric"),
    _our("kmeans:HMRFKMeans", "k-means with a metric"),
    Contender(
        "active-semi-supervised-clustering",
        "MPCKMeans",
        "k-means with a metric",
        partial(_active_semi_clustering, "MPCKMeans"),
    ),
    *(
        Contender("mustlink", f"{name}, then k-means", f"metric {name}", partial(_our_metric, name), "ours")
        for name in ("ITML", "MMC", "RCA", "DCA")
    ),
    *(
        Contender(
            "metric-learn", f"{name}, then k-means", f"metric {name}", partial(_metric_learn, name), "metric-learn"
        )
        for name in ("ITML", "MMC", "RCA")
    ),
    _our("kmeans:KernelKMeans", "kernels and spectra"),
    _our("spectral:SpectralLearning", "kernels and spectra"),
    _our("spectral:ConstraintPropagation", "kernels and spectra"),
    _our("spectral:ConstrainedSpectral", "kernels and spectra"),
    _learn(
        "SpectralClustering",
        "kernels and spectra",
        partial(_with_k, "SpectralClustering", affinity="nearest_neighbors"),
    ),
    _our("hierarchy:ConstrainedLinkage", "average linkage", linkage="average"),
    Contender("constrained-linkage", "average", "average linkage", _constrained_linkage),
    _learn(
        "AgglomerativeClustering", "average linkage", partial(_with_k, "AgglomerativeClustering", linkage="average")
    ),
    _our("density:ConstrainedHDBSCAN", "density"),
    _learn("HDBSCAN", "density", partial(_scikit_learn, "HDBSCAN", copy=True)),
    _learn("KMeans", "no links", _k_means_of_scikit_learn),
    Contender("faiss", "Kmeans", "no links", _faiss),
    Contender("k-means-constrained", "KMeansConstrained", "no links", _k_means_constrained),
)


# ---- inside the process


def measure(contender: Contender, problem: Problem) -> dict[str, float]:
    """Fit, and say how long it took, how much memory beyond the data it held, and how good it is."""
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Importing and compiling are no part of fitting; what a first fit breaks down on, the second shows.
        with contextlib.suppress(Exception):
            contender.fit(small_problem())
        seconds, megabytes, labels = _measure.measure(lambda: np.asarray(contender.fit(problem)))
    free = np.setdiff1d(np.arange(len(labels)), np.concatenate([problem.must_link, problem.cannot_link]))
    return {
        "seconds": seconds,
        "megabytes": max(0.0, megabytes),
        "ari": float(adjusted_rand_score(problem.y, labels)),
        "nmi": float(normalized_mutual_info_score(problem.y, labels)),
        "ari_free": float(adjusted_rand_score(problem.y[free], labels[free])),
        "nmi_free": float(normalized_mutual_info_score(problem.y[free], labels[free])),
        "broken": float(n_broken(labels, problem)),
    }


def n_broken(labels: Any, problem: Problem) -> int:
    """Count the broken links; noise (-1) is apart from everything."""
    must, cannot = labels[problem.must_link], labels[problem.cannot_link]
    together_must = (must[:, 0] == must[:, 1]) & (must[:, 0] >= 0)
    together_cannot = (cannot[:, 0] == cannot[:, 1]) & (cannot[:, 0] >= 0)
    return int((~together_must).sum() + together_cannot.sum())


def small_problem() -> Problem:
    """Return 60 rows in three clusters that overlap, with links that distances do not keep, to meet every kernel."""
    random = np.random.default_rng(0)
    y = np.repeat(np.arange(3), 20)
    X = 2.0 * np.eye(3)[y] + random.standard_normal((60, 3))
    ends = random.permutation(60)[:48].reshape(24, 2)
    same = y[ends[:, 0]] == y[ends[:, 1]]
    return Problem(X, y, ends[same], ends[~same], 3, 0)


def find_contender(name: str) -> Contender:
    """Find a contender by name."""
    return next(contender for contender in CONTENDERS if contender.name == name)


if __name__ == "__main__":
    chosen = find_contender(sys.argv[1])
    figures = measure(chosen, Problem.read(Path(sys.argv[2])))
    version = importlib.metadata.version("faiss-cpu" if chosen.package == "faiss" else chosen.package)
    print(json.dumps(figures | {"version": version}))
