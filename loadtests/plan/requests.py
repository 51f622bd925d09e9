"""What a test asks: one request, a mix of them, or a recording at its own pace. From TOML, and to run.json and back."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loadtests.errors import UserError
from loadtests.toml import Table
from loadtests.workload import Request, Workload, tables

if TYPE_CHECKING:
    from loadtests.plan.study import Test

PACES = ("even", "recorded")


def workload(table: Table, folder: Path) -> Workload:
    """What a test's table asks; ``folder`` is what paths in it start from. Raises UserError."""
    listed = table.take("requests", list, None)
    file = table.take("workload", str, None)
    if listed is not None and file is not None:
        raise table.error("requests", "stands beside workload; a test has one or the other")
    if listed is not None:
        return tables.parse(listed, table.where, table.prefix, folder)
    if file is not None:
        return tables.read(folder / file)
    return Workload((tables.request(table, folder),))


def named(paths: Sequence[str], file: Path | None) -> tuple[Request, ...]:
    """The requests that the command line names, by their paths or in a workload file; none where it names none.

    Raises UserError.
    """
    if paths and file:
        raise UserError("--path stands beside --workload; the requests are in one or the other")
    if file:
        return tables.read(file).requests
    return Workload(tuple(Request(f"GET {path}", path=path) for path in paths)).requests if paths else ()


def replay(table: Table, workload: Workload, kind: str) -> dict[str, Any] | None:
    """The fields of a test that sends what was recorded, when it was; None where it is to be sent evenly.

    Raises UserError where nothing was recorded.
    """
    pace = table.choice("pace", PACES, "even")
    speed = table.positive("speed", None)
    if pace == "even":
        if speed is not None:
            raise table.error("speed", "is that of a replay; it goes with pace = 'recorded'")
        return None
    if kind != "latency":
        raise table.error("pace", f"is 'recorded', which a {kind} test cannot be: it finds a pace of its own")
    speed = speed or 1.0
    try:
        found = workload.replay(speed)
    except UserError as error:
        raise table.error("pace", f"is 'recorded', but {error}") from None
    return {"recorded": found.sends, "speed": speed, "rate": found.rate, "duration_s": found.duration_s}


def to_dict(test: Test) -> dict[str, Any]:
    """A test as run.json keeps it."""
    return {**dataclasses.asdict(test), "requests": [request.to_dict() for request in test.requests]}


def from_dict(values: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a test that run.json keeps, also one from before a test had more than a path."""
    fields = dict(values)
    if "path" in fields:
        path = fields.pop("path")
        return {**fields, "requests": (Request(f"GET {path}", path=path),)}
    return {
        **fields,
        "requests": tuple(Request.from_dict(request) for request in fields["requests"]),
        "recorded": tuple((time, index) for time, index in fields["recorded"]),
    }
