"""Folders for sockets, logs and samples that do not outlive their owner.

A folder bears the name of its owner: the process's id and start time, and the namespace in which that id counts. So
there is no moment at which it belongs to nobody, and whatever ends the owner (SIGKILL included), the next process that
makes a folder removes it, and likewise what stands beside it in shared memory under its name. What is another user's,
another container's or a living process's is left alone.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

MEMORY = "/dev/shm"
# A Unix socket's path may have 107 bytes, of which the name of a folder takes 50 and that of a socket 30.
SHORT = 25
# Also what a program put into shared memory under the name of its folder, a semaphore or memory (``-something``).
NAME = re.compile(r"(sem\.)?bench-[a-z]+-(?P<pid>[0-9]+)-(?P<start>[0-9]+)-(?P<space>[0-9a-f]+)-\w{8}(-.+)?")


def make(kind: str, *, memory: bool) -> Path:
    """A new folder for this process alone, named after what it is for (``kind``, a word).

    One in ``memory``, where there is such a place, has a path that is short enough for sockets. The caller removes it;
    what earlier processes could not remove is removed first.
    """
    _remove_abandoned()
    name = f"bench-{kind}-{os.getpid()}-{_started(os.getpid())}-{_space()}-"
    return Path(tempfile.mkdtemp(prefix=name, dir=_short_place() if memory else tempfile.gettempdir()))


@contextlib.contextmanager
def private(kind: str, *, memory: bool) -> Iterator[Path]:
    """A folder as ``make`` makes it, for the length of the context."""
    folder = make(kind, memory=memory)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _short_place() -> str:
    for place in (MEMORY, tempfile.gettempdir()):
        if len(place) <= SHORT and os.access(place, os.W_OK):
            return place
    return "/tmp"


@functools.cache  # once a process: at its start, so to say
def _remove_abandoned() -> None:
    for place in {_short_place(), tempfile.gettempdir()}:
        with contextlib.suppress(OSError), os.scandir(place) as entries:
            for entry in entries:
                if (owner := NAME.fullmatch(entry.name)) and _is_abandoned(entry, owner):
                    _remove(entry)


def _is_abandoned(entry: os.DirEntry[str], owner: re.Match[str]) -> bool:
    with contextlib.suppress(FileNotFoundError):  # somebody else removed it
        itself = entry.is_dir(follow_symlinks=False) or entry.is_file(follow_symlinks=False)
        mine = itself and entry.stat(follow_symlinks=False).st_uid == os.getuid()
        return mine and owner["space"] == _space() and _started(int(owner["pid"])) != owner["start"]
    return False


def _remove(entry: os.DirEntry[str]) -> None:
    if entry.is_dir(follow_symlinks=False):
        shutil.rmtree(entry.path, ignore_errors=True)
        return
    with contextlib.suppress(OSError):
        os.unlink(entry.path)


def _started(pid: int) -> str | None:
    """When a process was started, in ticks since boot; None where it has ended (proc(5), fields 3 and 22)."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else fields[19]


def _space() -> str:
    """The namespace that process ids of this process count in: a container has its own."""
    return format(os.stat("/proc/self/ns/pid").st_ino, "x")
