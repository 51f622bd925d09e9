"""Handle one POST of a session at a time on this machine.

A request reads and writes the whole session. If two tabs answer different pages at once, the later write would undo the
earlier answer, which was already confirmed. For this reason, a POST holds a lock from before its read until after its
write. The lock is a byte of a file, chosen by the session's key. Locking takes a few microseconds, and the kernel
releases the lock if the process dies. Servers on several machines would need a lock in the store.
"""

import contextlib
import fcntl
import hashlib
import os
import struct
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

PATIENCE_S = 10.0
LOOK_EVERY_S = 0.002
BUSY = f"another request of this session has not ended within {PATIENCE_S:.0f} s"


@contextlib.contextmanager
def turn(key: str) -> Iterator[None]:
    """Hold the lock of the session with this key.

    Raises:
        TimeoutError: If another request holds the lock for more than PATIENCE_S.
    """
    with _place(key) as place:
        end = time.monotonic() + PATIENCE_S
        while not place.taken():
            if time.monotonic() > end:
                raise TimeoutError(BUSY)
            time.sleep(LOOK_EVERY_S)
        yield


class _Place:
    """Lock a byte of a file, until the file is closed."""

    def __init__(self, file: int, key: str) -> None:
        at = int.from_bytes(hashlib.sha256(key.encode()).digest()[:7], "big")
        self.file = file
        self.lock = struct.pack("hhqqi0q", fcntl.F_WRLCK, os.SEEK_SET, at, 1, 0)  # struct flock of Linux, 64 bits

    def taken(self) -> bool:
        """Try to lock the byte, and return whether this succeeded.

        The lock belongs to the open file, not to the process, so it also excludes other threads.
        """
        try:
            fcntl.fcntl(self.file, fcntl.F_OFD_SETLK, self.lock)
        except (BlockingIOError, PermissionError):
            return False
        return True


@contextlib.contextmanager
def _place(key: str) -> Iterator[_Place]:
    folder = os.environ.get("RUN_DIR") or tempfile.gettempdir()
    name = Path(folder) / f"questionnaire-turns-{os.getuid()}"
    file = os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        yield _Place(file, key)
    finally:
        os.close(file)
