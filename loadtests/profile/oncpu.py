"""Read the on-CPU stacks from the files that sampler/sitecustomize.py writes in the servers' processes."""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path

from loadtests.profile.stacks import Reader, Stacks

FOLDER = Path(__file__).resolve().parent / "sampler"

# The same value as in sampler/sitecustomize.py, which can't import this package. A test compares both values.
INTERVAL_S = 0.00997

HEADER = "Stack (most recent call first):"
_FRAME = re.compile(r'  File "(.*)", line (?:\d+|\?\?\?) in (.*)')


def environment(stacks: Path, existing: str | None) -> dict[str, str]:
    """Return the environment variables that make servers write their samples to a folder.

    Args:
        stacks: The folder for the samples.
        existing: The existing PYTHONPATH, if any.
    """
    return {
        "PYTHONPATH": os.pathsep.join([str(FOLDER), *([existing] if existing else [])]),
        "PROFILE_STACKS": str(stacks),
    }


def sizes(folder: Path) -> dict[int, int]:
    """Return the number of bytes that each process has written so far, by its pid."""
    return {int(file.name): file.stat().st_size for file in folder.iterdir() if file.name.isdecimal()}


def between(folder: Path, before: dict[int, int], after: dict[int, int], reader: Reader) -> dict[int, Stacks]:
    """Return the samples that each process wrote between two calls of ``sizes``, by its pid."""
    found = {}
    for pid, end in after.items():
        with open(folder / str(pid), "rb") as file:
            file.seek(before.get(pid, 0))
            text = file.read(end - file.tell()).decode(errors="replace")
        found[pid] = parse(text, reader)
    return found


def parse(text: str, reader: Reader) -> Stacks:
    """Parse the stacks that faulthandler wrote. The text before the first header belongs to an earlier sample.

    A sample is left out if it can't be parsed because two threads wrote at the same time.
    """
    stacks: Stacks = Counter()
    for block in text.split(HEADER)[1:]:
        lines = [line for line in block.splitlines() if line]
        frames = [_FRAME.fullmatch(line) for line in lines]
        if all(frames):
            stack = [reader.frame(match[2], match[1]) for match in frames if match]
            stacks[tuple(reversed(stack))] += 1
        elif lines == ["  <no Python frame>"] or lines == ["  ..."]:
            stacks[()] += 1
    return stacks
