"""Create folders for sockets, logs and samples, and remove them after their owner has ended.

The name of a folder contains its owner's process id, start time and pid namespace. If the owner has ended, the next
process that creates a folder removes the abandoned folder and its shared memory, and ends the processes that still use
it. Folders of other users, other containers and running processes aren't removed.
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
# A Unix socket's path is at most 107 bytes long: 50 for the folder's name, 30 for the socket's name, 25 for the parent.
SHORT = 25
# The pattern also matches the names of semaphores and shared memory, which programs derive from the folder's name
# (``-something``).
NAME = re.compile(r"(sem\.)?bench-[a-z]+-(?P<pid>[0-9]+)-(?P<start>[0-9]+)-(?P<space>[0-9a-f]+)-\w{8}(-.+)?")


def make(kind: str, *, memory: bool) -> Path:
    """Create a folder for this process, after removing abandoned folders. The caller must remove the new folder.

    Args:
        kind: A part of the folder's name.
        memory: Whether to create the folder in memory if possible, with a path that is short enough for sockets.
    """
    remove_abandoned()
    name = f"bench-{kind}-{os.getpid()}-{_started(os.getpid())}-{_space()}-"
    return Path(tempfile.mkdtemp(prefix=name, dir=_short_place() if memory else tempfile.gettempdir()))


@contextlib.contextmanager
def private(kind: str, *, memory: bool) -> Iterator[Path]:
    """Create a folder, and remove it at the end of the context."""
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
    """Kill all processes whose RUN_DIR is ``folder``, and their descendants, and wait until they have ended.

    This function is only needed if the guard was killed before it could end the processes.
    """
    end = time.monotonic() + KILLED_WITHIN_S
    while (left := _processes(folder)) and time.monotonic() < end:
        for process in left:
            with contextlib.suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(left, timeout=0.5)


@functools.cache  # once per process
def remove_abandoned() -> None:
    """Remove the folders of ended processes, and end the processes that still use them."""
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
                # Include the children, because Redis and nginx overwrite their environment. Their parent,
                # supervisord, doesn't.
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
    """Return a process's start time in ticks since boot, or None if it has ended (proc(5), fields 3 and 22)."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else fields[19]


def _space() -> str:
    """Return the pid namespace of this process. Each container has a separate namespace."""
    return format(os.stat("/proc/self/ns/pid").st_ino, "x")
