"""Names of scikit-learn that are not part of its public interface."""

from __future__ import annotations

from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

from sklearn.base import _fit_context as fit_context
from sklearn.cluster._hdbscan._linkage import MST_edge_dtype as MST_EDGE
from sklearn.cluster._hdbscan._linkage import make_single_linkage
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils._param_validation import Interval as _Interval
from sklearn.utils.parallel import _get_threadpool_controller
from sklearn.utils.validation import _check_sample_weight, _is_arraylike_not_scalar

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "MST_EDGE",
    "HasMethods",
    "Interval",
    "StrOptions",
    "check_sample_weight",
    "fit_context",
    "is_array_like",
    "make_single_linkage",
    "n_threads",
    "one_blas_thread",
    "one_thread",
    "one_thread_if_narrow",
    "single_linkage_tree",
]

# Products with so few columns take little time beside a run of k-means on the same table, also on one thread.
MAX_NARROW = 128


class Interval(_Interval):
    """An interval of numbers; unlike that of scikit-learn, True and False are no numbers."""

    def is_satisfied_by(self, val: Any) -> bool:
        """Return whether a value is a number of the interval."""
        return not isinstance(val, bool) and bool(super().is_satisfied_by(val))


check_sample_weight = _check_sample_weight
is_array_like = _is_arraylike_not_scalar


def n_threads() -> int:
    """Return how many threads scikit-learn would use here, by OMP_NUM_THREADS and the quota of a container."""
    return int(_openmp_effective_n_threads())


_HOLDS_BLAS_LIMIT = Lock()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep a matrix product on the thread that asks for it.

    The limit is one of the process. While one thread holds it, it is left to that thread: a second one would take the
    limit for what is to be restored, and leave it for good.
    """
    if not _HOLDS_BLAS_LIMIT.acquire(blocking=False):
        yield
        return
    try:
        with _get_threadpool_controller().limit(limits=1, user_api="blas"):
            yield
    finally:
        _HOLDS_BLAS_LIMIT.release()


def one_thread_if_narrow(table: Any) -> AbstractContextManager[None]:
    """Return a context for products of a table and a small matrix: with few columns they stay on one thread.

    More threads save little then, and cost more: after a run of k-means, threads of OpenMP keep their cores busy for a
    while, for which those of the product wait, and the other way round.
    """
    return one_blas_thread() if table.shape[1] <= MAX_NARROW else nullcontext()


def one_thread() -> AbstractContextManager[Any]:
    """Return a context in which matrix products and loops of OpenMP stay on the thread that asks for them."""
    return cast(AbstractContextManager[Any], _get_threadpool_controller().limit(limits=1))


def single_linkage_tree(hdbscan: Any) -> Any:
    """Return the tree that a fitted HDBSCAN of scikit-learn cuts: the two nodes, distance and size of every join."""
    return hdbscan._single_linkage_tree_
