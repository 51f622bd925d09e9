"""Read the journey of one user on one host from a HAR file."""
# We don't use har2locust 0.9, because it replays recorded tokens, ids and secrets, although answers contain new values.

from __future__ import annotations

import email.message
import email.parser
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from urllib.parse import parse_qsl

from loadtests.errors import shown
from loadtests.workload import har
from loadtests.workload.har import HarEntry
from loadtests.workload.recorded import left_out
from loadtests.workload.recorded_journey import (
    WalkedJourney,
    WalkedStep,
    following,
    with_ids_from_answers,
    with_secrets_from_answers,
)
from loadtests.workload.redaction import Keep, Redaction
from loadtests.workload.request import PATH
from loadtests.workload.secrets import REPLACED, scrubbed, secret_of_name, telling

METHODS = ("GET", "POST")
PAUSED_S = 1.0  # if at least this time passes between two requests, the user was reading or typing
FIRST_ERROR = 400
_STATIC = re.compile(r"(image|font|audio|video)/.*|text/css|(text|application)/(x-)?javascript|application/wasm")
_STATIC_PATH = re.compile(r".+\.(css|gif|ico|jpe?g|m?js|map|mp4|otf|png|svg|ttf|webmanifest|webp|woff2?)", re.I)
_PASSWORD = re.compile(r"passw|passphrase|passcode|pwd", re.I)
_CSRF = re.compile(r"csrf|xsrf", re.I)
URLENCODED, MULTIPART = "application/x-www-form-urlencoded", "multipart/form-data"


def read(text: str, where: str, hosts: Sequence[str]) -> WalkedJourney:
    """Read the journey in a HAR file.

    The journey doesn't contain cookies, passwords or other secrets: each user has separate cookies, tokens come from
    the previous page, and users log in before the journey (``run --login``).

    Args:
        text: The text of the file.
        where: The name of the file, for messages.
        hosts: The host (see ``har.read``).

    Raises:
        UserError: If the file isn't valid.
    """
    redaction = Redaction(Keep())
    recorded, remarks = har.entries(text, where, hosts[:1], redaction)
    recorded.sort(key=lambda entry: entry.at)
    kept, left = _kept(recorded)
    replaced: Counter[str] = Counter()
    steps = [
        WalkedStep(
            entry.method,
            _path(entry.path, redaction),
            entry.status,
            fields=tuple(_without_secrets(_fields(entry) or (), replaced)),
            leads_to=_path(entry.location, redaction) if entry.location else "",
            thinks=before is not None and entry.at - before.at >= PAUSED_S,
        )
        for before, entry in zip([None, *kept], kept, strict=False)
    ]
    found = following(with_ids_from_answers(with_secrets_from_answers(steps)))
    if any(REPLACED in step.path for step in found):
        replaced["part of a path"] += 1
    return WalkedJourney(tuple(found), (*remarks, *left, *_dropped(recorded), *_replacements(replaced)))


def _kept(recorded: Sequence[HarEntry]) -> tuple[list[HarEntry], list[str]]:
    """Return the requests that become steps, and remarks on the requests that don't."""
    signing_in = {entry.url.path for entry in recorded if entry.method == "POST" and _has_password(entry)}
    remarks: Counter[str] = Counter()
    kept = []
    for entry in recorded:
        if (why := _no_step(entry, signing_in)) is None:
            kept.append(entry)
        else:
            remarks[why] += 1
    return kept, [remark for why, count in remarks.items() for remark in left_out(why, count)]


def _no_step(entry: HarEntry, signing_in: Iterable[str]) -> str | None:
    """Return why a request doesn't become a step, for a remark of ``left_out``. If it becomes a step, return None."""
    if entry.method not in METHODS:
        return f"with the method {shown(entry.method)}: a journey contains only GET and POST"
    if entry.method == "GET" and (_STATIC.fullmatch(entry.kind) or _STATIC_PATH.fullmatch(entry.url.path)):
        return "for static files"
    if entry.url.path in signing_in:
        path = shown(entry.url.path or "/")
        return f"that sign in, at {path}, because their password isn't kept. Log users in with run --login {path}"
    if not 200 <= entry.status < FIRST_ERROR:
        return f"with the status {entry.status}" if entry.status >= FIRST_ERROR else "without a final answer"
    if not PATH.fullmatch(entry.path):
        return "with a path that is not percent-encoded"
    if entry.method == "POST" and entry.body and _fields(entry) is None:
        kind = shown(entry.content_type.partition(";")[0]) or "of no type"
        return f"whose body isn't a form ({kind}); write it by hand"
    return None


def _fields(entry: HarEntry) -> list[tuple[str, str]] | None:
    """Return the fields of a form, without its files, or None if the body isn't a form."""
    body = entry.body or b""
    if entry.content_type.startswith(URLENCODED):
        return parse_qsl(body.decode(errors="replace"), keep_blank_values=True)
    if not entry.content_type.startswith(MULTIPART):
        return None
    # Read the boundary from the body, because the content type was converted to lower case.
    boundary = body.partition(b"\n")[0].strip()[2:].decode(errors="replace")
    head = f'Content-Type: {MULTIPART}; boundary="{boundary}"\n\n'
    parts = email.parser.BytesParser().parsebytes(head.encode() + body.replace(b"\r\n", b"\n"))
    return list(_of_parts(parts))


def _of_parts(parts: email.message.Message) -> Iterable[tuple[str, str]]:
    for part in parts.walk():
        name = part.get_param("name", header="content-disposition")
        content = part.get_payload(decode=True)
        if isinstance(name, str) and part.get_filename() is None and isinstance(content, bytes):
            yield name, content.decode(errors="replace")


def _has_password(entry: HarEntry) -> bool:
    return any(_PASSWORD.search(name) for name, _ in _fields(entry) or ())


def _without_secrets(fields: Iterable[tuple[str, str]], replaced: Counter[str]) -> Iterable[tuple[str, str]]:
    """Yield the fields with possible secrets replaced, and without tokens, which come from the previous page."""
    for name, value in fields:
        if _CSRF.search(name):
            continue
        new = REPLACED if value and (telling(name) or secret_of_name(name, value)) else scrubbed(value)
        if new != value:
            harmless = scrubbed(name) == name and name.isprintable()
            replaced[f"field {name if harmless else '(a random-looking name)'}"] += 1
        yield name, new


def _path(path: str, redaction: Redaction) -> str:
    """Return a path without secrets and without literal braces."""
    return redaction.path(path).replace("{", "%7B").replace("}", "%7D")


def _dropped(recorded: Iterable[HarEntry]) -> list[str]:
    names = dict.fromkeys(name for entry in recorded for name, _ in entry.headers if telling(name))
    harmless = [name for name in names if name.isprintable() and scrubbed(name) == name]
    return [f"headers that aren't written, because they may be secret: {', '.join(harmless)}"] if harmless else []


def _replacements(replaced: Counter[str]) -> list[str]:
    if not replaced:
        return []
    return [f"replaced by {REPLACED}, because it may be secret: {', '.join(replaced)}; fill in the values"]
