"""The bounds of sizes that cost something, in the summary, on the page and in a notebook."""

from __future__ import annotations

import numpy as np
import pytest

from mustlink import Constraints
from mustlink.report import SizeBound, make_picture, render_report, summarize
from mustlink.sizes import SizeConstrainedKMeans

X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [9.0], [10.0]])


@pytest.mark.parametrize(
    ("bound", "words"),
    [
        (
            SizeBound("3", "minimum", 20, 4.1),
            "Cluster 3 is at its minimum of 20; lowering it by one would lower the sum of squared distances by about "
            "4.1.",
        ),
        (
            SizeBound("big", "maximum", 1234.5, 56.25, "sum of absolute differences"),
            "Cluster big is at its maximum of 1234.5; raising it by one would lower the sum of absolute differences by "
            "about 56.2.",
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
    assert bound.saving == pytest.approx(model.prices_[1])
    free = SizeConstrainedKMeans(2, size_min=1, random_state=0).fit(X)
    assert summarize(X, free.labels_, estimator=free).bounds == ()


def test_a_maximum_and_another_metric() -> None:
    model = SizeConstrainedKMeans(2, size_max=4, metric="manhattan", random_state=0).fit(X)
    (bound,) = summarize(X, model.labels_, estimator=model).bounds
    assert bound.kind == "maximum"
    assert bound.saving == pytest.approx(-model.prices_.min())
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
