"""Find the packages of loadtests and their imports, for tests/test_architecture.py and docs/architecture.rst.

import-linter can't express these layers, because it refuses a package and its subpackage (records.run, hosts.agent) in
different layers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).resolve().parents[2] / "loadtests"


class Layer(NamedTuple):
    """Packages (or single modules) that import lower layers, but not each other."""

    packages: tuple[str, ...]
    what: str


# From the top to the bottom. Each layer imports only from lower layers.
LAYERS = (
    Layer(("__main__", "installed"), "the way in"),
    Layer(("cli",), "registers the commands; exit codes"),
    Layer(("commands",), "a file a command: its options, one call, its output"),
    Layer(("cluster",), "the master and the workers of a load in several parts, as programs"),
    Layer(("profile", "hosts.agent"), "how a server uses its time; programs on other hosts"),
    Layer(("measure", "report"), "makes runs; reports on them. Neither knows the other: a run folder is between"),
    Layer(
        ("serve", "engines"),
        "servers up, healthy, checked against the contract; the programs that generate load, on this host and others",
    ),
    Layer(("hosts",), "the machines that servers and services run on"),
    Layer(("observe",), "processes, the machine, other load on it"),
    Layer(
        ("analyse",),
        "from records to figures, intervals and verdicts; what makes a trial invalid. Starts and writes nothing",
    ),
    Layer(("records.run",), "the run folder: written, read, checked as a whole"),
    Layer(("plan",), "studies, kinds of test, metrics, the order of trials"),
    Layer(("setups",), "what supervisor/ holds; the project that is served"),
    Layer(("workload", "journeys"), "requests, mixes, recordings, a load; what users do, step by step"),
    Layer(("services",), "an origin that is slow, or stumbles; a datastore: supporting services"),
    Layer(("records",), "trials and results as types; TOML read into them"),
    Layer(("cleanup",), "processes and folders that do not outlive their owner"),
    Layer(("formatting",), "figures and sentences as texts"),
    Layer(("files",), "where the project's files are; files read with a bound and written whole"),
    Layer(("errors",), "what the user must act on"),
)


PACKAGES = tuple(package for layer in LAYERS for package in layer.packages)


def imports() -> dict[str, dict[str, set[str]]]:
    """Return the packages of loadtests that each package imports, with the importing files."""
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
    """Return the package in LAYERS that contains a module: the longest matching name, or the first part."""
    name = module.removeprefix("loadtests.")
    fits = [package for package in PACKAGES if f"{name}.".startswith(f"{package}.")]
    return max(fits, key=len, default=name.split(".")[0])


def _imported(tree: ast.AST) -> Iterator[str]:
    """Yield all modules of loadtests that a file imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from (name for name in names if name.startswith("loadtests."))


def arrows_back(found: dict[str, dict[str, set[str]]]) -> list[str]:
    """Yield all imports of the same or a higher layer, with their files."""
    depth = {package: place for place, layer in enumerate(LAYERS) for package in layer.packages}
    return [
        f"{package} imports {other}: {', '.join(sorted(files))}"
        for package, others in found.items()
        for other, files in others.items()
        if depth[package] >= depth[other]
    ]


def picture() -> Iterator[str]:
    """Yield the lines of a reST table of the layers, from the top, with the imports of each package."""
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
