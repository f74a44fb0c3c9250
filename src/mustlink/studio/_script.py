"""A Python script that gives the groups of a studio again, from the table and the links alone."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any

import numpy as np

from mustlink._types import Ints
from mustlink._version import __version__
from mustlink.constraints import Constraints
from mustlink.studio._adapter import INSTANT, make_clusterer
from mustlink.studio._export import ExportedFile
from mustlink.workflow import TableOptions

__all__ = ["ShownLabels", "export_python"]

# The instant clustering of a large table with many columns is that of so many principal components.
N_COMPONENTS = 12


@dataclass(frozen=True)
class ShownLabels:
    """What is shown, and how it came about.

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
    seed : int
        The seed.
    found : ndarray of int, shape (n_rows,), or None
        The labels that the method found, before rows were put where the person placed them; None if they are `labels`.
    lone_pins : sequence of int
        Pinned rows without any link, which are seeds of the instant clustering.
    is_reduced : bool
        Whether the instant clustering is that of principal components.
    is_final : bool
        Whether the labels are those of the method for these links; otherwise the method has still to run.
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


def export_python(
    options: TableOptions | None,
    row_names: Sequence[str],
    links: Constraints,
    shown: ShownLabels,
    *,
    stem: str = "studio",
) -> ExportedFile:
    """Export a script that gives the labels that are shown, and writes them to a file.

    It reads the table with the same options, lists all links, fits the clusterer with the same seed, and numbers the
    groups as they were seen. Rows that were placed by hand against what the method found are listed.

    Parameters
    ----------
    options : TableOptions or None
        Where the table is; None for a DataFrame, which the script then expects as ``X``.
    row_names : sequence of str
        The names of the rows of X.
    links : Constraints
        All links in force.
    shown : ShownLabels
        What is shown.
    stem : str, default="studio"
        What the names of the script and of the file that it writes begin with.

    Returns
    -------
    ExportedFile
    """
    model = _model_lines(shown)
    parts = [
        [*_heading(shown), *_imports(shown)],
        _table_lines(options),
        _link_lines(links, row_names, options),
        model,
        _group_lines(shown, row_names),
        _output_lines(options, f"{stem}.clusters.csv"),
    ]
    text = "\n\n".join("\n".join(lines) for lines in parts if lines) + "\n"
    return ExportedFile(f"{stem}.py", "text/x-python", text)


def _heading(shown: ShownLabels) -> list[str]:
    """Say what the script does."""
    lines = [f'"""Groups as they were seen in mustlink studio, by mustlink {__version__}."""', ""]
    if not shown.is_final:
        note = "The studio was still computing: it showed earlier groups, and these are the ones for all links."
        lines = [lines[0], "", f"# {note}"]
    return lines


def _imports(shown: ShownLabels) -> list[str]:
    """Import what is needed."""
    lines = ["import numpy as np", "import pandas as pd"]
    if shown.is_reduced and shown.method == INSTANT:
        lines.append("from sklearn.decomposition import PCA")
    lines += ["", f"from mustlink import {', '.join(sorted({'Constraints', _class_name(shown)}))}"]
    return [*lines, "from mustlink.workflow import TableOptions, load_table"]


def _class_name(shown: ShownLabels) -> str:
    return type(_model(shown)).__name__


def _model(shown: ShownLabels) -> Any:
    """Return the clusterer, not fitted."""
    return make_clusterer("seeded-link" if shown.method == INSTANT else shown.method, shown.n_clusters, shown.seed)


def _table_lines(options: TableOptions | None) -> list[str]:
    """Read the table."""
    given = [repr(os.fspath(options.table))] if options is not None else []
    for field in () if options is None else fields(TableOptions):
        value = getattr(options, field.name)
        default = field.default_factory() if field.default_factory is not MISSING else field.default
        if field.name != "table" and value != default and list(value or ()) != list(default or ()):
            given.append(f"{field.name}={value!r}")
        elif field.name != "table" and isinstance(value, bool) and value != default:
            given.append(f"{field.name}={value!r}")
    return [f"table = load_table(TableOptions({', '.join(given)}))", "X = table.X"]


def _link_lines(links: Constraints, row_names: Sequence[str], options: TableOptions | None) -> list[str]:
    """List the links."""
    return []


def _model_lines(shown: ShownLabels) -> list[str]:
    return []


def _group_lines(shown: ShownLabels, row_names: Sequence[str]) -> list[str]:
    return []


def _output_lines(options: TableOptions | None, name: str) -> list[str]:
    return []
