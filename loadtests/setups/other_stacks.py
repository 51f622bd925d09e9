"""Read the environments of old stacks, which are in stacks/ and have their own projects.

`make` installs each stack in a separate virtual environment. This module doesn't change these environments.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Iterable
from pathlib import Path

from loadtests import files
from loadtests.setups import knobs

FOLDER = files.ROOT / "stacks"
# The words of `stack=` in supervisor/conf.d, and the command that installs each stack.
STACKS = {"2016": "make stack-2016, with Python 3.11 or 3.10"}

LISTENS_ON = "127.0.0.1"  # as in the stacks' supervisor files, because the old packages have vulnerabilities


def is_installed(name: str) -> Callable[[Path], bool]:
    """Return a check for the environment of a stack."""
    return lambda bin: (_environment(name) / ".ready").is_file()


def obstacle(name: str) -> str | None:
    """Return why an installed stack must not be served, or None if it may be served.

    Raises:
        UserError: If BIND isn't valid.
    """
    bind = knobs.bind()
    if bind == LISTENS_ON:
        return None
    return f"the stack of {name} has known vulnerabilities and only listens on {LISTENS_ON}, not on BIND={bind}"


def versions(names: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return the versions of each stack's Python and packages for run.json, without starting the Python."""
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
