"""Read the settings of the views below /fetch from the environment. docs/slow-origin.rst describes the variables."""

import dataclasses
import ipaddress
import math
import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

CLIENTS = ("requests", "urllib3", "httpx", "aiohttp", "httpx-async")
POOL_SIZE = (1, 10_000)
POOLS = (1, 64)
TIMEOUT_S = (0.05, 60.0)
PATH = re.compile(r"/[A-Za-z0-9._~/-]{0,500}")


@dataclasses.dataclass(frozen=True)
class Fetching:
    """The settings of the views that fetch.

    The origin is at ``url``, without a path, or at the address in ``url_file``, which the service creates. An empty
    ``client`` means the default for each kind of view.
    """

    client: str
    pool_size: int
    pools: int
    timeout_s: float
    keep_alive: bool
    url: str | None
    url_file: Path | None
    path: str


def fetching(environ: Mapping[str, str]) -> Fetching:
    """Read the settings.

    Raises:
        ImproperlyConfigured: If a variable has an invalid value.
    """
    client = environ.get("HTTP_CLIENT", "")
    if client and client not in CLIENTS:
        raise ImproperlyConfigured(f"HTTP_CLIENT must be one of {', '.join(CLIENTS)}, not {client!r}")
    keep_alive = environ.get("FETCH_KEEP_ALIVE") or "1"
    if keep_alive not in ("0", "1"):
        raise ImproperlyConfigured(f"FETCH_KEEP_ALIVE must be 1 or 0, not {keep_alive!r}")
    path = environ.get("ORIGIN_PATH") or "/"
    if not PATH.fullmatch(path):
        raise ImproperlyConfigured(f"ORIGIN_PATH must be a path such as /news, not {path!r}")
    folder = environ.get("RUN_DIR")
    return Fetching(
        client=client,
        pool_size=_whole(environ, "POOL_SIZE", 100, *POOL_SIZE),
        pools=_whole(environ, "POOLS", 1, *POOLS),
        timeout_s=_seconds(environ, "FETCH_TIMEOUT", 10.0, *TIMEOUT_S),
        keep_alive=keep_alive == "1",
        url=_loopback(environ.get("ORIGIN_URL", "")),
        url_file=Path(folder) / "origin.url" if folder else None,  # the service writes this file (supervisor/origin.sh)
        path=path,
    )


def _whole(environ: Mapping[str, str], name: str, default: int, low: int, high: int) -> int:
    given = environ.get(name)
    if not given:
        return default
    if not (given.isascii() and given.isdecimal() and len(given) < 10 and low <= int(given) <= high):
        raise ImproperlyConfigured(f"{name} must be from {low} to {high}, not {given!r}")
    return int(given)


def _seconds(environ: Mapping[str, str], name: str, default: float, low: float, high: float) -> float:
    given = environ.get(name)
    if not given:
        return default
    try:
        seconds = float(given)
    except ValueError:
        seconds = math.nan
    if not low <= seconds <= high:
        raise ImproperlyConfigured(f"{name} must be from {low:g} to {high:g} seconds, not {given!r}")
    return seconds


def _loopback(url: str) -> str | None:
    """Return the URL without its final slash. Fetches are a load, so the origin must be on the loopback interface."""
    if not url:
        return None
    try:
        parts = urlsplit(url)
        host, good = parts.hostname or "", parts.scheme == "http" and parts.port != 0
        good = good and parts.path in ("", "/") and not (parts.query or parts.fragment or "@" in parts.netloc)
        good = good and (host == "localhost" or ipaddress.ip_address(host).is_loopback)
    except ValueError:
        good = False
    if not good:
        raise ImproperlyConfigured(f"ORIGIN_URL must be a loopback URL such as http://127.0.0.1:8100, not {url!r}")
    return url.rstrip("/")
