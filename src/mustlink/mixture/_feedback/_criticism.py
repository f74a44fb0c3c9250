"""All criticism of a clustering so far: what is satisfied, what is given up, and the directions of the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from mustlink._types import Floats, Indices, Ints, Mask
from mustlink.constraints import Constraints
from mustlink.mixture._feedback._divergence import (
    Documents,
    Gradients,
    cluster_gradient,
    pair_gradients,
    spread_gradient,
    term_gradient,
)
from mustlink.mixture._feedback._kinds import Feedback

__all__ = ["Criticism", "Item"]

# The overlap of two sets of rows, over their union, from which a cluster counts as the same.
MIN_OVERLAP = 0.5
# Rows whose divergence, over their length, is less cannot be told apart by any term weights.
MIN_DIVERGENCE = 1e-9


@dataclass(frozen=True, eq=False)
class Item:
    """A criticism, the rows of its clusters when it was made, and for how many refits it was not satisfied."""

    feedback: Feedback
    members: tuple[Ints, ...] = ()
    n_rounds: int = 0
    is_new: bool = True

    def is_satisfied(self, labels: Ints) -> bool:
        """Return whether a clustering satisfies it."""
        match self.feedback.kind:
            case "must_link" | "cannot_link" as kind:
                a, b = self.feedback.rows
                return bool((labels[a] == labels[b]) == (kind == "must_link"))
            case "belongs" | "move":
                return bool(labels[self.feedback.rows[0]] == self.feedback.target)
            case "not_belongs":
                return bool(labels[self.feedback.rows[0]] != self.feedback.clusters[0])
            case "good" | "bad" as kind:
                return _is_still_there(self.members[0], labels) == (kind == "good")
            case "merge" | "apart" as kind:
                a, b = (_main_cluster(rows, labels) for rows in self.members)
                return (a == b) == (kind == "merge")
            case _:
                return not self.is_new


@dataclass(frozen=True, eq=False)
class Criticism:
    """The links of a fit and the items given since; a value, so that a refit that fails changes nothing."""

    links: Constraints = field(default_factory=Constraints)
    link_rounds: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    items: tuple[Item, ...] = ()

    @classmethod
    def of_links(cls, links: Constraints) -> Criticism:
        """Begin with the links of a fit."""
        return cls(links, np.zeros(len(links), dtype=np.int64))

    def add(self, feedback: Feedback, labels: Ints) -> Criticism:
        """Return the criticism with one more item, which replaces what was said of the same rows or clusters."""
        members: tuple[Ints, ...] = ()
        if not feedback.rows:
            members = tuple(np.flatnonzero(labels == cluster) for cluster in feedback.clusters)
        links, rounds = self.links, self.link_rounds
        if feedback.kind in ("must_link", "cannot_link"):
            is_kept = (links.pairs != np.sort(feedback.rows)).any(axis=1)
            links, rounds = links.take(is_kept), rounds[is_kept]
        kept = [item for item in self.items if not feedback.replaces(item.feedback)]
        return Criticism(links, rounds, (*kept, Item(feedback, members)))

    @property
    def has_new(self) -> bool:
        """Whether anything was said since the last refit."""
        return any(item.is_new for item in self.items)

    def unsatisfied(self, labels: Ints) -> list[Feedback]:
        """List what a clustering does not satisfy, the links of the fit first."""
        broken = self.links.violations(labels)
        return [
            *(Feedback("must_link", tuple(pair)) for pair in broken.must_link.tolist()),
            *(Feedback("cannot_link", tuple(pair)) for pair in broken.cannot_link.tolist()),
            *(item.feedback for item in self.items if not item.is_satisfied(labels)),
        ]

    def n_unmet_clusters(self, labels: Ints) -> int:
        """Return how many wishes on whole clusters a clustering does not meet."""
        kinds = ("good", "bad", "merge", "apart")
        return sum(item.feedback.kind in kinds and not item.is_satisfied(labels) for item in self.items)

    def given_up(self, labels: Ints, max_rounds: int) -> list[Feedback]:
        """List what is not satisfied and no longer tried."""
        links = self.links.take(self.link_rounds >= max_rounds)
        items = tuple(item for item in self.items if item.n_rounds >= max_rounds)
        return Criticism(links, self.link_rounds[:0], items).unsatisfied(labels)

    def all_links(self) -> Constraints:
        """Return the links of the fit and of feedback together."""
        chosen = [item.feedback for item in self.items if item.feedback.kind in ("must_link", "cannot_link")]
        if not chosen:
            return self.links
        sign = [1 if feedback.kind == "must_link" else -1 for feedback in chosen]
        more = Constraints.from_pairs([feedback.rows for feedback in chosen], sign)
        return self.links.add(more, contradictions="keep")

    def preferences(self, n_components: int, penalty: float) -> tuple[Indices, Floats]:
        """Return the rows that should or should not be in a cluster, and what is added to their log-potentials."""
        found: dict[int, Floats] = {}
        for item in self.items:
            if item.feedback.kind in ("belongs", "not_belongs", "move"):
                entry = found.setdefault(item.feedback.rows[0], np.zeros(n_components))
                is_costly = np.arange(n_components) == item.feedback.clusters[-1]
                entry[is_costly if item.feedback.target is None else ~is_costly] -= penalty
        rows = np.array(sorted(found), dtype=np.intp)
        return rows, np.array([found[row] for row in rows.tolist()]).reshape(len(rows), n_components)

    def count_round(self, labels: Ints) -> Criticism:
        """Return the criticism after a refit with these labels."""
        is_broken = ~self.links.satisfied(labels)
        items = (
            replace(item, n_rounds=item.n_rounds + (not item.is_satisfied(labels)), is_new=False) for item in self.items
        )
        return Criticism(self.links, self.link_rounds + is_broken, tuple(items))

    def directions(
        self, labels: Ints, documents: Documents, probabilities: Floats, max_rounds: int
    ) -> tuple[Gradients, Floats] | None:
        """Return the gradients of what is open, and how much each counts; None if nothing is.

        Parameters
        ----------
        labels : ndarray of shape (n_rows,)
            The present clusters.
        documents : Documents
            The rows.
        probabilities : ndarray of shape (n_components, n_terms)
            The term probabilities of the present clusters.
        max_rounds : int
            What was not satisfied for so many refits is given up.

        Returns
        -------
        (Gradients, ndarray) or None
            Divergences grow along a gradient whose number is positive, and shrink where it is negative.
        """
        is_open = ~self.links.satisfied(labels) & (self.link_rounds < max_rounds)
        opened = [
            item
            for item in self.items
            if item.feedback.kind != "different"
            and item.n_rounds < max_rounds
            # A good cluster is satisfied when it is praised, and becomes tighter once.
            and (not item.is_satisfied(labels) or (item.is_new and item.feedback.kind == "good"))
        ]
        links = self.links.take(is_open)
        asked = [item for item in opened if item.feedback.kind in ("must_link", "cannot_link")]
        pairs = np.concatenate([links.pairs, np.array([item.feedback.rows for item in asked]).reshape(-1, 2)])
        sign = [*links.sign, *(1 if item.feedback.kind == "must_link" else -1 for item in asked)]
        factor = -np.array(sign, dtype=np.float64) * np.concatenate([links.weight, np.ones(len(asked))])
        others = [
            _direction(item, documents, probabilities)
            for item in opened
            if item.feedback.kind not in ("must_link", "cannot_link")
        ]
        gradients = pair_gradients(documents, pairs.astype(np.intp))
        useful = ~_are_alike(gradients, documents, pairs.astype(np.intp))
        gradients, factor = gradients.take(np.flatnonzero(useful)), factor[useful]
        if others:
            gradients = Gradients.stack([gradients, Gradients.dense(np.array(others))])
            factor = np.append(factor, np.ones(len(others)))
        return (gradients, factor) if len(factor) else None


def _direction(item: Item, documents: Documents, probabilities: Floats) -> Floats:
    """Return the direction that a criticism of clusters asks for; up is a positive entry."""
    rows, clusters = item.feedback.rows, item.feedback.clusters
    match item.feedback.kind:
        case "belongs":
            return -cluster_gradient(documents, rows[0], probabilities[clusters[0]])
        case "not_belongs":
            return cluster_gradient(documents, rows[0], probabilities[clusters[0]])
        case "move":
            away, near = (cluster_gradient(documents, rows[0], probabilities[cluster]) for cluster in clusters)
            return away - near
        case "good" | "bad" as kind:
            spread = spread_gradient(documents, item.members[0], probabilities[clusters[0]])
            return spread if kind == "bad" else -spread
        case kind:
            between = term_gradient(probabilities[clusters[0]], probabilities[clusters[1]], 1.0, 1.0)
            return between if kind == "apart" else -between


def _are_alike(gradients: Gradients, documents: Documents, pairs: Indices) -> Mask:
    """Return which pairs of rows have no divergence, as of copies of a text."""
    lengths = documents.caps[pairs].sum(axis=1)
    return np.asarray(gradients.divergence(np.ones(documents.n_terms)) <= MIN_DIVERGENCE * np.maximum(lengths, 1.0))


def _is_still_there(members: Sequence[int] | Ints, labels: Ints) -> bool:
    """Return whether some cluster consists mostly of these rows."""
    inside = np.bincount(labels[members], minlength=labels.max() + 1)
    union = np.bincount(labels) + len(members) - inside
    return bool((inside >= MIN_OVERLAP * union).any()) if len(members) else False


def _main_cluster(members: Ints, labels: Ints) -> int:
    """Return the cluster that most of these rows are in; -1 if there are none."""
    return int(np.bincount(labels[members]).argmax()) if len(members) else -1
