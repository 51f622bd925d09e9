"""The environment variables that a setup takes; supervisor/defaults.sh has their defaults."""

from __future__ import annotations

import os
from collections.abc import Mapping

from loadtests.errors import UserError

KNOBS = (
    "WORKERS", "THREADS", "BIND", "PORT", "CORES", "REDIS_URL", "BACKLOG", "KEEP_ALIVE", "MIDDLEWARES", "CONN_MAX_AGE",
)  # fmt: skip


def given() -> dict[str, str]:
    """The knobs that this process's environment sets."""
    return {name: os.environ[name] for name in KNOBS if name in os.environ}


def bind() -> str:
    """The address that the setups are to listen on: BIND, or loopback."""
    return os.environ.get("BIND", "127.0.0.1")


def port() -> int:
    """The port that the setups are to listen on: PORT, or 8000. Raises UserError."""
    text = os.environ.get("PORT", "8000")
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise UserError(f"PORT={text}: not a port; a number from 1 to 65535 is needed")
    return int(text)


def workers(env: Mapping[str, str]) -> int:
    """How many processes run Django under these knobs, and those of this process's environment; 1 where none says."""
    text = env.get("WORKERS") or os.environ.get("WORKERS") or "1"
    return int(text) if text.isdecimal() else 1
