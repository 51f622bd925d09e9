"""Choose the session store from the environment. docs/endpoints.rst compares the stores."""

import dataclasses
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured

ENGINES = {
    "db": "django.contrib.sessions.backends.db",
    "cached_db": "django.contrib.sessions.backends.cached_db",
    "redis": "django.contrib.sessions.backends.cache",
    "file": "django.contrib.sessions.backends.file",
    "cookies": "django.contrib.sessions.backends.signed_cookies",
    "datastore": "datastore_sessions.backend",
}
IN_REDIS = ("redis", "cached_db")  # a cache in the memory of one process would return old data in other processes
STATE_BYTES = (1024, 65_536)
STATE_BYTES_USUALLY = 8192
MAX_IN_COOKIE = 2048  # Browsers allow 4096 bytes for a cookie. Encrypted, signed and encoded, this state is 2.9 KB.
MAX_CONNECTIONS = 1000  # By default, redis-py 8 raises an error if more than 100 connections are needed.
TIMEOUT_S = 5.0


@dataclasses.dataclass(frozen=True)
class Sessions:
    """The settings of the sessions. ``service`` is a file that exists once the service is running."""

    engine: str
    caches: dict[str, Any]
    folder: str | None
    service: Path | None
    state_bytes: int


def sessions(environ: Mapping[str, str]) -> Sessions:
    """Return the settings for `SESSIONS` and its related variables.

    Raises:
        ImproperlyConfigured: If a variable has an invalid value.
    """
    where = environ.get("SESSIONS") or "db"
    if where not in ENGINES:
        raise ImproperlyConfigured(f"SESSIONS must be one of {', '.join(ENGINES)}, not {where!r}")
    run_dir = Path(environ["RUN_DIR"]) if environ.get("RUN_DIR") else None
    caches: dict[str, Any] = {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
    folder, service = None, None
    if where in IN_REDIS:
        caches, service = _redis(environ, run_dir)
    elif where == "datastore" and run_dir is not None and not environ.get("DATASTORE_EMULATOR_HOST"):
        service = run_dir / "datastore.http"  # loadtests/services/datastore writes this file
    elif where == "file" and run_dir is not None:
        folder = str(run_dir / "sessions")
        os.makedirs(folder, mode=0o700, exist_ok=True)
    return Sessions(ENGINES[where], {"default": caches}, folder, service, _state_bytes(environ, where))


def _redis(environ: Mapping[str, str], run_dir: Path | None) -> tuple[dict[str, Any], Path | None]:
    if environ.get("REDIS_URL"):
        # Simultaneous setups may share a Redis server, but not sessions.
        address, prefix, socket = environ["REDIS_URL"], f"questionnaire:{environ.get('BENCH_PORT', '')}", None
    elif run_dir is not None:
        socket = run_dir / "redis.sock"  # the socket of supervisor/redis.sh
        address, prefix = f"unix://{socket}", "questionnaire"
    else:  # for commands that don't serve requests, or for a Redis server of the machine
        socket, address, prefix = None, "redis://127.0.0.1:6379/0", "questionnaire"
    options = {"max_connections": MAX_CONNECTIONS, "socket_timeout": TIMEOUT_S, "socket_connect_timeout": TIMEOUT_S}
    backend = "django.core.cache.backends.redis.RedisCache"
    return {"BACKEND": backend, "LOCATION": address, "KEY_PREFIX": prefix, "OPTIONS": options}, socket


def _state_bytes(environ: Mapping[str, str], where: str) -> int:
    low, high = STATE_BYTES[0], MAX_IN_COOKIE if where == "cookies" else STATE_BYTES[1]
    given = environ.get("QUESTIONNAIRE_STATE_BYTES")
    if not given:
        return min(STATE_BYTES_USUALLY, high)
    if not (given.isascii() and given.isdecimal() and len(given) < 10 and low <= int(given) <= high):
        why = ", because browsers drop larger cookies" if where == "cookies" else ""
        raise ImproperlyConfigured(f"QUESTIONNAIRE_STATE_BYTES must be from {low} to {high}, not {given!r}{why}")
    return int(given)
