"""Every clusterer once: its family, when to pick it, and what the command and the tests need to know about it.

The public names of :mod:`mustlink`, ``mustlink methods``, the tables of the README and of the guide and the API pages
all come from here; ``make tables`` writes them. No clusterer is imported before it is asked for.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from mustlink.errors import OptionError

__all__ = [
    "CATALOGUE",
    "CLASSIFIERS",
    "DEFAULT_METHOD",
    "ESTIMATORS",
    "FAMILIES",
    "METRIC_LEARNERS",
    "OTHER_INPUTS",
    "Entry",
    "all_clusterers",
    "blocked_methods",
    "by_family",
    "default_methods",
    "find_clusterer",
]

# What the command runs if no method is named, and what another method must be better than in a selection.
DEFAULT_METHOD = "boost"

# The families in the order of all lists, with their titles. Each is a module of mustlink and a page of the guide.
FAMILIES: Mapping[str, str] = {
    "boosting": "Boosting",
    "kmeans": "K-means",
    "sizes": "Sizes",
    "hierarchy": "Hierarchies",
    "density": "Density",
    "mixture": "Mixtures",
    "spectral": "Spectral clustering",
    "graph": "Graphs",
    "relational": "Entity resolution",
    "coclustering": "Co-clustering",
    "text": "Text",
    "alternative": "Alternative clusterings",
    "metric_learning": "Metric learning",
    "pairwise": "Classifiers from pairs",
}


@dataclass(frozen=True)
class Entry:
    """What is known about one class without importing it.

    Parameters
    ----------
    class_name : str
        The name of the class, also a public name of :mod:`mustlink`.
    module : str
        The public module it is imported from; its last part is the family.
    kind : {'hard', 'soft', 'none'}
        Whether it keeps every link or fails (hard), weighs links against the data (soft), or takes no links (none).
    pick_when : str
        When to pick it, in a sentence.
    aliases : tuple of str, default=()
        Short names for the command, the usual one first.
    speed : {'quick', 'slow'}, default='quick'
        Slow ones cluster many times; :func:`mustlink.selection.choose` tries them with few numbers of clusters.
    is_default : bool, default=False
        Whether :func:`mustlink.selection.choose` and ``--method auto`` try it when no methods are named.
    boosts : bool, default=False
        Whether its parameter `estimator` takes another clusterer.
    own_estimators : tuple of str, default=()
        Names that `estimator` takes as text.
    takes_graph : bool, default=False
        Whether `fit` takes edges between rows as `graph`.
    takes_known : bool, default=False
        Whether `fit` takes a split that is known already as `known`.

    Examples
    --------
    >>> from mustlink.catalogue import find_clusterer
    >>> entry = find_clusterer("pck")
    >>> entry.class_name, entry.family, entry.kind
    ('PCKMeans', 'kmeans', 'soft')
    """

    class_name: str
    module: str
    kind: Literal["hard", "soft", "none"]
    pick_when: str
    aliases: tuple[str, ...] = ()
    speed: Literal["quick", "slow"] = "quick"
    is_default: bool = False
    boosts: bool = False
    own_estimators: tuple[str, ...] = ()
    takes_graph: bool = False
    takes_known: bool = False

    @property
    def name(self) -> str:
        """The short name, or the name of the class in small letters if there is none."""
        return self.aliases[0] if self.aliases else self.class_name.lower()

    @property
    def takes_links(self) -> bool:
        """Whether `fit` takes links and partial labels."""
        return self.kind != "none"

    @property
    def takes_blocks(self) -> bool:
        """Whether `fit` takes rows in blocks, of files larger than memory."""
        return bool(getattr(self.load(), "_takes_blocks", False))

    @property
    def family(self) -> str:
        """The key of :data:`FAMILIES`."""
        return self.module.rpartition(".")[2]

    @property
    def input(self) -> str:
        """What `fit` takes: "table" or "counts", which are not negative; "sparse" if sparse input is not made dense."""
        tags = self.load()().__sklearn_tags__().input_tags
        return ("counts" if tags.positive_only else "table") + (", sparse" if tags.sparse else "")

    def load(self) -> type[Any]:
        """Import the class.

        Returns
        -------
        type
        """
        found: type[Any] = getattr(importlib.import_module(self.module), self.class_name)
        return found


# Within a family the first to try comes first.
CATALOGUE: tuple[Entry, ...] = (
    Entry(
        "RobustBoostCluster",
        "mustlink.boosting",
        "soft",
        "Start here. It learns from the links which columns matter, estimates which links are wrong and names them, "
        "and makes any clusterer follow the others.",
        aliases=("boost", "robust"),
        speed="slow",
        is_default=True,
        boosts=True,
        own_estimators=("auto",),
    ),
    Entry(
        "BoostedConstrainedKMeans",
        "mustlink.boosting",
        "soft",
        "You have many links, few of them wrong, and one run of k-means cannot keep them all. It can be stopped and "
        "continued.",
        aliases=("bckm",),
        speed="slow",
    ),
    Entry(
        "BoostBaseClustering",
        "mustlink.boosting",
        "soft",
        "You have labels for some rows, a clusterer of similarities such as affinity propagation, and at most a few "
        "thousand rows. It can find the number of clusters.",
        aliases=("bbc",),
        speed="slow",
        boosts=True,
        own_estimators=("affinity", "spectral", "average", "complete", "kmedoids"),
    ),
    Entry(
        "BoostCluster",
        "mustlink.boosting",
        "soft",
        "You want the published method, or all links are right and time is short: it needs a quarter of the runs. It "
        "trusts all links.",
        aliases=("boostcluster",),
        speed="slow",
        boosts=True,
    ),
    Entry(
        "DistBoost",
        "mustlink.boosting",
        "soft",
        "You want to compare with the literature: a distance boosted from Gaussian mixtures.",
        aliases=("distboost",),
        speed="slow",
    ),
    Entry(
        "PCKMeans",
        "mustlink.kmeans",
        "soft",
        "You need a fast answer, or all columns matter equally. A broken link costs a penalty.",
        aliases=("pck",),
        is_default=True,
    ),
    Entry(
        "COPKMeans",
        "mustlink.kmeans",
        "hard",
        "Every link is certain; fail rather than break one.",
        aliases=("cop",),
        is_default=True,
    ),
    Entry(
        "MPCKMeans",
        "mustlink.kmeans",
        "soft",
        "Columns have different units or some are noise. It learns column weights or a full metric, for all clusters "
        "or for each, and takes little longer than k-means.",
        aliases=("mpck",),
        is_default=True,
    ),
    Entry(
        "SeededKMeans",
        "mustlink.kmeans",
        "soft",
        "You know labels for some rows of every cluster. They give the first centers. In Python, constrained=True also "
        "keeps these rows in their clusters.",
        aliases=("seeded",),
    ),
    Entry(
        "LCVQE",
        "mustlink.kmeans",
        "soft",
        "You have very many links, some of them wrong, and many rows. A broken link pulls on the centers.",
        aliases=("lcvqe",),
    ),
    Entry(
        "HMRFKMeans",
        "mustlink.kmeans",
        "soft",
        "Rows are texts, counts or directions, compared by the cosine or by a divergence. Sparse tables stay sparse.",
        aliases=("hmrf",),
    ),
    Entry(
        "PriorityCOPKMeans",
        "mustlink.kmeans",
        "soft",
        "The weights of your links are an order of importance. Fast, and never fails.",
        aliases=("priority",),
    ),
    Entry(
        "KernelKMeans",
        "mustlink.kmeans",
        "soft",
        "Clusters are not convex, or all you have is a kernel.",
        aliases=("kernel",),
    ),
    Entry(
        "SizeConstrainedKMeans",
        "mustlink.sizes",
        "hard",
        "Clusters need a minimum or a maximum size, for all alike or for each. It keeps the sizes, and every link.",
        aliases=("sizes",),
    ),
    Entry(
        "BalancedClustering",
        "mustlink.sizes",
        "none",
        "Every cluster needs a minimum size, and the table is large or you have a clusterer of your own.",
        aliases=("balanced",),
        boosts=True,
    ),
    Entry(
        "SoftBalancedMixture",
        "mustlink.sizes",
        "none",
        "Clusters should have equal sizes in expectation, with probabilities: of numbers, directions or counts.",
        aliases=("soft-balanced",),
    ),
    Entry(
        "FrequencySensitiveKMeans",
        "mustlink.sizes",
        "none",
        "Clusters should have similar sizes, but need not: rows are texts or very many, or come as a stream.",
        aliases=("frequency",),
    ),
    Entry(
        "ExistentialKMeans",
        "mustlink.sizes",
        "none",
        "Every cluster needs enough rows of a kind, or a minimum count, sum, average, maximum or minimum of a column "
        "(in Python).",
        aliases=("existential",),
    ),
    Entry(
        "ConstrainedLinkage",
        "mustlink.hierarchy",
        "hard",
        "You want the whole tree of merges or a cut of it by distance, every link is certain, and there are at most "
        "about ten thousand rows.",
        aliases=("linkage",),
    ),
    Entry(
        "PartitionThenLink",
        "mustlink.hierarchy",
        "hard",
        "Clusters have irregular shapes, every link is certain, and there are too many rows for the whole tree.",
        aliases=("parts",),
    ),
    Entry(
        "SeededSingleLink",
        "mustlink.hierarchy",
        "soft",
        "You label rows one by one and want new clusters at once; clusters have irregular shapes and gaps "
        "between them.",
        aliases=("seeded-link",),
    ),
    Entry(
        "ConstrainedHDBSCAN",
        "mustlink.density",
        "hard",
        "Clusters have any shape, some rows are noise, and the number of clusters is unknown.",
        aliases=("hdbscan",),
    ),
    Entry(
        "ConstrainedGaussianMixture",
        "mustlink.mixture",
        "hard",
        "Every link is certain, clusters are ellipsoids of different shapes and sizes, or you want probabilities.",
        aliases=("constrained-mixture", "mixture"),
    ),
    Entry(
        "PenalizedGaussianMixture",
        "mustlink.mixture",
        "soft",
        "Links may be wrong or are of different certainty, or neighbors in time or space are mostly alike, and you "
        "want probabilities.",
        aliases=("penalized",),
    ),
    Entry(
        "MeanFieldMixture",
        "mustlink.mixture",
        "soft",
        "Links are few, or some are wrong, and ask for other ellipsoids than the data suggest.",
        aliases=("mean-field",),
        speed="slow",
    ),
    Entry(
        "FeedbackMixture",
        "mustlink.mixture",
        "soft",
        "Rows are texts or other counts, and you correct the clusters step by step: it learns from criticism which "
        "terms matter.",
        aliases=("feedback",),
    ),
    Entry(
        "SpectralLearning",
        "mustlink.spectral",
        "soft",
        "Clusters are rings, bands or branches, and links are few. Links become edges of the neighbor graph.",
        aliases=("speclearn",),
        boosts=True,
    ),
    Entry(
        "ConstraintPropagation",
        "mustlink.spectral",
        "soft",
        "As SpectralLearning, for many clusters or more links. Links also act on the neighbors of linked rows.",
        aliases=("e2cp",),
        boosts=True,
    ),
    Entry(
        "ConstrainedSpectral",
        "mustlink.spectral",
        "soft",
        "Clusters are rings, bands or branches, and you want to set how well the links are kept; best with two "
        "clusters.",
        aliases=("conspec",),
    ),
    Entry(
        "ConnectedKMeans",
        "mustlink.graph",
        "none",
        "Rows are nodes of a graph (people, papers, places), and clusters must be connected in it: k-means for that.",
        aliases=("connected-kmeans",),
        takes_graph=True,
    ),
    Entry(
        "NetScan",
        "mustlink.graph",
        "none",
        "Clusters must be connected in a graph, and no row may be far from the center of its cluster; also for very "
        "large graphs and with outliers.",
        aliases=("netscan",),
        takes_graph=True,
    ),
    Entry(
        "ConnectedKCenter",
        "mustlink.graph",
        "none",
        "As NetScan, with a bound on how far the result is from the best possible one; exact for few rows.",
        aliases=("connected-center",),
        takes_graph=True,
    ),
    Entry(
        "ResidualClustering",
        "mustlink.alternative",
        "none",
        "A split of the rows is known, and you want another one that it does not tell. Start here: any clusterer, on "
        "numbers without the means of the known classes; also for numbers that are known.",
        aliases=("residual",),
        boosts=True,
        own_estimators=("kmeans", "mixture"),
        takes_known=True,
    ),
    Entry(
        "CondEns",
        "mustlink.alternative",
        "none",
        "As ResidualClustering, also for sparse tables: any clusterer within the known classes, and a consensus of "
        "what it finds.",
        aliases=("condens",),
        boosts=True,
        own_estimators=("kmeans", "mixture", "multinomial"),
        takes_known=True,
    ),
    Entry(
        "CCIB",
        "mustlink.alternative",
        "none",
        "As ResidualClustering, for texts and other counts, if clusters lie in other columns in each known class, or "
        "if you want memberships. Slower.",
        aliases=("ccib",),
        takes_known=True,
    ),
)

# Clusterers whose input is not a table: signed advice between rows, partitions, or records with text. They are no
# choices of `--method`.
OTHER_INPUTS: tuple[Entry, ...] = (
    Entry(
        "CollectiveRelationalClustering",
        "mustlink.relational",
        "hard",
        "Rows are records with names, some of them of one person or thing, and records occur together: the authors of "
        "a paper, the people of a message.",
        aliases=("relational",),
    ),
    Entry(
        "CDKMeans",
        "mustlink.coclustering",
        "hard",
        "The table is zeros and ones (who bought what, which word is in which text), and you want groups of rows "
        "together with the groups of columns that describe them; links and orders of either side.",
        aliases=("cocluster",),
    ),
    Entry(
        "CorrelationClustering",
        "mustlink.graph",
        "hard",
        "All you know is of pairs: signed advice, the probabilities of a pair classifier, or links alone. It finds the "
        "number of clusters and says how far from the best it can be.",
    ),
    Entry(
        "ConsensusClustering",
        "mustlink.graph",
        "none",
        "You have several clusterings of the same rows, or categorical columns, and want the one that agrees best with "
        "all of them.",
    ),
    Entry(
        "TaxonomyClusterer",
        "mustlink.text",
        "none",
        "Rows are texts with categories that a person gave, and these fit badly: too fine, too coarse, or for other "
        "documents than the words suggest. It finds new ones around them, and their terms.",
        aliases=("taxonomy",),
    ),
)

# Transformers that learn a metric from links, to put before any clusterer in a pipeline.
METRIC_LEARNERS: tuple[Entry, ...] = (
    Entry("ITML", "mustlink.metric_learning", "soft", "Start here. Links of either kind, few or many, with weights."),
    Entry(
        "RCA", "mustlink.metric_learning", "soft", "You have more must-links than columns. Closed form, the fastest."
    ),
    Entry("DCA", "mustlink.metric_learning", "soft", "You have links of both kinds and want fewer columns."),
    Entry("MMC", "mustlink.metric_learning", "soft", "You want a weight for each column (diagonal=True)."),
    Entry(
        "CannotLinkMetric",
        "mustlink.metric_learning",
        "soft",
        "You only know which rows are different, as records under two names. Also with a kernel, or online with none.",
    ),
)

# Classifiers that learn from few labels and many links.
CLASSIFIERS: tuple[Entry, ...] = (
    Entry(
        "PairwiseLogisticRegression",
        "mustlink.pairwise",
        "soft",
        "You want to predict named classes and probabilities from labels of a few rows and links between many others; "
        "weights of links say how far to trust them.",
    ),
    Entry(
        "PairwiseSVC",
        "mustlink.pairwise",
        "soft",
        "As PairwiseLogisticRegression, with large margins instead of probabilities.",
    ),
)

# What boosting can be given by name: a class and its parameters; boosting sets the number of clusters.
ESTIMATORS: Mapping[str, tuple[str, str, Mapping[str, Any]]] = {
    "kmeans": ("sklearn.cluster", "KMeans", {"n_init": 3}),
    "spectral": ("sklearn.cluster", "SpectralClustering", {"affinity": "nearest_neighbors"}),
    "average": ("sklearn.cluster", "AgglomerativeClustering", {"linkage": "average"}),
    "complete": ("sklearn.cluster", "AgglomerativeClustering", {"linkage": "complete"}),
    "single": ("sklearn.cluster", "AgglomerativeClustering", {"linkage": "single"}),
    "ward": ("sklearn.cluster", "AgglomerativeClustering", {"linkage": "ward"}),
    "mixture": ("sklearn.mixture", "GaussianMixture", {"reg_covar": 1e-3}),
    "birch": ("sklearn.cluster", "Birch", {}),
    "hdbscan": ("sklearn.cluster", "HDBSCAN", {"copy": True}),
    "affinity": ("sklearn.cluster", "AffinityPropagation", {}),
}


def find_clusterer(name: str) -> Entry:
    """Find a clusterer by the name of its class or by an alias, in any case.

    Parameters
    ----------
    name : str
        Such as ``PCKMeans`` or ``pck``.

    Returns
    -------
    Entry
        The entry of that name.

    Raises
    ------
    OptionError
        If there is none of that name.

    Examples
    --------
    >>> from mustlink.catalogue import find_clusterer
    >>> find_clusterer("copkmeans").class_name
    'COPKMeans'
    >>> find_clusterer("k-means")
    Traceback (most recent call last):
        ...
    mustlink.errors.OptionError: There is no method 'k-means'; the methods are boost, bckm, bbc, ...
    """
    for entry in CATALOGUE:
        if name.lower() in (entry.class_name.lower(), *entry.aliases):
            return entry
    known = ", ".join(entry.name for entry in CATALOGUE)
    raise OptionError(f"There is no method {name!r}; the methods are {known}.")


def all_clusterers() -> list[tuple[str, type[Any]]]:
    """Import every clusterer.

    Returns
    -------
    list of (str, type)
        The names of the classes and the classes, in the order of the catalogue.

    Examples
    --------
    >>> from mustlink.catalogue import all_clusterers
    >>> "PCKMeans" in dict(all_clusterers())
    True
    """
    return [(entry.class_name, entry.load()) for entry in CATALOGUE]


def by_family() -> dict[str, list[Entry]]:
    """Group the clusterers by family.

    Returns
    -------
    dict of str to list of Entry
        Keys and order are those of :data:`FAMILIES`; families without a clusterer are left out.

    Examples
    --------
    >>> from mustlink.catalogue import by_family
    >>> [entry.class_name for entry in by_family()["density"]]
    ['ConstrainedHDBSCAN']
    """
    groups = {family: [entry for entry in CATALOGUE if entry.family == family] for family in FAMILIES}
    return {family: entries for family, entries in groups.items() if entries}


def default_methods() -> list[str]:
    """List the methods that a choice tries when none are named, the simplest first.

    Returns
    -------
    list of str
        Short names, the quick methods before the slow ones.

    Examples
    --------
    >>> from mustlink.catalogue import default_methods
    >>> default_methods()
    ['pck', 'cop', 'mpck', 'boost']
    """
    chosen = [entry for entry in CATALOGUE if entry.is_default]
    return [entry.name for entry in sorted(chosen, key=lambda entry: entry.speed == "slow")]


def blocked_methods() -> list[str]:
    """List the methods that take rows in blocks, of files larger than memory.

    Returns
    -------
    list of str
        Short names, in the order of the catalogue.

    Examples
    --------
    >>> from mustlink.catalogue import blocked_methods
    >>> "pck" in blocked_methods(), "hdbscan" in blocked_methods()
    (True, False)
    """
    return [entry.name for entry in CATALOGUE if entry.takes_blocks]
