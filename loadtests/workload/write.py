"""Write a workload as an editable TOML file."""

from __future__ import annotations

import json
from collections.abc import Sequence

from loadtests.formatting import UNPRINTABLE
from loadtests.workload.request import Request, Workload, encoded


def to_toml(workload: Workload, comments: Sequence[str]) -> str:
    """Return the text of a workload file for ``from_toml.read``, with ``comments`` at the start of the file."""
    at = workload.at or ((),) * len(workload.requests)
    blocks = ["\n".join(f"# {_printable(line)}" for line in comments)]
    blocks += [_table(request, times) for request, times in zip(workload.requests, at, strict=True)]
    return "\n\n".join(blocks) + "\n"


def _table(request: Request, times: Sequence[float]) -> str:
    lines = ["[[requests]]"]
    if request.name != f"{request.method} {request.path}":
        lines.append(f"name = {_text(request.name)}")
    if request.method != "GET":
        lines.append(f"method = {_text(request.method)}")
    lines.append(f"path = {_text(request.path)}")
    if request.status != 200:
        lines.append(f"status = {request.status}")
    if request.headers:
        lines.append(f"headers = {{ {', '.join(_headers(request))} }}")
    lines += [f"{key} = {_text(value)}" for key, value in encoded(request.body).items()]
    lines.append(f"weight = {request.weight:.12g}")
    if times:
        lines.append(f"at = [{', '.join(repr(round(time, 6)) for time in times)}]")
    return "\n".join(lines)


def _headers(request: Request) -> list[str]:
    values: dict[str, list[str]] = {}
    for name, value in request.headers:
        values.setdefault(name, []).append(value)
    return [
        f"{_text(name)} = {_text(given[0]) if len(given) == 1 else '[' + ', '.join(map(_text, given)) + ']'}"
        for name, given in values.items()
    ]


def _printable(line: str) -> str:
    """Replace unprintable characters of a comment, because line ends in a recorded name would end the comment."""
    return "".join(character if character.isprintable() else "?" for character in line)


def _text(text: str) -> str:
    """Return a text as a TOML string with JSON's escapes, which TOML accepts. Also escape unprintable characters."""
    return UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))
