"""ConstrainedHDBSCAN: scikit-learn's labels without links, the optimum with soft links, all hard links satisfied."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.cluster import HDBSCAN
from sklearn.datasets import make_blobs

from mustlink import ConstrainedHDBSCAN, Constraints
from mustlink.density import _hdbscan, _reachability
from mustlink.density._condensed_tree import CondensedTree
from mustlink.density._selection import ComponentGraph, nodes_with_conflicts
from mustlink.errors import InfeasibleError, InfeasibleWarning
from mustlink.metrics import adjusted_rand
from reference.condensed_tree import SlowTree, objective

seeds = st.integers(0, 2**31 - 1)


def random_table(seed: int, n_rows: int, *, equal_rows: bool = False) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, rng.integers(1, 4)))
    X += rng.integers(4, size=(n_rows, 1)) * rng.choice([0.0, 2.0, 6.0])
    return np.round(X * rng.choice([1, 3])) if equal_rows else X


def random_links(seed: int, n_rows: int, n_pairs: int) -> Constraints:
    """Links sampled from three classes, hence without contradictions, with random weights."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(3, size=n_rows)
    pairs = rng.integers(n_rows, size=(n_pairs, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = classes[pairs[:, 0]] == classes[pairs[:, 1]]
    return Constraints(pairs[same], pairs[~same], must_link_weight=rng.uniform(0.5, 2, size=same.sum()))


def condensed(X: NDArray[np.float64], min_cluster_size: int) -> CondensedTree:
    model = HDBSCAN(min_cluster_size=min_cluster_size, copy=True).fit(X)
    return CondensedTree.from_single_linkage(model._single_linkage_tree_, min_cluster_size)


@settings(max_examples=60, deadline=None)
@given(
    seeds,
    st.integers(6, 90),
    st.booleans(),
    st.integers(2, 6),
    st.sampled_from(["eom", "leaf"]),
    st.booleans(),
    st.sampled_from([None, None, 4, 20]),
)
def test_without_links_labels_are_those_of_scikit_learn(
    seed: int, n_rows: int, equal_rows: bool, size: int, method: Any, single: bool, largest: int | None
) -> None:
    X = random_table(seed, n_rows, equal_rows=equal_rows)
    settings_ = {
        "min_cluster_size": size,
        "cluster_selection_method": method,
        "allow_single_cluster": single,
        "max_cluster_size": largest,
    }
    results = [ConstrainedHDBSCAN(enforce=kind, **settings_).fit(X) for kind in ("hard", "soft")]
    try:
        expected = HDBSCAN(copy=True, **settings_).fit(X)
    except KeyError:
        # scikit-learn 1.9 fails where all rows form one cluster that is allowed, but larger than allowed.
        reject()
    for found in results:
        np.testing.assert_array_equal(found.labels_, expected.labels_)
        np.testing.assert_array_equal(found.probabilities_, expected.probabilities_)


@pytest.mark.parametrize("parameters", [{"metric": "manhattan"}, {"alpha": 1.3}, {"min_samples": 2}])
@pytest.mark.parametrize("algorithm", ["kd_tree", "ball_tree"])
def test_parameters_of_the_hierarchy_are_those_of_scikit_learn(parameters: dict[str, Any], algorithm: Any) -> None:
    X = random_table(3, 80)
    expected = HDBSCAN(algorithm=algorithm, copy=True, **parameters).fit(X)
    found = ConstrainedHDBSCAN(algorithm=algorithm, **parameters).fit(X)
    np.testing.assert_array_equal(found.labels_, expected.labels_)


@settings(max_examples=100, deadline=None)
@given(
    seeds,
    st.integers(8, 24),
    st.integers(1, 14),
    st.sampled_from(["eom", "single", "equal rows", "leaf"]),
    st.sampled_from([0.05, 0.5, 1.0, 20.0]),
)
def test_soft_links_reach_the_optimum_over_all_selections(
    seed: int, n_rows: int, n_pairs: int, kind: str, penalty: float
) -> None:
    X, links = random_table(seed, n_rows, equal_rows=kind == "equal rows"), random_links(seed, n_rows, n_pairs)
    if links.is_empty:
        return
    found = ConstrainedHDBSCAN(
        2,
        enforce="soft",
        penalty=penalty,
        allow_single_cluster=kind == "single",
        cluster_selection_method="leaf" if kind == "leaf" else "eom",
    ).fit(X, constraints=links)
    edges = found.condensed_tree_.copy()
    # The distance of equal rows is replaced by the smallest positive one.
    finite = edges["value"][np.isfinite(edges["value"])]
    edges["value"] = np.minimum(edges["value"], finite.max() if finite.size else 1.0)
    tree = SlowTree(edges)
    allowed = set(tree.nodes) - (set() if kind == "single" else {tree.root})
    choices = list(tree.choices(tree.root, allowed))
    value_of = {node: float(not tree.children(node)) for node in tree.nodes} if kind == "leaf" else tree.stability
    best = max(sum(value_of[node] for node in choice) for choice in choices) or 1.0
    value_of = {node: value / best for node, value in value_of.items()}
    values = [objective(tree, choice, value_of, links, penalty) for choice in choices]
    reached = [value for value, c in zip(values, choices, strict=True) if np.array_equal(tree.labels(c), found.labels_)]
    assert reached
    assert max(reached) == pytest.approx(max(values), abs=1e-9)
    assert found.violations_ == links.violations(found.labels_)


@settings(max_examples=60, deadline=None)
@given(
    seeds, st.integers(8, 80), st.integers(1, 60), st.integers(2, 6), st.sampled_from(["eom", "leaf"]), st.booleans()
)
def test_hard_links_are_all_satisfied(
    seed: int, n_rows: int, n_pairs: int, size: int, method: Any, single: bool
) -> None:
    X, links = random_table(seed, n_rows, equal_rows=seed % 3 == 0), random_links(seed, n_rows, n_pairs)
    model = ConstrainedHDBSCAN(size, cluster_selection_method=method, allow_single_cluster=single)
    model.fit(X, constraints=links)
    assert links.satisfied(model.labels_).all()
    assert model.violations_.is_empty
    assert model.n_clusters_ == len(set(model.labels_.tolist()) - {-1})
    assert set(model.labels_.tolist()) - {-1} == set(range(model.n_clusters_))
    assert np.isfinite(model.probabilities_).all()
    assert (model.probabilities_[model.labels_ == -1] == 0).all()


@settings(max_examples=40, deadline=None)
@given(seeds, st.integers(8, 60), st.integers(1, 30))
def test_nodes_with_conflicts_have_an_entailed_cannot_link_inside(seed: int, n_rows: int, n_pairs: int) -> None:
    tree, links = condensed(random_table(seed, n_rows), 2), random_links(seed, n_rows, n_pairs)
    slow, entailed = SlowTree(tree.edges), links.closure(n_rows).explicit().cannot_link.tolist()
    conflict = nodes_with_conflicts(tree, ComponentGraph(links.closure(n_rows)))
    for node in slow.nodes[1:]:
        inside = set(slow.rows[node])
        assert conflict[node - n_rows] == any(a in inside and b in inside for a, b in entailed)


@settings(max_examples=40, deadline=None)
@given(seeds, st.integers(10, 24), st.integers(1, 4))
def test_hard_cannot_links_select_the_most_stable_nodes_without_conflict(seed: int, n_rows: int, n_pairs: int) -> None:
    X = random_table(seed, n_rows)
    pairs = np.random.default_rng(seed).integers(n_rows, size=(n_pairs, 2))
    links = Constraints(cannot_link=pairs[pairs[:, 0] != pairs[:, 1]])
    found = ConstrainedHDBSCAN(2).fit(X, constraints=links)
    tree = SlowTree(found.condensed_tree_)
    apart = [tuple(pair) for pair in links.cannot_link.tolist()]
    for leaf in tree.nodes[1:]:
        if not tree.children(leaf):
            tree.trim(leaf, apart)
    whole = {
        node
        for node in tree.nodes[1:]
        if not any(a in tree.rows[node] and b in tree.rows[node] for a, b in apart) and len(tree.rows[node]) >= 2
    }
    choices = list(tree.choices(tree.root, whole))
    stable = [sum(tree.stability[node] for node in choice) for choice in choices]
    reached = [s for s, c in zip(stable, choices, strict=True) if np.array_equal(tree.labels(c), found.labels_)]
    assert reached
    assert max(reached) == pytest.approx(max(stable))


def blobs(*centers: float, n_rows: int = 12) -> NDArray[np.float64]:
    """Rows on a line, dense around each center, and an outlier at the end."""
    spread = np.linspace(-1, 1, n_rows) ** 3
    return np.concatenate([*(center + spread for center in centers), [1000.0]])[:, None]


def test_a_must_link_joins_two_clusters() -> None:
    X = blobs(0, 10, 30)
    plain = ConstrainedHDBSCAN().fit(X)
    assert plain.n_clusters_ == 3
    joined = ConstrainedHDBSCAN().fit(X, constraints=Constraints(must_link=[(0, 35)]))
    assert joined.n_clusters_ == 2
    assert joined.labels_[0] == joined.labels_[24] != joined.labels_[12]


def test_only_linked_rows_move_if_joining_violates_a_cannot_link() -> None:
    X = blobs(0, 10, 30)
    links = Constraints(must_link=[(0, 1), (1, 35)], cannot_link=[(5, 30)])
    model = ConstrainedHDBSCAN().fit(X, constraints=links)
    assert model.n_clusters_ == 3
    assert model.labels_[35] == model.labels_[0] != model.labels_[30]
    assert model.probabilities_[35] == 0.0
    assert model.probabilities_[0] > 0.0


def test_noise_follows_hard_must_links_only() -> None:
    X = blobs(0, 10)
    assert ConstrainedHDBSCAN().fit(X).labels_[24] == -1
    pulled = ConstrainedHDBSCAN().fit(X, constraints=Constraints(must_link=[(3, 24)]))
    assert pulled.labels_[24] == pulled.labels_[3] >= 0
    soft = ConstrainedHDBSCAN(enforce="soft").fit(X, constraints=Constraints(must_link=[(3, 24)]))
    assert soft.labels_[24] == -1
    assert soft.violations_ == Constraints(must_link=[(3, 24)])


def test_must_linked_noise_becomes_a_cluster() -> None:
    X = np.concatenate([blobs(0, 10), [[-500.0]]])
    model = ConstrainedHDBSCAN().fit(X, constraints=Constraints(must_link=[(24, 25)]))
    assert model.n_clusters_ == 3
    assert (model.labels_ == model.labels_[24]).sum() == 2


def test_a_leaf_with_a_cannot_link_drops_the_row_that_leaves_sooner() -> None:
    X = blobs(0, 10)
    plain = ConstrainedHDBSCAN().fit(X)
    links = Constraints(cannot_link=[(0, 5)])
    model = ConstrainedHDBSCAN().fit(X, constraints=links)
    assert model.labels_[0] == -1
    np.testing.assert_array_equal(np.delete(model.labels_, 0), np.delete(plain.labels_, 0))


def test_a_chain_of_must_links_makes_one_cluster_of_all() -> None:
    X = random_table(1, 40)
    model = ConstrainedHDBSCAN().fit(X, constraints=Constraints(must_link=list(pairwise(range(40)))))
    assert (model.labels_ == 0).all()


def test_contradictions_raise_or_warn() -> None:
    X = blobs(0, 10)
    links = Constraints(must_link=[(0, 1), (1, 14)], cannot_link=[(0, 14)])
    with pytest.raises(InfeasibleError, match=r"0.*14") as raised:
        ConstrainedHDBSCAN().fit(X, constraints=links)
    assert raised.value.pairs == [(0, 14)]
    with pytest.warns(InfeasibleWarning, match="1 of 1 cannot-link,"):
        model = ConstrainedHDBSCAN(on_infeasible="relax").fit(X, constraints=links)
    assert model.violations_ == Constraints(cannot_link=[(0, 14)])


def test_links_separate_blobs_joined_by_a_bridge() -> None:
    X, blob = make_blobs(300, centers=[(0, 0), (3, 0), (12, 0)], cluster_std=0.7, random_state=0)
    links = Constraints.sample(blob, n_pairs=60, random_state=0)
    plain, hard = (ConstrainedHDBSCAN(8).fit(X, constraints=given_).labels_ for given_ in (None, links))
    assert adjusted_rand(blob, hard) > adjusted_rand(blob, plain) + 0.1
    apart = Constraints(cannot_link=links.cannot_link)
    soft = ConstrainedHDBSCAN(8, enforce="soft", penalty=20.0).fit(X, constraints=apart).labels_
    assert adjusted_rand(blob, soft) > adjusted_rand(blob, plain) + 0.1
    assert apart.violation_rate(soft) < apart.violation_rate(plain)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"metric": "precomputed"}, "metric"),
        ({"metric": "cosine"}, "metric"),
        ({"min_cluster_size": 1}, "min_cluster_size"),
        ({"min_samples": 41}, r"from 41 rows, and the table has 40; reduce min_samples"),
        ({"enforce": "firm"}, "enforce"),
        ({"penalty": -1.0}, "penalty"),
    ],
)
def test_wrong_parameters_are_refused(parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        ConstrainedHDBSCAN(**parameters).fit(random_table(0, 40))


@pytest.mark.parametrize("parameters", [{}, {"alpha": 0.7, "min_samples": 2}, {"algorithm": "ball_tree"}])
@pytest.mark.parametrize("decimals", [1, 9], ids=["ties", "distinct"])
def test_blocks_give_the_tree_of_scikit_learn(parameters, decimals, monkeypatch):
    X = np.random.default_rng(0).normal(size=(700, 4)).round(decimals)
    whole = ConstrainedHDBSCAN(**parameters)._hierarchy(X)
    monkeypatch.setattr(ConstrainedHDBSCAN, "_max_rows_at_once", 100)
    monkeypatch.setattr(_reachability, "DIFFERENCES_AT_ONCE", 40 * X.size)
    monkeypatch.setattr(_hdbscan, "HDBSCAN", None)
    np.testing.assert_array_equal(ConstrainedHDBSCAN(**parameters)._hierarchy(X), whole)
