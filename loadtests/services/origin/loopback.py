"""Fetch a recipe's ``origin``, a loopback URL. The answer is fetched once and then used as the body."""

from __future__ import annotations

import asyncio
import ipaddress
from typing import NamedTuple
from urllib.parse import urlsplit, urlunsplit

from loadtests.errors import UserError, quoted
from loadtests.services.origin.content import MAX_BYTES

WITHIN_S = 30.0
ADDRESS = "127.0.0.1"  # the address on which origins listen


class Target(NamedTuple):
    """A loopback address, a port, and a path with its query."""

    address: str
    port: int
    path: str

    @property
    def host(self) -> str:
        """The value of the Host header."""
        return f"[{self.address}]:{self.port}" if ":" in self.address else f"{self.address}:{self.port}"


def parse(url: str) -> Target:
    """Parse a URL without resolving names.

    Raises:
        ValueError: If the URL isn't valid, or isn't on the loopback interface.
    """
    try:
        parts = urlsplit(url)
        address = _address(parts.hostname or "")
        port = 80 if parts.port is None else parts.port
        good = parts.scheme == "http" and port > 0 and "@" not in parts.netloc
    except ValueError:
        good = False
    if not good or not url.isascii() or not url.isprintable() or " " in url:
        raise ValueError(
            f"must be a URL on this machine's loopback interface, not {quoted(url)}. Example: http://127.0.0.1:8000/ "
            "(an origin never fetches from other machines)"
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


async def fetched(url: str, own_port: int) -> bytes:
    """Fetch a URL, and return the body without decoding it.

    Raises:
        UserError: If the URL leads to the origin itself, which listens on ``own_port``, or if the status isn't 200. The
            error's text continues a message that starts with the key.
    """
    import httpx  # imported late, because few recipes need it

    target = parse(url)
    if (target.address, target.port) == (ADDRESS, own_port):
        raise UserError(f"must not be an address of this origin, but is {url}. Use the URL of another server")
    try:
        status, body = await asyncio.wait_for(_answer(target), WITHIN_S)
    except TimeoutError:
        raise UserError(f"is {url}, which did not answer within {WITHIN_S:g} s") from None
    except httpx.NetworkError as error:
        raise UserError(f"is {url}, which cannot be reached: {error}") from None
    except httpx.ProtocolError as error:
        raise UserError(f"is {url}, whose answer is incomplete or not HTTP: {error}") from None
    if len(body) > MAX_BYTES:
        raise UserError(f"is {url}, whose answer is over {MAX_BYTES // 1024**2} MB")
    if status != 200:
        raise UserError(f"is {url}, which answers with status {status} instead of 200")
    return bytes(body)


async def _answer(target: Target) -> tuple[int, bytearray]:
    """Return the status and the body. Stop reading a body that is too large."""
    import httpx

    body = bytearray()
    client = httpx.AsyncClient(timeout=None, trust_env=False, headers={"Accept-Encoding": "identity"})
    async with client, client.stream("GET", f"http://{target.host}{target.path}") as answer:
        async for part in answer.aiter_raw():
            body += part
            if len(body) > MAX_BYTES:
                break
    return answer.status_code, body
