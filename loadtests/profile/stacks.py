"""The stack of a thread at a moment, as a tuple of frames with the outermost first."""

from __future__ import annotations

import ast
import bisect
import functools
import re
import tokenize
from collections import Counter
from typing import NamedTuple

STANDARD = "standard library"
INSTALLED = "installed"
PROJECT = "project"


class Frame(NamedTuple):
    """A function in a stack: its qualified name, its file below the folder that ``origin`` names, and the line where it
    begins, 0 where that is unknown."""

    name: str
    file: str
    line: int = 0
    origin: str = INSTALLED

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        return f"{self.name} ({where})" if where else self.name


Stack = tuple[Frame, ...]
Stacks = Counter[Stack]

_PACKAGES = re.compile(r".*/(?:site|dist)-packages/(.*)")
_STANDARD = re.compile(r".*/(?:lib(?:64)?/python3\.\d+t?|lib/python3)/(.*)")


class Reader:
    """Makes frames from the output of samplers; files of the project are relative to ``folder``."""

    def __init__(self, folder: str) -> None:
        self.folder = folder.rstrip("/") + "/"

    @functools.cache  # noqa: B019 - a reader lives as long as one profile
    def frame(self, name: str, path: str, line: int) -> Frame:
        """The frame of a function called ``name`` at a line of a file."""
        file, origin = self._placed(path)
        found = _functions(path).at(line)
        if found is None:
            return Frame(name, file, 0, origin)
        qualified, begins = found
        plain = name.rpartition(".")[2]
        if plain.startswith("<"):  # <lambda>, <listcomp>: not in the syntax tree under that name
            return Frame(f"{qualified}.{plain}" if qualified else plain, file, begins, origin)
        if plain != qualified.rpartition(".")[2]:  # the file is not the one that was run
            return Frame(name, file, 0, origin)
        return Frame(qualified, file, begins, origin)

    def _placed(self, path: str) -> tuple[str, str]:
        if match := _PACKAGES.fullmatch(path):
            return match[1], INSTALLED
        if path.startswith(self.folder):
            return path[len(self.folder) :], PROJECT
        if match := _STANDARD.fullmatch(path):
            return match[1], STANDARD
        if path.startswith("<"):  # frozen modules, generated functions
            return path, STANDARD
        in_bin = re.search(r"/(?:bin|sbin)/([^/]+)$", path)
        return (f"bin/{in_bin[1]}", STANDARD) if in_bin else ("/".join(path.split("/")[-2:]), PROJECT)


class _Functions:
    """The functions of a file by line."""

    def __init__(self, spans: list[tuple[int, int, str]]) -> None:
        self.spans = sorted(spans, key=lambda span: (span[0], -span[1]))
        self.begins = [begin for begin, _, _ in self.spans]

    def at(self, line: int) -> tuple[str, int] | None:
        """The innermost function around the line (or "", the module), and where it begins."""
        for begin, end, name in reversed(self.spans[: bisect.bisect_right(self.begins, line)]):
            if line <= end:
                return name, begin
        return ("", 1) if self.spans else None


@functools.cache
def _functions(path: str) -> _Functions:
    try:
        with tokenize.open(path) as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError):
        return _Functions([])
    spans: list[tuple[int, int, str]] = []

    def walk(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            inner = prefix
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                inner = f"{prefix}{child.name}."
                if not isinstance(child, ast.ClassDef):
                    begin = min([child.lineno, *(decorator.lineno for decorator in child.decorator_list)])
                    spans.append((begin, child.end_lineno or begin, inner[:-1]))
            walk(child, inner)

    walk(tree, "")
    return _Functions(spans)
