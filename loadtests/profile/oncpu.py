"""What was on the CPU: the files that sampler/sitecustomize.py has written in the servers' processes."""

from __future__ import annotations

import dataclasses
import os
import re
from collections import Counter
from pathlib import Path

from loadtests.profile.stacks import Reader, Stacks

FOLDER = Path(__file__).resolve().parent / "sampler"

# As in sampler/sitecustomize.py, which runs where this package is not installed. A test holds the two together.
INTERVAL_S = 0.00997

HEADER = "Stack (most recent call first):"
_FRAME = re.compile(r'  File "(.*)", line (\d+|\?\?\?) in (.*)')


def environment(stacks: Path, existing: str | None, timer: bool = True) -> dict[str, str]:
    """The environment variables that have servers sampled into the folder; ``existing`` is the PYTHONPATH there is.
    Without ``timer`` each process of Python's makes its file there, and writes nothing."""
    return {
        "PYTHONPATH": os.pathsep.join([str(FOLDER), *([existing] if existing else [])]),
        "PROFILE_STACKS": str(stacks),
        **({} if timer else {"PROFILE_TIMER": "0"}),
    }


@dataclasses.dataclass(frozen=True)
class OnCpu:
    """The samples of one process; ``broken`` are those that could not be read, as two threads wrote at once."""

    stacks: Stacks
    broken: int = 0

    @property
    def samples(self) -> int:
        """How many there are."""
        return sum(self.stacks.values()) + self.broken


def sizes(folder: Path) -> dict[int, int]:
    """How much each process has written so far, in bytes, by its pid."""
    return {int(file.name): file.stat().st_size for file in folder.iterdir() if file.name.isdecimal()}


def between(folder: Path, before: dict[int, int], after: dict[int, int], reader: Reader) -> dict[int, OnCpu]:
    """What each process wrote between two calls of ``sizes``."""
    found = {}
    for pid, end in after.items():
        with open(folder / str(pid), "rb") as file:
            file.seek(before.get(pid, 0))
            text = file.read(end - file.tell()).decode(errors="replace")
        found[pid] = parse(text, reader)
    return found


def parse(text: str, reader: Reader) -> OnCpu:
    """Reads faulthandler's stacks. What stands before the first header belongs to an earlier sample."""
    stacks: Stacks = Counter()
    broken = 0
    for block in text.split(HEADER)[1:]:
        lines = [line for line in block.splitlines() if line]
        frames = [_FRAME.fullmatch(line) for line in lines]
        if all(frames):
            parts = [match.groups() for match in frames if match]
            stack = [reader.frame(name, path, int(line) if line.isdecimal() else 0) for path, line, name in parts]
            stacks[tuple(reversed(stack))] += 1
        elif lines == ["  <no Python frame>"] or lines == ["  ..."]:
            stacks[()] += 1
        else:
            broken += 1
    return OnCpu(stacks, broken)
