"""``python tools/imports.py``: imports all that requirements.txt and packages/ name. What cannot be imported has a
line, and the exit status is 1. What is not installed at all, pip knows.
"""

from __future__ import annotations

import contextlib
import csv
import importlib
import importlib.machinery
import importlib.util
import io
import os
import re
import sys
import warnings
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[1]
# Found, and not run: it imports a module that uWSGI makes in its own process.
WITHIN_OTHERS = {"uwsgidecorators"}
ENDINGS = tuple(importlib.machinery.all_suffixes())


def names() -> list[str]:
    """The distributions that requirements.txt names, and this project's packages."""
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    named = {match[0] for line in lines if (match := re.match(r"[A-Za-z0-9._-]+", line))}
    named |= {file.parent.name for file in ROOT.glob("packages/*/pyproject.toml")}
    return sorted(named)


def recorded(found: metadata.Distribution) -> list[PurePosixPath]:
    """Its files, by its own record: ``metadata.files`` leaves out those that are gone."""
    return [PurePosixPath(row[0]) for row in csv.reader((found.read_text("RECORD") or "").splitlines()) if row]


def modules(files: list[PurePosixPath]) -> list[str]:
    """The modules and packages at the top, below namespaces without an ``__init__.py`` too."""
    packages = {file.parts[:-1] for file in files if file.name == "__init__.py"}
    top = {package for package in packages if package[:-1] not in packages}
    top |= {(file.name.partition(".")[0],) for file in files if len(file.parts) == 1 and file.name.endswith(ENDINGS)}
    return sorted(".".join(parts) for parts in top if all(part.isidentifier() for part in parts))


def broken(name: str) -> Iterator[str]:
    """What cannot be imported of a distribution, with the reason, or is missing where it has nothing to import."""
    try:
        found = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return
    files = recorded(found)
    top = modules(files)
    for module in top:
        try:
            if module not in WITHIN_OTHERS:
                with contextlib.redirect_stdout(io.StringIO()):
                    importlib.import_module(module)
            elif importlib.util.find_spec(module) is None:
                raise ModuleNotFoundError(module)
        except Exception as error:
            yield f"{name}: import {module}: {type(error).__name__}: {error}"
    if not top:
        yield from (f"{name}: {file} is missing" for file in files if not Path(str(found.locate_file(file))).exists())


def main() -> None:
    warnings.simplefilter("ignore")
    os.environ["LOCUST_SKIP_MONKEY_PATCH"] = "1"  # else importing Locust changes sockets and threads under the others
    if lines := [line for name in names() for line in broken(name)]:
        sys.exit("\n".join(lines))


if __name__ == "__main__":
    main()
