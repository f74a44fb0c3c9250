"""Limits of threads, each of which is a limit of the whole process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from mustlink._sklearn_compat import MAX_NARROW, one_blas_thread, one_thread_if_narrow

# The second limit begins during the first, and ends after it.
OVERLAPPING = """
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
import numpy, scipy.linalg
from threadpoolctl import threadpool_info, threadpool_limits
from mustlink._sklearn_compat import one_blas_thread

def sizes():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

with threadpool_limits(limits=2, user_api="blas"):
    print(max(sizes()))
before = sizes()
first_holds, both_hold, first_left = (Barrier(2, timeout=20) for _ in range(3))

def enter_first():
    with one_blas_thread():
        found = max(sizes())
        first_holds.wait()
        both_hold.wait()
    first_left.wait()
    return found

def enter_second():
    first_holds.wait()
    with one_blas_thread():
        both_hold.wait()
        first_left.wait()

with ThreadPoolExecutor(2) as pool:
    first, second = pool.submit(enter_first), pool.submit(enter_second)
    print(first.result())
    second.result()
print(sizes() == before)
"""


def blas_threads() -> list[int]:
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


@pytest.fixture
def usual() -> Iterator[list[int]]:
    """The numbers of threads without a limit, as on a machine with two cores."""
    with threadpool_limits(limits=2, user_api="blas"):
        yield blas_threads()


def test_overlapping_limits_of_several_threads_are_lifted() -> None:
    ran = subprocess.run([sys.executable, "-c", OVERLAPPING], capture_output=True, text=True, check=True)
    threads, limited, is_lifted = ran.stdout.split()
    assert (limited, is_lifted) == ("1", "True")
    if threads != "2":
        pytest.skip("matrix products have one thread here anyway")


def test_a_limit_is_lifted_after_an_error_and_holds_when_nested(usual: list[int]) -> None:
    def fail() -> None:
        with one_blas_thread():
            with one_blas_thread():
                pass
            assert max(blas_threads()) == 1
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert blas_threads() == usual


@pytest.mark.parametrize("n_columns", [MAX_NARROW, MAX_NARROW + 1])
def test_products_of_wide_tables_keep_their_threads(usual: list[int], n_columns: int) -> None:
    with one_thread_if_narrow(np.zeros((3, n_columns))):
        assert (blas_threads() == usual) == (n_columns > MAX_NARROW)
