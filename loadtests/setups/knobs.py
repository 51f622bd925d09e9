"""Define the knobs, which are the environment variables that setups accept, and the valid values of each knob.

An empty variable counts as not set. supervisor/defaults.sh contains the defaults.
"""

from __future__ import annotations

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

# No machine needs more workers (the common advice is two workers per core, plus one). With the default limit of open
# files, supervisord can't start more processes.
MAX_WORKERS = 1024
MAX_THREAD_COUNT = 1024
BACKLOG = (128, 65_535)  # all servers accept this range; defaults.sh also checks the lower limit
MAX_KEEP_ALIVE = 60
MAX_REQUEST_COUNT = 1_000_000_000
MAX_CONN_MAX_AGE = 7 * 24 * 3600
# The questionnaire's session stores and the size of their blobs, as in testproject/testproject/settings/sessions.py.
SESSIONS = ("db", "cached_db", "redis", "file", "cookies", "datastore")
STATE_BYTES = (1024, 65_536)
MAX_DELAY_MS = 10_000
# The limits for the views that fetch, as in testproject/testproject/settings/fetching.py.
POOL_SIZE = (1, 10_000)
POOLS = (1, 64)
FETCH_TIMEOUT_S = (0.05, 60.0)

# A prefix for the variables of supervisor/, because a project may have variables with the same names, such as PORT.
PREFIX = "BENCH_"

_WHOLE = re.compile(r"0|[1-9][0-9]{0,9}")  # without leading zeros, which some shells read as octal
_CORES = re.compile(r"[0-9]{1,5}(-[0-9]{1,5})?(,[0-9]{1,5}(-[0-9]{1,5})?)*")
# testproject/testproject/settings/middleware.py parses the same values.
_MIDDLEWARES = re.compile(r"(usual\+)?[0-9]{1,2}-(sync|async)|usual-sync")
_DATABASE = re.compile(r"sqlite:///.+|(postgresql|postgres)://.+")
_REDIS = re.compile(
    r"rediss?://([^\s/?#]*@)?([^\s/?#@:]+|\[[0-9a-fA-F:]+\])(:[0-9]{1,5})?(/[0-9]*)?(\?\S*)?|unix:///\S+"
)
_SECONDS = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")
_PATH = re.compile(r"/[A-Za-z0-9._~/-]{0,500}")
_HOST = re.compile(r"[A-Za-z0-9.-]+:[0-9]{1,5}|\[[0-9a-fA-F:]+\]:[0-9]{1,5}")


@dataclasses.dataclass(frozen=True)
class Knob:
    """A knob: a description of its valid values, and a function that checks a value."""

    allowed: str
    fits: Callable[[str], bool]


def _whole(low: int, high: int, what: str = "a whole number") -> Knob:
    return Knob(
        f"{what} from {low} to {high}",
        lambda text: _WHOLE.fullmatch(text) is not None and low <= int(text) <= high,
    )


def _one_of(*texts: str) -> Knob:
    return Knob(f"one of {', '.join(texts)}" if len(texts) > 1 else f"{texts[0]} or empty", lambda text: text in texts)


def _matching(pattern: re.Pattern[str], allowed: str) -> Knob:
    return Knob(allowed, lambda text: pattern.fullmatch(text) is not None)


def _is_own_address(text: str) -> bool:
    """Return whether the text is a reachable IPv4 address of this machine."""
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


def _is_origin(text: str) -> bool:
    try:
        parts = urlsplit(text)
        host = parts.hostname or ""
        on_loopback = host == "localhost" or ipaddress.ip_address(host).is_loopback
        return on_loopback and text.rstrip("/") == f"http://{parts.netloc}" and parts.port != 0 and "@" not in text
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


