"""Entities from the probabilities of pairs alone, by correlation clustering."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.sparse import coo_array
from scipy.special import logit

from mustlink._spelling import count
from mustlink._types import Floats, Ints, Mask
from mustlink.constraints import Constraints
from mustlink.errors import ConstraintError, FileFormatError, InfeasibleError
from mustlink.report import Decision, RowNames
from mustlink.tables import PairScores, Table, read_pair_scores
from mustlink.workflow._loading import LoadedTable
from mustlink.workflow._naming import with_row_names
from mustlink.workflow._resolution import SOFT_REMEDIES, Resolution, compare_records, read_kept_links

if TYPE_CHECKING:
    from mustlink.workflow._dedupe import DedupeJob

__all__ = ["DEFAULT_THRESHOLD", "resolve_pairs"]

DEFAULT_THRESHOLD = 0.5
# Probabilities nearer to 0 and 1 count as this near, so that no pair outweighs all others.
MIN_PROBABILITY = 1e-6
# The clusterer names its parameter, which is not that of a job.
PER_SOURCE = " (max_per_source)"


def resolve_pairs(job: DedupeJob, table: LoadedTable | None) -> Resolution:
    """Cluster the records of pairs so that probable matches are together and improbable ones apart."""
    from mustlink.graph import CorrelationClustering, signed_matrix

    scores = _read_scores(job, table)
    notices = [*(() if table is None else table.notices), *scores.notices]
    threshold = DEFAULT_THRESHOLD if job.threshold is None else float(job.threshold)
    bounded = float(np.clip(threshold, MIN_PROBABILITY, 1 - MIN_PROBABILITY))
    signed = signed_matrix(scores.pairs, scores.probability, len(scores.names), threshold=bounded, clip=MIN_PROBABILITY)
    evidence = np.asarray(signed[tuple(scores.pairs.T)])
    asked: dict[str, Any] = {"max_per_source": job.at_most, "random_state": 0}
    if job.unlisted is not None:
        unlisted = np.clip(job.unlisted, MIN_PROBABILITY, 1 - MIN_PROBABILITY)
        asked |= {"missing": "negative", "missing_penalty": float(logit(bounded) - logit(unlisted))}
    elif not (evidence < 0).any():
        notices.append(
            f"No pair is below the threshold of {threshold:g}, so that nothing keeps records apart that a chain of "
            "pairs joins. Include less probable pairs, or give a probability for pairs that are not listed."
        )
    rows = _as_rows(scores) if table is None else table
    links = Constraints()
    if job.links is not None:
        links, about_links = read_kept_links(rows, job.links, job.contradictions, job.unknown_ids)
        notices += about_links
    sources = scores.sources
    if table is not None and job.never_together is not None:
        sources = table.source.strings(job.never_together)
    model = CorrelationClustering(**asked)
    try:
        model.fit(signed, constraints=links, sources=None if sources is None else [cell or None for cell in sources])
    except (ConstraintError, InfeasibleError) as error:
        if error.problem.endswith(PER_SOURCE):
            raise InfeasibleError(error.problem.removesuffix(PER_SOURCE), error.pairs, remedy="apart_sources") from None
        raise with_row_names(error.without_remedies(*SOFT_REMEDIES), scores.names) from None
    labels = np.asarray(model.labels_)
    spellings = _spell(job, table, scores.names)
    is_open = _are_open(links, scores) & ~_are_full(labels, sources, job.at_most, scores)
    how = "the default" if job.threshold is None else "as given"
    return Resolution(
        table=table,
        names=scores.names,
        spellings=spellings,
        labels=labels,
        estimator=model,
        decisions=_decide(job, table, scores, evidence, is_open, labels, spellings, threshold),
        threshold=threshold,
        threshold_note=_note(model, scores, evidence, labels, threshold, how),
        unit="probability",
        notices=notices,
        id_name=scores.id_name,
        run={"Method": " ".join(repr(model).split())},
    )


def _read_scores(job: DedupeJob, table: LoadedTable | None) -> PairScores:
    """Read the pairs; without a column of ids, they name the rows of the table by number."""
    assert job.pairs is not None
    try:
        return read_pair_scores(
            job.pairs,
            ids=None if table is None else table.row_names,
            source_column=job.never_together if table is None else None,
            unknown_ids=job.unknown_ids,
            reading=job.reading if table is None else None,
        )
    except FileFormatError as error:
        if error.remedy != "skip_unknown_pairs" or job.id_column is not None:
            raise
        problem = f"{error.problem} (rows are known by their numbers)"
        raise FileFormatError(problem, remedy=("give_id_column", "skip_unknown_pairs")) from None


def _as_rows(scores: PairScores) -> LoadedTable:
    """Return the records of pairs as rows, for links that name them."""
    n_rows = len(scores.names)
    source = Table("the pairs", _no_columns(n_rows))
    return LoadedTable(np.empty((n_rows, 0)), np.arange(n_rows), (), (), source, scores.names, None)


def _no_columns(n_rows: int) -> Any:
    """Return a frame of rows without columns."""
    return pd.DataFrame(index=pd.RangeIndex(n_rows))


def _spell(job: DedupeJob, table: LoadedTable | None, names: list[str]) -> list[str]:
    """Return the texts of records where columns are named, else their names."""
    if table is None or not job.by:
        return names
    texts = [table.source.strings(name) for name in job.by]
    return [", ".join(filter(None, cells)) or name for name, *cells in zip(names, *texts, strict=True)]


def _are_open(links: Constraints, scores: PairScores) -> Mask:
    """Return which pairs the links do not decide."""
    component = links.components(len(scores.names))
    left, right = component[scores.pairs].T
    apart = component[links.cannot_link]
    keys = np.minimum(*apart.T) * np.int64(len(component)) + np.maximum(*apart.T)
    is_apart = np.isin(np.minimum(left, right) * np.int64(len(component)) + np.maximum(left, right), keys)
    return np.asarray((left != right) & ~is_apart)


def _are_full(labels: Ints, sources: Sequence[str] | None, at_most: int, scores: PairScores) -> Mask:
    """Return which pairs are of two entities that would together have too many records of a source."""
    left, right = labels[scores.pairs].T
    if sources is None:
        return np.zeros(len(left), dtype=bool)
    code, names = pd.factorize(np.array(sources, dtype=object))
    has_source = np.array([bool(cell) for cell in sources])
    shape = int(labels.max()) + 1, max(1, len(names))
    n_records = coo_array((has_source.astype(int), (labels, np.maximum(code, 0))), shape=shape).tocsr()
    n_together = (n_records[left] + n_records[right]).max(axis=1).toarray().ravel()
    return np.asarray((left != right) & (n_together > at_most))


def _decide(
    job: DedupeJob,
    table: LoadedTable | None,
    scores: PairScores,
    evidence: Floats,
    is_open: Mask,
    labels: Ints,
    spellings: list[str],
    threshold: float,
) -> list[Decision]:
    """Describe the decisions with the least evidence for them, first those against it, one per pair of entities."""
    left, right = scores.pairs.T
    together = labels[left] == labels[right]
    margin = np.where(together, evidence, -evidence)
    order = np.argsort(margin, kind="stable")
    order = order[is_open[order]]
    low, high = np.minimum(labels[left], labels[right])[order], np.maximum(labels[left], labels[right])[order]
    _, first = np.unique(low * np.int64(len(labels)) + high, return_index=True)
    shown = RowNames(spellings)
    decisions = []
    for place in order[np.sort(first)][: job.n_unsure].tolist():
        a, b = int(left[place]), int(right[place])
        with_cells = table is not None and job.report is not None
        decisions.append(
            Decision(
                rows=(a, b),
                names=(scores.names[a], scores.names[b]),
                spellings=(shown[a], shown[b]),
                together=bool(together[place]),
                similarity=float(scores.probability[place]),
                cells=compare_records(table, job.used_columns, a, b) if with_cells and table is not None else (),
                threshold=threshold,
            )
        )
    return decisions


def _note(model: Any, scores: PairScores, evidence: Floats, labels: Ints, threshold: float, how: str) -> str:
    """Say which threshold was used, and how many pairs the entities go against."""
    left, right = scores.pairs.T
    n_against = int(np.count_nonzero((labels[left] == labels[right]) & (evidence < 0)))
    n_apart = int(np.count_nonzero((labels[left] != labels[right]) & (evidence > 0)))
    note = f"Pairs from a probability of {threshold:g} on speak for one entity ({how})"
    if not n_against + n_apart:
        return f"{note}, and the entities agree with all pairs."
    note += (
        f"; of {count(len(left), 'pair')}, {n_against:,} below it {'is' if n_against == 1 else 'are'} together and "
        f"{n_apart:,} above it {'is' if n_apart == 1 else 'are'} apart."
    )
    if model.disagreement_ <= model.lower_bound_ * (1 + 1e-9) + 1e-9:
        return f"{note} No other entities disagree less with the pairs."
    return note
