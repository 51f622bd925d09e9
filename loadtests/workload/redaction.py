"""Replace possible secrets in the path, the headers and the body of a recorded request."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Any
from urllib.parse import quote, unquote, unquote_plus

from loadtests.workload.recording import Recorded
from loadtests.workload.secrets import REPLACED, key_looking, opens_door, scrubbed, telling

LOGIN_HEADERS = {"authorization", "cookie", "x-api-key", "x-csrftoken", "x-csrf-token", "x-xsrf-token"}
# A file name with a hash of its content isn't a secret, because every visitor requests it.
ASSET = re.compile(r"[^;]+\.(avif|css|gif|ico|jpe?g|m?js|map|mp4|otf|png|svg|ttf|wasm|webmanifest|webp|woff2?)", re.I)
# The head of a part of a form that isn't a file, the part's name, and its value.
PART = re.compile(
    r'(content-disposition:[^\r\n]*?\bname="(?P<name>[^"\r\n]*)"(?![^\r\n]*filename).*?\r?\n\r?\n)(?P<value>.*?)'
    r"(?=\r?\n--[^\r\n]+(?:\r?\ncontent-|\s*\Z)|\Z)",  # a line in the value may also start with --
    re.IGNORECASE | re.DOTALL,
)
HOLE = re.compile(r"\{([A-Za-z_]\w*)\}")  # a name for a value from an earlier answer in a journey
_SAFE = "!$&'()*+,;=:@~{}"


def redacted(request: Recorded) -> Recorded:
    """Return the request without possible secrets."""
    headers = tuple(
        # The boundary in a content type is random, but it isn't a secret.
        (name, value if name.lower() == "content-type" else field(name, value)[1])
        for name, value in request.headers
        if name.lower() not in LOGIN_HEADERS
    )
    content = body(request.body, request.content_type) if request.body else request.body
    return dataclasses.replace(request, path=path(request.path), headers=headers, body=content)


def path(text: str) -> str:
    """Replace possible secrets in a percent-encoded path and its query."""
    route, mark, query = text.partition("?")
    parts = route.split("/")
    doors = [opens_door(unquote(part)) for part in parts]
    new = [_segment(part, any(doors[:place])) for place, part in enumerate(parts)]
    return "/".join(new) + mark + _pairs(query, any(doors))


def body(content: bytes, content_type: str) -> bytes:
    """Replace possible secrets in a body, except in files."""
    if "multipart/" in content_type:
        text = content.decode(errors="surrogateescape")
        new = PART.sub(lambda part: part[1] + field(part["name"], part["value"])[1], text)
        return new.encode(errors="surrogateescape")
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return content
    return (_pairs(text) if "x-www-form-urlencoded" in content_type else _json_or_text(text)).encode()


def field(name: str, value: str, behind_door: bool = False) -> tuple[str, str]:
    """Return the name and the value of a field without possible secrets."""
    secret = telling(name) or (behind_door and key_looking(value))
    return scrubbed(name), REPLACED if secret and value and not HOLE.fullmatch(value) else scrubbed(value)


def _segment(segment: str, behind_door: bool) -> str:
    text = unquote(segment)
    if ASSET.fullmatch(text):
        return segment
    new = REPLACED if behind_door and key_looking(text) else scrubbed(text)
    return segment if new == text else quote(new, safe=_SAFE)


def _pairs(text: str, behind_door: bool = False) -> str:
    """Redact a query string or a form, field by field."""
    return "&".join(_pair(pair, behind_door) for pair in text.split("&"))


def _pair(pair: str, behind_door: bool) -> str:
    name, equals, value = pair.partition("=")
    old = unquote_plus(name), unquote_plus(value)
    new = field(*old, behind_door)
    return pair if new == old else f"{quote(new[0])}{equals}{quote(new[1])}"


def _json_or_text(text: str) -> str:
    try:
        values = json.loads(text)
        new = _json("", values, secret=False)
    except (ValueError, RecursionError):
        return scrubbed(text)
    return text if new == values else json.dumps(new, separators=(",", ":"))


def _json(name: str, value: Any, secret: bool) -> Any:
    """Redact a JSON value. ``secret`` means that the name of the value's container marks a secret."""
    secret = secret or telling(name)
    if isinstance(value, dict):
        return {scrubbed(key): _json(key, one, secret) for key, one in value.items()}
    if isinstance(value, list):
        return [_json(name, one, secret) for one in value]
    if value is None or isinstance(value, bool):
        return value
    if secret and value != "":
        return REPLACED
    return scrubbed(value) if isinstance(value, str) else value
