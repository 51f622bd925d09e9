"""Read requests from a HAR file of a browser's developer tools (http://www.softwareishard.com/blog/har-12-spec/)."""

from __future__ import annotations

import base64
import dataclasses
import json
import math
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import SplitResult, quote, urlencode, urljoin, urlsplit, urlunsplit

from loadtests.errors import UserError
from loadtests.formatting import series
from loadtests.workload.recorded import Sent, left_out, seconds
from loadtests.workload.redaction import Redaction
from loadtests.workload.request import SENDERS_OWN

# Headers about the browser, its cache or the recorded server's name. Django's CSRF protection refuses a POST if Origin
# or Referer names another host. If-None-Match turns a page into an empty 304.
BROWSERS_OWN = {
    "cache-control", "dnt", "host", "if-modified-since", "if-none-match", "origin", "pragma", "priority", "referer",
    "upgrade-insecure-requests",
}  # fmt: skip
ATTACHED = "_file"  # Playwright's key for a body in a file next to the recording
NOT_MODIFIED, OK = 304, 200
# all ASCII characters that are valid in a request line, because the URL is encoded already
UNESCAPED = "!\"$%&'()*+,-./:;<=>?@[\\]^_`{|}~"


def read(text: str, where: str, hosts: Sequence[str], redaction: Redaction) -> tuple[list[Sent], list[str]]:
    """Return the requests to some hosts, and remarks on requests that are left out.

    If there are several hosts, each request has a Host header.

    Args:
        text: The text of the file.
        where: The name of the file, for messages.
        hosts: The hosts, with their ports if the URLs have ports. The default is the first request's host.
        redaction: The object that removes the secrets.

    Raises:
        UserError: If the text isn't a HAR file, or doesn't contain a request to a host.
    """
    known, remarks = entries(text, where, hosts, redaction)
    return [entry.sent(redaction, names_host=len(hosts) > 1) for entry in known], remarks


def entries(text: str, where: str, hosts: Sequence[str], redaction: Redaction) -> tuple[list[HarEntry], list[str]]:
    """Return the same requests as ``read``, but with all of their recorded data, including secrets."""
    listed = _entries(text, where, redaction)
    web = [entry for entry in listed if entry.url.scheme in ("http", "https")]
    there = list(dict.fromkeys(entry.host for entry in web))
    chosen = [_host(host) for host in hosts] or there[:1] or [""]
    for host in chosen:
        if host not in there:
            found = f". Its requests go to {series(there)}" if there else ""
            raise UserError(f"{where}: contains no request to {host or 'a web server'}{found}")
    own = [entry for entry in web if entry.host in chosen]
    requested = [entry for entry in own if not entry.cached]
    known = [entry for entry in requested if entry.complete]
    sockets = sum(entry.url.scheme in ("ws", "wss") for entry in listed)
    schemes = sorted({entry.url.scheme or "none" for entry in listed} - {"http", "https", "ws", "wss"})
    return known, [
        f"requests to {series(chosen)}",
        *left_out("to other hosts; --host chooses another", len(web) - len(own)),
        *left_out("that opened a WebSocket", sockets),
        *left_out(f"that went to no server ({', '.join(schemes)})", len(listed) - len(web) - sockets),
        *left_out("that the browser's cache answered", len(own) - len(requested)),
        *left_out("whose body was not recorded", len(requested) - len(known)),
    ]


@dataclasses.dataclass(frozen=True)
class HarEntry:
    """A recorded request.

    Args:
        at: The time of the request, or NaN if it isn't recorded.
        method: The HTTP method, such as GET.
        url: The complete URL, split into its parts.
        headers: The names and values of the headers.
        body: The body, or None if there was no body or it wasn't recorded.
        complete: Whether the body was recorded, or there was no body.
        status: The answer's status.
        cached: Whether the answer came from the browser's cache.
        kind: The answer's content type.
        location: The path of the answer's redirect on the same host, or empty.
    """

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
        """The path and query, percent-encoded."""
        return _path(self.url)

    @property
    def content_type(self) -> str:
        """The content type of the body in lower case."""
        return next((value for name, value in self.headers if name.lower() == "content-type"), "").lower()

    def sent(self, redaction: Redaction, names_host: bool = False) -> Sent:
        """Return the request for a workload, without secrets. If ``names_host`` is set, add a Host header."""
        host = (("Host", self.host),) if names_host else ()
        return Sent(
            at=self.at,
            method=self.method,
            path=redaction.path(self.path),
            status=self.status,
            headers=(*host, *redaction.headers(self.headers)),
            body=redaction.body(self.body, self.content_type),
        )


