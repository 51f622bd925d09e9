"""Find the packages of loadtests and their imports, for tests/test_architecture.py and docs/architecture.rst.

import-linter can't check these layers, because it doesn't allow a package and its subpackage (records.run) in different
layers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).resolve().parents[2] / "loadtests"


class Layer(NamedTuple):
    """Packages (or single modules) that import only from lower layers, not from each other."""

    packages: tuple[str, ...]
    what: str


# From the top to the bottom. Each layer imports only from lower layers.
LAYERS = (
    Layer(("__main__", "installed"), "entry points"),
    Layer(("cli",), "registers the commands, and defines the exit codes"),
    Layer(("commands",), "a file for each command, which defines options, calls one function and prints the output"),
    Layer(("cluster",), "contains the master and the workers of a distributed load"),
    Layer(("profile",), "profiles servers"),
    Layer(("report",), "creates reports from run folders"),
    Layer(
        ("measure", "analyse"),
        "runs studies, and calculates intervals and verdicts. These two packages share only the run folder",
    ),
    Layer(
        ("serve", "engines"),
        "starts servers, checks their health and the contract, and generates load on all hosts",
    ),
    Layer(("hosts",), "the machines on which servers and services run, and the program on other machines"),
    Layer(("observe",), "observes processes, the machine, and other programs on the machine"),
    Layer(("records.run",), "writes, reads and checks run folders"),
    Layer(("trials",), "reads the figures of a trial, and judges whether it is valid"),
    Layer(("plan",), "defines studies, kinds of test, metrics and the order of trials"),
    Layer(("setups",), "reads the files in supervisor/, and finds the served project"),
    Layer(("workload", "journeys"), "defines requests, mixes, recordings, loads, and the steps of simulated users"),
    Layer(("services",), "supporting services: a slow or failing origin, and a datastore"),
    Layer(("records",), "defines the types of trials and results, and reads TOML into types"),
    Layer(("cleanup",), "stops processes and removes folders when their owner ends"),
    Layer(("formatting",), "formats figures and sentences"),
    Layer(("files",), "finds the project's files, reads files up to a size limit, and writes files atomically"),
    Layer(("errors",), "errors that the user can fix"),
)


PACKAGES = tuple(package for layer in LAYERS for package in layer.packages)


def imports() -> dict[str, dict[str, set[str]]]:
    """Return the files that import from another package, by importing package and then by imported package."""
    found: dict[str, dict[str, set[str]]] = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
        if parts[1] == "__init__":
            continue
        package = _package(".".join(parts))
        others = found.setdefault(package, {})
        for name in _imported(ast.parse(file.read_text(encoding="utf-8"))):
            if (other := _package(name)) != package:
                others.setdefault(other, set()).add(file.relative_to(PACKAGE.parent).as_posix())
    return found


def _package(module: str) -> str:
    """Return the package in LAYERS that contains a module, or the first part of the module's name."""
    name = module.removeprefix("loadtests.")
    fits = [package for package in PACKAGES if f"{name}.".startswith(f"{package}.")]
    return max(fits, key=len, default=name.split(".")[0])


def _imported(tree: ast.AST) -> Iterator[str]:
    """Yield the names of all loadtests modules that a file imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from (name for name in names if name.startswith("loadtests."))


def arrows_back(found: dict[str, dict[str, set[str]]]) -> list[str]:
    """Return a message with the importing files for each import from the same or a higher layer."""
    depth = {package: place for place, layer in enumerate(LAYERS) for package in layer.packages}
    return [
        f"{package} imports {other}: {', '.join(sorted(files))}"
        for package, others in found.items()
        for other, files in others.items()
        if depth[package] >= depth[other]
    ]


def picture() -> Iterator[str]:
    """Yield the lines of a reST table with a row for each layer: its packages, their job and their imports."""
    found = imports()
    yield from (".. list-table::", "   :header-rows: 1", "   :widths: 20 40 40", "")
    yield from ("   * - packages", "     - what they do", "     - what they import")
    for layer in LAYERS:
        names = "; ".join(layer.packages)
        yield from (f"   * - **{names}**", f"     - {layer.what}", f"     - {_below(found, layer.packages)}")


def _below(found: dict[str, dict[str, set[str]]], packages: Iterable[str]) -> str:
    order = [package for layer in LAYERS for package in layer.packages]
    others = {other for package in packages for other in found.get(package, {})}
    return ", ".join(sorted(others, key=order.index)) or "nothing of the project"
