"""What all clusterers share: constraints and partial labels checked against the table, and routing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, clone, is_clusterer
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import get_routing_for_object

from mustlink import Constraints, COPKMeans, PCKMeans
from mustlink.base import ConstrainedClusterMixin, as_constraints, check_partial_labels, collect_links
from mustlink.errors import ConstraintError, InfeasibleError, InfeasibleWarning

LINKS = Constraints([(0, 1)], [(1, 3)], must_link_weight=2.0)
X = np.arange(10.0).reshape(5, 2)


class Components(ConstrainedClusterMixin, BaseEstimator):
    """Clusters are the must-link components."""

    def fit(self, X: Any, y: Any = None, *, constraints: Any = None, sample_weight: Any = None) -> Components:
        self.links_ = self._check_fit_input(X, y, constraints)[1]
        self.labels_ = self.links_.components(len(X))
        self.sample_weight_ = sample_weight
        return self


@pytest.mark.parametrize(("given", "expected"), [(None, Constraints()), (LINKS, LINKS), (LINKS.on(5), LINKS)])
def test_every_form_of_constraints(given: Any, expected: Constraints) -> None:
    assert as_constraints(given, 5) == expected
    assert Components().fit(X, constraints=given).links_ == expected


def test_constraints_for_another_table() -> None:
    with pytest.raises(ConstraintError, match="A cannot-link names the rows 1 and 3, but the table has 3 rows") as info:
        as_constraints(LINKS, 3)
    assert info.value.pairs == [(1, 3)]
    for n_samples in (4, 6):
        with pytest.raises(ConstraintError, match=f"aligned with 5 rows, but the table has {n_samples}"):
            as_constraints(LINKS.on(5), n_samples)


@pytest.mark.parametrize("given", [[(0, 1)], np.array([[0, 1]]), {"must_link": [(0, 1)]}, "links.csv"])
def test_something_else_is_refused_with_what_to_do(given: Any) -> None:
    with pytest.raises(TypeError, match=rf"got {type(given).__name__}; create one with Constraints\("):
        Components().fit(X, constraints=given)


@pytest.mark.parametrize(
    "y",
    [
        [0, -1, 0, 1, -1],
        np.array([0, -1, 0, 1, -1], dtype=np.float32),
        np.array([0, np.nan, 0, 1, np.nan]),
        ["a", -1, "a", "b", -1],
        np.array(["a", None, "a", "b", None], dtype=object),
        pd.Series([0, -1, 0, 1, -1], index=list("vwxyz")),
        pd.Series(["a", None, "a", "b", None]),
        ["a", "", "a", "b", " "],
        ["a", "-1", "a", "b", None],
        ["a", float("nan"), "a", "b", ""],
        np.array(["a", "", "a", "b", "-1"]),
        np.array([b"a", b"", b"a", b"b", b"-1"]),
        np.array(["a", np.nan, "a", "b", "-1.0"]),
        np.array([7, -1.0, 7, 8, None], dtype=object),
        pd.Series(["a", "", "a", "b", pd.NA], dtype="string"),
        pd.Series(["a", "", "a", "b", "-1"], dtype="category"),
        pd.Series([7, pd.NA, 7, 8, -1], dtype="Int64"),
        np.ma.array([7, 9, 7, 8, 0], mask=[0, 1, 0, 0, 1]),
    ],
)
def test_partial_labels_are_one_more_source(y: Any) -> None:
    from_y = Constraints([(0, 2)], [(0, 3)])
    assert Components().fit(X, y).links_ == from_y
    assert Components().fit(X, y, constraints=LINKS).links_ == LINKS + from_y
    assert Components().fit(X, y, constraints=LINKS).labels_.tolist() == [0, 0, 0, 1, 2]


@pytest.mark.parametrize("cannot", [(0, 1), (1, 2), (0, 2)])
@pytest.mark.parametrize("y", [[7, 7, 7, -1, -1], [7, 7, -1, -1, -1]])
def test_a_cannot_link_within_a_label_is_a_conflict_in_any_order(y: list[int], cannot: tuple[int, int]) -> None:
    """Labels are written as a chain of must-links; whether the link is beside the chain or part of it is the same."""
    if y[cannot[1]] == -1:
        cannot = (0, 1)
    links = Constraints(cannot_link=[cannot])
    X = np.random.default_rng(0).normal(size=(5, 2))
    assert [conflict.cannot_link for conflict in collect_links(links, y, X).conflicts()] == [cannot]
    soft = PCKMeans(2, random_state=0).fit(X, y, constraints=links)
    assert len(soft.violations_) == 1
    hard = COPKMeans(2, random_state=0)
    with pytest.raises(InfeasibleError, match=f"Rows {cannot[0]} and {cannot[1]} have a cannot-link") as caught:
        hard.fit(X, y, constraints=links)
    assert "contradictions=" not in str(caught.value)
    with pytest.warns(InfeasibleWarning):
        hard.set_params(on_infeasible="relax").fit(X, y, constraints=links)


@pytest.mark.parametrize("must", [(0, 1), (0, 3), (2, 1), (2, 3)])
def test_a_must_link_between_labels_is_a_conflict_in_any_order(must: tuple[int, int]) -> None:
    """Two labels are held apart by one cannot-link, whichever rows it is between."""
    links = collect_links(Constraints(must_link=[must]), [5, 6, 5, 6, -1], X)
    assert len(links.conflicts()) == 1


def test_no_labels_known_is_no_constraint() -> None:
    assert Components().fit(X, [-1] * 5).links_.is_empty


@pytest.mark.parametrize("n_labels", [4, 6])
def test_labels_of_another_table(n_labels: int) -> None:
    with pytest.raises(ValueError, match=f"the table has 5 rows, and y has {n_labels} labels"):
        Components().fit(X, [0] * n_labels)


def test_labels_in_a_column_are_taken_with_a_warning() -> None:
    with pytest.warns(DataConversionWarning, match="column-vector"):
        assert check_partial_labels(np.array([[0], [-1]]), 2).tolist() == [0, -1]
    with pytest.raises(ValueError, match="1d array"):
        check_partial_labels(np.zeros((2, 2)), 2)


def test_fit_predict_passes_everything_on() -> None:
    model = Components()
    labels = model.fit_predict(X, [0, -1, 0, -1, -1], constraints=LINKS, sample_weight=np.arange(5))
    assert labels.tolist() == [0, 0, 0, 1, 2]
    assert labels is model.labels_
    assert model.sample_weight_.tolist() == [0, 1, 2, 3, 4]
    assert model.fit_predict(X).tolist() == [0, 1, 2, 3, 4]


def test_it_is_a_clusterer_that_asks_for_constraints() -> None:
    model = clone(Components())
    assert is_clusterer(model)
    assert get_tags(model).estimator_type == "clusterer"
    with sklearn.config_context(enable_metadata_routing=True):
        assert get_routing_for_object(model).fit.requests == {"constraints": True, "sample_weight": None}
        refused = Components().set_fit_request(constraints=False)
        assert get_routing_for_object(refused).fit.requests["constraints"] is False
