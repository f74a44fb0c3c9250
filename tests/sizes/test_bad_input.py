"""Bad input to the functions and clusterers with sizes: it works, or ends in one sentence with the numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn import config_context
from sklearn.model_selection import GridSearchCV

from mustlink import Constraints
from mustlink.sizes import (
    BalancedClustering,
    CostBlocks,
    ExistentialKMeans,
    FrequencySensitiveKMeans,
    SizeConstrainedKMeans,
    SoftBalancedMixture,
    assign,
    assign_linked,
    balanced_sample_size,
    check_sizes,
    publish,
    verify_publication,
)

COSTS = np.random.default_rng(0).random((6, 3))
X = np.random.default_rng(1).normal(size=(12, 2))
LINKS = Constraints(must_link=[(0, 1)])


@pytest.mark.parametrize("size", [True, [1, True, 1], "2", ["1", "2", "0"], np.datetime64("2020-01-01"), 10**400, 1j])
def test_sizes_are_numbers(size: Any) -> None:
    for function in (lambda: assign(COSTS, size_min=size), lambda: check_sizes(0, size, 6, 3)):
        with pytest.raises(
            ValueError, match=r"size_m(in|ax) must be a number or one number per cluster, got"
        ) as raised:
            function()
        assert len(str(raised.value)) < 150


def test_huge_sizes_are_spelled_short() -> None:
    with pytest.raises(ValueError, match=r"The minimum sizes of 3 clusters add up to 3e\+200, but there are 6 rows"):
        assign(COSTS, size_min=1e200)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"pivot_min": 1}, "pivot_min=1 was given without pivots"),
        ({"solver": ["paths"]}, "solver must be one of paths, flow, lp"),
        ({"weights": [1, 1e-310, 1, 1, 1, 1]}, "The weight of row 1 is 1e-310"),
        ({"apart": [0, [1], 2, 3, 4, 5]}, "some of its entries are lists"),
        (
            {"weights": [1e308] * 6},
            r"The weight of row 0 is 1e\+308; weights must be zero, or from 1e-290 to 1e\+290",
        ),
    ],
)
def test_arguments_of_assign(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        assign(COSTS, **arguments)


@pytest.mark.parametrize("shape", ["ab", (6,), (6.0, 3.0), (0, 3)])
def test_cost_blocks_have_rows_and_clusters(shape: Any) -> None:
    with pytest.raises(ValueError, match="costs must have rows and clusters, got the shape"):
        assign(CostBlocks(shape, COSTS.__getitem__))


@pytest.mark.parametrize("blocks", [False, True])
def test_costs_whose_sums_overflow(blocks: bool) -> None:
    costs = np.array([[1e308, -1e308]] * 3)
    with pytest.raises(ValueError, match=r"The largest cost is 1e\+308; costs must be at most 1e\+290"):
        assign(CostBlocks((3, 2), costs.__getitem__) if blocks else costs, size_min=1)


@pytest.mark.parametrize("unit", [1e-280, 1.0, 1e280])
def test_weights_of_any_unit(unit: float) -> None:
    weights = np.array([1.5, 2.5, 1.0, 3.0, 2.0, 2.0])
    expected = assign(COSTS, weights=weights, size_min=3.0, size_max=5.0).labels
    assert_array_equal(assign(COSTS, weights=weights * unit, size_min=3.0 * unit, size_max=5.0 * unit).labels, expected)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: check_sizes(1, None, 6, 0), "n_clusters == 0, must be >= 1"),
        (lambda: check_sizes(1, None, -1, 2), "n_rows == -1, must be >= 0"),
        (lambda: check_sizes(1, None, 6, 2.5), "n_clusters must be an instance of int, not float"),  # type: ignore[arg-type]
        (lambda: check_sizes(1, None, 6, 2, total=np.nan), "together are nan"),
        (lambda: assign_linked(COSTS, LINKS, exact=np.array([1, 2])), 'exact must be True, False or "auto"'),  # type: ignore[arg-type]
        (lambda: assign_linked(COSTS, LINKS, one_of=[(0, 1, 2), (1, 2)]), "some of its entries are of another length"),
        (lambda: balanced_sample_size(2.5), "n_clusters must be an instance of int"),  # type: ignore[arg-type]
        (lambda: balanced_sample_size(3, confidence=np.nan), "confidence=nan must be between 0 and 1"),
        (lambda: balanced_sample_size(3, confidence="high"), "confidence must be an instance of float"),  # type: ignore[arg-type]
    ],
)
def test_arguments_of_functions(call: Callable[[], object], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        call()


def test_sample_of_very_many_clusters() -> None:
    """One minus the default probability of failure is 1 for floats."""
    few, many = (balanced_sample_size(k, 5, sampling="binomial") / k for k in (10_000, 100_000))
    assert few < many < 2 * few


@pytest.mark.parametrize(
    ("model", "given", "message"),
    [
        (
            SizeConstrainedKMeans(3, outlier_cost=5.0, size_max=[2, 2]),
            {},
            "size_max must be a number or one number for",
        ),
        (SizeConstrainedKMeans(3, outlier_cost=5.0, size_max=["a", 1, 1]), {}, "size_max must be a number or one"),
        (
            SizeConstrainedKMeans(3, outlier_cost=1e300, size_by="rows"),
            {"sample_weight": np.full(12, 1e70)},
            r"outlier_cost=1e\+300 is too large for weights of up to 1e\+70",
        ),
        (SizeConstrainedKMeans(3, pivot_min=1), {"pivots": np.ones((12, 2))}, r"it has the shape \(12, 2\)"),
        (ExistentialKMeans(3, pivot_min=[1, [2]]), {}, "pivot_min must be whole numbers of pivots"),
        (ExistentialKMeans(3, pivot_min=1e300), {}, r"got 1e\+300; at most 2,147,483,647"),
        (ExistentialKMeans(1, pivot_min=20), {}, "1 cluster needs 20 pivots, 20 for each, but there are 12"),
        (
            ExistentialKMeans(3, aggregates="count >= 1e300"),
            {},
            "No 3 clusters satisfy 'count >= 1e300'.*but there are 12",
        ),
        (ExistentialKMeans(3), {"pivots": np.ones((12, 0))}, r"the table has 12 rows, pivots the shape \(12, 0\)"),
        (ExistentialKMeans(3), {"pivots": [[True], [True, False]] * 6}, "the same number of entries for every row"),
        (
            ExistentialKMeans(3, aggregates="sum(n) > 1"),
            {"columns": pd.DataFrame(np.ones((12, 2)), columns=["n", "n"])},
            "two columns with the name 'n'",
        ),
    ],
)
def test_arguments_of_clusterers(model: Any, given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        model.fit(X, **given)


DIRECTIONS = [
    BalancedClustering(3, metric="cosine", random_state=0),
    FrequencySensitiveKMeans(3, metric="cosine", random_state=0),
    SoftBalancedMixture(3, component="vmf", random_state=0),
]


@pytest.mark.parametrize("model", DIRECTIONS, ids=lambda model: type(model).__name__)
def test_rows_without_a_direction(model: Any) -> None:
    model.fit(X)
    assert_array_equal(model.predict(np.zeros((2, 2))), [-1, -1])
    with pytest.raises(ValueError, match="0 rows of 12 have a direction, fewer than n_clusters=3"):
        model.fit(np.zeros((12, 2)))


@pytest.mark.parametrize("model", DIRECTIONS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_directions_of_short_rows(model: Any, dtype: Any, container: Any) -> None:
    """Powers of two keep every digit."""
    rows = X.astype(dtype)
    expected = model.fit(container(rows)).labels_
    assert_array_equal(model.fit(container(rows * dtype(2.0**-60))).labels_, expected)


def test_a_stream_that_begins_without_a_direction() -> None:
    model = FrequencySensitiveKMeans(3, metric="cosine", update="stream").partial_fit(np.zeros((2, 2)))
    assert_array_equal(model.labels_, [-1, -1])
    with pytest.raises(ValueError, match="No cluster has begun"):
        model.predict(X)
    assert_array_equal(model.partial_fit(X).predict(np.zeros((1, 2))), [-1])


TABLE = pd.DataFrame({"age": [30, 31, 60, 61] * 3, "zip": list("aabb") * 3, "illness": list("xyxyyx") * 2})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"k": "a"}, "k must be a whole number of at least 1.*got k='a'"),
        ({"k": 2.5}, "k must be a whole number"),
        ({"k": True}, "k must be a whole number"),
        ({"l": np.nan, "sensitive": "illness"}, "l a number of at least 1.*l=nan"),
        ({"l": "2", "sensitive": "illness"}, "l='2'"),
        ({"quasi_identifiers": 3}, "Columns are named by a list of their names, or by one name; got 3"),
        ({"frame": TABLE[["age", "age"]]}, "Two columns of the published table are called 'age'"),
    ],
)
def test_arguments_of_a_verification(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        verify_publication(**({"frame": TABLE, "quasi_identifiers": ["age"]} | arguments))


def test_names_of_columns_may_be_a_single_one() -> None:
    assert verify_publication(TABLE, quasi_identifiers="age", k=3).passed
    result = publish(TABLE, quasi_identifiers="age", keep="illness", ordered="age", k=3)
    assert list(result.frame.columns) == ["age", "illness"]
    with pytest.raises(ValueError, match="or by one name; got 3"):
        publish(TABLE, quasi_identifiers="age", keep=3, k=3)  # type: ignore[arg-type]


ROW_OF = {"apart": lambda row: row // 2, "pivots": lambda row: row % 2 == 0}


@pytest.mark.parametrize("routing", [False, True])
@pytest.mark.parametrize(
    ("base", "name", "parameters"),
    [
        (SizeConstrainedKMeans, "apart", {"size_min": 2}),
        (SizeConstrainedKMeans, "pivots", {"pivot_min": 1}),
        (ExistentialKMeans, "pivots", {}),
    ],
)
def test_folds_have_their_own_part_of_what_is_given_for_rows(
    routing: bool, base: Any, name: str, parameters: dict[str, Any]
) -> None:
    """The first column has the number of the row."""
    seen = []

    class Watched(base):  # type: ignore[misc]
        def fit(self, X: Any, y: Any = None, *, apart: Any = None, pivots: Any = None) -> Any:
            given = {"apart": apart, "pivots": pivots}[name]
            assert_array_equal(given, ROW_OF[name](X[:, 0]))
            seen.append(len(given))
            return super().fit(X, **{name: given})

    table = np.column_stack([np.arange(12.0), X])
    with config_context(enable_metadata_routing=routing):
        search = GridSearchCV(
            Watched(2, random_state=0, **parameters), {"n_clusters": [2, 3]}, cv=3, scoring=lambda model, X, y=None: 0.0
        )
        search.fit(table, **{name: ROW_OF[name](np.arange(12))})
    assert seen == [8] * 6 + [12]
