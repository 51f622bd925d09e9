"""Create the shared files with the space that a process needs to join.

LMDB maps its lock file into memory, and `counters.py` maps another file. If the file system is full, the first write to
an unallocated page ends the process with SIGBUS. A data file that LMDB has written only partly can't be opened again.
For these reasons, the space is allocated first, and the data file gets its name only when it is complete.
"""

import errno
import os
from contextlib import suppress

import lmdb

from .counters import COUNTERS_BYTES

NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
UNFINISHED = "new-"
_SPARE_PAGES = 64
_FIRST_BYTES = _SPARE_PAGES * 4096
_GROWTH = 2 << 20
_LOCK_BYTES = 8192  # the size of LMDB's lock file with the default number of readers


def create_files(path: str, *, map_size: int) -> None:
    """Create the data file at `path` and the files next to it if they are missing.

    Raises:
        OSError: With ENOSPC, if the file system has no room for the files.
    """
    try:
        _allocate(f"{path}-lock", _LOCK_BYTES)
        _allocate(f"{path}-counters", COUNTERS_BYTES)
        if not os.path.exists(path):
            _create_data_file(path, map_size)
    except (OSError, lmdb.Error) as error:
        if not means_no_space(error):
            raise
        raise no_space(os.path.dirname(path)) from error


def no_space(directory: str) -> OSError:
    """Return the error for a file system that has no room for the layer."""
    needed = (_FIRST_BYTES + 2 * _LOCK_BYTES) // 1024
    reason = f"The channel layer's file system is full. Free at least {needed} kB, or choose another path"
    return OSError(errno.ENOSPC, reason, directory)


class Space:
    """The part of the data file that the file system has allocated, so that writing to this part can't fail.

    Args:
        path: The path of the data file.
        most: The maximum number of bytes that messages may use.
    """

    def __init__(self, path: str, *, most: int) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        self._most = most
        self._allocated = 0

    def reserve(self, tree: "lmdb._StatDict", length: int) -> bool:
        """Check whether `length` more bytes leave enough space to remove messages, and allocate space if necessary.

        Removing a message also writes pages. Without spare pages, a full store could never be emptied.
        """
        needed = used(tree) + length
        spare = _SPARE_PAGES * tree["psize"]
        if needed + spare <= self._allocated:
            return True
        return needed + spare <= self._most and (self._allocate(needed + _GROWTH) or self._allocate(needed + spare))

    def close(self) -> None:
        os.close(self._file)

    def _allocate(self, size: int) -> bool:
        try:
            os.posix_fallocate(self._file, 0, size)
        except OSError as error:
            if not means_no_space(error):
                raise
            return False
        self._allocated = size
        return True


def used(tree: "lmdb._StatDict") -> int:
    """Return the size of the pages in use, in bytes."""
    return (tree["leaf_pages"] + tree["branch_pages"] + tree["overflow_pages"]) * tree["psize"]


def means_no_space(error: OSError | lmdb.Error) -> bool:
    """Check whether the file system or LMDB's map is full. LMDB reports EIO after a partial write."""
    if isinstance(error, OSError):
        return error.errno in NO_SPACE
    return isinstance(error, (lmdb.MapFullError, lmdb.DiskError)) or error.code in (*NO_SPACE, errno.EIO)


def _create_data_file(path: str, map_size: int) -> None:
    unfinished = os.path.join(os.path.dirname(path), f"{UNFINISHED}{os.urandom(8).hex()}")
    try:
        _allocate(unfinished, 0)
        lmdb.open(unfinished, subdir=False, lock=False, sync=False, metasync=False, map_size=map_size).close()
        _allocate(unfinished, _FIRST_BYTES)
        with suppress(FileExistsError):  # another process created the file first
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
