"""Read requests from an access log of a server, a proxy or a load balancer (see ``log_formats``)."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from urllib.parse import quote, urlsplit, urlunsplit

from loadtests.errors import UserError
from loadtests.formatting import series
from loadtests.workload.har import UNESCAPED
from loadtests.workload.log_formats import FORMATS, ROUTER, LogFormat
from loadtests.workload.recorded import Sent, left_out, seconds
from loadtests.workload.redaction import Redaction
from loadtests.workload.request import PATH

WITHOUT_BODY = ("GET", "HEAD")
MAX_LINE_CHARACTERS = 65_536  # servers refuse even much shorter requests
MAX_REQUESTS = 2_000_000  # all requests are in memory at the same time
# The visitor's browser had the file in its cache, or requested a part. A load has no cache and requests the whole file.
WHOLE = {206: 200, 304: 200}
# The statuses in a log of requests without an answer: a visitor was slow (408), nginx closed the connection (444) or
# could not read the request (494 to 497), or the visitor left (499, or 460 in the logs of Amazon's load balancer).
UNANSWERED = {"408", "444", "460", "494", "495", "496", "497", "499"}
_DYNO = re.compile(r"\bapp[\[ ]web\.\d")
# Hypercorn doesn't write "HTTP/". Daphne writes WSCONNECT and similar words instead of a WebSocket's method.
_REQUEST = re.compile(r"((?!WS)[A-Z]+) (\S.*?)(?: (?:HTTP/)?[\d.]+)?")


def read(lines: Iterable[str], where: str, skip_unknown: bool, redaction: Redaction) -> tuple[list[Sent], list[str]]:
    """Return the requests in a log, and remarks on requests that are left out.

    Args:
        lines: The lines of the log.
        where: The name of the file, for messages.
        skip_unknown: Whether to skip lines in an unknown format.
        redaction: The object that removes the secrets.

    Raises:
        UserError: If a line has an unknown format, or the log contains no requests or too many requests.
    """
    sent: list[Sent] = []
    unknown: list[int] = []
    used: dict[str, str] = {}
    by_dynos: list[Sent] = []  # Heroku's log contains the lines of its router and of the server
    not_http = 0
    given_up: Counter[str] = Counter()
    others: Counter[str] = Counter()
    for number, line in enumerate(lines, start=1):
        parsed = _parsed(line.rstrip("\r\n")) if len(line) <= MAX_LINE_CHARACTERS else None
        if parsed is None:
            unknown += [number] if line.strip() else []
            continue
        form, at, text, status = parsed
        if (match := _REQUEST.fullmatch(text)) is None:
            not_http += 1
        elif status in UNANSWERED:
            given_up[status] += 1
        elif match[1] in WITHOUT_BODY:
            used[form.name] = form.lacks
            (by_dynos if _DYNO.search(line) else sent).append(
                Sent(at, match[1], _path(match[2], redaction), _status(status))
            )
        else:
            others[match[1]] += 1
        if len(sent) + len(by_dynos) > MAX_REQUESTS:
            raise UserError(f"{where}: contains more than {MAX_REQUESTS:,} requests. Use a part, as with head -n")
    twice = len(by_dynos) if ROUTER in used else 0
    sent += [] if twice else by_dynos
    found = len(sent) + twice + not_http + given_up.total() + others.total()
    if not found and not unknown:
        raise UserError(f"{where}: is an empty access log")
    if unknown and not (skip_unknown and found):
        more = f" and {len(unknown) - 1:,} more are" if len(unknown) > 1 else " is"
        formats = series([form.name for form in FORMATS])
        step = "--skip-unknown leaves them out" if found else f"The known formats are {formats}"
        raise UserError(f"{where}: line {unknown[0]}{more} in an unknown format. {step}")
    statuses = ", ".join(sorted(given_up))
    return list(_spread(sent)), [
        *(f"the log contains no {lacks}, because {name} leaves them out" for name, lacks in used.items() if lacks),
        *left_out("in an unknown format", len(unknown)),
        *left_out("that Heroku's router logged, too", twice),
        *left_out("that are not HTTP", not_http),
        *left_out(f"that were not answered (status {statuses} in the log)", given_up.total()),
        *left_out(f"with a body, which a log does not contain ({', '.join(sorted(others))})", others.total()),
    ]


def _parsed(line: str) -> tuple[LogFormat, float, str, str] | None:
    """Return the format, time, request line and status, or None if the text isn't a line of an access log."""
    for form in FORMATS:
        if parts := form.parts(line):
            try:
                at = seconds(parts["time"]) if parts.get("time") else math.nan
            except ValueError:
                return None
            method, target = parts.get("method"), parts.get("target")
            return form, at, f"{method} {target}" if method and target else parts["request"], parts["status"]
    return None


def _path(target: str, redaction: Redaction) -> str:
    """Return the path and query of a request's target without secrets. The target may be a complete URL."""
    path = target
    try:
        if not target.startswith("/"):
            parts = urlsplit(target)
            path = urlunsplit(("", "", parts.path or "/", parts.query, ""))
        path = quote(path, safe=UNESCAPED, errors="surrogateescape")  # Granian and Hypercorn log decoded paths
    except ValueError:  # probably from a scanner; paths that can't be sent are left out later
        return target
    return redaction.path(path) if PATH.fullmatch(path) else path


def _status(text: str) -> int:
    status = int(text) if text.isdecimal() else 0
    return WHOLE.get(status, status)


def _spread(sent: list[Sent]) -> Iterator[Sent]:
    """Sort requests in a log with whole seconds, and spread the requests of each second evenly."""
    if any(one.at % 1 for one in sent):  # not a number if a time isn't known
        yield from sent
        return
    of_second = Counter(one.at for one in sent)
    passed: Counter[float] = Counter()
    for one in sorted(sent, key=lambda one: one.at):
        yield one.moved((passed[one.at] + 0.5) / of_second[one.at])
        passed[one.at] += 1
