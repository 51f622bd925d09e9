"""The environment variables that setups accept, with their valid values. An empty variable counts as not set.

supervisor/defaults.sh has the defaults.
"""

from __future__ import annotations

import contextlib
import dataclasses
import ipaddress
import os
import re
import socket
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from loadtests.errors import UserError, shown
from loadtests.setups.fetching import CLIENTS
from loadtests.workload.secrets import REPLACED, without_accounts, without_named

# More than any machine can use (the usual advice is two per core, plus one), and as many processes as supervisord can
# start with the usual limit of open files.
MAX_WORKERS = 1024
MAX_THREAD_COUNT = 1024
BACKLOG = (128, 65_535)  # all servers accept it, like KEEP_ALIVE; also in defaults.sh
MAX_KEEP_ALIVE = 60
MAX_REQUEST_COUNT = 1_000_000_000
MAX_CONN_MAX_AGE = 7 * 24 * 3600
# The questionnaire's session stores and the size of their blobs, as in testproject/testproject/settings/sessions.py.
SESSIONS = ("db", "cached_db", "redis", "file", "cookies", "datastore")
STATE_BYTES = (1024, 65_536)
MAX_DELAY_MS = 10_000
# For the views that fetch, as in testproject/testproject/settings/fetching.py.
POOL_SIZE = (1, 10_000)
POOLS = (1, 64)
FETCH_TIMEOUT_S = (0.05, 60.0)

# Separates the variables of supervisor/ from a served project's variables, such as its own PORT.
PREFIX = "BENCH_"

_WHOLE = re.compile(r"0|[1-9][0-9]{0,9}")  # without leading zeros, which some shells read as octal
_CORES = re.compile(r"[0-9]{1,5}(-[0-9]{1,5})?(,[0-9]{1,5}(-[0-9]{1,5})?)*")
# As in testproject/testproject/settings/middleware.py.
_MIDDLEWARES = re.compile(r"(usual\+)?[0-9]{1,2}-(sync|async)|usual-sync")
_DATABASE = re.compile(r"sqlite:///.+|(postgresql|postgres)://.+")
_SECONDS = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")
_PATH = re.compile(r"/[A-Za-z0-9._~/-]{0,500}")
_HOST = re.compile(r"[A-Za-z0-9.-]+:[0-9]{1,5}|\[[0-9a-fA-F:]+\]:[0-9]{1,5}")


@dataclasses.dataclass(frozen=True)
class Knob:
    """The description of valid values, and a function that checks a text."""

    needed: str
    fits: Callable[[str], bool]


def _whole(low: int, high: int, what: str = "a whole number") -> Knob:
    return Knob(
        f"{what} from {low} to {high} is needed",
        lambda text: _WHOLE.fullmatch(text) is not None and low <= int(text) <= high,
    )


def _one_of(*texts: str, needed: str = "") -> Knob:
    return Knob(needed or f"one of {', '.join(texts)} is needed", lambda text: text in texts)


def _matching(pattern: re.Pattern[str], needed: str) -> Knob:
    return Knob(needed, lambda text: pattern.fullmatch(text) is not None)


def _backlog() -> Knob:
    """Return a knob up to the kernel's limit. Some servers silently reduce larger values."""
    low, high = BACKLOG
    with contextlib.suppress(OSError, ValueError):
        high = min(high, int(Path("/proc/sys/net/core/somaxconn").read_text()))
    return _whole(low, max(low, high), "a number that the kernel allows (net.core.somaxconn)")


def _is_own_address(text: str) -> bool:
    """Return whether it is a reachable IPv4 address of this machine."""
    try:
        address = ipaddress.IPv4Address(text)
        with socket.socket() as server, socket.socket() as client:
            server.bind((text, 0))
            server.listen(1)
            client.settimeout(1.0)
            client.connect(("127.0.0.1" if address.is_unspecified else text, server.getsockname()[1]))
    except (ValueError, OSError):
        return False
    return True


def _is_redis(text: str) -> bool:
    try:
        parts = urlsplit(text)
        _port = parts.port
    except ValueError:
        return False
    if not text.isprintable() or " " in text:
        return False
    return bool(parts.path) if parts.scheme == "unix" else parts.scheme in ("redis", "rediss") and bool(parts.hostname)


def _is_origin(text: str) -> bool:
    from loadtests.services.origin import loopback

    try:
        return loopback.parse(text).path == "/" and "#" not in text
    except ValueError:
        return False


def _is_timeout(text: str) -> bool:
    low, high = FETCH_TIMEOUT_S
    return _SECONDS.fullmatch(text) is not None and low <= float(text) <= high


