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

__all__ = ["RepresentationView", "Sample", "View", "label_all_rows", "run_base"]


@dataclass(frozen=True, eq=False)
class Sample:
    """The rows that a run looks at, if not at all."""

    labeled: Indices  # the rows that get a label, ascending; all linked rows are among them
    clustered: Indices  # those that are clustered, by their places among the labeled ones
    coordinates: Coordinates  # of the labeled rows


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
        sample: Sample | None = None,
    ) -> BaseRun | None:
        """Cluster all rows, or a sample, given a weight for each link.

        None without a representation, or if an optional base fails. Columns are weighted by `column_evidence`, another
        weight for each link; None is the same. `where` is the round, for error messages.
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
        sample: Sample | None = None,
    ) -> BaseRun | None:
        directions = self.representation.directions(links, weight, column_evidence)
        if not directions.values.size:
            return None
        try:
            return run_base(self.base, coordinates, directions, seed, where, sample)
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
    sample: Sample | None = None,
) -> BaseRun:
    """Run a base in a representation, or on the plain table."""
    if sample is None:
        return replace(
            base.run(coordinates.table_of(directions, base.takes_sparse), seed, where), directions=directions
        )
    table = sample.coordinates.table_of(directions, base.takes_sparse)
    clustered = table[sample.clustered]
    run = base.run(clustered, seed, where).on_all_rows(clustered, table, sample.clustered)
    return replace(run, directions=directions, rows=sample.labeled)


def label_all_rows(run: BaseRun, coordinates: Coordinates, takes_sparse: bool) -> BaseRun:
    """Return a run that labels all rows, given one of a sample; a run of all rows as it is."""
    if run.rows is None:
        return run
    table = coordinates.table_of(run.directions, takes_sparse)
    return run.on_all_rows(table[:0], table, run.rows)
