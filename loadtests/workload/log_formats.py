"""Recognize the lines of access logs: the default formats of servers, proxies and load balancers, and usual JSON."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable

# The usual names in JSON, best first. nginx has no default names. Caddy nests the method and the URI in "request".
JSON_NAMES = {
    "time": ("StartUTC", "time_iso8601", "@timestamp", "timestamp", "time", "ts", "time_local", "msec"),
    "request": ("request",),
    "method": ("RequestMethod", "request_method", "method"),
    "target": ("RequestPath", "request_uri", "uri", "path", "url"),
    "query": ("args", "query_string"),
    "status": ("DownstreamStatus", "status"),
}
ROUTER = "Heroku's router"
# The patterns are bounded, because visitors can write long texts to a log.
_TIME = r"\[(?P<time>[^\]]{1,40})\]"
_REQUEST = r'"(?P<request>(?:[^"\\]|\\.)*)"'
_COMMON = rf".*?{_TIME} {_REQUEST} (?P<status>\d{{3}}|-) (?:\d+|-)(?: .*)?"


@dataclasses.dataclass(frozen=True)
class LogFormat:
    """A format of lines.

    Args:
        name: The name for messages.
        parts: Returns the parts of a line, or None if the line has another format. The parts are ``time``, ``status``,
            and ``request`` (such as ``GET / HTTP/1.1``) or ``method`` and ``target``. Unknown parts are empty.
        lacks: The data that the format doesn't contain.
    """

    name: str
    parts: Callable[[str], dict[str, str] | None]
    lacks: str = ""


def _matching(pattern: str) -> Callable[[str], dict[str, str] | None]:
    compiled = re.compile(pattern)
    return lambda line: match.groupdict("") if (match := compiled.fullmatch(line)) else None


def _of_json(line: str) -> dict[str, str] | None:
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(values, dict):
        return None
    nested = values.get("request")
    values |= nested if isinstance(nested, dict) else {}
    parts = {
        part: next((str(values[name]) for name in names if values.get(name) is not None), "")
        for part, names in JSON_NAMES.items()
    }
    if parts["query"] and "?" not in parts["target"]:
        parts["target"] += f"?{parts['query']}"
    return parts if parts["status"] and (parts["target"] or isinstance(nested, str)) else None


# A line has the first of these formats that matches.
FORMATS = (
    LogFormat("Hypercorn", _matching(rf"\[[^\]]+\] \[\d+\] \[INFO\] {_COMMON}"), lacks="query strings"),
    LogFormat("common and combined (nginx, Apache, Gunicorn, Daphne, Traefik)", _matching(_COMMON)),
    LogFormat("Granian", _matching(rf".*?{_TIME} \S+ - {_REQUEST} (?P<status>\d{{3}})(?: .*)?"), "query strings"),
    LogFormat("Uvicorn", _matching(rf"(?:.* )?\S+ - {_REQUEST} (?P<status>\d{{3}}|\[accepted\])(?: .*)?"), "times"),
    LogFormat(
        "uWSGI",
        _matching(
            rf".*?\[pid: [^\]]{{1,99}}\] [^\[]*{_TIME} (?P<request>\S* \S*) => generated \d+ bytes in \d+ [^(]*"
            r"\(\S+ (?P<status>\d+)\) .*"
        ),
    ),
    LogFormat(
        "Amazon's load balancers",
        _matching(rf"(?:\w+ )?(?P<time>\d\S+) (?:\S+ ){{6}}(?P<status>\d{{3}}|-) (?:\S+ ){{3}}{_REQUEST} .*"),
    ),
    LogFormat(
        ROUTER,
        _matching(
            r".*?(?:(?P<time>\d{4}-\d\d-\d\dT\S{1,40}) (?:\S{1,99} )?)?heroku[\[/ ]router\S*(?: -)? at=\w+ "
            r'(?:code=\w+ desc="[^"]*" )?method=(?P<method>\S+) path="?(?P<target>[^" ]+)"?'
            r"(?: \S+){0,12}? status=(?P<status>\d*).*"
        ),
    ),
    LogFormat("JSON (nginx, Caddy, Traefik)", _of_json),
)
