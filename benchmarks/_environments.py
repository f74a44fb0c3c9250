"""The environments that the peers live in, made when they are first needed and never shared with mustlink."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent


class NotInstallableError(RuntimeError):
    """An environment cannot be made on this machine."""


def python_of(environment: str) -> str:
    """Return the interpreter of an environment: ours, or one with the packages of a file of peers.

    Raises
    ------
    NotInstallableError
        When there is no fitting Python, or a package cannot be installed.
    """
    if environment == "ours":
        return sys.executable
    requirements = HERE / ("peers.txt" if environment == "peers" else f"peers-{environment}.txt")
    folder = ROOT / (".venv-peers" if environment == "peers" else f".venv-peers-{environment}")
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp = folder / "installed.txt"
    if not stamp.exists() or stamp.read_text() != requirements.read_text():
        if not python.exists():
            _run([_interpreter_for(environment), "-m", "venv", str(folder)])
        _run([str(python), "-m", "pip", "install", "--quiet", "-r", str(requirements)])
        stamp.write_text(requirements.read_text())
    return str(python)


def _interpreter_for(environment: str) -> str:
    """Return a Python that the packages accept; clustlib wants 3.12 or the first 3.13."""
    if environment != "clustlib" or sys.version_info[:2] == (3, 12):
        return sys.executable
    for name in ("python3.12", "python3.13"):
        found = shutil.which(name)
        if found is not None and subprocess.run([found, "-V"], capture_output=True, check=False).returncode == 0:
            return found
    raise NotInstallableError("it needs Python 3.12, which is not on this machine")


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotInstallableError((done.stderr.strip() or "no message").splitlines()[-1])
