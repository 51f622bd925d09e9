"""Where the project's files are; reading files that a person names, and writing files whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import json
import math
import os
import secrets
import stat
import tempfile
from pathlib import Path

from loadtests.errors import UserError, shown_end

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "results"
STUDIES = ROOT / "loadtests" / "studies"
SUPERVISOR = ROOT / "supervisor"


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
        status = os.fstat(handle)
        if not (stat.S_ISREG(status.st_mode) or (pipes and stat.S_ISFIFO(status.st_mode))):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        content = b"" if status.st_size > most else file.read(most + 1)
    if max(status.st_size, len(content)) > most:
        raise OSError(errno.EFBIG, f"it is larger than {most / 1e6:g} MB", str(path))
    return content


def inside(folder: Path, name: str) -> Path:
    """The path, without links in it, of what a file in ``folder`` names. Raises UserError where that is not there, or
    not below the folder: the file may be somebody else's, and what is elsewhere is none of theirs."""
    try:
        root, path = (Path(os.path.realpath(one, strict=True)) for one in (folder, folder / name))
    except ValueError:
        why = "its name holds a null character"
    except OSError as error:
        why = f"{error.strerror}"
    else:
        if path.is_relative_to(root) and not os.path.isabs(name):
            return path
        why = "it is not below the folder of the file that names it"
    raise UserError(f"{shown_end(name)} cannot be read: {why}")


def cache() -> Path:
    """Return the folder of files that outlive a command: overlays of users' projects, and unfinished measurements.

    Raises:
        UserError: If another user owns the folder. That user could change the code that a server imports from it.
    """
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    folder = Path(home) / "django-serving-benchmark"
    for place in (folder, folder / "overlays", folder / "pycache"):
        if place.exists() and place.stat().st_uid != os.getuid():
            raise UserError(f"{place} belongs to another user; remove it, or set XDG_CACHE_HOME to another folder")
    return folder


def make_folder(path: Path) -> None:
    """Makes a folder and those above it, where they are not there. Raises UserError."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot write to {path}: {error.strerror}") from None


def require_writable(path: Path) -> None:
    """Raises UserError where nothing can be made at ``path``, whatever the permissions say: it is tried, next to it or
    in the nearest folder above that is there."""
    place = path.absolute().parent
    while not os.path.lexists(place):
        place = place.parent
    try:
        os.rmdir(tempfile.mkdtemp(dir=place, prefix="."))
    except OSError as error:
        raise UserError(f"cannot write to {path}: {error.strerror}") from None


def write_json(path: Path, value: object, most: float = math.inf) -> None:
    """Writes ``value`` as JSON of at most ``most`` bytes. As ``write_bytes``."""
    content = (json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()
    if len(content) > most:
        raise UserError(f"{path} would have {len(content) / 1e6:,.0f} MB; at most {most / 1e6:,.0f} MB are read again")
    write_bytes(path, content)


def write_text(path: Path, text: str) -> None:
    """Writes ``text``. As ``write_bytes``."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Writes ``content``, whole or not at all, and not lost if the machine stops right after.

    A file that holds just that is left alone. Raises UserError where it cannot be written.
    """
    try:
        if not holds(path, content):
            _replace(path, content)
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror or error}") from None


def holds(path: Path, content: bytes) -> bool:
    """Whether there is a file, and no link to one, of just that content."""
    with contextlib.suppress(OSError):
        status = path.lstat()
        return stat.S_ISREG(status.st_mode) and status.st_size == len(content) and path.read_bytes() == content
    return False


def remove(path: Path) -> None:
    """Removes a file. Raises UserError where it cannot be."""
    try:
        path.unlink()
    except OSError as error:
        raise UserError(f"cannot remove {path}: {error.strerror}") from None


def _replace(path: Path, content: bytes) -> None:
    temporary = path.parent / f".{path.name}.{secrets.token_hex(4)}"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
