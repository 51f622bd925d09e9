"""Read requests from an access log of a server or a proxy.

The known formats contain a quoted request with its status after it, as in the common and combined formats of nginx and
Apache and in the logs of Django's servers, or an object in JSON, as in the logs of Caddy and Traefik. The logs of
Amazon's load balancers, Heroku's router and uWSGI have formats of their own.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from urllib.parse import quote, urlsplit, urlunsplit

from loadtests.errors import UserError
from loadtests.workload.recording import UNESCAPED, WHOLE, Recorded, Recording, seconds

WITHOUT_BODY = ("GET", "HEAD")
# The statuses in a log of requests without an answer: a visitor was slow (408), nginx closed the connection (444), or
# the visitor left (499).
UNANSWERED = (408, 444, 499)
# The usual names in JSON, best first. nginx has no default names. Caddy nests the method and the URI in "request".
JSON_NAMES = {
    "time": ("StartUTC", "time_iso8601", "@timestamp", "timestamp", "time", "ts", "time_local", "msec"),
    "request": ("request",),
    "method": ("RequestMethod", "request_method", "method"),
    "target": ("RequestPath", "request_uri", "uri", "path", "url"),
    "status": ("DownstreamStatus", "status"),
}
_LINE = re.compile(r'"((?:[^"\\]|\\.)*)" (\d{3})\b')
_TIME = re.compile(r".*\[([^\]]{1,40})\]")  # the last brackets before the request
_BALANCER = re.compile(r'(?:\w+ )?(\d{4}-\d\d-\d\dT\S+) .*? (\d{3}) \S+ \S+ \S+ "((?:[^"\\]|\\.)*)"')
_ROUTER = re.compile(
    r'(?:.*?(\d{4}-\d\d-\d\dT\S+) )?.*heroku[\[/ ]router.* method=(\S+) path="?([^" ]+)"?.* status=(\d{3})\b'
)
_DYNO = re.compile(r"\bapp[\[ ]web\.\d")  # a line of the server in Heroku's log
_UWSGI = re.compile(r"\[([^\]]{1,40})\] ([A-Z]+ \S+) => generated .*\(\S+ (\d{3})\)")
# Hypercorn doesn't write "HTTP/". Daphne writes WSCONNECT and similar words instead of a WebSocket's method.
_REQUEST = re.compile(r"((?!WS)[A-Z]+) (\S.*?)(?: (?:HTTP/)?[\d.]+)?")


def read(lines: Iterable[str], where: str) -> Recording:
    """Return the requests in a log.

    Args:
        lines: The lines of the log.
        where: The name of the file, for messages.

    Raises:
        UserError: If the log contains no requests.
    """
    sent: list[Recorded] = []
    by_dynos: list[Recorded] = []  # Heroku's log contains the lines of its router and of the server
    is_routed = False
    left: Counter[str] = Counter()
    for line in filter(str.strip, lines):
        try:
            time, request, status = _json_parts(line) if line.startswith("{") else _parts(line)
            at = seconds(time) if time else math.nan
        except (LookupError, ValueError, RecursionError):
            left["in an unknown format"] += 1
            continue
        match = _REQUEST.fullmatch(request)
        is_routed |= _ROUTER.match(line) is not None
        if match is None:
            left["that are not HTTP"] += 1
        elif status in UNANSWERED:
            left["that were not answered"] += 1
        elif match[1] not in WITHOUT_BODY:
            left["with a body, which a log does not contain"] += 1
        else:
            recorded = Recorded(at, match[1], _path(match[2]), WHOLE.get(status, status))
            (by_dynos if _DYNO.search(line) else sent).append(recorded)
    if is_routed:
        left["that Heroku's router logged, too"] += len(by_dynos)
    else:
        sent += by_dynos
    if not sent and not left:
        raise UserError(f"{where}: is an empty access log")
    return Recording.of(_spread(sent), left, where)


def _parts(line: str) -> tuple[str, str, int]:
    """Return the time, or an empty text, and the request line and status."""
    if found := _BALANCER.match(line):
        return found[1], found[3], int(found[2])
    if found := _LINE.search(line):
        time = _TIME.match(line, 0, found.start())
        return time[1] if time else "", found[1], int(found[2])
    if found := _ROUTER.match(line):
        return found[1] or "", f"{found[2]} {found[3]}", int(found[4])
    if found := _UWSGI.search(line):
        return found[1], found[2], int(found[3])
    raise ValueError


def _json_parts(line: str) -> tuple[str, str, int]:
    values = json.loads(line)
    nested = values.get("request")
    values |= nested if isinstance(nested, dict) else {}
    parts = {
        part: next((str(values[name]) for name in names if values.get(name) is not None), "")
        for part, names in JSON_NAMES.items()
    }
    request = f"{parts['method']} {parts['target']}" if parts["target"] else str(nested or "")
    return parts["time"], request, int(parts["status"])


def _path(target: str) -> str:
    """Return the path and query of a request's target, which may be a complete URL."""
    path = target
    try:
        if not target.startswith("/"):
            parts = urlsplit(target)
            path = urlunsplit(("", "", parts.path or "/", parts.query, ""))
        return quote(path, safe=UNESCAPED, errors="surrogateescape")  # Granian and Hypercorn log decoded paths
    except ValueError:  # probably from a scanner; paths that can't be sent are left out later
        return target


def _spread(sent: list[Recorded]) -> Iterator[Recorded]:
    """Sort requests in a log with whole seconds, and spread the requests of each second evenly."""
    if any(one.at % 1 for one in sent):  # not a number if a time isn't known
        yield from sent
        return
    of_second = Counter(one.at for one in sent)
    passed: Counter[float] = Counter()
    for one in sorted(sent, key=lambda one: one.at):
        yield dataclasses.replace(one, at=one.at + (passed[one.at] + 0.5) / of_second[one.at])
        passed[one.at] += 1
