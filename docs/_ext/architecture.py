"""The packages of loadtests and who imports whom, read from the code: what tests/test_architecture.py guards and what
docs/architecture.rst shows."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).resolve().parents[2] / "loadtests"


class Layer(NamedTuple):
    """Packages (or single modules) that stand side by side: they import what is below, and not each other."""

    packages: tuple[str, ...]
    what: str


# From the top to the bottom. Each imports only from below itself.
LAYERS = (
    Layer(("__main__",), "the way in"),
    Layer(("cli",), "registers the commands; exit codes"),
    Layer(("commands",), "a file a command: its options, one call, what is printed"),
    Layer(
        ("profile", "layers", "simulate", "agent"),
        "tools beside a run; what runs on other machines, that of the servers and of further clients",
    ),
    Layer(("measure", "report"), "makes runs; tells what they found. Neither knows the other: a run folder is between"),
    Layer(
        ("serve", "engines"),
        "servers up, healthy, held to the contract; the programs that make the load, here and on further clients",
    ),
    Layer(("hosts",), "the machine that servers and services run on"),
    Layer(("application",), "what is served"),
    Layer(("observe",), "processes, the machine, what else happened on it"),
    Layer(("searches",), "state machines of searches, without clock or process"),
    Layer(
        ("analyse",),
        "from records to figures, intervals and verdicts; what makes a trial invalid. Starts and writes nothing",
    ),
    Layer(("store",), "the run folder, and what it is read as"),
    Layer(("plan",), "studies, kinds of test, metrics, the order of trials"),
    Layer(
        ("workload", "setups", "journeys"),
        "requests, mixes, recordings, a load; what supervisor/ holds; what users do, step by step",
    ),
    Layer(
        ("origin", "services"),
        "an origin that is slow, or stumbles, as recipes say; a datastore: both run beside a setup",
    ),
    Layer(("records", "toml"), "what a run folder is made of, as types; TOML, key by key"),
    Layer(
        ("cleanup", "grid"), "processes and folders that do not outlive whoever asked for them; tables in a terminal"
    ),
    Layer(
        ("errors", "paths", "words", "files", "doing", "strangers"),
        "what the user must act on; where things are; figures as texts; files that a person names; what is done now; "
        "web pages that ask what listens here",
    ),
)


def imports() -> dict[str, dict[str, set[str]]]:
    """By package, which other packages of loadtests it imports, and in which of its files."""
    found: dict[str, dict[str, set[str]]] = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        unit = file.relative_to(PACKAGE).with_suffix("").parts[0]
        if unit == "__init__":
            continue
        others = found.setdefault(unit, {})
        for name in _imported(ast.parse(file.read_text(encoding="utf-8"))):
            if name != unit:
                others.setdefault(name, set()).add(file.relative_to(PACKAGE.parent).as_posix())
    return found


def _imported(tree: ast.AST) -> Iterator[str]:
    """The packages of loadtests that a file imports, wherever in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == "loadtests":
            names = [f"loadtests.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        else:
            continue
        yield from (name.split(".")[1] for name in names if name.startswith("loadtests."))


def arrows_back(found: dict[str, dict[str, set[str]]]) -> list[str]:
    """Every import that goes up or sideways, with the files it is in."""
    depth = {package: place for place, layer in enumerate(LAYERS) for package in layer.packages}
    return [
        f"{package} imports {other}: {', '.join(sorted(files))}"
        for package, others in found.items()
        for other, files in others.items()
        if depth[package] >= depth[other]
    ]


def picture() -> Iterator[str]:
    """The layers as the lines of a reST table, the top one first, each package with what it imports."""
    found = imports()
    yield from (".. list-table::", "   :header-rows: 1", "   :widths: 20 40 40", "")
    yield from ("   * - packages", "     - what they do", "     - what they import")
    for layer in LAYERS:
        told = "; ".join(layer.packages)
        yield from (f"   * - **{told}**", f"     - {layer.what}", f"     - {_below(found, layer.packages)}")


def _below(found: dict[str, dict[str, set[str]]], packages: Iterable[str]) -> str:
    order = [package for layer in LAYERS for package in layer.packages]
    others = {other for package in packages for other in found.get(package, {})}
    return ", ".join(sorted(others, key=order.index)) or "nothing of the project"
