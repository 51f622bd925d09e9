"""One HTTP request at a time, for readiness and the contract: the load itself is the engines' work."""

from __future__ import annotations

import dataclasses
import http.client
import time
from collections.abc import Sequence

# A server that was overloaded is calm again when it answers so quickly so many times in a row.
CALM_S = 0.1
CALM_ANSWERS = 3
CALM_WITHIN_S = 20.0


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


def calm_down(host: str, port: int, request: Request) -> bool:
    """Waits until the server has worked off what an overload left; returns whether it did within CALM_WITHIN_S."""
    end = time.monotonic() + CALM_WITHIN_S
    quick = 0
    while quick < CALM_ANSWERS and time.monotonic() < end:
        begun = time.monotonic()
        try:
            ask(host, port, request, timeout_s=CALM_WITHIN_S)
            calm = time.monotonic() - begun < CALM_S
        except (OSError, http.client.HTTPException):
            calm = False
        quick = quick + 1 if calm else 0
        if not calm:
            time.sleep(CALM_S)
    return quick == CALM_ANSWERS
