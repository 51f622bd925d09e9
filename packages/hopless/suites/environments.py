"""Create the virtual environments of the suites in the user's cache."""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"), "hopless-suites")
UV = Path(sys.executable).with_name("uv")  # installed from requirements.txt


def environment(python: str, packages: Iterable[str], versions: Path | None = None) -> Path:
    """Return the Python interpreter of a virtual environment with these packages.

    Args:
        python: The interpreter for the environment.
        packages: Requirements in pip's format. Environments are reused if all arguments are equal.
        versions: A constraints file with the versions of the packages and of their dependencies.
    """
    packages = sorted(packages)
    digest = hashlib.sha256("\n".join([python, *packages, versions.read_text() if versions else ""]).encode())
    folder = CACHE / digest.hexdigest()[:16]
    own, complete = folder / "bin" / "python", folder / "complete"
    with made_once(folder):
        if not complete.exists():
            subprocess.run([UV, "venv", "--quiet", "--clear", "--python", python, folder], check=True)
            constraints = ["--constraint", versions] if versions else []
            subprocess.run([UV, "pip", "install", "--quiet", "--python", own, *constraints, *packages], check=True)
            complete.touch()
    return own


@contextmanager
def made_once(folder: Path) -> Iterator[None]:
    """Lock a folder of the cache, so that only one thread or program creates it."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def this_python() -> str:
    """Return the interpreter from which the current environment was created."""
    return str(getattr(sys, "_base_executable", sys.executable))
