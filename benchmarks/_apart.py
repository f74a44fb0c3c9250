"""Measuring in a process of its own, in the environment that has the package."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

from benchmarks._environments import ROOT, NotInstallableError, python_of

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def run_apart(
    environment: str, module: str, *arguments: str, time_limit: float, variables: dict[str, str] | None = None
) -> dict[str, Any]:
    """Run ``python -m benchmarks.MODULE ARGUMENTS`` and return the JSON it prints, or what went wrong as "failed"."""
    try:
        done = subprocess.run(
            [python_of(environment), "-m", f"benchmarks.{module}", *arguments],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
            timeout=time_limit,
            env=os.environ | (variables or {}),
        )
    except NotInstallableError as error:
        return {"failed": f"not installed: {error}"}
    except subprocess.TimeoutExpired:
        return {"failed": f"no result in {time_limit:g} s", "too_long": True}
    if done.returncode:
        return {"failed": (done.stderr.strip() or "no message").splitlines()[-1]}
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures
