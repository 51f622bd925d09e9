"""One HTTP request at a time, for readiness and the contract: the load itself is the engines' work."""

from __future__ import annotations

import dataclasses
import http.client
import time

from loadtests.workload.request import Request

# A server that was overloaded is calm again when it answers so quickly so many times in a row.
CALM_S = 0.1
CALM_ANSWERS = 3
CALM_WITHIN_S = 20.0


@dataclasses.dataclass(frozen=True)
class Answer:
    """What came back: the status, the content type as sent, and the body.

    Where the same request was answered with another body each time, ``varies`` is true and the body is left out.
    """

    status: int
    content_type: str
    body: bytes
    varies: bool = False


def ask(host: str, port: int, request: Request, timeout_s: float) -> Answer:
    """Sends the request on a connection of its own. Raises OSError or http.client.HTTPException."""
    connection = http.client.HTTPConnection(host, port, timeout=timeout_s)
    try:
        own_host = any(name.lower() == "host" for name, _ in request.headers)
        connection.putrequest(request.method, request.path, skip_host=own_host, skip_accept_encoding=True)
        for name, value in request.headers:
            connection.putheader(name, value)
        if request.body is not None:
            connection.putheader("Content-Length", str(len(request.body)))
        connection.endheaders(request.body)
        response = connection.getresponse()
        return Answer(response.status, response.getheader("Content-Type", ""), response.read())
    finally:
        connection.close()


def ask_again(host: str, port: int, request: Request, timeout_s: float, apart_s: float = 0.0) -> Answer:
    """The answer to a request, asked three times, ``apart_s`` apart, to see whether its body varies.

    Twice would not do: one row of ten thousand comes twice in a row now and then. Where the status or the content type
    is another one later, the last answer is the one returned. Raises OSError or HTTPException.
    """
    answer = ask(host, port, request, timeout_s)
    for _ in range(2):
        time.sleep(apart_s)
        again = ask(host, port, request, timeout_s)
        if (answer.status, answer.content_type) == (again.status, again.content_type) and answer.body != again.body:
            return dataclasses.replace(again, body=b"", varies=True)
        answer = again
    return answer


def seconds_to_answer(host: str, port: int, request: Request) -> float:
    """How long a server with nothing else to do takes: the quickest of three. Raises OSError or HTTPException."""
    found = []
    for _ in range(CALM_ANSWERS):
        begun = time.monotonic()
        ask(host, port, request, timeout_s=CALM_WITHIN_S)
        found.append(time.monotonic() - begun)
    return min(found)


def calm_down(host: str, port: int, request: Request, calm_s: float | None = None) -> bool:
    """Waits until the server has worked off what an overload left: until it answers several times in a row within
    ``calm_s``, or CALM_S. Returns whether it did within CALM_WITHIN_S."""
    calm_s = CALM_S if calm_s is None else calm_s
    end = time.monotonic() + CALM_WITHIN_S
    quick = 0
    while quick < CALM_ANSWERS and time.monotonic() < end:
        begun = time.monotonic()
        try:
            ask(host, port, request, timeout_s=CALM_WITHIN_S)
            calm = time.monotonic() - begun < calm_s
        except (OSError, http.client.HTTPException):
            calm = False
        quick = quick + 1 if calm else 0
        if not calm:
            time.sleep(CALM_S)
    return quick == CALM_ANSWERS
