"""Wake other processes with doorbells.

Each process has a named pipe, and a ring is a line in this pipe. A ring is cheap, and a pipe has room for hundreds of
rings, while a Unix socket has room for only ten datagrams. The path of a pipe can have any length, while the path of a
Unix socket has at most 108 bytes. A pipe also shows whether its process is alive, because a pipe without a reader can't
be opened for writing.

Rings don't contain messages. A lost ring costs time, but no data.
"""

import errno
import os
import time
from collections import OrderedDict
from contextlib import suppress

from .allocation import UNFINISHED
from .names import PROCESS

_READ_SIZE = 65536  # The capacity of a pipe on Linux.
_NEARLY_FULL = _READ_SIZE // 2  # A pipe with this many bytes may have rejected rings.
_OPEN_PIPES = 256
_BIRTH_SECONDS = 60


class Doorbell:
    """Receive rings through the pipe of this process, `directory`/`process`."""

    def __init__(self, directory: str, process: str) -> None:
        self.path = os.path.join(directory, process)
        unborn = os.path.join(directory, UNFINISHED + process)
        os.mkfifo(unborn, 0o600)
        # Also open for writing, because a pipe without a writer would always be readable (end of file).
        self.fd = os.open(unborn, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        os.rename(unborn, self.path)  # the other processes see the pipe only when it is open

    def read(self) -> tuple[list[bytes], bool]:
        """Return the rings since the last call, and whether some rings may have been lost."""
        try:
            data = os.read(self.fd, _READ_SIZE)
        except BlockingIOError:
            return [], False
        return data.split(b"\n")[:-1], len(data) >= _NEARLY_FULL

    def leave(self) -> None:
        """Remove the pipe, so that other processes no longer find this process."""
        with suppress(FileNotFoundError):
            os.unlink(self.path)

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


class Doorbells:
    """Ring the other processes in `directory` through their pipes."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._pipes: OrderedDict[str, int] = OrderedDict()  # in the order of their latest use

    def ring(self, process: str, line: bytes) -> bool:
        """Ring a process.

        A process whose pipe is full counts as rung, because the process is going to read the pipe.

        Returns:
            Whether the process is alive.
        """
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
        """Return whether the process is alive, or was alive when it was last rung."""
        return process in self._pipes or self.alive(process)

    def alive(self, process: str) -> bool:
        """Return whether the process is alive now."""
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
                # A new pipe isn't open at first. No process needs this long to open the pipe or to write a new file.
                if born or time.time() - entry.stat().st_mtime > _BIRTH_SECONDS:
                    os.unlink(entry.path)

    def close(self) -> None:
        while self._pipes:
            os.close(self._pipes.popitem()[1])

    def _open(self, process: str) -> int | None:
        try:
            return os.open(os.path.join(self._directory, process), os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:  # the process left
            return None
        except OSError as error:
            if error.errno == errno.ENXIO:  # the process was killed
                return None
            raise
