"""The run folder: what a run leaves behind, written after every trial and read by all that follows.

A file is written under a temporary name and renamed, so a run that is cut off at any moment leaves a folder that can
be read and reported on.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from loadtests import paths
from loadtests.errors import UserError
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
        try:
            (path / "trials").mkdir(parents=True)
        except OSError as error:
            raise UserError(f"cannot write to {path}: {error.strerror}") from None
        run = cls(path, record)
        run._save()
        return run

    @classmethod
    def open(cls, path: Path) -> Run:
        """Opens a run folder, given as a path or as the name of a folder below results/. Raises UserError."""
        for folder in (path, paths.RESULTS / path):
            if (folder / "run.json").is_file():
                return cls(folder, read.run_record(folder / "run.json"))
        what = "has no run.json" if path.is_dir() else "does not exist"
        raise UserError(f"{path} is not a run folder ({what}); `python -m loadtests list` names those there are")

    def update(self, **changes: Any) -> None:
        """Changes fields of the record, and writes run.json anew."""
        self.record = dataclasses.replace(self.record, **changes)
        self._save()

    def _save(self) -> None:
        write_json(self.path / "run.json", {"schema": SCHEMA, **self.record.to_json()})

    def save_trial(self, trial: Trial) -> None:
        """Writes the trial's file."""
        write_json(self.path / "trials" / f"{trial.name}.json", {"schema": SCHEMA, **dataclasses.asdict(trial)})

    def trials(self) -> list[Trial]:
        """All trials in the order of their numbers and attempts. Raises UserError for a file that is not a trial."""
        found = [read.trial(file) for file in (self.path / "trials").glob("*.json")]
        return sorted(found, key=lambda trial: (trial.number, trial.attempt))


def require_new(path: Path) -> None:
    """Raises UserError where a run folder cannot be made because there is something of that name."""
    if path.exists():
        raise UserError(f"{path} exists already; name another folder with --output")


def runs(folder: Path = paths.RESULTS) -> list[Path]:
    """The run folders below ``folder``, the newest name last."""
    return sorted(file.parent for file in folder.glob("*/run.json"))


def write_json(path: Path, value: object) -> None:
    """Writes ``value`` as JSON, whole or not at all."""
    write_text(path, json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Writes ``text``, whole or not at all."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Writes ``content``, whole or not at all, and not lost if the machine stops right after."""
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
