"""CondEns: identities of its consensus, its three phases, any clusterer, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans
from sklearn.exceptions import ConvergenceWarning

from alternative.problems import counts_with_two_splits, points_with_two_splits
from mustlink import CCIB, CondEns
from mustlink.alternative._annealing import hard
from mustlink.alternative._ccib import build_family
from mustlink.alternative._condens import _count_distinct
from mustlink.alternative._consensus import combine, indicators
from mustlink.alternative._known import check_known
from mustlink.alternative._layout import Layout
from mustlink.errors import EstimatorError
from mustlink.estimator_checks._expect import same_partition
from mustlink.metrics import purity
from reference import alternative as slow


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 3))
def test_the_squared_error_of_indicators_is_category_utility(seed: int, n_parts: int) -> None:
    """Check 2: SSE/n = sum_j (1 - sum_q P_j(q)^2) - sum_j U(C, Pi^j), and I^2 = 2U."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(5, 30))
    parts = [rng.integers(3, size=n_rows) for _ in range(n_parts)]
    labels = rng.integers(3, size=n_rows)
    table = indicators(parts, [3] * n_parts)
    error = sum(float(np.square(table[labels == c] - table[labels == c].mean(axis=0)).sum()) for c in np.unique(labels))
    spread = sum(slow.quadratic_entropy(part) / 2 for part in parts)
    utility = sum(slow.category_utility(labels, part) for part in parts)
    assert error / n_rows == pytest.approx(spread - utility, abs=1e-10)
    for part in parts:
        assert slow.quadratic_information(labels, part) == pytest.approx(2 * slow.category_utility(labels, part))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_the_consensus_of_distinct_rows_is_one_of_all_rows(seed: int) -> None:
    """The error of distinct rows with weights is that of all rows, and every row has the nearest center."""
    rng = np.random.default_rng(seed)
    parts = [rng.integers(2, size=40) for _ in range(3)]
    table = indicators(parts, [2, 2, 2])
    found = combine(table, 2, 0)
    total = np.square(table - table.mean(axis=0)).sum()
    squares = np.square(table[:, None] - found.centers).sum(axis=2)
    assert np.array_equal(squares.argmin(axis=1), found.labels)
    assert (1 - found.agreement) * total == pytest.approx(squares.min(axis=1).sum())


def test_nothing_known_is_the_base_clusterer() -> None:
    X, _, _ = points_with_two_splits()
    plain = KMeans(3, n_init=3, random_state=0).fit(X)
    for known in (None, np.zeros(len(X), dtype=int)):
        model = CondEns(3, n_init=1, random_state=0)
        if known is None:
            model.fit(X)
        else:
            with pytest.warns(UserWarning, match="known is constant"):
                model.fit(X, known=known)
        assert same_partition(model.labels_, plain.labels_)


@pytest.mark.parametrize(
    "estimator",
    [
        "kmeans",
        "mixture",
        KMeans(n_init=1),
        AgglomerativeClustering(),
        CCIB(n_init=1),
        HDBSCAN(min_cluster_size=5, copy=True),
    ],
)
def test_any_clusterer_finds_the_other_split(estimator: Any) -> None:
    X, a, b = points_with_two_splits()
    model = CondEns(2, estimator=estimator, n_init=2, random_state=0).fit(X, known=a)
    assert purity(b, model.labels_) > 0.95
    assert model.nmi_known_[0] < 0.05
    assert np.mean(model.predict(X) == model.labels_) > 0.95
    assert len(model.local_models_) == 2
    assert model.local_labels_.shape == (len(X), 2)


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("as_sparse", [False, True])
def test_counts_by_a_mixture_of_multinomials(soft: bool, as_sparse: bool) -> None:
    """Check 7."""
    X, a, b = counts_with_two_splits(2, 400, 0)
    X = sparse.csr_matrix(X) if as_sparse else X
    model = CondEns(2, estimator="multinomial", soft=soft, random_state=0).fit(X, known=a)
    assert purity(b, model.labels_) == 1.0
    assert model.nmi_known_[0] < 0.01
    assert np.array_equal(model.predict(X), model.labels_)


def test_the_extension_keeps_the_local_models() -> None:
    X, a, _ = points_with_two_splits()
    model = CondEns(2, n_init=1, random_state=0).fit(X, known=a)
    for place, local in enumerate(model.local_models_):
        assert np.array_equal(local.predict(X), model.local_labels_[:, place])
        own = a == place
        centers = [X[own & (model.local_labels_[:, place] == c)].mean(axis=0) for c in range(2)]
        assert np.allclose(local.cluster_centers_, centers)


