"""One HTTP request at a time, for readiness and the contract: the load itself is the engines' work."""

from __future__ import annotations

import dataclasses
import http.client
from collections.abc import Sequence


@dataclasses.dataclass(frozen=True)
class Request:
    """A request as it goes on the wire. ``path`` is percent-encoded; headers may repeat."""

    name: str
    method: str = "GET"
    path: str = "/"
    headers: Sequence[tuple[str, str]] = ()
    body: bytes | None = None


@dataclasses.dataclass(frozen=True)
class Answer:
    """What came back: the status, the content type as sent, and the body."""

    status: int
    content_type: str
    body: bytes


def ask(host: str, port: int, request: Request, timeout_s: float) -> Answer:
    """Sends the request on a connection of its own. Raises OSError or http.client.HTTPException."""
    connection = http.client.HTTPConnection(host, port, timeout=timeout_s)
    try:
        connection.putrequest(request.method, request.path)
        for name, value in request.headers:
            connection.putheader(name, value)
        if request.body is not None:
            connection.putheader("Content-Length", str(len(request.body)))
        connection.endheaders(request.body)
        response = connection.getresponse()
        return Answer(response.status, response.getheader("Content-Type", ""), response.read())
    finally:
        connection.close()
