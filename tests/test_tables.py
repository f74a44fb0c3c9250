"""The lists of methods in README, guide, reference and stub are what the catalogue gives."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import mustlink
from mustlink.catalogue import CATALOGUE, CLASSIFIERS, FAMILIES, METRIC_LEARNERS, OTHER_INPUTS

ROOT = Path(__file__).resolve().parent.parent


def load_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tables", ROOT / "docs" / "tables.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_list_is_what_the_catalogue_gives() -> None:
    for file, text in load_script().written().items():
        assert (ROOT / file).read_text(encoding="utf-8") == text, f"{file} is not up to date: run make tables"


def test_every_family_is_known_and_every_class_is_on_its_page() -> None:
    for entry in (*CATALOGUE, *OTHER_INPUTS, *METRIC_LEARNERS, *CLASSIFIERS):
        assert entry.family in FAMILIES
        page = (ROOT / "docs" / "guide" / f"{entry.family}.rst").read_text(encoding="utf-8")
        assert f"~mustlink.{entry.class_name}`" in page, f"docs/guide/{entry.family}.rst has no word on it"


def test_every_public_name_and_submodule_loads() -> None:
    for name in mustlink.__all__:
        assert getattr(mustlink, name) is not None
    assert {"cli", "constraints", "kmeans"} <= set(dir(mustlink))
    for entry in METRIC_LEARNERS:
        assert hasattr(entry.load(), "transform")
    for entry in CLASSIFIERS:
        assert hasattr(entry.load(), "predict")
    assert not hasattr(mustlink, "_nothing")