def test_the_kept_run_has_the_largest_value() -> None:
    X, a, _ = counts_with_two_splits(4, 200, 0)
    by_objective = CondEns(4, select="ccib", n_init=4, random_state=0).fit(X, known=a)
    assert len(by_objective.objective_) == 4
    assert by_objective.quality_ == max(by_objective.objective_)
    by_agreement = CondEns(4, select="consensus", n_init=4, random_state=0).fit(X, known=a)
    assert by_agreement.agreement_ == max(by_agreement.objective_)


@pytest.mark.parametrize("as_sparse", [False, True])
def test_rows_of_zeros_do_not_count_in_the_information(as_sparse: bool) -> None:
    rng = np.random.default_rng(0)
    X = rng.poisson(0.4, size=(60, 20)).astype(float)
    X[50:] = 0
    known = np.arange(60) % 2
    model = CondEns(2, random_state=0).fit(sparse.csr_matrix(X) if as_sparse else X, known=known)
    full = X.sum(axis=1) > 0
    order = np.argsort(known[full], kind="stable")
    rows = (X[full] / X[full].sum(axis=1, keepdims=True))[order]
    family = build_family("multinomial", rows, known[full][order], None)
    within, overall = family.gains(hard(model.labels_[full][order], 2))
    assert model.information_ == pytest.approx(within)
    assert model.quality_ == pytest.approx(within + family.lam * overall)
    assert (CondEns(1).fit(np.zeros((6, 2)), known=[0, 1] * 3).labels_ == 0).all()


def test_small_classes_have_fewer_clusters_or_none() -> None:
    X, a, b = points_with_two_splits(60)
    known = a.astype(object)
    known[0], known[1:3] = "alone", "pair"
    known = known.astype(str)
    model = CondEns(2, random_state=0).fit(X, known=known)
    assert len(model.local_models_) == 3
    assert purity(b, model.labels_) > 0.9
    assert CondEns(2, local_n_clusters=[2, 3, 1, 2], random_state=0).fit(X, known=known).labels_.shape == (60,)


def test_different_rows_are_counted_exactly() -> None:
    # In a sum with the second column, the first is lost in rounding.
    X = np.array([[0.0, 2.0**60], [1.0, 2.0**60]] * 6)
    assert _count_distinct(X) == _count_distinct(sparse.csr_array(X)) == 2
    assert _count_distinct(X[:1]) == 1


def test_tiny_cells_of_several_splits_are_merged() -> None:
    first = np.array([0] * 20 + [1] * 20 + [0])
    second = np.array([0] * 10 + [1] * 10 + [0] * 20 + [2])
    columns = check_known(np.column_stack([first, second]), 41)
    layout = Layout.of(columns, 3)
    cell = layout.cells(columns, 41)
    assert layout.n_cells == 3
    # (0, 2) differs in one split from (0, 0) and (0, 1), which are equally large; the first of them is taken.
    assert cell[40] == cell[0]
    assert len(np.unique(cell[:40])) == 3


def test_fewer_different_labels_than_clusters() -> None:
    X = np.repeat([[0.0, 0.0], [0.0, 5.0], [9.0, 0.0], [9.0, 5.0]], 5, axis=0)
    with pytest.warns(ConvergenceWarning, match="5 clusters were asked for"):
        model = CondEns(5, random_state=0).fit(X, known=np.repeat([0, 1], 10))
    assert len(np.unique(model.labels_)) < 5


class Broken(KMeans):
    """Fails."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        raise ValueError("no luck")


@pytest.mark.parametrize(
    ("options", "known", "message"),
    [
        ({}, [0.5] * 4 + [1.5] * 4, "has the number 0.5 at row 0; use ResidualClustering or CCIB"),
        ({}, [0, 1], "X has 8 rows, and known has the shape"),
        ({}, list(range(8)), "one row in every class"),
        ({"local_n_clusters": [1, 2, 3]}, [0, 1] * 4, "local_n_clusters must be a number or 2 numbers"),
        ({"local_n_clusters": 1}, [0, 1] * 4, "nothing to find within the classes"),
    ],
)
def test_bad_input_is_refused(options: Any, known: Any, message: str) -> None:
    X = np.arange(16.0).reshape(8, 2)
    with pytest.raises(ValueError, match=message):
        CondEns(2, **options).fit(X, known=known)


def test_a_clusterer_that_fails_is_named() -> None:
    X, a, _ = points_with_two_splits(20)
    with pytest.raises(
        EstimatorError, match=r"The clusterer Broken failed in class 0 of known, on .* rows; it says: no luck"
    ):
        CondEns(2, estimator=Broken()).fit(X, known=a)
    with pytest.raises(ValueError, match="estimator"):
        CondEns(2, estimator="nearest").fit(X)
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        CondEns(2, estimator="mixture").fit(sparse.csr_array(X))
