"""The servers for a project with a virtual environment of its own, in an overlay: neither of the two changes.

The overlay is a virtual environment of the same Python. The servers in it are the benchmark's, at the versions of
requirements.txt; what they stand on and the project has is the project's, at its versions. A server that cannot go with
those is left out, and its setups are skipped.
"""

from __future__ import annotations

import dataclasses
import fcntl
import hashlib
import json
import os
import re
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

from loadtests import files
from loadtests.cleanup import program
from loadtests.errors import UserError
from loadtests.files import ROOT
from loadtests.setups import Setup

INSTALLED_WITHIN_S = 900.0
REQUIREMENTS = ROOT / "requirements.txt"
CONSTRAINTS = "constraints.txt"
PACKAGES = {"uwsgi": "pyuwsgi"}  # needs (loadtests.setups.needs) whose package has another name

# Asked of the project's Python, or the overlay's.
FOLDERS = "import json, sys; print(json.dumps([p for p in sys.path if p.endswith('-packages')]))"
WHICH = "import sys; print(sys.version, sys.base_prefix, sys.path)"
OWN = "import sysconfig; print(sysconfig.get_path('purelib'))"
VERSIONS = """
import importlib.metadata, json
found = {d.metadata["Name"]: d.version for d in importlib.metadata.distributions()}
print(json.dumps({name: version for name, version in found.items() if name}))
"""
COMMANDS = """
import importlib.metadata, json
found = importlib.metadata.entry_points()
chosen = found.select(group="console_scripts") if hasattr(found, "select") else found["console_scripts"]
print(json.dumps({e.name: e.value for e in chosen}))
"""
SHIM = """#!{python}
import sys
from {module} import {name}
sys.exit({called}())
"""


@dataclasses.dataclass(frozen=True)
class Overlay:
    """Where its commands are, and a line for each server that could not be installed."""

    bin: Path
    left_out: tuple[str, ...] = ()


def make(python: Path, setups: Iterable[Setup], besides: Iterable[str] = ()) -> Overlay:
    """The overlay with which the setups serve a project that runs on this Python, with what they need ``besides``; made
    where there is none yet.

    Raises UserError where it cannot be made.
    """
    if python.parent.resolve() == Path(sys.executable).parent.resolve():
        return Overlay(python.parent)  # our own environment has all servers
    wanted = requirements(setups, besides)
    # A Python that was replaced, or that finds its packages elsewhere now, is another one.
    key = f"{python}\n{_said([python, '-c', WHICH])}\n{wanted}"
    folder = cache() / "overlays" / hashlib.sha256(key.encode()).hexdigest()[:16]
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(folder.parent / f"{folder.name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = folder / "made-for.json"
        missing = wanted
        if done.is_file():
            missing = json.loads(done.read_text(encoding="utf-8"))["left_out"]
        else:
            shutil.rmtree(folder, ignore_errors=True)
            try:
                _make(folder, python, wanted)
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise
        # What was left out, perhaps for want of a network, is tried again; somebody may be served from here meanwhile.
        left_out = _install(folder, missing)
        about = {"python": str(python), "requirements": wanted, "left_out": list(left_out)}
        files.write_json(done, about)
    return Overlay(folder / "bin", tuple(f"{line} was left out: {why}" for line, why in left_out.items()))


def requirements(setups: Iterable[Setup], besides: Iterable[str] = ()) -> list[str]:
    """The pinned requirements of these setups, and of what else is needed, out of requirements.txt."""
    wanted = {*besides, *(PACKAGES.get(need, need) for setup in setups for need in setup.needs)}
    lines = [line.split("#")[0].strip() for line in REQUIREMENTS.read_text(encoding="utf-8").splitlines()]
    return [line for line in lines if line and _package(line) in wanted]


def versions(python: Path) -> dict[str, str]:
    """The version of every package that this Python finds."""
    found: dict[str, str] = json.loads(_said([python, "-c", VERSIONS]))
    return dict(sorted(found.items()))


def cache() -> Path:
    """Where the harness keeps what it made for other people's projects."""
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home) / "django-serving-benchmark"


def _make(folder: Path, python: Path, wanted: list[str]) -> None:
    """The environment without the servers, and what pip must keep to."""
    theirs = versions(python)
    folders = json.loads(_said([python, "-c", FOLDERS]))
    _said([python, "-m", "venv", "--without-pip", folder])
    own = folder / "bin" / "python"
    packages = Path(_said([own, "-c", OWN]).strip())
    # Behind the overlay's own packages; with the .pth files there (editable installs), which a bare path would skip.
    lines = [f"import site; site.addsitedir({path!r})" for path in folders]
    (packages / "project.pth").write_text("\n".join(lines) + "\n", encoding="utf-8")
    servers = {_package(line) for line in wanted}
    kept = [f"{name}=={version}\n" for name, version in theirs.items() if _package(name) not in servers]
    (folder / CONSTRAINTS).write_text("".join(kept), encoding="utf-8")


def _install(folder: Path, wanted: list[str]) -> dict[str, str]:
    """Installs the servers one by one, so that one that is not to be had does not keep the others out.

    Returns why not, by requirement, for those that could not be.
    """
    own = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(own), "--quiet", "--disable-pip-version-check"]
    left_out = {}
    for line in wanted:
        try:
            _said([*pip, "install", "--constraint", str(folder / CONSTRAINTS), line])
        except UserError as error:
            left_out[line] = str(error)
    for command, value in json.loads(_said([own, "-c", COMMANDS])).items():
        module, _, name = value.partition(" ")[0].partition(":")
        shim = folder / "bin" / command
        if not shim.exists():  # a command of the project's, in the overlay's Python
            text = SHIM.format(python=own, module=module, name=name.split(".")[0], called=name)
            shim.write_text(text, encoding="utf-8")
            shim.chmod(0o755)
    return left_out


def _package(requirement: str) -> str:
    match = re.match(r"[\w.-]+", requirement)
    return re.sub(r"[-_.]+", "-", match[0]).lower() if match else ""


def _said(command: list[str | Path]) -> str:
    return program.output(command, "the overlay for the project's Python cannot be made", INSTALLED_WITHIN_S)
