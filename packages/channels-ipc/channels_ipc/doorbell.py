"""Doorbells: how one process wakes another.

Each process has a named pipe. A ring is one line in it, so rings are as cheap as a wake-up can be, no path
is too long (a Unix socket's may have 108 bytes), hundreds fit (of datagrams, ten), and the kernel itself
says whether the process still lives: a pipe that nobody has open for reading cannot be opened for writing.

Rings carry no message. One that is lost costs time, never data.
"""

import errno
import os
import time
from collections import OrderedDict
from contextlib import suppress

from .allocation import UNFINISHED
from .names import PROCESS

_READ_SIZE = 65536  # what a pipe holds on Linux
_NEARLY_FULL = _READ_SIZE // 2  # a pipe read this full may have turned rings away
_OPEN_PIPES = 256
_BIRTH_SECONDS = 60


class Doorbell:
    """This process's own pipe, `directory`/`process`."""

    def __init__(self, directory: str, process: str) -> None:
        self.path = os.path.join(directory, process)
        unborn = os.path.join(directory, UNFINISHED + process)
        os.mkfifo(unborn, 0o600)
        # Also open for writing: a pipe whose last writer left would be readable (end of file) for ever.
        self.fd = os.open(unborn, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        os.rename(unborn, self.path)  # seen by the others only now that it is open

    def read(self) -> tuple[list[bytes], bool]:
        """The rings since the last call, and whether some may have been turned away."""
        try:
            data = os.read(self.fd, _READ_SIZE)
        except BlockingIOError:
            return [], False
        return data.split(b"\n")[:-1], len(data) >= _NEARLY_FULL

    def leave(self) -> None:
        """Be found by the others no more."""
        with suppress(FileNotFoundError):
            os.unlink(self.path)

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


class Doorbells:
    """The pipes of the other processes in `directory`."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._pipes: OrderedDict[str, int] = OrderedDict()  # the longest unused first

    def ring(self, process: str, line: bytes) -> bool:
        """Ring at `process`; whether it lives. A full pipe counts as rung: it is read at the latest then."""
        pipe = self._pipes.get(process)
        if pipe is None:
            pipe = self._open(process)
            if pipe is None:
                return False
            self._pipes[process] = pipe
            if len(self._pipes) > _OPEN_PIPES:
                os.close(self._pipes.popitem(last=False)[1])
        else:
            self._pipes.move_to_end(process)
        try:
            os.write(pipe, line + b"\n")
        except BlockingIOError:
            pass
        except BrokenPipeError:
            os.close(self._pipes.pop(process))
            return False
        return True

    def known(self, process: str) -> bool:
        """Whether `process` lives, or did when it was last rung."""
        return process in self._pipes or self.alive(process)

    def alive(self, process: str) -> bool:
        """Whether `process` lives now."""
        pipe = self._open(process)
        if pipe is None:
            return False
        os.close(pipe)
        return True

    def bury(self) -> None:
        """Remove the pipes and the unfinished files that killed processes left behind."""
        for entry in os.scandir(self._directory):
            born = PROCESS.fullmatch(entry.name)
            unfinished = entry.name.startswith(UNFINISHED)
            if not (born or unfinished) or (not entry.is_file() and self.alive(entry.name)):
                continue
            with suppress(FileNotFoundError):
                # A new pipe isn't open at first. No process needs this long to open it, or to write its file.
                if born or time.time() - entry.stat().st_mtime > _BIRTH_SECONDS:
                    os.unlink(entry.path)

    def close(self) -> None:
        while self._pipes:
            os.close(self._pipes.popitem()[1])

    def _open(self, process: str) -> int | None:
        try:
            return os.open(os.path.join(self._directory, process), os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:  # it left
            return None
        except OSError as error:
            if error.errno == errno.ENXIO:  # it was killed
                return None
            raise
