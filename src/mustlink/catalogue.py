"""The clusterers there are, by the names the command knows them by; none is imported before it is asked for."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["CATALOGUE", "Entry", "all_clusterers", "find_clusterer"]


@dataclass(frozen=True)
class Entry:
    """One clusterer.

    Parameters
    ----------
    name : str
        The short name, as in ``mustlink cluster --method``.
    module : str
        The public module it is imported from.
    class_name : str
        The name of the class in that module.
    kind : {'hard', 'soft'}
        Whether it never breaks a link or fails (hard), or weighs links against distances (soft).
    pick_when : str
        When to pick it, in a sentence.
    base_parameter : str or None, default=None
        The parameter that takes the clusterer it boosts, if it boosts one.
    own_bases : tuple of str, default=()
        The names of clusterers that this parameter takes as text.

    Examples
    --------
    >>> from mustlink.catalogue import find_clusterer
    >>> find_clusterer("pck").load().__name__
    'PCKMeans'
    """

    name: str
    module: str
    class_name: str
    kind: Literal["hard", "soft"]
    pick_when: str
    base_parameter: str | None = None
    own_bases: tuple[str, ...] = ()

    def load(self) -> type[Any]:
        """Import the class.

        Returns
        -------
        type
        """
        found: type[Any] = getattr(importlib.import_module(self.module), self.class_name)
        return found


CATALOGUE: tuple[Entry, ...] = (
    Entry(
        "boost",
        "mustlink.boosting",
        "BoostCluster",
        "soft",
        "Start here. It learns from the links which columns matter, doubts links that look wrong and names them, and "
        "makes any clusterer follow the rest.",
        base_parameter="estimator",
    ),
    Entry(
        "pck",
        "mustlink.kmeans",
        "PCKMeans",
        "soft",
        "You are in a hurry, or distances in the table are right as they are: links have a price, and one is broken "
        "where the distances speak strongly enough against it.",
    ),
    Entry(
        "cop",
        "mustlink.kmeans",
        "COPKMeans",
        "hard",
        "Every link is certain and must hold; you would rather have no answer than a broken link.",
    ),
    Entry(
        "seeded",
        "mustlink.kmeans",
        "SeededKMeans",
        "soft",
        "You know some rows of every group: labels, or must-links within groups, only say where the clusters begin, "
        "and the distances do the rest.",
    ),
    Entry(
        "lcvqe",
        "mustlink.kmeans",
        "LCVQE",
        "soft",
        "Very many links, some of them wrong: one that distances speak against is broken, and then only pulls on the "
        "centres.",
    ),
    Entry(
        "kernel",
        "mustlink.kmeans",
        "KernelKMeans",
        "soft",
        "The groups are not round, or all you have is a kernel; links pull and push rows under it.",
    ),
    Entry(
        "hdbscan",
        "mustlink.density",
        "ConstrainedHDBSCAN",
        "hard",
        "Clusters have any shape, some rows belong to none, and you do not know how many there are; every link holds.",
    ),
    Entry(
        "mpck",
        "mustlink.kmeans",
        "MPCKMeans",
        "soft",
        "Columns have different units, or some say nothing: it learns which count while links have a price, and takes "
        "little longer than k-means.",
    ),
    Entry(
        "hmrf",
        "mustlink.kmeans",
        "HMRFKMeans",
        "soft",
        "Texts or counts: rows are compared by the cosine or by a divergence, links have a price, and a sparse table "
        "stays sparse.",
    ),
    Entry(
        "bckm",
        "mustlink.boosting",
        "BoostedConstrainedKMeans",
        "soft",
        "Many links, few of them wrong, that no single run of k-means can keep at once; stop it when time is up.",
    ),
    Entry(
        "bbc",
        "mustlink.boosting",
        "BoostBaseClustering",
        "soft",
        "You have labels for some rows, a clusterer of similarities such as affinity propagation, and at most some "
        "thousand rows.",
        base_parameter="estimator",
        own_bases=("affinity", "spectral", "average", "complete", "kmedoids"),
    ),
    Entry(
        "priority",
        "mustlink.boosting",
        "PriorityCOPKMeans",
        "soft",
        "The weights of your links say in which order they matter; quick, and it never fails.",
    ),
    Entry(
        "speclearn",
        "mustlink.spectral",
        "SpectralLearning",
        "soft",
        "The groups are of any shape, such as rings or long bands, and the links are few: they become edges between "
        "neighbours, and any clusterer works on the eigenvectors.",
        base_parameter="estimator",
    ),
    Entry(
        "conspec",
        "mustlink.spectral",
        "ConstrainedSpectral",
        "soft",
        "The groups are of any shape, and you want to say how well the links must be kept: two groups above all.",
    ),
    Entry(
        "linkage",
        "mustlink.hierarchy",
        "ConstrainedLinkage",
        "hard",
        "You want the whole tree of merges, or a cut of it by distance, every link is certain, and there are at most "
        "some ten thousand rows.",
    ),
    Entry(
        "seeded-link",
        "mustlink.hierarchy",
        "SeededSingleLink",
        "soft",
        "You know some rows of every group, groups have odd shapes and gaps between them, and you want the answer "
        "at once whenever you add a row.",
    ),
    Entry(
        "parts",
        "mustlink.hierarchy",
        "PartitionThenLink",
        "hard",
        "Groups have odd shapes, every link is certain, and there are many rows but not very many links.",
    ),
    Entry(
        "distboost",
        "mustlink.boosting",
        "DistBoost",
        "soft",
        "For comparison with the literature: a distance boosted from Gaussian mixtures.",
    ),
)


def find_clusterer(name: str) -> Entry:
    """Find a clusterer by its short name or the name of its class, in any case.

    Parameters
    ----------
    name : str
        Such as ``pck`` or ``PCKMeans``.

    Returns
    -------
    Entry

    Raises
    ------
    ValueError
        When there is none of that name.

    Examples
    --------
    >>> from mustlink.catalogue import find_clusterer
    >>> find_clusterer("COPKMeans").name
    'cop'
    >>> find_clusterer("k-means")
    Traceback (most recent call last):
        ...
    ValueError: There is no method 'k-means'; the methods are boost, pck, cop, seeded, ...
    """
    for entry in CATALOGUE:
        if name.lower() in (entry.name.lower(), entry.class_name.lower()):
            return entry
    known = ", ".join(entry.name for entry in CATALOGUE)
    raise ValueError(f"There is no method {name!r}; the methods are {known}.")


def all_clusterers() -> list[tuple[str, type[Any]]]:
    """Import every clusterer.

    Returns
    -------
    list of (str, type)
        The names of the classes and the classes, in the order of the catalogue.

    Examples
    --------
    >>> from mustlink.catalogue import all_clusterers
    >>> [name for name, _ in all_clusterers()]  # doctest: +ELLIPSIS
    ['BoostCluster', 'PCKMeans', 'COPKMeans', 'SeededKMeans', ...]
    """
    return [(entry.class_name, entry.load()) for entry in CATALOGUE]
