"""``list``: list the setups, studies, engines and runs."""

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
KINDS = ("setups", "studies", "engines", "runs")
FEW = 3  # the number of rows of each kind if all kinds are listed


def command(
    kind: Annotated[
        str, typer.Argument(help="List all setups, studies, engines or runs.", autocompletion=lambda: KINDS)
    ] = "",
    as_json: AsJson = False,
) -> None:
    """List setups, studies, engines and runs.

    For a single kind, list all entries, and why some entries can't run on this machine.
    """
    if kind and kind not in KINDS:
        raise unknown("kind", kind, KINDS)
    with waiting(err, "looking"):
        listing = rows_of([kind] if kind else KINDS)
    if as_json:
        say_json(listing)
    elif kind:
        _print(kind, listing[kind])
    else:
        for name, rows in listing.items():
            _print_few(name, rows)


def rows_of(kinds: Iterable[str]) -> Listing:
    """Return all entries of these kinds as rows, by kind. All rows of a kind have the same keys.

    ``not_here`` is the reason why an entry, or a part of it, can't run on this machine, or an empty string.
    """
    from loadtests import engines, setups
    from loadtests.plan import study as studies
    from loadtests.records.run import folder

    known = setups.known()
    lacking = {name: lacks for name, setup in known.items() if (lacks := setups.missing_needs(setup))}
    idle = {name: why for name in engines.known() if (why := _obstacle(name))}
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
        "studies": lambda: [_study(name, lacking, idle) for name in studies.names()],
        "engines": lambda: [
            {"name": name, "label": engine.label, "not_here": idle.get(name, "")}
            for name, engine in engines.known().items()
        ],
        "runs": lambda: [_run(folder.name) for folder in folder.runs()],
    }
    return {kind: rows[kind]() for kind in kinds}


def _obstacle(engine: str) -> str:
    from loadtests import engines

    try:
        engines.get(engine).require()
    except UserError as error:
        return str(error)
    return ""


def _missing(names: Iterable[str]) -> str:
    listed = ", ".join(names)
    return f"lacks {listed}" if listed else ""


def _study(name: str, lacking: dict[str, list[str]], idle: dict[str, str]) -> dict[str, Any]:
    from loadtests.plan import study as studies
    from loadtests.plan.schedule import planned_seconds

    study = studies.load(name)
    baseline = next(entry.setup for entry in study.entries if entry.label == study.baseline)
    without = dict.fromkeys(entry.setup for entry in study.entries if entry.setup in lacking)
    engines = dict.fromkeys(test.engine for test in study.tests if test.engine in idle)
    why = f"without {', '.join(without)}" if without else ""
    if baseline in lacking:
        why = f"its baseline {baseline} {_missing(lacking[baseline])}"
    if engines:
        why = f"engine {', '.join(engines)} can't run"
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


def _print_few(kind: str, rows: Sequence[dict[str, Any]]) -> None:
    """Print the number of rows and a few examples: the newest runs, or the setups and studies of ``make bench``."""
    lacking = sum(bool(row.get("not_here")) for row in rows)
    missing = f", {lacking} of them with missing requirements" if lacking else ""
    say(f"{len(rows)} {kind}{missing}; list all: {called()} list {kind}")
    if kind == "runs":
        rows = sorted(rows, key=lambda row: str(row["created"]), reverse=True)
    first = sorted(rows, key=lambda row: row["name"] not in ("first-look", "gunicorn", "daphne", "uvicorn"))
    for row in first[:FEW]:
        text = row.get("label") or row.get("title") or row.get("study") or ""
        out.print(data(f"  {row['name']:<14}  {text}"), no_wrap=True, overflow="ellipsis")


def _cell(column: str, text: str) -> Text:
    if column == "created":
        text = text[:16].replace("T", " ")
    return data(text, "yellow" if column == "not_here" else "")
