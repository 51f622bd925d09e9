"""Prepare another machine: copy this project, install the packages, and mark the machine as ready for load."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import os
import secrets
import shlex
import subprocess
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from loadtests.errors import UserError, called, shown
from loadtests.files import INSTALLED, ROOT
from loadtests.hosts.error_tail import ErrorTail
from loadtests.hosts.link import FOLDER, LOCK, MARKER, Address, failure, refuse_others
from loadtests.observe import machine
from loadtests.setups.application.progress import Announce

BROUGHT_WITHIN_S = 300.0
SET_UP_WITHIN_S = 3600.0
BUSY = 75  # The exit status if another process holds the lock (sysexits(3), EX_TEMPFAIL).
# Other machines don't need these folders, or .md files outside packages.
STAYS_HERE = ("deploy/", "docs/", "results/", "tests/")
# These folders are removed first, so that no files of an earlier revision remain.
CLEARED = ("loadtests", "testproject", "packages", "supervisor")
MAX_NAMED = 3


@dataclasses.dataclass(frozen=True)
class Marker:
    """The file that ``prepare`` writes on a prepared machine.

    Args:
        token: The token that proves the host's identity.
        revision: The Git revision of the project.
        dirty: Whether there were uncommitted changes.
        files: The SHA-256 of each file by path.
    """

    token: str
    revision: str | None
    dirty: bool | None
    files: Mapping[str, str]


def prepare(address: Address, announce: Announce, venv: str | None = None) -> Marker:
    """Copy the files that git tracks, including uncommitted changes, to a machine, and set up the project.

    Args:
        address: The address of the machine.
        announce: The function that reports the steps to the user.
        venv: An existing virtual environment on that machine to use instead of a new ``.venv``.

    Raises:
        UserError: If a step fails.
    """
    files = tracked()
    marker = Marker(secrets.token_hex(16), **machine.git(), files=digests(ROOT, files))
    announce(f"copying {len(files)} files to {address}")
    clear = " ".join(CLEARED)
    _run(
        address,
        f'mkdir -p "$HOME/{FOLDER}/tree" && cd "$HOME/{FOLDER}" || exit; '
        f"{refuse_others('. tree')}; chmod 700 . || exit; "
        f"exec 9>>{LOCK}; flock -E {BUSY} -w 5 9 || exit; "
        f"rm -f {MARKER}; cd tree && rm -rf {clear} && tar --no-same-owner -xf -",
        BROUGHT_WITHIN_S,
        _archive(files),
    )
    if venv is not None:
        announce("using the existing virtual environment")
        there = shlex.quote(venv)
        make = f'[ -x {there}/bin/python ] || {{ echo "{there} is not a virtual environment" >&2; exit 1; }}; '
        make += f'modules="$(dirname {there})/node_modules"; '
        make += '[ -d "$modules" ] || { echo "$modules is missing. Run npm ci in that folder" >&2; exit 1; }; '
        make += '[ "$modules" -ef node_modules ] || { rm -rf node_modules && ln -s "$modules" node_modules; } && '
        make += f"rm -rf .venv && ln -s {there} .venv"
    else:
        announce("installing the packages on that machine (make setup), which takes minutes the first time")
        make = "make setup >&2"
    _run(address, f'cd "$HOME/{FOLDER}/tree" && {make}', SET_UP_WITHIN_S)
    announce("writing the marker")
    text = json.dumps(dataclasses.asdict(marker)).encode()
    _run(address, f'cd "$HOME/{FOLDER}" && cat > {MARKER}.new && mv {MARKER}.new {MARKER}', 60.0, text)
    return marker


def tracked() -> list[str]:
    """Return the paths of the tracked files that the other machine needs.

    Raises:
        UserError: If git can't list the files.
    """
    if INSTALLED:
        raise UserError("this command copies the files of a clone of the repository. Run it in a clone")
    try:
        done = subprocess.run(
            ["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, text=True, timeout=60, check=True
        )
    except (OSError, subprocess.SubprocessError):
        raise UserError(f"{ROOT} is not a git repository, or git is missing. git must list the files to copy") from None
    found = [path for path in done.stdout.split("\0") if path and not path.startswith(STAYS_HERE)]
    needed = [path for path in found if path.startswith("packages/") or not path.endswith(".md")]
    return [path for path in needed if os.path.lexists(ROOT / path)]


def of_load() -> list[str]:
    """Return the paths of the files that are needed to generate load. Don't use git, which may not be installed."""
    found = [file for suffix in ("py", "js") for file in (ROOT / "loadtests").rglob(f"*.{suffix}")]
    return sorted(str(file.relative_to(ROOT)) for file in (*found, ROOT / "package-lock.json"))


def digests(root: Path, paths: list[str]) -> dict[str, str]:
    """Return the SHA-256 of each file by its path below ``root``. For a missing file, the text is empty."""
    return {path: _digest(root / path) for path in paths}


def differing(here: Mapping[str, str], there: Mapping[str, str]) -> str | None:
    """Describe the files that differ, or return None if all files are the same."""
    names = sorted(path for path in {**here, **there} if here.get(path) != there.get(path))
    if not names:
        return None
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return f"{', '.join(map(shown, names[:MAX_NAMED]))}{more}"


def require_same(address: Address, there: Mapping[str, str]) -> None:
    """Check that the other machine has the same files as this machine's git repository.

    Raises:
        UserError: If files differ.
    """
    if (names := differing(digests(ROOT, tracked()), there)) is not None:
        raise UserError(
            f"{address}: files differ from this machine's: {names}. Copy them: {called()} hosts prepare {address}"
        )


def read_marker(folder: Path) -> Marker:
    """Read the marker in a folder of this machine.

    Raises:
        UserError: If the marker can't be read.
    """
    try:
        values: dict[str, Any] = json.loads((folder / MARKER).read_text(encoding="utf-8"))
        return Marker(**values)
    except (OSError, ValueError, TypeError):
        raise UserError("the marker on that machine can't be read. Run `hosts prepare` again") from None


def _digest(file: Path) -> str:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return ""


def _archive(paths: list[str]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path in paths:
            tar.add(ROOT / path, path, recursive=False)
    return packed.getvalue()


def _run(address: Address, script: str, within_s: float, given: bytes = b"") -> None:
    """Run a script on a machine, with ``given`` as standard input.

    Raises:
        UserError: If the script fails. The message contains the reason.
    """
    errors = ErrorTail()
    try:
        # In a new session, so that a Ctrl-C reaches only this process, which then ends the script.
        ended = subprocess.run(
            address.command(f"umask 077; {script}"), input=given, stdout=subprocess.DEVNULL, stderr=errors.descriptor,
            timeout=within_s, start_new_session=True, check=False,
        )  # fmt: skip
    except OSError as error:
        raise UserError(f"ssh cannot be run: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise UserError(f"{address}: this command didn't end within {within_s:g} s: {script}") from None
    finally:
        errors.close()
    if ended.returncode == BUSY:
        raise UserError(f"{address}: another run is using the machine. Wait until it ends")
    if ended.returncode:
        raise failure(address, ended.returncode, errors.text())
