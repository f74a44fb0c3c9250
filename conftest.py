"""Settings and fixtures that all tests share, the examples in docstrings and in the guide included."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings
from threadpoolctl import threadpool_limits

# "steady" (the default) tries the same examples in every run; "fuzz" draws new ones and remembers those that failed.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("fuzz", deadline=None, print_blob=True)
settings.load_profile("steady")


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> Iterator[None]:
    """Keep to one thread: the tables are tiny, and threads that wait for each other cost minutes on a busy machine."""
    with threadpool_limits(limits=1):
        yield
