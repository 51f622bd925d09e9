"""Requests from a HAR file, as browsers' developer tools save it (http://www.softwareishard.com/blog/har-12-spec/)."""

from __future__ import annotations

import base64
import dataclasses
import datetime
import json
from typing import Any
from urllib.parse import SplitResult, quote, urlencode, urljoin, urlsplit, urlunsplit

from loadtests.errors import UserError
from loadtests.workload.recorded import Sent, left_out
from loadtests.workload.redaction import Redaction
from loadtests.workload.request import SENDERS_OWN

# What a browser says of itself, of its cache or of the recorded server's name. With Origin or Referer of another host
# Django's CSRF protection refuses a POST; with If-None-Match a page becomes an empty 304.
BROWSERS_OWN = {
    "cache-control", "dnt", "host", "if-modified-since", "if-none-match", "origin", "pragma", "priority", "referer",
    "upgrade-insecure-requests",
}  # fmt: skip
NOT_MODIFIED, OK = 304, 200
UNESCAPED = "!\"$%&'()*+,-./:;<=>?@[\\]^_`{|}~"  # all of ASCII that may stand in a request line: it is encoded already


def read(text: str, where: str, host: str | None, redaction: Redaction) -> tuple[list[Sent], list[str]]:
    """What was sent to one host, and remarks on what was left out.

    Takes the text of the file, what errors call it, the host (with its port, where the URL has one; without one, that
    of the first request), and what takes the secrets out. Raises UserError.
    """
    known, remarks = entries(text, where, host, redaction)
    return [entry.sent(redaction) for entry in known], remarks


def entries(text: str, where: str, host: str | None, redaction: Redaction) -> tuple[list[HarEntry], list[str]]:
    """As ``read``, with all that was recorded of each request, secrets included."""
    listed = _entries(text, where, redaction)
    web = [entry for entry in listed if entry.url.scheme in ("http", "https")]
    hosts = list(dict.fromkeys(entry.host for entry in web))
    chosen = _host(host) if host else next(iter(hosts), "")
    if chosen not in hosts:
        raise UserError(
            f"{where}: holds no request to {chosen or 'a web server'}; there are: {', '.join(hosts) or 'none'}"
        )
    own = [entry for entry in web if entry.host == chosen]
    requested = [entry for entry in own if not entry.cached]
    known = [entry for entry in requested if entry.complete]
    sockets = sum(entry.url.scheme in ("ws", "wss") for entry in listed)
    schemes = sorted({entry.url.scheme or "none" for entry in listed} - {"http", "https", "ws", "wss"})
    return known, [
        f"requests to {chosen}",
        *left_out("to other hosts; --host chooses another", len(web) - len(own)),
        *left_out("that opened a WebSocket", sockets),
        *left_out(f"that went to no server ({', '.join(schemes)})", len(listed) - len(web) - sockets),
        *left_out("that the browser's cache answered", len(own) - len(requested)),
        *left_out("whose body was not recorded", len(requested) - len(known)),
    ]


@dataclasses.dataclass(frozen=True)
class HarEntry:
    """A request as it was recorded. ``complete``: where it had a body, that is known. ``kind`` is the content type of
    the answer, ``location`` where that leads to on the same host: a path, empty where nowhere."""

    at: float
    method: str
    url: SplitResult
    headers: tuple[tuple[str, str], ...]
    body: bytes | None
    complete: bool
    status: int
    cached: bool
    kind: str = ""
    location: str = ""

    @property
    def host(self) -> str:
        return _host(self.url.netloc)

    @property
    def path(self) -> str:
        """Path and query, percent-encoded."""
        return _path(self.url)

    @property
    def content_type(self) -> str:
        """That of the body, in small letters."""
        return next((value for name, value in self.headers if name.lower() == "content-type"), "").lower()

    def sent(self, redaction: Redaction) -> Sent:
        """It as a workload has it, without secrets."""
        return Sent(
            at=self.at,
            method=self.method,
            path=redaction.path(self.path),
            status=self.status,
            headers=redaction.headers(self.headers),
            body=redaction.body(self.body, self.content_type),
        )


def _entries(text: str, where: str, redaction: Redaction) -> list[HarEntry]:
    try:
        values = json.loads(text)
    except ValueError as error:
        raise UserError(f"{where}: not JSON, so not a HAR file: {error}") from None
    except RecursionError:
        raise UserError(f"{where}: JSON, but not a HAR file: it is nested too deeply") from None
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
            found.append(_entry(entry, redaction))
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            why = f"{type(error).__name__}: {error}"
            raise UserError(f"{where}: entry {number} is not one of a HAR file ({why})") from None
    return found


def _entry(entry: dict[str, Any], redaction: Redaction) -> HarEntry:
    request = entry["request"]
    headers = [(str(header["name"]), str(header.get("value") or "")) for header in request["headers"]]
    body = _body(request)
    if body and not any(name.lower() == "content-type" for name, _ in headers):
        headers.append(("Content-Type", str(request["postData"].get("mimeType") or "application/octet-stream")))
    response = entry["response"]
    status = response["status"]
    url = _url(request["url"])
    return HarEntry(
        at=_seconds(entry["startedDateTime"]),
        method=request["method"].upper(),
        url=url,
        headers=tuple((name, value) for name, value in headers if _matters(name, redaction)),
        body=body,
        complete=body is not None or not (request.get("postData") or (request.get("bodySize") or 0) > 0),
        status=OK if status == NOT_MODIFIED else int(status),
        cached=bool(entry.get("_fromCache")),
        kind=str((response.get("content") or {}).get("mimeType") or "").partition(";")[0].strip().lower(),
        location=_led_to(url, response),
    )


def _path(url: SplitResult) -> str:
    return quote(urlunsplit(("", "", url.path or "/", url.query, "")), safe=UNESCAPED, errors="replace")


def _led_to(url: SplitResult, response: dict[str, Any]) -> str:
    """Where the answer leads to, on the same host: some browsers keep that by itself, all of them as a header."""
    headers = {str(header.get("name")).lower(): header.get("value") for header in response.get("headers") or ()}
    where = str(response.get("redirectURL") or headers.get("location") or "")
    try:
        target = urlsplit(urljoin(url.geturl(), where))
    except ValueError:  # nowhere that a request can go
        return ""
    return _path(target) if where and target.netloc == url.netloc else ""


def _host(netloc: str) -> str:
    """The host with its port; without a user's name and password, which a URL may hold."""
    return netloc.rpartition("@")[2].lower()


def _url(text: str) -> SplitResult:
    try:
        return urlsplit(text)
    except ValueError:  # whose text may hold the user and password
        raise ValueError("its URL cannot be read") from None


def _matters(name: str, redaction: Redaction) -> bool:
    """Whether a header says what is requested, or is to be kept by its name. Names with a colon are HTTP/2's, of the
    request line."""
    lowered = name.lower()
    if lowered in SENDERS_OWN or lowered.startswith(":"):
        return False
    return redaction.wants(name) or not (lowered in BROWSERS_OWN or lowered.startswith("sec-"))


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
    """Return an ISO 8601 time in seconds since 1970. A time without a zone is UTC.

    Raises:
        ValueError: If the text is not a time.
    """
    try:
        time = datetime.datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a time") from None
    return (time if time.tzinfo else time.replace(tzinfo=datetime.UTC)).timestamp()
