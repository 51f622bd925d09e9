"""The contract: every setup answers the same requests with the same status, content type and body."""

from __future__ import annotations

import dataclasses
import hashlib
import http.client
from collections.abc import Sequence

from loadtests.serve.http import Answer, ask_again
from loadtests.serve.serving import Serving
from loadtests.workload import Request

TIMEOUT_S = 30.0
SECONDS_CHANGE_S = 0.6  # twice this is over a second
FEW = 20
BIG = bytes(range(256)) * (4 * 1024 * 4)  # 4 MiB of every byte
FORM = ("Content-Type", "multipart/form-data; boundary=edge")


def form(content: bytes) -> bytes:
    """The body of a form that uploads a file of this content."""
    head = b'Content-Disposition: form-data; name="file"; filename="some.bin"\r\nContent-Type: application/octet-stream'
    return b"--edge\r\n" + head + b"\r\n\r\n" + content + b"\r\n--edge--\r\n"


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
    Request("streaming, async view", path="/async/stream/"),
    Request("JSON", path="/json"),
    Request("JSON, async view", path="/async/json"),
    Request("plain text", path="/plaintext"),
    Request("plain text, async view", path="/async/plaintext"),
    Request("a row at random", path="/db"),
    Request("a row at random, async view", path="/async/db"),
    Request("rows at random", path="/queries?queries=5"),
    Request("rows at random, async view", path="/async/queries?queries=5"),
    Request("rows at random, number not a number", path="/queries?queries=x"),
    Request("rows written", path="/updates?queries=5"),
    Request("rows written, async view", path="/async/updates?queries=5"),
    Request("fortunes", path="/fortunes"),
    Request("fortunes, async view", path="/async/fortunes"),
    Request("template", path="/template"),
    Request("template, async view", path="/async/template"),
    Request("waiting", path="/wait?ms=5"),
    Request("waiting, async view", path="/async/wait?ms=5"),
    Request("waiting, not a number", path="/wait?ms=soon"),
    Request("CPU", path="/cpu?ms=5"),
    Request("CPU, async view", path="/async/cpu?ms=5"),
    Request("upload", method="POST", path="/upload", headers=(FORM,), body=form(BIG[: 64 * 1024])),
    Request("upload, 3 MiB", method="POST", path="/upload", headers=(FORM,), body=form(BIG[: 3 * 1024 * 1024])),
    Request("upload, async view", method="POST", path="/async/upload", headers=(FORM,), body=form(BIG[: 64 * 1024])),
    Request("upload, no file", method="POST", path="/upload", body=b""),
    Request("static file", path="/static/small.css"),
    Request("static file, HEAD", method="HEAD", path="/static/small.css"),
    Request("static file, part of it", path="/static/small.css", headers=(("Range", "bytes=10-19"),)),
    Request("static file that is not there", path="/static/none.css"),
)


@dataclasses.dataclass(frozen=True)
class Difference:
    """A request that a setup answered otherwise than the reference did."""

    setup: str
    request: Request
    expected: str
    found: str


def answers(running: Serving, requests: Sequence[Request]) -> list[Answer | str]:
    """The setup's answers to the requests, in their order; a text where there was none."""
    # A page of the user's own may show the time, to the second. Of many requests it is left to whoever reads.
    apart_s = SECONDS_CHANGE_S if running.application.own and len(requests) <= FEW else 0.0
    return [answer(running, request, apart_s) for request in requests]


def answer(running: Serving, request: Request, apart_s: float = 0.0) -> Answer | str:
    """The setup's answer to one request, asked several times ``apart_s`` apart; a text where there was none."""
    try:
        return ask_again(running.host, running.port, request, TIMEOUT_S, apart_s)
    except (OSError, http.client.HTTPException) as error:
        return f"no answer ({error or type(error).__name__})"


def differences(
    setup: str, requests: Sequence[Request], expected: Sequence[Answer | str], found: Sequence[Answer | str]
) -> list[Difference]:
    """What differs between a setup's answers to the requests and those of the reference."""
    return [
        Difference(setup, request, show(theirs), show(own))
        for request, theirs, own in zip(requests, expected, found, strict=True)
        if theirs != own
    ]


def show(answer: Answer | str) -> str:
    """An answer in a line: status, content type, and the body or its size and digest."""
    if isinstance(answer, str):
        return answer
    body = "and a body that varies" if answer.varies else repr(answer.body)
    if len(body) > 200:
        body = f"{len(answer.body)} bytes, SHA-256 {digest(answer.body)[:12]}"
    return f"{answer.status} {answer.content_type or 'without a content type'} {body}"


def digest(body: bytes) -> str:
    """The SHA-256 of a body, in hexadecimal digits."""
    return hashlib.sha256(body).hexdigest()
