"""Requests from a HAR file, as browsers' developer tools save it (http://www.softwareishard.com/blog/har-12-spec/)."""

from __future__ import annotations

import base64
import dataclasses
import datetime
import json
import re
from typing import Any
from urllib.parse import SplitResult, quote, urlencode, urlsplit, urlunsplit

from loadtests.errors import UserError
from loadtests.workload.recorded import Sent, left_out, without_secrets
from loadtests.workload.request import SENDERS_OWN

# What a browser says of itself, of its cache or of the recorded server's name. With Origin or Referer of another host
# Django's CSRF protection refuses a POST; with If-None-Match a page becomes an empty 304.
BROWSERS_OWN = {
    "cache-control", "dnt", "host", "if-modified-since", "if-none-match", "origin", "pragma", "priority", "referer",
    "upgrade-insecure-requests",
}  # fmt: skip
NOT_MODIFIED, OK = 304, 200
UNESCAPED = "!\"$%&'()*+,-./:;<=>?@[\\]^_`{|}~"  # all of ASCII that may stand in a request line: it is encoded already

_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:?\d\d)?")


def read(text: str, where: str, host: str | None, keep_cookies: bool) -> tuple[list[Sent], list[str]]:
    """What was sent to one host, and remarks on what was left out.

    Takes the text of the file, what errors call it, and the host (with its port, where the URL has one); without one,
    that of the first request. Cookies and other credentials are kept only where that is asked. Raises UserError.
    """
    entries = _entries(text, where)
    hosts = list(dict.fromkeys(entry.url.netloc.lower() for entry in entries if entry.url.scheme in ("http", "https")))
    chosen = host.lower() if host else next(iter(hosts), "")
    if chosen not in hosts:
        raise UserError(
            f"{where}: holds no request to {host or 'a web server'}; there are: {', '.join(hosts) or 'none'}"
        )
    own = [entry for entry in entries if entry.url.netloc.lower() == chosen]
    asked = [entry for entry in own if not entry.cached]
    known = [entry for entry in asked if entry.complete]
    sent = [entry.sent(keep_cookies) for entry in known]
    secrets = sum(len(without_secrets(entry.headers)) < len(entry.headers) for entry in known)
    what_of_them = "kept: keep the file to yourself" if keep_cookies else "dropped; --keep-cookies keeps them"
    return sent, [
        f"requests to {chosen}",
        *left_out("to other hosts; --host chooses another", len(entries) - len(own)),
        *left_out("that the browser's cache answered", len(own) - len(asked)),
        *left_out("whose body was not recorded", len(asked) - len(known)),
        *([f"{secrets:,} with cookies or credentials, which were {what_of_them}"] if secrets else []),
    ]


@dataclasses.dataclass(frozen=True)
class _Entry:
    at: float
    method: str
    url: SplitResult
    headers: tuple[tuple[str, str], ...]
    body: bytes | None
    complete: bool  # where it had a body, that is known
    status: int
    cached: bool

    def sent(self, keep_cookies: bool) -> Sent:
        path = quote(urlunsplit(("", "", self.url.path or "/", self.url.query, "")), safe=UNESCAPED, errors="replace")
        headers = self.headers if keep_cookies else without_secrets(self.headers)
        return Sent(self.at, self.method, path, self.status, headers, self.body)


def _entries(text: str, where: str) -> list[_Entry]:
    try:
        values = json.loads(text)
    except ValueError as error:
        raise UserError(f"{where}: not JSON, so not a HAR file: {error}") from None
    try:
        listed = values["log"]["entries"]
    except (KeyError, TypeError):
        listed = None
    if not isinstance(listed, list):
        raise UserError(f"{where}: JSON, but not a HAR file: it has no log.entries")
    if not listed:
        raise UserError(f"{where}: an empty HAR file: nothing was recorded")
    found = []
    for number, entry in enumerate(listed, start=1):
        try:
            found.append(_entry(entry))
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            why = f"{type(error).__name__}: {error}"
            raise UserError(f"{where}: entry {number} is not one of a HAR file ({why})") from None
    return found


def _entry(entry: dict[str, Any]) -> _Entry:
    request = entry["request"]
    headers = [(str(header["name"]), str(header.get("value") or "")) for header in request["headers"]]
    body = _body(request)
    if body and not any(name.lower() == "content-type" for name, _ in headers):
        headers.append(("Content-Type", request["postData"].get("mimeType") or "application/octet-stream"))
    status = entry["response"]["status"]
    return _Entry(
        at=_seconds(entry["startedDateTime"]),
        method=request["method"].upper(),
        url=urlsplit(request["url"]),
        headers=tuple((name, value) for name, value in headers if _matters(name)),
        body=body,
        complete=body is not None or not (request.get("postData") or (request.get("bodySize") or 0) > 0),
        status=OK if status == NOT_MODIFIED else int(status),
        cached=bool(entry.get("_fromCache")),
    )


def _matters(name: str) -> bool:
    """Whether a header says what is asked for. Names with a colon are HTTP/2's, of the request line."""
    lowered = name.lower()
    return not (lowered in BROWSERS_OWN or lowered in SENDERS_OWN or lowered.startswith((":", "sec-")))


def _body(request: dict[str, Any]) -> bytes | None:
    """The body; None where there was none, or it was not recorded, as the files in a form are not."""
    data = request.get("postData") or {}
    text: str = data.get("text") or ""
    if text or ("text" in data and not (request.get("bodySize") or 0) > 0):
        return base64.b64decode(text, validate=True) if data.get("encoding") == "base64" else text.encode()
    if "x-www-form-urlencoded" in (data.get("mimeType") or ""):
        return urlencode([(field["name"], field.get("value") or "") for field in data.get("params") or ()]).encode()
    return None


def _seconds(text: str) -> float:
    """A time of ISO 8601, in seconds since 1970. Python 3.10 reads neither Z nor fractions of any length."""
    match = _TIME.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a time")
    date, time, fraction, zone = match.groups()
    zone = "+00:00" if zone in (None, "Z") else f"{zone[:3]}:{zone[-2:]}"
    return datetime.datetime.fromisoformat(f"{date}T{time}{zone}").timestamp() + float(f"0.{fraction or 0}")
