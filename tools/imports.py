"""Import all distributions in requirements.txt and packages/: ``python tools/imports.py``.

The program prints a line for each module that can't be imported, and then exits with status 1. The program ignores
distributions that aren't installed, because pip reports them.
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
# Modules that can't be imported outside of their server. For uWSGI, the program only checks that the module exists.
WITHIN_OTHERS = {"uwsgidecorators"}
ENDINGS = tuple(importlib.machinery.all_suffixes())


def names() -> list[str]:
    """Return the names of the distributions in requirements.txt and of this project's packages."""
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    named = {match[0] for line in lines if (match := re.match(r"[A-Za-z0-9._-]+", line))}
    named |= {file.parent.name for file in ROOT.glob("packages/*/pyproject.toml")}
    return sorted(named)


def recorded(found: metadata.Distribution) -> list[PurePosixPath]:
    """Return the files in the distribution's RECORD. ``metadata.files`` would omit deleted files."""
    return [PurePosixPath(row[0]) for row in csv.reader((found.read_text("RECORD") or "").splitlines()) if row]


def modules(files: list[PurePosixPath]) -> list[str]:
    """Return the top-level modules and packages, including packages in namespaces without an ``__init__.py``."""
    packages = {file.parts[:-1] for file in files if file.name == "__init__.py"}
    top = {package for package in packages if package[:-1] not in packages}
    top |= {(file.name.partition(".")[0],) for file in files if len(file.parts) == 1 and file.name.endswith(ENDINGS)}
    return sorted(".".join(parts) for parts in top if all(part.isidentifier() for part in parts))


def broken(name: str) -> Iterator[str]:
    """Yield a line with the reason for each module of a distribution that can't be imported.

    If a distribution contains no modules, yield a line for each of its files that is missing.
    """
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
    # so that Locust doesn't replace sockets and threads for all modules that are imported later
    os.environ["LOCUST_SKIP_MONKEY_PATCH"] = "1"
    if lines := [line for name in names() for line in broken(name)]:
        sys.exit("\n".join(lines))


if __name__ == "__main__":
    main()
