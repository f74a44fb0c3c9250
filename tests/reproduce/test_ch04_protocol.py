"""The experiments of chapter 4: data, links, and what is measured."""

from __future__ import annotations

import numpy as np
import pytest

from mustlink.reproduce.engine._matching import match_clusters, matched_accuracy
from mustlink.reproduce.engine._results import Run
from mustlink.reproduce.papers import _ch04_data as data
from mustlink.reproduce.papers import ch04
from mustlink.reproduce.papers.ch04 import (
    CLOUDS,
    NOISY_SETS,
    PROTOCOL,
    TEXTURES,
    draw_links,
)


@pytest.mark.parametrize("make", [data.stripes, data.crossing, data.halves])
def test_artificial_sets_have_200_rows_of_each_class(make):
    X, y = make()
    assert X.shape == (400, 2)
    assert np.bincount(y).tolist() == [200, 200]
    again, _ = make()
    assert np.array_equal(X, again)


def test_waveforms_are_means_of_two_triangles():
    X, y = data.waveform(6000)
    assert X.shape == (6000, 21)
    assert np.abs(np.bincount(y) - 2000).max() < 150
    means = np.array([X[y == c].mean(axis=0) for c in range(3)])
    points = np.arange(1, 22)
    one, right, left = (np.maximum(6 - abs(points - center), 0) for center in (11, 15, 7))
    np.testing.assert_allclose(means, [(one + right) / 2, (one + left) / 2, (right + left) / 2], atol=0.15)


def test_textures_are_four_regions_of_blocks():
    X, y = data.four_textures()
    assert X.shape == (data.BLOCKS**2, data.N_DIRECTIONS)
    assert (np.bincount(y) > 250).all()
    # At equal variance the textures differ by their covariances.
    shapes = np.array([np.cov(X[y == c].T) for c in range(4)])
    assert np.abs(shapes[0] - shapes[2]).max() > 1


def test_links_are_disjoint_pairs_of_half_of_the_rows():
    y = np.repeat([0, 1], 200)
    links = draw_links(y, Run("ch04", "stripes", "GMM", 10, trial=0, noise=0.3))
    assert len(links) == 100
    assert len(links.constrained_rows()) == 200
    assert 0.15 < links.violation_rate(y) < 0.45
    assert draw_links(y, Run("ch04", "stripes", "GMM", 10, trial=0)).violation_rate(y) == 0
    assert len(draw_links(y, Run("ch04", CLOUDS, "w = 0", 1, trial=0))) == 20


def test_links_of_textures_join_neighbors_with_the_true_rate():
    _, y = data.four_textures()
    links = draw_links(y, Run("ch04", TEXTURES, "w = 0", 1, trial=0))
    assert len(links.must_link) == 2 * data.BLOCKS * (data.BLOCKS - 1)
    rate = links.violation_rate(y)
    np.testing.assert_allclose(3.0 * links.weight, np.log((1 - rate) / rate))


def test_accuracy_matches_clusters_with_classes():
    assert matched_accuracy(np.array([0, 0, 1, 1]), np.array([7, 7, 3, 3])) == 1
    assert matched_accuracy(np.array([0, 0, 1, 1]), np.array([1, 1, 1, 1])) == 0.5
    assert matched_accuracy(np.array([0, 0, 1, 1]), np.array([0, 1, 2, 3])) == 0.5
    assert match_clusters(np.array([5, 5, 9, 9]), np.array([2, 2, 0, 4])).tolist() in ([5, 5, 9, -1], [5, 5, -1, 9])


def test_every_set_is_tried_at_both_rates_and_the_image_is_whole():
    runs = PROTOCOL.runs(PROTOCOL.quick)
    noisy = {(run.dataset, run.noise) for run in runs if run.noise}
    assert noisy == {(known.name, noise) for known in NOISY_SETS for noise in (0.15, 0.3)}
    assert {run.rows for run in runs if run.dataset in (CLOUDS, TEXTURES)} == {None}
    assert {run.measure for run in runs if run.dataset == TEXTURES} == {"scores", "seconds"}


@pytest.mark.parametrize("trial", [0, 1])
def test_the_demonstration_begins_where_the_mixture_without_links_goes_wrong(trial):
    without = PROTOCOL.compute(Run("ch04", CLOUDS, "w = 0", 1, trial))
    assert without.error is None
    assert without.scores["accuracy"] < 0.75
    assert np.shape(without.scores["means"]) == (4, 2, 2)
    assert np.shape(without.scores["covariances"]) == (4, 2, 2, 2)


def test_a_demonstration_without_a_bad_start_fails(monkeypatch):
    monkeypatch.setattr(ch04, "WRONG", 0.0)
    monkeypatch.setattr(ch04, "MAX_TRIED_STARTS", 2)
    without = PROTOCOL.compute(Run("ch04", CLOUDS, "w = 0", 1, 0))
    assert without.error == "RuntimeError: From none of 2 starts does the mixture without links go wrong."
