"""Write and read the folder of a run.

A run writes its folder after every trial. Each file is written under a temporary name and then renamed. If a run is
interrupted at any moment, its folder can still be read, and reports can still be written.
"""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any

from loadtests import files
from loadtests.errors import UserError, called
from loadtests.records import Trial
from loadtests.records.run import read
from loadtests.records.run.read import SCHEMA
from loadtests.records.run.run_record import RunRecord


class Run:
    """A run folder. ``record`` is the content of its run.json."""

    def __init__(self, path: Path, record: RunRecord) -> None:
        self.path = path
        self.record = record

    @classmethod
    def create(cls, path: Path, record: RunRecord) -> Run:
        """Create the folder and its file run.json.

        Raises:
            UserError: If the folder exists or can't be created.
        """
        require_new(path)
        files.make_folder(path / "trials")
        run = cls(path, record)
        run._save()
        return run

    @classmethod
    def open(cls, path: Path) -> Run:
        """Open a run folder.

        The folder can come from another person, so this method checks all files before they are used.

        Args:
            path: A path, or the name of a folder below results/.

        Raises:
            UserError: If the path isn't a valid run folder.
        """
        for folder in (path, files.RESULTS / path):
            if os.path.lexists(folder / "run.json"):
                for inside in (folder / "charts", folder / "trials"):
                    if inside.is_symlink():  # a report must not write outside the folder
                        raise UserError(f"{inside} is a symbolic link. Remove it")
                return cls(folder, read.run_record(folder / "run.json"))
        what = "has no run.json" if os.path.isdir(path) else "does not exist"
        raise UserError(f"{path} is not a run folder ({what}); `{called()} list runs` shows all run folders")

    def update(self, **changes: Any) -> None:
        self.record = dataclasses.replace(self.record, **changes)
        self._save()

    def _save(self) -> None:
        files.write_json(self.path / "run.json", {"schema": SCHEMA, **self.record.to_json()}, read.MAX_BYTES)

    def save_trial(self, trial: Trial) -> None:
        files.write_json(
            self.path / "trials" / f"{trial.name}.json",
            {"schema": SCHEMA, **dataclasses.asdict(trial)},
            read.MAX_BYTES,
        )

    def trials(self) -> list[Trial]:
        """Return all trials, sorted by number and attempt.

        Raises:
            UserError: If a file isn't a valid trial.
        """
        slots = {slot.number: slot for slot in self.record.order}
        found = [read.trial(file, slots) for file in (self.path / "trials").glob("*.json")]
        return sorted(found, key=lambda trial: (trial.number, trial.attempt))


def require_new(path: Path) -> None:
    """Check that a new folder can be created.

    Raises:
        UserError: If the path already exists, or its parent isn't writable.
    """
    if os.path.lexists(path):
        raise UserError(f"{path} already exists. Name another folder with --output")
    files.require_writable(path)


def runs(folder: Path | None = None) -> list[Path]:
    """Return the run folders below ``folder`` (by default ``results/``), sorted by name.

    If ``folder`` doesn't exist, return an empty list.

    Raises:
        UserError: If the folder can't be read.
    """
    folder = folder or files.RESULTS
    try:
        names = sorted(os.listdir(folder))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise UserError(f"{folder} cannot be read: {error.strerror}") from None
    return [folder / name for name in names if (folder / name / "run.json").is_file()]
