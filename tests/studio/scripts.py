"""Run exported scripts."""

from __future__ import annotations

import runpy
import subprocess
import sys
import warnings
from pathlib import Path

import pytest


def run_script(script: str, folder: Path) -> None:
    """Run a script in a folder; in this process, since another one takes seconds to start."""
    path = folder / "again.py"
    path.write_text(script, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings(action="ignore"):
        patch.chdir(folder)
        runpy.run_path(path.name, run_name="__main__")


def run_script_apart(script: str, folder: Path) -> None:
    """Run a script in a process of its own, as a person would."""
    (folder / "again.py").write_text(script, encoding="utf-8")
    done = subprocess.run([sys.executable, "-W", "ignore", "again.py"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
