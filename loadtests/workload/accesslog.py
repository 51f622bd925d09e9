"""Requests from an access log in the common or combined format, which nginx, Apache and Gunicorn write by default."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from urllib.parse import urlsplit, urlunsplit

from loadtests.errors import UserError
from loadtests.workload.recorded import Sent, left_out
from loadtests.workload.redaction import Redaction
from loadtests.workload.request import PATH

FORMATS = "common, combined, Gunicorn's default"
WITHOUT_BODY = ("GET", "HEAD")
MAX_LINE_CHARACTERS = 65_536  # servers refuse far shorter requests
MAX_REQUESTS = 2_000_000  # all requests are in memory at once
# What a visitor's browser had in its cache, or requested in part. A load has no cache and asks for the whole.
WHOLE = {206: 200, 304: 200}
# What servers write where nobody was answered, or nobody waited for it: a visitor was slow (408), nginx closed the
# connection (444) or refused what it could not read (494 to 497), the visitor went away (499, at Amazon's balancer
# 460).
UNANSWERED = {"408", "444", "460", "494", "495", "496", "497", "499"}
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

_QUOTED = r'"((?:[^"\\]|\\.)*)"'
# The address (before it, in one of Apache's formats, the virtual host), two names, the time, the request, status, size.
_LINE = re.compile(rf"(?:\S+ ){{2,3}}.*?\[([^\]]+)\] {_QUOTED} (\d{{3}}|-) (?:\d+|-)(?: .*)?")
_TIME = re.compile(r"(\d\d)/(\w{3})/(\d{4}):(\d\d):(\d\d):(\d\d) ([+-])(\d\d)(\d\d)")
_REQUEST = re.compile(r"([A-Z]+) (\S+)(?: HTTP/[\d.]+)?")


def read(lines: Iterable[str], where: str, skip_unknown: bool, redaction: Redaction) -> tuple[list[Sent], list[str]]:
    """What was requested, and remarks on what was left out.

    Takes the lines, what errors call the file, and what takes the secrets out. Raises UserError where a line is in no
    known format, unless such lines are to be skipped.
    """
    sent: list[Sent] = []
    unknown: list[int] = []
    not_http = 0
    given_up: Counter[str] = Counter()
    others: Counter[str] = Counter()
    for number, line in enumerate(lines, start=1):
        parsed = _parsed(line.rstrip("\r\n")) if len(line) <= MAX_LINE_CHARACTERS else None
        if parsed is None:
            unknown += [number] if line.strip() else []
            continue
        at, text, status = parsed
        if (match := _REQUEST.fullmatch(text)) is None:
            not_http += 1
        elif status in UNANSWERED:
            given_up[status] += 1
        elif match[1] in WITHOUT_BODY:
            sent.append(Sent(at, match[1], _path(match[2], redaction), _status(status)))
        else:
            others[match[1]] += 1
        if len(sent) > MAX_REQUESTS:
            raise UserError(f"{where}: has more than {MAX_REQUESTS:,} requests; take a part of it, as with head -n")
    found = len(sent) + not_http + given_up.total() + others.total()
    if not found and not unknown:
        raise UserError(f"{where}: an empty access log")
    if unknown and not (skip_unknown and found):
        more = f" and {len(unknown) - 1:,} more are" if len(unknown) > 1 else " is"
        skip = "; --skip-unknown leaves them out" if found else ""
        raise UserError(f"{where}: line {unknown[0]}{more} in no known format ({FORMATS}){skip}")
    statuses = ", ".join(sorted(given_up))
    return list(_spread(sent)), [
        *left_out("in no known format", len(unknown)),
        *left_out("that are not HTTP requests", not_http),
        *left_out(f"that were not answered (status {statuses} of the log)", given_up.total()),
        *left_out(f"with a body, which a log does not hold ({', '.join(sorted(others))})", others.total()),
    ]


def _parsed(line: str) -> tuple[float, str, str] | None:
    """When, the request line and the status; None where it is no line of an access log."""
    match = _LINE.fullmatch(line)
    time = _TIME.fullmatch(match[1]) if match else None
    if match is None or time is None or time[2] not in MONTHS:
        return None
    day, month, year, hour, minute, second, sign, zone_hours, zone_minutes = time.groups()
    east = datetime.timedelta(hours=int(zone_hours), minutes=int(zone_minutes))
    try:
        zone = datetime.timezone(east if sign == "+" else -east)
        moment = datetime.datetime(
            int(year), MONTHS.index(month) + 1, int(day), int(hour), int(minute), min(int(second), 59), tzinfo=zone
        )
    except ValueError:
        return None
    return moment.timestamp(), match[2], match[3]


def _path(target: str, redaction: Redaction) -> str:
    """The path and query of a request's target, which may be a whole URL, without secrets."""
    path = target
    if not target.startswith("/"):
        try:
            parts = urlsplit(target)
        except ValueError:  # a scanner's, and no URL: left out with the paths that cannot be sent
            return target
        path = urlunsplit(("", "", parts.path or "/", parts.query, ""))
    return redaction.path(path) if PATH.fullmatch(path) else path


def _status(text: str) -> int:
    status = int(text) if text != "-" else 0
    return WHOLE.get(status, status)


def _spread(sent: list[Sent]) -> Iterator[Sent]:
    """The same, in order, with those of one second, which is as exactly as a log knows it, evenly over that second."""
    of_second = Counter(one.at for one in sent)
    passed: Counter[float] = Counter()
    for one in sorted(sent, key=lambda one: one.at):
        yield one.moved((passed[one.at] + 0.5) / of_second[one.at])
        passed[one.at] += 1
