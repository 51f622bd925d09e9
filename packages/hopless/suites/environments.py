"""Create the environments that the suites run in, and keep them in the user's cache."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import venv
from collections.abc import Iterable
from pathlib import Path

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"), "hopless-suites")
UV = "uv>=0.9"


def environment(python: str, packages: Iterable[str], versions: Path | None = None) -> Path:
    """Return the Python interpreter of an environment with these packages.

    Args:
        python: The interpreter that the environment is created for.
        packages: The requirements, as pip takes them. An environment with the same requirements is used again.
        versions: A file with the versions of packages, including the dependencies of the requirements.
    """
    packages = sorted(packages)
    digest = hashlib.sha256("\n".join([python, *packages, versions.read_text() if versions else ""]).encode())
    folder = CACHE / digest.hexdigest()[:16]
    complete = folder / "complete"
    if not complete.exists():
        uv = _uv()
        own = folder / "bin" / "python"
        subprocess.run([uv, "venv", "--quiet", "--clear", "--python", python, folder], check=True)
        constraints = ["--constraint", versions] if versions else []
        subprocess.run([uv, "pip", "install", "--quiet", "--python", own, *constraints, *packages], check=True)
        complete.touch()
    return folder / "bin" / "python"


def _uv() -> Path:
    folder = CACHE / "uv"
    program = folder / "bin" / "uv"
    if not program.exists():
        venv.create(folder, with_pip=True)
        pip = [folder / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
        subprocess.run([*pip, UV], check=True)
    return program


def this_python() -> str:
    """Return the interpreter that this environment was created from."""
    return str(getattr(sys, "_base_executable", sys.executable))
