"""One HTTP request at a time, for health and the contract."""

from __future__ import annotations

import dataclasses
import http.client
import ssl
import time
from collections.abc import Callable

from loadtests.workload.request import Request


@dataclasses.dataclass(frozen=True)
class Answer:
    """Status, content type and body. ``varies``: the same request got different bodies, which are left out."""

    status: int
    content_type: str
    body: bytes
    varies: bool = False


def ask(host: str, port: int, request: Request, timeout_s: float, ca: str | None = None) -> Answer:
    """Sends the request on a connection of its own: over TLS where there is a certificate to trust (PEM). Raises
    OSError or http.client.HTTPException."""
    connection = http.client.HTTPConnection(host, port, timeout=timeout_s)
    if ca is not None:
        trusting = ssl.create_default_context(cadata=ca)
        connection = http.client.HTTPSConnection(host, port, timeout=timeout_s, context=trusting)
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


def ask_again(ask: Callable[[], Answer], apart_s: float = 0.0) -> Answer:
    """The answer to a request that is sent three times, ``apart_s`` apart, to see whether its body varies: a random row
    may come twice in a row. A later status or content type replaces an earlier one. Raises what ``ask`` raises."""
    answer = ask()
    for _ in range(2):
        time.sleep(apart_s)
        again = ask()
        if (answer.status, answer.content_type) == (again.status, again.content_type) and answer.body != again.body:
            return dataclasses.replace(again, body=b"", varies=True)
        answer = again
    return answer
