"""The stacks of other times: packages, and a project of their own, below stacks/. Each has a virtual environment of its
own, which is made when somebody asks for it and never by the way. Read here, not made."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Iterable
from pathlib import Path

from loadtests import files
from loadtests.setups import knobs

FOLDER = files.ROOT / "stacks"
# By name, how to get it: what `stack=` in supervisor/conf.d may say.
STACKS = {"2016": "make stack-2016, with Python 3.11 or 3.10"}

# What the project of each of them answers, with OK.
ANSWERS = ("/", "/healthz")
LISTENS_ON = "127.0.0.1"  # written into their setups' files: nobody mends what is wrong with such old packages


def is_installed(name: str) -> Callable[[Path], bool]:
    """Whether the environment of a stack is there, whatever the Python is that the other setups run with."""
    return lambda bin: (_environment(name) / ".ready").is_file()


def refused(name: str, asked: Iterable[tuple[str, str]]) -> str | None:
    """Why the project of a stack cannot be asked these requests (methods and paths), in a few words; None where it
    can."""
    strange = [path for method, path in asked if method != "GET" or path not in ANSWERS]
    return f"the project of {name} answers GET {' and GET '.join(ANSWERS)} alone" if strange else None


def obstacle(name: str) -> str | None:
    """Why a stack that is there is not to be served, in a few words; None where nothing is in the way. Raises UserError
    for a BIND that makes no sense."""
    bind = knobs.bind()
    if bind == LISTENS_ON:
        return None
    return f"the stack of {name} has known vulnerabilities and listens on {LISTENS_ON} alone, not on BIND={bind}"


def versions(names: Iterable[str]) -> dict[str, dict[str, str]]:
    """What run.json keeps of these stacks: a name for each, and under it the versions of its packages and, as one of
    them, of its Python. Read from its files: nothing of it is run."""
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
