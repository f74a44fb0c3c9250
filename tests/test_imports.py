"""Which part of the package may import which, read from the syntax trees, and what an import loads."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import mustlink

PACKAGE = Path(mustlink.__file__).parent

# Helpers without knowledge of clustering: they import nothing of ours but each other, and everything may import them.
HELPERS = {
    "_atomic",
    "_cells",
    "_coclustering_measures",
    "_codes_kernels",
    "_coloring_kernels",
    "_counts",
    "_drawn",
    "_eigen",
    "_estimators",
    "_html",
    "_information",
    "_jit",
    "_kernel",
    "_magnitude",
    "_plot_style",
    "_neighbors",
    "_numbering",
    "_positions",
    "_progress",
    "_row_order",
    "_rows_kernels",
    "_sklearn_compat",
    "_sorted_cells",
    "_spelling",
    "_types",
    "_union_find_kernels",
    "_version",
    "_warnings",
    "errors",
}

# From the bottom up. A part may import the parts of lower rows; within a row only its own modules, unless ALSO says so.
ROWS = [
    {"constraints"},
    {"inference"},
    {"_rows"},
    {"blocks"},
    {"base", "estimator_checks"},
    {
        "alternative",
        "boosting",
        "coclustering",
        "density",
        "graph",
        "hierarchy",
        "kmeans",
        "metric_learning",
        "mixture",
        "pairwise",
        "relational",
        "sizes",
        "spectral",
        "text",
    },
    {"active", "binding", "catalogue", "datasets", "metrics"},
    {"selection", "plot"},
    {"tables"},
    {"report"},
    {"workflow"},
    {"spark"},
    {"studio"},
    {"reproduce"},
    {"cli"},
]

# Beyond the rule: families that use another family, through its public classes only.
ALSO = {("boosting", "spectral"), ("boosting", "mixture"), ("boosting", "kmeans"), ("sizes", "kmeans")}

# Imports inside functions that go up or back: methods of the value that read and write files, balanced placement.
INSIDE = {("constraints", "tables"), ("kmeans", "sizes")}

FAMILIES = ROWS[5]


def rank(part: str) -> int:
    """The row of a part; an unknown part stands nowhere."""
    return next((place for place, row in enumerate(ROWS) if part in row), -1)


def imports_of(path: Path, package: Path) -> Iterator[tuple[str, bool, int]]:
    """Every module of ours that a file imports: its name, whether inside a function, and the line."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inner = {
        child
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for child in ast.walk(function)
    }
    only_types = {
        child
        for test in ast.walk(tree)
        if isinstance(test, ast.If) and "TYPE_CHECKING" in ast.unparse(test.test)
        for child in ast.walk(test)
    }
    for node in ast.walk(tree):
        if node in only_types:
            continue
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            if name.split(".")[0] == package.name:
                yield name, node in inner, node.lineno


def violations(package: Path) -> list[str]:
    """Say of every import that breaks the rule where it stands and what is wrong with it."""
    found = []
    for path in sorted(package.rglob("*.py")):
        inside = path.relative_to(package)
        own = inside.parts[0].removesuffix(".py")
        if own.startswith("__"):
            continue
        for name, is_inner, line in imports_of(path, package):
            parts = name.split(".")
            other = parts[1] if len(parts) > 1 else package.name
            where = f"{inside.as_posix()}:{line} imports {name}"
            if other == own or other in HELPERS:
                continue
            if own in HELPERS:
                found.append(f"{where}, but {own} imports nothing of ours")
            elif rank(own) < 0 or (other != "__version__" and rank(other) < 0):
                found.append(f"{where}, and {own if rank(own) < 0 else other} has no place in the rule")
            elif any(part.startswith("_") and part != "__version__" for part in parts[2:]):
                found.append(f"{where}, which is private to {other}")
            elif rank(other) >= rank(own) and (own, other) not in (ALSO | INSIDE if is_inner else ALSO):
                found.append(f"{where}, but {own} stands below {other} or beside it")
    return found


def test_every_import_keeps_the_rule() -> None:
    assert violations(PACKAGE) == []


BROKEN = {
    "constraints/_value.py": "import numpy\nfrom house.kmeans import Lloyd\n",
    "kmeans/_lloyd.py": "from house.density import Tree\n",
    "density/_tree.py": "def grow():\n    from house.constraints._closure import close\n",
    "errors.py": "import house.constraints\n",
    "selection/_choose.py": "def choose():\n    from house.tables import read\n",
    "attic/_box.py": "from house.base import Mixin\n",
    "report/_page.py": "from house.workflow import run\n",
}
SOUND = {
    "kmeans/_lloyd.py": "from house import errors\nfrom house.base import Mixin\nfrom house.kmeans._p import start\n",
    "boosting/_rounds.py": "from house.spectral import Spectral\n",
    "constraints/_value.py": "def read():\n    from house.tables import read_links\n",
    "report/_page.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from house.workflow import Job\n",
    "cli/__init__.py": "from house.workflow import run\n",
}


def build(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / "house" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "house"


@pytest.mark.parametrize("name", BROKEN)
def test_an_import_against_the_rule_is_found(name: str, tmp_path: Path) -> None:
    (found,) = violations(build(tmp_path, {name: BROKEN[name]}))
    assert found.startswith(f"{name}:")


def test_an_import_that_keeps_the_rule_is_not_reported(tmp_path: Path) -> None:
    assert violations(build(tmp_path, SOUND)) == []


def loaded_by(statement: str) -> set[str]:
    """The top-level packages that a fresh interpreter has loaded after a statement."""
    code = f"import sys\n{statement}\nprint(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("statement", "unwanted"),
    [
        ("import mustlink", {"numpy", "sklearn", "pandas", "numba", "matplotlib"}),
        ("import mustlink.cli", {"numpy", "sklearn", "pandas", "numba", "matplotlib"}),
        ("import mustlink.catalogue", {"numpy", "sklearn", "pandas", "numba", "matplotlib"}),
        ("import mustlink.constraints", {"numba", "matplotlib"}),
        # scikit-learn loads pandas by itself where it is installed.
        ("import mustlink.kmeans", {"matplotlib"}),
    ],
)
def test_an_import_loads_no_more_than_it_needs(statement: str, unwanted: set[str]) -> None:
    assert loaded_by(statement) & unwanted == set()
