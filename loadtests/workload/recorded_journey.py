"""Describe a recorded journey: a user's requests, step by step, and the redirects in the answers.

Paths contain names in braces, such as ``/orders/{id1}/``, for values that come from an earlier answer.
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
# A part of a path that identifies an object: a number, a UUID, or mixed letters and digits.
_ID = re.compile(r"\d+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{6,}", re.IGNORECASE)


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


@dataclasses.dataclass(frozen=True)
class WalkedJourney:
    """The steps of a journey, and remarks on the recorded requests that were used or left out."""

    steps: tuple[WalkedStep, ...]
    remarks: tuple[str, ...]


def holes(path: str) -> list[str]:
    """Return the names in braces in a path."""
    return HOLE.findall(path)


def following(steps: Sequence[WalkedStep]) -> list[WalkedStep]:
    """Mark the steps that follow the redirect of the previous step. Users don't think before such steps."""
    found: list[WalkedStep] = []
    for step in steps:
        last = found[-1] if found else None
        led = last is not None and last.redirected and step.method == "GET" and last.leads_to == step.path
        found.append(dataclasses.replace(step, follows=led, thinks=step.thinks and not led))
    return found


def with_secrets_from_answers(steps: Sequence[WalkedStep]) -> list[WalkedStep]:
    """Replace the redacted parts of redirects with variables whose values come from the answers.

    These parts may be secrets that differ in each visit.
    """
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
    """Replace identifiers from answers with names in braces, because the next user receives other identifiers."""
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
