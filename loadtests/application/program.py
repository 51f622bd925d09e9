"""Runs a program and returns what it printed, or says in one line why it did not."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from loadtests.errors import UserError, said


def output(
    command: Sequence[str | Path],
    failure: str,
    timeout_s: float,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> str:
    """The standard output of the command. Raises UserError, ``failure`` and the reason, where it fails or takes over
    ``timeout_s`` seconds."""
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout_s,
            check=False,
        )
    except OSError as error:
        raise UserError(f"{failure}: {error}") from None
    except subprocess.TimeoutExpired:
        raise UserError(f"{failure}: it had not ended after {timeout_s:.0f} s") from None
    if done.returncode:
        raise UserError(f"{failure}: {said(done.stderr)}")
    return done.stdout
