"""Find other versions of Python on this machine."""

from __future__ import annotations

import functools
import glob
import os
import re
import shutil
import subprocess
from pathlib import Path

from loadtests.errors import UserError
from loadtests.setups import environment

WORKS = "import sys, venv; sys.exit(sys.version_info < (3, 10))"


def missing(version: str) -> str | None:
    """Return how to install this version of Python, or None if it is installed."""
    try:
        find(version)
    except UserError as error:
        return str(error)
    return None


@functools.cache
def find(version: str) -> Path:
    """Find a working Python of this version on PATH, among pyenv's versions, or among uv's versions.

    Args:
        version: The version, such as ``3.13`` or ``3.14t``.

    Raises:
        UserError: If this machine has no such Python.
    """
    name = f"python{version}"
    pyenv = os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv"
    of_pyenv = glob.glob(f"{pyenv}/versions/{version.removesuffix('t')}.*/bin/{name}")
    newest = sorted(of_pyenv, key=lambda path: [int(part) for part in re.findall(r"\d+", path)], reverse=True)
    for program in filter(None, [shutil.which(name), *newest, _of_uv(version)]):
        if subprocess.run([program, "-c", WORKS], capture_output=True, check=False).returncode == 0:
            return Path(program)
    raise UserError(
        f"python={version}: {name} was not found. Install it, for example with: uv python install {version}, "
        f"pyenv install {version}, or apt-get install {name}-venv"
    )


def _of_uv(version: str) -> str | None:
    try:
        return environment.run_uv("python", "find", "--managed-python", "--no-python-downloads", version).strip()
    except UserError:
        return None