def _entries(text: str, where: str, redaction: Redaction) -> list[HarEntry]:
    try:
        values = json.loads(text)
    except ValueError as error:
        raise UserError(f"{where}: is not a HAR file, because the text is not JSON: {error}") from None
    except RecursionError:
        raise UserError(f"{where}: is not a HAR file, because the JSON is nested too deeply") from None
    try:
        listed = values["log"]["entries"]
    except (KeyError, TypeError):
        listed = None
    if not isinstance(listed, list):
        raise UserError(f"{where}: is not a HAR file, because the JSON has no log.entries")
    if not listed:
        raise UserError(f"{where}: is an empty HAR file, which contains no requests")
    found = []
    for number, entry in enumerate(listed, start=1):
        try:
            found.append(_entry(entry, redaction))
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            why = f"{type(error).__name__}: {error}"
            raise UserError(f"{where}: entry {number} is not valid in a HAR file ({why})") from None
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
        at=seconds(entry["startedDateTime"]) if "startedDateTime" in entry else math.nan,
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
    """Return the path of the answer's redirect on the same host, or an empty string.

    Some browsers record the redirect separately, but all browsers record its header.
    """
    headers = {str(header.get("name")).lower(): header.get("value") for header in response.get("headers") or ()}
    where = str(response.get("redirectURL") or headers.get("location") or "")
    try:
        target = urlsplit(urljoin(url.geturl(), where))
    except ValueError:  # this target can't be requested
        return ""
    return _path(target) if where and target.netloc == url.netloc else ""


def _host(netloc: str) -> str:
    """Return the host with its port, without a user name and password."""
    return netloc.rpartition("@")[2].lower()


def _url(text: str) -> SplitResult:
    try:
        return urlsplit(text)
    except ValueError:  # the error's text may contain the user name and password
        raise ValueError("its URL cannot be read") from None


def _matters(name: str, redaction: Redaction) -> bool:
    """Return True if a header is a part of the request's meaning, or if the user keeps headers with this name.

    Names that start with a colon are the request line of HTTP/2.
    """
    lowered = name.lower()
    if lowered in SENDERS_OWN or lowered.startswith(":"):
        return False
    return redaction.wants(name) or not (lowered in BROWSERS_OWN or lowered.startswith("sec-"))


def _body(request: dict[str, Any]) -> bytes | None:
    """Return the body, or None if there was no body or it wasn't recorded. Browsers don't record files in forms."""
    data = request.get("postData") or {}
    text: str = data.get("text") or ""
    if text or ("text" in data and not (request.get("bodySize") or 0) > 0):
        return base64.b64decode(text, validate=True) if data.get("encoding") == "base64" else text.encode()
    if ATTACHED not in data and "x-www-form-urlencoded" in (data.get("mimeType") or ""):
        return urlencode([(field["name"], field.get("value") or "") for field in data.get("params") or ()]).encode()
    return None


def with_attached(text: str, attached: Callable[[str], bytes | None]) -> str:
    """Return the text of a HAR file, with the bodies that are in attached files inserted into the requests."""
    try:
        values = json.loads(text) if ATTACHED in text else {}
        for data in (entry["request"].get("postData") or {} for entry in values["log"]["entries"]):
            if ATTACHED in data and (body := attached(str(data[ATTACHED]))) is not None:
                data |= {"text": base64.b64encode(body).decode(), "encoding": "base64"}
        return json.dumps(values)
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError):
        return text  # ``entries`` describes the error
