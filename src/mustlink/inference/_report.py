"""What inference did with the connected parts of a link graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mustlink._spelling import count

__all__ = ["InferenceReport"]


@dataclass(frozen=True)
class InferenceReport:
    """How the probabilities of the connected parts of a link graph are computed.

    Attributes
    ----------
    is_exact : bool
        Whether all probabilities are exact.
    width : int
        The largest number of neighbors that an exact elimination sums over at once: 0 if all parts are single nodes
        after hard links are collapsed, 1 for pairs and trees, 2 for a cycle.
    methods : mapping of str to int
        The number of connected parts solved by each method: "collapsed must-links", "bipartition" (hard links
        between two clusters), "pair", "tree", "clique", "junction tree", which are exact, and "spanning tree",
        "mean field", "Gibbs sampling", "belief propagation".
    n_dropped : int
        The number of links that the spanning trees leave out.

    Examples
    --------
    >>> from mustlink.inference import InferenceReport
    >>> InferenceReport(True, 1, {"pair": 2}, 0).describe()
    'Exact: 2 parts by pair.'
    """

    is_exact: bool
    width: int
    methods: Mapping[str, int]
    n_dropped: int

    def describe(self) -> str:
        """Describe what was done in one sentence.

        Returns
        -------
        str
        """
        if not self.methods:
            return "Exact: no links."
        named = ", ".join(f"{count(number, 'part')} by {method}" for method, number in self.methods.items())
        dropped = f"; {count(self.n_dropped, 'link')} left out" if self.n_dropped else ""
        return f"{'Exact' if self.is_exact else 'Approximate'}: {named}{dropped}."