# The knobs that only some servers support, by the word of `offers=`.
KNOBS_BY_OFFER = {"tls": "TLS", "parser": "HTTP_PARSER", "backpressure": "BACKPRESSURE"}
# Knobs of servers and services, for every project.
SERVERS = {
    "WORKERS": _whole(1, MAX_WORKERS),
    "THREADS": _whole(1, MAX_THREAD_COUNT),
    "BIND": Knob(
        "an IPv4 address of this machine, such as 127.0.0.1, or 0.0.0.0 for all addresses (not every server can "
        "listen on an IPv6 address)",
        _is_own_address,
    ),
    "PORT": _whole(1, 65_535, "a port"),
    "CORES": _matching(_CORES, "a list of cores, such as 0, 0-2 or 0,2"),
    "SERVICES_CORES": Knob(  # loadtests/observe/cores.py uses the same word for the generator's core
        "a list of cores, such as 0, 0-2 or 0,2, or generator",
        lambda text: text == "generator" or _CORES.fullmatch(text) is not None,
    ),
    "BACKLOG": _whole(*BACKLOG),
    "KEEP_ALIVE": _whole(1, MAX_KEEP_ALIVE, "a whole number of seconds"),
    "TLS": _one_of("1"),
    "HTTP_PARSER": _one_of("python", "compiled"),
    "BACKPRESSURE": _whole(1, BACKLOG[1], "a whole number of connections"),
    "MAX_REQUESTS": _whole(1, MAX_REQUEST_COUNT),
    "MAX_REQUESTS_JITTER": _whole(1, MAX_REQUEST_COUNT),
    "ORIGIN_RECIPE": Knob(
        "the name of an included recipe, or the absolute path of a valid recipe; `origin FILE` checks a recipe",
        _is_recipe,
    ),
}
# Knobs of the views that fetch. The user's own project may use these names for its own settings.
FETCHING = {
    "HTTP_CLIENT": _one_of(*CLIENTS),
    "POOL_SIZE": _whole(*POOL_SIZE, "a whole number of connections"),
    "POOLS": _whole(*POOLS),
    "FETCH_TIMEOUT": Knob("a number of seconds from {:g} to {:g}".format(*FETCH_TIMEOUT_S), _is_timeout),
    "FETCH_KEEP_ALIVE": _one_of("0", "1"),
    "ORIGIN_URL": Knob("a URL of this machine's loopback, without a path, such as http://127.0.0.1:8100", _is_origin),
    "ORIGIN_PATH": _matching(_PATH, "a path, such as /news"),
}
SAMPLES = {
    "REDIS_URL": _matching(_REDIS, "redis://HOST:PORT/NUMBER, rediss://HOST:PORT/NUMBER or unix:///PATH"),
    "MIDDLEWARES": _matching(_MIDDLEWARES, "a value such as 0-sync, 7-async or usual+1-sync"),
    "HOPLESS": _one_of("1", "threads", "middleware", "whole"),
    "APPLICATION": _one_of("bare"),
    "ASYNC_BACKEND": _one_of("1"),
    "MAX_THREADS": _whole(1, 1000, "a whole number of threads"),
    "CONN_MAX_AGE": Knob(
        f"a whole number of seconds from 0 to {MAX_CONN_MAX_AGE}, or none",
        lambda text: text == "none" or _whole(0, MAX_CONN_MAX_AGE).fits(text),
    ),
    "PGBOUNCER": _one_of("1"),
    "SESSIONS": _one_of(*SESSIONS),
    "DATASTORE_GRPC": _one_of("0", "1"),
    "DATASTORE_EMULATOR_HOST": _matching(_HOST, "HOST:PORT"),
    "DATASTORE_DELAY_MS": _whole(0, MAX_DELAY_MS, "a whole number of milliseconds"),
    "QUESTIONNAIRE_STATE_BYTES": _whole(*STATE_BYTES, "a whole number of bytes"),
    **FETCHING,
    "STACK_SETTINGS": _one_of("original", "today"),
}
KNOBS = {**SERVERS, **SAMPLES}
DATABASE_URL = _matching(_DATABASE, "sqlite:///FILE or postgresql://HOST/NAME")


def prefixed(env: Mapping[str, str]) -> dict[str, str]:
    """Return the variables. The names of the servers' knobs get the prefix that supervisor/ expects."""
    return {f"{PREFIX}{name}" if name in SERVERS else name: value for name, value in env.items()}


def without_servers(env: Mapping[str, str]) -> dict[str, str]:
    """Return the variables without the servers' knobs, for a project's own programs."""
    return {name: value for name, value in env.items() if name not in SERVERS and not name.startswith(PREFIX)}