def _is_recipe(text: str) -> bool:
    from loadtests.services.origin import recipes  # imported only when needed, because many commands don't read recipes

    try:
        return (text in recipes.names() or Path(text).is_absolute()) and bool(recipes.load(text))
    except UserError:
        return False


# Knobs of servers and services, for every project.
SERVERS = {
    "WORKERS": _whole(1, MAX_WORKERS),
    "THREADS": _whole(1, MAX_THREAD_COUNT),
    "BIND": Knob(
        "an IPv4 address of this machine is needed, such as 127.0.0.1, or 0.0.0.0 for all of them (not every server "
        "can listen on an IPv6 address)",
        _is_own_address,
    ),
    "PORT": _whole(1, 65_535, "a port"),
    "CORES": _matching(_CORES, "a list of cores is needed, such as 0, 0-2 or 0,2"),
    "SERVICES_CORES": Knob(  # the same word as in loadtests/observe/cores.py
        "a list of cores is needed, such as 0, 0-2 or 0,2, or generator",
        lambda text: text == "generator" or _CORES.fullmatch(text) is not None,
    ),
    "BACKLOG": _backlog(),
    "KEEP_ALIVE": _whole(1, MAX_KEEP_ALIVE, "a whole number of seconds"),
    "TLS": _one_of("1", needed="1 is needed, or nothing"),
    "HTTP_PARSER": _one_of("python", "compiled"),
    "MAX_REQUESTS": _whole(1, MAX_REQUEST_COUNT),
    "MAX_REQUESTS_JITTER": _whole(1, MAX_REQUEST_COUNT),
    "ORIGIN_RECIPE": Knob(
        "the name of an included recipe, or the absolute path of a valid recipe, is needed; `origin FILE` checks a "
        "recipe",
        _is_recipe,
    ),
}
# Knobs of the views that fetch. The user's own project may have settings of these names.
FETCHING = {
    "HTTP_CLIENT": _one_of(*CLIENTS),
    "POOL_SIZE": _whole(*POOL_SIZE, "a whole number of connections"),
    "POOLS": _whole(*POOLS),
    "FETCH_TIMEOUT": Knob("a number of seconds from {:g} to {:g} is needed".format(*FETCH_TIMEOUT_S), _is_timeout),
    "FETCH_KEEP_ALIVE": _one_of("0", "1", needed="1 or 0 is needed"),
    "ORIGIN_URL": Knob(
        "a URL of this machine's loopback, without a path, is needed, such as http://127.0.0.1:8100", _is_origin
    ),
    "ORIGIN_PATH": _matching(_PATH, "a path is needed, such as /news"),
}
SAMPLES = {
    "REDIS_URL": Knob("redis://HOST:PORT/NUMBER, rediss://HOST:PORT/NUMBER or unix:///PATH is needed", _is_redis),
    "MIDDLEWARES": _matching(_MIDDLEWARES, "a value such as 0-sync, 7-async or usual+1-sync is needed"),
    "HOPLESS": _one_of("1", "threads", "middleware", "whole", needed="1, threads, middleware or whole is needed"),
    "APPLICATION": _one_of("bare", needed="bare is needed, or nothing"),
    "ASYNC_BACKEND": _one_of("1", needed="1 is needed, or nothing"),
    "MAX_THREADS": _whole(1, 1000, "a whole number of threads"),
    "CONN_MAX_AGE": Knob(
        f"a whole number of seconds from 0 to {MAX_CONN_MAX_AGE}, or none, is needed",
        lambda text: text == "none" or _whole(0, MAX_CONN_MAX_AGE).fits(text),
    ),
    "PGBOUNCER": _one_of("1", needed="1 is needed"),
    "SESSIONS": _one_of(*SESSIONS),
    "DATASTORE_GRPC": _one_of("0", "1", needed="1 or 0 is needed"),
    "DATASTORE_EMULATOR_HOST": _matching(_HOST, "HOST:PORT is needed"),
    "DATASTORE_DELAY_MS": _whole(0, MAX_DELAY_MS, "a whole number of milliseconds"),
    "QUESTIONNAIRE_STATE_BYTES": _whole(*STATE_BYTES, "a whole number of bytes"),
    **FETCHING,
    "STACK_SETTINGS": _one_of("original", "today", needed="original or today is needed"),
}
KNOBS = {**SERVERS, **SAMPLES}
DATABASE_URL = _matching(_DATABASE, "sqlite:///FILE or postgresql://HOST/NAME is needed")


