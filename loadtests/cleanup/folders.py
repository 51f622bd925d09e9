"""Folders for sockets, logs and samples that do not outlive their owner.

A folder is named after its owner: the process's id, start time and pid namespace. When the owner is gone, the next
process that makes a folder removes it, and shared memory under its name, and ends what still runs with it. Those of
other users, containers and living processes stay.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

MEMORY = "/dev/shm"
KILLED_WITHIN_S = 10.0
# A Unix socket's path has at most 107 bytes: 50 for the folder's name, 30 for the socket's.
SHORT = 25
# Also semaphores and memory that a program named after its folder (``-something``).
NAME = re.compile(r"(sem\.)?bench-[a-z]+-(?P<pid>[0-9]+)-(?P<start>[0-9]+)-(?P<space>[0-9a-f]+)-\w{8}(-.+)?")


def make(kind: str, *, memory: bool) -> Path:
    """A new folder for this process alone; ``kind`` is a word of its name. One in ``memory``, where there is such a
    place, has a path short enough for sockets. The caller removes it; abandoned ones are removed first."""
    remove_abandoned()
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


def end_processes(folder: str) -> None:
    """Kills the processes whose RUN_DIR is the folder, and all below them, and waits until they are gone: for where the
    guard that would do it was killed itself."""
    end = time.monotonic() + KILLED_WITHIN_S
    while (left := _processes(folder)) and time.monotonic() < end:
        for process in left:
            with contextlib.suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(left, timeout=0.5)


@functools.cache  # once a process
def remove_abandoned() -> None:
    """Removes the folders of processes that have ended, with what still runs with them."""
    for place in {_short_place(), tempfile.gettempdir()}:
        with contextlib.suppress(OSError), os.scandir(place) as entries:
            for entry in entries:
                if (owner := NAME.fullmatch(entry.name)) and _is_abandoned(entry, owner):
                    _remove(entry)


def _is_abandoned(entry: os.DirEntry[str], owner: re.Match[str]) -> bool:
    with contextlib.suppress(FileNotFoundError):  # another process removed it
        itself = entry.is_dir(follow_symlinks=False) or entry.is_file(follow_symlinks=False)
        mine = itself and entry.stat(follow_symlinks=False).st_uid == os.getuid()
        return mine and owner["space"] == _space() and _started(int(owner["pid"])) != owner["start"]
    return False


def _processes(folder: str) -> list[psutil.Process]:
    found: list[psutil.Process] = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get("RUN_DIR") == folder and process.status() != psutil.STATUS_ZOMBIE:
                # Redis and nginx write over their environment; supervisord, above them, does not.
                found += [process, *process.children(recursive=True)]
    return found


def _remove(entry: os.DirEntry[str]) -> None:
    if entry.is_dir(follow_symlinks=False):
        end_processes(entry.path)
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
    """The pid namespace of this process: a container has its own."""
    return format(os.stat("/proc/self/ns/pid").st_ino, "x")
