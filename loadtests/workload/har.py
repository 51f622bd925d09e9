"""Read requests from a HAR file of a browser's developer tools (http://www.softwareishard.com/blog/har-12-spec/)."""

from __future__ import annotations

import base64
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any
from urllib.parse import SplitResult, quote, urlencode, urljoin, urlsplit, urlunsplit

from loadtests.errors import UserError
from loadtests.formatting import series
from loadtests.workload.recording import UNESCAPED, WHOLE, Recorded, Recording, seconds
from loadtests.workload.redaction import LOGIN_HEADERS

# Headers that affect the answer. Other headers are about the browser, its cache or the recorded server's name.
CONTENT_HEADERS = {"accept", "accept-encoding", "accept-language", "content-type", "user-agent", "x-requested-with"}
HTMX_PREFIX = "hx-"


def read(values: Any, where: str, hosts: Sequence[str]) -> Recording:
    """Return the requests to some hosts.

    If there are several hosts, each request has a Host header.

    Args:
        values: The content of the file.
        where: The name of the file, for messages.
        hosts: The hosts, with their ports if the URLs have ports. The default is the first request's host.

    Raises:
        UserError: If the content isn't a HAR file, or doesn't contain a request to a host.
    """
    chosen = [_host(host) for host in hosts]
    there: dict[str, None] = {}
    left: Counter[str] = Counter()
    found = []
    for number, entry in enumerate(_entries(values, where), start=1):
        try:
            request, url = entry["request"], _url(entry["request"]["url"])
            host = _host(url.netloc)
            if url.scheme not in ("http", "https"):
                left["that opened a WebSocket or went to no server"] += 1
                continue
            there[host] = None
            chosen = chosen or [host]
            body = _body(request)
            if host not in chosen:
                left["to other hosts; --host chooses another"] += 1
            elif entry.get("_fromCache"):
                left["that the browser's cache answered"] += 1
            elif body is None and (request.get("postData") or (request.get("bodySize") or 0) > 0):
                left["whose body was not recorded"] += 1
            else:
                found.append(_recorded(entry, url, body, host if len(chosen) > 1 else ""))
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            why = f"{type(error).__name__}: {error}"
            raise UserError(f"{where}: entry {number} is not valid in a HAR file ({why})") from None
    if missing := [host for host in chosen or [""] if host not in there]:
        goes = f". Its requests go to {series([*there])}" if there else ""
        raise UserError(f"{where}: contains no request to {missing[0] or 'a web server'}{goes}")
    recording = Recording.of(found, left, where)
    return Recording(recording.requests, [f"requests to {series(chosen)}", *recording.remarks])


def _entries(values: Any, where: str) -> list[Any]:
    try:
        listed = values["log"]["entries"]
    except (LookupError, TypeError):
        listed = None
    if not isinstance(listed, list):
        raise UserError(f"{where}: is not a HAR file, because the JSON has no log.entries")
    return listed


def _recorded(entry: dict[str, Any], url: SplitResult, body: bytes | None, host: str) -> Recorded:
    """Return a request. If ``host`` is set, add a Host header."""
    request, response = entry["request"], entry["response"]
    headers = [(str(header["name"]), str(header.get("value") or "")) for header in request["headers"]]
    if body and not any(name.lower() == "content-type" for name, _ in headers):
        headers.append(("Content-Type", str(request["postData"].get("mimeType") or "application/octet-stream")))
    kept = CONTENT_HEADERS | LOGIN_HEADERS
    matter = [pair for pair in headers if pair[0].lower() in kept or pair[0].lower().startswith(HTMX_PREFIX)]
    status = int(response["status"])
    return Recorded(
        at=seconds(entry["startedDateTime"]) if "startedDateTime" in entry else math.nan,
        method=request["method"].upper(),
        path=_path(url),
        headers=(*([("Host", host)] if host else []), *matter),
        body=body,
        status=WHOLE.get(status, status),
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


def _body(request: dict[str, Any]) -> bytes | None:
    """Return the body, or None if there was no body or it wasn't recorded. Browsers don't record files in forms."""
    data = request.get("postData") or {}
    text: str = data.get("text") or ""
    if text or ("text" in data and not (request.get("bodySize") or 0) > 0):
        return base64.b64decode(text, validate=True) if data.get("encoding") == "base64" else text.encode()
    if data.get("params") and "x-www-form-urlencoded" in (data.get("mimeType") or ""):
        return urlencode([(field["name"], field.get("value") or "") for field in data["params"]]).encode()
    return None
