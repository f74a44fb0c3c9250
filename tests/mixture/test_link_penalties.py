"""Weights of links from certainty, from a rate of wrong links, and from continuity on a grid."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mustlink import Constraints
from mustlink.errors import ConstraintError
from mustlink.mixture import HARD_WEIGHT, flip_rate_penalty, grid_links, links_of_certainty
from reference.link_models import labelings
from reference.penalized_mixture import log_preferences


@pytest.mark.parametrize(("flip_rate", "weight"), [(0.15, 0.867), (0.3, 0.424)])
def test_the_weights_of_the_chapter_are_half_the_penalty(flip_rate, weight):
    assert flip_rate_penalty(flip_rate) / 2 == pytest.approx(weight, abs=5e-4)


def test_a_flip_rate_has_limits():
    assert flip_rate_penalty(0.5) == 0
    assert flip_rate_penalty(0) == math.inf
    for bad in (-0.1, 0.6, math.nan, "a", None):
        with pytest.raises(ValueError, match=r"from 0 to 0.5; got"):
            flip_rate_penalty(bad)


def test_certainty_is_the_log_odds_of_the_penalty():
    links = links_of_certainty([(0, 1), (2, 3), (4, 5)], must_link_certainty=[0.9, 0.5, 0.2], penalty=2.0)
    assert links.must_link.tolist() == [[0, 1]]
    assert links.cannot_link.tolist() == [[4, 5]]
    np.testing.assert_allclose(2 * links.weight, [math.log(9), math.log(4)])
    links = links_of_certainty(cannot_link=[(0, 1), (2, 3)], cannot_link_certainty=[0.9, 0.2], penalty=1.0)
    np.testing.assert_allclose(links.must_link_weight, [math.log(4)])
    np.testing.assert_allclose(links.cannot_link_weight, [math.log(9)])


def test_certain_links_are_hard_and_stay_so():
    links = links_of_certainty([(0, 1), (2, 3)], [(1, 0), (4, 5)], cannot_link_certainty=[0.9, 0.0])
    assert links.must_link.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert (links.weight > HARD_WEIGHT).all()
    assert links.cannot_link.size == 0
    with pytest.raises(ConstraintError, match="Rows 0 and 1 are given both") as caught:
        links_of_certainty([(0, 1)], [(0, 1)])
    assert "majority" not in str(caught.value)


def test_log_odds_of_a_pair_given_twice_are_added():
    links = links_of_certainty(
        [(0, 1), (1, 0)], [(0, 1)], must_link_certainty=[0.9, 0.8], cannot_link_certainty=0.7, penalty=1.0
    )
    np.testing.assert_allclose(links.must_link_weight, math.log(9) + math.log(4) - math.log(7 / 3))
    assert links_of_certainty([(0, 1)], [(0, 1)], must_link_certainty=0.7, cannot_link_certainty=0.7).is_empty


@pytest.mark.parametrize("bad", [1.2, -0.1, math.nan])
def test_a_certainty_that_is_no_probability_names_the_pair(bad):
    with pytest.raises(ConstraintError, match=r"cannot-link is a probability.*for rows 7 and 3\.") as caught:
        links_of_certainty([(0, 1)], [(1, 2), (7, 3)], cannot_link_certainty=[0.9, bad])
    assert caught.value.pairs == [(7, 3)]


def test_many_bad_certainties_are_counted():
    with pytest.raises(ConstraintError, match="and 3 more") as caught:
        links_of_certainty([(i, i + 1) for i in range(8)], must_link_certainty=2.0)
    assert len(caught.value.pairs) == 8


def test_bad_pairs_and_numbers_are_refused():
    with pytest.raises(ConstraintError, match="joins row 3 with itself"):
        links_of_certainty([(3, 3)])
    with pytest.raises(ConstraintError, match=r"each of the 1 links; got an array of shape \(2,\)"):
        links_of_certainty([(0, 1)], must_link_certainty=[0.9, 0.8])
    with pytest.raises(ValueError, match="penalty must be a positive, finite number; got 0"):
        links_of_certainty([(0, 1)], penalty=0.0)
    with pytest.raises(ConstraintError, match="one number from 0 to 1, or one for each link; got 'sure'"):
        links_of_certainty([(0, 1)], must_link_certainty="sure")


@settings(deadline=None, max_examples=30)
@given(st.data(), st.integers(2, 4), st.integers(2, 3))
def test_the_prior_of_log_odds_is_that_of_flipped_relations(data, n_rows, n_components):
    """Appendix B: over all labelings, the ratio of the two is 1/(1 - gamma) per must-link, 1/gamma per cannot-link."""
    pairs = list(itertools.combinations(range(n_rows), 2))
    chosen = data.draw(st.lists(st.sampled_from(pairs), min_size=1, unique=True))
    is_must = np.array([data.draw(st.booleans()) for _ in chosen])
    gamma = np.array([data.draw(st.floats(0.55, 0.99)) for _ in chosen])
    links = Constraints.from_pairs(chosen, np.where(is_must, 1, -1))
    order = [chosen.index(tuple(pair)) for pair in links.pairs.tolist()]
    weighted = links_of_certainty(
        links.must_link,
        links.cannot_link,
        must_link_certainty=gamma[order][: len(links.must_link)],
        cannot_link_certainty=gamma[order][len(links.must_link) :],
        penalty=1.0,
    )
    assert np.array_equal(weighted.pairs, links.pairs)
    labels = labelings(n_rows, n_components)
    beta = weighted.sign * weighted.weight
    # The preferences of reference, with the constant that they leave out.
    log_prior = log_preferences(labels, weighted.pairs, beta) + np.maximum(beta, 0).sum()
    together = labels[:, links.pairs[:, 0]] == labels[:, links.pairs[:, 1]]
    is_right = together == (links.sign > 0)
    log_noisy = np.where(is_right, np.log(gamma[order]), np.log(1 - gamma[order])).sum(axis=1)
    expected = np.where(links.sign > 0, -np.log(1 - gamma[order]), -np.log(gamma[order])).sum()
    np.testing.assert_allclose(log_prior - log_noisy, expected, atol=1e-9)


@pytest.mark.parametrize("shape", [5, (5,), (3, 4), (2, 3, 4), (1, 1)])
def test_a_grid_links_the_sites_at_distance_one(shape):
    sites = list(itertools.product(*map(range, shape if isinstance(shape, tuple) else (shape,))))
    expected = [
        (a, b)
        for a, b in itertools.combinations(range(len(sites)), 2)
        if sum(abs(p - q) for p, q in zip(sites[a], sites[b], strict=True)) == 1
    ]
    links = grid_links(shape)
    assert list(map(tuple, links.must_link.tolist())) == expected
    assert links.cannot_link.size == 0
    assert (links.weight == 1).all()


def test_a_grid_takes_the_flip_rate_of_similar_labels():
    labels = np.array([[0, 0, 1], [0, -1, 1], [1, 1, 1]])
    # Of the eight pairs with two known labels, (0, 1)-(0, 2) and (1, 0)-(2, 0) differ.
    known = grid_links((4, 4), labels=labels)
    given = grid_links((4, 4), flip_rate=2 / 8)
    assert known == given
    np.testing.assert_allclose(3.0 * known.weight, math.log(3))
    assert len(grid_links((4, 4), flip_rate=0.75).cannot_link) == 24
    np.testing.assert_allclose(grid_links(9, labels=np.zeros(10), penalty=1.0).weight, math.log(8.5 / 0.5))


def test_bad_grids_are_refused():
    for bad in ((0, 3), (2.5,), (2, 2, 2, 2), "ab", ()):
        with pytest.raises(ValueError, match="shape must be one to 3 positive whole numbers"):
            grid_links(bad)
    for bad in (0.0, 1.0, math.nan, "a"):
        with pytest.raises(ValueError, match="flip_rate must be more than 0 and less than 1"):
            grid_links(3, flip_rate=bad)
    with pytest.raises(ValueError, match=r"as many axes as the grid, 2; got an array of shape \(3,\)"):
        grid_links((2, 2), labels=[0, 1, 1])
    with pytest.raises(ValueError, match="No two neighboring sites"):
        grid_links((2, 2), labels=[[0, -1], [-1, 0]])
    with pytest.raises(ValueError, match="flip_rate and labels exclude each other"):
        grid_links(3, flip_rate=0.1, labels=[0, 0, 1])
