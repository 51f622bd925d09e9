"""Find the project's files, read files that a user names, and write files atomically."""

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
# The wheel contains this tree in the package django_serving_benchmark (tools/wheel.py). Nothing writes to that tree.
INSTALLED = (ROOT / "__init__.py").is_file()
RESULTS = (Path.cwd() if INSTALLED else ROOT) / "results"
STUDIES = ROOT / "loadtests" / "studies"
SUPERVISOR = ROOT / "supervisor"


def read(path: Path, most: int, pipes: bool = False) -> bytes:
    """Read a regular file, or also a pipe if ``pipes`` is set, of at most ``most`` bytes.

    Reading a device may never end, so the function refuses devices before it reads from them.

    Raises:
        OSError: If the file can't be read. The error's ``strerror`` describes the problem.
    """
    try:
        # Without O_NONBLOCK, opening a pipe without a writer would block.
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | (0 if pipes else os.O_NONBLOCK))
    except ValueError:
        raise OSError(errno.EINVAL, "its name contains a null character", str(path)) from None
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        if not (stat.S_ISREG(status.st_mode) or (pipes and stat.S_ISFIFO(status.st_mode))):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        content = b"" if status.st_size > most else file.read(most + 1)
    if max(status.st_size, len(content)) > most:
        raise OSError(errno.EFBIG, f"it is larger than {most / 1e6:g} MB", str(path))
    return content


def from_here(path: Path) -> str:
    """Return a path for a message: relative if it is in the working directory, otherwise absolute."""
    path = path.absolute()
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def inside(folder: Path, name: str) -> Path:
    """Return the real path of a file that another file in ``folder`` names.

    A file from another person must not be able to refer to files outside its own folder.

    Raises:
        UserError: If the path doesn't exist or isn't below the folder.
    """
    try:
        root, path = (Path(os.path.realpath(one, strict=True)) for one in (folder, folder / name))
    except ValueError:
        why = "its name contains a null character"
    except OSError as error:
        why = f"{error.strerror}"
    else:
        if path.is_relative_to(root) and not os.path.isabs(name):
            return path
        why = "it is outside the folder of the file that names it"
    raise UserError(f"{shown_end(name)} cannot be read: {why}")


def cache() -> Path:
    """Return the folder of environments, and of variants of users' projects.

    Raises:
        UserError: If another user (except root) owns the folder and could change the code that a server imports.
    """
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "django-serving-benchmark"
    for place in (folder, folder / "environments", folder / "overlays", folder / "pycache"):
        if place.exists() and place.stat().st_uid not in (0, os.getuid()):
            raise UserError(f"{place} belongs to another user. Remove it, or set XDG_CACHE_HOME to another folder")
    return folder


def make_folder(path: Path) -> None:
    """Create a folder and its missing parents.

    Raises:
        UserError: If the folder can't be created.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot write to {path}: {error.strerror}") from None


def require_writable(path: Path) -> None:
    """Check that ``path`` can be created, by creating a temporary folder next to it or in its nearest existing parent.

    Permission bits don't show whether a write succeeds.

    Raises:
        UserError: If the temporary folder can't be created.
    """
    place = path.absolute().parent
    while not os.path.lexists(place):
        place = place.parent
    try:
        os.rmdir(tempfile.mkdtemp(dir=place, prefix="."))
    except OSError as error:
        raise UserError(f"cannot write to {path}: {error.strerror}") from None


def write_json(path: Path, value: object, most: float = math.inf) -> None:
    """Write ``value`` as JSON with ``write_bytes``.

    Raises:
        UserError: If the JSON is longer than ``most`` bytes, or the file can't be written.
    """
    content = (json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()
    if len(content) > most:
        raise UserError(f"{path} would be {len(content) / 1e6:,.0f} MB. The limit is {most / 1e6:,.0f} MB")
    write_bytes(path, content)


def write_text(path: Path, text: str) -> None:
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file atomically, and flush it to disk so that it survives a crash of the machine.

    A file that already has this content isn't changed.

    Raises:
        UserError: If the file can't be written.
    """
    try:
        if not holds(path, content):
            _replace(path, content)
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror or error}") from None


def holds(path: Path, content: bytes) -> bool:
    """Return whether ``path`` is a regular file (not a link) with exactly this content."""
    with contextlib.suppress(OSError):
        status = path.lstat()
        return stat.S_ISREG(status.st_mode) and status.st_size == len(content) and path.read_bytes() == content
    return False


def remove(path: Path) -> None:
    """Remove a file.

    Raises:
        UserError: If the file can't be removed.
    """
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
