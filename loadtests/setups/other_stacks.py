"""The stacks of other times below stacks/, with a project of their own, and today's on other Pythons, which the knob
PYTHON names: each in a virtual environment that `make` installs on request. Read here, never made."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Iterable
from pathlib import Path

from loadtests import files
from loadtests.setups import knobs

FOLDER = files.ROOT / "stacks"
# The words of `stack=` in supervisor/conf.d, with how to install each.
STACKS = {"2016": "make stack-2016, with Python 3.11 or 3.10"}

LISTENS_ON = "127.0.0.1"  # in their setups' files: such old packages have vulnerabilities


def is_installed(name: str) -> Callable[[Path], bool]:
    """Whether the environment of a stack was made."""
    return lambda bin: (_environment(name) / ".ready").is_file()


def python(name: str) -> Path:
    """The folder of the commands of today's stack on that Python, such as ``python3.13``."""
    return _environment(name) / "bin"


def missing_python(name: str) -> str | None:
    """How to install that Python's environment, where it was not made."""
    how = f"make setup PYTHONS={name}, where pyenv or the system has {name}"
    return None if (_environment(name) / ".ready").is_file() else f"{name} is not installed: {how}"


def obstacle(name: str) -> str | None:
    """Why an installed stack must not be served, in a few words. Raises UserError for an invalid BIND."""
    bind = knobs.bind()
    if bind == LISTENS_ON:
        return None
    return f"the stack of {name} has known vulnerabilities and listens on {LISTENS_ON} alone, not on BIND={bind}"


def versions(names: Iterable[str]) -> dict[str, dict[str, str]]:
    """The versions of each stack's packages and Python, as run.json keeps them; read from files, nothing is run."""
    return {f"stack_{name}": _versions(_environment(name)) for name in sorted({*names})}


def _versions(environment: Path) -> dict[str, str]:
    if not (environment / "pyvenv.cfg").is_file():
        return {}
    config = dict(line.split(" = ", 1) for line in (environment / "pyvenv.cfg").read_text("utf-8").splitlines())
    folders = [str(folder) for folder in environment.glob("lib/python3*/site-packages")]
    packages = {one.metadata["Name"]: one.version for one in importlib.metadata.distributions(path=folders)}
    return {"Python": config["version"], **dict(sorted(packages.items(), key=lambda item: item[0].lower()))}


def _environment(name: str) -> Path:
    return FOLDER / name / ".venv"
