"""The token that a run shares with workers that users start (docs/two-machines.rst)."""

from __future__ import annotations

import getpass
import os
import secrets
import sys
from pathlib import Path

from loadtests.errors import UserError
from loadtests.files import read

VARIABLE, FILE = "LOAD_TOKEN", "LOAD_TOKEN_FILE"
SHORTEST = 16  # characters; the token is a key
MOST_BYTES = 4096


def given() -> str | None:
    """Return LOAD_TOKEN, or the content of LOAD_TOKEN_FILE, or None.

    The function removes both variables from this process's environment, because the servers inherit the environment.

    Raises:
        UserError: If the token is too short, or the file can't be read.
    """
    token, file = os.environ.pop(VARIABLE, None), os.environ.pop(FILE, None)
    if token is None and file is not None:
        try:
            token = read(Path(file), MOST_BYTES).decode(errors="replace")
        except OSError as error:
            raise UserError(f"{FILE}: {file} cannot be read: {error.strerror}") from None
    if token is None:
        return None
    if len(token := token.strip()) < SHORTEST:
        raise UserError(f"the token has {len(token)} characters; at least {SHORTEST} are needed: openssl rand -hex 16")
    return token


def drawn() -> str:
    """Generate a token."""
    return secrets.token_hex(16)


def required() -> str:
    """Return the given token, or prompt for it without showing it.

    Raises:
        UserError: If there is no terminal to prompt on.
    """
    if (token := given()) is not None:
        return token
    if not sys.stdin.isatty():
        raise UserError(f"the token of the run is needed: in {VARIABLE}, or in a file that {FILE} names")
    os.environ[VARIABLE] = getpass.getpass("token of the run: ")
    return required()
