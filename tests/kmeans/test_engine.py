"""The engine of the k-means classes: rules for all rows, empty clusters, restarts, warnings."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning

from mustlink import COPKMeans, PCKMeans
from mustlink._rows import RowBlocks
from mustlink._types import Floats, Indices
from mustlink.errors import InfeasibleError
from mustlink.kmeans._engine import Euclidean, Run, State, best_of_runs, iterate
from mustlink.kmeans._rules import LinkRule, NoPlacement
from mustlink.kmeans._seeding import Start


class EqualSizes(LinkRule):
    """A rule that places all rows at once: every cluster gets the same number of rows."""

    def __init__(self, n_rows: int) -> None:
        super().__init__(np.arange(n_rows), np.arange(n_rows))

    def place(self, costs: Floats, previous: Indices | None) -> Indices:
        size, n_clusters = len(costs) // costs.shape[1], costs.shape[1]
        return linear_sum_assignment(np.repeat(costs, size, axis=1))[1] // size % n_clusters


def silent(n_iter: int, objective: float) -> None:
    """Report nothing."""


def test_a_rule_can_place_all_rows_at_once() -> None:
    X, _ = make_blobs([50, 5, 5], 2, random_state=0)
    geometry = Euclidean(RowBlocks(X), np.ones(60), EqualSizes(60))
    run = iterate(geometry, State(X[[0, 52, 57]]), silent, max_iter=100)
    assert np.bincount(run.labels).tolist() == [20, 20, 20]
    assert np.all(np.diff(run.objective) <= 1e-9)
    for c in range(3):
        np.testing.assert_allclose(run.state.centers[c], X[run.labels == c].mean(axis=0))
    expected = np.square(X - run.state.centers[run.labels]).sum()
    assert run.inertia == run.objective[-1] == pytest.approx(expected)


def test_rows_of_weight_zero_do_not_fill_an_empty_cluster() -> None:
    X = np.array([[0.0], [1.0], [50.0], [2.0]])
    geometry = Euclidean(RowBlocks(X), np.array([1.0, 1.0, 0.0, 1.0]), LinkRule())
    run = iterate(geometry, State(np.array([[0.0], [1000.0]])), silent, max_iter=100)
    assert sorted(run.state.centers.ravel()) == [0.5, 2.0]


def test_the_best_run_is_kept_and_failures_are_tried_again() -> None:
    outcomes = iter([None, 3.0, 2.0, 5.0])
    failures = []
    start = Start(lambda: None, is_random=True)

    def make_run(state: object, report: object) -> Run:
        value = next(outcomes)
        if value is None:
            raise NoPlacement
        return Run(np.zeros(1, dtype=np.int32), 1, [value])

    best = best_of_runs(COPKMeans(n_init=4), make_run, start, lambda: failures.append(1))
    assert best.objective == [2.0]
    assert failures == [1]

    def fail(state: object, report: object) -> Run:
        raise NoPlacement

    with pytest.raises(InfeasibleError, match="in 10 runs"):
        best_of_runs(COPKMeans(), fail, start, lambda: failures.append(1))
    assert len(failures) == 11


@pytest.mark.parametrize("call", ["fit", "fit_predict", "fit_transform"])
@pytest.mark.parametrize("clusterer", [PCKMeans, COPKMeans])
def test_warnings_point_at_the_line_of_the_user(clusterer: type, call: str) -> None:
    with pytest.warns(ConvergenceWarning, match="2 clusters were asked for, and 1 w") as caught:
        getattr(clusterer(2, random_state=0), call)(np.ones((5, 2)))
    assert caught[0].filename == __file__
