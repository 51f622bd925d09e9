"""What another address of the loopback answers, for recipes that pass it on. It is asked once, when they are taken."""

from __future__ import annotations

import asyncio

import httptools

from loadtests.errors import UserError
from loadtests.services.origin import loopback
from loadtests.services.origin.content import MOST_BYTES
from loadtests.services.origin.loopback import Target

WITHIN_S = 30.0
_READ_AT_ONCE = 2**18


async def fetched(url: str, own_port: int) -> bytes:
    """The body that a URL is answered with.

    Raises UserError, whose text goes on after the name of the key: where it leads back to the origin itself, which
    listens on ``own_port``, and where there is no answer of status 200.
    """
    target = loopback.parse(url)
    if (target.address, target.port) == (loopback.ADDRESS, own_port):
        raise UserError(f"is {url}, which is this origin itself; another address is needed")
    try:
        heard = await asyncio.wait_for(_asked(target), WITHIN_S)
    except asyncio.TimeoutError:  # which is another one in Python 3.10
        raise UserError(f"is {url}, which did not answer within {WITHIN_S:g} s") from None
    except OSError as error:
        raise UserError(f"is {url}, which cannot be reached: {error.strerror or error}") from None
    except httptools.HttpParserError as error:
        raise UserError(f"is {url}, whose answer is not HTTP: {error}") from None
    if not heard.complete:
        raise UserError(f"is {url}, whose answer breaks off or is over {MOST_BYTES // 1024**2} MB")
    if heard.status != 200:
        raise UserError(f"is {url}, which answers with status {heard.status}; 200 is needed")
    return bytes(heard.body)


class _Heard:
    """What a parser finds in an answer."""

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


async def _asked(target: Target) -> _Heard:
    reader, writer = await asyncio.open_connection(target.address, target.port)
    try:
        request = f"GET {target.path} HTTP/1.1\r\nHost: {target.host}\r\nAccept: */*\r\nConnection: close\r\n\r\n"
        writer.write(request.encode("ascii"))
        heard = _Heard()
        while not heard.complete and len(heard.body) <= MOST_BYTES:
            if not (data := await reader.read(_READ_AT_ONCE)):
                heard.complete = heard.status != 0 and not heard.ends_itself
                break
            heard.parser.feed_data(data)
        return heard
    finally:
        writer.close()
