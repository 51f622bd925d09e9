"""The sample project's views that fetch (docs/fetching.rst), as far as it can be known beforehand that they cannot."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping

SYNCHRONOUS = ("urllib3", "requests", "httpx")
ASYNCHRONOUS = ("aiohttp", "httpx-async")
CLIENTS = (*SYNCHRONOUS, *ASYNCHRONOUS)
ORIGIN = "origin"  # the service

_VIEWS: dict[str, tuple[str, ...] | None] = {"/fetch": SYNCHRONOUS, "/async/fetch": ASYNCHRONOUS, "/either/fetch": None}


def fetches(path: str) -> bool:
    """Whether the view of a path fetches from the origin."""
    return _view(path) in _VIEWS


def fits(path: str, interface: str, client: str) -> bool:
    """Whether a client (empty: the default) is for the view of a path, behind a setup's interface. True for a view that
    fetches nothing."""
    return not client or not fetches(path) or client in _taken(path, interface)


def wrong(path: str, interface: str, env: Mapping[str, str], services: Collection[str]) -> str | None:
    """Why the view of a path cannot fetch, in words; None where nothing is in the way. ``env`` are the knobs that a
    setup gets beside those of this process's environment, ``services`` what runs beside it."""
    if not fetches(path):
        return None
    client = env.get("HTTP_CLIENT") or os.environ.get("HTTP_CLIENT", "")
    if not fits(path, interface, client):
        taken = ", ".join(_taken(path, interface))
        return f"HTTP_CLIENT={client} does not fit {path}, whose view takes {taken} there"
    if ORIGIN not in services and not (env.get("ORIGIN_URL") or os.environ.get("ORIGIN_URL")):
        return f'{path} needs an origin: services = ["{ORIGIN}"] in the test, or ORIGIN_URL'
    return None


def _taken(path: str, interface: str) -> tuple[str, ...]:
    return _VIEWS[_view(path)] or (SYNCHRONOUS if interface == "wsgi" else ASYNCHRONOUS)


def _view(path: str) -> str:
    return path.partition("?")[0].removesuffix("/resilient")
