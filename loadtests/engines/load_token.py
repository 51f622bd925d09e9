"""The token that a run and the workers that others start for it share (docs/two-machines.rst)."""

from __future__ import annotations

import getpass
import os
import secrets
import sys
from pathlib import Path

from loadtests.errors import UserError
from loadtests.files import read

VARIABLE, FILE = "LOAD_TOKEN", "LOAD_TOKEN_FILE"
SHORTEST = 16  # characters: it is a key
MOST_BYTES = 4096


def given() -> str | None:
    """LOAD_TOKEN, or what is in the file that LOAD_TOKEN_FILE names; None without either. It is taken out of this
    process's environment, which the servers get as well. Raises UserError."""
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
    """A new one."""
    return secrets.token_hex(16)


def required() -> str:
    """What is given, or what a person types, unseen. Raises UserError where there is nobody to ask."""
    if (token := given()) is not None:
        return token
    if not sys.stdin.isatty():
        raise UserError(f"the token of the run is needed: in {VARIABLE}, or in a file that {FILE} names")
    os.environ[VARIABLE] = getpass.getpass("token of the run: ")
    return required()
