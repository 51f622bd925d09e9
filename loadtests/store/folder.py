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

SCHEMA = 1


@dataclasses.dataclass(frozen=True)
class Trial:
    """One trial as it was measured.

    ``result`` is an engine's result (see ``loadtests.store.result``), or None where none was reached.
    ``processes`` has a row for each process of the setup: role, name, pid, cpu_s (CPU seconds within the measured
    time), peak_rss_mb, rss_mb, context_switches, and requests that it handled, where that is known. ``flags`` are the
    reasons, if any, why it is invalid or doubtful (see ``loadtests.analyse.validity``): reason, severity, sentence;
    ``evidence`` is what they were judged from. ``capacity`` is what the search of a capacity test found (see
    ``loadtests.measure.capacity``); ``result`` and ``processes`` are then those of the probe that confirmed it.
    """

    number: int
    block: int
    label: str
    setup: str
    test: str
    attempt: int
    started: str
    status: str  # "ok" or "invalid"
    flags: list[dict[str, str]]
    result: dict[str, Any] | None
    processes: list[dict[str, Any]]
    cores: dict[str, list[int]]
    evidence: dict[str, Any] = dataclasses.field(default_factory=dict)
    capacity: dict[str, Any] | None = None
    log: str = ""  # the end of the servers' logs, where something went wrong

    @property
    def name(self) -> str:
        """The name of its file, without the ending."""
        retry = f"-attempt{self.attempt}" if self.attempt > 1 else ""
        return f"{self.number:04d}-{self.label}-{self.test}{retry}"


class Run:
    """A run folder."""

    def __init__(self, path: Path, about: dict[str, Any]) -> None:
        self.path = path
        self.about = about

    @classmethod
    def create(cls, path: Path, about: dict[str, Any]) -> Run:
        """Makes the folder and its run.json. Raises UserError where the folder exists or cannot be made."""
        require_new(path)
        try:
            (path / "trials").mkdir(parents=True)
        except OSError as error:
            raise UserError(f"cannot write to {path}: {error.strerror}") from None
        run = cls(path, {"schema": SCHEMA, **about})
        run.save_about()
        return run

    @classmethod
    def open(cls, path: Path) -> Run:
        """Opens a run folder, given as a path or as the name of a folder below results/. Raises UserError."""
        for folder in (path, paths.RESULTS / path):
            if (folder / "run.json").is_file():
                break
        else:
            what = "has no run.json" if path.is_dir() else "does not exist"
            raise UserError(f"{path} is not a run folder ({what}); `python -m loadtests list` names those there are")
        try:
            about = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise UserError(f"{folder / 'run.json'} cannot be read: {error}") from None
        if not isinstance(about, dict) or about.get("schema") != SCHEMA:
            found = about.get("schema") if isinstance(about, dict) else None
            raise UserError(f"{folder / 'run.json'} has schema {found}; this version reads schema {SCHEMA}")
        return cls(folder, about)

    def save_about(self) -> None:
        """Writes run.json anew."""
        write_json(self.path / "run.json", self.about)

    def save_trial(self, trial: Trial) -> None:
        """Writes the trial's file."""
        write_json(self.path / "trials" / f"{trial.name}.json", {"schema": SCHEMA, **dataclasses.asdict(trial)})

    def trials(self) -> list[Trial]:
        """All trials in the order of their numbers and attempts. Raises UserError for a file that is not a trial."""
        found = []
        for file in (self.path / "trials").glob("*.json"):
            try:
                values = json.loads(file.read_text(encoding="utf-8"))
                values.pop("schema")
                found.append(Trial(**values))
            except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
                raise UserError(f"{file} is not a trial: {error}") from None
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