def prefixed(env: Mapping[str, str]) -> dict[str, str]:
    """Return the variables with the servers' knobs under the prefix that supervisor/ reads."""
    return {f"{PREFIX}{name}" if name in SERVERS else name: value for name, value in env.items()}


def without_servers(env: Mapping[str, str]) -> dict[str, str]:
    """Return the variables without the servers' knobs, for a project's own programs."""
    return {name: value for name, value in env.items() if name not in SERVERS and not name.startswith(PREFIX)}


def require_knobs(env: Mapping[str, str], *, own: bool, whose: str = "") -> None:
    """Check the knobs in ``env``. For a project of the user's ``own``, skip the knobs of the sample project.

    Args:
        env: The environment variables.
        own: Whether the user's own project is served.
        whose: The start of the message.

    Raises:
        UserError: For the first knob that isn't valid.
    """
    for name, knob in (SERVERS if own else {**KNOBS, "DATABASE_URL": DATABASE_URL}).items():
        value = env.get(name)
        if value and not knob.fits(value):
            raise UserError(f"{whose}{name}={shown(kept(name, value, '...'))}: {knob.needed}")


def given() -> dict[str, str]:
    """Return the knobs in this process's environment for a record, without users and passwords of URLs."""
    return {name: kept(name, os.environ[name]) for name in KNOBS if name in os.environ}


def take(knobs: Mapping[str, str]) -> None:
    """Set this process's knobs to the values of ``given``, and remove other knobs.

    Raises:
        UserError: If the record lacks a secret value, and the environment doesn't have it either.
    """
    for name, value in knobs.items():
        if REPLACED in value and kept(name, os.environ.get(name, "")) != value:
            raise UserError(f"{name} was {shown(value)}, whose secrets a run folder does not keep. Set it as it was")
    for name in KNOBS:
        if name not in knobs:
            os.environ.pop(name, None)
        elif REPLACED not in knobs[name]:
            os.environ[name] = knobs[name]


def kept(name: str, value: str, instead: str = REPLACED) -> str:
    """Return the value of an environment variable for a record, without users and passwords of URLs."""
    if not name.endswith("_URL"):
        return without_accounts(value)
    # Up to the last @, because a badly encoded password can contain any character.
    return without_named(re.sub(r"^(\w+://)?.*@", rf"\1{instead}@", value, flags=re.DOTALL))


def database() -> str | None:
    """Return DATABASE_URL for a record, without user, password and options, which can contain a password."""
    url = os.environ.get("DATABASE_URL")
    if not url or url.startswith("sqlite:"):
        return url or None
    address, _, options = url.partition("?")
    if "@" in options:  # the @ may end a password with a ?, or be in an option, so only the scheme is certainly safe
        return f"{address.partition('//')[0]}//"
    return re.sub(r"//.*@", "//", address, flags=re.DOTALL)


def bind() -> str:
    """Return the address that setups listen on: BIND, or loopback.

    Raises:
        UserError: If BIND isn't valid.
    """
    return _known("BIND") or "127.0.0.1"


def port() -> int:
    """Return the port that setups listen on: PORT, or 8000.

    Raises:
        UserError: If PORT isn't valid.
    """
    return int(_known("PORT") or 8000)


def workers(env: Mapping[str, str]) -> int:
    """Return the number of Django processes with these knobs and this process's environment."""
    return int(env.get("WORKERS") or _known("WORKERS") or 1)


def tls(env: Mapping[str, str]) -> bool:
    """Return whether a server with these knobs and this process's environment answers over TLS."""
    return bool(env.get("TLS", _known("TLS")))


def offers_needed(env: Mapping[str, str]) -> set[str]:
    """Return the features (words of OFFERS) that these knobs and this process's environment require of a setup."""
    return {word for word, is_needed in (("tls", tls(env)), ("parser", _parser(env))) if is_needed}


def software_needed(env: Mapping[str, str], server_needs: Iterable[str]) -> list[str]:
    """Return the needs (names of ``loadtests.setups.needs``) that these knobs add to a server's."""
    compiled = _parser(env) == "compiled" and "gunicorn" in server_needs
    return [need for need, is_needed in (("openssl", tls(env)), ("gunicorn-h1c", compiled)) if is_needed]


def _parser(env: Mapping[str, str]) -> str:
    return env.get("HTTP_PARSER", _known("HTTP_PARSER"))


def _known(name: str) -> str:
    """Return the value of a knob in this process's environment, or an empty string.

    Raises:
        UserError: If the value isn't valid.
    """
    value = os.environ.get(name, "")
    require_knobs({name: value}, own=False)
    return value
