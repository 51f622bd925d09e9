"""Reads files that a person names: regular ones only, and no more of them than there should be."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path


def read(path: Path, most: int, pipes: bool = False) -> bytes:
    """The contents of a regular file, or where ``pipes`` may stand for one of a pipe, of at most ``most`` bytes.

    A device may never end, and is refused before anything of it is read. Raises OSError, whose ``strerror`` says what
    is wrong.
    """
    try:
        # Without O_NONBLOCK a pipe that nobody writes to would be waited for.
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | (0 if pipes else os.O_NONBLOCK))
    except ValueError:
        raise OSError(errno.EINVAL, "its name holds a null character", str(path)) from None
    with os.fdopen(handle, "rb") as file:
        seen = os.fstat(handle)
        if not (stat.S_ISREG(seen.st_mode) or (pipes and stat.S_ISFIFO(seen.st_mode))):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        content = b"" if seen.st_size > most else file.read(most + 1)
    if max(seen.st_size, len(content)) > most:
        raise OSError(errno.EFBIG, f"it is larger than {most / 1e6:g} MB", str(path))
    return content