def require_knobs(env: Mapping[str, str], *, own: bool, whose: str = "") -> None:
    """Check the values of the knobs in ``env``.

    Args:
        env: The environment variables.
        own: Whether the user's own project is served. If so, the knobs of the sample project aren't checked.
        whose: The start of the error message, which names the place of the variables.

    Raises:
        UserError: For the first knob that isn't valid.
    """
    for name, knob in (SERVERS if own else {**KNOBS, "DATABASE_URL": DATABASE_URL}).items():
        if (value := env.get(name)) and not knob.fits(value):
            raise UserError(f"{whose}{name}={shown(kept(name, value, '...'))}: must be {knob.allowed}")


def given() -> dict[str, str]:
    """Return the knobs in this process's environment for a record, without users and passwords of URLs."""
    return {name: kept(name, os.environ[name]) for name in KNOBS if name in os.environ}


def take(knobs: Mapping[str, str]) -> None:
    """Set this process's knobs to recorded values, which ``given`` has returned, and remove other knobs.

    Raises:
        UserError: If a recorded value lacks its secret, and the environment doesn't contain the whole value.
    """
    for name, value in knobs.items():
        if REPLACED in value and kept(name, os.environ.get(name, "")) != value:
            raise UserError(f"{name} was {shown(value)}, but run folders contain no secrets. Set {name} as before")
    for name in KNOBS:
        if name not in knobs:
            os.environ.pop(name, None)
        elif REPLACED not in knobs[name]:
            os.environ[name] = knobs[name]


def kept(name: str, value: str, instead: str = REPLACED) -> str:
    """Return the value of an environment variable for a record, without users and passwords of URLs."""
    if not name.endswith("_URL"):
        return without_accounts(value)
    # Replace everything up to the last @, because a badly encoded password can contain any character.
    return without_named(re.sub(r"^(\w+://)?.*@", rf"\1{instead}@", value, flags=re.DOTALL))


def database() -> str | None:
    """Return DATABASE_URL for a record, without the user, the password, and the options, which may contain secrets."""
    url = os.environ.get("DATABASE_URL")
    if not url or url.startswith("sqlite:"):
        return url or None
    address, _, options = url.partition("?")
    # The @ may belong to an option, or it may follow a password that contains a ?. So only the scheme is safe.
    if "@" in options:
        return f"{address.partition('//')[0]}//"
    return re.sub(r"//.*@", "//", address, flags=re.DOTALL)


def bind() -> str:
    """Return the address on which setups listen: BIND, or the loopback address.

    Raises:
        UserError: If BIND isn't valid.
    """
    return _value(os.environ, "BIND") or "127.0.0.1"


def port() -> int:
    """Return the port on which setups listen: PORT, or 8000.

    Raises:
        UserError: If PORT isn't valid.
    """
    return int(_value(os.environ, "PORT") or 8000)


def workers(env: Mapping[str, str]) -> int:
    """Return the number of Django processes, from the knobs in ``env`` or else from this process's environment."""
    return int(env.get("WORKERS") or _value(os.environ, "WORKERS") or 1)


def tls(env: Mapping[str, str]) -> bool:
    """Return whether a server answers over TLS, from the knobs in ``env`` or else from this process's environment."""
    return bool(_value(env, "TLS"))


def offers_needed(env: Mapping[str, str]) -> set[str]:
    """Return the features (words of OFFERS) that a setup needs for the knobs in ``env`` and in the environment."""
    return {word for word, name in KNOBS_BY_OFFER.items() if _value(env, name)}


def software_needed(env: Mapping[str, str], server_needs: Iterable[str]) -> list[str]:
    """Return the software (names of ``loadtests.setups.needs``) that a server also needs for the knobs in ``env``."""
    compiled = _value(env, "HTTP_PARSER") == "compiled" and "gunicorn" in server_needs
    return [need for need, is_needed in (("openssl", tls(env)), ("gunicorn-h1c", compiled)) if is_needed]


def _value(env: Mapping[str, str], name: str) -> str:
    """Return the value of a knob in ``env``, or else in this process's environment, or else an empty string.

    Raises:
        UserError: If the value isn't valid.
    """
    value = env.get(name, os.environ.get(name, ""))
    require_knobs({name: value}, own=False)
    return value
