"""The tokens of a run that expects workers (docs/two-machines.rst), and the keys that they yield.

The run's token yields the key pairs of the master and of the workers. The workers' token contains only the master's
public key and the workers' secret key, so a worker can't act as the master.
"""

from __future__ import annotations

import contextlib
import ctypes
import getpass
import hmac
import os
import re
import secrets
import sys

from loadtests.errors import UserError, called

VARIABLE, FILE = "LOAD_TOKEN", "LOAD_TOKEN_FILE"
STDIN = "/dev/stdin"
MASTER, WORKERS = "master", "workers"
KEY_BYTES = 32
MAX_FILE_BYTES = 4096
MIN_DIFFERENT_DIGITS = 8  # of 32 random hexadecimal digits, fewer are different in one of ten million tokens
OF_RUN, OF_WORKERS = re.compile(r"[0-9a-f]{32,64}"), re.compile(r"[0-9a-f]{128}")
PR_SET_DUMPABLE = 4


def given(otherwise: str | None = None) -> str | None:
    """Return the run's token from the file that LOAD_TOKEN_FILE names, or from another path; None without a path.

    Raises:
        UserError: If the file can't be read, its token may not be a generated one, or LOAD_TOKEN is set.
    """
    text = _from_file(otherwise)
    if text is not None and not (OF_RUN.fullmatch(text) and len(set(text)) >= MIN_DIFFERENT_DIGITS):
        raise UserError("the run's token needs 32 to 64 random hexadecimal digits. Make one: openssl rand -hex 32")
    return text


def drawn() -> str:
    """Return a new token of a run."""
    return secrets.token_hex(KEY_BYTES)


def key(token: str, whose: str) -> bytes:
    """Return the secret key of the master or of the workers, which the run's token yields."""
    return hmac.digest(token.encode(), whose.encode(), "sha256")


def of_workers(token: str) -> str:
    """Return the workers' token for the run's token."""
    import zmq
    from zmq.utils import z85

    public: bytes = z85.decode(zmq.curve_public(z85.encode(key(token, MASTER))))
    return (public + key(token, WORKERS)).hex()


def required() -> str:
    """Return the workers' token from LOAD_TOKEN_FILE or standard input. On a terminal, the typed text isn't shown.

    Raises:
        UserError: If this is not a workers' token.
    """
    text = _from_file(None if sys.stdin.isatty() else STDIN)
    if text is None:
        text = getpass.getpass("token of the workers: ").strip()
    if not OF_WORKERS.fullmatch(text):
        raise UserError(
            f"the workers' token has 128 hexadecimal digits. Pass the token that the run or `{called()} token` prints, "
            f"on standard input or in the file of {FILE}"
        )
    return text


def hide() -> None:
    """Hide this process's memory and environment from the user's other processes (prctl(2)).

    This doesn't apply to programs that it starts.
    """
    with contextlib.suppress(AttributeError):  # only Linux has prctl
        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def _from_file(otherwise: str | None) -> str | None:
    if VARIABLE in os.environ:
        raise UserError(f"other processes can read {VARIABLE}. Unset it, and name a file or {STDIN} in {FILE}")
    path = os.environ.pop(FILE, otherwise)
    if path is None:
        return None
    try:
        with open(path, "rb") as file:  # which may be a pipe
            return file.read(MAX_FILE_BYTES).decode(errors="replace").strip()
    except OSError as error:
        raise UserError(f"{FILE}: {path} cannot be read: {error.strerror}") from None
