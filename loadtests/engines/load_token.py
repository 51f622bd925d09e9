"""Create and read the tokens of a run that waits for workers (docs/two-machines.rst).

The key pairs of the master and of the workers are derived from the run's token. The workers' token contains only the
master's public key and the workers' secret key, so a worker can't act as the master.
"""

from __future__ import annotations

import getpass
import hmac
import os
import re
import secrets
import sys

from loadtests.errors import UserError, called

FILE = "LOAD_TOKEN_FILE"
STDIN = "/dev/stdin"
MASTER, WORKERS = "master", "workers"
KEY_BYTES = 32
MAX_FILE_BYTES = 4096
OF_RUN, OF_WORKERS = re.compile(r"[0-9a-f]{32,64}"), re.compile(r"[0-9a-f]{128}")


def given(otherwise: str | None = None) -> str | None:
    """Return the run's token from the file that LOAD_TOKEN_FILE names, or else from the file ``otherwise``.

    Returns:
        The token, or None if there is neither LOAD_TOKEN_FILE nor ``otherwise``.

    Raises:
        UserError: If the file can't be read, or the token isn't valid.
    """
    text = _from_file(otherwise)
    if text is not None and not OF_RUN.fullmatch(text):
        raise UserError("the run's token must be 32 to 64 random hexadecimal digits. Create one: openssl rand -hex 32")
    return text


def drawn() -> str:
    """Return a new random token for a run."""
    return secrets.token_hex(KEY_BYTES)


def key(token: str, whose: str) -> bytes:
    """Derive the secret key of the master or of the workers from the run's token."""
    return hmac.digest(token.encode(), whose.encode(), "sha256")


def of_workers(token: str) -> str:
    """Derive the workers' token from the run's token."""
    import zmq
    from zmq.utils import z85

    public: bytes = z85.decode(zmq.curve_public(z85.encode(key(token, MASTER))))
    return (public + key(token, WORKERS)).hex()


def required() -> str:
    """Return the workers' token from LOAD_TOKEN_FILE or standard input. On a terminal, the typed text isn't shown.

    Raises:
        UserError: If the text isn't a workers' token, or can't be read.
    """
    text = _from_file(None if sys.stdin.isatty() else STDIN)
    if text is None:
        text = getpass.getpass("token of the workers: ").strip()
    if not OF_WORKERS.fullmatch(text):
        raise UserError(
            f"the workers' token must have 128 hexadecimal digits. Pass the token that the run or `{called()} token` "
            f"prints, on standard input or in the file that {FILE} names"
        )
    return text


def _from_file(otherwise: str | None) -> str | None:
    path = os.environ.pop(FILE, otherwise)
    if path is None:
        return None
    try:
        with open(path, "rb") as file:  # the file may be a pipe
            return file.read(MAX_FILE_BYTES).decode(errors="replace").strip()
    except OSError as error:
        raise UserError(f"{FILE}: {path} cannot be read: {error.strerror}") from None
