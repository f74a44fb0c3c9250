"""Minimum and maximum sizes as users write them, and what is wrong with some."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mustlink.errors import InfeasibleError
from mustlink.sizes import assign, check_sizes


@pytest.mark.parametrize(
    ("size_min", "size_max", "lowest", "highest"),
    [
        (None, None, [0, 0, 0], [10, 10, 10]),
        (3, 4.0, [3, 3, 3], [4, 4, 4]),
        ([0, 1, 2], np.inf, [0, 1, 2], [10, 10, 10]),
        ([4, 3, 3], [4, 3, 3], [4, 3, 3], [4, 3, 3]),
        (0, [100, 2, 3], [0, 0, 0], [10, 2, 3]),
    ],
)
def test_one_bound_for_every_cluster(size_min: Any, size_max: Any, lowest: list[int], highest: list[int]) -> None:
    found = check_sizes(size_min, size_max, 10, 3)
    assert [bound.tolist() for bound in found] == [lowest, highest]
    assert all(bound.dtype == np.int64 for bound in found)


@pytest.mark.parametrize(
    ("size_min", "size_max", "message"),
    [
        (4, None, "minimum sizes of 3 clusters add up to 12, but there are 10 rows; reduce size_min"),
        (11, None, "minimum sizes of 3 clusters add up to 33, but there are 10 rows"),
        (0, 3, "maximum sizes of 3 clusters add up to 9, but there are 10 rows; increase size_max"),
        ([1, 5, 1], [9, 4, 9], "maximum size of cluster 1 is 4, below its minimum of 5; reduce size_min, or increase"),
    ],
)
def test_bounds_that_clash_are_refused_with_their_numbers(size_min: Any, size_max: Any, message: str) -> None:
    with pytest.raises(InfeasibleError, match=message):
        check_sizes(size_min, size_max, 10, 3)


@pytest.mark.parametrize(
    ("size_min", "size_max", "message"),
    [
        (-1, None, "size_min is -1; sizes are numbers of rows: whole, from 0 on"),
        ([1, 1.5, 1], None, "size_min is 1.5 for cluster 1; sizes are numbers of rows: whole"),
        (0, np.nan, "size_max is nan; sizes"),
        (np.inf, None, "size_min is inf; sizes"),
        ([1, 2], None, r"size_min must be a number or one number for each of 3 clusters, got an array of shape \(2,\)"),
        (0, [[1, 2, 3]], "size_max must be a number or one number for each of 3 clusters"),
        ("many", None, "size_min must be a number or one number per cluster, got 'many'"),
    ],
)
def test_bounds_that_are_no_sizes_are_refused(size_min: Any, size_max: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_sizes(size_min, size_max, 10, 3)


def test_sums_of_weights_may_have_decimals() -> None:
    lowest, highest = check_sizes(0.5, None, 4, 2, total=1.0)
    assert lowest.tolist() == [0.5, 0.5]
    assert highest.tolist() == [1.0, 1.0]
    with pytest.raises(InfeasibleError, match=r"add up to 1\.2, but the rows weigh 1 in all"):
        check_sizes(0.6, None, 4, 2, total=1.0)


def test_sums_of_weights_may_be_off_by_rounding() -> None:
    total = 0.3 - 1e-16
    assert total < 0.1 + 0.1 + 0.1
    lowest, highest = check_sizes(0.1, None, 4, 3, total=total)
    assert lowest.tolist() == [0.1, 0.1, 0.1]
    assert highest.tolist() == [total, total, total]
    with pytest.raises(InfeasibleError, match=r"add up to 0\.3, but the rows weigh 0\.29"):
        check_sizes(0.1, None, 4, 3, total=0.3 - 1e-6)


def test_one_row_is_spelled_as_one() -> None:
    with pytest.raises(InfeasibleError, match="minimum sizes of 2 clusters add up to 2, but there is 1 row; reduce"):
        check_sizes(1, None, 1, 2)


@pytest.mark.parametrize("size", ["10", ["1"] * 3, True, [1, True, 2], np.array([True, False, True]), b"1"])
@pytest.mark.parametrize("name", ["size_min", "size_max"])
def test_text_and_truth_values_are_no_sizes(name: str, size: Any) -> None:
    with pytest.raises(ValueError, match=f"{name} must be a number or one number per cluster, got"):
        assign(np.zeros((30, 3)), **{name: size})


def test_a_minimum_of_pivots_needs_pivots() -> None:
    with pytest.raises(ValueError, match="pivot_min=2 was given without pivots"):
        assign(np.zeros((6, 2)), pivot_min=2)
    assert assign(np.zeros((6, 2)), pivot_min=[0, 0]).pivot_prices is None
