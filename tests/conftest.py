"""What all tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings
from threadpoolctl import threadpool_limits

# What decides over a change looks at the same examples every time; at a desk each run looks for new ones.
settings.register_profile("steady", derandomize=True)


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> Iterator[None]:
    """Keep to one thread: the tables are tiny, and on a busy machine threads that wait for each other cost minutes."""
    with threadpool_limits(limits=1):
        yield
