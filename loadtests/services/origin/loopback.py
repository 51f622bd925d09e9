"""Where a recipe's ``origin`` may lead: to this machine's loopback, and nowhere else."""

from __future__ import annotations

import ipaddress
from typing import NamedTuple
from urllib.parse import urlsplit, urlunsplit

from loadtests.errors import UserError, quoted

ADDRESS = "127.0.0.1"  # where an origin listens


class Target(NamedTuple):
    """An address of the loopback, a port, and what to ask for there."""

    address: str
    port: int
    path: str

    @property
    def host(self) -> str:
        """As the header Host names it."""
        return f"[{self.address}]:{self.port}" if ":" in self.address else f"{self.address}:{self.port}"


def parse(url: str) -> Target:
    """Where a URL leads, without looking up a name. Raises UserError, whose text goes on after the name of the key."""
    try:
        parts = urlsplit(url)
        address = _address(parts.hostname or "")
        port = 80 if parts.port is None else parts.port
        good = parts.scheme == "http" and port > 0 and "@" not in parts.netloc
    except ValueError:
        good = False
    if not good or not url.isascii() or not url.isprintable() or " " in url:
        raise UserError(
            f"is {quoted(url)}; a URL of this machine's loopback is needed, such as http://127.0.0.1:8000/ (no other "
            "machine is ever asked)"
        )
    return Target(address, port, urlunsplit(("", "", parts.path or "/", parts.query, "")))


def _address(host: str) -> str:
    if host == "localhost":
        return ADDRESS
    address = ipaddress.ip_address(host)
    address = getattr(address, "ipv4_mapped", None) or address
    if not address.is_loopback:
        raise ValueError(host)
    return str(address)
