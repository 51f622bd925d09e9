"""A recipe's ``origin``: a URL of this machine's loopback, whose answer is fetched once and passed on."""

from __future__ import annotations

import asyncio
import ipaddress
from typing import NamedTuple
from urllib.parse import urlsplit, urlunsplit

import httptools

from loadtests.errors import UserError, quoted
from loadtests.services.origin.content import MOST_BYTES

WITHIN_S = 30.0
_READ_AT_ONCE = 2**18
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
    """Where a URL leads, without looking up a name. Raises ValueError."""
    try:
        parts = urlsplit(url)
        address = _address(parts.hostname or "")
        port = 80 if parts.port is None else parts.port
        good = parts.scheme == "http" and port > 0 and "@" not in parts.netloc
    except ValueError:
        good = False
    if not good or not url.isascii() or not url.isprintable() or " " in url:
        raise ValueError(
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


async def fetched(url: str, own_port: int) -> bytes:
    """The body that a URL is answered with.

    Raises UserError, whose text goes on after the name of the key: where it leads back to the origin itself, which
    listens on ``own_port``, and where there is no answer of status 200.
    """
    target = parse(url)
    if (target.address, target.port) == (ADDRESS, own_port):
        raise UserError(f"is {url}, which is this origin itself; another address is needed")
    try:
        answer = await asyncio.wait_for(_request(target), WITHIN_S)
    except asyncio.TimeoutError:  # which is another one in Python 3.10
        raise UserError(f"is {url}, which did not answer within {WITHIN_S:g} s") from None
    except OSError as error:
        raise UserError(f"is {url}, which cannot be reached: {error.strerror or error}") from None
    except httptools.HttpParserError as error:
        raise UserError(f"is {url}, whose answer is not HTTP: {error}") from None
    if not answer.complete:
        raise UserError(f"is {url}, whose answer breaks off or is over {MOST_BYTES // 1024**2} MB")
    if answer.status != 200:
        raise UserError(f"is {url}, which answers with status {answer.status}; 200 is needed")
    return bytes(answer.body)


class _Answer:
    """An answer as the parser finds it."""

    def __init__(self) -> None:
        self.status = 0
        self.body = bytearray()
        self.complete = False
        self.ends_itself = False  # else it ends with its connection
        self.parser = httptools.HttpResponseParser(self)

    def on_header(self, name: bytes, value: bytes) -> None:
        self.ends_itself |= name.lower() in (b"content-length", b"transfer-encoding")

    def on_headers_complete(self) -> None:
        self.status = self.parser.get_status_code()

    def on_body(self, data: bytes) -> None:
        self.body += data

    def on_message_complete(self) -> None:
        self.complete = True


async def _request(target: Target) -> _Answer:
    reader, writer = await asyncio.open_connection(target.address, target.port)
    try:
        request = f"GET {target.path} HTTP/1.1\r\nHost: {target.host}\r\nAccept: */*\r\nConnection: close\r\n\r\n"
        writer.write(request.encode("ascii"))
        answer = _Answer()
        while not answer.complete and len(answer.body) <= MOST_BYTES:
            if not (data := await reader.read(_READ_AT_ONCE)):
                answer.complete = answer.status != 0 and not answer.ends_itself
                break
            answer.parser.feed_data(data)
        return answer
    finally:
        writer.close()
