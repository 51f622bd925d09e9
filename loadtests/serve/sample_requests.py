"""Define the requests that ``check`` sends to the sample project. Every setup must give the same answers."""

from __future__ import annotations

from loadtests.workload import Request

FORM = ("Content-Type", "multipart/form-data; boundary=edge")
VISITOR = ("Cookie", "sessionid=visitorofthebenchmark")  # the session that testproject/endpoints/visitor.py creates
BIG = bytes(range(256)) * (4 * 1024 * 4)  # 4 MiB in which every byte value occurs


def form(content: bytes) -> bytes:
    """Return the body of a form that uploads a file with this content."""
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
    Request("OPTIONS", method="OPTIONS", path="/inspect/"),
    Request("PUT", method="PUT", path="/inspect/", body=b"put"),
    Request("method not allowed", method="POST", path="/", body=b""),
    Request("echo, empty", method="POST", path="/echo", body=b""),
    Request("echo, 64 KiB", method="POST", path="/echo", body=BIG[: 64 * 1024]),
    Request("echo, 4 MiB", method="POST", path="/echo", body=BIG),
    Request("not found", path="/nowhere"),
    Request("missing slash", path="/async"),
    Request("view with an exception", path="/error/"),
    Request("streaming", path="/stream/"),
    Request("streaming, 2 MB", path="/stream/?chunks=20&size=100000"),
    Request("HEAD of a stream", method="HEAD", path="/stream/"),
    Request("events", path="/events?events=5&every=10"),
    Request("events, async view", path="/async/events?events=5&every=10"),
    Request("events, large", path="/events?events=3&every=10&size=100000"),
    Request("JSON", path="/json"),
    Request("JSON, async view", path="/async/json"),
    Request("random row", path="/db"),
    Request("random rows", path="/queries?queries=5"),
    Request("updated rows", path="/updates?queries=5"),
    Request("fortunes", path="/fortunes"),
    Request("session", path="/session", headers=(VISITOR,)),
    Request("session, async view", path="/async/session", headers=(VISITOR,)),
    Request("signed-in user", path="/user", headers=(VISITOR,)),
    Request("signed-in user, async view", path="/async/user", headers=(VISITOR,)),
    Request("waiting", path="/wait?ms=5"),
    Request("waiting, async view", path="/async/wait?ms=5"),
    Request("upload", method="POST", path="/upload", headers=(FORM,), body=form(BIG[: 64 * 1024])),
    Request("upload, 3 MiB", method="POST", path="/upload", headers=(FORM,), body=form(BIG[: 3 * 1024 * 1024])),
    Request("static file", path="/static/small.css"),
    Request("static file, range of bytes", path="/static/small.css", headers=(("Range", "bytes=10-19"),)),
    Request("fetch", path="/fetch"),
    Request("fetch, async view", path="/async/fetch"),
    Request("fetch, resilient", path="/fetch/resilient"),
    Request("questionnaire, without a session", path="/questionnaire/introduction/"),
    Request("questionnaire, forged token", path="/questionnaire/session?token=forged"),
    Request("questionnaire, no CSRF token", method="POST", path="/questionnaire/name/", body=b"name=Ada"),
)
