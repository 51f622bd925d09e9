"""The servers that a project's virtual environment lacks, in an overlay, so that neither it nor the project changes.

The overlay is a virtual environment of the same Python whose packages come first and the project's after them. pip sees
both, so only what is missing is installed, and what the project has pinned stays as it is.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from loadtests.errors import UserError, said
from loadtests.serve.setups import ROOT, Setup

INSTALLED_WITHIN_S = 900.0
REQUIREMENTS = ROOT / "requirements.txt"
PACKAGES = {"uwsgi": "pyuwsgi"}  # needs (loadtests.serve.needs) whose package has another name
# In the project's Python: where its packages are, which of the servers' it has, and the commands it offers.
PATHS = "import json, site, sys; print(json.dumps([p for p in sys.path if p.endswith('-packages')]))"
COMMANDS = """
import importlib.metadata, json
print(json.dumps({e.name: e.value for e in importlib.metadata.entry_points(group="console_scripts")}))
"""
SHIM = """#!{python}
import sys
from {module} import {name}
sys.exit({called}())
"""


def make(python: Path, setups: Iterable[Setup]) -> Path:
    """The folder of commands with which the setups serve a project that runs on this Python; makes it where needed.

    Raises UserError where it cannot be made.
    """
    if python.parent.resolve() == Path(sys.executable).parent.resolve():
        return python.parent  # our own environment has all servers
    wanted = requirements(setups)
    folder = _cache() / hashlib.sha256(f"{python}\n{wanted}".encode()).hexdigest()[:16]
    done = folder / "made-for.json"
    if not done.is_file():
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        try:
            _make(folder, python, wanted)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        done.write_text(json.dumps({"python": str(python), "requirements": wanted}), encoding="utf-8")
    return folder / "bin"


def requirements(setups: Iterable[Setup]) -> list[str]:
    """The pinned requirements of these setups, out of requirements.txt."""
    wanted = {PACKAGES.get(need, need) for setup in setups for need in setup.needs}
    lines = [line.split("#")[0].strip() for line in REQUIREMENTS.read_text(encoding="utf-8").splitlines()]
    return [line for line in lines if (match := re.match(r"[\w.-]+", line)) and match[0].lower() in wanted]


def _make(folder: Path, python: Path, wanted: list[str]) -> None:
    paths = json.loads(_said([python, "-c", PATHS]))
    _said([python, "-m", "venv", "--without-pip", folder])
    own = folder / "bin" / "python"
    [packages] = json.loads(_said([own, "-c", PATHS]))
    # A .pth line puts its folder behind the overlay's own packages.
    (Path(packages) / "project.pth").write_text("\n".join(paths) + "\n", encoding="utf-8")
    if wanted:
        pip: list[str | Path] = [
            sys.executable,
            "-m",
            "pip",
            "--python",
            own,
            "--quiet",
            "--disable-pip-version-check",
            "install",
        ]
        _said([*pip, *wanted])
    commands = json.loads(_said([own, "-c", COMMANDS]))
    for command, value in commands.items():
        module, _, name = value.partition(" ")[0].partition(":")
        shim = folder / "bin" / command
        if not shim.exists():  # the project's own server, in the overlay's Python
            shim.write_text(
                SHIM.format(python=own, module=module, name=name.split(".")[0], called=name), encoding="utf-8"
            )
            shim.chmod(0o755)


def _said(command: list[str | Path]) -> str:
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=INSTALLED_WITHIN_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UserError(f"the servers cannot be installed beside the project: {error}") from None
    if done.returncode:
        raise UserError(f"the servers cannot be installed beside the project: {said(done.stderr)}")
    return done.stdout


def _cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home) / "django-serving-benchmark" / "overlays"
