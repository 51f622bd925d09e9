"""Describe the views of the sample project that fetch from an origin (docs/slow-origin.rst), and their HTTP clients."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping

SYNCHRONOUS = ("urllib3", "requests", "httpx")
ASYNCHRONOUS = ("aiohttp", "httpx-async")
CLIENTS = (*SYNCHRONOUS, *ASYNCHRONOUS)
ORIGIN = "origin"  # name of the service

_VIEWS: dict[str, tuple[str, ...] | None] = {"/fetch": SYNCHRONOUS, "/async/fetch": ASYNCHRONOUS, "/either/fetch": None}


def fetches(path: str) -> bool:
    """Return whether the view of a path fetches from the origin."""
    return _view(path) in _VIEWS


def fits(path: str, interface: str, client: str) -> bool:
    """Return whether the view of a path can use an HTTP client in a setup with this interface.

    An empty ``client`` means the default client. A view that doesn't fetch can be combined with any client.
    """
    return not client or not fetches(path) or client in _clients(path, interface)


def wrong(path: str, interface: str, env: Mapping[str, str], services: Collection[str]) -> str | None:
    """Return why the view of a path can't fetch, or None if it can.

    Args:
        path: The path of the view.
        interface: The setup's interface.
        env: The setup's knobs in addition to this process's environment.
        services: The services that run with the setup.
    """
    if not fetches(path):
        return None
    client = env.get("HTTP_CLIENT") or os.environ.get("HTTP_CLIENT", "")
    if not fits(path, interface, client):
        clients = ", ".join(_clients(path, interface))
        return f"HTTP_CLIENT={client} does not work for {path} in this setup. Use one of these clients: {clients}"
    if ORIGIN not in services and not (env.get("ORIGIN_URL") or os.environ.get("ORIGIN_URL")):
        return f'{path} needs an origin. Set services = ["{ORIGIN}"] in the test, or ORIGIN_URL'
    return None


def _clients(path: str, interface: str) -> tuple[str, ...]:
    return _VIEWS[_view(path)] or (SYNCHRONOUS if interface == "wsgi" else ASYNCHRONOUS)


def _view(path: str) -> str:
    return path.partition("?")[0].removesuffix("/resilient")
