"""Votes on links by the must-link components of their rows."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mustlink import Constraints
from mustlink.boosting._boostcluster._links import LinkSet
from mustlink.boosting._robust._component_votes import ComponentVotes


def link_set(links: Constraints, n: int) -> LinkSet:
    return LinkSet.of(links, np.arange(n)[:, None].astype(float))


def slow_votes(votes: ComponentVotes, links: LinkSet, labels: np.ndarray) -> list[float]:
    """Remove each link of the forest, collect the rows that are still connected, and count."""
    own = labels[links.rows]
    edges = [tuple(end) for end, below in zip(votes.ends.T, votes.below, strict=True) if below == 1]

    def connected(start: int, without: tuple[int, int] | None) -> set[int]:
        found, waiting = {start}, [start]
        while waiting:
            row = waiting.pop()
            for a, b in edges:
                if (a, b) != without and row in (a, b):
                    other = b if row == a else a
                    if other not in found:
                        found.add(other)
                        waiting.append(other)
        return found

    def share(rows: set[int], label: int) -> float:
        return float(np.mean([label >= 0 and own[row] == label for row in rows]))

    expected = []
    for (a, b), below in zip(votes.ends.T.tolist(), votes.below, strict=True):
        if below == -1:
            expected.append(float(own[a] == own[b] and own[a] >= 0))
        else:
            cut = (a, b) if below == 1 else None
            expected.append((share(connected(a, cut), own[b]) + share(connected(b, cut), own[a])) / 2)
    return expected


@given(st.integers(0, 10**6), st.sampled_from([3, 12, 30]))
@settings(deadline=None, max_examples=60)
def test_votes_are_those_of_the_slow_version(seed: int, n_links: int) -> None:
    rng = np.random.RandomState(seed)
    y = rng.randint(3, size=20)
    y[:3] = [0, 0, 1]
    links = link_set(Constraints.sample(y, n_links, noise=0.2, random_state=seed), 20)
    labels = rng.randint(-1, 3, size=20)
    votes = ComponentVotes.of(links)
    np.testing.assert_allclose(votes.vote(labels), slow_votes(votes, links, labels))
    # Only must-links are in the forest, and only cannot-links are between components.
    component = Constraints(links.pairs[links.is_must]).components(20)
    apart = component[links.pairs[:, 0]] != component[links.pairs[:, 1]]
    assert ((votes.below == 0) == (~links.is_must & apart)).all()
    assert links.is_must[votes.below == 1].all()
    assert (links.pairs == np.sort(links.rows[votes.ends], axis=0).T).all()
    # The forest connects what the must-links connect, without a cycle.
    n_components = len(np.unique(votes.component))
    assert (votes.below == 1).sum() == len(links.rows) - n_components
    place = np.argsort(votes.order)
    assert (place[votes.parent] <= place).all()


def test_rows_tied_to_a_hard_row_decide() -> None:
    """Rows 0 to 4 are a star of must-links; row 4 is misplaced, and rows 5 to 8, of which 8 is misplaced, another."""
    must = [(0, 1), (0, 2), (0, 3), (0, 4), (5, 6), (5, 7), (5, 8)]
    links = link_set(Constraints(must, [(4, 8)]), 9)
    labels = np.array([0, 0, 0, 0, 1, 1, 1, 1, 0])
    votes = dict(zip(map(tuple, links.pairs.tolist()), ComponentVotes.of(links).vote(labels), strict=True))
    # Row 8 is with four of five rows of the first star, and row 4 with three of four of the second.
    assert np.isclose(votes[4, 8], (4 / 5 + 3 / 4) / 2)
    # Row 1 is with three of the four others, and row 0 with row 1.
    assert np.isclose(votes[0, 1], (3 / 4 + 1) / 2)
    assert votes[0, 4] == 0.0


def test_large_labels_take_no_memory() -> None:
    links = link_set(Constraints([(0, 1)], [(1, 2)]), 3)
    labels = np.array([10**12, 10**12, -2])
    assert ComponentVotes.of(links).vote(labels).tolist() == [1.0, 0.0]


def test_labels_of_one_kind_of_link_and_of_noise() -> None:
    for links in (Constraints([(0, 1)]), Constraints(None, [(0, 1)])):
        placed = link_set(links, 2)
        assert ComponentVotes.of(placed).vote(np.array([0, 0])).tolist() == [1.0]
        assert ComponentVotes.of(placed).vote(np.array([-1, -1])).tolist() == [0.0]
