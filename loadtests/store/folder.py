"""The run folder: what a run leaves behind, written after every trial and read by all that follows.

A file is written under a temporary name and renamed, so a run that is cut off at any moment leaves a folder that can
be read and reported on.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import os
import stat
import tempfile
from pathlib import Path
from typing import Any

from loadtests import paths
from loadtests.errors import UserError, called
from loadtests.records import Trial
from loadtests.store import read
from loadtests.store.run_record import RunRecord
from loadtests.store.upgrade import SCHEMA


class Run:
    """A run folder. ``record`` is what its run.json holds."""

    def __init__(self, path: Path, record: RunRecord) -> None:
        self.path = path
        self.record = record

    @classmethod
    def create(cls, path: Path, record: RunRecord) -> Run:
        """Makes the folder and its run.json. Raises UserError where the folder exists or cannot be made."""
        require_new(path)
        make_folder(path / "trials")
        run = cls(path, record)
        run._save()
        return run

    @classmethod
    def open(cls, path: Path) -> Run:
        """Opens a run folder, given as a path or as the name of a folder below results/.

        It may be somebody else's: all of it is checked before it is used. Raises UserError.
        """
        for folder in (path, paths.RESULTS / path):
            if os.path.lexists(folder / "run.json"):
                _require_closed(folder)
                return cls(folder, read.run_record(folder / "run.json"))
        what = "has no run.json" if os.path.isdir(path) else "does not exist"
        raise UserError(f"{path} is not a run folder ({what}); `{called()} list` names those there are")

    def update(self, **changes: Any) -> None:
        """Changes fields of the record, and writes run.json anew."""
        self.record = dataclasses.replace(self.record, **changes)
        self._save()

    def _save(self) -> None:
        write_json(self.path / "run.json", {"schema": SCHEMA, **self.record.to_json()}, read.MOST_BYTES)

    def save_trial(self, trial: Trial) -> None:
        """Writes the trial's file."""
        write_json(
            self.path / "trials" / f"{trial.name}.json",
            {"schema": SCHEMA, **dataclasses.asdict(trial)},
            read.MOST_BYTES,
        )

    def trials(self) -> list[Trial]:
        """All trials in the order of their numbers and attempts. Raises UserError for a file that is not a trial."""
        slots = {slot.number: slot for slot in self.record.order}
        found = [read.trial(file, slots) for file in (self.path / "trials").glob("*.json")]
        return sorted(found, key=lambda trial: (trial.number, trial.attempt))


def require_new(path: Path) -> None:
    """Raises UserError where a run folder cannot be made because there is something of that name."""
    if os.path.lexists(path):
        raise UserError(f"{path} exists already; name another folder with --output")


def runs(folder: Path = paths.RESULTS) -> list[Path]:
    """The run folders below ``folder``, the newest name last."""
    return sorted(file.parent for file in folder.glob("*/run.json"))


def _require_closed(folder: Path) -> None:
    """Raises UserError for a link in a run folder that leads out of it: what is written must stay inside."""
    root = folder.resolve()
    for inside in (folder, folder / "charts", folder / "trials"):
        with contextlib.suppress(FileNotFoundError, NotADirectoryError), os.scandir(inside) as found:
            for one in found:
                if one.is_symlink() and not _leads_into(Path(one.path), root):
                    raise UserError(f"{one.path} is a symbolic link that leads out of the run folder; take it away")


def _leads_into(link: Path, root: Path) -> bool:
    try:
        return link.resolve().is_relative_to(root)
    except (OSError, RuntimeError):  # a link to itself
        return False


def make_folder(path: Path) -> None:
    """Makes a folder and those above it, where they are not there. Raises UserError."""
    try:
        path.mkdir(parents=True, exist_ok=True)
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
        seen = path.lstat()
        return stat.S_ISREG(seen.st_mode) and seen.st_size == len(content) and path.read_bytes() == content
    return False


def remove(path: Path) -> None:
    """Removes a file. Raises UserError where it cannot be."""
    try:
        path.unlink()
    except OSError as error:
        raise UserError(f"cannot remove {path}: {error.strerror}") from None


def _replace(path: Path, content: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
