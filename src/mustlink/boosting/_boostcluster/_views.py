"""Views: a base clusterer, and what it is given of the table and the links."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from mustlink._types import Floats, Indices
from mustlink.boosting._bases import BaseClusterer, BaseRun
from mustlink.boosting._boostcluster._coordinates import Coordinates
from mustlink.boosting._boostcluster._links import LinkSet
from mustlink.boosting._boostcluster._representations import Directions, Representation
from mustlink.errors import EstimatorError

__all__ = ["RepresentationView", "View", "run_base"]


class View(Protocol):
    """A way to cluster all rows by weighted links."""

    @property
    def name(self) -> str:
        """The name of the clusterer."""

    @property
    def label(self) -> str:
        """A short name of the representation, for reports."""

    @property
    def weighs_columns(self) -> bool:
        """Whether columns are weighted."""

    def run(
        self,
        coordinates: Coordinates,
        links: LinkSet,
        weight: Floats,
        seed: int,
        where: str,
        *,
        column_evidence: Floats | None = None,
        rows: Indices | None = None,
    ) -> BaseRun | None:
        """Cluster all rows, given a weight for each link; None without a representation, or if an optional base fails.

        Columns are weighted by `column_evidence`, another weight for each link; None is the same. With `rows`, only
        these are clustered, and the others are predicted. `where` is the round, for error messages.
        """


@dataclass(frozen=True)
class RepresentationView:
    """A base clusterer in a linear representation."""

    base: BaseClusterer
    representation: Representation

    @property
    def name(self) -> str:
        return self.base.name

    @property
    def label(self) -> str:
        return self.representation.label

    @property
    def weighs_columns(self) -> bool:
        return self.representation.weighting is not None

    def run(
        self,
        coordinates: Coordinates,
        links: LinkSet,
        weight: Floats,
        seed: int,
        where: str,
        *,
        column_evidence: Floats | None = None,
        rows: Indices | None = None,
    ) -> BaseRun | None:
        directions = self.representation.directions(links, weight, column_evidence)
        if not directions.values.size:
            return None
        try:
            return run_base(self.base, coordinates, directions, seed, where, rows)
        except EstimatorError:
            if not self.base.is_optional:
                raise
            return None


def run_base(
    base: BaseClusterer,
    coordinates: Coordinates,
    directions: Directions | None,
    seed: int,
    where: str,
    rows: Indices | None = None,
) -> BaseRun:
    """Run a base in a representation, or on the plain table, and label all rows; None for `rows` is all."""
    table = coordinates.plain_for(base.takes_sparse) if directions is None else coordinates.represent(directions)
    if rows is None:
        run = base.run(table, seed, where)
    else:
        sample = table[rows]
        run = base.run(sample, seed, where).on_all_rows(sample, table, rows)
    return replace(run, directions=directions)
