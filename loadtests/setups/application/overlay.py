"""Create an overlay: a virtual environment with the servers on top of the user's environment, which isn't changed.

The servers have the versions of requirements.txt. Packages of the project keep their versions. If a server conflicts
with them, it isn't installed and its setups are skipped.
"""

from __future__ import annotations

import dataclasses
import fcntl
import hashlib
import json
import re
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

from loadtests import files
from loadtests.cleanup import program
from loadtests.errors import UserError
from loadtests.files import ROOT
from loadtests.setups import Setup, environment

HOPLESS = ROOT / "packages" / "hopless"
HOPLESS_HERE = f"hopless @ {HOPLESS.as_uri()}"
CONSTRAINTS = "constraints.txt"
PACKAGES = {"uwsgi": "pyuwsgi"}  # needs whose package has another name

# Programs for the project's Python, or the overlay's.
FOLDERS = "import json, sys; print(json.dumps([p for p in sys.path if p.endswith('-packages')]))"
WHICH = "import sys; print(sys.version, sys.base_prefix, sys.path)"
OWN = "import sysconfig; print(sysconfig.get_path('purelib'))"
VERSIONS = """
import importlib.metadata, json
# Of a package that is there twice, the first is imported.
found = {d.metadata["Name"]: d.version for d in reversed([*importlib.metadata.distributions()])}
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
    """The folder with the overlay's commands, and a line for each server that could not be installed."""

    bin: Path
    left_out: tuple[str, ...] = ()


def make(python: Path, setups: Iterable[Setup], extra: Iterable[str] = ()) -> Overlay:
    """Return the overlay for a project's Python with the servers of these setups and ``extra`` packages.

    If the overlay doesn't exist, create it.

    Raises:
        UserError: If it can't be created.
    """
    if python.parent.resolve() == environment.own_bin().resolve():
        return Overlay(python.parent)  # every server is installed in the benchmark's own environment
    pins = requirements(setups, extra)
    # The overlay depends on the Python, its package folders and the code of hopless.
    sources = [file.read_text(encoding="utf-8") for file in sorted(HOPLESS.rglob("hopless/*.py"))]
    key = f"{python}\n{_output([python, '-c', WHICH])}\n{pins}" + "".join(sources if HOPLESS_HERE in pins else ())
    folder = files.cache() / "overlays" / hashlib.sha256(key.encode()).hexdigest()[:16]
    folder.parent.mkdir(parents=True, exist_ok=True)
    with environment.opened_lock(folder.parent / f"{folder.name}.lock") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = folder / "made-for.json"
        missing = pins
        if done.is_file():
            missing = json.loads(done.read_text(encoding="utf-8"))["left_out"]
        else:
            shutil.rmtree(folder, ignore_errors=True)
            try:
                _make(folder, python)
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise
        # Try again to install what failed, maybe because of the network or the project's old packages. A server may run
        # from this folder at the same time, so it isn't created again.
        left_out = _install(folder, python, pins, missing)
        about = {"python": str(python), "requirements": pins, "left_out": list(left_out)}
        files.write_json(done, about)
    named = {line.partition(" @ ")[0]: why for line, why in left_out.items()}
    return Overlay(folder / "bin", tuple(f"{name} was left out: {why}" for name, why in named.items()))


def requirements(setups: Iterable[Setup], extra: Iterable[str] = ()) -> list[str]:
    """Return the requirements of these setups and the ``extra`` packages. hopless is the version in this repository."""
    names = {*extra, *(PACKAGES.get(need, need) for setup in setups for need in setup.needs)}
    lines = [line.split("#")[0].strip() for line in environment.REQUIREMENTS.read_text(encoding="utf-8").splitlines()]
    return [line for line in [*lines, HOPLESS_HERE] if line and _package(line) in names]


def versions(python: Path) -> dict[str, str]:
    """Return the version of every package that this Python finds."""
    found: dict[str, str] = json.loads(_output([python, "-c", VERSIONS]))
    return dict(sorted(found.items()))


def _make(folder: Path, python: Path) -> None:
    """Create the environment without the servers."""
    folders = json.loads(_output([python, "-c", FOLDERS]))
    _output([python, "-m", "venv", "--without-pip", folder])
    own = folder / "bin" / "python"
    packages = Path(_output([own, "-c", OWN]).strip())
    # After the overlay's own packages, including their .pth files (editable installs).
    lines = [f"import site; site.addsitedir({path!r})" for path in folders]
    (packages / "project.pth").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _install(folder: Path, python: Path, pins: list[str], missing: list[str]) -> dict[str, str]:
    """Install the ``missing`` servers next to the project's packages: with uv, or if that fails one by one with pip.

    Returns:
        The reason for each requirement that could not be installed.
    """
    servers = {_package(line) for line in pins}
    kept = [f"{name}=={version}\n" for name, version in versions(python).items() if _package(name) not in servers]
    (folder / CONSTRAINTS).write_text("".join(kept), encoding="utf-8")
    own = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(own), "--quiet", "--disable-pip-version-check"]
    left_out = {}
    if environment.uv() is not None and _install_with_uv(folder, missing, {_package(line) for line in kept}):
        missing = []
    for line in missing:
        try:
            _output([*pip, "install", "--constraint", str(folder / CONSTRAINTS), line])
        except UserError as error:
            left_out[line] = str(error)
    for command, value in json.loads(_output([own, "-c", COMMANDS])).items():
        module, _, name = value.partition(" ")[0].partition(":")
        shim = folder / "bin" / command
        if not shim.exists():  # a command of the project, to run with the overlay's Python
            text = SHIM.format(python=own, module=module, name=name.split(".")[0], called=name)
            shim.write_text(text, encoding="utf-8")
            shim.chmod(0o755)
    return left_out


def _install_with_uv(folder: Path, missing: list[str], kept: set[str]) -> bool:
    """Install all servers with uv, and return whether that worked.

    uv doesn't find the project's packages through project.pth, and must not install them again.
    """
    wanted, solved = folder / "wanted.txt", folder / "solved.txt"
    wanted.write_text("\n".join(missing), encoding="utf-8")
    python = ("--python", str(folder / "bin" / "python"))
    constraint = ("--constraint", str(folder / CONSTRAINTS))
    try:
        environment.run_uv("pip", "compile", *python, *constraint, "--no-annotate", "-o", str(solved), str(wanted))
        lines = [line for line in solved.read_text(encoding="utf-8").splitlines() if _package(line) not in kept]
        solved.write_text("\n".join(lines), encoding="utf-8")
        environment.run_uv("pip", "install", *python, "--no-deps", "--requirement", str(solved))
    except UserError:
        return False
    return True


def _package(requirement: str) -> str:
    match = re.match(r"[\w.-]+", requirement)
    return re.sub(r"[-_.]+", "-", match[0]).lower() if match else ""


def _output(command: list[str | Path]) -> str:
    return program.output(
        command, "the overlay for the project's Python cannot be made", environment.INSTALLED_WITHIN_S
    )
