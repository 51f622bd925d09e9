"""What a test asks, as TOML says it: one request, a mix of them, or a recording at its own pace."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from loadtests.errors import UserError
from loadtests.records.toml import TomlTable
from loadtests.workload import Request, Workload, from_toml
from loadtests.workload.load import ARRIVALS

PACES = ("even", "recorded")
AUTO = "auto"
SHARE = 0.5


def workload(table: TomlTable, folder: Path) -> Workload:
    """What a test's table asks; ``folder`` is what paths in it start from. Raises UserError."""
    listed = table.take("requests", list, None)
    file = table.take("workload", str, None)
    if listed is not None and file is not None:
        raise table.error("requests", "is given together with workload; a test has one or the other")
    if listed is not None:
        return from_toml.parse(listed, table.where, table.prefix, folder)
    if file is not None:
        return from_toml.read(folder / file)
    return Workload((from_toml.request(table, folder),))


def named(paths: Sequence[str], file: Path | None) -> tuple[Request, ...]:
    """The requests that the command line names, by their paths or in a workload file; none where it names none.

    Raises UserError.
    """
    if paths and file:
        raise UserError("--path and --workload are both given; the requests are in one or the other")
    if file:
        return from_toml.read(file).requests
    try:
        return Workload(tuple(Request(f"GET {path}", path=path) for path in paths)).requests if paths else ()
    except UserError as error:
        raise UserError(f"--path: {str(error).removeprefix('path: ')}") from None


def arrivals(table: TomlTable) -> str:
    """When the requests of a rate are due, one of ARRIVALS: ``random`` where it is not said. Raises UserError."""
    return table.choice("arrivals", ARRIVALS, "random")


def rate(table: TomlTable) -> dict[str, float | None]:
    """The fields ``rate``, None where it is left to the run, and ``auto``, the share of the slowest setup's ceiling
    that it is then. Raises UserError."""
    rate = table.positive_or("rate", AUTO)
    return {"rate": rate} if rate is not None else {"rate": None, "auto": table.share("share", SHARE)}


def replay(table: TomlTable, workload: Workload) -> dict[str, Any] | None:
    """The fields of a test that sends what was recorded, when it was; None where it is to be sent by a rate.

    Raises UserError where nothing was recorded.
    """
    pace = table.choice("pace", PACES, "even")
    speed = table.positive("speed", None)
    if pace == "even":
        if speed is not None:
            raise table.error("speed", "is the speed of a replay; it goes with pace = 'recorded'")
        return None
    speed = speed or 1.0
    try:
        found = workload.replay(speed)
    except UserError as error:
        raise table.error("pace", f"is 'recorded', but {error}") from None
    times = {"rate": found.rate, "duration_s": found.duration_s}
    return {"recorded": found.sends, "speed": speed, "arrivals": "recorded", **times}


def no_replay(table: TomlTable, kind: str) -> None:
    """Raises UserError where a test of a kind that finds a pace of its own is told to replay a recording."""
    if table.choice("pace", PACES, "even") == "recorded":
        raise table.error("pace", f"is 'recorded', which a {kind} test cannot be: it finds a pace of its own")
    if table.positive("speed", None) is not None:
        raise table.error("speed", "is the speed of a replay; it goes with pace = 'recorded'")
