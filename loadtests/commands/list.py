"""``list``: list the setups, studies and runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any

import typer
from rich.text import Text

from loadtests.commands.console import data, err, out, say, say_json, waiting
from loadtests.commands.options import AsJson
from loadtests.errors import UserError, called, unknown
from loadtests.report.terminal_tables import grid, print_grid

Listing = dict[str, list[dict[str, Any]]]
KINDS = ("setups", "studies", "runs")


def command(
    kind: Annotated[str, typer.Argument(help="List all setups, studies or runs.")] = "",
    as_json: AsJson = False,
) -> None:
    """List setups, studies and runs, and why some of them can't run on this machine."""
    if kind and kind not in KINDS:
        raise unknown("kind", kind, KINDS)
    with waiting(err, "looking"):
        listing = rows_of([kind] if kind else KINDS)
    if as_json:
        say_json(listing)
        return
    for name, rows in listing.items():
        if kind:
            _print(kind, rows)
        else:
            lacking = sum(bool(row.get("not_here")) for row in rows)
            missing = f", {lacking} of them with missing requirements" if lacking else ""
            say(f"{len(rows)} {name}{missing}; list all: {called()} list {name}")


def rows_of(kinds: Iterable[str]) -> Listing:
    """Return all entries of these kinds as rows, by kind. All rows of a kind have the same keys.

    ``not_here`` is the reason why an entry, or a part of it, can't run on this machine, or an empty string.
    """
    from loadtests import setups
    from loadtests.plan import study as studies
    from loadtests.records.run import folder

    known = setups.known()
    lacking = {name: lacks for name, setup in known.items() if (lacks := setups.missing_needs(setup))}
    rows: dict[str, Callable[[], list[dict[str, Any]]]] = {
        "setups": lambda: [
            {
                "name": setup.name,
                "interface": setup.interface,
                "speaks": "WebSocket" if setup.dialect else "HTTP",
                "label": setup.label,
                "not_here": _missing(lacking.get(setup.name, ())),
            }
            for setup in known.values()
        ],
        "studies": lambda: [_study(name, lacking) for name in studies.names()],
        "runs": lambda: [_run(folder.name) for folder in folder.runs()],
    }
    return {kind: rows[kind]() for kind in kinds}


def _missing(names: Iterable[str]) -> str:
    listed = ", ".join(names)
    return f"lacks {listed}" if listed else ""


def _study(name: str, lacking: dict[str, list[str]]) -> dict[str, Any]:
    from loadtests.plan import study as studies
    from loadtests.plan.schedule import planned_seconds

    study = studies.load(name)
    baseline = next(entry.setup for entry in study.entries if entry.label == study.baseline)
    without = dict.fromkeys(entry.setup for entry in study.entries if entry.setup in lacking)
    why = f"without {', '.join(without)}" if without else ""
    if baseline in lacking:
        why = f"its baseline {baseline} {_missing(lacking[baseline])}"
    minutes = round(planned_seconds(study) / 60)
    return {"name": name, "title": study.title, "minutes": minutes, "not_here": why}


def _run(name: str) -> dict[str, Any]:
    from loadtests import files
    from loadtests.records.run.folder import Run

    try:
        record = Run.open(files.RESULTS / name).record
    except UserError as error:
        return {"name": name, "created": "", "study": "", "state": f"cannot be read: {error}"}
    state = "ended" if record.ended else "running or resumable"
    return {"name": name, "created": record.created, "study": record.study.name, "state": state}


def _print(kind: str, rows: Sequence[dict[str, Any]]) -> None:
    """Print a table without empty columns."""
    columns = [column for column in (rows[0] if rows else ()) if any(row[column] != "" for row in rows)]
    right = [place for place, column in enumerate(columns) if column == "minutes"]
    table = grid((column.replace("_", " ") for column in columns), right, whole=(0,))
    for row in rows:
        table.add_row(*(_cell(column, str(row[column])) for column in columns))
    print_grid(out, table, kind, "" if rows else "none yet")


def _cell(column: str, text: str) -> Text:
    if column == "created":
        text = text[:16].replace("T", " ")
    return data(text, "yellow" if column == "not_here" else "")
