"""Hashes of the page's sources and of its bundle: ``make page`` writes them, and a test compares them without Node."""

from __future__ import annotations

import hashlib
from pathlib import Path

WEB = Path(__file__).resolve().parent
PAGE = WEB.parent / "src" / "mustlink" / "studio" / "page"
RECORD = PAGE / "sources.sha256"
# What the bundle is made from; dev/ and test/ are not part of it.
SOURCES = ("package.json", "package-lock.json", "tsconfig.json", "*.config.ts", "index.html", "src/**/*.*")


def _hash(path: Path) -> str:
    # Git may write other line ends on other systems.
    return hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).hexdigest()


def source_hashes() -> str:
    """One line per file, as ``sha256sum`` writes them: sources first, then the files of the bundle."""
    sources = {path for pattern in SOURCES for path in WEB.glob(pattern) if path.is_file()}
    built = {path for path in PAGE.iterdir() if path.is_file() and path != RECORD}
    lines = [(path.relative_to(WEB).as_posix(), path) for path in sources]
    lines += [(f"page/{path.name}", path) for path in built]
    return "".join(f"{_hash(path)}  {name}\n" for name, path in sorted(lines))


if __name__ == "__main__":
    RECORD.write_text(source_hashes(), encoding="utf-8", newline="\n")
