"""The records of a table as entities, by their texts and by the groups in which they occur."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from mustlink._spelling import count
from mustlink._types import Ints
from mustlink.constraints import Constraints
from mustlink.errors import ConstraintError, FileFormatError, InfeasibleError
from mustlink.report import Decision, RowNames
from mustlink.tables import require
from mustlink.workflow._loading import REMEDIES, LoadedTable
from mustlink.workflow._naming import with_row_names
from mustlink.workflow._resolution import (
    SOFT_REMEDIES,
    Resolution,
    compare_records,
    known_entities,
    read_kept_links,
)
from mustlink.workflow._wording import reword_warnings

if TYPE_CHECKING:
    from mustlink.workflow._dedupe import DedupeJob

__all__ = ["resolve_records"]

MAX_SHOWN_LINES = 3
MAX_SHARED = 12
BETWEEN_TEXTS = ", "
# When two records of a group may be one entity, and the rule that keeps the others apart.
GROUP_RULES: dict[str, Any] = {"equal": "unequal", "never": True, "always": False}


def resolve_records(job: DedupeJob, table: LoadedTable) -> Resolution:
    """Compare the records of a table, and merge those that are one entity."""
    require("rapidfuzz", job.table or "", "comparing texts", "relational")
    texts = [table.source.strings(name) for name in job.by]
    notices = [*table.notices, *_check_texts(job, table, texts)]
    groups, about_groups = _read_groups(job, table)
    notices += about_groups
    links = Constraints()
    if job.links is not None:
        links, about_links = read_kept_links(table, job.links, job.contradictions, job.unknown_ids)
        notices += about_links
    model, warned = _fit(job, table, texts, groups, links)
    labels = np.asarray(model.labels_)
    spellings = [BETWEEN_TEXTS.join(filter(None, cells)) for cells in zip(*texts, strict=True)]
    decisions = _decide(job, table, model, labels, spellings, groups)
    threshold = float(model.threshold_)
    return Resolution(
        table=table,
        names=table.row_names,
        spellings=spellings,
        labels=labels,
        estimator=model,
        decisions=decisions,
        threshold=threshold,
        threshold_note=_note_threshold(job, threshold, len(links)),
        blocking_note=_note_blocking(job, model, known_entities(job, table), table.source.n_rows),
        unit="similarity",
        notices=[*notices, *warned],
        run={"Method": " ".join(repr(model).split()), "Similarities": f"{model.n_similarity_evaluations_:,} computed"},
    )


def _check_texts(job: DedupeJob, table: LoadedTable, texts: Sequence[Sequence[str]]) -> list[str]:
    """Refuse rows without any text, or note that each is left alone."""
    empty = [row for row, cells in enumerate(zip(*texts, strict=True)) if not any(cells)]
    if not empty:
        return []
    where = ", ".join(map(table.source.where, empty[:MAX_SHOWN_LINES]))
    more = f" and {len(empty) - MAX_SHOWN_LINES:,} more" if len(empty) > MAX_SHOWN_LINES else ""
    columns = " and ".join(map(repr, job.by))
    problem = f"{count(len(empty), 'row is', 'rows are')} empty in {columns} ({where}{more})"
    if job.missing == "error":
        raise FileFormatError(f"{table.source.source}: {problem}, and cannot be compared", remedy="empty_single")
    return [f"{problem}; each is an entity of its own, unless a link joins it."]


def _read_groups(job: DedupeJob, table: LoadedTable) -> tuple[list[Any] | None, list[str]]:
    """Return the groups of each record, and notes on columns of groups."""
    if not job.group:
        return None, []
    groups: list[list[str]] = [[] for _ in range(table.source.n_rows)]
    notices = []
    for name in job.group:
        n_empty = 0
        seen: Counter[str] = Counter()
        for own, cell in zip(groups, table.source.strings(name), strict=True):
            parts = [cell] if job.group_separator is None else cell.split(job.group_separator)
            keys = list(dict.fromkeys(part.strip() for part in parts if part.strip()))
            own += keys if len(job.group) == 1 else [f"{name}={key}" for key in keys]
            seen.update(keys)
            n_empty += not keys
        if n_empty:
            notices.append(f"{count(n_empty, 'row has', 'rows have')} no entry in the column {name!r}.")
        if max(seen.values(), default=0) < 2:
            notices.append(f"No two rows share a group of the column {name!r}, so that it has no effect.")
    return groups, notices


def _fit(
    job: DedupeJob, table: LoadedTable, texts: Sequence[Sequence[str]], groups: Any, links: Constraints
) -> tuple[Any, list[str]]:
    """Fit the clusterer; also return its warnings as sentences."""
    from mustlink.relational import CollectiveRelationalClustering

    asked = {"alpha": job.alpha, "blocking": job.blocking, "max_pairs": job.max_pairs}
    given: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
    given["group_cannot_link"] = GROUP_RULES[job.within_groups]
    if groups is None:
        # Without relations the similarity is that of the texts.
        given["alpha"] = 0.0
    threshold = "auto" if job.threshold is None else job.threshold
    model = CollectiveRelationalClustering(threshold, max_per_source=job.at_most, **given)
    sources = None
    if job.never_together is not None:
        sources = [cell or None for cell in table.source.strings(job.never_together)]
    records = texts[0] if len(texts) == 1 else np.array(texts, dtype=object).T
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model.fit(list(records), groups=groups, constraints=links, sources=sources)
        except (ConstraintError, InfeasibleError) as error:
            told = _tell_rule(job, error).without_remedies(*SOFT_REMEDIES)
            raise with_row_names(told, table.row_names) from None
    return model, reword_warnings(caught, REMEDIES)


def _tell_rule(job: DedupeJob, error: ConstraintError | InfeasibleError) -> ConstraintError | InfeasibleError:
    """Name the rule that a must-link is against, if there is only one."""
    has_groups = bool(job.group) and job.within_groups != "always"
    if error.remedy != "apart_rules" or has_groups == (job.never_together is not None):
        return error
    one, other = error.pairs[0]
    problem = f"Rows {one} and {other} have a must-link, but they, or rows joined with them, are"
    if has_groups:
        columns = " or ".join(map(repr, job.group))
        return InfeasibleError(f"{problem} in one group of the column {columns}", error.pairs, remedy="apart_groups")
    most = f"of which an entity has at most {count(job.at_most, 'record')}"
    problem = f"{problem} of one source in the column {job.never_together!r}, {most}"
    return InfeasibleError(problem, error.pairs, remedy="apart_sources")


def _note_threshold(job: DedupeJob, threshold: float, n_links: int) -> str:
    """Say which threshold was used and how it was chosen."""
    how = "the default" if job.threshold is None else "as given"
    if job.threshold == "links":
        how = f"chosen by {count(n_links, 'link')}"
    return f"Records are one entity from a similarity of {threshold:.5g} on ({how})."


def _note_blocking(job: DedupeJob, model: Any, known: Any, n_rows: int) -> str:
    """Say which blocking was used, how many pairs were compared, and which share of the known matches is among them."""
    candidates = model.candidates_
    is_listed = not isinstance(candidates, int)
    n_pairs = len(candidates) if is_listed else candidates
    how = ", chosen by the texts" if job.blocking == "auto" else ""
    note = (
        f"Blocking ({model.blocking_}{how}): {n_pairs:,} of {count(n_rows * (n_rows - 1) // 2, 'pair')} of rows "
        f"{'was' if n_pairs == 1 else 'were'} compared"
    )
    if known is None or not is_listed:
        return f"{note}."
    from mustlink.relational import candidate_recall

    # A row without a known entity is of no known match.
    code = pd.factorize(known)[0]
    unknown = code < 0
    code[unknown] = len(code) + np.flatnonzero(unknown)
    share = candidate_recall(candidates, code)
    return (
        f"{note}." if np.isnan(share) else f"{note}, with {share:.1%} of the matches in the column {job.truth_column}."
    )


def _decide(
    job: DedupeJob, table: LoadedTable, model: Any, labels: Ints, spellings: Sequence[str], groups: Any
) -> list[Decision]:
    """Describe the decisions that were least sure."""
    unsure = model.unsure(job.n_unsure)
    sides = _sides_of_merges(model, unsure)
    members = _rows_by_label(labels, {int(labels[row]) for pair in unsure for row in (pair["left"], pair["right"])})
    nearby = None if groups is None else _Nearby(groups, labels, spellings)
    shown = RowNames(spellings)
    decisions = []
    for place, pair in enumerate(unsure):
        a, b = int(pair["left"]), int(pair["right"])
        first, second = sides.get(place, (members[int(labels[a])], members[int(labels[b])]))
        decisions.append(
            Decision(
                rows=(a, b),
                names=(table.row_names[a], table.row_names[b]),
                spellings=(shown[a], shown[b]),
                together=bool(pair["merged"]),
                similarity=float(pair["similarity"]),
                attribute=None if groups is None else float(pair["attribute"]),
                relational=None if groups is None else float(pair["relational"]),
                sizes=(len(first), len(second)),
                shared=() if nearby is None else nearby.shared(first, second),
                cells=compare_records(table, job.used_columns, a, b) if job.report is not None else (),
                threshold=float(model.threshold_),
            )
        )
    return decisions


def _rows_by_label(labels: Ints, wanted: Iterable[int]) -> dict[int, list[int]]:
    """Return the rows of some entities."""
    return {label: np.flatnonzero(labels == label).tolist() for label in wanted}


def _sides_of_merges(model: Any, unsure: Any) -> dict[int, tuple[list[int], list[int]]]:
    """Return, by place, the records on both sides of merges among decisions, when they were merged."""
    start = np.asarray(model.bootstrap_labels_)
    members: dict[int, list[int]] = {}
    for row, label in enumerate(start.tolist()):
        members.setdefault(label, []).append(row)
    root = start.tolist()
    waiting: dict[int, set[int]] = {}
    for place, pair in enumerate(unsure):
        if pair["merged"]:
            for row in (pair["left"], pair["right"]):
                waiting.setdefault(root[row], set()).add(place)
    found = {}
    for left, right in zip(model.merges_["left"].tolist(), model.merges_["right"].tolist(), strict=True):
        one, other = root[left], root[right]
        ends = waiting.get(one, set()), waiting.pop(other, set())
        for place in ends[0] & ends[1]:
            sides = list(members[one]), list(members[other])
            found[place] = sides if unsure[place]["left"] in sides[0] else sides[::-1]
        waiting[one] = ends[0] ^ ends[1]
        for row in members[other]:
            root[row] = one
        members[one] += members.pop(other)
    return found


class _Nearby:
    """Which entities occur together with records."""

    def __init__(self, groups: Sequence[Sequence[Any]], labels: Ints, spellings: Sequence[str]) -> None:
        self._groups, self._labels, self._spellings = groups, labels, RowNames(spellings)
        self._rows: dict[Any, list[int]] = {}
        for row, keys in enumerate(groups):
            for key in keys:
                self._rows.setdefault(key, []).append(row)

    def shared(self, first: Sequence[int], second: Sequence[int]) -> tuple[str, ...]:
        """Return the spellings of the entities that occur with both sides, the most frequent first."""
        own = {int(self._labels[row]) for row in (first[0], second[0])}
        sides = [self._around(rows) for rows in (first, second)]
        both = [label for label in sides[0] if label in sides[1] and label not in own]
        both.sort(key=lambda label: (-sides[0][label].total() - sides[1][label].total(), label))
        texts = [(sides[0][label] + sides[1][label]).most_common(1)[0][0] for label in both]
        more = [f"and {len(texts) - MAX_SHARED:,} more"] if len(texts) > MAX_SHARED else []
        return (*texts[:MAX_SHARED], *more)

    def _around(self, rows: Sequence[int]) -> dict[int, Counter[str]]:
        """Return the spellings of every entity in the groups of records."""
        keys = dict.fromkeys(key for row in rows for key in self._groups[row])
        found: dict[int, Counter[str]] = {}
        for key in keys:
            for row in self._rows[key]:
                found.setdefault(int(self._labels[row]), Counter())[self._spellings[row]] += 1
        return found
