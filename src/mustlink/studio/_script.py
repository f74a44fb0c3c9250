"""A Python script that gives the groups of a studio again, from the table and the links alone."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from mustlink._types import Ints
from mustlink._version import __version__
from mustlink.constraints import Constraints
from mustlink.studio._adapter import INSTANT, make_clusterer
from mustlink.studio._instant import MAX_COLUMNS
from mustlink.workflow import TableOptions

__all__ = ["ShownLabels", "write_script"]


@dataclass(frozen=True)
class ShownLabels:
    """The groups that are shown, and how they came about.

    Parameters
    ----------
    labels : ndarray of int, shape (n_rows,)
        The id of the group of each row; -1 is none.
    names : mapping of int to str
        The names of the groups.
    method : str
        "instant", or the clusterer of the catalogue that the labels are from.
    n_clusters : int or None
        The number of groups that was asked for.
    seed : int, default=0
        The seed.
    found : ndarray of int, shape (n_rows,), default=None
        The labels that the method found, if rows were then put where the person placed them.
    lone_pins : sequence of int, default=()
        Pinned rows without any link, which are seeds of the instant clustering.
    is_reduced : bool, default=False
        Whether the instant clustering is that of principal components.
    is_final : bool, default=True
        Whether the labels are those of the method for these links. If not, the script gives those that will be.
    """

    labels: Ints
    names: Mapping[int, str]
    method: str
    n_clusters: int | None
    seed: int = 0
    found: Ints | None = None
    lone_pins: Sequence[int] = ()
    is_reduced: bool = False
    is_final: bool = True

    @property
    def is_instant(self) -> bool:
        """Whether the labels are those of the instant clustering."""
        return self.method == INSTANT

    @property
    def clusterer(self) -> Any:
        """The clusterer, not fitted."""
        return make_clusterer("seeded-link" if self.is_instant else self.method, self.n_clusters, self.seed)


def write_script(
    options: TableOptions, row_names: Sequence[str], links: Constraints, shown: ShownLabels, *, is_frame: bool = False
) -> str:
    """Write a script that gives the labels that are shown, and writes them to a file.

    It reads the table with the same options, lists all links in force, fits the clusterer with the same seed, and
    numbers the groups as they were seen. Rows that were placed by hand, and that the method put elsewhere, are listed.

    Parameters
    ----------
    options : TableOptions
        Where the table is, and how its columns are used.
    row_names : sequence of str
        The names of the rows of X, all different.
    links : Constraints
        All links in force.
    shown : ShownLabels
        What is shown.
    is_frame : bool, default=False
        Whether the table is a data frame, which the script cannot find by itself.

    Returns
    -------
    str
        The script. All texts of the table stand in it as literals.
    """
    parts = [
        _heading(shown),
        _imports(shown),
        _table_lines(options, is_frame),
        _link_lines(links, row_names),
        _model_lines(shown, row_names),
        _group_lines(shown, row_names),
        _output_lines(options, is_frame),
    ]
    return "\n\n".join("\n".join(lines) for lines in parts) + "\n"


def _heading(shown: ShownLabels) -> list[str]:
    """Say what the script does."""
    lines = [f'"""The groups of a mustlink studio again, made with mustlink {__version__}."""']
    if not shown.is_final:
        lines += ["", "# The studio was still computing, and showed earlier groups; these are the ones for all links."]
    return lines


def _imports(shown: ShownLabels) -> list[str]:
    """Import what is needed."""
    uses_pca = shown.is_instant and shown.is_reduced
    uses_numpy = shown.is_instant and shown.lone_pins
    names = sorted({"Constraints", type(shown.clusterer).__name__})
    return [
        *(["import numpy as np"] if uses_numpy else []),
        "import pandas as pd",
        *(["from sklearn.decomposition import PCA"] if uses_pca else []),
        "",
        f"from mustlink import {', '.join(names)}",
        "from mustlink.workflow import TableOptions, load_table",
    ]


def _table_lines(options: TableOptions, is_frame: bool) -> list[str]:
    """Read the table."""
    given = [repr(os.fspath(options.table) if is_frame else os.path.abspath(options.table))]
    for option in fields(TableOptions):
        value, default = getattr(options, option.name), option.default
        if isinstance(default, tuple):
            value, default = list(value), []
        if option.name != "table" and value != default:
            given.append(f"{option.name}={value!r}")
    lines = [
        f"table = load_table(TableOptions({', '.join(given)}){', frame' if is_frame else ''})",
        "row = {name: place for place, name in enumerate(table.row_names)}",
    ]
    if is_frame:
        lines.insert(0, 'frame = pd.read_csv("table.csv")  # The data frame that the studio was opened with.')
    return lines


def _link_lines(links: Constraints, row_names: Sequence[str]) -> list[str]:
    """List the links, with their weights if these differ."""
    listed = links.without_groups()
    has_weights = bool((listed.weight != 1).any())
    lines = [
        *_pair_list("together", listed.must_link, listed.must_link_weight, row_names, has_weights),
        *_pair_list("apart", listed.cannot_link, listed.cannot_link_weight, row_names, has_weights),
        "links = Constraints(",
        f"    must_link=[(row[a], row[b]) for a, b{', _' if has_weights else ''} in together],",
        f"    cannot_link=[(row[a], row[b]) for a, b{', _' if has_weights else ''} in apart],",
        *(["    must_link_weight=[weight for _, _, weight in together],"] if has_weights else []),
        *(["    cannot_link_weight=[weight for _, _, weight in apart],"] if has_weights else []),
        '    contradictions="keep",',
        ")",
    ]
    if links.cannot_link_groups:
        lines.append("links = links.with_groups(table.rules.cannot_link_groups)")
    return lines


def _pair_list(name: str, pairs: Ints, weights: Any, row_names: Sequence[str], has_weights: bool) -> list[str]:
    """List pairs of rows by their names."""
    if not len(pairs):
        return [f"{name}: list = []"]
    lines = [f"{name} = ["]
    for (a, b), weight in zip(pairs.tolist(), weights.tolist(), strict=True):
        shown = f", {weight!r}" if has_weights else ""
        lines.append(f"    ({str(row_names[a])!r}, {str(row_names[b])!r}{shown}),")
    return [*lines, "]"]


def _model_lines(shown: ShownLabels, row_names: Sequence[str]) -> list[str]:
    """Fit the clusterer."""
    lines = ["X = table.X"]
    given = "X, constraints=links"
    if shown.is_instant and shown.is_reduced:
        lines.append(f"X = PCA({MAX_COLUMNS}, random_state={shown.seed}).fit_transform(X)")
    if shown.is_instant and shown.lone_pins:
        lines.append("seeds = np.full(len(X), -1)")
        lines += [f"seeds[row[{str(row_names[pin])!r}]] = {n}" for n, pin in enumerate(shown.lone_pins)]
        given = "X, seeds, constraints=links"
    return [*lines, f"model = {_spell(shown.clusterer)}.fit({given})"]


def _spell(clusterer: Any) -> str:
    """Write a clusterer with the parameters that are not its defaults."""
    defaults = type(clusterer)().get_params(deep=False)
    chosen = {name: value for name, value in clusterer.get_params(deep=False).items() if value != defaults[name]}
    return f"{type(clusterer).__name__}({', '.join(f'{name}={value!r}' for name, value in chosen.items())})"


def _group_lines(shown: ShownLabels, row_names: Sequence[str]) -> list[str]:
    """Number the groups as they were seen, by a row of each, and put the rows that were placed by hand."""
    found = shown.labels if shown.found is None else shown.found
    of_found = _match(found, shown.labels)
    lines = ["# A row of every group that was found, and the number of the group in the studio."]
    lines += _dictionary("groups", ((_first(found, label), group) for label, group in of_found.items()), row_names)
    lines += ["number = {model.labels_[row[name]]: group for name, group in groups.items()}"]
    lines += ["labels = [number.get(label, -1) for label in model.labels_.tolist()]"]
    expected = np.array([*(of_found.get(label, -1) for label in range(int(found.max(initial=-1)) + 1)), -1])[found]
    placed = np.flatnonzero(expected != shown.labels)
    if len(placed) and shown.is_final:
        lines += ["# Rows that were placed by hand, and are elsewhere without that."]
        lines += _dictionary("placed", ((at, int(shown.labels[at])) for at in placed.tolist()), row_names)
        lines += ["for name, group in placed.items():", "    labels[row[name]] = group"]
    return [*lines, f"names = {dict(sorted(shown.names.items()))!r}"]


def _match(found: Ints, shown: Ints) -> dict[int, int]:
    """Return for each label that was found the group that most of its rows are shown in, each group once."""
    both = (found >= 0) & (shown >= 0)
    pairs, counts = np.unique(np.column_stack([found[both], shown[both]]), axis=0, return_counts=True)
    matched: dict[int, int] = {}
    for place in np.argsort(-counts, kind="stable").tolist():
        label, group = pairs[place].tolist()
        if label not in matched and group not in matched.values():
            matched[label] = group
    return dict(sorted(matched.items(), key=lambda item: item[1]))


def _first(labels: Ints, label: int) -> int:
    """Return the first row with a label."""
    return int(np.argmax(labels == label))


def _dictionary(name: str, entries: Iterable[tuple[int, int]], row_names: Sequence[str]) -> list[str]:
    """Write rows, by their names, with numbers."""
    return [f"{name} = {{", *(f"    {str(row_names[at])!r}: {number}," for at, number in entries), "}"]


def _output_lines(options: TableOptions, is_frame: bool) -> list[str]:
    """Write the labels to a file."""
    stem = "table" if is_frame else Path(options.table).name.split(".")[0]
    return [
        f"result = pd.DataFrame({{{options.id_column or 'row'!r}: table.row_names}})",
        'result["cluster"] = pd.array([label if label >= 0 else None for label in labels], dtype="Int64")',
        'result["cluster_name"] = [names.get(label) for label in labels]',
        f"result.to_csv({stem + '.script.clusters.csv'!r}, index=False)",
        "print(result.to_string(max_rows=20))",
    ]
