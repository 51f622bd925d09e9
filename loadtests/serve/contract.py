"""Check the contract: every setup must answer the same requests with the same status, content type and body.

A run checks the contract before it starts and before each trial. The command ``check`` checks it, too.
"""

from __future__ import annotations

import hashlib
import http.client
from collections.abc import Callable, Sequence
from functools import partial

from loadtests.errors import limit_hint
from loadtests.records.run.run_record import Expectation
from loadtests.serve.http import VARIES, Answer, ask_again
from loadtests.serve.serving import Serving
from loadtests.setups.application import Application
from loadtests.workload import Request
from loadtests.workload.secrets import HEADER

TIMEOUT_S = 30.0
VERIFIED_WITHIN_S = 10.0  # time limit for each request before a trial
SECONDS_CHANGE_S = 0.6  # time between repeated requests, so that three requests take more than a second
FEW = 20
MAX_SHOWN = 200  # maximum number of characters of a body in messages
EXCERPT_BYTES = 80
NOT_SHOWN = (302, 401, 403)  # the statuses for users who aren't logged in or don't have permission
SEND_PROXY = f"Send this header, even if your proxy sends another: {HEADER} 'X-Forwarded-Proto: https'"
CHECKED_BODY_BYTES = 65536  # longer bodies are only compared before the load, not under load


def answers(running: Serving, requests: Sequence[Request]) -> list[Answer | str]:
    """Return the setup's answers to the requests. If there is no answer, a text describes the failure."""
    # A user's page may show the time in seconds. With many requests, waiting for the next second would take too long.
    apart_s = SECONDS_CHANGE_S if running.application.own and len(requests) <= FEW else 0.0
    return [answer(running, request, apart_s) for request in requests]


def answer(running: Serving, request: Request, apart_s: float = 0.0) -> Answer | str:
    """Send a request three times, ``apart_s`` seconds apart. Return the answer, or a text if there was no answer."""
    return _answer_or_text(lambda: ask_again(lambda: running.ask(request, TIMEOUT_S), apart_s))


def _answer_or_text(ask: Callable[[], Answer]) -> Answer | str:
    try:
        return ask()
    except (OSError, http.client.HTTPException) as error:
        return f"no answer ({error or type(error).__name__})"


def expectation(given: Answer, own: bool) -> Expectation:
    """Return the answer that the other setups must give, based on the baseline's answer.

    A run doesn't compare the bodies of the user's own project, because they may contain the time or the server's name.
    ``check`` compares these bodies.
    """
    compared = not given.varies and not own
    return Expectation(given.status, given.content_type, digest(given.body) if compared else None)


def meets(given: Answer | str, expected: Expectation) -> bool:
    """Return whether an answer meets the expectation. A text means that there was no answer."""
    if isinstance(given, str) or (given.status, given.content_type) != (expected.status, expected.content_type):
        return False
    return expected.sha256 is None or (not given.varies and digest(given.body) == expected.sha256)


def verified(
    running: Serving, requests: Sequence[Request], contract: Sequence[Expectation]
) -> tuple[list[bytes | None], list[str]]:
    """Check that a setup answers the requests as the contract requires.

    Returns:
        Two lists. The first list contains the body that each answer must have under load, or None if any body is
        correct. The second list contains a sentence for each violation of the contract.
    """
    bodies: list[bytes | None] = []
    broken: list[str] = []
    for request, expected in zip(requests, contract, strict=True):
        given = _answer_or_text(partial(running.ask, request, VERIFIED_WITHIN_S))
        if not meets(given, expected):
            digits = f", SHA-256 {expected.sha256[:12]}" if expected.sha256 else ""
            theirs = f"{expected.status} {expected.content_type}{digits}"
            why = ""
            if not isinstance(given, str):
                where = redirect_of(given, running.application)
                why = f" ({where})" if where else limit_hint(given.status, worked=True)
            broken.append(
                f"{request.method} {request.path}: {describe(given)}, but the baseline answered {theirs}{why}"
            )
        short = not isinstance(given, str) and len(given.body) <= CHECKED_BODY_BYTES
        bodies.append(given.body if not isinstance(given, str) and expected.sha256 and short else None)
    return bodies, broken


def redirect_of(given: Answer, application: Application) -> str:
    """Describe the redirect in an answer of the user's project, or return an empty string if it isn't a redirect."""
    where = dict(given.headers).get("Location", "")
    if not where or not 300 <= given.status < 400:
        return ""
    why = ""
    if application.ssl_redirect and where.startswith("https:"):
        remedy = SEND_PROXY
        if application.forwarded:
            remedy = "Set SECURE_PROXY_SSL_HEADER, because this server doesn't trust the header of a proxy by itself"
        why = f": SECURE_SSL_REDIRECT is on. {remedy}"
    return f"{given.status} to {where}{why}"


def hint(request: Request, given: Answer | str, application: Application) -> str:
    """Return a possible reason why the user's project refuses the host or the user, or an empty string."""
    if isinstance(given, str):
        return ""
    if redirect := redirect_of(given, application):
        return f" ({redirect})"
    if advice := limit_hint(given.status):
        return advice
    if given.status in NOT_SHOWN and any(name == "Cookie" for name, _ in request.headers):
        return "; check the user's permissions, and whether the session has expired"
    if given.status == 400 and application.own:
        return "; if ALLOWED_HOSTS doesn't contain the host, set an allowed host with --host-header NAME"
    return ""


def describe(given: Answer | str) -> str:
    """Describe the outcome of a request, such as ``answered 200 text/plain b'OK'``."""
    return given if isinstance(given, str) else f"answered {show(given)}"


def show(given: Answer | str) -> str:
    """Describe an answer in a line: status, content type, and the body or its size and digest."""
    if isinstance(given, str):
        return given
    body = "and a body that varies" if given.varies else repr(given.body)
    if len(body) > MAX_SHOWN:
        body = f"{len(given.body)} bytes, SHA-256 {digest(given.body)[:12]}"
    return f"{given.status} {given.content_type or 'without a content type'} {body}"


def differing_headers(expected: Answer, given: Answer) -> list[str]:
    """Return the names of the compared headers that differ, except headers whose value always varies."""
    before, after = dict(expected.headers), dict(given.headers)
    both = ((name, before.get(name), after.get(name)) for name in sorted(before.keys() | after.keys()))
    return [name for name, one, other in both if one != other and VARIES not in (one, other)]


def show_both(expected: Answer | str, given: Answer | str) -> tuple[str, str]:
    """Describe each of two answers in a line, with headers that differ. Long bodies start at the first difference."""
    if isinstance(expected, str) or isinstance(given, str):
        return show(expected), show(given)
    names = differing_headers(expected, given)
    bodies = expected.body, given.body
    differ = (at for at, (one, other) in enumerate(zip(*bodies, strict=False)) if one != other)
    first = next(differ, min(map(len, bodies)))

    def line(answer: Answer) -> str:
        headers = dict(answer.headers)
        lines = [f"{name}: {headers.get(name, 'none')}" for name in names]
        if not answer.varies and len(repr(answer.body)) > MAX_SHOWN:
            shown = f"{answer.status} {answer.content_type} {len(answer.body)} bytes"
            excerpt = f"from byte {first}: {answer.body[first : first + EXCERPT_BYTES]!r}"
            return "; ".join([shown, *([excerpt] if bodies[0] != bodies[1] else []), *lines])
        return "; ".join([show(answer), *lines])

    return line(expected), line(given)


def digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()
