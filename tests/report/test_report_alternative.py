"""The summary and the page of alternative clusterings."""

from __future__ import annotations

import numpy as np
import pytest

from mustlink import Constraints
from mustlink.report import make_picture, render_alternatives, summarize_alternative

X = np.array([[i % 2 * 9.0, i // 2 % 2 * 4.0] for i in range(12)])
SIDE = [str(i % 2) for i in range(12)]
UP = np.arange(12) // 2 % 2


def test_an_independent_split_tells_nothing():
    found = summarize_alternative(X, UP, [SIDE], np.arange(12) % 2, known_names=["side"])
    (told,) = found.known
    assert (told.nmi, told.kmeans_nmi, told.kmeans_vi) == (0.0, 1.0, 0.0)
    assert told.vi == pytest.approx(2 * np.log(2))
    assert found.tables[0].counts == ((3, 3), (3, 3))
    # The variance of the columns is 81 / 4 and 16 / 4.
    assert found.explained == pytest.approx(16 / 97)
    assert found.kmeans_explained == found.known_explained[0] == pytest.approx(81 / 97)
    assert "the new split explains 16%, plain k-means 84%, and the known split side 84%" in found.fit


def test_several_known_splits_are_told_in_one_sentence():
    found = summarize_alternative(X, UP, [SIDE, UP], np.arange(12) % 2, known_names=["side", "up"])
    assert found.headline.endswith(
        "The new split tells 0% of side (plain k-means 100%) and 100% of up (plain k-means 0%)."
    )
    assert found.fit.endswith("and the known splits side 84%, up 16%.")


def test_numbers_are_sorted_as_numbers_and_small_classes_are_joined():
    found = summarize_alternative(X, UP, [[10, 9, *["b"] * 10]], UP)
    assert found.tables[0].classes == ("9", "10", "b")
    many = [*range(11), 10]
    table = summarize_alternative(
        np.repeat(X, 2, axis=0), np.repeat(UP, 2), [[*many, *range(20, 32)]], np.repeat(UP, 2)
    )
    (cross,) = table.tables
    assert cross.classes[-1] == "9 others"
    assert sum(map(sum, cross.counts)) == 24


def test_rows_in_no_cluster_have_a_column_of_their_own():
    labels = np.where(np.arange(12) < 2, -1, UP)
    found = summarize_alternative(X, labels, [SIDE], UP)
    assert found.tables[0].clusters == ("none", "0", "1")


def test_the_page_escapes_and_shows_each_split():
    found = summarize_alternative(X, UP, [["<a>" if side == "0" else "b" for side in SIDE]], UP, known_names=["<k>"])
    picture = make_picture(X, UP, Constraints())
    page = render_alternatives([found, found], [picture, picture], [picture], title="<t>")
    assert page.count('<svg class="scatter"') == 3
    assert "Alternative 2" in page
    for text in ("<a>", "<k>", "<t>"):
        assert text not in page
    assert page.count("What sets the new clusters apart") == 2
