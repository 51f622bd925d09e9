"""Write a journey as an editable Python file: ``python -m loadtests workload journey FILE``."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

from loadtests.workload.recorded_journey import WalkedStep
from loadtests.workload.redaction import HOLE

WIDTH = 120
TAKEN = "Journey"  # the name of the base class, which the class in the file can't use


def text(steps: Sequence[WalkedStep], remarks: Sequence[str], file: Path) -> str:
    """Return the text of the journey's file. The file starts with the remarks."""
    return "\n".join([*_head(remarks, file), *_imports(steps), "", "", *_journey(steps, file), ""])


def _head(remarks: Sequence[str], file: Path) -> Iterator[str]:
    yield f'"""A journey, made from {_plain(file.name)}. Read and edit it before you use it.'
    yield ""
    about = "Take the inputs of users from self.chance, and make the checks stricter. This file contains the recorded "
    yield from textwrap.wrap(f"{about}inputs.", WIDTH)
    yield ""
    for remark in remarks:
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
    if steps[0].method == "GET" and not steps[0].redirected:  # the path of the application
        yield f"    path = {_literal(steps[0].route)}"
        yield ""
    yield "    def walk(self) -> None:"
    if any(HOLE.search(step.leads_to) for step in steps):
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
        ids = ", ids" if HOLE.search(step.leads_to) else ""
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
    if plain or not HOLE.search(text):
        return written
    quote = "'" if written[0] == '"' else '"'
    return "f" + HOLE.sub(lambda match: f"{{ids[{quote}{match[1]}{quote}]}}", written)


def _name(file: Path) -> str:
    """Return a name for the class, derived from the name of the recording's file."""
    words = re.findall(r"[A-Za-z0-9]+", file.stem)
    name = "".join(word[0].upper() + word[1:] for word in words)
    return name if name.isidentifier() and name != TAKEN else f"Recorded{name}"
