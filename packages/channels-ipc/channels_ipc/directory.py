"""Find and create the private directory of a user's processes."""

import os
import re
import stat
from contextlib import suppress
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_DATA_FILE = re.compile(r"channels-[0-9a-f]+\.mdb(-lock|-counters)?")


def default_path() -> str:
    """Return the user's default directory, which is in memory if possible.

    XDG_RUNTIME_DIR is not used, because it can differ between a server that init started and a command in a shell. The
    server and the command would then use different directories.
    """
    parent = next(p for p in ("/dev/shm", "/tmp") if os.path.isdir(p))
    return os.path.join(parent, f"channels_ipc-{os.geteuid()}")


def private_directory(path: str | os.PathLike[str]) -> str:
    """Create `path` if necessary, and return the resolved path. Only the user of this process can enter the directory.

    Raises:
        ImproperlyConfigured: If the path is a symbolic link or not a directory, belongs to another user, or other users
            can write to it.
    """
    path = os.path.abspath(path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with suppress(FileExistsError):
        os.mkdir(path, 0o700)
    found = os.lstat(path)
    if not stat.S_ISDIR(found.st_mode):
        kind = "a symbolic link" if stat.S_ISLNK(found.st_mode) else "not a directory"
        raise ImproperlyConfigured(f"The channel layer's path {path} is {kind}. Name a directory.")
    if found.st_uid != os.geteuid():
        raise ImproperlyConfigured(
            f"The channel layer's path {path} belongs to user {found.st_uid}, but this process runs as user "
            f"{os.geteuid()}. Name a directory of this user."
        )
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise ImproperlyConfigured(
            f"Other users may write to the channel layer's path {path}. Name another path, or remove this path."
        )
    os.chmod(path, 0o700)
    return os.path.realpath(path)


def data_file(directory: str) -> str:
    """Return the path of the data file, whose name contains the ID of the current boot.

    The queues are never synced to a disk, so their state after a power failure is undefined. For this reason, the
    function removes the files of earlier boots.
    """
    boot = _BOOT_ID.read_text().strip().replace("-", "") if _BOOT_ID.exists() else "0"
    current = f"channels-{boot}.mdb"
    for entry in os.scandir(directory):
        if _DATA_FILE.fullmatch(entry.name) and not entry.name.startswith(current):
            Path(entry.path).unlink(missing_ok=True)
    return os.path.join(directory, current)
