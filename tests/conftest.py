"""What all tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> Iterator[None]:
    """Keep to one thread: the tables are tiny, and on a busy machine threads that wait for each other cost minutes."""
    with threadpool_limits(limits=1):
        yield
