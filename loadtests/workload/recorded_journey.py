"""A journey as it was recorded, or written down: what a user asks for, step by step, and where each answer leads.

The paths have names in braces, ``/orders/{id1}/``, where an earlier answer has what stands there.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from loadtests.workload.secrets import REPLACED

HOLE = re.compile(r"\{([A-Za-z_]\w*)\}")
REDIRECTS = (301, 302, 303, 307, 308)
# What tells one object from the others in a path: a number, a UUID, letters and digits mixed.
_ID = re.compile(r"\d+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{6,}", re.IGNORECASE)


@dataclasses.dataclass(frozen=True)
class WalkedStep:
    """A request: ``status`` is what it should be answered with, ``leads_to`` where that answer should lead, empty where
    that is not known; ``fields`` are those of its form. ``thinks``: the user does so before it. ``follows``: it is
    where the answer before led."""

    method: str
    path: str
    status: int
    fields: tuple[tuple[str, str], ...] = ()
    leads_to: str = ""
    thinks: bool = False
    follows: bool = False

    @property
    def redirected(self) -> bool:
        """Whether it should be answered with a redirect."""
        return self.status in REDIRECTS

    @property
    def route(self) -> str:
        """What the report calls it: the path without its query."""
        return urlsplit(self.path).path


@dataclasses.dataclass(frozen=True)
class WalkedJourney:
    """The steps, and sentences on what was taken and what was left out."""

    steps: tuple[WalkedStep, ...]
    remarks: tuple[str, ...]


def holes(path: str) -> list[str]:
    """The names in braces."""
    return HOLE.findall(path)


def following(steps: Sequence[WalkedStep]) -> list[WalkedStep]:
    """The steps, of which each knows whether it is where the one before it led. Nobody thinks before that."""
    found: list[WalkedStep] = []
    for step in steps:
        last = found[-1] if found else None
        led = last is not None and last.redirected and step.method == "GET" and last.leads_to == step.path
        found.append(dataclasses.replace(step, follows=led, thinks=step.thinks and not led))
    return found


def with_secrets_from_answers(steps: Sequence[WalkedStep]) -> list[WalkedStep]:
    """The steps with names for what was left out of where answers lead, as it may be a secret: it comes anew each
    time."""
    named: dict[str, str] = {}
    found = []
    for step in steps:
        path = named.get(step.path, step.path)
        if REPLACED in step.leads_to and step.leads_to not in named:
            first, *rest = step.leads_to.split(REPLACED)
            names = itertools.count(1 + sum(map(len, map(holes, named.values()))))
            named[step.leads_to] = first + "".join(f"{{secret{next(names)}}}{part}" for part in rest)
        found.append(dataclasses.replace(step, path=path, leads_to=named.get(step.leads_to, step.leads_to)))
    return found


def with_ids_from_answers(steps: Sequence[WalkedStep]) -> list[WalkedStep]:
    """The steps with names for what tells an object from the others, where an answer was the first to say it: the next
    user's is another."""
    names: dict[str, str] = {}
    known: set[str] = set()
    found = []
    for step in steps:
        known |= set(_parts(step.path))
        path = _named(step.path, names)
        for part in _parts(step.leads_to):
            if part not in known and part not in names and _ID.fullmatch(part):
                names[part] = f"id{len(names) + 1}"
        found.append(dataclasses.replace(step, path=path, leads_to=_named(step.leads_to, names)))
    return found


def _parts(path: str) -> list[str]:
    return [part for part in path.partition("?")[0].split("/") if part]


def _named(path: str, names: dict[str, str]) -> str:
    path, mark, query = path.partition("?")
    return "/".join(f"{{{names[part]}}}" if part in names else part for part in path.split("/")) + mark + query
