"""Stand-ins for the videos of chapter 17: images in tracks, links between tracks, and two spirals."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from mustlink._types import Array, Floats, Indices, Ints
from mustlink.constraints import Constraints
from mustlink.pairwise import PairwiseLogisticRegression
from mustlink.reproduce.engine._problem import Problem

N_PEOPLE, N_IMAGES, TRACK_LENGTHS, N_LABELS = 6, 60, (3, 8), 3
# Two arms of so many points; the outer share has no labels.
ARMS, N_SPIRAL_LABELS, TAIL = (201, 199), 40, 0.75


@dataclass(frozen=True)
class Scene:
    """Images in tracks, in the order of time, followed by the means of the tracks.

    `track` is that of each image, `identity` its person and `is_test` whether its track is in the second half; `y` has
    the labels of all rows, -1 for most.
    """

    X: Floats
    y: Ints
    track: Indices
    identity: Ints
    is_test: Array
    person: Ints  # of each track

    @property
    def n_images(self) -> int:
        """The number of rows that are images."""
        return len(self.track)

    def mean_row(self, track: Array) -> Array:
        """Return the row of the mean of each track."""
        return self.n_images + track


def make_scene(problem: Problem) -> Scene:
    """Draw images of some people, tracks of similar images, their order, and labels in the first half of the tracks."""
    rng = np.random.default_rng(problem.shared_seed)
    tracks = []
    for one in range(min(N_PEOPLE, problem.n_clusters)):
        rows = rng.permutation(np.flatnonzero(problem.y == one))[:N_IMAGES]
        tracks += [(one, track) for track in cut_into_tracks(problem.X, rows, rng)]
    tracks = [tracks[place] for place in rng.permutation(len(tracks))]
    rows = np.concatenate([track for _, track in tracks])
    track = np.repeat(np.arange(len(tracks)), [len(images) for _, images in tracks])
    person = np.array([one for one, _ in tracks])
    X = problem.X[rows]
    means = np.array([X[track == place].mean(axis=0) for place in range(len(tracks))])
    is_test = track >= len(tracks) // 2
    y = np.full(len(rows) + len(tracks), -1)
    for one in np.unique(person):
        own = np.flatnonzero((person[track] == one) & ~is_test)
        chosen = rng.permutation(own)[:N_LABELS]
        y[chosen] = one
    return Scene(np.concatenate([X, means]), y, track, person[track], is_test, person)


def cut_into_tracks(X: Floats, rows: Indices, rng: np.random.Generator) -> list[Indices]:
    """Cut the images of a person into tracks: a random image and those nearest to it."""
    tracks = []
    while len(rows):
        length = int(rng.integers(*TRACK_LENGTHS))
        nearest = np.argsort(np.square(X[rows] - X[rows[0]]).sum(axis=1))
        tracks.append(rows[nearest[:length]])
        rows = np.delete(rows, nearest[:length])
    return tracks


def ambiguous_tracks(scene: Scene, alone: PairwiseLogisticRegression, n_tracks: int) -> tuple[Indices, Floats]:
    """Return the test tracks with the largest loss of their worst image under the labels alone, and all losses."""
    scores = alone.decision_function(scene.X[: scene.n_images])
    best = np.abs(scores) if scores.ndim == 1 else scores.max(axis=1)
    loss = np.logaddexp(0.0, -best)
    of_track = np.full(len(scene.person), -np.inf)
    np.maximum.at(of_track, scene.track, loss)
    of_track[np.unique(scene.track[~scene.is_test])] = -np.inf
    order = np.argsort(-of_track, kind="stable")
    n_test = int(np.isfinite(of_track).sum())
    return order[: min(n_tracks, n_test)], of_track


def temporal_links(scene: Scene, tracks: Indices) -> Constraints:
    """Return must-links of images with the means of their tracks, and cannot-links of tracks at the same time."""
    images = np.flatnonzero(np.isin(scene.track, tracks))
    must = np.column_stack([images, scene.mean_row(scene.track[images])])
    # Tracks come in twos that overlap in time, which two people can, and one cannot.
    partner = np.where(tracks % 2 == 0, tracks + 1, tracks - 1)
    known = partner < len(scene.person)
    tracks, partner = tracks[known], partner[known]
    apart = scene.person[tracks] != scene.person[partner]
    return Constraints(must, unique_pairs(scene.mean_row(tracks[apart]), scene.mean_row(partner[apart])))


def active_links(scene: Scene, tracks: Indices, loss: Floats, gamma: float, pairing: str) -> Constraints:
    """Return true links of ambiguous tracks with the nearest or the farthest training tracks, or with each other."""
    means = scene.X[scene.n_images :]
    kernel = rbf_kernel(means, gamma=gamma)
    train = np.unique(scene.track[~scene.is_test])
    first, second = tracks, tracks
    if pairing == "COM":
        test = np.unique(scene.track[scene.is_test])
        value = loss[test][:, None] + loss[test][None] - kernel[np.ix_(test, test)]
        upper = np.triu_indices(len(test), 1)
        chosen = np.argsort(-value[upper], kind="stable")[: len(tracks)]
        first, second = test[upper[0][chosen]], test[upper[1][chosen]]
    else:
        near = kernel[np.ix_(tracks, train)]
        second = train[near.argmax(axis=1) if pairing == "MIN" else near.argmin(axis=1)]
    same = scene.person[first] == scene.person[second]
    rows = scene.mean_row(first), scene.mean_row(second)
    return Constraints(unique_pairs(rows[0][same], rows[1][same]), unique_pairs(rows[0][~same], rows[1][~same]))


def unique_pairs(first: Indices, second: Indices) -> Array:
    """Return each pair once."""
    return np.unique(np.sort(np.column_stack([first, second]), axis=1), axis=0)


def make_spiral() -> tuple[Array, Ints]:
    """Two arms of a spiral; the last column is the place on the arm, from 0 to 1."""
    rng = np.random.default_rng(0)
    parts, sides = [], []
    for side, n_points in enumerate(ARMS):
        place = np.linspace(0, 1, n_points)
        angle = 0.5 + 2.0 * np.pi * place + side * np.pi
        radius = 0.3 + place
        plane = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
        parts.append(np.column_stack([plane + rng.normal(scale=0.04, size=plane.shape), place]))
        sides.append(np.full(n_points, side))
    return np.concatenate(parts), np.concatenate(sides)


def spiral_knowledge(problem: Problem) -> tuple[Floats, Ints, Constraints]:
    """Return points, labels of the inner parts of the arms, and four must-links that lead outwards."""
    rng = np.random.default_rng(problem.shared_seed)
    X, place = problem.X[:, :2], problem.X[:, -1]
    y, must = np.full(len(X), -1), []
    for side in (0, 1):
        own = np.flatnonzero(problem.y == side)
        own = own[np.argsort(place[own], kind="stable")]
        inner = own[: int(TAIL * len(own))]
        chosen = rng.permutation(inner)[:N_SPIRAL_LABELS]
        y[chosen] = side
        tail = own[int(TAIL * len(own)) :]
        stops = [inner[-1], tail[(len(tail) - 1) // 2], tail[-1]]
        must += list(itertools.pairwise(stops))
    return X, y, Constraints(must)
