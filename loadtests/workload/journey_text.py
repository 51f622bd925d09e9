"""Write a journey as an editable Python file: ``python -m loadtests workload journey FILE``."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

from loadtests.errors import UserError
from loadtests.workload import recorded_journey_har, recorded_journey_ons
from loadtests.workload.recorded_journey import HOLE, WalkedJourney, WalkedStep, holes

WIDTH = 120
TAKEN = "Journey"  # the name of the base class, which the class in the file can't use


def read(text: str, where: str, hosts: Sequence[str]) -> WalkedJourney:
    """Read the journey in a HAR file or in ONS's format.

    Args:
        text: The text of the file.
        where: The name of the file, for messages.
        hosts: The host in a HAR file whose requests are used.

    Raises:
        UserError: If the file isn't valid.
    """
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{where}: is not JSON, so neither a HAR file nor requests of ONS: {error}") from None
    if isinstance(values, dict) and "requests" in values and "log" not in values:
        if hosts:
            raise UserError("--host is for a HAR file; ONS's requests contain no hosts")
        found = recorded_journey_ons.read(values, where)
    else:
        found = recorded_journey_har.read(text, where, hosts)
    if not found.steps:
        raise UserError(f"{where}: contains no step of a journey" + "".join(f"; {remark}" for remark in found.remarks))
    return found


def text(found: WalkedJourney, file: Path) -> str:
    """Return the text of the journey's file."""
    return "\n".join([*_head(found, file), *_imports(found.steps), "", "", *_journey(found.steps, file), ""])


def _head(found: WalkedJourney, file: Path) -> Iterator[str]:
    yield f'"""A journey, made from {_plain(file.name)}. Read and edit it before you use it.'
    yield ""
    about = "Take the inputs of users from self.chance, and make the checks stricter. This file contains the recorded "
    yield from textwrap.wrap(f"{about}inputs.", WIDTH)
    yield ""
    for remark in found.remarks:
        yield from textwrap.wrap(f"- {_plain(remark)}", WIDTH, subsequent_indent="  ")
    yield from ('"""', "")


def _plain(text: str) -> str:
    """Make a text safe for a docstring, because names in a recording may contain any characters."""
    return "".join(one if one.isprintable() and one not in '\\"' else "?" for one in text)


def _imports(steps: Sequence[WalkedStep]) -> Iterator[str]:
    yield "from loadtests.journeys.base import Journey"
    imported = [
        *(["leads_to"] if any(step.leads_to for step in steps) else []),
        *(["tokens"] if any(step.method == "POST" for step in steps[_first_page(steps) + 1 :]) else []),
    ]
    if imported:
        yield f"from loadtests.journeys.forms import {', '.join(imported)}"


def _journey(steps: Sequence[WalkedStep], file: Path) -> Iterator[str]:
    yield f"class {_name(file)}({TAKEN}):"
    if (begins := _begins(steps[0])) is not None:
        yield f"    path = {_literal(begins)}"
        yield ""
    yield "    def walk(self) -> None:"
    if any(holes(step.leads_to) for step in steps):
        yield "        ids: dict[str, str] = {}  # identifiers from earlier answers"
    first_page = _first_page(steps)
    for place, step in enumerate(steps):
        if step.thinks:
            yield "        self.think()"
        yield from _step(step, after_page=place > first_page)


def _first_page(steps: Sequence[WalkedStep]) -> int:
    """Return the index of the first step that is answered with a page, which may contain a form's token.

    Returns:
        The index, or the number of steps if there is no such step.
    """
    return next((place for place, step in enumerate(steps) if not step.redirected), len(steps))


def _begins(step: WalkedStep) -> str | None:
    """Return the path of the application if the first step requests a page, or None."""
    return step.route if step.method == "GET" and not step.redirected else None


def _step(step: WalkedStep, after_page: bool) -> Iterator[str]:
    given = "sent" if step.redirected else "page"
    where = "sent.location" if step.follows else _literal(step.path)
    usual = 302 if step.method == "POST" else 200
    arguments = [where, _literal(HOLE.sub("{id}", step.route), plain=True)]
    if step.method == "POST":
        arguments.append(f"{{{', '.join([*(['**tokens(page)'] if after_page else []), *_fields(step)])}}}")
    if step.status != usual:
        arguments.append(f"status={step.status}")
    if step.leads_to:
        ids = ", ids" if holes(step.leads_to) else ""
        arguments.append(f"check=leads_to({_literal(step.leads_to, plain=True)}{ids})")
    line = f"        {given} = self.{step.method.lower()}({', '.join(arguments)})"
    if len(line) <= WIDTH:
        yield line
        return
    yield f"        {given} = self.{step.method.lower()}("
    yield from (f"            {argument}," for argument in arguments)
    yield "        )"


def _fields(step: WalkedStep) -> Iterator[str]:
    """Yield the form fields of a step as items of a dict. The value of a repeated field is a list."""
    values: dict[str, list[str]] = {}
    for name, value in step.fields:
        values.setdefault(name, []).append(value)
    for name, sent in values.items():
        literals = [_literal(value, plain=True) for value in sent]
        yield f"{_literal(name, plain=True)}: {literals[0] if len(literals) == 1 else '[' + ', '.join(literals) + ']'}"


def _literal(text: str, plain: bool = False) -> str:
    """Return a text as a Python literal, in double quotes if possible.

    The literal replaces names in braces with values from ``ids``, unless ``plain`` is set.
    """
    written = repr(text)
    if '"' not in text:
        written = f'"{written[1:-1]}"'
    if plain or not holes(text):
        return written
    quote = "'" if written[0] == '"' else '"'
    return "f" + HOLE.sub(lambda match: f"{{ids[{quote}{match[1]}{quote}]}}", written)


def _name(file: Path) -> str:
    """Return a name for the class, derived from the name of the recording's file."""
    words = re.findall(r"[A-Za-z0-9]+", file.stem)
    name = "".join(word[0].upper() + word[1:] for word in words)
    return name if name.isidentifier() and name != TAKEN else f"Recorded{name}"
