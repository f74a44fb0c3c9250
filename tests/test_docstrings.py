"""The docstrings of public names are complete, as numpydoc sees it."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from dataclasses import is_dataclass
from typing import Any

import pytest
from numpydoc.validate import validate

import mustlink

# No extended summary, no See Also, a first word such as "k-means", or a return type that explains itself is no fault.
ALLOWED = {"ES01", "SA01", "SS02", "RT03"}
# For members also: examples stand with the class, and `self : MyClass` is what scikit-learn writes.
ALLOWED_OF_MEMBERS = {*ALLOWED, "EX01", "RT02"}
INHERITED = {"set_params", "get_params", "get_metadata_routing", "set_output", "with_traceback", "add_note"}


def public_objects() -> Iterator[tuple[str, Any]]:
    """Yield every public class and function under the name of the public module that lists it."""
    for module_info in pkgutil.iter_modules(mustlink.__path__):
        if module_info.name.startswith("_") or module_info.name == "cli":
            continue
        module = importlib.import_module(f"mustlink.{module_info.name}")
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isclass(value) or inspect.isfunction(value):
                yield f"{module.__name__}.{name}", value


OBJECTS = dict(public_objects())


def members_of(value: Any) -> list[str]:
    """List the public methods and properties that a class of ours defines or inherits from ours."""
    return [
        name
        for name, member in inspect.getmembers(value)
        if not name.startswith("_")
        and name not in INHERITED
        and (inspect.isfunction(member) or inspect.ismethod(member) or isinstance(member, property))
        and str(getattr(member, "__module__", value.__module__)).startswith("mustlink")
    ]


def faults(path: str, allowed: set[str]) -> list[str]:
    return [f"{path}: {code} {text}" for code, text in validate(path)["errors"] if code not in allowed]


def has_documented_fields(value: Any) -> bool:
    """Records list their fields once, as parameters or as attributes."""
    return inspect.isclass(value) and (
        is_dataclass(value) or issubclass(value, tuple | Exception) or getattr(value, "_is_protocol", False)
    )


@pytest.mark.parametrize("path", OBJECTS)
def test_docstring_is_complete(path: str) -> None:
    value = OBJECTS[path]
    allowed = set(ALLOWED)
    if has_documented_fields(value):
        allowed.add("PR01")
    if inspect.isclass(value) and issubclass(value, Exception):
        allowed.add("EX01")
    found = faults(path, allowed)
    if inspect.isclass(value):
        for name in members_of(value):
            found += faults(f"{path}.{name}", ALLOWED_OF_MEMBERS)
    assert found == []
