"""Create the shared files with the space that a process needs to join.

LMDB maps the lock file into memory. If the file system is full, the first write to a page without space ends the
process with SIGBUS. A data file that LMDB could write only in part can't be opened again. So the space comes first, and
the data file gets its name only when it is complete.
"""

import errno
import os
from contextlib import suppress

import lmdb

NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
UNFINISHED = "new-"
_LOCK_BYTES = 8192  # LMDB's lock file with its default number of readers


def create_files(path: str, *, map_size: int, data_bytes: int) -> None:
    """Create the data file at `path` and its lock file if they are missing.

    Raises:
        OSError: With ENOSPC, if the file system has no room for the files.
    """
    try:
        _allocate(f"{path}-lock", _LOCK_BYTES)
        if not os.path.exists(path):
            _create_data_file(path, map_size, data_bytes)
    except (OSError, lmdb.Error) as error:
        if not means_no_space(error):
            raise
        needed = (data_bytes + _LOCK_BYTES) // 1024
        reason = f"The channel layer's file system is full; free at least {needed} kB, or choose another path"
        raise OSError(errno.ENOSPC, reason, os.path.dirname(path)) from error


def means_no_space(error: OSError | lmdb.Error) -> bool:
    """Check whether the file system or LMDB's map is full. LMDB reports EIO after a partial write."""
    if isinstance(error, OSError):
        return error.errno in NO_SPACE
    return isinstance(error, (lmdb.MapFullError, lmdb.DiskError)) or error.code in (*NO_SPACE, errno.EIO)


def _create_data_file(path: str, map_size: int, data_bytes: int) -> None:
    unfinished = os.path.join(os.path.dirname(path), f"{UNFINISHED}{os.urandom(8).hex()}")
    try:
        _allocate(unfinished, 0)
        lmdb.open(unfinished, subdir=False, lock=False, sync=False, metasync=False, map_size=map_size).close()
        _allocate(unfinished, data_bytes)
        with suppress(FileExistsError):  # another process was faster
            os.link(unfinished, path)
    finally:
        os.unlink(unfinished)


def _allocate(path: str, size: int) -> None:
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if size:
            os.posix_fallocate(file, 0, size)
    finally:
        os.close(file)
