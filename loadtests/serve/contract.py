"""The contract: every setup answers the same requests with the same status, content type and body."""

from __future__ import annotations

import dataclasses
import hashlib
import http.client

from loadtests.serve.http import Answer, Request, ask
from loadtests.serve.serving import Serving

TIMEOUT_S = 30.0
BIG = bytes(range(256)) * (4 * 1024 * 4)  # 4 MiB of every byte

REQUESTS = (
    Request("plain", path="/"),
    Request("plain, async view", path="/async/"),
    Request("health", path="/healthz"),
    Request("query string", path="/inspect/?a=1&a=2&b=&c=%20x%2By&d=a+b"),
    Request("query string, not ASCII", path="/inspect/?name=%C3%A9t%C3%A9&kanji=%E6%97%A5%E6%9C%AC"),
    Request("path, not ASCII", path="/inspect/caf%C3%A9/%E6%97%A5%E6%9C%AC"),
    Request("path, encoded slash and space", path="/inspect/a%2Fb/c%20d/e+f"),
    Request("repeated headers", path="/inspect/", headers=(("X-Repeated", "one"), ("X-Repeated", "two"))),
    Request("cookies", path="/inspect/", headers=(("Cookie", "a=1; b=2"),)),
    Request(
        "content negotiation", path="/inspect/", headers=(("Accept", "text/html;q=0.8"), ("User-Agent", "check/1"))
    ),
    Request("HEAD", method="HEAD", path="/"),
    Request("HEAD of JSON", method="HEAD", path="/inspect/"),
    Request("OPTIONS", method="OPTIONS", path="/inspect/", body=b""),
    Request("PUT", method="PUT", path="/inspect/", body=b"put"),
    Request("PATCH", method="PATCH", path="/inspect/", body=b"patch"),
    Request("DELETE", method="DELETE", path="/inspect/"),
    Request("method not allowed", method="POST", path="/", body=b""),
    Request("echo, empty", method="POST", path="/echo", body=b""),
    Request("echo, one byte", method="POST", path="/echo", body=b"\x00"),
    Request("echo, text", method="POST", path="/echo", headers=(("Content-Type", "text/plain"),), body=b"hello"),
    Request("echo, 64 KiB", method="POST", path="/echo", body=BIG[: 64 * 1024]),
    Request("echo, 4 MiB", method="POST", path="/echo", body=BIG),
    Request("not found", path="/nowhere"),
    Request("not found, not ASCII", path="/nowhere/%E6%97%A5"),
    Request("missing slash", path="/async"),
    Request("a view that raises", path="/error/"),
    Request("a view that raises, async", path="/error/async/"),
    Request("streaming", path="/stream/"),
    Request("streaming, 2 MB", path="/stream/?chunks=20&size=100000"),
    Request("streaming, nothing", path="/stream/?chunks=0"),
    Request("HEAD of a stream", method="HEAD", path="/stream/"),
)


@dataclasses.dataclass(frozen=True)
class Difference:
    """A request that a setup answered otherwise than the reference did."""

    setup: str
    request: Request
    expected: str
    found: str


def answers(running: Serving) -> dict[str, Answer | str]:
    """The setup's answers to all requests of the contract, by the request's name; a text where there was none."""
    found: dict[str, Answer | str] = {}
    for request in REQUESTS:
        try:
            found[request.name] = ask(running.host, running.port, request, TIMEOUT_S)
        except (OSError, http.client.HTTPException) as error:
            found[request.name] = f"no answer ({error or type(error).__name__})"
    return found


def differences(setup: str, expected: dict[str, Answer | str], found: dict[str, Answer | str]) -> list[Difference]:
    """What differs between a setup's answers and those of the reference."""
    return [
        Difference(setup, request, show(expected[request.name]), show(found[request.name]))
        for request in REQUESTS
        if expected[request.name] != found[request.name]
    ]


def show(answer: Answer | str) -> str:
    """An answer in a line: status, content type, and the body or its size and digest."""
    if isinstance(answer, str):
        return answer
    body = repr(answer.body)
    if len(body) > 200:
        body = f"{len(answer.body)} bytes, SHA-256 {hashlib.sha256(answer.body).hexdigest()[:12]}"
    return f"{answer.status} {answer.content_type or 'without a content type'} {body}"
