"""The tracks, links and spirals of chapter 17."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

from mustlink.constraints import Constraints
from mustlink.reproduce.engine._problem import Problem
from mustlink.reproduce.engine._results import Results
from mustlink.reproduce.papers import _ch17_data as data
from mustlink.reproduce.papers import ch17
from reproduce.ch17_results import record


@pytest.fixture
def problem() -> Problem:
    X, y = load_digits(return_X_y=True)
    return Problem(X[:900], y[:900], Constraints(), 10, 0, seed=0, amount=6, shared_seed=3)


def test_tracks_are_of_one_person_and_labels_are_in_the_first_half(problem):
    scene = data.make_scene(problem)
    assert scene.n_images == data.N_PEOPLE * data.N_IMAGES
    for track in np.unique(scene.track):
        assert len(set(scene.identity[scene.track == track])) == 1
        mean = scene.X[: scene.n_images][scene.track == track].mean(axis=0)
        np.testing.assert_allclose(scene.X[scene.mean_row(track)], mean)
    labeled = np.flatnonzero(scene.y >= 0)
    assert len(labeled) == data.N_PEOPLE * data.N_LABELS
    assert not scene.is_test[labeled].any()
    np.testing.assert_array_equal(scene.y[labeled], scene.identity[labeled])
    again = data.make_scene(problem)
    np.testing.assert_array_equal(scene.X, again.X)


@pytest.mark.parametrize("pairing", ["MIN", "MAX", "COM"])
def test_links_are_true_and_of_the_most_ambiguous_test_tracks(problem, pairing):
    scene = data.make_scene(problem)
    links = ch17.scene_links(scene, "both", pairing, problem.amount)
    truth = np.concatenate([scene.identity, scene.person])
    assert links.violation_rate(truth) == 0
    alone = ch17.regression().fit(scene.X, scene.y)
    tracks, loss = data.ambiguous_tracks(scene, alone, 6)
    assert scene.is_test[np.isin(scene.track, tracks)].all()
    assert loss[tracks].min() >= np.sort(loss)[-6]
    images = np.flatnonzero(np.isin(scene.track, tracks))
    temporal = data.temporal_links(scene, tracks)
    assert set(temporal.must_link[:, 0]) == set(images)
    assert len(data.active_links(scene, tracks, loss, alone.gamma_, pairing)) == 6


def test_labels_of_the_spirals_are_on_the_inner_parts():
    X, y = data.make_spiral()
    assert (np.sum(y == 0), np.sum(y == 1)) == data.ARMS
    plane, labels, links = data.spiral_knowledge(Problem(X, y, Constraints(), 2, 0, seed=0, shared_seed=1))
    assert plane.shape == (400, 2)
    assert X[labels >= 0, 2].max() < data.TAIL
    assert (len(links.must_link), len(links.cannot_link)) == (4, 0)
    assert links.violation_rate(y) == 0
    assert np.sum(labels == 0) == np.sum(labels == 1) == data.N_SPIRAL_LABELS


def test_an_average_is_over_all_numbers_of_tracks():
    errors = {ch17.CPKLR: (0.9, 0.1, 0.21), ch17.CPSVM: (0.1, 0.3, 0.2)}
    records = [
        record("digits", method, amount, error)
        for method, values in errors.items()
        for amount, error in zip((0, 4, 20), values, strict=True)
    ]
    claim = next(claim for part in ch17.PROTOCOL.parts for claim in part.claims if claim.name == "T3a")
    verdict = claim.judge(Results(records))
    assert verdict.held
    assert verdict.sentence == "digits: CPKLR 0.155, CPSVM 0.250."


@pytest.mark.parametrize(("after", "held"), [(0.219, True), (0.221, False)])
def test_the_gain_is_judged_by_the_share_that_the_claim_names(after, held):
    records = [record("digits", ch17.NPKLR, 0, 0.4), record("digits", ch17.NPKLR, 20, after)]
    claim = ch17.PROTOCOL.parts[0].claims[0]
    assert "to at most 55 %" in claim.text
    assert claim.judge(Results(records)).held is held
