"""Represent the stack of a thread as a tuple of frames, starting with the outermost frame."""

from __future__ import annotations

import functools
import re
from collections import Counter
from typing import NamedTuple

STANDARD = "standard library"
INSTALLED = "installed"
PROJECT = "project"


class Frame(NamedTuple):
    """A function in a stack: its name, and the path of its file below the folder of ``origin``."""

    name: str
    file: str
    origin: str = INSTALLED


Stack = tuple[Frame, ...]
Stacks = Counter[Stack]

_PACKAGES = re.compile(r".*/(?:site|dist)-packages/(.*)")
_STANDARD = re.compile(r".*/(?:lib(?:64)?/python3\.\d+t?|lib/python3)/(.*)")


class Reader:
    """Create frames from the sampler's output. The paths of the project's files are relative to ``folder``."""

    def __init__(self, folder: str) -> None:
        self.folder = folder.rstrip("/") + "/"

    @functools.cache  # noqa: B019 - a reader exists only during one profile
    def frame(self, name: str, path: str) -> Frame:
        """Return the frame of a function in a file."""
        return Frame(name, *self._placed(path))

    def _placed(self, path: str) -> tuple[str, str]:
        if match := _PACKAGES.fullmatch(path):
            return match[1], INSTALLED
        if path.startswith(self.folder):
            return path[len(self.folder) :], PROJECT
        if match := _STANDARD.fullmatch(path):
            return match[1], STANDARD
        if path.startswith("<"):  # a frozen module or a generated function
            return path, STANDARD
        in_bin = re.search(r"/(?:bin|sbin)/([^/]+)$", path)
        return (f"bin/{in_bin[1]}", STANDARD) if in_bin else ("/".join(path.split("/")[-2:]), PROJECT)
