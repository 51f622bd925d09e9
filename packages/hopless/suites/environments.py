"""Create the environments that the suites run in, and keep them in the user's cache."""

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
UV = Path(sys.executable).with_name("uv")  # requirements.txt contains uv


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
    """Let other threads and programs wait while this one looks for a folder of the cache and creates it."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def this_python() -> str:
    """Return the interpreter that this environment was created from."""
    return str(getattr(sys, "_base_executable", sys.executable))
