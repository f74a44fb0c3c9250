"""The bounds of sizes that clusters are at, in the summary, on the page and in a notebook."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mustlink import Constraints
from mustlink.report import SizeBound, make_picture, render_report, summarize
from mustlink.sizes import BalancedClustering, SizeConstrainedKMeans

X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [9.0], [10.0]])


@pytest.mark.parametrize(
    ("bound", "words"),
    [
        (
            SizeBound("3", "minimum", 20, 4.1),
            "Cluster 3 is at its minimum of 20; lowering it by one would lower the sum of squared distances by 4.1 "
            "at these centers.",
        ),
        (
            SizeBound("big", "maximum", 1234.5, 56.25, "sum of absolute differences"),
            "Cluster big is at its maximum of 1234.5; raising it by one would lower the sum of absolute differences by "
            "56.2 at these centers.",
        ),
    ],
)
def test_a_bound_in_words(bound: SizeBound, words: str) -> None:
    assert str(bound) == words


def test_only_bounds_that_bind_are_listed_under_the_shown_numbers() -> None:
    """An empty cluster is not shown, and the others are numbered without gaps."""
    model = SizeConstrainedKMeans(3, size_min=[0, 3, 0], init=[[500.0], [9.5], [2.0]])
    with pytest.warns(match="3 clusters were asked for"):
        model.fit(X)
    np.testing.assert_array_equal(model.sizes_, [0, 3, 4])
    summary = summarize(X, np.where(model.labels_ == 1, 0, 1), estimator=model, cluster_names=["late", "early"])
    (bound,) = summary.bounds
    assert (bound.name, bound.kind, bound.size) == ("late", "minimum", 3)
    assert bound.saving == pytest.approx(model.gains_[0, 1])
    assert bound.saving > 0
    free = SizeConstrainedKMeans(2, size_min=1, random_state=0).fit(X)
    assert summarize(X, free.labels_, estimator=free).bounds == ()


def test_a_maximum_and_another_metric() -> None:
    model = SizeConstrainedKMeans(2, size_max=4, metric="manhattan", random_state=0).fit(X)
    (bound,) = summarize(X, model.labels_, estimator=model).bounds
    assert bound.kind == "maximum"
    assert bound.saving == pytest.approx(model.gains_[1].max())
    assert bound.saving > 0
    assert bound.costs == "sum of absolute differences"


def test_the_page_and_the_notebook_show_the_sizes() -> None:
    model = SizeConstrainedKMeans(2, size_min=3, random_state=0).fit(X)
    summary = summarize(X, model.labels_, estimator=model)
    page = render_report(summary, make_picture(X, model.labels_, Constraints()), title="Sizes")
    assert "<h2>Sizes</h2>" in page
    assert str(summary.bounds[0]) in page
    assert str(summary.bounds[0]) in summary._repr_html_()
    without = summarize(X, model.labels_)
    assert "<h2>Sizes</h2>" not in render_report(without, make_picture(X, model.labels_, Constraints()), title="Sizes")


def test_sizes_that_are_all_fixed_promise_nothing() -> None:
    table = np.random.RandomState(0).normal(size=(60, 2)) * [1, 5]
    model = SizeConstrainedKMeans(6, size_min=10, size_max=10, random_state=0).fit(table)
    assert model.prices_.any()
    assert summarize(table, model.labels_, estimator=model).size_notes == [
        "6 clusters are at their minimum of 10; lowering one of these alone would gain nothing at these centers.",
        "6 clusters are at their maximum of 10; raising one of these alone would gain nothing at these centers.",
    ]


def test_many_bounds_are_few_sentences() -> None:
    bounds = [SizeBound(str(name), "minimum", 20, float(name)) for name in range(1, 61)]
    summary = replace(summarize(X, np.zeros(len(X), dtype=int)), bounds=tuple(bounds))
    first, *_, last = summary.size_notes
    assert len(summary.size_notes) == 6
    assert first.startswith("Cluster 60 is at its minimum of 20; lowering it by one would lower")
    assert last == (
        "55 more clusters are at their minimum of 20; lowering one of these by one would lower the sum of squared "
        "distances by less."
    )


def test_bounds_of_unknown_gain_are_only_named() -> None:
    """With links, and with a minimum size around another clusterer."""
    linked = SizeConstrainedKMeans(2, size_min=3, random_state=0).fit(X, constraints=Constraints(must_link=[(3, 4)]))
    summary = summarize(X, linked.labels_, estimator=linked)
    assert [bound.saving for bound in summary.bounds] == [None]
    (line,) = summary.size_notes
    assert line.endswith(" is at its minimum of 3.")
    balanced = BalancedClustering(2, size_min=3, random_state=0).fit(X)
    small = sum(size == 3 for size in balanced.sizes_)
    assert small
    assert len(summarize(X, balanced.labels_, estimator=balanced).bounds) == small
