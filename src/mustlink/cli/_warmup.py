"""``mustlink warmup``: compile everything now instead of at its first use."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from mustlink.cli._errors import report_errors
from mustlink.cli._options import Debug

__all__ = ["warmup"]


@report_errors
def warmup(debug: Debug = False) -> None:
    """Compile all numerical code now instead of at its first use.

    Useful once after installing, or while building an image. Exit code 0, or 2 when the command is mistyped.
    """
    from mustlink._progress import progress
    from mustlink.cli._show import print_line

    started = time.perf_counter()
    steps = [*_constraint_steps(), *_clusterer_steps(), *_boosting_steps()]
    with progress(len(steps), "Compiling", shown=sys.stderr.isatty(), stderr=True) as advance:
        for place, (description, step) in enumerate(steps):
            advance(place, description)
            with warnings.catch_warnings():
                # What a clusterer says of so small a table does not matter.
                warnings.simplefilter("ignore")
                step()
    print_line(f"Compiled in {time.perf_counter() - started:.1f} s.")
    folders = _cache_folders()
    if folders:
        print_line("The compiled code is kept in " + " and ".join(folders), whole=True)
    else:
        print_line("No folder for the compiled code can be written, so every process compiles it again.")


def _use_studio() -> None:
    """Exercise what the studio has compiled: instant groups, and a layout in which two rows are at one place."""
    import numpy as np

    from mustlink.studio import Engine, Link, SpringLayout

    Engine(np.random.default_rng(0).normal(size=(24, 3))).apply(Link(0, 5, together=False))
    layout = SpringLayout(24, [(0, 1)], positions=np.arange(48).reshape(24, 2) // 4 * 4)
    layout.pin({0: (0.0, 0.0)})
    layout.settle(np.zeros(24, dtype=np.int64))
    layout.forces()


def _constraint_steps() -> Iterator[tuple[str, Callable[[], object]]]:
    """Exercise what the links themselves have compiled."""
    import numpy as np

    from mustlink.constraints import Constraints

    # One set of links for each step of the feasibility ladder: a ring of odd length for two clusters, four rows all
    # apart for three, and a wheel, which three clusters cannot keep and only the search finds out.
    ring = [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)]
    ladder = {
        "ring": (2, Constraints(cannot_link=ring)),
        "clique": (3, Constraints(cannot_link=[(a, b) for a in range(4) for b in range(a)])),
        "wheel": (3, Constraints(cannot_link=[*ring, *((5, spoke) for spoke in range(5))])),
    }
    torn = Constraints(must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2), (3, 4)])
    X = np.random.default_rng(0).normal(size=(8, 2))
    yield "closure", lambda: torn.closure(8).graph()
    yield "conflicts", lambda: [conflict.chain for conflict in torn.conflicts()]
    for name, (n_clusters, links) in ladder.items():
        yield f"feasible, {name}", partial(links.feasible, n_clusters, 8)
    yield "coherence", partial(torn.coherence, X)
    yield from _inference_steps()


def _inference_steps() -> Iterator[tuple[str, Callable[[], object]]]:
    """Exercise every way of inference on links: on a tree, a clique, a ring, and rings of hard and soft links."""
    import numpy as np

    from mustlink.constraints import Constraints
    from mustlink.inference import LinkInference

    # So strong that exponentials of it underflow, which takes more code.
    evidence = np.random.default_rng(0).normal(scale=1000.0, size=(8, 3))
    graphs = {
        "tree": Constraints(must_link=[(0, 1), (1, 2)], cannot_link=[(1, 3)]),
        "clique": Constraints(cannot_link=[(0, 1), (1, 2), (0, 2)]),
        "ring": Constraints(must_link=[(0, 1), (1, 2)], cannot_link=[(2, 3), (0, 3)]),
    }
    for name, links in graphs.items():
        for penalty in (1.0, np.inf):
            graph = links.adjacency(8)
            plan = partial(LinkInference.plan, graph, np.full(len(links), penalty), 3, random_state=0)
            for beyond in ("tree", "mean_field", "gibbs", "bp"):
                if beyond == "bp" and penalty == np.inf:
                    continue
                inference = plan(exact=beyond == "tree", beyond=beyond)
                yield f"inference, {name}, {beyond}, {penalty}", partial(inference.marginals, evidence)
                yield f"best labeling, {name}, {beyond}, {penalty}", partial(inference.best_labeling, evidence)


def _clusterer_steps() -> Iterator[tuple[str, Callable[[], object]]]:
    """Exercise every clusterer on every kind of table it takes."""
    import numpy as np
    from scipy import sparse

    from mustlink.catalogue import all_clusterers
    from mustlink.constraints import Constraints
    from mustlink.kmeans import PCKMeans

    rows = np.random.default_rng(0).normal(size=(24, 3))
    for name, clusterer in all_clusterers():
        for dtype in (np.float64, np.float32):
            tags = clusterer().__sklearn_tags__().input_tags
            given = np.abs(rows.astype(dtype)) if tags.positive_only else rows.astype(dtype)
            tables: list[Any] = [given, sparse.csr_matrix(given)] if tags.sparse else [given]
            for X in tables:
                kind = "sparse" if sparse.issparse(X) else "dense"
                yield f"{name}, {np.dtype(dtype)}, {kind}", partial(_exercise, clusterer, X)
                if "approximation" in clusterer().get_params():
                    features = partial(_exercise, clusterer, X, approximation="nystroem")
                    yield f"{name}, features, {np.dtype(dtype)}, {kind}", features
                if "enforce" in clusterer().get_params():
                    yield f"{name}, soft, {np.dtype(dtype)}, {kind}", partial(_exercise, clusterer, X, enforce="soft")
    apart = Constraints.from_groups(np.arange(24) // 3)
    yield "groups", lambda: PCKMeans(3, max_iter=3, random_state=0).fit(rows, constraints=apart)
    yield from _size_steps(rows)
    yield "publish", _publish_small
    yield from _density_steps(rows)
    yield from _hierarchy_steps()
    yield from _existential_steps(rows)
    yield from _graph_steps(rows)
    yield from _relational_steps()
    yield from _signed_steps()
    yield from _metric_steps(rows)
    yield from _classifier_steps(rows)
    yield from _alternative_steps(rows)
    yield "co-clustering", _cocluster_small
    yield "studio", _use_studio


def _metric_steps(rows: Any) -> Iterator[tuple[str, Callable[[], object]]]:
    """Exercise the metric from cannot-links with its matrix, on dense and sparse rows, and with products of pairs."""
    from scipy import sparse

    from mustlink.constraints import Constraints
    from mustlink.metric_learning import CannotLinkMetric

    many, few = ([(row, row + 7) for row in range(n_pairs)] for n_pairs in (12, 2))
    for kind, X in (("dense", rows), ("sparse", sparse.csr_matrix(rows))):
        metric = CannotLinkMetric(max_iter=20)
        yield f"cannot-link metric, {kind}", partial(metric.fit, X, constraints=Constraints(cannot_link=many))
    yield "cannot-link metric, few pairs", partial(metric.fit, rows, constraints=Constraints(cannot_link=few))


def _alternative_steps(rows: Any) -> Iterator[tuple[str, Callable[[], object]]]:
    """Exercise the moves of single rows, of points and of counts."""
    import numpy as np

    from mustlink.alternative import CCIB

    for model in ("gaussian", "multinomial"):
        moved = CCIB(3, model=model, method="sequential", n_init=1, random_state=0)
        yield f"moves, {model}", partial(moved.fit, np.abs(rows), known=np.arange(24) % 2)


def _classifier_steps(rows: Any) -> Iterator[tuple[str, Callable[[], object]]]:
    """Exercise the support vector machine on dense and sparse rows."""
    import numpy as np
    from scipy import sparse

    from mustlink.constraints import Constraints
    from mustlink.pairwise import PairwiseSVC

    links = Constraints(must_link=[(0, 4)], cannot_link=[(1, 5)])
    labels = np.where(np.arange(24) < 4, np.arange(24) % 2, -1)
    for kind, X in (("dense", rows), ("sparse", sparse.csr_matrix(rows))):
        model = PairwiseSVC(kernel="linear", max_iter=3)
        yield f"support vectors, {kind}", partial(model.fit, X, labels, constraints=links)


def _relational_steps() -> Iterator[tuple[str, Callable[[], object]]]:
    """Exercise the clustering of records that occur together, on similarities, which need no further package."""
    import numpy as np

    from mustlink.constraints import Constraints
    from mustlink.relational import CollectiveRelationalClustering

    near = 1 - np.abs(np.subtract.outer(np.arange(12), np.arange(12))) / 12
    links = Constraints(must_link=[(0, 1), (4, 5)], cannot_link=[(0, 11)])
    runs: list[tuple[Any, float]] = [("cr", 0.0), ("cr", 0.5), ("nr*", 0.0)]
    for method, second in runs:
        options: dict[str, Any] = {"method": method, "second_neighbors": second}
        model = CollectiveRelationalClustering("links", similarity="precomputed", **options)
        yield f"records, {method}, {second}", partial(model.fit, near, groups=np.arange(12) % 4, constraints=links)


def _cocluster_small() -> None:
    """Exercise the search for formal concepts with links and gaps, and all ways to cluster bi-sets."""
    import numpy as np

    from mustlink.coclustering import CDKMeans, formal_concepts
    from mustlink.constraints import Constraints

    X = np.random.default_rng(0).integers(2, size=(24, 6))
    X[:, 0], X[0] = 1, 1
    links = Constraints(cannot_link=[(1, 2)])
    options: dict[str, Any] = {"init": "k-means++", "on_infeasible": "relax", "contiguous": "both", "random_state": 0}
    CDKMeans(2, row_max_gap=20, column_max_gap=5, **options).fit(X, row_constraints=links)
    CDKMeans(2, bisets=formal_concepts(X), row_max_gap=20, **options).fit(X)


def _size_steps(rows: Any) -> Iterator[tuple[str, Callable[[], object]]]:
    """Exercise what the clusterers with sizes have compiled beyond their defaults."""
    import numpy as np

    from mustlink._rows import RowBlocks
    from mustlink.blocks import FileRows
    from mustlink.constraints import Constraints
    from mustlink.kmeans import PriorityCOPKMeans
    from mustlink.sizes import BalancedClustering, SizeConstrainedKMeans, assign, assign_linked

    # Costs of which all rows want the first cluster, so that most have to move.
    costs = rows - rows.min() + np.array([0.0, 10.0, 20.0])
    conditions: dict[str, dict[str, Any]] = {
        "sizes": {},
        "weights": {"weights": np.arange(1.0, 25.0), "size_min": 90},
        "pivots": {"pivots": np.arange(24) < 12, "pivot_min": 4},
        "groups": {"apart": np.arange(24) // 3},
    }
    for dtype in ("float32", "float64"):
        for name, given in conditions.items():
            yield f"assign, {name}, {dtype}", partial(assign, costs.astype(dtype), **({"size_min": 7} | given))
        blocks = FileRows(rows.astype(dtype))
        yield f"rows in blocks, {dtype}", partial(PriorityCOPKMeans(3, random_state=0).fit, blocks)
        large = RowBlocks(rows.astype(dtype))
        yield f"sizes of large tables, {dtype}", partial(large.assign_priced, rows[:3], np.ones(24), np.zeros(3))
    # Components fill the clusters without slack, which takes moves of components.
    links = Constraints(must_link=[(row, row + 1) for row in range(0, 24, 2)], cannot_link=[(0, 2), (0, 4)])
    yield "assign, links", partial(assign_linked, costs, links, size_min=8, exact=False)
    # With such a tolerance the first iteration is the last, and leaves moves and swaps to do.
    polished = SizeConstrainedKMeans(3, polish=True, size_min=6, tol=10.0, random_state=0)
    yield "sizes, polish", partial(polished.fit, rows)
    yield "balanced, moves", partial(_exercise, BalancedClustering, rows, refine="moves", balance=1.0)


def _publish_small() -> None:
    """Exercise what publishing has compiled."""
    import numpy as np
    import pandas as pd

    from mustlink.sizes import publish

    # So many rows that some of them move and some change places.
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["x", "y"]).assign(s=[0, 1] * 30)
    publish(frame, quasi_identifiers=["x", "y"], sensitive="s", k=3, l=2)


def _density_steps(rows: Any) -> Iterator[tuple[str, Callable[[], object]]]:
    """Exercise what HDBSCAN has compiled for many rows, on a few."""
    from mustlink.density import ConstrainedHDBSCAN

    class InBlocks(ConstrainedHDBSCAN):
        _max_rows_at_once = 0

    yield "hdbscan, many rows", partial(_exercise, InBlocks, rows)


def _hierarchy_steps() -> Iterator[tuple[str, Callable[[], object]]]:
    """Exercise what the linkages have compiled beyond their defaults."""
    import numpy as np

    from mustlink.constraints import Constraints
    from mustlink.hierarchy import ConstrainedLinkage, SeededSingleLink

    # Rows 0 and 3 must share one of three clusters, and 4, which is nearest to 0, can join neither.
    X = np.array([[0.0, 0.0], [3.0, 1.0], [6.0, 2.0], [9.0, 1.0], [0.5, 0.0], [2.0, 7.0]])
    diamond = Constraints(must_link=[(1, 5)], cannot_link=[(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (3, 4)])

    def relax() -> None:
        for size_max in (None, 2):
            ConstrainedLinkage(2, size_max=size_max, on_infeasible="relax").fit(X, constraints=diamond)

    yield "linkage, look ahead", lambda: ConstrainedLinkage(3).fit(X, constraints=diamond)
    yield "linkage, paths", lambda: ConstrainedLinkage(3, propagation="klein").fit(X, constraints=diamond)
    yield "linkage, relaxed", relax
    yield "spanning tree, all pairs", lambda: SeededSingleLink(algorithm="prim").fit(X, constraints=diamond)


def _existential_steps(rows: Any) -> Iterator[tuple[str, Callable[[], object]]]:
    """Exercise moves of pivots under tight constraints, checked sums, and micro-clusters."""
    from mustlink.sizes import ExistentialKMeans

    moved = partial(ExistentialKMeans, method="pivot", random_state=0)
    for heuristic in ("random", "lookahead"):
        checked = moved(3, heuristic=heuristic, aggregates="sum(x0) >= -100", init=rows[:3])
        yield f"moves, {heuristic}", partial(checked.fit, rows)
    for dtype in ("float32", "float64"):
        # Exactly as many rows as are needed, and a start from which a cycle is found.
        shared = moved(4, pivot_min=6, micro_radius=0.5, init=rows[1:5])
        yield f"micro-clusters, {dtype}", partial(shared.fit, rows.astype(dtype))


def _graph_steps(rows: Any) -> Iterator[tuple[str, Callable[[], object]]]:
    """Exercise growth along edges, continuously and by rounds, and clusters that are made disjoint."""
    import numpy as np

    from mustlink.graph import ConnectedKCenter, NetScan

    # A path on which rows without another edge hang, so that some of them decide between clusters.
    graph = np.eye(24, k=1) * (np.arange(24) < 12)[:, None]
    graph[np.arange(12), np.arange(12, 24)] = 1
    graph += graph.T
    for step in ("continuous", "published"):
        yield f"netscan, {step}", partial(NetScan(3, step=step, max_iter=2, random_state=0).fit, rows, graph=graph)
    center = ConnectedKCenter(3, solver="approx", random_state=0)
    yield "connected k-center", partial(center.fit, rows, graph=graph)


def _signed_steps() -> Iterator[tuple[str, Callable[[], object]]]:
    """Exercise local search and bounds on signed graphs, with and without rules, and the consensus of clusterings."""
    import numpy as np
    from scipy.sparse import csr_array

    from mustlink.constraints import Constraints
    from mustlink.graph import ConsensusClustering, CorrelationClustering

    rng = np.random.default_rng(0)
    upper = np.triu(rng.normal(size=(24, 24)) * (rng.random((24, 24)) < 0.4), 1)
    signed = csr_array(upper + upper.T)
    links = Constraints(must_link=[(0, 1)], cannot_link=[(1, 2)])
    labels = rng.integers(3, size=(24, 4))

    def cluster(missing: Any) -> None:
        model = CorrelationClustering("auto", missing=missing, random_state=0)
        model.fit(signed, constraints=links, sources=np.arange(24) % 5)

    yield "correlation clustering", partial(cluster, "neutral")
    yield "correlation clustering, missing pairs", partial(cluster, "negative")
    yield "consensus", lambda: ConsensusClustering(random_state=0).fit(labels)
    # Some rows join the clusters of a sample, and the linear program needs all pairs of them.
    sampled = ConsensusClustering("lp_pivot", sample_size=5, random_state=0)
    yield "consensus, sample", partial(sampled.fit, labels)


def _boosting_steps() -> Iterator[tuple[str, Callable[[], object]]]:
    """Exercise what boosting has compiled beyond the defaults of its clusterers."""
    import numpy as np

    from mustlink.boosting import BoostBaseClustering, CoAssociation
    from mustlink.constraints import Constraints

    codes = np.random.default_rng(0).integers(3, size=(24, 4))
    kernel = CoAssociation(codes, np.ones(4))
    X = codes.astype(float) + np.linspace(0, 1, 24)[:, None]
    links = Constraints(must_link=[(0, 1), (1, 2)], cannot_link=[(0, 5)])
    medoids = BoostBaseClustering("kmedoids", 3, consensus="components", n_rounds=2, random_state=0)
    yield "co-association, pairs", lambda: kernel.at(links.must_link)
    yield "co-association, components", lambda: kernel.components(2.0)
    yield "co-association, eigenvectors", lambda: kernel.eigenvectors(2)
    yield "k-medoids", lambda: medoids.fit(X, constraints=links)


def _exercise(clusterer: type[Any], X: Any, **parameters: Any) -> None:
    """Fit a clusterer with links and labels and ask it all it can answer."""
    import numpy as np

    from mustlink._estimators import count_parameter, takes_links
    from mustlink.constraints import Constraints

    # Cannot-links that make a tree, and a ring of four, which is neither tree nor clique.
    tree = Constraints(must_link=[(0, 1), (1, 2)], cannot_link=[(0, 5), (5, 6), (7, 8)])
    ring = tree + Constraints(cannot_link=[(10, 11), (11, 12), (12, 13), (10, 13)])
    y = np.full(X.shape[0], -1)
    y[[14, 15, 16, 17]] = 0, 0, 1, 2
    given: list[dict[str, Any]] = [{}]
    if takes_links(clusterer()):
        given += [{"constraints": tree}, {"y": y, "constraints": ring}, {"constraints": ring}]
    known = clusterer().get_params()
    few = {
        count_parameter(clusterer()) or "n_clusters": 3,
        "max_iter": 3,
        "n_rounds": 2,
        "n_trials": 2,
        "random_state": 0,
    }
    settings = {name: value for name, value in few.items() if name in known} | parameters
    for keywords in given:
        fitted = clusterer(**settings).fit(X, **keywords)
    for order in ("given", "random", "degeneracy") if "order" in known else ():
        clusterer(order=order, **settings).fit(X, constraints=ring)
    for question in ("predict", "transform", "score"):
        if hasattr(fitted, question):
            getattr(fitted, question)(X)


def _cache_folders() -> list[str]:
    """Ask the compiled functions where they are kept."""
    from numba.core.dispatcher import Dispatcher

    folders = {
        value.stats.cache_path
        for name, module in list(sys.modules.items())
        if name.startswith("mustlink.")
        for value in vars(module).values()
        if isinstance(value, Dispatcher)
    }
    return sorted(folder for folder in folders if folder)
