"""Send single HTTP requests for health checks, contract checks, logins and the origin's counts.

``fetch`` limits the time and the size of the body, because a broken server may never finish it. Only the load engines
use other HTTP clients.
"""

from __future__ import annotations

import contextlib
import dataclasses
import http.client
import json
import ssl
import time
from collections.abc import Callable, Iterator
from urllib.parse import quote

from loadtests.workload.request import TICKET, Request

MAX_BODY_BYTES = 2**26  # 64 MiB, which is larger than any page and fits into the memory of any machine
READ_BYTES = 2**16
COMPARED_HEADERS = ("Location", "Cache-Control", "Vary", "Content-Encoding")
VARIES = "varies"  # replaces the value of a header that differs between answers to the same request


@dataclasses.dataclass(frozen=True)
class Answer:
    """The parts of an answer that must be the same for all setups.

    ``varies`` means that answers to the same request had different bodies, so ``body`` is empty. ``headers`` contains
    the compared headers with normalized values, sorted by name. Cookies are reduced to their names and attributes.
    """

    status: int
    content_type: str
    body: bytes
    varies: bool = False
    headers: tuple[tuple[str, str], ...] = ()


@dataclasses.dataclass(frozen=True)
class Response:
    """A complete response: its status, its headers and its body."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes


def connection(host: str, port: int, timeout_s: float, tls: ssl.SSLContext | None = None) -> http.client.HTTPConnection:
    """Return a connection that isn't open yet. With ``tls``, the connection uses HTTPS."""
    if tls is not None:
        return http.client.HTTPSConnection(host, port, timeout=timeout_s, context=tls)
    return http.client.HTTPConnection(host, port, timeout=timeout_s)


def fetch(
    connection: http.client.HTTPConnection, request: Request, timeout_s: float, max_body_bytes: int = MAX_BODY_BYTES
) -> Response:
    """Send a request and return the complete response. Redirects aren't followed.

    Args:
        connection: The connection, which is opened if necessary and stays open if the server keeps it.
        request: The request to send.
        timeout_s: The time limit in seconds, for each part of the response and for its whole body.
        max_body_bytes: The longest accepted body.

    Raises:
        OSError: If the connection fails, or if the body isn't complete in time.
        http.client.HTTPException: If the response is malformed, incomplete or too long.
    """
    deadline = time.monotonic() + timeout_s
    if connection.sock is not None:
        connection.sock.settimeout(timeout_s)
    own_host = any(name.lower() == "host" for name, _ in request.headers)
    connection.putrequest(request.method, request.path, skip_host=own_host, skip_accept_encoding=True)
    for name, value in request.headers:
        connection.putheader(name, value)
    if request.body is not None:
        connection.putheader("Content-Length", str(len(request.body)))
    connection.endheaders(request.body)
    with connection.getresponse() as response:
        return Response(response.status, response.headers, _body(response, max_body_bytes, deadline))


def _body(response: http.client.HTTPResponse, max_bytes: int, deadline: float) -> bytes:
    pieces: list[bytes] = []
    room = max_bytes + 1
    while room > 0 and (piece := response.read1(min(room, READ_BYTES))):
        pieces.append(piece)
        if time.monotonic() > deadline:
            raise TimeoutError("timed out")
        room -= len(piece)
    if room <= 0:
        raise http.client.HTTPException(f"the answer is longer than {max_bytes / 2**20:.3g} MiB")
    if response.length:  # read1 raises no error if the connection was closed too early
        raise http.client.IncompleteRead(b"".join(pieces), response.length)
    return b"".join(pieces)


def ask(host: str, port: int, request: Request, timeout_s: float, ca: str | None = None) -> Answer:
    """Send a request on a new connection and return the answer.

    Args:
        host: The address of the server.
        port: The port of the server.
        request: The request to send.
        timeout_s: The time for the whole answer, in seconds.
        ca: The certificate to trust (PEM), if the server uses HTTPS.

    Raises:
        OSError: If the connection fails, or if the answer isn't complete in time.
        http.client.HTTPException: If the answer is malformed, incomplete or too long.
    """
    tls = ssl.create_default_context(cadata=ca) if ca is not None else None
    with contextlib.closing(connection(host, port, timeout_s, tls)) as opened:
        response = fetch(opened, request, timeout_s)
    headers = response.headers
    return Answer(
        response.status, headers.get("Content-Type", ""), response.body, headers=tuple(sorted(_compared(headers)))
    )


def with_ticket(request: Request, ask: Callable[[Request], Answer]) -> Request:
    """Request the ticket for ``$TICKET`` in the path, with the headers of the request.

    Raises:
        http.client.HTTPException: If the answer contains no ticket. Other exceptions from ``ask`` propagate.
    """
    if not request.ticket:
        return request
    method, path, place = request.ticket.split(" ")
    given = ask(Request("ticket", method, path, request.headers, b"" if method == "POST" else None))
    try:
        value = json.loads(given.body)
        for key in filter(None, place.split(".")):
            value = value[key]
    except (ValueError, LookupError, TypeError):
        value = None
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise http.client.HTTPException(f"{method} {path} answered {given.status} without a ticket")
    return dataclasses.replace(request, path=request.path.replace(TICKET, quote(str(value), safe="")), ticket="")


def _compared(headers: http.client.HTTPMessage) -> Iterator[tuple[str, str]]:
    for name in COMPARED_HEADERS:
        if values := headers.get_all(name):
            value = ", ".join(values)
            words = sorted(word.strip().lower() for word in value.split(","))
            yield name, value if name == "Location" else ", ".join(words)
    if cookies := headers.get_all("Set-Cookie"):
        yield "Set-Cookie", ", ".join(sorted(map(_without_value, cookies)))


def _without_value(cookie: str) -> str:
    """Return the name of a cookie with its attributes. The time in Expires changes with each answer."""
    first, *attributes = (part.strip() for part in cookie.split(";"))
    kept = [name if name.lower() == "expires" else one for one in attributes for name in [one.partition("=")[0]]]
    return f"{first.partition('=')[0]} ({'; '.join(sorted(kept))})"


def ask_again(ask: Callable[[], Answer], apart_s: float = 0.0) -> Answer:
    """Send a request three times, ``apart_s`` seconds apart, and return the common parts of the answers.

    Two requests aren't enough, because both may return the same random row. Exceptions from ``ask`` propagate.
    """
    answer = ask()
    for _ in range(2):
        time.sleep(apart_s)
        answer = common(answer, ask())
    return answer


def common(first: Answer, second: Answer) -> Answer:
    """Return the second answer, and mark its body and headers as varying if they differ from the first answer.

    If the status or the content type differs, return the second answer unchanged.
    """
    if (first.status, first.content_type) != (second.status, second.content_type):
        return second
    varies = first.varies or second.varies or first.body != second.body
    before, after = dict(first.headers), dict(second.headers)
    names = sorted(before.keys() | after.keys())
    headers = ((name, after[name] if before.get(name) == after.get(name) else VARIES) for name in names)
    return dataclasses.replace(second, body=b"" if varies else second.body, varies=varies, headers=tuple(headers))
