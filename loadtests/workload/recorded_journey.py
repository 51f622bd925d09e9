"""Convert a recording to a journey: a user's requests, step by step, and the redirects in the answers.

Paths contain names in braces, such as ``/orders/{id1}/``, for values that come from an earlier answer. We don't use
har2locust 0.9, because it replays recorded tokens, ids and secrets, although answers contain new values.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterable
from urllib.parse import parse_qsl, urlsplit

from loadtests.errors import UserError, shown
from loadtests.workload import redaction
from loadtests.workload.recording import Recorded, Recording, left_out

REDIRECTS = (301, 302, 303, 307, 308)
METHODS = ("GET", "POST")
PAUSED_S = 1.0  # if at least this time passes between two requests, the user was reading or typing
FIRST_ERROR = 400
URLENCODED, MULTIPART = "application/x-www-form-urlencoded", "multipart/form-data"
# A part of a path or query that identifies an object or is secret: a number, or mixed letters and digits.
_ID = re.compile(r"\d+|(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{6,}")
_PART = re.compile(r"[^/?&=]+")
_PASSWORD = re.compile(r"passw|passphrase|passcode|pwd", re.I)
_CSRF = re.compile(r"csrf|xsrf", re.I)


@dataclasses.dataclass(frozen=True)
class WalkedStep:
    """A request of a journey.

    Args:
        method: The HTTP method, such as POST.
        path: The path with its query, without the host.
        status: The expected status.
        fields: The names and values of the form fields to send.
        leads_to: The target of the expected redirect, or empty if it isn't known.
        thinks: Whether the user thinks before the request.
        follows: Whether the request follows the redirect of the previous answer.
    """

    method: str
    path: str
    status: int
    fields: tuple[tuple[str, str], ...] = ()
    leads_to: str = ""
    thinks: bool = False
    follows: bool = False

    @property
    def redirected(self) -> bool:
        """Whether the expected answer is a redirect."""
        return self.status in REDIRECTS

    @property
    def route(self) -> str:
        """The name in the report: the path without its query."""
        return urlsplit(self.path).path


def to_steps(recording: Recording, where: str) -> tuple[list[WalkedStep], list[str]]:
    """Return the steps of a journey, and remarks on the recorded requests that were used or left out.

    The journey doesn't contain cookies, passwords or other secrets: each user has separate cookies, tokens come from
    the previous page, and users log in before the journey (``run --login``). Identifiers in redirects become names in
    braces, because the next user receives other identifiers.

    Args:
        recording: The recording.
        where: The name of the file, for messages.

    Raises:
        UserError: If no request becomes a step.
    """
    logins = {route(one) for one in recording.requests if any(_PASSWORD.search(name) for name, _ in fields_of(one))}
    left: Counter[str] = Counter()
    known: set[str] = set()
    names: dict[str, str] = {}
    steps: list[WalkedStep] = []
    before = None
    for one in sorted(recording.requests, key=lambda one: one.at):
        if (why := _no_step(one, logins)) is not None:
            left[why] += 1
            continue
        path = _named(one.path, names)
        known |= set(_PART.findall(one.path))
        for part in _PART.findall(one.location):
            if part not in known and part not in names and _ID.fullmatch(part):
                names[part] = f"id{len(names) + 1}"
        leads_to = _named(one.location, names)
        follows = bool(steps and steps[-1].redirected and one.method == "GET" and steps[-1].leads_to == path)
        paused = before is not None and one.at - before.at >= PAUSED_S
        fields = tuple(redaction.field(*pair) for pair in fields_of(one) if not _CSRF.search(pair[0]))
        steps.append(WalkedStep(one.method, path, one.status, fields, leads_to, paused and not follows, follows))
        before = one
    remarks = [*recording.remarks, *left_out(left)]
    if not steps:
        raise UserError("; ".join([f"{where}: contains no step of a journey", *remarks]))
    return steps, remarks


def route(one: Recorded) -> str:
    return one.path.partition("?")[0]


def _no_step(one: Recorded, logins: Iterable[str]) -> str | None:
    """Return why a request doesn't become a step, for a remark of ``left_out``. If it becomes a step, return None."""
    if one.method not in METHODS:
        return "with a method except GET and POST"
    if one.method == "GET" and redaction.ASSET.fullmatch(route(one)):
        return "for static files"
    if route(one) in logins:
        path = shown(route(one))
        return f"that sign in, at {path}, because their password isn't kept. Log users in with run --login {path}"
    if one.status >= FIRST_ERROR:
        return f"with the status {one.status}"
    if one.body and not one.content_type.startswith((URLENCODED, MULTIPART)):
        return "whose body isn't a form; write it by hand"
    return None


def fields_of(one: Recorded) -> list[tuple[str, str]]:
    """Return the fields of a form, without its files."""
    body = one.body or b""
    if one.content_type.startswith(URLENCODED):
        return parse_qsl(body.decode(errors="replace"), keep_blank_values=True)
    if not one.content_type.startswith(MULTIPART):
        return []
    text = body.decode(errors="replace")
    return [(part["name"], part["value"]) for part in redaction.PART.finditer(text)]


def _named(path: str, names: dict[str, str]) -> str:
    """Return a path without secrets, and with names in braces for the identifiers from answers."""
    return redaction.path(_PART.sub(lambda part: f"{{{names[part[0]]}}}" if part[0] in names else part[0], path))
