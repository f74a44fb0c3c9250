"""Names of scikit-learn that are not part of its public interface."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any, cast

from sklearn.base import _fit_context as fit_context
from sklearn.cluster._hdbscan._linkage import MST_edge_dtype as MST_EDGE
from sklearn.cluster._hdbscan._linkage import make_single_linkage
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils._param_validation import Interval as _Interval
from sklearn.utils.parallel import _get_threadpool_controller
from sklearn.utils.validation import _check_sample_weight, _is_arraylike_not_scalar

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

# Products with up to so many columns are bound by memory, and take hardly less time on two threads.
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


def one_blas_thread() -> AbstractContextManager[Any]:
    """Return a context in which a matrix product stays on the thread that asks for it."""
    return cast(AbstractContextManager[Any], _get_threadpool_controller().limit(limits=1, user_api="blas"))


def one_thread_if_narrow(table: Any) -> AbstractContextManager[Any]:
    """Return a context for products of a table and a small matrix: with few columns they stay on one thread.

    A second one hardly helps then. After a run of k-means it often has to wait, as threads of OpenMP keep its core
    busy for a while; and threads of such products slow down the next run in the same way.
    """
    return one_blas_thread() if table.shape[1] <= MAX_NARROW else nullcontext()


def one_thread() -> AbstractContextManager[Any]:
    """Return a context in which matrix products and loops of OpenMP stay on the thread that asks for them."""
    return cast(AbstractContextManager[Any], _get_threadpool_controller().limit(limits=1))


def single_linkage_tree(hdbscan: Any) -> Any:
    """Return the tree that a fitted HDBSCAN of scikit-learn cuts: the two nodes, distance and size of every join."""
    return hdbscan._single_linkage_tree_
