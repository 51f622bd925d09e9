"""The folders in results/ that are this machine's own: what may be removed of them."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import shutil
import subprocess
import time
from pathlib import Path

from loadtests.errors import UserError, said

MARKERS = ("run.json", "profile.json")  # a folder with one of these was written by `run` and its like, or by `profile`
KEPT = "reference-"  # what the names of folders that are to be committed begin with
MAY_GO_ON_S = 3600.0  # a run that has not ended and wrote something within this time may be under way
DAY_S = 86400.0


@dataclasses.dataclass(frozen=True)
class OwnFolder:
    """A run's or a profile's folder: when something was last written to it, in seconds since 1970, and its size."""

    path: Path
    written: float
    size_bytes: int

    def remove(self) -> None:
        """Removes it. The marker goes first: what an interruption leaves is no run any more. Raises UserError."""
        try:
            for marker in MARKERS:
                (self.path / marker).unlink(missing_ok=True)
            shutil.rmtree(self.path)
        except OSError as error:
            raise UserError(f"{self.path} cannot be removed: {error.strerror or error}") from None


def to_prune(results: Path, keep: int, older_than_days: float, now: float | None = None) -> list[OwnFolder]:
    """The folders in ``results`` that are neither among the ``keep`` newest nor younger than so many days, the newest
    first.

    Those whose name begins with ``reference-``, those of which git tracks a file, links, and runs that may be under
    way are not among them, and do not count. Raises UserError where git is in charge of the folder and does not answer.
    """
    now = time.time() if now is None else now
    tracked = _tracked(results)
    found = [
        _looked_at(folder)
        for folder in (results.iterdir() if results.is_dir() else ())
        if any((folder / marker).is_file() for marker in MARKERS)
        and not (folder.is_symlink() or folder.name.startswith(KEPT) or folder.name in tracked)
    ]
    still = [one for one in found if not _may_go_on(one, now)]
    newest_first = sorted(still, key=lambda one: (-one.written, one.path.name))
    return [one for one in newest_first[keep:] if now - one.written >= older_than_days * DAY_S]


def _looked_at(folder: Path) -> OwnFolder:
    written, size = folder.lstat().st_mtime, 0
    for path in folder.rglob("*"):
        with contextlib.suppress(FileNotFoundError):  # somebody else removes it
            seen = path.lstat()
            written, size = max(written, seen.st_mtime), size + seen.st_size
    return OwnFolder(folder, written, size)


def _may_go_on(one: OwnFolder, now: float) -> bool:
    if now - one.written > MAY_GO_ON_S or not (one.path / "run.json").is_file():
        return False
    try:
        return not json.loads((one.path / "run.json").read_bytes()).get("ended")
    except (OSError, ValueError, AttributeError, RecursionError):
        return False  # nobody is writing what cannot be read


def _tracked(results: Path) -> set[str]:
    """The names in ``results`` below which git tracks a file; none where the folder is in no repository."""
    if not any((folder / ".git").exists() for folder in (results, *results.absolute().parents)):
        return set()
    try:
        done = subprocess.run(["git", "-C", results, "ls-files", "-z"], capture_output=True, timeout=30, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        raise UserError(f"what git tracks in {results} must not be removed, and git cannot be asked: {error}") from None
    if done.returncode:
        why = said(done.stderr.decode(errors="replace"))
        raise UserError(f"what git tracks in {results} must not be removed, and git does not say what: {why}")
    return {os.fsdecode(name.partition(b"/")[0]) for name in done.stdout.split(b"\0") if name}
