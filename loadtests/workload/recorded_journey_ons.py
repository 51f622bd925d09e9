"""Read the journey in a requests file of the Office for National Statistics (ONS).

See https://github.com/ONSdigital/eq-survey-runner-benchmark.

The file contains a list of GET and POST requests in order. Names in braces are placeholders for parts of an earlier
redirect.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from loadtests.errors import UserError, quoted, shown
from loadtests.workload.recorded_journey import HOLE, WalkedJourney, WalkedStep, following, holes
from loadtests.workload.request import PATH

KEYS = ("method", "url", "data", "redirect_route")
OK, FOUND = 200, 302
PLAIN = (str, int, float)


def read(values: Mapping[str, Any], where: str) -> WalkedJourney:
    """Read the journey from the content of a requests file.

    Args:
        values: The content of the file.
        where: The name of the file, for messages.

    Raises:
        UserError: If a request isn't valid. The message contains the request and the allowed values.
    """
    listed = values["requests"]
    if not isinstance(listed, list) or not listed:
        raise UserError(f"{where}: requests: must be a list of requests")
    steps = [_step(one, f"{where}: request {number}", number) for number, one in enumerate(listed, start=1)]
    known: set[str] = set()
    for number, step in enumerate(steps, start=1):
        if unknown := [name for name in holes(step.path) if name not in known]:
            raise UserError(f"{where}: request {number}: url: no earlier redirect_route defines {{{unknown[0]}}}")
        known |= set(holes(step.leads_to))
    schema = str(values.get("schema_name") or "")
    return WalkedJourney(tuple(following(steps)), tuple(_remarks(steps, schema)))


def _step(one: Any, where: str, number: int) -> WalkedStep:
    if not isinstance(one, dict):
        raise UserError(f"{where}: must be a request, not {quoted(one)}. Its keys: {', '.join(KEYS)}")
    if wrong := [key for key in one if key not in KEYS]:
        raise UserError(f"{where}: {quoted(wrong[0])} is not a known key. Allowed: {', '.join(KEYS)}")
    method, leads_to, data = one.get("method"), one.get("redirect_route") or "", one.get("data") or {}
    if method not in ("GET", "POST"):
        raise UserError(f"{where}: method: must be GET or POST, not {quoted(method)}")
    if data and method == "GET":
        raise UserError(f"{where}: data: is only allowed in a POST")
    if not isinstance(data, dict):
        raise UserError(f"{where}: data: must be an object with the fields, not {quoted(data)}")
    return WalkedStep(
        method,
        _path(one.get("url"), f"{where}: url"),
        FOUND if method == "POST" or leads_to else OK,
        tuple(_fields(data, where)),
        _path(leads_to, f"{where}: redirect_route") if leads_to else "",
        thinks=number > 1,
    )


def _path(text: Any, where: str) -> str:
    if not isinstance(text, str) or not PATH.fullmatch(text) or any(brace in HOLE.sub("", text) for brace in "{}"):
        raise UserError(f"{where}: must be a path, not {quoted(text)}. Example: /people/{{person_id}}/")
    return text


def _fields(data: Mapping[str, Any], where: str) -> Iterator[tuple[str, str]]:
    """Yield the names and values of form fields. A field with several values is yielded several times."""
    for name, value in data.items():
        for one in value if isinstance(value, list) else [value]:
            if not isinstance(one, PLAIN):
                raise UserError(f"{where}: data: {shown(name)}: must be a text or a list of texts, not {quoted(one)}")
            yield name, str(one)


def _remarks(steps: list[WalkedStep], schema: str) -> Iterator[str]:
    yield f"requests used: {len(steps):,}"
    if schema:
        yield (
            f"the file for the schema {shown(schema)} doesn't contain the launch of a user. Write the launch at the "
            "start of the journey, or log in with run --login"
        )
    blind = sum(step.redirected and not step.leads_to for step in steps)
    if blind:
        yield f"redirects that aren't checked, because the file doesn't contain their targets: {blind:,}"
