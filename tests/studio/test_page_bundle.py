"""The committed page of the studio belongs to the sources in ``web/``."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "web" / "source_hashes.py"
PAGE = ROOT / "src" / "mustlink" / "studio" / "page"


@pytest.fixture(scope="module")
def hashes() -> dict[str, Any]:
    if not SCRIPT.exists():
        pytest.skip("The sources of the page are in the repository, not in this package.")
    return runpy.run_path(str(SCRIPT))


def test_bundle_is_of_these_sources(hashes: dict[str, Any]) -> None:
    recorded = (PAGE / "sources.sha256").read_text(encoding="utf-8").splitlines()
    current = hashes["source_hashes"]().splitlines()
    changed = sorted({line.split("  ", 1)[1] for line in set(recorded) ^ set(current)})
    assert changed == [], f"The page of the studio is not built from its sources; run: make page (changed: {changed})"


def test_hashes_see_sources_and_bundle(hashes: dict[str, Any]) -> None:
    names = {line.split("  ", 1)[1] for line in hashes["source_hashes"]().splitlines()}
    assert {"package.json", "package-lock.json", "index.html", "vite.config.ts", "src/main.ts"} <= names
    assert {"page/index.html", "page/studio.js", "page/studio.css", "page/widget.js"} <= names
    assert not any(name.startswith(("dev/", "test/", "node_modules/")) for name in names)


def test_line_ends_do_not_matter(hashes: dict[str, Any], tmp_path: Path) -> None:
    unix, windows = tmp_path / "unix.ts", tmp_path / "windows.ts"
    unix.write_bytes(b"a\nb\n")
    windows.write_bytes(b"a\r\nb\r\n")
    assert hashes["_hash"](unix) == hashes["_hash"](windows)


def test_page_loads_nothing_from_elsewhere() -> None:
    page = (PAGE / "index.html").read_text(encoding="utf-8")
    assert 'src="./studio.js"' in page
    assert 'href="./studio.css"' in page
    # The security policy of the server allows neither.
    assert "<style" not in page
    assert page.count("<script") == 1
    for name in ("index.html", "studio.css"):
        assert "http" not in (PAGE / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["studio.js", "widget.js"])
def test_scripts_evaluate_no_text(name: str) -> None:
    script = (PAGE / name).read_text(encoding="utf-8")
    for unwanted in ("eval(", "Function(", "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write"):
        assert unwanted not in script
    addresses = {part.split("`")[0].split('"')[0] for part in script.split("http")[1:]}
    assert {address for address in addresses if address.startswith(("://", "s://"))} <= {"://www.w3.org/2000/svg"}


def test_lock_file_names_no_registry() -> None:
    lock = ROOT / "web" / "package-lock.json"
    if not lock.exists():
        pytest.skip("The sources of the page are in the repository, not in this package.")
    assert '"resolved"' not in lock.read_text(encoding="utf-8")
