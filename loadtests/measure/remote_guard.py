"""Check that a URL leads to this machine, because load on another machine needs its owner's consent."""

from __future__ import annotations

import ipaddress
import socket
import urllib.parse

from loadtests.errors import UserError
from loadtests.workload.secrets import without_login


def require_local(url: str, allow_remote: bool) -> None:
    """Check that load may be sent to a URL.

    Raises:
        UserError: If the URL isn't valid, or its host is another machine and ``allow_remote`` is false.
    """
    try:
        parts = urllib.parse.urlsplit(url)
        host, _port = parts.hostname, parts.port
    except ValueError as error:
        raise UserError(f"{without_login(url)!r} is not a URL: {without_login(str(error))}") from None
    if parts.scheme not in ("http", "https") or not host:
        shown = without_login(url)
        raise UserError(f"{shown!r} is not an HTTP URL. Write a URL such as http://127.0.0.1:8000/")
    if not allow_remote and not _is_loopback(host):
        raise UserError(f"{host} is a different machine. If its owner agrees to the load, add --allow-remote")


def _is_loopback(host: str) -> bool:
    try:
        addresses = {info[4][0] for info in socket.getaddrinfo(host, None)}
    except (OSError, UnicodeError) as error:
        raise UserError(f"{host}: {getattr(error, 'strerror', None) or error}") from None
    return all(ipaddress.ip_address(str(address)).is_loopback for address in addresses)
