"""What there is: setups, studies, engines, runs."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

from loadtests import paths, setups, store
from loadtests.engines import ENGINES
from loadtests.errors import UserError
from loadtests.plan import study

Listing = dict[str, list[dict[str, Any]]]


def everything() -> Listing:
    """All there is, by kind, as rows with the same keys within a kind."""
    return {
        "setups": [
            {"name": setup.name, "interface": setup.interface, "label": setup.label}
            for setup in setups.known().values()
        ],
        "studies": [_study(name) for name in study.names()],
        "engines": [{"name": name} for name in ENGINES],
        "runs": [_run(folder.name) for folder in store.runs()],
    }


def print_everything(found: Listing, console: Console) -> None:
    """A table a kind."""
    for kind, rows in found.items():
        table = Table(title=kind, title_justify="left", box=None, pad_edge=False)
        for column in rows[0] if rows else ():
            table.add_column(column, overflow="fold")
        for row in rows:
            table.add_row(*(str(value) for value in row.values()))
        console.print(table)
        console.print("" if rows else "none yet\n")


def _study(name: str) -> dict[str, Any]:
    found = study.load(name)
    return {"name": name, "title": found.title, "minutes": round(study.planned_seconds(found) / 60)}


def _run(name: str) -> dict[str, Any]:
    try:
        about = store.Run.open(paths.RESULTS / name).about
        state = "ended" if "ended" in about else "can be resumed"
        return {"name": name, "created": about["created"], "study": about["study"]["name"], "state": state}
    except (UserError, KeyError) as error:
        return {"name": name, "created": "", "study": "", "state": f"cannot be read: {error}"}
