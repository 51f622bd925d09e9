"""Create HTTP answers as bytes."""

from __future__ import annotations

import dataclasses
import http.client
import json
from collections.abc import Iterable
from typing import Any

TEXT, HTML, JSON = (f"{kind}; charset=utf-8" for kind in ("text/plain", "text/html", "application/json"))
_WITHOUT_BODY = (204, 304)


@dataclasses.dataclass(frozen=True)
class Reply:
    """An answer: its head without the last line, its body, and whether the connection closes after the answer."""

    status: int
    head: bytes
    body: bytes
    closes: bool = False


def reply(
    status: int, body: bytes, headers: Iterable[tuple[str, str]] = (), closes: bool = False, kind: str = TEXT
) -> Reply:
    """Create an answer with these headers and a content length. ``kind`` is the default content type."""
    lines = [f"HTTP/1.1 {status} {http.client.responses.get(status, '')}"]
    listed = list(headers)
    if status in _WITHOUT_BODY:
        body = b""
    else:
        if all(name != "content-type" for name, _ in listed):
            listed.append(("content-type", kind))
        listed.append(("content-length", str(len(body))))
    lines += [f"{name}: {value}" for name, value in listed]
    return Reply(status, "".join(f"{line}\r\n" for line in lines).encode("latin-1"), body, closes)


def text(status: int, words: str) -> Reply:
    """Create an answer whose body is a text."""
    return reply(status, words.encode())


def as_json(status: int, value: Any) -> Reply:
    """Create an answer with JSON."""
    return reply(status, json.dumps(value).encode(), [("content-type", "application/json")])
