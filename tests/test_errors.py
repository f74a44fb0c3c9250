"""Errors carry fields; every front end words the remedies itself."""

from __future__ import annotations

import ast
import copy
import pickle
import re
import string
from pathlib import Path

import pytest

from mustlink import errors
from mustlink.cli import _errors
from mustlink.errors import REMEDIES, ConstraintError, FileFormatError, InfeasibleError, MustlinkError
from mustlink.workflow import _loading

CLASSES = [getattr(errors, name) for name in errors.__all__ if name.endswith("Error")]


def fields_of(template: str) -> set[str]:
    """Return the names in braces."""
    return {name for _, name, _, _ in string.Formatter().parse(template) if name}


@pytest.mark.parametrize("words", [_errors.REMEDIES, _loading.REMEDIES])
def test_every_front_end_words_every_remedy_with_no_other_fields(words):
    assert words.keys() == REMEDIES.keys()
    assert all(fields_of(words[key]) <= fields_of(text) for key, text in REMEDIES.items())


def test_python_words_name_no_option_of_the_command():
    assert not [text for text in REMEDIES.values() if "--" in text]


def test_no_library_module_names_an_option_of_the_command():
    package = Path(errors.__file__).parent
    found = []
    for path in package.rglob("*.py"):
        if path.relative_to(package).parts[0] in ("cli", "reproduce"):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        documentation = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
            and node.body
            and isinstance(node.body[0], ast.Expr)
        }
        found += [
            f"{path.name}:{node.lineno}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation
            if re.search(r"(^|\s)--[a-z]", node.value)
        ]
    assert found == []


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
def test_errors_survive_copying_and_pickling(kind, again):
    error = kind("A problem", remedy=["mark_id", "ignore_column"], column="a b")
    error.add_note("a note")
    twin = again(error)
    assert type(twin) is kind
    assert str(twin) == str(error)
    assert (twin.problem, twin.remedy, twin.fields) == (error.problem, error.remedy, error.fields)
    assert twin.__notes__ == ["a note"]


@pytest.mark.parametrize("kind", [ConstraintError, InfeasibleError])
def test_pairs_survive_pickling(kind):
    twin = pickle.loads(pickle.dumps(kind("A problem.", [(1, 2)], remedy="relax")))
    assert twin.pairs == [(1, 2)]
    assert str(twin) == 'A problem; pass on_infeasible="relax".'


def test_errors_have_the_built_in_parents():
    parents = {
        "DataNotFoundError": LookupError,
        "DiskSpaceError": OSError,
        "EstimatorError": RuntimeError,
        "MustlinkError": Exception,
    }
    assert all(issubclass(kind, parents.get(kind.__name__, ValueError)) for kind in CLASSES)


def test_the_problem_stands_alone_without_a_remedy():
    assert str(MustlinkError("A sentence.")) == "A sentence."


def test_remedies_that_cannot_be_followed_are_left_out():
    error = FileFormatError("The column 'a' holds text", remedy=("mark_id", "ignore_column"), column="a")
    assert str(error.without_remedies("mark_id")) == "The column 'a' holds text; leave it out with ignore=['a']."
    assert str(error.without_remedies("mark_id", "ignore_column")) == "The column 'a' holds text."


def test_fields_are_quoted_for_the_shell():
    error = FileFormatError("The column 'a b' holds text", remedy=("mark_id", "ignore_column"), column="a b")
    assert str(error).endswith("; pass id_column='a b' if it names the rows, or leave it out with ignore=['a b'].")
    assert _errors.one_sentence(error).endswith(
        "; use --id 'a b' if it names the rows, or leave it out with --ignore 'a b'."
    )
